//! Figure 2, logistic regression and softmax.
//!
//! *Statement.* The figures order the methods on four data sets; no order is a theorem, and it changes with
//! data, steps and budget. What is judged is that every method works on these losses; the order of the final
//! losses is noted.

use crate::setup::scenario::{Method, mean};
use lao_algorithms::thresholding::{SolveError, SolverLimit, solve};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::dot;
use lao_verification_engine::instance::regression::spread_signs;
use lao_verification_engine::judge::paired;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const N: usize = 2000;
const DIM: usize = 100;
const METHODS: [Method; 6] =
    [Method::Gd, Method::Sg, Method::Hsg, Method::Svrg, Method::ScsgOne, Method::ScsgTwo];

/// Rows and labels 0 .. classes-1, drawn from the model.
fn draw(classes: usize, seed: &Seed) -> (Vec<f64>, Vec<usize>) {
    let mut rng = seed.rng();
    let rows: Vec<f64> = (0..N * DIM).map(|_| StandardNormal.sample(&mut rng)).collect();
    let stars: Vec<Vec<f64>> = (0..classes)
        .map(|class| {
            let mut star = spread_signs(DIM, 5);
            star.rotate_right(class);
            star
        })
        .collect();
    let mut label = |row: &[f64]| {
        // The largest of margins with Gumbel noise is a draw from softmax.
        let mut noisy = |star: &Vec<f64>| dot(star, row) - (-(1.0 - rng.random::<f64>()).ln()).ln();
        let margins: Vec<f64> = stars.iter().map(&mut noisy).collect();
        (0..classes).max_by(|&a, &b| margins[a].total_cmp(&margins[b])).unwrap_or(0)
    };
    let labels = rows.chunks_exact(DIM).map(&mut label).collect();
    (rows, labels)
}

fn sum(rows: Vec<f64>, labels: impl Iterator<Item = usize>, classes: usize) -> anyhow::Result<FiniteSum> {
    let labels: Vec<f64> = labels.map(|label| label as f64).collect();
    let loss = if classes == 2 { Loss::logistic(&labels)? } else { Loss::softmax(&labels)? };
    Ok(FiniteSum::new(DesignMatrix::rows(N, DIM, rows)?, loss)?.with_ridge(1e-3)?)
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    turn: usize,
    factor: f64,
}

const SOUND: Arm = Arm { turn: 0, factor: 1.0 };

const FAULTS: [Fault<Arm>; 2] = [
    Fault::refuted(
        "labels_turned",
        "trains on negated labels, as the printed sign of the loss does",
        Arm { turn: 1, ..SOUND },
    ),
    Fault::refuted("step_too_large", "1000 times the step size", Arm { factor: 1000.0, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2 * METHODS.len());
    let Arm { turn, factor } = cx.arm(SOUND, &FAULTS);
    for (name, classes) in [("logistic", 2), ("softmax", 4)] {
        // A component's gradient has Lipschitz constant |z|^2/4 or |z|^2/2, the mean of n of them about 1.5/4
        // or 1.5/2.
        let curvature = if classes == 2 { 0.25 } else { 0.5 };
        let runs = cx.all_trials(name, cx.size("pairs")?, |trial| {
            let (rows, labels) = draw(classes, &trial.seed.child("data"));
            let mut truth = sum(rows.clone(), labels.iter().copied(), classes)?;
            let mut seen = sum(rows, labels.iter().map(|label| (label + turn) % classes), classes)?;
            let mut losses = Vec::new();
            for method in METHODS {
                let many = matches!(method, Method::Gd | Method::Hsg);
                let smoothness = curvature * if many { 2.0 } else { 2.0 * DIM as f64 };
                let mut solver = method.solver(factor / smoothness, &seen)?;
                let seed = trial.seed.child("algorithm");
                let run = solve(&mut seen, solver.as_mut(), &seed, SolverLimit::after_calls(2 * N as u64));
                losses.push(match run {
                    Ok(run) => truth.objective(&run.predictor)?,
                    Err(SolveError::Diverged(_)) => f64::INFINITY,
                    Err(error) => return Err(error.into()),
                });
            }
            Ok(losses)
        })?;
        let zero = vec![(classes as f64).ln(); runs.len()];
        for (place, method) in METHODS.into_iter().enumerate() {
            let losses: Vec<f64> = runs.iter().map(|losses| losses[place]).collect();
            cx.note(&format!("mean loss after 2n calls, {name}, {}", method.name()), mean(&losses));
            let finding = paired::better(&losses, &zero, cx.alpha());
            cx.judge(&format!("{name}: {} ends below the loss of zero", method.name()), finding);
        }
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-fig-f",
    place: "Figure 2, Experiments: Medium Precision Regime",
    sentence: "Every method lowers the logistic and the softmax loss; the order in which they end is \
               reported and not judged.",
    formula: r"f(x_{\mathrm{method}}) < f(0) = \ln c \quad \text{after } 2n \text{ IFO calls}",
    design: "n = 2000 normal rows, d = 100, labels drawn from the model (five signs per class), two classes \
             or four, lambda = 1e-3, k = 20 per class, 2n calls, B = n/10, b = 1; step sizes from the \
             losses' smoothness, not tuned. The methods' losses against that of zero, the logarithm of the \
             number of classes: sign tests. Run times are not judged.",
    standing: Standing::sound().with_errata(&[21]).practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
