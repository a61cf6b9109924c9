//! EQUAL: judges `E X = mu`, coordinate by coordinate, and whether a sampler has the law that it should have.
//!
//! Refutation uses a two-sided t test per coordinate with Sidak's correction. This test has little power
//! against a small bias in every coordinate, so fixed directions are tested as well. A claim that is not
//! refuted is not thereby supported: support needs a margin, declared beforehand, and shows that every bias
//! is smaller than the margin.

use super::{Finding, FindingKind, POWER_99};
use crate::special::{
    binomial_ln_at_least, binomial_ln_at_most, chi_square_tails, student_tails, student_upper_quantile,
};

/// The number of draws below which the t approximation is not trusted at small levels.
pub const MIN_DRAWS: u64 = 20_000;

/// At small levels the t and the chi-square approximations still reject a little more often than they promise
/// ([`rare`](super::rare)), so the tests are made at half of the level.
const STRICTER: f64 = 2.0;

/// The expected count of every cell from which the chi-square approximation is used.
const MANY: f64 = 400.0;

/// Running moments of a vector estimator around its claimed mean.
#[derive(Clone, Debug)]
pub struct EqualJudge {
    expected: Vec<f64>,
    directions: Vec<Vec<f64>>,
    n: u64,
    /// The means of the differences from `expected`, for the coordinates first and then for the directions.
    mean: Vec<f64>,
    squares: Vec<f64>,
    malformed: Option<String>,
}

impl EqualJudge {
    /// Returns a judge of `E X = expected` that also tests along `directions` (the signal, all ones, a fixed
    /// random sign), each as long as `expected`.
    pub fn new(expected: Vec<f64>, directions: Vec<Vec<f64>>) -> Self {
        let tested = expected.len() + directions.len();
        let ragged = directions.iter().position(|u| u.len() != expected.len());
        let malformed = ragged.map(|i| format!("direction {i} is not as long as the expected vector"));
        let (mean, squares) = (vec![0.0; tested], vec![0.0; tested]);
        EqualJudge { expected, directions, n: 0, mean, squares, malformed }
    }

    /// Adds one draw.
    pub fn push(&mut self, draw: &[f64]) {
        if draw.len() != self.expected.len() {
            let why = || format!("draw {} has {} coordinates", self.n, draw.len());
            self.malformed = self.malformed.take().or_else(|| Some(why()));
            return;
        }
        self.n += 1;
        let n = self.n as f64;
        let mut add = |i: usize, x: f64| {
            let before = x - self.mean[i];
            self.mean[i] += before / n;
            self.squares[i] += before * (x - self.mean[i]);
        };
        let errors = || draw.iter().zip(&self.expected).map(|(x, mu)| x - mu);
        errors().enumerate().for_each(|(i, error)| add(i, error));
        for (i, u) in (draw.len()..).zip(&self.directions) {
            add(i, u.iter().zip(errors()).map(|(u, error)| u * error).sum());
        }
    }

    /// Returns the finding. `margin` is the largest bias per coordinate that still counts as none; along a
    /// direction `u`, it is multiplied by the sum of `|u_j|`. Without a margin the claim can be refuted but
    /// not supported. The estimate is the largest bias seen in any coordinate or direction, and the
    /// detectable effect is the largest bias that might be missed.
    pub fn finish(&self, margin: Option<f64>, alpha: f64) -> Finding {
        let tested = self.mean.len();
        let broken = |why: String| Finding::broken("t-sidak", FindingKind::Equal, self.n as usize, why);
        if let Some(why) = &self.malformed {
            return broken(why.clone());
        }
        if tested == 0 || self.n < 2 {
            return broken(format!("{} draws of {tested} coordinates", self.n));
        }
        let (n, df) = (self.n as f64, self.n as f64 - 1.0);
        let (mut p_smallest, mut p_support, mut worst, mut missed) = (1.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        let per_test = -((-alpha / STRICTER).ln_1p() / tested as f64).exp_m1();
        let reach = student_upper_quantile(0.5 * per_test, df) + POWER_99;
        for i in 0..tested {
            let (bias, se) = (self.mean[i], (self.squares[i] / df).sqrt() / n.sqrt());
            if !(bias.is_finite() && se.is_finite()) {
                return broken(format!("coordinate {i} has mean error {bias}, standard error {se}"));
            }
            let scale = 1.0 + self.expected.get(i).map_or(0.0, |mu| mu.abs());
            let constant = se * n.sqrt() <= 1e-13 * scale;
            let width = margin.map(|m| m * self.width(i));
            let (p, outside) = if constant {
                let wrong = bias.abs() > 1e-10 * scale;
                let outside = width.is_none_or(|width| bias.abs() > width + 1e-10 * scale);
                (if wrong { 0.0 } else { 1.0 }, if outside { 1.0 } else { 0.0 })
            } else {
                let above = |t: f64| (STRICTER * student_tails(t, df).upper.exp()).min(1.0);
                (2.0 * above(bias.abs() / se), width.map_or(1.0, |width| above((width - bias.abs()) / se)))
            };
            p_smallest = p_smallest.min(p);
            p_support = p_support.max(outside);
            worst = worst.max(bias.abs());
            missed = missed.max(reach * se);
        }
        let mut finding =
            Finding::undecided("t-sidak", FindingKind::Equal, self.n as usize, worst, margin.unwrap_or(0.0));
        finding.detectable_effect = Some(missed);
        if finding.guard("20000 draws", self.n >= MIN_DRAWS, n) {
            finding.p_refute = -(tested as f64 * (-p_smallest.min(1.0)).ln_1p()).exp_m1();
            finding.p_support = p_support;
        } else {
            finding.remark("too few draws for a t approximation in every coordinate");
        }
        if margin.is_none() {
            finding.remark("no margin was declared: equality can be refuted, not supported");
        }
        finding.with_tightness()
    }

    /// Returns the factor by which test `i` multiplies a margin per coordinate.
    fn width(&self, i: usize) -> f64 {
        let direction = i.checked_sub(self.expected.len()).map(|i| &self.directions[i]);
        direction.map_or(1.0, |u| u.iter().map(|u| u.abs()).sum())
    }
}

/// Judges whether `counts` of independent draws come from `probabilities`. Where all expected counts are at
/// least 400 a chi-square test refutes, at half of the level. Where all are at least 20 exact binomial tests
/// of the cells refute, since a rare count has too heavy a tail for chi-square at small levels. Exact
/// binomial tests support, if they show that every cell's probability is within the relative `margin` of its
/// value. The estimate is the largest relative deviation.
pub fn discrete(counts: &[u64], probabilities: &[f64], margin: Option<f64>) -> Finding {
    let n: u64 = counts.iter().sum();
    let broken = |why: String| Finding::broken("chi-square", FindingKind::Equal, n as usize, why);
    let total: f64 = probabilities.iter().sum();
    let positive = probabilities.iter().all(|p| *p > 0.0);
    if counts.len() != probabilities.len() || counts.len() < 2 || !positive || (total - 1.0).abs() > 1e-9 {
        return broken(format!("{} counts, probabilities that add up to {total}", counts.len()));
    }
    if n == 0 {
        return broken("no draw was judged".into());
    }
    let size = n as f64;
    let cells = || counts.iter().zip(probabilities).map(|(count, p)| (*count, *p));
    let statistic: f64 = cells().map(|(count, p)| (count as f64 - size * p).powi(2) / (size * p)).sum();
    let worst = cells().map(|(count, p)| (count as f64 / (size * p) - 1.0).abs()).fold(0.0, f64::max);
    let mut finding =
        Finding::undecided("chi-square", FindingKind::Equal, n as usize, worst, margin.unwrap_or(0.0))
            .with_tightness();
    let rarest = size * probabilities.iter().copied().fold(1.0, f64::min);
    if finding.guard("expected counts of 20", rarest >= 20.0, rarest) {
        let chi_square = || chi_square_tails(statistic, counts.len() as f64 - 1.0).upper.exp();
        finding.p_refute =
            if rarest >= MANY { STRICTER * chi_square() } else { by_cells(counts, probabilities) };
        finding.p_refute = finding.p_refute.min(1.0);
    }
    finding.p_support = margin.map_or(1.0, |margin| {
        let outside = cells().map(|(count, p)| {
            let (low, high) = (p * (1.0 - margin), p * (1.0 + margin));
            let above_low = if low <= 0.0 { 0.0 } else { binomial_ln_at_least(n, low, count).exp() };
            let below_high = if high >= 1.0 { 0.0 } else { binomial_ln_at_most(n, high, count).exp() };
            above_low.max(below_high)
        });
        outside.fold(0.0, f64::max)
    });
    finding.p_support = finding.p_support.min(1.0);
    finding.note = format!("chi-square {statistic:.3} with {} degrees of freedom", counts.len() - 1);
    finding
}

/// Returns the smallest p-value of two-sided exact tests of all cells, times the number of tests.
fn by_cells(counts: &[u64], probabilities: &[f64]) -> f64 {
    let n = counts.iter().sum();
    let tails = counts
        .iter()
        .zip(probabilities)
        .map(|(count, p)| binomial_ln_at_least(n, *p, *count).min(binomial_ln_at_most(n, *p, *count)));
    2.0 * counts.len() as f64 * tails.fold(0.0, f64::min).exp()
}
