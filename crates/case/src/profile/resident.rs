//! The memory of the process.

use std::fs::File;
use std::sync::OnceLock;

/// Resident bytes of the process, on Linux; 0 elsewhere. `/proc/self/statm` counts pages, whose size follows from `/proc/self/status`, which
/// takes longer to read; it stays open.
pub fn resident() -> u64 {
    static COUNTS: OnceLock<Option<(File, u64)>> = OnceLock::new();
    let open = || {
        let counts = File::open("/proc/self/statm").ok()?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let bytes = 1024 * line.split_whitespace().next()?.parse::<u64>().ok()?;
        let page = (bytes / pages(&counts)?.max(1)).max(1).next_power_of_two();
        Some((counts, page))
    };
    let of_process = |(counts, page): &(File, u64)| Some(page * pages(counts)?);
    COUNTS.get_or_init(open).as_ref().and_then(of_process).unwrap_or(0)
}

/// The resident pages in `/proc/self/statm`: its second number.
#[cfg(unix)]
fn pages(counts: &File) -> Option<u64> {
    let mut text = [0; 128];
    let length = std::os::unix::fs::FileExt::read_at(counts, &mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(not(unix))]
fn pages(_: &File) -> Option<u64> {
    None
}
