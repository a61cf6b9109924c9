//! Tests of the learners and solvers, as one program: it links once, and its tests run side by side.

mod aesvr_twin;
mod auto;
mod bad_tells;
mod baselines_dense;
mod baselines_twins;
mod beside;
mod conformance;
mod defaults;
mod draw_laws;
mod estimating_twins;
mod exchange;
mod first_update;
mod fuzz;
mod ito_twins;
#[path = "../../../observation/tests/observation/laws/mod.rs"]
mod laws;
mod no_alloc;
mod parameter_extremes;
mod parameters;
mod phases;
mod prices;
mod pruned;
mod pursuit;
mod real_sums;
mod references;
mod safeguard;
mod solver_conformance;
mod stored_states;
mod targets;
mod theory_constants;
mod thresholding;
mod thresholding_ties;
mod twins;

use lao_testing::Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;
