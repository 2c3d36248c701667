//! The status of a particle, with the integer codes used by kernels and files.

use crate::Face;

/// Crossings of a gate in a [`Log`](crate::Log): this forward, and -1 times it backward.
pub const CROSSED: i32 = 64;

/// The status of a particle.
///
/// On a device and in files a status is represented by its [`code`](Status::code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Before its release.
    Waiting,
    /// Being traced.
    Active,
    /// Its position or velocity became non-finite; it keeps its last finite position.
    NonFinite,
    /// It could not be released, because the field is undefined at its position. It is not counted as
    /// released, and has no times.
    NotLocated,
    /// It moved slower than the threshold speed.
    Stagnant,
    /// It left the mesh, within the domain box; its position is the last one inside the mesh.
    LeftMesh,
    /// It stuck to a surface.
    Stuck,
    /// It ended at an obstacle that removes particles.
    HitObstacle,
    /// It left the domain through a face; its position is on that face.
    Exited(Face),
    /// It came to a hole of the field: hidden points or cells, or values that are not finite. It keeps
    /// its last position, from which no step is possible.
    LeftField,
    /// Its adaptive steps became too short: no step that the time resolves met the tolerance, or it took
    /// [`MAX_TRIALS`](crate::Adaptive::MAX_TRIALS) of them in a step of the run. It keeps the position that it reached.
    StepTooSmall,
    /// It stuck to the coast; its position is there.
    Beached,
    /// It met a condition of the run, where it is.
    Stopped,
}

impl Status {
    /// All statuses, in order of code.
    pub const ALL: [Status; 18] = [
        Status::Waiting,
        Status::Active,
        Status::NonFinite,
        Status::NotLocated,
        Status::Stagnant,
        Status::LeftMesh,
        Status::Stuck,
        Status::HitObstacle,
        Status::Exited(Face::XLow),
        Status::Exited(Face::XHigh),
        Status::Exited(Face::YLow),
        Status::Exited(Face::YHigh),
        Status::Exited(Face::ZLow),
        Status::Exited(Face::ZHigh),
        Status::LeftField,
        Status::StepTooSmall,
        Status::Beached,
        Status::Stopped,
    ];

    /// The integer code used on devices and in files: waiting 0, active 1, non-finite 2, not
    /// located 3, stagnant 4, left the mesh 5, stuck 6, hit an obstacle 7, exited through face `f`
    /// [`EXITED`]` + f`, left the field 14, step too small 15, beached 16,
    /// stopped 17.
    pub const fn code(self) -> i32 {
        match self {
            Status::Waiting => WAITING,
            Status::Active => ACTIVE,
            Status::NonFinite => NON_FINITE,
            Status::NotLocated => NOT_LOCATED,
            Status::Stagnant => STAGNANT,
            Status::LeftMesh => LEFT_MESH,
            Status::Stuck => STUCK,
            Status::HitObstacle => HIT,
            Status::Exited(face) => EXITED + face as i32,
            Status::LeftField => LEFT_FIELD,
            Status::StepTooSmall => STEP_TOO_SMALL,
            Status::Beached => BEACHED,
            Status::Stopped => STOPPED,
        }
    }

    /// The status with a code, if it exists.
    pub fn from_code(code: i32) -> Option<Status> {
        Status::ALL.into_iter().find(|s| s.code() == code)
    }

    /// Whether the particle has been released and its track has ended.
    pub const fn has_ended(self) -> bool {
        self.is_released() && !matches!(self, Status::Active)
    }

    /// Whether the particle has been released: neither waiting nor not located.
    pub const fn is_released(self) -> bool {
        !matches!(self, Status::Waiting | Status::NotLocated)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Status::Waiting => f.write_str("waiting"),
            Status::Active => f.write_str("active"),
            Status::NonFinite => f.write_str("non-finite"),
            Status::NotLocated => f.write_str("not located"),
            Status::Stagnant => f.write_str("stagnant"),
            Status::LeftMesh => f.write_str("left the mesh"),
            Status::Stuck => f.write_str("stuck"),
            Status::HitObstacle => f.write_str("hit an obstacle"),
            Status::Exited(face) => write!(f, "exited {face}"),
            Status::LeftField => f.write_str("left the field"),
            Status::StepTooSmall => f.write_str("step too small"),
            Status::Beached => f.write_str("beached"),
            Status::Stopped => f.write_str("stopped"),
        }
    }
}

/// Code of a particle whose steps a device aborted; the rest of its state is undefined.
pub const BROKEN_OFF: i32 = -1;
/// Code of [`Status::Waiting`].
pub const WAITING: i32 = 0;
/// Code of [`Status::Active`].
pub const ACTIVE: i32 = 1;
/// Code of [`Status::NonFinite`].
pub const NON_FINITE: i32 = 2;
/// Code of [`Status::NotLocated`].
pub const NOT_LOCATED: i32 = 3;
/// Code of [`Status::Stagnant`].
pub const STAGNANT: i32 = 4;
/// Code of [`Status::LeftMesh`].
pub const LEFT_MESH: i32 = 5;
/// Code of [`Status::Stuck`].
pub const STUCK: i32 = 6;
/// Code of [`Status::HitObstacle`].
pub const HIT: i32 = 7;
/// Code of [`Status::Exited`] through face 0; face `f` is `EXITED + f`.
pub const EXITED: i32 = 8;
/// Code of [`Status::LeftField`].
pub const LEFT_FIELD: i32 = 14;
/// Code of [`Status::StepTooSmall`].
pub const STEP_TOO_SMALL: i32 = 15;
/// Code of [`Status::Beached`].
pub const BEACHED: i32 = 16;
/// Code of [`Status::Stopped`].
pub const STOPPED: i32 = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_reversible() {
        for status in Status::ALL {
            assert_eq!(Status::from_code(status.code()), Some(status));
        }
        assert_eq!(Status::from_code(99), None);
    }
}
