//! The command as a user runs it.

use assert_cmd::Command;
use std::path::Path;

fn lao(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
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
fn what_is_wrong_is_said_with_a_remedy_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let data = diabetes();
    let fit = ["fit", &data, "--target", "progression", "--budget", "5"];
    for (arguments, part) in [
        (vec!["fit", "missing.csv", "-t", "y", "-b", "1"], "missing.csv"),
        (vec!["fit", &data, "-t", "progress", "-b", "5"], "did you mean `progression`?"),
        (vec!["fit", &data, "-t", "progression", "-b", "many"], "give a share such as 10%"),
        (vec!["fit", &data, "-b", "5"], "--target"),
        ([&fit[..], &["--method", "hibrid"]].concat(), "did you mean `hybrid`?"),
        ([&fit[..], &["-o", "no/such/folder.json"]].concat(), "no/such/folder.json"),
        (vec!["predict", &data, &data], "is not a model"),
        (vec!["methods", "magic"], "the methods are pursuit"),
        (vec!["plan", "-a", "10", "-b", "11"], "budget"),
    ] {
        let (status, out, said) = lao(at, &arguments);
        assert!(status == 2 && out.is_empty() && said.contains(part), "{arguments:?}: {status} {said}");
    }
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 0, "an error leaves no file");
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
    assert!(status == 0 && help.contains("Examples:") && help.contains("it is never guessed"), "{help}");
}
