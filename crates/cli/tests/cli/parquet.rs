//! Tables in Parquet files, and runs that go on.

use crate::command::lao;
use lao::Fit;
use std::fs;
use std::path::Path;

/// Writes a table of 4,000 rows and 30 columns, of which two determine the label.
fn table(at: &Path) {
    let value = |i: u64, j: u64| (i * (2 * j + 977) % 641) as f64 / 641.0;
    let names: Vec<String> = (0..30).map(|j| format!("c{j}")).collect();
    let mut text = names.join(",") + ",y\n";
    for i in 0..4000 {
        let row: Vec<String> = (0..30).map(|j| value(i, j).to_string()).collect();
        text += &format!("{},{}\n", row.join(","), 2.0 * value(i, 8) - value(i, 21) + 0.1 * value(i, 70));
    }
    fs::write(at.join("t.csv"), text).unwrap();
}

/// Returns a model without what names its table.
fn model(at: &Path, name: &str) -> String {
    let text = fs::read_to_string(at.join(name)).unwrap();
    let of_table = |line: &&str| !line.contains("\"table\"") && !line.contains("\"sha256\"");
    text.lines().filter(of_table).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_table_becomes_a_parquet_file_and_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    table(at);
    let (status, _, said) = lao(at, &["data", "t.csv", "--rewrite", "t.parquet", "--page", "50"]);
    assert!(status == 0 && said.contains("rows are in t.parquet"), "{said}");
    // What lao cannot know to be its own is not replaced.
    let (status, _, said) = lao(at, &["data", "t.csv", "--rewrite", "t.parquet"]);
    assert!(status == 2 && said.contains("--force"), "{said}");
    let (status, _, said) = lao(at, &["data", "t.parquet", "--rewrite", "t.parquet", "--force"]);
    assert!(status == 2 && said.contains("is read by this command"), "{said}");
    for (data, name, pages) in
        [("t.csv", "csv", "auto"), ("t.parquet", "whole", "auto"), ("t.parquet", "paged", "always")]
    {
        let to = format!("{name}.json");
        let (status, printed, said) =
            lao(at, &["fit", data, "-t", "y", "-b", "4", "--pages", pages, "-o", &to]);
        assert_eq!(status, 0, "{said}");
        assert_eq!(printed.contains("\nread "), pages == "always", "{printed}");
        assert!(printed.contains("c8") && printed.contains("c21"), "{printed}");
    }
    assert_eq!(model(at, "whole.json"), model(at, "csv.json"));
    let (_, of_csv, _) = lao(at, &["predict", "paged.json", "t.csv"]);
    let (_, of_parquet, _) = lao(at, &["predict", "paged.json", "t.parquet"]);
    assert_eq!(of_csv, of_parquet);
    let (status, _, said) = lao(at, &["fit", "t.csv", "-t", "y", "-b", "4", "--pages", "always"]);
    assert!(status == 2 && said.contains("t.csv: this is no Parquet file"), "{said}");
}

#[test]
fn a_run_goes_on_where_another_one_stood() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    table(at);
    let examples = lao::read(at.join("t.csv")).unwrap().target("y").unwrap();
    let mut states = Vec::new();
    let keep = |state: &dyn Fn() -> lao::Suspended| {
        states.push(state());
        Ok(())
    };
    let whole = Fit::within(4).run_kept(&examples, None, keep, |_| {}).unwrap().model;
    assert!(states.len() > 50, "{}", states.len());
    for state in [&states[0], &states[states.len() / 2], &states[states.len() - 1]] {
        // The table of the command has another name.
        let text = serde_json::to_string(state).unwrap();
        let text = text.replace(&at.join("t.csv").display().to_string(), "t.csv");
        fs::write(at.join("state"), &text).unwrap();
        let (status, _, said) =
            lao(at, &["fit", "t.csv", "-t", "y", "-b", "4", "--resume", "state", "-o", "m.json"]);
        assert!(status == 0 && said.contains("learning goes on from where state stands"), "{said}");
        let read = lao::Model::from_json(&fs::read_to_string(at.join("m.json")).unwrap()).unwrap();
        assert_eq!((&read.coefficients, &read.spent), (&whole.coefficients, &whole.spent));
        assert_eq!((&read.holdout, &read.history), (&whole.holdout, &whole.history));
        assert!(!at.join("state").exists(), "it is removed");
        // Another budget is another run.
        fs::write(at.join("state"), &text).unwrap();
        let (status, _, said) = lao(at, &["fit", "t.csv", "-t", "y", "-b", "5", "--resume", "state"]);
        assert!(status == 2 && said.contains("remove it, to begin anew"), "{said}");
    }
    let (status, _, said) = lao(at, &["fit", "t.csv", "-t", "y", "-b", "4", "--resume", "t.csv"]);
    assert!(status == 2 && said.contains("t.csv does not say where learning stood"), "{said}");
}
