//! Validation of the content of a page.

use super::content::{Page, Slice};
use super::error::{Error, Result};
use crate::{Histogram, Trajectories};

/// Names of the axes of the box.
const AXIS_NAMES: [char; 3] = ['x', 'y', 'z'];

pub(super) fn check(page: &Page) -> Result<()> {
    check_trajectories(&page.trajectories)?;
    if let Some(statuses) = &page.statuses {
        let what = "the list of statuses";
        let (given, positions) = (statuses.codes.len(), page.trajectories.position.len());
        check_length(what, "codes", given, positions, "one for each position")?;
        let min = statuses.codes.iter().max().map_or(0, |&code| code as usize + 1);
        if statuses.names.len() < min {
            return wrong_length(what, "names", statuses.names.len(), min, "one for each code");
        }
    }
    if let Some(sources) = &page.sources {
        let what = "the list of sources";
        let particles = page.trajectories.particles.len();
        check_length(what, "codes", sources.codes.len(), particles, "one for each particle")?;
        let min = sources.codes.iter().max().map_or(0, |&code| usize::from(code) + 1);
        if sources.names.len() < min {
            return wrong_length(what, "names", sources.names.len(), min, "one for each code");
        }
    }
    for (what, bits) in [("position", page.precision.position), ("value", page.precision.value)] {
        if !(8..=16).contains(&bits) {
            let what = format!("the number of bits of a {what}");
            return Err(Error::Number { what, given: bits.into(), expected: "from 8 to 16" });
        }
    }
    page.slices.iter().try_for_each(check_slice)?;
    page.histograms.iter().try_for_each(check_histogram)
}

fn check_trajectories(trajectories: &Trajectories) -> Result<()> {
    let positions = trajectories.times.len() * trajectories.particles.len();
    let reason = "one for each save and particle";
    let entries = |what, given| check_length(what, "entries", given, positions, reason);
    entries("the list of positions", trajectories.position.len())?;
    entries("`joined`", trajectories.joined.len())?;
    entries("`active`", trajectories.active.len())?;
    for attribute in &trajectories.attributes {
        let what = format!("the attribute `{}`", attribute.name);
        check_length(&what, "values", attribute.values.len(), positions, reason)?;
    }
    check_times(&trajectories.times)?;
    let [low, high] = trajectories.domain;
    for (axis, (low, high)) in AXIS_NAMES.iter().zip(low.into_iter().zip(high)) {
        check_finite(|| format!("the low {axis} corner of the domain"), low)?;
        check_finite(|| format!("the high {axis} corner of the domain"), high)?;
        if high < low {
            let what = format!("the high {axis} corner of the domain");
            return Err(Error::Number { what, given: high, expected: "at least the low one" });
        }
    }
    Ok(())
}

fn check_times(times: &[f64]) -> Result<()> {
    let mut before = f64::NAN;
    for (save, &time) in times.iter().enumerate() {
        let forward = times[times.len() - 1] > times[0];
        if !time.is_finite() || (save > 0 && (time > before) != forward) || time == before {
            return Err(Error::Times { save, time, before });
        }
        before = time;
    }
    Ok(())
}

fn check_slice(slice: &Slice) -> Result<()> {
    let raster = &slice.raster;
    let what = format!("the slice `{}`", raster.title);
    let samples = raster.counts[0] * raster.counts[1];
    check_length(&what, "values", raster.values.len(), samples, "one for each sample")?;
    if samples == 0 {
        return wrong_length(&what, "samples", 0, 1, "at least one along each axis");
    }
    let times = if slice.times.is_empty() { 0 } else { slice.later.len() + 1 };
    let reason = "one for the raster and one for each of the later values";
    if times != slice.times.len() || (times == 0 && !slice.later.is_empty()) {
        return wrong_length(&what, "times", slice.times.len(), slice.later.len() + 1, reason);
    }
    for values in &slice.later {
        check_length(&what, "values", values.len(), samples, "one for each sample at each time")?;
    }
    if slice.normal_axis > 2 {
        let given = slice.normal_axis as f64;
        let what = format!("the normal axis of {what}");
        return Err(Error::Number { what, given, expected: "0, 1 or 2 for x, y or z" });
    }
    check_finite(|| format!("the position of {what}"), slice.position)?;
    for end in raster.axes.iter().flat_map(|axis| axis.range) {
        check_finite(|| format!("an end of an axis of {what}"), end)?;
    }
    Ok(())
}

fn check_histogram(histogram: &Histogram) -> Result<()> {
    let what = format!("the histogram `{}`", histogram.title);
    let bins = histogram.edges.len().saturating_sub(1);
    for (name, counts) in &histogram.series {
        let what = format!("`{name}` of {what}");
        check_length(&what, "counts", counts.len(), bins, "one less than edges")?;
    }
    let edge = || format!("an edge of {what}");
    histogram.edges.iter().try_for_each(|&value| check_finite(edge, value))
}

fn check_finite(what: impl Fn() -> String, given: f64) -> Result<()> {
    match given.is_finite() {
        true => Ok(()),
        false => Err(Error::Number { what: what(), given, expected: "finite" }),
    }
}

fn check_length(
    what: &str,
    of: &'static str,
    given: usize,
    expected: usize,
    reason: &'static str,
) -> Result<()> {
    if given == expected { Ok(()) } else { wrong_length(what, of, given, expected, reason) }
}

fn wrong_length(
    what: &str,
    of: &'static str,
    given: usize,
    expected: usize,
    reason: &'static str,
) -> Result<()> {
    Err(Error::Length { what: what.into(), given, of, expected, reason })
}
