//! The examples of a finite sum, in the four usual layouts.

use super::FiniteSumError;
use lao_kernels::{
    Compressed, Element, ROW_TILE, SparseVector, TILE, add_columns, axpy_column, gather_dot, gradient_block,
    row_gather_dot, scatter_axpy,
};
use std::fmt::Debug;
use std::sync::Arc;

/// Examples as rows of numbers, for products.
pub(super) trait Design: Debug + Send + Sync {
    fn rows(&self) -> usize;
    fn dim(&self) -> usize;
    /// Row `i`, as it is stored; numbers that are not double precision go through `scratch`.
    fn row<'a>(&'a self, i: usize, scratch: &'a mut Vec<f64>) -> Entries<'a>;
    /// Goes over these rows, or all: margins, slopes, and, if wanted, sums of slope times row.
    fn sweep(&self, rows: Option<&[u32]>, pass: Pass<'_>);
    /// Adds to `gram` (row by row, lower triangle) and `right` the inner products of the columns in `support` with each other
    /// and with `labels`.
    fn gram(
        &self,
        support: &[u32],
        labels: &[f64],
        gram: &mut [f64],
        right: &mut [f64],
        scratch: &mut GramScratch,
    );
    /// The columns in `support` alone, renumbered.
    fn restrict(&self, support: &[u32]) -> Arc<dyn Design>;
    /// Mean and standard deviation (divisor n) of every column; of no rows, zeros.
    fn moments(&self) -> (Vec<f64>, Vec<f64>);
}

/// Room for inner products of columns.
#[derive(Clone, Debug, Default)]
pub(super) struct GramScratch {
    own: Vec<f64>,
    slots: Vec<u32>,
    places: Vec<u32>,
}

/// Some of the components.
#[derive(Clone, Copy, Debug)]
pub enum Batch<'a> {
    /// All of them.
    All,
    /// These.
    Components(&'a [u32]),
}

impl Batch<'_> {
    /// How many, of `components`.
    pub fn len(&self, components: usize) -> usize {
        match self {
            Batch::All => components,
            Batch::Components(list) => list.len(),
        }
    }
}

/// The entries of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entries<'a> {
    /// Stored entries, by ascending attribute.
    Sparse(&'a [u32], &'a [f64]),
    /// All attributes.
    Dense(&'a [f64]),
}

/// What a sweep computes.
pub(super) struct Pass<'a> {
    /// One sparse vector per output.
    pub model: &'a [SparseVector],
    /// The same, dense.
    pub weights: &'a [Vec<f64>],
    /// Added to the margins, one per output.
    pub shift: &'a [f64],
    /// Called with the row's number and margins, which it may replace by slopes.
    pub slope: &'a mut dyn FnMut(usize, &mut [f64]),
    /// One dense vector per output, to which slope times row is added; none if not wanted.
    pub sums: &'a mut [Vec<f64>],
    /// Room for margins.
    pub tile: &'a mut Vec<f64>,
    /// Room for the margins of one row.
    pub row: &'a mut Vec<f64>,
}

/// Rows in memory.
#[derive(Clone, Debug)]
pub struct Examples<T> {
    rows: usize,
    dim: usize,
    layout: Layout<T>,
}

#[derive(Clone, Debug)]
enum Layout<T> {
    Columns(Vec<T>),
    Rows(Vec<T>),
    CompressedRows(Compressed<T>),
    /// The rows, too: random rows of compressed columns cannot be had otherwise.
    Compressed {
        columns: Compressed<T>,
        rows: Compressed<T>,
    },
}

impl<T: Element> Examples<T> {
    /// Dense, column after column: value (i, j) at `j * rows + i`. Whole gradients are fastest this way, single rows slowest.
    ///
    /// # Errors
    /// When the numbers do not fill the shape, or one is not finite.
    pub fn columns(rows: usize, dim: usize, values: Vec<T>) -> Result<Examples<T>, FiniteSumError> {
        check_dense(rows, dim, &values, |at| (at % rows, at / rows))?;
        Ok(Examples { rows, dim, layout: Layout::Columns(values) })
    }

    /// Dense, row after row: value (i, j) at `i * dim + j`.
    ///
    /// # Errors
    /// When the numbers do not fill the shape, or one is not finite.
    pub fn rows(rows: usize, dim: usize, values: Vec<T>) -> Result<Examples<T>, FiniteSumError> {
        check_dense(rows, dim, &values, |at| (at / dim, at % dim))?;
        Ok(Examples { rows, dim, layout: Layout::Rows(values) })
    }

    /// Sparse, compressed rows (CSR): line i is row i.
    pub fn compressed_rows(rows: Compressed<T>) -> Examples<T> {
        Examples { rows: rows.lines(), dim: rows.width(), layout: Layout::CompressedRows(rows) }
    }

    /// Sparse, compressed columns (CSC): line j is column j. Keeps compressed rows beside them, so takes twice the memory;
    /// whole gradients then look only at the columns of the support for the margins.
    pub fn compressed_columns(columns: Compressed<T>) -> Examples<T> {
        let (rows, dim) = (columns.width(), columns.lines());
        let transposed = columns.transpose();
        Examples { rows, dim, layout: Layout::Compressed { columns, rows: transposed } }
    }
}

fn check_dense<T: Element>(
    rows: usize,
    dim: usize,
    values: &[T],
    place: impl Fn(usize) -> (usize, usize),
) -> Result<(), FiniteSumError> {
    if rows.checked_mul(dim) != Some(values.len()) || rows.max(dim) > u32::MAX as usize {
        return Err(FiniteSumError::Shape { rows, dim, values: values.len() });
    }
    match values.iter().position(|value| !value.to_f64().is_finite()) {
        None => Ok(()),
        Some(at) => {
            let (row, attribute) = place(at);
            Err(FiniteSumError::NotFinite { row, attribute, value: values[at].to_f64() })
        }
    }
}

/// Double-precision values: borrowed where they are stored so, else converted.
fn doubles<'a, T: Element>(values: &'a [T], scratch: &'a mut Vec<f64>) -> &'a [f64] {
    if let Some(values) = T::as_f64(values) {
        return values;
    }
    scratch.clear();
    scratch.extend(values.iter().map(|value| value.to_f64()));
    scratch
}

impl<T: Element> Design for Examples<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn row<'a>(&'a self, i: usize, scratch: &'a mut Vec<f64>) -> Entries<'a> {
        match &self.layout {
            Layout::Columns(values) => {
                scratch.clear();
                scratch.extend(values.iter().skip(i).step_by(self.rows.max(1)).map(|value| value.to_f64()));
                Entries::Dense(scratch)
            }
            Layout::Rows(values) => Entries::Dense(doubles(&values[i * self.dim..][..self.dim], scratch)),
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                let (indices, values) = rows.line(i);
                Entries::Sparse(indices, doubles(values, scratch))
            }
        }
    }

    fn sweep(&self, rows: Option<&[u32]>, pass: Pass<'_>) {
        match (&self.layout, rows) {
            (Layout::Columns(values), None) => self.sweep_columns(values, pass),
            (Layout::Columns(values), Some(list)) => self.sweep_some_columns(values, list, pass),
            (Layout::Rows(values), None) => self.sweep_rows(values, pass),
            (Layout::Rows(values), Some(list)) => {
                let Pass { model, shift, slope, sums, tile, .. } = pass;
                for &i in list {
                    let row = &values[i as usize * self.dim..][..self.dim];
                    let dot = |x: &SparseVector| gather_dot(x.indices(), x.values(), row);
                    tile.clear();
                    tile.extend(model.iter().zip(shift).map(|(x, shift)| dot(x) + shift));
                    slope(i as usize, tile);
                    sums.iter_mut().zip(&*tile).for_each(|(sum, &slope)| axpy_column(sum, row, slope));
                }
            }
            (Layout::Compressed { columns, .. }, None) => sweep_compressed_columns(columns, pass),
            (Layout::CompressedRows(rows), None) => {
                sweep_compressed_rows(rows, 0..self.rows, pass);
            }
            (Layout::CompressedRows(rows) | Layout::Compressed { rows, .. }, Some(list)) => {
                sweep_compressed_rows(rows, list.iter().map(|&i| i as usize), pass);
            }
        }
    }

    fn gram(
        &self,
        support: &[u32],
        labels: &[f64],
        gram: &mut [f64],
        right: &mut [f64],
        scratch: &mut GramScratch,
    ) {
        let size = support.len();
        let GramScratch { own, slots, places } = scratch;
        match &self.layout {
            Layout::Columns(values) => {
                for start in (0..self.rows).step_by(TILE) {
                    let end = self.rows.min(start + TILE);
                    let column = |&j: &u32| &values[j as usize * self.rows..][start..end];
                    for (a, j) in support.iter().enumerate() {
                        let own = doubles(column(j), own);
                        let others = support[..=a].iter().map(column);
                        gradient_block(others, own, &mut gram[a * size..][..=a]);
                    }
                    gradient_block(support.iter().map(column), &labels[start..end], right);
                }
            }
            Layout::Rows(values) => {
                own.resize(size, 0.0);
                for (row, label) in values.chunks_exact(self.dim.max(1)).zip(labels) {
                    own.iter_mut().zip(support).for_each(|(own, &j)| *own = row[j as usize].to_f64());
                    for (a, &value) in own.iter().enumerate() {
                        axpy_column(&mut gram[a * size..][..=a], &own[..=a], value);
                    }
                    axpy_column(right, own, *label);
                }
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                slots.clear();
                slots.resize(self.dim, u32::MAX);
                support.iter().zip(0..).for_each(|(&j, slot)| slots[j as usize] = slot);
                for (i, label) in labels.iter().enumerate() {
                    let (indices, values) = rows.line(i);
                    places.clear();
                    own.clear();
                    for (&j, value) in indices.iter().zip(values) {
                        let slot = slots[j as usize];
                        if slot != u32::MAX {
                            places.push(slot);
                            own.push(value.to_f64());
                        }
                    }
                    for (a, (&slot, &value)) in places.iter().zip(&*own).enumerate() {
                        // Slots ascend with the attributes, so this stays in the lower triangle.
                        scatter_axpy(&mut gram[slot as usize * size..], &places[..=a], &own[..=a], value);
                    }
                    scatter_axpy(right, places, own, *label);
                }
            }
        }
    }

    fn restrict(&self, support: &[u32]) -> Arc<dyn Design> {
        let layout = match &self.layout {
            Layout::Columns(values) => {
                let column = |&j: &u32| &values[j as usize * self.rows..][..self.rows];
                Layout::Columns(support.iter().flat_map(column).copied().collect())
            }
            Layout::Rows(values) => {
                let row = |row: &[T]| support.iter().map(|&j| row[j as usize]).collect::<Vec<_>>();
                Layout::Rows(values.chunks_exact(self.dim.max(1)).flat_map(row).collect())
            }
            Layout::CompressedRows(rows) | Layout::Compressed { rows, .. } => {
                Layout::CompressedRows(rows.restrict(support))
            }
        };
        Arc::new(Examples { rows: self.rows, dim: support.len(), layout })
    }

    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut means, mut squares) = (vec![0.0; self.dim], vec![0.0; self.dim]);
        if self.rows == 0 {
            return (means, squares);
        }
        let (n, mut stored, mut scratch) = (self.rows as f64, vec![0_usize; self.dim], Vec::new());
        self.each_entry(&mut scratch, |j, value| {
            means[j] += value / n;
            stored[j] += 1;
        });
        self.each_entry(&mut scratch, |j, value| squares[j] += (value - means[j]) * (value - means[j]));
        let scales = (0..self.dim).map(|j| {
            let zeros = (self.rows - stored[j]) as f64;
            ((squares[j] + zeros * means[j] * means[j]) / n).sqrt()
        });
        (means.clone(), scales.collect())
    }
}

impl<T: Element> Examples<T> {
    fn each_entry(&self, scratch: &mut Vec<f64>, mut each: impl FnMut(usize, f64)) {
        if let Layout::Columns(values) = &self.layout {
            values.iter().enumerate().for_each(|(at, value)| each(at / self.rows, value.to_f64()));
            return;
        }
        for i in 0..self.rows {
            match self.row(i, scratch) {
                Entries::Sparse(indices, values) => {
                    indices.iter().zip(values).for_each(|(&j, &value)| each(j as usize, value));
                }
                Entries::Dense(values) => {
                    values.iter().enumerate().for_each(|(j, &value)| each(j, value));
                }
            }
        }
    }

    /// Tile by tile, so that the slopes of a tile stay in the first-level cache while all columns stream past.
    fn sweep_columns(&self, values: &[T], pass: Pass<'_>) {
        let Pass { model, shift, slope, sums, tile, row, .. } = pass;
        for start in (0..self.rows).step_by(TILE) {
            let size = TILE.min(self.rows - start);
            let column = |j: usize| &values[j * self.rows..][start..start + size];
            tile.clear();
            for (x, &shift) in model.iter().zip(shift) {
                let at = tile.len();
                tile.resize(at + size, shift);
                let columns = x.view().iter().map(|(j, weight)| (column(j as usize), weight));
                add_columns(columns, &mut tile[at..]);
            }
            slopes_of_tile(tile, size, (model.len(), row), start, slope);
            for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(size)) {
                gradient_block((0..self.dim).map(column), slopes, sum);
            }
        }
    }

    fn sweep_some_columns(&self, values: &[T], list: &[u32], pass: Pass<'_>) {
        let Pass { model, shift, slope, sums, tile, row, .. } = pass;
        let column = |j: usize| &values[j * self.rows..][..self.rows];
        tile.clear();
        for (x, &shift) in model.iter().zip(shift) {
            let at = tile.len();
            tile.resize(at + list.len(), shift);
            for (j, weight) in x.view().iter() {
                let column = column(j as usize);
                for (margin, &i) in tile[at..].iter_mut().zip(list) {
                    *margin += weight * column[i as usize].to_f64();
                }
            }
        }
        row.resize(model.len(), 0.0);
        for (place, &i) in list.iter().enumerate() {
            turn(tile, list.len(), place, row, |row| slope(i as usize, row));
        }
        for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(list.len().max(1))) {
            for (j, sum) in sum.iter_mut().enumerate() {
                *sum += gather_dot(list, slopes, column(j));
            }
        }
    }

    fn sweep_rows(&self, values: &[T], pass: Pass<'_>) {
        let Pass { model, shift, slope, sums, tile, row, .. } = pass;
        let mut zeros = [0.0; ROW_TILE];
        for start in (0..self.rows).step_by(ROW_TILE) {
            let size = ROW_TILE.min(self.rows - start);
            let rows = &values[start * self.dim..][..size * self.dim];
            tile.resize(size * model.len(), 0.0);
            for ((x, &shift), margins) in model.iter().zip(shift).zip(tile.chunks_exact_mut(size)) {
                zeros.fill(-shift);
                row_gather_dot(rows, self.dim, x.indices(), x.values(), &zeros[..size], margins);
            }
            slopes_of_tile(tile, size, (model.len(), row), start, slope);
            for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(size)) {
                let rows = rows.chunks_exact(self.dim.max(1)).zip(slopes.iter().copied());
                add_columns(rows, sum);
            }
        }
    }
}

/// Replaces margins, stored output after output, by slopes.
fn slopes_of_tile(
    tile: &mut [f64],
    size: usize,
    (outputs, row): (usize, &mut Vec<f64>),
    start: usize,
    slope: &mut dyn FnMut(usize, &mut [f64]),
) {
    if outputs == 1 {
        tile.iter_mut().enumerate().for_each(|(i, margin)| slope(start + i, std::slice::from_mut(margin)));
        return;
    }
    row.resize(outputs, 0.0);
    for place in 0..size {
        turn(tile, size, place, row, |row| slope(start + place, row));
    }
}

/// Collects the numbers of one row from a tile, changes them, puts them back.
fn turn(tile: &mut [f64], size: usize, place: usize, row: &mut [f64], change: impl FnOnce(&mut [f64])) {
    row.iter_mut().enumerate().for_each(|(l, value)| *value = tile[l * size + place]);
    change(row);
    row.iter().enumerate().for_each(|(l, &value)| tile[l * size + place] = value);
}

/// Row by row, so that a row is read from memory once for both its products.
fn sweep_compressed_rows<T: Element>(
    rows: &Compressed<T>,
    list: impl Iterator<Item = usize>,
    pass: Pass<'_>,
) {
    let Pass { weights, shift, slope, sums, tile, .. } = pass;
    if let ([weights], [shift]) = (weights, shift) {
        for i in list {
            let (indices, values) = rows.line(i);
            let mut margin = gather_dot(indices, values, weights) + shift;
            slope(i, std::slice::from_mut(&mut margin));
            if let [sum] = sums {
                scatter_axpy(sum, indices, values, margin);
            }
        }
        return;
    }
    for i in list {
        let (indices, values) = rows.line(i);
        tile.clear();
        tile.extend(weights.iter().zip(shift).map(|(w, shift)| gather_dot(indices, values, w) + shift));
        slope(i, tile);
        sums.iter_mut().zip(&*tile).for_each(|(sum, &slope)| scatter_axpy(sum, indices, values, slope));
    }
}

/// Margins from the columns of the support alone; then one inner product per column.
fn sweep_compressed_columns<T: Element>(columns: &Compressed<T>, pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile, row, .. } = pass;
    let size = columns.width();
    tile.clear();
    for (x, &shift) in model.iter().zip(shift) {
        let at = tile.len();
        tile.resize(at + size, shift);
        for (j, weight) in x.view().iter() {
            let (indices, values) = columns.line(j as usize);
            scatter_axpy(&mut tile[at..], indices, values, weight);
        }
    }
    slopes_of_tile(tile, size, (model.len(), row), 0, slope);
    for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(size.max(1))) {
        for (j, sum) in sum.iter_mut().enumerate() {
            let (indices, values) = columns.line(j);
            *sum += gather_dot(indices, values, slopes);
        }
    }
}
