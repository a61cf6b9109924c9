//! Observed values: some attributes of some examples, one contiguous column per attribute.

/// A reusable buffer that a [`Source`](crate::Source) fills.
#[derive(Clone, Debug, Default)]
pub struct BlockBuf {
    columns: usize,
    capacity: usize,
    rows: usize,
    values: Vec<f64>,
    labels: Vec<f64>,
    /// Empty if all examples weigh the same.
    weights: Vec<f64>,
}

impl BlockBuf {
    /// Returns an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the buffer, and sets its size to `capacity` examples of `columns` attributes.
    #[inline]
    pub fn reset(&mut self, columns: usize, capacity: usize) {
        (self.columns, self.capacity, self.rows) = (columns, capacity, 0);
        self.values.resize(columns * capacity, 0.0);
        self.labels.resize(capacity, 0.0);
        self.weights.clear();
    }

    /// Does the same as [`reset`](Self::reset), with NaN in all places, so that a place that a source leaves
    /// unfilled is noticed.
    pub(crate) fn reset_poisoned(&mut self, columns: usize, capacity: usize) {
        self.reset(columns, capacity);
        self.values.fill(f64::NAN);
        self.labels.fill(f64::NAN);
    }

    /// Returns a number of rows for which a block of `columns` attributes stays in the level-2 cache.
    pub fn preferred_rows(columns: usize) -> usize {
        const VALUES: usize = 1 << 14;
        (VALUES / columns.max(1)).clamp(64, 1024)
    }

    /// Returns the number of rows for which there is space.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of rows that were filled, which [`set_rows`](Self::set_rows) declares.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of attributes per row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns column `c` up to the capacity, for filling.
    #[inline]
    pub fn column_mut(&mut self, c: usize) -> &mut [f64] {
        &mut self.values[c * self.capacity..(c + 1) * self.capacity]
    }

    /// Returns the values of the only row, for filling, if the capacity is one.
    #[inline]
    pub fn single_mut(&mut self) -> Option<&mut [f64]> {
        (self.capacity == 1).then(|| &mut self.values[..self.columns])
    }

    /// Returns the labels up to the capacity, for filling.
    #[inline]
    pub fn labels_mut(&mut self) -> &mut [f64] {
        &mut self.labels[..self.capacity]
    }

    /// Returns the weights of the examples up to the capacity, for filling; without this call all examples
    /// weigh the same, 1.
    pub fn weights_mut(&mut self) -> &mut [f64] {
        self.weights.resize(self.capacity, 1.0);
        &mut self.weights
    }

    /// Declares how many rows were filled. A number above the capacity counts as the capacity, so that no
    /// view reaches further; the session then sees that the source returned another number.
    #[inline]
    pub fn set_rows(&mut self, rows: usize) {
        self.rows = rows.min(self.capacity);
    }

    /// Returns the filled part as a block of these attributes.
    #[inline]
    pub fn view<'a>(&'a self, attributes: &'a [u32]) -> Block<'a> {
        debug_assert_eq!(attributes.len(), self.columns);
        let BlockBuf { rows, capacity, values, labels, weights, .. } = self;
        Block { attributes, rows: *rows, capacity: *capacity, values, labels, weights }
    }
}

/// Some attributes of some examples: for each observed attribute, the values of all examples as one slice.
///
/// ```
/// use lao_observation::BlockBuf;
///
/// let mut buffer = BlockBuf::new();
/// buffer.reset(2, 3); // two attributes, up to three examples
/// buffer.column_mut(0)[..2].copy_from_slice(&[1.0, 2.0]);
/// buffer.column_mut(1)[..2].copy_from_slice(&[10.0, 20.0]);
/// buffer.labels_mut()[..2].copy_from_slice(&[0.5, 1.5]);
/// buffer.set_rows(2);
///
/// let block = buffer.view(&[4, 7]); // these are attributes 4 and 7
/// assert_eq!((block.rows(), block.attributes()), (2, &[4, 7][..]));
/// assert_eq!((block.column(1), block.labels()), (&[10.0, 20.0][..], &[0.5, 1.5][..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    attributes: &'a [u32],
    rows: usize,
    capacity: usize,
    values: &'a [f64],
    labels: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Block<'a> {
    /// Returns the number of examples.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the observed attributes, in the order in which they were asked for.
    #[inline]
    pub fn attributes(&self) -> &'a [u32] {
        self.attributes
    }

    /// Returns the values of the `c`-th observed attribute, one per example.
    #[inline]
    pub fn column(&self, c: usize) -> &'a [f64] {
        &self.values[c * self.capacity..c * self.capacity + self.rows]
    }

    /// Returns the labels, one per example.
    #[inline]
    pub fn labels(&self) -> &'a [f64] {
        &self.labels[..self.rows]
    }

    /// Returns the weights of the examples; `None` if all weigh the same.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights.get(..self.rows).filter(|_| !self.weights.is_empty())
    }

    /// Returns the only example of a block that was made for one; `None` for any other block.
    #[inline]
    pub fn single(&self) -> Option<Example<'a>> {
        (self.rows == 1 && self.capacity == 1).then(|| {
            let seen = Row { attributes: self.attributes, values: &self.values[..self.attributes.len()] };
            Example { seen, label: self.labels[0] }
        })
    }
}

/// What was observed of one example.
#[derive(Clone, Copy, Debug)]
pub struct Example<'a> {
    /// The observed attributes.
    pub seen: Row<'a>,
    /// `y`.
    pub label: f64,
}

/// The observed attributes of one example.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The attributes, in the order in which they were asked for.
    pub attributes: &'a [u32],
    /// One value per attribute.
    pub values: &'a [f64],
}

impl Row<'_> {
    /// Returns `theta' x` over the attributes that are both observed and in `theta`, in time
    /// O(|observed| + |supp(theta)|). The observed attributes must be sorted and distinct.
    pub fn dot(&self, theta: lao_kernels::SparseView<'_>) -> f64 {
        let (mut at, mut total) = (0, 0.0);
        for (j, weight) in theta.iter() {
            while at < self.attributes.len() && self.attributes[at] < j {
                at += 1;
            }
            if at < self.attributes.len() && self.attributes[at] == j {
                total += weight * self.values[at];
            }
        }
        total
    }
}
