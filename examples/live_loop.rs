//! Asks and tells without a source: lao says which tests to order for the next patient, the world answers,
//! and what was learned is stored before the next patient comes. Nothing is lost when the program ends in
//! between.
//!
//! ```sh
//! cargo run -p lao-examples --bin live_loop
//! ```

use anyhow::{Context as _, bail};
use lao_algorithms::Task;
use lao_algorithms::ito::{Rda2, Rda2Params};
use lao_observation::{Ask, BlockBuf, Learner as _, Request, Rng, Seed, Told};
use rand::RngExt as _;

const TESTS: [&str; 6] = ["age", "blood pressure", "glucose", "cholesterol", "weight", "pulse"];

/// What a laboratory, a sensor or a form would answer: here, chance.
fn world(patient: u64, asked: &[u32]) -> (Vec<f64>, f64) {
    let mut rng = Seed::root(100).trial(patient).rng();
    let values: Vec<f64> = TESTS.iter().map(|_| rng.random_range(-1.7..1.7)).collect();
    let outcome = 2.0 * values[2] - values[4] + rng.random_range(-0.1..0.1);
    (asked.iter().map(|&test| values[test as usize]).collect(), outcome)
}

fn main() -> anyhow::Result<()> {
    // Three of the six tests per patient. This method asks for the values of one example at a time.
    let task = Task { dim: TESTS.len(), sparsity: 2, budget: 3, examples: 3000, ..Task::default() };
    let learner = Rda2Params::practical(&task)?.build()?;
    let mut stored = serde_json::to_string(&(learner, Seed::root(1).rng()))?;

    for patient in 0..3000 {
        // A new day: all that is known is what was stored.
        let (mut learner, mut rng): (Rda2, Rng) = serde_json::from_str(&stored)?;
        let mut ask = Ask::new(TESTS.len());
        learner.ask(&mut rng, &mut ask);
        let Request::Values { attributes, .. } = ask.request() else { bail!("the method is finished") };
        let (values, outcome) = world(patient, attributes);

        let mut block = BlockBuf::new();
        block.reset(attributes.len(), 1);
        block.single_mut().context("one example")?.copy_from_slice(&values);
        block.labels_mut()[0] = outcome;
        block.set_rows(1);
        learner.tell(Told::Values(block.view(attributes)))?;
        stored = serde_json::to_string(&(learner, rng))?;

        if patient % 1000 == 999 {
            let (learner, _): (Rda2, Rng) = serde_json::from_str(&stored)?;
            let terms = learner.coefficients();
            let terms = terms.iter().map(|(j, weight)| format!("{weight:+.2} {}", TESTS[j as usize]));
            println!("after {} patients: {}", patient + 1, terms.collect::<Vec<_>>().join(" "));
        }
    }
    Ok(())
}
