//! Examples of a source, as plain lists.

use lao_observation::{BlockBuf, Source};

/// All attributes of the next `rows` examples, column by column, then the labels.
pub fn take(source: &mut impl Source, attributes: &[u32], rows: usize) -> Vec<Vec<f64>> {
    let mut block = BlockBuf::new();
    block.reset(attributes.len(), rows);
    assert_eq!(source.observe(attributes, &mut block).unwrap(), rows);
    let view = block.view(attributes);
    let columns = (0..attributes.len()).map(|c| view.column(c).to_vec());
    columns.chain([view.labels().to_vec()]).collect()
}
