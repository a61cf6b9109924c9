//! Figures as SVG, with a transparent background and the page's own text color, so that one drawing suits
//! light and dark pages.

use crate::scale::Scale;
use crate::{Figure, Series, Style};
use anyhow::anyhow;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::{
    BLACK, Circle, Color as _, DrawingArea, IntoDrawingArea as _, IntoTextStyle as _, PathElement, RGBColor,
    SVGBackend, ShapeStyle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width in drawing units. The backend rounds to whole units, so the units are small: about two per CSS
/// pixel.
const WIDTH: u32 = 1080;
/// The height of axes and plot. The legend is added above, so that a long legend does not shrink the plot.
const HEIGHT: u32 = 624;
/// The width of [`bars`], which use the whole page.
const FULL_WIDTH: u32 = 1440;
const FONT: u32 = 33;
const SMALL: u32 = 31;
/// The height of one row of the legend.
const ROW: u32 = 44;
/// Lines of these widths become dashed or dotted in [`finish`], since the backend cannot draw dashes.
const DASHED: u32 = 3;
const SOLID: u32 = 4;
const DOTTED: u32 = 5;

/// Colors that color-blind readers can distinguish (Okabe and Ito), ordered by contrast on white and on
/// black.
const PALETTE: [RGBColor; 6] = [
    RGBColor(0x1f, 0x83, 0xc4),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

/// Draws a figure; the legend stands above the axes and covers no data.
///
/// # Errors
/// When the drawing library returns an error.
pub fn draw(figure: &Figure) -> anyhow::Result<String> {
    let axis = |pick: fn(&[f64; 2]) -> f64, log| Scale::around(extent(figure).map(|p| pick(&p)), log);
    let (x, y) = (axis(|p| p[0], figure.x.log), axis(|p| p[1], figure.y.log));
    let mut svg = String::new();
    {
        let rows = legend_rows(&figure.series);
        let above = ROW * rows.len() as u32 + 12;
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT + above)).into_drawing_area();
        let (top, bottom) = root.split_vertically(above);
        legend(&top, &rows).map_err(refused)?;
        let left = 76 + 16 * y.label_width().max(2) as u32;
        let mut chart = ChartBuilder::on(&bottom)
            .margin_right(36)
            .margin_top(12)
            .x_label_area_size(92)
            .y_label_area_size(left)
            .build_cartesian_2d(x.clone(), y.clone())
            .map_err(refused)?;
        mesh(&mut chart, &figure.x.label, &figure.y.label)?;
        for (i, series) in figure.series.iter().enumerate() {
            add(&mut chart, series, style(i, series), &|p| x.shows(p[0]) && y.shows(p[1]))
                .map_err(refused)?;
        }
        root.present().map_err(refused)?;
    }
    Ok(finish(svg, &figure.caption))
}

/// Draws one bar per named positive value on a common logarithmic axis, with a mark at 1. Values that such an
/// axis cannot show are left out.
///
/// # Errors
/// When the drawing library returns an error.
pub fn bars(title: &str, label: &str, values: &[(&str, f64)]) -> anyhow::Result<String> {
    let rows: Vec<(&str, f64)> =
        values.iter().copied().filter(|row| row.1.is_finite() && row.1 > 0.0).collect();
    let x = Scale::around(rows.iter().map(|row| row.1).chain([1.0, 0.1]), true);
    let y = Scale::names(rows.iter().map(|row| row.0.to_string()));
    let widest = y.label_width() as u32;
    let mut svg = String::new();
    {
        let size = (FULL_WIDTH, 130 + 40 * rows.len() as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_right(40)
            .margin_top(12)
            .x_label_area_size(92)
            .y_label_area_size(40 + 15 * widest)
            .build_cartesian_2d(x.clone(), y)
            .map_err(refused)?;
        mesh(&mut chart, label, "")?;
        let ends = [(1.0, -0.6), (1.0, rows.len() as f64 - 0.4)];
        chart.draw_series([PathElement::new(ends, BLACK.stroke_width(DASHED))]).map_err(refused)?;
        for (i, (_, ratio)) in rows.iter().enumerate() {
            let at = (*ratio, i as f64);
            let from = (plotters::coord::ranged1d::Ranged::range(&x).start, i as f64);
            // A ratio that is one up to rounding does not exceed it.
            let color = PALETTE[usize::from(*ratio > 1.0 + 1e-6)];
            chart.draw_series([PathElement::new([from, at], color.stroke_width(SOLID))]).map_err(refused)?;
            chart.draw_series([Circle::new(at, 9, color.filled())]).map_err(refused)?;
        }
        root.present().map_err(refused)?;
    }
    Ok(finish(svg, title))
}

/// Returns a drawing as a file of its own, with its own colors for light and dark backgrounds, since there is
/// no page from which it takes them.
pub fn standalone(svg: &str) -> String {
    let style = "<style>svg{color:#24292f;font-family:sans-serif}\
                 @media(prefers-color-scheme:dark){svg{color:#d4d9df}}</style>\n";
    match svg.find(">\n") {
        Some(end) => format!("{}{style}{}\n", &svg[..end + 2], svg[end + 2..].trim_end()),
        None => svg.into(),
    }
}

fn extent(figure: &Figure) -> impl Iterator<Item = [f64; 2]> {
    figure.series.iter().flat_map(|series| {
        let ends = series.points.iter().zip(&series.interval);
        let ends = ends.flat_map(|(p, interval)| interval.map(|end| [p[0], end]));
        series.points.iter().copied().chain(ends)
    })
}

fn style(i: usize, series: &Series) -> ShapeStyle {
    match series.style {
        Style::Bound if i == 0 => BLACK.stroke_width(DASHED),
        Style::Bound => PALETTE[i % PALETTE.len()].stroke_width(DASHED),
        // When all colors are used, they repeat with dotted lines and hollow points.
        Style::Line if i < PALETTE.len() => PALETTE[i].stroke_width(SOLID),
        Style::Line => PALETTE[i % PALETTE.len()].stroke_width(DOTTED),
        Style::Points => {
            ShapeStyle { filled: i < PALETTE.len(), ..PALETTE[i % PALETTE.len()].stroke_width(SOLID) }
        }
    }
}

fn mesh(chart: &mut Chart<'_, '_>, x: &str, y: &str) -> anyhow::Result<()> {
    chart
        .configure_mesh()
        .x_desc(x)
        .y_desc(y)
        .axis_desc_style(("sans-serif", FONT))
        .label_style(("sans-serif", SMALL))
        .axis_style(BLACK.mix(0.6).stroke_width(2))
        .bold_line_style(BLACK.mix(0.13).stroke_width(2))
        .light_line_style(BLACK.mix(0.0))
        .draw()
        .map_err(refused)
}

type Refused = plotters::drawing::DrawingAreaErrorKind<std::io::Error>;

fn refused(error: Refused) -> anyhow::Error {
    anyhow!("cannot draw a plot: {error}")
}

fn add(
    chart: &mut Chart<'_, '_>,
    series: &Series,
    style: ShapeStyle,
    shown: &dyn Fn(&[f64; 2]) -> bool,
) -> Result<(), Refused> {
    let points = series.points.iter().filter(|p| shown(p)).map(|p| (p[0], p[1]));
    match series.style {
        Style::Points => {
            chart.draw_series(points.map(|p| Circle::new(p, 8, style)))?;
        }
        Style::Line | Style::Bound => {
            chart.draw_series([PathElement::new(points.collect::<Vec<_>>(), style)])?;
        }
    }
    for (point, [low, high]) in series.points.iter().zip(&series.interval) {
        let ends = [[point[0], *low], [point[0], *high]];
        if ends.iter().all(shown) {
            let ends = ends.map(|p| (p[0], p[1])).to_vec();
            chart.draw_series([PathElement::new(ends, ShapeStyle { stroke_width: 2, ..style })])?;
        }
    }
    Ok(())
}

/// Returns the series of each row of the legend, as many per row as fit.
fn legend_rows(series: &[Series]) -> Vec<Vec<(u32, usize, &Series)>> {
    let mut rows: Vec<Vec<_>> = Vec::new();
    let mut at = WIDTH;
    for (i, one) in series.iter().enumerate() {
        let width = 130 + 15 * one.name.chars().count() as u32;
        if at + width > WIDTH || rows.is_empty() {
            rows.push(Vec::new());
            at = 40;
        }
        if let Some(row) = rows.last_mut() {
            row.push((at, i, one));
        }
        at += width;
    }
    rows
}

fn legend(area: &Area<'_>, rows: &[Vec<(u32, usize, &Series)>]) -> Result<(), Refused> {
    let text = ("sans-serif", SMALL).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
    for (row, entries) in rows.iter().enumerate() {
        let y = (ROW * row as u32 + ROW / 2 + 6) as i32;
        for (x, i, series) in entries {
            let (x, style) = (*x as i32, style(*i, series));
            match series.style {
                Style::Points => area.draw(&Circle::new((x + 32, y), 8, style))?,
                _ => area.draw(&PathElement::new([(x, y), (x + 64, y)], style))?,
            }
            area.draw(&Text::new(series.name.clone(), (x + 80, y), text.clone()))?;
        }
    }
    Ok(())
}

/// Returns the drawing with the page's color instead of black, dashes for bounds, a title for screen readers,
/// and a size that follows the page.
fn finish(svg: String, title: &str) -> String {
    let svg = svg.replace("\"#000000\"", "\"currentColor\"");
    let dashed = format!("stroke-width=\"{DASHED}\"");
    let dotted = format!("stroke-width=\"{DOTTED}\"");
    let svg = svg.replace(&dashed, &format!("{dashed} stroke-dasharray=\"14 9\""));
    let svg = svg.replace(&dotted, &format!("{dotted} stroke-dasharray=\"4 8\""));
    let Some(start) = svg.find("viewBox") else { return svg };
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!("<svg role=\"img\" aria-label=\"{title}\" {}", &svg[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    #[test]
    fn no_two_of_many_series_look_alike() {
        for series in [Series::line as fn(&str, Vec<[f64; 2]>) -> Series, Series::points] {
            let many = (0..2 * PALETTE.len())
                .map(|i| series(&format!("s{i}"), vec![[1.0, i as f64], [2.0, 1.0 + i as f64]]))
                .collect::<Vec<_>>();
            let figure =
                Figure { caption: "c".into(), x: Axis::linear("x"), y: Axis::linear("y"), series: many };
            let styles: Vec<ShapeStyle> =
                (0..).zip(&figure.series).map(|(i, series)| style(i, series)).collect();
            for (i, a) in styles.iter().enumerate() {
                let look = |style: &ShapeStyle| (style.color.rgb(), style.filled, style.stroke_width);
                assert!(styles[..i].iter().all(|b| look(a) != look(b)), "series {i}");
            }
            let drawn = draw(&figure).unwrap();
            let (dotted, hollow) =
                (drawn.contains("stroke-dasharray=\"4 8\""), drawn.contains("fill=\"none\""));
            assert!(dotted || (hollow && drawn.contains("<circle")));
        }
    }
}
