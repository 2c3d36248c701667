//! The table of the kernels that a run has launched on graphics cards.

use super::seconds;
use burntrace_core::device::KernelTime;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// The launches of kernels since earlier ones, those that took the longest first.
pub fn since(mut kernels: Vec<KernelTime>, before: &[KernelTime]) -> Vec<Value> {
    for time in &mut kernels {
        if let Some(before) = before.iter().find(|before| before.kernel == time.kernel) {
            time.launches -= before.launches;
            time.timed -= before.timed;
            time.nanoseconds -= before.nanoseconds;
        }
    }
    kernels.retain(|time| time.launches > 0);
    kernels.sort_by_key(|time| Reverse(time.nanoseconds));
    kernels.into_iter().map(row).collect()
}

fn row(time: KernelTime) -> Value {
    json!({
        "kernel": time.kernel,
        "launches": time.launches,
        "timed": time.timed,
        "seconds": seconds(time.nanoseconds),
        "clock": if time.is_by_card { "card" } else { "host" },
    })
}
