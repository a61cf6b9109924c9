//! Hazan & Koren 2012, *Linear Regression with Limited Observation*.
//!
//! One attribute of an example, drawn with a probability that depends on the predictor, gives an unbiased
//! estimate of the residual; `k` more, drawn uniformly, give an unbiased estimate of the example. The product
//! of both is an unbiased gradient, whatever `d` is, and any online method may descend along it: [`aerr`]
//! (Algorithm 1) by projected steps on the l2 ball, [`aelr`] (Algorithm 2) by multiplicative steps on the l1
//! ball. Other losses need a function of the residual, for which a few more attributes suffice: [`aesvr`]
//! (Algorithm 4) for support vector regression.
//!
//! The loss of the first two is `(w.x - y)^2 / 2`, so gradients have no factor 2.

pub mod aelr;
pub mod aerr;
pub mod aesvr;
mod eg_iterate;
pub mod gen_est;
mod l2_ball_iterate;
pub mod loss;
pub mod reference;
mod size_law;
mod two_sample;

pub use crate::draws::{Horizon, Prediction};
pub use aelr::{Aelr, AelrParams};
pub use aerr::{Aerr, AerrParams};
pub use aesvr::{Aesvr, AesvrDraws, AesvrParams, SmoothedLoss};
pub use two_sample::{TwoSample, TwoSampleDraws};
