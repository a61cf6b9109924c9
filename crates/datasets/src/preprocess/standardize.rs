//! Mean 0 and variance 1 in every column, as learned from training rows.

use super::{PreprocessError, columns::constant};
use crate::format::DenseTable;
use serde::{Deserialize, Serialize};

/// Subtracts each column's mean and divides by its standard deviation (divisor n). Columns that are constant on the rows
/// it was fitted on are dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    columns: usize,
    kept: Vec<usize>,
    means: Vec<f64>,
    scales: Vec<f64>,
}

impl Standardizer {
    /// Learns means and scales from the training rows.
    pub fn fit(train: &DenseTable) -> Result<Self, PreprocessError> {
        if train.rows() < 2 {
            let what = "training rows to standardise on";
            return Err(PreprocessError::TooFew { what, found: train.rows(), needed: 2 });
        }
        let mut fitted = Self { columns: train.columns(), kept: vec![], means: vec![], scales: vec![] };
        for j in 0..train.columns() {
            let column = train.column(j);
            if constant(column) {
                continue;
            }
            let (mean, scale) = moments(column);
            if !(mean.is_finite() && scale.is_finite() && scale > 0.0) {
                return Err(PreprocessError::Overflow { column: j });
            }
            fitted.kept.push(j);
            fitted.means.push(mean);
            fitted.scales.push(scale);
        }
        if fitted.kept.is_empty() {
            return Err(PreprocessError::TooFew { what: "columns that vary", found: 0, needed: 1 });
        }
        Ok(fitted)
    }

    /// The table with its kept columns standardised by what was learned.
    pub fn apply(&self, table: &DenseTable) -> Result<DenseTable, PreprocessError> {
        if table.columns() != self.columns {
            return Err(PreprocessError::Columns { expected: self.columns, found: table.columns() });
        }
        let mut out = table.select_columns(&self.kept);
        for (j, (mean, scale)) in self.means.iter().zip(&self.scales).enumerate() {
            out.column_mut(j).iter_mut().for_each(|value| *value = (*value - mean) / scale);
        }
        Ok(out)
    }

    /// Original indices of the columns that [`Standardizer::apply`] gives out.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Original indices of the columns that were constant.
    pub fn dropped(&self) -> Vec<usize> {
        (0..self.columns).filter(|j| self.kept.binary_search(j).is_err()).collect()
    }

    /// Mean of each kept column.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Standard deviation of each kept column.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }
}

/// Mean and standard deviation. Deviations are scaled by the largest, so squares neither overflow nor vanish.
fn moments(column: &[f64]) -> (f64, f64) {
    let n = column.len() as f64;
    let first = column.iter().sum::<f64>() / n;
    // The second pass takes back the rounding of the first.
    let mean = first + column.iter().map(|v| v - first).sum::<f64>() / n;
    let largest = column.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let variance = column.iter().map(|v| ((v - mean) / largest).powi(2)).sum::<f64>() / n;
    (mean, largest * variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(columns: usize, values: Vec<f64>) -> DenseTable {
        let labels = vec![0.0; values.len() / columns];
        DenseTable::from_rows(columns, &values, labels).unwrap()
    }

    proptest! {
        #[test]
        fn training_columns_have_mean_zero_and_variance_one(values in proptest::collection::vec(-1e3..1e3f64, 30)) {
            let train = table(3, values);
            let out = Standardizer::fit(&train).unwrap().apply(&train).unwrap();
            for j in 0..out.columns() {
                let mean = out.column(j).iter().sum::<f64>() / 10.0;
                let square = out.column(j).iter().map(|v| v * v).sum::<f64>() / 10.0;
                prop_assert!(mean.abs() < 1e-12 && (square - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn test_rows_use_what_training_rows_taught() {
        let train = table(1, vec![0.0, 2.0]);
        let out = Standardizer::fit(&train).unwrap().apply(&table(1, vec![5.0])).unwrap();
        assert_eq!(out.values(), [4.0]);
    }

    #[test]
    fn constants_are_dropped_and_reported() {
        let fitted = Standardizer::fit(&table(3, vec![1.0, 7.0, 0.1, 2.0, 7.0, 0.1])).unwrap();
        assert_eq!((fitted.kept(), fitted.dropped()), ([0].as_slice(), vec![1, 2]));
        let other = fitted.apply(&table(2, vec![1.0, 2.0])).unwrap_err();
        assert_eq!(other, PreprocessError::Columns { expected: 3, found: 2 });
        assert!(Standardizer::fit(&table(1, vec![3.0, 3.0])).is_err());
    }

    #[test]
    fn very_large_and_very_small_columns_are_handled() {
        for unit in [1e-200, 1e150] {
            let fitted = Standardizer::fit(&table(1, vec![-unit, unit])).unwrap();
            assert_eq!(fitted.scales(), [unit]);
        }
        let huge = Standardizer::fit(&table(1, vec![1.7e308, -1.7e308, 1.7e308, 1.7e308])).unwrap_err();
        assert_eq!(huge, PreprocessError::Overflow { column: 0 });
    }

    #[test]
    fn what_was_learned_survives_serialisation() {
        let fitted = Standardizer::fit(&table(1, vec![0.1, 0.7, 0.2])).unwrap();
        let text = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Standardizer>(&text).unwrap(), fitted);
    }
}
