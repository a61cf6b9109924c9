//! Tests of scenarios: definitions, selection, runs, records and pages.

use lao_bench_suite::kinds::Rows;
use lao_bench_suite::papers;
use lao_bench_suite::record::BenchRecord;
use lao_bench_suite::report;
use lao_bench_suite::row::Row;
use lao_bench_suite::run::{self, BenchCanceled, BenchOptions};
use lao_bench_suite::scenario::{SCENARIOS, Scenario};
use lao_bench_suite::tier::BenchTier;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const CHECK: BenchOptions = BenchOptions { tier: BenchTier::Check, seed: 1, jobs: 2 };

fn scenario(name: &str) -> Scenario {
    Scenario::select(&[name.to_string()]).unwrap().remove(0)
}

fn text(name: &str) -> String {
    SCENARIOS.iter().find(|(known, _)| *known == name).unwrap().1.into()
}

/// Options for curves of a few hundred examples, which suffice to see the files of a run.
fn small() -> Scenario {
    let (name, text) = SCENARIOS[0];
    let text = text.replace("train = 90_000", "train = 12_000").replace("test = 10_000", "test = 500");
    Scenario::parse(name, &text).unwrap()
}

fn rows(scenario: &Scenario, options: BenchOptions) -> Vec<Row> {
    run::measure(scenario, options, &|_, _| {}, &AtomicBool::new(false)).unwrap()
}

fn untimed(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().filter(|row| !row.is_time()).collect()
}

#[test]
fn every_scenario_of_the_suite_can_run() {
    for scenario in Scenario::all().unwrap() {
        match scenario.check() {
            Err(error) if papers::is_data_missing(&error) => {}
            checked => checked.unwrap(),
        }
    }
}

#[test]
fn the_gallery_has_what_ran_and_says_what_did_not() {
    let (out, quiet) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let mut folder = run::open_folder(out.path()).unwrap();
    for name in ["ito17-fig1", "ito17-table2", "hk12-table1"] {
        run::run(&scenario(name), CHECK, &mut folder, &|_, _| {}, &quiet).unwrap();
    }
    let missing = BTreeMap::from([("ito17-fig3".to_string(), "no CT slices".to_string())]);
    papers::write(out.path(), &missing, &mut folder, ("papers/", false)).unwrap();
    papers::write(out.path(), &missing, &mut folder, ("text/", true)).unwrap();
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
    for page in [read("papers/ito17.html"), read("text/ito17.md")] {
        assert!(page.contains("A1 before A2 in ") && page.contains(" of 2 repetitions"), "{page}");
        assert!(
            page.contains("no CT slices")
                && page.contains("`ito17-fig1`") | page.contains("<code>ito17-fig1")
        );
        assert!(page.contains("Check tier"));
    }
    assert!(read("papers/hk12.html").contains("did not reach the goals"));
    assert!(read("papers/ms18.html").contains("has not run"));
    assert!(read("papers/index.html").contains("hk12.html#table-1"));
    let numbers = read("papers/ito17-fig1-1.csv");
    assert_eq!(numbers.lines().next(), Some("series,rounds,regret against the target,low,high"));
    assert!(numbers.lines().count() > 180, "{numbers}");
    // A gallery is replaced by the next one, and files of other runs stay.
    papers::write(out.path(), &missing, &mut folder, ("papers/", false)).unwrap();
    assert!(out.path().join("ito17-fig1/records.json").exists());
}

#[test]
fn a_learner_chooses_from_its_grid_on_other_data() {
    let text = text("ms18-fig1-small").replace("{ grid = [0.125, 0.25] }", "{ grid = [1e-9, 0.25] }");
    let text = &text[..text.find("[[learners]]\nname = \"RDA\"").unwrap()];
    let scenario = Scenario::parse("ms18-fig1-small", text).unwrap();
    let found = rows(&scenario, BenchOptions { tier: BenchTier::Quick, ..CHECK });
    let chosen = |learner: &str| -> Vec<&str> {
        let of = |row: &&Row| row.learner == learner && row.metric.starts_with("tuned: ");
        found.iter().filter(of).map(|row| row.metric.as_str()).collect()
    };
    assert_eq!(chosen("Pursuit"), Vec::<&str>::new());
    for learner in ["Exploration", "Hybrid"] {
        let chosen = chosen(learner);
        assert!(
            chosen.len() == 5 && chosen.iter().all(|words| words.contains("step_size = 0.25")),
            "{chosen:?}"
        );
    }
}

#[test]
fn regret_is_the_loss_of_predictions_less_that_of_the_target() {
    let scenario = scenario("ito17-table2");
    let found = rows(&scenario, BenchOptions { tier: BenchTier::Quick, ..CHECK });
    let last = |learner: &str| {
        let of = |row: &&Row| row.learner == learner && row.metric == "regret" && row.examples == 5000;
        let values: Vec<f64> = found.iter().filter(of).filter_map(|row| row.value).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    // Uniform choice, which knows the target after a while, loses (1 - k'/d) |w*|^2 = .6 a round.
    assert!((2700.0..3600.0).contains(&last("Uniform")), "{}", last("Uniform"));
    assert!(last("A1") < 0.2 * last("Uniform"));
}

#[test]
fn orders_are_those_of_the_theory_where_it_has_them() {
    let mut text = text("hk12-table1");
    text = text.replace("values = [16.0, 32.0, 64.0, 128.0]", "values = [16.0, 32.0]");
    let scenario = Scenario::parse("hk12-table1", &text).unwrap();
    let found = rows(&scenario, BenchOptions { tier: BenchTier::Quick, ..CHECK });
    // In the unit of the paper, whose rows have length 1, the order in d is 1; here two more.
    let orders = scenario.kind.exponents(&Rows(&found), "Ridge (AERR)", "dim");
    assert!(orders.len() == 5 && orders.iter().all(|order| (2.4..3.6).contains(order)), "{orders:?}");
    let orders = scenario.kind.exponents(&Rows(&found), "Lasso (AELR)", "budget");
    assert!(orders.len() == 5 && orders.iter().all(|order| (-1.4..-0.6).contains(order)), "{orders:?}");
}

#[test]
fn solvers_spend_the_calls_that_they_are_given_and_no_more() {
    let scenario = scenario("scsg20-fig1");
    let found = rows(&scenario, CHECK);
    for solver in scenario.kind.contenders() {
        let calls =
            found.iter().filter(|row| row.learner == solver && row.metric == "f").map(|row| row.examples);
        let most = calls.max().unwrap();
        // 20 passes over 200 rows; what settles earlier spends less.
        assert!(most <= 4000 && (most > 3000 || solver.starts_with("HTP")), "{solver}: {most}");
    }
    let drawn = |solver: &str, part: f64| scenario.kind.drawn(&Rows(&found), solver, part)[&0];
    assert!(drawn("SVRG-HT", 1.0) < 0.5 * drawn("SVRG-HT", 0.0));
}

#[test]
fn every_file_in_the_folder_is_listed() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let mut listed: Vec<_> = SCENARIOS.iter().map(|(name, _)| format!("{name}.toml")).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn a_key_that_the_kind_does_not_have_is_refused_and_shown() {
    let [curve, cost, recovery] = ["ms18-fig1", "cost-vs-d", "recovery-tall"].map(text);
    for (name, broken, shown) in [
        ("ms18-fig1", curve.replace("kind =", "color = 1\nkind ="), "color = 1"),
        ("ms18-fig1", curve.replace("budget =", "correlation = 0.5\nbudget ="), "correlation = 0.5"),
        ("ms18-fig1", curve.replace("noise =", "nois ="), "nois"),
        ("ms18-fig1", curve.replace("repetitions = 2", "repeats = 2"), "repeats = 2"),
        ("cost-vs-d", cost.replace("budget =", "train = 10\nbudget ="), "train = 10"),
        ("recovery-tall", recovery.replace("dim =", "dims ="), "dims ="),
        ("recovery-tall", recovery.replace("passes = 100", "pass = 100"), "pass = 100"),
    ] {
        let error = format!("{:#}", Scenario::parse(name, &broken).unwrap_err());
        assert!(error.contains(shown) && error.contains(name), "{error}");
    }
    let broken = curve.replace("sparsity =", "sparsty =");
    let error = format!("{:#}", Scenario::parse("ms18-fig1", &broken).unwrap().check().unwrap_err());
    assert!(error.contains("sparsty") && error.contains("Hybrid"), "{error}");
}

#[test]
fn a_key_of_the_task_that_has_no_effect_is_refused_with_the_method() {
    let of = |method: &str, keys: &str| {
        format!(
            "title = 'One learner'\nkind = 'learning-curve'\ndim = 20\nbudget = 8\ntrain = 100\ntest = 10\n\
             data = {{ design = 'normal', noise = 1.0, support = {{ positive = 1, negative = 1, \
             magnitude = 1.0 }} }}\n[[learners]]\nname = 'One'\nmethod = '{method}'\n{keys}"
        )
    };
    let check = |method: &str, keys: &str| Scenario::parse("one", &of(method, keys)).unwrap().check();
    for (method, keys, unused) in [
        ("exploration", "examples = 1000", "examples"),
        ("exploration", "radius = 2.0", "radius"),
        ("exploration", "speed = 0.5\nstep_size = 0.1", "speed"),
        ("hybrid", "safeguard = true\nexamples = 1000", "examples"),
        ("pursuit", "speed = 2", "speed"),
        ("uniform", "radius = 2.0\nsparsity = 3", "sparsity"),
        ("dantzig", "radius = 2.0", "radius"),
    ] {
        let error = format!("{:#}", check(method, keys).unwrap_err());
        let said = [&format!("`{unused} = "), &format!("`{method}`"), "learner One"];
        assert!(said.iter().all(|said| error.contains(*said)), "{method}, {keys}: {error}");
    }
    for (method, keys) in [
        ("exploration", "speed = 0.5\nsparsity = 1"),
        ("hybrid", "safeguard = true\nspeed = 0.5"),
        ("pursuit", "sparsity = 4"),
        ("uniform", "sparsity = 3"),
        ("aerr", "examples = 1\nradius = 1"),
        ("dantzig", "examples = 1000"),
    ] {
        check(method, keys).unwrap_or_else(|error| panic!("{method}, {keys}: {error:#}"));
    }
}

#[test]
fn an_unknown_kind_is_refused_with_the_kinds_that_there_are() {
    let broken = text("ms18-fig1").replace("learning-curve", "learning-curves");
    let error = format!("{:#}", Scenario::parse("ms18-fig1", &broken).unwrap_err());
    assert!(error.contains("learning-curves") && error.contains("recovery"), "{error}");
}

#[test]
fn a_learner_whose_parameters_do_not_fit_the_data_is_refused_before_the_work() {
    let broken = text("ms18-fig1").replace("sparsity = 30", "sparsity = 50");
    let scenario = Scenario::parse("ms18-fig1", &broken).unwrap();
    let worked = AtomicBool::new(false);
    let progress = |_: usize, _: usize| worked.store(true, Ordering::Relaxed);
    let error = run::measure(&scenario, CHECK, &progress, &AtomicBool::new(false)).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.contains("Hybrid") && error.contains("50") && !worked.load(Ordering::Relaxed), "{error}");
}

#[test]
fn two_contenders_of_one_name_are_refused() {
    let broken = text("ms18-fig1").replace("name = \"Exploration\"", "name = \"Hybrid\"");
    let error = Scenario::parse("ms18-fig1", &broken).unwrap().check().unwrap_err().to_string();
    assert!(error.contains("`Hybrid`"), "{error}");
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
    let one = untimed(rows(&scenario, BenchOptions { jobs: 1, ..CHECK }));
    assert_eq!(one, untimed(rows(&scenario, CHECK)));
    assert_ne!(one, untimed(rows(&scenario, BenchOptions { seed: 2, ..CHECK })));
}

#[test]
fn a_learner_that_saw_too_little_for_an_update_is_named_in_the_caption() {
    let scenario = small();
    let caption = |rows: &[Row]| scenario.kind.analyze(&Rows(rows)).figures[0].caption.clone();
    let text = caption(&rows(&scenario, CHECK));
    assert!(
        text.contains("No update was completed by Hybrid: the first needs 1300 more examples."),
        "{text}"
    );
    assert_eq!(text.matches("No update").count(), 2, "{text}");
}

#[test]
fn curves_start_with_the_error_of_zero_and_end_above_the_noise() {
    let scenario = scenario("ms18-fig1");
    let rows = rows(&scenario, CHECK);
    for learner in scenario.kind.contenders() {
        let values = |metric: &str, pick: fn(u64) -> bool| -> Vec<f64> {
            let fits = |row: &&Row| row.learner == learner && row.metric == metric && pick(row.examples);
            rows.iter().filter(fits).map(|row| row.value.unwrap()).collect()
        };
        // The target has 25 entries of size 1, and the noise has variance 1.
        assert!(values("test mse", |n| n == 0).iter().all(|mse| (20.0..32.0).contains(mse)));
        assert!(values("excess risk", |n| n == 0).iter().all(|excess| (excess - 25.0).abs() < 1e-9));
        assert!(values("test mse", |n| n == 9_000).iter().all(|mse| (0.8..32.0).contains(mse)));
        assert!(values("excess risk", |_| true).iter().all(|excess| *excess >= 0.0));
    }
}

#[test]
fn costs_are_positive_at_every_dimension() {
    let (name, text) = ("cost-vs-d", text("cost-vs-d"));
    let text = text
        .replace("dims = [1_000, 10_000, 100_000, 1_000_000]", "dims = [1_000, 10_000]")
        .replace("growth = [10_000, 100_000, 1_000_000, 10_000_000]", "growth = [10_000, 40_000]");
    let scenario = Scenario::parse(name, &text).unwrap();
    let rows = rows(&scenario, CHECK);
    let (repetitions, dims, storages, contenders) = (2, 2, 2, scenario.kind.contenders().len());
    // A time and a floor everywhere, and two times against the number of examples in the first repetition.
    assert_eq!(rows.len(), contenders * storages * (repetitions * dims * 2 + 2));
    assert!(rows.iter().all(|row| row.is_time() && row.value.unwrap() > 0.0));
    let analysis = scenario.kind.analyze(&Rows(&rows));
    assert_eq!(analysis.table.len(), 1 + contenders * storages * (dims + 2));
    assert_eq!(analysis.figures.len(), 4);
}

#[test]
fn htp_recovers_a_correlated_support_and_says_how_long_it_took() {
    let scenario = scenario("recovery-tall");
    let rows = rows(&scenario, CHECK);
    assert_eq!(rows.len(), 2 * 4 * scenario.kind.contenders().len());
    for row in &rows {
        let value = row.value.unwrap();
        assert!(value >= 0.0, "{row:?}");
        assert!(row.metric != "support F1" || row.learner != "HTP, k known" || value > 0.8, "{row:?}");
    }
    let analysis = scenario.kind.analyze(&Rows(&rows));
    assert_eq!(analysis.table.len(), 1 + scenario.kind.contenders().len());
}

#[test]
fn a_solver_that_there_is_not_is_refused() {
    let (name, text) = ("recovery-tall", text("recovery-tall"));
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
    assert_eq!(BenchRecord::read(&folder).unwrap().as_ref(), Some(&record));
    assert_eq!(table(&folder).len(), record.rows.len());
    assert!(std::fs::read_to_string(folder.join("figure-1.svg")).unwrap().starts_with("<svg"));
    for page in [folder.join("index.html"), out.path().join("index.html")] {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("<svg") && page.contains(&scenario.name));
        for outside in ["<script", "<link", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

/// Returns the rows of `records.csv` by column.
fn table(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("records.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_second_run_appends_its_rows_with_what_they_come_from() {
    let out = tempfile::tempdir().unwrap();
    let scenario = small();
    let mut results = run::open_folder(out.path()).unwrap();
    let mut once = |seed| {
        let options = BenchOptions { seed, ..CHECK };
        run::run(&scenario, options, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap()
    };
    let (first, second) = (once(1), once(2));
    let folder = out.path().join(&scenario.name);
    let rows = table(&folder);
    assert_eq!(rows.len(), first.rows.len() + second.rows.len());
    let of_seed = |seed: &str| rows.iter().filter(|row| row["seed"] == seed).count();
    assert_eq!((of_seed("1"), of_seed("2")), (first.rows.len(), second.rows.len()));
    for column in ["started", "version", "revision", "host", "processor", "features", "tier"] {
        assert!(rows.iter().all(|row| !row[column].is_empty()), "{column}");
    }
    assert_eq!(BenchRecord::read(&folder).unwrap().unwrap(), second);
    // A table of another version is not changed, and the run is refused before the work.
    std::fs::write(folder.join("records.csv"), "scenario,learner\n").unwrap();
    let error = run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("records.csv") && error.to_string().contains("--out"), "{error}");
    assert_eq!(std::fs::read(folder.join("records.csv")).unwrap(), b"scenario,learner\n");
}

#[test]
fn a_job_that_fails_is_a_row_with_its_error_and_the_others_go_on() {
    // Steps of this size diverge, which does not affect the other learners.
    let wild =
        text("ms18-fig1").replacen("step_size = { grid = [0.125, 0.25, 0.35] }", "step_size = 1e100", 1);
    let small = wild.replace("train = 90_000", "train = 60_000").replace("test = 10_000", "test = 500");
    let scenario = Scenario::parse("ms18-fig1", &small).unwrap();
    let out = tempfile::tempdir().unwrap();
    let mut results = run::open_folder(out.path()).unwrap();
    let record = run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!(record.failures().count(), 2);
    assert!(record.failures().all(|row| row.learner == "Hybrid" && row.value.is_none()));
    assert!(record.rows.iter().any(|row| row.learner != "Hybrid" && row.value.is_some()));
    let analysis = report::write(&scenario, &record, &mut results).unwrap();
    assert!(!analysis.winner.starts_with("Hybrid"), "{}", analysis.winner);
    let page = std::fs::read_to_string(out.path().join("ms18-fig1/index.html")).unwrap();
    assert!(page.contains("2 of the measurements failed") && page.contains("diverged"));
    assert_eq!(table(&out.path().join("ms18-fig1")).iter().filter(|row| row["metric"] == "error").count(), 2);
}

#[test]
fn a_page_says_who_won_and_that_a_check_tier_means_nothing() {
    let out = tempfile::tempdir().unwrap();
    let scenario = scenario("recovery-tall");
    let mut results = run::open_folder(out.path()).unwrap();
    let mut record = run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    let mut page = |record: &BenchRecord| {
        report::write(&scenario, record, &mut results).unwrap();
        std::fs::read_to_string(out.path().join("recovery-tall/index.html")).unwrap()
    };
    let checked = page(&record);
    assert!(checked.contains("has the highest mean F1") && checked.contains(report::CHECK_TIER));
    record.tier = BenchTier::Quick;
    assert!(!page(&record).contains(report::CHECK_TIER));
}

/// Returns a new folder with a definition and its data file, and the path of the definition.
fn own(definition: &str, table: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.csv"), table).unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, definition).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

const OWN: &str = r#"
title = "Own rows"
kind = "learning-curve"
budget = 2
train = 4_000
data = { file = "mine.csv", label = "y" }
[[learners]]
name = "Exploration"
method = "exploration"
sparsity = 1
step_size = 0.1
batch = { constant = 20 }
"#;

/// Returns 60 rows of three attributes, of which the second determines the label and the last is constant.
fn own_rows() -> String {
    let row = |i: u64| format!("{},{},7,{}\n", i * i % 17, i % 5, 3 * (i % 5) + 1);
    std::iter::once("a,b,c,y\n".to_owned()).chain((0..60).map(row)).collect()
}

#[test]
fn a_definition_of_ones_own_runs_on_a_file_beside_it() {
    let (_folder, path) = own(OWN, &own_rows());
    let scenario = Scenario::select(&[path]).unwrap().remove(0);
    assert_eq!(scenario.name, "mine");
    let rows = rows(&scenario, BenchOptions { tier: BenchTier::Quick, ..CHECK });
    let values = |metric: &str| -> Vec<f64> {
        rows.iter().filter(|row| row.metric == metric).filter_map(|row| row.value).collect()
    };
    let (mean, last) = (values("test mse of the mean"), values("test mse"));
    assert_eq!(mean.len(), 5);
    assert!(last.last().unwrap() < &(0.05 * mean[0]), "{last:?} {mean:?}");
    let analysis = scenario.kind.analyze(&Rows(&rows));
    assert!(analysis.winner.starts_with("Exploration"), "{}", analysis.winner);
}

#[test]
fn what_is_wrong_with_a_definition_of_ones_own_is_said_before_the_work() {
    let good = own_rows();
    for (definition, table, said) in [
        (OWN.replace("\"y\"", "\"z\""), good.clone(), "z"),
        (OWN.replace("mine.csv", "yours.csv"), good.clone(), "yours.csv"),
        (OWN.replace(", label = \"y\"", ""), good.clone(), "data.label"),
        (OWN.replace("file = \"mine.csv\"", "dataset = \"nothing\""), good.clone(), "nothing"),
        (OWN.replace("label", "design = \"normal\", label"), good.clone(), "design"),
        (OWN.replace("train =", "test = 5\ntrain ="), good.clone(), "test"),
        (OWN.replace("sparsity = 1", "sparsity = 2"), good.clone(), "sparsity"),
        (OWN.replace("[[learners]]", "[tiers]\nquick = 1\n[[learners]]"), good.clone(), "quick"),
        (OWN.into(), good.replace("3,4,7", "3,four,7"), "four"),
    ] {
        let (_folder, path) = own(&definition, &table);
        let error = Scenario::select(&[path]).and_then(|scenarios| scenarios[0].check());
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.contains(said) && error.contains("mine"), "{said}: {error}");
    }
}

#[test]
fn a_definition_that_is_called_as_one_of_the_suite_is_refused() {
    let (folder, path) = own(OWN, &own_rows());
    for name in ["ms18-fig1.toml", "a b.toml"] {
        let other = folder.path().join(name);
        std::fs::copy(&path, &other).unwrap();
        let error = Scenario::select(&[other.to_str().unwrap().into()]).unwrap_err().to_string();
        assert!(error.contains("name"), "{error}");
    }
    let twice = Scenario::select(&[path.clone(), path]).unwrap_err().to_string();
    assert!(twice.contains("mine"), "{twice}");
}

#[test]
fn the_list_of_pages_shows_runs_of_definitions_that_are_gone() {
    let out = tempfile::tempdir().unwrap();
    let mut results = run::open_folder(out.path()).unwrap();
    {
        let (_folder, path) = own(OWN, &own_rows());
        let scenario = Scenario::select(&[path]).unwrap().remove(0);
        run::run(&scenario, CHECK, &mut results, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    }
    report::check_others(&[], out.path()).unwrap();
    report::write_index(&mut results).unwrap();
    assert!(std::fs::read_to_string(out.path().join("index.html")).unwrap().contains("Own rows"));
}

#[test]
fn a_canceled_run_says_so_and_leaves_no_records() {
    let out = tempfile::tempdir().unwrap();
    let canceled = AtomicBool::new(false);
    let stop = |_: usize, _: usize| canceled.store(true, Ordering::Relaxed);
    let mut results = run::open_folder(out.path()).unwrap();
    let error = run::run(&small(), CHECK, &mut results, &stop, &canceled).unwrap_err();
    assert!(error.is::<BenchCanceled>());
    assert_eq!(BenchRecord::read(&out.path().join("ms18-fig1")).unwrap(), None);
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
    let error = BenchRecord::read(out.path()).unwrap_err().to_string();
    assert!(error.contains("delete it"), "{error}");
}

#[test]
fn where_there_are_prices_nobody_spends_more_than_the_money() {
    let priced = scenario("diabetes-prices");
    let rows = rows(&priced, CHECK);
    let of = |row: &&Row| row.metric == "money per example";
    assert_eq!(rows.iter().filter(of).count(), 2 * priced.kind.contenders().len());
    for row in rows.iter().filter(of) {
        let all = if row.learner.ends_with("full information") { 14.0 } else { 11.0 };
        assert!(row.value.is_some_and(|money| money > 0.0 && money <= all * (1.0 + 1e-9)), "{row:?}");
    }
    let table = priced.kind.analyze(&Rows(&rows)).table;
    assert!(table.iter().all(|line| line.len() == table[0].len()), "{table:?}");
    let counts = text("diabetes-prices").replace("\"pursuit\"", "\"rda2\"");
    let error = Scenario::parse("diabetes-prices", &counts).unwrap().check().unwrap_err();
    assert!(format!("{error:#}").contains("the method counts attributes"), "{error:#}");
}
