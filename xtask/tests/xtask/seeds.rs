//! Tests of `cargo xtask seeds`: two cheap claims under two seeds, resumed and extended.

use crate::common::{self, CHEAP, RATED, exits, json, refused};
use std::path::{Path, PathBuf};

/// Returns the files of results below a folder, without the lock.
fn results(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = common::snapshot(folder);
    files.retain(|(file, _)| !file.ends_with(".lao-lock"));
    files
}

#[test]
fn two_seeds_leave_a_folder_each_and_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let two = ["seeds", CHEAP, RATED, "--first", "41", "--count", "2", "--out", "out"];
    let [said, noted] = exits(0, root, &two);
    assert!(said.contains("Verdicts under fresh seeds (2), tier quick"), "{said}");
    assert!(noted.contains("seed 42, 2 of 2"), "{noted}");
    let out = root.join("out");
    assert_eq!(
        std::fs::read_to_string(out.join("seeds.md")).unwrap().trim(),
        said.split("\ntable: ").next().unwrap().trim()
    );
    let table = json(&out.join("seeds.json"));
    assert_eq!(table["schema"], "lao-seeds/1");
    for (i, seed) in [41, 42].into_iter().enumerate() {
        assert_eq!(table["seeds"][i]["seed"], seed);
        assert_eq!(table["seeds"][i]["as_expected"], 2);
        let run = out.join(format!("seed-{seed}"));
        assert_eq!(json(&run.join("evidence.json"))["run"]["seed"], seed);
        assert!(run.join("index.html").is_file());
    }
    assert_eq!(table["surprises"], serde_json::json!([]));
    assert_eq!(json(&out.join("seed-41/evidence.json")), {
        exits(0, root, &["verify", CHEAP, RATED, "--seed", "41", "--out", "alone"]);
        json(&root.join("alone/evidence.json"))
    });

    // A finished seed is not run again: its files stay, times included. One more seed follows the first two.
    let before = results(&out.join("seed-41"));
    let [_, noted] = exits(0, root, &["seeds", CHEAP, RATED, "--count", "3", "--out", "out"]);
    assert_eq!(noted.matches(&format!("ok  {CHEAP}")).count(), 1, "{noted}");
    assert!(results(&out.join("seed-41")) == before);
    assert_eq!(json(&out.join("seeds.json"))["seeds"][2]["seed"], 43);
}

#[test]
fn the_folder_and_the_names_are_checked_before_a_claim_runs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("mine")).unwrap();
    std::fs::write(root.join("mine/paper.tex"), "mine").unwrap();
    refused(root, &["seeds", CHEAP, "--out", "mine"], &["mine", "--out"]);
    refused(root, &["seeds", "ms18-lema-a2"], &["did you mean `ms18-lemma-a2`"]);
    refused(root, &["seeds", CHEAP, "--count", "0"], &["--count"]);
    refused(root, &["seeds", CHEAP, "--tier", "nightly"], &["quick", "full"]);
    refused(root, &["seeds", CHEAP, "--first", "18446744073709551615"], &["leaves no room for 10 seeds"]);
}

/// Runs a thousand seeds in a folder, and cancels them with so many signals when the first is finished;
/// returns how many are in the table then.
#[cfg(target_os = "linux")]
fn canceled_by(signals: usize, root: &Path) -> usize {
    let many = ["seeds", CHEAP, RATED, "--first", "5", "--count", "1000", "--jobs", "1", "--out", "out"];
    let mut child = common::xtask(root, &many).stderr(std::process::Stdio::null()).spawn().unwrap();
    let finished =
        || std::fs::read_to_string(root.join("out/seeds.md")).is_ok_and(|page| page.contains("| 5 |"));
    while !finished() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for _ in 0..signals {
        let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    json(&root.join("out/seeds.json"))["seeds"].as_array().unwrap().len()
}

#[cfg(target_os = "linux")]
#[test]
fn a_canceled_run_keeps_what_was_finished() {
    for signals in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let kept = canceled_by(signals, root);
        assert!((1..1000).contains(&kept), "{signals} signals: {kept}");
        let before = results(&root.join("out/seed-5"));
        exits(0, root, &["seeds", CHEAP, RATED, "--count", "1", "--out", "out"]);
        assert!(results(&root.join("out/seed-5")) == before);
    }
}
