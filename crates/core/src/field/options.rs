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
}
