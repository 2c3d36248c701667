//! The memory that this process may still take.

use crate::{ControlGroup, plan::resident, slurm::Slurm};

/// A limit of the memory of this process, as login nodes and batch systems set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimit {
    /// Its name in messages.
    pub name: &'static str,
    /// The command or the option that sets it.
    pub command: &'static str,
    /// Bytes that the process may take.
    pub bytes: u64,
    /// Bytes that are left of them.
    pub left: u64,
}

/// Names of the limits in `/proc/self/limits`, of what they limit in `/proc/self/status`, and commands.
const LIMITS: [(&str, &str, &str); 2] =
    [("Max address space", "VmSize:", "ulimit -v"), ("Max data size", "VmData:", "ulimit -d")];

impl ProcessLimit {
    /// The limit of which the least is left; `None` without one. That of a SLURM job is for all its processes on this node,
    /// and the others of this process, on Linux.
    pub fn of_process() -> Option<Self> {
        let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
        let own = Self::of(&read("/proc/self/limits"), &read("/proc/self/status"));
        let job = Slurm::of_process().and_then(|slurm| slurm.memory).map(|bytes| {
            let name = "the memory of the SLURM job";
            ProcessLimit { name, command: "--mem", bytes, left: bytes.saturating_sub(resident()) }
        });
        own.into_iter().chain(job).min_by_key(|limit| limit.left)
    }

    fn of(limits: &str, status: &str) -> Option<Self> {
        let number = |text: &str, name: &str| -> Option<u64> {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse().ok()
        };
        let all = LIMITS.iter().filter_map(|(limit, used, command)| {
            let bytes = number(limits, limit)?;
            let left = bytes.saturating_sub(1024 * number(status, used)?);
            Some(ProcessLimit { name: command, command, bytes, left })
        });
        all.min_by_key(|limit| limit.left)
    }
}

/// The memory that this process may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeMemory {
    /// Bytes: the free memory of the machine, or what is left of the limits of the control group or the process.
    pub bytes: u64,
    /// The limit of the process, if that is the smallest one.
    pub limit: Option<ProcessLimit>,
    /// Whether less is left of the limit of its control group than of the memory of the machine.
    is_of_group: bool,
}

impl FreeMemory {
    /// The memory at present.
    pub fn now() -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let group = ControlGroup::of_process().left.unwrap_or(u64::MAX);
        let is_of_group = group < system.available_memory();
        let others = system.available_memory().min(group);
        let limit = ProcessLimit::of_process().filter(|limit| limit.left < others);
        FreeMemory { bytes: limit.map_or(others, |limit| limit.left), limit, is_of_group }
    }

    /// What limits it, such as `ulimit -v`.
    pub fn limited_by(&self) -> &'static str {
        match (self.limit, self.is_of_group) {
            (Some(ProcessLimit { name, .. }), _) => name,
            (None, true) => "the limit of the control group",
            (None, false) => "the free memory of the machine",
        }
    }
}

/// Why there is no more memory, after a remedy, if the process is limited.
impl std::fmt::Display for FreeMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.limit {
            None => Ok(()),
            Some(ProcessLimit { command, bytes, .. }) => write!(
                f,
                "; this process may take {bytes} bytes in all: raise that limit with `{command}` or ask for more \
                 memory"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_with_the_least_left_counts() {
        let status = "Name:\tburntrace\nVmSize:\t  100000 kB\nVmData:\t   50000 kB\n";
        let limits = |space: &str, data: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            )
        };
        let of = |space: &str, data: &str| ProcessLimit::of(&limits(space, data), status);
        assert_eq!(of("unlimited", "unlimited"), None);
        let limit = |name, bytes, left| Some(ProcessLimit { name, command: name, bytes, left });
        assert_eq!(of("614400000", "unlimited"), limit("ulimit -v", 614_400_000, 512_000_000));
        assert_eq!(of("614400000", "1000"), limit("ulimit -d", 1000, 0));
        assert_eq!(ProcessLimit::of("", ""), None);
    }
}
