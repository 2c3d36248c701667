//! Bodies and vessels in the domain.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

names!(Allowed -> burntrace::Allowed {
    Outside => burntrace::Allowed::Outside,
    Inside => burntrace::Allowed::Inside,
});
// An outlet is an exit that an inlet goes with.
names!(Surface -> burntrace::Surface {
    Reflect => burntrace::Surface::Reflect,
    Slide => burntrace::Surface::Slide,
    Stick => burntrace::Surface::Stick,
    Exit => burntrace::Surface::Exit,
    Outlet => burntrace::Surface::Exit,
});

/// An obstacle; which keys go with which kind is said in `crate::job`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    pub kind: ObstacleKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centre: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capped: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<[f64; 3]>,
    #[serde(default)]
    pub allowed: Allowed,
    #[serde(default)]
    pub surface: Surface,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    Sphere,
    Cylinder,
    Box,
    Surface,
}
