//! Virtual designs against their exact constants.

use crate::take::take;
use lao_datasets::synthetic::*;
use lao_kernels::{RestrictedSpectrum, SparseVector};
use lao_observation::testing::{check_observations, check_source};
use lao_observation::{BlockBuf, Seed, Source};

/// One of each design, of a few attributes.
fn designs() -> Vec<(&'static str, Box<dyn Design>)> {
    vec![
        ("rademacher", Box::new(Rademacher::new(9).unwrap())),
        ("uniform", Box::new(UniformAttributes::new(8).unwrap())),
        ("normal", Box::new(Normal::new(7).unwrap())),
        ("hadamard", Box::new(Hadamard::new(16).unwrap())),
        ("hadamard pairs", Box::new(HadamardPairs::new(8, 0.4).unwrap())),
        ("correlated pairs", Box::new(CorrelatedPairs::new(10, -0.7).unwrap())),
        ("centered", Box::new(Centered::new(9).unwrap())),
        ("common sign", Box::new(CommonSign::new(8, 3).unwrap())),
        ("equicorrelated blocks", Box::new(EquicorrelatedBlocks::new(10, 4, 0.3).unwrap())),
        ("duplicated", Box::new(Duplicated::new(5, vec![0, 3, 3]).unwrap())),
        ("factor model", Box::new(FactorModel::new(2, loadings()).unwrap())),
        ("combinations", Box::new(Combinations::new(combined()).unwrap())),
        ("scaled", Box::new(Scaled::new(CorrelatedPairs::new(6, 0.5).unwrap(), 3.0).unwrap())),
    ]
}

fn loadings() -> Vec<f64> {
    vec![0.6, 0.0, -0.3, 0.4, 0.0, 0.9, 0.5, -0.5, 0.0, 0.0, 0.2, 0.7, 0.1, -0.8]
}

/// Six attributes of three signs; the first two are equal.
fn combined() -> Vec<Vec<(u32, f64)>> {
    let twin = vec![(0, 0.5), (2, -1.0)];
    vec![twin.clone(), twin, vec![(1, 2.0)], vec![(0, 1.0), (1, 0.25), (2, 0.5)], vec![], vec![(2, 0.3)]]
}

fn theta_star(dim: usize) -> SparseVector {
    SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.5, -0.5]).unwrap()
}

fn source(design: Box<dyn Design>, noise: Noise) -> Virtual<Box<dyn Design>> {
    let theta = theta_star(design.dim());
    Virtual::new(design, theta, noise, &Seed::root(11)).unwrap()
}

#[test]
fn every_design_keeps_the_contract_of_a_source() {
    for noise in [Noise::None, Noise::Gaussian(0.3), Noise::Signs(2.0)] {
        for (place, (name, _)) in designs().into_iter().enumerate() {
            for length in [0, 50, u64::MAX] {
                let make = || source(designs().swap_remove(place).1, noise).with_length(length);
                check_source(make).unwrap_or_else(|fault| panic!("{name}, {length} examples: {fault}"));
            }
        }
    }
}

#[test]
fn a_source_that_draws_its_sums_from_their_law_keeps_the_rest_of_the_contract() {
    check_observations(|| {
        let design = Hadamard::new(16).unwrap();
        let source = Virtual::new(design, theta_star(16), Noise::Gaussian(0.3), &Seed::root(11)).unwrap();
        Counted::new(source.with_length(60)).unwrap()
    })
    .unwrap();
}

#[test]
fn an_example_is_the_same_however_it_is_looked_at() {
    for noise in [Noise::None, Noise::Gaussian(0.3), Noise::Signs(2.0)] {
        for (name, design) in designs() {
            let mut source = source(design, noise);
            let every: Vec<u32> = (0..source.dim() as u32).collect();
            source.seek(1000).unwrap();
            let whole = take(&mut source, &every, 300);
            assert_eq!(source.position(), 1300);

            let some = [1, 3, source.dim() as u32 - 1];
            for (start, rows) in [(0, 1), (1, 63), (7, 130), (299, 1)] {
                source.seek(1000 + start as u64).unwrap();
                let part = take(&mut source, &some, rows);
                let kept = some.iter().map(|&j| &whole[j as usize]).chain([&whole[every.len()]]);
                for (part, whole) in part.iter().zip(kept) {
                    assert_eq!(part, &whole[start..start + rows], "{name}");
                }
            }
        }
    }
}

#[test]
fn empirical_covariance_is_the_exact_one() {
    // Entries of the empirical covariance are means of n products x_j x_k. For |x| <= R Hoeffding gives a
    // deviation of at most R^2 sqrt(2 log(2 d^2 / alpha) / n) in all of them, with probability 1 - alpha = 1
    // - 1e-9. Normal products have variance at most 2 and are nearly normal in the mean: 7 standard
    // deviations.
    const ROWS: usize = 100_000;
    for (name, design) in designs() {
        let (dim, bound) = (design.dim(), design.r_inf());
        let exact = design.covariance().unwrap();
        let mut source = source(design, Noise::None);
        let every: Vec<u32> = (0..dim as u32).collect();
        let x = take(&mut source, &every, ROWS);
        let n = ROWS as f64;
        let allowed = if bound.is_finite() {
            bound * bound * (2.0 * (2.0 * (dim * dim) as f64 / 1e-9).ln() / n).sqrt()
        } else {
            7.0 * (2.0 / n).sqrt()
        };
        for j in 0..dim {
            assert!(
                x[j].iter().all(|value| value.abs() <= bound * (1.0 + 1e-15)),
                "{name} exceeds its bound"
            );
            for k in 0..dim {
                let entry = x[j].iter().zip(&x[k]).map(|(a, b)| a * b).sum::<f64>() / n;
                let expected = exact[j * dim + k];
                assert!((entry - expected).abs() <= allowed, "{name} ({j}, {k}): {entry}, not {expected}");
            }
        }
    }
}

#[test]
fn quadratic_form_and_gradient_agree_with_the_dense_covariance() {
    for (name, design) in designs() {
        let (dim, sigma) = (design.dim(), design.covariance().unwrap());
        let source = source(design, Noise::None);
        let theta = SparseVector::new(dim, vec![0, 1, 4], vec![1.0, -2.0, 0.5]).unwrap();
        let star = source.theta_star().to_dense();
        let error: Vec<f64> = theta.view().to_dense().iter().zip(&star).map(|(a, b)| a - b).collect();
        let image: Vec<f64> =
            sigma.chunks(dim).map(|row| row.iter().zip(&error).map(|(a, b)| a * b).sum()).collect();
        let form: f64 = image.iter().zip(&error).map(|(a, b)| a * b).sum();
        assert!((source.gap(theta.view()) - form).abs() < 1e-12, "{name}");
        let mut gradient = vec![f64::NAN; dim];
        source.gradient_exact(theta.view(), &mut gradient);
        for (g, image) in gradient.iter().zip(&image) {
            assert!((g - 2.0 * image).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn labels_are_the_linear_predictor_plus_noise() {
    for (name, design) in designs() {
        let every: Vec<u32> = (0..design.dim() as u32).collect();
        let star = theta_star(design.dim());
        let mut source = source(design, Noise::Signs(0.25));
        let mut seen = take(&mut source, &every, 200);
        let labels = seen.pop().unwrap();
        for (i, label) in labels.iter().enumerate() {
            let noiseless: f64 = star.view().iter().map(|(j, w)| w * seen[j as usize][i]).sum();
            assert!(((label - noiseless).abs() - 0.25).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn a_finite_stream_runs_dry_at_its_length() {
    let design: Box<dyn Design> = Box::new(Rademacher::new(5).unwrap());
    let mut source = source(design, Noise::None).with_length(100);
    let mut block = BlockBuf::new();
    for expected in [64, 36, 0, 0] {
        block.reset(2, 64);
        assert_eq!(source.observe(&[0, 3], &mut block).unwrap(), expected);
        assert_eq!(block.view(&[0, 3]).rows(), expected);
    }
    assert!(source.seek(100).is_ok());
    assert!(source.seek(101).is_err());
}

#[test]
fn attributes_that_do_not_exist_are_refused() {
    let mut source = source(Box::new(Rademacher::new(5).unwrap()), Noise::None);
    let mut block = BlockBuf::new();
    block.reset(1, 4);
    let message = source.observe(&[5], &mut block).unwrap_err().to_string();
    assert!(message.contains("attribute 5 does not exist"), "{message}");
}

#[test]
fn restricted_eigenvalues_are_those_of_the_enumeration() {
    for (name, design) in designs() {
        let (dim, sigma) = (design.dim(), design.covariance().unwrap());
        for order in 1..=dim.min(6) {
            let true_ones = RestrictedSpectrum::of(&sigma, dim, order).unwrap();
            let stated = design.restricted(order);
            let (low, high) = (true_ones.smallest - stated.smallest, stated.largest - true_ones.largest);
            assert!(
                low >= -1e-12 && high >= -1e-12,
                "{name}, order {order}: {stated:?} against {true_ones:?}"
            );
            if stated.exact {
                assert!(
                    low <= 1e-12 && high <= 1e-12,
                    "{name}, order {order}: {stated:?} against {true_ones:?}"
                );
            }
        }
        assert_eq!(design.restricted(dim + 7), design.restricted(dim), "{name}");
    }
}

#[test]
fn constants_have_the_factor_two_and_the_order_two_s() {
    let design = EquicorrelatedBlocks::new(12, 6, 0.25).unwrap();
    let source = Virtual::new(design, theta_star(12), Noise::Signs(3.0), &Seed::root(1)).unwrap();
    let constants = source.constants(2);
    assert_eq!((constants.smoothness, constants.convexity), (2.0 * (1.0 + 3.0 * 0.25), 2.0 * 0.75));
    assert_eq!((constants.bound, constants.noise, constants.sparsity), (1.0, 3.0, 2));
    assert_eq!(source.constants(100).smoothness, 2.0 * (1.0 + 5.0 * 0.25));
}

#[test]
fn the_bound_is_attained() {
    // Each bounded design takes its bound with a probability that 20_000 rows do not miss.
    for (name, design) in designs() {
        let bound = design.r_inf();
        if bound.is_finite() {
            let every: Vec<u32> = (0..design.dim() as u32).collect();
            let mut x = take(&mut source(design, Noise::None), &every, 20_000);
            x.pop();
            let most = x.iter().flatten().fold(0.0f64, |most, value| most.max(value.abs()));
            assert!(most >= 0.999 * bound, "{name}: {most} of {bound}");
        }
    }
}

#[test]
fn dimensions_and_rows_without_end_cost_nothing() {
    let dim = 1_000_000;
    let star = SparseVector::new(dim, vec![7, 999_999], vec![1.0, 2.0]).unwrap();
    let mut source =
        Virtual::new(Normal::new(dim).unwrap(), star, Noise::Gaussian(1.0), &Seed::root(2)).unwrap();
    source.seek(1_000_000_000_000).unwrap();
    let seen = take(&mut source, &[0, 500_000, 999_999], 10);
    assert!(seen.iter().flatten().all(|value| value.is_finite()));
    let theta = SparseVector::new(dim, vec![7, 8], vec![1.0, 3.0]).unwrap();
    assert_eq!(source.gap(theta.view()), 9.0 + 4.0);
    source.seek(u64::MAX - 1).unwrap();
    assert_eq!(take(&mut source, &[1], 1)[0].len(), 1);
}

#[test]
fn scaling_the_design_and_unscaling_theta_leaves_labels_and_gaps() {
    let (plain, c) = (UniformAttributes::new(6).unwrap(), 4.0);
    let star = SparseVector::new(6, vec![1, 3], vec![1.0, -2.0]).unwrap();
    let small = SparseVector::new(6, vec![1, 3], vec![0.25, -0.5]).unwrap();
    let (noise, seed) = (Noise::Gaussian(1.0), Seed::root(6));
    let mut one = Virtual::new(plain, star, noise, &seed).unwrap();
    let mut other = Virtual::new(Scaled::new(plain, c).unwrap(), small, noise, &seed).unwrap();
    let theta = SparseVector::new(6, vec![0], vec![8.0]).unwrap();
    let theta_small = SparseVector::new(6, vec![0], vec![2.0]).unwrap();
    assert_eq!(one.gap(theta.view()), other.gap(theta_small.view()));
    assert_eq!(take(&mut one, &[2], 50)[1], take(&mut other, &[2], 50)[1]);
    assert_eq!(other.constants(1).smoothness, c * c * one.constants(1).smoothness);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let message = |error: DesignError| error.to_string();
    assert!(message(Rademacher::new(0).unwrap_err()).contains("dimension 0"));
    assert!(message(Hadamard::new(12).unwrap_err()).contains("power of two"));
    assert!(message(HadamardPairs::new(1, 0.1).unwrap_err()).contains("power of two"));
    assert!(message(CorrelatedPairs::new(7, 0.1).unwrap_err()).contains("even"));
    for rho in [1.0, -1.0, f64::NAN] {
        assert!(message(CorrelatedPairs::new(8, rho).unwrap_err()).contains("rho"));
        assert!(message(HadamardPairs::new(8, rho).unwrap_err()).contains("rho"));
        assert!(message(EquicorrelatedBlocks::new(8, 2, rho).unwrap_err()).contains("rho"));
    }
    assert!(message(EquicorrelatedBlocks::new(8, 9, 0.1).unwrap_err()).contains("size is 9"));
    assert!(message(CommonSign::new(8, 0).unwrap_err()).contains("common is 0"));
    assert!(message(Centered::new(1).unwrap_err()).contains("dimension 1"));
    assert!(message(Duplicated::new(3, vec![3]).unwrap_err()).contains("copied is 3"));
    assert!(message(Duplicated::new(0, vec![]).unwrap_err()).contains("original"));
    assert!(message(FactorModel::new(2, vec![0.1; 3]).unwrap_err()).contains("loadings"));
    assert!(message(FactorModel::new(0, vec![]).unwrap_err()).contains("loadings"));
    assert!(message(FactorModel::new(1, vec![1.1]).unwrap_err()).contains("at most 1"));
    assert!(message(FactorModel::new(1, vec![f64::NAN]).unwrap_err()).contains("at most 1"));
    assert!(message(Combinations::new(vec![]).unwrap_err()).contains("dimension 0"));
    assert!(message(Combinations::new(vec![vec![(0, f64::NAN)]]).unwrap_err()).contains("weight is NaN"));
    for factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(message(Scaled::new(Normal::new(2).unwrap(), factor).unwrap_err()).contains("factor"));
    }
    let star = || SparseVector::zeros(4);
    let new = |dim, noise| Virtual::new(Normal::new(dim).unwrap(), star(), noise, &Seed::root(0));
    assert!(message(new(5, Noise::None).unwrap_err()).contains("dimension 4"));
    assert!(message(new(4, Noise::Gaussian(-1.0)).unwrap_err()).contains("sigma is -1"));
    assert!(message(new(4, Noise::Signs(f64::NAN)).unwrap_err()).contains("sigma"));
    assert!(message(Normal::new(5000).unwrap().covariance().unwrap_err()).contains("5000"));
}

#[test]
fn noise_is_that_of_its_law_and_independent_of_the_attributes() {
    // 10^5 rows. Means of independent centered terms of variance v, within 6 standard errors sqrt(v / n).
    let n = 100_000;
    for (noise, fourth) in [(Noise::Gaussian(2.0), 3.0 * 16.0), (Noise::Signs(2.0), 16.0)] {
        let star = SparseVector::zeros(4);
        let mut source = Virtual::new(Rademacher::new(4).unwrap(), star, noise, &Seed::root(4)).unwrap();
        let seen = take(&mut source, &[0, 1, 2, 3], n);
        let xi = &seen[4];
        let mean = |terms: &mut dyn Iterator<Item = f64>| terms.sum::<f64>() / n as f64;
        let within =
            |mean: f64, variance: f64| assert!(mean.abs() <= 6.0 * (variance / n as f64).sqrt(), "{mean}");
        within(mean(&mut xi.iter().copied()), 4.0);
        within(mean(&mut xi.iter().map(|xi| xi * xi - 4.0)), fourth - 16.0 + 1e-9);
        within(mean(&mut xi.iter().map(|xi| xi.powi(4) - fourth)), 96.0 * 256.0);
        within(mean(&mut xi.windows(2).map(|xi| xi[0] * xi[1])), 16.0);
        for x in &seen[..4] {
            within(mean(&mut xi.iter().zip(x).map(|(xi, x)| xi * x)), 4.0);
        }
    }
}

#[test]
fn first_values_are_pinned() {
    let mut lines = Vec::new();
    for (name, design) in designs() {
        let seen = take(&mut source(design, Noise::Gaussian(0.5)), &[1, 5], 3);
        lines.push(format!("{name}: {seen:?}"));
    }
    let star = SparseVector::zeros(2);
    let mut signs = Virtual::new(Normal::new(2).unwrap(), star, Noise::Signs(1.0), &Seed::root(11)).unwrap();
    lines.push(format!("sign noise: {:?}", take(&mut signs, &[], 8)));
    let sphere = Box::new(Sphere::new(6).unwrap());
    lines.push(format!("sphere: {:?}", take(&mut source(sphere, Noise::None), &[1, 5], 3)));
    let mut counts = [0; 8];
    for (examples, even) in [(1000, 0.5), (1_000_000_000_000_001, 0.5), (10_000_000, 0.75)] {
        row_counts(&mut Seed::root(11).rng(), examples, even, &mut counts);
        lines.push(format!("counts of {examples}: {counts:?}"));
    }
    let mut sums = [0.0; 8];
    noise_sums(&mut Seed::root(11).rng(), Noise::Gaussian(1.0), &counts, &mut sums);
    lines.push(format!("noise sums: {sums:?}"));
    let golden: Vec<&str> = include_str!("../golden/designs.txt").lines().collect();
    for (line, golden) in lines.iter().zip(&golden) {
        assert_eq!(line, golden, "the values of a seed changed: every recorded figure changes with them");
    }
    assert_eq!(lines.len(), golden.len());
}
