//! Turbulence at particles with inertia: the fluctuations of the fluid's velocity, renewed before each step.

use super::{
    Tracer,
    arrays::{field_values, listed},
    rows::ints,
    settling::StepSpan,
    stepper::Stepper,
    walk,
};
use crate::{Error, Quantity, Result, TurbulentTime, error::short, field::LANES, random};
use burn::tensor::{Bool, Tensor, TensorData};
use burntrace_kernels::{Particles, Record, status::WAITING};
use rayon::prelude::*;

/// The constant of the time scale 0.15 k / epsilon (half the eddy life of Gosman and Ioannides 1983, J. Energy 7:482, in the form that
/// k-epsilon models use).
const TIME: f64 = 0.15;

/// The constant of epsilon = 0.09 k omega.
const BETA_STAR: f64 = 0.09;

/// Smallest part of a time scale with a root.
const TINY: f64 = 1e-30;

/// The first of the draws of fluctuations: of each step, two. Other numbers of a slot are drawn with the same seed.
const DRAWS: u32 = 1 << 31;

/// The turbulence of a run, validated.
pub(super) struct Turbulent {
    energy: Column,
    time: (fn([Tensor<2>; 2]) -> Tensor<2>, Column),
    seed: u64,
    /// The first group of the field's values that is needed.
    first_group: usize,
    /// 1 for axes along which particles move, and 0 for flat ones.
    moves: [f64; 3],
}

/// A number, or a column of the field's values.
#[derive(Clone, Copy)]
enum Column {
    Number(f64),
    Of(usize),
}

/// Where a quantity of a name is.
///
/// # Errors
///
/// [`Error::Inertia`] for an array that the field does not have, and a number that is out of range.
fn place(tracer: &Tracer, (name, quantity): (&str, &Quantity)) -> Result<Column> {
    let found = match quantity {
        Quantity::Number(number) if (f64::MIN_POSITIVE..=1e30).contains(number) => {
            Ok(Column::Number(*number))
        }
        Quantity::Number(number) => Err(format!("is {}; give a number above 0", short(*number))),
        Quantity::Array(array) => column(tracer, array).map(Column::Of),
    };
    found.map_err(|flaw| Error::Inertia(format!("the {name} of the turbulence {flaw}")))
}

/// The first column of a scalar array in the values of the field, or why there is none.
fn column(tracer: &Tracer, array: &str) -> std::result::Result<usize, String> {
    let lanes = tracer.field.sampled().map(|sampled| &sampled.lanes);
    match lanes.and_then(|lanes| lanes.find(array)) {
        Some((first, 1)) => Ok(first),
        Some((_, count)) => {
            Err(format!("is `{array}`, which has {count} components; give a scalar"))
        }
        None => {
            let known = lanes.map_or(&[][..], |lanes| lanes.arrays());
            Err(format!("is `{array}`, which the field does not have; {}", listed(known)))
        }
    }
}

/// The turbulence of a tracer's particles.
pub(super) fn turbulent(tracer: &Tracer) -> Result<Option<Turbulent>> {
    let Some(inertia) = &tracer.motion.inertia else { return Ok(None) };
    let Some(turbulence) = &inertia.turbulence else { return Ok(None) };
    let of_time: fn([Tensor<2>; 2]) -> Tensor<2> = match &turbulence.time {
        TurbulentTime::Scale(_) => |[_, scale]| scale,
        TurbulentTime::Dissipation(_) => |[k, rate]| (k / rate).mul_scalar(TIME),
        TurbulentTime::Frequency(_) => |[_, rate]| rate.recip().mul_scalar(TIME / BETA_STAR),
    };
    let [energy, time] = turbulence.quantities().map(|quantity| place(tracer, quantity));
    let (energy, time) = (energy?, time?);
    let groups = [energy, time].into_iter().filter_map(|column| match column {
        Column::Number(_) => None,
        Column::Of(first) => Some(first / LANES),
    });
    Ok(Some(Turbulent {
        energy,
        time: (of_time, time),
        seed: turbulence.seed,
        first_group: groups.min().unwrap_or(0),
        moves: walk::moving(&tracer.domain_box(), [1.0; 3]),
    }))
}

impl Turbulent {
    /// Particles with the fluctuations of a step: the exact solution of Langevin's equation after it, from those of the step before, times
    /// (tanh(x) / x)^(1/2) for x = h / 2T, with which the sum over many steps of the length h has the diffusivity of the solution.
    pub fn renewed(
        &self,
        stepper: &Stepper,
        first: u32,
        particles: Particles,
        step: &StepSpan,
    ) -> Result<Particles> {
        let Some(before) = particles.fluctuation() else { return Ok(particles) };
        let [from, to] = step.times;
        let ([energy, time], is_known) = self.values(stepper, &particles, from)?;
        let deviation = energy.mul_scalar(2.0 / 3.0).sqrt();
        let x = time.recip().mul_scalar(0.5 * (to - from).abs());
        // With t = tanh(x), the part exp(-2x) = (1 - t) / (1 + t) of the one before is kept.
        let t = x.clone().tanh();
        let more = t.clone().add_scalar(1.0);
        let part = t.clone().neg().add_scalar(1.0) / more.clone();
        let root = x.add_scalar(TINY).sqrt();
        let new = deviation.clone() * t.clone().add_scalar(TINY).sqrt() / root.clone();
        let (random, is_waiting) = self.random(&particles, first, step.index, &before)?;
        // Drawn at the release: a chain from before it would depend on when the slot was filled.
        let is_new = before.clone().detach().is_nan().bool_or(is_waiting);
        let kept = before.mask_fill(is_new.clone(), 0.0) * part;
        let added = (deviation * t).mul_scalar(2.0) / (more * root);
        let all = |column: Tensor<2>| column.expand(random.dims());
        let factor = all(added).mask_where(is_new, all(new));
        let fluctuation = kept + factor * random;
        let is_known = is_known.expand(fluctuation.dims());
        let fluctuation = fluctuation.mask_fill(is_known.bool_not(), 0.0);
        Ok(particles.with_fluctuation(fluctuation))
    }

    /// The energy and the time scale at the particles `[n, 1]`, or `[1, 1]`, and whether there is turbulence: elsewhere, where a value is missing or not
    /// above 0, both are numbers without gradients.
    fn values(
        &self,
        stepper: &Stepper,
        particles: &Particles,
        time: f64,
    ) -> Result<([Tensor<2>; 2], Tensor<2, Bool>)> {
        let columns = [self.energy, self.time.1];
        let is_sampled = columns.iter().any(|column| matches!(column, Column::Of(_)));
        let values = match is_sampled {
            true => Some(field_values(stepper, particles, self.first_group, time)?),
            false => None,
        };
        let position = &particles.position;
        let [energy, of_time] = columns.map(|column| match (column, &values) {
            (Column::Of(first), Some(values)) => {
                values.clone().narrow(1, first - LANES * self.first_group, 1)
            }
            (Column::Of(_), None) => Tensor::zeros([1, 1], (&position.device(), position.dtype())),
            (Column::Number(number), _) => {
                Tensor::full([1, 1], number, (&position.device(), position.dtype()))
            }
        });
        let is_positive = |of: &Tensor<2>| {
            let of = of.clone().detach();
            of.clone().is_finite().bool_and(of.greater_elem(0.0))
        };
        let [a, b] = [is_positive(&energy), is_positive(&of_time)];
        let rows = energy.dims()[0].max(of_time.dims()[0]);
        let is_known = a.expand([rows, 1]).bool_and(b.expand([rows, 1]));
        let [energy, of_time] = [energy, of_time]
            .map(|of| of.expand([rows, 1]).mask_fill(is_known.clone().bool_not(), 1.0));
        Ok(([energy.clone(), (self.time.0)([energy, of_time])], is_known))
    }

    /// Standard normal numbers `[n, 3]`, 0 along flat axes, and whether each particle waits for its release.
    fn random(
        &self,
        particles: &Particles,
        first: u32,
        step: u64,
        beside: &Tensor<2>,
    ) -> Result<(Tensor<2>, Tensor<2, Bool>)> {
        let records = ints(&particles.record)?;
        let records = Record::from_numbers(&records);
        let draw = DRAWS | (step as u32).wrapping_mul(2);
        let numbers = |(row, record): (usize, &Record)| {
            let row = particles.slots.as_ref().map_or(row as u32, |slots| slots[row]);
            let slot = u64::from(first + row);
            let of = |draw| random::normals(self.seed, slot, record.generation as u32, draw);
            let ([x, y], [z, _]) = (of(draw), of(draw + 1));
            [x * self.moves[0], y * self.moves[1], z * self.moves[2]]
        };
        let numbers: Vec<[f64; 3]> = records.par_iter().enumerate().map(numbers).collect();
        let data = TensorData::new(numbers.into_flattened(), beside.dims());
        let waits: Vec<bool> =
            records.iter().flat_map(|record| [record.status == WAITING; 3]).collect();
        let waits = Tensor::from_data(TensorData::new(waits, beside.dims()), &beside.device());
        Ok((Tensor::from_data(data, (&beside.device(), beside.dtype())), waits))
    }
}
