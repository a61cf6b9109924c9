//! AESVR: stochastic gradient descent for support vector regression from k + 7/2 attributes per example on
//! average.
//!
//! *Source*: Hazan & Koren 2012, Algorithm 4, with GenEst (Procedure 3).
//!
//! *Setting*: examples with `|x|_2 <= 1` and `|y| <= B`, loss `max(|w.x - y| - delta, 0)`; competes with the
//! best predictor of l2 norm at most `B`. The method minimizes `f_eps(w.x - y)` in the place of the loss,
//! which is convex, entire, and at most `eps/sqrt(pi)` above the loss ([`loss`](super::loss)).
//!
//! *Notation*: `k` -> `draws`, `B` -> `radius`, `eta` -> `step_size`, `delta` -> `insensitivity`, `eps` ->
//! `smoothing`, `N` -> `repetitions`; `w_t` is [`iterate`](Aesvr::iterate); the output `w-bar` is
//! `coefficients()`.
//!
//! *Update*: that of [`aerr`](super::aerr) with another `phi`. With `x' = x/eps` and
//! `y+- = (y +- delta)/eps`,
//!
//! ```text
//! phi = (GenEst(w, x', y+) + GenEst(w, x', y-)) / 2
//! E phi = (erf(w.x' - y+) + erf(w.x' - y-)) / 2 = f_eps'(w.x - y)
//! v   = w - eta phi x~,   x~ = (d/k) sum_r x[i_r] e_{i_r}
//! w  <- v min(1, B / |v|_2)
//! ```
//!
//! *Attributes read*: an example takes `k + 2 E` reads on average, where `E <= 7/4` is the mean of one
//! [`GenEst`]. The number of reads of one example has no bound, but a repeated attribute is read once, so at
//! most `d` attributes are read. [`Aesvr::budget`] states both numbers.
//!
//! *Departures*: `N` is `16 B^2/eps^2`, rounded up, where Procedure 3 prints `4 B^2`: GenEst is called with
//! `w/eps` and labels up to `2B/eps`, so its lemma asks for `4 (2B/eps)^2`. The even terms of the series of
//! erf are zero, and no attributes are read for them unless `reads_zeros` is set. At `w = 0` the estimates
//! are `-y+-`, which is exact. The variance of `phi` grows like `exp(16 (B/eps)^2)` in the worst case, not
//! like `exp(log^2(B/eps))` as printed: keep `B/eps` near 1.
//!
//! *Reference*: [`AesvrReference`](super::reference::AesvrReference).
//!
//! *Claims*: `hk12-thm44-attributes`, `hk12-thm44-risk`.

use super::aerr::standardized_step_size;
use super::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use super::l2_ball_iterate::L2BallIterate;
use super::two_sample::{Iterate, Step, TwoSampleMethod};
use crate::draws::{DrawCounts, Horizon, PendingExample, Prediction, require_shape};
use crate::params::{ParamError, derived, number, require, require_scale};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::inner_product::l2_law;
use lao_observation::sample::uniform_draws;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Budget, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

const NAME: &str = "AESVR";
/// The largest `N`. The variance of an estimate grows like `e^N`, and one example may read tens of times `N`
/// attributes.
const MAX_REPETITIONS: u32 = 1 << 16;

/// The loss of [`Aesvr`], with a bound on its gradients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmoothedLoss {
    /// `delta`, in units of the label.
    pub insensitivity: f64,
    /// `eps`, in units of the label.
    pub smoothing: f64,
    /// An upper bound of `E phi^2`.
    pub second_moment: f64,
}

/// Parameters of [`Aesvr`].
///
/// ```
/// use lao_algorithms::{Task, hazan_koren::AesvrParams};
/// use lao_observation::Budget;
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let params = AesvrParams::practical(&task)?;
/// assert_eq!((params.draws, params.repetitions), (18, 4));
/// assert!(matches!(params.budget(), Budget::Expected { .. }));
/// assert!(params.build().is_ok());
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AesvrParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k`, uniform draws per example, from 1 to 16 d.
    pub draws: usize,
    /// `B`, the largest l2 norm of a predictor, from 1e-150 to 1e150.
    pub radius: f64,
    /// `eta`, from 1e-150 to 1e150.
    pub step_size: f64,
    /// `delta`, in units of the label, from 0 to 1e150.
    pub insensitivity: f64,
    /// `eps`, in units of the label, from 1e-150 to 1e150.
    pub smoothing: f64,
    /// `N`, the number of attributes that an averaged estimate reads, from 1 to 2^16.
    pub repetitions: u32,
    /// Whether attributes are read for the even terms of the series, although these terms are zero.
    #[serde(default)]
    pub reads_zeros: bool,
}

impl AesvrParams {
    /// Returns the parameters of Theorem 4.4 with `N = 16 B^2/eps^2`, rounded up. The theorem leaves the step
    /// size to be tuned; this one is `2B/(G sqrt(m))` for `m = examples` with `|x|_2 <= 1`, where
    /// `G^2 = second_moment (d + k - 1)/k` bounds the squared gradient and `second_moment` bounds `E phi^2`.
    pub fn from_theorem(horizon: Horizon, loss: SmoothedLoss) -> Self {
        let Horizon { dim, draws, radius, examples } = horizon;
        let SmoothedLoss { insensitivity, smoothing, second_moment } = loss;
        let (d, k) = (dim as f64, draws as f64);
        let gradient = (second_moment * (d + k - 1.0) / k).sqrt();
        let step_size = 2.0 * radius / (gradient * (examples.max(1) as f64).sqrt());
        AesvrParams {
            dim,
            draws,
            radius,
            step_size: derived(step_size, &[radius, second_moment]),
            insensitivity,
            smoothing,
            repetitions: Self::default_repetitions(radius, smoothing),
            reads_zeros: false,
        }
    }

    /// Returns practical parameters for standardized attributes, whose examples have `|x|_2^2` near `d`: no
    /// insensitivity, `eps = 2 B sqrt(d)`, so that margins stay where the variance of GenEst is small, and
    /// AERR's step size divided by the slope of `f_eps'` at 0, `2/(eps sqrt(pi))`. The loss is then close to
    /// a square wherever residuals are below `eps`. Two attributes of the budget are left for the two
    /// estimates, which read no more on average.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or its budget is below 3 or above `d`.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let horizon = Horizon::of(task, NAME, 2)?;
        let Horizon { dim, draws, radius, .. } = horizon;
        let smoothing = derived(2.0 * radius * (dim as f64).sqrt(), &[radius]);
        let of_square = standardized_step_size(horizon, task.speed);
        let step_size = of_square * smoothing / std::f64::consts::FRAC_2_SQRT_PI;
        Ok(AesvrParams {
            dim,
            draws,
            radius,
            step_size: derived(step_size, &[task.speed, radius]),
            insensitivity: 0.0,
            smoothing,
            repetitions: Self::default_repetitions(radius * (dim as f64).sqrt(), smoothing),
            reads_zeros: false,
        })
    }

    /// Returns `ceil(16 B^2/eps^2)`, at least 1 and at most 2^16.
    pub fn default_repetitions(radius: f64, smoothing: f64) -> u32 {
        (16.0 * (radius / smoothing).powi(2)).ceil().clamp(1.0, f64::from(MAX_REPETITIONS)) as u32
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aesvr, ParamError> {
        self.gate()?;
        let AesvrParams { dim, radius, repetitions, .. } = self;
        // With high probability this is enough for the draws of each of 2^32 examples.
        let most = (repetitions as usize).saturating_mul(32).min(1 << 16);
        let draws = GenEstDraws { factors: 0, attributes: Vec::with_capacity(most) };
        Ok(Aesvr {
            iterate: L2BallIterate::new(&SparseVector::zeros(dim), radius),
            pending: PendingExample::new(dim, Prediction::Observed),
            estimates: [draws.clone(), draws],
            estimate: self.estimate(),
            params: self,
            done: 0,
            average: OnceCell::new(),
        })
    }

    /// Returns the numbers of attributes read per example: the mean, which counts repeated attributes and so
    /// is an upper bound for distinct ones, and the maximum.
    pub fn budget(&self) -> Budget {
        let mean = self.draws as f64 + 2.0 * self.estimate().expected_reads(erf_coefficient);
        Budget::Expected { mean, cap: self.dim }
    }

    fn estimate(&self) -> GenEst {
        GenEst { repetitions: self.repetitions, reads_zeros: self.reads_zeros }
    }

    /// Refuses parameters that are not allowed, when a learner is built and when its state is read.
    fn gate(&self) -> Result<(), ParamError> {
        let AesvrParams { dim, draws, radius, step_size, insensitivity, smoothing, repetitions, .. } = *self;
        require_shape(NAME, dim, draws, radius, step_size)?;
        let ok = (0.0..=1e150).contains(&insensitivity);
        require(ok, NAME, "insensitivity", number(insensitivity), "a finite number from 0 to 1e150")?;
        require_scale(NAME, "smoothing", smoothing)?;
        let ok = (1..=MAX_REPETITIONS).contains(&repetitions);
        require(
            ok,
            NAME,
            "repetitions",
            repetitions,
            "from 1 to 2^16; N is 16 B^2/eps^2, and B/eps should be near 1",
        )
    }
}

/// The draws of one example of [`Aesvr`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AesvrDraws {
    /// `i_1 .. i_k`: uniform, with replacement, in any order.
    pub uniform: Vec<u32>,
    /// The draws of `GenEst(w, x', y+)` and of `GenEst(w, x', y-)`.
    pub estimates: [GenEstDraws; 2],
}

/// The learner of Algorithm 4. An example costs O(k log d), amortized, plus O(log d) per attribute that
/// GenEst reads; the learner keeps O(d) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Aesvr {
    params: AesvrParams,
    estimate: GenEst,
    iterate: L2BallIterate,
    pending: PendingExample,
    /// GenEst's draws for the example asked for.
    estimates: [GenEstDraws; 2],
    done: u64,
    #[serde(skip)]
    average: OnceCell<SparseVector>,
}

lao_observation::stored!(Aesvr);

impl Validate for Aesvr {
    fn validate(&self) -> Result<(), Damaged> {
        let Aesvr { params, estimate, iterate, pending, estimates, done, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        params.gate().map_err(ParamError::damaged)?;
        damaged(*estimate == params.estimate(), "the parameters of GenEst are not those of the method")?;
        damaged(iterate.dim() == params.dim, "the predictor has another dimension than the parameters")?;
        damaged(iterate.radius() == params.radius, "the predictor has another radius than the parameters")?;
        state::count(NAME, "the number of updates", *done)?;
        iterate.check(NAME, *done)?;
        let weighted = || estimates.iter().flat_map(|draws| draws.attributes.iter().copied());
        let wanted = DrawCounts { uniform: params.draws, weighted: weighted().count() };
        pending.check(NAME, params.dim, Prediction::Observed, wanted)?;
        if pending.pending() {
            damaged(pending.is_weighted(weighted()), "the draws by weight are not those of the estimates")?;
            let reads = |draws: &GenEstDraws| estimate.reads(erf_coefficient, draws.factors);
            let fits = |draws: &GenEstDraws| draws.attributes.len() as u64 == reads(draws);
            damaged(
                estimates.iter().all(fits),
                "an estimate has other draws than its number of factors asks for",
            )?;
        }
        Ok(())
    }
}

impl Aesvr {
    /// Returns `w_t`, all d coordinates, at a cost of O(d).
    pub fn iterate(&self) -> Vec<f64> {
        self.iterate.to_dense()
    }

    /// Returns the numbers of attributes read per example, like [`AesvrParams::budget`].
    pub fn budget(&self) -> Budget {
        self.params.budget()
    }

    /// Asks like [`ask`](Learner::ask), with these draws instead of random ones. A state that is stored while
    /// it awaits other numbers of draws than the method makes cannot be read.
    pub fn ask_for(&mut self, draws: &AesvrDraws, ask: &mut Ask) {
        let (uniform, weighted) = self.pending.draws();
        uniform.extend_from_slice(&draws.uniform);
        self.estimates.clone_from(&draws.estimates);
        draws.estimates.iter().for_each(|estimate| weighted.extend_from_slice(&estimate.attributes));
        self.pending.ask_given(ask);
    }

    /// Returns the number of attributes drawn for the example asked for, with multiplicity.
    pub fn reads(&self) -> usize {
        self.params.draws + self.estimates.iter().map(|draws| draws.attributes.len()).sum::<usize>()
    }

    /// Returns GenEst's draws for the example asked for, for `y+` and for `y-`.
    pub fn estimates(&self) -> &[GenEstDraws; 2] {
        &self.estimates
    }

    /// Returns `phi`.
    fn slope(&self, seen: Row<'_>, label: f64) -> f64 {
        let AesvrParams { insensitivity, smoothing, .. } = self.params;
        let norm_squared = self.iterate.norm_squared();
        let inner_product = |j: u32| {
            let value = self.pending.value(seen, j);
            match self.iterate.get(j) {
                0.0 => 0.0,
                coefficient => l2_law(norm_squared, coefficient, value / smoothing),
            }
        };
        let of = |draws, shift| {
            self.estimate.value(erf_coefficient, draws, inner_product, (label + shift) / smoothing)
        };
        let [plus, minus] = &self.estimates;
        0.5 * (of(plus, insensitivity) + of(minus, -insensitivity))
    }
}

impl Learner for Aesvr {
    fn dim(&self) -> usize {
        self.iterate.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.pending.pending() {
            return self.pending.ask_given(ask);
        }
        let (uniform, weighted) = self.pending.draws();
        uniform_draws(self.iterate.dim(), self.params.draws, rng, uniform);
        for draws in &mut self.estimates {
            let by_weight = |rng: &mut Rng| self.iterate.draw(rng).unwrap_or(uniform[0]);
            self.estimate.draw(erf_coefficient, by_weight, rng, draws);
            weighted.extend_from_slice(&draws.attributes);
        }
        self.pending.ask(ask);
    }

    /// Returns the observed part of `w.x`, with 0 for attributes that were not observed.
    fn predict(&self, seen: Row<'_>) -> f64 {
        self.pending.observed_part(seen, |j| self.iterate.get(j))
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let seen = self.pending.answer(told)?;
        let phi = self.slope(seen.all, seen.label);
        let AesvrParams { draws, step_size, .. } = self.params;
        let step = Step { draws, size: step_size, update: self.done + 1 };
        self.iterate.descend(seen.uniform, phi, step)?;
        self.done += 1;
        self.average.take();
        self.pending.clear();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.average.get_or_init(|| self.iterate.average(self.done)).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
