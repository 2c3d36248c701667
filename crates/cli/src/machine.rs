//! The machine, the date, and the memory of this process.

use burntrace::io::series::Calendar;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine of a benchmark.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Name of the processor, if the system reports it.
    pub cpu: Option<String>,
    /// Number of threads of the CPU devices.
    pub threads: usize,
    pub os: String,
    pub arch: String,
}

impl Machine {
    /// The machine running this program.
    pub fn this() -> Self {
        Machine {
            cpu: line_of("/proc/cpuinfo", "model name"),
            threads: rayon::current_num_threads(),
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        write!(f, "{cpu}, {} threads, {} {}", self.threads, self.os, self.arch)
    }
}

/// The value in a line `name : value` of a system file.
pub fn line_of(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Resets the peak memory of this process. Where the system does not support this, the
/// peak counts from the start of the program.
pub fn reset_peak_memory() {
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// The current UTC time, such as `2026-11-21T10:51:00Z`.
pub fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let date = Calendar::ProlepticGregorian.date_since_1970(since as f64);
    format!("{}Z", date.unwrap_or_default())
}
