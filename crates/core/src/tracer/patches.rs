//! The edge of a mesh: what happens there, and patches of it with a wall of their own.

use super::Tracer;
use crate::{
    Error, Inlet, Precision, Result, Status, Wall,
    field::AXES,
    mesh::{Bounds, Mesh},
};
use burntrace_kernels::MeshPatch;

/// The most patches that a run can have.
pub const MAX_PATCHES: usize = 16;

/// How far the boxes of patches are widened on all sides: in units of rounding and of the mesh's
/// greatest coordinate, the same of its extent, and a part of its extent. That is more than a place
/// that counts as on a face may be beside it, in kernels and on the host (`SLACK`).
const OF_PLACES: f64 = 16.0;
const OF_EXTENT: f64 = 128.0;
const LEAST: f64 = 1e-9;

/// A part of a mesh's edge with a name and a wall of its own: where ways cross the edge in a box.
///
/// What counts is the place of the crossing and not the face, so a patch may end in the middle of
/// one. The box may be flat where the edge is: it is widened by some units of rounding.
#[derive(Clone, Debug)]
pub struct Patch {
    name: String,
    low: [f64; 3],
    high: [f64; 3],
    wall: Wall,
    inlet: Option<Inlet>,
}

impl Patch {
    /// A patch that particles leave through for good. The box is from `low` to `high`, in the
    /// data's unit of length; an axis that is open goes from `f64::NEG_INFINITY` to
    /// `f64::INFINITY`. In two dimensions z does not count.
    pub fn new(name: impl Into<String>, low: [f64; 3], high: [f64; 3]) -> Self {
        Patch { name: name.into(), low, high, wall: Wall::Leave, inlet: None }
    }

    /// What happens to a particle there.
    pub fn wall(mut self, wall: Wall) -> Self {
        self.wall = wall;
        self.inlet = None;
        self
    }

    /// Makes the patch an outlet: who leaves through it ends there, and another particle comes in
    /// through the inlet, as with [`Tracer::outlet`].
    pub fn outlet(mut self, inlet: Inlet) -> Self {
        self.wall = Wall::Leave;
        self.inlet = Some(inlet);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether others come in for those who leave.
    pub(super) fn is_outlet(&self) -> bool {
        self.inlet.is_some()
    }

    /// The inlet of an outlet.
    pub(super) fn inlet(&self) -> Option<&Inlet> {
        self.inlet.as_ref()
    }

    /// Its box as kernels know it, in a run on a mesh.
    fn widened(&self, (margin, precision): (f64, Precision), dimension: usize) -> MeshPatch {
        let mut patch = MeshPatch {
            low: self.low.map(|x| precision.round(x - margin)),
            high: self.high.map(|x| precision.round(x + margin)),
            wall: self.wall,
        };
        for axis in dimension..3 {
            (patch.low[axis], patch.high[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        patch
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Patch { name: self.name.clone(), reason: reason.into() })
    }

    fn check(&self) -> Result<()> {
        for (axis, name) in AXES.iter().enumerate() {
            let (low, high) = (self.low[axis], self.high[axis]);
            let holds_some = low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY;
            if !holds_some {
                return self.fail(format!(
                    "its box holds nothing on the {name} axis, from {low} to {high}; give the \
                     lesser coordinate first"
                ));
            }
        }
        Ok(())
    }
}

impl Tracer<'_> {
    /// What happens at the edge of a field on a mesh; elsewhere it does not matter. Particles leave
    /// it unless this says something else.
    pub fn mesh_wall(mut self, wall: Wall) -> Self {
        self.wall = wall;
        self
    }

    /// Makes the edge of the field's mesh an outlet, as [`outlet`](Tracer::outlet) does for a face.
    /// Its [wall](Tracer::mesh_wall) is then one that particles leave through.
    pub fn mesh_outlet(mut self, inlet: Inlet) -> Self {
        self.outlets.retain(|(status, _)| *status != Status::LeftMesh);
        self.outlets.push((Status::LeftMesh, inlet));
        self
    }

    /// Adds a patch of the edge of the field's mesh, with a wall of its own; elsewhere
    /// [`mesh_wall`](Tracer::mesh_wall) holds. Where several are in one place, the first one counts.
    /// There can be [`MAX_PATCHES`].
    pub fn mesh_patch(mut self, patch: Patch) -> Self {
        self.patches.push(patch);
        self
    }
}

/// The patches of a run, as kernels know them; nothing for a field without a mesh.
pub(super) fn boxes(tracer: &Tracer) -> Vec<MeshPatch> {
    let Some(mesh) = tracer.field.mesh().filter(|_| !tracer.patches.is_empty()) else {
        return Vec::new();
    };
    let precision = tracer.field.precision();
    let by = (margin(mesh, precision), precision);
    tracer.patches.iter().map(|patch| patch.widened(by, mesh.dimension())).collect()
}

/// How far boxes are widened on a mesh, in the data's unit of length.
fn margin(mesh: &Mesh, precision: Precision) -> f64 {
    let mut bounds = Bounds::EMPTY;
    mesh.points().iter().for_each(|point| bounds.add(*point));
    let (mut greatest, mut extent) = (0.0_f64, 0.0_f64);
    for (low, high) in bounds.low.into_iter().zip(bounds.high) {
        greatest = greatest.max(low.abs()).max(high.abs());
        extent = extent.max(high - low);
    }
    let rounding = OF_PLACES * greatest + OF_EXTENT * extent;
    (rounding * precision.epsilon()).max(LEAST * extent)
}

/// Checks that the patches of a run are parts of the edge of its mesh.
pub(super) fn check(tracer: &Tracer) -> Result<()> {
    let Some(first) = tracer.patches.first() else { return Ok(()) };
    let Some(mesh) = tracer.field.mesh() else {
        return first.fail("the field has no mesh whose edge it could be a part of");
    };
    for (i, patch) in tracer.patches.iter().enumerate() {
        patch.check()?;
        if tracer.patches[..i].iter().any(|other| other.name == patch.name) {
            return patch.fail("there are two of this name; give each its own");
        }
        if i >= MAX_PATCHES {
            let count = tracer.patches.len();
            return patch.fail(format!(
                "it is one too many: there are {count}, and the most is {MAX_PATCHES}"
            ));
        }
    }
    check_places(tracer, mesh)
}

/// Checks that there are open faces in each patch.
fn check_places(tracer: &Tracer, mesh: &Mesh) -> Result<()> {
    let boxes = boxes(tracer);
    let mut has_face = vec![false; boxes.len()];
    let mut all = Bounds::EMPTY;
    for cell in 0..mesh.cells().len() {
        for (face, neighbour) in mesh.neighbours(cell).iter().enumerate() {
            if *neighbour < 0 {
                let open = around(mesh, cell, face);
                all.join(&open);
                for (has, patch) in has_face.iter_mut().zip(&boxes) {
                    *has |= (0..3)
                        .all(|d| patch.low[d] <= open.high[d] && open.low[d] <= patch.high[d]);
                }
            }
        }
    }
    match has_face.iter().position(|has| !has) {
        Some(patch) => tracer.patches[patch].fail(format!(
            "no face of the mesh's edge is in its box; they lie within {:?} to {:?}",
            all.low, all.high
        )),
        None => Ok(()),
    }
}

/// A box around the corners of a face.
fn around(mesh: &Mesh, cell: usize, face: usize) -> Bounds {
    let nodes = mesh.cells().nodes(cell);
    let mut bounds = Bounds::EMPTY;
    for corner in mesh.cells().kinds[cell].table().faces[face] {
        bounds.add(mesh.points()[nodes[*corner] as usize]);
    }
    bounds
}
