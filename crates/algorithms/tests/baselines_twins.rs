//! Each baseline against its naive twin: dense lines that read like the pseudo-code.

use lao_algorithms::baselines::{Ball, DantzigParams, FkkParams, OnlineParams};
use lao_datasets::synthetic::{Noise, Normal, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Ask, BlockBuf, Budget, Learner, Request, Seed, Session, Source, Stop, Told};
use proptest::prelude::*;

type Example = (Vec<f64>, f64);

/// The first `n` examples, densely.
fn examples(dim: usize, seed: u64, n: usize) -> Vec<Example> {
    let all: Vec<u32> = (0..dim as u32).collect();
    let (mut source, mut block, mut rows) = (source(dim, seed), BlockBuf::new(), Vec::new());
    while rows.len() < n {
        block.reset(dim, n - rows.len());
        source.observe(&all, &mut block).unwrap();
        let view = block.view(&all);
        let row = |r: usize| (0..dim).map(|c| view.column(c)[r]).collect();
        rows.extend((0..view.rows()).map(|r| (row(r), view.labels()[r])));
    }
    rows
}

fn source(dim: usize, seed: u64) -> Virtual<Normal> {
    let theta = SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.0, -0.7]).unwrap();
    Virtual::new(Normal::new(dim).unwrap(), theta, Noise::Gaussian(0.5), &Seed::root(seed)).unwrap()
}

/// Asks for these attributes and answers from a dense example.
fn serve(learner: &mut impl Learner, ask: &Ask, (x, y): &Example) {
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    let mut block = BlockBuf::new();
    block.reset(attributes.len(), 1);
    attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
    block.labels_mut()[0] = *y;
    block.set_rows(1);
    learner.tell(Told::Values(block.view(attributes))).unwrap();
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn close(found: SparseView<'_>, wanted: &[f64]) -> Result<(), TestCaseError> {
    for (j, (&a, b)) in wanted.iter().zip(found.to_dense()).enumerate() {
        prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "attribute {j}: twin {a}, learner {b}");
    }
    Ok(())
}

/// `X` and `z` of the random set, densely.
fn moments(x: &[f64], y: f64, drawn: &[u32]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (d, r) = (x.len() as f64, drawn.len() as f64);
    let (p, p2) = (r / d, r * (r - 1.0) / (d * (d - 1.0)));
    let there = |j: usize| f64::from(drawn.contains(&(j as u32)));
    let entry = |i: usize, j: usize| {
        if i == j { x[i] * x[i] * there(i) / p } else { x[i] * x[j] * there(i) * there(j) / p2 }
    };
    let matrix = (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect();
    (matrix, (0..x.len()).map(|j| y * x[j] * there(j) / p).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn fkk_is_its_twin(dim in 5usize..9, k in 1usize..3, extra in 2usize..4, steps in 1usize..60, seed: u64) {
        let (budget, eta_h, eta_o, radius) = (k + extra, 0.05, 0.02, 1.5);
        let params = FkkParams { dim, sparsity: k, budget, hedge_rate: eta_h, step_size: eta_o, radius };
        let mut learner = params.check().unwrap();
        let supports: Vec<Vec<usize>> =
            (0..learner.count()).map(|a| learner.support(a).iter().map(|&j| j as usize).collect()).collect();
        let mut w = vec![vec![0.0; dim]; supports.len()];
        let mut losses = vec![0.0; supports.len()];
        let (mut rng, mut sampler, mut ask) = (Seed::root(seed).rng(), SubsetSampler::new(dim), Ask::new(dim));
        for (t, example) in examples(dim, seed, steps).iter().enumerate() {
            let (mut drawn, (x, y)) = (Vec::new(), example);
            sampler.draw(extra, &mut rng, &mut drawn);
            learner.ask_for(t % supports.len(), &drawn, &mut ask);
            serve(&mut learner, &ask, example);
            let (matrix, z) = moments(x, *y, &drawn);
            for ((w, loss), support) in w.iter_mut().zip(&mut losses).zip(&supports) {
                let product: Vec<f64> = matrix.iter().map(|row| dot(row, w)).collect();
                *loss += dot(w, &product) - 2.0 * dot(&z, w) + y * y;
                support.iter().for_each(|&j| w[j] -= 2.0 * eta_o * (product[j] - z[j]));
                let factor = (radius / dot(w, w).sqrt()).min(1.0);
                w.iter_mut().for_each(|w| *w *= factor);
            }
        }
        let best = (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
        let ratio = |a: usize| (learner.log_weights()[a] - learner.log_weights()[best]) / -eta_h;
        for a in 0..losses.len() {
            prop_assert!((ratio(a) - (losses[a] - losses[best])).abs() <= 1e-9 * (1.0 + losses[a].abs()));
        }
        close(learner.coefficients(), &w[best])?;
    }

    #[test]
    fn dantzig_adds_up_the_moments_of_its_twin(
        dim in 4usize..12, random in 2usize..5, steps in 1usize..80, predicts: bool, seed: u64,
    ) {
        let random = random.min(dim - 1);
        let budget = random + usize::from(predicts);
        let params = DantzigParams { predicts, ..DantzigParams::practical(dim, 1, budget, 1000) };
        let mut learner = params.check().unwrap();
        let (mut rng, mut sampler, mut ask) = (Seed::root(seed).rng(), SubsetSampler::new(dim), Ask::new(dim));
        let mut sum = vec![vec![0.0; dim]; dim];
        for example in &examples(dim, seed, steps) {
            let mut drawn = Vec::new();
            sampler.draw(random, &mut rng, &mut drawn);
            learner.ask_for(&drawn, &mut ask);
            serve(&mut learner, &ask, example);
            let (matrix, _) = moments(&example.0, example.1, &drawn);
            sum.iter_mut().flatten().zip(matrix.iter().flatten()).for_each(|(sum, entry)| *sum += entry);
        }
        prop_assert_eq!(learner.updates(), steps.ilog2() as u64 + 1, "one program at each power of two");
        for (i, row) in sum.iter().enumerate() {
            for (j, sum) in row.iter().enumerate() {
                let mean = sum / steps as f64;
                prop_assert!((learner.moment(i, j) - mean).abs() <= 1e-12 * (1.0 + mean.abs()));
            }
        }
    }

    #[test]
    fn online_ridge_and_lasso_are_their_twins(dim in 1usize..12, lasso: bool, steps in 1usize..60, seed: u64) {
        let (ball, radius, eta) = (if lasso { Ball::Lasso } else { Ball::Ridge }, 0.8, 0.05);
        let mut learner = OnlineParams { dim: dim + 1, ball, radius, step_size: eta }.check().unwrap();
        let mut session = Session::new(source(dim + 1, seed), Budget::Unlimited, &Seed::root(0));
        session.run(&mut learner, Stop::after_examples(steps as u64), |_, _| {}).unwrap();
        let (mut w, mut plus, mut minus) = (vec![0.0; dim + 1], vec![1.0; dim + 1], vec![1.0; dim + 1]);
        for (x, y) in examples(dim + 1, seed, steps) {
            let residual = dot(&w, &x) - y;
            for j in 0..=dim {
                w[j] -= eta * residual * x[j];
                plus[j] *= (-eta * residual * x[j]).exp();
                minus[j] *= (eta * residual * x[j]).exp();
            }
            let factor = (radius / dot(&w, &w).sqrt()).min(1.0);
            w.iter_mut().for_each(|w| *w *= factor);
            if lasso {
                let total: f64 = plus.iter().chain(&minus).sum();
                w = plus.iter().zip(&minus).map(|(plus, minus)| radius * (plus - minus) / total).collect();
            }
        }
        close(learner.coefficients(), &w)?;
    }
}

#[test]
fn dantzig_finds_the_support_and_predicts_from_what_it_reads() {
    let mut learner = DantzigParams::practical(20, 2, 8, 1 << 14).check().unwrap();
    let mut session = Session::new(source(20, 3), Budget::PerExample(8), &Seed::root(1)).online(true);
    session.run(&mut learner, Stop::after_examples(1 << 14), |_, _| {}).unwrap();
    assert_eq!(learner.coefficients().indices(), [0, 19]);
    let before = session.ledger().squared_loss;
    session.run(&mut learner, Stop::after_examples((1 << 14) + 4000), |_, _| {}).unwrap();
    let loss = (session.ledger().squared_loss - before) / 4000.0;
    // Noise 0.25, a standard error of 0.006, and the bias of the selector.
    assert!((0.2..0.35).contains(&loss), "{loss}");
    assert!(session.ledger().most_attributes <= 8);
}

#[test]
fn fkk_predicts_with_the_support_that_it_drew() {
    let params = FkkParams { radius: 2.0, step_size: 0.5, ..FkkParams::from_theorem(4, 1, 3, 1) };
    let (mut learner, mut ask) = (params.check().unwrap(), Ask::new(4));
    learner.ask_for(2, &[1, 2], &mut ask);
    serve(&mut learner, &ask, &(vec![1.0; 4], 1.0));
    learner.ask_for(2, &[0, 3], &mut ask);
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    assert_eq!(attributes, [0, 2, 3]);
    let seen = lao_observation::Row { attributes, values: &[10.0, 1.0, 10.0] };
    // z_2 = y x_2 / p = 2 with p = 1/2, so the first step goes to 2 * 0.5 * 2 = 2.
    assert_eq!(learner.predict(seen), 2.0);
}
