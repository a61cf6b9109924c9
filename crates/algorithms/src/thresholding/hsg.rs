//! HSG-HT: stochastic gradient hard thresholding with geometrically growing batches.
//!
//! *Source*: Zhou, Yuan & Feng 2018. Liang et al. 2020 compare with this method.
//!
//! *Setting*: a finite sum at full information.
//!
//! *Notation*: `k` -> `sparsity`, `eta` -> `step_size`, `tau` -> `first`, `1/omega` -> `growth`, `b_t` -> the
//! batch.
//!
//! *Update*: `x <- H_k(x - eta grad f_I(x))`, where I is uniform of size `b_t = min(n, ceil(tau growth^t))`,
//! t = 0, 1, ... A step costs `b_t` IFO calls and 1 thresholding. Once b_t = n this is GD-HT, and no indices
//! are drawn. A round is a pass: it ends when n components were seen since the last one ended.
//!
//! *Departures*: none.
//!
//! *Reference*: [`HsgReference`](super::reference::HsgReference).
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-n-independence`.

use super::auto::{Choice, Rule, Sizes};
use super::iterate::Iterate;
use super::scsg::{BatchLaw, UniformDraws};
use super::{Shape, SolveError, Solver, SolverProgress, SolverTask, require_sparsity, require_start};
use crate::params::{ParamError, require, require_step};
use lao_finite_sum::{Batch, FiniteSum, Predictor};
use lao_observation::Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

const NAME: &str = "HSG-HT";

/// Parameters of [`Hsg`].
///
/// ```
/// use lao_algorithms::thresholding::{HsgParams, Shape, SolverLimit, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// // Batches of 1, 2 and 3 components; the third is the whole sum.
/// let params = HsgParams { sparsity: 1, step_size: 0.5, first: 1.0, growth: 2.0, start: None };
/// let mut solver = params.build(Shape::of(&sum))?;
/// solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_calls(6))?;
/// assert_eq!((sum.meter().calls, sum.meter().thresholds), (6, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HsgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; `1/(6 L)` in the theory.
    pub step_size: f64,
    /// `tau`, the size of the first batch, a finite number of at least 1; 10 to 50 in practice.
    pub first: f64,
    /// `1/omega`, the factor from one batch size to the next, a finite number of at least 1.
    pub growth: f64,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

impl HsgParams {
    /// Returns practical parameters for a step size: batch sizes that start at 20 and grow by a twentieth per
    /// step.
    pub fn practical(task: &SolverTask, step_size: f64) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        HsgParams { sparsity, step_size, first: 20.0, growth: 1.05, start }
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Hsg, ParamError> {
        self.build_as(NAME, shape)
    }

    pub(super) fn build_as(self, name: &'static str, shape: Shape) -> Result<Hsg, ParamError> {
        let HsgParams { sparsity, step_size, first, growth, start } = self;
        require_sparsity(name, sparsity)?;
        require_step(name, step_size)?;
        let sizes = Sizes::new(name, first, growth)?;
        let start = require_start(name, start, shape)?;
        Ok(Hsg {
            shape,
            step_size,
            sizes,
            rule: None,
            choice: None,
            iterate: Iterate::new(shape, sparsity, &start),
            draws: UniformDraws::new(shape.components),
            weights: None,
            drawn: Vec::with_capacity(shape.components),
            seen: 0,
        })
    }
}

/// The solver of HSG-HT, and of SG-HT. It keeps O(n + c d) memory for c outputs.
#[derive(Clone, Debug)]
pub struct Hsg {
    shape: Shape,
    step_size: f64,
    /// `tau growth^t`.
    sizes: Sizes,
    /// The rule of a solver that [chooses](super::auto) its own step sizes.
    rule: Option<Box<Rule>>,
    choice: Option<Choice>,
    iterate: Iterate,
    draws: UniformDraws,
    /// The weights of single components that are not drawn uniformly.
    weights: Option<ComponentWeights>,
    drawn: Vec<u32>,
    seen: u64,
}

/// Probabilities of components.
#[derive(Clone, Debug)]
struct ComponentWeights {
    /// The sums of the weights up to and including each component.
    sums: Vec<f64>,
}

impl ComponentWeights {
    fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let at = rng.random::<f64>() * self.total();
        // Rounding could lead beyond the last component.
        self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1) as u32
    }

    fn probability(&self, z: u32) -> f64 {
        let before = if z == 0 { 0.0 } else { self.sums[z as usize - 1] };
        (self.sums[z as usize] - before) / self.total()
    }
}

impl Hsg {
    /// Returns the solver that draws single components with probabilities p in proportion to `weights`, and
    /// divides the step of component z by `n p(z)`.
    pub(super) fn with_weights(mut self, name: &'static str, weights: &[f64]) -> Result<Hsg, ParamError> {
        let components = self.shape.components;
        let allowed =
            format_args!("a list of one number for each of the {components} components").to_string();
        require(weights.len() == components, name, "weights", weights.len(), allowed)?;
        let refused = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0));
        let allowed = "a list of positive finite numbers with a finite sum";
        require(refused.is_none(), name, "weights", refused.copied().unwrap_or_default(), allowed)?;
        let mut sum = 0.0;
        let sums: Vec<f64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        require(sum.is_finite(), name, "weights", sum, allowed)?;
        self.weights = Some(ComponentWeights { sums });
        Ok(self)
    }

    /// Returns the solver that chooses step sizes for itself.
    pub(super) fn automatic(mut self, rule: Rule) -> Hsg {
        self.rule = Some(Box::new(rule));
        self
    }

    fn batch(&self) -> usize {
        self.sizes.peek(self.shape.components)
    }
}

impl Solver for Hsg {
    fn next_calls(&self, _: &FiniteSum) -> u64 {
        let rule = self.rule.as_ref().map_or(0, |_| Rule::calls(self.batch()));
        self.batch() as u64 + rule
    }

    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        let (components, batch) = (self.shape.components, self.batch());
        self.drawn.clear();
        if let Some(weights) = &self.weights {
            let z = weights.draw(rng);
            self.drawn.push(z);
            let scale = 1.0 / (components as f64 * weights.probability(z));
            self.iterate.step(sum, &self.drawn, self.step_size * scale, None)?;
        } else {
            let is_all = batch == components;
            if !is_all {
                self.draws.subset(components, batch, rng, &mut self.drawn);
            }
            let drawn = if is_all { Batch::All } else { Batch::Components(&self.drawn) };
            match &mut self.rule {
                Some(rule) => self.iterate.step_along(sum, drawn, |sum, at, gradient| {
                    let choice = rule.choose(sum, drawn, at, gradient)?;
                    self.choice = Some(choice);
                    Ok(choice.step_size)
                })?,
                None if is_all => self.iterate.step_along(sum, drawn, |_, _, _| Ok(self.step_size))?,
                None => self.iterate.step(sum, &self.drawn, self.step_size, None)?,
            }
        }
        self.seen += batch as u64;
        self.sizes.advance(components);
        Ok(SolverProgress::Moved)
    }

    fn coefficients(&mut self) -> &Predictor {
        self.iterate.coefficients()
    }

    fn choice(&self) -> Option<Choice> {
        self.choice
    }

    fn rounds(&self) -> u64 {
        self.seen / self.shape.components as u64
    }
}
