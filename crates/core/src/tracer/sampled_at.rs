//! Where the stages of steps sample a field.

use super::{Tracer, rows::on_host, stepper::Stepper};
use crate::{Engine, Result};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{Boundary, Jacobian, PathEnd, Placement, StageClips};

/// Where steps of particles start.
pub(super) struct StepStart {
    /// Positions `[n, 3]`.
    pub position: Tensor<2>,
    /// The locations in their records.
    pub locations: Vec<i32>,
    /// Their factors of a second velocity, a row for each or one for all.
    pub factors: Option<Tensor<2>>,
}

/// The mesh in which the tensor engine clips stages, if there is one.
pub(super) fn clips(tracer: &Tracer, engine: Engine) -> Option<StageClips> {
    let mesh = tracer.field.mesh().filter(|_| engine == Engine::Tensor)?;
    let precision = tracer.field.precision();
    let records = mesh.records(None, Placement::Cells, precision);
    Some(StageClips::new(records.shape, records.floats, records.index, precision.dtype()))
}

/// The positions at which the stages of steps sample the field: for a stage outside a mesh, the last
/// point in the mesh on the straight line to it; images in the box on periodic axes.
pub(super) fn sampled_at(
    stepper: &Stepper,
    start: &StepStart,
    stage: Tensor<2>,
) -> Result<Tensor<2>> {
    let stage = wrap(&stepper.boundary, stage);
    let (Some(clips), Some(mesh)) = (&stepper.clips, stepper.field.mesh()) else {
        return Ok(stage);
    };
    let [from, to] = [on_host(&start.position)?, on_host(&stage)?];
    let contains = |point| mesh.locate_from_origin(point).is_some();
    let clipped = clips.clip(&from, &to, &start.locations, &contains);
    Ok(moved(&start.position, &stage, &clipped))
}

/// The free ends of paths, with those that met something replaced: their positions, and with their
/// derivatives by the starts and the free ends, if gradients are tracked.
fn moved(from: &Tensor<2>, to: &Tensor<2>, ends: &[Option<PathEnd>]) -> Tensor<2> {
    let event = |end: &Option<PathEnd>| end.and_then(|end| Some((end, end.jacobians?)));
    let events: Vec<Option<(PathEnd, [Jacobian; 2])>> = ends.iter().map(event).collect();
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
