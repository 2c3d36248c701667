//! Arrays that are sampled along the tracks.

use super::{Tracer, fused, reinjection, stepper::Stepper};
use crate::{
    Engine, Error, Field, FieldArray, Floats, Result, Status, device,
    field::{evaluate, origin, origin_row},
    schedule::Schedule,
};
use burn::tensor::{Bool, Device, Int, Tensor};
use burntrace_kernels::Particles;

impl<'a> Tracer<'a> {
    /// Samples an array of a field where the particles are, at each save: of the field that is traced,
    /// or of another one on the same device. The field interpolates it as its velocity.
    ///
    /// An ended particle keeps the value at its end, at the time of the first save after it. A particle
    /// outside the other field has NaN, as has an empty slot.
    pub fn sample(mut self, name: impl Into<String>, field: &'a dyn Field) -> Self {
        self.sampled.push((name.into(), field));
        self
    }

    /// Whether saves need values of the traced field.
    pub(super) fn samples_field(&self) -> bool {
        self.velocity || self.sampled.iter().any(|(_, field)| is_same(*field, self.field))
    }

    /// Numbers that are sampled for each particle, and bytes of the fields that are sampled only.
    pub(super) fn sampled_size(&self) -> (usize, u64) {
        let mut fields: Vec<&dyn Field> = vec![self.field];
        let (mut components, mut bytes) = (0, 0);
        for (name, field) in &self.sampled {
            let Some(sampled) = field.sampled() else { continue };
            components += sampled.lanes.find(name).map_or(0, |(_, components)| components);
            if !fields.iter().any(|known| is_same(*known, *field)) {
                fields.push(*field);
                bytes += sampled.bytes();
            }
        }
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
    /// The fields, the traced one first.
    fields: Vec<&'a dyn Field>,
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
            velocity: tracer.velocity,
            arrays: Vec::new(),
            places: Vec::new(),
            fields: vec![tracer.field],
        };
        for (name, field) in &tracer.sampled {
            let fail = |problem: String| Error::Arrays(format!("`{name}`: {problem}"));
            if sampler.arrays.iter().any(|array| array.name == *name) {
                return Err(fail("it is sampled twice; sample it once, or rename one".into()));
            }
            let lanes = field.sampled().map(|sampled| &sampled.lanes);
            let Some((first, components)) = lanes.and_then(|lanes| lanes.find(name)) else {
                let known = lanes.map_or(&[][..], |lanes| lanes.arrays());
                return Err(fail(format!("its field has no such array; {}", listed(known))));
            };
            check_field(*field, tracer.field).map_err(fail)?;
            check_times(*field, schedule).map_err(|error| fail(error.to_string()))?;
            let known = sampler.fields.iter().position(|known| is_same(*known, *field));
            let number = known.unwrap_or_else(|| {
                sampler.fields.push(*field);
                sampler.fields.len() - 1
            });
            sampler.arrays.push(FieldArray::new(name.clone(), components));
            sampler.places.push((number, first));
        }
        Ok(sampler)
    }

    /// The arrays.
    pub fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    /// Samples velocity and arrays at the particles' positions.
    pub fn sample(&self, stepper: &Stepper, particles: &Particles, time: f64) -> Result<Values> {
        let fields = self.fields.iter().enumerate();
        let needed = |number: usize| self.places.iter().any(|(field, _)| *field == number);
        let values = fields.map(|(number, field)| {
            let has_velocity = number == 0 && self.velocity && fuses(stepper, *field);
            match has_velocity || needed(number) {
                false => Ok(None),
                true if number == 0 => own_values(stepper, particles, time).map(Some),
                true => values_of(*field, stepper, particles, time).map(Some),
            }
        });
        let values: Vec<Option<Tensor<2>>> = values.collect::<Result<_>>()?;
        let fuses = fuses(stepper, stepper.field);
        let velocity = match &values[0] {
            _ if !self.velocity => None,
            Some(values) if fuses => Some(columns(&[Some(values.clone())], &[(0, 0, 3)])?),
            _ => Some(stepper.velocity(particles, time)?),
        };
        let places = self.places.iter().zip(&self.arrays);
        let places: Vec<Place> =
            places.map(|((field, first), array)| (*field, *first, array.components)).collect();
        let has_arrays = !places.is_empty();
        let arrays = has_arrays.then(|| columns(&values, &places)).transpose()?;
        Ok(Values { velocity, arrays })
    }

    /// The values of each array `[n, components]`, from the numbers of all arrays.
    pub fn split(&self, values: &Tensor<2>) -> Result<Vec<Tensor<2>>> {
        let mut first = 0;
        let part = |array: &FieldArray| {
            first += array.components;
            let place = (0, first - array.components, array.components);
            columns(&[Some(values.clone())], &[place])
        };
        self.arrays.iter().map(part).collect()
    }
}

/// Number of a tensor, first column, and number of columns.
type Place = (usize, usize, usize);

/// Columns of several tensors of `n` rows, side by side. On the host without tensor operations, which take
/// much longer.
fn columns(tensors: &[Option<Tensor<2>>], places: &[Place]) -> Result<Tensor<2>> {
    let used = |number: &usize| tensors[*number].as_ref();
    let lost = || Error::Execution("it lost sampled values".into());
    let first = places.first().and_then(|(number, ..)| used(number)).ok_or_else(lost)?;
    let device = first.device();
    if !is_host(&device) {
        let part = |(number, first, count): &Place| {
            Ok(used(number).ok_or_else(lost)?.clone().narrow(1, *first, *count))
        };
        return Ok(Tensor::cat(places.iter().map(part).collect::<Result<_>>()?, 1));
    }
    let [n, _] = first.dims();
    let floats = tensors.iter().map(|tensor| tensor.clone().map(Floats::from_tensor).transpose());
    let floats: Vec<Option<Floats>> = floats.collect::<Result<_>>()?;
    let width = places.iter().map(|(.., count)| count).sum();
    let precision = floats.iter().flatten().next().ok_or_else(lost)?.precision();
    let mut packed = Floats::zeros(precision, n * width);
    let mut at = 0;
    for (number, first, count) in places {
        let source = floats[*number].as_ref().ok_or_else(lost)?;
        let of_source = source.len() / n.max(1);
        match (source, &mut packed) {
            (Floats::F32(from), Floats::F32(to)) => {
                copy_columns((from, of_source, *first), (to, width, at), *count);
            }
            (Floats::F64(from), Floats::F64(to)) => {
                copy_columns((from, of_source, *first), (to, width, at), *count);
            }
            _ => return Err(lost()),
        }
        at += count;
    }
    Ok(packed.into_tensor([n, width], &device))
}

/// Copies columns between arrays, given with their widths and the first column.
fn copy_columns<T: Copy>(
    (from, from_width, first): (&[T], usize, usize),
    (to, to_width, at): (&mut [T], usize, usize),
    count: usize,
) {
    for (to, from) in to.chunks_exact_mut(to_width).zip(from.chunks_exact(from_width)) {
        to[at..at + count].copy_from_slice(&from[first..first + count]);
    }
}

/// Whether tensors of a device are in host memory, without gradients.
fn is_host(device: &Device) -> bool {
    !device.is_autodiff() && !device::compiles_kernels(device)
}

/// Whether two fields are one.
fn is_same(a: &dyn Field, b: &dyn Field) -> bool {
    std::ptr::addr_eq(a, b)
}

/// Whether the fused operation samples a field that is traced.
fn fuses(stepper: &Stepper, field: &dyn Field) -> bool {
    stepper.engine == Engine::Fused && field.sampled().is_some()
}

/// All values of the traced field at the particles' positions.
fn own_values(stepper: &Stepper, particles: &Particles, time: f64) -> Result<Tensor<2>> {
    let field = stepper.field;
    let (Some(sampled), Some(from_origin)) = (field.sampled(), field.origin_view()) else {
        return Err(Error::Arrays("only fields on grids, meshes and points have them".into()));
    };
    if particles.position.device().is_autodiff() {
        let values = from_origin.values_from_origin(particles.coordinates(), time);
        return sampled.failure().map(|()| values);
    }
    let particles = particles.clone();
    sampled.values(particles, time, |clock, steps| fused::segment(stepper, clock, steps))
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

/// Checks that a field is known during the run.
fn check_times(field: &dyn Field, schedule: &Schedule) -> Result<()> {
    let Some([first, last]) = field.times() else { return Ok(()) };
    let (t0, t1) = (schedule.span.t0, schedule.span.t1);
    let slack = 1e-9 * (last - first);
    let known = first - slack..=last + slack;
    match known.contains(&t0) && known.contains(&t1) {
        true => Ok(()),
        false => Err(Error::OutsideTime { t0, t1, first, last }),
    }
}

/// The arrays of a field, for messages.
fn listed(arrays: &[FieldArray]) -> String {
    let names: Vec<String> = arrays.iter().map(|array| format!("`{}`", array.name)).collect();
    match names.is_empty() {
        true => "it has none; load the field from a source that lists its arrays".into(),
        false => format!("it has {}", names.join(", ")),
    }
}

/// The values of the last save, which ended particles keep.
#[derive(Default)]
pub(super) struct KeptValues {
    pub last: Option<LastValues>,
    /// The blocks of the next save.
    blocks: Vec<LastValues>,
}

/// Values `[n, numbers]` and statuses `[n]` of a save.
pub(super) enum LastValues {
    Host(Floats, Vec<i32>),
    Device(Box<(Tensor<2>, Tensor<1, Int>)>),
}

impl LastValues {
    /// The values and statuses on the host.
    pub fn read(&self) -> Result<(Floats, Vec<i32>)> {
        match self {
            LastValues::Host(values, status) => Ok((values.clone(), status.clone())),
            LastValues::Device(last) => {
                let (values, status) = &**last;
                Ok((Floats::from_tensor(values.clone())?, ints(status)?))
            }
        }
    }

    /// Blocks, one after another.
    fn joined(blocks: Vec<Self>) -> Option<Self> {
        blocks.into_iter().reduce(|all, next| match (all, next) {
            (LastValues::Host(mut values, mut status), LastValues::Host(more, statuses)) => {
                values.append(more);
                status.extend(statuses);
                LastValues::Host(values, status)
            }
            (LastValues::Device(all), LastValues::Device(next)) => {
                let ((values, status), (more, statuses)) = (*all, *next);
                let status = Tensor::cat(vec![status, statuses], 0);
                LastValues::Device(Box::new((Tensor::cat(vec![values, more], 0), status)))
            }
            (_, next) => next,
        })
    }
}

impl KeptValues {
    /// The values of the last save.
    pub fn of(last: LastValues) -> Self {
        KeptValues { last: Some(last), blocks: Vec::new() }
    }

    /// The values `[n, numbers]` of a block of the next save, from particle `first` on: as sampled, but
    /// those of the last save for particles that had ended there, or have ended where there is no value.
    pub fn keep(
        &mut self,
        (values, status): (Tensor<2>, &Tensor<1, Int>),
        first: usize,
        is_whole: bool,
    ) -> Result<Tensor<2>> {
        if first == 0 {
            self.blocks.clear();
        }
        let device = values.device();
        let kept = match is_host(&device) {
            true => {
                let (shape, statuses) = (values.dims(), ints(status)?);
                let mut values = Floats::from_tensor(values)?;
                let last = match &self.last {
                    Some(LastValues::Host(last, before)) => Some((last, before.as_slice())),
                    _ => None,
                };
                keep_rows(&mut values, &statuses, last, (first, shape[1]));
                self.blocks.push(LastValues::Host(values.clone(), statuses));
                values.into_tensor(shape, &device)
            }
            false => {
                let last = match &self.last {
                    Some(LastValues::Device(last)) => Some((&last.0, &last.1)),
                    _ => None,
                };
                let values = keep_on_device(values, status, last, first);
                self.blocks.push(LastValues::Device(Box::new((values.clone(), status.clone()))));
                values
            }
        };
        if is_whole {
            self.last = LastValues::joined(std::mem::take(&mut self.blocks));
        }
        Ok(kept)
    }
}

/// As [`KeptValues::keep`], on the host. `last` has the values and statuses of all particles.
fn keep_rows(
    values: &mut Floats,
    status: &[i32],
    last: Option<(&Floats, &[i32])>,
    (first, width): (usize, usize),
) {
    let ended = |code: i32| code != Status::Active.code() && code != Status::Waiting.code();
    for (row, code) in status.iter().enumerate().filter(|(_, code)| ended(**code)) {
        for at in width * row..width * (row + 1) {
            if *code == Status::NotLocated.code() {
                values.set(at, f64::NAN);
            } else if let Some((last, before)) = last
                && (ended(before[first + row]) || values.get(at).is_nan())
            {
                values.set(at, last.get(width * first + at));
            }
        }
    }
}

/// As [`KeptValues::keep`], by tensor operations.
fn keep_on_device(
    values: Tensor<2>,
    status: &Tensor<1, Int>,
    last: Option<(&Tensor<2>, &Tensor<1, Int>)>,
    first: usize,
) -> Tensor<2> {
    let dims = values.dims();
    let is = |status: &Tensor<1, Int>, code: Status| {
        status.clone().equal_elem(code.code()).unsqueeze_dim::<2>(1).expand(dims)
    };
    let values = values.mask_fill(is(status, Status::NotLocated), f64::NAN);
    let Some((last, before)) = last else { return values };
    let last = last.clone().narrow(0, first, dims[0]);
    let before = before.clone().narrow(0, first, dims[0]);
    let ended = |status: &Tensor<1, Int>| -> Tensor<2, Bool> {
        is(status, Status::Active).bool_or(is(status, Status::Waiting)).bool_not()
    };
    let is_located = is(status, Status::NotLocated).bool_not();
    let lacks = ended(&before).bool_or(values.clone().is_nan());
    values.mask_where(ended(status).bool_and(lacks).bool_and(is_located), last)
}

fn ints(status: &Tensor<1, Int>) -> Result<Vec<i32>> {
    reinjection::ints(&status.clone().unsqueeze_dim::<2>(1))
}
