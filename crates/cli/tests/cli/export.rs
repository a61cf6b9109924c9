//! What `lao export`, `inspect --html`, `data`, `completions` and `man` write.

use crate::command;
use std::path::Path;
use std::process::Command as Process;

/// Runs the command, which must succeed, in a folder; returns what it printed.
fn lao(folder: &Path, arguments: &[&str]) -> String {
    let (status, printed, said) = command::lao(folder, arguments);
    assert_eq!(status, 0, "{arguments:?}: {said}");
    printed
}

/// Writes a table with words, quotes, gaps and a rare word, and learns three models from it: of a number, of
/// two classes, and of the number by trees.
fn models(folder: &Path) {
    let (mut numbers, mut classes) = (String::new(), String::new());
    for i in 0..1800u32 {
        let age = 20 + i * 7 % 61;
        let word = ["yes", "no", "it's", "yes", "no"][(i * 19 % 5) as usize];
        let word = if i % 50 == 0 { "rare" } else { word };
        let y = 80.0 + 0.5 * f64::from(age) + if word == "yes" { 9.0 } else { 0.0 } + f64::from(i * 17 % 11);
        let age = if i % 41 == 0 { String::new() } else { age.to_string() };
        let class = if y > 110.0 + f64::from(i * 13 % 7) { "sick" } else { "well" };
        let pulse = 50 + i * 13 % 41;
        numbers += &format!("{age},{word},{pulse},{y}\n");
        classes += &format!("{age},{word},{pulse},{class}\n");
    }
    for (name, rows, shape) in
        [("y", &numbers, "line"), ("class", &classes, "line"), ("trees", &numbers, "trees")]
    {
        std::fs::write(
            folder.join(format!("{name}.csv")),
            format!("\"the \"\"age\"\"\",smoker,pulse,{name}\n{rows}"),
        )
        .unwrap();
        lao(folder, &["fit", &format!("{name}.csv"), "-t", name, "-b", "3", "--shape", shape, "-q"]);
    }
}

/// A program for Python's own library that compares the exported forms with what `lao predict` says.
const CHECK: &str = r#"
import csv, importlib.util, math, sqlite3, sys
for name in ("y", "class", "trees"):
    rows = list(csv.DictReader(open(name + ".csv")))
    said = list(csv.DictReader(open(name + ".predicted.csv")))
    spec = importlib.util.spec_from_file_location("model", name + ".py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    for row, told in zip(rows, said):
        assert abs(model.predict(row) - float(told["predicted " + name])) < 1e-9
        if name == "class":
            assert model.classify(row) == told["class"]
            assert abs(model.probability(row) - float(told["probability of well"])) < 1e-9
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, math.exp)
    columns = ['"' + column.replace('"', '""') + '"' for column in rows[0]]
    kinds = ["text" if "smoker" in column or "class" in column else "real" for column in columns]
    base.execute("create table t (%s)" % ", ".join(map(" ".join, zip(columns, kinds))))
    values = [[None if value == "" else value for value in row.values()] for row in rows]
    base.executemany("insert into t values (?, ?, ?, ?)", values)
    found = base.execute("select " + open(name + ".sql").read() + " from t order by rowid").fetchall()
    field = "probability of well" if name == "class" else "predicted " + name
    assert len(found) == len(said) == 1800
    for (x,), told in zip(found, said):
        assert abs(x - float(told[field])) < 1e-9
print("checked")
"#;

#[test]
fn python_and_sql_predict_what_the_command_predicts() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    models(at);
    for name in ["y", "class", "trees"] {
        let model = format!("{name}.lao.json");
        lao(at, &["predict", &model, &format!("{name}.csv"), "-o", &format!("{name}.predicted.csv")]);
        for (form, ending) in [("sql", "sql"), ("python", "py")] {
            let text = lao(at, &["export", &model, "--to", form]);
            assert!(text.contains("rare") || text.contains("yes"), "{text}");
            lao(at, &["export", &model, "--to", form, "-o", &format!("{name}.{ending}")]);
            assert_eq!(std::fs::read_to_string(at.join(format!("{name}.{ending}"))).unwrap(), text);
        }
    }
    match Process::new("python3").args(["-c", CHECK]).current_dir(at).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said.trim(), "checked", "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => eprintln!("skipped: no python3 to run what was exported"),
    }
}

#[test]
fn coefficients_pages_and_cards_show_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    models(at);
    let table = lao(at, &["export", "y.lao.json", "--to", "csv"]);
    assert!(
        table.starts_with("attribute,column,word,coefficient,") && table.contains("smoker=yes,smoker,yes,")
    );
    assert_eq!(lao(at, &["inspect", "y.lao.json", "--html", "y.html", "--card", "y.md"]), "");
    let page = std::fs::read_to_string(at.join("y.html")).unwrap();
    assert!(page.contains("the &quot;age&quot;"), "names are escaped");
    assert!(page.contains("Error against values bought") && page.matches("<svg").count() >= 3);
    for other in ["href=", "src=", "@import", "url("] {
        assert!(!page.contains(other), "the page needs nothing else, but has {other}");
    }
    let card = std::fs::read_to_string(at.join("y.md")).unwrap();
    assert!(card.starts_with("---\nlibrary_name: lao\n") && card.contains("| smoker=yes |"), "{card}");
}

#[test]
fn tables_are_described() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "a,b,c\n1,x,7\n2,y,7\n,x,7\n").unwrap();
    let text = lao(folder.path(), &["data", "t.csv"]);
    assert!(
        text.contains("1 to 2, mean 1.5") && text.contains("2: x, y") && text.contains("constant"),
        "{text}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&lao(folder.path(), &["data", "t.csv", "--json"])).unwrap();
    assert_eq!((&json["rows"], &json["columns"][0]["missing"]), (&3.into(), &1.into()));
    assert_eq!(json["columns"][2]["left_out"], true);
}

#[test]
fn shells_and_manuals_know_the_subcommands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        assert!(lao(folder.path(), &["completions", shell]).contains("predict-budget"));
    }
    lao(folder.path(), &["man", "."]);
    let page = std::fs::read_to_string(folder.path().join("lao-fit.1")).unwrap();
    assert!(page.contains("budget") && folder.path().join("lao-study-ask.1").exists());
}
