//! Predictions.

use crate::client::Running;
use lao::{Fit, Frame, Missing, Model, ReadOptions};
use lao_pages::ModelPages;
use serde_json::{Value, json};

/// A model of a number and two words.
fn model() -> Model {
    let mut text = String::from("x,smoker,noise,y\n");
    for i in 0..400_u32 {
        let (x, smoker) = (f64::from(i * 37 % 101) / 7.0, i * 13 % 5 < 2);
        let y = 2.0 * x + if smoker { 9.0 } else { 0.0 } + f64::from(i * 71 % 13) / 10.0;
        text += &format!(
            "{x},{},{},{y}\n",
            if smoker { "yes" } else { "no, never" }.replace(", ", " "),
            i * 29 % 17
        );
    }
    let frame = Frame::parse(text.as_bytes(), "patients.csv", &ReadOptions::default()).unwrap();
    Fit::within(3).run(&frame.target("y").unwrap()).unwrap().model
}

fn serve(model: &Model) -> Running {
    let model = model.clone();
    Running::start(false, move |server, guard, stop| ModelPages::new(model, guard).serve(server, &stop))
}

fn ask(running: &Running, body: &Value) -> (u16, Value) {
    let answer = running.request("POST", "/predict", "Content-Type: application/json\r\n", &body.to_string());
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

#[test]
fn a_program_gets_the_bits_of_a_table() {
    let model = model();
    assert_eq!(model.columns(), ["x", "smoker"]);
    let running = serve(&model);
    let text = b"x,smoker\n0.1,yes\n,no never\n1e-3,maybe\n3.0000000000000004,\n";
    let frame = Frame::parse(text, "t", &model.read_options()).unwrap();
    let rows = json!([
        { "x": 0.1, "smoker": "yes", "other": [1] },
        { "x": null, "smoker": "no never" },
        { "x": "1e-3", "smoker": "maybe" },
        { "x": 3.000_000_000_000_000_4_f64 },
    ]);
    for (word, missing) in [("mean", Missing::Mean), ("refuse", Missing::Refuse)] {
        let (status, answer) = ask(&running, &json!({ "rows": rows, "missing": word }));
        let expected = lao_pages::json(&model, &model.predict(&frame, missing).unwrap().values, &[]);
        assert_eq!((status, answer), (200, expected));
    }
}

#[test]
fn what_cannot_be_predicted_is_said() {
    let model = model();
    let running = serve(&model);
    for (body, text) in [
        (json!({}), "missing field `rows`"),
        (json!({ "rows": [] }), "send 1 to"),
        (json!({ "rows": [{ "x": 1 }] }), "no row has smoker"),
        (json!({ "rows": [{ "x": [1], "smoker": "yes" }] }), "row 0: `x` is neither"),
        (json!({ "rows": [{ "x": 1, "smoker": "yes" }], "mising": 1 }), "unknown field"),
        (json!({ "rows": [{ "x": "many", "smoker": "yes" }] }), "row 0: `x` has `many`"),
    ] {
        let (status, answer) = ask(&running, &body);
        let said = answer["error"].as_str().unwrap_or_default();
        assert!(status == 422 && said.contains(text), "{body}: {status} {answer}");
    }
    let answer = running.request("POST", "/predict", "Content-Type: application/json\r\n", "{");
    answer.has(422, "openapi.json");
    // A page of another site may not even ask.
    let headers = "Content-Type: application/json\r\nOrigin: https://evil.example\r\n";
    running.request("POST", "/predict", headers, "{}").has(403, "Another site");
    running.request("GET", "/", "Host: evil.example\r\n", "").has(421, "Another host");
}

#[test]
fn a_form_predicts_and_the_endpoint_is_described() {
    let model = model();
    let running = serve(&model);
    running.get("/").has(200, "list=\"words-1\"").has(200, "openapi.json");
    let (_, answer) = ask(&running, &json!({ "rows": [{ "x": 2.5, "smoker": "yes" }] }));
    let predicted = answer["rows"][0]["predicted"].to_string();
    running
        .post("/predict", &[("value-0", "2,5"), ("value-1", "yes")])
        .has(200, &format!("to its last digit: {predicted}"))
        .has(200, "with probability 95 % from");
    running.post("/predict", &[("value-0", "x")]).has(422, "`x` is no number");
    let described: Value = serde_json::from_str(&running.get("/openapi.json").body).unwrap();
    let operation = &described["paths"]["/predict"]["post"];
    let row =
        &operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["rows"]["items"];
    assert_eq!(
        row["properties"],
        json!({ "x": { "type": ["number", "null"] }, "smoker": { "type": ["string", "null"] } })
    );
    let stored = Model::from_json(&running.get("/model.json").body).unwrap();
    assert_eq!(stored.coefficients, model.coefficients);
}
