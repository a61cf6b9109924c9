//! The examples of a finite sum, in the four usual layouts.

use crate::error::FiniteSumError;
use crate::gram::{self, GramScratch};
use crate::moments::{self, Moments};
use crate::sweep::{self, Pass};
use lao_kernels::{Compressed, Element, all_finite, first_not_finite};
use std::fmt::{self, Debug};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Examples as rows of numbers, for products.
pub(crate) trait Design: Debug + Send + Sync {
    fn rows(&self) -> usize;
    fn dim(&self) -> usize;
    /// Returns row `i`, as it is stored. Numbers that are not in double precision are converted into
    /// `scratch`.
    fn row<'a>(&'a self, i: usize, scratch: &'a mut Vec<f64>) -> Entries<'a>;
    /// Passes over these rows, or over all: computes margins, slopes and, if wanted, sums of slope times row.
    fn sweep(&self, rows: Option<&[u32]>, pass: Pass<'_>);
    /// Adds to `gram` (row by row, lower triangle) and `right` the inner products of the columns in `support`
    /// with each other and with `labels`.
    fn gram(
        &self,
        support: &[u32],
        labels: &[f64],
        gram: &mut [f64],
        right: &mut [f64],
        scratch: &mut GramScratch,
    );
    /// Writes these columns as they are stored, dense and one after the other, where zeros are: all rows, or
    /// those listed.
    fn columns(&self, rows: Option<&[u32]>, attributes: &[u32], into: &mut [f64]);
    /// Returns the matrix of the columns in `support` alone, which are renumbered.
    fn restrict(&self, support: &[u32]) -> Arc<dyn Design>;
    /// Returns the mean and standard deviation of every column; zeros if there are no rows.
    fn moments(&self) -> &Moments;
}

/// A batch of components.
#[derive(Clone, Copy, Debug)]
pub enum Batch<'a> {
    /// All components.
    All,
    /// The components with these numbers.
    Components(&'a [u32]),
}

impl Batch<'_> {
    /// Returns the number of components in the batch, if there are `components` in all.
    pub fn len(&self, components: usize) -> usize {
        match self {
            Batch::All => components,
            Batch::Components(list) => list.len(),
        }
    }
}

/// The entries of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entries<'a> {
    /// Stored entries, by ascending attribute.
    Sparse(&'a [u32], &'a [f64]),
    /// All attributes.
    Dense(&'a [f64]),
}

/// The rows of a finite sum in memory, a matrix of n x d numbers, dense or sparse, by rows or by columns.
///
/// ```
/// use lao_finite_sum::DesignMatrix;
/// use lao_kernels::Compressed;
///
/// // The same 2 x 3 rows three times: row-major, column-major, and the entries of each row alone.
/// DesignMatrix::rows(2, 3, vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0])?;
/// DesignMatrix::columns(2, 3, vec![1.0, 0.0, 0.0, 1.0, 2.0, 1.0])?;
/// let rows = Compressed::new(3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 1.0, 1.0])?;
/// DesignMatrix::compressed_rows(rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DesignMatrix<T> {
    rows: usize,
    dim: usize,
    layout: Layout<T>,
    /// Known from the start of dense numbers, which are read to check them.
    moments: OnceLock<Moments>,
}

#[derive(Clone, Debug)]
enum Layout<T> {
    Columns(Numbers<T>),
    Rows(Numbers<T>),
    CompressedRows(Compressed<T>),
    /// The same entries by rows: columns alone give no access to single rows.
    Compressed {
        columns: Compressed<T>,
        rows: Compressed<T>,
    },
}

/// Dense numbers that a matrix owns, or shares with others.
#[derive(Clone)]
enum Numbers<T> {
    Own(Vec<T>),
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
}

impl<T> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Numbers::Own(values) => values,
            Numbers::Shared(values) => (**values).as_ref(),
        }
    }
}

impl<T: Debug> Debug for Numbers<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&**self, out)
    }
}

impl<T> DesignMatrix<T> {
    fn new(rows: usize, dim: usize, layout: Layout<T>) -> Self {
        DesignMatrix { rows, dim, layout, moments: OnceLock::new() }
    }
}

impl<T: Element> DesignMatrix<T> {
    /// Returns the matrix of dense numbers, n x d and column-major: value (i, j) is at `j * rows + i`. In
    /// this layout whole gradients are fastest, and single rows are slowest.
    ///
    /// # Errors
    /// Fails when the numbers do not fill the shape, or one is not finite.
    pub fn columns(rows: usize, dim: usize, values: Vec<T>) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::by_columns(rows, dim, Numbers::Own(values))
    }

    /// Returns the matrix of shared dense numbers, n x d and column-major, without a copy. The numbers must
    /// not change.
    ///
    /// # Errors
    /// Fails in the cases of [`columns`](Self::columns).
    pub fn shared_columns(
        rows: usize,
        dim: usize,
        values: Arc<dyn AsRef<[T]> + Send + Sync>,
    ) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::by_columns(rows, dim, Numbers::Shared(values))
    }

    fn by_columns(rows: usize, dim: usize, values: Numbers<T>) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::new(rows, dim, Layout::Columns(values)).checked()
    }

    /// Returns the matrix of dense numbers, n x d and row-major: value (i, j) is at `i * dim + j`.
    ///
    /// # Errors
    /// Fails when the numbers do not fill the shape, or one is not finite.
    pub fn rows(rows: usize, dim: usize, values: Vec<T>) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::by_rows(rows, dim, Numbers::Own(values))
    }

    /// Returns the matrix of shared dense numbers, n x d and row-major, without a copy. The numbers must not
    /// change.
    ///
    /// # Errors
    /// Fails in the cases of [`rows`](Self::rows).
    pub fn shared_rows(
        rows: usize,
        dim: usize,
        values: Arc<dyn AsRef<[T]> + Send + Sync>,
    ) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::by_rows(rows, dim, Numbers::Shared(values))
    }

    fn by_rows(rows: usize, dim: usize, values: Numbers<T>) -> Result<DesignMatrix<T>, FiniteSumError> {
        DesignMatrix::new(rows, dim, Layout::Rows(values)).checked()
    }

    /// Checks dense numbers. Finding their moments reads all of them; a mean is finite where its column is.
    fn checked(self) -> Result<Self, FiniteSumError> {
        let DesignMatrix { rows, dim, layout, .. } = &self;
        let (rows, dim) = (*rows, *dim);
        let (Layout::Columns(values) | Layout::Rows(values)) = layout else { return Ok(self) };
        if rows.checked_mul(dim) != Some(values.len()) || rows.max(dim) > u32::MAX as usize {
            return Err(FiniteSumError::Shape { rows, dim, values: values.len() });
        }
        if all_finite(&self.moments().means) {
            return Ok(self);
        }
        let Some(at) = first_not_finite(values) else { return Ok(self) };
        let by_columns = matches!(layout, Layout::Columns(_));
        let [row, attribute] = if by_columns { [at % rows, at / rows] } else { [at / dim, at % dim] };
        Err(FiniteSumError::NotFinite { row, attribute, value: values[at].to_f64() })
    }

    /// Returns the matrix of sparse, compressed rows (CSR): line i is row i.
    pub fn compressed_rows(rows: Compressed<T>) -> DesignMatrix<T> {
        DesignMatrix::new(rows.lines(), rows.width(), Layout::CompressedRows(rows))
    }

    /// Returns the matrix of sparse, compressed columns (CSC): line j is column j. It keeps compressed rows
    /// beside the columns, and so takes twice the memory. For margins, whole gradients then read only the
    /// columns of the support.
    pub fn compressed_columns(columns: Compressed<T>) -> DesignMatrix<T> {
        let (rows, dim) = (columns.width(), columns.lines());
        let transposed = columns.transpose();
        DesignMatrix::new(rows, dim, Layout::Compressed { columns, rows: transposed })
    }
}

impl<T: Element> Design for DesignMatrix<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn row<'a>(&'a self, i: usize, scratch: &'a mut Vec<f64>) -> Entries<'a> {
        match &self.layout {
            Layout::Columns(values) => {
                scratch.clear();
                scratch.extend(values.iter().skip(i).step_by(self.rows.max(1)).map(|value| value.to_f64()));
                Entries::Dense(scratch)
            }
            Layout::Rows(values) => {
                Entries::Dense(gram::doubles(&values[i * self.dim..][..self.dim], scratch))
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                let (indices, values) = rows.line(i);
                Entries::Sparse(indices, gram::doubles(values, scratch))
            }
        }
    }

    fn sweep(&self, rows: Option<&[u32]>, pass: Pass<'_>) {
        let (n, dim) = (self.rows, self.dim);
        match (&self.layout, rows) {
            (Layout::Columns(values), None) => sweep::columns(values, n, dim, pass),
            (Layout::Columns(values), Some(list)) => sweep::some_of_columns(values, n, list, pass),
            (Layout::Rows(values), None) => sweep::rows(values, n, dim, pass),
            (Layout::Rows(values), Some(list)) => sweep::some_rows(values, dim, list, pass),
            (Layout::Compressed { columns, .. }, None) => sweep::compressed_columns(columns, pass),
            (Layout::CompressedRows(rows), None) => sweep::compressed_rows(rows, 0..n, pass),
            (Layout::CompressedRows(rows) | Layout::Compressed { rows, .. }, Some(list)) => {
                sweep::compressed_rows(rows, list.iter().map(|&i| i as usize), pass);
            }
        }
    }

    fn gram(
        &self,
        support: &[u32],
        labels: &[f64],
        gram: &mut [f64],
        right: &mut [f64],
        scratch: &mut GramScratch,
    ) {
        match &self.layout {
            Layout::Columns(values) => {
                gram::columns(values, self.rows, support, labels, gram::Products { gram, right })
            }
            Layout::Rows(values) => {
                gram::rows(values, self.dim, support, labels, gram::Products { gram, right }, scratch)
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                gram::compressed_rows(rows, support, labels, gram::Products { gram, right }, scratch);
            }
        }
    }

    fn columns(&self, rows: Option<&[u32]>, attributes: &[u32], into: &mut [f64]) {
        let n = rows.map_or(self.rows, <[u32]>::len);
        let list = || (0..n).map(|i| rows.map_or(i, |rows| rows[i] as usize));
        let columns = into.chunks_exact_mut(n.max(1)).zip(attributes);
        let compressed = match &self.layout {
            Layout::Columns(values) => {
                return columns.for_each(|(into, &j)| {
                    let column = &values[j as usize * self.rows..][..self.rows];
                    into.iter_mut().zip(list()).for_each(|(into, i)| *into = column[i].to_f64());
                });
            }
            Layout::Rows(values) => {
                return for (at, i) in list().enumerate() {
                    let row = &values[i * self.dim..][..self.dim];
                    let places = into.iter_mut().skip(at).step_by(n).zip(attributes);
                    places.for_each(|(into, &j)| *into = row[j as usize].to_f64());
                };
            }
            Layout::Compressed { columns: all, .. } if rows.is_none() => {
                return columns.for_each(|(into, &j)| {
                    let (rows, values) = all.line(j as usize);
                    rows.iter().zip(values).for_each(|(&i, value)| into[i as usize] = value.to_f64());
                });
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => rows,
        };
        let mut slots = vec![u32::MAX; self.dim];
        (0..).zip(attributes).for_each(|(slot, &j)| slots[j as usize] = slot);
        for (at, i) in list().enumerate() {
            let (indices, values) = compressed.line(i);
            for (&j, value) in indices.iter().zip(values) {
                let slot = slots[j as usize] as usize;
                if slot < attributes.len() {
                    into[slot * n + at] = value.to_f64();
                }
            }
        }
    }

    fn restrict(&self, support: &[u32]) -> Arc<dyn Design> {
        let layout = match &self.layout {
            Layout::Columns(values) => {
                let column = |&j: &u32| &values[j as usize * self.rows..][..self.rows];
                Layout::Columns(Numbers::Own(support.iter().flat_map(column).copied().collect()))
            }
            Layout::Rows(values) => {
                let row = |row: &[T]| support.iter().map(|&j| row[j as usize]).collect::<Vec<_>>();
                let rows = values.chunks_exact(self.dim.max(1)).flat_map(row);
                Layout::Rows(Numbers::Own(rows.collect()))
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                Layout::CompressedRows(rows.restrict(support))
            }
        };
        let moments = self.moments.get().map(|moments| moments.restrict(support));
        let moments = moments.map_or_else(OnceLock::new, OnceLock::from);
        Arc::new(DesignMatrix { moments, ..DesignMatrix::new(self.rows, support.len(), layout) })
    }

    fn moments(&self) -> &Moments {
        self.moments.get_or_init(|| match &self.layout {
            Layout::Columns(values) => moments::columns(values, self.rows, self.dim),
            Layout::Rows(values) => moments::rows(values, self.rows, self.dim),
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => moments::compressed_rows(rows),
        })
    }
}
