//! The ordering of Section 6 on real data: Hybrid before Exploration, both before the mean.
//!
//! *Statement.* Hybrid reaches a given test error, and stays at or below it, after fewer examples than
//! Exploration; at the end of the stream both are level, and well below the error of the mean of the training
//! labels.
//!
//! *Design, fixed in advance.* Test rows are those that the authors give, or a quarter of the rows drawn per
//! trial. Attributes are standardized, and labels centered, by training rows only. The stream draws training
//! rows with replacement, the same for both methods. The error is relative to that of the mean: 1 explains
//! nothing. A run's score is the number of examples from which on its error stays at or below the target,
//! infinite if it does not settle. Each method has the parameters that settled fastest (geometric mean) on
//! streams and splits from other seeds, among three or four step sizes, first batches of s, 2s, 4s and 10s,
//! growth 1, 1.15 and 1.5 and, for Hybrid, 1, 3 or 10 exploiting updates with one or five times the batch;
//! the middle target was fixed on the same seeds, and the early one is halfway between it and the error of
//! the mean. At the end of the stream, the final target, both methods must be below the early target and, but
//! on digits, level within 10 % in the geometric mean. (On digits the logarithm of the ratio has a standard
//! deviation of .37, so that this would take 1,300 trials: there the ratio is noted.) The contest is judged
//! at the middle target only: the early one is passed by most runs of both methods with their first updates,
//! and how many Hybrid wins there is noted. Then sign tests over fresh trials. A trial is a new split and a
//! new stream of the same rows: p-values are about this resampling, not about other data.

use crate::setup::shown::shown;
use anyhow::Context as _;
use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExplorationParams, HybridParams};
use lao_datasets::catalog::{Catalog, CatalogError, Loaded};
use lao_datasets::format::DenseTable;
use lao_datasets::format::Table;
use lao_datasets::preprocess::{Centering, Clip, SplitTable, Standardizer};
use lao_kernels::SparseView;
use lao_observation::{Budget, LearnError, Learner, Seed, Session, SessionError, SessionLimit, Source};
use lao_verification_engine::claim::{Fault, Passable};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial, View, still};
use lao_verification_engine::instance::GivenExamples;
use lao_verification_engine::judge::{paired, ratio};
use lao_verification_engine::mutants::{Faulty, GradientFault, Misdirected, Misdirection};
use rand::RngExt;

/// A dataset with all that is fixed in advance.
pub(crate) struct Setup {
    /// Name in the catalog.
    pub dataset: &'static str,
    /// What is done to the table before it is split: choice of classes, transformation of the label.
    pub prepare: fn(Loaded) -> anyhow::Result<Loaded>,
    /// Standardized attributes are cut to plus or minus this.
    pub clip: Option<f64>,
    /// `s`.
    pub sparsity: usize,
    /// `s'`.
    pub budget: usize,
    /// Examples in a stream.
    pub stream: usize,
    /// Test errors to be reached, relative to the mean's: an early one, and a middle one.
    pub targets: [f64; 2],
    /// Whether it is judged, and not noted, that both methods end level.
    pub judges_the_end: bool,
    /// Tuned Exploration.
    pub exploration: Tuned,
    /// Tuned Hybrid.
    pub hybrid: Tuned,
}

/// Parameters from the tuning seeds. Batches are in multiples of s.
pub(crate) struct Tuned {
    pub step_size: f64,
    pub first: f64,
    pub growth: f64,
    /// Exploiting updates per stage, and their batch over that of exploring; for Hybrid.
    pub exploit: (u64, f64),
}

/// Training and test rows, standardized, labels centered.
struct Tables {
    train: GivenExamples,
    test: DenseTable,
    /// Mean squared error of predicting the mean of the training labels.
    mean_error: f64,
}

impl Tables {
    fn new(train: &Table, test: &Table, clip: Option<f64>) -> anyhow::Result<Self> {
        let (train, test) = train.dense().zip(test.dense()).context("the table is not dense")?;
        let (standard, center) = (Standardizer::fit(train)?, Centering::fit(&train.labels)?);
        let (mut train, mut test) = (standard.apply(train)?, standard.apply(test)?);
        for table in [&mut train, &mut test] {
            center.apply(&mut table.labels);
            if let Some(most) = clip {
                Clip::new(-most, most)?.apply(table.values_mut());
            }
        }
        let mean_error = test.labels.iter().map(|y| y * y).sum::<f64>() / test.rows() as f64;
        let mut examples = GivenExamples::new(train.columns());
        for (row, label) in train.labels.iter().enumerate() {
            let x: Vec<f64> = (0..train.columns()).map(|j| train.column(j)[row]).collect();
            examples.push(&x, *label);
        }
        Ok(Tables { train: examples, test, mean_error })
    }

    /// Mean squared error on the test rows over that of the mean.
    fn error(&self, theta: SparseView<'_>, residual: &mut Vec<f64>) -> f64 {
        residual.clear();
        residual.extend(self.test.labels.iter().map(|y| -y));
        for (j, weight) in theta.iter() {
            residual.iter_mut().zip(self.test.column(j as usize)).for_each(|(r, x)| *r += weight * x);
        }
        residual.iter().map(|r| r * r).sum::<f64>() / self.test.rows() as f64 / self.mean_error
    }
}

/// A learning curve.
#[derive(Clone, Debug, Default)]
struct Curve {
    /// Examples seen and relative test error after every update.
    points: Vec<(u64, f64)>,
    diverged: bool,
}

impl Curve {
    /// Examples from which on the error stays at or below `target`; infinite if it does not.
    fn settles(&self, target: f64) -> f64 {
        let below = self.points.iter().rev().take_while(|point| point.1 <= target).count();
        let first = self.points.len() - below;
        self.points.get(first).filter(|_| !self.diverged).map_or(f64::INFINITY, |point| point.0 as f64)
    }

    /// At the end of the stream.
    fn last(&self) -> f64 {
        self.points.last().filter(|_| !self.diverged).map_or(f64::INFINITY, |point| point.1)
    }

    /// After at most `examples`.
    fn at(&self, examples: u64) -> f64 {
        let before = self.points.partition_point(|point| point.0 <= examples);
        before.checked_sub(1).map_or(1.0, |last| self.points[last].1)
    }
}

impl Setup {
    fn batch(&self, tuned: &Tuned, factor: f64) -> BatchSizes {
        BatchSizes::Geometric { first: factor * tuned.first * self.sparsity as f64, growth: tuned.growth }
    }

    fn exploration(&self, dim: usize) -> anyhow::Result<Box<dyn Learner>> {
        let params = ExplorationParams {
            dim,
            sparsity: self.sparsity,
            budget: self.budget,
            step_size: self.exploration.step_size,
            batch: self.batch(&self.exploration, 1.0),
            updates: None,
            start: None,
            money: None,
        };
        Ok(Box::new(params.build()?))
    }

    fn hybrid(&self, dim: usize, misdirected: bool) -> anyhow::Result<Box<dyn Learner>> {
        let (exploit_updates, factor) = self.hybrid.exploit;
        let params = HybridParams {
            dim,
            sparsity: self.sparsity,
            budget: self.budget,
            step_size: self.hybrid.step_size,
            explore_updates: 1,
            explore_batch: self.batch(&self.hybrid, 1.0),
            exploit_updates,
            exploit_batch: self.batch(&self.hybrid, factor),
            stages: None,
            start: None,
            money: None,
        };
        Ok(if misdirected {
            Box::new(Misdirected::new(params, Misdirection::RandomSupport)?)
        } else {
            Box::new(params.build()?)
        })
    }

    /// The curve of a learner whose estimate stands still at zero: labels are centered, so that its error is
    /// that of the mean on every split.
    fn standing_at_zero(&self, learner: &dyn Learner, view: View) -> Option<Curve> {
        let begin = learner.coefficients();
        let is_zero = shown(view, begin, begin).view().iter().all(|(_, weight)| weight == 0.0);
        is_zero.then(|| Curve { points: vec![(self.stream as u64, 1.0)], diverged: false })
    }

    /// Follows a learner in each view of its estimate.
    fn curves(
        &self,
        tables: &Tables,
        stream: &GivenExamples,
        learner: &mut dyn Learner,
        fault: GradientFault,
        (views, seed): (&[View], &Seed),
    ) -> anyhow::Result<Vec<Curve>> {
        let begin = learner.coefficients().to_owned_vector();
        if let Some(view) = still(views) {
            let estimate = shown(view, begin.view(), begin.view());
            let error = tables.error(estimate.view(), &mut Vec::new());
            return Ok(vec![Curve { points: vec![(self.stream as u64, error)], diverged: false }]);
        }
        let source = Faulty::new(stream.clone(), fault);
        let mut session = Session::new(source, Budget::PerExample(self.budget), seed);
        let (mut curves, mut residual) = (vec![Curve::default(); views.len()], Vec::new());
        let end = session.run(learner, SessionLimit::never(), |ledger, learner| {
            for (view, curve) in views.iter().zip(&mut curves) {
                let estimate = shown(*view, begin.view(), learner.coefficients());
                curve.points.push((ledger.examples, tables.error(estimate.view(), &mut residual)));
            }
        });
        match end {
            Err(SessionError::Learn(LearnError::Diverged { .. })) => {
                curves.iter_mut().for_each(|curve| curve.diverged = true);
            }
            other => {
                other?;
            }
        }
        Ok(curves)
    }
}

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wrong {
    LabelsSwapped,
    RandomAttributes,
    StepReversed,
}

/// The cells that a learner which learns nothing passes on every dataset.
pub(crate) const PASSABLE: [Passable; 1] = [Passable {
    cells: "over that of Exploration",
    why: "two errors that stay where they were have the ratio 1; the cells against the mean are for this",
}];

/// Faults of the claim on every dataset.
pub(crate) const FAULTS: [Fault<Wrong>; 3] = [
    Fault::refuted("labels_swapped", "calls Exploration Hybrid and Hybrid Exploration", Wrong::LabelsSwapped),
    Fault::refuted(
        "exploits_random_attributes",
        "Hybrid exploits a random support of the same size",
        Wrong::RandomAttributes,
    ),
    Fault::refuted("step_reversed", "both methods step along the gradient", Wrong::StepReversed),
];

/// The experiment of every dataset. `trials` of 0 leaves it to another tier.
pub(crate) fn experiment(cx: &mut Context<'_>, setup: &Setup) -> anyhow::Result<()> {
    let trials = cx.size("trials")?;
    if trials == 0 {
        return cx.waits_for_data("the quick tier runs the shipped data only; run with --tier full");
    }
    let loaded = match Catalog::from_env()?.load(setup.dataset) {
        Err(reason @ CatalogError::Missing { .. }) => return cx.waits_for_data(&reason.to_string()),
        loaded => (setup.prepare)(loaded?)?,
    };
    let given = match &loaded.test {
        Some(test) => Some(Tables::new(&loaded.train, test, setup.clip)?),
        None => None,
    };
    let wrong = cx.fault(&FAULTS);
    let fault = if wrong == Some(Wrong::StepReversed) {
        GradientFault::Scaled(-1.0)
    } else {
        GradientFault::Scaled(1.0)
    };
    let misdirected = wrong == Some(Wrong::RandomAttributes);
    let run = |trial: &Trial, views: &[View]| {
        if let Some(view) = still(views) {
            let dim = loaded.train.dim();
            let curves = [setup.exploration(dim)?, setup.hybrid(dim, misdirected)?]
                .map(|learner| setup.standing_at_zero(learner.as_ref(), view));
            if let [Some(exploration), Some(hybrid)] = curves {
                return Ok(vec![(exploration, hybrid)]);
            }
        }
        let own = match &given {
            Some(_) => None,
            None => {
                let SplitTable { train, test } =
                    loaded.clone().into_train_test(&trial.seed.child("split"))?;
                Some(Tables::new(&train, &test, setup.clip)?)
            }
        };
        let tables = own.as_ref().or(given.as_ref()).context("no tables")?;
        let (rows, dim) = (tables.train.len() as u32, tables.train.dim());
        let mut rng = trial.seed.child("data").rng();
        // A learner that stands still sees no example.
        let length = if still(views).is_some() { 0 } else { setup.stream };
        let order = (0..length).map(|_| rng.random_range(0..rows) as usize).collect();
        let stream = tables.train.in_order(order);
        let seed = trial.seed.child("algorithm");
        let follow = |mut learner: Box<dyn Learner>| {
            setup.curves(tables, &stream, learner.as_mut(), fault, (views, &seed))
        };
        let hybrid = setup.hybrid(dim, misdirected)?;
        Ok(follow(setup.exploration(dim)?)?.into_iter().zip(follow(hybrid)?).collect())
    };
    let pairs = match wrong {
        // Swapped labels change no run.
        Some(Wrong::LabelsSwapped) => cx.sound_trials("trials", trials, run)?,
        _ => cx.shown_trials("trials", trials, run)?,
    };
    let (mut exploration, mut hybrid): (Vec<&Curve>, Vec<&Curve>) = pairs.iter().map(|(e, h)| (e, h)).unzip();
    if wrong == Some(Wrong::LabelsSwapped) {
        std::mem::swap(&mut exploration, &mut hybrid);
    }

    let last = |curves: &[&Curve]| curves.iter().map(|curve| curve.last()).collect::<Vec<_>>();
    cx.split(if setup.judges_the_end { 4 } else { 3 });
    let alpha = cx.alpha();
    let [early, middle] = setup.targets;
    let settled = |curves: &[&Curve]| curves.iter().map(|curve| curve.settles(middle)).collect::<Vec<_>>();
    cx.judge(
        &format!("Hybrid settles at the middle target, {middle}, before Exploration"),
        paired::better(&settled(&hybrid), &settled(&exploration), alpha),
    );
    // Pair by pair, and in the geometric mean: a split on which either method ends badly weighs on a mean.
    let finding = ratio::paired(&last(&hybrid), &last(&exploration), (0.9, 1.1), alpha);
    let cell = "last error of Hybrid over that of Exploration";
    if setup.judges_the_end {
        cx.judge(cell, finding);
    } else {
        cx.note(&format!("{cell}, geometric mean"), finding.estimate);
    }
    for (name, curves) in [("Exploration", &exploration), ("Hybrid", &hybrid)] {
        let marks = vec![early; curves.len()];
        let cell = format!("{name} is below the early target, {early}, at the end");
        cx.judge(&cell, paired::better(&last(curves), &marks, alpha));
    }
    if cx.honest() {
        report(cx, setup, &exploration, &hybrid);
    }
    Ok(())
}

fn report(cx: &mut Context<'_>, setup: &Setup, exploration: &[&Curve], hybrid: &[&Curve]) {
    let most = setup.stream as f64;
    let marks: Vec<u64> = (0..25).rev().map(|k| (most * 0.75f64.powi(k)) as u64).collect();
    let mut series = Vec::new();
    for (name, curves) in [("Exploration", exploration), ("Hybrid", hybrid)] {
        let settled: Vec<f64> =
            curves.iter().map(|curve| curve.settles(setup.targets[1]).min(most)).collect();
        cx.note(&format!("{name}: examples to the target, median"), paired::median(&mut settled.clone()));
        let mut last: Vec<f64> = curves.iter().map(|curve| curve.last()).collect();
        cx.note(&format!("{name}: last relative test error, median"), paired::median(&mut last));
        cx.rate(&format!("examples to the target, {name}"), Direction::Larger, settled);
        let at = |n: u64| paired::median(&mut curves.iter().map(|curve| curve.at(n)).collect::<Vec<f64>>());
        series.push(Series::line(name, marks.iter().map(|&n| [n as f64, at(n)]).collect()));
    }
    // How the ordering depends on the target.
    let [early, middle] = setup.targets;
    for target in [middle - 0.1, middle - 0.05, middle + 0.05, middle + 0.1, early] {
        let wins = |(e, h): (&&Curve, &&Curve)| match h.settles(target).total_cmp(&e.settles(target)) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        };
        let share = exploration.iter().zip(hybrid).map(wins).sum::<f64>() / hybrid.len() as f64;
        cx.note(&format!("share of trials that Hybrid wins at target {target:.2}"), share);
    }
    for (name, level) in [("middle target", setup.targets[1]), ("mean of the labels", 1.0)] {
        series.push(Series::bound(name, marks.iter().map(|&n| [n as f64, level]).collect()));
    }
    cx.figure(Figure {
        caption: format!("{}: test error over that of the mean, median of the trials.", setup.dataset),
        x: Axis::log("examples"),
        y: Axis::linear("relative test error"),
        series,
    });
}
