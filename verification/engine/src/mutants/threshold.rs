//! Thresholds that keep the wrong entries.

use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold};
use lao_observation::Seed;
use rand::RngExt;

/// A threshold that keeps the non-zero entries of smallest magnitude.
#[derive(Clone, Debug, Default)]
pub struct KeepsSmallest;

impl Threshold for KeepsSmallest {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        let mut order: Vec<usize> = (0..dense.len()).filter(|&j| dense[j] != 0.0).collect();
        order.sort_by(|&i, &j| dense[i].abs().total_cmp(&dense[j].abs()).then(i.cmp(&j)));
        order.truncate(sparsity);
        order.sort_unstable();
        kept.reset(dense.len());
        for j in order {
            kept.push(j as u32, dense[j]);
        }
        Ok(())
    }
}

/// A threshold that keeps one entry too many.
#[derive(Clone, Debug, Default)]
pub struct KeepsOneMore(HardThreshold);

impl Threshold for KeepsOneMore {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        self.0.keep(dense, sparsity + 1, kept)
    }
}

/// A threshold that keeps entries at random: a ranking of the coordinates, drawn once, decides which non-zero
/// entries stay.
#[derive(Clone, Debug)]
pub struct KeepsByLot {
    /// The rank of each coordinate; entries of lower rank stay.
    rank: Vec<usize>,
}

impl KeepsByLot {
    /// Returns a threshold with a random ranking of `dim` coordinates, drawn by the seed's generator.
    pub fn new(dim: usize, seed: &Seed) -> Self {
        let (mut rng, mut rank): (_, Vec<usize>) = (seed.rng(), (0..dim).collect());
        for i in (1..dim).rev() {
            rank.swap(i, rng.random_range(0..=i));
        }
        KeepsByLot { rank }
    }
}

impl Threshold for KeepsByLot {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        let mut order: Vec<usize> = (0..dense.len()).filter(|&j| dense[j] != 0.0).collect();
        order.sort_by_key(|&j| self.rank.get(j).copied().unwrap_or(j));
        order.truncate(sparsity);
        order.sort_unstable();
        kept.reset(dense.len());
        for j in order {
            kept.push(j as u32, dense[j]);
        }
        Ok(())
    }
}
