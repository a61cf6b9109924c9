//! Section 6 on MNIST, 3 against 5: 40 of 784 pixels observed, the class as +1 and -1.
//!
//! Statement, design and mutants: [`real`]. Pixels near the border are rarely inked, so
//! standardized attributes are cut to 5 standard deviations. The target is 0.4 of the error of the mean,
//! `s = 20`.

use crate::setup::real::{self, Setup, Tuned};
use lao_datasets::catalog::Loaded;
use lao_datasets::preprocess::two_classes;
use lao_verification_engine::claim::{Claim, Standing, mutants};
use lao_verification_engine::context::Context;

const SETUP: Setup = Setup {
    dataset: "mnist",
    prepare: three_against_five,
    clip: Some(5.0),
    sparsity: 20,
    budget: 40,
    stream: 40_000,
    targets: [0.7, 0.4],
    judges_the_end: true,
    exploration: Tuned { step_size: 0.04, first: 2.0, growth: 1.0, exploit: (0, 1.0) },
    hybrid: Tuned { step_size: 0.04, first: 1.0, growth: 1.15, exploit: (10, 1.0) },
};

fn three_against_five(loaded: Loaded) -> anyhow::Result<Loaded> {
    let train = two_classes(&loaded.train, 3.0, 5.0)?;
    let test = loaded.test.as_ref().map(|test| two_classes(test, 3.0, 5.0)).transpose()?;
    Ok(Loaded { train, test, ..loaded })
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    real::experiment(cx, &SETUP)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-real-mnist35",
    place: "Section 6, on other real data",
    sentence: "On MNIST, 3 against 5, Hybrid reaches 0.4 of the error of the mean after fewer examples than \
               Exploration, and both beat the mean.",
    formula: r"n_{\mathrm{Hybrid}}(\mathrm{target}) < n_{\mathrm{Exploration}}(\mathrm{target}), \qquad
               \mathrm{MSE}_{\mathrm{Hybrid}}, \mathrm{MSE}_{\mathrm{Exploration}} <
               \mathrm{MSE}_{\mathrm{mean}}",
    design: "11,552 training and 1,902 test rows of 784 pixels (those constant on training rows dropped), \
             label +1 or -1; standardized on training rows and cut to 5; streams of 40,000 rows drawn with \
             replacement; s = 20, s' = 40; both methods tuned on other seeds; sign test.",
    standing: Standing::sound().practical().learns().passable(&real::PASSABLE),
    mutants: &mutants(&real::FAULTS),
    experiment,
};
