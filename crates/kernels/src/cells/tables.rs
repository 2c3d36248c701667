//! The table of each cell type.

use super::{CellKind, CellTable, Coefficients, MAX_CELL_NODES, Side, lagrange};

const fn side(face: usize, plane: [f32; 4]) -> Side {
    Side { plane, face }
}

// Planes in parametric coordinates that bound cells.
const R: [f32; 4] = [0.0, 1.0, 0.0, 0.0];
const S: [f32; 4] = [0.0, 0.0, 1.0, 0.0];
const T: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const BELOW_R: [f32; 4] = [1.0, -1.0, 0.0, 0.0];
const BELOW_S: [f32; 4] = [1.0, 0.0, -1.0, 0.0];
const BELOW_T: [f32; 4] = [1.0, 0.0, 0.0, -1.0];
const BELOW_RS: [f32; 4] = [1.0, -1.0, -1.0, 0.0];
const BELOW_RST: [f32; 4] = [1.0, -1.0, -1.0, -1.0];

const TRIANGLE_NODES: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.5, 0.0, 0.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.0],
];
const TRIANGLE_TERMS: [[u8; 3]; 6] =
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [1, 1, 0], [0, 2, 0]];
const TRIANGLE_FACES: &[&[usize]] = &[&[0, 1], &[1, 2], &[2, 0]];
const TRIANGLE_SIDES: &[Side] = &[side(0, S), side(1, BELOW_RS), side(2, R)];

const QUAD_FACES: &[&[usize]] = &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]];
const QUAD_SIDES: &[Side] = &[side(0, S), side(1, BELOW_R), side(2, BELOW_S), side(3, R)];

const TETRA_NODES: [[f64; 3]; 10] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.5, 0.0, 0.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.0],
    [0.0, 0.0, 0.5],
    [0.5, 0.0, 0.5],
    [0.0, 0.5, 0.5],
];
const TETRA_TERMS: [[u8; 3]; 10] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [2, 0, 0],
    [0, 2, 0],
    [0, 0, 2],
    [1, 1, 0],
    [0, 1, 1],
    [1, 0, 1],
];
const TETRA_FACES: &[&[usize]] = &[&[0, 1, 3], &[1, 2, 3], &[2, 0, 3], &[0, 2, 1]];
const TETRA_SIDES: &[Side] = &[side(0, S), side(1, BELOW_RST), side(2, R), side(3, T)];

const HEXAHEDRON_NODES: [[f64; 3]; 20] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
    [0.5, 0.0, 0.0],
    [1.0, 0.5, 0.0],
    [0.5, 1.0, 0.0],
    [0.0, 0.5, 0.0],
    [0.5, 0.0, 1.0],
    [1.0, 0.5, 1.0],
    [0.5, 1.0, 1.0],
    [0.0, 0.5, 1.0],
    [0.0, 0.0, 0.5],
    [1.0, 0.0, 0.5],
    [1.0, 1.0, 0.5],
    [0.0, 1.0, 0.5],
];
// The first four are the terms of a quad, and the first eight those of a hexahedron. The later ones
// have one squared factor and complete the serendipity hexahedron.
const HEXAHEDRON_TERMS: [[u8; 3]; 20] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [0, 1, 1],
    [1, 1, 1],
    [2, 0, 0],
    [2, 1, 0],
    [2, 0, 1],
    [2, 1, 1],
    [0, 2, 0],
    [1, 2, 0],
    [0, 2, 1],
    [1, 2, 1],
    [0, 0, 2],
    [1, 0, 2],
    [0, 1, 2],
    [1, 1, 2],
];
const VOXEL_NODES: [[f64; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];
const HEXAHEDRON_FACES: &[&[usize]] =
    &[&[0, 4, 7, 3], &[1, 2, 6, 5], &[0, 1, 5, 4], &[3, 7, 6, 2], &[0, 3, 2, 1], &[4, 5, 6, 7]];
pub(super) const BRICK_SIDES: &[Side] =
    &[side(0, R), side(1, BELOW_R), side(2, S), side(3, BELOW_S), side(4, T), side(5, BELOW_T)];

const WEDGE_NODES: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
];
/// The terms of a hexahedron that those of a wedge are.
const OF_WEDGE: [usize; 6] = [0, 1, 2, 4, 5, 6];

// The cell is a cube whose upper face is collapsed to the apex, where r and s are undefined.
const PYRAMID_NODES: [[f64; 3]; 5] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// `(1-r)(1-s)(1-t)`, `r(1-s)(1-t)`, `rs(1-t)`, `(1-r)s(1-t)` and `t`, expanded in the terms of a
/// hexahedron.
const fn pyramid() -> Coefficients {
    let mut rows = [[0.0; MAX_CELL_NODES]; MAX_CELL_NODES];
    let first: [[f64; 8]; 5] = [
        [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
        [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0],
        [0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    ];
    let mut k = 0;
    while k < 5 * 8 {
        rows[k / 8][k % 8] = first[k / 8][k % 8];
        k += 1;
    }
    rows
}

/// Those of a wedge, with zeros for the terms of a hexahedron that it lacks: so all cells without nodes on their edges have
/// terms in the same places.
const fn wedge() -> Coefficients {
    let mut terms = [[0; 3]; 6];
    let mut j = 0;
    while j < 6 {
        terms[j] = HEXAHEDRON_TERMS[OF_WEDGE[j]];
        j += 1;
    }
    let few = lagrange(&WEDGE_NODES, &terms);
    let mut rows = [[0.0; MAX_CELL_NODES]; MAX_CELL_NODES];
    let mut k = 0;
    while k < 6 * 6 {
        rows[k / 6][OF_WEDGE[k % 6]] = few[k / 6][k % 6];
        k += 1;
    }
    rows
}

/// The first `count` elements of an array.
const fn first<T, const N: usize>(list: &'static [T; N], count: usize) -> &'static [T] {
    list.split_at(count).0
}

/// In the order of [`CellKind`].
pub(super) static TABLES: [CellTable; 11] = [
    CellTable {
        kind: CellKind::Triangle,
        name: "triangle",
        vtk: 5,
        dimension: 2,
        corners: 3,
        nodes: first(&TRIANGLE_NODES, 3),
        exponents: first(&TRIANGLE_TERMS, 3),
        coefficients: lagrange(first(&TRIANGLE_NODES, 3), first(&TRIANGLE_TERMS, 3)),
        faces: TRIANGLE_FACES,
        sides: TRIANGLE_SIDES,
    },
    CellTable {
        kind: CellKind::Pixel,
        name: "pixel",
        vtk: 8,
        dimension: 2,
        corners: 4,
        nodes: first(&VOXEL_NODES, 4),
        exponents: first(&HEXAHEDRON_TERMS, 4),
        coefficients: lagrange(first(&VOXEL_NODES, 4), first(&HEXAHEDRON_TERMS, 4)),
        faces: &[&[0, 1], &[1, 3], &[3, 2], &[2, 0]],
        sides: QUAD_SIDES,
    },
    CellTable {
        kind: CellKind::Quad,
        name: "quad",
        vtk: 9,
        dimension: 2,
        corners: 4,
        nodes: first(&HEXAHEDRON_NODES, 4),
        exponents: first(&HEXAHEDRON_TERMS, 4),
        coefficients: lagrange(first(&HEXAHEDRON_NODES, 4), first(&HEXAHEDRON_TERMS, 4)),
        faces: QUAD_FACES,
        sides: QUAD_SIDES,
    },
    CellTable {
        kind: CellKind::Tetra,
        name: "tetra",
        vtk: 10,
        dimension: 3,
        corners: 4,
        nodes: first(&TETRA_NODES, 4),
        exponents: first(&TETRA_TERMS, 4),
        coefficients: lagrange(first(&TETRA_NODES, 4), first(&TETRA_TERMS, 4)),
        faces: TETRA_FACES,
        sides: TETRA_SIDES,
    },
    CellTable {
        kind: CellKind::Voxel,
        name: "voxel",
        vtk: 11,
        dimension: 3,
        corners: 8,
        nodes: &VOXEL_NODES,
        exponents: first(&HEXAHEDRON_TERMS, 8),
        coefficients: lagrange(&VOXEL_NODES, first(&HEXAHEDRON_TERMS, 8)),
        faces: &[
            &[0, 4, 6, 2],
            &[1, 3, 7, 5],
            &[0, 1, 5, 4],
            &[2, 6, 7, 3],
            &[0, 2, 3, 1],
            &[4, 5, 7, 6],
        ],
        sides: BRICK_SIDES,
    },
    CellTable {
        kind: CellKind::Hexahedron,
        name: "hexahedron",
        vtk: 12,
        dimension: 3,
        corners: 8,
        nodes: first(&HEXAHEDRON_NODES, 8),
        exponents: first(&HEXAHEDRON_TERMS, 8),
        coefficients: lagrange(first(&HEXAHEDRON_NODES, 8), first(&HEXAHEDRON_TERMS, 8)),
        faces: HEXAHEDRON_FACES,
        sides: BRICK_SIDES,
    },
    CellTable {
        kind: CellKind::Wedge,
        name: "wedge",
        vtk: 13,
        dimension: 3,
        corners: 6,
        nodes: &WEDGE_NODES,
        exponents: first(&HEXAHEDRON_TERMS, 8),
        coefficients: wedge(),
        faces: &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
        sides: &[side(0, T), side(1, BELOW_T), side(2, S), side(3, BELOW_RS), side(4, R)],
    },
    CellTable {
        kind: CellKind::Pyramid,
        name: "pyramid",
        vtk: 14,
        dimension: 3,
        corners: 5,
        nodes: &PYRAMID_NODES,
        exponents: first(&HEXAHEDRON_TERMS, 8),
        coefficients: pyramid(),
        faces: &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
        // Beyond the apex the map continues upside down; every face except the base excludes that
        // part.
        sides: &[
            side(0, T),
            side(1, S),
            side(2, BELOW_R),
            side(3, BELOW_S),
            side(4, R),
            side(1, BELOW_T),
        ],
    },
    CellTable {
        kind: CellKind::QuadraticTriangle,
        name: "quadratic triangle",
        vtk: 22,
        dimension: 2,
        corners: 3,
        nodes: &TRIANGLE_NODES,
        exponents: &TRIANGLE_TERMS,
        coefficients: lagrange(&TRIANGLE_NODES, &TRIANGLE_TERMS),
        faces: TRIANGLE_FACES,
        sides: TRIANGLE_SIDES,
    },
    CellTable {
        kind: CellKind::QuadraticTetra,
        name: "quadratic tetra",
        vtk: 24,
        dimension: 3,
        corners: 4,
        nodes: &TETRA_NODES,
        exponents: &TETRA_TERMS,
        coefficients: lagrange(&TETRA_NODES, &TETRA_TERMS),
        faces: TETRA_FACES,
        sides: TETRA_SIDES,
    },
    CellTable {
        kind: CellKind::QuadraticHexahedron,
        name: "quadratic hexahedron",
        vtk: 25,
        dimension: 3,
        corners: 8,
        nodes: &HEXAHEDRON_NODES,
        exponents: &HEXAHEDRON_TERMS,
        coefficients: lagrange(&HEXAHEDRON_NODES, &HEXAHEDRON_TERMS),
        faces: HEXAHEDRON_FACES,
        sides: BRICK_SIDES,
    },
];
