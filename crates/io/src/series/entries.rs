//! Descriptions of axes and arrays.

use super::grid::Grid;
use super::velocity::Association;
use burntrace_vtk::ArrayInfo;
use serde::Serialize;

/// An axis of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AxisInfo {
    /// `x`, `y` or `z`.
    pub name: char,
    /// Number of nodes.
    pub nodes: usize,
    /// Minimum coordinate, in the data's unit of length.
    pub low: f64,
    /// Maximum coordinate, in the data's unit of length.
    pub high: f64,
    /// Distance between neighbouring nodes, if it is uniform; `None` for an axis of one node.
    pub spacing: Option<f64>,
    /// Whether the nodes are evenly spaced.
    pub is_uniform: bool,
    /// Whether the coordinates decrease in the files.
    pub is_flipped: bool,
}

/// An array of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayEntry {
    /// Name.
    pub name: String,
    /// `point`, `cell` or `field`.
    pub association: String,
    /// Numbers in a value.
    pub components: usize,
    /// Type of the numbers, e.g. `Float32`.
    pub scalar: String,
    /// Number of values in a frame.
    pub tuples: usize,
    /// The dimensions of a variable of a NetCDF file or a Zarr group, with their lengths; the last one varies
    /// fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<(String, usize)>>,
    /// Its attribute `units` in a NetCDF file or a Zarr group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
}

impl ArrayEntry {
    /// An array of a VTK file.
    pub(super) fn of(array: &ArrayInfo) -> ArrayEntry {
        ArrayEntry {
            name: array.name.clone(),
            association: Association::of(array).map_or("field".into(), |on| on.to_string()),
            components: array.components,
            scalar: array.scalar.to_string(),
            tuples: array.tuples,
            dimensions: None,
            units: None,
        }
    }

    /// A variable of a NetCDF file or a Zarr group.
    pub(super) fn of_cf(field: &burntrace_cf::Field) -> ArrayEntry {
        let variable = field.variable;
        let dimensions = variable.dimensions.iter();
        ArrayEntry {
            name: variable.name.clone(),
            association: if field.is_on_grid { "point" } else { "field" }.into(),
            components: field.components,
            scalar: variable.scalar.map_or("not numbers".into(), |scalar| scalar.to_string()),
            tuples: field.tuples,
            dimensions: Some(dimensions.map(|of| (of.name.clone(), of.len)).collect()),
            units: variable.text("units").map(str::to_owned),
        }
    }
}

/// The axes of a grid.
pub(super) fn axes(grid: &Grid) -> Vec<AxisInfo> {
    let axis = |(d, name): (usize, char)| {
        let nodes = grid.axes[d].as_slice();
        let (low, high) = (nodes[0], nodes[nodes.len() - 1]);
        let pitch = (high - low) / (nodes.len() - 1).max(1) as f64;
        let mut spacings = nodes.array_windows().map(|[a, b]| b - a);
        // Files store coordinates in single precision, too.
        let rounding = f64::from(f32::EPSILON) * low.abs().max(high.abs());
        let off = (1e-6 * pitch).max(rounding);
        let is_uniform = spacings.all(|spacing| (spacing - pitch).abs() <= off);
        AxisInfo {
            name,
            nodes: nodes.len(),
            low,
            high,
            spacing: (is_uniform && nodes.len() > 1).then_some(pitch),
            is_uniform,
            is_flipped: grid.flipped[d],
        }
    };
    ['x', 'y', 'z'].into_iter().enumerate().map(axis).collect()
}
