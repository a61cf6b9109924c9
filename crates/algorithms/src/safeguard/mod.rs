//! Any method on data as they come: raw columns, a step size that is found, and no estimate that is worse
//! than none.
//!
//! The papers' methods expect centered attributes of one scale, a step size that fits their correlations, and
//! labels on the scale of the radius. Otherwise their estimates grow without bound, or stay worse than the
//! mean of the labels, and do not say so. [`Safeguarded`] wraps a method of the registry and sees to all
//! three within the same budget. Build it with [`Method::safeguarded`]:
//!
//! ```
//! use lao_algorithms::{Task, registry::method};
//! use lao_datasets::memory::Columns;
//! use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
//! # use rand::RngExt as _;
//! # let mut rng = Seed::root(1).rng();
//! # let mut column = |mean: f64, scale: f64| -> Vec<f64> {
//! #     (0..4000).map(|_| mean + scale * (rng.random::<f64>() - 0.5)).collect()
//! # };
//!
//! // Weights in grams, lengths in meters, ...; the label is 20 + 0.01 * weight - 50 * length.
//! let columns = [column(500.0, 1000.0), column(1.7, 0.4), column(0.0, 1.0), column(1e6, 1.0)];
//! let labels = (0..4000).map(|i| 20.0 + 0.01 * columns[0][i] - 50.0 * columns[1][i]).collect();
//!
//! let task = Task { dim: 4, sparsity: 2, budget: 3, ..Task::default() };
//! let mut learner = method("hybrid").unwrap().safeguarded(&task)?;
//! let source = Columns::new(4, columns.concat(), labels)?;
//! let mut session = Session::new(source, Budget::PerExample(3), &Seed::root(2));
//! session.run(&mut learner, SessionLimit::never(), |_, _| {})?;
//! assert!(learner.found());
//! assert!((learner.coefficients().get(1) + 50.0).abs() < 0.5 && (learner.intercept() - 20.0).abs() < 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Source*: this project; the parts are textbook material.
//!
//! *Setting*: that of the method within.
//!
//! *Notation*: `u`, the standardized attributes; `v`, the standardized label; `theta`, the estimate of the
//! method within, for v by u.
//!
//! *Update*:
//!
//! 1. **Scale.** A pilot looks at each attribute in [`PILOT`] examples. Means and standard deviations go on
//!    being refined with every value seen, and the method is told u and v. A value further than 4 standard
//!    deviations from the mean of its attribute counts as if it lay there; a constant attribute is always 0.
//!    Where prices differ, the pilot's examples are packed by price, like the blocks of Exploration.
//! 2. **Step size.** For a method of mini-batches, the examples of an update test the estimate before it. If
//!    its mean squared error is four times the smallest so far, or above the smallest in four updates on end,
//!    or if the step exceeds what the largest eigenvalue on the support allows, the step size is halved (or
//!    set by the eigenvalue) and the method starts again from the best estimate. For another method, one
//!    example in ten tests a snapshot of the estimate; if that is worse than the mean of the labels, or the
//!    method diverges, the speed is halved and the method starts again.
//! 3. **Estimate.** For a method of mini-batches it is the least squares fit on the support, from all the
//!    examples since the support was chosen, which all have it in full; the fit with the smallest bound on
//!    its error is kept. For another method it is the snapshot times the factor that fits best. Either must
//!    be significant; until one is, the estimate is the mean of the labels, and [`Safeguarded::found`] is
//!    false.
//!
//! *Departures*: the papers have none of this. What a claim tests is the method within, built without it.
//!
//! *Cost*: that of the method, O(1) more per value, O(s^2) per example for least squares, O(d) per snapshot.
//! A source's shortcut for gradient sums is not used, since sums of raw columns would not help.

mod batches;
mod calibration;
#[cfg(test)]
mod decisions;
mod refit;
mod scales;
mod snapshots;

use crate::blocks::Blocks;
use crate::params::{ParamError, require};
use crate::registry::{AnyLearner, Method, method};
use crate::state;
use crate::task::Task;
use calibration::Calibration;
use lao_kernels::{SparseVector, SparseView, merge_into};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Block, BlockBuf, Budget, LearnError, Learner, Request, Rng, Row, Told};
use rand::seq::SliceRandom as _;
use refit::Refit;
use scales::Scales;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

const NAME: &str = "Safeguarded";

/// Examples of the pilot for each attribute.
pub const PILOT: u64 = 20;
/// Of so many examples, one tests a method that is not of mini-batches.
const CHECK_EVERY: u64 = 10;
/// The longest piece of a gradient ask, in examples.
const LONGEST_PIECE: u64 = 256;
/// The number of step sizes that are tried.
const TRIES: u32 = 60;
/// The largest magnitude of a value or label; its fourth power times any number of examples is finite.
const LARGEST: f64 = 1e70;

/// What is done with the answer to the last ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Turn {
    /// It gives locations and scales alone.
    Pilot,
    /// The method within asked for the values.
    Values,
    /// The method within asked for a gradient sum.
    Gradient,
    /// It tests the snapshot.
    Check,
}

/// The squared errors of an estimate on examples that it was not learned from.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Errors {
    sum: f64,
    square: f64,
    count: f64,
}

impl Errors {
    fn add(&mut self, errors: &[f64]) {
        for error in errors {
            self.sum += error * error;
            self.square += (error * error) * (error * error);
        }
        self.count += errors.len() as f64;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// Returns the standard error of the mean.
    fn doubt(&self) -> f64 {
        let n = self.count.max(1.0);
        ((self.square / n - self.mean() * self.mean()).max(0.0) / n).sqrt()
    }
}

/// A learner of the registry behind a safeguard; see the [module](self).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Safeguarded {
    method: String,
    /// The task of the method within, in standardized units, at the current speed.
    task: Task,
    inner: AnyLearner,
    /// Those of the attributes, then that of the label.
    scales: Scales,
    /// The attributes in the order of a pilot that counts them; empty before the first ask.
    order: Vec<u32>,
    /// What the pilot looks at, one block after the other, where the money does not pay equally many
    /// attributes of each example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pilot: Option<Blocks>,
    /// The number of examples told, those of the pilot included.
    examples: u64,
    turn: Turn,
    /// The attributes of the last ask.
    asked: Vec<u32>,
    /// How many more examples may be told.
    left: u64,
    /// Of a gradient ask: where, and the coordinates.
    at: SparseVector,
    coordinates: Vec<u32>,
    /// The errors of `at` in the current update.
    errors: Errors,
    best: Option<Errors>,
    best_theta: SparseVector,
    /// The number of updates on end with an estimate worse than the best.
    worse: u32,
    refit: Refit,
    calibration: Calibration,
    /// The number of examples after which the next snapshot is made.
    due: u64,
    theta: SparseVector,
    intercept: f64,
    /// The bound on the error of the estimate; none as long as nothing is found.
    risk: Option<f64>,
    updates: u64,
    restarts: u32,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    wish: Option<Ask>,
    block: BlockBuf,
    labels: Vec<f64>,
    errors: Vec<f64>,
    sums: Vec<f64>,
}

lao_observation::stored!(Safeguarded);

impl Method {
    /// Builds the learner behind a [safeguard](crate::safeguard), for data as they come. The radius of the
    /// task counts in standard deviations of the label.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range. A method that learns location and
    /// scale by itself needs no safeguard, and is refused.
    pub fn safeguarded(&self, task: &Task) -> Result<Safeguarded, ParamError> {
        let needs = "one that does not learn location and scale by itself";
        require(!self.learns_scales, NAME, "method", self.name, needs)?;
        let inner = self.build(task)?;
        let dim = task.dim;
        let priced = task.money.clone().filter(|_| !task.counts());
        let mut learner = Safeguarded {
            method: self.name.into(),
            task: task.clone(),
            inner,
            scales: Scales::new(dim + 1),
            order: Vec::new(),
            pilot: priced.map(|money| Blocks::new(money, task.budget, &[])),
            examples: 0,
            turn: Turn::Pilot,
            asked: Vec::new(),
            left: 0,
            at: SparseVector::zeros(dim),
            coordinates: Vec::new(),
            errors: Errors::default(),
            best: None,
            best_theta: SparseVector::zeros(dim),
            worse: 0,
            refit: Refit::default(),
            calibration: Calibration::default(),
            due: 0,
            theta: SparseVector::zeros(dim),
            intercept: 0.0,
            risk: None,
            updates: 0,
            restarts: 0,
            scratch: Scratch::default(),
        };
        learner.refit.begin(&[], &learner.scales, dim);
        learner.due = learner.pilot_examples() + CHECK_EVERY * PILOT;
        Ok(learner)
    }
}

impl Validate for Safeguarded {
    fn validate(&self) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        let dim = self.task.dim;
        damaged(self.row().is_some_and(|row| !row.learns_scales), "there is no such method to guard")?;
        damaged(self.inner.dim() == dim, "the method within has another dimension")?;
        let knows_prices = self.row().is_some_and(|row| row.prices);
        let check = if knows_prices { Task::check_speed } else { Task::check };
        check(&self.task, NAME).map_err(ParamError::damaged)?;
        self.scales.validate(dim + 1)?;
        self.refit.validate(dim)?;
        let budget = self.budget();
        self.calibration.validate(dim, budget)?;
        damaged(self.pilot.is_none() == self.task.counts(), "the pilot does not fit the prices")?;
        if let (Some(blocks), Some(money)) = (&self.pilot, &self.task.money) {
            money.check_supports(NAME, dim, self.task.sparsity).map_err(ParamError::damaged)?;
            let fit = blocks.fit(self.task.budget, &[]) && blocks.money() == money;
            damaged(fit, "the pilot is packed by other prices")?;
        }
        for vector in [&self.at, &self.best_theta, &self.theta] {
            damaged(vector.dim() == dim, "an estimate has another dimension")?;
        }
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        let ordered = sorted.is_empty() || sorted.iter().copied().eq(0..dim as u32);
        damaged(ordered, "the order is not one of all attributes")?;
        damaged(self.asked.iter().all(|&j| (j as usize) < dim), "it asked for an attribute that is none")?;
        let set = self.turn == Turn::Values || state::is_set(&self.asked, dim);
        damaged(set, "the attributes asked for do not ascend")?;
        damaged(self.left == 0 || !self.order.is_empty(), "it asked before the pilot")?;
        damaged(state::is_set(&self.coordinates, dim), "the coordinates do not ascend")?;
        for part in [&self.coordinates[..], self.at.indices()] {
            let seen =
                self.turn != Turn::Gradient || part.iter().all(|j| self.asked.binary_search(j).is_ok());
            damaged(seen, "the gradient asked for needs attributes that were not")?;
        }
        let errors = [Some(self.errors), self.best].into_iter().flatten();
        let allowed = errors.into_iter().all(|e| e.sum >= 0.0 && e.square >= 0.0 && e.count >= 0.0);
        damaged(allowed, "squared errors are negative")?;
        damaged(self.risk.is_none_or(|risk| risk >= 0.0), "the error is negative")?;
        state::count(NAME, "the number of examples", self.examples)?;
        state::count(NAME, "the number of examples to ask for", self.left)?;
        state::count(NAME, "the number of examples to the next snapshot", self.due)?;
        state::count(NAME, "the number of updates", self.updates)
    }
}

impl Safeguarded {
    /// Returns whether the estimate is significant. If not, it is the mean of the labels.
    pub fn found(&self) -> bool {
        self.risk.is_some()
    }

    /// Returns the speed in use, as a factor of the method's own step size.
    pub fn speed(&self) -> f64 {
        self.task.speed
    }

    /// Returns how often the method started again with a smaller step size.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Returns the mean of attribute `j` over the examples in which it was observed; 0 if there is no such
    /// attribute.
    pub fn mean(&self, j: u32) -> f64 {
        if (j as usize) < self.task.dim { self.scales.mean(j as usize) } else { 0.0 }
    }

    /// Returns the range beyond which values of attribute `j` count as if they lay at its end.
    pub fn range(&self, j: u32) -> RangeInclusive<f64> {
        let known = (j as usize) < self.task.dim;
        let (low, high) = if known { self.scales.range(j as usize) } else { (f64::MIN, f64::MAX) };
        low..=high
    }

    /// Returns the method within.
    pub fn inner(&self) -> &AnyLearner {
        &self.inner
    }

    fn row(&self) -> Option<&'static Method> {
        method(&self.method)
    }

    fn batches(&self) -> bool {
        self.row().is_some_and(|row| row.batches)
    }

    /// Returns how many attributes of each example may be observed by the safeguard.
    fn budget(&self) -> usize {
        let dim = self.task.dim;
        let budget = self.row().map_or(Budget::PerExample(1), |row| (row.budget)(&self.task));
        match budget {
            Budget::Expected { mean, .. } => (mean as usize).clamp(1, dim.max(1)),
            hard => hard.cap(dim).max(1),
        }
    }

    fn pilot_examples(&self) -> u64 {
        let blocks = match &self.pilot {
            Some(blocks) => blocks.len(),
            None => self.task.dim.div_ceil(self.budget()),
        };
        blocks as u64 * PILOT
    }

    /// Fills in what the pilot looks at next.
    fn ask_pilot(&mut self) {
        let (at, budget) = ((self.examples / PILOT) as usize, self.budget());
        self.asked.clear();
        match &self.pilot {
            Some(blocks) => self.asked.extend_from_slice(blocks.block(at)),
            None => {
                let from = at * budget;
                let to = (from + budget).min(self.order.len());
                self.asked.extend_from_slice(&self.order[from.min(to)..to]);
                self.asked.sort_unstable();
            }
        }
        (self.turn, self.left) = (Turn::Pilot, PILOT - self.examples % PILOT);
    }

    /// Starts again at another speed, from the best estimate so far where the method takes one. If there is
    /// no such speed, the method is at its end.
    fn restart(&mut self, speed: f64) {
        let start = self.batches() && !self.best_theta.is_empty();
        let start = start.then(|| self.best_theta.clone());
        let task = Task { speed, start, ..self.task.clone() };
        if let Some(Ok(inner)) = self.row().map(|row| row.build(&task)) {
            (self.inner, self.task) = (inner, task);
            self.restarts += 1;
        } else {
            self.restarts = TRIES;
        }
        self.worse = 0;
        self.errors = Errors::default();
        self.calibration = Calibration::default();
        self.begin_refit();
    }

    /// Refuses numbers that are not finite, or too large to be squared.
    fn refuse(&self, told: Block<'_>) -> Result<(), LearnError> {
        let label = std::iter::once((None, told.labels()));
        let columns = self.asked.iter().enumerate().map(|(c, &j)| (Some(j), told.column(c)));
        for (attribute, numbers) in columns.chain(label) {
            for &value in numbers {
                if !value.is_finite() {
                    return Err(LearnError::NotFinite { attribute, value });
                }
                if value.abs() > LARGEST {
                    let attribute = attribute.unwrap_or(0) as usize;
                    return Err(LearnError::Diverged { update: self.updates + 1, attribute, value });
                }
            }
        }
        Ok(())
    }

    /// Takes in locations and scales, and writes the standardized block to the scratch.
    fn standardize(&mut self, told: Block<'_>) {
        let Safeguarded { scales, scratch, asked, task, .. } = self;
        let Scratch { block, labels, .. } = scratch;
        let rows = told.rows();
        scales.absorb(task.dim, told.labels());
        labels.clear();
        labels.extend_from_slice(told.labels());
        scales.standardize(task.dim, labels);
        block.reset(asked.len(), rows);
        for (c, &j) in asked.iter().enumerate() {
            let j = j as usize;
            let (low, high) = scales.range(j);
            let column = &mut block.column_mut(c)[..rows];
            column.copy_from_slice(told.column(c));
            column.iter_mut().for_each(|x| *x = x.clamp(low, high));
            scales.absorb(j, column);
            scales.standardize(j, column);
            column.iter_mut().for_each(|u| *u = u.clamp(-scales::WITHIN, scales::WITHIN));
        }
        block.set_rows(rows);
    }
}

impl Learner for Safeguarded {
    fn dim(&self) -> usize {
        self.task.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.restarts >= TRIES {
            return ask.nothing();
        }
        if self.order.is_empty() {
            self.order.extend(0..self.task.dim as u32);
            self.order.shuffle(rng);
        }
        let again = self.turn == Turn::Check && self.left > 0;
        let check = self.examples % CHECK_EVERY == CHECK_EVERY - 1 && !self.calibration.weights.is_empty();
        if self.examples < self.pilot_examples() {
            self.ask_pilot();
        } else if check && !again {
            let budget = self.budget();
            self.calibration.draw(budget, rng, &mut self.asked);
            (self.turn, self.left) = (Turn::Check, 1);
        } else if !again {
            let dim = self.task.dim;
            let wish = self.scratch.wish.get_or_insert_with(|| Ask::new(dim));
            self.inner.ask(rng, wish);
            match wish.request() {
                Request::Nothing => return ask.nothing(),
                Request::Values { attributes, examples } => {
                    self.asked.clear();
                    self.asked.extend_from_slice(attributes);
                    (self.turn, self.left) = (Turn::Values, examples);
                }
                Request::Gradient { theta, attributes, examples } => {
                    merge_into(theta.indices(), attributes, &mut self.asked);
                    self.at.copy_from(theta);
                    self.coordinates.clear();
                    self.coordinates.extend_from_slice(attributes);
                    (self.turn, self.left) = (Turn::Gradient, examples.min(LONGEST_PIECE));
                }
            }
        }
        ask.values(self.left).extend_from_slice(&self.asked);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.apply(seen)
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        const ASKED: &str = "values of the attributes asked for, of at least one and not more examples";
        let not_asked = |told| LearnError::NotAsked { told, asked: ASKED };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        if block.attributes() != self.asked || self.left == 0 {
            return Err(not_asked("values of other attributes"));
        }
        let rows = block.rows() as u64;
        if rows == 0 || rows > self.left {
            return Err(not_asked("no examples, or too many"));
        }
        self.refuse(block)?;
        self.standardize(block);
        self.examples += rows;
        self.left -= rows;
        match self.turn {
            Turn::Pilot => Ok(()),
            Turn::Gradient => self.learn_gradient(block),
            Turn::Values => self.learn_values(rows as usize),
            Turn::Check => {
                self.check(block);
                Ok(())
            }
        }
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn intercept(&self) -> f64 {
        self.intercept
    }

    fn apply(&self, seen: Row<'_>) -> f64 {
        let sorted = seen.attributes.is_sorted();
        let mut label = self.intercept;
        for (i, (&j, &x)) in seen.attributes.iter().zip(seen.values).enumerate() {
            let weight = self.theta.view().get(j);
            let before = if sorted { i.saturating_sub(1) } else { 0 };
            if weight != 0.0 && !seen.attributes[before..i].contains(&j) {
                let (low, high) = self.scales.range(j as usize);
                label += weight * x.clamp(low, high);
            }
        }
        label
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        let pilot = self.pilot_examples().saturating_sub(self.examples);
        self.inner.examples_to_next_update().map(|examples| examples.saturating_add(pilot))
    }
}
