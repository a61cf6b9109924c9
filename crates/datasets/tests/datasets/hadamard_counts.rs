//! Gradients from row counts: the same numbers as the loop over examples, and the same law.

use lao_datasets::synthetic::*;
use lao_kernels::SparseVector;
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source};

fn gradient<S: Source>(source: &mut S, theta: &SparseVector, examples: u64) -> Vec<f64> {
    let every: Vec<u32> = (0..source.dim() as u32).collect();
    let mut sum = vec![0.0; every.len()];
    let ask = GradientAsk { theta: theta.view(), attributes: &every, observed: &every, examples };
    let served = source.gradient(ask, &mut sum, &mut Scratch::default()).unwrap();
    assert_eq!(served, examples);
    sum
}

#[test]
fn counts_and_examples_give_the_same_gradient() {
    const DIM: usize = 64;
    let star = SparseVector::new(DIM, vec![3, 40], vec![1.0, -2.0]).unwrap();
    let theta = SparseVector::new(DIM, vec![2, 3, 63], vec![0.5, 0.25, -4.0]).unwrap();
    let seed = Seed::root(3);
    let design = HadamardPairs::new(DIM, 0.3).unwrap();
    let mut source = Virtual::new(design, star.clone(), Noise::Gaussian(1.5), &seed).unwrap();
    let looped = gradient(&mut source, &theta, 5000);

    // Which row an example has can be read off attributes 1, 2, 4, ...: their signs are the bits of its
    // index.
    source.seek(0).unwrap();
    let every: Vec<u32> = (0..DIM as u32).collect();
    let mut block = BlockBuf::new();
    block.reset(DIM, 5000);
    source.observe(&every, &mut block).unwrap();
    let seen = block.view(&every);
    let (mut counts, mut noise) = (vec![0; DIM], vec![0.0; DIM]);
    for i in 0..5000 {
        let row: usize = (0..6).filter(|b| seen.column(1 << b)[i] < 0.0).map(|b| 1 << b).sum();
        for (j, attribute) in every.iter().enumerate() {
            let parity = (row as u32 & attribute).count_ones() % 2;
            assert_eq!(seen.column(j)[i], 1.0 - 2.0 * f64::from(parity));
        }
        let predicted: f64 = star.view().iter().map(|(j, w)| w * seen.column(j as usize)[i]).sum();
        counts[row] += 1;
        noise[row] += seen.labels()[i] - predicted;
    }
    let error: Vec<f64> =
        theta.view().to_dense().iter().zip(star.view().to_dense()).map(|(a, b)| a - b).collect();
    let mut counted = vec![0.0; DIM];
    gradient_from_counts(&counts, &noise, SparseVector::from_dense(&error).view(), &mut counted);
    let scale = looped.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    for (a, b) in looped.iter().zip(&counted) {
        assert!((a - b).abs() <= 1e-10 * scale, "{a} against {b}");
    }
}

#[test]
fn row_counts_are_multinomial() {
    // Pearson's statistic has d - 1 = 63 degrees, and leaves (20, 140.3) with probability about 1e-7 on
    // either side (Wilson and Hilferty).
    const DIM: usize = 64;
    for (examples, even) in [(100_000, 0.5), (10_000_000_000, 0.5), (100_000, 2.0 / 3.0)] {
        let mut rng = Seed::root(5).child("counts").rng();
        for _ in 0..20 {
            let mut counts = [0; DIM];
            row_counts(&mut rng, examples, even, &mut counts);
            assert_eq!(counts.iter().sum::<u64>(), examples);
            let statistic: f64 = counts
                .iter()
                .enumerate()
                .map(|(r, &count)| {
                    let share = if r % 2 == 0 { even } else { 1.0 - even };
                    let expected = examples as f64 * share * 2.0 / DIM as f64;
                    (count as f64 - expected).powi(2) / expected
                })
                .sum();
            assert!(statistic < 140.3, "chi-square {statistic} at {examples} examples");
            assert!(statistic > 20.0, "chi-square {statistic}: too even to be drawn");
        }
    }
}

#[test]
fn counted_gradient_has_the_exact_mean_and_variance() {
    // g_j = sum over B examples of 2 (v' x - xi) x_j. With x from HAD and v = theta - theta*: mean 2 B v_j,
    // and variance 4 B (sum over k != j of v_k^2 + sigma^2), since x_k x_j are uncorrelated signs. 400
    // batches: the mean of a coordinate deviates by at most 6 standard errors, its variance by a factor of at
    // most 1 +- 6 sqrt(2 / 399).
    const DIM: usize = 8;
    const BATCHES: usize = 400;
    for noise in [Noise::Gaussian(2.0), Noise::Signs(2.0)] {
        for examples in [300, 1_000_000_000_000] {
            let star = SparseVector::new(DIM, vec![2], vec![1.0]).unwrap();
            let source = Virtual::new(Hadamard::new(DIM).unwrap(), star, noise, &Seed::root(8)).unwrap();
            let mut source = Counted::new(source).unwrap();
            let theta = SparseVector::new(DIM, vec![5], vec![-0.5]).unwrap();
            let batches: Vec<_> = (0..BATCHES).map(|_| gradient(&mut source, &theta, examples)).collect();
            assert_eq!(source.position(), BATCHES as u64 * examples);
            let (v, b) = ([0.0, 0.0, -1.0, 0.0, 0.0, -0.5, 0.0, 0.0], examples as f64);
            for j in 0..DIM {
                let others: f64 = (0..DIM).filter(|&k| k != j).map(|k| v[k] * v[k]).sum();
                let (mean, variance) = (2.0 * b * v[j], 4.0 * b * (others + 4.0));
                let n = BATCHES as f64;
                let seen = batches.iter().map(|g| g[j] - mean).sum::<f64>() / n;
                assert!(seen.abs() <= 6.0 * (variance / n).sqrt(), "mean off by {seen}");
                let spread = batches.iter().map(|g| (g[j] - mean - seen).powi(2)).sum::<f64>() / (n - 1.0);
                let ratio = spread / variance;
                assert!((ratio - 1.0).abs() <= 6.0 * (2.0 / (n - 1.0)).sqrt(), "variance ratio {ratio}");
            }
        }
    }
}

#[test]
fn a_batch_is_a_pure_function_of_its_place() {
    let star = SparseVector::new(16, vec![2], vec![1.0]).unwrap();
    let source =
        Virtual::new(Hadamard::new(16).unwrap(), star.clone(), Noise::Gaussian(1.0), &Seed::root(8)).unwrap();
    let mut source = Counted::new(source).unwrap();
    gradient(&mut source, &star, 77);
    let first = gradient(&mut source, &star, 1000);
    source.seek(77).unwrap();
    assert_eq!(gradient(&mut source, &star, 1000), first);
    source.seek(78).unwrap();
    assert_ne!(gradient(&mut source, &star, 1000), first);
}

#[test]
fn transform_agrees_with_the_matrix() {
    let x: Vec<f64> = (0..32).map(|i| f64::from(i * i % 17) - 6.5).collect();
    let mut fast = x.clone();
    fwht(&mut fast);
    for (r, fast) in fast.iter().enumerate() {
        let slow: f64 =
            x.iter().enumerate().map(|(j, x)| if (r & j).count_ones() % 2 == 1 { -x } else { *x }).sum();
        assert!((fast - slow).abs() < 1e-12);
    }
}
