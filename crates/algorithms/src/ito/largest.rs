//! The largest entries of a vector by magnitude, smallest index first among equals, and uniform sets beside them.

use lao_observation::Rng;
use rand::RngExt;
use std::cmp::Ordering;

/// Larger magnitudes first, then smaller indices.
pub(super) fn rank(values: &[f64], i: u32, j: u32) -> Ordering {
    values[j as usize].abs().total_cmp(&values[i as usize].abs()).then(i.cmp(&j))
}

/// `into <-` the `count` largest entries of `values`, sorted by index. O(d); `order` is scratch.
pub(super) fn select(values: &[f64], count: usize, order: &mut Vec<u32>, into: &mut Vec<u32>) {
    order.clear();
    order.extend(0..values.len() as u32);
    if count > 0 && count < values.len() {
        order.select_nth_unstable_by(count - 1, |&i, &j| rank(values, i, j));
    }
    into.clear();
    into.extend(order.iter().take(count));
    into.sort_unstable();
}

/// `U`, the `k_1` largest entries of a vector that changes in few places at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Largest {
    kept: Vec<u32>,
    inside: Vec<bool>,
    order: Vec<u32>,
}

impl Largest {
    pub(super) fn new(values: &[f64], count: usize) -> Self {
        let mut largest = Largest { inside: vec![false; values.len()], ..Largest::default() };
        largest.kept.resize(count, 0);
        largest.update(values, &[]);
        largest
    }

    /// Takes in that the entries `changed` of `values` changed.
    pub(super) fn update(&mut self, values: &[f64], _changed: &[u32]) {
        let count = self.kept.len();
        select(values, count, &mut self.order, &mut self.kept);
        self.inside.fill(false);
        self.kept.iter().for_each(|&j| self.inside[j as usize] = true);
    }

    /// The entries, sorted by index.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Appends to `into` a uniform set of `size` entries outside `U` (all of them if there are not that many), sorted.
    ///
    /// Draws until there are enough, turning down what is in already; where that would happen more than half of the
    /// time, one pass over all entries does it. O(size log size) on average either way.
    pub(super) fn draw_outside(&mut self, size: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        let dim = self.inside.len();
        let mut outside = dim - self.kept.len();
        let (start, mut size) = (into.len(), size.min(outside));
        if 2 * (self.kept.len() + size) > dim {
            for j in 0..dim {
                if size > 0 && !self.inside[j] {
                    if rng.random_range(0..outside) < size {
                        into.push(j as u32);
                        size -= 1;
                    }
                    outside -= 1;
                }
            }
            return;
        }
        while size > 0 {
            let j = rng.random_range(0..dim as u32);
            if !self.inside[j as usize] {
                self.inside[j as usize] = true;
                into.push(j);
                size -= 1;
            }
        }
        into[start..].iter().for_each(|&j| self.inside[j as usize] = false);
        into[start..].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;

    /// Chi-square over the sets of `size` of the entries outside `kept`, and how many sets there were.
    fn statistic(dim: usize, kept: &[u32], size: usize) -> (f64, usize) {
        let mut values = vec![0.0; dim];
        kept.iter().for_each(|&j| values[j as usize] = 1.0);
        let mut largest = Largest::new(&values, kept.len());
        let (mut rng, mut drawn) = (Seed::root(8).rng(), Vec::new());
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            drawn.clear();
            largest.draw_outside(size, &mut rng, &mut drawn);
            assert!(drawn.is_sorted() && drawn.len() == size && drawn.iter().all(|j| !kept.contains(j)));
            *counts.entry(drawn.clone()).or_insert(0u32) += 1;
        }
        let even = 20_000.0 / counts.len() as f64;
        let statistic = counts.values().map(|&n| (f64::from(n) - even).powi(2) / even).sum();
        (statistic, counts.len())
    }

    #[test]
    fn every_set_outside_is_equally_frequent_whichever_way_it_is_drawn() {
        // 0.999 quantiles of chi-square: 27.88 at 9 degrees, 43.82 at 19, 36.12 at 14.
        let (many, sets) = statistic(6, &[1], 3);
        assert!(sets == 10 && many < 27.88, "{many} over {sets} sets");
        let (many, sets) = statistic(8, &[2, 5], 3);
        assert!(sets == 20 && many < 43.82, "{many} over {sets} sets");
        let (few, sets) = statistic(7, &[3], 2);
        assert!(sets == 15 && few < 36.12, "{few} over {sets} sets");
    }

    #[test]
    fn ties_go_to_the_smallest_index() {
        assert_eq!(Largest::new(&[0.0; 5], 3).kept(), [0, 1, 2]);
        assert_eq!(Largest::new(&[0.0, -2.0, 1.0, 2.0, 1.0], 3).kept(), [1, 2, 3]);
    }
}
