//! The interactive web page of a run.

use crate::{
    case::Misuse,
    folder,
    pictures::{self, MAX_SAVES},
    report,
    results::{AXES, Results, SampleLimits, SampledTrajectories, sample_trajectories},
};
use anyhow::Result;
use burntrace::Status;
use burntrace::analysis::statistics::TrackStatistics;
use burntrace_plot::page::{self, Page, Section, Slice, Statuses};
use std::path::{Path, PathBuf};

/// Number of track attributes: speed, age, time, seed.
const ATTRIBUTES: usize = 4;

/// Writes `page.html` with `particles` tracks, or with as many as fit into `max_bytes`.
pub fn write(
    results: &Results,
    out: &Path,
    particles: Option<usize>,
    max_bytes: usize,
) -> Result<PathBuf> {
    let slots = results.tracks.num_particles();
    let saves = results.tracks.num_saves().min(MAX_SAVES);
    let stride = page::stride(slots, saves, ATTRIBUTES, max_bytes);
    let particles = slots.div_ceil(stride).min(particles.unwrap_or(slots));
    let statistics = results.statistics(&[], false)?;
    let limits = SampleLimits { particles, saves: MAX_SAVES };
    let SampledTrajectories { trajectories, codes } = sample_trajectories(results, limits)?;
    let page = Page {
        title: results.name(),
        trajectories,
        statuses: Some(Statuses { names: status_names(), codes }),
        slices: slice(results).into_iter().collect(),
        sections: sections(results, &statistics),
        histograms: pictures::residence(results, &statistics).into_iter().collect(),
    };
    folder::make(out)?;
    let path = out.join("page.html");
    page.fit(max_bytes).and_then(|page| page.write(&path)).map_err(Misuse::of)?;
    Ok(path)
}

/// Names of the statuses, in the order of their codes.
fn status_names() -> Vec<String> {
    Status::ALL.iter().map(Status::to_string).collect()
}

/// The density at the last save, on the plane of a flat domain or on the middle plane of the box.
fn slice(results: &Results) -> Option<Slice> {
    let raster = pictures::last_density(results).ok()?;
    let normal_axis = (0..3).find(|d| raster.axes.iter().all(|axis| axis.name != AXES[*d]))?;
    let [low, high] = results.domain;
    Some(Slice { raster, normal_axis, position: 0.5 * (low[normal_axis] + high[normal_axis]) })
}

/// The tables next to the picture.
fn sections(results: &Results, statistics: &TrackStatistics) -> Vec<Section> {
    let all = &statistics.all;
    let row = |name: &str, value: String| (name.to_string(), value);
    let unfinished = results.unfinished().map(|note| row("unfinished", note));
    let mut particles: Vec<_> = unfinished.into_iter().collect();
    particles.extend([
        row("slots", statistics.slots.to_string()),
        row("released", all.released.to_string()),
        row("active", all.active.to_string()),
    ]);
    particles.extend(all.ends.iter().map(|end| (end.status.to_string(), end.count.to_string())));
    particles.push(row("waiting or empty", all.waiting.to_string()));
    let summary_row = |(name, path): &(&str, &str)| {
        let value = results.summary.pointer(path).filter(|value| !value.is_null())?;
        Some((name.to_string(), report::cell(value).trim_matches('`').to_string()))
    };
    let run: Vec<_> = report::SUMMARY.iter().skip(1).filter_map(summary_row).collect();
    let sections = [("Particles", particles), ("Run", run)]
        .map(|(title, rows)| Section { title: title.into(), rows });
    sections.into_iter().filter(|section| !section.rows.is_empty()).collect()
}
