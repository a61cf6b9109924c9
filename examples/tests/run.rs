//! Every example runs, and says what it is to show.

use std::process::Command;

fn run(program: &str) -> String {
    let output = Command::new(program).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The number behind a label in the output.
fn number(output: &str, label: &str) -> f64 {
    let (_, rest) = output.split_once(label).unwrap_or_else(|| panic!("no `{label}` in {output}"));
    rest.split_whitespace().next().unwrap().trim_end_matches([',', ';']).parse().unwrap()
}

#[test]
fn train_on_csv_beats_the_mean_within_the_budget() {
    let output = run(env!("CARGO_BIN_EXE_train_on_csv"));
    assert!(number(&output, "test error") < 0.75 * number(&output, "error of the mean"), "{output}");
    assert!(number(&output, "per row:") <= 4.0, "{output}");
}

#[test]
fn live_loop_finds_the_two_tests_that_matter() {
    let output = run(env!("CARGO_BIN_EXE_live_loop"));
    let last = output.lines().last().unwrap();
    assert!(last.contains("glucose") && last.contains("weight"), "{output}");
}

#[test]
fn own_source_pays_for_what_is_looked_at_and_finds_both_attributes() {
    let output = run(env!("CARGO_BIN_EXE_own_source"));
    assert!(output.contains("attribute 7: +3.0") && output.contains("attribute 31: -2.0"), "{output}");
    let paid: f64 = output.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(paid <= 8.0 * 20_000.0, "{output}");
}

#[test]
fn own_method_learns_within_its_budget() {
    let output = run(env!("CARGO_BIN_EXE_own_method"));
    assert!(number(&output, "excess risk") < 0.02, "{output}");
    assert!(number(&output, "at most:") <= 10.0, "{output}");
}

#[test]
fn own_claim_is_supported_and_its_mutant_noticed() {
    let output = run(env!("CARGO_BIN_EXE_own_claim"));
    assert!(output.contains("Supported") && output.contains("is noticed: true"), "{output}");
}
