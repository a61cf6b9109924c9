//! The metered finite sum.

use crate::design::{Batch, Design, DesignMatrix, Entries};
use crate::error::FiniteSumError;
use crate::loss::Loss;
use crate::moments::{self, Moments};
use crate::predictor::{Gradient, Predictor};
use crate::standard::{Standard, scale_by};
use crate::sweep::Pass;
use lao_kernels::{Element, SparseVector};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A metered finite sum. A clone shares the data, but has a meter of its own from then on.
///
/// ```
/// use lao_finite_sum::{Batch, DesignMatrix, FiniteSum, Gradient, Loss, Predictor};
///
/// // Two rows of three attributes, n x d = 2 x 3 and row-major.
/// let design = DesignMatrix::rows(2, 3, vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0])?;
/// let mut sum = FiniteSum::new(design, Loss::least_squares(vec![4.0, -1.0])?)?;
/// assert_eq!((sum.len(), sum.dim(), sum.outputs()), (2, 3, 1));
///
/// // At zero, the mean of y^2, and of -2 y z.
/// let zero = Predictor::zeros(3, 1);
/// assert_eq!(sum.objective(&zero)?, 8.5);
/// let mut gradient = Gradient::default();
/// sum.gradient(Batch::All, &zero, &mut gradient)?;
/// assert_eq!(gradient.coefficients, [[-4.0, 1.0, -7.0]]);
/// assert_eq!(sum.meter().calls, 2); // one for each component; the objective is not counted
/// # Ok::<(), lao_finite_sum::FiniteSumError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FiniteSum {
    pub(crate) design: Arc<dyn Design>,
    pub(crate) loss: Arc<Loss>,
    /// The number of rows of a component.
    pub(crate) block: usize,
    pub(crate) ridge: f64,
    pub(crate) intercept: bool,
    pub(crate) standard: Option<Arc<Standard>>,
    /// The weighted moments of the columns, if rows have weights.
    pub(crate) weighted: OnceLock<Arc<Moments>>,
    pub(crate) calls: Cell<u64>,
    pub(crate) thresholds: Cell<u64>,
    pub(crate) work: Work,
}

/// The exact counts of what was spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// IFO calls: values or gradients of single components.
    pub calls: u64,
    /// Hard thresholdings: one per step, whatever the number of classes.
    pub thresholds: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    model: Vec<SparseVector>,
    weights: Vec<Vec<f64>>,
    shift: Vec<f64>,
    tile: Vec<f64>,
    row: Vec<f64>,
    /// Rows of a batch of blocks.
    rows: Vec<u32>,
}

/// Buffers for [`FiniteSum::row`].
#[derive(Clone, Debug, Default)]
pub struct RowBuf {
    stored: Vec<f64>,
    scaled: Vec<f64>,
}

impl FiniteSum {
    /// Returns the (weighted) mean of `loss` over `examples`, with one component per row, no l2 term, no
    /// intercept, and columns as they are.
    ///
    /// # Errors
    /// Fails when there are no examples, or the number of labels is another.
    pub fn new<T: Element>(examples: DesignMatrix<T>, loss: Loss) -> Result<FiniteSum, FiniteSumError> {
        FiniteSum::over(Arc::new(examples), Arc::new(loss))
    }

    fn over(design: Arc<dyn Design>, loss: Arc<Loss>) -> Result<FiniteSum, FiniteSumError> {
        if design.rows() != loss.len() || loss.is_empty() {
            return Err(FiniteSumError::Labels { labels: loss.len(), rows: design.rows() });
        }
        let outputs = loss.outputs();
        let work = Work {
            model: vec![SparseVector::zeros(design.dim()); outputs],
            weights: vec![vec![0.0; design.dim()]; outputs],
            ..Work::default()
        };
        Ok(FiniteSum {
            design,
            loss,
            block: 1,
            ridge: 0.0,
            intercept: false,
            standard: None,
            weighted: OnceLock::new(),
            calls: Cell::new(0),
            thresholds: Cell::new(0),
            work,
        })
    }

    /// Adds `(ridge/2) |x|^2` to every component; intercepts are left out.
    ///
    /// # Errors
    /// Fails when `ridge` is not a finite number of at least 0.
    pub fn with_ridge(self, ridge: f64) -> Result<FiniteSum, FiniteSumError> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            return Err(FiniteSumError::Ridge { ridge });
        }
        Ok(FiniteSum { ridge, ..self })
    }

    /// Gives every output an intercept, which is neither thresholded nor shrunk.
    pub fn with_intercept(self) -> FiniteSum {
        FiniteSum { intercept: true, ..self }
    }

    /// Makes one component of every `size` consecutive rows: the mean of their losses. The sum as a whole
    /// stays the same.
    ///
    /// # Errors
    /// Fails when `size` is 0 or does not divide the number of rows: the mean over blocks would not be the
    /// mean over rows.
    pub fn in_blocks(self, size: usize) -> Result<FiniteSum, FiniteSumError> {
        let rows = self.rows();
        if size == 0 || !rows.is_multiple_of(size) {
            return Err(FiniteSumError::Blocks { size, rows });
        }
        Ok(FiniteSum { block: size, ..self })
    }

    /// Returns `n`, the number of components.
    pub fn len(&self) -> usize {
        self.rows() / self.block
    }

    /// Returns `g`, the number of rows of a component.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the number of rows, `n g`.
    pub fn rows(&self) -> usize {
        self.loss.len()
    }

    /// Returns false, since a sum has at least one component.
    pub fn is_empty(&self) -> bool {
        self.loss.is_empty()
    }

    /// Returns `d`, the number of coefficients of an output.
    pub fn dim(&self) -> usize {
        self.design.dim()
    }

    /// Returns the number of outputs: the number of classes for softmax, otherwise 1.
    pub fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    /// Returns the loss and its labels.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// Returns `lambda`, the weight of the l2 term.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Returns whether outputs have intercepts.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Returns the counts of what was spent so far.
    pub fn meter(&self) -> Meter {
        Meter { calls: self.calls.get(), thresholds: self.thresholds.get() }
    }

    /// Sets the meter to zero.
    pub fn reset_meter(&mut self) {
        (self.calls, self.thresholds) = (Cell::new(0), Cell::new(0));
    }

    /// Counts one hard thresholding.
    pub fn count_threshold(&self) {
        self.thresholds.set(self.thresholds.get() + 1);
    }

    /// Adds the counts of another sum that replaced this one for a time, such as a
    /// [restriction](Self::restricted).
    pub fn add_cost(&self, meter: Meter) {
        self.count(meter.calls);
        self.thresholds.set(self.thresholds.get() + meter.thresholds);
    }

    pub(crate) fn count(&self, calls: u64) {
        self.calls.set(self.calls.get() + calls);
    }

    /// Returns row `i`, scaled but not centered (see [`offset`](Self::offset)). This is not counted.
    ///
    /// # Panics
    /// Panics if `i` is not below [`rows`](Self::rows), as indexing does.
    pub fn row<'a>(&'a self, i: usize, buffer: &'a mut RowBuf) -> Entries<'a> {
        let entries = self.design.row(i, &mut buffer.stored);
        let Some(standard) = self.standard.as_deref() else { return entries };
        let (scaled, inverse) = (&mut buffer.scaled, &standard.inverse);
        scaled.clear();
        match entries {
            Entries::Sparse(indices, values) => {
                scaled.extend(indices.iter().zip(values).map(|(&j, value)| value * inverse[j as usize]));
                Entries::Sparse(indices, scaled)
            }
            Entries::Dense(values) => {
                scaled.extend(values.iter().zip(inverse).map(|(value, inverse)| value * inverse));
                Entries::Dense(scaled)
            }
        }
    }

    /// Opens component `z` at one point, which counts as one call.
    ///
    /// # Panics
    /// Panics if `z` is not below [`len`](Self::len), as indexing does.
    #[inline]
    pub fn component(&self, z: usize) -> Component<'_> {
        assert!(z < self.len(), "component {z} of {}", self.len());
        self.count(1);
        Component { loss: &self.loss, rows: z * self.block..(z + 1) * self.block }
    }

    /// Writes the mean gradient of the losses of a batch, without the l2 term. Each component counts as one
    /// call.
    ///
    /// The gradient of an empty batch is zero.
    ///
    /// # Errors
    /// Fails when the predictor has another shape, or a component does not exist; nothing is counted then.
    pub fn gradient(
        &mut self,
        batch: Batch<'_>,
        at: &Predictor,
        gradient: &mut Gradient,
    ) -> Result<(), FiniteSumError> {
        self.check_predictor(at)?;
        let size = batch.len(self.len());
        self.check_batch(batch)?;
        self.count(size as u64);
        gradient.reset(self.dim(), self.outputs());
        let (loss, totals) = (Arc::clone(&self.loss), &mut gradient.intercepts);
        let mut slope = |i: usize, margins: &mut [f64]| {
            loss.slopes(i, margins);
            totals.iter_mut().zip(margins).for_each(|(total, slope)| *total += *slope);
        };
        let mut rows = std::mem::take(&mut self.work.rows);
        let chosen = match batch {
            Batch::All => None,
            Batch::Components(list) if self.block == 1 => Some(list),
            Batch::Components(list) => {
                let block = self.block as u32;
                rows.clear();
                rows.extend(list.iter().flat_map(|z| z * block..(z + 1) * block));
                Some(&rows[..])
            }
        };
        self.sweep(chosen, at, &mut slope, &mut gradient.coefficients);
        self.work.rows = rows;
        let weight = 1.0 / (size * self.block).max(1) as f64;
        for (sum, total) in gradient.coefficients.iter_mut().zip(&mut gradient.intercepts) {
            match self.standard.as_deref() {
                None => sum.iter_mut().for_each(|sum| *sum *= weight),
                Some(Standard { inverse, offset }) => {
                    sum.iter_mut().zip(inverse).for_each(|(sum, inverse)| *sum *= weight * inverse);
                    sum.iter_mut().zip(offset).for_each(|(sum, offset)| *sum -= weight * *total * offset);
                }
            }
            *total *= if self.intercept { weight } else { 0.0 };
        }
        Ok(())
    }

    /// Returns `f(x)`, l2 term included. It is for an observer of the method, and is not counted.
    ///
    /// # Errors
    /// Fails when the predictor has another shape.
    pub fn objective(&mut self, at: &Predictor) -> Result<f64, FiniteSumError> {
        self.check_predictor(at)?;
        let (loss, mut total) = (Arc::clone(&self.loss), 0.0);
        self.sweep(None, at, &mut |i, margins| total += loss.value(i, margins), &mut []);
        Ok(total / self.rows() as f64 + 0.5 * self.ridge * at.norm_squared())
    }

    /// Returns an upper bound on `p' H p` for the Hessian H of f at any point, for methods that need a
    /// quadratic bound along p. It is exact for least squares, and counts as n calls.
    ///
    /// # Errors
    /// Fails when the direction has another shape.
    pub fn curvature(&mut self, along: &Predictor) -> Result<f64, FiniteSumError> {
        self.check_predictor(along)?;
        self.count(self.len() as u64);
        let mut total = 0.0;
        let loss = Arc::clone(&self.loss);
        let mut square = |i: usize, margins: &mut [f64]| {
            total += loss.weight(i) * margins.iter().map(|m| m * m).sum::<f64>();
        };
        self.sweep(None, along, &mut square, &mut []);
        Ok(self.loss.curvature() * total / self.rows() as f64 + self.ridge * along.norm_squared())
    }

    /// Returns an upper bound on the Lipschitz constants of the components' gradients: the largest over the
    /// components of the loss's curvature times the mean squared norm of the component's rows, plus lambda.
    /// For least squares with one row per component, the bound is the largest of these constants. It is not
    /// counted, since a step size is chosen before the run.
    pub fn component_smoothness(&self) -> f64 {
        let (mut buffer, mut largest) = (RowBuf::default(), 0.0_f64);
        let offset = self.offset();
        let offset_norm: f64 = offset.map_or(0.0, |offset| offset.iter().map(|o| o * o).sum());
        let mut sum = 0.0;
        for i in 0..self.rows() {
            let square: f64 = match (self.row(i, &mut buffer), offset) {
                (Entries::Sparse(_, values), None) | (Entries::Dense(values), None) => {
                    values.iter().map(|value| value * value).sum()
                }
                (Entries::Sparse(indices, values), Some(offset)) => {
                    let terms = indices.iter().zip(values);
                    let stored = terms.map(|(&j, value)| value * (value - 2.0 * offset[j as usize]));
                    offset_norm + stored.sum::<f64>()
                }
                (Entries::Dense(values), Some(offset)) => {
                    values.iter().zip(offset).map(|(value, offset)| (value - offset) * (value - offset)).sum()
                }
            };
            sum += self.loss.weight(i) * (square + if self.intercept { 1.0 } else { 0.0 });
            if (i + 1) % self.block == 0 {
                largest = largest.max(sum / self.block as f64);
                sum = 0.0;
            }
        }
        self.loss.curvature() * largest + self.ridge
    }

    /// Returns the same sum as a function of the coordinates of a support (ascending) alone, which are
    /// renumbered. It has a meter of its own, whose counts [`add_cost`](Self::add_cost) adds to this one's.
    ///
    /// # Errors
    /// Fails when the support does not fit.
    pub fn restricted(&self, support: &[u32]) -> Result<FiniteSum, FiniteSumError> {
        self.check_support(support)?;
        let pick =
            |all: &[f64]| support.iter().filter_map(|&j| all.get(j as usize).copied()).collect::<Vec<_>>();
        let standard = self.standard.as_deref();
        let work = Work {
            model: vec![SparseVector::zeros(support.len()); self.outputs()],
            weights: vec![vec![0.0; support.len()]; self.outputs()],
            ..Work::default()
        };
        Ok(FiniteSum {
            design: self.design.restrict(support),
            loss: Arc::clone(&self.loss),
            block: self.block,
            ridge: self.ridge,
            intercept: self.intercept,
            standard: standard
                .map(|s| Arc::new(Standard { inverse: pick(&s.inverse), offset: pick(&s.offset) })),
            weighted: self
                .weighted
                .get()
                .map_or_else(OnceLock::new, |moments| OnceLock::from(Arc::new(moments.restrict(support)))),
            calls: Cell::new(0),
            thresholds: Cell::new(0),
            work,
        })
    }

    /// Returns the mean and standard deviation of every column, weighted if rows are.
    pub(crate) fn moments(&self) -> &Moments {
        let Some(weights) = self.loss.weights() else { return self.design.moments() };
        self.weighted.get_or_init(|| Arc::new(moments::weighted(&*self.design, weights)))
    }

    pub(crate) fn check_predictor(&self, at: &Predictor) -> Result<(), FiniteSumError> {
        let (expected_dim, expected_outputs) = (self.dim(), self.outputs());
        let outputs = at.coefficients.len();
        let misfit = at.coefficients.iter().find(|x| x.dim() != expected_dim);
        if outputs == expected_outputs && misfit.is_none() {
            return Ok(());
        }
        let dim = misfit.or(at.coefficients.first()).map_or(0, SparseVector::dim);
        Err(FiniteSumError::Predictor { outputs, dim, expected_outputs, expected_dim })
    }

    fn check_batch(&self, batch: Batch<'_>) -> Result<(), FiniteSumError> {
        let components = self.len();
        let Batch::Components(list) = batch else { return Ok(()) };
        match list.iter().find(|z| **z as usize >= components) {
            None => Ok(()),
            Some(&component) => Err(FiniteSumError::Component { component, components }),
        }
    }

    pub(crate) fn check_support(&self, support: &[u32]) -> Result<(), FiniteSumError> {
        let dim = self.dim();
        let fits = |place: usize| {
            (support[place] as usize) < dim && (place == 0 || support[place - 1] < support[place])
        };
        match (0..support.len()).find(|&place| !fits(place)) {
            None => Ok(()),
            Some(place) => Err(FiniteSumError::Support { place, attribute: support[place], dim }),
        }
    }

    /// Passes over these rows, or over all. The caller has checked the predictor and the rows.
    fn sweep(
        &mut self,
        rows: Option<&[u32]>,
        at: &Predictor,
        slope: &mut dyn FnMut(usize, &mut [f64]),
        sums: &mut [Vec<f64>],
    ) {
        let standard = self.standard.as_deref();
        let Work { model, weights, shift, tile, row, .. } = &mut self.work;
        shift.clear();
        for (l, (x, model)) in at.coefficients.iter().zip(model.iter_mut()).enumerate() {
            let offset = standard.map(|s| &s.offset[..]).filter(|offset| !offset.is_empty());
            let center = offset.map_or(0.0, |offset| x.view().dot_dense(offset));
            shift.push(at.intercepts.get(l).copied().unwrap_or(0.0) - center);
            model.copy_from(x.view());
            if let Some(standard) = standard {
                scale_by(model, &standard.inverse);
            }
            model.view().iter().for_each(|(j, weight)| weights[l][j as usize] = weight);
        }
        self.design.sweep(rows, Pass { model, weights, shift, slope, sums, tile, row });
        for (x, weights) in model.iter().zip(weights) {
            x.indices().iter().for_each(|&j| weights[j as usize] = 0.0);
        }
    }
}

/// A component at one point: the only way to the slopes of single rows.
#[derive(Clone, Debug)]
pub struct Component<'a> {
    loss: &'a Loss,
    rows: Range<usize>,
}

impl Component<'_> {
    /// Returns its rows.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Replaces the margins of one of its rows, one per output and with intercept, by the slopes of the row's
    /// loss. The component's gradient is the mean over its rows of slope times row.
    ///
    /// # Panics
    /// Panics if the row is not one of the component's rows, or there are fewer margins than outputs, as
    /// indexing does.
    #[inline]
    pub fn slopes(&self, row: usize, margins: &mut [f64]) {
        assert!(self.rows.contains(&row), "row {row} is not among {:?}", self.rows);
        self.loss.slopes(row, margins);
    }
}
