//! Probabilities of classes.
//!
//! *Why.* The line from predictions to log odds is fitted to predictions that were made before an example was
//! learned from. A line that is fitted step by step, with a memory of a thousand examples, ranked examples
//! well and gave a class of 20 % the probability 2e-22; nothing but a test of the probabilities shows that.
//! The bounds were set before the first run: they are what a user may rely on.

use lao_algorithms::Inspect;
use lao_algorithms::phases::{PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_datasets::memory::Columns;
use lao_observation::{Budget, Rng, Row, Seed, Session, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Trial};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

const DIM: usize = 12;
const BUDGET: usize = 6;
/// Attributes with an effect.
const STAR: usize = 2;
/// Fresh examples by which probabilities are judged.
const FRESH: usize = 3000;
const SHARES: [f64; 5] = [0.5, 0.2, 0.05, 0.01, 0.004];
/// Those of the cells on trees.
const SHARES_OF_TREES: [f64; 3] = [0.2, 0.5, 0.05];

/// The coefficients of the attributes with an effect, in log odds per standard deviation.
const EFFECTS: [(&str, f64); 3] = [("no effect", 0.0), ("weak effects", 0.1), ("strong effects", 1.5)];

/// How the line is spoiled.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Sound,
    Opposite,
    Shifted,
    TooFlat,
    ForgetsShares,
}

/// The fault that all cells refute comes first.
const FAULTS: [Fault<Line>; 4] = [
    Fault::refuted("opposite", "the probability is that of the other class", Line::Opposite),
    Fault::refuted(
        "forgets_shares",
        "the offset is that of the share among the last 200 examples",
        Line::ForgetsShares,
    ),
    Fault::refuted("shifted", "the offset is larger by 1", Line::Shifted),
    Fault::refuted("too_flat", "the slope is a tenth of what it is", Line::TooFlat),
];

/// Classes whose log odds are `offset + beta (x_0 + x_1)` for independent normal attributes.
#[derive(Clone, Copy)]
struct Scene {
    offset: f64,
    beta: f64,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

fn draw(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

impl Scene {
    /// Returns the scene in which a class has this share.
    fn of(share: f64, beta: f64) -> Self {
        // The sum is normal; its law is cut into a thousand equal parts of ten standard deviations.
        let deviation = beta * (STAR as f64).sqrt();
        let share_with = |offset: f64| {
            let points = (0..1000).map(|i| -5.0 + 0.01 * (f64::from(i) + 0.5));
            let (mut sum, mut all) = (0.0, 0.0);
            for z in points {
                let density = (-0.5 * z * z).exp();
                sum += density * logistic(offset + deviation * z);
                all += density;
            }
            sum / all
        };
        let (mut low, mut high) = (-30.0, 30.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if share_with(middle) > share { high = middle } else { low = middle }
        }
        Scene { offset: low, beta }
    }

    fn probability(&self, x: &[f64]) -> f64 {
        logistic(self.offset + self.beta * x[..STAR].iter().sum::<f64>())
    }

    fn row(rng: &mut Rng) -> [f64; DIM] {
        std::array::from_fn(|_| draw(rng))
    }
}

/// How the probabilities of a run compare with those of the classes, on fresh examples.
#[derive(Clone, Debug)]
struct Judged {
    /// The mean probability less the share, in standard errors, beyond what one example is.
    off: f64,
    /// The logarithmic loss by that of the share among the examples learned from.
    loss: f64,
    /// The log odds of fresh examples, and their true probabilities.
    fresh: Vec<(f64, f64)>,
}

fn run(scene: Scene, examples: u64, shape: Shape, line: Line, trial: &Trial) -> anyhow::Result<Judged> {
    let n = examples as usize;
    let mut rng = trial.seed.child("data").rng();
    let (mut values, mut labels) = (vec![0.0; DIM * n], Vec::with_capacity(n));
    for i in 0..n {
        let x = Scene::row(&mut rng);
        (0..DIM).for_each(|j| values[j * n + i] = x[j]);
        labels.push(if rng.random::<f64>() < scene.probability(&x) { 1.0 } else { -1.0 });
    }
    let positive = |labels: &[f64]| labels.iter().filter(|&&y| y > 0.0).count() as f64;
    let smoothed = |labels: &[f64]| (positive(labels) + 0.5) / (labels.len() as f64 + 1.0);
    let (share, of_last) = (smoothed(&labels), smoothed(&labels[n.saturating_sub(200)..]));
    let pursuit = PursuitParams::within(DIM, BUDGET);
    let mut learner = PhasesParams { pursuit, examples: Some(examples), shape }.build()?;
    let source = Columns::new(DIM, values, labels)?;
    let mut session = Session::new(source, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
    session.run(&mut learner, SessionLimit::after_examples(examples), |_, _| {})?;
    // Trees learn from the rows that are complete.
    let learned_from = if shape == Shape::Trees { learner.complete_rows() as f64 } else { n as f64 };
    judge(&learner, scene, (share, of_last), learned_from, line, &trial.seed.child("fresh"))
}

fn judge(
    learner: &dyn Inspect,
    scene: Scene,
    (share, of_last): (f64, f64),
    n: f64,
    line: Line,
    seed: &Seed,
) -> anyhow::Result<Judged> {
    let [mut offset, mut slope] = learner.link().unwrap_or([0.0, 0.0]);
    let attributes: Vec<u32> = (0..DIM as u32).collect();
    let mean = 2.0 * share - 1.0;
    let center = offset + slope * mean;
    match line {
        Line::Sound => {}
        Line::Opposite => (offset, slope) = (-offset, -slope),
        Line::Shifted => offset += 1.0,
        Line::TooFlat => {
            slope *= 0.1;
            offset = center - slope * mean;
        }
        Line::ForgetsShares => offset += logit(of_last) - logit(share),
    }
    let mut rng = seed.rng();
    let fresh: Vec<(f64, f64)> = (0..FRESH)
        .map(|_| {
            let x = Scene::row(&mut rng);
            let predicted = learner.apply(Row { attributes: &attributes, values: &x });
            (offset + slope * predicted, scene.probability(&x))
        })
        .collect();
    let mean =
        |of: &dyn Fn(f64, f64) -> f64| fresh.iter().map(|(o, p)| of(*o, *p)).sum::<f64>() / FRESH as f64;
    let (found, truth) = (mean(&|odds, _| logistic(odds)), mean(&|_, p| p));
    let loss = |q: f64, p: f64| -(p * q.max(1e-15).ln() + (1.0 - p) * (1.0 - q).max(1e-15).ln());
    let error = (truth * (1.0 - truth) / n).sqrt();
    let loss = mean(&|odds, p| loss(logistic(odds), p)) / mean(&|_, p| loss(share, p));
    Ok(Judged { off: ((found - truth).abs() - 1.0 / n).max(0.0) / error, loss, fresh })
}

/// Returns the slope of the logistic regression of classes, whose probabilities are known, on log odds.
fn recalibrated(fresh: &[(f64, f64)]) -> f64 {
    let (mut offset, mut slope) = (0.0, 1.0);
    for _ in 0..30 {
        let (mut gradient, mut curvature) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for &(odds, p) in fresh {
            let q = logistic(offset + slope * odds);
            let (error, h) = (q - p, q * (1.0 - q));
            gradient = [gradient[0] + error, gradient[1] + error * odds];
            curvature = [curvature[0] + h, curvature[1] + h * odds, curvature[2] + h * odds * odds];
        }
        let ([g, k], [a, b, c]) = (gradient, curvature);
        let determinant = a * c - b * b;
        offset -= (c * g - b * k) / determinant;
        slope -= (a * k - b * g) / determinant;
    }
    slope
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (small, examples, most) = (cx.size("small")?, cx.size("examples")?, cx.size("most")?);
    let all = cx.size("all_cells")? > 0;
    let line = cx.arm(Line::Sound, &FAULTS);
    let judged = |effect: f64| all || effect != 0.1;
    let slopes: &[f64] = if all { &SHARES } else { &SHARES[..1] };
    let sizes: &[u64] = if all { &[300, small, examples] } else { &[small] };
    let of_size = SHARES.len() * EFFECTS.iter().filter(|(_, effect)| judged(*effect)).count();
    let of_trees = if all { &SHARES_OF_TREES[..] } else { &SHARES_OF_TREES[..1] };
    cx.split(of_size * sizes.len() + slopes.len() + of_trees.len());
    let (_, strong) = EFFECTS[2];
    // An offset alone does not change a slope.
    let slopes = if matches!(line, Line::ForgetsShares | Line::Shifted) { &[] } else { slopes };
    for &share in slopes {
        let (cell, scene) =
            (format!("share {share}, strong effects, {examples} examples: slope"), Scene::of(share, strong));
        cx.prob(&cell, 0.1, most, |trial| {
            Ok((0.9..=1.1).contains(&recalibrated(&run(scene, examples, Shape::Line, line, trial)?.fresh)))
        })?;
        cx.settled()?;
    }
    for &size in sizes {
        for (name, effect) in EFFECTS.into_iter().filter(|(_, effect)| judged(*effect)) {
            for share in SHARES {
                let (cell, scene) =
                    (format!("share {share}, {name}, {size} examples"), Scene::of(share, effect));
                cx.prob(&cell, 0.2, most, |trial| {
                    let Judged { off, loss, .. } = run(scene, size, Shape::Line, line, trial)?;
                    Ok(off <= 2.0 && loss <= 1.01)
                })?;
                cx.settled()?;
            }
        }
    }
    if line == Line::ForgetsShares {
        // At shares that are not rare, that of 200 examples is too near to the truth to be noticed.
        return Ok(());
    }
    for &share in of_trees {
        let (cell, scene) = (format!("share {share}, trees, {small} examples"), Scene::of(share, strong));
        cx.prob(&cell, 0.2, most, |trial| {
            let Judged { off, loss, .. } = run(scene, small, Shape::Trees, line, trial)?;
            Ok(off <= 2.0 && loss <= 1.01)
        })?;
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-calibration",
    place: "Probabilities of classes",
    sentence: "Where labels are two classes, in at least 80 % of the runs the mean of the probabilities that \
               Pursuit, or trees after its search, give to fresh examples is the share of the class, within \
               two of its standard errors in the rows that they learned from, and their logarithmic loss is \
               at most 1.01 times that of the share; and from 20,000 examples of Pursuit with strong \
               effects (100,000 where the class is rare) a logistic regression of the classes on their log \
               odds has a slope from .9 to 1.1, in at least 90 %.",
    formula: r"P\Bigl(|E[\hat p] - \pi| > 2 \sqrt{\pi (1 - \pi)/n} + 1/n \;\text{ or }\; L(\hat p) > 1.01\,
               L(\bar y)\Bigr) \le 0.2, \qquad P(|b - 1| > 0.1) \le 0.1",
    design: "d = 12, s' = 6; independent normal attributes, of which none or two have an effect on the log \
             odds: 0, .1 or 1.5 per standard deviation. Shares are .5, .2, .05, .01, .004; from 300 to \
             100,000 examples in the full tier. Trees learn from the rows that are complete, of classes with \
             strong effects. Means, losses and slopes are those of 3,000 fresh examples \
             whose true probabilities are known. A normal law would leave .05 in the place of .2: the \
             binomial law of a rare class has longer tails.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
