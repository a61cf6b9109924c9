//! Algorithms 2 and 3 under observation, and what goes wrong when their exploration does.

use lao_observation::{Ask, BlockBuf, Learner, Request, Rng, Source, SourceError};
use lao_verification_engine::claim::Fault;

/// What goes wrong with exploration.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Exploration {
    Frozen,
    Greedy,
}

/// Faults of the claims on exploration.
pub(crate) const FAULTS: [Fault<Exploration>; 2] = [
    Fault::refuted(
        "frozen_after_100_rounds",
        "exploration hears nothing after round 100",
        Exploration::Frozen,
    ),
    Fault::refuted(
        "sets_from_the_predicting_weights",
        "the set is that of the largest predicting weights",
        Exploration::Greedy,
    ),
];

/// A learner that counts the rounds in which some features were not looked at.
pub(crate) struct Watched<L> {
    pub inner: L,
    features: Vec<u32>,
    /// Rounds without each of the features.
    pub absent: Vec<u64>,
    /// The features that the last round was without.
    pub missing: Vec<bool>,
}

impl<L: Learner> Watched<L> {
    pub fn new(inner: L, features: &[u32]) -> Self {
        let n = features.len();
        Watched { inner, features: features.to_vec(), absent: vec![0; n], missing: vec![false; n] }
    }
}

impl<L: Learner> Learner for Watched<L> {
    lao_verification_engine::hand_on!(inner: dim predict tell coefficients updates);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.inner.ask(rng, ask);
        let Request::Values { attributes, .. } = ask.request() else { return };
        for (i, feature) in self.features.iter().enumerate() {
            self.missing[i] = attributes.binary_search(feature).is_err();
            self.absent[i] += u64::from(self.missing[i]);
        }
    }
}

/// Examples of which rounds 1, 4, 9, ... beyond a given one are all zero: exploration learns nothing from
/// then on.
#[derive(Clone)]
pub(crate) struct Silenced<S> {
    pub inner: S,
    /// The last round whose exploration is heard.
    pub after: u64,
}

impl<S: Source> Source for Silenced<S> {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.inner.position() + 1;
        let rows = self.inner.observe(attributes, block)?;
        for (row, t) in (first..).take(rows).enumerate() {
            if t > self.after && t.isqrt().pow(2) == t {
                (0..attributes.len()).for_each(|c| block.column_mut(c)[row] = 0.0);
                block.labels_mut()[row] = 0.0;
            }
        }
        Ok(rows)
    }
}
