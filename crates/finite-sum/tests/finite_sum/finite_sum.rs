//! Finite sums: blocks, counts, and what is refused.

use lao_finite_sum::{
    Batch, DesignMatrix, FiniteSum, FiniteSumError, Gradient, Loss, NormalEquations, Predictor,
};
use lao_kernels::{Compressed, SparseVector};

const DIM: usize = 4;

/// `(1/2) sum_i h_i x_i^2 + q'x` for each pair, as blocks of d rows.
fn quadratics(components: &[([f64; DIM], [f64; DIM])]) -> FiniteSum {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for (h, q) in components {
        for (h, q) in h.iter().zip(q) {
            let scale = (DIM as f64 * h / 2.0).sqrt();
            values.push(scale);
            labels.push(-(DIM as f64) * q / (2.0 * scale));
        }
    }
    let rows = values.len();
    let indices = (0..rows).map(|row| (row % DIM) as u32).collect();
    let rows = Compressed::new(DIM, (0..=rows).collect(), indices, values).unwrap();
    let loss = Loss::least_squares(labels).unwrap();
    FiniteSum::new(DesignMatrix::compressed_rows(rows), loss).unwrap().in_blocks(DIM).unwrap()
}

fn at(x: [f64; DIM]) -> Predictor {
    Predictor { coefficients: vec![SparseVector::from_dense(&x)], intercepts: vec![0.0] }
}

fn gradient(sum: &mut FiniteSum, batch: Batch<'_>, x: [f64; DIM]) -> Vec<f64> {
    let mut gradient = Gradient::default();
    sum.gradient(batch, &at(x), &mut gradient).unwrap();
    gradient.coefficients.swap_remove(0)
}

#[test]
fn a_quadratic_is_a_block_of_scaled_rows() {
    let components = [
        ([1.0, 2.0, 0.5, 4.0], [0.3, -1.0, 0.0, 2.0]),
        ([3.0, 0.1, 1.5, 1.0], [1.0, 0.5, -0.7, 0.0]),
        ([0.7, 1.0, 2.5, 0.3], [0.0, 0.0, 0.4, -1.0]),
    ];
    let (mut sum, x, zero) = (quadratics(&components), [0.5, -2.0, 0.0, 1.5], [0.0; DIM]);
    assert_eq!((sum.len(), sum.rows(), sum.block(), sum.dim()), (3, 3 * DIM, DIM, DIM));
    let value = |(h, q): &([f64; DIM], [f64; DIM])| -> f64 {
        (0..DIM).map(|i| 0.5 * h[i] * x[i] * x[i] + q[i] * x[i]).sum()
    };
    let mean = components.iter().map(value).sum::<f64>() / 3.0;
    let difference = sum.objective(&at(x)).unwrap() - sum.objective(&at(zero)).unwrap();
    assert!((difference - mean).abs() < 1e-12);
    for (z, (h, q)) in components.iter().enumerate() {
        let found = gradient(&mut sum, Batch::Components(&[z as u32]), x);
        assert!((0..DIM).all(|i| (found[i] - (h[i] * x[i] + q[i])).abs() < 1e-12));
    }
    assert_eq!(sum.meter().calls, 3, "one call per component, however many rows");
}

#[test]
fn blocks_leave_the_sum_and_cost_one_call_each() {
    let values: Vec<f64> = (0..12 * DIM).map(|i| (i * 7 % 11) as f64 / 5.0 - 1.0).collect();
    let labels: Vec<f64> = (0..12).map(|i| (i % 5) as f64).collect();
    let rows = DesignMatrix::rows(12, DIM, values).unwrap();
    let mut plain = FiniteSum::new(rows, Loss::least_squares(labels).unwrap()).unwrap();
    let (x, mut blocks) = ([1.0, 0.0, -0.5, 2.0], plain.clone().in_blocks(4).unwrap());
    assert_eq!(gradient(&mut plain, Batch::All, x), gradient(&mut blocks, Batch::All, x));
    assert_eq!(plain.objective(&at(x)), blocks.objective(&at(x)));
    let of_rows = gradient(&mut plain, Batch::Components(&[8, 9, 10, 11, 0, 1, 2, 3]), x);
    let of_blocks = gradient(&mut blocks, Batch::Components(&[2, 0]), x);
    assert_eq!(of_rows, of_blocks);
    assert_eq!((plain.meter().calls, blocks.meter().calls), (12 + 8, 3 + 2));
    assert!(blocks.component_smoothness() <= plain.component_smoothness());
    assert_eq!(blocks.component(1).rows(), 4..8);
}

#[test]
fn questions_that_do_not_fit_are_refused_and_not_counted() {
    let mut sum = quadratics(&[([1.0; DIM], [0.0; DIM]); 2]);
    for size in [0, 3, 16] {
        assert_eq!(sum.clone().in_blocks(size).unwrap_err(), FiniteSumError::Blocks { size, rows: 2 * DIM });
    }
    let mut into = Gradient::default();
    let error = sum.gradient(Batch::Components(&[0, 2]), &at([1.0; DIM]), &mut into).unwrap_err();
    assert_eq!(error, FiniteSumError::Component { component: 2, components: 2 });
    for wrong in [Predictor::zeros(DIM + 1, 1), Predictor::zeros(DIM, 2), Predictor::default()] {
        assert!(matches!(sum.objective(&wrong), Err(FiniteSumError::Predictor { .. })));
        assert!(matches!(sum.curvature(&wrong), Err(FiniteSumError::Predictor { .. })));
        assert!(
            sum.gradient(Batch::All, &wrong, &mut into).is_err() && sum.to_original_scale(&wrong).is_err()
        );
    }
    // Rows of a file that names fewer columns than the training file did, and of one that names more.
    let text = |dim| sum.clone().objective(&Predictor::zeros(dim, 1)).unwrap_err().to_string();
    assert!(text(DIM + 1).contains(&format!("must be read with dim = {}", DIM + 1)), "{}", text(DIM + 1));
    assert!(text(DIM - 1).contains(&format!("read the training file with dim = {DIM}")), "{}", text(DIM - 1));
    for support in [&[1, 1][..], &[2, 0], &[0, DIM as u32]] {
        assert!(matches!(
            sum.normal_equations(support, &mut NormalEquations::default()),
            Err(FiniteSumError::Support { place: 1, .. })
        ));
        assert!(sum.restricted(support).is_err());
    }
    assert_eq!(sum.meter().calls, 0);
}

#[test]
fn data_that_cannot_be_a_sum_is_refused_by_place() {
    let nan = DesignMatrix::rows(1, 2, vec![0.0, f64::NAN]).unwrap_err();
    assert!(matches!(nan, FiniteSumError::NotFinite { row: 0, attribute: 1, .. }), "{nan}");
    let shape = DesignMatrix::columns(2, 3, vec![0.0; 5]).unwrap_err();
    assert_eq!(shape, FiniteSumError::Shape { rows: 2, dim: 3, values: 5 });
    let rows = DesignMatrix::rows(2, 1, vec![1.0_f32; 2]).unwrap();
    let one_label = Loss::least_squares(vec![1.0]).unwrap();
    assert_eq!(FiniteSum::new(rows, one_label).unwrap_err(), FiniteSumError::Labels { labels: 1, rows: 2 });
    let none = DesignMatrix::rows(0, 1, Vec::<f64>::new()).unwrap();
    assert!(FiniteSum::new(none, Loss::least_squares(vec![]).unwrap()).is_err());
    assert!(matches!(Loss::logistic(&[1.0, f64::NAN]), Err(FiniteSumError::Label { row: 1, .. })));
}

#[test]
fn the_number_of_threads_leaves_no_trace_in_the_bits() {
    // Large enough for more than one thread; the second is wide enough for more than one piece of a row.
    for (rows, dim) in [(1100, 600), (70, 9000)] {
        threads_leave_no_trace(rows, dim);
    }
}

fn threads_leave_no_trace(rows: usize, dim: usize) {
    let number = |at: usize| ((at * 7919 + at / 13 * 104_729) % 10_007) as f64 / 5000.0 - 1.0;
    let columns: Vec<f64> = (0..rows * dim).map(number).collect();
    let labels: Vec<f64> = (0..rows).map(|i| number(3 * i + 1)).collect();
    let support: Vec<u32> = (0..dim as u32).step_by(20).collect();
    let lines: Vec<f64> = (0..rows).flat_map(|i| (0..dim).map(move |j| number(j * rows + i))).collect();
    let sparse = Compressed::new(
        rows,
        (0..=dim).map(|j| j * rows).collect(),
        (0..dim).flat_map(|_| 0..rows as u32).collect(),
        columns.clone(),
    );
    let x: Vec<f64> = (0..dim).map(|j| if j % 9 == 0 { number(j) } else { 0.0 }).collect();
    let at = Predictor { coefficients: vec![SparseVector::from_dense(&x)], intercepts: vec![0.0] };
    let compute = |examples: DesignMatrix<f64>, threads: usize| {
        let mut sum = FiniteSum::new(examples, Loss::least_squares(labels.clone()).unwrap()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut gradient, mut equations) = (Gradient::default(), NormalEquations::default());
            sum.gradient(Batch::All, &at, &mut gradient).unwrap();
            assert!(sum.normal_equations(&support, &mut equations).unwrap());
            (gradient, equations.gram, equations.right, sum.objective(&at).unwrap())
        })
    };
    let lines = DesignMatrix::rows(rows, dim, lines).unwrap();
    let by_rows = compute(lines.clone(), 1);
    let dense = DesignMatrix::columns(rows, dim, columns).unwrap();
    for examples in [lines, dense, DesignMatrix::compressed_columns(sparse.unwrap())] {
        let one = compute(examples.clone(), 1);
        for threads in [2, 3] {
            assert_eq!(compute(examples.clone(), threads), one);
        }
        let close =
            |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs()));
        assert!(close(&one.0.coefficients[0], &by_rows.0.coefficients[0]));
        assert!(close(&one.1, &by_rows.1) && close(&one.2, &by_rows.2));
    }
}

#[test]
fn normal_equations_of_columns_far_from_zero_are_those_of_their_deviations() {
    use lao_finite_sum::Standardize;
    let (rows, dim) = (700, 5);
    let number = |at: usize| ((at * 7919 + at / 13 * 104_729) % 10_007) as f64 / 5000.0 - 1.0;
    let support = [0, 2, 3];
    let labels: Vec<f64> = (0..rows).map(|i| number(3 * i + 1)).collect();
    for far in [0.0, 1e4, 1e6, 1e8] {
        // Powers of two keep the deviations exact.
        let means = [0.0, 1.0, far, -0.5 * far, 1.0];
        let near = |i: usize, j: usize| (number(i * dim + j) * 1024.0).round() / 1024.0;
        let table = |shift: bool| -> Vec<f64> {
            let value = |i: usize, j: usize| near(i, j) + if shift { means[j] } else { 0.0 };
            (0..rows).flat_map(|i| (0..dim).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect()
        };
        let designs = |shift: bool| {
            let lines = table(shift);
            let by_columns = (0..dim).flat_map(|j| (0..rows).map(move |i| (i, j)));
            let columns = by_columns.map(|(i, j)| lines[i * dim + j]).collect();
            let indices = (0..rows).flat_map(|_| 0..dim as u32).collect();
            let begins = (0..=rows).map(|i| i * dim).collect();
            let sparse = Compressed::new(dim, begins, indices, lines.clone()).unwrap();
            [
                DesignMatrix::rows(rows, dim, lines).unwrap(),
                DesignMatrix::columns(rows, dim, columns).unwrap(),
                DesignMatrix::compressed_rows(sparse),
            ]
        };
        let equations = |design: DesignMatrix<f64>| {
            let sum = FiniteSum::new(design, Loss::least_squares(labels.clone()).unwrap()).unwrap();
            let sum = sum.standardized(Standardize::CenterAndScale).unwrap().with_intercept();
            let mut into = NormalEquations::default();
            assert!(sum.normal_equations(&support, &mut into).unwrap());
            (into.gram, into.right)
        };
        for (shifted, plain) in designs(true).into_iter().zip(designs(false)) {
            let (one, other) = (equations(shifted), equations(plain));
            for (a, b) in one.0.iter().chain(&one.1).zip(other.0.iter().chain(&other.1)) {
                assert!((a - b).abs() < 1e-8 * rows as f64, "{far}: {a} {b}");
            }
        }
    }
}
