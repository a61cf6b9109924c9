//! Decisions after a block: the evidence, the support, and the attributes that are watched.

use super::fit::Fit;
use super::{
    CONFIDENCE, DROPPED_BELOW, DUE, LEAD, LEAST_SEEN, NOISE_AFTER_CHANGE, Pursuit, TIGHTEST_AT, TOLERANCE,
    WATCHED_ABOVE,
};

/// Returns the square that `z_j` must exceed after `n` observations.
fn boundary(dim: usize, level: f64, n: u64) -> f64 {
    let n = n.max(1) as f64;
    (1.0 + TIGHTEST_AT / n) * (2.0 * (dim as f64 / level).ln() + (n / TIGHTEST_AT).ln_1p())
}

impl Pursuit {
    fn fit(&mut self) {
        let noise = self.errors.mean();
        self.scratch.fit.solve(&self.support, &self.moments, &self.before, noise);
    }

    /// Computes `z_j` and the upper confidence bound of an attribute outside the support.
    fn weigh(&mut self, j: u32) {
        if self.support.binary_search(&j).is_ok() {
            return;
        }
        let at = j as usize;
        let n = self.moments.seen[at] as f64;
        let variance = self.moments.variance(j);
        (self.z[at], self.interest[at]) = (0.0, 0.0);
        if n == 0.0 {
            self.interest[at] = f64::MAX;
            return;
        }
        if variance == 0.0 {
            return;
        }
        let fit = &self.scratch.fit;
        let covariance = fit.covariance(j, &self.moments);
        let explained = self.explained[at];
        let rest = variance * (1.0 - explained).max(TOLERANCE / 2.0);
        let precise = variance * (1.0 / n - explained / fit.examples.max(n)).max(TOLERANCE / (2.0 * n));
        let noise = self.errors.mean() * self.moments.unevenness(j) * precise;
        let deviation = (noise + variance * fit.uneven(j, &self.moments)).sqrt();
        let z = covariance / deviation;
        let interest = (covariance.abs() + CONFIDENCE * deviation) / rest.sqrt();
        if z.is_finite() && interest.is_finite() {
            (self.z[at], self.interest[at]) = (z, interest);
        }
    }

    /// Returns whether the effect of `j` beyond the support is significant, and the support does not explain
    /// too much of `j`.
    fn significant(&self, j: u32) -> bool {
        let at = j as usize;
        let (n, z) = (self.moments.seen[at], self.z[at]);
        n >= LEAST_SEEN
            && z * z > boundary(self.params.dim, self.params.level, n)
            && 1.0 - self.explained[at] >= TOLERANCE
    }

    /// Changes the support, and then what is watched.
    pub(super) fn decide(&mut self) {
        self.fit();
        for at in 0..self.asked.len() {
            self.explain(self.asked[at]);
        }
        if self.moments.examples >= self.due {
            self.weigh_all();
        } else {
            for at in 0..self.asked.len() {
                self.weigh(self.asked[at]);
            }
        }
        self.scratch.support.clear();
        self.scratch.support.extend_from_slice(&self.support);
        self.add();
        self.drop_insignificant();
        if self.scratch.support != self.support {
            self.errors.forget(NOISE_AFTER_CHANGE);
            self.before.remember(&self.support, &self.moments);
            self.fit();
            for j in 0..self.params.dim as u32 {
                self.explain(j);
            }
            self.weigh_all();
        }
        self.renew_pool();
    }

    /// Computes how much the support explains of an attribute outside it: when the attribute was observed or
    /// the support changed, since that takes O(|S|^2).
    fn explain(&mut self, j: u32) {
        if self.support.binary_search(&j).is_err() {
            self.explained[j as usize] = self.scratch.fit.explained(j, &self.moments);
        }
    }

    /// Weighs all attributes, since the coefficients have changed, also of those that were not observed.
    fn weigh_all(&mut self) {
        self.due = self.moments.examples + self.moments.examples / DUE;
        for j in 0..self.params.dim as u32 {
            self.weigh(j);
        }
    }

    /// Adds the most significant attribute of the pool, as long as there is one and room for it. If there is
    /// no room, one may take the place of the least significant attribute of the support.
    fn add(&mut self) {
        loop {
            let z = |j: u32| self.z[j as usize].abs();
            let significant = self.pool.iter().copied().filter(|&j| self.significant(j));
            let Some(best) = significant.max_by(|&i, &j| z(i).total_cmp(&z(j))) else { return };
            let full = self.support.len() >= self.params.longest();
            if full {
                let Some((weakest, t)) = self.weakest() else { return };
                if z(best) < 1.2 * t {
                    return;
                }
                remove(&mut self.support, weakest);
                insert(&mut self.pool, weakest);
            }
            remove(&mut self.pool, best);
            insert(&mut self.support, best);
            self.fit();
            if full {
                return;
            }
            for at in 0..self.pool.len() {
                self.explain(self.pool[at]);
                self.weigh(self.pool[at]);
            }
        }
    }

    /// Returns the attribute of the support whose coefficient is smallest, in standard errors.
    fn weakest(&self) -> Option<(u32, f64)> {
        let Fit { support, coefficients, variances, .. } = &self.scratch.fit;
        let t = |(b, v): (&f64, &f64)| if *v > 0.0 { b.abs() / v.sqrt() } else { b.abs() * f64::MAX };
        let all = support.iter().copied().zip(coefficients.iter().zip(variances).map(t));
        let may = all.filter(|(j, _)| self.params.always.binary_search(j).is_err());
        may.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn drop_insignificant(&mut self) {
        while let Some((weakest, t)) = self.weakest() {
            if t >= DROPPED_BELOW {
                return;
            }
            remove(&mut self.support, weakest);
            insert(&mut self.pool, weakest);
            self.fit();
        }
    }

    /// Watches the attributes of largest `|z_j|`: a third of the budget that the support leaves.
    fn renew_pool(&mut self) {
        let Pursuit { params, moments, support, pool, z, order, scratch, .. } = self;
        let most = (params.budget - support.len()).div_ceil(3);
        let ranked = &mut scratch.ranked;
        ranked.clear();
        for (j, z) in (0..).zip(&*z).filter(|(_, z)| z.abs() > WATCHED_ABOVE - LEAD) {
            // What is watched stays watched, unless another attribute is clearly ahead.
            let ahead = z.abs() + if pool.binary_search(&j).is_ok() { LEAD } else { 0.0 };
            if ahead > WATCHED_ABOVE && support.binary_search(&j).is_err() {
                ranked.push((ahead, order[j as usize], j));
            }
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
