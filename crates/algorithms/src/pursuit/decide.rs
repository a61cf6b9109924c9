//! Decisions after a block: the evidence, the support, and the attributes that are watched.

use super::fit::{Beside, Fit, LANES, filled};
use super::{
    ALIKE, CONFIDENCE, DROPPED_BELOW, DUE, Dropped, EXCHANGED_ABOVE, LEAST_SEEN, NOISE_AFTER_CHANGE, Pursuit,
    PursuitParams, Rule, STANDS_IN_ABOVE, Scratch, TIGHTEST_AT, WAITS_UNTIL, WATCHED_ABOVE,
};
use crate::money::Money;
use lao_observation::Basket;

/// Returns the square that `z_j` must exceed after `n` observations, if the e-process needs `needed`.
fn boundary(needed: f64, n: f64) -> f64 {
    (1.0 + TIGHTEST_AT / n) * (2.0 * needed.ln() + (n / TIGHTEST_AT).ln_1p())
}

impl Pursuit {
    /// Returns the examples until attribute j, observed in `seen` of them so far, is expected to be
    /// significant: z grows with the square root of the observations.
    pub(super) fn until_added(&self, j: u32, seen: f64, z: f64) -> Option<u64> {
        const SEARCH_END: f64 = 1e15;
        if z.abs() < 1.0 || seen < 1.0 {
            return None;
        }
        let Pursuit { pool, moments, .. } = self;
        let needed = self.needed(j);
        let enough = |n: f64| z * z * (n / seen) > boundary(needed, n) && self.e_process_allows(j, n / seen);
        let (mut low, mut high) = (seen, seen);
        while !enough(high) {
            (low, high) = (high, 2.0 * high);
            if high > SEARCH_END {
                return None;
            }
        }
        while high - low > 0.01 * high {
            let middle = (low + high) / 2.0;
            if enough(middle) { high = middle } else { low = middle }
        }
        let share = if pool.binary_search(&j).is_ok() { 1.0 } else { seen / moments.weight().max(seen) };
        // The weight of more examples than that is never reached.
        if high > self.params.memory() * share {
            return None;
        }
        Some(((high - seen) / share).ceil().max(1.0) as u64)
    }

    fn fit(&mut self) {
        let noise = self.errors.mean();
        self.scratch.fit.solve(&self.support, &self.moments, &self.before, noise);
    }

    /// Computes `z_j` and the upper confidence bound of each attribute of the list; with `explain` also how
    /// much the support explains of it, which takes O(|S|^2). The list has no attribute of the support.
    fn weigh(&mut self, explain: bool) {
        let asks_e_processes = self.asks_e_processes();
        let Pursuit { moments, z, interest, explained, scratch, .. } = self;
        let Scratch { fit, list, .. } = scratch;
        let confidence = if moments.has(Rule::Bound) { CONFIDENCE } else { 0.0 };
        let noise = fit.noise;
        // 3. Several attributes are held against the support at a time.
        for group in list.chunks(LANES) {
            let attributes = filled(group);
            let Beside { covariance, uneven } = fit.beside(attributes, moments);
            if explain {
                let parts = fit.explained(attributes, moments);
                group.iter().zip(parts).for_each(|(&j, part)| explained[j as usize] = part);
            }
            for (lane, &j) in group.iter().enumerate() {
                let at = j as usize;
                let n = moments.seen[at];
                let variance = moments.variance(j);
                (z[at], interest[at]) = (0.0, 0.0);
                let available = moments.availability(j).sqrt();
                if n == 0.0 {
                    // Of what was always missing, nothing is known but that.
                    let most = confidence * noise.sqrt() * available;
                    interest[at] = if moments.untried(j) { f64::MAX } else { most };
                    continue;
                }
                if variance == 0.0 {
                    // What has not varied yet may be rare: it is looked at as often as what has no effect.
                    let of_unvaried = if moments.has(Rule::BoundOfUnvaried) { confidence } else { 0.0 };
                    interest[at] = of_unvaried * (noise / n).sqrt() * available;
                    continue;
                }
                let (covariance, uneven, explained) = (covariance[lane], uneven[lane], explained[at]);
                let rest = variance * (1.0 - explained).max((1.0 - ALIKE) / 2.0);
                let precise =
                    variance * (1.0 / n - explained / fit.examples.max(n)).max((1.0 - ALIKE) / (2.0 * n));
                // The e-process asks for as much where errors are uneven.
                let unevenness = if asks_e_processes { 1.0 } else { moments.unevenness(j) };
                let of_noise = noise * moments.timing(j) * unevenness * precise;
                let deviation = (of_noise + variance * uneven).sqrt();
                let score = covariance / deviation;
                let bound = (covariance.abs() + confidence * deviation) / rest.sqrt() * available;
                if score.is_finite() && bound.is_finite() {
                    (z[at], interest[at]) = (score, bound);
                }
            }
        }
    }

    /// Returns whether the effect of `j` beyond the support is significant, and the support does not explain
    /// too much of `j`.
    pub(super) fn significant(&self, j: u32) -> bool {
        let at = j as usize;
        let (n, z) = (self.moments.seen[at], self.z[at]);
        let is_apart = self.explained[at] < ALIKE || !self.moments.has(Rule::Apart);
        z * z > boundary(self.needed(j), n) && is_apart && self.e_process_allows(j, 1.0)
    }

    /// Returns whether the e-process of `j` allows its addition, or is expected to after `growth` times as
    /// many looks.
    fn e_process_allows(&self, j: u32, growth: f64) -> bool {
        !self.asks_e_processes() || self.e_processes.log(j, growth) >= self.needed(j).ln()
    }

    /// Returns the evidence that the addition of `j` needs: `d/level`, or `d/(k q)` if `j` would be the k-th
    /// attribute that was ever added.
    fn needed(&self, j: u32) -> f64 {
        let PursuitParams { dim, level, fdr, .. } = self.params;
        let count = self.added.len() + usize::from(self.added.binary_search(&j).is_err());
        dim as f64 / fdr.map_or(level, |q| count as f64 * q)
    }

    /// Returns the support and the best of the other attributes, ascending: as many as the budget buys
    /// together, and at most so many. The best are those of largest `(e_j - 1) / sqrt(n_j)`, per square root
    /// of the price, where `effect` gets an attribute and `|z_j|` and returns `e_j`: if that is `|z_j|`, a
    /// lower confidence bound of the effect beyond the support. Those of which it is not positive, or which
    /// the support explains, are left out.
    pub(crate) fn support_and_best(&self, most: usize, effect: impl Fn(u32, f64) -> f64) -> Vec<u32> {
        let Pursuit { params, support, moments, z, explained, order, .. } = self;
        let mut ranked: Vec<(f64, u32, u32)> = Vec::new();
        for (j, place) in (0..).zip(order) {
            let (at, money) = (j as usize, params.money.as_ref());
            let n = moments.seen[at];
            let effect = (effect(j, z[at].abs()) - 1.0) / n.max(1.0).sqrt();
            let is_open = n >= LEAST_SEEN as f64 && explained[at] < ALIKE && effect > 0.0;
            if is_open && support.binary_search(&j).is_err() && params.never.binary_search(&j).is_err() {
                let worth = money.map_or(effect, |money| money.per_money(effect, money.tariff.price(j)));
                ranked.push((worth, *place, j));
            }
        }
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut best = support.clone();
        let mut basket = Basket::default();
        if let Some(money) = &params.money {
            support.iter().for_each(|&j| basket.add(&money.tariff, j));
        }
        for (_, _, j) in ranked {
            let buys = |money: &Money| basket.buy(&money.tariff, j, money.per_example);
            if best.len() < params.budget.min(most) && params.money.as_ref().is_none_or(buys) {
                best.push(j);
            }
        }
        best.sort_unstable();
        best
    }

    /// Changes the support, and then what is watched.
    pub(super) fn decide(&mut self) {
        self.fit();
        self.weigh_looked();
        // 4. The other attributes are weighed when they are due.
        if self.moments.examples >= self.due {
            self.weigh_all(false);
        }
        self.scratch.support.clear();
        self.scratch.support.extend_from_slice(&self.support);
        self.scratch.most_cost = self.params.most_per_prediction();
        self.add();
        self.drop_insignificant();
        self.exchange();
        if self.scratch.support != self.support {
            if self.moments.has(Rule::NoiseAfterChange) {
                self.errors.forget(NOISE_AFTER_CHANGE);
            }
            self.before.remember(&self.support, &self.moments);
            self.fit();
            self.weigh_all(true);
        }
        self.renew_pool();
    }

    /// Weighs the attributes outside the support that were observed since the last decision.
    fn weigh_looked(&mut self) {
        let Pursuit { support, looked, scratch, .. } = self;
        scratch.list.clear();
        scratch.list.extend(looked.iter().filter(|j| support.binary_search(j).is_err()));
        self.weigh(true);
    }

    /// Weighs the watched attributes outside the support.
    fn weigh_pool(&mut self) {
        let Pursuit { pool, scratch, .. } = self;
        scratch.list.clone_from(pool);
        self.weigh(true);
    }

    /// (4) Weighs all attributes outside the support that were ever observed, since the coefficients have
    ///    changed. There is no evidence on the others.
    fn weigh_all(&mut self, explain: bool) {
        self.due = self.moments.examples + self.moments.weight() as u64 / DUE;
        let Pursuit { params, support, moments, scratch, .. } = self;
        let mut of_support = support.iter().copied().peekable();
        scratch.list.clear();
        let outside = |j: &u32| of_support.next_if_eq(j).is_none();
        let seen = |j: &u32| moments.seen[*j as usize] > 0.0;
        scratch.list.extend((0..params.dim as u32).filter(outside).filter(seen));
        self.weigh(explain);
    }

    /// Adds the most significant attribute of the pool, as long as there is one and room for it. If there is
    /// no room, one may take the place of the least significant attribute of the support.
    fn add(&mut self) {
        while let Some(best) = self.best() {
            let full = self.support.len() >= self.params.largest_support() || !self.pays_for(best, None);
            if full {
                let Some((weakest, t)) = self.weakest() else { return };
                let of_best = self.worth(best, Some(weakest), self.z[best as usize].abs());
                let ahead = if self.moments.has(Rule::Exchange) { EXCHANGED_ABOVE } else { 1.0 };
                if of_best < ahead * self.worth(weakest, None, t) {
                    return;
                }
                remove(&mut self.support, weakest);
                insert(&mut self.pool, weakest);
            }
            remove(&mut self.pool, best);
            insert(&mut self.support, best);
            if self.params.fdr.is_some() {
                insert(&mut self.added, best);
            }
            self.fit();
            if full {
                return;
            }
            self.weigh_pool();
        }
    }

    /// Returns the watched attribute with the strongest significant evidence, per money if there are prices;
    /// of equals the last.
    fn best(&mut self) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for at in 0..self.pool.len() {
            let j = self.pool[at];
            let worth = self.worth(j, None, self.z[j as usize].abs());
            let ahead = best.is_none_or(|(most, _)| worth.total_cmp(&most).is_ge());
            if ahead && self.significant(j) && self.has_a_place(j) && !self.waits(j) {
                best = Some((worth, j));
            }
        }
        best.map(|(_, j)| j)
    }

    /// Returns whether `j`, which is significant, may only stand in for another attribute and waits for it:
    /// one that `j` explains in part, that may explain more of the label, that was observed less often, and
    /// that costs no more. Evidence that is strong enough ends the wait.
    fn waits(&self, j: u32) -> bool {
        let Pursuit { support, moments, z, interest, explained, params, .. } = self;
        let Some(slot) = moments.pairs.slot(j) else { return false };
        let (bound, seen) = (interest[j as usize], moments.seen[j as usize]);
        let is_strong = z[j as usize].powi(2) > WAITS_UNTIL * boundary(self.needed(j), seen);
        if is_strong || !moments.has(Rule::Wait) {
            return false;
        }
        let explains = |i: u32| {
            let ((_, count), product) = (moments.pair(i, slot), moments.product(i, slot));
            count >= LEAST_SEEN as f64
                && product * product > STANDS_IN_ABOVE * moments.variance(i) * moments.variance(j)
        };
        (0..params.dim as u32).any(|i| {
            let at = i as usize;
            interest[at] > bound
                && moments.seen[at] < seen
                && explains(i)
                && explained[at] < ALIKE
                && self.price(i, None) <= self.price(j, None)
                && support.binary_search(&i).is_err()
        })
    }

    /// Returns whether the money of a predictor pays for the support with `j`, or with `j` in the place of
    /// the weakest attribute.
    fn has_a_place(&mut self, j: u32) -> bool {
        self.params.money.is_none()
            || self.pays_for(j, None)
            || self.weakest().is_some_and(|(weakest, _)| self.pays_for(j, Some(weakest)))
    }

    /// Returns whether the money of a predictor pays for the support with `j`, and without an attribute.
    fn pays_for(&mut self, j: u32, without: Option<u32>) -> bool {
        let Pursuit { params: PursuitParams { money, .. }, support, scratch, .. } = self;
        let Some(Money { tariff, .. }) = money else { return true };
        let Scratch { basket, most_cost, .. } = scratch;
        basket.empty();
        support.iter().filter(|&&k| Some(k) != without).for_each(|&k| basket.add(tariff, k));
        basket.buy(tariff, j, *most_cost)
    }

    /// Returns what evidence `z` on attribute `j`, or on `j` in the place of another one, counts: per money,
    /// if there are prices.
    fn worth(&self, j: u32, without: Option<u32>, z: f64) -> f64 {
        self.params.money.as_ref().map_or(z, |money| money.per_money(z, self.price(j, without)))
    }

    /// Returns what attribute `j` costs beside the others of the support, without one of them; 0 if there are
    /// no prices.
    pub(super) fn price(&self, j: u32, without: Option<u32>) -> f64 {
        let Some(Money { tariff, .. }) = &self.params.money else { return 0.0 };
        tariff.price_beside(j, self.support.iter().copied().filter(|&k| Some(k) != without))
    }

    /// Puts cheaper attributes in the place of those of the support that cannot be told apart from them.
    fn exchange(&mut self) {
        if self.params.money.is_none() {
            return;
        }
        self.scratch.list.clone_from(&self.support);
        for at in 0..self.scratch.list.len() {
            let j = self.scratch.list[at];
            let Some(k) = self.cheapest_like(j) else { continue };
            remove(&mut self.support, j);
            if self.pool.binary_search(&k).is_ok() {
                remove(&mut self.pool, k);
                insert(&mut self.pool, j);
            } else {
                self.moments.pairs.unwatch(j);
                self.moments.watch(k);
            }
            insert(&mut self.support, k);
        }
    }

    /// Returns the cheapest attribute outside the support of which attribute `j` of the support explains
    /// nearly all, if one is cheaper than `j`.
    pub(super) fn cheapest_like(&self, j: u32) -> Option<u32> {
        let Pursuit { params, support, moments, .. } = self;
        let slot = moments.pairs.slot(j)?;
        let price = |k: u32| self.price(k, Some(j));
        let may = |k: u32| {
            let kept = params.always.binary_search(&j).is_ok() || params.never.binary_search(&k).is_ok();
            !kept && support.binary_search(&k).is_err()
        };
        let like = |k: u32| {
            let ((_, count), product) = (moments.pair(k, slot), moments.product(k, slot));
            let of_both = ALIKE * moments.variance(j) * moments.variance(k);
            count >= LEAST_SEEN as f64 && of_both > 0.0 && product * product >= of_both
        };
        let all = (0..params.dim as u32).filter(|&k| like(k) && may(k) && price(k) < price(j));
        all.min_by(|&a, &b| price(a).total_cmp(&price(b)))
    }

    /// Returns the attribute of the support whose coefficient is smallest, in standard errors.
    fn weakest(&self) -> Option<(u32, f64)> {
        let Fit { support, coefficients, variances, .. } = &self.scratch.fit;
        let t = |(b, v): (&f64, &f64)| if *v > 0.0 { b.abs() / v.sqrt() } else { b.abs() * f64::MAX };
        let all = support.iter().copied().zip(coefficients.iter().zip(variances).map(t));
        let may = all.filter(|(j, _)| self.params.always.binary_search(j).is_err());
        may.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Drops what is not significant. With a half-life, its effect may have changed its sign: its sums say
    /// "no effect" then, with the weight of all examples that they still hold, and it would not be looked at
    /// again before these are forgotten.
    fn drop_insignificant(&mut self) {
        while let Some((weakest, t)) = self.weakest() {
            if t >= DROPPED_BELOW || !self.moments.has(Rule::Drop) {
                return;
            }
            remove(&mut self.support, weakest);
            insert(&mut self.pool, weakest);
            if let Some(half_life) = self.params.half_life {
                let watched_until = self.moments.examples + half_life as u64;
                self.dropped.push(Dropped { attribute: weakest, watched_until });
            }
            self.fit();
        }
    }

    /// Watches the attributes of largest `|z_j|`: a third of the budget that the support leaves, and of the
    /// money.
    fn renew_pool(&mut self) {
        let Pursuit { params, moments, support, pool, dropped, z, order, scratch, .. } = self;
        dropped.retain(|of| moments.examples < of.watched_until && moments.has(Rule::WatchDropped));
        let rest = params.budget - support.len();
        let most = if moments.has(Rule::Third) { rest.div_ceil(3) } else { rest };
        let ranked = &mut scratch.ranked;
        ranked.clear();
        for (j, z) in (0..).zip(&*z) {
            // What was dropped counts as if it were still significant.
            let least = if dropped.iter().any(|of| of.attribute == j) { DROPPED_BELOW } else { 0.0 };
            let z = z.abs().max(least);
            if z > WATCHED_ABOVE && support.binary_search(&j).is_err() {
                ranked.push((z, order[j as usize], j));
            }
        }
        if let Some(Money { tariff, per_example, .. }) = &params.money {
            ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let basket = &mut scratch.basket;
            basket.empty();
            support.iter().for_each(|&j| basket.add(tariff, j));
            let third = basket.cost() + (per_example - basket.cost()) / 3.0;
            ranked.retain(|&(_, _, j)| {
                let within = basket.cost() < third || basket.more(tariff, j) == 0.0;
                within && basket.buy(tariff, j, *per_example)
            });
        }
        keep_largest(ranked, most);
        let kept = &mut scratch.support;
        kept.clear();
        kept.extend(ranked.iter().map(|&(_, _, j)| j));
        kept.sort_unstable();
        pool.iter().filter(|j| kept.binary_search(j).is_err()).for_each(|&j| moments.pairs.unwatch(j));
        kept.iter().filter(|j| pool.binary_search(j).is_err()).for_each(|&j| moments.watch(j));
        std::mem::swap(pool, kept);
    }
}

/// Keeps the `most` largest; of equals, those that come first in the order.
pub(super) fn keep_largest(ranked: &mut Vec<(f64, u32, u32)>, most: usize) {
    if most < ranked.len() {
        if most > 0 {
            ranked.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        ranked.truncate(most);
    }
}

fn insert(set: &mut Vec<u32>, j: u32) {
    if let Err(place) = set.binary_search(&j) {
        set.insert(place, j);
    }
}

fn remove(set: &mut Vec<u32>, j: u32) {
    if let Ok(place) = set.binary_search(&j) {
        set.remove(place);
    }
}
