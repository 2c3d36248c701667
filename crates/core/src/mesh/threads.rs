//! Parallel work on index ranges.

use crate::slurm::default_threads;
use std::ops::Range;

/// Minimum number of indices for a thread.
const MIN_INDICES: usize = 20_000;

/// Calls `work` with consecutive parts of `0..count` in parallel, and returns its results in order.
pub(super) fn in_parts<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let (threads, _) = default_threads();
    let parts = threads.min(count / MIN_INDICES).max(1);
    let part = |k: usize| k * count / parts..(k + 1) * count / parts;
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts).map(|k| scope.spawn(move || work(part(k)))).collect();
        let mut results = vec![work(part(0))];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}
