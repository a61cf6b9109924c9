//! The context in which an experiment runs, and the record that the experiment leaves.
//!
//! An experiment is a function of a [`Context`]: it asks for sizes and seeds, runs trials, and adds one
//! [`Cell`] per judged question. The experiment runs once for the honest arm and once per mutant, through the
//! same judges at the same sizes and levels; [`Context::arm`] tells the experiment which fault to commit.

use crate::fault::{Fault, Must, Mutant};
pub use crate::judge::BLOCK;
pub use crate::judge::Direction;
use crate::judge::{Finding, FindingKind, Flow, MeanJudge, ProbJudge};
use crate::mutants::Cripple;
pub use crate::record::{ArmRecord, Cell, Note, Rate};
use crate::shared::Shared;
use crate::sizes::Sizes;
use anyhow::{Context as _, anyhow, bail};
pub use lao_figures::{Axis, Figure, Series, Style};
use lao_observation::Seed;
use rayon::prelude::*;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// What all arms of a claim share.
#[derive(Clone, Copy)]
pub struct ArmSettings<'a> {
    /// The sizes of the claim's experiment.
    pub sizes: &'a Sizes,
    /// The level at which the claim is judged.
    pub alpha: f64,
    /// The root seed of the suite.
    pub seed: &'a Seed,
    /// Set from outside to stop the run.
    pub canceled: &'a AtomicBool,
    /// Called whenever something inside an arm is finished.
    pub tick: &'a (dyn Fn() + Sync),
}

/// One arm of a claim, as its experiment sees it.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'a> {
    /// The claim's id.
    pub id: &'a str,
    /// The claim's mutants.
    pub mutants: &'a [Mutant],
    /// Whether the claim is about learning, and has arms of crippled learners.
    pub learns: bool,
    /// Which of the arms it is.
    pub kind: ArmKind,
    /// The cells that no mutant has refuted yet.
    pub open: &'a BTreeSet<String>,
    /// What several arms of the claim compute alike.
    pub shared: &'a Shared,
}

/// How a trial shows a learner's estimate: sound, or as a crippled learner shows it.
pub type View = Option<Cripple>;

/// Returns the view in which the estimate stands still, if a trial is asked for such a view. The trial need
/// not run its learner then, since it is asked for no other view.
pub fn still(views: &[View]) -> Option<View> {
    views.iter().copied().find(|view| view.is_some_and(Cripple::stands_still))
}

/// The results of trials that several arms share, in trial order.
#[derive(Clone, Debug)]
pub struct ShownTrials<R> {
    all: Arc<Vec<R>>,
    /// An arm of fewer trials than the one that made them sees the first ones.
    count: usize,
}

impl<R> ShownTrials<R> {
    /// Returns the first `count` of these results, or all if there are fewer.
    pub fn first(all: Arc<Vec<R>>, count: u64) -> Self {
        ShownTrials { count: all.len().min(count as usize), all }
    }
}

impl<R> From<Vec<R>> for ShownTrials<R> {
    fn from(all: Vec<R>) -> Self {
        ShownTrials { count: all.len(), all: Arc::new(all) }
    }
}

impl<R> std::ops::Deref for ShownTrials<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.all[..self.count]
    }
}

/// What the trials of a sequential judge show in one arm; see [`Context::shown_one_by_one`].
pub struct ShownOneByOne<R> {
    view: View,
    /// By number, what a learner that goes a hundredth of the way shows of the honest arm's runs; `None` in
    /// arms that share nothing.
    kept: Option<Arc<Mutex<BTreeMap<u64, R>>>>,
}

impl<R: Clone> ShownOneByOne<R> {
    /// Returns what this trial shows. `run` gets a list of views, and returns one result per view.
    ///
    /// # Errors
    /// Those of `run`; or it returns another number of results than there are views.
    pub fn of(
        &self,
        trial: &Trial,
        run: impl FnOnce(&[View]) -> anyhow::Result<Vec<R>>,
    ) -> anyhow::Result<R> {
        let views: &[View] = match (&self.kept, self.view) {
            (Some(_), None) => &[None, Some(Cripple::GoesOneHundredth)],
            (None, None) => &[None],
            (kept, Some(cripple)) => {
                let lock = |kept: &Arc<Mutex<BTreeMap<u64, R>>>| {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).get(&trial.number).cloned()
                };
                if let Some(known) = kept.as_ref().and_then(lock) {
                    return Ok(known);
                }
                &[Some(cripple)]
            }
        };
        let shown = run(views)?;
        anyhow::ensure!(
            shown.len() == views.len(),
            "the trial returned {} results: return one for each of the {} views",
            shown.len(),
            views.len()
        );
        let mut shown = shown.into_iter();
        let first = shown.next().context("the trial was asked for no view")?;
        if let (Some(kept), Some(second)) = (&self.kept, shown.next()) {
            kept.lock().unwrap_or_else(PoisonError::into_inner).insert(trial.number, second);
        }
        Ok(first)
    }
}

/// An experiment's view of the suite.
pub struct Context<'a> {
    arm: Arm<'a>,
    /// Whether the experiment has asked for the value of the mutant's fault, or for the crippled learner.
    committed: AtomicBool,
    /// The cells whose shared trials this arm has asked for.
    asked: Mutex<BTreeSet<String>>,
    settings: ArmSettings<'a>,
    cells: usize,
    seed: Seed,
    record: ArmRecord,
}

/// One independent repetition of an experiment, with its number and its seed.
///
/// The seed depends on the suite's seed, the claim, the cell and the number, but not on the arm, so all arms
/// see the same data.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The number of the trial, counted from 0.
    pub number: u64,
    /// The root of the trial's draws; derive `child("data")`, `child("algorithm")` and so on from it.
    pub seed: Seed,
}

/// The error of a canceled run, of which nothing is recorded.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("canceled")]
pub struct RunCanceled;

impl<'a> Context<'a> {
    /// The view of one arm of a claim.
    pub(crate) fn new(arm: Arm<'a>, settings: ArmSettings<'a>) -> Self {
        let seed = settings.seed.child("claim").child(arm.id);
        let record = ArmRecord { split: 1, ..ArmRecord::default() };
        let (committed, asked) = (AtomicBool::new(false), Mutex::default());
        Context { arm, committed, asked, settings, cells: 1, seed, record }
    }

    /// What the arm found.
    pub(crate) fn into_record(mut self) -> ArmRecord {
        let committed = self.committed.into_inner();
        let error = match self.arm.kind {
            ArmKind::Mutant(name) if !committed => Some(format!(
                "the experiment never asks for the fault `{name}`: pass its row to `arm`, or ask `commits`"
            )),
            ArmKind::Crippled(_) if !committed => Some(NO_LEARNER.to_string()),
            _ => None,
        };
        self.record.error = self.record.error.or(error);
        self.record
    }

    /// Returns the value of the fault that this arm commits, from the claim's table of faults; `None` in the
    /// honest arm.
    pub fn fault<A: Clone>(&self, faults: &[Fault<A>]) -> Option<A> {
        let ArmKind::Mutant(name) = self.arm.kind else { return None };
        let fault = faults.iter().find(|fault| fault.mutant.name == name)?;
        self.committed.store(true, Ordering::Relaxed);
        Some(fault.arm.clone())
    }

    /// Returns the value of the fault that this arm commits, or `sound` in the honest arm.
    pub fn arm<A: Clone>(&self, sound: A, faults: &[Fault<A>]) -> A {
        self.fault(faults).unwrap_or(sound)
    }

    /// Returns whether this arm commits the fault.
    ///
    /// # Panics
    /// Debug builds panic when the fault is not among the claim's mutants, since no arm would commit it.
    pub fn commits(&self, fault: &Mutant) -> bool {
        debug_assert!(
            self.arm.mutants.contains(fault),
            "{}: `{}` is not among the mutants",
            self.arm.id,
            fault.name
        );
        let commits = self.arm.kind == ArmKind::Mutant(fault.name);
        self.committed.fetch_or(commits, Ordering::Relaxed);
        commits
    }

    /// How the learners of this arm are crippled; `None` in all arms but those of the crippled learners. A
    /// claim about learning applies it to every learner whose estimates it judges, by
    /// [`Crippled`](crate::mutants::Crippled) or [`Cripple::estimate`].
    pub fn cripple(&self) -> Option<Cripple> {
        let ArmKind::Crippled(cripple) = self.arm.kind else { return None };
        self.committed.store(true, Ordering::Relaxed);
        Some(cripple)
    }

    /// Ends the arm of a mutant that has no more to show: a cell is refuted, and every cell that no earlier
    /// mutant has refuted is judged. (A claim that lists the mutants of its last cells first therefore spares
    /// the others these cells.) The arm's record consists of the cells so far; its notes, rates and figures
    /// are not used.
    ///
    /// # Errors
    /// [`Settled`], to be returned with `?`. The runner recognizes it and does not report an error.
    pub fn settled(&self) -> Result<(), Settled> {
        let ArmKind::Mutant(_) = self.arm.kind else { return Ok(()) };
        let alpha = self.settings.alpha;
        let judged = |open: &String| self.record.cells.iter().any(|cell| cell.name == *open);
        let done = self.record.refuted_cells(alpha).next().is_some() && self.arm.open.iter().all(judged);
        if done { Err(Settled) } else { Ok(()) }
    }

    /// Returns whether this is the honest arm.
    pub fn honest(&self) -> bool {
        self.arm.kind == ArmKind::Honest
    }

    /// Returns a size from the claim's table in `plan.toml`, for the tier that runs.
    ///
    /// # Errors
    /// When the plan has no such key.
    pub fn size(&self, key: &str) -> anyhow::Result<u64> {
        self.settings.sizes.get(key).with_context(|| {
            format!(
                "{}: plan.toml has no size `{key}` for this claim: add it to the claim's table",
                self.arm.id
            )
        })
    }

    /// Splits the claim's level over `cells` cells for refutation; call it before the first cell of a claim
    /// that has several. The claim says "holds in all cells", so each cell is supported at the claim's level
    /// and refuted at the level divided by `cells`.
    pub fn split(&mut self, cells: usize) {
        self.cells = cells.max(1);
        self.record.split = self.cells;
    }

    /// Returns the level of the claim.
    pub fn alpha(&self) -> f64 {
        self.settings.alpha
    }

    /// Returns the root of a cell's draws.
    pub fn seed(&self, cell: &str) -> Seed {
        self.seed.child(cell)
    }

    /// Adds a judged question.
    pub fn judge(&mut self, cell: &str, finding: Finding) {
        (self.settings.tick)();
        self.record.cells.push(Cell { name: cell.into(), finding });
    }

    /// Adds a question that cannot be put to what the learner of this arm shows: an exponent, say, of a
    /// number of examples that it never gets to. The cell is undecided, so that the claim does not hold for
    /// it.
    pub fn judge_nothing(&mut self, cell: &str, why: &str) {
        let mut finding = Finding::undecided("none", FindingKind::Slope, 0, f64::INFINITY, f64::INFINITY);
        finding.guard(why, false, f64::INFINITY);
        self.judge(cell, finding);
    }

    /// Says that the cell judged last bounds a contraction, so that its tightness is a share of rates: the
    /// log rate that the bound promises over the one that was found. 1 is sharp; a bound that promises a
    /// fiftieth of the rate has .02, and not the ratio of two numbers near 1.
    pub fn judged_a_contraction(&mut self) {
        if let Some(cell) = self.record.cells.last_mut() {
            let ratio = cell.finding.bound.ln() / cell.finding.estimate.ln();
            let are_contractions = cell.finding.bound < 1.0 && cell.finding.estimate < 1.0;
            cell.finding.tightness = (are_contractions && ratio.is_finite()).then_some(ratio);
        }
    }

    /// Adds a number that is reported and not judged.
    pub fn note(&mut self, name: &str, value: f64) {
        self.record.notes.push(Note { name: name.into(), value });
    }

    /// Adds a convergence rate to be tracked. A replicate that is not finite makes the claim an error, and so
    /// does a claim that tracks rates and draws no [`figure`](Self::figure).
    pub fn rate(&mut self, name: &str, worse: Direction, replicates: Vec<f64>) {
        self.record.rates.push(Rate { name: name.into(), worse, replicates });
    }

    /// Adds a plot in the honest arm; other arms drop it. Points that are not finite are left out, with their
    /// intervals.
    pub fn figure(&mut self, mut figure: Figure) {
        if self.honest() {
            figure.series.iter_mut().for_each(Series::keep_finite);
            self.record.figures.push(figure);
        }
    }

    /// Ends the experiment as not run.
    ///
    /// # Errors
    /// Always, with the reason: use it as `return cx.not_run("...")`.
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

    /// Runs `n` trials on all threads and returns their results in trial order, whatever the number of
    /// threads. A panic in a trial becomes that trial's error.
    ///
    /// # Errors
    /// [`RunCanceled`] when the run is canceled.
    pub fn trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<Vec<anyhow::Result<R>>>
    where
        R: Send,
        F: Fn(&Trial) -> anyhow::Result<R> + Sync,
    {
        self.some_trials(cell, 0..n, &trial)
    }

    /// Runs `n` trials like [`trials`](Self::trials), but returns the first failing trial as an error of the
    /// experiment.
    ///
    /// # Errors
    /// [`RunCanceled`] when the run is canceled, or the first failing trial's error.
    pub fn all_trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<Vec<R>>
    where
        R: Send,
        F: Fn(&Trial) -> anyhow::Result<R> + Sync,
    {
        self.every_trial(cell, n, &trial)
    }

    /// Runs `n` trials of learners like [`all_trials`](Self::all_trials), but once for all arms that make the
    /// same runs, and returns what each trial shows in this arm.
    ///
    /// A learner that goes a hundredth of the way makes the run of the sound one: the two differ in what they
    /// say of the estimate alone. So `trial` gets a list of [`View`]s, and returns one result per view, in
    /// the list's order. The honest arm asks for both views of its runs, and the arm of the learner that goes
    /// a hundredth of the way takes the second one. An arm with a fault makes runs of its own.
    ///
    /// The cell's name stands for the runs: in all arms that share them, `trial` must make the same runs from
    /// the same seeds, whatever it shows. A trial that fails in one view fails in all.
    ///
    /// # Errors
    /// Those of `all_trials`; or a trial returns another number of results than there are views.
    pub fn shown_trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<ShownTrials<R>>
    where
        R: Any + Send + Sync,
        F: Fn(&Trial, &[View]) -> anyhow::Result<Vec<R>> + Sync,
    {
        match self.arm.kind {
            ArmKind::Mutant(_) => self.own_trials(cell, n, None, trial),
            _ => self.sound_trials(cell, n, trial),
        }
    }

    /// Runs trials like [`shown_trials`](Self::shown_trials) that the fault of this arm, if it has one, does
    /// not reach: an arm with a fault shares the runs of the honest arm, too.
    ///
    /// # Errors
    /// Those of `shown_trials`.
    pub fn sound_trials<R, F>(&self, cell: &str, n: u64, trial: F) -> anyhow::Result<ShownTrials<R>>
    where
        R: Any + Send + Sync,
        F: Fn(&Trial, &[View]) -> anyhow::Result<Vec<R>> + Sync,
    {
        let view = self.cripple();
        if view.is_some_and(Cripple::stands_still) {
            return self.own_trials(cell, n, view, trial);
        }
        anyhow::ensure!(
            self.lock_asked().insert(cell.to_owned()),
            "cell {cell}: the experiment asks twice for its shared trials: give the second a cell of its own"
        );
        // Where no fault reaches a trial, it follows from its cell and its number.
        let all = self.shared(&format!("trials of {cell}"), || {
            let both = [None, Some(Cripple::GoesOneHundredth)];
            self.trials_in_views(cell, n, if self.arm.learns { &both } else { &both[..1] }, trial)
        })?;
        let shown = all.get(usize::from(view.is_some())).context("the claim is not about learning")?;
        anyhow::ensure!(
            shown.len() as u64 >= n,
            "cell {cell}: {} trials are shared, and an arm asks for {n}",
            shown.len()
        );
        Ok(ShownTrials::first(Arc::clone(shown), n))
    }

    /// Returns what the trials of a sequential judge show: like [`shown_trials`](Self::shown_trials), the
    /// runs of the honest arm serve the learner that goes a hundredth of the way, too, as far as the judge of
    /// the honest arm went; beyond, that arm makes runs of its own.
    ///
    /// The name stands for the runs: in both arms, the trial of a number must make the same run.
    ///
    /// # Errors
    /// The name stands for results of another type.
    pub fn shown_one_by_one<R: Any + Send + Sync>(&self, name: &str) -> anyhow::Result<ShownOneByOne<R>> {
        let view = self.cripple();
        let is_mutant = matches!(self.arm.kind, ArmKind::Mutant(_));
        let shares = self.arm.learns && !is_mutant && !view.is_some_and(Cripple::stands_still);
        let kept = match shares {
            true => Some(self.shared(&format!("one by one: {name}"), || Ok(Mutex::new(BTreeMap::new())))?),
            false => None,
        };
        Ok(ShownOneByOne { view, kept })
    }

    /// Runs trials in one view, for this arm alone.
    fn own_trials<R: Send, F>(
        &self,
        cell: &str,
        n: u64,
        view: View,
        trial: F,
    ) -> anyhow::Result<ShownTrials<R>>
    where
        F: Fn(&Trial, &[View]) -> anyhow::Result<Vec<R>> + Sync,
    {
        let all = self.trials_in_views(cell, n, &[view], trial)?.swap_remove(0);
        Ok(ShownTrials { count: all.len(), all })
    }

    /// Runs trials in each of these views of their estimates; returns their results, view by view.
    fn trials_in_views<R: Send, F>(
        &self,
        cell: &str,
        n: u64,
        views: &[View],
        trial: F,
    ) -> anyhow::Result<Vec<Arc<Vec<R>>>>
    where
        F: Fn(&Trial, &[View]) -> anyhow::Result<Vec<R>> + Sync,
    {
        let results = self.all_trials(cell, n, |one| {
            let shown = trial(one, views)?;
            anyhow::ensure!(
                shown.len() == views.len(),
                "the trial returned {} results: return one for each of the {} views",
                shown.len(),
                views.len()
            );
            Ok(shown)
        })?;
        let mut all: Vec<Vec<R>> = views.iter().map(|_| Vec::with_capacity(results.len())).collect();
        for shown in results {
            all.iter_mut().zip(shown).for_each(|(view, result)| view.push(result));
        }
        Ok(all.into_iter().map(Arc::new).collect())
    }

    fn lock_asked(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Runs trials that store their results themselves. The function has no type of result as a parameter, so
    /// the code for threads is compiled once, and not for every type of result that a claim has.
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

    /// Returns the value of that name, which the first arm of the claim that asks for it computes.
    ///
    /// It is for what the fault of the asking arm cannot reach: the rival beside a faulty learner, or the
    /// solution of a reference. All arms see the same data, so each would compute the same value. An arm
    /// whose fault does reach the value must not ask for it: its fault would go unnoticed.
    ///
    /// # Errors
    /// Those of `compute`; or the name stands for a value of another type.
    pub fn shared<T: Any + Send + Sync>(
        &self,
        name: &str,
        compute: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<Arc<T>> {
        self.arm.shared.get(name, compute)
    }

    /// Judges `P(failure) <= delta` from up to `most` trials and stops as soon as the evidence suffices. A
    /// trial returns whether it succeeded; a trial that errs or panics counts as a failure.
    ///
    /// # Errors
    /// [`RunCanceled`] when the run is canceled.
    pub fn prob<F>(&mut self, cell: &str, delta: f64, most: u64, trial: F) -> anyhow::Result<()>
    where
        F: Fn(&Trial) -> anyhow::Result<bool> + Sync,
    {
        let judge = ProbJudge::new(delta, self.settings.alpha / self.cells as f64, most);
        self.prob_by(judge.supported_at(self.supporting_level()), cell, most, &trial)
    }

    /// The level at which support ends the trials of a cell: each cell of the claim is supported at the
    /// claim's level. A mutant that must be refuted has nothing to gain from support, and where it is so
    /// likely that a cell does not refute it, this cell is given up.
    fn supporting_level(&self) -> f64 {
        let refuted = |name| self.arm.mutants.iter().any(|m| m.name == name && m.must == Must::BeRefuted);
        match self.arm.kind {
            ArmKind::Mutant(name) if refuted(name) => GIVEN_UP,
            _ => self.settings.alpha,
        }
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

    /// Judges `E X <= bound` for `X >= 0` from up to `most` trials and stops as soon as the evidence
    /// suffices. The value of a trial that errs or panics counts as infinite.
    ///
    /// # Errors
    /// [`RunCanceled`] when the run is canceled.
    pub fn mean<F>(&mut self, cell: &str, bound: f64, most: u64, trial: F) -> anyhow::Result<()>
    where
        F: Fn(&Trial) -> anyhow::Result<f64> + Sync,
    {
        let judge = MeanJudge::new(bound, self.settings.alpha / self.cells as f64, most);
        self.mean_by(judge, cell, most, &trial)
    }

    /// Judges `E X <= bound` like [`mean`](Self::mean), but for `0 <= X <= upper`: support then needs no
    /// assumption about the tail, and may stop the trials early too.
    ///
    /// # Errors
    /// [`RunCanceled`] when the run is canceled.
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
        self.mean_by(judge.supported_at(self.supporting_level()), cell, most, &trial)
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

    /// Passes blocks of [`BLOCK`] trials, in order, to `look` until `look` returns [`Flow::Stop`]. Several
    /// blocks run at once; trials after the stop are discarded, so the result does not depend on the number
    /// of threads.
    fn sequential<R: Send>(
        &self,
        cell: &str,
        most: u64,
        trial: AnyTrial<'_, R>,
        look: &mut dyn FnMut(&[anyhow::Result<R>]) -> Flow,
    ) -> anyhow::Result<()> {
        // A judge looks after every block: trials beyond the one that decides would be for nothing.
        const WAVE: u64 = BLOCK as u64;
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

/// A mutant that refutes a cell is given up in it with at most this probability.
const GIVEN_UP: f64 = 0.01;

/// The closure of a trial, behind a pointer so that code is not compiled again for each closure.
type AnyTrial<'a, R> = &'a (dyn Fn(&Trial) -> anyhow::Result<R> + Sync);

/// The end of a mutant's arm that is refuted already. It is an error so that `?` ends the experiment.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the mutant is refuted already")]
pub struct Settled;

/// The reason why an experiment could not run. It is an error so that `?` ends the experiment.
#[derive(Clone, Debug, thiserror::Error)]
#[error("not run: {0}")]
pub struct NotRun(pub String);

fn first_error<R>(block: &[anyhow::Result<R>]) -> Option<String> {
    block.iter().find_map(|result| result.as_ref().err().map(|error| format!("{error:#}")))
}

/// Returns the message of a panic.
pub fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
