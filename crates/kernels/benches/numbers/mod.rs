//! Numbers to compute with. Their quality does not matter, only that no branch can be predicted from them.

/// Roughly standard normal numbers: sums of twelve from a linear congruential generator.
pub fn normal(mut seed: u64, n: usize) -> Vec<f64> {
    let mut uniform = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}
