//! The positions of nodes: along axes, and as points.

use crate::array::ArrayInfo;
use crate::error::Error;
use crate::geometry::{Geometry, dims_of};
use crate::pieces::read_values;
use crate::sources::Sources;
use crate::structure::Structure;
use crate::values::Values;

/// Maximum number of nodes along an axis of an image per byte of the file: the maximum compression
/// ratio of zlib.
const MAX_NODES_PER_BYTE: u64 = 1032;

/// The node coordinates along x, y and z of image data, whose axes are not tilted, or a rectilinear grid.
pub(crate) fn along_axes(sources: &Sources, structure: &Structure) -> Result<[Vec<f64>; 3], Error> {
    match &structure.geometry {
        Geometry::Image { origin, .. } => {
            let mut axes = along_image(sources, structure)?;
            for (axis, origin) in axes.iter_mut().zip(origin) {
                axis.iter_mut().for_each(|x| *x += origin);
            }
            Ok(axes)
        }
        Geometry::Rectilinear { .. } => rectilinear_axes(sources, structure),
        _ => Err(sources.absent(structure, "coordinates along axes", "use `points()`")),
    }
}

fn rectilinear_axes(sources: &Sources, structure: &Structure) -> Result<[Vec<f64>; 3], Error> {
    let axis = |array: &ArrayInfo| Ok(read_values(sources, structure, array)?.into_f64());
    match structure.coordinates.as_slice() {
        [x, y, z] => Ok([axis(x)?, axis(y)?, axis(z)?]),
        _ => Err(sources.absent(structure, "coordinate arrays", "check how it was written")),
    }
}

/// The distances of the nodes of an image from its origin along its axes, after checking that the file
/// can hold data for that number of nodes.
fn along_image(sources: &Sources, structure: &Structure) -> Result<[Vec<f64>; 3], Error> {
    let Geometry::Image { extent, spacing, .. } = &structure.geometry else {
        return Err(sources.absent(structure, "image axes", "use `points()`"));
    };
    let dims = dims_of(*extent).unwrap_or_default();
    let source = sources.of_structure(structure);
    let max_nodes = sources.total_len().saturating_mul(MAX_NODES_PER_BYTE);
    if let Some(nodes) = dims.into_iter().find(|nodes| *nodes as u64 > max_nodes) {
        let context = source.context(0, "the extent of the image");
        return Err(context.truncated(format!("data for an axis of `{nodes}` nodes")));
    }
    let [x, _, y, _, z, _] = *extent;
    let axis = |nodes: usize, first: i64, spacing: f64| -> Vec<f64> {
        (first..).take(nodes).map(|index| index as f64 * spacing).collect()
    };
    let ([nx, ny, nz], [sx, sy, sz]) = (dims, *spacing);
    Ok([axis(nx, x, sx), axis(ny, y, sy), axis(nz, z, sz)])
}

/// The points of a block: explicit ones, or the nodes of a grid, x varying fastest. The file must have
/// been checked to have data for the nodes.
pub(crate) fn points(sources: &Sources, structure: &Structure) -> Result<Vec<f64>, Error> {
    if let Some(points) = &structure.points {
        return Ok(read_values(sources, structure, points)?.into_f64());
    }
    let axes = match &structure.geometry {
        Geometry::Image { .. } => along_image(sources, structure)?,
        _ => along_axes(sources, structure)?,
    };
    let place = |at: [f64; 3]| match &structure.geometry {
        Geometry::Image { origin, direction: [a, b, c, d, e, f, g, h, i], .. } => {
            let ([x, y, z], [ox, oy, oz]) = (at, origin);
            [
                ox + (a * x + b * y + c * z),
                oy + (d * x + e * y + f * z),
                oz + (g * x + h * y + i * z),
            ]
        }
        _ => at,
    };
    let [x, y, z] = &axes;
    let mut points = Vec::new();
    let count = structure.geometry.num_points().saturating_mul(3);
    let context = sources.of_structure(structure).context(0, "the points");
    points.try_reserve_exact(count).map_err(|_| context.out_of_memory(count))?;
    for (z, y) in z.iter().flat_map(|z| y.iter().map(move |y| (*z, *y))) {
        points.extend(x.iter().flat_map(|x| place([*x, y, z])));
    }
    Ok(points)
}

/// The points of several blocks, in their order.
pub(crate) fn points_of_all(sources: &Sources, members: &[Structure]) -> Result<Values, Error> {
    let mut all = Vec::new();
    for member in members {
        let points = points(sources, member)?;
        let context = sources.of_structure(member).context(0, "the points");
        all.try_reserve(points.len()).map_err(|_| context.out_of_memory(points.len()))?;
        all.extend(points);
    }
    Ok(Values::F64(all))
}
