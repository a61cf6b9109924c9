//! The choice of parameters from a grid, once for all repetitions.

use super::best_two;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A choice, which is made by the first who needs it.
type Choice = Arc<OnceLock<Result<usize, String>>>;

/// The choices of a run, by contender and setting.
#[derive(Debug, Default)]
pub(super) struct Tuning(Mutex<BTreeMap<(usize, String), Choice>>);

impl Tuning {
    /// Returns the place of the least score, which is found once: scores that are not finite are never
    /// chosen.
    pub fn choose(
        &self,
        contender: usize,
        setting: &str,
        scores: impl FnOnce() -> anyhow::Result<Vec<f64>>,
    ) -> anyhow::Result<usize> {
        let choice = {
            let mut choices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(choices.entry((contender, setting.into())).or_default())
        };
        let best =
            || Ok(best_two(&scores().map_err(|error| format!("{error:#}"))?).map_or(0, |(best, _)| best));
        choice.get_or_init(best).clone().map_err(anyhow::Error::msg)
    }
}
