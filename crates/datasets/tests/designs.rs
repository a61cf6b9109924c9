//! Virtual designs against their exact constants.

use lao_datasets::synthetic::*;
use lao_kernels::SparseVector;
use lao_observation::{BlockBuf, Seed, Source};

/// One of each design, of a few attributes.
fn designs() -> Vec<(&'static str, Box<dyn Design>)> {
    vec![
        ("rademacher", Box::new(Rademacher::new(9).unwrap())),
        ("uniform", Box::new(Uniform::new(8).unwrap())),
        ("normal", Box::new(Normal::new(7).unwrap())),
        ("hadamard", Box::new(Hadamard::new(16).unwrap())),
        ("hadamard pairs", Box::new(HadamardPairs::new(8, 0.4).unwrap())),
        ("correlated pairs", Box::new(CorrelatedPairs::new(10, -0.7).unwrap())),
        ("scaled", Box::new(Scaled::new(CorrelatedPairs::new(6, 0.5).unwrap(), 3.0).unwrap())),
    ]
}

fn theta_star(dim: usize) -> SparseVector {
    SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.5, -0.5]).unwrap()
}

fn source(design: Box<dyn Design>, noise: Noise) -> Virtual<Box<dyn Design>> {
    let theta = theta_star(design.dim());
    Virtual::new(design, theta, noise, &Seed::root(11)).unwrap()
}

/// All attributes of the next `rows` examples, column by column, then the labels.
fn take<S: Source>(source: &mut S, attributes: &[u32], rows: usize) -> Vec<Vec<f64>> {
    let mut block = BlockBuf::new();
    block.reset(attributes.len(), rows);
    assert_eq!(source.observe(attributes, &mut block).unwrap(), rows);
    let view = block.view(attributes);
    let columns = (0..attributes.len()).map(|c| view.column(c).to_vec());
    columns.chain([view.labels().to_vec()]).collect()
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
    // Entries of the empirical covariance are means of n products x_j x_k. For |x| <= R Hoeffding gives a deviation of at most
    // R^2 sqrt(2 log(2 d^2 / alpha) / n) in all of them, with probability 1 - alpha = 1 - 1e-9. Normal products have variance
    // at most 2 and are nearly normal in the mean: 7 standard deviations.
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
            assert!(x[j].iter().all(|value| value.abs() <= bound), "{name} exceeds its bound");
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
