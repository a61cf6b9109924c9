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
//! V_j   = the variance of g_j: sigma^2 q_j / n_j, more where sums rest on different examples or j was
//!         observed while errors were large
//! z_j   = g_j / sqrt(V_j)
//! add to S the watched j of largest |z_j|, if z_j^2 > (1 + 10/n_j) (2 log(d/level) + log(1 + n_j/10)),
//!     its e-process M_j is at least d/level, and j waits for no other attribute
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
//! An attribute j waits for an attribute i that j may only stand in for: `<u_i u_j>^2 / (<u_i^2> <u_j^2>)` is
//! above a tenth, the upper confidence bound of the last line is larger for i than for j, and i was observed
//! in fewer examples. Since i is among the next to be observed, either the bound of i falls below that of j,
//! or i itself becomes significant. If `z_j^2` is twice what the addition asks for, j waits no longer.
//!
//! The threshold of `z_j^2` is the boundary that a standardized sum of n_j independent terms without effect
//! ever crosses with probability at most `level/d`, if errors are normal and their variance is known; here it
//! is estimated. `M_j` is the same mixture of likelihood ratios for sums within blocks, and estimates no
//! variance. Where it is not asked, with a half-life or gaps, V_j is also larger where large values come with
//! large errors. The last line is an upper confidence bound: attributes of which little is known, or much to
//! be expected, come first. Of an attribute that has not varied yet, a rare one perhaps, it is `1.5
//! sigma/sqrt(n_j)`, as if its effect had been measured as 0.
//!
//! *Level*: Attributes that have nothing to do with the label and with the other attributes are never added,
//! except with probability at most `level`, for all of them and all times together, whatever the law of the
//! labels is.
#![doc = include_str!("level.md")]
//!
//! *False discovery rate*: with [`PursuitParams::fdr`] `q` in the place of the level, both conditions of an
//! addition ask for `k q` where they asked for `level`, if `k` attributes were ever added, this one among
//! them. When all is over, each of the K that were ever added had `M_j >= d/(K q)`, so that the expected
//! share of attributes without effect among them is at most q, whenever one stops and however the `M_j`
//! depend on each other (the e-Benjamini-Hochberg procedure: Wang & Ramdas 2022, *False discovery rate
//! control with e-values*). That is so as long as each `M_j` is an e-process, also once another attribute
//! without effect is in the predictor: each attribute without effect must have nothing to do with the label
//! and *all* others.
//!
//! *Intervals*: of all attributes the ones with large sums are chosen, so these sums exaggerate their
//! effects.
#![doc = include_str!("intervals.md")]
//!
//! Pairs of watched attributes are observed together, so that their joint least squares is exact where
//! attributes are correlated: a neighbor that stood in for an attribute becomes insignificant once the
//! attribute itself is in, and is dropped.
//!
//! Labels may be two classes, +1 and -1: least squares finds the attributes and their weights, and a logistic
//! function of the prediction gives the probability of a class, [`Pursuit::probability`].
//!
//! Attributes may have prices, and panels that are paid once per example ([`Money`]). The budget is money
//! then:
//!
//! ```text
//! S costs at most the share of the money that its longest length is of s', so that some is left
//! add the watched j of largest |z_j| / sqrt(price of j), if S can still be paid
//! in the place of a j of S, keep the cheapest attribute of which j explains nine tenths, if it is cheaper
//! watch beside S the j of largest |z_j|, until they cost a third of the rest of the money
//! observe W, all attributes of panels that are paid, and for the rest of the money the panels of largest
//!     (sum over j of the squares of the bounds / price)^(1/2)
//! ```
//!
//! A squared bound is what an attribute may explain of the label's variance; so money goes where it may
//! explain most. What is free is always observed, and what costs more than a support may is never observed.
//! Prices of 1 change no bit.
//!
//! *Proved and measured*: the budget holds by construction, and the level is a theorem. It is about
//! attributes that have nothing to do with the label beside the attributes of the predictor. "The coefficient
//! is 0 in the model with all attributes" is another hypothesis, and no method that looks at few attributes
//! can control it: where attributes are strongly correlated, a neighbor of an attribute with an effect may
//! stand in for it for some time. With prices, an attribute of which one of the support explains nine tenths
//! may take its place without a test of its own. That the error falls as 1/n after the support is found is a
//! property of least squares. What the search costs is only measured.
//!
//! *Coefficients that change*: in the sums every example counts the same, so that after a change the estimate
//! lies between the old and the new coefficients. With a [half-life](PursuitParams::half_life) `h` the weight
//! of an example halves with every `h` that follow: before a block of b examples is added, all sums and
//! counts are multiplied by `2^(-b/h)`. The estimate then rests on the last `h / log 2` examples, as many as
//! their weights add up to; its error falls no further, and standard errors are too large by up to `sqrt(2)`,
//! since weights that differ count as if they were equal. Sums that are forgotten are no e-process, so the
//! level is that of the boundary alone, which a sum without effect crosses within a few half-lives: over an
//! endless stream attributes without effect are added now and then, and dropped again.
//!
//! With a half-life, an attribute that is dropped is watched for a half-life as if its `z_j` were 3: its
//! sums may say "no effect" only because the effect has changed its sign.
//!
//! Two things are always forgotten: the products with an attribute that is no longer watched, and old errors
//! of the predictions, so that `sigma^2` rests on a few thousand examples, and on a few hundred once the
//! support has changed, or where there is a half-life. Too few examples give an empty or
//! partial support, with the evidence so far.
//!
//! *Gaps*: a value that is asked for may be missing, NaN. Every sum rests on the examples in which all its
//! factors were observed, `n_j` counts those in which j was, and a prediction takes the mean in the place of
//! what is missing. The bound of an attribute is multiplied by `sqrt(a_j)`, where `a_j` is the part of the
//! asks for it that was answered: what can seldom be had explains little. All this is right if values are
//! missing at random; where a value is missing because of what it would be, no method that sees the others
//! alone is.
//!
//! *Weights*: an example of weight w multiplies its products by w, and `u_j^2 r^2` by `w^2`, as the variance
//! of a weighted sum has it. Counts become sums of weights, which should add up to `(sum w)^2 / sum w^2`, the
//! number of examples of equal weight that say as much.
//!
//! *Pages*: where examples are [read together](PursuitParams::page), as the rows of a page of a file, a block
//! has whole pages, so that the examples of a page have the same looks. Attributes that were never observed
//! come before those that were, so that one round through all takes about d/s' pages. What follows from the
//! sums, the level and the intervals, is as before; what it costs in examples is measured. Once the
//! support has stayed the same for a while, several blocks come between two decisions, each with looks of its
//! own, so that their pages can be read together: a sixteenth of the blocks since it changed, and at most
//! eight.
//!
//! *Late examples*: where labels come late, examples are handed out before those are learned from on which
//! the next choice would rest, and [`Pursuit::tell_late`] tells them once the choice has changed. Examples
//! that were known before, and cost nothing, are told by [`Pursuit::tell_given`]. Attributes may join later:
//! [`Pursuit::join`].
//!
//! *Cost*: an example costs s'^2/2 multiplications for products of columns, Hybrid s'; the bench `learners`
//! has both. An update costs O(s' |S|^2 + d |S|) more, and O(d |S|^2) if it changes the support; memory is
//! O(d s'). The blocks between updates grow with the number of examples, so that n examples have O(log n)
//! updates, and the first ones cost most; with a half-life they are at most a tenth of it, and forgetting
//! costs O(d s') more per update. For speed, and with the same sums up to rounding:
//!
//! 1. The columns of a block are interleaved four by four, watched attributes first, so that products come
//!    from tiles that stay in registers ([`panel_products`](lao_kernels::panel_products)).
//! 2. A sum of products has no count of its own: a watched attribute is observed in every example, so the
//!    number of examples of a pair follows from that of the other attribute.
//! 3. Attributes are held against the support eight at a time.
//! 4. Attributes that were not observed in a block are weighed again only when the examples have grown by a
//!    tenth, or the support has changed; those that were never observed are not weighed.
//! 5. As long as there are attributes that were never observed, the next ones in a random order are chosen,
//!    without a selection among all.
//!
//! *Reference*: [`PursuitReference`](reference::PursuitReference).
//!
//! *Claims*: `pursuit-budget`, `pursuit-false-inclusion`, `pursuit-level-progressive`, `pursuit-fdr`,
//! `pursuit-small-study`, `pursuit-figure-1`,
//! `pursuit-rate`, `pursuit-identification`, `pursuit-support-law`, `pursuit-coverage`, `pursuit-rare`,
//! `pursuit-plan`, `pursuit-invariance`,
//! `pursuit-against-hybrid`,
//! `pursuit-prices`, `pursuit-half-life`, `pursuit-half-life-level`, `pursuit-calibration`,
//! `pursuit-gaps`, `pursuit-pages`, `pursuit-rules`.

mod decide;
mod e_process;
mod fit;
mod interval;
mod join;
mod late;
mod learner;
mod link;
mod moments;
#[cfg(test)]
mod naive;
mod params;
mod plan;
pub mod reference;
mod rules;

pub use interval::Estimate;
pub use params::PursuitParams;
pub use plan::{StudyGuess, StudyPlan};
#[doc(hidden)]
pub use rules::Rule;

use crate::money::Money;
use crate::params::ParamError;
use crate::state;
use e_process::EProcesses;
use fit::{Before, Fit};
use lao_kernels::SparseVector;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::tariff::pays;
use lao_observation::{Basket, Learner as _, Row};
use late::Late;
use link::Link;
use moments::{Gap, Moments};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

const NAME: &str = "Pursuit";

/// Examples in the first blocks.
const FIRST_BLOCK: u64 = 10;
/// Examples in the longest block.
const LONGEST_BLOCK: u64 = 512;
/// A block is this part of the examples seen.
const BLOCKS: u64 = 160;
/// Where examples are read by pages, a decision follows on this part of the blocks since the support changed,
/// but on so many at most.
const DECISIONS: u64 = 16;
const BLOCKS_PER_DECISION: u64 = 8;
/// All attributes are weighed again when the examples have grown by this part.
const DUE: u64 = 10;
/// Observations that a correlation, or a place among the followers, asks for.
const LEAST_SEEN: u64 = 20;
/// Standard errors below which an attribute is dropped.
const DROPPED_BELOW: f64 = 3.0;
/// Standard deviations from the mean beyond which a value counts as if it lay there.
const WITHIN: f64 = 4.0;
/// The part of an attribute's variance that another one, or the support, explains if the two cannot be told
/// apart by sums over different examples.
const ALIKE: f64 = 0.9;
/// The squared correlation above which an attribute may stand in for another one.
const STANDS_IN_ABOVE: f64 = 0.1;
/// An attribute waits for no other one if `z_j^2` is this multiple of what its addition asks for.
const WAITS_UNTIL: f64 = 2.0;
/// An attribute takes the place of one of the support if its evidence is this multiple of the other's.
const EXCHANGED_ABOVE: f64 = 1.2;
/// The `|z_j|` above which an attribute may be watched.
const WATCHED_ABOVE: f64 = 1.5;
/// Standard deviations of the upper confidence bound by which attributes are chosen to be looked at.
const CONFIDENCE: f64 = 1.5;
/// The number of observations at which the boundary of significance is tightest.
const TIGHTEST_AT: f64 = 10.0;
/// The number of examples that the estimated variance of the errors rests on, at most, when the support has
/// just changed or there is a half-life, and at any other time.
const NOISE_AFTER_CHANGE: f64 = 300.0;
const NOISE_MEMORY: f64 = 4096.0;
/// The largest magnitude of a value or label; its fourth power times any number of examples is finite.
pub const LARGEST: f64 = 1e70;
/// What an attribute may explain that was never observed, where bounds are added up for a panel.
const LARGEST_BOUND: f64 = 1e100;

/// The squared errors of the predictions that were made before an example was learned from.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Errors {
    sum: f64,
    count: f64,
}

impl Errors {
    /// Adds the errors of a block of this weight; all together weigh as much as `memory` examples, at most.
    fn add(&mut self, errors: &[f64], weight: f64, memory: f64) {
        self.sum += errors.iter().map(|r| r * r).sum::<f64>();
        self.count += weight;
        self.forget(memory);
    }

    /// Reduces the weight of the errors so far to that of `examples` examples, if it is larger.
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

/// An attribute that was dropped from the support.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dropped {
    attribute: u32,
    /// The number of examples until which it is watched.
    watched_until: u64,
}

/// What is known of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The attribute.
    pub attribute: u32,
    /// The number of examples in which it was observed, those of the unfinished block among them, from which
    /// nothing was learned yet.
    pub examples: u64,
    /// Its coefficient; 0 outside the support.
    pub coefficient: f64,
    /// The standard error of the coefficient by all examples, in its unit; 0 outside the support. It decides
    /// what is dropped; intervals rest on the [estimate](Self::estimate).
    pub standard_error: f64,
    /// The coefficient by the examples since the last change of the support; `None` outside the support, and
    /// as long as these are fewer than 20 and three for each attribute of the support.
    pub estimate: Option<Estimate>,
    /// In the support, the coefficient in standard errors. Outside, the effect beyond the support in standard
    /// deviations, when it was last computed.
    pub z: f64,
    /// The number of examples until the attribute is expected to be added, if its effect is what it seems to
    /// be and it is observed as often as so far; 0 in the support. `None` if it shows no effect: the seeming
    /// one is below its standard deviation. Also `None` if the support has its largest size.
    pub until_added: Option<u64>,
    /// Whether its effect is significant, but the support has its largest size.
    pub shut_out: bool,
}

impl Evidence {
    /// Returns the ends of the 95 % interval of the coefficient that holds however often it is looked at;
    /// `None` where there is no estimate yet.
    pub fn anytime_interval(&self) -> Option<[f64; 2]> {
        self.estimate.and_then(|estimate| estimate.anytime_interval())
    }
}

impl Evidence {
    /// Returns whether the attribute is in the support.
    pub fn in_support(&self) -> bool {
        self.until_added == Some(0)
    }
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
    /// The attributes that were ever added, ascending, if their number counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added: Vec<u32>,
    /// With a half-life, what was dropped a short time ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<Dropped>,
    before: Before,
    errors: Errors,
    e_processes: EProcesses,
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
    /// The attributes of the blocks since the last decision, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    looked: Vec<u32>,
    /// The number of blocks after the current one that come before the next decision.
    #[serde(default, skip_serializing_if = "moments::is_none")]
    blocks_left: u64,
    /// The values of the current block, as in [`moments::Panel`].
    values: Vec<[f64; 4]>,
    /// What is missing in the current block, by the columns of [`values`](Self::values).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<Gap>,
    /// Examples that were asked for before the last update and came after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    late: Vec<Late>,
    /// The labels of the current block; their number is the size of the block.
    labels: Vec<f64>,
    /// The weight of each example of the current block; empty if each weighs 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    /// Whether an example had a weight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_weighted: bool,
    /// The number of examples of the current block so far.
    filled: usize,
    theta: SparseVector,
    intercept: f64,
    /// Whether all labels were +1 or -1.
    classes: bool,
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
    /// The estimates of the support, once they were asked for after the last update.
    estimates: OnceLock<Vec<Option<Estimate>>>,
    errors: Vec<f64>,
    coefficients: Vec<f64>,
    /// The attributes of the columns of the block, and the column of each attribute that was asked for.
    columns: Vec<u32>,
    places: Vec<usize>,
    /// Attributes to be weighed.
    list: Vec<u32>,
    /// Whether an attribute is not to be chosen.
    taken: Vec<bool>,
    /// The bits of the upper confidence bounds of the others.
    bounds: Vec<u64>,
    ranked: Vec<(f64, u32, u32)>,
    /// The attributes in the random order, and a place before which all are taken or observed.
    by_order: Vec<u32>,
    unseen_from: usize,
    support: Vec<u32>,
    /// The panels that are bought of an example.
    basket: Basket,
    /// What the predictor may cost.
    most_cost: f64,
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
        self.e_processes.validate(dim)?;
        state::length(NAME, "the list of evidence", self.z.len(), dim)?;
        state::length(NAME, "the list of bounds", self.interest.len(), dim)?;
        state::length(NAME, "the list of explained parts", self.explained.len(), dim)?;
        damaged(self.interest.iter().all(|bound| *bound >= 0.0), "a bound is negative")?;
        damaged(
            self.explained.iter().all(|part| (0.0..=1.0).contains(part)),
            "a part is below 0 or above 1",
        )?;
        damaged(state::is_set(support, dim) && state::is_set(pool, dim), "support or pool are no sets")?;
        damaged(support.len() <= params.largest_support(), "the support is too long")?;
        damaged(state::is_set(&self.added, dim), "the attributes that were ever added are no set")?;
        let exist = self.dropped.iter().all(|of| (of.attribute as usize) < dim);
        damaged(exist, "an attribute that was dropped does not exist")?;
        damaged(
            params.always.iter().all(|j| support.binary_search(j).is_ok()),
            "an attribute that is always in the predictor is not in the support",
        )?;
        let mut watched: Vec<u32> = self.moments.pairs.slots.iter().flatten().copied().collect();
        watched.sort_unstable();
        damaged(
            watched.len() == support.len() + pool.len() && state::is_union(&watched, support, pool),
            "the watched attributes are not support and pool",
        )?;
        let forgotten = [self.moments.forgotten, self.before.forgotten];
        damaged(
            self.before.weight() >= 0.0 && (self.is_weighted || forgotten.iter().all(|f| *f >= 0.0)),
            "more was forgotten before the last change than was observed",
        )?;
        damaged(
            params.half_life.is_some() || self.is_weighted || forgotten == [0.0, 0.0],
            "something was forgotten without a half-life",
        )?;
        damaged(
            self.before.support == *support
                && self.before.labels.len() == support.len()
                && self.before.products.len() == support.len().pow(2),
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
            self.weights.is_empty()
                || self.is_weighted && self.weights.len() == size && self.weights.iter().all(is_weight),
            "the block has weights that are none",
        )?;
        damaged(
            size as u64 == params.block_size(self.moments.examples),
            "the block has not the size that belongs to the number of examples",
        )?;
        damaged(self.filled + self.late.len() < size, "the block is full")?;
        self.validate_late()?;
        let of_block = asked.is_empty()
            || (state::is_set(asked, dim)
                && asked.len() <= budget
                && watched.iter().all(|j| asked.binary_search(j).is_ok()));
        damaged(of_block, "the attributes of the block are not those to observe")?;
        damaged(state::is_set(&self.looked, dim), "the attributes of the blocks before are no set")?;
        damaged(self.blocks_left < BLOCKS_PER_DECISION, "too many blocks come before the next decision")?;
        damaged(asked.is_empty() || !order.is_empty(), "a block was asked for without an order")?;
        damaged(!asked.is_empty() || self.filled == 0, "the block has examples of no attributes")?;
        let never = asked.iter().any(|j| params.never.binary_search(j).is_ok());
        damaged(!never, "the block has an attribute that is never observed")?;
        if let Some(Money { tariff, per_example, .. }) = &params.money {
            let mut basket = Basket::default();
            let predicts = pays(params.most_per_prediction(), tariff.cost(support, &mut basket));
            damaged(predicts, "the support costs too much")?;
            let observes = [asked, &watched].map(|list| tariff.cost(list, &mut basket));
            let paid = observes.iter().all(|&cost| pays(*per_example, cost));
            damaged(paid, "the attributes to observe cost more than there is money")?;
        }
        state::length(NAME, "the block", values.len(), moments::groups(asked.len()) * size)?;
        let inside = |gap: &Gap| (gap.column as usize) < asked.len() && (gap.row as usize) < self.filled;
        damaged(self.gaps.iter().all(inside), "a gap is not in the block")?;
        let small = values.as_flattened().iter().chain(labels).all(|x| x.abs() <= LARGEST);
        damaged(small, "the block has a value that is too large")?;
        state::count(NAME, "the number of examples to weigh all", self.due)?;
        state::count(NAME, "the number of updates", self.done)
    }
}

/// Returns whether an example may have this weight. A sum of weights is a count of examples.
fn is_weight(weight: &f64) -> bool {
    (0.0..=1e9).contains(weight)
}

impl Pursuit {
    /// Returns the attributes of the predictor, ascending.
    pub fn support(&self) -> &[u32] {
        &self.support
    }

    /// Returns the parameters.
    pub(crate) fn params(&self) -> &PursuitParams {
        &self.params
    }

    /// Returns whether a block is complete, so that the next one has attributes of its own.
    pub(crate) fn is_between_blocks(&self) -> bool {
        self.filled == 0 && self.late.is_empty()
    }

    /// Leaves a rule of the method out, until the learner is stored: for the claim that it is needed.
    #[doc(hidden)]
    pub fn leave_out(&mut self, rule: Rule) {
        self.moments.without = Some(rule);
    }

    /// Returns the estimate of the variance of the errors of the predictions.
    pub fn noise(&self) -> f64 {
        self.errors.mean()
    }

    /// Returns what is known of attribute `j`; `None` if there is no such attribute.
    pub fn evidence(&self, j: u32) -> Option<Evidence> {
        let (&seen, &z) = (self.moments.seen.get(j as usize)?, self.z.get(j as usize)?);
        let coefficient = self.theta.view().get(j);
        let place = self.support.binary_search(&j).ok();
        let variance = place.and_then(|at| self.variances.get(at));
        let standard_error = variance.map_or(0.0, |v| v.sqrt());
        let estimate = place.and_then(|at| self.estimates().get(at).copied().flatten());
        let full = self.support.len() >= self.params.largest_support();
        let until_added = match variance {
            Some(_) => Some(0),
            None if full => None,
            None => self.until_added(j, seen, z),
        };
        let shut_out = variance.is_none() && full && self.significant(j);
        let examples = seen as u64 + self.not_yet_learned(j);
        let attribute = j;
        Some(Evidence {
            attribute,
            examples,
            coefficient,
            standard_error,
            estimate,
            z,
            until_added,
            shut_out,
        })
    }

    /// Returns in how many examples of the unfinished block attribute `j` was observed.
    fn not_yet_learned(&self, j: u32) -> u64 {
        let late = self.late.iter().filter(|late| late.attributes.binary_search(&j).is_ok()).count() as u64;
        if self.asked.binary_search(&j).is_err() {
            return late;
        }
        let is_watched =
            |k: &u32| self.support.binary_search(k).is_ok() || self.pool.binary_search(k).is_ok();
        let others = self.asked.iter().filter(|k| !is_watched(k));
        let mut columns = self.support.iter().chain(&self.pool).chain(others);
        let column = columns.position(|k| *k == j).unwrap_or_default() as u32;
        let gaps = self.gaps.iter().filter(|gap| gap.column == column).count() as u64;
        late + self.filled as u64 - gaps
    }

    /// Returns the mean of attribute `j` over the examples in which it was observed; 0 if there is no such
    /// attribute.
    pub fn mean(&self, j: u32) -> f64 {
        self.moments.mean.get(j as usize).copied().unwrap_or(0.0)
    }

    /// Returns the range beyond which values of attribute `j` count as if they lay at its end.
    pub fn range(&self, j: u32) -> RangeInclusive<f64> {
        let known = (j as usize) < self.params.dim;
        let (low, high) = if known { self.moments.range(j) } else { (f64::MIN, f64::MAX) };
        low..=high
    }

    /// Returns the offset and the slope of the link: [`probability`](Self::probability) is
    /// `1 / (1 + exp(-(offset + slope p)))` for the prediction p. `None` if labels are not two classes, or
    /// come in an order that tells of their class: all of one class first.
    pub fn link(&self) -> Option<[f64; 2]> {
        (self.classes && !self.link.sorted()).then(|| self.link.line())
    }

    /// Returns the probability of the class +1, if labels are +1 and -1, from the values of the predictor's
    /// attributes: a logistic function of the prediction, fitted to predictions that were made before their
    /// examples were learned from. `None` as for [`link`](Self::link).
    pub fn probability(&self, seen: Row<'_>) -> Option<f64> {
        self.link().map(|_| self.link.probability(self.apply(seen)))
    }
}
