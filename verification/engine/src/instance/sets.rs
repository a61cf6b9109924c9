//! Subsets of `{0, .., d-1}` as bits, for `d <= 128`, and random sparse vectors.

use lao_observation::Rng;
use lao_observation::sample::SubsetSampler;
use rand_distr::{Distribution, StandardNormal};

/// Returns the members of a set, ascending.
pub fn members(set: u128) -> impl Iterator<Item = usize> + Clone {
    let mut rest = set;
    std::iter::from_fn(move || {
        let lowest = (rest != 0).then(|| rest.trailing_zeros() as usize);
        rest &= rest.wrapping_sub(1);
        lowest
    })
}

/// Returns all subsets of `{0, .., dim-1}` as bits, the empty one first; `dim < 128`.
pub fn subsets(dim: usize) -> std::ops::Range<u128> {
    0..1 << dim
}

/// Returns all subsets of `{0, .., dim-1}` with `size` members, in ascending order of their bits as a number;
/// `dim < 128`.
pub fn masks(dim: usize, size: usize) -> impl Iterator<Item = u128> {
    subsets(dim).filter(move |set| set.count_ones() as usize == size)
}

/// Returns a uniformly drawn set of `size` coordinates of `0..dim`, sorted.
pub fn random_support(rng: &mut Rng, dim: usize, size: usize) -> Vec<usize> {
    let mut drawn = Vec::new();
    SubsetSampler::new(dim).draw(size, rng, &mut drawn);
    drawn.into_iter().map(|j| j as usize).collect()
}

/// Returns a vector with `size` standard normal coordinates on a uniformly drawn support.
pub fn sparse_normal(rng: &mut Rng, dim: usize, size: usize) -> Vec<f64> {
    let mut v = vec![0.0; dim];
    for j in random_support(rng, dim, size) {
        v[j] = StandardNormal.sample(rng);
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_sets_of_their_size() {
        assert_eq!(masks(6, 3).count(), 20);
        assert_eq!(masks(4, 2).map(|set| members(set).collect::<Vec<_>>()).last(), Some(vec![2, 3]));
        assert_eq!(members(0).count(), 0);
        assert_eq!(members(1 << 127 | 1).collect::<Vec<_>>(), [0, 127]);
    }

    #[test]
    fn sparse_normals_have_the_asked_support_size() {
        let mut rng = lao_observation::Seed::root(1).rng();
        for size in 0..=9 {
            let v = sparse_normal(&mut rng, 9, size);
            assert_eq!(v.iter().filter(|x| **x != 0.0).count(), size);
        }
    }
}
