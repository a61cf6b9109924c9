//! SLOPE: judges the exponent `p` of `y ~ C x^p`.
//!
//! Every replicate runs the whole grid and gives one slope, by least squares on the logarithms with *fixed*
//! weights; the slopes of independent replicates are then an ordinary sample for the t test. The residuals of
//! one fit are never used as an error: they mix noise with curvature, and have few degrees of freedom.
//!
//! The logarithm of a mean is not the mean of the logarithm: where the claim is about `E y` and the spread of
//! `y` changes over the grid, use [`block_means`] first and take the blocks as replicates.

use super::sample::{Moments, inside};
use super::{Finding, FindingKind, POWER_99};
use crate::special::student_upper_quantile;

/// The range that a claim states for an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exponent {
    /// `p <= hi`.
    AtMost(f64),
    /// `p >= lo`.
    AtLeast(f64),
    /// `lo <= p <= hi`.
    Within(f64, f64),
}

impl Exponent {
    /// Returns the exponent that theory has: the end of the range, and of two ends the lower one, since the
    /// other has room for logarithms.
    pub fn stated(self) -> f64 {
        match self {
            Exponent::AtMost(end) | Exponent::AtLeast(end) | Exponent::Within(end, _) => end,
        }
    }

    /// Returns the two ends of the range, widened by `margin`; an open end is infinite.
    fn ends(self, margin: f64) -> (f64, f64) {
        match self {
            Exponent::AtMost(hi) => (f64::NEG_INFINITY, hi + margin),
            Exponent::AtLeast(lo) => (lo - margin, f64::INFINITY),
            Exponent::Within(lo, hi) => (lo - margin, hi + margin),
        }
    }
}

/// A claim about an exponent with its margin, which is declared before the data are seen. The customary
/// margin is the slope that the logarithmic factors of the exact bound add over the grid, plus .05.
#[derive(Clone, Debug, PartialEq)]
pub struct SlopeJudge {
    /// The claim.
    pub exponent: Exponent,
    /// The margin, in units of the exponent.
    pub margin: f64,
    /// The weights of the grid points, from tuning seeds; they are equal if `None`.
    pub weights: Option<Vec<f64>>,
    /// The largest departure from a power law, `|c2| (ln x range)^2 / 4`, at which the curve still counts as
    /// a power law.
    pub max_curvature: f64,
}

impl SlopeJudge {
    /// Returns a judge with equal weights and the default curvature limit .25.
    pub fn new(exponent: Exponent, margin: f64) -> Self {
        SlopeJudge { exponent, margin, weights: None, max_curvature: 0.25 }
    }

    /// Judges the exponent from `replicates[r][i]`, the positive value of replicate `r` at grid point `x[i]`.
    pub fn judge(&self, x: &[f64], replicates: &[Vec<f64>], alpha: f64) -> Finding {
        let fits = match fit(x, replicates, self.weights.as_deref()) {
            Ok(fits) => fits,
            Err(why) => return Finding::broken("t", FindingKind::Slope, replicates.len(), why),
        };
        let slopes: Vec<f64> = fits.iter().map(|fit| fit.slope).collect();
        let mut finding = judge_slopes(&slopes, self.exponent, self.margin, alpha);
        let (low, high) = range(x);
        let span = (high / low).ln();
        let curvature = fits.iter().map(|fit| fit.curvature).sum::<f64>() / fits.len() as f64;
        let curvature = curvature.abs() * span * span / 4.0;
        finding.guard("five grid points (reported)", x.len() >= 5, x.len() as f64);
        finding.guard("grid spans a factor of 32 (reported)", high >= 32.0 * low, high / low);
        if !finding.guard("curvature", curvature < self.max_curvature, curvature) {
            (finding.p_refute, finding.p_support) = (1.0, 1.0);
            finding.remark("curved on the log scale: not a power law over this grid");
        }
        finding
    }
}

/// Judges the exponent from one slope per replicate; the finding has kind SLOPE.
pub fn judge_slopes(slopes: &[f64], exponent: Exponent, margin: f64, alpha: f64) -> Finding {
    let (lo, hi) = exponent.ends(margin);
    let mut finding = judge_sample(slopes, (lo, hi), alpha, FindingKind::Slope);
    if finding.bound.is_finite() {
        finding.bound = match exponent {
            Exponent::AtMost(end) | Exponent::AtLeast(end) | Exponent::Within(_, end) => end,
        };
        finding.remark(&format!("margin {margin}"));
    }
    finding
}

/// Judges "the mean of these replicates lies in `[lo, hi]`" by a t test, for any kind of statement that
/// reduces to it.
pub fn judge_sample(sample: &[f64], (lo, hi): (f64, f64), alpha: f64, kind: FindingKind) -> Finding {
    let moments = Moments::of(sample);
    let n = sample.len();
    if n < 2 {
        return Finding::broken("t", kind, n, "at least two replicates are needed");
    }
    if let Some(r) = sample.iter().position(|x| !x.is_finite()) {
        return Finding::broken("t", kind, n, format!("replicate {r} is {}", sample[r]));
    }
    if !(lo <= hi && (lo.is_finite() || hi.is_finite())) {
        return Finding::broken(
            "t",
            kind,
            n,
            format!("nothing is claimed by [{lo}, {hi}]: give lo <= hi, one end finite"),
        );
    }
    let bound = if hi.is_finite() { hi } else { lo };
    let mut finding = Finding::undecided("t", kind, n, moments.mean, bound);
    if !finding.guard("replicates differ", moments.varies(), moments.sd) {
        finding
            .remark("constant sample: the replicates are not independent, or the statement is deterministic");
        return finding;
    }
    (finding.p_support, finding.p_refute) = inside(lo, hi, |at| moments.t_test(at));
    finding.interval = Some(moments.t_interval());
    finding.detectable_effect = Some((student_upper_quantile(alpha, moments.df()) + POWER_99) * moments.se());
    finding.guard("twenty replicates (reported)", n >= 20, n as f64);
    finding
}

/// The slope and the second-degree coefficient of one replicate, on the log-log scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Exponent.
    pub slope: f64,
    /// Coefficient of `(ln x)^2`; zero for fewer than three grid points.
    pub curvature: f64,
}

/// Returns the fit of every replicate.
///
/// # Errors
/// Names the input that cannot be fitted: fewer than two distinct grid points, a ragged replicate, a value
/// that is not positive and finite, or a bad weight.
pub fn fit(x: &[f64], replicates: &[Vec<f64>], weights: Option<&[f64]>) -> Result<Vec<Fit>, String> {
    let positive = |v: f64| v > 0.0 && v.is_finite();
    if let Some(i) = x.iter().position(|v| !positive(*v)) {
        return Err(format!("grid point {i} is {}, which has no logarithm", x[i]));
    }
    let ones = vec![1.0; x.len()];
    let weights = weights.unwrap_or(&ones);
    if weights.len() != x.len() || !weights.iter().all(|w| positive(*w)) {
        return Err(format!("{} grid points need as many positive weights", x.len()));
    }
    let log_x: Vec<f64> = x.iter().map(|v| v.ln()).collect();
    let basis = Basis::new(&log_x, weights);
    if basis.linear_norm.is_nan() || basis.linear_norm <= 0.0 {
        return Err("the grid needs two distinct points".into());
    }
    let mut fits = Vec::with_capacity(replicates.len());
    for (r, y) in replicates.iter().enumerate() {
        if y.len() != x.len() {
            return Err(format!("replicate {r} has {} values for {} grid points", y.len(), x.len()));
        }
        if let Some(i) = y.iter().position(|v| !positive(*v)) {
            return Err(format!("replicate {r}, grid point {i}: {} has no logarithm", y[i]));
        }
        let log_y: Vec<f64> = y.iter().map(|v| v.ln()).collect();
        fits.push(basis.fit(&log_y));
    }
    Ok(fits)
}

/// Orthogonal polynomials of degree one and two over a weighted grid.
struct Basis {
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    linear_norm: f64,
    quadratic_norm: f64,
}

impl Basis {
    fn new(u: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mean = dot(weights, u) / total;
        let centered: Vec<f64> = u.iter().map(|v| v - mean).collect();
        let squared: Vec<f64> = centered.iter().map(|v| v * v).collect();
        let linear: Vec<f64> = centered.iter().zip(weights).map(|(v, w)| v * w).collect();
        let linear_norm = dot(&linear, &centered);
        let (offset, slope) = (dot(weights, &squared) / total, dot(&linear, &squared) / linear_norm);
        let residual: Vec<f64> = squared.iter().zip(&centered).map(|(s, v)| s - offset - slope * v).collect();
        let quadratic: Vec<f64> = residual.iter().zip(weights).map(|(v, w)| v * w).collect();
        let quadratic_norm = dot(&quadratic, &residual);
        Basis { linear, quadratic, linear_norm, quadratic_norm }
    }

    fn fit(&self, y: &[f64]) -> Fit {
        // The first value is subtracted, since a common factor of y changes neither slope nor curvature.
        let y: Vec<f64> = y.iter().map(|v| v - y[0]).collect();
        // With two points, the coefficient of the second degree is rounding alone.
        let curved = self.quadratic_norm > 1e-12 * self.linear_norm * self.linear_norm;
        Fit {
            slope: dot(&self.linear, &y) / self.linear_norm,
            curvature: if curved { dot(&self.quadratic, &y) / self.quadratic_norm } else { 0.0 },
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn range(x: &[f64]) -> (f64, f64) {
    x.iter().fold((f64::INFINITY, 0.0), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// Returns the means over consecutive blocks of `size` replicates, grid point by grid point. Replicates that
/// do not fill a block are dropped.
pub fn block_means(replicates: &[Vec<f64>], size: usize) -> Vec<Vec<f64>> {
    let mean = |block: &[Vec<f64>], i: usize| block.iter().map(|y| y[i]).sum::<f64>() / block.len() as f64;
    let points = |block: &[Vec<f64>]| block.iter().map(Vec::len).min().unwrap_or(0);
    let blocks = replicates.chunks_exact(size.max(1));
    blocks.map(|block| (0..points(block)).map(|i| mean(block, i)).collect()).collect()
}
