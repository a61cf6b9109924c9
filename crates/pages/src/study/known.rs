//! What is known: the evidence over the examples told, the money, the predictor, and the plan.

use super::StudyPages;
use crate::http::{Form, Reply};
use hyper::StatusCode;
use lao::algorithms::pursuit::{Evidence, StudyGuess};
use lao::observation::Seed;
use lao::{Label, Model};
use lao_figures::{Axis, Figure, Series, draw, number};
use lao_study::{Description, Known, StudyError};
use minijinja::{Value, context};
use std::sync::{Mutex, PoisonError};

/// The attributes outside the model whose evidence is drawn, and the coefficients.
const NEAREST: usize = 3;
const DRAWN: usize = 6;
/// The most attributes of a plan that is simulated while somebody waits, its studies, and their examples.
const WIDEST: usize = 500;
const STUDIES: usize = 40;
const EXAMPLES: u64 = 5000;

/// The plans that were simulated, by their sparsity and signal: the newest ones.
#[derive(Debug, Default)]
pub struct Plans(Mutex<Vec<(Plan, Vec<u64>)>>);

/// What a plan guesses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    sparsity: usize,
    signal: f64,
}

impl StudyPages {
    /// Returns the page of what is known.
    pub(super) fn known(&self, query: &Form) -> Result<Reply, StudyError> {
        let study = self.open()?;
        let (course, model, description) = (study.course()?, study.model(), study.description().clone());
        let (status, noise) = (study.status(), study.noise());
        let mut evidence = study.evidence();
        // The simulation of a plan takes time, and needs the study no more.
        drop(study);
        evidence.sort_by(|a, b| b.in_support().cmp(&a.in_support()).then(b.z.abs().total_cmp(&a.z.abs())));
        let rows: Vec<Value> = evidence.iter().map(|known| row(known, &description)).collect();
        let mut figures: Vec<Figure> = strengths(&course, &evidence, &description).into_iter().collect();
        figures.extend(coefficients(&course, &evidence, &description));
        let (plan, said) = match asked(query) {
            Ok(None) => (None, None),
            Ok(Some(plan)) => match self.plans.found(plan, &description) {
                Ok(found) => (Some((plan, found)), None),
                Err(why) => (None, Some(why)),
            },
            Err(why) => (None, Some(why)),
        };
        figures.extend(plan.as_ref().map(|(plan, found)| beside(*plan, found, &course)));
        let drawn = figures.iter().filter_map(|figure| {
            let svg = draw(figure).ok()?;
            Some(context! { svg, caption => &figure.caption })
        });
        let money = description.money.as_ref();
        let planned = money.zip(description.examples).map(|(money, n)| money.per_example * n as f64);
        let values = context! {
            at => "known",
            target => &description.target,
            model => in_words(&model),
            error => (status.updates > 0 && noise > 0.0).then(|| number(noise.sqrt())),
            classes => description.label != Label::Number,
            rows,
            figures => drawn.collect::<Vec<Value>>(),
            updates => status.updates,
            to_update => status.to_update,
            told => status.told + status.imported,
            spent => status.spent.map(number),
            planned => planned.map(number),
            share => planned.zip(status.spent).map(|(planned, spent)| (100.0 * spent / planned).round()),
            examples => description.examples,
            said,
            sparsity => query.get("sparsity"),
            signal => query.get("signal"),
        };
        Ok(self.page(StatusCode::OK, "known.html", values))
    }
}

impl Plans {
    /// Returns the numbers of examples after which simulated studies had found exactly the attributes that
    /// matter, ascending.
    fn found(&self, plan: Plan, description: &Description) -> Result<Vec<u64>, String> {
        const KEPT: usize = 8;
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = plans.iter().find(|(other, _)| *other == plan) {
            return Ok(found.clone());
        }
        let dim = description.attributes.len();
        if dim > WIDEST {
            let command = format!("lao plan --attributes {dim} --budget {}", description.budget);
            return Err(format!("A plan of so many attributes takes minutes; use the command `{command}`."));
        }
        let guess = StudyGuess {
            sparsity: plan.sparsity,
            signal: plan.signal,
            most: EXAMPLES,
            studies: STUDIES,
            ..StudyGuess::within(dim, description.budget)
        };
        let simulated = match &description.money {
            Some(money) => guess.simulate_within(money.clone(), &Seed::root(description.choices.seed)),
            None => guess.simulate(&Seed::root(description.choices.seed)),
        };
        let found = simulated.map_err(|error| error.to_string())?.found;
        plans.truncate(KEPT - 1);
        plans.insert(0, (plan, found.clone()));
        Ok(found)
    }
}

/// Returns the plan that is asked for, if one is.
fn asked(query: &Form) -> Result<Option<Plan>, String> {
    let (sparsity, signal) = (query.get("sparsity"), query.get("signal"));
    if sparsity.is_empty() && signal.is_empty() {
        return Ok(None);
    }
    let plan = sparsity.parse().ok().zip(lao::decimal(signal));
    match plan.filter(|(sparsity, signal)| *sparsity > 0 && *signal > 0.0) {
        Some((sparsity, signal)) => Ok(Some(Plan { sparsity, signal })),
        None => Err("Give a number of attributes, and an effect above 0.".into()),
    }
}

/// Returns a line of the table of evidence.
fn row(known: &Evidence, description: &Description) -> Value {
    let (interval, until) = (known.anytime_interval(), known.until_added.filter(|until| *until > 0));
    context! {
        name => name(known.attribute, description),
        examples => known.examples,
        z => format!("{:.1}", known.z.abs()),
        inside => known.in_support(),
        coefficient => number(known.coefficient),
        interval => interval.map(|[low, high]| format!("{} to {}", number(low), number(high))),
        until,
        shut_out => known.shut_out,
    }
}

fn name(attribute: u32, description: &Description) -> &str {
    description.attributes.get(attribute as usize).map_or("", String::as_str)
}

/// Returns the predictor as a sentence.
fn in_words(model: &Model) -> String {
    let mut text = match &model.label {
        Label::Number => format!("{} is estimated as {}", model.target, number(model.intercept)),
        Label::Classes { positive, .. } => {
            format!(
                "{} is called {positive} where this sum is large: {}",
                model.target,
                number(model.intercept)
            )
        }
    };
    for one in &model.coefficients {
        let sign = if one.value < 0.0 { "\u{2212}" } else { "+" };
        text += &format!(" {sign} {} \u{d7} {}", number(one.value.abs()), one.name());
    }
    if let Some(trees) = &model.trees {
        text += &format!(", and {} trees on what this leaves", trees.trees.len());
    }
    if model.coefficients.is_empty() {
        text += ": the mean so far, since no attribute is known to matter yet";
    }
    text + "."
}

/// Returns the strength of the evidence over the examples told: of the attributes in the model, and of the
/// nearest others.
fn strengths(course: &[Known], evidence: &[Evidence], description: &Description) -> Option<Figure> {
    let (inside, outside): (Vec<&Evidence>, Vec<&Evidence>) =
        evidence.iter().partition(|known| known.in_support());
    let drawn = inside.into_iter().take(DRAWN).chain(outside.into_iter().take(NEAREST));
    let series = drawn.map(|known| {
        let points = course.iter().filter_map(|at| {
            let then = at.evidence.get(known.attribute as usize)?;
            Some([at.told as f64, then.z.abs()])
        });
        Series::line(name(known.attribute, description), points.collect())
    });
    (course.len() > 1).then(|| Figure {
        caption: "Effects in standard deviations: those of the model, and the nearest others".into(),
        x: Axis::linear("examples told"),
        y: Axis::linear("effect / its standard deviation"),
        series: series.collect(),
    })
}

/// Returns the coefficient of each attribute in the model, with its interval, over the examples told.
fn coefficients(course: &[Known], evidence: &[Evidence], description: &Description) -> Vec<Figure> {
    let inside = evidence.iter().filter(|known| known.in_support()).take(DRAWN);
    let figure = |known: &Evidence| {
        let name = name(known.attribute, description);
        let at = |at: &Known| {
            let then = at.evidence.get(known.attribute as usize)?;
            Some(([at.told as f64, then.coefficient], then.anytime_interval()?))
        };
        let (points, interval): (Vec<_>, Vec<_>) = course.iter().filter_map(at).unzip();
        (points.len() > 1).then(|| Figure {
            caption: format!(
                "The coefficient of {name}, with intervals that hold whenever they are looked at"
            ),
            x: Axis::linear("examples told"),
            y: Axis::linear("coefficient"),
            series: vec![Series { interval, ..Series::line(name, points) }],
        })
    };
    inside.filter_map(figure).collect()
}

/// Returns what this study has found beside what simulated studies of the plan had.
fn beside(plan: Plan, found: &[u64], course: &[Known]) -> Figure {
    let share = |at: usize| at as f64 / STUDIES as f64;
    let steps = found.iter().enumerate();
    let planned = steps.flat_map(|(i, &n)| [[n as f64, share(i)], [n as f64, share(i + 1)]]);
    let of_plan = |at: &Known| {
        let inside = at.evidence.iter().filter(|known| known.in_support()).count();
        [at.told as f64, inside as f64 / plan.sparsity as f64]
    };
    let Plan { sparsity, signal } = plan;
    Figure {
        caption: format!("A plan of {sparsity} attributes with an effect of {signal}, beside this study"),
        x: Axis::linear("examples told"),
        y: Axis::linear("share"),
        series: vec![
            Series::line(
                "this study: attributes found, of those planned",
                course.iter().map(of_plan).collect(),
            ),
            Series::bound("simulated studies that had found all", planned.collect()),
        ],
    }
}
