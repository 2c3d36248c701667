//! Mesh boundaries: the wall condition, and patches with conditions of their own.

use super::{Tracer, obstacles::not_of_bodies};
use crate::{
    BoundaryCondition, Error, Inlet, Precision, Result, Status,
    field::AXES,
    mesh::{Bounds, Mesh},
};
use burntrace_kernels::MeshPatch;

/// The maximum number of patches in a run.
pub const MAX_PATCHES: usize = 16;

/// Widths by which the boxes of patches are enlarged on all sides: units of rounding of the mesh's
/// largest coordinate, units of rounding of its extent, and a fraction of its extent. The sum
/// exceeds the distance from a face at which kernels and host still count a position as on it
/// (`SLACK`).
const OF_COORDINATES: f64 = 16.0;
const OF_EXTENT: f64 = 128.0;
const MIN_MARGIN: f64 = 1e-9;

/// A named part of the mesh boundary with its own wall condition: all boundary crossings inside a
/// box.
///
/// The position of the crossing decides, not the face: a patch may end in the middle of a face. The
/// box may be flat: it is enlarged by some units of rounding.
#[derive(Clone, Debug)]
pub struct Patch {
    name: String,
    low: [f64; 3],
    high: [f64; 3],
    wall: BoundaryCondition,
    inlet: Option<Inlet>,
}

impl Patch {
    /// A patch through which particles leave. The box extends from `low` to `high`, in the data's
    /// unit of length; use `f64::NEG_INFINITY` and `f64::INFINITY` for unbounded axes. In two
    /// dimensions z is ignored.
    pub fn new(name: impl Into<String>, low: [f64; 3], high: [f64; 3]) -> Self {
        Patch { name: name.into(), low, high, wall: BoundaryCondition::Exit, inlet: None }
    }

    /// Sets the wall condition.
    pub fn wall(mut self, wall: BoundaryCondition) -> Self {
        self.wall = wall;
        self.inlet = None;
        self
    }

    /// Makes the patch an outlet: a particle that leaves through it ends there, and another one is
    /// released at the inlet, as with [`Tracer::outlet`].
    pub fn outlet(mut self, inlet: Inlet) -> Self {
        self.wall = BoundaryCondition::Exit;
        self.inlet = Some(inlet);
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether particles that leave are re-injected.
    pub(super) fn is_outlet(&self) -> bool {
        self.inlet.is_some()
    }

    /// The inlet of an outlet.
    pub(super) fn inlet(&self) -> Option<&Inlet> {
        self.inlet.as_ref()
    }

    /// The box that contains the patch on a mesh, measured from the mesh's origin.
    ///
    /// # Errors
    ///
    /// [`Error::Patch`] if the box is empty, or if the wall condition is one of bodies.
    pub(crate) fn region(&self, mesh: &Mesh) -> Result<MeshPatch> {
        self.check()?;
        let precision = mesh.precision();
        Ok(self.widened(mesh.origin(), (margin(mesh, precision), precision), mesh.dimension()))
    }

    /// The box in the form that kernels read, measured from the mesh's origin.
    fn widened(
        &self,
        origin: [f64; 3],
        (margin, precision): (f64, Precision),
        dimension: usize,
    ) -> MeshPatch {
        let mut patch = MeshPatch {
            low: [0, 1, 2].map(|d| precision.round(self.low[d] - origin[d] - margin)),
            high: [0, 1, 2].map(|d| precision.round(self.high[d] - origin[d] + margin)),
            wall: self.wall,
        };
        for axis in dimension..3 {
            (patch.low[axis], patch.high[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        patch
    }

    /// An error that names the patch.
    pub(crate) fn fail<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Patch { name: self.name.clone(), reason: reason.into() })
    }

    /// The error if no boundary face is in the box.
    pub(crate) fn without_faces<T>(&self, mesh: &Mesh) -> Result<T> {
        let mut all = Bounds::EMPTY;
        mesh.open_faces().for_each(|(cell, face)| all.join(&mesh.corner_bounds(cell, face)));
        self.fail(format!(
            "no boundary face of the mesh is in its box; the boundary extends from {:?} to {:?}",
            mesh.plain(all.low),
            mesh.plain(all.high)
        ))
    }

    fn check(&self) -> Result<()> {
        if let Some(reason) = not_of_bodies(self.wall) {
            return self.fail(reason);
        }
        for (axis, name) in AXES.iter().enumerate() {
            let (low, high) = (self.low[axis], self.high[axis]);
            let holds_some = low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY;
            if !holds_some {
                return self.fail(format!(
                    "its box is empty along {name}, from {low} to {high}; give the smaller \
                     coordinate first"
                ));
            }
        }
        Ok(())
    }
}

impl Tracer<'_> {
    /// Sets the condition at mesh boundaries, by default [`BoundaryCondition::Exit`]; ignored for
    /// other fields.
    pub fn mesh_wall(mut self, wall: BoundaryCondition) -> Self {
        self.wall = wall;
        self
    }

    /// Makes the mesh boundary an outlet, as [`outlet`](Tracer::outlet) does for a face. Its [wall
    /// condition](Tracer::mesh_wall) becomes [`BoundaryCondition::Exit`].
    pub fn mesh_outlet(mut self, inlet: Inlet) -> Self {
        self.outlets.retain(|(status, _)| *status != Status::LeftMesh);
        self.outlets.push((Status::LeftMesh, inlet));
        self
    }

    /// Adds a patch of the mesh boundary with its own wall condition; elsewhere
    /// [`mesh_wall`](Tracer::mesh_wall) applies. Where patches overlap, the first one applies. At
    /// most [`MAX_PATCHES`].
    pub fn mesh_patch(mut self, patch: Patch) -> Self {
        self.patches.push(patch);
        self
    }
}

/// The patches of a run in the form that kernels read, measured from the mesh's origin; empty for a
/// field without a mesh.
pub(super) fn boxes(tracer: &Tracer) -> Vec<MeshPatch> {
    let Some(mesh) = tracer.field.mesh().filter(|_| !tracer.patches.is_empty()) else {
        return Vec::new();
    };
    let precision = tracer.field.precision();
    let by = (margin(mesh, precision), precision);
    let widened = |patch: &Patch| patch.widened(mesh.origin(), by, mesh.dimension());
    tracer.patches.iter().map(widened).collect()
}

/// The width by which boxes are enlarged, in the data's unit of length.
fn margin(mesh: &Mesh, precision: Precision) -> f64 {
    let mut bounds = Bounds::EMPTY;
    mesh.points_from_origin().iter().for_each(|point| bounds.add(*point));
    let (mut largest, mut extent) = (0.0_f64, 0.0_f64);
    for (low, high) in bounds.low.into_iter().zip(bounds.high) {
        largest = largest.max(low.abs()).max(high.abs());
        extent = extent.max(high - low);
    }
    let rounding = OF_COORDINATES * largest + OF_EXTENT * extent;
    (rounding * precision.epsilon()).max(MIN_MARGIN * extent)
}

/// Checks the condition of the mesh boundary, and that the patches of a run are parts of it.
pub(super) fn check(tracer: &Tracer) -> Result<()> {
    if let Some(reason) = not_of_bodies(tracer.wall) {
        return Err(Error::MeshWall(reason));
    }
    let Some(first) = tracer.patches.first() else { return Ok(()) };
    let Some(mesh) = tracer.field.mesh() else {
        return first.fail("the field has no mesh; patches apply to mesh boundaries only");
    };
    for (i, patch) in tracer.patches.iter().enumerate() {
        patch.check()?;
        if tracer.patches[..i].iter().any(|other| other.name == patch.name) {
            return patch.fail("two patches have this name; give each its own");
        }
        if i >= MAX_PATCHES {
            let count = tracer.patches.len();
            return patch.fail(format!("there are {count} patches; the maximum is {MAX_PATCHES}"));
        }
    }
    check_boxes(tracer, mesh)
}

/// Checks that each patch contains boundary faces.
fn check_boxes(tracer: &Tracer, mesh: &Mesh) -> Result<()> {
    let boxes = boxes(tracer);
    let mut has_face = vec![false; boxes.len()];
    for (cell, face) in mesh.open_faces() {
        let open = mesh.corner_bounds(cell, face);
        for (has, patch) in has_face.iter_mut().zip(&boxes) {
            *has |= open.meets(patch.low, patch.high);
        }
    }
    match has_face.iter().position(|has| !has) {
        Some(patch) => tracer.patches[patch].without_faces(mesh),
        None => Ok(()),
    }
}
