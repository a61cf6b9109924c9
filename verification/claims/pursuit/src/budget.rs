//! The budget, in training and in prediction.
//!
//! *Why.* Each ask consists of the support, the pool and as many others as are left of s'; the support has
//! at most four fifths of the budget.

use crate::setup::{Law, Scene};
use lao_algorithms::pursuit::PursuitParams;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Request, Rng, Session, SessionLimit, Told,
};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::Metered;
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt as _;

const EXAMPLES: u64 = 1500;
/// The dimensions are within what the meter keeps.
const DIMS: std::ops::RangeInclusive<usize> = 3..=100;

/// A learner that observes, or predicts from, more than it should.
pub(crate) struct Greedy<L> {
    inner: L,
    /// Asks for one attribute more than the inner learner, which is not told its values.
    asks_for_one_more: bool,
    /// Predicts from so many attributes at least.
    shows: usize,
    asked: Vec<u32>,
    shown: SparseVector,
}

impl<L: Learner> Greedy<L> {
    /// Returns `inner`, which asks for one attribute more, or shows so many attributes at least.
    pub(crate) fn new(inner: L, asks_for_one_more: bool, shows: usize) -> Self {
        let shown = SparseVector::zeros(inner.dim());
        Greedy { inner, asks_for_one_more, shows, asked: Vec::new(), shown }
    }

    /// Adds attributes with coefficients that are tiny, but count.
    fn show(&mut self) {
        let theta = self.inner.coefficients();
        let missing = self.shows.saturating_sub(theta.len());
        let others = (0..self.inner.dim() as u32).filter(|&j| theta.get(j) == 0.0).take(missing);
        let mut all: Vec<(u32, f64)> = theta.iter().chain(others.map(|j| (j, 1e-9))).collect();
        all.sort_by_key(|(j, _)| *j);
        self.shown.reset(self.inner.dim());
        all.into_iter().for_each(|(j, value)| self.shown.push(j, value));
    }
}

impl<L: Learner> Learner for Greedy<L> {
    lao_verification_engine::hand_on!(inner: dim updates);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.inner.ask(rng, ask);
        let Request::Values { attributes, examples } = ask.request() else { return };
        self.asked = attributes.to_vec();
        let more = (0..self.inner.dim() as u32).find(|j| self.asked.binary_search(j).is_err());
        if let (Some(more), true) = (more, self.asks_for_one_more) {
            let all = ask.values(examples);
            all.extend(&self.asked);
            all.push(more);
            all.sort_unstable();
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return self.inner.tell(told) };
        let mut fewer = BlockBuf::new();
        fewer.reset(self.asked.len(), block.rows());
        let kept = (0..).zip(block.attributes()).filter(|(_, j)| self.asked.binary_search(j).is_ok());
        for (at, (c, _)) in kept.enumerate() {
            fewer.column_mut(at).copy_from_slice(block.column(c));
        }
        fewer.labels_mut().copy_from_slice(block.labels());
        fewer.set_rows(block.rows());
        self.inner.tell(Told::Values(fewer.view(&self.asked)))?;
        self.show();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.shown.view()
    }
}

const ASKS_FOR_ONE_MORE: Mutant =
    Mutant::refuted("asks_for_one_more", "one attribute more is asked for, of every example");
const PREDICTS_FROM_ONE_MORE: Mutant =
    Mutant::refuted("predicts_from_one_more", "the predictor has s' + 1 attributes");

/// What a run did.
struct Outcome {
    budget: usize,
    most: u32,
    sum: u64,
    examples: u64,
    nonzeros: usize,
    ledger: (u64, u64),
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (asks, predicts) = (cx.commits(&ASKS_FOR_ONE_MORE), cx.commits(&PREDICTS_FROM_ONE_MORE));
    let outcomes = cx.all_trials("shapes", cx.size("shapes")?, |trial| {
        let mut rng = trial.seed.child("shape").rng();
        let dim = rng.random_range(DIMS);
        // Every fourth run has the smallest budget, and every fourth the largest that is not all.
        let budget = match trial.number % 4 {
            0 => 1,
            1 => dim - 1,
            _ => rng.random_range(1..dim),
        };
        let star = rng.random_range(0..=budget.min(8));
        let law = if rng.random() { Law::Chain(0.8) } else { Law::Independent };
        let source = Metered::new(Scene { law, dim, star, noise: 0.3 }.examples(&trial.seed)?);
        let learner = PursuitParams::within(dim, budget).build()?;
        let mut learner = Greedy::new(learner, asks, if predicts { budget + 1 } else { 0 });
        let mut nonzeros = 0;
        // Without a limit, so that the session cannot hide a learner that asks for too much.
        let mut session = Session::new(source, Budget::Unlimited, &trial.seed.child("algorithm"));
        session.run(&mut learner, SessionLimit::after_examples(EXAMPLES), |_, learner| {
            nonzeros = nonzeros.max(learner.coefficients().len());
        })?;
        let ledger = (session.ledger().examples, session.ledger().attributes);
        let source = session.into_source();
        let seen: Vec<u32> = source.attributes_per_example().collect();
        Ok(Outcome {
            budget,
            most: seen.iter().copied().max().unwrap_or(0),
            sum: seen.iter().map(|&n| u64::from(n)).sum(),
            examples: seen.len() as u64,
            nonzeros,
            ledger,
        })
    })?;
    let (mut observed, mut predicted) = (PropertyTally::new(), PropertyTally::new());
    let mut used = Vec::new();
    for Outcome { budget, most, sum, examples, nonzeros, ledger } in &outcomes {
        observed.check(f64::from(*most), *budget as f64);
        predicted.check(*nonzeros as f64, *budget as f64);
        // Each example is read once, and with the whole budget.
        used.push((*examples as f64, EXAMPLES as f64));
        used.push((*sum as f64, (*budget as u64 * EXAMPLES) as f64));
        used.push((ledger.0 as f64, *examples as f64));
        used.push((ledger.1 as f64, *sum as f64));
    }
    cx.split(3);
    cx.judge("attributes observed of an example", observed.finish());
    cx.judge("attributes of the predictor", predicted.finish());
    cx.judge("every example uses the whole budget, and the ledger says so", exact_all(used, 0.0));
    cx.note("most attributes of a predictor", outcomes.iter().map(|o| o.nonzeros).max().unwrap_or(0) as f64);
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-budget",
    place: "Budget",
    sentence: "Pursuit observes s' attributes of every example, never more, and its predictor has at most \
               s' attributes.",
    formula: r"|J_i| = s', \qquad \|\theta_t\|_0 \le s'",
    design: "Random shapes of 3 to 100 attributes, every s' below d, smallest and largest among them, with \
             up to 8 coefficients of 1 and -1, on independent normal attributes and a chain in which \
             neighbors have correlation .8; 1,500 examples. A meter below the session notes which \
             attributes of which example are read; the session itself has no limit. The ledger must agree \
             with the meter. A learner with s' = d, which observes everything, is not judged.",
    standing: Standing::ours(),
    mutants: &[ASKS_FOR_ONE_MORE, PREDICTS_FROM_ONE_MORE],
    experiment,
};
