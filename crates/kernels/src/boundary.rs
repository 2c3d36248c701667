//! The domain box and the conditions on its six faces.

use crate::{MeshPatch, Status, Wall};

/// A face of the domain box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Face {
    /// The face at minimum x.
    XLow = 0,
    /// The face at maximum x.
    XHigh = 1,
    /// The face at minimum y.
    YLow = 2,
    /// The face at maximum y.
    YHigh = 3,
    /// The face at minimum z.
    ZLow = 4,
    /// The face at maximum z.
    ZHigh = 5,
}

impl Face {
    /// All faces, in the order of their codes.
    pub const ALL: [Face; 6] =
        [Face::XLow, Face::XHigh, Face::YLow, Face::YHigh, Face::ZLow, Face::ZHigh];

    /// The name used in case files and tables: `x-low`, `x-high`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Face::XLow => "x-low",
            Face::XHigh => "x-high",
            Face::YLow => "y-low",
            Face::YHigh => "y-high",
            Face::ZLow => "z-low",
            Face::ZHigh => "z-high",
        }
    }
}

impl std::fmt::Display for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Boundary condition at a domain face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Condition {
    /// It re-enters through the opposite face; the crossing is counted in its periodic image.
    Periodic,
    /// It is reflected, as often as needed.
    Reflect,
    /// It stays on the face and may slide along it.
    Clamp,
    /// It ends on the face, at the time of the crossing.
    #[default]
    Exit,
}

impl Condition {
    /// The integer code read by device kernels.
    pub const fn code(self) -> i32 {
        match self {
            Condition::Periodic => PERIODIC,
            Condition::Reflect => REFLECT,
            Condition::Clamp => 2,
            Condition::Exit => EXIT,
        }
    }

    /// The name used in case files.
    pub const fn name(self) -> &'static str {
        match self {
            Condition::Periodic => "periodic",
            Condition::Reflect => "reflect",
            Condition::Clamp => "clamp",
            Condition::Exit => "exit",
        }
    }
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

impl Condition {
    /// The response of a surface at which particles exit with a status.
    pub(crate) fn response(self, exit: Status) -> Response {
        let (turn, end, wraps) = match self {
            Condition::Periodic => (0, Status::Active, true),
            Condition::Reflect => (2, Status::Active, false),
            Condition::Clamp => (1, Status::Active, false),
            Condition::Exit => (0, exit, false),
        };
        Response { turn, end: end.code(), wraps }
    }
}

/// Code of [`Condition::Periodic`].
pub const PERIODIC: i32 = 0;
/// Code of [`Condition::Reflect`].
pub const REFLECT: i32 = 1;
/// Code of [`Condition::Exit`].
pub const EXIT: i32 = 3;

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
    pub faces: [[Condition; 2]; 3],
    /// Condition at the mesh boundary.
    pub wall: Wall,
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
            faces: [[Condition::Exit; 2]; 3],
            wall: Wall::Leave,
            patches: Vec::new(),
        }
    }

    /// Whether an axis is periodic.
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.faces[axis][0] == Condition::Periodic
    }

    /// The condition for a particle that crosses the mesh boundary at a position.
    pub fn wall_at(&self, position: [f64; 3]) -> Wall {
        MeshPatch::at(&self.patches, position).map_or(self.wall, |patch| self.patches[patch].wall)
    }
}
