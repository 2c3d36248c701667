//! The domain box and the conditions on its six faces.

use crate::Status;
use std::sync::Arc;

/// What happens to a particle that reaches a surface: a face of the domain box, the boundary of a
/// mesh, or the surface of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BoundaryCondition {
    /// It re-enters through the opposite face; the crossing is counted in its periodic image. At
    /// faces of the domain box only.
    Periodic,
    /// It is reflected, as often as needed.
    Reflect,
    /// It slides: the normal component of the remaining displacement is dropped.
    Slide,
    /// It ends there as [`Status::Stuck`], at the time of the hit.
    Stick,
    /// It stays on the face and may slide along it. At faces of the domain box only, where it is the
    /// same as [`Slide`](BoundaryCondition::Slide).
    Clamp,
    /// It ends there, at the time of the crossing: as [`Status::Exited`], [`Status::LeftMesh`] or
    /// [`Status::HitObstacle`].
    #[default]
    Exit,
}

/// What a condition does with a particle, as numbers that the event loop computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// How many times the component of the remaining displacement into the surface is removed from
    /// it.
    pub turn: i32,
    /// The status of the particle, if it ends there; else that of an active one.
    pub end: i32,
    /// Whether it goes on at the opposite face.
    pub wraps: bool,
}

impl BoundaryCondition {
    /// Every condition.
    pub const ALL: [BoundaryCondition; 6] = [
        BoundaryCondition::Periodic,
        BoundaryCondition::Reflect,
        BoundaryCondition::Slide,
        BoundaryCondition::Stick,
        BoundaryCondition::Clamp,
        BoundaryCondition::Exit,
    ];

    /// The name used in case files, and the response of a surface at which particles exit with a
    /// status.
    const fn parts(self, exit: Status) -> (&'static str, i32, Status, bool) {
        match self {
            BoundaryCondition::Periodic => ("periodic", 0, Status::Active, true),
            BoundaryCondition::Reflect => ("reflect", 2, Status::Active, false),
            BoundaryCondition::Slide => ("slide", 1, Status::Active, false),
            BoundaryCondition::Stick => ("stick", 0, Status::Stuck, false),
            BoundaryCondition::Clamp => ("clamp", 1, Status::Active, false),
            BoundaryCondition::Exit => ("exit", 0, exit, false),
        }
    }

    /// The name used in case files.
    pub const fn name(self) -> &'static str {
        self.parts(Status::Active).0
    }

    /// Whether the condition has a meaning only at faces of the domain box.
    pub const fn is_of_faces(self) -> bool {
        matches!(self, BoundaryCondition::Periodic | BoundaryCondition::Clamp)
    }

    /// The response of a surface at which particles exit with a status.
    pub(crate) const fn response(self, exit: Status) -> Response {
        let (_, turn, end, wraps) = self.parts(exit);
        Response { turn, end: end.code(), wraps }
    }
}

/// A patch of the mesh boundary with its own condition: the part within a box, of all faces or of
/// those with certain tags.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshPatch {
    /// Minimum corner of the box, in the data's unit of length, representable in the precision of
    /// positions; -infinity on an unbounded axis.
    pub low: [f64; 3],
    /// Maximum corner of the box.
    pub high: [f64; 3],
    /// The [tags](crate::FaceTags) of its faces, increasing; `None` for all faces.
    pub tags: Option<Arc<[i32]>>,
    /// Condition on the patch.
    pub wall: BoundaryCondition,
}

impl MeshPatch {
    /// The first patch that contains a crossing of a face with this tag, if any; `position` is the last
    /// position of the path inside the mesh.
    pub fn at(patches: &[MeshPatch], position: [f64; 3], tag: i32) -> Option<usize> {
        let is_in = |patch: &MeshPatch| {
            patch.has_faces(tag)
                && (0..3).all(|d| patch.low[d] <= position[d] && position[d] <= patch.high[d])
        };
        patches.iter().position(is_in)
    }

    /// Whether faces with this tag can be part of the patch.
    pub fn has_faces(&self, tag: i32) -> bool {
        self.tags.as_ref().is_none_or(|tags| tags.binary_search(&tag).is_ok())
    }
}

/// The domain box with a condition for each face, and a condition for the boundary of a mesh.
///
/// An unbounded axis has `low = f64::NEG_INFINITY` and `high = f64::INFINITY`; its conditions never
/// apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// Minimum coordinate of each axis, in the data's unit of length.
    pub low: [f64; 3],
    /// Maximum coordinate of each axis, in the data's unit of length.
    pub high: [f64; 3],
    /// Conditions at the low and the high face of each axis. Periodic faces come in pairs.
    pub faces: [[BoundaryCondition; 2]; 3],
    /// Condition at the mesh boundary.
    pub wall: BoundaryCondition,
    /// Patches of the mesh boundary with a condition of their own. Where several overlap, the first
    /// applies.
    pub patches: Vec<MeshPatch>,
}

impl Boundary {
    /// A boundary without bounds.
    pub(crate) fn open() -> Self {
        Boundary {
            low: [f64::NEG_INFINITY; 3],
            high: [f64::INFINITY; 3],
            faces: [[BoundaryCondition::Exit; 2]; 3],
            wall: BoundaryCondition::Exit,
            patches: Vec::new(),
        }
    }

    /// Whether an axis is periodic.
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.faces[axis][0] == BoundaryCondition::Periodic
    }
}
