//! A learner beside its reference, over the same examples.

use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_datasets::memory::Columns;
use lao_datasets::synthetic::{Noise, Normal, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Rng, Row, Seed, Source, Told};
use rand::RngExt as _;

/// `x` and `y`.
pub type Example = (Vec<f64>, f64);

/// Returns a source whose labels have two weights and noise.
pub fn source(dim: usize, seed: u64) -> Virtual<Normal> {
    let theta = SparseVector::new(dim, vec![0, dim as u32 - 1], vec![1.0, -0.7]).unwrap();
    Virtual::new(Normal::new(dim).unwrap(), theta, Noise::Gaussian(0.5), &Seed::root(seed)).unwrap()
}

/// Returns the first `n` examples of [`source`], with all attributes.
pub fn examples(dim: usize, seed: u64, n: usize) -> Vec<Example> {
    let all: Vec<u32> = (0..dim as u32).collect();
    let (mut source, mut block, mut rows) = (source(dim, seed), BlockBuf::new(), Vec::new());
    while rows.len() < n {
        block.reset(dim, n - rows.len());
        source.observe(&all, &mut block).unwrap();
        let view = block.view(&all);
        let row = |r: usize| (0..dim).map(|c| view.column(c)[r]).collect();
        rows.extend((0..view.rows()).map(|r| (row(r), view.labels()[r])));
    }
    rows
}

/// Returns examples that are hard on sums, and their source: some attributes are nearly equal, some rare, and
/// some small, and all weights change their sign in the middle.
pub fn hard(dim: usize, seed: u64, n: usize) -> (Columns<f64>, Vec<Example>) {
    let mut rng = Seed::root(seed).rng();
    let rows: Vec<Example> = (0..n)
        .map(|i| {
            let mut x = vec![0.0; dim];
            for j in 0..dim {
                let z: f64 = rng.random_range(-1.5..1.5);
                x[j] = match j % 4 {
                    1 => x[j - 1] + 0.05 * z,
                    2 => f64::from(u8::from(z > 1.4)),
                    3 => 0.01 * z,
                    _ => z,
                };
            }
            let sign = if 2 * i < n { 1.0 } else { -1.0 };
            let signal = x[0] - 0.7 * x[dim - 1] + 0.8 * x[2];
            let y = sign * signal + rng.random_range(-0.5..0.5);
            (x, y)
        })
        .collect();
    let column = |j: usize| rows.iter().map(move |(x, _)| x[j]);
    let values = (0..dim).flat_map(column).collect();
    (Columns::new(dim, values, rows.iter().map(|(_, y)| *y).collect()).unwrap(), rows)
}

/// A learner that shows its reference every whole example that it is told, and compares predictions and
/// coefficients. The first difference ends the run.
pub struct Beside<'a, L> {
    pub learner: L,
    drawn: fn(&L) -> Drawn<'_>,
    reference: &'a mut dyn Reference,
    /// The examples of the source, in order.
    rows: std::slice::Iter<'a, Example>,
    tolerance: f64,
    asked: Vec<u32>,
    /// Whether each attribute was ever asked for.
    pub ever: Vec<bool>,
    /// The first difference, if there was one.
    pub fault: Option<String>,
}

impl<'a, L: Learner> Beside<'a, L> {
    /// Returns a learner and reference whose numbers may differ by `tolerance`, relative to the reference's
    /// number if this is above 1.
    pub fn new(
        learner: L,
        drawn: fn(&L) -> Drawn<'_>,
        reference: &'a mut dyn Reference,
        rows: &'a [Example],
        tolerance: f64,
    ) -> Self {
        let (rows, asked, ever, fault) = (rows.iter(), Vec::new(), vec![false; learner.dim()], None);
        let mut beside = Beside { learner, drawn, reference, rows, tolerance, asked, ever, fault };
        beside.fault = beside.compare().err();
        beside
    }

    fn close(&self, what: &str, wanted: f64, found: f64) -> Result<(), String> {
        // NaN is not close to anything.
        let close = (found - wanted).abs() <= self.tolerance * (1.0 + wanted.abs());
        if close {
            return Ok(());
        }
        let done = self.learner.updates();
        Err(format!("{what} is {found}, but that of the reference is {wanted}, after {done} updates"))
    }

    fn compare(&self) -> Result<(), String> {
        let wanted = self.reference.coefficients();
        let found = self.learner.coefficients().to_dense();
        if found.len() != wanted.len() {
            return Err(format!("it has {} attributes, its reference {}", found.len(), wanted.len()));
        }
        let mut pairs = wanted.into_iter().zip(found).enumerate();
        pairs.try_for_each(|(j, (wanted, found))| self.close(&format!("coefficient {j}"), wanted, found))
    }

    /// Shows the reference the examples that the learner is about to be told.
    fn see(&mut self, told: Told<'_>) -> Result<(), String> {
        let (count, block) = match told {
            Told::Values(block) => (block.rows() as u64, Some(block)),
            Told::Gradient(part) => (part.examples, None),
        };
        for r in 0..count as usize {
            let (x, label) = self.rows.next().ok_or("it takes more examples than its reference was given")?;
            let drawn = (self.drawn)(&self.learner);
            let seen = Seen { x, label: *label, asked: &self.asked, drawn };
            if let Some(block) = block {
                let attributes = block.attributes();
                let values: Vec<f64> = (0..attributes.len()).map(|c| block.column(c)[r]).collect();
                let wanted = self.reference.predict(&seen).map_err(|error| error.to_string())?;
                self.close(
                    "the prediction",
                    wanted,
                    self.learner.predict(Row { attributes, values: &values }),
                )?;
            }
            self.reference.see(&seen).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl<L: Learner> Learner for Beside<'_, L> {
    fn dim(&self) -> usize {
        self.learner.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.learner.ask(rng, ask);
        self.asked.clear();
        match ask.request() {
            Request::Values { attributes, .. } | Request::Gradient { attributes, .. } => {
                self.asked.extend_from_slice(attributes)
            }
            Request::Nothing => {}
        }
        for &j in &self.asked {
            self.ever.get_mut(j as usize).into_iter().for_each(|ever| *ever = true);
        }
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.learner.predict(seen)
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        if self.fault.is_none() {
            self.fault = self.see(told).err();
        }
        self.learner.tell(told)?;
        if self.fault.is_none() {
            self.fault = self.compare().err();
        }
        match self.fault {
            None => Ok(()),
            Some(_) => Err(LearnError::NotAsked { told: "a fault", asked: "agreement" }),
        }
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.learner.coefficients()
    }

    fn updates(&self) -> u64 {
        self.learner.updates()
    }
}
