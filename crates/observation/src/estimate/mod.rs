//! Unbiased estimates from partly observed examples that several papers share. The estimates of a single
//! paper are beside its methods, in `lao_algorithms`.

pub mod attributes;
pub mod inner_product;
