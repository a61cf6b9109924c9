//! Theorem 4.4: from a small gap to the right support.
//!
//! *Statement.* If `|theta - theta*|^2 < r_min^2`, the support of theta holds that of theta*. With
//! `gap_k <= 2(1-a)^k gap_0` and restricted strong convexity, `|theta_k - theta*|^2 <= (4/mu)(1-a)^k gap_0`,
//! which is below `r_min^2` for every `k > k-check = log(4 gap_0/(r_min^2 mu))/log(1/(1-a))`. Then Theorem
//! 4.3 needs the inclusion for the support that is exploited: as Exploitation never leaves the support it was
//! given, `supp(theta~_k)` lies in `supp(theta~_k^-)`, and what holds for the one holds for the other. (The
//! paper does not say so.)

use lao_algorithms::Task;
use lao_algorithms::murata_suzuki::{HybridParams, Problem};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Constants, Seed};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    QuadraticPopulation, minus, norm2, random_support, sparse_normal, support_of, tally,
};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::{Misdirected, Misdirection};
use lao_verification_engine::probe::{self, Staged};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// `r_min`.
fn smallest(theta_star: &[f64]) -> f64 {
    theta_star.iter().filter(|x| **x != 0.0).fold(f64::INFINITY, |least, x| least.min(x.abs()))
}

/// The two implications are algebra: the squared distance of an iterate that misses a coordinate, and that of
/// one with a small gap (`ms18-theta-star-minimiser` judges the latter), against their bounds.
fn vectors(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let [missing, convex] = tally(cx, "vectors", cx.size("pairs")?, |trial, [missing, convex]| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(3..=12);
        let (star, s) = (rng.random_range(1..=3), rng.random_range(1..=dim));
        let theta_star = sparse_normal(&mut rng, dim, star);
        let mut theta = sparse_normal(&mut rng, dim, s);
        if trial.number.is_multiple_of(2) {
            // As close as can be: theta* but for some coordinates.
            theta.copy_from_slice(&theta_star);
            let dropped = rng.random_range(1..=2);
            random_support(&mut rng, dim, dropped).into_iter().for_each(|j| theta[j] = 0.0);
        }
        let v = minus(&theta, &theta_star);
        if support_of(&theta_star) & !support_of(&theta) != 0 {
            missing.check(smallest(&theta_star).powi(2), norm2(&v));
        }
        let population = QuadraticPopulation::random(&mut rng, dim, 0.05, 2.0);
        let mu = 2.0 * population.smallest();
        convex.check(norm2(&v), 2.0 / mu * population.gap(&theta, &theta_star));
        Ok(())
    })?;
    let holds = missing.violations() == 0 && convex.violations() == 0;
    anyhow::ensure!(holds, "a missing coordinate costs less than r_min^2, or |v|^2 is beyond (2/mu) gap");
    Ok(())
}

const TWO_IN_PLACE_OF_FOUR: Mutant = Mutant::refuted("two_in_place_of_four", "computes k-check with 2 gap_0");
const SMALLEST_NOT_SQUARED: Mutant =
    Mutant::refuted("smallest_not_squared", "computes k-check with r_min in place of its square");
const EXPLOITS_OTHER_ATTRIBUTES: Mutant =
    Mutant::refuted("exploits_other_attributes", "exploits attributes that exploring has just rejected");

/// At `k-check + 1` the guaranteed distance is below `r_min`.
fn stages(cx: &mut Context<'_>) {
    let mut tally = PropertyTally::new();
    for kappa in [1.0, 1.7, 10.0, 100.0] {
        for mu in [0.1, 2.0] {
            let constants =
                Constants { smoothness: kappa * mu, convexity: mu, bound: 1.0, noise: 1.0, sparsity: 2 };
            let problem =
                Problem { constants, dim: 100, sparsity: 10, step_size: Problem::theorem_step(&constants) };
            for smallest in [1.0, 0.3, 0.01, 1e-4] {
                for gap_0 in [1.0, 7.0, 300.0] {
                    let check = if cx.commits(&TWO_IN_PLACE_OF_FOUR) {
                        problem.hybrid_identification_stage(gap_0 / 2.0, smallest)
                    } else if cx.commits(&SMALLEST_NOT_SQUARED) {
                        problem.hybrid_identification_stage(gap_0, smallest.sqrt())
                    } else {
                        problem.hybrid_identification_stage(gap_0, smallest)
                    };
                    let kept: f64 = 1.0 - 1.0 / (32.0 * kappa);
                    for stage in [check + 1, check + 2, 2 * check + 1] {
                        tally.check(4.0 / mu * kept.powf(stage as f64) * gap_0, smallest * smallest);
                    }
                }
            }
        }
    }
    cx.judge("after k-check the distance is below r_min", tally.finish());
}

const DIM: usize = 48;
const STAGES: u64 = 8;

/// What the runs use.
fn params() -> anyhow::Result<HybridParams> {
    let task = Task { dim: DIM, sparsity: 5, budget: 13, speed: 0.5, ..Task::default() };
    Ok(HybridParams { stages: Some(STAGES), ..HybridParams::practical(&task)? })
}

/// Checks, for every stage of a run, the attributes after its Exploitation against those before.
fn supports<L: Staged>(mut learner: L, seed: &Seed, tally: &mut PropertyTally) -> anyhow::Result<()> {
    let mut rng = seed.child("star").rng();
    let support = random_support(&mut rng, DIM, 3).into_iter().map(|j| j as u32).collect();
    let values = (0..3).map(|_| StandardNormal.sample(&mut rng)).collect();
    let star = SparseVector::new(DIM, support, values)?;
    let source = Virtual::new(Rademacher::new(DIM)?, star, Noise::Gaussian(0.5), &seed.child("data"))?;
    let (mut exploiting, mut found, mut stages) = (false, Vec::new(), 0);
    let after = |learner: &dyn Staged| {
        let theta = learner.coefficients();
        match (exploiting, learner.is_exploiting()) {
            (false, true) => found = theta.indices().to_vec(),
            (true, false) => {
                let outside = theta.indices().iter().filter(|j| found.binary_search(j).is_err()).count();
                tally.check((found.len() + outside) as f64, found.len() as f64);
                stages += 1;
            }
            _ => {}
        }
        exploiting = learner.is_exploiting();
    };
    probe::run_staged(source, &mut learner, Budget::PerExample(13), &seed.child("algorithm"), after)?;
    (stages..STAGES).for_each(|_| _ = tally.check(1.0, 0.0));
    Ok(())
}

/// In runs: attributes before and after each stage's Exploitation.
fn runs(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let elsewhere = cx.commits(&EXPLOITS_OTHER_ATTRIBUTES);
    let [tally] = tally(cx, "runs", cx.size("runs")?, |trial, [tally]| match elsewhere {
        true => supports(Misdirected::new(params()?, Misdirection::Complement)?, &trial.seed, tally),
        false => supports(params()?.build()?, &trial.seed, tally),
    })?;
    cx.judge("Exploitation stays on the support it was given", tally.finish());
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    vectors(cx)?;
    stages(cx);
    runs(cx)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-thm44-support-implication",
    place: "Supplement C.1, identification of the support",
    sentence: "A gap below 2(1-a)^k gap_0 with k beyond k-check implies that the support of the target is \
               found, also for the support that is exploited in that stage.",
    formula: r"k > \check{k} = \frac{\log\left( 4 (\mathcal{L}(\tilde\theta_0) - \mathcal{L}(\theta_*))
               / (r_{\min}^2 \mu_s) \right)}{\log((1-\check{\alpha})^{-1})} \;\Rightarrow\;
               \|\tilde\theta_k - \theta_*\|^2 < r_{\min}^2 \;\Rightarrow\; \mathrm{supp}(\theta_*)
               \subset \mathrm{supp}(\tilde\theta_k) \subset \mathrm{supp}(\tilde\theta_k^-)",
    design: "The production k-check on a grid of condition numbers, first gaps and smallest coefficients; \
             and in runs of the production Hybrid the supports at the two ends of every stage's \
             Exploitation. The learner says where these ends are, so the number of updates in a stage does \
             not matter; a stage without Exploitation is a violation. The two implications between them are \
             algebra, checked on random pairs of vectors and populations, and not judged.",
    standing: Standing::sound(),
    mutants: &[TWO_IN_PLACE_OF_FOUR, SMALLEST_NOT_SQUARED, EXPLOITS_OTHER_ATTRIBUTES],
    experiment,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn judged<L: Staged>(learner: L) -> PropertyTally {
        let mut tally = PropertyTally::new();
        supports(learner, &Seed::root(1), &mut tally).unwrap();
        tally
    }

    #[test]
    fn the_number_of_updates_in_a_stage_does_not_matter() {
        for (explore, exploit) in [(1, 3), (1, 2), (1, 1), (2, 3), (3, 5)] {
            let params =
                HybridParams { explore_updates: explore, exploit_updates: exploit, ..params().unwrap() };
            let sound = judged(params.clone().build().unwrap());
            assert_eq!((sound.instances(), sound.violations()), (STAGES, 0), "{explore}, {exploit}");
            let faulty = judged(Misdirected::new(params, Misdirection::Complement).unwrap());
            assert_eq!((faulty.instances(), faulty.violations()), (STAGES, STAGES), "{explore}, {exploit}");
        }
    }

    #[test]
    fn stages_without_exploitation_are_violations() {
        let never = judged(HybridParams { exploit_updates: 0, ..params().unwrap() }.build().unwrap());
        assert_eq!(never.violations(), STAGES);
        let fewer = judged(HybridParams { stages: Some(STAGES - 1), ..params().unwrap() }.build().unwrap());
        assert_eq!((fewer.instances(), fewer.violations()), (STAGES, 1));
    }
}
