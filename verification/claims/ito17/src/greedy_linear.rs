//! The regret of the greedy choice is linear.
//!
//! *Print.* Section 1: "One naive strategy for features selection is to choose 'large-weight' features",
//! which "does not achieve sublinear regret, as it ignores small-weight features".
//!
//! *Why.* A feature that is never observed keeps the weight 0, and is never among the largest. So the first
//! k' features are kept for good. Let d = 20, k' = 7, and let the k = 5 relevant features, each of weight
//! `1/sqrt k` and variance 1, be at random places: each is missed with probability 13/20, and each that is
//! missed costs 1/5 per round. So the mean regret per round tends to 13/20, and the probability that none is
//! missed is `C(15, 2)/C(20, 7) = .0014`. With two random looks beside the five largest weights it is
//! Algorithm 1, whose regret grows like the root of the rounds at most.

use super::table2::CONTEST;
use crate::setup::contest::{Contest, Method};
use crate::setup::regret::{Race, judge_exponent, marks, mean_at, shown};
use lao_datasets::adversarial::ito::gauss_spread;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;

const SETTING: Contest = Contest { dim: 20, sparsity: 5, kept: 5, budget: 7, ..CONTEST };

/// The mean regret per round, `1 - k'/d`, within a tenth.
const PER_ROUND: (f64, f64) = (0.9 * 13.0 / 20.0, 1.1 * 13.0 / 20.0);

/// The methods of an arm, in the places of the greedy choice and of Algorithm 1.
const FAULTS: [Fault<[Method; 2]>; 2] = [
    Fault::refuted(
        "two_random_looks",
        "looks at two random features beside the five of largest weight, and is called greedy",
        [Method::A1, Method::A1],
    ),
    Fault::refuted(
        "only_the_largest_weights",
        "Algorithm 1 observes the largest weights and nothing beside them",
        [Method::Greedy, Method::Greedy],
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (runs, last) = (cx.size("runs")?, cx.size("rounds")?);
    let [greedy, exploring] = cx.arm([Method::Greedy, Method::A1], &FAULTS);
    cx.split(3);
    let marks = marks(512, last, 2 * (last / 512).ilog2() as usize + 1);
    let grid: Vec<f64> = marks.iter().map(|&mark| mark as f64).collect();
    let curves = |cx: &Context<'_>, cell: &str, method: Method, runs: u64| {
        shown(cx, cell, runs, |trial, views| {
            let mut data = gauss_spread(SETTING.dim, SETTING.sparsity, 1.0, &trial.seed.child("data"))?;
            let star = data.theta_star().to_owned_vector();
            let race = Race::new(&mut data, star.view(), marks.clone())?;
            let mut learner = SETTING.learner(method, 0.0)?;
            race.regrets(learner.as_mut(), SETTING.budget, &trial.seed.child("algorithm"), views, |_| {})
        })
    };
    let of_greedy = curves(cx, "greedy", greedy, runs)?;
    let end = grid.len() - 1;
    // Two marks are an octave.
    for (cell, at) in
        [("greedy: regret per round, last octave", end), ("greedy: three octaves before", end - 6)]
    {
        let share = |curve: &Vec<f64>| (curve[at] - curve[at - 2]) / (grid[at] - grid[at - 2]);
        let per_round: Vec<f64> = of_greedy.iter().map(share).collect();
        cx.judge(cell, judge_sample(&per_round, PER_ROUND, cx.alpha(), FindingKind::Mean));
        cx.settled()?;
    }
    let of_exploring = curves(cx, "Algorithm 1", exploring, cx.size("runs_of_algorithm_1")?)?;
    let cell = "Algorithm 1: exponent of the mean regret";
    if let Some(slopes) = judge_exponent(cx, cell, (0.5, 0.1), &grid[grid.len() / 2..], &of_exploring) {
        cx.rate("exponent of the regret, A1 beside greedy", Direction::Larger, slopes);
    }
    if cx.honest() {
        let line = |curves: &[Vec<f64>]| -> Vec<[f64; 2]> {
            grid.iter().enumerate().map(|(k, &mark)| [mark, mean_at(curves, k)]).collect()
        };
        cx.figure(Figure {
            caption: "(d, k, k') = (20, 5, 7): mean regret against rounds; the line is 13/20 per round."
                .into(),
            x: Axis::log("rounds"),
            y: Axis::log("mean regret against w*"),
            series: vec![
                Series::line("greedy", line(&of_greedy)),
                Series::line("A1", line(&of_exploring)),
                Series::bound("13 T/20", grid.iter().map(|mark| [*mark, 0.65 * mark]).collect()),
            ],
        });
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-greedy-linear",
    place: "Section 1, greedy choice",
    sentence: "The regret of the greedy choice, which observes the k' largest weights, is linear: 1 - \
               k'/d per round within a tenth, at the end and three octaves before, where relevant \
               features are at random places; that of Algorithm 1 on the same data grows at most like \
               the square root of the rounds.",
    formula: r"\mathbb{E} R_T \sim \Bigl(1 - \frac{k'}{d}\Bigr) T",
    design: "(d, k, k') = (20, 5, 7), k_1 = 5, generator and constants of ito17-table2. Regret at eleven \
             marks from 512 rounds on, half of them to the octave (more in the full tier). Exponents are \
             of means over blocks of five runs, over the last half of the marks; regret per round is \
             that of an octave.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
