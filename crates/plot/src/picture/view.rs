//! The direction of view.

use crate::error::{Error, Result};
use std::str::FromStr;

/// The direction of view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// Along the normal of a coordinate plane; both axes have the same scale.
    Plane(Plane),
    /// View of the box from outside, orthographic or [in perspective](super::Style::perspective). Angles are in degrees and follow matplotlib's
    /// `view_init`: `z` is up, the viewer is at `azimuth` from the `x` axis towards the `y` axis,
    /// and at `elevation` above the `xy` plane.
    Space {
        /// Angle around the `z` axis, in degrees.
        azimuth: f64,
        /// Angle above the `xy` plane, -90 to 90 degrees.
        elevation: f64,
    },
}

impl View {
    /// The default 3-D view: from above and from the side.
    pub const SPACE: Self = Self::Space { azimuth: -60.0, elevation: 25.0 };

    pub(crate) fn check(&self) -> Result<()> {
        match *self {
            Self::Space { azimuth, .. } if !azimuth.is_finite() => Err(Error::Option {
                name: "azimuth",
                given: azimuth.to_string(),
                expected: "a finite number of degrees",
            }),
            Self::Space { elevation, .. } if !(-90.0..=90.0).contains(&elevation) => {
                Err(Error::Option {
                    name: "elevation",
                    given: elevation.to_string(),
                    expected: "degrees from -90 to 90",
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

/// A coordinate plane: the first axis points to the right, the second one up.
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
    /// The indices of its axes, 0 for `x`.
    pub fn axes(self) -> [usize; 2] {
        match self {
            Self::Xy => [0, 1],
            Self::Xz => [0, 2],
            Self::Yz => [1, 2],
        }
    }
}

/// Reads `xy`, `xz`, `yz` or `3d`; the last one gives [`View::SPACE`].
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
