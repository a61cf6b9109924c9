//! Section 5.1: when the selected set leaves no room for random attributes.
//!
//! *Statement.* "If `U_t` is in `S_t` and `|S_t| = k' = k >= k_1 = |U_t|`, then `U_t = S_t`." A subset equals
//! the set iff it is as large, so the inequality must be `k_1 >= k`: the same slip as in Lemma 3, whose proof
//! needs `k_1 >= |S*|`. The conclusion drawn from it, that Algorithm 1's two requirements clash for `k' = k`,
//! is right: `k_1 >= k` leaves nothing to draw.

use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::subsets;
use lao_verification_engine::judge::PropertyTally;

/// What is assumed of U and S.
#[derive(Clone, Copy)]
struct Assumed {
    nested: bool,
    /// `|U| >= |S|`; otherwise the printed `|S| >= |U|`.
    as_large: bool,
}

fn judge(cx: &mut Context<'_>, assumed: Assumed) {
    let mut tally = PropertyTally::new();
    for s in subsets(6) {
        for u in subsets(6).filter(|u| !assumed.nested || u & !s == 0) {
            let sizes = if assumed.as_large {
                u.count_ones() >= s.count_ones()
            } else {
                s.count_ones() >= u.count_ones()
            };
            if sizes {
                tally.check(f64::from((u ^ s).count_ones()), 0.0);
            }
        }
    }
    cx.judge("all pairs of subsets of six", tally.finish());
}

const SOUND: Assumed = Assumed { nested: true, as_large: true };

const FAULTS: [Fault<Assumed>; 2] = [
    Fault::refuted("as_printed", "assumes k >= k_1", Assumed { as_large: false, ..SOUND }),
    Fault::refuted(
        "not_nested",
        "does not assume that U is contained in S",
        Assumed { nested: false, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    judge(cx, cx.arm(SOUND, &FAULTS));
    Ok(())
}

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "assumes k_1 >= k", true)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    judge(cx, Assumed { nested: true, as_large: cx.arm(false, &CONTROL) });
    Ok(())
}

/// With the inequality that the conclusion needs.
pub const CLAIM: Claim = Claim {
    id: "ito17-equal-sets",
    place: "Section 5.1, first paragraph",
    sentence: "If U is contained in S and k_1 = |U| is at least k = |S|, then U = S, and no attribute is \
               left to draw.",
    formula: r"U_t \subset S_t, \; |S_t| = k' = k \le k_1 = |U_t| \;\Rightarrow\; U_t = S_t",
    design: "All pairs of subsets of six attributes that satisfy the hypotheses.",
    standing: Standing::corrected(&[6]),
    mutants: &mutants(&FAULTS),
    experiment,
};

/// With the printed inequality.
pub const PRINTED: Claim = Claim {
    id: "ito17-equal-sets-printed",
    sentence: "If U is contained in S and k = |S| is at least k_1 = |U|, then U = S.",
    formula: r"U_t \subset S_t, \; |S_t| = k' = k \ge k_1 = |U_t| \;\Rightarrow\; U_t = S_t",
    standing: Standing::printed(&[6]),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
    ..CLAIM
};
