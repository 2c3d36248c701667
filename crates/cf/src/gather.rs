//! How the values of a mesh are taken from a variable.

use crate::axis::UnitCheck;
use crate::directions::{DOWNWARD, points};
use crate::mesh::NONE;
use crate::packing::{Decoded, Packing};
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::values::Values;
use crate::{Error, Result};

/// How the values of a mesh are taken from a variable.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    pub variable: String,
    pub quantity: Option<Quantity>,
    /// The indices of each dimension that are read; those of the time are replaced.
    pub slab: Vec<Span>,
    /// The dimension of time.
    pub time: Option<usize>,
    pub weights: Weights,
}

/// The values of a mesh by those of a slab.
#[derive(Clone, Debug)]
pub(crate) enum Weights {
    /// The value with an index, times 1 or -1; 0 for [`NONE`].
    One { index: Vec<u32>, sign: f64 },
    /// The mean of `count` values with weights, where [`NONE`] is 0; those that are missing are left out, and the others
    /// count for more.
    Mean { count: usize, index: Vec<u32>, weights: Vec<f32> },
}

impl Weights {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Weights::One { index, .. } => index.len(),
            Weights::Mean { count, index, .. } => index.len() / count.max(&1),
        }
    }
}

impl Gather {
    /// The values at a time; those that are missing are NaN, or 0 if the mesh dries.
    pub fn read(&self, store: &dyn Store, time: usize, dries: bool) -> Result<Values> {
        let decoded = self.decoded(store, time)?;
        let Decoded { values, missing } = if dries { filled(decoded) } else { decoded };
        let is_missing = |i: usize| missing.as_ref().is_some_and(|missing| missing[i]);
        Ok(match &self.weights {
            Weights::One { index, sign } => values.taken(index, *sign),
            Weights::Mean { count, index, weights } => {
                let mean = |(index, weights): (&[u32], &[f32])| {
                    let pairs = index.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
                    let known = pairs.filter(|(i, _)| **i == NONE || !is_missing(**i as usize));
                    let (sum, total) = known.fold((0.0, 0.0), |(sum, total), (i, weight)| {
                        let value = if *i == NONE { 0.0 } else { values.at(*i as usize) };
                        (sum + f64::from(*weight) * value, total + f64::from(*weight))
                    });
                    match total > 0.0 {
                        true => sum / total,
                        // Nothing is taken of the file.
                        false if index.iter().all(|i| *i == NONE) => 0.0,
                        false => f64::NAN,
                    }
                };
                let all = index.chunks(*count).zip(weights.chunks(*count)).map(mean);
                Values::collect(values.is_single(), self.weights.len(), all)
            }
        })
    }

    /// Makes 0 at any time the values that are missing at the first time, and notes their number.
    pub fn close_missing(&mut self, store: &dyn Store, units: &mut UnitCheck) -> Result<()> {
        let missing = self.decoded(store, 0)?.missing;
        self.close(missing.as_deref(), units);
        Ok(())
    }

    /// The same, by a flag of each value of the slab at the first time.
    pub fn close(&mut self, missing: Option<&[bool]>, units: &mut UnitCheck) {
        let Some(missing) = missing else { return };
        let is_missing = |i: &u32| *i != NONE && missing[*i as usize];
        let mut closed = 0;
        match &mut self.weights {
            Weights::One { index, .. } => {
                for i in index.iter_mut().filter(|i| is_missing(i)) {
                    (*i, closed) = (NONE, closed + 1);
                }
            }
            Weights::Mean { count, index, weights } => {
                let means = index.chunks_mut(*count).zip(weights.chunks(*count));
                for (index, weights) in means {
                    let mut used = index.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
                    if used.all(|(i, _)| is_missing(i)) {
                        index.fill(NONE);
                        closed += 1;
                    }
                }
            }
        }
        if closed > 0 {
            units.convert(format!(
                "`{}` is missing at {closed} places of the mesh at the first time, and 0 there",
                self.variable
            ));
        }
    }

    /// The decoded numbers of the slab at a time, in m/s or m²/s if they are of such a quantity.
    pub fn decoded(&self, store: &dyn Store, time: usize) -> Result<Decoded> {
        let variable = found(store, &self.variable)?;
        let mut slab = self.slab.clone();
        if let Some(span) = self.time.and_then(|d| slab.get_mut(d)) {
            *span = Span::one(time);
        }
        let mut decoded = decode(store, variable, &slab, self.quantity)?;
        if self.quantity == Some(Quantity::Speed) && points(variable, DOWNWARD) {
            decoded.values = decoded.values.map(|x| -x);
        }
        Ok(decoded)
    }
}

impl Values {
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Values::F32(_))
    }

    /// A value in double precision.
    pub(crate) fn at(&self, index: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[index]),
            Values::F64(values) => values[index],
        }
    }

    /// About `count` numbers, rounded to single precision if `is_single`.
    pub(crate) fn collect(
        is_single: bool,
        count: usize,
        numbers: impl Iterator<Item = f64>,
    ) -> Values {
        fn of<T>(count: usize, numbers: impl Iterator<Item = T>) -> Vec<T> {
            let mut values = Vec::with_capacity(count);
            values.extend(numbers);
            values
        }
        match is_single {
            true => Values::F32(of(count, numbers.map(|x| x as f32))),
            false => Values::F64(of(count, numbers)),
        }
    }

    /// The values with these indices, times 1 or -1; 0 for [`NONE`].
    fn taken(&self, index: &[u32], sign: f64) -> Values {
        let at = |i: &u32| if *i == NONE { 0.0 } else { sign * self.at(*i as usize) };
        Values::collect(self.is_single(), index.len(), index.iter().map(at))
    }
}

/// Numbers with 0 where they are missing.
fn filled(Decoded { mut values, missing }: Decoded) -> Decoded {
    let at = missing.iter().flatten().enumerate().filter(|(_, is_missing)| **is_missing);
    for (i, _) in at {
        match &mut values {
            Values::F32(values) => values[i] = 0.0,
            Values::F64(values) => values[i] = 0.0,
        }
    }
    Decoded { values, missing: None }
}

/// Whether each number is missing, not a number, or the value of land, in the precision of the numbers.
pub(crate) fn land_flags(Decoded { values, missing }: &Decoded, land: Option<f64>) -> Vec<bool> {
    let land = land.map(|land| if values.is_single() { f64::from(land as f32) } else { land });
    let is_land = |i: usize| {
        let value = values.at(i);
        value.is_nan() || Some(value) == land || missing.as_ref().is_some_and(|of| of[i])
    };
    (0..values.len()).map(is_land).collect()
}

/// The variable with a name.
pub(crate) fn found<'a>(store: &'a dyn Store, name: &str) -> Result<&'a Variable> {
    let missing = || crate::choose::choice(store, format!("it has no variable `{name}`"));
    store.find(name).ok_or_else(missing)
}

/// The decoded numbers of a slab, in metres and seconds if they are of a quantity and have units.
pub(crate) fn decode(
    store: &dyn Store,
    variable: &Variable,
    slab: &[Span],
    quantity: Option<Quantity>,
) -> Result<Decoded> {
    let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
    let packing = Packing::of(store, variable).map_err(fail)?;
    let text = variable.text("units").filter(|text| !text.is_empty());
    let unit = text.zip(quantity).map(|(text, quantity)| quantity.unit(text));
    packing.decode(store.read(variable, slab)?, unit.transpose().map_err(fail)?).map_err(fail)
}
