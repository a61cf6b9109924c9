//! The constants of the theorems against formulas that are written here from the papers' proofs.
//!
//! Where a proof ends in a closed form, the test starts at the inequality that the closed form solves: a
//! factor lost on the way then shows. Where the print is wrong, the corrected constant has the number of its
//! erratum (`ERRATA.md`). Numbers agree to 1e-9, so that an error of one per cent anywhere fails, and every
//! constant is compared in at least 50 settings; whole numbers are the least that satisfy their inequality.

use lao_algorithms::baselines::{Ball, FkkParams, OnlineParams};
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, AesvrParams, Horizon, SmoothedLoss};
use lao_algorithms::ito::{Rda1Params, Rda2Params, Rda3Params};
use lao_algorithms::murata_suzuki::theory::Form;
use lao_algorithms::murata_suzuki::{
    ExploitationParams, ExplorationParams, Guarantee, HybridParams, Problem, StageGuarantee,
};
use lao_algorithms::thresholding::GdStep;
use lao_algorithms::thresholding::theory::{Epoch, expansion, required_sparsity, sharp_expansion};
use lao_algorithms::{BatchSizes, Task};
use lao_kernels::SparseVector;
use lao_observation::Constants;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// The largest relative difference of two evaluations of one formula. Powers `(1-a)^T` up to `T = 10^5`
/// magnify rounding the most.
const ROUNDING: f64 = 1e-9;

/// The smallest number of settings in which a constant is compared.
const SETTINGS: usize = 50;

/// A batch size beyond which all are rounded to `2^62`.
const MOST: f64 = (1_u64 << 62) as f64;

/// Comparisons by the name of the constant: the number made, and the first that failed.
#[derive(Default)]
struct Compared(BTreeMap<&'static str, (usize, Option<String>)>);

impl Compared {
    fn note(&mut self, name: &'static str, ok: bool, message: impl FnOnce() -> String) {
        let (count, fault) = self.0.entry(name).or_default();
        *count += 1;
        if !ok && fault.is_none() {
            *fault = Some(message());
        }
    }

    /// Compares numbers that are not zero.
    fn same(&mut self, name: &'static str, found: f64, wanted: f64) {
        let ok = found == wanted || (found - wanted).abs() <= ROUNDING * wanted.abs();
        self.note(name, ok && wanted != 0.0, || format!("{found:e}, not {wanted:e}"));
    }

    /// Compares a batch size with the real number that it rounds up.
    fn rounds_up(&mut self, name: &'static str, found: u64, wanted: f64) {
        let (size, least) = (found as f64, wanted.clamp(1.0, MOST));
        let ok = size >= least * (1.0 - ROUNDING) && size <= (least + 1.0) * (1.0 + ROUNDING);
        self.note(name, ok, || format!("{found}, not {wanted} rounded up"));
    }

    /// Checks that `found` is the least whole number that satisfies `bound <= 1`, which falls.
    fn least(&mut self, name: &'static str, found: f64, bound: impl Fn(f64) -> f64) {
        let ok = bound(found) <= 1.0 + ROUNDING && (found == 0.0 || bound(found - 1.0) > 1.0 - ROUNDING);
        self.note(name, ok, || format!("{found} is not the least: {} there", bound(found)));
    }

    /// Panics if a comparison failed or a constant was compared too rarely.
    fn finish(self) {
        let faults: Vec<_> = self.0.iter().filter(|(_, (_, fault))| fault.is_some()).collect();
        assert!(faults.is_empty(), "{faults:#?}");
        let rare: Vec<_> = self.0.iter().filter(|(_, (count, _))| *count < SETTINGS).collect();
        assert!(rare.is_empty() && !self.0.is_empty(), "compared too rarely: {rare:?}");
    }
}

/// Returns problems of 1 to 10^6 attributes, condition numbers of 1 to 10^4 and attributes of size 0.01 to
/// 100, at the theorem's step size and at a smaller and a larger one.
fn problems() -> Vec<Problem> {
    let mut problems = Vec::new();
    for (dim, sparsity, star) in
        [(1, 1, 1), (2, 1, 1), (64, 2, 1), (2048, 1025, 1), (5000, 4100, 4), (1_000_000, 90_000, 37)]
    {
        for (smoothness, convexity) in [(2.0, 2.0), (0.3, 0.1), (70.0, 0.007)] {
            for (bound, noise) in [(1.0, 0.5), (0.01, 3.0), (100.0, 1e-3)] {
                let constants = Constants { smoothness, convexity, bound, noise, sparsity: star };
                for share in [1.0, 0.2, 1.7] {
                    let step_size = share / (4.0 * smoothness);
                    problems.push(Problem { constants, dim, sparsity, step_size });
                }
            }
        }
    }
    problems
}

fn guarantees() -> Vec<Guarantee> {
    let mut all = Vec::new();
    for updates in [1, 3, 44, 100_000] {
        for (slack, delta) in [(1.0, 0.1), (1e-6, 1e-12), (500.0, 0.9)] {
            all.push(Guarantee { updates, slack, delta });
        }
    }
    all
}

/// The parts of the proofs of Murata & Suzuki 2018 with the factors of their errata.
struct Proof {
    problem: Problem,
    s: f64,
    star: f64,
    eta: f64,
    l: f64,
    mu: f64,
}

impl Proof {
    fn of(problem: &Problem) -> Proof {
        let Problem { constants, sparsity, step_size: eta, .. } = *problem;
        let Constants { smoothness: l, convexity: mu, sparsity: star, .. } = constants;
        Proof { problem: *problem, s: sparsity as f64, star: star as f64, eta, l, mu }
    }

    /// `a = 1/(32 kappa)`.
    fn a(&self) -> f64 {
        self.mu / (32.0 * self.l)
    }

    /// `(1-a)^t`.
    fn shrunk(&self, t: f64) -> f64 {
        (t * (-self.a()).ln_1p()).exp()
    }

    /// The squared sup-norm error of a gradient of one example: its part in `|theta - theta*|^2` and its
    /// noise (E3). A batch divides both.
    fn sup_error(&self, delta: f64) -> (f64, f64) {
        let Constants { bound: r, noise, .. } = self.problem.constants;
        let log = (2.0 * self.problem.dim as f64 / delta).ln();
        (16.0 * (self.s + self.star) * r.powi(4) * log, 16.0 * noise.powi(2) * r.powi(2) * log)
    }

    /// The squared error on a support of size s (E18), as [`sup_error`](Self::sup_error).
    fn support_error(&self, delta: f64) -> (f64, f64) {
        let Constants { bound: r, noise, .. } = self.problem.constants;
        let log = (2.0 * self.s / delta).ln();
        (
            16.0 * self.s * (self.s + self.star) * r.powi(4) * log,
            16.0 * noise.powi(2) * self.s * r.powi(2) * log,
        )
    }

    /// The factor of the sup-norm error in the descent inequality of Proposition A.1.
    fn weight(&self) -> f64 {
        self.s * (2.5 + self.eta * self.l) * self.eta
    }

    /// `q s*/(s + s*)`, the unit of the third condition of Proposition A.1.
    fn unit(&self) -> f64 {
        (1.0 / (4.0 * self.eta) + self.l / 2.0) * self.star / (self.s + self.star)
    }

    /// The batch with which the signal's error is 4 of the 8 units that the third condition allows (E5, E8).
    fn batch_a1(&self, delta: f64) -> f64 {
        self.weight() * self.sup_error(delta).0 / (4.0 * self.unit())
    }

    /// `c_t`, E6.
    fn noise_a1(&self, delta: f64) -> f64 {
        self.weight() * self.sup_error(delta).1
    }

    /// Theorem 4.1: T times the noise of one update is `slack (1-a)^T`, at `delta_t = delta/(2T)`.
    fn batch_41(&self, Guarantee { updates, slack, delta }: Guarantee) -> f64 {
        let t = updates as f64;
        let noise = t * self.noise_a1(delta / (2.0 * t)) / (slack * self.shrunk(t));
        self.batch_a1(delta / (2.0 * t)).max(noise)
    }

    /// Theorem 4.3, special case: `(eta/2)(2 - eta L) |e|^2` against `(eta/4)(1 - eta L) (mu^2/4) |v|^2`, and
    /// T times its noise against `slack (1-a)^T` (E19).
    fn batch_43_identified(&self, Guarantee { updates, slack, delta }: Guarantee) -> f64 {
        let (t, eta_l) = (updates as f64, self.eta * self.l);
        let (signal, noise) = self.support_error(delta / (2.0 * t));
        let error = self.eta / 2.0 * (2.0 - eta_l);
        let decrease = self.eta / 4.0 * (1.0 - eta_l) * self.mu * self.mu / 4.0;
        (error * signal / decrease).max(t * error * noise / (slack * self.shrunk(t)))
    }

    /// Theorem 4.3, general case (E22): with `gap_t <= gap_{t-1} + (eta/2) |e|^2` and
    /// `|v|^2 <= (2/mu) gap`, T updates let the gap grow by `T eta A/mu <= a`, and their noise is at most the
    /// slack.
    fn batch_43_general(&self, Guarantee { updates, slack, delta }: Guarantee) -> f64 {
        let t = updates as f64;
        let (signal, noise) = self.support_error(delta / (2.0 * t));
        let growth = t * self.eta / 2.0 * signal * 2.0 / self.mu;
        (growth / self.a()).max(t * self.eta / 2.0 * noise / slack)
    }

    /// The guarantee of stage k's Exploration in the proof of Theorem 4.4, whose `delta_k` is that of E24.
    fn explore(&self, k: u64, gap_0: f64, delta: f64) -> Guarantee {
        let slack = 0.5 * self.a() * self.shrunk(k as f64 - 2.0) * gap_0;
        Guarantee { updates: 3, slack, delta: delta * 3.0 / (PI * PI * (k * k) as f64) }
    }

    /// The same of stage k's Exploitation.
    fn exploit(&self, k: u64, updates: u64, gap_0: f64, delta: f64) -> Guarantee {
        let slack = 0.5 * self.a() * self.shrunk(k as f64) * gap_0;
        Guarantee { updates, slack, delta: delta * 3.0 / (PI * PI * (k * k) as f64) }
    }
}

#[test]
fn constants_of_one_update_are_those_of_murata_and_suzuki() {
    let mut compared = Compared::default();
    for problem in problems() {
        let proof = Proof::of(&problem);
        let Proof { s, star, eta, l, mu, .. } = proof;
        compared.same("rate", problem.rate(), proof.a());
        compared.same("theorem_step", Problem::theorem_step(&problem.constants), 0.25 / l);
        // At eta = 1/(4L): s >= (64/(eta mu)^2 + 1) s*, of which the other condition, 5 s*, is a part.
        let needed = |s: f64| (64.0 * (4.0 * l / mu).powi(2) + 1.0).max(5.0) * star / s;
        compared.least("required_sparsity", Problem::required_sparsity(&problem.constants) as f64, needed);
        if s > star {
            let alpha = mu * eta * (0.25 + eta * l / 2.0) * (s - star) / (s + star) / 2.0;
            compared.same("alpha_a1", problem.alpha_a1(), alpha);
        }
        let Constants { bound: r, noise, .. } = problem.constants;
        for delta in [0.4, 1e-3, 1e-15] {
            let batch = problem.batch_a1(delta, Form::Corrected);
            compared.same("batch_a1", batch, proof.batch_a1(delta));
            compared.same("batch_a1 printed", problem.batch_a1(delta, Form::Printed), batch / r.powi(4));
            compared.same("noise_a1", problem.noise_a1(delta, Form::Corrected), proof.noise_a1(delta));
            let printed = 4.0 * proof.weight() * noise * noise * (problem.dim as f64 / delta).ln();
            compared.same("noise_a1 printed", problem.noise_a1(delta, Form::Printed), printed);
        }
    }
    compared.finish();
}

#[test]
fn batch_sizes_of_murata_and_suzuki_solve_the_inequalities_of_their_proofs() {
    let mut compared = Compared::default();
    for problem in problems() {
        let (proof, start) = (Proof::of(&problem), SparseVector::zeros(problem.dim));
        for guarantee in guarantees() {
            let wanted = proof.batch_41(guarantee);
            compared.same("theorem 4.1", problem.batch_theorem_41(guarantee), wanted);
            let params = ExplorationParams::from_theorem(&problem, problem.dim, guarantee);
            compared.rounds_up("Exploration's batch", params.batch.size(1), wanted);
            compared.same("Exploration's step", params.step_size, problem.step_size);
            compared.same("Exploration's updates", params.updates.unwrap() as f64, guarantee.updates as f64);
            let shape = (params.dim, params.sparsity, params.budget);
            assert_eq!(shape, (problem.dim, problem.sparsity, problem.dim));

            let wanted = proof.batch_43_identified(guarantee);
            compared.same("theorem 4.3, special", problem.batch_theorem_43_identified(guarantee), wanted);
            let params = ExploitationParams::from_theorem(&problem, start.clone(), 7, guarantee);
            compared.rounds_up("Exploitation's batch", params.batch.size(9), wanted);
            compared.same("Exploitation's step", params.step_size, problem.step_size);
            compared.same("Exploitation's updates", params.updates.unwrap() as f64, guarantee.updates as f64);
            assert_eq!(params.budget, 7);

            let wanted = proof.batch_43_general(guarantee);
            compared.same("theorem 4.3, general", problem.batch_theorem_43_general(guarantee), wanted);
        }
    }
    compared.finish();
}

#[test]
fn stages_of_hybrid_are_those_of_theorem_44() {
    let mut compared = Compared::default();
    for problem in problems() {
        let proof = Proof::of(&problem);
        let kappa = proof.l / proof.mu;
        for (width, gap_0, delta, stages) in [(1, 1.0, 0.1, 4), (3, 1e-4, 1e-9, 1), (40, 2e5, 0.5, 25)] {
            let budget = problem.sparsity + width;
            let exploit_updates = problem.hybrid_exploit_updates(budget);
            // T~ updates make up for a factor d/(kappa^2 (s' - s)).
            let factor = (problem.dim as f64 / (kappa * kappa * width as f64)).max(1.0);
            compared.least("T~", exploit_updates as f64, |t| factor * proof.shrunk(t));
            for smallest in [1e-4, 0.5, 30.0] {
                // After k-check stages (4/mu) (1-a)^k gap_0 <= r^2.
                let first = (4.0 * gap_0 / (proof.mu * smallest * smallest)).max(1.0);
                let stage = problem.hybrid_identification_stage(gap_0, smallest);
                compared.least("k-check", stage as f64, |k| first * proof.shrunk(k));
            }

            let guarantee = StageGuarantee { stages, gap_0, delta };
            let params = HybridParams::from_theorem(&problem, budget, guarantee);
            compared.same("T_k^-", params.explore_updates as f64, 3.0);
            assert_eq!((params.exploit_updates, params.stages), (exploit_updates, Some(stages)));
            let shape = (params.dim, params.sparsity, params.budget);
            assert_eq!(shape, (problem.dim, problem.sparsity, budget));
            compared.same("Hybrid's step", params.step_size, problem.step_size);
            for k in 1..=stages {
                let explore = proof.explore(k, gap_0, delta);
                let exploit = proof.exploit(k, exploit_updates, gap_0, delta);
                compared.same("delta_k", Problem::hybrid_delta(k, delta), explore.delta);
                compared.same("D_k^-", problem.hybrid_explore_slack(k, gap_0), explore.slack);
                compared.same("D_k", problem.hybrid_exploit_slack(k, gap_0), exploit.slack);
                let batch = proof.batch_41(explore);
                compared.same("B_k^-", problem.hybrid_explore_batch(k, guarantee), batch);
                compared.rounds_up("listed B_k^-", params.explore_batch.size(k), batch);
                if exploit_updates > 0 {
                    let batch = proof.batch_43_identified(exploit).max(proof.batch_43_general(exploit));
                    let found = problem.hybrid_exploit_batch(k, exploit_updates, guarantee);
                    compared.same("B_k", found, batch);
                    compared.rounds_up("listed B_k", params.exploit_batch.size(k), batch);
                }
            }
        }
    }
    compared.finish();
}

#[test]
fn batches_without_updates_and_beyond_all_bounds_are_positive_and_saturate() {
    for problem in problems() {
        let none = Guarantee { updates: 0, slack: 1.0, delta: 0.1 };
        for batch in [
            problem.batch_theorem_41(none),
            problem.batch_theorem_43_identified(none),
            problem.batch_theorem_43_general(none),
        ] {
            assert!(batch.is_finite() && batch > 0.0, "{problem:?}");
        }
        let endless = Guarantee { updates: u64::MAX, slack: 1e-300, delta: 1e-300 };
        let params = ExplorationParams::from_theorem(&problem, problem.dim, endless);
        assert_eq!(params.batch, BatchSizes::Constant(1 << 62));
    }
}

fn horizons() -> Vec<Horizon> {
    let mut all = Vec::new();
    for (dim, draws) in [(1, 1), (2, 1), (2, 32), (500, 19), (100_000, 3)] {
        for radius in [1e-6, 0.7, 1.0, 2e4] {
            for examples in [1, 1000, u64::from(u32::MAX) * 100] {
                all.push(Horizon { dim, draws, radius, examples });
            }
        }
    }
    all
}

#[test]
fn step_sizes_of_hazan_and_koren_balance_the_terms_of_their_regrets() {
    let mut compared = Compared::default();
    for horizon in horizons() {
        let Horizon { dim, draws, radius: b, examples } = horizon;
        let (d, k, m) = (dim as f64, draws as f64, examples as f64);
        // Lemma 3.3: |g|^2 <= G^2 on average. Lemma 3.2: the regret is at most 2B^2/eta + (eta/2) G^2 m.
        let second = 8.0 * b * b * d / k;
        let aerr = AerrParams::from_theorem(horizon);
        let eta = aerr.step_size;
        compared.same("AERR's eta", 2.0 * b * b / eta, 0.5 * eta * second * m);
        assert_eq!((aerr.dim, aerr.draws, aerr.start), (dim, draws, None));
        compared.same("AERR's B", aerr.radius, b);
        // Theorem 3.4 (E6): the regret is at most B (log(2d)/eta + 5 eta G^2 m).
        let aelr = AelrParams::from_theorem(horizon);
        let eta = aelr.step_size;
        compared.same("AELR's eta", (2.0 * d).ln() / eta, 5.0 * eta * second * m);
        compared.same("AELR's B", aelr.radius, b);
        assert_eq!((aelr.dim, aelr.draws), (dim, draws));
        // Theorem 4.4 as 3.1, with the bound on phi^2 times E|x~|^2 <= (d+k-1)/k.
        for (smoothing, second_moment) in [(3.0 * b, 0.2), (0.9 * b, 7.0), (0.04 * b, 1e9)] {
            let loss = SmoothedLoss { insensitivity: 0.3, smoothing, second_moment };
            let aesvr = AesvrParams::from_theorem(horizon, loss);
            let eta = aesvr.step_size;
            let gradients = second_moment * (d + k - 1.0) / k * m;
            compared.same("AESVR's eta", 2.0 * b * b / eta, 0.5 * eta * gradients);
            // E19: labels of w/eps are up to 2B/eps, so N >= 4 (2B/eps)^2.
            let needed = |n: f64| 4.0 * (2.0 * b / smoothing).powi(2) / n;
            compared.least("AESVR's N", f64::from(aesvr.repetitions), needed);
            compared.same("AESVR's B", aesvr.radius, b);
            compared.same("AESVR's delta", aesvr.insensitivity, 0.3);
            compared.same("AESVR's eps", aesvr.smoothing, smoothing);
            assert_eq!((aesvr.dim, aesvr.draws, aesvr.reads_zeros), (dim, draws, false));
        }
        // No examples count as one.
        let none = Horizon { examples: 0, ..horizon };
        let one = Horizon { examples: 1, ..horizon };
        assert_eq!(AerrParams::from_theorem(none), AerrParams::from_theorem(one));
        assert_eq!(AelrParams::from_theorem(none), AelrParams::from_theorem(one));
    }
    compared.finish();
}

#[test]
fn regularization_of_ito_et_al_is_that_of_their_derivations() {
    let mut compared = Compared::default();
    for dim in [6, 9, 20, 333, 100_000] {
        for kept in [0, 1, 3] {
            for extra in [2, 3] {
                let budget = kept + extra;
                let task =
                    Task { dim, sparsity: kept, budget, speed: 0.3, radius: Some(7.0), ..Task::default() };
                let pairs = |drawn: usize| (drawn * (drawn - 1)) as f64 / (dim as f64 * (dim as f64 - 1.0));
                let rda1 = Rda1Params::from_theorem(&task);
                let (rda2, rda3) = (Rda2Params::from_theorem(&task), Rda3Params::from_theorem(&task, 0.4));
                for t in [1, 2, 77, 1_000_000_007] {
                    let root = (t as f64).sqrt();
                    // E2, E3: (16/C) sum 1/lambda_t is at most 32 T/(C lambda_T), which is to equal
                    // lambda_T/2. If all attributes are observed, C is 1.
                    let lambda = rda1.regularization.at(t);
                    let seen = if budget == dim { 1.0 } else { pairs(extra) };
                    compared.same("RDA1", 32.0 * t as f64 / (seen * lambda), lambda / 2.0);
                    for (name, found) in [("RDA2 explores", rda2.explore), ("RDA3 explores", rda3.explore)] {
                        compared.same(name, found.at(t), 8.0 * root / pairs(budget));
                    }
                    for (name, found) in [("RDA2 exploits", rda2.exploit), ("RDA3 exploits", rda3.exploit)] {
                        compared.same(name, found.at(t), 8.0 * root);
                    }
                }
                assert_eq!((rda1.radius, rda2.radius, rda3.radius), (1.0, 1.0, 1.0));
                assert_eq!(
                    (rda1.kept, rda1.budget, rda2.budget, rda3.budget),
                    (kept, budget, budget, budget)
                );
                assert_eq!((rda1.dim, rda2.dim, rda3.dim, rda3.penalty), (dim, dim, dim, 0.4));
            }
        }
    }
    compared.finish();
}

#[test]
fn rates_of_the_baselines_are_those_of_their_analyses() {
    let mut compared = Compared::default();
    for dim in [6, 9, 30, 200] {
        for sparsity in [1, 2, 4] {
            for (extra, examples) in [(2, 1), (2, 12_345), (4, 1 << 40), (3, 77), (3, 1_000_000)] {
                let extra = extra.min(dim - sparsity);
                let task = Task {
                    dim,
                    sparsity,
                    budget: sparsity + extra,
                    radius: Some(0.3 + dim as f64),
                    examples,
                    ..Task::default()
                };
                let (d, t) = (dim as f64, examples as f64);
                // log C(d, k) from factorials.
                let ln_factorial = |n: usize| (2..=n).map(|i| (i as f64).ln()).sum::<f64>();
                let supports = ln_factorial(dim) - ln_factorial(sparsity) - ln_factorial(dim - sparsity);
                let seen = extra as f64 / d * (extra - 1) as f64 / (d - 1.0);
                let fkk = FkkParams::from_theorem(&task);
                compared.same("FKK's eta_h", fkk.hedge_rate, seen * (supports / t).sqrt());
                compared.same("FKK's eta_o", fkk.step_size, seen / t.sqrt());
                compared.same("FKK's radius", fkk.radius, 1.0);
                // Ridge: 2B^2/eta = (eta/2)(2B)^2 m. Lasso: log(2d)/eta = eta (2B)^2 m.
                let b = task.radius();
                let ridge = OnlineParams::from_theorem(Ball::Ridge, &task);
                let eta = ridge.step_size;
                compared.same("online Ridge's eta", 2.0 * b * b / eta, 0.5 * eta * 4.0 * b * b * t);
                let lasso = OnlineParams::from_theorem(Ball::Lasso, &task);
                let eta = lasso.step_size;
                compared.same("online Lasso's eta", (2.0 * d).ln() / eta, eta * 4.0 * b * b * t);
                compared.same("online radius", ridge.radius, b);
                assert_eq!((lasso.radius, lasso.dim, ridge.dim), (b, dim, dim));
            }
        }
    }
    compared.finish();
}

#[test]
fn epochs_of_liang_et_al_have_the_constants_of_theorem_1() {
    let mut compared = Compared::default();
    for kappa in [1.0, 1.3, 4.0, 50.0] {
        for l in [0.01, 1.0, 30.0] {
            for share in [1.0, 0.1, 2.0] {
                for (ratio, alpha) in [(1.0, 0.0), (0.1, 1e-3), (0.01, 0.004), (0.5, 0.3)] {
                    let rho = l / kappa;
                    let step = Epoch::largest_step(l, rho);
                    compared.same("largest step", step, 1.0 / (32.0 * l * kappa));
                    let eta = 0.9 * share * step;
                    let epoch = Epoch { smoothness: l, convexity: rho, step_size: eta, ratio, alpha };
                    compared.same("kappa", epoch.condition(), kappa);
                    let most = 1.0 / ((8.0 * kappa - 1.0) * (8.0 * kappa + 1.0));
                    compared.same("largest alpha", epoch.largest_alpha(), most);
                    // E4: the proof needs 2 alpha/(1 + alpha) <= eta rho.
                    let needed = epoch.needed_alpha();
                    compared.same("needed alpha", 2.0 * needed / (1.0 + needed), eta * rho);
                    let beta = ratio / (1.0 + alpha) - alpha / (1.0 + alpha) + eta * rho
                        - 2.0 * rho * l * eta.powi(2)
                        - 4.0 * (l * eta).powi(2);
                    compared.same("beta", epoch.beta(), beta);
                    let decrease = eta * rho / 2.0 - 2.0 * rho * l * eta.powi(2) - 14.0 * (l * eta).powi(2);
                    compared.same("theta", 1.0 - epoch.theta(), decrease / beta);
                    compared.same("decrease", epoch.decrease(), decrease);
                    compared.same("gamma", epoch.gamma() * decrease, 4.0 * eta.powi(2));
                    // E12, as 1 - theta at the largest step.
                    if kappa > 1.0 {
                        let bound =
                            (kappa - 1.0) / (kappa * (512.0 * kappa * kappa * ratio / (1.0 + alpha) + 14.0));
                        compared.same("bound of theta", 1.0 - epoch.theta_bound(), bound);
                    }
                    // The corrected theorem.
                    let room = (ratio - alpha) / (1.0 + alpha);
                    let factor = 1.0 - epoch.corrected_theta();
                    compared.same("corrected theta", factor * (room + eta * rho), eta * rho / 2.0);
                    for (residual, variance) in [(1.0, 0.0), (0.0, 3.0), (0.2, 0.7)] {
                        let of_residual = 8.0 * residual * (1.0 / rho + eta) / rho;
                        let of_variance = 8.0 * variance * (1.0 / rho + 2.0 * eta) / rho;
                        let floor = epoch.corrected_floor(residual, variance);
                        compared.same("corrected floor", floor, of_residual + of_variance);
                    }
                }
            }
        }
    }
    for star in [1_usize, 2, 7, 90] {
        for more in [1, 2, 5, 60, 1000] {
            for wider in [1, 3, 400] {
                let (k, dim) = (star + more, star + more + wider);
                // alpha^2 (k - k*) = 4 k*
                let alpha = expansion(star, k);
                compared.same("alpha", alpha * alpha * more as f64, 4.0 * star as f64);
                let least = |k: f64| expansion(star, k as usize) / alpha;
                compared.least("required sparsity", required_sparsity(star, alpha), least);
                // 1 + alpha = ((sqrt q + sqrt(4 + q))/2)^2
                let dropped = star.min(wider) as f64;
                let q = dropped / (more as f64 + dropped);
                let root = (q.sqrt() + (4.0 + q).sqrt()) / 2.0;
                compared.same("sharp alpha", 1.0 + sharp_expansion(star, k, dim), root * root);
            }
        }
    }
    for smoothness in (1..=60).map(|i| 1.7_f64.powi(i - 30)) {
        let GdStep::Fixed(eta) = GdStep::from_theorem(smoothness).unwrap() else { panic!("a fixed step") };
        compared.same("GD-HT's eta", 3.0 * eta * smoothness, 2.0);
    }
    compared.finish();
}
