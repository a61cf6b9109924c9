//! Methods of test doubles that hand on to what they stand for.

/// Writes methods of a [`Learner`](lao_observation::Learner) or a [`Source`](lao_observation::Source) that
/// call the same method of a field, in the implementation of a test double.
///
/// ```
/// use lao_kernels::SparseView;
/// use lao_observation::{Ask, LearnError, Learner, Rng, Told};
/// use lao_verification_engine::hand_on;
///
/// /// A learner that never learns.
/// struct Deaf<L>(L);
///
/// impl<L: Learner> Learner for Deaf<L> {
///     hand_on!(0: dim ask coefficients updates);
///
///     fn tell(&mut self, _: Told<'_>) -> Result<(), LearnError> {
///         Ok(())
///     }
/// }
/// ```
#[macro_export]
macro_rules! hand_on {
    ($field:tt: $($method:ident)+) => { $($crate::hand_on!(@ $method $field);)+ };
    (@ dim $field:tt) => {
        fn dim(&self) -> usize { self.$field.dim() }
    };
    (@ ask $field:tt) => {
        fn ask(&mut self, rng: &mut $crate::observation::Rng, ask: &mut $crate::observation::Ask) {
            self.$field.ask(rng, ask)
        }
    };
    (@ predict $field:tt) => {
        fn predict(&self, seen: $crate::observation::Row<'_>) -> f64 { self.$field.predict(seen) }
    };
    (@ tell $field:tt) => {
        fn tell(
            &mut self,
            told: $crate::observation::Told<'_>,
        ) -> Result<(), $crate::observation::LearnError> {
            self.$field.tell(told)
        }
    };
    (@ coefficients $field:tt) => {
        fn coefficients(&self) -> $crate::SparseView<'_> { self.$field.coefficients() }
    };
    (@ intercept $field:tt) => {
        fn intercept(&self) -> f64 { self.$field.intercept() }
    };
    (@ updates $field:tt) => {
        fn updates(&self) -> u64 { self.$field.updates() }
    };
    (@ examples_to_next_update $field:tt) => {
        fn examples_to_next_update(&self) -> Option<u64> { self.$field.examples_to_next_update() }
    };
    (@ takes_gaps $field:tt) => {
        fn takes_gaps(&self) -> bool { self.$field.takes_gaps() }
    };
    (@ takes_weights $field:tt) => {
        fn takes_weights(&self) -> bool { self.$field.takes_weights() }
    };
    (@ observe $field:tt) => {
        fn observe(
            &mut self,
            attributes: &[u32],
            block: &mut $crate::observation::BlockBuf,
        ) -> Result<usize, $crate::observation::SourceError> {
            self.$field.observe(attributes, block)
        }
    };
    (@ position $field:tt) => {
        fn position(&self) -> u64 { self.$field.position() }
    };
    (@ seek $field:tt) => {
        fn seek(&mut self, position: u64) -> Result<(), $crate::observation::SourceError> {
            self.$field.seek(position)
        }
    };
}
