//! What an experiment is given, and what it hands back.
//!
//! An experiment is a function of a [`Context`]: it asks for sizes and seeds, runs trials, and adds one
//! [`Cell`] per judged question. It runs once for the honest arm and once per mutant, through the same judges
//! at the same sizes and levels; [`Context::arm`] tells it which fault to commit.

use crate::arm::ArmSettings;
use crate::claim::Claim;
use crate::fault::{Fault, Mutant};
pub use crate::judge::BLOCK;
use crate::judge::{Finding, Flow, MeanJudge, ProbJudge};
use crate::mutants::Cripple;
use anyhow::{Context as _, anyhow, bail};
pub use lao_figures::{Axis, Figure, Series, Style};
use lao_observation::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Which arm of a claim runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmKind {
    /// The claim as stated, on production code.
    Honest,
    /// A mutant of the claim, by name.
    Mutant(&'static str),
    /// A learner that learns nothing, or next to nothing, where the claim has a learner.
    Crippled(Cripple),
}

/// An experiment's view of the suite.
pub struct Context<'a> {
    id: &'a str,
    mutants: &'a [Mutant],
    kind: ArmKind,
    /// Whether the experiment has asked for the value of the mutant's fault, or for the crippled learner.
    committed: AtomicBool,
    /// The cells that no mutant has refuted yet.
    open: &'a BTreeSet<String>,
    settings: ArmSettings<'a>,
    cells: usize,
    seed: Seed,
    record: ArmRecord,
}

/// One independent repetition: its number and its seed.
///
/// The seed depends on suite seed, claim, cell and number, and not on the arm: all arms see the same data.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Counted from 0.
    pub number: u64,
    /// Root of the trial's draws; use `child("data")`, `child("algorithm")`, ...
    pub seed: Seed,
}

/// All that one arm found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmRecord {
    /// Judged questions, in the experiment's order.
    pub cells: Vec<Cell>,
    /// Numbers that are reported and not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Convergence rates to be tracked from version to version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// Plots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Why the experiment could not run, if it could not (missing data).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// Whether the experiment did not run because it waits for data that are not here, or not in this tier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_data: bool,
    /// What broke, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of cells that the experiment planned to judge. The level of the claim is split over them
    /// for refutation.
    pub split: usize,
}

impl ArmRecord {
    /// The names of the cells that are refuted at the level `alpha`, split over the cells.
    pub fn refuted_cells(&self, alpha: f64) -> impl Iterator<Item = &str> {
        let level = alpha / self.split.max(self.cells.len()) as f64;
        let refuted = move |cell: &&Cell| cell.finding.p_refute <= level;
        self.cells.iter().filter(refuted).map(|cell| cell.name.as_str())
    }
}

/// One judged question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which setting: "sigma=30, start=dense".
    pub name: String,
    /// What the judge found.
    pub finding: Finding,
}

/// A number that is reported and not judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// What it is, with its unit.
    pub name: String,
    /// Its value.
    #[serde(with = "crate::judge::nonfinite")]
    pub value: f64,
}

/// A tracked convergence rate, one value per replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// What it is: "contraction factor per update", "exponent of samples in 1/eps".
    pub name: String,
    /// Which direction is worse.
    pub worse: Direction,
    /// One value per replicate, in trial order.
    pub replicates: Vec<f64>,
}

/// A direction on the real line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values.
    Larger,
    /// Smaller values.
    Smaller,
}

/// The run was canceled; nothing is recorded.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("canceled")]
pub struct RunCanceled;

impl<'a> Context<'a> {
    /// The view of one arm of a claim. `open` names the cells that no mutant has refuted yet.
    pub(crate) fn new(
        claim: &'a Claim,
        kind: ArmKind,
        open: &'a BTreeSet<String>,
        settings: ArmSettings<'a>,
    ) -> Self {
        let Claim { id, mutants, .. } = *claim;
        let seed = settings.seed.child("claim").child(id);
        let record = ArmRecord { split: 1, ..ArmRecord::default() };
        let committed = AtomicBool::new(false);
        Context { id, mutants, kind, committed, open, settings, cells: 1, seed, record }
    }

    /// What the arm found.
    pub(crate) fn into_record(mut self) -> ArmRecord {
        let committed = self.committed.into_inner();
        let error = match self.kind {
            ArmKind::Mutant(name) if !committed => {
                Some(format!("the experiment does nothing about the fault `{name}`"))
            }
            ArmKind::Crippled(_) if !committed => Some(NO_LEARNER.to_string()),
            _ => None,
        };
        self.record.error = self.record.error.or(error);
        self.record
    }

    /// The value of the fault that this arm commits, out of the claim's table; `None` in the honest arm.
    pub fn fault<A: Clone>(&self, faults: &[Fault<A>]) -> Option<A> {
        let ArmKind::Mutant(name) = self.kind else { return None };
        let fault = faults.iter().find(|fault| fault.mutant.name == name)?;
        self.committed.store(true, Ordering::Relaxed);
        Some(fault.arm.clone())
    }

    /// The value of the fault that this arm commits, or the sound one.
    pub fn arm<A: Clone>(&self, sound: A, faults: &[Fault<A>]) -> A {
        self.fault(faults).unwrap_or(sound)
    }

    /// Whether this arm commits the fault.
    ///
    /// # Panics
    /// In debug builds, when the fault is not among the claim's mutants: no arm would commit it.
    pub fn commits(&self, fault: &Mutant) -> bool {
        debug_assert!(self.mutants.contains(fault), "{}: `{}` is not among the mutants", self.id, fault.name);
        let commits = self.kind == ArmKind::Mutant(fault.name);
        self.committed.fetch_or(commits, Ordering::Relaxed);
        commits
    }

    /// How the learners of this arm are crippled; `None` in all arms but those of the crippled learners. A
    /// claim about learning applies it to every learner whose estimates it judges, by
    /// [`Crippled`](crate::mutants::Crippled) or [`Cripple::estimate`].
    pub fn cripple(&self) -> Option<Cripple> {
        let ArmKind::Crippled(cripple) = self.kind else { return None };
        self.committed.store(true, Ordering::Relaxed);
        Some(cripple)
    }

    /// Ends the arm of a mutant that has no more to show: a cell is refuted, and so is every cell that no
    /// earlier mutant has refuted. The cells so far are the arm's record, and what is reported but not judged
    /// in it counts for nothing.
    ///
    /// # Errors
    /// [`Settled`], to be handed on with `?`; the runner knows it.
    pub fn settled(&self) -> Result<(), Settled> {
        let ArmKind::Mutant(_) = self.kind else { return Ok(()) };
        let alpha = self.settings.alpha;
        let refuted: Vec<&str> = self.record.refuted_cells(alpha).collect();
        let done = !refuted.is_empty() && self.open.iter().all(|open| refuted.contains(&open.as_str()));
        if done { Err(Settled) } else { Ok(()) }
    }

    /// Whether this is the honest arm.
    pub fn honest(&self) -> bool {
        self.kind == ArmKind::Honest
    }

    /// A size from the claim's table in `plan.toml`, for the tier that runs.
    ///
    /// # Errors
    /// When the plan has no such key.
    pub fn size(&self, key: &str) -> anyhow::Result<u64> {
        self.settings.sizes.get(key).with_context(|| format!("{}: plan.toml gives no size `{key}`", self.id))
    }

    /// The level at which one of `cells` cells is refuted; call before the first cell of a claim with
    /// several. ("Holds in all cells": each cell is supported at the claim's level, refuted at the level
    /// split by cells.)
    pub fn split(&mut self, cells: usize) {
        self.cells = cells.max(1);
        self.record.split = self.cells;
    }

    /// The level of the claim.
    pub fn alpha(&self) -> f64 {
        self.settings.alpha
    }

    /// Root of a cell's draws.
    pub fn seed(&self, cell: &str) -> Seed {
        self.seed.child(cell)
    }

    /// Adds a judged question.
    pub fn judge(&mut self, cell: &str, finding: Finding) {
        (self.settings.tick)();
        self.record.cells.push(Cell { name: cell.into(), finding });
    }

    /// Adds a number that is reported, not judged.
    pub fn note(&mut self, name: &str, value: f64) {
        self.record.notes.push(Note { name: name.into(), value });
    }

    /// Adds a convergence rate to be tracked; replicates that are not finite make the claim an error.
    pub fn rate(&mut self, name: &str, worse: Direction, replicates: Vec<f64>) {
        self.record.rates.push(Rate { name: name.into(), worse, replicates });
    }

    /// Adds a plot (of the honest arm only). Points that are not finite are left out, with their intervals.
    pub fn figure(&mut self, mut figure: Figure) {
        if self.honest() {
            figure.series.iter_mut().for_each(Series::keep_finite);
            self.record.figures.push(figure);
        }
    }

    /// Ends the experiment as not run.
    ///
    /// # Errors
    /// Always: use as `return cx.not_run("...")`.
    pub fn not_run(&mut self, reason: &str) -> anyhow::Result<()> {
        self.record.not_run = Some(reason.into());
        Err(NotRun(reason.into()).into())
    }

    /// Ends the experiment as not run for lack of data, which `reason` names.
    ///
    /// # Errors
    /// Always: use as `return cx.waits_for_data("...")`.
    pub fn waits_for_data(&mut self, reason: &str) -> anyhow::Result<()> {
        self.record.waits_for_data = true;
        self.not_run(reason)
    }

    /// Runs `n` trials on all threads; results come in trial order, whatever the number of threads. A panic
    /// in a trial becomes that trial's error.
    ///
    /// # Errors
    /// [`RunCanceled`].
    pub fn trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<Vec<anyhow::Result<R>>>
    where
        R: Send,
        F: Fn(&Trial) -> anyhow::Result<R> + Sync,
    {
        self.some_trials(cell, 0..n, &trial)
    }

    /// As [`trials`](Self::trials), with the first failing trial as an error of the experiment.
    ///
    /// # Errors
    /// [`RunCanceled`], or the first failing trial's error.
    pub fn all_trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<Vec<R>>
    where
        R: Send,
        F: Fn(&Trial) -> anyhow::Result<R> + Sync,
    {
        self.every_trial(cell, n, &trial)
    }

    fn every_trial<R: Send>(&self, cell: &str, n: u64, trial: AnyTrial<'_, R>) -> anyhow::Result<Vec<R>> {
        let results = self.some_trials(cell, 0..n, trial)?.into_iter().enumerate();
        results.map(|(i, result)| result.with_context(|| format!("cell {cell}, trial {i}"))).collect()
    }

    fn some_trials<R: Send>(
        &self,
        cell: &str,
        numbers: std::ops::Range<u64>,
        trial: AnyTrial<'_, R>,
    ) -> anyhow::Result<Vec<anyhow::Result<R>>> {
        let slots: Vec<Mutex<Option<R>>> = numbers.clone().map(|_| Mutex::new(None)).collect();
        let first = numbers.start;
        let outcomes = self.each_trial(cell, numbers, &|one| {
            let result = trial(one)?;
            *slots[(one.number - first) as usize].lock().unwrap_or_else(PoisonError::into_inner) =
                Some(result);
            Ok(())
        })?;
        let result = |slot: Mutex<Option<R>>| {
            let result = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
            result.expect("a trial that went well has left its result")
        };
        Ok(outcomes.into_iter().zip(slots).map(|(outcome, slot)| outcome.map(|()| result(slot))).collect())
    }

    /// Knows nothing of results, so that the machinery of threads is compiled once here, and not again for
    /// every type of result that a claim has.
    fn each_trial(
        &self,
        cell: &str,
        numbers: std::ops::Range<u64>,
        trial: AnyTrial<'_, ()>,
    ) -> anyhow::Result<Vec<anyhow::Result<()>>> {
        let seed = self.seed(cell);
        let outcomes = numbers.into_par_iter().map(|number| {
            if self.settings.canceled.load(Ordering::Relaxed) {
                return Err(RunCanceled.into());
            }
            let one = Trial { number, seed: seed.trial(number) };
            let outcome = catch_unwind(AssertUnwindSafe(|| trial(&one)));
            outcome.unwrap_or_else(|panic| Err(anyhow!("panicked: {}", message(panic.as_ref()))))
        });
        let outcomes: Vec<_> = outcomes.collect();
        if self.settings.canceled.load(Ordering::Relaxed) {
            bail!(RunCanceled);
        }
        (self.settings.tick)();
        Ok(outcomes)
    }

    /// Judges `P(failure) <= delta` from up to `most` trials, stopping as soon as the evidence suffices. A
    /// trial says whether it succeeded; one that errs or panics counts as a failure.
    ///
    /// # Errors
    /// [`RunCanceled`].
    pub fn prob<F>(&mut self, cell: &str, delta: f64, most: u64, trial: F) -> anyhow::Result<()>
    where
        F: Fn(&Trial) -> anyhow::Result<bool> + Sync,
    {
        self.prob_by(ProbJudge::new(delta, self.settings.alpha / self.cells as f64, most), cell, most, &trial)
    }

    fn prob_by(
        &mut self,
        mut judge: ProbJudge,
        cell: &str,
        most: u64,
        trial: AnyTrial<'_, bool>,
    ) -> anyhow::Result<()> {
        let mut trouble = None;
        self.sequential(cell, most, trial, &mut |block| {
            let outcomes: Vec<bool> = block.iter().map(|result| matches!(result, Ok(true))).collect();
            trouble = trouble.take().or_else(|| first_error(block));
            judge.push_block(&outcomes)
        })?;
        self.judge_with(cell, judge.finish(), trouble);
        Ok(())
    }

    /// Judges `E X <= bound` for `X >= 0` from up to `most` trials, stopping as soon as the evidence
    /// suffices. A trial that errs or panics counts as infinite.
    ///
    /// # Errors
    /// [`RunCanceled`].
    pub fn mean<F>(&mut self, cell: &str, bound: f64, most: u64, trial: F) -> anyhow::Result<()>
    where
        F: Fn(&Trial) -> anyhow::Result<f64> + Sync,
    {
        let judge = MeanJudge::new(bound, self.settings.alpha / self.cells as f64, most);
        self.mean_by(judge, cell, most, &trial)
    }

    /// As [`mean`](Self::mean) for `0 <= X <= upper`: support then rests on no assumption about the tail, and
    /// may stop early too.
    ///
    /// # Errors
    /// [`RunCanceled`].
    pub fn mean_within<F>(
        &mut self,
        cell: &str,
        (bound, upper): (f64, f64),
        most: u64,
        trial: F,
    ) -> anyhow::Result<()>
    where
        F: Fn(&Trial) -> anyhow::Result<f64> + Sync,
    {
        let judge = MeanJudge::new(bound, self.settings.alpha / self.cells as f64, most).with_upper(upper);
        self.mean_by(judge, cell, most, &trial)
    }

    fn mean_by(
        &mut self,
        mut judge: MeanJudge,
        cell: &str,
        most: u64,
        trial: AnyTrial<'_, f64>,
    ) -> anyhow::Result<()> {
        let mut trouble = None;
        self.sequential(cell, most, trial, &mut |block| {
            let values: Vec<f64> = block.iter().map(|r| r.as_ref().map_or(f64::INFINITY, |x| *x)).collect();
            trouble = trouble.take().or_else(|| first_error(block));
            judge.push_block(&values)
        })?;
        self.judge_with(cell, judge.finish(), trouble);
        Ok(())
    }

    fn judge_with(&mut self, cell: &str, mut finding: Finding, trouble: Option<String>) {
        if let Some(trouble) = trouble {
            if !finding.note.is_empty() {
                finding.note.push_str("; ");
            }
            finding.note.push_str("first failing trial: ");
            finding.note.push_str(&trouble);
        }
        self.judge(cell, finding);
    }

    /// Feeds blocks of [`BLOCK`] trials, in order, to `look` until it says stop. Waves of several blocks run
    /// at once; what lies beyond the stop is thrown away, so the result does not depend on the number of
    /// threads.
    fn sequential<R: Send>(
        &self,
        cell: &str,
        most: u64,
        trial: AnyTrial<'_, R>,
        look: &mut dyn FnMut(&[anyhow::Result<R>]) -> Flow,
    ) -> anyhow::Result<()> {
        const WAVE: u64 = 2 * BLOCK as u64;
        let mut from = 0;
        while from < most {
            let results = self.some_trials(cell, from..(from + WAVE).min(most), trial)?;
            for block in results.chunks(BLOCK) {
                if look(block) == Flow::Stop {
                    return Ok(());
                }
            }
            from += WAVE;
        }
        Ok(())
    }
}

/// What is wrong with the experiment of a claim about learning that never asks how its learners are crippled.
pub(crate) const NO_LEARNER: &str = "the claim is about learning, and its experiment cripples no learner";

/// A trial of an experiment, whatever its captures.
type AnyTrial<'a, R> = &'a (dyn Fn(&Trial) -> anyhow::Result<R> + Sync);

/// The arm of a mutant ends here, since the mutant is refuted; carried as an error so that `?` ends it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the mutant is refuted already")]
pub struct Settled;

/// The experiment could not run; carried as an error so that `?` ends it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("not run: {0}")]
pub struct NotRun(pub String);

fn first_error<R>(block: &[anyhow::Result<R>]) -> Option<String> {
    block.iter().find_map(|result| result.as_ref().err().map(|error| format!("{error:#}")))
}

/// The message of a panic.
pub fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
