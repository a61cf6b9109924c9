//! Figure 1: AELR before AER on images of two digits, four pixels looked at per image.
//!
//! *Statement.* At every prefix of the stream AELR's test error is below AER's, both with four attributes per
//! example (AELR three by lot and one by weight); offline Lasso is the best. In the text: online Lasso with
//! as many attributes is almost ten times worse.
//!
//! Design and references: [`test_errors`]; images:
//! [`digits`](crate::setup::digits).
//!
//! *What comes out.* On MNIST, with both tuned for their last error, not all of this is expected: the claim
//! on MNIST says so, and runs where the data are. On the surrogate only the order at two prefixes is judged.

use crate::setup::test_errors::{self, Ahead, Kernel, OnSurrogate, Setup, Tuned};
use lao_algorithms::baselines::Ball;
use lao_verification_engine::claim::{Claim, Standing, Violation, mutants};

const SETUP: Setup = Setup {
    budget: 4,
    ours: Tuned { kernel: Kernel::Aelr, step: 30.0, radius: 10.0 },
    aer: Tuned { kernel: Kernel::Aer, step: 30.0, radius: 30.0 },
    online: Some(Tuned { kernel: Kernel::OnlineLasso, step: 30.0, radius: 30.0 }),
    ball: Ball::Lasso,
    penalty: 1e-3,
};

const CLAIMED: OnSurrogate = OnSurrogate { ahead: Ahead::Ours, last_error: 0.75 };

/// On the surrogate.
pub const CLAIM: Claim = Claim {
    id: "hk12-fig1",
    place: "Section 5, Figure 1, on a surrogate",
    sentence: "On the surrogate, with four attributes per image, AELR's test error is below AER's at the \
               first prefix and at the end, where it is at most three quarters of the predictor zero's.",
    formula: r"\mathrm{err}_{\mathrm{AELR}}(n) < \mathrm{err}_{\mathrm{AER}}(n)",
    design: "28 x 28 images of two classes made of blobs, 12,109 for training, 256 for testing; parameters \
             as tuned on other images. Means of the logarithm of the ratio of the two errors over fresh \
             classes (at least .05), at a 32nd of the images and at all; and the level of the last error. \
             The figure has this order. A surrogate neither shows nor refutes what the figure has on MNIST.",
    standing: Standing::reading(&[]).practical().learns(),
    mutants: &mutants(&test_errors::FAULTS),
    experiment: |cx| test_errors::on_surrogate(cx, &SETUP, &CLAIMED),
};

/// As measured: AELR ends half an error above offline Lasso and above online Lasso. Before AER it is behind
/// at first and level in the end, so that 40 splits decide about some prefixes under some seeds.
const VIOLATIONS: [Violation; 2] = [
    Violation { cell: "error above offline's at the end is at most 0.25", at_least: 0.4, at_most: 0.65 },
    Violation { cell: "below online Lasso at equal attributes", at_least: 0.0, at_most: 0.15 },
];

/// On the paper's data.
pub const MNIST: Claim = Claim {
    id: "hk12-fig1-mnist",
    place: "Section 5, Figure 1",
    sentence: "On MNIST, 3 against 5, with four pixels per image, AELR's test error is below AER's at every \
               prefix, within 0.25 of offline Lasso at the end, and below that of online Lasso at equal \
               attributes.",
    formula: r"\mathrm{err}_{\mathrm{Lasso}} < \mathrm{err}_{\mathrm{AELR}}(n) <
               \mathrm{err}_{\mathrm{AER}}(n)",
    design: test_errors::MNIST_DESIGN,
    standing: Standing::reading(&[]).refuted().practical().violated(&VIOLATIONS).open(&["below AER after"]),
    mutants: &mutants(&test_errors::INSTEAD),
    experiment: |cx| test_errors::on_mnist(cx, &SETUP),
};
