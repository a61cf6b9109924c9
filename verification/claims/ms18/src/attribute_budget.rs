//! Section 2.2 and Algorithms 1 to 3: no example is looked at beyond the budget.
//!
//! *Statement.* A training example reveals `|J_i u S_{t-1}| <= (s'-s) + s = s'` attributes in Exploration and
//! Hybrid, and `|S_0| <= s` in Exploitation; every iterate, hence the predictor, has at most s non-zeros; an
//! Exploration update draws `d' B_t` examples, an Exploitation update `B_t`. (Algorithm 1 thresholds its
//! start; for Algorithm 2 an s-sparse start is a precondition, which Hybrid meets.)
//!
//! *Tightness.* 1: some example reveals exactly `s'`.

use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExploitationParams, ExplorationParams, HybridParams};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, Ledger, Rng, Session, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{Metered, sparse_normal};
use lao_verification_engine::judge::{PropertyTally, exact, exact_all};
use lao_verification_engine::mutants::{Faulty, GradientFault, KeepsOneMore, Overreach, Overreaches};
use rand::RngExt;

type Stream = Metered<Virtual<Rademacher>>;

/// A random problem.
struct Shape {
    dim: usize,
    sparsity: usize,
    budget: usize,
    batch: BatchSizes,
    /// `B_t`, by hand.
    sizes: Vec<u64>,
    start: SparseVector,
}

impl Shape {
    fn draw(rng: &mut Rng, number: u64) -> Self {
        let dim: usize = rng.random_range(3..=40);
        let sparsity = rng.random_range(1..dim.min(20));
        let budget = match number % 5 {
            0 => sparsity + 1,
            1 => dim,
            _ => rng.random_range(sparsity + 1..=dim),
        };
        let updates: usize = rng.random_range(1..=4);
        let (batch, sizes) = match rng.random_range(0..3) {
            0 => {
                let size = rng.random_range(1..=20);
                (BatchSizes::Constant(size), vec![size; updates])
            }
            1 => {
                let first = f64::from(rng.random_range(1..=9));
                let sizes = (0..updates).map(|t| (first * 1.5f64.powi(t as i32)).ceil() as u64).collect();
                (BatchSizes::Geometric { first, growth: 1.5 }, sizes)
            }
            _ => {
                let sizes: Vec<u64> = (0..updates).map(|_| rng.random_range(1..=20)).collect();
                (BatchSizes::Listed(sizes.clone()), sizes)
            }
        };
        let start = SparseVector::from_dense(&sparse_normal(rng, dim, sparsity));
        Shape { dim, sparsity, budget, batch, sizes, start }
    }

    fn blocks(&self) -> u64 {
        self.dim.div_ceil(self.budget - self.sparsity) as u64
    }

    /// The learner, and what a run of it must cost: attributes per example, examples.
    fn learner(&self, algorithm: u64, one_more: bool) -> anyhow::Result<(Box<dyn Learner>, usize, u64)> {
        let Shape { dim, sparsity, budget, .. } = *self;
        let (batch, start) = (self.batch.clone(), self.start.clone());
        let (updates, total) = (self.sizes.len() as u64, self.sizes.iter().sum::<u64>());
        let step_size = 0.1;
        Ok(match algorithm {
            0 => {
                let start = Some(start);
                let updates = Some(updates);
                let params = ExplorationParams {
                    dim,
                    sparsity,
                    budget,
                    step_size,
                    batch,
                    updates,
                    start,
                    money: None,
                };
                let learner: Box<dyn Learner> = if one_more {
                    Box::new(params.build_with(KeepsOneMore::default())?)
                } else {
                    Box::new(params.build()?)
                };
                (learner, budget, self.blocks() * total)
            }
            1 => {
                let params = ExploitationParams { start, budget, step_size, batch, updates: Some(updates) };
                (Box::new(params.build()?), sparsity, total)
            }
            _ => {
                let params = HybridParams {
                    dim,
                    sparsity,
                    budget,
                    step_size,
                    explore_updates: 2,
                    explore_batch: batch.clone(),
                    exploit_updates: 3,
                    exploit_batch: batch,
                    stages: Some(updates),
                    start: Some(start),
                    money: None,
                };
                let learner: Box<dyn Learner> = if one_more {
                    Box::new(params.build_with(KeepsOneMore::default())?)
                } else {
                    Box::new(params.build()?)
                };
                (learner, budget, (2 * self.blocks() + 3) * total)
            }
        })
    }
}

/// What a run did.
struct Run {
    /// Most distinct attributes of one example, and their sum over examples.
    most: u32,
    sum: u64,
    examples: u64,
    nonzeros: usize,
    ledger: Ledger,
}

/// Runs the learner to its end, or until the session refuses.
fn run<S: Source>(
    source: S,
    learner: &mut dyn Learner,
    budget: Budget,
    trial: &Trial,
    meter: impl Fn(&S) -> &Stream,
) -> Run {
    let mut nonzeros = learner.coefficients().len();
    let mut session = Session::new(source, budget, &trial.seed.child("algorithm"));
    // A refusal ends the run; what was read until then counts.
    let _ = session.run(learner, SessionLimit::never(), |_, learner| {
        nonzeros = nonzeros.max(learner.coefficients().len());
    });
    let ledger = *session.ledger();
    let source = session.into_source();
    let of_example: Vec<u32> = meter(&source).attributes_per_example().collect();
    Run {
        most: of_example.iter().copied().max().unwrap_or(0),
        sum: of_example.iter().map(|&n| u64::from(n)).sum(),
        examples: of_example.len() as u64,
        nonzeros,
        ledger,
    }
}

/// A trial's figures.
struct Outcome {
    run: Run,
    allowed: usize,
    sparsity: usize,
    examples: u64,
    /// Most attributes read in a session with one attribute less, and that budget.
    refused: (u32, usize),
}

const LOOKS_AT_ONE_MORE: Mutant =
    Mutant::refuted("looks_at_one_more", "one attribute more than asked for is read of every example");
const KEEPS_ONE_MORE: Mutant = Mutant::refuted("keeps_one_more", "thresholding keeps s + 1 entries");
const ONE_BATCH_FOR_ALL_BLOCKS: Mutant =
    Mutant::refuted("one_batch_for_all_blocks", "the same examples serve all blocks of an update");
const SKIPS_THE_LAST_BLOCK: Mutant =
    Mutant::refuted("skips_the_last_block", "the examples of the last block are never drawn");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(6);
    let one_more = cx.commits(&KEEPS_ONE_MORE);
    let outcomes = cx.all_trials("shapes", cx.size("shapes")?, |trial| {
        let shape = Shape::draw(&mut trial.seed.child("data").rng(), trial.number);
        let star = SparseVector::new(shape.dim, vec![0, 2], vec![1.0, -1.0])?;
        let source = || -> anyhow::Result<Stream> {
            let (design, seed) = (Rademacher::new(shape.dim)?, trial.seed.child("data"));
            Ok(Metered::new(Virtual::new(design, star.clone(), Noise::Gaussian(1.0), &seed)?))
        };
        let (mut learner, allowed, examples) = shape.learner(trial.number % 3, one_more)?;
        let free = Budget::Unlimited;
        let run = if cx.commits(&LOOKS_AT_ONE_MORE) {
            let source = Overreaches::new(source()?, Overreach::OneMore);
            run(source, &mut *learner, free, trial, |source| source.inner())
        } else if cx.commits(&SKIPS_THE_LAST_BLOCK) {
            let source = Overreaches::new(source()?, Overreach::SkipsLastBlock);
            run(source, &mut *learner, free, trial, |source| source.inner())
        } else if cx.commits(&ONE_BATCH_FOR_ALL_BLOCKS) {
            let source = Faulty::new(source()?, GradientFault::ReplaysBatch);
            run(source, &mut *learner, free, trial, |source| source.inner())
        } else {
            run(source()?, &mut *learner, free, trial, |source| source)
        };
        let (mut learner, ..) = shape.learner(trial.number % 3, one_more)?;
        let less = Budget::PerExample(allowed - 1);
        let refused = if cx.commits(&LOOKS_AT_ONE_MORE) {
            let source = Overreaches::new(source()?, Overreach::OneMore);
            self::run(source, &mut *learner, less, trial, |source| source.inner()).most
        } else {
            self::run(source()?, &mut *learner, less, trial, |source| source).most
        };
        Ok(Outcome { run, allowed, sparsity: shape.sparsity, examples, refused: (refused, allowed - 1) })
    })?;

    let (mut reads, mut sparse, mut refused) =
        (PropertyTally::new(), PropertyTally::new(), PropertyTally::new());
    let (mut drawn, mut ledger, mut used) = (Vec::new(), Vec::new(), 0.0f64);
    for Outcome { run, allowed, sparsity, examples, refused: (read, limit) } in &outcomes {
        reads.check(f64::from(run.most), *allowed as f64);
        sparse.check(run.nonzeros as f64, *sparsity as f64);
        refused.check(f64::from(*read), *limit as f64);
        drawn.push((run.examples as f64, *examples as f64));
        ledger.push((run.ledger.examples as f64, run.examples as f64));
        ledger.push((run.ledger.attributes as f64, run.sum as f64));
        ledger.push((run.ledger.most_attributes as f64, f64::from(run.most)));
        ledger.push((run.ledger.labels as f64, run.examples as f64));
        used = used.max(f64::from(run.most) / *allowed as f64);
    }
    cx.judge("attributes revealed of one example", reads.finish());
    cx.judge("the whole budget is used", exact(used, 1.0, 0.0));
    cx.judge("non-zeros of every iterate", sparse.finish());
    cx.judge("examples drawn", exact_all(drawn, 0.0));
    cx.judge("the ledger agrees with the meter", exact_all(ledger, 0.0));
    cx.judge("attributes revealed under a budget of one less", refused.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-attribute-budget",
    place: "Section 2.2, Algorithms 1, 2 and 3",
    sentence: "Every training example reveals at most s' attributes, at most s in Exploitation, every \
               iterate has at most s non-zeros, and an Exploration update draws d' B_t examples.",
    formula: r"|J_i \cup S_{t-1}| \le (s' - s) + s = s', \qquad \|\theta_t\|_0 \le s, \qquad n = d'
               \sum_t B_t",
    design: "Random shapes of 3 to 40 attributes with s' = s + 1, s' = d and ragged blocks among them, \
             constant, growing and listed batches. A meter below the session notes which attributes of which \
             example are read; the session itself has no limit, so that it cannot mask a learner that asks \
             for too much. The ledger must agree with the meter; and a session whose budget is one less must \
             never let more be read.",
    standing: Standing::sound(),
    mutants: &[LOOKS_AT_ONE_MORE, KEEPS_ONE_MORE, ONE_BATCH_FOR_ALL_BLOCKS, SKIPS_THE_LAST_BLOCK],
    experiment,
};
