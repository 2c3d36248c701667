//! The nodes of fields: their positions, fields with other velocities there, and what a field is at positions.

use super::Addend;
use crate::{
    CellVelocity, Domain, Error, Field, FieldOptions, Floats, GridField, MeshField, PointField,
    Result,
    field::{
        domain::bounding_box,
        evaluate,
        faces::FacePlaces,
        globe::CIRCLE,
        sampled::Sampled,
        values::{HostFrames, Placed},
    },
    mesh::Cells,
};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::{FieldShape, Placement, Weighting};

/// The places of the velocities of a field.
pub enum Nodes {
    /// The nodes or the cells of a grid with these axes, x fastest.
    Grid([Vec<f64>; 3], Placement),
    /// The points or the cells of a mesh.
    Mesh {
        points: Vec<[f64; 3]>,
        cells: Cells,
        placement: Placement,
        in_cells: CellVelocity,
        faces: Option<FacePlaces>,
    },
    /// Scattered points.
    Points(Vec<[f64; 3]>, Weighting),
}

impl Nodes {
    pub fn mesh(
        (points, cells): (Vec<[f64; 3]>, Cells),
        placement: Placement,
        (in_cells, is_on_sphere): (CellVelocity, bool),
    ) -> Self {
        let is_on_faces = placement == Placement::Faces;
        let faces = is_on_faces.then(|| FacePlaces::new(&points, &cells, is_on_sphere));
        Nodes::Mesh { points, cells, placement, in_cells, faces }
    }

    /// The nodes of a field; `None` of a field without any.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn of(field: &dyn Field) -> Result<Option<Self>> {
        if let Some(mesh) = field.mesh() {
            return Ok(Some(Nodes::Points(mesh.points().collect(), Weighting::Nearest)));
        }
        let Some(sampled) = field.sampled() else { return Ok(None) };
        let coordinates = Floats::from_tensor(sampled.tensors.coordinates.clone())?;
        let coordinate = |d: usize, i: usize| coordinates.get(i) + sampled.origin[d];
        Ok(match sampled.tensors.shape {
            FieldShape::Grid(shape) => {
                let start = |d: usize| shape.nodes[..d].iter().sum::<usize>();
                let axis = |d| (0..shape.nodes[d]).map(|i| coordinate(d, start(d) + i)).collect();
                Some(Nodes::Grid([0, 1, 2].map(axis), shape.placement))
            }
            FieldShape::Points(shape) => {
                let point = |i| [0, 1, 2].map(|d| coordinate(d, shape.axis(d) + i));
                Some(Nodes::Points((0..shape.count).map(point).collect(), Weighting::Nearest))
            }
            FieldShape::Mesh(_) | FieldShape::Formula(_) => None,
        })
    }

    /// The number of velocities along the axes of a grid, or of all along the first one.
    fn counts(&self) -> [usize; 3] {
        match self {
            Nodes::Grid(axes, Placement::Cells) => {
                axes.each_ref().map(|axis| axis.len().max(2) - 1)
            }
            Nodes::Grid(axes, _) => axes.each_ref().map(Vec::len),
            Nodes::Mesh { cells, placement: Placement::Cells, .. } => [cells.len(), 1, 1],
            Nodes::Mesh { points, .. } => [points.len(), 1, 1],
            Nodes::Points(positions, _) => [positions.len(), 1, 1],
        }
    }

    /// The number of velocities.
    pub fn len(&self) -> usize {
        self.counts().iter().product()
    }

    /// The number of velocities after which those of a field with a single level repeat; all of them, of another field.
    pub fn layer(&self, field: &dyn Field) -> usize {
        let [nx, ny, nz] = self.counts();
        if field.domain().is_flat(2) { nx * ny } else { nx * ny * nz }
    }

    /// The position of a velocity: its node, or the centre of its cell.
    pub fn position(&self, i: usize) -> [f64; 3] {
        match self {
            Nodes::Grid(axes, placement) => {
                let [nx, ny, _] = self.counts();
                let at = [i % nx, i / nx % ny, i / (nx * ny)];
                [0, 1, 2].map(|d| match (placement, &axes[d][..]) {
                    (Placement::Cells, [_, _, ..]) => 0.5 * (axes[d][at[d]] + axes[d][at[d] + 1]),
                    _ => axes[d][at[d]],
                })
            }
            Nodes::Mesh { points, cells, placement: Placement::Cells, .. } => {
                cells.centre(i, points)
            }
            Nodes::Mesh { points, .. } => points[i],
            Nodes::Points(positions, _) => positions[i],
        }
    }

    /// Marks the points that are in no cell of a mesh.
    pub fn drop_unused(&self, is_dropped: &mut [bool]) {
        let Nodes::Mesh { cells, placement: Placement::Nodes | Placement::Faces, .. } = self else {
            return;
        };
        let mut is_used = vec![false; is_dropped.len()];
        cells.connectivity.iter().for_each(|node| is_used[*node as usize] = true);
        is_dropped
            .iter_mut()
            .zip(is_used)
            .for_each(|(is_dropped, is_used)| *is_dropped |= !is_used);
    }

    /// The highest level of a grid, and the number of the first velocity on it; all nodes, of others.
    pub fn top(&self) -> Option<(Self, usize)> {
        let Nodes::Grid([x, y, z], placement) = self else { return None };
        let [nx, ny, nz] = self.counts();
        let top = [x.clone(), y.clone(), z[z.len() - 1..].to_vec()];
        Some((Nodes::Grid(top, *placement), nx * ny * (nz - 1)))
    }

    /// Positions midway between the nodes of a grid, and the centres of the cells of a mesh.
    pub fn between(&self) -> Self {
        let middle = |axis: &Vec<f64>| match axis.len() {
            1 => axis.clone(),
            _ => axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect(),
        };
        let cells = Placement::Cells;
        match self {
            Nodes::Grid(axes, _) => Nodes::Grid(axes.each_ref().map(middle), Placement::Nodes),
            Nodes::Mesh { points, cells: given, in_cells, .. } => {
                Nodes::mesh((points.clone(), given.clone()), cells, (*in_cells, false))
            }
            Nodes::Points(..) => Nodes::Points(Vec::new(), Weighting::Nearest),
        }
    }

    /// The box around the nodes.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn domain(&self) -> Result<Domain> {
        match self {
            Nodes::Grid(axes, _) => {
                let end = |at: fn(&Vec<f64>) -> f64| axes.each_ref().map(at);
                Domain::new(end(|axis| axis[0]), end(|axis| axis[axis.len() - 1]))
            }
            Nodes::Mesh { points, .. } | Nodes::Points(points, _) => {
                bounding_box(points.iter().copied())
            }
        }
    }

    /// A field with these velocities of frames at the nodes.
    ///
    /// # Errors
    ///
    /// As those of the field.
    pub fn load(&self, frames: HostFrames, options: &FieldOptions) -> Result<Box<dyn Field>> {
        let device = Device::flex();
        Ok(match self {
            Nodes::Grid(axes, placement) => {
                let mut source = Placed { frames, places: (axes.clone(), *placement) };
                Box::new(GridField::load(&mut source, &device, options)?)
            }
            Nodes::Mesh { points, cells, placement, in_cells, .. } => {
                let places = (points.clone(), cells.clone(), *placement);
                let mut source = Placed { frames, places };
                Box::new(MeshField::load(&mut source, &device, options, *in_cells)?)
            }
            Nodes::Points(positions, weighting) => {
                let mut source = Placed { frames, places: positions.clone() };
                Box::new(PointField::load(&mut source, &device, options, *weighting)?)
            }
        })
    }
}

/// The numbers that a field has at the first `count` nodes: its velocities after a function, or on faces those through them. NaN
/// outside the field.
///
/// # Errors
///
/// As [`velocities`].
pub fn values(
    nodes: &Nodes,
    other: (&dyn Field, &Addend),
    (count, time): (usize, f64),
    turned: impl Fn([f64; 3]) -> [f64; 3],
) -> Result<Vec<[f64; 3]>> {
    let Nodes::Mesh { faces: Some(FacePlaces { middles, normals }), .. } = nodes else {
        let found = velocities(other, count, |i| nodes.position(i), time)?;
        return Ok(found.into_iter().map(turned).collect());
    };
    let mut all = vec![[0.0; 3]; count];
    for component in 0..3 {
        let used: Vec<usize> = (0..count).filter(|i| !middles[*i][component][0].is_nan()).collect();
        let found = velocities(other, used.len(), |k| middles[used[k]][component], time)?;
        for (i, velocity) in used.into_iter().zip(found) {
            let [u, v, w] = turned(velocity);
            all[i][component] = match normals[i].get(component) {
                Some([x, y]) => u * x + v * y,
                None => w,
            };
        }
    }
    Ok(all)
}

/// A longitude in the turn that begins at another one.
pub fn in_turn(longitude: f64, west: f64) -> f64 {
    // Rounding does not begin the next turn.
    longitude - CIRCLE * ((longitude - west) / CIRCLE + 1e-12).floor()
}

/// Number of positions at which a field is evaluated at once, to keep temporary arrays small.
const CHUNK: usize = 1 << 18;

/// The velocities of a field at `count` positions, NaN outside it.
///
/// # Errors
///
/// If the field is not known at the time, or cannot be read.
pub fn velocities(
    (field, addend): (&dyn Field, &Addend),
    count: usize,
    position: impl Fn(usize) -> [f64; 3],
    time: f64,
) -> Result<Vec<[f64; 3]>> {
    let turn = field.sampled().and_then(Sampled::radius).map(|_| field.domain().low[0]);
    let top = if addend.extends_up { field.domain().high[2] } else { f64::INFINITY };
    // Times of other fields may differ by rounding.
    let time = field.times().map_or(time, |[first, last]| time.clamp(first, last));
    let (precision, device) = (field.precision(), field.device());
    let mut all = Vec::with_capacity(count);
    for start in (0..count).step_by(CHUNK) {
        let range = start..count.min(start + CHUNK);
        let positions = range
            .clone()
            .map(&position)
            .flat_map(|[x, y, z]| [turn.map_or(x, |west| in_turn(x, west)), y, z.min(top)]);
        let data = precision.data(positions.collect::<Vec<_>>(), [range.len(), 3]);
        let positions = Tensor::<2>::from_data(data, (&device, precision.dtype()));
        let Some(velocity) = field.sample(positions, time)?.velocity else {
            return Err(Error::Sum("one of its fields has no velocity; give one that has".into()));
        };
        all.extend(evaluate::on_host(&velocity)?);
    }
    Ok(all)
}
