//! Lemma B.4: the best predictor of the hard family.
//!
//! *Statement.* Rows `r_i e_i`, i uniform in T, `|T| = K = 1/eps^2`, labels 1, loss without 1/2 (as in
//! Appendix B): `w* = eps sum_T r_i e_i` has `|w*| = 1` and `L(w*) = (1 - eps)^2`; no `w` in the unit ball
//! has less.
//!
//! *Why.* `L(w) = 1 - (2/K) sum_T w_i r_i + (1/K) sum_T w_i^2`, and with `s^2 = sum_T w_i^2` the middle sum
//! is at most `sqrt(K) s`: `L(w) >= (1 - s eps)^2`.

use lao_datasets::adversarial::hazan_koren::{Population, SignedRows};
use lao_kernels::{SparseVector, project_l2_ball};
use lao_verification_engine::claim::{Claim, Mutant, Shown, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{norm2, tally};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const WEIGHTS_ONE_OVER_K: Mutant = Mutant::refuted("weights_one_over_k", "w* with weights 1/K");
const BALL_TOO_LARGE: Mutant = Mutant::refuted("ball_too_large", "predictors of norm 1.1");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let radius = if cx.commits(&BALL_TOO_LARGE) { 1.1 } else { 1.0 };
    let flat = cx.commits(&WEIGHTS_ONE_OVER_K);
    let instances = cx.size("instances")?;
    let mut exact = Vec::new();
    for rows in [4, 9, 100] {
        let population = SignedRows::random(3 * rows, rows, &cx.seed("rows"))?;
        let eps = 1.0 / (rows as f64).sqrt();
        let mut star = population.minimizer();
        if flat {
            star.values_mut().iter_mut().for_each(|w| *w *= eps);
        }
        let signs = population.signs();
        let by_hand =
            signs.iter().map(|(i, r)| (1.0 - star.view().get(i) * r).powi(2)).sum::<f64>() / rows as f64;
        exact.push((population.squared_error(star.view()), (1.0 - eps).powi(2)));
        exact.push((by_hand, (1.0 - eps).powi(2)));
        exact.push((star.view().norm_squared(), 1.0));
    }
    cx.judge("loss and norm of w*", exact_all(exact, 1e-12));

    let [least] = tally(cx, "predictors", instances, |trial, [least]| {
        let rng = &mut trial.seed.child("algorithm").rng();
        let rows = [4, 9, 100][rng.random_range(0..3)];
        let population = SignedRows::random(3 * rows, rows, &trial.seed.child("data"))?;
        let eps = 1.0 / (rows as f64).sqrt();
        let (mut w, size) =
            (population.minimizer().view().to_dense(), 10f64.powf(rng.random_range(-3.0..0.5)));
        for x in &mut w {
            let noise: f64 = StandardNormal.sample(rng);
            *x = radius * *x + size * eps * noise;
        }
        project_l2_ball(&mut w, radius)?;
        let loss = population.squared_error(SparseVector::from_dense(&w).view());
        let on_rows: Vec<f64> = population.signs().indices().iter().map(|&i| w[i as usize]).collect();
        least.check((1.0 - eps).powi(2), loss);
        least.check((1.0 - norm2(&on_rows).sqrt() * eps).powi(2), loss);
        Ok(())
    })?;
    cx.judge("nothing in the ball has less", least.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lemb4",
    place: "Appendix B.2, Lemma B.4",
    sentence: "The predictor eps times the signs of the rows has norm 1 and loss (1 - eps)^2, the least in \
               the unit ball.",
    formula: r"w^* = \varepsilon \sum_{i \in T} r_i e_i, \quad L(w^*) = (1 - \varepsilon)^2 =
               \min_{\|w\|_2 \le 1} L(w)",
    design: "The production instance for random T and signs, K in 4, 9, 100; random w in the ball, among \
             them perturbed w*.",
    standing: Standing::sound()
        .with_errata(&[21])
        .showing(&[Shown { erratum: 21, cell: "loss and norm of w*" }]),
    mutants: &[WEIGHTS_ONE_OVER_K, BALL_TOO_LARGE],
    experiment,
};
