//! What a user knows before the first example.

use crate::money::Money;
use crate::params::{ParamError, number, require};
use lao_kernels::SparseVector;
use serde::{Deserialize, Serialize};

/// What a user knows before the first example: enough for the practical parameters of every method.
///
/// The three sizes have no default that works and must be given; the other fields have defaults. A method
/// uses the fields that it needs and ignores the rest.
///
/// ```
/// use lao_algorithms::{Task, murata_suzuki::HybridParams};
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let learner = HybridParams::practical(&task)?.build()?;
///
/// let refused = HybridParams::practical(&Task { speed: -1.0, ..task }).unwrap_err();
/// assert!(refused.to_string().starts_with("Hybrid: speed = -1 is not allowed"));
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// `d`, the number of attributes of an example.
    pub dim: usize,
    /// The number of non-zeros that the predictor may have.
    pub sparsity: usize,
    /// The number of attributes that may be observed per example.
    pub budget: usize,
    /// Upper bound on the norm of the predictors, in units of label per unit of attribute; the method decides
    /// whether it is the l1 or the l2 norm. `None` stands for the sparsity, in the same units.
    pub radius: Option<f64>,
    /// The number of examples that the step sizes of the methods with a fixed horizon are tuned for; 100,000
    /// by default.
    pub examples: u64,
    /// Factor of the method's own step size, a number from 1e-300 to 1e300. The default, 1, is meant for
    /// standardized, weakly correlated attributes; correlated ones need less, and a
    /// [safeguard](crate::safeguard) finds how much less.
    pub speed: f64,
    /// The first iterate. Without one, methods start at zero; Exploitation then refines the first `sparsity`
    /// attributes.
    pub start: Option<SparseVector>,
    /// The prices and what an example may cost, beside `budget`; `None` if all attributes cost the same.
    /// Methods that count attributes refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

impl Default for Task {
    fn default() -> Self {
        let (examples, speed) = (100_000, 1.0);
        Task { dim: 0, sparsity: 0, budget: 0, radius: None, examples, speed, start: None, money: None }
    }
}

impl Task {
    /// Returns the task of learning within money: as many attributes as it may buy, and a predictor of half
    /// as many, or as many as can be paid whichever they are (but of at least one).
    ///
    /// ```
    /// use lao_algorithms::{Money, Task, registry::method};
    /// use lao_observation::{Learner, Tariff};
    ///
    /// // Forty attributes of price 1, and a panel of ten that costs 5; an example may cost 9.
    /// let panels = (0..50).map(|j| j.min(40)).collect();
    /// let prices = [vec![1.0; 40], vec![5.0]].concat();
    /// let money = Money::new(Tariff::with_panels(panels, prices)?, 9.0);
    /// let task = Task::within_money(money);
    /// assert_eq!((task.budget, task.sparsity), (14, 4));
    /// // The panel is a block, and the other attributes come in five blocks of at most nine.
    /// let learner = method("exploration").unwrap().build(&task)?;
    /// assert_eq!(learner.examples_to_next_update(), Some(6 * 40));
    ///
    /// let refused = method("uniform").unwrap().build(&task).unwrap_err();
    /// assert_eq!(refused.field, "money");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within_money(money: Money) -> Task {
        let (dim, budget) = (money.tariff.dim(), money.tariff.most_attributes(money.per_example));
        let sparsity = budget.div_ceil(2).min(money.largest_sparsity()).max(1);
        Task { dim, sparsity, budget, money: Some(money), ..Task::default() }
    }

    /// Returns whether a number of attributes says all that the money does: there is none, or it pays any
    /// `budget` attributes since all prices are equal.
    pub(crate) fn counts(&self) -> bool {
        self.money.as_ref().is_none_or(|Money { tariff, per_example, .. }| {
            tariff.unit().is_some() && self.budget <= tariff.most_attributes(*per_example)
        })
    }

    /// Returns the bound on the norm of the predictors.
    pub fn radius(&self) -> f64 {
        self.radius.unwrap_or(self.sparsity as f64)
    }

    /// Refuses a speed that no method can take, and money, for a method that counts attributes. The other
    /// fields are checked with the parameters that they become.
    pub(crate) fn check(&self, method: &'static str) -> Result<(), ParamError> {
        self.check_speed(method)?;
        let Some(money) = &self.money else { return Ok(()) };
        let allowed = "absent, since the method counts attributes; where prices differ, choose one that \
                       takes money, such as pursuit";
        let dim = money.tariff.dim();
        let value = format_args!("a tariff of {dim} attributes");
        require(false, method, "money", value, allowed)
    }

    /// Refuses a speed that no method can take: the check of a method that knows prices.
    pub(crate) fn check_speed(&self, method: &'static str) -> Result<(), ParamError> {
        let allowed = "a number from 1e-300 to 1e300; 1 is the method's own choice";
        require((1e-300..=1e300).contains(&self.speed), method, "speed", number(self.speed), allowed)
    }

    /// Returns the step size of the methods whose own choice is 1/4.
    pub(crate) fn step_size(&self) -> f64 {
        0.25 * self.speed
    }
}
