//! Effects that a line does not have: curves, and products with an attribute of the support.
//!
//! An attribute whose effect is a square has no covariance with the label, so that Pursuit sees nothing of
//! it; but the residual has another mean where the attribute is large than where it is small. These means
//! cost one addition for each value that is observed in the search. An attribute that only matters by its
//! product with another one has no such means either; but if the other one is in the support, both are
//! observed together, and the residual has a covariance with the product. These sums cost as many additions
//! as the support has attributes.

use super::NAME;
use crate::pursuit::Pursuit;
use crate::state;
use lao_observation::stored::Damaged;
use lao_observation::{Block, Learner as _, Row};
use serde::{Deserialize, Serialize};

/// The parts end at these places, in standard deviations from the mean: a quarter of a normal law is in each.
const ENDS: [f64; 3] = [-0.67, 0.0, 0.67];
const PARTS: usize = ENDS.len() + 1;
/// The range of Pursuit ends at so many standard deviations from the mean.
const WITHIN: f64 = 4.0;
/// The most sums of products, which limit the attributes of the support that have any.
const MOST_PRODUCTS: usize = 1 << 22;

/// Sums of the residuals of Pursuit's predictions, made before it learned from a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Curves {
    /// By attribute and part: the sum of the residuals, and their number.
    sums: Vec<[f64; PARTS]>,
    counts: Vec<[f64; PARTS]>,
    /// Of attributes that were in the support, one after the other: by attribute the sum of the products of
    /// both and the residual, and that of their squares.
    partners: Vec<u32>,
    products: Vec<[f64; 2]>,
    /// The sum of the squared residuals of all rows, and their number.
    squares: f64,
    rows: f64,
}

/// What Pursuit says of a block before it learns from it, so that it is no matter in how many pieces a block
/// is told.
pub(super) struct Look {
    residuals: Vec<f64>,
    /// The mean of each attribute, and the reciprocal of its standard deviation.
    scales: Vec<[f64; 2]>,
    /// The columns of the support.
    partners: Vec<usize>,
}

impl Look {
    pub fn at(block: &Block<'_>, pursuit: &Pursuit) -> Self {
        let attributes = block.attributes();
        let mut values = vec![0.0; attributes.len()];
        let mut of = |(row, label): (usize, &f64)| {
            values.iter_mut().enumerate().for_each(|(c, x)| *x = block.column(c)[row]);
            label - pursuit.apply(Row { attributes, values: &values })
        };
        let scale = |&j: &u32| {
            let (mean, high) = (pursuit.mean(j), *pursuit.range(j).end());
            [mean, if high < f64::MAX { WITHIN / (high - mean) } else { f64::NAN }]
        };
        Look {
            residuals: block.labels().iter().enumerate().map(&mut of).collect(),
            scales: attributes.iter().map(scale).collect(),
            partners: (0..attributes.len())
                .filter(|&c| pursuit.support().binary_search(&attributes[c]).is_ok())
                .collect(),
        }
    }
}

impl Curves {
    pub fn of(dim: usize) -> Self {
        let (sums, counts) = (vec![[0.0; PARTS]; dim], vec![[0.0; PARTS]; dim]);
        Curves { sums, counts, ..Curves::default() }
    }

    /// Makes room for attributes that join.
    pub fn join(&mut self, dim: usize) {
        let old = self.sums.len();
        self.sums.resize(dim, [0.0; PARTS]);
        self.counts.resize(dim, [0.0; PARTS]);
        let widened = self.products.chunks(old.max(1)).flat_map(|sums| {
            let more = std::iter::repeat_n([0.0; 2], dim - old);
            sums.iter().copied().chain(more)
        });
        self.products = widened.collect();
    }

    /// Adds a block as it was looked at.
    pub fn add(&mut self, block: &Block<'_>, look: &Look) {
        let Look { residuals, scales, partners } = look;
        for residual in residuals {
            self.squares += residual * residual;
            self.rows += 1.0;
        }
        for ((c, &j), [mean, scale]) in block.attributes().iter().enumerate().zip(scales) {
            // Before anything was learned of an attribute, its scale is no number.
            if !scale.is_finite() {
                continue;
            }
            for (x, residual) in block.column(c).iter().zip(residuals).filter(|(x, _)| !x.is_nan()) {
                let part = ENDS.iter().filter(|end| (x - mean) * scale > **end).count();
                self.sums[j as usize][part] += residual;
                self.counts[j as usize][part] += 1.0;
            }
        }
        partners.iter().for_each(|&partner| self.add_products(block, look, partner));
    }

    /// Adds the products with a column of the support.
    fn add_products(&mut self, block: &Block<'_>, look: &Look, partner: usize) {
        let (dim, attributes) = (self.sums.len(), block.attributes());
        let standard = |c: usize, x: f64| {
            let [mean, scale] = look.scales[c];
            let x = (x - mean) * scale;
            if x.is_nan() { 0.0 } else { x.clamp(-WITHIN, WITHIN) }
        };
        let at = match self.partners.iter().position(|s| *s == attributes[partner]) {
            Some(at) => at,
            None if self.products.len() + dim > MOST_PRODUCTS => return,
            None => {
                self.partners.push(attributes[partner]);
                self.products.resize(self.products.len() + dim, [0.0; 2]);
                self.partners.len() - 1
            }
        };
        let with: Vec<f64> = (block.column(partner).iter().zip(&look.residuals))
            .map(|(&x, residual)| standard(partner, x) * residual)
            .collect();
        for (c, &j) in attributes.iter().enumerate().filter(|(c, _)| *c != partner) {
            let [sum, squares] = &mut self.products[at * dim..][j as usize];
            for (&x, with) in block.column(c).iter().zip(&with) {
                let product = standard(c, x) * with;
                *sum += product;
                *squares += product * product;
            }
        }
    }

    /// Returns the effect of an attribute in standard deviations: the root of what the differences between
    /// the parts explain beyond what they do by chance, or of what its product with an attribute of the
    /// support does.
    pub fn effect(&self, j: u32) -> f64 {
        let (Some(sums), Some(counts)) = (self.sums.get(j as usize), self.counts.get(j as usize)) else {
            return 0.0;
        };
        let (all, n): (f64, f64) = (sums.iter().sum(), counts.iter().sum());
        let parts = counts.iter().filter(|count| **count > 0.0).count();
        let between: f64 = sums.iter().zip(counts).map(|(sum, count)| sum * sum / count.max(1.0)).sum();
        let explained = (between - all * all / n.max(1.0)) / (self.squares / self.rows.max(1.0));
        let of_curve = explained - (parts as f64 - 1.0);
        // The largest of m squares of standard deviations is about 1 + 2 ln m.
        let by_chance = 1.0 + 2.0 * libm::log(self.partners.len().max(1) as f64);
        let products = self.products.chunks(self.sums.len()).map(|sums| {
            let [sum, squares] = sums[j as usize];
            if squares > 0.0 { sum * sum / squares } else { 0.0 }
        });
        let effect = of_curve.max(products.fold(0.0, f64::max) - by_chance).max(0.0).sqrt();
        if effect.is_finite() { effect } else { 0.0 }
    }

    pub fn validate(&self, dim: usize) -> Result<(), Damaged> {
        state::length(NAME, "the list of parts", self.sums.len(), dim)?;
        state::length(NAME, "the list of parts", self.counts.len(), dim)?;
        state::length(NAME, "the list of products", self.products.len(), dim * self.partners.len())?;
        let counts = self.counts.iter().flatten().chain([&self.squares, &self.rows]).all(|n| *n >= 0.0);
        Damaged::unless(counts, NAME, || "a number of rows is negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::PursuitParams;
    use lao_observation::{Ask, BlockBuf, Request, Seed, Told};
    use rand::RngExt as _;

    #[test]
    fn a_square_and_a_product_have_an_effect_and_noise_has_none() {
        let mut pursuit = PursuitParams::within(6, 6).build().unwrap();
        let (mut curves, mut rng, mut ask) = (Curves::of(6), Seed::root(1).rng(), Ask::new(6));
        let mut block = BlockBuf::new();
        for _ in 0..60 {
            pursuit.ask(&mut rng, &mut ask);
            let Request::Values { attributes, examples } = ask.request() else { unreachable!() };
            let (attributes, rows) = (attributes.to_vec(), examples as usize);
            block.reset(attributes.len(), rows);
            for c in 0..6 {
                block.column_mut(c).fill_with(|| rng.random_range(-1.0..1.0));
            }
            for row in 0..rows {
                let x = block.column_mut(2)[row];
                let [y, z] = [block.column_mut(0)[row], block.column_mut(4)[row]];
                block.labels_mut()[row] = 3.0 * x * x + y + 2.0 * y * z + rng.random_range(-1.0..1.0);
            }
            block.set_rows(rows);
            let view = block.view(&attributes);
            let look = Look::at(&view, &pursuit);
            pursuit.tell(Told::Values(view)).unwrap();
            curves.add(&view, &look);
        }
        let effects: Vec<f64> = (0..6).map(|j| curves.effect(j)).collect();
        assert!(effects[2] > 10.0 && effects[4] > 6.0, "{effects:?}");
        assert!([1, 3, 5].iter().all(|&j| effects[j] < 4.0), "{effects:?}");
        assert_eq!(curves.effect(9), 0.0);
    }
}
