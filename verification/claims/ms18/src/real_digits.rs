//! Section 6 on `digits`: 8 x 8 pixels, 16 of them observed, the digit as a number.
//!
//! Statement, design and mutants: [`real`]. The target is 0.7 of the error of the mean,
//! `s = 8`, `s' = 16`. The advantage shrinks towards the error that both reach in the end, where it is gone.
//! How level they are there is noted: single runs vary too much to judge it.

use crate::setup::real::{self, Setup, Tuned};
use lao_verification_engine::claim::{Claim, Standing, mutants};
use lao_verification_engine::context::Context;

const SETUP: Setup = Setup {
    dataset: "digits",
    prepare: Ok,
    clip: None,
    sparsity: 8,
    budget: 16,
    stream: 40_000,
    targets: [0.85, 0.7],
    judges_the_end: false,
    exploration: Tuned { step_size: 0.12, first: 10.0, growth: 1.15, exploit: (0, 1.0) },
    hybrid: Tuned { step_size: 0.12, first: 4.0, growth: 1.5, exploit: (3, 1.0) },
};

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    real::experiment(cx, &SETUP)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-real-digits",
    place: "Section 6, on other real data",
    sentence: "On the digits data Hybrid reaches 0.7 of the error of the mean after fewer examples than \
               Exploration; at the end of the stream both are below 0.85.",
    formula: r"n_{\mathrm{Hybrid}}(\mathrm{target}) < n_{\mathrm{Exploration}}(\mathrm{target}), \qquad
               \mathrm{MSE}_{\mathrm{Hybrid}}, \mathrm{MSE}_{\mathrm{Exploration}} <
               0.85 \, \mathrm{MSE}_{\mathrm{mean}}",
    design: "1,797 rows of 64 pixels (those constant on training rows dropped), a quarter of them test rows \
             drawn per trial; standardized on training rows; streams of 40,000 rows drawn with replacement; \
             s = 8, s' = 16; both methods tuned on other seeds; sign tests. Each trial resamples the same \
             rows.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&real::FAULTS),
    experiment,
};
