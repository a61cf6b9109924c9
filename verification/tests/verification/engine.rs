//! Tests of the engine on planted claims whose verdict is known: true, false, underpowered and broken claims,
//! and claims whose mutants change nothing.

use lao_verification::claim::{Claim, Expected, Fault, Mutant, Passable, Standing, Violation, mutants};
use lao_verification::context::{Axis, Context, Direction, Figure, RunCanceled, Series};
use lao_verification::judge::{Finding, exact};
use lao_verification::plan::{Plan, PlanError, RunTier};
use lao_verification::record::RunRecord;
use lao_verification::run::{self, RunOptions, RunProgress, Silent, Timings};
use lao_verification::status::{ExitStatus, RunStatus};
use lao_verification::verdict::{CellVerdict, Verdict};
use rand::RngExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const fn planted(
    id: &'static str,
    expected: Expected,
    mutants: &'static [Mutant],
    experiment: fn(&mut Context<'_>) -> anyhow::Result<()>,
) -> Claim {
    Claim {
        id,
        place: "nowhere",
        sentence: "A planted world.",
        formula: "1 = 1",
        design: "None.",
        standing: Standing { expected, ..Standing::sound().practical() },
        mutants,
        experiment,
    }
}

fn coin_at(cx: &mut Context<'_>, rate: f64, most: u64) -> anyhow::Result<()> {
    cx.prob("coin", 0.1, most, |trial| Ok(trial.seed.child("data").rng().random::<f64>() >= rate))
}

/// A claim of P(failure) <= 0.1, where the probability is 0.02 in the honest arm and 0.4 with the fault.
fn coin(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let rate = if cx.arm(false, &FAULT) { 0.4 } else { 0.02 };
    coin_at(cx, rate, 2000)
}

/// The same claim where it is false.
fn bad_coin(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let rate = if cx.arm(false, &REPAIRED) { 0.01 } else { 0.3 };
    coin_at(cx, rate, 2000)
}

fn worse_coin(cx: &mut Context<'_>) -> anyhow::Result<()> {
    coin_at(cx, 0.4, 2000)
}

/// A claim with too few trials to decide anything.
fn hasty(cx: &mut Context<'_>) -> anyhow::Result<()> {
    if cx.arm(false, &FAULT) { coin_at(cx, 1.0, 200) } else { coin_at(cx, 0.05, 32) }
}

/// A claim whose mutant changes nothing.
fn tame(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let _ = cx.arm(false, &FAULT);
    cx.judge("identity", exact(1.0, 1.0, 1e-12));
    Ok(())
}

/// An experiment that never asks for its fault.
fn forgetful(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.judge("identity", exact(1.0, 2.0, 1e-12));
    Ok(())
}

fn panics(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let faulty = cx.arm(false, &FAULT);
    cx.judge("before", exact(1.0, if faulty { 2.0 } else { 1.0 }, 1e-12));
    assert!(faulty, "planted panic");
    Ok(())
}

fn not_a_number(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let value = if cx.arm(false, &FAULT) { 2.0 } else { f64::NAN };
    cx.judge("nan", exact(value, 1.0, 1e-12));
    Ok(())
}

/// An experiment whose trials panic and count as failures.
fn panicking_trials(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let faulty = cx.arm(false, &FAULT);
    cx.prob("panics", 0.1, 400, move |trial| {
        assert!(!(faulty && trial.number % 2 == 0), "planted panic in a trial");
        Ok(true)
    })
}

fn absent(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.waits_for_data("the data is not here")
}

/// A claim with several cells, a note, a rate and its figure.
fn rich(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let shift = if cx.arm(false, &FAULT) { 1.0 } else { 0.0 };
    cx.split(2);
    cx.mean("mean", 1.0, 1000, |trial| Ok(0.5 * trial.seed.rng().random::<f64>() + 2.0 * shift))?;
    let values = cx.all_trials("values", 40, |trial| Ok(trial.seed.rng().random::<f64>()))?;
    cx.note("sum", values.iter().sum());
    let points = values.iter().enumerate().map(|(run, value)| [run as f64, *value]).collect();
    cx.figure(Figure {
        caption: "Uniform numbers.".into(),
        x: Axis::linear("run"),
        y: Axis::linear("number"),
        series: vec![Series::line("numbers", points)],
    });
    cx.rate("uniform", Direction::Larger, values);
    cx.judge("identity", exact(1.0 + shift, 1.0, 1e-12));
    Ok(())
}

/// Tracks a rate that no figure shows.
fn unseen(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.rate("uniform", Direction::Larger, vec![0.2, 0.7]);
    coin(cx)
}

/// Judges one of two planned cells.
fn half(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let value = if cx.arm(false, &FAULT) { 2.0 } else { 1.0 };
    cx.judge("the only one", exact(value, 1.0, 1e-12));
    Ok(())
}

/// A coin that cannot be thrown for a learner that learns nothing.
fn fragile(cx: &mut Context<'_>) -> anyhow::Result<()> {
    anyhow::ensure!(cx.cripple().is_none(), "the risk of zero is no number");
    coin(cx)
}

/// A mean that learning brings down from 1 to 0.1 in the first cell, and a bound of 2, which not learning
/// meets too, in the second.
fn learning(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let mut estimate = [if cx.arm(false, &FAULT) { 30.0 } else { 0.9 }];
    if let Some(cripple) = cx.cripple() {
        cripple.estimate(&[], &mut estimate);
    }
    let risk = (1.0 - estimate[0]).abs();
    cx.mean("tight", 0.5, 1000, |trial| Ok(risk * 2.0 * trial.seed.rng().random::<f64>()))?;
    cx.mean("loose", 2.0, 1000, |trial| Ok(risk * 2.0 * trial.seed.rng().random::<f64>()))
}

/// As `learning`, with the loose cell alone.
fn idle(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let mut estimate = [if cx.arm(false, &FAULT) { 30.0 } else { 0.9 }];
    if let Some(cripple) = cx.cripple() {
        cripple.estimate(&[], &mut estimate);
    }
    let risk = (1.0 - estimate[0]).abs();
    cx.mean("loose", 2.0, 1000, |trial| Ok(risk * 2.0 * trial.seed.rng().random::<f64>()))
}

const FAULT: [Fault<bool>; 1] = [Fault::refuted("fault", "planted", true)];
const REPAIRED: [Fault<bool>; 1] = [Fault::held("repaired", "planted", true)];
const MUTANT: [Mutant; 1] = mutants(&FAULT);
const CONTROL: [Mutant; 1] = mutants(&REPAIRED);
static TRUE: Claim = planted("planted-true", Expected::Holds, &MUTANT, coin);
static FALSE: Claim = planted("planted-false", Expected::Refuted, &CONTROL, bad_coin);
static WRONG: Claim = planted("planted-wrong", Expected::Holds, &[], worse_coin);
static HASTY: Claim = planted("planted-hasty", Expected::Holds, &MUTANT, hasty);
static TAME: Claim = planted("planted-tame", Expected::Holds, &MUTANT, tame);
static FORGETFUL: Claim = planted("planted-forgetful", Expected::Refuted, &MUTANT, forgetful);
static PANICS: Claim = planted("planted-panics", Expected::Holds, &MUTANT, panics);
static NAN: Claim = planted("planted-nan", Expected::Holds, &MUTANT, not_a_number);
static TRIALS: Claim = planted("planted-trials", Expected::Holds, &MUTANT, panicking_trials);
static ABSENT: Claim = planted("planted-absent", Expected::Holds, &MUTANT, absent);
static RICH: Claim = planted("planted-rich", Expected::Holds, &MUTANT, rich);
static UNSEEN: Claim = planted("planted-unseen", Expected::Holds, &MUTANT, unseen);
static HALF: Claim = planted("planted-half", Expected::Holds, &MUTANT, half);
const LEARNS: Standing = Standing::sound().practical().learns();
const WHY: &str = "the bound is that of no estimate at all";
static LEARNING: Claim = Claim {
    standing: LEARNS.passable(&[Passable { cells: "loose", why: WHY }]),
    ..planted("planted-learning", Expected::Holds, &MUTANT, learning)
};
/// Does not say why a learner that learns nothing passes a cell.
static SILENT: Claim =
    Claim { standing: LEARNS, ..planted("planted-silent", Expected::Holds, &MUTANT, learning) };
static IDLE: Claim = Claim { standing: LEARNS, ..planted("planted-idle", Expected::Holds, &MUTANT, idle) };
/// Says that it is about learning, and cripples nobody.
static PROUD: Claim = Claim { standing: LEARNS, ..planted("planted-proud", Expected::Holds, &MUTANT, coin) };
/// Fails with a learner that learns nothing.
static FRAGILE: Claim =
    Claim { standing: LEARNS, ..planted("planted-fragile", Expected::Holds, &MUTANT, fragile) };
const REFUTED: Standing = Standing::printed(&[]).practical();
const fn by(violations: &'static [Violation]) -> Claim {
    Claim {
        standing: REFUTED.violated(violations),
        ..planted("planted-violated", Expected::Refuted, &CONTROL, bad_coin)
    }
}
static BY_THAT_MUCH: Claim = by(&[Violation { cell: "coin", at_least: 0.2, at_most: 0.5 }]);
static BY_MORE: Claim = by(&[Violation { cell: "coin", at_least: 0.6, at_most: 1.0 }]);
static ELSEWHERE: Claim = by(&[Violation { cell: "dice", at_least: 0.0, at_most: 1.0 }]);

fn attempt(
    claims: &[&'static Claim],
    out: &Path,
    jobs: usize,
    progress: &dyn RunProgress,
    canceled: &AtomicBool,
) -> anyhow::Result<(RunRecord, Timings)> {
    let options = RunOptions { claims: claims.to_vec(), tier: RunTier::Quick, seed: 1, jobs, fresh: false };
    let mut folder = run::open_folder(out)?;
    let done = run::run(&options, &Plan::built_in().unwrap(), &mut folder, progress, canceled)?;
    run::finish(&folder)?;
    Ok(done)
}

fn run_in(claims: &[&'static Claim], out: &Path, jobs: usize) -> RunRecord {
    let (record, timings) = attempt(claims, out, jobs, &Silent, &AtomicBool::new(false)).unwrap();
    assert_eq!(timings.len(), claims.len());
    record
}

fn run_alone(claim: &'static Claim) -> (Verdict, RunRecord) {
    let folder = tempfile::tempdir().unwrap();
    let record = run_in(&[claim], folder.path(), 2);
    (record.claims[0].verdict, record)
}

#[test]
fn planted_worlds_get_their_verdicts_and_exit_states() {
    let cases = [
        (&TRUE, Verdict::Holds, ExitStatus::AsExpected),
        (&FALSE, Verdict::Refuted, ExitStatus::AsExpected),
        (&WRONG, Verdict::Refuted, ExitStatus::Unexpected),
        (&HASTY, Verdict::Inconclusive, ExitStatus::Inconclusive),
        (&TAME, Verdict::Untested, ExitStatus::MutantSurvived),
        (&FORGETFUL, Verdict::Untested, ExitStatus::MutantSurvived),
        (&PANICS, Verdict::Error, ExitStatus::Broken),
        (&NAN, Verdict::Error, ExitStatus::Broken),
        (&TRIALS, Verdict::Holds, ExitStatus::AsExpected),
        (&ABSENT, Verdict::NotRun, ExitStatus::NothingRun),
        (&RICH, Verdict::Holds, ExitStatus::AsExpected),
        (&UNSEEN, Verdict::Error, ExitStatus::Broken),
        (&HALF, Verdict::Partial, ExitStatus::Partial),
        (&LEARNING, Verdict::Holds, ExitStatus::AsExpected),
        (&SILENT, Verdict::Vacuous, ExitStatus::Unexpected),
        (&IDLE, Verdict::Vacuous, ExitStatus::Unexpected),
        (&PROUD, Verdict::Error, ExitStatus::Broken),
        (&FRAGILE, Verdict::Error, ExitStatus::Broken),
        (&BY_THAT_MUCH, Verdict::Refuted, ExitStatus::AsExpected),
        (&BY_MORE, Verdict::Refuted, ExitStatus::Unexpected),
        (&ELSEWHERE, Verdict::Refuted, ExitStatus::Unexpected),
    ];
    for (claim, verdict, state) in cases {
        let (found, record) = run_alone(claim);
        assert_eq!(found, verdict, "{}: {:#?}", claim.id, record.claims[0]);
        assert_eq!(RunStatus::of(&record, None).exit, state, "{}", claim.id);
    }
}

#[test]
fn a_cell_that_a_crippled_learner_passes_says_nothing() {
    let (_, record) = run_alone(&LEARNING);
    let cells = &record.claims[0].cells;
    assert_eq!((cells[0].said, cells[1].said), (CellVerdict::Supported, CellVerdict::Vacuous));
    assert!(cells[0].passed_by.is_empty());
    assert_eq!(cells[1].passed_by, ["predicts_zero", "stays_at_its_start", "goes_one_hundredth"]);
    assert_eq!((cells[0].passable.as_deref(), cells[1].passable.as_deref()), (None, Some(WHY)));
}

#[test]
fn the_record_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = |jobs: usize| {
        let out = folder.path().join(jobs.to_string());
        run_in(&[&TRUE, &FALSE, &RICH, &TRIALS], &out, jobs);
        std::fs::read(out.join("evidence.json")).unwrap()
    };
    let one = evidence(1);
    for jobs in [2, 7, 8] {
        assert!(one == evidence(jobs), "{jobs} threads gave another record than one");
    }
}

/// A listener that cancels the run after some claims are finished.
struct CancelAfter<'a>(AtomicU64, &'a AtomicBool);

impl RunProgress for CancelAfter<'_> {
    fn finished(&self, _: &Claim, _: bool, _: bool) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// A listener that counts the results reused from an earlier run.
#[derive(Default)]
struct CountReused(AtomicU64);

impl RunProgress for CountReused {
    fn finished(&self, _: &Claim, _: bool, reused: bool) {
        self.0.fetch_add(u64::from(reused), Ordering::Relaxed);
    }
}

#[test]
fn a_canceled_run_keeps_what_was_finished_and_ends_with_the_same_record() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let claims: [&'static Claim; 4] = [&TRUE, &FALSE, &RICH, &TRIALS];
    run_in(&claims, &whole, 1);

    let flag = AtomicBool::new(false);
    let error = attempt(&claims, &broken, 1, &CancelAfter(AtomicU64::new(2), &flag), &flag);
    assert!(error.unwrap_err().is::<RunCanceled>());
    assert!(!broken.join("evidence.json").exists(), "no record of half a run");

    // An incomplete file, as a power failure could leave it, is treated as missing.
    std::fs::write(broken.join("claims/planted-trials.json"), "{\"key\":").unwrap();
    let reused = CountReused::default();
    attempt(&claims, &broken, 1, &reused, &AtomicBool::new(false)).unwrap();
    assert_eq!(reused.0.load(Ordering::Relaxed), 2);
    let read = |out: &Path| std::fs::read(out.join("evidence.json")).unwrap();
    assert!(read(&whole) == read(&broken));

    // A finished run is not resumed: a new run starts.
    let reused = CountReused::default();
    attempt(&claims, &broken, 1, &reused, &AtomicBool::new(false)).unwrap();
    assert_eq!(reused.0.load(Ordering::Relaxed), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let error = attempt(&[&TRUE], &file, 1, &Silent, &AtomicBool::new(false));
    let text = format!("{:#}", error.unwrap_err());
    assert!(text.contains("a-file") && text.contains("--out"), "{text}");
}

#[test]
fn plans_with_unknown_keys_or_claims_are_refused() {
    let parse = |text: &str| Plan::parse(text, ["known"].into_iter());
    let suite = "[suite]\nseed = 1\nalpha = 1e-3\nfamily = 10\n";
    let plan =
        parse(&format!("{suite}[claims.known]\ntrials = {{ quick = 3, full = 9 }}\nrows = 5\n")).unwrap();
    let sizes = |tier| {
        let sizes = plan.sizes("known", tier);
        (sizes.get("trials"), sizes.get("rows"), sizes.get("none"))
    };
    assert_eq!(sizes(RunTier::Quick), (Some(3), Some(5), None));
    assert_eq!(sizes(RunTier::Nightly), (Some(9), Some(5), None));
    let other = parse(&format!("{suite}[claims.other]\n"));
    assert!(matches!(other, Err(PlanError::UnknownClaim(id)) if id == "other"));
    assert!(matches!(parse(&format!("{suite}color = 1\n[claims]\n")), Err(PlanError::Syntax(_))));
    let zero = suite.replace("1e-3", "0.0");
    assert!(matches!(parse(&format!("{zero}[claims]\n")), Err(PlanError::Suite { field: "alpha", .. })));
}

#[test]
fn mutants_have_sizes_of_their_own_where_these_are_smaller() {
    let text = "[suite]\nseed = 1\nalpha = 1e-3\nfamily = 10\n[claims.known]\nrows = 5\n\
                trials = { quick = 3, full = 9, mutants = 4 }\n";
    let plan = Plan::parse(text, ["known"].into_iter()).unwrap();
    let of_mutants = |tier| {
        let sizes = plan.sizes("known", tier).of_mutants()?;
        Some((sizes.get("trials"), sizes.get("rows")))
    };
    assert_eq!(of_mutants(RunTier::Quick), None, "4 is not smaller than 3");
    assert_eq!(of_mutants(RunTier::Full), Some((Some(4), Some(5))));
}

#[test]
fn findings_survive_storage_with_infinities() {
    let mut finding: Finding = exact(1.0, 1.0, 1e-12);
    finding.estimate = f64::INFINITY;
    finding.log_e_refute = Some(f64::NEG_INFINITY);
    let text = serde_json::to_string(&finding).unwrap();
    assert!(text.contains("\"inf\"") && text.contains("\"-inf\""), "{text}");
    assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
}
