//! Units of lengths and times, as UDUNITS and CF write them.

/// A product of powers of metres and seconds, with a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Power of the length.
    pub length: i32,
    /// Power of the time.
    pub time: i32,
    /// Numerator of the factor to metres and seconds.
    over: f64,
    /// Denominator of the factor.
    under: f64,
}

/// What a variable must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Length,
    Time,
    Speed,
    Diffusivity,
}

impl Quantity {
    /// Powers of the length and the time.
    fn powers(self) -> [i32; 2] {
        match self {
            Quantity::Length => [1, 0],
            Quantity::Time => [0, 1],
            Quantity::Speed => [1, -1],
            Quantity::Diffusivity => [2, -1],
        }
    }

    /// The unit to which values are converted.
    pub fn si(self) -> &'static str {
        match self {
            Quantity::Length => "m",
            Quantity::Time => "s",
            Quantity::Speed => "m s-1",
            Quantity::Diffusivity => "m2 s-1",
        }
    }

    /// Reads a unit of the quantity.
    pub fn unit(self, text: &str) -> Result<Unit, String> {
        let unit = Unit::parse(text);
        let fits = |unit: &Unit| [unit.length, unit.time] == self.powers();
        unit.filter(fits).ok_or_else(|| {
            let what = match self {
                Quantity::Length => "a length",
                Quantity::Time => "a time",
                Quantity::Speed => "a velocity",
                Quantity::Diffusivity => "a diffusivity",
            };
            format!(
                "its units `{text}` are not those of {what}, such as `{}`; known are {LENGTHS} and {TIMES} \
                 (s, min, h, d), and products of them such as `cm s-1` or `km/h`: convert the variable, or \
                 correct its attribute `units`",
                self.si()
            )
        })
    }
}

/// The names of units, for messages.
const LENGTHS: &str = "m, km, dm, cm, mm, um, nm, ft";
const TIMES: &str = "seconds, minutes, hours, days";

/// Whether a unit is a pressure, such as `hPa`.
pub(crate) fn is_pressure(text: &str) -> bool {
    let known = ["pa", "hpa", "kpa", "mb", "mbar", "millibar", "bar", "dbar", "decibar"];
    known.contains(&text.to_ascii_lowercase().trim_end_matches('s'))
}

impl Unit {
    /// Reads a unit; `None` if it is not a product of powers of lengths and times.
    pub fn parse(text: &str) -> Option<Unit> {
        let mut unit = Unit { length: 0, time: 0, over: 1.0, under: 1.0 };
        let text = text.replace("**", "^").replace(" per ", "/").replace('µ', "u");
        let mut divides = false;
        let mut start = 0;
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        for (at, separator) in text.char_indices().chain([(text.len(), ' ')]) {
            if !matches!(separator, ' ' | '.' | '*' | '/' | '·') {
                continue;
            }
            if at > start {
                unit = unit.times(factor(&text[start..at])?, divides);
                divides = false;
            }
            divides |= separator == '/';
            start = at + separator.len_utf8();
        }
        (!divides).then_some(unit)
    }

    fn times(self, (base, power): (Unit, i32), divides: bool) -> Unit {
        let power = if divides { -power } else { power };
        let (over, under) = match power < 0 {
            true => (base.under, base.over),
            false => (base.over, base.under),
        };
        let times = power.abs();
        Unit {
            length: self.length + power * base.length,
            time: self.time + power * base.time,
            over: self.over * over.powi(times),
            under: self.under * under.powi(times),
        }
    }

    /// Whether values in this unit are in metres and seconds.
    pub fn is_si(&self) -> bool {
        self.over == self.under
    }

    /// A value in metres and seconds.
    pub fn convert(&self, value: f64) -> f64 {
        if self.is_si() { value } else { value * self.over / self.under }
    }
}

/// A base unit with its power, such as `s-1`, `m2` or `s^-1`.
fn factor(text: &str) -> Option<(Unit, i32)> {
    let end = text.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '^'));
    let (name, power) = text.split_at(end.unwrap_or(text.len()));
    let power = match power.strip_prefix('^').unwrap_or(power) {
        "" => 1,
        digits => digits.parse().ok().filter(|power: &i32| power.abs() <= 3)?,
    };
    let (length, time, over, under) = base(name)?;
    Some((Unit { length, time, over, under }, power))
}

/// Powers of length and time, and the factor, of a base unit.
fn base(name: &str) -> Option<(i32, i32, f64, f64)> {
    let length = |over, under| Some((1, 0, over, under));
    let time = |over, under| Some((0, 1, over, under));
    match name {
        // The symbols of UDUNITS distinguish capitals.
        "m" => length(1.0, 1.0),
        "km" => length(1e3, 1.0),
        "dm" => length(1.0, 10.0),
        "cm" => length(1.0, 1e2),
        "mm" => length(1.0, 1e3),
        "um" => length(1.0, 1e6),
        "nm" => length(1.0, 1e9),
        "ft" => length(3048.0, 1e4),
        "s" => time(1.0, 1.0),
        "ms" => time(1.0, 1e3),
        "us" => time(1.0, 1e6),
        "ns" => time(1.0, 1e9),
        "min" => time(60.0, 1.0),
        "h" => time(3600.0, 1.0),
        "d" => time(86_400.0, 1.0),
        _ => spelt(&name.to_ascii_lowercase()),
    }
}

fn spelt(name: &str) -> Option<(i32, i32, f64, f64)> {
    let singular = name.strip_suffix('s').unwrap_or(name);
    Some(
        match singular
            .strip_suffix("re")
            .map(|stem| format!("{stem}er"))
            .as_deref()
            .unwrap_or(singular)
        {
            "meter" => (1, 0, 1.0, 1.0),
            "kilometer" => (1, 0, 1e3, 1.0),
            "decimeter" => (1, 0, 1.0, 10.0),
            "centimeter" => (1, 0, 1.0, 1e2),
            "millimeter" => (1, 0, 1.0, 1e3),
            "micrometer" | "micron" => (1, 0, 1.0, 1e6),
            "nanometer" => (1, 0, 1.0, 1e9),
            "feet" | "foot" => (1, 0, 3048.0, 1e4),
            "second" | "sec" => (0, 1, 1.0, 1.0),
            "millisecond" | "millisec" | "msec" => (0, 1, 1.0, 1e3),
            "microsecond" | "microsec" => (0, 1, 1.0, 1e6),
            "nanosecond" | "nanosec" => (0, 1, 1.0, 1e9),
            "minute" | "min" => (0, 1, 60.0, 1.0),
            "hour" | "hr" => (0, 1, 3600.0, 1.0),
            "day" => (0, 1, 86_400.0, 1.0),
            "knot" | "kt" => (1, -1, 1852.0, 3600.0),
            _ => return None,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_converted_by_exact_ratios() {
        let metres = |text: &str, value: f64| Quantity::Length.unit(text).unwrap().convert(value);
        assert_eq!(
            (metres("km", 3.0), metres("cm", 7.0), metres("metres", 7.1)),
            (3000.0, 0.07, 7.1)
        );
        assert_eq!((metres("Kilometers", 2.0), metres("µm", 5.0)), (2000.0, 5e-6));
        let speed = |text: &str, value: f64| Quantity::Speed.unit(text).unwrap().convert(value);
        for text in ["km h-1", "km/h", "km h**-1", "km h^-1", "km.h-1", "kilometers per hour"] {
            assert_eq!(speed(text, 36.0), 10.0, "{text}");
        }
        for text in ["m s-1", "m/s", "meter second-1", "m s^-1", "m  s-1"] {
            assert!(Quantity::Speed.unit(text).unwrap().is_si(), "{text}");
        }
        assert_eq!((speed("cm s-1", 30.0), speed("knots", 3600.0)), (0.3, 1852.0));
        let diffusivity = Quantity::Diffusivity.unit("cm2/s").unwrap();
        assert_eq!(diffusivity.convert(1.0), 1e-4);
        assert_eq!(Quantity::Time.unit("minutes").unwrap().convert(1.5), 90.0);
    }

    #[test]
    fn other_units_are_refused_with_those_that_are_known() {
        for text in
            ["", "hPa", "1", "s", "m s-2", "m /", "m99", "m s--1", "M", "degrees", "level", "/"]
        {
            let error = Quantity::Length.unit(text).unwrap_err();
            assert!(error.contains(&format!("`{text}`")) && error.contains("km"), "{error}");
        }
        assert!(is_pressure("millibars") && is_pressure("Pa") && !is_pressure("m"));
    }
}
