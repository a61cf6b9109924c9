//! What the attributes of examples cost.

use super::{Examples, Store};
use crate::error::Error;
use crate::prices::{Price, PricedColumns, Prices};
use lao_observation::Tariff;

impl Examples {
    /// Returns the price of each column in bytes, of a table that is read page by page: those of a value, on
    /// the average of the column.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// // let table = "diabetes.csv.gz";
    /// let in_memory = lao::read(table)?.target("progression")?;
    /// assert!(in_memory.prices_by_bytes().is_err());
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the table is in memory.
    pub fn prices_by_bytes(&self) -> Result<Prices, Error> {
        let Store { attributes, values, .. } = &*self.store;
        let mut prices: Vec<Price> = Vec::new();
        for (j, (column, _)) in (0..).zip(attributes) {
            let Some(bytes) = values.bytes(j) else {
                let allowed = "a Parquet table that is read page by page (--pages always)".into();
                return Err(Error::Choice { what: "prices", value: "bytes".into(), allowed });
            };
            // The attributes of a column are neighbors.
            if prices.last().is_none_or(|last| last.column != *column) {
                prices.push(Price::of(column, bytes));
            }
        }
        Prices::new(prices)
    }

    /// Returns the prices of the attributes: those given or, if some column of words is several attributes,
    /// a price of 1 for each column. `None` if the number of attributes says all.
    pub(crate) fn priced(&self, prices: Option<&Prices>) -> Result<Option<PricedColumns>, Error> {
        let Store { attributes, others, .. } = &*self.store;
        let mut columns: Vec<&str> = attributes.iter().map(|(column, _)| column.as_str()).collect();
        if let Some(prices) = prices {
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            return prices.of(&columns, &others).map(Some);
        }
        // The attributes of a column are neighbors.
        let places = columns.iter().scan((0, columns.first().copied()), |(place, last), column| {
            *place += u32::from(last.replace(column) != Some(column));
            Some(*place)
        });
        let places: Vec<u32> = places.collect();
        columns.dedup();
        let panels: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        if panels.len() == places.len() {
            return Ok(None);
        }
        let tariff = Tariff::with_panels(places, vec![1.0; panels.len()])?;
        Ok(Some(PricedColumns { tariff, panels }))
    }
}
