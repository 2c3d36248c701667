//! What became of the released particles, by cause and place.

use burntrace::{Face, Status, analysis::statistics::GroupStatistics};
use serde::Serialize;
use serde_json::Value;

/// Maximum number of outcomes that are named in a sentence; the rest is counted together.
const NAMED: usize = 6;

/// Particles with the same outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The status, as `exited x-high`.
    pub status: String,
    /// The patch of the boundary or the condition, of statuses that have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What they did, as a verb with its object.
    #[serde(skip)]
    pub verb: String,
    pub count: u64,
    /// Part of the released particles.
    pub share: f64,
}

impl Outcome {
    fn new(
        status: Status,
        name: Option<&str>,
        count: u64,
        (released, is_map): (u64, bool),
    ) -> Outcome {
        let share = count as f64 / released.max(1) as f64;
        let verb = verb(status, name, is_map);
        Outcome { status: status.to_string(), name: name.map(Into::into), verb, count, share }
    }
}

/// The outcomes of the particles that have ended, the most frequent first. The summary names patches and conditions. On a map,
/// faces have directions.
pub fn of(all: &GroupStatistics, summary: &Value, is_map: bool) -> Vec<Outcome> {
    let whole = (all.released, is_map);
    let mut outcomes = Vec::new();
    for end in &all.ends {
        let names = match end.status {
            Status::LeftMesh => summary["patches"].as_object(),
            Status::Stopped => summary["conditions"].as_object(),
            _ => None,
        };
        let mut rest = end.count;
        for (name, count) in names.into_iter().flatten() {
            let count = count.as_u64().unwrap_or(0).min(rest);
            rest -= count;
            outcomes.push(Outcome::new(end.status, Some(name), count, whole));
        }
        outcomes.push(Outcome::new(end.status, None, rest, whole));
    }
    outcomes.retain(|outcome| outcome.count > 0);
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.count));
    outcomes
}

/// The outcomes as a sentence about the released particles. `at` says when some are still active.
pub fn sentence(outcomes: &[Outcome], all: &GroupStatistics, at: &str) -> String {
    let active = (all.active, format!("were still active {at}"));
    let shown = if outcomes.len() > NAMED { NAMED - 1 } else { outcomes.len() };
    let (named, others) = outcomes.split_at(shown);
    let others = (others.iter().map(|of| of.count).sum(), "ended in other ways".into());
    let named = named.iter().map(|outcome| (outcome.count, outcome.verb.clone()));
    let parts: Vec<(u64, String)> =
        named.chain([others, active]).filter(|(count, _)| *count > 0).collect();
    match &parts[..] {
        [(1, verb)] => format!("It {}.", verb.replacen("were ", "was ", 1)),
        [(_, verb)] => format!("All of them {verb}."),
        parts => format!("{}.", listed(parts, all.released)),
    }
}

/// Counts with their shares and verbs, as a list in words.
fn listed(parts: &[(u64, String)], released: u64) -> String {
    let one = |(count, verb): &(u64, String)| {
        let verb = if *count == 1 { verb.replacen("were ", "was ", 1) } else { verb.clone() };
        format!("{} ({}) {verb}", crate::format::count(*count as usize), percent(*count, released))
    };
    let parts: Vec<String> = parts.iter().map(one).collect();
    match &parts[..] {
        [first, last] => format!("{first}, and {last}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// A share in percent, with a decimal; what is not none or all is not written as such.
pub fn percent(count: u64, of: u64) -> String {
    let percent = 100.0 * count as f64 / of.max(1) as f64;
    match percent {
        p if count > 0 && p < 0.05 => "less than 0.1 %".into(),
        p if count < of && p >= 99.95 => "more than 99.9 %".into(),
        p => format!("{} %", (10.0 * p).round() / 10.0),
    }
}

/// What a particle with a status at the end did.
fn verb(status: Status, name: Option<&str>, is_map: bool) -> String {
    match (status, name) {
        (Status::Exited(face), _) if is_map => {
            format!("left through the face {face} ({})", direction(face))
        }
        (Status::Exited(face), _) => format!("left through the face {face}"),
        (Status::LeftMesh, Some(patch)) => format!("left through the patch `{patch}`"),
        (Status::LeftMesh, None) => "left the mesh".into(),
        (Status::Stopped, Some(condition)) => format!("met the condition `{condition}`"),
        (Status::Stopped, None) => "met a condition".into(),
        (Status::Beached, _) => "landed on the coast".into(),
        (Status::Stuck, _) => "stuck to a surface".into(),
        (Status::HitObstacle, _) => "hit an obstacle".into(),
        (Status::Stagnant, _) => "became slower than the threshold speed".into(),
        (Status::NonFinite, _) => "were lost, as their velocity was not finite".into(),
        (Status::LeftField, _) => "came to a hole of the field".into(),
        (Status::StepTooSmall, _) => "ended, as no step met the tolerance".into(),
        (Status::Waiting | Status::Active | Status::NotLocated, _) => format!("were {status}"),
    }
}

/// What a face of a box in longitude, latitude and height is to people.
fn direction(face: Face) -> &'static str {
    match face {
        Face::XLow => "west",
        Face::XHigh => "east",
        Face::YLow => "south",
        Face::YHigh => "north",
        Face::ZLow => "bottom",
        Face::ZHigh => "top",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_not_rounded_to_none_or_all() {
        let shown = |count, of| percent(count, of);
        assert_eq!([shown(0, 3), shown(1, 3), shown(3, 3)], ["0 %", "33.3 %", "100 %"]);
        assert_eq!(shown(1, 100_000), "less than 0.1 %");
        assert_eq!(shown(99_999, 100_000), "more than 99.9 %");
        assert_eq!([shown(62, 100), shown(0, 0)], ["62 %", "0 %"]);
    }

    #[test]
    fn a_list_has_commas_and_a_conjunction() {
        let part = |count, verb: &str| (count, verb.to_string());
        let two = [part(3, "left"), part(1, "were still active at the end")];
        assert_eq!(listed(&two, 4), "3 (75 %) left, and 1 (25 %) was still active at the end");
        let three = [part(2, "left"), part(1, "stuck"), part(1, "landed")];
        assert_eq!(listed(&three, 4), "2 (50 %) left, 1 (25 %) stuck, and 1 (25 %) landed");
    }
}
