//! The instances around the assumptions of Ito et al., against their stated constants.

use lao_datasets::adversarial::ito::{self, Compatibility, Instance};
use lao_datasets::synthetic::{Design, Noise};
use lao_observation::{BlockBuf, Seed, Source};
use proptest::prelude::*;

fn trace(instance: &Instance) -> f64 {
    instance.covariance().unwrap().iter().step_by(instance.dim() + 1).sum()
}

/// Examples of all attributes, row by row, and labels.
fn examples(source: &mut impl Source, rows: usize) -> Vec<(Vec<f64>, f64)> {
    let every: Vec<u32> = (0..source.dim() as u32).collect();
    let mut block = BlockBuf::new();
    block.reset(every.len(), rows);
    assert_eq!(source.observe(&every, &mut block).unwrap(), rows);
    let view = block.view(&every);
    let row = |i| (0..every.len()).map(|c| view.column(c)[i]).collect();
    (0..rows).map(|i| (row(i), view.labels()[i])).collect()
}

fn norm_squared(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[test]
fn b_not_a_is_singular_and_compatible() {
    let instance = ito::b_not_a().unwrap();
    assert!((trace(&instance) - 0.875).abs() < 1e-12);
    assert!((instance.design().norm_bound() - 1.084).abs() < 1e-3);
    let unit = instance.unit_trace().unwrap();
    assert!(unit.sigma_d_squared().unwrap().abs() < 1e-12);
    let compatibility = unit.compatibility(1e-7).unwrap();
    assert!(compatibility.upper - compatibility.lower <= 1e-7);
    assert!((compatibility.lower - 0.00596).abs() < 5e-6, "{compatibility:?}");
    let null = [1.0, 0.0, -0.5, -0.5, -0.5, -0.5, -0.5];
    let moved: Vec<f64> = null.iter().zip(unit.w_star().view().to_dense()).map(|(v, w)| w + v).collect();
    assert!(unit.excess(&moved) < 1e-12);
    assert!((unit.excess(&[0.97, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) - 0.01 * 0.5 / 0.875).abs() < 1e-12);
}

#[test]
fn twins_break_compatibility_only_within_the_support() {
    for (instance, phi) in [(ito::neither().unwrap(), 0.0), (ito::twins_outside().unwrap(), 0.25)] {
        assert!(instance.sigma_d_squared().unwrap().abs() < 1e-12);
        assert!((trace(&instance) - 1.0).abs() < 1e-12);
        let compatibility = instance.compatibility(1e-8).unwrap();
        assert!(
            compatibility.lower <= phi + 1e-12 && phi <= compatibility.upper + 1e-12,
            "{compatibility:?}"
        );
        assert!(compatibility.upper - compatibility.lower <= 1e-8);
    }
}

#[test]
fn the_best_single_feature_of_a_not_2_has_the_smallest_weight() {
    let instance = ito::a_not_2().unwrap();
    assert!((trace(&instance) - 0.99).abs() < 1e-12);
    assert!((instance.sigma_d_squared().unwrap() - 0.01).abs() < 1e-12);
    let single = |j: usize, weight: f64| {
        let mut w = vec![0.0; instance.dim()];
        w[j] = weight;
        instance.excess(&w)
    };
    assert!((single(0, 0.25) - 0.0216).abs() < 1e-12);
    for (j, weight) in [(1, 0.06), (2, -0.06)] {
        assert!((single(j, weight) - 0.03927).abs() < 1e-12, "{}", single(j, weight));
        assert!(single(j, 0.07) > single(j, weight) && single(j, 0.05) > single(j, weight));
    }
}

#[test]
fn a_sparse_isometry_has_independent_columns_but_no_compatibility() {
    for parts in [2, 4, 7] {
        let instance = ito::sparse_isometry(parts).unwrap();
        let (dim, m) = (instance.dim(), parts as usize);
        assert!(instance.design().restricted(m).smallest > 1e-3, "m = {m}");
        assert!(instance.design().restricted(dim).smallest.abs() < 1e-12);
        assert!(instance.compatibility(1e-8).unwrap().upper <= 1e-8);
    }
}

#[test]
fn the_golden_ratio_multiplies_the_error() {
    let instance = ito::golden_ratio(0.5).unwrap();
    let b = 0.5 * (5_f64.sqrt() - 1.0);
    let ratio = instance.excess(&[0.0, b]) / instance.excess(&[b, b]);
    assert!((ratio - 0.5 * (3.0 + 5_f64.sqrt())).abs() < 1e-12);
    assert!(ito::golden_ratio(1.0).unwrap_err().to_string().contains("share is 1"));
}

#[test]
fn independent_features_are_compatible_with_the_least_variance() {
    // V = I/d: k w'w/d over |w_S|_1 = 1 is least at equal weights, 1/d.
    for (dim, k) in [(4, 1), (4, 2), (6, 3)] {
        let mut identity = vec![0.0; dim * dim];
        identity.iter_mut().step_by(dim + 1).for_each(|x| *x = 1.0 / dim as f64);
        let support: Vec<u32> = (0..k as u32).collect();
        let found = Compatibility::of(&identity, dim, &support, k, 1e-10).unwrap();
        assert!((found.upper - 1.0 / dim as f64).abs() < 1e-9, "{found:?}");
        assert!(found.upper - found.lower <= 1e-10);
    }
    let refused =
        |support: &[u32]| Compatibility::of(&[1.0; 4], 2, support, 1, 1e-3).unwrap_err().to_string();
    assert!(refused(&[]).contains("support size is 0"));
    assert!(refused(&[2]).contains("support is 2"));
}

proptest! {
    #[test]
    fn no_admissible_vector_lies_below_the_lower_bound(
        w in prop::collection::vec(-1.0..1.0_f64, 7),
        outside in 0.0..2.0_f64,
    ) {
        let instance = ito::b_not_a().unwrap().unit_trace().unwrap();
        let on: f64 = w[..2].iter().map(|w| w.abs()).sum();
        let off: f64 = w[2..].iter().map(|w| w.abs()).sum();
        prop_assume!(on > 0.01 && off > 0.01);
        let scaled: Vec<f64> =
            w.iter().enumerate().map(|(j, w)| if j < 2 { w / on } else { outside * w / off }).collect();
        let star = instance.w_star().view().to_dense();
        let moved: Vec<f64> = scaled.iter().zip(star).map(|(w, star)| w + star).collect();
        prop_assert!(2.0 * instance.excess(&moved) >= instance.compatibility(1e-6).unwrap().lower - 1e-12);
    }
}

#[test]
fn examples_are_bounded_and_labels_follow_the_target() {
    for instance in [
        ito::b_not_a().unwrap().scaled(1.0 / 1.09).unwrap(),
        ito::neither().unwrap(),
        ito::twins_outside().unwrap(),
        ito::sparse_isometry(3).unwrap().scaled(0.5).unwrap(),
    ] {
        let mut source = instance.source(Noise::None, &Seed::root(3)).unwrap();
        let star = instance.w_star().view().to_dense();
        for (x, y) in examples(&mut source, 200) {
            let label: f64 = x.iter().zip(&star).map(|(x, w)| x * w).sum();
            assert!((y - label).abs() < 1e-15);
            assert!(norm_squared(&x) <= 1.0 + 1e-12 && y.abs() <= 1.0);
        }
    }
}

#[test]
fn generators_draw_targets_and_examples_of_the_stated_size() {
    let mut supports = std::collections::BTreeSet::new();
    for trial in 0..20 {
        let seed = Seed::root(5).trial(trial);
        let free = ito::gauss_free(10, 4, &seed).unwrap();
        assert!(free.theta_star().values().iter().all(|w| (w * w - 0.45).abs() < 1e-15));
        supports.insert(free.theta_star().indices().to_vec());
        let spread = ito::gauss_spread(10, 4, 2_f64.sqrt(), &seed).unwrap();
        assert!((spread.theta_star().norm_squared() - 2.0).abs() < 1e-12);
        let values = spread.theta_star().values();
        let size = |pick: fn(f64, f64) -> f64| values.iter().map(|w| w.abs()).reduce(pick).unwrap();
        assert!(size(f64::max) <= 3.0 * size(f64::min));
        assert_eq!(
            ito::gauss_unit(10, 4, &seed).unwrap().theta_star().indices(),
            spread.theta_star().indices()
        );

        let mut sphere = ito::sphere(10, 2, &seed).unwrap();
        assert!((sphere.theta_star().norm_squared() - 1.0).abs() < 1e-12);
        for (x, y) in examples(&mut sphere, 50) {
            assert!((norm_squared(&x) - 1.0).abs() < 1e-12 && y.abs() <= 1.0 + 1e-12);
        }
        sphere.seek(7).unwrap();
        let again = examples(&mut sphere, 1);
        sphere.seek(0).unwrap();
        assert_eq!(again[0], examples(&mut sphere, 50)[7]);
    }
    assert!(supports.len() > 10, "{supports:?}");
}

#[test]
fn the_sphere_has_covariance_one_over_d() {
    // Entries of x x' are bounded by 1 in size with variance at most 3/d^2; 6 standard errors of 20,000 rows.
    const DIM: usize = 6;
    let mut source = ito::sphere(DIM, 1, &Seed::root(8)).unwrap();
    let rows = examples(&mut source, 20_000);
    let exact = source.design().covariance().unwrap();
    for i in 0..DIM {
        for j in 0..DIM {
            let mean = rows.iter().map(|(x, _)| x[i] * x[j]).sum::<f64>() / rows.len() as f64;
            let allowed = 6.0 * (3.0 / rows.len() as f64).sqrt() / DIM as f64;
            assert!((mean - exact[i * DIM + j]).abs() <= allowed);
        }
    }
}
