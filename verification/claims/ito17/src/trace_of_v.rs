//! Section 3: the trace of V, which the paper prints as V itself, bounds its least eigenvalue by 1/d.
//!
//! *Statement.* The paper sets `V = E[x'x]`; with column vectors that is a number, `E |x|^2 = trace E[x x']`.
//! The matrix that its next lines need is `V = E[x x']`. From `|x| <= 1` the paper concludes `sigma_1 <= 1`;
//! more is true: `trace V <= 1`, so `sigma_d^2 <= 1/d`, and the factor `1/sigma_d^2` of every bound is at
//! least d. Theorem 2 is `O(d^2/(k' - k) sqrt T)` at best.
//!
//! *The root.* "Let L be the Cholesky decomposition of V (i.e. `V = L'L`)" leaves open which factor is meant
//! (the usual one is lower triangular with `V = L L'`); all that is used is `|L w|^2 = w'Vw`, so any L with
//! `V = L'L` will do.

use lao_datasets::adversarial::ito;
use lao_datasets::synthetic::{Design, Sphere};
use lao_kernels::symmetric_eigenvalues;
use lao_verification_engine::claim::{Claim, Mutant, Shown, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{norm2, tally};
use lao_verification_engine::judge::{PropertyTally, exact};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Eigenvalues of `E x x'` over equally likely examples, and `E |x|^2`.
fn moments(rows: &[Vec<f64>]) -> anyhow::Result<(Vec<f64>, f64)> {
    let (dim, n) = (rows[0].len(), rows.len() as f64);
    let entry = |at: usize| rows.iter().map(|x| x[at / dim] * x[at % dim]).sum::<f64>() / n;
    let covariance: Vec<f64> = (0..dim * dim).map(entry).collect();
    Ok((symmetric_eigenvalues(&covariance, dim)?, rows.iter().map(|x| norm2(x)).sum::<f64>() / n))
}

const ATTRIBUTES_BOUNDED_ONE_BY_ONE: Mutant =
    Mutant::refuted("attributes_bounded_one_by_one", "bounds each attribute by 1, not the example's norm");
const EIGENVALUE_OF_THE_ROOT: Mutant = Mutant::refuted(
    "eigenvalue_of_the_root",
    "takes the least singular value of the root of V, not its square",
);

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    let (one_by_one, root) =
        (cx.commits(&ATTRIBUTES_BOUNDED_ONE_BY_ONE), cx.commits(&EIGENVALUE_OF_THE_ROOT));
    let least = |eigenvalues: &[f64]| if root { eigenvalues[0].max(0.0).sqrt() } else { eigenvalues[0] };
    let [trace, smallest] = tally(cx, "laws", cx.size("laws")?, |trial, [trace, smallest]| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(1..=6);
        let shrinks = rng.random_range(0..3) == 0;
        let rows: Vec<Vec<f64>> = (0..4 * dim)
            .map(|_| {
                let mut x: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
                let size: f64 = if one_by_one {
                    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
                } else {
                    norm2(&x).sqrt()
                };
                let length: f64 = if shrinks { rng.random() } else { 1.0 };
                x.iter_mut().for_each(|x| *x *= length / size);
                x
            })
            .collect();
        let (eigenvalues, square) = moments(&rows)?;
        trace.check((eigenvalues.iter().sum::<f64>() - square).abs(), 1e-12);
        trace.check(square, 1.0);
        smallest.check(least(&eigenvalues), 1.0 / dim as f64);
        Ok(())
    })?;
    cx.judge("E|x|^2 is the trace, at most 1", trace.finish());
    let mut known = PropertyTally::new();
    let b_not_a = ito::b_not_a()?;
    let instances = [
        b_not_a.scaled(1.0 / b_not_a.design().norm_bound())?,
        ito::a_not_2()?.unit_trace()?,
        ito::neither()?,
    ];
    for instance in instances {
        let eigenvalues = symmetric_eigenvalues(&instance.covariance()?, instance.dim())?;
        known.check(eigenvalues.iter().sum(), 1.0);
        known.check(least(&eigenvalues), 1.0 / instance.dim() as f64);
    }
    let mut all = smallest;
    all.append(&known);
    cx.judge("sigma_d^2 is at most 1/d", all.finish());
    let sphere = Sphere::new(7)?;
    let eigenvalues = symmetric_eigenvalues(&sphere.covariance()?, sphere.dim())?;
    cx.judge("the sphere attains 1/d", exact(least(&eigenvalues), 1.0 / 7.0, 1e-12));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-trace-of-v",
    place: "Section 3, definition of V",
    sentence: "With examples in the unit ball the trace of V = E x x' is E|x|^2, at most 1, so its least \
               eigenvalue is at most 1/d.",
    formula: r"\|x\| \le 1 \;\Rightarrow\; \operatorname{tr} V = E\|x\|^2 \le 1 \;\Rightarrow\;
               \sigma_d^2 \le \frac{1}{d}",
    design: "Random finite laws with |x| <= 1 and the laws and instances of the suite: mean squared norm, \
             trace and eigenvalues. The uniform law on the sphere attains 1/d.",
    standing: Standing::corrected(&[7, 8, 26]).showing(&[
        Shown { erratum: 7, cell: "E|x|^2 is the trace" },
        Shown { erratum: 26, cell: "sigma_d^2 is at most 1/d" },
    ]),
    mutants: &[ATTRIBUTES_BOUNDED_ONE_BY_ONE, EIGENVALUE_OF_THE_ROOT],
    experiment,
};
