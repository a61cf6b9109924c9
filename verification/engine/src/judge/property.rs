//! PROPERTY: judges deterministic inequalities `lhs <= rhs` on many instances, none of which may be violated.

use super::{Finding, FindingKind, nonfinite};
use serde::{Deserialize, Serialize};

/// A running count of instances and violations of `lhs <= rhs + 1e-9 (|lhs| + |rhs|)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PropertyTally {
    instances: u64,
    violations: u64,
    first_violation: Option<InequalityInstance>,
    tightest: Option<InequalityInstance>,
    unjudged: Option<InequalityInstance>,
}

/// One instance of an inequality.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InequalityInstance {
    /// The number of the instance, counted from 0 in the order of checking.
    pub index: u64,
    /// Left-hand side.
    #[serde(with = "nonfinite")]
    pub lhs: f64,
    /// Right-hand side.
    #[serde(with = "nonfinite")]
    pub rhs: f64,
    /// Size of the largest number that was added up in either side; their rounding is allowed for.
    pub terms: f64,
}

impl InequalityInstance {
    /// Returns `lhs / rhs`, the share of the bound that is used, where the right-hand side is positive;
    /// elsewhere infinity for a violated inequality, and minus infinity for one that holds.
    pub fn ratio(&self) -> f64 {
        match self.rhs > 0.0 {
            true => self.lhs / self.rhs,
            false if self.violated() => f64::INFINITY,
            false => f64::NEG_INFINITY,
        }
    }

    /// Returns whether `lhs` exceeds `rhs` by more than the tolerance, which is relative to them, and by more
    /// than the rounding of the terms.
    fn violated(&self) -> bool {
        let excess = self.lhs - self.rhs;
        let infinite = self.lhs.is_infinite() || self.rhs.is_infinite();
        excess > 0.0 && (infinite || excess > 1e-9 * (self.lhs.abs() + self.rhs.abs()) + 1e-13 * self.terms)
    }

    /// Returns whether more of the bound is used than in another instance; where neither bound is positive,
    /// whether the sides are nearer to each other.
    fn is_tighter_than(&self, other: &InequalityInstance) -> bool {
        let key = |of: &InequalityInstance| (of.ratio(), of.lhs - of.rhs);
        key(self) > key(other)
    }
}

impl PropertyTally {
    /// Returns an empty tally.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks one instance and returns whether its inequality holds. A side that is NaN makes the finding
    /// broken.
    pub fn check(&mut self, lhs: f64, rhs: f64) -> bool {
        self.check_sums(lhs, rhs, 0.0)
    }

    /// Checks one instance whose sides are sums of numbers that may cancel; `terms` is the size of the
    /// largest of them, and allows for its rounding. Returns whether the instance holds.
    pub fn check_sums(&mut self, lhs: f64, rhs: f64, terms: f64) -> bool {
        let instance = InequalityInstance { index: self.instances, lhs, rhs, terms };
        self.instances += 1;
        if lhs.is_nan() || rhs.is_nan() {
            self.unjudged.get_or_insert(instance);
            return false;
        }
        if self.tightest.is_none_or(|tightest| instance.is_tighter_than(&tightest)) {
            self.tightest = Some(instance);
        }
        let violated = instance.violated();
        if violated {
            self.violations += 1;
            self.first_violation.get_or_insert(instance);
        }
        !violated
    }

    /// Appends the instances of `later`, as if they had been checked after those of `self`.
    pub fn append(&mut self, later: &PropertyTally) {
        let shift = |instance: InequalityInstance| InequalityInstance {
            index: instance.index + self.instances,
            ..instance
        };
        let tightest = later.tightest.map(shift);
        let (violation, unjudged) = (later.first_violation.map(shift), later.unjudged.map(shift));
        if let Some(instance) = tightest
            && self.tightest.is_none_or(|mine| instance.is_tighter_than(&mine))
        {
            self.tightest = Some(instance);
        }
        self.first_violation = self.first_violation.or(violation);
        self.unjudged = self.unjudged.or(unjudged);
        self.instances += later.instances;
        self.violations += later.violations;
    }

    /// Returns the number of instances checked.
    pub fn instances(&self) -> u64 {
        self.instances
    }

    /// Returns the number of violations.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Returns the instance with the largest `lhs / rhs`, among those with a positive right-hand side if
    /// there are any.
    pub fn worst(&self) -> Option<InequalityInstance> {
        self.tightest
    }

    /// Returns the first violation.
    pub fn first_violation(&self) -> Option<InequalityInstance> {
        self.first_violation
    }

    /// Returns the finding: the claim is supported if no instance violates it, and refuted otherwise. The
    /// estimate is the largest `lhs / rhs`; when no right-hand side was positive and nothing is violated, it
    /// is the `lhs` that is nearest to its `rhs`, which is the bound.
    pub fn finish(&self) -> Finding {
        let n = self.instances as usize;
        if let Some(InequalityInstance { index, lhs, rhs, .. }) = self.unjudged {
            let why = format!("instance {index}: lhs = {lhs}, rhs = {rhs}");
            return Finding::broken("enumeration", FindingKind::Property, n, why);
        }
        let Some(worst) = self.tightest else {
            return Finding::broken("enumeration", FindingKind::Property, 0, "no instance was checked");
        };
        let (estimate, bound) = match worst.ratio() {
            f64::NEG_INFINITY => (worst.lhs, worst.rhs),
            ratio => (ratio, 1.0),
        };
        let mut finding = Finding::undecided("enumeration", FindingKind::Property, n, estimate, bound);
        if bound > 0.0 {
            finding = finding.with_tightness();
        }
        (finding.p_refute, finding.p_support) = if self.violations == 0 { (1.0, 0.0) } else { (0.0, 1.0) };
        finding.note = match self.first_violation {
            None => format!("tightest at instance {}: {} <= {}", worst.index, worst.lhs, worst.rhs),
            Some(first) => format!(
                "{} of {n} violated, first at instance {}: {} > {}; worst ratio at instance {}",
                self.violations, first.index, first.lhs, first.rhs, worst.index
            ),
        };
        finding
    }
}

/// Returns the largest probability of a violating instance, under the generator used, that is compatible at
/// level `alpha` with `n` instances without a violation.
pub fn undetected_fraction(n: u64, alpha: f64) -> f64 {
    crate::special::binomial_upper_limit(0, n, alpha)
}
