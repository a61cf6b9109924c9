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
/// all its attributes may be observed. A panel of price 0 is free. Several panels may share a fee, which is
/// paid once per example beside the first of them: a blood sample is taken once, and each test of it costs
/// more.
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
    /// The price of each panel, and of each fee.
    prices: Vec<f64>,
    /// The fee of each panel, by its place among the prices, `NONE` for one that has none; empty if there are
    /// no fees.
    fees: Vec<u32>,
    /// The attributes of one panel or fee after the other, each panel's ascending.
    members: Vec<u32>,
    /// Where each panel begins in `members`, and the end.
    starts: Vec<u32>,
}

/// Stands for no fee.
const NONE: u32 = u32::MAX;

/// A tariff before it is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    panels: Vec<u32>,
    prices: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fees: Vec<u32>,
}

impl TryFrom<Stored> for Tariff {
    type Error = TariffError;
    fn try_from(stored: Stored) -> Result<Self, TariffError> {
        Tariff::build(stored.panels, stored.prices, stored.fees)
    }
}

impl From<Tariff> for Stored {
    fn from(tariff: Tariff) -> Stored {
        Stored { panels: tariff.panels, prices: tariff.prices, fees: tariff.fees }
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
    pub fn with_panels(panels: Vec<u32>, prices: Vec<f64>) -> Result<Self, TariffError> {
        Self::build(panels, prices, Vec::new())
    }

    /// Returns the same tariff with a further price for each of `fees`, which is paid with the first of the
    /// panels that it lists.
    ///
    /// ```
    /// use lao_observation::{Basket, Tariff};
    ///
    /// // Three tests of 2 each, of a blood sample of 6, and a scan.
    /// let tests = Tariff::new(vec![2.0, 2.0, 2.0, 40.0])?;
    /// let tariff = tests.with_fees(&[(6.0, vec![0, 1, 2])])?;
    /// let mut basket = Basket::default();
    /// assert_eq!((tariff.price(0), tariff.cost(&[0, 1], &mut basket)), (8.0, 10.0));
    /// assert_eq!((basket.more(&tariff, 2), basket.panels()), (2.0, &[0, 4, 1][..]));
    /// # Ok::<(), lao_observation::TariffError>(())
    /// ```
    ///
    /// # Errors
    /// Fails when a fee is negative or not finite, lists no panel or one that does not exist, or a panel has
    /// two fees.
    pub fn with_fees(self, fees: &[(f64, Vec<u32>)]) -> Result<Self, TariffError> {
        let Tariff { panels, mut prices, fees: mut of_panels, .. } = self;
        let count = prices.len();
        of_panels.resize(count, NONE);
        for (fee, of) in fees {
            for &panel in of {
                let free = of_panels.get_mut(panel as usize).filter(|fee| **fee == NONE);
                *free.ok_or(TariffError::Fee { panel })? = prices.len() as u32;
            }
            prices.push(*fee);
        }
        of_panels.resize(prices.len(), NONE);
        Self::build(panels, prices, of_panels)
    }

    fn build(panels: Vec<u32>, mut prices: Vec<f64>, fees: Vec<u32>) -> Result<Self, TariffError> {
        // A fee has no fee, and no attribute of its own.
        for (panel, &fee) in (0..).zip(&fees) {
            let is_fee = fees.get(fee as usize) == Some(&NONE) && !panels.contains(&fee);
            if fees.len() != prices.len() || (fee != NONE && !is_fee) {
                return Err(TariffError::Fee { panel });
            }
        }
        for (panel, price) in prices.iter_mut().enumerate() {
            if !(*price >= 0.0 && price.is_finite()) {
                return Err(TariffError::Price { panel, price: *price });
            }
            *price = price.abs(); // no negative zero
        }
        let mut starts = vec![0u32; prices.len() + 1];
        let fee = |panel: u32| fees.get(panel as usize).copied().filter(|fee| *fee != NONE);
        for (attribute, &panel) in panels.iter().enumerate() {
            let Some(count) = starts.get_mut(panel as usize + 1).filter(|_| panel < u32::MAX) else {
                return Err(TariffError::Panel { attribute, panel, panels: prices.len() });
            };
            *count += 1;
            if let Some(fee) = fee(panel) {
                starts[fee as usize + 1] += 1;
            }
        }
        if let Some(panel) = starts[1..].iter().position(|&count| count == 0) {
            return Err(TariffError::Empty { panel });
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let all = starts.last().copied().unwrap_or(0) as usize;
        let (mut next, mut members) = (starts.clone(), vec![0; all]);
        for (attribute, &panel) in (0..).zip(&panels) {
            for of in [Some(panel), fee(panel)].into_iter().flatten() {
                members[next[of as usize] as usize] = attribute;
                next[of as usize] += 1;
            }
        }
        Ok(Tariff { panels, prices, fees, members, starts })
    }

    /// Returns `d`, the number of attributes.
    pub fn dim(&self) -> usize {
        self.panels.len()
    }

    /// Returns the price of each panel, and of each fee.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Returns the panel of attribute `j`; `None` if there is no such attribute.
    pub fn panel(&self, j: u32) -> Option<u32> {
        self.panels.get(j as usize).copied()
    }

    /// Returns the fee of a panel, by its place among the prices.
    pub fn fee(&self, panel: u32) -> Option<u32> {
        self.fees.get(panel as usize).copied().filter(|fee| *fee != NONE)
    }

    /// Returns the panels: the places among the prices that are no fees.
    pub fn panels(&self) -> impl Iterator<Item = u32> + '_ {
        let is_fee = |panel: &u32| {
            let first = self.members(*panel).first();
            first.and_then(|&j| self.panel(j)) != Some(*panel)
        };
        (0..self.prices.len() as u32).filter(move |panel| self.fees.is_empty() || !is_fee(panel))
    }

    /// Returns what attribute `j` costs, if it alone of its panel is wanted, with its fee; infinity if there
    /// is no such attribute.
    pub fn price(&self, j: u32) -> f64 {
        self.panel(j).map_or(f64::INFINITY, |panel| self.price_alone(panel))
    }

    /// Returns the price of a panel with its fee.
    pub fn price_alone(&self, panel: u32) -> f64 {
        let price = self.prices[panel as usize];
        self.fee(panel).map_or(price, |fee| price + self.prices[fee as usize])
    }

    /// Returns what attribute `j` costs in addition to these.
    pub fn price_beside(&self, j: u32, others: impl Iterator<Item = u32> + Clone) -> f64 {
        let Some(panel) = self.panel(j) else { return f64::INFINITY };
        let mut panels = others.filter(|k| *k != j).filter_map(|k| self.panel(k));
        if panels.clone().any(|other| other == panel) {
            return 0.0;
        }
        let fee = self.fee(panel);
        let is_paid = fee.is_some() && panels.any(|other| self.fee(other) == fee);
        if is_paid { self.prices[panel as usize] } else { self.price_alone(panel) }
    }

    /// Returns the attributes of a panel, or of all panels that share a fee, ascending; none if there is no
    /// such panel.
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
    /// equal, and there are no fees, the bound is attained.
    pub fn most_attributes(&self, per_example: f64) -> usize {
        let size = |panel: u32| self.members(panel).len() as f64;
        let price = |panel: u32| self.prices[panel as usize];
        let mut panels: Vec<u32> = self.panels().collect();
        panels.retain(|&panel| pays(per_example, self.price_alone(panel)));
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

    /// Returns the panels, in the order in which they were bought, and the fees, each after the panel with
    /// which it was paid.
    pub fn panels(&self) -> &[u32] {
        &self.panels
    }

    /// Returns what attribute `j` would cost in addition: 0 if its panel is bought, and no fee that is paid.
    pub fn more(&self, tariff: &Tariff, j: u32) -> f64 {
        let Some(panel) = tariff.panel(j) else { return f64::INFINITY };
        match tariff.fee(panel) {
            _ if self.has(panel) => 0.0,
            Some(fee) if self.has(fee) => tariff.prices[panel as usize],
            _ => tariff.price_alone(panel),
        }
    }

    /// Returns whether a panel is bought, or a fee paid.
    pub fn has(&self, panel: u32) -> bool {
        self.has.get(panel as usize) == Some(&true)
    }

    /// Buys the panel of attribute `j`, unless it is bought, whatever it costs. There must be such an
    /// attribute; otherwise nothing happens.
    pub fn add(&mut self, tariff: &Tariff, j: u32) {
        let Some(panel) = tariff.panel(j) else { return };
        self.has.resize(tariff.prices.len(), false);
        for of in [Some(panel), tariff.fee(panel)].into_iter().flatten() {
            if !std::mem::replace(&mut self.has[of as usize], true) {
                self.panels.push(of);
                self.cost += tariff.prices[of as usize];
            }
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
    /// A panel has two fees, or one that does not exist.
    #[error("panel {panel} has a fee that is none; give each panel one fee at most")]
    Fee {
        /// The panel.
        panel: u32,
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

    /// Tariffs in which every second panel, or every third, shares a fee, or none does.
    fn tariffs_with_fees() -> impl Strategy<Value = Tariff> {
        (tariffs(), 0u32..4, 0.0..9.0f64).prop_map(|(tariff, every, fee)| {
            let panels: Vec<u32> = tariff.panels().filter(|panel| every > 0 && panel % every == 0).collect();
            if panels.is_empty() { tariff } else { tariff.with_fees(&[(fee, panels)]).unwrap() }
        })
    }

    proptest! {
        #[test]
        fn the_cost_is_that_of_a_set_of_panels(
            tariff in tariffs_with_fees(),
            lists in proptest::collection::vec(proptest::collection::vec(0u32..20, 0..30), 1..5),
        ) {
            let mut basket = Basket::default();
            for list in lists {
                let list: Vec<u32> = list.into_iter().map(|j| j % tariff.dim() as u32).collect();
                let panels: BTreeSet<u32> = list.iter().filter_map(|&j| tariff.panel(j)).collect();
                let fees: BTreeSet<u32> = panels.iter().filter_map(|&panel| tariff.fee(panel)).collect();
                let cost: f64 = panels.iter().chain(&fees).map(|&of| tariff.prices()[of as usize]).sum();
                prop_assert!((tariff.cost(&list, &mut basket) - cost).abs() < 1e-9);
                for j in 0..tariff.dim() as u32 {
                    let more = basket.more(&tariff, j);
                    let others = list.iter().copied();
                    let beside = if list.contains(&j) { 0.0 } else { tariff.price_beside(j, others) };
                    prop_assert!((more - beside).abs() < 1e-9);
                    let with: Vec<u32> = list.iter().copied().chain([j]).collect();
                    prop_assert!((tariff.cost(&with, &mut Basket::default()) - cost - more).abs() < 1e-9);
                }
                prop_assert!(list.iter().all(|&j| basket.more(&tariff, j) == 0.0));
            }
        }

        #[test]
        fn what_is_bought_is_paid_and_below_the_largest_number(
            tariff in tariffs_with_fees(),
            money in 0.0..60.0f64,
            order in proptest::collection::vec(0u32..20, 0..40),
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
