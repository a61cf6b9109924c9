//! Dantzig: moments estimated from random attributes, and a Dantzig selector that is solved at doubling
//! times.
//!
//! *Source*: Kale, Karnin, Liang & Pal 2017, *Adaptive Feature Selection: Computationally Efficient Online
//! Sparse Linear Regression under RIP*, in the form in which Ito et al. 2017 and Murata & Suzuki 2018 compare
//! with it.
//!
//! *Setting*: the online protocol under a budget of k' attributes per example, realizable with small noise.
//!
//! *Notation*: `k` -> `sparsity`, `k'` -> `budget`, `k_0` -> `k' - k`, `c` -> `scale`, `sigma` -> `noise`;
//! `w` -> the sparse estimate `coefficients()`, `S = supp(w)`, `R_t` -> the random set.
//!
//! *Update*: observe `S` and a uniform set `R` of `k_0` attributes of one example, predict `w' x`, and add to
//! the moments
//!
//! ```text
//! A_ij += x_i x_j / p2,   A_ii += x_i^2 / p,   b_i += y x_i / p        for i /= j in R,
//! p = k_0/d,  p2 = k_0 (k_0 - 1)/(d (d - 1))
//! ```
//!
//! so that `E A = t E x x'` and `E b = t E y x`. After examples 1, 2, 4, 8, ..., solve the linear program
//!
//! ```text
//! min |w|_1   subject to   |(b - A w)/t|_inf <= gamma_t,
//! gamma_t = c sqrt(d log(d t)/(k_0 t)) (sigma + d/k_0)
//! ```
//!
//! and keep the `k` entries of largest magnitude. The program is well defined even where `A` is not positive
//! definite. If the program is infeasible, `gamma_t` is doubled, at most 64 times and at most until `w = 0`
//! is feasible; zero is then the answer.
//!
//! *Departures*: the method is written from descriptions in later papers. Each entry of the moments is
//! unbiased, where the paper corrects the diagonal of `x~ x~'`. With `predicts = false` the whole budget
//! estimates moments, `k_0 = k'`.
//!
//! *Cost*: the moments take `d (d + 1)/2` numbers, an example changes `k_0 (k_0 + 1)/2` of them, and a
//! program costs about the cube of `d`, so `d` is limited to [`MAX_DIM`]. One core takes about 2 ns for each
//! moment changed, and for the program after 4096 examples 0.02 s at `d = 100`, 0.1 s at 200, 1.5 s at 384
//! and 6 s at 600. `T` examples make `log2 T` programs, more where `gamma_t` is doubled.
//!
//! *Feature*: the feature `linear-programs` brings the solver; without it, `build` refuses all parameters.
//!
//! *Reference*: [`DantzigReference`](super::reference::DantzigReference).
//!
//! *Claims*: `ito17-dantzig`, `ms18-fig1-rivals`.

use crate::bug::cannot_fail;
use crate::params::{ParamError, number, require, require_attributes, require_scale};
use crate::state;
use crate::task::Task;
use lao_kernels::{HardThreshold, SparseVector, SparseView, Threshold, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "Dantzig";

/// The largest `d` that the method accepts. At this size a linear program takes minutes.
pub const MAX_DIM: usize = 2000;

/// The largest number that one example may add to a moment. A program over larger numbers has no meaning, and
/// the sum of 2^62 such numbers is still finite.
const LARGEST: f64 = 1e100;

/// The largest number of times that `gamma_t` is doubled.
const DOUBLINGS: u32 = 64;

/// Parameters of [`Dantzig`].
///
/// ```
/// use lao_algorithms::{Task, baselines::DantzigParams};
///
/// let task = Task { dim: 100, sparsity: 4, budget: 20, ..Task::default() };
/// let learner = DantzigParams::practical(&task)?.build()?;
/// assert!(learner.gamma(10_000) < learner.gamma(100));
///
/// let refused = DantzigParams::practical(&Task { dim: 5000, ..task })?.build().unwrap_err();
/// assert_eq!((refused.field, refused.value.as_str()), ("dim", "5000"));
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DantzigParams {
    /// `d`, attributes of an example; at most [`MAX_DIM`].
    pub dim: usize,
    /// `k`, non-zeros kept; `1 <= k`, and `k <= k' - 2` if the method predicts.
    pub sparsity: usize,
    /// `k'`, attributes observed per example; `2 <= k' <= d`.
    pub budget: usize,
    /// Whether `S` is observed, so that labels can be predicted. If not, all `k'` attributes are random.
    pub predicts: bool,
    /// `c` in `gamma_t`, from 1e-150 to 1e150.
    pub scale: f64,
    /// `sigma >= 0` in `gamma_t`, in units of the label; at most 1e150.
    pub noise: f64,
    /// The number of examples after which a last program is solved, beside those at powers of two.
    pub examples: Option<u64>,
}

impl DantzigParams {
    /// Returns practical parameters for standardized attributes: `c = 1/10`, no noise beyond the estimate's
    /// own, and a last program after the task's examples. The constant of the analysis is not known; values
    /// of `c` from 0.01 to 1 are in use.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, although the method has no step size that it
    /// could change.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, sparsity, budget, .. } = *task;
        let examples = Some(task.examples);
        Ok(DantzigParams { dim, sparsity, budget, predicts: true, scale: 0.1, noise: 0.0, examples })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Dantzig, ParamError> {
        self.gate()?;
        let DantzigParams { dim, budget, .. } = self;
        Ok(Dantzig {
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

    /// Returns the number of moments that an example changes, `k_0 (k_0 + 1)/2`. Each takes about 2 ns on one
    /// core. The programs are not counted; each costs about the cube of `d`.
    pub fn cost_per_example(&self) -> u64 {
        let random = self.random() as u64;
        random.saturating_mul(random.saturating_add(1)) / 2
    }

    /// Returns the number of observed attributes that predict.
    fn read(&self) -> usize {
        if self.predicts { self.sparsity } else { 0 }
    }

    /// Returns `k_0`, the size of the random set.
    fn random(&self) -> usize {
        self.budget.saturating_sub(self.read())
    }

    /// Refuses parameters that are not allowed, when a learner is built and when its state is read.
    fn gate(&self) -> Result<(), ParamError> {
        let DantzigParams { dim, sparsity, budget, scale, noise, .. } = *self;
        require(
            cfg!(feature = "linear-programs"),
            NAME,
            "feature linear-programs",
            "off",
            "on, since the method solves linear programs: enable this feature of lao-algorithms",
        )?;
        let ok = (2..=MAX_DIM).contains(&dim);
        require(
            ok,
            NAME,
            "dim",
            dim,
            format_args!("from 2 to {MAX_DIM}, since the method solves programs over d x d matrices"),
        )?;
        require_attributes(NAME, "sparsity", sparsity, dim)?;
        let read = self.read();
        require(
            budget <= dim && budget >= read + 2,
            NAME,
            "budget",
            budget,
            format_args!("from {} to d = {dim}: two random attributes beside those that predict", read + 2),
        )?;
        require_scale(NAME, "scale", scale)?;
        let ok = (0.0..=1e150).contains(&noise);
        require(ok, NAME, "noise", number(noise), "a number of at least 0 and at most 1e150")
    }
}

/// The learner of Kale et al.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Dantzig {
    params: DantzigParams,
    /// The lower triangle of `A`, row by row.
    moments: Vec<f64>,
    /// `b`.
    correlations: Vec<f64>,
    seen: u64,
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

lao_observation::stored!(Dantzig);

impl Validate for Dantzig {
    fn validate(&self) -> Result<(), Damaged> {
        let Dantzig { params, moments, correlations, seen, solved, kept, sampler, drawn, pending, .. } = self;
        let dim = params.dim;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        params.gate().map_err(ParamError::damaged)?;
        state::length(NAME, "the sampler", sampler.dim(), dim)?;
        state::length(NAME, "the list of moments", moments.len(), dim * (dim + 1) / 2)?;
        state::length(NAME, "the list of correlations", correlations.len(), dim)?;
        state::count(NAME, "the number of examples", *seen)?;
        // The factor 2 covers the rounding of as many additions.
        let most = 2.0 * LARGEST * *seen as f64;
        let within = moments.iter().chain(correlations).all(|sum| sum.abs() <= most);
        damaged(within, "a moment is larger than its examples can make it")?;
        let positive = (0..dim).all(|i| moments[place(i, i)] >= 0.0);
        damaged(positive, "the second moment of an attribute is negative")?;
        let last = params.examples.is_some_and(|n| (1..=*seen).contains(&n) && !n.is_power_of_two());
        let programs = u64::from(u64::BITS - seen.leading_zeros()) + u64::from(last);
        damaged(*solved == programs, "there are not as many updates as the examples make")?;
        damaged(kept.dim() == dim, "the estimate has another dimension than the moments")?;
        damaged(kept.len() <= params.sparsity, "the estimate has more non-zeros than the sparsity")?;
        damaged(state::is_set(drawn, dim), "the attributes drawn are no set of attributes")?;
        let size = params.random();
        damaged(!pending || drawn.len() == size, "the attributes drawn are not as many as explored at a time")
    }
}

impl Dantzig {
    /// Asks like [`ask`](Learner::ask), with this `R` instead of a random one. Attributes out of range are
    /// left out.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        state::set_of(drawn, self.params.dim, &mut self.drawn);
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
        if self.params.predicts { self.kept.indices() } else { &[] }
    }

    /// Returns `gamma_t` after `examples` examples, before any doubling.
    pub fn gamma(&self, examples: u64) -> f64 {
        let (d, k0, t) = (self.params.dim as f64, self.params.random() as f64, examples.max(1) as f64);
        self.params.scale * (d * (d * t).ln() / (k0 * t)).sqrt() * (self.params.noise + d / k0)
    }

    /// Returns `|(b - A w)/t|_inf`, by how much `w`, of length d, violates the moment equations; 0 before the
    /// first example.
    pub fn violation(&self, w: &[f64]) -> f64 {
        let (moments, t) = (&self.moments, self.seen.max(1) as f64);
        let row = |i: usize| w.iter().enumerate().map(|(j, w)| moments[place(i, j)] * w).sum::<f64>();
        self.correlations.iter().enumerate().map(|(i, b)| ((b - row(i)) / t).abs()).fold(0.0, f64::max)
    }

    /// Returns the entry `(i, j)` of `A/t`, the estimate of `E x_i x_j`; 0 before the first example.
    pub fn moment(&self, i: usize, j: usize) -> f64 {
        self.moments.get(place(i, j)).map_or(0.0, |sum| sum / self.seen.max(1) as f64)
    }

    /// Returns the entry `i` of `b/t`, the estimate of `E y x_i`; 0 before the first example.
    pub fn correlation(&self, i: usize) -> f64 {
        self.correlations.get(i).map_or(0.0, |sum| sum / self.seen.max(1) as f64)
    }

    /// Solves the programs of this time. The moments are finite, since what each example adds to them is
    /// bounded.
    fn solve(&mut self) {
        let dim = self.params.dim;
        let t = self.seen as f64;
        let correlations: Vec<f64> = self.correlations.iter().map(|b| b / t).collect();
        let largest = correlations.iter().fold(0.0_f64, |largest, b| largest.max(b.abs()));
        let mut gamma = self.gamma(self.seen);
        let mut w = None;
        for _ in 0..=DOUBLINGS {
            if largest <= gamma {
                break;
            }
            // A program that the solver gives up on counts as infeasible: a larger gamma makes it easier.
            w = selector(dim, |i, j| self.moments[place(i, j)] / t, &correlations, gamma)
                .filter(|w| w.iter().all(|w| w.is_finite()));
            if w.is_some() {
                break;
            }
            gamma *= 2.0;
        }
        let w = w.unwrap_or_else(|| vec![0.0; dim]);
        let kept = HardThreshold::default().keep(&w, self.params.sparsity, &mut self.kept);
        cannot_fail(kept, "answers that are not finite were turned down");
        self.solved += 1;
    }
}

/// Returns the place of entry `(i, j)` in a packed symmetric matrix.
fn place(i: usize, j: usize) -> usize {
    let (row, column) = (i.max(j), i.min(j));
    row * (row + 1) / 2 + column
}

/// Returns the Dantzig selector: a minimizer of `|w|_1` subject to `|b - A w|_inf <= gamma`, for a `dim` x
/// `dim` matrix `a(i, j)`. Returns `None` if the program is infeasible or the solver gives up. An entry below
/// 1e-12 of the largest counts as 0: it is what rounding leaves of a sum that cancels, and the solver gives
/// up on numbers of so different sizes. Needs the feature `linear-programs`.
///
/// ```
/// use lao_algorithms::baselines::dantzig::selector;
///
/// // A exchanges the two coordinates.
/// let w = selector(2, |i, j| f64::from(i != j), &[1.0, 2.0], 0.0).unwrap();
/// assert!((w[0] - 2.0).abs() < 1e-9 && (w[1] - 1.0).abs() < 1e-9);
/// ```
#[cfg(feature = "linear-programs")]
pub fn selector(dim: usize, a: impl Fn(usize, usize) -> f64, b: &[f64], gamma: f64) -> Option<Vec<f64>> {
    use microlp::{ComparisonOp, OptimizationDirection, Problem};
    let entries = (0..dim).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let largest = entries.fold(0.0_f64, |largest, (i, j)| largest.max(a(i, j).abs()).max(a(j, i).abs()));
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let parts: Vec<_> =
        (0..dim).map(|_| [(); 2].map(|()| program.add_var(1.0, (0.0, f64::INFINITY)))).collect();
    for (i, &b) in b.iter().enumerate() {
        // A slack variable with two bounds turns two inequalities into one row.
        let slack = program.add_var(0.0, (-gamma, gamma));
        let terms = parts
            .iter()
            .enumerate()
            .filter_map(|(j, &parts)| Some((parts, a(i, j))).filter(|at| at.1.abs() > 1e-12 * largest));
        let row = terms.flat_map(|([plus, minus], a)| [(plus, a), (minus, -a)]).chain([(slack, 1.0)]);
        program.add_constraint(row.collect::<Vec<_>>(), ComparisonOp::Eq, b);
    }
    let solution = program.solve().ok()?.into_solution().ok()?;
    let value = |[plus, minus]: [_; 2]| solution.var_value(plus) - solution.var_value(minus);
    Some(parts.into_iter().map(value).collect())
}

/// Returns `None`. This function is never called, since `build` refuses all parameters without the feature.
#[cfg(not(feature = "linear-programs"))]
pub(crate) fn selector(_: usize, _: impl Fn(usize, usize) -> f64, _: &[f64], _: f64) -> Option<Vec<f64>> {
    None
}

impl Learner for Dantzig {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.drawn.clear();
            self.sampler.draw(self.params.random(), rng, &mut self.drawn);
            self.pending = true;
        }
        self.fill(ask);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !self.pending || !state::is_union(seen.attributes, self.predicting(), &self.drawn) {
            return Err(told.other_attributes());
        }
        let (d, k0) = (self.params.dim as f64, self.params.random() as f64);
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
        if self.seen.is_power_of_two() || self.params.examples == Some(self.seen) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
    use lao_observation::{Budget, Seed, Session, SessionLimit};

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

    fn small() -> DantzigParams {
        let task = Task { dim: 6, sparsity: 2, budget: 4, examples: 100, ..Task::default() };
        DantzigParams::practical(&task).unwrap()
    }

    #[test]
    fn programs_end_whatever_the_moments() {
        // Gamma underflows or stays far below the correlations, and no predictor comes near: A is zero or
        // huge.
        for (scale, moment) in [(1e-150, 0.0), (0.1, 0.0), (1e-150, 1e100), (0.1, 1e100), (1.0, -1e-100)] {
            let params = DantzigParams { scale, ..small() };
            let mut learner = params.build().unwrap();
            learner.seen = 64;
            learner.moments.iter_mut().enumerate().for_each(|(at, m)| *m = moment * ((at % 3) as f64 - 1.0));
            learner.correlations = (0..6).map(|i| 1e100 * (f64::from(i) - 2.5)).collect();
            learner.solve();
            assert!(learner.coefficients().values().iter().all(|w| w.is_finite()), "{scale}, {moment}");
            assert_eq!(learner.updates(), 1);
        }
    }

    #[test]
    fn a_program_is_solved_where_rounding_is_left_of_sums_that_cancel() {
        // Signs, over p2: the sums of products are multiples of 1/p2 that cancel but for rounding.
        let task = Task { dim: 64, sparsity: 4, budget: 16, ..Task::default() };
        let params = DantzigParams { examples: None, ..DantzigParams::practical(&task).unwrap() };
        let mut learner = params.build().unwrap();
        let star = SparseVector::new(64, vec![5, 16, 35, 62], vec![1.0, -1.0, 1.0, -1.0]).unwrap();
        let design = Rademacher::new(64).unwrap();
        let source = Virtual::new(design, star.clone(), Noise::Gaussian(1.0), &Seed::root(1)).unwrap();
        let mut session = Session::new(source, Budget::PerExample(16), &Seed::root(2));
        for power in 14..=18 {
            session.run(&mut learner, SessionLimit::after_examples(1 << power), |_, _| {}).unwrap();
            let error: f64 = star.view().iter().map(|(j, w)| (w - learner.coefficients().get(j)).abs()).sum();
            assert!(error < 1.0, "after 2^{power} examples: {error}");
        }
    }

    #[test]
    fn a_stored_dimension_without_moments_is_refused() {
        let mut learner = small().build().unwrap();
        for dim in [0, 5, 2000, usize::MAX] {
            learner.params.dim = dim;
            let stored = serde_json::to_string(&learner).unwrap();
            let error = serde_json::from_str::<Dantzig>(&stored).unwrap_err().to_string();
            assert!(error.contains("stored Dantzig is damaged"), "{dim}: {error}");
        }
    }
}
