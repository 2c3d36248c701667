//! Grids that are periodic in space: closed by another layer of nodes, or checked.

use super::{
    AXES,
    source::{FrameData, FrameSource, GridSource, SourceError, describe_as},
};
use crate::{Error, Floats, Result};
use burntrace_kernels::Placement;

/// What is known of an axis of a grid with values at the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PeriodicAxis {
    /// The axis need not be periodic.
    #[default]
    Open,
    /// The last layer of nodes repeats the first one, a period later. Frames in which they differ are
    /// refused.
    Repeated,
    /// The last layer of nodes is the last before the period ends, as in spectral simulations. An
    /// interval from there to the first layer closes the axis: one spacing of an evenly spaced axis, or
    /// what is left of the period. Frames that repeat the first layer already are refused, unless the period says that
    /// there is another one.
    Closed {
        /// The period, in the data's unit of length; needed for an axis that is not evenly spaced.
        period: Option<f64>,
    },
}

/// A grid whose periodic axes are closed, or checked to be.
///
/// ```
/// # use burntrace_core::{Analytic, Domain, Error, Flow, GridSource, PeriodicAxis, PeriodicGrid};
/// # fn main() -> Result<(), Error> {
/// # let flow = Flow::named("abc").expect("a built-in flow");
/// # let domain = Domain::new([0.0; 3], [0.875; 3])?;
/// # let source = Analytic::sample(flow, domain, [8; 3], vec![0.0])?;
/// // Nodes at 0, 0.125, ..., 0.875.
/// let axes = [PeriodicAxis::Closed { period: None }, PeriodicAxis::Open, PeriodicAxis::Open];
/// let grid = PeriodicGrid::new(source, axes)?;
/// assert_eq!(grid.axes()[0].last(), Some(&1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PeriodicGrid<S> {
    source: S,
    known: [PeriodicAxis; 3],
    /// Values of the source along each axis.
    given: [usize; 3],
    axes: [Vec<f64>; 3],
    /// The index in the source of each value of a frame, x fastest; `None` if no axis is closed.
    order: Option<Vec<usize>>,
}

/// Largest difference of the outer layers, relative to the largest velocity component of a frame.
const SLACK: f64 = 1e-5;
/// Largest difference of a last layer that repeats the first one, relative to that of the first two layers.
const NEAR: f64 = 1e-2;

impl<S: GridSource> PeriodicGrid<S> {
    /// Closes the axes of a source.
    ///
    /// # Errors
    ///
    /// [`Error::PeriodicAxis`] for an axis with a single node, an uneven axis without a period, a period
    /// that ends before the last node, and for velocities in cells, which fill the period already.
    pub fn new(source: S, known: [PeriodicAxis; 3]) -> Result<Self> {
        let mut axes = source.axes().clone();
        let given = axes.each_ref().map(Vec::len);
        for (d, of_axis) in known.iter().enumerate() {
            let PeriodicAxis::Closed { period } = of_axis else { continue };
            let fail = |reason: &str| {
                Err(Error::PeriodicAxis { axis: AXES[d], reason: reason.to_owned() })
            };
            if source.placement() == Placement::Cells {
                return fail("its velocities are in cells, which fill the period; omit the axis");
            }
            let [first, second, .., last] = axes[d][..] else {
                return fail("it has fewer than three nodes; omit the axis");
            };
            let spacing = (last - first) / (given[d] - 1) as f64;
            let off = |i: usize| (axes[d][i] - first - i as f64 * spacing).abs();
            let is_even = (0..given[d]).all(|i| off(i) <= 1e-6 * (second - first).abs());
            let end = match period {
                _ if is_even => last + spacing,
                None => {
                    return fail(
                        "its nodes are not evenly spaced; give the period as the extent of the domain",
                    );
                }
                Some(period) => first + period,
            };
            // Negated, to refuse NaN too.
            if end.partial_cmp(&last) != Some(std::cmp::Ordering::Greater) {
                return fail(&format!(
                    "its period ends at {end}, before its last node at {last}; give a longer period"
                ));
            }
            axes[d].push(end);
        }
        let counts = axes.each_ref().map(Vec::len);
        let order = (counts != given).then(|| order(given, counts));
        Ok(PeriodicGrid { source, known, given, axes, order })
    }

    /// A frame of the source with its axes closed.
    fn closed(&self, data: FrameData) -> std::result::Result<FrameData, SourceError> {
        let [nx, ny, nz] = self.given;
        let values = nx * ny * nz;
        let components = self.source.arrays().iter().map(|array| array.components);
        let mut arrays = data.arrays.iter().zip(components);
        let has_numbers = data.velocity.len()
            == 3 * values * usize::from(self.source.has_velocity())
            && arrays.all(|(array, components)| array.len() == components * values)
            && data.scaled_velocity.as_ref().is_none_or(|numbers| numbers.len() == 3 * values);
        // A wrong number is refused by the field.
        if self.source.placement() == Placement::Cells || !has_numbers {
            return Ok(data);
        }
        for d in 0..3 {
            match self.known[d] {
                PeriodicAxis::Open => {}
                PeriodicAxis::Repeated => self.check_repeated(&data.velocity, d)?,
                PeriodicAxis::Closed { period } => {
                    self.check_lacking(&data.velocity, (d, period))?
                }
            }
        }
        let Some(order) = &self.order else { return Ok(data) };
        let components = self.source.arrays().iter().map(|array| array.components);
        let arrays = data.arrays.iter().zip(components);
        let arrays = arrays.map(|(array, components)| taken(array, order, components)).collect();
        let velocity = match self.source.has_velocity() {
            true => taken(&data.velocity, order, 3),
            false => data.velocity,
        };
        let diffusivity = data.diffusivity.as_ref().map(|numbers| taken(numbers, order, 1));
        let scaled = data.scaled_velocity.as_ref().map(|numbers| taken(numbers, order, 3));
        let hidden = data.hidden.map(|hidden| order.iter().map(|i| hidden[*i]).collect());
        let closed = FrameData::new(velocity).with_diffusivity(diffusivity).with_hidden(hidden);
        Ok(closed.with_scaled_velocity(scaled).with_arrays(arrays))
    }

    /// The largest difference of the velocity in the first and in another layer along an axis.
    fn apart(&self, velocity: &Floats, d: usize, layer: usize) -> f64 {
        let stride: usize = self.given[..d].iter().product();
        let (block, across) = (stride * self.given[d], stride * layer);
        let first_layer = (0..velocity.len() / 3)
            .step_by(block)
            .flat_map(|start| 3 * start..3 * (start + stride));
        let apart = |i: usize| match (velocity.get(i), velocity.get(i + 3 * across)) {
            (a, b) if a.is_nan() && b.is_nan() => 0.0,
            (a, b) if a.is_nan() || b.is_nan() => f64::INFINITY,
            (a, b) => (a - b).abs(),
        };
        first_layer.map(apart).fold(0.0, f64::max)
    }

    /// Refuses a frame whose outer layers differ along an axis.
    fn check_repeated(&self, velocity: &Floats, d: usize) -> std::result::Result<(), SourceError> {
        let worst = self.apart(velocity, d, self.given[d] - 1);
        if worst == 0.0 || worst <= SLACK * largest(velocity) {
            return Ok(());
        }
        let axis = AXES[d];
        Err(format!(
            "the first and the last layer of nodes along {axis} differ by up to {worst:.3e}, but the \
             faces are periodic: the last layer must repeat the first one, a period later; if the data \
             leave the repeated layer out, give `field.periodic_axes = [\"{axis}\"]`"
        )
        .into())
    }

    /// Refuses a frame whose last layer repeats the first one along an axis to which another layer is added, unless
    /// the period tells that there is one. The first two layers differ then.
    fn check_lacking(
        &self,
        velocity: &Floats,
        (d, period): (usize, Option<f64>),
    ) -> std::result::Result<(), SourceError> {
        let [first, .., last, end] = self.axes[d][..] else { return Ok(()) };
        let is_confirmed = period.is_some_and(|period| 2.0 * (first + period) >= last + end);
        if is_confirmed {
            return Ok(());
        }
        let [outer, inner] = [self.given[d] - 1, 1].map(|layer| self.apart(velocity, d, layer));
        if inner == 0.0 || outer > NEAR * inner || outer > SLACK * largest(velocity) {
            return Ok(());
        }
        let axis = AXES[d];
        Err(format!(
            "the last layer of nodes along {axis}, at {last}, repeats the first one, at {first}, and another one at \
             {end} is to close the axis; if the data have that layer already, omit \"{axis}\" from the axes to close \
             (`PeriodicAxis::Closed`); if the layers are equal by chance, confirm with `period` that the axis extends \
             from {first} to {end}"
        )
        .into())
    }
}

/// The largest velocity component.
fn largest(velocity: &Floats) -> f64 {
    (0..velocity.len()).map(|i| velocity.get(i).abs()).fold(0.0, f64::max)
}

/// The index in a source with `given` values along each axis of each of `counts` values, x fastest.
fn order([nx, ny, nz]: [usize; 3], [xs, ys, zs]: [usize; 3]) -> Vec<usize> {
    let nodes = (0..zs).flat_map(move |k| (0..ys).map(move |j| (j, k)));
    nodes
        .flat_map(move |(j, k)| (0..xs).map(move |i| ((k % nz) * ny + j % ny) * nx + i % nx))
        .collect()
}

/// The rows of an array by their indices.
fn taken(numbers: &Floats, order: &[usize], width: usize) -> Floats {
    let of_row = |row: usize| (0..width).map(move |c| width * row + c);
    Floats::from_f64(
        numbers.precision(),
        order
            .iter()
            .copied()
            .flat_map(of_row)
            .map(|i| if i < numbers.len() { numbers.get(i) } else { 0.0 }),
    )
}

impl<S: GridSource> FrameSource for PeriodicGrid<S> {
    describe_as!(self => self.source);

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let data = self.source.read(frame)?;
        self.closed(data)
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let all = self.source.read_many(frames);
        all.into_iter().map(|data| self.closed(data?)).collect()
    }
}

impl<S: GridSource> GridSource for PeriodicGrid<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes, the first of which is hidden.
    struct Row([Vec<f64>; 3]);

    impl FrameSource for Row {
        fn times(&self) -> &[f64] {
            &[0.0]
        }

        fn read(&mut self, _: usize) -> std::result::Result<FrameData, SourceError> {
            let velocity = Floats::F64((0..9).map(f64::from).collect());
            let diffusivity = Floats::F64(vec![0.25, 0.5, 0.75]);
            let data = FrameData::new(velocity).with_diffusivity(diffusivity);
            Ok(data.with_hidden(vec![true, false, false]))
        }
    }

    impl GridSource for Row {
        fn axes(&self) -> &[Vec<f64>; 3] {
            &self.0
        }

        fn placement(&self) -> Placement {
            Placement::Nodes
        }
    }

    #[test]
    fn layer_that_is_there_already_is_not_added_unless_the_period_has_room() {
        let row = || Row([vec![0.0, 1.0, 2.0], vec![0.0], vec![0.0]]);
        let known =
            |period| [PeriodicAxis::Closed { period }, PeriodicAxis::Open, PeriodicAxis::Open];
        let grid = |period| PeriodicGrid::new(row(), known(period)).unwrap();
        let check = |values: [f64; 3], period| {
            let velocity = Floats::F64(values.iter().flat_map(|u| [*u, 0.0, 0.0]).collect());
            grid(period).check_lacking(&velocity, (0, period)).map_err(|error| error.to_string())
        };
        for period in [None, Some(2.0)] {
            let error = check([1.0, 2.0, 1.0], period).unwrap_err();
            assert!(
                error.contains("along x, at 2, repeats") && error.contains("from 0 to 3"),
                "{error}"
            );
        }
        assert!(check([1.0, 2.0, 1.0], Some(3.0)).is_ok() && check([1.0, 2.0, 1.1], None).is_ok());
        assert!(check([1.0; 3], None).is_ok());
    }

    #[test]
    fn added_layer_has_everything_of_the_first_one() {
        let row = Row([vec![0.0, 1.0, 2.0], vec![0.0], vec![0.0]]);
        let known = [PeriodicAxis::Closed { period: None }, PeriodicAxis::Open, PeriodicAxis::Open];
        let data = PeriodicGrid::new(row, known).unwrap().read(0).unwrap();
        assert_eq!(data.hidden, Some(vec![true, false, false, true]));
        assert_eq!(data.diffusivity, Some(Floats::F64(vec![0.25, 0.5, 0.75, 0.25])));
        let velocity: Vec<f64> = (3..12).map(|i| data.velocity.get(i)).collect();
        assert_eq!(velocity[..6], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert!(velocity[6..].iter().all(|v| v.is_nan()));
    }
}
