//! Exchange: swaps between the support and the other attributes, each of which is known to lower the loss.
//!
//! *Source*: of this project, after the splicing of Zhu, Wen, Zhu, Zhang & Wang 2020 (abess), which swaps by
//! approximate sacrifices; add and drop are those of orthogonal least squares (Chen, Cowan & Grant 1991), and
//! the way out of a minimum is the oscillating search of Somol & Pudil 2000.
//!
//! *Setting*: a finite sum at full information; k is known.
//!
//! *Notation*: `k` -> `sparsity`, `S` -> the support, `C` -> candidates; the formulas of the gains are in
//! `exchange/swaps.rs`.
//!
//! *Update*, for least squares:
//!
//! ```text
//! C <- the 8k attributes of largest product with the label, 100 at least
//! S <- k additions, each of the candidate that explains most beside S
//! repeat
//!     exchange the pair of S and C that gains most, until none gains
//!     refit on S
//!     C <- C and 5k more: those of largest product with the residual, and with the residuals that are left
//!          if a third of S is taken out
//! until nothing gains, nor does a search that adds and drops 1, 2, 4, ... at a time
//! ```
//!
//! Taking out a third of S matters: where attributes are correlated, one that should be in S has no product
//! with the residual as long as its neighbors in S stand for it.
//!
//! For other losses, and for each class of softmax in turn, the same is done for the quadratic model at the
//! iterate (its working response); a support is kept if the loss falls there, and then minimized over by
//! damped Newton steps, until no class changes. If the loss does not fall, the single best exchange is tried
//! before the solver settles.
//!
//! Attributes may belong to groups, such as the words of a column, which are added, dropped and exchanged as
//! a whole ([`ExchangeParams::groups`]).
//!
//! *Proved*: each exchange lowers the quadratic model by the gain that is computed, and so does the loss of
//! least squares; so the solver ends. A settled support is one that no single exchange with a candidate
//! improves. Attributes that never became candidates are covered only if the solver is asked to
//! [certify](ExchangeParams::certify) its answer; exchanges of two pairs at a time are not: two neighbors of
//! opposite sign that are both missing may be missed.
//!
//! *Cost*: a look at all columns is n IFO calls for each of its right sides, one in the first look and four
//! in others; slopes, Gram matrix and refit are n each, and for other losses each Newton step and each trial
//! are. Memory is O(n |C|) and O(k |C|).
//!
//! *Claims*: `engine-exchange`, `engine-defaults-solvers`.
//!
//! *Reference*: the tests compare gains with least squares on the exchanged supports, and settled supports
//! with all single exchanges.

mod groups;
mod model;
mod swaps;

use super::pruned::backward;
use super::{
    Shape, SolveError, Solver, SolverProgress, SolverTask, require_sparsity, require_start, threshold_start,
};
use crate::bug::cannot_fail;
use crate::params::{ParamError, require};
use lao_finite_sum::{FiniteSum, NormalEquations, Predictor};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold, solve_positive};
use lao_observation::Rng;
use model::{Grouping, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

const NAME: &str = "exchange";

const FINITE: &str = "the coefficients were found to be finite";

/// The first candidates: so many, or so many times k.
const FIRST: [usize; 2] = [100, 8];
/// Newton steps on a support, and on one that was pruned; the decrement of the loss, as a part of it, that
/// ends them; and halvings of one.
const NEWTON: [usize; 2] = [25, 5];
const CONVERGED: f64 = 1e-9;
const HALVINGS: u32 = 20;
/// The part of the loss that one look must gain, if the next output is to make all others look again.
const SETTLED: f64 = 1e-7;

/// Parameters of [`Exchange`].
///
/// ```
/// use lao_algorithms::thresholding::{
///     ExchangeParams, Shape, Solver, SolverEnd, SolverLimit, SolverTask, solve,
/// };
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, ..SolverTask::default() };
/// let params = ExchangeParams { certify: true, ..ExchangeParams::practical(&task) };
/// let mut solver = params.build(Shape::of(&sum))?;
/// let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::default())?;
/// assert_eq!((run.outcome, run.predictor.coefficients[0].indices()), (SolverEnd::Settled, &[0][..]));
/// assert!(solver.is_certified()); // no exchange with any attribute lowers the loss
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
    /// Attributes that every model has, ascending, at most k; k counts them.
    #[serde(default)]
    pub always: Vec<u32>,
    /// Whether a solver of least squares that would settle looks at the exchanges with all attributes, at k
    /// passes more, and goes on if one gains: [`Solver::is_certified`].
    #[serde(default)]
    pub certify: bool,
    /// The group of each attribute, below d, or nothing if each attribute stands for itself. The attributes
    /// of a group enter and leave together, but for those that depend on others; k counts groups.
    #[serde(default)]
    pub groups: Vec<u32>,
}

impl ExchangeParams {
    /// Returns the parameters for a task, whose step size is not used.
    pub fn practical(task: &SolverTask) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        ExchangeParams { sparsity, start, always: Vec::new(), certify: false, groups: Vec::new() }
    }

    /// Returns the number of groups among some attributes; of the attributes, if there are no groups.
    pub fn count(&self, attributes: impl Iterator<Item = u32>) -> usize {
        let group = |j: u32| self.groups.get(j as usize).copied().unwrap_or(j);
        attributes.map(group).collect::<BTreeSet<u32>>().len()
    }

    /// Checks what does not depend on the components, and not the start.
    pub(crate) fn check(&self, dim: usize) -> Result<(), ParamError> {
        let ExchangeParams { sparsity, always, certify, groups, .. } = self;
        require_sparsity(NAME, *sparsity)?;
        let known = groups.is_empty() || groups.len() == dim;
        let known = known && groups.iter().all(|group| (*group as usize) < dim);
        let allowed = format_args!("a number below {dim} for each attribute, or none").to_string();
        require(known, NAME, "groups", format_args!("{} numbers", groups.len()), allowed)?;
        require(groups.is_empty() || !certify, NAME, "certify", certify, "false where there are groups")?;
        let ascends = always.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = ascends && always.iter().all(|j| (*j as usize) < dim);
        let fits = fits && self.count(always.iter().copied()) <= *sparsity;
        let allowed = format_args!("at most {sparsity} ascending attributes below {dim}").to_string();
        require(fits, NAME, "always", format_args!("{always:?}"), allowed)
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Exchange, ParamError> {
        self.check(shape.dim)?;
        let ExchangeParams { sparsity, start, always, certify, groups } = self;
        let groups = (!groups.is_empty()).then(|| Arc::new(Grouping::new(&groups)));
        let mut x = require_start(NAME, start, shape)?;
        match groups.as_deref() {
            None => threshold_start(&mut x, sparsity, &mut HardThreshold::default()),
            Some(groups) => x.coefficients.iter_mut().for_each(|x| keep_groups(x, sparsity, groups)),
        }
        Ok(Exchange {
            shape,
            sparsity,
            x,
            models: Vec::new(),
            squares: Vec::new(),
            margins: Vec::new(),
            proposed: Vec::new(),
            full: Vec::new(),
            trial: Vec::new(),
            equations: NormalEquations::default(),
            stage: Stage::Look,
            output: 0,
            always,
            certify,
            groups,
            is_certified: false,
            prunes: false,
            has_moved: false,
            has_gained: false,
            at_look: 0.0,
            unchanged: 0,
            rounds: 0,
        })
    }
}

/// The part of a round that the next step of the solver does.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// Looks at all columns for candidates, and makes exchanges in the model.
    Look,
    /// Drops attributes of a support that is too large.
    Prune,
    /// Minimizes over the proposed support, for least squares.
    Refit,
    /// Evaluates the loss at the proposed support; `before` is that at the iterate, and `is_last` whether the
    /// proposal is a single exchange already.
    Try { before: f64, is_last: bool },
    /// Makes the Newton step of this number.
    Newton { steps: usize },
    /// Evaluates the loss after a Newton step of this length.
    Shorten { steps: usize, before: f64, halvings: u32 },
    /// Looks at the exchanges with all attributes.
    Certify,
    /// Nothing is left to do.
    Settled,
}

/// The solver.
#[derive(Clone, Debug)]
pub struct Exchange {
    shape: Shape,
    sparsity: usize,
    x: Predictor,
    /// The model of each output; empty before the first look.
    models: Vec<Model>,
    /// The mean squares of the columns.
    squares: Vec<f64>,
    /// The margins of x, for each output.
    margins: Vec<Vec<f64>>,
    /// The coefficients that are proposed for the output.
    proposed: Vec<(u32, f64)>,
    /// The coefficients after a whole Newton step.
    full: Vec<(u32, f64)>,
    /// The margins of the output at the proposal.
    trial: Vec<f64>,
    equations: NormalEquations,
    stage: Stage,
    output: usize,
    always: Vec<u32>,
    certify: bool,
    groups: Option<Arc<Grouping>>,
    is_certified: bool,
    /// Whether the solver prunes, and does nothing else.
    prunes: bool,
    /// Whether the output has moved since the last look, and whether that lowered the loss by more than a
    /// little.
    has_moved: bool,
    has_gained: bool,
    /// The loss at the last look.
    at_look: f64,
    /// The number of outputs in succession that gained nothing.
    unchanged: usize,
    rounds: u64,
}

impl Exchange {
    fn is_first_look(&self) -> bool {
        self.models.get(self.output).is_none_or(|model| model.slopes.is_empty())
    }

    /// The coefficients of the output.
    fn members(&self) -> Vec<(u32, f64)> {
        self.x.coefficients[self.output].view().iter().collect()
    }

    /// Returns the support of the output with all attributes that it must have, ascending: its smallest
    /// coefficients make room for them, and groups are whole.
    fn with_always(&self) -> Vec<u32> {
        let all = self.always.iter().copied().chain(by_size(&self.x.coefficients[self.output]));
        whole(all, self.sparsity, self.groups.as_deref())
    }

    fn look(&mut self, sum: &mut FiniteSum) -> Result<SolverProgress, SolveError> {
        let (is_first, is_squares) = (self.is_first_look(), sum.loss().squares().is_some());
        let calls = self.next_calls(sum);
        if self.models.is_empty() {
            self.squares = sum.mean_squares();
            self.margins = margins(sum, &self.x);
            self.models = vec![Model::new(sum, self.groups.as_ref()); self.shape.outputs];
        }
        let (members, support) = (self.members(), self.x.coefficients[self.output].indices().to_vec());
        let first = self.with_always();
        let Exchange { models, margins, squares, sparsity, output, x, always, groups, .. } = self;
        let model = &mut models[*output];
        let before = model.expand(sum, margins, *output, x) + 0.5 * sum.ridge() * x.norm_squared();
        if model.is_flat() {
            sum.add_cost(lao_finite_sum::Meter { calls: calls - sum.len() as u64, thresholds: 0 });
            return Ok(self.pass_on());
        }
        let right = model.residuals(&members, !is_first);
        let mut products = Vec::new();
        sum.products(&right, &mut products);
        // Of the Gram matrix, only rows of the support are computed.
        sum.add_cost(lao_finite_sum::Meter { calls: sum.len() as u64, thresholds: 1 });
        let count = if is_first { FIRST[0].max(FIRST[1] * *sparsity).div_ceil(2) } else { *sparsity };
        let found = match model.most(&products, squares, count) {
            Ok(found) => found,
            Err(error) => {
                // The next look is a first one again.
                *model = Model::new(sum, groups.as_ref());
                return Err(error);
            }
        };
        let begun = if is_first || !is_squares {
            model.begin(sum, (&first, always), &found, *sparsity)
        } else {
            model.learn(sum, &found)
        };
        if let Err(error) = begun {
            *model = Model::new(sum, groups.as_ref());
            return Err(error);
        }
        let gains = model.settle(*sparsity, is_squares && !is_first);
        self.proposed = model.members();
        let is_same = self.proposed.iter().map(|(j, _)| *j).eq(support.iter().copied());
        if is_squares && (is_same || !gains) && !is_first {
            return Ok(self.pass_on());
        }
        self.at_look = before;
        self.stage = match (is_squares, is_same) {
            (true, _) => Stage::Refit,
            (false, false) => Stage::Try { before, is_last: false },
            (false, true) => Stage::Newton { steps: 0 },
        };
        Ok(SolverProgress::Evaluated)
    }

    /// Begins to prune `x`, which may have more coefficients than the sparsity: drops those of which the
    /// others stand for most, refits, and then settles.
    pub(super) fn begin_pruning(&mut self, x: &Predictor) {
        self.x.copy_from(x);
        self.models.clear();
        self.margins.clear();
        self.margins.resize_with(self.shape.outputs, Vec::new);
        (self.stage, self.prunes, self.output, self.has_moved) = (Stage::Prune, true, 0, false);
    }

    /// Returns whether nothing is left to do.
    pub(super) fn is_settled(&self) -> bool {
        self.stage == Stage::Settled
    }

    /// Prunes the output, by its quadratic model.
    fn prune(&mut self, sum: &mut FiniteSum) -> Result<SolverProgress, SolveError> {
        let support = self.x.coefficients[self.output].indices().to_vec();
        let pruned = |gram: &[f64], right: &[f64], sparsity| {
            let kept = backward(gram, right, sparsity);
            kept.into_iter().map(|(place, b)| (support[place], b)).collect()
        };
        sum.count_threshold();
        if sum.normal_equations(&support, &mut self.equations)? {
            self.proposed = pruned(&self.equations.gram, &self.equations.right, self.sparsity);
            self.stage = Stage::Refit;
            return Ok(SolverProgress::Evaluated);
        }
        if self.models.is_empty() {
            self.margins = margins(sum, &self.x);
            self.models = vec![Model::new(sum, self.groups.as_ref()); self.shape.outputs];
        }
        let model = &mut self.models[self.output];
        model.expand(sum, &self.margins, self.output, &self.x);
        if model.is_flat() {
            let x = &mut self.x.coefficients[self.output];
            let dense = x.view().to_dense();
            cannot_fail(HardThreshold::default().keep(&dense, self.sparsity, x), FINITE);
            sum.add_cost(lao_finite_sum::Meter { calls: 2 * sum.len() as u64, thresholds: 0 });
            return Ok(self.pass_on());
        }
        let [gram, right] = model.equations(sum, &support)?;
        // Where rows are told with certainty, the model is wrong far from the iterate: what is kept of the
        // iterate may be better than the minimum of the model.
        let minimum: Vec<(u32, f64)> = pruned(&gram, &right, self.sparsity);
        let x = self.x.coefficients[self.output].view();
        self.proposed = minimum.iter().map(|(j, _)| (*j, x.get(*j))).collect();
        let old = self.x.intercepts[self.output];
        self.models[self.output].margins(&self.proposed, old, &mut self.trial);
        let of_kept = self.evaluate(sum);
        let kept = std::mem::replace(&mut self.proposed, minimum);
        let mut intercept = self.intercept_of_proposal();
        let of_minimum = self.evaluate(sum);
        if of_minimum.is_nan() || of_minimum > of_kept {
            (self.proposed, intercept) = (kept, old);
            self.models[self.output].margins(&self.proposed, old, &mut self.trial);
        }
        self.accept(intercept, f64::NEG_INFINITY)?;
        self.stage = Stage::Newton { steps: 0 };
        Ok(SolverProgress::Moved)
    }

    /// Goes to the next output, which may change now; settles if none did.
    fn pass_on(&mut self) -> SolverProgress {
        if self.prunes {
            self.output += 1;
            let is_last = self.output >= self.shape.outputs;
            (self.stage, self.rounds) =
                if is_last { (Stage::Settled, self.rounds + 1) } else { (Stage::Prune, self.rounds) };
            return if is_last { SolverProgress::Settled } else { SolverProgress::Evaluated };
        }
        self.unchanged = if self.has_gained { 0 } else { self.unchanged + 1 };
        self.has_gained = false;
        self.rounds += u64::from(std::mem::take(&mut self.has_moved));
        self.output = (self.output + 1) % self.shape.outputs;
        if self.unchanged >= self.shape.outputs {
            if self.certify {
                self.stage = Stage::Certify;
                return SolverProgress::Evaluated;
            }
            self.stage = Stage::Settled;
            return SolverProgress::Settled;
        }
        self.stage = Stage::Look;
        SolverProgress::Evaluated
    }

    /// Looks at all single exchanges; goes on if one gains.
    fn certify(&mut self, sum: &mut FiniteSum) -> Result<SolverProgress, SolveError> {
        let support = self.x.coefficients[0].indices().to_vec();
        let (model, mut products) = (&mut self.models[0], Vec::new());
        let right = model.centered(&support);
        sum.products(&right, &mut products);
        if sum.loss().squares().is_some()
            && let Some(j) = model.best_of_all((&support, &self.always), products, &self.squares)
        {
            model.learn(sum, &[j])?;
            (self.stage, self.unchanged) = (Stage::Look, 0);
            return Ok(SolverProgress::Evaluated);
        }
        self.is_certified = sum.loss().squares().is_some();
        self.stage = Stage::Settled;
        Ok(SolverProgress::Settled)
    }

    /// Minimizes least squares over the proposed support.
    fn refit(&mut self, sum: &FiniteSum) -> Result<SolverProgress, SolveError> {
        let support: Vec<u32> = self.proposed.iter().map(|(j, _)| *j).collect();
        sum.normal_equations(&support, &mut self.equations)?;
        let NormalEquations { gram, right, .. } = &mut self.equations;
        solve_positive(gram, right);
        self.proposed.iter_mut().zip(right).for_each(|((_, b), value)| *b = *value);
        let intercept = match sum.has_intercept() {
            true => sum.best_intercept(&vector(self.shape.dim, &self.proposed)?)?,
            false => 0.0,
        };
        if let Some(model) = self.models.first() {
            model.margins(&self.proposed, intercept, &mut self.trial);
        }
        self.accept(intercept, f64::NEG_INFINITY)?;
        self.pass_on();
        Ok(SolverProgress::Moved)
    }

    /// Returns the loss at the proposal, l2 term included.
    fn evaluate(&mut self, sum: &FiniteSum) -> f64 {
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        std::mem::swap(&mut self.margins[self.output], &mut self.trial);
        let loss = sum.expand(&self.margins, self.output, &mut slopes, &mut curvatures);
        std::mem::swap(&mut self.margins[self.output], &mut self.trial);
        let others = self.x.norm_squared() - self.x.coefficients[self.output].view().norm_squared();
        let own: f64 = self.proposed.iter().map(|(_, b)| b * b).sum();
        loss + 0.5 * sum.ridge() * (others + own)
    }

    /// Computes the margins of the proposal, and the intercept that belongs to it, which is returned.
    fn intercept_of_proposal(&mut self) -> f64 {
        let Exchange { models, output, proposed, trial, x, .. } = self;
        let model = &models[*output];
        let intercept = if model.has_intercept() { model.intercept(proposed) } else { x.intercepts[*output] };
        model.margins(proposed, intercept, trial);
        intercept
    }

    /// Moves the output to the proposal, whose margins are `trial`.
    fn accept(&mut self, intercept: f64, loss: f64) -> Result<(), SolveError> {
        let next = vector(self.shape.dim, &self.proposed)?;
        if !intercept.is_finite() {
            return Err(SolveError::Intercept { output: self.output, value: intercept });
        }
        self.x.coefficients[self.output] = next;
        self.x.intercepts[self.output] = intercept;
        std::mem::swap(&mut self.margins[self.output], &mut self.trial);
        self.has_moved = true;
        self.has_gained |= loss < self.at_look - SETTLED * self.at_look.abs();
        Ok(())
    }

    fn attempt(&mut self, sum: &FiniteSum, before: f64, is_last: bool) -> Result<SolverProgress, SolveError> {
        self.proposed = self.models[self.output].members();
        let intercept = self.intercept_of_proposal();
        let after = self.evaluate(sum);
        if after < before - CONVERGED * before.abs() {
            self.accept(intercept, after)?;
            self.stage = Stage::Newton { steps: 0 };
            return Ok(SolverProgress::Moved);
        }
        let support = self.x.coefficients[self.output].indices().to_vec();
        if !is_last && !support.is_empty() && self.models[self.output].exchange_once(&support) {
            self.stage = Stage::Try { before, is_last: true };
        } else {
            self.stage = Stage::Newton { steps: 0 };
        }
        Ok(SolverProgress::Evaluated)
    }

    /// Computes the Newton step on the support of the output.
    fn newton(&mut self, sum: &FiniteSum, steps: usize) -> Result<SolverProgress, SolveError> {
        let Exchange { models, margins, output, x, full, .. } = self;
        let model = &mut models[*output];
        let before = model.expand(sum, margins, *output, x) + 0.5 * sum.ridge() * x.norm_squared();
        if model.is_flat() {
            return Ok(self.pass_on());
        }
        *full = model.minimum(sum, x.coefficients[*output].indices())?;
        self.stage = Stage::Shorten { steps, before, halvings: 0 };
        Ok(SolverProgress::Evaluated)
    }

    fn shorten(
        &mut self,
        sum: &FiniteSum,
        (steps, before, halvings): (usize, f64, u32),
    ) -> Result<SolverProgress, SolveError> {
        let part = 0.5_f64.powi(halvings as i32);
        let Exchange { models, output, proposed, trial, full, x, .. } = self;
        let (model, old) = (&models[*output], &x.coefficients[*output]);
        let steps_of = full.iter().zip(old.values());
        proposed.clear();
        proposed.extend(steps_of.map(|(&(j, b), old)| (j, old + part * (b - old))));
        let old = x.intercepts[*output];
        let whole = if model.has_intercept() { model.intercept(full) } else { old };
        let intercept = old + part * (whole - old);
        model.margins(proposed, intercept, trial);
        let after = self.evaluate(sum);
        let least = CONVERGED * before.abs();
        if after < before - least {
            self.accept(intercept, after)?;
            self.stage = Stage::Newton { steps: steps + 1 };
            if steps + 1 >= NEWTON[usize::from(self.prunes)] {
                self.pass_on();
            }
            return Ok(SolverProgress::Moved);
        }
        if halvings < HALVINGS && after > before + least {
            self.stage = Stage::Shorten { steps, before, halvings: halvings + 1 };
            return Ok(SolverProgress::Evaluated);
        }
        Ok(self.pass_on())
    }
}

/// Returns the attributes by the size of their coefficients, the largest first.
fn by_size(x: &SparseVector) -> impl Iterator<Item = u32> + use<> {
    let mut members: Vec<(u32, f64)> = x.view().iter().collect();
    members.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    members.into_iter().map(|(j, _)| j)
}

/// Returns the attributes of the first `size` groups, ascending.
fn whole(attributes: impl Iterator<Item = u32>, size: usize, groups: Option<&Grouping>) -> Vec<u32> {
    let (mut all, mut chosen): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for j in attributes {
        let group = groups.map_or(j, |groups| groups.of[j as usize]);
        if chosen.len() < size && !chosen.contains(&group) {
            chosen.push(group);
            all.extend(groups.map_or(&[j][..], |groups| &groups.members[group as usize]));
        }
    }
    all.sort_unstable();
    all
}

/// Keeps the groups of the largest coefficients.
fn keep_groups(x: &mut SparseVector, size: usize, groups: &Grouping) {
    let kept = whole(by_size(x), size, Some(groups));
    let old = x.clone();
    x.fill_from(&kept, |j| old.view().get(j));
}

/// Returns the margins of a predictor, for each output.
fn margins(sum: &FiniteSum, x: &Predictor) -> Vec<Vec<f64>> {
    let mut columns = lao_finite_sum::Columns::default();
    let of_output = |(x, intercept): (&SparseVector, &f64)| {
        let mut margins = vec![*intercept; sum.rows()];
        let from = columns.attributes().len();
        cannot_fail(columns.extend(sum, x.indices()), "the shape of the sum is that of x");
        columns.add((from..).zip(x.values().iter().copied()), &mut margins);
        margins
    };
    x.coefficients.iter().zip(&x.intercepts).map(of_output).collect()
}

/// Returns the coefficients as a vector, if they are finite.
fn vector(dim: usize, members: &[(u32, f64)]) -> Result<SparseVector, NotFinite> {
    let mut x = SparseVector::zeros(dim);
    for &(j, value) in members {
        if !value.is_finite() {
            return Err(NotFinite { index: j as usize, value });
        }
        x.push(j, value);
    }
    Ok(x)
}

impl Solver for Exchange {
    fn next_calls(&self, sum: &FiniteSum) -> u64 {
        let passes = match self.stage {
            // Slopes, right sides, Gram matrix.
            Stage::Look => 1 + if self.is_first_look() { 1 } else { 4 } + 1,
            Stage::Prune if sum.loss().squares().is_none() => 3,
            Stage::Certify => 1 + self.x.coefficients[0].len() as u64,
            Stage::Settled => 0,
            _ => 1,
        };
        passes * sum.len() as u64
    }

    fn step(&mut self, sum: &mut FiniteSum, _: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        match self.stage.clone() {
            Stage::Look => self.look(sum),
            Stage::Prune => self.prune(sum),
            Stage::Certify => self.certify(sum),
            Stage::Refit => self.refit(sum),
            Stage::Try { before, is_last } => self.attempt(sum, before, is_last),
            Stage::Newton { steps } => self.newton(sum, steps),
            Stage::Shorten { steps, before, halvings } => self.shorten(sum, (steps, before, halvings)),
            Stage::Settled => Ok(SolverProgress::Settled),
        }
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn is_certified(&self) -> bool {
        self.is_certified
    }
}
