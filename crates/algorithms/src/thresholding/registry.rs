//! Every solver of finite sums, by name: tests, benches and reports go over [`SOLVERS`].

use super::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, Solver, SvrgParams, gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_observation::{FiniteSum, Predictor};

/// What every solver is told; the rest is its practical choice.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; solvers that choose their own steps check it and go on without.
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
    /// Whether its steps are drawn: other seeds lead to other iterates.
    pub random: bool,
    /// The solver for a sum.
    pub build: Build,
}

/// All solvers.
pub const SOLVERS: &[SolverRow] = &[
    SolverRow {
        name: "gd-ht",
        source: "Jain, Tewari & Kar 2014",
        summary: "Full-gradient steps of one length.",
        random: false,
        build: |sum, task| gd(sum, task, GdStep::Fixed(task.step_size), false),
    },
    SolverRow {
        name: "gd-ht-normalised",
        source: "Blumensath & Davies 2010",
        summary: "Full-gradient steps as long as the curvature allows.",
        random: false,
        build: |sum, task| gd(sum, task, GdStep::Normalised, false),
    },
    SolverRow {
        name: "htp",
        source: "Foucart 2011",
        summary: "Full-gradient steps, each with a refit on the support found.",
        random: false,
        build: |sum, task| gd(sum, task, GdStep::Normalised, true),
    },
    SolverRow {
        name: "sg-ht",
        source: "Nguyen, Needell & Woolf 2017",
        summary: "Steps along the gradient of one random component.",
        random: true,
        build: |sum, task| {
            let params = SgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(SgParams { start: task.start.clone(), ..params }.check(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "hsg-ht",
        source: "Zhou, Yuan & Feng 2018",
        summary: "Steps along the gradient of random batches that grow geometrically.",
        random: true,
        build: |sum, task| {
            let params = HsgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(HsgParams { start: task.start.clone(), ..params }.check(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "svrg-ht",
        source: "Li et al. 2016",
        summary: "Variance-reduced steps around the full gradient at a snapshot.",
        random: true,
        build: |sum, task| {
            let params = SvrgParams::practical(sum, task.sparsity, task.step_size);
            Ok(Box::new(SvrgParams { start: task.start.clone(), ..params }.check(Shape::of(sum))?))
        },
    },
    SolverRow {
        name: "scsg-ht-i",
        source: "Liang et al. 2020, Algorithm 1, option I",
        summary: "Variance-reduced steps around a batch gradient, epochs of geometric length.",
        random: true,
        build: |sum, task| scsg(sum, task, EpochLength::Geometric),
    },
    SolverRow {
        name: "scsg-ht-ii",
        source: "Liang et al. 2020, Algorithm 1, option II",
        summary: "Variance-reduced steps around a batch gradient, epochs of B/b steps.",
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
    Ok(Box::new(GdParams { sparsity, step, refit, start: start.clone() }.check(Shape::of(sum))?))
}

fn scsg(sum: &FiniteSum, task: &SolverTask, length: EpochLength) -> Result<Box<dyn Solver>, ParamError> {
    let params = ScsgParams::practical(sum, task.sparsity, task.step_size);
    let params = ScsgParams { length, start: task.start.clone(), ..params };
    Ok(Box::new(params.check(Shape::of(sum))?))
}
