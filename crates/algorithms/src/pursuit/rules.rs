//! What claim `pursuit-rules` leaves out, one at a time, to show what it is there for.

/// A rule of the method.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An attribute whose coefficient is no longer significant is dropped.
    Drop,
    /// With a half-life, an attribute that was dropped stays watched for a while.
    WatchDropped,
    /// Values far from the mean count as less.
    Clip,
    /// An attribute waits for another one that it may stand in for.
    Wait,
    /// Attributes are looked at by an upper confidence bound, not by their estimated effect.
    Bound,
    /// What has not varied yet is looked at like what has no effect, not like what has none for certain.
    BoundOfUnvaried,
    /// What is seldom available is looked at less.
    Availability,
    /// A third of what the support leaves of the budget is watched, not all of it.
    Third,
    /// Another attribute takes the place of one of the support only if it is clearly ahead.
    Exchange,
    /// Once the support has changed, the errors until then count less in the variance of the errors.
    NoiseAfterChange,
    /// An attribute that was observed while errors were large has a larger variance.
    Timing,
    /// Where no e-process is asked, an attribute whose large values come with large errors has a larger
    /// variance.
    Unevenness,
    /// Sums over different examples have a larger variance.
    UnevenSums,
    /// An attribute of which the support explains nine tenths is not added.
    Apart,
    /// Where the examples since the last change of the support say more by themselves, they alone are used.
    Since,
}
