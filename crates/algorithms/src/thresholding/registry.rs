//! The registry of the solvers of finite sums: tests, benches and reports iterate over [`SOLVERS`].

use super::{
    EpochLength, ExchangeParams, GdParams, HsgParams, ScsgParams, SgParams, Shape, Solver, SvrgParams,
    gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_finite_sum::Predictor;

/// What a user knows before a run; a solver's other parameters have practical values. The sparsity has no
/// default that works and must be given, and so must the step size, except for solvers that choose their own
/// steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; see [`SolverRow::step`] for the smoothness that bounds it. Rows of solvers that choose their
    /// own steps check the step size, but do not use it.
    pub step_size: f64,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

/// A function that builds a solver for sums of a shape.
pub type Build = fn(Shape, &SolverTask) -> Result<Box<dyn Solver>, ParamError>;

/// A solver's row in the registry.
#[derive(Clone, Copy, Debug)]
pub struct SolverRow {
    /// The short unique name, as used on the command line and in reports.
    pub name: &'static str,
    /// The paper.
    pub source: &'static str,
    /// What the solver does, in one sentence.
    pub summary: &'static str,
    /// The smoothness constant that bounds the step size.
    pub step: StepRule,
    /// Whether steps are drawn at random, so that other seeds lead to other iterates.
    pub random: bool,
    /// Whether steps follow the mean of many components, at least after a while. Such steps may be longer
    /// than steps along single components.
    pub averages_components: bool,
    /// Whether the iterate is refitted on its support. For losses other than least squares, a refit copies
    /// the columns of each new support.
    pub refits: bool,
    /// Whether the support settles even if few rows share an attribute. A solver whose steps look at single
    /// rows alone keeps replacing its support by that of the last rows.
    pub settles_on_sparse_rows: bool,
    /// Builds the solver for sums of a shape.
    pub build: Build,
}

/// The smoothness constant that bounds a step size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// None: the solver computes its own steps from the curvature.
    Own,
    /// `L` of the mean f: step sizes go up to `1/L`. This `L` is smaller than [`component_smoothness`], often
    /// by a factor of four or more, so that steps of `1/component_smoothness` converge, but slowly. If `L` is
    /// not known, take the solver with normalized steps.
    ///
    /// [`component_smoothness`]: lao_finite_sum::FiniteSum::component_smoothness
    Mean,
    /// `L` of the single components: step sizes go up to `1/component_smoothness()`.
    Component,
}

impl StepRule {
    /// Returns the largest useful step size, in words.
    pub fn words(self) -> &'static str {
        match self {
            StepRule::Own => "its own",
            StepRule::Mean => "to 1/L, L of the mean",
            StepRule::Component => "to 1/L, L of a component",
        }
    }
}

/// The defaults of a row.
const SOLVER: SolverRow = SolverRow {
    name: "",
    source: "",
    summary: "",
    step: StepRule::Component,
    random: true,
    averages_components: false,
    refits: false,
    settles_on_sparse_rows: true,
    build: |shape, task| boxed(SgParams::practical(task).build(shape)),
};

/// All solvers, one row for each.
///
/// ```
/// use lao_algorithms::thresholding::{SOLVERS, Shape, SolverLimit, SolverTask, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, step_size: 1.0 / sum.component_smoothness(), start: None };
/// for row in SOLVERS {
///     let mut solver = (row.build)(Shape::of(&sum), &task)?;
///     let run = solve(&mut sum, &mut *solver, &Seed::root(1), SolverLimit::after_rounds(20))?;
///     assert_eq!(run.predictor.coefficients[0].len(), 1, "{}", row.name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const SOLVERS: &[SolverRow] = &[
    SolverRow {
        name: "gd-ht",
        source: "Jain, Tewari & Kar 2014",
        summary: "Full-gradient steps of one length.",
        step: StepRule::Mean,
        random: false,
        averages_components: true,
        build: |shape, task| boxed(GdParams::fixed(task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "gd-ht-normalized",
        source: "Blumensath & Davies 2010",
        summary: "Full-gradient steps as long as the curvature allows.",
        step: StepRule::Own,
        random: false,
        averages_components: true,
        build: |shape, task| {
            checked(task, GdParams { refit: false, ..GdParams::practical(task) }.build(shape))
        },
        ..SOLVER
    },
    SolverRow {
        name: "htp",
        source: "Foucart 2011",
        summary: "Full-gradient steps, each with a refit on the support found.",
        step: StepRule::Own,
        random: false,
        averages_components: true,
        refits: true,
        build: |shape, task| checked(task, GdParams::practical(task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "exchange",
        source: "this project, after Zhu et al. 2020",
        summary: "Exchanges of attributes, each of which lowers the loss.",
        step: StepRule::Own,
        random: false,
        averages_components: true,
        refits: true,
        build: |shape, task| checked(task, ExchangeParams::practical(task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "sg-ht",
        source: "Nguyen, Needell & Woolf 2017",
        summary: "Steps along the gradient of one random component.",
        settles_on_sparse_rows: false,
        build: |shape, task| boxed(SgParams::practical(task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "hsg-ht",
        source: "Zhou, Yuan & Feng 2018",
        summary: "Steps along the gradient of random batches that grow geometrically.",
        averages_components: true,
        build: |shape, task| boxed(HsgParams::practical(task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "svrg-ht",
        source: "Li et al. 2016",
        summary: "Variance-reduced steps around the full gradient at a snapshot.",
        build: |shape, task| boxed(SvrgParams::practical(shape, task).build(shape)),
        ..SOLVER
    },
    SolverRow {
        name: "scsg-ht-i",
        source: "Liang et al. 2020, Algorithm 1, option I",
        summary: "Variance-reduced steps around a batch gradient, epochs of geometric length.",
        build: |shape, task| {
            let length = EpochLength::Geometric;
            boxed(ScsgParams { length, ..ScsgParams::practical(shape, task) }.build(shape))
        },
        ..SOLVER
    },
    SolverRow {
        name: "scsg-ht-ii",
        source: "Liang et al. 2020, Algorithm 1, option II",
        summary: "Variance-reduced steps around a batch gradient, epochs of B/b steps.",
        build: |shape, task| boxed(ScsgParams::practical(shape, task).build(shape)),
        ..SOLVER
    },
];

/// Returns the row of the solver of this name, if there is one.
///
/// ```
/// use lao_algorithms::thresholding::registry::solver;
///
/// assert!(solver("htp").is_some_and(|row| row.refits));
/// assert!(solver("simplex").is_none());
/// ```
pub fn solver(name: &str) -> Option<&'static SolverRow> {
    SOLVERS.iter().find(|row| row.name == name)
}

fn boxed<S: Solver + 'static>(solver: Result<S, ParamError>) -> Result<Box<dyn Solver>, ParamError> {
    Ok(Box::new(solver?))
}

/// Boxes a solver that does not use the task's step size, which is checked all the same.
fn checked<S: Solver + 'static>(
    task: &SolverTask,
    solver: Result<S, ParamError>,
) -> Result<Box<dyn Solver>, ParamError> {
    require_step(GD, task.step_size)?;
    boxed(solver)
}
