//! Draws with replacement as sorted, distinct attributes with their multiplicity.

use serde::{Deserialize, Serialize};

/// The attributes that two lists of draws name, once each, and how often; three parallel lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Sorted, distinct.
    pub attributes: Vec<u32>,
    /// How often each is in the first list: the uniform draws.
    pub uniform: Vec<u32>,
    /// How often each is in the second list: the draws by weight.
    pub weighted: Vec<u32>,
}

/// Sorts and counts draws in time proportional to their number, whatever the dimension.
///
/// A draw sets its bit in a map of `dim` bits, and a bit of each coarser map above it; reading the maps from the coarsest
/// down yields the draws in order and leaves all bits clear. Draws whose bit was already set are few and are looked up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tallier {
    dim: usize,
    /// One bit per attribute, in the order of a little-endian word. Marked byte by byte, so that a mark rarely has to wait
    /// for the one before it. All clear in between.
    finest: Vec<[u8; 8]>,
    /// `coarser[0]` has one bit per word of `finest`, the next ones a bit per word of the one before.
    coarser: Vec<Vec<u64>>,
    /// Uniform draws whose bit was set.
    again: Vec<u32>,
    /// Weighted draws whose bit was not set.
    first: Vec<u32>,
}

/// A coarsest map of so many words is read in one go.
const TOP: usize = 64;

impl Tallier {
    /// For draws from `0..dim`; keeps about `dim / 8` bytes.
    pub fn new(dim: usize) -> Self {
        let finest = vec![[0; 8]; dim.div_ceil(64)];
        let (mut coarser, mut words) = (Vec::new(), finest.len());
        while words > TOP {
            words = words.div_ceil(64);
            coarser.push(vec![0; words]);
        }
        Tallier { dim, finest, coarser, again: Vec::new(), first: Vec::new() }
    }

    /// Counts `uniform` and `weighted` into `tally`. If a draw is not below the dimension, returns the first such, and
    /// the tally is empty.
    pub fn count(&mut self, uniform: &[u32], weighted: &[u32], tally: &mut Tally) -> Option<u32> {
        let Tally { attributes, uniform: by_chance, weighted: by_weight } = tally;
        let draws = uniform.len() + weighted.len();
        let beyond = |draws: &[u32]| draws.iter().find(|&&j| j as usize >= self.dim).copied();
        let strange = beyond(uniform).or(beyond(weighted));
        if strange.is_some() || draws == 0 {
            [attributes, by_chance, by_weight].into_iter().for_each(Vec::clear);
            return strange;
        }
        self.mark(uniform, true);
        self.mark(weighted, false);

        attributes.resize(draws, 0);
        let mut found = 0;
        let Tallier { finest, coarser, .. } = self;
        for word in 0..coarser.last().map_or(finest.len(), Vec::len) {
            drain(finest, coarser, word, attributes, &mut found);
        }
        attributes.truncate(found);

        // Nearly every attribute was drawn once, uniformly; the others are looked up.
        by_chance.clear();
        by_chance.resize(found, 1);
        by_weight.clear();
        by_weight.resize(found, 0);
        let place = |j: &u32| attributes.partition_point(|other| other < j);
        self.again.iter().for_each(|j| by_chance[place(j)] += 1);
        self.first.iter().for_each(|j| by_chance[place(j)] = 0);
        weighted.iter().for_each(|j| by_weight[place(j)] += 1);
        None
    }

    /// Sets the bits of `draws`, all below the dimension; lists in `again` those whose bit was set, or else in `first`
    /// those whose bit was not.
    fn mark(&mut self, draws: &[u32], again: bool) {
        let listed = if again { &mut self.again } else { &mut self.first };
        listed.resize(draws.len() + 1, 0);
        let (bytes, mut count) = (self.finest.as_flattened_mut(), 0);
        for &j in draws {
            let (byte, bit) = (&mut bytes[j as usize / 8], j % 8);
            // Whether to list it is anybody's guess, so it is written anyway, and overwritten if not.
            listed[count] = j;
            count += usize::from((*byte >> bit & 1 == 1) == again);
            *byte |= 1 << bit;
        }
        listed.truncate(count);
        for (level, map) in (1..).zip(&mut self.coarser) {
            draws.iter().for_each(|&j| map[j as usize >> (6 * level + 6)] |= 1 << ((j >> (6 * level)) % 64));
        }
    }
}

/// Writes and clears everything below one word of the coarsest map.
fn drain(finest: &mut [[u8; 8]], coarser: &mut [Vec<u64>], word: usize, into: &mut [u32], found: &mut usize) {
    let Some((map, coarser)) = coarser.split_last_mut() else {
        let mut left = u64::from_le_bytes(std::mem::take(&mut finest[word]));
        while left != 0 {
            into[*found] = 64 * word as u32 + left.trailing_zeros();
            *found += 1;
            left &= left - 1;
        }
        return;
    };
    let mut left = std::mem::take(&mut map[word]);
    while left != 0 {
        drain(finest, coarser, 64 * word + left.trailing_zeros() as usize, into, found);
        left &= left - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_tally_is_what_a_sorted_map_counts(
            dim in prop_oneof![1usize..200, 60_000usize..70_000, Just(1 << 20)],
            draws in proptest::collection::vec((0u32..1 << 20, any::<bool>()), 0..80),
        ) {
            let mut tallier = Tallier::new(dim);
            let mut tally = Tally::default();
            // Twice, so that what the first left behind would show.
            for round in 0..2 {
                let list = |which| -> Vec<u32> {
                    draws.iter().filter(|&&(_, list)| list == which).map(|&(j, _)| (j + round) % dim as u32).collect()
                };
                let (uniform, weighted) = (list(false), list(true));
                let mut counts = BTreeMap::<u32, (u32, u32)>::new();
                uniform.iter().for_each(|&j| counts.entry(j).or_default().0 += 1);
                weighted.iter().for_each(|&j| counts.entry(j).or_default().1 += 1);
                prop_assert_eq!(tallier.count(&uniform, &weighted, &mut tally), None);
                let found = tally.attributes.iter().zip(&tally.uniform).zip(&tally.weighted);
                let found: Vec<_> = found.map(|((&j, &u), &w)| (j, (u, w))).collect();
                prop_assert_eq!(found, counts.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_draw_beyond_the_dimension_is_named() {
        let (mut tallier, mut tally) = (Tallier::new(5000), Tally::default());
        assert_eq!(tallier.count(&[3, 70_000], &[9], &mut tally), Some(70_000));
        assert_eq!(tally, Tally::default());
        assert_eq!(tallier.count(&[3], &[9], &mut tally), None);
        assert_eq!(tally.attributes, [3, 9]);
    }
}
