//! Tests that every claim must pass, whatever its subject.

use lao_verification::claim::{Claim, Expected};
use lao_verification::plan::{Plan, RunTier};
use lao_verification::report::formula;
use lao_verification::{errata, papers};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Collects the source files of claims, which are those with a `pub const` of type `Claim`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if std::fs::read_to_string(&path).unwrap().contains(": Claim = Claim {") {
            found.push(path);
        }
    }
}

/// Returns the text of all sources in a folder and its subfolders.
fn sources(folder: &Path) -> String {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .map(|path| if path.is_dir() { sources(&path) } else { std::fs::read_to_string(&path).unwrap() })
        .collect()
}

/// Returns the folder with the sources of a paper's claims.
fn folder(paper: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("claims").join(paper).join("src")
}

/// Returns every paper with claims, in the order of the registry.
fn papers() -> Vec<&'static str> {
    let mut papers: Vec<&str> = papers::all().map(Claim::paper).collect();
    papers.dedup();
    papers
}

/// Returns every file of a claim with its paper.
fn all_files() -> Vec<(&'static str, PathBuf)> {
    let of = |paper| {
        let mut found = Vec::new();
        files(&folder(paper), &mut found);
        found.into_iter().map(move |file| (paper, file))
    };
    papers().into_iter().flat_map(of).collect()
}

#[test]
fn every_crate_of_claims_is_registered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("claims");
    let crates = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
    let crates: BTreeSet<String> = crates.map(|entry| entry.file_name().into_string().unwrap()).collect();
    // The claims about the suite itself are of no paper.
    let registered = papers::PAPERS.iter().map(|paper| paper.name).chain(["engine"]);
    assert_eq!(crates, registered.map(String::from).collect());
    for paper in papers::PAPERS {
        assert!(paper.claims.iter().all(|claim| claim.paper() == paper.name), "{}", paper.name);
    }
}

#[test]
fn ids_are_unique_and_start_with_their_paper() {
    let ids: Vec<&str> = papers::all().map(|claim| claim.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is used twice: {ids:?}");
    for id in ids {
        let plain = id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(plain && id.contains('-'), "{id}: write <paper>-<name> in small letters, digits and hyphens");
    }
}

#[test]
fn every_file_of_a_claim_is_registered_and_named_after_it() {
    for (paper, file) in all_files() {
        let name = file.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        let text = std::fs::read_to_string(&file).unwrap();
        // A file may hold a statement in its printed and corrected forms, whose ids both begin with the
        // file's name.
        let ids = papers::all().filter(|claim| text.contains(&format!("id: \"{}\"", claim.id)));
        let ids: Vec<&str> = ids.map(|claim| claim.id).collect();
        assert!(!ids.is_empty(), "{}: its claim is not in the registry", file.display());
        let expected = format!("{paper}-{name}");
        for id in ids {
            assert!(id.starts_with(&expected), "{}: id {id}, expected {expected}", file.display());
        }
    }
}

#[test]
fn every_claim_that_runs_has_a_mutant() {
    for claim in papers::all().filter(|claim| !matches!(claim.standing.expected, Expected::NotRun(_))) {
        assert!(!claim.mutants.is_empty(), "{}: a check that nothing can fail proves nothing", claim.id);
    }
}

#[test]
fn a_claim_that_is_refuted_says_in_which_cells_and_by_how_much() {
    for claim in papers::all().filter(|claim| claim.standing.expected == Expected::Refuted) {
        assert!(!claim.standing.violations.is_empty(), "{}: where, and by how much?", claim.id);
    }
}

#[test]
fn mutants_have_distinct_names_and_say_their_sin() {
    for claim in papers::all() {
        let names: BTreeSet<&str> = claim.mutants.iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), claim.mutants.len(), "{}: a mutant's name is used twice", claim.id);
        for mutant in claim.mutants {
            let plain = mutant.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            assert!(plain && !mutant.name.is_empty(), "{}: mutant `{}`", claim.id, mutant.name);
            assert!(mutant.fault.len() > 10, "{}: mutant {} does not say its fault", claim.id, mutant.name);
        }
    }
}

#[test]
fn a_claim_whose_file_asks_for_sizes_has_a_table_in_the_plan() {
    let plan = Plan::built_in().unwrap();
    for text in all_files().iter().map(|(_, file)| std::fs::read_to_string(file).unwrap()) {
        let inside = |claim: &&Claim| text.contains(&format!("id: \"{}\"", claim.id));
        let planned = |claim: &Claim| plan.sizes(claim.id, RunTier::Quick).iter().next().is_some();
        let claims: Vec<&Claim> = papers::all().filter(inside).collect();
        if text.contains("cx.size(") {
            let ids: Vec<&str> = claims.iter().map(|claim| claim.id).collect();
            assert!(claims.into_iter().any(planned), "plan.toml has no table for {ids:?}");
        }
    }
}

#[test]
fn every_size_of_the_plan_is_asked_for() {
    let plan = Plan::built_in().unwrap();
    // Claims of a paper share experiments, so another file of the folder may ask for the size.
    for claim in papers::all() {
        let text = sources(&folder(claim.paper()));
        for (key, _) in plan.sizes(claim.id, RunTier::Full).iter() {
            assert!(text.contains(&format!("\"{key}\"")), "{}: size `{key}` is never asked for", claim.id);
        }
    }
}

#[test]
fn every_formula_becomes_mathml() {
    for claim in papers::all() {
        let html = formula::mathml(claim.formula);
        assert!(html.as_ref().is_ok_and(|html| html.len() > 60), "{}: {html:?}", claim.id);
    }
}

#[test]
fn every_erratum_that_a_claim_names_exists() {
    for claim in papers::all() {
        for number in claim.standing.errata {
            assert!(errata::find(claim.paper(), *number).is_some(), "{} names erratum {number}", claim.id);
        }
    }
}

#[test]
fn every_claim_says_what_where_and_how() {
    for claim in papers::all() {
        assert!(claim.sentence.len() > 20 && claim.sentence.ends_with('.'), "{}: sentence", claim.id);
        assert!(!claim.place.is_empty(), "{}: place", claim.id);
        assert!(
            claim.design.len() > 40 || matches!(claim.standing.expected, Expected::NotRun(_)),
            "{}: design",
            claim.id
        );
    }
}

#[test]
fn a_misspelt_claim_suggests_the_nearest() {
    let id = papers::all().next().unwrap().id;
    let misspelt = id.replace("unbiased", "unbaised");
    assert_eq!(papers::nearest(&misspelt), Some(id));
    assert_eq!(papers::nearest("zzzzqqqq"), None);
}
