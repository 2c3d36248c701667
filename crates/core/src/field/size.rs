//! Sizes of fields before they are loaded.

use super::{
    frames::Frames,
    lanes::ArrayLanes,
    source::{FrameSource, GridSource, MeshSource, PointSource},
};
use crate::{Precision, mesh};
use burntrace_kernels::{CELL_RECORD, NODE_PADDING, Placement};

/// Bytes of a value on the host while its frame is read: file contents and decoded numbers.
pub(super) const READ_BYTES: usize = 24;

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
    /// Bytes of the field if it holds a number of frames.
    pub fn bytes(&self, frames: Frames) -> u64 {
        let held = frames.window(self.frames).unwrap_or(self.frames);
        held as u64 * self.frame_bytes + self.other_bytes
    }

    /// The size of frames with a number of nodes or cells, whose velocities have four numbers if `is_full`.
    fn of(
        source: &dyn FrameSource,
        (values, is_full): (usize, bool),
        precision: Precision,
        other: usize,
    ) -> Self {
        let (bytes, rows) = (precision.bytes(), values * ArrayLanes::of(source, is_full).groups());
        FieldSize {
            frames: source.times().len(),
            frame_bytes: (rows * 4 * bytes) as u64,
            other_bytes: (other + 4 * bytes) as u64,
            read_bytes: (rows * READ_BYTES) as u64 + source.cache_bytes(),
        }
    }

    /// The size of a field on a grid, perhaps of degrees on a sphere.
    pub fn grid(source: &dyn GridSource, is_on_sphere: bool, precision: Precision) -> Self {
        let is_cell = source.placement() == Placement::Cells;
        let nodes = source.axes().each_ref().map(Vec::len);
        let values = nodes.map(|n| if is_cell { n.max(2) - 1 } else { n }).iter().product();
        let other = nodes.iter().sum::<usize>() * precision.bytes();
        FieldSize::of(source, (values, is_on_sphere), precision, other)
    }

    /// The size of a field on scattered points, with an estimate of the search lattice.
    pub fn points(source: &dyn PointSource, precision: Precision) -> Self {
        let values = source.positions().len();
        let other = 3 * (values + NODE_PADDING) * precision.bytes() + 2 * values;
        FieldSize::of(source, (values, false), precision, other)
    }

    /// The size of a field on a mesh, perhaps of degrees on a sphere, with an estimate of the cell locator.
    pub fn mesh(source: &dyn MeshSource, is_on_sphere: bool, precision: Precision) -> Self {
        let (points, cells): (_, &mesh::Cells) = (source.points().len(), source.cells());
        let values = match source.placement() {
            Placement::Nodes | Placement::Faces => points,
            Placement::Cells => cells.len(),
        };
        let records = CELL_RECORD * precision.bytes() + 25 * size_of::<i32>();
        let other = cells.len() * records + cells.connectivity.len() * 2 * size_of::<i32>();
        let is_full = is_on_sphere || source.placement() == Placement::Faces;
        FieldSize::of(source, (values, is_full), precision, other)
    }
}
