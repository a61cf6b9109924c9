//! The checks of every source on what it is asked.

use lao_observation::{BlockBuf, GradientAsk, SourceError};

/// Checks that the attributes exist and that the block has a column for each.
pub(crate) fn check_observe(
    attributes: &[u32],
    dim: usize,
    block: &BlockBuf,
    position: u64,
) -> Result<(), SourceError> {
    check_attributes(attributes, dim, position)?;
    let (columns, wanted) = (block.columns(), attributes.len());
    if columns == wanted {
        return Ok(());
    }
    let message = format!("the block has {columns} columns for {wanted} attributes; reset it first");
    Err(SourceError::Read { example: position, message })
}

/// Checks that all attributes that a gradient ask names exist.
pub(crate) fn check_gradient(ask: &GradientAsk<'_>, dim: usize, position: u64) -> Result<(), SourceError> {
    check_attributes(ask.attributes, dim, position)?;
    check_attributes(ask.theta.indices(), dim, position)
}

fn check_attributes(attributes: &[u32], dim: usize, position: u64) -> Result<(), SourceError> {
    match attributes.iter().find(|&&attribute| attribute as usize >= dim) {
        None => Ok(()),
        Some(attribute) => Err(SourceError::Read {
            example: position,
            message: format!("attribute {attribute} does not exist: examples have attributes 0..{dim}"),
        }),
    }
}
