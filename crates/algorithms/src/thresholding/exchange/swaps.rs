//! Exchanges between a support and other candidates, for a quadratic model in sums alone.
//!
//! *Notation*: `G` -> [`gram`](Swaps::gram), of the candidates C; `c` -> [`right`](Swaps::right); for the
//! support S, `K = G_SS^-1` -> `inverse`, `U = K G_SC` -> `solved`, `b = K c_S` -> `coefficients`; for a
//! candidate j, `q_j = c_j - G_jS b` -> `products`, `s_j = G_jj - G_jS K G_Sj` -> `squares`.
//!
//! Adding j explains `q_j^2 / s_j` more, dropping i explains `b_i^2 / K_ii` less, and both together, exactly,
//!
//! ```text
//! gain(i -> j) = (q_j + U_ij t_i)^2 / (s_j + U_ij^2 / K_ii) - b_i t_i,   t_i = b_i / K_ii.
//! ```
//!
//! Candidates may belong to groups, which are added, dropped and exchanged as a whole; the formulas for them
//! are in [`groups`](super::groups).

use super::groups::Groups;

/// The part of its square that a candidate must have beyond the support, if it is to be added.
pub(super) const INDEPENDENT: f64 = 1e-7;
/// Changes of the support after which everything is computed anew, since rounding errors add up: this number,
/// and so many for each attribute of the support.
const AFRESH: [usize; 2] = [50, 10];

/// Gains are the same if they differ by this part.
const SAME: f64 = 1e-9;
/// Searches that add and drop several attributes, at most.
const OSCILLATIONS: usize = 1000;

/// The state for one support; by default an empty one, among no candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct Swaps {
    /// `G_jj`.
    pub(super) diagonal: Vec<f64>,
    /// `c`.
    right: Vec<f64>,
    /// Rows of G that were needed so far, as far as they are known.
    pub(super) gram: Vec<Vec<f64>>,
    /// `S`, places among the candidates, in the order in which they were added.
    pub(super) support: Vec<usize>,
    is_member: Vec<bool>,
    /// Members that are never dropped.
    pub(super) is_fixed: Vec<bool>,
    /// `K`, a row for each member.
    pub(super) inverse: Vec<Vec<f64>>,
    /// `U`, a row for each member.
    pub(super) solved: Vec<Vec<f64>>,
    pub(super) coefficients: Vec<f64>,
    pub(super) products: Vec<f64>,
    squares: Vec<f64>,
    /// `c_S' b`: what the support explains.
    explained: f64,
    changes: usize,
    gains: Vec<f64>,
    /// The groups of the candidates; `None` if each stands for itself.
    pub(super) groups: Option<Groups>,
}

/// An exchange of candidates, by their places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Swap {
    /// What more is explained.
    pub gain: f64,
    pub drops: Vec<usize>,
    pub adds: Vec<usize>,
}

/// Where rows of G come from: appends the products of a candidate with all candidates from a place on.
pub(super) type Gram<'a> = &'a mut dyn FnMut(usize, usize, &mut Vec<f64>);

impl Swaps {
    /// Returns the support, as places among the candidates, and the coefficients.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.support.iter().copied().zip(self.coefficients.iter().copied())
    }

    /// Returns the number of candidates.
    pub fn candidates(&self) -> usize {
        self.diagonal.len()
    }

    /// Returns what the support explains.
    pub fn explained(&self) -> f64 {
        self.explained
    }

    /// Appends candidates, with the diagonal and the right side of each.
    pub fn extend(&mut self, diagonal: &[f64], right: &[f64], gram: Gram<'_>) {
        let from = self.diagonal.len();
        self.diagonal.extend_from_slice(diagonal);
        self.right.extend_from_slice(right);
        self.products.extend_from_slice(right);
        self.squares.extend_from_slice(diagonal);
        let all = self.diagonal.len();
        self.is_member.resize(all, false);
        self.is_fixed.resize(all, false);
        self.gram.resize_with(all, Vec::new);
        self.gains.resize(all, 0.0);
        for at in 0..self.support.len() {
            self.know(self.support[at], gram);
        }
        for (a, row) in self.solved.iter_mut().enumerate() {
            row.resize(all, 0.0);
            for (b, member) in self.support.iter().enumerate() {
                let weight = self.inverse[a][b];
                add_scaled(&mut row[from..], &self.gram[*member][from..], weight);
            }
        }
        for (a, member) in self.support.iter().enumerate() {
            let known = &self.gram[*member][from..];
            add_scaled(&mut self.products[from..], known, -self.coefficients[a]);
            let both = self.solved[a][from..].iter().zip(known);
            self.squares[from..].iter_mut().zip(both).for_each(|(s, (u, g))| *s -= u * g);
        }
    }

    /// Has the support keep these candidates for ever.
    pub fn fix(&mut self, candidates: impl Iterator<Item = usize>) {
        candidates.for_each(|j| self.is_fixed[j] = true);
    }

    /// Makes sure that a row of G is known.
    fn know(&mut self, j: usize, gram: Gram<'_>) {
        let (known, all) = (self.gram[j].len(), self.diagonal.len());
        if known < all {
            let mut row = std::mem::take(&mut self.gram[j]);
            gram(j, known, &mut row);
            self.gram[j] = row;
        }
    }

    /// Returns whether a candidate may be added.
    pub(super) fn is_open(&self, j: usize) -> bool {
        !self.is_member[j] && self.squares[j] > INDEPENDENT * self.diagonal[j]
    }

    /// Adds a candidate to the support.
    pub fn add(&mut self, j: usize, gram: Gram<'_>) {
        self.know(j, gram);
        let weights: Vec<f64> = self.solved.iter().map(|row| row[j]).collect();
        let mut beyond = self.gram[j].clone();
        for (member, weight) in self.support.iter().zip(&weights) {
            add_scaled(&mut beyond, &self.gram[*member], -weight);
        }
        let square = beyond[j];
        if !(square > 0.0 && square.is_finite()) {
            return;
        }
        let own = self.products[j];
        add_scaled(&mut self.products, &beyond, -own / square);
        self.squares.iter_mut().zip(&beyond).for_each(|(s, e)| *s -= e * e / square);
        for (a, weight) in weights.iter().enumerate() {
            add_scaled(&mut self.solved[a], &beyond, -weight / square);
            add_scaled(&mut self.inverse[a], &weights, weight / square);
            self.inverse[a].push(-weight / square);
            self.coefficients[a] -= weight * own / square;
        }
        self.inverse.push(weights.iter().map(|weight| -weight / square).chain([1.0 / square]).collect());
        self.coefficients.push(own / square);
        beyond.iter_mut().for_each(|e| *e /= square);
        self.solved.push(beyond);
        self.support.push(j);
        self.is_member[j] = true;
        self.explained += own * own / square;
        self.changes += 1;
    }

    /// Drops a member of the support.
    pub fn drop(&mut self, at: usize) {
        let mut column = self.inverse.swap_remove(at);
        let (own, coefficient) = (column.swap_remove(at), self.coefficients.swap_remove(at));
        let (solved, scaled) = (self.solved.swap_remove(at), coefficient / own);
        add_scaled(&mut self.products, &solved, scaled);
        self.squares.iter_mut().zip(&solved).for_each(|(s, u)| *s += u * u / own);
        for (a, row) in self.inverse.iter_mut().enumerate() {
            row.swap_remove(at);
            let weight = column[a];
            add_scaled(row, &column, -weight / own);
            add_scaled(&mut self.solved[a], &solved, -weight / own);
            self.coefficients[a] -= weight * scaled;
        }
        self.is_member[self.support.swap_remove(at)] = false;
        self.explained -= coefficient * scaled;
        self.changes += 1;
    }

    /// Returns the size of the support: the number of its members or, where there are groups, of these.
    pub fn size(&self) -> usize {
        self.groups.as_ref().map_or(self.support.len(), |groups| groups.count(&self.support))
    }

    /// Adds candidates until the support has this size: each time what explains most beside it, if it
    /// explains more than `rounding`.
    pub fn fill(&mut self, size: usize, rounding: f64, gram: Gram<'_>) {
        while self.size() < size {
            let best = match &self.groups {
                None => self.best_addition(rounding).map(|best| vec![best]),
                Some(groups) => groups.best_addition(self, rounding),
            };
            let (before, best) = (self.support.len(), best.unwrap_or_default());
            self.add_all(&best, gram);
            if self.support.len() == before {
                return;
            }
        }
    }

    /// Adds candidates, but for those that depend on the others.
    fn add_all(&mut self, candidates: &[usize], gram: Gram<'_>) {
        for &j in candidates {
            if candidates.len() == 1 || self.is_open(j) {
                self.add(j, gram);
            }
        }
    }

    fn drop_all(&mut self, candidates: &[usize]) {
        for j in candidates {
            if let Some(at) = self.support.iter().position(|member| member == j) {
                self.drop(at);
            }
        }
    }

    /// Of candidates that explain the same, such as all those that fit the labels exactly, the one that has
    /// most beyond the support is the best.
    fn best_addition(&self, rounding: f64) -> Option<usize> {
        let gain = |j: usize| self.products[j] * self.products[j] / self.squares[j];
        let beyond = |j: usize| self.squares[j] / self.diagonal[j];
        let mut best: Option<usize> = None;
        for j in (0..self.diagonal.len()).filter(|&j| self.is_open(j) && gain(j) > rounding) {
            let is_better = best.is_none_or(|best| {
                let (now, then) = (gain(j), gain(best));
                now > then * (1.0 + SAME) || now >= then * (1.0 - SAME) && beyond(j) > beyond(best)
            });
            if is_better {
                best = Some(j);
            }
        }
        best
    }

    /// Returns what explains least by itself, of what may be dropped.
    fn least(&self) -> Option<Vec<usize>> {
        if let Some(groups) = &self.groups {
            return groups.least(self);
        }
        let loss = |at: &usize| self.coefficients[*at].powi(2) / self.inverse[*at][*at];
        let droppable = (0..self.support.len()).filter(|at| !self.is_fixed[self.support[*at]]);
        droppable.min_by(|a, b| loss(a).total_cmp(&loss(b))).map(|at| vec![self.support[at]])
    }

    /// Returns the exchange that gains most.
    pub fn best_exchange(&mut self) -> Option<Swap> {
        if let Some(groups) = &self.groups {
            return groups.best_exchange(self);
        }
        let mut best: Option<(f64, usize, usize)> = None;
        for at in (0..self.support.len()).filter(|at| !self.is_fixed[self.support[*at]]) {
            let own = self.inverse[at][at];
            let (scaled, inverse) = (self.coefficients[at] / own, 1.0 / own);
            let loss = self.coefficients[at] * scaled;
            let all = self.solved[at].iter().zip(&self.products).zip(&self.squares).zip(&self.diagonal);
            for (gain, (((u, q), s), g)) in self.gains.iter_mut().zip(all) {
                let (product, square) = (q + u * scaled, s + u * u * inverse);
                *gain = if square > INDEPENDENT * g { product * product / square } else { 0.0 };
            }
            let least = best.map_or(f64::NEG_INFINITY, |(gain, ..)| gain) + loss;
            let largest = self.gains.iter().zip(&self.is_member).enumerate();
            let largest = largest.filter(|(_, (gain, member))| **gain > least && !**member);
            for (j, (&gain, _)) in largest {
                if best.is_none_or(|(other, ..)| gain - loss > other) {
                    best = Some((gain - loss, at, j));
                }
            }
        }
        best.map(|(gain, at, j)| Swap { gain, drops: vec![self.support[at]], adds: vec![j] })
    }

    /// Exchanges members for others as long as that gains more than `least`; returns whether it ever did.
    pub fn settle(&mut self, least: f64, gram: Gram<'_>) -> bool {
        let mut has_changed = false;
        // Each exchange gains, so that the loop ends; rounding errors must not keep it going.
        for _ in 0..1000 + 100 * self.support.len() {
            let Some(swap) = self.best_exchange().filter(|swap| swap.gain > least) else { break };
            debug_assert!(swap.gain.is_finite());
            self.exchange(&swap, gram);
            has_changed = true;
        }
        has_changed
    }

    /// Makes an exchange.
    pub fn exchange(&mut self, swap: &Swap, gram: Gram<'_>) {
        self.drop_all(&swap.drops);
        self.add_all(&swap.adds, gram);
        if self.changes > AFRESH[0] + AFRESH[1] * self.support.len() {
            let support = self.support.clone();
            self.restart(&support, gram);
        }
    }

    /// Computes the state of a support anew.
    pub fn restart(&mut self, support: &[usize], gram: Gram<'_>) {
        self.support.clear();
        self.inverse.clear();
        self.solved.clear();
        self.coefficients.clear();
        self.is_member.fill(false);
        self.products.clone_from(&self.right);
        self.squares.clone_from(&self.diagonal);
        self.explained = 0.0;
        for &j in support {
            if self.groups.is_none() || self.is_open(j) {
                self.add(j, gram);
            }
        }
        self.changes = 0;
    }

    /// Leaves a minimum for single exchanges, if one is near: adds one, two, four, ... candidates, drops as
    /// many, or the other way round, and exchanges; keeps what gains more than `least`. Returns whether
    /// anything was kept. (Oscillating search of Somol & Pudil 2000.)
    pub fn oscillate(&mut self, least: f64, rounding: f64, gram: Gram<'_>) -> bool {
        let (size, mut has_changed, mut depth, mut left) = (self.size(), false, 1, OSCILLATIONS);
        while depth <= size && left > 0 {
            left -= 1;
            let kept = [true, false].into_iter().any(|adds_first| {
                let (before, explained) = (self.support.clone(), self.explained);
                let (up, down) = if adds_first { (size + depth, size) } else { (size, size - depth) };
                self.resize(if adds_first { up } else { down }, rounding, gram);
                self.resize(size, rounding, gram);
                self.settle(least, gram);
                let gains = self.size() == size && self.explained > explained + least;
                if !gains {
                    self.restart(&before, gram);
                }
                gains
            });
            has_changed |= kept;
            depth = if kept { 1 } else { 2 * depth };
        }
        has_changed
    }

    /// Adds the best or drops the least until the support has this size.
    fn resize(&mut self, size: usize, rounding: f64, gram: Gram<'_>) {
        while self.size() > size
            && let Some(least) = self.least()
        {
            self.drop_all(&least);
        }
        self.fill(size, rounding, gram);
    }
}

fn add_scaled(sum: &mut [f64], terms: &[f64], weight: f64) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
}
