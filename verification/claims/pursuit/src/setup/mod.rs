//! Instances, runs with what they found at some numbers of examples, and faulty learners and sources.

pub mod faulty;
pub mod null;
pub mod phased;
pub mod support;

use faulty::{Deaf, noisier};
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_datasets::synthetic::{Chain, Design, EquicorrelatedBlocks, FactorModel, Noise, Normal, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    BlockBuf, Budget, LearnError, Learner, Rng, Seed, Session, SessionError, SessionLimit, Source,
    SourceError,
};
use lao_verification_engine::claim::Mutant;
use lao_verification_engine::context::{Context, Trial, View, still};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

/// The law of the attributes; all have mean 0 and variance 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Independent normal attributes.
    Independent,
    /// Normal attributes with `Sigma_ij = rho^|i-j|`.
    Chain(f64),
    /// Signs in blocks of ten, with this correlation within a block.
    Blocks(f64),
    /// Signs that load on three common signs, half of their variance.
    Factors,
}

impl Law {
    fn design(self, dim: usize) -> anyhow::Result<Box<dyn Design>> {
        Ok(match self {
            Law::Independent => Box::new(Normal::new(dim)?),
            Law::Chain(rho) => Box::new(Chain::new(dim, rho)?),
            Law::Blocks(rho) => Box::new(EquicorrelatedBlocks::new(dim, 10, rho)?),
            Law::Factors => {
                // The loadings of attribute j are the values of three waves, scaled to squared length 1/2.
                let wave = |j: usize, k: usize| (0.7 * (j * (k + 1)) as f64 + k as f64).sin();
                let row = |j: usize| {
                    let row = [wave(j, 0), wave(j, 1), wave(j, 2)];
                    let length = row.iter().map(|l| l * l).sum::<f64>().sqrt();
                    row.map(|l| (0.5f64).sqrt() * l / length)
                };
                Box::new(FactorModel::new(3, (0..dim).flat_map(row).collect())?)
            }
        })
    }
}

/// An instance of regression: coefficients of 1 and -1 at random places.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The law of the attributes.
    pub law: Law,
    /// `d`.
    pub dim: usize,
    /// `s*`.
    pub star: usize,
    /// `sigma`.
    pub noise: f64,
}

/// The stream of examples of a [`Scene`].
pub type Examples = Virtual<Box<dyn Design>>;

impl Scene {
    /// Returns the examples of this seed, which also places the coefficients: one more than half of them, or
    /// half, are 1.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn examples(&self, seed: &Seed) -> anyhow::Result<Examples> {
        let mut places: Vec<u32> = (0..self.dim as u32).collect();
        places.shuffle(&mut seed.child("support").rng());
        places.truncate(self.star);
        let mut signed: Vec<(u32, f64)> = places.into_iter().zip([1.0, -1.0].into_iter().cycle()).collect();
        signed.sort_by_key(|(j, _)| *j);
        let (support, values) = signed.into_iter().unzip();
        let target = SparseVector::new(self.dim, support, values)?;
        let design = self.law.design(self.dim)?;
        Ok(Virtual::new(design, target, Noise::Gaussian(self.noise), &seed.child("data"))?)
    }
}

/// What a learner knows after a number of examples.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Attributes with an effect that are in the predictor, with the right sign and at least a tenth of their
    /// size.
    pub found: usize,
    /// Attributes without an effect that are in the predictor.
    pub wrong: usize,
    /// `(theta - theta*)' Sigma (theta - theta*)`; infinite once the learner has diverged.
    pub gap: f64,
    /// The intercept, which should be 0.
    pub intercept: f64,
}

impl Point {
    /// Returns what `learner`, which started at zero, shows of the target.
    pub fn of(learner: &dyn Learner, view: View, truth: &Examples) -> Self {
        let shown = |x: f64| view.map_or(x, |cripple| cripple.value(0.0, x));
        let mut theta = learner.coefficients().to_owned_vector();
        theta.values_mut().iter_mut().for_each(|x| *x = shown(*x));
        theta.prune_zeros();
        let (theta, star) = (theta.view(), truth.theta_star());
        let found = star.iter().filter(|&(j, b)| found(theta, j, b)).count();
        let wrong = theta.indices().iter().filter(|&&j| star.get(j) == 0.0).count();
        Point { found, wrong, gap: truth.gap(theta), intercept: shown(learner.intercept()) }
    }

    /// Returns the excess risk of the predictor, with its intercept.
    pub fn excess(&self) -> f64 {
        self.gap + self.intercept * self.intercept
    }

    /// Returns whether the predictor has the right attributes and no others.
    pub fn is_right(&self, star: usize) -> bool {
        self.found == star && self.wrong == 0
    }
}

fn found(theta: SparseView<'_>, j: u32, truth: f64) -> bool {
    theta.get(j) * truth >= 0.1 * truth * truth
}

/// The mutant that is deaf to the last examples.
pub const LEARNS_A_QUARTER: Mutant =
    Mutant::refuted("learns_a_quarter", "learns nothing from the last three quarters of the examples");

/// The mutant that is deaf to all but the first examples.
pub const LEARNS_A_64TH: Mutant =
    Mutant::refuted("learns_a_64th", "learns nothing from the examples after a 64th of them");

/// The mutant that adds attributes lightly.
pub const LEVEL_OF_NINE_TENTHS: Mutant =
    Mutant::refuted("level_of_nine_tenths", "the learner is built with the level .9");

/// The mutant that learns from each example twice.
pub const REPEATS: Mutant =
    Mutant::refuted("repeats_rows", "each example is told twice, as if it were two fresh ones");

/// Returns whether Pursuit ever adds an attribute within so many examples.
///
/// # Errors
/// When the parameters are refused, or the session fails.
pub fn adds(
    source: Box<dyn Source>,
    params: PursuitParams,
    examples: u64,
    seed: &Seed,
) -> anyhow::Result<bool> {
    adds_with(source, params, examples, seed, |_| Ok(()))
}

/// As [`adds`]; `after` may change the learner after each step.
///
/// # Errors
/// As [`adds`], and those of `after`.
pub fn adds_with(
    source: Box<dyn Source>,
    params: PursuitParams,
    examples: u64,
    seed: &Seed,
    after: impl FnMut(&mut Pursuit) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    ever(source, params, examples, seed, after, |support| !support.is_empty())
}

/// Returns whether the support of Pursuit is ever a wrong one within so many examples. `after` may change the
/// learner after each step.
///
/// # Errors
/// As [`adds`], and those of `after`.
pub fn ever(
    source: Box<dyn Source>,
    params: PursuitParams,
    examples: u64,
    seed: &Seed,
    mut after: impl FnMut(&mut Pursuit) -> anyhow::Result<()>,
    is_wrong: impl Fn(&[u32]) -> bool,
) -> anyhow::Result<bool> {
    let budget = Budget::PerExample(params.budget);
    let mut learner = params.build()?;
    let mut session = Session::new(source, budget, &seed.child("algorithm"));
    while session.ledger().examples < examples {
        let left = examples - session.ledger().examples;
        session.step(&mut learner, left)?;
        after(&mut learner)?;
        if is_wrong(learner.support()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Examples of which values are missing at random.
pub struct Gappy<S, P> {
    inner: S,
    /// The probability that a value of an attribute is missing.
    missing: P,
    /// Whether a gap is told as the mean of its attribute, 0, as if it had been observed.
    filled: bool,
    rng: Rng,
}

impl<S: Source, P: Fn(u32) -> f64> Gappy<S, P> {
    /// Returns `inner` with gaps.
    pub fn new(inner: S, missing: P, filled: bool, seed: &Seed) -> Self {
        Gappy { inner, missing, filled, rng: seed.child("gaps").rng() }
    }
}

impl<S: Source, P: Fn(u32) -> f64 + Send> Source for Gappy<S, P> {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.inner.observe(attributes, block)?;
        for (c, &j) in attributes.iter().enumerate() {
            for x in &mut block.column_mut(c)[..rows] {
                if self.rng.random::<f64>() < (self.missing)(j) {
                    *x = if self.filled { 0.0 } else { f64::NAN };
                }
            }
        }
        Ok(rows)
    }

    fn has_gaps(&self) -> bool {
        true
    }
}

/// What changes in an arm of a claim that holds Pursuit to targets.
#[derive(Clone, Copy)]
pub struct Arm {
    learns_a_quarter: bool,
    noisy: bool,
}

impl Arm {
    /// Returns the arm that runs; `noisy` is the claim's mutant of which the labels have more noise.
    pub fn of(cx: &mut Context<'_>, noisy: &Mutant) -> Self {
        Arm { learns_a_quarter: cx.commits(&LEARNS_A_QUARTER), noisy: cx.commits(noisy) }
    }

    /// Returns what Pursuit shows of the scene in each view, at the numbers of examples `marks`.
    ///
    /// # Errors
    /// When the parameters are refused, or the session fails.
    pub fn pursue(
        self,
        scene: &Scene,
        budget: usize,
        marks: &[u64],
        views: &[View],
        trial: &Trial,
    ) -> anyhow::Result<Vec<Vec<Point>>> {
        let truth = scene.examples(&trial.seed)?;
        let last = marks.last().copied().unwrap_or(0);
        let learner = PursuitParams::within(scene.dim, budget).build()?;
        let mut learner = Deaf::after(if self.learns_a_quarter { last / 4 } else { last }, learner);
        let sigma = if self.noisy { 2.0 } else { 0.0 };
        let source = noisier(scene.examples(&trial.seed)?, sigma, &trial.seed);
        follow_in_views(source, &mut learner, budget, (&truth, marks), views, &trial.seed)
    }
}

/// Runs the learner and returns what it knows at each of the numbers of examples, which ascend.
///
/// # Errors
/// When the session fails; a learner that diverges does not make it fail.
pub fn follow<S: Source>(
    source: S,
    learner: &mut dyn Learner,
    budget: usize,
    of: (&Examples, &[u64]),
    seed: &Seed,
) -> anyhow::Result<Vec<Point>> {
    Ok(follow_in_views(source, learner, budget, of, &[None], seed)?.swap_remove(0))
}

/// Runs the learner, which starts at zero, and returns what it shows in each view, at each of the numbers of
/// examples.
///
/// # Errors
/// Those of [`follow`].
pub fn follow_in_views<S: Source>(
    source: S,
    learner: &mut dyn Learner,
    budget: usize,
    (truth, marks): (&Examples, &[u64]),
    views: &[View],
    seed: &Seed,
) -> anyhow::Result<Vec<Vec<Point>>> {
    if let Some(view) = still(views) {
        return Ok(vec![vec![Point::of(learner, view, truth); marks.len()]]);
    }
    let mut session = Session::new(source, Budget::PerExample(budget), &seed.child("algorithm"));
    let mut points = vec![Vec::new(); views.len()];
    for &mark in marks {
        match session.run(learner, SessionLimit::after_examples(mark), |_, _| {}) {
            Err(SessionError::Learn(LearnError::Diverged { .. })) => {
                let lost = Point { found: 0, wrong: 0, gap: f64::INFINITY, intercept: 0.0 };
                points.iter_mut().for_each(|points| points.resize(marks.len(), lost));
                return Ok(points);
            }
            end => end?,
        };
        for (view, points) in views.iter().zip(&mut points) {
            points.push(Point::of(learner, *view, truth));
        }
    }
    Ok(points)
}
