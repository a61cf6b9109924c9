//! All forms of a model against sums that were done by hand: the forms share code, so that comparing them
//! with each other shows no fault of what they share. The rows are the ways in which a value can be missing,
//! unlimited, out of range or unknown.

use crate::command;
use std::process::Command as Process;

/// `100 + 2 dose - free + 4 [word is yes] - 3 [word is no]`. Doses count as 0 to 20, and 7 means a missing
/// one; "yes" counts as a half; what is missing counts as its mean. Trees subtract 4 up to a dose of 10, and
/// add 8 above.
const MODEL: &str = r#"{
  "lao": {"format": 1, "version": "0.1.0"}, "target": "y", "label": LABEL, "intercept": 100.0,
  "coefficients": [
    {"column": "dose", "value": 2.0, "mean": 11.0, "within": [0.0, 20.0]},
    {"column": "free", "value": -1.0, "mean": 5.0},
    {"column": "word", "word": "yes", "value": 4.0, "mean": 0.25, "within": [0.0, 0.5]},
    {"column": "word", "word": "no", "value": -3.0, "mean": 0.5}
  ],
  MORE
  "spent": {"examples": 1, "attributes": 1, "most_attributes": 1, "passed_over": 0},
  "origin": {
    "method": "pursuit", "holdout": 0.1, "passes": 1, "seed": 1, "safeguarded": false,
    "parameters": {"method": "pursuit", "dim": 4, "budget": 4, "level": 0.05, "longest": null, "always": [],
      "never": []},
    "table": "t.csv", "sha256": "SHA", "attributes": 4, "examples": 10, "budget": 4,
    "reading": {"missing": ["-999", "dose=7"]}
  }
}"#;

const TREES: &str = r#""trees": {
    "cuts": [[10.0], [], [], []], "scale": 0.5, "shares": [1.0, 0.0, 0.0, 0.0],
    "trees": [{"column": [0], "cut": [0], "below": [-1], "above": [-2], "leaf": [-8.0, 16.0]}]
  },"#;

/// Of log odds `(y - 100)/2`.
const LINK: &str = r#""link": {"offset": -50.0, "slope": 0.5},"#;

/// The fields of a row, the prediction of the line, and that of the line with trees.
const ROWS: [([&str; 3], f64, f64); 20] = [
    (["1", "1", "yes"], 103.0, 99.0),
    (["1", "1", "no"], 98.0, 94.0),
    (["1", "1", "maybe"], 101.0, 97.0),
    (["1", "1", "Yes"], 101.0, 97.0),
    // Missing, in each of the ways.
    (["", "1", "yes"], 123.0, 131.0),
    (["NA", "1", "yes"], 123.0, 131.0),
    (["?", "1", "yes"], 123.0, 131.0),
    (["nan", "1", "yes"], 123.0, 131.0),
    (["-999", "1", "yes"], 123.0, 131.0),
    (["7", "1", "yes"], 123.0, 131.0),
    (["1", "7", "yes"], 97.0, 93.0),
    (["1", "", "yes"], 99.0, 95.0),
    (["1", "-999", "yes"], 99.0, 95.0),
    (["1", "1", ""], 100.5, 96.5),
    (["1", "1", "-999"], 100.5, 96.5),
    (["", "", ""], 116.5, 124.5),
    // At a cut, out of range on either side, and without a range.
    (["10", "1", "yes"], 121.0, 117.0),
    (["25", "1", "yes"], 141.0, 149.0),
    (["-5", "1", "yes"], 101.0, 97.0),
    (["1", "1e9", "yes"], -999_999_896.0, -999_999_900.0),
];

/// A program for Python's own library: what the exported forms predict for the rows of the table.
const CHECK: &str = r#"
import csv, importlib.util, json, math, sqlite3, sys
rows = list(csv.DictReader(open("t.csv")))
for name, wanted in json.load(open("wanted.json")).items():
    spec = importlib.util.spec_from_file_location("model", name + ".py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    predict = model.probability if name == "classes" else model.predict
    for row, expected in zip(rows, wanted):
        found = predict(row)
        assert abs(found - expected) <= 1e-12 * max(1.0, abs(expected)), (name, row, found, expected)
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, lambda x: math.exp(x) if x < 700 else math.inf)
    base.execute("create table t (dose real, free real, word text)")
    marks = ("", "NA", "?", "nan")
    for row in rows:
        base.execute("insert into t values (?, ?, ?)", [None if x in marks else x for x in row.values()])
    found = [x for (x,) in base.execute("select " + open(name + ".sql").read() + " from t order by rowid")]
    assert len(found) == len(wanted)
    for row, x, expected in zip(rows, found, wanted):
        assert abs(x - expected) <= 1e-12 * max(1.0, abs(expected)), (name, row, x, expected)
print("checked")
"#;

fn probability(y: f64) -> f64 {
    1.0 / (1.0 + (-(y - 100.0) / 2.0).exp())
}

#[test]
fn forms_of_a_model_predict_what_was_summed_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let lao = |arguments: &[&str]| {
        let (status, printed, said) = command::lao(at, arguments);
        assert_eq!(status, 0, "{arguments:?}: {said}");
        printed
    };
    let fields = ROWS.map(|(fields, ..)| fields.join(","));
    std::fs::write(at.join("t.csv"), format!("dose,free,word\n{}\n", fields.join("\n"))).unwrap();
    let classes = r#"{"classes": {"positive": "ill", "negative": "well"}}"#;
    let forms: [(&str, &str, &str, [f64; 20]); 3] = [
        ("line", "\"number\"", "", ROWS.map(|(_, line, _)| line)),
        ("trees", "\"number\"", TREES, ROWS.map(|(.., trees)| trees)),
        ("classes", classes, LINK, ROWS.map(|(_, line, _)| probability(line))),
    ];
    for (name, label, more, wanted) in &forms {
        let model = MODEL.replace("LABEL", label).replace("MORE", more).replace("SHA", &"0".repeat(64));
        let path = format!("{name}.lao.json");
        std::fs::write(at.join(&path), model).unwrap();
        let printed = lao(&["predict", &path, "t.csv", "--separator", ","]);
        let lines: Vec<&str> = printed.lines().collect();
        let header: Vec<&str> = lines[0].split(',').collect();
        let of = |name: &str| header.iter().position(|field| *field == name).unwrap();
        assert_eq!(lines.len(), 21, "{printed}");
        for ((line, (fields, y, _)), wanted) in lines[1..].iter().zip(&ROWS).zip(wanted) {
            let told: Vec<&str> = line.split(',').collect();
            let is_class = *name == "classes";
            let column = of(if is_class { "probability of ill" } else { "predicted y" });
            let found: f64 = told[column].parse().unwrap();
            let close = (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0);
            assert!(close, "{name} {fields:?}: {found} for {wanted}");
            if is_class {
                assert_eq!(told[of("class")], if *y > 100.0 { "ill" } else { "well" }, "{fields:?}");
            }
        }
        for (form, ending) in [("sql", "sql"), ("python", "py")] {
            lao(&["export", &path, "--to", form, "-o", &format!("{name}.{ending}")]);
        }
    }
    let wanted: serde_json::Map<String, serde_json::Value> =
        forms.iter().map(|(name, _, _, wanted)| (name.to_string(), wanted.to_vec().into())).collect();
    std::fs::write(at.join("wanted.json"), serde_json::to_string(&wanted).unwrap()).unwrap();
    match Process::new("python3").args(["-c", CHECK]).current_dir(at).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said.trim(), "checked", "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => eprintln!("skipped: no python3 to run what was exported"),
    }
}
