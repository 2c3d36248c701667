//! What the command line asks for, checked before anything is measured.

use super::{batch::Batch, workload::Kind};
use crate::{args, case::Misuse};
use anyhow::Result;
use burntrace::{
    Precision,
    device::{self, OpenDevice},
};
use std::path::{Path, PathBuf};

/// What to measure.
pub struct Plan {
    /// The first one is what the others are compared with.
    pub devices: Vec<OpenDevice>,
    /// Devices of `all` that cannot compute in the precision.
    pub left_out: Vec<String>,
    pub workloads: Vec<Kind>,
    /// Numbers of particles; empty for each workload's own.
    pub particles: Vec<usize>,
    /// Steps, if not each workload's own.
    pub steps: Option<u64>,
    pub precision: Precision,
    pub repeats: usize,
    pub batch: Batch,
    /// The folder with the peers' arrays.
    pub data: Option<PathBuf>,
}

/// The most particles: their numbers fit into an `i32`.
const MOST: f64 = i32::MAX as f64;

impl Plan {
    /// Checks the command line.
    pub fn new(args: &args::Bench) -> Result<Self> {
        for file in [&args.json, &args.markdown].into_iter().flatten() {
            check_folder(file)?;
        }
        if args.repeats == 0 {
            return Err(Misuse::error("--repeats 0 measures nothing; ask for 1 or more"));
        }
        let precision = if args.precision == "f64" { Precision::F64 } else { Precision::F32 };
        let (devices, left_out) = devices(&args.devices, precision)?;
        let workloads = unique(&args.workload, workload)?;
        check_steps(args.steps, &workloads)?;
        check_data(args.data.as_deref(), &workloads)?;
        Ok(Plan {
            devices,
            left_out,
            workloads,
            particles: unique(&args.particles, |&count| particles(count))?,
            steps: args.steps,
            precision,
            repeats: args.repeats,
            batch: Batch::named(&args.batch)?,
            data: args.data.clone(),
        })
    }

    /// Numbers of particles to ask each workload for; `None` is its own.
    pub fn counts(&self) -> Vec<Option<usize>> {
        if self.particles.is_empty() {
            return vec![None];
        }
        self.particles.iter().copied().map(Some).collect()
    }

    /// Steps of a workload's run.
    pub fn steps(&self, kind: Kind) -> u64 {
        self.steps.unwrap_or(kind.steps())
    }
}

/// What each word of a list stands for; a word that repeats another counts once.
fn unique<S, T: PartialEq>(words: &[S], meaning: impl Fn(&S) -> Result<T>) -> Result<Vec<T>> {
    let mut meanings = Vec::new();
    for word in words {
        let meaning = meaning(word)?;
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }
    Ok(meanings)
}

fn workload(name: &String) -> Result<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name).join(", ");
        Misuse::error(format!("there is no workload `{name}`; there are {names}"))
    })
}

fn particles(count: f64) -> Result<usize> {
    if (1.0..=MOST).contains(&count) && count.fract() == 0.0 {
        return Ok(count as usize);
    }
    Err(Misuse::error(format!(
        "--particles {count} is no number of particles; give whole numbers from 1 to {MOST}, \
         as 10000 or 1e4"
    )))
}

fn check_steps(steps: Option<u64>, workloads: &[Kind]) -> Result<()> {
    let Some(steps) = steps else { return Ok(()) };
    match workloads.iter().find(|kind| steps == 0 || steps > kind.steps()) {
        None => Ok(()),
        Some(kind) => Err(Misuse::error(format!(
            "--steps {steps} is not what {} can take: its field is given for 1 to {} steps",
            kind.name(),
            kind.steps()
        ))),
    }
}

/// Some workloads are the program's own.
fn check_data(data: Option<&Path>, workloads: &[Kind]) -> Result<()> {
    match workloads.iter().find(|kind| data.is_some() && !kind.has_data()) {
        None => Ok(()),
        Some(kind) => Err(Misuse::error(format!(
            "--data has no arrays of {}; measure it by a call of its own, without --data",
            kind.name()
        ))),
    }
}

/// A file at the end of a long run must not fail for want of its folder.
fn check_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Misuse::error(format!(
            "{} cannot be written: there is no folder {}; make it first",
            file.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// The devices that are asked for by name, or all of them, and those of all that are left out.
fn devices(names: &[String], precision: Precision) -> Result<(Vec<OpenDevice>, Vec<String>)> {
    if names.iter().any(|name| name == "all") {
        let (mut usable, _) = device::list();
        // What others are compared with should be a device that people use.
        usable.sort_by_key(|device| device.is_software);
        let (fit, unfit): (Vec<_>, Vec<_>) =
            usable.into_iter().partition(|device| can(device, precision));
        return Ok((fit, unfit.into_iter().map(|device| device.name).collect()));
    }
    let mut devices: Vec<OpenDevice> = Vec::new();
    for name in names {
        let device = device::open(name).map_err(Misuse::of)?;
        if !can(&device, precision) {
            return Err(Misuse::error(format!(
                "device `{}` has no {precision}; use --precision f32, or a device that has it \
                 (flex)",
                device.name
            )));
        }
        if devices.iter().all(|other| other.name != device.name) {
            devices.push(device);
        }
    }
    Ok((devices, Vec::new()))
}

fn can(device: &OpenDevice, precision: Precision) -> bool {
    precision == Precision::F32 || device.has_f64
}
