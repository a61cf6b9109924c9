//! Tables in memory: dense by columns, sparse by rows.

use super::error::{At, FormatError, ReadProblem};

/// A dense table with a label per row. Values are f64, stored column after column, so that one attribute of
/// all examples is contiguous.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DenseTable {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    /// One label per row.
    pub labels: Vec<f64>,
    /// Names of the columns, where the file gives them.
    pub names: Option<Vec<String>>,
    /// Group of each row (the patient, say), numbered from 0 by first appearance, where the file gives one.
    pub groups: Option<Vec<u32>>,
}

impl DenseTable {
    /// Returns a table from values stored column after column. `None` if `values` does not hold
    /// `labels.len()` rows of `columns`.
    pub fn from_columns(columns: usize, values: Vec<f64>, labels: Vec<f64>) -> Option<Self> {
        (labels.len().checked_mul(columns)? == values.len())
            .then(|| Self::of_columns(columns, values, labels))
    }

    /// Returns the table of these values, column after column, which are known to make one row per label.
    pub(crate) fn of_columns(columns: usize, values: Vec<f64>, labels: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), labels.len() * columns, "a bug: a reader lost count of its values");
        Self { rows: labels.len(), columns, values, labels, names: None, groups: None }
    }

    /// Returns a table from values stored row after row, `rows x columns`, which are transposed in place.
    /// `None` as for [`DenseTable::from_columns`].
    pub fn from_rows(columns: usize, values: Vec<f64>, labels: Vec<f64>) -> Option<Self> {
        (labels.len().checked_mul(columns)? == values.len()).then(|| Self::of_rows(columns, values, labels))
    }

    /// Returns the table of these values, row after row, which are known to make one row per label.
    pub(crate) fn of_rows(columns: usize, mut values: Vec<f64>, labels: Vec<f64>) -> Self {
        transpose(&mut values, columns);
        values.shrink_to_fit();
        Self::of_columns(columns, values, labels)
    }

    /// Returns the number of rows (examples).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns (attributes).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns all values, column after column: value (i, j) is at `j * rows + i`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns all values, to change in place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Returns column `j`, one value per row. Panics if `j` is not below [`DenseTable::columns`], as indexing
    /// does.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Returns column `j`, to change in place. Panics as [`DenseTable::column`] does.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Returns the number of values other than 0.
    pub fn nonzeros(&self) -> usize {
        self.values.iter().filter(|v| **v != 0.0).count()
    }

    /// Returns the rows with these indices, in this order. Panics if an index is not below
    /// [`DenseTable::rows`].
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let columns = (0..self.columns).map(|j| self.column(j));
        Self {
            rows: rows.len(),
            columns: self.columns,
            values: columns.flat_map(|column| rows.iter().map(|&i| column[i])).collect(),
            labels: rows.iter().map(|&i| self.labels[i]).collect(),
            names: self.names.clone(),
            groups: self.groups.as_ref().map(|groups| rows.iter().map(|&i| groups[i]).collect()),
        }
    }

    /// Returns the columns with these indices, in this order. Panics if an index is not below
    /// [`DenseTable::columns`].
    pub fn select_columns(&self, columns: &[usize]) -> Self {
        let mut values = Vec::with_capacity(columns.len() * self.rows);
        for &j in columns {
            values.extend_from_slice(self.column(j));
        }
        Self {
            rows: self.rows,
            columns: columns.len(),
            values,
            labels: self.labels.clone(),
            names: self.names.as_ref().map(|names| columns.iter().map(|&j| names[j].clone()).collect()),
            groups: self.groups.clone(),
        }
    }
}

/// Row-major values become column-major in place, so that a table is never held twice:
///
/// 1. Rows are taken in bands of B. A band is transposed through a copy of it; it then holds, for each
///    column, the run of its B values.
/// 2. The bands are now a matrix of runs, a row for each band. It is transposed run by run: run (k, j) goes
///    to the place of (j, k), the run that was there to its own place, and so on until the cycle closes.
/// 3. The rows beyond the last whole band were put aside. The columns move apart, the last one first, and
///    take their values from these rows.
pub(crate) fn transpose(values: &mut [f64], columns: usize) {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    // Copies are then an eighth of the table at most.
    let band = (rows / 8).clamp(1, 128);
    let (bands, whole) = (rows / band, rows / band * band);
    let rest = values[whole * columns..].to_vec();
    let values_of_bands = &mut values[..whole * columns];
    if band > 1 {
        let mut copy = vec![0.0; band * columns];
        for rows in values_of_bands.chunks_exact_mut((band * columns).max(1)) {
            copy.copy_from_slice(rows);
            for (j, run) in rows.chunks_exact_mut(band).enumerate() {
                let column = copy[j..].iter().step_by(columns);
                run.iter_mut().zip(column).for_each(|(to, from)| *to = *from);
            }
        }
    }
    let mut moved = vec![false; bands * columns];
    let mut run = vec![0.0; band];
    for start in 0..moved.len() {
        if moved[start] {
            continue;
        }
        run.copy_from_slice(&values_of_bands[start * band..][..band]);
        let mut at = start;
        loop {
            at = at % columns * bands + at / columns;
            values_of_bands[at * band..][..band].swap_with_slice(&mut run);
            moved[at] = true;
            if at == start {
                break;
            }
        }
    }
    if whole < rows {
        for j in (0..columns).rev() {
            values.copy_within(j * whole..(j + 1) * whole, j * rows);
            let column = rest[j..].iter().step_by(columns);
            values[j * rows + whole..(j + 1) * rows]
                .iter_mut()
                .zip(column)
                .for_each(|(to, from)| *to = *from);
        }
    }
}

/// Sparse rows with a label each (compressed rows). Indices count from 0 and ascend within a row.
///
/// Entries are those of the file: an explicit zero stays an entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseRows {
    /// Row i holds the entries `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// Attribute of each entry, from 0.
    pub indices: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
    /// One label per row.
    pub labels: Vec<f64>,
    /// Number of attributes.
    pub dim: usize,
}

/// One sparse row, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRow<'a> {
    /// The label.
    pub label: f64,
    /// Attributes, from 0, ascending.
    pub indices: &'a [u32],
    /// Values of these attributes.
    pub values: &'a [f64],
}

impl SparseRows {
    /// Returns a table of `dim` attributes without rows.
    pub fn new(dim: usize) -> Self {
        Self { starts: vec![0], dim, ..Self::default() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Returns row `i`. Panics if `i` is not below [`SparseRows::rows`], as indexing does.
    pub fn row(&self, i: usize) -> SparseRow<'_> {
        let span = self.starts[i]..self.starts[i + 1];
        SparseRow { label: self.labels[i], indices: &self.indices[span.clone()], values: &self.values[span] }
    }

    /// Adds a row; the dimension grows if the row has a larger index.
    pub fn push(&mut self, row: SparseRow<'_>) {
        self.labels.push(row.label);
        self.indices.extend_from_slice(row.indices);
        self.values.extend_from_slice(row.values);
        self.starts.push(self.values.len());
        if let Some(&last) = row.indices.last() {
            self.dim = self.dim.max(last as usize + 1);
        }
    }

    /// Returns the rows with these indices, in this order. Panics if an index is not below
    /// [`SparseRows::rows`].
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::new(self.dim);
        for &i in rows {
            chosen.push(self.row(i));
        }
        chosen
    }
}

/// A table in the form that suits its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// Every value is stored.
    Dense(DenseTable),
    /// Only entries are stored.
    Sparse(SparseRows),
}

impl Table {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Table::Dense(table) => table.rows(),
            Table::Sparse(rows) => rows.rows(),
        }
    }

    /// Returns the number of attributes.
    pub fn dim(&self) -> usize {
        match self {
            Table::Dense(table) => table.columns(),
            Table::Sparse(rows) => rows.dim,
        }
    }

    /// Returns the number of values other than 0 (dense) or of entries (sparse).
    pub fn nonzeros(&self) -> usize {
        match self {
            Table::Dense(table) => table.nonzeros(),
            Table::Sparse(rows) => rows.entries(),
        }
    }

    /// Returns the labels, one per row.
    pub fn labels(&self) -> &[f64] {
        match self {
            Table::Dense(table) => &table.labels,
            Table::Sparse(rows) => &rows.labels,
        }
    }

    /// Returns the rows with these indices, in this order. Panics if an index is not below [`Table::rows`].
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Table::Dense(table) => Table::Dense(table.select_rows(rows)),
            Table::Sparse(all) => Table::Sparse(all.select_rows(rows)),
        }
    }

    /// Returns the dense table, if it is one.
    pub fn dense(&self) -> Option<&DenseTable> {
        match self {
            Table::Dense(table) => Some(table),
            Table::Sparse(_) => None,
        }
    }

    /// Returns the sparse rows, if they are.
    pub fn sparse(&self) -> Option<&SparseRows> {
        match self {
            Table::Dense(_) => None,
            Table::Sparse(rows) => Some(rows),
        }
    }
}

/// Refuses a table without rows.
pub(crate) fn require_rows(rows: usize, file: &str) -> Result<(), FormatError> {
    if rows == 0 { Err(FormatError::new(file, At::File, ReadProblem::NoRows)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_are_transposed_as_the_definition_does(rows in 0usize..300, columns in 0usize..40) {
            let values: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
            let mut out = values.clone();
            transpose(&mut out, columns);
            for i in 0..rows {
                for j in 0..columns {
                    prop_assert_eq!(out[j * rows + i], values[i * columns + j]);
                }
            }
        }
    }

    #[test]
    fn a_selection_keeps_the_order_asked_for() {
        let table =
            DenseTable::from_rows(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]).unwrap();
        assert_eq!(table.select_rows(&[2, 0]).values(), [5.0, 1.0, 6.0, 2.0]);
        assert_eq!(table.select_columns(&[1]).values(), [2.0, 4.0, 6.0]);
        assert_eq!(DenseTable::from_rows(2, vec![1.0], vec![1.0]), None);
    }
}
