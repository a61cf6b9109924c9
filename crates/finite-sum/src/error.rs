//! The errors of finite sums.

use crate::loss::Coding;
use std::cmp::Ordering;
use thiserror::Error;

/// Returns the remedy for a predictor of `dim` coefficients and examples of another dimension. Most often two
/// sparse files have different largest indices.
fn advice(dim: usize, of_examples: usize) -> String {
    match dim.cmp(&of_examples) {
        Ordering::Equal => String::new(),
        Ordering::Greater => format!(
            "; a sparse file whose largest index is smaller than that of the training file must be read with \
             dim = {dim}"
        ),
        Ordering::Less => {
            format!("; read the training file with dim = {of_examples}, too, and train again")
        }
    }
}

/// The reason why a finite sum cannot be made, or cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum FiniteSumError {
    /// There are no rows, or the number of labels is another.
    #[error("{labels} labels for {rows} rows: give one label per row, and at least one row")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A label that the loss does not know.
    #[error("row {row} has label {label}: labels must be {allowed}")]
    Label {
        /// The first such row.
        row: usize,
        /// Its label.
        label: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The number of weights is not that of the rows.
    #[error("{weights} weights for {rows} rows: give one weight per row")]
    Weights {
        /// Number of weights.
        weights: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A weight that is not allowed.
    #[error("row {row} has the weight {weight}: weights must be finite and at least 0, and one above 0")]
    Weight {
        /// The first such row.
        row: usize,
        /// Its weight.
        weight: f64,
    },
    /// All labels are 1, which may mean either class.
    #[error(
        "all labels are {label}, which is the larger of 0 and 1 but the smaller of 1 and 2: say what they \
         mean with Loss::coded, for instance with the coding of the training labels"
    )]
    OneClass {
        /// The label.
        label: f64,
    },
    /// A coding that is not allowed.
    #[error("the labels cannot be coded as {coding:?}: give {allowed}")]
    Coding {
        /// The coding.
        coding: Coding,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The rows cannot be divided into blocks of this size.
    #[error(
        "{rows} rows do not make blocks of {size}: the size must be at least 1 and divide the number of rows"
    )]
    Blocks {
        /// The size asked for.
        size: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A component that does not exist.
    #[error("component {component} does not exist: there are {components}, counted from 0")]
    Component {
        /// Its number.
        component: u32,
        /// `n`.
        components: usize,
    },
    /// A predictor of another shape.
    #[error(
        "the predictor has {outputs} outputs of {dim} coefficients, but the examples need {expected_outputs} \
         of {expected_dim}{}", advice(*dim, *expected_dim)
    )]
    Predictor {
        /// Its outputs.
        outputs: usize,
        /// Coefficients of the first output that does not fit, or of the first.
        dim: usize,
        /// Outputs of the sum.
        expected_outputs: usize,
        /// Coefficients of the sum.
        expected_dim: usize,
    },
    /// A support that does not ascend strictly, or goes beyond the dimension.
    #[error(
        "the support names attribute {attribute} in place {place}: it must ascend strictly and stay below \
         {dim}"
    )]
    Support {
        /// The place of the first attribute that does not fit.
        place: usize,
        /// The attribute.
        attribute: u32,
        /// `d`.
        dim: usize,
    },
    /// The number of values is not rows times columns.
    #[error("{values} values do not make {rows} rows of {dim}: give rows * dim values, each below 2^32")]
    Shape {
        /// Rows wanted.
        rows: usize,
        /// Columns wanted.
        dim: usize,
        /// Values given.
        values: usize,
    },
    /// A value is NaN or infinite.
    #[error("row {row}, attribute {attribute} holds {value}: values must be finite")]
    NotFinite {
        /// Its row.
        row: usize,
        /// Its attribute.
        attribute: usize,
        /// The value.
        value: f64,
    },
    /// A weight of the l2 term that is not allowed.
    #[error("ridge = {ridge} is not allowed; it must be a finite number of at least 0")]
    Ridge {
        /// The value.
        ridge: f64,
    },
    /// A column that cannot be standardized.
    #[error("attribute {attribute} has standard deviation {scale}: scale its values down first")]
    Scale {
        /// The column.
        attribute: usize,
        /// Its standard deviation.
        scale: f64,
    },
}
