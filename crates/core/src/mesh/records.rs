//! The cell records of a mesh that kernels read, see [`MeshShape`].

use super::{shape, structure::Mesh, survey::nodes};
use crate::threads::{filled, in_parts};
use crate::{Floats, Precision};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{CELL_RECORD, CellKind, MAX_CELL_NODES, MeshForm, MeshShape, Placement};

/// The arrays of a mesh in the layout and precision of a kernel.
pub(crate) struct Records {
    pub shape: MeshShape,
    /// Records of cells, followed by polynomial terms.
    pub floats: Vec<f64>,
    pub index: Vec<i32>,
}

impl Records {
    /// The records as a tensor in the precision of a kernel, and the index as another.
    pub fn into_tensors(
        self,
        precision: Precision,
        device: &Device,
    ) -> (Tensor<1>, Tensor<1, Int>) {
        let Records { floats, index, .. } = self;
        let numbers = Floats::filled(precision, (floats.len(), 1), |row, _| floats[row]);
        let count = index.len();
        let index = TensorData::new(index, [count]);
        (
            numbers.into_tensor([floats.len()], device),
            Tensor::from_data(index, (device, DType::I32)),
        )
    }
}

/// Errors of positions and cell origins, in units of rounding and of the maximum coordinate: half a
/// unit each, and the error of a short computation of a position.
const OF_POSITIONS: f64 = 3.0;
/// Rounding errors of distances from an origin, in units of the cell's size.
const OF_DISTANCES: f64 = 4.0;
/// Minimum border in units of rounding, for errors of shape functions and of parametric
/// coordinates.
const OF_WEIGHTS: f64 = 16.0;
const OF_COORDINATES: f64 = 64.0;
/// Maximum border in parametric coordinates, for cells thinner than rounding errors.
const MAX_BORDER: f64 = 0.1;

impl Mesh {
    /// The arrays for kernels in a precision, for a field with velocities at a placement, on a sphere if a radius is given. Kernels for
    /// simplices are those of flat spaces.
    pub(crate) fn records(
        &self,
        radius: Option<f64>,
        placement: Placement,
        precision: Precision,
    ) -> Records {
        let is_simple = |kind: &CellKind| radius.is_none() && kind.is_affine();
        let form = match self.cells().kinds.iter().all(is_simple) {
            true => MeshForm::Simplices,
            false => MeshForm::General,
        };
        let locator = self.locator_in(precision);
        let near_reentrant = self.near_reentrant(&locator);
        let is_general = form == MeshForm::General;
        let count = |numbers: usize| if is_general { numbers } else { 0 };
        let shape = MeshShape {
            form,
            kinds: self.cells().kinds.iter().fold(0, |all, kind| all | 1 << *kind as u32),
            dimension: self.dimension(),
            cells: self.cells().len(),
            values: match placement {
                Placement::Nodes | Placement::Faces => self.points.len(),
                Placement::Cells => self.cells().len(),
            },
            placement,
            radius,
            connectivity: count(self.cells().connectivity.len()),
            neighbours: count(self.all_neighbours().len()),
            near_reentrant: near_reentrant.len(),
            bins: locator.bins,
            origin: locator.origin,
            per_length: locator.per_length,
        };
        let (floats, mut index) = match form {
            MeshForm::Simplices => (self.simplices(precision), self.links()),
            MeshForm::General => self.general(precision),
        };
        index.reserve_exact(near_reentrant.len() + locator.starts.len() + locator.cells.len());
        index.extend(near_reentrant);
        index.extend(locator.starts);
        index.extend(locator.cells);
        Records { shape, floats, index }
    }

    /// Records of triangles or tetrahedra.
    fn simplices(&self, precision: Precision) -> Vec<f64> {
        let of = Simplex::of(self.cells().kinds[0]);
        let (records, _) = filled((self.cells().len(), CELL_RECORD), 0.0, |range, records| {
            for (cell, record) in range.zip(records.as_chunks_mut().0) {
                *record = self.simplex(cell, &of, precision);
            }
        });
        records
    }

    /// Nodes of each cell, and the neighbours opposite to them.
    fn links(&self) -> Vec<i32> {
        let Simplex { opposite, .. } = Simplex::of(self.cells().kinds[0]);
        let (links, _) = filled((self.cells().len(), 8), 0, |range, links| {
            for (cell, links) in range.zip(links.as_chunks_mut::<8>().0) {
                let nodes = self.cells().nodes(cell);
                let of_face = |k: usize| k < nodes.len();
                let node = |k: usize| if of_face(k) { nodes[opposite[k]] as i32 } else { 0 };
                let link = |k: usize| if of_face(k) { self.link(cell, k) } else { -1 };
                *links = std::array::from_fn(|k| if k < 4 { node(k) } else { link(k - 4) });
            }
        });
        links
    }

    /// The neighbour across a face, -1 if it has no volume, or -1 less the tag of a boundary face.
    pub(super) fn link(&self, cell: usize, face: usize) -> i32 {
        let neighbour = self.neighbours(cell)[face];
        match usize::try_from(neighbour) {
            Ok(other) if !self.boxes()[other].is_empty() => neighbour,
            Ok(_) => -1,
            Err(_) => -1 - self.face_tags().of((8 * cell + face) as i32),
        }
    }

    fn simplex(&self, cell: usize, of: &Simplex, precision: Precision) -> [f64; CELL_RECORD] {
        let mut corners = [[0.0; 3]; 4];
        for (corner, node) in corners.iter_mut().zip(self.cells().nodes(cell)) {
            *corner = self.points[*node as usize];
        }
        let nodes = &corners[..=self.dimension()];
        let Some(map) = self.inverse_jacobian(cell, nodes, [0.0; 3]) else {
            return degenerate(nodes[0]);
        };
        let mut columns = [[0.0; 4]; 3];
        for (d, column) in columns.iter_mut().enumerate() {
            let of_faces = &of.gradients[..=self.dimension()];
            for (number, [r, s, t]) in column.iter_mut().zip(of_faces) {
                *number = r * map[0][d] + s * map[1][d] + t * map[2][d];
            }
        }
        let ([x, y, z], [of_x, of_y, of_z]) = (columns, errors(nodes));
        let slack = (0..=self.dimension())
            .map(|k| of_x * x[k].abs() + of_y * y[k].abs() + of_z * z[k].abs())
            .fold(0.0, f64::max);
        let border = border(slack, OF_WEIGHTS, precision);
        record(nodes[of.opposite[0]], border, columns)
    }

    /// Records of cells of any kind, their terms, and the index up to the neighbours.
    fn general(&self, precision: Precision) -> (Vec<f64>, Vec<i32>) {
        let parts = in_parts(self.cells().len(), |range| {
            let cells = range.map(|cell| self.general_cell(cell, precision));
            cells.collect::<Vec<_>>()
        });
        let count = self.cells().len();
        let all: Vec<_> = parts.iter().flatten().collect();
        let mut floats = Vec::with_capacity(CELL_RECORD * count);
        let mut terms: Vec<f64> = Vec::new();
        let mut index = Vec::with_capacity(4 * count);
        for (cell, (record, of_cell)) in all.iter().enumerate() {
            floats.extend(record);
            let is_same = |other: &usize| {
                let (_, of_other) = all[*other];
                self.cells().kinds[*other] == self.cells().kinds[cell]
                    && are_equal(of_other, of_cell, precision)
            };
            let before =
                self.neighbours(cell).iter().filter_map(|other| usize::try_from(*other).ok());
            let at = match before.filter(|other| *other < cell).find(is_same) {
                _ if of_cell.is_empty() => 0,
                // The next cell of a column of a grid has the terms of the one before.
                Some(other) => index[4 * other + 3],
                None => {
                    let at = CELL_RECORD * count + terms.len();
                    terms.extend(of_cell.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.0]));
                    at as i32
                }
            };
            index.push(self.cells().kinds[cell] as i32);
            let starts = [self.cells().offsets[cell], self.face_starts()[cell]];
            index.extend(starts.map(|start| start as i32));
            index.push(at);
        }
        floats.extend(terms);
        index.extend(self.cells().connectivity.iter().map(|node| *node as i32));
        for cell in 0..count {
            index.extend((0..self.neighbours(cell).len()).map(|face| self.link(cell, face)));
        }
        (floats, index)
    }

    /// The record of a cell, and its terms if it is not an affine image of its reference cell.
    fn general_cell(
        &self,
        cell: usize,
        precision: Precision,
    ) -> ([f64; CELL_RECORD], Vec<[f64; 3]>) {
        let kind = self.cells().kinds[cell];
        let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
        let nodes = nodes(&self.points, self.cells(), cell, &mut buffer);
        let centre = kind.centre();
        let Some(map) = self.inverse_jacobian(cell, nodes, centre) else {
            return (degenerate(nodes[0]), Vec::new());
        };
        let weights = kind.weights(centre);
        let origin = [0, 1, 2].map(|d| {
            let offsets = nodes.iter().zip(weights).map(|(node, w)| w * (node[d] - nodes[0][d]));
            nodes[0][d] + offsets.sum::<f64>()
        });
        let slack = self.slack(cell, nodes, &map);
        let border = border(slack, OF_COORDINATES, precision);
        let column = |d: usize| [map[0][d], map[1][d], map[2][d], 0.0];
        let record = record(origin, border, [column(0), column(1), column(2)]);
        let terms = terms(kind, nodes, origin, &map);
        (record, if is_linear(kind, &terms, precision) { Vec::new() } else { terms })
    }

    /// Maximum error of the coordinate of a side by the [`errors`] of positions, at the centre and the corners of a cell.
    fn slack(&self, cell: usize, nodes: &[[f64; 3]], at_centre: &shape::Matrix) -> f64 {
        let errors = errors(nodes);
        let kind = self.cells().kinds[cell];
        let table = kind.table();
        let corners = table.nodes[..table.corners].iter();
        let maps = corners.filter_map(|corner| self.inverse_jacobian(cell, nodes, *corner));
        let gradients = maps.chain([*at_centre]).flat_map(|map| {
            table.sides.iter().map(move |side| {
                let along = |d: usize| {
                    (0..3).map(|k| f64::from(side.plane[k + 1]) * map[k][d]).sum::<f64>()
                };
                (0..3).map(|d| errors[d] * along(d).abs()).sum::<f64>()
            })
        });
        gradients.fold(0.0, f64::max)
    }

    /// Gradients of the parametric coordinates at a point of a cell, without the flat axis in two
    /// dimensions; `None` if the cell has no extent there.
    fn inverse_jacobian(
        &self,
        cell: usize,
        nodes: &[[f64; 3]],
        at: [f64; 3],
    ) -> Option<shape::Matrix> {
        if self.boxes()[cell].is_empty() {
            return None;
        }
        let shape = shape::Shape::new(self.cells().kinds[cell], nodes, self.flat, Precision::F64)?;
        let mut map = shape.gradients(at)?;
        if let Some(flat) = self.flat {
            map[2] = [0.0; 3];
            (map[0][flat], map[1][flat]) = (0.0, 0.0);
        }
        Some(map)
    }
}

/// Constants of triangles or of tetrahedra. A mesh of simplices has cells of one kind.
struct Simplex {
    /// The node opposite to each face.
    opposite: [usize; 4],
    /// The gradient of the shape function of that node by parametric coordinates.
    gradients: [[f64; 3]; 4],
}

impl Simplex {
    fn of(kind: CellKind) -> Self {
        let of_nodes = kind.gradients([0.0; 3]);
        let mut simplex = Simplex { opposite: [0; 4], gradients: [[0.0; 3]; 4] };
        for (k, face) in kind.table().faces.iter().enumerate() {
            let opposite = (0..kind.nodes()).find(|k| !face.contains(k)).unwrap_or(0);
            (simplex.opposite[k], simplex.gradients[k]) = (opposite, of_nodes[opposite]);
        }
        simplex
    }
}

/// Errors of positions in a cell along each axis, in units of rounding.
fn errors(nodes: &[[f64; 3]]) -> [f64; 3] {
    let (mut coordinates, mut distances) = ([0.0_f64; 3], [0.0_f64; 3]);
    for node in nodes {
        for d in 0..3 {
            coordinates[d] = coordinates[d].max(node[d].abs());
            distances[d] = distances[d].max((node[d] - nodes[0][d]).abs());
        }
    }
    let along = |d: usize| OF_POSITIONS * coordinates[d] + OF_DISTANCES * distances[d];
    [along(0), along(1), along(2)]
}

/// Distance from a face within which a position counts as on it, in parametric coordinates.
fn border(slack: f64, min: f64, precision: Precision) -> f64 {
    ((min + slack) * precision.epsilon()).min(MAX_BORDER)
}

fn record(origin: [f64; 3], border: f64, columns: [[f64; 4]; 3]) -> [f64; CELL_RECORD] {
    let [x, y, z] = origin;
    let mut record = [0.0; CELL_RECORD];
    record[..4].copy_from_slice(&[x, y, z, -border]);
    record[4..].copy_from_slice(columns.as_flattened());
    record
}

/// The record of a cell that contains no position. No walk and no bin reaches it.
fn degenerate(origin: [f64; 3]) -> [f64; CELL_RECORD] {
    record(origin, 2.0, [[0.0; 4]; 3])
}

/// The polynomial of parametric coordinates whose value is the linear map of the position.
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

/// Whether terms, which are of order one, are equal within half a rounding of a precision.
fn are_equal(a: &[[f64; 3]], b: &[[f64; 3]], precision: Precision) -> bool {
    let mut pairs = a.as_flattened().iter().zip(b.as_flattened());
    a.len() == b.len() && pairs.all(|(a, b)| (a - b).abs() <= 0.5 * precision.epsilon())
}

/// Whether all terms of higher degree are below rounding errors.
fn is_linear(kind: CellKind, terms: &[[f64; 3]], precision: Precision) -> bool {
    let max = 4.0 * precision.epsilon();
    let degree = |exponents: &[u8; 3]| exponents.iter().sum::<u8>();
    let terms = terms.iter().zip(kind.table().exponents);
    terms.filter(|(_, e)| degree(e) > 1).all(|(term, _)| term.iter().all(|x| x.abs() <= max))
}
