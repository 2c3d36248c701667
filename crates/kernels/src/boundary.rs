//! The domain box and what happens at its six faces.

use crate::{MeshPatch, Wall};

/// A face of the domain box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Face {
    /// The face of least x.
    XLow = 0,
    /// The face of greatest x.
    XHigh = 1,
    /// The face of least y.
    YLow = 2,
    /// The face of greatest y.
    YHigh = 3,
    /// The face of least z.
    ZLow = 4,
    /// The face of greatest z.
    ZHigh = 5,
}

impl Face {
    /// All faces, in order of code.
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

/// What happens to a particle that reaches a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Condition {
    /// It comes in again through the opposite face; the crossing is counted as an image.
    Periodic,
    /// Its path is mirrored, any number of times.
    Reflect,
    /// It stays on the face and goes on along it.
    Clamp,
    /// It ends there, on the face, at the time of the crossing.
    #[default]
    Exit,
}

impl Condition {
    /// The integer that device kernels read.
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

/// Code of [`Condition::Periodic`].
pub const PERIODIC: i32 = 0;
/// Code of [`Condition::Reflect`].
pub const REFLECT: i32 = 1;
/// Code of [`Condition::Exit`].
pub const EXIT: i32 = 3;

/// The domain box with a condition for each face, and one for the edge of a mesh.
///
/// An axis that is not bounded has `low = f64::NEG_INFINITY` and `high = f64::INFINITY`, and its
/// conditions are never met.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// Least coordinate of each axis, in the data's unit of length.
    pub low: [f64; 3],
    /// Greatest coordinate of each axis, in the data's unit of length.
    pub high: [f64; 3],
    /// Conditions at the low and the high face of each axis. Periodic faces come in pairs.
    pub faces: [[Condition; 2]; 3],
    /// What happens at the edge of a mesh.
    pub wall: Wall,
    /// Parts of that edge at which something else happens; the first one counts.
    pub patches: Vec<MeshPatch>,
}

impl Boundary {
    /// Whether an axis is periodic.
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.faces[axis][0] == Condition::Periodic
    }

    /// What happens to a particle that crosses the edge of a mesh at a place.
    pub fn wall_at(&self, place: [f64; 3]) -> Wall {
        MeshPatch::at(&self.patches, place).map_or(self.wall, |patch| self.patches[patch].wall)
    }
}
