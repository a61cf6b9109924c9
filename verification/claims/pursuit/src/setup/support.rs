//! Runs of Pursuit until its support is the true one.

use super::{Point, Scene};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Learner as _, Seed, Session};
use lao_verification_engine::context::{Context, ShownTrials, View, still};
use lao_verification_engine::judge::paired::median;
use lao_verification_engine::judge::slope::fit;

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

/// Runs of several searches, a run of each in every trial.
pub struct Searches {
    /// The examples of each search, per trial.
    pub runs: ShownTrials<Vec<f64>>,
    /// The medians of each search over blocks of trials.
    pub medians: Vec<Vec<f64>>,
}

impl Searches {
    /// Makes the runs of `blocks` blocks of `block` trials.
    ///
    /// # Errors
    /// Those of [`Search::examples`].
    pub fn run(
        cx: &Context<'_>,
        cell: &str,
        [block, blocks]: [u64; 2],
        searches: &[Search],
    ) -> anyhow::Result<Self> {
        let runs = cx.shown_trials(cell, block * blocks, |trial, views| {
            let mut shown = vec![Vec::new(); views.len()];
            for (i, search) in (0..).zip(searches) {
                let found = search.examples(views, &trial.seed.trial(i))?;
                shown.iter_mut().zip(found).for_each(|(shown, found)| shown.push(found));
            }
            Ok(shown)
        })?;
        let of_block = |runs: &[Vec<f64>]| (0..searches.len()).map(|i| middle(runs, i)).collect();
        let medians = runs.chunks(block as usize).map(of_block).collect();
        Ok(Searches { runs, medians })
    }

    /// Returns the median of search `i` over all trials.
    pub fn median(&self, i: usize) -> f64 {
        middle(&self.runs, i)
    }

    /// Returns the exponent of the medians of each block in `x`, which has a number for each search.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn exponents(&self, x: &[f64]) -> anyhow::Result<Vec<f64>> {
        let fits = fit(x, &self.medians, None).map_err(anyhow::Error::msg)?;
        Ok(fits.iter().map(|fit| fit.slope).collect())
    }
}

/// The median of search `i` over these trials.
fn middle(runs: &[Vec<f64>], i: usize) -> f64 {
    median(&mut runs.iter().map(|run| run[i]).collect::<Vec<f64>>())
}
