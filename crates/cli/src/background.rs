//! A quantity of the field of a run on a plane, to be drawn behind its tracks.

use crate::{
    file::{Misuse, SampledArray},
    job,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    Derived, Field,
    burn::tensor::{Tensor, TensorData},
    device::OpenDevice,
};
use burntrace_case::console::Silent;
use burntrace_plot::{Axis, Raster, picture::Plane};

/// Samples along the longer side of the plane.
const SAMPLES: usize = 400;
/// The magnitude of the velocity.
const SPEED: &str = "speed";

/// A quantity of the field at the last save on a plane of the domain, through its middle.
pub fn sample(results: &Results, quantity: &str, plane: Plane) -> Result<Raster> {
    let root = results.folder.root.display();
    let Some(case) = &results.case else {
        let why = results.case_problem.clone().unwrap_or_default();
        return Err(Misuse::error(format!("the field of the run in {root} is not known: {why}")));
    };
    let mut case = case.clone();
    // Pictures need little work, and the device of the run may be missing here.
    let device = results.device(Some("flex"))?;
    if quantity != SPEED && !case.save.fields.iter().any(|array| array.name == quantity) {
        case.save.fields.push(SampledArray::of(quantity));
    }
    let loaded = job::field(&case, &device, &Silent::default()).with_context(|| {
        format!("the field behind the tracks cannot be read: --background {quantity}")
    })?;
    let own = loaded.sampled.iter().map(|other| &*other.field);
    let fields: Vec<&dyn Field> = std::iter::once(&*loaded.field).chain(own).collect();
    let lattice = Lattice::of(results, plane)?;
    let time = *results.tracks.times().last().context("the run has no saves")?;
    let values = lattice.values(&fields, (quantity, time), &device)?;
    Ok(lattice.raster(results, quantity, values))
}

/// Points on a plane.
struct Lattice {
    axes: [usize; 2],
    normal: usize,
    counts: [usize; 2],
    low: [f64; 3],
    high: [f64; 3],
}

impl Lattice {
    fn of(results: &Results, plane: Plane) -> Result<Lattice> {
        let ([low, high], axes) = (results.domain, plane.axes());
        let widths = axes.map(|d| high[d] - low[d]);
        if !widths.iter().all(|width| *width > 0.0 && width.is_finite()) {
            return Err(Misuse::error(
                "the domain of the run has no extent in this plane; choose another --view, or omit --background",
            ));
        }
        let normal = 3 - axes[0] - axes[1];
        let longest = widths[0].max(widths[1]);
        let count = |width: f64| ((SAMPLES as f64 * width / longest) as usize).max(SAMPLES / 10);
        Ok(Lattice { axes, normal, counts: widths.map(count), low, high })
    }

    /// Samples are in the middle of cells that fill the plane.
    fn coordinate(&self, i: usize, index: usize) -> f64 {
        let (d, count) = (self.axes[i], self.counts[i]);
        let part = (index as f64 + 0.5) / count as f64;
        self.low[d] + part * (self.high[d] - self.low[d])
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.low[self.normal], self.high[self.normal])
    }

    fn positions(&self) -> Vec<f64> {
        let mut positions = Vec::with_capacity(3 * self.counts[0] * self.counts[1]);
        for row in 0..self.counts[1] {
            for column in 0..self.counts[0] {
                let mut at = [self.middle(); 3];
                at[self.axes[0]] = self.coordinate(0, column);
                at[self.axes[1]] = self.coordinate(1, row);
                positions.extend(at);
            }
        }
        positions
    }

    /// The speed, or the numbers of an array: of the vorticity the part across the plane, of other vectors the length.
    fn values(
        &self,
        fields: &[&dyn Field],
        (quantity, time): (&str, f64),
        device: &OpenDevice,
    ) -> Result<Vec<f32>> {
        let positions = self.positions();
        let shape = [positions.len() / 3, 3];
        let data = TensorData::new(positions, shape);
        for field in fields {
            let at =
                Tensor::<2>::from_data(data.clone(), (&device.device, field.precision().dtype()));
            let found = field.sample(at, time).map_err(Misuse::of)?;
            let values =
                if quantity == SPEED { found.velocity.clone() } else { found.array(quantity) };
            let Some(values) = values else { continue };
            let [count, width] = values.dims();
            let numbers = values.try_into_data().context("cannot read the values")?;
            let numbers = numbers.convert::<f64>().try_into_vec::<f64>();
            let numbers = numbers.map_err(|error| anyhow::anyhow!("{error:?}"))?;
            let is_vorticity = quantity.parse() == Ok(Derived::Vorticity);
            // The curl points to the viewer, who sees x and z from the side of low y.
            let sign = if self.normal == 1 { -1.0 } else { 1.0 };
            let value = |row: &[f64]| match row {
                [number] => *number as f32,
                _ if is_vorticity => (sign * row[self.normal]) as f32,
                _ => row.iter().map(|x| x * x).sum::<f64>().sqrt() as f32,
            };
            return Ok((0..count).map(|i| value(&numbers[width * i..width * (i + 1)])).collect());
        }
        Err(Misuse::error(format!(
            "the field has no quantity `{quantity}`; give speed, vorticity, shear_rate or an array of its files"
        )))
    }

    fn raster(&self, results: &Results, quantity: &str, values: Vec<f32>) -> Raster {
        let named = results.tracks.units().axis_names();
        let axis = |i: usize| Axis {
            name: named[self.axes[i]][0].clone(),
            unit: named[self.axes[i]][1].clone(),
            range: [self.coordinate(i, 0), self.coordinate(i, self.counts[i] - 1)],
        };
        let at = match results.axes().contains(&self.normal) {
            true => format!(" at {} = {}", named[self.normal][0], self.middle()),
            false => String::new(),
        };
        results.with_land(Raster {
            axes: [axis(0), axis(1)],
            counts: self.counts,
            values,
            name: quantity.into(),
            unit: results.tracks.units().of_array(quantity),
            title: format!("{quantity}{at} at the last save"),
            ..Raster::default()
        })
    }
}
