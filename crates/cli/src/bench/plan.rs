//! The plan of a benchmark, checked before the first measurement.

use crate::{args::BenchArgs, file::Misuse};
use anyhow::Result;
use burntrace::{
    Precision,
    device::{self, OpenDevice},
};
use burntrace_bench::{batch::Batch, kind::WorkloadKind, measure::Settings};
use std::path::Path;

/// What to measure.
pub struct BenchPlan {
    /// Devices. Speeds are relative to the first one.
    pub devices: Vec<OpenDevice>,
    /// Devices of `all` that lack the precision.
    pub left_out: Vec<String>,
    pub workloads: Vec<WorkloadKind>,
    /// Numbers of particles. If empty, each workload's own.
    pub particles: Vec<usize>,
    /// Number of steps. `None` for each workload's own.
    pub steps: Option<u64>,
    pub settings: Settings,
}

/// Maximum number of particles: their indices are `i32`.
const MAX_PARTICLES: f64 = i32::MAX as f64;

impl BenchPlan {
    /// Checks the command line.
    pub fn new(args: &BenchArgs) -> Result<Self> {
        for file in [&args.json, &args.markdown].into_iter().flatten() {
            check_folder(file)?;
        }
        if args.repeats == 0 {
            return Err(Misuse::error("--repeats 0 measures nothing; give 1 or more"));
        }
        let precision = if args.precision == "f64" { Precision::F64 } else { Precision::F32 };
        let (devices, left_out) = devices(&args.devices, precision)?;
        let workloads = match args.workload.iter().any(|name| name == "all") {
            true => WorkloadKind::ALL.to_vec(),
            false => unique(&args.workload, workload)?,
        };
        check_steps(args.steps, &workloads)?;
        Ok(BenchPlan {
            devices,
            left_out,
            workloads,
            particles: unique(&args.particles, |&count| particles(count))?,
            steps: args.steps,
            settings: Settings { precision, repeats: args.repeats, batch: batch(&args.batch)? },
        })
    }

    /// Numbers of particles to trace; `None` selects the workload's own.
    pub fn counts(&self) -> Vec<Option<usize>> {
        if self.particles.is_empty() {
            return vec![None];
        }
        self.particles.iter().copied().map(Some).collect()
    }

    /// Number of steps of a workload's run.
    pub fn steps(&self, kind: WorkloadKind) -> u64 {
        self.steps.unwrap_or(kind.steps()).min(kind.steps())
    }
}

/// Parses the items of a list, without duplicates.
fn unique<S, T: PartialEq>(items: &[S], parse: impl Fn(&S) -> Result<T>) -> Result<Vec<T>> {
    let mut parsed = Vec::new();
    for item in items {
        let value = parse(item)?;
        if !parsed.contains(&value) {
            parsed.push(value);
        }
    }
    Ok(parsed)
}

fn workload(name: &String) -> Result<WorkloadKind> {
    let all = WorkloadKind::ALL;
    all.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = all.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        Misuse::error(format!("there is no workload `{name}`; choose from {names}, or `all`"))
    })
}

fn batch(name: &str) -> Result<Batch> {
    Batch::named(name).ok_or_else(|| {
        Misuse::error(format!(
            "--batch {name} is not a batch size; give a number of particles, `whole` or `auto`"
        ))
    })
}

fn particles(count: f64) -> Result<usize> {
    if (1.0..=MAX_PARTICLES).contains(&count) && count.fract() == 0.0 {
        return Ok(count as usize);
    }
    Err(Misuse::error(format!(
        "--particles {count} is not a number of particles; give integers from 1 to \
         {MAX_PARTICLES}, such as 10000 or 1e4"
    )))
}

fn check_steps(steps: Option<u64>, workloads: &[WorkloadKind]) -> Result<()> {
    let Some(steps) = steps else { return Ok(()) };
    // A density has no steps.
    let mut traced = workloads.iter().filter(|kind| **kind != WorkloadKind::Density);
    match traced.find(|kind| steps == 0 || steps > kind.steps()) {
        None => Ok(()),
        Some(kind) => Err(Misuse::error(format!(
            "--steps {steps} is out of range for {}: its field covers 1 to {} steps",
            kind.name(),
            kind.steps()
        ))),
    }
}

/// Checks that the folder of an output file exists, before a long measurement.
pub(super) fn check_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Misuse::error(format!(
            "cannot write {}: there is no folder {}; create it first",
            file.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Opens the named devices, or all of them. Also returns the names of those that lack the
/// precision.
pub(super) fn devices(
    names: &[String],
    precision: Precision,
) -> Result<(Vec<OpenDevice>, Vec<String>)> {
    if names.iter().any(|name| name == "all") {
        let (mut usable, _) = device::list();
        // The reference of the comparison should be hardware that is used in practice.
        usable.sort_by_key(|device| device.is_software);
        let (fit, unfit): (Vec<_>, Vec<_>) =
            usable.into_iter().partition(|device| supports(device, precision));
        return Ok((fit, unfit.into_iter().map(|device| device.name).collect()));
    }
    let mut devices: Vec<OpenDevice> = Vec::new();
    for name in names {
        let device = device::open(name).map_err(Misuse::of)?;
        if !supports(&device, precision) {
            return Err(Misuse::error(format!(
                "device `{}` does not support {precision}; use --precision f32, or a device that \
                 does (flex)",
                device.name
            )));
        }
        if devices.iter().all(|other| other.name != device.name) {
            devices.push(device);
        }
    }
    Ok((devices, Vec::new()))
}

fn supports(device: &OpenDevice, precision: Precision) -> bool {
    precision == Precision::F32 || device.has_f64
}
