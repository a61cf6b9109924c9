//! The methods of Ito et al. against their naive twins: a few dense lines that read like the paper.

use lao_algorithms::ito::{
    Greedy, GreedyParams, Rda1, Rda1Params, Rda2, Rda2Params, Rda3, Rda3Params, Regularization, Uniform,
    UniformParams,
};
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Rng, Seed, Told};
use proptest::prelude::*;
use rand::RngExt;

/// Plays one round: asks, answers from `x`, predicts, tells. Gives the set observed and the prediction.
fn round(learner: &mut impl Learner, rng: &mut Rng, x: &[f64], y: f64) -> (Vec<u32>, f64) {
    let (mut ask, mut block) = (Ask::new(x.len()), BlockBuf::new());
    learner.ask(rng, &mut ask);
    let Request::Values { attributes, examples: 1 } = ask.request() else { panic!("{ask:?}") };
    block.reset(attributes.len(), 1);
    for (c, &j) in attributes.iter().enumerate() {
        block.column_mut(c)[0] = x[j as usize];
    }
    block.labels_mut()[0] = y;
    block.set_rows(1);
    let view = block.view(attributes);
    let prediction = learner.predict(view.single().unwrap().0);
    learner.tell(Told::Values(view)).unwrap();
    (attributes.to_vec(), prediction)
}

/// An example with a target of three attributes, the second of which is the largest.
fn example(dim: usize, rng: &mut Rng) -> (Vec<f64>, f64) {
    let x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y = 0.4 * x[0] - 0.6 * x[dim / 2] + 0.2 * x[dim - 1] + rng.random_range(-0.3..0.3);
    (x, y)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// `argmin_{||w|| <= radius} h' w + (lambda/2) ||w||^2`.
fn minimiser(h: &[f64], lambda: f64, radius: f64) -> Vec<f64> {
    let scale = lambda.max(norm(h) / radius);
    h.iter().map(|h| -h / scale).collect()
}

/// The largest magnitudes, by sorting; smallest index first among equals.
fn largest(w: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..w.len() as u32).collect();
    order.sort_by(|&i, &j| w[j as usize].abs().total_cmp(&w[i as usize].abs()).then(i.cmp(&j)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// `2 X w - 2 y z` with the matrix written out, for `S` drawn as `U` and `q` of the `n` others.
fn estimate(x: &[f64], y: f64, w: &[f64], set: &[u32], inside: &[u32]) -> Vec<f64> {
    let (q, n) = ((set.len() - inside.len()) as f64, (x.len() - inside.len()) as f64);
    let out = |i: u32| !inside.contains(&i);
    let p = |i: u32, j: u32| match (out(i), out(j)) {
        (true, true) if i != j => q * (q - 1.0) / (n * (n - 1.0)),
        (false, false) => 1.0,
        _ => q / n,
    };
    let mut g = vec![0.0; x.len()];
    for &i in set {
        let row: f64 = set.iter().map(|&j| x[i as usize] * x[j as usize] * w[j as usize] / p(i, j)).sum();
        g[i as usize] = 2.0 * row - 2.0 * y * x[i as usize] / p(i, i);
    }
    g
}

fn predict(w: &[f64], set: &[u32], x: &[f64]) -> f64 {
    set.iter().map(|&i| w[i as usize] * x[i as usize]).sum()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let error = norm(&found.iter().zip(wanted).map(|(a, b)| a - b).collect::<Vec<_>>());
    assert!(error <= tolerance * (1.0 + norm(wanted)), "off by {error} at norm {}", norm(wanted));
}

/// Shape, regularisation and radius of a run.
#[derive(Clone, Copy, Debug)]
struct Setting {
    dim: usize,
    budget: usize,
    kept: usize,
    scale: f64,
    power: f64,
    radius: f64,
}

/// Algorithm 1, greedy and uniform choice are one loop, with `k_1` between 0 and `k'`.
fn against_algorithm_1<L: Learner>(
    mut learner: L,
    state: impl Fn(&L) -> (Vec<f64>, Vec<f64>),
    setting: Setting,
    rounds: usize,
    seed: u64,
) {
    let Setting { dim, budget, kept, scale, power, radius } = setting;
    let (mut data, mut rng) = (Seed::root(seed).child("data").rng(), Seed::root(seed).rng());
    let mut h = vec![0.0; dim];
    for t in 1..=rounds {
        let (x, y) = example(dim, &mut data);
        let (set, prediction) = round(&mut learner, &mut rng, &x, y);
        let w = minimiser(&h, scale * (t as f64).powf(power), radius);
        let inside = largest(&w, kept);
        assert!(
            inside.iter().all(|i| set.contains(i)) && set.len() == budget,
            "round {t}: {inside:?}, {set:?}"
        );
        assert!((prediction - predict(&w, &set, &x)).abs() < 1e-9, "round {t}");
        for (h, g) in h.iter_mut().zip(estimate(&x, y, &w, &set, &inside)) {
            *h += g;
        }
    }
    let (sum, iterate) = state(&learner);
    close(&sum, &h, 1e-10);
    close(&iterate, &minimiser(&h, scale * (rounds as f64 + 1.0).powf(power), radius), 1e-10);
    close(&learner.coefficients().to_dense(), &iterate, 0.0);
}

fn rda1(setting: Setting) -> Rda1 {
    let Setting { dim, budget, kept, scale, power, radius } = setting;
    Rda1Params { dim, budget, kept, regularization: Regularization { scale, power }, radius }.check().unwrap()
}

fn greedy(setting: Setting) -> Greedy {
    let Setting { dim, budget, scale, power, radius, .. } = setting;
    GreedyParams { dim, budget, regularization: Regularization { scale, power }, radius }.check().unwrap()
}

fn uniform(setting: Setting) -> Uniform {
    let Setting { dim, budget, scale, power, radius, .. } = setting;
    UniformParams { dim, budget, regularization: Regularization { scale, power }, radius }.check().unwrap()
}

/// Algorithm 2 (`rho = 0`, plain average) and Algorithm 3 in one loop.
fn against_algorithms_2_and_3<L: Learner>(
    mut learner: L,
    state: impl Fn(&L) -> [Vec<f64>; 3],
    (setting, rho, decay): (Setting, f64, f64),
    rounds: usize,
    seed: u64,
) {
    let Setting { dim, budget, scale, power, radius, .. } = setting;
    let (mut data, mut rng) = (Seed::root(seed).child("data").rng(), Seed::root(seed).rng());
    let (mut explored, mut exploited) = (vec![0.0; dim], vec![0.0; dim]);
    let (mut total, mut mass, mut s, mut level, mut chosen) = (vec![0.0; dim], 0.0, 0.0_f64, 0.0, vec![]);
    let mut mean = vec![0.0; dim];
    for t in 1..=rounds {
        let (x, y) = example(dim, &mut data);
        let (set, prediction) = round(&mut learner, &mut rng, &x, y);
        let w = minimiser(&exploited, 2.0 * (t as f64).sqrt(), radius);
        let explores = (1..=t).any(|s| s * s == t);
        if explores {
            level += if s > 0.0 { rho * s.powf(-0.25) } else { 0.0 };
            s += 1.0;
            let soft: Vec<f64> =
                explored.iter().map(|h: &f64| h.signum() * (h.abs() - level).max(0.0)).collect();
            let w = minimiser(&soft, scale * s.powf(power), radius);
            mass += s.powf(-decay);
            total.iter_mut().zip(&w).for_each(|(total, w)| *total += s.powf(-decay) * w);
            mean = total.iter().map(|total| total / mass).collect();
            chosen = largest(&mean, budget);
            for (h, g) in explored.iter_mut().zip(estimate(&x, y, &w, &set, &[])) {
                *h += g;
            }
        }
        assert!(set.len() == budget && (explores || set == chosen), "round {t}: {set:?}, not {chosen:?}");
        assert!((prediction - predict(&w, &set, &x)).abs() < 1e-9, "round {t}");
        for &i in &set {
            exploited[i as usize] += 2.0 * (prediction - y) * x[i as usize];
        }
    }
    let [explore_sum, exploit_sum, average] = state(&learner);
    close(&explore_sum, &explored, 1e-10);
    close(&exploit_sum, &exploited, 1e-10);
    let round = (rounds as f64 + 1.0).sqrt();
    if round.fract() != 0.0 {
        close(&average, &mean, 1e-10);
        let w = minimiser(&exploited, 2.0 * round, radius);
        let restricted: Vec<f64> =
            (0..dim).map(|i| if chosen.contains(&(i as u32)) { w[i] } else { 0.0 }).collect();
        close(&learner.coefficients().to_dense(), &restricted, 1e-10);
    }
}

fn rda2(Setting { dim, budget, scale, power, radius, .. }: Setting) -> Rda2 {
    let (explore, exploit) = (Regularization { scale, power }, Regularization::sqrt(2.0));
    Rda2Params { dim, budget, explore, exploit, radius }.check().unwrap()
}

fn rda3(Setting { dim, budget, scale, power, radius, .. }: Setting, penalty: f64) -> Rda3 {
    let (explore, exploit) = (Regularization { scale, power }, Regularization::sqrt(2.0));
    Rda3Params { dim, budget, explore, exploit, radius, penalty }.check().unwrap()
}

fn setting() -> impl Strategy<Value = Setting> {
    let shape = (2usize..40).prop_flat_map(|dim| (Just(dim), 2..=dim));
    let shape = shape.prop_flat_map(|(dim, budget)| (Just(dim), Just(budget), 0..=budget - 2));
    let power = prop_oneof![Just(0.0), Just(0.5), Just(1.0)];
    (shape, 0.5..20.0, power, 0.2..3.0).prop_map(|((dim, budget, kept), scale, power, radius)| Setting {
        dim,
        budget,
        kept,
        scale,
        power,
        radius,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rda1_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        let state = |learner: &Rda1| (learner.gradient_sum(), learner.iterate());
        against_algorithm_1(rda1(setting), state, setting, rounds, seed);
    }

    #[test]
    fn greedy_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        let setting = Setting { kept: setting.budget, ..setting };
        let state = |learner: &Greedy| (learner.gradient_sum(), learner.iterate());
        against_algorithm_1(greedy(setting), state, setting, rounds, seed);
    }

    #[test]
    fn uniform_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        let setting = Setting { kept: 0, ..setting };
        let state = |learner: &Uniform| (learner.gradient_sum(), learner.iterate());
        against_algorithm_1(uniform(setting), state, setting, rounds, seed);
    }

    #[test]
    fn rda2_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        let state = |learner: &Rda2| [learner.gradient_sum(), learner.exploit_sum(), learner.average()];
        against_algorithms_2_and_3(rda2(setting), state, (setting, 0.0, 0.0), rounds, seed);
    }

    #[test]
    fn rda3_is_its_twin(setting in setting(), rho in 0.0..1.0, rounds in 0usize..300, seed: u64) {
        let state = |learner: &Rda3| [learner.gradient_sum(), learner.exploit_sum(), learner.average()];
        against_algorithms_2_and_3(rda3(setting, rho), state, (setting, rho, 0.25), rounds, seed);
    }
}

const LONG: usize = 100_000;
const SETTING: Setting = Setting { dim: 40, budget: 8, kept: 4, scale: 20.0, power: 0.5, radius: 0.7 };

#[test]
fn rda1_is_its_twin_after_many_rounds() {
    let state = |learner: &Rda1| (learner.gradient_sum(), learner.iterate());
    against_algorithm_1(rda1(SETTING), state, SETTING, LONG, 1);
}

#[test]
fn rda3_is_its_twin_after_many_rounds() {
    let state = |learner: &Rda3| [learner.gradient_sum(), learner.exploit_sum(), learner.average()];
    against_algorithms_2_and_3(rda3(SETTING, 0.2), state, (SETTING, 0.2, 0.25), LONG, 1);
}

#[test]
fn drawn_sets_can_be_given_instead() {
    let sum = [0.0, -0.9, 0.3, 0.0, 0.5, -0.1];
    let setting = Setting { dim: 6, budget: 4, kept: 2, scale: 2.0, power: 0.0, radius: 1.0 };
    let mut learner = rda1(setting).with_gradient_sum(&sum).unwrap();
    let w = minimiser(&sum, 2.0, 1.0);
    assert_eq!((learner.largest(), learner.iterate()), (&[1, 4][..], w.clone()));
    let mut ask = Ask::new(6);
    learner.ask_for(&[5, 0], &mut ask);
    let Request::Values { attributes: &[1, 4, 0, 5], .. } = ask.request() else { panic!("{ask:?}") };
    let x = [0.2, -0.5, 0.3, 0.1, 0.4, -0.6];
    let (set, _) = round(&mut learner, &mut Seed::root(0).rng(), &x, 0.8);
    let g = estimate(&x, 0.8, &w, &set, &[1, 4]);
    let after: Vec<f64> = sum.iter().zip(g).map(|(h, g)| h + g).collect();
    close(&learner.gradient_sum(), &after, 1e-14);
}

#[test]
fn values_that_were_not_asked_for_are_refused_and_leave_no_trace() {
    let mut learner = rda1(SETTING);
    let mut block = BlockBuf::new();
    block.reset(2, 1);
    block.set_rows(1);
    let told = learner.tell(Told::Values(block.view(&[0, 1])));
    assert!(matches!(told, Err(LearnError::NotAsked { .. })), "{told:?}");
    assert_eq!(learner.updates(), 0);
}

#[test]
fn impossible_shapes_are_refused_by_field_and_value() {
    let refused = |dim, budget, kept| {
        let params = Rda1Params { dim, budget, kept, ..Rda1Params::from_theorem(9, 5, 2) };
        let error = params.check().unwrap_err();
        assert_eq!((error.field, error.value), ("budget", budget.to_string()));
    };
    refused(9, 3, 2);
    refused(9, 2, 2);
    refused(9, 10, 2);
    refused(9, 2, 3);
    refused(9, 0, 0);
    for kept in [0, 7, 8, 9] {
        let params = Rda1Params { dim: 9, budget: 9, kept, ..Rda1Params::from_theorem(9, 9, 0) };
        assert!(params.check().is_ok(), "everything is seen, whatever is kept");
    }
    assert_eq!(
        Rda2Params { budget: 1, ..Rda2Params::from_theorem(9, 2) }.check().unwrap_err().field,
        "budget"
    );
    assert_eq!(
        Rda3Params { budget: 1, ..Rda3Params::from_theorem(9, 2, 0.1) }.check().unwrap_err().field,
        "budget"
    );
    assert_eq!(Rda3Params::from_theorem(9, 2, f64::NAN).check().unwrap_err().field, "penalty");
    for (scale, power) in
        [(0.0, 0.5), (-1.0, 0.5), (f64::NAN, 0.5), (f64::INFINITY, 0.5), (1.0, -0.1), (1.0, f64::NAN)]
    {
        let regularization = Regularization { scale, power };
        let params = Rda1Params { regularization, ..Rda1Params::from_theorem(9, 5, 2) };
        assert_eq!(params.check().unwrap_err().field, "regularization");
    }
}

#[test]
fn a_damaged_store_is_refused() {
    let stored = serde_json::to_string(&rda1(SETTING)).unwrap();
    assert!(serde_json::from_str::<Rda1>(&stored).is_ok());
    for (whole, damaged) in
        [("\"kept\":4", "\"kept\":9"), ("\"budget\":8", "\"budget\":41"), ("\"asked\":[]", "\"asked\":[99]")]
    {
        let damaged = stored.replacen(whole, damaged, 1);
        assert_ne!(damaged, stored);
        assert!(serde_json::from_str::<Rda1>(&damaged).is_err(), "{damaged}");
    }
}
