//! The cost from which on an error stays below a share of that of the start.

use crate::context::View;
use lao_kernels::SparseView;
use lao_observation::{Learner, Session, SessionError, Source};

/// The factor by which the cost grows between two looks at the error, at least.
const FACTOR: f64 = 1.01;

/// Watches an error that begins at 1. An error that falls below the share by chance rises again, so it has to
/// stay there until the cost has doubled.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    share: f64,
    /// Cost and error when it was looked at last.
    last: (f64, f64),
    /// The cost since which the error is below the share.
    since: Option<f64>,
    lasted: bool,
}

impl Crossing {
    /// Returns a watch for the cost from which on the error is at most `share`, below 1.
    pub fn below(share: f64) -> Self {
        Crossing { share, last: (0.0, 1.0), since: None, lasted: false }
    }

    /// Takes the error at a cost. Between two looks, the logarithm of the error is taken as linear.
    pub fn see(&mut self, cost: f64, error: f64) {
        let (before, above) = self.last;
        self.last = (cost, error);
        if self.lasted {
            return;
        }
        if error > self.share {
            self.since = None;
        } else if self.since.is_none() {
            let way = (above / self.share).ln() / (above / error.max(f64::MIN_POSITIVE)).ln();
            self.since = Some(before + way * (cost - before));
        }
        self.lasted = self.since.is_some_and(|since| cost >= 2.0 * since);
    }

    /// Returns whether the error has stayed below the share until the cost had doubled.
    pub fn lasted(&self) -> bool {
        self.lasted
    }

    /// Returns the cost since which the error is below the share; `None` if it is not.
    pub fn cost(&self) -> Option<f64> {
        self.since
    }
}

/// Returns the number of examples from which on the error is at most `share`, for each view of the estimate;
/// at most `most`, which also stands for a learner that has not got there when that of the first view has,
/// since the run ends then. `error` is called with the estimate and a view, and is 1 at the start.
///
/// # Errors
/// Those of [`Session::step`].
pub fn examples_until(
    share: f64,
    most: u64,
    session: &mut Session<Box<dyn Source>>,
    learner: &mut dyn Learner,
    views: &[View],
    error: &dyn Fn(SparseView<'_>, View) -> f64,
) -> Result<Vec<f64>, SessionError> {
    let mut watches = vec![Crossing::below(share); views.len()];
    let (mut updates, mut looked) = (learner.updates(), 0.0);
    while session.ledger().examples < most && watches.first().is_some_and(|watch| !watch.lasted) {
        session.step(learner, most - session.ledger().examples)?;
        let examples = session.ledger().examples as f64;
        if learner.updates() != updates && examples >= FACTOR * looked {
            (updates, looked) = (learner.updates(), examples);
            let theta = learner.coefficients();
            views.iter().zip(&mut watches).for_each(|(view, watch)| watch.see(examples, error(theta, *view)));
        }
    }
    Ok(watches.iter().map(|watch| watch.since.unwrap_or(most as f64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_between_two_looks_is_that_of_a_line_on_the_logarithmic_scale() {
        let mut watch = Crossing::below(0.25);
        watch.see(10.0, 0.5);
        assert_eq!(watch.cost(), None);
        watch.see(20.0, 0.125);
        assert_eq!(watch.cost(), Some(15.0));
        watch.see(29.0, 0.25);
        assert!(!watch.lasted());
        watch.see(30.0, 0.25);
        assert!(watch.lasted());
        watch.see(40.0, 0.5);
        assert_eq!(watch.cost(), Some(15.0), "the first time that lasts counts");
    }

    #[test]
    fn an_error_that_rises_again_has_not_fallen() {
        let mut watch = Crossing::below(0.25);
        for (cost, error) in [(10.0, 0.1), (12.0, 0.3), (20.0, 0.1)] {
            watch.see(cost, error);
        }
        assert!(watch.cost().is_some_and(|cost| (12.0..20.0).contains(&cost)) && !watch.lasted());
    }
}
