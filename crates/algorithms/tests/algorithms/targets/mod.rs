//! Targets of the fuzzer: whatever the text of a stored state, of parameters or of a checkpoint is, it is
//! refused, or the learner that is read works like every other. Each target returns whether the text was
//! read.
//!
//! The targets are called by `fuzz.rs` on changed states, and by libFuzzer (`fuzz/` at the root).
#![allow(dead_code, reason = "no program calls all of them")]

use lao_algorithms::{AnyLearner, AnyParams, METHODS, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Checkpoint, Learner, Seed, Session, Source};

pub const DIM: usize = 12;
pub const BUDGET: usize = 6;
const STEPS: usize = 40;

pub fn task() -> Task {
    Task { dim: DIM, sparsity: 2, budget: BUDGET, examples: 500, speed: 0.8, ..Task::default() }
}

pub fn source(dim: usize) -> Virtual<UniformAttributes> {
    let theta = SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.0, -0.5]).unwrap();
    Virtual::new(UniformAttributes::new(dim).unwrap(), theta, Noise::Gaussian(0.1), &Seed::root(7)).unwrap()
}

/// Lets a learner make some steps in a session.
fn go_on<S: Source>(learner: &mut AnyLearner, session: &mut Session<S>, cap: usize) {
    for _ in 0..STEPS {
        // A large batch is served in pieces, of which a few are enough.
        let step = session.step(learner, 16);
        assert!(learner.coefficients().values().iter().all(|value| value.is_finite()), "NaN was learned");
        assert!(session.ledger().most_attributes <= cap, "the budget was exceeded");
        if let Err(error) = step {
            assert!(!error.to_string().is_empty());
            return;
        }
    }
}

pub fn state(text: &str) -> bool {
    let Ok(mut learner) = serde_json::from_str::<AnyLearner>(text) else { return false };
    let mut session = Session::new(source(DIM), Budget::Unlimited, &Seed::root(3)).online();
    go_on(&mut learner, &mut session, DIM);
    true
}

pub fn parameters(text: &str) -> bool {
    let Ok(params) = serde_json::from_str::<AnyParams>(text) else { return false };
    match params.build() {
        Ok(mut learner) => {
            // A run over few examples of few attributes is cheap; learners of other dimensions are only
            // built.
            let dim = learner.dim();
            if (2..=1000).contains(&dim) {
                let mut session = Session::new(source(dim), Budget::Unlimited, &Seed::root(3)).online();
                go_on(&mut learner, &mut session, dim);
            }
            true
        }
        Err(error) => {
            let named = !error.field.is_empty() && !error.value.is_empty() && !error.allowed.is_empty();
            assert!(named, "{error}");
            false
        }
    }
}

pub fn checkpoint(text: &str) -> bool {
    let Ok(checkpoint) = serde_json::from_str::<Checkpoint>(text) else { return false };
    let Ok(mut session) = Session::resume(source(DIM).with_length(1000), checkpoint) else { return false };
    let mut learner = METHODS[0].build(&task()).unwrap();
    for _ in 0..STEPS {
        if session.step(&mut learner, 16).is_err() {
            break;
        }
    }
    true
}
