//! Every solver of finite sums, by name: tests, benches and reports go over [`SOLVERS`].

use super::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, Solver, SvrgParams, gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_finite_sum::Predictor;

/// What every solver is told; the rest is its practical choice. The sparsity has no default that works, and the step
/// size only for solvers that choose their own steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; see [`SolverRow::step`] for the smoothness that it goes with. Solvers that choose their own steps check it and go on
    /// without.
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
    /// The solver for sums of a shape.
    pub build: Build,
}

/// Which smoothness constant a step size goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// None: the solver finds its own steps from the curvature that it sees.
    Own,
    /// `L` of the mean f: up to `1/L`. It lies below that of the components, [`FiniteSum::component_smoothness`](lao_finite_sum::FiniteSum::component_smoothness), often four times and
    /// more, so `1/component_smoothness` converges but slowly. Where `L` is not known, take the solver with normalized steps.
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

/// All solvers.
pub const SOLVERS: &[SolverRow] = &[
    SolverRow {
        name: "gd-ht",
        source: "Jain, Tewari & Kar 2014",
        summary: "Full-gradient steps of one length.",
        step: StepRule::Mean,
        random: false,
        build: |shape, task| gd(shape, task, GdStep::Fixed(task.step_size), false),
    },
    SolverRow {
        name: "gd-ht-normalised",
        source: "Blumensath & Davies 2010",
        summary: "Full-gradient steps as long as the curvature allows.",
        step: StepRule::Own,
        random: false,
        build: |shape, task| gd(shape, task, GdStep::Normalized, false),
    },
    SolverRow {
        name: "htp",
        source: "Foucart 2011",
        summary: "Full-gradient steps, each with a refit on the support found.",
        step: StepRule::Own,
        random: false,
        build: |shape, task| gd(shape, task, GdStep::Normalized, true),
    },
    SolverRow {
        name: "sg-ht",
        source: "Nguyen, Needell & Woolf 2017",
        summary: "Steps along the gradient of one random component.",
        step: StepRule::Component,
        random: true,
        build: |shape, task| Ok(Box::new(SgParams::practical(task).build(shape)?)),
    },
    SolverRow {
        name: "hsg-ht",
        source: "Zhou, Yuan & Feng 2018",
        summary: "Steps along the gradient of random batches that grow geometrically.",
        step: StepRule::Component,
        random: true,
        build: |shape, task| Ok(Box::new(HsgParams::practical(task).build(shape)?)),
    },
    SolverRow {
        name: "svrg-ht",
        source: "Li et al. 2016",
        summary: "Variance-reduced steps around the full gradient at a snapshot.",
        step: StepRule::Component,
        random: true,
        build: |shape, task| Ok(Box::new(SvrgParams::practical(shape, task).build(shape)?)),
    },
    SolverRow {
        name: "scsg-ht-i",
        source: "Liang et al. 2020, Algorithm 1, option I",
        summary: "Variance-reduced steps around a batch gradient, epochs of geometric length.",
        step: StepRule::Component,
        random: true,
        build: |shape, task| scsg(shape, task, EpochLength::Geometric),
    },
    SolverRow {
        name: "scsg-ht-ii",
        source: "Liang et al. 2020, Algorithm 1, option II",
        summary: "Variance-reduced steps around a batch gradient, epochs of B/b steps.",
        step: StepRule::Component,
        random: true,
        build: |shape, task| scsg(shape, task, EpochLength::Ratio),
    },
];

/// Finds a solver by name.
pub fn solver(name: &str) -> Option<&'static SolverRow> {
    SOLVERS.iter().find(|row| row.name == name)
}

fn gd(shape: Shape, task: &SolverTask, step: GdStep, refit: bool) -> Result<Box<dyn Solver>, ParamError> {
    require_step(GD, task.step_size)?;
    Ok(Box::new(GdParams { step, refit, ..GdParams::practical(task) }.build(shape)?))
}

fn scsg(shape: Shape, task: &SolverTask, length: EpochLength) -> Result<Box<dyn Solver>, ParamError> {
    Ok(Box::new(ScsgParams { length, ..ScsgParams::practical(shape, task) }.build(shape)?))
}
