//! Plans: a study that is simulated needs as many examples as one that is run.
//!
//! *Why.* `lao plan` says how many examples a study will need before the first one is paid for. It plays the
//! study with sources of its own, so what it says is held against studies that are run in sessions, on the
//! suite's sources, with other draws: the mean of both is the same, up to the sampling error of 800 studies
//! on either side (.03). The bounds leave .12.

use lao_algorithms::Money;
use lao_algorithms::pursuit::{PursuitParams, StudyGuess};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Basket, Budget, Seed, Session, Tariff};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::ratio;
use rand::seq::SliceRandom as _;

/// The mean number of examples planned over that of studies.
const AS_MANY: (f64, f64) = (0.88, 1.12);
/// Studies of a trial.
const STUDIES: usize = 4;

/// What is guessed, and the prices.
struct Setting {
    name: &'static str,
    dim: usize,
    budget: usize,
    sparsity: usize,
    signal: f64,
    /// Every third attribute costs this much, if attributes have prices; the others cost 1.
    price: Option<f64>,
}

const SETTINGS: [Setting; 3] = [
    Setting { name: "two weak effects", dim: 30, budget: 8, sparsity: 2, signal: 0.5, price: None },
    Setting { name: "four effects", dim: 24, budget: 8, sparsity: 4, signal: 1.0, price: None },
    Setting { name: "prices", dim: 24, budget: 8, sparsity: 2, signal: 0.7, price: Some(2.5) },
];

/// What is wrong with the guess.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Signal,
    Sparsity,
    NoPrices,
}

const FAULTS: [Fault<Wrong>; 3] = [
    Fault::refuted("no_prices", "the plan forgets the prices", Wrong::NoPrices),
    Fault::refuted("larger_signal", "the plan takes effects for larger by a half", Wrong::Signal),
    Fault::refuted("one_effect_fewer", "the plan takes one attribute fewer to matter", Wrong::Sparsity),
];

impl Setting {
    fn money(&self) -> anyhow::Result<Option<Money>> {
        let Some(dear) = self.price else { return Ok(None) };
        let prices = (0..self.dim).map(|j| if j % 3 == 0 { dear } else { 1.0 }).collect();
        Ok(Some(Money::new(Tariff::new(prices)?, self.budget as f64)))
    }

    /// The mean number of examples of some simulated studies.
    fn planned(&self, wrong: Option<Wrong>, seed: &Seed) -> anyhow::Result<f64> {
        let Setting { dim, budget, sparsity, signal, .. } = *self;
        let signal = if wrong == Some(Wrong::Signal) { 1.5 * signal } else { signal };
        let sparsity = if wrong == Some(Wrong::Sparsity) { sparsity - 1 } else { sparsity };
        let guess = StudyGuess { sparsity, signal, studies: STUDIES, ..StudyGuess::within(dim, budget) };
        let plan = match self.money()?.filter(|_| wrong != Some(Wrong::NoPrices)) {
            Some(money) => guess.simulate_within(money, seed)?,
            None => guess.simulate(seed)?,
        };
        anyhow::ensure!(plan.given_up == 0, "a simulated study was given up");
        Ok(plan.found.iter().sum::<u64>() as f64 / STUDIES as f64)
    }

    /// The examples after which a study has found exactly the attributes that matter.
    fn needed(&self, seed: &Seed) -> anyhow::Result<f64> {
        let Setting { dim, budget, sparsity, signal, .. } = *self;
        let money = self.money()?;
        let params = match &money {
            Some(money) => PursuitParams::within_money(money.clone()),
            None => PursuitParams::within(dim, budget),
        };
        let mut support: Vec<u32> = (0..dim as u32).collect();
        support.shuffle(&mut seed.child("support").rng());
        if let Some(Money { tariff, .. }) = &money {
            // Together they cost no more than a predictor may.
            let (mut basket, most) = (Basket::default(), params.most_per_prediction());
            support.retain(|&j| basket.buy(tariff, j, most));
        }
        support.truncate(sparsity);
        support.sort_unstable();
        let target = SparseVector::new(dim, support.clone(), vec![signal; support.len()])?;
        let source = Virtual::new(Rademacher::new(dim)?, target, Noise::Gaussian(1.0), &seed.child("data"))?;
        let mut learner = params.build()?;
        let seed = seed.child("algorithm");
        let mut session = match money {
            Some(money) => Session::new(source, Budget::Unlimited, &seed).priced(money.tariff)?,
            None => Session::new(source, Budget::PerExample(budget), &seed),
        };
        while learner.support() != support {
            anyhow::ensure!(session.ledger().examples < 100_000, "the study finds nothing");
            session.step(&mut learner, u64::MAX)?;
        }
        Ok(session.ledger().examples as f64)
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (wrong, runs) = (cx.fault(&FAULTS), cx.size("runs")?);
    cx.split(SETTINGS.len());
    for setting in &SETTINGS {
        if wrong == Some(Wrong::NoPrices) && setting.price.is_none() {
            continue;
        }
        let name = setting.name;
        let planned =
            cx.all_trials(&format!("{name}, planned"), runs, |trial| setting.planned(wrong, &trial.seed))?;
        let studies = || {
            cx.all_trials(&format!("{name}, run"), runs, |trial| {
                let studies =
                    (0..STUDIES).map(|at| setting.needed(&trial.seed.child(&format!("study {at}"))));
                Ok(studies.sum::<anyhow::Result<f64>>()? / STUDIES as f64)
            })
        };
        // The same in all arms.
        let needed = cx.shared(&format!("{name}, run"), studies)?;
        let cell = format!("{name}: examples planned over those of studies");
        let needed = &needed[..runs as usize];
        cx.judge(&cell, ratio::independent(&planned, needed, AS_MANY, cx.alpha()));
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-plan",
    place: "Plans",
    sentence: "Studies that are run need as many examples until exactly the attributes that matter are found \
               as the plan says, in the mean: within .88 and 1.12 of it.",
    formula: r"0.88 \le \frac{E\, n_{\mathrm{planned}}}{E\, n_{\mathrm{run}}} \le 1.12",
    design: "Independent signs, normal noise of variance 1. Two effects of .5 among 30 attributes, of which \
             8 are bought; four effects of 1 among 24; and two effects of .7 among 24, of which every third \
             costs 2.5 where the others cost 1, with money for 8.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
