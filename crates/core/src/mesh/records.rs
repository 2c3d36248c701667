//! What kernels read of a mesh: a record for each cell, see [`MeshShape`].

use super::{Mesh, shape, survey::nodes, threads::in_parts};
use crate::Precision;
use burntrace_kernels::{CELL_RECORD, CellKind, MAX_CELL_NODES, MeshForm, MeshShape, Placement};

/// The arrays of a mesh, in a kernel's precision and order.
pub(crate) struct Records {
    pub shape: MeshShape,
    /// Records of cells, then terms.
    pub places: Vec<f64>,
    pub index: Vec<i32>,
}

/// How far positions and origins of cells may be from where they were meant to be, in units of
/// rounding and of the greatest coordinate: half a unit each, and what a short computation of a
/// position adds.
const OF_PLACES: f64 = 3.0;
/// What rounding does to distances from an origin, in units of the cell's size.
const OF_DISTANCES: f64 = 4.0;
/// The least border, in units of rounding, for what rounding does to shares of nodes, and to
/// parametric coordinates.
const OF_SHARES: f64 = 16.0;
const OF_COORDINATES: f64 = 64.0;
/// The most of a border, in parametric coordinates: where cells are thinner than rounding.
const MOST: f64 = 0.1;

impl Mesh {
    /// The arrays for kernels that compute in a precision, of a field with velocities at the nodes
    /// or in the cells.
    pub(crate) fn records(&self, placement: Placement, precision: Precision) -> Records {
        let is_simple = |kind: &CellKind| kind.is_affine();
        let form = match self.cells().kinds.iter().all(is_simple) {
            true => MeshForm::Simplices,
            false => MeshForm::General,
        };
        let locator = self.locator_in(precision);
        let is_general = form == MeshForm::General;
        let count = |numbers: usize| if is_general { numbers } else { 0 };
        let shape = MeshShape {
            form,
            kinds: self.cells().kinds.iter().fold(0, |all, kind| all | 1 << *kind as u32),
            dimension: self.dimension(),
            cells: self.cells().len(),
            values: match placement {
                Placement::Nodes => self.points().len(),
                Placement::Cells => self.cells().len(),
            },
            placement,
            connectivity: count(self.cells().connectivity.len()),
            neighbours: count(self.all_neighbours().len()),
            bins: locator.bins,
            origin: locator.origin,
            per_length: locator.per_length,
        };
        let (places, mut index) = match form {
            MeshForm::Simplices => (self.simplices(precision), self.links()),
            MeshForm::General => self.general(precision),
        };
        index.reserve_exact(locator.starts.len() + locator.cells.len());
        index.extend(locator.starts);
        index.extend(locator.cells);
        Records { shape, places, index }
    }

    /// Records of triangles or tetrahedra.
    fn simplices(&self, precision: Precision) -> Vec<f64> {
        let parts = in_parts(self.cells().len(), |range| {
            let mut records = Vec::with_capacity(CELL_RECORD * range.len());
            range.for_each(|cell| records.extend(self.simplex(cell, precision)));
            records
        });
        parts.concat()
    }

    /// Nodes, and the cells opposite them.
    fn links(&self) -> Vec<i32> {
        let mut links = Vec::with_capacity(8 * self.cells().len());
        for cell in 0..self.cells().len() {
            let (nodes, neighbours) = (self.cells().nodes(cell), self.neighbours(cell));
            let opposite = opposite(self.cells().kinds[cell]);
            let of_face = |k: usize| k < nodes.len();
            links.extend(
                [0, 1, 2, 3].map(|k| if of_face(k) { nodes[opposite[k]] as i32 } else { 0 }),
            );
            links.extend(
                [0, 1, 2, 3].map(|k| if of_face(k) { self.usable(neighbours[k]) } else { -1 }),
            );
        }
        links
    }

    /// A neighbour, where a position can be in it.
    fn usable(&self, neighbour: i32) -> i32 {
        match usize::try_from(neighbour) {
            Ok(cell) if !self.boxes()[cell].is_empty() => neighbour,
            _ => -1,
        }
    }

    fn simplex(&self, cell: usize, precision: Precision) -> [f64; CELL_RECORD] {
        let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
        let nodes = nodes(self.points(), self.cells(), cell, &mut buffer);
        let Some(slopes) = self.inverse_jacobian(cell, nodes, [0.0; 3]) else {
            return degenerate(nodes[0]);
        };
        let kind = self.cells().kinds[cell];
        let (opposite, of_kind) = (opposite(kind), kind.gradients([0.0; 3]));
        let mut columns = [[0.0; 4]; 3];
        for (d, column) in columns.iter_mut().enumerate() {
            for face in 0..=self.dimension() {
                let by_coordinates = of_kind[opposite[face]];
                column[face] = (0..3).map(|k| by_coordinates[k] * slopes[k][d]).sum();
            }
        }
        let steepest = (0..=self.dimension())
            .map(|k| columns.iter().map(|column| column[k].abs()).sum())
            .fold(0.0, f64::max);
        let border = border(nodes, steepest, OF_SHARES, precision);
        record(nodes[opposite[0]], border, columns)
    }

    /// Records of cells of any kinds, their terms, and the index up to the neighbours.
    fn general(&self, precision: Precision) -> (Vec<f64>, Vec<i32>) {
        let parts = in_parts(self.cells().len(), |range| {
            let cells = range.map(|cell| self.general_cell(cell, precision));
            cells.collect::<Vec<_>>()
        });
        let count = self.cells().len();
        let mut places = Vec::with_capacity(CELL_RECORD * count);
        let mut terms: Vec<f64> = Vec::new();
        let mut index = Vec::with_capacity(4 * count);
        for (cell, (record, of_cell)) in parts.iter().flatten().enumerate() {
            places.extend(record);
            let at = if of_cell.is_empty() { 0 } else { CELL_RECORD * count + terms.len() };
            let heads = [self.cells().offsets[cell], self.face_starts()[cell], at as u32];
            index.push(self.cells().kinds[cell] as i32);
            index.extend(heads.map(|head| head as i32));
            terms.extend(of_cell.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.0]));
        }
        places.extend(terms);
        index.extend(self.cells().connectivity.iter().map(|node| *node as i32));
        index.extend(self.all_neighbours().iter().map(|cell| self.usable(*cell)));
        (places, index)
    }

    /// The record of a cell, and its terms where it is not a linear image of its kind's.
    fn general_cell(
        &self,
        cell: usize,
        precision: Precision,
    ) -> ([f64; CELL_RECORD], Vec<[f64; 3]>) {
        let kind = self.cells().kinds[cell];
        let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
        let nodes = nodes(self.points(), self.cells(), cell, &mut buffer);
        let centre = kind.centre();
        let Some(map) = self.inverse_jacobian(cell, nodes, centre) else {
            return (degenerate(nodes[0]), Vec::new());
        };
        let weights = kind.weights(centre);
        let origin = [0, 1, 2].map(|d| {
            let offsets = nodes.iter().zip(weights).map(|(node, w)| w * (node[d] - nodes[0][d]));
            nodes[0][d] + offsets.sum::<f64>()
        });
        let steepest = self.steepest(cell, nodes, &map);
        let border = border(nodes, steepest, OF_COORDINATES, precision);
        let column = |d: usize| [map[0][d], map[1][d], map[2][d], 0.0];
        let record = record(origin, border, [column(0), column(1), column(2)]);
        let terms = terms(kind, nodes, origin, &map);
        (record, if is_linear(kind, &terms, precision) { Vec::new() } else { terms })
    }

    /// The greatest slope of a side in space, as far as its centre and its corners tell.
    fn steepest(&self, cell: usize, nodes: &[[f64; 3]], at_centre: &shape::Matrix) -> f64 {
        let kind = self.cells().kinds[cell];
        let table = kind.table();
        let corners = table.nodes[..table.corners].iter();
        let maps = corners.filter_map(|corner| self.inverse_jacobian(cell, nodes, *corner));
        let slopes = maps.chain([*at_centre]).flat_map(|map| {
            table.sides.iter().map(move |side| {
                let along = |d: usize| (0..3).map(|k| side.plane[k + 1] * map[k][d]).sum::<f64>();
                (0..3).map(|d| along(d).abs()).sum::<f64>()
            })
        });
        slopes.fold(0.0, f64::max)
    }

    /// Slopes of the parametric coordinates in space at a place in a cell, without z in two
    /// dimensions; nothing where the cell has no extent there.
    fn inverse_jacobian(
        &self,
        cell: usize,
        nodes: &[[f64; 3]],
        at: [f64; 3],
    ) -> Option<shape::Matrix> {
        if self.boxes()[cell].is_empty() {
            return None;
        }
        let shape = shape::Shape::new(self.cells().kinds[cell], nodes, Precision::F64)?;
        let mut map = shape.slopes(at)?;
        if self.dimension() == 2 {
            map[2] = [0.0; 3];
            (map[0][2], map[1][2]) = (0.0, 0.0);
        }
        Some(map)
    }
}

/// The node of a simplex that lies opposite each face.
fn opposite(kind: CellKind) -> [usize; 4] {
    let mut nodes = [0; 4];
    for (node, face) in nodes.iter_mut().zip(kind.table().faces) {
        *node = (0..kind.nodes()).find(|k| !face.contains(k)).unwrap_or(0);
    }
    nodes
}

/// How far from a face a position counts as on it, in parametric coordinates.
fn border(nodes: &[[f64; 3]], steepest: f64, least: f64, precision: Precision) -> f64 {
    let magnitude = nodes.iter().flatten().fold(0.0, |a: f64, x| a.max(x.abs()));
    let distances = nodes.iter().flat_map(|node| (0..3).map(|d| (node[d] - nodes[0][d]).abs()));
    let size = distances.fold(0.0, f64::max);
    let slack = (OF_PLACES * magnitude + OF_DISTANCES * size) * steepest;
    ((least + slack) * precision.epsilon()).min(MOST)
}

fn record(origin: [f64; 3], border: f64, columns: [[f64; 4]; 3]) -> [f64; CELL_RECORD] {
    let [x, y, z] = origin;
    let mut record = [0.0; CELL_RECORD];
    record[..4].copy_from_slice(&[x, y, z, -border]);
    record[4..].copy_from_slice(columns.as_flattened());
    record
}

/// The record of a cell in which no position is. No walk and no bin leads there.
fn degenerate(origin: [f64; 3]) -> [f64; CELL_RECORD] {
    record(origin, 2.0, [[0.0; 4]; 3])
}

/// The polynomial whose value at parametric coordinates is the linear map of their position.
fn terms(
    kind: CellKind,
    nodes: &[[f64; 3]],
    origin: [f64; 3],
    map: &shape::Matrix,
) -> Vec<[f64; 3]> {
    let table = kind.table();
    let mut terms = vec![[0.0; 3]; table.exponents.len()];
    for (node, coefficients) in nodes.iter().zip(&table.coefficients) {
        let offset = [0, 1, 2].map(|d| node[d] - origin[d]);
        let mapped = shape::apply(map, offset);
        for (term, c) in terms.iter_mut().zip(coefficients) {
            *term = [0, 1, 2].map(|d| term[d] + c * mapped[d]);
        }
    }
    terms
}

/// Whether all terms beyond the linear ones are less than rounding.
fn is_linear(kind: CellKind, terms: &[[f64; 3]], precision: Precision) -> bool {
    let least = 4.0 * precision.epsilon();
    let degree = |exponents: &[u8; 3]| exponents.iter().sum::<u8>();
    let terms = terms.iter().zip(kind.table().exponents);
    terms.filter(|(_, e)| degree(e) > 1).all(|(term, _)| term.iter().all(|x| x.abs() <= least))
}
