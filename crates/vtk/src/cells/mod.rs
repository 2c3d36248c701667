//! The cells of meshes: their types and the points at their corners.

mod cell_array;
mod explicit;
mod faces;
mod indices;
mod polyhedra;
mod polyhedron;
mod structured;

pub use cell_array::CellArray;
pub use explicit::cell_dimension;
pub(crate) use explicit::highest_dimension;
pub(crate) use polyhedra::{Polyhedra, read_polyhedra};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::sources::Sources;
use crate::structure::Structure;
use cell_array::check_count;

/// Reads the cells of an unstructured grid, or computes the cells of a structured grid; those of all
/// `members`, if there are some.
pub(crate) fn read(
    sources: &Sources,
    structure: &Structure,
    members: &[Structure],
) -> Result<CellArray, Error> {
    if members.is_empty() {
        return match &structure.geometry {
            Geometry::Image { .. } | Geometry::Rectilinear { .. } => {
                let what =
                    "its cells are implied by the nodes, whose positions are its `coordinates()`";
                Err(sources.absent(structure, "explicit cells", what))
            }
            Geometry::PolyData { .. } => {
                let remedy = "convert it to an unstructured grid";
                Err(sources.absent(structure, "single list of cells", remedy))
            }
            _ => read_block(sources, structure),
        };
    }
    let (mut all, mut points) = (CellArray::empty(), 0_usize);
    for member in members {
        let cells = read_block(sources, member)?;
        let source = sources.of_structure(member);
        points = points.saturating_add(member.geometry.num_points());
        check_count(source, points, "points")?;
        let corners = all.connectivity.len().saturating_add(cells.connectivity.len());
        check_count(source, corners, "corners of cells")?;
        all.append(cells, (points - member.geometry.num_points()) as u32, source)?;
    }
    Ok(all)
}

/// Reads the cells of a data set of any kind, or computes those between the nodes of a grid.
pub(crate) fn read_block(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    let geometry = &structure.geometry;
    let source = sources.of_structure(structure);
    check_count(source, geometry.num_points(), "points")?;
    match geometry {
        Geometry::Unstructured { .. } => explicit::read(sources, structure),
        Geometry::PolyData { verts: 0, lines: 0, polys, strips, .. } => {
            faces::read(sources, structure, [*polys, *strips])
        }
        Geometry::PolyData { .. } => Err(sources.absent(
            structure,
            "single list of cells: it has vertices or lines",
            "convert it to an unstructured grid",
        )),
        grid => structured::read(sources, structure, grid.dims().unwrap_or_default()),
    }
}

/// Reads the polygons and triangle strips of poly data.
pub(crate) fn read_faces(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    match structure.geometry {
        Geometry::PolyData { points, polys, strips, .. } => {
            check_count(sources.of_structure(structure), points, "points")?;
            faces::read(sources, structure, [polys, strips])
        }
        _ => {
            let remedy = "extract its surface as poly data (`.vtp`)";
            Err(sources.absent(structure, "polygons", remedy))
        }
    }
}

/// Reads the lines of poly data.
pub(crate) fn read_lines(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    match structure.geometry {
        Geometry::PolyData { points, lines, .. } => {
            check_count(sources.of_structure(structure), points, "points")?;
            faces::read_lines(sources, structure, lines)
        }
        _ => Err(sources.absent(structure, "lines", "extract them as poly data (`.vtp`)")),
    }
}
