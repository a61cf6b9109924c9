//! Unbiased estimates from partly observed examples, shared by several papers.

pub mod attributes;
pub mod gen_est;
pub mod gram;
pub mod inner_product;
