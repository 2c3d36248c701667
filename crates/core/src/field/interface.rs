//! The trait of velocity fields.

use super::{arrays::Samples, domain::Domain, formula::Formula, sampled::Sampled};
use crate::{Error, Precision, Result, mesh::Mesh};
use burn::tensor::{Bool, Device, Tensor};
use burntrace_kernels::FormulaStart;
use std::sync::Arc;

/// A velocity field that a tracer can follow.
///
/// Implement this trait, or pass a closure to [`FieldFn`](crate::FieldFn), to trace a field of your
/// own, for example a formula or a neural network, on any device and with gradients. Formulas
/// ([`Analytic`](crate::Analytic)), [`GridField`](crate::GridField), [`MeshField`](crate::MeshField) and
/// [`PointField`](crate::PointField) are traced by a fused operation, which is much faster.
///
/// Fields are `Send` and `Sync`, so that a tracer can move to another thread.
pub trait Field: Send + Sync {
    /// Velocity `[n, 3]` at positions `[n, 3]` and one time, in the data's units. Positions are in
    /// the domain or outside it by at most the displacement of one step; on periodic axes they can
    /// be anywhere. On a flat axis the component is zero.
    ///
    /// The velocity of a row must be a function of its position and the time only. A run
    /// asks for the particles that move, and for one position when a run is prepared, so `n` and the
    /// order of the rows change from call to call. A particle that has ended cannot make values or
    /// gradients of others NaN. Values in another shape, precision or device than the positions'
    /// end the run with [`Error::Field`](crate::Error::Field).
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2>;

    /// Velocity `[n, 3]` at positions `[n, 3]` and a time for each of them; `None` (the default) to
    /// be asked for the [velocity](Field::velocity) at each of the different times.
    ///
    /// With a [tolerance](crate::Tracer::tolerance), particles take steps of their own and ask at
    /// different times. Implement this method if the velocity does not depend on time, or can be
    /// evaluated at many times at once: one call then replaces up to one for each particle.
    fn velocity_at(&self, position: Tensor<2>, times: &[f64]) -> Option<Tensor<2>> {
        let _ = (position, times);
        None
    }

    /// Diffusivity `[n, 1]` at positions `[n, 3]` and one time, in the data's unit of length
    /// squared per unit of time; `None` if the field has no diffusivity.
    fn diffusivity(&self, position: Tensor<2>, time: f64) -> Option<Tensor<2>> {
        let _ = (position, time);
        None
    }

    /// Whether the field has a [diffusivity](Field::diffusivity).
    fn has_diffusivity(&self) -> bool {
        false
    }

    /// The velocity, and the [arrays](crate::FrameSource::arrays) of a field on a grid, a mesh or
    /// points, at positions `[n, 3]` and one time, in the data's units. Such a field is sampled by the
    /// fused operation, on a device that tracks gradients by tensor operations; NaN outside the field
    /// and in holes.
    ///
    /// # Errors
    ///
    /// Of fields on grids, meshes and points: [`Error::OutsideTime`](crate::Error::OutsideTime) if the
    /// field is not known at the time, [`Error::Arrays`](crate::Error::Arrays) for positions in another
    /// shape, precision or device, and [`Error::Source`](crate::Error::Source) if a frame cannot be
    /// read.
    fn sample(&self, position: Tensor<2>, time: f64) -> Result<Samples> {
        let velocity = Some(self.velocity(position, time));
        Ok(Samples { velocity, arrays: Vec::new() })
    }

    /// The domain box of the field.
    fn domain(&self) -> Domain;

    /// The device that evaluates the field.
    fn device(&self) -> Device;

    /// The precision of the field's arithmetic.
    fn precision(&self) -> Precision;

    /// The same field on another device, to trace [pieces](crate::Prepared::piece) of a run on several devices.
    /// Frames are not read again; frames that are streamed are read once for the devices that need them at
    /// about the same time. The copy has no part in a graph of gradients.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] by default, for fields of one's own: make one for each device.
    /// [`Error::Precision`] if the device lacks the precision, and [`Error::Execution`] if a device fails.
    fn to_device(&self, device: &Device) -> Result<Box<dyn Field>> {
        Err(Error::Plan(format!(
            "the field is on {:?} and cannot be copied to {device:?}, as it is one of your own; make one for \
             each device, or implement `Field::to_device`",
            self.device()
        )))
    }

    /// First and last time at which the field is known; `None` if there is no limit.
    fn times(&self) -> Option<[f64; 2]> {
        None
    }

    /// Default start and end time of a run: the times of the first and the last frame.
    fn span(&self) -> [f64; 2] {
        [0.0, 0.0]
    }

    /// What engines know about the fields of this crate. Fields of one's own cannot implement it.
    #[doc(hidden)]
    fn internals(&self, _: Sealed) -> Internals<'_> {
        Internals::default()
    }
}

/// Keeps [`Field::internals`] to this crate: nobody else can name it.
pub struct Sealed;

/// What engines know about a field of this crate.
#[derive(Clone, Copy, Default)]
pub struct Internals<'a> {
    /// The sampled frames on the device, if the fused engine can trace the field.
    pub sampled: Option<&'a Sampled>,
    /// The values of a sampled field at positions measured from its origin.
    pub from_origin: Option<&'a dyn FromOrigin>,
    /// The formula of the velocity at positions measured from the field's origin.
    pub formula: Option<&'a Formula>,
    /// The mesh of the field, if it does not fill the domain.
    pub mesh: Option<&'a Arc<Mesh>>,
    /// The index that the field's source gives to each cell of the mesh.
    pub source_cells: Option<&'a [usize]>,
}

#[doc(hidden)]
impl dyn Field + '_ {
    pub fn sampled(&self) -> Option<&Sampled> {
        self.internals(Sealed).sampled
    }

    pub fn mesh(&self) -> Option<&Arc<Mesh>> {
        self.internals(Sealed).mesh
    }

    /// Velocities `[frames, values, 3]` of a field on a grid, a mesh or points, as
    /// [`GridField::values`](crate::GridField::values); `None` for others.
    pub fn values(&self) -> Option<Result<Tensor<3>>> {
        self.internals(Sealed).from_origin.map(FromOrigin::source_values)
    }

    /// The field with other velocities, as [`GridField::with_values`](crate::GridField::with_values); `None` for fields that have no
    /// [values](Self::values).
    pub fn with_values(&self, values: Tensor<3>) -> Option<Result<Box<dyn Field>>> {
        self.internals(Sealed).from_origin.map(|field| field.with_source_values(values))
    }

    pub(crate) fn origin_view(&self) -> Option<&dyn FromOrigin> {
        self.internals(Sealed).from_origin
    }

    /// Velocity `[n, 3]` at positions `[n, 3]` measured from the field's origin, and one time, or a time for each
    /// position; `None` if the field knows the data's coordinates only.
    pub(crate) fn velocity_from_origin(
        &self,
        position: &Tensor<2>,
        times: &[f64],
    ) -> Option<Tensor<2>> {
        let Internals { from_origin, formula, .. } = self.internals(Sealed);
        let sampled = || Some(from_origin?.velocity_from_origin(position.clone(), times));
        formula.map(|formula| formula.velocity_at(position, times)).or_else(sampled)
    }

    /// What the fused engine takes from the time of a launch, of a formula.
    pub(crate) fn formula_start(&self, time: f64) -> Option<FormulaStart> {
        self.internals(Sealed).formula.map(|formula| formula.start(time))
    }

    pub(crate) fn source_cell(&self, cell: usize) -> usize {
        self.internals(Sealed).source_cells.map_or(cell, |cells| cells[cell])
    }
}

/// The values of a sampled field at positions measured from its origin, which loses nothing far from
/// 0 in single precision.
pub trait FromOrigin {
    /// Velocity `[n, 3]` at positions `[n, 3]` and one time, or a time for each position.
    fn velocity_from_origin(&self, position: Tensor<2>, times: &[f64]) -> Tensor<2>;

    /// The second velocity `[n, 3]` at positions `[n, 3]` and one time, or a time for each position; `None` of a field without one.
    fn scaled_from_origin(&self, position: Tensor<2>, times: &[f64]) -> Option<Tensor<2>>;

    /// Diffusivity `[n, 1]` at positions `[n, 3]` and one time.
    fn diffusivity_from_origin(&self, position: Tensor<2>, time: f64) -> Tensor<2>;

    /// All groups of values `[n, groups x 4]` at positions `[n, 3]` and one time.
    fn values_from_origin(&self, position: Tensor<2>, time: f64) -> Tensor<2>;

    /// Mask of the positions `[n, 3]` in the field `[n, 1]`.
    fn contains_from_origin(&self, position: &Tensor<2>) -> Tensor<2, Bool>;

    /// Velocities `[frames, values, 3]` in the order of the source.
    fn source_values(&self) -> Result<Tensor<3>>;

    /// The field with other velocities `[frames, values, 3]`.
    fn with_source_values(&self, values: Tensor<3>) -> Result<Box<dyn Field>>;
}

/// The point from which a run in a field measures positions.
pub(crate) fn origin(field: &dyn Field) -> [f64; 3] {
    let of_mesh = || field.mesh().map(|mesh| mesh.origin());
    field.sampled().map(|sampled| sampled.origin).or_else(of_mesh).unwrap_or_default()
}
