//! The intermediate state: a step seen on the coordinates that matter.
//!
//! *Why.* `x_t - x*` lives inside I whatever the mini-batch is.
//!
//! *As printed* `x_{t+1} = H_k(x_{t-1} - v_t)`: index and eta are missing.

use lao_kernels::{HardThreshold, SparseVector, Threshold};
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    SmallSum, batches, dot, epoch, members, minus, norm2, norm2_on, sparse_normal, sup_norm, support_of,
};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;

/// What an arm gets wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    without_next: bool,
    without_current: bool,
    ties_to_highest: bool,
    as_printed: bool,
}

impl Arm {
    fn keep(self, x: &[f64], k: usize) -> anyhow::Result<Vec<f64>> {
        let mut kept = SparseVector::zeros(x.len());
        let turned = |x: &[f64]| -> Vec<f64> { x.iter().rev().copied().collect() };
        if self.ties_to_highest {
            HardThreshold::default().keep(&turned(x), k, &mut kept)?;
            return Ok(turned(&kept.view().to_dense()));
        }
        HardThreshold::default().keep(x, k, &mut kept)?;
        Ok(kept.view().to_dense())
    }
}

/// Rows and labels of small whole numbers, so that all arithmetic with halves is exact and ties abound.
fn whole_numbers(rng: &mut Rng, components: usize, dim: usize) -> SmallSum {
    let mut number = || f64::from(rng.random_range(-1..=1));
    let rows = (0..components).map(|_| (0..dim).map(|_| number()).collect()).collect();
    let labels = (0..components).map(|_| 2.0 * number()).collect();
    SmallSum::least_squares(rows, labels, 1, 0.0)
}

/// One epoch's second step over all mini-batches: pairs of both identities, in units of the numbers involved.
fn identities(arm: Arm, rng: &mut Rng, number: u64) -> anyhow::Result<[Vec<(f64, f64)>; 2]> {
    let exact = number.is_multiple_of(2);
    let (n, dim) = (rng.random_range(3..=6), rng.random_range(3..=6));
    let sparsity = rng.random_range(1..=3.min(dim - 1));
    let small = if exact { whole_numbers(rng, n, dim) } else { SmallSum::random(rng, number, n, dim) };
    // Powers of two where arithmetic is to be exact.
    let step_size = if exact { 0.125 } else { 0.5 / small.component_smoothness()? };
    let (size, mini) = (1 << rng.random_range(0..=1), 1 << rng.random_range(0..=1));
    let mut start = sparse_normal(rng, dim, sparsity);
    let k_star = rng.random_range(1..=sparsity);
    let star = sparse_normal(rng, dim, k_star);
    if exact {
        start.iter_mut().for_each(|x| *x = x.round());
    }
    let (batch, minis) = (batches(n, size).swap_remove(0), batches(n, mini));
    let first = &minis[rng.random_range(0..minis.len())];
    let mut sum = small.production()?;
    let mu = small.batch_gradient(&batch, &start);
    let (mut states, mut expected, mut distance, mut square) = (Vec::new(), Vec::new(), 0.0, 0.0);
    let mut x_1 = Vec::new();
    for second in &minis {
        let path = epoch(&mut sum, &start, (sparsity, step_size), &batch, &[first, second])?;
        let [before, current, next] = [&path[0], &path[1], &path[2]];
        let (here, there) = (small.batch_gradient(second, current), small.batch_gradient(second, before));
        let v: Vec<f64> = (0..dim).map(|j| here[j] - there[j] + mu[j]).collect();
        let mut set = support_of(&star);
        set |= if arm.without_current { 0 } else { support_of(current) };
        set |= if arm.without_next { 0 } else { support_of(next) };
        let mut state = current.clone();
        members(set).for_each(|j| state[j] -= step_size * v[j]);
        distance += norm2(&minus(&state, &star)) / minis.len() as f64;
        square += norm2_on(&v, set) / minis.len() as f64;
        if arm.as_printed {
            state.clone_from(before);
            members(set).for_each(|j| state[j] -= v[j]);
        }
        let unit = sup_norm(&state).max(sup_norm(current)).max(1e-300);
        states.extend(arm.keep(&state, sparsity)?.iter().zip(next).map(|(a, b)| (a / unit, b / unit)));
        x_1.clone_from(current);
    }
    let v: Vec<f64> = small
        .gradient(&x_1)
        .iter()
        .zip(&mu)
        .zip(&small.gradient(&start))
        .map(|((g, mu), f)| g + mu - f)
        .collect();
    let error = minus(&x_1, &star);
    let (size, drop) = (norm2(&error), 2.0 * step_size * dot(&v, &error));
    let unit = size + step_size * step_size * square + drop.abs();
    let right = size + step_size * step_size * square - drop;
    expected.push((distance / unit, right / unit));
    Ok([states, expected])
}

const SOUND: Arm =
    Arm { without_next: false, without_current: false, ties_to_highest: false, as_printed: false };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted(
        "without_next_support",
        "I leaves out the support of the next iterate",
        Arm { without_next: true, ..SOUND },
    ),
    Fault::refuted(
        "without_current_support",
        "I leaves out the support of the iterate",
        Arm { without_current: true, ..SOUND },
    ),
    Fault::refuted(
        "ties_to_highest",
        "the threshold gives ties to the highest index",
        Arm { ties_to_highest: true, ..SOUND },
    ),
    Fault::refuted("as_printed", "H_k(x_{t-1} - v_t), as printed", Arm { as_printed: true, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let arm = cx.arm(SOUND, &FAULTS);
    let n = cx.size("instances")?;
    let each = cx.all_trials("instances", n, |trial| {
        identities(arm, &mut trial.seed.child("data").rng(), trial.number)
    })?;
    let (mut states, mut distances) = (Vec::new(), Vec::new());
    for [state, distance] in each {
        states.extend(state);
        distances.extend(distance);
    }
    cx.judge("the next iterate", exact_all(states, 1e-10));
    cx.judge("mean squared distance of the intermediate state", exact_all(distances, 1e-10));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-intermediate-state",
    place: "Proof sketch, displays before Lemma 3",
    sentence: "Thresholding x_t - eta pi_I v_t gives the next iterate, and its mean squared distance to x* \
               expands as if I did not depend on the mini-batch.",
    formula: r"H_k(x_t - \eta \pi_I v_t) = x_{t+1}, \; E\|x_t - \eta \pi_I v_t - x^*\|^2 = \|x_t -
               x^*\|^2 + \eta^2 E\|\pi_I v_t\|^2 - 2 \eta \langle \nabla f(x_t) + e, x_t - x^* \rangle",
    design: "Production steps from x_1, with every mini-batch, on random sums and on sums of small whole \
             numbers with exact ties. v is computed here.",
    standing: Standing::corrected(&[19]),
    mutants: &mutants(&FAULTS),
    experiment,
};
