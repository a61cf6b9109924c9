//! Transformations of labels.

use super::PreprocessError;
use crate::format::Table;
use serde::{Deserialize, Serialize};

/// Replaces every label y by log(1 + y), for counts. Labels must exceed -1; on an error nothing has changed.
pub fn log1p_labels(labels: &mut [f64]) -> Result<(), PreprocessError> {
    if let Some((row, &value)) = labels.iter().enumerate().find(|(_, y)| !(y.is_finite() && **y > -1.0)) {
        return Err(PreprocessError::Label { row, value, domain: "log1p needs finite labels above -1" });
    }
    // libm gives the same bits on every platform.
    labels.iter_mut().for_each(|y| *y = libm::log1p(*y));
    Ok(())
}

/// Subtracts the mean of the training labels, for predictors without intercept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(remote = "Self")]
pub struct Centering {
    /// Mean of the training labels.
    pub mean: f64,
}

/// A centering as it is read, before its mean is known to be finite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    mean: f64,
}

lao_observation::stored!(Centering, from Stored);

impl TryFrom<Stored> for Centering {
    type Error = PreprocessError;

    fn try_from(stored: Stored) -> Result<Self, PreprocessError> {
        Self::new(stored.mean)
    }
}

impl Centering {
    /// Learns the mean of the training labels.
    pub fn fit(train: &[f64]) -> Result<Self, PreprocessError> {
        if train.is_empty() {
            return Err(PreprocessError::TooFew { what: "training labels", found: 0, needed: 1 });
        }
        Self::new(train.iter().sum::<f64>() / train.len() as f64)
    }

    fn new(mean: f64) -> Result<Self, PreprocessError> {
        if mean.is_finite() { Ok(Self { mean }) } else { Err(PreprocessError::LabelMean { mean }) }
    }

    /// Subtracts the learned mean.
    pub fn apply(&self, labels: &mut [f64]) {
        labels.iter_mut().for_each(|y| *y -= self.mean);
    }
}

/// Returns the rows of two classes, labeled +1 and -1. Both classes must occur.
pub fn two_classes(rows: &Table, positive: f64, negative: f64) -> Result<Table, PreprocessError> {
    if positive == negative {
        let (field, value, allowed) = ("negative", negative, "another class than the positive one");
        return Err(PreprocessError::Parameter { field, value, allowed });
    }
    let labels = rows.labels();
    let chosen: Vec<usize> =
        (0..labels.len()).filter(|&i| labels[i] == positive || labels[i] == negative).collect();
    for (class, what) in [(positive, "rows of the positive class"), (negative, "rows of the negative class")]
    {
        if !chosen.iter().any(|&i| labels[i] == class) {
            return Err(PreprocessError::TooFew { what, found: 0, needed: 1 });
        }
    }
    let mut out = rows.select_rows(&chosen);
    let labels = match &mut out {
        Table::Dense(table) => &mut table.labels,
        Table::Sparse(rows) => &mut rows.labels,
    };
    labels.iter_mut().for_each(|y| *y = if *y == positive { 1.0 } else { -1.0 });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::DenseTable;

    #[test]
    fn log1p_refuses_labels_outside_its_domain_and_changes_nothing() {
        let mut labels = [0.0, 1.0, -1.0];
        let error = log1p_labels(&mut labels).unwrap_err();
        assert!(error.to_string().contains("label -1 of row 2"), "{error}");
        assert_eq!(labels, [0.0, 1.0, -1.0]);
        let mut counts = [0.0, 1e-300, std::f64::consts::E - 1.0];
        log1p_labels(&mut counts).unwrap();
        assert_eq!(counts[..2], [0.0, 1e-300]);
        assert!((counts[2] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn centered_labels_use_the_training_mean() {
        let centering = Centering::fit(&[1.0, 3.0]).unwrap();
        let mut test = [5.0];
        centering.apply(&mut test);
        assert_eq!(test, [3.0]);
        assert!(Centering::fit(&[]).is_err());
    }

    #[test]
    fn a_mean_that_is_not_finite_is_refused_when_learned_and_when_read() {
        for labels in [[1.7e308, 1.7e308], [0.0, f64::NAN]] {
            let text = Centering::fit(&labels).unwrap_err().to_string();
            assert!(text.contains("not finite"), "{text}");
        }
        let centering = Centering { mean: 0.1 };
        let text = serde_json::to_string(&centering).unwrap();
        assert_eq!(serde_json::from_str::<Centering>(&text).unwrap(), centering);
        for bad in [r#"{"mean":1e999}"#, r#"{"mean":null}"#, r#"{"mean":1,"more":2}"#] {
            assert!(serde_json::from_str::<Centering>(bad).is_err(), "{bad}");
        }
        // JSON cannot say it, other formats can.
        assert!(
            toml::from_str::<Centering>("mean = inf").unwrap_err().to_string().contains("a finite number")
        );
    }

    #[test]
    fn two_classes_become_plus_and_minus_one() {
        let table = DenseTable::from_rows(1, vec![10.0, 11.0, 12.0, 13.0], vec![3.0, 4.0, 5.0, 3.0]).unwrap();
        let rows = Table::Dense(table);
        let pair = two_classes(&rows, 3.0, 5.0).unwrap();
        assert_eq!(pair.labels(), [1.0, -1.0, 1.0]);
        assert_eq!(pair.dense().unwrap().values(), [10.0, 12.0, 13.0]);
        assert!(two_classes(&rows, 3.0, 9.0).is_err() && two_classes(&rows, 3.0, 3.0).is_err());
    }
}
