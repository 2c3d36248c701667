//! The cells of meshes: their types and the points at their corners.

mod cell_array;
mod explicit;
mod faces;
mod indices;
mod structured;

pub use cell_array::CellArray;

use crate::error::Error;
use crate::geometry::Geometry;
use crate::sources::Sources;
use crate::structure::Structure;
use cell_array::check_count;

/// Reads the cells of an unstructured grid, or computes the cells of a structured grid.
pub(crate) fn read(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    let geometry = &structure.geometry;
    let absent = |what, remedy| {
        let path = sources.main().path().to_path_buf();
        Err(Error::Absent { path, kind: geometry.kind(), what, remedy })
    };
    match geometry {
        Geometry::Unstructured { points, .. } => {
            check_count(sources.main(), *points, "points")?;
            explicit::read(sources, structure)
        }
        Geometry::Structured { dims, .. } => {
            check_count(sources.main(), geometry.num_points(), "points")?;
            structured::read(sources, structure, *dims)
        }
        Geometry::Image { .. } | Geometry::Rectilinear { .. } => absent(
            "explicit cells",
            "its cells are implied by the nodes, whose positions are its `coordinates()`",
        ),
        Geometry::PolyData { .. } => {
            absent("single list of cells", "convert it to an unstructured grid")
        }
    }
}

/// Reads the polygons and triangle strips of poly data.
pub(crate) fn read_faces(sources: &Sources, structure: &Structure) -> Result<CellArray, Error> {
    match structure.geometry {
        Geometry::PolyData { points, polys, strips, .. } => {
            check_count(sources.main(), points, "points")?;
            faces::read(sources, structure, [polys, strips])
        }
        ref other => Err(Error::Absent {
            path: sources.main().path().to_path_buf(),
            kind: other.kind(),
            what: "polygons",
            remedy: "extract its surface as poly data (`.vtp`)",
        }),
    }
}
