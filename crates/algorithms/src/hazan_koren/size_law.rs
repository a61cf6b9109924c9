//! Draws in proportion to the size of attributes, in the place of uniform ones.
//!
//! *Source*: Kukliansky & Shamir 2015, *Attribute Efficient Linear Regression with Distribution-Dependent
//! Sampling*, of whose method this is the law of draws; the sizes are given here, and not estimated on the
//! way.
//!
//! *Why*. `x~ = 1/k sum_r x[i_r]/q[i_r] e_{i_r}` is unbiased for every law q, and the mean of its squared
//! norm is `1/k sum_j E x_j^2/q_j` beside a term that does not depend on q. It is smallest for `q_j` in
//! proportion to the sizes `s_j = sqrt(E x_j^2)`: `(sum_j s_j)^2/k`. Uniform draws have `d/k sum_j s_j^2`, up
//! to d times as much, so that the bound on the risk is up to `sqrt(d)` times smaller with draws by size.
//! Where all sizes are equal, as after standardization, nothing changes.

use crate::params::{ParamError, number, require};
use crate::state;
use lao_observation::Rng;
use lao_observation::stored::Damaged;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The law of draws with `q_j` in proportion to the size of attribute j.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SizeLaw {
    /// The sums of the sizes of the first attributes.
    sums: Vec<f64>,
}

impl SizeLaw {
    /// Returns the law of these sizes, of which one is positive at least.
    pub fn new(name: &'static str, dim: usize, sizes: &[f64]) -> Result<Self, ParamError> {
        let allowed = format_args!("one for each of {dim} attributes");
        require(sizes.len() == dim, name, "sizes", format_args!("{} numbers", sizes.len()), allowed)?;
        let bad = sizes.iter().copied().find(|size| !(0.0..=1e150).contains(size));
        let allowed = "numbers from 0 to 1e150";
        require(bad.is_none(), name, "sizes", number(bad.unwrap_or_default()), allowed)?;
        let mut sum = 0.0;
        let sums: Vec<f64> = sizes
            .iter()
            .map(|size| {
                sum += size;
                sum
            })
            .collect();
        require(sum > 0.0, name, "sizes", "0 for all attributes", "a positive number for one of them")?;
        Ok(SizeLaw { sums })
    }

    fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(1.0)
    }

    /// Returns `1/(d q_j)`, what an attribute counts that was drawn by this law, over what it counts after
    /// uniform draws.
    pub fn weight(&self, j: u32) -> f64 {
        let j = j as usize;
        let sum_before = |j: usize| if j > 0 { self.sums.get(j - 1).copied() } else { Some(0.0) };
        let size = sum_before(j + 1).zip(sum_before(j)).map_or(0.0, |(sum, before)| sum - before);
        self.total() / (self.sums.len() as f64 * size)
    }

    /// Appends `count` draws, with replacement.
    pub fn draw(&self, count: usize, rng: &mut Rng, drawn: &mut Vec<u32>) {
        // The first sum that is above a uniform number belongs to an attribute of positive size. The rounding
        // of the product may reach the total, which no sum is above.
        let largest = self.total().next_down();
        drawn.extend((0..count).map(|_| {
            let at = (rng.random::<f64>() * self.total()).min(largest);
            self.sums.partition_point(|sum| *sum <= at) as u32
        }));
    }

    pub fn check(&self, name: &'static str, dim: usize) -> Result<(), Damaged> {
        state::length(name, "the law of draws", self.sums.len(), dim)?;
        let ascends = self.sums.windows(2).all(|pair| pair[0] <= pair[1]);
        let ok = ascends && self.sums.first().is_some_and(|first| *first >= 0.0) && self.total() > 0.0;
        Damaged::unless(ok && self.total().is_finite(), name, || "the law of draws is none")
    }
}
