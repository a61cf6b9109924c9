//! Theorem 2.2 (Theorem B.1): the hard family for Ridge regression, and what no algorithm can beat on it.
//!
//! *What can be executed.* A bound over all algorithms cannot be simulated, but this one rests on an
//! inequality that binds every algorithm: on rows `r_i e_i`, i in T, `K = 1/eps^2`, let n be the number of
//! signs ever seen. The unseen ones are fair given the history, so the expected excess is at least
//! `(1 - sqrt(n/K)) eps - eps^2/2` ([`SignedRows::information_bound`]); and an example shows one new sign,
//! with probability about `kappa (K-n)/(dK)`. Excess `eps/4` then needs `kappa m/(dK)` of about
//! `log(16/7) = .83` examples for large K.

use lao_algorithms::hazan_koren::{AerrParams, Horizon};
use lao_datasets::adversarial::hazan_koren::{Population, PopulationStream, SignedRows};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Rng, Seed, Session, Source, SourceError, Told,
};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Direction, Trial};
use lao_verification_engine::instance::tally;
use lao_verification_engine::judge::slope::{self, Exponent, SlopeJudge};
use lao_verification_engine::judge::{FindingKind, PropertyTally};
use lao_verification_engine::mutants::{Cripple, Crippled};
use lao_verification_engine::plots;
use std::sync::Arc;

/// Remembers the signs it has seen, looks at unknown attributes in turn, answers `r_i/sqrt n`.
struct Memory {
    per_example: usize,
    /// Whether a sign is known, and where to look next.
    known: Vec<bool>,
    next: usize,
    asked: Vec<u32>,
    estimate: SparseVector,
    updates: u64,
}

impl Memory {
    fn new(dim: usize, per_example: usize) -> Memory {
        let (known, estimate) = (vec![false; dim], SparseVector::zeros(dim));
        Memory { per_example, known, next: 0, asked: Vec::new(), estimate, updates: 0 }
    }

    fn learn(&mut self, place: u32, sign: f64) {
        self.known[place as usize] = true;
        let mut signs: Vec<(u32, f64)> = self.estimate.view().iter().chain([(place, sign)]).collect();
        signs.sort_by_key(|&(place, _)| place);
        let height = 1.0 / (signs.len() as f64).sqrt();
        self.estimate.clear();
        signs.iter().for_each(|&(place, sign)| self.estimate.push(place, height * sign.signum()));
    }
}

impl Learner for Memory {
    fn dim(&self) -> usize {
        self.known.len()
    }

    fn ask(&mut self, _rng: &mut Rng, ask: &mut Ask) {
        self.asked.clear();
        for _ in 0..self.known.len() {
            if self.asked.len() == self.per_example {
                break;
            }
            if !self.known[self.next] {
                self.asked.push(self.next as u32);
            }
            self.next = (self.next + 1) % self.known.len();
        }
        self.asked.sort_unstable();
        ask.values(1).extend_from_slice(&self.asked);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        if let Told::Values(block) = told {
            for (c, &place) in block.attributes().iter().enumerate() {
                if let Some(&sign) = block.column(c).first().filter(|value| **value != 0.0) {
                    self.learn(place, sign);
                }
            }
            self.updates += 1;
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.estimate.view()
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

/// Examples of the family, with a count of the signs that were ever looked at.
struct Sighted {
    inner: PopulationStream<SignedRows>,
    seen: Vec<bool>,
    count: usize,
    /// Shows the signs of all rows in every example.
    reveals: bool,
}

impl Sighted {
    fn new(setting: Setting, trial: &Trial) -> anyhow::Result<Sighted> {
        let seed = trial.seed.child("data");
        let population = SignedRows::random(setting.dim, setting.rows, &seed)?;
        Ok(Sighted {
            inner: PopulationStream::new(population, &seed),
            seen: vec![false; setting.dim],
            count: 0,
            reveals: false,
        })
    }

    fn population(&self) -> &SignedRows {
        self.inner.population()
    }
}

impl Source for Sighted {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.inner.observe(attributes, block)?;
        if self.reveals {
            for (c, &j) in attributes.iter().enumerate() {
                let sign = self.inner.population().signs().get(j);
                block.column_mut(c)[..rows].fill(sign);
            }
        }
        let view = block.view(attributes);
        for (c, &j) in attributes.iter().enumerate() {
            let new = !self.seen[j as usize] && view.column(c).iter().any(|value| *value != 0.0);
            self.seen[j as usize] |= new;
            self.count += usize::from(new);
        }
        Ok(rows)
    }
}

/// `d`, `K` and kappa.
#[derive(Clone, Copy)]
struct Setting {
    dim: usize,
    rows: usize,
    kappa: usize,
}

impl Setting {
    /// Examples at which `kappa m/(dK)` is `ratio`.
    fn examples(self, ratio: f64) -> u64 {
        (ratio * (self.dim * self.rows) as f64 / self.kappa as f64).ceil() as u64
    }

    /// The memory algorithm; one that peeks sees everything.
    fn memory(self, peeks: bool) -> (Memory, Budget) {
        let seen = if peeks { self.dim } else { self.kappa };
        (Memory::new(self.dim, seen), Budget::PerExample(seen))
    }
}

const SETTINGS: [Setting; 4] = [
    Setting { dim: 64, rows: 16, kappa: 4 },
    Setting { dim: 128, rows: 16, kappa: 4 },
    Setting { dim: 128, rows: 64, kappa: 4 },
    Setting { dim: 256, rows: 64, kappa: 8 },
];

/// Runs a learner on examples of the family until `look` says stop, after every `stride`, at most `most`;
/// returns the examples used.
fn run<L: Learner>(
    (learner, budget): (&mut L, Budget),
    (source, seed): (Sighted, &Seed),
    (stride, most): (u64, u64),
    mut look: impl FnMut(&Sighted, &L) -> bool,
) -> anyhow::Result<u64> {
    let mut session = Session::new(source, budget, &seed.child("algorithm"));
    let mut examples = 0;
    while examples < most {
        session.step(learner, 1)?;
        examples += 1;
        if examples % stride == 0 && look(session.source(), learner) {
            break;
        }
    }
    Ok(examples)
}

/// Examples until the excess risk of the memory algorithm is at most `eps/4`.
fn memory_examples(setting: Setting, trial: &Trial, arm: Arm, most: u64) -> anyhow::Result<u64> {
    let (memory, budget) = setting.memory(arm.wrong == Some(Wrong::Peeks));
    let mut memory = Crippled::new(memory, arm.cripple);
    let quarter = 0.25 / (setting.rows as f64).sqrt();
    let reveals = arm.wrong == Some(Wrong::SeesAllRows);
    let source = Sighted { reveals, ..Sighted::new(setting, trial)? };
    if let Some(cripple) = arm.cripple {
        // The best answer is the one after all signs. If what is left of that is not good enough, none is.
        let mut best = source.population().minimizer().view().to_dense();
        cripple.estimate(&[], &mut best);
        if source.population().excess_risk(SparseVector::from_dense(&best).view()) > quarter {
            return Ok(most);
        }
    }
    let mut before = 0;
    run((&mut memory, budget), (source, &trial.seed), (1, most), |source, memory| {
        let known = memory.inner().estimate.len();
        let new = known != before;
        before = known;
        new && source.population().excess_risk(memory.coefficients()) <= quarter
    })
}

fn aerr(setting: Setting) -> anyhow::Result<lao_algorithms::hazan_koren::Aerr> {
    let Setting { dim, kappa, .. } = setting;
    Ok(AerrParams::from_theorem(Horizon {
        dim,
        draws: kappa - 1,
        radius: 1.0,
        examples: setting.examples(1.0),
    })
    .build()?)
}

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Peeks,
    SeesAllRows,
    BoundWithoutRoot,
}

/// A fault, or a crippled learner.
#[derive(Clone, Copy)]
struct Arm {
    wrong: Option<Wrong>,
    cripple: Option<Cripple>,
}

const FAULTS: [Fault<Wrong>; 3] = [
    Fault::refuted("sees_all_rows", "every example shows the signs of all rows", Wrong::SeesAllRows),
    Fault::refuted("peeks", "looks at all attributes and counts kappa", Wrong::Peeks),
    Fault::refuted("bound_without_root", "n/K in place of sqrt(n/K)", Wrong::BoundWithoutRoot),
];

/// The inequality along the runs of both algorithms.
fn binds(cx: &mut Context<'_>, arm: Arm, runs: u64) -> anyhow::Result<()> {
    let rootless = arm.wrong == Some(Wrong::BoundWithoutRoot);
    let one = |trial: &Trial, [memory, learner]: &mut [PropertyTally; 2]| {
        let setting = SETTINGS[trial.number as usize % SETTINGS.len()];
        let bound = |source: &Sighted| {
            let (population, n) = (source.population(), source.count);
            let share = n as f64 / setting.rows as f64;
            let eps = 1.0 / (setting.rows as f64).sqrt();
            let lifted = if rootless { (share.sqrt() - share) * eps } else { 0.0 };
            population.information_bound(n) + lifted
        };
        let most = setting.examples(3.0);
        let (mut remembers, budget) = setting.memory(false);
        let source = Sighted::new(setting, trial)?;
        run((&mut remembers, budget), (source, &trial.seed), (16, most), |source, w| {
            memory.check(bound(source), source.population().excess_risk(w.coefficients()));
            false
        })?;
        let budget = Budget::PerExample(setting.kappa);
        let source = Sighted::new(setting, trial)?;
        run((&mut aerr(setting)?, budget), (source, &trial.seed), (64, most), |source, w| {
            let iterate = SparseVector::from_dense(&w.iterate());
            for w in [w.coefficients(), iterate.view()] {
                learner.check(bound(source), source.population().excess_risk(w));
            }
            false
        })?;
        Ok(())
    };
    // No other fault reaches these runs, and how a learner is crippled does not matter for what binds all.
    let both = || tally(cx, "runs", runs, one);
    let found = if rootless { Arc::new(both()?) } else { cx.shared("runs", both)? };
    let [memory, learner] = &*found;
    cx.judge("excess >= information bound, memory", memory.finish());
    cx.judge("excess >= information bound, AERR", learner.finish());
    Ok(())
}

/// Examples in units of `dK/kappa`. The memory algorithm needs 9/16 of the signs, hence `log(16/7) = .83` for
/// large K, and less where looks at known attributes are saved.
fn ratios(cx: &mut Context<'_>, arm: Arm, trials: u64) -> anyhow::Result<()> {
    for setting in SETTINGS {
        let Setting { dim, rows, kappa } = setting;
        let name = format!("kappa m/(dK) in [1/2, 5/4], d = {dim}, K = {rows}, kappa = {kappa}");
        let (cap, unit) = (setting.examples(2.5), (dim * rows) as f64 / kappa as f64);
        let one = |trial: &Trial| Ok(memory_examples(setting, trial, arm, cap)? as f64 / unit);
        let sample = cx.all_trials(&name, trials, one)?;
        cx.judge(&name, slope::judge_sample(&sample, (0.5, 1.25), cx.alpha(), FindingKind::Mean));
        cx.settled()?;
    }
    Ok(())
}

/// Growth of the memory algorithm's examples in `d` and in `K`.
fn growth(cx: &mut Context<'_>, arm: Arm, replicates: [u64; 2]) -> anyhow::Result<()> {
    let in_dim = [128, 256, 512, 1024, 2048].map(|dim| Setting { dim, rows: 16, kappa: 8 });
    let in_rows = [8, 16, 32, 64, 128, 256].map(|rows| Setting { dim: 1024, rows, kappa: 16 });
    // A learner that never gets there has no exponent.
    let trial = Trial { number: 0, seed: cx.seed("probe") };
    let cap = in_dim[0].examples(40.0);
    let reached = memory_examples(in_dim[0], &trial, arm, cap)? < cap;
    let in_what: [fn(&Setting) -> usize; 2] = [|s| s.dim, |s| s.rows];
    let cells: [(&str, &[Setting]); 2] = [("exponent in d", &in_dim), ("exponent in K", &in_rows)];
    for (((cell, settings), of), replicates) in cells.into_iter().zip(in_what).zip(replicates) {
        if !reached {
            cx.judge_nothing(cell, "the examples reach excess eps/4");
            continue;
        }
        let m = cx.all_trials(cell, replicates, |trial| {
            let one = |(number, setting): (u64, &Setting)| {
                let trial = Trial { number, seed: trial.seed.trial(number) };
                Ok(memory_examples(*setting, &trial, arm, setting.examples(40.0))? as f64)
            };
            (0..).zip(settings).map(one).collect::<anyhow::Result<Vec<f64>>>()
        })?;
        let x: Vec<f64> = settings.iter().map(|setting| of(setting) as f64).collect();
        let judge = SlopeJudge::new(Exponent::Within(1.0, 1.0), 0.1);
        cx.judge(cell, judge.judge(&x, &m, cx.alpha()));
        let variable = if cell.ends_with('d') { "d" } else { "K" };
        let caption = format!("Examples that the memory algorithm needs against {variable}.");
        cx.figure(plots::growth(&caption, (variable, &x), ("examples", &m), 1.0));
        let ends = m.iter().map(|m| (m[m.len() - 1] / m[0]).ln() / (x[x.len() - 1] / x[0]).ln());
        cx.rate(
            &format!("{cell} of the examples that the memory algorithm needs"),
            Direction::Larger,
            ends.collect(),
        );
        cx.settled()?;
    }
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(8);
    let (runs, trials) = (cx.size("runs")?, cx.size("trials")?);
    let replicates = [cx.size("replicates")?, cx.size("replicates_in_rows")?];
    let arm = Arm { wrong: cx.fault(&FAULTS), cripple: cx.cripple() };
    binds(cx, arm, runs)?;
    cx.settled()?;
    ratios(cx, arm, trials)?;
    growth(cx, arm, replicates)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-thm22-lower",
    place: "Theorem 2.2 and Appendix B",
    sentence: "On the hard family of Ridge regression, neither an algorithm made for it nor AERR beats the \
               information bound, and the first needs examples of order d/(kappa eps^2) for excess eps/4.",
    formula: r"E[L_{\mathcal{D}}(w)] - L_{\mathcal{D}}(w^*) \ge E\left[ 1 - \sqrt{n/K} \right]
               \varepsilon - \frac{\varepsilon^2}{2}, \quad \frac{\kappa m}{dK} = \Omega(1), \; K =
               \varepsilon^{-2}",
    design: "Rows with one non-zero of random place and sign, d up to 2048, K up to 256, and exact excess \
             risks. Two algorithms: one made for the family, which remembers the signs it saw, looks at \
             unknown attributes in turn and answers r_i/sqrt n; and the production AERR. (1) The inequality \
             along their runs, with n counted below the session. (2) The mean of kappa m/(dK) at which the \
             first algorithm has excess eps/4 is at least 1/2, and at most 5/4 (theory: .83 for large K). \
             (3) Its m grows like d and like K, exponents within .1. The verdict is consistency, not \
             proof: the quantifier over algorithms cannot be tested.",
    standing: Standing::corrected(&[21, 23]).literal().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
