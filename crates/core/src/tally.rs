//! What adds up along the track of each particle, and conditions that end it.

use crate::{FieldArray, error::short};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The name of the speed of the field, where it has no array of this name.
const SPEED: &str = "speed";

/// A quantity along the track of each particle since its release, found in every step: no save is needed for it. A quantity of the
/// field is that of one of its [arrays](FieldArray), of a vector its magnitude, or the `speed` of the field; between the ends of a step
/// (of an adaptive one) it counts as linear in time.
///
/// As text it is the name of the quantity, such as `integral(shear_rate)`:
///
/// ```
/// use burntrace_core::Tally;
///
/// let dose: Tally = "integral(shear_rate)".parse()?;
/// assert_eq!(dose, Tally::Integral("shear_rate".into()));
/// assert_eq!("time_above(T, 310)".parse::<Tally>()?.to_string(), "time_above(T, 310)");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Tally {
    /// `age`: the time since the release, in the data's unit of time.
    Age,
    /// `path_length`: the length of the path, in the data's unit of length, as the sum of straight lines between the ends of steps.
    PathLength,
    /// The quantity itself, for conditions.
    Value(String),
    /// `integral(Q)`: its integral over time, positive in backward runs of a positive quantity, too.
    Integral(String),
    /// `maximum(Q)`: its largest value. Missing values do not count.
    Maximum(String),
    /// `minimum(Q)`: its smallest value.
    Minimum(String),
    /// `time_above(Q, bound)`: the time in which it is above a bound.
    TimeAbove(String, f64),
    /// `time_below(Q, bound)`: the time in which it is below one.
    TimeBelow(String, f64),
}

impl Tally {
    /// The name of the quantity of the field that it follows, if it does.
    pub fn quantity(&self) -> Option<&str> {
        match self {
            Tally::Age | Tally::PathLength => None,
            Tally::Value(of)
            | Tally::Integral(of)
            | Tally::Maximum(of)
            | Tally::Minimum(of)
            | Tally::TimeAbove(of, _)
            | Tally::TimeBelow(of, _) => Some(of),
        }
    }

    /// Whether it is more than the value of an array.
    pub fn adds_up(&self) -> bool {
        !matches!(self, Tally::Value(_))
    }

    /// The tally as kernels take it, in a field with arrays at these first places, or why there is none.
    pub(crate) fn in_field(
        &self,
        find: impl Fn(&str) -> Option<(usize, usize)>,
        (arrays, is_on_sphere): (&[FieldArray], bool),
    ) -> Result<burntrace_kernels::Tally, String> {
        use burntrace_kernels::{Followed, TallyKind};
        let of = match self.quantity() {
            None if *self == Tally::Age => Followed::One,
            None => Followed::Path,
            Some(name) => match find(name) {
                Some((first, count)) => Followed::Values { first, count },
                // On a sphere a vector in space, and the component upwards.
                None if name == SPEED => {
                    Followed::Values { first: 0, count: if is_on_sphere { 4 } else { 3 } }
                }
                None => {
                    let names: Vec<String> =
                        arrays.iter().map(|array| format!("`{}`", array.name)).collect();
                    let has = match names.is_empty() {
                        true => String::new(),
                        false => format!("{}, ", names.join(", ")),
                    };
                    let functions = match name.contains('(') {
                        true => {
                            "; functions are integral, maximum, minimum, time_above and time_below"
                        }
                        false => "",
                    };
                    return Err(format!(
                        "the field that is traced has no array `{name}`; it has {has}`{SPEED}`{functions}"
                    ));
                }
            },
        };
        let bound = |bound: f64| match bound.is_finite() {
            true => Ok(bound),
            false => Err(format!("its bound is {}; give a number", short(bound))),
        };
        let kind = match self {
            Tally::Age | Tally::PathLength | Tally::Integral(_) => TallyKind::Integral,
            Tally::Value(_) => TallyKind::Value,
            Tally::Maximum(_) => TallyKind::Maximum,
            Tally::Minimum(_) => TallyKind::Minimum,
            Tally::TimeAbove(_, of) => TallyKind::TimeAbove(bound(*of)?),
            Tally::TimeBelow(_, of) => TallyKind::TimeBelow(bound(*of)?),
        };
        Ok(burntrace_kernels::Tally { of, kind })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tally::Age => f.write_str("age"),
            Tally::PathLength => f.write_str("path_length"),
            Tally::Value(of) => f.write_str(of),
            Tally::Integral(of) => write!(f, "integral({of})"),
            Tally::Maximum(of) => write!(f, "maximum({of})"),
            Tally::Minimum(of) => write!(f, "minimum({of})"),
            Tally::TimeAbove(of, bound) => write!(f, "time_above({of}, {bound})"),
            Tally::TimeBelow(of, bound) => write!(f, "time_below({of}, {bound})"),
        }
    }
}

impl FromStr for Tally {
    type Err = String;

    /// # Errors
    ///
    /// For arguments that a function does not take. Any other text is the name of a quantity.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let Some((function, arguments)) = call else {
            return match text {
                "" => Err("it is empty; give a quantity, such as `age`".into()),
                "age" => Ok(Tally::Age),
                "path_length" => Ok(Tally::PathLength),
                _ => Ok(Tally::Value(text.into())),
            };
        };
        let arguments: Vec<&str> = match function {
            // Names of arrays may have commas.
            "time_above" | "time_below" => match arguments.rsplit_once(',') {
                Some((of, bound)) => vec![of.trim(), bound.trim()],
                None => vec![arguments.trim()],
            },
            _ => vec![arguments.trim()],
        };
        let number = |text: &str| {
            text.parse()
                .map_err(|_| format!("`{text}` is not a number, as the bound of `{function}` is"))
        };
        match (function, &arguments[..]) {
            (_, ["", ..]) => {
                Err(format!("`{function}` is of no quantity; give one in the brackets"))
            }
            ("integral", [of]) => Ok(Tally::Integral(of.to_string())),
            ("maximum", [of]) => Ok(Tally::Maximum(of.to_string())),
            ("minimum", [of]) => Ok(Tally::Minimum(of.to_string())),
            ("time_above", [of, bound]) => Ok(Tally::TimeAbove(of.to_string(), number(bound)?)),
            ("time_below", [of, bound]) => Ok(Tally::TimeBelow(of.to_string(), number(bound)?)),
            ("time_above" | "time_below", [of]) => {
                Err(format!("`{function}` has no bound; give one, as in `{function}({of}, 310)`"))
            }
            // A derivative, such as `gradient(T)`, or an array of that name.
            _ => Ok(Tally::Value(text.into())),
        }
    }
}

/// A tally that is saved, and its name in the results.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedTally {
    /// The name.
    pub name: String,
    /// What adds up.
    pub tally: Tally,
}

/// Ends particles of which a tally reaches a bound, as [`Status::Stopped`](crate::Status::Stopped), at the time and on the straight
/// line of the step on which it does. As text it is a comparison:
///
/// ```
/// use burntrace_core::StopCondition;
///
/// let condition: StopCondition = "age > 3.5".parse()?;
/// assert!(condition.is_above && condition.bound == 3.5);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct StopCondition {
    /// What is compared.
    pub tally: Tally,
    /// Whether particles end above the bound, not below it.
    pub is_above: bool,
    /// The bound.
    pub bound: f64,
}

impl fmt::Display for StopCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_above { '>' } else { '<' };
        write!(f, "{} {sign} {}", self.tally, self.bound)
    }
}

impl From<StopCondition> for String {
    fn from(condition: StopCondition) -> String {
        condition.to_string()
    }
}

impl TryFrom<String> for StopCondition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for StopCondition {
    type Err = String;

    /// # Errors
    ///
    /// For a text that compares nothing with a number.
    fn from_str(text: &str) -> Result<Self, String> {
        let example =
            || format!("`{text}` is no condition; give one such as `age > 3.5` or `T < 273`");
        let at = text.find(['>', '<']).ok_or_else(example)?;
        let (tally, rest) = text.split_at(at);
        let bound = rest[1..].trim_start_matches('=').trim();
        let number: f64 = bound.parse().map_err(|_| example())?;
        if !number.is_finite() {
            return Err(example());
        }
        let tally = tally.trim().parse().map_err(|problem| format!("`{text}`: {problem}"))?;
        Ok(StopCondition { tally, is_above: rest.starts_with('>'), bound: number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_tally_is_read_back() {
        for text in
            ["age", "path_length", "T", "integral(T)", "maximum(u, v)", "time_below(a,b, -3.5)"]
        {
            let tally: Tally = text.parse().unwrap();
            assert_eq!(tally.to_string(), text);
        }
        for text in ["age > 3", "integral(T) < -0.5"] {
            let condition: StopCondition = text.parse().unwrap();
            assert_eq!(condition.to_string(), text);
        }
        assert!("age>=3".parse::<StopCondition>().unwrap().is_above);
    }

    #[test]
    fn errors_say_what_to_write() {
        let refused = |text: &str| text.parse::<Tally>().unwrap_err();
        assert!(refused("integral()").contains("`integral` is of no quantity"));
        assert!(refused("time_above(T)").contains("as in `time_above(T, 310)`"));
        assert!(refused("time_above(T, warm)").contains("`warm` is not a number"));
        let refused = |text: &str| text.parse::<StopCondition>().unwrap_err();
        assert!(refused("age").contains("give one such as `age > 3.5`"));
        assert!(refused("age > old").contains("`age > old` is no condition"));
        let arrays = [FieldArray::new("T", 1)];
        let of = |text: &str| text.parse::<Tally>().unwrap().in_field(|_| None, (&arrays, false));
        assert!(of("integral(p)").unwrap_err().contains("no array `p`; it has `T`, `speed`"));
        assert!(of("integral(speed)").is_ok() && of("age").is_ok());
    }
}
