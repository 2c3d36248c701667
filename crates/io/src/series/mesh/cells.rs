//! Selection of the cells of a mesh.

use super::counts::{CellCount, count};
use crate::listing::{counted, list};
use crate::series::{compare::count_difference, ghosts::Ghosts, options::OtherCells};
use crate::{Error, Result};
use burntrace_core::{CellKind, mesh::Cells};
use burntrace_vtk::{AddedPoints, Kind, SplitCells, VtkFile, cell_dimension};

/// All cells of a file, some of them divided.
#[derive(Debug)]
pub(super) struct FileCells {
    split: SplitCells,
    /// Whether each cell of the file is a ghost or hidden.
    hidden: Vec<bool>,
    /// The kind of each VTK type.
    kinds: [Option<CellKind>; 256],
}

/// A cell: its index in the file, its kind, if a mesh can have it, and its points.
type Cell<'a> = (usize, Option<CellKind>, &'a [u32]);

impl FileCells {
    /// Reads the cells of a file with these points, and divides those that need it.
    ///
    /// # Errors
    ///
    /// If the data set has no list of cells, or it cannot be read.
    pub fn read(file: &VtkFile, points: &[[f64; 3]]) -> Result<FileCells> {
        let kind = file.kind();
        if matches!(kind, Kind::ImageData | Kind::RectilinearGrid) {
            let reason = format!(
                "it holds {kind}, which has axes and no list of cells; set `field.interpolation = \
                 \"grid\"`"
            );
            return Err(Error::mesh(file, reason));
        }
        let kinds = std::array::from_fn(|code| CellKind::from_vtk(code as u8));
        let (split, ghosts) = (file.split_cells(points)?, Ghosts::read(file)?);
        let mut cells = FileCells { split, hidden: Vec::new(), kinds };
        let mut hidden = vec![false; cells.types().len()];
        for (index, _, points) in cells.all() {
            // A cell is hidden if one of its points is, whichever part has it.
            hidden[index] |= ghosts.hide(index, points);
        }
        cells.hidden = hidden;
        Ok(cells)
    }

    /// The VTK types of the cells of the file.
    fn types(&self) -> &[u8] {
        self.split.parents.as_ref().map_or(self.split.cells.types(), |parents| &parents.types)
    }

    /// Number of cells of each type.
    pub fn count(&self) -> Vec<CellCount> {
        count(self.types())
    }

    /// All cells.
    fn all(&self) -> impl Iterator<Item = Cell<'_>> {
        self.split.cells.iter().enumerate().map(|(cell, (code, points))| {
            let parents = self.split.parents.as_ref();
            let index = parents.map_or(cell, |parents| parents.indices[cell] as usize);
            (index, self.kinds[usize::from(code)], points)
        })
    }

    /// The cells that are not ghosts or hidden.
    fn visible(&self) -> impl Iterator<Item = Cell<'_>> {
        self.all().filter(|(index, ..)| !self.hidden[*index])
    }

    /// The dimension of the mesh: the highest one of its cells.
    pub fn dimension(&self) -> usize {
        let dimensions = self.visible().filter_map(|(_, kind, _)| kind).map(CellKind::dimension);
        dimensions.max().unwrap_or(0)
    }

    /// The cells on the boundary of the mesh, of the next lower dimension, without ghosts: the index in the
    /// file, the VTK type and the points of each.
    pub fn on_boundary(&self) -> impl Iterator<Item = (usize, u8, &[u32])> {
        let below = self.dimension().checked_sub(1);
        let all = self.split.cells.types().iter().zip(self.all());
        let visible = all.filter(|(_, (index, ..))| !self.hidden[*index]);
        let on_boundary = visible.filter(move |(code, _)| Some(cell_dimension(**code)) == below);
        on_boundary.map(|(code, (index, _, points))| (index, *code, points))
    }

    /// The cells of the mesh, those of the highest dimension without ghosts, and the other visible ones,
    /// without cells [on the boundary](FileCells::on_boundary) if these are used.
    fn sorted(&self, uses_boundary: bool) -> (Vec<usize>, Vec<usize>) {
        let dimension = self.dimension();
        let (mut indices, mut others) = (Vec::new(), Vec::new());
        for (index, kind, _) in self.visible() {
            match kind.filter(|kind| kind.dimension() == dimension) {
                Some(_) => indices.push(index),
                None => others.push(index),
            }
        }
        others.dedup();
        if uses_boundary {
            others.retain(|index| cell_dimension(self.types()[*index]) + 1 != dimension);
        }
        (indices, others)
    }

    /// Selects the cells of the mesh: the cells of the highest dimension, without ghosts.
    ///
    /// # Errors
    ///
    /// If there are none, or other cells that `other_cells` does not skip.
    pub fn select(
        self,
        file: &VtkFile,
        other_cells: OtherCells,
        uses_boundary: bool,
    ) -> Result<MeshCells> {
        let (mesh, problem) = self.select_skipping(file, uses_boundary)?;
        match problem.filter(|_| other_cells == OtherCells::Error) {
            Some(problem) => Err(Error::mesh(file, problem)),
            None => Ok(mesh),
        }
    }

    /// Selects the cells of the mesh, and describes the other ones, if there are any.
    ///
    /// # Errors
    ///
    /// If no cell can be part of a mesh.
    pub fn select_skipping(
        self,
        file: &VtkFile,
        uses_boundary: bool,
    ) -> Result<(MeshCells, Option<String>)> {
        let (indices, others) = self.sorted(uses_boundary);
        let (dimension, total) = (self.dimension(), self.types().len());
        let hidden = self.hidden.iter().filter(|is_hidden| **is_hidden).count();
        let others: Vec<u8> = others.into_iter().map(|index| self.types()[index]).collect();
        if indices.is_empty() {
            return Err(Error::mesh(file, no_cells(total, hidden, &others)));
        }
        let problem =
            (!others.is_empty()).then(|| unsupported_cells(indices.len(), dimension, &others));
        let (parts, overlapping) = (self.count_parts(&indices), self.split.overlapping);
        let is_all = self.split.parents.is_none() && indices.len() == total;
        let indices = (!is_all).then_some(indices);
        let (cells, added) = self.subset(dimension, is_all);
        let skipped = others.len();
        let mesh = MeshCells {
            cells,
            added,
            indices,
            total,
            dimension,
            hidden,
            skipped,
            parts,
            overlapping,
        };
        Ok((mesh, problem))
    }

    /// Number of cells with these indices that are parts of divided cells.
    fn count_parts(&self, indices: &[usize]) -> usize {
        if self.split.parents.is_none() {
            return 0;
        }
        let is_divided = |index: &&usize| self.kinds[usize::from(self.types()[**index])].is_none();
        indices.iter().filter(is_divided).count()
    }

    /// The visible cells of a dimension, and the added points.
    fn subset(self, dimension: usize, is_all: bool) -> (Cells, AddedPoints) {
        if is_all {
            let kind = |code: &u8| self.kinds[usize::from(*code)];
            let (types, offsets, connectivity) = self.split.cells.into_parts();
            let kinds = types.iter().filter_map(kind).collect();
            return (Cells { kinds, offsets, connectivity }, self.split.added);
        }
        let mut subset = Cells { offsets: vec![0], ..Cells::default() };
        for (_, kind, points) in self.visible() {
            if let Some(kind) = kind.filter(|kind| kind.dimension() == dimension) {
                subset.kinds.push(kind);
                subset.connectivity.extend_from_slice(points);
                subset.offsets.push(subset.connectivity.len() as u32);
            }
        }
        (subset, self.split.added)
    }
}

/// The cells of a file that form a mesh.
#[derive(Debug)]
pub(in crate::series) struct MeshCells {
    /// The cells.
    pub cells: Cells,
    /// The points that are added to those of the file.
    pub added: AddedPoints,
    /// The cell of the file that each of them is or is part of; `None` for all cells.
    pub indices: Option<Vec<usize>>,
    /// Number of cells in the file.
    pub total: usize,
    /// 2 or 3.
    dimension: usize,
    /// Number of ghost and hidden cells.
    pub hidden: usize,
    /// Number of other skipped cells.
    pub skipped: usize,
    /// Number of cells that are parts of divided cells.
    pub parts: usize,
    /// Number of divided polyhedra whose parts overlap.
    pub overlapping: usize,
}

impl MeshCells {
    /// The points of the file, followed by the added ones.
    pub fn with_added_points(&self, mut points: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let along = |d: usize| self.added.values(|point| points[point][d]).collect::<Vec<f64>>();
        let [x, y, z] = [along(0), along(1), along(2)];
        points.extend((0..x.len()).map(|i| [x[i], y[i], z[i]]));
        points
    }

    /// The flat axes of the mesh with these points. The field refuses two-dimensional cells in no plane.
    pub fn flat_axes(&self, points: &[[f64; 3]]) -> [bool; 3] {
        let flat = self.cells.flat_axis(points).ok().flatten();
        [0, 1, 2].map(|d| flat == Some(d))
    }

    /// How the mesh of another file differs from this one, if it does. Cells that are in neither mesh
    /// are not compared.
    pub(super) fn difference(&self, other: &FileCells) -> Option<String> {
        let total = count_difference(other.types().len(), self.total, "cell");
        if total.is_some() {
            return total;
        }
        let mut own = (0..).map_while(|cell| self.cell(cell)).peekable();
        let is_own = |kind: &CellKind| kind.dimension() == self.dimension;
        let others = other.visible();
        let others = others.filter_map(|(index, kind, at)| Some((index, kind.filter(is_own)?, at)));
        let mut others = others.peekable();
        (0..self.total).find_map(|cell| {
            // Divided cells have several parts.
            loop {
                let expected = own.next_if(|(index, ..)| *index == cell);
                let found = others.next_if(|(index, ..)| *index == cell);
                if expected.is_none() && found.is_none() {
                    return None;
                }
                let without_index = |(_, kind, points)| (kind, points);
                let difference =
                    cell_difference(cell, expected.map(without_index), found.map(without_index));
                if difference.is_some() {
                    return difference;
                }
            }
        })
    }

    /// A cell of the mesh: its index in the file, its kind and its points.
    fn cell(&self, cell: usize) -> Option<(usize, CellKind, &[u32])> {
        let kind = *self.cells.kinds.get(cell)?;
        let index = match &self.indices {
            None => cell,
            Some(indices) => *indices.get(cell)?,
        };
        Some((index, kind, self.cells.nodes(cell)))
    }
}

/// How a cell of either mesh differs in the other, if it does.
fn cell_difference(
    cell: usize,
    expected: Option<(CellKind, &[u32])>,
    found: Option<(CellKind, &[u32])>,
) -> Option<String> {
    let name = |kind: CellKind| kind.table().name;
    let how = match (expected, found) {
        (Some((kind, _)), None) => {
            format!("not a {} of the mesh, but a ghost, hidden, or of another type", name(kind))
        }
        (None, Some((kind, _))) => {
            format!("a {}, and is not part of the mesh in the first file", name(kind))
        }
        (Some((a, _)), Some((b, _))) if a != b => format!("a {}, not a {}", name(b), name(a)),
        (Some((_, a)), Some((_, b))) if a != b => {
            return Some(format!("its cell {cell} has other points"));
        }
        _ => return None,
    };
    Some(format!("its cell {cell} is {how}"))
}

/// The message for a file without mesh cells.
fn no_cells(total: usize, hidden: usize, others: &[u8]) -> String {
    if total == 0 {
        return "it has no cells; a mesh needs at least one".into();
    }
    if hidden == total {
        return format!(
            "all of its {} are ghosts or hidden, by `vtkGhostType` or `vtkGhostLevels`; a mesh \
             needs at least one other cell",
            counted(total, "cell")
        );
    }
    let others = list(&count(others));
    format!("none of its cells can be part of a mesh: {others}; {}", supported_kinds())
}

/// The message for a file with cells that cannot be part of its mesh.
fn unsupported_cells(cells: usize, dimension: usize, others: &[u8]) -> String {
    format!(
        "besides {} in {dimension} dimensions, it has cells that cannot be part of the mesh: {}; \
         set `other_cells = \"skip\"` to skip them, or let a `[[patch]]` select those on the boundary by \
         an `array`; {}",
        counted(cells, "cell"),
        list(&count(others)),
        supported_kinds()
    )
}

/// The kinds of cells that a mesh can have, for messages.
fn supported_kinds() -> String {
    let name = |kind: &CellKind| format!("{} ({})", kind.table().name, kind.table().vtk);
    let kinds: Vec<_> = CellKind::ALL.iter().map(name).collect();
    format!(
        "a mesh can have {}, and, divided, triangle strips (6), polygons (7), quadratic wedges (26), \
         quadratic pyramids (27), biquadratic quads (28), triquadratic hexahedra (29), biquadratic wedges (32), \
         convex point sets (41), polyhedra (42) and Lagrange cells (69 to 73) of order 1 or 2, all of one \
         dimension",
        kinds.join(", ")
    )
}
