//! How a figure scales with a parameter: one grid, one slope per replicate.

use lao_observation::Seed;
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, ShownTrials, Trial, View};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::{self, SlopeJudge, fit};
use lao_verification_engine::plots;

/// What is measured at the `i`-th grid point, from a seed, in each view of the learner's estimate.
pub(crate) type Measure<'a> = dyn Fn(usize, &Seed, &[View]) -> anyhow::Result<Vec<f64>> + Sync + 'a;

/// Which arms share the measurements of a grid.
#[derive(Clone, Copy)]
pub(crate) enum Sharing {
    /// None: how the learner is crippled changes the runs.
    Nobody,
    /// The arms without a fault: all views show the same runs.
    Views,
    /// All but those of the crippled learners: no fault of the claim reaches the measurement.
    Faults,
}

/// A grid with the claim about its exponent.
pub(crate) struct Grid<'a> {
    /// What is measured against what.
    pub name: &'static str,
    /// The parameter.
    pub variable: &'static str,
    /// Its values.
    pub x: Vec<f64>,
    /// The measurement; positive.
    pub measure: Box<Measure<'a>>,
    /// The claim; `None` to report only.
    pub judge: Option<SlopeJudge>,
    /// The most that the mean at the last grid point may be; an exponent says nothing of it.
    pub level: Option<f64>,
    /// Which arms share the measurements.
    pub sharing: Sharing,
}

/// Judges the grids one after the other, until a mutant is settled.
pub(crate) fn judge(cx: &mut Context<'_>, grids: &[Grid<'_>], replicates: u64) -> anyhow::Result<()> {
    for grid in grids {
        let values = measured(cx, grid, replicates)?;
        if let Some(judge) = &grid.judge {
            cx.judge(grid.name, judge.judge(&grid.x, &values, cx.alpha()));
        }
        if let Some(level) = grid.level {
            let ends: Vec<f64> = values.iter().map(|y| y[y.len() - 1]).collect();
            let within = (f64::NEG_INFINITY, level);
            let finding = slope::judge_sample(&ends, within, cx.alpha(), FindingKind::Mean);
            cx.judge(&format!("{}: at the largest, at most {level}", grid.name), finding);
        }
        cx.settled()?;
        if cx.honest() {
            report(cx, grid, &values);
        }
    }
    Ok(())
}

/// The exponents of a grid's replicates, with the plot of their mean and of the exponent that is printed.
pub(crate) fn exponents(
    cx: &mut Context<'_>,
    grid: &Grid<'_>,
    replicates: u64,
    printed: f64,
) -> anyhow::Result<Vec<f64>> {
    let values = measured(cx, grid, replicates)?;
    let mean = plots::means("mean", &grid.x, &values);
    let printed = plots::theory(&format!("printed: {printed}"), &mean, printed);
    cx.figure(Figure {
        caption: format!("{}, mean of the replicates with bars of two standard errors.", grid.name),
        x: Axis::log(grid.variable),
        y: Axis::log(grid.name),
        series: vec![mean, printed],
    });
    Ok(fit(&grid.x, &values, None).map_err(anyhow::Error::msg)?.iter().map(|fit| fit.slope).collect())
}

fn measured(cx: &Context<'_>, grid: &Grid<'_>, replicates: u64) -> anyhow::Result<ShownTrials<Vec<f64>>> {
    let measure = |trial: &Trial, views: &[View]| {
        let mut values = vec![Vec::new(); views.len()];
        for i in 0..grid.x.len() {
            let found = (grid.measure)(i, &trial.seed.trial(i as u64), views)?;
            values.iter_mut().zip(found).for_each(|(values, found)| values.push(found));
        }
        Ok(values)
    };
    let view = cx.cripple();
    let own = || cx.all_trials(grid.name, replicates, |trial| Ok(measure(trial, &[view])?.swap_remove(0)));
    match grid.sharing {
        Sharing::Views => cx.shown_trials(grid.name, replicates, measure),
        Sharing::Faults if view.is_none() => Ok(ShownTrials::first(cx.shared(grid.name, own)?, replicates)),
        Sharing::Nobody | Sharing::Faults => Ok(own()?.into()),
    }
}

fn report(cx: &mut Context<'_>, grid: &Grid<'_>, values: &[Vec<f64>]) {
    let mean = |i: usize| values.iter().map(|y| y[i]).sum::<f64>() / values.len() as f64;
    let curve: Vec<[f64; 2]> = grid.x.iter().enumerate().map(|(i, &x)| [x, mean(i)]).collect();
    for [x, y] in [curve[0], curve[curve.len() - 1]] {
        cx.note(&format!("{}: mean at {} = {x:.4}", grid.name, grid.variable), y);
    }
    if let Ok(fits) = fit(&grid.x, values, None) {
        let slopes = fits.iter().map(|fit| fit.slope).collect();
        // The name of a grid says in which parameter.
        cx.rate(&format!("exponent of {}", grid.name), Direction::Larger, slopes);
    }
    cx.figure(Figure {
        caption: format!("{}, mean of the replicates.", grid.name),
        x: Axis::log(grid.variable),
        y: Axis::log(grid.name),
        series: {
            let mean = Series::line("mean", curve);
            let exponent = grid.judge.as_ref().map(|judge| judge.exponent.stated());
            let theory = exponent.map(|p| plots::theory(&format!("exponent {p}"), &mean, p));
            [mean].into_iter().chain(theory).collect()
        },
    });
}

/// The least scale from `from` on, to within the factor `within`, at which there is enough: by doubling, then
/// bisection.
pub(crate) fn least(
    from: f64,
    within: f64,
    enough: impl Fn(f64) -> anyhow::Result<bool>,
) -> anyhow::Result<f64> {
    let mut above = from;
    while !enough(above)? {
        above *= 2.0;
        anyhow::ensure!(above < 1e4 * from, "out of reach");
    }
    let mut below = 0.5 * above;
    while above > within * below {
        let middle = (above * below).sqrt();
        if enough(middle)? { above = middle } else { below = middle }
    }
    Ok(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_scale_is_found_to_within_a_factor() {
        for edge in [1.0, 3.3, 700.0] {
            for within in [1.05, 1.2] {
                let found = least(1.0, within, |scale| Ok(scale >= edge)).unwrap();
                assert!((edge..=within * edge).contains(&found), "{found} for {edge}");
            }
        }
        assert!(least(1.0, 1.05, |_| Ok(false)).is_err());
    }
}
