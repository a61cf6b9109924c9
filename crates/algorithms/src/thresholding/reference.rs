//! References of the solvers, in dense lines that read like their papers.
//!
//! A solver keeps lazily thresholded iterates and sums of sparse corrections. Its *reference* keeps dense
//! vectors, and computes every gradient from its definition, row by row, at a cost of O(d) per row. Both are
//! built from the same parameters. A reference has no randomness of its own: it is told which components the
//! solver drew, so that both can run side by side on one sum and be compared after each step. A reference
//! opens components as a solver does, so that the sum's meter counts its calls.
//!
//! | reference | solvers |
//! |---|---|
//! | [`GdReference`] | [GD-HT and HTP](super::gd) |
//! | [`HsgReference`] | [HSG-HT](super::hsg), [SG-HT](super::sg) with uniform draws |
//! | [`ScsgReference`] | [SCSG-HT](super::scsg), [SVRG-HT](super::svrg) |
//!
//! ```
//! use lao_algorithms::thresholding::reference::GdReference;
//! use lao_algorithms::thresholding::{GdParams, Shape, SolverTask};
//! use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
//!
//! // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
//! let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
//! let sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
//!
//! let task = SolverTask { sparsity: 1, step_size: Some(1.5), start: None };
//! let mut reference = GdReference::new(&GdParams::plain(&task), &sum)?;
//! reference.round(&sum)?;
//! assert_eq!(reference.iterate().coefficients, [[3.0, 0.0, 0.0]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, SolveError, SolverProgress, SvrgParams,
};
use crate::params::{ParamError, require};
use crate::reference::hard_threshold;
use lao_finite_sum::{Entries, FiniteSum, FiniteSumError, Predictor, RowBuf};

/// A dense predictor, or a gradient: a vector of coefficients and an intercept for each output.
#[derive(Clone, Debug, PartialEq)]
pub struct DensePredictor {
    /// One vector per output.
    pub coefficients: Vec<Vec<f64>>,
    /// One number per output; 0 if the sum has no intercept.
    pub intercepts: Vec<f64>,
}

impl From<&Predictor> for DensePredictor {
    fn from(at: &Predictor) -> Self {
        let coefficients = at.coefficients.iter().map(|x| x.view().to_dense()).collect();
        DensePredictor { coefficients, intercepts: at.intercepts.clone() }
    }
}

impl DensePredictor {
    /// Returns the start of a solver, which is zero if none is given.
    fn start(start: Option<&Predictor>, shape: Shape) -> Self {
        let zero = Predictor::zeros(shape.dim, shape.outputs);
        let mut at = DensePredictor::from(start.unwrap_or(&zero));
        at.intercepts.resize(shape.outputs, 0.0);
        at
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.coefficients.iter().flatten().chain(&self.intercepts).copied()
    }

    /// Returns `|x|^2`, intercepts included.
    fn squares(&self) -> f64 {
        self.numbers().map(|v| v * v).sum()
    }

    /// Returns `self + weight other`.
    fn plus(&self, weight: f64, other: &Self) -> Self {
        let mut sum = self.clone();
        let numbers = sum.coefficients.iter_mut().flatten().chain(&mut sum.intercepts);
        numbers.zip(other.numbers()).for_each(|(a, b)| *a += weight * b);
        sum
    }

    /// Returns `H_k(x - eta g)`, thresholded output by output.
    fn step(&self, gradient: &Self, eta: f64, k: usize) -> Self {
        let mut next = self.plus(-eta, gradient);
        next.coefficients.iter_mut().for_each(|x| *x = hard_threshold(x, k));
        next
    }

    fn has_support_of(&self, other: &Self) -> bool {
        let both = self.coefficients.iter().flatten().zip(other.coefficients.iter().flatten());
        both.into_iter().all(|(a, b)| (*a == 0.0) == (*b == 0.0))
    }

    fn is_zero(&self) -> bool {
        self.coefficients.iter().flatten().all(|x| *x == 0.0)
    }
}

/// Returns row `i`, with its zeros, in the columns that the predictor multiplies.
fn dense_row(sum: &FiniteSum, i: usize) -> Vec<f64> {
    let (mut row, mut buffer) = (vec![0.0; sum.dim()], RowBuf::default());
    match sum.row(i, &mut buffer) {
        Entries::Dense(values) => row.copy_from_slice(values),
        Entries::Sparse(indices, values) => {
            indices.iter().zip(values).for_each(|(&j, value)| row[j as usize] = *value);
        }
    }
    if let Some(offset) = sum.offset() {
        row.iter_mut().zip(offset).for_each(|(value, offset)| *value -= offset);
    }
    row
}

/// Returns the margins of a row, one per output.
fn margins(at: &DensePredictor, row: &[f64]) -> Vec<f64> {
    let margin = |(x, a): (&Vec<f64>, &f64)| x.iter().zip(row).map(|(x, z)| x * z).sum::<f64>() + a;
    at.coefficients.iter().zip(&at.intercepts).map(margin).collect()
}

/// Returns the mean gradient of these components, l2 term included: the mean of slope times row, and of the
/// slopes for the intercepts.
///
/// # Errors
/// [`SolveError`] when the predictor has another shape than the sum, or a component does not exist.
pub fn gradient(
    sum: &FiniteSum,
    components: &[u32],
    at: &DensePredictor,
) -> Result<DensePredictor, SolveError> {
    let (dim, outputs) = (sum.dim(), sum.outputs());
    let misfit = at.coefficients.iter().map(Vec::len).find(|length| *length != dim);
    if misfit.is_some() || at.coefficients.len() != outputs || at.intercepts.len() != outputs {
        let (found_outputs, found_dim) = (at.coefficients.len(), misfit.unwrap_or(dim));
        return Err(FiniteSumError::Predictor {
            outputs: found_outputs,
            dim: found_dim,
            expected_outputs: outputs,
            expected_dim: dim,
        }
        .into());
    }
    if let Some(&component) = components.iter().find(|&&z| z as usize >= sum.len()) {
        return Err(FiniteSumError::Component { component, components: sum.len() }.into());
    }

    let mut mean =
        DensePredictor { coefficients: vec![vec![0.0; dim]; outputs], intercepts: vec![0.0; outputs] };
    let weight = 1.0 / (components.len() * sum.block()) as f64;
    for &z in components {
        let component = sum.component(z as usize);
        for i in component.rows() {
            let row = dense_row(sum, i);
            let mut slopes = margins(at, &row);
            component.slopes(i, &mut slopes);
            for (l, slope) in slopes.iter().enumerate() {
                mean.coefficients[l].iter_mut().zip(&row).for_each(|(g, z)| *g += weight * slope * z);
                mean.intercepts[l] += if sum.has_intercept() { weight * slope } else { 0.0 };
            }
        }
    }
    for (g, x) in mean.coefficients.iter_mut().zip(&at.coefficients) {
        g.iter_mut().zip(x).for_each(|(g, x)| *g += sum.ridge() * x);
    }
    Ok(mean)
}

fn all(sum: &FiniteSum) -> Vec<u32> {
    (0..sum.len() as u32).collect()
}

/// The reference of [`Scsg`](super::Scsg), and of SVRG-HT.
#[derive(Clone, Debug)]
pub struct ScsgReference {
    sparsity: usize,
    step_size: f64,
    x: DensePredictor,
    /// `X`.
    snapshot: DensePredictor,
    /// `mu`.
    mu: DensePredictor,
}

impl ScsgReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`ScsgParams::build`].
    pub fn new(params: &ScsgParams, shape: Shape) -> Result<Self, ParamError> {
        params.clone().build(shape)?;
        let ScsgParams { sparsity, step_size, start, .. } = params;
        Ok(Self::at(*sparsity, *step_size, &DensePredictor::start(start.as_ref(), shape)))
    }

    /// Returns the reference of SVRG-HT at its start. Its snapshot gradients are over all components.
    ///
    /// # Errors
    /// As [`SvrgParams::build`].
    pub fn of_svrg(params: &SvrgParams, shape: Shape) -> Result<Self, ParamError> {
        params.clone().build(shape)?;
        let SvrgParams { sparsity, step_size, start, .. } = params;
        Ok(Self::at(*sparsity, *step_size, &DensePredictor::start(start.as_ref(), shape)))
    }

    fn at(sparsity: usize, step_size: f64, start: &DensePredictor) -> Self {
        let mut x = start.clone();
        x.coefficients.iter_mut().for_each(|x| *x = hard_threshold(x, sparsity));
        ScsgReference { sparsity, step_size, snapshot: x.clone(), mu: x.clone(), x }
    }

    /// Begins an epoch with the batch `I`: `X <- x` and `mu <- grad f_I(X)`.
    ///
    /// # Errors
    /// As [`gradient`].
    pub fn begin(&mut self, sum: &FiniteSum, batch: &[u32]) -> Result<(), SolveError> {
        self.mu = gradient(sum, batch, &self.x)?;
        self.snapshot = self.x.clone();
        Ok(())
    }

    /// Makes the step `x <- H_k(x - eta (grad f_I(x) - grad f_I(X) + mu))` with the mini-batch `I`.
    ///
    /// # Errors
    /// As [`gradient`].
    pub fn step(&mut self, sum: &FiniteSum, mini_batch: &[u32]) -> Result<(), SolveError> {
        let at_iterate = gradient(sum, mini_batch, &self.x)?;
        let at_snapshot = gradient(sum, mini_batch, &self.snapshot)?;
        let direction = at_iterate.plus(-1.0, &at_snapshot).plus(1.0, &self.mu);
        self.x = self.x.step(&direction, self.step_size, self.sparsity);
        Ok(())
    }

    /// Returns `x`.
    pub fn iterate(&self) -> &DensePredictor {
        &self.x
    }
}

/// The reference of [`Hsg`](super::Hsg), and of SG-HT with uniform draws.
#[derive(Clone, Debug)]
pub struct HsgReference {
    params: HsgParams,
    components: usize,
    /// `t`, the number of steps made.
    steps: i32,
    x: DensePredictor,
}

impl HsgReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`HsgParams::build`].
    pub fn new(params: &HsgParams, shape: Shape) -> Result<Self, ParamError> {
        params.clone().build(shape)?;
        Ok(Self::at(params.clone(), shape))
    }

    /// Returns the reference of SG-HT at its start: its batches do not grow.
    ///
    /// # Errors
    /// As [`SgParams::build`].
    pub fn of_sg(params: &SgParams, shape: Shape) -> Result<Self, ParamError> {
        params.clone().build(shape)?;
        let SgParams { sparsity, step_size, batch, start } = params.clone();
        Ok(Self::at(HsgParams { sparsity, step_size, first: batch as f64, growth: 1.0, start }, shape))
    }

    fn at(params: HsgParams, shape: Shape) -> Self {
        let mut x = DensePredictor::start(params.start.as_ref(), shape);
        x.coefficients.iter_mut().for_each(|x| *x = hard_threshold(x, params.sparsity));
        HsgReference { params, components: shape.components, steps: 0, x }
    }

    /// Returns the size of the next batch, `min(n, ceil(tau growth^t))`.
    pub fn batch_size(&self) -> usize {
        let HsgParams { first, growth, .. } = self.params;
        (first * growth.powi(self.steps)).ceil().min(self.components as f64) as usize
    }

    /// Makes the step `x <- H_k(x - eta grad f_I(x))` with the batch `I`.
    ///
    /// # Errors
    /// As [`gradient`].
    pub fn step(&mut self, sum: &FiniteSum, batch: &[u32]) -> Result<(), SolveError> {
        let HsgParams { sparsity, step_size, .. } = self.params;
        self.x = self.x.step(&gradient(sum, batch, &self.x)?, step_size, sparsity);
        self.steps += 1;
        Ok(())
    }

    /// Returns `x`.
    pub fn iterate(&self) -> &DensePredictor {
        &self.x
    }
}

/// The reference of [`Gd`](super::Gd), with a refit for least squares only.
#[derive(Clone, Debug)]
pub struct GdReference {
    params: GdParams,
    x: DensePredictor,
    /// Whether `x` minimizes f over its support.
    at_minimum: bool,
    /// The largest squared length of the direction of a normalized step.
    largest: f64,
    /// The number of halvings of normalized steps.
    halvings: u64,
}

impl GdReference {
    /// Returns the reference at its start, for steps on this sum.
    ///
    /// # Errors
    /// As [`GdParams::build`], and for a refit of another loss than least squares: its minimum over a support
    /// has no closed form.
    pub fn new(params: &GdParams, sum: &FiniteSum) -> Result<Self, ParamError> {
        let shape = Shape::of(sum);
        params.clone().build(shape)?;
        let ok = !params.refit || sum.loss().squares().is_some();
        require(ok, super::gd::NAME, "refit", true, "false for another loss than least squares")?;
        let mut x = DensePredictor::start(params.start.as_ref(), shape);
        x.coefficients.iter_mut().for_each(|x| *x = hard_threshold(x, params.sparsity));
        Ok(GdReference { params: params.clone(), x, at_minimum: false, largest: 0.0, halvings: 0 })
    }

    /// Makes a round: a step along the gradient of all components, then a refit if there is one.
    ///
    /// # Errors
    /// As [`gradient`].
    pub fn round(&mut self, sum: &FiniteSum) -> Result<SolverProgress, SolveError> {
        let k = self.params.sparsity;
        let g = gradient(sum, &all(sum), &self.x)?;
        let eta = match self.params.step {
            GdStep::Fixed(eta) => eta,
            GdStep::Normalized => {
                let p = self.direction(&g);
                self.largest = self.largest.max(p.squares());
                if p.squares() <= super::gd::ROUNDING.powi(2) * self.largest {
                    return Ok(SolverProgress::Settled);
                }
                p.squares() / curvature(sum, &p)
            }
        };
        // A direction of length zero, or along which f is linear.
        if !eta.is_finite() {
            return Ok(SolverProgress::Settled);
        }
        let mut next = self.x.step(&g, eta, k);
        if self.at_minimum && next.has_support_of(&self.x) {
            return Ok(SolverProgress::Settled);
        }
        if self.params.refit {
            refit(sum, &mut next);
        } else if self.params.step == GdStep::Normalized && !self.x.is_zero() {
            next = self.halved(sum, &g, eta, next);
        }
        (self.x, self.at_minimum) = (next, self.params.refit);
        Ok(SolverProgress::Moved)
    }

    /// Returns p, the part of the gradient that a normalized step follows: that on the support or, if x is
    /// zero or minimizes f over its support, the k largest entries.
    fn direction(&mut self, gradient: &DensePredictor) -> DensePredictor {
        let mut p = gradient.clone();
        for (p, x) in p.coefficients.iter_mut().zip(&self.x.coefficients) {
            if self.at_minimum || x.iter().all(|x| *x == 0.0) {
                *p = hard_threshold(p, self.params.sparsity);
            } else {
                p.iter_mut().zip(x).for_each(|(p, x)| *p = if *x == 0.0 { 0.0 } else { *p });
            }
        }
        if p.squares() == 0.0 && !self.at_minimum {
            self.at_minimum = true;
            return self.direction(gradient);
        }
        p
    }

    /// Halves eta until it is at most `|dx|^2 / dx'H dx`, as long as the support changes; returns the last
    /// step.
    fn halved(
        &mut self,
        sum: &FiniteSum,
        gradient: &DensePredictor,
        mut eta: f64,
        mut next: DensePredictor,
    ) -> DensePredictor {
        for _ in 0..super::gd::HALVINGS {
            let change = next.plus(-1.0, &self.x);
            if next.has_support_of(&self.x) || eta * curvature(sum, &change) <= change.squares() {
                break;
            }
            eta *= 0.5;
            self.halvings += 1;
            next = self.x.step(gradient, eta, self.params.sparsity);
        }
        next
    }

    /// Returns `x`.
    pub fn iterate(&self) -> &DensePredictor {
        &self.x
    }

    /// Returns the number of halvings of normalized steps so far.
    pub fn halvings(&self) -> u64 {
        self.halvings
    }
}

/// Returns `p'Hp`, with the curvature bound of the loss in the place of its second derivatives.
fn curvature(sum: &FiniteSum, p: &DensePredictor) -> f64 {
    let weight = |i: usize| sum.loss().weights().map_or(1.0, |weights| weights[i]);
    let squares = |i: usize| weight(i) * margins(p, &dense_row(sum, i)).iter().map(|m| m * m).sum::<f64>();
    let mean = (0..sum.rows()).map(squares).sum::<f64>() / sum.rows() as f64;
    let norm: f64 = p.coefficients.iter().flatten().map(|p| p * p).sum();
    sum.loss().curvature() * mean + sum.ridge() * norm
}

/// Sets the coefficients on the support, and the intercept, to the minimum of least squares: Gauss-Jordan
/// elimination on the normal equations.
fn refit(sum: &FiniteSum, at: &mut DensePredictor) {
    let (Some(labels), [x]) = (sum.loss().squares(), &mut at.coefficients[..]) else { return };
    let support: Vec<usize> = (0..x.len()).filter(|&j| x[j] != 0.0).collect();
    let unknowns = support.len() + usize::from(sum.has_intercept());
    let mut equations = vec![vec![0.0; unknowns + 1]; unknowns];
    for (i, label) in labels.iter().enumerate() {
        let row = dense_row(sum, i);
        let mut known: Vec<f64> = support.iter().map(|&j| row[j]).collect();
        known.resize(unknowns, 1.0);
        let weight = sum.loss().weights().map_or(1.0, |weights| weights[i]);
        for (equation, own) in equations.iter_mut().zip(&known) {
            equation.iter_mut().zip(known.iter().chain([label])).for_each(|(e, z)| *e += weight * own * z);
        }
    }
    (0..support.len()).for_each(|u| equations[u][u] += 0.5 * labels.len() as f64 * sum.ridge());
    for u in 0..unknowns {
        let size = |row: usize| equations[row][u].abs();
        let pivot = (u..unknowns).max_by(|&a, &b| size(a).total_cmp(&size(b))).unwrap_or(u);
        equations.swap(u, pivot);
        let own = equations[u].clone();
        for (_, equation) in equations.iter_mut().enumerate().filter(|(row, _)| *row != u) {
            let factor = equation[u] / own[u];
            equation.iter_mut().zip(&own).for_each(|(e, o)| *e -= factor * o);
        }
    }
    let solution: Vec<f64> = (0..unknowns).map(|u| equations[u][unknowns] / equations[u][u]).collect();
    support.iter().zip(&solution).for_each(|(&j, value)| x[j] = *value);
    at.intercepts[0] = solution.get(support.len()).copied().unwrap_or(0.0);
}
