//! The cells of meshes: their types, and the points at their corners.

mod faces;
mod grid;
mod indices;
mod listed;

use crate::error::Error;
use crate::file::Structure;
use crate::geometry::Geometry;
use crate::source::{Source, Sources, Spot};

/// The cells of a mesh, one after the other.
///
/// They are checked when they are read: every index is one of a point, cells follow each other
/// without gaps, and where the type of a cell fixes its number of points, it has so many. There are
/// less than 2^32 points, also if those of several cells are counted for each.
///
/// ```no_run
/// let cells = burntrace_vtk::open("mesh.vtu")?.cells()?;
/// let tetrahedra = cells.iter().filter(|(kind, _)| *kind == 10).count();
/// # Ok::<(), burntrace_vtk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    types: Vec<u8>,
    offsets: Vec<u32>,
    connectivity: Vec<u32>,
}

impl Cells {
    /// No cells.
    fn none() -> Self {
        Self { types: Vec::new(), offsets: vec![0], connectivity: Vec::new() }
    }

    /// Makes room for the points of cells whose types are known, at most `points`.
    fn reserve(&mut self, points: usize, spot: Spot<'_>) -> Result<(), Error> {
        let cells = self.types.len();
        let room = self.offsets.try_reserve_exact(cells);
        let room = room.and_then(|()| self.connectivity.try_reserve_exact(points));
        room.map_err(|_| spot.out_of_memory(points.saturating_add(cells)))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The type of each cell, as VTK counts them: 5 is a triangle, 9 a quad, 10 a tetrahedron, 12 a
    /// hexahedron, 13 a wedge, 14 a pyramid.
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    /// Where each cell starts in the [`connectivity`](Self::connectivity) and, at last, where the
    /// last one ends: one more than there are cells, the first is 0.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The points of the cells, by their index, in the order that VTK has for each type.
    pub fn connectivity(&self) -> &[u32] {
        &self.connectivity
    }

    /// The cells one by one: the type, and the points.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u8, &[u32])> {
        let bounds = self.offsets.array_windows();
        self.types.iter().zip(bounds).map(|(kind, &[start, end])| {
            (*kind, self.connectivity.get(start as usize..end as usize).unwrap_or_default())
        })
    }

    /// The [`types`](Self::types), the [`offsets`](Self::offsets) and the
    /// [`connectivity`](Self::connectivity), without a copy.
    pub fn into_parts(self) -> (Vec<u8>, Vec<u32>, Vec<u32>) {
        (self.types, self.offsets, self.connectivity)
    }
}

/// Reads the cells of a data set, or makes them where its nodes imply them.
pub(crate) fn read(sources: &Sources, structure: &Structure) -> Result<Cells, Error> {
    let geometry = &structure.geometry;
    let absent = |what, remedy| {
        let path = sources.main().path().to_path_buf();
        Err(Error::Absent { path, kind: geometry.kind(), what, remedy })
    };
    match geometry {
        Geometry::Unstructured { points, .. } => {
            check_count(sources.main(), *points, "points")?;
            listed::read(sources, structure)
        }
        Geometry::Structured { dims, .. } => {
            check_count(sources.main(), geometry.num_points(), "points")?;
            grid::read(sources, structure, *dims)
        }
        Geometry::Image { .. } | Geometry::Rectilinear { .. } => absent(
            "a list of its cells",
            "they lie between the nodes, whose places are its `coordinates()`",
        ),
        Geometry::PolyData { .. } => {
            absent("cells of one list", "convert it to an unstructured grid")
        }
    }
}

/// Reads the polygons and triangle strips of poly data.
pub(crate) fn read_faces(sources: &Sources, structure: &Structure) -> Result<Cells, Error> {
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

/// Indices are kept in 32 bits.
fn check_count(source: &Source, count: usize, what: &str) -> Result<(), Error> {
    if u32::try_from(count).is_ok() {
        return Ok(());
    }
    let spot = source.spot(0, "the cells");
    Err(spot.unsupported(format!("a mesh of `{count}` {what}"), "cut it into smaller ones"))
}
