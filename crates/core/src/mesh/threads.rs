//! Parallel work on index ranges.

use crate::slurm::default_threads;
use std::{ops::Range, thread::ScopedJoinHandle};

/// Minimum number of indices for a thread.
const MIN_INDICES: usize = 20_000;

/// Calls two functions at the same time, if there is more than one thread.
pub(super) fn both<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if default_threads().0 == 1 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (joined(first), second)
    })
}

/// Calls `work` with consecutive parts of `0..count` in parallel, and returns its results in order.
pub(super) fn in_parts<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let (threads, _) = default_threads();
    let parts = threads.min(count / MIN_INDICES).max(1);
    let part = |k: usize| k * count / parts..(k + 1) * count / parts;
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts).map(|k| scope.spawn(move || work(part(k)))).collect();
        let mut results = vec![work(part(0))];
        results.extend(others.into_iter().map(joined));
        results
    })
}

/// The result of a thread, whose panic goes on in this one.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
