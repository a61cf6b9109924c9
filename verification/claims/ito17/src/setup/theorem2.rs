//! The runs that the claims of Theorem 2 share.
//!
//! *Examples.* Signs over `sqrt d`, so that `|x| = 1` and `V = I/d`; `w*` of norm .9 spread over the last k
//! features, where ties at the start do not help; noise +-.1, so that `|y| <= 1`. Then
//! `sigma_1^2 = sigma_d^2 = 1/d`.
//!
//! *Judged.* The learner's squared loss, which is its regret against `w*` plus `T sigma^2`: never negative,
//! and at most `4 T` because prediction and label are at most 1.

use super::regret::Race;
use lao_algorithms::ito::{Rda1Params, Regularization};
use lao_datasets::synthetic::{Noise, Rademacher, Scaled, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Ask, LearnError, Learner, Rng, Seed, Told};
use lao_verification_engine::context::View;

/// `sigma`.
const NOISE: f64 = 0.1;

/// A setting of Theorem 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// `d`.
    pub dim: usize,
    /// `k = k_1`.
    pub kept: usize,
    /// `k'`.
    pub budget: usize,
}

impl Shape {
    pub fn name(&self) -> String {
        format!("(d, k, k') = ({}, {}, {})", self.dim, self.kept, self.budget)
    }

    /// `q (q-1)/(n (n-1))` with `q = k' - k_1` and n the number of features that q are drawn from; 1 if all
    /// are.
    fn pair(&self, of: usize) -> f64 {
        let (q, n) = ((self.budget - self.kept) as f64, of as f64);
        if self.budget == self.dim && of < self.dim { 1.0 } else { q * (q - 1.0) / (n * (n - 1.0)) }
    }

    /// `C`.
    pub fn floor(&self) -> f64 {
        self.pair(self.dim)
    }

    /// `lambda_t = c lambda (t/T)^power`, with `lambda = 8 sqrt(T/C)` as in the theorem.
    pub fn regularization(&self, c: f64, power: f64, rounds: u64) -> Regularization {
        let t = rounds as f64;
        Regularization { scale: c * 8.0 * (t / self.floor()).sqrt() / t.powf(power), power }
    }

    /// The bound of Theorem 2 for any step size, `3/sigma_d^2 (16/C sum 1/lambda_t + lambda_{T+1}/2)`.
    pub fn printed(&self, lambda: Regularization, rounds: u64) -> f64 {
        let (sum, last) = sums(lambda, rounds);
        3.0 * self.dim as f64 * (16.0 / self.floor() * sum + last / 2.0)
    }

    /// The same from the sharp forms of Lemmas 3, 4 and 5: `(3 + sqrt 5)/2 sigma_1^2/sigma_d^2` for
    /// `3/sigma_d^2`, the least pair probability for C, `1/(2 lambda_t)` for `1/lambda_t`.
    pub fn sharper(&self, lambda: Regularization, rounds: u64) -> f64 {
        let (sum, last) = sums(lambda, rounds);
        (3.0 + 5.0_f64.sqrt()) / 2.0 * (8.0 / self.pair(self.dim - self.kept) * sum + last / 2.0)
    }

    /// Production Algorithm 1.
    pub fn algorithm_1(&self, regularization: Regularization) -> Rda1Params {
        let Shape { dim, kept, budget } = *self;
        Rda1Params { dim, budget, kept, regularization, radius: 1.0 }
    }

    /// Squared loss of a learner that observes `budget` attributes per round, in each of the views.
    pub fn losses(
        &self,
        mut learner: impl Learner,
        views: &[View],
        (budget, rounds): (usize, u64),
        seed: &Seed,
    ) -> anyhow::Result<Vec<f64>> {
        let (dim, kept) = (self.dim, self.kept);
        let design = Scaled::new(Rademacher::new(dim)?, 1.0 / (dim as f64).sqrt())?;
        let last = (dim - kept) as u32..dim as u32;
        let star = SparseVector::new(dim, last.collect(), vec![0.9 / (kept as f64).sqrt(); kept])?;
        let mut source = Virtual::new(design, star.clone(), Noise::Signs(NOISE), &seed.child("data"))?;
        let race = Race::new(&mut source, star.view(), vec![rounds])?;
        let regrets = race.regrets(&mut learner, budget, &seed.child("algorithm"), views, |_| {})?;
        Ok(regrets.into_iter().map(|regret| regret[0] + race.comparator()).collect())
    }

    /// Half of the regret of the predictor zero, `|w*|^2/d` per round: what a learner has to stay below.
    pub fn half_of_zero(&self, rounds: u64) -> f64 {
        0.5 * 0.81 / self.dim as f64 * rounds as f64
    }

    /// What is added to a bound on the regret to make it one on the loss.
    pub fn noise(rounds: u64) -> f64 {
        NOISE * NOISE * rounds as f64
    }
}

/// `sum_{t <= T} 1/lambda_t` and `lambda_{T+1}`.
fn sums(lambda: Regularization, rounds: u64) -> (f64, f64) {
    let at = |t: u64| lambda.scale * (t as f64).powf(lambda.power);
    ((1..=rounds).map(|t| 1.0 / at(t)).sum(), at(rounds + 1))
}

/// Algorithm 1 with every gradient estimate turned around.
pub(crate) struct Ascends(pub lao_algorithms::ito::Rda1);

impl Learner for Ascends {
    lao_verification_engine::hand_on!(0: dim predict coefficients updates);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.0.ask(rng, ask);
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let before = self.0.gradient_sum();
        self.0.tell(told)?;
        let after = self.0.gradient_sum();
        let turned: Vec<f64> =
            before.iter().zip(&after).map(|(before, after)| 2.0 * before - after).collect();
        if let Ok(ascended) = self.0.clone().with_gradient_sum(&turned) {
            self.0 = ascended;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_closed_form() {
        // C = 1/3, least pair probability 1; sum t^(-1/2) <= 2 sqrt T.
        let shape = Shape { dim: 3, kept: 1, budget: 3 };
        let lambda = shape.regularization(1.0, 0.5, 10_000);
        assert!((lambda.at(4) - 16.0 * 3.0_f64.sqrt()).abs() < 1e-9);
        let root = 10_001.0_f64.sqrt();
        let printed = shape.printed(lambda, 10_000) / root;
        assert!(printed > 123.0 && printed < 72.0 * 3.0_f64.sqrt());
        let sharper = shape.sharper(lambda, 10_000) / root;
        assert!(sharper > 21.0 && sharper < 2.618_034 * (2.0 / 3.0 + 4.0) * 3.0_f64.sqrt());
    }
}
