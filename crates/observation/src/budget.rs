//! The limit on the attributes that may be observed of one example, or on the money that they may cost.

use crate::tariff::ROUNDING;
use serde::{Deserialize, Serialize};

/// The limit on attributes observed per example, at training and at prediction.
///
/// ```
/// use lao_observation::Budget;
///
/// assert_eq!(Budget::PerExample(20).cap(500), 20);
/// assert_eq!(Budget::PerExample(20).cap(8), 8); // there are no more
/// assert_eq!(Budget::Expected { mean: 5.0, cap: 40 }.cap(500), 40);
/// assert_eq!(Budget::Priced { per_example: 20.5 }.cap(500), 20);
/// assert_eq!(Budget::Unlimited.cap(500), 500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// At most this many distinct attributes of every single example (`s'` in Murata & Suzuki).
    PerExample(usize),
    /// At most `mean` attributes per example on average, and never more than `cap` of one. The session
    /// refuses an ask above `cap`; the average is audited in the [`Ledger`](crate::Ledger), since it is a
    /// property of the run.
    Expected {
        /// The mean that the method promises, in attributes per example.
        mean: f64,
        /// The hard cap, in attributes of one example.
        cap: usize,
    },
    /// At most this much money for every single example, by the [`Tariff`](crate::Tariff) of the session; in
    /// a session without one each attribute costs 1.
    Priced {
        /// The money, in the unit of the prices.
        per_example: f64,
    },
    /// Full information.
    Unlimited,
}

impl Budget {
    /// Returns the largest number of attributes that may be seen of one example with `dim` attributes, each
    /// of which costs 1.
    pub fn cap(&self, dim: usize) -> usize {
        match *self {
            Budget::PerExample(limit) => limit,
            Budget::Expected { cap, .. } => cap,
            // The conversion saturates, and turns NaN into 0.
            Budget::Priced { per_example } => (per_example * (1.0 + ROUNDING)) as usize,
            Budget::Unlimited => dim,
        }
        .min(dim)
    }
}
