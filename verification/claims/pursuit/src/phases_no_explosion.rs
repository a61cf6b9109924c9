//! An end hardly ever explodes: on few designs, if any, is it much worse than the mean.
//!
//! *Why.* A line and trees are learned from rows in which all of their attributes were bought together, with
//! a penalty that generalized cross-validation chooses. Moments of pairs that were hardly bought together are
//! those of no table: their matrix may have eigenvalues near zero or below, and the errors that follow have
//! no bound.
//!
//! *What is left.* The claim was that no design has an error above 1.2 times that of the mean. Of 40,000
//! designs, one has: 143 examples, 83 of which were bought complete, with Student's tails of 3.3 degrees of
//! freedom. Cross-validation finds 306 trees 5 % better than the mean there; on fresh examples the error is
//! 1.8 times that of the mean. The claim bounds the probability of such a design since then. In the quick
//! tier the bound is one in twelve, so that a fault which few designs show is for the full tier to find.

use lao_algorithms::phases::{Phases, PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_datasets::memory::Columns;
use lao_kernels::solve_positive;
use lao_observation::{Ask, Block, Budget, LearnError, Learner, Rng, Row, Seed, Session, SessionLimit, Told};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

/// How many times the error of the mean is allowed.
const ALLOWED: f64 = 1.2;
const FRESH: usize = 1000;
/// Standard errors by which an error must be above what is allowed, so that noise alone brings hardly any
/// design there.
const BEYOND: f64 = 5.0;

const FROM_PAIRS: Mutant = Mutant::refuted(
    "from_pairs",
    "the end is least squares on the moments of all pairs of attributes, from the rows in which both were \
     bought",
);

/// A learner that sums up the products of all pairs that it is told of.
struct Pairs<L> {
    inner: L,
    /// Sums of products, the label last, and how many rows each rests on.
    sums: Vec<f64>,
    counts: Vec<f64>,
}

impl<L: Learner> Pairs<L> {
    fn new(inner: L) -> Self {
        let width = inner.dim() + 1;
        Pairs { inner, sums: vec![0.0; width * width], counts: vec![0.0; width * width] }
    }

    fn add(&mut self, block: &Block<'_>) {
        let width = self.inner.dim() + 1;
        let label = [(width - 1, block.labels())];
        let columns = block.attributes().iter().enumerate().map(|(c, &j)| (j as usize, block.column(c)));
        let all: Vec<(usize, &[f64])> = columns.chain(label).collect();
        for (i, x) in &all {
            for (l, z) in &all {
                self.sums[i * width + l] += x.iter().zip(*z).map(|(x, z)| x * z).sum::<f64>();
                self.counts[i * width + l] += x.len() as f64;
            }
        }
    }

    /// Returns least squares on these attributes, whose means are zero in the designs.
    fn line(&self, attributes: &[u32]) -> Vec<f64> {
        let width = self.inner.dim() + 1;
        let mean = |i: usize, l: usize| self.sums[i * width + l] / self.counts[i * width + l].max(1.0);
        let of = |&i: &u32| attributes.iter().map(move |&l| (i as usize, l as usize));
        let mut matrix: Vec<f64> = attributes.iter().flat_map(of).map(|(i, l)| mean(i, l)).collect();
        let mut b: Vec<f64> = attributes.iter().map(|&i| mean(i as usize, width - 1)).collect();
        solve_positive(&mut matrix, &mut b);
        b
    }
}

impl<L: Learner> Learner for Pairs<L> {
    lao_verification_engine::hand_on!(inner: dim predict coefficients intercept updates takes_gaps);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.inner.ask(rng, ask);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        if let Told::Values(block) = &told {
            self.add(block);
        }
        self.inner.tell(told)
    }
}

/// A random design: attributes of mean zero with common factors and heavy tails, and effects of any size.
struct Random {
    dim: usize,
    factors: usize,
    part: f64,
    tails: Option<f64>,
    effects: Vec<f64>,
    product: f64,
    noise: f64,
}

impl Random {
    fn draw(rng: &mut Rng) -> Self {
        let dim = rng.random_range(4..40);
        let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
        let few = rng.random_range(0.02..1.0);
        let effects = (0..dim).map(|_| if rng.random::<f64>() < few { normal(rng) } else { 0.0 }).collect();
        Random {
            dim,
            factors: rng.random_range(1..4),
            part: rng.random_range(0.0..0.97),
            tails: (rng.random::<f64>() < 0.3).then(|| rng.random_range(2.5..6.0)),
            effects,
            product: if rng.random() { normal(rng) } else { 0.0 },
            noise: rng.random_range(0.1..5.0),
        }
    }

    fn examples(&self, rows: usize, seed: &Seed) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
        let mut loadings = seed.child("loadings").rng();
        let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
        let loadings: Vec<f64> = (0..self.factors * self.dim).map(|_| normal(&mut loadings)).collect();
        let tails = self.tails.map(StudentT::new).transpose()?;
        let mut rng = seed.child("rows").rng();
        let (mut values, mut labels) = (vec![0.0; rows * self.dim], Vec::new());
        for row in 0..rows {
            let factors: Vec<f64> = (0..self.factors).map(|_| normal(&mut rng)).collect();
            for j in 0..self.dim {
                let common: f64 = (0..self.factors).map(|f| loadings[f * self.dim + j] * factors[f]).sum();
                let own = match tails {
                    Some(law) => law.sample(&mut rng),
                    None => normal(&mut rng),
                };
                values[j * rows + row] =
                    self.part * common / (self.factors as f64).sqrt() + (1.0 - self.part) * own;
            }
            let x = |j: usize| values[j * rows + row];
            let line: f64 = self.effects.iter().enumerate().map(|(j, b)| b * x(j)).sum();
            labels.push(line + self.product * x(0) * x(1) + self.noise * normal(&mut rng));
        }
        Ok((values, labels))
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let from_pairs = cx.commits(&FROM_PAIRS);
    let (one_in, most) = (cx.size("one_in")?, cx.size("most")?);
    cx.split(1);
    let cell =
        format!("the expected error is above 1.2 times that of the mean on at most one design in {one_in}");
    cx.prob(&cell, 1.0 / one_in as f64, most, |trial| {
        let mut rng = trial.seed.child("design").rng();
        let design = Random::draw(&mut rng);
        let rows = rng.random_range(134..1500);
        let budget = rng.random_range(2..design.dim);
        let shape = if rng.random() { Shape::Trees } else { Shape::Auto };
        let (values, labels) = design.examples(rows + FRESH, &trial.seed)?;
        let total = rows + FRESH;
        let part = |from: usize, until: usize| -> anyhow::Result<Columns<f64>> {
            let columns = (0..design.dim).flat_map(|j| values[j * total..][from..until].iter().copied());
            Ok(Columns::new(design.dim, columns.collect(), labels[from..until].to_vec())?)
        };
        let pursuit = PursuitParams::within(design.dim, budget);
        let learner: Phases = PhasesParams { pursuit, examples: Some(rows as u64), shape }.build()?;
        let mut learner = Pairs::new(learner);
        let mut session =
            Session::new(part(0, rows)?, Budget::PerExample(budget), &trial.seed.child("algorithm"));
        session.run(&mut learner, SessionLimit::after_examples(rows as u64), |_, _| {})?;
        let attributes: Vec<u32> = (0..design.dim as u32).collect();
        let mean = labels[..rows].iter().sum::<f64>() / rows as f64;
        let line = if from_pairs { learner.line(&attributes) } else { Vec::new() };
        let mut excess = Vec::with_capacity(FRESH);
        for row in rows..total {
            let x: Vec<f64> = (0..design.dim).map(|j| values[j * total + row]).collect();
            let predicted = if from_pairs {
                mean + x.iter().zip(&line).map(|(x, b)| b * x).sum::<f64>()
            } else {
                learner.inner.apply(Row { attributes: &attributes, values: &x })
            };
            let [own, other] = [predicted, mean].map(|predicted| (predicted - labels[row]).powi(2));
            excess.push(own - ALLOWED * other);
        }
        let n = FRESH as f64;
        let mean = excess.iter().sum::<f64>() / n;
        let square = excess.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        Ok(mean <= BEYOND * (square / n).sqrt())
    })
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-phases-no-explosion",
    place: "Phases: no explosion",
    sentence: "On at most one of 300 random designs is the expected error of the predictor above 1.2 times \
               that of the mean.",
    formula: r"P\left(\frac{E (y - f(x))^2}{E (y - \bar y)^2} > 1.2\right) \le \frac{1}{300}",
    design: "Random designs, until the evidence suffices (for one in 12, in the quick tier): 4 to 39 \
             attributes with one to three common factors, of up to .97 of their size, in a third of the \
             designs with tails of Student's t of 2.5 to 6 degrees of freedom; effects of any number, a \
             product in half of the designs, noise of standard deviation .1 to 5; 134 to 1,500 examples and \
             any budget. A design counts whose error on 1,000 fresh examples is above 1.2 times that of the \
             mean by five standard errors. (The claim was made for all designs at first. One of 40,000 \
             refuted that.)",
    standing: Standing::ours().practical(),
    mutants: &[FROM_PAIRS],
    experiment,
};
