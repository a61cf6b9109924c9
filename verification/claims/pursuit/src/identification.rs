//! How many examples it takes to find the support.
//!
//! *Why.* An attribute is added once its standardized sum crosses the boundary, whose square is about `2
//! log(d/level)`. A coefficient of 1 against labels of variance at most `s* + sigma^2` crosses it after
//! about `n_j = (s* + sigma^2) 2 log(d/level)` looks. The budget beyond the support gives at least `s' -
//! s*` looks per example, which go round `d` attributes: `N = n_j d/(s' - s*)`. This is an upper bound, to
//! first order: before attributes are found more of the budget is free, attributes that look promising are
//! looked at more often, and the variance of what is not yet explained falls. It is the level that the
//! medians are held to.
//!
//! *The interval.* Between d = 60 and 480 the slope of `d log d` is 1 + log(log 480/log 60)/log 8 = 1.20,
//! and that of `d log(d/.05)` is 1.12. A constant number of examples at the start, and looks that go to
//! promising attributes, lower the slope. So .8 to 1.3. In s' - s* the exponent of the bound is -1; the
//! budget beyond s* is what is free at the end of the search, and at its beginning s' is: the exponent is
//! between that of s', which is log(8/19)/log(14/3) = -.56, and -1. The claim is at most -.4.

use crate::setup::support::{Looks, Search, Searches};
use crate::setup::{Law, Scene};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series};
use lao_verification_engine::judge::prob;
use lao_verification_engine::judge::slope::{Exponent, judge_slopes};

const STAR: usize = 5;
/// The budget, and the numbers of attributes.
const BUDGET: usize = 12;
const DIMS: [usize; 4] = [60, 120, 240, 480];
/// The number of attributes, and the budgets.
const DIM: usize = 120;
const BUDGETS: [usize; 3] = [8, 12, 19];

const FAULTS: [Fault<Looks>; 2] = [
    Fault::refuted("sees_all", "all attributes of an example are observed", Looks::AtAll),
    Fault::refuted("never_explores", "only the first s' attributes are ever observed", Looks::AtTheFirst),
];

/// The bound for s* coefficients of 1 in noise of variance 1.
fn bound(dim: usize, budget: usize) -> f64 {
    let looks = (STAR as f64 + 1.0) * 2.0 * (dim as f64 / 0.05).ln();
    looks * dim as f64 / (budget - STAR) as f64
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let sizes = [cx.size("block")?, cx.size("blocks")?];
    let looks = cx.arm(Looks::AsItShould, &FAULTS);
    cx.split(2 + DIMS.len());
    let by_dim: Vec<(usize, usize)> = DIMS.iter().map(|&dim| (dim, BUDGET)).collect();
    let by_budget: Vec<(usize, usize)> = BUDGETS.iter().map(|&budget| (DIM, budget)).collect();
    for (title, grid, exponent) in [
        ("d, s' = 12", by_dim, Exponent::Within(0.8, 1.3)),
        ("s' - s*, d = 120", by_budget, Exponent::AtMost(-0.4)),
    ] {
        let of_d = title.starts_with('d');
        let search = |&(dim, budget): &(usize, usize)| {
            let scene = Scene { law: Law::Independent, dim, star: STAR, noise: 1.0 };
            Search { scene, budget, looks, last: bound(dim, budget).ceil() as u64 }
        };
        let searches: Vec<Search> = grid.iter().map(search).collect();
        let found = Searches::run(cx, title, sizes, &searches)?;
        let at = |&(dim, budget): &(usize, usize)| if of_d { dim } else { budget - STAR } as f64;
        let at: Vec<f64> = grid.iter().map(at).collect();
        let slopes = found.exponents(&at)?;
        cx.judge(&format!("exponent of {title}"), judge_slopes(&slopes, exponent, 0.0, cx.alpha()));
        cx.settled()?;
        for (i, &(dim, budget)) in grid.iter().enumerate() {
            let late = found.runs.iter().filter(|run| run[i] > bound(dim, budget)).count() as u64;
            if of_d {
                let cell = format!("d = {dim}: more than the bound");
                cx.judge(&cell, prob::fixed(0.5, cx.alpha(), late, found.runs.len() as u64));
                cx.settled()?;
            }
        }
        if cx.honest() {
            report(cx, title, (&at, &grid), &found);
            cx.rate(&format!("exponent of {title}"), Direction::Larger, slopes);
        }
    }
    Ok(())
}

fn report(cx: &mut Context<'_>, title: &str, (at, grid): (&[f64], &[(usize, usize)]), found: &Searches) {
    let (mut measured, mut allowed) =
        (Series::line("median", Vec::new()), Series::bound("bound", Vec::new()));
    for (i, &(dim, budget)) in grid.iter().enumerate() {
        let middle = found.median(i);
        cx.note(&format!("d = {dim}, s' = {budget}: median number of examples"), middle);
        cx.note(&format!("d = {dim}, s' = {budget}: bound"), bound(dim, budget));
        measured.points.push([at[i], middle]);
        allowed.points.push([at[i], bound(dim, budget)]);
    }
    cx.figure(Figure {
        caption: format!("Examples until the support is right, by {title}."),
        x: Axis::log(title),
        y: Axis::log("examples"),
        series: vec![measured, allowed],
    });
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-identification",
    place: "Examples until the support is found",
    sentence: "The number of examples until the support of Pursuit is right, and stays right, grows with \
               d at most like d log d (exponent between .8 and 1.3), falls with s' - s* (exponent at \
               most -.4), and its median is at most 2 (s* + sigma^2) log(d/.05) d/(s' - s*).",
    formula: r"N \approx \frac{d}{s' - s_*} \log d, \qquad \mathrm{median}(N) \le 2 (s_* + \sigma^2)
               \log\frac{d}{0.05} \cdot \frac{d}{s' - s_*}",
    design: "s* = 5 coefficients of 1 and -1 in noise of variance 1, independent normal attributes. d = \
             60, 120, 240 and 480 at s' = 12; s' = 8, 12 and 19 at d = 120. The support is right if it is \
             the true one, with the right signs and coefficients of a tenth of their size at least; it \
             must stay right for as many examples again, or up to the bound, where a run ends. An exponent \
             is that of medians over blocks of four runs.",
    standing: Standing::ours().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
