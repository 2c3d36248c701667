//! The CPU threads of this process, and parallel work on index ranges.

use crate::slurm::default_threads;
use std::{
    mem,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread::ScopedJoinHandle,
};

/// Minimum number of indices for a thread.
const MIN_INDICES: usize = 4_000;

/// The number of CPU threads that this process has started; 0 before.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Notes how many CPU threads this process has started, for work that has threads of its own.
pub fn note_started_threads(count: usize) {
    STARTED.store(count, Ordering::Relaxed);
}

/// The number of CPU threads that this process has started, or would by default.
pub(crate) fn cpu_threads() -> usize {
    match STARTED.load(Ordering::Relaxed) {
        0 => default_threads().0,
        count => count,
    }
}

/// Calls two functions at the same time, if there is more than one thread.
pub(crate) fn both<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if cpu_threads() == 1 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (joined(first), second)
    })
}

/// Calls `work` with consecutive parts of `0..count` in parallel, and returns its results in order.
pub(crate) fn in_parts<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    filled((count, 0), (), |range, _| work(range)).1
}

/// Allocates rows of `width` elements that are `empty`, and [fills](fill) them in parallel. Returns them, and the results of `work` in
/// order.
pub(crate) fn filled<T: Copy + Send, R: Send>(
    (count, width): (usize, usize),
    empty: T,
    work: impl Fn(Range<usize>, &mut [T]) -> R + Sync,
) -> (Vec<T>, Vec<R>) {
    let mut rows = vec![empty; count * width];
    let results = fill((count, width), &mut rows, work);
    (rows, results)
}

/// Calls `work` with consecutive parts of `0..count` in parallel, each with its rows of `width` elements. Returns its results in order.
pub(crate) fn fill<T: Send, R: Send>(
    (count, width): (usize, usize),
    rows: &mut [T],
    work: impl Fn(Range<usize>, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let parts = cpu_threads().min(count / MIN_INDICES).max(1);
    let part = |k: usize| k * count / parts..(k + 1) * count / parts;
    let (first, mut rest) = rows.split_at_mut(part(0).len() * width);
    let work = &work;
    std::thread::scope(|scope| {
        let start = |k: usize| {
            let (own, after) = mem::take(&mut rest).split_at_mut(part(k).len() * width);
            rest = after;
            scope.spawn(move || work(part(k), own))
        };
        let others: Vec<_> = (1..parts).map(start).collect();
        let mut results = vec![work(part(0), first)];
        results.extend(others.into_iter().map(joined));
        results
    })
}

/// The result of a thread, whose panic goes on in this one.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
