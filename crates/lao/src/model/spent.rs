//! What learning cost.

use crate::error::Error;
use crate::prices::{Price, PricedColumns, Prices};
use crate::table::Traffic;
use serde::{Deserialize, Serialize};

/// What learning cost.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let spent = &model.spent;
/// assert_eq!((spent.examples, spent.attributes, spent.most_attributes), (398, 1990, 5));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Examples of which attributes were bought.
    pub examples: u64,
    /// Values that were bought. A column of words that is bought as a whole is one value.
    pub attributes: u64,
    /// The largest number of values of one example.
    pub most_attributes: usize,
    /// Of these values, those that were asked for and missing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// Examples that were passed over because they lacked a value that was asked for, or all of them.
    pub passed_over: u64,
    /// In a live study: examples that were closed without a result after attributes of them were bought. They
    /// are among `examples`, and what was bought of them among `attributes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void: u64,
    /// In a live study: examples that were known before, and imported. They are not among `examples`, since
    /// nothing was bought of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub imported: u64,
    /// Of a table that is read page by page: the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Where attributes have prices: the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<SpentMoney>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The money that learning cost.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let blood = ["tc", "ldl", "hdl", "tch", "ltg"].map(|name| format!("{name},8,blood\n")).concat();
/// # let prices = lao::Prices::parse(&format!("age,0\nsex,0\nbmi,1\nbp,1\nglu,4\n{blood}"), "prices.csv")?;
/// # let model = lao::Fit::within_money(11.0, prices).run(&examples)?.model;
/// let money = model.spent.money.as_ref().unwrap();
/// assert!(money.most <= money.budget && money.budget == 11.0);
/// assert_eq!(money.bought().map(|panel| panel.cost()).sum::<f64>(), money.total);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpentMoney {
    /// In all.
    pub total: f64,
    /// The most for one example.
    pub most: f64,
    /// The budget for one example.
    pub budget: f64,
    /// What could be bought, panel by panel, and for how many examples it was.
    pub panels: Vec<PanelSpent>,
}

/// A panel, or a column that is bought alone, and how often it was bought.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let blood = ["tc", "ldl", "hdl", "tch", "ltg"].map(|name| format!("{name},8,blood\n")).concat();
/// # let prices = lao::Prices::parse(&format!("age,0\nsex,0\nbmi,1\nbp,1\nglu,4\n{blood}"), "prices.csv")?;
/// # let model = lao::Fit::within_money(11.0, prices).run(&examples)?.model;
/// let panels = &model.spent.money.as_ref().unwrap().panels;
/// let blood = panels.iter().find(|panel| panel.name == "blood").unwrap();
/// assert_eq!((blood.price, blood.columns.len()), (8.0, 5));
/// assert_eq!(blood.cost(), 8.0 * blood.examples as f64);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelSpent {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its price, for one example.
    pub price: f64,
    /// The number of examples for which it was bought.
    pub examples: u64,
    /// Whether it is a fee: its columns cost more, and it is paid with the first of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fee: bool,
}

impl PanelSpent {
    /// Returns the money spent on this panel.
    pub fn cost(&self) -> f64 {
        self.price * self.examples as f64
    }

    /// Returns the price of each of its columns, with the fee of one among `fees`.
    fn prices(&self, fees: &[&PanelSpent]) -> impl Iterator<Item = Price> {
        let is_alone = self.columns.len() == 1 && self.columns[0] == self.name;
        self.columns.iter().map(move |column| match fees.iter().find(|fee| fee.columns.contains(column)) {
            Some(fee) => Price {
                column: column.clone(),
                price: self.price + fee.price,
                panel: Some(fee.name.clone()),
                further: Some(self.price),
            },
            None => {
                let panel = (!is_alone).then(|| self.name.clone());
                Price { column: column.clone(), price: self.price, panel, further: None }
            }
        })
    }
}

impl SpentMoney {
    /// Returns the panels that were bought.
    pub fn bought(&self) -> impl Iterator<Item = &PanelSpent> {
        self.panels.iter().filter(|panel| panel.examples > 0)
    }

    /// Returns the prices by which it was bought.
    ///
    /// # Errors
    /// When they contradict each other, which those of a run do not.
    pub fn prices(&self) -> Result<Prices, Error> {
        let (fees, panels): (Vec<&PanelSpent>, Vec<_>) = self.panels.iter().partition(|panel| panel.is_fee);
        Prices::new(panels.iter().flat_map(|panel| panel.prices(&fees)).collect())
    }

    /// Returns what was bought by these prices: each panel for its number of examples in `bought`.
    /// `attributes` has the column of each attribute; `most` is the most for one example, and `budget` the
    /// limit.
    pub fn of(
        priced: &PricedColumns,
        bought: &[u64],
        attributes: &[(String, Option<String>)],
        most: f64,
        budget: f64,
    ) -> Self {
        let columns = |panel: u32| {
            let of = |&j: &u32| attributes.get(j as usize).map(|(column, _)| column.clone());
            let mut columns: Vec<String> = priced.tariff.members(panel).iter().filter_map(of).collect();
            columns.dedup();
            columns
        };
        let mut is_fee = vec![true; priced.panels.len()];
        priced.tariff.panels().for_each(|panel| is_fee[panel as usize] = false);
        let all = (0..).zip(&priced.panels).zip(priced.tariff.prices().iter().zip(bought));
        let panels: Vec<PanelSpent> = all
            .map(|((panel, name), (&price, &examples))| PanelSpent {
                name: name.clone(),
                columns: columns(panel),
                price,
                examples,
                is_fee: is_fee[panel as usize],
            })
            .collect();
        SpentMoney { total: panels.iter().map(PanelSpent::cost).sum(), most, budget, panels }
    }

    /// Returns what was spent in all, where `before` was spent by earlier runs with the same prices.
    pub(crate) fn after(mut self, before: Option<&SpentMoney>) -> Self {
        let Some(before) = before else { return self };
        for earlier in &before.panels {
            let is_same =
                |panel: &&mut PanelSpent| (&panel.name, panel.is_fee) == (&earlier.name, earlier.is_fee);
            match self.panels.iter_mut().find(is_same) {
                Some(panel) => panel.examples = panel.examples.saturating_add(earlier.examples),
                None => self.panels.push(earlier.clone()),
            }
        }
        self.total = self.panels.iter().map(PanelSpent::cost).sum();
        self.most = self.most.max(before.most);
        self
    }
}
