//! Lemma 4: from steps to epochs.
//!
//! *Why.* `E D_{N+1} = sum (1-g) g^j D_{j+1} = (E D_N - (1-g) D_0)/g`. The print says "any sequence": for
//! `D_j = g^(-j)` both sides are infinite. N must not look at the path.

use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{SmallSum, epoch, minus, norm2, sparse_normal};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Steps of a production epoch; its parameter is at most .9, so that the tail beyond is below 1e-16.
const STEPS: usize = 400;

/// `(E D_N, E D_{N+1})` for a law of N.
fn expectations(law: &[f64], sequence: &dyn Fn(usize) -> f64) -> (f64, f64) {
    law.iter()
        .enumerate()
        .fold((0.0, 0.0), |(now, next), (j, p)| (now + p * sequence(j), next + p * sequence(j + 1)))
}

/// `(1-g) g^j`, to a tail of 1e-16 even when multiplied by `growth^j`.
fn geometric(g: f64, growth: f64) -> Vec<f64> {
    let terms = (1e-18_f64.ln() / (g * growth.max(1.0)).ln()).ceil() as i32;
    (0..=terms).map(|j| (1.0 - g) * g.powi(j)).collect()
}

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    SupportFromOne,
    FactorOfTheComplement,
    OptionTwo,
    CutOff,
    BestStep,
}

const FAULTS: [Fault<Wrong>; 5] = [
    Fault::refuted("support_from_one", "geometric on 1, 2, ..", Wrong::SupportFromOne),
    Fault::refuted(
        "factor_of_the_complement",
        "1/(1-g) - 1 in place of 1/g - 1",
        Wrong::FactorOfTheComplement,
    ),
    Fault::refuted("option_two", "N fixed at its mean", Wrong::OptionTwo),
    Fault::refuted("cut_off", "N conditioned on at most twice its mean", Wrong::CutOff),
    Fault::refuted(
        "best_step",
        "stops at the best step before N, so that N depends on the path",
        Wrong::BestStep,
    ),
];

/// What an arm makes of the law, given the sequence.
fn law(cx: &Context<'_>, g: f64, growth: f64, sequence: &dyn Fn(usize) -> f64) -> Vec<f64> {
    let mut law = geometric(g, growth);
    let point = |at: usize, p: f64, law: &mut Vec<f64>| {
        law.fill(0.0);
        law.resize(law.len().max(at + 1), 0.0);
        law[at] = p;
    };
    match cx.fault(&FAULTS) {
        Some(Wrong::SupportFromOne) => law.insert(0, 0.0),
        Some(Wrong::OptionTwo) => point((g / (1.0 - g)).round() as usize, 1.0, &mut law),
        Some(Wrong::CutOff) => {
            law.truncate((2.0 * g / (1.0 - g)).ceil() as usize + 1);
            let mass: f64 = law.iter().sum();
            law.iter_mut().for_each(|p| *p /= mass);
        }
        Some(Wrong::BestStep) => {
            let mut best = vec![0.0; law.len()];
            let mut at = 0;
            for (j, p) in law.iter().enumerate() {
                at = if sequence(j) < sequence(at) { j } else { at };
                best[at] += p;
            }
            return best;
        }
        Some(Wrong::FactorOfTheComplement) | None => {}
    }
    law
}

fn identity(cx: &Context<'_>, g: f64, growth: f64, sequence: &dyn Fn(usize) -> f64) -> (f64, f64) {
    let (now, next) = expectations(&law(cx, g, growth, sequence), sequence);
    let factor = if cx.fault(&FAULTS) == Some(Wrong::FactorOfTheComplement) {
        1.0 / (1.0 - g) - 1.0
    } else {
        1.0 / g - 1.0
    };
    (now - next, factor * (sequence(0) - now))
}

fn random_sequence(rng: &mut Rng, kind: u64, g: f64) -> (f64, Box<dyn Fn(usize) -> f64>) {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    match kind % 3 {
        0 => {
            let values: Vec<f64> = (0..64).map(|_| normal()).collect();
            (1.0, Box::new(move |j| values[j * 7 % 64]))
        }
        1 => {
            let (a, b) = (normal(), normal());
            (1.0, Box::new(move |j| a * j as f64 - b * (j as f64).powi(2)))
        }
        _ => {
            let growth = rng.random_range(0.0..0.8) / g;
            (growth, Box::new(move |j| growth.powi(j as i32)))
        }
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let rng = &mut cx.seed("sequences").rng();
    let mut identities: Vec<(f64, f64)> = Vec::new();
    // The sequence to which the mutants' errors refer in print.
    for g in [0.1, 0.5, 0.9, 100.0 / 101.0] {
        identities.push(identity(cx, g, 1.0, &|j| (0.7 * j as f64).cos()));
    }
    for kind in 0..cx.size("sequences")? {
        let g = rng.random_range(0.05..0.95);
        let (growth, sequence) = random_sequence(rng, kind, g);
        let (lhs, rhs) = identity(cx, g, growth, &*sequence);
        // Terms far larger than their sum round accordingly.
        let scale = 1.0 + expectations(&geometric(g, growth), &|j| sequence(j).abs()).0;
        identities.push((lhs / scale, rhs / scale));
    }
    cx.judge("sequences", exact_all(identities, 1e-10));

    let paths = cx.size("paths")?;
    let epochs = cx.all_trials("distances along production epochs", paths, |trial| {
        let rng = &mut trial.seed.child("data").rng();
        let small = SmallSum::random(rng, trial.number, 5, 4);
        let step_size = 0.5 / small.component_smoothness()?;
        let (star, start) = (sparse_normal(rng, 4, 2), sparse_normal(rng, 4, 3));
        let minis: Vec<[u32; 1]> = (0..=STEPS).map(|_| [rng.random_range(0..5)]).collect();
        let minis: Vec<&[u32]> = minis.iter().map(|mini| &mini[..]).collect();
        let path = epoch(&mut small.production()?, &start, (3, step_size), &[0, 2, 3], &minis)?;
        Ok(path.iter().map(|x| norm2(&minus(x, &star))).collect::<Vec<f64>>())
    })?;
    let on_paths = epochs.iter().enumerate().map(|(i, distances)| {
        let g = [0.5, 0.75, 0.9][i % 3];
        identity(cx, g, 1.0, &|j| distances.get(j).copied().unwrap_or(0.0))
    });
    let on_paths = exact_all(on_paths.collect::<Vec<_>>(), 1e-10);
    cx.judge("distances along production epochs", on_paths);
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-lemma4",
    place: "Lemma 4",
    sentence: "For N geometric with parameter g, independent of a sequence D with E|D_N| finite, E[D_N - \
               D_{N+1}] = (1/g - 1)(D_0 - E D_N).",
    formula: r"N \sim \mathrm{Geom}(\gamma), \; E|D_N| < \infty \Rightarrow E[D_N - D_{N+1}] = \left(
               \tfrac{1}{\gamma} - 1 \right) (D_0 - E D_N)",
    design: "Random g; sequences that are bounded, polynomial, or grow like c^j with c g < .8; and the \
             squared distances along an epoch of the production solver. Sums run to a tail below 1e-16.",
    standing: Standing::corrected(&[19]),
    mutants: &mutants(&FAULTS),
    experiment,
};
