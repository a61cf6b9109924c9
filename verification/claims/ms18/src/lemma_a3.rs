//! Supplement, Lemma A.3, repaired: room among the dropped coordinates.
//!
//! *Why.* `|S_{t-1} \ S_t| - |S_t \ S_{t-1}| = |S_{t-1}| - |S_t|`, and by Lemma A.2 `S_t \ (S_{t-1} u S*)` is
//! part of `S_t \ S_{t-1}`. The paper takes `S_t = supp(theta_t)` and equal sizes for granted, which fails at
//! the usual start `theta_0 = 0` ([`PRINTED`]). Repair: pad the sets to
//! exactly s members with coordinates on which the iterate is zero. Every later step uses only that the
//! iterate vanishes outside its set.
//!
//! *As printed* ([`PRINTED`]). There is a set `R` within `S_{t-1} \ S_t` of size `|S_t \ (S_{t-1} u S*)|`,
//! "since `|S_t| = |S_{t-1}|`".
//!
//! *Why not.* From `theta_0 = 0` the first update has `S_0` empty and `|S_1| = s`: `R` would need up to s
//! members of the empty set. The same happens whenever thresholding finds fewer than s non-zeros.

use lao_algorithms::murata_suzuki::ExplorationParams;
use lao_algorithms::{BatchSizes, Task};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Mutant, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{pad, subsets, support_of, tally};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::probe;

/// Coordinates of the exhaustive cell.
const FEW: usize = 6;
/// `d`, `s` and `s'` of the runs.
const DIM: usize = 12;
const SPARSITY: usize = 4;
const BUDGET: usize = 7;

/// Checks that `R` exists: that it is no larger than the set it must be taken from.
fn check(tally: &mut PropertyTally, now: u128, before: u128, star: u128, forgets_old: bool) {
    let covered = if forgets_old { star } else { before | star };
    let (needed, room) = ((now & !covered).count_ones(), (before & !now).count_ones());
    tally.check(f64::from(needed), f64::from(room));
}

/// Which sets an arm puts in place of `S_t`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    pub padded: bool,
    pub forgets_old: bool,
}

fn judge(cx: &mut Context<'_>, reading: Reading, runs: u64) -> anyhow::Result<()> {
    let Reading { padded, forgets_old } = reading;
    let mut triples = PropertyTally::new();
    for now in subsets(FEW) {
        for before in subsets(FEW).filter(|before| !padded || before.count_ones() >= now.count_ones()) {
            subsets(FEW).for_each(|star| check(&mut triples, now, before, star, forgets_old));
        }
    }
    cx.judge("all triples of subsets of six", triples.finish());

    let [runs] = tally(cx, "runs", runs, |trial, [tally]| {
        let (star, supports) = supports_of_run(trial)?;
        for pair in supports.windows(2) {
            let of = |set: u128| if padded { pad(set, SPARSITY, DIM) } else { set };
            check(tally, of(pair[1]), of(pair[0]), star, forgets_old);
        }
        Ok(())
    })?;
    cx.judge("supports of Exploration from zero", runs.finish());
    Ok(())
}

/// `S*` and the supports of a production run from zero.
fn supports_of_run(trial: &Trial) -> anyhow::Result<(u128, Vec<u128>)> {
    let star = SparseVector::new(DIM, vec![2, 9], vec![1.0, -0.5])?;
    let design = Rademacher::new(DIM)?;
    let source = Virtual::new(design, star.clone(), Noise::Gaussian(1.0), &trial.seed.child("data"))?;
    let batch = BatchSizes::Constant(20);
    let params = ExplorationParams {
        batch,
        ..ExplorationParams::practical(&Task {
            dim: DIM,
            sparsity: SPARSITY,
            budget: BUDGET,
            ..Task::default()
        })?
    };
    let mut supports = vec![0];
    let (mut learner, seed) = (params.build()?, trial.seed.child("algorithm"));
    probe::run(
        source,
        &mut learner,
        Budget::PerExample(BUDGET),
        &seed,
        SessionLimit::after_updates(6),
        |_, theta| {
            supports.push(support_of(&theta.to_dense()));
        },
    )?;
    Ok((support_of(&star.view().to_dense()), supports))
}

const SUPPORTS_NOT_PADDED: Mutant =
    Mutant::refuted("supports_not_padded", "takes the supports as they are, as the paper does");
const ALSO_REPLACES_OLD_MEMBERS: Mutant =
    Mutant::refuted("also_replaces_old_members", "asks for room for S_t \\ S*, old members included");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let padded = !cx.commits(&SUPPORTS_NOT_PADDED);
    let forgets_old = cx.commits(&ALSO_REPLACES_OLD_MEMBERS);
    let runs = cx.size("runs")?;
    judge(cx, Reading { padded, forgets_old }, runs)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-lemma-a3",
    place: "Supplement A.1, Lemma A.3",
    sentence: "With index sets padded to s members, the coordinates that an update drops are at least as \
               many as those that it adds outside the true support.",
    formula: r"|S_t| \le |S_{t-1}| \Rightarrow \exists R \subset S_{t-1} \setminus S_t : |R| = |S_t
               \setminus (S_{t-1} \cup S_*)|",
    design: "All triples of subsets of six coordinates with |S_t| <= |S_{t-1}|; and the supports of \
             production runs from zero, padded.",
    standing: Standing::corrected(&[9]),
    mutants: &[SUPPORTS_NOT_PADDED, ALSO_REPLACES_OLD_MEMBERS],
    experiment,
};

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "index sets padded to s members", true)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let padded = cx.arm(false, &CONTROL);
    let runs = cx.size("runs")?;
    judge(cx, Reading { padded, forgets_old: false }, runs)
}

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "ms18-lemma-a3-printed",
    place: "Supplement A.1, Lemma A.3",
    sentence: "The supports of consecutive iterates have equal size, so the dropped coordinates make room \
               for those added outside the true support.",
    formula: r"S_t = \operatorname{supp}(\theta_t) \Rightarrow \exists R \subset S_{t-1} \setminus S_t :
               |R| = |S_t \setminus (S_{t-1} \cup S_*)|",
    design: "All triples of subsets of six coordinates, and the supports of production runs of Exploration \
             from zero.",
    standing: Standing::printed(&[9]).violated(&VIOLATIONS).showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
};

/// Members are asked of an empty set.
const VIOLATIONS: [Violation; 2] = [
    Violation { cell: "all triples of subsets of six", at_least: f64::INFINITY, at_most: f64::INFINITY },
    Violation { cell: "supports of Exploration from zero", at_least: f64::INFINITY, at_most: f64::INFINITY },
];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 1] = [Shown { erratum: 9, cell: "supports of Exploration from zero" }];
