//! Supplement, Lemma A.4: what hard thresholding loses, against any sparser vector.
//!
//! *Why.* With `z_1^2 >= z_2^2 >= ..` the left side is the sum of the n - s smallest squares; the best b
//! leaves the n - s* smallest. The mean of the smallest n - s is at most the mean of the smallest n - s*.
//! Sharp: equality at `z = 1`.

use lao_kernels::{HardThreshold, SparseVector, Threshold};
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{in_units, minus, norm2, sparse_normal, tally};
use lao_verification_engine::mutants::KeepsSmallest;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Instances per trial.
const EACH: usize = 100;

fn draw(rng: &mut Rng, n: usize, kind: usize) -> Vec<f64> {
    let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
    let one = |rng: &mut Rng| match kind {
        0 => normal(rng),
        1 => normal(rng).powi(5),
        2 => f64::from(rng.random_range(-3..=3)),
        _ => 1.0,
    };
    (0..n).map(|_| one(rng)).collect()
}

/// The nearest vector with `size` non-zeros.
fn best_approximation(z: &[f64], size: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_by(|&i, &j| z[j].abs().total_cmp(&z[i].abs()));
    let mut best = vec![0.0; z.len()];
    order[..size].iter().for_each(|&j| best[j] = z[j]);
    best
}

const DENOMINATOR_OFF_BY_ONE: Mutant = Mutant::refuted("denominator_off_by_one", "the factor (n-s)/(n-s*+1)");
const COUNTS_ONE_KEPT_TOO_MANY: Mutant =
    Mutant::refuted("counts_one_kept_too_many", "keeps s entries and claims the loss of s+1");
const KEEPS_SMALLEST: Mutant = Mutant::refuted("keeps_smallest", "keeps the entries of smallest magnitude");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let n = cx.size("instances")?.div_ceil(EACH as u64);
    let [all] = tally(cx, "instances", n, |trial, [tally]| {
        let mut rng = trial.seed.child("data").rng();
        let (mut hard, mut smallest) = (HardThreshold::default(), KeepsSmallest);
        for i in 0..EACH {
            let n = rng.random_range(2..=40);
            let s = rng.random_range(1..n);
            let star = rng.random_range(0..=s);
            let z = draw(&mut rng, n, i % 4);
            let b = if i % 8 < 4 { best_approximation(&z, star) } else { sparse_normal(&mut rng, n, star) };
            let mut kept = SparseVector::zeros(n);
            if cx.commits(&KEEPS_SMALLEST) {
                smallest.keep(&z, s, &mut kept)?;
            } else {
                hard.keep(&z, s, &mut kept)?;
            }
            let (above, below) = if cx.commits(&COUNTS_ONE_KEPT_TOO_MANY) {
                (n - s - 1, n - star)
            } else if cx.commits(&DENOMINATOR_OFF_BY_ONE) {
                (n - s, n - star + 1)
            } else {
                (n - s, n - star)
            };
            let lost = norm2(&minus(&kept.view().to_dense(), &z));
            let bound = above as f64 / below as f64 * norm2(&minus(&z, &b));
            let (lhs, rhs) = in_units(norm2(&z), lost, bound);
            tally.check(lhs, rhs);
        }
        Ok(())
    })?;
    cx.judge("vectors of up to 40 coordinates", all.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-lemma-a4",
    place: "Supplement A.1, Lemma A.4",
    sentence: "Hard thresholding to s entries loses at most the share (n-s)/(n-s*) of the distance to any \
               s*-sparse vector.",
    formula: r"\| \mathcal{H}_s(z) - z \|^2 \le \frac{n - s}{n - s_*} \| z - b \|^2, \qquad \|b\|_0 \le
               s_* \le s < n",
    design: "The production H_s on vectors of up to 40 coordinates: normal, heavy-tailed, small integers \
             with ties and zeros, all ones; b the best s*-term approximation (by sorting) or random.",
    standing: Standing::sound(),
    mutants: &[DENOMINATOR_OFF_BY_ONE, COUNTS_ONE_KEPT_TOO_MANY, KEEPS_SMALLEST],
    experiment,
};
