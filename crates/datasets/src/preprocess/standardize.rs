//! Standardization: mean 0 and variance 1 in every column, learned from training rows.

use super::{PreprocessError, Shown, columns::constant};
use crate::format::{DenseTable, shown};
use serde::{Deserialize, Serialize};

/// Subtracts each column's mean and divides by its standard deviation (divisor n). Columns that are constant
/// on the rows it was fitted on are dropped.
///
/// It applies to tables of the same columns in the same order. Where both tables name their columns, the
/// names are compared; a table without names can be compared by the number of its columns only.
///
/// ```
/// use lao_datasets::format::DenseTable;
/// use lao_datasets::preprocess::Standardizer;
///
/// // The second column is constant, so it is dropped.
/// let table = |rows: Vec<f64>| DenseTable::from_rows(2, rows, vec![0.0; 2]).ok_or("two rows of two");
/// let train = table(vec![1.0, 5.0, 3.0, 5.0])?;
/// let standardizer = Standardizer::fit(&train)?;
/// assert_eq!((standardizer.kept(), standardizer.means()), (&[0][..], &[2.0][..]));
/// assert_eq!(standardizer.apply(&train)?.column(0), [-1.0, 1.0]);
/// // Test rows are standardized by the mean and scale of the training rows.
/// assert_eq!(standardizer.apply(&table(vec![2.0, 5.0, 4.0, 6.0])?)?.column(0), [0.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(remote = "Self")]
pub struct Standardizer {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    means: Vec<f64>,
    scales: Vec<f64>,
    /// Names of all columns, where the training table gives them.
    names: Option<Vec<String>>,
}

/// A standardizer as it is read, before it is known to be one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    means: Vec<f64>,
    scales: Vec<f64>,
    #[serde(default)]
    names: Option<Vec<String>>,
}

lao_observation::stored!(Standardizer, from Stored);

impl TryFrom<Stored> for Standardizer {
    type Error = PreprocessError;

    fn try_from(stored: Stored) -> Result<Self, PreprocessError> {
        let Stored { kept, dropped, means, scales, names } = stored;
        let fail =
            |field, problem: String| Err(PreprocessError::Stored { what: "standardizer", field, problem });
        let columns = kept.len() + dropped.len();
        if kept.is_empty() {
            return fail("kept", "is empty, but at least one column must be kept".to_owned());
        }
        if let Some(j) = super::not_a_partition(&kept, &dropped) {
            return fail(
                "kept",
                format!(
                    "and `dropped` must ascend and hold each of the {columns} columns once, unlike column {j}"
                ),
            );
        }
        for (field, values) in [("means", &means), ("scales", &scales)] {
            if values.len() != kept.len() {
                return fail(field, format!("has {} entries for {} kept columns", values.len(), kept.len()));
            }
        }
        if let Some(k) = means.iter().position(|mean| !mean.is_finite()) {
            return fail("means", format!("holds {} in place {k}, but must be finite", Shown(means[k])));
        }
        if let Some(k) = scales.iter().position(|scale| !(scale.is_finite() && *scale > 0.0)) {
            return fail(
                "scales",
                format!("holds {} in place {k}, but must be finite and above 0", Shown(scales[k])),
            );
        }
        match &names {
            Some(names) if names.len() != columns => {
                fail("names", format!("has {} entries for {columns} columns", names.len()))
            }
            _ => Ok(Self { kept, dropped, means, scales, names }),
        }
    }
}

impl Standardizer {
    /// Learns means and scales from the training rows.
    pub fn fit(train: &DenseTable) -> Result<Self, PreprocessError> {
        if train.rows() < 2 {
            let what = "training rows to standardize on";
            return Err(PreprocessError::TooFew { what, found: train.rows(), needed: 2 });
        }
        check_names(train)?;
        let names = train.names.clone();
        let mut fitted = Self { kept: vec![], dropped: vec![], means: vec![], scales: vec![], names };
        for j in 0..train.columns() {
            let column = train.column(j);
            if constant(column) {
                fitted.dropped.push(j);
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

    /// Returns the table with its kept columns standardized by what was learned.
    ///
    /// # Errors
    /// Fails when the table has another number of columns, or other names, than the one that was learned
    /// from.
    pub fn apply(&self, table: &DenseTable) -> Result<DenseTable, PreprocessError> {
        self.check(table)?;
        let mut out = table.select_columns(&self.kept);
        for (j, (mean, scale)) in self.means.iter().zip(&self.scales).enumerate() {
            out.column_mut(j).iter_mut().for_each(|value| *value = (*value - mean) / scale);
        }
        Ok(out)
    }

    fn check(&self, table: &DenseTable) -> Result<(), PreprocessError> {
        let (expected, found) = (self.kept.len() + self.dropped.len(), table.columns());
        if expected != found {
            return Err(PreprocessError::Columns { expected, found });
        }
        check_names(table)?;
        let (Some(fitted), Some(given)) = (&self.names, &table.names) else { return Ok(()) };
        match (0..expected).find(|&j| fitted[j] != given[j]) {
            None => Ok(()),
            Some(column) => Err(PreprocessError::ColumnName {
                column,
                expected: shown(fitted[column].as_bytes()),
                found: shown(given[column].as_bytes()),
            }),
        }
    }

    /// Returns the original indices of the columns that [`Standardizer::apply`] gives out.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Returns the original indices of the columns that were constant.
    pub fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    /// Returns the mean of each kept column.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Returns the standard deviation of each kept column.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }
}

/// Names, where a table has them, must be one per column.
fn check_names(table: &DenseTable) -> Result<(), PreprocessError> {
    match &table.names {
        Some(names) if names.len() != table.columns() => {
            Err(PreprocessError::Names { names: names.len(), columns: table.columns() })
        }
        _ => Ok(()),
    }
}

/// Returns mean and standard deviation. Deviations are scaled by the largest, so squares neither overflow nor
/// vanish.
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
        DenseTable::from_rows(columns, values, labels).unwrap()
    }

    proptest! {
        #[test]
        fn training_columns_have_mean_zero_and_variance_one(
            values in proptest::collection::vec(-1e3..1e3f64, 30),
        ) {
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
        assert_eq!((fitted.kept(), fitted.dropped()), ([0].as_slice(), [1, 2].as_slice()));
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
    fn what_was_learned_survives_serialization() {
        let fitted = Standardizer::fit(&table(1, vec![0.1, 0.7, 0.2])).unwrap();
        let text = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Standardizer>(&text).unwrap(), fitted);
    }

    fn named(names: [&str; 3]) -> DenseTable {
        let mut table = table(3, vec![1.0, 7.0, 0.1, 2.0, 7.5, 0.3]);
        table.names = Some(names.map(str::to_owned).to_vec());
        table
    }

    #[test]
    fn columns_in_another_order_are_refused_by_name() {
        let fitted = Standardizer::fit(&named(["a", "b", "c"])).unwrap();
        fitted.apply(&named(["a", "b", "c"])).unwrap();
        let text = fitted.apply(&named(["a", "c", "b"])).unwrap_err().to_string();
        assert!(text.contains("column 1 is `c`") && text.contains("fitted on `b`"), "{text}");
        assert!(text.contains("same columns in the same order"), "{text}");
        // Storage keeps the names.
        let stored: Standardizer = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
        stored.apply(&named(["c", "b", "a"])).unwrap_err();
        // Without names there is nothing to compare but the number.
        fitted.apply(&table(3, vec![1.0, 2.0, 3.0])).unwrap();
        let mut short = named(["a", "b", "c"]);
        short.names.as_mut().unwrap().pop();
        assert_eq!(fitted.apply(&short), Err(PreprocessError::Names { names: 2, columns: 3 }));
        assert_eq!(Standardizer::fit(&short), Err(PreprocessError::Names { names: 2, columns: 3 }));
    }

    #[test]
    fn what_is_stored_is_checked_when_it_is_read() {
        let good = serde_json::json!(
            { "kept": [0, 2], "dropped": [1], "means": [0.5, 1], "scales": [1, 2], "names": ["a", "b", "c"] }
        );
        serde_json::from_value::<Standardizer>(good.clone()).unwrap();
        for (field, bad, says) in [
            ("kept", serde_json::json!([0, 1]), "column 1"),
            ("kept", serde_json::json!([2, 0]), "must ascend"),
            ("kept", serde_json::json!([0, 9_000_000_000_000_000_000_u64]), "each of the 3 columns once"),
            ("kept", serde_json::json!([]), "is empty"),
            ("dropped", serde_json::json!([]), "unlike column 1"),
            ("means", serde_json::json!([0.5]), "1 entries for 2 kept columns"),
            ("scales", serde_json::json!([1.0, 2.0, 3.0]), "3 entries for 2 kept columns"),
            ("scales", serde_json::json!([1.0, 0.0]), "holds 0 in place 1"),
            ("scales", serde_json::json!([-1e300, 1.0]), "holds -1e300 in place 0"),
            ("names", serde_json::json!(["a"]), "1 entries for 3 columns"),
            ("columns", serde_json::json!(3), "unknown field"),
        ] {
            let mut stored = good.clone();
            stored[field] = bad;
            let text = serde_json::from_value::<Standardizer>(stored).unwrap_err().to_string();
            assert!(text.contains(says) && text.contains(field), "{text}");
        }
    }
}
