//! Unbiased estimates from partly observed examples, shared by several papers. Those of one paper stand
//! beside it, in `lao_algorithms`.

pub mod attributes;
pub mod inner_product;
