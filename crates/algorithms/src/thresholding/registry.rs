//! Every solver of finite sums, by name: tests, benches and reports go over [`SOLVERS`].

use super::{
    EpochLength, GdParams, HsgParams, ScsgParams, SgParams, Shape, Solver, SvrgParams, gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_finite_sum::Predictor;

/// What every solver is told; the rest is its practical choice. The sparsity has no default that works, and
/// the step size only for solvers that choose their own steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; see [`SolverRow::step`] for the smoothness that it goes with. The rows of solvers that choose
    /// their own steps check it, but do not use it.
    pub step_size: f64,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

/// Makes a solver for sums of a shape.
pub type Build = fn(Shape, &SolverTask) -> Result<Box<dyn Solver>, ParamError>;

/// A solver's row in the registry.
#[derive(Clone, Copy, Debug)]
pub struct SolverRow {
    /// Unique, for command lines and reports.
    pub name: &'static str,
    /// Paper.
    pub source: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Which smoothness its step size goes with.
    pub step: StepRule,
    /// Whether its steps are drawn: other seeds lead to other iterates.
    pub random: bool,
    /// Whether steps follow the mean of many components, or do so after a while. They may then be longer than
    /// steps along single components.
    pub averages_components: bool,
    /// Whether the iterate is refitted on its support, which for other losses than least squares copies the
    /// columns of each new support.
    pub refits: bool,
    /// Whether the support settles on rows of which few share an attribute. Where steps look at single rows
    /// alone, it keeps being replaced by that of the last rows.
    pub settles_on_sparse_rows: bool,
    /// The solver for sums of a shape.
    pub build: Build,
}

/// Which smoothness constant a step size goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// None: the solver finds its own steps from the curvature that it sees.
    Own,
    /// `L` of the mean f: up to `1/L`. It lies below [`component_smoothness`], often four times and more, so
    /// that steps of `1/component_smoothness` converge, but slowly. Where `L` is not known, take the solver
    /// with normalized steps.
    ///
    /// [`component_smoothness`]: lao_finite_sum::FiniteSum::component_smoothness
    Mean,
    /// `L` of the single components: up to `1/component_smoothness()`.
    Component,
}

impl StepRule {
    /// The largest step size that makes sense, in words.
    pub fn words(self) -> &'static str {
        match self {
            StepRule::Own => "its own",
            StepRule::Mean => "to 1/L, L of the mean",
            StepRule::Component => "to 1/L, L of a component",
        }
    }
}

/// What goes for a solver unless its row says otherwise.
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

/// All solvers.
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

/// Finds a solver by name.
pub fn solver(name: &str) -> Option<&'static SolverRow> {
    SOLVERS.iter().find(|row| row.name == name)
}

fn boxed<S: Solver + 'static>(solver: Result<S, ParamError>) -> Result<Box<dyn Solver>, ParamError> {
    Ok(Box::new(solver?))
}

/// As [`boxed`], for a solver that goes on without the task's step size.
fn checked<S: Solver + 'static>(
    task: &SolverTask,
    solver: Result<S, ParamError>,
) -> Result<Box<dyn Solver>, ParamError> {
    require_step(GD, task.step_size)?;
    boxed(solver)
}
