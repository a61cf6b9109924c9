//! AESVR beside its reference, with the draws given.

use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use lao_algorithms::hazan_koren::reference::AesvrReference;
use lao_algorithms::hazan_koren::{AesvrDraws, AesvrParams, Horizon, SmoothedLoss};
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_observation::{Ask, BlockBuf, Budget, Learner, Request, Rng, Seed, Told};
use proptest::prelude::*;
use rand::RngExt;

/// Makes GenEst's draws, whose attributes have the law `w_j^2 / |w|^2`; for `w = 0` all are attribute 0.
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
    fn aesvr_is_its_twin(
        dim in 1usize..9, k in 1usize..5, repetitions in 1u32..4, steps in 1usize..60, seed: u64,
    ) {
        let (radius, eta, delta, eps) = (0.9, 0.02, 0.1, 3.0);
        let params = AesvrParams {
            dim, draws: k, radius, step_size: eta, insensitivity: delta, smoothing: eps, repetitions,
            reads_zeros: false,
        };
        let mut reference = AesvrReference::new(&params).unwrap();
        let (mut learner, mut ask) = (params.build().unwrap(), Ask::new(dim));
        let mut rng = Seed::root(seed).rng();
        for _ in 0..steps {
            let x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
            let y = rng.random_range(-1.0..1.0);
            let estimate = GenEst::new(repetitions);
            let estimates = [(); 2].map(|()| draw(&estimate, reference.iterate(), &mut rng));
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

            let drawn = Drawn::Estimates(&draws.estimates);
            reference.see(&Seen { x: &x, label: y, asked: attributes, drawn }).unwrap();
        }
        let (found, wanted) = (learner.coefficients().to_dense(), reference.coefficients());
        for j in 0..dim {
            prop_assert!((learner.iterate()[j] - reference.iterate()[j]).abs() <= 1e-10);
            prop_assert!((found[j] - wanted[j]).abs() <= 1e-10);
        }
    }
}

#[test]
fn the_default_number_of_repetitions_is_that_of_the_lemma_in_the_unit_of_the_smoothing() {
    assert_eq!([0.125, 0.25, 0.3].map(|eps| AesvrParams::default_repetitions(1.0, eps)), [1024, 256, 178]);
    assert_eq!(AesvrParams::default_repetitions(1.0, 1e-9), 1 << 16);
    let learner = AesvrParams::from_theorem(
        Horizon { dim: 5, draws: 2, radius: 1.0, examples: 100 },
        SmoothedLoss { insensitivity: 0.1, smoothing: 0.5, second_moment: 5.0 },
    )
    .build()
    .unwrap();
    let Budget::Expected { mean, cap } = learner.budget() else { panic!("in expectation") };
    assert!(cap == 5 && mean > 2.0 && mean < 2.0 + 3.5, "{mean}");
}
