//! The answer of a run: how many particles, where they ended, when half of them had, and how fast they were.

use super::{
    outcomes::{self, Outcome},
    release_times::ReleaseTimes,
};
use crate::{
    format::{count, four_digits, rounded_to_extent, twelve_digits},
    results::{Group, Results},
};
use anyhow::Result;
use burntrace::{
    analysis::statistics::{GroupStatistics, SaveStatistics, SpeedFrom, TrackStatistics},
    io::tracks::TimeOrigin,
};
use serde::Serialize;

/// The answer of a run.
#[derive(Serialize)]
pub struct Answer {
    /// All of it in words.
    pub text: String,
    /// Number of released particles, of those still active and of those that have ended.
    pub released: u64,
    pub active: u64,
    pub ended: u64,
    /// The first and the last release time in the order of the run, if they are known.
    pub release_times: Option<[f64; 2]>,
    /// The time up to which particles were followed.
    pub end_time: Option<f64>,
    /// What became of those that have ended, the most frequent first.
    pub outcomes: Vec<Outcome>,
    /// The time since the release within which half of the released particles had ended, if half have.
    pub half_of_released: Option<f64>,
    /// The time since the release within which half of the ended particles had ended.
    pub half_of_ended: Option<f64>,
    pub mean_speed: Option<MeanSpeed>,
}

/// The mean speed of the active particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanSpeed {
    /// Over all saves and particles.
    pub mean: f64,
    /// The smallest and the largest mean over the particles of a save.
    pub at_saves: [f64; 2],
}

impl MeanSpeed {
    fn of(saves: &[SaveStatistics]) -> Option<MeanSpeed> {
        let known = saves.iter().filter(|save| save.moving > 0);
        let known: Vec<(f64, f64)> =
            known.filter_map(|save| Some((save.mean_speed?, save.moving as f64))).collect();
        let weight: f64 = known.iter().map(|(_, moving)| moving).sum();
        let sum: f64 = known.iter().map(|(speed, moving)| speed * moving).sum();
        let speeds = || known.iter().map(|(speed, _)| *speed);
        let at_saves = [speeds().fold(f64::INFINITY, f64::min), speeds().fold(0.0, f64::max)];
        (weight > 0.0).then(|| MeanSpeed { mean: sum / weight, at_saves })
    }
}

impl Answer {
    pub fn of(results: &Results, statistics: &TrackStatistics, groups: &[Group]) -> Result<Answer> {
        let all = &statistics.all;
        let end_time = results.summary["time"].as_f64().or(statistics.times.last().copied());
        let start = results.summary["t0"].as_f64().or(statistics.times.first().copied());
        let is_backward = end_time.zip(start).is_some_and(|(end, start)| end < start);
        let times = ReleaseTimes::of(results, is_backward)?;
        let knows_all = times.count() == all.ended;
        let half = |count: u64| times.within(count.div_ceil(2)).filter(|_| knows_all && count > 0);
        let mut answer = Answer {
            text: String::new(),
            released: all.released,
            active: all.active,
            ended: all.ended,
            release_times: times.releases,
            end_time,
            outcomes: outcomes::of(all, &results.summary, results.radius().is_some()),
            half_of_released: half(all.released),
            half_of_ended: half(all.ended),
            mean_speed: MeanSpeed::of(&all.saves),
        };
        let (unit, origin) = (results.units().time, results.time_origin());
        let words = Words { answer: &answer, results, statistics, unit, origin, is_backward };
        answer.text = words.text(groups);
        Ok(answer)
    }
}

/// What the sentences of an answer need.
struct Words<'a> {
    answer: &'a Answer,
    results: &'a Results,
    statistics: &'a TrackStatistics,
    /// The unit of time.
    unit: String,
    origin: Option<TimeOrigin>,
    is_backward: bool,
}

impl Words<'_> {
    fn text(&self, groups: &[Group]) -> String {
        let all = &self.statistics.all;
        if all.released == 0 {
            return self.nothing();
        }
        let at = if self.statistics.complete { "at the end" } else { "then" };
        let sentences = [
            self.released(groups),
            outcomes::sentence(&self.answer.outcomes, all, at),
            self.half(),
            self.speed(),
        ];
        let sentences: Vec<String> = sentences.into_iter().filter(|of| !of.is_empty()).collect();
        sentences.join(" ")
    }

    /// Why no particle was released.
    fn nothing(&self) -> String {
        let GroupStatistics { waiting, not_located, .. } = self.statistics.all;
        let until = match self.answer.end_time {
            Some(end) if self.statistics.complete => format!(" up to {}", self.at(end)),
            Some(end) => format!(" up to {}, as far as the run has got", self.at(end)),
            None => String::new(),
        };
        let mut why = Vec::new();
        if not_located > 0 {
            let were = if not_located == 1 { "was" } else { "were" };
            why.push(format!("{} {were} not located", with_noun(not_located, "seed")));
        }
        if waiting > 0 {
            let were = if waiting == 1 { "was" } else { "were" };
            why.push(format!("{} {were} waiting for a release", with_noun(waiting, "slot")));
        }
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", and ")) };
        format!("No particle was released{until}{why}.")
    }

    /// How many particles were released, when, and until when they were followed.
    fn released(&self, groups: &[Group]) -> String {
        let (all, answer) = (&self.statistics.all, self.answer);
        let is_one = all.released == 1;
        let particles = with_noun(all.released, "particle");
        let slots = match all.released > self.statistics.slots as u64 {
            true => {
                let slots = with_noun(self.statistics.slots as u64, "slot");
                format!(", one after another in {slots},")
            }
            false => String::new(),
        };
        let origins = self.origins(groups);
        let mut text = match (answer.release_times, answer.end_time, self.statistics.complete) {
            (_, Some(end), false) => {
                let had = if is_one { "has" } else { "have" };
                let done = self.results.tracks.num_saves();
                let planned = self.results.tracks.num_planned_saves();
                format!(
                    "{particles}{slots} {had} been released{origins} up to {}, after {done} of {planned} saves of an \
                     unfinished run",
                    self.at(end)
                )
            }
            (releases, end, _) => {
                let were = if is_one { "was" } else { "were" };
                let when = releases.map(|times| self.between(times)).unwrap_or_default();
                let back = if self.is_backward { " backward" } else { "" };
                let until = end.map(|end| format!(" and followed{back} to {}", self.at(end)));
                format!(
                    "{particles}{slots} {were} released{origins}{when}{}",
                    until.unwrap_or_default()
                )
            }
        };
        // An empty slot of a source is no particle.
        let has_sources = self.results.summary["seeds"]
            .as_u64()
            .is_some_and(|n| n < self.statistics.slots as u64);
        if all.waiting > 0 && !self.statistics.reuses_slots && !has_sources {
            let more = with_noun(all.waiting, "other");
            text += &format!("; {more} had not been released by then");
        }
        text + "."
    }

    /// The numbers from seeds and from sources, of a run that has both.
    fn origins(&self, groups: &[Group]) -> String {
        let of = |name: &str| {
            let all = groups.iter().zip(&self.statistics.groups);
            all.into_iter().find(|(group, _)| group.name == name).map(|(_, group)| group.released)
        };
        let Some((seeds, sources)) = of("seeds").zip(of("sources")) else { return String::new() };
        let [seeds, sources] = [seeds, sources].map(|n| count(n as usize));
        match self.statistics.reuses_slots {
            true => format!(" ({seeds} in the slots of seeds, {sources} in those of sources)"),
            false => format!(" ({seeds} of seeds, {sources} of sources)"),
        }
    }

    /// When half of the particles had ended.
    fn half(&self) -> String {
        let Answer { released, ended, half_of_released, half_of_ended, .. } = *self.answer;
        if ended == 0 {
            return String::new();
        }
        let Some(of_ended) = half_of_ended else {
            return "Times from release to end are known when the run has finished.".into();
        };
        match half_of_released {
            _ if released == 1 => format!("It ended {} after its release.", self.length(of_ended)),
            Some(time) => format!(
                "Half of all that were released had ended within {} of their release.",
                self.length(time)
            ),
            None if ended == 1 => {
                format!("The one that ended did so {} after its release.", self.length(of_ended))
            }
            None => format!(
                "Fewer than half have ended; half of these {} had ended within {} of their release.",
                count(ended as usize),
                self.length(of_ended)
            ),
        }
    }

    /// How fast the active particles were.
    fn speed(&self) -> String {
        let Some(MeanSpeed { mean, at_saves }) = self.answer.mean_speed else {
            return match self.statistics.all.saves.iter().any(|save| save.active > 0) {
                true => {
                    "Speeds are not known: no particle was active at two saves in a row, and velocities are not saved."
                        .into()
                }
                false => "No save has active particles, so that speeds are not known.".into(),
            };
        };
        let unit = self.results.units().speed();
        let with_unit = |x: &str| format!("{x} {unit}").trim_end().to_string();
        let source = match self.statistics.speed_from {
            SpeedFrom::Velocities => "at the saves",
            SpeedFrom::Displacements => "between saves",
        };
        let whose = if self.answer.released == 1 { "Its" } else { "Their" };
        let [low, high] = at_saves.map(four_digits);
        let range = match low == high {
            true => String::new(),
            false => format!(" ({} from save to save)", with_unit(&format!("{low} to {high}"))),
        };
        format!("{whose} mean speed {source} was {}{range}.", with_unit(&four_digits(mean)))
    }

    /// A time to about a millionth of the run: releases are in single precision.
    fn rounded(&self, time: f64) -> f64 {
        let times = &self.statistics.times;
        let ends = [times.first(), times.last(), self.answer.end_time.as_ref()];
        let [low, high] = ends
            .into_iter()
            .flatten()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], time| {
                [low.min(*time), high.max(*time)]
            });
        rounded_to_extent(twelve_digits(time), 1e-3 * (high - low))
    }

    /// A time, with its date.
    fn at(&self, time: f64) -> String {
        let number = format!("t = {} {}", self.rounded(time), self.unit);
        let date = self.origin.as_ref().and_then(|origin| origin.date_of(time));
        number.trim_end().to_string() + &date.map_or(String::new(), |date| format!(" ({date})"))
    }

    /// When something happened between two times, which may be equal.
    fn between(&self, [first, last]: [f64; 2]) -> String {
        let [a, b] = [first, last].map(|time| self.rounded(time));
        if a == b {
            return format!(" at {}", self.at(first));
        }
        let dates = self.origin.as_ref().and_then(|origin| origin.range(&[first, last]));
        let dates = dates.map_or(String::new(), |[a, b]| format!(" ({a} and {b})"));
        let range = format!(" between t = {a} and {b} {}", self.unit);
        range.trim_end().to_string() + &dates
    }

    /// A length of time, of many seconds in words, too.
    fn length(&self, time: f64) -> String {
        let number = format!("{} {}", four_digits(time), self.unit).trim_end().to_string();
        let is_seconds = self.unit == "s" || (self.unit.is_empty() && self.origin.is_some());
        match time {
            _ if !is_seconds || time < 300.0 => number,
            t if t < 2.0 * 3600.0 => format!("{number} ({} min)", four_digits(t / 60.0)),
            t if t < 2.0 * 86400.0 => format!("{number} ({} h)", four_digits(t / 3600.0)),
            t => format!("{number} ({} days)", four_digits(t / 86400.0)),
        }
    }
}

/// A count with commas and its noun.
fn with_noun(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number as usize))
}
