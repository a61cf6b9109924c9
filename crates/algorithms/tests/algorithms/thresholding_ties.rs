//! Exact ties. On data of -1, 0 and 1 with step sizes that are powers of two, the first epochs are exact in
//! double precision and there are many ties. Every step must have the bits of its dense twin, which breaks
//! ties by the lower index.

use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, ScsgParams, Shape, Solver, SolverProgress,
};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_kernels::Compressed;
use lao_observation::Seed;
use proptest::prelude::*;
use rand::RngExt;

const N: usize = 4;
const DIM: usize = 12;
const ETA: f64 = 0.125;

fn sum(table: &[f64], labels: &[f64], sparse: bool) -> FiniteSum {
    let loss = Loss::least_squares(labels.to_vec()).unwrap();
    if !sparse {
        return FiniteSum::new(DesignMatrix::rows(N, DIM, table.to_vec()).unwrap(), loss).unwrap();
    }
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in table.chunks(DIM) {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(j as u32);
            values.push(value);
        }
        starts.push(indices.len());
    }
    let rows = Compressed::new(DIM, starts, indices, values).unwrap();
    FiniteSum::new(DesignMatrix::compressed_rows(rows), loss).unwrap()
}

fn slope(row: &[f64], label: f64, x: &[f64]) -> f64 {
    2.0 * (row.iter().zip(x).map(|(z, x)| z * x).sum::<f64>() - label)
}

fn mean_gradient(table: &[f64], labels: &[f64], x: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; DIM];
    for (row, label) in table.chunks(DIM).zip(labels) {
        let slope = slope(row, *label, x);
        mean.iter_mut().zip(row).for_each(|(mean, z)| *mean += slope * z / N as f64);
    }
    mean
}

fn keep(x: &mut [f64], k: usize) {
    let mut order: Vec<usize> = (0..DIM).collect();
    order.sort_by(|&i, &j| x[j].abs().total_cmp(&x[i].abs()).then(i.cmp(&j)));
    order.into_iter().skip(k).for_each(|j| x[j] = 0.0);
}

proptest! {
    #[test]
    fn ties_go_to_the_lower_index_in_every_step(
        table in proptest::collection::vec(
            prop_oneof![4 => Just(0.0), 1 => Just(1.0), 1 => Just(-1.0)],
            N * DIM,
        ),
        labels in proptest::collection::vec((-2..=2_i32).prop_map(f64::from), N),
        k in 1..DIM,
        sparse in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut sum = sum(&table, &labels, sparse);
        let length = EpochLength::Ratio;
        let params = ScsgParams { sparsity: k, step_size: ETA, batch: N, mini_batch: 1, length, start: None };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let (mut rng, mut twin) = (Seed::root(seed).rng(), Seed::root(seed).rng());
        let mut x = vec![0.0; DIM];
        for _ in 0..2 {
            prop_assert_eq!(solver.step(&mut sum, &mut rng).unwrap(), SolverProgress::Evaluated);
            let (anchor, mu) = (x.clone(), mean_gradient(&table, &labels, &x));
            for _ in 0..N {
                solver.step(&mut sum, &mut rng).unwrap();
                let i = twin.random_range(0..N);
                let row = &table[i * DIM..][..DIM];
                let change = slope(row, labels[i], &x) - slope(row, labels[i], &anchor);
                for j in 0..DIM {
                    x[j] -= ETA * (change * row[j] + mu[j]);
                }
                keep(&mut x, k);
                prop_assert_eq!(&solver.coefficients().coefficients[0].view().to_dense(), &x);
            }
        }
    }

    #[test]
    fn full_gradient_steps_break_ties_the_same_way(
        table in proptest::collection::vec((-1..=1_i32).prop_map(f64::from), N * DIM),
        labels in proptest::collection::vec((-2..=2_i32).prop_map(f64::from), N),
        k in 1..DIM,
        sparse in any::<bool>(),
    ) {
        let mut sum = sum(&table, &labels, sparse);
        let params = GdParams { sparsity: k, step: GdStep::Fixed(ETA), refit: false, start: None };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let (mut x, mut rng) = (vec![0.0; DIM], Seed::root(1).rng());
        for _ in 0..5 {
            solver.step(&mut sum, &mut rng).unwrap();
            let gradient = mean_gradient(&table, &labels, &x);
            x.iter_mut().zip(&gradient).for_each(|(x, gradient)| *x -= ETA * gradient);
            keep(&mut x, k);
            prop_assert_eq!(&solver.coefficients().coefficients[0].view().to_dense(), &x);
        }
    }
}
