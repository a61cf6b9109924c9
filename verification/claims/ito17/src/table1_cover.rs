//! Table 1, first row: with (1) and (2) alone the problem is hard.
//!
//! *Print.* "Hard \\[5\\]", that is by Foster et al. (2015): no polynomial-time algorithm has sublinear
//! regret unless NP is in BPP. A test cannot show hardness. What it can show is where it comes from: a
//! k-sparse predictor without loss is an exact cover.
//!
//! *Reduction* (this project's; the paper has none for this row). Let features be sets of q of m = k q
//! elements, an example the indicators of a random element (or random signs of all elements, added up: the
//! second moments are the same), and the label the sum over all elements. A predictor has no loss iff its
//! weights add up to 1 at every element. With k non-zeros each element must be in one of the k sets at least,
//! and these have k q elements in all: they are disjoint, an exact cover. Finding one is NP-hard for q >= 3.
//!
//! *What happens.* On [`ito::exact_cover`] one pair of features has no excess risk. Dual averaging goes to
//! the solution of least norm, `.6/11 (3, 3, 2, 4, 2, 2, 4, 2)`, whose largest weights are those of two
//! features that share an element. The l1 norm does not help either: neither (a) nor (b) holds.

use crate::setup::population::{Last, Population};
use lao_datasets::adversarial::ito;
use lao_kernels::solve_positive;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, largest, masks, members};
use lao_verification_engine::judge::{PropertyTally, exact_all};

/// Elements, of which a set has two: small enough that all families of six sets can be looked at.
const ELEMENTS: usize = 6;
const FAMILY: usize = 6;

/// The least loss of weights on some of the sets, each a mask of elements, against a label of 1 at every
/// element.
fn loss(sets: &[u128]) -> f64 {
    let shared = |a: &u128, b: &u128| f64::from((a & b).count_ones());
    let mut matrix: Vec<f64> = sets.iter().flat_map(|a| sets.iter().map(move |b| shared(a, b))).collect();
    let covered: Vec<f64> = sets.iter().map(|a| shared(a, a)).collect();
    let mut weights = covered.clone();
    solve_positive(&mut matrix, &mut weights);
    ELEMENTS as f64 - weights.iter().zip(&covered).map(|(w, b)| w * b).sum::<f64>()
}

const SIX_SETS: Mutant =
    Mutant::refuted("six_sets_may_be_used", "lets a predictor use six sets of two elements");
const LAST_FOR_THE_AVERAGE: Mutant =
    Mutant::refuted("last_for_the_average", "takes the last weights of production for their average");
const COVER_APART: Mutant =
    Mutant::refuted("cover_apart", "takes away what the cover's features share with the others");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let most = if cx.commits(&SIX_SETS) { FAMILY } else { ELEMENTS / 2 };
    let sets: Vec<u128> = masks(ELEMENTS, 2).collect();
    let mut equivalent = Vec::new();
    for family in masks(sets.len(), FAMILY) {
        let family: Vec<u128> = members(family).map(|j| sets[j]).collect();
        let chosen = |of: usize| masks(FAMILY, of).map(|some| members(some).map(|j| family[j]).collect());
        let without_loss = chosen(most).any(|some: Vec<u128>| loss(&some) < 1e-9);
        let all = (1 << ELEMENTS) - 1;
        let covers = chosen(ELEMENTS / 2).any(|some: Vec<u128>| some.iter().fold(0, |a, b| a | b) == all);
        equivalent.push((f64::from(u8::from(without_loss)), f64::from(u8::from(covers))));
    }
    cx.judge("a predictor without loss exists iff an exact cover does", exact_all(equivalent, 0.0));

    let mut population = Population::new(ito::exact_cover()?)?;
    let dim = population.w_star.len();
    if cx.commits(&COVER_APART) {
        for (i, j) in (0..2).flat_map(|i| (2..dim).map(move |j| (i, j))) {
            (population.covariance[i * dim + j], population.covariance[j * dim + i]) = (0.0, 0.0);
        }
    }
    let mut missed = PropertyTally::new();
    for rounds in [3000, 30_000] {
        for penalty in [0.0, 0.02, 0.1] {
            let (w, average) = population.rda(0.1, penalty).after(rounds);
            for w in [w, average] {
                missed.check(f64::from(u8::from(largest(&w, 2) == [0, 1])), 0.0);
            }
        }
    }
    cx.judge("no dual averaging has the cover's weights largest", missed.finish());
    let last = Last(cx.commits(&LAST_FOR_THE_AVERAGE));
    let beside = [population.production(0.1, 0.0, last)?, population.production(0.1, 0.1, last)?].concat();
    cx.judge("production told the population's gradients", exact_all(beside, 1e-9));
    let (_, plain) = population.rda(0.1, 0.0).after(30_000);
    let least = [3.0, 3.0, 2.0, 4.0, 2.0, 2.0, 4.0, 2.0].map(|part| 0.6 / 11.0 * part);
    cx.judge("limit without the l1 term: least norm", exact_all(plain.into_iter().zip(least), 2e-3));
    let mut compatibility = PropertyTally::new();
    compatibility.check(population.instance.compatibility(1e-8)?.upper, 1e-7);
    compatibility.check(population.instance.sigma_d_squared()?, 1e-9);
    // w* and the solution of least norm predict the same.
    let difference: Vec<f64> = population.w_star.iter().zip(&least).map(|(star, w)| star - w).collect();
    let image = population.covariance.chunks_exact(dim).map(|row| dot(row, &difference));
    compatibility.check(image.map(f64::abs).sum(), 1e-9);
    cx.judge("neither (a) nor (b): phi_0 = 0", compatibility.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-table1-cover",
    place: "Table 1, first row",
    sentence: "With assumptions (1) and (2) alone, a k-sparse predictor without loss may be an exact cover \
               of a set, which is NP-hard to find; and where one exists, dual averaging need not find it.",
    formula: r"\min_{\|w\|_0 \le m/q} \sum_{i=1}^m \Bigl( 1 - \sum_{j: i \in A_j} w_j \Bigr)^2 = 0
               \iff \text{an exact cover exists}",
    design: "All 5,005 families of six sets of two of six elements: least squares on every three of them, \
             and every cover. An instance with eight sets of three elements, of which one pair covers: the \
             population recursion to s = 30000 with rho_0 = 0, .02, .1, production beside it, and certified \
             compatibility. An instance, not a proof of hardness.",
    standing: Standing::sound(),
    mutants: &[SIX_SETS, LAST_FOR_THE_AVERAGE, COVER_APART],
    experiment,
};
