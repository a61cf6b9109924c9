//! Learners for tables as they come: columns of any units, words that became several attributes, prices.

use crate::full_information::{self, FullInformation, FullInformationParams};
use crate::money::Money;
use crate::params::{ParamError, require};
use crate::phases::{Decision, Phases, PhasesParams, Shape};
use crate::pursuit::{Evidence, Pursuit, PursuitParams};
use crate::registry::{AnyParams, METHODS, Method, ModelSize, method};
use crate::safeguard::Safeguarded;
use crate::task::Task;
use crate::trees::Trees;
use lao_observation::Learner;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What the user of a table chooses for the learner. `None` leaves a choice to the method.
///
/// ```
/// use lao_algorithms::{TableTask, registry::method};
///
/// let task = TableTask { longest: Some(3), ..TableTask::within(500, 20) };
/// let (learner, _) = method("pursuit").unwrap().for_table(&task)?;
/// assert!(!learner.inspect().found());
///
/// let refused = method("hybrid").unwrap().for_table(&TableTask { level: Some(0.01), ..task }).unwrap_err();
/// assert_eq!(refused.field, "level");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableTask {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s'`, attributes that may be observed per example; not used where there is money.
    pub budget: usize,
    /// The prices, and what an example may cost.
    pub money: Option<Money>,
    /// The largest number of attributes of the predictor.
    pub longest: Option<usize>,
    /// The probability with which any attribute without effect is ever in the predictor, at most.
    pub level: Option<f64>,
    /// In the place of `level`: the expected share of attributes without effect among all that are ever in
    /// the predictor, at most.
    pub fdr: Option<f64>,
    /// Attributes that the predictor always has, ascending.
    pub always: Vec<u32>,
    /// The number of examples after which an example counts half.
    pub half_life: Option<f64>,
    /// What the predictor may be.
    pub shape: Shape,
    /// The number of examples that are expected.
    pub examples: Option<u64>,
    /// The number of examples that are read together, see [`PursuitParams::page`].
    pub page: Option<u64>,
    /// The group of each attribute, such as the words of a column, or nothing if each stands for itself; only
    /// [exchanges](TableMethod::Exchange) heed them.
    pub groups: Vec<u32>,
}

impl TableTask {
    /// Returns the task of `dim` attributes of which `budget` may be observed per example.
    pub fn within(dim: usize, budget: usize) -> Self {
        TableTask {
            dim,
            budget,
            money: None,
            longest: None,
            level: None,
            fdr: None,
            always: Vec::new(),
            half_life: None,
            shape: Shape::Line,
            examples: None,
            page: None,
            groups: Vec::new(),
        }
    }
}

/// What can be read off a learner whose coefficients are in the units of the data.
///
/// Only [`found`](Self::found), [`mean`](Self::mean) and [`range`](Self::range) are required: the rest says
/// that the method does not know.
pub trait Inspect: Learner {
    /// Returns whether any effect is significant. If not, the estimate is the mean of the labels.
    fn found(&self) -> bool;

    /// Returns the mean of attribute `j` over the examples in which it was observed.
    fn mean(&self, j: u32) -> f64;

    /// Returns the range beyond which values of attribute `j` count as if they lay at its end.
    fn range(&self, j: u32) -> RangeInclusive<f64>;

    /// Returns what is known of attribute `j`, its standard error included, if there is such an attribute and
    /// the method keeps count.
    fn evidence(&self, _j: u32) -> Option<Evidence> {
        None
    }

    /// Returns offset and slope of the link, if the method has probabilities: that of the class +1 is
    /// `1 / (1 + exp(-(offset + slope p)))` for the prediction p.
    fn link(&self) -> Option<[f64; 2]> {
        None
    }

    /// Returns the trees that a prediction adds to the line, if there are any; their columns are those of
    /// [`coefficients`](Learner::coefficients).
    fn trees(&self) -> Option<&Trees> {
        None
    }

    /// Returns what decided between a line and trees, if something did.
    fn decision(&self) -> Option<Decision> {
        None
    }

    /// Returns the learner of the line that has standard errors, if the predictor is another one.
    fn evident(&self) -> Option<&dyn Inspect> {
        None
    }
}

impl Inspect for Pursuit {
    fn found(&self) -> bool {
        !self.support().is_empty()
    }

    fn mean(&self, j: u32) -> f64 {
        self.mean(j)
    }

    fn range(&self, j: u32) -> RangeInclusive<f64> {
        self.range(j)
    }

    fn evidence(&self, j: u32) -> Option<Evidence> {
        self.evidence(j)
    }

    fn link(&self) -> Option<[f64; 2]> {
        self.link()
    }
}

impl Inspect for Safeguarded {
    fn found(&self) -> bool {
        self.found()
    }

    fn mean(&self, j: u32) -> f64 {
        self.mean(j)
    }

    fn range(&self, j: u32) -> RangeInclusive<f64> {
        self.range(j)
    }
}

/// The learner of any method for a table, in a form that can be stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableLearner {
    /// Pursuit, which learns location and scale by itself.
    Pursuit(Box<Pursuit>),
    /// Pursuit, and then the best attributes complete.
    Phases(Box<Phases>),
    /// Another method, behind a safeguard.
    Safeguarded(Box<Safeguarded>),
    /// Exchanges at full information.
    FullInformation(Box<FullInformation>),
}

impl TableLearner {
    /// Returns the learner for reading.
    pub fn inspect(&self) -> &dyn Inspect {
        match self {
            TableLearner::Pursuit(learner) => &**learner,
            TableLearner::Phases(learner) => &**learner,
            TableLearner::Safeguarded(learner) => &**learner,
            TableLearner::FullInformation(learner) => &**learner,
        }
    }

    /// Returns the learner for a session.
    pub fn learner(&mut self) -> &mut dyn Learner {
        match self {
            TableLearner::Pursuit(learner) => &mut **learner,
            TableLearner::Phases(learner) => &mut **learner,
            TableLearner::Safeguarded(learner) => &mut **learner,
            TableLearner::FullInformation(learner) => &mut **learner,
        }
    }

    /// Returns whether the method is behind a safeguard.
    pub fn is_safeguarded(&self) -> bool {
        matches!(self, TableLearner::Safeguarded(_))
    }
}

/// A method for tables: one of the registry, or exchanges at full information.
///
/// ```
/// use lao_algorithms::{TableMethod, TableTask};
///
/// let method = TableMethod::of("exchange").unwrap();
/// assert_eq!(method.for_table(&TableTask::within(50, 10)).unwrap_err().field, "budget");
/// let (learner, _) = method.for_table(&TableTask::within(50, 50))?;
/// assert!(!learner.inspect().found());
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum TableMethod {
    /// A method for a limited budget.
    Limited(&'static Method),
    /// [Exchanges](crate::full_information) between attributes, all of which are bought of every example.
    Exchange,
}

impl TableMethod {
    /// Returns the method of this name, if there is one.
    pub fn of(name: &str) -> Option<Self> {
        if name == full_information::NAME {
            Some(TableMethod::Exchange)
        } else {
            method(name).map(TableMethod::Limited)
        }
    }

    /// Returns the names of all methods.
    pub fn names() -> impl Iterator<Item = &'static str> {
        METHODS.iter().map(|row| row.name).chain([full_information::NAME])
    }

    /// Returns whether the method takes a budget in [`Money`].
    pub fn takes_prices(self) -> bool {
        matches!(self, TableMethod::Exchange | TableMethod::Limited(Method { prices: true, .. }))
    }

    /// Builds the learner for a table, and returns its parameters.
    ///
    /// # Errors
    /// Those of [`Method::for_table`]; for exchanges, a budget that does not pay all attributes.
    pub fn for_table(self, task: &TableTask) -> Result<(TableLearner, AnyParams), ParamError> {
        match self {
            TableMethod::Limited(row) => row.for_table(task),
            TableMethod::Exchange => {
                let params = FullInformationParams::for_table(task)?;
                let learner = TableLearner::FullInformation(Box::new(params.clone().build()?));
                Ok((learner, AnyParams::FullInformation(params)))
            }
        }
    }
}

impl Method {
    /// Builds the learner for a table. A method that does not learn location and scale by itself comes behind
    /// a [safeguard](crate::safeguard).
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range; so does a method whose predictor is
    /// not sparse, and one that cannot keep to a choice.
    pub fn for_table(&self, task: &TableTask) -> Result<(TableLearner, AnyParams), ParamError> {
        (self.table)(self, task)
    }
}

/// Builds Pursuit.
pub(crate) fn pursuit(_: &Method, task: &TableTask) -> Result<(TableLearner, AnyParams), ParamError> {
    let within = match task.money.clone() {
        Some(money) => PursuitParams::within_money(money),
        None => PursuitParams::within(task.dim, task.budget),
    };
    let TableTask { longest, fdr, half_life, shape, examples, page, .. } = *task;
    let one = fdr.is_none() || task.level.is_none();
    require(
        one,
        "pursuit",
        "fdr",
        fdr.unwrap_or_default(),
        "absent where `level` is given: it takes its place",
    )?;
    let (level, always) = (task.level.unwrap_or(within.level), task.always.clone());
    let params = PursuitParams { longest, level, fdr, always, half_life, page, ..within };
    let learner = match shape {
        Shape::Line => TableLearner::Pursuit(Box::new(params.clone().build()?)),
        Shape::Auto | Shape::Trees => {
            let params = PhasesParams { pursuit: params.clone(), examples, shape };
            TableLearner::Phases(Box::new(params.build()?))
        }
    };
    Ok((learner, AnyParams::Pursuit(params)))
}

const ONLY: &str = "absent: only the method `pursuit` takes it";

/// Refuses what only Pursuit can keep to.
pub(crate) fn refuse_what_is_pursuits(method: &'static str, task: &TableTask) -> Result<(), ParamError> {
    let TableTask { level, fdr, half_life, shape, .. } = *task;
    require(level.is_none(), method, "level", level.unwrap_or_default(), ONLY)?;
    require(fdr.is_none(), method, "fdr", fdr.unwrap_or_default(), ONLY)?;
    require(half_life.is_none(), method, "half_life", half_life.unwrap_or_default(), ONLY)?;
    let line = "a line: only the method `pursuit` has trees";
    require(shape != Shape::Trees, method, "shape", "trees", line)
}

/// Builds a method behind a safeguard, with half of the budget for the predictor.
pub(crate) fn safeguarded(row: &Method, given: &TableTask) -> Result<(TableLearner, AnyParams), ParamError> {
    refuse_what_is_pursuits(row.name, given)?;
    let always = &given.always;
    require(always.is_empty(), row.name, "always", format_args!("{} attributes", always.len()), ONLY)?;
    let sparse = "one with a sparse predictor, and its predictor would read all attributes";
    require(row.model != ModelSize::Dense, row.name, "method", row.name, sparse)?;
    let (dim, budget) = (given.dim, given.budget);
    let mut task = Task { dim, budget, sparsity: budget.div_ceil(2), ..Task::default() };
    if let Some(money) = given.money.clone() {
        if money.tariff.unit().is_some() && money.per_prediction.is_none() {
            // Every method can count attributes of one price.
            task.budget = money.tariff.most_attributes(money.per_example);
            task.sparsity = task.budget.div_ceil(2);
        } else {
            task = Task::within_money(money);
        }
    }
    task.sparsity = given.longest.unwrap_or(task.sparsity);
    let learner = TableLearner::Safeguarded(Box::new(row.safeguarded(&task)?));
    Ok((learner, (row.params)(&task)?))
}

impl AnyParams {
    /// Returns what the method takes where [`TableTask`] leaves a choice to it, by the names of its fields
    /// and of [`Money`]'s; nothing if the parameters themselves say it.
    pub fn settled(&self) -> Vec<(&'static str, f64)> {
        let AnyParams::Pursuit(params) = self else { return Vec::new() };
        let money = params.money.is_some().then(|| ("per_prediction", params.most_per_prediction()));
        let bound = params.fdr.map_or(("level", params.level), |fdr| ("fdr", fdr));
        let own = [("longest", params.largest_support() as f64), bound];
        own.into_iter().chain(money).collect()
    }
}
