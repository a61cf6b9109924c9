//! Kernels at lengths beyond those of the property tests, in both precisions: lines of hundreds of entries,
//! and orders that are sorted piece by piece.

use lao_kernels::{
    Compressed, Element, LazyThresholdIterate, SparseVector, gather_dot, row_gather_dot, row_gather_gradient,
    scatter_axpy,
};

/// Returns a number from -1 to 1 without any pattern.
fn number(seed: usize) -> f64 {
    let mut word = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Returns a number that both precisions have, one of few, so that ties occur.
fn coarse(seed: usize) -> f64 {
    (16.0 * number(seed)).round() / 16.0
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-12 * (1.0 + wanted.abs())
}

fn check_gathers<T: Element>(convert: impl Fn(f64) -> T) {
    for length in (0..70).chain([127, 128, 129, 700]) {
        let dim = 3 * length + 2;
        let indices: Vec<u32> = (0..length).map(|at| (3 * at + at % 2) as u32).collect();
        let exact: Vec<f64> = (0..length).map(coarse).collect();
        let values: Vec<T> = exact.iter().map(|&value| convert(value)).collect();
        let dense: Vec<f64> = (0..dim).map(|j| coarse(j + 9000)).collect();
        let stored: Vec<T> = dense.iter().map(|&value| convert(value)).collect();
        let wanted: f64 = indices.iter().zip(&exact).map(|(&j, value)| value * dense[j as usize]).sum();
        assert!(close(gather_dot(&indices, &values, &dense), wanted), "{length}");
        assert!(close(gather_dot(&indices, &exact, &stored), wanted), "{length}");

        let (mut found, mut wanted) = (dense.clone(), dense.clone());
        scatter_axpy(&mut found, &indices, &values, -0.75);
        indices.iter().zip(&exact).for_each(|(&j, value)| wanted[j as usize] -= 0.75 * value);
        assert_eq!(found, wanted, "{length}");
    }
}

#[test]
fn gathers_and_scatters_of_every_length_are_sums_in_both_precisions() {
    check_gathers::<f64>(|value| value);
    check_gathers::<f32>(|value| value as f32);
}

fn check_rows<T: Element>(convert: impl Fn(f64) -> T) {
    let dim = 5;
    for n in [1, 2, 3, 4, 5, 63, 64, 65, 130] {
        let rows: Vec<f64> = (0..n * dim).map(coarse).collect();
        let stored: Vec<T> = rows.iter().map(|&value| convert(value)).collect();
        let labels: Vec<f64> = (0..n).map(|i| number(i + 700)).collect();
        let (indices, values) = ([0, 3, 4], [0.5, -2.0, 0.25]);
        let mut margins = vec![f64::NAN; n];
        row_gather_dot(&stored, dim, &indices, &values, &labels, &mut margins);
        let mut sums = vec![0.5; 3];
        row_gather_gradient(&stored, dim, &indices, &margins, &mut sums);
        for (i, margin) in margins.iter().enumerate() {
            let row = &rows[i * dim..][..dim];
            assert!(close(*margin, 0.5 * row[0] - 2.0 * row[3] + 0.25 * row[4] - labels[i]), "{n}: row {i}");
        }
        for (sum, &j) in sums.iter().zip(&indices) {
            let wanted: f64 = (0..n).map(|i| margins[i] * rows[i * dim + j as usize]).sum();
            assert!(close(*sum, 0.5 + wanted), "{n}: column {j}");
        }
    }
}

#[test]
fn rows_that_divide_no_tile_are_products_in_both_precisions() {
    check_rows::<f64>(|value| value);
    check_rows::<f32>(|value| value as f32);
}

fn check_compressed<T: Element + PartialEq + std::fmt::Debug>(convert: impl Fn(f64) -> T) {
    // Lines of 0 to all entries.
    let (lines, width) = (12, 301);
    let kept = |line: usize, at: usize| (at * 7 + line) % 12 < line;
    let dense: Vec<f64> = (0..lines * width)
        .map(|at| if kept(at / width, at % width) { coarse(at) + 2.0 } else { 0.0 })
        .collect();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for line in dense.chunks(width) {
        for (at, &value) in (0..).zip(line).filter(|(_, value)| **value != 0.0) {
            indices.push(at);
            values.push(convert(value));
        }
        starts.push(indices.len());
    }
    let matrix = Compressed::new(width, starts, indices, values).unwrap();
    let w: Vec<f64> = (0..width).map(|j| number(j + 100)).collect();
    let r: Vec<f64> = (0..lines).map(|i| number(i + 5000)).collect();
    let columns = matrix.transpose();
    let (mut dots, mut sums) = (vec![f64::NAN; lines], vec![1.0; width]);
    matrix.dots(&w, &mut dots);
    matrix.combine(&r, &mut sums);
    let (mut of_columns, mut into) = (vec![f64::NAN; width], vec![1.0; lines]);
    columns.dots(&r, &mut of_columns);
    columns.combine(&w, &mut into);
    for i in 0..lines {
        let wanted: f64 = (0..width).map(|j| dense[i * width + j] * w[j]).sum();
        assert!(close(dots[i], wanted) && close(into[i], 1.0 + wanted), "line {i}");
    }
    for j in 0..width {
        let wanted: f64 = (0..lines).map(|i| dense[i * width + j] * r[i]).sum();
        assert!(close(sums[j], 1.0 + wanted) && close(of_columns[j], wanted), "place {j}");
    }
    assert_eq!(columns.transpose(), matrix);
}

#[test]
fn long_compressed_lines_are_their_dense_rows_in_both_precisions() {
    check_compressed::<f64>(|value| value);
    check_compressed::<f32>(|value| value as f32);
}

/// Moves all coordinates, sorts, keeps k.
fn naive_step(x: &mut [f64], drift: &[f64], factor: f64, correction: &[f64], k: usize) {
    for j in 0..x.len() {
        x[j] =
            if x[j] == 0.0 { drift[j] - correction[j] } else { (factor * x[j] + drift[j]) - correction[j] };
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[j].abs().total_cmp(&x[i].abs()).then(i.cmp(&j)));
    order.into_iter().skip(k).for_each(|j| x[j] = 0.0);
}

/// Every step is touched where the drift is largest, so that walks along the order go beyond its first
/// pieces. Two blocks of rows touch several entries each.
#[test]
fn walks_through_many_pieces_of_the_order_have_the_bits_of_the_dense_twin() {
    for (dim, k) in [(150, 1), (900, 3), (900, 70), (3000, 20), (3000, 2999)] {
        let mut lazy = LazyThresholdIterate::new(dim, k);
        let (mut x, mut read) = (vec![0.0; dim], SparseVector::zeros(0));
        for epoch in 0..4 {
            let drift: Vec<f64> = (0..dim)
                .map(|j| if j % 3 == 0 { coarse(j + 77 * epoch) } else { number(j + 99 * epoch) })
                .collect();
            lazy.begin(1.0, &drift).unwrap();
            let mut largest: Vec<u32> = (0..dim as u32).collect();
            largest.sort_by(|&i, &j| drift[j as usize].abs().total_cmp(&drift[i as usize].abs()));
            for step in 0..9 {
                // Ever more of the largest are taken away.
                let mut touched = largest[..(dim * step / 9)].to_vec();
                touched.reverse();
                let correction: Vec<f64> = touched
                    .iter()
                    .map(|&j| {
                        let value = x[j as usize];
                        let moved =
                            if value == 0.0 { drift[j as usize] } else { 0.5 * value + drift[j as usize] };
                        if j % 5 == 0 { 0.5 * moved } else { moved }
                    })
                    .collect();
                let mut all = vec![0.0; dim];
                touched.iter().zip(&correction).for_each(|(&j, value)| all[j as usize] = *value);
                lazy.step(0.5, &touched, &correction).unwrap();
                naive_step(&mut x, &drift, 0.5, &all, k);
                lazy.read(&mut read);
                assert_eq!(read, SparseVector::from_dense(&x), "d = {dim}, k = {k}, step {step}");
            }
            let dense: Vec<f64> = (0..dim).map(|j| number(j + 31)).collect();
            let (sum, all): (f64, Vec<u32>) =
                (x.iter().zip(&dense).map(|(x, z)| x * z).sum(), (0..dim as u32).collect());
            assert!(close(lazy.dot_dense(&dense), sum) && close(lazy.dot(&all, &dense), sum));
        }
    }
}
