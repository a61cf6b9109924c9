//! One update of Exploration in the setting of the proof of Proposition A.1: populations, sets, and an
//! arbitrary vector as gradient.

use super::{QuadraticPopulation, members, minus, norm2, random_support, sparse_normal, support_of};
use crate::probe::exploration_step;
use lao_kernels::{SparseVector, Threshold};
use lao_observation::Rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// An update of Exploration: `theta_{t-1}`, `theta*`, a gradient estimate `g` and a step size, on a
/// population whose whole spectrum is known.
///
/// The chain of inequalities between the update and Proposition A.1 holds for every `g`, so no average over
/// random draws is needed. The sets are those that the proof needs, of size exactly `s` (see the claim on the
/// support-size gap).
#[derive(Clone, Debug)]
pub struct StepInstance {
    /// The population.
    pub population: QuadraticPopulation,
    /// `theta_{t-1}`, zero outside `before_set`.
    pub before: Vec<f64>,
    /// `S_{t-1}`, padded to `s` members.
    pub before_set: u128,
    /// `theta*`, zero outside `star_set`.
    pub star: Vec<f64>,
    /// `S*`, of `s*` members.
    pub star_set: u128,
    /// `g_t`, which may be any vector.
    pub g: Vec<f64>,
    /// `eta`.
    pub eta: f64,
    /// `s`.
    pub sparsity: usize,
}

/// The result of an update of a [`StepInstance`].
#[derive(Clone, Debug)]
pub struct Stepped {
    /// `theta_t`.
    pub after: Vec<f64>,
    /// `S_t`, padded to `s` members.
    pub after_set: u128,
    /// `D = theta_t - theta_{t-1}`.
    pub difference: Vec<f64>,
}

impl StepInstance {
    /// Returns a random instance with `d` in 7..=14, `s* ` in 1..=2, `s` in `5 s*..d`, condition number up to
    /// 30, and noise on the gradient at one of five scales. `eta` is one of `step_sizes`, in units of `1/L`.
    pub fn random(rng: &mut Rng, step_sizes: &[f64]) -> Self {
        let dim = rng.random_range(7..=14);
        let star_size = rng.random_range(1..=if dim > 10 { 2 } else { 1 });
        let sparsity = rng.random_range(5 * star_size..dim);
        let condition = 30f64.powf(rng.random());
        let largest = 4f64.powf(rng.random_range(-1.0..1.0));
        let population = QuadraticPopulation::random(rng, dim, largest / condition, largest);
        let star = sparse_normal(rng, dim, star_size);
        // Instances must also cover fewer non-zeros than s, down to the usual start at zero.
        let held = if rng.random_bool(0.25) { rng.random_range(0..=sparsity) } else { sparsity };
        let near = rng.random_bool(0.5);
        let mut before = sparse_normal(rng, dim, held);
        if near && held >= star_size {
            before = near_start(rng, &star, held);
        }
        let noise = [0.0, 0.01, 0.3, 3.0, 30.0][rng.random_range(0..5)];
        let mut g = population.gradient(&before, &star);
        g.iter_mut().for_each(|g| *g += noise * largest * normal(rng));
        let eta = step_sizes[rng.random_range(0..step_sizes.len())] / (2.0 * largest);
        let (before_set, star_set) = (pad(support_of(&before), sparsity, dim), support_of(&star));
        StepInstance { population, before, before_set, star, star_set, g, eta, sparsity }
    }

    /// Returns an instance on `Sigma = (L/2) I` with `theta* = 0` on `S* = {0, .., s*-1}`, `theta_{t-1}`
    /// equal to `level` on `S_{t-1} = {0, .., s-1}`, and an error of the gradient equal to `error` there and
    /// zero elsewhere.
    pub fn aligned(
        dim: usize,
        star_size: usize,
        sparsity: usize,
        eta_l: f64,
        level: f64,
        error: f64,
    ) -> Self {
        let population = QuadraticPopulation::isotropic(dim, 1.0);
        let set = |size: usize| members_below(size);
        let on = |value: f64| (0..dim).map(|j| if j < sparsity { value } else { 0.0 }).collect::<Vec<f64>>();
        let (before, star) = (on(level), vec![0.0; dim]);
        let mut g = population.gradient(&before, &star);
        g.iter_mut().zip(on(error)).for_each(|(g, e)| *g += e);
        let (before_set, star_set) = (set(sparsity), set(star_size));
        StepInstance { population, before, before_set, star, star_set, g, eta: eta_l / 2.0, sparsity }
    }

    /// Returns `d`.
    pub fn dim(&self) -> usize {
        self.g.len()
    }

    /// Returns `s*`.
    pub fn star_size(&self) -> usize {
        self.star_set.count_ones() as usize
    }

    /// Returns `L = 2 lambda_max`, the smoothness at every sparsity.
    pub fn smoothness(&self) -> f64 {
        2.0 * self.population.largest()
    }

    /// Returns `mu = 2 lambda_min`, the convexity at every sparsity.
    pub fn convexity(&self) -> f64 {
        2.0 * self.population.smallest()
    }

    /// Returns `q = 1/(4 eta) + L/2`.
    pub fn q(&self) -> f64 {
        0.25 / self.eta + self.smoothness() / 2.0
    }

    /// Returns `e = g - grad L(theta_{t-1})`.
    pub fn error(&self) -> Vec<f64> {
        minus(&self.g, &self.gradient())
    }

    /// Returns `grad L(theta_{t-1})`.
    pub fn gradient(&self) -> Vec<f64> {
        self.population.gradient(&self.before, &self.star)
    }

    /// Returns `|theta_{t-1} - theta*|^2`.
    pub fn distance2(&self) -> f64 {
        norm2(&minus(&self.before, &self.star))
    }

    /// Returns the update with step size `eta`, made by the production learner when it is told `g`.
    ///
    /// # Errors
    /// When the learner refuses its parameters or diverges.
    pub fn step<T: Threshold>(&self, threshold: T) -> anyhow::Result<Stepped> {
        self.step_of(self.eta, threshold)
    }

    /// Returns the update like [`step`](Self::step), with the step size `eta` instead of the instance's.
    ///
    /// # Errors
    /// When the learner refuses its parameters or diverges.
    pub fn step_of<T: Threshold>(&self, eta: f64, threshold: T) -> anyhow::Result<Stepped> {
        let start = SparseVector::from_dense(&self.before);
        let kept = exploration_step(start, &self.g, self.sparsity, eta, threshold)?;
        let after = kept.view().to_dense();
        let after_set = pad(support_of(&after), self.sparsity, self.dim());
        let difference = minus(&after, &self.before);
        Ok(Stepped { after, after_set, difference })
    }

    /// Returns `gap_t - gap_{t-1}`.
    pub fn rise(&self, stepped: &Stepped) -> f64 {
        self.population.gap(&stepped.after, &self.star) - self.population.gap(&self.before, &self.star)
    }

    /// Returns the numbers of the instance that a search may change: `g`, then `theta_{t-1}` and `theta*` on
    /// their sets.
    pub fn point(&self) -> Vec<f64> {
        let before = members(self.before_set).map(|j| self.before[j]);
        let star = members(self.star_set).map(|j| self.star[j]);
        self.g.iter().copied().chain(before).chain(star).collect()
    }

    /// Sets the numbers that [`point`](Self::point) returns.
    pub fn set_point(&mut self, point: &[f64]) {
        let (g, rest) = point.split_at(self.g.len().min(point.len()));
        self.g.copy_from_slice(g);
        let mut rest = rest.iter();
        for j in members(self.before_set) {
            self.before[j] = rest.next().copied().unwrap_or(0.0);
        }
        for j in members(self.star_set) {
            self.star[j] = rest.next().copied().unwrap_or(0.0);
        }
    }

    /// Increases `height` by hill climbing over the numbers that [`point`](Self::point) returns.
    pub fn climb(&mut self, rounds: usize, rng: &mut Rng, height: impl Fn(&StepInstance) -> f64) {
        let (mut point, mut probe) = (self.point(), self.clone());
        super::climb(&mut point, rounds, rng, |point| {
            probe.set_point(point);
            height(&probe)
        });
        self.set_point(&point);
    }
}

/// Returns `theta*` with small values added on other coordinates, `size` non-zeros in all.
fn near_start(rng: &mut Rng, star: &[f64], size: usize) -> Vec<f64> {
    let mut start: Vec<f64> =
        star.iter().map(|x| if *x == 0.0 { 0.0 } else { x + 0.1 * normal(rng) }).collect();
    let others: Vec<usize> = (0..star.len()).filter(|&j| star[j] == 0.0).collect();
    let more = size - (star.len() - others.len());
    for k in random_support(rng, others.len(), more) {
        start[others[k]] = 0.1 * normal(rng);
    }
    start
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Returns `{0, .., size-1}`.
fn members_below(size: usize) -> u128 {
    if size >= 128 { u128::MAX } else { (1 << size) - 1 }
}

/// Returns `set` with its lowest missing coordinates added until it has `size` members.
pub fn pad(mut set: u128, size: usize, dim: usize) -> u128 {
    let mut j = 0;
    while (set.count_ones() as usize) < size && j < dim {
        set |= 1 << j;
        j += 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_kernels::HardThreshold;
    use lao_observation::Seed;

    #[test]
    fn sets_have_the_sizes_that_the_proof_needs() {
        let mut rng = Seed::root(9).rng();
        for _ in 0..300 {
            let instance = StepInstance::random(&mut rng, &[0.1, 0.25]);
            let stepped = instance.step(HardThreshold::default()).expect("finite");
            assert_eq!(instance.before_set.count_ones() as usize, instance.sparsity);
            assert_eq!(stepped.after_set.count_ones() as usize, instance.sparsity);
            assert!(5 * instance.star_size() <= instance.sparsity && instance.sparsity < instance.dim());
            assert_eq!(support_of(&instance.before) & !instance.before_set, 0);
            assert_eq!(support_of(&stepped.after) & !stepped.after_set, 0);
        }
    }

    #[test]
    fn a_point_goes_in_and_out() {
        let mut instance = StepInstance::random(&mut Seed::root(10).rng(), &[0.1]);
        let mut point = instance.point();
        point.iter_mut().for_each(|x| *x += 1.0);
        instance.set_point(&point);
        assert_eq!(instance.point(), point);
    }
}
