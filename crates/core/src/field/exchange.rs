//! The exchange of a field's velocities and diffusivities for those of tensors.

use super::{
    GridField, MeshField, PointField, evaluate, lanes::LANES, layout::ValueLayout, sampled::Sampled,
};
use crate::{Error, Result};
use burn::tensor::Tensor;

impl Sampled {
    /// The field with other velocities `[frames, values, 3]`, in the order of its source.
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for another shape, precision or device, and for a field that streams its frames,
    /// averages them, or has arrays or diffusivities beside the velocity.
    pub(crate) fn with_values(&self, values: Tensor<3>) -> Result<Sampled> {
        self.check_values(&values, [self.time.clock().frames, self.layout.given, 3])?;
        Ok(self.with_rows(values))
    }

    /// Fields with these velocities `[fields, frames, values, 3]`, one after another.
    ///
    /// # Errors
    ///
    /// As [`with_values`](Self::with_values), and for a field with holes.
    pub(crate) fn with_fields(&self, values: Tensor<4>) -> Result<Sampled> {
        let [fields, frames, given, components] = values.dims();
        let expected = [self.time.clock().frames, self.layout.given, 3];
        if fields == 0 || [frames, given, components] != expected {
            let [frames, count, _] = expected;
            return Err(Error::Arrays(format!(
                "the velocities are {:?}; give [fields, frames, values, 3] = [.., {frames}, {count}, 3]",
                values.dims()
            )));
        }
        if self.traits.has_holes {
            let problem =
                "the field has holes, and others of its shape would have other ones; fill them";
            return Err(Error::Arrays(problem.into()));
        }
        let all = [fields * frames, given, 3];
        let values = values.reshape(all);
        self.check_values(&values, all)?;
        Ok(self.with_rows(values))
    }

    /// The field with other diffusivities `[frames, values]`, in the order of its source.
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for another shape, precision or device, and for a field that streams its frames, averages them, has
    /// arrays or has no place for diffusivities.
    pub(crate) fn with_diffusivity(&self, diffusivity: Tensor<2>) -> Result<Sampled> {
        self.check_diffusivity(&diffusivity)?;
        let [frames, _] = diffusivity.dims();
        let diffusivity = match &self.layout.order {
            Some(order) => diffusivity.select(1, evaluate::indices(order.order(), &self.device)),
            None => diffusivity,
        };
        let size = self.tensors.rows_per_frame();
        let count = self.tensors.shape.values_per_frame();
        let first = self.lanes.diffusivity_group() * count;
        let velocity = &self.tensors.velocity;
        let rows = velocity.clone().narrow(0, 0, frames * size).reshape([frames, size, LANES]);
        let group = rows.clone().narrow(1, first, count).narrow(2, 0, LANES - 1);
        let group = Tensor::cat(vec![group, diffusivity.reshape([frames, count, 1])], 2);
        let mut groups = vec![rows.clone().narrow(1, 0, first.max(1)), group];
        if first == 0 {
            groups.remove(0);
        }
        let after = size - first - count;
        if after > 0 {
            groups.push(rows.narrow(1, first + count, after));
        }
        let rows = Tensor::cat(groups, 1).reshape([frames * size, LANES]);
        let padding = velocity.clone().narrow(0, frames * size, 1);
        let mut sampled = self.clone();
        sampled.tensors.velocity = Tensor::cat(vec![rows, padding], 0);
        sampled.traits.has_diffusivity = true;
        Ok(sampled)
    }

    /// The field with velocities `[frames, values, 3]` of one field or of several.
    fn with_rows(&self, values: Tensor<3>) -> Sampled {
        let [frames, given, _] = values.dims();
        let beside = (&values.device(), values.dtype());
        let ValueLayout { order, flat, stored, coast, .. } = &self.layout;
        let values = match coast {
            Some(coast) => coast.filled_tensor(values),
            None => values,
        };
        let mut values = match order {
            Some(order) => values.select(1, evaluate::indices(order.order(), beside.0)),
            None => values,
        };
        if flat.contains(&true) {
            let kept = flat.map(|is_flat| if is_flat { 0.0 } else { 1.0 });
            values = values * Tensor::<3>::from_data([[kept]], beside);
        }
        let count = order.as_ref().map_or(given, |order| order.order().len());
        let rows = match stored {
            Some(stored) => stored.rows(values),
            None => {
                let padding = Tensor::zeros([frames, count, 1], beside);
                Tensor::cat(vec![values, padding], 2)
            }
        };
        let rows = rows.reshape([frames * count, LANES]);
        let velocity = Tensor::cat(vec![rows, Tensor::zeros([1, LANES], beside)], 0);
        let mut sampled = self.clone();
        sampled.device = velocity.device();
        sampled.tensors.velocity = velocity;
        sampled
    }

    /// Velocities `[frames, values, 3]` in the order of the source.
    fn source_values(&self) -> Result<Tensor<3>> {
        self.check_plain()?;
        let frames = self.time.clock().frames;
        let count = self.tensors.rows_per_frame();
        let rows = self.tensors.velocity.clone().narrow(0, 0, frames * count);
        let rows = rows.reshape([frames, count, LANES]);
        let values = match &self.layout.stored {
            Some(stored) => stored.velocities(rows),
            None => rows.narrow(2, 0, 3),
        };
        let Some(order) = &self.layout.order else { return Ok(values) };
        // A last row for values that the field does not have.
        let beside = (&values.device(), values.dtype());
        let values = Tensor::cat(vec![values, Tensor::zeros([frames, 1, 3], beside)], 1);
        let mut places = vec![count; self.layout.given];
        let is_added = self.layout.stored.as_ref().and_then(|stored| stored.is_added());
        for (place, source) in order.order().iter().enumerate() {
            if !is_added.as_ref().is_some_and(|is_added| is_added(place)) {
                places[*source] = place;
            }
        }
        Ok(values.select(1, evaluate::indices(&places, beside.0)))
    }

    fn check_plain(&self) -> Result<()> {
        let problem = if self.stream.is_some() {
            "its frames are streamed; load all of them (`Frames::All`)"
        } else if self.fields() > 1 {
            "it is several fields; use the one from which they were made"
        } else if !self.layout.is_plain {
            "its velocities are averages of cells; give velocities at the points"
        } else if !self.lanes.arrays().is_empty()
            || self.traits.has_diffusivity
            || self.lanes.scaled_group().is_some()
            || !self.lanes.has_velocity
        {
            "it has other quantities than a velocity; load it from a source without them"
        } else {
            return Ok(());
        };
        Err(Error::Arrays(format!("the field has no velocities to exchange: {problem}")))
    }

    fn check_diffusivity(&self, diffusivity: &Tensor<2>) -> Result<()> {
        // On a sphere and on faces velocities fill their group.
        let has_place = self.traits.has_diffusivity || self.layout.stored.is_none();
        let problem = if self.stream.is_some() {
            "its frames are streamed; load all of them (`Frames::All`)"
        } else if self.fields() > 1 {
            "it is several fields; use the one from which they were made"
        } else if !self.lanes.arrays().is_empty() || !self.lanes.has_velocity {
            "it has arrays; load it from a source without them"
        } else if self.layout.given != self.tensors.shape.values_per_frame()
            && self.layout.order.is_none()
        {
            "its velocities are averages of cells; give velocities at the points"
        } else if !has_place {
            "its velocities have four numbers; load it from a source with a diffusivity, which is then exchanged"
        } else {
            let expected = [self.time.clock().frames, self.layout.given];
            let (dtype, found) = (self.precision.dtype(), diffusivity.dims());
            let is_here = diffusivity.device() == self.device;
            if found == expected && diffusivity.dtype() == dtype && is_here {
                return Ok(());
            }
            return Err(Error::Arrays(format!(
                "the diffusivities are {found:?} in {:?} on {:?}; give [frames, values] = {expected:?} in {dtype:?} \
                 on {:?}",
                diffusivity.dtype(),
                diffusivity.device(),
                self.device
            )));
        };
        Err(Error::Arrays(format!("the field has no diffusivities to exchange: {problem}")))
    }

    fn check_values(&self, values: &Tensor<3>, expected: [usize; 3]) -> Result<()> {
        self.check_plain()?;
        let (dtype, found) = (self.precision.dtype(), values.dims());
        let is_here = values.device() == self.device;
        if found == expected && values.dtype() == dtype && is_here {
            return Ok(());
        }
        Err(Error::Arrays(format!(
            "the velocities are {found:?} in {:?} on {:?}; give [frames, values, 3] = {expected:?} in \
             {dtype:?} on {:?}",
            values.dtype(),
            values.device(),
            self.device
        )))
    }
}

macro_rules! exchange {
    ($($field:ident)*) => {$(
        impl $field {
            /// The field with other velocities `[frames, values, 3]`, for example those of the next
            /// iteration; see [`GridField::from_tensor`]. Unlike there, velocities are not checked: a
            /// particle that comes to one that is not finite is lost.
            ///
            /// # Errors
            ///
            /// [`Error::Arrays`] for another shape, precision or device, and for a field with streamed
            /// frames, with other quantities than a velocity, or with velocities that are averages of cells.
            pub fn with_values(&self, values: Tensor<3>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_values(values)?;
                Ok(field)
            }

            /// Several fields of this one's shape and times, with the velocities `[fields, frames, values, 3]`: the members of an
            /// ensemble, or a batch of training data. A run in them is one run of as many seeds in each field: those of the first field,
            /// then those of the second, and so on. [`velocity`](crate::Field::velocity) and other samples outside of runs are those of the first.
            ///
            /// ```
            /// use burntrace_core::{FieldOptions, GridField, Seeds, Tracer};
            /// use burn::tensor::{Device, Tensor};
            ///
            /// # fn main() -> Result<(), burntrace_core::Error> {
            /// let axes = [vec![0.0, 4.0], vec![0.0, 1.0], vec![0.0]];
            /// let (device, options) = (Device::flex(), FieldOptions::default());
            /// let rest = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [0.0; 3])?;
            /// let speeds = Tensor::<4>::from_floats([[[[1.0, 0.0, 0.0]; 4]], [[[2.0, 0.0, 0.0]; 4]]], &device);
            /// let both = rest.with_fields(speeds)?;
            /// let seeds = Seeds::list(vec![[0.0, 0.5, 0.0], [0.0, 0.5, 0.0]])?;
            /// let tracks = Tracer::new(&both).span(0.0..=1.5).steps(10).trace(&seeds)?;
            /// let ends: Vec<f64> = tracks.positions().narrow(2, 0, 1).into_data().iter::<f64>().collect();
            /// assert!((ends[0] - 1.5).abs() < 1e-5 && (ends[1] - 3.0).abs() < 1e-5);
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As [`with_values`](Self::with_values), and for a field with holes.
            pub fn with_fields(&self, values: Tensor<4>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_fields(values)?;
                Ok(field)
            }

            /// The field with other diffusivities `[frames, values]`, in the data's length squared per time, for
            /// [walks](crate::RandomWalk::of_field) that vary. If the tensor tracks gradients, positions depend on it. Negative
            /// diffusivities count as 0. Call it after [`with_values`](Self::with_values), which takes velocities alone.
            ///
            /// # Errors
            ///
            /// [`Error::Arrays`] for another shape, precision or device, and for a field with streamed frames, with arrays, with
            /// velocities that are averages of cells, or whose velocities leave no place for a diffusivity.
            pub fn with_diffusivity(&self, diffusivity: Tensor<2>) -> Result<Self> {
                let mut field = self.clone();
                field.sampled = self.sampled.with_diffusivity(diffusivity)?;
                Ok(field)
            }

            /// The velocities `[frames, values, 3]`, in the order of the source. Those that the field does
            /// not use are zero: components along flat axes, and velocities of points of a mesh that are in
            /// no cell or at the place of another.
            ///
            /// # Errors
            ///
            /// As [`with_values`](Self::with_values).
            pub fn values(&self) -> Result<Tensor<3>> {
                self.sampled.source_values()
            }
        }
    )*};
}
exchange!(GridField MeshField PointField);
