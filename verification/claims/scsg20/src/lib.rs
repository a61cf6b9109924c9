//! Liang, Tong, Zhu & Bi 2020.
//!
//! Faults of an implementation that the suite must notice, and claims that do (as a mutant of the same or a
//! like name):
//!
//! | fault | noticed by |
//! |---|---|
//! | M1, no control variate | `toy-exact`, `thm1-full-batch`, `thm1-corrected`, `linear-rate` |
//! | M2, snapshot gradient of the epoch before | `toy-exact`; of another point: `lemma2-bias` |
//! | M3, snapshot gradient at every iterate | `table1-counts` |
//! | M4, one step more or fewer | `toy-exact` |
//! | M5, threshold before the step and not after | `thm1-corrected`, `table1-counts` |
//! | M6, the same batch always | `toy-exact` |
//! | M7, batches with replacement | `toy-exact`; with B = n: `thm1-full-batch`, `lemma2-bias` |
//! | M8, length geometric on 1, 2, .. | `def1-geometric`, `lemma4`, `toy-exact` |
//! | M9, parameter of the length inverted | `def1-geometric` |
//! | M10, mean iterate as snapshot | `table1-counts` |
//! | M11, k + 1 entries kept | `table1-counts`; GD-HT: `thm1-small-eta` |
//! | M12, gradient without its factor | `losses` |
//! | M13, mini-batches from the batch alone | `lemma2-bias` |
//! | control variate without its second half | `toy-exact`, `thm1-full-batch`, `lemma2-bias` |

use lao_verification_engine::claim::Claim;
use lao_verification_engine::paper::Paper;

mod auto_step;
mod cor11;
mod cor12;
mod cor13;
mod def1_geometric;
mod fig2;
mod fig_a;
mod fig_b;
mod fig_c;
mod fig_d;
mod fig_e;
mod ineq4_crossterm;
mod ineq5;
mod ineq6;
mod intermediate_state;
mod itilde;
mod lemma2_bias;
mod lemma3_ht;
mod lemma4;
mod linear_rate;
mod literal_gradient_zero;
mod losses;
mod n_independence;
mod option_variance;
mod remark1;
mod residual_eta;
mod second_moment;
mod setup;
mod step_i;
mod step_ii;
mod support;
mod table1_counts;
mod theta_algebra;
mod thm1;
mod thm1_corrected;
mod thm1_small_eta;
mod toy_exact;

/// The paper, for the registry of the suite.
pub const PAPER: Paper = Paper {
    name: "scsg20",
    title: "Liang et al. 2020",
    notation: "`D = E‖x − x*‖²`, `g* = ∇f(x*)`, `G = ‖g*‖²` on the relevant coordinates, `σ*²` is the \
               variance of `∇f_z(x*)`, `e` the error of the batch gradient, `r = b/B`, `κ = L/ρ`",
    claims: CLAIMS,
    errata: include_str!("../errata.toml"),
};

/// The claims of the paper, in the paper's order.
const CLAIMS: &[Claim] = &[
    literal_gradient_zero::CLAIM,
    def1_geometric::CLAIM,
    lemma4::CLAIM,
    lemma2_bias::CLAIM,
    lemma3_ht::CLAIM,
    intermediate_state::CLAIM,
    itilde::PRINTED,
    itilde::CLAIM,
    ineq4_crossterm::PRINTED,
    ineq4_crossterm::CLAIM,
    ineq5::CLAIM,
    second_moment::CLAIM,
    ineq6::CLAIM,
    step_i::CLAIM,
    step_ii::CLAIM,
    theta_algebra::CLAIM,
    toy_exact::CLAIM,
    thm1::CLAIM,
    thm1::PRINTED,
    thm1_small_eta::PRINTED,
    thm1_small_eta::CLAIM,
    thm1_corrected::CLAIM,
    remark1::PRINTED,
    remark1::CLAIM,
    cor11::PRINTED,
    cor11::CLAIM,
    cor12::PRINTED,
    cor12::CLAIM,
    cor13::PRINTED,
    cor13::CLAIM,
    losses::PRINTED,
    losses::CLAIM,
    n_independence::CLAIM,
    residual_eta::PRINTED,
    residual_eta::CLAIM,
    option_variance::CLAIM,
    linear_rate::CLAIM,
    auto_step::CLAIM,
    support::CLAIM,
    table1_counts::CLAIM,
    fig_a::CLAIM,
    fig_b::PRINTED,
    fig_b::CLAIM,
    fig_c::CLAIM,
    fig_d::CLAIM,
    fig2::PRINTED,
    fig_e::CLAIM,
];
