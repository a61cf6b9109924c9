//! A study in its pages.

use crate::client::{Answer, Running, as_fields, begun, serve, typed};
use lao::Label;
use lao::algorithms::Money;
use lao_study::{Description, Study};
use std::path::{Path, PathBuf};

/// Returns the attributes of an open slot.
fn attributes(place: &Path, slot: u64) -> Vec<String> {
    Study::open(place).unwrap().slot(slot).unwrap().attributes
}

/// Begins a study, serves it, and asks for an example by its page; returns the attributes, too.
fn asked(folder: &Path) -> (PathBuf, Running, Vec<String>) {
    let place = begun(folder);
    let running = serve(&place, false);
    running.post("/ask", &[("known", "0"), ("count", "1")]);
    let names = attributes(&place, 1);
    (place, running, names)
}

/// Sends the values of a slot.
fn send(running: &Running, what: &str, slot: u64, names: &[String], values: &[&str], label: &str) -> Answer {
    let fields = typed(names, values, label);
    running.post(&format!("/slot/{slot}/{what}"), &as_fields(&fields))
}

#[test]
fn a_study_in_its_pages_is_the_study_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let running = serve(&place, false);
    running.get("/").has(200, "Nothing is open").has(200, "The next example");
    running
        .post("/ask", &[("known", "0"), ("count", "1"), ("name", "P-17")])
        .has(200, "Example 1, <bdi>P-17</bdi>");
    running.post("/ask", &[("known", "1"), ("count", "2")]).has(200, "Example 3").has(200, "P-17");

    let names = attributes(&place, 1);
    let page = running.get("/slot/1");
    for name in &names {
        page.has(200, name);
    }
    // A number as it is typed, a gap, and the label at once.
    send(&running, "check", 1, &names, &["3,5", "absent", "2e1"], "0.7")
        .has(200, "Is this right?")
        .has(200, "3.5")
        .has(200, "could not be had")
        .has(200, ">20<");
    assert_eq!(Study::open(&place).unwrap().status().open, [1, 2, 3]);
    send(&running, "tell", 1, &names, &["3,5", "absent", "2e1"], "0.7").has(200, "All of it is recorded");
    // The label of the second comes later.
    send(&running, "tell", 2, &attributes(&place, 2), &["1", "2", "3"], "");
    running.get("/").has(200, "is missing").has(200, "/slot/2");
    running.get("/slot/2").has(200, "The label").lacks("Give a number, or tick");
    send(&running, "check", 2, &[], &[], "0,35").has(200, "0.35");
    send(&running, "tell", 2, &[], &[], "0,35").has(200, "All of it is recorded");
    running.post("/slot/3/void", &[("reason", "<b>hemolyzed</b>")]).has(200, "&lt;b&gt;hemolyzed");
    running.get("/files/examples.csv").has(200, "1,P-17,told,").has(200, "NA").has(200, "3,,closed,");

    let twin = begun(&folder.path().join("twin").tap(|at| std::fs::create_dir(at).unwrap()));
    let mut study = Study::open(&twin).unwrap();
    study.ask(1).unwrap();
    study.name(1, "P-17").unwrap();
    study.ask(2).unwrap();
    study.tell(1, &[3.5, f64::NAN, 20.0], Some(0.7)).unwrap();
    study.tell(2, &[1.0, 2.0, 3.0], None).unwrap();
    study.label(2, 0.35).unwrap();
    study.void(3, "<b>hemolyzed</b>").unwrap();
    let records = |place: &Path| {
        let text = std::fs::read_to_string(place.join("journal.jsonl")).unwrap();
        text.lines().map(|line| line.split(",\"chain\"").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(records(&place), records(&twin));
}

trait Tap: Sized {
    fn tap(self, with: impl FnOnce(&Self)) -> Self {
        with(&self);
        self
    }
}

impl Tap for PathBuf {}

#[test]
fn what_is_no_number_is_said_beside_its_field_and_what_was_typed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (place, running, names) = asked(folder.path());
    send(&running, "check", 1, &names, &["23O", "", "7.25"], "x")
        .has(422, "`23O` is no number")
        .has(422, "Give a number, or tick")
        .has(422, "`x` is no number")
        .has(422, "value=\"7.25\"");
    // Even if the page of the check is passed by.
    send(&running, "tell", 1, &names, &["23O", "1", "7.25"], "").has(422, "`23O` is no number");
    send(&running, "tell", 1, &names, &["absent", "absent", "absent"], "").has(422, "nothing came of it");
    send(&running, "change", 1, &names, &["23", "1", "7.25"], "").has(200, "value=\"7.25\"");
    assert_eq!(Study::open(&place).unwrap().status().open, [1]);
}

#[test]
fn a_value_unlike_those_before_is_asked_back_and_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let mut study = Study::open(&place).unwrap();
    for slot in study.ask(6).unwrap() {
        let x = slot.number as f64;
        study.tell(slot.number, &[x, 2.0 * x, 3.0 * x], Some(x)).unwrap();
    }
    let slot = study.ask(1).unwrap().remove(0);
    drop(study);
    let running = serve(&place, false);
    send(&running, "check", slot.number, &slot.attributes, &["3", "400", "9"], "1")
        .has(200, "so far the values were from 2 to 12")
        .has(200, "They may be right all the same");
    send(&running, "check", slot.number, &slot.attributes, &["3", "14", "9"], "1").lacks("so far the values");
    send(&running, "tell", slot.number, &slot.attributes, &["3", "400", "9"], "1")
        .has(200, "All of it is recorded");
}

#[test]
fn of_two_people_the_second_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (place, running, names) = asked(folder.path());
    send(&running, "tell", 1, &names, &["1", "2", "3"], "0.5").has(200, "All of it is recorded");
    for what in ["check", "tell", "change"] {
        send(&running, what, 1, &names, &["1", "2", "33"], "0.6")
            .has(409, "somebody else has reported this example")
            .has(409, ">33<")
            .has(409, ">3<")
            .has(409, "0.6");
    }
    // The values are told, and the label is not.
    running.post("/ask", &[("known", "1"), ("count", "1")]);
    let names = attributes(&place, 2);
    send(&running, "tell", 2, &names, &["1", "2", "3"], "");
    send(&running, "tell", 2, &names, &["1", "2", "44"], "0.9").has(409, ">44<").has(409, "still missing");
    // A form that is sent twice hands out once.
    running.post("/ask", &[("known", "1"), ("count", "1")]).has(409, "other examples were");
    assert_eq!(Study::open(&place).unwrap().status().slots, 2);
}

#[test]
fn what_was_typed_stays_while_another_program_has_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let (place, running, names) = asked(folder.path());
    let held = Study::open(&place).unwrap();
    let answer = send(&running, "tell", 1, &names, &["1.5", "2.5", "absent"], "0.5");
    answer.has(503, "another program uses the study").has(503, "Try again").has(503, "value=\"2.5\"");
    running.get("/").has(503, "another program uses the study");
    drop(held);
    send(&running, "tell", 1, &names, &["1.5", "2.5", "absent"], "0.5").has(200, "All of it is recorded");
}

#[test]
fn names_are_of_one_line_and_of_one_example() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let running = serve(&place, false);
    let ask = |name: &str, count: &str| {
        let known = Study::open(&place).unwrap().status().slots.to_string();
        running.post("/ask", &[("known", &known), ("count", count), ("name", name)])
    };
    ask("P-1", "1").has(200, "Example 1");
    ask("P-1", "1").has(409, "slot 1 has it");
    ask("=HYPERLINK(1)", "1").has(409, "Nothing was handed out");
    ask(&"x".repeat(10_000), "1").has(409, "1 to 100 characters");
    ask("a\u{7}b", "1").has(409, "no line break");
    ask("P-2", "2").has(409, "a name is for one example");
    ask("", "0").has(409, "from 1 to 100");
    assert_eq!(Study::open(&place).unwrap().status().slots, 1);
    running.post("/slot/1/name", &[("name", "P-1b")]).has(200, "P-1b");
    running.post("/slot/1/name", &[("name", "\u{202e}cod<i>")]).has(200, "<bdi>\u{202e}cod&lt;i&gt;</bdi>");
    running.post("/slot/7/name", &[("name", "P-7")]).has(404, "no such page");
}

#[test]
fn what_is_known_and_predicted_is_that_of_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let mut study = Study::open(&place).unwrap();
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    for _ in 0..300 {
        let slot = study.ask(1).unwrap().remove(0);
        let all: Vec<f64> = (0..6).map(|_| next()).collect();
        let values: Vec<f64> =
            slot.attributes.iter().map(|name| all[usize::from(name.as_bytes()[0] - b'a')]).collect();
        study.tell(slot.number, &values, Some(5.0 * all[0] - 3.0 * all[2] + 0.1 * next())).unwrap();
    }
    let (model, noise) = (study.model(), study.noise());
    drop(study);
    assert_eq!(model.columns(), ["a [mmol]", "c"]);
    let running = serve(&place, false);
    let known = running.get("/known?sparsity=2&signal=3");
    known.has(200, "response is estimated as").has(200, "<svg").has(200, "A plan of 2 attributes");
    assert_eq!(known.body.matches("<figure>").count(), 4);
    running.get("/known?sparsity=0&signal=x").has(200, "an effect above 0");
    running.get("/predict").has(200, "mmol").lacks("role=\"status\"");
    let line = model.intercept
        + model.coefficients[0].value * 0.25
        + model.coefficients[1].value * model.coefficients[1].mean;
    let predicted = running.post("/predict", &[("value-0", "0,25"), ("value-1", "")]);
    predicted.has(200, &format!("to its last digit: {line}")).has(200, "1 values are missing");
    let half = lao::HALF_WIDTH * noise.sqrt();
    predicted.has(
        200,
        &format!("from {} to {}", lao_figures::number(line - half), lao_figures::number(line + half)),
    );
    running.post("/predict", &[("value-0", "much")]).has(422, "`much` is no number");
    running.get("/files/report.html").has(200, "a model within a budget");
    running.get("/files/model.lao.json").has(200, "\"lao\":");
    let archive = running.get("/files/study.zip");
    archive.has(200, "tumor/journal.jsonl").has(200, "tumor/study.json").lacks("tumor/lock");
}

#[test]
fn classes_are_chosen_and_prices_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("flu");
    let prices = lao::Prices::new(
        [("a", 2.0), ("b", 3.0)]
            .map(|(column, price)| lao::Price { column: column.into(), price, panel: None, further: None })
            .to_vec(),
    )
    .unwrap();
    let priced = prices.of_all().unwrap();
    let label = Label::Classes { positive: "ill <1>".into(), negative: "well".into() };
    let money = Some(Money::new(priced.tariff, 5.0));
    let names = vec!["a".to_owned(), "b".to_owned()];
    let description = Description {
        label,
        money,
        panels: priced.panels,
        examples: None,
        ..Description::new("state", names, 2)
    };
    drop(Study::create(&place, description).unwrap());
    let running = serve(&place, false);
    running.post("/ask", &[("known", "0"), ("count", "1")]).has(200, "Cost: 5").has(200, "ill &lt;1&gt;");
    let names = attributes(&place, 1);
    send(&running, "check", 1, &names, &["1", "2"], "sick").has(422, "none of the two classes");
    send(&running, "tell", 1, &names, &["1", "2"], "ill <1>").has(200, "All of it is recorded");
    running.get("/files/examples.csv").has(200, "1,,told,1,2,ill <1>");
    running.get("/").has(200, "Spent so far: 5");
}
