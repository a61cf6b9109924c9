//! The error of a model on examples that were never learned from.

use super::{Calibrated, Holdout, Missing, Model};
use crate::error::Error;
use crate::escape::shown;
use crate::examples::{Examples, Label};
use crate::frame::{Frame, Values};
use std::cell::RefCell;

/// Groups of the picture of the calibration, at most, and examples of a group, at least.
const GROUPS: usize = 10;
const OF_GROUP: usize = 20;

impl Model {
    /// Scores the model on examples of the same table. There is no score without examples, or if the table
    /// ends the stream. The error is compared with that of the [mean label](Self::mean_label) or, if it is
    /// not known, of the mean label of these examples.
    ///
    /// # Errors
    /// When the examples have another label, or lack an attribute of the model.
    pub fn score(&self, examples: &Examples) -> Result<Option<Holdout>, Error> {
        let mut places = Vec::new();
        for coefficient in &self.coefficients {
            let name = coefficient.name();
            let Some(j) = examples.names().iter().position(|other| *other == name) else {
                let reason = "the model needs it, and the examples lack it".into();
                return Err(Error::Column { column: name, reason });
            };
            places.push(j as u32);
        }
        let n = examples.len();
        if n == 0 {
            return Ok(None);
        }
        let labels = RefCell::new(Vec::new());
        let mut both: Vec<(f64, f64)> = Vec::with_capacity(n);
        let read = |rows, into: &mut [f64]| {
            labels.borrow_mut().clear();
            examples.read(&places, rows, into, |y| labels.borrow_mut().push(y))
        };
        let done = self.predict_rows(n, read, |_, predicted, _| {
            both.extend(predicted.iter().copied().zip(labels.borrow().iter().copied()));
        })?;
        Ok(if done.is_break() { None } else { self.judged(both) })
    }

    /// Scores the model on the rows of a table that has its columns and its label. There is no score without
    /// a row that has a label.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// let frame = lao::read(table)?;
    /// let model = lao::Fit::within(5).run(&frame.clone().target("progression")?)?.model;
    /// assert!(model.score_frame(&frame)?.unwrap().r2() > 0.4);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); and when the table has no such label, or another kind of label.
    pub fn score_frame(&self, frame: &Frame) -> Result<Option<Holdout>, Error> {
        let labels = self.labels_of(frame)?;
        let predicted = self.predict(frame, Missing::Mean)?.values;
        Ok(self.judged(predicted.into_iter().zip(labels).filter(|(_, label)| !label.is_nan()).collect()))
    }

    /// Returns the labels of a table: numbers, or +1 and -1; NaN where one is missing.
    fn labels_of(&self, frame: &Frame) -> Result<Vec<f64>, Error> {
        let column = frame.column(&self.target)?;
        let fail = |reason: String| Err(Error::Column { column: self.target.clone(), reason });
        let Label::Classes { positive, negative } = &self.label else {
            return match &column.values {
                Values::Numbers(numbers) => Ok(numbers.clone()),
                _ => fail("the model predicts a number, and the table has words there".into()),
            };
        };
        let texts = frame.texts(&self.target)?;
        let same = |text: &str, class: &str| {
            let numbers = text.parse::<f64>().ok().zip(class.parse::<f64>().ok());
            text == class || numbers.is_some_and(|(a, b)| a == b)
        };
        // One class against all others has no name of its own for them.
        let others = ["rest", "others"].contains(&negative.as_str());
        let mut labels = Vec::with_capacity(texts.len());
        for text in &texts {
            labels.push(match text {
                text if text.is_empty() => f64::NAN,
                text if same(text, positive) => 1.0,
                text if others || same(text, negative) => -1.0,
                text => {
                    let (text, positive, negative) = (shown(text), shown(positive), shown(negative));
                    return fail(format!(
                        "`{text}` is no class of the model; they are `{positive}` and `{negative}`"
                    ));
                }
            });
        }
        Ok(labels)
    }

    /// Returns the error of predicted sums for labels.
    fn judged(&self, both: Vec<(f64, f64)>) -> Option<Holdout> {
        let n = both.len();
        if n == 0 {
            return None;
        }
        let mean_of_these = || both.iter().map(|(_, label)| label).sum::<f64>() / n as f64;
        let mean_label = self.mean_label.unwrap_or_else(mean_of_these);
        let mut sums = [0.0; 3];
        for (predicted, label) in &both {
            let error = (predicted - label) * (predicted - label);
            let more = [error, error * error, (label - mean_label).powi(2)];
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        let [error, square, of_mean] = sums.map(|sum| sum / n as f64);
        let holdout = Holdout {
            examples: n,
            mean_squared_error: error,
            standard_error: ((square - error * error).max(0.0) / n as f64).sqrt(),
            error_of_mean: of_mean,
            ..Holdout::default()
        };
        Some(if self.label == Label::Number { holdout } else { self.classified(holdout, both, mean_label) })
    }

    /// Adds how well the two classes are told apart, from predicted sums and labels.
    fn classified(&self, holdout: Holdout, mut both: Vec<(f64, f64)>, mean_label: f64) -> Holdout {
        let n = both.len() as f64;
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        let right = both.iter().filter(|(sum, label)| (*sum > self.threshold()) == (*label > 0.0)).count();
        let positive = both.iter().filter(|(_, label)| *label > 0.0).count() as f64;
        let loss = |p: f64, label: f64| -(if label > 0.0 { p } else { 1.0 - p }).max(1e-15).ln();
        let share = (1.0 + mean_label) / 2.0;
        let of_share: f64 = both.iter().map(|(_, label)| loss(share, *label)).sum();
        let probable = |sum: f64| self.probability(sum);
        let of_model: Option<f64> =
            both.iter().map(|(sum, label)| probable(*sum).map(|p| loss(p, *label))).sum();
        Holdout {
            accuracy: Some(right as f64 / n),
            majority: Some(positive.max(n - positive) / n),
            auc: area_under_curve(&both),
            log_loss: of_model.map(|loss| loss / n),
            log_loss_of_share: of_model.map(|_| of_share / n),
            calibration: if of_model.is_some() { self.calibration(&both) } else { Vec::new() },
            ..holdout
        }
    }

    /// Returns groups of examples of about the same probability, from sorted predicted sums and labels.
    fn calibration(&self, sorted: &[(f64, f64)]) -> Vec<Calibrated> {
        let groups = (sorted.len() / OF_GROUP).clamp(1, GROUPS);
        let of_group = sorted.len().div_ceil(groups);
        let of = |group: &[(f64, f64)]| {
            let n = group.len() as f64;
            Calibrated {
                examples: group.len(),
                probability: group.iter().filter_map(|(sum, _)| self.probability(*sum)).sum::<f64>() / n,
                share: group.iter().filter(|(_, label)| *label > 0.0).count() as f64 / n,
            }
        };
        sorted.chunks(of_group).map(of).collect()
    }
}

/// Returns the probability that an example of the positive class has a larger sum than one of the other,
/// where equal sums count half; `None` if a class has no examples.
fn area_under_curve(sorted: &[(f64, f64)]) -> Option<f64> {
    let (mut below, mut area) = (0.0, 0.0);
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let positive = equal.iter().filter(|(_, label)| *label > 0.0).count() as f64;
        let negative = equal.len() as f64 - positive;
        area += positive * (below + negative / 2.0);
        below += negative;
    }
    let pairs = below * (sorted.len() as f64 - below);
    (pairs > 0.0).then(|| area / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_share_of_pairs_in_the_right_order() {
        let sorted = [(0.1, -1.0), (0.2, 1.0), (0.2, -1.0), (0.7, 1.0)];
        assert_eq!(area_under_curve(&sorted), Some(3.5 / 4.0));
        assert_eq!(area_under_curve(&[(0.3, 1.0), (0.4, 1.0)]), None);
        assert_eq!(area_under_curve(&[]), None);
    }
}
