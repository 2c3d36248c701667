//! Sizes of what a plan is made of: fields that are not loaded yet, and memory.

use crate::{GridSource, MeshSource, PointSource, Precision, device, mesh};
use burn::tensor::Device;
use burntrace_kernels::{CELL_RECORD, NODE_PADDING, Placement};

/// Bytes of a value on the host while its frame is read: what is in a file, and its numbers.
pub(crate) const READ_BYTES: usize = 24;

/// A field's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSize {
    /// How many frames there are.
    pub frames: usize,
    /// Bytes of a frame on the device.
    pub frame_bytes: u64,
    /// Bytes beside the frames on the device: coordinates, cells.
    pub other_bytes: u64,
    /// Bytes on the host while a frame is read.
    pub read_bytes: u64,
}

impl FieldSize {
    /// That of frames with so many values.
    fn of(frames: usize, values: usize, precision: Precision, other: usize) -> Self {
        let bytes = precision.bytes();
        FieldSize {
            frames,
            frame_bytes: (values * 4 * bytes) as u64,
            other_bytes: (other + 4 * bytes) as u64,
            read_bytes: (values * READ_BYTES) as u64,
        }
    }

    /// That of a field on a grid.
    pub fn grid(source: &dyn GridSource, precision: Precision) -> Self {
        let is_cell = source.placement() == Placement::Cells;
        let nodes = source.axes().each_ref().map(Vec::len);
        let values = nodes.map(|n| if is_cell { n.max(2) - 1 } else { n }).iter().product();
        let other = nodes.iter().sum::<usize>() * precision.bytes();
        FieldSize::of(source.times().len(), values, precision, other)
    }

    /// That of a field on scattered points; what finds them is estimated.
    pub fn points(source: &dyn PointSource, precision: Precision) -> Self {
        let values = source.positions().len();
        let other = 3 * (values + NODE_PADDING) * precision.bytes() + 2 * values;
        FieldSize::of(source.times().len(), values, precision, other)
    }

    /// That of a field on a mesh; what finds its cells is estimated.
    pub fn mesh(source: &dyn MeshSource, precision: Precision) -> Self {
        let (points, cells): (_, &mesh::Cells) = (source.points().len(), source.cells());
        let values = match source.placement() {
            Placement::Nodes => points,
            Placement::Cells => cells.len(),
        };
        let records = CELL_RECORD * precision.bytes() + 25 * size_of::<i32>();
        let other = cells.len() * records + cells.connectivity.len() * 2 * size_of::<i32>();
        FieldSize::of(source.times().len(), values, precision, other)
    }
}

/// Memory that a run may use, in bytes; nothing where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// For the whole process on the host.
    pub host: Option<u64>,
    /// On a device that has memory of its own.
    pub device: Option<u64>,
    /// Whether the device's memory is that of the host.
    pub is_shared: bool,
}

impl Memory {
    /// What is there now for a process that runs on a device: what it has already and nine tenths of
    /// what the machine, or the control group of the process, has left. How much memory a card has
    /// left is not known.
    pub fn of(device: &Device) -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        // Files that are cached in memory make room where it is asked for.
        let limit = system
            .cgroup_limits()
            .map_or(u64::MAX, |limits| limits.total_memory.saturating_sub(limits.rss));
        let left = system.available_memory().min(limit);
        let host = (left > 0).then(|| resident() + left / 10 * 9);
        Memory { host, ..Memory::unknown(device) }
    }

    /// Nothing is known.
    pub fn unknown(device: &Device) -> Self {
        let is_card = device::compiles_kernels(device) && !device::is_software(device);
        Memory { host: None, device: None, is_shared: !is_card }
    }

    /// So many bytes: for all of the process where the device is the CPU, else on the device.
    pub fn within(self, bytes: u64) -> Self {
        match self.is_shared {
            true => Memory { host: Some(self.host.map_or(bytes, |host| host.min(bytes))), ..self },
            false => Memory { device: Some(bytes), ..self },
        }
    }
}

/// Bytes that this process has in memory; 0 where that cannot be told.
pub(crate) fn resident() -> u64 {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
    let Ok(id) = sysinfo::get_current_pid() else { return 0 };
    let mut system = System::new();
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, kind);
    system.process(id).map_or(0, sysinfo::Process::memory)
}
