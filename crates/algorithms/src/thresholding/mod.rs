//! Hard thresholding on finite sums: minimize `f(x) = (1/n) sum_z f_z(x)` subject to `|x|_0 <= k`, at full
//! information.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020 (SCSG-HT), and the methods they compare it with.
//!
//! Every method is a [`Solver`]: it makes one step at a time against a metered [`FiniteSum`], says beforehand
//! what the step will cost, and owns neither loop nor generator. [`solve`] is the one driver: budget,
//! stopping, trace; [`path`] solves for several sparsities, each started at the last.
//!
//! | method | step | IFO calls | thresholdings |
//! |---|---|---|---|
//! | [`gd`] | `H_k(x - eta grad f(x))`, with or without refit on the support | n (more with refit) | 1 |
//! | [`sg`] | `H_k(x - eta grad f_I(x))`, batches of one size | b | 1 |
//! | [`hsg`] | the same, batches growing geometrically | b_t | 1 |
//! | [`svrg`] | variance reduced, full snapshot gradient | n an epoch, 2b a step | 1 a step |
//! | [`scsg`] | variance reduced, batch snapshot gradient, random epoch length | B an epoch, 2b a step | 1 a step |
//!
//! Softmax keeps one k-sparse column per class; thresholding all of them is one operation.
//! [`registry::SOLVERS`] lists the solvers, [`theory`] has the constants of the paper's theorems.
//!
//! A stochastic step costs O(k + entries of its rows) where rows are sparse and not centered; rows are then
//! best stored as compressed rows. Whole gradients are fastest on columns, dense or compressed.

pub mod driver;
pub mod gd;
pub mod hsg;
mod iterate;
mod refit;
pub mod registry;
pub mod scsg;
pub mod sg;
pub mod svrg;
pub mod theory;

pub use driver::{
    PathError, PathPoint, Point, Run, SolverEnd, SolverLimit, path, resume, solve, solve_traced,
};
pub use gd::{Gd, GdParams, GdStep};
pub use hsg::{Hsg, HsgParams};
pub use registry::{SOLVERS, SolverRow, SolverTask, StepRule};
pub use scsg::{BatchLaw, EpochLength, Scsg, ScsgParams, UniformDraws};
pub use sg::{Sg, SgParams};
pub use svrg::SvrgParams;

use crate::params::{ParamError, require};
use lao_finite_sum::{FiniteSum, FiniteSumError, Predictor};
use lao_kernels::NotFinite;
use lao_observation::Rng;
use thiserror::Error;

/// A method that minimizes a finite sum over k-sparse vectors, one step at a time.
pub trait Solver {
    /// IFO calls that the next step makes.
    fn next_calls(&self, sum: &FiniteSum) -> u64;

    /// Makes one step.
    ///
    /// # Errors
    /// [`SolveError`] when the step is not finite (the iterate before it stands) or the sum has another
    /// shape.
    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError>;

    /// The iterate after the last completed step.
    fn coefficients(&mut self) -> &Predictor;

    /// Rounds completed: updates for methods that look at many components at a time, epochs or passes for the
    /// others.
    fn rounds(&self) -> u64;
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
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverProgress {
    /// Looked at the sum (a snapshot gradient, a curvature, a part of a refit); the iterate stands.
    Evaluated,
    /// Moved the iterate.
    Moved,
    /// Found that the iterate is a fixed point: no later step will move it.
    Settled,
}

/// Why a solver cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SolveError {
    /// The step left the finite numbers.
    #[error("the step diverged: {0}")]
    Diverged(#[from] NotFinite),
    /// The step took an intercept out of the finite numbers.
    #[error("the step diverged: the intercept of output {output} moves by {value}")]
    Intercept {
        /// The output.
        output: usize,
        /// By how much it would move.
        value: f64,
    },
    /// The sum refused a question.
    #[error(transparent)]
    Sum(#[from] FiniteSumError),
    /// The sum has another shape than the solver was made for.
    #[error("the sum has {found} {what}, but the solver was made for {expected}")]
    Shape {
        /// What differs.
        what: &'static str,
        /// What the sum has.
        found: usize,
        /// What the solver was made for.
        expected: usize,
    },
}

/// The problem's shape, as all solvers check it. It comes from a sum, so there is at least one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `n`.
    components: usize,
    /// `d`, coefficients of each output.
    dim: usize,
    /// Classes of softmax, else 1.
    outputs: usize,
}

impl Shape {
    /// The shape of a sum.
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

/// `1 <= k`; a k above d keeps everything.
fn require_sparsity(method: &'static str, sparsity: usize) -> Result<(), ParamError> {
    require(sparsity >= 1, method, "sparsity", sparsity, "k must be at least 1")
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

/// The start, or zero; its shape and numbers are checked.
fn require_start(
    method: &'static str,
    start: Option<Predictor>,
    shape: Shape,
) -> Result<Predictor, ParamError> {
    let Some(mut start) = start else { return Ok(Predictor::zeros(shape.dim, shape.outputs)) };
    let found = start.coefficients.len();
    let allowed = format_args!("{} outputs of dimension {}", shape.outputs, shape.dim).to_string();
    require(found == shape.outputs, method, "start", format_args!("{found} outputs"), &allowed)?;
    for x in &start.coefficients {
        require(x.dim() == shape.dim, method, "start", format_args!("dimension {}", x.dim()), &allowed)?;
        let bad = x.values().iter().find(|value| !value.is_finite());
        require(bad.is_none(), method, "start", bad.copied().unwrap_or_default(), "finite numbers")?;
    }
    start.intercepts.resize(shape.outputs, 0.0);
    let bad = start.intercepts.iter().find(|value| !value.is_finite());
    require(bad.is_none(), method, "start", bad.copied().unwrap_or_default(), "finite numbers")?;
    Ok(start)
}
