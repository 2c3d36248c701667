//! Times of a variable.

use crate::axis::UnitCheck;
use crate::calendar::{Calendar, Reference};
use crate::choose::velocity;
use crate::grid::Request;
use crate::layout::{Layout, time_of};
use crate::mesh::found;
use crate::packing::Packing;
use crate::store::{Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The dimension of time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeAxis {
    /// Name of the dimension.
    pub name: String,
    /// Number of times.
    pub len: usize,
    /// The times.
    pub times: Times,
}

/// The times along a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Times {
    /// The dimension has no coordinate variable.
    Unknown,
    /// Times without a date, in seconds (in the unit of the file, if it has none).
    Plain(Vec<f64>),
    /// Times from a date.
    Dated(DatedTimes),
}

/// Times from a reference date, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DatedTimes {
    reference: Reference,
    values: Vec<f64>,
}

/// The date of time 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    reference: Reference,
    /// The value at time 0.
    start: f64,
}

impl Clock {
    /// The date, as in `2000-01-01T06:00:00`.
    pub fn date(&self) -> String {
        self.reference.date_of(self.start)
    }

    /// The calendar.
    pub fn calendar(&self) -> Calendar {
        self.reference.calendar()
    }
}

impl DatedTimes {
    /// Seconds on a clock.
    ///
    /// # Errors
    ///
    /// If the calendars differ.
    pub fn seconds_from(&self, clock: &Clock) -> std::result::Result<Vec<f64>, String> {
        let [own, other] = [self.reference.calendar(), clock.calendar()];
        if !own.counts_days_as(other) {
            return Err(format!(
                "its calendar is {}, and that of the first file {}, so that their dates cannot be compared",
                own.name(),
                other.name()
            ));
        }
        let seconds =
            |value: &f64| self.reference.seconds_from(*value, &clock.reference, clock.start);
        Ok(self.values.iter().map(seconds).collect())
    }

    /// The clock with the first time at 0.
    pub fn clock(&self) -> Clock {
        let start = self.values.first().copied().unwrap_or(0.0);
        Clock { reference: self.reference.clone(), start }
    }
}

impl TimeAxis {
    /// Reads the times of a variable; `None` if it does not depend on time.
    pub(crate) fn read(
        store: &dyn Store,
        variable: &Variable,
        layout: &Layout,
        units: &mut UnitCheck,
    ) -> Result<Option<TimeAxis>> {
        let Some((name, coordinate)) = &layout.time else { return Ok(None) };
        let dimension = variable.dimensions.iter().find(|dimension| dimension.name == *name);
        let len = dimension.map_or(0, |dimension| dimension.len);
        let coordinate = coordinate.as_deref().and_then(|name| store.find(name));
        let times = match coordinate {
            None => Times::Unknown,
            Some(coordinate) => read_times(store, coordinate, units)?,
        };
        Ok(Some(TimeAxis { name: name.clone(), len, times }))
    }
}

/// The times of the first variable of a request, by default that of the velocity; `None` if it does not depend on time.
///
/// # Errors
///
/// If the variable is missing or ambiguous, or its times cannot be read.
pub fn times(store: &dyn Store, request: &Request) -> Result<Option<TimeAxis>> {
    let named =
        request.velocity.first().or(request.arrays.first().filter(|_| request.without_velocity));
    let name = match named {
        Some(name) => name.clone(),
        None => velocity(store)?.swap_remove(0),
    };
    let variable = found(store, &name)?;
    let (_, layout) = time_of(store, variable);
    TimeAxis::read(store, variable, &layout, &mut UnitCheck::default())
}

fn read_times(store: &dyn Store, coordinate: &Variable, units: &mut UnitCheck) -> Result<Times> {
    let fail = |reason: String| Error::variable(store.path(), &coordinate.name, reason);
    let text = coordinate.text("units").unwrap_or_default();
    let is_dated = text.to_ascii_lowercase().contains(" since ");
    let unit = match is_dated {
        true => None,
        false => units.unit(store, coordinate, Quantity::Time)?,
    };
    let packing = Packing::of(store, coordinate).map_err(fail)?;
    let values = packing.decode(store.read_all(coordinate)?, unit).map_err(fail)?.values.into_f64();
    if let Some(index) = values.iter().position(|time| !time.is_finite()) {
        return Err(fail(format!("its value {index} is {}, which is not a time", values[index])));
    }
    if !is_dated {
        return Ok(Times::Plain(values));
    }
    let reference = Reference::parse(text, coordinate.text("calendar")).map_err(fail)?;
    units.note_time(coordinate, text, &reference);
    Ok(Times::Dated(DatedTimes { reference, values }))
}
