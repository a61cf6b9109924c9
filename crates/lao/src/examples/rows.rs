//! The rows that belong to examples, in their order.

use std::ops::Range;

/// Rows of a table, in an order.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// One by one: of a table in memory.
    Listed(Vec<u32>),
    /// In runs of rows that follow one another: of a table that is read by pages, so that a page takes as
    /// much memory as a row does otherwise.
    Runs(Runs),
}

/// Runs of rows that follow one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// The first row of each run.
    firsts: Vec<u32>,
    /// The number of rows up to the end of each run.
    ends: Vec<u64>,
}

impl Runs {
    /// Returns the number of rows.
    fn len(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Adds rows, which are one run with those before if they follow them.
    pub fn push(&mut self, rows: Range<u32>) {
        let (begin, all) = (self.begin(self.firsts.len().wrapping_sub(1)), self.len() as u64);
        let length = u64::from(rows.end - rows.start);
        match (self.firsts.last(), self.ends.last_mut()) {
            _ if length == 0 => {}
            (Some(first), Some(end)) if u64::from(*first) + (all - begin) == u64::from(rows.start) => {
                *end += length;
            }
            _ => {
                self.firsts.push(rows.start);
                self.ends.push(all + length);
            }
        }
    }

    /// Returns the number of rows before a run.
    fn begin(&self, run: usize) -> u64 {
        run.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }

    /// Returns the rows at some places, run by run.
    fn slices(&self, places: Range<usize>) -> impl Iterator<Item = Range<u32>> {
        let (from, to) = (places.start as u64, places.end.min(self.len()) as u64);
        let first = self.ends.partition_point(|end| *end <= from);
        (first..self.firsts.len()).map_while(move |run| {
            let (begin, end) = (self.begin(run), self.ends[run]);
            let (low, high) = (from.max(begin), to.min(end));
            let row = |place: u64| self.firsts[run] + (place - begin) as u32;
            (low < high).then(|| row(low)..row(high))
        })
    }
}

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Rows::Listed(rows) => rows.len(),
            Rows::Runs(runs) => runs.len(),
        }
    }

    /// Returns rows that are listed as runs.
    pub fn in_runs(rows: impl Iterator<Item = u32>) -> Self {
        let mut runs = Runs::default();
        rows.for_each(|row| runs.push(row..row + 1));
        Rows::Runs(runs)
    }

    /// Returns the rows at some places, run by run.
    pub fn slices(&self, places: Range<usize>) -> Box<dyn Iterator<Item = Range<u32>> + '_> {
        match self {
            Rows::Listed(rows) => Box::new(rows[places].iter().map(|&row| row..row + 1)),
            Rows::Runs(runs) => Box::new(runs.slices(places)),
        }
    }

    /// Returns all rows.
    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Rows::Listed(rows) => Box::new(rows.iter().copied()),
            Rows::Runs(runs) => Box::new(runs.slices(0..runs.len()).flatten()),
        }
    }

    /// Writes the rows at some places in the place of what `into` has.
    pub fn copy(&self, places: Range<usize>, into: &mut Vec<u32>) {
        into.clear();
        match self {
            Rows::Listed(rows) => into.extend_from_slice(&rows[places]),
            Rows::Runs(runs) => into.extend(runs.slices(places).flatten()),
        }
    }

    /// Returns the rows at some places, one range of places after the other.
    pub fn at(&self, places: impl Iterator<Item = Range<usize>>) -> Self {
        match self {
            Rows::Listed(rows) => Rows::Listed(places.flat_map(|places| &rows[places]).copied().collect()),
            Rows::Runs(runs) => {
                let mut chosen = Runs::default();
                places.for_each(|places| runs.slices(places).for_each(|rows| chosen.push(rows)));
                Rows::Runs(chosen)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_a_list_is() {
        let list: Vec<u32> = vec![4, 5, 6, 9, 2, 3, 4, 0, 1, 2, 3, 4_294_967_294];
        let (listed, runs) = (Rows::Listed(list.clone()), Rows::in_runs(list.iter().copied()));
        let Rows::Runs(Runs { firsts, .. }) = &runs else { unreachable!() };
        assert_eq!(firsts, &[4, 9, 2, 0, 4_294_967_294]);
        assert_eq!((runs.len(), runs.iter().collect::<Vec<_>>()), (12, list.clone()));
        let (mut one, mut other) = (Vec::new(), vec![7]);
        for start in 0..=12 {
            for end in start..=12 {
                listed.copy(start..end, &mut one);
                runs.copy(start..end, &mut other);
                assert_eq!(one, other, "{start}..{end}");
                let chosen = [end..12, start..end, 0..start];
                let [one, other] = [&listed, &runs].map(|rows| rows.at(chosen.clone().into_iter()));
                assert_eq!(one.iter().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
            }
        }
        assert_eq!(Rows::in_runs(std::iter::empty()).iter().count(), 0);
    }
}
