//! Patches: parts of the mesh boundary with conditions of their own.

use crate::{
    BoundaryCondition, Error, Inlet, Precision, Result,
    field::AXES,
    mesh::{Bounds, FaceGroup, Mesh},
};
use burntrace_kernels::MeshPatch;

/// The maximum number of patches in a run: slots count inlets, of which each patch can have one, in 16
/// bits.
pub const MAX_PATCHES: usize = i16::MAX as usize;

/// Widths by which the boxes of patches are enlarged on all sides: units of rounding of the mesh's
/// largest coordinate, units of rounding of its extent, and a fraction of its extent. The sum
/// exceeds the distance from a face at which kernels and host still count a position as on it
/// (`SLACK`).
const OF_COORDINATES: f64 = 16.0;
const OF_EXTENT: f64 = 128.0;
const MIN_MARGIN: f64 = 1e-9;

/// A named part of the mesh boundary with its own wall condition: all boundary crossings inside a
/// box, or those through the [faces](Patch::faces) of a group.
///
/// In the box, the position of the crossing decides, not the face: a patch may end in the middle of a
/// face. The box may be flat: it is enlarged by some units of rounding.
///
/// ```
/// use burntrace_core::{BoundaryCondition, Patch};
///
/// let all = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
/// let outlet = Patch::new("outlet", all[0], all[1]).faces("outlet");
/// let floor = Patch::new("floor", all[0], [f64::INFINITY, f64::INFINITY, 0.0])
///     .faces("walls")
///     .wall(BoundaryCondition::Stick);
/// assert_eq!(floor.name(), "floor");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    name: String,
    group: Option<String>,
    low: [f64; 3],
    high: [f64; 3],
    wall: BoundaryCondition,
    inlet: Option<Inlet>,
}

impl Patch {
    /// A patch through which particles leave. The box extends from `low` to `high`, in the data's
    /// unit of length; use `f64::NEG_INFINITY` and `f64::INFINITY` for unbounded axes. In two
    /// dimensions the flat axis is ignored.
    pub fn new(name: impl Into<String>, low: [f64; 3], high: [f64; 3]) -> Self {
        let (name, wall) = (name.into(), BoundaryCondition::Exit);
        Patch { name, group: None, low, high, wall, inlet: None }
    }

    /// Limits the patch to the faces of a group of the mesh, which its file names
    /// ([`Mesh::face_groups`]).
    pub fn faces(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Sets the wall condition.
    pub fn wall(mut self, wall: BoundaryCondition) -> Self {
        self.wall = wall;
        self.inlet = None;
        self
    }

    /// Makes the patch an outlet: a particle that leaves through it ends there, and another one is
    /// released at the inlet, as with [`Tracer::outlet`](crate::Tracer::outlet).
    pub fn outlet(mut self, inlet: Inlet) -> Self {
        self.wall = BoundaryCondition::Exit;
        self.inlet = Some(inlet);
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The wall condition.
    pub(crate) fn condition(&self) -> BoundaryCondition {
        self.wall
    }

    /// Whether particles that leave are re-injected.
    pub(crate) fn is_outlet(&self) -> bool {
        self.inlet.is_some()
    }

    /// The inlet of an outlet.
    pub(crate) fn inlet(&self) -> Option<&Inlet> {
        self.inlet.as_ref()
    }

    /// The faces and the box that contain the patch on a mesh, measured from the mesh's origin.
    ///
    /// # Errors
    ///
    /// [`Error::Patch`] if the box is empty, if the mesh has no such group of faces, or if the wall
    /// condition is one of faces of the domain box.
    pub(crate) fn region(&self, mesh: &Mesh) -> Result<MeshPatch> {
        self.check(mesh)?;
        let precision = mesh.precision();
        Ok(self.widened(mesh, (margin(mesh, precision), precision)))
    }

    /// The patch in the form that kernels read, measured from the mesh's origin.
    fn widened(&self, mesh: &Mesh, (margin, precision): (f64, Precision)) -> MeshPatch {
        let origin = mesh.origin();
        let tags = |_: &String| self.group(mesh).map_or(&[][..], |group| &group.tags).into();
        let mut patch = MeshPatch {
            low: [0, 1, 2].map(|d| precision.round(self.low[d] - origin[d] - margin)),
            high: [0, 1, 2].map(|d| precision.round(self.high[d] - origin[d] + margin)),
            tags: self.group.as_ref().map(tags),
            wall: self.wall,
        };
        if let Some(axis) = mesh.flat_axis() {
            (patch.low[axis], patch.high[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        patch
    }

    /// The group of faces of the patch, if it has one and the mesh has that.
    fn group<'a>(&self, mesh: &'a Mesh) -> Option<&'a FaceGroup> {
        let name = self.group.as_ref()?;
        mesh.face_groups().iter().find(|group| group.name == *name)
    }

    /// An error that names the patch.
    pub(crate) fn fail<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Patch { name: self.name.clone(), reason: reason.into() })
    }

    /// The error if no boundary face is in the box.
    pub(crate) fn without_faces<T>(&self, mesh: &Mesh) -> Result<T> {
        if let Some(group) = self.group(mesh) {
            let FaceGroup { name, faces, unmatched, .. } = group;
            return self.fail(match faces {
                0 => format!(
                    "none of the {unmatched} cells of `{name}` is on a boundary face of the mesh: their \
                     corners differ from those of faces, or they are inside"
                ),
                _ => format!("none of the {faces} faces of `{name}` is in its box; change the box"),
            });
        }
        let mut all = Bounds::EMPTY;
        mesh.open_faces().for_each(|(cell, face)| all.join(&mesh.corner_bounds(cell, face)));
        self.fail(format!(
            "no boundary face of the mesh is in its box; the boundary extends from {:?} to {:?}",
            mesh.plain(all.low),
            mesh.plain(all.high)
        ))
    }

    /// Checks it on a mesh.
    pub(crate) fn check(&self, mesh: &Mesh) -> Result<()> {
        if let (Some(name), None) = (&self.group, self.group(mesh)) {
            let names = mesh.face_groups().iter().map(|group| format!("`{}`", group.name));
            let names: Vec<String> = names.collect();
            return self.fail(match names.is_empty() {
                true => format!(
                    "its faces are those of `{name}`, but the mesh has no named faces; give a box"
                ),
                false => format!("the mesh has no faces `{name}`; it has {}", names.join(", ")),
            });
        }
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

/// Patches in the form that kernels read, measured from the mesh's origin.
pub(crate) fn boxes(patches: &[Patch], mesh: &Mesh, precision: Precision) -> Vec<MeshPatch> {
    if patches.is_empty() {
        return Vec::new();
    }
    let by = (margin(mesh, precision), precision);
    patches.iter().map(|patch| patch.widened(mesh, by)).collect()
}

/// Why a condition cannot stand at an obstacle or at the boundary of a mesh, if so.
pub(crate) fn not_of_bodies(condition: BoundaryCondition) -> Option<String> {
    let other = match condition {
        BoundaryCondition::Clamp => "use `slide`",
        _ => "use `exit`, `reflect`, `slide` or `stick`",
    };
    let name = condition.name();
    condition.is_of_faces().then(|| {
        format!("its condition is `{name}`, which is for faces of the domain box only; {other}")
    })
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
