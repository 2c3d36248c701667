//! Reading on several threads.

use crate::Result;
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimum bytes of a hyperslab that several threads read.
const MIN_BYTES: usize = 1 << 20;

/// Number of threads that read; 0 for `RAYON_NUM_THREADS`, or all CPUs of the process.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads that read large hyperslabs: 0, the default, for `RAYON_NUM_THREADS`, or all CPUs of the process. It has
/// no effect once a large one has been read.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// Whether several threads read a hyperslab of this size.
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes >= MIN_BYTES
}

/// Calls a function in the pool for reading. The global pool may be busy with steps.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let count = THREADS.load(Ordering::Relaxed);
        let builder = ThreadPoolBuilder::new().num_threads(count);
        builder.thread_name(|number| format!("burntrace-read-{number}")).build().ok()
    });
    match &*POOL {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Reads each item, in order; large ones in parallel.
pub(crate) fn read_each<T: Sync, R: Send>(
    items: &[T],
    is_large: bool,
    read: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let read: Vec<Result<R>> = match is_large && items.len() > 1 {
        true => in_pool(|| items.par_iter().map(&read).collect()),
        false => items.iter().map(read).collect(),
    };
    // The first error by the order of items, not by time.
    read.into_iter().collect()
}
