//! The keywords for geometry and topology.

use super::lexer::Lexer;
use crate::array::{ArrayInfo, Association};
use crate::error::Error;
use crate::geometry::{Extent, Geometry, Kind, UNIT_DIRECTION, dims_of};
use crate::scalar::ScalarType;

/// The arrays that define the geometry and topology of a data set.
#[derive(Debug, Default)]
pub(super) struct GeometryArrays {
    pub(super) points: Option<ArrayInfo>,
    pub(super) coordinates: Vec<ArrayInfo>,
    pub(super) topology: Vec<ArrayInfo>,
}

/// A data set while its keywords are read.
pub(super) struct Dataset {
    kind: Kind,
    extent: Option<Extent>,
    origin: [f64; 3],
    spacing: [f64; 3],
    /// Number of cells of `CELLS`, or of `VERTICES`, `LINES`, `TRIANGLE_STRIPS` and `POLYGONS`.
    cells: CellCounts,
    arrays: GeometryArrays,
}

#[derive(Default)]
struct CellCounts {
    unstructured: usize,
    verts: usize,
    lines: usize,
    strips: usize,
    polys: usize,
}

impl Dataset {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            extent: None,
            origin: [0.0; 3],
            spacing: [1.0; 3],
            cells: CellCounts::default(),
            arrays: GeometryArrays::default(),
        }
    }

    /// Reads the arguments and values of `keyword` (in lower case).
    pub(super) fn read(&mut self, lexer: &mut Lexer<'_>, keyword: &str) -> Result<(), Error> {
        let element = format!("keyword `{}`", keyword.to_ascii_uppercase());
        match keyword {
            "dimensions" => self.extent = Some(read_dimensions(lexer, &element)?),
            "extent" => self.extent = Some(read_extent(lexer, &element)?),
            "origin" => self.origin = lexer.three(&element)?,
            "spacing" | "aspect_ratio" => self.spacing = lexer.three(&element)?,
            "points" => self.arrays.points = Some(read_typed(lexer, "Points", 3, &element)?),
            "x_coordinates" | "y_coordinates" | "z_coordinates" => {
                self.arrays.coordinates.push(read_typed(lexer, keyword, 1, &element)?);
            }
            // Flags of hidden points in old structured grids, which are ignored.
            "blanking" => drop(read_typed(lexer, keyword, 1, &element)?),
            "cell_types" => {
                let count = lexer.number(&element)?;
                self.read_topology(lexer, "types".to_owned(), count, ScalarType::I32)?;
            }
            "cells" => self.cells.unstructured = self.read_cells(lexer, "", &element)?,
            "vertices" => self.cells.verts = self.read_cells(lexer, "verts/", &element)?,
            "lines" => self.cells.lines = self.read_cells(lexer, "lines/", &element)?,
            "polygons" => self.cells.polys = self.read_cells(lexer, "polys/", &element)?,
            "triangle_strips" => self.cells.strips = self.read_cells(lexer, "strips/", &element)?,
            _ => return Err(lexer.unexpected("the data set", "a keyword, e.g. `POINT_DATA`")),
        }
        Ok(())
    }

    /// Reads the connectivity of cells and gives the number of cells.
    fn read_cells(
        &mut self,
        lexer: &mut Lexer<'_>,
        prefix: &str,
        element: &str,
    ) -> Result<usize, Error> {
        let [first, second] = [lexer.number::<usize>(element)?, lexer.number::<usize>(element)?];
        if lexer.version() < [5, 0] {
            self.read_topology(lexer, format!("{prefix}cells"), second, ScalarType::I32)?;
            return Ok(first);
        }
        if first == 0 {
            return Ok(0);
        }
        for (name, count) in [("offsets", first), ("connectivity", second)] {
            if lexer.keyword()?.as_deref() != Some(name) {
                return Err(lexer.unexpected(element, &format!("`{}`", name.to_ascii_uppercase())));
            }
            let scalar = lexer.scalar_type(element)?;
            self.read_topology(lexer, format!("{prefix}{name}"), count, scalar)?;
        }
        Ok(first - 1)
    }

    fn read_topology(
        &mut self,
        lexer: &mut Lexer<'_>,
        name: String,
        count: usize,
        scalar: ScalarType,
    ) -> Result<(), Error> {
        let array = ArrayInfo::new(name, Association::Topology, [count, 1], scalar);
        self.arrays.topology.push(lexer.array(array)?);
        Ok(())
    }

    /// Checks at the end of the file that nothing is missing.
    pub(super) fn finish(self, lexer: &Lexer<'_>) -> Result<(Geometry, GeometryArrays), Error> {
        let points = self.arrays.points.as_ref().map(|points| points.tuples);
        let need_points =
            || points.ok_or_else(|| lexer.context("the data set").truncated("`POINTS`"));
        let geometry = match self.kind {
            Kind::ImageData => Geometry::Image {
                extent: self.extent(lexer)?.0,
                origin: self.origin,
                spacing: self.spacing,
                direction: UNIT_DIRECTION,
            },
            Kind::RectilinearGrid => {
                let (extent, dims) = self.extent(lexer)?;
                check_coordinates(lexer, &self.arrays.coordinates, dims)?;
                Geometry::Rectilinear { dims, extent }
            }
            Kind::StructuredGrid => {
                let (extent, dims) = self.extent(lexer)?;
                Geometry::Structured { dims, extent }
            }
            Kind::UnstructuredGrid => {
                Geometry::Unstructured { points: need_points()?, cells: self.cells.unstructured }
            }
            Kind::PolyData => {
                let CellCounts { verts, lines, strips, polys, .. } = self.cells;
                Geometry::PolyData { points: need_points()?, verts, lines, strips, polys }
            }
        };
        if self.kind == Kind::StructuredGrid && need_points()? != geometry.num_points() {
            let expected =
                format!("`{}`, the number of nodes in `DIMENSIONS`", geometry.num_points());
            return Err(lexer
                .context("keyword `POINTS`")
                .malformed(format!("`{}` points", need_points()?), expected));
        }
        Ok((geometry, self.arrays))
    }

    fn extent(&self, lexer: &Lexer<'_>) -> Result<(Extent, [usize; 3]), Error> {
        let extent =
            self.extent.ok_or_else(|| lexer.context("the data set").truncated("`DIMENSIONS`"))?;
        Ok((extent, dims_of(extent).unwrap_or_default()))
    }
}

fn read_dimensions(lexer: &mut Lexer<'_>, element: &str) -> Result<Extent, Error> {
    let [x, y, z] = lexer.three::<u32>(element)?.map(i64::from);
    checked_extent(lexer, element, [0, x - 1, 0, y - 1, 0, z - 1])
}

fn read_extent(lexer: &mut Lexer<'_>, element: &str) -> Result<Extent, Error> {
    let mut extent = [0; 6];
    for bound in &mut extent {
        *bound = lexer.number(element)?;
    }
    checked_extent(lexer, element, extent)
}

fn checked_extent(lexer: &Lexer<'_>, element: &str, extent: Extent) -> Result<Extent, Error> {
    match dims_of(extent) {
        Some(_) => Ok(extent),
        None => Err(lexer
            .context(element)
            .malformed(format!("the extent `{extent:?}`"), "a valid extent")),
    }
}

/// Reads an array whose number of tuples and type follow its keyword.
fn read_typed(
    lexer: &mut Lexer<'_>,
    name: &str,
    components: usize,
    element: &str,
) -> Result<ArrayInfo, Error> {
    let tuples = lexer.number(element)?;
    let scalar = lexer.scalar_type(element)?;
    lexer.array(ArrayInfo::new(name, Association::Topology, [tuples, components], scalar))
}

fn check_coordinates(
    lexer: &Lexer<'_>,
    coordinates: &[ArrayInfo],
    dims: [usize; 3],
) -> Result<(), Error> {
    let found: Vec<usize> = coordinates.iter().map(|axis| axis.tuples).collect();
    if found == dims {
        return Ok(());
    }
    let found = format!("coordinates for `{found:?}` nodes");
    Err(lexer.context("the data set").malformed(found, format!("`{dims:?}`, as in `DIMENSIONS`")))
}
