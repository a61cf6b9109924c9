//! The rules that every text file of the repository keeps. Each test names the file and the line of a
//! violation.

use lao_tidy::{Text, WIDTH, cannot_be_wrapped, root, texts};

/// Fails if anything was found, and lists what was found.
fn none(found: Vec<String>, remedy: &str) {
    assert!(found.is_empty(), "{remedy}:\n{}", found.join("\n"));
}

#[test]
fn lines_have_at_most_110_columns() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.name != "ERRATA.md") {
        // What a command printed, in the book, is shown as it was printed.
        let mut printed = false;
        for (number, line) in file.lines() {
            if file.is(&["md"]) && line.starts_with("```") {
                printed = line == "```console";
            }
            let columns = line.chars().count();
            if columns > WIDTH && !printed && !cannot_be_wrapped(file, line) {
                found.push(format!("{}:{number}: {columns} columns", file.name));
            }
        }
    }
    none(found, "wrap comments with `cargo tidy --fix`, and strings by hand (rustfmt does the code)");
}

/// Parts of words that only British spelling has.
const BRITISH: [&str; 24] = [
    "analysed",
    "analysing",
    "artefact",
    "behaviour",
    "cancelled",
    "catalogue",
    "centre",
    "colour",
    "favour",
    "judgement",
    "labelled",
    "licence",
    "minimis",
    "modelled",
    "neighbour",
    "normalis",
    "optimis",
    "penalis",
    "programme ",
    "randomis",
    "recognis",
    "regularis",
    "serialis",
    "standardis",
];

/// Names from which seeds descend, with `-` instead of `_`; they keep their spelling.
const NAMES: [&str; 2] = ["theta-star-minimiser", "all-trials(\"minimiser\""];

#[test]
fn spelling_is_american() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.name != "xtask/tidy/tests/tidy.rs") {
        for (number, line) in file.lines() {
            let mut line = line.to_lowercase().replace('_', "-");
            NAMES.iter().for_each(|name| line = line.replace(name, ""));
            let word = BRITISH.iter().find(|word| line.contains(**word));
            found.extend(word.map(|word| format!("{}:{number}: {word}", file.name)));
        }
    }
    none(found, "spell the American way");
}

/// Returns the modules that `tests/unit.rs` of a package compiles, by the beginnings of their paths.
fn in_unit_tests<'a>(texts: &'a [Text], package: &str) -> Vec<&'a str> {
    let unit = texts.iter().find(|file| file.name == format!("{package}tests/unit.rs"));
    let paths = unit
        .into_iter()
        .flat_map(Text::lines)
        .filter_map(|(_, line)| line.strip_prefix("#[path = \"../src/")?.strip_suffix("\"]"));
    paths.map(|path| path.trim_end_matches("mod.rs")).collect()
}

#[test]
fn no_test_lies_where_none_is_run() {
    let texts = texts();
    let mut found = Vec::new();
    for manifest in texts.iter().filter(|file| file.name.ends_with("Cargo.toml")) {
        let package = manifest.name.trim_end_matches("Cargo.toml");
        let library = manifest.text.split("[lib]").nth(1).unwrap_or_default();
        let has = |key: &str| library.split("\n[").next().unwrap_or_default().contains(key);
        let compiled = in_unit_tests(&texts, package);
        let (untested, undocumented) = (has("\ntest = false"), has("doctest = false"));
        for file in texts.iter().filter(|file| file.is(&["rs"])) {
            let Some(path) = file.name.strip_prefix(package).and_then(|path| path.strip_prefix("src/"))
            else {
                continue;
            };
            let has_test = file.lines().any(|(_, line)| line.trim() == "#[test]");
            if untested && has_test && !compiled.iter().any(|module| path.starts_with(module)) {
                found.push(format!("{}: the library has `test = false`", file.name));
            }
            let mut fenced = false;
            for (number, line) in file.lines() {
                let comment = line.trim_start();
                let comment = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
                if let Some(fence) = comment.and_then(|text| text.trim_start().strip_prefix("```")) {
                    fenced = !fenced;
                    if undocumented && fenced && ["", "rust", "no_run", "should_panic"].contains(&fence) {
                        found.push(format!("{}:{number}: the library has `doctest = false`", file.name));
                    }
                }
            }
        }
    }
    none(found, "these tests would never run: remove the setting, or name the module in `tests/unit.rs`");
}

#[test]
fn nothing_is_left_for_later() {
    let marks = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore", concat!("TO", "DO"), concat!("FIX", "ME")];
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.is(&["rs"]) && file.name != "xtask/tidy/tests/tidy.rs") {
        for (number, line) in file.lines() {
            found.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(*mark))
                    .map(|mark| format!("{}:{number}: {mark}", file.name)),
            );
        }
    }
    none(found, "finish it or leave it out");
}

#[test]
fn files_end_with_one_line_end_and_lines_with_no_blank() {
    let mut found = Vec::new();
    for file in texts() {
        if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
            found.push(format!("{}: its end", file.name));
        }
        let blank = |line: &str| line.ends_with([' ', '\t']);
        found.extend(file.lines().filter(|(_, line)| blank(line)).map(|(n, _)| format!("{}:{n}", file.name)));
    }
    none(found, "cut blanks at ends");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.is(&["md"])) {
        let folder = root().join(&file.name).parent().unwrap().to_owned();
        for (number, line) in file.lines() {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next()) {
                let outside = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
                if !outside && !folder.join(target).exists() {
                    found.push(format!("{}:{number}: {target}", file.name));
                }
            }
        }
    }
    none(found, "mend the links");
}

/// A file under `tests/` without a `mod` line would never run.
#[test]
fn every_file_of_tests_is_declared() {
    let all = texts();
    let mains = all.iter().filter(|file| file.name.contains("/tests/") && file.name.ends_with("/main.rs"));
    let (mut found, mut declared) = (Vec::new(), 0);
    for main in mains {
        let folder = main.name.strip_suffix("main.rs").unwrap();
        for file in all.iter().filter(|file| file.is(&["rs"])) {
            let Some(module) = file.name.strip_prefix(folder).and_then(|name| name.strip_suffix(".rs"))
            else {
                continue;
            };
            let line = format!("mod {module};");
            if module != "main" && !module.contains('/') {
                declared += 1;
                let is_there = main.lines().any(|(_, text)| text.trim_start_matches("pub ") == line);
                found.extend((!is_there).then(|| format!("{}: no `{line}` in {}", file.name, main.name)));
            }
        }
    }
    assert!(declared > 50, "only {declared} files were looked at");
    none(found, "declare the file, or remove it");
}

/// The crates in front of the algorithms grow with every option, reader and form of a model.
#[test]
fn files_of_the_front_are_short() {
    const FRONT: [&str; 4] =
        ["crates/lao/src/", "crates/cli/src/", "crates/study/src/", "crates/python/src/"];
    const LONGEST: usize = 550;
    let (mut found, mut looked_at) = (Vec::new(), 0);
    for file in texts().iter().filter(|file| file.is(&["rs"])) {
        if FRONT.iter().any(|folder| file.name.starts_with(folder)) {
            looked_at += 1;
            let lines = file.lines().count();
            found.extend((lines > LONGEST).then(|| format!("{}: {lines} lines", file.name)));
        }
    }
    assert!(looked_at > 50, "only {looked_at} files were looked at");
    none(found, &format!("more than {LONGEST} lines; divide the file where its content divides"));
}

#[test]
fn comments_are_wrapped_and_code_is_not() {
    let long = "word ".repeat(30);
    let file = |name: &str, text: String| lao_tidy::Text { name: name.into(), text };
    let wrapped = file("a.rs", format!("    /// {long}\n    /// end.\n    let x = 1;\n")).wrapped();
    let words = |n: usize| ["word"; 30][..n].join(" ");
    assert_eq!(wrapped, format!("    /// {}\n    /// {} end.\n    let x = 1;\n", words(20), words(10)));
    // A list keeps its marks, a fence its lines, and what follows an empty line is another paragraph.
    let wrapped = file("a.md", format!("- {long}\n  end\n- next\n\n```\n{long}\n```\n")).wrapped();
    assert_eq!(wrapped, format!("- {}\n  {} end\n- next\n\n```\n{long}\n```\n", words(21), words(9)));
    let code = format!("let x = \"{long}\"; // {long}\n");
    assert_eq!(file("a.rs", code.clone()).wrapped(), code);
    let settings = file("a.toml", format!("# {long}\nx = 1\n")).wrapped();
    assert_eq!(settings, format!("# {}\n# {}\nx = 1\n", words(21), words(9)));
}
