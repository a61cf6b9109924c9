//! What the second parts of Lemmas 3.3 and 3.8 share: the bounds, and the examples on which all draws are
//! looked at.

use super::estimates::shapes;
use lao_algorithms::hazan_koren::TwoSampleDraws;
use lao_observation::Rng;
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::PropertyTally;

/// All draws are the first one.
pub(crate) fn repeat_the_first(draws: &mut TwoSampleDraws) {
    let first = draws.uniform[0];
    draws.uniform.fill(first);
}

/// `(d + k - 1)/k`.
pub(crate) fn spread(dim: usize, draws: usize) -> f64 {
    (dim + draws - 1) as f64 / draws as f64
}

/// The lemmas' bound, `8 d/k`, in units of `B^2`.
pub(crate) fn printed(dim: usize, draws: usize) -> f64 {
    8.0 * dim as f64 / draws as f64
}

/// Constants of the bounds, which mutants cut.
#[derive(Clone, Copy)]
pub(crate) struct Constants {
    /// Of `E phi^2`, in units of `B^2`.
    pub residual: f64,
    /// Of the exact supremum.
    pub exact: f64,
    /// Of `8 B^2 d/k`.
    pub printed: f64,
}

impl Constants {
    /// Those of the lemmas.
    pub(crate) const SOUND: Constants = Constants { residual: 4.0, exact: 1.0, printed: 1.0 };

    /// Checks `E phi^2 <= 4 B^2`, and the moment of `g~` against `4 B^2 (d + k - 1)/k` and, for `k <= d + 1`,
    /// `8 B^2 d/k`. Both moments are in units of `B^2`.
    pub(crate) fn check(
        &self,
        (dim, draws): (usize, usize),
        residual: f64,
        gradient: f64,
    ) -> [PropertyTally; 3] {
        let mut bounds: [_; 3] = std::array::from_fn(|_| PropertyTally::new());
        bounds[0].check(residual, self.residual);
        bounds[1].check(gradient, self.exact * 4.0 * spread(dim, draws));
        if draws <= dim + 1 {
            bounds[2].check(gradient, self.printed * printed(dim, draws));
        }
        bounds
    }
}

/// What `look` finds with one to five draws at the extremal examples of two to four attributes, and at random
/// ones.
pub(crate) fn examples<I, T: Send>(
    cx: &Context<'_>,
    extremal: fn(usize, f64) -> I,
    random: fn(usize, &mut Rng) -> I,
    look: impl Fn(&I, usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<[Vec<T>; 2]> {
    let extremal = cx.all_trials("extremal", 3, |trial| {
        let instance = extremal(2 + trial.number as usize, 1.5);
        (1..=5).map(|draws| look(&instance, draws)).collect::<anyhow::Result<Vec<_>>>()
    })?;
    let random = cx.all_trials("random", cx.size("instances")?, |trial| {
        let one = |(dim, draws)| {
            let seed = trial.seed.child("data").trial((8 * dim + draws) as u64);
            look(&random(dim, &mut seed.rng()), draws)
        };
        // Four attributes and five draws are left to the extremal examples.
        shapes(2..=4, 5).filter(|(dim, draws)| dim + draws <= 8).map(one).collect::<anyhow::Result<Vec<_>>>()
    })?;
    Ok([extremal, random].map(|found| found.into_iter().flatten().collect()))
}

/// Judges each bound over all examples.
pub(crate) fn judge_bounds<'a, const N: usize>(
    cx: &mut Context<'_>,
    names: [&str; N],
    bounds: impl Iterator<Item = &'a [PropertyTally; N]> + Clone,
) {
    for (i, name) in names.iter().enumerate() {
        let mut tally = PropertyTally::new();
        bounds.clone().for_each(|bounds| tally.append(&bounds[i]));
        cx.judge(name, tally.finish());
    }
}
