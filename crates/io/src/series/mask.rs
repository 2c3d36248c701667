//! Land by a variable: 0 on land, 1 in the water.

use super::grid::{AXES, Grid, min_spacing};
use super::info::SeriesInfo;
use super::options::{NamedArray, SeriesOptions};
use super::velocity::{Association, VelocityInfo, VelocityName};
use super::{CaseTimes, Series};
use crate::{Error, Result};
use burntrace_core::{Floats, sphere::CIRCLE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Maximum distance of the nodes of a mask from those of the velocity, relative to their spacing.
const TOLERANCE: f64 = 1e-3;

/// A variable that is 0 or missing on land, and 1 in the water.
///
/// In a case file: its name, or `{ array = "mask", files = "static.nc" }`.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "give the name of an array, or { array = \"mask\", files = \"static.nc\" }"
)]
pub enum LandMask {
    /// In the first file of the velocity.
    Own(String),
    /// In another file.
    Other(MaskFile),
}

/// A variable of a file.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskFile {
    /// The variable.
    pub array: String,
    /// The file.
    pub files: PathBuf,
}

impl LandMask {
    /// Whether each value on a grid is land; `path` is the first file of the velocity. A mask of one level holds for all of them.
    pub(super) fn read(
        &self,
        path: &Path,
        (grid, association): (&Grid, Association),
        notes: &mut Vec<String>,
    ) -> Result<Vec<bool>> {
        let (array, path) = match self {
            LandMask::Own(array) => (array, path),
            LandMask::Other(MaskFile { array, files }) => (array, files.as_path()),
        };
        let fail = |reason: String| Error::Part { path: path.into(), reason };
        let source = Series::open(path.to_path_buf(), &options(array, association))?;
        let VelocityInfo { association: on, sampled, .. } = &source.velocity;
        let components = sampled.arrays[0].components;
        if (*on, components) != (association, 1) {
            return Err(fail(format!(
                "the mask `{array}` is a {on} array of {components} components; give a {association} array of one, as the \
                 velocity is at the {association}s"
            )));
        }
        if source.timeline.times.len() > 1 {
            notes.push(format!("the mask `{array}` is read at its first time"));
        }
        let [own, others] = [grid, &source.grid].map(|grid| values_along(grid, association));
        let indices = indices_among([&own, &others], grid.is_in_degrees)
            .map_err(|reason| fail(format!("the mask `{array}` {reason}")))?;
        let (values, first, counts) = source.values_around(&indices)?;
        let mut is_land = Vec::with_capacity(indices.iter().map(Vec::len).product());
        for (z, k) in own[2].iter().zip(&indices[2]) {
            for (y, j) in own[1].iter().zip(&indices[1]) {
                for (x, i) in own[0].iter().zip(&indices[0]) {
                    let index = (k - first[2]) * counts[1] + j - first[1];
                    let value = values.get(index * counts[0] + i - first[0]);
                    if value != 0.0 && value != 1.0 && !value.is_nan() {
                        return Err(fail(format!(
                            "the mask `{array}` is {value} at ({x}, {y}, {z}); 0 is land, and 1 is water"
                        )));
                    }
                    is_land.push(value != 1.0);
                }
            }
        }
        Ok(is_land)
    }
}

impl SeriesInfo {
    /// Whether each value on the grid that is read is land, if options name a mask.
    pub(super) fn add_mask(
        &mut self,
        options: &SeriesOptions,
        path: &Path,
        on: (&Grid, Association),
    ) -> Result<Option<Vec<bool>>> {
        options.mask.as_ref().map(|mask| mask.read(path, on, &mut self.notes)).transpose()
    }
}

/// How the file of a mask is read.
fn options(array: &str, association: Association) -> SeriesOptions {
    SeriesOptions {
        velocity: VelocityName::None,
        prefer: (association == Association::Cell).then_some(association),
        arrays: vec![NamedArray::new(array)],
        ignore_file_times: true,
        times: Some(CaseTimes::Steps { start: 0.0, step: 1.0 }),
        ignore_hidden: true,
        ..SeriesOptions::default()
    }
}

/// The coordinates of values along each axis.
fn values_along(grid: &Grid, association: Association) -> [Vec<f64>; 3] {
    grid.axes.each_ref().map(|axis| match association {
        Association::Cell if axis.len() > 1 => {
            axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect()
        }
        _ => axis.clone(),
    })
}

/// The indices of the coordinates of a velocity among those of a mask, along each axis.
fn indices_among(
    [own, others]: [&[Vec<f64>; 3]; 2],
    is_in_degrees: bool,
) -> std::result::Result<[Vec<usize>; 3], String> {
    let mut indices = [const { Vec::new() }; 3];
    for (d, indices) in indices.iter_mut().enumerate() {
        let period = (d == 0 && is_in_degrees).then_some(CIRCLE);
        let is_any = d == 2 && others[d].len() == 1;
        let spacings = [&own[d], &others[d]].into_iter().filter_map(|axis| min_spacing(axis));
        let tolerance = spacings.reduce(f64::min).map_or(0.0, |spacing| TOLERANCE * spacing);
        let tolerance = if is_any { f64::INFINITY } else { tolerance };
        let found = own[d].iter().map(|x| at(*x, &others[d], period, tolerance));
        *indices = found.collect::<std::result::Result<_, f64>>().map_err(|x| {
            let [low, high] = [others[d].first(), others[d].last()].map(|end| *end.unwrap_or(&x));
            let (axis, count) = (AXES[d], others[d].len());
            format!(
                "has no value at {axis} = {x}, where the velocity has one: its {axis} axis is from {low} to {high} in \
                 {count}; give a mask on the grid of the velocity"
            )
        })?;
    }
    Ok(indices)
}

/// The index of a coordinate among others, if need be after a turn; if there is none, the coordinate.
fn at(
    x: f64,
    others: &[f64],
    period: Option<f64>,
    tolerance: f64,
) -> std::result::Result<usize, f64> {
    let gap = |other: f64| {
        let turns = period.map_or(0.0, |period| period * ((x - other) / period).round());
        (x - other - turns).abs()
    };
    others.iter().position(|other| gap(*other) <= tolerance).ok_or(x)
}

impl Series {
    /// The values of its only array in the box around indices along its axes, at the first time, with the first index and the
    /// number of them along each axis.
    fn values_around(&self, indices: &[Vec<usize>; 3]) -> Result<(Floats, [usize; 3], [usize; 3])> {
        let ends = indices.each_ref().map(|all| all.iter().copied());
        let first = ends.clone().map(|all| all.min().unwrap_or(0));
        let last = ends.map(|all| all.max().unwrap_or(0));
        let nodes = [0, 1, 2].map(|d| last[d] + 1 - first[d]);
        // Of VTK files whole arrays are read.
        let (frame, first, counts) = match self.cf {
            Some(_) => {
                let ranges = [0, 1, 2].map(|d| first[d]..first[d] + nodes[d]);
                (self.read_box(0, &ranges)?, first, nodes)
            }
            None => (self.read_frame(0)?, [0; 3], self.velocity.counts(&self.grid)),
        };
        let values = frame.arrays.into_iter().next().unwrap_or(Floats::F32(Vec::new()));
        Ok((values, first, counts))
    }
}
