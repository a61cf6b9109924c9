//! AESVR against its naive twin, with the draws given.

use lao_algorithms::hazan_koren::{AesvrDraws, AesvrParams};
use lao_observation::estimate::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use lao_observation::{Ask, BlockBuf, Budget, Learner, Request, Rng, Seed, Told};
use proptest::prelude::*;
use rand::RngExt;

/// GenEst as printed in Procedure 3, for `x/eps` and the label `y/eps`.
fn gen_est(w: &[f64], x: &[f64], y: f64, eps: f64, repetitions: usize, draws: &GenEstDraws) -> f64 {
    let n = draws.factors;
    let m = n / 2;
    let factorial: f64 = (1..=m).map(f64::from).product();
    let sign = if m.is_multiple_of(2) { 1.0 } else { -1.0 };
    let a = if n.is_multiple_of(2) {
        0.0
    } else {
        std::f64::consts::FRAC_2_SQRT_PI * sign / (factorial * f64::from(n))
    };
    let squares: f64 = w.iter().map(|w| w * w).sum();
    let copies = if f64::from(n) <= 2.0 * (repetitions as f64).log2() { 1 } else { repetitions };
    let mut phi = 2f64.powi(n as i32 + 1) * a;
    for r in 0..n as usize {
        let mut theta = -y / eps;
        for &j in draws.attributes.iter().skip(r * copies).take(copies) {
            let j = j as usize;
            theta += if w[j] == 0.0 { 0.0 } else { squares * x[j] / eps / w[j] / copies as f64 };
        }
        phi *= theta;
    }
    phi
}

/// Attributes by the law `w_j^2 / |w|^2`; the first one for `w = 0`.
fn draw(estimate: &GenEst, w: &[f64], rng: &mut Rng) -> GenEstDraws {
    let squares: f64 = w.iter().map(|w| w * w).sum();
    let by_weight = |rng: &mut Rng| {
        let mut left = rng.random::<f64>() * squares;
        let place = w.iter().position(|w| {
            left -= w * w;
            left < 0.0
        });
        place.unwrap_or(0) as u32
    };
    let mut draws = GenEstDraws::default();
    estimate.draw(erf_coefficient, by_weight, rng, &mut draws);
    draws
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn aesvr_is_its_twin(dim in 1usize..9, k in 1usize..5, repetitions in 1u32..4, steps in 1usize..60, seed: u64) {
        let (radius, eta, delta, eps) = (0.9, 0.02, 0.1, 3.0);
        let params = AesvrParams {
            dim, draws: k, radius, step_size: eta, insensitivity: delta, smoothing: eps, repetitions, reads_zeros: false,
        };
        let (mut learner, mut ask, mut rng) = (params.check().unwrap(), Ask::new(dim), Seed::root(seed).rng());
        let (mut w, mut sum) = (vec![0.0; dim], vec![0.0; dim]);
        for _ in 0..steps {
            let x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
            let y = rng.random_range(-1.0..1.0);
            let estimate = GenEst::new(repetitions);
            let estimates = [draw(&estimate, &w, &mut rng), draw(&estimate, &w, &mut rng)];
            let uniform: Vec<u32> = (0..k).map(|_| rng.random_range(0..dim as u32)).collect();
            let draws = AesvrDraws { uniform, estimates };
            learner.ask_for(&draws, &mut ask);
            let reads = k + draws.estimates.iter().map(|one| one.attributes.len()).sum::<usize>();
            prop_assert_eq!(learner.reads(), reads);
            let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
            let mut block = BlockBuf::new();
            block.reset(attributes.len(), 1);
            attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
            block.labels_mut()[0] = y;
            block.set_rows(1);
            learner.tell(Told::Values(block.view(attributes))).unwrap();

            let [plus, minus] = &draws.estimates;
            let of = |y, draws| gen_est(&w, &x, y, eps, repetitions as usize, draws);
            let phi = (of(y + delta, plus) + of(y - delta, minus)) / 2.0;
            let mut v = w.clone();
            draws.uniform.iter().for_each(|&j| v[j as usize] -= eta * phi * dim as f64 / k as f64 * x[j as usize]);
            let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let factor = (radius / norm).min(1.0);
            sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
            w = v.iter().map(|v| v * factor).collect();
        }
        let average = learner.coefficients().to_dense();
        for j in 0..dim {
            prop_assert!((learner.iterate()[j] - w[j]).abs() <= 1e-10);
            prop_assert!((average[j] - sum[j] / steps as f64).abs() <= 1e-10);
        }
    }
}

#[test]
fn the_default_number_of_repetitions_is_that_of_the_lemma_in_the_unit_of_the_smoothing() {
    assert_eq!([0.125, 0.25, 0.3].map(|eps| AesvrParams::default_repetitions(1.0, eps)), [1024, 256, 178]);
    assert_eq!(AesvrParams::default_repetitions(1.0, 1e-9), 1 << 16);
    let learner = AesvrParams::from_theorem(5, 2, 1.0, (0.1, 0.5), 5.0, 100).check().unwrap();
    let Budget::Expected { mean, cap } = learner.budget() else { panic!("in expectation") };
    assert!(cap == 5 && mean > 2.0 && mean < 2.0 + 3.5, "{mean}");
}
