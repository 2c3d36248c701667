//! From where particles are looked at.

use crate::error::{Error, Result};
use std::str::FromStr;

/// From where particles are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// Straight at a plane, along the axis that is missing; both axes have the same scale.
    Plane(Plane),
    /// At the box from outside, without perspective. Angles are in degrees and those of matplotlib's
    /// `view_init`: `z` is up, the viewer is at `azimuth` from the `x` axis towards the `y` axis, and
    /// at `elevation` above the `xy` plane.
    Space {
        /// Around the `z` axis.
        azimuth: f64,
        /// Above the `xy` plane, -90 to 90.
        elevation: f64,
    },
}

impl View {
    /// The view of a box from above and from the side.
    pub const SPACE: Self = Self::Space { azimuth: -60.0, elevation: 25.0 };

    pub(crate) fn check(&self) -> Result<()> {
        match *self {
            Self::Space { azimuth, .. } if !azimuth.is_finite() => Err(Error::Option {
                name: "azimuth",
                given: azimuth.to_string(),
                wanted: "a number of degrees",
            }),
            Self::Space { elevation, .. } if !(-90.0..=90.0).contains(&elevation) => {
                Err(Error::Option {
                    name: "elevation",
                    given: elevation.to_string(),
                    wanted: "degrees from -90 to 90",
                })
            }
            _ => Ok(()),
        }
    }
}

impl Default for View {
    fn default() -> Self {
        Self::Plane(Plane::Xy)
    }
}

/// A plane of two axes, the first one to the right, the second one up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plane {
    /// `x` and `y`.
    #[default]
    Xy,
    /// `x` and `z`.
    Xz,
    /// `y` and `z`.
    Yz,
}

impl Plane {
    /// The numbers of its axes, 0 for `x`.
    pub fn axes(self) -> [usize; 2] {
        match self {
            Self::Xy => [0, 1],
            Self::Xz => [0, 2],
            Self::Yz => [1, 2],
        }
    }
}

/// `xy`, `xz`, `yz` and `3d`, the last one for [`View::SPACE`].
impl FromStr for View {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "xy" => Ok(Self::Plane(Plane::Xy)),
            "xz" => Ok(Self::Plane(Plane::Xz)),
            "yz" => Ok(Self::Plane(Plane::Yz)),
            "3d" => Ok(Self::SPACE),
            _ => Err(Error::Name {
                what: "view",
                given: name.into(),
                known: "xy, xz, yz, 3d".into(),
            }),
        }
    }
}
