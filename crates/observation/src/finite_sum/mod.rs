//! Full information: the mean of n component functions, `f(x) = (1/n) sum_z f_z(x)`, behind a meter.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020, Problem (1) and Definition 2; the incremental first-order oracle (IFO) is that of
//! Agarwal & Bottou.
//!
//! A component is the loss of a linear predictor on one example plus an l2 term,
//!
//! ```text
//! f_z(x) = loss(z'x + a, y_z) + (lambda/2) |x|^2
//! ```
//!
//! so its gradient is a *slope* times its example, plus `lambda x`. The second part needs no data: gradients here are those of
//! the loss alone, and the solvers add `lambda x` themselves, in O(k).
//!
//! *Meter.* One IFO call is one component's value or gradient at one point. The only ways to a slope are [`FiniteSum::slopes`]
//! (one call), [`FiniteSum::gradient`] (one call per component of the batch), [`FiniteSum::curvature`] and
//! [`FiniteSum::normal_equations`] (n calls); rows can be looked at freely, as the oracle's own data. Thresholdings are counted
//! by [`FiniteSum::count_threshold`]: one per step, however many classes. Scoring ([`FiniteSum::score`]) is for the person
//! who watches, not for the method, and is not counted.
//!
//! *Standardisation* is arithmetic, not a copy: with means m and scales s, `z~ = (z - m)/s`, a product with z~ is one with z,
//! a scaled vector and a correction `m'(x/s)` that is the same for all rows. Sparse rows stay sparse.

mod design;
mod loss;
mod predictor;

pub use design::{Batch, Entries, Examples};
pub use loss::Loss;
pub use predictor::{Gradient, Predictor};

use design::{Design, Pass};
use lao_kernels::{Element, SparseVector};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::Arc;
use thiserror::Error;

/// A metered finite sum. A clone shares the data, not the meter's future.
#[derive(Clone, Debug)]
pub struct FiniteSum {
    design: Arc<dyn Design>,
    loss: Arc<Loss>,
    ridge: f64,
    intercept: bool,
    standard: Option<Arc<Standard>>,
    /// Means of the columns, as stored, where an intercept or standardisation needs them.
    means: Arc<Vec<f64>>,
    calls: Cell<u64>,
    thresholds: Cell<u64>,
    work: Work,
}

/// What was spent so far. Counts are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// IFO calls: values or gradients of single components.
    pub calls: u64,
    /// Hard thresholdings, one per step whatever the number of classes.
    pub thresholds: u64,
}

/// How columns are standardised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standardise {
    /// Not at all.
    #[default]
    No,
    /// Divided by their standard deviation.
    Scale,
    /// Mean subtracted, then divided by their standard deviation. Steps on single sparse rows then cost O(d).
    CentreAndScale,
}

/// Standardised values are `value * inverse[j] - offset[j]`.
#[derive(Debug)]
struct Standard {
    inverse: Vec<f64>,
    /// Empty without centring.
    offset: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    model: Vec<SparseVector>,
    weights: Vec<Vec<f64>>,
    shift: Vec<f64>,
    tile: Vec<f64>,
    row: Vec<f64>,
}

/// Buffers for [`FiniteSum::row`].
#[derive(Clone, Debug, Default)]
pub struct RowBuf {
    stored: Vec<f64>,
    scaled: Vec<f64>,
}

impl FiniteSum {
    /// The mean of `loss` over `examples`: no l2 term, no intercept, columns as they are.
    ///
    /// # Errors
    /// When there are no examples, or not one label for each.
    pub fn new<T: Element>(examples: Examples<T>, loss: Loss) -> Result<FiniteSum, FiniteSumError> {
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
            ridge: 0.0,
            intercept: false,
            standard: None,
            means: Arc::default(),
            calls: Cell::new(0),
            thresholds: Cell::new(0),
            work,
        })
    }

    /// Adds `(ridge/2) |x|^2` to every component; intercepts are left out.
    ///
    /// # Errors
    /// When `ridge` is not a finite number of at least 0.
    pub fn with_ridge(self, ridge: f64) -> Result<FiniteSum, FiniteSumError> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            return Err(FiniteSumError::Ridge { ridge });
        }
        Ok(FiniteSum { ridge, ..self })
    }

    /// Gives every output an intercept, which is neither thresholded nor shrunk.
    pub fn with_intercept(mut self) -> FiniteSum {
        self.intercept = true;
        if self.means.is_empty() {
            self.means = Arc::new(self.design.moments().0);
        }
        self
    }

    /// Works in standardised columns from here on. Columns that are constant are not divided.
    ///
    /// # Errors
    /// When a column's variance is not finite.
    pub fn standardised(mut self, how: Standardise) -> Result<FiniteSum, FiniteSumError> {
        if how == Standardise::No {
            return Ok(FiniteSum { standard: None, ..self });
        }
        let (means, scales) = self.design.moments();
        if let Some(attribute) = scales.iter().position(|scale| !scale.is_finite()) {
            return Err(FiniteSumError::Scale { attribute, scale: scales[attribute] });
        }
        // A spread below the rounding of the mean is none.
        let spread = |scale: f64, mean: f64| scale > 8.0 * f64::EPSILON * mean.abs() && scale > 0.0;
        let inverse: Vec<f64> = scales
            .iter()
            .zip(&means)
            .map(|(&scale, &mean)| if spread(scale, mean) { 1.0 / scale } else { 1.0 })
            .collect();
        let offset = match how {
            Standardise::CentreAndScale => {
                means.iter().zip(&inverse).map(|(m, inverse)| m * inverse).collect()
            }
            _ => Vec::new(),
        };
        self.standard = Some(Arc::new(Standard { inverse, offset }));
        self.means = Arc::new(means);
        Ok(self)
    }

    /// `n`, the number of components.
    pub fn len(&self) -> usize {
        self.loss.len()
    }

    /// Never: a sum has components.
    pub fn is_empty(&self) -> bool {
        self.loss.is_empty()
    }

    /// `d`, coefficients of each output.
    pub fn dim(&self) -> usize {
        self.design.dim()
    }

    /// Number of outputs: the classes of softmax, else 1.
    pub fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    /// The loss and its labels.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// `lambda`, the weight of the l2 term.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Whether outputs have intercepts.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// What is subtracted from every row after scaling, if columns are centred: row z stands for `z - offset`.
    pub fn offset(&self) -> Option<&[f64]> {
        self.standard.as_deref().map(|standard| &standard.offset[..]).filter(|offset| !offset.is_empty())
    }

    /// What was spent so far.
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

    /// Adds what was spent on another sum that stands for this one, such as a [restriction](Self::restricted).
    pub fn charge(&self, meter: Meter) {
        self.count(meter.calls);
        self.thresholds.set(self.thresholds.get() + meter.thresholds);
    }

    fn count(&self, calls: u64) {
        self.calls.set(self.calls.get() + calls);
    }

    /// Row `i`, scaled but not centred (see [`offset`](Self::offset)). Free of charge.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
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

    /// Replaces the margins of component `i`, one per output and with intercept, by the slopes of its loss. One call.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), or there is no margin.
    #[inline]
    pub fn slopes(&self, i: usize, margins: &mut [f64]) {
        self.count(1);
        self.loss.slopes(i, margins);
    }

    /// The mean gradient of the losses of a batch, without the l2 term. One call per component.
    ///
    /// An empty batch has gradient zero.
    ///
    /// # Panics
    /// If the predictor has another shape, or a row does not exist.
    pub fn gradient(&mut self, batch: Batch<'_>, at: &Predictor, gradient: &mut Gradient) {
        let size = batch.len(self.len());
        self.count(size as u64);
        gradient.reset(self.dim(), self.outputs());
        let (loss, totals) = (Arc::clone(&self.loss), &mut gradient.intercepts);
        let mut slope = |i: usize, margins: &mut [f64]| {
            loss.slopes(i, margins);
            totals.iter_mut().zip(margins).for_each(|(total, slope)| *total += *slope);
        };
        self.sweep(batch, at, &mut slope, &mut gradient.coefficients);
        let weight = 1.0 / size.max(1) as f64;
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
    }

    /// `f(x)`, l2 term included, for those who watch: not counted.
    ///
    /// # Panics
    /// If the predictor has another shape.
    pub fn score(&mut self, at: &Predictor) -> f64 {
        let (loss, mut total) = (Arc::clone(&self.loss), 0.0);
        self.sweep(Batch::All, at, &mut |i, margins| total += loss.value(i, margins), &mut []);
        total / self.len() as f64 + 0.5 * self.ridge * at.norm_squared()
    }

    /// Upper bound on `p' H p` for the Hessian H of f at any point, exact for least squares: where a quadratic bound along p
    /// is needed. n calls.
    ///
    /// # Panics
    /// If the direction has another shape.
    pub fn curvature(&mut self, along: &Predictor) -> f64 {
        self.count(self.len() as u64);
        let mut total = 0.0;
        let mut square = |_: usize, margins: &mut [f64]| total += margins.iter().map(|m| m * m).sum::<f64>();
        self.sweep(Batch::All, along, &mut square, &mut []);
        self.loss.curvature() * total / self.len() as f64 + self.ridge * along.norm_squared()
    }

    /// The largest Lipschitz constant of a component's gradient: curvature of the loss times the largest squared norm of
    /// a row, plus lambda. Not counted: a step size is chosen before the run.
    pub fn component_smoothness(&self) -> f64 {
        let (mut buffer, mut largest) = (RowBuf::default(), 0.0_f64);
        let offset = self.offset();
        let offset_norm: f64 = offset.map_or(0.0, |offset| offset.iter().map(|o| o * o).sum());
        for i in 0..self.len() {
            let square = match (self.row(i, &mut buffer), offset) {
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
            largest = largest.max(square + if self.intercept { 1.0 } else { 0.0 });
        }
        self.loss.curvature() * largest + self.ridge
    }

    /// The normal equations of least squares on a support (ascending): writes the lower triangle of `X_S'X_S + (n lambda/2) I`,
    /// row by row, and `X_S'y`, both after the intercept, if there is one, has been minimised out. n calls. `None` for
    /// other losses.
    pub fn normal_equations(&mut self, support: &[u32]) -> Option<(Vec<f64>, Vec<f64>)> {
        let loss = Arc::clone(&self.loss);
        let labels = loss.squares()?;
        self.count(self.len() as u64);
        let (size, n) = (support.len(), self.len() as f64);
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        self.design.gram(support, labels, &mut gram, &mut right);
        let total: f64 = labels.iter().sum();
        // What rows are centred by: nothing, or the mean. An intercept centres, too, and the labels with it.
        let centred = self.intercept || self.offset().is_some();
        let centre = |a: usize| if centred { self.means[support[a] as usize] } else { 0.0 };
        let scale = |a: usize| self.standard.as_deref().map_or(1.0, |s| s.inverse[support[a] as usize]);
        for a in 0..size {
            for b in 0..=a {
                let entry = &mut gram[a * size + b];
                *entry = (*entry - n * centre(a) * centre(b)) * scale(a) * scale(b);
            }
            gram[a * size + a] += 0.5 * n * self.ridge;
            right[a] = (right[a] - centre(a) * total) * scale(a);
        }
        Some((gram, right))
    }

    /// The intercept that is best for given coefficients of least squares; 0 without intercept or for other losses.
    pub fn best_intercept(&self, x: &SparseVector) -> f64 {
        let Some(labels) = self.loss.squares().filter(|_| self.intercept) else { return 0.0 };
        let mean = labels.iter().sum::<f64>() / labels.len() as f64;
        if self.offset().is_some() {
            return mean;
        }
        let inverse = |j: u32| self.standard.as_deref().map_or(1.0, |s| s.inverse[j as usize]);
        mean - x.view().iter().map(|(j, weight)| weight * inverse(j) * self.means[j as usize]).sum::<f64>()
    }

    /// The same sum over the coordinates of a support (ascending) alone, renumbered, with a meter of its own: see
    /// [`charge`](Self::charge).
    pub fn restricted(&self, support: &[u32]) -> FiniteSum {
        let pick =
            |all: &[f64]| support.iter().filter_map(|&j| all.get(j as usize).copied()).collect::<Vec<_>>();
        let standard = self.standard.as_deref();
        let work = Work {
            model: vec![SparseVector::zeros(support.len()); self.outputs()],
            weights: vec![vec![0.0; support.len()]; self.outputs()],
            ..Work::default()
        };
        FiniteSum {
            design: self.design.restrict(support),
            loss: Arc::clone(&self.loss),
            ridge: self.ridge,
            intercept: self.intercept,
            standard: standard
                .map(|s| Arc::new(Standard { inverse: pick(&s.inverse), offset: pick(&s.offset) })),
            means: Arc::new(pick(&self.means)),
            calls: Cell::new(0),
            thresholds: Cell::new(0),
            work,
        }
    }

    /// The predictor in units of the columns as they are stored.
    pub fn in_stored_units(&self, predictor: &Predictor) -> Predictor {
        let mut stored = predictor.clone();
        if let Some(standard) = self.standard.as_deref() {
            for (x, intercept) in stored.coefficients.iter_mut().zip(&mut stored.intercepts) {
                *intercept -= self.shift_of(x);
                scale_by(x, &standard.inverse);
            }
        }
        stored
    }

    /// `offset' x`, which centring subtracts from every margin.
    pub fn shift_of(&self, x: &SparseVector) -> f64 {
        self.offset().map_or(0.0, |offset| x.view().dot_dense(offset))
    }

    fn sweep(
        &mut self,
        batch: Batch<'_>,
        at: &Predictor,
        slope: &mut dyn FnMut(usize, &mut [f64]),
        sums: &mut [Vec<f64>],
    ) {
        let (dim, outputs) = (self.dim(), self.outputs());
        assert!(
            at.coefficients.len() == outputs && at.coefficients.iter().all(|x| x.dim() == dim),
            "the predictor must have {outputs} outputs of dimension {dim}"
        );
        let standard = self.standard.as_deref();
        let Work { model, weights, shift, tile, row } = &mut self.work;
        shift.clear();
        for (l, (x, model)) in at.coefficients.iter().zip(model.iter_mut()).enumerate() {
            let offset = standard.map(|s| &s.offset[..]).filter(|offset| !offset.is_empty());
            let centre = offset.map_or(0.0, |offset| x.view().dot_dense(offset));
            shift.push(at.intercepts.get(l).copied().unwrap_or(0.0) - centre);
            model.copy_from(x.view());
            if let Some(standard) = standard {
                scale_by(model, &standard.inverse);
            }
            model.view().iter().for_each(|(j, weight)| weights[l][j as usize] = weight);
        }
        self.design.sweep(batch, Pass { model, weights, shift, slope, sums, tile, row });
        for (x, weights) in model.iter().zip(weights) {
            x.indices().iter().for_each(|&j| weights[j as usize] = 0.0);
        }
    }
}

fn scale_by(x: &mut SparseVector, factors: &[f64]) {
    x.change_values(|j, value| value * factors[j as usize]);
}

/// What cannot be made a finite sum.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum FiniteSumError {
    /// One label per row, and at least one row, are needed.
    #[error("{labels} labels for {rows} rows: give one label per row, and at least one row")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A label that the loss does not know.
    #[error("row {row} has label {label}: labels must be {allowed}")]
    Label {
        /// The first such row.
        row: usize,
        /// Its label.
        label: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Values do not fill the shape.
    #[error("{values} values do not make {rows} rows of {dim}: give rows * dim values, each below 2^32")]
    Shape {
        /// Rows wanted.
        rows: usize,
        /// Columns wanted.
        dim: usize,
        /// Values given.
        values: usize,
    },
    /// A value is NaN or infinite.
    #[error("row {row}, attribute {attribute} holds {value}: values must be finite")]
    NotFinite {
        /// Its row.
        row: usize,
        /// Its attribute.
        attribute: usize,
        /// The value.
        value: f64,
    },
    /// A weight of the l2 term that is not allowed.
    #[error("ridge = {ridge} is not allowed; a finite number of at least 0")]
    Ridge {
        /// The value.
        ridge: f64,
    },
    /// A column cannot be standardised.
    #[error("attribute {attribute} has standard deviation {scale}: scale its values down first")]
    Scale {
        /// The column.
        attribute: usize,
        /// Its standard deviation.
        scale: f64,
    },
}
