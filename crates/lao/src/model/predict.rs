//! Applying a model to the rows of a table.

use super::{Coefficient, Link, Model};
use crate::error::Error;
use crate::examples::Label;
use crate::frame::{Column, Frame, Values};
use lao_algorithms::trees::Trees;
use serde::Deserialize;
use std::ops::{ControlFlow, Range};

/// The number of rows whose values are read at once.
const AT_ONCE: usize = 30_000;

/// What a prediction does about a value that is missing.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// use lao::{Frame, Missing};
///
/// let fresh = Frame::parse(b"bmi,ltg\n30,4.9\n?,4.9\n", "fresh.csv", &model.read_options())?;
/// let of_mean = model.predict(&fresh, Missing::Mean)?;
/// assert!(of_mean.values[1] < of_mean.values[0]);
/// assert!(model.predict(&fresh, Missing::Refuse)?.values[1].is_nan());
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It uses the mean of the attribute.
    #[default]
    Mean,
    /// There is no prediction for the row.
    Refuse,
}

/// Predictions for the rows of a table.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let fresh = lao::Frame::parse(b"bmi,ltg\n30,4.9\n?,4.9\n", "fresh.csv", &model.read_options())?;
/// let predicted = model.predict(&fresh, lao::Missing::Mean)?;
/// assert_eq!((predicted.values.len(), predicted.incomplete), (2, 1));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// One per row: of the label or, for two classes, of the sum whose sign tells the class. NaN where the
    /// row was refused.
    pub values: Vec<f64>,
    /// Rows of which a value was missing.
    pub incomplete: usize,
}

impl Model {
    /// Predicts rows whose values are read as they are needed; every prediction is made here.
    ///
    /// `read` gets a range of `0..rows` and fills in the values of these rows, for one
    /// [coefficient](Self::coefficients) after the other, NaN where a value is missing; a break ends the
    /// predictions. `take` gets the range, the predicted sums, in which a missing value counts as the mean,
    /// and for each row whether a value was missing.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// # let examples = lao::read(table)?.target("progression")?;
    /// # let model = lao::Fit::within(5).run(&examples)?.model;
    /// use std::ops::ControlFlow;
    ///
    /// let (bmi, ltg) = ([30.0, 25.0], [4.9, 5.1]);
    /// let read = |rows: std::ops::Range<usize>, into: &mut [f64]| {
    ///     let (first, second) = into.split_at_mut(rows.len());
    ///     first.copy_from_slice(&bmi[rows.clone()]);
    ///     second.copy_from_slice(&ltg[rows]);
    ///     Ok::<_, lao::Error>(ControlFlow::Continue(()))
    /// };
    /// let mut predicted = Vec::new();
    /// let done = model.predict_rows(2, read, |_, sums, _| predicted.extend_from_slice(sums))?;
    /// assert!(done.is_continue());
    ///
    /// let frame = lao::Frame::parse(b"bmi,ltg\n30,4.9\n25,5.1\n", "fresh.csv", &Default::default())?;
    /// assert_eq!(predicted, model.predict(&frame, lao::Missing::Mean)?.values);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `read`.
    pub fn predict_rows<E>(
        &self,
        rows: usize,
        read: impl FnMut(Range<usize>, &mut [f64]) -> Result<ControlFlow<()>, E>,
        take: impl FnMut(Range<usize>, &[f64], &[bool]),
    ) -> Result<ControlFlow<()>, E> {
        self.predictor().predict_rows(rows, read, take)
    }

    /// Returns what a prediction needs.
    pub fn predictor(&self) -> Predictor<'_> {
        let Model { intercept, coefficients, trees, .. } = self;
        Predictor { intercept: *intercept, coefficients, trees: trees.as_ref() }
    }

    /// Predicts every row of a table. Only the columns of the support are read; others may be absent.
    ///
    /// # Errors
    /// When a column of the support is not in the table, or has words in the place of numbers.
    pub fn predict(&self, frame: &Frame, missing: Missing) -> Result<Predictions, Error> {
        let absent: Vec<&str> =
            self.columns().into_iter().filter(|column| frame.column(column).is_err()).collect();
        if let [_, _, ..] = absent[..] {
            let reason = format!("the model needs them, and {} lacks them", frame.name());
            return Err(Error::Columns { columns: absent.iter().map(|&name| name.into()).collect(), reason });
        }
        let columns = self.coefficients.iter().map(|one| Ok((one, frame.column(&one.column)?)));
        let columns: Vec<(&Coefficient, &Column)> = columns.collect::<Result<_, Error>>()?;
        let read = |rows: Range<usize>, into: &mut [f64]| {
            for ((coefficient, column), into) in columns.iter().zip(into.chunks_exact_mut(rows.len())) {
                for (row, x) in rows.clone().zip(into) {
                    *x = coefficient.of(column, row)?;
                }
            }
            Ok::<_, Error>(ControlFlow::Continue(()))
        };
        let (mut values, mut incomplete) = (Vec::with_capacity(frame.rows()), 0);
        // A table in memory ends no stream.
        let _ = self.predict_rows(frame.rows(), read, |_, sums, lacking| {
            values.extend(sums.iter().zip(lacking).map(|(&sum, &lacks)| {
                incomplete += usize::from(lacks);
                if lacks && missing == Missing::Refuse { f64::NAN } else { sum }
            }));
        })?;
        Ok(Predictions { values, incomplete })
    }

    /// Returns what each [coefficient](Self::coefficients) adds to the prediction of a row, against the mean
    /// of its attribute; a missing value adds nothing. Trees are left out.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// # let examples = lao::read(table)?.target("progression")?;
    /// # let model = lao::Fit::within(5).run(&examples)?.model;
    /// let fresh = lao::Frame::parse(b"bmi,ltg\n30,4.9\n?,4.9\n", "fresh.csv", &model.read_options())?;
    /// let (first, second) = (model.parts(&fresh, 0)?, model.parts(&fresh, 1)?);
    /// assert!(first[0] > 0.0 && second[0] == 0.0 && first[1] == second[1]);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// # Panics
    /// When there is no such row.
    pub fn parts(&self, frame: &Frame, row: usize) -> Result<Vec<f64>, Error> {
        let part = |one: &Coefficient| {
            let x = one.of(frame.column(&one.column)?, row)?;
            let x = if x.is_nan() { one.mean } else { one.clamped(x) };
            Ok(one.value * (x - one.mean))
        };
        self.coefficients.iter().map(part).collect()
    }

    /// Returns the probability of the positive class for a predicted sum, if the model has two classes and
    /// knows it.
    pub fn probability(&self, predicted: f64) -> Option<f64> {
        let Link { offset, slope } = self.link?;
        Some(1.0 / (1.0 + (-(offset + slope * predicted)).exp()))
    }

    /// Returns the class that a predicted sum stands for; `None` for a label of numbers.
    pub fn class(&self, predicted: f64) -> Option<&str> {
        match &self.label {
            Label::Number => None,
            Label::Classes { positive, negative } => {
                Some(if predicted > self.threshold() { positive } else { negative })
            }
        }
    }

    /// Returns the sum above which a row belongs to the positive class.
    pub(crate) fn threshold(&self) -> f64 {
        self.link.map_or(0.0, |link| -link.offset / link.slope.max(1e-300))
    }
}

impl Coefficient {
    /// Returns a value of the attribute as it counts: cut at the ends of [`within`](Self::within).
    pub(crate) fn clamped(&self, x: f64) -> f64 {
        self.within.map_or(x, |[low, high]| x.clamp(low, high))
    }

    /// Returns the attribute of a row; NaN if it is missing.
    fn of(&self, column: &Column, row: usize) -> Result<f64, Error> {
        let fail = |reason: &str| Error::Column { column: column.name.clone(), reason: reason.into() };
        match (&self.word, &column.values) {
            (None, Values::Numbers(numbers)) => Ok(numbers[row]),
            (None, _) => Err(fail("the model needs numbers there, and the table has words")),
            (Some(word), Values::Words { words, places }) => {
                let own = words.get(places[row] as usize);
                Ok(own.map_or(f64::NAN, |own| f64::from(u8::from(own == word))))
            }
            // A column whose words look like numbers in this table.
            (Some(word), Values::Numbers(numbers)) => {
                let x = numbers[row];
                let same = word.parse::<f64>().is_ok_and(|word| word == x);
                Ok(if x.is_nan() { x } else { f64::from(u8::from(same)) })
            }
            (Some(_), Values::TooManyWords(_)) => {
                Err(fail("the table has too many different words there for the model's column of words"))
            }
            (Some(_), Values::Others(why)) => Err(fail(why)),
        }
    }
}

/// What a prediction needs of a model, or of a line that is no model.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    /// The prediction when every attribute is 0 and there are no trees.
    pub intercept: f64,
    /// One entry for each attribute.
    pub coefficients: &'a [Coefficient],
    /// Trees whose columns are the attributes.
    pub trees: Option<&'a Trees>,
}

impl Predictor<'_> {
    /// As [`Model::predict_rows`].
    ///
    /// # Errors
    /// Those of `read`.
    pub fn predict_rows<E>(
        self,
        rows: usize,
        mut read: impl FnMut(Range<usize>, &mut [f64]) -> Result<ControlFlow<()>, E>,
        mut take: impl FnMut(Range<usize>, &[f64], &[bool]),
    ) -> Result<ControlFlow<()>, E> {
        let Predictor { intercept, coefficients, trees } = self;
        let (mut values, mut sums, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
        for start in (0..rows).step_by(AT_ONCE) {
            let range = start..rows.min(start + AT_ONCE);
            values.resize(range.len() * coefficients.len(), 0.0);
            if read(range.clone(), &mut values)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            sums.clear();
            sums.resize(range.len(), intercept);
            lacking.clear();
            lacking.resize(range.len(), false);
            for (coefficient, column) in coefficients.iter().zip(values.chunks_exact_mut(range.len())) {
                for ((sum, lacks), x) in sums.iter_mut().zip(&mut lacking).zip(column) {
                    *lacks |= x.is_nan();
                    *x = if x.is_nan() { coefficient.mean } else { coefficient.clamped(*x) };
                    *sum += coefficient.value * *x;
                }
            }
            if let Some(trees) = trees {
                trees.add_to(values.chunks_exact(range.len()), &mut sums);
            }
            take(range, &sums, &lacking);
        }
        Ok(ControlFlow::Continue(()))
    }
}
