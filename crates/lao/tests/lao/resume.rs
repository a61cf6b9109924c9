//! Tables that lie elsewhere, and learners that go on with more examples.

use lao::observation::SourceError;
use lao::{Error, Examples, Fit, Fitted, Label, Missing, ReadOptions, Table, TableParts};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DIM: usize = 6;

/// Returns a number from -1 to 1 without any pattern.
fn number(seed: u32) -> f64 {
    let word = u64::from(seed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn columns(rows: u32) -> Vec<Vec<f64>> {
    (0..DIM as u32).map(|j| (0..rows).map(|i| number(i * 8 + j)).collect()).collect()
}

fn labels(columns: &[Vec<f64>]) -> Vec<f64> {
    (0..columns[0].len())
        .map(|i| 3.0 * columns[1][i] - columns[4][i] + 0.1 * number(8 * i as u32 + 7))
        .collect()
}

fn parts(table: Arc<dyn Table>, labels: Vec<f64>, rows: Vec<u32>) -> TableParts {
    let names = (0..DIM).map(|j| format!("x{j}")).collect();
    TableParts { table, name: "t".into(), names, target: "y".into(), label: Label::Number, labels, rows }
}

fn all(rows: u32) -> Examples {
    let columns = columns(rows);
    let labels = labels(&columns);
    Examples::from_table(parts(Arc::new(columns), labels, (0..rows).collect())).unwrap()
}

#[test]
fn a_table_gives_the_bits_of_a_frame_of_the_same_numbers() {
    let columns = columns(900);
    let labels = labels(&columns);
    let mut text = "x0,x1,x2,x3,x4,x5,y\n".to_owned();
    for i in 0..900 {
        let row: Vec<String> = columns.iter().map(|column| column[i].to_string()).collect();
        text += &format!("{},{}\n", row.join(","), labels[i]);
    }
    let frame = lao::Frame::parse(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
    let of_frame = Fit::within(3).run(&frame.clone().target("y").unwrap()).unwrap().model;
    let of_table = Fit::within(3).run(&all(900)).unwrap().model;
    assert_eq!(of_frame.coefficients, of_table.coefficients);
    assert_eq!((of_frame.intercept, &of_frame.holdout), (of_table.intercept, &of_table.holdout));
    assert_eq!(of_table.predict(&frame, Missing::Mean).unwrap().values.len(), 900);
}

#[test]
fn a_learner_goes_on_with_more_examples_also_when_it_was_stored() {
    let columns = columns(1200);
    let labels = labels(&columns);
    let table: Arc<dyn Table> = Arc::new(columns);
    let part = |rows: std::ops::Range<u32>| {
        Examples::from_table(parts(Arc::clone(&table), labels.clone(), rows.collect())).unwrap()
    };
    for method in ["pursuit", "hybrid"] {
        let fit = Fit::within(3).method(method).holdout(0.0);
        let Fitted { learned, model, .. } = fit.run(&part(0..400)).unwrap();
        let stored = serde_json::to_string(&learned).unwrap();
        let restored = serde_json::from_str(&stored).unwrap();
        let on = |learned| fit.resume(learned, &part(400..1200), |_| {}).unwrap().model;
        let (one, other) = (on(learned), on(restored));
        assert_eq!(one, other, "{method}");
        assert_eq!(one.spent.examples, model.spent.examples + 800, "{method}");
    }
}

/// A table that ends the stream after some reads.
#[derive(Debug)]
struct Ends {
    columns: Vec<Vec<f64>>,
    left: AtomicU64,
}

impl Table for Ends {
    fn dim(&self) -> usize {
        DIM
    }

    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.left.store(0, Ordering::Relaxed);
            return Ok(ControlFlow::Break(()));
        }
        self.columns.read(attributes, rows, into)
    }
}

#[test]
fn a_table_that_ends_the_stream_leaves_what_was_learned() {
    let columns = columns(2000);
    let labels = labels(&columns);
    let table = Arc::new(Ends { columns, left: AtomicU64::new(40) });
    let examples = Examples::from_table(parts(table, labels, (0..2000).collect())).unwrap();
    let fitted = Fit::within(3).holdout(0.0).run(&examples).unwrap();
    assert!(fitted.found && fitted.model.spent.examples < 1000, "{}", fitted.model);
    assert!(fitted.model.score(&examples).unwrap().is_none(), "nothing was read");
}

#[test]
fn few_examples_give_the_mean_of_the_labels() {
    let few = all(7);
    let fitted = Fit::within(3).run(&few).unwrap();
    let mean = few.labels().unwrap().iter().sum::<f64>() / 7.0;
    assert!(!fitted.found && fitted.model.intercept == mean && !fitted.notes.is_empty());
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let columns = columns(10);
    let labels = labels(&columns);
    let table: Arc<dyn Table> = Arc::new(columns);
    let good = || parts(Arc::clone(&table), labels.clone(), (0..10).collect());
    let refused = |parts: TableParts, text: &str| {
        let error: Error = Examples::from_table(parts).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(TableParts { names: vec!["x0".into()], ..good() }, "1 names for 6 attributes");
    refused(TableParts { names: vec!["x".into(); DIM], ..good() }, "two attributes have this name");
    refused(TableParts { rows: vec![3, 10], ..good() }, "row 10 has no label");
    let classes = Label::Classes { positive: "a".into(), negative: "b".into() };
    refused(TableParts { label: classes, ..good() }, "give a finite number or a class");
    let infinite = TableParts { labels: vec![f64::INFINITY; 10], ..good() };
    refused(infinite, "the label of row 0 is inf");
    let missing = TableParts { labels: vec![f64::NAN; 10], ..good() };
    assert!(Examples::from_table(missing).unwrap().is_empty());
}
