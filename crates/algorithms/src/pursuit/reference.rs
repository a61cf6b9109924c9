//! The [reference](crate::reference) of Pursuit.

use super::PursuitParams;
use crate::params::{ParamError, require};
use crate::reference::{Mismatch, Reference, Seen, dot};
use std::collections::{BTreeMap, BTreeSet};

// The constants of the method, stated a second time: a comparison with the learner shows one that was
// changed.

/// A block has 1/160 of the examples so far, but 10 to 512.
const BLOCKS: u64 = 160;
const FIRST_BLOCK: u64 = 10;
const LONGEST_BLOCK: u64 = 512;
/// With pages, a decision follows on a sixteenth of the blocks since the support changed, and at most 8.
const DECISIONS: u64 = 16;
const BLOCKS_PER_DECISION: u64 = 8;
/// All attributes are weighed again after a tenth more examples.
const DUE: u64 = 10;
/// An attribute is added if `z_j^2` is above the boundary that is tightest after 10 looks. Up to twice
/// the boundary it waits for others whose squared correlation with it is above a tenth, by at least 20
/// examples.
const TIGHTEST_AT: f64 = 10.0;
const WAITS_UNTIL: f64 = 2.0;
const STANDS_IN_ABOVE: f64 = 0.1;
const LEAST_SEEN: f64 = 20.0;
/// If there is no room, its evidence must be 1.2 times that of the attribute whose place it takes.
const EXCHANGED_ABOVE: f64 = 1.2;
/// The support explains less than nine tenths of it, and counts as explaining at most 19 twentieths.
const ALIKE: f64 = 0.9;
const LEAST_REST: f64 = 0.05;
/// It is dropped below 3 standard errors. With a half-life, it is then watched for one, as if it were at 3.
const DROPPED_BELOW: f64 = 3.0;
/// It may be watched above 1.5 standard deviations.
const WATCHED_ABOVE: f64 = 1.5;
/// It is looked at by its bound of 1.5 standard deviations.
const CONFIDENCE: f64 = 1.5;
/// Its values count as at most 4 standard deviations from their mean.
const WITHIN: f64 = 4.0;
/// The noise rests on 4,096 examples, and on 300 after a change or with a half-life.
const NOISE_MEMORY: f64 = 4096.0;
const NOISE_AFTER_CHANGE: f64 = 300.0;

/// [Pursuit](super), with sums over all pairs of attributes and an inverse for every least squares. It is
/// told which attributes were looked at beyond those that are watched, and decides all else. It knows no
/// prices.
#[derive(Clone, Debug)]
pub struct PursuitReference {
    params: PursuitParams,
    /// The examples of the current block: attributes, values, label.
    block: Vec<(Vec<u32>, Vec<f64>, f64)>,
    examples: f64,
    /// The sum of the weights of the examples.
    weight: f64,
    label_mean: f64,
    label_square: f64,
    all_errors: f64,
    seen: Vec<f64>,
    /// The number of examples in which an attribute was asked for.
    tried: Vec<f64>,
    /// Values of watched attributes that were missing.
    gaps: u64,
    mean: Vec<f64>,
    label: Vec<f64>,
    error: Vec<f64>,
    error_square: Vec<f64>,
    /// `sum u_j u_k` and its number of examples, since j or k is watched.
    products: Vec<Vec<f64>>,
    counts: Vec<Vec<f64>>,
    support: BTreeSet<usize>,
    pool: BTreeSet<usize>,
    /// The attributes that were ever added.
    added: BTreeSet<usize>,
    /// What was known when the support changed last.
    before: Before,
    /// The number of examples until which what was dropped is watched.
    watched_until: BTreeMap<usize, f64>,
    /// Sum and number of the squared errors.
    errors: (f64, f64),
    /// `Q_j`, `V_j` and `rho` of each attribute.
    e_processes: Vec<[f64; 3]>,
    z: Vec<f64>,
    /// The upper confidence bound of each attribute.
    bound: Vec<f64>,
    /// The part of each attribute's variance that the support explains.
    explained: Vec<f64>,
    fit: LeastSquares,
    intercept: f64,
    /// The number of examples after which all attributes are weighed again.
    due: f64,
    updates: u64,
    /// The attributes of the blocks since the last decision, and the blocks before the next.
    looked: BTreeSet<usize>,
    blocks_left: u64,
}

#[derive(Clone, Debug)]
struct Before {
    support: BTreeSet<usize>,
    examples: f64,
    weight: f64,
    gaps: u64,
    errors: f64,
    products: Vec<Vec<f64>>,
    label: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct LeastSquares {
    beta: Vec<f64>,
    inverse: Vec<Vec<f64>>,
    variances: Vec<f64>,
    examples: f64,
    noise: f64,
}

impl PursuitReference {
    /// Returns the reference for these parameters.
    ///
    /// # Errors
    /// Those of [`PursuitParams::build`].
    pub fn new(params: &PursuitParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        require(
            params.money.is_none(),
            "Pursuit",
            "money",
            "prices",
            "absent, since the reference counts attributes",
        )?;
        let d = params.dim;
        let (zeros, table) = (vec![0.0; d], vec![vec![0.0; d]; d]);
        let always: BTreeSet<usize> = params.always.iter().map(|&j| j as usize).collect();
        Ok(PursuitReference {
            block: Vec::new(),
            examples: 0.0,
            weight: 0.0,
            label_mean: 0.0,
            label_square: 0.0,
            all_errors: 0.0,
            seen: zeros.clone(),
            tried: zeros.clone(),
            gaps: 0,
            mean: zeros.clone(),
            label: zeros.clone(),
            error: zeros.clone(),
            error_square: zeros.clone(),
            products: table.clone(),
            counts: table.clone(),
            support: always.clone(),
            pool: BTreeSet::new(),
            added: BTreeSet::new(),
            before: Before {
                support: always,
                examples: 0.0,
                weight: 0.0,
                gaps: 0,
                errors: 0.0,
                products: table,
                label: zeros.clone(),
            },
            watched_until: BTreeMap::new(),
            errors: (0.0, 0.0),
            e_processes: vec![[0.0; 3]; d],
            z: zeros.clone(),
            bound: zeros.clone(),
            explained: zeros,
            fit: LeastSquares::default(),
            intercept: 0.0,
            due: 0.0,
            updates: 0,
            looked: BTreeSet::new(),
            blocks_left: 0,
            params: params.clone(),
        })
    }

    fn block_size(&self) -> usize {
        let within = self.params.half_life.map_or(LONGEST_BLOCK, |h| (h / 10.0) as u64);
        let block = (self.examples as u64 / BLOCKS).min(within).clamp(FIRST_BLOCK, LONGEST_BLOCK);
        match self.params.page {
            Some(page @ 2..) => (page * (block / page).max(1)) as usize,
            _ => block as usize,
        }
    }

    fn variance(&self, j: usize) -> f64 {
        let variance = self.products[j][j] / self.seen[j].max(1.0);
        if variance.sqrt() > 1e-12 * self.mean[j].abs() { variance } else { 0.0 }
    }

    fn noise(&self) -> f64 {
        self.errors.0 / self.errors.1.max(1.0)
    }

    fn remember_errors_of(&mut self, examples: f64) {
        let kept = (examples / self.errors.1).min(1.0);
        self.errors = (self.errors.0 * kept, self.errors.1 * kept);
    }

    fn covariance(&self, j: usize, k: usize) -> f64 {
        self.products[j][k] / self.counts[j][k].max(1.0)
    }

    /// The variance per variance of `j` that comes from sums over different examples.
    fn uneven(&self, j: usize, beta: &[f64]) -> f64 {
        let of = |(&k, b): (&usize, &f64)| {
            let more = 1.0 / self.counts[j][k].max(0.5) - 1.0 / self.seen[j].max(1.0);
            b * b * self.variance(k) * more.max(0.0)
        };
        self.support.iter().zip(beta).map(of).sum()
    }

    /// The value that counts in place of `x`.
    fn within(&self, j: usize, x: f64) -> f64 {
        let width = WITHIN * self.variance(j).sqrt();
        if width > 0.0 { x.max(self.mean[j] - width).min(self.mean[j] + width) } else { x }
    }

    /// Multiplies the weight of all examples so far.
    fn forget(&mut self, kept: f64) {
        let tables = [&mut self.products, &mut self.counts, &mut self.before.products];
        let lists =
            [&mut self.seen, &mut self.tried, &mut self.label, &mut self.error, &mut self.error_square];
        let all = tables.into_iter().flatten().chain(lists).chain([&mut self.before.label]);
        all.flatten().for_each(|x| *x *= kept);
        self.weight *= kept;
        self.before.weight *= kept;
        self.label_square *= kept;
        self.all_errors *= kept;
        self.before.errors *= kept;
    }

    fn learn(&mut self) {
        let mut block = std::mem::take(&mut self.block);
        let mut memory = NOISE_MEMORY;
        if let Some(half_life) = self.params.half_life {
            self.forget(0.5f64.powf(block.len() as f64 / half_life));
            memory = NOISE_AFTER_CHANGE.min(half_life / 2.0f64.ln());
        }
        for (_, x, _) in &mut block {
            x.iter_mut().enumerate().filter(|(_, x)| !x.is_nan()).for_each(|(j, x)| *x = self.within(j, *x));
        }
        let n = block.len() as f64;
        self.examples += n;
        self.weight += n;
        let total: f64 = block.iter().map(|(_, _, y)| y - self.label_mean).sum();
        self.label_mean += total / self.weight;
        if self.updates == 0 {
            self.intercept = self.label_mean;
        }
        let w = self.coefficients();
        // A gap counts as the mean.
        let error = |x: &[f64], y: f64| {
            let full: Vec<f64> =
                x.iter().zip(&self.mean).map(|(x, mean)| if x.is_nan() { *mean } else { *x }).collect();
            y - self.intercept - dot(&w, &full)
        };
        let errors: Vec<f64> = block.iter().map(|(_, x, y)| error(x, *y)).collect();
        if self.asks_e_processes() {
            block[0].0.iter().for_each(|&j| self.take_steps(j as usize, &block, &errors));
        }
        self.errors.0 += errors.iter().map(|r| r * r).sum::<f64>();
        self.errors.1 += n;
        self.all_errors += errors.iter().map(|r| r * r).sum::<f64>();
        self.label_square += block.iter().map(|(_, _, y)| (y - self.label_mean).powi(2)).sum::<f64>();
        self.remember_errors_of(memory);

        let asked: Vec<usize> = block[0].0.iter().map(|&j| j as usize).collect();
        for &j in &asked {
            self.tried[j] += n;
            let known: Vec<f64> = block.iter().map(|(_, x, _)| x[j]).filter(|x| !x.is_nan()).collect();
            self.seen[j] += known.len() as f64;
            if self.seen[j] > 0.0 {
                self.mean[j] += known.iter().map(|x| x - self.mean[j]).sum::<f64>() / self.seen[j];
            }
            if self.support.contains(&j) || self.pool.contains(&j) {
                self.gaps += (block.len() - known.len()) as u64;
            }
        }
        for ((_, x, y), r) in block.iter().zip(&errors) {
            let u = |j: usize| x[j] - self.mean[j];
            let known = |j: &&usize| !x[**j].is_nan();
            for &j in asked.iter().filter(known) {
                self.label[j] += u(j) * (y - self.label_mean);
                self.error[j] += r * r;
                self.error_square[j] += (u(j) * r).powi(2);
                for &k in asked.iter().filter(known) {
                    self.products[j][k] += u(j) * u(k);
                    self.counts[j][k] += 1.0;
                }
            }
        }
        self.updates += 1;
        self.looked.extend(asked);
        if self.blocks_left > 0 {
            self.blocks_left -= 1;
            return;
        }
        let looked: Vec<usize> = std::mem::take(&mut self.looked).into_iter().collect();
        self.decide(&looked);
        let w = self.coefficients();
        self.intercept = self.label_mean - dot(&w, &self.mean);
        self.blocks_left = self.blocks_before_decision();
    }

    fn blocks_before_decision(&self) -> u64 {
        let PursuitParams { dim, budget, page, half_life, never, .. } = &self.params;
        let watched = self.support.len() + self.pool.len();
        let (free, others) = (budget.min(dim) - watched, dim - watched - never.len());
        let once = others.checked_div(free).map_or(u64::MAX, |once| once as u64);
        let since = (self.examples - self.before.examples) as u64 / self.block_size() as u64;
        let blocks = (since / DECISIONS).min(BLOCKS_PER_DECISION).min(once);
        if page.unwrap_or(1) > 1 && half_life.is_none() { blocks.max(1) - 1 } else { 0 }
    }

    /// The steps of the e-process of `j`, which is outside the support.
    fn take_steps(&mut self, j: usize, block: &[(Vec<u32>, Vec<f64>, f64)], errors: &[f64]) {
        if self.support.contains(&j) {
            return;
        }
        // Where an attribute of the support is missing, its part is in the error.
        let known = |x: &[f64]| !x[j].is_nan() && self.support.iter().all(|&k| !x[k].is_nan());
        let (x, r): (Vec<f64>, Vec<f64>) = block
            .iter()
            .zip(errors)
            .filter(|((_, x, _), _)| known(x))
            .map(|((_, x, _), r)| (x[j], *r))
            .unzip();
        let m = x.len();
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let square = |x: &[f64]| x.iter().map(|v| (v - mean(x)).powi(2)).sum::<f64>();
        if m < 2 || square(&x) == 0.0 || square(&r) == 0.0 {
            return;
        }
        let variances = square(&x) / (m - 1) as f64 * square(&r) / (m - 1) as f64;
        let a = if self.noise() > 0.0 { 1.0 / self.noise() } else { (m - 1) as f64 / square(&r) };
        let [q, v, rho] = &mut self.e_processes[j];
        if *rho == 0.0 {
            *rho = TIGHTEST_AT * a * a * variances;
        }
        for i in 0..m - 1 {
            let e = r[i] - mean(&r[i + 1..]);
            let (d, c) = ((x[i] - mean(&x[i..])) * e, square(&x[i..]) / (m - i) as f64 * e * e);
            *q += a * d;
            *v += a * a * (d * d + 2.0 * c) / 3.0;
        }
    }

    /// `d / level`, or `d / (k q)` if `j` would be the k-th attribute that was ever added.
    fn needed(&self, j: usize) -> f64 {
        let PursuitParams { dim, level, fdr, .. } = self.params;
        let mut with_it = self.added.clone();
        with_it.insert(j);
        dim as f64 / fdr.map_or(level, |q| q * with_it.len() as f64)
    }

    /// Whether additions ask for an e-process.
    fn asks_e_processes(&self) -> bool {
        self.params.half_life.is_none() && self.gaps == 0
    }

    /// Whether the e-process of `j` is as large as its addition needs.
    fn e_process_allows(&self, j: usize) -> bool {
        let [q, v, rho] = self.e_processes[j];
        let e = (rho / (rho + v)).sqrt() * (q * q / (2.0 * (rho + v))).exp();
        !self.asks_e_processes() || e >= self.needed(j)
    }

    /// Least squares on the support, from all sums or from those since the support changed last.
    fn least_squares(&mut self) {
        let s: Vec<usize> = self.support.iter().copied().collect();
        let table = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            s.iter().map(|&j| s.iter().map(|&k| of(j, k)).collect()).collect()
        };
        let solve = |matrix: Vec<Vec<f64>>, right: Vec<f64>| {
            let inverse = inverse(matrix);
            (inverse.iter().map(|row| dot(row, &right)).collect::<Vec<f64>>(), inverse)
        };
        let right = s.iter().map(|&j| self.label[j] / self.seen[j].max(1.0)).collect();
        let (mut beta, mut inverse) = solve(table(&|j, k| self.covariance(j, k)), right);
        let mut examples = s.iter().map(|&j| self.seen[j]).fold(f64::INFINITY, f64::min);
        let mut noise = self.error_of(&s, &beta);
        let each = |j: &usize| noise * self.timing(*j) / self.seen[*j].max(1.0) + self.uneven(*j, &beta);
        let mut each: Vec<f64> = s.iter().map(each).collect();

        let Before { support, weight, gaps, errors, products, label, .. } = &self.before;
        let since = self.weight - weight;
        let k = s.len() as f64;
        let complete = *gaps == self.gaps;
        let mut of_later = false;
        let since_then = self.noise().max((self.all_errors - errors) / since);
        if complete
            && *support == self.support
            && since >= 8.0 * k
            && k * since_then / since < each.iter().sum()
        {
            let right = s.iter().map(|&j| (self.label[j] - label[j]) / since).collect();
            let matrix = table(&|j, k| (self.products[j][k] - products[j][k]) / since);
            (beta, inverse) = solve(matrix, right);
            examples = since;
            each.fill(since_then / since);
            noise = self.error_of(&s, &beta);
            of_later = true;
        }
        let mut variances: Vec<f64> = each.iter().enumerate().map(|(i, v)| v * inverse[i][i]).collect();
        if self.gaps > 0 && !of_later {
            variances = self.variances_with_gaps(&s, &beta, &inverse, noise);
        }
        self.fit = LeastSquares { beta, inverse, variances, examples, noise };
    }

    /// The diagonal of `A^-1 M A^-1`.
    fn variances_with_gaps(&self, s: &[usize], beta: &[f64], inverse: &[Vec<f64>], noise: f64) -> Vec<f64> {
        let size = s.len();
        let a = |i: usize, l: usize| self.covariance(s[i], s[l]);
        let n = |i: usize, l: usize| self.counts[s[i]][s[l]].max(1.0);
        let square = |i: usize, l: usize| a(i, i) * a(l, l) + a(i, l) * a(i, l);
        let own = |i: usize| {
            let others = (0..size).filter(|&l| l != i);
            let more =
                others.map(|l| beta[l].powi(2) * square(i, l) * (1.0 / n(i, l) - 1.0 / n(i, i)).max(0.0));
            noise * self.timing(s[i]) * a(i, i) / n(i, i) + more.sum::<f64>()
        };
        let m = |i: usize, l: usize| {
            if i == l {
                return own(i);
            }
            let shared = n(i, l) / (n(i, i) * n(l, l));
            let rates = own(i) * n(i, i) / a(i, i) * own(l) * n(l, l) / a(l, l);
            let gaps = (shared - 1.0 / n(i, i) - 1.0 / n(l, l) + 1.0 / n(i, l)).max(0.0);
            a(i, l) * shared * rates.sqrt() + beta[i] * beta[l] * square(i, l) * gaps
        };
        let of = |j: usize| {
            let pairs = (0..size).flat_map(|i| (0..size).map(move |l| (i, l)));
            pairs.map(|(i, l)| inverse[j][i] * m(i, l) * inverse[l][j]).sum::<f64>().max(0.0)
        };
        (0..size).map(of).collect()
    }

    /// The variance of the error of these coefficients over all examples, at least the recent one.
    fn error_of(&self, support: &[usize], beta: &[f64]) -> f64 {
        let both = || support.iter().zip(beta);
        let of_labels: f64 = both().map(|(&j, b)| b * self.label[j] / self.seen[j].max(1.0)).sum();
        let pairs = both().flat_map(|(&j, b)| both().map(move |(&k, c)| b * c * self.covariance(j, k)));
        let variance = self.label_square / self.weight.max(1.0) + pairs.sum::<f64>() - 2.0 * of_labels;
        variance.max(self.noise())
    }

    /// How much larger the errors are where `j` was observed than on average.
    fn timing(&self, j: usize) -> f64 {
        let ratio = (self.error[j] / self.seen[j]) / (self.all_errors / self.weight);
        let by_chance = 4.0 / self.seen[j].max(1.0).sqrt();
        if ratio > 1.0 + by_chance { ratio - by_chance } else { 1.0 }
    }

    fn explain(&mut self, j: usize) {
        let c: Vec<f64> = self.support.iter().map(|&k| self.covariance(j, k)).collect();
        let of_all = self.fit.inverse.iter().zip(&c).map(|(row, a)| a * dot(row, &c)).sum::<f64>();
        let by_chance = self.support.len() as f64 / self.seen[j].max(1.0);
        let left = (1.0 - of_all / self.variance(j)) / (1.0 - by_chance).max(0.0);
        self.explained[j] = if left.is_finite() { (1.0 - left).clamp(0.0, 1.0) } else { 0.0 };
    }

    fn weigh(&mut self, j: usize) {
        let (n, variance) = (self.seen[j], self.variance(j));
        (self.z[j], self.bound[j]) = (0.0, 0.0);
        if n == 0.0 {
            return;
        }
        let available = ((n + 1.0) / (self.tried[j] + 1.0)).sqrt();
        if variance == 0.0 {
            self.bound[j] = CONFIDENCE * (self.fit.noise / n).sqrt() * available;
            return;
        }
        let s: Vec<usize> = self.support.iter().copied().collect();
        let c: Vec<f64> = s.iter().map(|&k| self.covariance(j, k)).collect();
        let g = self.label[j] / n - dot(&c, &self.fit.beta);
        let explained = self.explained[j];
        let uneven_errors = if self.asks_e_processes() {
            1.0
        } else {
            self.error_square[j] * n / (self.products[j][j] * self.error[j])
        };
        let precise = variance * (1.0 / n - explained / self.fit.examples.max(n)).max(LEAST_REST / n);
        let of_noise = self.fit.noise * self.timing(j) * (uneven_errors - 4.0 / n.sqrt()).max(1.0) * precise;
        let deviation = (of_noise + variance * self.uneven(j, &self.fit.beta)).sqrt();
        self.z[j] = g / deviation;
        let rest = variance * (1.0 - explained).max(LEAST_REST);
        self.bound[j] = (g.abs() + CONFIDENCE * deviation) / rest.sqrt() * available;
    }

    /// Whether `j` waits for another attribute, which it may stand in for.
    fn waits(&self, j: usize) -> bool {
        (0..self.params.dim).filter(|i| !self.support.contains(i)).any(|i| {
            let correlated =
                self.covariance(i, j).powi(2) > STANDS_IN_ABOVE * self.variance(i) * self.variance(j);
            let known = self.counts[i][j] >= LEAST_SEEN && self.explained[i] < ALIKE;
            correlated && known && self.seen[i] < self.seen[j] && self.bound[i] > self.bound[j]
        })
    }

    fn weigh_all(&mut self) {
        self.due = self.examples + (self.weight.floor() / DUE as f64).floor();
        let outside: Vec<usize> = (0..self.params.dim).filter(|j| !self.support.contains(j)).collect();
        outside.into_iter().for_each(|j| self.weigh(j));
    }

    fn decide(&mut self, asked: &[usize]) {
        let old = self.support.clone();
        self.least_squares();
        for &j in asked.iter().filter(|j| !old.contains(j)) {
            self.explain(j);
            self.weigh(j);
        }
        if self.examples >= self.due {
            self.weigh_all();
        }
        loop {
            let significant = |j: &usize| {
                let bound = 2.0 * self.needed(*j).ln() + (1.0 + self.seen[*j] / TIGHTEST_AT).ln();
                let evidence = self.z[*j].powi(2) / ((1.0 + TIGHTEST_AT / self.seen[*j]) * bound);
                self.explained[*j] < ALIKE
                    && evidence > 1.0
                    && self.e_process_allows(*j)
                    && (evidence > WAITS_UNTIL || !self.waits(*j))
            };
            let z = |j: usize| self.z[j].abs();
            let candidates = self.pool.iter().copied().filter(significant);
            let Some(best) = candidates.max_by(|&i, &j| z(i).total_cmp(&z(j))) else { break };
            let full = self.support.len() >= self.params.largest_support();
            if full {
                let Some((weakest, t)) = self.weakest() else { break };
                if z(best) < EXCHANGED_ABOVE * t {
                    break;
                }
                self.support.remove(&weakest);
                self.pool.insert(weakest);
            }
            self.pool.remove(&best);
            self.support.insert(best);
            self.added.insert(best);
            self.least_squares();
            if full {
                break;
            }
            for j in self.pool.clone() {
                self.explain(j);
                self.weigh(j);
            }
        }
        while let Some((weakest, t)) = self.weakest() {
            if t >= DROPPED_BELOW {
                break;
            }
            self.support.remove(&weakest);
            self.pool.insert(weakest);
            if let Some(half_life) = self.params.half_life {
                self.watched_until.insert(weakest, self.examples + half_life.floor());
            }
            self.least_squares();
        }
        if self.support != old {
            self.remember_errors_of(NOISE_AFTER_CHANGE);
            self.before = Before {
                support: self.support.clone(),
                examples: self.examples,
                weight: self.weight,
                gaps: self.gaps,
                errors: self.all_errors,
                products: self.products.clone(),
                label: self.label.clone(),
            };
            self.least_squares();
            for j in (0..self.params.dim).filter(|j| !self.support.contains(j)).collect::<Vec<_>>() {
                self.explain(j);
            }
            self.weigh_all();
        }
        for (i, &j) in self.support.iter().enumerate() {
            self.z[j] = self.fit.beta[i] / self.fit.variances[i].sqrt();
        }
        self.watch();
    }

    fn weakest(&self) -> Option<(usize, f64)> {
        let t = |(b, v): (&f64, &f64)| if *v > 0.0 { b.abs() / v.sqrt() } else { b.abs() * f64::MAX };
        let all = self.support.iter().copied().zip(self.fit.beta.iter().zip(&self.fit.variances).map(t));
        let may = all.filter(|(j, _)| !self.params.always.contains(&(*j as u32)));
        may.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn watch(&mut self) {
        let dropped = |j: usize| self.watched_until.get(&j).is_some_and(|until| self.examples < *until);
        let z = |j: usize| self.z[j].abs().max(if dropped(j) { DROPPED_BELOW } else { 0.0 });
        let mut ranked: Vec<usize> =
            (0..self.params.dim).filter(|&j| z(j) > WATCHED_ABOVE && !self.support.contains(&j)).collect();
        ranked.sort_by(|&i, &j| z(j).total_cmp(&z(i)));
        ranked.truncate((self.params.budget - self.support.len()).div_ceil(3));
        let pool: BTreeSet<usize> = ranked.into_iter().collect();
        let stay: BTreeSet<usize> = &(&pool & &self.pool) | &self.support;
        let mut watched = stay;
        for &k in pool.difference(&self.pool.clone()) {
            // Products with attributes that were not watched are forgotten.
            for j in (0..self.params.dim).filter(|j| *j != k && !watched.contains(j)) {
                (self.products[j][k], self.counts[j][k]) = (0.0, 0.0);
                (self.products[k][j], self.counts[k][j]) = (0.0, 0.0);
            }
            watched.insert(k);
        }
        self.pool = pool;
    }
}

/// Gauss-Jordan elimination without exchanges, which a positive definite matrix does not need.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let mut b: Vec<Vec<f64>> = (0..n).map(unit).collect();
    for i in 0..n {
        let pivot = a[i][i];
        a[i].iter_mut().chain(b[i].iter_mut()).for_each(|x| *x /= pivot);
        let (row, unit) = (a[i].clone(), b[i].clone());
        for j in (0..n).filter(|&j| j != i) {
            let factor = a[j][i];
            a[j].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            b[j].iter_mut().zip(&unit).for_each(|(x, y)| *x -= factor * y);
        }
    }
    b
}

impl Reference for PursuitReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        seen.fits(self.params.dim)?;
        let watched = self.support.iter().chain(&self.pool).all(|&j| seen.asked.contains(&(j as u32)));
        let same = self.block.first().is_none_or(|(asked, _, _)| asked == seen.asked);
        let ok = watched && same && seen.asked.len() == self.params.budget.min(self.params.dim);
        seen.require(ok, "asks for the watched attributes, and for the same others during a whole block")?;
        self.block.push((seen.asked.to_vec(), seen.x.to_vec(), seen.label));
        if self.block.len() == self.block_size() {
            self.learn();
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.params.dim];
        self.support.iter().zip(&self.fit.beta).for_each(|(&j, &b)| w[j] = b);
        w
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        let x: Vec<f64> = seen.x.iter().enumerate().map(|(j, x)| self.within(j, *x)).collect();
        Ok(self.intercept + dot(&self.coefficients(), &x))
    }
}
