//! Stored states, parameters and checkpoints of every method, changed at random in several places at once.
//!
//! A changed state must be refused, or work like every learner: without a panic or an endless loop, with
//! finite coefficients, and within the budget of each example. `stored_states.rs` changes one part at a time,
//! in order; here several parts are changed together, and so is the text. `LAO_FUZZ_CASES` sets the number of
//! cases (2000 by default). For a long run: `LAO_FUZZ_CASES=1000000 cargo test --release --test algorithms
//! fuzz -- --nocapture`. A case is named by its number, and the same number is always the same case.

use crate::targets::{BUDGET, DIM, checkpoint, parameters, source, state, task};
use lao_algorithms::{AnyParams, METHODS, Method};
use lao_observation::{Ask, Budget, Learner, Rng, Seed, Session, SessionLimit};
use rand::RngExt;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest time of a case. Cases take far less than a millisecond, so one that takes longer never ends,
/// however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);

fn cases() -> u64 {
    let set = std::env::var("LAO_FUZZ_CASES").ok();
    set.map_or(2000, |text| text.parse().expect("LAO_FUZZ_CASES must be a whole number"))
}

/// Returns the state of a learner when it is fresh, when it awaits an answer, and when it is old.
fn states(method: &Method) -> Vec<Value> {
    let after = |examples| {
        let mut learner = method.build(&task()).unwrap();
        let mut session = Session::new(source(DIM), Budget::Unlimited, &Seed::root(3));
        session.run(&mut learner, SessionLimit::after_examples(examples), |_, _| {}).unwrap();
        learner
    };
    let mut waiting = after(37);
    waiting.ask(&mut Seed::root(4).rng(), &mut Ask::new(DIM));
    let values = [after(0), waiting, after(1500)].map(|learner| serde_json::to_value(&learner).unwrap());
    values.into()
}

/// Returns parameters of every method, those of its row and others that files may hold.
fn all_parameters() -> Vec<Value> {
    let parse = |text: &str| serde_json::from_str(text).unwrap();
    let files = [
        r#"{"method":"exploration","dim":12,"sparsity":2,"budget":6,"step_size":0.1,"batch":{"geometric":{"first":8,"growth":1.2}},"updates":null,"start":{"dim":12,"indices":[1],"values":[0.5]}}"#,
        r#"{"method":"exploitation","start":{"dim":12,"indices":[1,4],"values":[0.5,0.0]},"budget":6,"step_size":0.1,"batch":{"constant":8},"updates":9}"#,
        r#"{"method":"hybrid","dim":12,"sparsity":2,"budget":6,"step_size":0.1,"explore_updates":1,"explore_batch":{"constant":5},"exploit_updates":2,"exploit_batch":{"listed":[4,9]},"stages":3,"start":null}"#,
        r#"{"method":"naive","dim":12,"sparsity":2,"budget":6,"step_size":{"inverse":{"c":1.5,"offset":20}},"start":null}"#,
        r#"{"method":"aerr","dim":12,"draws":5,"radius":2,"step_size":0.01,"start":{"dim":12,"indices":[1],"values":[0.5]},"prediction":"observed"}"#,
        r#"{"method":"aelr","dim":12,"draws":5,"radius":2,"step_size":0.01,"prediction":"unbiased"}"#,
        r#"{"method":"aesvr","dim":12,"draws":3,"radius":2,"step_size":0.01,"insensitivity":0.1,"smoothing":4,"repetitions":2,"reads_zeros":true}"#,
        r#"{"method":"aer","dim":12,"uniform":3,"weighted":3,"regularization":2,"radius":2,"burn_in":5,"prediction":"unbiased"}"#,
        r#"{"method":"rda1","dim":12,"budget":6,"kept":2,"regularization":{"scale":2,"power":0.5},"radius":2}"#,
        r#"{"method":"rda2","dim":12,"budget":6,"explore":{"scale":2,"power":0.5},"exploit":{"scale":2,"power":0.5},"radius":2}"#,
        r#"{"method":"rda3","dim":12,"budget":6,"explore":{"scale":2,"power":0.5},"exploit":{"scale":2,"power":0.5},"radius":2,"penalty":0.1}"#,
        r#"{"method":"greedy","dim":12,"budget":6,"regularization":{"scale":2,"power":0.5},"radius":2}"#,
        r#"{"method":"uniform","dim":12,"budget":6,"regularization":{"scale":2,"power":0.5},"radius":2}"#,
        r#"{"method":"dantzig","dim":12,"sparsity":2,"budget":6,"predicts":true,"scale":0.1,"noise":0,"examples":20}"#,
        r#"{"method":"fkk","dim":12,"sparsity":2,"budget":6,"hedge_rate":0.1,"step_size":0.01,"radius":2}"#,
        r#"{"method":"online","dim":12,"ball":"ridge","radius":2,"step_size":0.01}"#,
    ];
    let of_row = |method: &Method| serde_json::to_value((method.params)(&task()).unwrap()).unwrap();
    METHODS.iter().map(of_row).chain(files.map(parse)).collect()
}

/// Returns a number, or a value in the place of one, for a change.
fn number(rng: &mut Rng) -> Value {
    const FLOATS: [f64; 14] =
        [0.0, -0.0, 1.0, -1.0, 0.1, 1e308, -1e308, 1e150, 1e-150, 5e-324, 1e16, f64::NAN, f64::INFINITY, 3e5];
    const INTEGERS: [u64; 12] = [0, 1, 2, 5, 11, 12, 13, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 53, u64::MAX];
    match rng.random_range(0..4) {
        0 => Value::from(INTEGERS[rng.random_range(0..INTEGERS.len())]),
        1 => Value::from(rng.random_range(0..40u64)),
        2 => Value::from(FLOATS[rng.random_range(0..FLOATS.len())]),
        _ => {
            let bits = match rng.random_range(0..3) {
                0 => rng.random::<u64>(),
                1 => FLOATS[rng.random_range(0..FLOATS.len())].to_bits(),
                _ => (rng.random::<f64>() * 4.0 - 2.0).to_bits(),
            };
            Value::from(format!("{bits:016x}"))
        }
    }
}

/// Changes one part, which is found by descending at random.
fn change(part: &mut Value, rng: &mut Rng) {
    let go_down = rng.random_range(0..8) > 0;
    match part {
        Value::Object(fields) if !fields.is_empty() => {
            let at = rng.random_range(0..fields.len());
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            if go_down {
                fields.get_mut(&name).into_iter().for_each(|part| change(part, rng));
            } else {
                fields.remove(&name);
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            let (at, other) = (rng.random_range(0..entries.len()), rng.random_range(0..entries.len()));
            if go_down {
                return change(&mut entries[at], rng);
            }
            match rng.random_range(0..6) {
                0 => drop(entries.remove(at)),
                1 => entries.insert(at, entries[other].clone()),
                2 => entries.swap(at, other),
                3 => entries.truncate(at),
                4 => entries.push(number(rng)),
                _ => *part = number(rng),
            }
        }
        Value::Bool(flag) if go_down => *flag = !*flag,
        Value::String(digits) if go_down && digits.len() == 16 => {
            // One bit of the number is flipped.
            let bits = u64::from_str_radix(digits, 16).unwrap_or_default() ^ (1 << rng.random_range(0..64));
            *digits = format!("{bits:016x}");
        }
        Value::Number(old) if go_down && old.is_u64() => {
            let old = old.as_u64().unwrap_or_default();
            *part = Value::from(old.wrapping_add(rng.random_range(0..5)).wrapping_sub(2));
        }
        _ => *part = if rng.random_range(0..6) == 0 { Value::Null } else { number(rng) },
    }
}

/// Changes the text, which is ASCII, into one that no program writes.
fn scribble(text: &mut String, rng: &mut Rng) {
    let at = rng.random_range(0..=text.len());
    match rng.random_range(0..4) {
        0 => text.truncate(at),
        1 => text.insert_str(at, ["0", "9", "-", "e", ".", ",", "[", "]", "{", "}", "\"", "null"][at % 12]),
        2 if at < text.len() => drop(text.remove(at)),
        _ => {
            let copy = text[at..(at + 20).min(text.len())].to_owned();
            text.insert_str(at, &copy);
        }
    }
}

fn fuzz(name: &'static str, corpus: &[Value], target: fn(&str) -> bool) {
    let (start, running) = (Instant::now(), AtomicU64::new(0));
    let seed = Seed::root(11).child("fuzz").child(name);
    let (total, mut read) = (cases(), 0);
    std::thread::scope(|scope| {
        // This thread ends the test if a case does not end, since an endless loop cannot be left otherwise.
        scope.spawn(|| {
            let mut last = (0, Instant::now());
            while running.load(Ordering::Relaxed) < total {
                std::thread::sleep(Duration::from_millis(20));
                let now = running.load(Ordering::Relaxed);
                if now != last.0 {
                    last = (now, Instant::now());
                } else if last.1.elapsed() > PATIENCE {
                    eprintln!("{name}, case {now} does not end");
                    std::process::exit(101);
                }
            }
        });
        for case in 0..total {
            running.store(case, Ordering::Relaxed);
            let mut rng = seed.trial(case).rng();
            let mut value = corpus[rng.random_range(0..corpus.len())].clone();
            for _ in 0..=rng.random_range(0..4) {
                change(&mut value, &mut rng);
            }
            let mut text = value.to_string();
            if rng.random_range(0..8) == 0 {
                scribble(&mut text, &mut rng);
            }
            match catch_unwind(AssertUnwindSafe(|| target(&text))) {
                Ok(was_read) => read += u64::from(was_read),
                Err(_) => {
                    running.store(total, Ordering::Relaxed);
                    panic!("{name}, case {case} fails: {text}");
                }
            }
        }
        running.store(total, Ordering::Relaxed);
    });
    let (files, time) = (corpus.len(), start.elapsed());
    eprintln!(
        "{name}: {files} in the corpus, {total} cases in {time:.1?}, of which {read} were read and went on"
    );
    // If all changes were refused at once, nothing would be tested.
    assert!(read > total / 50, "only {read} of {total} changed {name} were read");
}

#[test]
fn stored_states() {
    let corpus: Vec<Value> = METHODS.iter().flat_map(states).collect();
    assert!(corpus.iter().all(|value| state(&value.to_string())));
    fuzz("states", &corpus, state);
}

#[test]
fn parameter_files() {
    let corpus = all_parameters();
    for value in &corpus {
        let params: AnyParams = serde_json::from_value(value.clone()).unwrap();
        params.build().unwrap();
    }
    fuzz("parameters", &corpus, parameters);
}

#[test]
fn checkpoints() {
    let mut session = Session::new(source(DIM), Budget::PerExample(BUDGET), &Seed::root(3)).online();
    let mut learner = METHODS[0].build(&task()).unwrap();
    let fresh = serde_json::to_value(session.checkpoint()).unwrap();
    session.run(&mut learner, SessionLimit::after_examples(100), |_, _| {}).unwrap();
    fuzz("checkpoints", &[fresh, serde_json::to_value(session.checkpoint()).unwrap()], checkpoint);
}
