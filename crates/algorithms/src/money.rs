//! A budget in money, for the methods that know prices.

use crate::params::{ParamError, number, require};
use lao_observation::{Basket, Tariff};
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

    /// Returns the largest sparsity whose supports can all be paid: any support together with any other
    /// attribute by the money for an example, and any support by that for a prediction. It is 0 if there is
    /// no such sparsity.
    ///
    /// ```
    /// use lao_algorithms::Money;
    /// use lao_observation::Tariff;
    ///
    /// let tariff = Tariff::with_panels(vec![0, 0, 1, 2, 3], vec![8.0, 40.0, 1.0, 1.0])?;
    /// // The most expensive panels cost 40, 48, 49 and 50 together.
    /// assert_eq!(Money::new(tariff.clone(), 49.0).largest_sparsity(), 2);
    /// assert_eq!(Money::new(tariff, 50.0).largest_sparsity(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn largest_sparsity(&self) -> usize {
        let example = self.most_panels(self.per_example).map_or(usize::MAX, |most| most.saturating_sub(1));
        let prediction = self.per_prediction.and_then(|money| self.most_panels(money));
        example.min(prediction.unwrap_or(usize::MAX)).min(self.tariff.dim().saturating_sub(1))
    }

    /// Returns how many of the most expensive panels `money` pays together; `None` if all of them.
    fn most_panels(&self, money: f64) -> Option<usize> {
        let mut basket = Basket::default();
        let buys = |&panel: &u32| {
            self.tariff.members(panel).first().is_none_or(|&j| basket.buy(&self.tariff, j, money))
        };
        let panels = self.panels();
        Some(panels.iter().copied().take_while(buys).count()).filter(|&most| most < panels.len())
    }

    /// Returns the panels by price, the highest first, and among equal prices by their first attribute. The
    /// first so many cost as much as so many ever do.
    pub(crate) fn panels(&self) -> Vec<u32> {
        let tariff = &self.tariff;
        let mut panels: Vec<u32> = tariff.panels().collect();
        panels.sort_by_key(|&panel| tariff.members(panel).first().copied());
        panels.sort_by(|&a, &b| tariff.prices()[b as usize].total_cmp(&tariff.prices()[a as usize]));
        // Of the panels that share a fee, it is paid with the most expensive one.
        let mut paid = vec![false; tariff.prices().len()];
        let cost = |&panel: &u32| {
            let first =
                tariff.fee(panel).is_some_and(|fee| !std::mem::replace(&mut paid[fee as usize], true));
            if first { tariff.price_alone(panel) } else { tariff.prices()[panel as usize] }
        };
        let costs: Vec<f64> = panels.iter().map(cost).collect();
        let mut both: Vec<(u32, f64)> = panels.into_iter().zip(costs).collect();
        both.sort_by(|a, b| b.1.total_cmp(&a.1));
        both.into_iter().map(|(panel, _)| panel).collect()
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
        let least = tariff.panels().map(|panel| tariff.price_alone(panel)).fold(f64::INFINITY, f64::min);
        let allowed = format_args!("a finite number of at least {least}, the lowest price").to_string();
        for (field, money) in [("per_example", Some(*per_example)), ("per_prediction", *per_prediction)] {
            let Some(money) = money else { continue };
            let buys = money.is_finite() && tariff.most_attributes(money) >= 1;
            require(buys, method, field, number(money), &allowed)?;
        }
        Ok(())
    }

    /// Refuses what [`check`](Self::check) refuses, and a sparsity with supports that the money does not pay.
    pub(crate) fn check_supports(
        &self,
        method: &'static str,
        dim: usize,
        sparsity: usize,
    ) -> Result<(), ParamError> {
        self.check(method, dim)?;
        let most = self.largest_sparsity();
        // The check of the sizes refuses a sparsity that is no number below d.
        if sparsity <= most || sparsity >= dim {
            return Ok(());
        }
        let per_example = self.most_panels(self.per_example).is_some_and(|panels| panels <= sparsity);
        let (of, count, money) = match self.per_prediction {
            Some(money) if !per_example => ("a prediction", sparsity, money),
            _ => ("an example", sparsity.saturating_add(1), self.per_example),
        };
        let panels = self.panels();
        let count = count.min(panels.len());
        let firsts: Vec<u32> = panels
            .iter()
            .take(count)
            .filter_map(|&panel| self.tariff.members(panel).first())
            .copied()
            .collect();
        let cost = self.tariff.cost(&firsts, &mut Basket::default());
        let highest = panels.first();
        let attribute = highest.and_then(|&panel| self.tariff.members(panel).first()).unwrap_or(&0);
        let allowed = format_args!(
            "{}, since {count} attributes may cost {}, but {of} only {}; give more money, or leave out \
             attribute {attribute} (price {})",
            if most > 0 { format!("at most {most}") } else { "one that can be paid, and none can".into() },
            number(cost),
            number(money),
            number(highest.map_or(0.0, |&panel| self.tariff.price_alone(panel))),
        );
        require(false, method, "sparsity", sparsity, allowed)
    }
}
