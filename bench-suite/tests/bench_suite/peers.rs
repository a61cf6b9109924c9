//! Tests of the kind `peers` with programs that play Python: what a runner says, or does not say, becomes
//! rows.

#![cfg(unix)]

use lao_bench_suite::kinds::Rows;
use lao_bench_suite::row::Row;
use lao_bench_suite::run::{self, BenchOptions};
use lao_bench_suite::scenario::Scenario;
use lao_bench_suite::tier::BenchTier;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const OPTIONS: BenchOptions = BenchOptions { tier: BenchTier::Check, seed: 1, jobs: 1 };

const SCENARIO: &str = r#"
title = "Peers"
kind = "peers"
question = "purchases"
seconds = 20.0
threads = 1
python = "./python"
[tiers]
check = { repetitions = 2, scale = 1.0 }
quick = { repetitions = 2, scale = 1.0 }
full = { repetitions = 2, scale = 1.0 }
[[tables]]
name = "diabetes"
data = { dataset = "diabetes" }
budget = 5
longest = 4
[[learners]]
name = "ours"
learner = "lao-pursuit"
[[learners]]
name = "theirs"
learner = "lasso"
"#;

/// The beginning of a program that plays Python: it writes the first line of a runner, and then, for each
/// request, what `answer` prints with `$n`, the number of the repetition.
fn plays(answer: &str) -> String {
    format!(
        "#!/bin/sh\n\
         echo '{{\"software\": [\"Python, played\"]}}'\n\
         n=0\n\
         while read request; do\n\
         {answer}\n\
         n=$((n + 1))\n\
         done\n"
    )
}

/// Returns the rows of the scenario with a program in the place of Python, and its software.
fn rows(text: &str, program: Option<&str>) -> (Vec<Row>, Vec<String>, Scenario) {
    let folder = tempfile::tempdir().unwrap();
    if let Some(program) = program {
        let path = folder.path().join("python");
        std::fs::write(&path, program).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    let scenario = Scenario::read(&path).unwrap();
    let rows = run::measure(&scenario, OPTIONS, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    let software = scenario.kind.software();
    (rows, software, scenario)
}

/// Returns the reasons of the rows, each of which must be an error.
fn reasons(program: Option<&str>) -> Vec<String> {
    let (rows, _, _) = rows(SCENARIO, program);
    assert_eq!(rows.len(), 4, "one row for each learner and repetition: {rows:?}");
    rows.into_iter().map(|row| row.error.unwrap()).collect()
}

#[test]
fn without_python_each_row_says_what_to_do() {
    for reason in reasons(None) {
        assert!(
            reason.contains("cannot start") && reason.contains("bench-suite/peers/README.md"),
            "{reason}"
        );
    }
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/README.md").is_file());
}

#[test]
fn a_package_that_is_absent_is_a_row_with_the_reason() {
    let program = "#!/bin/sh\necho '{\"error\": \"ModuleNotFoundError: No module named abess\"}'\n";
    for reason in reasons(Some(program)) {
        assert!(reason.contains("No module named abess"), "{reason}");
    }
}

#[test]
fn answers_become_rows_and_the_software_is_recorded() {
    // The first learner errs by .5 and the second by .25, since their runners know their arguments.
    let answer = "case $3 in lasso) e=0.25;; *) e=0.5;; esac\n\
                  echo '{\"repetition\": '$n', \"examples\": 331, \"measurements\": \
                  {\"relative test error\": '$e', \"seconds\": null, \"attributes per prediction\": 3.0}}'";
    let (rows, software, scenario) = rows(SCENARIO, Some(&plays(answer)));
    assert_eq!(rows.len(), 4 * 3, "{rows:?}");
    assert!(rows.iter().all(|row| row.error.is_none() && row.examples == 331 && row.dim == 10));
    assert!(rows.iter().all(|row| row.value.is_none() == (row.metric == "seconds")));
    assert_eq!(software, ["Python, played"]);
    let table = scenario.kind.analyze(&Rows(&rows)).table;
    assert_eq!(table.len(), 3);
    assert_eq!(table[1][..5], ["diabetes", "ours", "0.500", "-", "3.0"]);
    assert_eq!(table[2][..5], ["diabetes", "theirs", "0.250", "2 of 2", "3.0"]);
}

#[test]
fn a_runner_that_ends_is_an_error_with_its_last_words_and_is_started_again() {
    let program = "#!/bin/sh\necho '{\"software\": []}'\nread request\necho 'out of memory' >&2\nexit 9\n";
    for reason in reasons(Some(program)) {
        assert!(reason.contains("exit status: 9") && reason.contains("out of memory"), "{reason}");
    }
}

#[test]
fn a_line_that_is_no_answer_is_repeated_and_the_runner_is_started_again() {
    // A runner that was not started again would print an empty second line.
    let answer = "[ $n = 0 ] && echo 'progress 10 of 10' || echo ''";
    for reason in reasons(Some(&plays(answer))) {
        assert!(reason.contains("`progress 10 of 10`"), "{reason}");
    }
    let unknown = "echo '{\"repetition\": '$n', \"examples\": 1, \"measurements\": {\"beauty\": 1.0}}'";
    for reason in reasons(Some(&plays(unknown))) {
        assert!(reason.contains("`beauty`") && reason.contains("support F1"), "{reason}");
    }
}

#[test]
fn a_fit_that_takes_too_long_is_stopped() {
    let text = SCENARIO.replace("seconds = 20.0", "seconds = 0.5");
    let (rows, _, _) = rows(&text, Some(&plays("exec sleep 100")));
    for row in rows {
        assert!(row.error.unwrap().contains("not done after 0.5 s"));
    }
}

#[test]
fn data_that_are_absent_are_rows_with_the_reason_and_other_tables_go_on() {
    // Rows of this dataset are absent unless somebody fetched them, and refused as sparse if they are there.
    let absent = r#"
[[tables]]
name = "absent"
data = { dataset = "real-sim" }
budget = 20
longest = 16
"#;
    let answer = "echo '{\"repetition\": '$n', \"examples\": 1, \"measurements\": {\"seconds\": 1.0}}'";
    let (rows, _, _) = rows(&format!("{SCENARIO}{absent}"), Some(&plays(answer)));
    let (missing, measured): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.learner.ends_with("on absent"));
    assert_eq!((missing.len(), measured.len()), (4, 4));
    assert!(missing.iter().all(|row| row.error.as_ref().is_some_and(|error| error.contains("real-sim"))));
    assert!(measured.iter().all(|row| row.value == Some(1.0)));
}

#[test]
fn settings_that_no_run_can_use_are_refused_before_the_work() {
    let full = SCENARIO.replace("\"purchases\"", "\"full-information\"");
    for (text, said) in [
        (SCENARIO.replace("budget = 5", "budget = 50"), "budget = 50"),
        (SCENARIO.replace("longest = 4", "longest = 6"), "longest = 6"),
        (SCENARIO.replace("longest = 4", ""), "`budget` and `longest` are missing"),
        (SCENARIO.replace("budget = 5", "budget = 5\ndim = 3"), "`dim`"),
        (SCENARIO.replace("seconds = 20.0", "seconds = -1.0"), "seconds = -1"),
        (SCENARIO.replace("threads = 1", "threads = 0"), "threads = 0"),
        (SCENARIO.replace("\"diabetes\" }", "\"diabetis\" }"), "diabetis"),
        (SCENARIO.replace("\"theirs\"", "\"ours\""), "`ours on diabetes`"),
        (full, "full information needs data from a design"),
    ] {
        let scenario = Scenario::parse("mine", &text).unwrap();
        let error = format!("{:#}", scenario.check().unwrap_err());
        assert!(error.contains(said), "{said}: {error}");
    }
}
