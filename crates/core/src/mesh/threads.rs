//! Work on ranges of numbers, shared among threads.

use std::ops::Range;

/// Fewer numbers than these are not worth a thread.
const LEAST: usize = 20_000;

/// What `work` makes of consecutive parts of `0..count`, in their order.
pub(super) fn in_parts<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = threads.min(count / LEAST).max(1);
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
