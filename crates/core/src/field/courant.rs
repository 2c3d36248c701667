//! How far particles go in a step, in cells.

use super::{Field, Sampled, evaluate, globe::scales};
use crate::{Error, Result};
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::{FieldShape, GridShape, Spacing};

/// Maximum number of cells that are looked at, evenly spaced among all.
const CELLS: usize = 20_000;

/// How many cells a particle crosses in a step: |u| dt / dx, by the axis along which it is the most, in the middle of cells of the field. This is
/// the Courant number (Courant, Friedrichs and Lewy 1928, Math. Ann. 100:32). Where it is far above 1, a step misses what the field does in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Courant {
    /// The median over cells.
    pub median: f64,
    /// What 99 % of the cells do not exceed.
    pub p99: f64,
    /// The largest one.
    pub max: f64,
}

impl Courant {
    /// Of steps of the length `dt` in a field on a grid or a mesh, at a time, over 20,000 cells at most; `None` for other fields, those whose
    /// frames are read during the run, and where nothing moves.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if the frames cannot be read, and [`Error::Execution`] if the device fails.
    pub fn of(field: &dyn Field, time: f64, dt: f64) -> Result<Option<Courant>> {
        let in_memory = field.sampled().filter(|sampled| sampled.stream.is_none());
        let Some(cells) = in_memory.map(|sampled| cells(field, sampled)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        let positions: Vec<f64> = cells.iter().flat_map(|[middle, _]| *middle).collect();
        let positions = field.precision().data(positions, [cells.len(), 3]);
        let beside = (&crate::device::plain(&field.device()), field.precision().dtype());
        let positions = Tensor::<2>::from_data(positions, beside);
        let time = field.times().map_or(time, |[first, last]| time.clamp(first, last));
        let values = evaluate::samples(field, positions, time)?.narrow(1, 0, 3);
        let values =
            values.try_into_data().map_err(|error| Error::Execution(format!("{error:?}")))?;
        let velocities = values.convert::<f64>().try_into_vec::<f64>();
        let velocities = velocities.map_err(|error| Error::Execution(format!("{error:?}")))?;
        let radius = field.sampled().and_then(Sampled::radius);
        let number = |([middle, size], velocity): (&[[f64; 3]; 2], &[f64])| {
            let metres = radius.map_or([1.0; 3], |radius| scales(radius, *middle));
            let along = |d: usize| (velocity[d] * dt / (size[d] * metres[d])).abs();
            (0..3).filter(|d| size[*d] > 0.0).map(along).fold(0.0, f64::max)
        };
        let numbers = cells.iter().zip(velocities.chunks_exact(3)).map(number);
        Ok(Courant::over(numbers.filter(|number| number.is_finite()).collect()))
    }

    fn over(mut numbers: Vec<f64>) -> Option<Courant> {
        numbers.sort_unstable_by(f64::total_cmp);
        let max = *numbers.last()?;
        let at = |part: f64| numbers[(part * (numbers.len() - 1) as f64) as usize];
        (max > 0.0).then(|| Courant { median: at(0.5), p99: at(0.99), max })
    }
}

/// The middles and the sizes of some cells, in the data's coordinates; the size along a flat axis is 0.
fn cells(field: &dyn Field, sampled: &Sampled) -> Result<Option<Vec<[[f64; 3]; 2]>>> {
    if let FieldShape::Grid(shape) = &sampled.tensors.shape {
        return Ok(Some(of_grid(&axes(sampled, shape)?)));
    }
    let Some(mesh) = field.mesh() else { return Ok(None) };
    let (boxes, origin, flat) = (mesh.boxes(), mesh.origin(), mesh.flat_axis());
    let cell = |number: usize| {
        let bounds = boxes[number];
        let middle = |d: usize| origin[d] + 0.5 * (bounds.low[d] + bounds.high[d]);
        let size = |d: usize| if Some(d) == flat { 0.0 } else { bounds.high[d] - bounds.low[d] };
        [std::array::from_fn(middle), std::array::from_fn(size)]
    };
    let some = evenly(boxes.len()).filter(|number| !boxes[*number].is_empty());
    Ok(Some(some.map(cell).collect()))
}

/// The coordinates of nodes along each axis.
pub(super) fn axes(sampled: &Sampled, shape: &GridShape) -> Result<[Vec<f64>; 3]> {
    let even =
        |d: usize| (0..shape.nodes[d]).map(move |i| shape.origin[d] + i as f64 * shape.pitch[d]);
    let measured: [Vec<f64>; 3] = match shape.spacing {
        Spacing::Uniform => std::array::from_fn(|d| even(d).collect()),
        Spacing::Table => {
            let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
            let data: TensorData = sampled
                .tensors
                .coordinates
                .clone()
                .try_into_data()
                .map_err(|error| failed(&error))?;
            let all =
                data.convert::<f64>().try_into_vec::<f64>().map_err(|error| failed(&error))?;
            let mut rest = all.into_iter();
            shape.nodes.map(|count| rest.by_ref().take(count).collect())
        }
    };
    Ok(std::array::from_fn(|d| measured[d].iter().map(|x| x + sampled.origin[d]).collect()))
}

fn of_grid(axes: &[Vec<f64>; 3]) -> Vec<[[f64; 3]; 2]> {
    let counts = axes.each_ref().map(|axis| axis.len().saturating_sub(1).max(1));
    let cell = |number: usize| {
        let [nx, ny, _] = counts;
        let at = [number % nx, number / nx % ny, number / (nx * ny)];
        let ends = |d: usize| [at[d], at[d] + 1].map(|i| axes[d][i.min(axes[d].len() - 1)]);
        let middle = |d: usize| ends(d).iter().sum::<f64>() / 2.0;
        let size = |d: usize| ends(d)[1] - ends(d)[0];
        [std::array::from_fn(middle), std::array::from_fn(size)]
    };
    evenly(counts.iter().product()).map(cell).collect()
}

/// Numbers below a count, evenly spaced.
fn evenly(count: usize) -> impl Iterator<Item = usize> {
    let some = count.min(CELLS);
    (0..some).map(move |k| (k as u128 * count as u128 / some as u128) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_a_grid_have_their_middles_and_sizes() {
        let axes = [vec![0.0, 1.0, 3.0], vec![5.0], vec![-1.0, 0.0]];
        assert_eq!(
            of_grid(&axes),
            [[[0.5, 5.0, -0.5], [1.0, 0.0, 1.0]], [[2.0, 5.0, -0.5], [2.0, 0.0, 1.0]]]
        );
        let numbers: Vec<usize> = evenly(3 * CELLS).collect();
        assert_eq!((numbers.len(), numbers[1], numbers[CELLS - 1]), (CELLS, 3, 3 * CELLS - 3));
        let number = Courant::over((0..=1000).map(f64::from).collect()).unwrap();
        assert_eq!(number, Courant { median: 500.0, p99: 990.0, max: 1000.0 });
        assert_eq!(Courant::over(vec![0.0; 3]), None);
    }
}
