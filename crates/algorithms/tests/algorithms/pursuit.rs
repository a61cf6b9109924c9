//! What Pursuit promises beyond its registry row: on raw columns, and with attributes that are constant,
//! equal, heavy-tailed, in units far apart, of no effect, or always or never in; with coefficients that
//! change; with few examples; with values that are missing.

use lao_algorithms::Task;
use lao_algorithms::murata_suzuki::ExplorationParams;
use lao_algorithms::pursuit::reference::PursuitReference;
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_algorithms::reference::{Drawn, Reference as _, Seen};
use lao_datasets::memory::Columns;
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{
    Ask, BlockBuf, Budget, Foreseen, Learner, Request, Rng, Row, Seed, Session, SessionEnd, SessionError,
    SessionLimit, Source, SourceError, Told,
};
use rand::RngExt as _;
use std::collections::{HashSet, VecDeque};
use std::iter;

const ROWS: usize = 3000;

/// Columns in odd units: attribute 0 is constant, 3 equals 2, 5 is rare. The label is
/// `1000 + 2 (x_1 - x_2 / 100) + 3 x_5` and noise of variance 1.
fn raw(seed: u64, rows: usize) -> (usize, Vec<f64>, Vec<f64>) {
    let mut rng = Seed::root(seed).rng();
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mut columns = vec![vec![7.5; rows]];
    columns.push((0..rows).map(|_| -40.0 + normal()).collect());
    columns.push((0..rows).map(|_| 1e4 + 100.0 * normal()).collect());
    columns.push(columns[2].clone());
    columns.push((0..rows).map(|_| normal()).collect());
    columns.push((0..rows).map(|_| f64::from(u8::from(normal() > 1.5))).collect());
    (6..12).for_each(|_| columns.push((0..rows).map(|_| normal()).collect()));
    let effect = |i: usize| 2.0 * (columns[1][i] - columns[2][i] / 100.0) + 3.0 * columns[5][i];
    let labels = (0..rows).map(|i| 1000.0 + effect(i) + normal()).collect();
    (columns.len(), columns.concat(), labels)
}

fn learn(params: PursuitParams, values: Vec<f64>, labels: Vec<f64>) -> Pursuit {
    let (dim, budget) = (params.dim, Budget::PerExample(params.budget));
    let mut learner = params.build().unwrap();
    let source = Columns::new(dim, values, labels).unwrap();
    let mut session = Session::new(source, budget, &Seed::root(6));
    let end = session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
    assert_eq!(end, SessionEnd::Dry);
    learner
}

#[test]
fn raw_columns_give_coefficients_in_their_own_units() {
    let (dim, values, labels) = raw(5, 2 * ROWS);
    let learner = learn(PursuitParams::within(dim, 6), values, labels);
    let [first, second, third] = learner.support() else { panic!("{:?}", learner.support()) };
    assert_eq!((*first, *third), (1, 5));
    assert!([2, 3].contains(second), "of two equal attributes one is in the predictor");
    for (j, truth) in [(*first, 2.0), (*second, -0.02), (*third, 3.0)] {
        let known = learner.evidence(j).unwrap();
        let distance = (known.coefficient - truth).abs() / known.standard_error;
        assert!(distance < 5.0 && known.standard_error < 0.1 * truth.abs(), "{known:?} for {truth}");
    }
    assert!((learner.noise() - 1.0).abs() < 0.2, "{}", learner.noise());
    assert_eq!(learner.evidence(0).map(|known| (known.z, known.coefficient)), Some((0.0, 0.0)));
    // The means are those of the columns, up to four standard errors of the mean of 300 values.
    for (j, mean, within) in [(0, 7.5, 0.0), (1, -40.0, 0.23), (2, 1e4, 23.0), (99, 0.0, 0.0)] {
        assert!((learner.mean(j) - mean).abs() <= within, "attribute {j}: {}", learner.mean(j));
    }
    let (attributes, values) = ([1, *second, 5], [-40.0, 1e4, 1.0]);
    let label = learner.apply(Row { attributes: &attributes, values: &values });
    assert!((label - (1000.0 - 80.0 - 200.0 + 3.0)).abs() < 0.5, "{label}");
}

#[test]
fn attributes_are_always_or_never_in_as_asked() {
    let (dim, values, labels) = raw(5, ROWS);
    let params = PursuitParams { always: vec![4, 7], never: vec![1], ..PursuitParams::within(dim, 6) };
    let learner = learn(params, values, labels);
    assert!([4, 7].iter().all(|j| learner.support().contains(j)) && !learner.support().contains(&1));
    assert_eq!(learner.evidence(1).map(|known| known.examples), Some(0));
    assert!(learner.evidence(4).is_some_and(|known| known.z.abs() < 5.0));
}

#[test]
fn labels_without_an_attribute_give_an_empty_predictor() {
    let (dim, values, _) = raw(5, ROWS);
    let mut rng = Seed::root(8).rng();
    let labels: Vec<f64> = (0..ROWS).map(|_| rng.random::<f64>()).collect();
    let learner = learn(PursuitParams::within(dim, 6), values, labels);
    assert!(learner.support().is_empty() && (learner.intercept() - 0.5).abs() < 0.05);
}

#[test]
fn two_classes_have_probabilities() {
    let (dim, values, _) = raw(5, ROWS);
    let mut rng = Seed::root(9).rng();
    let chance = |x: f64| 1.0 / (1.0 + (-2.0 * x).exp());
    let column = |j: usize, i: usize| values[j * ROWS + i];
    let labels = (0..ROWS).map(|i| if rng.random::<f64>() < chance(column(8, i)) { 1.0 } else { -1.0 });
    let labels: Vec<f64> = labels.collect();
    let learner = learn(PursuitParams::within(dim, 6), values.clone(), labels);
    assert_eq!(learner.support(), [8]);
    for x in [-1.0, 0.0, 1.0] {
        let found = learner.probability(Row { attributes: &[8], values: &[x] }).unwrap();
        assert!((found - chance(x)).abs() < 0.1, "{found} for {}", chance(x));
    }
}

/// Columns of draws, and labels with coefficients 1 and -1 of the attributes 3 and 8 and noise of variance 1.
fn two_effects(rows: usize, seed: u64, mut draw: impl FnMut(&mut Rng) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Seed::root(seed).rng();
    let values: Vec<f64> = (0..12 * rows).map(|_| draw(&mut rng)).collect();
    let noise = |rng: &mut Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let labels = (0..rows).map(|i| values[3 * rows + i] - values[8 * rows + i] + noise(&mut rng)).collect();
    (values, labels)
}

fn uniform(rng: &mut Rng) -> f64 {
    rng.random_range(-1.7..1.7)
}

#[test]
fn the_noise_follows_that_of_the_last_examples() {
    let rows = 30_000;
    let (values, mut labels) = two_effects(rows, 31, uniform);
    for (i, y) in labels.iter_mut().enumerate().skip(rows / 2) {
        let signal = values[3 * rows + i] - values[8 * rows + i];
        *y = signal + 3.0 * (*y - signal);
    }
    let noise = learn(PursuitParams::within(12, 6), values, labels).noise();
    assert!((noise / 9.0 - 1.0).abs() < 0.1, "{noise}");
}

#[test]
fn of_equal_attributes_one_is_in_the_predictor() {
    for seed in 0..20 {
        let (mut values, labels) = two_effects(ROWS, seed, uniform);
        // The attributes 0 to 3 are equal, and so are 8 to 11.
        for (from, to) in [(3, 0), (3, 1), (3, 2), (8, 9), (8, 10), (8, 11)] {
            values.copy_within(from * ROWS..(from + 1) * ROWS, to * ROWS);
        }
        let learner = learn(PursuitParams::within(12, 6), values, labels);
        let [first, second] = learner.support() else { panic!("{seed}: {:?}", learner.support()) };
        assert!((0..4).contains(first) && (8..12).contains(second), "{seed}: {first} and {second}");
    }
}

#[test]
fn a_budget_may_be_one_attribute_or_all() {
    let (values, labels) = two_effects(ROWS, 3, uniform);
    for (budget, found) in [(1, 1), (2, 2), (11, 2), (12, 2)] {
        let learner = learn(PursuitParams::within(12, budget), values.clone(), labels.clone());
        assert_eq!(learner.support().len(), found, "a budget of {budget}");
        assert!(learner.support().iter().all(|j| [3, 8].contains(j)));
    }
}

#[test]
fn heavy_tails_hide_nothing_and_add_nothing() {
    for seed in 0..20 {
        // Student's t with 3 degrees of freedom: its fourth moment is infinite.
        let student = |rng: &mut Rng| {
            let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let square = (0..3).map(|_| normal().powi(2)).sum::<f64>();
            normal() / (square / 3.0).sqrt()
        };
        let (values, labels) = two_effects(ROWS, seed, student);
        let learner = learn(PursuitParams::within(12, 6), values, labels);
        assert_eq!(learner.support(), [3, 8], "{seed}");
        for (j, truth) in [(3, 1.0), (8, -1.0)] {
            let found = learner.coefficients().get(j);
            assert!((found - truth).abs() < 0.3, "{seed}: {found} for {truth}");
        }
    }
}

#[test]
fn units_may_differ_by_twelve_powers_of_ten() {
    let (values, labels) = two_effects(ROWS, 1, uniform);
    let plain = learn(PursuitParams::within(12, 6), values.clone(), labels.clone());
    let scale = |j: usize| 10f64.powf(12.0 * ((7 * j) % 12) as f64 / 11.0 - 6.0);
    let scaled = values.iter().enumerate().map(|(i, x)| scale(i / ROWS) * x).collect();
    let scaled = learn(PursuitParams::within(12, 6), scaled, labels);
    assert_eq!((plain.support(), scaled.support()), (&[3, 8][..], &[3, 8][..]));
    for j in [3, 8] {
        let (a, b) = (plain.coefficients().get(j), scale(j as usize) * scaled.coefficients().get(j));
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }
}

#[test]
fn coefficients_that_change_in_mid_stream_are_averaged() {
    let (values, mut labels) = two_effects(ROWS, 2, uniform);
    let steady = learn(PursuitParams::within(12, 6), values.clone(), labels.clone());
    // From the middle on, attribute 5 takes the place of attribute 3.
    for i in ROWS / 2..ROWS {
        labels[i] += values[5 * ROWS + i] - values[3 * ROWS + i];
    }
    let learner = learn(PursuitParams::within(12, 6), values, labels);
    let found = learner.coefficients();
    assert!(found.get(3) > 0.1 && found.get(3) < 0.9, "{found:?}");
    assert!(found.get(5) >= 0.0 && found.get(5) < 0.9 && (found.get(8) + 1.0).abs() < 0.2, "{found:?}");
    assert!(learner.noise() > 1.2 * steady.noise(), "{} and {}", learner.noise(), steady.noise());
}

#[test]
fn a_half_life_forgets_the_coefficients_before_a_change() {
    let (values, mut labels) = two_effects(ROWS, 2, uniform);
    for i in ROWS / 2..ROWS {
        labels[i] += values[5 * ROWS + i] - values[3 * ROWS + i];
    }
    // Six half-lives after the change, a sixty-fourth of the old weight is left.
    let params = PursuitParams { half_life: Some(250.0), ..PursuitParams::within(12, 6) };
    let learner = learn(params, values, labels);
    assert_eq!(learner.support(), [5, 8]);
    for (j, truth) in [(5, 1.0), (8, -1.0)] {
        let known = learner.evidence(j).unwrap();
        assert!((known.coefficient - truth).abs() < 0.2, "{known:?} for {truth}");
        // The weights of all examples add up to 250 / log 2; those of the unfinished block, a tenth of a
        // half-life at most, are whole.
        assert!(known.examples <= 386, "{known:?}");
    }
}

#[test]
fn a_learner_that_forgets_can_be_stored() {
    let (values, labels) = two_effects(ROWS, 2, uniform);
    let (mut stored, mut ends) = (String::new(), Vec::new());
    for is_stored in [false, true] {
        let source = Columns::new(12, values.clone(), labels.clone()).unwrap();
        let params = PursuitParams { half_life: Some(100.0), ..PursuitParams::within(12, 6) };
        let mut session = Session::new(source, Budget::PerExample(6), &Seed::root(6));
        let mut learner = params.build().unwrap();
        session.run(&mut learner, SessionLimit::after_examples(1555), |_, _| {}).unwrap();
        if is_stored {
            stored = serde_json::to_string(&learner).unwrap();
            learner = serde_json::from_str(&stored).unwrap();
        }
        session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
        ends.push(serde_json::to_string(&learner).unwrap());
    }
    assert_eq!(ends[0], ends[1]);
    let damaged = stored.replacen("\"forgotten\":\"4", "\"forgotten\":\"7", 1);
    assert_ne!(damaged, stored);
    assert!(serde_json::from_str::<Pursuit>(&damaged).unwrap_err().to_string().contains("forgotten"));
    let mut damaged: serde_json::Value = serde_json::from_str(&stored).unwrap();
    damaged["params"]["half_life"] = serde_json::Value::Null;
    let refused = serde_json::from_value::<Pursuit>(damaged).unwrap_err().to_string();
    assert!(refused.contains("forgotten without a half-life"), "{refused}");
}

#[test]
fn what_a_half_life_never_remembers_is_never_expected() {
    // An effect of a twelfth of the noise needs more examples than the weights of all add up to.
    let (values, labels) = two_effects(ROWS, 4, uniform);
    let labels = labels.iter().zip(&values[3 * ROWS..]).zip(&values[8 * ROWS..]);
    let labels: Vec<f64> = labels.map(|((y, a), b)| y - 0.92 * (a - b)).collect();
    let expected = |half_life| {
        let params = PursuitParams { half_life, ..PursuitParams::within(12, 6) };
        let learner = learn(params, values.clone(), labels.clone());
        let until: Vec<_> = (0..12).filter_map(|j| learner.evidence(j)?.until_added).collect();
        until.iter().filter(|examples| **examples > 0).count()
    };
    assert!(expected(None) > 0);
    assert_eq!(expected(Some(20.0)), 0);
}

#[test]
fn too_few_examples_give_no_predictor() {
    for (rows, seed) in (0..40).map(|seed| (1 + 2 * seed as usize, seed)) {
        let (values, labels) = two_effects(rows, seed, uniform);
        // The effects are a tenth of the noise.
        let labels = labels.iter().zip(&values[3 * rows..]).zip(&values[8 * rows..]);
        let labels: Vec<f64> = labels.map(|((y, a), b)| y - 0.9 * (a - b)).collect();
        let learner = learn(PursuitParams::within(12, 6), values, labels);
        assert_eq!((learner.support(), learner.coefficients().len()), (&[][..], 0), "{rows} examples");
        let known: Vec<_> = (0..12).filter_map(|j| learner.evidence(j)).collect();
        assert!(known.len() == 12 && known.iter().all(|known| known.z.is_finite()));
        assert!(known.iter().all(|known| known.examples <= rows as u64 && known.standard_error == 0.0));
    }
}

#[test]
fn parameters_that_leave_nothing_to_do_are_refused() {
    let within = || PursuitParams::within(4, 2);
    let refused = [
        (PursuitParams { never: vec![0, 1, 2, 3], ..within() }, "never"),
        (PursuitParams { never: vec![1], always: vec![1], ..within() }, "never"),
        (PursuitParams { always: vec![0, 1, 2], ..within() }, "always"),
        (PursuitParams { always: vec![2, 1], ..within() }, "always"),
        (PursuitParams { level: 0.0, ..within() }, "level"),
        (PursuitParams { longest: Some(0), ..within() }, "longest"),
        (PursuitParams { half_life: Some(19.0), ..within() }, "half_life"),
        (PursuitParams { half_life: Some(f64::INFINITY), ..within() }, "half_life"),
        (PursuitParams { half_life: Some(f64::NAN), ..within() }, "half_life"),
        (PursuitParams::within(4, 0), "budget"),
        (PursuitParams::within(1 << 27, 2), "budget"),
    ];
    for (params, field) in refused {
        assert_eq!(params.clone().build().map(|_| ()).unwrap_err().field, field, "{params:?}");
    }
}

#[test]
fn the_examples_until_an_attribute_is_added_are_foretold() {
    // One effect of a third of the noise among twenty attributes, of which four are observed.
    let (dim, mut told) = (20, Vec::new());
    for seed in 0..120 {
        let target = SparseVector::new(dim, vec![7], vec![0.33]).unwrap();
        let (design, seed) = (Rademacher::new(dim).unwrap(), Seed::root(100 + seed));
        let source = Virtual::new(design, target, Noise::Gaussian(1.0), &seed).unwrap();
        let mut learner = PursuitParams::within(dim, 4).build().unwrap();
        let mut session = Session::new(source, Budget::PerExample(4), &seed);
        session.run(&mut learner, SessionLimit::after_examples(100), |_, _| {}).unwrap();
        let foretold = learner.evidence(7).unwrap().until_added;
        let mut added = None;
        let limit = SessionLimit::after_examples(20_000);
        session
            .run(&mut learner, limit, |ledger, learner| {
                if added.is_none() && learner.support().contains(&7) {
                    added = Some(ledger.examples - 100);
                }
            })
            .unwrap();
        assert_eq!(learner.evidence(7).unwrap().until_added, Some(0));
        told.extend(foretold.filter(|n| *n > 0).zip(added));
    }
    assert!(told.len() > 30, "{}", told.len());
    let ratio = |(foretold, added): &(u64, u64)| (*foretold as f64 / (*added).max(1) as f64).ln();
    let mut ratios: Vec<f64> = told.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[ratios.len() / 2].exp();
    // Most looks go to what seems promising, so attributes come in sooner than their past share of looks
    // says.
    assert!((0.5..4.0).contains(&middle), "{middle}: {told:?}");
}

/// A source that is told what to expect, and keeps it: attributes, each with the first example of its block.
struct Expecting<S> {
    source: S,
    expected: HashSet<(u32, u64)>,
    /// What was observed, long after the support changed last, and what of it was expected before the ask
    /// came.
    observed: [usize; 2],
}

impl<S: Source> Source for Expecting<S> {
    fn dim(&self) -> usize {
        self.source.dim()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let at = self.position();
        let foreseen = attributes.iter().filter(|j| self.expected.contains(&(**j, at))).count();
        if at >= 40_000 {
            self.observed = [self.observed[0] + attributes.len(), self.observed[1] + foreseen];
        }
        self.source.observe(attributes, block)
    }

    fn asks_ahead(&self) -> usize {
        8
    }

    fn expect(&mut self, asks: &[Foreseen]) {
        let mut at = self.position();
        for (ask, is_foreseen) in asks.iter().zip(iter::once(false).chain(iter::repeat(true))) {
            assert!(ask.attributes.is_sorted_by(|a, b| a < b) && ask.examples > 0);
            self.expected.extend(ask.attributes.iter().filter(|_| is_foreseen).map(|j| (*j, at)));
            at += ask.examples;
        }
    }

    fn position(&self) -> u64 {
        self.source.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.source.seek(position)
    }
}

#[test]
fn what_comes_before_the_next_decision_is_foreseen_and_nothing_else() {
    let (dim, seed) = (300, Seed::root(31));
    let target = SparseVector::new(dim, vec![7, 90, 200], vec![1.0, -0.5, 0.3]).unwrap();
    let source = Virtual::new(Rademacher::new(dim).unwrap(), target, Noise::Gaussian(1.0), &seed).unwrap();
    for page in [None, Some(64)] {
        let mut learner = PursuitParams { page, ..PursuitParams::within(dim, 12) }.build().unwrap();
        let source = Expecting { source: source.clone(), expected: HashSet::new(), observed: [0; 2] };
        let mut session = Session::new(source, Budget::PerExample(12), &seed);
        session.run(&mut learner, SessionLimit::after_examples(80_000), |_, _| {}).unwrap();
        assert_eq!(learner.support(), [7, 90, 200]);
        let Expecting { observed: [all, foreseen], expected, .. } = session.source();
        // Seven of eight blocks.
        let least = if page.is_some() { 0.85 * *all as f64 } else { 0.0 };
        assert!(*foreseen as f64 >= least, "{foreseen} of {all}");
        assert!(expected.iter().filter(|(_, at)| *at >= 40_000).count() - foreseen <= 7 * 12, "{foreseen}");
    }
}

/// Tells a learner examples of which each value is missing with the probability of its column, NaN.
fn with_gaps(
    learner: &mut Pursuit,
    rows: usize,
    missing: impl Fn(usize) -> f64,
    mut after: impl FnMut(&Pursuit, &Seen<'_>),
) {
    let dim = learner.dim();
    let mut rng = Seed::root(20).rng();
    let (values, labels) = two_effects(rows, 21, uniform);
    for i in 0..rows {
        let x: Vec<f64> = (0..dim)
            .map(|j| if rng.random::<f64>() < missing(j) { f64::NAN } else { values[j * rows + i] })
            .collect();
        let mut ask = Ask::new(dim);
        learner.ask(&mut Seed::root(22).rng(), &mut ask);
        let Request::Values { attributes, .. } = ask.request() else { panic!("it asks for values") };
        let mut block = BlockBuf::new();
        block.reset(attributes.len(), 1);
        attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
        block.labels_mut()[0] = labels[i];
        block.set_rows(1);
        learner.tell(Told::Values(block.view(attributes))).unwrap();
        after(learner, &Seen { x: &x, label: labels[i], asked: attributes, drawn: Drawn::Listed });
    }
}

#[test]
fn gaps_lead_to_the_sums_over_what_was_observed() {
    let of_column = |j: usize| [0.0, 0.05, 0.3, 0.3, 0.9, 1.0][j % 6];
    for half_life in [None, Some(200.0)] {
        let params = PursuitParams { half_life, ..PursuitParams::within(12, 7) };
        let mut reference = PursuitReference::new(&params).unwrap();
        let (mut learner, mut found) = (params.build().unwrap(), 0);
        with_gaps(&mut learner, 3000, of_column, |learner, seen| {
            reference.see(seen).unwrap();
            for (ours, theirs) in learner.coefficients().to_dense().iter().zip(reference.coefficients()) {
                assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs} after {} updates", learner.updates());
            }
            found = learner.support().len();
        });
        assert!(found >= 2, "{found}");
    }
}

#[test]
fn a_gap_costs_its_own_value_and_what_is_never_there_is_seldom_asked_for() {
    let mut learner = PursuitParams::within(12, 4).build().unwrap();
    let mut asked = [0; 12];
    with_gaps(
        &mut learner,
        2000,
        |j| if j == 5 { 1.0 } else { 0.3 },
        |_, seen| {
            seen.asked.iter().for_each(|&j| asked[j as usize] += 1);
        },
    );
    assert_eq!(learner.support(), [3, 8]);
    assert!(asked[5] < 200, "{asked:?}");
    for (j, truth) in [(3, 1.0), (8, -1.0)] {
        let known = learner.evidence(j).unwrap();
        assert!((known.coefficient - truth).abs() < 3.0 * known.standard_error, "{known:?}");
        // Three values of ten are missing, of both of them half.
        assert!(known.standard_error > 1.0 / 2000f64.sqrt() && known.standard_error < 0.1, "{known:?}");
    }
}

#[test]
fn a_state_with_gaps_in_its_block_goes_on_as_if_it_had_not_been_stored() {
    let mut learner = PursuitParams::within(12, 4).build().unwrap();
    with_gaps(&mut learner, 1005, |_| 0.2, |_, _| {});
    let text = serde_json::to_string(&learner).unwrap();
    assert!(text.contains("\"gaps\":[{"));
    let mut restored: Pursuit = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&restored).unwrap(), text);
    for learner in [&mut learner, &mut restored] {
        with_gaps(learner, 40, |_| 0.2, |_, _| {});
    }
    assert_eq!(serde_json::to_string(&restored).unwrap(), serde_json::to_string(&learner).unwrap());
}

#[test]
fn examples_that_come_late_teach_as_much_as_those_in_time() {
    const DELAY: usize = 100;
    let params = PursuitParams::within(12, 4);
    let (rows, dim) = (2000, 12);
    let (values, labels) = two_effects(rows, 31, uniform);
    let (mut learner, mut rng, mut out) = (params.build().unwrap(), Seed::root(32).rng(), VecDeque::new());
    for i in 0..rows {
        let mut ask = Ask::new(dim);
        learner.ask(&mut rng, &mut ask);
        let Request::Values { attributes, .. } = ask.request() else { panic!("it asks for values") };
        assert!(attributes.len() <= 4);
        out.push_back((i, attributes.to_vec()));
        if out.len() > DELAY {
            let (row, asked) = out.pop_front().unwrap();
            let x: Vec<f64> = asked.iter().map(|&j| values[j as usize * rows + row]).collect();
            learner.tell_late(&asked, &x, labels[row]).unwrap();
            let text = serde_json::to_string(&learner).unwrap();
            learner = serde_json::from_str(&text).unwrap();
        }
    }
    assert_eq!(learner.support(), [3, 8]);
    for (j, truth) in [(3, 1.0), (8, -1.0)] {
        let known = learner.evidence(j).unwrap();
        assert!((known.coefficient - truth).abs() < 3.5 * known.standard_error, "{known:?}");
        assert!(known.standard_error < 0.05, "{known:?}");
    }
    // The examples of the first choice, which lack the attributes found, are predicted with a larger error.
    assert!((0.85..1.3).contains(&learner.noise()), "{}", learner.noise());
    for refused in [vec![3, 2], vec![0, 1, 2, 3, 4], vec![12]] {
        let x = vec![0.0; refused.len()];
        assert!(learner.tell_late(&refused, &x, 0.0).is_err(), "{refused:?}");
    }
    assert!(learner.tell_late(&[1], &[f64::INFINITY], 0.0).is_err());
    assert!(learner.tell_late(&[1], &[1.0], f64::NAN).is_err());
}

#[test]
fn a_block_may_be_filled_by_late_examples() {
    let params = PursuitParams::within(12, 4);
    let (values, labels) = two_effects(500, 41, uniform);
    let run = |late: fn(usize) -> bool| {
        let (mut learner, mut rng) = (params.clone().build().unwrap(), Seed::root(42).rng());
        for i in 0..500 {
            let mut ask = Ask::new(12);
            learner.ask(&mut rng, &mut ask);
            let Request::Values { attributes, .. } = ask.request() else { panic!("it asks for values") };
            let x: Vec<f64> = attributes.iter().map(|&j| values[j as usize * 500 + i]).collect();
            if late(i) {
                learner.tell_late(attributes, &x, labels[i]).unwrap();
            } else {
                let mut block = BlockBuf::new();
                block.reset(x.len(), 1);
                x.iter().enumerate().for_each(|(c, x)| block.column_mut(c)[0] = *x);
                block.labels_mut()[0] = labels[i];
                block.set_rows(1);
                learner.tell(Told::Values(block.view(attributes))).unwrap();
            }
        }
        learner
    };
    let (in_time, mixed) = (run(|_| false), run(|i| i % 3 == 1));
    assert_eq!(mixed.support(), in_time.support());
    for j in [3, 8] {
        let [a, b] = [&in_time, &mixed].map(|learner| learner.evidence(j).unwrap());
        assert!((a.coefficient - b.coefficient).abs() < a.standard_error, "{a:?} {b:?}");
        assert_eq!(a.examples > 400, b.examples > 400);
    }
}

#[test]
fn where_noise_falls_nothing_without_an_effect_is_added() {
    // Labels have the standard deviation 30 in the first 1,000 examples of 20,000, and 1 afterwards.
    let (rows, dim) = (20_000, 60);
    let mut added = 0;
    for seed in 0..20 {
        let mut rng = Seed::root(50 + seed).rng();
        let normal = |rng: &mut Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let values: Vec<f64> = (0..rows * dim).map(|_| rng.random_range(-1.7..1.7)).collect();
        let labels: Vec<f64> =
            (0..rows).map(|i| if i < 1000 { 30.0 } else { 1.0 } * normal(&mut rng)).collect();
        let learner = learn(PursuitParams::within(dim, 12), values, labels);
        added += usize::from(!learner.support().is_empty());
    }
    assert!(added <= 3, "{added} of 20");
}

#[test]
fn examples_that_were_known_before_teach_without_a_purchase() {
    let (rows, dim) = (600, 12);
    let (values, labels) = two_effects(rows, 51, uniform);
    let all: Vec<u32> = (0..dim as u32).collect();
    // One learner buys everything, the other may buy four values, is given everything, and never sees
    // attribute 8.
    let full = learn(PursuitParams::within(dim, dim), values.clone(), labels.clone());
    let params = PursuitParams { never: vec![8], ..PursuitParams::within(dim, 4) };
    let (mut given, mut without) = (PursuitParams::within(dim, 4).build().unwrap(), params.build().unwrap());
    assert!(given.tell_given(&[1], &[0.5], 1.0).is_err());
    let mut ask = Ask::new(dim);
    for learner in [&mut given, &mut without] {
        learner.ask(&mut Seed::root(52).rng(), &mut ask);
    }
    for i in 0..rows {
        let x: Vec<f64> = all.iter().map(|&j| values[j as usize * rows + i]).collect();
        given.tell_given(&all, &x, labels[i]).unwrap();
        without.tell_given(&all, &x, labels[i]).unwrap();
        if i % 50 == 7 {
            let text = serde_json::to_string(&given).unwrap();
            given = serde_json::from_str(&text).unwrap();
        }
    }
    assert_eq!((given.support(), without.support()), (&[3, 8][..], &[3][..]));
    for j in [3, 8] {
        let [a, b] = [&full, &given].map(|learner| learner.evidence(j).unwrap());
        assert!((a.coefficient - b.coefficient).abs() < a.standard_error, "{a:?} {b:?}");
        assert!(b.examples == rows as u64 && b.standard_error < 1.3 * a.standard_error, "{a:?} {b:?}");
    }
    let mut ask = Ask::new(dim);
    given.ask(&mut Seed::root(53).rng(), &mut ask);
    let Request::Values { attributes, .. } = ask.request() else { panic!("it asks for values") };
    assert!(attributes.len() == 4 && attributes.contains(&3) && attributes.contains(&8), "{attributes:?}");

    // What is not known may be left out, or NaN: that changes no bit.
    let mut two = [given.clone(), given.clone()];
    two[0].tell_given(&[1, 3], &[0.5, 0.25], 1.0).unwrap();
    two[1].tell_given(&[1, 3, 5], &[0.5, 0.25, f64::NAN], 1.0).unwrap();
    assert_eq!(serde_json::to_string(&two[0]).unwrap(), serde_json::to_string(&two[1]).unwrap());
    let before = serde_json::to_string(&given).unwrap();
    assert!(given.tell_given(&[3, 2], &[0.0, 0.0], 0.0).is_err());
    assert!(given.tell_given(&[12], &[0.0], 0.0).is_err());
    assert!(given.tell_given(&[1], &[0.0, 0.0], 0.0).is_err());
    assert!(given.tell_given(&[1], &[f64::INFINITY], 0.0).is_err());
    assert!(given.tell_given(&[1], &[0.0], f64::NAN).is_err());
    assert_eq!(serde_json::to_string(&given).unwrap(), before);
}

/// Examples of which every third weighs 2.5, and the others .4.
struct Weighted(Columns<f64>);

impl Source for Weighted {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.0.position();
        let rows = self.0.observe(attributes, block)?;
        for (weight, i) in block.weights_mut()[..rows].iter_mut().zip(first..) {
            *weight = if i % 3 == 0 { 2.5 } else { 0.4 };
        }
        Ok(rows)
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn position(&self) -> u64 {
        self.0.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.0.seek(position)
    }
}

#[test]
fn weights_move_the_estimate_count_as_examples_and_can_be_stored_within_a_block() {
    let (values, labels) = two_effects(ROWS, 2, uniform);
    // Every third label has the double effect.
    let labels: Vec<f64> =
        labels.iter().enumerate().map(|(i, y)| if i % 3 == 0 { 2.0 * y } else { *y }).collect();
    let source = || Columns::new(12, values.clone(), labels.clone()).unwrap();
    let build = || PursuitParams::within(12, 6).build().unwrap();
    let (mut stored, mut ends) = (String::new(), Vec::new());
    for is_stored in [false, true] {
        let mut session = Session::new(Weighted(source()), Budget::PerExample(6), &Seed::root(11));
        let mut learner = build();
        session.run(&mut learner, SessionLimit::after_examples(1555), |_, _| {}).unwrap();
        if is_stored {
            stored = serde_json::to_string(&learner).unwrap();
            learner = serde_json::from_str(&stored).unwrap();
        }
        session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
        ends.push(learner);
    }
    let text = |learner: &Pursuit| serde_json::to_string(learner).unwrap();
    assert_eq!(text(&ends[0]), text(&ends[1]));
    assert_eq!(ends[0].support().len(), 2, "{:?}", ends[0].support());
    let plain = learn(PursuitParams::within(12, 6), values.clone(), labels.clone());
    for &j in ends[0].support() {
        let [weighted, plain] = [&ends[0], &plain].map(|learner| learner.evidence(j).unwrap());
        // The double effect weighs 2.5 of 3.3 parts, and 1 of 3.
        assert!((weighted.coefficient.abs() - 5.8 / 3.3).abs() < 0.1, "{weighted:?}");
        assert!((plain.coefficient.abs() - 4.0 / 3.0).abs() < 0.1, "{plain:?}");
        assert!((weighted.examples as f64 - 1.1 * plain.examples as f64).abs() < 20.0, "{weighted:?}");
    }
    let mut damaged: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(damaged["weights"].as_array().map(Vec::len), damaged["labels"].as_array().map(Vec::len));
    damaged["weights"][0] = (-1.0).into();
    let refused = serde_json::from_value::<Pursuit>(damaged).unwrap_err().to_string();
    assert!(refused.contains("weights"), "{refused}");

    let task = Task { dim: 12, sparsity: 2, budget: 6, ..Task::default() };
    let mut other = ExplorationParams::practical(&task).unwrap().build().unwrap();
    let mut session = Session::new(Weighted(source()), Budget::PerExample(6), &Seed::root(6));
    let refused = session.run(&mut other, SessionLimit::never(), |_, _| {}).unwrap_err();
    assert!(matches!(refused, SessionError::Weights), "{refused}");
}

/// Returns slopes of least squares with intercept on two columns, and their standard errors by the errors of
/// that fit.
fn two_slopes(a: &[f64], b: &[f64], y: &[f64]) -> ([f64; 2], [f64; 2]) {
    let n = y.len() as f64;
    let centered = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / n;
        x.iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (a, b, y) = (centered(a), centered(b), centered(y));
    let (aa, ab, bb, ay, by) = (dot(&a, &a), dot(&a, &b), dot(&b, &b), dot(&a, &y), dot(&b, &y));
    let determinant = aa * bb - ab * ab;
    let slopes = [(bb * ay - ab * by) / determinant, (aa * by - ab * ay) / determinant];
    let noise = (dot(&y, &y) - slopes[0] * ay - slopes[1] * by) / (n - 3.0);
    (slopes, [bb, aa].map(|own| (noise * own / determinant).sqrt()))
}

#[test]
fn estimates_are_least_squares_on_the_examples_since_the_last_change() {
    let rows = 1500;
    let (values, labels) = two_effects(rows, 71, uniform);
    let mut learner = PursuitParams::within(12, 6).build().unwrap();
    let source = Columns::new(12, values.clone(), labels.clone()).unwrap();
    let mut session = Session::new(source, Budget::PerExample(6), &Seed::root(72));
    let (mut support, mut changed, mut judged) = (Vec::new(), 0, 0);
    while session.ledger().examples < rows as u64 {
        let left = rows as u64 - session.ledger().examples;
        session.step(&mut learner, left).unwrap();
        let now = session.ledger().examples as usize;
        if learner.support() != support {
            (support, changed) = (learner.support().to_vec(), now);
        }
        let estimates = [3, 8].map(|j| learner.evidence(j).unwrap().estimate);
        assert!(learner.evidence(0).unwrap().estimate.is_none());
        if now < changed + 26 {
            assert_eq!(estimates, [None, None]);
        }
        let ([Some(first), Some(second)], [3, 8]) = (estimates, &*support) else { continue };
        // What was learned from: whole blocks.
        let last = changed + first.examples as usize;
        let column = |j: usize| &values[j * rows..][changed..last];
        let (slopes, errors) = two_slopes(column(3), column(8), &labels[changed..last]);
        for (estimate, (slope, error)) in [first, second].iter().zip(slopes.iter().zip(errors)) {
            // Means are those of all examples so far, and errors those of predictions made before.
            assert!((estimate.value - slope).abs() < 0.2 * error, "{estimate:?} {slope} {error}");
            assert!((0.8..1.3).contains(&(estimate.standard_error / error)), "{estimate:?} {error}");
            let [low, high] = estimate.interval();
            assert!(low < estimate.value && estimate.value < high);
            if let Some([from, to]) = estimate.anytime_interval() {
                assert!(from < low && high < to, "{estimate:?}");
                judged += 1;
            }
        }
    }
    assert!(judged > 100, "{judged}");
}

#[test]
fn with_gaps_estimates_rest_on_all_examples() {
    let mut learner = PursuitParams::within(12, 4).build().unwrap();
    with_gaps(&mut learner, 2000, |_| 0.3, |_, _| {});
    for j in [3, 8] {
        let known = learner.evidence(j).unwrap();
        let estimate = known.estimate.unwrap();
        assert_eq!((estimate.value, estimate.standard_error), (known.coefficient, known.standard_error));
        assert!(estimate.examples < 0.8 * 2000.0, "{estimate:?}");
    }
}

#[test]
fn an_attribute_that_did_not_vary_at_first_is_found() {
    // Attribute 5 is 1 in one example of fifteen: it does not vary among the first ten in every second run.
    let mut constant = 0;
    for seed in 0..20 {
        let (dim, values, labels) = raw(100 + seed, ROWS);
        constant += usize::from(values[5 * ROWS..][..10].iter().all(|x| *x == 0.0));
        let learner = learn(PursuitParams::within(dim, 6), values, labels);
        assert!(learner.support().contains(&5), "{:?} at seed {seed}", learner.support());
        // What is constant is looked at no more often than what has no effect.
        let looks = |j: u32| learner.evidence(j).unwrap().examples;
        let of_nulls = (6..12).map(looks).sum::<u64>() / 6;
        assert!(looks(0) < of_nulls, "{} of {of_nulls}", looks(0));
    }
    assert!(constant >= 5, "{constant}");
}
