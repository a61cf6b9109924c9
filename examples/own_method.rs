//! A method of one's own: screens all attributes by their correlation with the label, then learns on the best
//! of them.
//!
//! A learner asks and is told; it never touches the data. So it cannot exceed the budget, it can be stored
//! between two examples, and it runs on every source.
//!
//! ```sh
//! cargo run -p lao-examples --bin own_method
//! ```

use lao_datasets::synthetic::{Noise, Normal, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Ask, Budget, Example, LearnError, Learner, Rng, Seed, Session, SessionLimit, Told};
use rand::RngExt as _;

/// Looks at `budget` attributes in turn while it screens, then at the `sparsity` attributes that it has
/// chosen.
#[derive(Clone, Debug)]
struct Screening {
    budget: usize,
    sparsity: usize,
    /// Examples still to be screened.
    left: u64,
    /// Sums of `x_j y`.
    correlations: Vec<f64>,
    theta: SparseVector,
    updates: u64,
}

impl Learner for Screening {
    fn dim(&self) -> usize {
        self.correlations.len()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        let wanted = ask.values(1);
        if self.left == 0 {
            wanted.extend_from_slice(self.theta.indices());
            return;
        }
        // A random window of attributes, sorted and distinct.
        let first = rng.random_range(0..=self.correlations.len() - self.budget) as u32;
        wanted.extend(first..first + self.budget as u32);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if self.left > 0 {
            for (&j, x) in seen.attributes.iter().zip(seen.values) {
                self.correlations[j as usize] += x * label;
            }
            self.left -= 1;
            if self.left == 0 {
                self.choose();
            }
            return Ok(());
        }
        // A gradient step on the support, with a step size that decays.
        let residual = seen.dot(self.theta.view()) - label;
        let step_size = 1.0 / (20.0 + self.updates as f64);
        for (weight, x) in self.theta.values_mut().iter_mut().zip(seen.values) {
            *weight -= step_size * residual * x;
        }
        self.updates += 1;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

impl Screening {
    /// Chooses the attributes of the largest correlations.
    fn choose(&mut self) {
        let mut order: Vec<u32> = (0..self.correlations.len() as u32).collect();
        order.sort_by(|&i, &j| {
            self.correlations[j as usize].abs().total_cmp(&self.correlations[i as usize].abs())
        });
        let mut support = order[..self.sparsity].to_vec();
        support.sort_unstable();
        let zeros = vec![0.0; support.len()];
        if let Ok(theta) = SparseVector::new(self.correlations.len(), support, zeros) {
            self.theta = theta;
        }
    }
}

fn main() -> anyhow::Result<()> {
    let target = SparseVector::new(200, vec![20, 120], vec![1.0, -2.0])?;
    let source = Virtual::new(Normal::new(200)?, target, Noise::Gaussian(0.5), &Seed::root(3))?;
    let mut learner = Screening {
        budget: 10,
        sparsity: 2,
        left: 20_000,
        correlations: vec![0.0; 200],
        theta: SparseVector::zeros(200),
        updates: 0,
    };
    let mut session = Session::new(source, Budget::PerExample(10), &Seed::root(4));
    session.run(&mut learner, SessionLimit::after_examples(30_000), |_, _| {})?;
    println!("{:?}", learner.coefficients());
    println!("excess risk {:.5}", session.source().gap(learner.coefficients()));
    println!("attributes of an example, at most: {}", session.ledger().most_attributes);
    Ok(())
}
