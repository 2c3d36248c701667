//! Boundaries, obstacles and meshes for tensor operations: paths are replayed on the host by the
//! event loop of the fused operation, which also gives the derivatives of their ends.

use super::{
    Tracer, reinjection,
    runge_kutta::column_of,
    stepper::{Stepper, lost},
    tensor::State,
};
use crate::{Engine, Result, Status};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{Boundary, Jacobian, MeshTables, Obstacle, PathEnd, Paths, Placement};

/// The paths of the tensor engine and of displacements by an operation; otherwise none are needed.
pub(super) fn paths(
    tracer: &Tracer,
    engine: Engine,
    boundary: &Boundary,
    obstacles: &[Obstacle],
) -> Option<Paths> {
    let precision = tracer.field.precision();
    let tables = |mesh: &crate::mesh::Mesh| {
        let records = mesh.records(Placement::Cells, precision);
        MeshTables { shape: records.shape, coordinates: records.floats, index: records.index }
    };
    let mesh = || tracer.field.mesh().map(tables);
    let paths = || Paths::new(boundary, obstacles, mesh(), precision.dtype());
    (engine == Engine::Tensor || tracer.each_step.is_some()).then(paths)
}

/// Positions `[n, 3]` on the host.
pub(super) fn on_host(position: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
    Ok(reinjection::floats(&position.clone().detach())?.as_chunks().0.to_vec())
}

/// The ends of paths; one row for each particle.
pub(super) struct Landing {
    /// Positions `[n, 3]`.
    pub position: Tensor<2>,
    /// Periods crossed through periodic faces `[n, 3]`.
    pub image: Tensor<2, Int>,
    /// Status codes `[n, 1]`.
    pub status: Tensor<2, Int>,
    /// Fraction of the path at which a particle ended `[n, 1]`; 1 if it did not.
    pub fraction: Tensor<2>,
    /// Cells, faces or obstacles, as the records store them `[n, 1]`.
    pub location: Tensor<2, Int>,
    /// Lengths of the paths; see [`PathEnd::moved`].
    moved: Vec<f64>,
}

impl Landing {
    /// Lengths of the paths `[n, 1]`, on the device and in the precision of another tensor.
    pub fn moved(&self, beside: &Tensor<2>) -> Tensor<2> {
        column_of(self.moved.iter().copied(), beside)
    }
}

/// The ends of paths on the host.
pub(super) struct Ends {
    ends: Vec<PathEnd>,
    /// The locations at the starts.
    before: Vec<i32>,
}

impl Ends {
    /// Whether all paths met nothing.
    pub fn are_free(&self) -> bool {
        let is_free = |path: &PathEnd| path.jacobians.is_none() && path.end.is_none();
        self.ends.iter().all(|path| is_free(path) && path.image == [0; 3])
    }

    /// The locations at the ends `[n, 1]`, of which `before` is that at the starts.
    pub fn locations(&self, before: Tensor<2, Int>) -> Tensor<2, Int> {
        let after = self.ends.iter().map(|path| path.location);
        match after.clone().eq(self.before.iter().copied()) {
            true => before,
            false => ints(after.collect(), 1, &before.device()),
        }
    }
}

/// Follows the paths `from -> to`; `locations` are those of the starts. `None` if some are not finite.
pub(super) fn follow(
    stepper: &Stepper,
    from: &Tensor<2>,
    to: &Tensor<2>,
    locations: &Tensor<2, Int>,
) -> Result<Option<Ends>> {
    let paths = stepper.paths()?;
    let to = on_host(to)?;
    if !to.as_flattened().iter().all(|x| x.is_finite()) {
        return Ok(None);
    }
    let before = reinjection::ints(locations)?;
    let ends = paths.follow(&on_host(from)?, &to, &before);
    Ok(Some(Ends { ends, before }))
}

/// Integers of particles `[n, columns]`.
fn ints(numbers: Vec<i32>, columns: usize, device: &Device) -> Tensor<2, Int> {
    let rows = numbers.len() / columns;
    let data = TensorData::new(numbers, [rows, columns]);
    Tensor::from_data(data, (device, DType::I32))
}

/// The rows of the ends of paths `from -> to`.
pub(super) fn land(ends: Option<Ends>, from: &Tensor<2>, to: &Tensor<2>) -> Result<Landing> {
    let Some(Ends { ends, .. }) = ends else { return Err(lost()) };
    let device = to.device();
    let end = |end: &PathEnd| end.end.unwrap_or((Status::Active, 1.0));
    Ok(Landing {
        image: ints(ends.iter().flat_map(|path| path.image).collect(), 3, &device),
        status: ints(ends.iter().map(|path| end(path).0.code()).collect(), 1, &device),
        fraction: fractions(from, to, &ends),
        moved: ends.iter().map(|path| path.moved).collect(),
        location: ints(ends.iter().map(|path| path.location).collect(), 1, &device),
        position: moved(from, to, &ends.iter().map(Some).collect::<Vec<_>>()),
    })
}

/// The fractions of paths at which particles ended `[n, 1]`, or 1; with their derivatives by the starts and the free
/// ends, if gradients are tracked.
fn fractions(from: &Tensor<2>, to: &Tensor<2>, ends: &[PathEnd]) -> Tensor<2> {
    let fraction = |path: &PathEnd| path.end.map_or(1.0, |(_, fraction)| fraction);
    let known = column_of(ends.iter().map(fraction), to);
    let has_slopes = ends.iter().any(|path| path.end.is_some());
    if !to.device().is_autodiff() || !has_slopes {
        return known;
    }
    [from, to].into_iter().enumerate().fold(known, |sum, (which, rows)| {
        let change = rows.clone() - rows.clone().detach();
        let slopes = ends.iter().flat_map(|path| path.fraction_slopes[which]).collect::<Vec<_>>();
        let slopes = TensorData::new(slopes, [ends.len(), 3]);
        let slopes = Tensor::<2>::from_data(slopes, (&to.device(), to.dtype()));
        sum + (change * slopes).sum_dim(1)
    })
}

/// Where steps start, on the host.
pub(super) struct Starts {
    positions: Vec<[f64; 3]>,
    locations: Vec<i32>,
}

impl Starts {
    /// Reads the starts of steps; `None` if their stages need no paths.
    pub fn read(stepper: &Stepper, part: &State) -> Result<Option<Self>> {
        if stepper.paths.is_none() || stepper.field.mesh().is_none() {
            return Ok(None);
        }
        Ok(Some(Starts {
            positions: on_host(&part.position)?,
            locations: reinjection::ints(&part.location)?,
        }))
    }
}

/// The positions at which the stages of steps sample the field: for a stage outside a mesh, the last
/// point in the mesh on the straight line to it; images in the box on periodic axes.
pub(super) fn sampled_at(
    stepper: &Stepper,
    (from, starts): (&Tensor<2>, Option<&Starts>),
    stage: Tensor<2>,
) -> Result<Tensor<2>> {
    let stage = wrap(&stepper.boundary, stage);
    let (Some(paths), Some(mesh), Some(starts)) = (&stepper.paths, stepper.field.mesh(), starts)
    else {
        return Ok(stage);
    };
    let Starts { positions, locations } = starts;
    let stages = on_host(&stage)?;
    let clipped = paths
        .clip(positions, &stages, locations, &|point| mesh.locate_from_origin(point).is_some());
    Ok(moved(from, &stage, &clipped.iter().map(Option::as_ref).collect::<Vec<_>>()))
}

/// The free ends of paths, with those that met something replaced: their positions, and with their
/// derivatives by the starts and the free ends, if gradients are tracked.
fn moved(from: &Tensor<2>, to: &Tensor<2>, ends: &[Option<&PathEnd>]) -> Tensor<2> {
    let events: Vec<Option<(&PathEnd, [Jacobian; 2])>> =
        ends.iter().map(|end| end.and_then(|end| Some((end, end.jacobians?)))).collect();
    if events.iter().all(Option::is_none) {
        return to.clone();
    }
    let n = events.len();
    let (device, dtype) = (to.device(), to.dtype());
    let floats = |numbers: Vec<f64>| {
        Tensor::<2>::from_data(TensorData::new(numbers, [n, 3]), (&device, dtype))
    };
    let is_event = events.iter().flat_map(|event| [i32::from(event.is_some()); 3]);
    let is_event = TensorData::new(is_event.collect::<Vec<_>>(), [n, 3]);
    let is_event = Tensor::<2, Int>::from_data(is_event, (&device, DType::I32)).equal_elem(1);
    let position = events.iter().flat_map(|event| event.map_or([0.0; 3], |(end, _)| end.position));
    let mut end = floats(position.collect());
    if device.is_autodiff() {
        for (which, rows) in [from, to].into_iter().enumerate() {
            let change = rows.clone() - rows.clone().detach();
            for d in 0..3 {
                // The derivatives by one component: a column of each Jacobian.
                let column = events.iter().flat_map(|event| {
                    event.map_or([0.0; 3], |(_, by)| [0, 1, 2].map(|row| by[which][row][d]))
                });
                end = end + floats(column.collect()) * change.clone().narrow(1, d, 1);
            }
        }
    }
    to.clone().mask_where(is_event, end)
}

/// Images of positions in the box on periodic axes.
pub(super) fn wrap(boundary: &Boundary, p: Tensor<2>) -> Tensor<2> {
    if !(0..3).any(|d| boundary.is_periodic(d)) {
        return p;
    }
    let columns = [0, 1, 2].map(|d| {
        let x = p.clone().narrow(1, d, 1);
        if !boundary.is_periodic(d) {
            return x;
        }
        let (low, width) = (boundary.low[d], boundary.high[d] - boundary.low[d]);
        let boxes = x.clone().detach().sub_scalar(low).div_scalar(width).floor();
        // A non-finite stage has no image; beyond all bounds it samples the grid's edge.
        let boxes = boxes.clone().mask_fill(boxes.is_finite().bool_not(), 0.0);
        // Rounding must not move a point just below the high face to the low one.
        let fixed = x.clone().detach();
        let is_inside = fixed.clone().greater_equal_elem(low);
        let is_inside = is_inside.bool_and(fixed.lower_elem(boundary.high[d]));
        let boxes = boxes.mask_fill(is_inside, 0.0);
        (x - boxes.mul_scalar(width)).clamp(low, boundary.high[d])
    });
    Tensor::cat(columns.to_vec(), 1)
}
