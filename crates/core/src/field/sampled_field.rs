//! The implementation of `Field`, which is the same for all sampled fields.

/// Implements [`Field`](super::Field) for a type with a field `sampled` and the methods
/// `locate_all` and `read`; a function returns what else it has, of a mesh.
macro_rules! sampled_field {
    ($field:ty) => {
        $crate::field::sampled_field::sampled_field!(
            $field,
            |_| $crate::field::Internals::default()
        );
    };
    ($field:ty, $of_mesh:expr) => {
        const _: () = {
            use $crate::field::FromOrigin;

            impl $crate::Field for $field {
                fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
                    self.velocity_from_origin(self.sampled.measured(position), &[time])
                }

                fn velocity_at(&self, position: Tensor<2>, times: &[f64]) -> Option<Tensor<2>> {
                    Some(self.velocity_from_origin(self.sampled.measured(position), times))
                }

                fn diffusivity(&self, position: Tensor<2>, time: f64) -> Option<Tensor<2>> {
                    let has_diffusivity = self.sampled.traits.has_diffusivity;
                    let measured = || self.sampled.measured(position);
                    has_diffusivity.then(|| self.diffusivity_from_origin(measured(), time))
                }

                fn has_diffusivity(&self) -> bool {
                    self.sampled.traits.has_diffusivity
                }

                fn sample(
                    &self,
                    position: Tensor<2>,
                    time: f64,
                ) -> $crate::Result<$crate::Samples> {
                    let values = $crate::field::evaluate::samples(self, position, time)?;
                    Ok(self.sampled.lanes.samples(values))
                }

                fn domain(&self) -> $crate::Domain {
                    self.sampled.domain
                }

                fn device(&self) -> burn::tensor::Device {
                    self.sampled.device.clone()
                }

                fn precision(&self) -> $crate::Precision {
                    self.sampled.precision
                }

                fn times(&self) -> Option<[f64; 2]> {
                    self.sampled.time.range()
                }

                fn span(&self) -> [f64; 2] {
                    self.sampled.time.ends()
                }

                fn internals(&self, _: $crate::field::Sealed) -> $crate::field::Internals<'_> {
                    $crate::field::Internals {
                        sampled: Some(&self.sampled),
                        from_origin: Some(self),
                        ..($of_mesh)(self)
                    }
                }

                fn to_device(
                    &self,
                    device: &burn::tensor::Device,
                ) -> $crate::Result<Box<dyn $crate::Field>> {
                    let sampled = self.sampled.to_device(device)?;
                    Ok(Box::new(Self { sampled, ..self.clone() }))
                }
            }

            impl FromOrigin for $field {
                fn velocity_from_origin(&self, position: Tensor<2>, times: &[f64]) -> Tensor<2> {
                    let cells = self.locate_all(position.clone());
                    let read = |frame| self.read((frame, 0), &cells);
                    let velocity = self.sampled.at_times(times, 0, read);
                    self.sampled.along_axes(&position, velocity).narrow(1, 0, 3)
                }

                fn scaled_from_origin(
                    &self,
                    position: Tensor<2>,
                    times: &[f64],
                ) -> Option<Tensor<2>> {
                    let group = self.sampled.lanes.scaled_group()?;
                    let cells = self.locate_all(position.clone());
                    // Read as the first velocity is.
                    let read = |frame| self.read((frame, 0), &cells);
                    let velocity = self.sampled.at_times(times, group, read);
                    Some(self.sampled.along_axes(&position, velocity).narrow(1, 0, 3))
                }

                fn diffusivity_from_origin(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
                    let cells = self.locate_all(position);
                    let group = self.sampled.lanes.diffusivity_group();
                    let read = |frame| self.read((frame, group), &cells);
                    self.sampled.at_times(&[time], group, read).narrow(1, 3, 1)
                }

                fn values_from_origin(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
                    let cells = self.locate_all(position.clone());
                    let group = |group| {
                        let read = |frame| self.read((frame, group), &cells);
                        let values = self.sampled.at_times(&[time], group, read);
                        match group {
                            0 => self.sampled.along_axes(&position, values),
                            _ => values,
                        }
                    };
                    Tensor::cat((0..self.sampled.tensors.groups).map(group).collect(), 1)
                }

                fn contains_from_origin(&self, position: &Tensor<2>) -> Tensor<2, Bool> {
                    self.contains(position)
                }

                fn source_values(&self) -> $crate::Result<Tensor<3>> {
                    self.values()
                }

                fn with_source_values(
                    &self,
                    values: Tensor<3>,
                ) -> $crate::Result<Box<dyn $crate::Field>> {
                    Ok(Box::new(self.with_values(values)?))
                }
            }
        };
    };
}
pub(super) use sampled_field;
