//! Phases of a run, for profiles.

#[doc(hidden)]
pub use tracing;

/// The target of the spans that [`phase!`](crate::phase!) opens, at the level `TRACE`.
pub const PHASE: &str = "burntrace::phase";

/// Opens a span of [`tracing`] that profiles show as a phase of the run, until the returned guard is
/// dropped. It costs next to nothing without a subscriber for [`PHASE`](crate::program::PHASE).
///
/// ```
/// let sum: f64 = {
///     let _phase = burntrace_core::phase!("sum");
///     (0..10).map(f64::from).sum()
/// };
/// assert_eq!(sum, 45.0);
/// ```
#[macro_export]
macro_rules! phase {
    ($name:literal) => {
        $crate::tracing::trace_span!(target: $crate::program::PHASE, $name).entered()
    };
}
