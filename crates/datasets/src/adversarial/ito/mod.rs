//! Ito et al. (2017): instances on which one of their assumptions fails, and the generators of their tables.
//!
//! *Setting.* `y = w*'x + noise`, `V = E x x'`, `S* = supp w*`. Assumption (2): `|S*| <= k`. Assumption (a):
//! V is positive definite. Assumption (b): compatibility (`Compatibility`) of V with S*. The paper's
//! algorithms need (2), and (a) or (b).
//!
//! | instance | (2) | (a) | (b) | what happens |
//! |---|---|---|---|---|
//! | [`b_not_a`] | yes | no | yes | without the l1 norm a weight is spread over others, a feature missed |
//! | [`neither`] | yes | no | no | a relevant feature has a twin: the l1 norm does not help either |
//! | [`exact_cover`] | yes | no | no | the relevant features cover a set exactly: finding such a cover is NP-hard |
//! | [`twins_outside`] | yes | no | yes | twins that do not matter harm nobody |
//! | [`a_not_2`] | no | yes | yes | the best single feature is not one of the largest weights |
//! | [`golden_ratio`] | yes | yes | yes | selecting by weight costs as much as it can |
//! | [`sparse_isometry`] | yes | no | no | any m columns are independent, yet no compatibility |
//!
//! Each instance is an exact population (`V`, `w*`, excess risks) and a source of bounded examples. The
//! paper's data generator is not published: [`gauss_free`] is calibrated on the printed regrets,
//! [`gauss_spread`] and [`sphere`] are a variant and the law that the paper's own normalization
//! `|x|, |y|, |w*| <= 1` allows.

mod compatibility;

pub use compatibility::Compatibility;

use crate::synthetic::{Combinations, Design, DesignError, Noise, Normal, Sphere, Virtual};
use lao_kernels::SparseVector;
use lao_observation::sample::SubsetSampler;
use lao_observation::{Rng, Seed};
use rand::RngExt;

/// A law of bounded examples with a target: exact, and a source of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// For each attribute the signs that it combines, with their weights.
    rows: Vec<Vec<(u32, f64)>>,
    design: Combinations,
    w_star: SparseVector,
    sparsity: usize,
}

impl Instance {
    /// Builds an instance. `w_star` lists the first weights, the others are 0; `sparsity` is `k`.
    fn new(rows: Vec<Vec<(u32, f64)>>, w_star: &[f64], sparsity: usize) -> Result<Instance, DesignError> {
        let design = Combinations::new(rows.clone())?;
        let mut dense = w_star.to_vec();
        dense.resize(rows.len(), 0.0);
        Ok(Instance { rows, design, w_star: SparseVector::from_dense(&dense), sparsity })
    }

    /// Returns `d`.
    pub fn dim(&self) -> usize {
        self.design.dim()
    }

    /// Returns `k`, the number of features that comparators may use; the size of `S*` where assumption (2)
    /// holds.
    pub fn sparsity(&self) -> usize {
        self.sparsity
    }

    /// Returns `w*`.
    pub fn w_star(&self) -> &SparseVector {
        &self.w_star
    }

    /// Returns the law of x.
    pub fn design(&self) -> &Combinations {
        &self.design
    }

    /// Returns `V`, row by row.
    ///
    /// # Errors
    /// Never fails for the instances of this module, which are small.
    pub fn covariance(&self) -> Result<Vec<f64>, DesignError> {
        self.design.covariance()
    }

    /// Returns `sigma_d^2`, the least eigenvalue of V, up to rounding: 0 where assumption (a) fails.
    ///
    /// # Errors
    /// Fails in the cases of [`covariance`](Self::covariance).
    pub fn sigma_d_squared(&self) -> Result<f64, DesignError> {
        let eigenvalues = lao_kernels::symmetric_eigenvalues(&self.covariance()?, self.dim());
        // A covariance is symmetric and finite, so the decomposition exists.
        Ok(eigenvalues.map_or(f64::NAN, |ascending| ascending.first().copied().unwrap_or(0.0)))
    }

    /// Returns bounds on `phi_0^2`, at most `tolerance` apart unless they take too long to meet.
    ///
    /// # Errors
    /// Fails when `w*` has more weights than sign patterns can be enumerated for.
    pub fn compatibility(&self, tolerance: f64) -> Result<Compatibility, DesignError> {
        Compatibility::of(&self.covariance()?, self.dim(), self.w_star.indices(), self.sparsity, tolerance)
    }

    /// Returns `(w - w*)' V (w - w*)`, the excess risk of a dense `w`.
    pub fn excess(&self, w: &[f64]) -> f64 {
        let star = self.w_star.view().to_dense();
        let error: Vec<f64> = w.iter().zip(&star).map(|(w, star)| w - star).collect();
        self.design.quadratic_form(SparseVector::from_dense(&error).view())
    }

    /// Returns the same with `factor x` for x (and the same w*, so other labels).
    ///
    /// # Errors
    /// Fails when the weights would leave the finite numbers.
    pub fn scaled(&self, factor: f64) -> Result<Instance, DesignError> {
        let scale =
            |row: &Vec<(u32, f64)>| row.iter().map(|&(sign, weight)| (sign, factor * weight)).collect();
        let rows: Vec<Vec<(u32, f64)>> = self.rows.iter().map(scale).collect();
        Instance::new(rows, &self.w_star.view().to_dense(), self.sparsity)
    }

    /// Returns the same instance scaled to `trace V = 1`, the most that `|x| <= 1` allows.
    ///
    /// # Errors
    /// Fails when V is zero.
    pub fn unit_trace(&self) -> Result<Instance, DesignError> {
        let trace: f64 = self.covariance()?.iter().step_by(self.dim() + 1).sum();
        self.scaled(1.0 / trace.sqrt())
    }

    /// Returns an endless stream of examples.
    ///
    /// # Errors
    /// Fails when the noise has no proper size.
    pub fn source(&self, noise: Noise, seed: &Seed) -> Result<Virtual<Combinations>, DesignError> {
        Virtual::new(self.design.clone(), self.w_star.clone(), noise, seed)
    }
}

/// (b) without (a): `x_0 = (g_1 + .. + g_5)/2`, `x_1` independent, `x_{1+j} = g_j`; variances .06 of g and .5
/// of `x_1`; `w* = (.97, .1, 0, ..)`, k = 2, d = 7. `trace V = .875`, and `|x| <= 1.0841`.
///
/// The null vector `(1, 0, -1/2, .., -1/2)` has 5/2 times as much mass outside `S*` as inside, more than (b)
/// looks at. But the l2 norm likes to spread `x_0` over its parts: their weights, .2155, exceed the .1 of
/// `x_1`.
///
/// # Errors
/// Never fails: the parameters are constants.
pub fn b_not_a() -> Result<Instance, DesignError> {
    let (g, other) = (0.06_f64.sqrt(), 0.5_f64.sqrt());
    let mut rows = vec![(0..5).map(|j| (j, 0.5 * g)).collect(), vec![(5, other)]];
    rows.extend((0..5).map(|j| vec![(j, g)]));
    Instance::new(rows, &[0.97, 0.1], 2)
}

/// Neither (a) nor (b): `x_2 = x_0` exactly, `x_1` independent, `w* = (.8, .35, 0)`, k = 2; `V` has trace 1
/// and `|x| = 1`.
///
/// # Errors
/// Never fails: the parameters are constants.
pub fn neither() -> Result<Instance, DesignError> {
    Instance::new([0, 1, 0].map(|sign| vec![(sign, 1.0)]).to_vec(), &[0.8, 0.35], 2)?.unit_trace()
}

/// Returns an instance like [`neither`], but with the twins `x_3 = x_2` outside `S*`, so that (b) holds with
/// `phi_0^2 = 1/4`; d = 4.
///
/// # Errors
/// Never fails: the parameters are constants.
pub fn twins_outside() -> Result<Instance, DesignError> {
    Instance::new([0, 1, 2, 2].map(|sign| vec![(sign, 1.0)]).to_vec(), &[0.8, 0.35], 2)?.unit_trace()
}

/// Neither (a) nor (b), from an exact cover: six independent signs, of which each feature adds up three;
/// those of
/// `x_0` and `x_1` share none, so that `.6 x_0 + .6 x_1` has all six, and no other two features do; k = 2, d
/// = 8.
/// `V` has trace 1.
///
/// # Errors
/// Never fails: the parameters are constants.
pub fn exact_cover() -> Result<Instance, DesignError> {
    const SETS: [[u32; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [2, 3, 4], [0, 2, 5], [0, 1, 4], [1, 2, 4], [1, 3, 5], [0, 3, 4]];
    let rows = SETS.map(|set| set.map(|sign| (sign, 1.0)).to_vec());
    Instance::new(rows.to_vec(), &[0.6, 0.6], 2)?.unit_trace()
}

/// (1) and (a) without (2): `w* = (.25, .6, -.6, 0, ..)` where `x_1`, `x_2` have correlation .9, and k = 1; d
/// = 12.
///
/// V is .3 on the diagonal, .27 between the two, and .01 for nine more features; trace .99. The large weights
/// nearly cancel, so the best single feature is `x_0`: excess .0216, against .0393 with `x_1` or `x_2` at
/// their best weight .06. `|x| <= 1.2` or so.
///
/// # Errors
/// Never fails: the parameters are constants.
pub fn a_not_2() -> Result<Instance, DesignError> {
    let (common, own) = (0.27_f64.sqrt(), 0.03_f64.sqrt());
    let mut rows = vec![vec![(0, 0.3_f64.sqrt())], vec![(1, common), (2, own)], vec![(1, common), (3, own)]];
    rows.extend((4..13).map(|sign| vec![(sign, 0.1)]));
    Instance::new(rows, &[0.25, 0.6, -0.6], 1)
}

/// Two independent features of variances `1 - share` and `share`, `w* = (1, 0)`, k = 1. With equal shares and
/// `w = (b, b)`, `b = (sqrt 5 - 1)/2`, keeping the second of two equal weights multiplies the error by
/// `(3 + sqrt 5)/2`.
///
/// # Errors
/// Fails when `share` is not between 0 and 1.
pub fn golden_ratio(share: f64) -> Result<Instance, DesignError> {
    if !(share > 0.0 && share < 1.0) {
        let (design, field, allowed) = ("golden_ratio", "share", "between 0 and 1");
        return Err(DesignError::Parameter { design, field, value: share, allowed });
    }
    Instance::new(vec![vec![(0, (1.0 - share).sqrt())], vec![(1, share.sqrt())]], &[1.0], 1)
}

/// Returns a restricted isometry that is not compatible: `x_0 = (2/m)(x_1 + .. + x_m)` with independent
/// `x_1, .., x_m`, `w* = e_0`, k = 1, d = m + 1; trace V = 1.
///
/// Any m of the columns are independent, so the restricted isometry constant of order m is below 1. But
/// `V v = 0` for `v = (1, -2/m, .., -2/m)`, whose mass outside `S*` is just twice that inside: `phi_0 = 0`.
///
/// # Errors
/// Fails when `parts` (m) is 0.
pub fn sparse_isometry(parts: u32) -> Result<Instance, DesignError> {
    let mut rows = vec![(0..parts).map(|sign| (sign, 2.0 / f64::from(parts))).collect()];
    rows.extend((0..parts).map(|sign| vec![(sign, 1.0)]));
    Instance::new(rows, &[1.0], 1)?.unit_trace()
}

/// Standard deviation of the noise of the generators.
pub const SIGMA: f64 = 0.1;

/// Returns `x ~ N(0, I)`, k weights of equal size, `w*_j = +-sqrt(.45)`, on a uniformly drawn support; normal
/// noise of deviation .1.
///
/// # Errors
/// Fails when `dim` is 0 or above 2^32.
pub fn gauss_free(dim: usize, sparsity: usize, seed: &Seed) -> Result<Virtual<Normal>, DesignError> {
    let w_star = weights(dim, sparsity, seed, |rng| sign(rng) * 0.45_f64.sqrt());
    Virtual::new(Normal::new(dim)?, w_star, Noise::Gaussian(SIGMA), seed)
}

/// Returns `x ~ N(0, I)`; k weights uniform on [.5, 1.5] with random signs, then scaled to `|w*| = norm`, on
/// a uniformly drawn support; normal noise of deviation .1.
///
/// # Errors
/// Fails when `dim` is 0 or above 2^32.
pub fn gauss_spread(
    dim: usize,
    sparsity: usize,
    norm: f64,
    seed: &Seed,
) -> Result<Virtual<Normal>, DesignError> {
    let w_star = spread(dim, sparsity, norm, seed);
    Virtual::new(Normal::new(dim)?, w_star, Noise::Gaussian(SIGMA), seed)
}

/// [`gauss_spread`] with `|w*| = 1`.
///
/// # Errors
/// Fails when `dim` is 0 or above 2^32.
pub fn gauss_unit(dim: usize, sparsity: usize, seed: &Seed) -> Result<Virtual<Normal>, DesignError> {
    gauss_spread(dim, sparsity, 1.0, seed)
}

/// x uniform on the unit sphere, the weights of [`gauss_unit`], no noise: the paper's own normalization,
/// `|x| = |w*| = 1 >= |y|`.
///
/// # Errors
/// Fails when `dim` is 0 or above 2^32.
pub fn sphere(dim: usize, sparsity: usize, seed: &Seed) -> Result<Virtual<Sphere>, DesignError> {
    Virtual::new(Sphere::new(dim)?, spread(dim, sparsity, 1.0, seed), Noise::None, seed)
}

fn sign(rng: &mut Rng) -> f64 {
    if rng.random() { 1.0 } else { -1.0 }
}

/// Weights from `draw` on a uniformly drawn support of `sparsity` (at most `dim`) attributes.
fn weights(dim: usize, sparsity: usize, seed: &Seed, mut draw: impl FnMut(&mut Rng) -> f64) -> SparseVector {
    let (mut rng, mut support) = (seed.child("w*").rng(), Vec::new());
    SubsetSampler::new(dim).draw(sparsity, &mut rng, &mut support);
    let mut w_star = SparseVector::zeros(dim);
    for j in support {
        w_star.push(j, draw(&mut rng));
    }
    w_star
}

fn spread(dim: usize, sparsity: usize, norm: f64, seed: &Seed) -> SparseVector {
    let mut w_star = weights(dim, sparsity, seed, |rng| sign(rng) * rng.random_range(0.5..1.5));
    let length = w_star.view().norm_squared().sqrt();
    w_star.values_mut().iter_mut().for_each(|w| *w *= norm / length);
    w_star
}
