//! The cells of a mesh in memory.

use crate::error::Error;
use crate::source::{ErrorContext, Source};

/// The cells of a mesh: types, offsets and connectivity, as in VTK.
///
/// The cells are validated on reading: every index refers to a point, cells are contiguous in the
/// connectivity, and a cell has the number of points of its type, where that is fixed. There are
/// fewer than 2^32 entries in the connectivity.
///
/// ```no_run
/// let cells = burntrace_vtk::open("mesh.vtu")?.cells()?;
/// let tetrahedra = cells.iter().filter(|(kind, _)| *kind == 10).count();
/// # Ok::<(), burntrace_vtk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellArray {
    pub(super) types: Vec<u8>,
    pub(super) offsets: Vec<u32>,
    pub(super) connectivity: Vec<u32>,
}

impl CellArray {
    /// No cells.
    pub(crate) fn empty() -> Self {
        Self { types: Vec::new(), offsets: vec![0], connectivity: Vec::new() }
    }

    /// Reserves memory for `points` entries of connectivity, and for the missing offsets of the cells
    /// whose types are known.
    pub(super) fn reserve(
        &mut self,
        points: usize,
        context: ErrorContext<'_>,
    ) -> Result<(), Error> {
        let cells = (self.types.len() + 1).saturating_sub(self.offsets.len());
        let reserved = self.offsets.try_reserve_exact(cells);
        let reserved = reserved.and_then(|()| self.connectivity.try_reserve_exact(points));
        reserved.map_err(|_| context.out_of_memory(points.saturating_add(cells)))
    }

    /// Appends cells whose points start at `first_point`. The sums fit into 32 bits.
    pub(super) fn append(
        &mut self,
        cells: CellArray,
        first_point: u32,
        source: &Source,
    ) -> Result<(), Error> {
        let start = self.connectivity.len() as u32;
        self.types
            .try_reserve(cells.types.len())
            .map_err(|_| source.context(0, "the cells").out_of_memory(cells.types.len()))?;
        self.types.extend(cells.types);
        self.reserve(cells.connectivity.len(), source.context(0, "the cells"))?;
        self.offsets.extend(cells.offsets.iter().skip(1).map(|end| start + end));
        self.connectivity.extend(cells.connectivity.iter().map(|point| first_point + point));
        Ok(())
    }

    /// Appends a cell. Its type has this number of points, and the sums fit into 32 bits.
    pub(crate) fn push(&mut self, kind: u8, points: impl IntoIterator<Item = u32>) {
        self.types.push(kind);
        self.connectivity.extend(points);
        self.offsets.push(self.connectivity.len() as u32);
    }

    /// Puts the nodes of Lagrange hexahedra of order 2 from the order of files before VTK 9 into the present one: the
    /// middles of two edges are exchanged.
    pub(super) fn reorder_hexahedra(&mut self) {
        const LAGRANGE_HEXAHEDRON: u8 = 72;
        let bounds = self.offsets.array_windows();
        for (kind, [start, end]) in self.types.iter().zip(bounds) {
            if *kind == LAGRANGE_HEXAHEDRON && end - start == 27 {
                self.connectivity.swap(*start as usize + 18, *start as usize + 19);
            }
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The VTK type of each cell: 5 is a triangle, 9 a quad, 10 a tetrahedron, 12 a hexahedron, 13 a
    /// wedge, 14 a pyramid.
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    /// The start of each cell in the [`connectivity`](Self::connectivity), followed by the end of the
    /// last cell: one entry more than cells, the first is 0.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The point indices of the cells, in VTK's order for each type.
    pub fn connectivity(&self) -> &[u32] {
        &self.connectivity
    }

    /// Iterates over the cells: type and point indices.
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

/// Checks that a count fits into 32 bits, the size of the indices.
pub(super) fn check_count(source: &Source, count: usize, what: &str) -> Result<(), Error> {
    if u32::try_from(count).is_ok() {
        return Ok(());
    }
    let context = source.context(0, "the cells");
    Err(context.unsupported(format!("a mesh of `{count}` {what}"), "split it into smaller meshes"))
}
