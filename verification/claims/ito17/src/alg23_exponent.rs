//! The regret of Algorithms 2 and 3 grows like the square root of the rounds, or slower.
//!
//! *Statement.* Theorems 6 and 7 give `E R_T = O(sqrt T)` with k' = k, but their bounds say nothing below
//! `T = 10^18`; what can be seen is the exponent with practical constants.
//!
//! *Mutants.* Both leave a regret that is linear: one freezes the set after round 100, the other never leaves
//! the features that it begins with.

use super::table2::CONTEST;
use crate::setup::contest::Method;
use crate::setup::regret::{Race, judge_exponent, marks, mean_at, shown};
use crate::setup::watched::{self, Exploration, Silenced};
use lao_datasets::adversarial::ito::gauss_spread;
use lao_verification_engine::claim::{Claim, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series};

/// Rounds before the burn-in is over.
const BURNT_IN: u64 = 2000;

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (runs, last) = (cx.size("runs")?, cx.size("rounds")?);
    let fault = cx.fault(&watched::FAULTS);
    let (silent, greedy) = (fault == Some(Exploration::Frozen), fault == Some(Exploration::Greedy));
    let mut contest = CONTEST;
    if greedy {
        contest.scales.online = contest.scales.exploit;
    }
    let marks = marks(512, last, 2 * (last / 512).ilog2() as usize + 1);
    // Where exploration is frozen the exponents of A2 differ more: A3 is refuted sooner, and both are where
    // the sets come from the predicting weights.
    let methods: &[Method] = if silent { &[Method::A3] } else { &[Method::A2, Method::A3] };
    let all = shown(cx, "runs", runs, |trial, views| {
        let data = gauss_spread(CONTEST.dim, CONTEST.sparsity, 1.0, &trial.seed.child("data"))?;
        let star = data.theta_star().to_owned_vector();
        let after = if silent { 100 } else { u64::MAX };
        let race = Race::new(&mut Silenced { inner: data, after }, star.view(), marks.clone())?;
        let curve = |method: &Method| {
            // The greedy method is Algorithm 2 or 3 with sets from its own predicting weights.
            let played = if greedy { Method::Greedy } else { *method };
            let seed = trial.seed.child("algorithm").child(method.name());
            race.regrets(contest.learner(played, 0.0)?.as_mut(), contest.budget, &seed, views, |_| {})
        };
        let of_methods = methods.iter().map(curve).collect::<anyhow::Result<Vec<Vec<Vec<f64>>>>>()?;
        let of_view = |view: usize| of_methods.iter().map(|curves| curves[view].clone()).collect();
        Ok((0..views.len()).map(of_view).collect::<Vec<Vec<Vec<f64>>>>())
    })?;
    cx.split(2);
    let from = marks.partition_point(|&mark| mark < BURNT_IN);
    let grid: Vec<f64> = marks.iter().map(|&mark| mark as f64).collect();
    let mut series = Vec::new();
    for (i, method) in methods.iter().enumerate() {
        let name = method.name();
        let curves: Vec<Vec<f64>> = all.iter().map(|run| run[i].clone()).collect();
        let cell = format!("{name}: exponent of the mean regret");
        if let Some(slopes) = judge_exponent(cx, &cell, (0.5, 0.1), &grid[from..], &curves) {
            cx.note(
                &format!("{name}: exponent, mean of the blocks"),
                slopes.iter().sum::<f64>() / slopes.len() as f64,
            );
            cx.rate(&format!("exponent of the regret, {name}"), Direction::Larger, slopes);
        }
        let mut ends: Vec<f64> = curves.iter().map(|curve| curve[curve.len() - 1]).collect();
        ends.sort_by(f64::total_cmp);
        cx.note(&format!("{name}: last regret, mean"), mean_at(&curves, grid.len() - 1));
        cx.note(&format!("{name}: last regret, median"), ends[ends.len() / 2]);
        let points = grid.iter().enumerate().map(|(k, &mark)| [mark, mean_at(&curves, k)]);
        series.push(Series::line(name, points.collect()));
    }
    let anchor = series[0].points[0][1];
    let root = grid.iter().map(|mark| [*mark, anchor * (mark / grid[0]).sqrt()]);
    series.push(Series::bound("square root", root.collect()));
    cx.figure(Figure {
        caption: "(d, k, k') = (10, 2, 4): mean regret against rounds.".into(),
        x: Axis::log("rounds"),
        y: Axis::log("mean regret against w*"),
        series,
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-alg23-exponent",
    place: "Theorems 6 and 7, rate in T",
    sentence: "With practical constants the regret of Algorithms 2 and 3 grows at most like the square root \
               of the number of rounds.",
    formula: r"\mathbb{E} R_T = O(T^{p}), \qquad p \le 1/2",
    design: "d = 10, k = 2, k' = 4, standard normal attributes, weights and constants as in ito17-table2. \
             Each run gives the regret at eight marks, half of them to the octave; the means over blocks of \
             five runs give one slope each. Exponents of at most .5, with a margin of .1, beyond the burn-in \
             of 2000 rounds. One run's regret has a spread as large as its mean, since a small weight may be \
             found late: hence means over blocks, and the median is reported. The slopes are tested by t.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&watched::FAULTS),
    experiment,
};
