//! Full information: the mean of n component functions, `f(x) = (1/n) sum_z f_z(x)`, behind a meter.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020, Problem (1) and Definition 2; the incremental first-order oracle
//! (IFO) is that of Agarwal & Bottou.
//!
//! A component is the loss of a linear predictor on one example plus an l2 term,
//!
//! ```text
//! f_z(x) = loss(z'x + a, y_z) + (lambda/2) |x|^2
//! ```
//!
//! so its gradient is a *slope* times its example, plus `lambda x`. The second part needs no data: gradients
//! here are those of the loss alone, and the solvers add `lambda x` themselves, in O(k).
//!
//! *Blocks.* After `in_blocks(g)` ([`FiniteSum::in_blocks`]), a component is the mean loss of g consecutive
//! rows plus the l2 term. Component z has the rows `zg .. zg + g`, and is
//!
//! ```text
//! f_z(x) = (1/g) sum over its rows of loss(row'x + a, y) + (lambda/2) |x|^2,
//! ```
//!
//! which is how StoIHT partitions its rows. [`len`](FiniteSum::len), batches, draws and the meter count
//! components, whatever g is; only [`Component`], [`FiniteSum::row`] and the labels count rows. Every
//! quadratic with positive curvature is such a component under the squared loss, with one row per coordinate
//! of its eigenbasis: up to a constant, `(1/2) sum_i h_i x_i^2 + q'x` is a block of d rows, in which row i
//! has the one entry `s_i = sqrt(d h_i / 2)` in place i and the label `-d q_i / (2 s_i)`.
//!
//! *Meter.* One IFO call is one component's value or gradient at one point. Slopes are computed only by
//! [`FiniteSum::component`] (one call), [`FiniteSum::gradient`] (one call per component of the batch),
//! [`FiniteSum::curvature`], [`FiniteSum::normal_equations`], [`FiniteSum::expand`] and
//! [`FiniteSum::products`] (n calls each). Reading a row is free, since rows
//! are the oracle's own data. [`FiniteSum::count_threshold`] counts thresholdings: one per step, whatever the
//! number of classes. The objective ([`FiniteSum::objective`]) is for an observer of the method, and is not
//! counted.
//!
//! *Standardization* ([`FiniteSum::standardized`]) is arithmetic, not a copy: sparse rows stay sparse.

mod columns;
mod design;
mod error;
mod gram;
pub mod loss;
mod moments;
mod predictor;
mod squares;
mod standard;
mod sum;
mod sweep;

pub use columns::Columns;
pub use design::{Batch, DesignMatrix, Entries};
pub use error::FiniteSumError;
pub use loss::{Coding, Loss};
pub use predictor::{Gradient, Predictor};
pub use squares::NormalEquations;
pub use standard::Standardize;
pub use sum::{Component, FiniteSum, Meter, RowBuf};
