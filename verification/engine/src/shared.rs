//! What several arms of a claim compute alike is computed once.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The values that the arms of one claim share, by name.
///
/// All arms of a claim see the same data, so what a fault cannot reach is the same in each of them: the rival
/// beside a faulty learner, a minimum, the solution of a reference.
#[derive(Default)]
pub struct Shared {
    values: Mutex<BTreeMap<String, Arc<dyn Any + Send + Sync>>>,
}

impl Shared {
    /// Returns a collection that has all these values, and keeps what is added to it for itself.
    pub fn copy(&self) -> Shared {
        Shared { values: Mutex::new(self.lock().clone()) }
    }

    /// Returns the value of that name; `compute` runs for the first arm that asks.
    ///
    /// # Errors
    /// Those of `compute`, after which the next arm computes the value again; or the name stands for a value
    /// of another type.
    pub fn get<T: Any + Send + Sync>(
        &self,
        name: &str,
        compute: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<Arc<T>> {
        if let Some(value) = self.lock().get(name) {
            let other = || anyhow::anyhow!("`{name}` names shared values of two types");
            return Arc::clone(value).downcast().map_err(|_| other());
        }
        // The arms of a claim run one after the other: nobody waits for the lock, and nobody computes twice.
        let value = Arc::new(compute()?);
        self.lock().insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<dyn Any + Send + Sync>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn a_value_is_computed_once_and_an_error_is_not_kept() {
        let shared = Shared::default();
        let failed = shared.get::<f64>("gap", || anyhow::bail!("no data"));
        assert_eq!(failed.unwrap_err().to_string(), "no data");
        assert_eq!(*shared.get("gap", || Ok(1.5)).unwrap(), 1.5);
        assert_eq!(*shared.get("gap", || Ok(2.5)).unwrap(), 1.5);
        assert_eq!(*shared.get("examples", || Ok(2.5)).unwrap(), 2.5);
        let other = shared.get::<u64>("gap", || Ok(3)).unwrap_err();
        assert!(other.to_string().contains("`gap` names shared values of two types"), "{other}");
    }
}
