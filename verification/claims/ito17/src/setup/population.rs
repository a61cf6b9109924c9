//! Dual averaging on the instances where an assumption fails: exact recursions, and production beside them.

use anyhow::ensure;
use lao_algorithms::Task;
use lao_algorithms::ito::{Rda2, Rda2Params, Rda3, Rda3Params, Regularization};
use lao_datasets::adversarial::ito::Instance;
use lao_datasets::synthetic::Noise;
use lao_observation::{BlockBuf, Seed, Source};
use lao_verification_engine::instance::DualAveraging;
use lao_verification_engine::probe::ManualSession;

/// Rounds of exploration for which production is followed: 3600 examples.
const FOLLOWED: u64 = 60;

/// Whether an arm takes the last weights for their average.
#[derive(Clone, Copy)]
pub struct Last(pub bool);

/// An instance with the matrices that the recursions need.
pub struct Population {
    pub instance: Instance,
    pub covariance: Vec<f64>,
    pub w_star: Vec<f64>,
}

impl Population {
    pub fn new(instance: Instance) -> anyhow::Result<Population> {
        let (covariance, w_star) = (instance.covariance()?, instance.w_star().view().to_dense());
        Ok(Population { instance, covariance, w_star })
    }

    pub fn rda(&self, scale: f64, penalty: f64) -> DualAveraging<'_> {
        DualAveraging { covariance: &self.covariance, w_star: &self.w_star, scale, penalty }
    }

    /// Pairs of the average of production Algorithm 2 (no penalty) or 3, told the population's gradients, and
    /// of the recursion. With `last` production's last weights take the place of their average, as a fault.
    pub fn production(&self, scale: f64, penalty: f64, last: Last) -> anyhow::Result<Vec<(f64, f64)>> {
        let dim = self.w_star.len();
        let rda = self.rda(scale, penalty);
        let explore = Regularization::sqrt(scale);
        let mut learner = Learners::new(dim, dim, explore, penalty)?;
        let (mut hand, mut rounds) = (ManualSession::new(dim, &Seed::root(0)), 0);
        loop {
            if !learner.explores() {
                learner.serve(&mut hand, &vec![0.0; dim], 0.0)?;
                continue;
            }
            rounds += 1;
            if rounds == FOLLOWED {
                break;
            }
            let w = learner.explorer();
            let g: Vec<f64> = rda.gradient(&w).collect();
            let y = lao_verification_engine::instance::dot(&w, &g) - 0.5;
            learner.serve(&mut hand, &g, y)?;
        }
        let (_, average) = rda.after(FOLLOWED);
        let found = if last.0 { learner.explorer() } else { learner.average() };
        Ok(found.into_iter().zip(average).collect())
    }
}

/// The average of production Algorithm 2 (no penalty) or 3 before exploration round `rounds` of a run on
/// `instance`, with `budget` attributes per example. It depends on the examples of exploring rounds alone;
/// the others are zeros here, which costs no draws.
///
/// # Errors
/// When the parameters are refused or the source fails.
pub fn average_of_run(
    instance: &Instance,
    budget: usize,
    penalty: f64,
    rounds: u64,
    seed: &Seed,
) -> anyhow::Result<Vec<f64>> {
    let dim = instance.dim();
    let mut learner = Learners::new(dim, budget, Regularization::sqrt(1.0), penalty)?;
    let mut source = instance.source(Noise::None, &seed.child("data"))?;
    let all: Vec<u32> = (0..dim as u32).collect();
    let mut block = BlockBuf::new();
    block.reset(dim, rounds as usize);
    let explored = source.observe(&all, &mut block)? as u64;
    ensure!(explored == rounds, "the source is dry after {explored} examples");
    let view = block.view(&all);
    let (mut hand, zeros) = (ManualSession::new(dim, &seed.child("algorithm")), vec![0.0; dim]);
    let mut x = zeros.clone();
    for round in 1..rounds as usize {
        x.iter_mut().enumerate().for_each(|(c, x)| *x = view.column(c)[round]);
        ensure!(learner.explores(), "round {} does not explore", round * round);
        learner.serve(&mut hand, &x, view.labels()[round])?;
        for _ in 0..2 * round {
            learner.serve(&mut hand, &zeros, 0.0)?;
        }
    }
    Ok(learner.average())
}

/// Algorithm 2 or 3.
enum Learners {
    Two(Rda2),
    Three(Rda3),
}

impl Learners {
    fn new(dim: usize, budget: usize, explore: Regularization, penalty: f64) -> anyhow::Result<Learners> {
        Ok(if penalty > 0.0 {
            let params = Rda3Params::from_theorem(&Task { dim, budget, ..Task::default() }, penalty);
            Learners::Three(Rda3Params { explore, ..params }.build()?)
        } else {
            Learners::Two(
                Rda2Params { explore, ..Rda2Params::from_theorem(&Task { dim, budget, ..Task::default() }) }
                    .build()?,
            )
        })
    }

    fn serve(&mut self, hand: &mut ManualSession, x: &[f64], y: f64) -> anyhow::Result<()> {
        match self {
            Learners::Two(learner) => hand.serve(learner, x, y),
            Learners::Three(learner) => hand.serve(learner, x, y),
        }
    }

    fn explores(&self) -> bool {
        match self {
            Learners::Two(learner) => learner.explores(),
            Learners::Three(learner) => learner.explores(),
        }
    }

    fn explorer(&self) -> Vec<f64> {
        match self {
            Learners::Two(learner) => learner.explorer(),
            Learners::Three(learner) => learner.explorer(),
        }
    }

    fn average(&self) -> Vec<f64> {
        match self {
            Learners::Two(learner) => learner.average(),
            Learners::Three(learner) => learner.average(),
        }
    }
}
