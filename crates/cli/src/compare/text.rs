//! A comparison as text.

use super::{Comparison, ends::EndComparison, positions::PositionComparison, shown};
use crate::format::{six_digits, twelve_digits};
use std::fmt::Write;

/// Maximum number of saves, and of changes of statuses, to print.
const LINES: usize = 8;

/// The comparison as a few lines.
pub fn of(comparison: &Comparison) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        writeln!(text, "{name:<10} {value}").ok();
    };
    let [a, b] = &comparison.runs;
    line("runs", format!("{a} and {b}"));
    match &comparison.case {
        None => line("case", "unknown: a run has no case that can be read".into()),
        Some(keys) if keys.is_empty() => line("case", "the same, apart from run.out".into()),
        Some(keys) => keys.iter().enumerate().for_each(|(i, found)| {
            let [a, b] = found.values.each_ref().map(shown);
            line(if i == 0 { "case" } else { "" }, format!("{} is {a} and {b}", found.key));
        }),
    }
    let (Some(ends), Some(positions)) = (&comparison.ends, &comparison.positions) else {
        let [a, b] = comparison.slots;
        line("particles", format!("{a} and {b} slots: they have no counterparts in the other run"));
        return text;
    };
    end_lines(ends, &mut line);
    position_lines(positions, &mut line);
    if comparison.is_identical() {
        line("result", "identical positions and ends".into());
    }
    text
}

fn end_lines(ends: &EndComparison, line: &mut impl FnMut(&str, String)) {
    let EndComparison { slots, different, changes, .. } = ends;
    line(
        "ends",
        match different {
            0 => format!("all {slots} particles end alike"),
            _ => format!("{different} of {slots} particles end differently"),
        },
    );
    for change in changes.iter().take(LINES) {
        let [a, b] = &change.statuses;
        line("", format!("{} {a} and {b}", change.count));
    }
    if changes.len() > LINES {
        line(
            "",
            format!("and {} other pairs of statuses (--json lists them)", changes.len() - LINES),
        );
    }
    if let Some(difference) = ends.max_end_time_difference {
        line("end times", format!("up to {} apart", six_digits(difference)));
    }
}

fn position_lines(positions: &PositionComparison, line: &mut impl FnMut(&str, String)) {
    let [a, b] = positions.count_of_saves;
    let saves = &positions.saves;
    line("saves", format!("{} at the same times, of {a} and {b}", saves.len()));
    let number = |x: Option<f64>| x.map_or_else(|| "-".into(), |x| six_digits(x).to_string());
    let shown = LINES.min(saves.len());
    for i in 0..shown {
        let save = &saves[if shown > 1 { i * (saves.len() - 1) / (shown - 1) } else { 0 }];
        let time = twelve_digits(save.time);
        let mut text = format!(
            "t = {time}: max {}, median {}, {} of {} particles differ",
            number(save.max),
            number(save.median),
            save.different,
            save.particles
        );
        if save.unpaired > 0 {
            text += &format!(", {} are in one run only", save.unpaired);
        }
        line(if i == 0 { "positions" } else { "" }, text);
    }
    if saves.len() > LINES {
        line("", format!("({LINES} of {} saves; --json lists all)", saves.len()));
    }
    let largest = positions.farthest.map_or_else(String::new, |(slot, time)| {
        format!(" (slot {slot} at t = {})", twelve_digits(time))
    });
    line(
        "distance",
        format!(
            "max {}{largest}, median of the maxima of particles {}, mean travel {}",
            number(positions.max),
            number(positions.median),
            number(positions.mean_travel)
        ),
    );
}
