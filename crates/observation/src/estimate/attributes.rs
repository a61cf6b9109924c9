//! Importance-weighted attributes: `x^_j = (d/m) x_j` if `j` is in `J`, else 0, with `J` a uniform set of `m`
//! of the `d` attributes. Then `E x^ = x`, because every attribute is drawn with probability `m/d`.
//!
//! With `k` draws that may repeat, the weight is `d/k` times how often `j` was drawn, and again `E x~ = x`;
//! the second moment is then `(d + k - 1)/k` times that of `x`, coordinate by coordinate.
//!
//! Source: Cesa-Bianchi et al. 2010; used by Murata & Suzuki 2018, Section 3.1, and, with draws that may
//! repeat, by Hazan & Koren 2012, Algorithms 1 to 3.

use crate::Row;

/// Returns the importance weight `d/m` of one uniformly drawn set of `m` of `d` attributes.
pub fn weight(dim: usize, drawn: usize) -> f64 {
    dim as f64 / drawn as f64
}

/// Returns the pairs `(j, (d/m) x_j)` for the attributes `j` in `drawn` (sorted, all of them observed in
/// `seen`).
pub fn weighted<'a>(seen: Row<'a>, drawn: &'a [u32], dim: usize) -> impl Iterator<Item = (u32, f64)> + 'a {
    let (weight, mut at) = (weight(dim, drawn.len()), 0);
    drawn.iter().filter_map(move |&j| {
        while at < seen.attributes.len() && seen.attributes[at] < j {
            at += 1;
        }
        (seen.attributes.get(at) == Some(&j)).then(|| (j, weight * seen.values[at]))
    })
}

/// Returns the pairs `(j, (d/k) x_j)`, one for each of `draws` = `k` uniform draws with replacement, which
/// are the attributes of `drawn`. An attribute that was drawn `c` times has `c` pairs, which add up to its
/// part of `x~`.
pub fn weighted_with_replacement(
    drawn: Row<'_>,
    draws: usize,
    dim: usize,
) -> impl Iterator<Item = (u32, f64)> + '_ {
    let weight = weight(dim, draws);
    drawn.attributes.iter().zip(drawn.values).map(move |(&j, value)| (j, weight * value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_over_all_draws_with_replacement_are_those_stated() {
        let values = [3.0, -1.0, 0.5];
        let (mut mean, mut second) = ([0.0; 3], [0.0; 3]);
        for drawn in (0..9).map(|pair| [pair / 3, pair % 3]) {
            let seen = drawn.map(|j| values[j as usize]);
            let mut estimate = [0.0; 3];
            for (j, value) in weighted_with_replacement(Row { attributes: &drawn, values: &seen }, 2, 3) {
                estimate[j as usize] += value;
            }
            for j in 0..3 {
                mean[j] += estimate[j] / 9.0;
                second[j] += estimate[j] * estimate[j] / 9.0;
            }
        }
        for j in 0..3 {
            assert!((mean[j] - values[j]).abs() < 1e-14);
            assert!((second[j] - (3.0 + 2.0 - 1.0) / 2.0 * values[j] * values[j]).abs() < 1e-13);
        }
    }

    #[test]
    fn expectation_over_all_sets_is_the_example() {
        let values = [3.0, -1.0, 0.5, 2.0];
        let all = [0, 1, 2, 3];
        let seen = Row { attributes: &all, values: &values };
        let mut mean = [0.0; 4];
        let sets = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        for set in &sets {
            for (j, value) in weighted(seen, set, 4) {
                mean[j as usize] += value / sets.len() as f64;
            }
        }
        assert_eq!(mean, values);
    }
}
