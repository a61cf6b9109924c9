//! Section 3.1 and Algorithm 1: the gradient estimates are unbiased.
//!
//! *Why.* Coordinate j of `g_t` is a mean of `2 (theta' x - y) x_j` over fresh examples, in which
//! `y = theta*' x + xi` and `xi` is independent of x. In the naive method a coordinate is drawn with
//! probability `(s'-s)/d`. (The supplement numbers the examples of coordinate j by `ceil(j/s)`; the block of
//! j is `ceil(j/(s'-s))`: erratum 12.)

use anyhow::Context as _;
use lao_algorithms::StepSizes;
use lao_algorithms::murata_suzuki::NaiveParams;
use lao_algorithms::murata_suzuki::naive::gradient_estimate;
use lao_datasets::memory::Columns;
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::{SparseVector, merge_into};
use lao_observation::{Ask, BlockBuf, Learner, Request, Row, Seed, Source, Told};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{GivenExamples, dot, masks, members, sparse_normal};
use lao_verification_engine::judge::equal::EqualJudge;
use lao_verification_engine::judge::exact_all;
use lao_verification_engine::mutants::{Faulty, GradientFault, ImputesMean};
use lao_verification_engine::probe::exploration_gradient;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::collections::BTreeSet;

/// `d`, `s`, `s'`: ragged last blocks (7 = 3 + 3 + 1, 10 = 4 + 4 + 2, 5 = 4 + 1), even blocks, blocks of one
/// attribute.
const SHAPES: [(usize, usize, usize); 5] = [(7, 2, 5), (10, 3, 7), (5, 1, 5), (6, 2, 4), (8, 3, 4)];

/// Rounding in sums of a few hundred terms, relative to the largest mean absolute term.
const TOLERANCE: f64 = 1e-12;

/// Examples of a long batch: several tiles of every gradient path, and not a multiple of one.
const LONG_BATCH: usize = 2500;

/// A problem with finitely many examples, each equally likely.
struct Finite {
    examples: GivenExamples,
    theta: SparseVector,
    sparsity: usize,
    budget: usize,
    /// `2 Sigma (theta - theta*)` from the second moments.
    gradient: Vec<f64>,
    /// Largest mean absolute term of a coordinate.
    scale: f64,
    mean: Vec<f64>,
}

const IMPUTES_MEAN: Mutant = Mutant::refuted(
    "imputes_mean",
    "multiplies the residual by the attribute's mean, not by its observed value",
);
const RESIDUAL_FROM_BLOCK_ONLY: Mutant =
    Mutant::refuted("residual_from_block_only", "computes the residual from the block, not from supp(theta)");
const FORGETS_FACTOR_TWO: Mutant =
    Mutant::refuted("forgets_factor_two", "uses (theta' x - y) x without the 2 of the squared loss");
const FLIPS_SIGN: Mutant = Mutant::refuted("flips_sign", "adds the gradient with the wrong sign");
const DROPS_RAGGED_BLOCK: Mutant =
    Mutant::refuted("drops_ragged_block", "never fills the last block when s'-s does not divide d");
const FORGETS_IMPORTANCE_WEIGHT: Mutant =
    Mutant::refuted("forgets_importance_weight", "naive estimate without the weight d/(s'-s)");
const WEIGHTS_THE_SUPPORT_TOO: Mutant = Mutant::refuted(
    "weights_the_support_too",
    "naive estimate that also uses supp(theta), with the same weight",
);

impl Finite {
    fn draw(trial: &Trial, (dim, sparsity, budget): (usize, usize, usize)) -> Self {
        let mut rng = trial.seed.child("data").rng();
        let theta = sparse_normal(&mut rng, dim, sparsity);
        let theta_star = sparse_normal(&mut rng, dim, sparsity.min(2));
        let offset: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        let sigma = rng.random_range(0.1..3.0);
        let points = rng.random_range(5..40);
        let mut examples = GivenExamples::new(dim);
        let (mut mean, mut second) = (vec![0.0; dim], vec![0.0; dim * dim]);
        for _ in 0..points {
            let shared: f64 = StandardNormal.sample(&mut rng);
            let own: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
            let x: Vec<f64> = own.iter().zip(&offset).map(|(own, offset)| own + shared + offset).collect();
            for (i, xi) in x.iter().enumerate() {
                mean[i] += xi / f64::from(points);
                (0..dim).for_each(|j| second[i * dim + j] += xi * x[j] / f64::from(points));
            }
            let clean = dot(&theta_star, &x);
            examples.push(&x, clean + sigma);
            examples.push(&x, clean - sigma);
        }
        let error: Vec<f64> = theta.iter().zip(&theta_star).map(|(a, b)| a - b).collect();
        let gradient: Vec<f64> = second.chunks_exact(dim).map(|row| 2.0 * dot(row, &error)).collect();
        let atoms = 2.0 * f64::from(points);
        let size = |j: usize| {
            let term = |(x, y): (&[f64], f64)| (2.0 * (dot(&theta, x) - y) * x[j]).abs();
            examples.iter().map(term).sum::<f64>() / atoms
        };
        let scale = (0..dim).map(size).fold(f64::MIN_POSITIVE, f64::max);
        let theta = SparseVector::from_dense(&theta);
        Finite { examples, theta, sparsity, budget, gradient, scale, mean }
    }

    fn width(&self) -> usize {
        self.budget - self.sparsity
    }

    fn blocks(&self) -> usize {
        self.gradient.len().div_ceil(self.width())
    }

    fn atoms(&self) -> f64 {
        self.examples.len() as f64
    }

    /// Pairs (estimate, gradient) in units of the largest mean absolute term.
    fn compare(&self, estimate: &[f64]) -> Vec<(f64, f64)> {
        estimate.iter().zip(&self.gradient).map(|(g, exact)| (g / self.scale, exact / self.scale)).collect()
    }

    /// Runs the production Exploration on `source` within the arm's fault.
    fn explore<S: Source>(&self, cx: &Context<'_>, source: S, batch: u64) -> anyhow::Result<Vec<f64>> {
        let (dim, width) = (self.gradient.len(), self.width());
        let fault = if cx.commits(&RESIDUAL_FROM_BLOCK_ONLY) {
            GradientFault::ResidualFromBlock
        } else if cx.commits(&FORGETS_FACTOR_TWO) {
            GradientFault::Scaled(0.5)
        } else if cx.commits(&FLIPS_SIGN) {
            GradientFault::Scaled(-1.0)
        } else if cx.commits(&DROPS_RAGGED_BLOCK) && !dim.is_multiple_of(width) {
            GradientFault::DropsFrom((dim - dim % width) as u32)
        } else {
            GradientFault::Scaled(1.0)
        };
        let (theta, s, budget) = (self.theta.view(), self.sparsity, self.budget);
        if cx.commits(&IMPUTES_MEAN) {
            return exploration_gradient(
                ImputesMean::new(source, self.mean.clone()),
                theta,
                s,
                budget,
                batch,
            );
        }
        if cx.honest() {
            return exploration_gradient(source, theta, s, budget, batch);
        }
        exploration_gradient(Faulty::new(source, fault), theta, s, budget, batch)
    }

    /// One production batch of size 1 per atom, averaged.
    fn atom_by_atom(&self, cx: &Context<'_>) -> anyhow::Result<Vec<f64>> {
        let mut mean = vec![0.0; self.gradient.len()];
        for i in 0..self.examples.len() {
            let one = self.examples.in_order(vec![i; self.blocks()]);
            let estimate = self.explore(cx, one, 1)?;
            mean.iter_mut().zip(estimate).for_each(|(mean, g)| *mean += g / self.atoms());
        }
        Ok(mean)
    }

    /// One production batch of all atoms, several times over so that it spans tiles of any size.
    fn one_long_batch(&self, cx: &Context<'_>, in_memory: bool) -> anyhow::Result<Vec<f64>> {
        let passes = LONG_BATCH.div_ceil(self.examples.len());
        let batch = self.examples.repeated(passes);
        let (all, size) = (batch.repeated(self.blocks()), batch.len() as u64);
        if !in_memory {
            return self.explore(cx, all, size);
        }
        let values = all.columns().flatten().collect();
        self.explore(cx, Columns::<f64>::new(all.dim(), values, all.labels())?, size)
    }

    /// The production estimate of the naive method, averaged over all atoms and all sets of attributes.
    fn naive_estimate(&self, cx: &Context<'_>) -> Vec<f64> {
        let dim = self.gradient.len();
        let (all, mut observed): (Vec<u32>, _) = ((0..dim as u32).collect(), Vec::new());
        let sets: Vec<u128> = masks(dim, self.width()).collect();
        let weight = 1.0 / (sets.len() as f64 * self.atoms());
        let mut mean = vec![0.0; dim];
        for set in sets {
            let drawn: Vec<u32> = members(set).map(|j| j as u32).collect();
            merge_into(self.theta.indices(), &drawn, &mut observed);
            for (x, y) in self.examples.iter() {
                let seen = Row { attributes: &all, values: x };
                let of = if cx.commits(&WEIGHTS_THE_SUPPORT_TOO) { &observed } else { &drawn };
                // The fault keeps the weight d/(s'-s) for a set that is no longer uniform.
                let repair = of.len() as f64 / drawn.len() as f64;
                for (j, g) in gradient_estimate(self.theta.view(), seen, y, of) {
                    let forgotten = if cx.commits(&FORGETS_IMPORTANCE_WEIGHT) {
                        drawn.len() as f64 / dim as f64
                    } else {
                        1.0
                    };
                    mean[j as usize] += weight * g * repair * forgotten;
                }
            }
        }
        mean
    }
}

/// The step of the production naive learner, averaged over all sets of attributes and all atoms.
///
/// `theta` has few enough non-zeros that nothing is thresholded away, so `g = (theta_0 - theta_1)/eta`. Which
/// set a learner has drawn is read off a twin that starts at zero: it asks for the set and nothing else.
fn naive_step(cx: &Context<'_>, problem: &Finite, seed: &Seed) -> anyhow::Result<Vec<f64>> {
    let (dim, width) = (problem.gradient.len(), problem.width());
    let build = |start: Option<SparseVector>| {
        // A learner without the 2 of the squared loss makes half of the step.
        let step_size = StepSizes::Constant(if cx.commits(&FORGETS_FACTOR_TWO) { 0.5 } else { 1.0 });
        NaiveParams { dim, sparsity: problem.sparsity, budget: problem.budget, step_size, start }.build()
    };
    let wanted = masks(dim, width).count();
    let (mut met, mut mean) = (BTreeSet::new(), vec![0.0; dim]);
    let mut ask = Ask::new(dim);
    for attempt in 0..100 * wanted as u64 {
        let seed = seed.trial(attempt);
        build(None)?.ask(&mut seed.rng(), &mut ask);
        let Request::Values { attributes, .. } = ask.request() else {
            anyhow::bail!("the learner is finished")
        };
        if !met.insert(attributes.to_vec()) {
            continue;
        }
        let mut learner = build(Some(problem.theta.clone()))?;
        learner.ask(&mut seed.rng(), &mut ask);
        let Request::Values { attributes, examples: 1 } = ask.request() else {
            anyhow::bail!("not one example")
        };
        let mut source = problem.examples.clone();
        let mut block = BlockBuf::new();
        block.reset(attributes.len(), 1);
        while source.observe(attributes, &mut block)? == 1 {
            let mut one = learner.clone();
            one.tell(Told::Values(block.view(attributes)))?;
            let weight = 1.0 / (wanted as f64 * problem.atoms());
            problem.theta.view().iter().for_each(|(j, value)| mean[j as usize] += weight * value);
            one.coefficients().iter().for_each(|(j, value)| mean[j as usize] -= weight * value);
        }
        if met.len() == wanted {
            return Ok(mean);
        }
    }
    anyhow::bail!("{} of {wanted} sets were drawn: the sampler is not uniform", met.len())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let batches = cx.size("batches")?;
    cx.split(if batches > 0 { 6 } else { 5 });
    let instances = cx.size("instances")?;
    let of = |trial: &Trial| Finite::draw(trial, SHAPES[trial.number as usize % SHAPES.len()]);
    let n = instances * SHAPES.len() as u64;

    let pairs = cx.all_trials("blocks", n, |trial| {
        let problem = of(trial);
        Ok(problem.compare(&problem.atom_by_atom(cx)?))
    })?;
    cx.judge("Exploration, default path, atom by atom", exact_all(pairs.into_iter().flatten(), TOLERANCE));

    for (cell, in_memory) in
        [("default path, one long batch", false), ("columns in memory, one long batch", true)]
    {
        let pairs = cx.all_trials("long", SHAPES.len() as u64, |trial| {
            let problem = of(trial);
            Ok(problem.compare(&problem.one_long_batch(cx, in_memory)?))
        })?;
        cx.judge(&format!("Exploration, {cell}"), exact_all(pairs.into_iter().flatten(), TOLERANCE));
    }

    let pairs = cx.all_trials("naive", n, |trial| {
        let problem = of(trial);
        Ok(problem.compare(&problem.naive_estimate(cx)))
    })?;
    cx.judge("naive estimate, all sets", exact_all(pairs.into_iter().flatten(), TOLERANCE));

    let pairs = cx.all_trials("naive step", instances, |trial| {
        // s = 4 leaves room for the 3 drawn attributes and a theta with one non-zero.
        let mut problem = Finite::draw(trial, (7, 1, 4));
        (problem.sparsity, problem.budget) = (4, 7);
        Ok(problem.compare(&naive_step(cx, &problem, &trial.seed.child("algorithm"))?))
    })?;
    cx.judge("naive learner's step, all sets", exact_all(pairs.into_iter().flatten(), TOLERANCE));

    if batches > 0 { mean_of_batches(cx, batches) } else { Ok(()) }
}

/// 200 independent signs, one example per block: the mean of many production estimates, by z-scores.
fn mean_of_batches(cx: &mut Context<'_>, batches: u64) -> anyhow::Result<()> {
    const DIM: usize = 200;
    /// A twentieth of the standard deviation of one coordinate of one estimate.
    const SMALLEST_BIAS: f64 = 0.25;
    let mut theta_star = vec![0.0; DIM];
    theta_star[..3].copy_from_slice(&[1.0, -1.0, 0.5]);
    let mut theta = vec![0.0; DIM];
    (theta[0], theta[100], theta[199]) = (0.5, 1.0, -2.0);
    let (theta, star) = (SparseVector::from_dense(&theta), SparseVector::from_dense(&theta_star));
    let problem = |seed: &Seed| Virtual::new(Rademacher::new(DIM)?, star.clone(), Noise::Gaussian(1.0), seed);
    let mut exact = vec![0.0; DIM];
    problem(&Seed::root(0))?.gradient_exact(theta.view(), &mut exact);
    let draws = cx.all_trials("batches", batches, |trial| {
        let source = problem(&trial.seed.child("data"))?;
        // s' - s = 17 leaves a ragged block of 13.
        let fault = if cx.commits(&DROPS_RAGGED_BLOCK) {
            GradientFault::DropsFrom(187)
        } else {
            GradientFault::Scaled(1.0)
        };
        exploration_gradient(Faulty::new(source, fault), theta.view(), 3, 20, 1)
            .with_context(|| format!("batch {}", trial.number))
    })?;
    let ones = vec![1.0; DIM];
    let signs = (0..DIM).map(|j| if j * j % 7 < 3 { 1.0 } else { -1.0 }).collect();
    let mut judge = EqualJudge::new(exact.clone(), vec![exact, ones, signs]);
    draws.iter().for_each(|draw| judge.push(draw));
    cx.judge("Exploration, mean of batches", judge.finish(Some(SMALLEST_BIAS), cx.alpha()));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-grad-unbiased",
    place: "Section 3.1, Algorithm 1",
    sentence: "The gradient estimates of Exploration and of the naive method are unbiased, for every budget \
               above the sparsity, whether or not the blocks divide the attributes.",
    formula: r"\mathbb{E}\, g_t = \mathbb{E}\left[ 2 (\theta^\top x - y) \frac{d}{s'-s} \hat{x} \right]
               = \nabla \mathcal{L}(\theta) = 2 \Sigma (\theta - \theta_*)",
    design: "x is uniform on a finite list of random vectors with mean and correlation, xi = +-sigma, so \
             both sides are finite sums. The production learners are run on every atom (batch size 1) and on \
             the whole list, repeated, as one batch, through the default path over blocks and through \
             columns in memory, which has its own gradient kernel. For the naive method every set of \
             attributes is enumerated, for its estimator and for the learner's whole step. Differences are \
             relative to the largest mean absolute term. In the full tier the mean over many batches in 200 \
             dimensions is tested as well, coordinate by coordinate. Dimensions 5 to 10, ragged last blocks \
             included.",
    standing: Standing::sound().with_errata(&[12]).literal(),
    mutants: &[
        IMPUTES_MEAN,
        RESIDUAL_FROM_BLOCK_ONLY,
        FORGETS_FACTOR_TWO,
        FLIPS_SIGN,
        DROPS_RAGGED_BLOCK,
        FORGETS_IMPORTANCE_WEIGHT,
        WEIGHTS_THE_SUPPORT_TOO,
    ],
    experiment,
};
