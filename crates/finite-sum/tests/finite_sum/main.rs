//! Tests of finite sums, as one program: it links once, and its tests run side by side.

mod dense;
mod finite_sum;
mod weights;
