//! References of AERR, AELR and AESVR.

use super::gen_est::GenEstDraws;
use super::{AelrParams, AerrParams, AesvrParams, Prediction};
use crate::params::ParamError;
use crate::reference::{Drawn, Mismatch, Reference, Seen, dot, exponentiated, l1, observed_part, project_l2};

/// Returns `x~ = (d/k) sum_r x[i_r] e_{i_r}`.
pub(crate) fn direction(x: &[f64], uniform: &[u32]) -> Vec<f64> {
    let mut direction = vec![0.0; x.len()];
    let weight = x.len() as f64 / uniform.len() as f64;
    uniform.iter().for_each(|&i| direction[i as usize] += weight * x[i as usize]);
    direction
}

/// Splits the attributes asked for into `k` uniform draws and `weighted` draws by weight.
pub(crate) fn split<'a>(
    seen: &Seen<'a>,
    k: usize,
    weighted: usize,
) -> Result<(&'a [u32], &'a [u32]), Mismatch> {
    let expected = format_args!("asks for {k} uniform draws and {weighted} by weight").to_string();
    seen.require(seen.asked.len() == k + weighted, expected)?;
    Ok(seen.asked.split_at(k))
}

/// Returns the average of the iterates so far, or `w` before the first example.
fn average(sum: &[f64], count: u64, w: &[f64]) -> Vec<f64> {
    if count == 0 { w.to_vec() } else { sum.iter().map(|sum| sum / count as f64).collect() }
}

/// The reference of [`Aerr`](super::Aerr).
#[derive(Clone, Debug)]
pub struct AerrReference {
    params: AerrParams,
    w: Vec<f64>,
    /// `w_1 + .. + w_m`.
    sum: Vec<f64>,
    m: u64,
}

impl AerrReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`AerrParams::build`].
    pub fn new(params: &AerrParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let sum = vec![0.0; params.dim];
        let w = params.start.as_ref().map_or(sum.clone(), |start| start.view().to_dense());
        Ok(AerrReference { params: params.clone(), w, sum, m: 0 })
    }

    /// Returns `w_t`.
    pub fn iterate(&self) -> &[f64] {
        &self.w
    }

    /// Returns `|w|_2^2 x_j / w_j`; 0 at `w = 0`.
    fn inner_product(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        let (_, weighted) = split(seen, self.params.draws, 1)?;
        let (j, squares) = (weighted[0] as usize, dot(&self.w, &self.w));
        Ok(if self.w[j] == 0.0 { 0.0 } else { squares * seen.x[j] / self.w[j] })
    }
}

impl Reference for AerrReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let AerrParams { draws, step_size, radius, .. } = self.params;
        let phi = self.inner_product(seen)? - seen.label;
        let (uniform, _) = split(seen, draws, 1)?;
        self.m += 1;
        self.sum.iter_mut().zip(&self.w).for_each(|(sum, w)| *sum += w);
        for (w, x) in self.w.iter_mut().zip(direction(seen.x, uniform)) {
            *w -= step_size * phi * x;
        }
        project_l2(&mut self.w, radius);
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        average(&self.sum, self.m, &self.w)
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let inner_product = self.inner_product(seen)?;
        Ok(match self.params.prediction {
            Prediction::Unbiased => inner_product,
            Prediction::Observed => observed_part(&self.w, seen),
        })
    }
}

/// The reference of [`Aelr`](super::Aelr).
#[derive(Clone, Debug)]
pub struct AelrReference {
    params: AelrParams,
    /// `u`, where `z+- = exp(+-u)`.
    u: Vec<f64>,
    w: Vec<f64>,
    /// `w_1 + .. + w_m`.
    sum: Vec<f64>,
    m: u64,
}

impl AelrReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`AelrParams::build`].
    pub fn new(params: &AelrParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let zeros = vec![0.0; params.dim];
        Ok(AelrReference { params: params.clone(), u: zeros.clone(), w: zeros.clone(), sum: zeros, m: 0 })
    }

    /// Returns `w_t`.
    pub fn iterate(&self) -> &[f64] {
        &self.w
    }

    /// Returns `|w|_1 sign(w_j) x_j`; 0 at `w = 0`.
    fn inner_product(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        let (_, weighted) = split(seen, self.params.draws, 1)?;
        let j = weighted[0] as usize;
        Ok(if self.w[j] == 0.0 { 0.0 } else { l1(&self.w) * self.w[j].signum() * seen.x[j] })
    }
}

impl Reference for AelrReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let AelrParams { draws, step_size, radius, .. } = self.params;
        let phi = self.inner_product(seen)? - seen.label;
        let (uniform, _) = split(seen, draws, 1)?;
        self.m += 1;
        self.sum.iter_mut().zip(&self.w).for_each(|(sum, w)| *sum += w);
        for (u, x) in self.u.iter_mut().zip(direction(seen.x, uniform)) {
            *u -= step_size * (phi * x).clamp(-1.0 / step_size, 1.0 / step_size);
        }
        self.w = exponentiated(&self.u, radius);
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        average(&self.sum, self.m, &self.w)
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let inner_product = self.inner_product(seen)?;
        Ok(match self.params.prediction {
            Prediction::Unbiased => inner_product,
            Prediction::Observed => observed_part(&self.w, seen),
        })
    }
}

/// The reference of [`Aesvr`](super::Aesvr).
#[derive(Clone, Debug)]
pub struct AesvrReference {
    params: AesvrParams,
    w: Vec<f64>,
    /// `w_1 + .. + w_m`.
    sum: Vec<f64>,
    m: u64,
}

impl AesvrReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`AesvrParams::build`].
    pub fn new(params: &AesvrParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let zeros = vec![0.0; params.dim];
        Ok(AesvrReference { params: params.clone(), w: zeros.clone(), sum: zeros, m: 0 })
    }

    /// Returns `w_t`.
    pub fn iterate(&self) -> &[f64] {
        &self.w
    }

    /// Returns `GenEst(w, x/eps, y/eps)` for the series of erf, as printed in Procedure 3.
    fn gen_est(&self, x: &[f64], y: f64, draws: &GenEstDraws) -> f64 {
        let (eps, repetitions) = (self.params.smoothing, f64::from(self.params.repetitions));
        let n = draws.factors;
        let copies = if f64::from(n) <= 2.0 * repetitions.log2() { 1.0 } else { repetitions };
        let squares = dot(&self.w, &self.w);
        let mut phi = 2f64.powi(n.min(5000) as i32 + 1) * coefficient_of_erf(n);
        for r in 0..if phi == 0.0 { 0 } else { n as usize } {
            let mut theta = -y / eps;
            for &j in draws.attributes.iter().skip(r * copies as usize).take(copies as usize) {
                let (x, w) = (x[j as usize], self.w[j as usize]);
                theta += if w == 0.0 { 0.0 } else { squares * x / eps / w / copies };
            }
            phi *= theta;
        }
        phi
    }
}

/// Returns `(2/sqrt(pi)) (-1)^m / (m! (2m+1))` for `n = 2m + 1`, and 0 for even `n`.
fn coefficient_of_erf(n: u32) -> f64 {
    let m = n / 2;
    if n.is_multiple_of(2) || m > 170 {
        // 171! is infinite in double precision.
        return 0.0;
    }
    let factorial: f64 = (1..=m).map(f64::from).product();
    let sign = if m.is_multiple_of(2) { 1.0 } else { -1.0 };
    std::f64::consts::FRAC_2_SQRT_PI * sign / (factorial * f64::from(n))
}

impl Reference for AesvrReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let AesvrParams { dim, draws, step_size, radius, insensitivity: delta, .. } = self.params;
        seen.fits(dim)?;
        let Drawn::Estimates([plus, minus]) = seen.drawn else {
            return seen.other_draws("two sequences for GenEst");
        };
        let estimates = [&plus.attributes[..], &minus.attributes].concat();
        let (uniform, weighted) = split(seen, draws, estimates.len())?;
        seen.require(weighted == estimates, format_args!("draws {estimates:?} for its estimates"))?;

        let of = |y, draws| self.gen_est(seen.x, y, draws);
        let phi = (of(seen.label + delta, plus) + of(seen.label - delta, minus)) / 2.0;
        self.m += 1;
        self.sum.iter_mut().zip(&self.w).for_each(|(sum, w)| *sum += w);
        for (w, x) in self.w.iter_mut().zip(direction(seen.x, uniform)) {
            *w -= step_size * phi * x;
        }
        project_l2(&mut self.w, radius);
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        average(&self.sum, self.m, &self.w)
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        Ok(observed_part(&self.w, seen))
    }
}
