//! Attributes that join while Pursuit learns: a test that did not exist when a study began.
//!
//! They may be observed from the next block on, and are the first to be, since nothing is known of them. The
//! sums of each attribute rest on the examples in which it was observed, so that one that comes late is
//! judged as one that was never chosen before.
//!
//! *Level*: from then on each boundary is that of `level/d` with the new d. The attributes of the beginning
//! cross theirs with probability at most `level` in all, as before, and m new ones with at most `level m/d`.

use super::{NAME, Pursuit, Scratch};
use crate::params::{ParamError, require};
use lao_kernels::SparseVector;
use lao_observation::Tariff;
use lao_observation::stored::Validate as _;

impl Pursuit {
    /// Adds `more` attributes after the others. With money, `tariff` has the prices of all attributes; those
    /// of the others must be what they were. The money for an example stays, or the number of attributes.
    ///
    /// # Errors
    /// [`ParamError`] if the budget is the number of all attributes so far, so that there is no choice to
    /// renew; if the tariff is of another number of attributes, or one is missing; or if the predictor is too
    /// large, or too expensive, for a budget that no longer buys everything. The learner is then as it was
    /// before.
    pub fn join(&mut self, more: usize, tariff: Option<Tariff>) -> Result<(), ParamError> {
        let (old, dim) = (self.params.dim, self.params.dim.saturating_add(more));
        let room = self.params.budget < old || self.params.money.is_some();
        require(
            room,
            NAME,
            "budget",
            self.params.budget,
            format_args!("below d = {old}, if attributes join"),
        )?;
        let mut next = self.clone();
        next.params.dim = dim;
        match (&mut next.params.money, tariff) {
            (Some(money), Some(tariff)) => {
                next.params.budget = next.params.budget.max(tariff.most_attributes(money.per_example));
                money.tariff = tariff;
            }
            (money, tariff) => {
                let fits = money.is_some() == tariff.is_some();
                require(fits, NAME, "tariff", tariff.is_some(), "prices of all attributes, or of none")?;
            }
        }
        next.params.check()?;
        next.moments.join(dim, next.params.budget);
        next.e_processes.join(dim);
        next.z.resize(dim, 0.0);
        next.interest.resize(dim, f64::MAX);
        next.explained.resize(dim, 0.0);
        if !next.order.is_empty() {
            next.order.extend(old as u32..dim as u32);
        }
        let mut theta = SparseVector::zeros(dim);
        self.theta.view().iter().for_each(|(j, b)| theta.push(j, b));
        next.theta = theta;
        next.scratch = Scratch::default();
        let whole = next.validate();
        let refused = whole.as_ref().err().map(ToString::to_string).unwrap_or_default();
        require(whole.is_ok(), NAME, "tariff", refused, "prices by which the predictor may stay as it is")?;
        *self = next;
        Ok(())
    }
}
