use super::*;
use proptest::prelude::*;

/// One epoch or step of a run.
#[derive(Clone, Debug)]
enum Act {
    Begin(Vec<f64>),
    Step { factor: f64, touched: Vec<u32>, correction: Vec<f64>, dense: bool },
}

/// Returns values with many ties and zeros, among others.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-3..=3_i32).prop_map(f64::from), -2.0..2.0, -1e-3..1e-3]
}

fn acts(dim: usize) -> impl Strategy<Value = Vec<Act>> {
    let begin = proptest::collection::vec(number(), dim).prop_map(Act::Begin);
    let subset = proptest::sample::subsequence((0..dim as u32).collect::<Vec<_>>(), 0..=dim);
    let correction = proptest::collection::vec(number(), dim);
    let factor = prop_oneof![Just(1.0), Just(0.0), 0.5..1.0];
    let step = (factor, subset.prop_shuffle(), correction, any::<bool>()).prop_map(
        |(factor, touched, correction, dense)| {
            let correction = correction[..touched.len()].to_vec();
            Act::Step { factor, touched, correction, dense }
        },
    );
    proptest::collection::vec(prop_oneof![1 => begin, 5 => step], 1..30)
}

/// Moves all coordinates, sorts, keeps k.
fn naive_step(x: &mut [f64], drift: &[f64], factor: f64, correction: &[f64], k: usize) {
    for j in 0..x.len() {
        x[j] =
            if x[j] == 0.0 { drift[j] - correction[j] } else { (factor * x[j] + drift[j]) - correction[j] };
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[j].abs().total_cmp(&x[i].abs()).then(i.cmp(&j)));
    order.into_iter().skip(k).for_each(|j| x[j] = 0.0);
}

proptest! {
    #[test]
    fn every_step_has_the_bits_of_the_dense_twin(
        (k, start, acts) in (1..40_usize, 0..45_usize).prop_flat_map(|(dim, k)| {
            (Just(k), proptest::collection::vec(number(), dim), acts(dim))
        })
    ) {
        let dim = start.len();
        let (mut drifting, mut read) = (LazyThresholdIterate::new(dim, k), SparseVector::zeros(0));
        drifting.load(SparseVector::from_dense(&start).view()).expect("finite");
        let (mut x, mut drift) = (start, vec![0.0; dim]);
        naive_step(&mut x, &vec![0.0; dim], 1.0, &vec![0.0; dim], k);
        for act in acts {
            match act {
                Act::Begin(direction) => {
                    drifting.begin(-0.5, &direction).expect("finite");
                    drift = direction.iter().map(|value| -0.5 * value).collect();
                }
                Act::Step { factor, touched, correction, dense } => {
                    let mut all = vec![0.0; dim];
                    touched.iter().zip(&correction).for_each(|(&j, value)| all[j as usize] = *value);
                    if dense {
                        drifting.step_dense(factor, &all).expect("finite");
                    } else {
                        drifting.step(factor, &touched, &correction).expect("finite");
                    }
                    naive_step(&mut x, &drift, factor, &all, k);
                }
            }
            drifting.read(&mut read);
            prop_assert_eq!(&read, &SparseVector::from_dense(&x));
            prop_assert!(read.len() <= k && read.len() == drifting.len());
            let places: Vec<u32> = (0..dim as u32).collect();
            let sum = x.iter().sum::<f64>();
            prop_assert!((drifting.dot(&places, &vec![1.0; dim]) - sum).abs() < 1e-9);
        }
    }
}

#[test]
fn a_step_that_is_not_finite_leaves_the_iterate() {
    let mut drifting = LazyThresholdIterate::new(4, 2);
    drifting.begin(1.0, &[0.0, 1.0, 2.0, 0.5]).unwrap();
    drifting.step(1.0, &[], &[]).unwrap();
    let mut before = SparseVector::zeros(4);
    drifting.read(&mut before);
    assert_eq!(before.indices(), [1, 2]);
    for bad in [f64::NAN, f64::INFINITY] {
        for place in 0..4 {
            let error = drifting.step(1.0, &[place], &[bad]).unwrap_err();
            assert_eq!(error.index, place as usize);
            let is_of_step = if bad.is_nan() { error.value.is_nan() } else { error.value == -bad };
            assert!(is_of_step, "{} for {bad} at {place}", error.value);
            assert!(drifting.begin(1.0, &[bad, 0.0, 0.0, 0.0]).is_err());
            let mut after = SparseVector::zeros(4);
            drifting.read(&mut after);
            assert_eq!(after, before);
        }
    }
    assert_eq!(drifting.step(f64::MAX, &[], &[]).unwrap_err().index, 2);
}

#[test]
fn a_member_that_is_not_finite_shows_wherever_it_stands() {
    for dim in [1, 2, 15, 16, 17, 40] {
        for place in 0..dim {
            let mut x = vec![1.0; dim];
            x[place] = -2.0;
            let mut drifting = LazyThresholdIterate::new(dim, dim);
            drifting.load(SparseVector::from_dense(&x).view()).unwrap();
            let error = drifting.step(f64::MAX, &[], &[]).unwrap_err();
            assert_eq!((error.index, error.value), (place, f64::NEG_INFINITY));
            drifting.step(0.5 * f64::MAX, &[], &[]).unwrap();
        }
    }
}

/// The drift minus the correction would overflow, but no coordinate goes there.
#[test]
fn a_member_is_checked_where_it_goes() {
    let mut drifting = LazyThresholdIterate::new(1, 1);
    drifting.load(SparseVector::from_dense(&[1.5e308]).view()).unwrap();
    drifting.begin(1.0, &[-1.5e308]).unwrap();
    drifting.step(1.0, &[0], &[1.5e308]).unwrap();
    assert_eq!(drifting.get(0), -1.5e308);
}

#[test]
fn an_iterate_without_coordinates_or_members_steps() {
    for (dim, sparsity) in [(0, 0), (0, 3), (3, 0)] {
        let mut drifting = LazyThresholdIterate::new(dim, sparsity);
        drifting.begin(1.0, &vec![1.0; dim]).unwrap();
        let touched: Vec<u32> = (0..dim as u32).collect();
        drifting.step(0.5, &touched, &vec![2.0; dim]).unwrap();
        drifting.step_dense(0.5, &vec![2.0; dim]).unwrap();
        assert!(drifting.is_empty());
    }
}

#[test]
fn stamps_survive_their_overflow() {
    let mut drifting = LazyThresholdIterate::new(3, 1);
    drifting.begin(1.0, &[1.0, 2.0, 3.0]).unwrap();
    drifting.step = u32::MAX - 1;
    for _ in 0..3 {
        drifting.step(0.0, &[2], &[3.0]).unwrap();
        assert_eq!(drifting.get(1), 2.0);
    }
}
