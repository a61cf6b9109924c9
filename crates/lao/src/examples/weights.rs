//! Weights of examples.

use super::Examples;
use crate::error::Error;
use std::sync::Arc;

impl Examples {
    /// Gives each example a weight: sums over examples become weighted sums. Only ratios matter. Examples of
    /// weight 0 are left out, and cost nothing.
    ///
    /// Weights are scaled so that their sum is the number of examples of equal weight that say as much,
    /// `(sum w)^2 / sum w^2`: so standard errors, and the level at which attributes are added, stay right.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// // let table = "diabetes.csv.gz";
    /// let examples = lao::read(table)?.target("progression")?;
    /// let weight = |label: f64| if label > 250.0 { 0.0 } else { 1.0 };
    /// let weights: Vec<f64> = examples.labels()?.into_iter().map(weight).collect();
    /// assert_eq!(examples.with_weights(&weights)?.len(), 377);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is not one finite weight of at least 0 for each example, or all are 0.
    pub fn with_weights(self, weights: &[f64]) -> Result<Examples, Error> {
        let refuse = |value: String, allowed: &str| {
            Err(Error::Choice { what: "weights", value, allowed: allowed.into() })
        };
        if weights.len() != self.len() {
            return refuse(format!("{} weights", weights.len()), "one weight for each example");
        }
        if let Some(wrong) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return refuse(wrong.to_string(), "finite numbers of at least 0");
        }
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(*weight));
        if largest == 0.0 {
            return refuse("0 for every example".into(), "at least one weight above 0");
        }
        let relative = || weights.iter().map(|weight| weight / largest);
        let (sum, squares) = (relative().sum::<f64>(), relative().map(|weight| weight * weight).sum::<f64>());
        let mut of_rows = vec![0.0; self.store.labels.rows()];
        let mut places = Vec::new();
        let weighed = self.rows.iter().zip(relative()).enumerate();
        for (place, (row, weight)) in weighed.filter(|(_, (_, weight))| *weight > 0.0) {
            of_rows[row as usize] = weight * sum / squares;
            places.push(place..place + 1);
        }
        let equal = places.len() as f64 == sum;
        let rows = self.rows.at(places.into_iter());
        Ok(Examples { weights: (!equal).then(|| Arc::new(of_rows)), ..self.of(rows) })
    }

    /// Returns whether the examples have weights.
    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// Returns the mean label; 0 if there are no examples.
    pub(crate) fn mean_label(&self) -> Result<f64, Error> {
        let weight = |row: u32| self.weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
        let (mut rows, mut all, mut sum) = (self.rows.iter(), 0.0, 0.0);
        self.each_label(0..self.len(), |y| {
            let weight = rows.next().map_or(0.0, weight);
            all += weight;
            sum += weight * y;
        })?;
        Ok(if all > 0.0 { sum / all } else { 0.0 })
    }
}
