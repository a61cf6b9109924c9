//! Theorem 3.4, the step size: `1/(4B)` where `1/(4B^2)` is printed.
//!
//! *Why the print is wrong.* Multiplying labels and predictors by B multiplies gradients by B, so a step that
//! means the same has to be divided by B, once. The proof balances `log(2d)/eta` against `5 eta G^2 m` with
//! `G` of the order of B, which gives `1/(4B)`; with the printed step one gets
//! `BG sqrt(5 log(2d)/m) (B + 1/B)` instead. The two agree at `B = 1` only.

use super::thm34_risk::{bound, excess};
use crate::setup::problem::{Problem, Run};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::{Context, View};

/// Judges with a step of `power` in `1/(4 B^power)`.
fn at_power(cx: &mut Context<'_>, power: i32) -> anyhow::Result<()> {
    let most = cx.size("trials")?;
    let settings = [
        ("B = 20, d = k = 5, m = 6,000", 20.0, 5, 5, 6000),
        ("B = 50, d = 10, k = 11, m = 3,000", 50.0, 10, 11, 3000),
    ];
    cx.split(settings.len());
    let cripple = cx.cripple();
    for (name, radius, dim, draws, examples) in settings {
        let problem = Problem::axis(dim, radius);
        let run = Run { step: f64::powi(radius, 1 - power), cripple, ..Run::new(draws, examples) };
        let unit = radius * radius;
        let range = (bound(&problem, &run, 4.0) / unit, problem.worst / unit);
        let shown = cx.shown_one_by_one(name)?;
        cx.mean_within(name, range, most, |trial| {
            let all = |views: &[View]| excess(&problem, &run, views, &trial.seed);
            Ok(shown.of(trial, all)? / unit)
        })?;
        cx.settled()?;
    }
    Ok(())
}

const FAULTS: [Fault<i32>; 1] = [Fault::refuted("as_printed", "divides by 4 B^2", 2)];

fn corrected(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let power = cx.arm(1, &FAULTS);
    at_power(cx, power)
}

/// With the printed step u moves by about `eta B (1 + w_1/B)` per example, and `w_1/B` is
/// `sinh u_1/(cosh u_1 + d - 1)`. At B = 20, d = 5, `eta B` is 1.5e-4: `w_1/B` falls to -0.18, is -0.09 on
/// average, and the excess over `B^2`, `(1 + w_1/B)^2/2`, is about 0.414. At B = 50, d = 10 it is 1.05e-4:
/// -0.032, -0.016, and 0.484.
const VIOLATIONS: [Violation; 2] = [
    Violation { cell: "B = 20, d = k = 5, m = 6,000", at_least: 0.40, at_most: 0.43 },
    Violation { cell: "B = 50, d = 10, k = 11, m = 3,000", at_least: 0.475, at_most: 0.495 },
];

const CONTROL: [Fault<i32>; 1] = [Fault::held("corrected_form", "divides by 4 B", 1)];

fn printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let power = cx.arm(2, &CONTROL);
    at_power(cx, power)
}

/// The corrected form.
pub const CLAIM: Claim = Claim {
    id: "hk12-thm34-eta",
    place: "Theorem 3.4, step size, corrected",
    sentence: "With a step size proportional to 1/(4B), AELR keeps the bound of Theorem 3.4 at B = 20 and B \
               = 50.",
    formula: r"\eta = \frac{1}{4B} \sqrt{\frac{2k \log 2d}{5md}} \ \Rightarrow\
               \mathbf{E}\,[L_{\mathcal{D}}(\bar{w})] \le L_{\mathcal{D}}(w^*) + 4 B^2 \sqrt{\frac{10\,
               d \log 2d}{km}}",
    design: "One informative attribute, x = s e_1, y = -B s. At B = 20, d = k = 5, m = 6000 the printed step \
             is 20 times too small: the weights hardly move, and the excess stays at 0.41 B^2 where 0.248 \
             B^2 is promised. At B = 50, d = 10, k = 11, m = 3000 it stays near 0.49 B^2, where 0.381 B^2 is \
             promised. Excess in units of B^2 lies in [0, 2], so support needs no assumption on tails. For B \
             < 1 the printed step is too large; on this population that breaks nothing.",
    standing: Standing::corrected(&[6]).literal().learns(),
    mutants: &mutants(&FAULTS),
    experiment: corrected,
};

/// The printed form.
pub const PRINTED: Claim = Claim {
    id: "hk12-thm34-eta-printed",
    place: "Theorem 3.4, step size, as printed",
    sentence: "With a step size proportional to 1/(4B^2), AELR keeps the bound of Theorem 3.4 at B = 20 and \
               B = 50.",
    formula: r"\eta = \frac{1}{4B^2} \sqrt{\frac{2k \log 2d}{5md}} \ \Rightarrow\
               \mathbf{E}\,[L_{\mathcal{D}}(\bar{w})] \le L_{\mathcal{D}}(w^*) + 4 B^2 \sqrt{\frac{10\,
               d \log 2d}{km}}",
    design: "As the corrected form: x = s e_1 and y = -B s; excess in units of B^2, in closed form.",
    standing: Standing::printed(&[6])
        .literal()
        .violated(&VIOLATIONS)
        .showing(&[Shown { erratum: 6, cell: "B = 20" }, Shown { erratum: 6, cell: "B = 50" }]),
    mutants: &mutants(&CONTROL),
    experiment: printed,
};
