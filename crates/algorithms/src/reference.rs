//! References: every method a second time, in a few dense lines that read like the pseudo-code of its paper.
//!
//! A learner is written for speed: it keeps lazy averages, scaled iterates, trees of sums. Its *reference*
//! keeps plain vectors of length `d`, sees whole examples, and costs O(d) or more for each. Both are built
//! from the same parameters. A reference has no randomness of its own: it is told what the learner drew, so
//! that the two can be run side by side over the same examples and compared after each. The test
//! `references.rs` does that for every row of [`METHODS`](crate::METHODS).
//!
//! | folder | references of |
//! |---|---|
//! | [`murata_suzuki`](crate::murata_suzuki::reference) | Exploration, Exploitation, Hybrid, Naive |
//! | [`hazan_koren`](crate::hazan_koren::reference) | AERR, AELR, AESVR |
//! | [`ito`](crate::ito::reference) | Algorithms 1 to 3, greedy and uniform choice |
//! | [`baselines`](crate::baselines::reference) | AER, Dantzig, FKK, online Ridge and Lasso |
//!
//! ```
//! use lao_algorithms::{Task, murata_suzuki::{ExplorationParams, reference::ExplorationReference}};
//! use lao_algorithms::reference::{Drawn, Reference, Seen};
//!
//! // Four attributes, one non-zero, two observed: each of the four blocks takes ten examples.
//! let task = Task { dim: 4, sparsity: 1, budget: 2, ..Task::default() };
//! let params = ExplorationParams::practical(&task)?;
//! let mut reference = ExplorationReference::new(&params)?;
//! for block in 0..4 {
//!     for _ in 0..10 {
//!         let (x, label, asked) = (&[1.0, 0.0, 0.0, 0.0], 3.0, &[block]);
//!         reference.see(&Seen { x, label, asked, drawn: Drawn::Listed })?;
//!     }
//! }
//! // One step of length 1/4 against the gradient 2 (0 - 3) 1.
//! assert!((reference.coefficients()[0] - 1.5).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::hazan_koren::gen_est::GenEstDraws;
use crate::registry::AnyLearner;
use std::fmt::Display;
use thiserror::Error;

/// A method in dense lines, which follows a learner of the same method.
pub trait Reference {
    /// Takes in one example; of a gradient sum, one example after the other.
    ///
    /// # Errors
    /// [`Mismatch`] when the method cannot have asked for these attributes. The reference is then as before.
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch>;

    /// Returns the estimate after the last completed update, one number per attribute.
    fn coefficients(&self) -> Vec<f64>;

    /// Returns the label that the method predicts from the attributes asked for, before the example is taken
    /// in.
    ///
    /// # Errors
    /// [`Mismatch`] as [`see`](Self::see) has it.
    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let w = self.coefficients();
        seen.fits(w.len())?;
        Ok(observed_part(&w, seen))
    }

    /// Tells whether the method is one with full information, which alone may state an unlimited budget.
    fn has_full_information(&self) -> bool {
        false
    }
}

/// A whole example, and what the learner asked of it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// `x`, all `d` values.
    pub x: &'a [f64],
    /// `y`.
    pub label: f64,
    /// The attributes asked for, in the learner's order; of a gradient sum, its coordinates.
    pub asked: &'a [u32],
    /// What the learner drew, where the list does not show it.
    pub drawn: Drawn<'a>,
}

/// The draws of one example, as far as the list of attributes asked for does not show them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drawn<'a> {
    /// The list shows all, or nothing is drawn.
    #[default]
    Listed,
    /// A random set, sorted, which may share attributes with the support that is observed beside it (naive,
    /// Dantzig).
    Set(&'a [u32]),
    /// A random set, sorted, and the support that predicts (FKK).
    SetAndSupport(&'a [u32], &'a [u32]),
    /// The draws of the estimates for `y+` and `y-`, whose numbers of factors the list does not show (AESVR).
    Estimates(&'a [GenEstDraws; 2]),
}

impl<'a> From<&'a AnyLearner> for Drawn<'a> {
    /// Returns what the learner drew for the example that it asked for last.
    fn from(learner: &'a AnyLearner) -> Self {
        match learner {
            AnyLearner::Naive(learner) => Drawn::Set(learner.drawn()),
            AnyLearner::Dantzig(learner) => Drawn::Set(learner.drawn()),
            AnyLearner::Fkk(learner) => Drawn::SetAndSupport(learner.drawn(), learner.chosen()),
            AnyLearner::Aesvr(learner) => Drawn::Estimates(learner.estimates()),
            _ => Drawn::Listed,
        }
    }
}

/// What a learner did that the method of the reference never does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// The example or an attribute does not fit the dimension.
    #[error("the method is set for d = {dim} attributes, but {found}")]
    Dimension {
        /// `d` of the reference.
        dim: usize,
        /// What does not fit.
        found: String,
    },
    /// The attributes are not those of the method.
    #[error("the learner asks for the attributes {asked:?}, but its method {expected}")]
    Asked {
        /// The list.
        asked: Vec<u32>,
        /// What the method does.
        expected: String,
    },
    /// The draws are not of the method's kind.
    #[error("the learner tells its draws as {found}, but its method draws {expected}")]
    Draws {
        /// What came.
        found: String,
        /// What the method draws.
        expected: &'static str,
    },
}

impl<'a> Seen<'a> {
    /// Refuses examples and attributes that do not fit `dim`.
    pub(crate) fn fits(&self, dim: usize) -> Result<(), Mismatch> {
        let found = |found: String| Err(Mismatch::Dimension { dim, found });
        if self.x.len() != dim {
            return found(format!("the example has {}", self.x.len()));
        }
        let lists: [&[u32]; 4] = match self.drawn {
            Drawn::Listed => [self.asked, &[], &[], &[]],
            Drawn::Set(set) => [self.asked, set, &[], &[]],
            Drawn::SetAndSupport(set, support) => [self.asked, set, support, &[]],
            Drawn::Estimates([plus, minus]) => [self.asked, &plus.attributes, &minus.attributes, &[]],
        };
        match lists.concat().iter().find(|&&j| j as usize >= dim) {
            Some(j) => found(format!("attribute {j} was asked for or drawn")),
            None => Ok(()),
        }
    }

    /// Refuses the attributes asked for unless `ok`; the method `expected`, a verb with its object.
    pub(crate) fn require(&self, ok: bool, expected: impl Display) -> Result<(), Mismatch> {
        if ok {
            return Ok(());
        }
        Err(Mismatch::Asked { asked: self.asked.to_vec(), expected: expected.to_string() })
    }

    /// The error for draws of another kind than `expected`.
    pub(crate) fn other_draws<T>(&self, expected: &'static str) -> Result<T, Mismatch> {
        Err(Mismatch::Draws { found: format!("{:?}", self.drawn), expected })
    }

    /// The random set, of `size` attributes, that was observed beside `support`.
    pub(crate) fn set_beside(&self, support: &[u32], size: usize) -> Result<&'a [u32], Mismatch> {
        let (Drawn::Set(set) | Drawn::SetAndSupport(set, _)) = self.drawn else {
            return self.other_draws("a random set");
        };
        let mut union = [support, set].concat();
        union.sort_unstable();
        union.dedup();
        let is_set = set.is_sorted_by(|a, b| a < b) && set.len() == size;
        let expected = format_args!("asks for {support:?} and {size} attributes at random").to_string();
        self.require(is_set && self.asked == union, expected)?;
        Ok(set)
    }
}

/// `a' b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `|w|_1`.
pub(crate) fn l1(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// `|w|_2`.
pub(crate) fn l2(w: &[f64]) -> f64 {
    dot(w, w).sqrt()
}

/// The observed part of `w' x`, each attribute counted once.
pub(crate) fn observed_part(w: &[f64], seen: &Seen<'_>) -> f64 {
    let observed = |j: &usize| seen.asked.contains(&(*j as u32));
    (0..w.len()).filter(observed).map(|j| w[j] * seen.x[j]).sum()
}

/// The `count` largest magnitudes, by sorting; the lower index first among equals. Sorted by index.
pub(crate) fn largest(w: &[f64], count: usize) -> Vec<u32> {
    let size = |i: u32| w[i as usize].abs();
    let mut order: Vec<u32> = (0..w.len() as u32).collect();
    order.sort_by(|&i, &j| size(j).total_cmp(&size(i)).then(i.cmp(&j)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// `w` at these attributes, 0 elsewhere.
pub(crate) fn restricted(w: &[f64], attributes: &[u32]) -> Vec<f64> {
    let mut kept = vec![0.0; w.len()];
    attributes.iter().for_each(|&j| kept[j as usize] = w[j as usize]);
    kept
}

/// `H_s(z)`.
pub(crate) fn hard_threshold(z: &[f64], s: usize) -> Vec<f64> {
    restricted(z, &largest(z, s))
}

/// The indices of non-zeros.
pub(crate) fn support(w: &[f64]) -> Vec<u32> {
    (0..w.len() as u32).filter(|&j| w[j as usize] != 0.0).collect()
}

/// The projection of `w` on `|w|_2 <= radius`.
pub(crate) fn project_l2(w: &mut [f64], radius: f64) {
    let factor = (radius / l2(w)).min(1.0);
    w.iter_mut().for_each(|w| *w *= factor);
}

/// The projection of `w` on `|w|_1 <= radius`: all magnitudes shrink by one level, down to 0.
pub(crate) fn project_l1(w: &mut [f64], radius: f64) {
    if l1(w) <= radius {
        return;
    }
    let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (place, size) in sizes.into_iter().enumerate() {
        sum += size;
        let next = (sum - radius) / (place + 1) as f64;
        if next >= size {
            break;
        }
        level = next;
    }
    w.iter_mut().for_each(|w| *w = w.signum() * (w.abs() - level).max(0.0));
}

/// `radius (z+ - z-) / (|z+|_1 + |z-|_1)` for `z+- = exp(+-u)`, with a common factor that keeps the
/// exponentials finite.
pub(crate) fn exponentiated(u: &[f64], radius: f64) -> Vec<f64> {
    let most = u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    let (plus, minus) = (|u: &f64| (u - most).exp(), |u: &f64| (-u - most).exp());
    let total: f64 = u.iter().map(|u| plus(u) + minus(u)).sum();
    u.iter().map(|u| radius * (plus(u) - minus(u)) / total).collect()
}
