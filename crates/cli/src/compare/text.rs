//! A comparison as text.

use super::{Comparison, ends::EndComparison, figures::Figures, positions::PositionComparison};
use crate::format::{Lines, six_digits, twelve_digits};

/// Maximum number of saves, and of changes of statuses, to print.
const LINES: usize = 8;

/// The comparison as a few lines.
pub fn of(comparison: &Comparison) -> String {
    let mut lines = Lines::default();
    let [a, b] = &comparison.runs;
    lines.add("runs", format!("{a} and {b}"));
    match &comparison.case {
        None => lines.add("case", "unknown: a run has no case that can be read"),
        Some(keys) if keys.is_empty() => lines.add("case", "the same, apart from run.out"),
        Some(keys) => lines.list("case", keys),
    }
    let (Some(ends), Some(positions)) = (&comparison.ends, &comparison.positions) else {
        let [a, b] = comparison.slots;
        let text = format!("{a} and {b} slots: they have no counterparts in the other run");
        lines.add("particles", text);
        return lines.0;
    };
    end_lines(ends, &mut lines);
    position_lines(positions, &mut lines);
    if comparison.is_identical() {
        lines.add("result", "identical positions and ends");
    }
    lines.0
}

/// The written pictures, and those that are missing.
pub fn of_figures(figures: &Figures) -> String {
    let mut lines = Lines::default();
    lines.list("written", figures.files.iter().map(|path| path.display()));
    lines.list("not shown", &figures.missing);
    lines.0
}

fn end_lines(ends: &EndComparison, lines: &mut Lines) {
    let EndComparison { slots, different, changes, .. } = ends;
    lines.add(
        "ends",
        match different {
            0 => format!("all {slots} particles end alike"),
            _ => format!("{different} of {slots} particles end differently"),
        },
    );
    for change in changes.iter().take(LINES) {
        let [a, b] = &change.statuses;
        lines.add("", format!("{} {a} and {b}", change.count));
    }
    if changes.len() > LINES {
        lines.add(
            "",
            format!("and {} other pairs of statuses (--json lists them)", changes.len() - LINES),
        );
    }
    if let Some(difference) = ends.max_end_time_difference {
        lines.add("end times", format!("up to {} apart", six_digits(difference)));
    }
}

fn position_lines(positions: &PositionComparison, lines: &mut Lines) {
    let [a, b] = positions.count_of_saves;
    let saves = &positions.saves;
    lines.add("saves", format!("{} at the same times, of {a} and {b}", saves.len()));
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
        lines.add(if i == 0 { "positions" } else { "" }, text);
    }
    if saves.len() > LINES {
        lines.add("", format!("({LINES} of {} saves; --json lists all)", saves.len()));
    }
    let largest = positions.farthest.map_or_else(String::new, |(slot, time)| {
        format!(" (slot {slot} at t = {})", twelve_digits(time))
    });
    lines.add(
        "distance",
        format!(
            "max {}{largest}, median of the maxima of particles {}, mean travel {}",
            number(positions.max),
            number(positions.median),
            number(positions.mean_travel)
        ),
    );
}
