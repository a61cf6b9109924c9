//! Live studies as a user runs them: rows from a file, a full disk, two processes, and processes that are
//! killed.

use lao_study::{Description, Row, Slot, Study, StudyError};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const NAMES: [&str; 5] = ["CRP", "IL6", "LDH", "ALT", "AST"];

/// Returns the command `lao study VERB -S s REST`.
fn command(folder: &Path, verb: &str, rest: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("lao"));
    command.current_dir(folder).args(["session", verb, "-S", "s"]).args(rest);
    command
}

/// Runs a verb, and returns its status and what it said to either stream.
fn session(folder: &Path, verb: &str, rest: &[&str]) -> (i32, String, String) {
    let output = command(folder, verb, rest).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Begins a study in `s`, in which two attributes of each example are bought.
fn begin(folder: &Path) {
    fs::write(folder.join("panel.txt"), NAMES.join("\n")).unwrap();
    let (status, _, said) = session(folder, "new", &["-t", "response", "-a", "panel.txt", "-b", "2"]);
    assert_eq!(status, 0, "{said}");
}

/// Returns what a verb prints with `--json`.
fn json(folder: &Path, verb: &str, rest: &[&str]) -> Value {
    let (status, text, said) = session(folder, verb, &[rest, &["--json"]].concat());
    assert!(status < 2, "{said}");
    serde_json::from_str(&text).unwrap()
}

/// Hands out slots, and returns their numbers and attributes.
fn ask(folder: &Path, count: &str) -> Vec<(u64, Vec<String>)> {
    let value = json(folder, "ask", &["-n", count]);
    let name = |name: &Value| name.as_str().unwrap().to_owned();
    let names = |slot: &Value| slot["attributes"].as_array().unwrap().iter().map(name).collect();
    value["slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slot| (slot["slot"].as_u64().unwrap(), names(slot)))
        .collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// Opens the study in this process. When another test starts a process, that process holds the locks of this
/// one for a moment.
fn open(folder: &Path) -> Study {
    let begin = Instant::now();
    loop {
        match Study::open(folder.join("s")) {
            Err(StudyError::Locked(_)) if begin.elapsed() < Duration::from_secs(10) => {
                std::thread::yield_now()
            }
            opened => return opened.unwrap(),
        }
    }
}

fn journal(folder: &Path) -> String {
    fs::read_to_string(folder.join("s/journal.jsonl")).unwrap()
}

#[test]
fn rows_of_a_file_are_all_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let slots = ask(at, "5");
    let [one, two] = [0, 1].map(|i| slots[0].1[i].clone());
    // The order of columns and rows is free, columns may be empty, and spaces do not count.
    let other = NAMES.iter().find(|name| **name != one && **name != two).unwrap();
    fs::write(
        at.join("rows.csv"),
        format!(
            "\u{feff}response,{two},slot,{other},{one}\r\n0.5,-2, 3 ,,7\r\n,1e-3,1,,+4\r\n0.25,8,2,,9\r\n"
        ),
    )
    .unwrap();
    let (status, text, said) = session(at, "tell", &["--from", "rows.csv"]);
    assert_eq!(
        (status, text.as_str()),
        (0, "recorded 2 slots with `response`, 1 without; 1 slot of the study waits for it\n"),
        "{said}"
    );
    assert_eq!(said, "read 3 rows of rows.csv; recording them as one entry\n");
    let line = journal(at).lines().last().unwrap().to_owned();
    let rows =
        r#""rows":[{"slot":3,"values":[7.0,-2.0],"label":0.5},{"slot":1,"values":[4.0,0.001],"label":null}"#;
    assert!(line.contains(rows), "{line}");
    // The other separators of spreadsheets, and a pipe; what programs read is JSON.
    fs::write(at.join("more.csv"), format!("slot;{one};{two};response\n5;1;2;3\n")).unwrap();
    let piped = command(at, "tell", &["--from", "-", "--json"])
        .stdin(fs::File::open(at.join("more.csv")).unwrap())
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(value, serde_json::json!({ "format": 1, "told": [5], "without_label": [], "waiting": [1] }));
    let (_, text, _) = session(at, "tell", &["4", &format!("{one}=1"), &format!("{two}=2"), "--json"]);
    assert_eq!(text, "{\"format\":1,\"told\":[],\"waiting\":[1,4],\"without_label\":[4]}\n");
    let status = json(at, "status", &[]);
    assert_eq!(numbers(&status["status"]["waiting"]), [1, 4]);
    assert_eq!(
        (&status["status"]["told"], &status["status"]["open"]),
        (&3.into(), &Value::Array(Vec::new()))
    );
    assert_eq!(session(at, "verify", &[]).0, 0);
}

#[test]
fn labels_of_a_file_are_all_told_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let slots = ask(at, "4");
    let [one, two] = [0, 1].map(|i| slots[0].1[i].clone());
    let rows = |labels: [&str; 3]| {
        let row = |(i, label): (usize, &&str)| format!("{},{i},2,{label}\n", i + 1);
        let rows: String = labels.iter().enumerate().map(row).collect();
        fs::write(at.join("rows.csv"), format!("slot,{one},{two},response\n{rows}")).unwrap();
    };
    rows(["", "", ""]);
    assert_eq!(session(at, "tell", &["--from", "rows.csv"]).0, 0);
    let before = journal(at);
    let refused = |parts: &[&str]| {
        let (status, out, said) = session(at, "label", &["--from", "rows.csv"]);
        assert!(status == 2 && out.is_empty(), "{status} {out} {said}");
        assert!(said.starts_with("error: rows.csv"), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{parts:?}: {said}");
        assert_eq!(journal(at), before);
    };
    refused(&["no row has a label", "column `response`", "nothing was recorded"]);
    rows(["1", "x", ""]);
    refused(&["line 3: response=x: give a number, or NA; nothing was recorded"]);
    fs::write(at.join("rows.csv"), "slot,response\n1,0.5\n4,0.5\n").unwrap();
    refused(&["line 3: slot 4 has no values yet"]);
    fs::write(at.join("rows.csv"), "slot,response\n1,0.5\n1,0.5\n").unwrap();
    refused(&["line 3: slot 1 is in line 2, too"]);
    // The file that told the values serves once its labels are there; a row without one is passed over.
    rows(["0.5", "", "0.25"]);
    let (status, text, said) = session(at, "label", &["--from", "rows.csv"]);
    assert_eq!(
        (status, text.as_str()),
        (0, "recorded 2 labels; 1 slot of the study waits for `response`\n"),
        "{said}"
    );
    assert!(journal(at).lines().last().unwrap().contains(r#""labels":[{"slot":1,"label":0.5},"#));
    let (status, text, _) = session(at, "label", &["2", "-0.5", "--json"]);
    assert_eq!((status, text.as_str()), (0, "{\"format\":1,\"told\":[2],\"waiting\":[]}\n"));
    assert_eq!(session(at, "label", &["--from", "rows.csv", "1"]).0, 2, "a file or a slot");
    assert_eq!(session(at, "verify", &[]).0, 0);
}

#[test]
fn rows_of_which_one_is_wrong_are_not_told_and_the_error_names_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let slots = ask(at, "4");
    let [one, two] = [0, 1].map(|i| slots[0].1[i].clone());
    let other = NAMES.iter().find(|name| **name != one && **name != two).unwrap();
    let values = [format!("{one}=1"), format!("{two}=1")];
    assert_eq!(session(at, "tell", &["4", &values[0], &values[1]]).0, 0);
    let before = journal(at);
    let header = format!("slot,{one},{two},response");
    for (text, parts) in [
        (format!("{header}\n1,1,2,3\n2,1,x,3\n"), &["line 3: ", two.as_str(), "=x: give a number"][..]),
        (format!("{header}\n1,1,2,3\n\n2,1,2,inf\n"), &["line 4: response=inf: give a number"]),
        (format!("{header}\n1,1,2,3\n2,NA,?,3\n"), &["line 3", "nothing came of it", "void"]),
        (format!("{header}\n1,1,2,3\n2,1,1e99,3\n"), &["line 3: ", two.as_str(), "at most 1e70"]),
        (format!("{header}\n1,1,2,3\n2,,2,3\n"), &["line 3: ", one.as_str(), "is missing", "void -S s 2"]),
        (format!("{header}\n1,1,2,3\n1,1,2,3\n"), &["line 3: slot 1 is in line 2, too"]),
        (format!("{header}\n1,1,2,3\n9,1,2,3\n"), &["line 3: slot 9 was never handed out"]),
        (format!("{header}\n1,1,2,3\n4,1,2,3\n"), &["line 3: slot 4 is told and waits for its label"]),
        (format!("{header}\n1,1,2,3\nfirst,1,2,3\n"), &["line 3: slot `first`: give the number"]),
        (format!("{header}\n1,1,2,3\n-2,1,2,3\n"), &["line 3: slot `-2`: give the number"]),
        (format!("{header}\r\n1,1,2,3\r\n2,1,2\r\n"), &["line 3: 3 fields, but the first line has 4"]),
        (format!("{header},{other}\n1,1,2,3,\n2,1,2,3,4\n"), &["line 3: ", other, "was not asked for"]),
        (format!("{header},{one}\n1,1,2,3,4\n"), &["line 1: there are two columns", &one]),
        (format!("{one},{two}\n1,2\n"), &["line 1: there is no column `slot`"]),
        (format!("{header}\n"), &["there are no rows"]),
        (String::new(), &["line 1: there is no column `slot`"]),
        (format!("{header}\n1,1,\"2,3\n2,1,2,3\n"), &["line 2: ", "quote"]),
    ] {
        fs::write(at.join("rows.csv"), &text).unwrap();
        let (status, out, said) = session(at, "tell", &["--from", "rows.csv"]);
        assert!(status == 2 && out.is_empty(), "{text}: {status} {out} {said}");
        let last = said.lines().last().unwrap();
        assert!(last.starts_with("error: rows.csv") && last.contains("nothing was recorded"), "{said}");
        assert!(parts.iter().all(|part| last.contains(part)), "{parts:?}: {said}");
        assert_eq!(journal(at), before);
    }
    fs::write(at.join("rows.csv"), b"slot,a\n1,\xff\n").unwrap();
    let (status, _, said) = session(at, "tell", &["--from", "rows.csv"]);
    assert!(status == 2 && said.contains("rows.csv, line 2: this is not UTF-8"), "{said}");
    let (status, _, said) = session(at, "tell", &["--from", "missing.csv"]);
    assert!(status == 2 && said.contains("missing.csv"), "{said}");
    assert_eq!(session(at, "tell", &["--from", "rows.csv", "1"]).0, 2, "a file or a slot");
    assert_eq!(session(at, "tell", &[]).0, 2, "a file or a slot");
    assert_eq!(journal(at), before);
}

/// Runs a verb where no file may grow beyond a number of kilobytes, as on a full disk.
#[cfg(target_os = "linux")]
fn on_a_full_disk(folder: &Path, kilobytes: u64, verb: &str, rest: &[&str]) -> (i32, String, String) {
    let output = Command::new("bash")
        .args(["-c", &format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$@\""), "bash"])
        .arg(assert_cmd::cargo::cargo_bin("lao"))
        .args(["session", verb, "-S", "s"])
        .args(rest)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("panel.txt"), NAMES.join("\n")).unwrap();
    let new = ["-t", "response", "-a", "panel.txt", "-b", "2"];
    let (status, _, said) = on_a_full_disk(at, 0, "new", &new);
    assert!(status == 2 && said.contains("File too large") && !at.join("s").exists(), "{said}");

    begin(at);
    let mut failed = 0;
    while failed < 12 {
        let before = journal(at);
        // The limit is the length of the journal, rounded up: a line is cut at any place, or fits.
        let kilobytes = (before.len() as u64).div_ceil(1024);
        let slot = open(at).open_slots().pop();
        let verb = if slot.is_some() { "tell" } else { "ask" };
        let rest: Vec<String> = match &slot {
            None => vec!["-n".into(), "3".into()],
            Some(Slot { number, attributes, .. }) if number % 2 == 0 => {
                fs::write(
                    at.join("rows.csv"),
                    format!("slot,{},response\n{number},0.123,4,5\n", attributes.join(",")),
                )
                .unwrap();
                vec!["--from".into(), "rows.csv".into()]
            }
            Some(Slot { number, attributes, .. }) => vec![
                number.to_string(),
                format!("{}=0.123", attributes[0]),
                format!("{}=4", attributes[1]),
                "response=5".into(),
            ],
        };
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let (status, out, said) = on_a_full_disk(at, kilobytes, verb, &rest);
        if status == 0 {
            continue;
        }
        failed += 1;
        assert!(status == 2 && out.is_empty(), "{status} {out}");
        let parts = ["s/journal.jsonl", "File too large", "nothing was recorded; make room on the disk"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(journal(at), before, "the beginning of a line is taken back");
        // With room on the disk, the same command is done.
        let (status, _, said) = session(at, verb, &rest);
        assert!(status == 0 && !said.contains("incomplete last line"), "{said}");
        assert!(journal(at).starts_with(&before));
    }
    assert_eq!(session(at, "verify", &[]).0, 0);
}

/// Asks and tells until so many slots are told; returns their numbers with the values.
fn teller(folder: &Path, count: usize, first: f64) -> Vec<(u64, [f64; 2])> {
    let mut told = Vec::new();
    let begin = Instant::now();
    while told.len() < count {
        assert!(begin.elapsed() < Duration::from_secs(300), "two tellers wait for each other");
        for (slot, names) in ask(folder, "1") {
            let values = [first, told.len() as f64];
            let pairs: Vec<String> =
                names.iter().zip(values).map(|(name, x)| format!("{name}={x}")).collect();
            let rest = ["--wait", "100", &slot.to_string(), &pairs[0], &pairs[1], "response=1"];
            let (status, _, said) = session(folder, "tell", &rest);
            assert_eq!(status, 0, "{said}");
            told.push((slot, values));
        }
    }
    told
}

#[test]
fn two_processes_at_once_lose_nothing_and_spend_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let tellers = [1.0, 2.0].map(|first| {
        let at = at.to_owned();
        std::thread::spawn(move || teller(&at, 50, first))
    });
    let mut told: Vec<(u64, [f64; 2])> = tellers.into_iter().flat_map(|one| one.join().unwrap()).collect();
    told.sort_by_key(|(slot, _)| *slot);
    assert!(told.iter().map(|(slot, _)| *slot).eq(1..=100), "each slot was handed out once");
    let status = json(at, "status", &[])["status"].clone();
    assert_eq!(
        (&status["told"], &status["slots"], &status["bought"]),
        (&100.into(), &100.into(), &200.into())
    );
    assert_eq!(session(at, "verify", &[]).0, 0);
    // The journal has what each process told.
    let lines: Vec<Value> = journal(at).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = lines.iter().map(|line| &line["record"]).filter(|record| record["what"] == "told");
    let mut known: Vec<_> = records
        .map(|record| {
            let values = record["values"].as_array().unwrap();
            (record["slot"].as_u64().unwrap(), [0, 1].map(|i| values[i].as_f64().unwrap()))
        })
        .collect();
    known.sort_by_key(|(slot, _)| *slot);
    assert_eq!(known, told);
}

#[test]
fn a_command_waits_for_the_study_or_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let study = open(at);
    let (status, out, said) = session(at, "ask", &["--wait", "0"]);
    assert!(status == 3 && out.is_empty() && said.contains("s is open in another process"), "{said}");
    let mut waiting = command(at, "ask", &["--wait", "100"]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(waiting.try_wait().unwrap().is_none(), "it waits");
    drop(study);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"slot 1: "), "{output:?}");
    assert!(journal(at).lines().count() == 1, "what was refused left no trace");
}

#[test]
fn what_is_to_be_reported_is_listed_as_it_was_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let nothing = "nothing is to be reported: no slot is open, and no label is missing\n";
    assert_eq!(session(at, "open", &[]).1, nothing);
    let (_, handed, _) = session(at, "ask", &["-n", "3"]);
    let (_, status, _) = session(at, "status", &[]);
    assert!(status.contains("\n3 open slots to be reported: lao study open -S s\n"), "{status}");
    assert_eq!(session(at, "open", &[]).1, handed);
    let slots = json(at, "open", &[])["slots"].clone();
    let names: Vec<&str> =
        slots[1]["attributes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    let values: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
    assert_eq!(session(at, "tell", &["2", &values[0], &values[1]]).0, 0);
    let (_, listed, _) = session(at, "open", &[]);
    let lines: Vec<&str> = handed.lines().collect();
    assert_eq!(listed, format!("{}\n{}\nslot 2: only `response` is missing\n", lines[0], lines[2]));
    let listed = json(at, "open", &[]);
    assert_eq!((numbers(&listed["waiting"]), &listed["slots"][1]), (vec![2], &slots[2]));
    // No more can be planned, and what is missing is said.
    let (status, _, said) = session(at, "ask", &["-n", "50"]);
    let planned = "handed out 7 of 50: before more can be planned, report 9 open slots and 1 missing label \
                   (`lao study open -S s`), or hand out more of the present plan by --ahead\n";
    assert_eq!((status, said.as_str()), (0, planned));
}

#[test]
fn earlier_patients_are_imported_or_the_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let row = |i: i32| format!("{};{},5;NA;;{};ward {i}\n", 3 * i, i % 7, if i == 5 { "" } else { "1,25" });
    let table = |change: &dyn Fn(String) -> String| {
        let rows: String = (0..40).map(|i| change(row(i))).collect();
        fs::write(at.join("old.csv"), format!("LDH;CRP;AST;ALT;response;where\n{rows}")).unwrap();
    };
    table(&|row| row.replace("30;3,5", "30;3.5x"));
    let (status, _, said) = session(at, "import", &["old.csv"]);
    assert!(status == 2 && said.contains("old.csv, line 12: CRP=3.5x: give a number"), "{said}");
    table(&|row| row.replace("30;3,5", "30;1e99"));
    let (status, _, said) = session(at, "import", &["old.csv"]);
    assert!(status == 2 && said.contains("old.csv, line 12: CRP = 1e99"), "{said}");
    assert_eq!(journal(at), "");

    table(&|row| row);
    let (status, printed, said) = session(at, "import", &["old.csv"]);
    assert!(status == 0 && printed.starts_with("recorded 39 earlier examples"), "{printed}{said}");
    assert!(said.contains("passed over 1 row without `response`") && said.contains("`where`"), "{said}");
    let (status, _, said) = session(at, "import", &["old.csv"]);
    assert!(status == 2 && said.contains("the study has these examples already"), "{said}");
    let (_, printed, _) = session(at, "status", &[]);
    assert!(printed.contains("39 earlier examples imported"), "{printed}");
    assert_eq!(
        (json(at, "status", &[])["status"]["imported"].as_u64(), ask(at, "1")[0].1.len()),
        (Some(39), 2)
    );

    for (text, wanted) in [
        ("CRP,LDH\n1,2\n", "there is no column `response`"),
        ("response,x\n1,2\n", "no column is an attribute"),
        ("response,CRP,CRP\n1,2,3\n", "two columns `CRP`"),
        ("response,CRP\n,2\n1,\n", "no row has `response` and"),
        ("response,CRP\n1,2,3\n", "nothing was recorded"),
        ("", "there are no rows"),
    ] {
        fs::write(at.join("bad.csv"), text).unwrap();
        let (status, _, said) = session(at, "import", &["bad.csv"]);
        assert!(status == 2 && said.contains(wanted), "{text}: {said}");
    }
}

#[test]
fn a_test_that_is_new_joins_by_name_and_price() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    let (status, printed, said) = session(at, "join", &["ferritin", "iron"]);
    assert!(
        status == 0 && printed.starts_with("recorded; the study has 7 attributes now"),
        "{printed}{said}"
    );
    assert!(journal(at).contains(r#""what":"joined","attributes":[{"name":"ferritin"},{"name":"iron"}]"#));
    assert_eq!(json(at, "join", &["zinc"])["attributes"], 8);
    let (status, _, said) = session(at, "join", &["CRP"]);
    assert!(status == 2 && said.contains("`CRP` is there twice"), "{said}");
    let (_, printed, _) = session(at, "evidence", &[]);
    assert!(printed.contains("ferritin"), "{printed}");
    let (status, printed, said) = session(at, "verify", &[]);
    assert!(status == 0 && printed.contains('2'), "{printed}{said}");

    fs::write(at.join("prices.csv"), "CRP,2\nIL6,2\nLDH,1,blood\nALT,1,blood\nAST,9\n").unwrap();
    let priced = ["-t", "response", "--prices", "prices.csv", "-b", "4"];
    let new = Command::new(assert_cmd::cargo::cargo_bin("lao"))
        .current_dir(at)
        .args(["study", "new", "-S", "priced"])
        .args(priced)
        .output()
        .unwrap();
    assert!(new.status.success(), "{new:?}");
    let join = |prices: &str| {
        fs::write(at.join("more.csv"), prices).unwrap();
        let output = Command::new(assert_cmd::cargo::cargo_bin("lao"))
            .current_dir(at)
            .args(["study", "join", "-S", "priced", "iron", "--prices", "more.csv"])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (prices, wanted) in [
        ("zinc,1\n", "a price of `zinc`, which is no attribute"),
        ("iron,1\nCRP,3\n", "the price of `CRP` is another one in the study"),
        ("CRP,2\n", "`iron` needs a price"),
        ("iron,2,blood\n", "its panel `blood` costs 2 here and 1 at `LDH`"),
    ] {
        let (status, said) = join(prices);
        assert!(status == Some(2) && said.contains(wanted), "{prices}: {said}");
    }
    assert_eq!(join("iron,1,blood\nCRP,2\n").0, Some(0));
}

#[test]
fn every_verb_prints_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("panel.txt"), NAMES.join("\n")).unwrap();
    let begun = json(at, "new", &["-t", "response", "-a", "panel.txt", "-b", "2"]);
    assert_eq!((&begun["study"], &begun["description"]["target"]), (&"s".into(), &"response".into()));
    ask(at, "3");
    let void = json(at, "void", &["2", "--reason", "sample lost"]);
    assert_eq!(void, serde_json::json!({ "format": 1, "void": [2], "waiting": [] }));
    let model = json(at, "model", &["-o", "s.lao.json"]);
    let written: Value = serde_json::from_slice(&fs::read(at.join("s.lao.json")).unwrap()).unwrap();
    assert_eq!((&model, &model["spent"]["void"]), (&written, &1.into()));
    assert_eq!((&model["origin"]["journal"]["lines"], &model["origin"]["sha256"]), (&2.into(), &Value::Null));
    for verb in ["status", "evidence", "verify", "open"] {
        assert_eq!(json(at, verb, &[])["format"], 1, "{verb}");
    }
    let inspect = |rest: &[&str]| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("lao"));
        let output = command.current_dir(at).args(["inspect", "s.lao.json"]).args(rest).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let chain = model["origin"]["journal"]["chain"].as_str().unwrap();
    let text = inspect(&[]);
    assert!(text.contains(&format!("journal line 2, chain {}", &chain[..12])), "{text}");
    inspect(&["--card", "card.md"]);
    let card = fs::read_to_string(at.join("card.md")).unwrap();
    let said = [
        format!("journal of the study: 2 lines; the last one's chain is {chain}"),
        "1 closed without a result".into(),
    ];
    assert!(said.iter().all(|part| card.contains(part)) && !card.contains("SHA-256"), "{card}");
}

#[test]
fn a_study_that_cannot_be_used_as_it_is_has_a_status_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    ask(at, "2");
    assert_eq!(session(at, "void", &["1"]).0, 0);
    let (text, description) = (journal(at), fs::read_to_string(at.join("s/study.json")).unwrap());
    fs::write(at.join("s/journal.jsonl"), text.replacen("\"slots\":2", "\"slots\":3", 1)).unwrap();
    let (status, _, said) = session(at, "status", &[]);
    let damaged =
        "line 1: this line was changed, or lines before it are missing; restore the folder from a backup";
    assert!(status == 3 && said.contains(damaged), "{status} {said}");
    fs::write(at.join("s/journal.jsonl"), text).unwrap();
    fs::write(at.join("s/study.json"), description.replace("\"format\": 1", "\"format\": 9")).unwrap();
    let (status, _, said) = session(at, "status", &[]);
    assert!(status == 3 && said.contains("format 9"), "{status} {said}");
    fs::write(at.join("s/study.json"), description).unwrap();
    assert_eq!(session(at, "status", &[]).0, 0);
    let (status, _, said) = session(at, "void", &["1"]);
    assert!(
        status == 2 && said.contains("slot 1 is told with its label already, or closed"),
        "{status} {said}"
    );
    fs::remove_dir_all(at.join("s")).unwrap();
    assert_eq!(session(at, "status", &[]).0, 2, "there is no study");
}

/// What is measured of a slot.
fn measured(slot: u64) -> ([f64; 2], f64) {
    ([slot as f64 / 8.0, (slot % 5) as f64], (slot % 7) as f64)
}

/// What comes next in a study in which everything follows from the open slots: four slots are handed out,
/// three of four are told together, and what is left is told one by one.
enum Next {
    Ask,
    TellAll,
    Tell,
}

fn next(open: usize) -> Next {
    match open {
        0 => Next::Ask,
        4.. => Next::TellAll,
        _ => Next::Tell,
    }
}

/// Begins the command that comes next.
fn begin_next(folder: &Path, open: &[Slot]) -> Child {
    let pairs = |slot: &Slot| {
        let (values, label) = measured(slot.number);
        let pairs = slot.attributes.iter().zip(values).map(|(name, x)| format!("{name}={x}"));
        pairs.chain([format!("response={label}")]).collect::<Vec<_>>()
    };
    let mut command = match next(open.len()) {
        Next::Ask => command(folder, "ask", &["-n", "4"]),
        Next::TellAll => {
            let mut text = format!("slot,{},response\n", open[0].attributes.join(","));
            for slot in &open[..3] {
                let ([one, two], label) = measured(slot.number);
                text += &format!("{},{one},{two},{label}\n", slot.number);
            }
            fs::write(folder.join("rows.csv"), text).unwrap();
            command(folder, "tell", &["--from", "rows.csv"])
        }
        Next::Tell => {
            let mut command = command(folder, "tell", &[&open[0].number.to_string()]);
            command.args(pairs(&open[0]));
            command
        }
    };
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Does what comes next without a process.
fn do_next(study: &mut Study) {
    let row = |slot: &Slot| {
        let (values, label) = measured(slot.number);
        Row { slot: slot.number, values: values.to_vec(), label: Some(label) }
    };
    let open = study.open_slots();
    match next(open.len()) {
        Next::Ask => drop(study.ask(4).unwrap()),
        Next::TellAll => study.tell_all(&open[..3].iter().map(row).collect::<Vec<_>>()).unwrap(),
        Next::Tell => {
            let Row { slot, values, label } = row(&open[0]);
            study.tell(slot, &values, label).unwrap();
        }
    }
}

#[test]
fn what_a_command_acknowledged_survives_kills_and_no_bit_changes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    begin(at);
    // Kills come at all times from none to one and a half of what the last command took that was left alone,
    // which is one of twenty.
    let mut time = Duration::ZERO;
    let mut acknowledged = 0;
    for round in 0..80u32 {
        let study = open(at);
        let (slots, before) = (study.open_slots(), study.verify().unwrap());
        drop(study);
        let begun = Instant::now();
        let mut child = begin_next(at, &slots);
        let left_alone = round % 20 == 0;
        if !left_alone {
            std::thread::sleep(time * (round % 20) / 13);
            // The command may be over already.
            let _ = child.kill();
        }
        let said = !child.wait_with_output().unwrap().stdout.is_empty();
        if left_alone {
            assert!(said, "a command that was left alone said nothing");
            time = begun.elapsed();
        }
        let study = open(at);
        let after = study.verify().unwrap();
        assert!(after == before || after == before + 1, "{before} lines became {after}");
        assert!(!said || after == before + 1, "what was acknowledged is lost");
        acknowledged += u32::from(said);
        assert_eq!(study.status().bought, 2 * study.status().slots);
    }
    assert!(acknowledged >= 4);
    let study = open(at);
    let calm_folder = at.join("calm");
    let names = NAMES.map(str::to_owned).to_vec();
    let id = study.description().id.clone();
    let described = Description { id, ..Description::new("response", names, 2) };
    let mut calm = Study::create(&calm_folder, described).unwrap();
    (0..study.verify().unwrap()).for_each(|_| do_next(&mut calm));
    assert_eq!(fs::read_to_string(calm_folder.join("journal.jsonl")).unwrap(), journal(at));
    assert_eq!((study.status(), study.evidence()), (calm.status(), calm.evidence()));
}
