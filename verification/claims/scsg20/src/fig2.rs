//! Figure 2: sparse logistic regression, at equal thresholdings and at equal IFO calls.
//!
//! *Print.* "For all four datasets, SCSG-HT has consistently achieved the lowest objective value with respect
//! to the same number of HT operations, the number of epoches and the CPU time."
//!
//! *Predicted.* A step of GD-HT is one thresholding for n gradients, and no method can make fewer: with as
//! many thresholdings as SCSG-HT it has used more gradients, and no noise. HSG-HT comes near it. So SCSG-HT
//! loses to both at equal thresholdings, if these have their best step sizes; it is ahead of SG-HT, whose
//! every gradient is followed by a thresholding. At 20 n calls the noise of `B = n/10` is what is left of
//! SCSG-HT's gap, as in `scsg20-fig-b-printed`. The paper does not say how step sizes were chosen from its
//! grid, 10 to 1e-4.
//!
//! *Not run.* rcv1, real-sim and news20 are not at hand, and softmax on images is not tried: the verdict is
//! about this reading on these rows.

use crate::setup::scenario::{DIM, Method, N};
use lao_algorithms::thresholding::{SolveError, SolverProgress};
use lao_finite_sum::{Coding, DesignMatrix, FiniteSum, Loss, Meter};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, Violation, mutants};
use lao_verification_engine::context::{Axis, Context, Figure, Series, Trial};
use lao_verification_engine::instance::dot;
use lao_verification_engine::instance::regression::spread_signs;
use lao_verification_engine::judge::paired;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Size of the ten true coefficients.
const SIZE: f64 = 0.7;
/// `lambda`, as printed.
const RIDGE: f64 = 1e-5;
/// b, of both methods that have mini-batches.
const MINI_BATCH: usize = 10;

/// Where the methods are compared.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Thresholdings,
    Calls,
}

const PLACES: [(At, &str); 2] = [(At::Thresholdings, "200 thresholdings"), (At::Calls, "20 n calls")];

impl At {
    fn is_before(self, meter: Meter) -> bool {
        match self {
            At::Thresholdings => meter.thresholds < 200,
            At::Calls => meter.calls < 20 * N,
        }
    }
}

/// SCSG-HT, and its rivals.
const METHODS: [(Method, &str); 5] = [
    (Method::ScsgOne, "SCSG-HT"),
    (Method::Gd, "GD-HT"),
    (Method::Hsg, "HSG-HT"),
    (Method::Svrg, "SVRG-HT"),
    (Method::Sg, "SG-HT"),
];

/// The best step size of 10, 3, 1, .. 1e-4 at each place, on other seeds.
fn tuned(method: Method, at: At) -> f64 {
    match (method, at) {
        (Method::Gd | Method::Hsg, _) => 3.0,
        (Method::Svrg, _) | (Method::ScsgOne | Method::ScsgTwo, At::Thresholdings) => 0.3,
        (Method::ScsgOne | Method::ScsgTwo | Method::Sg, At::Calls) => 0.03,
        (Method::Sg, At::Thresholdings) => 0.01,
    }
}

/// `f` where the method stops; infinite if a step diverged. `step` is a factor of its step size.
fn value(method: Method, at: At, step: f64, trial: &Trial) -> anyhow::Result<f64> {
    let mut sum = rows(&trial.seed.child("data"))?;
    let mut solver = method.solver_with(step * tuned(method, at), MINI_BATCH, &sum)?;
    // A stream of its own for each method.
    let mut rng = trial.seed.child("algorithm").child(method.name()).rng();
    while at.is_before(sum.meter()) {
        match solver.step(&mut sum, &mut rng) {
            Ok(SolverProgress::Settled) => break,
            Ok(_) => {}
            Err(SolveError::Diverged(_)) => return Ok(f64::INFINITY),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sum.objective(solver.coefficients())?)
}

/// Normal rows; labels from the logistic model with ten coefficients.
fn rows(seed: &Seed) -> anyhow::Result<FiniteSum> {
    let (mut rng, star) = (seed.rng(), spread_signs(DIM, 10));
    let n = N as usize;
    let (mut values, mut labels) = (Vec::with_capacity(n * DIM), Vec::with_capacity(n));
    for _ in 0..n {
        let row: Vec<f64> = (0..DIM).map(|_| StandardNormal.sample(&mut rng)).collect();
        let positive = rng.random::<f64>() < 1.0 / (1.0 + (-SIZE * dot(&row, &star)).exp());
        labels.push(if positive { 1.0 } else { -1.0 });
        values.extend(row);
    }
    let loss = Loss::coded(&labels, Coding::TwoClasses { negative: -1.0, positive: 1.0 })?;
    Ok(FiniteSum::new(DesignMatrix::rows(n, DIM, values)?, loss)?.with_ridge(RIDGE)?)
}

/// What an arm gets wrong, or leaves out.
#[derive(Clone, Copy, PartialEq)]
enum Arm {
    AgainstSgAlone,
    StepTooShort,
    Exchanged,
}

const FAULTS: [Fault<Option<Arm>>; 3] = [
    Fault::held("corrected_form", "at 200 thresholdings, against SG-HT alone", Some(Arm::AgainstSgAlone)),
    Fault::refuted("step_too_short", "SCSG-HT with a thousandth of its step size", Some(Arm::StepTooShort)),
    Fault::refuted(
        "exchanged",
        "calls SCSG-HT by each rival's name, and the rival SCSG-HT",
        Some(Arm::Exchanged),
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (arm, pairs) = (cx.arm(None, &FAULTS), cx.size("pairs")?);
    let alone = arm == Some(Arm::AgainstSgAlone);
    let places = if alone { &PLACES[..1] } else { &PLACES[..] };
    let rivals = if alone { &METHODS[4..] } else { &METHODS[1..] };
    cx.split(places.len() * rivals.len());
    let values = |method: Method, at: At, step: f64, place: &str| {
        cx.shared(&format!("{method:?} at {place}, {step}"), || {
            cx.all_trials(place, pairs, |trial| value(method, at, step, trial))
        })
    };
    let step = if arm == Some(Arm::StepTooShort) { 0.001 } else { 1.0 };
    let (mut cells, mut series) = (Vec::new(), Vec::new());
    for &(at, place) in places {
        let ours = values(Method::ScsgOne, at, step, place)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mut means = vec![[0.0, mean(&ours)]];
        for (number, &(rival, name)) in (1..).zip(rivals) {
            let theirs = values(rival, at, 1.0, place)?;
            let (better, worse) =
                if arm == Some(Arm::Exchanged) { (&theirs, &ours) } else { (&ours, &theirs) };
            let finding = paired::better(better, worse, cx.alpha());
            cells.push((format!("{place}: SCSG-HT below {name}"), finding));
            means.push([f64::from(number), mean(&theirs)]);
        }
        series.push(Series::points(place, means));
    }
    for (name, finding) in cells {
        cx.judge(&name, finding);
    }
    cx.figure(Figure {
        caption: "Mean objective of SCSG-HT (0), GD-HT (1), HSG-HT (2), SVRG-HT (3) and SG-HT (4).".into(),
        x: Axis::linear("method"),
        y: Axis::linear("f"),
        series,
    });
    Ok(())
}

const fn rarely(cell: &'static str) -> Violation {
    Violation { cell, at_least: 0.0, at_most: 0.1 }
}

const VIOLATIONS: [Violation; 5] = [
    rarely("200 thresholdings: SCSG-HT below GD-HT"),
    rarely("200 thresholdings: SCSG-HT below HSG-HT"),
    rarely("20 n calls: SCSG-HT below GD-HT"),
    rarely("20 n calls: SCSG-HT below HSG-HT"),
    rarely("20 n calls: SCSG-HT below SVRG-HT"),
];

/// A reading of the print on other data.
pub const PRINTED: Claim = Claim {
    id: "scsg20-fig2",
    place: "Figure 2, Experiments: Medium Precision Regime",
    sentence: "Read as a statement about logistic regression on synthetic rows, with step sizes tuned for \
               each method: SCSG-HT has the lowest objective of all methods after equally many \
               thresholdings, and after equally many IFO calls.",
    formula: r"f(x_{\mathrm{SCSG}}) < \min(f(x_{\mathrm{GD}}), f(x_{\mathrm{HSG}}), f(x_{\mathrm{SVRG}}),
               f(x_{\mathrm{SG}}))",
    design: "n = 1000, d = 200, normal rows, ten coefficients of size .7, k = 20, lambda = 1e-5; B = n/10, b \
             = 10 for SCSG-HT and SVRG-HT; after 200 thresholdings and after 20 n calls; sign tests on the \
             same data. Step sizes are the best of 10 to 1e-4, per method and place, on other seeds. SG-HT \
             alone is behind, at equal thresholdings. The paper's data sets are not run: the verdict is \
             about this reading, not about the figure.",
    standing: Standing::reading(&[21])
        .refuted()
        .practical()
        .violated(&VIOLATIONS)
        .open(&["200 thresholdings: SCSG-HT below SVRG-HT", "20 n calls: SCSG-HT below SG-HT"]),
    mutants: &mutants(&FAULTS),
    experiment,
};
