//! Solid bodies and vessels in the domain.

use super::keys::{Keys, Kinds, Section};
use super::{Condition, KeyError, condition::OnSurface};
use burntrace::BoundaryCondition;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

names!(Allowed -> burntrace::Allowed {
    Outside => burntrace::Allowed::Outside,
    Inside => burntrace::Allowed::Inside,
});

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Obstacle {
    #[serde(flatten)]
    pub shape: ObstacleShape,
    pub allowed: Allowed,
    pub surface: Condition,
}

impl Section for Obstacle {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let kind = keys.kind::<ObstacleShape>()?;
        keys.allow(&["allowed", "surface"]);
        keys.check()?;
        let reflect = OnSurface(Condition::Of(BoundaryCondition::Reflect));
        let OnSurface(surface) = keys.or("surface", reflect)?;
        Ok(Obstacle {
            shape: ObstacleShape::read(kind, keys)?,
            allowed: keys.or_default("allowed")?,
            surface,
        })
    }
}

kinds! {
    /// The shape of an obstacle.
    ObstacleShape by "kind" {
        "sphere" => Sphere { centre: [f64; 3], radius: f64 },
        "cylinder" => Cylinder {
            radius: f64,
            base: [f64; 3],
            axis: [f64; 3],
            capped: Option<bool>,
        },
        "box" => Box { low: [f64; 3], high: [f64; 3] },
        /// Triangles from a file, scaled and then shifted, whose points are merged within a distance.
        "surface" => Surface {
            path: PathBuf,
            scale: Option<f64>,
            shift: Option<[f64; 3]>,
            weld: Option<f64>,
        },
    }
}
