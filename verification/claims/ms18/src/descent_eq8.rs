//! Supplement B, display (8): what one step on a fixed support does to the gap, for any gradient estimate
//! whatever.
//!
//! *Why.* With `D = -eta g` the left side is `grad_S' D + D' Sigma D`, and `D' Sigma D <= (L/2)|D|^2`. Split
//! `grad_S = g + (grad_S - g)`: the first part gives `-eta |g|^2`, the second at most
//! `(eta/2)|grad_S - g|^2 + |D|^2/(2 eta)`. What is given away is
//! `eta^2 (L|g|^2/2 - g' Sigma g) + (eta/2)|grad_S|^2`, so (8) is an equality at the restricted minimum when
//! g is a top eigenvector of Sigma. No chance is involved: the estimate may be as bad as it likes.

use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::ExploitationParams;
use lao_kernels::SparseVector;
use lao_observation::{
    BlockBuf, Budget, GradientAsk, Learner, Rng, Scratch, Seed, SessionLimit, Source, SourceError,
};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    QuadraticPopulation, climb, dot, minus, norm2, random_support, sparse_normal, strain, tally,
};
use lao_verification_engine::probe;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// A source whose gradients are prescribed: every example contributes the same vector.
struct Prescribed {
    gradient: Vec<f64>,
    position: u64,
}

impl Source for Prescribed {
    fn dim(&self) -> usize {
        self.gradient.len()
    }

    fn observe(&mut self, _: &[u32], _: &mut BlockBuf) -> Result<usize, SourceError> {
        Ok(0)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        _: &mut Scratch,
    ) -> Result<u64, SourceError> {
        for (total, &j) in sum.iter_mut().zip(ask.attributes) {
            *total += ask.examples as f64 * self.gradient[j as usize];
        }
        self.position += ask.examples;
        Ok(ask.examples)
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.position = position;
        Ok(())
    }
}

/// One step: where it starts, on which support, and what it is told.
struct Instance {
    population: QuadraticPopulation,
    theta_star: Vec<f64>,
    support: Vec<usize>,
    theta: Vec<f64>,
    g: Vec<f64>,
    step_size: f64,
}

/// What an arm claims and does: coefficients of the bound, and the factor put on the gradient that is told.
#[derive(Clone, Copy)]
struct Arm {
    noise: f64,
    curvature: f64,
    told: f64,
}

impl Instance {
    fn draw(rng: &mut Rng) -> Self {
        let dim = rng.random_range(4..=10);
        let s = rng.random_range(1..=dim);
        let smallest = 10f64.powf(rng.random_range(-2.0..0.0));
        let population = QuadraticPopulation::random(rng, dim, smallest, 1.0);
        let star = rng.random_range(1..=s);
        let theta_star = sparse_normal(rng, dim, star);
        let support = random_support(rng, dim, s);
        let mut theta = vec![0.0; dim];
        support.iter().for_each(|&j| theta[j] = StandardNormal.sample(rng));
        let mut g = population.gradient(&theta, &theta_star);
        let scale = [0.0, 0.01, 0.3, 3.0, 30.0][rng.random_range(0..5)];
        for (j, g) in g.iter_mut().enumerate() {
            let error: f64 = StandardNormal.sample(rng);
            *g = if support.contains(&j) { *g + scale * error } else { 0.0 };
        }
        let step_size = [0.02, 0.1, 0.25, 0.4, 0.9][rng.random_range(0..5)] / (2.0 * population.largest());
        Instance { population, theta_star, support, theta, g, step_size }
    }

    /// The case of equality: at the minimum, told a top eigenvector.
    fn sharp(rng: &mut Rng) -> Self {
        let population = QuadraticPopulation::random(rng, 6, 0.1, 1.0);
        let theta = sparse_normal(rng, 6, 6);
        let g = population.eigenvector(5).to_vec();
        let step_size = 0.25 / (2.0 * population.largest());
        let support = (0..6).collect();
        Instance { population, theta_star: theta.clone(), support, theta, g, step_size }
    }

    /// Both sides of (8) when the step led to `next`.
    fn sides(&self, next: &[f64], arm: Arm) -> (f64, f64) {
        let Instance { population, theta_star, support, theta, g, step_size: eta } = self;
        let gradient = population.gradient(theta, theta_star);
        let error: f64 = support.iter().map(|&j| (g[j] - gradient[j]).powi(2)).sum();
        let smoothness = 2.0 * population.largest();
        let bound =
            -eta / 2.0 * (1.0 - arm.curvature * eta * smoothness) * norm2(g) + eta * arm.noise * error;
        // The difference of the two gaps, without the cancellation: v' Sigma v is a quadratic in the step.
        let moved = minus(next, theta);
        (dot(&gradient, &moved) + population.form(&moved), bound)
    }

    fn plain_step(&self, arm: Arm) -> Vec<f64> {
        self.theta.iter().zip(&self.g).map(|(theta, g)| theta - self.step_size * arm.told * g).collect()
    }

    /// The step as the production learner makes it.
    fn production_step(&self, arm: Arm) -> anyhow::Result<Vec<f64>> {
        let mut start = SparseVector::zeros(self.theta.len());
        self.support.iter().for_each(|&j| start.push(j as u32, self.theta[j]));
        let params = ExploitationParams {
            start,
            budget: self.support.len(),
            step_size: self.step_size,
            batch: BatchSizes::Constant(3),
            updates: Some(1),
        };
        let mut learner = params.build()?;
        let gradient = self.g.iter().map(|g| arm.told * g).collect();
        let source = Prescribed { gradient, position: 0 };
        let budget = Budget::PerExample(self.support.len());
        let end = probe::run(source, &mut learner, budget, &Seed::root(0), SessionLimit::never(), |_, _| {})?;
        anyhow::ensure!(end.is_some() && learner.updates() == 1, "the step was not made");
        Ok(learner.coefficients().to_dense())
    }

    /// Moves iterate and estimate on the support towards a violation.
    fn worsen(&mut self, rng: &mut Rng, arm: Arm) {
        let s = self.support.len();
        let on = |v: &[f64], support: &[usize]| support.iter().map(|&j| v[j]).collect::<Vec<f64>>();
        let mut point = [on(&self.theta, &self.support), on(&self.g, &self.support)].concat();
        let put = |instance: &mut Instance, point: &[f64]| {
            for (k, &j) in instance.support.iter().enumerate() {
                (instance.theta[j], instance.g[j]) = (point[k], point[s + k]);
            }
        };
        climb(&mut point, 25, rng, |point| {
            put(self, point);
            let (lhs, rhs) = self.sides(&self.plain_step(arm), arm);
            strain(lhs, rhs)
        });
        put(self, &point);
    }
}

const SOUND: Arm = Arm { noise: 0.5, curvature: 1.0, told: 1.0 };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted(
        "noise_weighs_less",
        "gives the squared error the weight eta/2.2 in place of eta/2",
        Arm { noise: 1.0 / 2.2, ..SOUND },
    ),
    Fault::refuted(
        "descent_overstated",
        "promises (1 + eta L) in place of (1 - eta L)",
        Arm { curvature: -1.0, ..SOUND },
    ),
    Fault::refuted("step_reversed", "steps along the gradient", Arm { told: -1.0, ..SOUND }),
    Fault::refuted("step_doubled", "steps twice as far as the bound assumes", Arm { told: 2.0, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let arm = cx.arm(SOUND, &FAULTS);
    let [random] = tally(cx, "random", cx.size("random")?, |trial, [tally]| {
        let mut rng = trial.seed.child("data").rng();
        let instance = if trial.number == 0 { Instance::sharp(&mut rng) } else { Instance::draw(&mut rng) };
        let (lhs, rhs) = instance.sides(&instance.production_step(arm)?, arm);
        tally.check(lhs, rhs);
        Ok(())
    })?;
    cx.judge("random instances and the case of equality", random.finish());
    let [uphill] = tally(cx, "uphill", cx.size("uphill")?, |trial, [tally]| {
        let mut rng = trial.seed.child("data").rng();
        let mut instance = Instance::draw(&mut rng);
        instance.worsen(&mut rng, arm);
        let (lhs, rhs) = instance.sides(&instance.production_step(arm)?, arm);
        tally.check(lhs, rhs);
        Ok(())
    })?;
    cx.judge("instances driven uphill", uphill.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-descent-eq8",
    place: "Supplement B, display (8)",
    sentence: "A step on a fixed support lowers the gap by at least (eta/2)(1 - eta L)|g|^2 less half eta \
               times the squared error of the estimate, whatever the estimate.",
    formula: r"\mathcal{L}(\theta_t) - \mathcal{L}(\theta_{t-1}) \le -\frac{\eta}{2} (1 - \eta L_s)
               \|g_t|_S\|^2 + \frac{\eta}{2} \|g_t|_S - \nabla_S \mathcal{L}(\theta_{t-1})\|^2",
    design: "Random populations, supports, iterates and step sizes (also beyond 1/(4L): nothing in (8) needs \
             it small); g is the gradient with an error at five scales. The step is made by the production \
             Exploitation, which is told g. Some instances are then driven uphill towards a violation, and \
             the case of equality is among them.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
