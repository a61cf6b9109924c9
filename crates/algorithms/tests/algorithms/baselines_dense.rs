//! The baselines against dense loops that are written here from their papers, to rounding.

use lao_algorithms::baselines::dantzig::selector;
use lao_algorithms::baselines::offline::{lasso, ridge};
use lao_algorithms::baselines::{AerParams, Ball, DantzigParams, FkkParams, OnlineParams};
use lao_algorithms::hazan_koren::Prediction;
use lao_observation::{Ask, BlockBuf, Learner, Request, Rng, Seed, Told};
use rand::RngExt;

fn rng(name: &str) -> Rng {
    Seed::root(29).child("dense").child(name).rng()
}

/// Returns correlated attributes and a label.
fn example(dim: usize, rng: &mut Rng) -> (Vec<f64>, f64) {
    let common: f64 = rng.random_range(-1.0..1.0);
    let x: Vec<f64> = (0..dim).map(|_| 0.4 * common + rng.random_range(-1.0..1.0)).collect();
    let y = 0.8 * x[0] - 0.5 * x[dim - 1] + rng.random_range(-0.3..0.3);
    (x, y)
}

/// Lets the learner ask, and answers from the example.
fn serve(learner: &mut impl Learner, rng: &mut Rng, (x, y): &(Vec<f64>, f64)) {
    let mut ask = Ask::new(x.len());
    learner.ask(rng, &mut ask);
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    let mut block = BlockBuf::new();
    block.reset(attributes.len(), 1);
    attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
    block.labels_mut()[0] = *y;
    block.set_rows(1);
    learner.tell(Told::Values(block.view(attributes))).unwrap();
}

#[track_caller]
fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    assert!(
        found.len() == wanted.len() && found.iter().zip(wanted).all(near),
        "{what}: {found:?}, {wanted:?}"
    );
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Projects onto `|w|_1 <= radius` by bisection of the level that is subtracted.
fn project_l1(w: &mut [f64], radius: f64) {
    let left = |w: &[f64], level: f64| w.iter().map(|w| (w.abs() - level).max(0.0)).sum::<f64>();
    if left(w, 0.0) <= radius {
        return;
    }
    let (mut low, mut high) = (0.0, w.iter().fold(0.0_f64, |most, w| most.max(w.abs())));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if left(w, middle) > radius { &mut low } else { &mut high }) = middle;
    }
    w.iter_mut().for_each(|w| *w = w.signum() * (w.abs() - high).max(0.0));
}

#[test]
fn aer_is_its_definition() {
    for (dim, uniform, weighted, radius, lambda, burn_in) in [
        (5, 2, 3, Some(0.6), 1.3, 0),
        (5, 3, 1, None, 4.0, 7),
        (9, 4, 4, Some(5.0), 0.8, 3),
        (1, 1, 1, None, 2.0, 0),
    ] {
        let prediction = Prediction::default();
        let params =
            AerParams { dim, uniform, weighted, regularization: lambda, radius, burn_in, prediction };
        let (mut learner, mut rng) = (params.build().unwrap(), rng("aer"));
        let (mut w, mut sum) = (vec![0.0_f64; dim], vec![0.0; dim]);
        for t in 1..=120 {
            let (x, y) = example(dim, &mut rng);
            let mut drawing = learner.clone();
            let mut draws = rng.clone();
            drawing.ask(&mut draws, &mut Ask::new(dim));
            let drawn = drawing.drawn();
            serve(&mut learner, &mut rng, &(x.clone(), y));
            let norm: f64 = w.iter().map(|w| w.abs()).sum();
            let sign = |j: &u32| if w[*j as usize] == 0.0 { 0.0 } else { w[*j as usize].signum() };
            let estimate =
                drawn.weighted.iter().map(|j| norm * sign(j) * x[*j as usize]).sum::<f64>() / weighted as f64;
            if t > burn_in {
                sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
            }
            let time = t as f64;
            w.iter_mut().for_each(|w| *w *= 1.0 - 1.0 / time);
            for &j in &drawn.uniform {
                let direction = dim as f64 / uniform as f64 * x[j as usize];
                w[j as usize] -= 2.0 * (estimate - y) * direction / (lambda * time);
            }
            if let Some(radius) = radius {
                project_l1(&mut w, radius);
            }
            close(&learner.iterate(), &w, 1e-11, "iterate");
            if t > burn_in {
                let average: Vec<f64> = sum.iter().map(|sum| sum / (t - burn_in) as f64).collect();
                close(&learner.coefficients().to_dense(), &average, 1e-11, "average");
            }
        }
    }
}

#[test]
fn fkk_is_its_definition() {
    for (dim, k, budget, radius) in [(5, 1, 3, 1.0), (6, 2, 5, 0.4), (6, 3, 6, 9.0)] {
        let (eta_h, eta_o) = (0.03, 0.05);
        let params = FkkParams { dim, sparsity: k, budget, hedge_rate: eta_h, step_size: eta_o, radius };
        let (mut learner, mut rng) = (params.build().unwrap(), rng("fkk"));
        let masks = (0..1_u32 << dim).filter(|mask| mask.count_ones() as usize == k);
        let mut experts: Vec<(Vec<usize>, Vec<f64>, f64)> = masks
            .map(|mask| ((0..dim).filter(|j| mask >> j & 1 == 1).collect(), vec![0.0; dim], 0.0))
            .collect();
        experts.sort_by(|a, b| a.0.cmp(&b.0));
        for _ in 0..80 {
            let (x, y) = example(dim, &mut rng);
            serve(&mut learner, &mut rng, &(x.clone(), y));
            let (d, r) = (dim as f64, (budget - k) as f64);
            let seen: Vec<f64> =
                (0..dim).map(|j| if learner.drawn().contains(&(j as u32)) { x[j] } else { 0.0 }).collect();
            let entry = |i: usize, j: usize| {
                let p = if i == j { r / d } else { r * (r - 1.0) / (d * (d - 1.0)) };
                seen[i] * seen[j] / p
            };
            for (support, w, loss) in &mut experts {
                let product: Vec<f64> =
                    (0..dim).map(|i| (0..dim).map(|j| entry(i, j) * w[j]).sum()).collect();
                let z: Vec<f64> = seen.iter().map(|x| y * x * d / r).collect();
                *loss += dot(w, &product) - 2.0 * dot(&z, w) + y * y;
                support.iter().for_each(|&j| w[j] -= 2.0 * eta_o * (product[j] - z[j]));
                let norm = dot(w, w).sqrt();
                w.iter_mut().for_each(|w| *w *= (radius / norm).min(1.0));
            }
        }
        let least = experts.iter().map(|expert| expert.2).fold(f64::INFINITY, f64::min);
        for (a, (support, w, loss)) in experts.iter().enumerate() {
            let own: Vec<f64> = support.iter().map(|&j| w[j]).collect();
            assert_eq!(learner.support(a), support.iter().map(|&j| j as u32).collect::<Vec<_>>());
            close(learner.weights(a), &own, 1e-11, "weights");
            let log = learner.log_weights()[a];
            close(&[log], &[-eta_h * (loss - least)], 1e-10, "logarithm");
            if *loss == least {
                close(&learner.coefficients().to_dense(), w, 1e-11, "estimate");
            }
        }
    }
}

/// Returns the solution of a square system by elimination, or none if it is nearly singular.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for u in 0..n {
        let pivot = (u..n).max_by(|&a, &b| rows[a][u].abs().total_cmp(&rows[b][u].abs()))?;
        rows.swap(u, pivot);
        let own = rows[u].clone();
        if own[u].abs() < 1e-10 {
            return None;
        }
        for row in rows.iter_mut().skip(u + 1) {
            let factor = row[u] / own[u];
            row.iter_mut().zip(&own).for_each(|(r, o)| *r -= factor * o);
        }
    }
    let mut x = vec![0.0; n];
    for u in (0..n).rev() {
        x[u] = (rows[u][n] - dot(&rows[u][u + 1..n], &x[u + 1..])) / rows[u][u];
    }
    Some(x)
}

/// Returns the least `|w|_1` with `|b - A w|_inf <= gamma`, and where it is attained, from all vertices: each
/// lies on d planes among `w_j = 0` and `(A w)_i = b_i +- gamma`.
fn vertices(a: &[Vec<f64>], b: &[f64], gamma: f64) -> Option<(f64, Vec<f64>)> {
    let d = b.len();
    let mut planes: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        planes.push((0..=d).map(|at| f64::from(at == j)).collect());
        for sign in [-1.0, 1.0] {
            planes.push(a[j].iter().copied().chain([b[j] + sign * gamma]).collect());
        }
    }
    let mut best: Option<(f64, Vec<f64>)> = None;
    for mask in (0..1_u32 << planes.len()).filter(|mask| mask.count_ones() as usize == d) {
        let chosen = (0..planes.len()).filter(|at| mask >> at & 1 == 1).map(|at| planes[at].clone());
        let Some(w) = solve(chosen.collect()) else { continue };
        let violation = (0..d).map(|i| (b[i] - dot(&a[i], &w)).abs()).fold(0.0, f64::max);
        let norm: f64 = w.iter().map(|w| w.abs()).sum();
        if violation <= gamma + 1e-9 * (1.0 + norm) && best.as_ref().is_none_or(|best| norm < best.0) {
            best = Some((norm, w));
        }
    }
    best
}

#[test]
fn the_dantzig_selector_is_the_best_vertex() {
    let (mut rng, mut infeasible) = (rng("selector"), 0);
    for case in 0..200 {
        let d = 1 + case % 3;
        let mut number = || rng.random_range(-1.0..1.0);
        let a: Vec<Vec<f64>> = (0..d).map(|_| (0..d).map(|_| number()).collect()).collect();
        // Every third matrix is singular.
        let a: Vec<Vec<f64>> = (0..d).map(|i| a[if case % 3 == 2 { i / 2 } else { i }].clone()).collect();
        let (b, gamma): (Vec<f64>, f64) = ((0..d).map(|_| number()).collect(), 0.2 * number().abs());
        let found = selector(d, |i, j| a[i][j], &b, gamma);
        let Some((norm, w)) = vertices(&a, &b, gamma) else {
            infeasible += 1;
            assert_eq!(found, None);
            continue;
        };
        let found = found.unwrap();
        close(&[found.iter().map(|w| w.abs()).sum()], &[norm], 1e-7, "norm");
        close(&found, &w, 1e-5, "minimizer");
    }
    assert!(infeasible > 10, "{infeasible}");
}

#[test]
fn dantzig_is_its_definition() {
    let mut solved = 0;
    for (scale, predicts, seed) in
        [(0.1, false, "a"), (1e-4, false, "b"), (0.02, true, "c"), (1e-4, true, "d")]
    {
        let (dim, sparsity) = (3, 1);
        let params =
            DantzigParams { dim, sparsity, budget: 3, predicts, scale, noise: 0.1, examples: Some(23) };
        let random = if predicts { 2 } else { 3 };
        let (mut learner, mut rng) = (params.build().unwrap(), rng(seed));
        let (mut a, mut b) = (vec![vec![0.0; dim]; dim], vec![0.0; dim]);
        for t in 1..=64_u64 {
            let (x, y) = example(dim, &mut rng);
            serve(&mut learner, &mut rng, &(x.clone(), y));
            let (d, r) = (dim as f64, f64::from(random));
            let drawn: Vec<usize> = learner.drawn().iter().map(|&j| j as usize).collect();
            assert_eq!(drawn.len(), random as usize);
            for &i in &drawn {
                b[i] += y * x[i] * d / r;
                for &j in &drawn {
                    a[i][j] += x[i] * x[j] * if i == j { d / r } else { d * (d - 1.0) / (r * (r - 1.0)) };
                }
            }
            if !(t.is_power_of_two() || t == 23) {
                continue;
            }
            let time = t as f64;
            let gamma = scale * (d * (d * time).ln() / (r * time)).sqrt() * (0.1 + d / r);
            close(&[learner.gamma(t)], &[gamma], 1e-12, "gamma");
            let mean_a: Vec<Vec<f64>> = a.iter().map(|row| row.iter().map(|a| a / time).collect()).collect();
            let mean_b: Vec<f64> = b.iter().map(|b| b / time).collect();
            let (_, w) = vertices(&mean_a, &mean_b, gamma).unwrap();
            let largest = (0..dim).max_by(|&i, &j| w[i].abs().total_cmp(&w[j].abs())).unwrap();
            let kept: Vec<f64> = (0..dim).map(|j| if j == largest { w[j] } else { 0.0 }).collect();
            close(&learner.coefficients().to_dense(), &kept, 1e-5, &format!("after {t}"));
            solved += 1;
            assert_eq!(learner.updates(), u64::from(t.ilog2()) + 1 + u64::from(t >= 23));
        }
    }
    assert_eq!(solved, 32);
}

/// Each pair of attributes is seen in one of three examples. The moments are then a matrix of ones, but the
/// first two correlations are 1 and 0: programs are infeasible until gamma is at least 1/2, and `|w|_1` is
/// `1 - gamma` from there on.
#[test]
fn gamma_is_doubled_until_the_program_is_feasible() {
    for scale in [1e-9, 0.001, 0.017, 0.05] {
        let (dim, budget) = (3, 2);
        let examples = Some(3);
        let params = DantzigParams { dim, sparsity: 1, budget, predicts: false, scale, noise: 0.0, examples };
        let (mut learner, mut rng) = (params.build().unwrap(), rng("doubled"));
        for (drawn, y) in [([0, 1], 1.0), ([0, 2], 1.0), ([1, 2], -1.0)] {
            learner.ask_for(&drawn, &mut Ask::new(dim));
            serve(&mut learner, &mut rng, &(vec![1.0; 3], y));
        }
        let mut gamma = learner.gamma(3);
        assert!(gamma < 0.5);
        while gamma < 0.5 {
            gamma *= 2.0;
        }
        close(&[learner.coefficients().values().iter().sum()], &[1.0 - gamma], 1e-7, "estimate");
        assert_eq!(learner.coefficients().len(), 1);
    }
}

#[test]
fn online_ridge_and_lasso_are_their_definitions() {
    for (ball, dim, radius, eta) in [
        (Ball::Ridge, 4, 0.5, 0.3),
        (Ball::Ridge, 7, 50.0, 0.05),
        (Ball::Lasso, 4, 0.9, 0.4),
        (Ball::Lasso, 7, 30.0, 0.02),
    ] {
        let params = OnlineParams { dim, ball, radius, step_size: eta };
        let (mut learner, mut rng) = (params.build().unwrap(), rng("online"));
        let (mut w, mut plus, mut minus) = (vec![0.0; dim], vec![1.0; dim], vec![1.0; dim]);
        for t in 0..200 {
            let (x, y) = example(dim, &mut rng);
            serve(&mut learner, &mut rng, &(x.clone(), y));
            let gradient: Vec<f64> = x.iter().map(|x_j| (dot(&w, &x) - y) * x_j).collect();
            match ball {
                Ball::Ridge => {
                    w.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= eta * g);
                    let norm = dot(&w, &w).sqrt();
                    w.iter_mut().for_each(|w| *w *= (radius / norm).min(1.0));
                }
                Ball::Lasso => {
                    plus.iter_mut().zip(&gradient).for_each(|(z, g)| *z *= (-eta * g).exp());
                    minus.iter_mut().zip(&gradient).for_each(|(z, g)| *z *= (eta * g).exp());
                    let total: f64 = plus.iter().chain(&minus).sum();
                    w = plus.iter().zip(&minus).map(|(p, m)| radius * (p - m) / total).collect();
                }
            }
            close(&learner.iterate(), &w, 1e-10, &format!("{ball:?}, step {t}"));
        }
        close(&learner.coefficients().to_dense(), &w, 1e-10, "estimate");
    }
}

/// Returns examples in columns; the sizes cross the number of examples that are summed at a time.
fn columns(n: usize, dim: usize) -> BlockBuf {
    let (mut rng, mut block) = (rng("offline"), BlockBuf::new());
    block.reset(dim, n);
    for i in 0..n {
        let (x, y) = example(dim, &mut rng);
        x.iter().enumerate().for_each(|(c, x)| block.column_mut(c)[i] = *x * (1 + c) as f64);
        block.labels_mut()[i] = y;
    }
    block.set_rows(n);
    block
}

#[test]
fn offline_ridge_and_lasso_satisfy_the_conditions_of_optimality_on_correlated_columns() {
    for (n, dim) in [(1, 2), (3, 6), (40, 2), (512, 3), (513, 7), (1031, 5)] {
        let (buffer, attributes) = (columns(n, dim), (0..dim as u32).collect::<Vec<_>>());
        let block = buffer.view(&attributes);
        let residuals = |w: &[f64]| -> Vec<f64> {
            (0..n)
                .map(|i| (0..dim).map(|c| w[c] * block.column(c)[i]).sum::<f64>() - block.labels()[i])
                .collect()
        };
        for penalty in [0.7, 0.02, 1e-4] {
            let w = ridge(block, penalty).unwrap();
            let r = residuals(&w);
            for (c, w_c) in w.iter().enumerate() {
                let slope = 2.0 * dot(block.column(c), &r) / n as f64 + 2.0 * penalty * w_c;
                assert!(slope.abs() < 1e-10, "Ridge {n} x {dim}, {penalty}: {slope}");
            }
            let w = lasso(block, penalty).unwrap();
            let r = residuals(&w);
            for (c, &w_c) in w.iter().enumerate() {
                let slope = dot(block.column(c), &r) / n as f64;
                let beyond = if w_c == 0.0 {
                    (slope.abs() - penalty).max(0.0)
                } else {
                    (slope + penalty * w_c.signum()).abs()
                };
                assert!(beyond < 1e-8, "Lasso {n} x {dim}, {penalty}: {beyond}");
            }
        }
    }
}
