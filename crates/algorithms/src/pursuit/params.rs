//! The parameters of Pursuit.

use super::{BLOCKS, FIRST_BLOCK, LONGEST_BLOCK, NAME, NOISE_AFTER_CHANGE, NOISE_MEMORY, Pursuit};
use crate::money::Money;
use crate::params::{ParamError, number, require, require_dim, require_shape};
use crate::state;
use crate::task::Task;
use lao_observation::Basket;
use lao_observation::tariff::pays;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// The longest page.
const LONGEST_PAGE: u64 = 1 << 16;
/// The shortest half-life: a watched attribute reaches more weight than its addition needs.
const SHORTEST_HALF_LIFE: f64 = 20.0;

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
    /// The probability with which any attribute that has nothing to do with the label and the other
    /// attributes is ever added, at most; in (0, 1).
    #[serde(default = "default_level")]
    pub level: f64,
    /// In the place of `level`: the expected share of attributes of that kind among all that are ever added,
    /// at most; in (0, 1). It finds more where many attributes have an effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fdr: Option<f64>,
    /// The largest number of attributes of the predictor. `None` is four fifths of the budget, so that a
    /// fifth is left to look for others, 2 if the budget is 2, and `d` if the budget is `d`.
    #[serde(default)]
    pub longest: Option<usize>,
    /// Attributes that the predictor always has, ascending.
    #[serde(default)]
    pub always: Vec<u32>,
    /// Attributes that are never observed, ascending.
    #[serde(default)]
    pub never: Vec<u32>,
    /// The number of examples after which an example counts half, for coefficients that change; at least 20.
    /// `None` if all examples count the same, which is best where nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// What an example may cost, beside `budget`; `None` if all attributes cost the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The number of examples that are read together, as a page of a file, at most 65,536: the number of
    /// those with the same looks is a multiple of it. `None` if each example is read by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
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
            fdr: None,
            longest: None,
            always: Vec::new(),
            never: Vec::new(),
            half_life: None,
            money: None,
            page: None,
        }
    }

    /// Returns the parameters for attributes that have prices. The budget is the largest number of attributes
    /// that the money may buy; memory is O(d s').
    pub fn within_money(money: Money) -> Self {
        let most = money.tariff.most_attributes(money.per_example);
        PursuitParams { money: Some(money.clone()), ..Self::within(money.tariff.dim(), most) }
    }

    /// Returns the parameters for a task: its sparsity is the largest number of attributes of the predictor;
    /// radius, speed and start are not used.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or the budget does not exceed the sparsity.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check_speed(NAME)?;
        require_shape(NAME, task.dim, task.sparsity, task.budget)?;
        let (longest, money) = (Some(task.sparsity), task.money.clone());
        Ok(PursuitParams { longest, money, ..Self::within(task.dim, task.budget) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Pursuit, ParamError> {
        self.check()?;
        Ok(Pursuit::begin(self))
    }

    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let PursuitParams { dim, budget, level, fdr, longest, always, never, half_life, money, page } = self;
        require_dim(NAME, 1, *dim)?;
        if let Some(money) = money {
            money.check(NAME, *dim)?;
        }
        let allowed = format_args!("from 1 to d = {dim}");
        require((1..=*dim).contains(budget), NAME, "budget", budget, allowed)?;
        let fits = dim.checked_mul(*budget).is_some_and(|pairs| pairs <= 1 << 27);
        require(
            fits,
            NAME,
            "budget",
            budget,
            "at most 2^27/d, since d s' = 2^27 pairs take 2 GiB of memory",
        )?;
        for (field, share) in [Some(("level", *level)), fdr.map(|fdr| ("fdr", fdr))].into_iter().flatten() {
            let inside = share > 0.0 && share < 1.0;
            require(inside, NAME, field, number(share), "a number between 0 and 1, both excluded")?;
        }
        let rows = page.unwrap_or(1);
        let allowed = format_args!("from 1 to {LONGEST_PAGE} examples");
        require((1..=LONGEST_PAGE).contains(&rows), NAME, "page", rows, allowed)?;
        let longest = longest.unwrap_or(1);
        require(longest >= 1, NAME, "longest", longest, "at least 1")?;
        for (field, list) in [("always", always), ("never", never)] {
            let count = list.len();
            let allowed = format_args!("a list of attributes below {dim} in ascending order, each once");
            require(state::is_set(list, *dim), NAME, field, format_args!("{count} attributes"), allowed)?;
        }
        let most = format_args!("fewer than all {dim} attributes");
        require(never.len() < *dim, NAME, "never", format_args!("{} attributes", never.len()), most)?;
        let largest = self.largest_support();
        let most = format_args!("a list of at most {largest} attributes, the longest support");
        let count = always.len();
        require(count <= largest, NAME, "always", format_args!("{count} attributes"), most)?;
        if let Some(examples) = *half_life {
            let least = number(SHORTEST_HALF_LIFE);
            let allowed = format_args!("a finite number of examples, at least {least}");
            let long_enough = examples.is_finite() && examples >= SHORTEST_HALF_LIFE;
            require(long_enough, NAME, "half_life", number(examples), allowed)?;
        }
        let both = always.iter().find(|j| never.binary_search(j).is_ok());
        let both = both.map_or(String::new(), |j| format!("attribute {j}"));
        require(both.is_empty(), NAME, "never", both, "an attribute that is not in `always`")?;
        if let Some(Money { tariff, per_example, per_prediction }) = money {
            let buys = |j: &u32| {
                never.binary_search(j).is_err() && pays(self.most_per_prediction(), tariff.price(*j))
            };
            let field = if per_prediction.is_some() { "per_prediction" } else { "per_example" };
            let value = number(per_prediction.unwrap_or(*per_example));
            let allowed = "money that buys an attribute which is not in `never`";
            require((0..*dim as u32).any(|j| buys(&j)), NAME, field, value, allowed)?;
            let (cost, limit) = (tariff.cost(always, &mut Basket::default()), self.most_per_prediction());
            let most = number(limit);
            let allowed = format_args!("a list of attributes that cost at most {most}, like every support");
            require(pays(limit, cost), NAME, "always", format_args!("a cost of {cost}"), allowed)?;
        }
        Ok(())
    }

    /// Returns the number of examples in the block that follows `examples` examples: a part of them, so that
    /// there are few updates, and at most a tenth of the half-life; and whole pages.
    pub(super) fn block_size(&self, examples: u64) -> u64 {
        let within = self.half_life.map_or(LONGEST_BLOCK, |half_life| (half_life / 10.0) as u64);
        let page = self.page.unwrap_or(1);
        let block = (examples / BLOCKS).min(within).clamp(FIRST_BLOCK, LONGEST_BLOCK);
        // Of a long block the last page may be missing; a short one is a page at least.
        if page > 1 { (block / page).max(1) * page } else { block }
    }

    /// Returns the sum of the weights of infinitely many examples.
    pub(super) fn memory(&self) -> f64 {
        self.half_life.map_or(f64::INFINITY, |half_life| half_life / LN_2)
    }

    /// Returns the number of examples that the variance of the errors rests on, at most.
    pub(super) fn noise_memory(&self) -> f64 {
        self.half_life.map_or(NOISE_MEMORY, |_| NOISE_AFTER_CHANGE.min(self.memory()))
    }

    /// Returns the largest number of attributes that leaves some of the budget to look for others.
    fn most_of_budget(&self) -> usize {
        let reserve = match self.budget {
            // A model of one attribute is not what a budget of two is for.
            2 => 0,
            budget if budget < self.dim => (budget / 5).max(1),
            _ => 0,
        };
        (self.budget - reserve.min(self.budget)).max(1)
    }

    /// Returns the largest number of attributes of the predictor: `longest`, or what follows from the budget.
    pub fn largest_support(&self) -> usize {
        self.longest.map_or(self.most_of_budget(), |longest| longest.min(self.most_of_budget()))
    }

    /// Returns the money that the attributes of the predictor may cost: the same share of the money for an
    /// example as that of the budget, so that some is left to look for others; but at least the lowest price,
    /// and at most what the parameters say. An attribute that costs more is never observed. It is infinite if
    /// attributes have no prices.
    pub fn most_per_prediction(&self) -> f64 {
        let Some(Money { tariff, per_example, per_prediction }) = &self.money else { return f64::INFINITY };
        let share = per_example * (self.most_of_budget() as f64 / self.budget.max(1) as f64);
        let observed = (0..tariff.dim() as u32).filter(|j| self.never.binary_search(j).is_err());
        let prices = observed.map(|j| tariff.price(j)).filter(|&price| price > 0.0);
        let least = prices.fold(*per_example, f64::min);
        per_prediction.unwrap_or(f64::INFINITY).min(share.max(least))
    }
}
