//! The report of a run as Markdown, HTML and JSON.

mod answer;
mod at_ends;
mod command;
mod content;
mod data;
mod document;
mod outcomes;
mod particles;
mod release_times;
mod run_rows;

pub use at_ends::places_by_slot;
pub use command::execute;
pub use document::{Block, Document};
pub use run_rows::of as run_rows;

use crate::{
    args::StyleArgs,
    figure_dir::{FigureDir, Formats},
    pictures::{self, FigureOptions},
    results::{Group, Results},
};
use answer::Answer;
use anyhow::Result;
use at_ends::AtEnds;
use burntrace::mesh::Mesh;
use data::RunReport;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum number of tracks in a report.
const PARTICLES: usize = 100;

/// Makes the report of the run in a folder, whose field is on this mesh or on none. Returns the paths of the report and of
/// its main picture.
pub fn of_folder(root: &Path, mesh: Option<&Arc<Mesh>>) -> Result<[PathBuf; 2]> {
    let results = Results::open(root)?.with_mesh(mesh);
    make(&results, results.groups(), false)?;
    Ok(["report.md", "pictures/tracks.png"].map(|name| results.folder.path(name)))
}

/// Adds a link to the page of a run to its report, if there is one without it.
pub fn link_page(results: &Results) -> Result<()> {
    document::replace(&results.folder, &content::page())
}

/// Computes statistics and pictures of a run, and writes `report.md`, `report.html` and `report.json`, and with
/// `particles` also `particles.csv`.
fn make(results: &Results, groups: Vec<Group>, particles: bool) -> Result<RunReport<'_>> {
    let mut statistics = results.statistics(&groups, particles)?;
    let style = StyleArgs::default();
    let options = FigureOptions {
        style: &style,
        track_style: style.style(),
        views: &[],
        particles: PARTICLES,
        walls: true,
        last: None,
        background: None,
        streaklines: false,
    };
    let folder = FigureDir::at(&results.folder.path("pictures"), Formats::default())?;
    let (figures, missing) = pictures::make(results, &statistics, &options, folder)?;
    let mut written: Vec<PathBuf> = figures.iter().map(|figure| figure.path.clone()).collect();
    if particles {
        let rows = std::mem::take(&mut statistics.particles);
        written.push(particles::write(results, rows)?);
    }
    let at_ends = AtEnds::of(results)?;
    let answer = Answer::of(results, &statistics, &groups)?;
    let mut report =
        RunReport { results, groups, statistics, answer, figures, at_ends, missing, written };
    let files = content::document(&report).write(&results.folder, &report.json())?;
    report.written.extend(files);
    Ok(report)
}
