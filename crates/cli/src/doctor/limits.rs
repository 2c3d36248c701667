//! CPUs and memory that this process may use, and why.

use crate::machine;
use burntrace::{
    burn::tensor::Device,
    program::{ControlGroup, Memory},
};
use serde::Serialize;

/// CPUs and memory that this process may use.
#[derive(Serialize)]
pub struct Limits {
    /// Logical CPUs of the machine.
    pub cpus: usize,
    /// CPUs that the process may run on, if the system reports it.
    pub affinity: Option<usize>,
    /// Threads that a run starts by default.
    pub threads: usize,
    /// Bytes of memory of the machine, and those that are free or hold cached files.
    pub memory: [u64; 2],
    /// Bytes that the memory plan of a run counts on.
    pub planned_memory: Option<u64>,
    pub control_group: ControlGroup,
    pub slurm: Option<Slurm>,
}

/// What SLURM gave to this job.
#[derive(Debug, PartialEq, Serialize)]
pub struct Slurm {
    pub job: String,
    /// CPUs of this task, or of the job on this node.
    pub cpus: Option<usize>,
    /// Bytes on this node.
    pub memory: Option<u64>,
}

impl Limits {
    pub fn now() -> Limits {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        Limits {
            cpus: cpus().unwrap_or_else(threads),
            affinity: affinity(),
            threads: threads(),
            memory: [system.total_memory(), system.available_memory()],
            planned_memory: Memory::of(&Device::flex()).host,
            control_group: ControlGroup::of_process(),
            slurm: Slurm::of(|name| std::env::var(name).ok()),
        }
    }
}

impl Slurm {
    /// From the variables of the environment.
    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Slurm> {
        let number = |name| variable(name)?.parse::<u64>().ok();
        let cpus = number("SLURM_CPUS_PER_TASK").or_else(|| number("SLURM_CPUS_ON_NODE"));
        // In MiB.
        let per_cpu =
            || Some(number("SLURM_MEM_PER_CPU")? * number("SLURM_CPUS_ON_NODE").or(cpus)?);
        let memory = number("SLURM_MEM_PER_NODE").filter(|mib| *mib > 0).or_else(per_cpu);
        Some(Slurm {
            job: variable("SLURM_JOB_ID")?,
            cpus: cpus.map(|cpus| cpus as usize),
            memory: memory.map(|mib| mib << 20),
        })
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
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

    #[test]
    fn slurm_gives_cpus_of_the_task_and_memory_of_the_node() {
        let of = |set: &[(&str, &str)]| {
            let all: Vec<(String, String)> =
                set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            Slurm::of(|name| {
                all.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
            })
        };
        let found = of(&[
            ("SLURM_JOB_ID", "17"),
            ("SLURM_CPUS_ON_NODE", "8"),
            ("SLURM_CPUS_PER_TASK", "4"),
            ("SLURM_MEM_PER_CPU", "1024"),
        ]);
        let expected = Slurm { job: "17".into(), cpus: Some(4), memory: Some(8 << 30) };
        assert_eq!(found, Some(expected));
        assert_eq!(of(&[("SLURM_CPUS_PER_TASK", "4")]), None);
    }
}
