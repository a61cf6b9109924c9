//! A purchase in phases: what is asked in each, what decides, and what is kept.

use lao_algorithms::phases::{Chosen, LEAST_EXAMPLES, Phases, PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_algorithms::{Inspect, Money};
use lao_datasets::memory::Columns;
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Request, Row, Seed, Session, SessionLimit, Tariff, Told,
};
use rand::RngExt as _;

const DIM: usize = 30;
const BUDGET: usize = 8;

/// What the label is a function of; the other attributes have no effect.
#[derive(Clone, Copy)]
enum Truth {
    /// Few effects that are plain to see.
    Line,
    /// All attributes have a common part, which the label has, too.
    Dense,
    /// A product of two attributes, which have effects of their own.
    Product,
    /// The sign of the last.
    Class,
}

fn label_of(truth: Truth, x: &[f64], common: f64, noise: f64) -> f64 {
    match truth {
        Truth::Line => x[3] - x[7] + 0.7 * x[20] + 0.5 * noise,
        Truth::Dense => 2.0 * common + noise,
        Truth::Product => x[3] + x[7] + 3.0 * x[3] * x[7] + 0.5 * noise,
        Truth::Class => (x[3] + x[7] + 3.0 * x[3] * x[7] + 0.3 * noise).signum(),
    }
}

fn columns(truth: Truth, rows: usize, seed: u64) -> Columns<f64> {
    first_columns(DIM, truth, rows, seed)
}

/// Returns rows of which the first `dim` attributes are known.
fn first_columns(dim: usize, truth: Truth, rows: usize, seed: u64) -> Columns<f64> {
    let mut rng = Seed::root(seed).rng();
    let (mut values, mut labels) = (vec![0.0; DIM * rows], Vec::new());
    for row in 0..rows {
        let common = rng.random_range(-1.0..1.0);
        let part = if matches!(truth, Truth::Dense) { 0.6 } else { 0.0 };
        let x: Vec<f64> = (0..DIM).map(|_| rng.random_range(-1.0..1.0) + part * common).collect();
        (0..DIM).for_each(|j| values[j * rows + row] = x[j]);
        labels.push(label_of(truth, &x, common, rng.random_range(-1.0..1.0)));
    }
    values.truncate(dim * rows);
    Columns::new(dim, values, labels).unwrap()
}

fn params(rows: usize, shape: Shape) -> PhasesParams {
    PhasesParams { pursuit: PursuitParams::within(DIM, BUDGET), examples: Some(rows as u64), shape }
}

/// Runs a learner on all rows, in pieces of so many.
fn run(mut learner: Phases, truth: Truth, rows: usize, piece: u64) -> Phases {
    let mut session = Session::new(columns(truth, rows, 1), Budget::PerExample(BUDGET), &Seed::root(2));
    let mut until = piece;
    while until < rows as u64 + piece {
        session.run(&mut learner, SessionLimit::after_examples(until), |_, _| {}).unwrap();
        until += piece;
    }
    assert_eq!(session.ledger().examples, rows as u64);
    learner
}

fn learned(truth: Truth, rows: usize, shape: Shape) -> Phases {
    run(params(rows, shape).build().unwrap(), truth, rows, rows as u64)
}

/// The mean squared error on other rows, as a part of the label's variance.
fn error(learner: &dyn Learner, truth: Truth) -> f64 {
    const ROWS: usize = 1000;
    let mut session = Session::new(columns(truth, ROWS, 9), Budget::Unlimited, &Seed::root(3));
    let mut all = Everything { dim: DIM, rows: Vec::new() };
    session.run(&mut all, SessionLimit::after_examples(ROWS as u64), |_, _| {}).unwrap();
    let attributes: Vec<u32> = (0..DIM as u32).collect();
    let mean = all.rows.iter().map(|(_, y)| y).sum::<f64>() / ROWS as f64;
    let of = |(x, y): &(Vec<f64>, f64)| {
        let p = learner.apply(Row { attributes: &attributes, values: x });
        [(p - y) * (p - y), (y - mean) * (y - mean)]
    };
    let [errors, variance] =
        all.rows.iter().map(of).fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    errors / variance
}

/// A learner that sees all, and keeps it.
struct Everything {
    dim: usize,
    rows: Vec<(Vec<f64>, f64)>,
}

impl Learner for Everything {
    fn dim(&self) -> usize {
        self.dim
    }
    fn ask(&mut self, _: &mut lao_observation::Rng, ask: &mut Ask) {
        ask.values(100).extend(0..self.dim as u32);
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { unreachable!() };
        for row in 0..block.rows() {
            let x = (0..self.dim).map(|c| block.column(c)[row]).collect();
            self.rows.push((x, block.labels()[row]));
        }
        Ok(())
    }
    fn coefficients(&self) -> lao_kernels::SparseView<'_> {
        lao_kernels::SparseView::new(self.dim, &[], &[]).unwrap()
    }
    fn updates(&self) -> u64 {
        0
    }
}

#[test]
fn a_line_goes_on_as_pursuit_and_keeps_its_evidence() {
    let learner = learned(Truth::Line, 2000, Shape::Auto);
    assert_eq!(learner.decision().unwrap().chosen, Chosen::Pursuit);
    assert_eq!(learner.pursuit().support(), [3, 7, 20]);
    assert_eq!(learner.coefficients().to_owned_vector(), learner.pursuit().coefficients().to_owned_vector());
    assert!(learner.trees().is_none() && learner.evident().is_none() && learner.bought_complete().is_empty());
    assert!(learner.evidence(3).unwrap().standard_error > 0.0);
}

#[test]
fn trees_are_chosen_for_a_product_and_predict_what_no_line_does() {
    let learner = learned(Truth::Product, 2000, Shape::Auto);
    let decision = learner.decision().unwrap();
    assert_eq!(decision.chosen, Chosen::Trees);
    let [pursuit, ridge, trees] = decision.errors;
    assert!(trees < 0.8 * pursuit.min(ridge), "{decision:?}");
    assert!(error(&learner, Truth::Product) < 0.3 * error(learner.pursuit(), Truth::Product));
    // What was bought complete is what the rest of the examples has.
    assert!(learner.complete_rows() >= 1150, "{}", learner.complete_rows());
    assert!(learner.bought_complete().len() <= BUDGET);
    let most = PursuitParams::within(DIM, BUDGET).largest_support();
    assert!(learner.coefficients().len() <= most);
    assert!(learner.coefficients().indices().contains(&3) && learner.coefficients().indices().contains(&7));
    // The evidence is that of Pursuit, which has learned from all rows.
    assert_eq!(learner.evident().unwrap().evidence(3), learner.pursuit().evidence(3));
    assert!(learner.evidence(3).unwrap().examples > 1500);
}

#[test]
fn a_ridge_line_is_chosen_where_many_small_effects_add_up() {
    let learner = learned(Truth::Dense, 1000, Shape::Auto);
    assert_eq!(learner.decision().unwrap().chosen, Chosen::Ridge);
    assert!(learner.trees().is_none() && learner.coefficients().len() == 7);
    let plain = learned(Truth::Dense, 1000, Shape::Line);
    assert!(error(&learner, Truth::Dense) < 0.98 * error(&plain, Truth::Dense));
}

#[test]
fn many_rows_of_a_contest_are_held_out_once() {
    // The contest has more than ten thousand rows.
    let learner = learned(Truth::Line, 110_000, Shape::Auto);
    let decision = learner.decision().unwrap();
    assert_eq!((decision.chosen, decision.rows), (Chosen::Pursuit, 11_000));
    let [pursuit, ridge, trees] = decision.errors;
    assert!((ridge / pursuit - 1.0).abs() < 0.02 && (trees / ridge - 1.0).abs() < 0.1, "{decision:?}");
}

#[test]
fn a_budget_of_all_attributes_needs_no_search() {
    let pursuit = PursuitParams::within(DIM, DIM);
    for (shape, rows) in [(Shape::Trees, 60), (Shape::Auto, 500)] {
        let learner = PhasesParams { pursuit: pursuit.clone(), examples: Some(rows as u64), shape }.build();
        let mut learner = learner.unwrap();
        let mut session = Session::new(columns(Truth::Product, rows, 1), Budget::Unlimited, &Seed::root(2));
        session.run(&mut learner, SessionLimit::default(), |_, _| {}).unwrap();
        let complete = learner.complete_rows() as usize;
        assert!(complete == rows || shape == Shape::Auto && complete == 0, "{complete}");
        assert!(error(&learner, Truth::Product) < 1.1);
    }
}

#[test]
fn attributes_join_in_the_search_and_not_later() {
    let pursuit = PursuitParams::within(DIM - 2, BUDGET);
    let params = PhasesParams { pursuit, examples: Some(2000), shape: Shape::Trees };
    let mut learner = params.build().unwrap();
    let seed = Seed::root(2);
    let run = |learner: &mut Phases, examples: usize, seed: &Seed| {
        let source = first_columns(learner.dim(), Truth::Product, examples, 1);
        let mut session = Session::new(source, Budget::PerExample(BUDGET), seed);
        session.run(learner, SessionLimit::after_examples(examples as u64), |_, _| {}).unwrap();
    };
    run(&mut learner, 300, &seed.child("first"));
    learner.join(2, None).unwrap();
    run(&mut learner, 1200, &seed.child("second"));
    assert!(learner.coefficients().indices().contains(&3) && learner.dim() == DIM);
    assert!(learner.join(1, None).is_err() && learner.dim() == DIM);
    let stored: Phases = serde_json::from_str(&serde_json::to_string(&learner).unwrap()).unwrap();
    assert!(stored.coefficients().iter().eq(learner.coefficients().iter()));
}

#[test]
fn classes_have_probabilities_that_hold() {
    let learner = learned(Truth::Class, 3000, Shape::Trees);
    let [offset, slope] = learner.link().unwrap();
    let source = columns(Truth::Class, 2000, 11);
    let mut session = Session::new(source, Budget::Unlimited, &Seed::root(3));
    let mut all = Everything { dim: DIM, rows: Vec::new() };
    session.run(&mut all, SessionLimit::after_examples(2000), |_, _| {}).unwrap();
    let attributes: Vec<u32> = (0..DIM as u32).collect();
    let mut both: Vec<(f64, f64)> = Vec::new();
    for (x, y) in &all.rows {
        let p = learner.apply(Row { attributes: &attributes, values: x });
        both.push((1.0 / (1.0 + (-(offset + slope * p)).exp()), (y + 1.0) / 2.0));
    }
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    for group in both.chunks(400) {
        let n = group.len() as f64;
        let [q, share] =
            [group.iter().map(|g| g.0).sum::<f64>() / n, group.iter().map(|g| g.1).sum::<f64>() / n];
        assert!((q - share).abs() < 0.08, "{q} for {share}");
    }
}

#[test]
fn the_end_is_pursuits_line_where_nothing_can_be_decided() {
    let few = LEAST_EXAMPLES as usize - 1;
    for (rows, examples, half_life) in
        [(few, Some(few as u64), None), (900, None, None), (900, Some(900), Some(300.0))]
    {
        let pursuit = PursuitParams { half_life, ..PursuitParams::within(DIM, BUDGET) };
        let learner =
            PhasesParams { pursuit: pursuit.clone(), examples, shape: Shape::Auto }.build().unwrap();
        let learner = run(learner, Truth::Product, rows, rows as u64);
        assert!(learner.decision().is_none() && learner.complete_rows() == 0);
        let mut plain = pursuit.build().unwrap();
        let mut session =
            Session::new(columns(Truth::Product, rows, 1), Budget::PerExample(BUDGET), &Seed::root(2));
        session.run(&mut plain, SessionLimit::default(), |_, _| {}).unwrap();
        assert_eq!(learner.coefficients().to_owned_vector(), plain.coefficients().to_owned_vector());
        assert_eq!(learner.intercept().to_bits(), plain.intercept().to_bits());
    }
}

#[test]
fn pieces_and_stored_states_change_no_bit() {
    let rows = 600;
    for (truth, shape) in
        [(Truth::Product, Shape::Auto), (Truth::Dense, Shape::Auto), (Truth::Line, Shape::Trees)]
    {
        let whole = learned(truth, rows, shape);
        let stored = |learner: &Phases| serde_json::to_string(learner).unwrap();
        let in_pieces = run(params(rows, shape).build().unwrap(), truth, rows, 7);
        assert!(stored(&in_pieces) == stored(&whole));
        let mut learner = params(rows, shape).build().unwrap();
        let mut session = Session::new(columns(truth, rows, 1), Budget::PerExample(BUDGET), &Seed::root(2));
        for until in (0..=rows as u64).step_by(23).chain([rows as u64]) {
            session.run(&mut learner, SessionLimit::after_examples(until), |_, _| {}).unwrap();
            learner = serde_json::from_str(&stored(&learner)).unwrap();
        }
        assert!(stored(&learner) == stored(&whole));
    }
}

#[test]
fn more_examples_than_were_expected_are_learned_from() {
    let learner = run(params(500, Shape::Trees).build().unwrap(), Truth::Product, 3000, 3000);
    assert!(learner.complete_rows() > 2700);
    assert!(error(&learner, Truth::Product) < 0.2, "{}", error(&learner, Truth::Product));
}

#[test]
fn prices_hold_for_each_row_and_for_a_prediction() {
    // Attribute 3 is cheap, and 7 is of an expensive panel with 8.
    let panels: Vec<u32> = (0..DIM as u32).map(|j| if j < 8 { j } else { j - 1 }).collect();
    let prices: Vec<f64> = (0..29).map(|panel| if panel == 7 { 4.0 } else { 1.0 }).collect();
    let tariff = Tariff::with_panels(panels, prices).unwrap();
    for per_prediction in [None, Some(5.0), Some(1.0)] {
        let money = Money { per_prediction, ..Money::new(tariff.clone(), 8.0) };
        let pursuit = PursuitParams::within_money(money);
        let most = pursuit.most_per_prediction();
        let learner = PhasesParams { pursuit, examples: Some(2000), shape: Shape::Trees }.build();
        let mut learner = learner.unwrap();
        let mut session = Session::new(
            columns(Truth::Product, 2000, 1),
            Budget::Priced { per_example: 8.0 },
            &Seed::root(2),
        )
        .priced(tariff.clone())
        .unwrap();
        session.run(&mut learner, SessionLimit::default(), |_, _| {}).unwrap();
        let cost = |list: &[u32]| tariff.cost(list, &mut lao_observation::Basket::default());
        assert!(cost(learner.bought_complete()) <= 8.0 && learner.complete_rows() > 1000);
        assert!(cost(learner.coefficients().indices()) <= most, "{per_prediction:?}");
        assert!(session.ledger().most_cost <= 8.0);
    }
}

#[test]
fn what_is_always_in_the_predictor_stays() {
    let pursuit =
        PursuitParams { always: vec![1, 29], longest: Some(3), ..PursuitParams::within(DIM, BUDGET) };
    for (truth, shape) in [(Truth::Product, Shape::Trees), (Truth::Dense, Shape::Auto)] {
        let learner = PhasesParams { pursuit: pursuit.clone(), examples: Some(2000), shape }.build().unwrap();
        let learner = run(learner, truth, 2000, 2000);
        let support = learner.coefficients().indices().to_vec();
        assert!(support.len() <= 3 && [1, 29].iter().all(|j| support.contains(j)), "{support:?}");
    }
}

#[test]
fn gaps_count_as_means_and_wrong_answers_are_refused() {
    let mut learner = params(400, Shape::Trees).build().unwrap();
    let (mut rng, mut ask, mut block) = (Seed::root(5).rng(), Ask::new(DIM), BlockBuf::new());
    let mut told = 0;
    while told < 400 {
        learner.ask(&mut rng, &mut ask);
        let Request::Values { attributes, examples } = ask.request() else { unreachable!() };
        let attributes = attributes.to_vec();
        let rows = (examples as usize).min(9);
        block.reset(attributes.len(), rows);
        for row in 0..rows {
            let x: Vec<f64> = (0..DIM).map(|_| rng.random_range(-1.0..1.0)).collect();
            for (c, &j) in attributes.iter().enumerate() {
                let gap = rng.random::<f64>() < 0.2;
                block.column_mut(c)[row] = if gap { f64::NAN } else { x[j as usize] };
            }
            block.labels_mut()[row] = label_of(Truth::Product, &x, 0.0, 0.0);
        }
        block.set_rows(rows);
        let before = serde_json::to_string(&learner).unwrap();
        let mut wrong = block.clone();
        wrong.column_mut(0)[0] = f64::INFINITY;
        assert!(matches!(
            learner.tell(Told::Values(wrong.view(&attributes))),
            Err(LearnError::NotFinite { .. })
        ));
        wrong.column_mut(0)[0] = 1e71;
        assert!(matches!(
            learner.tell(Told::Values(wrong.view(&attributes))),
            Err(LearnError::Diverged { .. })
        ));
        let others: Vec<u32> = attributes.iter().map(|j| (j + 1) % DIM as u32).collect();
        assert!(learner.tell(Told::Values(block.view(&others))).is_err());
        assert!(serde_json::to_string(&learner).unwrap() == before);
        learner.tell(Told::Values(block.view(&attributes))).unwrap();
        told += rows;
    }
    assert!(learner.complete_rows() > 0 && learner.updates() > 0);
    let seen = Row { attributes: &[], values: &[] };
    assert!(learner.apply(seen).is_finite() && learner.predict(seen).is_finite());
}

#[test]
fn weights_lead_to_the_line() {
    let mut learner = params(400, Shape::Auto).build().unwrap();
    let (mut rng, mut ask, mut block) = (Seed::root(5).rng(), Ask::new(DIM), BlockBuf::new());
    for _ in 0..60 {
        learner.ask(&mut rng, &mut ask);
        let Request::Values { attributes, examples } = ask.request() else { unreachable!() };
        let (attributes, rows) = (attributes.to_vec(), examples as usize);
        block.reset(attributes.len(), rows);
        for c in 0..attributes.len() {
            block.column_mut(c).fill_with(|| rng.random_range(-1.0..1.0));
        }
        block.labels_mut().fill_with(|| rng.random_range(-1.0..1.0));
        block.weights_mut().fill_with(|| rng.random_range(0.0..2.0));
        block.set_rows(rows);
        learner.tell(Told::Values(block.view(&attributes))).unwrap();
    }
    assert!(learner.complete_rows() == 0 && learner.decision().is_none());
}

#[test]
fn damaged_states_are_refused() {
    let whole = learned(Truth::Product, 400, Shape::Trees);
    let text = serde_json::to_string(&whole).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let read = |value: &serde_json::Value| serde_json::from_str::<Phases>(&value.to_string());
    assert!(read(&value).is_ok());
    let damages: [fn(&mut serde_json::Value); 7] = [
        |state| state["complete"]["attributes"][0] = 29.into(),
        |state| state["complete"]["rows"] = 3.into(),
        |state| state["complete"]["labels"] = Vec::<f64>::new().into(),
        |state| state["end"]["means"] = Vec::<f64>::new().into(),
        |state| state["end"]["trees"]["trees"][0]["below"][0] = 77.into(),
        |state| state["phase"]["complete"]["until"] = 1.into(),
        |state| state["params"]["pursuit"]["level"] = 0.5.into(),
    ];
    for (i, damage) in damages.into_iter().enumerate() {
        let mut damaged = value.clone();
        damage(&mut damaged);
        assert!(damaged != value, "damage {i} changes nothing");
        assert!(read(&damaged).is_err(), "damage {i}");
    }
}
