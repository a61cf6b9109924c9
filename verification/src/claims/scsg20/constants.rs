//! The constants of Theorem 1, as printed and as corrected.

/// What a rate depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    /// eta.
    pub step_size: f64,
    /// L.
    pub smoothness: f64,
    /// rho.
    pub convexity: f64,
    /// b/B.
    pub ratio: f64,
    /// alpha.
    pub alpha: f64,
}

impl Constants {
    /// Printed `theta`.
    pub fn printed_rate(&self) -> f64 {
        let Constants { step_size: eta, smoothness: l, convexity: rho, ratio, alpha } = *self;
        let progress = eta * (0.5 * rho - (2.0 * rho * l + 14.0 * l * l) * eta);
        let beta = (ratio - alpha) / (1.0 + alpha) + eta * (rho - (2.0 * rho * l + 4.0 * l * l) * eta);
        1.0 - progress / beta
    }

    /// Printed `gamma`.
    pub fn printed_floor(&self) -> f64 {
        let Constants { step_size: eta, smoothness: l, convexity: rho, .. } = *self;
        4.0 * eta / (0.5 * rho - (2.0 * rho * l + 14.0 * l * l) * eta)
    }

    /// Corrected rate, `1 - (eta rho/2)/((r - alpha)/(1 + alpha) + eta rho)`.
    pub fn rate(&self) -> f64 {
        let Constants { step_size, convexity, ratio, alpha, .. } = *self;
        let decay = step_size * convexity;
        1.0 - 0.5 * decay / ((ratio - alpha) / (1.0 + alpha) + decay)
    }

    /// Corrected floor, `(8/rho^2) ((1 + eta rho) G + (1 + 2 eta rho) V)` with V the variance of a batch gradient at x*.
    pub fn floor(&self, residual: f64, variance: f64) -> f64 {
        let (rho, decay) = (self.convexity, self.step_size * self.convexity);
        8.0 / (rho * rho) * ((1.0 + decay) * residual + (1.0 + 2.0 * decay) * variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_constants_at_known_places() {
        let at =
            |eta: f64| Constants { step_size: eta, smoothness: 1.0, convexity: 1.0, ratio: 0.01, alpha: 0.0 };
        assert!((at(1.0 / 64.0).printed_floor() - 0.25).abs() < 1e-12);
        assert!((at(1.0 / 1024.0).printed_floor() - 0.00806).abs() < 1e-5);
        // kappa = 1 at the largest step: no progress is claimed.
        assert!((at(1.0 / 32.0).printed_rate() - 1.0).abs() < 1e-12);
    }
}
