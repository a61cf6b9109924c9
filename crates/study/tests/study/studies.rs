//! Studies are tested to destruction: whatever happens to the folder, nothing that was acknowledged is lost
//! without a word, and nothing is asked beyond the budget.

use crate::beside::{BUDGET, NAMES, description, measured, patient, snapshots, step};
use lao::{Budget, Choices, JournalPlace, Model, Prices, Shape, Spent};
use lao_study::{Description, Given, Joining, Recovery, Row, Slot, SlotLabel, Study, StudyError};
use std::fs;
use std::path::Path;

/// Runs a study of `patients` with all that happens: labels that come late, slots that come to nothing.
fn run(study: &mut Study, patients: u64) {
    while study.status().told < patients {
        let slots = study.ask(3).unwrap();
        for slot in slots.iter().rev() {
            let (values, label) = measured(slot);
            match slot.number % 7 {
                0 => study.void(slot.number, "sample lost").unwrap(),
                1 => {
                    study.tell(slot.number, &values, None).unwrap();
                    study.label(slot.number, label).unwrap();
                }
                _ => study.tell(slot.number, &values, Some(label)).unwrap(),
            }
        }
    }
}

fn begun(folder: &Path, patients: u64) -> Study {
    let mut study = Study::create(folder, description()).unwrap();
    run(&mut study, patients);
    study
}

/// Returns the description of a study with these choices.
fn chosen(choices: Choices) -> Description {
    Description { choices, ..description() }
}

#[test]
fn a_study_learns_and_opens_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let study = begun(&at, 400);
    let (status, model) = (study.status(), study.model());
    assert_eq!(status.support, ["weight", "sugar"]);
    assert!((model.coefficients[0].value - 10.0).abs() < 1.0 && (model.intercept - 100.0).abs() < 1.0);
    assert!(status.void > 50 && status.bought > 3 * 400);
    assert!(study.verify().unwrap() > status.told);
    drop(study);
    let study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.model().coefficients), (status, model.coefficients));
    assert!(study.recovery().snapshot > 0 && study.recovery().replayed < 256 && study.recovery().cut == 0);
}

#[test]
fn a_study_with_a_half_life_forgets_and_opens_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let described = chosen(Choices { half_life: Some(60.0), ..Choices::default() });
    let mut study = Study::create(&at, described).unwrap();
    run(&mut study, 400);
    let model = study.model();
    let remembers = begun(&folder.path().join("other"), 400).model();
    assert_ne!(model.coefficients, remembers.coefficients);
    assert!(model.choices().iter().any(|choice| choice.name == "half-life" && choice.value == "60"));
    drop(study);
    let study = Study::open(&at).unwrap();
    assert_eq!(study.model().coefficients, model.coefficients);
    drop(study);
    snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(Study::open(&at).unwrap().model().coefficients, model.coefficients);
}

#[test]
fn a_planned_study_buys_what_it_found_complete_and_chooses_trees() {
    const PLANNED: u64 = 1200;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, Description { examples: Some(PLANNED), ..description() }).unwrap();
    let label = |slot: &Slot| {
        let (x, label) = patient(slot.number);
        label + 20.0 * x[1] * x[4]
    };
    // Labels come late, so that examples of the search are told when it is over.
    let mut late: Vec<(Slot, Vec<f64>)> = Vec::new();
    let mut asked: Vec<(u64, Vec<String>)> = Vec::new();
    assert_eq!(study.status().stage, Some("search"));
    while study.status().told + (late.len() as u64) < PLANNED {
        let slot = study.ask_ahead(1).unwrap().pop().unwrap();
        asked.push((study.status().told, slot.attributes.clone()));
        let mut values = measured(&slot).0;
        if slot.number.is_multiple_of(50) {
            values[1] = f64::NAN;
        }
        late.push((slot, values));
        if late.len() > 5 {
            let (slot, values) = late.remove(0);
            study.tell(slot.number, &values, Some(label(&slot))).unwrap();
        }
    }
    for (slot, values) in late {
        study.tell(slot.number, &values, Some(label(&slot))).unwrap();
    }
    let of_the_end = &asked.last().unwrap().1;
    assert!(asked.iter().filter(|(told, _)| *told > 500).all(|(_, names)| names == of_the_end));
    // Whether one of the others comes along, none of which has an effect, is chance.
    assert!(of_the_end.len() <= BUDGET);
    assert!(["weight", "sugar"].iter().all(|name| of_the_end.iter().any(|of| of == name)));
    assert_eq!(study.status().stage, Some("complete"));
    let model = study.model();
    let trees = model.trees.as_ref().unwrap();
    assert!(!trees.trees.is_empty() && model.decision.is_some());
    let evidence = model.evidence.as_ref().unwrap();
    assert!(evidence.coefficients.iter().all(|coefficient| coefficient.standard_error.is_some()));
    let refused = study.join(&[joining("height2")]).unwrap_err().to_string();
    assert!(refused.contains("once the attributes are chosen"), "{refused}");
    let lines = study.verify().unwrap();
    drop(study);
    let study = Study::open(&at).unwrap();
    assert!(study.model() == model && study.recovery().snapshot > 0);
    drop(study);
    snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    let study = Study::open(&at).unwrap();
    assert!(study.model() == model && study.verify().unwrap() == lines);
}

#[test]
fn attributes_that_are_always_included_are_in_the_first_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let last = description().attributes.last().unwrap().clone();
    let described = chosen(Choices { always: vec![last.clone(), last.clone()], ..Choices::default() });
    let mut study = Study::create(&at, described).unwrap();
    run(&mut study, 400);
    let model = study.model();
    assert!(model.columns().contains(&&last[..]) && model.origin.choices.always[0] == last, "{model}");
    assert!(!begun(&folder.path().join("other"), 400).model().columns().contains(&&last[..]));
}

#[test]
fn a_study_that_is_opened_anew_for_every_step_has_the_bits_of_one_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let straight = begun(&one, 60);
    drop(Study::create(&two, description()).unwrap());
    loop {
        let mut study = Study::open(&two).unwrap();
        if study.status().told >= 60 {
            break;
        }
        let told = study.status().told;
        run(&mut study, told + 1);
    }
    assert_eq!(fs::read(one.join("journal.jsonl")).unwrap(), fs::read(two.join("journal.jsonl")).unwrap());
    assert_eq!(straight.model().coefficients, Study::open(&two).unwrap().model().coefficients);
}

/// Copies a study, with another journal.
fn copy(from: &Path, to: &Path, journal: &[u8]) {
    fs::create_dir(to).unwrap();
    fs::copy(from.join("study.json"), to.join("study.json")).unwrap();
    fs::write(to.join("journal.jsonl"), journal).unwrap();
}

#[test]
fn every_prefix_of_a_journal_opens_with_all_its_lines() {
    let folder = in_memory();
    let at = folder.path().join("s");
    drop(begun(&at, 12));
    let journal = fs::read(at.join("journal.jsonl")).unwrap();
    let mut status = Vec::new();
    for length in 0..=journal.len() {
        let to = folder.path().join(length.to_string());
        copy(&at, &to, &journal[..length]);
        let mut study = Study::open(&to).unwrap_or_else(|error| panic!("{length}: {error}"));
        let whole = journal[..length].iter().filter(|&&byte| byte == b'\n').count() as u64;
        let replayed = study.recovery().snapshot + study.recovery().replayed;
        // A line that lacks nothing but its end is whole.
        assert!(replayed == whole || (replayed == whole + 1 && journal[length] == b'\n'), "{length}");
        assert_eq!(study.verify().unwrap(), replayed);
        // The study goes on from here, and what was cut off is gone.
        if study.ask(1).unwrap().is_empty() {
            let slot = study.open_slots().first().map(|slot| slot.number);
            let slot = slot.unwrap_or_else(|| study.status().waiting[0]);
            study.void(slot, "").unwrap();
        }
        drop(study);
        let study = Study::open(&to).unwrap();
        let Recovery { snapshot, replayed: again, cut } = study.recovery();
        assert_eq!((snapshot + again, cut), (replayed + 1, 0), "{length}");
        status.push(study.status());
        drop(study);
        fs::remove_dir_all(to).unwrap();
    }
    assert!(status.iter().any(|status| status.told > 5));
    eprintln!("{} prefixes", status.len());
}

/// A power cut may leave a file with its new length, but without all of its pages: what was not written reads
/// as zeros.
#[test]
fn zeros_after_any_prefix_of_a_journal_are_cut_off() {
    let folder = in_memory();
    let at = folder.path().join("s");
    drop(begun(&at, 6));
    let journal = fs::read(at.join("journal.jsonl")).unwrap();
    let to = folder.path().join("copy");
    for length in 0..=journal.len() {
        for zeros in [1, 40, 4096] {
            copy(&at, &to, &[&journal[..length], &vec![0; zeros]].concat());
            let study = Study::open(&to).unwrap_or_else(|error| panic!("{length}: {error}"));
            let whole = journal[..length].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let Recovery { replayed, cut, .. } = study.recovery();
            // A line that lacks nothing but its end is whole.
            let unended = journal.get(length) == Some(&b'\n');
            assert_eq!(replayed, whole + u64::from(unended), "{length}");
            let begun = journal[..length].iter().rev().take_while(|&&byte| byte != b'\n').count();
            assert_eq!(cut, (zeros + if unended { 0 } else { begun }) as u64, "{length}");
            drop(study);
            let mended = fs::read(to.join("journal.jsonl")).unwrap();
            assert!(journal.starts_with(&mended) && (mended.is_empty() || mended.ends_with(b"\n")));
            assert_eq!(Study::open(&to).unwrap().recovery().cut, 0);
            fs::remove_dir_all(&to).unwrap();
        }
    }
    // Zeros before anything else are damage.
    let mut hole = journal.clone();
    hole[5..journal.len() / 2].fill(0);
    copy(&at, &to, &hole);
    assert!(matches!(Study::open(&to), Err(StudyError::Damaged { line: 1, .. })));
}

#[test]
fn every_changed_byte_of_a_journal_is_noticed() {
    let folder = in_memory();
    let at = folder.path().join("s");
    drop(begun(&at, 6));
    let journal = fs::read(at.join("journal.jsonl")).unwrap();
    let to = folder.path().join("copy");
    let mut changes = 0;
    for (place, &byte) in journal.iter().enumerate() {
        for change in [byte ^ 1, byte ^ 0x20, 0, b'\n', b'}', b'0'] {
            if change == byte {
                continue;
            }
            changes += 1;
            let mut damaged = journal.clone();
            damaged[place] = change;
            copy(&at, &to, &damaged);
            let line = 1 + journal[..place].iter().filter(|&&byte| byte == b'\n').count() as u64;
            match Study::open(&to) {
                // A power cut may leave a zero for the last end of line: no line is lost, and it is said.
                Ok(study) if place + 1 == journal.len() && change == 0 => {
                    assert_eq!((study.recovery().cut, study.verify().unwrap()), (1, line));
                    drop(study);
                    assert_eq!(fs::read(to.join("journal.jsonl")).unwrap(), journal);
                }
                Err(StudyError::Damaged { line: named, .. }) => assert_eq!(named, line, "{place}: {change}"),
                Err(error) => panic!("{place}: {error}"),
                Ok(_) => panic!("byte {place} became {change}, and nobody noticed"),
            }
            fs::remove_dir_all(&to).unwrap();
        }
    }
    eprintln!("{changes} changed bytes");
}

#[test]
fn lines_that_are_lost_doubled_or_exchanged_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    drop(begun(&at, 6));
    let text = fs::read_to_string(at.join("journal.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let to = folder.path().join("copy");
    for i in 0..lines.len() - 1 {
        let (mut lost, mut doubled, mut exchanged) = (lines.clone(), lines.clone(), lines.clone());
        lost.remove(i);
        doubled.insert(i, lines[i]);
        exchanged.swap(i, i + 1);
        for changed in [lost, doubled, exchanged] {
            copy(&at, &to, (changed.join("\n") + "\n").as_bytes());
            assert!(matches!(Study::open(&to), Err(StudyError::Damaged { .. })), "{i}");
            fs::remove_dir_all(&to).unwrap();
        }
    }
    // Another description has another chain.
    copy(&at, &to, text.as_bytes());
    let other = fs::read_to_string(to.join("study.json")).unwrap().replace("\"seed\": 1", "\"seed\": 2");
    fs::write(to.join("study.json"), other).unwrap();
    assert!(matches!(Study::open(&to), Err(StudyError::Damaged { line: 1, .. })));
}

/// Returns a journal in which each record was changed, with hashes as if lao had written it so.
fn rechained(at: &Path, change: impl Fn(&str) -> String) -> String {
    let mut chain = sha256(&fs::read(at.join("study.json")).unwrap());
    let mut text = String::new();
    for (seq, line) in (1u64..).zip(fs::read_to_string(at.join("journal.jsonl")).unwrap().lines()) {
        let record = line.split_once(r#""record":"#).unwrap().1.rsplit_once(r#","chain":"#).unwrap().0;
        let record = change(record);
        chain = sha256(&[chain.as_bytes(), &seq.to_le_bytes(), record.as_bytes()].concat());
        text += &format!("{{\"seq\":{seq},\"record\":{record},\"chain\":\"{chain}\"}}\n");
    }
    text
}

/// Returns a record with other attributes in the place of those that slots were handed out for.
fn asked_for(record: &str, attributes: &str) -> String {
    let Some((begin, rest)) = record.split_once(r#","attributes":["#) else { return record.into() };
    begin.to_owned() + attributes + rest.split_once(']').unwrap().1
}

#[test]
fn slots_that_this_version_would_have_handed_out_for_other_attributes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let first = Study::create(folder.path().join("first"), description()).unwrap().ask(1).unwrap();
    let names = first[0].attributes.join(", ");
    let status = begun(&at, 30).status();
    let to = folder.path().join("copy");
    let reopened = |change: &dyn Fn(&str) -> String| {
        copy(&at, &to, rechained(&at, change).as_bytes());
        let opened = Study::open(&to).map(|study| study.status());
        fs::remove_dir_all(&to).unwrap();
        opened
    };
    assert_eq!(reopened(&|record| record.to_owned()).unwrap(), status);
    for (attributes, was) in [
        ("[0,1,2]", "age, weight, pulse"),
        ("[3,4,5]", "height, sugar, iron"),
        ("[0,1,4294967295]", "age, weight, (no attribute)"),
        ("[]", ""),
    ] {
        let other = reopened(&|record| asked_for(record, &format!(r#","attributes":{attributes}"#)));
        let error = other.unwrap_err();
        assert!(matches!(error, StudyError::OtherVersion { line: 1, .. }), "{error}");
        let said = error.to_string();
        let reason = format!("slot 1 was handed out for {was}, where this lao asks for {names}");
        assert!(said.contains("journal.jsonl, line 1: ") && said.contains(&reason), "{said}");
        assert!(said.contains(&format!("the study began with lao {}", env!("CARGO_PKG_VERSION"))), "{said}");
    }
    // What else does not follow from the lines before is refused, too.
    for (this, that) in
        [(r#""slots":3"#, r#""slots":99"#), (r#""what":"void","slot":7"#, r#""what":"void","slot":70"#)]
    {
        let error = reopened(&|record| record.replace(this, that)).unwrap_err();
        assert!(matches!(error, StudyError::OtherVersion { .. }), "{error}");
    }
    // Journals without the attributes are those of versions that did not write them.
    assert_eq!(reopened(&|record| asked_for(record, "")).unwrap(), status);
}

#[test]
fn a_model_says_what_was_bought_and_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    let nothing = study.model();
    assert_eq!((nothing.spent.examples, nothing.spent.most_attributes), (0, 0));
    let slots = study.ask(5).unwrap();
    let most = slots[0].attributes.len();
    let told = |slot: &Slot| vec![1.0; slot.attributes.len()];
    study.tell(1, &told(&slots[0]), Some(1.0)).unwrap();
    study.tell(2, &told(&slots[1]), None).unwrap();
    study.void(3, "left").unwrap();
    let model = study.model();
    // Two slots are open, and one waits for its label: they are bought, and nothing came of them so far.
    let spent = Spent {
        examples: 5,
        attributes: 5 * most as u64,
        most_attributes: most,
        void: 1,
        ..Spent::default()
    };
    assert_eq!((model.spent.clone(), model.origin.examples), (spent, 1));
    let last = fs::read_to_string(at.join("journal.jsonl")).unwrap().lines().last().unwrap().to_owned();
    let JournalPlace { lines, chain } = model.origin.journal.clone().unwrap();
    assert!(lines == 4 && last.contains(&format!("\"chain\":\"{chain}\"")), "{last}");
    let text = model.to_string();
    let bought = format!("bought {} values of 5 examples, at most {most} of one;", 5 * most);
    let bought = format!("{bought} 1 of them were learned from, 1 closed without a result\n");
    assert!(text.ends_with(&bought), "{text}");
    assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
}

#[test]
fn a_damaged_snapshot_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let status = begun(&at, 300).status();
    assert!(snapshots(&at).len() == 1 || snapshots(&at).len() == 2);
    for path in snapshots(&at) {
        let text = fs::read_to_string(&path).unwrap();
        for changed in [&text[..text.len() / 2], "", "{}", &text.replacen("\"told\":", "\"told\":1", 1)] {
            fs::write(&path, changed).unwrap();
            let study = Study::open(&at).unwrap();
            assert!(study.status() == status && study.verify().is_ok(), "a changed snapshot went unnoticed");
        }
        fs::write(&path, "").unwrap();
    }
    let study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.recovery().snapshot), (status, 0));
}

#[test]
fn a_study_is_open_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let study = begun(&at, 3);
    assert!(matches!(Study::open(&at), Err(StudyError::Locked(_))));
    assert!(matches!(Study::create(&at, description()), Err(StudyError::Exists(_))));
    drop(study);
    assert!(Study::open(&at).is_ok());
    assert!(matches!(Study::open(folder.path()), Err(StudyError::NoStudy(_))));
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    let slot = study.ask(1).unwrap()[0].number;
    let before = fs::read(at.join("journal.jsonl")).unwrap();
    assert!(study.tell(slot, &[1.0], None).is_err(), "too few values");
    assert!(study.tell(slot, &[1.0, 2.0, f64::INFINITY], None).is_err(), "a value that is no number");
    assert!(study.tell(slot, &[f64::NAN; 3], None).is_err(), "nothing came of it");
    assert!(study.tell(slot, &[1.0, 2.0, 1e300], None).is_err(), "a value too large");
    assert!(study.tell(slot, &[1.0, 2.0, 3.0], Some(f64::INFINITY)).is_err(), "a label that is no number");
    assert!(study.tell(slot + 1, &[1.0, 2.0, 3.0], None).is_err(), "a slot that was not handed out");
    assert!(study.label(slot, 1.0).is_err(), "a label without values");
    assert!(study.void(99, "").is_err(), "no such slot");
    assert_eq!(fs::read(at.join("journal.jsonl")).unwrap(), before);
    study.tell(slot, &[1.0, 2.0, 3.0], None).unwrap();
    assert!(study.tell(slot, &[1.0, 2.0, 3.0], Some(1.0)).is_err(), "told twice");
    study.label(slot, 1.0).unwrap();
    assert!(study.label(slot, 1.0).is_err() && study.void(slot, "").is_err(), "closed");
    for (wrong, field) in [
        (Description { budget: 7, ..description() }, "budget"),
        (Description { examples: Some(20), ..description() }, "examples: 20: allowed is at least 134"),
        (chosen(Choices { shape: Shape::Trees, ..Choices::default() }), "shape: trees need the number"),
        (chosen(Choices { level: Some(2.0), ..Choices::default() }), "level"),
        (chosen(Choices { half_life: Some(3.0), ..Choices::default() }), "half_life"),
        (chosen(Choices { always: vec!["nobody".into()], ..Choices::default() }), "always: `nobody` is not"),
        (chosen(Choices { method: "hybrid".into(), ..Choices::default() }), "method: a study does not have"),
        (chosen(Choices { passes: 2, ..Choices::default() }), "passes: a study does not have"),
        (
            chosen(Choices { per_prediction: Some(2.0), ..Choices::default() }),
            "per_prediction: it is an amount",
        ),
        (Description { attributes: vec!["a".into(), "a".into()], ..description() }, "attributes"),
        (Description { attributes: vec!["pressure".into()], budget: 1, ..description() }, "attributes"),
        (Description { attributes: vec!["a=b".into()], budget: 1, ..description() }, "attributes"),
    ] {
        let to = folder.path().join("wrong");
        let error = Study::create(&to, wrong).unwrap_err().to_string();
        assert!(error.contains(field) && !to.exists(), "{error}");
    }
}

#[test]
fn no_more_slots_are_open_than_the_method_can_learn_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create(folder.path().join("s"), description()).unwrap();
    let first = study.ask(1000).unwrap();
    assert_eq!(first.len(), 10, "the first block has ten examples");
    assert!(study.ask(1).unwrap().is_empty() && study.status().room == 0);
    study.void(first[3].number, "left").unwrap();
    assert_eq!(study.ask(5).unwrap().len(), 1, "another example takes its place");
}

/// `weight` and `pulse` come from one visit for 3; `age` is free; `iron` costs more than there is.
const PRICES: &str = "age,0\nweight,3,visit\npulse,3,visit\nheight,1\nsugar,1.5\niron,9\n";

#[test]
fn a_study_with_prices_is_never_overspent_and_its_journal_has_the_costs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let prices = Prices::parse(PRICES, "prices.csv").unwrap();
    let names = NAMES.map(str::to_owned).to_vec();
    let description =
        Description::within("pressure", names, &Budget::Money { per_example: 6.0, prices }).unwrap();
    let mut study = Study::create(&at, description.clone()).unwrap();
    let price = |panel: &String| match panel.as_str() {
        "age" => 0.0,
        "visit" => 3.0,
        "height" => 1.0,
        "sugar" => 1.5,
        other => panic!("{other} is bought"),
    };
    let (mut paid, mut most) = (0.0, 0);
    while study.status().told < 300 {
        for slot in study.ask(3).unwrap() {
            let cost: f64 = slot.panels.iter().map(price).sum();
            assert!(slot.cost == Some(cost) && cost <= 6.0, "{slot:?}");
            assert!(slot.attributes.contains(&"age".to_owned()), "it is free");
            let visit = ["weight", "pulse"].map(|name| slot.attributes.iter().any(|other| other == name));
            assert_eq!(visit[0], visit[1], "they come together");
            paid += cost;
            most = most.max(slot.attributes.len());
            let (x, label) = patient(slot.number);
            let value = |name: &String| x[NAMES.iter().position(|other| other == name).unwrap()];
            let values: Vec<f64> = slot.attributes.iter().map(value).collect();
            match slot.number % 7 {
                0 => study.void(slot.number, "sample lost").unwrap(),
                _ => study.tell(slot.number, &values, Some(label)).unwrap(),
            }
        }
    }
    let (status, model) = (study.status(), study.model());
    assert!((status.spent.unwrap() - paid).abs() < 1e-9 * paid);
    assert_eq!((status.support, model.cost()), (vec!["weight".to_owned(), "sugar".into()], Some(4.5)));
    assert_eq!((model.spent.examples, model.spent.void), (status.slots, status.void));
    assert_eq!((model.spent.attributes, model.spent.most_attributes), (status.bought, most));
    let money = model.spent.money.unwrap();
    assert!((money.total - paid).abs() < 1e-9 * paid && money.most <= 6.0);
    study.verify().unwrap();
    let slots = study.status().slots;
    drop(study);
    assert_eq!(Study::open(&at).unwrap().status().slots, slots);

    // A journal whose asks cost something else is refused.
    let (file, cost) = (at.join("journal.jsonl"), r#""cost":"#);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.lines().next().unwrap().contains(cost), "{text}");
    fs::write(&file, text.replacen(cost, r#""cost":1"#, 1)).unwrap();
    assert!(matches!(Study::open(&at), Err(StudyError::Damaged { line: 1, .. })));
    let nameless = Description { panels: Vec::new(), ..description };
    let error = Study::create(folder.path().join("t"), nameless).unwrap_err().to_string();
    assert!(error.contains("panels: 0 names"), "{error}");
}

#[test]
fn every_changed_byte_of_a_snapshot_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let model = begun(&at, 150).model();
    let path = snapshots(&at).pop().unwrap();
    let newest = Study::open(&at).unwrap().recovery().snapshot;
    let text = fs::read(&path).unwrap();
    for place in (0..text.len()).step_by(7) {
        let mut damaged = text.clone();
        damaged[place] ^= 1;
        fs::write(&path, damaged).unwrap();
        let study = Study::open(&at).unwrap();
        assert!(study.recovery().snapshot < newest, "a damaged snapshot is in use");
        assert_eq!(study.model().coefficients, model.coefficients);
    }
    fs::write(&path, text).unwrap();
    assert!(Study::open(&at).unwrap().recovery().snapshot > 0);
}

#[test]
fn a_snapshot_of_another_version_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let model = begun(&at, 150).model();
    for path in snapshots(&at) {
        let text = fs::read_to_string(&path).unwrap();
        let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&version));
        let other = text.replace(&version, "\"version\":\"0.0.1\"");
        let hash = sha256(other.as_bytes());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let number = name.rsplit_once('-').unwrap().0;
        fs::write(at.join(format!("{number}-{hash}.json")), other).unwrap();
        fs::remove_file(path).unwrap();
    }
    let study = Study::open(&at).unwrap();
    assert_eq!((study.recovery().snapshot, study.model().coefficients), (0, model.coefficients));
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    Sha256::digest(bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_study_whose_snapshots_cannot_be_written_goes_on_without() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    fs::create_dir(at.join("unfinished")).unwrap();
    run(&mut study, 200);
    let model = study.model();
    drop(study);
    let study = Study::open(&at).unwrap();
    assert_eq!((study.recovery().snapshot, study.model().coefficients), (0, model.coefficients));
}

#[test]
fn a_study_of_another_format_is_refused_with_the_version_that_can_open_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    drop(begun(&at, 3));
    let text = fs::read_to_string(at.join("study.json")).unwrap();
    for (format, level) in [("0", "\"level\""), ("2", "\"something\": [],\n  \"level\"")] {
        let other = text.replace("\"format\": 1", &format!("\"format\": {format}"));
        let other = other.replace(env!("CARGO_PKG_VERSION"), "7.8.9").replace("\"level\"", level);
        fs::write(at.join("study.json"), other).unwrap();
        let error = Study::open(&at).unwrap_err();
        assert!(matches!(error, StudyError::Format { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("study.json") && said.contains("open the study with lao 7.8.9"), "{said}");
    }
    fs::write(at.join("study.json"), text).unwrap();
    assert!(Study::open(&at).is_ok(), "a refusal changes nothing");
}

/// The rows of all open slots.
fn rows(study: &Study) -> Vec<Row> {
    let row = |slot: &Slot| {
        let (values, label) = measured(slot);
        Row { slot: slot.number, values, label: (!slot.number.is_multiple_of(3)).then_some(label) }
    };
    study.open_slots().iter().map(row).collect()
}

/// The label of each slot that waits for one.
fn labels(study: &Study) -> Vec<SlotLabel> {
    let label = |slot: u64| SlotLabel { slot, label: patient(slot).1 };
    study.status().waiting.into_iter().map(label).collect()
}

#[test]
fn rows_told_together_are_learned_like_rows_told_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = Study::create(folder.path().join("one"), description()).unwrap();
    let mut all = Study::create(folder.path().join("all"), description()).unwrap();
    while one.status().told < 200 {
        assert_eq!(one.ask(u64::MAX).unwrap(), all.ask(u64::MAX).unwrap());
        let rows = rows(&one);
        for row in &rows {
            one.tell(row.slot, &row.values, row.label).unwrap();
        }
        all.tell_all(&rows).unwrap();
        let labels = labels(&one);
        for &SlotLabel { slot, label } in &labels {
            one.label(slot, label).unwrap();
        }
        all.label_all(&labels).unwrap();
        assert_eq!((one.status(), one.evidence()), (all.status(), all.evidence()));
    }
    assert_eq!(one.model().coefficients, all.model().coefficients);
    all.verify().unwrap();
    drop(all);
    assert_eq!(Study::open(folder.path().join("all")).unwrap().status(), one.status());
}

#[test]
fn of_labels_told_together_all_are_recorded_or_none() {
    let folder = in_memory();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    study.ask(5).unwrap();
    for slot in &study.open_slots()[..4] {
        study.tell(slot.number, &measured(slot).0, None).unwrap();
    }
    let (before, status) = (fs::read(at.join("journal.jsonl")).unwrap(), study.status());
    let good = labels(&study);
    let changed = |at: usize, slot: u64, label: f64| {
        let mut labels = good.clone();
        labels[at] = SlotLabel { slot, label };
        labels
    };
    // A slot without values, one that was never handed out, one twice, and labels that are no numbers.
    for wrong in [
        changed(3, 5, 1.0),
        changed(3, 9, 1.0),
        changed(3, 1, 1.0),
        changed(2, 3, f64::NAN),
        changed(2, 3, 1e99),
    ] {
        assert!(study.label_all(&wrong).is_err(), "{wrong:?}");
        assert_eq!(
            (fs::read(at.join("journal.jsonl")).unwrap(), study.status()),
            (before.clone(), status.clone())
        );
    }
    study.label_all(&[]).unwrap();
    study.label_all(&good).unwrap();
    assert_eq!((study.status().told, study.status().waiting), (4, Vec::new()));
    study.verify().unwrap();
    drop(study);
    // A crash in the middle of the line leaves none of them.
    let journal = fs::read(at.join("journal.jsonl")).unwrap();
    let to = folder.path().join("copy");
    for length in before.len()..journal.len() - 1 {
        copy(&at, &to, &journal[..length]);
        assert_eq!(Study::open(&to).unwrap().status(), status, "{length}");
        fs::remove_dir_all(&to).unwrap();
    }
}

#[test]
fn of_rows_told_together_all_are_recorded_or_none() {
    let folder = in_memory();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    study.ask(5).unwrap();
    let (before, status) = (fs::read(at.join("journal.jsonl")).unwrap(), study.status());
    let good = rows(&study);
    let changed = |change: &dyn Fn(&mut Vec<Row>)| {
        let mut rows = good.clone();
        change(&mut rows);
        rows
    };
    for wrong in [
        changed(&|rows| rows[4].slot = 9),
        changed(&|rows| rows[4].slot = rows[0].slot),
        changed(&|rows| rows[4].slot = rows[2].slot),
        changed(&|rows| rows[3].values[0] = f64::INFINITY),
        changed(&|rows| rows[3].values.truncate(2)),
        changed(&|rows| rows[4].label = Some(f64::INFINITY)),
    ] {
        assert!(study.tell_all(&wrong).is_err(), "{wrong:?}");
        assert_eq!(
            (fs::read(at.join("journal.jsonl")).unwrap(), study.status()),
            (before.clone(), status.clone())
        );
    }
    study.tell_all(&[]).unwrap();
    study.tell_all(&good).unwrap();
    drop(study);
    // A crash in the middle of the line leaves none of them.
    let journal = fs::read(at.join("journal.jsonl")).unwrap();
    let to = folder.path().join("copy");
    for length in before.len()..journal.len() - 1 {
        copy(&at, &to, &journal[..length]);
        assert_eq!(Study::open(&to).unwrap().status(), status, "{length}");
        fs::remove_dir_all(&to).unwrap();
    }
}

#[test]
fn a_copy_made_while_the_study_is_told_opens_and_verifies() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let teller = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) && study.status().slots < 3000 {
                step(&mut study);
            }
            study.verify().unwrap()
        });
        let mut most = 0;
        for round in 0..40 {
            let to = folder.path().join(format!("copy-{round}"));
            fs::create_dir(&to).unwrap();
            for entry in fs::read_dir(&at).unwrap() {
                let entry = entry.unwrap();
                // A file that has gone, or got its name, since the folder was listed is not copied.
                let _ = fs::copy(entry.path(), to.join(entry.file_name()));
            }
            let copied = Study::open(&to).unwrap();
            let lines = copied.verify().unwrap();
            assert!(lines >= most, "{lines} lines after {most}");
            most = lines;
            drop(copied);
            fs::remove_dir_all(to).unwrap();
        }
        over.store(true, Ordering::Relaxed);
        assert!(most > 0 && teller.join().unwrap() >= most);
    });
}

/// A folder in memory, if there is one: there, waiting for the disk takes no time.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Makes a journal of about so many lines, and returns them.
fn long(at: &Path, lines: u64) -> u64 {
    let mut study = Study::create(at, description()).unwrap();
    (0..lines).for_each(|_| {
        step(&mut study);
    });
    lines
}

#[test]
fn ten_thousand_lines_are_opened_from_a_snapshot() {
    let folder = in_memory();
    let at = folder.path().join("s");
    let lines = long(&at, 10_000);
    let study = Study::open(&at).unwrap();
    let recovery = study.recovery();
    assert!(recovery.replayed < 256 && recovery.snapshot + recovery.replayed == lines, "{recovery:?}");
    assert_eq!(study.verify().unwrap(), lines);
}

#[test]
fn a_journal_that_was_changed_while_the_study_was_open_is_noticed_before_anything_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("replaced", |at| {
            fs::copy(at.join("journal.jsonl"), at.join("other")).unwrap();
            fs::rename(at.join("other"), at.join("journal.jsonl")).unwrap();
        }),
        ("removed", |at| fs::remove_file(at.join("journal.jsonl")).unwrap()),
        ("emptied", |at| fs::write(at.join("journal.jsonl"), "").unwrap()),
        ("longer", |at| {
            let text = fs::read(at.join("journal.jsonl")).unwrap();
            fs::write(at.join("journal.jsonl"), [&text[..], b" "].concat()).unwrap();
        }),
        ("lock removed", |at| fs::remove_file(at.join("lock")).unwrap()),
    ];
    for (what, change) in changes {
        let at = folder.path().join(what);
        let mut study = Study::create(&at, description()).unwrap();
        let slot = study.ask(1).unwrap().remove(0);
        let (values, label) = measured(&slot);
        change(&at);
        let before = fs::read(at.join("journal.jsonl")).unwrap_or_default();
        let error = study.tell(slot.number, &values, Some(label)).unwrap_err();
        assert!(matches!(error, StudyError::Changed { .. }), "{what}: {error}");
        assert!(error.to_string().contains("nothing was recorded"), "{what}: {error}");
        assert_eq!(fs::read(at.join("journal.jsonl")).unwrap_or_default(), before, "{what}");
    }
}

#[test]
fn a_journal_that_was_cut_or_exchanged_is_damaged_and_no_slot_is_handed_out_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let lines = |at: &Path| fs::read_to_string(at.join("journal.jsonl")).unwrap();
    for patients in [5, 150] {
        let at = folder.path().join(patients.to_string());
        drop(begun(&at, patients));
        let text = lines(&at);
        let whole = text.lines().count();
        for kept in [0, whole / 3] {
            let cut: String = text.lines().take(kept).map(|line| format!("{line}\n")).collect();
            fs::write(at.join("journal.jsonl"), cut).unwrap();
            let Err(StudyError::Damaged { line, reason, .. }) = Study::open(&at) else { panic!("{kept}") };
            assert!(line == kept as u64 && reason.contains("lines are missing"), "{reason}");
        }
        fs::write(at.join("journal.jsonl"), text.replace('\n', "\r\n")).unwrap();
        let error = Study::open(&at).unwrap_err().to_string();
        assert!(error.contains("line 1: the ends of lines were changed to those of Windows"), "{error}");
        fs::write(at.join("journal.jsonl"), text).unwrap();
        assert!(Study::open(&at).is_ok());
    }
    // Two studies of one description have different identifiers.
    for at in [&one, &two] {
        let description = Description { id: String::new(), ..description() };
        run(&mut Study::create(at, description).unwrap(), 5);
    }
    let other = lines(&two);
    fs::write(one.join("journal.jsonl"), other).unwrap();
    assert!(matches!(Study::open(&one), Err(StudyError::Damaged { line: 1, .. })));
}

#[cfg(unix)]
#[test]
fn links_in_the_folder_of_a_study_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let at = folder.path().join("s");
    drop(begun(&at, 3));
    symlink(&victim, at.join("unfinished")).unwrap();
    snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    run(&mut Study::open(&at).unwrap(), 300);
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
    assert!(snapshots(&at).iter().all(|path| !path.is_symlink()));
    for name in ["journal.jsonl", "study.json", "lock"] {
        let kept = folder.path().join(name);
        fs::rename(at.join(name), &kept).unwrap();
        symlink(&kept, at.join(name)).unwrap();
        let error = Study::open(&at).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("not an ordinary file"), "{error}");
        fs::remove_file(at.join(name)).unwrap();
        fs::rename(&kept, at.join(name)).unwrap();
    }
    assert!(Study::open(&at).is_ok());
}

#[test]
fn a_test_that_came_to_nothing_costs_its_own_value_and_slots_may_be_ahead_of_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    let mut late = Vec::new();
    let (mut missing, mut handed) = (0, 0);
    while study.status().told < 600 {
        for slot in study.ask_ahead(3).unwrap() {
            handed += 1;
            assert!(slot.number == handed && slot.attributes.len() <= BUDGET);
            let (mut values, label) = measured(&slot);
            if slot.number % 4 == 0 {
                values[0] = f64::NAN;
                missing += 1;
            }
            study.tell(slot.number, &values, None).unwrap();
            late.push((slot.number, label));
        }
        if late.len() > 90 {
            let labels: Vec<SlotLabel> =
                late.drain(..30).map(|(slot, label)| SlotLabel { slot, label }).collect();
            study.label_all(&labels).unwrap();
        }
    }
    let (status, model) = (study.status(), study.model());
    assert_eq!(status.support, ["weight", "sugar"]);
    assert!((model.coefficients[0].value - 10.0).abs() < 1.0, "{model}");
    assert!(model.spent.missing > 100 && model.spent.missing <= missing && status.waiting.len() > 60);
    study.verify().unwrap();
    drop(study);
    let study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.model().coefficients), (status, model.coefficients));
    assert!(fs::read_to_string(at.join("journal.jsonl")).unwrap().contains("null,"));
}

#[test]
fn earlier_examples_are_imported_once_cost_nothing_and_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    // Six values of each are known, of every third five: more than the budget of a slot.
    let earlier = |number: u64| {
        let (x, label) = patient(10_000 + number);
        let known: Vec<u32> = (0..6).filter(|j| !number.is_multiple_of(3) || *j != 4).collect();
        let values = known.iter().map(|&j| x[j as usize]).collect();
        Given { attributes: known, values, label }
    };
    let examples: Vec<Given> = (0..300).map(earlier).collect();
    study.import(&examples).unwrap();
    let status = study.status();
    assert_eq!((status.imported, status.told, status.slots, status.bought), (300, 0, 0, 0));
    assert_eq!(status.support, ["weight", "sugar"]);

    // What does not fit is refused, and leaves no trace.
    let before = study.verify().unwrap();
    let again = study.import(&examples).unwrap_err().to_string();
    assert!(again.contains("has these examples already; nothing was recorded"), "{again}");
    let one = |attributes: &[u32], values: &[f64], label: f64| Given {
        attributes: attributes.to_vec(),
        values: values.to_vec(),
        label,
    };
    for (refused, said) in [
        (one(&[], &[], 1.0), "none of its attributes"),
        (one(&[2, 1], &[0.0, 0.0], 1.0), "in the order"),
        (one(&[6], &[0.0], 1.0), "in the order"),
        (one(&[0, 1], &[0.0], 1.0), "and its value"),
        (one(&[1], &[f64::NAN], 1.0), "weight = NaN"),
        (one(&[1], &[1e80], 1.0), "weight = 1"),
        (one(&[1], &[1.0], f64::INFINITY), "pressure = inf"),
    ] {
        let error = study.import(&[earlier(301), refused]).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("example 2:"), "{error}");
    }
    assert!(study.import(&[]).is_err());
    assert_eq!((study.verify().unwrap(), study.status()), (before, status));

    // Slots that were handed out before an import are told after it.
    let slots = study.ask(5).unwrap();
    study.import(&(302..360).map(earlier).collect::<Vec<_>>()).unwrap();
    for slot in slots {
        let (values, label) = measured(&slot);
        study.tell(slot.number, &values, Some(label)).unwrap();
    }
    run(&mut study, 100);
    study.verify().unwrap();
    let (status, model) = (study.status(), study.model());
    assert_eq!((status.imported, model.spent.imported, model.spent.examples), (358, 358, status.slots));
    assert!(
        model.to_string().contains("; beside them, 358 that were known before were learned from"),
        "{model}"
    );
    assert!((model.coefficients[0].value - 10.0).abs() < 0.5, "{model}");
    drop(study);
    let mut study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.model().coefficients), (status.clone(), model.coefficients));
    assert!(study.import(&examples).is_err());
    drop(study);
    snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(Study::open(&at).unwrap().status(), status);
}

fn joining(name: &str) -> Joining {
    Joining { name: name.into(), price: None, panel: None, further: None }
}

#[test]
fn an_attribute_that_joins_is_bought_judged_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    // `sugar` has an effect, and is not known when the study begins.
    let names = NAMES.iter().filter(|name| **name != "sugar").map(|name| (*name).to_owned()).collect();
    let mut study = Study::create(&at, Description { attributes: names, ..description() }).unwrap();
    run(&mut study, 200);
    assert_eq!(study.status().support, ["weight"]);
    let open = study.ask(2).unwrap();
    for (refused, said) in [
        (vec![], "give the name of an attribute"),
        (vec![joining("pulse")], "`pulse` is there twice"),
        (vec![joining("pressure")], "`pressure` is there twice"),
        (vec![joining("a=b")], "no = , or"),
        (
            vec![Joining { price: Some(2.0), ..joining("sugar") }],
            "`sugar` has a price, and the others have none",
        ),
    ] {
        let error = study.join(&refused).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let before = study.verify().unwrap();
    study.join(&[joining("sugar")]).unwrap();
    assert_eq!((study.verify().unwrap(), study.description().attributes.len()), (before + 1, 6));
    assert_eq!(study.evidence()[5].examples, 0);
    // Slots that were handed out before are told after.
    for slot in open {
        let (values, label) = measured(&slot);
        study.tell(slot.number, &values, Some(label)).unwrap();
    }
    let bought = study.status().slots;
    run(&mut study, 220);
    let next = study.ask(1).unwrap().remove(0);
    assert!(next.attributes.contains(&"sugar".to_owned()), "{next:?} after {bought}");
    study.void(next.number, "").unwrap();
    run(&mut study, 700);
    let (status, model) = (study.status(), study.model());
    assert_eq!(status.support, ["weight", "sugar"]);
    let sugar = model.coefficients.iter().find(|one| one.column == "sugar").unwrap();
    let whole = begun(&folder.path().join("whole"), 700).model();
    let wanted = whole.coefficients.iter().find(|one| one.column == "sugar").unwrap();
    let error = sugar.standard_error.unwrap();
    assert!((sugar.value - wanted.value).abs() < 4.0 * error, "{sugar:?} {wanted:?}");
    drop(study);
    let study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.model().coefficients), (status.clone(), model.coefficients.clone()));
    assert!(study.recovery().snapshot > before + 1);
    drop(study);
    snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    let study = Study::open(&at).unwrap();
    assert_eq!((study.status(), study.model().coefficients), (status, model.coefficients));

    // Where the budget pays for all attributes there is no choice to renew.
    let all = Description { budget: 6, ..description() };
    let error = Study::create(folder.path().join("all"), all).unwrap().join(&[joining("iron2")]).unwrap_err();
    assert!(error.to_string().contains("budget = 6"), "{error}");
}

#[test]
fn an_attribute_that_joins_a_study_with_prices_may_be_of_one_of_its_panels() {
    let folder = tempfile::tempdir().unwrap();
    let prices = "age,0\nweight,2,visit\nheight,2\niron,2,blood,1\n";
    let prices = Prices::parse(prices, "prices.csv").unwrap();
    let names = ["age", "weight", "height", "iron"].map(str::to_owned).to_vec();
    let described =
        Description::within("pressure", names, &Budget::Money { per_example: 5.5, prices }).unwrap();
    let mut study = Study::create(folder.path().join("s"), described).unwrap();
    let go = |study: &mut Study, patients: u64| {
        while study.status().told < patients {
            for slot in study.ask(1).unwrap() {
                let (x, label) = patient(slot.number);
                let value = |name: &String| x[NAMES.iter().position(|other| other == name).unwrap()];
                let values: Vec<f64> = slot.attributes.iter().map(value).collect();
                study.tell(slot.number, &values, Some(label)).unwrap();
            }
        }
    };
    go(&mut study, 100);
    let (spent, bought) = (study.status().spent, study.model().spent.money.unwrap());
    let priced = |name: &str, price, panel: Option<&str>, further| {
        [Joining { price: Some(price), panel: panel.map(str::to_owned), further, ..joining(name) }]
    };
    for (refused, said) in [
        (vec![joining("pulse")], "`pulse` needs a price"),
        (
            priced("pulse", 3.0, Some("visit"), None).to_vec(),
            "its panel `visit` costs 3 here and 2 at `weight`",
        ),
        (priced("sugar", 3.0, Some("blood"), Some(1.0)).to_vec(), "the first column costs 1 more"),
        (priced("sugar", -1.0, None, None).to_vec(), "its price is -1"),
    ] {
        let error = study.join(&refused).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    study.join(&priced("pulse", 2.0, Some("visit"), None)).unwrap();
    study.join(&priced("sugar", 1.75, Some("blood"), Some(0.75))).unwrap();
    // What was bought is still known by its panels.
    assert_eq!(study.status().spent, spent);
    let money = study.model().spent.money.unwrap();
    for before in &bought.panels {
        let now = money.panels.iter().find(|now| (&now.name, now.is_fee) == (&before.name, before.is_fee));
        assert_eq!(now.map(|now| (now.examples, now.price)), Some((before.examples, before.price)));
    }
    go(&mut study, 400);
    assert_eq!(study.status().support, ["weight", "sugar"]);
    // The visit, the blood sample, and its test.
    assert_eq!(study.model().cost(), Some(2.0 + 1.0 + 0.75));
    assert!(study.model().spent.money.unwrap().most <= 5.5);
    study.verify().unwrap();
}

/// A study in a folder that may not be written; root may write everything, and sees no such folder.
#[cfg(unix)]
#[test]
fn a_study_that_may_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("s");
    let status = begun(&at, 30).status();
    let rights = |mode: u32, of_files: u32| {
        for entry in fs::read_dir(&at).unwrap() {
            fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(of_files)).unwrap();
        }
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(0o555, 0o444);
    if fs::write(at.join("probe"), "").is_err() {
        let mut study = Study::open(&at).unwrap();
        assert_eq!(study.status(), status);
        study.verify().unwrap();
        assert!(matches!(study.ask(1), Err(StudyError::ReadOnly(_))));
    }
    rights(0o755, 0o644);
}
