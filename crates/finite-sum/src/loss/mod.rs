//! The loss of a finite sum, with the labels of its rows. The losses as functions of the margin, and their
//! slopes, are functions of their own, such as [`logistic_loss`].

mod margin;

#[doc(hidden)]
pub use margin::{
    logistic_loss, logistic_slope, softmax_loss, softmax_slopes, softplus, square_loss, square_slope,
};

use crate::error::FiniteSumError;
use serde::{Deserialize, Serialize};

/// A loss with its labels, one per row.
///
/// ```
/// use lao_finite_sum::Loss;
///
/// let squares = Loss::least_squares(vec![1.5, -2.0])?;
/// assert_eq!((squares.len(), squares.outputs()), (2, 1));
/// assert_eq!(Loss::logistic(&[0.0, 1.0, 1.0])?.outputs(), 1);
/// assert_eq!(Loss::softmax(&[0.0, 1.0, 2.0])?.outputs(), 3); // one predictor per class
/// // The labels of a test set mean what those of the training set mean.
/// let training = Loss::logistic(&[1.0, 2.0])?;
/// assert_eq!(Loss::coded(&[1.0, 1.0], training.coding())?.coding(), training.coding());
/// # Ok::<(), lao_finite_sum::FiniteSumError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    kind: Kind,
    /// The weight of each row, 1 on average; `None` if all weigh the same.
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Squares(Vec<f64>),
    Logistic {
        negative: f64,
        positive: f64,
        /// -1 or +1.
        signs: Vec<f64>,
    },
    Softmax {
        first: u32,
        classes: usize,
        /// Below `classes`.
        labels: Vec<u32>,
    },
}

/// The meaning of the numbers that are given as labels. A test set, or a fold, may lack a class: with the
/// coding of the training labels, [`Loss::coding`], its numbers mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Coding {
    /// Numbers, for least squares.
    Numbers,
    /// Two classes, for the logistic loss.
    TwoClasses {
        /// The label that counts as -1.
        negative: f64,
        /// The label that counts as +1.
        positive: f64,
    },
    /// Consecutive whole numbers, one per class, for softmax.
    Classes {
        /// The label of the first class.
        first: u32,
        /// The number of classes.
        count: usize,
    },
}

/// The codings of two classes that are recognized. The smaller number stands for -1.
const TWO_CLASSES: [[f64; 2]; 3] = [[-1.0, 1.0], [0.0, 1.0], [1.0, 2.0]];

/// The largest label of a class.
const MOST_CLASSES: u32 = 65536;

impl Loss {
    /// Returns least squares, `(y - z'x)^2`. There is no factor 1/2, so that gradients have a factor 2.
    ///
    /// # Errors
    /// Fails when a label is not finite.
    pub fn least_squares(labels: Vec<f64>) -> Result<Loss, FiniteSumError> {
        check_finite(&labels)?;
        Ok(Loss { kind: Kind::Squares(labels), weights: None })
    }

    /// Returns the logistic loss, `log(1 + exp(-y z'x))` with y = -1 or +1. Labels are -1 and 1, 0 and 1, or
    /// 1 and 2; the larger one means +1.
    ///
    /// # Errors
    /// Fails when the labels are none of these, or all of them are 1, which may be either class.
    /// [`Loss::coded`] accepts such labels, since the coding says which class is meant.
    pub fn logistic(labels: &[f64]) -> Result<Loss, FiniteSumError> {
        check_finite(labels)?;
        // The codings that all labels so far fit. An error names the first row that fits none of them.
        let mut left = TWO_CLASSES.to_vec();
        for (row, &label) in labels.iter().enumerate() {
            left.retain(|pair| pair.contains(&label));
            if left.is_empty() {
                let allowed =
                    "-1 and +1, 0 and 1, or 1 and 2 (of more than two classes, use the softmax loss)";
                return Err(FiniteSumError::Label { row, label, allowed });
            }
        }
        if !labels.is_empty() && labels.iter().all(|&label| label == 1.0) {
            return Err(FiniteSumError::OneClass { label: 1.0 });
        }
        Loss::coded(labels, Coding::TwoClasses { negative: left[0][0], positive: left[0][1] })
    }

    /// Returns softmax with one predictor per class, `-log p_y`. Labels are whole numbers from 0, or from 1
    /// if no label is 0; the largest label decides the number of classes. Labels that may lack a class, such
    /// as those of a test set, need [`Loss::coded`].
    ///
    /// # Errors
    /// Fails when a label is not a whole number from 0 to 65536.
    pub fn softmax(labels: &[f64]) -> Result<Loss, FiniteSumError> {
        check_finite(labels)?;
        let whole = |label: f64| label.fract() == 0.0 && (0.0..=f64::from(MOST_CLASSES)).contains(&label);
        if let Some(row) = labels.iter().position(|&label| !whole(label)) {
            return Err(FiniteSumError::Label { row, label: labels[row], allowed: "0, 1, .. or 1, 2, .." });
        }
        let first = u32::from(!labels.contains(&0.0));
        let largest = labels.iter().fold(first, |largest, &label| largest.max(label as u32));
        Loss::coded(labels, Coding::Classes { first, count: (largest - first) as usize + 1 })
    }

    /// Returns the loss of a coding (least squares, logistic or softmax) for labels in this coding.
    ///
    /// # Errors
    /// Fails when the coding does not have one of the labels, or has two equal labels, no class, or more than
    /// 65537 classes.
    pub fn coded(labels: &[f64], coding: Coding) -> Result<Loss, FiniteSumError> {
        check_finite(labels)?;
        let refuse = |known: &dyn Fn(f64) -> bool, allowed| {
            let row = labels.iter().position(|&label| !known(label));
            row.map_or(Ok(()), |row| Err(FiniteSumError::Label { row, label: labels[row], allowed }))
        };
        let kind = match coding {
            Coding::Numbers => Kind::Squares(labels.to_vec()),
            Coding::TwoClasses { negative, positive } => {
                let two = negative.is_finite() && positive.is_finite() && negative != positive;
                if !two {
                    return Err(FiniteSumError::Coding { coding, allowed: "two different finite numbers" });
                }
                refuse(&|label| label == negative || label == positive, "the two numbers of the coding")?;
                let sign = |&label: &f64| if label == positive { 1.0 } else { -1.0 };
                Kind::Logistic { negative, positive, signs: labels.iter().map(sign).collect() }
            }
            Coding::Classes { first, count } => {
                if !(1..=MOST_CLASSES as usize + 1).contains(&count) || first > MOST_CLASSES {
                    let allowed = "1 to 65537 classes, the first with a label of at most 65536";
                    return Err(FiniteSumError::Coding { coding, allowed });
                }
                let class = |label: f64| label - f64::from(first);
                let known = |label: f64| label.fract() == 0.0 && (0.0..count as f64).contains(&class(label));
                refuse(&known, "whole numbers from the first label of the coding on, one per class")?;
                let labels = labels.iter().map(|&label| class(label) as u32).collect();
                Kind::Softmax { first, classes: count, labels }
            }
        };
        Ok(Loss { kind, weights: None })
    }

    /// Gives each row a weight, so that the sum becomes the weighted mean of the rows' losses: a row of
    /// weight 2 counts like two rows. Only ratios matter, since weights are divided by their mean.
    ///
    /// ```
    /// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
    ///
    /// let design = DesignMatrix::rows(2, 1, vec![1.0, 1.0])?;
    /// let loss = Loss::least_squares(vec![0.0, 2.0])?.with_weights(&[3.0, 1.0])?;
    /// let mut sum = FiniteSum::new(design, loss)?;
    /// assert_eq!(sum.objective(&Predictor::zeros(1, 1))?, 1.0); // (3 * 0 + 1 * 4)/4
    /// # Ok::<(), lao_finite_sum::FiniteSumError>(())
    /// ```
    ///
    /// # Errors
    /// Fails when there is not one weight per row, a weight is negative or not finite, or the weights have no
    /// finite mean above 0.
    pub fn with_weights(self, weights: &[f64]) -> Result<Loss, FiniteSumError> {
        let rows = self.len();
        if weights.len() != rows {
            return Err(FiniteSumError::Weights { weights: weights.len(), rows });
        }
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(FiniteSumError::Weight { row, weight: weights[row] });
        }
        // A sum of finite weights may be infinite, and a quotient by a mean of tiny ones.
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(*weight));
        if largest == 0.0 {
            return Err(FiniteSumError::Weight { row: 0, weight: 0.0 });
        }
        let mean = weights.iter().map(|weight| weight / largest).sum::<f64>() / rows as f64;
        let weights = weights.iter().map(|weight| weight / largest / mean).collect();
        Ok(Loss { weights: Some(weights), ..self })
    }

    /// Returns the weight of each row, 1 on average; `None` if all weigh the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the weight of row `i`.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Returns the coding of the labels, for other labels of the same kind.
    pub fn coding(&self) -> Coding {
        match self.kind {
            Kind::Squares(_) => Coding::Numbers,
            Kind::Logistic { negative, positive, .. } => Coding::TwoClasses { negative, positive },
            Kind::Softmax { first, classes, .. } => Coding::Classes { first, count: classes },
        }
    }

    /// Returns the number of labels, one per row of the examples.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Squares(labels) | Kind::Logistic { signs: labels, .. } => labels.len(),
            Kind::Softmax { labels, .. } => labels.len(),
        }
    }

    /// Returns whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of margins of a row: the number of classes for softmax, otherwise 1.
    pub fn outputs(&self) -> usize {
        match &self.kind {
            Kind::Softmax { classes, .. } => *classes,
            _ => 1,
        }
    }

    /// Returns an upper bound on the second derivative of a row's loss in its margins, along any direction of
    /// unit length.
    pub fn curvature(&self) -> f64 {
        match &self.kind {
            Kind::Squares(_) => 2.0,
            Kind::Logistic { .. } => 0.25,
            Kind::Softmax { .. } => 0.5,
        }
    }

    /// Returns the labels, if the loss is least squares.
    pub fn squares(&self) -> Option<&[f64]> {
        match &self.kind {
            Kind::Squares(labels) => Some(labels),
            _ => None,
        }
    }

    /// Returns the loss of row `i` at these margins, one per output, times its weight.
    pub(crate) fn value(&self, i: usize, margins: &[f64]) -> f64 {
        let value = match &self.kind {
            Kind::Squares(labels) => square_loss(margins[0], labels[i]),
            Kind::Logistic { signs, .. } => logistic_loss(margins[0], signs[i]),
            Kind::Softmax { labels, .. } => softmax_loss(margins, labels[i] as usize),
        };
        value * self.weight(i)
    }

    /// Returns the second derivative of the loss of row `i` in the margin of an output, times its weight,
    /// from the slope there, which has the weight, too.
    pub(crate) fn curvature_at(&self, i: usize, slope: f64) -> f64 {
        let weight = self.weight(i);
        let part = if weight > 0.0 { (slope / weight).abs() } else { 0.0 };
        // The slope is the probability of the class, or minus that of all others.
        weight
            * match &self.kind {
                Kind::Squares(_) => 2.0,
                Kind::Logistic { .. } | Kind::Softmax { .. } => part * (1.0 - part),
            }
    }

    /// Replaces the margins of row `i`, one per output, by the slopes of its loss, times its weight.
    #[inline]
    pub(crate) fn slopes(&self, i: usize, margins: &mut [f64]) {
        match &self.kind {
            Kind::Squares(labels) => margins[0] = square_slope(margins[0], labels[i]),
            Kind::Logistic { signs, .. } => margins[0] = logistic_slope(margins[0], signs[i]),
            Kind::Softmax { labels, .. } => softmax_slopes(margins, labels[i] as usize),
        }
        if let Some(weights) = &self.weights {
            margins.iter_mut().for_each(|slope| *slope *= weights[i]);
        }
    }
}

fn check_finite(labels: &[f64]) -> Result<(), FiniteSumError> {
    match labels.iter().position(|label| !label.is_finite()) {
        None => Ok(()),
        Some(row) => Err(FiniteSumError::Label { row, label: labels[row], allowed: "finite numbers" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(labels: &[f64]) -> Vec<f64> {
        match Loss::logistic(labels).expect("labels").kind {
            Kind::Logistic { signs, .. } => signs,
            _ => vec![],
        }
    }

    #[test]
    fn binary_labels_come_in_three_conventions() {
        assert_eq!(signs(&[-1.0, 1.0]), [-1.0, 1.0]);
        assert_eq!(signs(&[0.0, 1.0]), [-1.0, 1.0]);
        assert_eq!(signs(&[2.0, 1.0]), [1.0, -1.0]);
        assert_eq!(
            [signs(&[0.0]), signs(&[-1.0]), signs(&[2.0]), signs(&[])],
            [vec![-1.0], vec![-1.0], vec![1.0], vec![]]
        );
        let error = Loss::logistic(&[0.0, 1.0, 7.0]).unwrap_err();
        assert!(matches!(error, FiniteSumError::Label { row: 2, .. }), "{error}");
        assert!(matches!(Loss::logistic(&[-1.0, 0.0]), Err(FiniteSumError::Label { row: 1, .. })));
    }

    #[test]
    fn a_third_label_is_the_one_at_fault() {
        let error = Loss::logistic(&[0.0, 1.0, 1.0, 2.0, 0.0]).unwrap_err();
        assert!(matches!(error, FiniteSumError::Label { row: 3, label: 2.0, .. }), "{error}");
        assert!(error.to_string().contains("softmax"), "{error}");
    }

    #[test]
    fn labels_that_are_all_one_may_be_either_class_and_need_a_coding() {
        let error = Loss::logistic(&[1.0, 1.0]).unwrap_err();
        assert_eq!(error, FiniteSumError::OneClass { label: 1.0 });
        assert!(error.to_string().contains("Loss::coded"), "{error}");

        // A fold of one class means what the whole means.
        for (whole, sign) in [([1.0, 2.0], -1.0), ([0.0, 1.0], 1.0), ([-1.0, 1.0], 1.0)] {
            let coding = Loss::logistic(&whole).unwrap().coding();
            let fold = Loss::coded(&[1.0, 1.0], coding).unwrap();
            assert!(matches!(&fold.kind, Kind::Logistic { signs, .. } if signs == &[sign; 2]), "{whole:?}");
            assert_eq!(fold.coding(), coding);
        }
    }

    #[test]
    fn a_fold_without_the_first_or_the_last_class_keeps_the_numbers_of_the_others() {
        let coding = Loss::softmax(&[0.0, 1.0, 2.0]).unwrap().coding();
        let fold = Loss::coded(&[1.0, 1.0], coding).unwrap();
        assert!(matches!(&fold.kind, Kind::Softmax { classes: 3, labels, .. } if labels == &[1, 1]));
        let coding = Loss::softmax(&[1.0, 3.0]).unwrap().coding();
        let fold = Loss::coded(&[2.0], coding).unwrap();
        assert!(matches!(&fold.kind, Kind::Softmax { classes: 3, labels, .. } if labels == &[1]));
    }

    #[test]
    fn codings_that_cannot_be_are_refused_and_so_are_labels_that_a_coding_does_not_know() {
        let two = |negative, positive| Coding::TwoClasses { negative, positive };
        let classes = |first, count| Coding::Classes { first, count };
        for coding in
            [two(1.0, 1.0), two(f64::NAN, 1.0), two(0.0, f64::INFINITY), classes(0, 0), classes(0, 1 << 40)]
        {
            assert!(matches!(Loss::coded(&[], coding), Err(FiniteSumError::Coding { .. })), "{coding:?}");
        }
        for (labels, coding) in [
            ([1.0, 3.0], two(1.0, 2.0)),
            ([1.0, 0.0], classes(1, 3)),
            ([1.0, 4.0], classes(1, 3)),
            ([1.0, 1.5], classes(1, 3)),
            ([1.0, f64::NAN], Coding::Numbers),
        ] {
            assert!(
                matches!(Loss::coded(&labels, coding), Err(FiniteSumError::Label { row: 1, .. })),
                "{coding:?}"
            );
        }
    }

    #[test]
    fn classes_count_from_zero_or_one() {
        assert_eq!(Loss::softmax(&[0.0, 2.0]).unwrap().outputs(), 3);
        assert_eq!(Loss::softmax(&[1.0, 3.0, 3.0]).unwrap().outputs(), 3);
        assert_eq!(Loss::softmax(&[1.0, 1.0]).unwrap().outputs(), 1);
        assert!(matches!(Loss::softmax(&[0.0, 1.5]), Err(FiniteSumError::Label { row: 1, .. })));
        assert!(matches!(Loss::softmax(&[-1.0]), Err(FiniteSumError::Label { row: 0, .. })));
    }
}
