//! What a live study needs: examples that come late, or that are given, and attributes that join.

use super::{NAME, Phase, Phases, PhasesParams, Shape};
use crate::params::{ParamError, require};
use crate::pursuit::Pursuit;
use lao_observation::{LearnError, Learner as _, Row, Tariff};

impl From<Pursuit> for Phases {
    /// Goes on with Pursuit to its end.
    fn from(pursuit: Pursuit) -> Self {
        let params = PhasesParams { pursuit: pursuit.params().clone(), examples: None, shape: Shape::Auto };
        Phases::begin(params, pursuit)
    }
}

impl Phases {
    /// Returns whether a number of examples is planned.
    pub fn is_planned(&self) -> bool {
        self.params.examples.is_some()
    }

    /// Returns what is done at present: `search`, `contest`, `complete` (further rows are bought complete) or
    /// `line`.
    pub fn stage(&self) -> &'static str {
        match self.phase {
            Phase::Search { .. } => "search",
            Phase::Contest { .. } => "contest",
            Phase::Complete { .. } => "complete",
            Phase::Line => "line",
        }
    }

    /// Learns from an example that was asked for before, as
    /// [`tell_late`](crate::pursuit::Pursuit::tell_late). It counts as complete if all attributes that are
    /// bought complete now were asked for.
    ///
    /// # Errors
    /// Those of Pursuit; the learner is then as it was before.
    pub fn tell_late(&mut self, attributes: &[u32], values: &[f64], label: f64) -> Result<(), LearnError> {
        let predicted = self.pursuit.apply(Row { attributes, values });
        self.pursuit.tell_late(attributes, values, label)?;
        let place = |j: &u32| Some(values[attributes.binary_search(j).ok()?]);
        let complete: Option<Vec<f64>> = self.complete.attributes.iter().map(place).collect();
        self.seen += 1;
        match (complete.filter(|values| !values.is_empty()), &mut self.phase) {
            (Some(values), _) => {
                let wanted = self.complete.attributes.clone();
                let row = Row { attributes: &wanted, values: &values };
                self.complete.add(row, |j| self.pursuit.mean(j), label, predicted);
            }
            // A contest, and a first end, have as many complete rows as they would have without this one.
            (None, Phase::Contest { until, .. } | Phase::Complete { until }) if self.end.is_none() => {
                *until += 1;
            }
            (None, _) => {}
        }
        self.proceed();
        Ok(())
    }

    /// Learns from an example for which it never asked, as
    /// [`tell_given`](crate::pursuit::Pursuit::tell_given): it counts for Pursuit, and not as a complete row.
    ///
    /// # Errors
    /// Those of Pursuit; the learner is then as it was before.
    pub fn tell_given(&mut self, attributes: &[u32], values: &[f64], label: f64) -> Result<(), LearnError> {
        self.pursuit.tell_given(attributes, values, label)?;
        self.proceed();
        Ok(())
    }

    /// Adds `more` attributes after the others, as [`join`](crate::pursuit::Pursuit::join).
    ///
    /// # Errors
    /// Those of Pursuit, and once the attributes are chosen that are bought complete; the learner is then as
    /// it was before.
    pub fn join(&mut self, more: usize, tariff: Option<Tariff>) -> Result<(), ParamError> {
        let searches = matches!(self.phase, Phase::Search { .. } | Phase::Line);
        let allowed = "0 once the attributes are chosen that all further examples have";
        require(searches, NAME, "more", more, allowed)?;
        self.pursuit.join(more, tariff)?;
        self.params.pursuit = self.pursuit.params().clone();
        if let Some(curves) = &mut self.curves {
            curves.join(self.pursuit.dim());
        }
        Ok(())
    }
}
