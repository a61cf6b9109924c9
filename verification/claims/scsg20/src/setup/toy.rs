//! The toy: `f_z(x) = |x - c_z|^2/2` without active thresholding, for which the whole algorithm has a closed
//! form.
//!
//! The mini-batches cancel, `v = x - c_I` with the batch's mean `c_I`, so that an epoch from X is
//! `x_N = c_I + (1-eta)^N (X - c_I)`. With `r = b/B` and `m_p = E (1-eta)^(pN)`,
//!
//! ```text
//! E[X' - x*] = m1 E[X - x*],  E D' = m2 E D + (1 - 2 m1 + m2) V,
//! V = E|c_I - x*|^2 = (n-B)/((n-1) B) sigma^2
//! ```

/// One setting of the toy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy {
    /// n.
    pub components: usize,
    /// B.
    pub batch: usize,
    /// b.
    pub mini_batch: usize,
    /// eta.
    pub step_size: f64,
    /// Whether N is geometric (option I), or B/b (option II).
    pub geometric: bool,
}

impl Toy {
    /// `E (1-eta)^(pN)`, p = 1 or 2.
    pub fn moment(&self, p: i32) -> f64 {
        let (shrink, ratio) = ((1.0 - self.step_size).powi(p), self.batch as f64 / self.mini_batch as f64);
        // The probability generating function of N at `shrink`.
        if self.geometric { 1.0 / (1.0 + ratio * (1.0 - shrink)) } else { shrink.powf(ratio.floor()) }
    }

    /// `V/sigma^2`.
    pub fn spread(&self) -> f64 {
        let (n, batch) = (self.components as f64, self.batch as f64);
        (n - batch) / ((n - 1.0) * batch)
    }

    /// `E D` after `rounds` epochs from `start`, `sigma^2 = variance`.
    pub fn distance(&self, start: f64, variance: f64, rounds: u32) -> f64 {
        let (m1, m2) = (self.moment(1), self.moment(2));
        (0..rounds).fold(start, |d, _| m2 * d + (1.0 - 2.0 * m1 + m2) * self.spread() * variance)
    }

    /// The share of V that remains for ever.
    pub fn floor(&self) -> f64 {
        let (m1, m2) = (self.moment(1), self.moment(2));
        (1.0 - 2.0 * m1 + m2) / (1.0 - m2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_those_of_the_closed_form() {
        let floor = |ratio: usize, eta: f64| {
            let toy =
                Toy { components: 10_000, batch: ratio, mini_batch: 1, step_size: eta, geometric: true };
            toy.floor()
        };
        for (ratio, eta, phi) in [
            (32, 1.0 / 64.0, 0.339),
            (63, 1.0 / 64.0, 0.5),
            (100, 1.0 / 128.0, 0.441),
            (1000, 1.0 / 1024.0, 0.494),
        ] {
            assert!((floor(ratio, eta) - phi).abs() < 6e-3, "{ratio}, {eta}: {}", floor(ratio, eta));
        }
    }

    #[test]
    fn moments_are_sums_over_the_law_of_n() {
        let toy = Toy { components: 400, batch: 100, mini_batch: 10, step_size: 0.3, geometric: true };
        let g: f64 = 10.0 / 11.0;
        let m2: f64 = (0..2000).map(|j| (1.0 - g) * g.powi(j) * 0.7_f64.powi(2 * j)).sum();
        assert!((toy.moment(2) - m2).abs() < 1e-14);
    }
}
