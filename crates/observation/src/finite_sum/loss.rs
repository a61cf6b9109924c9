//! What the components of a finite sum measure: a loss and the labels that it is measured against.

use super::FiniteSumError;
use lao_kernels::{logistic_loss, logistic_slope, softmax_loss, softmax_slopes, square_loss, square_slope};

/// A loss with its labels, one per component.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Squares(Vec<f64>),
    /// -1 or +1.
    Logistic(Vec<f64>),
    /// Below `classes`.
    Softmax {
        classes: usize,
        labels: Vec<u32>,
    },
}

impl Loss {
    /// Least squares, `(y - z'x)^2`: no factor 1/2, so gradients carry a 2.
    ///
    /// # Errors
    /// When a label is not finite.
    pub fn least_squares(labels: Vec<f64>) -> Result<Loss, FiniteSumError> {
        check_finite(&labels)?;
        Ok(Loss(Kind::Squares(labels)))
    }

    /// Logistic, `log(1 + exp(-y z'x))` with y = -1 or +1. Labels may be given as {-1, +1}, {0, 1} or {1, 2}, the larger
    /// one being +1; one of the two may be missing, in which case the first of these that fits counts.
    ///
    /// # Errors
    /// When the labels are none of these.
    pub fn logistic(labels: &[f64]) -> Result<Loss, FiniteSumError> {
        check_finite(labels)?;
        for (low, high) in [(-1.0, 1.0), (0.0, 1.0), (1.0, 2.0)] {
            if labels.iter().all(|&label| label == low || label == high) {
                let sign = |&label: &f64| if label == high { 1.0 } else { -1.0 };
                return Ok(Loss(Kind::Logistic(labels.iter().map(sign).collect())));
            }
        }
        let odd = labels.iter().position(|label| ![-1.0, 0.0, 1.0, 2.0].contains(label));
        let row = odd.unwrap_or_else(|| labels.iter().position(|&label| label != labels[0]).unwrap_or(0));
        Err(FiniteSumError::Label { row, label: labels[row], allowed: "-1 and +1, 0 and 1, or 1 and 2" })
    }

    /// Softmax with one predictor per class, `-log p_y`. Labels are whole numbers from 0, or from 1 if there is no 0; there are
    /// as many classes as the largest says.
    ///
    /// # Errors
    /// When a label is not a whole number from 0 to 65536.
    pub fn softmax(labels: &[f64]) -> Result<Loss, FiniteSumError> {
        check_finite(labels)?;
        let whole = |label: f64| label.fract() == 0.0 && (0.0..=65536.0).contains(&label);
        if let Some(row) = labels.iter().position(|&label| !whole(label)) {
            return Err(FiniteSumError::Label { row, label: labels[row], allowed: "0, 1, .. or 1, 2, .." });
        }
        let first = if labels.contains(&0.0) { 0.0 } else { 1.0 };
        let labels: Vec<u32> = labels.iter().map(|label| (label - first) as u32).collect();
        let classes = labels.iter().max().map_or(1, |&most| most as usize + 1);
        Ok(Loss(Kind::Softmax { classes, labels }))
    }

    /// Number of components that have a label.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Squares(labels) | Kind::Logistic(labels) => labels.len(),
            Kind::Softmax { labels, .. } => labels.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Margins that a component has: the number of classes for softmax, else 1.
    pub fn outputs(&self) -> usize {
        match &self.0 {
            Kind::Softmax { classes, .. } => *classes,
            _ => 1,
        }
    }

    /// Upper bound on the second derivative along any direction of the margins (of unit length, for several).
    pub fn curvature(&self) -> f64 {
        match &self.0 {
            Kind::Squares(_) => 2.0,
            Kind::Logistic(_) => 0.25,
            Kind::Softmax { .. } => 0.5,
        }
    }

    /// The labels, if the loss is least squares.
    pub fn squares(&self) -> Option<&[f64]> {
        match &self.0 {
            Kind::Squares(labels) => Some(labels),
            _ => None,
        }
    }

    /// The loss of component `i` at these margins.
    pub(super) fn value(&self, i: usize, margins: &[f64]) -> f64 {
        match &self.0 {
            Kind::Squares(labels) => square_loss(margins[0], labels[i]),
            Kind::Logistic(signs) => logistic_loss(margins[0], signs[i]),
            Kind::Softmax { labels, .. } => softmax_loss(margins, labels[i] as usize),
        }
    }

    /// Replaces the margins of component `i` by the slopes of its loss.
    #[inline]
    pub(super) fn slopes(&self, i: usize, margins: &mut [f64]) {
        match &self.0 {
            Kind::Squares(labels) => margins[0] = square_slope(margins[0], labels[i]),
            Kind::Logistic(signs) => margins[0] = logistic_slope(margins[0], signs[i]),
            Kind::Softmax { labels, .. } => softmax_slopes(margins, labels[i] as usize),
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
        match Loss::logistic(labels).expect("labels").0 {
            Kind::Logistic(signs) => signs,
            _ => vec![],
        }
    }

    #[test]
    fn binary_labels_come_in_three_conventions() {
        assert_eq!(signs(&[-1.0, 1.0]), [-1.0, 1.0]);
        assert_eq!(signs(&[0.0, 1.0]), [-1.0, 1.0]);
        assert_eq!(signs(&[2.0, 1.0]), [1.0, -1.0]);
        assert_eq!((signs(&[0.0]), signs(&[1.0]), signs(&[])), (vec![-1.0], vec![1.0], vec![]));
        let error = Loss::logistic(&[0.0, 1.0, 7.0]).unwrap_err();
        assert!(matches!(error, FiniteSumError::Label { row: 2, .. }), "{error}");
        assert!(matches!(Loss::logistic(&[-1.0, 0.0]), Err(FiniteSumError::Label { row: 1, .. })));
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
