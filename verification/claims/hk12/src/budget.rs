//! Section 3: AERR and AELR look at k + 1 attributes of every example.
//!
//! *Statement.* k uniform draws, with replacement, and one by weight: k + 1 reads with multiplicity, at most
//! k + 1 distinct attributes. A budget of one attribute, k = 0, is impossible. "k attributes" in Table 1 and
//! Section 2 are k + 1 here, and the k = 4 and k = 56 of Section 5 are *totals*: 3 uniform draws and one by
//! weight for AELR, 55 and one for AERR. That is how its figures come out: 48,500 attributes are 12,125
//! images of 4, or 62 full ones of 784; nine tenths of the 13,454 images are 12,109, hence 48,436 and 678,104
//! attributes in one pass, where Figures 1 and 2 end.

use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_observation::{Budget, Ledger, Rng, Seed, Session, SessionError, Source};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{LawSource, Metered};
use lao_verification_engine::judge::{PropertyTally, exact, exact_all};
use lao_verification_engine::mutants::{Overreach, Overreaches, TwoDraws};
use rand::RngExt;

const EXAMPLES: u64 = 24;
/// Images of the paper's experiment: all, and attributes of one.
const IMAGES: f64 = 13_454.0;
const PIXELS: usize = 784;

fn source(dim: usize, length: u64, seed: &Seed) -> impl Source + use<> {
    let law = |rng: &mut Rng, x: &mut [f64]| {
        let size = 1.0 / (x.len() as f64).sqrt();
        x.fill_with(|| size * rng.random_range(-1.0..1.0));
        rng.random_range(-1.0..1.0)
    };
    LawSource::new(dim, length, seed.child("data"), law)
}

/// What a run did.
struct Run {
    /// Reads with multiplicity of every example.
    reads: Vec<f64>,
    ledger: Ledger,
    refused: bool,
}

fn run<S: Source, L: TwoDraws>(
    source: S,
    learner: &mut L,
    budget: Budget,
    seed: &Seed,
) -> anyhow::Result<(Run, S)> {
    let mut session = Session::new(source, budget, &seed.child("algorithm"));
    let (mut reads, mut refused) = (Vec::new(), false);
    for _ in 0..EXAMPLES {
        match session.step(learner, 1) {
            Ok(_) => reads.push((learner.drawn().uniform.len() + 1) as f64),
            Err(SessionError::OverBudget { .. }) => {
                refused = true;
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let ledger = *session.ledger();
    Ok((Run { reads, ledger, refused }, session.into_source()))
}

/// A shape's figures.
struct Outcome {
    dim: usize,
    draws: usize,
    free: Run,
    /// Distinct attributes of every example, by the meter.
    distinct: Vec<u32>,
    enough: Run,
    short: Run,
}

const ONE_DRAW_MORE: Mutant = Mutant::refuted("one_draw_more", "makes k + 1 uniform draws");
const ONE_DRAW_LESS: Mutant = Mutant::refuted("one_draw_less", "makes k - 1 uniform draws");
const LOOKS_AT_ONE_MORE: Mutant =
    Mutant::refuted("looks_at_one_more", "reads one attribute that was not asked for");
const SESSION_LETS_ONE_MORE_PASS: Mutant =
    Mutant::refuted("session_lets_one_more_pass", "a session that allows one attribute above its budget");
const LIMIT_OF_K: Mutant = Mutant::refuted("limit_of_k", "counts k attributes in all, as Table 1 does");

fn outcome<L: TwoDraws>(
    cx: &Context<'_>,
    trial: &Trial,
    (dim, draws): (usize, usize),
    learner: impl Fn() -> anyhow::Result<L>,
) -> anyhow::Result<Outcome> {
    let source = || source(dim, EXAMPLES, &trial.seed);
    let (free, distinct) = if cx.commits(&LOOKS_AT_ONE_MORE) {
        let source = Overreaches::new(Metered::new(source()), Overreach::OneMore);
        let (free, source) = run(source, &mut learner()?, Budget::Unlimited, &trial.seed)?;
        (free, source.inner().attributes_per_example().collect())
    } else {
        let (free, source) = run(Metered::new(source()), &mut learner()?, Budget::Unlimited, &trial.seed)?;
        (free, source.attributes_per_example().collect())
    };
    let lax = usize::from(cx.commits(&SESSION_LETS_ONE_MORE_PASS));
    let within = |limit: usize| run(source(), &mut learner()?, Budget::PerExample(limit + lax), &trial.seed);
    let (enough, short) = (within(draws + 1)?.0, within(draws)?.0);
    Ok(Outcome { dim, draws, free, distinct, enough, short })
}

/// Reads with multiplicity of one pass over nine tenths of the images.
fn pass<L: TwoDraws>(mut learner: L, seed: &Seed) -> anyhow::Result<f64> {
    let images = (0.9 * IMAGES).round() as u64;
    let source = LawSource::new(PIXELS, images, seed.child("data"), |_: &mut Rng, _: &mut [f64]| 1.0);
    let mut session = Session::new(source, Budget::Unlimited, &seed.child("algorithm"));
    let mut reads = 0;
    for _ in 0..images {
        session.step(&mut learner, 1)?;
        reads += learner.drawn().uniform.len() + 1;
    }
    Ok(reads as f64)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(8);
    let (more, less) = (usize::from(cx.commits(&ONE_DRAW_MORE)), usize::from(cx.commits(&ONE_DRAW_LESS)));
    let drawn = |draws: usize| draws + more - less;
    let outcomes = cx.all_trials("shapes", cx.size("shapes")?, |trial| {
        let mut rng = trial.seed.child("shape").rng();
        let dim: usize = rng.random_range(2..=40);
        let draws = match trial.number % 4 {
            // No draw at all would be refused.
            0 => 1 + less,
            1 => dim,
            2 => dim + 3,
            _ => rng.random_range(2..=dim),
        };
        if trial.number % 8 < 4 {
            let aerr = || {
                Ok(AerrParams::from_theorem(Horizon {
                    dim,
                    draws: drawn(draws),
                    radius: 1.0,
                    examples: EXAMPLES,
                })
                .build()?)
            };
            outcome(cx, trial, (dim, draws), aerr)
        } else {
            let aelr = || {
                Ok(AelrParams::from_theorem(Horizon {
                    dim,
                    draws: drawn(draws),
                    radius: 1.0,
                    examples: EXAMPLES,
                })
                .build()?)
            };
            outcome(cx, trial, (dim, draws), aelr)
        }
    })?;

    let (mut reads, mut ledger, mut used) = (Vec::new(), Vec::new(), 0.0f64);
    let (mut distinct, mut short) = (PropertyTally::new(), PropertyTally::new());
    let mut refusals = Vec::new();
    for Outcome { dim, draws, free, distinct: seen, enough, short: less } in &outcomes {
        let limit = if cx.commits(&LIMIT_OF_K) { *draws } else { draws + 1 };
        reads.extend(free.reads.iter().map(|&reads| (reads, (draws + 1) as f64)));
        let most = seen.iter().copied().max().unwrap_or(0);
        distinct.check(f64::from(most), limit.min(*dim) as f64);
        used = used.max(f64::from(most) / (draws + 1) as f64);
        ledger.push((free.ledger.attributes as f64, f64::from(seen.iter().sum::<u32>())));
        ledger.push((free.ledger.most_attributes as f64, f64::from(most)));
        ledger.push((free.ledger.examples as f64, EXAMPLES as f64));
        refusals.push((f64::from(u8::from(enough.refused)), 0.0));
        refusals.push((
            f64::from(u8::from(less.refused)),
            f64::from(u8::from(free.ledger.most_attributes > *draws)),
        ));
        short.check(less.ledger.most_attributes as f64, *draws as f64);
    }
    cx.judge("reads with multiplicity: k + 1", exact_all(reads, 0.0));
    cx.judge("distinct attributes: at most k + 1", distinct.finish());
    cx.judge("some example shows k + 1", exact(used, 1.0, 0.0));
    cx.judge("the ledger agrees with the meter", exact_all(ledger, 0.0));
    cx.judge("refused within k, not within k + 1", exact_all(refusals, 0.0));
    cx.judge("no example shows more than a budget of k", short.finish());

    let refusals = [
        AerrParams::from_theorem(Horizon { dim: 9, draws: 0, radius: 1.0, examples: 10 })
            .build()
            .err()
            .map(|error| error.to_string()),
        AelrParams::from_theorem(Horizon { dim: 9, draws: 0, radius: 1.0, examples: 10 })
            .build()
            .err()
            .map(|error| error.to_string()),
    ];
    let named = refusals.iter().flatten().filter(|error| error.contains("draws")).count();
    anyhow::ensure!(named == 2, "k = 0 is not refused by name: {refusals:?}");

    let seed = cx.seed("images");
    let lasso = pass(
        AelrParams::from_theorem(Horizon { dim: PIXELS, draws: drawn(3), radius: 1.0, examples: 12_109 })
            .build()?,
        &seed,
    )?;
    let ridge = pass(
        AerrParams::from_theorem(Horizon { dim: PIXELS, draws: drawn(55), radius: 1.0, examples: 12_109 })
            .build()?,
        &seed,
    )?;
    cx.judge("one pass of AELR, 4 in all", exact(lasso, 48_436.0, 0.0));
    cx.judge("one pass of AERR, 56 in all", exact(ridge, 678_104.0, 0.0));
    // Section 5 quotes 48,500 attributes, of 12,125 and of 62 images.
    cx.note("images of 4 attributes in 48,500", 48_500.0 / 4.0);
    cx.note("whole images in 48,500 attributes", 48_500.0 / PIXELS as f64);
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-budget",
    place: "Section 3, with Table 1 and Section 5",
    sentence: "AERR and AELR read exactly k + 1 attributes of every example, with multiplicity, hence at \
               most k + 1 distinct ones; the k of Section 5 counts all of them.",
    formula: r"|\{i_{t,1}, \ldots, i_{t,k}, j_t\}| \le k + 1",
    design: "Random shapes of 2 to 40 attributes, with k = 1, k = d and k up to d + 3 among them. Reads with \
             multiplicity are what the production learner drew; distinct ones are counted by a meter below a \
             session without limit, so that the session cannot mask a learner that asks for too much; the \
             ledger must agree. With a budget of k + 1 the session refuses nothing; with k no example may \
             show more than k, and one whose draws are all different must be refused. Then one pass of each \
             learner over as many images as the paper has.",
    standing: Standing::sound().with_errata(&[27]),
    mutants: &[ONE_DRAW_MORE, ONE_DRAW_LESS, LOOKS_AT_ONE_MORE, SESSION_LETS_ONE_MORE_PASS, LIMIT_OF_K],
    experiment,
};
