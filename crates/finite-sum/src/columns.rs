//! Some columns of a finite sum as dense numbers, and products of all its columns: for methods that compare
//! attributes with one another.

use crate::error::FiniteSumError;
use crate::sum::FiniteSum;
use crate::sweep::{COLUMNS, PARALLEL, Pass};
use lao_kernels::{SparseVector, add_columns, gradient_block};
use rayon::prelude::*;

/// Dense columns, one after the other, scaled and centered as a sum has them.
///
/// ```
/// use lao_finite_sum::{Columns, DesignMatrix, FiniteSum, Loss};
///
/// let design = DesignMatrix::rows(2, 3, vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0])?;
/// let sum = FiniteSum::new(design, Loss::least_squares(vec![4.0, -1.0])?)?;
/// let mut columns = Columns::default();
/// columns.extend(&sum, &[2, 0])?;
/// assert_eq!((columns.column(0), columns.column(1)), (&[2.0, 1.0][..], &[1.0, 0.0][..]));
/// let mut products = Vec::new();
/// columns.products(0, &[1.0, 3.0], &mut products);
/// assert_eq!(products, [5.0, 1.0]);
/// # Ok::<(), lao_finite_sum::FiniteSumError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The rows that the columns have, if these are not all.
    list: Option<Vec<u32>>,
    rows: usize,
    attributes: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    /// Returns columns of these rows alone, of which there are none yet.
    pub fn of_rows(rows: Vec<u32>) -> Self {
        Columns { list: Some(rows), ..Columns::default() }
    }

    /// Appends columns of a sum. They are not counted, since they are the oracle's own data.
    ///
    /// # Errors
    /// Fails when an attribute or a row does not exist.
    pub fn extend(&mut self, sum: &FiniteSum, attributes: &[u32]) -> Result<(), FiniteSumError> {
        let dim = sum.dim();
        if let Some(place) = attributes.iter().position(|&j| j as usize >= dim) {
            return Err(FiniteSumError::Support { place, attribute: attributes[place], dim });
        }
        if let Some(list) = &self.list {
            let rows = sum.rows();
            if let Some(&component) = list.iter().find(|row| **row as usize >= rows) {
                return Err(FiniteSumError::Component { component, components: rows });
            }
        }
        self.rows = self.list.as_ref().map_or(sum.rows(), Vec::len);
        self.attributes.extend_from_slice(attributes);
        let from = self.values.len();
        self.values.resize(from + self.rows * attributes.len(), 0.0);
        sum.design.columns(self.list.as_deref(), attributes, &mut self.values[from..]);
        let Some(standard) = sum.standard.as_deref() else { return Ok(()) };
        for (column, &j) in self.values[from..].chunks_exact_mut(self.rows.max(1)).zip(attributes) {
            let (inverse, offset) =
                (standard.inverse[j as usize], standard.offset.get(j as usize).unwrap_or(&0.0));
            column.iter_mut().for_each(|value| *value = *value * inverse - offset);
        }
        Ok(())
    }

    /// Returns the attributes, in the order in which they were appended.
    pub fn attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// Returns the column at a place.
    ///
    /// # Panics
    /// Panics if there is no such place, as indexing does.
    pub fn column(&self, place: usize) -> &[f64] {
        &self.values[place * self.rows..][..self.rows]
    }

    /// Adds to `sum` each of these columns times its weight.
    pub fn add(&self, weighted: impl Iterator<Item = (usize, f64)>, sum: &mut [f64]) {
        add_columns(weighted.map(|(place, weight)| (self.column(place), weight)), sum);
    }

    /// Appends the products of the columns from place `from` on with `right`. One thread computes each.
    pub fn products(&self, from: usize, right: &[f64], into: &mut Vec<f64>) {
        let (begin, count) = (into.len(), self.attributes.len() - from);
        into.resize(begin + count, 0.0);
        let group = |(chunk, sums): (usize, &mut [f64])| {
            let columns = (0..sums.len()).map(|c| self.column(from + chunk * COLUMNS + c));
            gradient_block(columns, right, sums);
        };
        let chunks = &mut into[begin..];
        if count * self.rows < PARALLEL {
            chunks.chunks_mut(COLUMNS).enumerate().for_each(group);
        } else {
            chunks.par_chunks_mut(COLUMNS).enumerate().for_each(group);
        }
    }
}

impl FiniteSum {
    /// Writes the products of all columns, scaled and centered, with each of `right`, which has a number for
    /// each row: n calls for each, as the gradients that they are parts of.
    ///
    /// # Panics
    /// Panics if one of `right` has fewer numbers than there are rows, as indexing does.
    pub fn products(&mut self, right: &[Vec<f64>], into: &mut Vec<Vec<f64>>) {
        self.count((self.len() * right.len()) as u64);
        let (dim, count) = (self.dim(), right.len());
        into.resize_with(count, Vec::new);
        into.iter_mut().for_each(|sums| {
            sums.clear();
            sums.resize(dim, 0.0);
        });
        let (model, weights) = (vec![SparseVector::zeros(dim); count], vec![vec![0.0; dim]; count]);
        let mut slope = |i: usize, margins: &mut [f64]| {
            margins.iter_mut().zip(right).for_each(|(margin, right)| *margin = right[i]);
        };
        let (shift, mut tile, mut row) = (vec![0.0; count], Vec::new(), Vec::new());
        self.design.sweep(
            None,
            Pass {
                model: &model,
                weights: &weights,
                shift: &shift,
                slope: &mut slope,
                sums: into,
                tile: &mut tile,
                row: &mut row,
            },
        );
        let Some(standard) = self.standard.as_deref() else { return };
        for (sums, right) in into.iter_mut().zip(right) {
            sums.iter_mut().zip(&standard.inverse).for_each(|(sum, inverse)| *sum *= inverse);
            let total: f64 = right.iter().sum();
            sums.iter_mut().zip(&standard.offset).for_each(|(sum, offset)| *sum -= total * offset);
        }
    }

    /// Returns the mean square of each column: about its mean, if the sum has an intercept or is centered.
    pub fn mean_squares(&self) -> Vec<f64> {
        let moments = self.moments();
        let about_mean = self.intercept || self.offset().is_some();
        let square = |(j, scale): (usize, &f64)| {
            let mean = if about_mean { 0.0 } else { moments.means[j] };
            let inverse = self.standard.as_deref().map_or(1.0, |standard| standard.inverse[j]);
            (scale * scale + mean * mean) * inverse * inverse
        };
        moments.scales.iter().enumerate().map(square).collect()
    }

    /// Writes slope and curvature of the loss of each row in the margin of one output, at the margins of all
    /// outputs, and returns the mean loss, without the l2 term. This counts n calls.
    ///
    /// # Panics
    /// Panics if there are fewer margins than rows and outputs, as indexing does.
    pub fn expand(
        &self,
        margins: &[Vec<f64>],
        output: usize,
        slopes: &mut Vec<f64>,
        curvatures: &mut Vec<f64>,
    ) -> f64 {
        self.count(self.len() as u64);
        let (loss, mut of_row, mut total) = (&self.loss, vec![0.0; margins.len()], 0.0);
        slopes.clear();
        curvatures.clear();
        for i in 0..self.rows() {
            of_row.iter_mut().zip(margins).for_each(|(margin, margins)| *margin = margins[i]);
            total += loss.value(i, &of_row);
            loss.slopes(i, &mut of_row);
            slopes.push(of_row[output]);
            curvatures.push(loss.curvature_at(i, of_row[output]));
        }
        total / self.rows() as f64
    }
}
