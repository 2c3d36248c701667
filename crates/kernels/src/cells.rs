//! The cells of meshes: one table for each kind, from which everything else follows.
//!
//! Numbering, parametric coordinates and shape functions are VTK's (`vtkCell::InterpolateFunctions`;
//! the VTK User's Guide, "Cell types"); `tests/peers/cells.py` compares all of them with VTK.
//!
//! Shape functions are polynomials, `N_i(r, s, t) = sum_j C_ij r^a_j s^b_j t^c_j`. In this form a
//! position within a cell is a polynomial too, `x(r, s, t) = sum_j (sum_i C_ij x_i) r^a_j s^b_j
//! t^c_j`, and a loop, a device kernel and tensor operations read the same numbers. All `C_ij` are
//! whole numbers, so that they are exact in every precision.

mod tables;

use tables::TABLES;

/// A kind of cell, by VTK's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKind {
    /// Three corners, linear.
    Triangle,
    /// Four corners in the order of a grid, along the axes.
    Pixel,
    /// Four corners around the cell, bilinear.
    Quad,
    /// Four corners, linear.
    Tetra,
    /// Eight corners in the order of a grid, along the axes.
    Voxel,
    /// Eight corners, around the lower face and then around the upper one; trilinear.
    Hexahedron,
    /// A triangle at each end: linear in (r, s), and along t.
    Wedge,
    /// A bilinear base and an apex.
    Pyramid,
    /// Three corners and the middles of three edges.
    QuadraticTriangle,
    /// Four corners and the middles of six edges.
    QuadraticTetra,
    /// Eight corners and the middles of twelve edges (serendipity).
    QuadraticHexahedron,
}

/// The most nodes of a cell, and the most terms of its shape functions.
pub const MAX_CELL_NODES: usize = 20;

/// One of the inequalities that bound a cell in parametric coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// `[a, b, c, d]`: `a + b r + c s + d t >= 0` in the cell, and 0 on the face.
    pub plane: [f64; 4],
    /// The face to go through where this is the most negative one.
    pub face: usize,
}

/// What there is to know about a kind of cell.
#[derive(Clone, Debug)]
pub struct CellTable {
    /// The kind.
    pub kind: CellKind,
    /// Its name, as `quadratic tetra`.
    pub name: &'static str,
    /// VTK's code of it.
    pub vtk: u8,
    /// 2 or 3; in two dimensions nothing depends on t.
    pub dimension: usize,
    /// How many of the nodes, the first ones, are corners.
    pub corners: usize,
    /// Where the nodes are, in parametric coordinates (r, s, t).
    pub nodes: &'static [[f64; 3]],
    /// The powers (a, b, c) of each term of the shape functions.
    pub exponents: &'static [[u8; 3]],
    /// `C_ij`, a row for each node and a column for each term; zeros beyond.
    pub coefficients: [[f64; MAX_CELL_NODES]; MAX_CELL_NODES],
    /// Corners of each face (of each edge in two dimensions), in VTK's order of faces. They go
    /// around the face, so that its normal points outwards where the Jacobian determinant is
    /// positive.
    pub faces: &'static [&'static [usize]],
    /// What bounds the cell: one for each face, in the order of faces; a pyramid has one more
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
    /// Every kind there is.
    pub const ALL: &[CellKind] = &ALL;

    /// The kind with one of VTK's codes, if it is among these.
    pub fn from_vtk(code: u8) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.table().vtk == code)
    }

    /// What there is to know about it.
    pub const fn table(self) -> &'static CellTable {
        &TABLES[self as usize]
    }

    /// How many nodes it has.
    pub const fn nodes(self) -> usize {
        self.table().nodes.len()
    }

    /// 2 or 3.
    pub const fn dimension(self) -> usize {
        self.table().dimension
    }

    /// Whether positions are linear in the parametric coordinates, whatever the nodes are, so that
    /// a position's coordinates follow in one step.
    pub const fn is_affine(self) -> bool {
        matches!(self, CellKind::Triangle | CellKind::Tetra)
    }

    /// Whether its sides can be curved though its corners lie straight.
    pub const fn is_quadratic(self) -> bool {
        self.nodes() > self.table().corners
    }

    /// Parametric coordinates of a place well within it.
    pub fn centre(self) -> [f64; 3] {
        let table = self.table();
        let mut centre = [0.0; 3];
        for node in &table.nodes[..table.corners] {
            for d in 0..3 {
                centre[d] += node[d] / table.corners as f64;
            }
        }
        // A pyramid is not collapsed there, and its base is a square in r and s.
        if self == CellKind::Pyramid { [0.5, 0.5, centre[2]] } else { centre }
    }

    /// Of the faces that a place is beyond, the farthest one that counts.
    pub fn beyond(self, at: [f64; 3], counts: impl Fn(usize) -> bool) -> Option<usize> {
        let sides = self.table().sides.iter().filter(|side| counts(side.face));
        let beyond =
            sides.map(|side| (side.value(at), side.face)).filter(|(value, _)| *value < 0.0);
        beyond.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, face)| face)
    }

    /// The terms of the shape functions at a place in parametric coordinates, in their order.
    pub fn terms(self, at: [f64; 3]) -> impl Iterator<Item = f64> {
        let powers = at.map(|x| [1.0, x, x * x]);
        let factor = move |[a, b, c]: &[u8; 3]| {
            powers[0][usize::from(*a)] * powers[1][usize::from(*b)] * powers[2][usize::from(*c)]
        };
        self.table().exponents.iter().map(factor)
    }

    /// Derivatives of the terms by r, s and t.
    pub fn term_slopes(self, at: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
        let powers = at.map(|x| [1.0, x, x * x]);
        let slopes = at.map(|x| [0.0, 1.0, 2.0 * x]);
        let factors = move |exponents: &[u8; 3]| {
            let [a, b, c] = exponents.map(usize::from);
            let [r, s, t] = [powers[0][a], powers[1][b], powers[2][c]];
            [slopes[0][a] * s * t, r * slopes[1][b] * t, r * s * slopes[2][c]]
        };
        self.table().exponents.iter().map(factors)
    }

    /// Shape functions at a place in parametric coordinates: the weights of the nodes, which add up
    /// to 1; zeros beyond.
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

    /// Derivatives of the shape functions by r, s and t.
    pub fn slopes(self, at: [f64; 3]) -> [[f64; 3]; MAX_CELL_NODES] {
        let rows = &self.table().coefficients[..self.nodes()];
        let mut slopes = [[0.0; 3]; MAX_CELL_NODES];
        for (j, term) in self.term_slopes(at).enumerate() {
            for (slope, row) in slopes.iter_mut().zip(rows) {
                *slope = [0, 1, 2].map(|d| slope[d] + row[j] * term[d]);
            }
        }
        slopes
    }
}

impl Side {
    /// How far within it a place is: negative beyond it.
    pub fn value(&self, at: [f64; 3]) -> f64 {
        let [a, b, c, d] = self.plane;
        a + b * at[0] + c * at[1] + d * at[2]
    }
}

/// Coefficients of functions that are 1 at one node and 0 at the others: the inverse of the matrix
/// of terms at nodes, by Gauss and Jordan, at compile time.
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
            coefficients[i][j] = whole(rows[i][MAX_CELL_NODES + j]);
            j += 1;
        }
        i += 1;
    }
    coefficients
}

type Coefficients = [[f64; MAX_CELL_NODES]; MAX_CELL_NODES];
type Rows = [[f64; 2 * MAX_CELL_NODES]; MAX_CELL_NODES];

/// One column made that of the unit matrix; the row with the greatest number leads.
const fn eliminate(mut rows: Rows, n: usize, column: usize) -> Rows {
    let (mut lead, mut i) = (column, column);
    while i < n {
        if rows[i][column].abs() > rows[lead][column].abs() {
            lead = i;
        }
        i += 1;
    }
    assert!(rows[lead][column].abs() > 1e-9, "nodes do not determine the shape functions");
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

/// The whole number that a coefficient is, without what rounding has added.
const fn whole(x: f64) -> f64 {
    let near = if x < 0.0 { (x - 0.5) as i32 } else { (x + 0.5) as i32 } as f64;
    assert!((x - near).abs() < 1e-9, "a coefficient is no whole number");
    near
}

#[cfg(test)]
mod tests;
