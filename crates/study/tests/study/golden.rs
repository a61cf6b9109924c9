//! Studies that an earlier lao wrote: this one opens them, and goes on with the same bits.
//!
//! | folder of `golden/` | written by |
//! |---|---|
//! | `study` | a lao whose journal names the attributes of each slot |
//! | `without-attributes` | the last lao whose journal did not |
//!
//! Both studies had the same patients. A folder has what a study's folder has: description, journal and a
//! snapshot. `golden/outcome.txt` has what was known at the end, all digits of it.
//!
//! `LAO_BLESS=1 cargo test --test study golden` writes `study` and the outcome anew. There are two reasons to
//! do so. If the stored state has changed, the snapshot becomes another one, and neither the
//! journal nor the outcome may change. If the method has changed on purpose, the new version cannot go on
//! with any study under way, and the changelog says so; `without-attributes` has then had its time.

use lao::{Budget, Prices};
use lao_study::{Description, Row, Slot, SlotLabel, Study};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

const NAMES: [&str; 6] = ["age", "weight", "pulse", "height", "sugar", "iron"];
/// `weight` and `pulse` come from one visit, and `age` is free. The money pays three of the other panels.
const PRICES: &str = "age,0\nweight,2,visit\npulse,2,visit\nheight,2\nsugar,1.75\niron,2\n";
/// The lines of the journal: a few more than those for which the snapshot stands.
const LINES: usize = 261;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns a whole number from -99 to 99 for an attribute of a patient, always the same. The generator is a
/// part of this file, since these patients must be the same in all versions.
fn draw(slot: u64, attribute: u64) -> i32 {
    let mut z = (8 * slot + attribute).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % 199) as i32 - 99
}

/// Returns what is measured of a slot, and its label.
fn measured(slot: &Slot) -> (Vec<f64>, f64) {
    let place = |name: &String| NAMES.iter().position(|other| other == name).unwrap() as u64;
    let value = |attribute: u64| f64::from(draw(slot.number, attribute)) / 100.0;
    (slot.attributes.iter().map(|name| value(place(name))).collect(), label(slot.number))
}

fn label(slot: u64) -> f64 {
    f64::from(10_000 + 10 * draw(slot, 1) - 5 * draw(slot, 4) + draw(slot, 7)) / 100.0
}

fn begin(at: &Path) -> Study {
    let prices = Prices::parse(PRICES, "prices.csv").unwrap();
    let names = NAMES.map(str::to_owned).to_vec();
    let described = Description::within("pressure", names, &Budget::Money { per_example: 6.0, prices });
    Study::create(at, Description { id: "golden".into(), ..described.unwrap() }).unwrap()
}

/// Does what comes next; it follows from the open slots and those that wait, and is one line of the journal.
fn step(study: &mut Study) {
    let (open, waiting) = (study.open_slots(), study.status().waiting);
    let row = |slot: &Slot| {
        let (values, label) = measured(slot);
        Row { slot: slot.number, values, label: Some(label) }
    };
    let of = |&slot: &u64| SlotLabel { slot, label: label(slot) };
    match (&open[..], &waiting[..]) {
        ([], []) => assert!(!study.ask(4).unwrap().is_empty()),
        ([], [slot]) => study.label(*slot, label(*slot)).unwrap(),
        ([], waiting) => study.label_all(&waiting.iter().map(of).collect::<Vec<_>>()).unwrap(),
        ([first, ..], _) if first.number % 11 == 0 => study.void(first.number, "sample lost").unwrap(),
        ([first, ..], _) if first.number % 5 < 2 => {
            study.tell(first.number, &measured(first).0, None).unwrap();
        }
        ([first, second, ..], _) if first.number % 7 == 2 => {
            study.tell_all(&[row(first), row(second)]).unwrap();
        }
        ([first, ..], _) => {
            let Row { slot, values, label } = row(first);
            study.tell(slot, &values, label).unwrap();
        }
    }
}

/// Returns all that is known, and what is bought next.
fn outcome(study: &mut Study) -> String {
    let status = study.status();
    let (told, spent) = (status.told, status.spent.unwrap());
    let mut text = format!("{} slots, {told} told, {} void\n", status.slots, status.void);
    writeln!(text, "{} values for {spent}; found {}", status.bought, status.support.join(", ")).unwrap();
    for (name, known) in NAMES.iter().zip(study.evidence()) {
        writeln!(text, "{name}: {known:?}").unwrap();
    }
    let model = study.model();
    let of = |one: &lao::Coefficient| format!(" {} * {}", one.value, one.column);
    let sum: String = model.coefficients.iter().map(of).collect();
    writeln!(text, "pressure = {}{sum}", model.intercept).unwrap();
    for slot in study.ask(2).unwrap() {
        let Slot { number, attributes, panels, cost, name: None } = slot else { panic!("{slot:?}") };
        write!(text, "Slot {{ number: {number}, attributes: {attributes:?}, ").unwrap();
        writeln!(text, "panels: {panels:?}, cost: {cost:?} }}").unwrap();
    }
    text
}

/// Copies a study with the first lines of its journal, and the snapshots that stand for no more of them.
fn copy(name: &str, to: &Path, lines: usize) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(golden(name)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let stands_for = name.strip_prefix("snapshot-").and_then(|rest| rest[..12].parse().ok());
        if stands_for.is_some_and(|seq: usize| seq > lines) {
            continue;
        }
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let journal = fs::read_to_string(golden(name).join("journal.jsonl")).unwrap();
    let begin: String = journal.lines().take(lines).map(|line| format!("{line}\n")).collect();
    fs::write(to.join("journal.jsonl"), begin).unwrap();
}

/// Writes the study anew, if that is wanted, and returns the outcome that is expected.
fn expected() -> String {
    static BLESS: Once = Once::new();
    BLESS.call_once(|| {
        if std::env::var_os("LAO_BLESS").is_none() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (at, to) = (folder.path().join("s"), golden("study"));
        let mut study = begin(&at);
        (0..LINES).for_each(|_| step(&mut study));
        drop(study);
        // The folder may not be there.
        let _ = fs::remove_dir_all(&to);
        fs::create_dir_all(&to).unwrap();
        let files = fs::read_dir(&at).unwrap().map(Result::unwrap);
        for file in files.filter(|file| file.file_name() != "lock") {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
        fs::write(golden("outcome.txt"), outcome(&mut Study::open(&at).unwrap())).unwrap();
    });
    fs::read_to_string(golden("outcome.txt")).unwrap()
}

#[test]
fn a_study_of_an_earlier_version_opens_verifies_and_asks_on() {
    let (folder, expected) = (tempfile::tempdir().unwrap(), expected());
    // The snapshot of another version is passed over, and so is one that lacks a part of the state.
    let of_this = fs::read_to_string(golden("study/study.json"))
        .unwrap()
        .contains(&format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")));
    for (name, snapshot) in [("study", if of_this { 256 } else { 0 }), ("without-attributes", 0)] {
        let at = folder.path().join(name);
        copy(name, &at, LINES);
        let mut study = Study::open(&at).unwrap();
        assert_eq!((study.recovery().snapshot, study.verify().unwrap()), (snapshot, LINES as u64), "{name}");
        assert_eq!(outcome(&mut study), expected, "{name}");
    }
}

#[test]
fn a_study_of_an_earlier_version_goes_on_from_any_line_with_the_same_bits() {
    let (folder, expected) = (tempfile::tempdir().unwrap(), expected());
    for name in ["study", "without-attributes"] {
        for lines in [0, 1, 100, 200, 255, 256, 257, LINES - 1] {
            let at = folder.path().join(format!("{name}-{lines}"));
            copy(name, &at, lines);
            let mut study = Study::open(&at).unwrap();
            (lines..LINES).for_each(|_| step(&mut study));
            let [one, two] = [&at, &golden(name)].map(|at| fs::read(at.join("journal.jsonl")).unwrap());
            // The journal without attributes goes on with them.
            assert!(one == two || name == "without-attributes", "{lines} lines");
            assert_eq!(outcome(&mut study), expected, "{name}: {lines} lines");
        }
    }
}
