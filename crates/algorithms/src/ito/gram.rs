//! Estimates of the Gram matrix `x x'` and of the example `x` from one observed set of attributes.
//!
//! Entry (i, j) of `X` is `x_i x_j / p_ij` if both attributes are observed, entry i of `z` is `x_i / p_i` if
//! attribute i is observed, and all other entries are 0. Then `E X = x x'` and `E z = x`, given everything
//! that was known before the set was drawn.
//!
//! *Source*: Ito et al. 2017, Section 4 (Observation 1, equation 6).
//!
//! The set is drawn by *Observe(w, k', k_1)*: it consists of `U`, the `k_1` largest coordinates of `w`, which
//! are observed for certain, and a uniform set `V` of `q = k' - k_1` of the `n = d - k_1` other attributes.
//! The probability that several given attributes are all observed depends only on the number of different
//! ones outside `U` ([`Observe::joint`]). So `X w` is a sum over three kinds of pairs and a diagonal, and
//! costs O(k') for `k'` observed attributes instead of O(k'^2).

use lao_kernels::dot_column;

/// The law of the observed set *Observe(w, k', k_1)*. Sizes that are too large are reduced to
/// `k_1 <= k' <= d`.
///
/// ```
/// use lao_algorithms::ito::gram::Observe;
///
/// let law = Observe { dim: 10, budget: 5, kept: 2 };
/// assert_eq!(law.joint(1), 3.0 / 8.0);
/// assert_eq!(law.estimates().single, 8.0 / 3.0);
/// assert!(law.floor() < law.least_pair());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observe {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, the number of attributes observed.
    pub budget: usize,
    /// `k_1`, the number of attributes observed for certain.
    pub kept: usize,
}

impl Observe {
    /// Returns `k_1`, reduced to at most `k'` and `d`.
    fn certain(&self) -> usize {
        self.kept.min(self.budget).min(self.dim)
    }

    /// Returns `q = k' - k_1`, the number of attributes drawn.
    pub fn drawn(&self) -> usize {
        self.budget.min(self.dim) - self.certain()
    }

    /// Returns `n = d - k_1`, the number of attributes that `V` is drawn from.
    fn outside(&self) -> usize {
        self.dim - self.certain()
    }

    /// Returns the probability that several given attributes are all observed, when `outside` different ones
    /// of them lie outside `U`: `q (q-1) ... / (n (n-1) ...)` with `outside` factors each. For one attribute
    /// this is `p_i`, for two `p_ij`; the second moment of the estimate needs it for three.
    pub fn joint(&self, outside: usize) -> f64 {
        let (drawn, all) = (self.drawn(), self.outside());
        if outside > all {
            return 0.0;
        }
        (0..outside).map(|a| drawn.saturating_sub(a) as f64 / (all - a) as f64).product()
    }

    /// Returns `C = q (q-1) / (d (d-1))`, the paper's lower bound on every pair probability; 1 when all is
    /// observed.
    pub fn floor(&self) -> f64 {
        if self.drawn() == self.outside() {
            return 1.0;
        }
        let (q, d) = (self.drawn() as f64, self.dim as f64);
        q * (q - 1.0).max(0.0) / (d * (d - 1.0))
    }

    /// Returns the smallest pair probability, `q (q-1) / (n (n-1))`, which is at least the paper's
    /// [`floor`](Self::floor) and may replace it.
    pub fn least_pair(&self) -> f64 {
        self.joint(self.outside().min(2))
    }

    /// Returns whether every pair of attributes can be observed together. If not, no weights make `X`
    /// unbiased.
    pub fn sees_every_pair(&self) -> bool {
        self.least_pair() > 0.0
    }

    /// Returns the importance weights of the estimates under this law.
    pub fn estimates(&self) -> GramWeights {
        // A kind of pair that does not occur, or is never observed, gets weight 0.
        let inverse = |outside| match self.joint(outside) {
            0.0 => 0.0,
            p => 1.0 / p,
        };
        GramWeights { single: inverse(1), pair: inverse(2) }
    }
}

/// Importance weights of the estimates `X` and `z`. An attribute or pair within `U` has weight 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GramWeights {
    /// `1/p_i` outside `U`, which is also the weight of a pair with one attribute in `U` and one outside.
    pub single: f64,
    /// `1/p_ij` for two different attributes outside `U`.
    pub pair: f64,
}

impl GramWeights {
    /// Sets `out` to `(X w)_S`, the observed coordinates of `X w`; all others are 0. `values` and `weights`
    /// are `x` and `w` at the observed attributes, those of `U` first, which number `kept`. The cost is
    /// O(k').
    pub fn gram_times(&self, values: &[f64], weights: &[f64], kept: usize, out: &mut Vec<f64>) {
        self.gradient(values, weights, kept, 0.0, out);
        out.iter_mut().for_each(|g| *g *= 0.5);
    }

    /// Sets `out` to `g^_S = 2 (X w)_S - 2 y z_S`, whose expectation is the gradient of `(w' x - y)^2`
    /// (equation 6). The lists are those of [`gram_times`](Self::gram_times). The cost is O(k').
    pub fn gradient(&self, values: &[f64], weights: &[f64], kept: usize, label: f64, out: &mut Vec<f64>) {
        let (values_u, values_v) = values.split_at(kept.min(values.len()));
        let (weights_u, weights_v) = weights.split_at(kept.min(weights.len()));
        // These are the parts of w' x over U and over V.
        let in_u = dot_column(values_u, weights_u);
        let in_v = dot_column(values_v, weights_v);
        let inside = in_u + self.single * in_v - label;
        let outside = self.single * in_u + self.pair * in_v - self.single * label;
        // Outside U the product x_i w_i of an attribute with itself has the weight 1/p_i, not that of a pair.
        let own = self.single - self.pair;
        out.clear();
        out.extend(values_u.iter().map(|x| 2.0 * x * inside));
        out.extend(values_v.iter().zip(weights_v).map(|(x, w)| 2.0 * x * (outside + own * (x * w))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all sets that *Observe* can give, with `U = 0..k_1`.
    fn sets(dim: usize, budget: usize, kept: usize) -> Vec<Vec<bool>> {
        let size = |mask: u32| mask.count_ones() as usize;
        let inside = (1u32 << kept) - 1;
        (0..1u32 << dim)
            .filter(|mask| size(*mask) == budget && mask & inside == inside)
            .map(|mask| (0..dim).map(|i| mask >> i & 1 == 1).collect())
            .collect()
    }

    const SHAPES: [(usize, usize, usize); 8] =
        [(4, 2, 0), (5, 3, 1), (6, 4, 2), (6, 2, 0), (6, 5, 2), (5, 5, 0), (5, 5, 4), (4, 4, 3)];

    #[test]
    fn joint_probabilities_are_frequencies_over_all_sets() {
        for (dim, budget, kept) in SHAPES {
            let (law, sets) = (Observe { dim, budget, kept }, sets(dim, budget, kept));
            for i in 0..dim {
                for j in 0..dim {
                    for l in 0..dim {
                        let mut outside: Vec<usize> = [i, j, l].into_iter().filter(|&a| a >= kept).collect();
                        outside.sort_unstable();
                        outside.dedup();
                        let count = sets.iter().filter(|set| set[i] && set[j] && set[l]).count();
                        let frequency = count as f64 / sets.len() as f64;
                        assert!(
                            (law.joint(outside.len()) - frequency).abs() < 1e-12,
                            "{dim} {budget} {kept}"
                        );
                    }
                }
            }
            assert!(law.floor() <= law.least_pair() + 1e-12);
        }
    }

    #[test]
    fn products_agree_with_the_matrix_and_are_unbiased() {
        let x = [0.3, -0.7, 0.2, 0.5, -0.1, 0.9];
        let w = [0.4, 0.1, -0.6, 0.0, 0.8, -0.2];
        for (dim, budget, kept) in SHAPES {
            let (law, sets) = (Observe { dim, budget, kept }, sets(dim, budget, kept));
            let (mut mean, mut out) = (vec![0.0; dim], Vec::new());
            for set in &sets {
                let seen: Vec<usize> = (0..dim).filter(|&i| set[i]).collect();
                let at = |v: &[f64]| -> Vec<f64> { seen.iter().map(|&i| v[i]).collect() };
                law.estimates().gradient(&at(&x), &at(&w), kept, 0.7, &mut out);
                for (place, &i) in seen.iter().enumerate() {
                    let p = |j: usize| {
                        let both = usize::from(i >= kept) + usize::from(j >= kept && j != i);
                        law.joint(both)
                    };
                    let row: f64 = seen.iter().map(|&j| x[i] * x[j] * w[j] / p(j)).sum();
                    let wanted = 2.0 * row - 2.0 * 0.7 * x[i] / law.joint(usize::from(i >= kept));
                    assert!((out[place] - wanted).abs() < 1e-12);
                    mean[i] += out[place] / sets.len() as f64;
                }
            }
            let residual = (0..dim).map(|i| x[i] * w[i]).sum::<f64>() - 0.7;
            for i in 0..dim {
                assert!((mean[i] - 2.0 * residual * x[i]).abs() < 1e-10, "{dim} {budget} {kept}: {i}");
            }
        }
    }
}
