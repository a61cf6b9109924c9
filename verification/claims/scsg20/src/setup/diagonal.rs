//! Diagonal quadratics without active thresholding, for which the first two moments of every epoch of option
//! I have a closed form.
//!
//! In a coordinate with component slopes `h_z x + q_z` the direction of a step is `v = H u + g`, where `u =
//! x_t - X`, H is the mean of h over the mini-batch, and g that of the slopes at X over the batch. H does not
//! depend on u, nor do g and the length N on it. With `a = 1 - eta E H` and `A = E (1 - eta H)^2`,
//!
//! ```text
//! E u_t = -g p_t,    p_(t+1) = a p_t + eta
//! E u_t^2 = g^2 r_t, r_(t+1) = A r_t + 2 eta a p_t + eta^2
//! ```
//!
//! and with `P = E p_N`, `R = E r_N` over the geometric law of N, `E X' = E X - P E g` and
//! `E X'^2 = E X^2 - 2 P E X g + R E g^2`. The moments of g are linear in those of X. Nothing is thresholded
//! where k = d, nor, with B = n, on coordinates that start at zero and have no slope there.

use lao_verification_engine::instance::quadratics::Quadratics;

/// An epoch of option I on diagonal quadratics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Diagonal<'a> {
    pub instance: &'a Quadratics,
    /// B.
    pub batch: usize,
    /// b.
    pub mini_batch: usize,
    /// eta.
    pub step_size: f64,
}

/// `E X` and `E X^2`, one pair per coordinate.
pub(crate) type Moments = Vec<[f64; 2]>;

impl Diagonal<'_> {
    /// Moments after each of so many epochs from `start`.
    pub fn moments(&self, start: &[f64], rounds: usize) -> Vec<Moments> {
        let each: Vec<Vec<[f64; 2]>> =
            (0..start.len()).map(|i| self.coordinate(i, start[i], rounds)).collect();
        (0..rounds).map(|j| each.iter().map(|moments| moments[j]).collect()).collect()
    }

    fn coordinate(&self, i: usize, start: f64, rounds: usize) -> Vec<[f64; 2]> {
        let Diagonal { instance, batch, mini_batch, step_size: eta } = *self;
        let n = instance.len() as f64;
        let mean = |of: &dyn Fn(usize) -> f64| (0..instance.len()).map(of).sum::<f64>() / n;
        let (h, q) = (mean(&|z| instance.curvatures[z][i]), mean(&|z| instance.linear[z][i]));
        let away = |z: usize| (instance.curvatures[z][i] - h, instance.linear[z][i] - q);
        let hh = mean(&|z| away(z).0 * away(z).0);
        let hq = mean(&|z| away(z).0 * away(z).1);
        let qq = mean(&|z| away(z).1 * away(z).1);
        let spread = |size: usize| (n - size as f64) / ((n - 1.0) * size as f64);
        let (a, of_batch) = (1.0 - eta * h, spread(batch));
        let square = a * a + eta * eta * spread(mini_batch) * hh;
        let ratio = batch as f64 / mini_batch as f64;
        let g = ratio / (1.0 + ratio);
        let (mut probability, mut left, mut p, mut r) = (1.0 - g, 1.0, 0.0, 0.0);
        let (mut of_p, mut of_r) = (0.0, 0.0);
        while left > 1e-15 {
            of_p += probability * p;
            of_r += probability * r;
            left -= probability;
            probability *= g;
            r = square * r + 2.0 * eta * a * p + eta * eta;
            p = a * p + eta;
        }
        let mut moments = Vec::with_capacity(rounds);
        let (mut first, mut second) = (start, start * start);
        for _ in 0..rounds {
            let slope_square = (h * h + of_batch * hh) * second
                + 2.0 * (h * q + of_batch * hq) * first
                + q * q
                + of_batch * qq;
            second += of_r * slope_square - 2.0 * of_p * (h * second + q * first);
            first -= of_p * (h * first + q);
            moments.push([first, second]);
        }
        moments
    }
}

/// `E|X - at|^2`.
pub(crate) fn distance(moments: &Moments, at: &[f64]) -> f64 {
    moments.iter().zip(at).map(|([first, second], at)| second - 2.0 * at * first + at * at).sum()
}

/// `E f(X)`.
pub(crate) fn value(moments: &Moments, instance: &Quadratics) -> f64 {
    let slopes = instance.mean_gradient(&vec![0.0; moments.len()]);
    let parts = moments.iter().zip(instance.hessian()).zip(slopes);
    parts.map(|(([first, second], h), q)| 0.5 * h * second + q * first).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::toy::Toy;
    use lao_observation::Seed;

    #[test]
    fn on_the_toy_they_are_its_closed_form() {
        let star = [1.0, -2.0];
        let instance = Quadratics::around(&star, 50, 3.0, &Seed::root(1));
        let (batch, mini_batch, step_size) = (20, 4, 0.1);
        let toy = Toy { components: 50, batch, mini_batch, step_size, geometric: true };
        let moments = Diagonal { instance: &instance, batch, mini_batch, step_size }.moments(&[0.0; 2], 4);
        for (j, moments) in moments.iter().enumerate() {
            let exact = toy.distance(5.0, 3.0, j as u32 + 1);
            assert!((distance(moments, &star) / exact - 1.0).abs() < 1e-9);
        }
    }
}
