//! Counts over many instances of several inequalities that are judged together.

use crate::context::{Context, Trial};
use crate::judge::PropertyTally;

/// Runs `n` trials of `cell`, each of which checks instances of the same `K` inequalities, and returns the
/// counts, added up in trial order.
///
/// # Errors
/// When a trial errs or the run is canceled.
pub fn tally<const K: usize>(
    cx: &Context<'_>,
    cell: &str,
    n: u64,
    trial: impl Fn(&Trial, &mut [PropertyTally; K]) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<[PropertyTally; K]> {
    let each = cx.all_trials(cell, n, |one| {
        let mut tallies = std::array::from_fn(|_| PropertyTally::new());
        trial(one, &mut tallies)?;
        Ok(tallies)
    })?;
    let mut all: [PropertyTally; K] = std::array::from_fn(|_| PropertyTally::new());
    for one in &each {
        all.iter_mut().zip(one).for_each(|(all, one)| all.append(one));
    }
    Ok(all)
}
