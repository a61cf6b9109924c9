//! OMP: moments estimated from random attributes, and orthogonal matching pursuit on them.
//!
//! *Source*: Chen & Caramanis 2013, *Noisy and Missing Data Regression: Distribution-Oblivious Support
//! Recovery*.
//!
//! *Setting*: every value of an example is missing at random, here all but those of a random set of the
//! budget's size: what attributes that nobody chooses are worth, beside methods that choose what they look
//! at.
//!
//! *Notation*: `k` -> `sparsity`, `k'` -> `budget`; `w` -> the sparse estimate `coefficients()`,
//! `S = supp(w)`, `A`, `b`, `R`, `k_0` as in [`moments`](super::moments).
//!
//! *Update*: add the random set to the [moments](super::moments). After examples 1, 2, 4, 8, ..., begin with
//! `S` empty and `w = 0`, and k times
//!
//! ```text
//! add to S the j outside S of largest |b_j - A_jS w_S|
//! w_S = A_SS^-1 b_S
//! ```
//!
//! *Departures*: the paper takes inner products of columns in which missing values are 0, and corrects the
//! entries of `A_SS` for what is missing; here the entries of `A` and `b` by which attributes are chosen are
//! unbiased as well. Where
//! `A_SS` is not positive definite, as an estimate may be, the attribute that makes it so gets the weight 0.
//! The method is for attributes of about one scale. With `predicts = false` the whole budget estimates
//! moments, `k_0 = k'`, as in the paper.
//!
//! *Cost*: that of the moments, and O(d k^2 + k^4) at each power of two.
//!
//! *Reference*: [`OmpReference`](super::reference::OmpReference).
//!
//! *Claims*: `pursuit-chosen-looks`.

use super::moments::{MomentLearner, Moments, Selection, Sizes};
use crate::params::ParamError;
use crate::task::Task;
use lao_kernels::solve_positive;
use serde::{Deserialize, Serialize};

const NAME: &str = "OMP";

/// The largest `d` that the method accepts. At this size the moments take 16 MB.
pub const MAX_DIM: usize = 2000;

/// Parameters of [`Omp`].
///
/// ```
/// use lao_algorithms::{Task, baselines::OmpParams};
/// use lao_observation::Learner;
///
/// let task = Task { dim: 100, sparsity: 4, budget: 20, ..Task::default() };
/// let learner = OmpParams::practical(&task)?.build()?;
/// assert_eq!(learner.dim(), 100);
///
/// let refused = OmpParams::practical(&Task { budget: 5, ..task })?.build().unwrap_err();
/// assert_eq!(refused.field, "budget");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OmpParams {
    /// `d`, attributes of an example; at most [`MAX_DIM`].
    pub dim: usize,
    /// `k`, non-zeros; `1 <= k`, and `k <= k' - 2` if the method predicts.
    pub sparsity: usize,
    /// `k'`, attributes observed per example; `2 <= k' <= d`.
    pub budget: usize,
    /// Whether `S` is observed, so that labels can be predicted. If not, all `k'` attributes are random.
    pub predicts: bool,
    /// The number of examples after which a last estimate is chosen, beside those at powers of two.
    pub examples: Option<u64>,
}

impl OmpParams {
    /// Returns practical parameters for standardized attributes, with a last estimate after the task's
    /// examples.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, although the method has no step size that it
    /// could change.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, sparsity, budget, .. } = *task;
        Ok(OmpParams { dim, sparsity, budget, predicts: true, examples: Some(task.examples) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Omp, ParamError> {
        MomentLearner::begin(self)
    }

    /// Returns the number of moments that an example changes, `k_0 (k_0 + 1)/2`. Each takes about 2 ns on one
    /// core. The choices of the support are not counted.
    pub fn cost_per_example(&self) -> u64 {
        self.sizes().cost_per_example()
    }
}

impl Selection for OmpParams {
    const METHOD: &'static str = NAME;

    fn sizes(&self) -> Sizes {
        let OmpParams { dim, sparsity, budget, predicts, examples } = *self;
        let most = (MAX_DIM, "since the moments take d^2/2 numbers");
        Sizes { dim, most, sparsity, budget, predicts, examples }
    }

    fn check_own(&self) -> Result<(), ParamError> {
        Ok(())
    }

    fn select(&self, moments: &Moments<'_>) -> Vec<f64> {
        let b = moments.correlations();
        let (mut support, mut weights) = (Vec::with_capacity(self.sparsity), Vec::new());
        while support.len() < self.sparsity {
            let left = |j: usize| {
                let explained =
                    support.iter().zip(&weights).map(|(&i, w)| moments.moment(j, i) * w).sum::<f64>();
                (b[j] - explained).abs()
            };
            let outside = (0..self.dim).filter(|j| !support.contains(j));
            // Of equals the first.
            let Some(best) = outside.map(|j| (left(j), j)).reduce(|a, b| if b.0 > a.0 { b } else { a })
            else {
                break;
            };
            support.push(best.1);
            let mut matrix: Vec<f64> =
                support.iter().flat_map(|&i| support.iter().map(move |&j| moments.moment(i, j))).collect();
            weights = support.iter().map(|&j| b[j]).collect();
            solve_positive(&mut matrix, &mut weights);
        }
        let mut w = vec![0.0; self.dim];
        let finite = support.iter().zip(weights).filter(|(_, w)| w.is_finite());
        finite.for_each(|(&j, weight)| w[j] = weight);
        w
    }
}

/// The learner of Chen & Caramanis.
pub type Omp = MomentLearner<OmpParams>;
