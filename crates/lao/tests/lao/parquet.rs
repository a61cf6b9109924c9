//! Tables in Parquet files: read whole they are what a CSV file is; page by page, what a table in memory is.

use lao::observation::SourceError;
use lao::{Error, Examples, Fit, Label, Model, ReadOptions, Rewriting, Table, TableParts};
use lao_parquet::{Writing, write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lao/files").join(name)
}

/// Returns the model without what names the table.
fn without_name(mut model: Model) -> Model {
    (model.origin.table, model.origin.sha256) = (String::new(), None);
    model
}

#[test]
fn a_table_gives_the_same_model_as_csv_and_as_parquet() {
    let model = |name: &str| {
        let frame = lao::read(file(name)).unwrap();
        without_name(Fit::within(3).run(&frame.target("pressure").unwrap()).unwrap().model)
    };
    let of_csv = model("patients.csv");
    assert_eq!(of_csv.columns(), ["age", "smoker"]);
    assert_eq!(model("patients.parquet").to_json(), of_csv.to_json());
}

#[test]
fn what_is_missing_and_what_is_a_word_can_be_chosen_as_for_csv() {
    let missing = vec!["age=44".to_owned(), "smoker=false".into()];
    let options = ReadOptions { missing, words: vec!["score".into()], ..ReadOptions::default() };
    let [csv, parquet] =
        ["patients.csv", "patients.parquet"].map(|name| lao::read_with(file(name), &options).unwrap());
    assert_eq!(parquet.summary(), csv.summary());
    assert!(parquet.summary()[0].missing > 0);
}

/// 60 columns of 3,000 rows and a label of two of them; some values and labels are missing.
fn columns() -> Vec<(String, Vec<f64>)> {
    let value = |i: u32, j: u32| f64::from(i.wrapping_mul(2 * j + 977) % 641) / 641.0;
    let column =
        |j: u32| (0..3000).map(|i| if (i + j).is_multiple_of(97) { f64::NAN } else { value(i, j) }).collect();
    let mut columns: Vec<(String, Vec<f64>)> = (0..60).map(|j| (format!("c{j}"), column(j))).collect();
    let label = |i: u32| {
        if i.is_multiple_of(211) { f64::NAN } else { value(i, 8) - 2.0 * value(i, 31) + 0.1 * value(i, 70) }
    };
    columns.push(("y".into(), (0..3000).map(label).collect()));
    columns
}

fn write_file(path: &Path, columns: &[(String, Vec<f64>)], writing: &Writing) {
    let columns: Vec<_> = columns.iter().map(|(name, x)| (&name[..], x.into())).collect();
    write(std::fs::File::create(path).unwrap(), "table", &columns, writing).unwrap();
}

fn written(folder: &Path, writing: Writing) -> PathBuf {
    let path = folder.join("table.parquet");
    let columns = columns();
    write_file(&path, &columns, &writing);
    path
}

/// Columns in memory that say they are read by pages.
#[derive(Debug)]
struct InPages(Vec<Vec<f64>>, Vec<u32>);

impl Table for InPages {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError> {
        self.0.read(attributes, rows, into)
    }
    fn pages(&self) -> Option<&[u32]> {
        Some(&self.1)
    }
}

#[test]
fn pages_of_a_file_give_the_model_that_pages_in_memory_give() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), Writing { page: 50, group: 1020, packed: true, ..Writing::default() });
    let mut in_memory = columns();
    let (_, labels) = in_memory.pop().unwrap();
    let (names, values) = in_memory.into_iter().unzip();
    // Row groups end in the middle of a page.
    let first_rows = (0..3000).filter(|row| row % 1020 % 50 == 0).collect();
    let expected = Examples::from_table(TableParts {
        table: Arc::new(InPages(values, first_rows)),
        name: String::new(),
        names,
        target: "y".into(),
        label: Label::Number,
        rows: (0..3000).collect(),
        labels,
    })
    .unwrap();
    let examples = lao::open(&path, &ReadOptions::default()).unwrap().target("y").unwrap();
    for fit in [Fit::within(6), Fit::within(6).in_order(), Fit::within(60), Fit::within(6).method("hybrid")] {
        let Model { spent, coefficients, intercept, holdout, .. } = fit.run(&examples).unwrap().model;
        let of_memory = fit.run(&expected).unwrap().model;
        assert_eq!(
            (coefficients, intercept, holdout),
            (of_memory.coefficients, of_memory.intercept, of_memory.holdout)
        );
        assert_eq!(
            (spent.attributes, spent.examples),
            (of_memory.spent.attributes, of_memory.spent.examples)
        );
        assert!(of_memory.spent.traffic.is_none() && spent.traffic.is_some());
    }
    let names: Vec<String> = Fit::within(6)
        .run(&examples)
        .unwrap()
        .model
        .columns()
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(names, ["c8", "c31"]);
}

#[test]
fn few_looks_read_few_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), Writing { page: 50, group: 3000, ..Writing::default() });
    let examples = lao::open(&path, &ReadOptions::default()).unwrap().target("y").unwrap();
    let model = Fit::within(6).run(&examples).unwrap().model;
    let traffic = model.spent.traffic.unwrap();
    assert_eq!(traffic.of, std::fs::metadata(&path).unwrap().len());
    // Values of eight bytes and the headers of their pages; the label, the offset indexes and the footer.
    let values = 2700 * 6 * 8 + model.holdout.as_ref().unwrap().examples as u64 * 2 * 8 * 6;
    assert!(traffic.bytes < values * 3 / 2 + traffic.of / 10, "{traffic}");
    assert!(model.to_string().contains(&traffic.to_string()));
}

#[test]
fn what_cannot_be_read_by_pages_is_said() {
    let by_pages = |name: &str, options: &ReadOptions| lao::open(file(name), options);
    let refused = by_pages("patients.csv", &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.ends_with("patients.csv: this is no Parquet file"), "{refused}");
    let open = || by_pages("patients.parquet", &ReadOptions::default()).unwrap();
    let examples = open().target("pressure").unwrap();
    assert_eq!(examples.names(), ["age", "weight", "smoker=true"]);
    assert!(examples.notes()[0].starts_with("`city` and 2 more: left out, since the words"));
    let Error::NoColumn { near, .. } = open().target("presure").unwrap_err() else { panic!() };
    assert_eq!(near.as_deref(), Some("pressure"));
    let options = ReadOptions { words: vec!["city".into()], ..ReadOptions::default() };
    let examples = by_pages("patients.parquet", &options).unwrap().target_class("smoker", "true").unwrap();
    assert_eq!(examples.names().len(), 7);
    let model =
        Fit::within(5).run(&by_pages("patients.parquet", &options).unwrap().target("pressure").unwrap());
    assert_eq!(model.unwrap().model.columns(), ["age", "smoker", "city"]);
}

#[test]
fn a_part_that_is_missing_is_named() {
    let parts = [file("patients.parquet"), file("none.parquet")];
    let error = lao::open_parts(&parts, &ReadOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if *path == parts[1]), "{error}");
    let no_parts: [&str; 0] = [];
    assert!(lao::open_parts(&no_parts, &ReadOptions::default()).is_err());
}

#[test]
fn a_folder_of_parts_is_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let columns = columns();
    for (part, rows) in [0..1000, 1000..1100, 1100..3000].into_iter().enumerate() {
        let of = |(name, x): &(String, Vec<f64>)| (name.clone(), x[rows.clone()].to_vec());
        let own: Vec<(String, Vec<f64>)> = columns.iter().map(of).collect();
        let path = folder.path().join(format!("part{part}.parquet"));
        write_file(&path, &own, &Writing { page: 50, ..Writing::default() });
    }
    let whole = tempfile::tempdir().unwrap();
    let path = written(whole.path(), Writing { page: 50, group: 3000, packed: true, ..Writing::default() });
    let model = |path: &Path| {
        let examples = lao::read(path).unwrap().target("y").unwrap();
        without_name(Fit::within(6).run(&examples).unwrap().model)
    };
    assert_eq!(model(folder.path()), model(&path));
    let by_page = |path: &Path| {
        let examples = lao::open(path, &ReadOptions::default()).unwrap().target("y").unwrap();
        Fit::within(6).run(&examples).unwrap().model.coefficients
    };
    assert_eq!(by_page(folder.path()), by_page(&path));
    std::fs::write(folder.path().join("part9.parquet"), std::fs::read(file("patients.parquet")).unwrap())
        .unwrap();
    let refused = lao::read(folder.path()).unwrap_err().to_string();
    assert!(
        refused.contains("part9.parquet, column `age`: in ") && refused.contains("`c0` is in its place"),
        "{refused}"
    );
}

#[test]
fn no_more_bytes_are_read_than_are_allowed_and_what_was_learned_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), Writing { page: 50, group: 3000, ..Writing::default() });
    let examples = |most: u64| {
        let table = lao::open(&path, &ReadOptions::default()).unwrap().most_bytes(most);
        table.and_then(|table| table.target("y"))
    };
    let all = Fit::within(6).run(&examples(u64::MAX / 2).unwrap()).unwrap().model.spent;
    let most = all.traffic.unwrap().bytes * 3 / 4;
    let fitted = Fit::within(6).run(&examples(most).unwrap()).unwrap();
    let spent = &fitted.model.spent;
    assert!((most / 2..=most).contains(&spent.traffic.unwrap().bytes), "{:?}", spent.traffic);
    assert!(spent.examples < all.examples && fitted.model.columns().contains(&"c31"), "{}", fitted.model);
    assert!(fitted.model.holdout.is_some(), "enough was left to measure the error");
    assert!(fitted.notes.iter().any(|note| note.contains("no more bytes may be read")), "{:?}", fitted.notes);
    let refused = examples(10).unwrap_err().to_string();
    assert!(refused.contains("bytes are needed, and 10 more may be read"), "{refused}");
}

#[test]
fn the_price_of_a_column_may_be_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), Writing { page: 50, group: 3000, ..Writing::default() });
    let examples = lao::open(&path, &ReadOptions::default()).unwrap().target("y").unwrap();
    let prices = examples.prices_by_bytes().unwrap();
    // Eight bytes a value, and the headers of pages of 50.
    let fitted = Fit::within_money(60.0, prices).shape(lao::Shape::Line).run(&examples).unwrap();
    let money = fitted.model.spent.money.as_ref().unwrap();
    assert!(money.panels.iter().all(|panel| (8.0..9.0).contains(&panel.price)), "{money:?}");
    assert!(money.most <= 60.0 && fitted.model.columns() == ["c8", "c31"], "{}", fitted.model);
}

#[test]
fn rows_that_are_alike_are_noticed_and_shuffled() {
    let folder = tempfile::tempdir().unwrap();
    let mut columns = columns();
    // Rows that follow one another have nearly the same label, as those of one day do.
    columns.last_mut().unwrap().1.sort_by(f64::total_cmp);
    let writing = Writing { page: 50, group: 1020, ..Writing::default() };
    let [sorted, shuffled] = ["sorted.parquet", "shuffled.parquet"].map(|name| folder.path().join(name));
    write_file(&sorted, &columns, &writing);
    let open = |path: &Path| lao::open(path, &ReadOptions::default()).unwrap();
    let note = |path: &Path| {
        let fitted = Fit::within(6).run(&open(path).target("y").unwrap()).unwrap();
        fitted.notes.iter().any(|note| note.contains("the rows of a page are alike"))
    };
    assert!(note(&sorted));
    let how = Rewriting { page: Some(50), shuffled: true };
    open(&sorted).rewrite(std::fs::File::create(&shuffled).unwrap(), how).unwrap();
    assert!(!note(&shuffled));
    // The rows are the same ones.
    let rows = |path: &Path| {
        let frame = open(path).whole().unwrap();
        let texts: Vec<Vec<String>> = frame.names().map(|name| frame.texts(name).unwrap()).collect();
        (0..frame.rows()).map(|row| texts.iter().map(|column| column[row].clone()).collect()).collect()
    };
    let (before, mut after): (Vec<Vec<String>>, Vec<Vec<String>>) = (rows(&sorted), rows(&shuffled));
    assert!(before != after);
    let mut same = before.clone();
    same.sort();
    after.sort();
    assert!(same == after);
    // A table in memory is written in the same order.
    let mut of_frame = Vec::new();
    open(&sorted).whole().unwrap().write_parquet(&mut of_frame, how).unwrap();
    let path = folder.path().join("frame.parquet");
    std::fs::write(&path, of_frame).unwrap();
    assert!(rows(&path) == rows(&shuffled));
}
