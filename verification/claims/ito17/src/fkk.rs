//! FKK, one of the methods compared with: its estimates are unbiased.
//!
//! *Statement.* `A_t` is drawn from the weights, R uniformly from the sets of `r = k' - k` attributes,
//! independently of it. The estimates from R alone, `X_ij = x_i x_j / p2`, `X_ii = x_i^2 / p`,
//! `z_i = y x_i / p` with `p = r/d`, `p2 = r(r-1)/(d(d-1))`, have means `x x'` and `y x`; so for every
//! support A the loss estimate `w_A' X w_A - 2 z'w_A + y^2` has mean `(w_A'x - y)^2`, and the gradient
//! estimate has mean `2 (w_A'x - y) x_A`. (Foster et al. 2016, in the form in which the paper compares with
//! it; written from descriptions.)
//!
//! *How many supports.* The paper says that the method "enumerates all d choose k' possibilities". As
//! reconstructed here, from the comparators that its regret is against, it keeps one predictor for each of
//! the d choose k supports: 15,504 for (d, k, k') = (20, 5, 7), not 77,520 (reported; the original was not at
//! hand).

use lao_algorithms::baselines::{Fkk, FkkParams};
use lao_observation::{Ask, Learner, Request};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{dot, masks, members};
use lao_verification_engine::judge::{equal, exact_all};
use lao_verification_engine::probe::ManualSession;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};

/// `(d, k, k')`.
const SHAPES: [(usize, usize, usize); 4] = [(5, 1, 3), (5, 2, 4), (6, 2, 5), (6, 3, 5)];
const HEDGE_RATE: f64 = 0.25;
const STEP_SIZE: f64 = 0.0625;

fn params((dim, sparsity, budget): (usize, usize, usize)) -> FkkParams {
    // The projection is kept out: it is not linear in the estimate.
    FkkParams { dim, sparsity, budget, hedge_rate: HEDGE_RATE, step_size: STEP_SIZE, radius: 1e6 }
}

/// `w_A'x` for support number `a`.
fn inner(learner: &Fkk, a: usize, x: &[f64]) -> f64 {
    let on: Vec<f64> = learner.support(a).iter().map(|&j| x[j as usize]).collect();
    dot(&on, learner.weights(a))
}

const PREDICTING_ATTRIBUTES_ESTIMATE_TOO: Mutant = Mutant::refuted(
    "predicting_attributes_estimate_too",
    "estimates from all attributes seen, those of the support too",
);
const RANDOM_SET_AVOIDS_THE_SUPPORT: Mutant =
    Mutant::refuted("random_set_avoids_the_support", "draws the random set outside the support");
const ONE_ATTRIBUTE_TOO_FEW: Mutant =
    Mutant::refuted("one_attribute_too_few", "draws one attribute less than the weights assume");

/// The sets R that an arm lets the estimates come from, when the chosen support is `chosen`.
fn sets(cx: &Context<'_>, (dim, k, budget): (usize, usize, usize), chosen: &[u32]) -> Vec<Vec<u32>> {
    let size = budget - k - usize::from(cx.commits(&ONE_ATTRIBUTE_TOO_FEW));
    let (outside, too) =
        (cx.commits(&RANDOM_SET_AVOIDS_THE_SUPPORT), cx.commits(&PREDICTING_ATTRIBUTES_ESTIMATE_TOO));
    let all = masks(dim, size).map(|set| members(set).map(|j| j as u32).collect::<Vec<u32>>());
    all.filter(|set| !outside || set.iter().all(|j| !chosen.contains(j)))
        .map(|mut set| {
            if too {
                set.extend_from_slice(chosen);
                set.sort_unstable();
                set.dedup();
            }
            set
        })
        .collect()
}

/// Means of the estimates over R, beside what they must be: differences of losses, gradients.
fn means(cx: &Context<'_>, trial: &Trial) -> anyhow::Result<Vec<(f64, f64)>> {
    let mut pairs = Vec::new();
    for shape in SHAPES {
        let (dim, k, _) = shape;
        let mut rng = trial.seed.child("data").rng();
        let mut hand = ManualSession::new(dim, &trial.seed.child("algorithm"));
        let mut learner = params(shape).build()?;
        let mut normal = || -> Vec<f64> { (0..=dim).map(|_| StandardNormal.sample(&mut rng)).collect() };
        for _ in 0..6 {
            let example = normal();
            hand.serve(&mut learner, &example[..dim], example[dim])?;
        }
        let example = normal();
        let (x, y) = (&example[..dim], example[dim]);
        let supports = learner.count();
        for chosen in [0, supports - 1] {
            let sets = sets(cx, shape, learner.support(chosen));
            let share = 1.0 / sets.len() as f64;
            let (mut losses, mut gradients) = (vec![0.0; supports], vec![0.0; supports * k]);
            for set in &sets {
                let mut next = learner.clone();
                hand.serve_for(&mut next, |next, ask| next.ask_for(chosen, set, ask), x, y)?;
                let fell = |a: usize| (learner.log_weights()[a] - next.log_weights()[a]) / HEDGE_RATE;
                for a in 0..supports {
                    losses[a] += share * (fell(a) - fell(0));
                    for (i, (before, after)) in learner.weights(a).iter().zip(next.weights(a)).enumerate() {
                        gradients[a * k + i] += share * (before - after) / STEP_SIZE;
                    }
                }
            }
            let residual = |a: usize| inner(&learner, a, x) - y;
            for a in 0..supports {
                pairs.push((losses[a], residual(a).powi(2) - residual(0).powi(2)));
                let exact = learner.support(a).iter().map(|&j| 2.0 * residual(a) * x[j as usize]);
                pairs.extend(gradients[a * k..].iter().copied().zip(exact));
            }
        }
    }
    Ok(pairs)
}

/// `n` over `k`.
fn binomial(n: usize, k: usize) -> f64 {
    if k > n { 0.0 } else { (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product() }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let pairs = cx.all_trials("rounds", cx.size("instances")?, |trial| means(cx, trial))?;
    cx.judge("means over R of the loss and gradient estimates", exact_all(pairs.into_iter().flatten(), 1e-9));
    cx.settled()?;
    let (dim, k, budget) = (6, 2, 4);
    let mut learner = params((dim, k, budget)).build()?;
    let avoids = cx.commits(&RANDOM_SET_AVOIDS_THE_SUPPORT);
    let (seed, mut counts) = (cx.seed("draws"), [0; 3]);
    let (mut hand, mut rng) = (ManualSession::new(dim, &seed), seed.child("algorithm").rng());
    for _ in 0..cx.size("draws")? {
        let draw = |learner: &mut Fkk, ask: &mut Ask| {
            if avoids {
                let chosen = rng.random_range(0..learner.count());
                let support = learner.support(chosen).to_vec();
                let mut free: Vec<u32> = (0..dim as u32).filter(|j| !support.contains(j)).collect();
                free.shuffle(&mut rng);
                let mut set = free[..budget - k].to_vec();
                set.sort_unstable();
                learner.ask_for(chosen, &set, ask);
            } else {
                learner.ask(&mut rng, ask);
            }
            if let Request::Values { attributes, .. } = ask.request() {
                counts[budget.saturating_sub(attributes.len()).min(2)] += 1;
            }
        };
        // An example of zeros leaves all weights as they are.
        hand.serve_for(&mut learner, draw, &[0.0; 6], 0.0)?;
    }
    let shared = |m: usize| binomial(k, m) * binomial(dim - k, budget - k - m) / binomial(dim, budget - k);
    let finding = equal::discrete(&counts, &[shared(0), shared(1), shared(2)], Some(0.25));
    cx.judge("attributes that A_t and R share", finding);
    if cx.honest() {
        cx.note("predictors at (d, k, k') = (20, 5, 7)", params((20, 5, 7)).build()?.count() as f64);
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-fkk",
    place: "Section 1, the algorithm of Foster et al.",
    sentence: "The exhaustive method's estimates of the loss and of the gradient of every support, from a \
               random set beside the drawn support, are unbiased.",
    formula: r"\mathbb{E}_R \left[ w_A^\top X w_A - 2 z^\top w_A + y^2 \right] = (w_A^\top x - y)^2",
    design: "Enumeration. A production learner with a few random rounds behind it takes one round more with \
             each set R, for the first and for the last support; its log weights show the loss estimates (up \
             to a number common to all supports), its predictors the gradient estimates; means over R are \
             compared for all supports. Then production's own draws: how many attributes A_t and R share, in \
             the first round, against the hypergeometric law. What the method's regret is shows in \
             ito17-table2.",
    standing: Standing::sound().with_errata(&[24]).literal(),
    mutants: &[PREDICTING_ATTRIBUTES_ESTIMATE_TOO, RANDOM_SET_AVOIDS_THE_SUPPORT, ONE_ATTRIBUTE_TOO_FEW],
    experiment,
};
