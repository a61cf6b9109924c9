//! The registry of the solvers of finite sums: tests, benches and reports iterate over [`SOLVERS`].

use super::{
    AutoParams, EpochLength, ExchangeParams, GdParams, HsgParams, Pruned, ScsgParams, SgParams, Shape,
    Solver, SvrgParams, gd::NAME as GD,
};
use crate::params::{ParamError, require_step};
use lao_finite_sum::Predictor;

/// What a user knows before a run; a solver's other parameters have practical values. The sparsity has no
/// default that works and must be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverTask {
    /// `k`, non-zeros kept per output.
    pub sparsity: usize,
    /// `eta`; see [`SolverRow::step`] for the smoothness that bounds it. Without it, a solver chooses step
    /// sizes for itself, and the stochastic ones also [their batches](super::auto). Rows of solvers that
    /// always do so check a step size, but do not use it.
    pub step_size: Option<f64>,
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
    /// The smoothness constant that bounds a given step size.
    pub step: StepRule,
    /// Whether steps are drawn at random, so that other seeds lead to other iterates.
    pub random: bool,
    /// Whether steps follow the mean of many components, at least after a while. Such steps may be longer
    /// than steps along single components.
    pub averages_components: bool,
    /// Whether the iterate is refitted on its support. For losses other than least squares, a refit copies
    /// the columns of each new support.
    pub refits: bool,
    /// Whether the solver runs with more attributes than are wanted, and is then [pruned](super::pruned),
    /// which copies the columns of its support.
    pub prunes: bool,
    /// Whether the support settles even if few rows share an attribute. A solver whose steps look at single
    /// rows alone keeps replacing its support by that of the last rows.
    pub settles_on_sparse_rows: bool,
    /// Builds the solver for sums of a shape.
    pub build: Build,
}

/// The smoothness constant that bounds a given step size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// None: the solver always computes its own steps from the curvature.
    Own,
    /// `L` of the mean f: step sizes go up to `1/L`. This `L` is smaller than [`component_smoothness`], often
    /// by a factor of four or more, so that steps of `1/component_smoothness` converge, but slowly.
    ///
    /// [`component_smoothness`]: lao_finite_sum::FiniteSum::component_smoothness
    Mean,
    /// `L` of the single components: step sizes go up to `1/component_smoothness()`.
    Component,
}

impl StepRule {
    /// Returns where the step size comes from, in words, and the largest useful one if it is given.
    pub fn words(self) -> &'static str {
        match self {
            StepRule::Own => "its own",
            StepRule::Mean => "its own, or up to 1/L, L of the mean",
            StepRule::Component => "its own, or up to 1/L, L of a component",
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
    prunes: false,
    settles_on_sparse_rows: true,
    build: sg,
};

/// The defaults of a row whose solver is pruned from a multiple of the sparsity.
const PRUNED: SolverRow = SolverRow { refits: true, prunes: true, ..SOLVER };

/// The multiple of the sparsity from which the stochastic solvers are pruned, and the others.
const FROM: [usize; 2] = [8, 2];

/// What the solvers do that choose their parameters: the part of the components with which batches begin, and
/// their growth.
const SCSG: [f64; 2] = [0.25, 1.5];
const SVRG: [f64; 2] = [1.0, 1.0];
const SG: [f64; 2] = [0.5, 1.0];
const HSG: [f64; 2] = [0.1, 1.5];

type Built = Result<Box<dyn Solver>, ParamError>;

fn sg(shape: Shape, task: &SolverTask) -> Built {
    match task.step_size {
        Some(step_size) => boxed(SgParams::practical(task, step_size).build(shape)),
        None => boxed(AutoParams::of_part(shape, task, SG).hsg(shape)),
    }
}

fn hsg(shape: Shape, task: &SolverTask) -> Built {
    match task.step_size {
        Some(step_size) => boxed(HsgParams::practical(task, step_size).build(shape)),
        None => boxed(AutoParams::of_part(shape, task, HSG).hsg(shape)),
    }
}

fn svrg(shape: Shape, task: &SolverTask, wanted: usize) -> Built {
    match task.step_size {
        Some(step_size) => boxed(SvrgParams::practical(shape, task, step_size).build(shape)),
        None => {
            let params = AutoParams { wanted, ..AutoParams::of_part(shape, task, SVRG) };
            boxed(params.scsg(shape, EpochLength::Ratio))
        }
    }
}

fn scsg(shape: Shape, task: &SolverTask, wanted: usize, length: EpochLength) -> Built {
    match task.step_size {
        Some(step_size) => {
            boxed(ScsgParams { length, ..ScsgParams::practical(shape, task, step_size) }.build(shape))
        }
        None => {
            let params = AutoParams { wanted, ..AutoParams::of_part(shape, task, SCSG) };
            boxed(params.scsg(shape, length))
        }
    }
}

fn scsg_i(shape: Shape, task: &SolverTask, wanted: usize) -> Built {
    scsg(shape, task, wanted, EpochLength::Geometric)
}

fn scsg_ii(shape: Shape, task: &SolverTask, wanted: usize) -> Built {
    scsg(shape, task, wanted, EpochLength::Ratio)
}

fn restarting(pruned: Result<Pruned, ParamError>) -> Built {
    boxed(pruned.map(Pruned::restarting))
}

fn htp(shape: Shape, task: &SolverTask) -> Built {
    checked(task, GdParams::practical(task).build(shape))
}

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
/// let task = SolverTask { sparsity: 1, ..SolverTask::default() };
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
        build: |shape, task| boxed(GdParams::plain(task).build(shape)),
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
        build: htp,
        ..SOLVER
    },
    SolverRow {
        name: "htp-pruned",
        source: "this project, after Foucart 2011",
        summary: "HTP with twice as many attributes, pruned.",
        step: StepRule::Own,
        random: false,
        averages_components: true,
        build: |shape, task| boxed(Pruned::new(shape, task, FROM[1], |shape, task, _| htp(shape, task))),
        ..PRUNED
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
        summary: "Steps along the gradient of random batches: of half the rows, or of one.",
        settles_on_sparse_rows: false,
        build: sg,
        ..SOLVER
    },
    SolverRow {
        name: "hsg-ht",
        source: "Zhou, Yuan & Feng 2018",
        summary: "Steps along the gradient of random batches that grow geometrically.",
        averages_components: true,
        build: hsg,
        ..SOLVER
    },
    SolverRow {
        name: "svrg-ht",
        source: "Li et al. 2016",
        summary: "Variance-reduced steps around the full gradient at a snapshot.",
        build: |shape, task| svrg(shape, task, task.sparsity),
        ..SOLVER
    },
    SolverRow {
        name: "scsg-ht-i",
        source: "Liang et al. 2020, Algorithm 1, option I",
        summary: "Variance-reduced steps around a batch gradient, epochs of geometric length.",
        build: |shape, task| scsg_i(shape, task, task.sparsity),
        ..SOLVER
    },
    SolverRow {
        name: "scsg-ht-ii",
        source: "Liang et al. 2020, Algorithm 1, option II",
        summary: "Variance-reduced steps around a batch gradient, epochs of B/b steps.",
        build: |shape, task| scsg_ii(shape, task, task.sparsity),
        ..SOLVER
    },
    SolverRow {
        name: "sg-ht-pruned",
        source: "this project, after Nguyen, Needell & Woolf 2017",
        summary: "SG-HT with eight times as many attributes, pruned, with restarts.",
        settles_on_sparse_rows: false,
        build: |shape, task| restarting(Pruned::new(shape, task, FROM[0], |shape, task, _| sg(shape, task))),
        ..PRUNED
    },
    SolverRow {
        name: "hsg-ht-pruned",
        source: "this project, after Zhou, Yuan & Feng 2018",
        summary: "HSG-HT with eight times as many attributes, pruned, with restarts.",
        averages_components: true,
        build: |shape, task| restarting(Pruned::new(shape, task, FROM[0], |shape, task, _| hsg(shape, task))),
        ..PRUNED
    },
    SolverRow {
        name: "svrg-ht-pruned",
        source: "this project, after Li et al. 2016",
        summary: "SVRG-HT with eight times as many attributes, pruned, with restarts.",
        build: |shape, task| restarting(Pruned::new(shape, task, FROM[0], svrg)),
        ..PRUNED
    },
    SolverRow {
        name: "scsg-ht-i-pruned",
        source: "this project, after Liang et al. 2020",
        summary: "SCSG-HT I with eight times as many attributes, pruned, with restarts.",
        build: |shape, task| restarting(Pruned::new(shape, task, FROM[0], scsg_i)),
        ..PRUNED
    },
    SolverRow {
        name: "scsg-ht-ii-pruned",
        source: "this project, after Liang et al. 2020",
        summary: "SCSG-HT II with eight times as many attributes, pruned, with restarts.",
        build: |shape, task| restarting(Pruned::new(shape, task, FROM[0], scsg_ii)),
        ..PRUNED
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
    task.step_size.map_or(Ok(()), |step_size| require_step(GD, step_size))?;
    boxed(solver)
}
