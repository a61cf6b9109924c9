//! The session's promises: nothing beyond the budget is fetched, counts are exact, a stored run goes on.

use lao_kernels::{SparseVector, SparseView};
use lao_observation::session::{mean_squared_error, mean_squared_error_of};
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Ledger, Rng, Row, Scratch, Seed, Session, SessionEnd,
    SessionError, SessionLimit, Source, SourceError, Step, Tariff, Told,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// `x_j` of example `i` is `i + j/10`, its label is `i`; the source writes down what was looked at.
struct Ramp {
    dim: usize,
    length: u64,
    at: u64,
    most_per_call: usize,
    looked: Vec<(u64, Vec<u32>)>,
}

impl Ramp {
    fn new(dim: usize, length: u64) -> Self {
        Ramp { dim, length, at: 0, most_per_call: usize::MAX, looked: Vec::new() }
    }
}

impl Source for Ramp {
    fn dim(&self) -> usize {
        self.dim
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = (self.length - self.at).min(block.capacity() as u64) as usize;
        let rows = rows.min(self.most_per_call);
        for (c, &j) in attributes.iter().enumerate() {
            let column = block.column_mut(c);
            for (r, value) in column[..rows].iter_mut().enumerate() {
                *value = (self.at + r as u64) as f64 + f64::from(j) / 10.0;
            }
        }
        for r in 0..rows {
            block.labels_mut()[r] = (self.at + r as u64) as f64;
            self.looked.push((self.at + r as u64, attributes.to_vec()));
        }
        block.set_rows(rows);
        self.at += rows as u64;
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.at
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        if position > self.length {
            return Err(SourceError::Seek { position, end: self.length });
        }
        self.at = position;
        Ok(())
    }
}

/// Asks what it was made to ask and adds up what it is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Scripted {
    dim: usize,
    attributes: Vec<u32>,
    examples: u64,
    gradient_at: Option<SparseVector>,
    draws: bool,
    told: u64,
    total: f64,
    drawn: f64,
    theta: SparseVector,
    asks_left: u64,
}

impl Scripted {
    fn values(dim: usize, attributes: &[u32], examples: u64) -> Self {
        Scripted {
            dim,
            attributes: attributes.to_vec(),
            examples,
            gradient_at: None,
            draws: false,
            told: 0,
            total: 0.0,
            drawn: 0.0,
            theta: SparseVector::zeros(dim),
            asks_left: u64::MAX,
        }
    }
}

impl Learner for Scripted {
    fn dim(&self) -> usize {
        self.dim
    }
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.asks_left == 0 {
            return ask.nothing();
        }
        self.asks_left -= 1;
        if self.draws {
            self.drawn += rng.random::<f64>();
        }
        match &self.gradient_at {
            Some(theta) => ask.gradient(theta.view(), self.attributes.iter().copied(), self.examples),
            None => ask.values(self.examples).extend_from_slice(&self.attributes),
        }
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        match told {
            Told::Values(block) => {
                self.told += block.rows() as u64;
                for c in 0..block.attributes().len() {
                    self.total += block.column(c).iter().sum::<f64>();
                }
            }
            Told::Gradient(part) => {
                self.told += part.examples;
                self.total += part.sum.iter().sum::<f64>();
            }
        }
        Ok(())
    }
    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }
    fn updates(&self) -> u64 {
        self.told
    }
}

fn quiet<L: Learner>(_: &Ledger, _: &L) {}

#[test]
fn an_ask_over_budget_is_refused_before_anything_is_fetched() {
    let mut session = Session::new(Ramp::new(9, 10), Budget::PerExample(2), &Seed::root(1));
    let refused = session.step(&mut Scripted::values(9, &[0, 1, 2], 1), u64::MAX);
    assert!(matches!(refused, Err(SessionError::OverBudget { asked: 3, budget: 2 })), "{refused:?}");
    assert!(session.source().looked.is_empty());
    assert_eq!(*session.ledger(), Ledger::default());
}

#[test]
fn a_gradient_ask_counts_the_support_and_the_block_once_each() {
    let theta = SparseVector::new(9, vec![1, 4], vec![1.0, -1.0]).unwrap();
    let mut learner = Scripted { gradient_at: Some(theta), ..Scripted::values(9, &[4, 5], 3) };
    let mut session = Session::new(Ramp::new(9, 10), Budget::PerExample(3), &Seed::root(1));
    assert_eq!(session.step(&mut learner, u64::MAX).unwrap(), Step::Served);
    assert!(session.source().looked.iter().all(|(_, attributes)| attributes == &[1, 4, 5]));
    let ledger = session.ledger();
    assert_eq!((ledger.examples, ledger.attributes, ledger.labels, ledger.most_attributes), (3, 9, 3, 3));
    // sum over i of 2 ((i+.1) - (i+.4) - i)(x_4 + x_5) with x_4 + x_5 = 2 i + .9.
    let expected: f64 = (0..3).map(f64::from).map(|i| 2.0 * (-0.3 - i) * (2.0 * i + 0.9)).sum();
    assert!((learner.total - expected).abs() < 1e-12);
}

#[test]
fn asks_that_break_the_contract_are_named() {
    let refused = |attributes: &[u32], examples| {
        let mut session = Session::new(Ramp::new(4, 10), Budget::Unlimited, &Seed::root(1));
        session.step(&mut Scripted::values(4, attributes, examples), u64::MAX).unwrap_err().to_string()
    };
    assert_eq!(refused(&[1, 4], 1), "the ask names attribute 4, but examples have attributes 0..4");
    assert_eq!(refused(&[4, 1], 1), "the ask names attribute 4, but examples have attributes 0..4");
    assert!(refused(&[0], 0).contains("0 examples"));
    let wrong = Scripted { gradient_at: Some(SparseVector::zeros(3)), ..Scripted::values(4, &[0], 1) };
    let mut session = Session::new(Ramp::new(4, 10), Budget::Unlimited, &Seed::root(1));
    let error = session.step(&mut wrong.clone(), u64::MAX).unwrap_err();
    assert!(matches!(error, SessionError::Dimension { asked: 3, source_dim: 4 }));
    let theta = Some(SparseVector::zeros(4));
    let mut twice = Scripted { gradient_at: theta, ..Scripted::values(4, &[2, 2], 1) };
    let error = session.step(&mut twice, u64::MAX).unwrap_err().to_string();
    assert_eq!(error, "the attributes of a gradient ask must ascend strictly, but place 1 holds 2");
}

/// Answers draws as a source in memory does: in the order of the draws.
struct Straight(Ramp);

impl Source for Straight {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        self.0.observe(attributes, block)
    }
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.0.observe(draws, block)
    }
    fn position(&self) -> u64 {
        self.0.position()
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.0.seek(position)
    }
}

#[test]
fn draws_are_looked_at_once_and_told_as_often_as_they_were_drawn() {
    let mut sorting = Session::new(Ramp::new(9, 20), Budget::PerExample(3), &Seed::root(1));
    let mut straight = Session::new(Straight(Ramp::new(9, 20)), Budget::PerExample(3), &Seed::root(1));
    let (mut one, mut other) =
        (Scripted::values(9, &[7, 2, 7, 5, 2], 4), Scripted::values(9, &[7, 2, 7, 5, 2], 4));
    assert_eq!(sorting.step(&mut one, u64::MAX).unwrap(), Step::Served);
    assert_eq!(straight.step(&mut other, u64::MAX).unwrap(), Step::Served);
    assert!(sorting.source().looked.iter().all(|(_, attributes)| attributes == &[2, 5, 7]));
    assert!((one.total - (5.0 * 6.0 + 4.0 * 2.3)).abs() < 1e-12 && one.total == other.total);
    for ledger in [sorting.ledger(), straight.ledger()] {
        assert_eq!((ledger.attributes, ledger.most_attributes), (12, 3));
    }
    let refused = sorting.step(&mut Scripted::values(9, &[8, 1, 8, 0, 4], 1), u64::MAX);
    assert!(matches!(refused, Err(SessionError::OverBudget { asked: 4, budget: 3 })), "{refused:?}");
}

#[test]
fn a_large_ask_is_told_in_pieces_that_add_up() {
    let whole: f64 = (0..5000).map(f64::from).sum::<f64>() * 2.0 + 5000.0 * 0.2;
    for most_per_call in [1, 7, usize::MAX] {
        let source = Ramp { most_per_call, ..Ramp::new(3, 9000) };
        let mut session = Session::new(source, Budget::Unlimited, &Seed::root(1));
        let mut learner = Scripted::values(3, &[0, 2], 5000);
        assert_eq!(session.step(&mut learner, u64::MAX).unwrap(), Step::Served);
        assert_eq!((learner.told, session.ledger().examples), (5000, 5000));
        assert!((learner.total - whole).abs() < 1e-6 * whole);
    }
}

#[test]
fn limits_and_dry_sources_end_a_run_exactly() {
    let mut session = Session::new(Ramp::new(3, 100), Budget::Unlimited, &Seed::root(1));
    let mut learner = Scripted::values(3, &[0], 30);
    assert_eq!(
        session.run(&mut learner, SessionLimit::after_examples(70), quiet).unwrap(),
        SessionEnd::Limit
    );
    assert_eq!(session.ledger().examples, 70);
    assert_eq!(session.run(&mut learner, SessionLimit::never(), quiet).unwrap(), SessionEnd::Dry);
    assert_eq!(session.ledger().examples, 100);
    learner.asks_left = 0;
    assert_eq!(session.run(&mut learner, SessionLimit::never(), quiet).unwrap(), SessionEnd::Finished);
    let nothing = session.run(&mut learner, SessionLimit::after_examples(0), quiet).unwrap();
    assert_eq!(nothing, SessionEnd::Limit, "a horizon of 0 is legal");
}

#[test]
fn a_stored_run_goes_on_with_the_same_bits() {
    let learner = Scripted { draws: true, ..Scripted::values(3, &[0, 1], 1) };
    let mut straight =
        (Session::new(Ramp::new(3, 100), Budget::PerExample(2), &Seed::root(8)), learner.clone());
    straight.0.run(&mut straight.1, SessionLimit::after_examples(60), quiet).unwrap();

    let (mut session, mut half) =
        (Session::new(Ramp::new(3, 100), Budget::PerExample(2), &Seed::root(8)), learner);
    session.run(&mut half, SessionLimit::after_examples(23), quiet).unwrap();
    let stored = serde_json::to_string(&(session.checkpoint(), &half)).unwrap();
    drop((session, half));
    let (checkpoint, mut half): (_, Scripted) = serde_json::from_str(&stored).unwrap();
    let mut session = Session::resume(Ramp::new(3, 100), checkpoint).unwrap();
    session.run(&mut half, SessionLimit::after_examples(60), quiet).unwrap();

    assert_eq!(half.total.to_bits(), straight.1.total.to_bits());
    assert_eq!(half.drawn.to_bits(), straight.1.drawn.to_bits());
    assert_eq!(session.ledger(), straight.0.ledger());
    assert_eq!(session.checkpoint(), straight.0.checkpoint());
}

#[test]
fn online_predictions_come_before_the_label_and_cost_nothing_extra() {
    struct Constant(SparseVector);
    impl Learner for Constant {
        fn dim(&self) -> usize {
            2
        }
        fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
            ask.values(1).extend([0, 1]);
        }
        fn predict(&self, seen: Row<'_>) -> f64 {
            seen.values[0] + 1.0
        }
        fn tell(&mut self, _: Told<'_>) -> Result<(), LearnError> {
            Ok(())
        }
        fn coefficients(&self) -> SparseView<'_> {
            self.0.view()
        }
        fn updates(&self) -> u64 {
            0
        }
    }
    let mut session = Session::new(Ramp::new(2, 50), Budget::PerExample(2), &Seed::root(1)).online();
    session.run(&mut Constant(SparseVector::zeros(2)), SessionLimit::never(), quiet).unwrap();
    let ledger = session.ledger();
    assert_eq!((ledger.predictions, ledger.attributes, ledger.squared_loss), (50, 100, 50.0));
    assert_eq!(ledger.attributes_per_example(), 2.0);
}

#[test]
fn scoring_looks_at_the_support_only_and_within_the_budget() {
    let theta = SparseVector::new(4, vec![1, 3], vec![1.0, 0.0]).unwrap();
    let mut source = Ramp::new(4, 100);
    let error = mean_squared_error(theta.view(), &mut source, Budget::PerExample(2), 80).unwrap();
    assert!((error.unwrap() - 0.01).abs() < 1e-9, "x_1 - y = 0.1 always");
    assert!(source.looked.iter().all(|(_, attributes)| attributes == &[1, 3]));
    let refused = mean_squared_error(theta.view(), &mut source, Budget::PerExample(1), 1);
    assert!(matches!(refused, Err(SessionError::OverBudget { asked: 2, budget: 1 })));
    assert_eq!(mean_squared_error(theta.view(), &mut Ramp::new(4, 0), Budget::Unlimited, 5).unwrap(), None);
}

#[test]
fn a_learner_is_scored_by_what_it_predicts_from_its_attributes() {
    struct Fixed(SparseVector);
    impl Learner for Fixed {
        fn dim(&self) -> usize {
            4
        }
        fn ask(&mut self, _: &mut Rng, _: &mut Ask) {}
        fn tell(&mut self, _: Told<'_>) -> Result<(), LearnError> {
            Ok(())
        }
        fn coefficients(&self) -> SparseView<'_> {
            self.0.view()
        }
        fn intercept(&self) -> f64 {
            0.3
        }
        fn updates(&self) -> u64 {
            0
        }
    }
    let learner = Fixed(SparseVector::new(4, vec![1, 3], vec![2.0, -1.0]).unwrap());
    let mut source = Ramp::new(4, 100);
    let error = mean_squared_error_of(&learner, &mut source, Budget::PerExample(2), 80).unwrap();
    assert!((error.unwrap() - 0.04).abs() < 1e-9, "2 x_1 - x_3 + 0.3 - y = 0.2 always: {error:?}");
    assert!(source.looked.iter().all(|(_, attributes)| attributes == &[1, 3]));
}

/// Nine attributes in four panels: 0 and 1 free, 2 to 4 for 3, 5 for 4, the others for 10.
fn panels() -> Tariff {
    Tariff::with_panels(vec![0, 0, 1, 1, 1, 2, 3, 3, 3], vec![0.0, 3.0, 4.0, 10.0]).unwrap()
}

fn priced(per_example: f64) -> Session<Ramp> {
    let session = Session::new(Ramp::new(9, 100), Budget::Priced { per_example }, &Seed::root(1));
    session.priced(panels()).unwrap()
}

#[test]
fn money_is_enforced_before_anything_is_fetched() {
    for (attributes, cost) in [(&[5u32, 6][..], 14.0), (&[2, 6, 7], 13.0), (&[8, 1, 5, 5], 14.0)] {
        let mut session = priced(12.9);
        let refused = session.step(&mut Scripted::values(9, attributes, 1), u64::MAX);
        match refused {
            Err(SessionError::OverPrice { cost: asked, budget }) => assert_eq!((asked, budget), (cost, 12.9)),
            other => panic!("{other:?}"),
        }
        assert!(session.source().looked.is_empty());
        assert_eq!(*session.ledger(), Ledger::default());
        assert_eq!(session.bought(), Some(&[0; 4][..]));
    }
}

#[test]
fn a_panel_is_paid_once_per_example_and_free_ones_cost_nothing() {
    let mut session = priced(7.0);
    session.step(&mut Scripted::values(9, &[0, 1, 2, 3, 4, 5], 10), u64::MAX).unwrap();
    session.step(&mut Scripted::values(9, &[4, 3, 4], 5), u64::MAX).unwrap();
    let theta = SparseVector::new(9, vec![2], vec![1.0]).unwrap();
    let mut gradient = Scripted { gradient_at: Some(theta), ..Scripted::values(9, &[4, 5], 3) };
    session.step(&mut gradient, u64::MAX).unwrap();
    let ledger = session.ledger();
    assert_eq!((ledger.cost, ledger.most_cost, ledger.attributes), (70.0 + 15.0 + 21.0, 7.0, 60 + 10 + 9));
    assert_eq!(session.bought(), Some(&[10, 18, 13, 0][..]));
}

#[test]
fn prices_of_1_change_nothing_but_the_money() {
    let run = |budget, tariff: Option<Tariff>| {
        let mut session = Session::new(Ramp::new(3, 100), budget, &Seed::root(8));
        if let Some(tariff) = tariff {
            session = session.priced(tariff).unwrap();
        }
        let mut learner = Scripted { draws: true, ..Scripted::values(3, &[0, 2], 7) };
        session.run(&mut learner, SessionLimit::after_examples(60), quiet).unwrap();
        let refused = session.step(&mut Scripted::values(3, &[0, 1, 2], 1), u64::MAX).is_err();
        assert!(refused);
        (*session.ledger(), learner.total.to_bits(), learner.drawn.to_bits())
    };
    let (counted, total, drawn) = run(Budget::PerExample(2), None);
    let with_costs = Ledger { cost: 120.0, most_cost: 2.0, ..counted };
    let budget = Budget::Priced { per_example: 2.0 };
    assert_eq!(run(budget, Some(Tariff::uniform(3, 1.0).unwrap())), (with_costs, total, drawn));
    assert_eq!(run(budget, None), (counted, total, drawn), "without prices an attribute costs 1");
}

#[test]
fn a_session_of_before_there_were_prices_is_read_and_one_with_prices_goes_on() {
    let session = Session::new(Ramp::new(3, 100), Budget::PerExample(2), &Seed::root(8));
    let mut old = serde_json::to_value(session.checkpoint()).unwrap();
    old.as_object_mut().unwrap().remove("account").unwrap();
    let ledger = old["ledger"].as_object_mut().unwrap();
    assert!(ledger.remove("cost").is_some() && ledger.remove("most_cost").is_some());
    let checkpoint: lao_observation::Checkpoint = serde_json::from_value(old).unwrap();
    assert_eq!(checkpoint, session.checkpoint());

    let mut learner = Scripted::values(9, &[0, 3], 5);
    let mut session = priced(3.0);
    session.step(&mut learner, u64::MAX).unwrap();
    let text = serde_json::to_string(&session.checkpoint()).unwrap();
    let stored = || serde_json::from_str(&text).unwrap();
    let mut session = Session::resume(Ramp::new(9, 100), stored()).unwrap();
    session.step(&mut learner, u64::MAX).unwrap();
    assert_eq!((session.ledger().cost, session.bought()), (30.0, Some(&[10, 10, 0, 0][..])));
    let other = Session::resume(Ramp::new(8, 100), stored()).err().unwrap();
    assert!(other.to_string().contains("prices of 9 attributes, but the source has 8"), "{other}");
    let damaged = text.replace("[5,5,0,0]", "[5,6,0,0]");
    assert!(damaged != text && serde_json::from_str::<lao_observation::Checkpoint>(&damaged).is_err());
}
