//! A claim of one's own: a statement about a learner, put to a statistical test that can also say no.
//!
//! The claim: with its practical parameters, Exploration brings the excess risk below 0.05 within 40,000
//! examples in at least 9 of 10 runs. Its *mutant* takes a hundredth of the step; the same test must refute
//! it. A test that passes a method that learns nothing proves nothing, so the engine also runs the claim with
//! *crippled* learners: one that predicts zero, one that stays at its start, one that goes a hundredth of the
//! way.
//!
//! ```sh
//! cargo run -p lao-examples --bin own_claim
//! ```

use anyhow::ensure;
use lao_algorithms::{Task, murata_suzuki::ExplorationParams};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner as _, Seed, Session, SessionLimit};
use lao_verification_engine::arm::ClaimArms;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{ArmSettings, Context};
use lao_verification_engine::judge::Decision;
use lao_verification_engine::mutants::{Cripple, Crippled};
use lao_verification_engine::sizes::Sizes;
use lao_verification_engine::verdict::{decide, noticed};
use std::sync::atomic::AtomicBool;

/// The level: how often a wrong verdict is accepted.
const ALPHA: f64 = 1e-3;

const FAULTS: [Fault<f64>; 1] = [Fault::refuted("tiny_step", "takes a hundredth of the step", 0.01)];

const CLAIM: Claim = Claim {
    id: "own-exploration-learns",
    place: "this file",
    sentence: "Exploration brings the excess risk below 0.05 within 40,000 examples, with probability 0.9.",
    formula: r"P(L(\theta) - L(\theta_*) \le 0.05) \ge 0.9",
    design: "Signs, d = 100, s* = 2, s = 4, s' = 14, noise of standard deviation 0.5; a sequential test of \
             the probability of failure.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    // 1 in the honest arm; the fault's value in the arm of the mutant.
    let speed = cx.arm(1.0, &FAULTS);
    let (trials, cripple) = (cx.size("trials")?, cx.cripple());
    cx.prob("excess risk below 0.05", 0.1, trials, |trial| {
        let target = SparseVector::new(100, vec![3, 50], vec![1.0, -1.0])?;
        let data = trial.seed.child("data");
        let source = Virtual::new(Rademacher::new(100)?, target, Noise::Gaussian(0.5), &data)?;
        let task = Task { dim: 100, sparsity: 4, budget: 14, speed, ..Task::default() };
        let mut learner = Crippled::new(ExplorationParams::practical(&task)?.build()?, cripple);
        let mut session = Session::new(source, Budget::PerExample(14), &trial.seed.child("algorithm"));
        session.run(&mut learner, SessionLimit::after_examples(40_000), |_, _| {})?;
        Ok(session.source().gap(learner.coefficients()) <= 0.05)
    })
}

fn main() -> anyhow::Result<()> {
    let sizes = Sizes::from_iter([("trials".to_string(), 400)]);
    let (seed, canceled, tick) = (Seed::root(1), AtomicBool::new(false), || {});
    let settings = ArmSettings { sizes: &sizes, alpha: ALPHA, seed: &seed, canceled: &canceled, tick: &tick };
    let ClaimArms { honest, mutants, crippled } = ClaimArms::run(&CLAIM, settings)?;
    for cell in &honest.cells {
        println!("{}: {:?} after {} trials", cell.name, cell.finding.estimate, cell.finding.n_trials);
    }
    println!("{}: {:?}", CLAIM.sentence, decide(&honest, ALPHA).map_err(anyhow::Error::msg)?);
    for (mutant, arm) in CLAIM.mutants.iter().zip(&mutants) {
        let seen = noticed(mutant.must, arm, ALPHA);
        println!("a learner that {} is noticed: {seen}", mutant.fault);
        ensure!(seen, "the test cannot tell a learner that {}", mutant.fault);
    }
    for (cripple, arm) in Cripple::ALL.into_iter().zip(&crippled) {
        let passes = decide(arm, ALPHA).is_ok_and(|decision| decision == Decision::Supported);
        ensure!(!passes, "a learner that {} passes the test too", cripple.fault());
    }
    Ok(())
}
