//! Figures that many claims draw: how something grows, how it falls, and how replicates spread.

use crate::judge::sample::Moments;
use lao_figures::{Axis, Figure, Series};

/// Returns a curve of means of positive values over replicates, `replicates[r][i]` at `x[i]`, with bars of
/// two standard errors.
pub fn means(name: &str, x: &[f64], replicates: &[Vec<f64>]) -> Series {
    let mut series = Series::line(name, Vec::new());
    for (i, &x) in x.iter().enumerate() {
        let column: Vec<f64> = replicates.iter().filter_map(|values| values.get(i).copied()).collect();
        let moments = Moments::of(&column);
        let reach = 2.0 * moments.se();
        series.points.push([x, moments.mean]);
        series.interval.push([moments.mean - reach, moments.mean + reach]);
    }
    series
}

/// Returns the line of an `exponent` that theory has, through the first point of a measured curve.
pub fn theory(name: &str, measured: &Series, exponent: f64) -> Series {
    let through = |[x_0, y_0]: [f64; 2]| {
        measured.points.iter().map(|&[x, _]| [x, y_0 * (x / x_0).powf(exponent)]).collect()
    };
    Series::bound(name, measured.points.first().copied().map_or_else(Vec::new, through))
}

/// Returns the figure of `(label, y)` against `(label, x)` on logarithmic axes: the mean of the replicates,
/// and the line of the claimed `exponent` through the first mean.
pub fn growth(
    caption: &str,
    (x_label, x): (&str, &[f64]),
    (y_label, replicates): (&str, &[Vec<f64>]),
    exponent: f64,
) -> Figure {
    let measured = means("mean of the replicates", x, replicates);
    let line = theory(&format!("exponent {exponent}"), &measured, exponent);
    Figure {
        caption: caption.into(),
        x: Axis::log(x_label),
        y: Axis::log(y_label),
        series: vec![measured, line],
    }
}

/// Returns the geometric mean over runs of curves that fall, `curves[r][t]` at `t = 0, 1, ..`.
pub fn decay(name: &str, curves: &[Vec<f64>]) -> Series {
    let length = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |t: usize| curves.iter().map(|curve| curve[t].ln()).sum::<f64>() / curves.len() as f64;
    Series::line(name, (0..length).map(|t| [t as f64, mean(t).exp()]).collect())
}

/// Returns the figure of the replicates of several measurements, each sorted, against the share of replicates
/// that are smaller.
pub fn spread(caption: &str, y: Axis, samples: &[(&str, &[f64])]) -> Figure {
    let sorted = |sample: &[f64]| -> Vec<[f64; 2]> {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        sorted.into_iter().enumerate().map(|(i, y)| [(i as f64 + 0.5) / n, y]).collect()
    };
    Figure {
        caption: caption.into(),
        x: Axis::linear("share of the replicates below"),
        y,
        series: samples.iter().map(|(name, sample)| Series::points(name, sorted(sample))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_lies_on_the_line_of_its_exponent() {
        let x = [1.0, 2.0, 4.0];
        let figure = growth("c", ("x", &x), ("y", &[vec![3.0, 6.0, 12.0], vec![3.0, 6.0, 12.0]]), 1.0);
        assert_eq!(figure.series[0].points, figure.series[1].points);
        assert_eq!(figure.series[0].interval[1], [6.0, 6.0]);
    }

    #[test]
    fn means_of_falling_curves_are_geometric_and_replicates_are_sorted() {
        let points = decay("gap", &[vec![1.0, 0.1], vec![1.0, 0.4]]).points;
        assert!((points[1][1] - 0.2).abs() < 1e-12);
        let figure = spread("c", Axis::linear("y"), &[("a", &[3.0, 1.0])]);
        assert_eq!(figure.series[0].points, [[0.25, 1.0], [0.75, 3.0]]);
    }
}
