//! Options of sampled fields.

use super::frames::{Frames, OutsideTime};
use crate::Precision;
use burntrace_kernels::TimeInterpolation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of a sampled field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldOptions {
    /// Precision on the device.
    pub precision: Precision,
    /// Velocity before the first and after the last frame.
    pub outside_time: OutsideTime,
    /// Interpolation between two frames.
    pub in_time: TimeInterpolation,
    /// Treatment of velocities that are not finite.
    pub not_finite: NotFinite,
    /// The velocity beside land, which is [`NotFinite::Land`].
    pub slip: Slip,
    /// The components of velocities that are land, too, besides those that are not finite; a vertical one may be 0.
    pub land_value: Option<f64>,
    /// Radius of the sphere, in metres, on which the first two axes of a grid are longitude and latitude in degrees; its
    /// velocities are towards the east, the north, and upwards, in metres per second. `None` in a flat space.
    pub radius: Option<f64>,
    /// Number of frames held at a time.
    pub frames: Frames,
    /// Maximum bytes of the field on the device; `None` for no limit.
    pub memory: Option<u64>,
}

/// Treatment of velocities that are not finite.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotFinite {
    /// Refuse the field, with the position of the first one.
    #[default]
    Error,
    /// Read them as zero, which is common for land in ocean data. Particles stop there.
    Zero,
    /// Read them as holes of the field: cells with such a value are outside it. Particles that come
    /// there end as having left the field, and seeds there are not located.
    Outside,
    /// Read them as land, on grids: a position is on land if its nearest node is, or its cell where velocities are in cells. Particles
    /// that come to the coast, midway between nodes, meet its [condition](crate::Surroundings::coast). Land is the same in all
    /// frames.
    Land,
}

/// The velocity beside land, on a grid with velocities at nodes: from the water up to the coast it changes as towards a velocity at
/// the nodes on land, as in Parcels ("Stuck particles" in its documentation).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slip {
    /// 0 at the nodes on land.
    #[default]
    No,
    /// Along the coast, half of the velocity in the water.
    Partial,
    /// Along the coast, the velocity in the water.
    Free,
}

impl Slip {
    /// The part of the velocity in the water that the nodes on land have.
    pub(super) fn factor(self) -> f64 {
        match self {
            Slip::No => 0.0,
            Slip::Partial => 0.5,
            Slip::Free => 1.0,
        }
    }
}
