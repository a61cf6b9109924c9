//! Table 1, Lasso: AELR needs a number of examples of the order of `d log(d)/(k eps^2)`.
//!
//! *Constant.* This is Theorem 3.4 solved for m: `160 B^4 d log(2d)/(k eps^2)`.
//!
//! *Reported, not judged.* In the full tier, the number of examples until the excess on independent signs is
//! half of the zero predictor's, over `log(2d)`. Half is reached when the good weight is of the order of all
//! the others together, `u = log(0.4 d)` rather than `log(2d)`, so over d = 8 to 64 its exponent is near 1.3,
//! and falls slowly towards 1.
//!
//! *Mutants.* For each grid the number of examples of a mutant depends on the parameter in another way. The
//! mutant for eps leaves out both powers of eps, because the quick tier, which has no grid in eps, must
//! notice it as well: at eps = .4 the mutant has .16 of the examples, too few for the level of the excess.
//!
//! *No mutant.* Using only one of the k draws: what is left of the excess at these sizes is the time that the
//! weight takes to grow, and not noise.

use crate::setup::problem::{Problem, Run};
use crate::setup::scaling::{self, Grid, Sharing, least};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, mutants};
use lao_verification_engine::context::{Context, View};
use lao_verification_engine::judge::slope::{Exponent, SlopeJudge};

/// `m k eps^2/(d log(2d))` of the collapse.
const EXAMPLES: f64 = 160.0;
/// Half of the zero predictor's excess on the signs.
const HALF: f64 = 0.09;
/// Of the excess over eps, half way from what AELR had in an earlier run, .20, to the .5 of the predictor
/// zero.
const LEVEL: f64 = 0.35;

/// What an arm changes: m grows like these powers of d (from 4 on) and of k.
#[derive(Clone, Copy)]
struct Arm {
    power_of_dim: f64,
    power_of_draws: f64,
    /// Whether m does not depend on eps.
    forgets_eps: bool,
    /// A factor of the step size.
    step: f64,
}

/// One grid point: the problem, its eps, and `k`.
struct Point {
    problem: Problem,
    eps: f64,
    draws: usize,
}

impl Point {
    fn rare(dim: usize, eps: f64, draws: usize) -> anyhow::Result<Point> {
        Ok(Point { problem: Problem::rare(dim, eps)?, eps, draws })
    }

    fn signs(dim: usize, draws: usize) -> anyhow::Result<Point> {
        Ok(Point { problem: Problem::signs(dim, 1.0)?, eps: 1.0, draws })
    }

    /// Excess over eps of one run at `m = scale d log(2d)/(k eps^2)`, in each view.
    fn excess(&self, scale: f64, arm: Arm, views: &[View], seed: &Seed) -> anyhow::Result<Vec<f64>> {
        let dim = 4.0 * (self.problem.dim as f64 / 4.0).powf(arm.power_of_dim);
        let draws = (self.draws as f64).powf(arm.power_of_draws);
        let eps = if arm.forgets_eps { 1.0 } else { self.eps };
        let examples = (scale * dim * (2.0 * dim).ln() / (draws * eps * eps)).ceil() as u64;
        let run = Run { step: arm.step, ..Run::new(self.draws, examples) };
        let all = self.problem.lasso_in_views(&run, views, seed)?;
        Ok(all.iter().map(|w| self.problem.excess(w) / self.eps).collect())
    }

    /// The least m at which one run has half the excess of zero, over `log(2d)`.
    fn needed(&self, arm: Arm, seed: &Seed) -> anyhow::Result<f64> {
        let scale = least(8.0, 1.05, |scale| Ok(self.excess(scale, arm, &[None], seed)?[0] <= HALF))?;
        Ok(scale * self.problem.dim as f64 / self.draws as f64)
    }
}

fn grid<'a>(
    (name, variable): (&'static str, &'static str),
    x: Vec<f64>,
    points: impl Iterator<Item = anyhow::Result<Point>>,
    measure: impl Fn(&Point, &Seed, &[View]) -> anyhow::Result<Vec<f64>> + Sync + 'a,
) -> anyhow::Result<Grid<'a>> {
    let points = points.collect::<anyhow::Result<Vec<Point>>>()?;
    let measure = Box::new(move |i: usize, seed: &Seed, views: &[View]| measure(&points[i], seed, views));
    let judge = Some(SlopeJudge::new(Exponent::AtMost(0.0), 0.1));
    Ok(Grid { name, variable, x, measure, judge, level: Some(LEVEL), sharing: Sharing::Views })
}

/// Which grids are measured.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// Those of the quick tier.
    Quick,
    /// Those of the full tier that are judged.
    Judged,
    /// Those of the full tier, with the one that is reported only.
    All,
}

fn grids(arm: Arm, extent: Extent) -> anyhow::Result<Vec<Grid<'static>>> {
    let more = extent != Extent::Quick;
    let dims: &[usize] = if more { &[4, 8, 16, 32, 64, 128] } else { &[4, 8, 16, 32, 64] };
    let (draws, epses) = ([1, 2, 4, 8, 16], [0.8, 0.4, 0.2, 0.1]);
    let floats = |x: &[usize]| x.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    let collapsed =
        move |point: &Point, seed: &Seed, views: &[View]| point.excess(EXAMPLES, arm, views, seed);
    let in_k = draws.iter().map(|&k| Point::rare(16, 0.4, k));
    let in_d = dims.iter().map(|&d| Point::rare(d, 0.4, 4));
    let in_k =
        grid(("excess/eps at m = 160 d log(2d)/(k eps^2), in k", "k"), floats(&draws), in_k, collapsed)?;
    let in_d = grid(("excess/eps at m = 160 d log(2d)/(k eps^2), in d", "d"), floats(dims), in_d, collapsed)?;
    // A fault in d or k bends the exponent in that parameter alone.
    let bends = (arm.power_of_draws != SOUND.power_of_draws, arm.power_of_dim != SOUND.power_of_dim);
    let mut all = match bends {
        (true, false) => return Ok(vec![in_k]),
        (false, true) => return Ok(vec![in_d]),
        _ => vec![in_k, in_d],
    };
    if more {
        let inverse = epses.iter().map(|eps| 1.0 / eps).collect();
        let in_eps = epses.iter().map(|&eps| Point::rare(8, eps, 8));
        let name = ("excess/eps at m = 160 d log(2d)/(k eps^2), in 1/eps", "1/eps");
        all.push(grid(name, inverse, in_eps, collapsed)?);
    }
    if extent == Extent::All {
        let signs = dims[1..].iter().map(|&d| Point::signs(d, 8));
        let count = move |point: &Point, seed: &Seed, _: &[View]| Ok(vec![point.needed(arm, seed)?]);
        let name = ("examples until half of the excess, over log(2d)", "d");
        // The honest arm alone has this one.
        let (judge, level, sharing) = (None, None, Sharing::Nobody);
        all.push(Grid { judge, level, sharing, ..grid(name, floats(&dims[1..]), signs, count)? });
    }
    Ok(all)
}

const SOUND: Arm = Arm { power_of_dim: 1.0, power_of_draws: 1.0, forgets_eps: false, step: 1.0 };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted(
        "examples_grow_like_the_root_of_d",
        "takes 2 d^(1/2) in the place of d",
        Arm { power_of_dim: 0.5, ..SOUND },
    ),
    Fault::refuted(
        "examples_shrink_too_fast_with_k",
        "divides by k^(3/2)",
        Arm { power_of_draws: 1.5, ..SOUND },
    ),
    Fault::refuted(
        "examples_do_not_grow_with_1_over_eps",
        "leaves out the division by eps^2",
        Arm { forgets_eps: true, ..SOUND },
    ),
    Fault::refuted(
        "a_hundredth_of_the_step",
        "AELR with a hundredth of its step size",
        Arm { step: 0.01, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let arm = cx.arm(SOUND, &FAULTS);
    let extent = match cx.size("more")? {
        0 => Extent::Quick,
        _ if cx.honest() => Extent::All,
        _ => Extent::Judged,
    };
    let grids = grids(arm, extent)?;
    cx.split(if extent == Extent::Quick { 4 } else { 6 });
    // What a learner keeps that hardly moves has next to no spread.
    let replicates = cx.size("replicates")? / if arm.step < SOUND.step { 2 } else { 1 };
    scaling::judge(cx, &grids, replicates)
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "excess/eps at m",
    why: "an excess that stays where it was has the exponent 0, too; the cell on its level is for this",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-table1-lasso",
    place: "Table 1, Lasso",
    sentence: "AELR needs a number of examples that is d log(d) up to a constant, and inversely proportional \
               to k and to eps^2.",
    formula: r"m = O\!\left( \frac{d \log d}{k \epsilon^2} \right)",
    design: "Rare attributes: the predictor is e_1, attributes are non-zero with probability eps, and the \
             zero predictor is eps/2 too bad. At m = 160 d log(2d)/(k eps^2) and the theorem's step size the \
             bound is eps in every setting, so excess/eps must not grow with d or k, nor, in the full tier, \
             with 1/eps (exponent at most 0.1). A learner that hardly moves has exponent 0 too, so at the \
             largest k and d the excess is at most .35 eps as well. One slope per replicate.",
    standing: Standing::sound().literal().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};
