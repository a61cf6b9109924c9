//! Groups of candidates that enter and leave a support together.
//!
//! *Notation*: as in [`swaps`](super::swaps), with a group in the place of a candidate: for groups I of the
//! support and J outside, `S_JJ = G_JJ - G_JS K G_SJ`,
//!
//! ```text
//! adding J explains q_J' S_JJ^-1 q_J more, dropping I explains b_I' t_I less,   t_I = K_II^-1 b_I
//! gain(I -> J) = q'' (S_JJ + U_IJ' K_II^-1 U_IJ)^-1 q'' - b_I' t_I,   q'' = q_J + U_IJ' t_I
//! ```
//!
//! Of attributes of a group that depend on the others and the support, such as the last word of a column, the
//! later ones are left out.

use super::swaps::{INDEPENDENT, Swap, Swaps};
use std::collections::BTreeMap;

/// The groups of the candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// The group of each candidate.
    of: Vec<u32>,
    members: BTreeMap<u32, Group>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    /// Places among the candidates.
    places: Vec<usize>,
    /// `G_JJ`, row by row.
    gram: Vec<f64>,
}

impl Groups {
    /// Appends candidates of these groups, whose members come together. `entry` is an entry of G.
    pub fn extend(&mut self, groups: &[u32], entry: impl Fn(usize, usize) -> f64) {
        let from = self.of.len();
        self.of.extend_from_slice(groups);
        for (place, group) in (from..).zip(groups) {
            self.members.entry(*group).or_default().places.push(place);
        }
        for group in groups {
            if let Some(Group { places, gram }) = self.members.get_mut(group)
                && gram.len() < places.len() * places.len()
            {
                *gram = places
                    .iter()
                    .flat_map(|&a| places.iter().map(move |&b| (a, b)))
                    .map(|(a, b)| entry(a, b))
                    .collect();
            }
        }
    }

    /// Returns the groups of the support, ascending.
    fn inside(&self, support: &[usize]) -> Vec<u32> {
        let mut groups: Vec<u32> = support.iter().map(|&j| self.of[j]).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Returns the number of groups of the support.
    pub fn count(&self, support: &[usize]) -> usize {
        self.inside(support).len()
    }

    /// Returns the groups outside of the support that something speaks for, with their `q_J` and `S_JJ`.
    fn outside<'a>(&'a self, swaps: &Swaps) -> Vec<(&'a Group, Beyond)> {
        let inside = self.inside(&swaps.support);
        let others = self.members.iter().filter(|(group, _)| inside.binary_search(group).is_err());
        let open = others.filter(|(_, group)| group.places.iter().any(|&j| swaps.is_open(j)));
        open.map(|(_, group)| (group, Beyond::new(swaps, group))).collect()
    }

    /// Returns the members of the group that explains most beside the support, if that is more than
    /// `rounding`.
    pub fn best_addition(&self, swaps: &Swaps, rounding: f64) -> Option<Vec<usize>> {
        let explained = self.outside(swaps).into_iter().map(|(group, beyond)| (beyond.explained(), group));
        let best = explained.filter(|(gain, _)| *gain > rounding).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, group)| group.places.clone())
    }

    /// Returns what can be dropped: the members of each group, and what they explain.
    fn droppable(&self, swaps: &Swaps) -> Vec<Inside> {
        let inside = self.inside(&swaps.support);
        let may_go = |group: &&u32| !self.members[*group].places.iter().any(|&j| swaps.is_fixed[j]);
        inside.iter().filter(may_go).map(|group| Inside::new(swaps, &self.members[group])).collect()
    }

    /// Returns the members of the group that explains least by itself.
    pub fn least(&self, swaps: &Swaps) -> Option<Vec<usize>> {
        let least = self.droppable(swaps).into_iter().min_by(|a, b| a.loss.total_cmp(&b.loss))?;
        Some(least.at.into_iter().map(|at| swaps.support[at]).collect())
    }

    /// Returns the exchange of two groups that gains most.
    pub fn best_exchange(&self, swaps: &Swaps) -> Option<Swap> {
        let outside = self.outside(swaps);
        let mut best: Option<(f64, Inside, &Group)> = None;
        for dropped in self.droppable(swaps) {
            for (group, beyond) in &outside {
                let gain = beyond.without(swaps, &dropped, group).explained() - dropped.loss;
                if best.as_ref().is_none_or(|(other, ..)| gain > *other) {
                    best = Some((gain, dropped.clone(), group));
                }
            }
        }
        best.map(|(gain, dropped, group)| {
            let drops = dropped.at.into_iter().map(|at| swaps.support[at]).collect();
            Swap { gain, drops, adds: group.places.clone() }
        })
    }
}

/// A group beyond the support: `q_J`, `S_JJ`, and the diagonal of `G_JJ`.
#[derive(Clone, Debug)]
struct Beyond {
    products: Vec<f64>,
    squares: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Beyond {
    fn new(swaps: &Swaps, Group { places, gram }: &Group) -> Self {
        let size = places.len();
        let mut squares = gram.clone();
        for (a, member) in swaps.support.iter().enumerate() {
            let (solved, gram) = (&swaps.solved[a], &swaps.gram[*member]);
            for (x, &i) in places.iter().enumerate() {
                for (y, &j) in places.iter().enumerate() {
                    squares[x * size + y] -= solved[i] * gram[j];
                }
            }
        }
        Beyond {
            products: places.iter().map(|&j| swaps.products[j]).collect(),
            squares,
            diagonal: places.iter().map(|&j| swaps.diagonal[j]).collect(),
        }
    }

    /// Returns the same beyond the support without a group of it.
    fn without(&self, swaps: &Swaps, dropped: &Inside, group: &Group) -> Self {
        let mut beyond = self.clone();
        let size = group.places.len();
        for (a, &at) in dropped.at.iter().enumerate() {
            let own = &swaps.solved[at];
            for (x, &i) in group.places.iter().enumerate() {
                beyond.products[x] += own[i] * dropped.scaled[a];
                for (b, &other) in dropped.at.iter().enumerate() {
                    let weight = own[i] * dropped.inverse[a * dropped.at.len() + b];
                    for (y, &j) in group.places.iter().enumerate() {
                        beyond.squares[x * size + y] += weight * swaps.solved[other][j];
                    }
                }
            }
        }
        beyond
    }

    /// Returns `q_J' S_JJ^-1 q_J`, by elimination; attributes that depend on those before them explain
    /// nothing.
    fn explained(mut self) -> f64 {
        let (size, mut explained) = (self.products.len(), 0.0);
        for pivot in 0..size {
            let square = self.squares[pivot * size + pivot];
            if !(square > INDEPENDENT * self.diagonal[pivot] && square.is_finite()) {
                continue;
            }
            let own = self.products[pivot];
            explained += own * own / square;
            for row in pivot + 1..size {
                let factor = self.squares[row * size + pivot] / square;
                self.products[row] -= factor * own;
                for column in pivot + 1..size {
                    self.squares[row * size + column] -= factor * self.squares[pivot * size + column];
                }
            }
        }
        explained
    }
}

/// A group of the support.
#[derive(Clone, Debug)]
struct Inside {
    /// The places of its members in the support.
    at: Vec<usize>,
    /// `K_II^-1`, row by row.
    inverse: Vec<f64>,
    /// `t_I`.
    scaled: Vec<f64>,
    /// `b_I' t_I`.
    loss: f64,
}

impl Inside {
    fn new(swaps: &Swaps, group: &Group) -> Self {
        let is_inside = |at: &usize| group.places.contains(&swaps.support[*at]);
        let at: Vec<usize> = (0..swaps.support.len()).filter(is_inside).collect();
        let block = at.iter().flat_map(|&a| at.iter().map(move |&b| swaps.inverse[a][b])).collect();
        let inverse = inverted(block, at.len());
        let row = |a: usize| &inverse[a * at.len()..][..at.len()];
        let coefficients: Vec<f64> = at.iter().map(|&a| swaps.coefficients[a]).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scaled: Vec<f64> = (0..at.len()).map(|a| dot(row(a), &coefficients)).collect();
        let loss = dot(&scaled, &coefficients);
        Inside { at, inverse, scaled, loss }
    }
}

/// Inverts a positive definite matrix, by Gauss-Jordan steps.
fn inverted(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    for pivot in 0..size {
        let own = matrix[pivot * size + pivot];
        matrix[pivot * size + pivot] = 1.0;
        matrix[pivot * size..][..size].iter_mut().for_each(|x| *x /= own);
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = std::mem::take(&mut matrix[row * size + pivot]);
            for column in 0..size {
                matrix[row * size + column] -= factor * matrix[pivot * size + column];
            }
        }
    }
    matrix
}
