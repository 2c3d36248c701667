//! The keys that a sweep varies, and the combinations of their values.

use crate::file::{Assignment, Misuse};
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// Maximum number of runs of a sweep.
const MAX_RUNS: usize = 100_000;

/// A key of the case and the values that it takes, as `--set` takes them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Vary {
    pub key: String,
    pub values: Vec<String>,
}

/// Keys of `[run]` that the runs of a sweep share.
const SHARED: [(&str, &str); 2] = [
    ("run.out", "each run has a folder of its own in that of the sweep"),
    ("run.threads", "the runs of a sweep share the threads of the process"),
];

impl Vary {
    /// Parses `trace.dt=0.1,0.05` or `walk.seed=1..100`, with both ends of the range.
    pub fn parse(text: &str) -> Result<Vary> {
        let problem = |what: &str| Misuse::error(format!("--vary {text}: {what}"));
        let give = "give a key and its values, such as trace.dt=0.1,0.05 or walk.seed=1..100";
        let (key, values) = text.split_once('=').ok_or_else(|| problem(give))?;
        let assignment = Assignment::parse(&format!("{key}=")).map_err(|_| problem(give))?;
        let key = assignment.key();
        if let Some((_, reason)) = SHARED.iter().find(|(shared, _)| *shared == key) {
            return Err(problem(&format!("{reason}; set {key} for all runs, or vary another key")));
        }
        let mut all = Vec::new();
        for value in items(values) {
            match range(value) {
                None => all.push(value.into()),
                Some((first, last)) if first > last => {
                    return Err(problem(&format!("{first} is above {last}; give {last}..{first}")));
                }
                Some((first, last)) if last.abs_diff(first) >= MAX_RUNS as u64 => {
                    return Err(problem(&format!("give up to {MAX_RUNS} values")));
                }
                Some((first, last)) => all.extend((first..=last).map(|i| i.to_string())),
            }
        }
        // The key as given, for its name in tables; without the spaces around it.
        Ok(Vary { key: key_text(text), values: all })
    }

    /// The assignment of one of its values, as of `--set`.
    pub fn assignment(&self, value: usize) -> String {
        format!("{}={}", self.key, self.values[value])
    }

    /// Whether the key is the seed of random numbers, so that runs that differ in it alone are an
    /// ensemble.
    pub fn is_seed(&self) -> bool {
        let assignment = Assignment::parse(&format!("{}=", self.key));
        assignment.is_ok_and(|assignment| assignment.last_key() == Some("seed"))
    }
}

fn key_text(text: &str) -> String {
    text.split('=').next().unwrap_or_default().trim().into()
}

/// The parts of a text between commas that are in no bracket and no quotes.
fn items(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (i, letter) in text.char_indices() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth -= 1,
            (',', None) if depth <= 0 => {
                items.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items
}

/// The ends of a range of whole numbers, as `1..100`.
fn range(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once("..")?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

/// The combinations of values: for each run, the index of the value of each key. The last key varies
/// fastest; with `is_zip`, run `i` has the `i`th value of each key.
pub fn combinations(vary: &[Vary], is_zip: bool) -> Result<Vec<Vec<usize>>> {
    if vary.is_empty() {
        return Err(Misuse::error(
            "give at least one key to vary, such as --vary trace.dt=0.1,0.05",
        ));
    }
    for (i, one) in vary.iter().enumerate() {
        if vary[..i].iter().any(|other| other.key == one.key) {
            return Err(Misuse::error(format!(
                "--vary {} is given twice; give all values in one",
                one.key
            )));
        }
    }
    let lengths: Vec<usize> = vary.iter().map(|one| one.values.len()).collect();
    let count = match is_zip {
        true if lengths.iter().any(|length| *length != lengths[0]) => {
            let counts = vary.iter().map(|one| format!("{} has {}", one.key, one.values.len()));
            return Err(Misuse::error(format!(
                "--zip needs the same number of values for each key, but {}; give as many, or omit --zip for \
                 all combinations",
                counts.collect::<Vec<_>>().join(", ")
            )));
        }
        true => lengths[0],
        false => lengths.iter().fold(1, |product: usize, length| product.saturating_mul(*length)),
    };
    if count > MAX_RUNS {
        return Err(Misuse::error(format!(
            "the sweep has {count} runs; give values for up to {MAX_RUNS}"
        )));
    }
    Ok((0..count).map(|run| values_of(run, &lengths, is_zip)).collect())
}

fn values_of(run: usize, lengths: &[usize], is_zip: bool) -> Vec<usize> {
    if is_zip {
        return vec![run; lengths.len()];
    }
    let mut rest = run;
    let mut values: Vec<usize> = lengths
        .iter()
        .rev()
        .map(|length| {
            let value = rest % length;
            rest /= length;
            value
        })
        .collect();
    values.reverse();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists_and_ranges() {
        let values = |text: &str| Vary::parse(text).unwrap().values;
        assert_eq!(values("trace.dt=0.1, 0.05"), ["0.1", "0.05"]);
        assert_eq!(values("walk.seed=1..3,7"), ["1", "2", "3", "7"]);
        assert_eq!(values("trace.drift=[0,0,0],[0,0,1]"), ["[0,0,0]", "[0,0,1]"]);
        assert_eq!(values("trace.t1=,5"), ["", "5"]);
        assert_eq!(values("units.length=\"a,b\",'c,d'"), ["\"a,b\"", "'c,d'"]);
        assert_eq!(values("field.files=../a.vti"), ["../a.vti"]);
        assert_eq!(Vary::parse(" source[0].rate = 1").unwrap().key, "source[0].rate");
    }

    #[test]
    fn invalid_values_are_refused() {
        for (text, part) in [
            ("trace.dt", "give a key and its values"),
            ("=1", "give a key and its values"),
            ("walk.seed=9..1", "give 1..9"),
            ("walk.seed=0..9999999", "give up to 100000 values"),
            ("run.out=a,b", "folder of its own"),
            ("run.threads=1,2", "share the threads"),
        ] {
            let message = Vary::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        let vary = |text: &str| Vary::parse(text).unwrap();
        let two = [vary("a.b=1,2"), vary("c.d=1,2,3")];
        let message = combinations(&two, true).unwrap_err().to_string();
        assert!(message.contains("a.b has 2, c.d has 3"), "{message}");
        let twice = [vary("a.b=1,2"), vary("a.b=3")];
        assert!(combinations(&twice, false).unwrap_err().to_string().contains("twice"));
        let many = [vary("a.b=1..1000"), vary("c.d=1..1000")];
        assert!(combinations(&many, false).unwrap_err().to_string().contains("1000000 runs"));
    }

    #[test]
    fn the_last_key_varies_fastest() {
        let vary = |text: &str| Vary::parse(text).unwrap();
        let two = [vary("a.b=1,2"), vary("c.d=1,2,3")];
        let all = combinations(&two, false).unwrap();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        let three = [vary("a.b=1,2"), vary("c.seed=3,4")];
        assert_eq!(combinations(&three, true).unwrap(), [[0, 0], [1, 1]]);
        assert_eq!([three[0].is_seed(), three[1].is_seed()], [false, true]);
    }
}
