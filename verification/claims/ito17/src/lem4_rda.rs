//! Lemma 4: the regret of dual averaging over the unit ball, whatever the gradients.
//!
//! *Pathwise.* With unbiased `g_t` and convexity this is the lemma; the form for any gradients is stronger
//! and has no sampling error.
//!
//! *Why.* w_t minimizes the regularized sum of the past, which is `lambda_t`-strongly convex: one more linear
//! term lowers the minimum by at most `|g_t|^2/(2 lambda_t)` below its value at `w_t`; telescope. So the
//! printed first term has a slack of 2.

use lao_algorithms::ito::{Rda1Params, Regularization};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, norm2, tally};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::probe::ManualSession;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Where weights come from.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Production,
    /// lambda falls where it should grow; production refuses that.
    Decreasing,
    Average,
}

/// How gradients are chosen.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Random,
    Constant,
    Against,
}

/// Coefficients of the bound: of `sum |g|^2/lambda` in the printed and the sharper form, and of lambda.
#[derive(Clone, Copy)]
struct Bound {
    printed: f64,
    sharper: f64,
    last: f64,
}

struct Game {
    dim: usize,
    rounds: u64,
    scale: f64,
    power: f64,
    size: f64,
    kind: Kind,
}

fn normal(rng: &mut Rng, dim: usize) -> Vec<f64> {
    (0..dim).map(|_| StandardNormal.sample(rng)).collect()
}

impl Game {
    fn random(rng: &mut Rng) -> Game {
        let decades = |rng: &mut Rng, lo: f64, hi: f64| 10f64.powf(rng.random_range(lo..hi));
        Game {
            dim: [1, 2, 5][rng.random_range(0..3)],
            rounds: [1, 2, 10, 50, 200][rng.random_range(0..5)],
            scale: decades(rng, -1.0, 2.0),
            power: [0.0, 0.5, 1.0][rng.random_range(0..3)],
            size: decades(rng, -1.0, 2.0),
            kind: [Kind::Random, Kind::Constant, Kind::Against][rng.random_range(0..3)],
        }
    }

    fn gradient(&self, w: &[f64], rng: &mut Rng) -> Vec<f64> {
        let mut g = match self.kind {
            Kind::Random => normal(rng, self.dim),
            Kind::Against if norm2(w) > 0.0 => w.to_vec(),
            Kind::Constant | Kind::Against => (0..self.dim).map(|j| f64::from(u8::from(j == 0))).collect(),
        };
        let length = self.size / norm2(&g).sqrt().max(1e-300);
        g.iter_mut().for_each(|g| *g *= length);
        g
    }

    /// Plays and checks both forms of the bound.
    fn play(
        &self,
        rule: Rule,
        bound: Bound,
        seed: &Seed,
        tallies: &mut [PropertyTally; 2],
    ) -> anyhow::Result<()> {
        let Game { dim, rounds, scale, .. } = *self;
        let (mut rng, mut hand) =
            (seed.child("data").rng(), ManualSession::new(dim, &seed.child("algorithm")));
        let regularization = Regularization { scale, power: self.power };
        let params = Rda1Params { dim, budget: dim, kept: 0, regularization, radius: 1.0 };
        let mut learner = params.build()?;
        let lambda = |t: u64| match rule {
            Rule::Decreasing => scale / t as f64,
            _ => scale * (t as f64).powf(self.power),
        };
        let (mut sum, mut along, mut squares) = (vec![0.0; dim], 0.0, 0.0);
        for t in 1..=rounds {
            let w = if rule == Rule::Production {
                learner.iterate()
            } else {
                let share = if rule == Rule::Average { 1.0 / t as f64 } else { 1.0 };
                let divisor = lambda(t).max(share * norm2(&sum).sqrt());
                sum.iter().map(|h: &f64| -share * h / divisor).collect()
            };
            let g = self.gradient(&w, &mut rng);
            if rule == Rule::Production {
                hand.serve_gradient(&mut learner, &w, &g)?;
            }
            along += dot(&g, &w);
            squares += norm2(&g) / lambda(t);
            sum.iter_mut().zip(&g).for_each(|(h, g)| *h += g);
        }
        let mut other = normal(&mut rng, dim);
        let length = norm2(&other).sqrt().max(1.0);
        other.iter_mut().for_each(|w| *w /= length);
        for comparator in [-norm2(&sum).sqrt(), dot(&sum, &other)] {
            let regret = along - comparator;
            tallies[0].check(regret, bound.printed * squares + bound.last * lambda(rounds + 1));
            tallies[1].check(regret, bound.sharper * squares + bound.last * lambda(rounds));
        }
        Ok(())
    }
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    rule: Rule,
    bound: Bound,
}

const LEMMA: Bound = Bound { printed: 1.0, sharper: 0.5, last: 0.5 };
const SOUND: Arm = Arm { rule: Rule::Production, bound: LEMMA };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted(
        "quarter_of_the_squares",
        "claims a quarter of sum |g_t|^2/lambda_t",
        Arm { bound: Bound { printed: 0.25, sharper: 0.25, ..LEMMA }, ..SOUND },
    ),
    Fault::refuted(
        "eighth_of_lambda",
        "claims an eighth of the last lambda",
        Arm { bound: Bound { last: 0.125, ..LEMMA }, ..SOUND },
    ),
    Fault::refuted(
        "decreasing_regularization",
        "lets lambda_t fall like 1/t",
        Arm { rule: Rule::Decreasing, ..SOUND },
    ),
    Fault::refuted(
        "averages_the_gradients",
        "takes h for the average of the gradients",
        Arm { rule: Rule::Average, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let Arm { rule, bound } = cx.arm(SOUND, &FAULTS);
    let [printed, sharper] = tally(cx, "games", cx.size("games")?, |trial, tallies| {
        let game = Game::random(&mut trial.seed.child("game").rng());
        game.play(rule, bound, &trial.seed, tallies)
    })?;
    cx.judge("printed form", printed.finish());
    cx.judge("sharper form", sharper.finish());

    // One gradient as long as lambda, or half as long; equal gradients under a heavy, and under a light,
    // regularization.
    let mut tallies = [PropertyTally::new(), PropertyTally::new()];
    let seed = cx.seed("extreme");
    for (rounds, scale, power, size) in
        [(1, 1.0, 0.0, 1.0), (1, 2.0, 0.0, 1.0), (10, 100.0, 0.0, 1.0), (200, 1.0, 0.5, 1.0)]
    {
        for dim in [1, 2] {
            let game = Game { dim, rounds, scale, power, size, kind: Kind::Constant };
            game.play(rule, bound, &seed, &mut tallies)?;
        }
    }
    let [printed, sharper] = tallies;
    if cx.honest() {
        let used = sharper.worst().map_or(f64::NAN, |worst| worst.ratio());
        cx.note("share of the sharper bound that is used at most", used);
    }
    cx.judge("printed form, extreme games", printed.finish());
    cx.judge("sharper form, extreme games", sharper.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-lem4-rda",
    place: "Lemma 4",
    sentence: "The regret of dual averaging over the unit ball is at most sum |g_t|^2/lambda_t + \
               lambda_{T+1}/2 for any gradients, and half the first term suffices.",
    formula: r"\sum_{t=1}^T g_t^\top (w_t - w) \le \sum_{t=1}^T \frac{\|g_t\|^2}{2\lambda_t} +
               \frac{\lambda_T}{2} \le \sum_{t=1}^T \frac{\|g_t\|^2}{\lambda_t} +
               \frac{\lambda_{T+1}}{2}",
    design: "The production learner, seeing everything, is told gradients that are random, constant, or \
             aligned with its own weights; the comparator is the best of the ball, and random ones. One, two \
             and five dimensions, T up to 200, lambda_t = c t^a with a = 0, 1/2, 1. The sharper form is \
             attained: T = 1, |g| = lambda.",
    standing: Standing::sound().with_errata(&[15]),
    mutants: &mutants(&FAULTS),
    experiment,
};
