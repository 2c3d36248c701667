//! Numbers as text.

pub use burntrace_plot::picture::count;

use burntrace_io::tracks::TimeOrigin;
use std::fmt::Display;

/// A large number with an SI prefix: `12.40 M`.
pub fn with_prefix(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.2} G", x / 1e9),
        x if x >= 1e6 => format!("{:.2} M", x / 1e6),
        x if x >= 1e3 => format!("{:.1} k", x / 1e3),
        x => format!("{x:.0}"),
    }
}

/// A count with its noun: `1 cell`, `2 cells`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Lines of names and values, as commands print them.
#[derive(Default)]
pub struct Lines(pub String);

impl Lines {
    /// Adds a line.
    pub fn add(&mut self, name: &str, value: impl Display) {
        self.0 += &format!("{name:<10} {value}\n");
    }

    /// Adds a line for each value, the name in the first of them.
    pub fn list(&mut self, name: &str, values: impl IntoIterator<Item = impl Display>) {
        for (i, value) in values.into_iter().enumerate() {
            self.add(if i == 0 { name } else { "" }, value);
        }
    }
}

/// The verb for a count.
pub fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A number rounded to six significant digits, for printing.
pub fn six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// A number rounded to three significant digits.
pub fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// A time or another number that was computed in decimal steps: `0.3`, not `0.30000000000000004`.
pub fn twelve_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// A time, and its date if times have dates: `3600 (2000-01-01 07:00)`.
pub fn with_date(time: f64, origin: Option<&TimeOrigin>) -> String {
    let number = twelve_digits(time);
    match origin.and_then(|origin| origin.date_of(time)) {
        Some(date) => format!("{number} ({date})"),
        None => number.to_string(),
    }
}

/// The first and the last of some times, with a unit, and their dates if times have dates: `t = 0 to 60 s (2000-01-01 06:00 to
/// 2000-01-01 06:01)`. Empty without times.
pub fn time_range(times: &[f64], unit: &str, origin: Option<&TimeOrigin>) -> String {
    let range = match times {
        [] => return String::new(),
        [first, .., last] if first != last => {
            format!("t = {} to {} {unit}", twelve_digits(*first), twelve_digits(*last))
        }
        [only, ..] => {
            let time = format!("t = {} {unit}", twelve_digits(*only));
            let date = origin.and_then(|origin| origin.date_of(*only));
            return time.trim_end().to_string()
                + &date.map_or(String::new(), |date| format!(" ({date})"));
        }
    };
    let dates = origin.and_then(|origin| origin.range(times));
    let dates = dates.map_or(String::new(), |[first, last]| format!(" ({first} to {last})"));
    range.trim_end().to_string() + &dates
}

/// A coordinate rounded to the power of 10 up to a thousandth of an extent.
pub fn rounded_to_extent(x: f64, extent: f64) -> f64 {
    let step = 10f64.powf((extent / 1000.0).log10().floor());
    match step.is_normal() {
        true => twelve_digits((x / step).round() * step),
        false => x,
    }
}

/// A number of bytes with an SI prefix: `13.21 MB`.
pub fn bytes(count: f64) -> String {
    let space = if count < 1e3 { " " } else { "" };
    format!("{}{space}B", with_prefix(count))
}

/// A duration in seconds, in a unit that suits it: `97 ms`, `3.4 s`, `12 min 5 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0995 => format!("{:.1} ms", 1e3 * s),
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

/// A number for tables, in four significant digits: `0.2410`, `12,345`, `1.05e-26`.
pub fn four_digits(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    let size = rounded.abs();
    if rounded == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{rounded:.3e}");
        return text.replace(".000e", "e");
    }
    if size >= 1e3 {
        let sign = if rounded < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(size.round() as usize));
    }
    rounded.to_string()
}

/// A cell of a CSV table, in quotes if it needs them.
pub fn csv_cell(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// A number in a CSV table; empty if it is not finite.
pub fn csv_number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people_are_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let texts = [0.0, 999.0, 53_866_496.0].map(bytes);
        assert_eq!(texts, ["0 B", "999 B", "53.87 MB"]);
        let texts = [0.0283, 0.4136, 42.2, 725.0, 7300.0].map(duration);
        assert_eq!(texts, ["28.3 ms", "0.41 s", "42 s", "12 min 5 s", "2 h 1 min"]);
        let texts = [0.0, 1.048e-26, 0.240982, 43.761, 2384.74, -1e8].map(four_digits);
        assert_eq!(texts, ["0", "1.048e-26", "0.241", "43.76", "2,385", "-1e8"]);
    }

    #[test]
    fn coordinates_are_rounded_by_the_extent() {
        assert_eq!(rounded_to_extent(29.413_124, 44.0), 29.41);
        assert_eq!(rounded_to_extent(5_200_012.345_6, 50.0), 5_200_012.35);
        assert_eq!(rounded_to_extent(-1.234_56e-6, 2e-5), -1.23e-6);
        assert_eq!(rounded_to_extent(0.123_456, 0.0), 0.123_456);
    }

    #[test]
    fn times_have_no_rounding_errors() {
        let texts =
            [0.1 + 0.2, 3.0 * 0.7, 86_400.5, -0.0, 1e-7].map(|x| twelve_digits(x).to_string());
        assert_eq!(texts, ["0.3", "2.1", "86400.5", "-0", "0.0000001"]);
        assert!(twelve_digits(f64::NAN).is_nan());
    }
}
