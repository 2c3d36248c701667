//! The call of the fused operation.

use super::{
    cells::{PADDING, SortedSources, Targets},
    ops::{DensityBackend, NodeGrid, Sources},
    smoother::Smoother,
    tensors::to_tensor,
};
use burn::backend::Dispatch;
use burn::tensor::{DType, Tensor, TensorData};

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
