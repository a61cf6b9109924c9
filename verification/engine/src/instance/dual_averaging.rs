//! Dual averaging on a population: the recursion of Ito et al. with exact gradients instead of estimates.

/// The recursion `h <- h + 2 V (w_s - w*)`, `w_s = -u/max(lambda_s, |u|)` with `u = soft(h, Lambda_s)`,
/// `lambda_s = scale sqrt(s)`, `Lambda_s = sum_{j<s} rho_j`, `rho_j = penalty j^(-1/4)`. It is written from
/// the paper, independently of the production methods.
#[derive(Clone, Copy, Debug)]
pub struct DualAveraging<'a> {
    /// `V`, row by row.
    pub covariance: &'a [f64],
    /// `w*`.
    pub w_star: &'a [f64],
    /// `lambda_1`.
    pub scale: f64,
    /// `rho_0`: zero gives Algorithm 2, which averages evenly; a positive value gives Algorithm 3, which
    /// weights `w_s` by `rho_s`.
    pub penalty: f64,
}

impl DualAveraging<'_> {
    /// Returns `w_s` and the average `wbar_s` of the iterates up to `s`, at `s = rounds`.
    pub fn after(&self, rounds: u64) -> (Vec<f64>, Vec<f64>) {
        let dim = self.w_star.len();
        let (mut h, mut level, mut mass) = (vec![0.0; dim], 0.0, 0.0);
        let (mut w, mut average) = (vec![0.0; dim], vec![0.0; dim]);
        for s in 1..=rounds {
            let s = s as f64;
            w = h.iter().map(|h: &f64| -h.signum() * (h.abs() - level).max(0.0)).collect();
            let length = w.iter().map(|u| u * u).sum::<f64>().sqrt();
            let divisor = (self.scale * s.sqrt()).max(length);
            w.iter_mut().for_each(|u| *u /= divisor);
            let rho = self.penalty * s.powf(-0.25);
            let weight = if self.penalty > 0.0 { rho } else { 1.0 };
            mass += weight;
            for (average, w) in average.iter_mut().zip(&w) {
                *average += weight / mass * (w - *average);
            }
            for (h, g) in h.iter_mut().zip(self.gradient(&w)) {
                *h += g;
            }
            level += rho;
        }
        (w, average)
    }

    /// Returns `2 V (w - w*)`.
    pub fn gradient(&self, w: &[f64]) -> impl Iterator<Item = f64> {
        let error = super::minus(w, self.w_star);
        self.covariance.chunks_exact(self.w_star.len().max(1)).map(move |row| 2.0 * super::dot(row, &error))
    }
}

/// Returns the indices of the `size` largest magnitudes, ascending; ties go to the smaller index.
pub fn largest(v: &[f64], size: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&i, &j| v[j].abs().total_cmp(&v[i].abs()));
    order.truncate(size);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_finds_the_target_of_a_well_conditioned_population() {
        let rda = DualAveraging {
            covariance: &[0.5, 0.1, 0.1, 0.5],
            w_star: &[0.6, -0.3],
            scale: 0.1,
            penalty: 0.0,
        };
        let (w, average) = rda.after(20_000);
        assert!(w.iter().zip([0.6, -0.3]).all(|(w, star)| (w - star).abs() < 1e-2), "{w:?}");
        assert!(average.iter().zip([0.6, -0.3]).all(|(w, star)| (w - star).abs() < 1e-2), "{average:?}");
        assert_eq!(rda.after(1).0, [0.0, 0.0]);
    }

    #[test]
    fn ties_go_to_the_smaller_index() {
        assert_eq!(largest(&[1.0, -2.0, 2.0, 1.0], 3), [0, 1, 2]);
        assert_eq!(largest(&[0.0, 0.0], 1), [0]);
    }
}
