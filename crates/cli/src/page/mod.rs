//! The interactive web page of a run.

mod density;

use crate::{
    file::Misuse,
    folder,
    format::count,
    job, notes, report,
    results::{MAX_SAVES, Results, sources, walls},
};
use anyhow::Result;
use burntrace::{
    Status,
    analysis::statistics::TrackStatistics,
    curves, io,
    trajectories::{SampledTrajectories, num_located},
};
use burntrace_plot::{
    Trajectories,
    page::{self, Page, Section, Statuses},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A written page.
pub struct WrittenPage {
    pub path: PathBuf,
    /// Numbers of particles and saves on it.
    particles: usize,
    saves: usize,
    bytes: u64,
}

impl WrittenPage {
    pub fn json(&self) -> Value {
        let WrittenPage { path, particles, saves, bytes } = self;
        json!({ "file": path, "particles": particles, "saves": saves, "bytes": bytes })
    }
}

/// The size of a page.
pub struct PageSize {
    /// The number of tracks; as many as fit if `None`.
    pub particles: Option<usize>,
    pub max_bytes: usize,
}

/// Writes `page.html`, which the browser loads again after `reload` seconds. The report in the same folder gets a link to it.
pub fn write(
    results: &Results,
    out: &Path,
    PageSize { particles, max_bytes }: PageSize,
    reload: Option<f64>,
) -> Result<WrittenPage> {
    let slots = num_located(&results.tracks)?;
    let saves = results.tracks.num_saves().min(MAX_SAVES);
    let stride = page::stride(slots, saves, max_bytes);
    let particles = slots.div_ceil(stride).min(particles.unwrap_or(slots));
    let statistics = results.statistics(&[], false)?;
    let SampledTrajectories { mut trajectories, codes } = results.sample(particles, None)?;
    walls::add(results, &mut trajectories);
    limit_walls(&mut trajectories, max_bytes);
    let sources = sources::of_particles(results, &trajectories.particles);
    let page = Page {
        title: results.name(),
        sources,
        trajectories,
        statuses: Some(Statuses { names: status_names(), codes }),
        slices: density::slices(results),
        precision: page::Precision::default(),
        sections: sections(results, &statistics),
        histograms: curves::residence(&statistics, &(&results.units()).into())
            .into_iter()
            .collect(),
        reload,
    };
    folder::make(out)?;
    let path = out.join("page.html");
    let (page, html) = page.fitted_html(max_bytes).map_err(Misuse::of)?;
    io::write_text_beside(&path, html)?;
    if out == results.folder.root {
        report::link_page(results)?;
    }
    let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
    let Trajectories { particles, times, .. } = &page.trajectories;
    Ok(WrittenPage { path, particles: particles.len(), saves: times.len(), bytes })
}

/// Bytes of a triangle on a page.
const TRIANGLE_BYTES: usize = 48;

/// Removes bodies and walls that take more than a quarter of a page, with a note.
fn limit_walls(trajectories: &mut Trajectories, max_bytes: usize) {
    let triangles: usize =
        trajectories.surfaces.iter().map(|surface| surface.triangles.len()).sum();
    let bytes = triangles.saturating_mul(TRIANGLE_BYTES);
    if bytes > max_bytes / 4 {
        notes::note(format!(
            "the page has no bodies and walls, whose {} triangles take {bytes} of {max_bytes} bytes; give more \
             --page-bytes",
            count(triangles)
        ));
        trajectories.surfaces.clear();
    }
}

/// Names of the statuses, in the order of their codes.
fn status_names() -> Vec<String> {
    Status::ALL.iter().map(Status::to_string).collect()
}

/// The tables next to the picture.
fn sections(results: &Results, statistics: &TrackStatistics) -> Vec<Section> {
    let all = &statistics.all;
    let row = |name: &str, value: String| (name.to_string(), value);
    let unfinished = results.unfinished().map(|note| row("Unfinished", note));
    let mut particles: Vec<_> = unfinished.into_iter().collect();
    particles.extend([
        row("Slots", count(statistics.slots)),
        row("Released", count(all.released as usize)),
        row("Active", count(all.active as usize)),
    ]);
    particles.extend(
        all.ends.iter().map(|end| {
            row(&curves::capitalized(&end.status.to_string()), count(end.count as usize))
        }),
    );
    particles.push(row("Waiting or empty", count(all.waiting as usize)));
    if all.not_located > 0 {
        particles.push(row("Not located", count(all.not_located as usize)));
    }
    let field = job::field_in_words(&results.summary["field"]);
    let field = field.map(|field| row("Field", field.replace('`', "")));
    let run: Vec<_> = field.into_iter().chain(report::run_rows(&results.summary)).collect();
    let sections = [("Particles", particles), ("Run", run)]
        .map(|(title, rows)| Section { title: title.into(), rows });
    sections.into_iter().filter(|section| !section.rows.is_empty()).collect()
}
