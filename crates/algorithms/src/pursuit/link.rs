//! The probability of a class from a predicted label: a logistic function of it, fitted to the predictions
//! that were made before an example was learned from.
//!
//! The predictions are kept as a histogram, so that the fit is one of all of them and not a step for each: a
//! step for each needs a memory so short that a rare class is forgotten between two of its examples.

use super::NAME;
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// Bins of the histogram on either side of the mean prediction.
const SIDE: usize = 32;
/// The distance from the mean at which bins begin to grow with it, in standard deviations of the predictions.
const FINE: f64 = 0.5;
/// Bins for each power of e that the distance grows by.
const PER_E: f64 = 8.0;
/// Standard deviations from the mean beyond which a prediction counts as if it lay there: it would move the
/// line by itself.
const WITHIN: f64 = 20.0;
/// The standard deviation of the slope before any prediction was compared with its label, as a part of what
/// the variance explained lets expect.
const DOUBT: f64 = 0.5;
/// The least and the largest slope, as a multiple of what the variance explained lets expect.
const SLOPES: [f64; 2] = [0.05, 20.0];
/// What selection adds to the square of the standardized effect of the predictor, about: only what looks
/// large is found. The slope that is expected is less steep by that, and keeps this part at least.
const BY_SELECTION: f64 = 5.0;
const LEAST_KEPT: f64 = 0.3;
/// The correlation of the labels of a block above which the order of the examples tells of their class, so
/// that there are no probabilities.
const SORTED: f64 = 0.5;
/// The largest part of the variance that counts as explained: the slope that is expected grows beyond all
/// bounds with it.
const EXPLAINED: f64 = 0.95;
/// The largest slope.
const LARGEST: f64 = 1e6;
/// The number of Newton steps, at most, and the change that ends them.
const STEPS: usize = 50;
const SETTLED: f64 = 1e-10;

/// `P(y = +1) = 1 / (1 + exp(-(offset + slope p)))` for the predicted label p.
///
/// The offset makes the mean probability the share of the class among all examples; the slope has the largest
/// likelihood on the histogram, in which each class has the weight of its share. So an order of the examples
/// that tells of their class does no harm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    offset: f64,
    slope: f64,
    /// The mean and the standard deviation of the predictions that the line is for; the deviation is 0 if
    /// they are all alike.
    mean: f64,
    deviation: f64,
    /// Examples of the classes -1 and +1, or their weight.
    examples: [f64; 2],
    /// Sums over blocks: of the squared number of examples, of its product with that of the class +1, and of
    /// the square of the latter.
    blocks: [f64; 3],
    /// Predictions in standard deviations from their mean, by class; empty before the first one.
    bins: Vec<[Bin; 2]>,
}

/// Predictions that are close to one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bin {
    /// Their weight.
    weight: f64,
    /// Their sum.
    sum: f64,
}

/// A prediction of a label, +1 or -1, that was made before the label was learned from.
pub(super) struct Predicted {
    pub label_predicted: f64,
    pub label: f64,
    /// The weight of the example.
    pub weight: f64,
}

impl Default for Link {
    /// Least squares on labels +1 and -1 has the slope 2 where classes of equal shares overlap widely.
    fn default() -> Self {
        Link {
            offset: 0.0,
            slope: 2.0,
            mean: 0.0,
            deviation: 0.0,
            examples: [0.0; 2],
            blocks: [0.0; 3],
            bins: Vec::new(),
        }
    }
}

impl Link {
    /// Returns the probability of the class +1.
    pub fn probability(&self, predicted: f64) -> f64 {
        logistic(self.offset + self.slope * predicted)
    }

    /// Returns the offset and the slope.
    pub fn line(&self) -> [f64; 2] {
        [self.offset, self.slope]
    }

    /// Returns whether examples of a class come together, so that what is learned from the first ones cannot
    /// be held against those that follow: the correlation of two labels of a block says it.
    pub fn sorted(&self) -> bool {
        let [negative, positive] = self.examples;
        let (all, share) = (negative + positive, share_of(self.examples));
        let [of_all, of_both, of_class] = self.blocks;
        let variance = share * (1.0 - share);
        let spread = of_class - 2.0 * share * of_both + share * share * of_all - variance * all;
        spread > SORTED * variance * (of_all - all)
    }

    /// Adds predictions of a block that were made before these labels, +1 or -1, were learned from.
    ///
    /// What counts of a prediction is its place among those by the same coefficients. The mean of all moves
    /// with the examples where these are sorted, and would seem to foretell them; and where the coefficients
    /// are all too large, the line must be less steep for all.
    pub fn learn(&mut self, examples: impl Iterator<Item = Predicted>) {
        if self.bins.is_empty() {
            self.bins = vec![<[Bin; 2]>::default(); 2 * SIDE];
        }
        let [negative, positive] = self.examples;
        for Predicted { label_predicted, label, weight } in examples {
            let place = (label_predicted - self.mean) / self.deviation;
            let place = if place.is_finite() { place.clamp(-WITHIN, WITHIN) } else { 0.0 };
            let class = usize::from(label > 0.0);
            let bin = &mut self.bins[bin_of(place)][class];
            bin.weight += weight;
            bin.sum += weight * place;
            self.examples[class] += weight;
        }
        let of_class = self.examples[1] - positive;
        let of_all = self.examples[0] - negative + of_class;
        let products = [of_all * of_all, of_all * of_class, of_class * of_class];
        self.blocks.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }

    /// Multiplies the weight of all examples so far by `kept`, at most 1.
    pub fn forget(&mut self, kept: f64) {
        self.examples.iter_mut().chain(&mut self.blocks).for_each(|weight| *weight *= kept);
        self.fade(kept);
    }

    /// Multiplies the weight of the predictions so far by `kept`, at most 1: those by other coefficients say
    /// less. The examples of the classes keep theirs.
    pub fn fade(&mut self, kept: f64) {
        for bin in self.bins.as_flattened_mut() {
            bin.weight *= kept;
            bin.sum *= kept;
        }
    }

    /// Fits the line. `mean` is the mean label, and `explained` the part of the label's variance that the
    /// coefficients explain.
    pub fn fit(&mut self, mean: f64, explained: f64) {
        let share = share_of(self.examples);
        // It is no number where all labels are of one class.
        let explained = if explained > 0.0 { explained.min(EXPLAINED) } else { 0.0 };
        let variance = share * (1.0 - share);
        (self.mean, self.deviation) = (mean, 2.0 * (explained * variance).sqrt());
        // What linear discriminant analysis has for the slope, per label and per standard deviation.
        let per_label = 1.0 / (2.0 * variance * (1.0 - explained));
        let evidence = self.examples.iter().sum::<f64>() * explained / (1.0 - explained);
        let expected = per_label * self.deviation * (1.0 - BY_SELECTION / evidence).max(LEAST_KEPT);
        if expected == 0.0 {
            (self.offset, self.slope) = (logit(share) - per_label * mean, per_label);
            return;
        }
        let points = || {
            self.bins
                .as_flattened()
                .iter()
                .zip([0.0, 1.0].into_iter().cycle())
                .filter(|(bin, _)| bin.weight > 0.0)
        };
        let of_class =
            |class: f64| points().filter(|(_, of)| *of == class).map(|(bin, _)| bin.weight).sum::<f64>();
        let counted = share_of([of_class(0.0), of_class(1.0)]);
        // A point is the place of a prediction, its weight and its class.
        let points: Vec<[f64; 3]> =
            points().map(|(bin, class)| [bin.sum / bin.weight, bin.weight, class]).collect();

        let mut slope = expected;
        let mut offset = offset_for(counted, slope, &points);
        let doubt = 1.0 / (DOUBT * expected).powi(2);
        for _ in 0..STEPS {
            let (mut gradient, mut curvature) = ([0.0, (slope - expected) * doubt], [1e-300, 0.0, doubt]);
            for &[x, weight, class] in &points {
                let q = logistic(offset + slope * x);
                let (error, h) = (weight * (q - class), weight * q * (1.0 - q));
                gradient = [gradient[0] + error, gradient[1] + error * x];
                curvature = [curvature[0] + h, curvature[1] + h * x, curvature[2] + h * x * x];
            }
            let [a, b, c] = curvature;
            let step = (gradient[1] - gradient[0] * b / a) / (c - b * b / a);
            if !step.is_finite() {
                break;
            }
            // The slope moves by a factor of at most two; then the offset follows.
            let before = slope;
            slope = (slope - step).clamp(before / 2.0, 2.0 * before);
            slope = slope.clamp(SLOPES[0] * expected, SLOPES[1] * expected);
            offset = offset_for(counted, slope, &points);
            if (slope - before).abs() <= SETTLED * slope {
                break;
            }
        }
        // The share among all examples says more than that among the predictions that are left.
        let offset = offset + logit(share) - logit(counted);
        let slope = slope / self.deviation;
        if slope > 0.0 && slope <= LARGEST && offset.is_finite() {
            (self.offset, self.slope) = (offset - slope * mean, slope);
        }
    }

    pub fn validate(&self) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &'static str| Damaged::unless(ok, NAME, || reason);
        let finite = self.offset.is_finite() && self.mean.is_finite() && self.deviation >= 0.0;
        let allowed = finite && self.slope > 0.0 && self.slope <= LARGEST;
        damaged(allowed, "the link has a number out of its range")?;
        damaged(self.bins.is_empty() || self.bins.len() == 2 * SIDE, "the link has not its number of bins")?;
        let whole = |bin: &Bin| bin.weight <= 1e18 && bin.sum.abs() <= 1.001 * WITHIN * bin.weight;
        damaged(self.bins.as_flattened().iter().all(whole), "the link has a bin that is none")?;
        let count = |n: &f64| (0.0..=1e18).contains(n);
        damaged(self.examples.iter().all(count), "the link has a class of no number")?;
        damaged(
            self.blocks.iter().all(|sum| sum.is_finite() && *sum >= 0.0),
            "the link has no sums over blocks",
        )
    }
}

/// Returns the share of the class +1. Half an example more of each class keeps it from 0 and 1.
fn share_of([negative, positive]: [f64; 2]) -> f64 {
    (positive + 0.5) / (negative + positive + 1.0)
}

fn logit(share: f64) -> f64 {
    libm::log(share / (1.0 - share))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Returns the bin of a place.
fn bin_of(place: f64) -> usize {
    let bin = (PER_E * libm::asinh(place.abs() / FINE)).min(SIDE as f64 - 1.0) as usize;
    if place < 0.0 { SIDE - 1 - bin } else { SIDE + bin }
}

/// Returns the offset with which the mean probability of the points is the share.
fn offset_for(share: f64, slope: f64, points: &[[f64; 3]]) -> f64 {
    let mut offset = logit(share);
    let all: f64 = points.iter().map(|point| point[1]).sum();
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..STEPS {
        let (mut excess, mut curvature) = (0.0, 0.0);
        for &[x, weight, _] in points {
            let q = logistic(offset + slope * x);
            excess += weight * (q - share);
            curvature += weight * q * (1.0 - q);
        }
        if excess.abs() <= SETTLED * share * (1.0 - share) * all {
            break;
        }
        if excess > 0.0 {
            high = offset
        } else {
            low = offset
        }
        let newton = offset - (excess / curvature).clamp(-2.0, 2.0);
        // Newton's step, unless it leaves what is known to hold the root.
        offset = if newton > low && newton < high {
            newton
        } else {
            (low.max(offset - 2.0) + high.min(offset + 2.0)) / 2.0
        };
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    fn learn(link: &mut Link, examples: impl Iterator<Item = (f64, f64)>) {
        link.learn(examples.map(|(label_predicted, label)| Predicted {
            label_predicted,
            label,
            weight: 1.0,
        }));
    }

    /// A normal draw from twelve uniform ones.
    fn normal(rng: &mut lao_observation::Rng) -> f64 {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    }

    #[test]
    fn probabilities_are_those_of_the_classes_at_every_share() {
        let mut rng = Seed::root(1).rng();
        for (offset, slope) in [(0.0, 1.0), (-1.0, 3.0), (-3.0, 1.0), (-5.0, 2.0)] {
            let draws: Vec<(f64, bool)> = (0..100_000)
                .map(|_| {
                    let x = normal(&mut rng);
                    (x, rng.random::<f64>() < logistic(offset + slope * x))
                })
                .collect();
            let n = draws.len() as f64;
            let share = draws.iter().filter(|(_, positive)| *positive).count() as f64 / n;
            let covariance =
                draws.iter().map(|(x, y)| x * (f64::from(u8::from(*y)) - share)).sum::<f64>() / n;
            let mean = 2.0 * share - 1.0;
            let deviation = |x: f64| 2.0 * covariance * x;
            let explained = covariance * covariance / (share * (1.0 - share));
            let mut link = Link::default();
            for block in draws.chunks(100) {
                learn(
                    &mut link,
                    block.iter().map(|&(x, y)| (mean + deviation(x), if y { 1.0 } else { -1.0 })),
                );
                link.fit(mean, explained);
            }
            link.validate().unwrap();
            let found = draws.iter().map(|(x, _)| link.probability(mean + deviation(*x))).sum::<f64>() / n;
            assert!((found / share - 1.0).abs() < 0.03, "{offset} {slope}: {found} for {share}");
            for x in [-1.0, 0.0, 1.0, 2.0] {
                let (found, wanted) = (link.offset + link.slope * (mean + deviation(x)), offset + slope * x);
                assert!((found - wanted).abs() < 0.2, "{offset} {slope} at {x}: {found}, {wanted}");
            }
        }
    }

    #[test]
    fn a_constant_prediction_has_the_probability_of_the_share() {
        for (share, n) in [(0.5, 30), (0.2, 1000), (0.2, 10_000), (0.004, 10_000)] {
            let mut link = Link::default();
            for from in (0..n).step_by(10) {
                // The class comes last, as in a table that is sorted by it.
                let label = |i: usize| if i as f64 >= (1.0 - share) * n as f64 { 1.0 } else { -1.0 };
                learn(&mut link, (from..from + 10).map(|i| (2.0 * share - 1.0, label(i))));
                link.fit(2.0 * share - 1.0, 0.0);
            }
            let found = link.probability(2.0 * share - 1.0);
            assert!((found / share - 1.0).abs() < 0.6 / (share * n as f64), "{found} for {share} of {n}");
        }
    }

    #[test]
    fn an_order_that_tells_of_the_class_is_noticed() {
        let mut rng = Seed::root(1).rng();
        for share in [0.5, 0.2, 0.02] {
            for n in [300, 3000] {
                let mut labels: Vec<f64> =
                    (0..n).map(|_| if rng.random::<f64>() < share { 1.0 } else { -1.0 }).collect();
                let sorted = |labels: &[f64]| {
                    let mut link = Link::default();
                    labels.chunks(10).for_each(|block| learn(&mut link, block.iter().map(|&y| (0.0, y))));
                    link.sorted()
                };
                assert!(!sorted(&labels), "{share} {n}");
                labels.sort_by(f64::total_cmp);
                assert_eq!(sorted(&labels), labels.last() > labels.first(), "{share} {n}");
            }
        }
    }

    #[test]
    fn no_prediction_leaves_the_finite_numbers() {
        let mut link = Link::default();
        for predicted in [1e300, -1e300, 0.0, f64::MAX] {
            learn(&mut link, (0..100).map(|i| (predicted, if i % 3 == 0 { 1.0 } else { -1.0 })));
            for explained in [0.0, 0.5, 1.0, f64::NAN] {
                link.fit(-0.3, explained);
                link.validate().unwrap();
                assert!((0.0..=1.0).contains(&link.probability(predicted)));
            }
        }
    }

    #[test]
    fn classes_that_are_told_apart_exactly_have_a_finite_slope() {
        let mut link = Link::default();
        learn(&mut link, (0..1000).map(|i| if i % 2 == 0 { (0.9, 1.0) } else { (-0.9, -1.0) }));
        link.fit(0.0, 0.81);
        assert!(link.slope.is_finite() && link.probability(0.9) > 0.99 && link.probability(-0.9) < 0.01);
    }
}
