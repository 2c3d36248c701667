//! Times of a variable.

use crate::axis::UnitCheck;
use crate::calendar::{Calendar, Reference};
use crate::layout::Layout;
use crate::packing::Packing;
use crate::store::{ScalarType, Store, Variable};
use crate::units::Quantity;
use crate::values::Values;
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

/// Whole days and milliseconds of the day, as FVCOM writes them beside times in single precision.
const DAYS_AND_MILLISECONDS: [&str; 2] = ["Itime", "Itime2"];
const MILLISECONDS_OF_A_DAY: f64 = 86_400_000.0;

/// The times of FVCOM as whole numbers; `None` if there are none on the dimension.
fn whole_times(store: &dyn Store, coordinate: &Variable) -> Result<Option<Times>> {
    let [Some(days), Some(milliseconds)] = DAYS_AND_MILLISECONDS.map(|name| store.find(name))
    else {
        return Ok(None);
    };
    let units = [days, milliseconds].map(|of| of.text("units").unwrap_or_default());
    let are_known = units[0].starts_with("days since") && units[1].starts_with("msec since 00:00");
    let are_of_times = [days, milliseconds].iter().all(|of| of.dimensions == coordinate.dimensions);
    if !are_known || !are_of_times {
        return Ok(None);
    }
    let fail = |reason: String| Error::variable(store.path(), &days.name, reason);
    let reference = Reference::parse(units[0], days.text("calendar")).map_err(fail)?;
    let [days, milliseconds] =
        [days, milliseconds].map(|of| store.read_all(of).map(Values::into_f64));
    let pairs = days?.into_iter().zip(milliseconds?);
    let values = pairs.map(|(day, of_day)| day + of_day / MILLISECONDS_OF_A_DAY).collect();
    Ok(Some(Times::Dated(DatedTimes { reference, values })))
}

/// Seconds between times in single precision of which a note tells.
const MAX_ROUNDING: f64 = 1.0;

fn read_times(store: &dyn Store, coordinate: &Variable, units: &mut UnitCheck) -> Result<Times> {
    let fail = |reason: String| Error::variable(store.path(), &coordinate.name, reason);
    let text = coordinate.text("units").unwrap_or_default();
    let is_dated = text.to_ascii_lowercase().contains(" since ");
    let unit = match is_dated {
        true => None,
        false => units.unit(store, coordinate, Quantity::Time)?,
    };
    let is_single = coordinate.scalar == Some(ScalarType::F32);
    if let Some(times) = whole_times(store, coordinate)?.filter(|_| is_dated && is_single) {
        let names = DAYS_AND_MILLISECONDS.map(|name| format!("`{name}`")).join(" and ");
        units.convert(format!("times are those of {names}, and not of `{}`", coordinate.name));
        return Ok(times);
    }
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
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs() as f32));
    let next =
        DatedTimes { reference: reference.clone(), values: vec![f64::from(largest.next_up())] };
    let clock = Clock { reference: reference.clone(), start: f64::from(largest) };
    let step = next.seconds_from(&clock).ok().and_then(|seconds| seconds.first().copied());
    if let Some(step) = step.filter(|step| is_single && *step > MAX_ROUNDING) {
        units.notes.push(format!(
            "`{}` is in single precision: its times are multiples of {step:.1} s",
            coordinate.name
        ));
    }
    Ok(Times::Dated(DatedTimes { reference, values }))
}
