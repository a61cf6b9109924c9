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

use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, SolveError, Solver,
    SolverProgress, SvrgParams,
};
use lao_finite_sum::{Coding, DesignMatrix, FiniteSum, Loss, Meter};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, Violation, mutants};
use lao_verification_engine::context::{Axis, Context, Figure, Series, Trial};
use lao_verification_engine::instance::dot;
use lao_verification_engine::instance::regression::spread_signs;
use lao_verification_engine::judge::paired;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const N: usize = 1000;
const DIM: usize = 200;
const SPARSITY: usize = 20;
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
            At::Calls => meter.calls < 20 * N as u64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Scsg,
    Gd,
    Hsg,
    Svrg,
    Sg,
}

/// SCSG-HT, and its rivals.
const METHODS: [(Method, &str); 5] = [
    (Method::Scsg, "SCSG-HT"),
    (Method::Gd, "GD-HT"),
    (Method::Hsg, "HSG-HT"),
    (Method::Svrg, "SVRG-HT"),
    (Method::Sg, "SG-HT"),
];

impl Method {
    /// The best step size of 10, 3, 1, .. 1e-4 at each place, on other seeds.
    fn tuned(self, at: At) -> f64 {
        match (self, at) {
            (Method::Gd | Method::Hsg, _) => 3.0,
            (Method::Svrg, _) | (Method::Scsg, At::Thresholdings) => 0.3,
            (Method::Scsg | Method::Sg, At::Calls) => 0.03,
            (Method::Sg, At::Thresholdings) => 0.01,
        }
    }

    fn solver(self, step_size: f64, shape: Shape) -> anyhow::Result<Box<dyn Solver>> {
        let (sparsity, start, mini_batch) = (SPARSITY, None, MINI_BATCH);
        Ok(match self {
            Method::Gd => {
                let step = GdStep::Fixed(step_size);
                Box::new(GdParams { sparsity, step, refit: false, start }.build(shape)?)
            }
            Method::Sg => Box::new(SgParams { sparsity, step_size, batch: 1, start }.build(shape)?),
            Method::Hsg => {
                let (first, growth) = (20.0, 1.05);
                Box::new(HsgParams { sparsity, step_size, first, growth, start }.build(shape)?)
            }
            Method::Svrg => {
                let steps = (N / MINI_BATCH) as u64;
                Box::new(SvrgParams { sparsity, step_size, mini_batch, steps, start }.build(shape)?)
            }
            Method::Scsg => {
                let (batch, length) = (N / 10, EpochLength::Geometric);
                Box::new(ScsgParams { sparsity, step_size, batch, mini_batch, length, start }.build(shape)?)
            }
        })
    }

    /// `f` where the method stops; infinite if a step diverged.
    fn value(self, at: At, step: f64, trial: &Trial) -> anyhow::Result<f64> {
        let mut sum = rows(&trial.seed.child("data"))?;
        let mut solver = self.solver(step * self.tuned(at), Shape::of(&sum))?;
        // A stream of its own for each method.
        let mut rng = trial.seed.child("algorithm").child(&format!("{self:?}")).rng();
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
}

/// Normal rows; labels from the logistic model with ten coefficients.
fn rows(seed: &Seed) -> anyhow::Result<FiniteSum> {
    let (mut rng, star) = (seed.rng(), spread_signs(DIM, 10));
    let (mut values, mut labels) = (Vec::with_capacity(N * DIM), Vec::with_capacity(N));
    for _ in 0..N {
        let row: Vec<f64> = (0..DIM).map(|_| StandardNormal.sample(&mut rng)).collect();
        let positive = rng.random::<f64>() < 1.0 / (1.0 + (-SIZE * dot(&row, &star)).exp());
        labels.push(if positive { 1.0 } else { -1.0 });
        values.extend(row);
    }
    let loss = Loss::coded(&labels, Coding::TwoClasses { negative: -1.0, positive: 1.0 })?;
    Ok(FiniteSum::new(DesignMatrix::rows(N, DIM, values)?, loss)?.with_ridge(RIDGE)?)
}

/// What an arm gets wrong, or leaves out.
#[derive(Clone, Copy, PartialEq)]
enum Arm {
    AgainstSgAlone,
    StepTooShort,
}

const FAULTS: [Fault<Option<Arm>>; 2] = [
    Fault::held("corrected_form", "at 200 thresholdings, against SG-HT alone", Some(Arm::AgainstSgAlone)),
    Fault::refuted("step_too_short", "SCSG-HT with a thousandth of its step size", Some(Arm::StepTooShort)),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (arm, pairs) = (cx.arm(None, &FAULTS), cx.size("pairs")?);
    let alone = arm == Some(Arm::AgainstSgAlone);
    let places = if alone { &PLACES[..1] } else { &PLACES[..] };
    let rivals = if alone { &METHODS[4..] } else { &METHODS[1..] };
    cx.split(places.len() * rivals.len());
    let values = |method: Method, at: At, step: f64, place: &str| {
        cx.shared(&format!("{method:?} at {place}, {step}"), || {
            cx.all_trials(place, pairs, |trial| method.value(at, step, trial))
        })
    };
    let step = if arm == Some(Arm::StepTooShort) { 0.001 } else { 1.0 };
    let (mut cells, mut series) = (Vec::new(), Vec::new());
    for &(at, place) in places {
        let ours = values(Method::Scsg, at, step, place)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mut means = vec![[0.0, mean(&ours)]];
        for (number, &(rival, name)) in (1..).zip(rivals) {
            let theirs = values(rival, at, 1.0, place)?;
            cells
                .push((format!("{place}: SCSG-HT below {name}"), paired::better(&ours, &theirs, cx.alpha())));
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
