//! Conversion between tensors and the host, and the call of the fused operation.

use super::{
    cells::{PADDING, SortedSources, Targets},
    ops::{DensityBackend, NodeGrid, Sources},
    smoother::Smoother,
};
use crate::{Error, Result};
use burn::backend::Dispatch;
use burn::tensor::{DType, Tensor, TensorData};

/// The values of a tensor in double precision.
///
/// # Errors
///
/// [`Error::Execution`] if the device fails, or the tensor is not `f32` or `f64`.
pub(super) fn on_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f64>> {
    let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
    let dtype = tensor.dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(Error::Execution(format!(
            "tensors of {dtype:?} are not supported; use f32 or f64"
        )));
    }
    let data = tensor.try_into_data().map_err(|error| failed(&error))?;
    data.convert::<f64>().try_into_vec().map_err(|error| failed(&error))
}

/// Positions `[n, 3]` on the host.
///
/// # Errors
///
/// [`Error::Positions`] for other shapes; [`Error::Execution`] if the device fails.
pub(super) fn positions_on_host(positions: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
    let found = positions.dims();
    if found[1] != 3 {
        return Err(Error::Positions { found });
    }
    if found[0] == 0 {
        return Ok(Vec::new());
    }
    Ok(on_host(positions.clone())?.as_chunks().0.to_vec())
}

/// Machine epsilon of a tensor's precision.
pub(super) fn epsilon(like: &Tensor<2>) -> f64 {
    match like.dtype() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}

/// A tensor of numbers on the device and in the precision of `like`.
pub(super) fn to_tensor(numbers: Vec<f64>, like: &Tensor<2>) -> Tensor<1> {
    let shape = [numbers.len()];
    let data = match like.dtype() {
        DType::F64 => TensorData::new(numbers, shape),
        _ => TensorData::new(numbers.into_iter().map(|x| x as f32).collect::<Vec<_>>(), shape),
    };
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

/// The sums of kernels at all targets `[m]`, times a unit, on the device and in the precision of `like`.
///
/// Active axes are moved to the front, so that rows of nodes run along the first active axis.
pub(super) fn evaluate(
    sorted: SortedSources,
    smoother: &Smoother,
    targets: &Targets,
    unit: f64,
    like: &Tensor<2>,
) -> Tensor<1> {
    let mut order = [0, 1, 2];
    order.sort_by_key(|&d: &usize| smoother.reach[d] == 0.0);
    let SortedSources { mut cells, rows, starts } = sorted;
    let row = cells.sources + PADDING;
    let from = [order[0], order[1], order[2], 3];
    let rows = from.iter().flat_map(|&d| rows[d * row..][..row].iter().copied()).collect();
    let origin = cells.origin;
    cells.per_length = order.map(|d| cells.per_length[d]);
    cells.counts = order.map(|d| cells.counts[d]);
    let count = starts.len();
    let starts = TensorData::new(starts, [count]);
    let sources = Sources {
        rows: to_tensor(rows, like).reshape([4, row]).into_dispatch(),
        starts: Tensor::<1, burn::tensor::Int>::from_data(starts, (&like.device(), DType::I32))
            .into_dispatch(),
        cells,
        smoother: Smoother {
            whitening: order.map(|d| order.map(|e| smoother.whitening[d][e])),
            reach: order.map(|d| smoother.reach[d]),
            scale: smoother.scale * unit,
            ..*smoother
        },
    };
    Tensor::from_dispatch(match &targets.points {
        None => {
            let grid = NodeGrid {
                counts: order.map(|d| targets.counts[d]),
                first: order.map(|d| targets.low[d] - origin[d]),
                pitch: order.map(|d| targets.pitch[d]),
            };
            <Dispatch as DensityBackend>::density_on_nodes(sources, grid)
        }
        Some(points) => {
            let count = points.len();
            let relative = |point: &[f64; 3]| order.map(|d| point[d] - origin[d]);
            let points = to_tensor(points.iter().flat_map(relative).collect(), like);
            let points = points.reshape([count, 3]).into_dispatch();
            <Dispatch as DensityBackend>::density_at(points, sources)
        }
    })
}
