//! The number of examples grows at most like s where noise dominates, and, on uncorrelated attributes, also
//! without noise, where the corollary allows s^2.
//!
//! *Tightness.* With noise the exponent is close to 1. Without, it is about .7. The bound's s^2 contains
//! `(s + s*) |v|^2`, the worst case of `var(v'x x_j)`, which is `|v|^2` where attributes are uncorrelated:
//! what the s kept coordinates add up to is then of order `s |v|^2/B`, so that B of order s suffices. An
//! exponent of 2 could not show on a grid of batches up to 512; what is judged is 1.

use crate::setup::practical::Practical;
use lao_algorithms::BatchSizes;
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, mutants};
use lao_verification_engine::context::{Context, Direction, Trial, View, still};
use lao_verification_engine::judge::sample::Moments;
use lao_verification_engine::judge::slope::{Exponent, fit, judge_slopes};
use lao_verification_engine::mutants::{GradientFault, Sabotage};
use lao_verification_engine::plots;

const DIM: usize = 512;
const SPARSITY: [usize; 5] = [6, 12, 24, 48, 96];
/// `s' - s`, the attributes of a block. The sizes of batches do not depend on it, and two blocks cost least.
const WIDTH: usize = 256;
const BATCH: u64 = 1 << 14;
const UPDATES: u64 = 24;
const DELTA: f64 = 0.1;

/// Batches without noise: powers of the square root of two. If none suffices, the next one counts.
const SMALL: [u64; 18] = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512];
const BEYOND: f64 = 724.0;

/// An arm of the experiment.
#[derive(Clone, Debug)]
struct Arm {
    sabotage: Sabotage,
    keeps_a_third: bool,
    shrinks: bool,
    /// Each example is counted s/6 times.
    copies: bool,
}

const FAULTS: [Fault<fn(&mut Arm)>; 4] = [
    Fault::refuted("copies_examples_s_times", "counts every example s/6 times", |arm| arm.copies = true),
    Fault::refuted("keeps_a_third_of_the_attributes", "keeps d/3 coefficients whatever s is", |arm| {
        arm.keeps_a_third = true
    }),
    Fault::refuted(
        "repeats_every_example_four_times",
        "counts every example four times, so the variance is fourfold",
        |arm| arm.sabotage = GradientFault::Repeats(4).into(),
    ),
    Fault::refuted("batches_s_squared_times_too_small", "takes batches of B/s^2", |arm| arm.shrinks = true),
];

impl Arm {
    /// The gap with noise, in units of `sigma^2/B`, in each view.
    fn noisy(&self, trial: &Trial, sparsity: usize, views: &[View]) -> anyhow::Result<Vec<f64>> {
        let kept = if self.keeps_a_third { DIM / 3 } else { sparsity };
        let practical = Practical::signs(DIM, 4, kept, WIDTH);
        let batch = if self.shrinks { BATCH / (sparsity * sparsity) as u64 } else { BATCH };
        let params = practical.exploration(BatchSizes::Constant(batch.max(1)), UPDATES);
        let paths = practical.explore_in_views(trial, params, &self.sabotage(sparsity), views)?;
        Ok(paths.iter().map(|path| path.last_gap() * BATCH as f64).collect())
    }

    fn sabotage(&self, sparsity: usize) -> Sabotage {
        match self.copies {
            true => GradientFault::Repeats(sparsity as u64 / 6).into(),
            false => self.sabotage.clone(),
        }
    }

    /// The smallest batch that suffices without noise, in each view. The batches are tried until one suffices
    /// for the sound learner: what a crippled one says does not depend on the batch.
    fn noiseless(&self, trial: &Trial, sparsity: usize, views: &[View]) -> anyhow::Result<Vec<f64>> {
        let practical = Practical { noise: 0.0, ..Practical::signs(DIM, sparsity / 3, sparsity, WIDTH) };
        let tried = if still(views).is_some() { &SMALL[SMALL.len() - 1..] } else { &SMALL[..] };
        let mut smallest = vec![BEYOND; views.len()];
        for &batch in tried {
            let params = practical.exploration(BatchSizes::Constant(batch), 60);
            let paths = practical.explore_in_views(trial, params, &self.sabotage(sparsity), views)?;
            for (smallest, path) in smallest.iter_mut().zip(&paths) {
                if path.last_gap() <= 1e-3 * practical.gap_0() {
                    *smallest = smallest.min(batch as f64);
                }
            }
            if views.iter().zip(&smallest).any(|(view, smallest)| view.is_none() && *smallest < BEYOND) {
                break;
            }
        }
        Ok(smallest)
    }
}

fn slopes(replicates: &[Vec<f64>]) -> anyhow::Result<Vec<f64>> {
    let fits = fit(&SPARSITY.map(|s| s as f64), replicates, None).map_err(|why| anyhow::anyhow!(why))?;
    Ok(fits.iter().map(|fit| fit.slope).collect())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (most, replicates, searches) = (cx.size("trials")?, cx.size("replicates")?, cx.size("searches")?);
    let view = cx.cripple();
    let mut arm = Arm { sabotage: Sabotage::default(), keeps_a_third: false, shrinks: false, copies: false };
    if let Some(commit) = cx.fault(&FAULTS) {
        commit(&mut arm);
    }
    cx.split(3);
    cx.prob("gap at most sigma^2 s/B", DELTA, most, |trial| {
        let sparsity = SPARSITY[trial.number as usize % SPARSITY.len()];
        Ok(arm.noisy(trial, sparsity, &[view])?[0] <= sparsity as f64)
    })?;
    cx.settled()?;
    let alpha = cx.alpha() / 3.0;
    let grid = |views: &[View], of: &(dyn Fn(usize) -> anyhow::Result<Vec<f64>> + Sync)| {
        let mut grids = vec![Vec::new(); views.len()];
        for s in SPARSITY {
            grids.iter_mut().zip(of(s)?).for_each(|(grid, number)| grid.push(number));
        }
        anyhow::Ok(grids)
    };
    let noisy =
        cx.shown_trials("noise", replicates, |trial, views| grid(views, &|s| arm.noisy(trial, s, views)))?;
    // An upper bound on an average exponent: the curvature that log(d/s) brings is no objection.
    let with_noise = slopes(&noisy)?;
    cx.judge("gap against s, with noise: exponent at most 1", {
        judge_slopes(&with_noise, Exponent::AtMost(1.0), 0.15, alpha)
    });
    let noiseless = cx.shown_trials("no noise", searches, |trial, views| {
        grid(views, &|s| arm.noiseless(trial, s, views))
    })?;
    let without_noise = slopes(&noiseless)?;
    cx.judge("batch that suffices against s, without noise: exponent at most 1", {
        judge_slopes(&without_noise, Exponent::AtMost(1.0), 0.15, alpha)
    });
    if cx.honest() {
        for (i, s) in SPARSITY.iter().enumerate() {
            let column: Vec<f64> = noisy.iter().map(|gaps| gaps[i] / *s as f64).collect();
            cx.note(&format!("mean gap B/(sigma^2 s) at s = {s}"), Moments::of(&column).mean);
        }
        let s = SPARSITY.map(|s| s as f64);
        cx.figure(plots::growth(
            "Gap against the sparsity, with noise.",
            ("s", &s),
            ("gap B/sigma^2", &noisy),
            1.0,
        ));
        cx.figure(plots::growth(
            "The batch that suffices against the sparsity, without noise.",
            ("s", &s),
            ("examples in a batch", &noiseless),
            1.0,
        ));
        cx.rate("exponent of the gap in s, with noise", Direction::Larger, with_noise);
        cx.rate("exponent of the sufficient batch in s, without noise", Direction::Larger, without_noise);
    }
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "gap against s, with noise: exponent",
    why: "a gap that stays where it was has the exponent 0; the cell on its level is for this",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor42-s",
    place: "Corollary 4.2",
    sentence: "The number of examples grows at most like s where noise dominates and, on uncorrelated \
               attributes, also without noise, where s^2 is allowed.",
    formula: r"n = \tilde{O}\left( \frac{\kappa_s R_\infty^4}{\mu_s^2} \frac{d s^2}{s'-s} +
               \frac{\kappa_s R_\infty^2}{\mu_s} \frac{d s}{s'-s} \frac{\sigma^2}{\varepsilon} \right)",
    design: "Random Hadamard rows, d = 512, s'-s = 256. With noise, s* = 4: the gap after 24 updates at B = \
             2^14 grows at most like s (exponent at most 1.15) over s = 6 to 96, and is at most sigma^2 s/B \
             with probability .9. Without noise, s* = s/3: the smallest batch of a grid with which 60 \
             updates reach a thousandth of the gap grows at most like s (exponent at most 1.15); a run for \
             which no batch of the grid suffices counts with 724, the next one.",
    standing: Standing::sound().practical().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};
