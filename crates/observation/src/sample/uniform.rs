//! Independent uniform indices.

use crate::seed::Rng;
use rand::Rng as _;

/// Appends `count` independent uniform draws from `0..dim`, in the order drawn.
///
/// Each word of the generator gives two draws, by multiplication with rejection (Lemire 2019), so that all
/// indices are exactly equally likely. `dim` lies in `1..=2^32 - 1`; nothing is drawn from an empty range.
pub fn uniform_draws(dim: usize, count: usize, rng: &mut Rng, into: &mut Vec<u32>) {
    let Some(dim) = u32::try_from(dim).ok().filter(|&dim| dim > 0) else { return };
    let rejected = dim.wrapping_neg() % dim;
    let start = into.len();
    into.resize(start + count, 0);
    for pair in into[start..].chunks_mut(2) {
        let word = rng.next_u64();
        for (slot, half) in pair.iter_mut().zip([word as u32, (word >> 32) as u32]) {
            let mut product = u64::from(half) * u64::from(dim);
            while (product as u32) < rejected {
                product = u64::from(rng.next_u64() as u32) * u64::from(dim);
            }
            *slot = (product >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn every_index_is_equally_frequent() {
        // 3 * 2^30 rejects a quarter of the words, so a lost rejection shows at once. Chi-square over 12
        // cells; 31.26 is its 0.999 quantile at 11 degrees.
        for dim in [12, 3usize << 30] {
            let (mut drawn, cells) = (Vec::new(), 12u64);
            uniform_draws(dim, 120_001, &mut Seed::root(3).rng(), &mut drawn);
            let mut counts = [0u32; 12];
            for &j in &drawn {
                assert!((j as usize) < dim);
                counts[(u64::from(j) * cells / dim as u64) as usize] += 1;
            }
            let statistic: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
            assert!(statistic < 31.26, "chi-square {statistic} at {dim}");
        }
    }

    #[test]
    fn consecutive_draws_are_independent() {
        // All 9 pairs; 26.12 is the 0.999 quantile of chi-square at 8 degrees.
        let mut drawn = Vec::new();
        uniform_draws(3, 90_000, &mut Seed::root(4).rng(), &mut drawn);
        let mut counts = [0u32; 9];
        drawn.chunks_exact(2).for_each(|pair| counts[(3 * pair[0] + pair[1]) as usize] += 1);
        let statistic: f64 = counts.iter().map(|&n| (f64::from(n) - 5e3).powi(2) / 5e3).sum();
        assert!(statistic < 26.12, "chi-square {statistic}");
    }

    #[test]
    fn a_power_of_two_rejects_nothing() {
        let (mut drawn, mut words) = (Vec::new(), Seed::root(5).rng());
        uniform_draws(1 << 31, 64, &mut words.clone(), &mut drawn);
        for pair in drawn.chunks(2) {
            let word = words.next_u64();
            assert_eq!(pair, [(word as u32) >> 1, (word >> 33) as u32]);
        }
    }

    #[test]
    fn nothing_is_drawn_from_an_empty_range() {
        let mut drawn = vec![7];
        uniform_draws(0, 3, &mut Seed::root(1).rng(), &mut drawn);
        assert_eq!(drawn, [7]);
    }
}
