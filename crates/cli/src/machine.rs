//! The machine, the date, and the memory of this process.

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

/// Peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let value = line_of("/proc/self/status", "VmHWM")?;
    let kilobytes: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

/// The current UTC time, such as `2026-11-21T10:51:00Z`.
pub fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let [year, month, day] = civil(since / 86_400);
    let (hour, minute, second) = (since / 3600 % 24, since / 60 % 60, since % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Converts days since 1970-01-01 to year, month and day.
fn civil(mut days: u64) -> [u64; 3] {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    [year, month, days + 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_convert_to_dates() {
        assert_eq!(civil(0), [1970, 1, 1]);
        assert_eq!(civil(11_016), [2000, 2, 29]);
        assert_eq!(civil(11_017), [2000, 3, 1]);
        assert_eq!(civil(20_818), [2026, 12, 31]);
        assert_eq!(civil(20_819), [2027, 1, 1]);
    }
}
