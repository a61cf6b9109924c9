//! Tests of `verify --compare` and `--bless`: everything that can be refused is refused at the start, and a
//! run passes against its own baseline.

use crate::common::{CHEAP, RATED, exits, json, refused, snapshot, write_mine};
use std::path::Path;

/// Checks that the command is refused, that it says so, and that it wrote nothing.
#[track_caller]
fn refused_at_the_start(folder: &Path, arguments: &[&str], says: &[&str]) {
    let before = snapshot(folder);
    refused(folder, arguments, says);
    assert_eq!(before, snapshot(folder), "{arguments:?} wrote something");
    assert!(!folder.join("target").exists(), "{arguments:?} opened the folder of results");
}

#[test]
fn what_can_be_refused_is_refused_before_any_claim_runs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_mine(here, &["mine.json", "sub/file"]);
    let verify =
        |rest: &[&'static str]| -> Vec<&str> { ["verify", CHEAP].iter().chain(rest).copied().collect() };
    let refused = |rest: &[&'static str], says: &[&str]| refused_at_the_start(here, &verify(rest), says);
    refused(&["--compare", "missing.json"], &["missing.json", "--bless"]);
    refused(&["--compare", "mine.json"], &["mine.json", "not a baseline"]);
    refused(&["--compare", "sub"], &["sub", "not a baseline"]);
    refused(&["--bless", "new.json"], &["--reason"]);
    refused(&["--bless", "new.json", "--reason", " \t"], &["--reason is empty"]);
    refused(&["--reason", "because"], &["--bless"]);
    refused(&["--bless", "mine.json", "--reason", "because"], &["mine.json", "not a baseline"]);
    refused(&["--bless", "sub", "--reason", "because"], &["sub", "a folder"]);
    refused(&["--bless", "no/such/new.json", "--reason", "because"], &["no/such/new.json", "folder"]);
    refused(&["--bless", "sub/file/new.json", "--reason", "because"], &["sub/file/new.json"]);
    refused(&["--out", "mine.json"], &["mine.json", "--out"]);
    refused(&["--out", "mine.json/sub"], &["mine.json", "--out"]);
    refused(&["nope"], &["no claim named `nope`"]);
    refused(&["--jobs", "100000"], &["100000", "1024"]);
    refused(&["--paper", "nope"], &["nope", "known:"]);
    refused_at_the_start(here, &["verify", "--explain", "nope"], &["no claim named `nope`"]);
    refused_at_the_start(here, &["bench", "ms18-fig1", "nope"], &["nope"]);
    refused_at_the_start(here, &["bench", "ms18-fig1", "--out", "mine.json"], &["mine.json", "--out"]);
    #[cfg(unix)]
    refused(&["--compare", "/dev/zero"], &["/dev/zero", "not a baseline"]);
}

#[test]
fn a_read_only_baseline_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let bless = ["verify", CHEAP, "--bless", "b.json", "--reason", "first", "--out", "out"];
    exits(0, here, &bless);
    let file = here.join("b.json");
    let mut rights = std::fs::metadata(&file).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&file, rights).unwrap();
    let before = snapshot(here);
    refused(here, &bless, &["b.json", "read-only"]);
    assert_eq!(before, snapshot(here));
}

/// Makes the rates of a baseline better by a tenth, so that a run is worse than the baseline.
fn improve(file: &Path) {
    let mut baseline = json(file);
    for epoch in ["current", "epoch_zero"] {
        for rate in baseline[epoch][RATED]["rates"].as_object_mut().unwrap().values_mut() {
            assert_eq!(rate["worse"], "larger");
            for replicate in rate["replicates"].as_array_mut().unwrap() {
                *replicate = (0.9 * replicate.as_f64().unwrap()).into();
            }
        }
    }
    std::fs::write(file, baseline.to_string()).unwrap();
}

#[test]
fn an_accepted_slow_down_is_blessed_once_and_its_drift_stays_in_view() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let verify =
        |rest: &[&'static str]| -> Vec<&str> { ["verify", RATED].iter().chain(rest).copied().collect() };
    exits(0, here, &verify(&["--bless", "b.json", "--reason", "first"]));
    let [said, _] = exits(0, here, &verify(&["--compare", "b.json"]));
    assert!(said.contains("4 figures: 4 unchanged") && !said.contains("undecided: "), "{said}");
    assert!(!said.contains("drift"), "{said}");

    improve(&here.join("b.json"));
    let [said, _] = exits(7, here, &verify(&["--compare", "b.json"]));
    assert!(said.contains("WORSE: ms18-consistency-remark") && said.contains("+18.33 %"), "{said}");
    assert!(said.contains("cargo xtask verify --bless FILE --reason"), "it says how to accept: {said}");

    exits(0, here, &verify(&["--bless", "b.json", "--reason", "slower, and accepted"]));
    for _ in 0..2 {
        let [said, _] = exits(0, here, &verify(&["--compare", "b.json"]));
        assert!(
            said.contains("4 unchanged") && !said.contains("WORSE") && !said.contains("--bless"),
            "{said}"
        );
        assert!(said.contains("drift, worse: ms18-consistency-remark"), "{said}");
    }
    assert_eq!(json(&here.join("b.json"))["history"].as_array().unwrap().len(), 2);

    let accept = |name: &'static str| ["track", "accept", name, "--baseline", "b.json", "--reason", "safer"];
    refused(here, &accept("nope"), &["b.json", "`nope`", "CLAIM: RATE"]);
    let [said, _] = exits(0, here, &accept(RATED));
    assert!(said.contains("drift accepted: ms18-consistency-remark: "), "{said}");
    let [said, _] = exits(0, here, &verify(&["--compare", "b.json"]));
    assert!(!said.contains("drift, ") && said.contains("a drift was accepted: safer"), "{said}");
    refused(here, &accept(RATED), &["has no drift"]);
}

#[test]
fn lists_fit_a_page_and_lose_nothing_as_json() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["verify", "--list"][..], &["bench", "--list"], &["data", "list"]] {
        let [said, _] = exits(0, folder.path(), arguments);
        // The line that lists folders is as long as their names.
        let rows = said.lines().filter(|line| !line.starts_with("searched:"));
        let widest = rows.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 110, "{arguments:?}: {widest} columns");
    }
    let [said, _] = exits(0, folder.path(), &["verify", "--list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&said).unwrap();
    let listed: Vec<&str> =
        list.as_array().unwrap().iter().map(|claim| claim["sentence"].as_str().unwrap()).collect();
    let known: Vec<&str> = lao_verification::papers::all().map(|claim| claim.sentence).collect();
    assert_eq!(listed, known);
}

#[test]
fn a_selection_cannot_bless_away_what_it_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    exits(0, here, &["verify", CHEAP, RATED, "--bless", "b.json", "--reason", "both"]);
    refused(here, &["verify", CHEAP, "--bless", "b.json", "--reason", "one"], &[RATED, "does not run"]);
}

#[test]
fn parts_merge_to_the_record_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let claims = ["lemma-a", "hk12-lemb", "consistency-remark", "step-i"];
    let run = |rest: &[&'static str]| -> Vec<&str> {
        ["verify"].iter().chain(&claims).chain(rest).copied().collect()
    };
    exits(0, here, &run(&["--out", "whole"]));
    for [part, out] in [["time:1/4", "1"], ["time:2/4", "2"], ["time:3/4", "3"], ["time:4/4", "4"]] {
        let [said, _] = exits(0, here, &run(&["--partition", part, "--out", out]));
        assert!(said.contains("verify merge"), "{said}");
        assert!(!here.join(out).join("evidence.json").exists(), "a part judges nothing");
    }
    let merge = ["verify", "merge", "1", "2", "3", "4", "--out", "merged"];
    exits(0, here, &merge);
    let read = |out: &str| std::fs::read(here.join(out).join("evidence.json")).unwrap();
    assert!(read("whole") == read("merged"), "the merged record is not that of one run");
    assert!(here.join("merged/index.html").exists());
    let fresh = ["verify", "merge", "1", "2", "3", "4", "--out", "refused"];
    refused(here, &[&fresh[..], &["--compare", "absent.json"]].concat(), &["absent.json"]);
    assert!(
        !here.join("refused/evidence.json").exists(),
        "a bad baseline is refused before anything is written"
    );

    refused(here, &["verify", "merge", "1", "2", "4", "--out", "merged"], &["a part is missing"]);
    refused(here, &["verify", "merge", "1", "1", "3", "4", "--out", "merged"], &["was run in"]);
    refused(here, &["verify", "merge", "whole", "--out", "merged"], &["whole", "no finished part"]);
    exits(0, here, &["verify", CHEAP, "--seed", "5", "--partition", "slice:1/1", "--out", "5"]);
    refused(here, &["verify", "merge", "1", "5", "--out", "merged"], &["different runs"]);
    refused(here, &["verify", "--partition", "slice:5/4"], &["slice:5/4", "slice:1/4"]);
}

#[test]
fn a_history_grows_and_shows_its_trends() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for seed in ["1", "2", "3"] {
        exits(0, here, &["verify", RATED, "--seed", seed]);
        exits(0, here, &["track", "add", "--history", "rates.jsonl"]);
    }
    refused(here, &["track", "add", "--history", "rates.jsonl"], &["already holds this run"]);
    let [said, _] = exits(0, here, &["track", "show", "--history", "rates.jsonl", "--plots", "plots"]);
    assert!(said.contains("1 rates, 0 of which moved"), "{said}");
    assert_eq!(std::fs::read_dir(here.join("plots")).unwrap().count(), 1);
    let [said, _] = exits(0, here, &["track", "export", "--format", "bencher"]);
    assert!(said.contains("smaller-is-better"), "{said}");
    let [said, _] = exits(0, here, &["track", "export", "--format", "github-smaller"]);
    assert!(serde_json::from_str::<Vec<serde_json::Value>>(&said).is_ok_and(|list| list.len() == 1));
    refused(here, &["track", "show", "--history", "nope.jsonl"], &["nope.jsonl", "track add"]);
}
