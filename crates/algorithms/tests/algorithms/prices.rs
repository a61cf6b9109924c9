//! What methods promise where attributes have prices: never overspent, nothing changed by prices of 1, and
//! money that goes where it explains most.

use lao_algorithms::murata_suzuki::{Exploration, ExplorationParams, HybridParams};
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_algorithms::registry::method;
use lao_algorithms::{AnyLearner, AnyParams, BatchSizes, METHODS, Money, Safeguarded, Task};
use lao_observation::{
    BlockBuf, Budget, Cursor, Learner, Ledger, Seed, Session, SessionLimit, Source, SourceError, Tariff,
};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Examples of uniform attributes, some of which equal others; the label is a sum of effects and noise. A
/// meter, which knows nothing of sessions, adds up what each example costs.
struct Metered {
    cursor: Cursor,
    tariff: Tariff,
    equals: Vec<usize>,
    effects: Vec<(usize, f64)>,
    seed: Seed,
    /// The panels bought of the examples so far, and the largest cost of one.
    bought: Vec<u64>,
    most: f64,
    seen: Vec<u64>,
}

impl Metered {
    fn new(tariff: &Tariff, effects: &[(usize, f64)], rows: u64, seed: u64) -> Self {
        Metered {
            cursor: Cursor::new(rows),
            equals: (0..tariff.dim()).collect(),
            effects: effects.to_vec(),
            seed: Seed::root(seed),
            bought: vec![0; tariff.prices().len()],
            most: 0.0,
            seen: vec![0; tariff.dim()],
            tariff: tariff.clone(),
        }
    }
}

impl Source for Metered {
    fn dim(&self) -> usize {
        self.tariff.dim()
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.cursor.upcoming(block.capacity());
        let mut panels: BTreeSet<u32> = attributes.iter().filter_map(|&j| self.tariff.panel(j)).collect();
        panels.extend(panels.clone().iter().filter_map(|&panel| self.tariff.fee(panel)));
        panels.iter().for_each(|&panel| self.bought[panel as usize] += rows as u64);
        if rows > 0 {
            // An ask after the last example costs nothing.
            self.most = self.most.max(panels.iter().map(|&panel| self.tariff.prices()[panel as usize]).sum());
        }
        attributes.iter().for_each(|&j| self.seen[j as usize] += rows as u64);
        for row in 0..rows {
            let mut rng = self.seed.trial(self.cursor.position() + row as u64).rng();
            let mut x: Vec<f64> = (0..self.dim()).map(|_| rng.random_range(-1.0..1.0)).collect();
            (0..x.len()).for_each(|j| x[j] = x[self.equals[j]]);
            for (c, &j) in attributes.iter().enumerate() {
                block.column_mut(c)[row] = x[j as usize];
            }
            let label = self.effects.iter().map(|&(j, b)| b * x[j]).sum::<f64>();
            block.labels_mut()[row] = label + rng.random_range(-0.5..0.5);
        }
        block.set_rows(rows);
        self.cursor.advance(rows);
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.cursor.position()
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.cursor.seek(position)
    }
}

fn learn(params: PursuitParams, source: Metered) -> (Pursuit, Metered) {
    let money = params.money.clone().unwrap();
    spend(params.build().unwrap(), money, source)
}

/// Panics if the session refuses what the learner asks for.
fn spend<L: Learner>(mut learner: L, money: Money, source: Metered) -> (L, Metered) {
    let budget = Budget::Priced { per_example: money.per_example };
    let mut session = Session::new(source, budget, &Seed::root(6)).priced(money.tariff).unwrap();
    session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
    let (ledger, bought) = (*session.ledger(), session.bought().unwrap().to_vec());
    let source = session.into_source();
    assert_eq!(bought, source.bought, "the session agrees with the meter");
    assert!((ledger.most_cost - source.most).abs() <= 1e-9 * source.most);
    let paid: f64 = bought.iter().zip(source.tariff.prices()).map(|(&n, price)| n as f64 * price).sum();
    assert!((ledger.cost - paid).abs() <= 1e-9 * paid);
    (learner, source)
}

#[test]
fn prices_of_1_change_no_bit() {
    for (dim, money) in [(12, 5), (40, 9), (7, 7), (9, 1)] {
        let effects = [(1, 1.0), (3, -0.5), (6, 0.8)];
        let tariff = Tariff::uniform(dim, 1.0).unwrap();
        let path = |params: PursuitParams, budget: Budget| {
            let mut learner = params.build().unwrap();
            let source = Metered::new(&tariff, &effects, 3000, 3);
            let mut session = Session::new(source, budget, &Seed::root(6)).priced(tariff.clone()).unwrap();
            let mut known = Vec::new();
            session
                .run(&mut learner, SessionLimit::never(), |ledger, learner| {
                    let bits = |x: f64| x.to_bits();
                    let theta: Vec<_> = learner.coefficients().iter().map(|(j, b)| (j, bits(b))).collect();
                    known.push((*ledger, theta, bits(learner.intercept())));
                })
                .unwrap();
            (known, session.into_source().seen)
        };
        let counted = path(PursuitParams::within(dim, money), Budget::PerExample(money));
        let budget = Budget::Priced { per_example: money as f64 };
        let priced = path(PursuitParams::within_money(Money::new(tariff.clone(), money as f64)), budget);
        assert_eq!(counted, priced, "d = {dim}, s' = {money}");
        assert!(money == 1 || counted.0.last().is_some_and(|(_, theta, _)| theta.len() >= 3));
    }
}

#[test]
fn of_equal_attributes_the_cheaper_is_in_the_predictor() {
    for seed in 0..20 {
        // The attributes 0 to 3 are equal, and so are 8 to 11; 2 and 9 are cheaper than the others.
        let mut prices = vec![2.0; 12];
        (prices[2], prices[9]) = (1.5, 1.0);
        let tariff = Tariff::new(prices).unwrap();
        let mut source = Metered::new(&tariff, &[(3, 1.0), (8, -1.0)], 3000, seed);
        source.equals = vec![3, 3, 3, 3, 4, 5, 6, 7, 8, 8, 8, 8];
        let (learner, _) = learn(PursuitParams::within_money(Money::new(tariff, 10.0)), source);
        assert_eq!(learner.support(), [2, 9], "seed {seed}");
    }
}

#[test]
fn of_equal_attributes_of_one_panel_one_stays_in_the_predictor() {
    // Attributes 3 and 4 are equal and come with one panel: none of them is cheaper in the place of the
    // other.
    let panels = vec![0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10];
    let tariff = Tariff::with_panels(panels, vec![2.0; 11]).unwrap();
    let mut source = Metered::new(&tariff, &[(3, 1.0), (8, -1.0)], 3000, 7);
    source.equals = vec![0, 1, 2, 3, 3, 5, 6, 7, 8, 9, 10, 11];
    let mut learner = PursuitParams::within_money(Money::new(tariff.clone(), 10.0)).build().unwrap();
    let seed = Seed::root(8);
    let mut session = Session::new(source, Budget::Unlimited, &seed).priced(tariff).unwrap();
    let (mut support, mut changes) = (Vec::new(), 0);
    session
        .run(&mut learner, SessionLimit::after_examples(3000), |_, learner| {
            changes += usize::from(learner.support() != support);
            support = learner.support().to_vec();
        })
        .unwrap();
    assert!(support.len() == 2 && support[1] == 8, "{support:?}");
    assert!(changes <= 4, "{changes} changes of the support");
}

#[test]
fn free_attributes_and_the_rest_of_a_panel_come_along_and_what_is_too_dear_is_not_bought() {
    // 0 and 1 are free; 2 to 5 are a panel; 6 to 11 cost 1 each; 12 costs all the money.
    let panels = vec![0, 0, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8];
    let tariff = Tariff::with_panels(panels, vec![0.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0]).unwrap();
    let params = PursuitParams::within_money(Money::new(tariff.clone(), 6.0));
    assert!((3.0..6.0).contains(&params.most_per_prediction()));
    let source = Metered::new(&tariff, &[(0, 0.3), (3, 1.0), (7, 0.3), (12, 0.3)], 4000, 5);
    let (learner, source) = learn(params, source);
    assert_eq!(learner.support(), [0, 3, 7]);
    assert_eq!((source.seen[0], source.seen[1]), (4000, 4000));
    assert!(source.seen[3] > 3500, "{:?}", source.seen);
    assert!(source.seen[2..6].iter().all(|&seen| seen == source.seen[3]), "{:?}", source.seen);
    assert_eq!(source.seen[12], 0, "no predictor can pay for it");
}

#[test]
fn a_predictor_keeps_to_its_own_money() {
    let tariff = Tariff::new(vec![1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
    let effects = [(0, 1.0), (1, 0.9), (2, 0.4), (3, 1.0)];
    let support = |per_prediction: Option<f64>| {
        let money = Money { per_prediction, ..Money::new(tariff.clone(), 9.0) };
        let params = PursuitParams::within_money(money);
        let most = params.most_per_prediction();
        let (learner, source) = learn(params, Metered::new(&tariff, &effects, 4000, 5));
        (learner.support().to_vec(), most, source.seen[3])
    };
    let (all, _, _) = support(None);
    assert_eq!(all, [0, 1, 2, 3]);
    let (two, most, seen) = support(Some(2.0));
    assert_eq!((&two[..], most, seen), (&[0, 1][..], 2.0, 0), "the fourth costs more than a prediction");
}

#[test]
fn money_that_is_none_is_refused_by_name() {
    let tariff = || Tariff::new(vec![2.0, 3.0, 4.0]).unwrap();
    let within = |money: Money| PursuitParams { dim: 3, budget: 2, ..PursuitParams::within_money(money) };
    let two = Money { per_prediction: Some(1.0), ..Money::new(tariff(), 5.0) };
    let dear = PursuitParams { always: vec![1, 2], ..within(Money::new(tariff(), 5.0)) };
    for (params, field, part) in [
        (within(Money::new(tariff(), 1.5)), "per_example", "at least 2, the lowest price"),
        (within(Money::new(tariff(), f64::NAN)), "per_example", "finite"),
        (within(Money::new(tariff(), f64::INFINITY)), "per_example", "finite"),
        (within(two), "per_prediction", "at least 2"),
        (within(Money::new(Tariff::uniform(4, 1.0).unwrap(), 2.0)), "tariff", "d = 3"),
        (dear, "always", "cost at most 5"),
    ] {
        let refused = params.build().unwrap_err();
        assert_eq!(refused.field, field, "{refused}");
        assert!(refused.to_string().contains(part), "{refused}");
    }
}

#[test]
fn parameters_and_states_with_prices_are_stored_and_those_of_before_are_read() {
    let tariff = Tariff::with_panels(vec![0, 0, 1, 2, 3, 4], vec![2.0, 0.1, 0.0, 3.0, 1.0]).unwrap();
    let params = PursuitParams::within_money(Money::new(tariff.clone(), 4.0));
    let text = toml::to_string(&AnyParams::Pursuit(params.clone())).unwrap();
    assert_eq!(toml::from_str::<AnyParams>(&text).unwrap(), AnyParams::Pursuit(params.clone()));
    let before = toml::to_string(&AnyParams::Pursuit(PursuitParams::within(6, 3))).unwrap();
    assert!(!before.contains("money"), "{before}");

    let budget = Budget::Priced { per_example: 4.0 };
    let source = || Metered::new(&tariff, &[(1, 1.0), (4, 1.0)], 1000, 2);
    let mut straight = params.clone().build().unwrap();
    let mut session = Session::new(source(), budget, &Seed::root(1)).priced(tariff.clone()).unwrap();
    session.run(&mut straight, SessionLimit::never(), |_, _| {}).unwrap();
    let mut half = params.build().unwrap();
    let mut session = Session::new(source(), budget, &Seed::root(1)).priced(tariff.clone()).unwrap();
    session.run(&mut half, SessionLimit::after_examples(417), |_, _| {}).unwrap();
    let text = serde_json::to_string(&(session.checkpoint(), half)).unwrap();
    let (checkpoint, mut half): (_, Pursuit) = serde_json::from_str(&text).unwrap();
    let mut session = Session::resume(source(), checkpoint).unwrap();
    session.run(&mut half, SessionLimit::never(), |_, _| {}).unwrap();
    assert_eq!(serde_json::to_string(&half).unwrap(), serde_json::to_string(&straight).unwrap());
    let poorer = serde_json::to_string(&half).unwrap().replace("4010000000000000", "3ff0000000000000");
    assert!(serde_json::from_str::<Pursuit>(&poorer).is_err(), "it observes more than it can pay");
}

/// Returns a state without what follows from the prices.
fn stripped<L: Serialize>(learner: &L) -> Value {
    fn strip(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.retain(|key, _| !["blocks", "pilot", "money"].contains(&key.as_str()));
            fields.values_mut().for_each(strip);
        }
    }
    let mut state = serde_json::to_value(learner).unwrap();
    strip(&mut state);
    state
}

/// Runs a learner on 3000 examples within a budget; returns the ledger and the state after every update,
/// without what follows from the prices.
fn path<L: Learner + Serialize>(mut learner: L, tariff: &Tariff, budget: Budget) -> Vec<(String, Value)> {
    let source = Metered::new(tariff, &[(1, 1.0), (3, -0.5), (6, 0.8)], 3000, 3);
    let mut session = Session::new(source, budget, &Seed::root(6)).priced(tariff.clone()).unwrap();
    let mut known = Vec::new();
    let after = |ledger: &_, learner: &L| known.push((format!("{ledger:?}"), stripped(learner)));
    session.run(&mut learner, SessionLimit::never(), after).unwrap();
    known
}

#[test]
fn one_price_for_all_changes_no_bit_of_methods_that_explore_in_blocks() {
    for (dim, sparsity, count, price) in [(12, 2, 5, 1.0), (40, 3, 9, 2.5), (7, 3, 7, 0.1), (9, 1, 2, 3.0)] {
        // The panels are numbered backwards: their order is that of the attributes all the same.
        let tariff = Tariff::with_panels((0..dim as u32).rev().collect(), vec![price; dim]).unwrap();
        let money = Money::new(tariff.clone(), count as f64 * price);
        let counted = Task { dim, sparsity, budget: count, ..Task::default() };
        let priced = Task { money: Some(money.clone()), ..counted.clone() };
        let (number, sum) = (Budget::PerExample(count), Budget::Priced { per_example: money.per_example });
        for name in ["exploration", "hybrid"] {
            let row = method(name).unwrap();
            let build = |task: &Task| row.build(task).unwrap();
            let plain = path(build(&counted), &tariff, number);
            assert_eq!(plain, path(build(&priced), &tariff, sum), "{name}, d = {dim}");
            let build = |task: &Task| row.safeguarded(task).unwrap();
            let guarded = path(build(&counted), &tariff, number);
            assert_eq!(guarded, path(build(&priced), &tariff, sum), "safeguarded {name}, d = {dim}");
            assert!(plain.len() > 3 && !guarded.is_empty());
        }
    }
}

/// Returns what the first update of Exploration costs, and the examples that it takes.
fn first_update(prices: &[f64], per_example: f64) -> (f64, u64) {
    let (dim, tariff) = (prices.len(), Tariff::new(prices.to_vec()).unwrap());
    let money = Money::new(tariff.clone(), per_example);
    let task = Task { dim, sparsity: 1, budget: dim, money: Some(money), ..Task::default() };
    let mut learner = ExplorationParams::practical(&task).unwrap().build().unwrap();
    let announced = learner.examples_to_next_update();
    let source = Metered::new(&tariff, &[(0, 1.0)], 100_000, 3);
    let budget = Budget::Priced { per_example };
    let mut session = Session::new(source, budget, &Seed::root(6)).priced(tariff).unwrap();
    session.run(&mut learner, SessionLimit::after_updates(1), |_, _| {}).unwrap();
    assert_eq!(announced, Some(session.ledger().examples));
    (session.ledger().cost, session.ledger().examples)
}

#[test]
fn an_update_costs_less_where_attributes_are_cheaper() {
    let dear = first_update(&[6.0, 6.0, 6.0, 4.0, 4.0, 4.0], 12.0);
    let cheap = first_update(&[3.0, 3.0, 3.0, 2.0, 2.0, 2.0], 12.0);
    // Each attribute is bought in ten examples: in three blocks, or in two.
    assert_eq!((dear, cheap), ((300.0, 30), (150.0, 20)));
    // Expensive attributes come with cheap ones in two blocks; in the order of attributes there would be 3.
    assert_eq!(first_update(&[6.0, 6.0, 6.0, 6.0, 1.0, 1.0, 1.0, 1.0], 14.0).1, 20);
}

#[test]
fn supports_that_cannot_be_paid_are_refused_by_name_and_with_a_remedy() {
    let tariff = || Tariff::with_panels(vec![0, 0, 1, 2, 3, 3], vec![8.0, 40.0, 1.0, 5.0]).unwrap();
    let task = |money: Money| Task { dim: 6, sparsity: 2, budget: 4, money: Some(money), ..Task::default() };
    let money = |per_example: f64| Money::new(tariff(), per_example);
    let predicting = |most: f64| Money { per_prediction: Some(most), ..money(60.0) };
    for name in ["exploration", "hybrid"] {
        let row = method(name).unwrap();
        for (money, field, part) in [
            (money(f64::NAN), "per_example", "finite"),
            (money(0.5), "per_example", "at least 1, the lowest price"),
            (predicting(-1.0), "per_prediction", "at least 1"),
            (
                money(50.0),
                "sparsity",
                "at most 1, since 3 attributes may cost 53, but an example only 50; give more money, or \
                 leave out attribute 2 (price 40)",
            ),
            (money(40.0), "sparsity", "one that can be paid, and none can, since 3 attributes"),
            (predicting(47.0), "sparsity", "2 attributes may cost 48, but a prediction only 47"),
            (Money::new(Tariff::uniform(5, 1.0).unwrap(), 4.0), "tariff", "d = 6"),
        ] {
            for refused in
                [row.build(&task(money.clone())).unwrap_err(), row.safeguarded(&task(money)).unwrap_err()]
            {
                assert_eq!(refused.method.to_lowercase(), name);
                assert_eq!(refused.field, field, "{refused}");
                assert!(refused.to_string().contains(part), "{refused}");
            }
        }
        assert!(row.build(&task(money(53.0))).is_ok() && row.build(&task(predicting(48.0))).is_ok());
    }
    assert_eq!(Task::within_money(money(50.0)).sparsity, 1);
    for row in METHODS.iter().filter(|row| !row.prices) {
        let refused = row.build(&task(money(60.0))).unwrap_err();
        assert_eq!(refused.field, "money", "{}", row.name);
        assert!(refused.allowed.contains("choose one that takes money, such as pursuit"), "{refused}");
    }
}

#[test]
fn states_of_blocks_are_stored_and_checked_and_those_of_before_are_read() {
    let tariff = Tariff::with_panels(vec![0, 0, 1, 2, 3, 4], vec![2.0, 0.5, 0.0, 3.0, 1.0]).unwrap();
    let money = Money::new(tariff.clone(), 6.0);
    let task = Task { sparsity: 2, ..Task::within_money(money) };
    let budget = Budget::Priced { per_example: 6.0 };
    let source = || Metered::new(&tariff, &[(1, 1.0), (4, 1.0)], 2000, 2);
    for row in ["exploration", "hybrid"].map(|name| method(name).unwrap()) {
        let params = (row.params)(&task).unwrap();
        let text = toml::to_string(&params).unwrap();
        assert_eq!(toml::from_str::<AnyParams>(&text).unwrap(), params);
        let counted = Task { money: None, ..task.clone() };
        let before = [
            serde_json::to_string(&row.build(&counted).unwrap()).unwrap(),
            serde_json::to_string(&row.safeguarded(&counted).unwrap()).unwrap(),
            toml::to_string(&(row.params)(&counted).unwrap()).unwrap(),
        ];
        for key in ["money", "blocks\":", "pilot\":"] {
            assert!(before.iter().all(|text| !text.contains(key)), "{before:?}");
        }

        for examples in [0, 31, 417, 1200] {
            let mut learner = row.safeguarded(&task).unwrap();
            let mut session = Session::new(source(), budget, &Seed::root(1)).priced(tariff.clone()).unwrap();
            session.run(&mut learner, SessionLimit::after_examples(examples), |_, _| {}).unwrap();
            let text = serde_json::to_string(&(session.checkpoint(), &learner)).unwrap();
            session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
            let (checkpoint, mut resumed): (_, Safeguarded) = serde_json::from_str(&text).unwrap();
            let mut session = Session::resume(source(), checkpoint).unwrap();
            session.run(&mut resumed, SessionLimit::never(), |_, _| {}).unwrap();
            assert_eq!(serde_json::to_string(&resumed).unwrap(), serde_json::to_string(&learner).unwrap());
        }
    }
    let AnyLearner::Exploration(learner) = method("exploration").unwrap().build(&task).unwrap() else {
        unreachable!()
    };
    let state = serde_json::to_value(&learner).unwrap();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut state = state.clone();
        change(&mut state);
        serde_json::from_value::<Exploration>(state)
    };
    assert!(changed(&|_| {}).is_ok());
    assert!(changed(&|state| state["blocks"]["money"]["per_example"] = 2.5.into()).is_err());
    assert!(changed(&|state| state["blocks"]["width"] = 1.into()).is_err());
    assert!(changed(&|state| state["blocks"]["width"] = 0.into()).is_err());
    assert!(changed(&|state| state["blocks"]["support"] = vec![3, 900].into()).is_err());
    assert!(changed(&|state| state["block_start"] = 1.into()).is_err());
    assert!(changed(&|state| state["gradient"][5] = 1.0.into()).is_err());
}

fn tariffs() -> impl Strategy<Value = Tariff> {
    let price = prop_oneof![Just(0.0), Just(1.0), Just(0.1), 0.0..20.0f64, Just(1e-300), Just(1e300)];
    proptest::collection::vec((0u32..9, price), 2..24).prop_map(|attributes| {
        let used: Vec<u32> =
            attributes.iter().map(|(panel, _)| *panel).collect::<BTreeSet<_>>().into_iter().collect();
        let panel = |of: u32| used.binary_search(&of).unwrap() as u32;
        let prices = (0..used.len()).map(|at| attributes[at].1).collect();
        Tariff::with_panels(attributes.iter().map(|(of, _)| panel(*of)).collect(), prices).unwrap()
    })
}

/// A fee, and which of the panels share it: each so many one, or none.
fn fees() -> impl Strategy<Value = (f64, u32)> {
    (0.0..10.0f64, 0u32..4)
}

fn shared(tariff: Tariff, (fee, every): (f64, u32)) -> Tariff {
    let panels: Vec<u32> = tariff.panels().filter(|panel| every > 0 && panel % every == 0).collect();
    if panels.is_empty() { tariff } else { tariff.with_fees(&[(fee, panels)]).unwrap() }
}

#[test]
fn further_tests_of_a_sample_that_is_taken_anyway_are_bought_first() {
    // Ten tests of 1 each of a sample of 10, of which one has an effect, and ten scans of 6; 22 an example.
    let tests = Tariff::new([vec![1.0; 10], vec![6.0; 10]].concat()).unwrap();
    let alone = Tariff::new([vec![11.0; 10], vec![6.0; 10]].concat()).unwrap();
    let shared = tests.with_fees(&[(10.0, (0..10).collect())]).unwrap();
    let seen = |tariff: &Tariff| {
        let source = Metered::new(tariff, &[(2, 1.0)], 4000, 3);
        let (learner, source) = learn(PursuitParams::within_money(Money::new(tariff.clone(), 22.0)), source);
        assert_eq!(learner.support(), [2]);
        source.seen[..10].iter().sum::<u64>()
    };
    // The one that has an effect is bought always; once it is, another one costs a sixth of a scan.
    let (together, apart) = (seen(&shared), seen(&alone));
    assert!(together > 3 * apart, "{together}, {apart}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_tariff_and_no_money_are_overspent(
        (tariff, fee) in (tariffs(), fees()),
        money in prop_oneof![0.0..40.0f64, Just(1.0), Just(0.3), Just(1e300), Just(1e-300)],
        share in proptest::option::of(0.0..1.0f64),
        longest in proptest::option::of(1usize..6),
        never in proptest::bool::ANY,
        seed in 0u64..1000,
    ) {
        let tariff = shared(tariff, fee);
        let money = Money { per_prediction: share.map(|share| share * money), ..Money::new(tariff, money) };
        let never = if never { vec![0] } else { Vec::new() };
        let params = PursuitParams { longest, never, ..PursuitParams::within_money(money.clone()) };
        let limit = params.most_per_prediction();
        if params.clone().build().is_ok() {
            let effects = [(0, 1.0), (1, -1.0), (money.tariff.dim() - 1, 0.5)];
            // `learn` panics if the session refuses what the learner asks for.
            let (learner, source) = learn(params, Metered::new(&money.tariff, &effects, 400, seed));
            prop_assert!(source.most <= money.per_example * (1.0 + 1e-9));
            let cost = money.tariff.cost(learner.support(), &mut Default::default());
            prop_assert!(cost <= limit * (1.0 + 1e-9));
        }
    }

    #[test]
    fn blocks_are_never_overspent_and_updates_come_as_announced(
        (tariff, fee) in (tariffs(), fees()),
        money in prop_oneof![1.0..30.0f64, 30.0..150.0f64, 30.0..150.0f64],
        share in proptest::option::of(0.3..1.0f64),
        (sparsity, less, size) in (proptest::option::of(1usize..5), 0usize..4, 1u64..6),
        seed in 0u64..1000,
    ) {
        // Prices of at most 20, so that the money mostly pays.
        let prices = tariff.prices().iter().map(|price| price.min(20.0)).collect();
        let panels = (0..tariff.dim() as u32).filter_map(|j| tariff.panel(j)).collect();
        let (dim, tariff) = (tariff.dim(), shared(Tariff::with_panels(panels, prices).unwrap(), fee));
        let money = Money { per_prediction: share.map(|share| share * money), ..Money::new(tariff, money) };
        let task = Task::within_money(money.clone());
        let sparsity = sparsity.unwrap_or(task.sparsity);
        let task = Task { sparsity, budget: task.budget.saturating_sub(less), speed: 0.3, ..task };
        let pays = sparsity <= money.largest_sparsity() && sparsity < task.budget;
        let effects = [(0, 1.0), (1, -1.0), (dim - 1, 0.5)];
        let source = || Metered::new(&money.tariff, &effects, 400, seed);
        let limit = money.per_prediction.unwrap_or(money.per_example) * (1.0 + 1e-9);
        let cost = |theta: &[u32]| money.tariff.cost(theta, &mut Default::default());
        for row in ["exploration", "hybrid"].map(|name| method(name).unwrap()) {
            let Ok(guarded) = row.safeguarded(&task) else {
                prop_assert!(!pays || dim < 2, "{:?}", row.safeguarded(&task).unwrap_err());
                continue;
            };
            prop_assert!(pays);
            let (guarded, source_told) = spend(guarded, money.clone(), source());
            prop_assert!(source_told.most <= money.per_example * (1.0 + 1e-9));
            prop_assert!(cost(guarded.coefficients().indices()) <= limit);
        }
        if pays {
            let batch = BatchSizes::Constant(size);
            let explore = ExplorationParams::practical(&task).unwrap();
            let hybrid = HybridParams::practical(&task).unwrap();
            let (explore_batch, exploit_batch) = (batch.clone(), batch.clone());
            for params in [
                AnyParams::Exploration(ExplorationParams { batch, ..explore }),
                AnyParams::Hybrid(HybridParams { explore_batch, exploit_batch, ..hybrid }),
            ] {
                let mut learner = params.build().unwrap();
                let budget = Budget::Priced { per_example: money.per_example };
                let session = Session::new(source(), budget, &Seed::root(6));
                let mut session = session.priced(money.tariff.clone()).unwrap();
                let mut next = learner.examples_to_next_update().unwrap();
                let after = |ledger: &Ledger, learner: &AnyLearner| {
                    assert_eq!(ledger.examples, next);
                    assert!(cost(learner.coefficients().indices()) <= limit);
                    next += learner.examples_to_next_update().unwrap();
                };
                session.run(&mut learner, SessionLimit::never(), after).unwrap();
                prop_assert!(session.source().most <= money.per_example * (1.0 + 1e-9));
            }
        }
    }
}
