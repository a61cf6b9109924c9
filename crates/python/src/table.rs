//! Tables that Python holds, read where they lie.

use crate::array::{Line, Matrix, Number, Order, Whole, unfit};
use crate::fit::too_long;
use lao::finite_sum::{DesignMatrix, FiniteSum, FiniteSumError, Loss};
use lao::kernels::{Compressed, Element};
use numpy::{IntoPyArray as _, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// The number of values that are read at once, where all are read.
const MESSAGE: usize = 1 << 22;

/// Values of a table, by attributes and rows.
pub trait Values: Debug + Send + Sync {
    /// Returns the numbers of rows and attributes.
    fn shape(&self) -> [usize; 2];

    /// Writes the values of the attributes in the rows, column after column.
    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()>;

    /// Returns the table that is read page by page, if this is one.
    fn paged(&self) -> Option<&dyn lao::Table> {
        None
    }

    /// Returns all values as a finite sum of losses, copied unless they lie in one order without gaps.
    fn sum(&self, loss: Loss) -> PyResult<FiniteSum> {
        let [rows, columns] = self.shape();
        let places: Vec<u32> = (0..rows as u32).collect();
        let mut values = vec![0.0; rows * columns];
        // Several columns at once: a table that lies elsewhere answers each read with a message.
        let together = (MESSAGE / rows.max(1)).max(1);
        let attributes: Vec<u32> = (0..columns as u32).collect();
        let parts = values.chunks_mut((together * rows).max(1));
        for (attributes, part) in attributes.chunks(together).zip(parts) {
            self.read(attributes, &places, part)?;
        }
        over(DesignMatrix::columns(rows, columns, values), loss)
    }
}

fn over<T: Element>(design: Result<DesignMatrix<T>, FiniteSumError>, loss: Loss) -> PyResult<FiniteSum> {
    let refused = |error: FiniteSumError| PyValueError::new_err(error.to_string());
    FiniteSum::new(design.map_err(refused)?, loss).map_err(refused)
}

/// A table: an array, a sparse matrix, or a frame whose columns are fetched when they are first asked for.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Table {
    pub(crate) values: Arc<dyn Values>,
}

impl Table {
    /// Returns the values, which stay where they are.
    pub fn values(&self) -> Arc<dyn Values> {
        Arc::clone(&self.values)
    }
}

#[pymethods]
impl Table {
    /// Takes a two-dimensional array of float64 or float32 in any order, without a copy.
    #[staticmethod]
    fn dense(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values: Arc<dyn Values> = if let Some(matrix) = Matrix::<f64>::of(array) {
            Arc::new(Dense::Double(Arc::new(matrix)))
        } else if let Some(matrix) = Matrix::<f32>::of(array) {
            Arc::new(Dense::Single(Arc::new(matrix)))
        } else {
            return Err(unfit("the table", array));
        };
        Ok(Table { values })
    }

    /// Takes the columns of a frame: `fetch(j)` returns column j as an array of one dimension, and is called
    /// when the column is first asked for.
    #[staticmethod]
    fn frame(rows: usize, columns: usize, fetch: Py<PyAny>) -> Self {
        let columns = (0..columns).map(|_| OnceLock::new()).collect();
        Table { values: Arc::new(Frame { rows, columns, fetch }) }
    }

    /// Takes a table that lies elsewhere: `read(attributes, rows)`, of two arrays of uint32, returns an array
    /// of float64 with one line for each attribute, and in each line one value for each row.
    #[staticmethod]
    fn remote(rows: usize, columns: usize, read: Py<PyAny>) -> Self {
        Table { values: Arc::new(Remote { shape: [rows, columns], read }) }
    }

    /// Takes the three arrays of a sparse matrix, compressed by rows or by columns, whose indices ascend in
    /// each line.
    #[staticmethod]
    fn sparse(
        shape: [usize; 2],
        by: &str,
        begins: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let by_rows = match by {
            "rows" => true,
            "columns" => false,
            _ => return Err(PyValueError::new_err(format!("by = {by}: give \"rows\" or \"columns\""))),
        };
        let index = |array| match (Line::<i32>::of(array), Line::<i64>::of(array)) {
            (Some(line), _) => Ok(Indices::Short(line)),
            (None, Some(line)) => Ok(Indices::Long(line)),
            _ => Err(unfit("an index array", array)),
        };
        let data = match (Line::<f64>::of(data), Line::<f32>::of(data)) {
            (Some(line), _) => Data::Double(line),
            (None, Some(line)) => Data::Single(line),
            _ => return Err(unfit("the data of the sparse matrix", data)),
        };
        let sparse = Sparse { shape, by_rows, begins: index(begins)?, indices: index(indices)?, data };
        sparse.check()?;
        Ok(Table { values: Arc::new(sparse) })
    }

    /// Returns the values of some attributes, row by row.
    fn read<'py>(
        &self,
        py: Python<'py>,
        attributes: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let attributes = attributes.as_array().to_vec();
        let [rows, columns] = self.values.shape();
        if attributes.iter().any(|&j| j as usize >= columns) {
            return Err(PyValueError::new_err(format!("an attribute is not below {columns}")));
        }
        let places: Vec<u32> = (0..u32::try_from(rows).map_err(|_| too_long(rows))?).collect();
        let mut values = vec![0.0; rows * attributes.len()];
        let source = self.values();
        py.detach(|| source.read(&attributes, &places, &mut values))?;
        values.into_pyarray(py).reshape([attributes.len(), rows])?.transpose()
    }

    /// The numbers of rows and attributes.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let [rows, columns] = self.values.shape();
        (rows, columns)
    }
}

/// A matrix in memory.
#[derive(Debug)]
enum Dense {
    Double(Arc<Matrix<f64>>),
    Single(Arc<Matrix<f32>>),
}

impl Dense {
    /// Takes one column.
    fn column(array: &Bound<'_, PyAny>) -> Option<Self> {
        Matrix::<f64>::column_of(array)
            .map(|matrix| Dense::Double(Arc::new(matrix)))
            .or_else(|| Matrix::<f32>::column_of(array).map(|matrix| Dense::Single(Arc::new(matrix))))
    }

    fn gather(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) {
        match self {
            Dense::Double(matrix) => gather(matrix, attributes, rows, into),
            Dense::Single(matrix) => gather(matrix, attributes, rows, into),
        }
    }
}

fn gather<T: Number>(matrix: &Matrix<T>, attributes: &[u32], rows: &[u32], into: &mut [f64]) {
    for (&j, column) in attributes.iter().zip(into.chunks_exact_mut(rows.len().max(1))) {
        for (x, &row) in column.iter_mut().zip(rows) {
            *x = matrix.get(row as usize, j as usize).map_or(f64::NAN, T::double);
        }
    }
}

/// Returns a matrix where it lies, if it has no gaps, else a copy by columns.
fn design<T: Number + Element>(matrix: &Arc<Matrix<T>>) -> Result<DesignMatrix<T>, FiniteSumError> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if let Some(values) = Whole::of(matrix, Order::Columns) {
        return DesignMatrix::shared_columns(rows, columns, values);
    }
    if let Some(values) = Whole::of(matrix, Order::Rows) {
        return DesignMatrix::shared_rows(rows, columns, values);
    }
    let places = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
    let values = places.filter_map(|(i, j)| matrix.get(i, j)).collect();
    DesignMatrix::columns(rows, columns, values)
}

impl Values for Dense {
    fn shape(&self) -> [usize; 2] {
        match self {
            Dense::Double(matrix) => [matrix.rows(), matrix.columns()],
            Dense::Single(matrix) => [matrix.rows(), matrix.columns()],
        }
    }

    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()> {
        self.gather(attributes, rows, into);
        Ok(())
    }

    fn sum(&self, loss: Loss) -> PyResult<FiniteSum> {
        match self {
            Dense::Double(matrix) => over(design(matrix), loss),
            Dense::Single(matrix) => over(design(matrix), loss),
        }
    }
}

/// A frame. A column is fetched when it is first asked for, and kept.
#[derive(Debug)]
struct Frame {
    rows: usize,
    columns: Vec<OnceLock<Dense>>,
    fetch: Py<PyAny>,
}

impl Frame {
    fn column(&self, j: u32) -> PyResult<&Dense> {
        let missing = || PyValueError::new_err(format!("the frame has no column {j}"));
        let place = self.columns.get(j as usize).ok_or_else(missing)?;
        if let Some(column) = place.get() {
            return Ok(column);
        }
        let column = Python::attach(|py| {
            let array = self.fetch.bind(py).call1((j,))?;
            let column = Dense::column(&array).ok_or_else(|| unfit(&format!("column {j}"), &array))?;
            let [found, _] = column.shape();
            if found != self.rows {
                let wanted = self.rows;
                let text = format!("column {j} has {found} values, and the frame has {wanted} rows");
                return Err(PyValueError::new_err(text));
            }
            Ok(column)
        })?;
        // Another thread may have fetched the same column meanwhile; either will do.
        Ok(place.get_or_init(|| column))
    }
}

impl Values for Frame {
    fn shape(&self) -> [usize; 2] {
        [self.rows, self.columns.len()]
    }

    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()> {
        for (&j, column) in attributes.iter().zip(into.chunks_exact_mut(rows.len().max(1))) {
            self.column(j)?.gather(&[0], rows, column);
        }
        Ok(())
    }
}

/// A table that a function of Python reads.
#[derive(Debug)]
struct Remote {
    shape: [usize; 2],
    read: Py<PyAny>,
}

impl Values for Remote {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()> {
        if attributes.is_empty() || rows.is_empty() {
            return Ok(());
        }
        Python::attach(|py| {
            let lists = (attributes.to_vec().into_pyarray(py), rows.to_vec().into_pyarray(py));
            let array = self.read.bind(py).call1(lists)?;
            let values = Matrix::<f64>::of(&array).ok_or_else(|| unfit("what was read", &array))?;
            if [values.rows(), values.columns()] != [attributes.len(), rows.len()] {
                let (found, wanted) = ((values.rows(), values.columns()), (attributes.len(), rows.len()));
                let text = format!("what was read has the shape {found:?} instead of {wanted:?}");
                return Err(PyValueError::new_err(text));
            }
            let columns = into.chunks_exact_mut(rows.len()).enumerate();
            for (c, column) in columns {
                let value = |r: usize| values.get(c, r).unwrap_or(f64::NAN);
                column.iter_mut().enumerate().for_each(|(r, x)| *x = value(r));
            }
            Ok(())
        })
    }
}

#[derive(Debug)]
enum Indices {
    Short(Line<i32>),
    Long(Line<i64>),
}

impl Indices {
    fn len(&self) -> usize {
        match self {
            Indices::Short(line) => line.slice().len(),
            Indices::Long(line) => line.slice().len(),
        }
    }

    fn get(&self, at: usize) -> Option<usize> {
        match self {
            Indices::Short(line) => line.slice().get(at).and_then(|&i| usize::try_from(i).ok()),
            Indices::Long(line) => line.slice().get(at).and_then(|&i| usize::try_from(i).ok()),
        }
    }

    /// Returns the place of `wanted` between two places, where the indices ascend.
    fn find(&self, from: usize, to: usize, wanted: usize) -> Option<usize> {
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(&wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

#[derive(Debug)]
enum Data {
    Double(Line<f64>),
    Single(Line<f32>),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Data::Double(line) => line.slice().len(),
            Data::Single(line) => line.slice().len(),
        }
    }

    fn get(&self, at: usize) -> f64 {
        match self {
            Data::Double(line) => line.slice().get(at).copied().unwrap_or(f64::NAN),
            Data::Single(line) => line.slice().get(at).map_or(f64::NAN, |&x| f64::from(x)),
        }
    }
}

/// A sparse matrix of scipy.
#[derive(Debug)]
struct Sparse {
    shape: [usize; 2],
    by_rows: bool,
    begins: Indices,
    indices: Indices,
    data: Data,
}

impl Sparse {
    fn check(&self) -> PyResult<()> {
        let lines = if self.by_rows { self.shape[0] } else { self.shape[1] };
        let (begins, entries) = (self.begins.len(), self.indices.len());
        if begins != lines + 1 || entries != self.data.len() {
            let text = format!(
                "the sparse matrix has {lines} lines, {begins} beginnings, {entries} indices and {} values; \
                 make it anew with scipy.sparse",
                self.data.len()
            );
            return Err(PyValueError::new_err(text));
        }
        Ok(())
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        let (line, index) = if self.by_rows { (row, column) } else { (column, row) };
        let place = || {
            let (from, to) = (self.begins.get(line)?, self.begins.get(line + 1)?);
            self.indices.find(from, to.min(self.data.len()), index)
        };
        place().map_or(0.0, |at| self.data.get(at))
    }
}

impl Values for Sparse {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()> {
        for (&j, column) in attributes.iter().zip(into.chunks_exact_mut(rows.len().max(1))) {
            column.iter_mut().zip(rows).for_each(|(x, &row)| *x = self.value(row as usize, j as usize));
        }
        Ok(())
    }

    fn sum(&self, loss: Loss) -> PyResult<FiniteSum> {
        match &self.data {
            Data::Double(line) => self.sum_of(line.slice(), loss),
            Data::Single(line) => self.sum_of(line.slice(), loss),
        }
    }
}

impl Sparse {
    fn sum_of<T: Element>(&self, values: &[T], loss: Loss) -> PyResult<FiniteSum> {
        let [rows, columns] = self.shape;
        let width = if self.by_rows { columns } else { rows };
        let begins = (0..self.begins.len()).filter_map(|at| self.begins.get(at)).collect();
        let index = |at| self.indices.get(at).and_then(|index| u32::try_from(index).ok());
        let indices: Option<Vec<u32>> = (0..self.indices.len()).map(index).collect();
        let refused = |text: String| PyValueError::new_err(format!("the sparse matrix: {text}"));
        let indices = indices.ok_or_else(|| refused("an index is negative, or 2^32 or more".into()))?;
        let lines = Compressed::new(width, begins, indices, values.to_vec());
        let lines = lines.map_err(|error| refused(error.to_string()))?;
        let design = if self.by_rows {
            DesignMatrix::compressed_rows(lines)
        } else {
            DesignMatrix::compressed_columns(lines)
        };
        over(Ok(design), loss)
    }
}
