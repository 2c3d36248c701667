//! A varied key as the axis of a picture.

use super::vary::Vary;
use crate::file;
use burntrace_plot::Axis;

/// From this ratio on, values above 0 have a logarithmic axis.
const LOG_RATIO: f64 = 20.0;
/// Maximum number of letters for words at an axis.
const LETTERS: usize = 90;

/// A varied key that is not a seed of random numbers, with several values.
pub struct KeyAxis {
    pub name: String,
    /// As given.
    pub values: Vec<String>,
    /// The numbers of the values; `None` if one of them is no number.
    numbers: Option<Vec<f64>>,
    /// Whether lengths of time have been converted to seconds.
    has_units: bool,
}

impl KeyAxis {
    pub fn of(vary: &Vary) -> Option<KeyAxis> {
        let mut values: Vec<String> = Vec::new();
        for value in &vary.values {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        if vary.is_seed() || values.len() < 2 {
            return None;
        }
        let numbers = values.iter().map(|value| number(value)).collect::<Option<Vec<f64>>>();
        let has_units = numbers.is_some() && values.iter().any(|value| plain(value).is_none());
        Some(KeyAxis { name: vary.key.clone(), values, numbers, has_units })
    }

    pub fn is_numeric(&self) -> bool {
        self.numbers.is_some()
    }

    /// The numbers in increasing order, each once.
    pub fn sorted(&self) -> Vec<f64> {
        let mut numbers = self.numbers.clone().unwrap_or_default();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers
    }

    /// Whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        match self.sorted()[..] {
            [low, .., high] => low > 0.0 && high >= LOG_RATIO * low,
            _ => false,
        }
    }

    /// Where a value is on the axis: its number, or its place among words.
    pub fn coordinate(&self, value: &str) -> Option<f64> {
        let place = self.values.iter().position(|own| own == value)?;
        Some(self.numbers.as_ref().map_or((place + 1) as f64, |numbers| numbers[place]))
    }

    /// A value for people.
    pub fn shown<'a>(&self, value: &'a str) -> &'a str {
        match value.trim_matches(['"', '\'']) {
            "" => "(not set)",
            value => value,
        }
    }

    /// The name with the meaning of places, if values are words.
    pub fn description(&self) -> String {
        if self.is_numeric() {
            return self.name.clone();
        }
        let word = |(i, value): (usize, &String)| format!("{} {}", i + 1, self.shown(value));
        let words: Vec<String> = self.values.iter().enumerate().map(word).collect();
        let words = words.join(", ");
        match words.chars().count() > LETTERS {
            true => format!("{}: the values in their order", self.name),
            false => format!("{}: {words}", self.name),
        }
    }

    /// The axis, with a margin on both sides.
    pub fn axis(&self) -> Axis {
        let (name, unit) = (self.description(), self.unit());
        let range = match self.sorted()[..] {
            [low, .., high] if self.is_log() => {
                let margin = (high / low).powf(0.04);
                [low / margin, high * margin]
            }
            [low, .., high] => {
                let margin = 0.04 * (high - low);
                [low - margin, high + margin]
            }
            _ => [0.5, self.values.len() as f64 + 0.5],
        };
        Axis { name, unit, range }
    }

    /// The unit of values that are given with units.
    pub fn unit(&self) -> String {
        if self.has_units { "s".into() } else { String::new() }
    }
}

/// A value without a unit.
fn plain(value: &str) -> Option<f64> {
    value.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// The number of a value: a number, or a duration in seconds.
fn number(value: &str) -> Option<f64> {
    let value = value.trim_matches(['"', '\'']);
    plain(value).or_else(|| file::length(value).ok()).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> KeyAxis {
        KeyAxis::of(&Vary::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn numbers_durations_and_words_are_told_apart() {
        let numbers = axis("a.b=0.5,1e-1,0.2");
        assert_eq!((numbers.sorted(), numbers.is_log()), (vec![0.1, 0.2, 0.5], false));
        assert_eq!((numbers.coordinate("1e-1"), numbers.unit()), (Some(0.1), String::new()));
        assert!(axis("a.b=0.01,0.1,1").is_log() && !axis("a.b=0,0.1,100").is_log());
        let times = axis("a.b=\"10 min\",\"1 h\"");
        assert_eq!((times.sorted(), times.unit()), (vec![600.0, 3600.0], "s".into()));
        let words = axis("a.b=rk4,\"euler\",");
        assert_eq!((words.is_numeric(), words.coordinate("\"euler\"")), (false, Some(2.0)));
        assert_eq!(words.description(), "a.b: 1 rk4, 2 euler, 3 (not set)");
        assert_eq!(words.axis().range, [0.5, 3.5]);
    }

    #[test]
    fn seeds_and_single_values_have_no_axis() {
        for text in ["walk.seed=1..9", "trace.dt=0.1", "trace.dt=0.1,0.1"] {
            assert!(KeyAxis::of(&Vary::parse(text).unwrap()).is_none(), "{text}");
        }
    }
}
