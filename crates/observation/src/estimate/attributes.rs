//! Importance-weighted attributes: `x^_j = (d/m) x_j` if `j` is in `J`, else 0, with `J` a uniform set of `m` of the
//! `d` attributes. Then `E x^ = x`, because every attribute is drawn with probability `m/d`.
//!
//! Source: Cesa-Bianchi et al. 2010; used by Murata & Suzuki 2018, Section 3.1.

use crate::Row;

/// The importance weight `d/m` of one uniformly drawn set of `m` of `d` attributes.
pub fn weight(dim: usize, drawn: usize) -> f64 {
    dim as f64 / drawn as f64
}

/// Pairs `(j, (d/m) x_j)` for the attributes `j` in `drawn` (sorted, all of them observed in `seen`).
pub fn weighted<'a>(seen: Row<'a>, drawn: &'a [u32], dim: usize) -> impl Iterator<Item = (u32, f64)> + 'a {
    let (weight, mut at) = (weight(dim, drawn.len()), 0);
    drawn.iter().filter_map(move |&j| {
        while at < seen.attributes.len() && seen.attributes[at] < j {
            at += 1;
        }
        (seen.attributes.get(at) == Some(&j)).then(|| (j, weight * seen.values[at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
