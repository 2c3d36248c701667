//! Velocity as a function of place and time.

mod analytic;
mod flows;
pub(crate) mod frames;
mod function;
mod grid;
mod layout;
mod mesh;
mod points;
mod sampled;
mod source;
mod stream;

pub use analytic::{Analytic, FlowFrames};
pub use flows::Flow;
pub use frames::{Frames, OutsideTime};
pub use function::FieldFn;
pub use grid::GridField;
pub(crate) use mesh::to_host;
pub use mesh::{CellVelocity, MeshField};
pub use points::PointField;
pub(crate) use sampled::FrameWindow;
pub use sampled::{FieldOptions, NotFinite, Sampled};
pub use source::{FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError};
pub use stream::InputSummary;

use crate::{Error, Precision, Result, mesh::Mesh};
use burn::tensor::{Device, Tensor};

/// A velocity field: what a tracer follows.
///
/// Write this trait, or give a closure to [`FieldFn`], to trace a field of your own: a formula, a
/// neural network. It is traced by tensor operations, on any device, and can be differentiated.
/// A [`GridField`], a [`MeshField`] and a [`PointField`] are traced by the fused operation.
///
/// Fields are `Send` and `Sync`, so that a tracer can move to another thread.
pub trait Field: Send + Sync {
    /// Velocity `[n, 3]` at positions `[n, 3]`, at one time; lengths and times in the data's
    /// units. It is asked within the domain and a little beyond it, by no more than a step's
    /// way, except on periodic axes. On a flat axis the component is zero.
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2>;

    /// Diffusivity `[n, 1]` at positions `[n, 3]`, at one time, in the data's unit of length squared
    /// per unit of time; `None` where the field has none of its own.
    fn diffusivity(&self, position: Tensor<2>, time: f64) -> Option<Tensor<2>> {
        let _ = (position, time);
        None
    }

    /// Whether the field has a [diffusivity](Field::diffusivity) of its own.
    fn has_diffusivity(&self) -> bool {
        false
    }

    /// The box in which the field is known.
    fn domain(&self) -> Domain;

    /// The device that computes the field.
    fn device(&self) -> Device;

    /// The precision in which it is computed.
    fn precision(&self) -> Precision;

    /// The first and the last time at which the field is known; `None` where it always is.
    fn times(&self) -> Option<[f64; 2]> {
        None
    }

    /// Where a run begins and ends if its case does not say: the times of the first and the last
    /// frame.
    fn span(&self) -> [f64; 2] {
        [0.0, 0.0]
    }

    /// The mesh in which the field is known, where that does not fill the domain. Particles that
    /// leave it end, or meet its walls.
    fn mesh(&self) -> Option<&Mesh> {
        None
    }

    /// The number that the source of the field's mesh gives to a cell.
    fn source_cell(&self, cell: usize) -> usize {
        cell
    }

    /// The field's frames on its device, if the fused operation can follow it.
    fn sampled(&self) -> Option<&Sampled> {
        None
    }
}

/// A box with sides along the axes, in the data's unit of length.
///
/// An axis on which nothing moves is flat: `low == high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Its least corner.
    pub low: [f64; 3],
    /// Its greatest corner.
    pub high: [f64; 3],
}

impl Domain {
    /// A box between two corners; flat where they have a coordinate in common.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] where `low > high`, or a coordinate is not a number. Infinite sides are
    /// allowed.
    pub fn new(low: [f64; 3], high: [f64; 3]) -> Result<Self> {
        for d in 0..3 {
            // Written so that a coordinate that is not a number is refused too.
            if !matches!(low[d].partial_cmp(&high[d]), Some(order) if order.is_le()) {
                return Err(Error::Domain { axis: AXES[d], low: low[d], high: high[d] });
            }
        }
        Ok(Domain { low, high })
    }

    /// Everywhere.
    pub fn unbounded() -> Self {
        Domain { low: [f64::NEG_INFINITY; 3], high: [f64::INFINITY; 3] }
    }

    /// Whether nothing moves along an axis.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.low[axis] == self.high[axis]
    }

    /// Whether a point lies in the box. Flat axes do not count: positions keep what they have.
    pub fn contains(&self, p: [f64; 3]) -> bool {
        (0..3).all(|d| {
            self.is_flat(d) && p[d].is_finite() || self.low[d] <= p[d] && p[d] <= self.high[d]
        })
    }

    /// Lengths of the box's sides; 0 along flat axes.
    pub fn size(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.high[d] - self.low[d])
    }
}

/// Names of the axes.
pub(crate) const AXES: [char; 3] = ['x', 'y', 'z'];
