//! Pursuit: least squares on the attributes whose effect is significant, found by looking most where there is
//! most to find. The only number to choose is the budget.
//!
//! *Source*: this project. The papers' methods decide by magnitude and estimate by gradient steps; Pursuit
//! decides by significance and estimates by least squares.
//!
//! *Setting*: stochastic sparse linear regression, squared loss; at most `s'` attributes of each example are
//! observed, in training and in prediction. Attributes and labels are raw: location and scale are learned.
//! Each example comes once: rows that are repeated count as new ones, and their noise becomes significant.
//!
//! *Notation*: `S` -> the support, [`Pursuit::support`]; `W`, which contains S -> the watched attributes;
//! `n_j`, the number of examples in which attribute j was observed; `u_j`, `v`, the deviations of attribute
//! and label from their means so far; `<.>` is a mean over the examples in which all its factors were
//! observed; `sigma^2`, the mean squared error of the predictions made before an example was learned from.
//!
//! *Update*: after each block of examples
//!
//! ```text
//! beta  = <u_S u_S'>^-1 <u_S v>                               least squares on the support
//! g_j   = <u_j v> - <u_j u_S'> beta                           what j explains beyond S
//! q_j   = <u_j^2> - <u_j u_S'> <u_S u_S'>^-1 <u_S u_j>        the part of j that S does not explain
//! V_j   = the variance of g_j: sigma^2 q_j / n_j, more where sums rest on different examples or large
//!         values come with large errors
//! z_j   = g_j / sqrt(V_j)
//! add to S the watched j of largest |z_j|, if z_j^2 > (1 + 10/n_j) (2 log(d/level) + log(1 + n_j/10))
//! drop from S the k with |beta_k| < 3 standard errors
//! watch, beside S, a third of the rest of the budget: the j of largest |z_j|
//! observe in the next block W and, for the rest of the budget, the j of largest
//!     (|g_j| + 1.5 sqrt(V_j)) / sqrt(q_j)
//! ```
//!
//! A value further than 4 standard deviations from the mean of its attribute counts as if it lay there, in
//! training and in prediction, so that no single value decides. An attribute of which S explains more than
//! nine tenths is not added: sums over different examples do not tell such attributes apart.
//!
//! The threshold for addition is the boundary that a standardized sum of n_j independent terms without effect
//! ever crosses with probability at most `level/d` (a mixture of normal likelihood ratios, exact for normal
//! errors and a known variance), so that all attributes together are added by mistake with probability at
//! most `level`, however often one looks. The last line is an upper confidence bound: attributes of which
//! little is known, or much to be expected, come first.
//!
//! Pairs of watched attributes are observed together, so that their joint least squares is exact where
//! attributes are correlated: a neighbor that stood in for an attribute becomes insignificant once the
//! attribute itself is in, and is dropped.
//!
//! Labels may be two classes, +1 and -1: least squares finds the attributes and their weights, and a logistic
//! function of the prediction gives the probability of a class, [`Pursuit::probability`].
//!
//! *Proved and measured*: the budget holds by construction. The level is a theorem for normal errors of a
//! known variance; here the variance is estimated, so the level is measured: on independent, correlated and
//! heavy-tailed attributes without effect. Where attributes are correlated, a neighbor of an attribute with
//! an effect may stand in for it for some time. That the error falls as 1/n after the support is found is a
//! property of least squares. What the search costs is only measured.
//!
//! *Cost*: an example costs O(s'^2) in products of columns, several times as much as with Hybrid. An update
//! costs O(s' |S|^2 + d |S|) more, and O(d |S|^2) if it changes the support; memory is O(d s'). The blocks
//! between updates grow with the number of examples, so that n examples have O(log n) updates.
//!
//! *Reference*: [`PursuitReference`](reference::PursuitReference).
//!
//! *Claims*: `pursuit-budget`, `pursuit-false-inclusion`, `pursuit-small-study`, `pursuit-figure-1`,
//! `pursuit-rate`, `pursuit-identification`, `pursuit-invariance`, `pursuit-against-hybrid`.

mod fit;
mod kept;
mod link;
mod moments;
mod plan;
pub mod reference;

pub use plan::{StudyGuess, StudyPlan};

use crate::params::{ParamError, number, require, require_dim, require_shape};
use crate::state;
use crate::task::Task;
use fit::{Before, Fit};
use lao_kernels::{SparseVector, SparseView, axpy_column};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use link::Link;
use moments::{Columns, Moments};
use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

const NAME: &str = "Pursuit";

/// Examples in the first blocks.
const FIRST_BLOCK: u64 = 10;
/// Examples in the longest block.
const LONGEST_BLOCK: u64 = 512;
/// A block is this part of the examples seen.
const BLOCKS: u64 = 160;
/// All attributes are weighed again when the examples have grown by this part.
const DUE: u64 = 20;
/// Observations that an attribute needs before it may be added.
const LEAST_SEEN: u64 = 20;
/// Standard errors below which an attribute is dropped.
const DROPPED_BELOW: f64 = 3.0;
/// Standard deviations from the mean beyond which a value counts as if it lay there.
const WITHIN: f64 = 4.0;
/// The part of an attribute's variance that the support must leave unexplained, if it is to be added.
const TOLERANCE: f64 = 0.1;
/// The `|z_j|` above which an attribute may be watched, and the lead of those that are watched already.
const WATCHED_ABOVE: f64 = 1.5;
const LEAD: f64 = 0.5;
/// Standard deviations of the upper confidence bound by which attributes are chosen to be looked at.
const CONFIDENCE: f64 = 1.5;
/// The number of observations at which the boundary of significance is tightest.
const TIGHTEST_AT: f64 = 10.0;
/// Examples that count for the variance of the errors after the support changed, and at most.
const NOISE_AFTER_CHANGE: f64 = 300.0;
const NOISE_MEMORY: f64 = 4096.0;
/// The largest magnitude of a value or label; its fourth power times any number of examples is finite.
const LARGEST: f64 = 1e70;

/// Parameters of [`Pursuit`].
///
/// ```
/// use lao_algorithms::pursuit::PursuitParams;
/// use lao_observation::Learner;
///
/// let learner = PursuitParams::within(500, 20).build()?;
/// assert_eq!(learner.examples_to_next_update(), Some(10));
///
/// let refused = PursuitParams { level: 2.0, ..PursuitParams::within(500, 20) }.build().unwrap_err();
/// assert_eq!(refused.field, "level");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PursuitParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s'`, attributes observed per example; `1 <= s' <= d`.
    pub budget: usize,
    /// The probability with which any attribute without effect is ever added, at most; in (0, 1).
    #[serde(default = "default_level")]
    pub level: f64,
    /// The largest number of attributes of the predictor. `None` is four fifths of the budget, so that a
    /// fifth is left to look for others, and `d` if the budget is `d`.
    #[serde(default)]
    pub longest: Option<usize>,
    /// Attributes that the predictor always has, ascending.
    #[serde(default)]
    pub always: Vec<u32>,
    /// Attributes that are never observed, ascending.
    #[serde(default)]
    pub never: Vec<u32>,
}

fn default_level() -> f64 {
    0.05
}

impl PursuitParams {
    /// Returns the parameters for `dim` attributes of which `budget` may be observed per example.
    pub fn within(dim: usize, budget: usize) -> Self {
        PursuitParams {
            dim,
            budget,
            level: default_level(),
            longest: None,
            always: Vec::new(),
            never: Vec::new(),
        }
    }

    /// Returns the parameters for a task: its sparsity is the largest number of attributes of the predictor;
    /// radius, speed and start are not used.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or the budget does not exceed the sparsity.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        require_shape(NAME, task.dim, task.sparsity, task.budget)?;
        Ok(PursuitParams { longest: Some(task.sparsity), ..Self::within(task.dim, task.budget) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Pursuit, ParamError> {
        self.check()?;
        let mut learner = Pursuit {
            moments: Moments::new(self.dim, self.budget),
            params: self,
            support: Vec::new(),
            pool: Vec::new(),
            before: Before::default(),
            errors: Errors::default(),
            z: Vec::new(),
            interest: Vec::new(),
            explained: Vec::new(),
            order: Vec::new(),
            asked: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            filled: 0,
            theta: SparseVector::zeros(0),
            intercept: 0.0,
            link: Link::default(),
            variances: Vec::new(),
            due: 0,
            done: 0,
            scratch: Scratch::default(),
        };
        learner.begin();
        Ok(learner)
    }

    fn check(&self) -> Result<(), ParamError> {
        let PursuitParams { dim, budget, level, longest, always, never } = self;
        require_dim(NAME, 1, *dim)?;
        let allowed = format_args!("s' must lie in 1..={dim}");
        require((1..=*dim).contains(budget), NAME, "budget", budget, allowed)?;
        let fits = dim.checked_mul(*budget).is_some_and(|pairs| pairs <= 1 << 27);
        require(fits, NAME, "budget", budget, "d s' must not exceed 2^27, which takes 2 GiB of memory")?;
        let inside = *level > 0.0 && *level < 1.0;
        require(inside, NAME, "level", number(*level), "a probability between 0 and 1, both excluded")?;
        let longest = longest.unwrap_or(1);
        require(longest >= 1, NAME, "longest", longest, "at least 1 attribute")?;
        for (field, list) in [("always", always), ("never", never)] {
            let count = list.len();
            let allowed = format_args!("attributes below {dim} in ascending order, each once");
            require(state::is_set(list, *dim), NAME, field, format_args!("{count} attributes"), allowed)?;
        }
        let most = format_args!("fewer than all {dim} attributes");
        require(never.len() < *dim, NAME, "never", format_args!("{} attributes", never.len()), most)?;
        let room = format_args!("at most {}, the longest support", self.longest());
        require(always.len() <= self.longest(), NAME, "always", always.len(), room)?;
        let both = always.iter().find(|j| never.binary_search(j).is_ok());
        let both = both.map_or(String::new(), |j| format!("attribute {j}"));
        require(both.is_empty(), NAME, "never", both, "an attribute cannot be in `always` as well")
    }

    /// Returns the largest number of attributes of the predictor.
    fn longest(&self) -> usize {
        let reserve = if self.budget < self.dim { (self.budget / 5).max(1) } else { 0 };
        let room = (self.budget - reserve.min(self.budget)).max(1);
        self.longest.map_or(room, |longest| longest.min(room))
    }
}

/// The squared errors of the predictions that were made before an example was learned from.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Errors {
    sum: f64,
    count: f64,
}

impl Errors {
    fn add(&mut self, errors: &[f64]) {
        self.sum += errors.iter().map(|r| r * r).sum::<f64>();
        self.count += errors.len() as f64;
        self.forget(NOISE_MEMORY);
    }

    /// Lets what was seen count for at most `examples` examples.
    fn forget(&mut self, examples: f64) {
        if self.count > examples {
            self.sum *= examples / self.count;
            self.count = examples;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }
}

/// What is known of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The attribute.
    pub attribute: u32,
    /// The number of examples in which it was observed.
    pub examples: u64,
    /// Its coefficient; 0 outside the support.
    pub coefficient: f64,
    /// The standard error of the coefficient, in its unit; 0 outside the support.
    pub standard_error: f64,
    /// In the support, the coefficient in standard errors. Outside, the effect beyond the support in standard
    /// deviations, when it was last computed.
    pub z: f64,
}

/// The learner.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Pursuit {
    params: PursuitParams,
    moments: Moments,
    /// `S`, ascending.
    support: Vec<u32>,
    /// The watched attributes outside the support, ascending.
    pool: Vec<u32>,
    before: Before,
    errors: Errors,
    /// `z_j`, when it was last computed.
    z: Vec<f64>,
    /// The upper confidence bound of each attribute, when it was last computed.
    interest: Vec<f64>,
    /// The part of each attribute's variance that the support explains.
    explained: Vec<f64>,
    /// The place of each attribute in a random order, which decides between equals. It is empty before the
    /// first ask.
    order: Vec<u32>,
    /// The attributes of the current block, ascending; empty until it is asked for.
    asked: Vec<u32>,
    /// The values of the current block, column after column.
    values: Vec<f64>,
    /// The labels of the current block; their number is the size of the block.
    labels: Vec<f64>,
    /// The number of examples of the current block so far.
    filled: usize,
    theta: SparseVector,
    intercept: f64,
    link: Link,
    /// The variance of each coefficient.
    variances: Vec<f64>,
    /// The number of examples after which all attributes are weighed again.
    due: u64,
    /// The number of updates made.
    done: u64,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    fit: Fit,
    errors: Vec<f64>,
    sums: Vec<f64>,
    /// Whether an attribute is not to be chosen.
    taken: Vec<bool>,
    ranked: Vec<(f64, u32, u32)>,
    support: Vec<u32>,
}

lao_observation::stored!(Pursuit);

impl Validate for Pursuit {
    fn validate(&self) -> Result<(), Damaged> {
        let Pursuit { params, support, pool, asked, values, labels, order, .. } = self;
        params.check().map_err(ParamError::damaged)?;
        let (dim, budget) = (params.dim, params.budget);
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        self.moments.validate(dim, budget)?;
        self.link.validate()?;
        state::length(NAME, "the list of evidence", self.z.len(), dim)?;
        state::length(NAME, "the list of bounds", self.interest.len(), dim)?;
        state::length(NAME, "the list of explained parts", self.explained.len(), dim)?;
        damaged(
            self.explained.iter().all(|part| (0.0..=1.0).contains(part)),
            "a part is below 0 or above 1",
        )?;
        damaged(state::is_set(support, dim) && state::is_set(pool, dim), "support or pool are no sets")?;
        damaged(support.len() <= params.longest(), "the support is too long")?;
        damaged(
            params.always.iter().all(|j| support.binary_search(j).is_ok()),
            "an attribute that is always in the predictor is not in the support",
        )?;
        let mut watched: Vec<u32> =
            self.moments.pairs.slots.iter().filter_map(|slot| slot.attribute).collect();
        watched.sort_unstable();
        damaged(
            watched.len() == support.len() + pool.len() && state::is_union(&watched, support, pool),
            "the watched attributes are not support and pool",
        )?;
        damaged(
            self.before.products.len() == self.before.labels.len().pow(2)
                && self.before.labels.len() == support.len(),
            "the sums before the last change do not fit the support",
        )?;
        let coefficients =
            self.theta.dim() == dim && self.theta.indices().iter().all(|j| support.binary_search(j).is_ok());
        damaged(coefficients, "the estimate is not on the support")?;
        state::length(NAME, "the list of variances", self.variances.len(), support.len())?;
        damaged(self.variances.iter().all(|&v| v >= 0.0), "a variance is negative")?;
        damaged(self.errors.count >= 0.0 && self.errors.sum >= 0.0, "the squared errors are negative")?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        damaged(
            order.is_empty() || sorted.iter().copied().eq(0..dim as u32),
            "the order is not one of all attributes",
        )?;
        let size = labels.len();
        damaged(
            size as u64 == block_size(self.moments.examples),
            "the block has not the size that belongs to the number of examples",
        )?;
        damaged(self.filled < size, "the block is full")?;
        let of_block = asked.is_empty()
            || (state::is_set(asked, dim)
                && asked.len() <= budget
                && watched.iter().all(|j| asked.binary_search(j).is_ok()));
        damaged(of_block, "the attributes of the block are not those to observe")?;
        damaged(asked.is_empty() || !order.is_empty(), "a block was asked for without an order")?;
        damaged(!asked.is_empty() || self.filled == 0, "the block has examples of no attributes")?;
        let never = asked.iter().any(|j| params.never.binary_search(j).is_ok());
        damaged(!never, "the block has an attribute that is never observed")?;
        state::length(NAME, "the block", values.len(), asked.len() * size)?;
        let small = values.iter().chain(labels).all(|x| x.abs() <= LARGEST);
        damaged(small, "the block has a value that is too large")?;
        state::count(NAME, "the number of examples to weigh all", self.due)?;
        state::count(NAME, "the number of updates", self.done)
    }
}

/// Returns the size of the block that follows `examples` examples.
fn block_size(examples: u64) -> u64 {
    (examples / BLOCKS).clamp(FIRST_BLOCK, LONGEST_BLOCK)
}

/// Returns the square that `z_j` must exceed after `n` observations.
fn boundary(dim: usize, level: f64, n: u64) -> f64 {
    let n = n.max(1) as f64;
    (1.0 + TIGHTEST_AT / n) * (2.0 * (dim as f64 / level).ln() + (n / TIGHTEST_AT).ln_1p())
}

impl Pursuit {
    /// Returns the attributes of the predictor, ascending.
    pub fn support(&self) -> &[u32] {
        &self.support
    }

    /// Returns the estimate of the variance of the errors of the predictions.
    pub fn noise(&self) -> f64 {
        self.errors.mean()
    }

    /// Returns what is known of attribute `j`; `None` if there is no such attribute.
    pub fn evidence(&self, j: u32) -> Option<Evidence> {
        let (&examples, &z) = (self.moments.seen.get(j as usize)?, self.z.get(j as usize)?);
        let coefficient = self.theta.view().get(j);
        let variance = self.support.binary_search(&j).ok().and_then(|at| self.variances.get(at));
        let standard_error = variance.map_or(0.0, |v| v.sqrt());
        Some(Evidence { attribute: j, examples, coefficient, standard_error, z })
    }

    /// Returns the probability of the class +1, if labels are +1 and -1, from the values of the predictor's
    /// attributes: a logistic function of the prediction, fitted to predictions that were made before their
    /// examples were learned from.
    pub fn probability(&self, seen: Row<'_>) -> f64 {
        self.link.probability(self.apply(seen))
    }

    fn begin(&mut self) {
        let dim = self.params.dim;
        self.support.extend_from_slice(&self.params.always);
        for &j in &self.support {
            self.moments.watch(j);
        }
        self.before.remember(&self.support, &self.moments);
        self.variances.resize(self.support.len(), 0.0);
        self.z.resize(dim, 0.0);
        self.interest.resize(dim, f64::MAX);
        self.explained.resize(dim, 0.0);
        self.theta.reset(dim);
        self.labels.resize(block_size(0) as usize, 0.0);
    }

    /// Returns the number of examples that the current block still needs.
    fn examples_left(&self) -> usize {
        self.labels.len() - self.filled
    }

    /// Chooses the attributes of the next block.
    fn choose(&mut self) {
        let Pursuit { params, support, pool, asked, interest, order, scratch, .. } = self;
        let free = params.budget - support.len() - pool.len();
        let Scratch { taken, ranked, .. } = scratch;
        taken.clear();
        taken.resize(params.dim, false);
        [&*support, &*pool, &params.never].into_iter().flatten().for_each(|&j| taken[j as usize] = true);
        ranked.clear();
        for (j, ((&interest, &place), _)) in
            (0..).zip(interest.iter().zip(&*order).zip(&*taken)).filter(|(_, (_, taken))| !**taken)
        {
            ranked.push((interest, place, j));
        }
        keep_largest(ranked, free);
        asked.extend(ranked.iter().map(|&(_, _, j)| j));
        asked.extend_from_slice(support);
        asked.extend_from_slice(pool);
        asked.sort_unstable();
        self.values.clear();
        self.values.resize(self.asked.len() * self.labels.len(), 0.0);
    }

    /// Learns from the block, which is full.
    fn update(&mut self) {
        let size = self.labels.len();
        for (&j, column) in self.asked.iter().zip(self.values.chunks_exact_mut(size)) {
            let (low, high) = self.moments.range(j);
            column.iter_mut().for_each(|x| *x = x.clamp(low, high));
        }
        self.moments.absorb_labels(&self.labels);
        let means = |theta: &SparseVector, moments: &Moments| {
            theta.view().iter().map(|(j, b)| b * moments.mean[j as usize]).sum::<f64>()
        };
        if self.done == 0 {
            self.intercept = self.moments.label_mean;
        }
        let errors = &mut self.scratch.errors;
        errors.clear();
        errors.extend(self.labels.iter().map(|y| y - self.intercept));
        for (j, b) in self.theta.view().iter() {
            if let Ok(place) = self.asked.binary_search(&j) {
                axpy_column(errors, &self.values[place * size..][..size], -b);
            }
        }
        for (error, label) in errors.iter().zip(&self.labels) {
            self.link.learn(label - error, *label > 0.0);
        }
        self.errors.add(errors);
        let block =
            Columns { attributes: &self.asked, values: &mut self.values, labels: &mut self.labels, errors };
        self.moments.absorb(block, &mut self.scratch.sums);

        self.decide();
        let theta = self.scratch.fit.support.iter().zip(&self.scratch.fit.coefficients);
        self.theta.reset(self.params.dim);
        for (&j, &b) in theta.filter(|(_, b)| **b != 0.0 && b.is_finite()) {
            self.theta.push(j, b);
        }
        self.intercept = self.moments.label_mean - means(&self.theta, &self.moments);
        self.variances.clear();
        let finite = |v: &f64| if v.is_finite() { v.max(0.0) } else { f64::MAX };
        self.variances.extend(self.scratch.fit.variances.iter().map(finite));
        for (i, &j) in self.support.iter().enumerate() {
            let z = self.theta.view().get(j) / self.variances[i].sqrt();
            self.z[j as usize] = if z.is_finite() { z } else { 0.0 };
        }

        self.done += 1;
        self.filled = 0;
        self.asked.clear();
        self.values.clear();
        self.labels.clear();
        self.labels.resize(block_size(self.moments.examples) as usize, 0.0);
    }

    fn fit(&mut self) {
        let noise = self.errors.mean();
        self.scratch.fit.solve(&self.support, &self.moments, &self.before, noise);
    }

    /// Computes `z_j` and the upper confidence bound of an attribute outside the support.
    fn weigh(&mut self, j: u32) {
        if self.support.binary_search(&j).is_ok() {
            return;
        }
        let at = j as usize;
        let n = self.moments.seen[at] as f64;
        let variance = self.moments.variance(j);
        (self.z[at], self.interest[at]) = (0.0, 0.0);
        if n == 0.0 {
            self.interest[at] = f64::MAX;
            return;
        }
        if variance == 0.0 {
            return;
        }
        let fit = &self.scratch.fit;
        let covariance = fit.covariance(j, &self.moments);
        let explained = self.explained[at];
        let rest = variance * (1.0 - explained).max(TOLERANCE / 2.0);
        let precise = variance * (1.0 / n - explained / fit.examples.max(n)).max(TOLERANCE / (2.0 * n));
        let noise = self.errors.mean() * self.moments.unevenness(j) * precise;
        let deviation = (noise + variance * fit.uneven(j, &self.moments)).sqrt();
        let z = covariance / deviation;
        let interest = (covariance.abs() + CONFIDENCE * deviation) / rest.sqrt();
        if z.is_finite() && interest.is_finite() {
            (self.z[at], self.interest[at]) = (z, interest);
        }
    }

    /// Returns whether the effect of `j` beyond the support is significant, and the support does not explain
    /// too much of `j`.
    fn significant(&self, j: u32) -> bool {
        let at = j as usize;
        let (n, z) = (self.moments.seen[at], self.z[at]);
        n >= LEAST_SEEN
            && z * z > boundary(self.params.dim, self.params.level, n)
            && 1.0 - self.explained[at] >= TOLERANCE
    }

    /// Changes the support, and then what is watched.
    fn decide(&mut self) {
        self.fit();
        for at in 0..self.asked.len() {
            self.explain(self.asked[at]);
        }
        if self.moments.examples >= self.due {
            self.weigh_all();
        } else {
            for at in 0..self.asked.len() {
                self.weigh(self.asked[at]);
            }
        }
        self.scratch.support.clear();
        self.scratch.support.extend_from_slice(&self.support);
        self.add();
        self.drop_insignificant();
        if self.scratch.support != self.support {
            self.errors.forget(NOISE_AFTER_CHANGE);
            self.before.remember(&self.support, &self.moments);
            self.fit();
            for j in 0..self.params.dim as u32 {
                self.explain(j);
            }
            self.weigh_all();
        }
        self.renew_pool();
    }

    /// Computes how much the support explains of an attribute outside it: when the attribute was observed or
    /// the support changed, since that takes O(|S|^2).
    fn explain(&mut self, j: u32) {
        if self.support.binary_search(&j).is_err() {
            self.explained[j as usize] = self.scratch.fit.explained(j, &self.moments);
        }
    }

    /// Weighs all attributes, since the coefficients have changed, also of those that were not observed.
    fn weigh_all(&mut self) {
        self.due = self.moments.examples + self.moments.examples / DUE;
        for j in 0..self.params.dim as u32 {
            self.weigh(j);
        }
    }

    /// Adds the most significant attribute of the pool, as long as there is one and room for it. If there is
    /// no room, one may take the place of the least significant attribute of the support.
    fn add(&mut self) {
        loop {
            let z = |j: u32| self.z[j as usize].abs();
            let significant = self.pool.iter().copied().filter(|&j| self.significant(j));
            let Some(best) = significant.max_by(|&i, &j| z(i).total_cmp(&z(j))) else { return };
            let full = self.support.len() >= self.params.longest();
            if full {
                let Some((weakest, t)) = self.weakest() else { return };
                if z(best) < 1.2 * t {
                    return;
                }
                remove(&mut self.support, weakest);
                insert(&mut self.pool, weakest);
            }
            remove(&mut self.pool, best);
            insert(&mut self.support, best);
            self.fit();
            if full {
                return;
            }
            for at in 0..self.pool.len() {
                self.explain(self.pool[at]);
                self.weigh(self.pool[at]);
            }
        }
    }

    /// Returns the attribute of the support whose coefficient is smallest, in standard errors.
    fn weakest(&self) -> Option<(u32, f64)> {
        let Fit { support, coefficients, variances, .. } = &self.scratch.fit;
        let t = |(b, v): (&f64, &f64)| if *v > 0.0 { b.abs() / v.sqrt() } else { b.abs() * f64::MAX };
        let all = support.iter().copied().zip(coefficients.iter().zip(variances).map(t));
        let may = all.filter(|(j, _)| self.params.always.binary_search(j).is_err());
        may.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn drop_insignificant(&mut self) {
        while let Some((weakest, t)) = self.weakest() {
            if t >= DROPPED_BELOW {
                return;
            }
            remove(&mut self.support, weakest);
            insert(&mut self.pool, weakest);
            self.fit();
        }
    }

    /// Watches the attributes of largest `|z_j|`: a third of the budget that the support leaves.
    fn renew_pool(&mut self) {
        let Pursuit { params, moments, support, pool, z, order, scratch, .. } = self;
        let most = (params.budget - support.len()).div_ceil(3);
        let ranked = &mut scratch.ranked;
        ranked.clear();
        for (j, z) in (0..).zip(&*z).filter(|(_, z)| z.abs() > WATCHED_ABOVE - LEAD) {
            // What is watched stays watched, unless another attribute is clearly ahead.
            let ahead = z.abs() + if pool.binary_search(&j).is_ok() { LEAD } else { 0.0 };
            if ahead > WATCHED_ABOVE && support.binary_search(&j).is_err() {
                ranked.push((ahead, order[j as usize], j));
            }
        }
        keep_largest(ranked, most);
        let kept = &mut scratch.support;
        kept.clear();
        kept.extend(ranked.iter().map(|&(_, _, j)| j));
        kept.sort_unstable();
        pool.iter().filter(|j| kept.binary_search(j).is_err()).for_each(|&j| moments.pairs.unwatch(j));
        kept.iter().filter(|j| pool.binary_search(j).is_err()).for_each(|&j| moments.watch(j));
        std::mem::swap(pool, kept);
    }
}

/// Keeps the `most` largest; of equals, those that come first in the order.
fn keep_largest(ranked: &mut Vec<(f64, u32, u32)>, most: usize) {
    if most < ranked.len() {
        if most > 0 {
            ranked.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        ranked.truncate(most);
    }
}

fn insert(set: &mut Vec<u32>, j: u32) {
    if let Err(place) = set.binary_search(&j) {
        set.insert(place, j);
    }
}

fn remove(set: &mut Vec<u32>, j: u32) {
    if let Ok(place) = set.binary_search(&j) {
        set.remove(place);
    }
}

impl Learner for Pursuit {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.order.is_empty() {
            self.order.extend(0..self.params.dim as u32);
            self.order.shuffle(rng);
        }
        if self.asked.is_empty() {
            self.choose();
        }
        ask.values(self.examples_left() as u64).extend_from_slice(&self.asked);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.apply(seen)
    }

    fn apply(&self, seen: Row<'_>) -> f64 {
        let mut label = self.intercept;
        for (j, b) in self.theta.view().iter() {
            if let Ok(place) = seen.attributes.binary_search(&j) {
                let (low, high) = self.moments.range(j);
                label += b * seen.values[place].clamp(low, high);
            }
        }
        label
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        const ASKED: &str = "values of the attributes asked for, of at least one and not more examples";
        let not_asked = |told| LearnError::NotAsked { told, asked: ASKED };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        if block.attributes() != self.asked || self.asked.is_empty() {
            return Err(not_asked("values of other attributes"));
        }
        let rows = block.rows();
        if rows == 0 || rows > self.examples_left() {
            return Err(not_asked("no examples, or too many"));
        }
        let label = std::iter::once((None, block.labels()));
        let columns = self.asked.iter().enumerate().map(|(c, &j)| (Some(j), block.column(c)));
        for (attribute, numbers) in columns.chain(label) {
            for &value in numbers {
                if !value.is_finite() {
                    return Err(LearnError::NotFinite { attribute, value });
                }
                if value.abs() > LARGEST {
                    let attribute = attribute.unwrap_or(self.asked[0]) as usize;
                    return Err(LearnError::Diverged { update: self.done + 1, attribute, value });
                }
            }
        }
        let (size, from) = (self.labels.len(), self.filled);
        for c in 0..self.asked.len() {
            self.values[c * size + from..][..rows].copy_from_slice(block.column(c));
        }
        self.labels[from..][..rows].copy_from_slice(block.labels());
        self.filled += rows;
        if self.filled == size {
            self.update();
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn intercept(&self) -> f64 {
        self.intercept
    }

    fn updates(&self) -> u64 {
        self.done
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        Some(self.examples_left() as u64)
    }
}
