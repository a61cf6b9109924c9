//! Rows that were bought complete, and what is learned from them: a ridge line, and trees on what it leaves.

use super::ridge::{Ridge, Sums};
use crate::pursuit::PursuitParams;
use crate::state;
use crate::trees::{Binned, Boost, Trees};
use lao_kernels::SparseVector;
use lao_observation::stored::Damaged;
use lao_observation::tariff::pays;
use lao_observation::{Basket, Block, Row};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most values that are kept: of more rows the last ones.
const MOST_VALUES: usize = 1 << 23;
/// Parts of the rows for cross-validation. Of many rows, one part held out says enough.
const FOLDS: usize = 5;
const MANY_ROWS: usize = 10_000;
/// Standard deviations from the mean beyond which a value counts as if it lay there.
const WITHIN: f64 = 4.0;
/// The trees of the contest, and the part of them that counts: a number that is right for nearly all tables
/// takes no cross-validation within cross-validation.
const TREES_OF_CONTEST: usize = 100;
const PART_OF_CONTEST: f64 = 0.5;
/// The most trees of a model.
const MOST_TREES: usize = 500;
/// The search for the number of trees ends if more of them, by this factor and number, are no better.
const PATIENCE: (f64, usize) = (1.3, 30);
/// The trees by whose gains columns are dropped, the rows that they learn from, and the rounds of dropping.
const TREES_OF_DROP: usize = 60;
const ROWS_OF_DROP: usize = 6000;
const ROUNDS_OF_DROP: usize = 4;
/// The rounds in which a line drops columns, if they are many.
const ROUNDS_OF_LINE: usize = 16;
/// The values at which the part of a column is computed, and the rows over which it is averaged.
const POINTS_OF_PART: usize = 10;
const ROWS_OF_PART: usize = 100;
/// Newton steps of the link, at most, and its least slope.
const STEPS: usize = 50;
const LEAST_SLOPE: f64 = 1e-3;

/// Rows of which certain attributes are all known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Complete {
    /// The attributes, ascending.
    pub attributes: Vec<u32>,
    /// Their values; what was missing counts as the mean at that time.
    columns: Vec<Vec<f64>>,
    labels: Vec<f64>,
    /// What Pursuit predicted for each row before it learned from it.
    predicted: Vec<f64>,
    /// The rows so far, those that are no longer kept among them.
    pub rows: u64,
}

/// What came of the complete rows: a predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// The mean of each attribute of the predictor, and its range.
    pub means: Vec<f64>,
    pub ranges: Vec<[f64; 2]>,
    /// The line, on all attributes of the predictor.
    pub theta: SparseVector,
    pub intercept: f64,
    /// What is added to the line; its columns are those of `theta`.
    pub trees: Option<Trees>,
    /// Offset and slope of the link of two classes.
    pub link: Option<[f64; 2]>,
}

/// The squared errors of each row that are compared, in units of the label's variance.
pub(super) struct Errors {
    pub pursuit: Vec<f64>,
    pub ridge: Vec<f64>,
    pub trees: Vec<f64>,
}

/// The rows, ready to be learned from.
struct Prepared {
    /// The columns, cut at their ranges.
    columns: Vec<Vec<f64>>,
    /// The same, of mean 0 and variance 1.
    standard: Vec<Vec<f64>>,
    means: Vec<f64>,
    deviations: Vec<f64>,
    ranges: Vec<[f64; 2]>,
    /// The labels, of mean 0 and variance 1.
    labels: Vec<f64>,
    label_mean: f64,
    label_scale: f64,
}

fn mean_and_deviation(values: &[f64]) -> [f64; 2] {
    let n = values.len().max(1) as f64;
    let mean = lao_kernels::sum(values) / n;
    [mean, (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt()]
}

/// Divides by a scale, or leaves what does not vary at zero.
fn standardized(values: &[f64], mean: f64, scale: f64) -> Vec<f64> {
    values.iter().map(|x| if scale > 0.0 { (x - mean) / scale } else { 0.0 }).collect()
}

fn folds(rows: usize) -> Vec<Range<usize>> {
    (0..FOLDS).map(|fold| rows * fold / FOLDS..rows * (fold + 1) / FOLDS).collect()
}

fn others(rows: usize, fold: &Range<usize>) -> Vec<u32> {
    (0..rows).filter(|row| !fold.contains(row)).map(|row| row as u32).collect()
}

impl Complete {
    pub fn of(attributes: Vec<u32>) -> Self {
        let columns = vec![Vec::new(); attributes.len()];
        Complete { attributes, columns, ..Self::default() }
    }

    fn most_rows(&self) -> usize {
        MOST_VALUES / self.attributes.len().max(1)
    }

    /// Adds a row, with what Pursuit predicts for it.
    pub fn add(&mut self, row: Row<'_>, mean: impl Fn(u32) -> f64, label: f64, predicted: f64) {
        let place = (self.rows % self.most_rows() as u64) as usize;
        let put = |list: &mut Vec<f64>, x: f64| match list.get_mut(place) {
            Some(old) => *old = x,
            None => list.push(x),
        };
        for ((column, &x), &j) in self.columns.iter_mut().zip(row.values).zip(row.attributes) {
            put(column, if x.is_nan() { mean(j) } else { x });
        }
        put(&mut self.labels, label);
        put(&mut self.predicted, predicted);
        self.rows += 1;
    }

    /// Returns whether a block has the values of these attributes.
    pub fn fits(&self, block: &Block<'_>) -> bool {
        block.attributes() == self.attributes
    }

    fn prepared(&self) -> Prepared {
        let [label_mean, label_scale] = mean_and_deviation(&self.labels);
        let labels = standardized(&self.labels, label_mean, label_scale);
        let (mut columns, mut standard, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let [mean, deviation] = mean_and_deviation(column);
            let range = [mean - WITHIN * deviation, mean + WITHIN * deviation];
            let cut: Vec<f64> = column.iter().map(|x| x.clamp(range[0], range[1])).collect();
            let [mean, deviation] = mean_and_deviation(&cut);
            standard.push(standardized(&cut, mean, deviation));
            columns.push(cut);
            means.push(mean);
            deviations.push(deviation);
            ranges.push(range);
        }
        Prepared { columns, standard, means, deviations, ranges, labels, label_mean, label_scale }
    }

    /// Compares, on rows that are held out, the line on these rows, and trees on what it leaves, with what
    /// Pursuit predicted. The first rows are not compared: so many, unless some are no longer kept.
    pub fn errors(&self, first: usize) -> Errors {
        let first = if self.rows > self.labels.len() as u64 { 0 } else { first };
        let prepared = self.prepared();
        let n = prepared.labels.len();
        let kept: Vec<usize> = (0..self.columns.len()).collect();
        let square = |x: f64| x * x;
        let scale = prepared.label_scale;
        let mut errors = Errors { pursuit: Vec::new(), ridge: Vec::new(), trees: Vec::new() };
        let binned = prepared.binned(&kept);
        for (fold, line) in prepared.crossed(&kept).into_iter().filter(|(fold, _)| fold.end > first) {
            let residuals = prepared.residuals(&line, &kept);
            let compared = fold.start.max(first)..fold.end;
            let before: Vec<f64> = residuals[compared.clone()].to_vec();
            let mut boost = Boost::new(&binned, residuals, others(n, &fold));
            let steps = (0..TREES_OF_CONTEST).take_while(|_| boost.step()).count();
            debug_assert!(steps <= TREES_OF_CONTEST);
            for (row, before) in compared.zip(before) {
                let (error, after) = (self.labels[row] - self.predicted[row], boost.residuals[row]);
                errors.pursuit.push(if scale > 0.0 { square(error / scale) } else { 0.0 });
                errors.ridge.push(square(before));
                errors.trees.push(square(before + PART_OF_CONTEST * (after - before)));
            }
        }
        errors
    }

    /// Returns the ridge line on as many of the attributes as a predictor may have, dropped by the least
    /// sacrifice.
    pub fn line(&self, params: &PursuitParams) -> End {
        let prepared = self.prepared();
        let all = Sums::of(&prepared.standard, &prepared.labels, 0..prepared.labels.len());
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let too_many = kept.len().saturating_sub(params.largest_support());
        self.drop(params, &mut kept, (too_many / ROUNDS_OF_LINE).max(1), |kept| all.ridge(kept).sacrifices);
        let scores = (prepared.crossed(&kept).into_iter())
            .flat_map(|(fold, line)| prepared.out_of_fold(&fold, &prepared.residuals(&line, &kept)))
            .collect();
        self.end(params.dim, &prepared, &kept, &all.ridge(&kept), None, scores)
    }

    /// Returns a line and trees on what it leaves, on as many of the attributes as a predictor may have,
    /// dropped by the least gain. Cross-validation chooses the number of trees, which may be 0.
    pub fn trees(&self, params: &PursuitParams) -> End {
        let prepared = self.prepared();
        let n = prepared.labels.len();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let too_many = kept.len().saturating_sub(params.largest_support());
        self.drop(params, &mut kept, too_many.div_ceil(ROUNDS_OF_DROP).max(1), |kept| {
            let binned = prepared.binned(kept);
            let rows = (n.saturating_sub(ROWS_OF_DROP)..n).map(|row| row as u32).collect();
            let mut boost = Boost::new(&binned, prepared.labels.clone(), rows);
            for _ in 0..TREES_OF_DROP {
                boost.step();
            }
            boost.gains
        });
        let binned = prepared.binned(&kept);
        let mut crossed: Vec<(Range<usize>, Boost<'_>)> = prepared
            .crossed(&kept)
            .into_iter()
            .map(|(fold, line)| {
                let rows = others(n, &fold);
                let boost = Boost::new(&binned, prepared.residuals(&line, &kept), rows);
                (fold, boost)
            })
            .collect();
        let error = |crossed: &[(Range<usize>, Boost<'_>)]| -> f64 {
            let of = |(fold, boost): &(Range<usize>, Boost<'_>)| {
                boost.residuals[fold.clone()].iter().map(|r| r * r).sum::<f64>()
            };
            crossed.iter().map(of).sum()
        };
        let scores = |crossed: &[(Range<usize>, Boost<'_>)]| -> Vec<(f64, f64)> {
            crossed.iter().flat_map(|(fold, boost)| prepared.out_of_fold(fold, &boost.residuals)).collect()
        };
        let (mut best, mut least, mut of_best) = (0, error(&crossed), scores(&crossed));
        for count in 1..=MOST_TREES {
            crossed.iter_mut().for_each(|(_, boost)| {
                boost.step();
            });
            let now = error(&crossed);
            if now < least {
                (best, least, of_best) = (count, now, scores(&crossed));
            }
            if count as f64 > PATIENCE.0 * best as f64 + PATIENCE.1 as f64 {
                break;
            }
        }
        let line = Sums::of(&prepared.standard, &prepared.labels, 0..n).ridge(&kept);
        let mut boost = Boost::new(&binned, prepared.residuals(&line, &kept), (0..n as u32).collect());
        for _ in 0..best {
            boost.step();
        }
        let Boost { trees, gains, .. } = boost;
        let all: f64 = gains.iter().sum();
        let shares = gains.iter().map(|gain| if all > 0.0 { gain / all } else { 0.0 }).collect();
        let (cuts, scale) = (binned.cuts.clone(), prepared.label_scale);
        let mut trees = Trees { cuts, scale, shares, parts: Vec::new(), trees };
        trees.parts = prepared.parts(&kept, &line, &trees);
        self.end(params.dim, &prepared, &kept, &line, Some(trees).filter(|_| best > 0), of_best)
    }

    /// Drops what is worth least until a predictor may have the rest, a few at a time.
    fn drop(
        &self,
        params: &PursuitParams,
        kept: &mut Vec<usize>,
        step: usize,
        worth: impl Fn(&[usize]) -> Vec<f64>,
    ) {
        let (longest, money) = (params.largest_support(), params.most_per_prediction());
        loop {
            let attributes: Vec<u32> = kept.iter().map(|&i| self.attributes[i]).collect();
            let tariff = params.money.as_ref().map(|money| &money.tariff);
            let cost = tariff.map_or(0.0, |tariff| tariff.cost(&attributes, &mut Basket::default()));
            let too_many = kept.len().saturating_sub(longest);
            let too_dear = !pays(money, cost);
            if too_many == 0 && !too_dear {
                return;
            }
            let mut ranked: Vec<(f64, usize)> = worth(kept).into_iter().zip(0..).collect();
            ranked.retain(|(_, at)| params.always.binary_search(&attributes[*at]).is_err());
            if too_dear {
                // What saves nothing stays; of the rest goes what is worth least for its price.
                let saved = |at: usize| {
                    let mut rest = attributes.clone();
                    let j = rest.remove(at);
                    tariff.map_or(1.0, |tariff| tariff.price_beside(j, rest.iter().copied()))
                };
                ranked.iter_mut().for_each(|(worth, at)| *worth /= saved(*at));
            }
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            ranked.truncate(if too_dear { 1 } else { step.min(too_many) });
            if ranked.is_empty() {
                return;
            }
            let gone: Vec<usize> = ranked.into_iter().map(|(_, at)| kept[at]).collect();
            kept.retain(|i| !gone.contains(i));
        }
    }

    fn end(
        &self,
        dim: usize,
        prepared: &Prepared,
        kept: &[usize],
        line: &Ridge,
        trees: Option<Trees>,
        scores: Vec<(f64, f64)>,
    ) -> End {
        let (mut theta, mut intercept) = (SparseVector::zeros(dim), line.intercept * prepared.label_scale);
        intercept += prepared.label_mean;
        for (&i, weight) in kept.iter().zip(&line.weights) {
            let deviation = prepared.deviations[i];
            let slope = if deviation > 0.0 { weight * prepared.label_scale / deviation } else { 0.0 };
            intercept -= slope * prepared.means[i];
            theta.push(self.attributes[i], slope);
        }
        let classes = self.labels.iter().all(|y| y.abs() == 1.0);
        End {
            means: kept.iter().map(|&i| prepared.means[i]).collect(),
            ranges: kept.iter().map(|&i| prepared.ranges[i]).collect(),
            theta,
            intercept,
            trees,
            link: classes.then(|| link(&scores)),
        }
    }

    pub fn validate(&self, dim: usize) -> Result<(), Damaged> {
        const NAME: &str = super::NAME;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        damaged(state::is_set(&self.attributes, dim), "the attributes of the complete rows are no set")?;
        state::length(NAME, "the complete rows", self.columns.len(), self.attributes.len())?;
        state::count(NAME, "the number of complete rows", self.rows)?;
        let rows = self.rows.min(self.most_rows() as u64) as usize;
        for list in self.columns.iter().chain([&self.labels, &self.predicted]) {
            state::length(NAME, "a column of the complete rows", list.len(), rows)?;
        }
        Ok(())
    }
}

impl Prepared {
    fn binned(&self, kept: &[usize]) -> Binned {
        Binned::of(&kept.iter().map(|&i| &self.columns[i][..]).collect::<Vec<_>>())
    }

    /// Returns for each part that is held out the line of the others.
    fn crossed(&self, kept: &[usize]) -> Vec<(Range<usize>, Ridge)> {
        let n = self.labels.len();
        let folds = folds(n);
        let parts: Vec<Sums> =
            folds.iter().map(|fold| Sums::of(&self.standard, &self.labels, fold.clone())).collect();
        let mut all = parts[0].clone();
        parts[1..].iter().for_each(|part| all.add(part, 1.0));
        let held_out = if n > MANY_ROWS { 1 } else { FOLDS };
        let line = |(fold, part): (Range<usize>, &Sums)| {
            let mut others = all.clone();
            others.add(part, -1.0);
            (fold, others.ridge(kept))
        };
        folds.into_iter().zip(&parts).skip(FOLDS - held_out).map(line).collect()
    }

    /// Returns the part of each column in the predictions: what the line and the trees give on average, if
    /// the column has one value in all rows.
    fn parts(&self, kept: &[usize], line: &Ridge, trees: &Trees) -> Vec<Vec<[f64; 2]>> {
        let n = self.labels.len();
        let step = n.div_ceil(ROWS_OF_PART).max(1);
        let some = |&i: &usize| (0..n).step_by(step).map(|row| self.columns[i][row]).collect();
        let columns: Vec<Vec<f64>> = kept.iter().map(some).collect();
        let part = |(at, &i): (usize, &usize)| {
            let mut sorted = self.columns[i].clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let value = |point: usize| sorted[(sorted.len() - 1) * (2 * point + 1) / (2 * POINTS_OF_PART)];
            let mut values: Vec<f64> = (0..POINTS_OF_PART).map(value).collect();
            values.dedup();
            let means = trees.means_with(&columns, at, &values);
            let point = |(&x, mean): (&f64, f64)| {
                let standard = standardized(&[x], self.means[i], self.deviations[i])[0];
                [x, mean + self.label_scale * line.weights[at] * standard]
            };
            let mut curve: Vec<[f64; 2]> = values.iter().zip(means).map(point).collect();
            let mean = curve.iter().map(|point| point[1]).sum::<f64>() / curve.len().max(1) as f64;
            curve.iter_mut().for_each(|point| point[1] -= mean);
            curve
        };
        kept.iter().enumerate().map(part).collect()
    }

    fn residuals(&self, line: &Ridge, kept: &[usize]) -> Vec<f64> {
        let predicted = line.predict(&self.standard, kept, self.labels.len());
        self.labels.iter().zip(predicted).map(|(y, p)| y - p).collect()
    }

    /// Returns the predictions for the rows held out, and their labels, in the unit of the labels.
    fn out_of_fold(&self, fold: &Range<usize>, residuals: &[f64]) -> Vec<(f64, f64)> {
        let unit = |x: f64| self.label_mean + self.label_scale * x;
        fold.clone().map(|row| (unit(self.labels[row] - residuals[row]), unit(self.labels[row]))).collect()
    }
}

impl End {
    /// Returns the prediction for a row of these sorted attributes. What is missing counts as the mean.
    pub fn predict(&self, seen: Row<'_>) -> f64 {
        let value = |i: usize, j: u32| {
            let x = seen.attributes.binary_search(&j).map_or(f64::NAN, |place| seen.values[place]);
            let [low, high] = self.ranges[i];
            if x.is_nan() { self.means[i] } else { x.clamp(low, high) }
        };
        let row: Vec<f64> = self.theta.indices().iter().enumerate().map(|(i, &j)| value(i, j)).collect();
        let line: f64 = self.theta.values().iter().zip(&row).map(|(b, x)| b * x).sum();
        self.intercept + line + self.trees.as_ref().map_or(0.0, |trees| trees.of(&row))
    }

    pub fn validate(&self, dim: usize) -> Result<(), Damaged> {
        const NAME: &str = super::NAME;
        let k = self.theta.len();
        state::length(NAME, "the list of means", self.means.len(), k)?;
        state::length(NAME, "the list of ranges", self.ranges.len(), k)?;
        let ranges = self.ranges.iter().all(|[low, high]| low <= high);
        Damaged::unless(ranges && self.theta.dim() == dim, NAME, || "the predictor has other attributes")?;
        let Some(trees) = &self.trees else { return Ok(()) };
        state::length(NAME, "the list of the columns of trees", trees.cuts.len(), k)?;
        trees.validate()
    }
}

/// Returns offset and slope of the logistic function of predictions that gives their labels, 1 or -1, the
/// largest likelihood, by targets as Platt 1999 has them, so that classes which are told apart exactly have a
/// finite slope.
pub(crate) fn link(scores: &[(f64, f64)]) -> [f64; 2] {
    let positive = scores.iter().filter(|(_, y)| *y > 0.0).count() as f64;
    let negative = scores.len() as f64 - positive;
    let target = |y: f64| if y > 0.0 { (positive + 1.0) / (positive + 2.0) } else { 1.0 / (negative + 2.0) };
    let [mean, deviation] = mean_and_deviation(&scores.iter().map(|(p, _)| *p).collect::<Vec<_>>());
    let mut line = [libm::log((positive + 1.0) / (negative + 1.0)), 0.0];
    let loss = |line: [f64; 2]| -> f64 {
        let of = |(p, y): &(f64, f64)| {
            let odds = line[0] + line[1] * (p - mean) / deviation;
            // log(1 + exp(odds)) - target odds, without overflow
            odds.max(0.0) + libm::log1p(libm::exp(-odds.abs())) - target(*y) * odds
        };
        scores.iter().map(of).sum()
    };
    if deviation > 0.0 {
        for _ in 0..STEPS {
            let (mut gradient, mut curvature) = ([0.0; 2], [1e-9, 0.0, 1e-9]);
            for &(p, y) in scores {
                let x = (p - mean) / deviation;
                let q = 1.0 / (1.0 + libm::exp(-(line[0] + line[1] * x)));
                let (error, h) = (q - target(y), q * (1.0 - q));
                gradient = [gradient[0] + error, gradient[1] + error * x];
                curvature = [curvature[0] + h, curvature[1] + h * x, curvature[2] + h * x * x];
            }
            let [a, b, c] = curvature;
            let determinant = a * c - b * b;
            let step = [
                (c * gradient[0] - b * gradient[1]) / determinant,
                (a * gradient[1] - b * gradient[0]) / determinant,
            ];
            let (before, mut part) = (loss(line), 1.0);
            let moved = |part: f64| [line[0] - part * step[0], line[1] - part * step[1]];
            while part > 1e-6 && loss(moved(part)) > before {
                part /= 2.0;
            }
            let next = moved(part);
            if next.iter().any(|x| !x.is_finite()) || part <= 1e-6 {
                break;
            }
            line = next;
            if step.iter().all(|x| x.abs() < 1e-9) {
                break;
            }
        }
    }
    let slope = if deviation > 0.0 { (line[1] / deviation).max(LEAST_SLOPE) } else { 1.0 };
    [line[0] - slope * mean, slope]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    #[test]
    fn the_link_is_that_of_the_classes() {
        let mut rng = Seed::root(1).rng();
        for truth in [[0.0, 2.0], [-3.0, 1.0], [1.0, 5.0]] {
            let draw = |_| {
                let p = rng.random_range(-1.0..1.0);
                let q = 1.0 / (1.0 + libm::exp(-(truth[0] + truth[1] * p)));
                (p, if rng.random::<f64>() < q { 1.0 } else { -1.0 })
            };
            let scores: Vec<(f64, f64)> = (0..20_000).map(draw).collect();
            let found = link(&scores);
            assert!((found[0] - truth[0]).abs() < 0.1 && (found[1] - truth[1]).abs() < 0.15, "{found:?}");
        }
    }

    #[test]
    fn the_link_of_hostile_scores_is_finite_and_ascends() {
        let apart: Vec<(f64, f64)> =
            (0..100).map(|i| if i < 50 { (-1.0, -1.0) } else { (1.0, 1.0) }).collect();
        let upside_down: Vec<(f64, f64)> = apart.iter().map(|(p, y)| (-p, *y)).collect();
        let alike = vec![(0.3, 1.0); 20];
        let far = vec![(1e70, 1.0), (-1e70, -1.0), (0.0, 1.0)];
        for scores in [apart, upside_down, alike, far, Vec::new()] {
            let [offset, slope] = link(&scores);
            assert!(offset.is_finite() && slope.is_finite() && slope > 0.0, "{offset} {slope}");
        }
    }
}
