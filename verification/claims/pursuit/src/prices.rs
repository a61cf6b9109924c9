//! Prices and panels: what is never spent, what prices of 1 change, and which of two equals is preferred.
//!
//! *Why.* The learner fills a basket, which takes a panel only while the money suffices, and the support may
//! cost no more than its share. With prices of 1 every sum is a whole number and every quotient the number
//! itself, so that all comparisons are those of the number of attributes. Of two attributes with the same
//! values the cheaper is observed at least as often, and takes the other's place in the support once both
//! were observed in 20 examples together.

use crate::setup::faulty::Changed;
use crate::setup::{Law, Scene};
use lao_algorithms::Money;
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_observation::{
    Basket, BlockBuf, Budget, Learner as _, Rng, Session, SessionLimit, Source, SourceError, Tariff,
};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt as _;
use std::collections::BTreeMap;

const EXAMPLES: u64 = 1500;
/// The dimensions are within the bits that the meter keeps of an example.
const DIMS: std::ops::RangeInclusive<usize> = 3..=100;
/// The part by which a rounded sum of prices may exceed a limit, and by which two such sums may differ.
const ROUNDING: f64 = 1e-9;
/// Pairs of equal attributes, of which so many have an effect; the money; the examples.
const PAIRS: usize = 20;
const STAR: usize = 3;
const MONEY: f64 = 10.0;
const EXAMPLES_OF_PAIRS: u64 = 3000;
/// The probability of a run whose support has another attribute than the cheaper one of each pair.
const DEARER: f64 = 0.1;

/// A source that notes which panels of which example were read, below the session.
struct Meter<S> {
    inner: S,
    tariff: Tariff,
    read: BTreeMap<u64, u128>,
}

impl<S: Source> Meter<S> {
    /// Returns the cost of each example that was read.
    fn costs(&self) -> impl Iterator<Item = f64> + '_ {
        let cost = |read: &u128| {
            let prices = self.tariff.prices().iter().enumerate();
            prices.filter(|(panel, _)| read >> panel & 1 == 1).map(|(_, price)| price).sum()
        };
        self.read.values().map(cost)
    }
}

impl<S: Source> Source for Meter<S> {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.inner.position();
        let rows = self.inner.observe(attributes, block)?;
        let panels = attributes.iter().filter_map(|&j| self.tariff.panel(j));
        let read = panels.fold(0, |read: u128, panel| read | 1 << panel);
        (first..first + rows as u64).for_each(|row| *self.read.entry(row).or_default() |= read);
        Ok(rows)
    }
}

/// Returns prices of which every eighth is 0, and the others are between .5 and 10, of panels at random.
fn tariff(dim: usize, rng: &mut Rng) -> anyhow::Result<Tariff> {
    let drawn: Vec<usize> = (0..dim).map(|_| rng.random_range(0..dim)).collect();
    let mut used = drawn.clone();
    used.sort_unstable();
    used.dedup();
    let panels = drawn.iter().map(|panel| used.partition_point(|other| other < panel) as u32).collect();
    let price = |_| if rng.random_range(0..8) == 0 { 0.0 } else { rng.random_range(0.5..10.0) };
    Ok(Tariff::with_panels(panels, used.iter().map(price).collect())?)
}

/// The limits of a run, and what it did.
struct Spent {
    per_example: f64,
    most: f64,
    per_prediction: f64,
    most_predicted: f64,
    ledger: f64,
    meter: f64,
}

fn spent(trial: &Trial, faults: [bool; 3]) -> anyhow::Result<Spent> {
    let [twice_the_money, no_limit_of_predictions, no_panels] = faults;
    let mut rng = trial.seed.child("shape").rng();
    let dim = rng.random_range(DIMS);
    let tariff = tariff(dim, &mut rng)?;
    let dearest = tariff.prices().iter().copied().fold(0.5, f64::max);
    let per_example = dearest * rng.random_range(1.0..4.0);
    let per_prediction =
        Some(dearest * rng.random_range(1.0..2.0)).filter(|_| trial.number.is_multiple_of(2));
    let money = Money { per_prediction, ..Money::new(tariff.clone(), per_example) };
    let limit = PursuitParams::within_money(money.clone()).most_per_prediction();
    let per_example_of_learner = if twice_the_money { 2.0 * per_example } else { per_example };
    let per_prediction = per_prediction.filter(|_| !no_limit_of_predictions);
    let params = Money { per_example: per_example_of_learner, per_prediction, ..money };
    let law = if rng.random() { Law::Chain(0.8) } else { Law::Independent };
    let scene = Scene { law, dim, star: dim.min(10), noise: 0.3 };
    let source = Meter { inner: scene.examples(&trial.seed)?, tariff: tariff.clone(), read: BTreeMap::new() };
    let of_session = if no_panels {
        Tariff::new((0..dim as u32).map(|j| tariff.price(j)).collect())?
    } else {
        tariff.clone()
    };
    // Without a limit, so that the session cannot hide a learner that spends too much.
    let session = Session::new(source, Budget::Unlimited, &trial.seed.child("algorithm"));
    let mut session = session.priced(of_session)?;
    let mut learner = PursuitParams::within_money(params).build()?;
    let (mut most_predicted, mut basket) = (0.0, Basket::default());
    session.run(&mut learner, SessionLimit::after_examples(EXAMPLES), |_, learner: &Pursuit| {
        most_predicted = tariff.cost(learner.coefficients().indices(), &mut basket).max(most_predicted);
    })?;
    let ledger = session.ledger().cost;
    let source = session.into_source();
    let (most, meter) = source.costs().fold((0.0, 0.0), |(most, sum), cost| (cost.max(most), sum + cost));
    Ok(Spent { per_example, most, per_prediction: limit, most_predicted, ledger, meter })
}

/// Returns all coefficients and intercepts after each update, with a budget of attributes and with the same
/// budget in money.
fn with_and_without(trial: &Trial, one_price_is_higher: bool) -> anyhow::Result<Vec<(f64, f64)>> {
    let mut rng = trial.seed.child("shape").rng();
    let dim = rng.random_range(DIMS);
    let budget = rng.random_range(1..=dim);
    let mut prices = vec![1.0; dim];
    prices[0] = if one_price_is_higher { 1.5 } else { 1.0 };
    let money = Money::new(Tariff::new(prices)?, budget as f64);
    let path = |params: PursuitParams| -> anyhow::Result<Vec<f64>> {
        let scene = Scene { law: Law::Chain(0.5), dim, star: dim.min(5), noise: 1.0 };
        let limit = Budget::PerExample(budget);
        let mut session = Session::new(scene.examples(&trial.seed)?, limit, &trial.seed.child("algorithm"));
        let mut known = Vec::new();
        session.run(
            &mut params.build()?,
            SessionLimit::after_examples(EXAMPLES),
            |_, learner: &Pursuit| {
                known.extend(learner.coefficients().to_dense());
                known.push(learner.intercept());
            },
        )?;
        Ok(known)
    };
    let (counted, priced) =
        (path(PursuitParams::within(dim, budget))?, path(PursuitParams::within_money(money))?);
    anyhow::ensure!(counted.len() == priced.len(), "the learners have made different numbers of updates");
    Ok(counted.into_iter().zip(priced).collect())
}

/// Returns examples in which attribute `j` and attribute `j + PAIRS` are the same.
fn doubled<S: Source>(inner: S) -> Changed<S> {
    Changed::new(inner, |inner, attributes, block| {
        let mut once: Vec<u32> = attributes.iter().map(|&j| j % PAIRS as u32).collect();
        once.sort_unstable();
        once.dedup();
        let mut seen = BlockBuf::new();
        seen.reset(once.len(), block.capacity());
        let rows = inner.observe(&once, &mut seen)?;
        let view = seen.view(&once);
        for (c, &j) in attributes.iter().enumerate() {
            let of = once.partition_point(|&other| other < j % PAIRS as u32);
            block.column_mut(c)[..rows].copy_from_slice(view.column(of));
        }
        block.labels_mut()[..rows].copy_from_slice(view.labels());
        block.set_rows(rows);
        Ok(rows)
    })
}

/// A source of [`doubled`] examples has twice the attributes.
struct Doubled<S>(Changed<S>);

impl<S: Source> Source for Doubled<S> {
    lao_verification_engine::hand_on!(0: observe position seek);

    fn dim(&self) -> usize {
        2 * PAIRS
    }
}

/// Whether the support has, of each pair with an effect, the cheaper attribute and not the other one.
fn prefers_the_cheaper(trial: &Trial, forgets_prices: bool) -> anyhow::Result<bool> {
    let mut rng = trial.seed.child("prices").rng();
    let mut prices = vec![1.0; 2 * PAIRS];
    let dearer: Vec<usize> = (0..PAIRS).map(|j| if rng.random() { j } else { j + PAIRS }).collect();
    dearer.iter().for_each(|&j| prices[j] = rng.random_range(1.25..3.0));
    let law = if trial.number.is_multiple_of(2) { Law::Independent } else { Law::Chain(0.5) };
    let scene = Scene { law, dim: PAIRS, star: STAR, noise: 1.0 };
    let (truth, source) = (scene.examples(&trial.seed)?, Doubled(doubled(scene.examples(&trial.seed)?)));
    let tariff = if forgets_prices { Tariff::uniform(2 * PAIRS, 1.0)? } else { Tariff::new(prices)? };
    let mut learner = PursuitParams::within_money(Money::new(tariff, MONEY)).build()?;
    let mut session = Session::new(source, Budget::Unlimited, &trial.seed.child("algorithm"));
    session.run(&mut learner, SessionLimit::after_examples(EXAMPLES_OF_PAIRS), |_, _| {})?;
    let has = |j: usize| learner.support().contains(&(j as u32));
    let right = |&j: &u32| {
        let dear = dearer[j as usize];
        has((dear + PAIRS) % (2 * PAIRS)) && !has(dear)
    };
    Ok(truth.theta_star().indices().iter().all(right))
}

const FORGETS_PRICES: Mutant =
    Mutant::refuted("forgets_prices", "where attributes are equal, the learner takes all prices for 1");
const ONE_PRICE_IS_HIGHER: Mutant =
    Mutant::refuted("one_price_is_higher", "one attribute costs 1.5, and the others 1");
const LEDGER_WITHOUT_PANELS: Mutant =
    Mutant::refuted("ledger_without_panels", "the ledger adds up each attribute of a panel");
const PREDICTS_WITHOUT_LIMIT: Mutant =
    Mutant::refuted("predicts_without_limit", "the learner is not told what a prediction may cost");
const TWICE_THE_MONEY: Mutant = Mutant::refuted("twice_the_money", "the learner has twice the money");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let faults = [&TWICE_THE_MONEY, &PREDICTS_WITHOUT_LIMIT, &LEDGER_WITHOUT_PANELS];
    let faults = faults.map(|fault| cx.commits(fault));
    let (one_price_is_higher, forgets_prices) =
        (cx.commits(&ONE_PRICE_IS_HIGHER), cx.commits(&FORGETS_PRICES));
    cx.split(5);
    let runs = cx.all_trials("shapes", cx.size("shapes")?, |trial| spent(trial, faults))?;
    let (mut observed, mut predicted) = (PropertyTally::new(), PropertyTally::new());
    for run in &runs {
        observed.check(run.most, run.per_example * (1.0 + ROUNDING));
        predicted.check(run.most_predicted, run.per_prediction * (1.0 + ROUNDING));
    }
    let used = runs.iter().map(|run| run.most / run.per_example).sum::<f64>() / runs.len() as f64;
    cx.note("mean share of the money that is spent", used);
    cx.judge("money spent on an example", observed.finish());
    cx.judge("cost of a prediction", predicted.finish());
    let ledgers = runs.iter().map(|run| (run.ledger / run.meter.max(1.0), run.meter / run.meter.max(1.0)));
    cx.judge("money of the ledger, in that of the meter", exact_all(ledgers, ROUNDING));
    cx.settled()?;
    let one = |trial: &Trial| with_and_without(trial, one_price_is_higher);
    let paths = cx.all_trials("prices of 1", cx.size("paths")?, one)?;
    cx.judge("prices of 1: coefficients and intercept after each update", exact_all(paths.concat(), 0.0));
    cx.settled()?;
    let most = cx.size("most")?;
    let cheaper = |trial: &Trial| prefers_the_cheaper(trial, forgets_prices);
    cx.prob("of equal attributes another than the cheaper", DEARER, most, cheaper)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-prices",
    place: "Prices",
    sentence: "Pursuit never spends more than the money for an example, nor for a prediction; the ledger \
               adds up what is spent. Prices of 1 change no bit. Of two attributes with the same values and \
               an effect, the cheaper is in the predictor.",
    formula: r"\sum_{P \cap J_i \ne \emptyset} c_P \le C, \qquad \sum_{P \cap S_t \ne \emptyset} c_P \le C'",
    design: "Money: random shapes of 3 to 100 attributes in panels at random; every eighth panel is free, \
             the others cost .5 to 10; an example may cost one to four times the dearest panel and, in every \
             second run, a prediction one to two times. Up to 10 coefficients of 1 and -1, independent \
             normal attributes or a chain in which neighbors have correlation .8; 1,500 examples. A meter \
             below the session notes which panels of which example are read; the session itself has no \
             limit. Prices of 1: the same shapes, every s' up to d, all coefficients after each update. \
             Equals: 20 pairs of equal attributes, one of which costs 1 and the other 1.25 to 3; three \
             pairs have a coefficient of 1 or -1 in noise of variance 1; 10 for an example; 3,000 examples; \
             a run fails unless its support has the cheaper attributes of these pairs and not the dearer.",
    standing: Standing::ours(),
    mutants: &[
        FORGETS_PRICES,
        ONE_PRICE_IS_HIGHER,
        LEDGER_WITHOUT_PANELS,
        PREDICTS_WITHOUT_LIMIT,
        TWICE_THE_MONEY,
    ],
    experiment,
};
