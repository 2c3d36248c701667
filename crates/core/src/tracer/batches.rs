//! Number of particles on the device at a time.

use crate::{Error, Result, summary::BatchSummary};
use std::ops::Range;

/// Minimum batch size after halving.
const MIN_BATCH: usize = 64;

/// Batches that must fit before the batch size grows again; doubled after each failure.
const PATIENCE: u32 = 16;

/// The batch sizes of a run.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    /// The maximum size.
    max: usize,
    /// The current size.
    now: usize,
    /// Number of batches that have fitted since the size last changed.
    fitted: u32,
    patience: u32,
    summary: BatchSummary,
}

impl Batches {
    /// Batches of at most `max` particles.
    pub fn new(max: usize) -> Self {
        let summary = BatchSummary::default();
        Batches { max, now: max, fitted: 0, patience: PATIENCE, summary }
    }

    /// The batch that starts with particle `first` of `count`.
    pub fn next(&mut self, first: usize, count: usize) -> Range<usize> {
        first..count.min(first + self.now)
    }

    /// Records that a batch fitted; after enough of them the batch size is doubled.
    pub fn fitted(&mut self, size: usize) {
        self.summary.add(size);
        self.fitted += 1;
        if self.now < self.max && self.fitted >= self.patience {
            self.now = self.max.min(2 * self.now);
            self.fitted = 0;
        }
    }

    /// Records that a batch did not fit: the following ones are half the size.
    ///
    /// # Errors
    ///
    /// `error` itself, if it is not a lack of memory or the batch is already minimal.
    pub fn halve(&mut self, size: usize, error: Error) -> Result<()> {
        if !is_out_of_memory(&error) || size < 2 * MIN_BATCH {
            return Err(error);
        }
        if self.summary.retries == 0 {
            tracing::warn!(%error, size, "the device is out of memory; batches are halved");
        }
        self.now = size.div_ceil(2);
        self.max = self.max.max(self.now);
        self.fitted = 0;
        self.patience = self.patience.saturating_mul(2);
        self.summary.retries += 1;
        Ok(())
    }

    pub fn summary(&self) -> BatchSummary {
        self.summary
    }
}

/// Whether an error means that the device is out of memory, judged by its text.
pub(super) fn is_out_of_memory(error: &Error) -> bool {
    let Error::Execution(text) = error else { return false };
    let text = text.to_lowercase();
    // CubeCL's `OutOfMemory`, `BufferTooBig` and `PageSizesExhausted`, by name and by message.
    let signs = [
        "out of memory",
        "out of device memory",
        "outofmemory",
        "buffertoobig",
        "pagesizesexhausted",
        "can't allocate",
    ];
    signs.iter().any(|sign| text.contains(sign))
}

/// Simulated device failures for tests.
#[cfg(test)]
pub(super) mod failing {
    use super::*;
    use std::cell::RefCell;

    /// Where the simulated failure occurs.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum FailurePoint {
        Upload,
        Launch,
        ReadBack,
    }

    thread_local! {
        static LIMIT: RefCell<Option<(FailurePoint, usize, u32)>> = const { RefCell::new(None) };
    }

    /// From the `after`-th pass on, batches of more than `max` particles fail at `place`.
    pub fn arm(place: FailurePoint, max: usize, after: u32) {
        LIMIT.set(Some((place, max, after)));
    }

    pub fn disarm() {
        LIMIT.set(None);
    }

    pub fn is_armed() -> bool {
        LIMIT.with_borrow(Option::is_some)
    }

    /// Passes a possible point of failure with a batch of `size` particles.
    pub fn pass(place: FailurePoint, size: usize) -> Result<()> {
        LIMIT.with_borrow_mut(|limit| match limit {
            Some((at, max, after)) if *at == place && size > *max => {
                *after = after.saturating_sub(1);
                let text = "IoError: out of device memory allocating 1 bytes";
                if *after == 0 { Err(Error::Execution(text.into())) } else { Ok(()) }
            }
            _ => Ok(()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lack() -> Error {
        Error::Execution("Err(OutOfMemory { size: 1 })".into())
    }

    #[test]
    fn batches_are_halved_and_grow_again() {
        let mut batches = Batches::new(1000);
        batches.halve(1000, lack()).unwrap();
        batches.halve(500, lack()).unwrap();
        assert_eq!(batches.next(900, 1000), 900..1000);
        for _ in 0..4 * PATIENCE - 1 {
            batches.fitted(250);
        }
        assert_eq!(batches.next(0, 1000), 0..250);
        batches.fitted(250);
        assert_eq!(batches.next(0, 1000), 0..500);
        for _ in 0..4 * PATIENCE {
            batches.fitted(500);
        }
        assert_eq!(batches.next(0, 2000), 0..1000);
        let summary = batches.summary();
        assert_eq!((summary.sizes, summary.retries), ([250, 500], 2));
    }

    #[test]
    fn batches_that_fitted_before_a_failure_do_not_count_after_it() {
        let mut batches = Batches::new(1000);
        batches.halve(1000, lack()).unwrap();
        (1..2 * PATIENCE).for_each(|_| batches.fitted(500));
        batches.halve(500, lack()).unwrap();
        (1..4 * PATIENCE).for_each(|_| batches.fitted(250));
        assert_eq!(batches.next(0, 1000), 0..250);
        batches.fitted(250);
        assert_eq!(batches.next(0, 1000), 0..500);
    }

    #[test]
    fn only_out_of_memory_errors_halve_batches() {
        let mut batches = Batches::new(1000);
        let other = || Error::Execution("the kernel has a mistake".into());
        assert!(batches.halve(1000, other()).is_err());
        assert!(batches.halve(2 * MIN_BATCH - 1, lack()).is_err());
        assert_eq!(batches.summary().retries, 0);
    }
}
