//! The law of the examples until the support is found.
//!
//! *Why.* Nulls are never decided: an attribute with an effect is looked at in every example once it is among
//! the largest, and needs about `(s* + sigma^2/r^2) log(d/level)` looks, where r is its coefficient; until
//! then the looks go round the d attributes, `s' - s*` to `s'` at a time. A proof bounds the number by `(s* +
//! sigma^2/r^2) log d` times `d/(s' - s*)`. Simulations made before this claim have the law `10 (s* +
//! sigma^2/r^2) d/s'`, without a visible logarithm: 9.7 to 12.8 in place of 10 in 16 settings.
//!
//! *Lower bound.* One of d independent standard normal attributes has the coefficient r, and the noise is
//! normal; a learner looks at s' attributes of each of N examples and names the attribute. Where it is looked
//! at, the law of what is seen has the Kullback-Leibler divergence `kappa = rho - log(1 + rho)/2`, `rho =
//! r^2/sigma^2`, from that of a label that depends on no attribute. By Pinsker's inequality, and since only
//! `N s'` looks are shared by d attributes, the probability that the name is right is at most `1/d +
//! sqrt(kappa N s'/(2 d))`. So it is at most 1/2 for `N <= (1 - 2/d)^2 d/(2 kappa s')`.
//!
//! The simulations had 6 to 25 times this number.
//!
//! *Cells.* Exponents are those of medians over blocks of four runs. The intervals are around what the
//! simulations had (1.00, 1.04, .94, -.93 to -1.1), and were fixed before the first run.

use crate::setup::support::{Looks, Search, Searches};
use crate::setup::{Law, Scene};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::{Exponent, judge_sample, judge_slopes};

/// What the law has in place of 10, at least and at most.
const FACTOR: [f64; 2] = [8.0, 14.0];
/// For one coefficient, the number of examples is at most this multiple of the lower bound.
const ABOVE: f64 = 30.0;
/// A run ends at this multiple of the law.
const LONGEST: f64 = 4.0;
/// The half-life of the learner that forgets.
const HALF_LIFE: f64 = 150.0;

/// A setting: `d`, `s'`, `s*` and `r`, in noise of variance 1.
#[derive(Clone, Copy)]
struct Setting {
    dim: usize,
    budget: usize,
    star: usize,
    effect: f64,
}

const BASE: Setting = Setting { dim: 60, budget: 12, star: 5, effect: 1.0 };

impl Setting {
    /// `s* + sigma^2/r^2`.
    fn difficulty(self) -> f64 {
        self.star as f64 + self.effect.powi(-2)
    }

    /// The law, whose factor is 1.
    fn law(self) -> f64 {
        self.difficulty() * self.dim as f64 / self.budget as f64
    }

    fn search(self, looks: Looks, last: f64) -> Search {
        let Setting { dim, budget, star, effect } = self;
        // A coefficient of 1 in noise of 1/r is one of r in noise of 1.
        let scene = Scene { law: Law::Independent, dim, star, noise: 1.0 / effect };
        Search { scene, budget, looks, last: last.ceil() as u64 }
    }

    /// The number of examples with which no learner finds one attribute in half of its runs.
    fn too_few(self) -> f64 {
        let rho = self.effect.powi(2);
        let kappa = rho - rho.ln_1p() / 2.0;
        let d = self.dim as f64;
        (1.0 - 2.0 / d).powi(2) * d / (2.0 * kappa * self.budget as f64)
    }
}

/// An axis along which settings vary: its name, what an exponent is of, the settings and the exponent.
struct Along {
    title: &'static str,
    at: fn(Setting) -> f64,
    settings: Vec<Setting>,
    exponent: Exponent,
    /// Whether the quick tier has it, too.
    always: bool,
}

fn axes() -> [Along; 4] {
    let effects = |star, effects: &[f64]| -> Vec<Setting> {
        effects.iter().map(|&effect| Setting { star, effect, ..BASE }).collect()
    };
    [
        Along {
            title: "s* + sigma^2/r^2",
            at: Setting::difficulty,
            settings: effects(5, &[1.0, 0.5, 0.25, 0.125]),
            exponent: Exponent::Within(0.9, 1.1),
            always: true,
        },
        Along {
            title: "1/r^2, s* = 1",
            at: |setting| setting.effect.powi(-2),
            settings: effects(1, &[0.25, 0.125, 0.0625]),
            exponent: Exponent::Within(0.9, 1.2),
            always: false,
        },
        Along {
            title: "d",
            at: |setting| setting.dim as f64,
            settings: [60, 240, 960].map(|dim| Setting { dim, ..BASE }).to_vec(),
            exponent: Exponent::Within(0.8, 1.05),
            always: true,
        },
        Along {
            title: "s'",
            at: |setting| setting.budget as f64,
            settings: [7, 10, 16, 26].map(|budget| Setting { dim: 120, budget, ..BASE }).to_vec(),
            exponent: Exponent::Within(-1.3, -0.8),
            always: false,
        },
    ]
}

const FAULTS: [Fault<Looks>; 3] = [
    Fault::refuted("is_told_the_support", "begins with the true support", Looks::AtTheTruth),
    Fault::refuted("forgets", "an example counts half after 150 others", Looks::Forgetting(HALF_LIFE)),
    Fault::refuted("sees_all", "all attributes of an example are observed", Looks::AtAll),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (block, blocks, blocks_of_one) = (cx.size("block")?, cx.size("blocks")?, cx.size("blocks_of_one")?);
    let all = cx.size("all_cells")? > 0;
    let looks = cx.arm(Looks::AsItShould, &FAULTS);
    let axes: Vec<Along> = axes().into_iter().filter(|along| all || along.always).collect();
    cx.split(axes.len() + if all { 2 } else { 1 });
    let many = axes.iter().filter(|along| along.settings[0].star == BASE.star).count() as f64;
    let mut factors: Vec<f64> = Vec::new();
    let mut series = Vec::new();
    for Along { title, at, settings, exponent, .. } in axes {
        let search = |setting: &Setting| setting.search(looks, LONGEST * 10.0 * setting.law());
        let searches: Vec<Search> = settings.iter().map(search).collect();
        let sizes = [block, if settings[0].star == BASE.star { blocks } else { blocks_of_one }];
        let found = Searches::run(cx, title, sizes, &searches)?;
        let x: Vec<f64> = settings.iter().map(|setting| at(*setting)).collect();
        let slopes = found.exponents(&x)?;
        let cell = format!("exponent of {title}");
        cx.judge(&cell, judge_slopes(&slopes, exponent, 0.0, cx.alpha()));
        cx.settled()?;
        // A geometric mean over the settings, for each block.
        let (settings, medians) = (&settings, &found.medians);
        let over = |of: fn(Setting) -> f64| {
            medians.iter().map(move |medians| {
                let logs = medians.iter().zip(settings).map(|(median, setting)| (median / of(*setting)).ln());
                logs.sum::<f64>() / settings.len() as f64
            })
        };
        if settings[0].star == BASE.star {
            factors.resize(medians.len(), 0.0);
            factors.iter_mut().zip(over(Setting::law)).for_each(|(sum, of_axis)| *sum += of_axis / many);
        } else {
            let above: Vec<f64> = over(Setting::too_few).collect();
            let cell = "examples over those of the lower bound, logarithm";
            let ends = (0.0, ABOVE.ln());
            cx.judge(cell, judge_sample(&above, ends, cx.alpha(), FindingKind::Mean));
            cx.settled()?;
        }
        if cx.honest() {
            cx.rate(&cell, Direction::Larger, slopes);
            for (i, setting) in settings.iter().enumerate() {
                let middle = found.median(i);
                cx.note(&format!("{title} = {}: median number of examples", x[i]), middle);
                series.push([setting.law(), middle]);
            }
        }
    }
    let ends = (FACTOR[0].ln(), FACTOR[1].ln());
    cx.judge("factor of the law, logarithm", judge_sample(&factors, ends, cx.alpha(), FindingKind::Mean));
    cx.settled()?;
    if cx.honest() {
        series.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let law = series.iter().map(|[x, _]| [*x, 10.0 * x]).collect();
        cx.figure(Figure {
            caption:
                "Examples until the support is right, in all settings, and ten times (s* + sigma^2/r^2) \
                      d/s'."
                    .into(),
            x: Axis::log("(s* + sigma^2/r^2) d/s'"),
            y: Axis::log("examples"),
            series: vec![Series::points("medians", series), Series::bound("the law", law)],
        });
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-support-law",
    place: "Examples until the support is found",
    sentence: "The number of examples until the support of Pursuit is right, and stays right, is 10 (s* \
               + sigma^2/r^2) d/s' for s* = 5 coefficients of size r and independent attributes, with 8 \
               to 14 in place of 10: its exponent in s* + sigma^2/r^2 is from .9 to 1.1, in d from .8 to \
               1.05, and in s' from -1.3 to -.8; for one coefficient its exponent in 1/r^2 is from .9 to \
               1.2, and it is at most 30 times the number, (1 - 2/d)^2 d/(2 kappa s'), with which no \
               learner finds the attribute in half of its runs.",
    formula: r"N \approx 10 \Bigl(s_* + \frac{\sigma^2}{r^2}\Bigr) \frac{d}{s'}, \qquad
               1 \le N \Big/ \Bigl(1 - \frac2d\Bigr)^2 \frac{d}{2 \kappa s'} \le 30, \quad
               \kappa = \rho - \tfrac12 \log(1 + \rho), \; \rho = \frac{r^2}{\sigma^2}",
    design: "Independent normal attributes, coefficients r and -r, noise of variance 1. d = 60, s' = 12, \
             s* = 5 and r = 1, .5, .25, .125; s* = 1 and r = .25, .125, .0625; d = 60, 240, 960 at r = \
             1; s' = 7, 10, 16, 26 at d = 120; the quick tier has the first and the third. The support \
             is right as in `pursuit-identification`; a run ends at four times the law. An exponent is \
             that of medians over blocks of four runs, and the factor is the geometric mean over the \
             settings of s* = 5.",
    standing: Standing::ours().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
