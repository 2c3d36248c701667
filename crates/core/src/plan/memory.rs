//! The memory that a run may use.

use crate::{FreeMemory, device};
use burn::tensor::Device;

/// Bytes of a program that traces on the CPU: 47 to 60 MB were measured.
const LEAST: u64 = 64 << 20;

/// Memory that a run may use, in bytes; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Memory of the process on the host.
    pub host: Option<u64>,
    /// Memory on a device with its own memory.
    pub device: Option<u64>,
    /// Whether the device uses host memory.
    pub is_shared: bool,
}

impl Memory {
    /// The memory available to this process now: its resident memory, and nine tenths of the free
    /// memory of the machine, of the process's control group or of its own limits. The free memory of a graphics
    /// card is unknown.
    pub fn of(device: &Device) -> Self {
        let FreeMemory { bytes: left, limit, .. } = FreeMemory::now();
        let host = (left > 0 || limit.is_some()).then(|| resident() + left / 10 * 9);
        Memory { host, ..Memory::unknown(device) }
    }

    /// Unknown memory.
    pub fn unknown(device: &Device) -> Self {
        let is_card = device::compiles_kernels(device) && !device::is_software(device);
        Memory { host: None, device: None, is_shared: !is_card }
    }

    /// The share of one of several runs at a time in this process: of the host's memory beside what the process
    /// holds now, one of `runs` equal parts; of the device's memory, one of `on_device`.
    pub fn divided(self, runs: usize, on_device: usize) -> Self {
        let held = resident();
        let host = |all: u64| all.min(held) + all.saturating_sub(held) / runs.max(1) as u64;
        Memory {
            host: self.host.map(host),
            device: self.device.map(|all| all / on_device.max(1) as u64),
            ..self
        }
    }

    /// A limit in bytes, for the whole process if the device is the CPU, else for the device.
    pub fn within(self, bytes: u64) -> Self {
        match self.is_shared {
            true => Memory { host: Some(self.host.map_or(bytes, |host| host.min(bytes))), ..self },
            false => Memory { device: Some(bytes), ..self },
        }
    }
}

/// Bytes that this process has taken beside some of its data, or will have when it has started its threads: code that has not run
/// yet is not resident. So `burntrace plan` counts what a run counts.
pub(crate) fn program(data: u64) -> u64 {
    resident().saturating_sub(data).max(LEAST)
}

/// Resident memory of this process in bytes; 0 if unknown.
pub(crate) fn resident() -> u64 {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
    let Ok(id) = sysinfo::get_current_pid() else { return 0 };
    let mut system = System::new();
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, kind);
    system.process(id).map_or(0, sysinfo::Process::memory)
}
