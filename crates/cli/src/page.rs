//! The page of a run.

use crate::{
    case::Misuse,
    folder,
    pictures::{self, MAX_SAVES},
    report,
    results::{AXES, Followed, Most, Results, ways},
};
use anyhow::Result;
use burntrace::Status;
use burntrace::analysis::statistics::TrackStatistics;
use burntrace_plot::page::{self, Page, Section, Slice, Statuses};
use std::path::{Path, PathBuf};

/// Attributes of tracks: speed, age, time, seed.
const ATTRIBUTES: usize = 4;

/// Writes `page.html` with as many particles as `most_bytes` has room for, or as many as are asked
/// for.
pub fn write(
    results: &Results,
    out: &Path,
    particles: Option<usize>,
    most_bytes: usize,
) -> Result<PathBuf> {
    let slots = results.tracks.num_particles();
    let saves = results.tracks.num_saves().min(MAX_SAVES);
    let stride = page::stride(slots, saves, ATTRIBUTES, most_bytes);
    let most = slots.div_ceil(stride).min(particles.unwrap_or(slots));
    let statistics = results.statistics(&[], false)?;
    let Followed { ways, codes } = ways(results, Most { particles: most, saves: MAX_SAVES })?;
    let page = Page {
        title: report::name(results),
        ways,
        statuses: Some(Statuses { names: names(), codes }),
        slices: slice(results).into_iter().collect(),
        sections: sections(results, &statistics),
        histograms: pictures::residence(results, &statistics).into_iter().collect(),
    };
    folder::make(out)?;
    let path = out.join("page.html");
    page.fit(most_bytes).and_then(|page| page.write(&path)).map_err(Misuse::of)?;
    Ok(path)
}

/// Names of the statuses, in the order of their codes.
fn names() -> Vec<String> {
    Status::ALL.iter().map(Status::to_string).collect()
}

/// The density at the last save, on the plane of a flat run or in the middle of the box.
fn slice(results: &Results) -> Option<Slice> {
    let raster = pictures::last_density(results).ok()?;
    let across = (0..3).find(|d| raster.axes.iter().all(|axis| axis.name != AXES[*d]))?;
    let [low, high] = results.domain;
    Some(Slice { raster, normal_axis: across, position: 0.5 * (low[across] + high[across]) })
}

/// The numbers beside the picture.
fn sections(results: &Results, found: &TrackStatistics) -> Vec<Section> {
    let all = &found.all;
    let row = |name: &str, value: String| (name.to_string(), value);
    let mut particles = vec![
        row("slots", found.slots.to_string()),
        row("released", all.released.to_string()),
        row("active", all.active.to_string()),
    ];
    particles.extend(all.ends.iter().map(|end| (end.status.to_string(), end.count.to_string())));
    particles.push(row("waiting or empty", all.waiting.to_string()));
    let of_summary = |(name, path): &(&str, &str)| {
        let value = results.summary.pointer(path).filter(|value| !value.is_null())?;
        Some((name.to_string(), report::plain(value).trim_matches('`').to_string()))
    };
    let run: Vec<_> = report::SUMMARY.iter().skip(1).filter_map(of_summary).collect();
    let sections = [("Particles", particles), ("Run", run)]
        .map(|(title, rows)| Section { title: title.into(), rows });
    sections.into_iter().filter(|section| !section.rows.is_empty()).collect()
}
