//! The data of a report.

use super::{answer::Answer, at_ends::AtEnds};
use crate::{
    pictures::Figure,
    results::{Group, Results},
};
use burntrace::analysis::statistics::TrackStatistics;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The data of a report.
pub struct RunReport<'a> {
    pub results: &'a Results,
    pub groups: Vec<Group>,
    pub statistics: TrackStatistics,
    pub answer: Answer,
    pub figures: Vec<Figure>,
    /// Scalars at the ends of particles.
    pub at_ends: Vec<AtEnds>,
    /// Pictures that could not be made, and why.
    pub missing: Vec<String>,
    /// The files written so far.
    pub written: Vec<PathBuf>,
}

impl RunReport<'_> {
    /// The content of `report.json`.
    pub fn json(&self) -> Value {
        // As TOML, which omits unset keys.
        let case = self.results.case.as_ref().and_then(|case| toml::Table::try_from(case).ok());
        let root = &self.results.folder.root;
        let in_folder = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_path_buf();
        let pictures: Vec<PathBuf> =
            self.figures.iter().map(|figure| in_folder(&figure.path)).collect();
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|group| json!({ "name": group.name, "first": group.slots.start, "end": group.slots.end }))
            .collect();
        json!({
            "burntrace": env!("CARGO_PKG_VERSION"),
            "answer": self.answer,
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
