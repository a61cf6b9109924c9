//! Hard thresholding on finite sums: minimize `f(x) = (1/n) sum_z f_z(x)` subject to `|x|_0 <= k`, at full
//! information.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020 (SCSG-HT), and the methods they compare it with.
//!
//! Every method is a [`Solver`]: it makes one step at a time on a metered [`FiniteSum`], says beforehand what
//! the step will cost, and owns neither a loop nor a generator. One driver, [`solve`], handles budget,
//! stopping and trace; [`path`] solves for several sparsities, each started at the last answer.
//!
//! | method | step | IFO calls | thresholdings |
//! |---|---|---|---|
//! | [`gd`] | `H_k(x - eta grad f(x))`, with or without refit on the support | n (more with refit) | 1 |
//! | [`exchange`](mod@exchange) | exchanges of attributes by exact gains, refit | 3n the first look, 6n others, n a refit | 1 a look |
//! | [`sg`] | `H_k(x - eta grad f_I(x))`, batches of one size | b | 1 |
//! | [`hsg`] | the same, batches growing geometrically | b_t | 1 |
//! | [`svrg`] | variance reduced, full snapshot gradient | n an epoch, 2b a step | 1 a step |
//! | [`scsg`] | variance reduced, batch snapshot gradient, random epochs | B an epoch, 2b a step | 1 a step |
//!
//! The stochastic methods take a step size, or choose it, and their batches, by a [rule](auto); that costs a
//! second look at each batch. [`pruned`] runs a method with more attributes than are wanted.
//!
//! Softmax keeps one k-sparse column per class; thresholding all columns counts as one operation.
//! [`registry::SOLVERS`] lists the solvers; [`mod@reference`] has each of them in dense lines; [`theory`] has
//! the constants of the paper's theorem.
//!
//! A stochastic step costs O(k + entries of its rows) if rows are sparse and not centered; compressed rows
//! are then the best storage. Full gradients are fastest on columns, dense or compressed.

pub mod auto;
mod criterion;
mod driver;
pub mod exchange;
pub mod gd;
pub mod hsg;
mod iterate;
pub mod pruned;
pub mod reference;
mod refit;
pub mod registry;
pub mod scsg;
pub mod sg;
pub mod svrg;
pub mod theory;

pub use auto::{AutoParams, Choice, RuleParams};
pub use criterion::{SparsityPath, criterion};
pub use driver::{
    PathError, PathPoint, Point, Run, SolverEnd, SolverLimit, path, resume, resume_until, solve, solve_traced,
};
pub use exchange::{Exchange, ExchangeParams};
pub use gd::{Gd, GdParams, GdStep};
pub use hsg::{Hsg, HsgParams};
pub use pruned::Pruned;
pub use registry::{SOLVERS, SolverRow, SolverTask, StepRule};
pub use scsg::{BatchLaw, EpochLength, Scsg, ScsgParams, UniformDraws};
pub use sg::{Sg, SgParams};
pub use svrg::SvrgParams;

use crate::bug::cannot_fail;
use crate::params::{ParamError, require, require_finite_start};
use lao_finite_sum::{FiniteSum, FiniteSumError, Predictor};
use lao_kernels::{NotFinite, Threshold};
use lao_observation::Rng;
use thiserror::Error;

/// A method that minimizes a finite sum over k-sparse vectors, one step at a time.
///
/// ```
/// use lao_algorithms::thresholding::{Shape, Solver, SolverTask, registry::solver};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, step_size: Some(1.0), start: None };
/// let mut solver = (solver("gd-ht").unwrap().build)(Shape::of(&sum), &task)?;
/// assert_eq!(solver.next_calls(&sum), 3);
/// solver.step(&mut sum, &mut Seed::root(1).rng())?;
/// assert_eq!(solver.coefficients().coefficients[0].indices(), &[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Solver {
    /// Returns the number of IFO calls that the next step makes.
    fn next_calls(&self, sum: &FiniteSum) -> u64;

    /// Makes one step.
    ///
    /// # Errors
    /// [`SolveError`] when the step is not finite or the sum has another shape than the solver. The iterate
    /// then stays as it was.
    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError>;

    /// Returns the iterate after the last completed step.
    fn coefficients(&mut self) -> &Predictor;

    /// Returns the number of rounds completed. A round is an update for methods that look at many components
    /// at a time, and an epoch or a pass for the others.
    fn rounds(&self) -> u64;

    /// Returns the batch, step size and mini-batch that the solver chose last, if it [chooses](auto) them.
    fn choice(&self) -> Option<Choice> {
        None
    }

    /// Returns whether a round that moves the iterate by a little may end a run
    /// ([`SolverLimit::change`](SolverLimit)): not if later rounds may well move it by more.
    fn rests(&self) -> bool {
        true
    }

    /// Returns whether the solver has settled, and has seen that no exchange of an attribute of the model for
    /// any other attribute lowers the loss by more than a millionth ([`ExchangeParams::certify`]).
    fn is_certified(&self) -> bool {
        false
    }
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn next_calls(&self, sum: &FiniteSum) -> u64 {
        (**self).next_calls(sum)
    }
    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        (**self).step(sum, rng)
    }
    fn coefficients(&mut self) -> &Predictor {
        (**self).coefficients()
    }
    fn rounds(&self) -> u64 {
        (**self).rounds()
    }
    fn choice(&self) -> Option<Choice> {
        (**self).choice()
    }
    fn rests(&self) -> bool {
        (**self).rests()
    }
    fn is_certified(&self) -> bool {
        (**self).is_certified()
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverProgress {
    /// The step evaluated the sum (a snapshot gradient, a curvature, a part of a refit) and left the iterate
    /// as it was.
    Evaluated,
    /// The step moved the iterate.
    Moved,
    /// The step found that the iterate is a fixed point: no later step will move it.
    Settled,
}

/// The reason why a solver cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SolveError {
    /// A coefficient would not be finite after the step.
    #[error("the step diverged: {0}")]
    Diverged(#[from] NotFinite),
    /// An intercept would not be finite after the step.
    #[error("the step diverged: the intercept of output {output} moves by {value}")]
    Intercept {
        /// The output.
        output: usize,
        /// The number by which the intercept would move.
        value: f64,
    },
    /// The sum refused an evaluation.
    #[error(transparent)]
    Sum(#[from] FiniteSumError),
    /// The sum has another shape than the solver was made for.
    #[error("the sum has {found} {what}, but the solver was made for {expected}")]
    Shape {
        /// The size that differs.
        what: &'static str,
        /// The size that the sum has.
        found: usize,
        /// The size that the solver was made for.
        expected: usize,
    },
}

/// The shape of a finite sum, which all solvers check. It comes from a sum, so there is at least one
/// component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `n`.
    components: usize,
    /// `d`, coefficients of each output.
    dim: usize,
    /// The number of classes for softmax, else 1.
    outputs: usize,
}

impl Shape {
    /// Returns the shape of a sum.
    pub fn of(sum: &FiniteSum) -> Shape {
        Shape { components: sum.len(), dim: sum.dim(), outputs: sum.outputs() }
    }

    fn require(self, sum: &FiniteSum) -> Result<(), SolveError> {
        let found = Shape::of(sum);
        for (what, found, expected) in [
            ("components", found.components, self.components),
            ("coefficients", found.dim, self.dim),
            ("outputs", found.outputs, self.outputs),
        ] {
            if found != expected {
                return Err(SolveError::Shape { what, found, expected });
            }
        }
        Ok(())
    }
}

/// Refuses `k = 0`. A k above d is allowed and keeps everything.
fn require_sparsity(method: &'static str, sparsity: usize) -> Result<(), ParamError> {
    require(sparsity >= 1, method, "sparsity", sparsity, "at least 1")
}

fn require_batch(
    method: &'static str,
    field: &'static str,
    size: usize,
    components: usize,
) -> Result<(), ParamError> {
    let ok = (1..=components).contains(&size);
    require(ok, method, field, size, format_args!("a batch of 1 to n = {components} components"))
}

/// Returns the start, or zero without one. Refuses a start of another shape or with a number that is not
/// finite.
fn require_start(
    method: &'static str,
    start: Option<Predictor>,
    shape: Shape,
) -> Result<Predictor, ParamError> {
    const FINITE: &str = "a predictor of finite numbers";
    let Some(mut start) = start else { return Ok(Predictor::zeros(shape.dim, shape.outputs)) };
    let found = start.coefficients.len();
    let allowed =
        format_args!("a predictor of {} outputs of dimension {}", shape.outputs, shape.dim).to_string();
    require(found == shape.outputs, method, "start", format_args!("{found} outputs"), &allowed)?;
    for x in &start.coefficients {
        require(x.dim() == shape.dim, method, "start", format_args!("dimension {}", x.dim()), &allowed)?;
        require_finite_start(method, x.values(), FINITE)?;
    }
    start.intercepts.resize(shape.outputs, 0.0);
    require_finite_start(method, &start.intercepts, FINITE)?;
    Ok(start)
}

/// Keeps the largest coefficients of each output of a start that [`require_start`] has let pass.
fn threshold_start<T: Threshold>(x: &mut Predictor, sparsity: usize, threshold: &mut T) {
    for x in &mut x.coefficients {
        let dense = x.view().to_dense();
        cannot_fail(threshold.keep(&dense, sparsity, x), "the start was found to be finite");
    }
}
