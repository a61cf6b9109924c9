//! The draws of rand_distr, pinned. `Cargo.toml` asks for compatible versions, and `Cargo.lock` alone says
//! which; these tests say when a release changes the bits of a seed. Every recorded figure changes with them:
//! such a release is taken in a change of its own, with new records. The draws of rand itself are pinned in
//! lao-observation.

use lao_observation::{Rng, Seed};
use rand_distr::{Binomial, Distribution, Exp1, StandardNormal};

fn draws<T, const N: usize>(law: impl Distribution<T>) -> [T; N] {
    let mut rng: Rng = Seed::root(2018).child("draws").rng();
    [(); N].map(|()| law.sample(&mut rng))
}

#[test]
fn normal_draws_are_pinned() {
    let first = [0.828713589522168, -0.8880373607622795, -0.15673271804106742, 0.5071811944726256];
    assert_eq!(draws::<f64, 4>(StandardNormal), first);
    // The largest of many lies in the tail, which is drawn in another way.
    let mut rng = Seed::root(2018).child("tail").rng();
    let largest = (0..100_000).map(|_| -> f64 { StandardNormal.sample(&mut rng) }).fold(0.0, f64::max);
    assert_eq!(largest, 4.402887912219162);
}

#[test]
fn exponential_draws_are_pinned() {
    let first = [1.225785122194055, 0.2450842509740539, 0.278890559312118, 0.8773961761286952];
    assert_eq!(draws::<f64, 4>(Exp1), first);
}

#[test]
fn binomial_draws_are_pinned() {
    assert_eq!(draws(Binomial::new(20, 0.1).unwrap()), [3, 1, 2, 3, 3, 2, 3, 1]);
    // A mean this large is drawn in another way.
    assert_eq!(draws(Binomial::new(1_000_000, 0.3).unwrap()), [299850, 300487, 299504, 300187]);
}
