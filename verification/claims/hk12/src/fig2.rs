//! Figure 2: AERR before AER on images of two digits, 56 pixels looked at per image.
//!
//! *Statement.* At every prefix of the stream AERR's test error is below AER's, both with 56 attributes per
//! example (AERR 55 by lot and one by weight); offline Ridge is the best at the end.
//!
//! Design and references: [`test_errors`]; images:
//! [`digits`](crate::setup::digits).
//!
//! *What comes out.* Not this: with 28 draws for the product `w'x` where AERR has one, AER as reconstructed
//! is below AERR. The errors stand in the report. Control: [`test_errors`].

use crate::setup::test_errors::{self, Kernel, Setup, Tuned};
use lao_algorithms::baselines::Ball;
use lao_verification_engine::claim::{Claim, Standing, mutants};

const SETUP: Setup = Setup {
    budget: 56,
    ours: Tuned { kernel: Kernel::Aerr, step: 0.03, radius: 1.0 },
    aer: Tuned { kernel: Kernel::Aer, step: 3.0, radius: 10.0 },
    online: None,
    ball: Ball::Ridge,
    penalty: 1e-2,
};

/// On the surrogate.
pub const CLAIM: Claim = Claim {
    id: "hk12-fig2",
    place: "Section 5, Figure 2, on a surrogate",
    sentence: "With 56 attributes per image, AERR's test error is below AER's at every prefix, and within \
               0.25 of offline Ridge at the end.",
    formula: r"\mathrm{err}_{\mathrm{Ridge}} < \mathrm{err}_{\mathrm{AERR}}(n) <
               \mathrm{err}_{\mathrm{AER}}(n)",
    design: test_errors::SURROGATE_DESIGN,
    standing: Standing::printed(&[]).practical(),
    mutants: &mutants(&test_errors::CONTROL),
    experiment: |cx| test_errors::on_surrogate(cx, &SETUP),
};

/// On the paper's data.
pub const MNIST: Claim = Claim {
    id: "hk12-fig2-mnist",
    place: "Section 5, Figure 2",
    sentence: "On MNIST, 3 against 5, with 56 pixels per image, AERR's test error is below AER's at every \
               prefix, and within 0.25 of offline Ridge at the end.",
    design: test_errors::MNIST_DESIGN,
    experiment: |cx| test_errors::on_mnist(cx, &SETUP),
    ..CLAIM
};
