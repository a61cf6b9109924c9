//! Processes that are killed at random moments. They have a file of their own: a process that is being
//! started holds for a moment the locks of all studies that other tests of its file have open.

#[path = "study/beside/mod.rs"]
mod beside;

use beside::{BUDGET, description, snapshots, step};
use lao::observation::Seed;
use lao_study::Study;
use rand::RngExt as _;
use std::fs;

/// Names the folder of the study for the process that a test starts, and kills.
const STUDY: &str = "LAO_TEST_STUDY";
/// How many slots are handed out in all.
const SLOTS: u64 = 1_000_000;
/// Steps without a kill, enough for one more snapshot.
const AFTER_THE_KILLS: u64 = 300;

/// Is no test by itself: the next test runs it in processes of its own.
#[test]
fn a_process_that_tells_until_it_is_killed() {
    use std::io::Write as _;
    let Some(folder) = std::env::var_os(STUDY) else { return };
    let mut study = Study::open(folder).unwrap();
    let mut out = std::io::stderr();
    while study.status().slots < SLOTS {
        if step(&mut study) {
            // The parent counts on what is acknowledged here.
            let status = study.status();
            // One write: a kill must not cut the line.
            out.write_all(format!("closed {}\n", status.told + status.void).as_bytes()).unwrap();
        }
    }
}

#[test]
fn two_hundred_kills_lose_nothing_and_change_no_bit() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let (killed, calm) = (folder.path().join("killed"), folder.path().join("calm"));
    drop(Study::create(&killed, description()).unwrap());
    let mut rng = Seed::root(9).child("kills").rng();
    let (mut acknowledged, mut cut, mut unfinished) = (0, 0, 0);
    for round in 0..200 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_that_tells_until_it_is_killed", "--nocapture"])
            .env(STUDY, &killed)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        // The first acknowledgment says that the process has opened the study; some kills come before.
        let mut last = if round % 10 == 0 { None } else { said.next() };
        std::thread::sleep(std::time::Duration::from_micros(rng.random_range(0..8_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        last = said.last().or(last);
        if let Some(line) = last {
            let line = line.unwrap();
            acknowledged = line.strip_prefix("closed ").unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        }
        unfinished += u64::from(killed.join("unfinished").exists());
        let study = Study::open(&killed).unwrap();
        let status = study.status();
        cut += u64::from(study.recovery().cut > 0);
        let closed = status.told + status.void;
        assert!(closed >= acknowledged, "{acknowledged} slots were acknowledged, {closed} are known");
        assert!(closed <= acknowledged + 2 && status.bought == status.slots * BUDGET as u64);
        acknowledged = closed;
    }
    let mut study = Study::open(&killed).unwrap();
    // A process that was killed before it removed an old snapshot leaves that to the next snapshot.
    (0..AFTER_THE_KILLS).for_each(|_| {
        step(&mut study);
    });
    let lines = study.verify().unwrap();
    // All processes but every tenth closed a slot before they were killed.
    assert!(acknowledged >= 180 && snapshots(&killed).len() <= 2, "{acknowledged}");
    eprintln!("{lines} lines, {acknowledged} slots closed, {cut} torn lines, {unfinished} torn snapshots");

    // Every step of this study follows from the steps before.
    let mut undisturbed = Study::create(&calm, description()).unwrap();
    (0..lines).for_each(|_| {
        step(&mut undisturbed);
    });
    assert_eq!(
        fs::read(calm.join("journal.jsonl")).unwrap(),
        fs::read(killed.join("journal.jsonl")).unwrap()
    );
    let (one, two) = (study.model(), undisturbed.model());
    assert_eq!((one.coefficients, one.intercept.to_bits()), (two.coefficients, two.intercept.to_bits()));
    assert_eq!((study.status(), study.evidence()), (undisturbed.status(), undisturbed.evidence()));
}
