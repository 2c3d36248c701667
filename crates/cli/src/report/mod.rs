//! `burntrace report`: what became of a run, in words and as JSON.

mod particles;
mod text;

pub use text::{SUMMARY, plain};

use crate::{
    album::FigureDir,
    args,
    case::Misuse,
    pictures::{self, Wanted},
    results::{Group, Results},
};
use anyhow::{Context, Result};
use burntrace::analysis::statistics::TrackStatistics;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn execute(args: &args::Report) -> Result<()> {
    let results = Results::open(&args.run)?;
    let groups = match args.groups.is_empty() {
        true => results.groups(),
        false => args.groups.iter().map(|text| group(text)).collect::<Result<_>>()?,
    };
    let report = Report::make(&results, groups, args.particles)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", report.json())?;
    } else {
        report.written.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?;
    }
    Ok(())
}

/// Makes the report of the run in a folder, and gives it and the picture to look at first.
pub fn of_folder(root: &Path) -> Result<[PathBuf; 2]> {
    let results = Results::open(root)?;
    Report::make(&results, results.groups(), false)?;
    Ok(["report.md", "pictures/tracks.png"].map(|name| results.folder.path(name)))
}

/// A range of slots, as `0..500`.
fn group(text: &str) -> Result<Group> {
    let ends = text.split_once("..").map(|(first, end)| (first.trim().parse(), end.trim().parse()));
    match ends {
        Some((Ok(first), Ok(end))) => Ok(Group { name: text.into(), slots: first..end }),
        _ => Err(Misuse::error(format!(
            "--groups {text}: give ranges of slots, the ends not included, as 0..500,500..1000"
        ))),
    }
}

/// Particles whose tracks a report shows.
const PARTICLES: usize = 200;

/// What there is to say of a run.
pub struct Report<'a> {
    results: &'a Results,
    groups: Vec<Group>,
    statistics: TrackStatistics,
    pictures: Vec<pictures::Shown>,
    /// What could not be shown, and why.
    missing: Vec<String>,
    /// The files that were written.
    pub written: Vec<PathBuf>,
}

impl<'a> Report<'a> {
    /// Makes statistics and pictures of a run, and writes `report.md` and `report.json`.
    pub fn make(results: &'a Results, groups: Vec<Group>, particles: bool) -> Result<Report<'a>> {
        let mut statistics = results.statistics(&groups, particles)?;
        let wanted = Wanted { look: &args::Look::default(), views: &[], particles: PARTICLES };
        let album = FigureDir::at(&results.folder.path("pictures"), false)?;
        let (pictures, missing) = pictures::make(results, &statistics, &wanted, album)?;
        let mut written: Vec<PathBuf> = pictures.iter().map(|shown| shown.path.clone()).collect();
        if particles {
            let rows = std::mem::take(&mut statistics.particles);
            written.push(particles::write(results, &rows)?);
        }
        let mut report = Report { results, groups, statistics, pictures, missing, written };
        let json = format!("{:#}\n", report.json());
        for (name, text) in [("report.md", report.text()), ("report.json", json)] {
            results.folder.write(name, &text)?;
            report.written.push(results.folder.path(name));
        }
        Ok(report)
    }

    /// The whole as JSON.
    fn json(&self) -> Value {
        let case = self.results.case.as_ref().and_then(|case| serde_json::to_value(case).ok());
        let root = &self.results.folder.root;
        let in_folder = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_path_buf();
        let pictures: Vec<PathBuf> =
            self.pictures.iter().map(|shown| in_folder(&shown.path)).collect();
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|group| json!({ "name": group.name, "first": group.slots.start, "end": group.slots.end }))
            .collect();
        json!({
            "burntrace": env!("CARGO_PKG_VERSION"),
            "case": case,
            "domain": { "low": self.results.domain[0], "high": self.results.domain[1] },
            "summary": self.results.summary,
            "groups": groups,
            "statistics": self.statistics,
            "pictures": pictures,
            "not_shown": self.missing,
        })
    }
}

/// The name of the run's folder.
pub fn name(results: &Results) -> String {
    let path = std::path::absolute(&results.folder.root)
        .with_context(|| results.folder.root.display().to_string());
    let name = path.ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "run".into())
}
