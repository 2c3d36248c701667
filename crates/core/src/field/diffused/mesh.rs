//! The deformation of the flow on a mesh: of the horizontal polygons of its cells.

use super::Mixing;
use crate::{
    Error, Floats, MeshSource, Result,
    field::{faces::FacePlaces, globe::scales},
    mesh::Cells,
};
use burntrace_kernels::{CellKind, Placement};

/// The nodes of the horizontal polygons of cell types that have some: one, or the lower and the upper one.
fn polygons(kind: CellKind) -> Option<&'static [&'static [usize]]> {
    match kind {
        CellKind::Triangle => Some(&[&[0, 1, 2]]),
        CellKind::Quad => Some(&[&[0, 1, 2, 3]]),
        CellKind::Wedge => Some(&[&[0, 1, 2], &[3, 4, 5]]),
        CellKind::Hexahedron => Some(&[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
        _ => None,
    }
}

/// Refuses velocities in cells, and for a deformation a mesh of cells that are not in layers.
pub(super) fn check(source: &impl MeshSource, mixing: &Mixing) -> Result<()> {
    let fail = |reason: String| Err(Error::Walk(reason));
    if source.placement() == Placement::Cells {
        let reason = "its diffusivity follows from velocities at nodes or on faces, and these are in cells; convert them";
        return fail(reason.into());
    }
    let has_none = |kind: &CellKind| polygons(*kind).is_none();
    let other = source.cells().kinds.iter().position(has_none);
    match other.filter(|_| matches!(mixing, Mixing::Smagorinsky(_))) {
        None => Ok(()),
        Some(cell) => fail(format!(
            "its diffusivity follows from the flow in horizontal layers, and cell {cell} is a {:?}; give triangles or \
             quadrilaterals, or wedges or hexahedra on each other",
            source.cells().kinds[cell]
        )),
    }
}

/// The horizontal directions of velocities on faces, of each point; nothing of velocities at nodes.
pub(super) fn normals(source: &impl MeshSource, radius: Option<f64>) -> Vec<[[f64; 2]; 2]> {
    match source.placement() {
        Placement::Faces => {
            FacePlaces::new(source.points(), source.cells(), radius.is_some()).normals
        }
        _ => Vec::new(),
    }
}

/// `A |D|` at each point of a mesh with these [`normals`]: the mean of the polygons around it. Velocities that are missing count as 0.
pub(super) fn deformation(
    source: &impl MeshSource,
    velocity: &Floats,
    (radius, normals): (Option<f64>, &[[[f64; 2]; 2]]),
) -> Vec<f64> {
    let (points, cells) = (source.points(), source.cells());
    let at_points = match source.placement() {
        Placement::Faces => of_faces(cells, velocity, normals),
        _ => (0..points.len()).map(|i| known(velocity.vector(i))).collect(),
    };
    let mut means = Means::new(points.len());
    for_each_polygon(cells, |nodes| {
        means.add(nodes, [of_polygon(points, nodes, &at_points, radius), 0.0]);
    });
    means.values().map(|[value, _]| value).collect()
}

fn known([u, v, _]: [f64; 3]) -> [f64; 2] {
    [u, v].map(|x| if x.is_finite() { x } else { 0.0 })
}

fn for_each_polygon(cells: &Cells, mut with: impl FnMut(&[u32])) {
    for (cell, kind) in cells.kinds.iter().enumerate() {
        let nodes = cells.nodes(cell);
        for polygon in polygons(*kind).into_iter().flatten() {
            let mut of_polygon = [0; 4];
            for (node, k) in of_polygon.iter_mut().zip(*polygon) {
                *node = nodes[*k];
            }
            with(&of_polygon[..polygon.len()]);
        }
    }
}

/// `A |D|` of a polygon, whose mean velocity gradient is the sum over its edges (Green's theorem).
fn of_polygon(
    points: &[[f64; 3]],
    nodes: &[u32],
    velocity: &[[f64; 2]],
    radius: Option<f64>,
) -> f64 {
    let first = points[nodes[0] as usize];
    let middle =
        nodes.iter().map(|node| points[*node as usize][1]).sum::<f64>() / nodes.len() as f64;
    let metres = radius.map_or([1.0; 3], |radius| scales(radius, [first[0], middle, first[2]]));
    let place = |node: u32| [0, 1].map(|d| metres[d] * (points[node as usize][d] - first[d]));
    let mut by = [[0.0; 2]; 2];
    for (i, node) in nodes.iter().enumerate() {
        let next = nodes[(i + 1) % nodes.len()];
        let ([x, y], [next_x, next_y]) = (place(*node), place(next));
        let [here, there] = [*node, next].map(|node| velocity[node as usize]);
        for c in 0..2 {
            let mean = 0.5 * (here[c] + there[c]);
            by[0][c] += mean * (next_y - y);
            by[1][c] -= mean * (next_x - x);
        }
    }
    // Each sum is the gradient times the area.
    let [[ux, vx], [uy, vy]] = by;
    (ux * ux + vy * vy + 0.5 * (uy + vx).powi(2)).sqrt()
}

/// Horizontal velocities at the points of a mesh with velocities on faces: the means of the cells around.
fn of_faces(cells: &Cells, velocity: &Floats, normals: &[[[f64; 2]; 2]]) -> Vec<[f64; 2]> {
    let mut means = Means::new(normals.len());
    for cell in 0..cells.len() {
        let nodes = cells.nodes(cell);
        let [first, along_r, along_s] = [0, 1, 3].map(|k| nodes[k] as usize);
        let side = |axis: usize, ends: [usize; 2]| {
            let [x, y] = [0, 1].map(|d| ends.iter().map(|i| 0.5 * normals[*i][axis][d]).sum());
            let speed: f64 = ends.iter().map(|i| 0.5 * known(velocity.vector(*i))[axis]).sum();
            [x, y, speed]
        };
        // The vector with both mean speeds through opposite faces.
        let ([a, b, u], [c, d, v]) = (side(0, [first, along_r]), side(1, [first, along_s]));
        let determinant: f64 = a * d - b * c;
        if determinant != 0.0 {
            means.add(nodes, [(d * u - b * v) / determinant, (a * v - c * u) / determinant]);
        }
    }
    means.values().collect()
}

/// Means at points of what is around them.
struct Means {
    sums: Vec<[f64; 2]>,
    counts: Vec<u32>,
}

impl Means {
    fn new(points: usize) -> Self {
        Means { sums: vec![[0.0; 2]; points], counts: vec![0; points] }
    }

    fn add(&mut self, nodes: &[u32], value: [f64; 2]) {
        for node in nodes {
            let sum = &mut self.sums[*node as usize];
            (0..2).for_each(|d| sum[d] += value[d]);
            self.counts[*node as usize] += 1;
        }
    }

    /// 0 at points with nothing around.
    fn values(&self) -> impl Iterator<Item = [f64; 2]> {
        self.sums
            .iter()
            .zip(&self.counts)
            .map(|(sum, count)| sum.map(|x| x / (*count).max(1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diffused, FrameData, FrameSource, SourceError};

    /// Steady velocities on a lattice of nodes.
    struct Steady {
        points: Vec<[f64; 3]>,
        cells: Cells,
        placement: Placement,
        velocity: Vec<f64>,
    }

    impl FrameSource for Steady {
        fn times(&self) -> &[f64] {
            &[0.0]
        }

        fn read(&mut self, _: usize) -> std::result::Result<FrameData, SourceError> {
            Ok(FrameData::new(Floats::F64(self.velocity.clone())))
        }
    }

    impl MeshSource for Steady {
        fn points(&self) -> &[[f64; 3]] {
            &self.points
        }

        fn cells(&self) -> &Cells {
            &self.cells
        }

        fn placement(&self) -> Placement {
            self.placement
        }
    }

    /// Cells of `size` between nodes from a lowest one.
    fn lattice(
        [nx, ny]: [usize; 2],
        (low, size): ([f64; 2], [f64; 2]),
        placement: Placement,
        velocity: impl Fn([f64; 2]) -> [f64; 2],
    ) -> Steady {
        let number = |i: usize, j: usize, k: usize| (i + nx * (j + ny * k)) as u32;
        let all = |nx: usize, ny: usize, nz: usize| {
            (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / (nx * ny)])
        };
        let mut cells = Cells { offsets: vec![0], ..Cells::default() };
        for [i, j, _] in all(nx - 1, ny - 1, 1) {
            for k in 0..2 {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                cells.connectivity.extend(corners.map(|(i, j)| number(i, j, k)));
            }
            cells.kinds.push(CellKind::Hexahedron);
            cells.offsets.push(cells.connectivity.len() as u32);
        }
        let at = |i: f64, j: f64| [low[0] + size[0] * i, low[1] + size[1] * j];
        let (mut points, mut values) = (Vec::new(), Vec::new());
        for [i, j, k] in all(nx, ny, 2) {
            let (i, j) = (i as f64, j as f64);
            let [x, y] = at(i, j);
            points.push([x, y, k as f64]);
            let [u, v] = match placement {
                // Through the middles of the faces that begin at the node.
                Placement::Faces => [velocity(at(i, j + 0.5))[0], velocity(at(i + 0.5, j))[1]],
                _ => velocity([x, y]),
            };
            values.extend([u, v, 7.0]);
        }
        Steady { points, cells, placement, velocity: values }
    }

    fn shear([x, y]: [f64; 2]) -> [f64; 2] {
        [2.0 * y + 4.0 * x, 3.0 * x]
    }

    fn diffusivity(source: Steady, radius: Option<f64>) -> Floats {
        let mut source = Diffused::on_mesh(source, Mixing::Smagorinsky(0.1), radius).unwrap();
        source.read(0).unwrap().diffusivity.unwrap()
    }

    #[test]
    fn deformation_of_a_linear_flow_is_exact() {
        let (low, size) = ([0.0, 50.0], [0.5, 2.0]);
        // The area of a cell is 1.
        let expected = 0.1 * (16.0_f64 + 0.5 * 25.0).sqrt();
        let found = diffusivity(lattice([4, 3], (low, size), Placement::Nodes, shear), None);
        assert!((0..24).all(|i| (found.get(i) - expected).abs() < 1e-12), "{found:?}");
        // On faces it is exact two cells from the edge.
        let found = diffusivity(lattice([7, 7], (low, size), Placement::Faces, shear), None);
        let middle = [3 + 7 * 3, 3 + 7 * (3 + 7)].map(|i| found.get(i));
        assert!(middle.iter().all(|k| (k - expected).abs() < 1e-12), "{middle:?}");
    }

    #[test]
    fn degrees_are_lengths_on_a_sphere() {
        let radius = 180.0 / std::f64::consts::PI;
        let source = lattice([3, 3], ([0.0, 58.0], [0.5, 2.0]), Placement::Nodes, shear);
        let found = diffusivity(source, Some(radius)).get(4);
        let of = |latitude: f64| {
            let cos = latitude.to_radians().cos();
            0.1 * cos * ((4.0 / cos).powi(2) + 0.5 * (2.0 + 3.0 / cos).powi(2)).sqrt()
        };
        let expected = 0.5 * (of(59.0) + of(61.0));
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn what_has_no_horizontal_layers_is_refused() {
        let refused = |source: Steady, mixing| {
            Diffused::on_mesh(source, mixing, None).map(drop).unwrap_err().to_string()
        };
        let made = || lattice([2, 2], ([0.0; 2], [1.0; 2]), Placement::Nodes, shear);
        let cells = Steady { placement: Placement::Cells, ..made() };
        let profile = || Mixing::Profile { z: vec![0.0], diffusivity: vec![1.0] };
        assert!(refused(cells, profile()).contains("these are in cells; convert them"));
        let tetra = Cells {
            kinds: vec![CellKind::Tetra],
            offsets: vec![0, 4],
            connectivity: vec![0, 1, 2, 4],
        };
        let solid = || Steady { cells: tetra.clone(), ..made() };
        let message = refused(solid(), Mixing::Smagorinsky(0.1));
        assert!(message.contains("cell 0 is a Tetra"), "{message}");
        assert!(Diffused::on_mesh(solid(), profile(), None).is_ok());
    }
}
