//! Shared implementation of the CPU backends.

use crate::density::{
    cpu::{self, SourceArrays},
    ops::{NodeGrid, Sources},
    radial::Number,
};
use burn::backend::{Backend, DType};
use burntrace_kernels::host::HostTensor;
use bytemuck::cast_slice;

/// `DensityBackend::density_at` on a CPU backend.
pub(super) fn at<B, T>(points: T, sources: Sources<B>) -> T
where
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    match points.dtype() {
        DType::F64 => at_in::<f64, B, T>(points, sources),
        _ => at_in::<f32, B, T>(points, sources),
    }
}

fn at_in<F, B, T>(points: T, sources: Sources<B>) -> T
where
    F: Number,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let points = points.contiguous();
    let scale = sources.smoother.scale;
    let sums = with_arrays::<F, B, T>(sources, |sources| {
        cpu::at(cast_slice(points.values::<F>()), sources)
    });
    scaled::<F, T>(sums, scale)
}

/// `DensityBackend::density_on_nodes` on a CPU backend.
pub(super) fn on_nodes<B, T>(sources: Sources<B>, grid: &NodeGrid) -> T
where
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    match sources.rows.dtype() {
        DType::F64 => on_nodes_in::<f64, B, T>(sources, grid),
        _ => on_nodes_in::<f32, B, T>(sources, grid),
    }
}

fn on_nodes_in<F, B, T>(sources: Sources<B>, grid: &NodeGrid) -> T
where
    F: Number,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let scale = sources.smoother.scale;
    let sums = with_arrays::<F, B, T>(sources, |sources| cpu::on_nodes(sources, grid));
    scaled::<F, T>(sums, scale)
}

fn scaled<F: Number, T: HostTensor>(sums: Vec<f64>, scale: f64) -> T {
    let count = sums.len();
    T::of(sums.into_iter().map(|sum| F::of(sum * scale)).collect(), &[count])
}

/// Calls `work` with the tensors of the sources borrowed as slices.
fn with_arrays<F, B, T>(
    sources: Sources<B>,
    work: impl FnOnce(&SourceArrays<F>) -> Vec<f64>,
) -> Vec<f64>
where
    F: Number,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let rows = sources.rows.contiguous();
    let starts = sources.starts.contiguous();
    work(&SourceArrays::new(
        rows.values::<F>(),
        starts.values::<i32>(),
        &sources.cells,
        &sources.smoother,
    ))
}
