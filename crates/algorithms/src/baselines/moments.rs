//! Learners that estimate all second moments from random attributes, and choose a sparse estimate from them
//! at doubling times: [Dantzig](super::dantzig) and [OMP](super::omp).
//!
//! *Update*: observe the support `S` of the estimate, if it predicts, and a uniform set `R` of `k_0`
//! attributes of one example, and add to the moments
//!
//! ```text
//! A_ij += x_i x_j / p2,   A_ii += x_i^2 / p,   b_i += y x_i / p        for i /= j in R,
//! p = k_0/d,  p2 = k_0 (k_0 - 1)/(d (d - 1))
//! ```
//!
//! so that `E A = t E x x'` and `E b = t E y x`. After examples 1, 2, 4, 8, ... the method chooses its
//! estimate from `A/t` and `b/t`.
//!
//! *Cost*: the moments take `d (d + 1)/2` numbers, an example changes `k_0 (k_0 + 1)/2` of them, each in
//! about 2 ns on one core.

use crate::bug::cannot_fail;
use crate::params::{ParamError, require, require_attributes};
use crate::state;
use lao_kernels::{HardThreshold, SparseVector, SparseView, Threshold, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Told};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The largest number that one example may add to a moment. What is computed from larger numbers has no
/// meaning, and the sum of 2^62 such numbers is still finite.
const LARGEST: f64 = 1e100;

/// The sizes of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// `d`.
    pub dim: usize,
    /// The largest `d` that the method accepts, and why.
    pub most: (usize, &'static str),
    /// Non-zeros kept.
    pub sparsity: usize,
    /// Attributes observed per example.
    pub budget: usize,
    /// Whether the support is observed, so that labels can be predicted.
    pub predicts: bool,
    /// The number of examples after which a last estimate is chosen.
    pub examples: Option<u64>,
}

impl Sizes {
    /// Returns the number of observed attributes that predict.
    fn read(&self) -> usize {
        if self.predicts { self.sparsity } else { 0 }
    }

    /// Returns `k_0`, the size of the random set.
    pub fn random(&self) -> usize {
        self.budget.saturating_sub(self.read())
    }

    /// Returns the number of moments that an example changes, `k_0 (k_0 + 1)/2`.
    pub fn cost_per_example(&self) -> u64 {
        let random = self.random() as u64;
        random.saturating_mul(random.saturating_add(1)) / 2
    }

    /// Refuses sizes that are not allowed.
    fn check(&self, name: &'static str) -> Result<(), ParamError> {
        let Sizes { dim, most: (most, why), sparsity, budget, .. } = *self;
        let allowed = format_args!("from 2 to {most}, {why}");
        require((2..=most).contains(&dim), name, "dim", dim, allowed)?;
        require_attributes(name, "sparsity", sparsity, dim)?;
        let read = self.read();
        let allowed =
            format_args!("from {} to d = {dim}: two random attributes beside those that predict", read + 2);
        require(budget <= dim && budget >= read + 2, name, "budget", budget, allowed)
    }
}

/// A method that chooses an estimate from moments; the parameters of each implement this trait.
pub trait Selection: Clone + fmt::Debug + Serialize + DeserializeOwned {
    /// The name of the method in messages.
    const METHOD: &'static str;

    /// Returns the sizes.
    fn sizes(&self) -> Sizes;

    /// Refuses values of the method's own parameters that are not allowed.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    fn check_own(&self) -> Result<(), ParamError>;

    /// Returns the estimate, of which the largest entries are kept. All its entries are finite.
    fn select(&self, moments: &Moments<'_>) -> Vec<f64>;

    /// Refuses parameters that are not allowed, when a learner is built and when its state is read.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    fn gate(&self) -> Result<(), ParamError> {
        self.check_own()?;
        self.sizes().check(Self::METHOD)
    }
}

/// The sums over the examples so far.
#[derive(Clone, Copy, Debug)]
pub struct Moments<'a> {
    /// `t`.
    pub examples: u64,
    /// The lower triangle of `A`, row by row.
    sums: &'a [f64],
    /// `b`.
    correlations: &'a [f64],
}

impl Moments<'_> {
    /// Returns the entry `(i, j)` of `A/t`, the estimate of `E x_i x_j`; 0 before the first example.
    pub fn moment(&self, i: usize, j: usize) -> f64 {
        self.sums.get(place(i, j)).map_or(0.0, |sum| sum / self.examples.max(1) as f64)
    }

    /// Returns the entry `i` of `b/t`, the estimate of `E y x_i`; 0 before the first example.
    pub fn correlation(&self, i: usize) -> f64 {
        self.correlations.get(i).map_or(0.0, |sum| sum / self.examples.max(1) as f64)
    }

    /// Returns `b/t`.
    pub fn correlations(&self) -> Vec<f64> {
        (0..self.correlations.len()).map(|i| self.correlation(i)).collect()
    }
}

/// The learner of [`Dantzig`](super::Dantzig) and [`Omp`](super::Omp).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "P: Selection")]
pub struct MomentLearner<P> {
    pub(super) params: P,
    /// The lower triangle of `A`, row by row.
    pub(super) moments: Vec<f64>,
    /// `b`.
    pub(super) correlations: Vec<f64>,
    pub(super) seen: u64,
    solved: u64,
    kept: SparseVector,
    sampler: SubsetSampler,
    /// `R` of the example asked for.
    drawn: Vec<u32>,
    /// The values of the attributes in `drawn`.
    #[serde(skip)]
    values: Vec<f64>,
    /// Whether `drawn` still waits for its example.
    pending: bool,
}

lao_observation::stored!(MomentLearner<P: Selection>);

impl<P: Selection> Validate for MomentLearner<P> {
    fn validate(&self) -> Result<(), Damaged> {
        let MomentLearner {
            params, moments, correlations, seen, solved, kept, sampler, drawn, pending, ..
        } = self;
        let sizes = params.sizes();
        let dim = sizes.dim;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, P::METHOD, || reason);
        params.gate().map_err(ParamError::damaged)?;
        state::length(P::METHOD, "the sampler", sampler.dim(), dim)?;
        state::length(P::METHOD, "the list of moments", moments.len(), dim * (dim + 1) / 2)?;
        state::length(P::METHOD, "the list of correlations", correlations.len(), dim)?;
        state::count(P::METHOD, "the number of examples", *seen)?;
        // The factor 2 covers the rounding of as many additions.
        let most = 2.0 * LARGEST * *seen as f64;
        let within = moments.iter().chain(correlations).all(|sum| sum.abs() <= most);
        damaged(within, "a moment is larger than its examples can make it")?;
        let positive = (0..dim).all(|i| moments[place(i, i)] >= 0.0);
        damaged(positive, "the second moment of an attribute is negative")?;
        let last = sizes.examples.is_some_and(|n| (1..=*seen).contains(&n) && !n.is_power_of_two());
        let programs = u64::from(u64::BITS - seen.leading_zeros()) + u64::from(last);
        damaged(*solved == programs, "there are not as many updates as the examples make")?;
        damaged(kept.dim() == dim, "the estimate has another dimension than the moments")?;
        damaged(kept.len() <= sizes.sparsity, "the estimate has more non-zeros than the sparsity")?;
        damaged(state::is_set(drawn, dim), "the attributes drawn are no set of attributes")?;
        let size = sizes.random();
        damaged(!pending || drawn.len() == size, "the attributes drawn are not as many as explored at a time")
    }
}

impl<P: Selection> MomentLearner<P> {
    /// Returns the learner at its start.
    pub(super) fn begin(params: P) -> Result<Self, ParamError> {
        params.gate()?;
        let Sizes { dim, budget, .. } = params.sizes();
        Ok(MomentLearner {
            moments: vec![0.0; dim * (dim + 1) / 2],
            correlations: vec![0.0; dim],
            seen: 0,
            solved: 0,
            kept: SparseVector::zeros(dim),
            sampler: SubsetSampler::new(dim),
            drawn: Vec::with_capacity(budget),
            values: Vec::with_capacity(budget),
            pending: false,
            params,
        })
    }

    /// Asks like [`ask`](Learner::ask), with this `R` instead of a random one. Attributes out of range are
    /// left out.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        state::set_of(drawn, self.params.sizes().dim, &mut self.drawn);
        self.pending = true;
        self.fill(ask);
    }

    /// Returns `R` of the example asked for last, sorted.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    fn fill(&self, ask: &mut Ask) {
        merge_into(self.predicting(), &self.drawn, ask.values(1));
    }

    /// Returns the attributes that are observed because they predict.
    fn predicting(&self) -> &[u32] {
        if self.params.sizes().predicts { self.kept.indices() } else { &[] }
    }

    /// Returns the moments so far.
    pub fn sums(&self) -> Moments<'_> {
        Moments { examples: self.seen, sums: &self.moments, correlations: &self.correlations }
    }

    /// Returns the entry `(i, j)` of `A/t`, the estimate of `E x_i x_j`; 0 before the first example.
    pub fn moment(&self, i: usize, j: usize) -> f64 {
        self.sums().moment(i, j)
    }

    /// Returns the entry `i` of `b/t`, the estimate of `E y x_i`; 0 before the first example.
    pub fn correlation(&self, i: usize) -> f64 {
        self.sums().correlation(i)
    }

    /// Chooses the estimate of this time. The moments are finite, since what each example adds to them is
    /// bounded.
    pub(super) fn solve(&mut self) {
        let w = self.params.select(&self.sums());
        let kept = HardThreshold::default().keep(&w, self.params.sizes().sparsity, &mut self.kept);
        cannot_fail(kept, "answers that are not finite were turned down");
        self.solved += 1;
    }
}

/// Returns the place of entry `(i, j)` in a packed symmetric matrix.
pub(super) fn place(i: usize, j: usize) -> usize {
    let (row, column) = (i.max(j), i.min(j));
    row * (row + 1) / 2 + column
}

impl<P: Selection> Learner for MomentLearner<P> {
    fn dim(&self) -> usize {
        self.params.sizes().dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.drawn.clear();
            self.sampler.draw(self.params.sizes().random(), rng, &mut self.drawn);
            self.pending = true;
        }
        self.fill(ask);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !self.pending || !state::is_union(seen.attributes, self.predicting(), &self.drawn) {
            return Err(told.other_attributes());
        }
        let (d, k0) = (self.params.sizes().dim as f64, self.params.sizes().random() as f64);
        let (single, pair) = (d / k0, d * (d - 1.0) / (k0 * (k0 - 1.0)));
        self.values.clear();
        let mut next = 0;
        for (&j, &value) in seen.attributes.iter().zip(seen.values) {
            if self.drawn.get(next) == Some(&j) {
                let largest = value.abs() * value.abs().max(label.abs()) * pair;
                if largest > LARGEST {
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
        if self.seen.is_power_of_two() || self.params.sizes().examples == Some(self.seen) {
            self.solve();
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
