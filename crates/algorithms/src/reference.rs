//! References: a second implementation of every method, in a few dense lines that read like the pseudo-code
//! of its paper.
//!
//! A learner is written for speed: it keeps lazy averages, scaled iterates and trees of sums. Its *reference*
//! keeps plain vectors of length `d`, sees whole examples, and costs O(d) or more for each. Both are built
//! from the same parameters. A reference has no randomness of its own: it is told what the learner drew, so
//! that both can run side by side over the same examples and be compared after each one. The test
//! `references.rs` does that for every row of [`METHODS`](crate::METHODS).
//!
//! | folder | references of |
//! |---|---|
//! | [`murata_suzuki`](crate::murata_suzuki::reference) | Exploration, Exploitation, Hybrid, Naive |
//! | [`hazan_koren`](crate::hazan_koren::reference) | AERR, AELR, AESVR |
//! | [`ito`](crate::ito::reference) | Algorithms 1 to 3, greedy and uniform choice |
//! | [`pursuit`](crate::pursuit::reference) | Pursuit |
//! | [`baselines`](crate::baselines::reference) | AER, Dantzig, FKK, OMP, online Ridge and Lasso |
//!
//! The references of solvers are in [`thresholding`](crate::thresholding::reference). They are told the
//! components that a solver drew, instead of attributes.
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
use std::fmt::Display;
use thiserror::Error;

/// A dense implementation of a method, which follows a learner of the same method.
pub trait Reference {
    /// Updates the reference with one example. The examples of a gradient sum are given one after the other.
    ///
    /// # Errors
    /// [`Mismatch`] when the method cannot have asked for these attributes. The reference then stays as it
    /// was.
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch>;

    /// Returns the estimate after the last completed update, one number per attribute.
    fn coefficients(&self) -> Vec<f64>;

    /// Returns the label that the method predicts from the attributes asked for, before [`see`](Self::see) is
    /// called with the example.
    ///
    /// # Errors
    /// [`Mismatch`], in the cases of [`see`](Self::see).
    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let w = self.coefficients();
        seen.fits(w.len())?;
        Ok(observed_part(&w, seen))
    }

    /// Returns whether the method sees all attributes. Only the row of such a method may state an unlimited
    /// budget.
    fn has_full_information(&self) -> bool {
        false
    }
}

/// A whole example, and the attributes of it that the learner asked for.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// `x`, the values of all `d` attributes.
    pub x: &'a [f64],
    /// `y`.
    pub label: f64,
    /// The attributes asked for, in the learner's order; for a gradient sum, the coordinates of the sum.
    pub asked: &'a [u32],
    /// The learner's draws, where `asked` does not show them.
    pub drawn: Drawn<'a>,
}

/// The learner's draws for one example, where the list of attributes asked for does not show them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drawn<'a> {
    /// The list of attributes shows all draws, or nothing is drawn.
    #[default]
    Listed,
    /// A random set, sorted, which may overlap the support that is also observed (naive, Dantzig, OMP).
    Set(&'a [u32]),
    /// A random set, sorted, and the support that predicts (FKK).
    SetAndSupport(&'a [u32], &'a [u32]),
    /// The draws of the estimates for `y+` and `y-` (AESVR); the list does not show their numbers of factors.
    Estimates(&'a [GenEstDraws; 2]),
}

/// A request of the learner that its method never makes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// The example or an attribute does not fit the dimension of the reference.
    #[error("the method is set for d = {dim} attributes, but {found}")]
    Dimension {
        /// `d` of the reference.
        dim: usize,
        /// The part that does not fit.
        found: String,
    },
    /// The method asks for other attributes.
    #[error("the learner asks for the attributes {asked:?}, but its method {expected}")]
    Asked {
        /// The attributes asked for.
        asked: Vec<u32>,
        /// What the method does instead, a verb with its object.
        expected: String,
    },
    /// The draws are of another kind than the method's.
    #[error("the learner tells its draws as {found}, but its method draws {expected}")]
    Draws {
        /// The draws that were told.
        found: String,
        /// The kind of draws that the method makes.
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

    /// Refuses the attributes asked for unless `ok`. `expected` says what the method does, as a verb with its
    /// object.
    pub(crate) fn require(&self, ok: bool, expected: impl Display) -> Result<(), Mismatch> {
        if ok {
            return Ok(());
        }
        Err(Mismatch::Asked { asked: self.asked.to_vec(), expected: expected.to_string() })
    }

    /// Returns the error for draws of another kind than `expected`.
    pub(crate) fn other_draws<T>(&self, expected: &'static str) -> Result<T, Mismatch> {
        Err(Mismatch::Draws { found: format!("{:?}", self.drawn), expected })
    }

    /// Returns the random set of `size` attributes that was observed beside `support`.
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

/// Returns `a' b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns `|w|_1`.
pub(crate) fn l1(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// Returns `|w|_2`.
pub(crate) fn l2(w: &[f64]) -> f64 {
    dot(w, w).sqrt()
}

/// Returns the observed part of `w' x`, each attribute counted once.
pub(crate) fn observed_part(w: &[f64], seen: &Seen<'_>) -> f64 {
    let observed = |j: &usize| seen.asked.contains(&(*j as u32));
    (0..w.len()).filter(observed).map(|j| w[j] * seen.x[j]).sum()
}

/// Returns the indices of the `count` largest magnitudes, ascending. Among equal magnitudes the lower index
/// wins.
pub(crate) fn largest(w: &[f64], count: usize) -> Vec<u32> {
    let size = |i: u32| w[i as usize].abs();
    let mut order: Vec<u32> = (0..w.len() as u32).collect();
    order.sort_by(|&i, &j| size(j).total_cmp(&size(i)).then(i.cmp(&j)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Returns `w` at these attributes, and 0 elsewhere.
pub(crate) fn restricted(w: &[f64], attributes: &[u32]) -> Vec<f64> {
    let mut kept = vec![0.0; w.len()];
    attributes.iter().for_each(|&j| kept[j as usize] = w[j as usize]);
    kept
}

/// Returns `H_s(z)`, which keeps the `s` largest magnitudes of `z`.
pub(crate) fn hard_threshold(z: &[f64], s: usize) -> Vec<f64> {
    restricted(z, &largest(z, s))
}

/// Returns the indices of non-zeros.
pub(crate) fn support(w: &[f64]) -> Vec<u32> {
    (0..w.len() as u32).filter(|&j| w[j as usize] != 0.0).collect()
}

/// Projects `w` on `|w|_2 <= radius`.
pub(crate) fn project_l2(w: &mut [f64], radius: f64) {
    let factor = (radius / l2(w)).min(1.0);
    w.iter_mut().for_each(|w| *w *= factor);
}

/// Projects `w` on `|w|_1 <= radius`: all magnitudes shrink by the same amount, down to 0.
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

/// Returns `radius (z+ - z-) / (|z+|_1 + |z-|_1)` for `z+- = exp(+-u)`, with a common factor that keeps the
/// exponentials finite.
pub(crate) fn exponentiated(u: &[f64], radius: f64) -> Vec<f64> {
    let most = u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    let (plus, minus) = (|u: &f64| (u - most).exp(), |u: &f64| (-u - most).exp());
    let total: f64 = u.iter().map(|u| plus(u) + minus(u)).sum();
    u.iter().map(|u| radius * (plus(u) - minus(u)) / total).collect()
}
