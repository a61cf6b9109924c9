//! Supplement, Lemma A.2: what an update adds to the support, split by membership in the true support.
//!
//! *Why.* A new member either belongs to S* or does not.

use lao_kernels::Support;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{members, subsets};
use lao_verification_engine::judge::exact_all;

const DIM: usize = 6;

fn as_support(set: u128) -> Support {
    Support::from_unsorted(members(set).map(|j| j as u32).collect())
}

fn as_number(set: &Support) -> f64 {
    set.iter().map(|j| f64::from(1 << j)).sum()
}

const FAULTS: [Fault<bool>; 1] = [Fault::refuted(
    "second_set_keeps_old_members",
    "the second set is S_t n S* without removing S_{t-1}",
    true,
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let all: Vec<Support> = subsets(DIM).map(as_support).collect();
    // Row S_{t-1}, column S*.
    let unions: Vec<Vec<Support>> = all.iter().map(|a| all.iter().map(|b| a.union(b)).collect()).collect();
    let keeps_old = cx.arm(false, &FAULTS);
    let pairs = cx.all_trials("triples", all.len() as u64, |trial| {
        let (now_bits, now) = (trial.number as usize, &all[trial.number as usize]);
        let mut pairs = Vec::with_capacity(2 * all.len() * all.len());
        let shared: Vec<Support> = all.iter().map(|star| now.intersection(star)).collect();
        for (before_bits, before) in all.iter().enumerate() {
            for (star_or_before, shared) in unions[before_bits].iter().zip(&shared) {
                let outside = now.difference(star_or_before);
                let inside = if keeps_old { shared.clone() } else { shared.difference(before) };
                let union = outside.union(&inside);
                pairs.push((as_number(&union), (now_bits & !before_bits) as f64));
                pairs.push(((outside.len() + inside.len()) as f64, union.len() as f64));
            }
        }
        Ok(pairs)
    })?;
    cx.judge("all triples of subsets of six", exact_all(pairs.into_iter().flatten(), 0.0));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-lemma-a2",
    place: "Supplement A.1, Lemma A.2",
    sentence: "The attributes that an update adds are, without overlap, those outside the true support and \
               those inside it that were not there before.",
    formula: r"S_t \setminus S_{t-1} = \left( S_t \setminus (S_{t-1} \cup S_*) \right) \oplus \left(
               (S_t \cap S_*) \setminus S_{t-1} \right)",
    design: "All 2^18 triples of subsets of six coordinates. The left side is computed on bits, the right \
             side by the set algebra of the production supports, which learners rely on.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
