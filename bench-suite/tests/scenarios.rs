//! Scenarios: definitions, selection, runs, records, pages.

use lao_bench_suite::record::{Record, Row};
use lao_bench_suite::run::{self, Canceled, Options};
use lao_bench_suite::scenario::{ALL, Scenario, Tier};
use lao_bench_suite::{kinds, report};
use std::sync::atomic::{AtomicBool, Ordering};

const CHECK: Options = Options { tier: Tier::Check, seed: 1, jobs: 2 };

fn scenario(name: &str) -> Scenario {
    Scenario::select(&[name.to_string()]).unwrap().remove(0)
}

/// Curves of a few hundred examples: enough to see what a run leaves.
fn small() -> Scenario {
    let (name, text) = ALL[0];
    let text = text.replace("train = 90_000", "train = 12_000").replace("test = 10_000", "test = 500");
    Scenario::parse(name, &text).unwrap()
}

fn rows(scenario: &Scenario, options: Options) -> Vec<Row> {
    run::measure(scenario, options, &|_, _| {}, &AtomicBool::new(false)).unwrap()
}

fn untimed(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().filter(|row| !row.is_time()).collect()
}

#[test]
fn every_definition_parses_and_every_learner_is_accepted() {
    for scenario in Scenario::all().unwrap() {
        for contender in scenario.contenders().unwrap() {
            for dim in scenario.data.dims.iter().copied().chain(scenario.data.dim) {
                scenario.accepts(&contender, dim).unwrap();
            }
        }
    }
}

#[test]
fn every_file_in_the_folder_is_listed() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let mut listed: Vec<_> = ALL.iter().map(|(name, _)| format!("{name}.toml")).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn an_unknown_key_is_refused_and_named() {
    let (name, text) = ALL[0];
    for (broken, key) in [
        (text.replace("kind =", "color = 1\nkind ="), "colour"),
        (text.replace("noise =", "nois ="), "nois"),
        (text.replace("sparsity =", "sparsty ="), "sparsty"),
        (text.replace("repetitions = 2", "repeats = 2"), "repeats"),
    ] {
        let error = format!("{:#}", Scenario::parse(name, &broken).unwrap_err());
        assert!(error.contains(key) && error.contains(name), "{error}");
    }
}

#[test]
fn a_learner_whose_parameters_do_not_fit_the_data_is_refused() {
    let (name, text) = ALL[0];
    let error =
        format!("{:#}", Scenario::parse(name, &text.replace("sparsity = 30", "sparsity = 50")).unwrap_err());
    assert!(error.contains("Hybrid") && error.contains("50"), "{error}");
}

#[test]
fn an_unknown_scenario_is_an_error_that_suggests_the_nearest() {
    let error = Scenario::select(&["ms18-fig".into()]).unwrap_err().to_string();
    assert!(error.contains("did you mean `ms18-fig1`"), "{error}");
    let error = Scenario::select(&["zzz".into()]).unwrap_err().to_string();
    assert!(!error.contains("did you mean"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_records_whatever_the_threads() {
    let scenario = small();
    let one = untimed(rows(&scenario, Options { jobs: 1, ..CHECK }));
    assert_eq!(one, untimed(rows(&scenario, CHECK)));
    assert_ne!(one, untimed(rows(&scenario, Options { seed: 2, ..CHECK })));
}

#[test]
fn a_learner_that_saw_too_little_for_an_update_is_named_in_the_caption() {
    let scenario = small();
    let caption = |rows: &[Row]| kinds::analyze(&scenario, rows).figures[0].caption.clone();
    let text = caption(&rows(&scenario, CHECK));
    assert!(
        text.contains("No update was completed by Hybrid: the first needs 1300 more examples."),
        "{text}"
    );
    assert_eq!(text.matches("No update").count(), 3, "{text}");
}

#[test]
fn curves_start_with_the_error_of_zero_and_end_above_the_noise() {
    let scenario = scenario("ms18-fig1");
    let rows = rows(&scenario, CHECK);
    for learner in scenario.contenders().unwrap() {
        let values = |metric: &str, pick: fn(u64) -> bool| -> Vec<f64> {
            let fits = |row: &&Row| row.learner == learner.name && row.metric == metric && pick(row.examples);
            rows.iter().filter(fits).map(|row| row.value).collect()
        };
        // The target has 25 entries of size 1, the noise variance 1.
        assert!(values("test mse", |n| n == 0).iter().all(|mse| (20.0..32.0).contains(mse)));
        assert!(values("excess risk", |n| n == 0).iter().all(|excess| (excess - 25.0).abs() < 1e-9));
        assert!(values("test mse", |n| n == 9_000).iter().all(|mse| (0.8..32.0).contains(mse)));
        assert!(values("excess risk", |_| true).iter().all(|excess| *excess >= 0.0));
    }
}

#[test]
fn costs_are_positive_at_every_dimension() {
    let (name, text) = ALL[1];
    let text = text.replace("dims = [1_000, 10_000, 100_000, 1_000_000]", "dims = [1_000, 10_000]");
    let scenario = Scenario::parse(name, &text).unwrap();
    let rows = rows(&scenario, CHECK);
    assert_eq!(rows.len(), 2 * 2 * scenario.learners.len() * 2);
    assert!(rows.iter().all(|row| row.is_time() && row.value > 0.0 && row.value.is_finite()));
    let analysis = kinds::analyze(&scenario, &rows);
    assert_eq!(analysis.table.len(), 1 + 2 * scenario.learners.len());
}

#[test]
fn htp_recovers_a_correlated_support_and_says_how_long_it_took() {
    let scenario = scenario("recovery-tall");
    let rows = rows(&scenario, CHECK);
    assert_eq!(rows.len(), 2 * 4 * scenario.learners.len());
    for row in &rows {
        assert!(row.value.is_finite() && row.value >= 0.0, "{row:?}");
        assert!(row.metric != "support F1" || row.learner != "HTP, k known" || row.value > 0.8, "{row:?}");
    }
    let analysis = kinds::analyze(&scenario, &rows);
    assert_eq!(analysis.table.len(), 1 + scenario.learners.len());
}

#[test]
fn a_solver_that_there_is_not_is_refused() {
    let (name, text) = ALL[3];
    let error = Scenario::parse(name, &text.replace("solver = \"htp\"", "solver = \"hpt\"")).unwrap_err();
    assert!(format!("{error:#}").contains("hpt"), "{error:#}");
}

#[test]
fn a_run_leaves_records_figures_and_pages_that_need_nothing_else() {
    let out = tempfile::tempdir().unwrap();
    let scenario = small();
    let mut results = run::open_folder(out.path()).unwrap();
    let record = run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    report::write(&scenario, &record, &mut results).unwrap();
    report::write_index(&mut results).unwrap();

    let folder = out.path().join(&scenario.name);
    assert_eq!(Record::read(&folder).unwrap().as_ref(), Some(&record));
    let table = std::fs::read(folder.join("records.csv")).unwrap();
    let table: Vec<Row> =
        csv::Reader::from_reader(&table[..]).deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(table, record.rows);
    assert!(std::fs::read_to_string(folder.join("figure-1.svg")).unwrap().starts_with("<svg"));
    for page in [folder.join("index.html"), out.path().join("index.html")] {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("<svg") && page.contains(&scenario.name));
        for outside in ["<script", "<link", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

#[test]
fn a_canceled_run_says_so_and_leaves_no_records() {
    let out = tempfile::tempdir().unwrap();
    let canceled = AtomicBool::new(false);
    let stop = |_: usize, _: usize| canceled.store(true, Ordering::Relaxed);
    let mut results = run::open_folder(out.path()).unwrap();
    let error = run::run(&small(), CHECK, &mut results, &stop, &canceled).unwrap_err();
    assert!(error.is::<Canceled>());
    assert_eq!(Record::read(&out.path().join("ms18-fig1")).unwrap(), None);
}

#[test]
fn a_folder_that_cannot_be_made_or_that_holds_other_files_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("index.html");
    std::fs::write(&file, "mine").unwrap();
    for folder in [&file, out.path()] {
        let error = format!("{:#}", run::open_folder(folder).unwrap_err());
        assert!(error.contains("--out") && error.contains("index.html"), "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

#[test]
fn a_file_in_the_way_is_known_before_the_work() {
    let out = tempfile::tempdir().unwrap();
    let mut results = run::open_folder(out.path()).unwrap();
    let file = out.path().join("index.html");
    std::fs::write(&file, "mine").unwrap();
    let worked = AtomicBool::new(false);
    let progress = |_: usize, _: usize| worked.store(true, Ordering::Relaxed);
    let error = run::run(&small(), CHECK, &mut results, &progress, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("--out") && !worked.load(Ordering::Relaxed), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

#[test]
fn a_folder_of_an_older_version_is_taken_with_its_own_files_only() {
    let out = tempfile::tempdir().unwrap();
    let scenario = small();
    let mut results = run::open_folder(out.path()).unwrap();
    let record = run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    report::write(&scenario, &record, &mut results).unwrap();
    report::write_index(&mut results).unwrap();
    drop(results);
    [".lao-output", ".lao-lock"].iter().for_each(|mark| std::fs::remove_file(out.path().join(mark)).unwrap());
    let mine = out.path().join(&scenario.name).join("figure-mine.svg");
    std::fs::write(&mine, "mine").unwrap();

    let mut results = run::open_folder(out.path()).unwrap();
    report::write(&scenario, &record, &mut results).unwrap();
    report::write_index(&mut results).unwrap();
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
}

#[test]
fn records_of_other_scenarios_are_checked_before_the_work() {
    let out = tempfile::tempdir().unwrap();
    std::fs::create_dir(out.path().join("cost-vs-d")).unwrap();
    std::fs::write(out.path().join("cost-vs-d/records.json"), "[]").unwrap();
    assert!(report::check_others(&[small()], out.path()).unwrap_err().to_string().contains("delete it"));
    assert!(report::check_others(&Scenario::all().unwrap(), out.path()).is_ok());
}

#[test]
fn a_record_that_is_none_is_an_error_with_a_remedy() {
    let out = tempfile::tempdir().unwrap();
    std::fs::write(out.path().join("records.json"), "[]").unwrap();
    let error = Record::read(out.path()).unwrap_err().to_string();
    assert!(error.contains("delete it"), "{error}");
}
