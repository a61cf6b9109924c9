//! This project, on its own method: what is claimed of Pursuit.

use lao_verification_engine::claim::Claim;
use lao_verification_engine::paper::Paper;

mod against_hybrid;
mod budget;
mod calibration;
mod chosen_looks;
mod coverage;
mod false_inclusion;
mod fdr;
mod figure_1;
mod forecast;
mod gaps;
mod half_life;
mod half_life_level;
mod identification;
mod invariance;
mod level_progressive;
mod pages;
mod phases_budget;
mod phases_decision;
mod phases_no_explosion;
mod phases_no_harm;
mod phases_rows;
mod plan;
mod prices;
mod rare;
mod rate;
mod rules;
mod setup;
mod small_study;
mod support_law;

/// The claims, for the registry of the suite.
pub const PAPER: Paper = Paper {
    name: "pursuit",
    title: "This project: Pursuit",
    notation: "`d` attributes, of which `s*` have an effect and `s'` are observed per example; `σ` is the \
               standard deviation of the noise",
    claims: CLAIMS,
    errata: "",
};

/// The claims, from what is never done to what is achieved.
const CLAIMS: &[Claim] = &[
    budget::CLAIM,
    prices::CLAIM,
    invariance::CLAIM,
    false_inclusion::CLAIM,
    level_progressive::CLAIM,
    fdr::CLAIM,
    small_study::CLAIM,
    identification::CLAIM,
    support_law::CLAIM,
    coverage::CLAIM,
    pages::CLAIM,
    rare::CLAIM,
    plan::CLAIM,
    forecast::CLAIM,
    rate::CLAIM,
    figure_1::CLAIM,
    half_life::CLAIM,
    half_life_level::CLAIM,
    calibration::CLAIM,
    gaps::CLAIM,
    rules::CLAIM,
    against_hybrid::CLAIM,
    chosen_looks::CLAIM,
    phases_budget::CLAIM,
    phases_rows::CLAIM,
    phases_decision::CLAIM,
    phases_no_harm::CLAIM,
    phases_no_explosion::CLAIM,
];
