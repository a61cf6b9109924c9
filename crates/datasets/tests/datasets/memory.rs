//! Sources in memory: three storages, one answer.

use lao_datasets::format::{DenseTable, SparseRow, SparseRows};
use lao_datasets::memory::{Columns, MemoryError, Rows, SparseRowsSource};
use lao_kernels::{SparseVector, merge_into};
use lao_observation::source::gradient_by_blocks;
use lao_observation::testing::check_source;
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source, SourceError};
use proptest::prelude::*;

/// A table as plain rows.
#[derive(Clone, Debug)]
struct Plain {
    dim: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
}

impl Plain {
    fn columns(&self) -> Columns<f64> {
        let values = (0..self.dim).flat_map(|j| self.rows.iter().map(move |row| row[j])).collect();
        Columns::new(self.dim, values, self.labels.clone()).unwrap()
    }

    fn rows(&self) -> Rows<f64> {
        Rows::new(self.dim, self.rows.concat(), self.labels.clone()).unwrap()
    }

    fn sparse(&self) -> SparseRowsSource {
        let mut table = SparseRows::new(self.dim);
        for (row, &label) in self.rows.iter().zip(&self.labels) {
            let row = SparseVector::from_dense(row);
            table.push(SparseRow { label, indices: row.indices(), values: row.values() });
        }
        SparseRowsSource::new(table).unwrap()
    }

    fn sources(&self) -> Vec<Box<dyn Source>> {
        vec![Box::new(self.columns()), Box::new(self.rows()), Box::new(self.sparse())]
    }

    /// The definition, over stored rows `from..to`.
    fn gradient(&self, theta: &SparseVector, attributes: &[u32], from: usize, to: usize) -> Vec<f64> {
        let mut sum = vec![0.0; attributes.len()];
        for i in from..to {
            let residual = theta.view().dot_dense(&self.rows[i]) - self.labels[i];
            for (sum, &j) in sum.iter_mut().zip(attributes) {
                *sum += 2.0 * residual * self.rows[i][j as usize];
            }
        }
        sum
    }
}

fn tables() -> impl Strategy<Value = Plain> {
    (1..9_usize, 0..40_usize).prop_flat_map(|(dim, rows)| {
        let value = prop_oneof![Just(0.0), -3.0..3.0];
        let row = proptest::collection::vec(value, dim);
        (proptest::collection::vec(row, rows), proptest::collection::vec(-5.0..5.0, rows))
            .prop_map(move |(rows, labels)| Plain { dim, rows, labels })
    })
}

/// A table that takes several tiles, the last one ragged.
fn large(rows: usize) -> Plain {
    let cell = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64 / 25.0 - 2.0;
    Plain {
        dim: 12,
        rows: (0..rows).map(|i| (0..12).map(|j| cell(i, j)).collect()).collect(),
        labels: (0..rows).map(|i| cell(i, 77)).collect(),
    }
}

fn ask(
    source: &mut (impl Source + ?Sized),
    theta: &SparseVector,
    attributes: &[u32],
    examples: u64,
) -> (u64, Vec<f64>) {
    let mut observed = Vec::new();
    merge_into(theta.indices(), attributes, &mut observed);
    let ask = GradientAsk { theta: theta.view(), attributes, observed: &observed, examples };
    let mut sum = vec![0.0; attributes.len()];
    let served = source.gradient(ask, &mut sum, &mut Scratch::default()).unwrap();
    (served, sum)
}

fn assert_close(a: &[f64], b: &[f64], scale: f64) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * scale, "{a} against {b}");
    }
}

proptest! {
    #[test]
    fn every_storage_shows_the_table(plain in tables(), keep in 0..512_u32, room in 1..50_usize) {
        let attributes: Vec<u32> = (0..plain.dim as u32).filter(|j| keep >> j & 1 == 1).collect();
        for mut source in plain.sources() {
            let mut block = BlockBuf::new();
            let mut next = 0;
            loop {
                block.reset(attributes.len(), room);
                let rows = source.observe(&attributes, &mut block).unwrap();
                let view = block.view(&attributes);
                prop_assert_eq!(view.rows(), rows);
                prop_assert_eq!(view.labels(), &plain.labels[next..next + rows]);
                for (c, &j) in attributes.iter().enumerate() {
                    let stored: Vec<f64> =
                        plain.rows[next..next + rows].iter().map(|row| row[j as usize]).collect();
                    prop_assert_eq!(view.column(c), &stored[..]);
                }
                next += rows;
                prop_assert_eq!(source.position(), next as u64);
                if rows == 0 {
                    break;
                }
            }
            prop_assert_eq!(next, plain.labels.len());
        }
    }

    #[test]
    fn every_storage_gives_the_gradient_of_the_definition(
        plain in tables(),
        keep in 0..512_u32,
        weights in proptest::collection::vec(prop_oneof![Just(0.0), -2.0..2.0], 9),
        examples in 1..60_u64,
    ) {
        let attributes: Vec<u32> = (0..plain.dim as u32).filter(|j| keep >> j & 1 == 1).collect();
        let theta = SparseVector::from_dense(&weights[..plain.dim]);
        let expected = examples.min(plain.labels.len() as u64);
        let naive = plain.gradient(&theta, &attributes, 0, expected as usize);
        for mut source in plain.sources() {
            let (served, sum) = ask(&mut source, &theta, &attributes, examples);
            prop_assert_eq!(served, expected);
            assert_close(&sum, &naive, 1e5);
        }
    }
}

#[test]
fn every_storage_keeps_the_contract_of_a_source() {
    let seed = Seed::root(4);
    // Fewer rows than are looked at, none, more, and the end of a pass in the middle.
    for (rows, passes) in [(50, 1), (0, 1), (5000, 1), (30, 3)] {
        let plain = large(rows);
        for storage in 0..3 {
            for shuffled in [false, true] {
                let make = || -> Box<dyn Source> {
                    let (columns, table) = (plain.columns(), plain.rows());
                    match (storage, shuffled) {
                        (0, false) => Box::new(columns.with_passes(passes)),
                        (0, true) => Box::new(columns.shuffled(&seed).with_passes(passes)),
                        (1, false) => Box::new(table.with_passes(passes)),
                        (1, true) => Box::new(table.shuffled(&seed).with_passes(passes)),
                        (_, false) => Box::new(plain.sparse().with_passes(passes)),
                        (_, true) => Box::new(plain.sparse().shuffled(&seed).with_passes(passes)),
                    }
                };
                let what = format!("storage {storage}, {rows} rows, {passes} passes, shuffled: {shuffled}");
                check_source(make).unwrap_or_else(|fault| panic!("{what}: {fault}"));
            }
        }
    }
}

#[test]
fn large_asks_go_over_tiles_and_passes() {
    let plain = large(5000);
    let theta = SparseVector::new(12, vec![1, 4, 11], vec![0.5, -1.0, 2.0]).unwrap();
    let attributes = [0, 4, 5, 6, 7];
    let sources: [Box<dyn Source>; 3] = [
        Box::new(plain.columns().with_passes(2)),
        Box::new(plain.rows().with_passes(2)),
        Box::new(plain.sparse().with_passes(2)),
    ];
    for mut source in sources {
        source.seek(3001).unwrap();
        let (served, sum) = ask(&mut source, &theta, &attributes, 4000);
        assert_eq!((served, source.position()), (4000, 7001));
        let mut naive = plain.gradient(&theta, &attributes, 3001, 5000);
        for (naive, more) in naive.iter_mut().zip(plain.gradient(&theta, &attributes, 0, 2001)) {
            *naive += more;
        }
        assert_close(&sum, &naive, 1e5);

        // The default answer, from blocks.
        source.seek(3001).unwrap();
        let mut observed = Vec::new();
        merge_into(theta.indices(), &attributes, &mut observed);
        let ask_again =
            GradientAsk { theta: theta.view(), attributes: &attributes, observed: &observed, examples: 4000 };
        let mut by_blocks = [0.0; 5];
        gradient_by_blocks(&mut source, ask_again, &mut by_blocks, &mut Scratch::default()).unwrap();
        assert_close(&by_blocks, &naive, 1e5);

        // Dry in the middle, then dry.
        assert_eq!(ask(&mut source, &theta, &attributes, 4000).0, 2999);
        assert_eq!(ask(&mut source, &theta, &attributes, 4000).0, 0);
        assert!(matches!(source.seek(10_001), Err(SourceError::Seek { end: 10_000, .. })));
    }
}

#[test]
fn single_precision_stores_the_rounded_table() {
    let plain = large(300);
    let mut single = plain.columns().to_single().unwrap();
    assert_eq!((single.value_bytes(), plain.columns().value_bytes()), (4, 8));
    let mut block = BlockBuf::new();
    block.reset(2, 300);
    single.observe(&[3, 9], &mut block).unwrap();
    for (value, row) in block.view(&[3, 9]).column(1).iter().zip(&plain.rows) {
        assert_eq!(*value, f64::from(row[9] as f32));
    }
    let huge = Columns::new(1, vec![1e300], vec![0.0]).unwrap();
    assert!(matches!(huge.to_single(), Err(MemoryError::Value { row: 0, attribute: 0, .. })));
}

#[test]
fn shuffling_permutes_whole_rows_alike_in_every_storage() {
    let plain = large(500);
    let seed = Seed::root(9);
    let shuffled: [Box<dyn Source>; 3] = [
        Box::new(plain.columns().shuffled(&seed)),
        Box::new(plain.rows().shuffled(&seed)),
        Box::new(plain.sparse().shuffled(&seed)),
    ];
    let every: Vec<u32> = (0..12).collect();
    let seen = shuffled.map(|mut source| {
        let mut block = BlockBuf::new();
        block.reset(12, 500);
        source.observe(&every, &mut block).unwrap();
        let view = block.view(&every);
        let row = |i: usize| (0..12).map(|c| view.column(c)[i]).chain([view.labels()[i]]).collect::<Vec<_>>();
        (0..500).map(row).collect::<Vec<_>>()
    });
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    let mut stored: Vec<Vec<f64>> =
        plain.rows.iter().zip(&plain.labels).map(|(row, y)| [&row[..], &[*y]].concat()).collect();
    assert_ne!(seen[0], stored);
    let mut sorted = seen[0].clone();
    let order = |a: &Vec<f64>, b: &Vec<f64>| a.partial_cmp(b).unwrap();
    sorted.sort_by(order);
    stored.sort_by(order);
    assert_eq!(sorted, stored);
}

#[test]
fn tables_without_rows_are_dry_at_once() {
    let empty = Plain { dim: 3, rows: vec![], labels: vec![] };
    let theta = SparseVector::zeros(3);
    for mut source in empty.sources() {
        assert_eq!(ask(&mut source, &theta, &[0, 2], 10).0, 0);
        let mut block = BlockBuf::new();
        block.reset(1, 5);
        assert_eq!(source.observe(&[1], &mut block).unwrap(), 0);
    }
    assert_eq!(empty.columns().shuffled(&Seed::root(1)).rows(), 0);
}

#[test]
fn bad_parts_are_refused_by_name() {
    assert_eq!(
        Columns::new(2, vec![1.0; 5], vec![0.0; 3]).unwrap_err(),
        MemoryError::Shape { values: 5, rows: 3, dim: 2 }
    );
    assert_eq!(Rows::<f32>::new(0, vec![], vec![]).unwrap_err(), MemoryError::Dimension { dim: 0 });
    let nan = vec![0.0, 1.0, 2.0, f64::INFINITY, 4.0, 5.0];
    let bad = |row, attribute| MemoryError::Value { row, attribute, value: f64::INFINITY };
    assert_eq!(Columns::new(2, nan.clone(), vec![0.0; 3]).unwrap_err(), bad(0, 1));
    assert_eq!(Rows::new(2, nan, vec![0.0; 3]).unwrap_err(), bad(1, 1));
    assert!(matches!(
        Rows::new(1, vec![0.0; 2], vec![0.0, f64::NAN]).unwrap_err(),
        MemoryError::Label { row: 1, .. }
    ));
    let table = |starts: &[usize], indices: &[u32]| SparseRows {
        starts: starts.to_vec(),
        indices: indices.to_vec(),
        values: vec![1.0; indices.len()],
        labels: vec![0.0; 2],
        dim: 4,
    };
    assert!(SparseRowsSource::new(table(&[0, 1, 3], &[3, 0, 2])).is_ok());
    let refused =
        |starts: &[usize], indices: &[u32]| SparseRowsSource::new(table(starts, indices)).unwrap_err();
    assert!(matches!(refused(&[0, 1], &[3]), MemoryError::Boundary { .. }));
    assert!(matches!(refused(&[0, 2, 1], &[1, 2]), MemoryError::Boundary { place: 2, found: 1, .. }));
    assert!(matches!(refused(&[0, 1, 2], &[1, 2, 3]), MemoryError::Boundary { place: 2, found: 2, .. }));
    assert!(matches!(refused(&[0, 2, 2], &[2, 2]), MemoryError::Entry { row: 0, attribute: 2, .. }));
    assert!(matches!(refused(&[0, 0, 1], &[4]), MemoryError::Entry { row: 1, attribute: 4, .. }));
}

#[test]
fn tables_read_from_files_become_sources() {
    let table = DenseTable::from_rows(2, vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0]).unwrap();
    let mut source = Columns::try_from(&table).unwrap();
    let theta = SparseVector::new(2, vec![0], vec![1.0]).unwrap();
    let (_, sum) = ask(&mut source, &theta, &[1], 2);
    assert_eq!(sum, [2.0 * ((1.0 - 5.0) * 2.0 + (3.0 - 6.0) * 4.0)]);
}

#[test]
fn attributes_that_do_not_exist_are_refused() {
    for mut source in large(3).sources() {
        let mut block = BlockBuf::new();
        block.reset(1, 1);
        assert!(source.observe(&[12], &mut block).is_err());
        let theta = SparseVector::zeros(13);
        let ask = GradientAsk { theta: theta.view(), attributes: &[12], observed: &[12], examples: 1 };
        assert!(source.gradient(ask, &mut [0.0], &mut Scratch::default()).is_err());
    }
}
