//! The memory that this process may still take.

use crate::ControlGroup;

/// A limit of the memory of this process, as login nodes set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimit {
    /// The command that shows and sets it.
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
    /// The limit of which the least is left; `None` without one, and on systems other than Linux.
    pub fn of_process() -> Option<Self> {
        let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
        Self::of(&read("/proc/self/limits"), &read("/proc/self/status"))
    }

    fn of(limits: &str, status: &str) -> Option<Self> {
        let number = |text: &str, name: &str| -> Option<u64> {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse().ok()
        };
        let all = LIMITS.iter().filter_map(|(limit, used, command)| {
            let bytes = number(limits, limit)?;
            let left = bytes.saturating_sub(1024 * number(status, used)?);
            Some(ProcessLimit { command, bytes, left })
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
}

impl FreeMemory {
    /// The memory at present.
    pub fn now() -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let group = ControlGroup::of_process().left.unwrap_or(u64::MAX);
        let others = system.available_memory().min(group);
        let limit = ProcessLimit::of_process().filter(|limit| limit.left < others);
        FreeMemory { bytes: limit.map_or(others, |limit| limit.left), limit }
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
        let space = ProcessLimit { command: "ulimit -v", bytes: 614_400_000, left: 512_000_000 };
        assert_eq!(of("614400000", "unlimited"), Some(space));
        let data = ProcessLimit { command: "ulimit -d", bytes: 1000, left: 0 };
        assert_eq!(of("614400000", "1000"), Some(data));
        assert_eq!(ProcessLimit::of("", ""), None);
    }
}
