//! Random words by address: a pure function of (seed, stream, row).
//!
//! *Method.* A stream has two keys, hashed from the seed and the stream's number. Word `row` of it is the
//! finalizer of SplitMix64 (Steele, Lea & Flood 2014, with Stafford's constants) of `start + row * odd`, the
//! second key mixed in between its two rounds. Streams are thus not windows of one long sequence: two of them
//! overlap only if both keys agree.

use lao_observation::{Rng, Seed};
use rand::{SeedableRng, TryRng};
use std::convert::Infallible;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

/// The bits of 1.0 as `f64`.
const ONE: u64 = 0x3ff0_0000_0000_0000;

#[inline(always)]
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(FIRST);
    let z = (z ^ (z >> 27)).wrapping_mul(SECOND);
    z ^ (z >> 31)
}

/// The random words of one virtual data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words([u64; 4]);

/// A stream of words, with a word per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordStream {
    start: u64,
    twist: u64,
}

impl Words {
    /// Returns the words of a seed.
    pub fn new(seed: &Seed) -> Words {
        Words(seed.words())
    }

    /// Returns the stream of one attribute (`kind` 0), or of another quantity of the design, such as the
    /// coins of a pair or a factor. Streams of different `(kind, index)` are independent.
    #[inline]
    pub fn stream(&self, kind: u32, index: u32) -> WordStream {
        let place = (u64::from(kind) << 32 | u64::from(index)).wrapping_mul(GOLDEN);
        let [first, second, ..] = self.0;
        let (start, twist) = (mix(place.wrapping_add(first)), mix(place.wrapping_add(second)));
        WordStream { start, twist }
    }

    /// Returns a generator for the draws of a whole batch, which its start and length determine.
    pub fn generator(&self, position: u64, examples: u64) -> Rng {
        let [.., third, fourth] = self.0;
        let place = WordStream { start: third, twist: fourth }.word(position);
        let batch = WordStream { start: place, twist: mix(examples.wrapping_add(third)) };
        let mut bytes = [0; 32];
        for (row, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&batch.word(row as u64).to_le_bytes());
        }
        Rng::from_seed(bytes)
    }
}

impl WordStream {
    /// Returns the word at `row`: 64 fair bits.
    #[inline(always)]
    pub fn word(self, row: u64) -> u64 {
        let z = row.wrapping_mul(GOLDEN).wrapping_add(self.start);
        let z = (z ^ (z >> 30)).wrapping_mul(FIRST) ^ self.twist;
        let z = (z ^ (z >> 27)).wrapping_mul(SECOND);
        z ^ (z >> 31)
    }

    /// Returns a generator for the few draws that one row needs; its first word is
    /// [`word`](WordStream::word).
    #[inline(always)]
    pub fn draws(self, row: u64) -> WordRng {
        WordRng(self.word(row))
    }
}

/// A generator of a few words, for samplers that reject.
#[derive(Clone, Debug)]
pub struct WordRng(u64);

impl TryRng for WordRng {
    type Error = Infallible;

    #[inline(always)]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let word = self.0;
        self.0 = mix(word.wrapping_add(GOLDEN));
        Ok(word)
    }

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// Fills `out` with the signs of the rows `first_row ..`. The sign of a row is -1 if bit `row % 64` of
/// `word(row / 64)` is set, and +1 otherwise, so that a word serves 64 rows.
#[inline(always)]
pub fn fill_signs(first_row: u64, out: &mut [f64], word: impl Fn(u64) -> u64) {
    each_sign(first_row, out, word, |x, sign| *x = sign);
}

/// Returns the sign that [`fill_signs`] gives to a row.
#[inline(always)]
pub fn sign_of_row(row: u64, word: impl Fn(u64) -> u64) -> f64 {
    f64::from_bits(ONE | ((word(row / 64) >> (row % 64)) << 63))
}

/// Adds `weight` times the signs of [`fill_signs`] to `out`.
#[inline(always)]
pub fn add_signs(first_row: u64, weight: f64, out: &mut [f64], word: impl Fn(u64) -> u64) {
    each_sign(first_row, out, word, |x, sign| *x += weight * sign);
}

/// Overwrites `out` with the signs of [`fill_signs`] in the rows where the word of `coin` lies below
/// `chance`.
#[inline(always)]
pub fn mix_signs(coin: WordStream, chance: u64, first_row: u64, out: &mut [f64], word: impl Fn(u64) -> u64) {
    let mut row = first_row;
    each_sign(first_row, out, word, |x, sign| {
        *x = if coin.word(row) < chance { sign } else { *x };
        row = row.wrapping_add(1);
    });
}

/// Negates `out` in the rows where the word of `coin` does not lie below `chance`.
#[inline(always)]
pub fn flip_signs(coin: WordStream, chance: u64, first_row: u64, out: &mut [f64]) {
    for (row, x) in (0..).zip(out) {
        let flip = coin.word(first_row.wrapping_add(row)) >= chance;
        *x = f64::from_bits(x.to_bits() ^ (u64::from(flip) << 63));
    }
}

#[inline(always)]
fn each_sign(first_row: u64, out: &mut [f64], word: impl Fn(u64) -> u64, mut put: impl FnMut(&mut f64, f64)) {
    let (mut row, mut rest) = (first_row, out);
    while !rest.is_empty() {
        let skip = (row % 64) as usize;
        let (now, later) = rest.split_at_mut(rest.len().min(64 - skip));
        let bits = word(row / 64) >> skip;
        for (i, x) in now.iter_mut().enumerate() {
            put(x, f64::from_bits(ONE | ((bits >> i) << 63)));
        }
        row = row.wrapping_add(now.len() as u64);
        rest = later;
    }
}

/// Returns a uniform value in (-1/2, 1/2), on a grid of 2^52 points symmetric about 0.
#[inline(always)]
pub fn centered_uniform(word: u64) -> f64 {
    const HALF_STEP: f64 = f64::EPSILON / 2.0;
    f64::from_bits(ONE | (word >> 12)) - 1.5 + HALF_STEP
}

/// Returns the threshold below which a random word lies with probability `chance`, to 2^-64.
pub fn chance(probability: f64) -> u64 {
    const WORDS: f64 = 18_446_744_073_709_551_616.0;
    (probability * WORDS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share of `samples` fair coins deviates from 1/2 by more than this with probability at most 1e-9 /
    /// `shares` (Hoeffding), so any of `shares` such shares does with probability at most 1e-9.
    fn allowed(samples: u64, shares: u64) -> f64 {
        ((2.0 * shares as f64 / 1e-9).ln() / (2.0 * samples as f64)).sqrt()
    }

    fn words(number: u64) -> Words {
        Words::new(&Seed::root(number))
    }

    #[test]
    fn a_changed_bit_of_the_address_flips_every_bit_of_the_word_half_the_time() {
        const SAMPLES: u64 = 20_000;
        let words = words(1);
        let change = |kind: u32, index: u32, row: u64, bit: u32| match bit {
            0..64 => (kind, index, row ^ 1 << bit),
            64..96 => (kind, index ^ 1 << (bit - 64), row),
            _ => (kind ^ 1 << (bit - 96), index, row),
        };
        let word = |(kind, index, row): (u32, u32, u64)| words.stream(kind, index).word(row);
        for bit in (0..128).step_by(3) {
            let mut flips = [0u32; 64];
            for i in 0..SAMPLES {
                let (kind, index, row) = ((i % 3) as u32, (i % 101) as u32, i);
                let difference = word((kind, index, row)) ^ word(change(kind, index, row, bit));
                for (b, flips) in flips.iter_mut().enumerate() {
                    *flips += (difference >> b & 1) as u32;
                }
            }
            for (b, flips) in flips.iter().enumerate() {
                let share = f64::from(*flips) / SAMPLES as f64;
                assert!((share - 0.5).abs() <= allowed(SAMPLES, 43 * 64), "bit {bit} to bit {b}: {share}");
            }
        }
    }

    #[test]
    fn neighbors_agree_half_the_time() {
        const ROWS: u64 = 100_000;
        let (mut signs, mut others) = (vec![0.0; ROWS as usize], vec![0.0; ROWS as usize]);
        let bound = 2.0 * allowed(ROWS, 1000);
        let correlation =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64;
        for first_row in [0, 1 << 40] {
            for column in 0..50 {
                let (here, next, elsewhere) =
                    (words(1).stream(0, column), words(1).stream(0, column + 1), words(2).stream(0, column));
                fill_signs(first_row, &mut signs, |row| here.word(row));
                for lag in [1, 2, 63, 64, 65] {
                    let lagged = correlation(&signs[lag..], &signs);
                    assert!(lagged.abs() <= 1.001 * bound, "column {column}, lag {lag}: {lagged}");
                }
                for other in [next, elsewhere] {
                    fill_signs(first_row, &mut others, |row| other.word(row));
                    let across = correlation(&signs, &others);
                    assert!(across.abs() <= bound, "column {column}: {across}");
                }
            }
        }
    }

    #[test]
    fn uniform_values_are_centered_and_spread_over_the_interval() {
        assert_eq!(centered_uniform(0), -centered_uniform(u64::MAX));
        assert_eq!(centered_uniform(0), -0.5 + f64::EPSILON / 2.0);
        assert!((chance(0.5), chance(0.0), chance(1.0)) == (1 << 63, 0, u64::MAX));
    }

    #[test]
    fn signs_of_a_row_do_not_depend_on_where_the_block_starts() {
        let stream = words(3).stream(0, 9);
        let mut whole = [0.0; 300];
        fill_signs(0, &mut whole, |row| stream.word(row));
        for (start, end) in [(0, 1), (63, 65), (100, 300), (64, 128)] {
            let mut part = vec![0.0; end - start];
            fill_signs(start as u64, &mut part, |row| stream.word(row));
            assert_eq!(part, whole[start..end]);
            assert_eq!(part[0], sign_of_row(start as u64, |row| stream.word(row)));
        }
    }
}
