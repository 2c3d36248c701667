//! Arrays that are sampled along the tracks.

use super::{
    Tracer,
    adjoint::{DIAMETER, FLOW_MAP_GRADIENT, FLUID_VELOCITY, MASS},
    fused, inertia,
    stepper::Stepper,
    tallies,
};
use crate::{
    Engine, Error, Field, FieldArray, Floats, Result, SampledArray, SavedTally, device,
    field::{LANES, evaluate, origin, origin_row},
    save_request::is_same,
    schedule::{Schedule, TimeSpan},
};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::{Particles, Segment, TANGENTS};

impl<'a> Tracer<'a> {
    /// Whether saves need values of the traced field.
    pub(super) fn samples_field(&self) -> bool {
        self.save.velocity || self.save.arrays.iter().any(|array| is_same(array.field, self.field))
    }

    /// Numbers that are sampled for each particle, and bytes of the fields that are sampled only.
    pub(super) fn sampled_size(&self) -> (usize, u64) {
        let mut fields: Vec<&dyn Field> = vec![self.field];
        let (mut components, mut bytes) = (0, 0);
        for SampledArray { name, field } in &self.save.arrays {
            let Some(sampled) = field.sampled() else { continue };
            components += sampled.lanes.find(name).map_or(0, |(_, components)| components);
            if !fields.iter().any(|known| is_same(*known, *field)) {
                fields.push(*field);
                bytes += sampled.bytes();
            }
        }
        components += if self.save.fluid_velocity { 3 } else { 0 };
        components += if self.save.sizes { 2 } else { 0 };
        components += self.save.tallies.len();
        (components, bytes)
    }
}

/// The values of saves: of the traced field, and of other fields.
pub(super) struct Sampler<'a> {
    velocity: bool,
    /// The arrays in the order of requests.
    arrays: Vec<FieldArray>,
    /// For each of them the number of its field, and its first place in the field's groups.
    places: Vec<(usize, usize)>,
    /// The fields, the traced one first. The gradient of the flow map has the number after the last one, the velocity of the
    /// fluid the next one, then the sizes of particles, then tallies.
    fields: Vec<&'a dyn Field>,
    /// Number of tallies that are saved.
    tallies: usize,
}

/// Values of a save at the particles of a block.
pub(super) struct Values {
    pub velocity: Option<Tensor<2>>,
    /// The numbers of all arrays `[n, numbers]`, if there are any.
    pub arrays: Option<Tensor<2>>,
}

impl<'a> Sampler<'a> {
    /// # Errors
    ///
    /// [`Error::Arrays`] for an array that its field does not have, two of one name, or a field on another
    /// device, in another precision or of other times than the run, or if the traced field has no velocity.
    pub fn new(tracer: &Tracer<'a>, schedule: &Schedule) -> Result<Self> {
        if tracer.field.sampled().is_some_and(|sampled| !sampled.lanes.has_velocity) {
            return Err(Error::Arrays(
                "the field has arrays and no velocity, so that no particle can be traced in it; sample it \
                 beside a field with a velocity (`Tracer::sample`)"
                    .into(),
            ));
        }
        let mut sampler = Sampler {
            velocity: tracer.save.velocity,
            arrays: Vec::new(),
            places: Vec::new(),
            fields: vec![tracer.field],
            tallies: 0,
        };
        for SampledArray { name, field } in &tracer.save.arrays {
            let fail = |problem: String| Error::Arrays(format!("`{name}`: {problem}"));
            if sampler.arrays.iter().any(|array| array.name == *name) {
                return Err(fail("it is sampled twice; sample it once, or rename one".into()));
            }
            let own = [
                (tracer.save.flow_map_gradient, FLOW_MAP_GRADIENT, "gradient of the flow map"),
                (tracer.save.fluid_velocity, FLUID_VELOCITY, "velocity of the fluid"),
                (tracer.save.sizes, DIAMETER, "diameter of the particles"),
                (tracer.save.sizes, MASS, "mass of the particles"),
            ];
            if let Some((.., what)) = own.iter().find(|(is, own, _)| *is && name == own) {
                return Err(fail(format!("the {what} has this name; rename it")));
            }
            let lanes = field.sampled().map(|sampled| &sampled.lanes);
            let Some((first, components)) = lanes.and_then(|lanes| lanes.find(name)) else {
                let known = lanes.map_or(&[][..], |lanes| lanes.arrays());
                return Err(fail(format!("its field has no such array; {}", listed(known))));
            };
            check_field(*field, tracer.field).map_err(fail)?;
            check_known(*field, &schedule.span).map_err(|error| fail(error.to_string()))?;
            let known = sampler.fields.iter().position(|known| is_same(*known, *field));
            let number = known.unwrap_or_else(|| {
                sampler.fields.push(*field);
                sampler.fields.len() - 1
            });
            sampler.arrays.push(FieldArray::new(name.clone(), components));
            sampler.places.push((number, first));
        }
        for SavedTally { name, .. } in &tracer.save.tallies {
            if sampler.arrays.iter().any(|array| array.name == *name) {
                return Err(Error::Arrays(format!(
                    "`{name}` is saved twice; save it once, or rename one"
                )));
            }
            sampler.places.push((sampler.fields.len() + 3, sampler.tallies));
            sampler.arrays.push(FieldArray::new(name.clone(), 1));
            sampler.tallies += 1;
        }
        if tracer.save.flow_map_gradient {
            sampler.arrays.push(FieldArray::new(FLOW_MAP_GRADIENT, TANGENTS));
            sampler.places.push((sampler.fields.len(), 0));
        }
        if tracer.save.fluid_velocity {
            sampler.arrays.push(FieldArray::new(FLUID_VELOCITY, 3));
            sampler.places.push((sampler.fields.len() + 1, 0));
        }
        if tracer.save.sizes {
            inertia::check_sizes(tracer)?;
            sampler.arrays.extend([DIAMETER, MASS].map(|name| FieldArray::new(name, 1)));
            sampler.places.extend([0, 1].map(|column| (sampler.fields.len() + 2, column)));
        }
        Ok(sampler)
    }

    /// The arrays.
    pub fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    /// Samples velocity and arrays at the positions of particles, of which the first has the slot `first`.
    pub fn sample(
        &self,
        stepper: &Stepper,
        (first, particles): (usize, &Particles),
        time: f64,
    ) -> Result<Values> {
        let fields = self.fields.iter().enumerate();
        let needed = |number: usize| self.places.iter().any(|(field, _)| *field == number);
        let is_own = stepper.inertia.is_some() || stepper.factors.is_some();
        let is_sampled = !is_own && fuses(stepper, stepper.field);
        let values = fields.map(|(number, field)| {
            let has_velocity = number == 0 && self.velocity && is_sampled;
            match has_velocity || needed(number) {
                false => Ok(None),
                true if number == 0 => {
                    Numbers::of(field_values(stepper, particles, self.first_group(), time)?)
                        .map(Some)
                }
                true => Numbers::of(values_of(*field, stepper, particles, time)?).map(Some),
            }
        });
        let mut values: Vec<Option<Numbers>> = values.collect::<Result<_>>()?;
        values.push(particles.tangents.clone().map(Numbers::of).transpose()?);
        let saves_fluid = needed(self.fields.len() + 1);
        let fluid = match saves_fluid || (self.velocity && !is_sampled) {
            true => Some(stepper.velocity((first, particles), time)?),
            false => None,
        };
        values.push(fluid.clone().filter(|_| saves_fluid).map(Numbers::of).transpose()?);
        let sizes = stepper.inertia.as_ref().filter(|_| needed(self.fields.len() + 2));
        let sizes = sizes.map(|inertial| inertial.sizes(first, particles)).transpose()?;
        values.push(sizes.map(Numbers::of).transpose()?);
        let tallies = match self.tallies {
            0 => None,
            saved => Some(Numbers::of(tallies::readings(stepper, particles, saved)?)?),
        };
        values.push(tallies);
        let velocity = match fluid.filter(|_| !is_sampled) {
            _ if !self.velocity => None,
            None => Some(columns(&values, &[(0, 0, 3)])?),
            Some(fluid) => Some(own_velocity(particles, fluid)),
        };
        let places = self.places.iter().zip(&self.arrays);
        let skipped = |field: usize| if field == 0 { LANES * self.first_group() } else { 0 };
        let place = |((field, first), array): (&(usize, usize), &FieldArray)| {
            (*field, first - skipped(*field), array.components)
        };
        let places: Vec<Place> = places.map(place).collect();
        let has_arrays = !places.is_empty();
        let arrays = has_arrays.then(|| columns(&values, &places)).transpose()?;
        Ok(Values { velocity, arrays })
    }

    /// The first group of the traced field's values that is sampled: that of its velocity, or of the first array.
    fn first_group(&self) -> usize {
        let own = self.places.iter().filter(|(field, _)| *field == 0);
        let first = own.map(|(_, place)| place / LANES).min().unwrap_or(0);
        if self.velocity { 0 } else { first }
    }

    /// The values of each array `[n, components]`, from the numbers of all arrays.
    pub fn split(&self, values: Tensor<2>) -> Result<Vec<Tensor<2>>> {
        let values = [Some(Numbers::of(values)?)];
        let mut first = 0;
        let part = |array: &FieldArray| {
            first += array.components;
            columns(&values, &[(0, first - array.components, array.components)])
        };
        self.arrays.iter().map(part).collect()
    }
}

/// Rows of numbers. On the host without gradients they are not a tensor: its operations take much longer than
/// copies.
enum Numbers {
    /// The numbers, with rows and columns.
    Host(Floats, [usize; 2], Device),
    Device(Box<Tensor<2>>),
}

impl Numbers {
    fn of(tensor: Tensor<2>) -> Result<Self> {
        let (dims, device) = (tensor.dims(), tensor.device());
        match is_host(&device) {
            true => Ok(Numbers::Host(Floats::from_tensor(tensor)?, dims, device)),
            false => Ok(Numbers::Device(Box::new(tensor))),
        }
    }
}

/// Number of a table, first column, and number of columns.
type Place = (usize, usize, usize);

/// Columns of several tables with the same rows and device, side by side.
fn columns(tables: &[Option<Numbers>], places: &[Place]) -> Result<Tensor<2>> {
    let lost = || Error::Execution("it lost sampled values".into());
    let parts = places.iter().map(|(table, first, count)| {
        let table = tables[*table].as_ref().ok_or_else(lost)?;
        Ok((table, *first, *count))
    });
    let parts: Vec<_> = parts.collect::<Result<_>>()?;
    let Some((Numbers::Host(numbers, [rows, _], device), ..)) = parts.first() else {
        let part = |(table, first, count): (&Numbers, usize, usize)| match table {
            Numbers::Device(tensor) => Ok((**tensor).clone().narrow(1, first, count)),
            Numbers::Host(..) => Err(lost()),
        };
        return Ok(Tensor::cat(parts.into_iter().map(part).collect::<Result<_>>()?, 1));
    };
    let width = parts.iter().map(|(.., count)| count).sum();
    let mut side_by_side = Floats::zeros(numbers.precision(), rows * width);
    let mut at = 0;
    for (table, first, count) in &parts {
        let Numbers::Host(numbers, [_, of_table], _) = table else { return Err(lost()) };
        side_by_side.put_columns((at, width), numbers, (*first, *of_table), *count);
        at += count;
    }
    Ok(side_by_side.into_tensor([*rows, width], device))
}

/// Whether tensors of a device are in host memory, without gradients.
pub(super) fn is_host(device: &Device) -> bool {
    !device.is_autodiff() && !device::compiles_kernels(device)
}

/// Whether the fused operation samples a field that is traced: one with values, and no formula.
fn fuses(stepper: &Stepper, field: &dyn Field) -> bool {
    stepper.engine == Engine::Fused && field.origin_view().is_some()
}

/// The velocities of particles: those of the field, and of particles with inertia that are released their own.
fn own_velocity(particles: &Particles, of_field: Tensor<2>) -> Tensor<2> {
    let Some(own) = particles.velocity() else { return of_field };
    let is_new = own.clone().detach().is_nan();
    own.mask_where(is_new, of_field)
}

/// The values of the traced field from a first group on, at the particles' positions.
pub(super) fn field_values(
    stepper: &Stepper,
    particles: &Particles,
    first_group: usize,
    time: f64,
) -> Result<Tensor<2>> {
    let field = stepper.field;
    let (Some(sampled), Some(from_origin)) = (field.sampled(), field.origin_view()) else {
        return Err(Error::Arrays("only fields on grids, meshes and points have them".into()));
    };
    if particles.position.device().is_autodiff() {
        let values = from_origin.values_from_origin(particles.coordinates(), time);
        sampled.failure()?;
        let [_, width] = values.dims();
        let first = LANES * first_group;
        return Ok(values.narrow(1, first, width - first));
    }
    let particles = particles.clone();
    let has_holes = sampled.has_gaps();
    let segment = |clock, steps| Segment { has_holes, ..fused::segment(stepper, clock, steps) };
    sampled.values(particles, first_group, time, segment)
}

/// All values of a field that is not traced at the particles' positions.
fn values_of(
    field: &dyn Field,
    stepper: &Stepper,
    particles: &Particles,
    time: f64,
) -> Result<Tensor<2>> {
    let (here, there) = (origin(stepper.field), origin(field));
    let position = particles.coordinates();
    let position = match [0, 1, 2].map(|d| here[d] - there[d]) {
        [0.0, 0.0, 0.0] => position,
        shift => position.clone() + origin_row(shift, &position),
    };
    evaluate::samples_from_origin(field, position, time)
}

/// Why a field cannot be sampled beside another one, if so.
fn check_field(field: &dyn Field, traced: &dyn Field) -> std::result::Result<(), String> {
    if field.device() != traced.device() {
        return Err("its field is on another device than the traced one; load both on one".into());
    }
    let (precision, expected) = (field.precision(), traced.precision());
    match precision == expected {
        true => Ok(()),
        false => Err(format!("its field is in {precision}, the traced one in {expected}; use one")),
    }
}

/// The arrays of a field, for messages.
pub(super) fn listed(arrays: &[FieldArray]) -> String {
    let names: Vec<String> = arrays.iter().map(|array| format!("`{}`", array.name)).collect();
    match names.is_empty() {
        true => "it has none; load the field from a source that lists its arrays".into(),
        false => format!("it has {}", names.join(", ")),
    }
}

/// Checks that a field is known during a run.
pub(super) fn check_known(field: &dyn Field, span: &TimeSpan) -> Result<()> {
    let Some([first, last]) = field.times() else { return Ok(()) };
    let slack = 1e-9 * (last - first);
    let known = first - slack..=last + slack;
    match known.contains(&span.t0) && known.contains(&span.t1) {
        true => Ok(()),
        false => Err(Error::OutsideTime { t0: span.t0, t1: span.t1, first, last }),
    }
}
