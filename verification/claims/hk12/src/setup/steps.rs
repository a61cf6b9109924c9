//! Steps of the production learners along gradients of one's own choice.
//!
//! With every attribute drawn once, `x~ = x`; and the label can be chosen so that the residual estimate is 1.
//! Then the gradient estimate of AERR and AELR is the example itself.

use lao_algorithms::hazan_koren::{Aelr, Aerr, TwoSampleDraws};
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Told};

/// Tells the learner what it asked of the example `(x, y)`.
pub(crate) fn tell<L: Learner>(learner: &mut L, ask: &Ask, x: &[f64], y: f64) -> Result<(), LearnError> {
    let Request::Values { attributes, .. } = ask.request() else { return Ok(()) };
    let mut block = BlockBuf::new();
    block.reset(attributes.len(), 1);
    for (c, &j) in attributes.iter().enumerate() {
        block.column_mut(c)[0] = x[j as usize];
    }
    block.labels_mut()[0] = y;
    block.set_rows(1);
    learner.tell(Told::Values(block.view(attributes)))
}

/// AERR's step from its iterate along `g`; the learner must make as many uniform draws as there are
/// attributes.
pub(crate) fn aerr_along(learner: &mut Aerr, g: &[f64]) -> Result<(), LearnError> {
    let w = learner.iterate();
    let j = heaviest(&w);
    let square: f64 = w.iter().map(|w| w * w).sum();
    let inner = if w[j] == 0.0 { 0.0 } else { square * g[j] / w[j] };
    let mut ask = Ask::new(w.len());
    learner.ask_for(&every(w.len(), j), &mut ask);
    tell(learner, &ask, g, inner - 1.0)
}

/// AELR's step from its iterate along `g`, clipped by the learner; as many uniform draws as attributes.
pub(crate) fn aelr_along(learner: &mut Aelr, g: &[f64]) -> Result<(), LearnError> {
    let w = learner.iterate();
    let j = heaviest(&w);
    let norm: f64 = w.iter().map(|w| w.abs()).sum();
    let inner = if w[j] == 0.0 { 0.0 } else { norm * w[j].signum() * g[j] };
    let mut ask = Ask::new(w.len());
    learner.ask_for(&every(w.len(), j), &mut ask);
    tell(learner, &ask, g, inner - 1.0)
}

fn heaviest(w: &[f64]) -> usize {
    (0..w.len()).max_by(|&i, &j| w[i].abs().total_cmp(&w[j].abs())).unwrap_or(0)
}

fn every(dim: usize, weighted: usize) -> TwoSampleDraws {
    TwoSampleDraws { uniform: (0..dim as u32).collect(), weighted: weighted as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
    use lao_kernels::SparseVector;

    #[test]
    fn steps_go_where_they_are_sent() {
        let g = [0.5, -2.0, 0.25];
        let start = Some(SparseVector::new(3, vec![0, 2], vec![0.75, -0.5]).unwrap());
        let params = AerrParams {
            step_size: 0.125,
            start,
            ..AerrParams::from_theorem(Horizon { dim: 3, draws: 3, radius: 9.0, examples: 1 })
        };
        let mut aerr = params.build().unwrap();
        aerr_along(&mut aerr, &g).unwrap();
        for (w, expected) in aerr.iterate().iter().zip([0.75 - 0.0625, 0.25, -0.5 - 0.03125]) {
            assert!((w - expected).abs() < 1e-14);
        }

        let params = AelrParams {
            step_size: 0.75,
            ..AelrParams::from_theorem(Horizon { dim: 3, draws: 3, radius: 2.0, examples: 1 })
        };
        let mut aelr = params.build().unwrap();
        aelr_along(&mut aelr, &g).unwrap();
        aelr_along(&mut aelr, &g).unwrap();
        // Clipped at 4/3; both steps alike.
        let u = [-0.75, 2.0, -0.375f64];
        let total: f64 = u.iter().map(|u| 2.0 * u.cosh()).sum();
        for (w, u) in aelr.iterate().iter().zip(u) {
            assert!((w - 2.0 * 2.0 * u.sinh() / total).abs() < 1e-14);
        }
    }
}
