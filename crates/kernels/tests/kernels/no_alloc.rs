//! The kernels of a learner's loop allocate nothing once their buffers have grown.

use lao_kernels::{
    HardThreshold, SparseVector, Threshold, gather_dot, gradient_block, merge_into, project_l1_ball,
    residual, scatter_axpy,
};
use lao_testing::allocations;

/// Some numbers without structure, different for each `call`.
fn fill(dense: &mut [f64], call: usize) {
    for (j, value) in dense.iter_mut().enumerate() {
        *value = ((j * 7919 + call * 104_729) % 10_007) as f64 - 5_000.0;
    }
}

#[test]
fn thresholding_allocates_only_at_first() {
    for (dim, sparsity) in [(500, 50), (50_000, 40), (1000, 999), (64, 100)] {
        let mut threshold = HardThreshold::default();
        let (mut dense, mut kept) = (vec![0.0; dim], SparseVector::zeros(dim));
        fill(&mut dense, 0);
        threshold.keep(&dense, sparsity, &mut kept).unwrap();
        let count = allocations(|| {
            for call in 1..20 {
                fill(&mut dense, call);
                // Shrinking magnitudes spoil the warm start, so every path is taken.
                dense.iter_mut().for_each(|value| *value *= 0.5_f64.powi(call as i32 % 7));
                threshold.keep(&dense, sparsity, &mut kept).unwrap();
            }
        });
        assert_eq!(count, 0, "dimension {dim}, sparsity {sparsity}");
    }
}

#[test]
fn products_merges_and_projections_allocate_nothing() {
    let columns = vec![vec![0.5; 1000]; 11];
    let theta = SparseVector::new(11, (0..11).collect(), vec![0.25; 11]).unwrap();
    let (labels, mut r, mut sums) = (vec![1.0; 1000], vec![0.0; 1000], vec![0.0; 11]);
    let (mut merged, mut scratch, mut copy) = (Vec::with_capacity(8), Vec::with_capacity(11), theta.clone());
    let count = allocations(|| {
        residual(
            theta.view().iter().map(|(j, value)| (columns[j as usize].as_slice(), value)),
            &labels,
            &mut r,
        );
        gradient_block(columns.iter().map(Vec::as_slice), &r, &mut sums);
        scatter_axpy(
            &mut sums,
            theta.indices(),
            theta.values(),
            gather_dot(theta.indices(), theta.values(), &r),
        );
        merge_into(&[1, 2, 5, 9], &[0, 2, 6, 7], &mut merged);
        project_l1_ball(&mut sums, 1.0, &mut scratch).unwrap();
        copy.copy_from(theta.view());
    });
    assert_eq!(count, 0);
}
