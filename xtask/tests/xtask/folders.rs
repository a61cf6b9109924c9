//! Tests of folders of results: no file of the user is replaced or removed, one run has a folder at a time,
//! and a run that is stopped at any point is resumed.

use crate::common::{CHEAP, RATED, exits, json, output, refused, snapshot, text, write_mine, xtask};
use std::path::Path;
use std::process::Stdio;

/// Filters of a few claims that take a second together.
const SOME: [&str; 3] = ["lemma", "inner-product", "thm44-recursion"];

fn arguments<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    ["verify"].iter().chain(&SOME).chain(rest).copied().collect()
}

#[test]
fn a_folder_with_other_files_is_refused_by_every_verb_that_writes_one() {
    let folder = tempfile::tempdir().unwrap();
    let mine = ["work/claims/hk12/lib.rs", "work/plots/one.svg", "work/index.html", "work/run.json"];
    write_mine(folder.path(), &mine);
    let before = snapshot(folder.path());
    for verb in [&["verify", CHEAP][..], &["bench", "ms18-fig1", "--tier", "check"]] {
        for (out, also) in [("work", ""), (".", ""), ("work/claims", ""), ("work", "--fresh")] {
            let mut arguments: Vec<&str> = verb.iter().copied().chain(["--out", out]).collect();
            arguments.extend(Some(also).filter(|also| !also.is_empty() && verb[0] == "verify"));
            refused(folder.path(), &arguments, &["did not write", "--out", "nothing was changed"]);
            assert_eq!(before, snapshot(folder.path()), "{arguments:?}");
        }
    }
}

#[test]
fn the_sources_of_the_claims_survive_being_named_as_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verification/claims/hk12/src");
    let copy = folder.path().join("verification/claims/hk12/src");
    std::fs::create_dir_all(&copy).unwrap();
    let entries = std::fs::read_dir(sources).unwrap().map(Result::unwrap);
    for file in entries.filter(|entry| entry.file_type().unwrap().is_file()) {
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let before = snapshot(folder.path());
    assert!(before.len() > 10);
    refused(folder.path(), &["verify", CHEAP, "--out", "verification"], &["verification", "--out"]);
    assert_eq!(before, snapshot(folder.path()));
}

#[test]
fn files_that_lie_beside_the_results_stay() {
    let folder = tempfile::tempdir().unwrap();
    exits(0, folder.path(), &["verify", RATED, "--out", "out"]);
    let mine = ["out/notes.txt", "out/claims/mine.json", "out/plots/mine.svg", "out/deep/mine"];
    write_mine(folder.path(), &mine);
    exits(0, folder.path(), &["verify", CHEAP, "--out", "out", "--fresh"]);
    for name in mine {
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"mine", "{name}");
    }
    let left = |name: String| folder.path().join("out").join(name).exists();
    assert!(!left(format!("claims/{RATED}.json")), "results of the earlier run go");
    assert!(left(format!("claims/{CHEAP}.json")));
}

#[test]
fn a_file_under_the_name_of_a_result_is_refused_before_any_claim_runs() {
    let of_claim = [format!("claims/{RATED}.json"), format!("plots/{RATED}-1.svg")];
    for name in ["index.html", "evidence.json", "timings.json", &of_claim[0], &of_claim[1]] {
        let folder = tempfile::tempdir().unwrap();
        exits(0, folder.path(), &["verify", CHEAP, "--out", "out"]);
        let path = folder.path().join("out").join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir_all(&path).unwrap();
        let [out, err] = exits(2, folder.path(), &["verify", RATED, "--out", "out"]);
        assert!(err.contains(name) && err.contains("--out") && out.is_empty(), "{err}");
        assert!(!err.contains(&format!("ok  {RATED}")), "a claim ran: {err}");
        assert!(path.is_dir());
    }
}

#[test]
fn a_run_that_did_not_end_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("target/lao/verify/run.json");
    exits(0, folder.path(), &["verify", CHEAP]);
    std::fs::write(&state, std::fs::read_to_string(&state).unwrap().replace("true", "false")).unwrap();
    let [_, err] = exits(0, folder.path(), &["verify", CHEAP]);
    assert!(err.contains("kept from the unfinished run"), "{err}");
}

#[test]
fn verify_and_bench_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    exits(0, folder.path(), &["verify", CHEAP, "--out", "out"]);
    refused(
        folder.path(),
        &["bench", "ms18-fig1", "--tier", "check", "--out", "out"],
        &["cargo xtask verify", "--out"],
    );
}

#[test]
fn a_second_run_in_a_folder_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    exits(0, folder.path(), &["verify", CHEAP, "--out", "out"]);
    let first = lao_verification::run::open_folder(&out).unwrap();
    let before = snapshot(folder.path());
    let holder = format!("process {}", std::process::id());
    refused(folder.path(), &["verify", CHEAP, "--out", "out", "--seed", "2"], &["in use", &holder, "ago"]);
    assert_eq!(before, snapshot(folder.path()));
    drop(first);
    exits(0, folder.path(), &["verify", CHEAP, "--out", "out", "--seed", "2"]);
}

#[test]
fn two_runs_at_once_leave_one_record_and_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let runs = ["2", "3"].map(|seed| {
        let mut run = xtask(folder.path(), &arguments(&["--out", "out", "--seed", seed]));
        run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let ends = runs.map(|run| run.wait_with_output().unwrap());
    let states = ends.each_ref().map(|end| end.status.code());
    assert!(states.contains(&Some(0)), "{states:?}: {}{}", text(&ends[0].stderr), text(&ends[1].stderr));
    for end in ends.iter().filter(|end| end.status.code() != Some(0)) {
        let said = text(&end.stderr);
        assert!(end.status.code() == Some(2) && said.contains("in use by"), "{said}");
    }
    let seed = json(&folder.path().join("out/evidence.json"))["run"]["seed"].to_string();
    let page = std::fs::read_to_string(folder.path().join("out/summary.md")).unwrap();
    assert!(page.contains(&format!("seed {seed}")), "{seed}: {page}");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_again_and_again_keeps_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("broken");
    exits(0, folder.path(), &arguments(&["--out", "whole"]));
    let results = || {
        let files = std::fs::read_dir(out.join("claims")).into_iter().flatten().flatten();
        files.filter(|file| file.file_name().to_string_lossy().ends_with(".json")).count()
    };
    let mut ended = false;
    // The first run is killed as soon as it has the lock, the others when there are `wanted` results.
    for wanted in 0..=4 {
        let before = results();
        let mut child = xtask(folder.path(), &arguments(&["--jobs", "1", "--out", "broken"]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let reached = || out.join(".lao-lock").exists() && results() >= wanted;
        while !reached() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // A run that is faster than the kill is complete.
        ended = out.join("run.json").exists() && json(&out.join("run.json"))["finished"] == true;
        if ended {
            break;
        }
        assert!(results() >= before.max(wanted), "a result was lost");
    }
    let kept = if ended { 0 } else { results() };
    let [_, err] = exits(0, folder.path(), &arguments(&["--out", "broken"]));
    assert_eq!(err.matches("kept from the unfinished run").count(), kept, "{err}");
    let read = |out: &str| std::fs::read(folder.path().join(out).join("evidence.json")).unwrap();
    assert!(read("whole") == read("broken"), "another record after five kills");
    let half_written = snapshot(&out).iter().any(|(path, _)| path.to_string_lossy().ends_with(".tmp"));
    assert!(!half_written, "what a killed run left half written is cleared");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_at_the_record_is_named_and_costs_no_claim() {
    let folder = tempfile::tempdir().unwrap();
    exits(0, folder.path(), &arguments(&["--out", "whole"]));
    let size = |path: &Path| std::fs::metadata(path).unwrap().len().div_ceil(1024);
    let whole = folder.path().join("whole");
    let claims = std::fs::read_dir(whole.join("claims")).unwrap().flatten();
    let largest = claims.map(|file| size(&file.path())).max().unwrap();
    assert!(size(&whole.join("evidence.json")) > largest);

    // Files may be as large as the largest result of a claim; the record is larger.
    let script = format!("trap '' XFSZ; ulimit -f {largest}; exec \"$0\" \"$@\"");
    let mut limited = std::process::Command::new("bash");
    limited.args(["-c", &script, env!("CARGO_BIN_EXE_xtask")]).args(arguments(&["--out", "out"]));
    let limited = limited.current_dir(folder.path()).output().unwrap();
    let said = text(&limited.stderr);
    assert_eq!(limited.status.code(), Some(2), "{said}");
    assert!(said.contains("evidence.json") && said.contains("free space"), "{said}");
    assert!(!folder.path().join("out/evidence.json").exists());

    let again = output(folder.path(), &arguments(&["--out", "out"]));
    let said = text(&again.stderr);
    assert_eq!(again.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("kept from the unfinished run").count(), said.matches("ok  ").count(), "{said}");
    let read = |out: &str| std::fs::read(folder.path().join(out).join("evidence.json")).unwrap();
    assert!(read("whole") == read("out"));
}

#[test]
fn report_replaces_only_pages_that_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = folder.path().join("pages");
    let book = "crates/lao/book/src";
    std::fs::create_dir_all(pages.join(book)).unwrap();
    std::fs::create_dir_all(pages.join("bench-suite/figures")).unwrap();
    for page in ["README.md", "methods.md", "layers.md", "disk.md", "comparison.md"] {
        let page = if page == "README.md" { page.to_owned() } else { format!("{book}/{page}") };
        std::fs::copy(root.join(&page), pages.join(&page)).unwrap();
    }
    write_mine(&pages, &["ERRATA.md"]);
    let record = lao_verification::papers::all().map(|claim| claim.id.to_string()).collect();
    std::fs::create_dir(folder.path().join("from")).unwrap();
    std::fs::write(folder.path().join("from/evidence.json"), planted(record)).unwrap();
    let before = snapshot(&pages);
    let report = ["report", "--from", "from", "--pages", "pages"];
    refused(folder.path(), &report, &["ERRATA.md", "was not written by"]);
    assert_eq!(before, snapshot(&pages), "no page was written");

    std::fs::remove_file(pages.join("ERRATA.md")).unwrap();
    let [_, said] = exits(0, folder.path(), &report);
    assert!(said.contains("README.md") && said.contains("ERRATA.md"), "{said}");
    exits(0, folder.path(), &["report", "--from", "from", "--pages", "pages", "--check"]);
}

/// Returns a record in which no claim ran.
fn planted(claims: Vec<String>) -> String {
    let claim = |id: String| {
        serde_json::json!({
            "id": id, "place": "", "sentence": "", "form": "sound", "regime": "deterministic",
            "expected": "HOLDS", "verdict": "NOT-RUN", "as_expected": false, "alpha": 1e-3,
            "evidence": {"p_refute": 1.0, "p_support": 1.0}, "tightness": null, "sizes": {},
            "honest": {"cells": [], "split": 1, "not_run": "planted"}, "mutants": [],
        })
    };
    let run = serde_json::json!({
        "version": "0.1.0", "tier": "quick", "seed": 1, "alpha": 1e-3, "family": 125, "key": "",
        "platform": "",
    });
    let claims: Vec<_> = claims.into_iter().map(claim).collect();
    serde_json::json!({ "schema": "lao-evidence/1", "run": run, "claims": claims }).to_string()
}
