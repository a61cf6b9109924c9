//! Online Ridge and Lasso with full information: what limited observation is measured against.
//!
//! *Source*: Zinkevich 2003 (projected gradient steps on the l2 ball) and Kivinen & Warmuth 1997 (EG+-, multiplicative steps
//! on the l1 ball); the full-information methods in Figures 1 and 2 of Hazan & Koren 2012, whose AERR and AELR they are
//! with exact gradients.
//!
//! *Setting*: all attributes of every example, loss `(w' x - y)^2 / 2`, predictors of l2 norm (Ridge) or l1 norm (Lasso) at
//! most `B`.
//!
//! *Notation*: `B` -> `radius`, `eta` -> `step_size`, `g = (w' x - y) x`.
//!
//! *Update*:
//!
//! ```text
//! Ridge:  w <- P(w - eta g),   P the projection on |w|_2 <= B
//! Lasso:  u <- u - eta g,      w = B sinh(u) / |cosh(u)|_1
//! ```
//!
//! *Departures*: the estimate is the current `w`, not the average of all.
//!
//! *Reference*: [`OnlineReference`](super::reference::OnlineReference).
//!
//! *Claims*: `hk12-fig1`, `hk12-fig2`, `hk12-table1-lasso`.

use crate::params::{ParamError, require, require_step};
use lao_kernels::{SparseVector, SparseView, project_l2_ball};
use lao_observation::{Ask, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// Which ball predictors come from, and with it how steps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ball {
    /// `|w|_2 <= B`: projected gradient steps.
    Ridge,
    /// `|w|_1 <= B`: multiplicative steps.
    Lasso,
}

/// Parameters of [`Online`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// Ridge or Lasso.
    pub ball: Ball,
    /// `B > 0`, in units of label per unit of attribute.
    pub radius: f64,
    /// `eta > 0`.
    pub step_size: f64,
}

impl OnlineParams {
    /// The step size that balances the two terms of the regret bound for `m = examples`: with `|x|_2 <= 1` and `|y| <= B`
    /// gradients are at most `2B`, so `eta = 1/sqrt(m)` for Ridge; with `|x|_inf <= 1`, `eta = sqrt(log(2d)/m)/(2B)`
    /// for Lasso.
    pub fn from_theorem(dim: usize, ball: Ball, radius: f64, examples: u64) -> Self {
        let m = examples as f64;
        let step_size = match ball {
            Ball::Ridge => 1.0 / m.sqrt(),
            Ball::Lasso => ((2.0 * dim as f64).ln() / m).sqrt() / (2.0 * radius),
        };
        OnlineParams { dim, ball, radius, step_size }
    }

    /// For standardised attributes, whose examples have `|x|_2^2` near `d`: `eta = step_size / d` for Ridge and
    /// `step_size / (B d)` for Lasso; `step_size` is 1/4 for weakly correlated attributes.
    pub fn practical(dim: usize, ball: Ball, radius: f64, step_size: f64) -> Self {
        let unit = match ball {
            Ball::Ridge => 1.0,
            Ball::Lasso => radius,
        };
        OnlineParams { dim, ball, radius, step_size: step_size / (unit * dim as f64) }
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn check(self) -> Result<Online, ParamError> {
        let OnlineParams { dim, ball, radius, step_size } = self;
        let name = match ball {
            Ball::Ridge => "online Ridge",
            Ball::Lasso => "online Lasso",
        };
        require(dim >= 1 && dim <= u32::MAX as usize, name, "dim", dim, "1..2^32")?;
        require(radius.is_finite() && radius > 0.0, name, "radius", radius, "a positive finite number")?;
        require_step(name, step_size)?;
        let zeros = || vec![0.0; dim];
        Ok(Online { params: self, w: zeros(), u: zeros(), step: zeros(), done: 0, sparse: OnceCell::new() })
    }
}

/// Online Ridge or Lasso. Costs O(d) per example.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Online {
    params: OnlineParams,
    w: Vec<f64>,
    /// Logarithms of the positive weights, for Lasso.
    u: Vec<f64>,
    step: Vec<f64>,
    done: u64,
    #[serde(skip)]
    sparse: OnceCell<SparseVector>,
}

impl Online {
    /// `w_t`, all d coordinates.
    pub fn iterate(&self) -> Vec<f64> {
        self.w.clone()
    }
}

impl Learner for Online {
    fn dim(&self) -> usize {
        self.w.len()
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        ask.values(1).extend(0..self.w.len() as u32);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let not_asked = |told| LearnError::NotAsked { told, asked: "all attribute values of one example" };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        let Some((seen, label)) = block.single().filter(|(seen, _)| seen.values.len() == self.w.len()) else {
            return Err(not_asked("other attribute values"));
        };
        let OnlineParams { ball, radius, step_size, .. } = self.params;
        let residual = self.w.iter().zip(seen.values).map(|(w, x)| w * x).sum::<f64>() - label;
        let from = match ball {
            Ball::Ridge => &self.w,
            Ball::Lasso => &self.u,
        };
        for ((next, from), x) in self.step.iter_mut().zip(from).zip(seen.values) {
            *next = from - step_size * residual * x;
        }
        if let Some(attribute) = self.step.iter().position(|value| !value.is_finite()) {
            return Err(LearnError::Diverged {
                update: self.done + 1,
                attribute,
                value: self.step[attribute],
            });
        }
        match ball {
            Ball::Ridge => {
                // The step is finite, so the projection succeeds.
                let _ = project_l2_ball(&mut self.step, radius);
                std::mem::swap(&mut self.w, &mut self.step);
            }
            Ball::Lasso => {
                std::mem::swap(&mut self.u, &mut self.step);
                let largest = self.u.iter().fold(0.0_f64, |largest, u| largest.max(u.abs()));
                let mut total = 0.0;
                for (w, u) in self.w.iter_mut().zip(&self.u) {
                    let (plus, minus) = ((u - largest).exp(), (-u - largest).exp());
                    *w = plus - minus;
                    total += plus + minus;
                }
                self.w.iter_mut().for_each(|w| *w *= radius / total);
            }
        }
        self.done += 1;
        self.sparse.take();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.sparse.get_or_init(|| SparseVector::from_dense(&self.w)).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
