//! A run in its folder.

use super::{sources, walls::Walls};
use crate::{
    devices,
    file::{self, Case, DeviceNames, GivenTime, Misuse, Units},
    folder::{Folder, RunFiles, paths},
    format::{time_range, with_date},
    log, notes,
};
use anyhow::Result;
use burntrace::{
    device::OpenDevice,
    io,
    mesh::{Bounds, Mesh},
    trajectories::{self, STATUS, SampledTrajectories},
};
use burntrace_case::console::Silent;
use burntrace_plot::{Attribute, Land, Raster, Trajectories, page::Sources};
use serde_json::Value;
use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum number of saves in a picture. Longer runs are sampled evenly.
pub const MAX_SAVES: usize = 500;

/// What colours tracks by where particles come from.
const SOURCE: &str = "source";
/// What colours the tracks of any run.
const COLORS: [&str; 6] = ["speed", "age", "time", "seed", STATUS, SOURCE];

/// A run: finished, or the complete saves of an unfinished one. Its folder has a track store, and possibly no
/// other files.
pub struct Results {
    pub folder: Folder,
    pub tracks: io::Tracks,
    /// The effective case, if this version can read it.
    pub case: Option<Case>,
    /// Why there is no case, and what to do.
    pub case_problem: Option<String>,
    /// The content of `summary.json`, or null without it.
    pub summary: Value,
    /// Low and high corner of the domain.
    pub domain: [[f64; 3]; 2],
    /// The land, seen from above.
    pub land: Option<Land>,
    /// Whether the run or its case gives the domain; if not, it is the bounding box of all positions.
    pub knows_domain: bool,
    /// Read when they are needed first.
    pub(super) mesh: OnceCell<Result<Option<Arc<Mesh>>, String>>,
    pub(super) walls: OnceCell<Walls>,
}

impl Results {
    /// Opens the folder of a run.
    pub fn open(root: &Path) -> Result<Results> {
        let folder = Folder::at(root);
        let store = folder.tracks()?;
        if folder.is_stopped() && !io::tracks::is_store(&store) {
            return Err(folder.without_saves());
        }
        let tracks = io::Tracks::open_partial(store).map_err(Misuse::of)?;
        if !tracks.is_complete() && tracks.num_saves() == 0 {
            return Err(folder.without_saves());
        }
        // Pictures need no case.
        let files = RunFiles::read(&folder);
        log::warn(&files.problems());
        let RunFiles { case, case_problem, summary, domain, land, .. } = files;
        let domain = domain_of_summary(&summary).or_else(|| domain_of_summary(&domain));
        let given = domain.or_else(|| domain_of_case(case.as_ref()));
        let domain = given.map_or_else(|| bounds_of_positions(&tracks), Ok)?;
        let knows_domain = given.is_some();
        if !knows_domain {
            notes::warning(format!(
                "the domain of the run in {} is unknown, as neither its summary nor its case has it: densities, \
                 pictures and dispersion are of the box around all its positions",
                root.display()
            ));
        }
        let (mesh, walls) = (OnceCell::new(), OnceCell::new());
        Ok(Results {
            folder,
            tracks,
            case,
            case_problem,
            summary,
            domain,
            land,
            knows_domain,
            mesh,
            walls,
        })
    }

    /// Radius of the sphere whose longitudes and latitudes positions are.
    pub fn radius(&self) -> Option<f64> {
        self.tracks.units().radius
    }

    /// Metres in a degree of latitude, if positions are in degrees; else 1.
    pub fn lengths_per_unit(&self) -> f64 {
        self.radius().map_or(1.0, f64::to_radians)
    }

    /// Prints a note on standard error if the run is unfinished.
    pub fn note_unfinished(self) -> Results {
        if let Some(note) = self.unfinished() {
            notes::note(format!("{}: {note}", self.folder.root.display()));
        }
        self
    }

    /// Says which saves an unfinished run has; `None` for a finished run.
    pub fn unfinished(&self) -> Option<String> {
        let tracks = &self.tracks;
        let last = tracks.times().last().filter(|_| !tracks.is_complete())?;
        Some(format!(
            "the run was stopped or is still in progress; this is its state after {} of {} saves, at \
             t = {}",
            tracks.num_saves(),
            tracks.num_planned_saves(),
            with_date(*last, self.time_origin().as_ref())
        ))
    }

    /// The given device, else the device of the run, or the first of several.
    pub fn device(&self, given: Option<&str>) -> Result<OpenDevice> {
        let silent = &Silent::default();
        if let Some(given) = given {
            return devices::open(given, silent);
        }
        let auto = DeviceNames::from("auto");
        let of_run = self.case.as_ref().map_or(&auto, |case| &case.run.device);
        let names = devices::names(of_run);
        names.and_then(|names| devices::open(&names[0], silent)).map_err(|error| {
            Misuse::error(format!(
                "{error}; the run used `{of_run}`: choose another device with --device"
            ))
        })
    }

    /// The name of the run: its folder name.
    pub fn name(&self) -> String {
        let path = std::path::absolute(&self.folder.root).ok();
        let name = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| "run".into())
    }

    /// The folder for what is made of the run: the given one, or by default one of this name in its own.
    ///
    /// # Errors
    ///
    /// If it is the folder of another run, whose files of the same names would be replaced.
    pub fn out(&self, given: Option<&Path>, name: &str) -> Result<PathBuf> {
        let Some(given) = given else { return Ok(self.folder.path(name)) };
        let out = std::path::absolute(given)?;
        let has_name = out.file_name().is_some_and(|own| own == name);
        let parent = out.parent().filter(|_| has_name);
        for root in std::iter::once(&*out).chain(parent) {
            if Folder::at(root).has_run() && !paths::is_same(root, &self.folder.root)? {
                return Err(Misuse::error(format!(
                    "{} is the folder of another run, whose files would be replaced; give another folder with --out",
                    root.display()
                )));
            }
        }
        Ok(given.into())
    }

    /// The files that the run has read: its field, seeds and inlets.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let files = self.summary["field"]["files"].as_array().into_iter().flatten();
        let files = files.filter_map(|file| file.as_str()).map(PathBuf::from);
        files.chain(self.case.clone().into_iter().flat_map(Case::other_files)).collect()
    }

    /// The trajectories of some of its particles, for pictures, with what colours them if that is an array, how they end, or their source.
    pub fn sample(&self, particles: usize, color: Option<&str>) -> Result<SampledTrajectories> {
        let is_read = |name: &&str| {
            *name == STATUS || self.tracks.arrays().iter().any(|array| array.name == **name)
        };
        if let Some(color) = color.filter(|color| !is_read(color) && !COLORS.contains(color)) {
            let arrays = self.tracks.arrays().into_iter().map(|array| array.name);
            let known: Vec<String> = COLORS.map(String::from).into_iter().chain(arrays).collect();
            return Err(Misuse::error(format!(
                "unknown attribute `{color}` to colour the tracks by; available: {}",
                known.join(", ")
            )));
        }
        let arrays: Vec<&str> = color.into_iter().filter(is_read).collect();
        let counts = [particles, MAX_SAVES];
        let mut sample =
            trajectories::sample_with_arrays(&self.tracks, self.domain, counts, &arrays)?;
        if color == Some(SOURCE) {
            let source = self.sources(&sample.trajectories)?;
            sample.trajectories.attributes.push(source);
        }
        self.add_land(&mut sample.trajectories);
        Ok(sample)
    }

    /// Adds what maps have: land and a scale bar.
    pub fn add_land(&self, trajectories: &mut Trajectories) {
        trajectories.land.clone_from(&self.land);
        trajectories.radius = self.radius();
    }

    /// Where particles come from, of a run with several blocks of seeds and sources.
    fn sources(&self, trajectories: &Trajectories) -> Result<Attribute> {
        let Sources { names, codes } = sources::of_particles(self, &trajectories.particles)
            .ok_or_else(|| {
                Misuse::error(format!(
                    "the particles of {} come from one source, or its case does not tell them apart; choose another --color",
                    self.folder.root.display()
                ))
            })?;
        let row: Vec<f32> = codes.into_iter().map(f32::from).collect();
        Ok(Attribute {
            name: SOURCE.into(),
            values: row.repeat(trajectories.times.len()),
            categories: names,
            ..Attribute::default()
        })
    }

    /// A field on a plane with the land and a scale bar, if it is a map.
    pub fn with_land(&self, raster: Raster) -> Raster {
        let axes = raster.axes.each_ref().map(|axis| axis.name.as_str());
        let is_map = matches!(axes, ["x", "y"] | ["longitude", "latitude"]);
        let (land, radius) = (self.land.clone(), self.radius());
        Raster { land: land.filter(|_| is_map), radius: radius.filter(|_| is_map), ..raster }
    }

    /// The units of the case.
    pub fn units(&self) -> Units {
        let io::tracks::Units { length, time, .. } = self.tracks.units();
        Units { length, time }
    }

    /// The date of time 0, if times have dates.
    pub fn time_origin(&self) -> Option<io::tracks::TimeOrigin> {
        self.tracks.units().origin_of_seconds().cloned()
    }

    /// The point from which to measure positions in the precision of the run: 0, or a corner of a
    /// domain so far from 0 that this precision does not hold positions.
    pub fn origin(&self) -> [f64; 3] {
        match self.tracks.position_precision() == self.tracks.precision() {
            true => [0.0; 3],
            false => self.domain[0].map(|low| if low.is_finite() { low } else { 0.0 }),
        }
    }

    /// A time on a command line after which something is looked for, such as `6 h`, in units of the run.
    pub fn duration(&self, option: &str, text: &str) -> Result<f64> {
        let unit = self.units().time;
        let time = file::length(text)
            .map_err(|reason| Misuse::error(format!("{option} {text}: {reason}")))?;
        if !(time >= 0.0 && time.is_finite()) {
            return Err(Misuse::error(format!(
                "{option} is {text}; give a finite time of 0 or more"
            )));
        }
        match text.trim().parse::<f64>().is_err() && !file::is_seconds(&unit) {
            true => Err(Misuse::error(format!(
                "{option} is {text}, but times of the run are in {unit}; give a number in this unit"
            ))),
            false => Ok(time),
        }
    }

    /// The axes along which the domain has an extent.
    pub fn axes(&self) -> Vec<usize> {
        (0..3).filter(|&d| self.domain[0][d] < self.domain[1][d]).collect()
    }

    /// The number of a time on a command line.
    pub fn time(&self, given: &GivenTime) -> Result<f64> {
        let time = given.among(&self.tracks.units());
        time.map_err(|reason| Misuse::error(format!("{}: {reason}", self.folder.root.display())))
    }

    /// Parses a save: its number, `last`, or a time such as `t=2.5` or a date, which selects the nearest save.
    pub fn save(&self, given: &str) -> Result<usize> {
        let saves = self.tracks.num_saves();
        let found = match (given, given.strip_prefix("t=").map(str::parse)) {
            ("last", _) => saves.checked_sub(1),
            (_, Some(Ok(time))) => self.nearest(self.time(&time)?),
            (_, Some(Err(expected))) => {
                return Err(Misuse::error(format!("there is no save `{given}`: {expected}")));
            }
            (number, None) => number.parse().ok().filter(|&save: &usize| save < saves),
        };
        found.ok_or_else(|| {
            let available = match self.tracks.times() {
                [] => "the run has no saves".into(),
                times => {
                    let times = time_range(times, "", self.time_origin().as_ref());
                    match saves {
                        1 => format!("the run has save 0, at {times}"),
                        _ => format!("the run has saves 0 to {}, from {times}", saves - 1),
                    }
                }
            };
            Misuse::error(format!(
                "there is no save `{given}`: {available}; give a number, `last`, or a time such as \
                 `t=2.5`"
            ))
        })
    }

    /// The save nearest to a time within those of the run.
    fn nearest(&self, time: f64) -> Option<usize> {
        let times = self.tracks.times();
        let ends = [*times.first()?, *times.last()?];
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        // Times are given as decimal numbers.
        let slack = 1e-6 * (high - low) + 1e-9 * low.abs().max(high.abs());
        let distance = |save: &usize| (times[*save] - time).abs();
        let saves = (0..times.len()).filter(|_| (low - slack..=high + slack).contains(&time));
        saves.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

fn domain_of_summary(summary: &Value) -> Option<[[f64; 3]; 2]> {
    let corner = |name: &str| serde_json::from_value(summary["domain"][name].clone()).ok();
    Some([corner("low")?, corner("high")?])
}

fn domain_of_case(case: Option<&Case>) -> Option<[[f64; 3]; 2]> {
    let domain = &case?.domain;
    Some([domain.low?, domain.high?])
}

/// The bounding box of all positions, for runs whose domain neither the summary nor the case gives.
fn bounds_of_positions(tracks: &io::Tracks) -> Result<[[f64; 3]; 2]> {
    let boxes = (0..tracks.num_saves()).map(|save| Ok(Bounds::of(tracks.position(save)?)));
    let boxes: Vec<Bounds> = boxes.collect::<Result<_>>()?;
    // All positions of a save may be NaN.
    let known = boxes.into_iter().filter(|of_save| !of_save.is_empty());
    let bounds = Bounds::of(known.flat_map(|of_save| [of_save.low, of_save.high]));
    Ok(if bounds.is_empty() { [[0.0; 3], [1.0; 3]] } else { [bounds.low, bounds.high] })
}
