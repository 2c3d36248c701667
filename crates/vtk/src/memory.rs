//! The memory that the values of files may take.

use std::sync::OnceLock;

/// Bytes that are not compared with the free memory.
const SMALL: u64 = 64 << 20;

/// Values take this number of times their bytes: they are decoded, then converted.
const COPIES: u64 = 2;

static FREE_MEMORY: OnceLock<fn() -> u64> = OnceLock::new();

/// Sets how to find the number of bytes of memory that are free, once in a process: values of a file that need more
/// are an error before they are decoded. Without it, all are decoded whose memory the system grants.
pub fn limit_memory(free: fn() -> u64) {
    // A second function is ignored.
    FREE_MEMORY.set(free).ok();
}

/// Whether values of a number of bytes fit into the free memory.
pub fn fits_memory(bytes: u64) -> bool {
    let needed = bytes.saturating_mul(COPIES);
    needed <= SMALL || FREE_MEMORY.get().is_none_or(|free| needed <= free())
}
