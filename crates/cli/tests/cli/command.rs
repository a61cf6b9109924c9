//! The command as a user runs it.

use assert_cmd::Command;
use std::path::Path;

/// Runs the command in a folder; returns its exit status and what it wrote to the two streams.
pub fn lao(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("lao").unwrap().current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn diabetes() -> String {
    format!("{}/../../data/diabetes.csv.gz", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn fit_inspect_and_predict_follow_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (status, model, said) = lao(at, &["fit", &diabetes(), "--target", "progression", "--budget", "50%"]);
    assert_eq!(status, 0, "{said}");
    assert!(
        model.starts_with("progression =\n") && model.contains("* bmi") && model.contains("+-"),
        "{model}"
    );
    assert!(said.contains("442 examples of 10 attributes, at most 5 bought of each"), "{said}");
    let progress = "error held out";
    assert!(!said.contains(progress), "standard error is no terminal: {said}");
    let shown = ["fit", &diabetes(), "--like", "diabetes.lao.json", "--progress", "always"];
    assert!(lao(at, &shown).2.contains(progress));

    let (status, text, _) = lao(at, &["inspect", "diabetes.lao.json"]);
    assert!(status == 0 && text.starts_with(&model) && text.contains("learned by pursuit"), "{text}");
    let (_, json, _) = lao(at, &["inspect", "diabetes.lao.json", "--json"]);
    assert_eq!(json, std::fs::read_to_string(at.join("diabetes.lao.json")).unwrap());

    let (status, predicted, said) = lao(at, &["predict", "diabetes.lao.json", &diabetes()]);
    assert!(status == 0 && said.is_empty(), "{said}");
    assert!(predicted.starts_with("predicted progression\n") && predicted.lines().count() == 443);
    let (status, nothing, _) = lao(at, &["predict", "diabetes.lao.json", &diabetes(), "-o", "out.csv"]);
    assert_eq!((status, nothing.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(at.join("out.csv")).unwrap(), predicted);
}

#[test]
fn like_repeats_all_choices_of_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let data = diabetes();
    let names = ["tc", "ldl", "hdl", "tch", "ltg", "glu"].map(|name| format!("{name},8,blood\n")).concat();
    std::fs::write(at.join("prices.csv"), format!("age,0\nsex,0\nbmi,1\nbp,2\n{names}")).unwrap();
    for choices in [
        &["-b", "5", "--longest", "2", "--seed", "9", "--holdout", "20%"][..],
        &["-b", "6", "--method", "hybrid", "--passes", "3"],
        &["-b", "11", "--prices", "prices.csv", "--predict-budget", "9"],
        &["-b", "4", "--drop", "age", "--drop", "tc", "--always", "sex", "--level", "1%", "--na", "bmi=30"],
        &["-b", "5", "--half-life", "300"],
    ] {
        let fit = ["fit", &data, "-q", "-o"];
        let (status, _, said) = lao(at, &[&fit[..], &["one.json", "-t", "progression"], choices].concat());
        assert_eq!(status, 0, "{said}");
        let (status, _, said) = lao(at, &[&fit[..], &["two.json", "--like", "one.json"]].concat());
        assert_eq!(status, 0, "{said}");
        let [one, two] = ["one.json", "two.json"].map(|name| std::fs::read(at.join(name)).unwrap());
        assert!(one == two, "{choices:?}");
        let (status, _, said) = lao(at, &["fit", &data, "--like", "one.json", "--seed", "3"]);
        assert!(status == 2 && said.contains("--seed"), "{said}");
    }
    let text = std::fs::read_to_string(at.join("one.json")).unwrap();
    std::fs::write(at.join("other.json"), text.replace("progression", "progress")).unwrap();
    let (status, _, said) = lao(at, &["fit", &data, "--like", "other.json"]);
    assert!(status == 2 && said.contains("did you mean `progression`?"), "{said}");
}

#[test]
fn what_is_wrong_is_said_with_a_remedy_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let data = diabetes();
    std::fs::write(at.join("open.csv"), "x,y\n1,2\n\"3,4\n5,6\n7,8\n").unwrap();
    let fit = ["fit", &data, "--target", "progression", "--budget", "5"];
    for (arguments, part) in [
        (vec!["fit", "missing.csv", "-t", "y", "-b", "1"], "missing.csv"),
        (vec!["fit", &data, "-t", "progress", "-b", "5"], "did you mean `progression`?"),
        (vec!["fit", &data, "-t", "progression", "-b", "many"], "or a share of them, such as 10%"),
        (vec!["fit", &data, "-b", "5"], "--target"),
        ([&fit[..], &["--drop", "agee"]].concat(), "did you mean `age`?"),
        ([&fit[..], &["--na", "agee=1"]].concat(), "did you mean `age`?"),
        ([&fit[..], &["--method", "hybrid", "--longest", "11"]].concat(), "--budget: "),
        ([&fit[..], &["--level", "200%"]].concat(), "'200%' for '--level <P%>': give a share"),
        ([&fit[..], &["--half-life", "10"]].concat(), "--half-life: "),
        ([&fit[..], &["--half-life", "100", "--method", "hybrid"]].concat(), "only the method `pursuit`"),
        ([&fit[..], &["--positive", "1"]].concat(), "too many to be classes"),
        ([&fit[..], &["--method", "hibrid"]].concat(), "did you mean `hybrid`?"),
        ([&fit[..], &["-o", "no/such/folder.json"]].concat(), "no/such/folder.json"),
        (vec!["fit", "open.csv", "-t", "y", "-b", "1"], "open.csv, line 3: "),
        (vec!["predict", &data, &data], "is not a model"),
        (vec!["methods", "magic"], "the methods are pursuit"),
        (vec!["plan", "-a", "10", "-b", "11"], "budget"),
    ] {
        let (status, out, said) = lao(at, &arguments);
        assert!(status == 2 && out.is_empty() && said.contains(part), "{arguments:?}: {status} {said}");
    }
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 1, "an error leaves no file");
}

#[test]
fn a_study_has_two_classes_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("panel.txt"), "CRP\nIL6\n").unwrap();
    let new = "session new -S flu --target state --attributes panel.txt --budget 1 --json";
    let with = |more: &str| lao(at, &format!("{new} {more}").split_whitespace().collect::<Vec<_>>());
    let (status, _, said) = with("--positive ill --negative ill");
    assert!(status == 2 && said.contains("give two different classes"), "{said}");
    let (status, _, said) = with("--positive ill");
    assert!(status == 2 && said.contains("--negative"), "{said}");
    let (status, text, said) = with("--positive ill --negative well");
    assert!(status == 0 && text.contains(r#""positive":"ill""#), "{text}{said}");
    let told = lao(at, &["session", "ask", "-S", "flu"]);
    let attribute = told.1.trim().rsplit(' ').next().unwrap().to_owned();
    let tell = ["session", "tell", "-S", "flu", "1", &format!("{attribute}=3"), "state=poor"];
    let (status, _, said) = lao(at, &tell);
    assert!(status == 2 && said.contains("ill") && said.contains("well"), "{said}");
}

#[test]
fn nothing_found_is_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400u32).map(|i| format!("{},{}\n", i * 7 % 101, i * 7919 % 509)).collect();
    std::fs::write(folder.path().join("noise.csv"), format!("a,y\n{rows}")).unwrap();
    let (status, _, said) = lao(folder.path(), &["fit", "noise.csv", "-t", "y", "-b", "1", "-q"]);
    assert!(status == 1 && said.starts_with("nothing was found"), "{status} {said}");
}

#[test]
fn plans_and_methods_are_for_people_and_programs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let plan = ["plan", "-a", "30", "-b", "8", "--sparsity", "2", "--studies", "20"];
    let (status, text, _) = lao(at, &plan);
    assert!(status == 0 && text.contains("50 % of 20 studies"), "{text}");
    let (_, json, _) = lao(at, &[&plan[..], &["--json"]].concat());
    assert!(json.starts_with("{\"format\":1"), "{json}");
    let (_, text, _) = lao(at, &["methods"]);
    assert!(
        text.starts_with("pursuit: ") && text.contains("rda1") && text.contains("not for `lao fit`"),
        "{text}"
    );
    let (status, help, _) = lao(at, &["fit", "--help"]);
    let parts = ["Examples:", "use --drop for identifiers"];
    assert!(status == 0 && parts.iter().all(|part| help.contains(part)), "{help}");
}

/// The slots that `lao study ask --json` hands out: their numbers and attributes.
fn slots(text: &str) -> Vec<(u64, Vec<String>)> {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let names = |slot: &serde_json::Value| {
        let names = slot["attributes"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let slots = value["slots"].as_array().unwrap().iter();
    slots.map(|slot| (slot["slot"].as_u64().unwrap(), names(slot))).collect()
}

#[test]
fn a_live_study_follows_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("panel.txt"), "CRP\nIL6\nLDH\nALT\nAST\n").unwrap();
    let new = ["session", "new", "-S", "t", "--target", "response", "--attributes", "panel.txt", "-b", "2"];
    let (status, text, said) = lao(at, &new);
    assert!(status == 0 && text.contains("5 attributes, at most 2 bought"), "{text}{said}");
    assert_eq!(lao(at, &new).0, 2, "there is a study already");

    let (_, json, _) = lao(at, &["session", "ask", "-S", "t", "-n", "2", "--json"]);
    let slots = slots(&json);
    assert_eq!((slots.len(), slots[0].1.len()), (2, 2));
    let values: Vec<String> = slots[0].1.iter().map(|name| format!("{name}=1.5")).collect();
    let (status, _, said) = lao(at, &["session", "tell", "-S", "t", "1", &values[0]]);
    assert!(status == 2 && said.contains("was asked for and is missing") && said.contains("void"), "{said}");
    let tell = ["session", "tell", "-S", "t", "1", &values[0], &values[1]];
    let (status, text, _) = lao(at, &tell);
    assert!(status == 0 && text.contains("waiting for `response`"), "{text}");
    let (status, text, _) = lao(at, &["session", "label", "-S", "t", "1", "-0.35"]);
    assert!(status == 0 && text == "slot 1: label recorded\n", "{text}");
    assert_eq!(lao(at, &["session", "void", "-S", "t", "2", "--reason", "hemolyzed"]).0, 0);

    let (_, text, _) = lao(at, &["session", "status", "-S", "t"]);
    assert!(text.contains("2 slots handed out, 4 values bought; 1 complete, 0 open"), "{text}");
    let (_, text, _) = lao(at, &["session", "evidence", "-S", "t"]);
    assert!(text.lines().count() == 6 && text.contains("CRP"), "{text}");
    let (_, text, _) = lao(at, &["session", "verify", "-S", "t"]);
    assert!(text.starts_with("4 entries checked: the journal is intact"), "{text}");
    let (status, text, _) = lao(at, &["session", "model", "-S", "t", "-o", "t.lao.json"]);
    assert!(status == 0 && text.contains("bought 4 values of 2 examples"), "{text}");
    assert_eq!(lao(at, &["inspect", "t.lao.json"]).0, 0);
    let (status, _, said) = lao(at, &["session", "ask", "-S", "t", "-n", "50"]);
    let planned =
        "handed out 9 of 50: before more can be planned, report 9 open slots (`lao study open -S t`)";
    assert!(status == 0 && said.contains(planned), "{said}");
    assert_eq!(lao(at, &["session", "ask", "-S", "t"]).0, 1);
    for arguments in [&["inspect", "t"][..], &["export", "t", "--to", "sql"], &["predict", "t", "x.csv"]] {
        let (status, _, said) = lao(at, arguments);
        let parts = ["t is a folder", "lao study evidence -S t", "lao study model -S t -o FILE"];
        assert!(status == 2 && parts.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[test]
fn prices_make_the_budget_money() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let names = ["tc", "ldl", "hdl", "tch", "ltg", "glu"].map(|name| format!("{name},8,blood\n")).concat();
    let text = format!("attribute,price,panel\nage,0\nsex,0\nbmi,1\nbp,2\n{names}");
    std::fs::write(at.join("prices.csv"), &text).unwrap();
    let data = diabetes();
    let fit = ["fit", &data, "-t", "progression", "--prices", "prices.csv", "--budget"];
    let (status, model, said) = lao(at, &[&fit[..], &["11"]].concat());
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("442 examples of 10 attributes, for at most 11 each"), "{said}");
    assert!(model.contains("a prediction costs"), "{model}");
    let (_, text, _) = lao(at, &["inspect", "diabetes.lao.json"]);
    assert!(text.contains("panel") && text.contains("blood"), "{text}");
    let (status, model, said) = lao(at, &[&fit[..], &["11", "--method", "hybrid"]].concat());
    assert!(status == 0 && model.contains("of the budget of 11.00 on one example"), "{model}{said}");
    for (arguments, part) in [
        (&["10%"][..], "with prices, give the money"),
        (&["0.5", "--predict-budget", "x"], "invalid value"),
        (&["11", "--method", "rda2"], "choose one that takes money, such as pursuit"),
        (&["9", "--method", "hybrid"], "leave out attribute"),
    ] {
        let (status, _, said) = lao(at, &[&fit[..], arguments].concat());
        assert!(status == 2 && said.contains(part), "{said}");
    }
    let (status, _, said) = lao(at, &["fit", &data, "-t", "progression", "-b", "5", "--predict-budget", "2"]);
    assert!(status == 2 && said.contains("it needs prices"), "{said}");
}

#[test]
fn a_study_with_prices_says_what_to_buy_and_what_it_costs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("panel.txt"), "age\nhdl\nldl\nscan\n").unwrap();
    std::fs::write(at.join("prices.csv"), "age,0\nhdl,8,blood\nldl,8,blood\nscan,7\n").unwrap();
    let new = ["session", "new", "-S", "s", "-t", "y", "-a", "panel.txt", "--prices", "prices.csv", "-b"];
    let (status, text, said) = lao(at, &[&new[..], &["14"]].concat());
    assert!(status == 0 && text.contains("4 attributes in 3 panels, for at most 14 each"), "{text}{said}");
    let plan = ["plan", "--prices", "prices.csv", "-b", "14", "--sparsity", "2", "--studies", "5"];
    let (status, plan, said) = lao(at, &plan);
    assert!(status == 0 && plan.contains("4 attributes, at most 14 spent on each example"), "{plan}{said}");
    assert!(plan.contains("of money"), "{plan}");
    let (_, text, _) = lao(at, &["session", "ask", "-S", "s"]);
    assert!(text.contains("age") && text.contains("(buy ") && text.contains(" for "), "{text}");
    let (_, text, _) = lao(at, &["session", "ask", "-S", "s", "--json"]);
    assert!(text.contains("\"cost\":") && text.contains("\"panels\":"), "{text}");
    let (_, text, _) = lao(at, &["session", "status", "-S", "s", "--json"]);
    assert!(text.contains("\"spent\":"), "{text}");
    let (status, _, said) = lao(at, &[&new[..3], &["u"], &new[4..], &["much"]].concat());
    assert!(status == 2 && said.contains("the money for an example"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_learned() {
    use std::io::{BufRead as _, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("lao"))
        .current_dir(at)
        .args(["fit", &diabetes(), "-t", "progression", "-b", "5", "--passes", "100000000"])
        .args(["--progress", "always"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    // Learning is under way when the third line of progress is there.
    said.by_ref().take(5).for_each(|line| assert!(line.is_ok()));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.last().unwrap().starts_with("interrupted: this is what was learned from"), "{rest:?}");
    assert_eq!(lao(at, &["inspect", "diabetes.lao.json"]).0, 0);
}
