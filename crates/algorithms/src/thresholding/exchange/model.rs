//! The quadratic model of one output: candidates, their columns, and the exchanges between them.

use super::groups::Groups;
use super::swaps::{Swap, Swaps};
use crate::thresholding::SolveError;
use lao_finite_sum::{Columns, FiniteSum, Predictor};
use lao_kernels::{NotFinite, dot_column, gradient_block, solve_positive};
use std::sync::Arc;

/// The smallest curvature of a row, as a part of the mean one: a row that is told with certainty has none.
const LEAST_CURVATURE: f64 = 1e-6;
/// A gain that counts, as a part of the sum of squares of the labels that the model has.
const GAIN: f64 = 1e-9;
/// The part of a sum of squares that may be rounding.
const ROUNDING: f64 = 1e-11;
/// The gain that is worth another look at all columns, as a part of what is not explained.
const WORTH: f64 = 1e-6;

/// What is known of one output.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    columns: Columns,
    /// The place of each attribute among the candidates, or that of none.
    places: Vec<u32>,
    swaps: Swaps,
    /// Slopes and curvatures of the rows at the margins for which the model is.
    pub slopes: Vec<f64>,
    curvatures: Vec<f64>,
    /// What each row contributes to the right side: curvature times margin, without the intercept, less
    /// slope.
    target: Vec<f64>,
    total_curvature: f64,
    /// The sum of each candidate's column, weighted by the curvatures; only an intercept needs them.
    totals: Vec<f64>,
    /// The sum of squares that the model could explain.
    all: f64,
    /// A gain that counts.
    least: f64,
    rounding: f64,
    /// `n lambda`.
    ridge: f64,
    has_intercept: bool,
    /// The group of each attribute, and the attributes of each group; `None` if each stands for itself.
    groups: Option<Arc<Grouping>>,
}

/// Groups of attributes.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    /// The group of each attribute.
    pub of: Vec<u32>,
    /// The attributes of each group, ascending.
    pub members: Vec<Vec<u32>>,
}

impl Grouping {
    /// Returns the groups by that of each attribute.
    pub fn new(of: &[u32]) -> Self {
        let mut members = vec![Vec::new(); of.iter().max().map_or(0, |most| *most as usize + 1)];
        (0..).zip(of).for_each(|(j, group)| members[*group as usize].push(j));
        Grouping { of: of.to_vec(), members }
    }
}

const NO_PLACE: u32 = u32::MAX;

impl Model {
    pub fn new(sum: &FiniteSum, groups: Option<&Arc<Grouping>>) -> Self {
        Model {
            groups: groups.cloned(),
            places: vec![NO_PLACE; sum.dim()],
            ridge: sum.rows() as f64 * sum.ridge(),
            has_intercept: sum.has_intercept(),
            ..Model::default()
        }
    }

    pub fn has_intercept(&self) -> bool {
        self.has_intercept
    }

    /// Makes the model at the margins of `sum`, in which the coefficients `x` of this output are known; keeps
    /// all candidates. Returns the mean loss there.
    pub fn expand(&mut self, sum: &FiniteSum, margins: &[Vec<f64>], output: usize, x: &Predictor) -> f64 {
        let loss = sum.expand(margins, output, &mut self.slopes, &mut self.curvatures);
        let least = LEAST_CURVATURE * self.curvatures.iter().sum::<f64>() / self.curvatures.len() as f64;
        // A row of weight 0 has no slope either.
        let with_slope = self.curvatures.iter_mut().zip(&self.slopes).filter(|(_, slope)| **slope != 0.0);
        with_slope.for_each(|(curvature, _)| *curvature = curvature.max(least));
        self.total_curvature = self.curvatures.iter().sum();
        let intercept = x.intercepts.get(output).copied().unwrap_or(0.0);
        self.target.clear();
        let rows = self.curvatures.iter().zip(&self.slopes).zip(&margins[output]);
        self.target
            .extend(rows.map(|((h, g), m)| h * (m - if self.has_intercept { 0.0 } else { intercept }) - g));
        let squares =
            self.target.iter().zip(&self.curvatures).filter(|(_, h)| **h > 0.0).map(|(v, h)| v * v / h);
        let total: f64 = self.target.iter().sum();
        let mean_part = if self.has_intercept { total * total / self.total_curvature } else { 0.0 };
        let squares = squares.sum::<f64>();
        self.all = (squares - mean_part).max(0.0);
        // Of labels that are all equal, rounding is left.
        self.rounding = ROUNDING * squares;
        self.least = GAIN * self.all + self.rounding;
        loss
    }

    /// Returns whether no row has a curvature, so that there is no model.
    pub fn is_flat(&self) -> bool {
        !(self.total_curvature > 0.0 && self.total_curvature.is_finite())
    }

    /// Adds candidates; those that are candidates already are passed over. The swaps know them after
    /// [`begin`](Self::begin) or [`learn`](Self::learn).
    fn append(&mut self, sum: &FiniteSum, attributes: &[u32]) -> Result<(), SolveError> {
        let mut new = attributes.to_vec();
        if let Some(groups) = &self.groups {
            // A group comes as a whole.
            let others = attributes.iter().flat_map(|&j| &groups.members[groups.of[j as usize] as usize]);
            new.extend(others);
        }
        new.retain(|&j| self.places[j as usize] == NO_PLACE);
        new.sort_unstable();
        new.dedup();
        let first = self.columns.attributes().len() as u32;
        new.iter().zip(first..).for_each(|(&j, place)| self.places[j as usize] = place);
        Ok(self.columns.extend(sum, &new)?)
    }

    /// Appends the products of column `place`, weighted by the curvatures, with those from `from` on.
    fn gram(&self, place: usize, from: usize, row: &mut Vec<f64>) {
        let scaled: Vec<f64> =
            self.columns.column(place).iter().zip(&self.curvatures).map(|(x, h)| x * h).collect();
        let begin = row.len();
        self.columns.products(from, &scaled, row);
        if self.has_intercept {
            let mean = self.totals[place] / self.total_curvature;
            row[begin..]
                .iter_mut()
                .zip(&self.totals[from..])
                .for_each(|(entry, total)| *entry -= mean * total);
        }
        if place >= from {
            row[begin + place - from] += self.ridge;
        }
    }

    /// Returns diagonal and right side of the candidates from `from` on, and renews their totals.
    fn sides(&mut self, from: usize) -> [Vec<f64>; 2] {
        self.totals.truncate(from);
        let mut right = Vec::new();
        self.columns.products(from, &self.target, &mut right);
        let total: f64 = self.target.iter().sum();
        let (mut diagonal, mut scaled) = (Vec::new(), Vec::new());
        for (at, right) in right.iter_mut().enumerate() {
            let column = self.columns.column(from + at);
            scaled.clear();
            scaled.extend(column.iter().zip(&self.curvatures).map(|(x, h)| x * h));
            let mut square = dot_column(column, &scaled);
            if self.has_intercept {
                let sum = lao_kernels::sum(&scaled);
                square -= sum * sum / self.total_curvature;
                *right -= sum * total / self.total_curvature;
                self.totals.push(sum);
            }
            diagonal.push(square + self.ridge);
        }
        [diagonal, right]
    }

    /// Begins anew with this model: the attributes `x`, of which those of `always` are never dropped, filled
    /// up to `size`.
    pub fn begin(
        &mut self,
        sum: &FiniteSum,
        (x, always): (&[u32], &[u32]),
        found: &[u32],
        size: usize,
    ) -> Result<(), SolveError> {
        self.append(sum, x)?;
        self.append(sum, found)?;
        self.swaps = Swaps::default();
        self.swaps.groups = self.groups.as_ref().map(|_| Groups::default());
        self.learn_rest()?;
        let places =
            |all: &[u32]| -> Vec<usize> { all.iter().map(|&j| self.places[j as usize] as usize).collect() };
        let (support, fixed) = (places(x), places(always));
        let rounding = self.rounding;
        self.change(|swaps, gram| {
            swaps.fix(fixed.into_iter());
            swaps.restart(&support, gram);
            swaps.fill(size, rounding, gram);
        });
        Ok(())
    }

    /// Adds candidates to a model that has begun.
    pub fn learn(&mut self, sum: &FiniteSum, found: &[u32]) -> Result<(), SolveError> {
        self.append(sum, found)?;
        self.learn_rest()
    }

    fn learn_rest(&mut self) -> Result<(), SolveError> {
        let [diagonal, right] = self.sides(self.swaps.candidates());
        for numbers in [&diagonal, &right] {
            if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
                return Err(NotFinite { index, value: numbers[index] }.into());
            }
        }
        let from = self.swaps.candidates();
        self.change(|swaps, gram| swaps.extend(&diagonal, &right, gram));
        if let Some(groups) = &self.groups {
            let new: Vec<u32> =
                self.columns.attributes()[from..].iter().map(|&j| groups.of[j as usize]).collect();
            let mut known = self.swaps.groups.take().unwrap_or_default();
            known.extend(&new, |a, b| self.entry(a, b));
            self.swaps.groups = Some(known);
        }
        Ok(())
    }

    /// Returns the entry of the Gram matrix for two candidates.
    fn entry(&self, a: usize, b: usize) -> f64 {
        let scaled: Vec<f64> =
            self.columns.column(b).iter().zip(&self.curvatures).map(|(x, h)| x * h).collect();
        let mut entry = dot_column(self.columns.column(a), &scaled);
        if self.has_intercept {
            entry -= self.totals[a] * self.totals[b] / self.total_curvature;
        }
        entry + if a == b { self.ridge } else { 0.0 }
    }

    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Swaps, &mut dyn FnMut(usize, usize, &mut Vec<f64>)) -> T,
    ) -> T {
        let mut swaps = std::mem::take(&mut self.swaps);
        let done = change(&mut swaps, &mut |place, from, row| self.gram(place, from, row));
        self.swaps = swaps;
        done
    }

    /// Makes the exchanges that gain; with `oscillates`, leaves a minimum where it can. Returns whether what
    /// is explained has grown by a part of what is not that is worth another look at all columns.
    pub fn settle(&mut self, size: usize, oscillates: bool) -> bool {
        let (least, rounding, before) = (self.least, self.rounding, self.swaps.explained());
        self.change(|swaps, gram| {
            swaps.fill(size, rounding, gram);
            let settled = !swaps.settle(least, gram);
            if settled && oscillates {
                swaps.oscillate(least, rounding, gram);
            }
        });
        let (gain, left) = (self.swaps.explained() - before, self.all - self.swaps.explained());
        gain > (WORTH * left).max(least)
    }

    /// Makes the exchange that gains most, from the support of `x`; returns whether there is one.
    pub fn exchange_once(&mut self, x: &[u32]) -> bool {
        let (least, places) = (self.least, &self.places);
        let support: Vec<usize> = x.iter().map(|&j| places[j as usize] as usize).collect();
        self.change(|swaps, gram| {
            swaps.restart(&support, gram);
            let best = swaps.best_exchange().filter(|swap| swap.gain > least);
            best.map(|swap| swaps.exchange(&swap, gram)).is_some()
        })
    }

    /// Returns the normal equations of the model on the support of `x`: the Gram matrix, row by row up to the
    /// diagonal, and the right side, after the intercept, if there is one, has been minimized out.
    pub fn equations(&mut self, sum: &FiniteSum, x: &[u32]) -> Result<[Vec<f64>; 2], SolveError> {
        self.append(sum, x)?;
        let size = x.len();
        let column = |j: &u32| self.columns.column(self.places[*j as usize] as usize);
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        gradient_block(x.iter().map(column), &self.target, &mut right);
        let total: f64 = self.target.iter().sum();
        let mut sums = vec![0.0; size];
        for (a, row) in gram.chunks_exact_mut(size.max(1)).enumerate() {
            let scaled: Vec<f64> = column(&x[a]).iter().zip(&self.curvatures).map(|(x, h)| x * h).collect();
            sums[a] = scaled.iter().sum();
            gradient_block(x[..=a].iter().map(column), &scaled, &mut row[..=a]);
            row[a] += self.ridge;
            if self.has_intercept {
                let mean = sums[a] / self.total_curvature;
                row.iter_mut().zip(&sums[..=a]).for_each(|(entry, sum)| *entry -= mean * sum);
                right[a] -= mean * total;
            }
        }
        Ok([gram, right])
    }

    /// Returns the minimum of the model over the support of `x`.
    pub fn minimum(&mut self, sum: &FiniteSum, x: &[u32]) -> Result<Vec<(u32, f64)>, SolveError> {
        let [mut gram, mut right] = self.equations(sum, x)?;
        solve_positive(&mut gram, &mut right);
        Ok(x.iter().copied().zip(right).collect())
    }

    /// Returns right sides whose products with all columns are the rows of the Gram matrix for the attributes
    /// `x`, which are candidates, but for the ridge, and the right side of the model.
    pub fn centered(&self, x: &[u32]) -> Vec<Vec<f64>> {
        let column = |j: &u32| self.columns.column(self.places[*j as usize] as usize);
        let scaled = x.iter().map(|j| column(j).iter().zip(&self.curvatures).map(|(x, h)| x * h).collect());
        let mut all: Vec<Vec<f64>> = scaled.chain([self.target.clone()]).collect();
        if self.has_intercept {
            for right in &mut all {
                let mean = right.iter().sum::<f64>() / self.total_curvature;
                right.iter_mut().zip(&self.curvatures).for_each(|(right, h)| *right -= mean * h);
            }
        }
        all
    }

    /// Returns the attribute of the exchange that gains most of all single exchanges, if it is worth one.
    /// `products` are those of [`centered`](Self::centered), and `squares` the mean squares of all columns.
    pub fn best_of_all(
        &self,
        (x, always): (&[u32], &[u32]),
        mut products: Vec<Vec<f64>>,
        squares: &[f64],
    ) -> Option<u32> {
        let right = products.pop()?;
        let diagonal: Vec<f64> =
            squares.iter().map(|square| self.total_curvature * square + self.ridge).collect();
        let mut gram = |place: usize, from: usize, row: &mut Vec<f64>| {
            let known = x.iter().position(|j| *j as usize == place).and_then(|at| products.get(at));
            row.extend(known.into_iter().flat_map(|known| &known[from..]));
            if place >= from {
                row[place] += self.ridge;
            }
        };
        let mut swaps = Swaps::default();
        swaps.extend(&diagonal, &right, &mut gram);
        swaps.fix(always.iter().map(|j| *j as usize));
        let support: Vec<usize> = x.iter().map(|j| *j as usize).collect();
        swaps.restart(&support, &mut gram);
        let left = self.all - swaps.explained();
        let Swap { gain, adds, .. } = swaps.best_exchange()?;
        let best = *adds.first()?;
        // What gains among candidates by rounding alone is no reason to go on.
        let is_new = self.places[best] == NO_PLACE;
        (is_new && gain > (WORTH * left).max(self.least)).then_some(best as u32)
    }

    /// Returns the attributes of the support, ascending, with their coefficients.
    pub fn members(&self) -> Vec<(u32, f64)> {
        let attributes = self.columns.attributes();
        let mut members: Vec<_> = self.swaps.members().map(|(place, b)| (attributes[place], b)).collect();
        members.sort_unstable_by_key(|(j, _)| *j);
        members
    }

    /// Returns the intercept that belongs to these coefficients: where the mean slope of the model is zero.
    pub fn intercept(&self, members: &[(u32, f64)]) -> f64 {
        let mut left: f64 = self.target.iter().sum();
        for &(j, b) in members {
            let column = self.columns.column(self.places[j as usize] as usize);
            left -= b * column.iter().zip(&self.curvatures).map(|(x, h)| x * h).sum::<f64>();
        }
        left / self.total_curvature
    }

    /// Writes the margins of these coefficients.
    pub fn margins(&self, members: &[(u32, f64)], intercept: f64, into: &mut Vec<f64>) {
        into.clear();
        into.resize(self.target.len(), intercept);
        let weighted = members.iter().map(|&(j, b)| (self.places[j as usize] as usize, b));
        self.columns.add(weighted, into);
    }

    /// Returns the right sides whose products with all columns say what might gain: the residual, and the
    /// residuals without each third of the support.
    pub fn residuals(&self, members: &[(u32, f64)], thirds: bool) -> Vec<Vec<f64>> {
        let mut all = vec![self.slopes.iter().map(|slope| -slope).collect::<Vec<f64>>()];
        for third in (0..3).filter(|_| thirds) {
            let mut part = vec![0.0; self.slopes.len()];
            let some = members.iter().skip(third).step_by(3);
            self.columns.add(some.map(|&(j, b)| (self.places[j as usize] as usize, b)), &mut part);
            let rows = part.iter().zip(&self.curvatures).zip(&self.slopes);
            all.push(rows.map(|((part, h), slope)| h * part - slope).collect());
        }
        if self.has_intercept {
            for residual in &mut all {
                let mean = residual.iter().sum::<f64>() / self.total_curvature;
                residual.iter_mut().zip(&self.curvatures).for_each(|(r, h)| *r -= mean * h);
            }
        }
        all
    }

    /// Returns the attributes that are no candidates yet and have the largest products: `2 count` by the
    /// first right side, and `count` by each other one.
    pub fn most(&self, products: &[Vec<f64>], squares: &[f64], count: usize) -> Result<Vec<u32>, SolveError> {
        let mut found = Vec::new();
        for (side, products) in products.iter().enumerate() {
            if let Some(index) = products.iter().position(|x| !x.is_finite()) {
                return Err(NotFinite { index, value: products[index] }.into());
            }
            let open = |j: &usize| self.places[*j] == NO_PLACE && squares[*j] > 0.0;
            let mut ranked: Vec<(f64, u32)> = (0..products.len())
                .filter(open)
                .map(|j| (products[j] * products[j] / squares[j], j as u32))
                .collect();
            let count = if side == 0 { 2 * count } else { count };
            if count < ranked.len() {
                ranked.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                ranked.truncate(count);
            }
            found.extend(ranked.into_iter().map(|(_, j)| j));
        }
        Ok(found)
    }
}
