//! Predictions by a form and as JSON, with the bits of `lao predict`.

use crate::guard::Guard;
use crate::http::{Form, Reply, Request};
use crate::render::{STYLES, page, problem};
use crate::server::{Pages, Server, Stop};
use crate::study::unit;
use hyper::StatusCode;
use lao::{Coefficient, Frame, HALF_WIDTH, Header, Label, Missing, Model, ReadOptions};
use lao_figures::number;
use minijinja::{Value, context};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// The most rows of a request.
const ROWS: usize = 100_000;

/// The pages of a model: a form, and an endpoint for programs.
#[derive(Debug)]
pub struct ModelPages {
    model: Model,
    guard: Guard,
}

impl ModelPages {
    /// Returns the pages of a model, behind a guard.
    pub fn new(model: Model, guard: Guard) -> Self {
        ModelPages { model, guard }
    }

    /// Serves the pages until the server is to end.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn serve(self, server: Server, stop: &Stop) -> std::io::Result<()> {
        server.serve(self, stop)
    }

    fn page(&self, status: StatusCode, form: &Form, values: Value) -> Reply {
        let all = context! {
            at => "model",
            form => self.guard.form_token(),
            target => &self.model.target,
            fields => fields(&self.model, form),
            ..values
        };
        page(status, "predict.html", all)
    }
}

impl Pages for ModelPages {
    fn answer(&self, request: Request) -> Reply {
        if request.path == ["style.css"] {
            return Reply::styles(STYLES);
        }
        if let Some(reply) = self.guard.stop(&request) {
            return reply;
        }
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let of_program = request.header("content-type").starts_with("application/json");
        match (request.sends, &path[..]) {
            (false, []) => self.page(StatusCode::OK, &Form::default(), context! {}),
            (false, ["openapi.json"]) => Reply::json(StatusCode::OK, &openapi(&self.model)),
            (false, ["model.json"]) => {
                Reply::file("model.lao.json", "application/json", self.model.to_json().into_bytes())
            }
            (true, ["predict"]) if of_program => match rows(&self.model, &request.body) {
                Ok(predicted) => Reply::json(StatusCode::OK, &predicted),
                Err(error) => Reply::json(StatusCode::UNPROCESSABLE_ENTITY, &json!({ "error": error })),
            },
            (true, ["predict"]) => self.guard.stop_form(&request).unwrap_or_else(|| {
                let form = request.form();
                let Answer { status, values } = answer(&self.model, &form, None);
                self.page(status, &form, values)
            }),
            _ => problem(StatusCode::NOT_FOUND, "There is no such page", "the form is at /"),
        }
    }
}

/// What a form is answered.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub values: Value,
}

/// Returns a field for each column that the model reads, with what was typed.
pub(crate) fn fields(model: &Model, form: &Form) -> Vec<Value> {
    let field = |(i, column): (usize, &str)| {
        let (plain, unit) = unit(column);
        let words: Vec<String> = words(model, column).cloned().collect();
        context! { name => column, plain, unit, words, text => form.get(&format!("value-{i}")) }
    };
    model.columns().into_iter().enumerate().map(field).collect()
}

/// Returns the words of a column that the model knows.
fn words<'a>(model: &'a Model, column: &str) -> impl Iterator<Item = &'a String> {
    model.coefficients.iter().filter(move |one| one.column == column).filter_map(|one| one.word.as_ref())
}

/// Predicts what was typed. `noise` is the variance of the errors, if it is known.
pub(crate) fn answer(model: &Model, form: &Form, noise: Option<f64>) -> Answer {
    let refuse =
        |said: String| Answer { status: StatusCode::UNPROCESSABLE_ENTITY, values: context! { said } };
    let mut row = HashMap::new();
    for (i, column) in model.columns().into_iter().enumerate() {
        let text = form.get(&format!("value-{i}"));
        let has_words = words(model, column).next().is_some();
        let cell = match text {
            "" => continue,
            text if has_words => text.to_owned(),
            text => match lao::decimal(text) {
                Some(x) => x.to_string(),
                None => return refuse(format!("{column}: `{text}` is no number.")),
            },
        };
        row.insert(column, cell);
    }
    let known = row.len();
    let frame = match frame(model, &[row]) {
        Ok(frame) => frame,
        Err(error) => return refuse(error),
    };
    let predicted = match model.predict(&frame, Missing::Mean) {
        Ok(predicted) => predicted.values.first().copied().unwrap_or(model.intercept),
        Err(error) => return refuse(error.to_string()),
    };
    // The error that was measured, on examples held out or before they were learned from.
    let variance = model.holdout.as_ref().map(|holdout| holdout.mean_squared_error).or(noise);
    let interval = variance.filter(|v| *v > 0.0 && model.label == Label::Number).map(|variance| {
        let half = HALF_WIDTH * variance.sqrt();
        format!("{} to {}", number(predicted - half), number(predicted + half))
    });
    let probability = model.probability(predicted).filter(|_| model.label != Label::Number);
    let positive = match &model.label {
        Label::Classes { positive, .. } => Some(positive),
        Label::Number => None,
    };
    let values = context! {
        predicted => number(predicted),
        exactly => predicted.to_string(),
        class => model.class(predicted),
        positive,
        probability => probability.map(|p| format!("{:.1} %", 100.0 * p)),
        interval,
        missing => model.columns().len() - known,
        trees => model.trees.is_some(),
        parts => parts(model, &frame),
    };
    Answer { status: StatusCode::OK, values }
}

/// Returns what each attribute adds to the prediction of the line, against its mean.
fn parts(model: &Model, frame: &Frame) -> Vec<Value> {
    let parts = model.parts(frame, 0).unwrap_or_default();
    let of = |(one, part): (&Coefficient, f64)| {
        context! { name => one.name(), part => number(part) }
    };
    model.coefficients.iter().zip(parts).map(of).collect()
}

/// Makes a table of rows, of which each has some of the model's columns.
fn frame(model: &Model, rows: &[HashMap<&str, String>]) -> Result<Frame, String> {
    let columns = model.columns();
    let mut out = csv::Writer::from_writer(Vec::new());
    // A table has a column, even if the model reads none. Memory takes what is written.
    let none = if columns.is_empty() { Some("row") } else { None };
    let _ = out.write_record(columns.iter().copied().chain(none));
    for row in rows {
        let cells = columns.iter().map(|column| row.get(column).map_or("", String::as_str));
        let _ = out.write_record(cells.chain(none));
    }
    let text = out.into_inner().unwrap_or_default();
    let of_file = model.read_options();
    let options = ReadOptions {
        header: Header::Yes,
        names: Vec::new(),
        separator: Some(b','),
        decimal: Some(b'.'),
        encoding: None,
        member: None,
        ..of_file
    };
    Frame::parse(&text, "the request", &options).map_err(|error| error.to_string())
}

/// What a program sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The values of each row, by the names of the columns.
    rows: Vec<BTreeMap<String, serde_json::Value>>,
    #[serde(default)]
    missing: Missing,
}

/// Predicts the rows that a program sends.
fn rows(model: &Model, body: &[u8]) -> Result<serde_json::Value, String> {
    let Asked { rows, missing } = serde_json::from_slice(body)
        .map_err(|error| format!("the body is not as /openapi.json says: {error}"))?;
    if rows.is_empty() || rows.len() > ROWS {
        return Err(format!("{} rows; send 1 to {ROWS}", rows.len()));
    }
    let columns = model.columns();
    let mut cells = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let mut of_row = HashMap::new();
        for &column in &columns {
            let cell = match row.get(column) {
                None | Some(serde_json::Value::Null) => continue,
                Some(serde_json::Value::String(text)) => {
                    let is_word = words(model, column).next().is_some();
                    if !is_word && !lao::is_missing(text) && lao::decimal(text).is_none() {
                        return Err(format!(
                            "row {i}: `{column}` has `{}`, which is no number",
                            lao::shown(text)
                        ));
                    }
                    text.clone()
                }
                Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => {
                    value.to_string()
                }
                Some(_) => return Err(format!("row {i}: `{column}` is neither a number nor a text")),
            };
            of_row.insert(column, cell);
        }
        cells.push(of_row);
    }
    let absent: Vec<&str> =
        columns.iter().copied().filter(|column| !rows.iter().any(|row| row.contains_key(*column))).collect();
    if !absent.is_empty() {
        return Err(format!("no row has {}; a value that is not known is null", absent.join(", ")));
    }
    let frame = frame(model, &cells)?;
    let predicted = model.predict(&frame, missing).map_err(|error| error.to_string())?;
    Ok(json(model, &predicted.values, &[]))
}

/// Returns predictions for programs, with the columns that are kept of the table.
pub fn json(model: &Model, values: &[f64], kept: &[(&str, Vec<String>)]) -> serde_json::Value {
    let row = |(i, &value): (usize, &f64)| {
        let known = value.is_finite();
        let mut row = json!({
            "predicted": known.then_some(value),
            "class": model.class(value).filter(|_| known),
            "probability": model.probability(value).filter(|_| known && model.class(value).is_some()),
        });
        if !kept.is_empty() {
            let of = kept.iter().map(|(column, texts)| ((*column).to_owned(), texts[i].clone().into()));
            row["kept"] = serde_json::Value::Object(of.collect());
        }
        row
    };
    let rows: Vec<_> = values.iter().enumerate().map(row).collect();
    json!({ "format": 1, "target": model.target, "rows": rows })
}

/// Returns what a program must know of the endpoint, as OpenAPI has it.
fn openapi(model: &Model) -> serde_json::Value {
    let column = |column: &str| {
        let words: Vec<&String> = words(model, column).collect();
        let kind = if words.is_empty() { "number" } else { "string" };
        (column.to_owned(), json!({ "type": [kind, "null"] }))
    };
    let properties: serde_json::Map<_, _> = model.columns().into_iter().map(column).collect();
    let predicted = json!({
        "type": "object",
        "required": ["predicted", "class", "probability"],
        "properties": {
            "predicted": {
                "type": ["number", "null"],
                "description": "of two classes the sum that tells them apart; null where the row was refused",
            },
            "class": { "type": ["string", "null"] },
            "probability": { "type": ["number", "null"], "description": "of the positive class" },
        },
    });
    let of_json = |schema: serde_json::Value| json!({ "application/json": { "schema": schema } });
    let error = json!({ "type": "object", "properties": { "error": { "type": "string" } } });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("Predictions of {}", model.target),
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Predictions with the bits of `lao predict`.",
        },
        "paths": { "/predict": { "post": {
            "operationId": "predict",
            "requestBody": { "required": true, "content": of_json(json!({
                "type": "object",
                "required": ["rows"],
                "additionalProperties": false,
                "properties": {
                    "rows": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": ROWS,
                        "items": { "type": "object", "properties": properties },
                    },
                    "missing": { "enum": ["mean", "refuse"], "default": "mean" },
                },
            })) },
            "responses": {
                "200": { "description": "a prediction for each row", "content": of_json(json!({
                    "type": "object",
                    "properties": {
                        "format": { "const": 1 },
                        "target": { "const": model.target },
                        "rows": { "type": "array", "items": predicted },
                    },
                })) },
                "422": { "description": "the rows cannot be predicted", "content": of_json(error) },
            },
        } } },
    })
}
