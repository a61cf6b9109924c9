//! Theorem 1: which assumptions make the problem hard.
//!
//! *Statement.* With `k = O(d^c)` and `k' = floor(k D ln d)`, no algorithm of polynomial time per example has
//! expected regret at most `poly(d, 1/sigma_d) T^(1 - delta)`, unless NP is contained in BPP; printed under
//! assumptions (1) and (2), in the text around it (1), (2) and (a).
//!
//! *Not testable.* No experiment bears on NP and BPP.
//!
//! *But not as printed* ([`PRINTED`]). For `k' >= k + 2` Algorithm 1 takes `O(d + k')` time per example, and
//! under (1), (2) and (a) Theorem 2 bounds its regret by `24 sigma_d^-2 sqrt(d(d-1)/(q(q-1))) sqrt(T+1)` with
//! `q = k' - k >= 2`, that is by `24 d sigma_d^-2 sqrt(T+1)`: a polynomial of `(d, 1/sigma_d)` times
//! `T^(1/2)`. The two theorems together would put NP into BPP. Table 1 has the row that is meant: (1) and (a)
//! without (2), where `w*` is not k-sparse and the comparator is. There Theorem 2 says nothing, and Algorithm
//! 1's regret may be linear: [`instance_a_not_2`](super::instance_a_not_2).

use crate::setup::population::Population;
use lao_algorithms::Task;
use lao_algorithms::ito::Rda1Params;
use lao_datasets::adversarial::ito;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::PropertyTally;

const REASON: &str = "a statement about NP and BPP; its executable content is in the printed form, the \
                      instances and the costs";

/// The polynomial of `d` and `1/sigma_d` that Theorem 2 stays below, times `sqrt(T + 1)`.
fn polynomial(dim: f64, least: f64, rounds: f64) -> f64 {
    24.0 * dim / least * (rounds + 1.0).sqrt()
}

/// `n` over `k`.
fn subsets(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product()
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    for (dim, k) in [(10, 2), (20, 5), (20, 7)] {
        cx.note(&format!("subsets of {k} of {dim} features"), subsets(dim, k).round());
    }
    cx.not_run(REASON)
}

/// Shapes `d, k, k' = floor(k D ln d)` with `k + 2 <= k' <= d`.
fn shapes() -> Vec<(usize, usize, usize)> {
    let mut shapes = Vec::new();
    for dim in [8, 32, 128, 1024, 100_000_usize] {
        for k in [1, 2, dim.isqrt()] {
            for constant in [1.0, 3.0] {
                let budget = (k as f64 * constant * (dim as f64).ln()).floor() as usize;
                if budget >= k + 2 && budget <= dim {
                    shapes.push((dim, k, budget));
                }
            }
        }
    }
    shapes
}

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "drops assumption (2)", true)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let mut tally = PropertyTally::new();
    if cx.arm(false, &CONTROL) {
        let population = Population::new(ito::a_not_2()?)?;
        let instance = &population.instance;
        let mut chosen = population.rda(0.02, 0.0).after(3000).0;
        chosen.iter_mut().enumerate().for_each(|(j, w)| *w *= f64::from(u8::from(j == 1)));
        let mut comparator = vec![0.0; instance.dim()];
        comparator[0] = 0.25;
        let loss = instance.excess(&chosen) - instance.excess(&comparator);
        let (dim, least, rounds) = (instance.dim() as f64, instance.sigma_d_squared()?, 1e14);
        tally.check(polynomial(dim, least, rounds), loss * rounds);
    } else {
        for (dim, k, budget) in shapes() {
            Rda1Params::from_theorem(&Task { dim, sparsity: k, budget, ..Task::default() }).build()?;
            let (d, q, rounds) = (dim as f64, (budget - k) as f64, 1e6_f64);
            let least = 1.0 / d;
            let theorem_2 = 24.0 / least * (d * (d - 1.0) / (q * (q - 1.0))).sqrt() * (rounds + 1.0).sqrt();
            tally.check(polynomial(d, least, rounds), theorem_2);
        }
    }
    cx.judge("regret exceeds 24 d/sigma_d^2 sqrt(T+1)", tally.finish());
    Ok(())
}

/// The theorem.
pub const CLAIM: Claim = Claim {
    id: "ito17-thm1-hardness",
    place: "Theorem 1",
    sentence: "Under (1) and (a), without (2), no algorithm of polynomial time has regret polynomial in d \
               and 1/sigma_d and sublinear in T, unless NP is contained in BPP.",
    formula: r"E[R_T] \le \operatorname{poly}(d, 1/\sigma_d) \, T^{1-\delta} \;\Rightarrow\; \mathrm{NP}
               \subseteq \mathrm{BPP}",
    design: "Not judged. Reported: the subsets of features that an exhaustive algorithm has to keep.",
    standing: Standing::corrected(&[]).not_run(REASON),
    mutants: &[],
    experiment,
};

/// Under the assumptions as printed.
pub const PRINTED: Claim = Claim {
    id: "ito17-thm1-hardness-printed",
    sentence: "Under (1), (2) and (a), with k' = k D ln d, no algorithm of polynomial time has regret below \
               a polynomial in d and 1/sigma_d times a sublinear power of T.",
    formula: r"k' = \lfloor k D \ln d \rfloor: \quad E[R_T] > \frac{24 d}{\sigma_d^2} \sqrt{T+1} \text{
               for every efficient algorithm}",
    design: "The bound of Theorem 2 for Algorithm 1, which is efficient, against that polynomial at all \
             dimensions up to 10^5 with k + 2 <= k' <= d, the parameters being accepted by production. On \
             the instance without (2) the linear regret of Algorithm 1 exceeds the same polynomial.",
    standing: Standing::printed(&[1]),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
    ..CLAIM
};
