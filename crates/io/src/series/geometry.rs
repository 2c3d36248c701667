//! The coordinates of a grid: lengths, or longitude and latitude.

use super::info::SeriesInfo;
use burntrace_cf::Turn;
use burntrace_core::sphere::CIRCLE;
use serde::Serialize;

/// Rounding of longitudes relative to their step.
const TOLERANCE: f64 = 1e-3;

/// Rounding of longitudes in single precision, in degrees.
pub(super) const ROUNDING: f64 = 5e-5;

/// The coordinates of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Geometry {
    /// x, y and z are lengths.
    #[default]
    Flat,
    /// x is the longitude and y the latitude in degrees, z the height in metres; velocities are eastward, northward
    /// and upward in m/s.
    Degrees {
        /// How the longitudes close, if they are all around the earth.
        global: Option<Closure>,
    },
}

/// The last column of longitudes that are all around the earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closure {
    /// The last column is one step before the first one, as in 0, 1, ..., 359.
    Omitted,
    /// The last column repeats the first one at 360 degrees more.
    Repeated,
}

impl Geometry {
    /// The geometry of a grid with these increasing longitudes.
    pub(super) fn of_degrees(longitudes: &[f64]) -> Geometry {
        Geometry::Degrees { global: closure(longitudes) }
    }

    /// Whether positions are longitude and latitude.
    pub fn is_in_degrees(self) -> bool {
        matches!(self, Geometry::Degrees { .. })
    }

    /// How the longitudes close, if they are all around the earth.
    pub fn global(self) -> Option<Closure> {
        match self {
            Geometry::Degrees { global } => global,
            Geometry::Flat => None,
        }
    }
}

impl SeriesInfo {
    /// Adds whether the field reaches the surface of the sea, from the heights of the whole grid and of the part that is read.
    pub(super) fn add_surface(&mut self, [whole, read]: [&[f64]; 2]) {
        let [.., below, top] = whole else { return };
        self.reaches_surface = (0.0..top - below).contains(&-top) && read.last() == Some(top);
        if self.reaches_surface && *top < 0.0 {
            let note =
                format!("from z = {top} up to the surface z = 0 the velocity is that at {top}");
            self.conversions.push(note.clone());
            self.notes.push(note);
        }
    }
}

/// Refuses longitudes that overlap after a full turn.
pub(super) fn check_turn(longitudes: &[f64]) -> std::result::Result<(), String> {
    let [first, .., last] = *longitudes else { return Ok(()) };
    let tolerance = (TOLERANCE * (last - first) / (longitudes.len() - 1) as f64).max(ROUNDING);
    match last - first > CIRCLE + tolerance {
        false => Ok(()),
        true => Err(format!(
            "its longitudes are from {first} to {last}, more than a full turn; read one turn, from {first} to {}, by \
             `crop`",
            first + CIRCLE
        )),
    }
}

/// The whole turns in degrees by which an interval of longitudes is moved to have most in common with another one.
pub(super) fn whole_turns([low, high]: [f64; 2], [first, last]: [f64; 2]) -> f64 {
    let middle = (0.5 * (first + last - low - high) / CIRCLE).round();
    let common = |turns: f64| (high + turns).min(last) - (low + turns).max(first);
    let turns = [0.0, middle, middle - 1.0, middle + 1.0].map(|turns| turns * CIRCLE);
    // The first one of equal ones.
    turns
        .into_iter()
        .reduce(|best, next| if common(next) > common(best) { next } else { best })
        .unwrap_or(0.0)
}

/// The turn after which increasing longitudes, which may be decreasing in the file, have an interval in them; `None` if they have
/// it, or cannot.
pub(super) fn turn_to(longitudes: &[f64], [low, high]: [f64; 2], is_flipped: bool) -> Option<Turn> {
    let [first, .., last] = *longitudes else { return None };
    let count = longitudes.len();
    let Some(closure) = closure(longitudes) else {
        let degrees = whole_turns([first, last], [low, high]);
        return (degrees != 0.0).then_some(Turn { first: 0, columns: count, degrees });
    };
    let is_inside = low >= first - ROUNDING && high <= first + CIRCLE + ROUNDING;
    if is_inside || !(low.is_finite() && high - low <= CIRCLE + ROUNDING) {
        return None;
    }
    let columns = if closure == Closure::Repeated { count - 1 } else { count };
    let turns = |x: f64| CIRCLE * ((low + ROUNDING - x) / CIRCLE).floor();
    let at = |column: usize| longitudes[column] + turns(longitudes[column]);
    let west = (0..columns).reduce(|best, next| if at(next) > at(best) { next } else { best })?;
    // Decreasing longitudes begin with the last column of the turn, which is above the first one.
    let (first, more) = match is_flipped && west > 0 {
        true => (columns - west, CIRCLE),
        false => (west, 0.0),
    };
    Some(Turn { first, columns, degrees: turns(longitudes[west]) + more })
}

fn closure(longitudes: &[f64]) -> Option<Closure> {
    let [first, .., last] = *longitudes else { return None };
    let count = longitudes.len() as f64;
    let step = (last - first) / (count - 1.0);
    let tolerance = (TOLERANCE * step).max(ROUNDING);
    if (last - first - CIRCLE).abs() <= tolerance {
        return Some(Closure::Repeated);
    }
    let is_even = longitudes
        .iter()
        .enumerate()
        .all(|(i, longitude)| (longitude - (first + i as f64 * step)).abs() <= tolerance);
    (is_even && (count * step - CIRCLE).abs() <= tolerance).then_some(Closure::Omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(first: f64, step: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| first + step * i as f64).collect()
    }

    #[test]
    fn longitudes_around_the_earth_omit_or_repeat_their_first_column() {
        for (step, count) in
            [(0.25, 1440), (1.0, 360), (1.0 / 12.0, 4320), (0.08, 4500), (120.0, 3)]
        {
            for first in [0.0, -180.0, 74.16] {
                let longitudes = even(first, step, count);
                assert_eq!(closure(&longitudes), Some(Closure::Omitted), "{step}");
                let single: Vec<f64> = longitudes.iter().map(|x| f64::from(*x as f32)).collect();
                assert_eq!(closure(&single), Some(Closure::Omitted), "{step} in single precision");
                let repeated = even(first, step, count + 1);
                assert_eq!(closure(&repeated), Some(Closure::Repeated), "{step}");
                assert_eq!(closure(&even(first, step, count - 1)), None, "{step}");
            }
        }
        let mut uneven = even(0.0, 10.0, 36);
        uneven[7] += 1.0;
        assert_eq!(closure(&uneven), None);
        uneven.push(360.0);
        assert_eq!(closure(&uneven), Some(Closure::Repeated));
        assert_eq!([closure(&[]), closure(&[3.0])], [None; 2]);
        assert_eq!(check_turn(&uneven), Ok(()));
        assert!(check_turn(&even(20.0, 10.0, 41)).unwrap_err().contains("from 20 to 380"));
    }

    #[test]
    fn longitudes_are_turned_to_an_interval() {
        let turned = |axis: &[f64], to: [f64; 2]| {
            let mut other: Vec<f64> = axis.to_vec();
            other.reverse();
            [(axis.to_vec(), false), (other, true)].map(|(of_file, is_flipped)| {
                let turn = turn_to(axis, to, is_flipped)?;
                let new = turn.axis(&of_file);
                let is_in_order = new.windows(2).all(|pair| (pair[0] < pair[1]) != is_flipped);
                assert!(is_in_order, "{new:?}");
                Some([new[0].min(new[new.len() - 1]), new[0].max(new[new.len() - 1])])
            })
        };
        let (omitted, repeated) = (even(0.0, 10.0, 36), even(-180.0, 10.0, 37));
        for (axis, to, expected) in [
            (&omitted, [-10.0, 5.0], Some([-10.0, 340.0])),
            (&omitted, [-14.0, 346.0], Some([-20.0, 330.0])),
            (&omitted, [0.0, 360.0], None),
            (&omitted, [360.0, 370.0], Some([360.0, 710.0])),
            (&omitted, [-10.0, 360.0], None),
            (&repeated, [350.0, 365.0], Some([350.0, 710.0])),
            (&repeated, [180.0, 190.0], Some([180.0, 540.0])),
            (&repeated, [-180.0, 180.0], None),
            (&even(300.0, 1.0, 40), [-50.0, -30.0], Some([-60.0, -21.0])),
            (&even(-60.0, 1.0, 40), [310.0, 350.0], Some([300.0, 339.0])),
            (&even(0.0, 1.0, 40), [10.0, 50.0], None),
            (&even(0.0, 1.0, 40), [100.0, 110.0], None),
        ] {
            assert_eq!(turned(axis, to), [expected; 2], "{to:?}");
        }
    }
}
