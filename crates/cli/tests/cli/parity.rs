//! Every option of a fit is one of the command, and of its live studies.

use assert_cmd::Command;
use lao::OPTIONS;

/// Returns the options that the help of a command lists.
fn listed(words: &[&str]) -> Vec<String> {
    let output = Command::cargo_bin("lao").unwrap().args(words).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_start().split_once("--"));
    lines.filter_map(|(_, rest)| rest.split([' ', ',', '=']).next()).map(str::to_owned).collect()
}

#[test]
fn the_command_has_every_option_of_a_fit() {
    let [fit, study] = [listed(&["fit"]), listed(&["study", "new"])];
    for name in ["budget", "prices"] {
        assert!([&fit, &study].iter().all(|all| all.iter().any(|other| other == name)), "--{name}");
    }
    for option in OPTIONS {
        assert!(fit.iter().any(|name| name == option.name), "`lao fit` lacks --{}: {fit:?}", option.name);
        let is_there = study.iter().any(|name| name == option.name);
        assert_eq!(is_there, option.not_in_studies.is_none(), "`lao study new` and --{}", option.name);
    }
}
