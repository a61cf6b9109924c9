//! Figures 1 and 2 as comparisons of pairs.
//!
//! *Statements.* (a) HSG-HT is the most efficient at moderate accuracy. (b) SCSG-HT reaches the highest accuracy for the same number of IFO calls;
//! it is ahead of SVRG-HT early. (c) Its curves vary more in early epochs, because B < n. (d) SG-HT is ahead at first, then stalls.
//!
//! *Design.* The scenario, the tuning and the budgets of [`contest`](super::contest); sign tests on fresh data. (a): ahead of each other method
//! at 4 n calls. (b) as printed: SCSG-HT, either option, ahead of HSG-HT at 20 n calls. Early: option II ahead of SVRG-HT at 4 n. (c):
//! one data set, equally many steps an epoch, variances of the log gap after the first three epochs. (d): ahead of SVRG-HT and
//! both options of SCSG-HT after n calls; with the same step the log gap falls from 10 n to 20 n calls by less than a twentieth of what it fell before.
//!
//! *What comes out.* (a), the early half of (b), (c) and (d) hold here; at 2 n calls neither of option II and SVRG-HT is ahead for sure. SCSG-HT with B = n/10 does not reach the highest accuracy: its floor is of the order
//! `eta sigma^2`, and with constant eta and B < n no tuning removes it; a gap of 1e-8 means `min{1/eps, n} = n`, that is, SVRG-HT
//! (erratum 21).
//!
//! *Controls.* A step 30 times shorter must lose. The printed form is accepted by its judge when the best method is entered under the name of
//! SCSG-HT.

use super::contest::{self, Entry, MARKS, METHODS, Method, N};
use super::runs::each_round;
use crate::claim::{Claim, Expected, Form, Mutant, Regime};
use crate::context::{Axis, Context, Direction, Figure, Series, Trial};
use crate::instance::quadratics::Shared;
use crate::judge::{Kind, paired, ratio, slope};
use lao_algorithms::thresholding::{EpochLength, ScsgParams, Shape};

/// Gaps of one method at one mark, in trial order.
fn gaps(all: &[Vec<Vec<f64>>], method: Method, mark: f64) -> Vec<f64> {
    let entry = METHODS.iter().position(|other| *other == method).unwrap_or(0);
    let at = MARKS.iter().position(|other| *other == mark).unwrap_or(0);
    all.iter().map(|trial| trial[entry][at].exp()).collect()
}

fn ahead(cx: &mut Context<'_>, all: &[Vec<Vec<f64>>], better: Method, worse: Method, mark: f64) {
    let finding = paired::better(&gaps(all, better, mark), &gaps(all, worse, mark), cx.alpha());
    cx.judge(&format!("{} ahead of {} at {mark} n calls", better.name(), worse.name()), finding);
}

fn run(cx: &Context<'_>, entries: &[Entry], budget: f64) -> anyhow::Result<Vec<Vec<Vec<f64>>>> {
    contest::run(cx, "pairs", cx.size("pairs")?, entries, budget)
}

/// Shortens the step of one method.
fn sabotaged(cx: &Context<'_>, method: Method, budget: f64) -> anyhow::Result<Vec<Entry>> {
    let mut entries = contest::tuned(cx, budget)?;
    if !cx.honest() {
        entries.iter_mut().filter(|entry| entry.0 == method).for_each(|entry| entry.1 /= 30.0);
    }
    Ok(entries)
}

/// Step sizes and mean log gaps at the budget.
fn report(cx: &mut Context<'_>, entries: &[Entry], all: &[Vec<Vec<f64>>], budget: f64) {
    if !cx.honest() {
        return;
    }
    for (method, step) in entries {
        let logs: Vec<f64> = gaps(all, *method, budget).iter().map(|gap| gap.ln()).collect();
        let name = format!("{}, tuned for {budget} n calls", method.name());
        cx.note(&format!("{name}: step size"), *step);
        cx.note(&format!("{name}: mean log gap"), logs.iter().sum::<f64>() / logs.len() as f64);
        cx.rate(&format!("log gap of {name}"), Direction::Larger, logs);
    }
}

fn moderate(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let entries = sabotaged(cx, Method::Hsg, 4.0)?;
    debug_assert!(cx.honest() || cx.is("step_too_short"));
    let all = run(cx, &entries, 4.0)?;
    cx.split(4);
    for other in [Method::Sg, Method::Svrg, Method::One, Method::Two] {
        ahead(cx, &all, Method::Hsg, other, 4.0);
    }
    report(cx, &entries, &all, 4.0);
    Ok(())
}

fn highest(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let entries = contest::tuned(cx, 20.0)?;
    let mut all = run(cx, &entries, 20.0)?;
    report(cx, &entries, &all, 20.0);
    if cx.honest() {
        let series = METHODS.iter().map(|method| {
            let mean = |mark: f64| {
                let logs: f64 = gaps(&all, *method, mark).iter().map(|gap| gap.ln()).sum();
                (logs / all.len() as f64).exp()
            };
            Series::line(method.name(), MARKS.iter().map(|mark| [mark * N as f64, mean(*mark)]).collect())
        });
        let series = series.collect();
        cx.figure(Figure {
            caption: "Gap of the objective against IFO calls, geometric mean over the data sets; tuned for 20 n calls.".into(),
            x: Axis::log("IFO calls"),
            y: Axis::log("f - f*"),
            series,
        });
    }
    if cx.is("best_under_its_name") {
        for trial in &mut all {
            trial.swap(0, 3);
            trial[4] = trial[3].clone();
        }
    }
    cx.split(2);
    for option in [Method::One, Method::Two] {
        ahead(cx, &all, option, Method::Hsg, 20.0);
    }
    Ok(())
}

fn early(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let entries = sabotaged(cx, Method::Two, 4.0)?;
    debug_assert!(cx.honest() || cx.is("step_too_short"));
    let all = run(cx, &entries, 4.0)?;
    ahead(cx, &all, Method::Two, Method::Svrg, 4.0);
    report(cx, &entries, &all, 4.0);
    Ok(())
}

fn stalls(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let entries = sabotaged(cx, Method::Sg, 1.0)?;
    debug_assert!(cx.honest() || cx.is("step_too_short"));
    let all = run(cx, &entries, 1.0)?;
    cx.split(4);
    for other in [Method::Svrg, Method::One, Method::Two] {
        ahead(cx, &all, Method::Sg, other, 1.0);
    }
    report(cx, &entries, &all, 1.0);
    if cx.is_settled() {
        return Ok(());
    }
    let alone: Vec<Entry> = entries.into_iter().filter(|entry| entry.0 == Method::Sg).collect();
    let all = contest::run(cx, "SG-HT alone", cx.size("stall_runs")?, &alone, 20.0)?;
    let log = |mark: f64| -> Vec<f64> {
        let at = MARKS.iter().position(|other| *other == mark).unwrap_or(0);
        all.iter().map(|trial| trial[0][at]).collect()
    };
    let [first, middle, last] = [0.25, 10.0, 20.0].map(log);
    let shares: Vec<f64> =
        (0..all.len()).map(|r| (middle[r] - last[r]) / (first[r] - middle[r]).max(1e-9)).collect();
    let finding = slope::judge_sample(&shares, (f64::NEG_INFINITY, 0.05), cx.alpha(), Kind::Mean);
    cx.judge("SG-HT: fall of the log gap from 10 n to 20 n calls over that before", finding);
    Ok(())
}

/// Log gaps of every run after each of the first three epochs, on one data set.
fn first_epochs(
    cx: &Context<'_>,
    (name, method): (&str, EarlyMethod),
    sum: &Shared,
    least: f64,
) -> anyhow::Result<Vec<[f64; 3]>> {
    cx.all_trials(name, cx.size("runs")?, |trial: &Trial| {
        let (mut sum, mut scored, mut logs) = (sum.sum(), sum.sum(), Vec::new());
        let batch = if method == EarlyMethod::Svrg { N } else { N / 10 };
        let length = match method {
            EarlyMethod::One => EpochLength::Geometric,
            _ => EpochLength::Steps(N as u64 / 10),
        };
        let params =
            ScsgParams { sparsity: 20, step_size: EARLY_STEP, batch, mini_batch: 1, length, start: None };
        let mut solver = params.check(Shape::of(&sum))?;
        each_round(&mut sum, &mut solver, &trial.seed.child("algorithm"), 3, |x, _| {
            logs.push(scored.score(x).map_or(f64::INFINITY, |value| (value - least).ln()));
            false
        })?;
        anyhow::ensure!(logs.len() == 3 && logs.iter().all(|log| log.is_finite()), "a step diverged");
        Ok([logs[0], logs[1], logs[2]])
    })
}

/// Methods whose first epochs are compared, all with B/10 steps an epoch, in the mean or exactly.
#[derive(Clone, Copy, PartialEq)]
enum EarlyMethod {
    Svrg,
    One,
    Two,
}

const EARLY_STEP: f64 = 1e-3;

fn variance(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let seed = cx.seed("data set");
    let sum = contest::data(&seed)?;
    let least = contest::reference(&sum, &seed)?;
    let sum = Shared::new(sum);
    let itself = cx.is("compared_with_itself");
    let svrg = first_epochs(cx, ("SVRG-HT", EarlyMethod::Svrg), &sum, least)?;
    let deviations = |logs: &[[f64; 3]], epoch: usize| -> Vec<f64> {
        let mean = logs.iter().map(|log| log[epoch]).sum::<f64>() / logs.len() as f64;
        logs.iter().map(|log| (log[epoch] - mean) * (log[epoch] - mean)).collect()
    };
    cx.split(6);
    for (name, method) in [("SCSG-HT I", EarlyMethod::One), ("SCSG-HT II", EarlyMethod::Two)] {
        let method = if itself { EarlyMethod::Svrg } else { method };
        let scsg = first_epochs(cx, (name, method), &sum, least)?;
        for epoch in 0..3 {
            let (above, below) = (deviations(&scsg, epoch), deviations(&svrg, epoch));
            let finding = ratio::independent(&above, &below, (1.0, f64::INFINITY), cx.alpha());
            cx.judge(
                &format!("variance of the log gap after epoch {}, {name} over SVRG-HT", epoch + 1),
                finding,
            );
        }
    }
    Ok(())
}

const DESIGN: &str = "n = 1000, d = 200, AR(.5) rows, ten signs, noise .3, k = 20, from zero; budgets enforced inside epochs; step sizes tuned for the budget on \
                      other seeds; sign tests on fresh data.";

/// Figure 1, moderate accuracy.
pub const MODERATE: Claim = Claim {
    id: "scsg20-fig-a",
    place: "Section 5, Figure 1: moderate accuracy",
    sentence: "At 4 n IFO calls tuned HSG-HT is ahead of SG-HT, SVRG-HT and both options of SCSG-HT.",
    formula: r"f(x_{\mathrm{HSG}}) < f(x_{\mathrm{SG}}), f(x_{\mathrm{SVRG}}), f(x_{\mathrm{SCSG}}) \quad (4 n\ \text{calls})",
    design: DESIGN,
    form: Form::Sound,
    regime: Regime::Practical,
    expected: Expected::Holds,
    open: false,
    errata: &[],
    mutants: &[Mutant::refuted("step_too_short", "HSG-HT with a thirtieth of its step")],
    experiment: moderate,
};

/// Figure 1, high accuracy.
pub const HIGHEST: Claim = Claim {
    id: "scsg20-fig-b-printed",
    place: "Section 5, Figure 1: high accuracy",
    sentence: "At 20 n IFO calls tuned SCSG-HT with B = n/10 has the smallest objective.",
    formula: r"f(x_{\mathrm{SCSG}}) < f(x_{\mathrm{HSG}}) \quad (20 n\ \text{calls})",
    design: DESIGN,
    form: Form::Printed,
    regime: Regime::Practical,
    expected: Expected::Refuted,
    open: false,
    errata: &[21],
    mutants: &[Mutant::held("best_under_its_name", "HSG-HT entered as SCSG-HT, and SCSG-HT as HSG-HT")],
    experiment: highest,
};

/// Figure 1, early.
pub const EARLY: Claim = Claim {
    id: "scsg20-fig-b-early",
    place: "Section 5, Figure 1: early",
    sentence: "At 4 n IFO calls tuned SCSG-HT II is ahead of tuned SVRG-HT.",
    formula: r"f(x_{\mathrm{SCSG}}) < f(x_{\mathrm{SVRG}}) \quad (4 n\ \text{calls})",
    design: DESIGN,
    form: Form::Sound,
    regime: Regime::Practical,
    expected: Expected::Holds,
    open: false,
    errata: &[],
    mutants: &[Mutant::refuted("step_too_short", "SCSG-HT II with a thirtieth of its step")],
    experiment: early,
};

/// Figure 1, the variance.
pub const VARIANCE: Claim = Claim {
    id: "scsg20-fig-c",
    place: "Section 5: variance of the curves",
    sentence: "In early epochs the log gap of SCSG-HT varies more from run to run than that of SVRG-HT with the same step size and equally many steps, because B < n.",
    formula: r"\operatorname{Var} \log (f(X^{(j)}_{\mathrm{SCSG}}) - f^*) > \operatorname{Var} \log (f(X^{(j)}_{\mathrm{SVRG}}) - f^*), \quad j = 1, 2, 3",
    design: "One data set of the scenario of the other figures; B = n/10 against B = n, b = 1, eta = .001, 100 steps an epoch (in the mean for option I); \
             squared deviations against squared deviations.",
    form: Form::Sound,
    regime: Regime::Practical,
    expected: Expected::Holds,
    open: false,
    errata: &[],
    mutants: &[Mutant::not_held("compared_with_itself", "SVRG-HT against SVRG-HT")],
    experiment: variance,
};

/// Figure 1, SG-HT.
pub const STALLS: Claim = Claim {
    id: "scsg20-fig-d",
    place: "Section 5, Figure 1: SG-HT",
    sentence: "SG-HT is ahead of the variance-reduced methods at n IFO calls, and stalls later.",
    formula: r"f(x_{\mathrm{SG}}) < f(x_{\mathrm{SVRG}}), f(x_{\mathrm{SCSG}}) \quad (n\ \text{calls})",
    design: DESIGN,
    form: Form::Sound,
    regime: Regime::Practical,
    expected: Expected::Holds,
    open: false,
    errata: &[],
    mutants: &[Mutant::refuted("step_too_short", "SG-HT with a thirtieth of its step")],
    experiment: stalls,
};
