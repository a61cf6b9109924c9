//! Answers to a learner are not trusted. An answer to another ask, or with a number that is too large or not
//! finite, is an error and leaves the learner unchanged, even if it is told without a session.

use lao_algorithms::baselines::FkkParams;
use lao_algorithms::{AnyLearner, Growth, METHODS, Method, Task};
use lao_kernels::SparseVector;
use lao_observation::{Ask, BlockBuf, Budget, GradientSum, LearnError, Learner, Request, Rng, Seed, Told};
use rand::RngExt;

const DIM: usize = 23;

/// Numbers that are not finite, and numbers near the largest finite one.
const STRANGE: [f64; 5] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308];

fn task(method: &Method) -> Task {
    let sparsity = if method.growth == Growth::Exponential { 2 } else { 4 };
    Task { dim: DIM, sparsity, budget: 9, speed: 0.8, ..Task::default() }
}

fn learner(method: &Method) -> AnyLearner {
    let task = task(method);
    method.build(&task).unwrap_or_else(|error| panic!("{}: {error}", method.name))
}

/// An answer, right or wrong.
#[derive(Clone, Debug)]
enum Answer {
    Values { attributes: Vec<u32>, rows: Vec<Vec<f64>>, labels: Vec<f64> },
    Gradient { attributes: Vec<u32>, sum: Vec<f64>, examples: u64 },
}

impl Answer {
    /// Returns a right answer to the next ask of `learner`: values of all examples, or a gradient sum of at
    /// most 10.
    fn to(learner: &mut AnyLearner, rng: &mut Rng) -> Option<Answer> {
        let mut ask = Ask::new(DIM);
        learner.ask(rng, &mut ask);
        let mut number = || rng.random_range(-1.0..1.0);
        match ask.request() {
            Request::Nothing => None,
            Request::Values { attributes, examples } => {
                let (mut rows, mut labels) = (Vec::new(), Vec::new());
                for _ in 0..examples {
                    let mut example = [0.0; DIM];
                    example.fill_with(&mut number);
                    rows.push(attributes.iter().map(|&j| example[j as usize]).collect());
                    labels.push(number());
                }
                Some(Answer::Values { attributes: attributes.to_vec(), rows, labels })
            }
            Request::Gradient { attributes, examples, .. } => {
                let sum = attributes.iter().map(|_| number()).collect();
                Some(Answer::Gradient { attributes: attributes.to_vec(), sum, examples: examples.min(10) })
            }
        }
    }

    fn tell(&self, learner: &mut AnyLearner) -> Result<(), LearnError> {
        match self {
            Answer::Values { attributes, rows, labels } => {
                let mut block = BlockBuf::new();
                block.reset(attributes.len(), rows.len());
                for (r, row) in rows.iter().enumerate() {
                    row.iter().enumerate().for_each(|(c, &value)| block.column_mut(c)[r] = value);
                }
                block.labels_mut().copy_from_slice(labels);
                block.set_rows(rows.len());
                learner.tell(Told::Values(block.view(attributes)))
            }
            Answer::Gradient { attributes, sum, examples } => {
                learner.tell(Told::Gradient(GradientSum { attributes, sum, examples: *examples }))
            }
        }
    }

    /// Returns copies of the answer with one number out of scale, each in turn, and the name of this number.
    fn out_of_scale(&self) -> Vec<(String, f64, Answer)> {
        let mut answers = Vec::new();
        for strange in STRANGE {
            match self {
                Answer::Values { attributes, rows, labels } => {
                    let mut with = |name: String, rows: Vec<Vec<f64>>, labels: Vec<f64>| {
                        let attributes = attributes.clone();
                        answers.push((name, strange, Answer::Values { attributes, rows, labels }));
                    };
                    let mut others = labels.clone();
                    others[0] = strange;
                    with("label".into(), rows.clone(), others);
                    for (c, j) in attributes.iter().enumerate() {
                        let mut rows = rows.clone();
                        // An attribute that was drawn twice has the same value in both places.
                        for (value, _) in rows[0].iter_mut().zip(attributes).filter(|(_, other)| *other == j)
                        {
                            *value = strange;
                        }
                        with(format!("attribute {j} at place {c}"), rows, labels.clone());
                    }
                }
                Answer::Gradient { attributes, sum, examples } => {
                    for (c, j) in attributes.iter().enumerate() {
                        let (attributes, mut sum, examples) = (attributes.clone(), sum.clone(), *examples);
                        sum[c] = strange;
                        let answer = Answer::Gradient { attributes, sum, examples };
                        answers.push((format!("sum of {j}"), strange, answer));
                    }
                }
            }
        }
        answers
    }

    /// Returns answers to other asks.
    fn to_others(&self) -> Vec<(&'static str, Answer)> {
        let (short, long) = (vec![0], (0..DIM as u32 - 1).collect::<Vec<_>>());
        let values = |attributes: &[u32], rows: usize| Answer::Values {
            attributes: attributes.to_vec(),
            rows: vec![vec![0.5; attributes.len()]; rows],
            labels: vec![0.5; rows],
        };
        let gradient = |attributes: &[u32], sums: usize, examples| Answer::Gradient {
            attributes: attributes.to_vec(),
            sum: vec![0.5; sums],
            examples,
        };
        match self {
            Answer::Values { attributes, labels, .. } => {
                let last = attributes.len() - 1;
                let moved = |by: u32| attributes.iter().map(|j| j + by).collect::<Vec<_>>();
                let mut reversed = attributes.clone();
                reversed.reverse();
                vec![
                    ("a gradient sum", gradient(attributes, attributes.len(), 1)),
                    ("no attributes", values(&[], 1)),
                    ("one attribute", values(&short, 1)),
                    ("nearly all attributes", values(&long, 1)),
                    ("one attribute less", values(&attributes[..last], 1)),
                    ("one attribute more", values(&[&attributes[..], &[DIM as u32 - 1]].concat(), 1)),
                    ("the attributes beside them", values(&moved(1), 1)),
                    ("attributes out of range", values(&moved(DIM as u32), 1)),
                    ("attributes in another order", values(&reversed, 1)),
                    ("an example more", values(attributes, labels.len() + 1)),
                    ("no example", values(attributes, 0)),
                ]
            }
            Answer::Gradient { attributes, .. } => {
                let (last, most) = (attributes.len() - 1, u64::MAX);
                let moved = |by: u32| attributes.iter().map(|j| j + by).collect::<Vec<_>>();
                vec![
                    ("values", values(attributes, 1)),
                    ("no coordinates", gradient(&[], 0, 1)),
                    ("one coordinate less", gradient(&attributes[..last], last, 1)),
                    ("one sum less", gradient(attributes, last, 1)),
                    ("one sum more", gradient(attributes, last + 2, 1)),
                    ("the coordinates beside them", gradient(&moved(1), last + 1, 1)),
                    ("coordinates out of range", gradient(&moved(DIM as u32), last + 1, 1)),
                    ("no examples", gradient(attributes, last + 1, 0)),
                    ("far too many examples", gradient(attributes, last + 1, most)),
                ]
            }
        }
    }
}

/// Returns everything that a learner stores.
fn state(learner: &AnyLearner) -> String {
    serde_json::to_string(learner).unwrap()
}

fn all_finite(learner: &AnyLearner) -> bool {
    learner.coefficients().values().iter().all(|value| value.is_finite())
}

/// Tells `learner` right answers.
fn go_on(learner: &mut AnyLearner, answers: usize, rng: &mut Rng) {
    for _ in 0..answers {
        let Some(answer) = Answer::to(learner, rng) else { return };
        answer.tell(learner).unwrap();
    }
}

/// The ages at which learners get wrong answers, counted in right answers.
const AGES: [usize; 4] = [0, 1, 57, 400];

/// Calls `check` with every method's learner at several ages and the right answer to its ask, and reports the
/// findings of all methods.
fn for_every_method(check: impl Fn(&Method, &AnyLearner, &Answer) -> Result<(), String>) {
    assert!(!METHODS.is_empty());
    let of = |method: &Method| {
        AGES.into_iter().try_for_each(|age| {
            let (mut learner, mut rng) = (learner(method), Seed::root(11).child(method.name).rng());
            go_on(&mut learner, age, &mut rng);
            let answer = Answer::to(&mut learner, &mut rng).unwrap();
            check(method, &learner, &answer).map_err(|what| format!("{} at age {age}: {what}", method.name))
        })
    };
    let findings: Vec<String> = METHODS.iter().filter_map(|method| of(method).err()).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn ensure(ok: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if ok { Ok(()) } else { Err(what()) }
}

/// Checks that a learner that got a wrong answer is in the state before it, and continues with the same bits.
fn left_no_trace(told: &AnyLearner, learner: &AnyLearner, answer: &Answer) -> Result<(), String> {
    ensure(state(told) == state(learner), || format!("the state is another: {}", state(told)))?;
    ensure(later(told, answer) == later(learner, answer), || "it goes on with other bits".into())
}

/// Returns the state of a copy of `learner` after the right answer and some more.
fn later(learner: &AnyLearner, answer: &Answer) -> Vec<u64> {
    let mut learner = learner.clone();
    answer.tell(&mut learner).unwrap();
    go_on(&mut learner, 30, &mut Seed::root(12).rng());
    learner.coefficients().to_dense().into_iter().map(f64::to_bits).collect()
}

#[test]
fn numbers_out_of_scale_are_refused_and_leave_no_trace() {
    for_every_method(|_, learner, answer| {
        for (what, number, strange) in answer.out_of_scale() {
            let mut told = learner.clone();
            let ended = strange.tell(&mut told);
            let named = match &ended {
                // A large number may meet a weight of zero.
                Ok(()) if number.is_finite() => all_finite(&told),
                // NaN is a value that is missing to a learner that takes gaps.
                Ok(()) => number.is_nan() && learner.takes_gaps() && what.starts_with("attribute"),
                Err(LearnError::NotFinite { attribute, value }) => {
                    let named = attribute.map_or("label".into(), |j| format!("attribute {j} at"));
                    !number.is_finite() && !value.is_finite() && what.starts_with(&named)
                }
                Err(LearnError::Diverged { attribute, .. }) => *attribute < DIM,
                Err(_) => false,
            };
            ensure(named, || format!("{what} is {number}: {ended:?}"))?;
            if ended.is_err() {
                left_no_trace(&told, learner, answer).map_err(|why| format!("{what} is {number}: {why}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn answers_to_other_asks_are_refused_and_leave_no_trace() {
    for_every_method(|_, learner, answer| {
        for (what, other) in answer.to_others() {
            let mut told = learner.clone();
            let ended = other.tell(&mut told);
            ensure(matches!(ended, Err(LearnError::NotAsked { .. })), || format!("told {what}: {ended:?}"))?;
            left_no_trace(&told, learner, answer).map_err(|why| format!("told {what}: {why}"))?;
        }
        Ok(())
    });
}

#[test]
fn one_answer_is_taken_once() {
    for_every_method(|method, learner, answer| {
        let mut told = learner.clone();
        answer.tell(&mut told).unwrap();
        let once = told.clone();
        // A gradient sum may be one of several pieces, and methods with full information ask for the same
        // attributes every time.
        let sees_all = (method.budget)(&task(method)) == Budget::Unlimited;
        if matches!(answer, Answer::Gradient { .. }) || sees_all {
            return Ok(());
        }
        let again = answer.tell(&mut told);
        ensure(matches!(again, Err(LearnError::NotAsked { .. })), || format!("told again: {again:?}"))?;
        ensure(state(&told) == state(&once), || "told again: the state is another".into())
    });
}

#[test]
fn numbers_stay_finite_however_often_labels_are_large() {
    // Weights keep falling, so without a lower bound FKK's logarithms would become infinite.
    let of = |method: &Method, size: f64| {
        let (mut learner, mut rng) = (learner(method), Seed::root(13).rng());
        for _ in 0..3000 {
            let Some(mut answer) = Answer::to(&mut learner, &mut rng) else { break };
            match &mut answer {
                Answer::Values { labels, .. } => labels[0] *= size,
                Answer::Gradient { sum, .. } => sum.iter_mut().for_each(|sum| *sum *= size),
            }
            let before = state(&learner);
            if let Err(error) = answer.tell(&mut learner) {
                ensure(matches!(error, LearnError::Diverged { .. }), || error.to_string())?;
                ensure(state(&learner) == before, || format!("{error}: the state is another"))?;
                break;
            }
            ensure(all_finite(&learner), || "a coefficient is not finite".into())?;
        }
        let read = serde_json::from_str::<AnyLearner>(&state(&learner));
        read.map(|_| ()).map_err(|error| format!("the state cannot be read: {error}"))
    };
    let mut findings = Vec::new();
    for method in METHODS {
        for size in [1e3, 1e20, 1e70, 1e120, 1e150, 1e153] {
            findings.extend(of(method, size).err().map(|why| format!("{} at {size}: {why}", method.name)));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn an_exploitation_of_nothing_takes_an_empty_sum() {
    let start = SparseVector::zeros(DIM);
    let params = lao_algorithms::murata_suzuki::ExploitationParams::practical(&Task {
        dim: 0,
        budget: 4,
        speed: 0.4,
        start: Some(start),
        ..Task::default()
    })
    .unwrap();
    let mut learner = AnyLearner::Exploitation(params.build().unwrap());
    let answer = Answer::Gradient { attributes: vec![], sum: vec![], examples: 20 };
    answer.tell(&mut learner).unwrap();
    assert_eq!(learner.updates(), 1);
}

#[test]
fn logarithms_of_weights_stay_numbers_however_far_they_fall() {
    // Attribute 0 explains the label and the others are 0, so that all other supports lose, round after
    // round.
    let mut taken = 0;
    for hedge_rate in [1e3, 1e4, 3e4, 1e5, 3e5, 1e6] {
        let params = FkkParams { dim: 8, sparsity: 1, budget: 3, hedge_rate, step_size: 0.1, radius: 1e150 };
        let mut learner = AnyLearner::Fkk(params.build().unwrap());
        let mut rng = Seed::root(14).rng();
        for _ in 0..20_000 {
            let Some(mut answer) = Answer::to(&mut learner, &mut rng) else { break };
            let Answer::Values { attributes, rows, labels } = &mut answer else { panic!("values") };
            rows[0] = attributes.iter().map(|&j| if j == 0 { 0.9 } else { 0.0 }).collect();
            labels[0] = 1e150;
            taken += u32::from(answer.tell(&mut learner).is_ok());
            let AnyLearner::Fkk(fkk) = &learner else { panic!("another learner") };
            assert!(
                fkk.log_weights().iter().all(|log| log.is_finite()),
                "{hedge_rate}: {:?}",
                fkk.log_weights()
            );
            assert!(all_finite(&learner), "{hedge_rate}");
        }
    }
    assert!(taken > 2000, "{taken}");
}
