//! Parts of the boundary of a field, and what flows through them.

use super::{AXES, Domain, Field, courant::axes, evaluate::velocities};
use crate::{
    Error, Face, Result,
    mesh::{FacePoint, Mesh, OpenFace, gauss},
};
use burntrace_kernels::FieldShape;
use std::collections::HashSet;

/// Number of intervals along a side of the box of a field without nodes.
const INTERVALS: usize = 64;

/// What is no flux, in proportion to the largest one.
const NEGLIGIBLE: f64 = 1e-3;

/// Number of points at which the velocity is evaluated together.
const BATCH: usize = 1 << 16;

/// What a part of a boundary is.
#[derive(Clone, Debug, PartialEq)]
pub enum PartOf {
    /// A group of faces of the mesh, which its file names, without those of groups before it.
    Group(String),
    /// Faces of a mesh in no group that are connected without a sharp edge, of 45 degrees or more, between them.
    Connected,
    /// A face of the domain box.
    Box(Face),
}

/// A part of the boundary of a field, and what flows through it, in the data's units: a volume per time, in two dimensions an area
/// per time.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryPart {
    /// What it is.
    pub of: PartOf,
    /// Number of faces of cells.
    pub faces: usize,
    /// Its area; in two dimensions its length.
    pub area: f64,
    /// The area where the velocity is not known, as in holes.
    pub unknown: f64,
    /// The flux that enters where the flow enters, 0 or more.
    pub inflow: f64,
    /// The flux that leaves where the flow leaves, 0 or more.
    pub outflow: f64,
    /// The mean of the unit normals that point out of the field: of length 1 if the part is plane, less if it is not, and 0 if it is closed.
    pub normal: [f64; 3],
    /// The mean position.
    pub centre: [f64; 3],
    /// The corners of its bounding box.
    pub low: [f64; 3],
    /// The maximum corner.
    pub high: [f64; 3],
    /// Number of faces of other parts with their middle in that box, of a part of a mesh with a flux.
    pub others: usize,
}

impl BoundaryPart {
    fn new(of: PartOf) -> Self {
        BoundaryPart {
            of,
            faces: 0,
            area: 0.0,
            unknown: 0.0,
            inflow: 0.0,
            outflow: 0.0,
            normal: [0.0; 3],
            centre: [0.0; 3],
            low: [f64::INFINITY; 3],
            high: [f64::NEG_INFINITY; 3],
            others: 0,
        }
    }

    /// The longest side of its bounding box.
    pub fn size(&self) -> f64 {
        (0..3).fold(0.0, |size: f64, d| size.max(self.high[d] - self.low[d]))
    }

    fn bound(&mut self, low: [f64; 3], high: [f64; 3]) {
        for d in 0..3 {
            self.low[d] = self.low[d].min(low[d]);
            self.high[d] = self.high[d].max(high[d]);
        }
    }

    /// Adds what flows through the areas around some points.
    fn add(&mut self, points: &[FacePoint], velocities: &[[f64; 3]]) {
        for (point, velocity) in points.iter().zip(velocities) {
            let area = point.area.iter().map(|x| x * x).sum::<f64>().sqrt();
            let flux: f64 = (0..3).map(|d| velocity[d] * point.area[d]).sum();
            self.area += area;
            for d in 0..3 {
                self.normal[d] += point.area[d];
                self.centre[d] += area * point.position[d];
            }
            match flux {
                flux if flux.is_nan() => self.unknown += area,
                flux if flux < 0.0 => self.inflow -= flux,
                flux => self.outflow += flux,
            }
        }
    }

    fn finished(mut self) -> Self {
        for d in 0..3 {
            self.normal[d] /= self.area;
            self.centre[d] /= self.area;
        }
        self
    }
}

/// The parts of the boundary of a field at a time: of a mesh its groups of faces, and what is connected without a sharp edge of the
/// rest; of others the faces of the domain box that are not across a flat axis. `None` for fields in degrees, whose
/// areas are not those of their coordinates, and in an unbounded domain.
///
/// Fluxes are integrals over points of Gauss on each face of a cell, exact for what cells of first order and grids interpolate but where
/// the flow turns back within a face; on the faces of the box of other fields over 64 intervals along each side.
///
/// # Errors
///
/// [`Error::OutsideTime`] if the field is not known at the time, and errors of the field.
pub fn boundary_parts(field: &dyn Field, time: f64) -> Result<Option<Vec<BoundaryPart>>> {
    if let Some([first, last]) = field.times().filter(|[a, b]| !(*a..=*b).contains(&time)) {
        return Err(Error::OutsideTime { t0: time, t1: time, first, last });
    }
    if field.sampled().is_some_and(|sampled| sampled.radius().is_some()) {
        return Ok(None);
    }
    match field.mesh() {
        Some(mesh) => of_mesh(field, mesh, time).map(Some),
        None => of_box(field, time),
    }
}

fn of_mesh(field: &dyn Field, mesh: &Mesh, time: f64) -> Result<Vec<BoundaryPart>> {
    let open: Vec<OpenFace> = mesh.open_faces().collect();
    let tag = |(cell, face): &OpenFace| mesh.face_tag(*cell, *face);
    let mut parts = Vec::new();
    let mut named = HashSet::new();
    for group in mesh.face_groups() {
        let is_own = |face: &&OpenFace| group.tags.contains(&tag(face)) && !named.contains(*face);
        let faces: Vec<OpenFace> = open.iter().filter(is_own).copied().collect();
        if !faces.is_empty() {
            named.extend(faces.iter().copied());
            parts.push((PartOf::Group(group.name.clone()), faces));
        }
    }
    let rest: Vec<OpenFace> = open.into_iter().filter(|face| !named.contains(face)).collect();
    let smooth = mesh.smooth_parts(&rest).into_iter().map(|faces| (PartOf::Connected, faces));
    let measured = parts.into_iter().chain(smooth).map(|(of, faces)| {
        let mut part = BoundaryPart::new(of);
        part.faces = faces.len();
        for faces in faces.chunks(BATCH / 4) {
            let points: Vec<FacePoint> =
                faces.iter().flat_map(|(cell, face)| mesh.face_points(*cell, *face)).collect();
            let positions: Vec<[f64; 3]> = points.iter().map(|point| point.position).collect();
            part.add(&points, &velocities(field, &positions, time)?);
            for (cell, face) in faces {
                let corners = mesh.corner_bounds(*cell, *face);
                part.bound(mesh.plain(corners.low), mesh.plain(corners.high));
            }
        }
        Ok(part.finished())
    });
    let mut measured = measured.collect::<Result<Vec<_>>>()?;
    count_others(&mut measured, mesh);
    Ok(measured)
}

/// Counts the faces of other parts in the boxes of those with a flux.
fn count_others(parts: &mut [BoundaryPart], mesh: &Mesh) {
    let middle = |(cell, face): OpenFace| {
        let corners = mesh.corner_bounds(cell, face);
        let [low, high] = [corners.low, corners.high].map(|corner| mesh.plain(corner));
        [0, 1, 2].map(|d| 0.5 * (low[d] + high[d]))
    };
    let middles: Vec<[f64; 3]> = mesh.open_faces().map(middle).collect();
    let largest = parts.iter().fold(0.0, |m: f64, part| m.max(part.inflow).max(part.outflow));
    for part in parts.iter_mut().filter(|part| part.inflow.max(part.outflow) > NEGLIGIBLE * largest)
    {
        let is_in = |p: &&[f64; 3]| (0..3).all(|d| part.low[d] <= p[d] && p[d] <= part.high[d]);
        part.others = middles.iter().filter(is_in).count().saturating_sub(part.faces);
    }
}

fn of_box(field: &dyn Field, time: f64) -> Result<Option<Vec<BoundaryPart>>> {
    let domain = field.domain();
    if !(0..3).all(|d| domain.low[d].is_finite() && domain.high[d].is_finite()) {
        return Ok(None);
    }
    let nodes = match field.sampled() {
        Some(sampled) => match &sampled.tensors.shape {
            FieldShape::Grid(shape) => axes(sampled, shape)?,
            _ => even_axes(&domain),
        },
        None => even_axes(&domain),
    };
    let is_open = |face: &Face| !domain.is_flat(*face as usize / 2);
    let faces = Face::ALL.into_iter().filter(is_open);
    let parts = faces.map(|face| {
        let points = points_of_box(&domain, &nodes, face);
        let mut part = BoundaryPart::new(PartOf::Box(face));
        for points in points.chunks(BATCH) {
            let positions: Vec<[f64; 3]> = points.iter().map(|point| point.position).collect();
            part.add(points, &velocities(field, &positions, time)?);
        }
        let (axis, is_high) = (face as usize / 2, face as usize % 2 == 1);
        part.faces = points.len()
            / (0..3).filter(|d| *d != axis && !domain.is_flat(*d)).map(|_| 2).product::<usize>();
        let (mut low, mut high) = (domain.low, domain.high);
        (low[axis], high[axis]) = match is_high {
            true => (high[axis], high[axis]),
            false => (low[axis], low[axis]),
        };
        part.bound(low, high);
        Ok(part.finished())
    });
    parts.collect::<Result<Vec<_>>>().map(Some)
}

fn even_axes(domain: &Domain) -> [Vec<f64>; 3] {
    let at = |d: usize, k: usize| {
        domain.low[d] + (domain.high[d] - domain.low[d]) * k as f64 / INTERVALS as f64
    };
    std::array::from_fn(|d| (0..=INTERVALS).map(|k| at(d, k)).collect())
}

/// Points of Gauss in the intervals between nodes along an axis, with their weights; one of the weight 1 along a flat axis.
fn along(domain: &Domain, nodes: &[f64], d: usize) -> Vec<[f64; 2]> {
    if domain.is_flat(d) {
        return vec![[domain.low[d], 1.0]];
    }
    // Nodes outside the domain have no part in it.
    let inside = nodes.iter().map(|x| x.clamp(domain.low[d], domain.high[d]));
    let inside: Vec<f64> = inside.collect();
    let intervals = inside.windows(2).filter(|pair| pair[0] < pair[1]);
    let points = intervals.flat_map(|pair| {
        let width = pair[1] - pair[0];
        gauss(false).iter().map(move |[x, weight]| [pair[0] + x * width, weight * width])
    });
    points.collect()
}

fn points_of_box(domain: &Domain, nodes: &[Vec<f64>; 3], face: Face) -> Vec<FacePoint> {
    let (axis, is_high) = (face as usize / 2, face as usize % 2 == 1);
    let [first, second] = [1, 2].map(|k| (axis + k) % AXES.len());
    let [rows, columns] = [first, second].map(|d| along(domain, &nodes[d], d));
    let mut points = Vec::with_capacity(rows.len() * columns.len());
    for [a, of_a] in &rows {
        for [b, of_b] in &columns {
            let (mut position, mut area) = ([0.0; 3], [0.0; 3]);
            position[axis] = if is_high { domain.high[axis] } else { domain.low[axis] };
            (position[first], position[second]) = (*a, *b);
            area[axis] = of_a * of_b * if is_high { 1.0 } else { -1.0 };
            points.push(FacePoint { position, area });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CellKind, CellVelocity, FieldOptions, Floats, FrameData, FrameSource, GridField, MeshField,
        MeshSource, Placement, Precision, SourceError,
        mesh::{BoundaryCells, Cells},
    };
    use burn::tensor::Device;

    fn sum(parts: &[BoundaryPart], of: impl Fn(&BoundaryPart) -> f64) -> f64 {
        parts.iter().map(of).sum()
    }

    /// A flow of the divergence 2 + 3 - 1 = 4 in a box of 2 x 1 x 3, linear in each coordinate.
    fn linear([x, y, z]: [f64; 3]) -> [f64; 3] {
        [2.0 * x - 1.0, 3.0 * y - 2.0 + x, 5.0 - z + y]
    }

    #[test]
    fn fluxes_through_the_box_of_a_grid_add_up_to_the_divergence() {
        let axes = [vec![0.0, 0.3, 2.0], vec![0.0, 1.0], vec![-1.0, 0.0, 0.5, 2.0]];
        let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
        let field =
            GridField::from_fn(axes, vec![0.0], &Device::flex(), &options, |p, _| linear(p));
        let parts = boundary_parts(&field.unwrap(), 0.0).unwrap().unwrap();
        assert_eq!(parts.len(), 6);
        let leaving = sum(&parts, |part| part.outflow) - sum(&parts, |part| part.inflow);
        assert!((leaving - 24.0).abs() < 1e-12, "{leaving}");
        let [low, high] = [&parts[0], &parts[1]];
        assert_eq!((low.area, low.normal, low.faces), (3.0, [-1.0, 0.0, 0.0], 3));
        assert_eq!((high.low[0], high.high, high.unknown), (2.0, [2.0, 1.0, 2.0], 0.0));
        assert!((low.outflow - 3.0).abs() < 1e-12 && low.inflow == 0.0, "{low:?}");
        assert!((high.outflow - 9.0).abs() < 1e-12, "{high:?}");
    }

    /// A shear between two walls, in a flat domain: the flux through an end is that of its mean.
    #[test]
    fn fluxes_of_a_formula_are_integrals_over_its_box() {
        let flow = crate::Flow::named("shear").unwrap();
        let field = crate::Analytic::new(flow, &Device::flex(), Precision::F64);
        let parts = boundary_parts(&field, 0.0).unwrap();
        let domain = field.domain();
        let Some(parts) = parts else { panic!("{domain:?}") };
        assert_eq!(parts.len(), (0..3).filter(|d| !domain.is_flat(*d)).count() * 2);
        let leaving = sum(&parts, |part| part.outflow) - sum(&parts, |part| part.inflow);
        let through = sum(&parts, |part| part.outflow);
        assert!(through > 0.0 && leaving.abs() < 1e-9 * through, "{parts:?}");
        let is_flat = domain.is_flat(2);
        assert_eq!(parts[0].faces, if is_flat { INTERVALS } else { INTERVALS * INTERVALS });
    }

    /// Two hexahedra beside each other, of which one has a corner moved out, and perhaps a name for their end.
    struct Source {
        points: Vec<[f64; 3]>,
        cells: Cells,
        boundary: Option<BoundaryCells>,
    }

    impl Source {
        fn new(has_name: bool) -> Self {
            let mut points = Vec::new();
            for x in [0.0, 1.0, 2.0] {
                points.extend([[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 1.0, 1.0], [x, 0.0, 1.0]]);
            }
            points[11] = [2.1, -0.2, 1.3];
            let cells = Cells {
                kinds: vec![CellKind::Hexahedron; 2],
                connectivity: (0..8).chain(4..12).collect(),
                offsets: vec![0, 8, 16],
            };
            let boundary = has_name.then(|| BoundaryCells {
                points: points[..4].to_vec(),
                connectivity: vec![0, 1, 2, 3],
                offsets: vec![0, 4],
                groups: vec![("inlet".into(), vec![0])],
            });
            Source { points, cells, boundary }
        }
    }

    impl FrameSource for Source {
        fn times(&self) -> &[f64] {
            &[0.0]
        }

        fn read(&mut self, _: usize) -> std::result::Result<FrameData, SourceError> {
            let values = self.points.iter().flat_map(|p| linear(*p)).collect();
            Ok(Floats::F64(values).into())
        }
    }

    impl MeshSource for Source {
        fn points(&self) -> &[[f64; 3]] {
            &self.points
        }

        fn cells(&self) -> &Cells {
            &self.cells
        }

        fn placement(&self) -> Placement {
            Placement::Nodes
        }

        fn boundary(&self) -> Option<&BoundaryCells> {
            self.boundary.as_ref()
        }
    }

    /// The fluxes of a linear flow through warped faces add up to its divergence in the volume, which tetrahedra give.
    #[test]
    fn fluxes_through_warped_faces_are_those_of_the_volume() {
        for has_name in [false, true] {
            let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
            let mut source = Source::new(has_name);
            let constant = CellVelocity::Constant;
            let field = MeshField::load(&mut source, &Device::flex(), &options, constant).unwrap();
            let parts = boundary_parts(&field, 0.0).unwrap().unwrap();
            let leaving = sum(&parts, |part| part.outflow) - sum(&parts, |part| part.inflow);
            // By the divergence theorem for (x, y, z) / 3, on the same points, which are up to a millionth inside.
            let mesh = field.mesh();
            let of = |p: FacePoint| (0..3).map(|d| p.position[d] * p.area[d]).sum::<f64>() / 3.0;
            let points = mesh.open_faces().flat_map(|(cell, face)| mesh.face_points(cell, face));
            let volume: f64 = points.map(of).sum();
            assert!(volume > 2.0 && (leaving - 4.0 * volume).abs() < 1e-5, "{leaving}, {volume}");
            let (name, is_end): (_, fn(&&BoundaryPart) -> bool) = match has_name {
                true => (PartOf::Group("inlet".into()), |part| part.of != PartOf::Connected),
                false => (PartOf::Connected, |part| part.high[0] == 0.0),
            };
            let end = parts.iter().find(is_end).unwrap();
            assert_eq!((end.of.clone(), end.faces, end.normal), (name, 1, [-1.0, 0.0, 0.0]));
            // -u at x = 0, which is 1, through an area of 1, on points that are up to a millionth inside.
            assert!((end.outflow - 1.0).abs() < 1e-5 && end.inflow == 0.0, "{end:?}");
            // The ends, and four sides, each of which is bent by less than 45 degrees in the middle.
            assert_eq!(parts.len(), 6, "{parts:?}");
        }
    }
}
