//! The iterate of the stochastic methods: one drifting sparse vector per output, and the mini-batch's
//! correction.

use super::{Shape, SolveError};
use lao_finite_sum::{Batch, Entries, FiniteSum, Gradient, Predictor, RowBuf};
use lao_kernels::LazyThresholdIterate;

/// The k-sparse iterate, moved by `x <- H_k((1 - eta lambda) x + w - b)` with a drift w that is fixed for an
/// epoch and a bump b from a mini-batch. Costs O(k + nnz of the mini-batch) where rows are sparse, O(d) where
/// they are dense or centered.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    outputs: Vec<LazyThresholdIterate>,
    intercepts: Vec<f64>,
    /// Drift of the intercepts.
    pull: Vec<f64>,
    bump: Bump,
    row: RowBuf,
    /// Intercepts minus what centring subtracts.
    base: Vec<f64>,
    margins: Vec<f64>,
    anchored: Vec<f64>,
    gradient: Gradient,
    read: Predictor,
    stale: bool,
    dim: usize,
}

/// What the mini-batch adds to a step, per output: on touched coordinates, or on all.
#[derive(Clone, Debug)]
struct Bump {
    touched: Vec<u32>,
    /// Place of a coordinate in `touched`, valid where its stamp is the present one.
    places: Vec<u32>,
    stamps: Vec<u32>,
    stamp: u32,
    /// Entries of all rows so far.
    seen: usize,
    /// Whether `dense` holds the bump, not `sparse`.
    wide: bool,
    sparse: Vec<Vec<f64>>,
    dense: Vec<Vec<f64>>,
    /// Sum of slopes.
    totals: Vec<f64>,
}

impl Iterate {
    pub(super) fn new(shape: Shape, sparsity: usize, start: &Predictor) -> Result<Iterate, SolveError> {
        let Shape { dim, outputs, .. } = shape;
        let mut drifting = vec![LazyThresholdIterate::new(dim, sparsity); outputs];
        for (drifting, start) in drifting.iter_mut().zip(&start.coefficients) {
            drifting.load(start.view())?;
        }
        Ok(Iterate {
            outputs: drifting,
            intercepts: start.intercepts.clone(),
            pull: vec![0.0; outputs],
            bump: Bump {
                touched: Vec::new(),
                places: vec![0; dim],
                stamps: vec![0; dim],
                stamp: 0,
                seen: 0,
                wide: false,
                sparse: vec![Vec::new(); outputs],
                dense: vec![Vec::new(); outputs],
                totals: vec![0.0; outputs],
            },
            row: RowBuf::default(),
            base: vec![0.0; outputs],
            margins: vec![0.0; outputs],
            anchored: vec![0.0; outputs],
            gradient: Gradient::zeros(dim, outputs),
            read: Predictor::zeros(dim, outputs),
            stale: true,
            dim,
        })
    }

    /// Begins an epoch: the drift is `-eta` times the snapshot gradient.
    pub(super) fn begin(&mut self, step_size: f64, snapshot: &Gradient) -> Result<(), SolveError> {
        for (drifting, gradient) in self.outputs.iter_mut().zip(&snapshot.coefficients) {
            drifting.begin(-step_size, gradient)?;
        }
        let pulls = self.pull.iter_mut().zip(&snapshot.intercepts);
        pulls.for_each(|(pull, gradient)| *pull = -step_size * gradient);
        Ok(())
    }

    /// One step with the mini-batch `batch`; with an `anchor`, slopes at the snapshot are subtracted.
    pub(super) fn step(
        &mut self,
        sum: &FiniteSum,
        batch: &[u32],
        step_size: f64,
        anchor: Option<&Anchor>,
    ) -> Result<(), SolveError> {
        let weight = step_size / (batch.len() * sum.block()).max(1) as f64;
        let factor = 1.0 - step_size * sum.ridge();
        self.stale = true;
        let Iterate { outputs, intercepts, base, bump, row, margins, anchored, .. } = self;
        let offset = sum.offset();
        // The part of every margin that does not depend on the row.
        for ((base, intercept), x) in base.iter_mut().zip(&*intercepts).zip(&*outputs) {
            *base = intercept - offset.map_or(0.0, |offset| x.dot_dense(offset));
        }
        bump.begin();
        if offset.is_some() {
            bump.widen(self.dim);
        }
        let only = batch.len() * sum.block() == 1;
        for &z in batch {
            let here = sum.component(z as usize);
            let there = anchor.map(|anchor| (anchor, sum.component(z as usize)));
            for i in here.rows() {
                let entries = sum.row(i, row);
                for ((margin, base), x) in margins.iter_mut().zip(&*base).zip(&*outputs) {
                    *margin = base
                        + match entries {
                            Entries::Sparse(indices, values) => x.dot(indices, values),
                            Entries::Dense(values) => x.dot_dense(values),
                        };
                }
                here.slopes(i, margins);
                if let Some((anchor, there)) = &there {
                    anchor.margins(entries, anchored);
                    there.slopes(i, anchored);
                    margins.iter_mut().zip(&*anchored).for_each(|(slope, anchored)| *slope -= anchored);
                }
                bump.add(entries, margins, weight, only, self.dim);
            }
        }
        bump.center(offset);
        self.finish(sum, factor)
    }

    /// One step with the mini-batch of all components.
    pub(super) fn step_all(&mut self, sum: &mut FiniteSum, step_size: f64) -> Result<(), SolveError> {
        self.coefficients();
        sum.gradient(Batch::All, &self.read, &mut self.gradient)?;
        self.stale = true;
        self.bump.begin();
        self.bump.wide = true;
        for (bump, gradient) in self.bump.dense.iter_mut().zip(&self.gradient.coefficients) {
            bump.clear();
            bump.extend(gradient.iter().map(|gradient| step_size * gradient));
        }
        for (total, gradient) in self.bump.totals.iter_mut().zip(&self.gradient.intercepts) {
            *total = step_size * gradient;
        }
        self.finish(sum, 1.0 - step_size * sum.ridge())
    }

    /// Moves by the bump: all outputs, or, where one would not be finite, none.
    fn finish(&mut self, sum: &FiniteSum, factor: f64) -> Result<(), SolveError> {
        let Iterate { outputs, intercepts, bump, .. } = self;
        for (l, drifting) in outputs.iter_mut().enumerate() {
            match bump.wide {
                true => drifting.prepare_dense(factor, &bump.dense[l])?,
                false => drifting.prepare(factor, &bump.touched, &bump.sparse[l])?,
            }
            let total = self.pull[l] - bump.totals[l];
            if !total.is_finite() {
                return Err(SolveError::Intercept { output: l, value: total });
            }
        }
        for (l, drifting) in outputs.iter_mut().enumerate() {
            match bump.wide {
                true => drifting.commit_dense(),
                false => drifting.commit(&bump.touched, &bump.sparse[l]),
            }
            if sum.has_intercept() {
                intercepts[l] += self.pull[l] - bump.totals[l];
            }
        }
        sum.count_threshold();
        Ok(())
    }

    pub(super) fn coefficients(&mut self) -> &Predictor {
        if self.stale {
            for (x, drifting) in self.read.coefficients.iter_mut().zip(&self.outputs) {
                drifting.read(x);
            }
            self.read.intercepts.clone_from(&self.intercepts);
            self.stale = false;
        }
        &self.read
    }
}

impl Bump {
    fn begin(&mut self) {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        (self.wide, self.seen) = (false, 0);
        self.touched.clear();
        self.sparse.iter_mut().for_each(Vec::clear);
        self.totals.fill(0.0);
    }

    /// Adds `weight * slope * row`; `only` as in [`add_sparse`](Self::add_sparse).
    fn add(&mut self, entries: Entries<'_>, slopes: &[f64], weight: f64, only: bool, dim: usize) {
        for (total, slope) in self.totals.iter_mut().zip(slopes) {
            *total += weight * slope;
        }
        if let Entries::Sparse(indices, values) = entries {
            self.seen += indices.len();
            // With many entries all coordinates in order are cheaper than a list of them.
            if !self.wide && 2 * self.seen <= dim {
                return self.add_sparse(indices, values, slopes, weight, only);
            }
        }
        if !self.wide {
            self.widen(dim);
        }
        self.add_dense(entries, slopes, weight);
    }

    /// Subtracts what centring takes from every row.
    fn center(&mut self, offset: Option<&[f64]>) {
        let Some(offset) = offset else { return };
        for (bump, total) in self.dense.iter_mut().zip(&self.totals) {
            bump.iter_mut().zip(offset).for_each(|(bump, offset)| *bump -= total * offset);
        }
    }

    /// `only`: the row is the whole batch, so that no coordinate comes twice.
    fn add_sparse(&mut self, indices: &[u32], values: &[f64], slopes: &[f64], weight: f64, only: bool) {
        if only {
            self.touched.extend_from_slice(indices);
            for (bump, slope) in self.sparse.iter_mut().zip(slopes) {
                bump.extend(values.iter().map(|value| weight * slope * value));
            }
            return;
        }
        for (&j, value) in indices.iter().zip(values) {
            let at = j as usize;
            if self.stamps[at] != self.stamp {
                self.stamps[at] = self.stamp;
                self.places[at] = self.touched.len() as u32;
                self.touched.push(j);
                self.sparse.iter_mut().for_each(|bump| bump.push(0.0));
            }
            let place = self.places[at] as usize;
            for (bump, slope) in self.sparse.iter_mut().zip(slopes) {
                bump[place] += weight * slope * value;
            }
        }
    }

    /// Goes over to dense bumps, with what was gathered so far.
    fn widen(&mut self, dim: usize) {
        self.wide = true;
        for (dense, sparse) in self.dense.iter_mut().zip(&self.sparse) {
            dense.clear();
            dense.resize(dim, 0.0);
            self.touched.iter().zip(sparse).for_each(|(&j, bump)| dense[j as usize] = *bump);
        }
    }

    fn add_dense(&mut self, entries: Entries<'_>, slopes: &[f64], weight: f64) {
        for (bump, slope) in self.dense.iter_mut().zip(slopes) {
            match entries {
                Entries::Sparse(indices, values) => {
                    for (&j, value) in indices.iter().zip(values) {
                        bump[j as usize] += weight * slope * value;
                    }
                }
                Entries::Dense(values) => {
                    bump.iter_mut().zip(values).for_each(|(bump, value)| *bump += weight * slope * value);
                }
            }
        }
    }
}

/// The snapshot, dense, for slopes at it.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    weights: Vec<Vec<f64>>,
    at: Predictor,
    /// Intercept minus what centring subtracts.
    shift: Vec<f64>,
}

impl Anchor {
    pub(super) fn new(shape: Shape) -> Anchor {
        let Shape { dim, outputs, .. } = shape;
        Anchor {
            weights: vec![vec![0.0; dim]; outputs],
            at: Predictor::zeros(dim, outputs),
            shift: vec![0.0; outputs],
        }
    }

    /// Becomes `at`, in O(k).
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
