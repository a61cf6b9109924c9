//! The iterate of the stochastic methods: one lazily thresholded sparse vector per output, and the correction
//! of a mini-batch.
//!
//! The naive step, with slopes `c_z` of the mini-batch `I` and the snapshot gradient `mu` fixed for an epoch,
//! is
//!
//! ```text
//! for z in I:  c_z = l'(z'x, y_z) - l'(z'X, y_z)         margins at the iterate x and at the snapshot X
//! v = (1 - eta lambda) x - eta mu - (eta/b) sum_z c_z z   O(d)
//! x <- H_k(v)                                             O(d)
//! ```
//!
//! Five departures are for speed:
//!
//! 1. `x` and `-eta mu` are kept by a [`LazyThresholdIterate`]: coordinates that no row touches keep
//!    their order within an epoch, so that thresholding visits only the others and a short list. The docs of
//!    that type state and prove the invariant;
//! 2. the correction `(eta/b) sum_z c_z z` is a list of the coordinates touched while rows have few entries,
//!    and a dense vector when that is cheaper;
//! 3. in a single row no coordinate occurs twice, so that none is looked up;
//! 4. the number that centering subtracts from every margin is computed once per step, not for every row;
//! 5. the snapshot is also kept as a dense vector, so that a margin at the snapshot is one gather; a new
//!    snapshot changes O(k) entries.

use super::{Shape, SolveError};
use crate::bug::cannot_fail;
use lao_finite_sum::{Batch, Entries, FiniteSum, Gradient, Predictor, RowBuf};
use lao_kernels::LazyThresholdIterate;

/// The k-sparse iterate, moved by `x <- H_k((1 - eta lambda) x + w - g)` with a drift w that is fixed for an
/// epoch and a correction g from a mini-batch. A step costs O(k + nnz of the mini-batch) if rows are sparse,
/// and O(d) if rows are dense or centered.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    outputs: Vec<LazyThresholdIterate>,
    intercepts: Vec<f64>,
    /// The drift of the intercepts.
    intercept_drift: Vec<f64>,
    correction: Correction,
    row: RowBuf,
    /// The intercepts minus the numbers that centering subtracts.
    row_independent_margins: Vec<f64>,
    /// Slopes at the iterate, and at the snapshot, one per output; margins before they become slopes.
    slopes: Vec<f64>,
    at_snapshot: Vec<f64>,
    gradient: Gradient,
    read: Predictor,
    is_stale: bool,
    dim: usize,
}

/// Computes the margins of a row, one per output.
fn margins(
    outputs: &[LazyThresholdIterate],
    row_independent: &[f64],
    entries: Entries<'_>,
    into: &mut [f64],
) {
    for ((margin, base), x) in into.iter_mut().zip(row_independent).zip(outputs) {
        *margin = base
            + match entries {
                Entries::Sparse(indices, values) => x.dot(indices, values),
                Entries::Dense(values) => x.dot_dense(values),
            };
    }
}

/// The correction of a mini-batch, per output: on the coordinates touched, or on all.
#[derive(Clone, Debug)]
struct Correction {
    touched: Vec<u32>,
    /// The place of each coordinate in `touched`, which is valid if the coordinate has the current stamp.
    places: Vec<u32>,
    stamps: Vec<u32>,
    stamp: u32,
    /// The number of entries of all rows so far.
    seen: usize,
    /// Whether `dense` holds the correction, not `sparse`.
    is_dense: bool,
    sparse: Vec<Vec<f64>>,
    dense: Vec<Vec<f64>>,
    /// The sum of the slopes, per output.
    totals: Vec<f64>,
}

impl Iterate {
    /// Returns the iterate at a start that was checked.
    pub(super) fn new(shape: Shape, sparsity: usize, start: &Predictor) -> Iterate {
        let Shape { dim, outputs, .. } = shape;
        let mut drifting = vec![LazyThresholdIterate::new(dim, sparsity); outputs];
        for (drifting, start) in drifting.iter_mut().zip(&start.coefficients) {
            cannot_fail(drifting.load(start.view()), "the start was found to be finite");
        }
        Iterate {
            outputs: drifting,
            intercepts: start.intercepts.clone(),
            intercept_drift: vec![0.0; outputs],
            correction: Correction {
                touched: Vec::new(),
                places: vec![0; dim],
                stamps: vec![0; dim],
                stamp: 0,
                seen: 0,
                is_dense: false,
                sparse: vec![Vec::new(); outputs],
                dense: vec![Vec::new(); outputs],
                totals: vec![0.0; outputs],
            },
            row: RowBuf::default(),
            row_independent_margins: vec![0.0; outputs],
            slopes: vec![0.0; outputs],
            at_snapshot: vec![0.0; outputs],
            gradient: Gradient::zeros(dim, outputs),
            read: Predictor::zeros(dim, outputs),
            is_stale: true,
            dim,
        }
    }

    /// (1) Begins an epoch: the drift is `-eta` times the snapshot gradient.
    pub(super) fn begin(&mut self, step_size: f64, snapshot: &Gradient) -> Result<(), SolveError> {
        for (drifting, gradient) in self.outputs.iter_mut().zip(&snapshot.coefficients) {
            drifting.begin(-step_size, gradient)?;
        }
        let drifts = self.intercept_drift.iter_mut().zip(&snapshot.intercepts);
        drifts.for_each(|(drift, gradient)| *drift = -step_size * gradient);
        Ok(())
    }

    /// Makes one step with the mini-batch `batch`. If a `snapshot` is given, the slopes at the snapshot are
    /// subtracted.
    pub(super) fn step(
        &mut self,
        sum: &FiniteSum,
        batch: &[u32],
        step_size: f64,
        snapshot: Option<&Snapshot>,
    ) -> Result<(), SolveError> {
        let weight = step_size / (batch.len() * sum.block()).max(1) as f64;
        let factor = 1.0 - step_size * sum.ridge();
        self.is_stale = true;
        let Iterate { outputs, row_independent_margins, correction, row, slopes, at_snapshot, .. } = self;
        let offset = sum.offset();
        // 4. This is the part of every margin that does not depend on the row.
        for ((margin, intercept), x) in
            row_independent_margins.iter_mut().zip(&self.intercepts).zip(&*outputs)
        {
            *margin = intercept - offset.map_or(0.0, |offset| x.dot_dense(offset));
        }
        correction.begin();
        if offset.is_some() {
            correction.make_dense(self.dim);
        }
        let is_single_row = batch.len() * sum.block() == 1;
        for &z in batch {
            // Each look at a component is an IFO call.
            let component = sum.component(z as usize);
            let there = snapshot.map(|snapshot| (snapshot, sum.component(z as usize)));
            for i in component.rows() {
                let entries = sum.row(i, row);
                // The slopes are l'(z_i'x, y_i), from which l'(z_i'X, y_i) is subtracted.
                margins(outputs, row_independent_margins, entries, slopes);
                component.slopes(i, slopes);
                if let Some((snapshot, component)) = &there {
                    snapshot.margins(entries, at_snapshot);
                    component.slopes(i, at_snapshot);
                    slopes.iter_mut().zip(&*at_snapshot).for_each(|(slope, at)| *slope -= at);
                }
                correction.add(entries, slopes, weight, is_single_row, self.dim);
            }
        }
        correction.center(offset);
        self.finish(sum, factor)
    }

    /// Makes one step along the gradient of a batch of many components, from which the step size may follow.
    pub(super) fn step_along(
        &mut self,
        sum: &mut FiniteSum,
        batch: Batch<'_>,
        step_size: impl FnOnce(&FiniteSum, &Predictor, &Gradient) -> Result<f64, SolveError>,
    ) -> Result<(), SolveError> {
        self.coefficients();
        sum.gradient(batch, &self.read, &mut self.gradient)?;
        let step_size = step_size(sum, &self.read, &self.gradient)?;
        self.is_stale = true;
        self.correction.begin();
        self.correction.is_dense = true;
        for (sums, gradient) in self.correction.dense.iter_mut().zip(&self.gradient.coefficients) {
            sums.clear();
            sums.extend(gradient.iter().map(|gradient| step_size * gradient));
        }
        for (total, gradient) in self.correction.totals.iter_mut().zip(&self.gradient.intercepts) {
            *total = step_size * gradient;
        }
        self.finish(sum, 1.0 - step_size * sum.ridge())
    }

    /// (1) Moves and thresholds all outputs, or none if one of them would not be finite.
    fn finish(&mut self, sum: &FiniteSum, factor: f64) -> Result<(), SolveError> {
        let Iterate { outputs, intercepts, correction, .. } = self;
        for (l, drifting) in outputs.iter_mut().enumerate() {
            match correction.is_dense {
                true => drifting.prepare_dense(factor, &correction.dense[l])?,
                false => drifting.prepare(factor, &correction.touched, &correction.sparse[l])?,
            }
            let total = self.intercept_drift[l] - correction.totals[l];
            if !total.is_finite() {
                return Err(SolveError::Intercept { output: l, value: total });
            }
        }
        for (l, drifting) in outputs.iter_mut().enumerate() {
            match correction.is_dense {
                true => drifting.commit_dense(),
                false => drifting.commit(&correction.touched),
            }
            if sum.has_intercept() {
                intercepts[l] += self.intercept_drift[l] - correction.totals[l];
            }
        }
        sum.count_threshold();
        Ok(())
    }

    pub(super) fn coefficients(&mut self) -> &Predictor {
        if self.is_stale {
            for (x, drifting) in self.read.coefficients.iter_mut().zip(&self.outputs) {
                drifting.read(x);
            }
            self.read.intercepts.clone_from(&self.intercepts);
            self.is_stale = false;
        }
        &self.read
    }
}

impl Correction {
    fn begin(&mut self) {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        (self.is_dense, self.seen) = (false, 0);
        self.touched.clear();
        self.sparse.iter_mut().for_each(Vec::clear);
        self.totals.fill(0.0);
    }

    /// Adds `weight * slope * row`; `is_single_row` as in [`add_sparse`](Self::add_sparse).
    fn add(&mut self, entries: Entries<'_>, slopes: &[f64], weight: f64, is_single_row: bool, dim: usize) {
        for (total, slope) in self.totals.iter_mut().zip(slopes) {
            *total += weight * slope;
        }
        if let Entries::Sparse(indices, values) = entries {
            self.seen += indices.len();
            // 2. With many entries, a pass over all coordinates is cheaper than a list of those touched.
            if !self.is_dense && 2 * self.seen <= dim {
                return self.add_sparse(indices, values, slopes, weight, is_single_row);
            }
        }
        if !self.is_dense {
            self.make_dense(dim);
        }
        self.add_dense(entries, slopes, weight);
    }

    /// Subtracts the numbers that centering subtracts from every row.
    fn center(&mut self, offset: Option<&[f64]>) {
        let Some(offset) = offset else { return };
        for (sums, total) in self.dense.iter_mut().zip(&self.totals) {
            sums.iter_mut().zip(offset).for_each(|(sum, offset)| *sum -= total * offset);
        }
    }

    /// (3) Adds a sparse row. With `is_single_row` the row is the whole batch, so that no coordinate occurs
    ///    twice.
    fn add_sparse(
        &mut self,
        indices: &[u32],
        values: &[f64],
        slopes: &[f64],
        weight: f64,
        is_single_row: bool,
    ) {
        if is_single_row {
            self.touched.extend_from_slice(indices);
            for (sums, slope) in self.sparse.iter_mut().zip(slopes) {
                sums.extend(values.iter().map(|value| weight * slope * value));
            }
            return;
        }
        for (&j, value) in indices.iter().zip(values) {
            let at = j as usize;
            if self.stamps[at] != self.stamp {
                self.stamps[at] = self.stamp;
                self.places[at] = self.touched.len() as u32;
                self.touched.push(j);
                self.sparse.iter_mut().for_each(|sums| sums.push(0.0));
            }
            let place = self.places[at] as usize;
            for (sums, slope) in self.sparse.iter_mut().zip(slopes) {
                sums[place] += weight * slope * value;
            }
        }
    }

    /// Switches to a dense correction, which begins with the entries gathered so far.
    fn make_dense(&mut self, dim: usize) {
        self.is_dense = true;
        for (dense, sparse) in self.dense.iter_mut().zip(&self.sparse) {
            dense.clear();
            dense.resize(dim, 0.0);
            self.touched.iter().zip(sparse).for_each(|(&j, sum)| dense[j as usize] = *sum);
        }
    }

    fn add_dense(&mut self, entries: Entries<'_>, slopes: &[f64], weight: f64) {
        for (sums, slope) in self.dense.iter_mut().zip(slopes) {
            match entries {
                Entries::Sparse(indices, values) => {
                    for (&j, value) in indices.iter().zip(values) {
                        sums[j as usize] += weight * slope * value;
                    }
                }
                Entries::Dense(values) => {
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * slope * value);
                }
            }
        }
    }
}

/// The snapshot as dense vectors, for slopes at the snapshot.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    weights: Vec<Vec<f64>>,
    at: Predictor,
    /// The intercepts minus the numbers that centering subtracts.
    shift: Vec<f64>,
}

impl Snapshot {
    pub(super) fn new(shape: Shape) -> Snapshot {
        let Shape { dim, outputs, .. } = shape;
        Snapshot {
            weights: vec![vec![0.0; dim]; outputs],
            at: Predictor::zeros(dim, outputs),
            shift: vec![0.0; outputs],
        }
    }

    /// (5) Moves the snapshot to `at`, at a cost of O(k).
    pub(super) fn set(&mut self, sum: &FiniteSum, at: &Predictor) -> Result<(), SolveError> {
        for (weights, (old, new)) in
            self.weights.iter_mut().zip(self.at.coefficients.iter().zip(&at.coefficients))
        {
            old.indices().iter().for_each(|&j| weights[j as usize] = 0.0);
            new.view().iter().for_each(|(j, value)| weights[j as usize] = value);
        }
        for ((shift, x), intercept) in self.shift.iter_mut().zip(&at.coefficients).zip(&at.intercepts) {
            *shift = intercept - sum.shift_of(x)?;
        }
        self.at.copy_from(at);
        Ok(())
    }

    fn margins(&self, entries: Entries<'_>, margins: &mut [f64]) {
        for (l, margin) in margins.iter_mut().enumerate() {
            *margin = self.shift[l]
                + match entries {
                    Entries::Sparse(indices, values) => {
                        lao_kernels::gather_dot(indices, values, &self.weights[l])
                    }
                    Entries::Dense(values) => self.at.coefficients[l].view().dot_dense(values),
                };
        }
    }
}
