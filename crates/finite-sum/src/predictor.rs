//! Sparse linear predictors and gradients, one part per output.

use lao_kernels::SparseVector;
use serde::{Deserialize, Serialize};

/// A linear predictor: a sparse vector and an intercept for each output. Softmax has an output for each
/// class, and other losses have one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predictor {
    /// One vector of the same dimension per output.
    pub coefficients: Vec<SparseVector>,
    /// One per output; zero where the sum has no intercept.
    pub intercepts: Vec<f64>,
}

impl Predictor {
    /// Returns the predictor whose coefficients and intercepts are zero.
    pub fn zeros(dim: usize, outputs: usize) -> Predictor {
        Predictor { coefficients: vec![SparseVector::zeros(dim); outputs], intercepts: vec![0.0; outputs] }
    }

    /// Returns the squared Euclidean norm of all coefficients, without intercepts.
    pub fn norm_squared(&self) -> f64 {
        self.coefficients.iter().map(|x| x.view().norm_squared()).sum()
    }

    /// Returns the squared Euclidean distance to another predictor, intercepts included.
    pub fn distance_squared(&self, other: &Predictor) -> f64 {
        let square = |a: f64, b: f64| (a - b) * (a - b);
        let vectors = self.coefficients.iter().zip(&other.coefficients).map(|(a, b)| {
            let (mut a, mut b, mut sum) = (a.view().iter().peekable(), b.view().iter().peekable(), 0.0);
            loop {
                match (a.peek().copied(), b.peek().copied()) {
                    (Some((i, _)), Some((j, v))) if j < i => sum += b.next().map_or(0.0, |_| v * v),
                    (Some((i, u)), Some((j, v))) if i == j => {
                        sum += square(u, v);
                        a.next();
                        b.next();
                    }
                    (Some((_, u)), _) => sum += a.next().map_or(0.0, |_| u * u),
                    (None, Some((_, v))) => sum += b.next().map_or(0.0, |_| v * v),
                    (None, None) => return sum,
                }
            }
        });
        let intercepts = self.intercepts.iter().zip(&other.intercepts).map(|(&a, &b)| square(a, b));
        vectors.sum::<f64>() + intercepts.sum::<f64>()
    }

    /// Copies `other`, and allocates only when the buffers are too small.
    pub fn copy_from(&mut self, other: &Predictor) {
        self.coefficients.resize_with(other.coefficients.len(), SparseVector::default);
        for (x, other) in self.coefficients.iter_mut().zip(&other.coefficients) {
            x.copy_from(other.view());
        }
        self.intercepts.clone_from(&other.intercepts);
    }
}

/// The mean gradient of the losses of some components: dense, one part per output, without the l2 term.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// One dense vector per output.
    pub coefficients: Vec<Vec<f64>>,
    /// One per output; zero where the sum has no intercept.
    pub intercepts: Vec<f64>,
}

impl Gradient {
    /// Returns the zero gradient: `outputs` vectors of `dim` coefficients.
    pub fn zeros(dim: usize, outputs: usize) -> Gradient {
        Gradient { coefficients: vec![vec![0.0; dim]; outputs], intercepts: vec![0.0; outputs] }
    }

    pub(crate) fn reset(&mut self, dim: usize, outputs: usize) {
        self.coefficients.resize_with(outputs, Vec::new);
        for coefficients in &mut self.coefficients {
            coefficients.clear();
            coefficients.resize(dim, 0.0);
        }
        self.intercepts.clear();
        self.intercepts.resize(outputs, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dense() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(prop_oneof![Just(0.0), -2.0..2.0], 9)
    }

    proptest! {
        #[test]
        fn distance_is_that_of_dense_vectors(a in dense(), b in dense(), u in -1.0..1.0, v in -1.0..1.0) {
            let predictor = |x: &[f64], intercept| Predictor {
                coefficients: vec![SparseVector::from_dense(x)],
                intercepts: vec![intercept],
            };
            let exact: f64 =
                a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() + (u - v) * (u - v);
            prop_assert!((predictor(&a, u).distance_squared(&predictor(&b, v)) - exact).abs() < 1e-12);
        }
    }
}
