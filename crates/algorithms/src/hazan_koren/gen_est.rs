//! GenEst: an unbiased estimate of `f'(w' x - y)` from few attributes of `x`, for a derivative with a power
//! series.
//!
//! *Source*: Hazan & Koren 2012, Section 4.1, Lemma 4.1 and Procedure 3.
//!
//! *Setting*: `x` can be read attribute by attribute, the label `y` is known, and `w` is fixed.
//!
//! *Notation*: `f'(z) = sum_n a_n z^n`; `N` -> [`GenEst::repetitions`]; `theta = w' x - y`; `j` is drawn with
//! probability `w_j^2 / ||w||^2`, so that `||w||^2 x_j / w_j - y` is an unbiased estimate of `theta` from one
//! attribute.
//!
//! *Update*: none; the procedure only estimates. Draw `n` with probability `2^-(n+1)` and let
//! `theta~_1, ..., theta~_n` be independent estimates of `theta`. Each comes from one attribute if
//! `n <= nu = 2 log2 N`, else from the average over `N` attributes. Then
//!
//! ```text
//! phi = 2^(n+1) a_n theta~_1 ... theta~_n,      E phi = sum_n a_n theta^n = f'(theta)
//! ```
//!
//! if `sum_n |a_n| (E |theta~|)^n` is finite, as for every entire `f'`, such as the error function.
//!
//! *Attributes read*: an estimate reads `1 + (N-1)(r+1) 2^-r` attributes in expectation, with
//! `r = floor(nu) + 1`; this is largest, 7/4, at `N = 5`. The number has no bound, since one estimate may
//! read `n N`. These are reads with multiplicity; an example has only `d` *distinct* attributes, which is the
//! hard cap of a session's budget.
//!
//! *Departures*: where `a_n = 0` (every even `n` of an odd `f'`) the estimate is zero whatever was read, so
//! nothing is read. With [`GenEst::reads_zeros`] attributes are read as printed.
//!
//! *Claims*: `hk12-lem41-unbiased`, `hk12-lem41-second-moment`, `hk12-lem41-attributes`,
//! `hk12-thm44-attributes`.

use lao_observation::Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Procedure 3. The series and the law of the attributes are arguments of each call.
///
/// ```
/// use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws, erf_coefficient};
/// use lao_observation::Seed;
///
/// // For the only weight w = 0.5, x = 1 and y = 0 the mean of many estimates is erf(0.5).
/// let (estimate, mut draws, mut rng) = (GenEst::new(2), GenEstDraws::default(), Seed::root(1).rng());
/// let mut sum = 0.0;
/// for _ in 0..20_000 {
///     estimate.draw(erf_coefficient, |_| 0, &mut rng, &mut draws);
///     sum += estimate.value(erf_coefficient, &draws, |_| 0.5, 0.0);
/// }
/// assert!((sum / 20_000.0 - 0.5205).abs() < 0.02);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenEst {
    /// `N`, the number of attributes that an averaged estimate reads; 0 counts as 1.
    pub repetitions: u32,
    /// Whether attributes are read even for `a_n = 0`, where the estimate is zero anyway.
    pub reads_zeros: bool,
}

/// The draws of one estimate, which are made before a value is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenEstDraws {
    /// `n`, the number of factors of the estimate.
    pub factors: u32,
    /// The attributes of the first factor, of the second, and so on, with multiplicity: [`GenEst::copies`]
    /// for each factor. The list is empty if nothing needs to be read.
    pub attributes: Vec<u32>,
}

impl GenEst {
    /// Returns GenEst with `N = repetitions`, which reads nothing where `a_n = 0`.
    pub fn new(repetitions: u32) -> Self {
        GenEst { repetitions, reads_zeros: false }
    }

    /// Returns the number of attributes that each factor averages over in an estimate with `factors` factors:
    /// 1 or `N`.
    pub fn copies(&self, factors: u32) -> u32 {
        let n = u128::from(self.repetitions.max(1));
        // This is n <= 2 log2 N, in integers.
        let few = factors < 127 && 1u128 << factors <= n * n;
        if few { 1 } else { self.repetitions.max(1) }
    }

    /// Returns the number of attributes that an estimate with `factors` factors reads, with multiplicity, for
    /// the series `coefficient`.
    pub fn reads(&self, coefficient: impl Fn(u32) -> f64, factors: u32) -> u64 {
        if !self.reads_zeros && coefficient(factors) == 0.0 {
            return 0;
        }
        u64::from(factors) * u64::from(self.copies(factors))
    }

    /// Returns the expected number of attributes that one estimate reads, with multiplicity, up to rounding.
    pub fn expected_reads(&self, coefficient: impl Fn(u32) -> f64) -> f64 {
        // The sum goes from small terms to large ones. The terms left out sum to less than 2^-150.
        let term = |n: u32| self.reads(&coefficient, n) as f64 * 0.5f64.powi(n as i32 + 1);
        (0..200).rev().map(term).sum()
    }

    /// Draws `n` and the attributes to read: `attribute` draws one index from the law `w_j^2 / ||w||^2` (any
    /// index for `w = 0`, where [`value`](Self::value) ignores it).
    pub fn draw(
        &self,
        coefficient: impl Fn(u32) -> f64,
        mut attribute: impl FnMut(&mut Rng) -> u32,
        rng: &mut Rng,
        draws: &mut GenEstDraws,
    ) {
        draws.factors = 0;
        // `n` counts the heads before the first tail, with 64 tosses to a word.
        loop {
            let heads = rng.random::<u64>().trailing_ones();
            draws.factors += heads;
            if heads < u64::BITS {
                break;
            }
        }
        draws.attributes.clear();
        let reads = self.reads(coefficient, draws.factors);
        draws.attributes.extend((0..reads).map(|_| attribute(rng)));
    }

    /// Returns the estimate `phi`. `inner_product` maps an attribute `j` to `||w||^2 x_j / w_j`, the estimate
    /// of `w' x` from this attribute alone, or to 0 if `w = 0`.
    pub fn value(
        &self,
        coefficient: impl Fn(u32) -> f64,
        draws: &GenEstDraws,
        inner_product: impl Fn(u32) -> f64,
        label: f64,
    ) -> f64 {
        let n = draws.factors;
        let scale = 2f64.powi(n.min(5000) as i32 + 1) * coefficient(n);
        if scale == 0.0 {
            return 0.0;
        }
        let copies = self.copies(n) as usize;
        let factor =
            |drawn: &[u32]| drawn.iter().map(|&j| inner_product(j)).sum::<f64>() / copies as f64 - label;
        draws.attributes.chunks_exact(copies).map(factor).fold(scale, |product, theta| product * theta)
    }
}

/// Returns the coefficient `a_n` of the error function: `a_(2m+1) = (2/sqrt(pi)) (-1)^m / (m! (2m+1))`, and 0
/// for even `n`.
pub fn erf_coefficient(n: u32) -> f64 {
    if n.is_multiple_of(2) {
        return 0.0;
    }
    let m = n / 2;
    // (-1)^m / m!, which is below the smallest float from m = 178 on.
    let alternating = (1..=m.min(200)).fold(1.0, |product, i| -product / f64::from(i));
    std::f64::consts::FRAC_2_SQRT_PI * alternating / f64::from(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;

    const WEIGHTS: [f64; 3] = [0.5, -0.25, 0.75];
    const VALUES: [f64; 3] = [0.4, -1.0, 0.3];
    const LABEL: f64 = 0.2;

    fn norm() -> f64 {
        WEIGHTS.iter().map(|w| w * w).sum()
    }

    fn theta() -> f64 {
        WEIGHTS.iter().zip(VALUES).map(|(w, x)| w * x).sum::<f64>() - LABEL
    }

    fn inner_product(j: u32) -> f64 {
        norm() * VALUES[j as usize] / WEIGHTS[j as usize]
    }

    /// Returns `E phi` given `n`, over all sequences of attributes.
    fn mean_given(estimate: &GenEst, coefficient: fn(u32) -> f64, n: u32) -> f64 {
        let reads = n * estimate.copies(n);
        let mut mean = 0.0;
        for code in 0..3u32.pow(reads) {
            let attributes: Vec<u32> = (0..reads).map(|place| code / 3u32.pow(place) % 3).collect();
            let law = |&j: &u32| WEIGHTS[j as usize].powi(2) / norm();
            let probability: f64 = attributes.iter().map(law).product();
            let draws = GenEstDraws { factors: n, attributes };
            mean += probability * estimate.value(coefficient, &draws, inner_product, LABEL);
        }
        mean
    }

    #[test]
    fn given_n_the_mean_over_all_draws_is_the_term_of_the_series() {
        let geometric: fn(u32) -> f64 = |n| 0.25f64.powi(n as i32);
        // N = 1: one copy each; N = 2: nu = 2, so that n = 3, 4 read two copies each.
        for repetitions in [1, 2] {
            let estimate = GenEst::new(repetitions);
            for n in 0..=4 {
                let term = geometric(n) * theta().powi(n as i32);
                let mean = mean_given(&estimate, geometric, n) * 0.5f64.powi(n as i32 + 1);
                assert!((mean - term).abs() < 1e-13, "N = {repetitions}, n = {n}: {mean} against {term}");
            }
        }
    }

    #[test]
    fn averages_start_above_twice_the_logarithm() {
        let copies = |repetitions, n| GenEst::new(repetitions).copies(n);
        assert_eq!([0, 1].map(|n| copies(1, n)), [1, 1]);
        // 2 log2 5 = 4.64 and 2 log2 64 = 12.
        assert_eq!([copies(5, 4), copies(5, 5)], [1, 5]);
        assert_eq!([copies(64, 12), copies(64, 13), copies(64, 5000)], [1, 64, 64]);
        assert_eq!([copies(u32::MAX, 63), copies(u32::MAX, 64)], [1, u32::MAX]);
    }

    #[test]
    fn expected_reads_are_the_closed_form() {
        for repetitions in [1u32, 2, 3, 4, 5, 16, 64, 100, 1000] {
            let estimate = GenEst { repetitions, reads_zeros: true };
            let r = (2.0 * f64::from(repetitions).log2()).floor() + 1.0;
            let closed = 1.0 + f64::from(repetitions - 1) * (r + 1.0) * 0.5f64.powf(r);
            assert!((estimate.expected_reads(erf_coefficient) - closed).abs() < 1e-12, "N = {repetitions}");
            let skipping = GenEst::new(repetitions).expected_reads(erf_coefficient);
            assert!(skipping < closed && closed <= 1.75, "N = {repetitions}: {skipping} and {closed}");
        }
    }

    #[test]
    fn the_number_of_factors_has_the_law_of_the_first_tail() {
        let (estimate, mut draws) = (GenEst::new(1), GenEstDraws::default());
        let mut rng = Seed::root(3).rng();
        let mut counts = [0u32; 6];
        for _ in 0..64_000 {
            estimate.draw(|_| 1.0, |_| 0, &mut rng, &mut draws);
            assert_eq!(draws.attributes.len(), draws.factors as usize);
            counts[(draws.factors as usize).min(5)] += 1;
        }
        // 20.5 is the 0.999 quantile of chi-square at 5 degrees.
        let expected = [32_000.0, 16_000.0, 8000.0, 4000.0, 2000.0, 2000.0];
        let statistic: f64 = counts.iter().zip(expected).map(|(&n, e)| (f64::from(n) - e).powi(2) / e).sum();
        assert!(statistic < 20.5, "chi-square {statistic}");
    }

    #[test]
    fn even_terms_of_an_odd_series_are_zero_and_read_nothing_unless_told_to() {
        let (skips, reads) = (GenEst::new(5), GenEst { repetitions: 5, reads_zeros: true });
        assert_eq!([skips.reads(erf_coefficient, 6), reads.reads(erf_coefficient, 6)], [0, 30]);
        let draws = GenEstDraws { factors: 6, attributes: Vec::new() };
        assert_eq!(skips.value(erf_coefficient, &draws, inner_product, LABEL), 0.0);
    }

    #[test]
    fn coefficients_of_erf_sum_to_erf() {
        let at = |z: f64| (0..120).rev().map(|n| erf_coefficient(n) * z.powi(n as i32)).sum::<f64>();
        // erf(0.5), erf(1) and erf(2) to 15 digits.
        let known =
            [(0.5, 0.520_499_877_813_047), (1.0, 0.842_700_792_949_715), (2.0, 0.995_322_265_018_953)];
        for (z, erf) in known {
            assert!((at(z) - erf).abs() < 1e-13, "erf({z})");
        }
        assert_eq!(erf_coefficient(u32::MAX), 0.0);
    }
}
