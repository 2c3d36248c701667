//! `burntrace report`: the report of a run as Markdown, HTML and JSON.

mod data;
mod html;
mod particles;
mod run_rows;
mod text;

pub use run_rows::{field as field_in_words, of as run_rows};

use crate::{
    args::{ReportArgs, StyleArgs, lines_of},
    case::Misuse,
    figure_dir::FigureDir,
    folder,
    pictures::{self, FigureOptions},
    results::{Group, Results},
    sweep,
};
use anyhow::Result;
use data::RunReport;
use std::path::{Path, PathBuf};

/// Maximum number of tracks in a report.
const PARTICLES: usize = 100;

pub fn execute(args: &ReportArgs) -> Result<()> {
    if args.run.join(folder::SWEEP).is_file() {
        return of_sweep(args);
    }
    let results = Results::open(&args.run)?.note_unfinished();
    let groups = match args.groups.is_empty() {
        true => results.groups(),
        false => args.groups.iter().map(|text| group(text)).collect::<Result<_>>()?,
    };
    let report = make(&results, groups, args.particles)?;
    args.output.print(|| report.json(), || lines_of(&report.written))
}

/// Makes tables and report of the sweep in a folder again.
fn of_sweep(args: &ReportArgs) -> Result<()> {
    if args.particles || !args.groups.is_empty() {
        return Err(Misuse::error(format!(
            "{} is the folder of a sweep, whose report has no --groups and --particles; give the folder of one of its \
             runs, or omit them",
            args.run.display()
        )));
    }
    let made = sweep::again(&args.run)?;
    args.output.print(|| made.json, || lines_of(&made.files))
}

/// Makes the report of the run in a folder. Returns the paths of the report and of its main
/// picture.
pub fn of_folder(root: &Path) -> Result<[PathBuf; 2]> {
    let results = Results::open(root)?;
    make(&results, results.groups(), false)?;
    Ok(["report.md", "pictures/tracks.png"].map(|name| results.folder.path(name)))
}

/// Adds a link to the page of a run to its report, if there is one without it.
pub fn link_page(results: &Results) -> Result<()> {
    let Ok(markdown) = std::fs::read_to_string(results.folder.path("report.md")) else {
        return Ok(());
    };
    let Some(markdown) = text::with_page(&markdown) else { return Ok(()) };
    let html = html::of(&markdown, &results.name(), &results.folder.root);
    results.folder.write("report.md", &markdown)?;
    results.folder.write("report.html", &html)
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
    };
    let folder = FigureDir::at(&results.folder.path("pictures"), false)?;
    let (figures, missing) = pictures::make(results, &statistics, &options, folder)?;
    let mut written: Vec<PathBuf> = figures.iter().map(|figure| figure.path.clone()).collect();
    if particles {
        let rows = std::mem::take(&mut statistics.particles);
        written.push(particles::write(results, &rows)?);
    }
    let mut report = RunReport { results, groups, statistics, figures, missing, written };
    let json = format!("{:#}\n", report.json());
    let markdown = text::markdown(&report);
    let html = html::of(&markdown, &results.name(), &results.folder.root);
    for (name, text) in [("report.md", markdown), ("report.html", html), ("report.json", json)] {
        results.folder.write(name, &text)?;
        report.written.push(results.folder.path(name));
    }
    Ok(report)
}

/// Parses a range of slots, such as `0..500`.
fn group(text: &str) -> Result<Group> {
    let ends = text.split_once("..").map(|(first, end)| (first.trim().parse(), end.trim().parse()));
    match ends {
        Some((Ok(first), Ok(end))) => Ok(Group { name: text.into(), slots: first..end }),
        _ => Err(Misuse::error(format!(
            "--groups {text}: give half-open ranges of slots, such as 0..500,500..1000"
        ))),
    }
}
