//! The regret of Algorithm 1 grows like the square root of the rounds, or slower.
//!
//! *Statement.* `E R_T = O(d/(k' - k) sqrt T)` by Theorem 2. Where V has no small eigenvalue the truth is
//! better, like a logarithm: the noise of the gradient estimates is of the size of the step, and their mean
//! is not.
//!
//! *Mutants.* Both leave a regret that is linear. With `k_1 = k - 1`, the feature that is not kept is missing
//! in two rounds of three.

use super::table2::CONTEST;
use crate::setup::contest::Method;
use crate::setup::regret::{Race, judge_exponent, marks, mean_at, shown};
use lao_datasets::adversarial::ito::gauss_spread;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series};

const KEEPS_ONE_FEATURE_LESS: Mutant =
    Mutant::refuted("keeps_one_feature_less", "k_1 = k - 1: a relevant feature is missing in most rounds");
const ONLY_THE_LARGEST_WEIGHTS: Mutant =
    Mutant::refuted("only_the_largest_weights", "observes the largest weights and nothing beside them");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (runs, last) = (cx.size("runs")?, cx.size("rounds")?);
    let mut contest = CONTEST;
    if cx.commits(&KEEPS_ONE_FEATURE_LESS) {
        contest.kept = 1;
    }
    let method = if cx.commits(&ONLY_THE_LARGEST_WEIGHTS) { Method::Greedy } else { Method::A1 };
    let marks = marks(512, last, 2 * (last / 512).ilog2() as usize + 1);
    let curves = shown(cx, "runs", runs, |trial, views| {
        let mut data = gauss_spread(contest.dim, contest.sparsity, 1.0, &trial.seed.child("data"))?;
        let star = data.theta_star().to_owned_vector();
        let race = Race::new(&mut data, star.view(), marks.clone())?;
        let mut learner = contest.learner(method, 0.0)?;
        race.regrets(learner.as_mut(), contest.budget, &trial.seed.child("algorithm"), views, |_| {})
    })?;
    let grid: Vec<f64> = marks.iter().map(|&mark| mark as f64).collect();
    let slopes = judge_exponent(cx, "exponent of the mean regret", (0.5, 0.1), &grid, &curves);
    if let Some(slopes) = slopes {
        cx.note("exponent, mean of the blocks", slopes.iter().sum::<f64>() / slopes.len() as f64);
        cx.rate("exponent of the regret, A1", Direction::Larger, slopes);
    }
    let points: Vec<[f64; 2]> =
        grid.iter().enumerate().map(|(k, &mark)| [mark, mean_at(&curves, k)]).collect();
    let anchor = points[0][1];
    let root = grid.iter().map(|mark| [*mark, anchor * (mark / grid[0]).sqrt()]).collect();
    cx.figure(Figure {
        caption: "(d, k, k') = (10, 2, 4): mean regret of Algorithm 1 against rounds.".into(),
        x: Axis::log("rounds"),
        y: Axis::log("mean regret against w*"),
        series: vec![Series::line("A1", points), Series::bound("square root", root)],
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-alg1-exponent",
    place: "Theorem 2, rate in T",
    sentence: "With practical constants the regret of Algorithm 1 grows at most like the square root of the \
               number of rounds.",
    formula: r"\mathbb{E} R_T = O(T^{p}), \qquad p \le 1/2",
    design: "(d, k, k') = (10, 2, 4), k_1 = 2, generator and constants of ito17-table2, lambda_t = 16 sqrt t \
             at any time. Regret at eleven marks, half of them to the octave (more in the full tier); means \
             over blocks of five runs give one slope each. Exponents of at most .5, with a margin of .1.",
    standing: Standing::sound().practical().learns(),
    mutants: &[KEEPS_ONE_FEATURE_LESS, ONLY_THE_LARGEST_WEIGHTS],
    experiment,
};
