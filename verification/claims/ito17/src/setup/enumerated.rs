//! One round of a production learner on a set of one's own choice: what it looks at, predicts and makes of
//! it.

use lao_algorithms::ito::{Rda1, Rda2, Rda3, Uniform};
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Row, Told};
use lao_verification_engine::instance::{masks, members};

/// A learner whose draws can be chosen.
pub(crate) trait Draws: Learner + Clone {
    /// As [`Learner::ask`], with these attributes drawn.
    fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask);
    /// The weights at which the gradient is estimated.
    fn explorer(&self) -> Vec<f64>;
    /// The sum of the gradient estimates.
    fn gradient_sum(&self) -> Vec<f64>;
}

impl Draws for Rda1 {
    fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        Rda1::ask_for(self, drawn, ask);
    }
    fn explorer(&self) -> Vec<f64> {
        self.iterate()
    }
    fn gradient_sum(&self) -> Vec<f64> {
        Rda1::gradient_sum(self)
    }
}

impl Draws for Uniform {
    fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        Uniform::ask_for(self, drawn, ask);
    }
    fn explorer(&self) -> Vec<f64> {
        self.iterate()
    }
    fn gradient_sum(&self) -> Vec<f64> {
        Uniform::gradient_sum(self)
    }
}

impl Draws for Rda2 {
    fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        Rda2::ask_for(self, drawn, ask);
    }
    fn explorer(&self) -> Vec<f64> {
        Rda2::explorer(self)
    }
    fn gradient_sum(&self) -> Vec<f64> {
        Rda2::gradient_sum(self)
    }
}

impl Draws for Rda3 {
    fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        Rda3::ask_for(self, drawn, ask);
    }
    fn explorer(&self) -> Vec<f64> {
        Rda3::explorer(self)
    }
    fn gradient_sum(&self) -> Vec<f64> {
        Rda3::gradient_sum(self)
    }
}

/// A round that is over.
pub(crate) struct Round<L> {
    /// `S_t`.
    pub set: u128,
    /// What was predicted from `D_t x_t`.
    pub prediction: f64,
    /// The learner, told the example.
    pub after: L,
}

/// Plays the round in which `learner` draws the set `drawn` and the example is `(x, y)`.
///
/// # Errors
/// When the learner asks for anything but attribute values, or diverges.
pub(crate) fn play<L: Draws>(learner: &L, drawn: u128, x: &[f64], y: f64) -> anyhow::Result<Round<L>> {
    let (mut after, mut ask) = (learner.clone(), Ask::new(x.len()));
    let drawn: Vec<u32> = members(drawn).map(|j| j as u32).collect();
    after.ask_for(&drawn, &mut ask);
    let attributes = asked(&ask)?;
    let values: Vec<f64> = attributes.iter().map(|&j| x[j as usize]).collect();
    let prediction = after.predict(Row { attributes, values: &values });
    tell(&mut after, &ask, x, y)?;
    Ok(Round { set: set_of(attributes), prediction, after })
}

/// The gradient estimate that `learner` adds up when it draws `drawn` and sees `(x, y)`.
///
/// # Errors
/// As [`play`].
pub(crate) fn estimate<L: Draws>(learner: &L, drawn: u128, x: &[f64], y: f64) -> anyhow::Result<Vec<f64>> {
    let after = play(learner, drawn, x, y)?.after;
    Ok(lao_verification_engine::instance::minus(&after.gradient_sum(), &learner.gradient_sum()))
}

/// What was asked for, if that is attribute values.
pub(crate) fn asked(ask: &Ask) -> anyhow::Result<&[u32]> {
    match ask.request() {
        Request::Values { attributes, .. } => Ok(attributes),
        _ => anyhow::bail!("the learner does not ask for attribute values"),
    }
}

/// Serves `ask` from the example `(x, y)`.
pub(crate) fn tell<L: Learner>(learner: &mut L, ask: &Ask, x: &[f64], y: f64) -> anyhow::Result<()> {
    let (attributes, mut block) = (asked(ask)?, BlockBuf::new());
    block.reset(attributes.len(), 1);
    for (c, &j) in attributes.iter().enumerate() {
        block.column_mut(c)[0] = x[j as usize];
    }
    block.labels_mut()[0] = y;
    block.set_rows(1);
    let told: Result<(), LearnError> = learner.tell(Told::Values(block.view(attributes)));
    Ok(told?)
}

/// Attributes as bits.
pub(crate) fn set_of(attributes: &[u32]) -> u128 {
    attributes.iter().fold(0, |set, &j| set | 1 << j)
}

/// All sets of `size` of the attributes `0..dim` outside `kept`.
pub(crate) fn outside(dim: usize, kept: u128, size: usize) -> impl Iterator<Item = u128> {
    masks(dim, size).filter(move |set| set & kept == 0)
}

/// `U`: the `size` largest weights, ties to the smaller index.
pub(crate) fn largest(weights: &[f64], size: usize) -> u128 {
    lao_verification_engine::instance::largest(weights, size).into_iter().fold(0, |set, j| set | 1 << j)
}
