//! Compilations of kernels for graphics cards, counted as CubeCL reports them.

use burntrace::device;
use log::{LevelFilter, Log, Metadata, Record};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);
static IS_COUNTED: AtomicBool = AtomicBool::new(false);
static COUNTER: Counter = Counter;

/// Counts compilations, and passes warnings of other crates to the log of the run.
struct Counter;

impl Log for Counter {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.target() == device::COMPILATION || metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &Record) {
        if record.target() == device::COMPILATION {
            COUNT.fetch_add(1, Ordering::Relaxed);
            tracing::debug!("{}", record.args());
        } else if self.enabled(record.metadata()) {
            tracing::warn!(of = record.target(), "{}", record.args());
        }
    }

    fn flush(&self) {}
}

/// Counts compilations from now on. To be called before a device is used.
pub fn observe() {
    let is_counted = log::set_logger(&COUNTER).is_ok() && device::log_compilations();
    IS_COUNTED.store(is_counted, Ordering::Relaxed);
    log::set_max_level(LevelFilter::Info);
}

/// The number of kernels that this process has compiled. `None` if they are not counted: the program has no support
/// for graphics cards.
pub fn count() -> Option<u64> {
    IS_COUNTED.load(Ordering::Relaxed).then(|| COUNT.load(Ordering::Relaxed))
}
