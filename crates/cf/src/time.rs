//! Times of a variable.

use crate::axis::UnitCheck;
use crate::calendar::{Calendar, Reference};
use crate::choose::{usual_velocity, velocity};
use crate::grid::Request;
use crate::layout::{Layout, time_of};
use crate::mesh::found;
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
        None => velocity(store).or_else(|error| usual_velocity(store).ok_or(error))?.swap_remove(0),
    };
    let variable = found(store, &name)?;
    let (_, layout) = time_of(store, variable);
    TimeAxis::read(store, variable, &layout, &mut UnitCheck::default())
}

/// Whole days and milliseconds of the day, as FVCOM writes them beside times in single precision.
const DAYS_AND_MILLISECONDS: [&str; 2] = ["Itime", "Itime2"];
/// A day in seconds.
const DAY: f64 = 86_400.0;

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
    let values = pairs.map(|(day, of_day)| day + of_day / (1e3 * DAY)).collect();
    Ok(Some(Times::Dated(DatedTimes { reference, values })))
}

/// Seconds between times in single precision of which a note tells.
const MAX_ROUNDING: f64 = 1.0;

fn read_times(store: &dyn Store, coordinate: &Variable, units: &mut UnitCheck) -> Result<Times> {
    let fail = |reason: String| Error::variable(store.path(), &coordinate.name, reason);
    let text = coordinate.text("units").unwrap_or_default();
    let is_dated = text.to_ascii_lowercase().contains(" since ");
    let are_dates = text == DATES;
    let unit = match is_dated || are_dates {
        true => None,
        false => units.unit(store, coordinate, Quantity::Time)?,
    };
    let is_single = coordinate.scalar == Some(ScalarType::F32);
    let whole = if is_dated && is_single { whole_times(store, coordinate)? } else { None };
    if let Some(times) = whole {
        let names = DAYS_AND_MILLISECONDS.map(|name| format!("`{name}`")).join(" and ");
        units.convert(format!("times are those of {names}, and not of `{}`", coordinate.name));
        return Ok(times);
    }
    let packing = Packing::of(store, coordinate).map_err(fail)?;
    let values = packing.decode(store.read_all(coordinate)?, unit).map_err(fail)?.values.into_f64();
    if let Some(index) = values.iter().position(|time| !time.is_finite()) {
        return Err(fail(format!("its value {index} is {}, which is not a time", values[index])));
    }
    if !is_dated && !are_dates {
        return Ok(Times::Plain(values));
    }
    let calendar = coordinate.text("calendar");
    let times = match are_dates {
        true => DatedTimes::of_dates(&values, calendar).map_err(fail)?,
        false => DatedTimes { reference: Reference::parse(text, calendar).map_err(fail)?, values },
    };
    units.note_time(coordinate, text, &times.reference);
    if is_single {
        units.notes.extend(times.rounding().map(|step| {
            let name = &coordinate.name;
            format!("`{name}` is in single precision: its times are multiples of {step:.1} s")
        }));
    }
    Ok(Times::Dated(times))
}

/// Units of dates as numbers, with the fraction of the day, as ICON and CDO write them.
const DATES: &str = "day as %Y%m%d.%f";

impl DatedTimes {
    /// Times of dates such as 20200131.25.
    fn of_dates(dates: &[f64], calendar: Option<&str>) -> std::result::Result<DatedTimes, String> {
        let reference = |date: f64| {
            let [year, month, day] = [date / 1e4, date / 1e2 % 1e2, date % 1e2].map(f64::trunc);
            Reference::parse(&format!("days since {year:04}-{month:02}-{day:02}"), calendar)
        };
        let first = reference(dates.first().copied().unwrap_or(1_010_101.0))?;
        let days = |date: &f64| Ok(reference(*date)?.seconds_from(date.fract(), &first, 0.0) / DAY);
        let values = dates.iter().map(days).collect::<std::result::Result<_, String>>()?;
        Ok(DatedTimes { reference: first, values })
    }

    /// The distance in seconds of the largest number of single precision from the next one, if times are not at equal
    /// distances, which may come from it.
    fn rounding(&self) -> Option<f64> {
        let is_uneven = |times: &[f64]| times[1] - times[0] != times[2] - times[1];
        let largest =
            self.values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs() as f32));
        let [start, next] = [largest, largest.next_up()].map(f64::from);
        let step = self.reference.seconds_from(next, &self.reference, start);
        self.values.windows(3).any(is_uneven).then_some(step).filter(|step| *step > MAX_ROUNDING)
    }
}
