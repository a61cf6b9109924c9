//! A budget in money, for the methods that know prices.

use crate::params::{ParamError, number, require};
use lao_observation::Tariff;
use serde::{Deserialize, Serialize};

/// What one example may cost, and the prices.
///
/// ```
/// use lao_algorithms::{Money, pursuit::PursuitParams};
/// use lao_observation::Tariff;
///
/// // Two values of one blood sample for 8, a scan for 40, two questions for 1 each; 50 per patient.
/// let tariff = Tariff::with_panels(vec![0, 0, 1, 2, 3], vec![8.0, 40.0, 1.0, 1.0])?;
/// let params = PursuitParams::within_money(Money::new(tariff, 50.0));
/// assert_eq!(params.budget, 5);
/// assert!(params.build().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Money {
    /// The price of each attribute, and its panel.
    pub tariff: Tariff,
    /// The money for one example, in the unit of the prices.
    pub per_example: f64,
    /// The money for one prediction, at most; with `None` the method decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_prediction: Option<f64>,
}

impl Money {
    /// Returns the budget of `per_example` for an example; the method decides what a prediction may cost.
    pub fn new(tariff: Tariff, per_example: f64) -> Self {
        Money { tariff, per_example, per_prediction: None }
    }

    /// Returns what an effect counts per money: its square is what it explains. What is free counts as if it
    /// cost a part in 10^12 of the money for an example.
    pub(crate) fn per_money(&self, effect: f64, price: f64) -> f64 {
        effect / price.max(1e-12 * self.per_example).sqrt()
    }

    /// Refuses money that is no number or buys nothing, and prices of another number of attributes.
    pub(crate) fn check(&self, method: &'static str, dim: usize) -> Result<(), ParamError> {
        let Money { tariff, per_example, per_prediction } = self;
        let allowed = format_args!("a tariff of d = {dim} attributes");
        require(tariff.dim() == dim, method, "tariff", format_args!("{} prices", tariff.dim()), allowed)?;
        let least = tariff.prices().iter().copied().fold(f64::INFINITY, f64::min);
        let allowed = format_args!("a finite number of at least {least}, the lowest price").to_string();
        for (field, money) in [("per_example", Some(*per_example)), ("per_prediction", *per_prediction)] {
            let Some(money) = money else { continue };
            let buys = money.is_finite() && tariff.most_attributes(money) >= 1;
            require(buys, method, field, number(money), &allowed)?;
        }
        Ok(())
    }
}
