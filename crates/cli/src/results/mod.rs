//! A finished run in its folder, as the commands that look at it need it.

mod layer;
mod statistics;
pub mod tensors;
mod ways;

pub use layer::{AXES, Layer, layer};
pub use statistics::Group;
pub use ways::{Followed, Most, ways};

use crate::{
    case::{self, Case, Misuse, Units},
    folder::Folder,
};
use anyhow::Result;
use burntrace::{
    device::{self, OpenDevice},
    io,
};
use serde_json::Value;
use std::path::Path;

/// A finished run. It has a store of tracks; the other files may be missing.
pub struct Results {
    pub folder: Folder,
    pub tracks: io::Tracks,
    /// The case as it ran, where there is one that can be read.
    pub case: Option<Case>,
    /// What `summary.json` says; null where there is none.
    pub summary: Value,
    /// Low and high corner of the box in which the particles were.
    pub domain: [[f64; 3]; 2],
}

impl Results {
    /// Opens the folder of a run.
    pub fn open(root: &Path) -> Result<Results> {
        let folder = Folder::at(root);
        if folder.is_stopped() {
            return Err(Misuse::error(format!(
                "{} holds a run that was stopped, or is still going on; go on with it with {}",
                root.display(),
                folder.way_on()
            )));
        }
        let store = folder.path("tracks");
        if !store.is_dir() {
            return Err(Misuse::error(format!(
                "{} holds no run: there is no folder `tracks` in it; give the folder that \
                 `burntrace run` wrote to",
                root.display()
            )));
        }
        let tracks = io::Tracks::open(store).map_err(Misuse::of)?;
        let summary = summary(&folder)?;
        // Pictures need no case, and that of an earlier version may not be one of today's.
        let case = case::read(&folder.path("case.toml"), &[]).ok();
        let domain = match of_summary(&summary).or_else(|| of_case(case.as_ref())) {
            Some(domain) => domain,
            None => of_positions(&tracks)?,
        };
        Ok(Results { folder, tracks, case, summary, domain })
    }

    /// The device on which something is made of the run: the one that is named, else the run's.
    pub fn device(&self, given: Option<&str>) -> Result<OpenDevice> {
        let of_run = self.case.as_ref().map_or("auto", |case| &case.run.device);
        device::open(given.unwrap_or(of_run)).map_err(|error| match given {
            Some(_) => Misuse::of(error),
            None => Misuse::error(format!(
                "{error}; the run was made on `{of_run}`, choose another device with --device"
            )),
        })
    }

    /// The units that the case gives.
    pub fn units(&self) -> Units {
        self.case.as_ref().map(|case| case.units.clone()).unwrap_or_default()
    }

    /// The axes along which the box has an extent.
    pub fn axes(&self) -> Vec<usize> {
        (0..3).filter(|&d| self.domain[0][d] < self.domain[1][d]).collect()
    }

    /// The number of a save, given as a number, as `last`, or as the time `t=2.5`, of which the
    /// nearest save is taken.
    pub fn save(&self, given: &str) -> Result<usize> {
        let saves = self.tracks.num_saves();
        let found = match (given, given.strip_prefix("t=")) {
            ("last", _) => saves.checked_sub(1),
            (_, Some(time)) => time.parse().ok().and_then(|time: f64| self.nearest(time)),
            (number, None) => number.parse().ok().filter(|&save: &usize| save < saves),
        };
        found.ok_or_else(|| {
            let there = match saves {
                0 => "the run has no save".into(),
                _ => format!("the run has the saves 0 to {}", saves - 1),
            };
            Misuse::error(format!(
                "there is no save `{given}`: {there}; give a number, `last`, or a time as `t=2.5`"
            ))
        })
    }

    /// The save that is nearest to a time.
    fn nearest(&self, time: f64) -> Option<usize> {
        let distance = |save: &usize| (self.tracks.times()[*save] - time).abs();
        let saves = (0..self.tracks.num_saves()).filter(|_| time.is_finite());
        saves.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

fn summary(folder: &Folder) -> Result<Value> {
    let path = folder.path("summary.json");
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            Misuse::error(format!("{} is no JSON: {error}; run the case again", path.display()))
        }),
        Err(_) => Ok(Value::Null),
    }
}

fn of_summary(summary: &Value) -> Option<[[f64; 3]; 2]> {
    let corner = |name: &str| serde_json::from_value(summary["domain"][name].clone()).ok();
    Some([corner("low")?, corner("high")?])
}

fn of_case(case: Option<&Case>) -> Option<[[f64; 3]; 2]> {
    let domain = &case?.domain;
    Some([domain.low?, domain.high?])
}

/// The box around all positions, where neither the summary nor the case says what the domain was.
fn of_positions(tracks: &io::Tracks) -> Result<[[f64; 3]; 2]> {
    let [mut low, mut high] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for save in 0..tracks.num_saves() {
        for position in tracks.position(save)? {
            for d in 0..3 {
                // Both pass over NaN.
                low[d] = low[d].min(position[d]);
                high[d] = high[d].max(position[d]);
            }
        }
    }
    let is_known = low.iter().all(|x| x.is_finite());
    Ok(if is_known { [low, high] } else { [[0.0; 3], [1.0; 3]] })
}
