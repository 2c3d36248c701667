//! Reading on several threads.

use crate::Result;
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimum bytes of a hyperslab that several threads read.
pub(crate) const MIN_BYTES: usize = 1 << 20;

/// Number of threads that read; 0 for all that the process may use.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Chooses the number of threads that read large hyperslabs, before any is read: 0, the default, for all that the process may use.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// Calls a function of which the parts are for several threads: not for those of the program's pool, which may be busy with steps,
/// and whose number the program may choose later.
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

/// What a function reads for each item, in order; large items at the same time.
pub(crate) fn read_each<T: Sync, R: Send>(
    items: &[T],
    is_large: bool,
    read: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let read: Vec<Result<R>> = match is_large && items.len() > 1 {
        true => in_pool(|| items.par_iter().map(&read).collect()),
        false => items.iter().map(read).collect(),
    };
    // The first error of several is the same each time.
    read.into_iter().collect()
}
