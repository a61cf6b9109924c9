//! Measured orders: how a cost until an error is reached grows with a quantity, beside the printed orders.

use super::{Analysis, Rows};
use crate::row::mean_sd;
use lao_figures::{Axis, Figure, Series, Style};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A quantity that takes several values, while the others stay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    /// The quantity.
    pub of: String,
    /// Its values, ascending or descending.
    pub values: Vec<f64>,
}

/// A printed bound, by its exponents; those of quantities that are not named are 0. Logarithms are left out.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Bound {
    name: String,
    #[serde(flatten)]
    exponents: BTreeMap<String, f64>,
}

/// Returns the metric of a cost at one value of a quantity.
pub(super) fn metric(of: &str, value: f64) -> String {
    format!("cost at {of} = {value}")
}

/// Returns the cost at which an error first falls to `goal`, between two points of the curve along the line
/// on which logarithms are straight; `None` if it never does.
pub(super) fn reached(curve: &[(f64, f64)], goal: f64) -> Option<f64> {
    let at = curve.iter().position(|(_, error)| *error <= goal)?;
    let (cost, error) = curve[at];
    let Some((before, larger)) = at.checked_sub(1).map(|at| curve[at]) else { return Some(cost) };
    let part = (larger / goal).ln() / (larger / error).ln();
    let between = (before.max(1.0).ln() * (1.0 - part) + cost.ln() * part).exp();
    Some(if between.is_finite() { between } else { cost })
}

/// Returns the label of a quantity.
fn label(of: &str) -> &str {
    match of {
        "dim" => "d, attributes",
        "budget" => "s', attributes looked at of an example",
        "sparsity" => "s*, attributes with an effect",
        "rows" => "n, rows",
        "condition" => "condition number",
        "error" => "error, as a part of that of zero",
        other => other,
    }
}

/// Returns the slope of the logarithm of `y` in that of `x` by least squares.
fn slope(points: &[[f64; 2]]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&[f64; 2]) -> f64| points.iter().map(|p| of(p).ln()).sum::<f64>() / n;
    let (x, y) = (mean(|p| p[0]), mean(|p| p[1]));
    let (mut both, mut square) = (0.0, 0.0);
    for p in points {
        both += (p[0].ln() - x) * (p[1].ln() - y);
        square += (p[0].ln() - x).powi(2);
    }
    Some(both / square).filter(|slope| points.len() > 1 && slope.is_finite())
}

/// Returns the exponents of a contender's cost in a quantity, one for each repetition in which all goals were
/// reached.
pub(super) fn exponents(rows: &Rows<'_>, contender: &str, of: &str, sweeps: &[Sweep]) -> Vec<f64> {
    let Some(sweep) = sweeps.iter().find(|sweep| sweep.of == of) else { return Vec::new() };
    let of_repetition = |r: u64| -> Option<f64> {
        let cost =
            |x: f64| rows.values(contender, &metric(of, x), |row| row.repetition == r).first().copied();
        let points = sweep.values.iter().map(|x| Some([*x, cost(*x)?]));
        slope(&points.collect::<Option<Vec<_>>>()?)
    };
    (0..rows.repetitions()).filter_map(of_repetition).collect()
}

/// Draws the costs of each sweep, with the printed orders through the first point, and makes a table of
/// exponents: the mean of the repetitions and two standard errors.
pub(super) fn analyze(
    rows: &Rows<'_>,
    contenders: &[(&str, &[Bound])],
    sweeps: &[Sweep],
    cost: &str,
) -> Analysis {
    let mut table =
        vec![["method", "quantity", "measured exponent", "printed", "costs"].map(String::from).to_vec()];
    let mut figures = Vec::new();
    let repetitions = rows.repetitions();
    for sweep in sweeps {
        let mut series = Vec::new();
        for (name, bounds) in contenders {
            let at = |x: f64| rows.values(name, &metric(&sweep.of, x), |_| true);
            let points: Vec<[f64; 2]> =
                sweep.values.iter().filter_map(|x| Some([*x, mean_sd(&at(*x))?.0])).collect();
            let slopes = exponents(rows, name, &sweep.of, sweeps);
            let order = |bound: &Bound| bound.exponents.get(&sweep.of).copied().unwrap_or(0.0);
            let measured = mean_sd(&slopes).map_or_else(
                || "the goal was not reached".into(),
                |(mean, sd)| {
                    let of = slopes.len() as u64;
                    let missed = match repetitions - of {
                        0 => String::new(),
                        _ => format!(" ({of} of {repetitions} repetitions reached all goals)"),
                    };
                    format!("{mean:.2} ± {:.2}{missed}", 2.0 * sd / (of as f64).sqrt())
                },
            );
            let printed: Vec<String> =
                bounds.iter().map(|bound| format!("{} {}", bound.name, order(bound))).collect();
            let costs: Vec<String> = points.iter().map(|[_, y]| format!("{y:.0}")).collect();
            table.push(vec![
                (*name).into(),
                sweep.of.clone(),
                measured,
                printed.join("; "),
                costs.join(", "),
            ]);
            if let Some([x, y]) = points.first().copied() {
                for bound in *bounds {
                    let line = |to: f64| [to, y * (to / x).powf(order(bound))];
                    let ends = [sweep.values.first(), sweep.values.last()];
                    let ends = ends.into_iter().flatten().map(|to| line(*to)).collect();
                    series.push(Series::bound(&format!("{name}: {}", bound.name), ends));
                }
            }
            series.push(Series { name: (*name).into(), style: Style::Line, points, interval: Vec::new() });
        }
        figures.push(Figure {
            caption: format!(
                "Mean {cost} against {}, others fixed; dashed, the printed orders.",
                label(&sweep.of)
            ),
            x: Axis::log(label(&sweep.of)),
            y: Axis::log(cost),
            series,
        });
    }
    Analysis { winner: String::new(), figures, table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_reaches_its_goal_between_two_points() {
        let curve = [(10.0, 1.0), (100.0, 0.01), (1000.0, 0.001)];
        assert!((reached(&curve, 0.1).unwrap() - 31.6).abs() < 0.1);
        assert_eq!(reached(&curve, 2.0), Some(10.0));
        assert_eq!(reached(&curve, 1e-4), None);
    }

    #[test]
    fn a_power_has_its_exponent() {
        let points: Vec<[f64; 2]> = [1.0, 2.0, 5.0].map(|x: f64| [x, 3.0 * x.powf(1.5)]).to_vec();
        assert!((slope(&points).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(slope(&points[..1]), None);
    }
}
