//! The prices of attributes: a price for each panel of attributes that are bought together.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The part by which a sum of prices may exceed a limit, since sums are rounded: three times 0.1 is more than
/// 0.3.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Returns whether `money` pays `cost`, up to rounding (a part in 10^9).
pub fn pays(money: f64, cost: f64) -> bool {
    cost <= money * (1.0 + ROUNDING)
}

/// The prices of attributes. Each attribute belongs to a panel; a panel is paid once per example, and then
/// all its attributes may be observed. A panel of price 0 is free.
///
/// Prices are numbers of at least 0, in any unit of money.
///
/// ```
/// use lao_observation::{Basket, Tariff};
///
/// // Age is free, one blood sample of 8 gives two values, a scan costs 40.
/// let tariff = Tariff::with_panels(vec![0, 1, 1, 2], vec![0.0, 8.0, 40.0])?;
/// let mut basket = Basket::default();
/// assert_eq!(tariff.cost(&[0, 1, 2], &mut basket), 8.0);
/// assert_eq!(tariff.cost(&[2, 3], &mut basket), 48.0);
/// assert_eq!(tariff.most_attributes(10.0), 3);
///
/// let refused = Tariff::new(vec![1.0, -2.0]).unwrap_err();
/// assert!(refused.to_string().starts_with("the price of panel 1 is -2"));
/// # Ok::<(), lao_observation::TariffError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Tariff {
    /// The panel of each attribute.
    panels: Vec<u32>,
    /// The price of each panel.
    prices: Vec<f64>,
    /// The attributes of one panel after the other, each panel's ascending.
    members: Vec<u32>,
    /// Where each panel begins in `members`, and the end.
    starts: Vec<u32>,
}

/// A tariff before it is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    panels: Vec<u32>,
    prices: Vec<f64>,
}

impl TryFrom<Stored> for Tariff {
    type Error = TariffError;
    fn try_from(stored: Stored) -> Result<Self, TariffError> {
        Tariff::with_panels(stored.panels, stored.prices)
    }
}

impl From<Tariff> for Stored {
    fn from(tariff: Tariff) -> Stored {
        Stored { panels: tariff.panels, prices: tariff.prices }
    }
}

impl Tariff {
    /// Returns the tariff in which each attribute is a panel of its own, with these prices.
    ///
    /// # Errors
    /// Fails when a price is negative or not finite.
    pub fn new(prices: Vec<f64>) -> Result<Self, TariffError> {
        Self::with_panels((0..).take(prices.len()).collect(), prices)
    }

    /// Returns the tariff in which each of `dim` attributes costs `price`.
    ///
    /// # Errors
    /// Fails when the price is negative or not finite.
    pub fn uniform(dim: usize, price: f64) -> Result<Self, TariffError> {
        Self::new(vec![price; dim])
    }

    /// Returns the tariff with the panel of each attribute and the price of each panel.
    ///
    /// # Errors
    /// Fails when a price is negative or not finite, a panel has no price, or a price belongs to no
    /// attribute.
    pub fn with_panels(panels: Vec<u32>, mut prices: Vec<f64>) -> Result<Self, TariffError> {
        for (panel, price) in prices.iter_mut().enumerate() {
            if !(*price >= 0.0 && price.is_finite()) {
                return Err(TariffError::Price { panel, price: *price });
            }
            *price = price.abs(); // no negative zero
        }
        let mut starts = vec![0u32; prices.len() + 1];
        for (attribute, &panel) in panels.iter().enumerate() {
            let Some(count) = starts.get_mut(panel as usize + 1).filter(|_| panel < u32::MAX) else {
                return Err(TariffError::Panel { attribute, panel, panels: prices.len() });
            };
            *count += 1;
        }
        if let Some(panel) = starts[1..].iter().position(|&count| count == 0) {
            return Err(TariffError::Empty { panel });
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut members) = (starts.clone(), vec![0; panels.len()]);
        for (attribute, &panel) in (0..).zip(&panels) {
            members[next[panel as usize] as usize] = attribute;
            next[panel as usize] += 1;
        }
        Ok(Tariff { panels, prices, members, starts })
    }

    /// Returns `d`, the number of attributes.
    pub fn dim(&self) -> usize {
        self.panels.len()
    }

    /// Returns the price of each panel.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Returns the panel of attribute `j`; `None` if there is no such attribute.
    pub fn panel(&self, j: u32) -> Option<u32> {
        self.panels.get(j as usize).copied()
    }

    /// Returns what attribute `j` costs, if it alone of its panel is wanted; infinity if there is no such
    /// attribute.
    pub fn price(&self, j: u32) -> f64 {
        self.panel(j).map_or(f64::INFINITY, |panel| self.prices[panel as usize])
    }

    /// Returns the attributes of a panel, ascending; none if there is no such panel.
    pub fn members(&self, panel: u32) -> &[u32] {
        let at = panel as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.members[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Returns the price of every attribute if each is a panel of its own and all prices are equal.
    pub fn unit(&self) -> Option<f64> {
        let first = *self.prices.first()?;
        let uniform = self.prices.len() == self.dim() && self.prices.iter().all(|&price| price == first);
        uniform.then_some(first)
    }

    /// Returns what it costs to observe these attributes of one example; one that is named twice is paid
    /// once. It takes time in proportion to the list.
    pub fn cost(&self, attributes: &[u32], basket: &mut Basket) -> f64 {
        basket.empty();
        attributes.iter().for_each(|&j| basket.add(self, j));
        basket.cost
    }

    /// Returns a bound on the number of attributes that the money buys of one example. If all prices are
    /// equal, the bound is attained.
    pub fn most_attributes(&self, per_example: f64) -> usize {
        let size = |panel: u32| self.members(panel).len() as f64;
        let price = |panel: u32| self.prices[panel as usize];
        let mut panels: Vec<u32> = (0..self.prices.len() as u32).collect();
        panels.retain(|&panel| pays(per_example, price(panel)));
        panels.sort_by(|&a, &b| (price(a) / size(a)).total_cmp(&(price(b) / size(b))));
        // Take the cheapest attributes first, and a part of the first panel that can no longer be paid.
        let (mut left, mut most) = (per_example * (1.0 + ROUNDING), 0.0);
        for panel in panels {
            if price(panel) > left {
                most += size(panel) * left / price(panel);
                break;
            }
            (left, most) = (left - price(panel), most + size(panel));
        }
        (most as usize).min(self.dim())
    }
}

/// The panels bought of one example. It can be emptied and used again, so that buying allocates nothing after
/// warm-up; it belongs to one tariff.
///
/// ```
/// use lao_observation::{Basket, Tariff};
///
/// let tariff = Tariff::with_panels(vec![0, 0, 1, 2], vec![3.0, 4.0, 2.0])?;
/// let mut basket = Basket::default();
/// assert!(basket.buy(&tariff, 0, 5.0) && basket.buy(&tariff, 1, 5.0)); // of the same panel
/// assert!(!basket.buy(&tariff, 2, 5.0), "the money does not suffice");
/// assert!(basket.buy(&tariff, 3, 5.0));
/// assert_eq!((basket.cost(), basket.panels()), (5.0, &[0, 2][..]));
/// # Ok::<(), lao_observation::TariffError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Basket {
    has: Vec<bool>,
    panels: Vec<u32>,
    cost: f64,
}

impl Basket {
    /// Removes all panels.
    pub fn empty(&mut self) {
        for panel in self.panels.drain(..) {
            self.has[panel as usize] = false;
        }
        self.cost = 0.0;
    }

    /// Returns the sum of the prices of the panels.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Returns the panels, in the order in which they were bought.
    pub fn panels(&self) -> &[u32] {
        &self.panels
    }

    /// Returns what attribute `j` would cost in addition: 0 if its panel is bought.
    pub fn more(&self, tariff: &Tariff, j: u32) -> f64 {
        let has = tariff.panel(j).and_then(|panel| self.has.get(panel as usize)) == Some(&true);
        if has { 0.0 } else { tariff.price(j) }
    }

    /// Buys the panel of attribute `j`, unless it is bought, whatever it costs. There must be such an
    /// attribute; otherwise nothing happens.
    pub fn add(&mut self, tariff: &Tariff, j: u32) {
        let Some(panel) = tariff.panel(j) else { return };
        self.has.resize(tariff.prices.len(), false);
        if !std::mem::replace(&mut self.has[panel as usize], true) {
            self.panels.push(panel);
            self.cost += tariff.prices[panel as usize];
        }
    }

    /// Buys the panel of attribute `j` if all panels together then cost at most `money`, and returns whether
    /// it is bought. What is bought in this way is never refused by a session with this money, although the
    /// session adds the prices in another order.
    pub fn buy(&mut self, tariff: &Tariff, j: u32, money: f64) -> bool {
        let more = self.more(tariff, j);
        // This is half of the rounding error that the session allows.
        let pays = more == 0.0 || self.cost + more <= money * (1.0 + ROUNDING / 2.0);
        if pays {
            self.add(tariff, j);
        }
        pays
    }
}

/// The reason why prices are refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TariffError {
    /// A price is negative or not finite.
    #[error("the price of panel {panel} is {price}: a price is a finite number of at least 0")]
    Price {
        /// The panel; without panels, the attribute.
        panel: usize,
        /// Its price.
        price: f64,
    },
    /// An attribute belongs to a panel that has no price.
    #[error("attribute {attribute} belongs to panel {panel}, but there are prices of {panels} panels only")]
    Panel {
        /// The attribute.
        attribute: usize,
        /// Its panel, counted from 0.
        panel: u32,
        /// The number of prices.
        panels: usize,
    },
    /// A panel has no attribute.
    #[error("panel {panel} has a price and no attribute; leave it out, and number the others without gaps")]
    Empty {
        /// The panel.
        panel: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_no_tariff_is_refused() {
        for (panels, prices, part) in [
            (vec![0, 1], vec![1.0, f64::NAN], "panel 1 is NaN"),
            (vec![0], vec![f64::INFINITY], "panel 0 is inf"),
            (vec![0, 2], vec![1.0, 1.0], "attribute 1 belongs to panel 2"),
            (vec![u32::MAX], vec![1.0], "attribute 0 belongs to panel 4294967295"),
            (vec![0, 0], vec![1.0, 2.0], "panel 1 has a price and no attribute"),
        ] {
            let error = Tariff::with_panels(panels, prices).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let read = serde_json::from_str::<Tariff>(r#"{"panels":[0,1],"prices":[1,-1]}"#);
        assert!(read.unwrap_err().to_string().contains("panel 1 is -1"));
    }

    #[test]
    fn three_times_a_tenth_is_three_tenths() {
        let tariff = Tariff::uniform(5, 0.1).unwrap();
        assert_eq!((tariff.most_attributes(0.3), tariff.unit()), (3, Some(0.1)));
        let mut basket = Basket::default();
        assert!((0..3).all(|j| basket.buy(&tariff, j, 0.3)) && !basket.buy(&tariff, 3, 0.3));
        assert!(basket.cost() > 0.3 && pays(0.3, basket.cost()));
    }

    fn tariffs() -> impl Strategy<Value = Tariff> {
        let price = prop_oneof![Just(0.0), Just(1.0), 0.0..20.0f64];
        proptest::collection::vec((0u32..8, price), 1..20).prop_map(|attributes| {
            let used: BTreeSet<u32> = attributes.iter().map(|(panel, _)| *panel).collect();
            let panel = |of: u32| used.iter().position(|&panel| panel == of).unwrap_or(0) as u32;
            let prices = (0..used.len()).map(|panel| attributes[panel].1).collect();
            Tariff::with_panels(attributes.iter().map(|(of, _)| panel(*of)).collect(), prices).unwrap()
        })
    }

    proptest! {
        #[test]
        fn the_cost_is_that_of_a_set_of_panels(
            tariff in tariffs(),
            lists in proptest::collection::vec(proptest::collection::vec(0u32..20, 0..30), 1..5),
        ) {
            let mut basket = Basket::default();
            for list in lists {
                let list: Vec<u32> = list.into_iter().map(|j| j % tariff.dim() as u32).collect();
                let panels: BTreeSet<u32> = list.iter().filter_map(|&j| tariff.panel(j)).collect();
                let cost: f64 = panels.iter().map(|&panel| tariff.prices()[panel as usize]).sum();
                prop_assert!((tariff.cost(&list, &mut basket) - cost).abs() < 1e-9);
                prop_assert!(list.iter().all(|&j| basket.more(&tariff, j) == 0.0));
            }
        }

        #[test]
        fn what_is_bought_is_paid_and_below_the_largest_number(
            tariff in tariffs(), money in 0.0..60.0f64, order in proptest::collection::vec(0u32..20, 0..40),
        ) {
            let mut basket = Basket::default();
            let mut bought = BTreeSet::new();
            for j in order.into_iter().map(|j| j % tariff.dim() as u32) {
                if basket.buy(&tariff, j, money) {
                    bought.extend(tariff.members(tariff.panel(j).unwrap()));
                }
            }
            let list: Vec<u32> = bought.into_iter().collect();
            prop_assert!(pays(money, tariff.cost(&list, &mut basket)));
            prop_assert!(list.len() <= tariff.most_attributes(money));
            let text = serde_json::to_string(&tariff).unwrap();
            prop_assert_eq!(serde_json::from_str::<Tariff>(&text).unwrap(), tariff);
        }
    }
}
