//! The samplers against their exact laws.

use crate::laws::{require_law, uniform};
use lao_observation::sample::{BLOCK, SubsetSampler, SumTree, block, uniform_draws};
use lao_observation::{Rng, Seed};
use rand::RngExt;

fn rng(name: &str) -> Rng {
    Seed::root(17).child("laws").child(name).rng()
}

/// Returns all sorted sets of `size` of these numbers.
fn subsets(of: &[u32], size: usize) -> Vec<Vec<u32>> {
    let masks = (0..1_u32 << of.len()).filter(|mask| mask.count_ones() as usize == size);
    masks.map(|mask| (0..of.len()).filter(|i| mask >> i & 1 == 1).map(|i| of[i]).collect()).collect()
}

#[test]
fn subsets_of_every_size_are_uniform_and_independent_of_the_one_before() {
    for dim in 1..=6_usize {
        let all: Vec<u32> = (0..dim as u32).collect();
        for size in 0..=dim + 1 {
            let (mut sampler, mut rng) = (SubsetSampler::new(dim), rng(&format!("subset {dim} {size}")));
            let draw = || {
                let mut drawn = Vec::new();
                sampler.draw(size, &mut rng, &mut drawn);
                drawn
            };
            let law = uniform(subsets(&all, size.min(dim)));
            require_law(&format!("{size} of {dim}"), &law, std::iter::repeat_with(draw).take(40_000));
        }
    }
}

/// The sampler never resets its permutation, so the sizes before must leave no trace.
#[test]
fn subsets_do_not_depend_on_the_sizes_drawn_before() {
    let (mut sampler, mut rng) = (SubsetSampler::new(5), rng("sizes"));
    let draw = |at: usize| {
        let mut drawn = Vec::new();
        sampler.draw([4, 1, 3, 0, 5][at % 5], &mut rng, &mut drawn);
        drawn.clear();
        sampler.draw(2, &mut rng, &mut drawn);
        drawn
    };
    require_law("2 of 5", &uniform(subsets(&[0, 1, 2, 3, 4], 2)), (0..60_000).map(draw));
}

#[test]
fn a_drawn_subset_is_appended_sorted_and_leaves_what_was_there() {
    let (mut sampler, mut rng) = (SubsetSampler::new(50), rng("appended"));
    let mut drawn = vec![99, 3];
    for size in [7, 50, 0, 1] {
        let before = drawn.clone();
        sampler.draw(size, &mut rng, &mut drawn);
        assert_eq!(drawn[..before.len()], before);
        let own = &drawn[before.len()..];
        assert!(own.len() == size && own.is_sorted_by(|a, b| a < b) && own.iter().all(|&j| j < 50));
    }
}

/// Two draws come from one word, and the last word of an odd number of draws is used by half.
#[test]
fn uniform_draws_are_uniform_and_independent_within_a_word_and_between_calls() {
    for dim in [1, 2, 3, 5, 6, 7, 16] {
        for count in [1, 2, 3, 8] {
            let (mut rng, mut drawn) = (rng(&format!("uniform {dim} {count}")), Vec::new());
            while drawn.len() < 120_000 {
                uniform_draws(dim, count, &mut rng, &mut drawn);
            }
            require_law(&format!("{count} draws of {dim}"), &uniform(0..dim as u32), drawn);
        }
    }
}

#[test]
fn a_tree_of_integers_finds_every_entry_as_often_as_its_weight() {
    for dim in [1, BLOCK - 1, BLOCK, BLOCK + 1, 64 * BLOCK, 64 * BLOCK + 1, 64 * 64 * BLOCK + 3] {
        let mut rng = rng(&format!("tree {dim}"));
        let heavy = |rng: &mut Rng| rng.random_range(0..3000) < 1 + 6000 / (dim as u32 + 1);
        let weights: Vec<f64> = (0..dim)
            .map(|_| if heavy(&mut rng) { f64::from(rng.random_range(1..5_u8)) } else { 0.0 })
            .collect();
        let mut tree = SumTree::new(dim);
        weights.iter().enumerate().for_each(|(j, &weight)| tree.add(j, weight));
        let entries = |at| block(&weights, at, |&weight| weight);
        let total = weights.iter().sum::<f64>();
        assert_eq!(tree.total(), total);
        let targets: Vec<f64> = (0..total as usize).map(|t| t as f64 + 0.5).collect();
        let (mut alone, mut together) = (vec![0.0; dim], vec![0.0; dim]);
        for &target in &targets {
            alone[tree.locate(target, |&sum| sum, entries).unwrap()] += 1.0;
        }
        let (mut used, mut places) = (targets.clone(), vec![0; targets.len()]);
        tree.locate_all(&mut used, &mut places, |&sum| sum, entries).unwrap();
        places.iter().for_each(|&j| together[j as usize] += 1.0);
        assert_eq!(alone, weights, "{dim}");
        assert_eq!(together, weights, "{dim}");
    }
}

#[test]
fn a_tree_draws_by_weight_after_entries_and_blocks_have_changed() {
    let mut weights = vec![0.0; 700];
    let held = [(0, 1.0), (7, 0.5), (8, 2.5), (511, 3.0), (512, 1.5), (699, 1.5)];
    let mut tree = SumTree::new(700);
    tree.add_all(&[8, 8, 640], &[4.0, 4.0, 9.0]);
    for (j, weight) in held {
        weights[j] = weight;
    }
    let exact = |at: usize| weights[at * BLOCK..(at * BLOCK + BLOCK).min(700)].iter().sum::<f64>();
    tree.set_block(80, exact(80));
    tree.set_block(1, exact(1));
    for at in [0, 63, 64, 87] {
        tree.add(at * BLOCK, exact(at));
    }
    assert!(tree.agrees(700, exact, |a, b| a == b) && !tree.agrees(709, exact, |a, b| a == b));
    let law: Vec<(usize, f64)> = held.map(|(j, weight)| (j, weight / 10.0)).to_vec();
    let mut rng = rng("changed");
    let draw = || {
        let entries = |at| block(&weights, at, |&weight| weight);
        tree.locate(rng.random::<f64>() * tree.total(), |&sum| sum, entries).unwrap()
    };
    require_law("six entries", &law, std::iter::repeat_with(draw).take(80_000));
}
