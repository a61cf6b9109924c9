//! What happened, as the journal tells it.

use lao_study::{Description, Entry, Known, Study};
use std::path::Path;

/// Opens a copy of a stored study.
fn golden(folder: &Path, name: &str) -> Study {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let to = folder.join(name);
    std::fs::create_dir(&to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    Study::open(to).unwrap()
}

#[test]
fn entries_are_what_was_told_whether_or_not_the_journal_names_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let [named, unnamed] = ["study", "without-attributes"].map(|name| golden(folder.path(), name));
    let entries = named.entries().unwrap();
    // Later, the lao of that journal chose others than this one, and the journal does not say which.
    assert!(entries[..170] == unnamed.entries().unwrap()[..170]);
    let (status, of) = (named.status(), |which: fn(&Entry) -> bool| {
        entries.iter().filter(|entry| which(entry)).map(|entry| entry.number).collect::<Vec<_>>()
    });
    assert_eq!(entries.len() as u64, status.slots);
    assert_eq!(of(|entry| entry.values.is_none() && entry.void.is_none()), status.open);
    assert_eq!(
        of(|entry| entry.values.is_some() && entry.label.is_none() && entry.void.is_none()),
        status.waiting
    );
    assert_eq!(of(|entry| entry.void.is_some()).len() as u64, status.void);
    assert_eq!(entries.iter().map(|entry| entry.attributes.len() as u64).sum::<u64>(), status.bought);
    for slot in named.open_slots() {
        let entry = &entries[slot.number as usize - 1];
        let names = entry.attributes.iter().map(|&j| named.description().attributes[j as usize].clone());
        assert_eq!(names.collect::<Vec<_>>(), slot.attributes);
    }
}

#[test]
fn the_course_ends_with_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let mut study = Study::create(folder.path().join("s"), Description::new("y", names, 2)).unwrap();
    for number in 1..=200_u32 {
        let slot = study.ask(1).unwrap().remove(0);
        let value = |name: &String| f64::from((number * if name == "b" { 37 } else { 53 }) % 101);
        let values: Vec<f64> = slot.attributes.iter().map(value).collect();
        study.tell(slot.number, &values, Some(f64::from(number * 37 % 101) / 10.0)).unwrap();
        let course = study.course().unwrap();
        assert_eq!(course.len() as u64, study.status().updates);
        let known = course.last().filter(|known| known.told == study.status().told);
        if let Some(Known { evidence, .. }) = known {
            assert_eq!(evidence, &study.evidence());
        }
    }
    assert!(study.status().updates > 3);
}

#[test]
fn names_are_kept_by_the_journal_and_teach_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |place: &str| {
        let description =
            Description { id: "1".into(), ..Description::new("y", vec!["a".into(), "b".into()], 1) };
        Study::create(folder.path().join(place), description).unwrap()
    };
    let (mut named, mut plain) = (begin("named"), begin("plain"));
    assert!(named.name(1, "P-1").unwrap_err().to_string().contains("never handed out"));
    for study in [&mut named, &mut plain] {
        study.ask(2).unwrap();
    }
    named.name(1, "P-1").unwrap();
    named.name(2, "P-2").unwrap();
    assert!(named.name(2, "P-1").unwrap_err().to_string().contains("slot 1 has it"));
    named.name(1, "P-1b").unwrap();
    assert!(named.may_be_named("P-1").is_ok() && named.may_be_named("P-2").is_err());
    for wrong in ["", " x", "a\nb", "=1", &"x".repeat(101)] {
        assert!(named.name(1, wrong).is_err(), "{wrong}");
    }
    for study in [&mut named, &mut plain] {
        study.tell(1, &[1.0], Some(2.0)).unwrap();
    }
    assert_eq!((named.status(), named.evidence()), (plain.status(), plain.evidence()));
    drop(named);
    let named = Study::open(folder.path().join("named")).unwrap();
    let slots = named.open_slots();
    assert_eq!((named.name_of(1), slots[0].name.as_deref()), (Some("P-1b"), Some("P-2")));
    assert_eq!(named.entries().unwrap()[0].name.as_deref(), Some("P-1b"));
    named.verify().unwrap();
}
