//! Definition 1: the length of an epoch.
//!
//! *Not tested.* Inversion must never see U = 0; it would do so once in 2^53 draws. The sampler draws from
//! (0, 1] by construction.

use lao_algorithms::thresholding::{BatchLaw, EpochLength};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::equal::{EqualJudge, discrete};
use lao_verification_engine::mutants::{FaultyDraws, WrongLength};

const PAIRS: [(usize, usize); 5] = [(1, 1), (10, 1), (100, 10), (100, 1), (64, 7)];
/// Draws per trial.
const CHUNK: u64 = 10_000;

/// Largest relative deviation of a cell's probability, and of the mean, that counts as none.
const MARGINS: (f64, f64) = (0.15, 0.03);

/// Consecutive cells of at least two percent: the value that ends each (the last has no end), and its
/// probability.
fn cells(g: f64) -> (Vec<u64>, Vec<f64>) {
    let (mut ends, mut law, mut mass, mut left) = (Vec::new(), Vec::new(), 0.0, 1.0);
    for j in 0.. {
        let p = (1.0 - g) * g.powi(j);
        mass += p;
        if mass >= 0.02 {
            if left - mass < 0.02 {
                break;
            }
            left -= mass;
            law.push(mass);
            ends.push(j as u64);
            mass = 0.0;
        }
    }
    law.push(left);
    (ends, law)
}

const FAULTS: [Fault<WrongLength>; 4] = [
    Fault::refuted("support_from_one", "geometric on 1, 2, ..: no epoch is empty", WrongLength::FromOne),
    Fault::refuted("parameter_swapped", "parameter b/(B+b) in place of B/(B+b)", WrongLength::Swapped),
    Fault::refuted("capped", "lengths cut off at 2B/b", WrongLength::Truncated),
    Fault::refuted(
        "rounded_exponential",
        "an exponential of mean B/b, rounded to the nearest",
        WrongLength::RoundedExponential,
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    for (batch, mini) in PAIRS {
        let (batch, mini) = (batch as f64, mini as f64);
        let (g, ratio) = (batch / (batch + mini), batch / mini);
        let (mut mass, mut mean, mut square, mut p) = (0.0, 0.0, 0.0, 1.0 - g);
        let mut j = 0.0;
        while 1.0 - mass > 1e-14 && j < 1e5 {
            mass += p;
            mean += j * p;
            square += j * j * p;
            p *= g;
            j += 1.0;
        }
        let same = |found: f64, exact: f64| (found - exact).abs() <= 1e-9 * (1.0 + exact);
        let right = same(mean, ratio) && same(square - mean * mean, ratio * ratio + ratio);
        anyhow::ensure!(right, "the sums over the law are not its moments: B = {batch}, b = {mini}");
    }

    let fault = cx.fault(&FAULTS);
    let chunks = cx.size("draws")?.div_ceil(CHUNK);
    cx.split(2 * PAIRS.len());
    for (batch, mini) in PAIRS {
        let name = format!("B = {batch}, b = {mini}");
        let lengths = cx.all_trials(&name, chunks, |trial| {
            let rng = &mut trial.seed.child("algorithm").rng();
            let mut draws = FaultyDraws::new(batch, fault, None);
            Ok((0..CHUNK).map(|_| draws.length(EpochLength::Geometric, batch, mini, rng)).collect::<Vec<_>>())
        })?;
        let ratio = batch as f64 / mini as f64;
        let (ends, law) = cells(batch as f64 / (batch + mini) as f64);
        let (mut counts, mut mean) = (vec![0; law.len()], EqualJudge::new(vec![1.0], Vec::new()));
        for length in lengths.into_iter().flatten() {
            counts[ends.partition_point(|&end| end < length)] += 1;
            mean.push(&[length as f64 / ratio]);
        }
        cx.judge(&format!("law, {name}"), discrete(&counts, &law, Some(MARGINS.0)));
        let mean = mean.finish(Some(MARGINS.1), cx.alpha() / (2 * PAIRS.len()) as f64);
        cx.judge(&format!("mean over B/b, {name}"), mean);
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-def1-geometric",
    place: "Definition 1, Algorithm 1 line 5",
    sentence: "The epoch length is geometric on 0, 1, .. with parameter B/(B+b), and has mean B/b.",
    formula: r"P(N = j) = (1 - \gamma) \gamma^j, \; \gamma = \tfrac{B}{B+b} \Rightarrow E N =
               \tfrac{B}{b}, \; \mathrm{Var} N = \tfrac{B^2}{b^2} + \tfrac{B}{b}",
    design: "The production sampler: its law on cells of at least two percent, and its mean, for five pairs \
             (B, b). That the printed moments are those of the printed law is arithmetic: it is checked \
             before the draws, and not judged.",
    standing: Standing::sound().literal(),
    mutants: &mutants(&FAULTS),
    experiment,
};
