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
//! the [moments](super::moments). After examples 1, 2, 4, 8, ..., solve the linear program
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

use super::moments::{MomentLearner, Moments, Selection, Sizes};
use crate::params::{ParamError, number, require, require_scale};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "Dantzig";

/// The largest `d` that the method accepts. At this size a linear program takes minutes.
pub const MAX_DIM: usize = 2000;

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
        MomentLearner::begin(self)
    }

    /// Returns the number of moments that an example changes, `k_0 (k_0 + 1)/2`. Each takes about 2 ns on one
    /// core. The programs are not counted; each costs about the cube of `d`.
    pub fn cost_per_example(&self) -> u64 {
        self.sizes().cost_per_example()
    }

    /// Returns `gamma_t` after `examples` examples, before any doubling.
    fn gamma(&self, examples: u64) -> f64 {
        let (d, k0, t) = (self.dim as f64, self.sizes().random() as f64, examples.max(1) as f64);
        self.scale * (d * (d * t).ln() / (k0 * t)).sqrt() * (self.noise + d / k0)
    }
}

impl Selection for DantzigParams {
    const METHOD: &'static str = NAME;

    fn sizes(&self) -> Sizes {
        let DantzigParams { dim, sparsity, budget, predicts, examples, .. } = *self;
        let most = (MAX_DIM, "since the method solves programs over d x d matrices");
        Sizes { dim, most, sparsity, budget, predicts, examples }
    }

    fn check_own(&self) -> Result<(), ParamError> {
        require(
            cfg!(feature = "linear-programs"),
            NAME,
            "feature linear-programs",
            "off",
            "on, since the method solves linear programs: enable this feature of lao-algorithms",
        )?;
        require_scale(NAME, "scale", self.scale)?;
        let ok = (0.0..=1e150).contains(&self.noise);
        require(ok, NAME, "noise", number(self.noise), "a number of at least 0 and at most 1e150")
    }

    /// Solves the programs of this time.
    fn select(&self, moments: &Moments<'_>) -> Vec<f64> {
        let correlations = moments.correlations();
        let largest = correlations.iter().fold(0.0_f64, |largest, b| largest.max(b.abs()));
        let mut gamma = self.gamma(moments.examples);
        for _ in 0..=DOUBLINGS {
            if largest <= gamma {
                break;
            }
            // A program that the solver gives up on counts as infeasible: a larger gamma makes it easier.
            let w = selector(self.dim, |i, j| moments.moment(i, j), &correlations, gamma);
            if let Some(w) = w.filter(|w| w.iter().all(|w| w.is_finite())) {
                return w;
            }
            gamma *= 2.0;
        }
        vec![0.0; self.dim]
    }
}

/// The learner of Kale et al.
pub type Dantzig = MomentLearner<DantzigParams>;

impl Dantzig {
    /// Returns `gamma_t` after `examples` examples, before any doubling.
    pub fn gamma(&self, examples: u64) -> f64 {
        self.params.gamma(examples)
    }

    /// Returns `|(b - A w)/t|_inf`, by how much `w`, of length d, violates the moment equations; 0 before the
    /// first example.
    pub fn violation(&self, w: &[f64]) -> f64 {
        let row = |i: usize| w.iter().enumerate().map(|(j, w)| self.moment(i, j) * w).sum::<f64>();
        (0..w.len()).map(|i| (self.correlation(i) - row(i)).abs()).fold(0.0, f64::max)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
    use lao_kernels::SparseVector;
    use lao_observation::{Budget, Learner as _, Seed, Session, SessionLimit};

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
