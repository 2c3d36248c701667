//! The keys that a fit changes.

use crate::file::{Assignment, Misuse};
use anyhow::Result;
use burntrace::analysis::fit;

/// A key of the case with a number between two bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub key: String,
    pub range: fit::Parameter,
}

impl Parameter {
    /// Parses `walk.diffusivity=0.1:0..10`.
    pub fn parse(text: &str) -> Result<Parameter> {
        let wrong = || {
            Misuse::error(format!(
                "--parameter {text} is not of the form KEY=START:LOW..HIGH, such as walk.diffusivity=0.1:0..10"
            ))
        };
        let (key, rest) = text.split_once('=').ok_or_else(wrong)?;
        let (start, bounds) = rest.split_once(':').ok_or_else(wrong)?;
        let (low, high) = bounds.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let [start, low, high] = [start, low, high].map(number);
        let (Some(start), Some(low), Some(high)) = (start, low, high) else { return Err(wrong()) };
        let key = Assignment::parse(&format!("{key}=0")).map_err(|_| wrong())?.key();
        if low >= high || !(low..=high).contains(&start) {
            return Err(Misuse::error(format!(
                "--parameter {text}: the start {start} must be from {low} to {high}, and the lower bound below the upper one"
            )));
        }
        Ok(Parameter { key, range: fit::Parameter { start, low, high } })
    }

    /// Parses those of a command line.
    pub fn all(texts: &[String]) -> Result<Vec<Parameter>> {
        let all: Vec<Parameter> =
            texts.iter().map(|text| Self::parse(text)).collect::<Result<_>>()?;
        let twice = (1..all.len()).find(|i| all[..*i].iter().any(|other| other.key == all[*i].key));
        match twice {
            Some(i) => Err(Misuse::error(format!(
                "--parameter {} is given twice; give it once",
                all[i].key
            ))),
            None => Ok(all),
        }
    }

    /// The assignment of a value, as of `--set`.
    pub fn assignment(&self, value: f64) -> String {
        format!("{}={value:?}", self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_a_start_and_bounds() {
        let parsed = Parameter::parse("trace.drift[0] = 0 : -1 .. 1").unwrap();
        assert_eq!(parsed.key, "trace.drift[0]");
        assert_eq!(parsed.range, fit::Parameter { start: 0.0, low: -1.0, high: 1.0 });
        assert_eq!((parsed.range.at(0.75), parsed.range.fraction(0.5)), (0.5, 0.75));
        assert_eq!(parsed.assignment(0.25), "trace.drift[0]=0.25");
        for (text, expected) in [
            ("a.b=1", "such as walk.diffusivity=0.1:0..10"),
            ("a.b=1:2", "such as walk.diffusivity=0.1:0..10"),
            ("a.b=1:0..nan", "such as walk.diffusivity=0.1:0..10"),
            ("a.b=2:0..1", "the start 2 must be from 0 to 1"),
            ("a.b=1:1..1", "below the upper one"),
        ] {
            let error = Parameter::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let twice = ["a.b=1:0..2", "a.b=1:0..3"].map(String::from);
        assert!(Parameter::all(&twice).unwrap_err().to_string().contains("given twice"));
    }
}
