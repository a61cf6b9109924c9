//! A stored state is not trusted: whatever a file holds, reading it is an error, or the learner works like
//! every other.
//!
//! Every leaf, list and map of every method's state is changed in some fifteen ways, at three ages. A learner
//! that can be read then asks and is told forty times.

use lao_algorithms::{AnyLearner, Growth, METHODS, Method, Money, Safeguarded, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    Ask, BlockBuf, Budget, Learner, Seed, Session, SessionError, SessionLimit, Source, SourceError, Tariff,
};
use lao_testing::{halt_above, take_refused};
use proptest::prelude::*;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

const DIM: usize = 30;
const BUDGET: usize = 8;
const STEPS: usize = 40;
/// The longest time of a run. Runs take about a millisecond, so one that takes longer never ends, however
/// busy the machine is.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest allocation, in bytes. No state in a file of some kilobytes needs more at once.
const MOST_BYTES: usize = 64 << 20;
/// The number of endless runs after which a method is given up, since each of them keeps using the processor.
const MOST_STUCK: usize = 3;

/// Panels of three neighbors, of which every fourth is free: any five cost at most 15.
fn money(dim: usize) -> Money {
    let panels = dim.div_ceil(3) as u32;
    let prices = (0..panels).map(|panel| f64::from(panel % 4)).collect();
    Money::new(Tariff::with_panels((0..dim as u32).map(|j| j / 3).collect(), prices).unwrap(), 16.0)
}

/// Returns whether many coordinates, and so trees of several levels, cost a method little.
fn is_linear(method: &Method) -> bool {
    method.growth == Growth::Linear
}

/// A method, whether it is behind a safeguard and whether attributes have prices, and the dimension of its
/// examples.
#[derive(Clone, Copy)]
struct Setting {
    method: &'static Method,
    safeguarded: bool,
    priced: bool,
    dim: usize,
}

/// A learner as a program keeps it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stored {
    Plain(Box<AnyLearner>),
    Safeguarded(Box<Safeguarded>),
}

impl Stored {
    fn learner(&self) -> &dyn Learner {
        match self {
            Stored::Plain(learner) => &**learner,
            Stored::Safeguarded(learner) => &**learner,
        }
    }
    fn learner_mut(&mut self) -> &mut dyn Learner {
        match self {
            Stored::Plain(learner) => &mut **learner,
            Stored::Safeguarded(learner) => &mut **learner,
        }
    }
}

/// Returns a method alone and, if it does not learn scales by itself, behind a safeguard.
fn both(method: &'static Method) -> impl Iterator<Item = (&'static Method, bool)> {
    [false, true].into_iter().filter(|guarded| !guarded || !method.learns_scales).map(move |g| (method, g))
}

impl Setting {
    fn task(&self) -> Task {
        let Setting { method, priced, dim, .. } = *self;
        let sparsity = if method.growth == Growth::Exponential { 2 } else { 4 };
        let money = priced.then(|| money(dim));
        Task { dim, sparsity, budget: BUDGET, speed: 0.8, money, ..Task::default() }
    }

    fn budget(&self) -> Budget {
        if self.priced { Budget::Priced { per_example: 16.0 } } else { (self.method.budget)(&self.task()) }
    }

    fn learner(&self) -> Stored {
        let task = self.task();
        if self.safeguarded {
            Stored::Safeguarded(Box::new(self.method.safeguarded(&task).unwrap()))
        } else {
            Stored::Plain(Box::new(self.method.build(&task).unwrap()))
        }
    }

    fn name(&self) -> String {
        let safeguarded = if self.safeguarded { "safeguarded " } else { "" };
        format!("{safeguarded}{}{}", self.method.name, if self.priced { " with prices" } else { "" })
    }

    fn session(&self) -> Session<Virtual<UniformAttributes>> {
        let theta = SparseVector::new(self.dim, vec![0, 7, 22], vec![1.0, -1.0, 0.5]).unwrap();
        let (design, seed) = (UniformAttributes::new(self.dim).unwrap(), Seed::root(7).child("data"));
        let source = Virtual::new(design, theta, Noise::Gaussian(0.1), &seed).unwrap();
        let session = Session::new(source, self.budget(), &Seed::root(3)).online();
        if self.priced { session.priced(money(self.dim).tariff).unwrap() } else { session }
    }

    /// Returns the learner when it is fresh, when it awaits an answer in the middle of an update, and when it
    /// is old.
    fn ages(&self) -> [(&'static str, Stored); 3] {
        let after = |examples| {
            let mut learner = self.learner();
            self.session()
                .run(learner.learner_mut(), SessionLimit::after_examples(examples), |_, _| {})
                .unwrap();
            learner
        };
        let mut waiting = after(37);
        waiting.learner_mut().ask(&mut Seed::root(4).rng(), &mut Ask::new(self.dim));
        [("fresh", after(0)), ("waiting", waiting), ("old", after(3000))]
    }
}

/// The path from a state's root to a part of it.
type Path = Vec<Step>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    Place(usize),
}

fn name(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Field(field) => format!(".{field}"),
        Step::Place(place) => format!("[{place}]"),
    };
    path.iter().map(step).collect()
}

/// Returns all parts of a state; of a long list, the entries at both ends and a few in between.
fn parts(state: &Value, rng: &mut lao_observation::Rng) -> Vec<Path> {
    let (mut parts, mut next) = (Vec::new(), vec![Path::new()]);
    while let Some(path) = next.pop() {
        match at(state, &path) {
            Value::Object(fields) => {
                next.extend(fields.keys().map(|field| [&path[..], &[Step::Field(field.clone())]].concat()));
            }
            Value::Array(entries) => {
                let end = entries.len();
                let mut places: BTreeSet<usize> = (0..end.min(6)).collect();
                if end > 6 {
                    places = [0, 1, end - 1].into_iter().collect();
                    places.extend((0..3).map(|_| rng.random_range(0..end)));
                }
                next.extend(places.into_iter().map(|place| [&path[..], &[Step::Place(place)]].concat()));
            }
            _ => {}
        }
        parts.push(path);
    }
    parts
}

fn at<'a>(state: &'a Value, path: &[Step]) -> &'a Value {
    path.iter().fold(state, |part, step| match step {
        Step::Field(field) => &part[field],
        Step::Place(place) => &part[place],
    })
}

fn at_mut<'a>(state: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(state, |part, step| match step {
        Step::Field(field) => &mut part[field],
        Step::Place(place) => &mut part[place],
    })
}

fn digits(value: f64) -> Value {
    Value::String(format!("{:016x}", value.to_bits()))
}

/// Returns the float whose bits a text holds.
fn float(text: &str) -> Option<f64> {
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| digits).map(f64::from_bits)
}

/// Returns the values that are tried in the place of a part.
fn changes(part: &Value) -> Vec<Value> {
    let mut changes = match part {
        Value::Array(entries) => lists(entries),
        Value::Object(fields) => maps(fields),
        Value::String(text) => match float(text) {
            Some(value) => floats(value),
            None => ["", "x", "unbiased", "observed", "aer", "ridge"].map(Value::from).to_vec(),
        },
        Value::Number(number) => integers(number.as_u64().unwrap_or_default()),
        Value::Bool(value) => vec![json!(!value), json!(0), json!(2)],
        Value::Null => vec![json!(0), json!(false), digits(1.0), digits(-1.0), digits(1e308)],
    };
    changes.extend([json!(null), json!("strange"), json!([]), json!({}), json!(-1), json!(2.5)]);
    changes.retain(|change| change != part);
    changes
}

fn floats(value: f64) -> Vec<Value> {
    let next = |step: i64| f64::from_bits((value.to_bits() as i64).wrapping_add(step) as u64);
    let fixed = [
        0.0,
        1.0,
        -1.0,
        1e308,
        -1e308,
        1e150,
        1e16,
        1e-150,
        5e-324,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
    ];
    let relative = [-value, next(1), next(-1), 2.0 * value, 0.5 * value, value + 1.0];
    fixed.into_iter().chain(relative).map(digits).chain([json!(0), json!("3fb99999"), json!(1e308)]).collect()
}

fn integers(value: u64) -> Vec<Value> {
    let most = u64::from(u32::MAX);
    let dim = DIM as u64;
    let fixed = [0, 1, 2, 7, dim - 1, dim, dim + 1, most - 1, most, most + 1, 1 << 53, u64::MAX];
    let relative = [value.wrapping_add(1), value.wrapping_sub(1), value.wrapping_mul(2), value / 2];
    fixed.into_iter().chain(relative).map(Value::from).chain([json!(i64::MIN), json!(1e300)]).collect()
}

fn lists(entries: &[Value]) -> Vec<Value> {
    let end = entries.len();
    let without = |place: usize| [&entries[..place], &entries[place + 1..]].concat();
    let mut changes: Vec<Vec<Value>> = Vec::new();
    if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
        changes.extend([without(0), without(end / 2), without(end - 1), vec![first.clone()]]);
        changes.push(entries.iter().rev().cloned().collect());
        changes.push([&entries[1..], &entries[..1]].concat());
        changes.push([&entries[..1], entries].concat());
        changes.push([entries, &entries[end - 1..]].concat());
        changes.push([entries, entries].concat());
        changes.push(vec![first.clone(); end]);
        changes.push(vec![last.clone(); end]);
        changes.push(entries.iter().cycle().take(100 * end).cloned().collect());
    }
    let foreign = [json!(0), json!(DIM), json!(u32::MAX), digits(1.0), json!([0, 0]), json!(null)];
    changes.extend(foreign.map(|entry| [entries, &[entry]].concat()));
    changes.into_iter().map(Value::Array).collect()
}

fn maps(fields: &Map<String, Value>) -> Vec<Value> {
    let without = |field: &String| {
        let mut fields = fields.clone();
        fields.remove(field);
        fields
    };
    let mut changes: Vec<Map<String, Value>> = fields.keys().map(without).collect();
    for (one, first) in fields {
        // Parts of the same kind are exchanged.
        for (other, second) in fields.iter().filter(|(other, second)| *other > one && *second != first) {
            let mut swapped = fields.clone();
            swapped.insert(one.clone(), second.clone());
            swapped.insert(other.clone(), first.clone());
            changes.push(swapped);
        }
    }
    changes.into_iter().map(Value::Object).collect()
}

fn all_finite(learner: &dyn Learner) -> Result<(), String> {
    let theta = learner.coefficients();
    let strange = theta.iter().find(|(_, value)| !value.is_finite());
    strange.map_or(Ok(()), |(j, value)| Err(format!("coefficient {j} became {value}")))
}

/// Reads a state and, if it can be read, lets the learner continue.
fn goes_on(setting: Setting, state: &Value) -> Result<(), String> {
    let mut learner = match Stored::deserialize(state) {
        Ok(learner) => learner,
        Err(error) if error.to_string().is_empty() => return Err("refused without a word".into()),
        Err(_) => return Ok(()),
    };
    let mut session = setting.session();
    let cap = if setting.priced { setting.dim } else { setting.budget().cap(setting.dim) };
    for _ in 0..STEPS {
        // A large batch is served in pieces, of which a few are enough.
        let step = session.step(learner.learner_mut(), 32);
        all_finite(learner.learner())?;
        let seen = session.ledger().most_attributes;
        if seen > cap {
            return Err(format!("{seen} attributes of an example were seen, but the budget is {cap}"));
        }
        match step {
            Ok(_) => {}
            Err(error) if error.to_string().is_empty() => return Err("an error without a word".into()),
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// A thread that tries changes of a state, and can be left behind when it is stuck.
struct Worker {
    changes: Sender<(Path, Value)>,
    findings: Receiver<Result<(), String>>,
}

impl Worker {
    fn new(setting: Setting, mut state: Value) -> Self {
        let ((changes, inbox), (outbox, findings)) = (channel::<(Path, Value)>(), channel());
        std::thread::spawn(move || {
            halt_above(MOST_BYTES);
            for (path, change) in inbox {
                let kept = std::mem::replace(at_mut(&mut state, &path), change);
                let finding = catch_unwind(AssertUnwindSafe(|| goes_on(setting, &state)));
                *at_mut(&mut state, &path) = kept;
                let finding = finding.unwrap_or_else(|panic| {
                    let text = panic.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
                    Err(format!("panicked: {}", text.unwrap_or_default()))
                });
                if outbox.send(finding).is_err() {
                    return;
                }
            }
        });
        Worker { changes, findings }
    }

    /// Returns the result, or `None` when the thread is stuck.
    fn try_change(&self, path: &[Step], change: Value) -> Option<Result<(), String>> {
        self.changes.send((path.to_vec(), change)).unwrap();
        match self.findings.recv_timeout(PATIENCE) {
            Ok(finding) => Some(finding),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err("the thread ended".into())),
        }
    }
}

/// Returns the findings of a method, and the number of changed states that it was tried with.
fn findings(setting: Setting) -> (Vec<String>, usize) {
    let (mut findings, mut tried, mut stuck) = (Vec::new(), 0, 0);
    let mut rng = Seed::root(10).child(&setting.name()).rng();
    for (age, learner) in setting.ages() {
        let state = serde_json::to_value(&learner).unwrap();
        let mut worker = Worker::new(setting, state.clone());
        for path in parts(&state, &mut rng) {
            for change in changes(at(&state, &path)) {
                let label = || {
                    let text: String = change.to_string().chars().take(100).collect();
                    format!("{age}, state{} = {text}", name(&path))
                };
                tried += 1;
                match worker.try_change(&path, change.clone()) {
                    Some(Ok(())) => {}
                    Some(Err(finding)) => findings.push(format!("{}: {finding}", label())),
                    None => {
                        let bytes = take_refused();
                        let why = if bytes > 0 { format!("{bytes} bytes at once") } else { "no end".into() };
                        findings.push(format!("{}: {why}", label()));
                        worker = Worker::new(setting, state.clone());
                        stuck += 1;
                    }
                }
                if stuck == MOST_STUCK {
                    return (findings, tried);
                }
            }
        }
    }
    (findings, tried)
}

fn changed_states_are_refused_or_go_on(settings: &[Setting]) {
    let by_method: BTreeMap<String, _> = std::thread::scope(|scope| {
        let find = |setting: Setting| (setting, findings(setting));
        let half = |odd: usize| settings.iter().skip(odd).step_by(2).copied();
        let run = |odd| scope.spawn(move || half(odd).map(find).collect());
        let runs: [std::thread::ScopedJoinHandle<'_, Vec<_>>; 2] = [run(0), run(1)];
        let all = runs.into_iter().flat_map(|run| run.join().unwrap());
        all.map(|(setting, findings)| (setting.name(), findings)).collect()
    });
    let mut report = String::new();
    for (name, (findings, tried)) in &by_method {
        assert!(*tried > 500 || !findings.is_empty(), "{name} was tried with {tried} states only");
        if !findings.is_empty() {
            let first = findings.iter().take(12).map(|finding| format!("  {finding}\n")).collect::<String>();
            report += &format!("{name}: {} of {tried} changed states\n{first}", findings.len());
        }
    }
    assert_eq!(by_method.len(), settings.len());
    assert!(report.is_empty(), "states that were neither refused nor went on:\n{report}");
}

#[test]
fn a_changed_state_is_refused_or_goes_on() {
    let all = METHODS.iter().map(|method| Setting { method, safeguarded: false, priced: false, dim: DIM });
    changed_states_are_refused_or_go_on(&all.collect::<Vec<_>>());
}

#[test]
fn a_changed_state_of_many_coordinates_is_refused_or_goes_on() {
    let linear = METHODS.iter().filter(|method| is_linear(method));
    // A sum tree of more than 512 coordinates has all its levels.
    let linear = linear.map(|method| Setting { method, safeguarded: false, priced: false, dim: 520 });
    changed_states_are_refused_or_go_on(&linear.collect::<Vec<_>>());
}

#[test]
fn a_changed_state_of_a_safeguard_is_refused_or_goes_on() {
    // One method for each kind of ask, and of test.
    let kinds = ["hybrid", "aer", "rda2"].map(|name| lao_algorithms::registry::method(name).unwrap());
    changed_states_are_refused_or_go_on(&kinds.map(|method| Setting {
        method,
        safeguarded: true,
        priced: false,
        dim: DIM,
    }));
}

/// The settings in which attributes have prices.
fn priced() -> impl Iterator<Item = Setting> {
    let rows = METHODS.iter().filter(|method| method.prices);
    let setting = |method, safeguarded| Setting { method, safeguarded, priced: true, dim: DIM };
    rows.flat_map(both).map(move |(method, safeguarded)| setting(method, safeguarded))
}

#[test]
fn a_changed_state_with_prices_is_refused_or_goes_on() {
    changed_states_are_refused_or_go_on(&priced().collect::<Vec<_>>());
}

/// Returns whether a state holds a decimal number, which a reader might round.
fn holds_decimals(state: &Value) -> bool {
    match state {
        Value::Number(number) => number.is_f64(),
        Value::Array(entries) => entries.iter().any(holds_decimals),
        Value::Object(fields) => fields.values().any(holds_decimals),
        _ => false,
    }
}

fn bits(theta: SparseView<'_>) -> (Vec<u32>, Vec<u64>) {
    (theta.indices().to_vec(), theta.values().iter().map(|value| value.to_bits()).collect())
}

#[test]
fn a_state_is_stored_without_decimals_and_read_with_the_same_bits() {
    let mut failures = Vec::new();
    let settings = METHODS.iter().flat_map(both).map(|(method, safeguarded)| Setting {
        method,
        safeguarded,
        priced: false,
        dim: DIM,
    });
    for setting in settings.chain(priced()) {
        for (age, learner) in setting.ages() {
            let text = serde_json::to_string(&learner).unwrap();
            if holds_decimals(&serde_json::from_str(&text).unwrap()) {
                failures.push(format!("{}, {age}: decimal numbers are stored", setting.name()));
                continue;
            }
            let mut read: Stored = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text, "{}, {age}", setting.name());
            let mut learner = learner;
            for learner in [&mut learner, &mut read] {
                let limit = SessionLimit::after_examples(500);
                setting.session().run(learner.learner_mut(), limit, |_, _| {}).unwrap();
            }
            let (read, learner) = (read.learner().coefficients(), learner.learner().coefficients());
            assert_eq!(bits(read), bits(learner), "{}, {age}", setting.name());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Examples whose attributes and labels have any scale and, with jumps, change the scale every hundred
/// examples.
struct Wild {
    dim: usize,
    attributes: f64,
    labels: f64,
    jumps: Option<f64>,
    seed: Seed,
    position: u64,
}

impl Source for Wild {
    fn dim(&self) -> usize {
        self.dim
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.capacity();
        for row in 0..rows {
            let mut rng = self.seed.trial(self.position).rng();
            let jump = self.jumps.filter(|_| self.position / 100 % 2 == 1).unwrap_or(1.0);
            let x: Vec<f64> = (0..self.dim).map(|_| rng.random_range(-1.0..1.0)).collect();
            for (c, &j) in attributes.iter().enumerate() {
                block.column_mut(c)[row] = self.attributes * x[j as usize];
            }
            block.labels_mut()[row] = jump * self.labels * (x[0] - 0.5 * x[self.dim - 1]);
            self.position += 1;
        }
        block.set_rows(rows);
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.position
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.position = position;
        Ok(())
    }
}

fn reads_back(learner: &Stored) -> Result<(), String> {
    let text = serde_json::to_string(learner).unwrap();
    let read: Stored = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if serde_json::to_string(&read).unwrap() == text { Ok(()) } else { Err("read with other bits".into()) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_state_that_a_run_leads_to_is_never_refused(
        wide in prop::bool::weighted(0.2), step in -9.0..4.0, radius in -20.0..20.0, attributes in -3.0..3.0,
        labels in -20.0..60.0, jumps in prop_oneof![Just(None), (-60.0..60.0).prop_map(Some)], seed: u64,
    ) {
        for (method, safeguarded) in METHODS.iter().flat_map(both) {
            let dim = if wide && is_linear(method) { 1100 } else { DIM };
            let (speed, radius) = (4.0 * 10f64.powf(step), Some(10f64.powf(radius)));
            let setting = Setting { method, safeguarded, priced: false, dim };
            let known = Task { speed, radius, ..setting.task() };
            let built = if safeguarded {
                method.safeguarded(&known).map(|learner| Stored::Safeguarded(Box::new(learner)))
            } else {
                method.build(&known).map(|learner| Stored::Plain(Box::new(learner)))
            };
            let Ok(mut learner) = built else { continue };
            let source = Wild {
                dim,
                attributes: 10f64.powf(attributes),
                labels: 10f64.powf(labels),
                jumps: jumps.map(|jump| 10f64.powf(jump)),
                seed: Seed::root(seed).child("data"),
                position: 0,
            };
            let mut session = Session::new(source, (method.budget)(&known), &Seed::root(seed));
            let mut rng = Seed::root(seed).child("places").rng();
            for _ in 0..30 {
                let until = session.ledger().examples + rng.random_range(1..30);
                let limit = SessionLimit::after_examples(until);
                let outcome = session.run(learner.learner_mut(), limit, |_, _| {});
                let read = reads_back(&learner);
                prop_assert!(read.is_ok(), "{} after {} examples, {outcome:?}: {read:?}", method.name, until);
                let mut waiting = learner.clone();
                waiting.learner_mut().ask(&mut rng, &mut Ask::new(dim));
                let read = reads_back(&waiting);
                prop_assert!(read.is_ok(), "{} waiting after {} examples: {read:?}", method.name, until);
                match outcome {
                    Ok(_) => {}
                    Err(SessionError::Learn(_) | SessionError::Source(_)) => break,
                    Err(error) => prop_assert!(false, "{}: {error}", method.name),
                }
            }
        }
    }
}
