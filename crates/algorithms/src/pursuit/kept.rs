//! What a model keeps of Pursuit beside its coefficients.

use super::Pursuit;

impl Pursuit {
    /// Returns the mean of attribute `j` over the examples in which it was observed; 0 if there is no such
    /// attribute.
    pub fn mean(&self, j: u32) -> f64 {
        self.moments.mean.get(j as usize).copied().unwrap_or(0.0)
    }

    /// Returns the range beyond which values of attribute `j` count as if they lay at its end.
    pub fn range(&self, j: u32) -> (f64, f64) {
        if (j as usize) < self.params.dim { self.moments.range(j) } else { (f64::MIN, f64::MAX) }
    }

    /// Returns the offset and the slope of the link: [`probability`](Self::probability) is
    /// `1 / (1 + exp(-(offset + slope p)))` for the prediction p.
    pub fn link(&self) -> [f64; 2] {
        self.link.line()
    }
}
