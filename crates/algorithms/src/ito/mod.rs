//! Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura, Kawarabayashi 2017, *Efficient Sublinear-Regret Algorithms
//! for Online Sparse Linear Regression with Limited Observation*.
//!
//! In every round a learner looks at `k'` attributes of an example, predicts its label from them alone, and
//! is then told the label. Each method is regularized dual averaging (RDA):
//! `w_t = -h / max(lambda_t, ||h||/R)`, where `h` is the sum of gradient estimates so far, `lambda_t` grows
//! like `sqrt t` and `R` is the radius of the ball that predictors come from (1 in the paper). The methods
//! differ in the attributes that they look at:
//!
//! | module | looks at |
//! |---|---|
//! | [`rda1`] (Algorithm 1) | the `k_1` largest weights and a random set beside them |
//! | [`rda2`] (Algorithm 2) | the `k'` largest averaged weights; in rounds 1, 4, 9, ... a random set |
//! | [`rda3`] (Algorithm 3) | the same, with an l1 term for attributes that depend on one another |
//! | [`greedy`] | the `k'` largest weights and nothing else |
//! | [`uniform`] | a random set |
//!
//! The loss is `(w' x - y)^2`, without a factor 1/2. [`gram`] has the estimates of the gradient.

mod dual_average;
pub mod gram;
pub mod greedy;
mod largest;
pub mod rda1;
pub mod rda2;
pub mod rda3;
pub mod reference;
mod rounds;
mod square_rounds;
pub mod uniform;

pub use dual_average::Regularization;
pub use greedy::{Greedy, GreedyParams};
pub use rda1::{Rda1, Rda1Params};
pub use rda2::{Rda2, Rda2Params};
pub use rda3::{Rda3, Rda3Params};
pub use rounds::DualAveragingRounds;
pub use square_rounds::SquareRounds;
pub use uniform::{Uniform, UniformParams};

use crate::params::{ParamError, require, require_attributes, require_dim, require_scale};
use gram::Observe;

/// Refuses dimensions, budgets and radii that no method of this paper accepts.
fn require_common(method: &'static str, dim: usize, budget: usize, radius: f64) -> Result<(), ParamError> {
    require_dim(method, 1, dim)?;
    require_attributes(method, "budget", budget, dim)?;
    require_scale(method, "radius", radius)
}

/// Refuses a random set so small that it never holds two given attributes, since then no weights make the
/// estimate unbiased.
fn require_pairs(method: &'static str, dim: usize, budget: usize) -> Result<(), ParamError> {
    let ok = Observe { dim, budget, kept: 0 }.sees_every_pair();
    require(ok, method, "budget", budget, "at least 2, since otherwise no pair of attributes is observed")
}
