//! What the claims on a purchase in phases share: curved truths, and what is wrong with a contest.

use lao_algorithms::phases::{Phases, PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_datasets::memory::Columns;
use lao_observation::{Budget, Seed, Session, Source};
use lao_verification_engine::claim::{Fault, Mutant};
use rand_distr::{Distribution as _, StandardNormal};

/// `d` and `s'` of the designs.
pub const DIM: usize = 30;
pub const BUDGET: usize = 8;

/// What the label is, up to normal noise of variance 1, of independent normal attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truth {
    /// Three effects of 1, -1 and .5.
    Line,
    /// Thirty effects of .15.
    ManyEffects,
    /// Two effects of 1, and twice the product of their attributes.
    Product,
    /// A sine, a square, a step and a line, of an attribute each.
    Curves,
}

impl Truth {
    fn mean(self, x: &[f64]) -> f64 {
        match self {
            Truth::Line => x[3] - x[7] + 0.5 * x[20],
            Truth::ManyEffects => 0.15 * x.iter().sum::<f64>(),
            Truth::Product => x[3] + x[7] + 2.0 * x[3] * x[7],
            Truth::Curves => {
                2.0 * (2.0 * x[3]).sin() + x[7] * x[7] + 2.0 * f64::from(u8::from(x[11] > 0.5)) + x[20]
            }
        }
    }

    /// Returns examples of this truth, of which `different` come again and again.
    ///
    /// # Errors
    /// When they are refused.
    pub fn examples(self, rows: usize, different: usize, seed: &Seed) -> anyhow::Result<Columns<f64>> {
        let mut rng = seed.rng();
        let mut drawn = Vec::new();
        for _ in 0..different {
            let x: [f64; DIM] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
            let noise: f64 = StandardNormal.sample(&mut rng);
            drawn.push((x, self.mean(&x) + noise));
        }
        let row = |i: usize| &drawn[i % different];
        let values = (0..DIM).flat_map(|j| (0..rows).map(move |i| row(i).0[j])).collect();
        Ok(Columns::new(DIM, values, (0..rows).map(|i| row(i).1).collect())?)
    }
}

/// How the data choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contest {
    Sound,
    AlwaysTrees,
    NeverTrees,
    RowsAgain,
}

pub const CONTESTS: [Fault<Contest>; 3] = [
    Fault::refuted(
        "rows_again",
        "each row comes twenty times, so that a row held out is among those learned from",
        Contest::RowsAgain,
    ),
    Fault::refuted("always_trees", "trees are the end without a contest", Contest::AlwaysTrees),
    Fault::refuted("never_trees", "Pursuit's line is the end without a contest", Contest::NeverTrees),
];

/// The mutants of [`CONTESTS`].
pub const OF_CONTEST: [Mutant; 3] = lao_verification_engine::claim::mutants(&CONTESTS);

impl Contest {
    /// Returns the learner of `params` and `rows` examples, and a session on a source for it.
    ///
    /// # Errors
    /// When the parameters are refused.
    pub fn session<S: Source>(
        self,
        source: S,
        pursuit: PursuitParams,
        rows: usize,
        seed: &Seed,
    ) -> anyhow::Result<(Phases, Session<S>)> {
        let shape = match self {
            Contest::Sound | Contest::RowsAgain => Shape::Auto,
            Contest::AlwaysTrees => Shape::Trees,
            Contest::NeverTrees => Shape::Line,
        };
        let budget = Budget::PerExample(pursuit.budget);
        let learner = PhasesParams { pursuit, examples: Some(rows as u64), shape }.build()?;
        Ok((learner, Session::new(source, budget, &seed.child("algorithm"))))
    }
}
