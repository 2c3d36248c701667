//! Sizes of fields before they are loaded, and of memory.

use crate::{
    ControlGroup, FrameSource, Frames, GridSource, MeshSource, PointSource, Precision, device,
    field::ArrayLanes, mesh,
};
use burn::tensor::Device;
use burntrace_kernels::{CELL_RECORD, NODE_PADDING, Placement};

/// Bytes of a value on the host while its frame is read: file contents and decoded numbers.
pub(crate) const READ_BYTES: usize = 24;

/// The size of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSize {
    /// Number of frames.
    pub frames: usize,
    /// Bytes of a frame on the device.
    pub frame_bytes: u64,
    /// Bytes of coordinates and cells on the device.
    pub other_bytes: u64,
    /// Bytes on the host while a frame is read, with those that the source keeps.
    pub read_bytes: u64,
}

impl FieldSize {
    /// Bytes of the frames that are needed at a time: two, to interpolate between them.
    pub(super) fn needed_bytes(&self) -> u64 {
        self.frames.min(2) as u64 * self.frame_bytes
    }

    /// Bytes of the field if it holds a number of frames, or blocks of them.
    pub fn bytes(&self, frames: Frames) -> u64 {
        if let Frames::Blocks(bytes) = frames {
            return bytes + self.other_bytes;
        }
        let held = frames.window(self.frames).unwrap_or(self.frames);
        held as u64 * self.frame_bytes + self.other_bytes
    }

    /// The size of frames with a number of nodes or cells.
    fn of(source: &dyn FrameSource, values: usize, precision: Precision, other: usize) -> Self {
        let (bytes, rows) = (precision.bytes(), values * ArrayLanes::of(source).groups());
        FieldSize {
            frames: source.times().len(),
            frame_bytes: (rows * 4 * bytes) as u64,
            other_bytes: (other + 4 * bytes) as u64,
            read_bytes: (rows * READ_BYTES) as u64 + source.cache_bytes(),
        }
    }

    /// The size of a field on a grid.
    pub fn grid(source: &dyn GridSource, precision: Precision) -> Self {
        let is_cell = source.placement() == Placement::Cells;
        let nodes = source.axes().each_ref().map(Vec::len);
        let values = nodes.map(|n| if is_cell { n.max(2) - 1 } else { n }).iter().product();
        let other = nodes.iter().sum::<usize>() * precision.bytes();
        FieldSize::of(source, values, precision, other)
    }

    /// The size of a field on scattered points, with an estimate of the search lattice.
    pub fn points(source: &dyn PointSource, precision: Precision) -> Self {
        let values = source.positions().len();
        let other = 3 * (values + NODE_PADDING) * precision.bytes() + 2 * values;
        FieldSize::of(source, values, precision, other)
    }

    /// The size of a field on a mesh, with an estimate of the cell locator.
    pub fn mesh(source: &dyn MeshSource, precision: Precision) -> Self {
        let (points, cells): (_, &mesh::Cells) = (source.points().len(), source.cells());
        let values = match source.placement() {
            Placement::Nodes => points,
            Placement::Cells => cells.len(),
        };
        let records = CELL_RECORD * precision.bytes() + 25 * size_of::<i32>();
        let other = cells.len() * records + cells.connectivity.len() * 2 * size_of::<i32>();
        FieldSize::of(source, values, precision, other)
    }
}

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
    /// memory of the machine or of the process's control group. The free memory of a graphics card
    /// is unknown.
    pub fn of(device: &Device) -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let limit = ControlGroup::of_process().left.unwrap_or(u64::MAX);
        let left = system.available_memory().min(limit);
        let host = (left > 0).then(|| resident() + left / 10 * 9);
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

/// Resident memory of this process in bytes; 0 if unknown.
pub(crate) fn resident() -> u64 {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
    let Ok(id) = sysinfo::get_current_pid() else { return 0 };
    let mut system = System::new();
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, kind);
    system.process(id).map_or(0, sysinfo::Process::memory)
}
