//! What a round costs, in counts: attributes read, products formed, numbers kept. Seconds are for benches.
//!
//! *Products.* A round that forms the gradient matrix `X_t` is charged `k'^2` products, as the paper counts;
//! any other round `k'`, for its prediction. Whether a round forms it is read off production: the sum of the
//! gradient estimates moves in no other round.

use lao_datasets::adversarial::ito::gauss_unit;
use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
use lao_verification_engine::instance::numbers;
use serde::Serialize;

/// What some rounds took.
pub(crate) struct Work {
    pub rounds: u64,
    /// The most attributes read in one round.
    pub attributes: usize,
    /// Rounds that form a gradient matrix.
    pub matrices: u64,
    /// The most entries of the sum of the gradient estimates that one round changes.
    pub changed: usize,
    /// Numbers in the learner's stored state at the end.
    pub state: usize,
}

impl Work {
    /// Products per round, with `budget` attributes in each.
    pub fn products(&self, budget: usize) -> f64 {
        let (k, plain) = (budget as f64, (self.rounds - self.matrices) as f64);
        (self.matrices as f64 * k * k + plain * k) / self.rounds as f64
    }
}

/// Follows `rounds` rounds of a learner on normal attributes; `sum` reads the sum of its gradient estimates.
pub(crate) fn work<L: Learner + Serialize>(
    mut learner: L,
    rounds: u64,
    seed: &Seed,
    sum: impl Fn(&L) -> Vec<f64>,
) -> anyhow::Result<Work> {
    let source = gauss_unit(learner.dim(), 2, &seed.child("data"))?;
    let mut session = Session::new(source, Budget::Unlimited, &seed.child("algorithm"));
    let (mut matrices, mut most, mut before) = (0, 0, sum(&learner));
    for round in 1..=rounds {
        session.run(&mut learner, SessionLimit::after_examples(round), |_, _| {})?;
        let after = sum(&learner);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        matrices += u64::from(changed > 0);
        most = most.max(changed);
        before = after;
    }
    let attributes = session.ledger().most_attributes;
    Ok(Work { rounds, attributes, matrices, changed: most, state: numbers(&learner)? })
}

/// Slope of the least squares line through `(ln x, ln y)`.
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let along: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    along / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_the_power() {
        let points = [2.0, 3.0, 7.0, 20.0].map(|x: f64| (x, 5.0 * x.powf(1.5)));
        assert!((exponent(&points) - 1.5).abs() < 1e-12);
    }
}
