//! Lemma 3: hard thresholding expands distances to sparse vectors a little.
//!
//! *Tightness.* True, and about twice too large: the sharp constant is `(q + sqrt(q (4 + q)))/2`,
//! `q = m/(k - k* + m)`, `m = min(k*, d - k)`. It is attained at `d = k + k*`, x all ones and `x* = y` on the
//! coordinates that are dropped, `y = (1 + sqrt(1 + 4/q))/2`.

use lao_algorithms::thresholding::theory::{expansion, sharp_expansion};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{minus, norm2, random_support, sparse_normal, tally};
use lao_verification_engine::judge::{PropertyTally, exact_all};
use lao_verification_engine::mutants::KeepsSmallest;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// `(k*, k)` of the extremal instances.
const EXTREMAL: [(usize, usize); 6] = [(1, 2), (1, 10), (3, 10), (1, 100), (5, 100), (1, 15_877)];

/// Keeps the largest entries, not the largest magnitudes.
#[derive(Debug)]
struct KeepsLargestSigned;

impl Threshold for KeepsLargestSigned {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        let mut order: Vec<usize> = (0..dense.len()).collect();
        order.sort_by(|&i, &j| dense[j].total_cmp(&dense[i]).then(i.cmp(&j)));
        order.truncate(sparsity);
        let kept_only = |(j, x): (usize, &f64)| if order.contains(&j) { *x } else { 0.0 };
        *kept = SparseVector::from_dense(&dense.iter().enumerate().map(kept_only).collect::<Vec<_>>());
        Ok(())
    }
}

/// What an arm makes of the statement.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    half: bool,
    shaved: bool,
    one_less: bool,
    smallest: bool,
    signed: bool,
}

const HALF_ALPHA: Mutant = Mutant::refuted("half_alpha", "half of the printed alpha");
const SHARP_CONSTANT_SHAVED: Mutant =
    Mutant::refuted("sharp_constant_shaved", "a thousandth less than the sharp constant");
const KEEPS_ONE_LESS: Mutant = Mutant::refuted("keeps_one_less", "keeps k - 1 entries");
const KEEPS_SMALLEST: Mutant = Mutant::refuted("keeps_smallest", "keeps the k smallest magnitudes");
const KEEPS_LARGEST_SIGNED: Mutant =
    Mutant::refuted("keeps_largest_signed", "keeps the k largest signed values");

impl Arm {
    fn of(cx: &Context<'_>) -> Self {
        Arm {
            half: cx.commits(&HALF_ALPHA),
            shaved: cx.commits(&SHARP_CONSTANT_SHAVED),
            one_less: cx.commits(&KEEPS_ONE_LESS),
            smallest: cx.commits(&KEEPS_SMALLEST),
            signed: cx.commits(&KEEPS_LARGEST_SIGNED),
        }
    }

    fn keep(self, x: &[f64], k: usize) -> anyhow::Result<Vec<f64>> {
        let mut kept = SparseVector::zeros(x.len());
        if self.smallest {
            KeepsSmallest.keep(x, k, &mut kept)?;
        } else if self.signed {
            KeepsLargestSigned.keep(x, k, &mut kept)?;
        } else {
            HardThreshold::default().keep(x, k - usize::from(self.one_less), &mut kept)?;
        }
        Ok(kept.view().to_dense())
    }

    /// Checks both constants; returns the ratio `|H_k(x) - x*|^2 / |x - x*|^2`.
    fn check(
        self,
        [printed, sharp]: [&mut PropertyTally; 2],
        (x, star): (&[f64], &[f64]),
        (k_star, k): (usize, usize),
    ) -> anyhow::Result<f64> {
        let before = norm2(&minus(x, star));
        let after = norm2(&minus(&self.keep(x, k)?, star));
        let alpha = expansion(k_star, k) * if self.half { 0.5 } else { 1.0 };
        printed.check(after / before, 1.0 + alpha);
        let alpha = sharp_expansion(k_star, k, x.len()) * if self.shaved { 0.999 } else { 1.0 };
        sharp.check(after / before, 1.0 + alpha);
        Ok(after / before)
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    const PER_TRIAL: usize = 250;
    let arm = Arm::of(cx);
    let n = cx.size("vectors")?.div_ceil(PER_TRIAL as u64);
    let [mut printed, mut sharp] = tally(cx, "vectors", n, |trial, [printed, sharp]| {
        let rng = &mut trial.seed.child("data").rng();
        for number in 0..PER_TRIAL {
            let dim = rng.random_range(2..=12);
            let k_star = rng.random_range(1..dim);
            let k = rng.random_range(k_star + 1..=dim);
            let mut entry = || -> f64 {
                let (normal, scale): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
                normal * (0.5 * scale).exp()
            };
            let x: Vec<f64> = (0..dim).map(|_| entry()).collect();
            let mut star = sparse_normal(rng, dim, k_star);
            if number % 2 == 1 {
                // Where thresholding is most likely to cut.
                let mut order: Vec<usize> = (0..dim).collect();
                order.sort_by(|&i, &j| x[i].abs().total_cmp(&x[j].abs()));
                star.fill(0.0);
                let stretch = rng.random_range(1.0..4.0);
                order[..k_star].iter().for_each(|&j| star[j] = stretch * x[j]);
            } else if number % 4 == 2 {
                random_support(rng, dim, k_star).into_iter().for_each(|j| star[j] += x[j]);
                star = arm_free_keep(&star, k_star)?;
            }
            arm.check([&mut *printed, &mut *sharp], (&x, &star), (k_star, k))?;
        }
        Ok(())
    })?;
    let mut attained = Vec::new();
    for (k_star, k) in EXTREMAL {
        let dim = k + k_star;
        let q = k_star as f64 / k as f64;
        let y = 0.5 * (1.0 + (1.0 + 4.0 / q).sqrt());
        let star: Vec<f64> = (0..dim).map(|j| if j < k { 0.0 } else { y }).collect();
        let ratio = arm.check([&mut printed, &mut sharp], (&vec![1.0; dim], &star), (k_star, k))?;
        attained.push((ratio, 1.0 + sharp_expansion(k_star, k, dim)));
        cx.note(
            &format!("sharp constant over alpha, k* = {k_star}, k = {k}"),
            sharp_expansion(k_star, k, dim) / expansion(k_star, k),
        );
    }
    cx.judge("printed constant", printed.finish());
    cx.judge("sharp constant", sharp.finish());
    cx.judge("the sharp constant is attained", exact_all(attained, 1e-12));
    Ok(())
}

/// The `k` largest entries, whatever the arm.
fn arm_free_keep(x: &[f64], k: usize) -> anyhow::Result<Vec<f64>> {
    Arm::default().keep(x, k)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-lemma3-ht",
    place: "Lemma 3",
    sentence: "Keeping the k largest entries increases the squared distance to a k*-sparse vector at most by \
               the factor 1 + 2 sqrt(k*)/sqrt(k - k*).",
    formula: r"k > k^* = \|x^*\|_0 \Rightarrow \|H_k(x) - x^*\|^2 \le \left( 1 + \frac{2
               \sqrt{k^*}}{\sqrt{k - k^*}} \right) \|x - x^*\|^2",
    design: "Random x on log-normal scales, x* random or on the smallest entries of x; the extremal \
             instances. Both constants; the production threshold and the production constants.",
    standing: Standing::sound(),
    mutants: &[HALF_ALPHA, SHARP_CONSTANT_SHAVED, KEEPS_ONE_LESS, KEEPS_SMALLEST, KEEPS_LARGEST_SIGNED],
    experiment,
};
