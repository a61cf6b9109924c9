//! Tests of the commands as a user sees them: exit states, messages and files.

use crate::common::{self, CHEAP, output, text};
use assert_cmd::Command;
use std::path::Path;
use std::process::Output;

/// Runs the command in a folder of its own.
fn xtask(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), arguments)
}

#[track_caller]
fn refused(arguments: &[&str], says: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    common::refused(folder.path(), arguments, says);
}

#[test]
fn one_claim_runs_and_leaves_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let output = output(folder.path(), &["verify", CHEAP]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains("HOLDS") && said.contains("index.html"), "{said}");
    assert!(said.lines().last().unwrap().ends_with("0 failed, 0 skipped"), "{said}");
    let out = folder.path().join("target/lao/verify");
    for file in ["index.html", "evidence.json", "junit.xml", "summary.md", "timings.json"] {
        assert!(out.join(file).is_file(), "{file} is missing");
    }
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains(CHEAP) && page.contains("<math"), "the page shows the claim as mathematics");
    assert!(!page.contains("http://") || !page.contains("src=\"http"), "the page needs nothing from outside");
}

#[test]
fn the_record_can_be_had_as_json_alone() {
    let output = xtask(&["verify", CHEAP, "--format", "json", "--jobs", "1"]);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["schema"], "lao-evidence/1");
    assert_eq!(record["claims"][0]["id"], CHEAP);
}

#[test]
fn listing_and_explaining_run_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let list = output(folder.path(), &["verify", "--list", "--paper", "ms18"]);
    let said = text(&list.stdout);
    assert!(said.contains("ms18-thm41-literal") && !said.contains("engine-"), "{said}");
    let explained = text(&output(folder.path(), &["verify", "--explain", CHEAP]).stdout);
    assert!(explained.contains("Lemma A.2"), "{explained}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing was written");
}

#[test]
fn names_that_do_not_exist_suggest_the_nearest() {
    refused(&["verify", "ms18-lema-a2"], &["no claim named `ms18-lema-a2`", "did you mean `ms18-lemma-a2`"]);
    refused(&["verify", "--explain", "thm41-litral"], &["did you mean `ms18-thm41-literal`"]);
    refused(&["verify", "--paper", "nobody99"], &["nobody99", "known: hk12, ito17, ms18, scsg20, pursuit"]);
    refused(&["verify", "--paper", "engine", CHEAP], &["nothing to run"]);
    refused(&["bench", "ms18-fig"], &["ms18-fig1"]);
    refused(&["data", "fetch", "digitz"], &["digitz", "digits"]);
}

#[test]
fn what_cannot_be_used_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    refused(&["verify", CHEAP, "--out", file], &["a-file", "--out"]);
    refused(&["verify", CHEAP, "--compare", "no-such-baseline.json"], &["no-such-baseline.json"]);
    refused(&["verify", CHEAP, "--bless", "b.json"], &["--reason"]);
    refused(&["verify", "--tier", "huge"], &["quick", "full", "nightly"]);
    refused(&["verify", "--jobs", "many"], &["many"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_not_a_success() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("xtask"));
    command.current_dir(folder.path()).args(["verify", "--list"]).stdout(full);
    let output = command.stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot print"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn a_killed_run_is_taken_up_and_ends_with_the_same_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let claims = ["verify", "lemma", "inner-product", "thm44-recursion"];
    let whole = folder.path().join("whole");
    let broken = folder.path().join("broken");
    let arguments = |out: &Path, jobs: &str| -> Vec<String> {
        let more = ["--jobs", jobs, "--out", out.to_str().unwrap()];
        claims.iter().chain(&more).map(|part| (*part).to_string()).collect()
    };
    let run = |out: &Path, jobs: &str| {
        Command::cargo_bin("xtask").unwrap().args(arguments(out, jobs)).output().unwrap()
    };
    assert_eq!(run(&whole, "1").status.code(), Some(0));

    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("xtask"))
        .args(arguments(&broken, "1"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The run is killed as soon as one result is there; a run that is faster than that is complete.
    let some = || std::fs::read_dir(broken.join("claims")).is_ok_and(|mut files| files.next().is_some());
    while !some() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    assert_eq!(run(&broken, "2").status.code(), Some(0));
    let read = |out: &Path| std::fs::read(out.join("evidence.json")).unwrap();
    assert!(read(&whole) == read(&broken), "another number of threads, after a kill, gave another record");
}

#[test]
fn the_help_of_the_bench_suite_builds_nothing_nor_does_a_mistyped_argument() {
    let folder = tempfile::tempdir().unwrap();
    let xtask = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
        let output =
            command.current_dir(folder.path()).env("CARGO", "no such cargo").args(arguments).output();
        let output = output.unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, help, said) = xtask(&["bench", "--help"]);
    assert!(
        status == Some(0) && help.contains("Usage: cargo xtask bench") && help.contains("my.toml"),
        "{help}{said}"
    );
    let own = text(&output(folder.path(), &["bench", "--help"]).stdout);
    assert_eq!(help, own);
    let (status, _, said) = xtask(&["bench", "--tier", "larger"]);
    assert!(status == Some(2) && said.contains("'larger'"), "{said}");
    // What is right is handed on to the program, which cargo would build.
    let (status, _, said) = xtask(&["bench", "--list"]);
    assert!(status == Some(2) && said.contains("cannot run cargo"), "{said}");
}
