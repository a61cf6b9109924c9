//! Axes, which are linear, logarithmic, or a list of names. They are one type, so that a plot is one type
//! too; logarithmic ticks fall on decades.

use crate::number::number;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// An axis, which maps values to coordinates and has ticks.
#[derive(Clone, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
}

impl Scale {
    /// Returns the axis that shows all `values` with some margin; values that the axis cannot show are
    /// ignored.
    pub fn around(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let shown =
            values.filter(|x| x.is_finite() && (!log || *x > 0.0)).map(|x| if log { x.log10() } else { x });
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (low, high) = match high - low {
            span if span > 0.0 => (low - 0.04 * span, high + 0.04 * span),
            0.0 => (low - 0.5, high + 0.5),
            // There is no value.
            _ => (0.0, 1.0),
        };
        let ticks = if log { decades(low, high) } else { round_steps(low, high) };
        Scale { low, high, log, ticks }
    }

    /// Returns an axis with one tick per name, at 0, 1, 2, ..., that runs downwards: the first name is at the
    /// high end.
    pub fn names(names: impl Iterator<Item = String>) -> Self {
        let ticks: Vec<_> = names.enumerate().map(|(i, name)| (i as f64, name)).collect();
        let last = ticks.len().max(1) as f64 - 1.0;
        Scale { low: last + 0.6, high: -0.6, log: false, ticks }
    }

    /// Returns whether the axis can show this value.
    pub fn shows(&self, x: f64) -> bool {
        x.is_finite() && (!self.log || x > 0.0)
    }

    /// Returns the length of the longest tick label, in characters.
    pub fn label_width(&self) -> usize {
        self.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0)
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let place = if self.log { value.log10() } else { *value };
        let share = (place - self.low) / (self.high - self.low);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        let value = |place: f64| if self.log { 10f64.powf(place) } else { place };
        value(self.low)..value(self.high)
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(value: &f64) -> String {
        number(*value)
    }

    fn format_ext(&self, value: &f64) -> String {
        let label = self.ticks.iter().find(|(place, _)| place == value);
        label.map_or_else(|| number(*value), |(_, label)| label.clone())
    }
}

/// Returns the ticks of a logarithmic axis from `10^low` to `10^high`: whole decades, thinned to at most
/// seven. Where there are fewer than three decades, 2 and 5 are added between them; where there is not even
/// one, the ticks are round steps.
fn decades(low: f64, high: f64) -> Vec<(f64, String)> {
    let span = high - low;
    if span < 0.7 {
        return round_steps(10f64.powf(low), 10f64.powf(high));
    }
    let stride = (span / 7.0).ceil() as i32;
    let multiples: &[f64] = if span < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let exponents = (low.floor() as i32..=high.ceil() as i32).filter(|exponent| exponent % stride == 0);
    let all = exponents.flat_map(|exponent| multiples.iter().map(move |m| m * 10f64.powi(exponent)));
    all.filter(|x| (low..=high).contains(&x.log10())).map(|x| (x, power(x))).collect()
}

/// Returns the ticks of a linear axis: about five steps of 1, 2 or 5 times a power of ten.
fn round_steps(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 5.0;
    let unit = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|m| m * unit).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    // Ticks are multiples of the step, so that zero is exactly zero.
    (0..=(last - first).max(0.0) as i64)
        .map(|i| (first + i as f64) * step)
        .map(|x| (x, tick(x, step)))
        .collect()
}

fn tick(x: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e5) {
        number(x)
    } else {
        format!("{x:.digits$}").replace('-', "−")
    }
}

/// Returns a number as a label: such as `0.01`, `1` or `1000` near one, and `10⁻⁶` or `2·10⁵` elsewhere.
fn power(x: f64) -> String {
    if (0.99e-2..9.9e3).contains(&x) {
        return number(x);
    }
    let exponent = (x.log10() + 1e-9).floor() as i32;
    let raised: String = exponent.to_string().chars().map(superscript).collect();
    let multiple = (x / 10f64.powi(exponent)).round();
    if multiple == 1.0 { format!("10{raised}") } else { format!("{multiple}·10{raised}") }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // The code points of the other superscript digits are in order.
        digit => digit.to_digit(10).and_then(|n| char::from_u32(0x2070 + n)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn log_ticks_fall_on_decades() {
        let scale = Scale::around([1e-6, 1e3].into_iter(), true);
        assert_eq!(labels(&scale), ["10⁻⁶", "10⁻⁴", "0.01", "1", "100"]);
        let short = Scale::around([1.0, 30.0].into_iter(), true);
        assert_eq!(labels(&short), ["1", "2", "5", "10", "20"]);
    }

    #[test]
    fn linear_ticks_are_round() {
        let scale = Scale::around([-0.11, 0.3].into_iter(), false);
        assert_eq!(labels(&scale), ["−0.1", "0.0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn an_axis_without_values_or_with_one_value_still_has_a_range() {
        for log in [false, true] {
            for values in [vec![], vec![2.0], vec![f64::NAN, -1.0, 0.0]] {
                let range = Scale::around(values.into_iter(), log).range();
                assert!(range.start < range.end && range.end.is_finite());
            }
        }
    }
}
