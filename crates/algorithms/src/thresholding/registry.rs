//! Every solver of finite sums, by name: tests, benches and reports go over [`SOLVERS`].

use super::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, Solver, SvrgParams, gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_finite_sum::{FiniteSum, Predictor};

/// What every solver is told; the rest is its practical choice.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; see [`SolverRow::step`] for the smoothness that it goes with. Solvers that choose their own steps check it and go on
    /// without.
    pub step_size: f64,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

/// Makes a solver for a sum.
pub type Build = fn(&FiniteSum, &SolverTask) -> Result<Box<dyn Solver>, ParamError>;

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
    /// The solver for a sum.
    pub build: Build,
}

/// Which smoothness constant a step size goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// None: the solver finds its own steps from the curvature that it sees.
    Own,
    /// `L` of the mean f: up to `1/L`. It lies below that of the components, [`FiniteSum::component_smoothness`], often four times and
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
        build: |sum, task| gd(sum, task, GdStep::Fixed(task.step_size), false),
    },
    SolverRow {
        name: "gd-ht-normalised",
        source: "Blumensath & Davies 2010",
        summary: "Full-gradient steps as long as the curvature allows.",
        step: StepRule::Own,
        random: false,
        build: |sum, task| gd(sum, task, GdStep::Normalized, false),
    },
    SolverRow {
        name: "htp",
        source: "Foucart 2011",
        summary: "Full-gradient steps, each with a refit on the support found.",
        step: StepRule::Own,
        random: false,
        build: |sum, task| gd(sum, task, GdStep::Normalized, true),
    },
    SolverRow {
        name: "sg-ht",
        source: "Nguyen, Needell & Woolf 2017",
        summary: "Steps along the gradient of one random component.",
        step: StepRule::Component,
        random: true,
        build: |sum, task| {
            let params = SgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(SgParams { start: task.start.clone(), ..params }.build(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "hsg-ht",
        source: "Zhou, Yuan & Feng 2018",
        summary: "Steps along the gradient of random batches that grow geometrically.",
        step: StepRule::Component,
        random: true,
        build: |sum, task| {
            let params = HsgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(HsgParams { start: task.start.clone(), ..params }.build(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "svrg-ht",
        source: "Li et al. 2016",
        summary: "Variance-reduced steps around the full gradient at a snapshot.",
        step: StepRule::Component,
        random: true,
        build: |sum, task| {
            let params = SvrgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(SvrgParams { start: task.start.clone(), ..params }.build(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "scsg-ht-i",
        source: "Liang et al. 2020, Algorithm 1, option I",
        summary: "Variance-reduced steps around a batch gradient, epochs of geometric length.",
        step: StepRule::Component,
        random: true,
        build: |sum, task| scsg(sum, task, EpochLength::Geometric),
    },
    SolverRow {
        name: "scsg-ht-ii",
        source: "Liang et al. 2020, Algorithm 1, option II",
        summary: "Variance-reduced steps around a batch gradient, epochs of B/b steps.",
        step: StepRule::Component,
        random: true,
        build: |sum, task| scsg(sum, task, EpochLength::Ratio),
    },
];

/// Finds a solver by name.
pub fn solver(name: &str) -> Option<&'static SolverRow> {
    SOLVERS.iter().find(|row| row.name == name)
}

fn gd(sum: &FiniteSum, task: &SolverTask, step: GdStep, refit: bool) -> Result<Box<dyn Solver>, ParamError> {
    require_step(GD, task.step_size)?;
    let SolverTask { sparsity, ref start, .. } = *task;
    Ok(Box::new(GdParams { sparsity, step, refit, start: start.clone() }.build(Shape::of(sum))?))
}

fn scsg(sum: &FiniteSum, task: &SolverTask, length: EpochLength) -> Result<Box<dyn Solver>, ParamError> {
    let params = ScsgParams::practical(sum, task.sparsity, task.step_size);
    let params = ScsgParams { length, start: task.start.clone(), ..params };
    Ok(Box::new(params.build(Shape::of(sum))?))
}
