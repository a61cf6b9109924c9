//! Learning from tables with gaps at random is unbiased: over many tables, the mean of each coefficient is
//! the true one, within its error. The same tables with gaps that are filled with 0 show that the test would
//! notice a bias.

use lao::observation::Seed;
use lao::{Fit, Frame, ReadOptions, Shape};
use rand::RngExt as _;

const TABLES: u64 = 200;
const ROWS: usize = 500;
/// The share of the values that are missing, independently of everything.
const GAPS: f64 = 0.15;
/// The coefficients of the attributes `a` and `b`, which are correlated and have other means than 0.
const TRUTH: [f64; 2] = [2.0, -1.5];

/// Returns a table, in which `gap` stands for a missing value.
fn table(seed: &Seed, gap: &str) -> Frame {
    let mut rng = seed.rng();
    let mut uniform = || rng.random::<f64>() - 0.5;
    let mut text = String::from("a,b,c,y\n");
    for _ in 0..ROWS {
        let [shared, own, c, noise] = [uniform(), uniform(), uniform(), uniform()];
        let (a, b) = (3.0 + shared, 1.0 + 0.7 * shared + own);
        let y = TRUTH[0] * a + TRUTH[1] * b + noise;
        let fields: Vec<String> =
            [a, b, c].map(|x| if uniform() + 0.5 < GAPS { gap.to_owned() } else { x.to_string() }).to_vec();
        text += &format!("{},{y}\n", fields.join(","));
    }
    Frame::parse(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap()
}

/// Returns, for each attribute, by how many of its standard errors the mean coefficient differs from the
/// truth.
fn distances(gap: &str) -> [f64; 2] {
    let mut sums = [[0.0; 2]; 2];
    for number in 0..TABLES {
        let frame = table(&Seed::root(20_261_123).trial(number), gap);
        // A ridge line on rows whose gaps count as the mean predicts well, and is no estimate.
        let fit = Fit::within(3).most_attributes(2).always(["a", "b"]).shape(Shape::Line);
        let fit = fit.holdout(0.0).seed(number);
        let model = fit.run(&frame.target("y").unwrap()).unwrap().model;
        for (column, sum) in ["a", "b"].into_iter().zip(&mut sums) {
            let value = model.coefficients.iter().find(|one| one.column == column).unwrap().value;
            *sum = [sum[0] + value, sum[1] + value * value];
        }
    }
    let n = TABLES as f64;
    let distance = |(sum, truth): (&[f64; 2], f64)| {
        let mean = sum[0] / n;
        (mean - truth) / ((sum[1] / n - mean * mean) / (n - 1.0)).sqrt()
    };
    [distance((&sums[0], TRUTH[0])), distance((&sums[1], TRUTH[1]))]
}

#[test]
fn gaps_at_random_give_no_bias() {
    // Beyond 4.5 standard errors lies a share of 7e-6 of the normal law.
    let with_gaps = distances("NA");
    assert!(with_gaps.iter().all(|distance| distance.abs() < 4.5), "{with_gaps:?}");
    let filled = distances("0");
    assert!(filled.iter().any(|distance| distance.abs() > 20.0), "{filled:?}");
}
