//! Cell types of meshes: one table per type, from which everything else is derived.
//!
//! Numbering, parametric coordinates and shape functions are VTK's (`vtkCell::InterpolateFunctions`;
//! the VTK User's Guide, "Cell types"); `tests/peers/cells.py` compares all of them with VTK.
//!
//! Shape functions are polynomials, `N_i(r, s, t) = sum_j C_ij r^a_j s^b_j t^c_j`. In this form the
//! position within a cell is a polynomial too, `x(r, s, t) = sum_j (sum_i C_ij x_i) r^a_j s^b_j
//! t^c_j`, so that host code, device kernels and tensor operations use the same coefficients. All
//! `C_ij` are integers and therefore exact in every precision.

mod tables;

use tables::{BRICK_SIDES, TABLES};

/// A cell type, named as in VTK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKind {
    /// Three corners, linear.
    Triangle,
    /// Four corners in grid order, aligned with the axes.
    Pixel,
    /// Four corners in order around the cell, bilinear.
    Quad,
    /// Four corners, linear.
    Tetra,
    /// Eight corners in grid order, aligned with the axes.
    Voxel,
    /// Eight corners, around the lower face and then around the upper one; trilinear.
    Hexahedron,
    /// A triangle at each end: linear in (r, s) and along t.
    Wedge,
    /// A bilinear base and an apex.
    Pyramid,
    /// Three corners and three mid-edge nodes.
    QuadraticTriangle,
    /// Four corners and six mid-edge nodes.
    QuadraticTetra,
    /// Eight corners and twelve mid-edge nodes (serendipity).
    QuadraticHexahedron,
}

/// Maximum number of nodes of a cell, and of terms of its shape functions.
pub const MAX_CELL_NODES: usize = 20;

/// One of the half-spaces that bound a cell in parametric coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// `[a, b, c, d]`: `a + b r + c s + d t` is positive inside the cell and 0 on the face.
    pub plane: [f32; 4],
    /// The face to cross when this side has the most negative value.
    pub face: usize,
}

/// Numbering, shape functions and faces of a cell type.
#[derive(Clone, Debug)]
pub struct CellTable {
    /// The cell type.
    pub kind: CellKind,
    /// Its name, such as `quadratic tetra`.
    pub name: &'static str,
    /// Its VTK cell type number.
    pub vtk: u8,
    /// 2 or 3. In two dimensions nothing depends on t.
    pub dimension: usize,
    /// Number of corners; they are the first nodes.
    pub corners: usize,
    /// Parametric coordinates (r, s, t) of the nodes.
    pub nodes: &'static [[f64; 3]],
    /// The powers (a, b, c) of each term of the shape functions.
    pub exponents: &'static [[u8; 3]],
    /// `C_ij`, one row per node and one column per term; the rest is zero.
    pub coefficients: [[f64; MAX_CELL_NODES]; MAX_CELL_NODES],
    /// Corners of each face (of each edge in two dimensions), in VTK's order of faces. They go
    /// around the face so that its normal points outward where the Jacobian determinant is
    /// positive.
    pub faces: &'static [&'static [usize]],
    /// The sides that bound the cell, one per face in the order of faces. A pyramid has one more,
    /// beyond its apex.
    pub sides: &'static [Side],
}

const ALL: [CellKind; 11] = [
    CellKind::Triangle,
    CellKind::Pixel,
    CellKind::Quad,
    CellKind::Tetra,
    CellKind::Voxel,
    CellKind::Hexahedron,
    CellKind::Wedge,
    CellKind::Pyramid,
    CellKind::QuadraticTriangle,
    CellKind::QuadraticTetra,
    CellKind::QuadraticHexahedron,
];

impl CellKind {
    /// Every cell type.
    pub const ALL: &[CellKind] = &ALL;

    /// The cell type with a VTK number, if it is supported.
    pub fn from_vtk(code: u8) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.table().vtk == code)
    }

    /// The table of this cell type.
    pub const fn table(self) -> &'static CellTable {
        &TABLES[self as usize]
    }

    /// Number of nodes.
    pub const fn nodes(self) -> usize {
        self.table().nodes.len()
    }

    /// 2 or 3.
    pub const fn dimension(self) -> usize {
        self.table().dimension
    }

    /// Whether the map from parametric coordinates to positions is affine for any nodes, so that it
    /// can be inverted in one step.
    pub const fn is_affine(self) -> bool {
        matches!(self, CellKind::Triangle | CellKind::Tetra)
    }

    /// Whether its faces can be curved.
    pub const fn is_quadratic(self) -> bool {
        self.nodes() > self.table().corners
    }

    /// Parametric coordinates of a point well inside the cell.
    pub fn centre(self) -> [f64; 3] {
        let table = self.table();
        let mut centre = [0.0; 3];
        for node in &table.nodes[..table.corners] {
            for d in 0..3 {
                centre[d] += node[d] / table.corners as f64;
            }
        }
        // The centre is away from the collapsed apex of a pyramid, at the middle of the square in r
        // and s.
        if self == CellKind::Pyramid { [0.5, 0.5, centre[2]] } else { centre }
    }

    /// The face that a point is farthest beyond, among the faces accepted by `counts`.
    pub fn beyond(self, at: [f64; 3], counts: impl Fn(usize) -> bool) -> Option<usize> {
        let sides = self.table().sides.iter().filter(|side| counts(side.face));
        let beyond =
            sides.map(|side| (side.value(at), side.face)).filter(|(value, _)| *value < 0.0);
        beyond.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, face)| face)
    }

    /// The terms of the shape functions at parametric coordinates, in table order.
    pub fn terms(self, at: [f64; 3]) -> impl Iterator<Item = f64> {
        let powers = at.map(|x| [1.0, x, x * x]);
        let factor = move |[a, b, c]: &[u8; 3]| {
            powers[0][usize::from(*a)] * powers[1][usize::from(*b)] * powers[2][usize::from(*c)]
        };
        self.table().exponents.iter().map(factor)
    }

    /// Derivatives of the terms with respect to r, s and t.
    pub fn term_gradients(self, at: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
        let powers = at.map(|x| [1.0, x, x * x]);
        let gradients = at.map(|x| [0.0, 1.0, 2.0 * x]);
        let factors = move |exponents: &[u8; 3]| {
            let [a, b, c] = exponents.map(usize::from);
            let [r, s, t] = [powers[0][a], powers[1][b], powers[2][c]];
            [gradients[0][a] * s * t, r * gradients[1][b] * t, r * s * gradients[2][c]]
        };
        self.table().exponents.iter().map(factors)
    }

    /// Shape functions at parametric coordinates: the weights of the nodes, which sum to 1. The
    /// rest is zero.
    pub fn weights(self, at: [f64; 3]) -> [f64; MAX_CELL_NODES] {
        let rows = &self.table().coefficients[..self.nodes()];
        let mut weights = [0.0; MAX_CELL_NODES];
        for (j, term) in self.terms(at).enumerate() {
            for (weight, row) in weights.iter_mut().zip(rows) {
                *weight += row[j] * term;
            }
        }
        weights
    }

    /// Derivatives of the shape functions with respect to r, s and t.
    pub fn gradients(self, at: [f64; 3]) -> [[f64; 3]; MAX_CELL_NODES] {
        let rows = &self.table().coefficients[..self.nodes()];
        let mut gradients = [[0.0; 3]; MAX_CELL_NODES];
        for (j, term) in self.term_gradients(at).enumerate() {
            for (gradient, row) in gradients.iter_mut().zip(rows) {
                *gradient = [0, 1, 2].map(|d| gradient[d] + row[j] * term[d]);
            }
        }
        gradients
    }
}

impl Side {
    /// Value of the plane at a point: positive inside, negative beyond the face.
    pub fn value(&self, at: [f64; 3]) -> f64 {
        let [a, b, c, d] = self.plane.map(f64::from);
        a + b * at[0] + c * at[1] + d * at[2]
    }

    /// Whether it depends on r and s.
    pub(crate) fn leans(&self) -> bool {
        self.plane[1] != 0.0 || self.plane[2] != 0.0
    }
}

/// The sides of cell types that share them.
#[derive(Clone, Copy)]
pub(crate) struct Outline {
    /// One bit for each of these types.
    pub kinds: u32,
    pub sides: &'static [Side],
    /// Whether the cells narrow to an apex at t = 1, where r and s are undefined.
    pub narrows: bool,
}

/// Hexahedra and voxels.
pub(crate) const BRICK_OUTLINE: Outline = Outline {
    kinds: 1 << CellKind::Hexahedron as u32 | 1 << CellKind::Voxel as u32,
    sides: BRICK_SIDES,
    narrows: false,
};

impl Outline {
    /// The sides of one cell type.
    pub fn of(kind: CellKind) -> Self {
        let narrows = kind == CellKind::Pyramid;
        Outline { kinds: 1 << kind as u32, sides: kind.table().sides, narrows }
    }
}

/// Coefficients of the functions that are 1 at one node and 0 at the others: the inverse of the
/// matrix of terms at nodes, computed by Gauss-Jordan elimination at compile time.
const fn lagrange(nodes: &[[f64; 3]], exponents: &[[u8; 3]]) -> Coefficients {
    let n = nodes.len();
    assert!(n == exponents.len());
    // Row j: term j at all nodes, and the unit matrix, which becomes the inverse.
    let mut rows = [[0.0; 2 * MAX_CELL_NODES]; MAX_CELL_NODES];
    let mut j = 0;
    while j < n {
        let mut k = 0;
        while k < n {
            rows[j][k] = term(&nodes[k], &exponents[j]);
            k += 1;
        }
        rows[j][MAX_CELL_NODES + j] = 1.0;
        j += 1;
    }
    let mut column = 0;
    while column < n {
        rows = eliminate(rows, n, column);
        column += 1;
    }
    let mut coefficients = [[0.0; MAX_CELL_NODES]; MAX_CELL_NODES];
    let mut i = 0;
    while i < n {
        let mut j = 0;
        while j < n {
            coefficients[i][j] = rounded(rows[i][MAX_CELL_NODES + j]);
            j += 1;
        }
        i += 1;
    }
    coefficients
}

type Coefficients = [[f64; MAX_CELL_NODES]; MAX_CELL_NODES];
type Rows = [[f64; 2 * MAX_CELL_NODES]; MAX_CELL_NODES];

/// Reduces one column to a column of the unit matrix, with partial pivoting.
const fn eliminate(mut rows: Rows, n: usize, column: usize) -> Rows {
    let (mut lead, mut i) = (column, column);
    while i < n {
        if rows[i][column].abs() > rows[lead][column].abs() {
            lead = i;
        }
        i += 1;
    }
    assert!(rows[lead][column].abs() > 1e-9, "the nodes do not determine the shape functions");
    let mut row = rows[lead];
    rows[lead] = rows[column];
    let (pivot, mut k) = (row[column], 0);
    while k < row.len() {
        row[k] /= pivot;
        k += 1;
    }
    rows[column] = row;
    let mut i = 0;
    while i < n {
        let factor = rows[i][column];
        let mut k = 0;
        while i != column && k < row.len() {
            rows[i][k] -= factor * row[k];
            k += 1;
        }
        i += 1;
    }
    rows
}

const fn term(node: &[f64; 3], exponents: &[u8; 3]) -> f64 {
    let (mut product, mut d) = (1.0, 0);
    while d < 3 {
        let mut times = 0;
        while times < exponents[d] {
            product *= node[d];
            times += 1;
        }
        d += 1;
    }
    product
}

/// Rounds a coefficient to the integer that it represents.
const fn rounded(x: f64) -> f64 {
    let near = if x < 0.0 { (x - 0.5) as i32 } else { (x + 0.5) as i32 } as f64;
    assert!((x - near).abs() < 1e-9, "the coefficients are not integers");
    near
}

#[cfg(test)]
mod tests;
