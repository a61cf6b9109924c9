//! Columns of words.

use super::{Fields, NO_WORD, Values};
use std::collections::HashMap;

/// A column as numbers: NaN where a field is none, and how many fields are neither numbers nor missing.
#[derive(Default)]
pub(super) struct Numbers {
    pub values: Vec<f64>,
    pub odd: usize,
}

/// Returns the places of the columns that have words.
pub(super) fn worded(fields: &Fields, columns: &[Numbers]) -> Vec<usize> {
    let has_words = |(place, column): &(usize, &Numbers)| {
        // Most columns have no odd field, and need no count of the others.
        let known = || column.values.iter().filter(|x| !x.is_nan()).count();
        let counted = if column.odd > 0 { known() } else { 0 };
        fields.has_words(*place, counted, column.odd)
    };
    fields.places().zip(columns).filter(has_words).map(|(place, _)| place).collect()
}

/// A column as it was read.
pub(super) struct Read {
    pub values: Values,
    /// Of a column of numbers: how many fields are neither numbers nor missing.
    pub odd: usize,
    /// Of a column of words: a mark that counts as missing, and how often one does.
    pub mark: Option<(Vec<u8>, usize)>,
}

impl Read {
    /// Returns a column: as words, if it has any, of which `Some(None)` stands for too many; as numbers
    /// otherwise.
    pub fn of(column: Numbers, words: Option<Option<Words>>) -> Self {
        let Numbers { values, odd } = column;
        match words {
            None => Read { values: Values::Numbers(values), odd, mark: None },
            Some(None) => Read { values: Values::TooManyWords(None), odd: 0, mark: None },
            Some(Some(mut words)) => Read { mark: words.mark.take(), values: words.sorted(), odd: 0 },
        }
    }
}

/// Returns all columns: those that have words with the next of `words`, and the others as numbers.
pub(super) fn merged(
    fields: &Fields,
    columns: Vec<Numbers>,
    worded: &[usize],
    words: Vec<Option<Words>>,
) -> Vec<Read> {
    let mut words = words.into_iter();
    let of = |(place, column): (usize, Numbers)| {
        Read::of(column, worded.contains(&place).then(|| words.next().flatten()))
    };
    fields.places().zip(columns).map(of).collect()
}

/// The words of a column.
#[derive(Clone)]
pub(super) struct Words {
    /// How many different ones there may be.
    most: usize,
    /// Each word with its place of first appearance.
    found: HashMap<Vec<u8>, u32>,
    /// The place of each row's word.
    places: Vec<u32>,
    /// A mark that counts as missing, and how often one does.
    mark: Option<(Vec<u8>, usize)>,
}

impl Words {
    pub fn at_most(most: usize) -> Self {
        Words { most, found: HashMap::new(), places: Vec::new(), mark: None }
    }

    /// Adds a row, and says whether its field is missing; returns whether there are not too many words.
    pub fn add(&mut self, field: &[u8], missing: bool) -> bool {
        if missing {
            self.places.push(NO_WORD);
            if !field.is_empty() {
                self.mark.get_or_insert_with(|| (field.to_vec(), 0)).1 += 1;
            }
            return true;
        }
        let fresh = self.found.len() as u32;
        let place = match self.found.get(field) {
            Some(&place) => place,
            None => *self.found.entry(field.to_vec()).or_insert(fresh),
        };
        self.places.push(place);
        self.found.len() <= self.most
    }

    /// Keeps the words alone.
    #[cfg(feature = "parquet")]
    pub fn forget_rows(&mut self) {
        self.places.clear();
    }

    /// Adds the rows of `other`; returns whether there are not too many words.
    pub fn append(&mut self, other: Words) -> bool {
        let mut new = vec![0; other.found.len()];
        for (word, old) in other.found {
            let fresh = self.found.len() as u32;
            new[old as usize] = *self.found.entry(word).or_insert(fresh);
        }
        if let Some((mark, count)) = other.mark {
            self.mark.get_or_insert((mark, 0)).1 += count;
        }
        self.places.extend(other.places.into_iter().map(|old| *new.get(old as usize).unwrap_or(&NO_WORD)));
        self.found.len() <= self.most
    }

    /// Returns the words in alphabetical order.
    fn sorted(self) -> Values {
        let mut words: Vec<(Vec<u8>, u32)> = self.found.into_iter().collect();
        words.sort_unstable();
        let mut new = vec![0; words.len()];
        (0..).zip(&words).for_each(|(place, (_, old))| new[*old as usize] = place);
        let places = self.places.into_iter();
        let places = places.map(|old| new.get(old as usize).copied().unwrap_or(NO_WORD)).collect();
        let words = words.into_iter().map(|(word, _)| String::from_utf8_lossy(&word).into_owned()).collect();
        Values::Words { words, places }
    }
}
