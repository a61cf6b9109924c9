//! Sparse linear learners under limited attribute observation.
//!
//! Every method is a [`Learner`](lao_observation::Learner): it asks for attributes and is told values. A
//! method's parameters are a struct with public fields; `build()` checks them once and returns the learner.
//! Two constructors give parameters: `from_theorem` returns the constants of the paper's theorem, corrected
//! where the printed ones are wrong; `practical` returns what works on real budgets, derived from a [`Task`].
//!
//! ```
//! use lao_algorithms::pursuit::PursuitParams;
//! use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
//! use lao_kernels::SparseVector;
//! use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
//!
//! // y = x_7 - x_421 + noise; of 500 attributes, 20 may be observed per example.
//! let target = SparseVector::new(500, vec![7, 421], vec![1.0, -1.0])?;
//! let source = Virtual::new(Rademacher::new(500)?, target, Noise::Gaussian(0.5), &Seed::root(1))?;
//! let mut learner = PursuitParams::within(500, 20).build()?;
//! let mut session = Session::new(source, Budget::PerExample(20), &Seed::root(2));
//! session.run(&mut learner, SessionLimit::after_examples(10_000), |_, _| {})?;
//! assert_eq!(learner.support(), [7, 421]);
//! assert!((learner.coefficients().get(7) - 1.0).abs() < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | folder | paper |
//! |---|---|
//! | [`hazan_koren`] | Hazan & Koren 2012: AERR, AELR, AESVR |
//! | [`ito`] | Ito et al. 2017: Algorithms 1 to 3, greedy and uniform choice |
//! | [`baselines`] | the methods that they are compared with: AER, Dantzig, FKK, OMP, Ridge and Lasso, offline and online |
//! | [`murata_suzuki`] | Murata & Suzuki 2018: Exploration, Exploitation, Hybrid, and the naive method of their Section 3.1 |
//! | [`pursuit`] | this project: Pursuit, which needs nothing but the budget |
//! | [`phases`] | this project: Pursuit's search, and then the best attributes complete, for a line or for trees |
//! | [`safeguard`] | this project: any method on raw columns, without a step size to choose |
//! | [`thresholding`] | Liang et al. 2020: GD-HT, SG-HT, HSG-HT, SVRG-HT, SCSG-HT on finite sums |
//!
//! | feature | what it adds | brings |
//! |---|---|---|
//! | `linear-programs` | [Dantzig](baselines::dantzig), which no parameters build without it | microlp |
//!
//! [`registry::METHODS`] lists every method; tests, benches and reports iterate over it. Each method has a
//! [reference](reference::Reference), an implementation in a few dense lines that read like the paper; the
//! tests compare the learner with it.

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod baselines;
mod blocks;
mod bug;
mod draws;
pub mod full_information;
pub mod hazan_koren;
pub mod ito;
mod money;
pub mod murata_suzuki;
pub mod params;
pub mod phases;
pub mod pursuit;
pub mod reference;
pub mod registry;
pub mod safeguard;
pub mod schedule;
mod state;
mod tables;
mod task;
pub mod thresholding;
pub mod trees;

pub use money::Money;
pub use params::ParamError;
pub use registry::{Accuracy, AnyLearner, AnyParams, Growth, METHODS, Method, ModelSize};
pub use safeguard::Safeguarded;
pub use schedule::{BatchSizes, StepSizes};
pub use tables::{Inspect, TableLearner, TableMethod, TableTask};
pub use task::Task;
