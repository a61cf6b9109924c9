//! Checks that every source makes on what it is asked.

use lao_observation::{BlockBuf, SourceError};

/// The attributes must exist and the block must have a column for each.
pub(crate) fn check_observe(
    attributes: &[u32],
    dim: usize,
    block: &BlockBuf,
    position: u64,
) -> Result<(), SourceError> {
    let message = match attributes.iter().find(|&&attribute| attribute as usize >= dim) {
        Some(attribute) => format!("attribute {attribute} does not exist: examples have attributes 0..{dim}"),
        None if block.columns() != attributes.len() => {
            let (columns, wanted) = (block.columns(), attributes.len());
            format!("the block has {columns} columns for {wanted} attributes; reset it first")
        }
        None => return Ok(()),
    };
    Err(SourceError::Read { example: position, message })
}
