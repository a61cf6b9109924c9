//! The losses of Section 5.
//!
//! *Statements.* Squares `(y - z'x)^2` with gradient `2 (z'x - y) z`; logistic
//! `log(1 + exp(-y z'x)) + (lambda/2)|x|^2`; softmax `-log p_y + (lambda/2) sum_j |x_j|^2` with one k-sparse
//! column per class, thresholded column by column, one operation for all. Components are convex, and smooth
//! with constants `2|z|^2`, `|z|^2/4 + lambda`, `|z|^2/2 + lambda`. All are finite at logits of any size.
//! Softmax of two classes is logistic in the difference of the columns.
//!
//! *As printed* the logistic loss is `log(1 + exp(y z'x))`: its minimizer is minus the right one, the values
//! at the minima are equal, and predictions are inverted. The softmax constraint runs to l in place of the
//! number of classes.

use lao_algorithms::thresholding::{GdParams, GdStep, Shape, Solver};
use lao_finite_sum::{Batch, Coding, DesignMatrix, FiniteSum, Gradient, Loss, Predictor};
use lao_kernels::{HardThreshold, SparseVector, Threshold};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::{dot, tally};
use lao_verification_engine::judge::{PropertyTally, exact, exact_all};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const DIM: usize = 4;
const CLASSES: usize = 3;

/// Signs as labels: there may be none of one class.
const SIGNS: Coding = Coding::TwoClasses { negative: -1.0, positive: 1.0 };

/// The losses, by number.
const KINDS: [&str; 3] = ["squares", "logistic", "softmax"];

/// What an arm gets wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    no_factor_two: bool,
    wrong_sign: bool,
    no_ridge: bool,
    joint_threshold: bool,
    naive_exponential: bool,
    two_steps: bool,
}

/// A sum of some components of one loss.
fn random_sum(rng: &mut Rng, kind: usize, components: usize, ridge: f64) -> anyhow::Result<FiniteSum> {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let values: Vec<f64> = (0..components * DIM).map(|_| normal()).collect();
    let label = |z: usize, normal: f64| match kind {
        0 => normal,
        1 => normal.signum(),
        _ => (z % CLASSES) as f64,
    };
    let labels: Vec<f64> = (0..components).map(|z| label(z, normal())).collect();
    let loss = match kind {
        0 => Loss::least_squares(labels)?,
        1 => Loss::coded(&labels, SIGNS)?,
        // All classes must occur.
        _ => Loss::softmax(&labels)?,
    };
    Ok(FiniteSum::new(DesignMatrix::rows(components, DIM, values)?, loss)?.with_ridge(ridge)?)
}

fn random_point(rng: &mut Rng, outputs: usize, scale: f64) -> Vec<f64> {
    (0..outputs * DIM)
        .map(|_| scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng))
        .collect()
}

/// Columns one after the other.
fn predictor(x: &[f64]) -> Predictor {
    let coefficients: Vec<_> = x.chunks(DIM).map(SparseVector::from_dense).collect();
    Predictor { intercepts: vec![0.0; coefficients.len()], coefficients }
}

impl Arm {
    fn gradient(self, sum: &mut FiniteSum, x: &[f64]) -> anyhow::Result<Vec<f64>> {
        let mut gradient = Gradient::default();
        sum.gradient(Batch::All, &predictor(x), &mut gradient)?;
        let ridge = if self.no_ridge { 0.0 } else { sum.ridge() };
        let squares = sum.loss().squares().is_some();
        let factor = match (squares, sum.outputs()) {
            (true, _) if self.no_factor_two => 0.5,
            (false, 1) if self.wrong_sign => -1.0,
            _ => 1.0,
        };
        let slopes = gradient.coefficients.concat();
        Ok(slopes.iter().zip(x).map(|(g, x)| factor * g + ridge * x).collect())
    }

    /// Production gradient and central differences of production values.
    fn differences(self, trial: &Trial, kind: usize) -> anyhow::Result<Vec<(f64, f64)>> {
        const WIDTH: f64 = 1e-5;
        let rng = &mut trial.seed.child(KINDS[kind]).rng();
        let mut sum = random_sum(rng, kind, 5, 0.3)?;
        let mut x = random_point(rng, sum.outputs(), 1.0);
        let gradient = self.gradient(&mut sum, &x)?;
        let mut pairs = Vec::new();
        for j in 0..x.len() {
            let middle = x[j];
            let mut at = |place: f64| {
                x[j] = place;
                sum.objective(&predictor(&x))
            };
            let slope = (at(middle + WIDTH)? - at(middle - WIDTH)?) / (2.0 * WIDTH);
            x[j] = middle;
            pairs.push((gradient[j], slope));
        }
        Ok(pairs)
    }

    /// `0 <= f_z(x) - f_z(y) - <grad f_z(y), x - y> <= (L/2) |x - y|^2` for a component.
    fn second_order(self, trial: &Trial, kind: usize, tally: &mut PropertyTally) -> anyhow::Result<()> {
        let rng = &mut trial.seed.child("pairs").child(KINDS[kind]).rng();
        for _ in 0..20 {
            // Softmax needs a component of every class for its labels; the mean over equal rows is a
            // component.
            let mut sum = random_sum(rng, kind, if kind == 2 { CLASSES } else { 1 }, 0.1)?;
            let scale = 10f64.powf(rng.random_range(-2.0..1.0));
            let x = random_point(rng, sum.outputs(), scale);
            let y = random_point(rng, sum.outputs(), scale);
            let away: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            let along = dot(&self.gradient(&mut sum, &y)?, &away);
            let (at_x, at_y) = (sum.objective(&predictor(&x))?, sum.objective(&predictor(&y))?);
            let (excess, unit) = (at_x - at_y - along, at_x.abs() + at_y.abs() + along.abs());
            tally.check(0.0, excess / unit);
            let most = 0.5 * sum.component_smoothness() * dot(&away, &away);
            tally.check(excess / unit, most / unit);
        }
        Ok(())
    }
}

/// Softmax of classes 0 and 1 at columns u, v, and logistic at v - u.
fn two_classes(arm: Arm, rng: &mut Rng) -> anyhow::Result<Vec<(f64, f64)>> {
    let n = 6;
    let values: Vec<f64> = random_point(rng, n, 1.0);
    let labels: Vec<f64> = (0..n).map(|z| (z % 2) as f64).collect();
    let rows = || DesignMatrix::rows(n, DIM, values.clone());
    let mut softmax = FiniteSum::new(rows()?, Loss::softmax(&labels)?)?;
    let mut logistic = FiniteSum::new(rows()?, Loss::logistic(&labels)?)?;
    let x = random_point(rng, 2, 2.0);
    let (u, v) = x.split_at(DIM);
    let difference: Vec<f64> = v.iter().zip(u).map(|(v, u)| v - u).collect();
    let mut pairs = vec![(softmax.objective(&predictor(&x))?, logistic.objective(&predictor(&difference))?)];
    let (ours, theirs) = (arm.gradient(&mut softmax, &x)?, arm.gradient(&mut logistic, &difference)?);
    pairs.extend(ours[DIM..].iter().copied().zip(theirs.iter().copied()));
    pairs.extend(ours[..DIM].iter().copied().zip(theirs.iter().map(|g| -g)));
    Ok(pairs)
}

/// Losses and slopes at logits of 10^4, against what they are to rounding.
fn extreme(naive: bool) -> anyhow::Result<Vec<(f64, f64)>> {
    const LOGIT: f64 = 1e4;
    let row = || DesignMatrix::rows(2, 1, vec![1.0, 1.0]);
    let at = |x: &[f64]| Predictor {
        coefficients: x.iter().map(|x| SparseVector::from_dense(&[*x])).collect(),
        intercepts: vec![0.0; x.len()],
    };
    let mut logistic = FiniteSum::new(row()?, Loss::coded(&[1.0, 1.0], SIGNS)?)?;
    let mut softmax = FiniteSum::new(row()?, Loss::softmax(&[0.0, 1.0])?)?;
    let mut pairs = Vec::new();
    for x in [LOGIT, -LOGIT] {
        let loss = logistic.objective(&at(&[x]))?;
        pairs.push((if naive { (1.0 + (-x).exp()).ln() } else { loss }, (-x).max(0.0)));
        // One of the two classes is right at no loss, the other at the whole difference.
        pairs.push((softmax.objective(&at(&[x, -x]))?, LOGIT));
        let mut gradient = Gradient::default();
        logistic.gradient(Batch::All, &at(&[x]), &mut gradient)?;
        pairs.push((gradient.coefficients[0][0], if x > 0.0 { 0.0 } else { -1.0 }));
        softmax.gradient(Batch::All, &at(&[x, -x]), &mut gradient)?;
        pairs.push((gradient.coefficients[0][0], 0.5 * x.signum()));
    }
    // What is not a finite number is wrong, not beyond judgment.
    let finite = |x: f64| if x.is_finite() { x } else { f64::MAX };
    Ok(pairs.into_iter().map(|(found, exact)| (finite(found), exact)).collect())
}

/// Non-zeros per column after one step of GD-HT from 0 on softmax, and thresholdings counted.
fn columns(rng: &mut Rng, sparsity: usize, arm: Arm) -> anyhow::Result<(Vec<usize>, u64)> {
    let mut sum = random_sum(rng, 2, 12, 0.0)?;
    let params = GdParams { sparsity, step: GdStep::Fixed(0.1), refit: false, start: None };
    let mut solver = params.build(Shape::of(&sum))?;
    for _ in 0..if arm.two_steps { 2 } else { 1 } {
        solver.step(&mut sum, &mut Seed::root(0).rng())?;
    }
    let mut x = solver.coefficients().coefficients.clone();
    if arm.joint_threshold {
        let all = x.iter().flat_map(|x| x.view().to_dense()).collect::<Vec<_>>();
        let gradient = Arm::default().gradient(&mut sum, &vec![0.0; all.len()])?;
        let mut kept = SparseVector::zeros(all.len());
        HardThreshold::default().keep(&gradient, CLASSES * sparsity, &mut kept)?;
        x = kept.view().to_dense().chunks(DIM).map(SparseVector::from_dense).collect();
    }
    Ok((x.iter().map(SparseVector::len).collect(), sum.meter().thresholds))
}

const SOUND: Arm = Arm {
    no_factor_two: false,
    wrong_sign: false,
    no_ridge: false,
    joint_threshold: false,
    naive_exponential: false,
    two_steps: false,
};

const FAULTS: [Fault<Arm>; 6] = [
    Fault::refuted(
        "factor_two_missing",
        "gradient of squares without its 2",
        Arm { no_factor_two: true, ..SOUND },
    ),
    Fault::refuted(
        "sign_of_the_label",
        "logistic gradient with the sign reversed",
        Arm { wrong_sign: true, ..SOUND },
    ),
    Fault::refuted("ridge_missing", "gradient without its lambda x", Arm { no_ridge: true, ..SOUND }),
    Fault::refuted(
        "columns_thresholded_together",
        "the largest entries of all columns together are kept",
        Arm { joint_threshold: true, ..SOUND },
    ),
    Fault::refuted(
        "naive_exponential",
        "log(1 + exp(t)) as it stands",
        Arm { naive_exponential: true, ..SOUND },
    ),
    Fault::refuted("two_steps", "GD-HT makes two steps for one", Arm { two_steps: true, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(10);
    let arm = cx.arm(SOUND, &FAULTS);
    let n = cx.size("instances")?;
    for (kind, name) in KINDS.into_iter().enumerate() {
        let pairs = cx.all_trials(name, n, |trial| arm.differences(trial, kind))?;
        cx.judge(&format!("{name}: gradient"), exact_all(pairs.into_iter().flatten(), 1e-6));
        let [bounds] = tally(cx, name, n, |trial, [bounds]| arm.second_order(trial, kind, bounds))?;
        cx.judge(&format!("{name}: convex and smooth"), bounds.finish());
    }
    let pairs =
        cx.all_trials("two classes", n, |trial| two_classes(arm, &mut trial.seed.child("data").rng()))?;
    cx.judge("softmax of two classes is logistic", exact_all(pairs.into_iter().flatten(), 1e-10));
    cx.judge("logits of 10^4", exact_all(extreme(arm.naive_exponential)?, 1e-12));
    let steps = cx.all_trials("columns", n, |trial| columns(&mut trial.seed.child("data").rng(), 2, arm))?;
    let sizes = steps.iter().flat_map(|(sizes, _)| sizes).map(|size| (*size as f64, 2.0));
    cx.judge("non-zeros of every column at k = 2", exact_all(sizes, 0.0));
    let thresholds: u64 = steps.iter().map(|(_, thresholds)| thresholds).sum();
    cx.judge("one thresholding a step", exact(thresholds as f64, n as f64, 0.0));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-losses",
    place: "Section 5, losses",
    sentence: "Squares, logistic loss with the sign as it should be, and softmax with one k-sparse column \
               per class have the gradients, smoothness and range that the methods rely on.",
    formula: r"f_z = (y_z - z' x)^2, \; \log(1 + e^{-y_z z' x}) + \tfrac{\lambda}{2} \|x\|^2, \; -\log
               \frac{e^{z' x_{y_z}}}{\sum_j e^{z' x_j}} + \tfrac{\lambda}{2} \sum_j \|x_j\|^2",
    design: "Production values and gradients: central differences; second-order bounds on random pairs of \
             points; two classes against logistic; logits of 10^4; one step of GD-HT on softmax.",
    standing: Standing::corrected(&[21]),
    mutants: &mutants(&FAULTS),
    experiment,
};

const CONTROL: [Fault<f64>; 1] = [Fault::held("corrected_form", "log(1 + exp(-y z'x))", -1.0)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let sign = cx.arm(1.0, &CONTROL);
    let n = cx.size("instances")?;
    let [right] = tally(cx, "instances", n, |trial, [right]| {
        let rng = &mut trial.seed.child("data").rng();
        let (x, z) = (random_point(rng, 1, 1.0), random_point(rng, 1, 1.0));
        let margin = dot(&x, &z);
        // A predictor that is right has the smaller loss of the two signs.
        let label = margin.signum();
        let loss = |margin: f64| (1.0 + (sign * label * margin).exp()).ln();
        right.check(loss(margin), loss(-margin));
        Ok(())
    })?;
    cx.judge("the right prediction has the smaller loss", right.finish());
    Ok(())
}

/// The logistic loss as printed.
pub const PRINTED: Claim = Claim {
    id: "scsg20-losses-printed",
    place: "Section 5, logistic regression",
    sentence: "With the loss log(1 + exp(y z'x)) a prediction of the right sign costs less than one of the \
               wrong sign.",
    formula: r"y\, z' x > 0 \Rightarrow \log(1 + e^{y\, z' x}) \le \log(1 + e^{-y\, z' x})",
    design: "Random examples and predictors, labels equal to the predictor's signs. With the sign corrected \
             the same judge accepts.",
    standing: Standing::printed(&[21]).violated(&VIOLATIONS).showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
};

/// The loss of the wrong sign over that of the right one grows without limit with the margin.
const VIOLATIONS: [Violation; 1] =
    [Violation { cell: "the right prediction has the smaller loss", at_least: 2.0, at_most: f64::INFINITY }];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 1] = [Shown { erratum: 21, cell: "the right prediction" }];
