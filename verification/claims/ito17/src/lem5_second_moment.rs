//! Lemma 5: the second moment of the gradient estimate.
//!
//! *Why.* With `p_ijl` for three attributes observed together,
//! `E |X w|^2 = sum_i x_i^2 sum_jl x_j x_l w_j w_l p_ijl/(p_ij p_il)`. Since `p_ijl <= p_il`, this is at most
//! `|x|^2 (sum |x_j w_j|)^2/q_0 <= 1/q_0`; `E |z|^2 = sum x_i^2/p_i <= 1/q_0`; and
//! `|a - b|^2 <= 2 |a|^2 + 2 |b|^2`.
//!
//! *Linear independence*, which the lemma supposes, is not used: x is a single vector in every instance here,
//! so that `V = x x'` has rank one.
//!
//! *Tightness.* For k' = d the last instance attains both bounds, 16 and 4. Otherwise the largest G found is
//! .25 to .53 of the bound.
//!
//! *Mutants.* 15.9 for 16; 3.9 for 4; X divided by `p_i p_j` on and off the diagonal; z divided by `p_i^2`.
//! The last two exceed the bound only where many attributes are left out, `(d, k', k_1) = (12, 3, 0)`:
//! `4 p (1/p^2 + 1/p)^2 = 400 > 16/q_0 = 352`.

use crate::setup::enumerated::{estimate, outside};
use lao_algorithms::ito::gram::{GramWeights, Observe};
use lao_algorithms::ito::{Rda1Params, Regularization};
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{climb, dot, members, norm2, tally};
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand_distr::{Distribution, StandardNormal};

/// `(d, k', k_1)`; U is `{0, .., k_1 - 1}`.
type Shape = (usize, usize, usize);

/// Those that are searched.
const SHAPES: [Shape; 9] =
    [(3, 3, 1), (4, 4, 2), (5, 5, 0), (5, 3, 0), (6, 4, 1), (4, 2, 0), (5, 3, 1), (6, 4, 2), (6, 2, 0)];
/// Where few of many attributes are observed, besides.
const SPARSE: [Shape; 2] = [(12, 3, 0), (12, 4, 1)];

/// What the arm puts into the estimate.
#[derive(Clone, Copy)]
struct Weights {
    gram: GramWeights,
    /// Whether the diagonal of X has the weight of a pair as well.
    flat: bool,
    /// Further factor of z outside U.
    single: f64,
}

const CONSTANT_15_9: Mutant = Mutant::refuted("constant_15_9", "claims 15.9 for 16");
const PATHWISE_CONSTANT_3_9: Mutant = Mutant::refuted("pathwise_constant_3_9", "claims 3.9 for 4");
const PAIRS_AS_INDEPENDENT: Mutant = Mutant::refuted("pairs_as_independent", "divides x_i x_j by p_i p_j");
const ALL_BY_THE_PAIR: Mutant =
    Mutant::refuted("all_by_the_pair", "divides the diagonal of X and z by the probability of a pair, too");
const Z_BY_THE_SQUARE: Mutant = Mutant::refuted("z_by_the_square", "divides x_i by p_i^2");

impl Weights {
    fn of(cx: &Context<'_>, law: Observe) -> Weights {
        let mut gram = law.estimates();
        let (flat, squared) = (cx.commits(&PAIRS_AS_INDEPENDENT), cx.commits(&Z_BY_THE_SQUARE));
        let by_pair = cx.commits(&ALL_BY_THE_PAIR);
        let single = match (squared, by_pair) {
            (true, _) => gram.single,
            (_, true) => gram.pair / gram.single,
            _ => 1.0,
        };
        if flat {
            gram.pair = gram.single * gram.single;
        }
        Weights { gram, flat: flat || by_pair, single }
    }

    /// `2 X w - 2 y z` where observed; the first `kept` attributes are U.
    fn estimate(&self, x: &[f64], w: &[f64], kept: usize, y: f64, out: &mut Vec<f64>) {
        self.gram.gradient(x, w, kept, y, out);
        let own = if self.flat { self.gram.pair - self.gram.single } else { 0.0 };
        for (place, g) in out.iter_mut().enumerate().skip(kept) {
            *g += 2.0 * x[place] * own * x[place] * w[place];
            *g -= 2.0 * y * (self.single - 1.0) * (self.gram.single * x[place]);
        }
    }
}

/// All sets of a shape.
struct Sets {
    /// `q_0`, the least pair probability.
    least: f64,
    weights: Weights,
    /// Size of U.
    kept: usize,
    /// Members, U first.
    sets: Vec<Vec<usize>>,
}

impl Sets {
    fn new(cx: &Context<'_>, shape: Shape) -> Sets {
        let (dim, budget, kept) = shape;
        let law = Observe { dim, budget, kept };
        let u = (1 << kept) - 1;
        let sets = outside(dim, u, budget - kept).map(|drawn| members(u | drawn).collect()).collect();
        let pairs = (0..dim).flat_map(|i| (0..dim).map(move |j| together(shape, [i, j, j])));
        Sets { least: pairs.fold(1.0, f64::min), weights: Weights::of(cx, law), kept, sets }
    }

    /// `G` and the largest length of an estimate.
    fn moment(&self, w: &[f64], x: &[f64], y: f64) -> (f64, f64) {
        let (mut sum, mut longest, mut out) = (0.0, 0.0_f64, Vec::new());
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for seen in &self.sets {
            values.clear();
            values.extend(seen.iter().map(|&i| x[i]));
            weights.clear();
            weights.extend(seen.iter().map(|&i| w[i]));
            self.weights.estimate(&values, &weights, self.kept, y, &mut out);
            let square = norm2(&out);
            sum += square;
            longest = longest.max(square);
        }
        (sum / self.sets.len() as f64, longest.sqrt())
    }
}

/// `q (q-1) .. / (n (n-1) ..)` with as many factors as different attributes lie outside U.
fn together(shape: Shape, attributes: [usize; 3]) -> f64 {
    let (dim, budget, kept) = shape;
    let mut apart: Vec<usize> = attributes.into_iter().filter(|&i| i >= kept).collect();
    apart.sort_unstable();
    apart.dedup();
    (0..apart.len()).map(|a| (budget - kept).saturating_sub(a) as f64 / (dim - kept - a) as f64).product()
}

/// `G` by the formula with triples.
fn formula(shape: Shape, w: &[f64], x: &[f64], y: f64) -> f64 {
    let (dim, along) = (shape.0, dot(w, x));
    let mut sum = 0.0;
    for i in 0..dim {
        let mut row = 0.0;
        for j in 0..dim {
            for l in 0..dim {
                let p = together(shape, [i, j, l]) / together(shape, [i, i, j]) / together(shape, [i, i, l]);
                row += p * x[j] * x[l] * w[j] * w[l];
            }
        }
        sum += x[i] * x[i] * (row + (y * y - 2.0 * y * along) / together(shape, [i; 3]));
    }
    4.0 * sum
}

/// w and x on the unit sphere from any `2 d` numbers.
fn spheres(point: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let unit = |v: &[f64]| {
        let length = norm2(v).sqrt().max(1e-300);
        v.iter().map(|v| v / length).collect::<Vec<f64>>()
    };
    let (w, x) = point.split_at(point.len() / 2);
    (unit(w), unit(x))
}

fn start(rng: &mut Rng, dim: usize) -> Vec<f64> {
    (0..2 * dim).map(|_| StandardNormal.sample(rng)).collect()
}

type Tallies = [PropertyTally; SHAPES.len() + 1];

/// The second moment that a search reaches in each shape, from one start and with one sign of y each, and
/// last the lengths.
fn searched(cx: &Context<'_>, constants: [f64; 2]) -> anyhow::Result<Tallies> {
    tally(cx, "search", cx.size("searches")?, |trial, [moments @ .., lengths]: &mut Tallies| {
        for (shape, tally) in SHAPES.into_iter().zip(moments) {
            let (mut rng, sets) = (trial.seed.child("data").rng(), Sets::new(cx, shape));
            let (mut point, least) = (start(&mut rng, shape.0), sets.least);
            let y = if trial.number.is_multiple_of(2) { 1.0 } else { -1.0 };
            climb(&mut point, 40, &mut rng, |point| {
                let (w, x) = spheres(point);
                sets.moment(&w, &x, y).0
            });
            let (w, x) = spheres(&point);
            let (moment, longest) = sets.moment(&w, &x, y);
            tally.check(moment, constants[0] / least);
            lengths.check(longest, constants[1] / least);
        }
        Ok(())
    })
}

/// Pairs of the second moment by the library's estimates and by the formula, and of what production adds to
/// its sum and the estimate.
fn moments(cx: &Context<'_>) -> anyhow::Result<Vec<(f64, f64)>> {
    let pairs = cx.all_trials("formula", cx.size("instances")?, |trial| {
        let (mut rng, mut pairs) = (trial.seed.child("data").rng(), Vec::new());
        for shape in SHAPES {
            let (dim, budget, kept) = shape;
            let (sets, point) = (Sets::new(cx, shape), start(&mut rng, dim));
            let (mut w, x) = spheres(&point);
            // Production looks at the largest weights: put them first.
            w.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
            let y: f64 = StandardNormal.sample(&mut rng);
            let moment = sets.moment(&w, &x, y).0;
            pairs.push((moment, formula(shape, &w, &x, y)));
            let params =
                Rda1Params { dim, budget, kept, regularization: Regularization::sqrt(1.0), radius: 1.0 };
            let sum: Vec<f64> = w.iter().map(|w| -w).collect();
            let (learner, mut mean) = (params.build()?.with_gradient_sum(&sum)?, 0.0);
            for drawn in outside(dim, (1 << kept) - 1, budget - kept) {
                mean += norm2(&estimate(&learner, drawn, &x, y)?) / sets.sets.len() as f64;
            }
            pairs.push((mean, moment));
        }
        Ok(pairs)
    })?;
    Ok(pairs.into_iter().flatten().collect())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(SHAPES.len() + 3);
    let constants = [
        if cx.commits(&CONSTANT_15_9) { 15.9 } else { 16.0 },
        if cx.commits(&PATHWISE_CONSTANT_3_9) { 3.9 } else { 4.0 },
    ];
    let mut extreme = PropertyTally::new();
    for shape in SHAPES.into_iter().chain(SPARSE) {
        let sets = Sets::new(cx, shape);
        let unit = |i: usize, size: f64| -> Vec<f64> {
            (0..shape.0).map(|j| if j == i { size } else { 0.0 }).collect()
        };
        for i in [0, shape.0 - 1] {
            let (moment, longest) = sets.moment(&unit(i, -1.0), &unit(i, 1.0), 1.0);
            extreme.check(moment, constants[0] / sets.least);
            extreme.check(longest, constants[1] / sets.least);
        }
    }
    cx.judge("x = e_i, w = -e_i, y = 1", extreme.finish());
    cx.settled()?;
    cx.judge("G is the formula with triples", exact_all(moments(cx)?, 1e-10));
    let [moments @ .., lengths] = searched(cx, constants)?;
    for ((dim, budget, kept), tally) in SHAPES.into_iter().zip(moments) {
        cx.judge(&format!("worst w and x for d = {dim}, k' = {budget}, k_1 = {kept}"), tally.finish());
    }
    cx.judge("length of every estimate", lengths.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-lem5-second-moment",
    place: "Lemma 5",
    sentence: "Whatever the law of x, the second moment of the gradient estimate is at most 16 over the \
               least pair probability, and its length at most 4 over it.",
    formula: r"\|x\|, \|w\|, |y| \le 1, \; 0 < q_0 \le p_{ij} \;\Rightarrow\; E\|2 X w - 2 y z\|^2 \le
               \frac{16}{q_0}, \quad \|2 X w - 2 y z\| \le \frac{4}{q_0}",
    design: "The estimate of the production library on all sets; its second moment against the formula with \
             triples, and on some instances against what production Algorithm 1 adds to its sum. A search \
             for the worst w and x on the sphere, y = 1 and -1, for nine shapes; and x = e_1, w = -e_1, y = \
             1.",
    standing: Standing::corrected(&[14]),
    mutants: &[ALL_BY_THE_PAIR, CONSTANT_15_9, PATHWISE_CONSTANT_3_9, PAIRS_AS_INDEPENDENT, Z_BY_THE_SQUARE],
    experiment,
};
