//! Tables as people write them, and files of theirs: each test is the case of a report, and varies it.

use crate::command::lao;
use std::fs;
use std::path::Path;

/// Writes a table of 200 rows whose `effect` is `3 dose` and noise; `change` spells a dose.
fn doses(at: &Path, name: &str, change: impl Fn(usize, String) -> String) {
    let mut text = String::from("dose,age,effect\n");
    for i in 0..200 {
        let (dose, age) = ((i * 37 % 101) as f64 / 10.0, i * 53 % 60 + 20);
        let noise = ((i * 29 % 17) as f64 - 8.0) / 8.0;
        text += &format!("{},{age},{}\n", change(i, dose.to_string()), 3.0 * dose + noise);
    }
    fs::write(at.join(name), text).unwrap();
}

/// Learns from the table; returns what was printed, and what was said.
fn fit(at: &Path, table: &str, more: &[&str]) -> (String, String) {
    let fit = ["fit", table, "-t", "effect", "-b", "2", "-o", "m.json", "--force"];
    let (status, printed, said) = lao(at, &[&fit[..], more].concat());
    assert!(status < 2, "{said}");
    (printed, said)
}

/// Returns the share of the variance that the model explains, as it was printed.
fn r2(printed: &str) -> f64 {
    let after = printed.split("R2 ").nth(1).unwrap_or_else(|| panic!("{printed}"));
    after.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_column_with_a_few_odd_cells_stays_a_column_of_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for odd in ["25*", "<10", ".", "-", "n/a", "#N/A", "<NA>", "\\N", "\"1,025\"", "25 mg", "unknown"] {
        doses(at, "t.csv", |i, dose| if i % 67 == 7 { odd.into() } else { dose });
        let (printed, said) = fit(at, "t.csv", &[]);
        assert!(r2(&printed) > 0.95, "{odd}: {printed}");
        let shown = odd.trim_matches('"');
        let note = format!(
            "`dose`: 3 of 200 fields are no numbers and count as missing, the first `{shown}` in line 9"
        );
        assert!(said.contains(&note) && said.contains("--words dose"), "{said}");
        let (_, text, _) = lao(at, &["data", "t.csv"]);
        let line = text.lines().find(|line| line.starts_with("dose")).unwrap();
        assert!(line.contains("numbers") && line.contains("  3  "), "{line}");
        let (status, predicted, said) = lao(at, &["predict", "m.json", "t.csv"]);
        assert!(status == 0 && predicted.lines().count() == 201 && said.contains(shown), "{said}");
        let (_, text, _) = lao(at, &["data", "t.csv", "--words", "dose"]);
        assert!(text.lines().any(|line| line.starts_with("dose") && line.contains("words")), "{text}");
    }
    // A minus of typographers and blanks that break no line are read.
    for (minus, after) in [("\u{2212}", ""), ("-", "\u{a0}"), ("-", "\u{202f}")] {
        doses(at, "t.csv", |i, dose| if i % 67 == 7 { format!("{minus}{dose}{after}") } else { dose });
        let (_, said) = fit(at, "t.csv", &[]);
        assert!(!said.contains("missing"), "{said}");
    }
}

#[test]
fn numbers_that_stand_for_missing_ones_are_suspected_and_marks_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    doses(at, "t.csv", |i, dose| if i % 30 == 3 { "-999".into() } else { dose });
    let (_, said) = fit(at, "t.csv", &[]);
    assert!(
        said.contains("`dose`: -999 is far from all other values") && said.contains("--na dose=-999"),
        "{said}"
    );
    let (printed, said) = fit(at, "t.csv", &["--na", "dose=-999"]);
    assert!(r2(&printed) > 0.6 && !said.contains("far from"), "{printed} {said}");
    let (_, said) = fit(at, "t.csv", &["--na", "-998"]);
    assert!(said.contains("--na -998: the table has no such field"), "{said}");

    let mut text = String::from("alcohol,effect\n");
    (0..300)
        .for_each(|i| text += &format!("{},{}\n", ["None", "High", "Some"][i % 3], [1, 9, 5][i % 3] + i % 2));
    fs::write(at.join("words.csv"), text).unwrap();
    let (_, said) = fit(at, "words.csv", &[]);
    assert!(said.contains("`alcohol`: `None` counts as missing, 100 times (--na-only"), "{said}");
    let (printed, said) = fit(at, "words.csv", &["--na-only"]);
    assert!(printed.contains("alcohol=None") && !said.contains("counts as missing"), "{printed} {said}");
    // The model remembers it.
    let (_, predicted, said) = lao(at, &["predict", "m.json", "words.csv"]);
    assert!(!said.contains("lack a value"), "{said} {predicted}");
    let (_, again, _) = lao(at, &["fit", "words.csv", "--like", "m.json", "-o", "n.json", "-q"]);
    assert!(again.contains("alcohol=None"), "{again}");
}

#[test]
fn encodings_are_decoded_or_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "food,size,effect\n".to_owned()
        + &(0..120)
            .map(|i| format!("{},{i},{}\n", ["Käse", "Köse", "Brot"][i % 3], i % 3))
            .collect::<String>();
    let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    fs::write(at.join("latin.csv"), latin).unwrap();
    let (status, _, said) = lao(at, &["data", "latin.csv"]);
    assert!(status == 2 && said.contains("latin.csv, line 2: byte 0xe4 is no UTF-8"), "{said}");
    let (_, shown, _) = lao(at, &["data", "latin.csv", "--encoding", "latin1"]);
    assert!(shown.contains("3: Brot, Käse, Köse"), "{shown}");
    let wide: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fs::write(at.join("wide.csv"), wide).unwrap();
    assert!(lao(at, &["data", "wide.csv"]).1.contains("3: Brot, Käse, Köse"));
    let (status, _, said) = lao(at, &["data", "latin.csv", "--encoding", "latin-17"]);
    assert!(status == 2 && said.contains("windows-1252"), "{said}");
    // The model has the encoding.
    fit(at, "latin.csv", &["--encoding", "latin1"]);
    assert_eq!(lao(at, &["predict", "m.json", "latin.csv"]).0, 0);
}

#[test]
fn headers_names_and_layouts_of_other_programs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let show = |name: &str, text: &str, more: &[&str]| {
        fs::write(at.join(name), text).unwrap();
        let (status, shown, said) = lao(at, &[&["data", name][..], more].concat());
        assert_eq!(status, 0, "{said}");
        let names: Vec<String> =
            shown.lines().skip(1).map(|line| line.split("  ").next().unwrap().to_owned()).collect();
        (names.join("|"), said)
    };
    let rows = "1,2.5\n2,3.5\n4,1.5\n";
    let (names, said) = show("years.csv", &format!("2019,2020\n{rows}"), &[]);
    assert!(names == "c1|c2" && said.contains("--header yes takes it as names"), "{names} {said}");
    assert_eq!(show("years.csv", &format!("2019,2020\n{rows}"), &["--header", "yes"]).0, "2019|2020");
    assert_eq!(show("none.csv", rows, &["--names", "dose,effect"]).0, "dose|effect");
    let (names, said) = show("twice.csv", &format!("a,a\n{rows}"), &[]);
    assert!(names == "a|a_2" && said.contains("both called `a`"), "{names} {said}");
    let (names, said) = show("r.csv", "dose effect\n\"1\" 2 3\n\"2\" 5 6\n", &["--separator", " "]);
    assert!(names == "c1|dose|effect" && said.contains("names of the rows"), "{names} {said}");
    assert_eq!(show("sep.csv", "sep=;\na;b\n1;2,5\n", &[]).0, "a|b");
    assert_eq!(show("bar.csv", "a|b\n1|2\n3|4\n", &[]).0, "a|b");
    assert_eq!(show("comment.csv", "# from the ward\na,b\n1,2\n3,4\n", &[]).0, "a|b");
    // The first line has as many commas as semicolons; the others tell.
    let (names, said) = show("de.csv", "CRP mg/l;Hb, g/dl\n4,1;12,3\n8,2;11\n", &[]);
    assert!(names == "CRP mg/l|Hb, g/dl" && said.contains("separated by `;`"), "{names} {said}");
    let (names, said) = show("tab.tsv", "a\tb\n4,1\t2\n5,2\t3\n6,1\t4\n", &["--decimal", ","]);
    assert!(names == "a|b" && !said.contains("no numbers"), "{names} {said}");
    let arff =
        "% all\n@relation heart\n@attribute 'chest pain' {a,b}\n@attribute age real\n@data\na,61\n'b',?\n";
    let (names, said) = show("heart.arff", arff, &[]);
    assert!(names == "chest pain|age" && said.contains("ARFF"), "{names} {said}");
    // Quotes of either kind, escapes, blanks before fields, and a note less: `?` is the mark of ARFF.
    let arff =
        "@relation r\n@attribute says {a}\n@attribute n real\n@data\n'it\\'s, \"so\"', 1\n \"it's\",2\n?,3\n";
    let (names, said) = show("escapes.arff", arff, &[]);
    assert!(names == "says|n" && !said.contains("counts as missing"), "{names} {said}");
    let shown = lao(at, &["data", "escapes.arff"]).1;
    assert!(shown.contains("2: it's, it's, \"so\""), "{shown}");
    fs::write(at.join("sparse.arff"), "@relation r\n@attribute a real\n@data\n{0 1}\n").unwrap();
    let (status, _, said) = lao(at, &["data", "sparse.arff"]);
    assert!(status == 2 && said.contains("sparse.arff, line 4: this is sparse ARFF"), "{said}");
    // Names that are numbers, under a corner without a name, as R and pandas write them.
    for (text, wanted) in [
        ("\"\",\"1940\",\"1945\"\n\"Food\",22.2,44.5\n\"Health\",3.53,5.76\n", "c1|1940|1945"),
        (",0,1\n0,2.5,3\n1,4.5,5\n", "c1|0|1"),
        (",1.5,2.5\n3,1,2\n4,2,3\n", "c1|c2|c3"),
    ] {
        let (names, said) = show("corner.csv", text, &[]);
        assert!(names == wanted && said.contains("--header"), "{names} {said}");
    }
    // A row of numbers and a class, as in files without names, looks like names.
    let flowers = "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n";
    let (names, said) = show("iris.data", flowers, &[]);
    assert!(names.starts_with("5.1") && said.contains("though `5.1` is a number (--header no"), "{said}");
    let (names, said) = show("iris.data", flowers, &["--header", "no"]);
    assert!(names == "c1|c2|c3" && !said.contains("taken as names"), "{said}");
    // A mark is noted once, however many columns have it.
    let marked: String =
        (0..9).map(|i| format!("{},{},x{}\n", ["?", "a"][i % 2], ["b", "?"][i % 2], i % 3)).collect();
    let (_, said) = show("marks.csv", &format!("p,q,r\n{marked}"), &[]);
    assert!(
        said.contains("`p`, `q`: `?` counts as missing, 9 times") && said.matches("counts as").count() == 1,
        "{said}"
    );
    let counted = (0..20).map(|i| format!("{i},{}\n", i * 7 % 13)).collect::<String>();
    let (_, said) = show("index.csv", &format!(",dose\n{counted}"), &[]);
    assert!(said.contains("`c1` counts the rows: --drop c1"), "{said}");
    // An empty line of a table of one column is a row.
    doses(at, "t.csv", |_, dose| dose);
    fit(at, "t.csv", &[]);
    fs::write(at.join("one.csv"), "dose\n1.0\n\n3.0\n4.0\n").unwrap();
    assert_eq!(lao(at, &["predict", "m.json", "one.csv"]).1.lines().count(), 5);
    let (status, _, said) = lao(at, &["fit", "t.csv", "-t", "Effect", "-b", "1", "-o", "x.json"]);
    assert!(
        status == 2 && said.contains("did you mean `effect`?") && said.contains("dose, age, effect"),
        "{said}"
    );
    fs::write(at.join("caps.csv"), "Dose,age\n1,2\n").unwrap();
    let (status, _, said) = lao(at, &["predict", "m.json", "caps.csv"]);
    assert!(status == 2 && said.contains("did you mean `Dose`?") && said.contains("Dose, age"), "{said}");
}

#[test]
fn several_classes_are_noted_and_one_of_them_can_be_learned() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = |spelled: [&str; 3]| {
        let row = |i: usize| format!("{},{},{}\n", i * 7 % 30 + 30 * (i % 3), i * 11 % 17, spelled[i % 3]);
        fs::write(at.join("t.csv"), "a,b,effect\n".to_owned() + &(0..300).map(row).collect::<String>())
            .unwrap();
    };
    table(["0", "1", "2"]);
    let (_, said) = fit(at, "t.csv", &[]);
    assert!(
        said.contains("3 values: `0` (100 rows), `1` (100 rows), `2` (100 rows); --positive VALUE"),
        "{said}"
    );
    let (printed, said) = fit(at, "t.csv", &["--positive", "2"]);
    assert!(printed.contains("% correct (the larger class alone:") && printed.contains("AUC"), "{printed}");
    assert!(
        !printed.contains("R2") && said.contains("`2` is learned against 2 other classes"),
        "{printed} {said}"
    );
    let (status, printed, _) = lao(at, &["score", "m.json", "t.csv"]);
    assert!(status == 0 && printed.starts_with("on 300 rows: ") && printed.contains("log loss"), "{printed}");
    table(["setosa", "versicolor", "virginica"]);
    let (status, _, said) = lao(at, &["fit", "t.csv", "-t", "effect", "-b", "2", "-o", "x.json"]);
    assert!(
        status == 2 && said.contains("`setosa` (100 rows)") && said.contains("--positive CLASS"),
        "{said}"
    );
    fit(at, "t.csv", &["--positive", "setosa"]);
}

#[test]
fn nothing_of_the_users_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    doses(at, "t.csv", |_, dose| dose);
    fit(at, "t.csv", &[]);
    fs::write(at.join("notes.txt"), "mine").unwrap();
    let before = ["t.csv", "m.json", "notes.txt"].map(|name| fs::read(at.join(name)).unwrap());
    for (arguments, part) in [
        (&["predict", "m.json", "t.csv", "-o", "t.csv"][..], "would be replaced"),
        (&["predict", "m.json", "t.csv", "-o", "./m.json", "--force"], "would be replaced"),
        (&["fit", "t.csv", "-t", "effect", "-b", "2", "-o", "t.csv", "--force"], "would be replaced"),
        (&["fit", "t.csv", "-t", "effect", "-b", "2", "-o", "notes.txt"], "was not written by lao"),
        (&["export", "m.json", "--to", "sql", "-o", "notes.txt"], "--force"),
        (&["inspect", "m.json", "--html", "notes.txt"], "--force"),
    ] {
        let (status, printed, said) = lao(at, arguments);
        assert!(status == 2 && printed.is_empty() && said.contains(part), "{arguments:?}: {said}");
    }
    let after = ["t.csv", "m.json", "notes.txt"].map(|name| fs::read(at.join(name)).unwrap());
    assert!(before == after);
    // What lao wrote is replaced, in all its forms; `-` is standard output.
    for form in ["sql", "python", "csv", "onnx"] {
        for _ in 0..2 {
            let (status, _, said) = lao(at, &["export", "m.json", "--to", form, "-o", "exported"]);
            assert_eq!(status, 0, "{form}: {said}");
        }
        fs::remove_file(at.join("exported")).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(lao(at, &["inspect", "m.json", "--html", "m.html", "--card", "m.md"]).0, 0);
        assert_eq!(lao(at, &["predict", "m.json", "t.csv", "-o", "p.csv"]).0, 0);
        assert_eq!(lao(at, &["predict", "m.json", "t.csv", "--json", "-o", "p.json"]).0, 0);
    }
    let (_, printed, _) = lao(at, &["predict", "m.json", "t.csv", "-o", "-"]);
    assert!(printed.starts_with("predicted effect\n") && !at.join("-").exists());
    let (_, printed, _) = lao(at, &["fit", "t.csv", "-t", "effect", "-b", "2", "-o", "-", "-q"]);
    assert!(serde_json::from_str::<serde_json::Value>(&printed).is_ok(), "{printed}");
    assert_eq!(lao(at, &["export", "m.json", "--to", "sql", "-o", "notes.txt", "--force"]).0, 0);
}

#[test]
fn gaps_cost_their_own_values_and_columns_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let row = |i: usize| {
        let x = |k: usize| ((i * k % 101) as f64 - 50.0) / 25.0;
        let rare = if i.is_multiple_of(100) { x(53).to_string() } else { String::new() };
        format!("p{i:03},{},{},{rare},{},{}\n", x(37), x(29), x(59), x(37) + x(29) / 2.0 + x(71) / 8.0)
    };
    let text = "patient,a,b,rare,c,effect\n".to_owned() + &(0..2000).map(row).collect::<String>();
    fs::write(at.join("t.csv"), text).unwrap();
    let learn = ["fit", "t.csv", "-t", "effect", "-b", "4", "-o", "m.json", "--drop", "patient"];
    let (_, printed, _) = lao(at, &learn);
    assert!(printed.contains("* a") && printed.contains("* b") && r2(&printed) > 0.9, "{printed}");
    assert!(printed.contains("of 1800 examples") && printed.contains("of them were missing"), "{printed}");
    let (_, _, said) = lao(at, &[&learn[..], &["--method", "hybrid"]].concat());
    assert!(
        said.contains("examples were skipped") && said.contains("`rare`") && said.contains("pursuit"),
        "{said}"
    );
    lao(at, &learn);
    let (_, kept, _) = lao(at, &["predict", "m.json", "t.csv", "--keep", "patient", "--keep", "a"]);
    let second: Vec<&str> = kept.lines().nth(2).unwrap().split(',').collect();
    assert_eq!(kept.lines().next().unwrap(), "predicted effect,patient,a");
    assert_eq!((second.len(), second[1], second[2]), (3, "p001", "-0.52"));
    let (_, json, _) = lao(at, &["score", "m.json", "t.csv", "--json"]);
    let score: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(score["score"]["examples"], 2000);
}

#[test]
fn what_a_file_says_is_text_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let hostile = [
        "\u{1b}]0;owned\u{7}",
        "\u{1b}[2J",
        "\u{9b}1m",
        "\u{202e}evil",
        "<script>alert(1)</script>",
        "'; DROP TABLE t; --",
        "*/ SELECT 1 /*",
        "\"\"\" + __import__('os').system('false') + \"\"\"",
        "=1+1",
        "`x`",
    ];
    let names: Vec<String> =
        hostile.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let row = |i: usize| {
        let x = |k: usize| (i * k % 53).to_string();
        let values: Vec<String> = (0..hostile.len()).map(|k| x(2 * k + 31)).collect();
        let sum: usize = values.iter().map(|x| x.parse::<usize>().unwrap()).sum();
        format!("{},{sum}\n", values.join(","))
    };
    let text = format!("{},y\n", names.join(",")) + &(0..400).map(row).collect::<String>();
    fs::write(at.join("t.csv"), text).unwrap();
    let plain = |what: &str, text: &str| {
        let control = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
        assert!(control.is_none() && !text.contains('\u{202e}'), "{what}: {control:?} in {text}");
    };
    for arguments in [
        &["data", "t.csv"][..],
        &["fit", "t.csv", "-t", "y", "-b", "10", "-o", "m.json"],
        &["inspect", "m.json"],
        &["fit", "t.csv", "-t", "z", "-b", "10", "-o", "n.json"],
        &["predict", "m.json", "m.json"],
        &["export", "m.json", "--to", "sql"],
        &["export", "m.json", "--to", "python"],
    ] {
        let (_, printed, said) = lao(at, arguments);
        plain("said", &said);
        if arguments[0] != "export" || arguments[3] == "python" {
            plain("printed", &printed);
        }
    }
    assert_eq!(lao(at, &["inspect", "m.json", "--html", "m.html", "--card", "m.md"]).0, 0);
    for name in ["m.html", "m.md"] {
        let page = fs::read_to_string(at.join(name)).unwrap();
        assert!(!page.contains("<script>alert"), "{name}");
    }
    let model = fs::read_to_string(at.join("m.json")).unwrap();
    let forged = model.replace(
        &format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")),
        "\"version\": \"9\\\"\\\"\\\"\\nimport os\"",
    );
    assert_ne!(model, forged);
    fs::write(at.join("forged.json"), forged).unwrap();
    let (status, printed, said) = lao(at, &["export", "forged.json", "--to", "python"]);
    assert!(status == 2 && printed.is_empty() && said.contains("is no version"), "{said}");
    // A name of a million letters is cut where it is shown.
    let long = "x".repeat(1_000_000);
    fs::write(at.join("long.csv"), format!("{long},y\n") + &"1,2\n2,4\n3,7\n4,8\n".repeat(40)).unwrap();
    let (status, printed, said) = lao(at, &["fit", "long.csv", "-t", "y", "-b", "1", "-o", "long.json"]);
    assert!(status == 0 && printed.contains('…') && printed.len() + said.len() < 10_000, "{status} {said}");
    assert_eq!(lao(at, &["inspect", "long.json"]).0, 0);
}

#[test]
fn a_model_of_many_coefficients_is_loaded_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    doses(at, "t.csv", |_, dose| dose);
    fit(at, "t.csv", &[]);
    let mut model: serde_json::Value = serde_json::from_slice(&fs::read(at.join("m.json")).unwrap()).unwrap();
    let one = model["coefficients"][0].clone();
    let mut took = Vec::new();
    for count in [10_000, 80_000] {
        let of = |i: usize| {
            let mut one = one.clone();
            one["column"] = format!("c{i}").into();
            one
        };
        model["coefficients"] = (0..count).map(of).collect::<Vec<_>>().into();
        fs::write(at.join("wide.json"), model.to_string()).unwrap();
        let begin = std::time::Instant::now();
        assert_eq!(lao(at, &["export", "wide.json", "--to", "csv", "-o", "-"]).0, 0);
        took.push(begin.elapsed().as_secs_f64());
    }
    // Eight times as many: a square would take sixty-four times as long.
    assert!(took[1] < 25.0 * took[0].max(0.05), "{took:?}");
}

#[test]
fn magnitudes_are_learned_from_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for exponent in [-200, -155, -140, -80, 0, 60, 68, 80, 200] {
        let scale = 10f64.powi(exponent);
        doses(at, "t.csv", |_, dose| format!("{:e}", scale * dose.parse::<f64>().unwrap()));
        let (status, printed, said) = lao(at, &["fit", "t.csv", "-t", "effect", "-b", "2", "-o", "m.json"]);
        if (-149..69).contains(&exponent) {
            assert!(status == 0 && r2(&printed) > 0.95, "{exponent}: {printed} {said}");
        } else {
            assert!(
                status == 1 && said.contains("`dose` is left out: its values lie from"),
                "{exponent}: {said}"
            );
        }
    }
}
