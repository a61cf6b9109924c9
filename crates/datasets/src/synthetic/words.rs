//! Random words by address: a pure function of (seed, stream, row).
//!
//! *Method.* A stream has two keys, hashed from the seed and the stream's number. Word `row` of it is the finaliser of
//! SplitMix64 (Steele, Lea & Flood 2014, with Stafford's constants) of `start + row * odd`, the second key mixed in
//! between its two rounds. Streams are thus not windows of one long sequence: two of them overlap only if both keys agree.

use lao_observation::{Rng, Seed};
use rand::{SeedableRng, TryRng};
use std::convert::Infallible;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

/// Bits of 1.0 as `f64`.
const ONE: u64 = 0x3ff0_0000_0000_0000;
const SIGN: u64 = 1 << 63;

#[inline(always)]
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(FIRST);
    let z = (z ^ (z >> 27)).wrapping_mul(SECOND);
    z ^ (z >> 31)
}

/// The random words of one virtual data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words([u64; 4]);

/// One stream of words; a word per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    start: u64,
    twist: u64,
}

impl Words {
    /// All words that descend from `seed`.
    pub fn new(seed: &Seed) -> Words {
        Words(seed.words())
    }

    /// The stream of one attribute (`kind` 0), or of another quantity of the design: the coins of a pair, a factor.
    /// Streams of different `(kind, index)` are independent.
    #[inline]
    pub fn stream(&self, kind: u32, index: u32) -> Stream {
        let place = u64::from(kind) << 32 | u64::from(index);
        let start = mix(place.wrapping_mul(GOLDEN).wrapping_add(self.0[0])) ^ self.0[1];
        let twist = mix(start.wrapping_add(self.0[2])) ^ self.0[3];
        Stream { start, twist }
    }

    /// A generator for the draws of a whole batch, by where the batch starts and how long it is.
    pub fn generator(&self, position: u64, examples: u64) -> Rng {
        let stream = self.stream(u32::MAX, 0);
        let Stream { start, twist } = Stream { start: stream.word(position), twist: stream.twist };
        let batch = Stream { start, twist: twist ^ mix(examples.wrapping_add(GOLDEN)) };
        let mut bytes = [0; 32];
        for (row, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&batch.word(row as u64).to_le_bytes());
        }
        Rng::from_seed(bytes)
    }
}

impl Stream {
    /// The word at `row`: 64 fair bits.
    #[inline(always)]
    pub fn word(self, row: u64) -> u64 {
        let z = row.wrapping_mul(GOLDEN).wrapping_add(self.start);
        let z = (z ^ (z >> 30)).wrapping_mul(FIRST) ^ self.twist;
        let z = (z ^ (z >> 27)).wrapping_mul(SECOND);
        z ^ (z >> 31)
    }

    /// A generator for the few draws that one row needs; its first word is [`word`](Stream::word).
    #[inline(always)]
    pub fn draws(self, row: u64) -> Draws {
        Draws(self.word(row))
    }
}

/// A generator of a few words, for samplers that reject.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl TryRng for Draws {
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

/// Fills `out` with signs +1 and -1 for rows `first_row ..`: bit `row % 64` of `word(row / 64)`, set for -1. So a word
/// serves 64 rows.
#[inline(always)]
pub fn fill_signs(first_row: u64, out: &mut [f64], word: impl Fn(u64) -> u64) {
    each_sign(first_row, out, word, |x, sign| *x = sign);
}

/// Adds `weight` times the signs of [`fill_signs`] to `out`.
#[inline(always)]
pub fn add_signs(first_row: u64, weight: f64, out: &mut [f64], word: impl Fn(u64) -> u64) {
    each_sign(first_row, out, word, |x, sign| *x += weight * sign);
}

#[inline(always)]
fn each_sign(first_row: u64, out: &mut [f64], word: impl Fn(u64) -> u64, put: impl Fn(&mut f64, f64)) {
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

/// `value`, negated where `flip` holds.
#[inline(always)]
pub fn flip_if(value: f64, flip: bool) -> f64 {
    f64::from_bits(value.to_bits() ^ (u64::from(flip) * SIGN))
}

/// A uniform value in (-1/2, 1/2), on a grid of 2^52 points symmetric about 0.
#[inline(always)]
pub fn centred_uniform(word: u64) -> f64 {
    const HALF_STEP: f64 = f64::EPSILON / 2.0;
    f64::from_bits(ONE | (word >> 12)) - 1.5 + HALF_STEP
}

/// A random word lies below the result with this probability, to 2^-64.
pub fn chance(probability: f64) -> u64 {
    const WORDS: f64 = 18_446_744_073_709_551_616.0;
    (probability * WORDS) as u64
}
