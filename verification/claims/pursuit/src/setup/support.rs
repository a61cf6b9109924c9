//! Runs of Pursuit until its support is the true one.

use super::{Point, Scene};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Learner as _, Seed, Session};
use lao_verification_engine::context::{View, still};

/// How the learner looks at attributes, and remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looks {
    /// As it should.
    AsItShould,
    /// Never at an attribute beyond the first s'.
    AtTheFirst,
    /// At all of them.
    AtAll,
    /// As it should, but an example counts half after so many others.
    Forgetting(f64),
    /// At the true support from the beginning, which it is told.
    AtTheTruth,
}

/// A search for the support.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The instance.
    pub scene: Scene,
    /// `s'`.
    pub budget: usize,
    /// How the learner looks.
    pub looks: Looks,
    /// The number of examples at which a run ends.
    pub last: u64,
}

impl Search {
    /// Returns, for each view, the number of examples from which on the support is right, which must last as
    /// many examples again; `last + 1` if it never is.
    ///
    /// # Errors
    /// When the parameters are refused, or the session fails.
    pub fn examples(&self, views: &[View], seed: &Seed) -> anyhow::Result<Vec<f64>> {
        let Search { scene, budget, looks, last } = *self;
        let (truth, source) = (scene.examples(seed)?, scene.examples(seed)?);
        let mut params = PursuitParams::within(scene.dim, budget);
        match looks {
            Looks::AsItShould => {}
            Looks::AtTheFirst => params.never = (budget as u32..scene.dim as u32).collect(),
            Looks::AtAll => params.budget = scene.dim,
            Looks::Forgetting(half_life) => params.half_life = Some(half_life),
            Looks::AtTheTruth => params.always = truth.theta_star().indices().to_vec(),
        }
        let limit = Budget::PerExample(params.budget);
        let mut learner = params.build()?;
        if still(views).is_some_and(|view| !Point::of(&learner, view, &truth).is_right(scene.star)) {
            // A predictor that is wrong and stands still is never right.
            return Ok(vec![last as f64 + 1.0]);
        }
        let mut session = Session::new(source, limit, &seed.child("algorithm"));
        let mut updates = 0;
        // Per view, whether it has lasted, and since when it is right.
        let mut found: Vec<(bool, Option<u64>)> = vec![(false, None); views.len()];
        while session.ledger().examples < last && found.iter().any(|(lasted, _)| !lasted) {
            session.step(&mut learner, last - session.ledger().examples)?;
            let examples = session.ledger().examples;
            let updated = learner.updates() > updates;
            updates = learner.updates();
            for (view, (lasted, since)) in views.iter().zip(&mut found).filter(|(_, (lasted, _))| !lasted) {
                if updated {
                    let right = Point::of(&learner, *view, &truth).is_right(scene.star);
                    *since = if right { since.or(Some(examples)) } else { None };
                }
                *lasted = since.is_some_and(|since| examples >= 2 * since);
            }
        }
        Ok(found.iter().map(|(_, since)| since.unwrap_or(last + 1) as f64).collect())
    }
}
