//! Figures, which consist of data and labels only.

use serde::{Deserialize, Serialize};

/// A plot, which consists of data and labels only; [`draw`](crate::draw) draws it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// A caption of one line, under the plot.
    pub caption: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves and point sets.
    pub series: Vec<Series>,
}

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Label with unit.
    pub label: String,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl Axis {
    /// Returns a linear axis.
    pub fn linear(label: &str) -> Self {
        Axis { label: label.into(), log: false }
    }
    /// Returns a logarithmic axis.
    pub fn log(label: &str) -> Self {
        Axis { label: label.into(), log: true }
    }
}

/// A curve or a point set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// The way in which the series is drawn.
    pub style: Style,
    /// Points `[x, y]`; those that are not finite are left out of the plot.
    pub points: Vec<[f64; 2]>,
    /// Optional `[low, high]` of each point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval: Vec<[f64; 2]>,
}

/// The way in which a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// A line, for measurements.
    Line,
    /// A dashed line, for a bound or a prediction.
    Bound,
    /// Points.
    Points,
}

impl Series {
    /// Returns a measured curve.
    pub fn line(name: &str, points: Vec<[f64; 2]>) -> Self {
        Series { name: name.into(), style: Style::Line, points, interval: Vec::new() }
    }
    /// Returns a bound or prediction.
    pub fn bound(name: &str, points: Vec<[f64; 2]>) -> Self {
        Series { name: name.into(), style: Style::Bound, points, interval: Vec::new() }
    }
    /// Returns a point set.
    pub fn points(name: &str, points: Vec<[f64; 2]>) -> Self {
        Series { name: name.into(), style: Style::Points, points, interval: Vec::new() }
    }
    /// Removes points that are not finite, which JSON cannot hold, together with their intervals.
    pub fn keep_finite(&mut self) {
        let finite = |p: &[f64; 2]| p.iter().all(|x| x.is_finite());
        let bars = self.interval.len() == self.points.len();
        let keep: Vec<bool> = (0..self.points.len())
            .map(|i| finite(&self.points[i]) && (!bars || finite(&self.interval[i])))
            .collect();
        let mut kept = keep.iter().copied();
        self.points.retain(|_| kept.next().unwrap_or(false));
        let mut kept = keep.iter().copied();
        self.interval.retain(|_| kept.next().unwrap_or(false));
    }
}
