//! Each method against its naive twin: ten dense lines that read like the paper.

use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::naive::{Naive, NaiveParams};
use lao_algorithms::murata_suzuki::{ExploitationParams, ExplorationParams, HybridParams};
use lao_algorithms::schedule::StepSizes;
use lao_datasets::synthetic::{Noise, Normal, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{BlockBuf, Budget, Learner, Seed, Session, Source, Stop};
use proptest::prelude::*;

/// The first `n` examples, densely.
fn examples(source: &mut impl Source, n: usize) -> Vec<(Vec<f64>, f64)> {
    let all: Vec<u32> = (0..source.dim() as u32).collect();
    let mut block = BlockBuf::new();
    let mut rows = Vec::new();
    while rows.len() < n {
        block.reset(all.len(), n - rows.len());
        source.observe(&all, &mut block).unwrap();
        let view = block.view(&all);
        for r in 0..view.rows() {
            rows.push(((0..all.len()).map(|c| view.column(c)[r]).collect(), view.labels()[r]));
        }
    }
    rows
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `H_s` by sorting: larger magnitude first, then lower index.
fn hard_threshold(z: &[f64], s: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_by(|&i, &j| z[j].abs().total_cmp(&z[i].abs()).then(i.cmp(&j)));
    let mut kept = vec![0.0; z.len()];
    order[..s].iter().for_each(|&j| kept[j] = z[j]);
    kept
}

/// Algorithm 1 for one update; consumes `d' B` examples.
fn explore<'a>(
    theta: &[f64],
    stream: &mut impl Iterator<Item = &'a (Vec<f64>, f64)>,
    (s, width, eta, batch): (usize, usize, f64, usize),
) -> Vec<f64> {
    let mut z = theta.to_vec();
    for first in (0..theta.len()).step_by(width) {
        for (x, y) in stream.by_ref().take(batch) {
            let residual = dot(theta, x) - y;
            for j in first..(first + width).min(theta.len()) {
                z[j] -= eta * 2.0 * residual * x[j] / batch as f64;
            }
        }
    }
    hard_threshold(&z, s)
}

/// Algorithm 2 for one update; consumes `B` examples.
fn exploit<'a>(
    theta: &[f64],
    support: &[bool],
    stream: &mut impl Iterator<Item = &'a (Vec<f64>, f64)>,
    (eta, batch): (f64, usize),
) -> Vec<f64> {
    let mut z = theta.to_vec();
    for (x, y) in stream.by_ref().take(batch) {
        let residual = dot(theta, x) - y;
        for j in (0..theta.len()).filter(|&j| support[j]) {
            z[j] -= eta * 2.0 * residual * x[j] / batch as f64;
        }
    }
    z
}

fn source(dim: usize, seed: u64) -> Virtual<Normal> {
    let theta = SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.0, -0.7]).unwrap();
    Virtual::new(Normal::new(dim).unwrap(), theta, Noise::Gaussian(0.5), &Seed::root(seed)).unwrap()
}

fn close(found: SparseView<'_>, wanted: &[f64]) -> Result<(), TestCaseError> {
    for (j, (&a, b)) in wanted.iter().zip(found.to_dense()).enumerate() {
        prop_assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "attribute {j}: twin {a}, learner {b}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exploration_is_its_twin(
        dim in 3usize..30, s in 1usize..6, extra in 1usize..9, batch in 1usize..40, updates in 0u64..5, seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        let width = budget - s;
        let rows = examples(&mut source(dim, seed), dim.div_ceil(width) * batch * updates as usize);
        let mut stream = rows.iter();
        let mut theta = vec![0.0; dim];
        for _ in 0..updates {
            theta = explore(&theta, &mut stream, (s, width, 0.1, batch));
        }
        let params = ExplorationParams {
            dim, sparsity: s, budget, step_size: 0.1, batch: BatchSizes::Constant(batch as u64),
            updates: Some(updates), start: None,
        };
        let mut learner = params.check().unwrap();
        let mut session = Session::new(source(dim, seed), Budget::PerExample(budget), &Seed::root(0));
        session.run(&mut learner, Stop::never(), |_, _| {}).unwrap();
        prop_assert_eq!(session.ledger().examples, rows.len() as u64, "an update costs d' B examples");
        close(learner.coefficients(), &theta)?;
    }

    #[test]
    fn hybrid_is_its_twin(
        dim in 4usize..20, s in 1usize..4, extra in 1usize..6, explore_updates in 1u64..3, exploit_updates in 0u64..4,
        stages in 0u64..4, seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        let width = budget - s;
        let (b_explore, b_exploit) = ([3usize, 5, 8, 13], [7usize, 4, 9, 2]);
        let blocks = dim.div_ceil(width);
        let total: usize = (0..stages as usize)
            .map(|k| explore_updates as usize * blocks * b_explore[k] + exploit_updates as usize * b_exploit[k])
            .sum();
        let rows = examples(&mut source(dim, seed), total);
        let mut stream = rows.iter();
        let mut theta = vec![0.0; dim];
        for k in 0..stages as usize {
            for _ in 0..explore_updates {
                theta = explore(&theta, &mut stream, (s, width, 0.1, b_explore[k]));
            }
            let support: Vec<bool> = theta.iter().map(|&value| value != 0.0).collect();
            for _ in 0..exploit_updates {
                theta = exploit(&theta, &support, &mut stream, (0.1, b_exploit[k]));
            }
        }
        let sizes = |sizes: [usize; 4]| BatchSizes::Listed(sizes.iter().map(|&b| b as u64).collect());
        let params = HybridParams {
            dim, sparsity: s, budget, step_size: 0.1, explore_updates, explore_batch: sizes(b_explore),
            exploit_updates, exploit_batch: sizes(b_exploit), stages: Some(stages), start: None,
        };
        let mut learner = params.check().unwrap();
        let mut session = Session::new(source(dim, seed), Budget::PerExample(budget), &Seed::root(0));
        session.run(&mut learner, Stop::never(), |_, _| {}).unwrap();
        prop_assert_eq!(session.ledger().examples, total as u64);
        prop_assert_eq!(learner.updates(), stages * (explore_updates + exploit_updates));
        close(learner.coefficients(), &theta)?;
    }

    #[test]
    fn naive_is_its_twin(
        dim in 3usize..40, s in 1usize..6, extra in 1usize..6, steps in 1usize..60, seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        let params = NaiveParams {
            dim, sparsity: s, budget, step_size: StepSizes::InverseSqrt(0.01), start: None,
        };
        let rows = examples(&mut source(dim, seed), steps);
        let mut learner: Naive = params.check().unwrap();
        let mut session = Session::new(source(dim, seed), Budget::PerExample(budget), &Seed::root(4));
        // The twin draws the same blocks from the same generator.
        let mut rng = Seed::root(4).child("learner").rng();
        let mut sampler = lao_observation::sample::SubsetSampler::new(dim);
        let mut theta = vec![0.0; dim];
        for (t, (x, y)) in rows.iter().enumerate() {
            let mut drawn = Vec::new();
            sampler.draw(budget - s, &mut rng, &mut drawn);
            let residual = dot(&theta, x) - y;
            let eta = 0.01 / ((t + 1) as f64).sqrt();
            let mut z = theta.clone();
            for &j in &drawn {
                z[j as usize] -= eta * 2.0 * residual * dim as f64 / (budget - s) as f64 * x[j as usize];
            }
            theta = hard_threshold(&z, s);
        }
        session.run(&mut learner, Stop::after_examples(steps as u64), |_, _| {}).unwrap();
        close(learner.coefficients(), &theta)?;
    }
}

#[test]
fn hybrid_without_exploitation_is_exploration() {
    let (batch, stages) = (BatchSizes::Geometric { first: 20.0, growth: 1.5 }, 4);
    let explore = ExplorationParams {
        dim: 30,
        sparsity: 3,
        budget: 11,
        step_size: 0.1,
        batch: batch.clone(),
        updates: Some(stages),
        start: None,
    };
    let hybrid = HybridParams {
        dim: 30,
        sparsity: 3,
        budget: 11,
        step_size: 0.1,
        explore_updates: 1,
        explore_batch: batch,
        exploit_updates: 0,
        exploit_batch: BatchSizes::Constant(1),
        stages: Some(stages),
        start: None,
    };
    let (mut one, mut other) = (explore.check().unwrap(), hybrid.check().unwrap());
    for learner in [&mut one as &mut dyn Learner, &mut other] {
        let mut session = Session::new(source(30, 9), Budget::PerExample(11), &Seed::root(0));
        session.run(learner, Stop::never(), |_, _| {}).unwrap();
        assert_eq!(learner.updates(), stages);
    }
    assert_eq!(one.coefficients().to_dense(), other.coefficients().to_dense());
}

#[test]
fn exploitation_never_leaves_its_support_even_through_zero() {
    let start = SparseVector::new(30, vec![4, 7, 29], vec![0.0, 1.0, 0.0]).unwrap();
    let params = ExploitationParams {
        start,
        budget: 3,
        step_size: 0.2,
        batch: BatchSizes::Constant(200),
        updates: Some(40),
    };
    let mut learner = params.check().unwrap();
    let mut session = Session::new(source(30, 9), Budget::PerExample(3), &Seed::root(0));
    session
        .run(&mut learner, Stop::never(), |_, learner| {
            assert_eq!(learner.coefficients().indices(), [4, 7, 29])
        })
        .unwrap();
    assert!((learner.coefficients().get(29) + 0.7).abs() < 0.1, "the coefficient in the support is learned");
    assert_eq!(session.ledger().most_attributes, 3);
}

#[test]
fn exploitation_on_an_empty_support_stays_at_zero() {
    let params = ExploitationParams::practical(SparseVector::zeros(30), 3, 0.2);
    let mut learner = ExploitationParams { updates: Some(2), ..params }.check().unwrap();
    let mut session = Session::new(source(30, 9), Budget::PerExample(3), &Seed::root(0));
    session.run(&mut learner, Stop::never(), |_, _| {}).unwrap();
    assert!(learner.coefficients().is_empty());
    assert_eq!((learner.updates(), session.ledger().attributes), (2, 0));
}
