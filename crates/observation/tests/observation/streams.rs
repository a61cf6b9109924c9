//! Streams of named seeds: no two share a word, and aligned words of two are independent.

use crate::laws::{require_law, uniform};
use lao_observation::Seed;
use rand::Rng as _;
use std::collections::BTreeSet;

/// The number of words that are compared of each stream.
const WORDS: usize = 10_000;

/// Returns seeds as the project uses them: purposes of one trial, trials of one purpose, names and numbers
/// that look alike, and children at several depths.
fn seeds() -> Vec<Seed> {
    let root = Seed::root(42);
    let claim = root.child("claim").child("ms18-thm41");
    let mut seeds = vec![root.clone(), root.child("claim"), claim.clone()];
    seeds.extend((0..8).map(Seed::root).filter(|seed| *seed != root));
    for purpose in
        ["data", "learner", "solver", "algorithm", "row order", "split", "noise", "target", "", "0", "1"]
    {
        seeds.push(claim.child(purpose));
        seeds.push(claim.trial(0).child(purpose));
        seeds.push(claim.child(purpose).trial(0));
        seeds.push(claim.child(purpose).child(purpose));
    }
    seeds.extend((0..40).map(|trial| claim.trial(trial)));
    seeds.extend([u64::MAX, 1 << 32, 1 << 63].map(|trial| claim.trial(trial)));
    seeds.extend((0..10).map(|trial| claim.trial(0).trial(trial)));
    seeds.extend(["a", "ab", "abc"].map(|name| root.child(name)));
    seeds.extend([root.child("a").child("bc"), root.child("ab").child("c")]);
    let mut nested = root;
    for _ in 0..8 {
        nested = nested.child("child");
        seeds.push(nested.clone());
    }
    seeds
}

/// Among 10^6 independent words, two are equal with probability 3e-8.
#[test]
fn no_two_streams_share_a_word() {
    let seeds = seeds();
    assert!(seeds.len() > 100);
    let mut words: Vec<u64> = Vec::with_capacity(seeds.len() * WORDS);
    for seed in &seeds {
        let mut rng = seed.rng();
        words.extend((0..WORDS).map(|_| rng.next_u64()));
    }
    words.sort_unstable();
    let twice = words.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(twice, 0);
}

#[test]
fn hashed_words_of_all_seeds_differ_from_each_other() {
    let words: Vec<u64> = seeds().iter().flat_map(Seed::words).collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
}

/// Draws from the streams of two seeds in turn, so that pairs compare words of one place.
#[test]
fn aligned_words_of_trials_purposes_and_children_are_independent() {
    let claim = Seed::root(42).child("claim");
    let trials = [claim.trial(0), claim.trial(1)];
    let purposes = [claim.trial(0).child("data"), claim.trial(0).child("learner")];
    let depths = [claim.child("x"), claim.child("x").child("x")];
    for (what, [a, b]) in [("trials", trials), ("purposes", purposes), ("depths", depths)] {
        for shift in [0, 31, 60] {
            let (mut a, mut b) = (a.rng(), b.rng());
            let words = (0..40_000).flat_map(|_| [a.next_u64(), b.next_u64()]);
            let draws = words.map(|word| word >> shift & 15).collect::<Vec<_>>();
            require_law(&format!("{what}, bits from {shift}"), &uniform(0..16), draws);
        }
    }
}
