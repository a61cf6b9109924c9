//! The draws that a seed stands for, pinned. `Cargo.toml` asks for compatible versions of rand and
//! rand_xoshiro, and `Cargo.lock` alone says which; these tests say when a release changes the bits of a
//! seed. Every recorded figure changes with them: such a release is taken in a change of its own, with new
//! records.

use lao_observation::sample::{SubsetSampler, uniform_draws};
use lao_observation::{Rng, Seed};
use rand::seq::{SliceRandom, index};
use rand::{Rng as _, RngExt};

fn rng() -> Rng {
    Seed::root(2018).child("draws").rng()
}

fn draws<T, const N: usize>(mut draw: impl FnMut(&mut Rng) -> T) -> [T; N] {
    let mut rng = rng();
    [(); N].map(|()| draw(&mut rng))
}

#[test]
fn words_of_the_generator_are_pinned() {
    assert_eq!(
        draws(|rng| rng.next_u64()),
        [14383061858540071048, 3263655289917276568, 7602476202667086553, 12820767547291895203]
    );
    assert_eq!(draws(|rng| rng.next_u32()), [3348817550, 759878961, 1770089427, 2985067560]);
}

#[test]
fn standard_draws_of_rand_are_pinned() {
    assert_eq!(
        draws(|rng| rng.random::<f64>()),
        [0.7797073457011271, 0.17692310777860598, 0.4121310607600501, 0.6950152013852762]
    );
    let coins = [true, false, false, true, true, false, true, false];
    assert_eq!(draws(|rng| rng.random::<bool>()), coins);
}

#[test]
fn draws_of_rand_from_a_range_are_pinned() {
    assert_eq!(draws(|rng| rng.random_range(0..10_usize)), [7, 1, 4, 6, 7, 4, 8, 1]);
    assert_eq!(draws(|rng| rng.random_range(0..=1_000_000_u64)), [779708, 176923, 412131, 695015]);
    assert_eq!(draws(|rng| rng.random_range(0..3_i32)), [2, 0, 1, 2, 2, 1, 2, 0]);
    let reals = [0.559414691402254, -0.646153784442788, -0.17573787847989975, 0.39003040277055234];
    assert_eq!(draws(|rng| rng.random_range(-1.0..1.0)), reals);
    assert_eq!(draws(|rng| rng.random_range(-1.0..=1.0)), reals);
}

#[test]
fn orders_and_subsets_of_rand_are_pinned() {
    let mut order: Vec<u32> = (0..12).collect();
    order.shuffle(&mut rng());
    assert_eq!(order, [3, 8, 6, 10, 5, 2, 0, 7, 4, 11, 1, 9]);
    let subset = |dim| index::sample(&mut rng(), dim, 6).into_vec();
    assert_eq!(subset(100), [74, 16, 39, 68, 73, 49]);
    assert_eq!(subset(100_000), [77966, 17691, 41211, 69500, 73810, 49146]);
}

#[test]
fn samplers_are_pinned() {
    let (mut sampler, mut set, mut list) = (SubsetSampler::new(100), Vec::new(), Vec::new());
    sampler.draw(6, &mut rng(), &mut set);
    assert_eq!(set, [18, 42, 51, 70, 74, 77]);
    uniform_draws(100, 8, &mut rng(), &mut list);
    assert_eq!(list, [23, 77, 81, 17, 63, 41, 17, 69]);
}
