//! Tables written as Parquet files in short pages.

use crate::error::Error;
use crate::frame::{Frame, Values};
use lao_observation::Seed;
use lao_parquet::Writing;
use rand::seq::SliceRandom as _;
use std::borrow::Cow;
use std::io::Write;

impl Frame {
    /// Writes the table as a Parquet file in short pages, as [`Paged::rewrite`](crate::Paged::rewrite) does.
    /// Columns that are left out of a fit, since they have too many words, are left out.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_parquet(&self, to: impl Write + Send, how: Rewriting) -> Result<(), Error> {
        let order = how.order(self.rows() as u64);
        let mut texts: Vec<Vec<Option<&str>>> =
            self.columns().iter().map(|column| column.values.texts()).collect();
        let mut numbers: Vec<Cow<'_, [f64]>> = Vec::new();
        for (column, texts) in self.columns().iter().zip(&mut texts) {
            let of_column = match &column.values {
                Values::Numbers(numbers) => &numbers[..],
                _ => &[],
            };
            numbers.push(match &order {
                Some(order) if !of_column.is_empty() => {
                    order.iter().map(|&row| of_column[row as usize]).collect()
                }
                Some(order) if !texts.is_empty() => {
                    *texts = order.iter().map(|&row| texts[row as usize]).collect();
                    of_column.into()
                }
                _ => of_column.into(),
            });
        }
        let columns = self.columns().iter().zip(texts.iter().zip(&numbers));
        let columns = columns.filter_map(|(column, (texts, numbers))| {
            let values = match &column.values {
                Values::Numbers(_) => numbers[..].into(),
                Values::Words { .. } => lao_parquet::Values::Texts(texts),
                Values::TooManyWords(_) | Values::Others(_) => return None,
            };
            Some((column.name.as_str(), values))
        });
        let columns: Vec<_> = columns.collect();
        Ok(lao_parquet::write(to, self.name(), &columns, &how.writing(self.rows() as u64))?)
    }
}

/// How a table is written as a Parquet file.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// use lao::{ReadOptions, Rewriting};
///
/// let mut shuffled = Vec::new();
/// lao::read(table)?.write_parquet(&mut shuffled, Rewriting { shuffled: true, ..Rewriting::default() })?;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("shuffled.parquet");
/// std::fs::write(&path, shuffled)?;
/// assert_eq!(lao::open(&path, &ReadOptions::default())?.rows(), 442);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewriting {
    /// The rows of a page; by default a sixteen-hundredth of all, but 64 to 1,024.
    pub page: Option<u32>,
    /// Whether rows come in a random order, always the same one, in one row group. The examples of a page
    /// have the same looks, so they should not be alike.
    pub shuffled: bool,
}

impl Rewriting {
    /// Returns how a table of so many rows is written.
    pub(crate) fn writing(self, all: u64) -> Writing {
        let page = self.page.map_or((all / 1600).clamp(64, 1024) as usize, |rows| rows.max(1) as usize);
        let group = if self.shuffled { usize::MAX } else { Writing::default().group };
        Writing { page, group, ..Writing::default() }
    }

    /// Returns the order of so many rows, if it changes.
    pub(crate) fn order(self, all: u64) -> Option<Vec<u32>> {
        self.shuffled.then(|| {
            let mut order: Vec<u32> = (0..u32::try_from(all).unwrap_or(u32::MAX)).collect();
            order.shuffle(&mut Seed::root(1).child("rows").rng());
            order
        })
    }
}
