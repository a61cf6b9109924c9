//! Draws against the law that they must have, and consecutive draws against independence.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// The quantile of the normal law that is exceeded with probability 1e-6.
const RARE: f64 = 4.753_42;

/// The smallest expected count of a cell; smaller cells are counted together.
const LEAST: f64 = 5.0;

/// Returns the value that chi-square exceeds with probability 1e-6, by Wilson and Hilferty's approximation.
fn quantile(degrees: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees);
    degrees * (1.0 - part + RARE * part.sqrt()).powi(3)
}

/// Panics if counts differ from the expected ones by more than chance allows.
fn require_counts(what: &str, cells: impl Iterator<Item = (f64, f64)>) {
    let (mut statistic, mut degrees, mut small) = (0.0, -1.0, (0.0, 0.0));
    let mut add = |(count, expected): (f64, f64)| {
        statistic += (count - expected) * (count - expected) / expected;
        degrees += 1.0;
    };
    for (count, expected) in cells {
        if expected < LEAST {
            small = (small.0 + count, small.1 + expected);
        } else {
            add((count, expected));
        }
    }
    if small.1 >= LEAST {
        add(small);
    }
    if degrees > 0.0 {
        assert!(statistic < quantile(degrees), "{what}: chi-square {statistic} at {degrees} degrees");
    }
}

/// Panics unless the draws have this law, whose probabilities sum to 1, and each draw is independent of the
/// one before it.
pub fn require_law<T: Ord + Debug>(what: &str, law: &[(T, f64)], draws: impl IntoIterator<Item = T>) {
    let total: f64 = law.iter().map(|(_, p)| p).sum();
    assert!((total - 1.0).abs() < 1e-12, "{what}: the law sums to {total}");
    let places: BTreeMap<&T, usize> =
        law.iter().enumerate().map(|(place, (value, _))| (value, place)).collect();
    assert_eq!(places.len(), law.len(), "{what}: the law names a value twice");
    let (size, mut counts) = (law.len(), vec![0_u32; law.len()]);
    // Pairs that begin at even places, and at odd ones. The pairs of each kind do not overlap.
    let (mut pairs, mut last, mut drawn) = ([vec![0_u32; size * size], vec![0; size * size]], None, 0);
    for value in draws {
        let Some(&place) = places.get(&value) else { panic!("{what}: {value:?} is impossible") };
        counts[place] += 1;
        if let Some(last) = last.replace(place) {
            pairs[drawn % 2][last * size + place] += 1;
        }
        drawn += 1;
    }
    let n = drawn as f64;
    require_counts(what, counts.iter().zip(law).map(|(&count, (_, p))| (f64::from(count), n * p)));
    for (kind, pairs) in pairs.iter().enumerate() {
        let made = pairs.iter().sum::<u32>();
        let expected = |at: usize| f64::from(made) * law[at / size].1 * law[at % size].1;
        let cells = pairs.iter().enumerate().map(|(at, &count)| (f64::from(count), expected(at)));
        require_counts(&format!("{what}, pairs of kind {kind}"), cells);
    }
}

/// Returns the uniform law over these values.
pub fn uniform<T>(values: impl IntoIterator<Item = T>) -> Vec<(T, f64)> {
    let values: Vec<T> = values.into_iter().collect();
    let p = 1.0 / values.len() as f64;
    values.into_iter().map(|value| (value, p)).collect()
}
