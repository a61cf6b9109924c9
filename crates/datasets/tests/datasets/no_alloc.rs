//! Sources allocate nothing once their buffers, and those of the session, have grown.

use lao_datasets::format::{SparseRow, SparseRows};
use lao_datasets::memory::{Columns, Rows, SparseRowsSource};
use lao_datasets::synthetic::*;
use lao_kernels::{SparseVector, merge_into};
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source};
use lao_testing::allocations_so_far;
use std::sync::Arc;

const DIM: usize = 32;

/// Asks for values and gradients; says how many allocations the later rounds made.
fn allocations_after_warm_up(mut source: impl Source) -> usize {
    let attributes = [3, 4, 5, 30];
    let theta = SparseVector::new(DIM, vec![4, 20], vec![1.0, -1.0]).unwrap();
    let mut observed = Vec::new();
    merge_into(&attributes, theta.indices(), &mut observed);
    let (mut block, mut scratch, mut sum) = (BlockBuf::new(), Scratch::default(), [0.0; 4]);
    let mut before = 0;
    for round in 0..6 {
        if round == 1 {
            before = allocations_so_far();
        }
        for (room, examples) in [(200, 3000), (1, 1), (77, 500)] {
            block.reset(attributes.len(), room);
            assert_eq!(source.observe(&attributes, &mut block).unwrap(), room);
            let ask =
                GradientAsk { theta: theta.view(), attributes: &attributes, observed: &observed, examples };
            assert_eq!(source.gradient(ask, &mut sum, &mut scratch).unwrap(), examples);
        }
        source.seek(0).unwrap();
    }
    allocations_so_far() - before
}

#[test]
fn virtual_designs_allocate_only_at_first() {
    let loadings = vec![0.3; 2 * DIM];
    let designs: Vec<Arc<dyn Design>> = vec![
        Arc::new(Rademacher::new(DIM).unwrap()),
        Arc::new(Normal::new(DIM).unwrap()),
        Arc::new(HadamardPairs::new(DIM, 0.5).unwrap()),
        Arc::new(Centered::new(DIM).unwrap()),
        Arc::new(EquicorrelatedBlocks::new(DIM, 4, 0.5).unwrap()),
        Arc::new(FactorModel::new(2, loadings).unwrap()),
        Arc::new(Combinations::new((0..DIM as u32).map(|j| vec![(j / 2, 0.5), (3, 1.0)]).collect()).unwrap()),
        Arc::new(Sphere::new(DIM).unwrap()),
    ];
    let star = SparseVector::new(DIM, vec![0, 31], vec![1.0, 2.0]).unwrap();
    for design in designs {
        for noise in [Noise::Gaussian(1.0), Noise::Signs(1.0)] {
            let name = format!("{design:?}");
            let source = Virtual::new(design.clone(), star.clone(), noise, &Seed::root(1)).unwrap();
            assert_eq!(allocations_after_warm_up(source), 0, "{name}");
        }
    }
    let hadamard = HadamardPairs::new(DIM, 0.5).unwrap();
    let plain = Virtual::new(hadamard, star, Noise::Signs(1.0), &Seed::root(1)).unwrap();
    assert_eq!(allocations_after_warm_up(Counted::new(plain).unwrap()), 0);
}

#[test]
fn tables_allocate_only_at_first() {
    let rows = 5000;
    let values: Vec<f64> = (0..DIM * rows).map(|i| (i % 101) as f64).collect();
    let labels = vec![1.0; rows];
    let columns = Columns::new(DIM, values.clone(), labels.clone()).unwrap();
    assert_eq!(allocations_after_warm_up(columns.to_single().unwrap()), 0);
    assert_eq!(allocations_after_warm_up(columns), 0);
    assert_eq!(allocations_after_warm_up(Rows::new(DIM, values, labels).unwrap()), 0);
    let mut table = SparseRows::new(DIM);
    for i in 0..rows {
        table.push(SparseRow { label: 1.0, indices: &[3, 20], values: &[1.0, i as f64] });
    }
    assert_eq!(allocations_after_warm_up(SparseRowsSource::new(table).unwrap()), 0);
}
