//! Learners that learn nothing, or next to nothing: the universal mutants.

use lao_kernels::{SparseVector, SparseView};
use lao_observation::{LearnError, Learner, Row, Told};
use std::cell::OnceCell;

/// How a learner is crippled. The engine runs every claim about learning with each of these; a cell that such
/// a learner passes says nothing about learning, and the engine marks it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cripple {
    /// Its estimate is zero.
    PredictsZero,
    /// Its estimate is the one that it started with.
    StaysAtItsStart,
    /// Its estimate has gone a hundredth of the way from the start.
    GoesOneHundredth,
}

impl Cripple {
    /// All of them, in the order of the records.
    pub const ALL: [Cripple; 3] =
        [Cripple::PredictsZero, Cripple::StaysAtItsStart, Cripple::GoesOneHundredth];

    /// The name in records: `predicts_zero`.
    pub const fn name(self) -> &'static str {
        match self {
            Cripple::PredictsZero => "predicts_zero",
            Cripple::StaysAtItsStart => "stays_at_its_start",
            Cripple::GoesOneHundredth => "goes_one_hundredth",
        }
    }

    /// What it does, as the end of "a learner that".
    pub const fn fault(self) -> &'static str {
        match self {
            Cripple::PredictsZero => "predicts zero",
            Cripple::StaysAtItsStart => "stays at its start",
            Cripple::GoesOneHundredth => "goes a hundredth of the way from its start",
        }
    }

    /// Whether the estimate is the same whatever the learner is told, so that the learner need not run, or
    /// may run on anything.
    pub const fn stands_still(self) -> bool {
        matches!(self, Cripple::PredictsZero | Cripple::StaysAtItsStart)
    }

    /// The crippled value of one coefficient that began at `start` and is `now`.
    pub fn value(self, start: f64, now: f64) -> f64 {
        match self {
            Cripple::PredictsZero => 0.0,
            Cripple::StaysAtItsStart => start,
            Cripple::GoesOneHundredth => start + 0.01 * (now - start),
        }
    }

    /// Cripples an estimate, coordinate by coordinate; `start` counts as zero beyond its end.
    pub fn estimate(self, start: &[f64], estimate: &mut [f64]) {
        let starts = start.iter().copied().chain(std::iter::repeat(0.0));
        estimate.iter_mut().zip(starts).for_each(|(now, start)| *now = self.value(start, *now));
    }
}

/// A learner, crippled or sound. It asks and counts as the sound one does; what it says of its estimate, and
/// predicts from it, is crippled.
#[derive(Clone, Debug)]
pub struct Crippled<L> {
    inner: L,
    cripple: Option<Cripple>,
    start: SparseVector,
    /// The crippled estimate, once it is asked for.
    shown: OnceCell<SparseVector>,
}

impl<L: Learner> Crippled<L> {
    /// Wraps a learner that stands at its start; `None` leaves it sound.
    pub fn new(inner: L, cripple: Option<Cripple>) -> Self {
        let start = inner.coefficients().to_owned_vector();
        Crippled { shown: OnceCell::new(), start, inner, cripple }
    }

    /// The learner inside.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    fn show(&self, cripple: Cripple) -> SparseVector {
        let now = self.inner.coefficients();
        let mut both: Vec<u32> = now.indices().iter().chain(self.start.indices()).copied().collect();
        both.sort_unstable();
        both.dedup();
        let mut shown = SparseVector::zeros(self.inner.dim());
        for j in both {
            let value = cripple.value(self.start.view().get(j), now.get(j));
            if value != 0.0 {
                shown.push(j, value);
            }
        }
        shown
    }
}

impl<L: Learner> Learner for Crippled<L> {
    crate::hand_on!(inner: dim ask updates examples_to_next_update);

    fn predict(&self, seen: Row<'_>) -> f64 {
        let Some(cripple) = self.cripple else { return self.inner.predict(seen) };
        // Coefficients are crippled one by one, and linearly: so is a prediction, without forming them.
        cripple.value(seen.dot(self.start.view()), self.inner.predict(seen))
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        self.shown.take();
        self.inner.tell(told)
    }

    fn intercept(&self) -> f64 {
        let whole = self.inner.intercept();
        self.cripple.map_or(whole, |cripple| cripple.value(0.0, whole))
    }

    fn apply(&self, seen: Row<'_>) -> f64 {
        let Some(cripple) = self.cripple else { return self.inner.apply(seen) };
        cripple.value(seen.dot(self.start.view()), self.inner.apply(seen))
    }

    fn coefficients(&self) -> SparseView<'_> {
        match self.cripple {
            None => self.inner.coefficients(),
            Some(cripple) => self.shown.get_or_init(|| self.show(cripple)).view(),
        }
    }
}
