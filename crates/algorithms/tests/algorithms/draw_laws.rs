//! The draws of the methods against their exact laws. Where a learner draws once per example, clones of one
//! learner share a generator, so that consecutive draws are of one law.

use crate::laws::{require_law, uniform};
use lao_algorithms::Task;
use lao_algorithms::baselines::{AerParams, DantzigParams, FkkParams};
use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use lao_algorithms::hazan_koren::{AelrParams, Aerr, AerrParams, AesvrParams, Horizon, Prediction};
use lao_algorithms::ito::{Rda1Params, Rda2Params, Rda3Params, UniformParams};
use lao_algorithms::murata_suzuki::NaiveParams;
use lao_algorithms::thresholding::{
    BatchLaw, EpochLength, SgParams, Shape, Solver, SolverProgress, UniformDraws,
};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_kernels::SparseVector;
use lao_observation::sample::uniform_draws;
use lao_observation::{Ask, BlockBuf, Learner, Request, Rng, Seed, Told};

fn rng(name: &str) -> Rng {
    Seed::root(23).child("laws").child(name).rng()
}

/// Returns all sorted sets of `size` of these numbers.
fn subsets(of: &[u32], size: usize) -> Vec<Vec<u32>> {
    let masks = (0..1_u32 << of.len()).filter(|mask| mask.count_ones() as usize == size);
    masks.map(|mask| (0..of.len()).filter(|i| mask >> i & 1 == 1).map(|i| of[i]).collect()).collect()
}

/// Returns what `n` clones of the learner draw, one after the other.
fn draws_of<L: Learner + Clone, T>(
    learner: &L,
    n: usize,
    name: &str,
    read: impl Fn(&L, &Ask) -> T,
) -> Vec<T> {
    let (mut rng, mut ask) = (rng(name), Ask::new(learner.dim()));
    let draw = |_| {
        let mut learner = learner.clone();
        learner.ask(&mut rng, &mut ask);
        read(&learner, &ask)
    };
    (0..n).map(draw).collect()
}

/// Returns the attributes asked for.
fn asked(ask: &Ask) -> Vec<u32> {
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    attributes.to_vec()
}

/// Tells the learner examples with all attributes as in `x`, so that its weights leave zero.
fn learn(learner: &mut impl Learner, examples: usize, x: impl Fn(u32) -> f64) {
    let (mut rng, mut ask, mut block) = (rng("learn"), Ask::new(learner.dim()), BlockBuf::new());
    for t in 0..examples {
        learner.ask(&mut rng, &mut ask);
        let attributes = asked(&ask);
        block.reset(attributes.len(), 1);
        attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x(j));
        block.labels_mut()[0] = 1.0 + (t % 3) as f64;
        block.set_rows(1);
        learner.tell(Told::Values(block.view(&attributes))).unwrap();
    }
}

/// Returns the law of independent uniform draws beside one by weight.
fn two_samples(uniform: usize, weights: &[f64]) -> Vec<((Vec<u32>, u32), f64)> {
    let (dim, total) = (weights.len() as u32, weights.iter().sum::<f64>());
    let all = (0..dim.pow(uniform as u32)).flat_map(|code| (0..dim).map(move |j| (code, j)));
    all.filter(|&(_, j)| weights[j as usize] > 0.0)
        .map(|(code, j)| {
            let list = (0..uniform as u32).map(|place| code / dim.pow(place) % dim).collect();
            let p = weights[j as usize] / total / f64::from(dim.pow(uniform as u32));
            ((list, j), p)
        })
        .collect()
}

#[test]
fn aerr_draws_uniformly_and_by_square_and_independently() {
    for draws in [1, 2] {
        let start = SparseVector::new(4, vec![0, 1, 3], vec![0.5, -0.25, 0.7]).unwrap();
        let params = AerrParams {
            dim: 4,
            draws,
            radius: 1.0,
            step_size: 0.1,
            start: Some(start.clone()),
            prediction: Prediction::default(),
        };
        let learner = params.build().unwrap();
        let weights: Vec<f64> = start.view().to_dense().iter().map(|w| w * w).collect();
        let read = |learner: &Aerr, ask: &Ask| {
            let drawn = learner.drawn();
            let all: Vec<u32> = drawn.uniform.iter().copied().chain([drawn.weighted]).collect();
            assert_eq!(asked(ask), all);
            (drawn.uniform, drawn.weighted)
        };
        let drawn = draws_of(&learner, 100_000, &format!("aerr {draws}"), read);
        require_law(&format!("AERR, {draws} uniform draws"), &two_samples(draws, &weights), drawn);
    }
}

#[test]
fn aelr_draws_uniformly_and_by_size_and_independently() {
    let params =
        AelrParams { dim: 4, draws: 2, radius: 1.0, step_size: 0.2, prediction: Prediction::default() };
    let mut learner = params.build().unwrap();
    learn(&mut learner, 40, |j| [1.0, -0.3, 0.0, 0.6][j as usize]);
    let weights: Vec<f64> = learner.iterate().iter().map(|w| w.abs()).collect();
    let drawn = draws_of(&learner, 100_000, "aelr", |learner, _| {
        let drawn = learner.drawn();
        (drawn.uniform, drawn.weighted)
    });
    require_law("AELR", &two_samples(2, &weights), drawn);
}

#[test]
fn aerr_draws_by_the_sizes_that_it_is_given() {
    let (sizes, dim) = ([0.5, 0.0, 2.0, 1.5], 4);
    let horizon = Horizon { dim, draws: 2, radius: 1.0, examples: 10 };
    let learner = AerrParams::from_theorem(horizon).build().unwrap().drawing_by(&sizes).unwrap();
    let stored = serde_json::to_string(&learner).unwrap();
    let learner: Aerr = serde_json::from_str(&stored).unwrap();
    let drawn = draws_of(&learner, 100_000, "aerr by size", |learner, _| learner.drawn().uniform);
    let pairs = (0..dim as u32).flat_map(|i| (0..dim as u32).map(move |j| vec![i, j]));
    let p = |pair: &Vec<u32>| pair.iter().map(|&j| sizes[j as usize] / 4.0).product::<f64>();
    let law: Vec<(Vec<u32>, f64)> =
        pairs.map(|pair| (pair.clone(), p(&pair))).filter(|row| row.1 > 0.0).collect();
    require_law("AERR by size", &law, drawn);

    for (sizes, value) in
        [(&[1.0; 3][..], "3 numbers"), (&[0.0; 4], "0 for all attributes"), (&[-1.0; 4], "-1")]
    {
        let learner = AerrParams::from_theorem(horizon).build().unwrap();
        let refused = learner.drawing_by(sizes).unwrap_err();
        assert_eq!((refused.field, refused.value.as_str()), ("sizes", value));
    }
    let damage: [fn(&mut Vec<serde_json::Value>); 3] =
        [|law| drop(law.pop()), |law| law.reverse(), |law| law.rotate_left(1)];
    for change in damage {
        let mut state: serde_json::Value = serde_json::from_str(&stored).unwrap();
        change(state["law"].as_array_mut().unwrap());
        let error = serde_json::from_value::<Aerr>(state).unwrap_err().to_string();
        assert!(error.contains("law of draws"), "{error}");
    }
}

#[test]
fn at_zero_the_first_uniform_draw_stands_for_the_one_by_weight() {
    let params =
        AelrParams { dim: 5, draws: 2, radius: 1.0, step_size: 0.2, prediction: Prediction::default() };
    let drawn = draws_of(&params.build().unwrap(), 50_000, "zero", |learner, _| {
        let drawn = learner.drawn();
        assert_eq!(drawn.weighted, drawn.uniform[0]);
        drawn.uniform
    });
    require_law("at zero", &uniform((0..25).map(|code| vec![code / 5, code % 5])), drawn);
}

#[test]
fn aer_draws_uniformly_and_by_size_and_independently() {
    for weighted in [1, 2] {
        let params = AerParams {
            dim: 4,
            uniform: 1,
            weighted,
            regularization: 2.0,
            radius: Some(1.0),
            burn_in: 0,
            prediction: Prediction::default(),
        };
        let mut learner = params.build().unwrap();
        learn(&mut learner, 60, |j| [1.0, -0.8, 0.9, 0.7][j as usize]);
        let weights: Vec<f64> = learner.iterate().iter().map(|w| w.abs()).collect();
        let held = weights.iter().filter(|w| **w > 0.0).count();
        assert!(held >= 2, "{weights:?}");
        let total: f64 = weights.iter().sum();
        let codes = 0..4_u32.pow(1 + weighted as u32);
        let law: Vec<_> = codes
            .map(|code| {
                let list: Vec<u32> =
                    (0..1 + weighted as u32).map(|place| code / 4_u32.pow(place) % 4).collect();
                let p = list[1..].iter().map(|&j| weights[j as usize] / total).product::<f64>() / 4.0;
                (list, p)
            })
            .filter(|(_, p)| *p > 0.0)
            .collect();
        let drawn = draws_of(&learner, 100_000, &format!("aer {weighted}"), |learner, _| {
            let drawn = learner.drawn();
            drawn.uniform.iter().chain(&drawn.weighted).copied().collect::<Vec<_>>()
        });
        require_law("AER", &law, drawn);
    }
}

/// Returns the law of the number of factors, `2^-(n+1)`, with all from 12 on in one.
fn factors() -> Vec<(u32, f64)> {
    let mut law: Vec<_> = (0..12).map(|n| (n, 0.5_f64.powi(n as i32 + 1))).collect();
    law.push((12, 0.5_f64.powi(12)));
    law
}

#[test]
fn factors_of_gen_est_are_geometric_and_attributes_of_all_factors_have_their_law() {
    let (estimate, mut draws) = (GenEst { repetitions: 2, reads_zeros: true }, GenEstDraws::default());
    let (mut rng, mut attributes) = (rng("gen_est"), Vec::new());
    let numbers: Vec<u32> = (0..150_000)
        .map(|_| {
            let attribute = |rng: &mut Rng| {
                let mut drawn = Vec::new();
                uniform_draws(3, 1, rng, &mut drawn);
                drawn[0]
            };
            estimate.draw(erf_coefficient, attribute, &mut rng, &mut draws);
            assert_eq!(draws.attributes.len() as u64, estimate.reads(erf_coefficient, draws.factors));
            attributes.extend_from_slice(&draws.attributes);
            draws.factors.min(12)
        })
        .collect();
    require_law("N of GenEst", &factors(), numbers);
    require_law("attributes of GenEst", &uniform(0..3), attributes);
}

/// With `N = 1` both estimates read one attribute per factor, so that an example has `s` reads by weight with
/// probability `(s+1) 2^-(s+2)`.
#[test]
fn the_two_estimates_of_aesvr_are_independent_of_each_other_and_of_the_uniform_draws() {
    let task = Task { dim: 3, sparsity: 1, budget: 3, ..Task::default() };
    let params = AesvrParams { repetitions: 1, reads_zeros: true, ..AesvrParams::practical(&task).unwrap() };
    let mut learner = params.build().unwrap();
    learn(&mut learner, 60, |j| [1.0, -0.7, 0.8][j as usize]);
    let drawn = draws_of(&learner, 150_000, "aesvr", |_, ask| asked(ask));
    let few = |reads: u32| f64::from(reads + 1) * 0.5_f64.powi(reads as i32 + 2);
    let many = 1.0 - (0..6).map(few).sum::<f64>();
    let of_reads = |reads| if reads < 6 { few(reads) } else { many };
    let law: Vec<_> = (0..21_u32).map(|code| ((code / 7, code % 7), of_reads(code % 7) / 3.0)).collect();
    let pairs = drawn.iter().map(|list| (list[0], (list.len() as u32 - 1).min(6)));
    require_law("uniform draw and reads", &law, pairs);
    let squares: Vec<f64> = learner.iterate().iter().map(|w| w * w).collect();
    let law: Vec<_> = (0..3_u32).map(|j| (j, squares[j as usize] / squares.iter().sum::<f64>())).collect();
    assert!(law.iter().all(|(_, p)| *p > 0.01), "{law:?}");
    require_law("reads", &law, drawn.iter().flat_map(|list| list[1..].iter().copied()));
}

/// Both ways of drawing outside the largest: by rejection, and in one pass.
#[test]
fn sets_of_algorithm_1_hold_the_largest_and_a_uniform_set_of_others() {
    for (dim, budget, kept) in [(9, 4, 1), (9, 3, 0), (9, 4, 2), (7, 6, 2), (6, 6, 2), (6, 5, 0)] {
        let task = Task { dim, sparsity: kept, budget, ..Task::default() };
        let sum: Vec<f64> = (0..dim).map(|j| ((j * 5 % dim) as f64 - 2.3) * 0.1).collect();
        let learner = Rda1Params::from_theorem(&task).build().unwrap().with_gradient_sum(&sum).unwrap();
        let mut order: Vec<u32> = (0..dim as u32).collect();
        order.sort_by(|&i, &j| sum[j as usize].abs().total_cmp(&sum[i as usize].abs()));
        let mut largest = order[..kept].to_vec();
        largest.sort_unstable();
        assert_eq!(learner.largest(), largest);
        let others: Vec<u32> = (0..dim as u32).filter(|j| !largest.contains(j)).collect();
        let what = format!("{kept} largest and {} others of {dim}", budget - kept);
        let drawn = draws_of(&learner, 120_000, &what, |_, ask| {
            let set = asked(ask);
            assert_eq!(set[..kept], largest);
            let mut rest = set[kept..].to_vec();
            rest.sort_unstable();
            rest
        });
        require_law(&what, &uniform(subsets(&others, budget - kept)), drawn);
    }
}

#[test]
fn sets_of_uniform_choice_and_of_the_squares_are_uniform() {
    let task = Task { dim: 6, sparsity: 1, budget: 3, ..Task::default() };
    let law = uniform(subsets(&[0, 1, 2, 3, 4, 5], 3));
    let sorted = |ask: &Ask| {
        let mut set = asked(ask);
        set.sort_unstable();
        set
    };
    let learner = UniformParams::practical(&task).unwrap().build().unwrap();
    require_law("uniform", &law, draws_of(&learner, 60_000, "uniform", |_, ask| sorted(ask)));
    let learner = Rda2Params::from_theorem(&task).build().unwrap();
    require_law("Algorithm 2", &law, draws_of(&learner, 60_000, "rda2", |_, ask| sorted(ask)));
    let learner = Rda3Params::from_theorem(&task, 0.5).build().unwrap();
    require_law("Algorithm 3", &law, draws_of(&learner, 60_000, "rda3", |_, ask| sorted(ask)));
}

#[test]
fn sets_of_the_naive_method_and_of_dantzig_are_uniform() {
    let task = Task { dim: 6, sparsity: 2, budget: 4, ..Task::default() };
    let learner = NaiveParams::practical(&task).unwrap().build().unwrap();
    let drawn = draws_of(&learner, 60_000, "naive", |learner, _| learner.drawn().to_vec());
    require_law("naive", &uniform(subsets(&[0, 1, 2, 3, 4, 5], 2)), drawn);
    let params = DantzigParams { predicts: false, ..DantzigParams::practical(&task).unwrap() };
    let learner = params.build().unwrap();
    let drawn = draws_of(&learner, 60_000, "dantzig", |learner, _| learner.drawn().to_vec());
    let size = drawn[0].len();
    require_law("Dantzig", &uniform(subsets(&[0, 1, 2, 3, 4, 5], size)), drawn);
}

#[test]
fn fkk_draws_its_support_by_weight_and_a_set_that_does_not_depend_on_it() {
    let params = FkkParams { dim: 5, sparsity: 1, budget: 3, hedge_rate: 0.05, step_size: 0.05, radius: 1.0 };
    let mut learner = params.build().unwrap();
    learn(&mut learner, 30, |j| [1.0, -0.5, 0.2, 0.0, 0.8][j as usize]);
    let weights: Vec<f64> = learner.log_weights().iter().map(|log| log.exp()).collect();
    let total: f64 = weights.iter().sum();
    let sets = subsets(&[0, 1, 2, 3, 4], 2);
    let law: Vec<_> = (0..5_u32)
        .flat_map(|a| sets.iter().map(move |set| (a, set.clone())))
        .map(|(a, set)| ((a, set), weights[a as usize] / total / 10.0))
        .collect();
    assert!(law.iter().all(|(_, p)| *p > 1e-4), "{weights:?}");
    let drawn =
        draws_of(&learner, 150_000, "fkk", |learner, _| (learner.chosen()[0], learner.drawn().to_vec()));
    require_law("FKK", &law, drawn);
}

#[test]
fn geometric_epochs_have_the_law_of_the_definition() {
    for (batch, mini_batch) in [(1, 1), (10, 1), (64, 7), (3, 50)] {
        let (mut draws, mut rng) = (UniformDraws::new(100), rng(&format!("epoch {batch} {mini_batch}")));
        // P(N = n) = (b/(B+b)) (B/(B+b))^n, whose mean is B/b; all from `most` on are one.
        let (b, go_on) = (mini_batch as f64, batch as f64 / (batch + mini_batch) as f64);
        let most = 40_u64;
        let mut law: Vec<_> =
            (0..most).map(|n| (n, b / (batch + mini_batch) as f64 * go_on.powi(n as i32))).collect();
        law.push((most, go_on.powi(most as i32)));
        let lengths =
            (0..150_000).map(|_| draws.length(EpochLength::Geometric, batch, mini_batch, &mut rng).min(most));
        require_law(&format!("B = {batch}, b = {mini_batch}"), &law, lengths);
    }
    let (mut draws, mut rng) = (UniformDraws::new(9), rng("fixed"));
    assert_eq!(draws.length(EpochLength::Ratio, 64, 7, &mut rng), 9);
    assert_eq!(draws.length(EpochLength::Steps(5), 64, 7, &mut rng), 5);
}

#[test]
fn batches_are_uniform_subsets_of_the_components() {
    let all = [0, 1, 2, 3, 4];
    for size in 1..=5 {
        let (mut draws, mut rng) = (UniformDraws::new(5), rng(&format!("batch {size}")));
        let draw = || {
            let mut drawn = Vec::new();
            draws.subset(5, size, &mut rng, &mut drawn);
            drawn
        };
        let drawn = std::iter::repeat_with(draw).take(60_000);
        require_law(&format!("batches of {size}"), &uniform(subsets(&all, size)), drawn);
    }
}

/// On an identity design, the step of component z moves coordinate z alone, by `2 eta y/(n p(z))`.
#[test]
fn components_drawn_by_weight_have_their_probabilities_and_steps_their_importance() {
    let weights = [4.0, 0.5, 1.0, 2.5, 8.0];
    let mut identity = vec![0.0; 25];
    (0..5).for_each(|j| identity[6 * j] = 1.0);
    let loss = Loss::least_squares(vec![1.0; 5]).unwrap();
    let mut sum = FiniteSum::new(DesignMatrix::rows(5, 5, identity).unwrap(), loss).unwrap();
    let params = SgParams { sparsity: 1, step_size: 0.01, batch: 1, start: None };
    let solver = params.build_weighted(Shape::of(&sum), &weights).unwrap();
    let law: Vec<_> = weights.iter().enumerate().map(|(z, weight)| (z, weight / 16.0)).collect();
    let mut rng = rng("components");
    let drawn: Vec<usize> = (0..60_000)
        .map(|_| {
            let mut solver = solver.clone();
            assert_eq!(solver.step(&mut sum, &mut rng).unwrap(), SolverProgress::Moved);
            let x = &solver.coefficients().coefficients[0];
            let (z, value) = (x.indices()[0] as usize, x.values()[0]);
            assert!((value - 0.02 / (5.0 * law[z].1)).abs() < 1e-14, "component {z} moved by {value}");
            z
        })
        .collect();
    require_law("components", &law, drawn);
}
