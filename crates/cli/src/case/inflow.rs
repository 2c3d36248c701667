//! Where particles come in in the course of a run, and how many.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

names!(Face -> burntrace::Face {
    XLow => burntrace::Face::XLow,
    XHigh => burntrace::Face::XHigh,
    YLow => burntrace::Face::YLow,
    YHigh => burntrace::Face::YHigh,
    ZLow => burntrace::Face::ZLow,
    ZHigh => burntrace::Face::ZHigh,
});

/// An inlet; which keys go with which kind is said in `crate::job`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Inlet {
    pub kind: InletKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge1: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge2: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centre: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corners: Option<Vec<[f64; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<[f64; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(default)]
    pub pattern: Pattern,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InletKind {
    Face,
    Rectangle,
    Disc,
    Polygon,
    Points,
    File,
}

/// How places on an inlet are chosen; `deviation` stands beside it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    #[default]
    Lattice,
    Uniform,
    Gaussian,
    Flux,
}

/// Particles that come in in the course of a run: by a rate, a table of rates or all at once.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<[f64; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    pub inlet: Inlet,
}

/// So many particles at one time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    pub time: f64,
    pub count: usize,
}
