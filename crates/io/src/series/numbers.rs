//! The numbers in file names.

use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// The last number in a file name without its extension.
#[derive(Debug, PartialEq)]
struct LastNumber {
    /// The name before the number.
    before: String,
    /// The number with its sign, decimals and exponent: `0.50` for `u_0.50.vti`.
    written: String,
    /// Its last digits, which are the number in names such as `v2.0010`.
    digits: String,
}

impl LastNumber {
    /// The last number of a file name, if it has one.
    fn of(path: &Path) -> Option<LastNumber> {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        let name = stem.trim_end_matches(|c| !is_digit(c));
        let digits_at = run_start(name);
        let mut start = digits_at;
        for mark in ["e-", "e+", "E-", "E+", "."] {
            let mantissa =
                name[..start].strip_suffix(mark).filter(|before| before.ends_with(is_digit));
            start = mantissa.map_or(start, run_start);
        }
        // A minus sign follows another separator, as in `u_-5`.
        let is_sign = |before: &&str| !before.ends_with(char::is_alphanumeric);
        let sign = name[..start].strip_suffix('-').filter(is_sign);
        start = sign.map_or(start, str::len);
        let (before, written, digits) = (&name[..start], &name[start..], &name[digits_at..]);
        (!digits.is_empty()).then(|| LastNumber {
            before: before.into(),
            written: written.into(),
            digits: digits.into(),
        })
    }

    fn is_plain(&self) -> bool {
        self.written == self.digits
    }

    fn as_written(&self) -> f64 {
        self.written.parse().unwrap_or(f64::NAN)
    }

    fn as_integer(&self) -> f64 {
        self.digits.parse().unwrap_or(f64::NAN)
    }

    /// The part of the number that it would not have as an integer.
    fn prefix(&self) -> &str {
        &self.written[..self.written.len() - self.digits.len()]
    }
}

/// Where the digits at the end of a name start.
fn run_start(name: &str) -> usize {
    name.trim_end_matches(is_digit).len()
}

/// The last number in the name of each file, without its extension: 10 for `run2/u_010.vti`, 0.5 for `u_0.50.vti`.
///
/// # Errors
///
/// If a name has no number, if several numbers vary from name to name, or if a number can be read in two ways: as
/// 0.25 or as 25, in `u_0.25` and `u_0.50`.
pub(super) fn numbers(paths: &[PathBuf]) -> Result<Vec<f64>> {
    let number = |path: &PathBuf| {
        let problem = format!(
            "`{}` has no number in its name, which `file_dt` needs; give `times` instead",
            path.display()
        );
        LastNumber::of(path).ok_or(Error::Times(problem))
    };
    let numbers: Vec<LastNumber> = paths.iter().map(number).collect::<Result<_>>()?;
    check_other_numbers(paths, &numbers)?;
    match are_decimals(&numbers) {
        Some(true) => Ok(numbers.iter().map(LastNumber::as_written).collect()),
        Some(false) => Ok(numbers.iter().map(LastNumber::as_integer).collect()),
        None => {
            let (number, path) = (&numbers[0], paths[0].display());
            Err(Error::Times(format!(
                "the number in the name of `{path}` can be {} or {}; give `times` instead of `file_dt`, or call \
                 the files by whole numbers",
                number.as_written(),
                number.as_integer()
            )))
        }
    }
}

/// Checks that only the last number differs from name to name.
fn check_other_numbers(paths: &[PathBuf], numbers: &[LastNumber]) -> Result<()> {
    let others = |number: &LastNumber| -> Vec<String> {
        let runs = number.before.split(|c| !is_digit(c)).filter(|run| !run.is_empty());
        runs.map(str::to_owned).collect()
    };
    let is_other = |number: &LastNumber| others(number) != others(&numbers[0]);
    let Some(other) = numbers.iter().position(is_other) else { return Ok(()) };
    let [first, other] = [0, other].map(|file| paths[file].display());
    Err(Error::Times(format!(
        "`{first}` and `{other}` differ in more than one number, and `file_dt` needs a single one; give `times` \
         instead, and the files as a list in the order of time"
    )))
}

/// Checks that the order of files is the same whether their last numbers have decimals or not.
pub(super) fn check_order(paths: &[PathBuf]) -> Result<()> {
    let number = |path| LastNumber::of(path).filter(|number| !number.is_plain());
    let pairs = paths.array_windows().filter_map(|[a, b]| Some((a, b, number(a)?, number(b)?)));
    let mut pairs = pairs.filter(|(.., a, b)| a.before == b.before);
    let Some((first, second, a, b)) = pairs.find(|(.., a, b)| a.as_written() > b.as_written())
    else {
        return Ok(());
    };
    let [first, second] = [first, second].map(|path| path.display());
    let (a, b) = (a.as_written(), b.as_written());
    Err(Error::Times(format!(
        "the order of `{first}` and `{second}` depends on whether their numbers are {a} and {b}; give the files as a \
         list in the order of `times`"
    )))
}

/// Whether the numbers are as they are written, and not just their last digits; `None` if they can be either.
fn are_decimals(numbers: &[LastNumber]) -> Option<bool> {
    let plain = numbers.iter().filter(|number| number.is_plain()).count();
    let has_exponent = |number: &LastNumber| number.prefix().contains(['e', 'E']);
    if plain == numbers.len() {
        return Some(false);
    }
    if plain > 0 || numbers.iter().any(has_exponent) {
        return Some(true);
    }
    let mut sorted: Vec<&LastNumber> = numbers.iter().collect();
    sorted.sort_by(|a, b| a.as_written().total_cmp(&b.as_written()));
    let is_out_of_order = sorted
        .array_windows()
        .any(|[a, b]| a.prefix() != b.prefix() && a.as_integer() >= b.as_integer());
    is_out_of_order.then_some(true)
}

pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::names::natural_order;

    #[test]
    fn the_last_number_before_the_extension_is_used() {
        let number = |name: &str| numbers(&[name.into()]).ok();
        assert_eq!(number("run7/u_010.vti"), Some(vec![10.0]));
        assert_eq!(number("T0000000500.vtu"), Some(vec![500.0]));
        assert_eq!(number("u.12"), None);
        assert_eq!(number("u2_b.vti"), Some(vec![2.0]));
        assert_eq!(number("flow.vt5"), None);
        assert_eq!(number("u-5.vti"), Some(vec![5.0]));
    }

    #[test]
    fn an_order_that_depends_on_decimals_is_refused() {
        let check = |names: &[&str]| {
            let mut names = names.to_vec();
            names.sort_by(|a, b| natural_order(a, b));
            let paths: Vec<PathBuf> =
                names.iter().map(|name| format!("{name}.vtk").into()).collect();
            check_order(&paths).map_err(|error| error.to_string())
        };
        for names in
            [&["u_0.50", "u_0.75", "u_1.00"][..], &["u_1", "u_10", "u_2"], &["v2.001", "v2.010"]]
        {
            assert_eq!(check(names), Ok(()), "{names:?}");
        }
        for names in [["u_0.5", "u_0.25"], ["u_1e-05", "u_1e-10"], ["u_-5", "u_-4"]] {
            assert!(check(&names).unwrap_err().contains("depends on whether"), "{names:?}");
        }
    }

    /// The numbers of names with the extension of VTK files.
    fn of(names: &[&str]) -> std::result::Result<Vec<f64>, String> {
        let paths: Vec<PathBuf> = names.iter().map(|name| format!("{name}.vtk").into()).collect();
        numbers(&paths).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_are_as_written_with_their_decimals() {
        let cases: [(&[&str], &[f64]); 9] = [
            (&["u_0.50", "u_0.75", "u_1.00", "u_1.25"], &[0.5, 0.75, 1.0, 1.25]),
            (&["u_9.5", "u_10", "u_10.25"], &[9.5, 10.0, 10.25]),
            (&["u_0", "u_0.5"], &[0.0, 0.5]),
            (&["u_1.5e-03", "u_2.5e-03"], &[1.5e-3, 2.5e-3]),
            (&["u_1e-05"], &[1e-5]),
            (&["u_-5", "u_-4", "u_0"], &[-5.0, -4.0, 0.0]),
            (&["u_-0.5", "u_-0.25", "u_0.0"], &[-0.5, -0.25, 0.0]),
            (&["u2_01", "u2_1", "u2_100"], &[1.0, 1.0, 100.0]),
            (&["a-1", "a-2"], &[1.0, 2.0]),
        ];
        for (names, expected) in cases {
            assert_eq!(of(names).as_deref(), Ok(expected), "{names:?}");
        }
    }

    #[test]
    fn numbers_that_can_be_read_in_two_ways_are_refused() {
        for (names, readings) in [
            (&["u_0.25", "u_0.50"][..], "can be 0.25 or 25;"),
            (&["u_0.5", "u_0.25"], "can be 0.5 or 5;"),
            (&["v2.0010", "v2.0020"], "can be 2.001 or 10;"),
            // A restart that continues the numbers.
            (&["run1.0098", "run1.0099", "run2.0100"], "can be 1.0098 or 98;"),
            (&["u_-5", "u_-4"], "can be -5 or 5;"),
            (&["u_0p50", "u_1p00"], "differ in more than one number"),
            (&["u_2020-01-31", "u_2020-02-01"], "differ in more than one number"),
        ] {
            let error = of(names).unwrap_err();
            assert!(error.contains(readings), "{names:?}: {error}");
        }
    }
}
