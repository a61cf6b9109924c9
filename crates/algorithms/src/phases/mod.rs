//! A purchase in phases: search the attributes, buy the best of them complete, and let the data choose
//! between two lines and trees.
//!
//! *Source*: this project. The parts are [`Pursuit`], ridge regression with generalized cross-validation
//! (Golub, Heath & Wahba 1979), and [boosted trees](crate::trees).
//!
//! *Setting*: that of Pursuit, with a number N of examples that is known when it begins. Once few attributes
//! are known to matter, an example costs only these: all further rows are complete on them, and any learner
//! of complete rows can learn from them.
//!
//! *Notation*: `W` -> the attributes that are bought complete, as many as the budget buys, up to 256; `e_P`,
//! `e_R`, `e_T` -> squared errors of a row.
//!
//! *Phases*:
//!
//! ```text
//! search    the first 4/10 of the examples, as Pursuit; W are the support and the others of largest
//!           (max(|z_j|, c_j) - 1) / sqrt(n_j), where c_j^2 is what the means of the residual in four parts
//!           of the range of j explain, in units of its variance, or what the product of j and an attribute
//!           of the support does, less what they do by chance
//! contest   max(N/10, min(120, 3N/10)) examples complete on W; on each
//!             e_P   Pursuit's prediction, made before it learned from the row
//!             e_R   a ridge line on W, by 5-fold cross-validation
//!             e_T   the ridge line plus half of 100 trees on its residuals, by 5-fold cross-validation
//!           t(a, b) is the mean of a - b in its standard errors; b is better if t > 3. If .5 < t <= 3, or
//!           -1 < t <= 3 where b are trees, as many examples again decide, and b is better if t > 2
//! end       trees, if they are better than the better one of the lines; else the ridge line, if it is better
//!           than Pursuit's: then the rest of the examples is complete on W
//!           else Pursuit to its end
//! ```
//!
//! Where the budget buys all attributes there is no search: all rows are complete, and the contest compares
//! errors on those after the first 4/10.
//!
//! Every row is told to Pursuit as well, so that its line and its evidence are at hand whatever the end is.
//! If W has more attributes than a predictor may have, or may pay, the line drops those of least sacrifice
//! and the trees those of least gain. Cross-validation chooses the number of trees. The end is learned anew
//! when the complete rows have doubled, and after N examples.
//!
//! *Two classes* are labels +1 and -1; offset and slope of the link are fitted to predictions for rows that
//! were held out.
//!
//! *Departures from Pursuit*: none where the end is Pursuit's line, except that the rows of the contest have
//! other attributes. There is no end but Pursuit's line if N is not known or below [`LEAST_EXAMPLES`], if
//! coefficients change (a half-life) or examples have weights.
//!
//! *Gaps*: what is missing counts as the mean of its attribute, as in a prediction.
//!
//! *Proved and measured*: the budget holds by construction, since W is bought as a support is. That trees are
//! rarely chosen where the truth is linear, and what the contest costs there, is measured.
//!
//! *Cost*: that of Pursuit; memory of |W| values for each complete row, 64 MiB at most; an end costs O(n |W|)
//! for each tree, and n |W|^2 for the line.
//!
//! *Claims*: `pursuit-phases-budget`, `pursuit-phases-no-harm`, `pursuit-phases-decision`,
//! `pursuit-phases-rows`, `pursuit-phases-no-explosion`.

mod complete;
mod curves;
mod live;
mod ridge;

use crate::params::ParamError;
use crate::pursuit::{Evidence, Pursuit, PursuitParams};
use crate::state;
use crate::tables::Inspect;
use crate::trees::Trees;
pub(crate) use complete::link;
use complete::{Complete, End, Errors};
use curves::{Curves, Look};
use lao_kernels::SparseView;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Block, Foreseen, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

const NAME: &str = "phases";

/// The part of the examples for the search.
const SEARCH: f64 = 0.4;
/// The part of the examples for the contest, and the number that it has at least, unless that is more than
/// the largest part.
const CONTEST: f64 = 0.1;
const LEAST_CONTEST: f64 = 120.0;
const LARGEST_CONTEST: f64 = 0.3;
/// The number of examples below which the end is Pursuit's line: a contest would have too few rows.
pub const LEAST_EXAMPLES: u64 = 134;
/// The most attributes that are bought complete: a line on them costs their number's third power.
const MOST_COMPLETE: usize = 256;
/// Standard errors by which an end must be better; if a ridge line, or trees, are better by fewer, more rows
/// decide, and the last number is enough. Trees gain more by rows than lines do: those that are a little
/// worse than a line may be better at last.
const BETTER: f64 = 3.0;
const RIDGE_UNDECIDED: f64 = 0.5;
const TREES_UNDECIDED: f64 = -1.0;
const BETTER_AT_LAST: f64 = 2.0;

/// What a predictor may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Pursuit's line.
    #[default]
    Line,
    /// What the data choose.
    Auto,
    /// A line and trees on what it leaves.
    Trees,
}

/// Parameters of [`Phases`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasesParams {
    /// Those of the search.
    pub pursuit: PursuitParams,
    /// N, the examples that are expected; `None` if nothing is known of their number.
    #[serde(default)]
    pub examples: Option<u64>,
    /// What the predictor may be.
    pub shape: Shape,
}

/// The end of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// Pursuit's line.
    Pursuit,
    /// A ridge line on the rows that are complete.
    Ridge,
    /// A ridge line and trees.
    Trees,
}

impl Chosen {
    /// Returns the name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::Pursuit => "pursuit",
            Chosen::Ridge => "ridge",
            Chosen::Trees => "trees",
        }
    }
}

/// What the contest said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The end that was chosen.
    pub chosen: Chosen,
    /// The rows of the contest.
    pub rows: u64,
    /// The mean squared errors, in units of the label's variance: of Pursuit's line, of a ridge line, and
    /// with trees.
    pub errors: [f64; 3],
}

/// What is to be observed next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// As Pursuit asks, until it has seen so many examples.
    Search { until: u64 },
    /// W, until so many examples are seen, for the first time or again.
    Contest { until: u64, again: bool },
    /// As Pursuit asks, to the end.
    Line,
    /// W; the end is learned when so many examples are seen.
    Complete { until: u64 },
}

/// The learner.
///
/// ```
/// use lao_algorithms::phases::{Chosen, PhasesParams, Shape};
/// use lao_algorithms::pursuit::PursuitParams;
/// use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
/// use lao_kernels::SparseVector;
/// use lao_observation::{Budget, Seed, Session, SessionLimit};
///
/// // The truth is a line, so that Pursuit goes on to its end.
/// let target = SparseVector::new(100, vec![7, 42], vec![1.0, -1.0])?;
/// let source = Virtual::new(Rademacher::new(100)?, target, Noise::Gaussian(0.5), &Seed::root(1))?;
/// let pursuit = PursuitParams::within(100, 10);
/// let mut learner = PhasesParams { pursuit, examples: Some(2000), shape: Shape::Auto }.build()?;
/// let mut session = Session::new(source, Budget::PerExample(10), &Seed::root(2));
/// session.run(&mut learner, SessionLimit::after_examples(2000), |_, _| {})?;
/// assert_eq!(learner.decision().unwrap().chosen, Chosen::Pursuit);
/// assert_eq!(learner.pursuit().support(), [7, 42]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Phases {
    params: PhasesParams,
    pursuit: Pursuit,
    phase: Phase,
    /// The examples so far.
    seen: u64,
    complete: Complete,
    /// What the search has seen that is no line; `None` after it.
    curves: Option<Curves>,
    decision: Option<Decision>,
    end: Option<End>,
    /// How often an end was learned.
    ends: u64,
}

impl PhasesParams {
    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Phases, ParamError> {
        let pursuit = self.pursuit.clone().build()?;
        Ok(Phases::begin(self, pursuit))
    }

    /// Returns whether the budget buys all attributes, so that there is nothing to search.
    fn buys_all(&self) -> bool {
        let PursuitParams { dim, budget, never, money, .. } = &self.pursuit;
        dim == budget && *dim <= MOST_COMPLETE && never.is_empty() && money.is_none()
    }

    /// Returns the examples of the search.
    fn search(&self) -> u64 {
        (SEARCH * self.examples.unwrap_or(0) as f64) as u64
    }

    /// Returns N, and the examples of the contest: whole pages, where examples are read by pages.
    fn planned(&self) -> [u64; 2] {
        let (n, page) = (self.examples.unwrap_or(0), self.pursuit.page.unwrap_or(1));
        let most = (LARGEST_CONTEST * n as f64).floor();
        let contest = (CONTEST * n as f64).ceil().max(LEAST_CONTEST.min(most)) as u64;
        [n, contest.div_ceil(page).saturating_mul(page)]
    }
}

/// Returns the mean of `a - b` in its standard errors.
fn better(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let mean = a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / n;
    let square = a.iter().zip(b).map(|(a, b)| (a - b - mean) * (a - b - mean)).sum::<f64>() / (n - 1.0);
    let t = mean / (square / n).sqrt();
    if t.is_nan() { 0.0 } else { t }
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}

impl Phases {
    fn begin(params: PhasesParams, pursuit: Pursuit) -> Self {
        let may_change = params.pursuit.half_life.is_some() || params.shape == Shape::Line;
        let least = if params.buys_all() && params.shape == Shape::Trees { 1 } else { LEAST_EXAMPLES };
        let planned = params.examples.filter(|&examples| examples >= least && !may_change);
        let search = if params.buys_all() { 0 } else { params.search() };
        let phase = planned.map_or(Phase::Line, |_| Phase::Search { until: search });
        let (complete, decision, end) = (Complete::default(), None, None);
        let curves = planned.map(|_| Curves::of(params.pursuit.dim));
        let mut phases = Phases { params, pursuit, phase, seen: 0, complete, curves, decision, end, ends: 0 };
        if phases.params.buys_all() {
            phases.proceed();
        }
        phases
    }

    /// Returns Pursuit, which learns from every row.
    pub fn pursuit(&self) -> &Pursuit {
        &self.pursuit
    }

    /// Returns what the contest said, once it is decided.
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// Returns the attributes that are bought complete; none before the contest.
    pub fn bought_complete(&self) -> &[u32] {
        &self.complete.attributes
    }

    /// Returns the number of rows that were bought complete.
    pub fn complete_rows(&self) -> u64 {
        self.complete.rows
    }

    /// Returns how many more examples the present phase has, if it buys complete rows.
    fn rows_left(&self) -> Option<u64> {
        match self.phase {
            Phase::Contest { until, .. } | Phase::Complete { until } => Some(until.saturating_sub(self.seen)),
            Phase::Search { .. } | Phase::Line => None,
        }
    }

    /// Goes on to the next phase, if this one is over.
    fn proceed(&mut self) {
        let [planned, rows] = self.params.planned();
        match self.phase {
            // At the end of a block: the rest of one would have attributes that nobody asks for.
            Phase::Search { until } if self.seen >= until && self.pursuit.is_between_blocks() => {
                self.complete = Complete::of(if self.params.buys_all() {
                    (0..self.dim() as u32).collect()
                } else {
                    let curves = self.curves.take().unwrap_or_default();
                    self.pursuit.support_and_best(MOST_COMPLETE, |j, z| z.max(curves.effect(j)))
                });
                let until = self.seen + rows;
                self.phase = match self.params.shape {
                    _ if !(1..=MOST_COMPLETE).contains(&self.complete.attributes.len()) => Phase::Line,
                    Shape::Trees => Phase::Complete { until },
                    _ if self.params.buys_all() => {
                        Phase::Contest { until: until + self.params.search(), again: false }
                    }
                    _ => Phase::Contest { until, again: false },
                };
            }
            Phase::Contest { until, again } if self.seen >= until => match self.decide(again, rows) {
                None => self.phase = Phase::Contest { until: self.seen + rows, again: true },
                Some(Chosen::Pursuit) => self.phase = Phase::Line,
                Some(_) => self.learn_end(planned),
            },
            Phase::Complete { until } if self.seen >= until => self.learn_end(planned),
            _ => {}
        }
        if self.phase == Phase::Line {
            self.complete = Complete::default();
        }
        if !matches!(self.phase, Phase::Search { .. }) {
            self.curves = None;
        }
    }

    /// Decides between the ends; `None` if `more` rows are to decide, and there are as many.
    fn decide(&mut self, again: bool, more: u64) -> Option<Chosen> {
        let first = if self.params.buys_all() { self.params.search() as usize } else { 0 };
        let Errors { pursuit, ridge, trees } = self.complete.errors(first);
        let line = if mean(&ridge) < mean(&pursuit) { &ridge } else { &pursuit };
        let (of_trees, of_ridge) = (better(line, &trees), better(&pursuit, &ridge));
        let enough = if again { BETTER_AT_LAST } else { BETTER };
        let has_more = !again && self.seen + more <= self.params.planned()[0];
        let undecided = |t: f64, least: f64| has_more && t > least && t <= enough;
        let chosen = if of_trees > enough {
            Chosen::Trees
        } else if undecided(of_trees, TREES_UNDECIDED) || undecided(of_ridge, RIDGE_UNDECIDED) {
            return None;
        } else if of_ridge > enough {
            Chosen::Ridge
        } else {
            Chosen::Pursuit
        };
        let errors = [mean(&pursuit), mean(&ridge), mean(&trees)];
        self.decision = Some(Decision { chosen, rows: self.complete.rows - first as u64, errors });
        Some(chosen)
    }

    fn learn_end(&mut self, planned: u64) {
        let with_trees = self.decision.is_none_or(|decision| decision.chosen == Chosen::Trees);
        let params = &self.params.pursuit;
        self.end = Some(if with_trees { self.complete.trees(params) } else { self.complete.line(params) });
        self.ends += 1;
        let rows = self.complete.rows.max(1);
        // An end on the way is left out if fewer rows than it has would follow.
        let is_last = self.seen < planned && planned <= self.seen + 2 * rows;
        self.phase = Phase::Complete { until: if is_last { planned } else { self.seen + rows } };
    }

    /// Learns from rows that are complete.
    fn take_complete(&mut self, block: &Block<'_>) -> Result<(), LearnError> {
        let attributes = block.attributes();
        let mut values = vec![0.0; attributes.len()];
        for (row, &label) in block.labels().iter().enumerate() {
            values.iter_mut().enumerate().for_each(|(c, x)| *x = block.column(c)[row]);
            let seen = Row { attributes, values: &values };
            let predicted = self.pursuit.apply(seen);
            self.complete.add(seen, |j| self.pursuit.mean(j), label, predicted);
            self.pursuit.tell_late(attributes, &values, label)?;
            self.seen += 1;
        }
        Ok(())
    }
}

impl Learner for Phases {
    fn dim(&self) -> usize {
        self.pursuit.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.seen == 0 {
            // Pursuit draws an order by its first ask.
            self.pursuit.ask(rng, ask);
        }
        match self.rows_left() {
            Some(left) => ask.values(left).extend_from_slice(&self.complete.attributes),
            None => self.pursuit.ask(rng, ask),
        }
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.apply(seen)
    }

    fn takes_gaps(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        const ASKED: &str = "values of the attributes asked for, of at least one and not more examples";
        let rows = match (self.rows_left(), told) {
            (None, Told::Values(block)) => {
                let look = self.curves.is_some().then(|| Look::at(&block, &self.pursuit));
                self.pursuit.tell(told)?;
                if let (Some(curves), Some(look)) = (&mut self.curves, look) {
                    curves.add(&block, &look);
                }
                if block.weights().is_some() {
                    self.phase = Phase::Line;
                }
                self.seen += block.rows() as u64;
                block.rows()
            }
            (None, _) => return self.pursuit.tell(told),
            (Some(left), Told::Values(block)) => {
                let rows = block.rows();
                let is_other = !self.complete.fits(&block)
                    || rows == 0
                    || rows as u64 > left
                    || block.weights().is_some();
                if is_other {
                    let told = "other attributes, other numbers of examples, or weights of some only";
                    return Err(LearnError::NotAsked { told, asked: ASKED });
                }
                self.pursuit.check(&block)?;
                self.take_complete(&block)?;
                rows
            }
            (Some(_), Told::Gradient(_)) => {
                return Err(LearnError::NotAsked { told: "a gradient sum", asked: ASKED });
            }
        };
        if rows > 0 {
            self.proceed();
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.end.as_ref().map_or(self.pursuit.coefficients(), |end| end.theta.view())
    }

    fn intercept(&self) -> f64 {
        self.end.as_ref().map_or(self.pursuit.intercept(), |end| end.intercept)
    }

    fn apply(&self, seen: Row<'_>) -> f64 {
        self.end.as_ref().map_or_else(|| self.pursuit.apply(seen), |end| end.predict(seen))
    }

    fn updates(&self) -> u64 {
        self.pursuit.updates() + self.ends
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        self.rows_left().or_else(|| self.pursuit.examples_to_next_update())
    }

    fn foresee(&self, count: usize) -> Vec<Foreseen> {
        if self.rows_left().is_some() { Vec::new() } else { self.pursuit.foresee(count) }
    }
}

impl Inspect for Phases {
    fn found(&self) -> bool {
        self.end.as_ref().map_or(self.pursuit.found(), |end| !end.theta.is_empty())
    }

    fn mean(&self, j: u32) -> f64 {
        self.of_end(j, |end, at| end.means[at]).unwrap_or_else(|| self.pursuit.mean(j))
    }

    fn range(&self, j: u32) -> RangeInclusive<f64> {
        let range = self.of_end(j, |end, at| end.ranges[at][0]..=end.ranges[at][1]);
        range.unwrap_or_else(|| self.pursuit.range(j))
    }

    fn evidence(&self, j: u32) -> Option<Evidence> {
        self.pursuit.evidence(j)
    }

    fn link(&self) -> Option<[f64; 2]> {
        self.end.as_ref().map_or(self.pursuit.link(), |end| end.link)
    }

    fn trees(&self) -> Option<&Trees> {
        self.end.as_ref()?.trees.as_ref()
    }

    fn decision(&self) -> Option<Decision> {
        self.decision
    }

    fn evident(&self) -> Option<&dyn Inspect> {
        self.end.as_ref().map(|_| &self.pursuit as &dyn Inspect)
    }
}

impl Phases {
    /// Returns something of an attribute of the end.
    fn of_end<T>(&self, j: u32, of: impl Fn(&End, usize) -> T) -> Option<T> {
        let end = self.end.as_ref()?;
        end.theta.indices().binary_search(&j).ok().map(|at| of(end, at))
    }
}

lao_observation::stored!(Phases);

impl Validate for Phases {
    fn validate(&self) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        let Phases { params, pursuit, complete, end, .. } = self;
        let dim = pursuit.dim();
        params.pursuit.check().map_err(ParamError::damaged)?;
        damaged(params.pursuit == *pursuit.params(), "Pursuit has other parameters")?;
        complete.validate(dim)?;
        self.curves.iter().try_for_each(|curves| curves.validate(dim))?;
        state::count(NAME, "the number of examples", self.seen)?;
        state::count(NAME, "the number of ends", self.ends)?;
        let [planned, rows] = params.planned();
        state::count(NAME, "the number of examples expected", planned)?;
        let until = match self.phase {
            Phase::Search { until } | Phase::Contest { until, .. } | Phase::Complete { until } => until,
            Phase::Line => 0,
        };
        damaged(until <= self.seen.saturating_add(rows.max(planned).max(self.seen)), "a phase is too long")?;
        let is_bought = complete.attributes.is_empty() || pursuit.may_observe(&complete.attributes);
        damaged(is_bought, "the attributes that are bought complete exceed the budget")?;
        let left = self.rows_left();
        damaged(left.is_none_or(|left| left > 0 && !complete.attributes.is_empty()), "a phase is over")?;
        let Some(end) = end else { return Ok(()) };
        let bought = |j: &u32| complete.attributes.binary_search(j).is_ok();
        damaged(end.theta.indices().iter().all(bought), "the predictor has other attributes")?;
        end.validate(dim)
    }
}
