//! Shared helpers for fields on meshes: generated meshes with velocities.

// The generated meshes of core's cell-location tests.
#[path = "../../crates/core/src/mesh/tests/made.rs"]
mod made;

use super::common::*;
use burntrace::{
    CellKind, CellVelocity, FieldOptions, Floats, FrameData, FrameSource, MeshField, MeshSource,
    Placement, SourceError, mesh::Cells,
};
pub use made::{FLAT, Made, SOLID};

/// A uniform random number, with core's key.
fn uniform(seed: u64, slot: u64, generation: u32, draw: u32) -> f64 {
    let key = seed ^ slot.rotate_left(20) ^ u64::from(generation) << 50 ^ u64::from(draw) << 56;
    Dice(key).between(0.0, 1.0)
}

/// Random displacement of interior nodes; voxels and pixels must stay aligned with the axes.
pub fn shake(kind: CellKind) -> f64 {
    if matches!(kind, CellKind::Voxel | CellKind::Pixel) { 0.0 } else { 0.15 }
}

/// The machines on which a cell type is tested. Each type has its own kernels, and software rasterisers take
/// seconds to compile one: they test tetrahedra, and hexahedra in single precision.
pub fn machines_for(kind: CellKind) -> Vec<Machine> {
    let is_tested = |machine: &Machine| match kind {
        CellKind::Tetra => true,
        CellKind::Hexahedron => machine.is_cpu() || !machine.is_double(),
        _ => machine.is_cpu(),
    };
    machines().into_iter().filter(is_tested).collect()
}

/// Layers of cells of different types with matching faces.
pub fn mixed(count: usize) -> Made {
    let layers = [CellKind::Hexahedron, CellKind::Pyramid, CellKind::Hexahedron];
    Made::new(count, 0.1, |k| layers[k % count % layers.len()])
}

/// Velocity on a mesh, in memory.
#[derive(Clone, Debug)]
pub struct MeshFrames {
    pub points: Vec<[f64; 3]>,
    pub cells: Cells,
    pub placement: Placement,
    pub times: Vec<f64>,
    /// `u, v, w` of each point or cell, one vector for each frame.
    pub values: Vec<Vec<f64>>,
}

impl MeshFrames {
    /// A formula at the points.
    pub fn new(
        made: &Made,
        times: &[f64],
        mut velocity: impl FnMut([f64; 3], f64) -> [f64; 3],
    ) -> Self {
        let frame = |t: &f64| made.points.iter().flat_map(|p| velocity(*p, *t)).collect();
        MeshFrames {
            values: times.iter().map(frame).collect(),
            points: made.points.clone(),
            cells: made.cells.clone(),
            placement: Placement::Nodes,
            times: times.to_vec(),
        }
    }

    /// A velocity for each cell by its index.
    pub fn in_cells(made: &Made, velocity: impl Fn(usize) -> [f64; 3]) -> Self {
        MeshFrames {
            values: vec![(0..made.cells.len()).flat_map(velocity).collect()],
            placement: Placement::Cells,
            ..MeshFrames::new(made, &[0.0], |_, _| [0.0; 3])
        }
    }

    pub fn field(&self, machine: &Machine) -> MeshField {
        self.field_of(machine, CellVelocity::Constant)
    }

    pub fn field_of(&self, machine: &Machine, in_cells: CellVelocity) -> MeshField {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        MeshField::load(&mut self.clone(), &machine.device, &options, in_cells).unwrap()
    }
}

impl FrameSource for MeshFrames {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        Ok(Floats::F64(self.values[frame].clone()).into())
    }
}

impl MeshSource for MeshFrames {
    fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    fn cells(&self) -> &Cells {
        &self.cells
    }

    fn placement(&self) -> Placement {
        self.placement
    }
}
