//! A weighted sum against the sum in which each row is repeated as often as its weight says, in every layout
//! and form.

use crate::dense::{close, layouts, number, predictor, table};
use lao_finite_sum::{
    Batch, Coding, FiniteSum, FiniteSumError, Gradient, Loss, NormalEquations, Standardize,
};
use lao_kernels::SparseVector;

const ROWS: usize = 70;
const DIM: usize = 9;

/// Weights from 0 to 3.
fn repeats(i: usize) -> usize {
    i * 7 % 4
}

fn compare(weighted: &mut FiniteSum, repeated: &mut FiniteSum, what: &str) {
    let at = predictor(DIM, weighted.outputs(), weighted.has_intercept());
    let (found, wanted) = (weighted.objective(&at).unwrap(), repeated.objective(&at).unwrap());
    close(found, wanted, &format!("{what}: objective"));
    let (found, wanted) = (weighted.curvature(&at).unwrap(), repeated.curvature(&at).unwrap());
    close(found, wanted, &format!("{what}: curvature"));
    let (mut found, mut wanted) = (Gradient::default(), Gradient::default());
    weighted.gradient(Batch::All, &at, &mut found).unwrap();
    repeated.gradient(Batch::All, &at, &mut wanted).unwrap();
    for (found, wanted) in found.coefficients.iter().zip(&wanted.coefficients) {
        found.iter().zip(wanted).for_each(|(a, b)| close(*a, *b, &format!("{what}: gradient")));
    }
    found.intercepts.iter().zip(&wanted.intercepts).for_each(|(a, b)| close(*a, *b, what));

    let support = [0, 2, 3, 7];
    let (mut found, mut wanted) = (NormalEquations::default(), NormalEquations::default());
    let is_squares = weighted.normal_equations(&support, &mut found).unwrap();
    repeated.normal_equations(&support, &mut wanted).unwrap();
    if is_squares {
        // The equations of the weighted sum are those of as many rows as there are weights.
        let per_row = repeated.rows() as f64 / weighted.rows() as f64;
        let both = found.gram.iter().zip(&wanted.gram).chain(found.right.iter().zip(&wanted.right));
        both.for_each(|(a, b)| close(per_row * a, *b, &format!("{what}: normal equations")));
        let x = SparseVector::new(DIM, support.to_vec(), vec![0.5; support.len()]).unwrap();
        let (found, wanted) = (weighted.best_intercept(&x).unwrap(), repeated.best_intercept(&x).unwrap());
        close(found, wanted, &format!("{what}: intercept"));
    }

    // A step on a component is one on its row, times the weight.
    let mut mean = vec![0.0; weighted.outputs()];
    for z in 0..weighted.len() {
        let (component, mut margins) = (weighted.component(z), vec![0.1; mean.len()]);
        component.slopes(z, &mut margins);
        mean.iter_mut().zip(&margins).for_each(|(mean, slope)| *mean += slope / ROWS as f64);
    }
    let mut wanted = vec![0.0; mean.len()];
    for z in 0..repeated.len() {
        let (component, mut margins) = (repeated.component(z), vec![0.1; mean.len()]);
        component.slopes(z, &mut margins);
        wanted.iter_mut().zip(&margins).for_each(|(mean, slope)| *mean += slope / repeated.len() as f64);
    }
    mean.iter().zip(&wanted).for_each(|(a, b)| close(*a, *b, &format!("{what}: components")));
}

#[test]
fn a_weight_is_a_number_of_rows() {
    let weights: Vec<f64> = (0..ROWS).map(|i| 0.3 * repeats(i) as f64).collect();
    let again: Vec<usize> = (0..ROWS).flat_map(|i| std::iter::repeat_n(i, repeats(i))).collect();
    for density in [1.0, 0.3] {
        let rows = table(ROWS, DIM, density);
        let repeated: Vec<f64> = again.iter().flat_map(|i| rows[i * DIM..][..DIM].iter().copied()).collect();
        for coding in [
            Coding::Numbers,
            Coding::TwoClasses { negative: 0.0, positive: 1.0 },
            Coding::Classes { first: 0, count: 3 },
        ] {
            let label = |i: &usize| match coding {
                Coding::Numbers => 3.0 * number(9 * i) + 1.0,
                Coding::TwoClasses { .. } => (i / 2 % 2) as f64,
                Coding::Classes { .. } => (i * 5 % 3) as f64,
            };
            let loss = |of: &[usize]| Loss::coded(&of.iter().map(label).collect::<Vec<_>>(), coding).unwrap();
            let every: Vec<usize> = (0..ROWS).collect();
            let designs = layouts(ROWS, DIM, &rows).into_iter().zip(layouts(again.len(), DIM, &repeated));
            for (layout, (design, repeated)) in designs.enumerate() {
                for how in [Standardize::No, Standardize::Scale, Standardize::CenterAndScale] {
                    for intercept in [false, true] {
                        let form = |sum: FiniteSum| {
                            let sum = sum.with_ridge(0.3).unwrap().standardized(how).unwrap();
                            if intercept { sum.with_intercept() } else { sum }
                        };
                        let weighted = loss(&every).with_weights(&weights).unwrap();
                        let mut weighted = form(FiniteSum::new(design.clone(), weighted).unwrap());
                        let mut repeated = form(FiniteSum::new(repeated.clone(), loss(&again)).unwrap());
                        let what = format!("{coding:?}, layout {layout}, {how:?}, {intercept}");
                        compare(&mut weighted, &mut repeated, &what);
                        let support = [1, 2, 5, 8];
                        let at = predictor(support.len(), weighted.outputs(), intercept);
                        let found = weighted.restricted(&support).unwrap().objective(&at).unwrap();
                        let wanted = repeated.restricted(&support).unwrap().objective(&at).unwrap();
                        close(found, wanted, &format!("{what}: restricted"));
                    }
                }
            }
        }
    }
}

#[test]
fn weights_that_weigh_nothing_or_no_number_are_refused_by_place() {
    let loss = || Loss::least_squares(vec![1.0, 2.0, 3.0]).unwrap();
    for (weights, row) in [
        ([1.0, -1.0, 1.0], 1),
        ([1.0, 1.0, f64::NAN], 2),
        ([f64::INFINITY, 1.0, 1.0], 0),
        ([0.0, 0.0, 0.0], 0),
    ] {
        let error = loss().with_weights(&weights).unwrap_err();
        assert!(matches!(error, FiniteSumError::Weight { row: found, .. } if found == row), "{error}");
    }
    let error = loss().with_weights(&[1.0]).unwrap_err();
    assert_eq!(error, FiniteSumError::Weights { weights: 1, rows: 3 });
    // Sums of weights that overflow, and quotients of weights that are almost 0, are finite.
    for size in [1e-320, 1e-300, 1e308] {
        let weights = loss().with_weights(&[size, size, 0.0]).unwrap().weights().unwrap().to_vec();
        assert_eq!(weights, [1.5, 1.5, 0.0]);
    }
}
