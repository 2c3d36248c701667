//! Whether the parts of a page fit together.

use super::{Error, Page, Result, Slice};
use crate::{Histogram, Trajectories};

/// Names of the axes of the box.
const AXES: [char; 3] = ['x', 'y', 'z'];

pub(super) fn check(page: &Page) -> Result<()> {
    ways(&page.ways)?;
    if let Some(statuses) = &page.statuses {
        let what = "the list of statuses";
        count(
            what,
            "codes",
            statuses.codes.len(),
            page.ways.position.len(),
            "one for each position",
        )?;
        let least = statuses.codes.iter().max().map_or(0, |&code| code as usize + 1);
        if statuses.names.len() < least {
            return parts(what, "names", statuses.names.len(), least, "one for each code");
        }
    }
    page.slices.iter().try_for_each(slice)?;
    page.histograms.iter().try_for_each(histogram)
}

fn ways(ways: &Trajectories) -> Result<()> {
    let positions = ways.times.len() * ways.particles.len();
    let reason = "one for each save and particle";
    count("the list of positions", "entries", ways.position.len(), positions, reason)?;
    count("`joined`", "entries", ways.joined.len(), positions, reason)?;
    count("`active`", "entries", ways.active.len(), positions, reason)?;
    for attribute in &ways.attributes {
        let what = format!("the attribute `{}`", attribute.name);
        count(&what, "values", attribute.values.len(), positions, reason)?;
    }
    times(&ways.times)?;
    let [low, high] = ways.domain;
    for (axis, (low, high)) in AXES.iter().zip(low.into_iter().zip(high)) {
        finite(|| format!("the low {axis} corner of the domain"), low)?;
        finite(|| format!("the high {axis} corner of the domain"), high)?;
        if high < low {
            let what = format!("the high {axis} corner of the domain");
            return Err(Error::Number { what, given: high, wanted: "no less than the low one" });
        }
    }
    Ok(())
}

fn times(times: &[f64]) -> Result<()> {
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

fn slice(slice: &Slice) -> Result<()> {
    let raster = &slice.raster;
    let what = format!("the slice `{}`", raster.title);
    let samples = raster.counts[0] * raster.counts[1];
    count(&what, "values", raster.values.len(), samples, "one for each sample")?;
    if samples == 0 {
        return parts(&what, "samples", 0, 1, "at least one along each axis");
    }
    if slice.normal_axis > 2 {
        let given = slice.normal_axis as f64;
        let what = format!("the normal axis of {what}");
        return Err(Error::Number { what, given, wanted: "0, 1 or 2 for x, y or z" });
    }
    finite(|| format!("the position of {what}"), slice.position)?;
    for end in raster.axes.iter().flat_map(|axis| axis.range) {
        finite(|| format!("an end of an axis of {what}"), end)?;
    }
    Ok(())
}

fn histogram(histogram: &Histogram) -> Result<()> {
    let what = format!("the histogram `{}`", histogram.title);
    let bins = histogram.edges.len().saturating_sub(1);
    for (name, counts) in &histogram.series {
        let what = format!("`{name}` of {what}");
        count(&what, "counts", counts.len(), bins, "one less than edges")?;
    }
    histogram.edges.iter().try_for_each(|&edge| finite(|| format!("an edge of {what}"), edge))
}

fn finite(what: impl Fn() -> String, given: f64) -> Result<()> {
    match given.is_finite() {
        true => Ok(()),
        false => Err(Error::Number { what: what(), given, wanted: "finite" }),
    }
}

fn count(
    what: &str,
    of: &'static str,
    given: usize,
    wanted: usize,
    reason: &'static str,
) -> Result<()> {
    if given == wanted { Ok(()) } else { parts(what, of, given, wanted, reason) }
}

fn parts(
    what: &str,
    of: &'static str,
    given: usize,
    wanted: usize,
    reason: &'static str,
) -> Result<()> {
    Err(Error::Parts { what: what.into(), given, of, wanted, reason })
}
