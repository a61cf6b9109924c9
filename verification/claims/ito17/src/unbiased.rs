//! Section 4, equation (6): X, z and the gradient estimate are unbiased, given the past and the example.
//!
//! *Why.* An entry is `x_i x_j/p_ij` with probability `p_ij`. This needs `p_ij > 0` for all pairs, that is
//! `q >= 2` or `k' = d`, and the probabilities given U: with those over all histories the mean is off by the
//! ratio of the two.

use crate::setup::enumerated::{Draws, estimate, largest, outside};
use lao_algorithms::Task;
use lao_algorithms::ito::gram::Observe;
use lao_algorithms::ito::{Rda1Params, Rda2Params, Rda3Params, Regularization, UniformParams};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, members};
use lao_verification_engine::judge::exact_all;
use lao_verification_engine::probe::ManualSession;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// What (6) is written out with.
#[derive(Clone, Copy, PartialEq)]
enum Formula {
    Right,
    DiagonalSquared,
    MixedByC,
    WithoutHistory,
    SingleDraw,
    LabelOnce,
}

/// The honest arm takes the production estimate instead.
const FAULTS: [Fault<Formula>; 5] = [
    Fault::refuted("diagonal_by_the_square", "divides the diagonal of X by p_i^2", Formula::DiagonalSquared),
    Fault::refuted("mixed_pairs_by_c", "divides pairs with one member in U by C", Formula::MixedByC),
    Fault::refuted("forgets_history", "divides by probabilities over all histories", Formula::WithoutHistory),
    Fault::refuted("one_random_attribute", "draws one attribute beside U, q = 1", Formula::SingleDraw),
    Fault::refuted("label_without_its_two", "subtracts y z instead of 2 y z", Formula::LabelOnce),
];

fn normal(rng: &mut Rng, dim: usize) -> Vec<f64> {
    (0..dim).map(|_| StandardNormal.sample(rng)).collect()
}

/// `d`, `k'`, and U.
#[derive(Clone, Copy)]
struct Sets {
    dim: usize,
    budget: usize,
    kept: u128,
}

impl Sets {
    fn drawn(&self) -> usize {
        self.budget - self.kept.count_ones() as usize
    }

    /// `1/p_ij`, or `1/p_i` for `i = j`; 0 where the pair is never seen.
    fn weight(&self, formula: Formula, i: usize, j: usize) -> f64 {
        let (q, n) = (self.drawn() as f64, (self.dim - self.kept.count_ones() as usize) as f64);
        let (budget, dim) = (self.budget as f64, self.dim as f64);
        let apart = |j: usize| self.kept >> j & 1 == 0;
        let (one, two) = (n / q, n * (n - 1.0) / (q * (q - 1.0)));
        let weight = match (apart(i), apart(j)) {
            _ if formula == Formula::WithoutHistory && i == j => dim / budget,
            _ if formula == Formula::WithoutHistory => dim * (dim - 1.0) / (budget * (budget - 1.0)),
            (true, true) if i == j && formula == Formula::DiagonalSquared => one * one,
            (true, true) if i == j => one,
            (true, true) => two,
            (false, false) => 1.0,
            _ if formula == Formula::MixedByC => dim * (dim - 1.0) / (q * (q - 1.0)),
            _ => one,
        };
        if weight.is_finite() { weight } else { 0.0 }
    }

    /// `2 X w - 2 y z` on an observed set.
    fn written_out(&self, formula: Formula, set: u128, w: &[f64], x: &[f64], y: f64) -> Vec<f64> {
        let mut g = vec![0.0; self.dim];
        let share = if formula == Formula::LabelOnce { 1.0 } else { 2.0 };
        // z is not at fault in the mutant of the diagonal.
        let single = if formula == Formula::DiagonalSquared { Formula::Right } else { formula };
        for i in members(set) {
            let row: f64 = members(set).map(|j| self.weight(formula, i, j) * x[i] * x[j] * w[j]).sum();
            g[i] = 2.0 * row - share * y * self.weight(single, i, i) * x[i];
        }
        g
    }
}

/// Pairs that must be equal: mean and gradient; estimate and (6) written out.
#[derive(Default)]
struct Pairs {
    mean: Vec<(f64, f64)>,
    each: Vec<(f64, f64)>,
}

/// Enumerates all sets that `learner` can look at, with an example of its own.
fn enumerate<L: Draws>(
    learner: &L,
    (budget, kept): (usize, usize),
    formula: Option<Formula>,
    rng: &mut Rng,
    pairs: &mut Pairs,
) -> anyhow::Result<()> {
    let (w, dim) = (learner.explorer(), learner.dim());
    let (x, y) = (normal(rng, dim), normal(rng, 1)[0]);
    // A single draw is refused by production: its law is that of one attribute more in U.
    let kept = if formula == Some(Formula::SingleDraw) { budget - 1 } else { kept };
    let sets = Sets { dim, budget, kept: largest(&w, kept) };
    let (mut mean, mut count) = (vec![0.0; dim], 0.0);
    for drawn in outside(dim, sets.kept, sets.drawn()) {
        let set = sets.kept | drawn;
        let g = match formula {
            Some(formula) => sets.written_out(formula, set, &w, &x, y),
            None => estimate(learner, drawn, &x, y)?,
        };
        mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g);
        pairs.each.extend(g.into_iter().zip(sets.written_out(Formula::Right, set, &w, &x, y)));
        count += 1.0;
    }
    let residual = dot(&w, &x) - y;
    pairs.mean.extend(mean.into_iter().zip(&x).map(|(mean, x)| (mean / count, 2.0 * residual * x)));
    Ok(())
}

/// `E X_ij` and `x_i x_j`, `E z_i` and `x_i`, by the library's estimates, or by the weights of a fault.
fn entries(sets: Sets, formula: Option<Formula>, rng: &mut Rng) -> Vec<(f64, f64)> {
    let (dim, kept) = (sets.dim, sets.kept.count_ones() as usize);
    let (x, law) = (normal(rng, dim), Observe { dim, budget: sets.budget, kept });
    let (estimates, mut column) = (law.estimates(), Vec::new());
    let (mut gram, mut single, mut count) = (vec![0.0; dim * dim], vec![0.0; dim], 0.0);
    for drawn in outside(dim, sets.kept, sets.drawn()) {
        let seen: Vec<usize> = members(sets.kept).chain(members(drawn)).collect();
        let values: Vec<f64> = seen.iter().map(|&i| x[i]).collect();
        for (place, &j) in seen.iter().enumerate() {
            let unit: Vec<f64> = (0..seen.len()).map(|at| f64::from(at == place)).collect();
            estimates.gram_times(&values, &unit, kept, &mut column);
            for (&i, entry) in seen.iter().zip(&column) {
                gram[i * dim + j] += formula.map_or(*entry, |wrong| sets.weight(wrong, i, j) * x[i] * x[j]);
            }
            let weight = if place >= kept { estimates.single } else { 1.0 };
            single[j] += weight * x[j];
        }
        count += 1.0;
    }
    let gram = gram.into_iter().enumerate().map(|(at, sum)| (sum / count, x[at / dim] * x[at % dim]));
    gram.chain(single.into_iter().zip(&x).map(|(sum, x)| (sum / count, *x))).collect()
}

/// Uniform choice, and Algorithms 2 and 3 in their second exploration round, where the weights are no more
/// zero.
fn others(formula: Option<Formula>, seed: &Seed, pairs: &mut Pairs) -> anyhow::Result<()> {
    let mut rng = seed.child("data").rng();
    let dim = rng.random_range(2..=6);
    let budget = rng.random_range(2..=dim);
    let regularization = Regularization::sqrt(2.0);
    let uniform = UniformParams { dim, budget, regularization, radius: 1.0 }.build()?;
    let uniform = uniform.with_gradient_sum(&normal(&mut rng, dim))?;
    enumerate(&uniform, (budget, 0), formula, &mut rng, pairs)?;

    let mut hand = ManualSession::new(dim, &seed.child("algorithm"));
    let mut second =
        Rda2Params::practical(&Task { dim, budget, radius: Some(1.0), speed: 4.0, ..Task::default() })?
            .build()?;
    let mut third =
        Rda3Params::practical(&Task { dim, budget, radius: Some(1.0), speed: 4.0, ..Task::default() })?
            .build()?;
    for _ in 0..3 {
        let (x, y) = (normal(&mut rng, dim), normal(&mut rng, 1)[0]);
        hand.serve(&mut second, &x, y)?;
        hand.serve(&mut third, &x, y)?;
    }
    enumerate(&second, (budget, 0), formula, &mut rng, pairs)?;
    enumerate(&third, (budget, 0), formula, &mut rng, pairs)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let formula = cx.fault(&FAULTS);
    let each = cx.all_trials("random", cx.size("instances")?, |trial| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(2..=6);
        let budget = rng.random_range(2..=dim);
        // Everything may be in U when everything is observed.
        let kept = if budget == dim { rng.random_range(0..=dim) } else { rng.random_range(0..=budget - 2) };
        let params = Rda1Params { dim, budget, kept, regularization: Regularization::sqrt(2.0), radius: 1.0 };
        let learner = params.build()?.with_gradient_sum(&normal(&mut rng, dim))?;
        let (mut first, mut rest) = (Pairs::default(), Pairs::default());
        enumerate(&learner, (budget, kept), formula, &mut rng, &mut first)?;
        let sets = Sets { dim, budget, kept: largest(&learner.iterate(), kept) };
        let entries = entries(sets, formula, &mut rng);
        others(formula, &trial.seed.child("others"), &mut rest)?;
        Ok((first, rest, entries))
    })?;
    let mean = each.iter().flat_map(|(first, _, _)| first.mean.iter().copied());
    cx.judge("E g = gradient, Algorithm 1", exact_all(mean, 1e-10));
    let mean = each.iter().flat_map(|(_, rest, _)| rest.mean.iter().copied());
    cx.judge("E g = gradient, uniform choice and Algorithms 2, 3", exact_all(mean, 1e-10));
    let all = each.iter().flat_map(|(first, rest, _)| first.each.iter().chain(&rest.each));
    cx.judge("every estimate is (6)", exact_all(all.copied(), 1e-10));
    let entries = each.iter().flat_map(|(_, _, entries)| entries.iter().copied());
    cx.judge("E X = x x', E z = x", exact_all(entries, 1e-10));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-unbiased",
    place: "Section 4, equation (6)",
    sentence: "Given the past and the example, X is an unbiased estimate of x x', z of x, and 2 X w - 2 y z \
               of the gradient of the squared loss.",
    formula: r"E[X_t \mid w_t, x_t] = x_t x_t^\top, \quad E[z_t \mid w_t, x_t] = x_t, \quad E[2 X_t w_t
               - 2 y_t z_t \mid w_t, x_t, y_t] = 2 x_t (x_t^\top w_t - y_t)",
    design: "Random w, x, y in up to six dimensions, all (d, k', k_1), all sets that can be looked at, \
             through the production learner: what it adds to its sum of gradients is the estimate. Each is \
             also compared with (6) written out as a double sum. The same for uniform choice (k_1 = 0) and \
             for an exploration round of Algorithms 2 and 3; X and z entry by entry.",
    standing: Standing::corrected(&[9, 13]),
    mutants: &mutants(&FAULTS),
    experiment,
};
