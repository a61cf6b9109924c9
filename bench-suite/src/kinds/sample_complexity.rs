//! The kind `sample-complexity`: the examples until an excess risk is reached, as the number of attributes,
//! the budget, the sparsity and the error change.

use super::orders::{self, Bound, Sweep, reached};
use super::{Analysis, Job, Kind, Measurement, Rows};
use crate::data::Design;
use crate::learner::{Contender, LearnerSpec};
use crate::tier::Size;
use anyhow::{bail, ensure};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Seed, Session, SessionLimit};
use serde::Deserialize;

/// The settings of the kind. The target keeps its norm when its sparsity changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleComplexity {
    /// `d`.
    dim: usize,
    /// `s'`, the number of attributes that may be observed of an example.
    budget: usize,
    /// The excess risk, as a part of that of the predictor zero.
    error: f64,
    /// The first number of examples, the factor between two of them, and the largest number.
    first: u64,
    growth: f64,
    most: u64,
    data: Design,
    /// The quantities that change, one at a time: `dim`, `budget`, `sparsity` or `error`.
    sweeps: Vec<Sweep>,
    learners: Vec<Measured>,
}

/// A learner, and what is printed of it.
#[derive(Debug, Deserialize)]
struct Measured {
    #[serde(default)]
    bounds: Vec<Bound>,
    /// Whether the learner is told the number of examples, so that each number needs a run of its own.
    #[serde(default)]
    horizon: bool,
    #[serde(flatten)]
    spec: LearnerSpec,
}

/// One setting.
#[derive(Clone, Copy)]
struct Setting {
    dim: usize,
    budget: usize,
    data: Design,
}

impl SampleComplexity {
    /// Returns the setting in which one quantity has another value.
    fn setting(&self, of: &str, value: f64) -> anyhow::Result<Setting> {
        let mut setting = Setting { dim: self.dim, budget: self.budget, data: self.data };
        match of {
            "dim" => setting.dim = value as usize,
            "budget" => setting.budget = value as usize,
            "sparsity" => {
                let before = setting.data.sparsity() as f64;
                setting.data.support.positive = (value as usize).div_ceil(2);
                setting.data.support.negative = value as usize / 2;
                setting.data.support.magnitude *= (before / value).sqrt();
            }
            "error" => {}
            other => bail!("sweeps.of = \"{other}\": give dim, budget, sparsity or error"),
        }
        Ok(setting)
    }

    /// Returns the relative excess risk after growing numbers of examples, until it is at most `goal`.
    fn curve(
        &self,
        learner: &Measured,
        Setting { dim, budget, data }: Setting,
        (size, goal): (Size, f64),
        seed: &Seed,
    ) -> anyhow::Result<Vec<(f64, f64)>> {
        let target = data.target(dim, seed)?;
        let most = size.scaled(self.most, self.first);
        let begin = |examples: u64| {
            let spec = if learner.horizon { learner.spec.told(examples) } else { learner.spec.clone() };
            let Contender { learner, budget } = spec.build(dim, budget, None)?;
            let stream = data.stream(&target, &seed.child("train"))?;
            anyhow::Ok((learner, Session::new(stream, budget, &seed.child("algorithm"))))
        };
        let judge = data.stream(&target, &seed.child("train"))?;
        let excess = |theta: SparseView<'_>| judge.excess(theta).unwrap_or(f64::NAN);
        let of_zero = excess(SparseVector::zeros(dim).view());
        let (mut learned, mut session) = begin(most)?;
        let (mut curve, mut at) = (Vec::new(), self.first as f64);
        loop {
            let examples = (at.round() as u64).min(most);
            if learner.horizon {
                (learned, session) = begin(examples)?;
            }
            session.run(&mut *learned, SessionLimit::after_examples(examples), |_, _| {})?;
            let error = excess(learned.coefficients()) / of_zero;
            curve.push((examples as f64, error));
            if error <= goal || examples >= most {
                return Ok(curve);
            }
            at *= self.growth;
        }
    }
}

impl Kind for SampleComplexity {
    fn label(&self) -> &'static str {
        "sample complexity"
    }

    fn contenders(&self) -> Vec<&str> {
        self.learners.iter().map(|learner| learner.spec.name.as_str()).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        false
    }

    fn dims(&self, _contender: usize) -> anyhow::Result<Vec<usize>> {
        Ok(vec![self.dim])
    }

    fn check(&self) -> anyhow::Result<()> {
        let Self { error, growth, first, .. } = *self;
        ensure!(error > 0.0 && error < 1.0, "error = {error}: give a part of 1");
        ensure!(
            growth > 1.0 && first > 0,
            "growth = {growth}, first = {first}: give more than 1, and than 0"
        );
        for sweep in &self.sweeps {
            for &value in &sweep.values {
                let Setting { dim, budget, data } = self.setting(&sweep.of, value)?;
                data.target(dim, &Seed::root(0))?;
                for learner in &self.learners {
                    learner.spec.told(self.most).build(dim, budget, None)?;
                }
            }
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let (learner, mut found) = (&self.learners[job.contender], Vec::new());
        for sweep in &self.sweeps {
            let errors = sweep.of == "error";
            // One curve has all errors.
            let goal = sweep.values.iter().copied().fold(f64::INFINITY, f64::min);
            let of_errors = match errors {
                true => Some(self.curve(learner, self.setting("error", goal)?, (size, goal), seed)?),
                false => None,
            };
            for &value in &sweep.values {
                let cost = match &of_errors {
                    Some(curve) => reached(curve, value),
                    None => {
                        let setting = self.setting(&sweep.of, value)?;
                        reached(&self.curve(learner, setting, (size, self.error), seed)?, self.error)
                    }
                };
                let cost = cost.unwrap_or(f64::NAN);
                found.push(Measurement::new(cost as u64, orders::metric(&sweep.of, value), cost));
            }
        }
        Ok(found)
    }

    fn exponents(&self, rows: &Rows<'_>, contender: &str, of: &str) -> Vec<f64> {
        orders::exponents(rows, contender, of, &self.sweeps)
    }

    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let contenders: Vec<(&str, &[Bound])> =
            self.learners.iter().map(|learner| (learner.spec.name.as_str(), &learner.bounds[..])).collect();
        orders::analyze(rows, &contenders, &self.sweeps, "examples")
    }
}
