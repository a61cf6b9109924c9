//! A learner for tables that buys every attribute of every example, and takes the best of them by exchanges.
//!
//! *Source*: of this project; the solver is [`exchange`](crate::thresholding::Exchange), after Zhu et al.
//! 2020.
//!
//! *Setting*: full information. It is here for comparison, and for tables that cost nothing.
//!
//! *Notation*: `k` -> `sparsity`.
//!
//! *Update*: examples are kept. When the estimate is asked for, columns and label are standardized, and least
//! squares is minimized over predictors of k attributes; without a k, of 1, 2, 3, ... attributes, of which
//! the number with the least [`criterion`] is taken, or none, if none has a lower criterion than the mean of
//! the labels. Two classes are labels -1 and +1.
//!
//! *Cost*: O(d) per example, in time and memory; an estimate costs what the solver's docs say.

use crate::money::Money;
use crate::params::{ParamError, require};
use crate::phases::link;
use crate::state;
use crate::tables::{Inspect, TableTask, refuse_what_is_pursuits};
use crate::thresholding::{ExchangeParams, Shape, SolveError, SolverLimit, SparsityPath, criterion, solve};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor, Standardize};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::tariff::pays;
use lao_observation::{Ask, LearnError, Learner, Rng, Seed, Told};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub(crate) const NAME: &str = "exchange";
/// The most attributes that are tried without a k, and the most rounds of one k.
const MOST: usize = 1000;
const ROUNDS: u64 = 300;
/// The largest magnitude of a value or label; its square times any number of examples is finite.
const LARGEST: f64 = 1e70;

/// Parameters of [`FullInformation`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullInformationParams {
    /// `d`, attributes of an example, at least 1.
    pub dim: usize,
    /// `k`, attributes of the predictor, at least 1; `None` lets the extended information criterion choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparsity: Option<usize>,
    /// Attributes that the predictor always has, ascending; k counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<u32>,
    /// The group of each attribute, below d, or nothing if each stands for itself; k counts groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// What an example may cost, and the prices; `None` if attributes are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

impl FullInformationParams {
    /// Returns the parameters for a table.
    ///
    /// # Errors
    /// [`ParamError`] when the budget does not pay every attribute of an example, or for a choice that only
    /// other methods can keep to.
    pub fn for_table(task: &TableTask) -> Result<Self, ParamError> {
        let &TableTask { dim, budget, .. } = task;
        refuse_what_is_pursuits(NAME, task)?;
        match &task.money {
            None => {
                let allowed = format!("all {dim} attributes (100%): the method buys every one");
                require(budget >= dim, NAME, "budget", budget, allowed)?;
            }
            Some(money @ Money { per_example, tariff, per_prediction }) => {
                let all: Vec<u32> = (0..dim as u32).collect();
                let price = tariff.cost(&all, &mut lao_observation::Basket::default());
                let allowed =
                    format!("at least {price}, the price of all attributes: the method buys every one");
                require(pays(*per_example, price), NAME, "budget", money.per_example, allowed)?;
                let given = per_prediction.unwrap_or_default();
                require(
                    per_prediction.is_none(),
                    NAME,
                    "per_prediction",
                    given,
                    "absent: bound the number of attributes",
                )?;
            }
        }
        let (always, groups) = (task.always.clone(), task.groups.clone());
        Ok(FullInformationParams { dim, sparsity: task.longest, always, groups, money: task.money.clone() })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<FullInformation, ParamError> {
        self.check()?;
        let columns = vec![Vec::new(); self.dim];
        Ok(FullInformation {
            params: self,
            columns,
            labels: Vec::new(),
            weights: Vec::new(),
            told: 0,
            solved: OnceLock::new(),
        })
    }

    fn check(&self) -> Result<(), ParamError> {
        require(self.dim >= 1, NAME, "dim", self.dim, "at least 1")?;
        require(self.sparsity.is_none_or(|k| k >= 1), NAME, "sparsity", 0, "at least 1")?;
        self.exchange(self.sparsity.unwrap_or(self.dim), None).check(self.dim)
    }

    fn exchange(&self, sparsity: usize, start: Option<Predictor>) -> ExchangeParams {
        let (always, groups) = (self.always.clone(), self.groups.clone());
        ExchangeParams { sparsity, start, always, groups, certify: false }
    }
}

/// The learner; see the [module](self).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct FullInformation {
    params: FullInformationParams,
    /// The values of all examples, attribute by attribute.
    columns: Vec<Vec<f64>>,
    labels: Vec<f64>,
    /// The weights of the examples; empty if all are 1.
    weights: Vec<f64>,
    /// How often it was told examples.
    told: u64,
    #[serde(skip)]
    solved: OnceLock<Solved>,
}

lao_observation::stored!(FullInformation);

/// The estimate from all examples so far.
#[derive(Clone, Debug)]
struct Solved {
    theta: SparseVector,
    intercept: f64,
    link: Option<[f64; 2]>,
}

impl FullInformation {
    fn solved(&self) -> &Solved {
        self.solved.get_or_init(|| {
            // Columns of standardized numbers give finite answers.
            let (theta, intercept) = match self.solve() {
                Ok(Some(found)) => found,
                _ => (SparseVector::zeros(self.params.dim), self.mean_label()),
            };
            let classes = !self.labels.is_empty() && self.labels.iter().all(|y| y.abs() == 1.0);
            let link = classes.then(|| {
                let mut scores: Vec<(f64, f64)> = self.labels.iter().map(|y| (intercept, *y)).collect();
                for (j, weight) in theta.view().iter() {
                    let column = &self.columns[j as usize];
                    scores.iter_mut().zip(column).for_each(|(score, x)| score.0 += weight * x);
                }
                link(&scores)
            });
            Solved { theta, intercept, link }
        })
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    fn mean_label(&self) -> f64 {
        mean(&self.labels, |row| self.weight(row))
    }

    /// Returns coefficients and intercept, unless the mean of the labels is the best predictor.
    fn solve(&self) -> Result<Option<(SparseVector, f64)>, SolveError> {
        let FullInformationParams { dim, sparsity, always, .. } = &self.params;
        let rows = self.labels.len();
        if rows < 2 {
            return Ok(None);
        }
        let design = DesignMatrix::columns(rows, *dim, self.columns.concat())?;
        let mut loss = Loss::least_squares(self.labels.clone())?;
        if !self.weights.is_empty() {
            loss = loss.with_weights(&self.weights)?;
        }
        let mut sum =
            FiniteSum::new(design, loss)?.standardized(Standardize::CenterAndScale)?.with_intercept();
        let mut nothing = Predictor::zeros(*dim, 1);
        nothing.intercepts[0] = self.mean_label();
        let of_mean = sum.objective(&nothing)?;
        if of_mean == 0.0 {
            return Ok(None);
        }
        let exchange = self.params.exchange(*dim, None);
        let all = exchange.count(0..*dim as u32);
        let wanted = exchange.count(always.iter().copied()).max(1);
        let most = all.min(rows / 2).min(MOST).max(wanted);
        let [least, most] = sparsity.map_or([wanted, most], |k| [k.min(all); 2]);
        let mut path = SparsityPath::new(least, most);
        while let Some((sparsity, start)) = path.next() {
            // What was checked before is not refused.
            let Ok(mut solver) = self.params.exchange(sparsity, start).build(Shape::of(&sum)) else {
                return Ok(None);
            };
            let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(ROUNDS))?;
            path.take(&mut sum, run.predictor)?;
        }
        let Some(best) = path.best().cloned() else { return Ok(None) };
        let is_chosen = sparsity.is_none() && always.is_empty();
        if is_chosen && criterion(&mut sum, &best)? >= criterion(&mut sum, &nothing)? {
            return Ok(None);
        }
        let stored = sum.to_original_scale(&best)?;
        let mut theta = stored.coefficients[0].clone();
        theta.prune_zeros();
        Ok(Some((theta, stored.intercepts[0])))
    }
}

/// Returns the weighted mean; 0 if there are no numbers.
fn mean(numbers: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for (row, number) in numbers.iter().enumerate() {
        sum += weight(row) * number;
        all += weight(row);
    }
    if all > 0.0 { sum / all } else { 0.0 }
}

impl Validate for FullInformation {
    fn validate(&self) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        self.params.check().map_err(ParamError::damaged)?;
        damaged(self.columns.len() == self.params.dim, "it has another number of columns")?;
        let rows = self.labels.len();
        damaged(self.columns.iter().all(|column| column.len() == rows), "a column has another length")?;
        let weighed = self.weights.is_empty() || self.weights.len() == rows;
        damaged(weighed, "the weights are not those of the examples")?;
        damaged(self.weights.iter().all(|weight| *weight >= 0.0), "a weight is negative")?;
        let all = self.columns.iter().flatten().chain(&self.labels);
        damaged(all.into_iter().all(|x| x.abs() <= LARGEST), "a number is too large")?;
        state::count(NAME, "the number of updates", self.told)
    }
}

impl Learner for FullInformation {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        ask.values(u64::MAX).extend(0..self.params.dim as u32);
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        const ASKED: &str = "values of all attributes";
        let not_asked = |told| LearnError::NotAsked { told, asked: ASKED };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        if !block.attributes().iter().copied().eq(0..self.params.dim as u32) {
            return Err(not_asked("values of other attributes"));
        }
        let columns = (0..self.params.dim).map(|j| (Some(j as u32), block.column(j)));
        for (attribute, numbers) in columns.chain([(None, block.labels())]) {
            for &value in numbers {
                if !value.is_finite() {
                    return Err(LearnError::NotFinite { attribute, value });
                }
                if value.abs() > LARGEST {
                    let attribute = attribute.unwrap_or(0) as usize;
                    return Err(LearnError::Diverged { update: self.told + 1, attribute, value });
                }
            }
        }
        for (j, column) in self.columns.iter_mut().enumerate() {
            column.extend_from_slice(block.column(j));
        }
        if let Some(weights) = block.weights() {
            self.weights.resize(self.labels.len(), 1.0);
            self.weights.extend_from_slice(weights);
        } else if !self.weights.is_empty() {
            self.weights.resize(self.labels.len() + block.rows(), 1.0);
        }
        self.labels.extend_from_slice(block.labels());
        self.told += 1;
        self.solved.take();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.solved().theta.view()
    }

    fn intercept(&self) -> f64 {
        self.solved().intercept
    }

    fn updates(&self) -> u64 {
        self.told
    }
}

impl Inspect for FullInformation {
    fn found(&self) -> bool {
        !self.coefficients().is_empty()
    }

    fn mean(&self, j: u32) -> f64 {
        self.columns.get(j as usize).map_or(0.0, |column| mean(column, |row| self.weight(row)))
    }

    fn range(&self, _: u32) -> RangeInclusive<f64> {
        f64::MIN..=f64::MAX
    }

    fn link(&self) -> Option<[f64; 2]> {
        self.solved().link
    }
}
