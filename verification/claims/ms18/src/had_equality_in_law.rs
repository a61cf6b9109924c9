//! A batch drawn by row counts has the law of a batch drawn example by example.
//!
//! *Statement.* There are only d different Hadamard rows, so the sum of B gradients is a function of how
//! often each row occurs, a multinomial, and of the noise summed over each row's examples,
//! `N(0, n_r sigma^2)`. The literal runs of Section 4 rest on this.

use lao_datasets::synthetic::{
    Counted, Hadamard, HadamardPairs, Noise, Virtual, WalshRows, gradient_from_counts, noise_sums, row_counts,
};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::source::gradient_by_blocks;
use lao_observation::{GradientAsk, Rng, Scratch, Source};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::GivenExamples;
use lao_verification_engine::judge::equal::{EqualJudge, discrete};
use lao_verification_engine::judge::exact_all;
use lao_verification_engine::mutants::{Faulty, GradientFault};
use rand::RngExt;
use rand_distr::{Binomial, Distribution, StandardNormal};

/// Attributes of the tests of moments.
const DIM: usize = 8;
const RHO: f64 = 1.0 / 3.0;
const SIGMA: f64 = 0.5;

/// Largest bias of a mean, variance or covariance of the standardized error that passes.
const MARGIN: f64 = 0.15;

/// Entry j of Hadamard row r.
fn entry(row: usize, attribute: usize) -> f64 {
    if (row & attribute).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// What is wrong with a batch.
#[derive(Clone, Copy, Debug)]
struct Arm {
    fault: Option<GradientFault>,
    noise_ignores_counts: bool,
    independent_counts: bool,
    pairs_forgotten: bool,
    first_row_missing: bool,
}

const SOUND: Arm = Arm {
    fault: None,
    noise_ignores_counts: false,
    independent_counts: false,
    pairs_forgotten: false,
    first_row_missing: false,
};

const FAULTS: [Fault<Arm>; 6] = [
    Fault::refuted(
        "first_row_missing",
        "counts the second row where the first is drawn",
        Arm { first_row_missing: true, ..SOUND },
    ),
    Fault::refuted(
        "forgets_factor_two",
        "uses (theta' x - y) x without the 2 of the squared loss",
        Arm { fault: Some(GradientFault::Scaled(0.5)), ..SOUND },
    ),
    Fault::refuted(
        "repeats_every_example",
        "counts every example twice, so the variance doubles",
        Arm { fault: Some(GradientFault::Repeats(2)), ..SOUND },
    ),
    Fault::refuted(
        "noise_ignores_counts",
        "draws one example's noise per row, however often the row came",
        Arm { noise_ignores_counts: true, ..SOUND },
    ),
    Fault::refuted(
        "independent_counts",
        "draws the count of every row by itself, so they do not add up",
        Arm { independent_counts: true, ..SOUND },
    ),
    Fault::refuted(
        "pairs_forgotten",
        "draws even and odd rows equally often",
        Arm { pairs_forgotten: true, ..SOUND },
    ),
];

impl Arm {
    fn counts(
        &self,
        rng: &mut Rng,
        examples: u64,
        even_share: f64,
        counts: &mut [u64],
    ) -> anyhow::Result<()> {
        let share = if self.pairs_forgotten { 0.5 } else { even_share };
        if self.independent_counts {
            let law = Binomial::new(examples, 1.0 / counts.len() as f64)?;
            counts.iter_mut().for_each(|count| *count = law.sample(rng));
        } else {
            row_counts(rng, examples, share, counts);
        }
        if self.first_row_missing {
            counts[1] += std::mem::take(&mut counts[0]);
        }
        Ok(())
    }

    /// By hand, from the public pieces; only for arms whose fault sits between them.
    fn by_hand(&self) -> bool {
        self.noise_ignores_counts || self.independent_counts || self.pairs_forgotten || self.first_row_missing
    }
}

/// (a): pairs (sum from counts, sum of the loop), in units of B.
fn same_examples(arm: &Arm, trial: &Trial) -> anyhow::Result<Vec<(f64, f64)>> {
    const EXAMPLES: usize = 300;
    let mut rng = trial.seed.child("data").rng();
    let dim = 8 << (trial.number % 4);
    let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
    let theta: Vec<f64> = (0..dim).map(|j| if j % 3 == 0 { normal(&mut rng) } else { 0.0 }).collect();
    let star: Vec<f64> = (0..dim).map(|j| if j % 5 == 1 { normal(&mut rng) } else { 0.0 }).collect();
    let mut examples = GivenExamples::new(dim);
    let (mut counts, mut noise) = (vec![0; dim], vec![0.0; dim]);
    for _ in 0..EXAMPLES {
        let (row, xi) = (rng.random_range(0..dim), normal(&mut rng));
        let x: Vec<f64> = (0..dim).map(|j| entry(row, j)).collect();
        let clean: f64 = x.iter().zip(&star).map(|(x, star)| x * star).sum();
        examples.push(&x, clean + xi);
        counts[row] += 1;
        noise[row] += xi;
    }
    let error: Vec<f64> = theta.iter().zip(&star).map(|(a, b)| a - b).collect();
    let mut from_counts = vec![0.0; dim];
    gradient_from_counts(&counts, &noise, SparseVector::from_dense(&error).view(), &mut from_counts);

    let (theta, all): (_, Vec<u32>) = (SparseVector::from_dense(&theta), (0..dim as u32).collect());
    let ask =
        GradientAsk { theta: theta.view(), attributes: &all, observed: &all, examples: EXAMPLES as u64 };
    let (mut sum, mut scratch) = (vec![0.0; dim], Scratch::default());
    let served = match arm.fault {
        Some(fault) => Faulty::new(examples, fault).gradient(ask, &mut sum, &mut scratch)?,
        None => gradient_by_blocks(&mut examples, ask, &mut sum, &mut scratch)?,
    };
    anyhow::ensure!(served == EXAMPLES as u64, "the loop served {served} examples");
    let scale = 1.0 / EXAMPLES as f64;
    Ok(from_counts.iter().zip(&sum).map(|(a, b)| (a * scale, b * scale)).collect())
}

/// Mean and covariance of one example's gradient, by enumeration of the rows.
struct Moments {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Moments {
    fn new(even_share: f64, error: &[f64]) -> Self {
        let dim = error.len();
        let (mut mean, mut covariance) = (vec![0.0; dim], vec![0.0; dim * dim]);
        for row in 0..dim {
            let share = if row % 2 == 0 { even_share } else { 1.0 - even_share } / (dim as f64 / 2.0);
            let product: f64 = error.iter().enumerate().map(|(j, v)| v * entry(row, j)).sum();
            for i in 0..dim {
                mean[i] += share * 2.0 * product * entry(row, i);
                for j in 0..dim {
                    let second = 4.0 * (product * product + SIGMA * SIGMA);
                    covariance[i * dim + j] += share * second * entry(row, i) * entry(row, j);
                }
            }
        }
        for i in 0..dim {
            for j in 0..dim {
                covariance[i * dim + j] -= mean[i] * mean[j];
            }
        }
        Moments { mean, covariance }
    }

    fn sd(&self, i: usize) -> f64 {
        self.covariance[i * self.mean.len() + i].sqrt()
    }

    /// Expected standardized errors, their squares and products.
    fn expected(&self) -> Vec<f64> {
        let dim = self.mean.len();
        let product = |(i, j): (usize, usize)| self.covariance[i * dim + j] / (self.sd(i) * self.sd(j));
        (0..dim).map(|_| 0.0).chain(pairs(dim).map(product)).collect()
    }

    /// The same of a drawn gradient sum over `examples`.
    fn of(&self, sum: &[f64], examples: u64) -> Vec<f64> {
        let (size, dim) = (examples as f64, sum.len());
        let z: Vec<f64> =
            (0..dim).map(|i| (sum[i] / size - self.mean[i]) / self.sd(i) * size.sqrt()).collect();
        let products: Vec<f64> = pairs(dim).map(|(i, j)| z[i] * z[j]).collect();
        z.into_iter().chain(products).collect()
    }
}

fn pairs(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dim).flat_map(move |i| (i..dim).map(move |j| (i, j)))
}

/// One way to draw a batch, and its size.
#[derive(Clone, Copy, Debug)]
struct Way {
    name: &'static str,
    counted: bool,
    correlated: bool,
    signs: bool,
    examples: u64,
}

const WAYS: [Way; 5] = [
    Way { name: "loop, B = 40", counted: false, correlated: false, signs: false, examples: 40 },
    Way { name: "counts, B = 40", counted: true, correlated: false, signs: false, examples: 40 },
    Way {
        name: "counts, noise of signs, B = 40",
        counted: true,
        correlated: false,
        signs: true,
        examples: 40,
    },
    Way { name: "counts, pairs, B = 40", counted: true, correlated: true, signs: false, examples: 40 },
    Way {
        name: "counts, pairs, B = 10^9",
        counted: true,
        correlated: true,
        signs: false,
        examples: 1_000_000_000,
    },
];

/// `theta - theta*` of the tests of moments.
fn theta_and_star() -> (SparseVector, SparseVector) {
    let theta = SparseVector::from_dense(&[0.5, 0.0, 0.0, 1.0, 0.0, 0.0, -0.3, 0.0]);
    let star = SparseVector::from_dense(&[0.0, 1.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0]);
    (theta, star)
}

impl Way {
    fn noise(&self) -> Noise {
        if self.signs { Noise::Signs(SIGMA) } else { Noise::Gaussian(SIGMA) }
    }

    fn even_share(&self) -> f64 {
        if self.correlated { (1.0 + RHO) / 2.0 } else { 0.5 }
    }

    fn moments(&self) -> Moments {
        let (theta, star) = theta_and_star();
        let (theta, star) = (theta.view().to_dense(), star.view().to_dense());
        let error: Vec<f64> = theta.iter().zip(&star).map(|(a, b)| a - b).collect();
        Moments::new(self.even_share(), &error)
    }

    /// A run of consecutive batches of one source.
    fn draw(&self, arm: &Arm, trial: &Trial, batches: u64) -> anyhow::Result<Vec<Vec<f64>>> {
        if self.correlated {
            self.draw_from(HadamardPairs::new(DIM, RHO)?, arm, trial, batches)
        } else {
            self.draw_from(Hadamard::new(DIM)?, arm, trial, batches)
        }
    }

    fn draw_from<D: WalshRows>(
        &self,
        design: D,
        arm: &Arm,
        trial: &Trial,
        batches: u64,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let (data, (theta, star)) = (trial.seed.child("data"), theta_and_star());
        let source = Virtual::new(design, star.clone(), self.noise(), &data)?;
        if arm.by_hand() && self.counted {
            return self.draw_by_hand(arm, &mut data.rng(), batches);
        }
        let theta = theta.view();
        match (self.counted, arm.fault) {
            (false, None) => self.batches(source, theta, batches),
            (false, Some(fault)) => self.batches(Faulty::new(source, fault), theta, batches),
            (true, None) => self.batches(Counted::new(source)?, theta, batches),
            (true, Some(fault)) => self.batches(Faulty::new(Counted::new(source)?, fault), theta, batches),
        }
    }

    fn batches<S: Source>(
        &self,
        mut source: S,
        theta: SparseView<'_>,
        batches: u64,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let (all, moments): (Vec<u32>, _) = ((0..DIM as u32).collect(), self.moments());
        let ask = GradientAsk { theta, attributes: &all, observed: &all, examples: self.examples };
        let mut scratch = Scratch::default();
        let mut draw = |_| {
            let mut sum = vec![0.0; DIM];
            let served = source.gradient(ask, &mut sum, &mut scratch)?;
            anyhow::ensure!(served == self.examples, "{served} examples served");
            Ok(moments.of(&sum, self.examples))
        };
        (0..batches).map(&mut draw).collect()
    }

    fn draw_by_hand(&self, arm: &Arm, rng: &mut Rng, batches: u64) -> anyhow::Result<Vec<Vec<f64>>> {
        let (moments, (theta, star)) = (self.moments(), theta_and_star());
        let (theta, star) = (theta.view().to_dense(), star.view().to_dense());
        let error: Vec<f64> = theta.iter().zip(&star).map(|(a, b)| a - b).collect();
        let error = SparseVector::from_dense(&error);
        let (mut counts, mut noise, mut sum) = (vec![0; DIM], vec![0.0; DIM], vec![0.0; DIM]);
        let mut draw = |_| {
            arm.counts(rng, self.examples, self.even_share(), &mut counts)?;
            let once = vec![1; DIM];
            noise_sums(rng, self.noise(), if arm.noise_ignores_counts { &once } else { &counts }, &mut noise);
            gradient_from_counts(&counts, &noise, error.view(), &mut sum);
            Ok(moments.of(&sum, self.examples))
        };
        (0..batches).map(&mut draw).collect()
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let arm = cx.arm(SOUND, &FAULTS);
    cx.split(3 + WAYS.len());
    let instances = cx.size("instances")?;
    let pairs = cx.all_trials("same examples", instances, |trial| same_examples(&arm, trial))?;
    cx.judge("counts and loop give the same sum", exact_all(pairs.into_iter().flatten(), 1e-10));

    let examples = cx.size("examples")?;
    for (name, even_share) in [("independent", 0.5), ("pairs", (1.0 + RHO) / 2.0)] {
        let mut counts = vec![0; 64];
        let mut rng = cx.seed("counts").child(name).rng();
        arm.counts(&mut rng, examples, even_share, &mut counts)?;
        let share = |row: usize| if row.is_multiple_of(2) { even_share } else { 1.0 - even_share } / 32.0;
        let law: Vec<f64> = (0..64).map(share).collect();
        cx.judge(&format!("row counts, {name}"), discrete(&counts, &law, Some(0.05)));
    }

    let chunks = cx.size("chunks")?;
    for way in WAYS {
        cx.settled()?;
        let draws = cx.all_trials(way.name, chunks, |trial| way.draw(&arm, trial, 1000))?;
        let mut judge = EqualJudge::new(way.moments().expected(), Vec::new());
        draws.iter().flatten().for_each(|draw| judge.push(draw));
        cx.judge(way.name, judge.finish(Some(MARGIN), cx.alpha() / (3 + WAYS.len()) as f64));
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-had-equality-in-law",
    place: "Design of the literal runs",
    sentence: "A gradient sum over B random Hadamard rows has the same law drawn by multinomial row counts \
               and summed noise as drawn example by example.",
    formula: r"\sum_{b \leq B} 2 (\theta^\top x_b - y_b) x_b = 2 H^\top \left( n \odot H (\theta -
               \theta_*) - \Xi \right), \quad n \sim \mathrm{Multinomial}(B), \ \Xi_r \sim N(0, n_r
               \sigma^2)",
    design: "(a) Given the same examples, the sum from counts is that of the loop, to rounding. (b) Row \
             counts are multinomial with the right probabilities. (c) Mean, variance and all covariances of \
             the standardized gradient error, d = 8, agree with their exact values (enumerated over rows) \
             for the loop, for counts, for two laws of noise, for correlated pairs, and for counts at B = \
             10^9. Any bias above .15 standard deviations is excluded.",
    standing: Standing::sound().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
