//! The gradient estimates of AERR and AELR over all draws, read off the steps of the production learners.
//!
//! A learner is put at `w`, asks for given draws, is told one example, and its step is turned back into
//! `g~ = phi x~`. A label shifts `phi` and leaves `x~` alone, so the difference of two steps whose labels are
//! one apart is `x~`, and one of them divided by it is `phi`.

use super::faults;
use super::rounds::exponents;
use super::steps::{aelr_along, tell};
use anyhow::Context as _;
use lao_algorithms::hazan_koren::{Aelr, AelrParams, Aerr, AerrParams, Horizon, TwoSampleDraws};
use lao_kernels::SparseVector;
use lao_observation::{Ask, Rng};
use lao_verification_engine::claim::Fault;
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::sup_norm;
use lao_verification_engine::judge::equal::{EqualJudge, discrete};
use lao_verification_engine::judge::{exact, exact_all};
use lao_verification_engine::mutants::{Tampered, TwoDraws, TwoSampleEstimates};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Of an expectation over all draws, relative to the mean absolute value.
pub(crate) const TOLERANCE: f64 = 1e-10;

/// The fault of both estimates in which the weighted draw is one of the uniform ones.
pub(crate) const REUSES_A_UNIFORM_DRAW: Fault<Arm> = Fault::refuted(
    "reuses_a_uniform_draw",
    "takes i_1 for j, so that the two factors depend on each other",
    Arm {
        alter: Some(|draws| draws.weighted = draws.uniform[0]),
        fault: Some(faults::weight_of_a_uniform_draw),
        ..Arm::SOUND
    },
);

/// The fault of both estimates in which two uniform draws are one.
pub(crate) const REPEATS_A_DRAW: Fault<Arm> = Fault::refuted(
    "repeats_a_draw",
    "takes i_1 for i_2 as well, which leaves all means as they are",
    Arm { alter: Some(repeat_a_draw), ..Arm::SOUND },
);

fn repeat_a_draw(draws: &mut TwoSampleDraws) {
    if draws.uniform.len() > 1 {
        draws.uniform[1] = draws.uniform[0];
    }
}

/// What an arm gets wrong.
#[derive(Clone, Copy)]
pub(crate) struct Arm {
    /// What it does to the estimates.
    pub fault: Option<fn(&mut TwoSampleEstimates<'_>)>,
    /// The weight by which it draws `j`, if not the method's.
    pub weight: Option<fn(f64) -> f64>,
    /// What it does to the draws before they are asked for.
    pub alter: Option<fn(&mut TwoSampleDraws)>,
}

impl Arm {
    /// The method as it is.
    pub(crate) const SOUND: Arm = Arm { fault: None, weight: None, alter: None };
}

/// A map of iterates.
type Moved = Box<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;

/// A learner at a predictor, to be told one example again and again.
pub(crate) struct At<L> {
    /// `w`.
    pub w: Vec<f64>,
    /// `k`.
    pub draws: usize,
    learner: L,
    step_size: f64,
    /// Maps an iterate to what the method moves by `-eta g~`.
    moved: Moved,
}

/// AERR at `w`, in a ball that no step leaves: the estimate is what is looked at here, and projection is not
/// part of it.
pub(crate) fn aerr_at(w: &[f64], draws: usize) -> anyhow::Result<At<Aerr>> {
    // A step so long that w is nothing beside it, and rounds nothing away.
    let (step_size, start) = (f64::from(1 << 20), Some(SparseVector::from_dense(w)));
    let params = AerrParams {
        step_size,
        start,
        ..AerrParams::from_theorem(Horizon { dim: w.len(), draws, radius: 1e100, examples: 1 })
    };
    Ok(At { w: w.to_vec(), draws, learner: params.build()?, step_size, moved: Box::new(<[f64]>::to_vec) })
}

/// AELR at `w = B sinh(u) / sum cosh(u)`. No `|g~_i|` may be above `largest`, lest it be clipped.
pub(crate) fn aelr_at(u: &[f64], draws: usize, radius: f64, largest: f64) -> anyhow::Result<At<Aelr>> {
    let (dim, step_size) = (u.len(), 1.0 / largest);
    let params =
        AelrParams { step_size, ..AelrParams::from_theorem(Horizon { dim, draws, radius, examples: 1 }) };
    let mut learner = params.build()?;
    let steps = u.iter().fold(1.0, |most: f64, u| most.max(u.abs())).ceil();
    // Every attribute is drawn once, so that x~ is d/k times what is told.
    let told: Vec<f64> = u.iter().map(|u| -u / steps * largest * draws as f64 / dim as f64).collect();
    for _ in 0..steps as usize {
        aelr_along(&mut learner, &told)?;
    }
    let moved = Box::new(move |w: &[f64]| exponents(w, radius));
    Ok(At { w: learner.iterate(), draws, learner, step_size, moved })
}

/// One way in which the draws can come out.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub probability: f64,
    pub phi: f64,
    /// `x~`.
    pub direction: Vec<f64>,
    /// `g~`.
    pub gradient: Vec<f64>,
}

impl<L: TwoDraws + Clone> At<L> {
    pub(crate) fn dim(&self) -> usize {
        self.w.len()
    }

    /// `g~` of the example `(x, y)`.
    fn gradient(&self, arm: &Arm, draws: &TwoSampleDraws, x: &[f64], y: f64) -> anyhow::Result<Vec<f64>> {
        let (mut learner, mut ask) = (self.learner.clone(), Ask::new(self.dim()));
        let after = match arm.fault {
            None => {
                learner.ask_for(draws, &mut ask);
                tell(&mut learner, &ask, x, y)?;
                learner.iterate()
            }
            Some(fault) => {
                let mut learner = Tampered::new(learner, self.draws, fault);
                learner.ask_for(draws, &mut ask);
                tell(&mut learner, &ask, x, y)?;
                learner.inner().iterate()
            }
        };
        let (before, after) = ((self.moved)(&self.w), (self.moved)(&after));
        Ok(before.iter().zip(after).map(|(before, after)| (before - after) / self.step_size).collect())
    }

    /// All outcomes of the draws for the example `(x, y)`, no `x_i` being zero.
    pub(crate) fn outcomes(&self, arm: &Arm, x: &[f64], y: f64) -> anyhow::Result<Vec<Outcome>> {
        let dim = self.dim();
        let weights: Vec<f64> = self.w.iter().map(|&w| arm.weight.unwrap_or(L::weight)(w)).collect();
        let total: f64 = weights.iter().sum();
        let sequences = dim.pow(self.draws as u32);
        let mut all = Vec::new();
        for code in 0..sequences {
            let of = |place: usize| (code / dim.pow(place as u32) % dim) as u32;
            let uniform: Vec<u32> = (0..self.draws).map(of).collect();
            for (j, weight) in weights.iter().enumerate() {
                let probability = match total {
                    // At w = 0 any attribute will do.
                    0.0 => f64::from(u8::from(j == uniform[0] as usize)),
                    _ => weight / total,
                };
                if probability == 0.0 {
                    continue;
                }
                let mut draws = TwoSampleDraws { uniform: uniform.clone(), weighted: j as u32 };
                if let Some(alter) = arm.alter {
                    alter(&mut draws);
                }
                let gradient = self.gradient(arm, &draws, x, y)?;
                let raised = self.gradient(arm, &draws, x, y - 1.0)?;
                let direction: Vec<f64> = raised.iter().zip(&gradient).map(|(a, b)| a - b).collect();
                let drawn = (0..dim).max_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs()));
                let phi = drawn.map(|i| gradient[i] / direction[i]).context("no attributes")?;
                let probability = probability / sequences as f64;
                all.push(Outcome { probability, phi, direction, gradient });
            }
        }
        Ok(all)
    }
}

/// The mean of `f`, and of its absolute value.
pub(crate) fn mean(outcomes: &[Outcome], f: impl Fn(&Outcome) -> f64) -> (f64, f64) {
    let term = |outcome: &Outcome| outcome.probability * f(outcome);
    (outcomes.iter().map(term).sum(), outcomes.iter().map(|outcome| term(outcome).abs()).sum())
}

/// The mean of `f` and its claimed value, in units of the mean absolute value.
pub(crate) fn pair(outcomes: &[Outcome], claimed: f64, f: impl Fn(&Outcome) -> f64) -> (f64, f64) {
    pair_above(f64::MIN_POSITIVE, outcomes, claimed, f)
}

/// The same in units of `least` at least: the size of the terms, where they may cancel.
pub(crate) fn pair_above(
    least: f64,
    outcomes: &[Outcome],
    claimed: f64,
    f: impl Fn(&Outcome) -> f64,
) -> (f64, f64) {
    let (mean, size) = mean(outcomes, f);
    let unit = size.max(claimed.abs()).max(least);
    (mean / unit, claimed / unit)
}

/// `d` normal numbers, by `kind`: all of them, one set to zero, one to a millionth, or all to zero.
pub(crate) fn predictor(rng: &mut Rng, dim: usize, kind: u64) -> Vec<f64> {
    let mut v = normal(rng, dim);
    match kind % 4 {
        0 => {}
        1 => v[0] = 0.0,
        2 => v[0] *= 1e-6,
        _ => v.fill(0.0),
    }
    v
}

/// `d` standard normal numbers.
pub(crate) fn normal(rng: &mut Rng, dim: usize) -> Vec<f64> {
    (0..dim).map(|_| StandardNormal.sample(rng)).collect()
}

/// Judges `E x~ = x`, `E phi = w.x - y` and `E g~ = (w.x - y) x` over all draws, for two to four attributes
/// and one to three uniform draws. `place` puts a learner at a random predictor, of this kind, for the
/// example `(x, y)`.
pub(crate) fn judge_unbiased<L: TwoDraws + Clone>(
    cx: &mut Context<'_>,
    arm: &Arm,
    place: impl Fn(&mut Rng, u64, usize, (&[f64], f64)) -> anyhow::Result<At<L>> + Sync,
) -> anyhow::Result<()> {
    let each = cx.all_trials("enumeration", cx.size("instances")?, |trial| {
        let mut pairs: [Vec<(f64, f64)>; 3] = Default::default();
        for (dim, draws) in shapes(2..=4, 3) {
            let rng = &mut trial.seed.child("data").trial((8 * dim + draws) as u64).rng();
            let x: Vec<f64> = normal(rng, dim).iter().map(|x| 3.0 * x).collect();
            let y = 2.0 * normal(rng, 1)[0];
            let at = place(rng, trial.number, draws, (&x, y))?;
            let outcomes = at.outcomes(arm, &x, y)?;
            let residual = lao_verification_engine::instance::dot(&at.w, &x) - y;
            // A step is read off with a rounding error in units of 1/eta, however small a coordinate is, and
            // phi is the step of a coordinate in units of x~ there.
            let least = 1e-3 / at.step_size;
            let (of_phi, _) = mean(&outcomes, |outcome| least / sup_norm(&outcome.direction));
            pairs[1].push(pair_above(of_phi, &outcomes, residual, |outcome| outcome.phi));
            for (i, x) in x.iter().enumerate() {
                pairs[0].push(pair_above(least, &outcomes, *x, |outcome| outcome.direction[i]));
                pairs[2].push(pair_above(least, &outcomes, residual * x, |outcome| outcome.gradient[i]));
            }
        }
        Ok(pairs)
    })?;
    for (place, name) in ["E x~ = x", "E phi = w.x - y", "E g~ = (w.x - y) x"].iter().enumerate() {
        let pairs = each.iter().flat_map(|pairs| pairs[place].iter().copied());
        cx.judge(&format!("{name}, all draws"), exact_all(pairs, TOLERANCE));
    }
    Ok(())
}

/// Pairs of dimension and number of draws.
pub(crate) fn shapes(
    dims: std::ops::RangeInclusive<usize>,
    most_draws: usize,
) -> impl Iterator<Item = (usize, usize)> {
    dims.flat_map(move |dim| (1..=most_draws).map(move |draws| (dim, draws)))
}

/// Judges the draws of the production sampler at a predictor of six attributes, one of them zero, with three
/// uniform draws: the law of `j`, and that draws are uniform and independent; then the mean of the estimates
/// that it leads to.
pub(crate) fn judge_sampler<L: TwoDraws + Clone>(
    cx: &mut Context<'_>,
    arm: &Arm,
    mut at: At<L>,
) -> anyhow::Result<()> {
    const DIM: usize = 6;
    let held: Vec<usize> = (0..DIM).filter(|&j| at.w[j] != 0.0).collect();
    let total: f64 = at.w.iter().map(|&w| L::weight(w)).sum();
    let law: Vec<f64> = held.iter().map(|&j| L::weight(at.w[j]) / total).collect();
    let rng = &mut cx.seed("sampler").child("algorithm").rng();
    let mut ask = Ask::new(DIM);
    let mut draw = |learner: &mut L, ask: &mut Ask| {
        learner.ask(rng, ask);
        let mut draws = learner.drawn();
        if let Some(weight) = arm.weight {
            let weights: Vec<f64> = at.w.iter().map(|&w| weight(w)).collect();
            let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
            let place = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            draws.weighted = place.unwrap_or(0) as u32;
        }
        if let Some(alter) = arm.alter {
            alter(&mut draws);
        }
        draws
    };

    let (mut weighted, mut uniform, mut mixed) = ([0u64; DIM], [0u64; DIM * DIM], [0u64; DIM * DIM]);
    for _ in 0..cx.size("draws")? {
        let TwoSampleDraws { uniform: i, weighted: j } = draw(&mut at.learner, &mut ask);
        anyhow::ensure!(i.len() == 3, "{} uniform draws", i.len());
        weighted[j as usize] += 1;
        uniform[DIM * i[0] as usize + i[1] as usize] += 1;
        mixed[DIM * i[2] as usize + j as usize] += 1;
        // An example of zeros, after which w is what it was.
        tell(&mut at.learner, &ask, &[0.0; DIM], 0.0)?;
    }
    let never: u64 = (0..DIM).filter(|j| !held.contains(j)).map(|j| weighted[j]).sum();
    cx.judge("sampler: weight 0 is never drawn", exact(never as f64, 0.0, 0.0));
    let counts: Vec<u64> = held.iter().map(|&j| weighted[j]).collect();
    cx.judge("sampler: law of j", discrete(&counts, &law, Some(0.1)));
    let square = (DIM * DIM) as f64;
    cx.judge("sampler: law of i_1 and i_2", discrete(&uniform, &[1.0 / square; DIM * DIM], Some(0.15)));
    let (mut counts, mut joint) = (Vec::new(), Vec::new());
    for i in 0..DIM {
        counts.extend(held.iter().map(|&j| mixed[DIM * i + j]));
        joint.extend(law.iter().map(|p| p / DIM as f64));
    }
    cx.judge("sampler: law of i_3 and j", discrete(&counts, &joint, Some(0.2)));

    // On these values a draw by another power of |w_j| shifts the mean by more than the margin.
    let (x, y) = ([0.5, 0.5, -0.5, 0.4, 0.5, 0.5], 0.4);
    let residual = lao_verification_engine::instance::dot(&at.w, &x) - y;
    let mut judge = EqualJudge::new(x.iter().map(|x| residual * x).collect(), vec![vec![1.0; DIM]]);
    for _ in 0..cx.size("steps")? {
        let draws = draw(&mut at.learner.clone(), &mut ask);
        judge.push(&at.gradient(arm, &draws, &x, y)?);
    }
    cx.judge("sampler: mean of g~", judge.finish(Some(0.05), cx.alpha()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learners_are_put_where_they_are_wanted() {
        let u = [2.5, -0.25, 0.0];
        let total: f64 = u.iter().map(|u: &f64| u.cosh()).sum();
        let at = aelr_at(&u, 2, 3.0, 7.0).unwrap();
        for (w, u) in at.w.iter().zip(u) {
            assert!((w - 3.0 * u.sinh() / total).abs() < 1e-13);
        }
        assert_eq!(aerr_at(&u, 2).unwrap().learner.iterate(), u);
    }

    #[test]
    fn outcomes_have_all_the_probability_and_the_estimates_by_hand() {
        let (w, x, y) = ([0.6, -0.8], [2.0, 1.0], 0.5);
        let outcomes = aerr_at(&w, 1).unwrap().outcomes(&Arm::SOUND, &x, y).unwrap();
        assert_eq!(outcomes.len(), 4);
        assert!((mean(&outcomes, |_| 1.0).0 - 1.0).abs() < 1e-15);
        // i = 0, j = 1 comes second.
        let Outcome { probability, phi, direction, gradient } = &outcomes[1];
        assert!((probability - 0.32).abs() < 1e-15);
        assert!((phi - (1.0 / -0.8 - 0.5)).abs() < 1e-12);
        assert!((direction[0] - 4.0).abs() < 1e-12 && direction[1] == 0.0);
        assert!((gradient[0] - 4.0 * phi).abs() < 1e-12);
    }
}
