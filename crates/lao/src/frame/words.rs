//! Columns of words.

use super::{MOST_WORDS, NO_WORD, Values};
use std::collections::HashMap;

/// Returns the places of the columns that have words.
pub(super) fn worded(places: &[usize], columns: &[Option<Vec<f64>>]) -> Vec<usize> {
    places.iter().zip(columns).filter(|(_, column)| column.is_none()).map(|(&place, _)| place).collect()
}

/// Returns all columns: those of numbers, and for each `None` the next of `words`.
pub(super) fn merged(columns: Vec<Option<Vec<f64>>>, words: Vec<Option<Words>>) -> Vec<Values> {
    let many = Values::TooManyWords(None);
    let mut words = words.into_iter().map(|words| words.map_or(many.clone(), Words::sorted));
    let mut next = || words.next().unwrap_or(many.clone());
    columns.into_iter().map(|numbers| numbers.map_or_else(&mut next, Values::Numbers)).collect()
}

/// The words of a column.
#[derive(Clone, Default)]
pub(super) struct Words {
    /// Each word with its place of first appearance.
    found: HashMap<Vec<u8>, u32>,
    /// The place of each row's word.
    places: Vec<u32>,
}

impl Words {
    /// Adds a row, whose field is `None` if it is missing; returns whether there are not too many words.
    pub fn add(&mut self, field: Option<&[u8]>) -> bool {
        let Some(field) = field else {
            self.places.push(NO_WORD);
            return true;
        };
        let fresh = self.found.len() as u32;
        let place = match self.found.get(field) {
            Some(&place) => place,
            None => *self.found.entry(field.to_vec()).or_insert(fresh),
        };
        self.places.push(place);
        self.found.len() <= MOST_WORDS
    }

    /// Adds the rows of `other`; returns whether there are not too many words.
    pub fn append(&mut self, other: Words) -> bool {
        let mut new = vec![0; other.found.len()];
        for (word, old) in other.found {
            let fresh = self.found.len() as u32;
            new[old as usize] = *self.found.entry(word).or_insert(fresh);
        }
        self.places.extend(other.places.into_iter().map(|old| *new.get(old as usize).unwrap_or(&NO_WORD)));
        self.found.len() <= MOST_WORDS
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
