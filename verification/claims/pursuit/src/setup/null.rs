//! Examples in which no attribute has an effect, and a learner that judges them wrongly.

use super::{Law, Scene};
use lao_algorithms::pursuit::Pursuit;
use lao_observation::{BlockBuf, Learner as _, Rng, Seed, Source, SourceError};
use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

/// The effect of the attribute that leaks, in standard deviations of the label, and in labels of a Cauchy
/// law.
const LEAK: f64 = 0.3;
const LEAK_IN_CAUCHY: f64 = 30.0;

/// Examples of the design in which noise falls, and the number of the first ones, whose noise is thirty times
/// as large.
pub const FALLING: u64 = 20_000;
const NOISY: u64 = 1000;
const NOISE: f64 = 30.0;

/// A law of attributes and labels, in which no attribute has an effect.
#[derive(Clone, Copy)]
pub enum Null {
    /// Normal attributes and labels.
    Normal(Law),
    /// Independent draws from one law, for attributes and labels.
    Independent(fn(&mut Rng) -> f64),
    /// Normal attributes, and labels whose law is Cauchy's.
    Cauchy,
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn cauchy(rng: &mut Rng) -> f64 {
    normal(rng) / normal(rng)
}

/// Student's t with 3 degrees of freedom.
pub fn student(rng: &mut Rng) -> f64 {
    let (z, w, e): (f64, f64, f64) =
        (StandardNormal.sample(rng), StandardNormal.sample(rng), Exp1.sample(rng));
    // Twice an exponential variable is the sum of two squares.
    z / ((w * w + 2.0 * e) / 3.0).sqrt()
}

/// A sign that is ten times as large once in fifty times.
pub fn rarely_large(rng: &mut Rng) -> f64 {
    let size = if rng.random_bool(0.02) { 10.0 } else { 1.0 };
    if rng.random() { size } else { -size }
}

impl Null {
    /// Returns examples of `dim` attributes whose labels have nothing to do with them, except with one if it
    /// leaks.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn examples(self, dim: usize, leaks: bool, seed: &Seed) -> anyhow::Result<Box<dyn Source>> {
        let drawn = |value, label, leak: f64| Drawn {
            dim,
            value,
            label,
            leak: if leaks { leak } else { 0.0 },
            rng: seed.child("data").rng(),
            position: 0,
        };
        Ok(match self {
            Null::Normal(law) => {
                // A coefficient of 1 in noise of 1/LEAK is an effect of LEAK in noise of 1.
                let (star, noise) = if leaks { (1, 1.0 / LEAK) } else { (0, 1.0) };
                Box::new(Scene { law, dim, star, noise }.examples(seed)?)
            }
            Null::Independent(value) => Box::new(drawn(value, value, LEAK)),
            Null::Cauchy => Box::new(drawn(normal, cauchy, LEAK_IN_CAUCHY)),
        })
    }
}

/// Examples whose attributes and labels are independent draws, made when they are observed.
struct Drawn {
    dim: usize,
    value: fn(&mut Rng) -> f64,
    label: fn(&mut Rng) -> f64,
    /// The effect of attribute 0.
    leak: f64,
    rng: Rng,
    position: u64,
}

impl Source for Drawn {
    fn dim(&self) -> usize {
        self.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.capacity();
        for row in 0..rows {
            let mut label = (self.label)(&mut self.rng);
            for (c, &j) in attributes.iter().enumerate() {
                let x = (self.value)(&mut self.rng);
                // Only where it is observed: elsewhere it is one more part of the noise.
                if j == 0 {
                    label += self.leak * x;
                }
                block.column_mut(c)[row] = x;
            }
            block.labels_mut()[row] = label;
        }
        block.set_rows(rows);
        self.position += rows as u64;
        Ok(rows)
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        Err(SourceError::Seek { position, end: self.position })
    }
}

/// Examples whose labels have a large variance first, and a small one then.
pub struct Falling(Box<dyn Source>, Rng);

impl Falling {
    /// Returns `inner` with noise added to its first labels.
    pub fn new(inner: Box<dyn Source>, seed: &Seed) -> Self {
        Falling(inner, seed.child("noise").rng())
    }
}

impl Source for Falling {
    lao_verification_engine::hand_on!(0: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.0.position();
        let rows = self.0.observe(attributes, block)?;
        for (label, at) in block.labels_mut()[..rows].iter_mut().zip(first..) {
            let z: f64 = StandardNormal.sample(&mut self.1);
            *label += if at < NOISY { NOISE * z } else { 0.0 };
        }
        Ok(rows)
    }
}

/// Makes a learner forget the errors of all examples but the recent ones, by which it then judges sums over
/// all; if its e-processes do not count, none of them keeps an attribute out. Once is enough, when the noise
/// has fallen, since what comes later has small errors.
///
/// # Errors
/// When the learner cannot be stored.
pub fn judge_by_recent_errors(learner: &mut Pursuit, e_processes_count: bool) -> anyhow::Result<()> {
    if learner.updates() != NOISY / 5 {
        return Ok(());
    }
    let mut stored = serde_json::to_value(&*learner)?;
    stored["moments"]["label_square"] = 0.0.into();
    // No attribute then seems to have been observed at a time of large errors.
    stored["moments"]["errors"] = 1e300.into();
    stored["before"]["errors"] = 1e300.into();
    if !e_processes_count {
        for sum in stored["e_processes"]["sum"].as_array_mut().into_iter().flatten() {
            *sum = 1e150.into();
        }
    }
    *learner = serde_json::from_value(stored)?;
    Ok(())
}
