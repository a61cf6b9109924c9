//! The study of the tests: what it is about, and what its patients have.

use lao::observation::Seed;
use lao_study::{Description, Row, Slot, SlotLabel, Study};
use rand::RngExt as _;
use std::fs;
use std::path::Path;

pub const NAMES: [&str; 6] = ["age", "weight", "pulse", "height", "sugar", "iron"];
pub const BUDGET: usize = 3;

pub fn description() -> Description {
    // Two studies with one identifier have journals that can be compared.
    let id = "of the tests".into();
    Description { id, ..Description::new("pressure", NAMES.map(str::to_owned).to_vec(), BUDGET) }
}

/// The patient of a slot: what each attribute is, and the label.
pub fn patient(slot: u64) -> ([f64; 6], f64) {
    let mut rng = Seed::root(9).trial(slot).rng();
    let x: [f64; 6] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    (x, 100.0 + 10.0 * x[1] - 5.0 * x[4] + rng.random_range(-1.0..1.0))
}

pub fn measured(slot: &Slot) -> (Vec<f64>, f64) {
    assert!(slot.attributes.len() <= BUDGET, "{slot:?}");
    let (x, label) = patient(slot.number);
    let value = |name: &String| x[NAMES.iter().position(|other| other == name).unwrap()];
    (slot.attributes.iter().map(value).collect(), label)
}

/// One step of a study in which all that happens follows from what happened: the open slot is told, or the
/// label that is missing, or else a slot is handed out. Returns whether a slot was closed.
pub fn step(study: &mut Study) -> bool {
    let status = study.status();
    if let Some(&slot) = status.waiting.first() {
        let label = patient(slot).1;
        match slot.is_multiple_of(2) {
            true => study.label(slot, label).unwrap(),
            false => study.label_all(&[SlotLabel { slot, label }]).unwrap(),
        }
        return true;
    }
    let Some(slot) = study.open_slots().pop() else {
        study.ask(1).unwrap();
        return false;
    };
    let (values, label) = measured(&slot);
    match slot.number % 7 {
        0 => study.void(slot.number, "sample lost").unwrap(),
        1 => study.tell(slot.number, &values, None).unwrap(),
        2 => study.tell_all(&[Row { slot: slot.number, values, label: Some(label) }]).unwrap(),
        _ => study.tell(slot.number, &values, Some(label)).unwrap(),
    }
    slot.number % 7 != 1
}

/// The files of all snapshots of a study.
pub fn snapshots(at: &Path) -> Vec<std::path::PathBuf> {
    let names = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = names.filter(|path| path.to_string_lossy().contains("snapshot-")).collect();
    all.sort();
    all
}
