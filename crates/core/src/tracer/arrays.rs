//! Arrays that are sampled along the tracks.

use super::{Tracer, fused, stepper::Stepper};
use crate::{
    Engine, Error, Field, FieldArray, Result, Status,
    field::{evaluate, origin, origin_row},
    schedule::Schedule,
};
use burn::tensor::{Bool, Int, Tensor};
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
        let columns = self.places.iter().zip(&self.arrays).filter_map(|((field, first), array)| {
            let values = values[*field].as_ref()?;
            Some(values.clone().narrow(1, *first, array.components))
        });
        let columns: Vec<_> = columns.collect();
        let velocity = match (&values[0], fuses(stepper, stepper.field)) {
            _ if !self.velocity => None,
            (Some(values), true) => Some(values.clone().narrow(1, 0, 3)),
            _ => Some(stepper.velocity(particles, time)?),
        };
        Ok(Values { velocity, arrays: (!columns.is_empty()).then(|| Tensor::cat(columns, 1)) })
    }

    /// The values of each array `[n, components]`, from the numbers of all arrays.
    pub fn split(&self, values: &Tensor<2>) -> Vec<Tensor<2>> {
        let mut first = 0;
        let part = |array: &FieldArray| {
            first += array.components;
            values.clone().narrow(1, first - array.components, array.components)
        };
        self.arrays.iter().map(part).collect()
    }
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
    /// Values `[particles, numbers]` and statuses `[particles]`.
    pub last: Option<(Tensor<2>, Tensor<1, Int>)>,
    /// The blocks of the next save.
    blocks: Vec<(Tensor<2>, Tensor<1, Int>)>,
}

impl KeptValues {
    /// The values of a save.
    pub fn of(values: Tensor<2>, status: Tensor<1, Int>) -> Self {
        KeptValues { last: Some((values, status)), blocks: Vec::new() }
    }

    /// The values `[n, numbers]` of a block of the next save, from particle `first` on: as sampled, but
    /// those of the last save for particles that had ended there, or have ended where there is no value.
    pub fn keep(
        &mut self,
        (values, status): (Tensor<2>, &Tensor<1, Int>),
        first: usize,
        is_whole: bool,
    ) -> Tensor<2> {
        let dims = values.dims();
        let is = |status: &Tensor<1, Int>, code: Status| {
            status.clone().equal_elem(code.code()).unsqueeze_dim::<2>(1).expand(dims)
        };
        let mut values = values.mask_fill(is(status, Status::NotLocated), f64::NAN);
        if let Some((last, before)) = &self.last {
            let last = last.clone().narrow(0, first, dims[0]);
            let before = before.clone().narrow(0, first, dims[0]);
            let ended = |status: &Tensor<1, Int>| -> Tensor<2, Bool> {
                is(status, Status::Active).bool_or(is(status, Status::Waiting)).bool_not()
            };
            let lacks = ended(&before).bool_or(values.clone().is_nan());
            values = values.mask_where(ended(status).bool_and(lacks), last);
        }
        if first == 0 {
            self.blocks.clear();
        }
        self.blocks.push((values.clone(), status.clone()));
        if is_whole {
            let (rows, statuses) = std::mem::take(&mut self.blocks).into_iter().unzip();
            self.last = Some((Tensor::cat(rows, 0), Tensor::cat(statuses, 0)));
        }
        values
    }
}
