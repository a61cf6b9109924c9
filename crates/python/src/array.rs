//! Arrays of numpy as Rust reads them: where they lie, with any strides. All unsafe code of the module is
//! here.

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods as _, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// A type of numbers that is read without a copy.
pub trait Number: Element + Copy + Send + Sync + std::fmt::Debug {
    /// Returns the number in double precision.
    fn double(self) -> f64;
}

impl Number for f64 {
    fn double(self) -> f64 {
        self
    }
}

impl Number for f32 {
    fn double(self) -> f64 {
        f64::from(self)
    }
}

/// A matrix of numpy. The array is kept alive, and read where it lies.
///
/// Whoever changes an array while a function without the interpreter's lock reads it gets old or new values,
/// as with numpy's own functions.
#[derive(Debug)]
pub struct Matrix<T> {
    base: *const T,
    rows: usize,
    columns: usize,
    /// The steps from a row, and from a column, to the next, in numbers.
    steps: [isize; 2],
    _owner: Py<PyAny>,
}

// SAFETY: the pointer is only read, the numbers are plain data, and the owner keeps them allocated. The owner
// is touched under the interpreter's lock alone.
unsafe impl<T: Number> Send for Matrix<T> {}
// SAFETY: as above; there is no interior change.
unsafe impl<T: Number> Sync for Matrix<T> {}

impl<T: Number> Matrix<T> {
    /// Takes a two-dimensional array, if it has this type of numbers.
    pub fn of(array: &Bound<'_, PyAny>) -> Option<Self> {
        let array = array.cast::<PyArray2<T>>().ok()?;
        let shape = array.shape();
        let steps = steps::<T>(array.strides())?;
        let steps = [*steps.first()?, *steps.get(1)?];
        let (rows, columns) = (*shape.first()?, *shape.get(1)?);
        aligned(array.data()).then(|| Matrix {
            base: array.data().cast_const(),
            rows,
            columns,
            steps,
            _owner: array.clone().into_any().unbind(),
        })
    }

    /// Takes a one-dimensional array as a matrix of one column.
    pub fn column_of(array: &Bound<'_, PyAny>) -> Option<Self> {
        let array = array.cast::<PyArray1<T>>().ok()?;
        let step = *steps::<T>(array.strides())?.first()?;
        let rows = *array.shape().first()?;
        // A numpy array of one number may have any step.
        let step = if rows == 1 { 1 } else { step };
        aligned(array.data()).then(|| Matrix {
            base: array.data().cast_const(),
            rows,
            columns: 1,
            steps: [step, rows as isize],
            _owner: array.clone().into_any().unbind(),
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number in a place, if the matrix has this place.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> Option<T> {
        if row >= self.rows || column >= self.columns {
            return None;
        }
        let at = row as isize * self.steps[0] + column as isize * self.steps[1];
        // SAFETY: row and column are inside the shape that numpy gave with these steps, and the owner keeps
        // the array alive.
        Some(unsafe { self.base.offset(at).read() })
    }

    /// Returns all numbers as one slice, if they lie in this order without gaps.
    pub fn contiguous(&self, order: Order) -> Option<&[T]> {
        let wanted = match order {
            Order::Rows => [self.columns as isize, 1],
            Order::Columns => [1, self.rows as isize],
        };
        // SAFETY: with these steps the numbers fill the range without gaps, and the owner keeps it alive.
        (self.steps == wanted)
            .then(|| unsafe { std::slice::from_raw_parts(self.base, self.rows * self.columns) })
    }
}

/// A matrix whose numbers lie in one order without gaps.
#[derive(Debug)]
pub struct Whole<T> {
    matrix: Arc<Matrix<T>>,
    order: Order,
}

impl<T: Number> Whole<T> {
    /// Returns the numbers of a matrix, if they lie in this order.
    pub fn of(matrix: &Arc<Matrix<T>>, order: Order) -> Option<Arc<Self>> {
        matrix.contiguous(order).map(|_| Arc::new(Whole { matrix: Arc::clone(matrix), order }))
    }
}

impl<T: Number> AsRef<[T]> for Whole<T> {
    fn as_ref(&self) -> &[T] {
        self.matrix.contiguous(self.order).unwrap_or_default()
    }
}

/// The order in which a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

/// Returns steps of bytes as steps of numbers.
fn steps<T>(bytes: &[isize]) -> Option<Vec<isize>> {
    let size = size_of::<T>() as isize;
    bytes.iter().map(|step| (step % size == 0).then_some(step / size)).collect()
}

fn aligned<T>(base: *mut T) -> bool {
    base.is_aligned()
}

/// A one-dimensional array of numbers or indices that lies without gaps.
#[derive(Debug)]
pub struct Line<T>(Matrix<T>);

impl<T: Number> Line<T> {
    /// Takes an array, if it has this type of numbers and no gaps.
    pub fn of(array: &Bound<'_, PyAny>) -> Option<Self> {
        let line = Matrix::column_of(array)?;
        line.contiguous(Order::Columns).is_some().then_some(Line(line))
    }

    /// Returns the numbers.
    pub fn slice(&self) -> &[T] {
        self.0.contiguous(Order::Columns).unwrap_or_default()
    }
}

impl Number for i32 {
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl Number for i64 {
    fn double(self) -> f64 {
        self as f64
    }
}

impl Number for u32 {
    fn double(self) -> f64 {
        f64::from(self)
    }
}

/// Returns the error for an array that is none of those read without a copy.
pub fn unfit(what: &str, array: &Bound<'_, PyAny>) -> PyErr {
    let kind =
        array.getattr("dtype").map_or_else(|_| array.get_type().to_string(), |dtype| dtype.to_string());
    PyTypeError::new_err(format!("{what} has the type {kind}; give an aligned array of float64 or float32"))
}
