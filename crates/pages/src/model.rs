//! A model as a page of HTML that needs no other file, and as a model card in Markdown.

use crate::render::render;
use lao::{Choice, Coefficient, HALF_WIDTH, Label, Missing, Model, PanelSpent, SpentMoney};
use lao_figures::{Axis, Figure, Series, count, draw, number};
use minijinja::context;

/// Returns the page of a model.
///
/// # Errors
/// When the figure cannot be drawn.
pub fn html(model: &Model) -> anyhow::Result<String> {
    let parts = model.trees.as_ref().map_or(&[][..], |trees| &trees.parts);
    let coefficients: Vec<_> =
        model.coefficients.iter().enumerate().map(|(i, one)| whisker(one, parts.get(i), parts)).collect();
    let evidence: Vec<_> = model.evidence.iter().flat_map(|line| &line.coefficients).collect();
    let evidence: Vec<_> = evidence.into_iter().map(|one| whisker(one, None, &[])).collect();
    let candidates: Vec<_> = model
        .candidates
        .iter()
        .map(|one| {
            let until = one.until_added.map(count).unwrap_or_default();
            context! {
                name => &one.name, examples => count(one.examples), z => format!("{:.1}", one.z.abs()), until,
            }
        })
        .collect();
    let money = model.spent.money.as_ref();
    let panels = money.map(largest_first).unwrap_or_default();
    let total = money.map_or(0.0, |money| money.total).max(f64::MIN_POSITIVE);
    let panels: Vec<_> = panels
        .iter()
        .map(|one| {
            let percent = (100.0 * one.cost() / total).round();
            context! {
                name => &one.name, price => one.price, examples => count(one.examples), percent,
                spent => format!("{:.2}", one.cost()), columns => one.columns.join(", "),
            }
        })
        .collect();
    let (figure, calibrated) = (history(model), calibration(model));
    let values = context! {
        target => &model.target,
        summary => summary(model),
        intercept => number(model.intercept),
        coefficients,
        evidence,
        trees => model.trees.as_ref().map(|trees| trees.trees.len()),
        caption => figure.as_ref().map(|figure| figure.caption.clone()),
        figure => figure.as_ref().map(draw).transpose()?,
        unit => match &model.label {
            Label::Number => model.target.clone(),
            Label::Classes { positive, negative } => format!("+1 for {positive}, -1 for {negative}"),
        },
        classes => model.label != Label::Number,
        calibration => calibrated.as_ref().map(draw).transpose()?,
        calibration_caption => calibrated.as_ref().map(|figure| figure.caption.clone()),
        candidates,
        bought => bought(model),
        panels,
        card => card(model),
    };
    render("model.html", values)
}

/// Returns the panels that were bought, the largest sum first.
pub fn largest_first(money: &SpentMoney) -> Vec<&PanelSpent> {
    let mut panels: Vec<_> = money.bought().collect();
    panels.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    panels
}

/// Returns the model card, with the front matter that model hubs read.
pub fn markdown(model: &Model) -> String {
    let task = if model.label == Label::Number { "tabular-regression" } else { "tabular-classification" };
    let mut text = format!("---\nlibrary_name: lao\ntags:\n- {task}\n- sparse\n---\n\n");
    text +=
        &format!("# A model of {}\n\n{}\n\n", lao::markdown(&model.target), lao::markdown(&summary(model)));
    text += "## Purpose\n\nTo be filled in by whoever uses the model: for whom, for which decision.\n\n";
    text += "## Coefficients\n\n| attribute | coefficient | 95 % interval |\n|---|---:|---:|\n";
    text += &format!("| (intercept) | {} | |\n", number(model.intercept));
    for one in &model.coefficients {
        let name = lao::markdown(&one.name());
        text += &format!("| {name} | {} | {} |\n", number(one.value), interval(one));
    }
    text += &format!("\n## What learning cost\n\n{}\n\n## Facts\n\n", lao::markdown(&bought(model)));
    for [name, fact] in card(model) {
        text += &format!("- {name}: {}\n", lao::markdown(&fact));
    }
    let linear = if model.trees.is_some() {
        "The model is a line and trees: a coefficient alone says little of an attribute, and there are no \
         intervals. "
    } else {
        "The model is linear. "
    };
    text += &format!(
        "\n## Limits\n\n{linear}A value more than four standard deviations from the mean of its attribute \
         counts as if it lay there. Intervals hold for examples like those of the table, drawn \
         independently, and whenever they are looked at. What they hold is the coefficient of the best \
         linear predictor from the attributes of the model, not an effect with everything else held \
         fixed.\n"
    );
    text
}

fn summary(model: &Model) -> String {
    let columns = model.columns();
    let reads = match columns.len() {
        0 => return "Nothing was found: the model predicts the mean.".into(),
        1 => format!("the column {}", columns[0]),
        n => format!("{n} columns: {}", columns.join(", ")),
    };
    let mut text = format!("A prediction reads {reads}.");
    if let Some(cost) = model.cost() {
        text += &format!(" It costs {}.", number(cost));
    }
    if let Some(holdout) = &model.holdout {
        text +=
            &format!(" On {} examples that were held out: {}.", holdout.examples, holdout.summary(number));
        if model.label == Label::Number {
            text += &format!(" The error of the mean is {}.", number(holdout.error_of_mean));
        }
    }
    text
}

fn bought(model: &Model) -> String {
    let spent = &model.spent;
    let mut text = format!(
        "{} values of {} examples were bought, at most {} of one example; the budget was enforced, since the \
         learner sees only what it bought.",
        count(spent.attributes),
        count(spent.examples),
        spent.most_attributes
    );
    if let Some(money) = &spent.money {
        let [total, most, budget] = [money.total, money.most, money.budget].map(number);
        text += &format!(" They cost {total}, at most {most} for one example, of a budget of {budget}.");
    }
    if spent.missing > 0 {
        text += &format!(" {} of these values were missing.", count(spent.missing));
    }
    if spent.passed_over > 0 {
        text += &format!(" {} examples with missing values were skipped.", count(spent.passed_over));
    }
    if model.origin.journal.is_some() {
        let learned = count(model.origin.examples as u64);
        text +=
            &format!(" {learned} of them were learned from, {} closed without a result.", count(spent.void));
    }
    if spent.imported > 0 {
        let imported = count(spent.imported);
        text += &format!(" Beside them, {imported} that were known before were learned from.");
    }
    text
}

fn choice(choice: &Choice) -> String {
    let Choice { name, value, automatic } = choice;
    format!("{name} {value}{}", if *automatic { " (automatic)" } else { "" })
}

fn card(model: &Model) -> Vec<[String; 2]> {
    let origin = &model.origin;
    let guard = if origin.safeguarded { ", behind a safeguard" } else { "" };
    let label = match &model.label {
        Label::Number => "a number".into(),
        Label::Classes { positive, negative } => format!("two classes, {positive} and {negative}"),
    };
    let row = |name: &str, fact: String| [name.to_owned(), fact];
    let of_table = origin.sha256.as_ref().map(|hash| row("SHA-256 of the table", hash.clone()));
    let of_study = origin.journal.as_ref().map(|at| {
        row("journal of the study", format!("{} lines; the last one's chain is {}", at.lines, at.chain))
    });
    let source = if of_study.is_some() { "study" } else { "table" };
    let mut rows = vec![
        row("label", format!("{}: {label}", model.target)),
        row("method", format!("{}{guard}", origin.choices.method)),
        row(
            source,
            format!("{}, {} examples of {} attributes", origin.table, origin.examples, { origin.attributes }),
        ),
    ];
    rows.extend(of_table.into_iter().chain(of_study));
    rows.extend([
        row("choices", model.choices().iter().map(choice).collect::<Vec<_>>().join(", ")),
        row("a missing value", format!("{:?} of the attribute", Missing::Mean).to_lowercase()),
        row("written by", format!("lao {}, format {}", model.lao.version, model.lao.format)),
    ]);
    rows
}

/// Returns the part of an attribute in the predictions of a model with trees, one of `parts`, as the points
/// of a line: from -100 to 100, and on the scale of all parts.
fn curve(part: &[[f64; 2]], parts: &[Vec<[f64; 2]>]) -> Option<String> {
    let largest = parts.iter().flatten().fold(f64::MIN_POSITIVE, |most, [_, y]| most.max(y.abs()));
    let ([low, _], [high, _]) = (*part.first()?, *part.last()?);
    let point = |[x, y]: &[f64; 2]| {
        let across = 200.0 * (x - low) / (high - low).max(f64::MIN_POSITIVE) - 100.0;
        format!("{across:.1},{:.1}", -28.0 * y / largest)
    };
    (part.len() > 1).then(|| part.iter().map(point).collect::<Vec<_>>().join(" "))
}

/// Returns the ends of the interval of a coefficient that holds at all times, or nothing.
fn interval(one: &Coefficient) -> String {
    one.anytime_interval
        .map_or_else(String::new, |ends| format!("{} to {}", number(ends[0]), number(ends[1])))
}

/// Returns a coefficient with its interval, as places between -100 and 100 around zero, and its part in the
/// predictions of a model with trees.
fn whisker(one: &Coefficient, part: Option<&Vec<[f64; 2]>>, parts: &[Vec<[f64; 2]>]) -> minijinja::Value {
    let of_part = part.and_then(|part| Some((part.first()?, part.last()?)));
    let range = of_part.map(|(low, high)| format!("from {} to {}", number(low[0]), number(high[0])));
    let ends = one.anytime_interval;
    let longest = ends.into_iter().flatten().fold(one.value.abs(), |most, end| most.max(end.abs()));
    let longest = longest.max(f64::MIN_POSITIVE);
    let place = |x: f64| format!("{:.1}", 100.0 * x / longest);
    let known = if ends.is_some() { interval(one) } else { "unknown".into() };
    context! {
        name => one.name(),
        value => number(one.value),
        interval => interval(one),
        at => place(one.value),
        low => ends.map(|[low, _]| place(low)),
        high => ends.map(|[_, high]| place(high)),
        curve => part.and_then(|part| curve(part, parts)),
        range => range.unwrap_or_default(),
        label => format!("{}, interval {known}", number(one.value)),
    }
}

/// Returns the error held out against values bought, or money spent, if it was measured twice or more.
fn history(model: &Model) -> Option<Figure> {
    let money = model.history.iter().all(|at| at.money.is_some());
    let spent = |at: &lao::Reached| at.money.filter(|_| money).unwrap_or(at.attributes as f64);
    let reached: Vec<_> = model.history.iter().filter(|at| spent(at) > 0.0).collect();
    let points: Vec<[f64; 2]> = reached.iter().map(|at| [spent(at), at.mean_squared_error]).collect();
    // On a logarithmic axis an interval ends above zero.
    let interval = |at: &&lao::Reached| {
        let (error, half) = (at.mean_squared_error, HALF_WIDTH * at.standard_error?);
        Some([(error - half).max(error / 20.0), error + half])
    };
    let interval: Option<Vec<[f64; 2]>> = reached.iter().map(interval).collect();
    let (first, last) = (points.first()?[0], points.last()?[0]);
    if points.len() < 2 {
        return None;
    }
    let interval = interval.unwrap_or_default();
    let mut series = vec![Series { interval, ..Series::line("model, with 95 %", points) }];
    if let Some(holdout) = &model.holdout {
        let error = holdout.error_of_mean;
        series.push(Series::bound("mean of the labels", vec![[first, error], [last, error]]));
    }
    Some(Figure {
        caption: format!("Mean squared error of {} on examples held out, while learning", model.target),
        x: Axis::log(if money { "money spent" } else { "values bought" }),
        y: Axis::log("mean squared error"),
        series,
    })
}

/// Returns the share of the positive class against its probability, for the examples held out.
fn calibration(model: &Model) -> Option<Figure> {
    let Label::Classes { positive, .. } = &model.label else { return None };
    let groups = &model.holdout.as_ref()?.calibration;
    if groups.len() < 2 {
        return None;
    }
    let points = groups.iter().map(|group| [group.probability, group.share]);
    let most = groups.iter().map(|group| group.probability.max(group.share)).fold(0.0, f64::max);
    // The interval of Wilson, which is never empty.
    let interval = |group: &lao::Calibrated| {
        let (n, p, z) = (group.examples as f64, group.share, HALF_WIDTH);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
        [middle - half, middle + half]
    };
    let interval = groups.iter().map(interval).collect();
    Some(Figure {
        caption: format!("{positive} among examples held out, in groups of about the same probability"),
        x: Axis::linear("probability that the model gives"),
        y: Axis::linear("share that was observed"),
        series: vec![
            Series { interval, ..Series::points("a group of examples, with 95 %", points.collect()) },
            Series::bound("what it should be", vec![[0.0, 0.0], [most, most]]),
        ],
    })
}
