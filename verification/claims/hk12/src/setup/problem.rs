//! Populations on which AERR and AELR are run, with their excess risk in closed form.
//!
//! The risk is `L(w) = E (w.x - y)^2 / 2`, and the excess is taken over the best predictor of the ball that
//! the method keeps to: the l2 ball for Ridge, the l1 ball for Lasso. So no test sample is needed.

use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_datasets::adversarial::hazan_koren::{
    Pair, PlantedParams, Population, PopulationStream, RareParams, SignedRows,
};
use lao_kernels::SparseVector;
use lao_observation::{
    BlockBuf, Budget, Example, LearnError, Learner, Rng, Seed, Session, SessionError, SessionLimit, Source,
};
use lao_verification_engine::context::{Context, View, still};
use lao_verification_engine::instance::{LawSource, dot, minus, norm2};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::{Cripple, Tampered, TwoDraws, TwoSampleEstimates};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// A law of examples `(x, y)`.
pub(crate) struct Problem {
    /// `d`.
    pub dim: usize,
    /// `B`.
    pub radius: f64,
    /// The best predictor of the ball.
    pub star: Vec<f64>,
    /// The largest excess in the ball.
    pub worst: f64,
    examples: Box<MakeSource>,
    excess: Box<Excess>,
}

/// A stream of so many examples.
type MakeSource = dyn Fn(&Seed, u64) -> Box<dyn Source> + Sync;
type Excess = dyn Fn(&[f64]) -> f64 + Sync;

fn sign(rng: &mut Rng) -> f64 {
    if rng.random() { 1.0 } else { -1.0 }
}

fn away(w: &[f64], star: &[f64]) -> f64 {
    w.iter().zip(star).map(|(w, star)| (w - star).powi(2)).sum()
}

/// What a fault of the claims about risk changes.
#[derive(Clone, Copy)]
pub(crate) struct RiskArm {
    /// Of the bound.
    pub(crate) constant: f64,
    /// What happens to the estimates.
    pub(crate) fault: Option<fn(&mut TwoSampleEstimates<'_>)>,
    /// The step is as if `x~` were the mean of the drawn attributes.
    pub(crate) no_factor_d: bool,
    /// The step size is divided by this power of B, beside that of the theorem.
    pub(crate) power: i32,
}

impl RiskArm {
    pub(crate) const SOUND: RiskArm = RiskArm { constant: 4.0, fault: None, no_factor_d: false, power: 0 };

    /// Commits the fault in a run on a problem.
    pub(crate) fn apply(&self, problem: &Problem, run: &mut Run) {
        run.fault = self.fault;
        if self.no_factor_d {
            run.step = 1.0 / problem.dim as f64;
        }
    }
}

impl Problem {
    /// An instance of the library.
    fn library(radius: f64, worst: f64, population: impl Population + Clone + 'static) -> Problem {
        let law = population.clone();
        Problem {
            dim: law.dim(),
            radius,
            star: law.minimizer().view().to_dense(),
            worst,
            examples: Box::new(move |seed, length| {
                Box::new(PopulationStream::new(law.clone(), seed).with_length(length))
            }),
            excess: Box::new(move |w| population.excess_risk(SparseVector::from_dense(w).view())),
        }
    }

    /// An instance that only these claims need: `draw` fills the attributes, zero before, and returns the
    /// label.
    fn own(
        radius: f64,
        worst: f64,
        star: Vec<f64>,
        draw: impl Fn(&mut Rng, &mut [f64]) -> f64 + Clone + Sync + 'static,
        excess: impl Fn(&[f64]) -> f64 + Sync + 'static,
    ) -> Problem {
        let dim = star.len();
        let examples = move |seed: &Seed, length| -> Box<dyn Source> {
            Box::new(LawSource::new(dim, length, seed.clone(), draw.clone()))
        };
        Problem { dim, radius, star, worst, examples: Box::new(examples), excess: Box::new(excess) }
    }

    /// The excess risk of `w`.
    pub(crate) fn excess(&self, w: &[f64]) -> f64 {
        (self.excess)(w)
    }

    /// Ridge, hard: [`SignedRows`] with `rows` rows, `B = 1`. The best predictor has size `rows^{-1/2}` on
    /// each of them, the worst is its opposite.
    pub(crate) fn hard(dim: usize, rows: usize) -> anyhow::Result<Problem> {
        let population = SignedRows::random(dim, rows, &Seed::root(rows as u64))?;
        Ok(Problem::library(1.0, 2.0 / (rows as f64).sqrt(), population))
    }

    /// Ridge: [`Pair`] with labels 0.35, `B = 1`, so that the best predictor lies inside the ball.
    pub(crate) fn pair(dim: usize) -> anyhow::Result<Problem> {
        Ok(Problem::library(1.0, 0.5 * 1.35 * 1.35, Pair::new(dim, 0.35)?))
    }

    /// Lasso: [`PlantedParams`], signs of which the first has the label's with probability 0.8. The best
    /// predictor is `0.6 B e_1`, inside the ball.
    pub(crate) fn signs(dim: usize, radius: f64) -> anyhow::Result<Problem> {
        let worst = 0.5 * (1.6 * radius).powi(2);
        let planted = PlantedParams { dim, place: 0, advantage: 0.6, label: radius };
        Ok(Problem::library(radius, worst, planted.build()?))
    }

    /// Lasso, hard: [`RareParams`] with this frequency, `B = 1`. The best predictor is `e_1`.
    pub(crate) fn rare(dim: usize, frequency: f64) -> anyhow::Result<Problem> {
        let rare = RareParams { dim, place: 0, frequency, label: 1.0 };
        Ok(Problem::library(1.0, 2.0 * frequency, rare.build()?))
    }

    /// Ridge: `x` uniform on the sphere, `y` is `(B/2) x_1` and noise uniform within `B/2`.
    pub(crate) fn sphere(dim: usize, radius: f64) -> Problem {
        let mut star = vec![0.0; dim];
        star[0] = 0.5 * radius;
        let (center, half) = (star.clone(), 0.5 / dim as f64);
        let draw = move |rng: &mut Rng, x: &mut [f64]| {
            x.fill_with(|| StandardNormal.sample(rng));
            let norm = norm2(x).sqrt();
            x.iter_mut().for_each(|x| *x /= norm);
            0.5 * radius * (x[0] + rng.random_range(-1.0..1.0))
        };
        let worst = half * (1.5 * radius).powi(2);
        Problem::own(radius, worst, star, draw, move |w| half * away(w, &center))
    }

    /// Lasso: `x = s e_1` and `y = -B s` for a random sign s. The best predictor is a vertex, `-B e_1`.
    pub(crate) fn axis(dim: usize, radius: f64) -> Problem {
        let mut star = vec![0.0; dim];
        star[0] = -radius;
        let draw = move |rng: &mut Rng, x: &mut [f64]| {
            x[0] = sign(rng);
            -radius * x[0]
        };
        Problem::own(radius, 2.0 * radius * radius, star, draw, move |w| 0.5 * (w[0] + radius).powi(2))
    }

    /// Lasso: signs of which each is a common one with probability 1/2 and its own otherwise, so that any two
    /// have correlation 1/4; `y = w*.x` with `w* = B (0.5, -0.3, 0.2, 0 ..)`, on the boundary of the ball.
    pub(crate) fn correlated(dim: usize, radius: f64) -> Problem {
        let mut star = vec![0.0; dim];
        star[..3].copy_from_slice(&[0.5 * radius, -0.3 * radius, 0.2 * radius]);
        let (center, truth) = (star.clone(), star.clone());
        let excess = move |w: &[f64]| {
            let error = minus(w, &center);
            0.5 * (0.75 * norm2(&error) + 0.25 * error.iter().sum::<f64>().powi(2))
        };
        // A convex function is largest at a vertex.
        let vertex =
            |j: usize, end: f64| (0..dim).map(|i| if i == j { end } else { 0.0 }).collect::<Vec<_>>();
        let vertices = (0..dim).flat_map(|j| [vertex(j, radius), vertex(j, -radius)]);
        let worst = vertices.map(|w| excess(&w)).fold(0.0, f64::max);
        let draw = move |rng: &mut Rng, x: &mut [f64]| {
            let common = sign(rng);
            x.fill_with(|| if rng.random() { common } else { sign(rng) });
            dot(x, &truth)
        };
        Problem::own(radius, worst, star, draw, excess)
    }

    /// Shows `look` the examples that a learner of this seed learns from, whole.
    pub(crate) fn each_example(
        &self,
        examples: u64,
        seed: &Seed,
        mut look: impl FnMut(&[f64], f64) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut source = (self.examples)(&seed.child("data"), examples);
        let all: Vec<u32> = (0..self.dim as u32).collect();
        let (mut block, mut x) = (BlockBuf::new(), vec![0.0; self.dim]);
        for _ in 0..examples {
            block.reset(self.dim, 1);
            source.observe(&all, &mut block)?;
            let Some(Example { seen: row, label }) = block.view(&all).single() else { break };
            x.copy_from_slice(row.values);
            look(&x, label)?;
        }
        Ok(())
    }

    /// The output of a learner after `examples` examples within `budget`; `None` if it diverged.
    pub(crate) fn learn<L: Learner>(
        &self,
        learner: L,
        budget: Budget,
        examples: u64,
        seed: &Seed,
    ) -> anyhow::Result<Option<Vec<f64>>> {
        self.learn_watched(learner, budget, examples, seed, |_| {})
    }

    /// As [`learn`](Self::learn), with a look at the learner after every step.
    pub(crate) fn learn_watched<L: Learner>(
        &self,
        mut learner: L,
        budget: Budget,
        examples: u64,
        seed: &Seed,
        mut after: impl FnMut(&L),
    ) -> anyhow::Result<Option<Vec<f64>>> {
        let source = (self.examples)(&seed.child("data"), examples);
        let mut session = Session::new(source, budget, &seed.child("algorithm"));
        match session.run(&mut learner, SessionLimit::never(), |_, learner| after(learner)) {
            Ok(_) => Ok(Some(learner.coefficients().to_dense())),
            Err(SessionError::Learn(LearnError::Diverged { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The average of the estimates of a method that sees everything, the first one included.
    pub(crate) fn average<L: Learner>(
        &self,
        mut learner: L,
        examples: u64,
        seed: &Seed,
    ) -> anyhow::Result<Vec<f64>> {
        let source = (self.examples)(&seed.child("data"), examples);
        let mut session = Session::new(source, Budget::Unlimited, &seed.child("algorithm"));
        let (mut sum, mut last) = (vec![0.0; self.dim], learner.coefficients().to_dense());
        session.run(&mut learner, SessionLimit::never(), |_, learner| {
            sum.iter_mut().zip(&last).for_each(|(sum, w)| *sum += w / examples as f64);
            last = learner.coefficients().to_dense();
        })?;
        Ok(sum)
    }

    /// The output of AERR with a step size other than the theorem's by a factor.
    pub(crate) fn ridge(&self, run: &Run, seed: &Seed) -> anyhow::Result<Vec<f64>> {
        Ok(self.ridge_in_views(run, &[run.cripple], seed)?.swap_remove(0))
    }

    /// The same in each view of the estimate, whatever `run` says of the cripple.
    pub(crate) fn ridge_in_views(
        &self,
        run: &Run,
        views: &[View],
        seed: &Seed,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let params = AerrParams::from_theorem(Horizon {
            dim: self.dim,
            draws: run.draws,
            radius: self.radius,
            examples: run.examples,
        });
        let start = run.start.as_deref().map(SparseVector::from_dense);
        let params = AerrParams { step_size: run.step * params.step_size, start, ..params };
        self.faulty(params.build()?, run, views, seed)
    }

    /// The output of AELR, likewise.
    pub(crate) fn lasso(&self, run: &Run, seed: &Seed) -> anyhow::Result<Vec<f64>> {
        Ok(self.lasso_in_views(run, &[run.cripple], seed)?.swap_remove(0))
    }

    /// The same in each view of the estimate, whatever `run` says of the cripple.
    pub(crate) fn lasso_in_views(
        &self,
        run: &Run,
        views: &[View],
        seed: &Seed,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let params = AelrParams::from_theorem(Horizon {
            dim: self.dim,
            draws: run.draws,
            radius: self.radius,
            examples: run.examples,
        });
        let params = AelrParams { step_size: run.step * params.step_size, ..params };
        self.faulty(params.build()?, run, views, seed)
    }

    fn faulty<L: TwoDraws>(
        &self,
        learner: L,
        run: &Run,
        views: &[View],
        seed: &Seed,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let budget = Budget::PerExample(run.draws + 1);
        let start = learner.coefficients().to_dense();
        let show = |now: &[f64]| {
            let mut all = vec![now.to_vec(); views.len()];
            let crippled =
                views.iter().zip(&mut all).filter_map(|(view, shown)| Some((view.as_ref()?, shown)));
            crippled.for_each(|(cripple, shown)| cripple.estimate(&start, shown));
            all
        };
        if still(views).is_some() {
            return Ok(show(&start));
        }
        let end = match run.fault {
            None => self.learn(learner, budget, run.examples, seed)?,
            Some(fault) => {
                self.learn(Tampered::new(learner, run.draws, fault), budget, run.examples, seed)?
            }
        };
        let end = end.ok_or_else(|| anyhow::anyhow!("the learner diverged"))?;
        Ok(show(&end))
    }
}

/// One run of AERR or AELR, with the theorem's step size.
#[derive(Clone)]
pub(crate) struct Run {
    /// `k`.
    pub draws: usize,
    /// `m`.
    pub examples: u64,
    /// A factor of the theorem's step size.
    pub step: f64,
    /// `w_1`, for AERR.
    pub start: Option<Vec<f64>>,
    /// What is done to the estimates.
    pub fault: Option<fn(&mut TwoSampleEstimates<'_>)>,
    /// How the output is crippled.
    pub cripple: Option<Cripple>,
}

impl Run {
    /// As the theorem has it.
    pub(crate) fn new(draws: usize, examples: u64) -> Run {
        Run { draws, examples, step: 1.0, start: None, fault: None, cripple: None }
    }
}

/// Judges that outputs scale with B: runs on the same draws with B = 1 and with another B give `output` times
/// that B.
pub(crate) fn judge_equivariance(
    cx: &mut Context<'_>,
    output: impl Fn(f64, &Seed) -> anyhow::Result<Vec<f64>>,
) -> anyhow::Result<()> {
    let seed = cx.seed("radii");
    let (unit, mut tally) = (output(1.0, &seed)?, PropertyTally::new());
    for radius in [0.2, 5.0] {
        for (a, b) in unit.iter().zip(output(radius, &seed)?) {
            tally.check((a - b / radius).abs(), 1e-9);
        }
    }
    cx.judge("outputs scale with B, draw by draw", tally.finish());
    Ok(())
}
