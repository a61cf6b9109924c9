//! Dantzig: moments estimated from random attributes, a Dantzig selector solved at doubling times.
//!
//! *Source*: Kale, Karnin, Liang & Pal 2017, *Adaptive Feature Selection: Computationally Efficient Online Sparse Linear
//! Regression under RIP*, in the form in which Ito et al. 2017 and Murata & Suzuki 2018 compare with it.
//!
//! *Setting*: the online protocol under a budget of k' attributes per example, realisable with small noise.
//!
//! *Notation*: `k` -> `sparsity`, `k'` -> `budget`, `k_0` -> `k' - k`, `c` -> `scale`, `sigma` -> `noise`; `w` -> the sparse
//! estimate `coefficients()`, `S = supp(w)`, `R_t` -> the random set.
//!
//! *Update*: observe `S` and a uniform set `R` of `k_0` attributes of one example, predict `w' x`, then add to the moments
//!
//! ```text
//! A_ij += x_i x_j / p2,   A_ii += x_i^2 / p,   b_i += y x_i / p        for i /= j in R,
//! p = k_0/d,  p2 = k_0 (k_0 - 1)/(d (d - 1))
//! ```
//!
//! so that `E A = t E x x'` and `E b = t E y x`. After examples 1, 2, 4, 8, ... solve the linear program
//!
//! ```text
//! min |w|_1   subject to   |(b - A w)/t|_inf <= gamma_t,
//! gamma_t = c sqrt(d log(d t)/(k_0 t)) (sigma + d/k_0)
//! ```
//!
//! and keep the `k` entries of largest magnitude. `A` need not be positive definite: a linear program does not mind. If it
//! is infeasible, `gamma_t` is doubled, at most until zero is feasible.
//!
//! *Departures*: written from descriptions; the moments are unbiased entry by entry, where the paper corrects the
//! diagonal of `x~ x~'`. With `predicts` off the whole budget estimates, `k_0 = k'`. The moments take `d (d + 1)/2`
//! numbers and a program costs about the cube of `d`, so `d` is limited to [`MAX_DIM`]; an update costs O(k_0^2).
//!
//! *Reference*: [`DantzigReference`](super::reference::DantzigReference).
//!
//! *Claims*: `ito17-dantzig`, `ms18-fig1-rivals`.

use crate::params::{ParamError, require};
use lao_kernels::{HardThreshold, SparseVector, SparseView, Threshold, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Ask, LearnError, Learner, Rng, Told};
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use serde::{Deserialize, Serialize};

const NAME: &str = "Dantzig";

/// The largest `d` that the method takes: a linear program with a dense matrix then takes minutes.
pub const MAX_DIM: usize = 2000;

/// Parameters of [`Dantzig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DantzigParams {
    /// `d`, attributes of an example; at most [`MAX_DIM`].
    pub dim: usize,
    /// `k`, non-zeros kept; `1 <= k`, and `k <= k' - 2` if the method predicts.
    pub sparsity: usize,
    /// `k'`, attributes observed per example; `2 <= k' <= d`.
    pub budget: usize,
    /// Whether `S` is observed, so that the label can be predicted. Otherwise all `k'` attributes are random.
    pub predicts: bool,
    /// `c > 0` in `gamma_t`.
    pub scale: f64,
    /// `sigma >= 0` in `gamma_t`, in units of the label.
    pub noise: f64,
    /// A last program after so many examples, beside those at powers of two.
    pub examples: Option<u64>,
}

impl DantzigParams {
    /// For standardised attributes: `c = 1/10` (the constant of the analysis is not known; values from 0.01 to 1 are in use),
    /// no noise beyond the estimate's own, a last program after `examples` examples.
    pub fn practical(dim: usize, sparsity: usize, budget: usize, examples: u64) -> Self {
        let examples = Some(examples);
        DantzigParams { dim, sparsity, budget, predicts: true, scale: 0.1, noise: 0.0, examples }
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn check(self) -> Result<Dantzig, ParamError> {
        let DantzigParams { dim, sparsity, budget, predicts, scale, noise, .. } = self;
        let ok = (2..=MAX_DIM).contains(&dim);
        require(
            ok,
            NAME,
            "dim",
            dim,
            format_args!("2..={MAX_DIM}: the method solves programs over d x d matrices"),
        )?;
        require((1..=dim).contains(&sparsity), NAME, "sparsity", sparsity, format_args!("1..={dim}"))?;
        let read = if predicts { sparsity } else { 0 };
        require(
            budget <= dim && budget >= read + 2,
            NAME,
            "budget",
            budget,
            format_args!("{}..={dim}: two random attributes beside those that predict", read + 2),
        )?;
        require(scale.is_finite() && scale > 0.0, NAME, "scale", scale, "a positive finite number")?;
        require(noise.is_finite() && noise >= 0.0, NAME, "noise", noise, "a finite number of at least 0")?;
        Ok(Dantzig {
            random: budget - read,
            moments: vec![0.0; dim * (dim + 1) / 2],
            correlations: vec![0.0; dim],
            seen: 0,
            solved: 0,
            kept: SparseVector::zeros(dim),
            sampler: SubsetSampler::new(dim),
            drawn: Vec::with_capacity(budget),
            values: Vec::with_capacity(budget),
            pending: false,
            params: self,
        })
    }
}

/// The learner of Kale et al.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dantzig {
    params: DantzigParams,
    /// `k_0`.
    random: usize,
    /// `A`, the lower triangle row by row.
    moments: Vec<f64>,
    /// `b`.
    correlations: Vec<f64>,
    seen: u64,
    solved: u64,
    kept: SparseVector,
    sampler: SubsetSampler,
    /// `R` of the example asked for.
    drawn: Vec<u32>,
    /// Their values.
    values: Vec<f64>,
    /// Whether `drawn` still waits for its example.
    pending: bool,
}

impl Dantzig {
    /// As [`ask`](Learner::ask), with this `R` (sorted, distinct) instead of a random one.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        self.drawn.clear();
        self.drawn.extend_from_slice(drawn);
        self.pending = true;
        self.fill(ask);
    }

    /// Returns `R` of the example asked for last, sorted.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    fn fill(&self, ask: &mut Ask) {
        let predicting = if self.params.predicts { self.kept.indices() } else { &[] };
        merge_into(predicting, &self.drawn, ask.values(1));
    }

    /// `gamma_t` after `examples` examples, before any doubling.
    pub fn gamma(&self, examples: u64) -> f64 {
        let (d, k0, t) = (self.params.dim as f64, self.random as f64, examples.max(1) as f64);
        self.params.scale * (d * (d * t).ln() / (k0 * t)).sqrt() * (self.params.noise + d / k0)
    }

    /// `|(b - A w)/t|_inf`, by how much `w`, of length d, violates the moment equations; 0 before the first example.
    pub fn violation(&self, w: &[f64]) -> f64 {
        let (moments, t) = (&self.moments, self.seen.max(1) as f64);
        let row = |i: usize| w.iter().enumerate().map(|(j, w)| moments[place(i, j)] * w).sum::<f64>();
        self.correlations.iter().enumerate().map(|(i, b)| ((b - row(i)) / t).abs()).fold(0.0, f64::max)
    }

    /// The entry `(i, j)` of `A/t`, the estimate of `E x_i x_j`; 0 before the first example.
    pub fn moment(&self, i: usize, j: usize) -> f64 {
        self.moments.get(place(i, j)).map_or(0.0, |sum| sum / self.seen.max(1) as f64)
    }

    /// The entry `i` of `b/t`, the estimate of `E y x_i`; 0 before the first example.
    pub fn correlation(&self, i: usize) -> f64 {
        self.correlations.get(i).map_or(0.0, |sum| sum / self.seen.max(1) as f64)
    }

    fn solve(&mut self) -> Result<(), LearnError> {
        let dim = self.params.dim;
        let diverged = |attribute, value| LearnError::Diverged { update: self.solved + 1, attribute, value };
        let t = self.seen as f64;
        let correlations: Vec<f64> = self.correlations.iter().map(|b| b / t).collect();
        for (i, b) in correlations.iter().enumerate() {
            let row = self.moments[place(i, 0)..=place(i, i)].iter().chain([b]);
            if let Some(&value) = row.into_iter().find(|value| !value.is_finite()) {
                return Err(diverged(i, value));
            }
        }
        let largest = correlations.iter().fold(0.0_f64, |largest, b| largest.max(b.abs()));
        let mut gamma = self.gamma(self.seen);
        let w = loop {
            if largest <= gamma {
                break vec![0.0; dim];
            }
            // A program that the solver gives up on is treated as an infeasible one: a larger gamma is easier.
            match selector(dim, |i, j| self.moments[place(i, j)] / t, &correlations, gamma) {
                Some(w) => break w,
                None => gamma *= 2.0,
            }
        };
        HardThreshold::default()
            .keep(&w, self.params.sparsity, &mut self.kept)
            .map_err(|at| diverged(at.index, at.value))?;
        self.solved += 1;
        Ok(())
    }
}

/// Place of `(i, j)` in a packed symmetric matrix.
fn place(i: usize, j: usize) -> usize {
    let (row, column) = (i.max(j), i.min(j));
    row * (row + 1) / 2 + column
}

/// The Dantzig selector: a minimiser of `|w|_1` subject to `|b - A w|_inf <= gamma`, for a `dim` x `dim` matrix `a(i, j)`.
/// `None` if there is none, or none was found.
pub fn selector(dim: usize, a: impl Fn(usize, usize) -> f64, b: &[f64], gamma: f64) -> Option<Vec<f64>> {
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let parts: Vec<_> =
        (0..dim).map(|_| [(); 2].map(|()| program.add_var(1.0, (0.0, f64::INFINITY)))).collect();
    for (i, &b) in b.iter().enumerate() {
        // A slack with two bounds makes one row of two inequalities.
        let slack = program.add_var(0.0, (-gamma, gamma));
        let terms = parts
            .iter()
            .enumerate()
            .filter_map(|(j, &parts)| Some((parts, a(i, j))).filter(|at| at.1 != 0.0));
        let row = terms.flat_map(|([plus, minus], a)| [(plus, a), (minus, -a)]).chain([(slack, 1.0)]);
        program.add_constraint(row.collect::<Vec<_>>(), ComparisonOp::Eq, b);
    }
    let solution = program.solve().ok()?.into_solution().ok()?;
    let value = |[plus, minus]: [_; 2]| solution.var_value(plus) - solution.var_value(minus);
    Some(parts.into_iter().map(value).collect())
}

impl Learner for Dantzig {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.drawn.clear();
            self.sampler.draw(self.random, rng, &mut self.drawn);
            self.pending = true;
        }
        self.fill(ask);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let not_asked =
            |told| LearnError::NotAsked { told, asked: "one example's values of the attributes asked for" };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        let Some((seen, label)) = block.single().filter(|_| self.pending) else {
            return Err(not_asked("other attribute values"));
        };
        let (d, k0) = (self.params.dim as f64, self.random as f64);
        let (single, pair) = (d / k0, d * (d - 1.0) / (k0 * (k0 - 1.0)));
        self.values.clear();
        let mut next = 0;
        for (&j, &value) in seen.attributes.iter().zip(seen.values) {
            if self.drawn.get(next) == Some(&j) {
                let largest = value.abs() * value.abs().max(label.abs()) * pair;
                if !largest.is_finite() {
                    return Err(LearnError::Diverged {
                        update: self.solved + 1,
                        attribute: j as usize,
                        value: largest,
                    });
                }
                self.values.push(value);
                next += 1;
            }
        }
        for (at, (&i, &x_i)) in self.drawn.iter().zip(&self.values).enumerate() {
            let i = i as usize;
            self.correlations[i] += single * label * x_i;
            let row = &mut self.moments[place(i, 0)..=place(i, i)];
            for (&j, x_j) in self.drawn[..at].iter().zip(&self.values) {
                row[j as usize] += pair * x_i * x_j;
            }
            row[i] += single * x_i * x_i;
        }
        self.pending = false;
        self.seen += 1;
        if self.seen.is_power_of_two() || self.params.examples == Some(self.seen) {
            self.solve()?;
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.kept.view()
    }

    fn updates(&self) -> u64 {
        self.solved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_of_the_identity_is_the_soft_threshold() {
        let w = selector(3, |i, j| f64::from(i == j), &[2.0, -0.5, 0.1], 0.25).unwrap();
        for (found, wanted) in w.iter().zip([1.75, -0.25, 0.0]) {
            assert!((found - wanted).abs() < 1e-9, "{w:?}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_no_obstacle_and_an_infeasible_program_is_said_to_be_so() {
        // A = [[0, 1], [1, 0]] has eigenvalues +-1; A w = (1, 2) has the solution (2, 1).
        let w = selector(2, |i, j| f64::from(i != j), &[1.0, 2.0], 0.0).unwrap();
        assert!((w[0] - 2.0).abs() < 1e-9 && (w[1] - 1.0).abs() < 1e-9, "{w:?}");
        assert_eq!(selector(2, |_, _| 1.0, &[1.0, -1.0], 0.5), None);
    }
}
