//! Step sizes and mini-batches that the stochastic solvers choose for themselves, at each snapshot.
//!
//! *Source*: of this project. Algorithm 1 of Liang et al. 2020 takes any sequences of step sizes and batch
//! sizes; their theorem has them fixed, which these are only within an epoch.
//!
//! *Why the step of a component fails*: an attribute outside the support S enters only if
//! `eta |g_j| > min |x_S|`. A dense row has `|z|^2` of the order of d, so that steps of
//! `1/L = 1/max |z|^2` are shorter by d/k than the L of the theorem allows, which is that of 2k + k*
//! attributes: the first support is frozen. The claim `scsg20-auto-step` counts it.
//!
//! *Notation*: `I` -> the batch of the snapshot, X -> the snapshot, `mu` -> its gradient over I, l2 term
//! included, `H_I` -> the loss's curvature bound over I, `eta` -> the step size, `b` -> the mini-batch.
//!
//! *Rule*:
//!
//! ```text
//! p = mu on supp(X), or the k largest of mu if X is zero or minimizes f_I on its support
//! eta = |p|^2 / p'H_I p, but at most 1/l
//! x1 = H_k(X - eta mu);  U = supp(X) + supp(x1);  l = the largest eigenvalue of H_I on U
//! b = max(2 log(d) v / (c t)^2, 4 eta r, B/20), rounded up, at most B;  t = the least of |x1| that is wanted
//! v = eta^2 E_I (h z'(x1 - X))^2 E_I |z_U|^2 / |U|;  r = h E_I |z_U|^2;  c = .3
//! ```
//!
//! The first term of b keeps the noise that a step has at the attributes outside the support below the least
//! coefficient that is wanted: the k-th largest, although 8k are kept if the solver is
//! [pruned](super::pruned) afterwards. v is its variance at one attribute for b = 1, `sqrt(2 log d)` the
//! largest of d normal numbers, and h the curvature of the loss. The second keeps steps that are as long as
//! the mean allows from diverging along single rows.
//!
//! *Cost*: one more look at the batch, at O(k) attributes of it: B IFO calls, O(B k) time. The first step of
//! an epoch is free: it starts at the snapshot, where both gradients of the mini-batch cancel.
//!
//! *Solvers*: of [`scsg`](super::scsg) with the sizes B growing by a factor, or all n
//! ([`svrg`](super::svrg)), and of [`hsg`](super::hsg) and [`sg`](super::sg), whose steps have the eta of
//! their own batch. The latter have no snapshot; steps normalized in this way are a variant of these methods.

use super::hsg::Hsg;
use super::scsg::{EpochLength, Scsg, ScsgParams, UniformDraws};
use super::{Shape, SolveError, SolverTask};
use crate::params::{ParamError, require};
use lao_finite_sum::{Batch, Columns, FiniteSum, Gradient, Meter, Predictor};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold, dot_column, merge_into};
use serde::{Deserialize, Serialize};

/// Power iterations, and the number of rows that they look at.
const ITERATIONS: usize = 8;
const ROWS: usize = 1000;

/// Parameters of the solvers that choose step sizes and mini-batches for themselves.
///
/// ```
/// use lao_algorithms::thresholding::{AutoParams, EpochLength, Shape, SolverLimit, SolverTask, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, ..SolverTask::default() };
/// let params = AutoParams::of_part(Shape::of(&sum), &task, [1.0, 1.0]);
/// let mut solver = params.scsg(Shape::of(&sum), EpochLength::Ratio)?;
/// let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(20))?;
/// assert!((run.predictor.coefficients[0].view().get(0) - 3.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// The number of largest coefficients that noise must not displace, at least 1: all k, or those that are
    /// wanted if the solver is [pruned](super::pruned).
    pub wanted: usize,
    /// The first B, a finite number of at least 1; batches have at most n components.
    pub first: f64,
    /// The factor from one B to the next, a finite number of at least 1.
    pub growth: f64,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
    /// The numbers of the rule.
    #[serde(default)]
    pub rule: RuleParams,
}

impl AutoParams {
    /// Returns the parameters for a task whose batches begin with a part of the components, and grow by a
    /// factor.
    pub fn of_part(shape: Shape, task: &SolverTask, [part, growth]: [f64; 2]) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        let first = (part * shape.components as f64).max(1.0);
        AutoParams { sparsity, wanted: sparsity, first, growth, start, rule: RuleParams::default() }
    }

    /// Builds SCSG-HT for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn scsg(self, shape: Shape, length: EpochLength) -> Result<Scsg, ParamError> {
        let AutoParams { sparsity, wanted, first, growth, start, rule } = self;
        let sizes = Sizes::new("SCSG-HT", first, growth)?;
        let params = ScsgParams { sparsity, step_size: 1.0, batch: 1, mini_batch: 1, length, start };
        let solver = params.build_with(shape, UniformDraws::new(shape.components))?;
        require(wanted >= 1, "SCSG-HT", "wanted", wanted, "at least 1")?;
        Ok(solver.automatic(Rule::new(shape, (sparsity, wanted), rule), sizes))
    }

    /// Builds HSG-HT for sums of this shape.
    ///
    /// # Errors
    /// As [`scsg`](Self::scsg).
    pub fn hsg(self, shape: Shape) -> Result<Hsg, ParamError> {
        let AutoParams { sparsity, wanted, first, growth, start, rule } = self;
        let params = super::HsgParams { sparsity, step_size: 1.0, first, growth, start };
        Ok(params.build(shape)?.automatic(Rule::new(shape, (sparsity, wanted), rule)))
    }
}

/// The numbers of the rule. They are the same for all problems; experiments may change them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleParams {
    /// The part of the step that would be longest along the gradient.
    pub part: f64,
    /// `c`, the part of the least coefficient that the noise of a step may have outside the support.
    pub noise: f64,
    /// The factor of `eta r`, which bounds b from below.
    pub stability: f64,
    /// The largest B/b, which is the number of steps of an epoch.
    pub steps: f64,
}

impl Default for RuleParams {
    fn default() -> Self {
        RuleParams { part: 1.0, noise: 0.3, stability: 4.0, steps: 20.0 }
    }
}

/// Batch sizes that grow by a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    next: f64,
    growth: f64,
}

impl Sizes {
    pub fn new(method: &'static str, first: f64, growth: f64) -> Result<Sizes, ParamError> {
        require(first.is_finite() && first >= 1.0, method, "first", first, "a finite size of at least 1")?;
        let is_factor = growth.is_finite() && growth >= 1.0;
        require(is_factor, method, "growth", growth, "a finite factor of at least 1")?;
        Ok(Sizes { next: first, growth })
    }

    /// Returns the next size, if there are so many components.
    pub fn peek(&self, components: usize) -> usize {
        self.next.ceil().min(components as f64) as usize
    }

    pub fn advance(&mut self, components: usize) {
        self.next = (self.next * self.growth).min(components as f64);
    }
}

/// What the rule chooses: see [`Solver::choice`](super::Solver::choice).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// `B`, the components of the batch for which the choice was made.
    pub batch: usize,
    /// `eta`.
    pub step_size: f64,
    /// `b`, from 1 to B.
    pub mini_batch: usize,
}

/// The rule, with its scratch.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    sparsity: usize,
    wanted: usize,
    params: RuleParams,
    /// mu.
    gradient: Vec<Vec<f64>>,
    along: Vec<SparseVector>,
    next: Vec<SparseVector>,
    threshold: HardThreshold,
}

/// The rows of a batch at some attributes, with the weight of each row.
struct Rows {
    columns: Columns,
    weights: Option<Vec<f64>>,
    rows: usize,
}

impl Rows {
    fn new(sum: &FiniteSum, rows: Option<&[u32]>, attributes: &[u32]) -> Result<Rows, SolveError> {
        let mut columns = rows.map_or_else(Columns::default, |rows| Columns::of_rows(rows.to_vec()));
        columns.extend(sum, attributes)?;
        let weights = sum.loss().weights().map(|weights| match rows {
            None => weights.to_vec(),
            Some(rows) => rows.iter().map(|&i| weights[i as usize]).collect(),
        });
        Ok(Rows { columns, weights, rows: rows.map_or(sum.rows(), <[u32]>::len) })
    }

    fn place(&self, j: u32) -> Option<usize> {
        self.columns.attributes().binary_search(&j).ok()
    }

    /// Returns the margins of a vector on these attributes.
    fn margins(&self, x: &SparseVector, intercept: f64) -> Vec<f64> {
        let mut margins = vec![intercept; self.rows];
        let members = x.view().iter().filter_map(|(j, value)| Some((self.place(j)?, value)));
        self.columns.add(members, &mut margins);
        margins
    }

    /// Multiplies by the weights of the rows.
    fn weigh(&self, numbers: &mut [f64]) {
        if let Some(weights) = &self.weights {
            numbers.iter_mut().zip(weights).for_each(|(number, weight)| *number *= weight);
        }
    }

    /// Returns the mean of weight times square.
    fn mean_square(&self, numbers: &[f64]) -> f64 {
        let mut weighted = numbers.to_vec();
        self.weigh(&mut weighted);
        dot_column(numbers, &weighted) / self.rows as f64
    }

    /// Returns about the largest eigenvalue of the mean of `z z'` on the support of `x`, with an intercept if
    /// the sum has one, by power iterations from `x`.
    fn largest_eigenvalue(&self, mut x: SparseVector, mut intercept: f64, has_intercept: bool) -> f64 {
        let mut largest = 0.0;
        for _ in 0..ITERATIONS {
            let norm = (x.view().norm_squared() + intercept * intercept).sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                break;
            }
            x.values_mut().iter_mut().for_each(|value| *value /= norm);
            intercept /= norm;
            let mut margins = self.margins(&x, intercept);
            self.weigh(&mut margins);
            let mean = 1.0 / self.rows as f64;
            let products = x.indices().iter().map(|&j| {
                self.place(j).map_or(0.0, |place| mean * dot_column(self.columns.column(place), &margins))
            });
            let products: Vec<f64> = products.collect();
            x.values_mut().copy_from_slice(&products);
            if has_intercept {
                intercept = mean * margins.iter().sum::<f64>();
            }
            largest = (x.view().norm_squared() + intercept * intercept).sqrt();
        }
        largest
    }
}

impl Rule {
    pub fn new(shape: Shape, (sparsity, wanted): (usize, usize), params: RuleParams) -> Rule {
        let zeros = vec![SparseVector::zeros(shape.dim); shape.outputs];
        Rule {
            sparsity,
            wanted,
            params,
            gradient: vec![Vec::new(); shape.outputs],
            along: zeros.clone(),
            next: zeros,
            threshold: HardThreshold::default(),
        }
    }

    /// Returns the number of IFO calls of a choice over a batch.
    pub fn calls(batch: usize) -> u64 {
        batch as u64
    }

    /// Chooses for the epoch whose snapshot is `at`, with the gradient over `batch`, l2 term not included.
    pub fn choose(
        &mut self,
        sum: &FiniteSum,
        batch: Batch<'_>,
        at: &Predictor,
        gradient: &Gradient,
    ) -> Result<Choice, SolveError> {
        let size = batch.len(sum.len());
        sum.add_cost(Meter { calls: Rule::calls(size), thresholds: 0 });
        let rows = match batch {
            Batch::All => None,
            Batch::Components(list) => {
                let block = sum.block() as u32;
                Some(list.iter().flat_map(|z| z * block..(z + 1) * block).collect::<Vec<u32>>())
            }
        };
        for ((own, x), gradient) in self.gradient.iter_mut().zip(&at.coefficients).zip(&gradient.coefficients)
        {
            own.clone_from(gradient);
            x.view().iter().for_each(|(j, value)| own[j as usize] += sum.ridge() * value);
        }
        let norm = self.aim(at, &gradient.intercepts)?;
        if norm == 0.0 {
            return Ok(Choice { batch: size, step_size: 0.0, mini_batch: 1 });
        }
        let (curvature, ridge) = (sum.loss().curvature(), sum.ridge());
        let all = union(&self.along, &[]);
        let of_batch = Rows::new(sum, rows.as_deref(), &all)?;
        let bent: f64 = self
            .along
            .iter()
            .zip(&gradient.intercepts)
            .map(|(p, intercept)| of_batch.mean_square(&of_batch.margins(p, *intercept)))
            .sum();
        let mut step_size = self.params.part * norm / (curvature * bent + ridge * norm);
        if !step_size.is_finite() {
            return Err(NotFinite { index: 0, value: step_size }.into());
        }
        self.step(at, step_size)?;
        let longest =
            1.0 / (curvature * self.largest(sum, rows.as_deref(), at, &gradient.intercepts)? + ridge);
        if step_size > longest {
            step_size = longest;
            self.step(at, step_size)?;
        }
        let all = union(&at.coefficients, &self.next);
        let of_batch = Rows::new(sum, rows.as_deref(), &all)?;
        let mini_batch = self.mini_batch(sum, &of_batch, at, step_size).max(size as f64 / self.params.steps);
        // An infinite number stands for the largest.
        let mini_batch = (mini_batch.ceil() as usize).clamp(1, size.max(1));
        Ok(Choice { batch: size, step_size, mini_batch })
    }

    /// Sets `along` to p; returns its squared length.
    fn aim(&mut self, at: &Predictor, intercepts: &[f64]) -> Result<f64, SolveError> {
        let Rule { along, gradient, threshold, sparsity, .. } = self;
        for ((p, x), gradient) in along.iter_mut().zip(&at.coefficients).zip(&*gradient) {
            p.fill_from(x.indices(), |j| gradient[j as usize]);
            if p.values().iter().all(|value| *value == 0.0) {
                threshold.keep(gradient, *sparsity, p)?;
            }
        }
        let own: f64 = along.iter().map(|p| p.view().norm_squared()).sum();
        let norm = own + intercepts.iter().map(|a| a * a).sum::<f64>();
        if norm.is_finite() { Ok(norm) } else { Err(NotFinite { index: 0, value: norm }.into()) }
    }

    /// Sets `next` to x1.
    fn step(&mut self, at: &Predictor, step_size: f64) -> Result<(), SolveError> {
        let mut dense = Vec::new();
        for ((next, x), gradient) in self.next.iter_mut().zip(&at.coefficients).zip(&self.gradient) {
            dense.clear();
            dense.extend(gradient.iter().map(|gradient| -step_size * gradient));
            x.view().iter().for_each(|(j, value)| dense[j as usize] += value);
            self.threshold.keep(&dense, self.sparsity, next)?;
        }
        Ok(())
    }

    /// Returns l, by power iterations over some of the rows.
    fn largest(
        &self,
        sum: &FiniteSum,
        rows: Option<&[u32]>,
        at: &Predictor,
        intercepts: &[f64],
    ) -> Result<f64, SolveError> {
        let count = rows.map_or(sum.rows(), <[u32]>::len);
        let some = count.min(ROWS);
        let thinned = (0..some).map(|at| at * count / some);
        let thinned: Vec<u32> = thinned.map(|i| rows.map_or(i as u32, |rows| rows[i])).collect();
        let mut largest = 0.0_f64;
        for ((next, x), intercept) in self.next.iter().zip(&at.coefficients).zip(intercepts) {
            let moved = difference(next, x);
            let rows = Rows::new(sum, Some(&thinned), moved.indices())?;
            largest = largest.max(rows.largest_eigenvalue(moved, *intercept, sum.has_intercept()));
        }
        Ok(largest)
    }

    /// Returns b, without its bounds.
    fn mini_batch(&self, sum: &FiniteSum, rows: &Rows, at: &Predictor, step_size: f64) -> f64 {
        let (curvature, mut most) = (sum.loss().curvature(), 0.0_f64);
        let log = (sum.dim() as f64).ln().max(1.0);
        let squares: Vec<f64> = (0..rows.columns.attributes().len())
            .map(|at| rows.mean_square(rows.columns.column(at)))
            .collect();
        for (next, x) in self.next.iter().zip(&at.coefficients) {
            let moved = difference(next, x);
            let places = moved.indices().iter().filter_map(|&j| rows.place(j));
            let own: f64 = places.map(|place| squares[place]).sum();
            let mut sizes: Vec<f64> = next.values().iter().map(|value| value.abs()).collect();
            sizes.sort_unstable_by(|a, b| b.total_cmp(a));
            let least =
                sizes.get(self.wanted.saturating_sub(1)).or(sizes.last()).copied().unwrap_or(f64::INFINITY);
            let slopes = curvature * curvature * rows.mean_square(&rows.margins(&moved, 0.0));
            let variance = step_size * step_size * slopes * own / moved.len().max(1) as f64;
            most = most.max(2.0 * log * variance / (self.params.noise * least).powi(2));
            most = most.max(self.params.stability * step_size * (curvature * own + sum.ridge()));
        }
        most / sum.block() as f64
    }
}

/// Returns `next - x`, on the attributes of both.
fn difference(next: &SparseVector, x: &SparseVector) -> SparseVector {
    let (mut support, mut moved) = (Vec::new(), SparseVector::zeros(x.dim()));
    merge_into(next.indices(), x.indices(), &mut support);
    moved.fill_from(&support, |j| next.view().get(j) - x.view().get(j));
    moved
}

/// Returns the attributes of these vectors, ascending.
fn union(some: &[SparseVector], others: &[SparseVector]) -> Vec<u32> {
    let mut all = Vec::new();
    for x in some.iter().chain(others) {
        let so_far = std::mem::take(&mut all);
        merge_into(&so_far, x.indices(), &mut all);
    }
    all
}
