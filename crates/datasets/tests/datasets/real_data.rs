//! The datasets of the catalog have the shapes, entries and labels that the manifest and their papers give.
//! What is not at hand is not tested, and the test prints the reason.

use lao_datasets::catalog::{Catalog, CatalogError, Loaded};
use lao_datasets::format::Table;
use lao_datasets::memory::By;
use lao_datasets::preprocess::{constant_columns, duplicate_columns, normalize_rows};
use lao_finite_sum::{Batch, FiniteSum, Gradient, Loss, Predictor};

/// The dataset, or `None` with the reason printed if it is not at hand. Anything else wrong with it fails the
/// test.
fn at_hand(name: &str) -> Option<Loaded> {
    match Catalog::from_env().unwrap().load(name) {
        Ok(loaded) => Some(loaded),
        Err(reason @ CatalogError::Missing { .. }) => {
            eprintln!("not run: {reason}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn shipped_data_load_from_the_project() {
    let digits = at_hand("digits").unwrap();
    let table = digits.train.dense().unwrap();
    assert_eq!((table.rows(), table.columns()), (1797, 64));
    assert!(table.values().iter().all(|v| (0.0..=16.0).contains(v) && v.fract() == 0.0));
    assert_eq!(table.labels.iter().filter(|y| **y == 3.0).count(), 183);
    assert_eq!(table.names.as_ref().unwrap()[9], "pixel_1_1");

    let diabetes = at_hand("diabetes").unwrap();
    let table = diabetes.train.dense().unwrap();
    assert_eq!((table.rows(), table.columns()), (442, 10));
    assert_eq!(table.column(0)[..3], [59.0, 48.0, 72.0]);
    assert_eq!(table.labels[..3], [151.0, 75.0, 141.0]);
}

#[test]
fn every_dataset_at_hand_loads_with_the_counts_of_the_manifest() {
    let catalog = Catalog::from_env().unwrap();
    for dataset in catalog.datasets() {
        if let Some(loaded) = at_hand(&dataset.name) {
            let (rows, dim, nonzeros) = (loaded.train.rows(), loaded.train.dim(), loaded.train.nonzeros());
            let density = nonzeros as f64 / (rows as f64 * dim as f64);
            eprintln!("{}: {rows} x {dim}, {nonzeros} nonzeros ({:.3} %)", dataset.name, 100.0 * density);
        }
    }
}

#[test]
fn mnist_three_against_five_has_the_usual_counts() {
    let Some(mnist) = at_hand("mnist") else { return };
    let count = |labels: &[f64], digit| labels.iter().filter(|y| **y == digit).count();
    let (train, test) = (mnist.train.labels(), mnist.test.as_ref().unwrap().labels());
    assert_eq!((count(train, 3.0), count(train, 5.0)), (6131, 5421));
    assert_eq!((count(test, 3.0), count(test, 5.0)), (1010, 892));
}

#[test]
fn w8a_is_binary_with_empty_rows() {
    let Some(w8a) = at_hand("w8a") else { return };
    let rows = w8a.train.sparse().unwrap();
    assert!(rows.values.iter().all(|v| *v == 1.0));
    assert_eq!((0..rows.rows()).filter(|&i| rows.row(i).indices.is_empty()).count(), 4203);
    assert_eq!(rows.labels.iter().filter(|y| **y == 1.0).count(), 1479);
}

#[test]
fn news20_uses_60346_of_its_columns_and_20_even_classes() {
    let Some(news) = at_hand("news20") else { return };
    let rows = news.train.sparse().unwrap();
    let mut used = vec![false; rows.dim];
    rows.indices.iter().for_each(|&j| used[j as usize] = true);
    assert_eq!(used.iter().filter(|u| **u).count(), 60_346);
    for class in 1..=20 {
        let count = rows.labels.iter().filter(|y| **y == f64::from(class)).count();
        assert!((780..=800).contains(&count), "class {class} has {count} rows");
    }
}

#[test]
fn rcv1_sample_has_unit_rows() {
    let Some(rcv1) = at_hand("rcv1-sample") else { return };
    let rows = rcv1.train.sparse().unwrap();
    assert!((rows.entries() as f64 / rows.rows() as f64 - 77.7).abs() < 0.05);
    for i in 0..rows.rows() {
        let norm: f64 = rows.row(i).values.iter().map(|v| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-5, "row {i} has squared norm {norm}");
    }
}

#[test]
fn blog_feedback_counts_comments() {
    let Some(blog) = at_hand("blog-feedback") else { return };
    let labels = blog.train.labels();
    assert!(labels.iter().all(|y| (0.0..=1424.0).contains(y)));
    let zeros = labels.iter().filter(|y| **y == 0.0).count() as f64 / labels.len() as f64;
    assert!((zeros - 0.64).abs() < 0.005);
    let table = blog.train.dense().unwrap();
    assert_eq!(constant_columns(table).len(), 4);
    assert_eq!(duplicate_columns(table).len(), 27);
}

#[test]
fn ct_slice_sample_holds_two_patients() {
    let Some(ct) = at_hand("ct-slice-sample") else { return };
    let table = ct.train.dense().unwrap();
    let groups = table.groups.as_ref().unwrap();
    assert_eq!(groups.iter().max(), Some(&1));
    let (low, high) = table.labels.iter().fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
    assert!((low - 5.94).abs() < 0.01 && (high - 39.76).abs() < 0.01, "{low}..{high}");
    assert_eq!(table.names.as_ref().unwrap()[0], "value0");
}

/// Gradients of the same sum in both layouts, and the first of them.
fn gradients(rows: &Table, loss: &Loss) -> (FiniteSum, Gradient) {
    let sum = |by| FiniteSum::new(rows.examples(by).unwrap(), loss.clone()).unwrap();
    let mut sums = [By::Rows, By::Columns].map(sum);
    let zero = Predictor::zeros(rows.dim(), loss.outputs());
    let [first, second] = sums.each_mut().map(|sum| {
        let mut gradient = Gradient::default();
        sum.gradient(Batch::All, &zero, &mut gradient).unwrap();
        gradient
    });
    let pairs = first.coefficients.iter().flatten().zip(second.coefficients.iter().flatten());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
    let [sum, _] = sums;
    (sum, first)
}

#[test]
fn digits_are_a_finite_sum_in_both_layouts_and_precisions() {
    let digits = at_hand("digits").unwrap().train;
    let loss = Loss::softmax(digits.labels()).unwrap();
    let (sum, _) = gradients(&digits, &loss);
    assert_eq!((sum.len(), sum.dim(), sum.outputs()), (1797, 64, 10));
    // Whole numbers up to 16 lose nothing in single precision.
    let mut single = FiniteSum::new(digits.single_examples(By::Rows).unwrap(), loss).unwrap();
    let at = Predictor::zeros(64, 10);
    assert_eq!(single.objective(&at), sum.clone().objective(&at));
}

#[test]
fn news20_with_rows_of_unit_length_is_a_finite_sum_of_20_classes() {
    let Some(news) = at_hand("news20") else { return };
    let mut rows = news.train.sparse().unwrap().clone();
    normalize_rows(&mut rows);
    let loss = Loss::softmax(&rows.labels).unwrap();
    let (mut sum, _) = gradients(&Table::Sparse(rows), &loss);
    assert!((sum.component_smoothness() - 0.5).abs() < 1e-12, "unit rows");
    let uniform = sum.objective(&Predictor::zeros(sum.dim(), 20)).unwrap();
    assert!((uniform - 20_f64.ln()).abs() < 1e-12);
}

#[test]
fn sparse_binary_sets_have_the_gradient_of_their_labels_at_zero() {
    for name in ["w8a", "rcv1-sample", "rcv1-train-binary", "real-sim"] {
        let Some(loaded) = at_hand(name) else { continue };
        let rows = loaded.train.sparse().unwrap();
        let (_, gradient) = gradients(&loaded.train, &Loss::logistic(&rows.labels).unwrap());
        let mut expected = vec![0.0; rows.dim];
        for i in 0..rows.rows() {
            let row = rows.row(i);
            for (&j, value) in row.indices.iter().zip(row.values) {
                expected[j as usize] -= 0.5 * row.label * value / rows.rows() as f64;
            }
        }
        let found = &gradient.coefficients[0];
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
    }
}
