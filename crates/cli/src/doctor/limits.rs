//! CPUs and memory that this process may use, and why.

use crate::machine;
use burntrace::{
    burn::tensor::Device,
    program::{ControlGroup, FreeMemory, Memory, Slurm, default_threads},
};
use serde::Serialize;

/// CPUs and memory that this process may use.
#[derive(Serialize)]
pub struct Limits {
    /// Logical CPUs of the machine.
    pub cpus: usize,
    /// CPUs that the process may run on, if the system reports it.
    pub affinity: Option<usize>,
    /// Threads that a run starts by default, and what determines their number.
    pub threads: usize,
    pub threads_from: String,
    /// Bytes of memory of the machine, and those that are free or hold cached files.
    pub memory: [u64; 2],
    /// Bytes that the memory plan of a run counts on.
    pub planned_memory: Option<u64>,
    /// What limits that memory.
    pub memory_from: &'static str,
    pub control_group: ControlGroup,
    pub slurm: Option<Slurm>,
}

impl Limits {
    pub fn now() -> Limits {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let (threads, threads_from) = default_threads();
        Limits {
            cpus: cpus().unwrap_or(threads),
            affinity: affinity(),
            threads,
            threads_from: threads_from.to_string(),
            memory: [system.total_memory(), system.available_memory()],
            planned_memory: Memory::of(&Device::flex()).host,
            memory_from: FreeMemory::now().limited_by(),
            control_group: ControlGroup::of_process(),
            slurm: Slurm::of_process(),
        }
    }
}

/// Logical CPUs of the machine.
fn cpus() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    Some(text.lines().filter(|line| line.starts_with("processor")).count()).filter(|n| *n > 0)
}

/// CPUs that this process may run on.
fn affinity() -> Option<usize> {
    count_in_list(&machine::line_of("/proc/self/status", "Cpus_allowed_list")?)
}

/// The number of CPUs in a list such as `0-3,8`.
fn count_in_list(list: &str) -> Option<usize> {
    let mut count = 0;
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let [first, last] = [first.trim().parse::<usize>().ok()?, last.trim().parse().ok()?];
        count += (last + 1).checked_sub(first)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(count_in_list("\t0-3,8\n"), Some(5));
        assert_eq!(count_in_list("7"), Some(1));
        assert_eq!(count_in_list(""), None);
    }
}
