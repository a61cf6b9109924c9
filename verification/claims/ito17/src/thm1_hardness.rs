//! Theorem 1: which assumptions make the problem hard.
//!
//! *Statement.* With `k = O(d^c)` and `k' = floor(k D ln d)`, no algorithm of polynomial time per example has
//! expected regret at most `poly(d, 1/sigma_d) T^(1 - delta)`, unless NP is contained in BPP; printed under
//! assumptions (1) and (2), in the text around it (1), (2) and (a).
//!
//! *Not testable.* No experiment bears on NP and BPP.
//!
//! *But not as printed* (erratum 1). For `k' >= k + 2` Algorithm 1 takes `O(d + k')` time per example, and
//! under (1), (2) and (a) Theorem 2 bounds its regret by `24 sigma_d^-2 sqrt(d(d-1)/(q(q-1))) sqrt(T+1)` with
//! `q = k' - k >= 2`, that is by `24 d sigma_d^-2 sqrt(T+1)`: a polynomial of `(d, 1/sigma_d)` times
//! `T^(1/2)`. The two theorems together would put NP into BPP. Table 1 has the row that is meant: (1) and (a)
//! without (2), where `w*` is not k-sparse and the comparator is. There Theorem 2 says nothing, and Algorithm
//! 1's regret may be linear: [`instance_a_not_2`](super::instance_a_not_2).

use lao_verification_engine::claim::{Claim, Standing};
use lao_verification_engine::context::Context;

const REASON: &str = "a statement about NP and BPP; its executable content is in the instances and the costs";

/// The bound of Theorem 2 over `24 d sigma_d^-2 sqrt(T+1)`, a polynomial of d and `1/sigma_d` times a root of
/// T; `q = k' - k`.
fn share(dim: f64, q: f64) -> f64 {
    ((dim - 1.0) / (dim * q * (q - 1.0))).sqrt()
}

/// `n` over `k`.
fn subsets(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product()
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    for (dim, k) in [(10, 2), (20, 5), (20, 7)] {
        cx.note(&format!("subsets of {k} of {dim} features"), subsets(dim, k).round());
    }
    // Largest where the fewest attributes are drawn.
    let largest = [8, 32, 128, 1024, 100_000].map(|dim: u32| share(f64::from(dim), 2.0));
    cx.note("Theorem 2 over 24 d/sigma_d^2 sqrt(T+1), at most", largest.into_iter().fold(0.0, f64::max));
    cx.not_run(REASON)
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
    standing: Standing::corrected(&[1]).not_run(REASON),
    mutants: &[],
    experiment,
};
