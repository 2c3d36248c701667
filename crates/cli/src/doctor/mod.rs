//! `burntrace doctor`: what this machine can do, and what to install.

mod advice;
mod limits;
mod speed;
mod text;

use crate::{
    args::DoctorArgs,
    devices::{DeviceReport, answer, auto},
    machine::{self, Machine},
};
use anyhow::{Result, bail};
use burntrace::device::Unusable;
use limits::Limits;
use serde::Serialize;
use speed::Speeds;
use std::path::PathBuf;

/// Everything that `doctor` finds.
#[derive(Serialize)]
struct Diagnosis {
    burntrace: &'static str,
    date: String,
    machine: Machine,
    /// Instruction set of the kernels on the CPU.
    instructions: String,
    limits: Limits,
    speeds: Speeds,
    devices: Vec<DeviceReport>,
    not_usable: Vec<Unusable>,
    auto: Auto,
    advice: Vec<String>,
}

/// The device that `auto` takes.
#[derive(Serialize)]
struct Auto {
    device: String,
    reason: String,
    /// The file with the measurement.
    kept: Option<PathBuf>,
}

pub fn execute(args: &DoctorArgs) -> Result<()> {
    if let Some(name) = &args.check {
        return answer::print(name);
    }
    let (devices, not_usable) = burntrace::device::list();
    let speeds = Speeds::measure(args.dir.as_deref());
    let devices: Vec<DeviceReport> = devices.iter().map(DeviceReport::of).collect();
    let auto = auto_of(&devices);
    let mut diagnosis = Diagnosis {
        burntrace: env!("CARGO_PKG_VERSION"),
        date: machine::date(),
        machine: Machine::this(),
        instructions: burntrace::device::instructions(),
        limits: Limits::now(),
        speeds,
        devices,
        not_usable,
        auto,
        advice: Vec::new(),
    };
    diagnosis.advice = advice::of(&diagnosis);
    let json = serde_json::to_value(&diagnosis)?;
    args.output.print(|| json, || text::of(&diagnosis))?;
    let wrong: Vec<&str> =
        diagnosis.devices.iter().filter(|of| !of.is_right()).map(|of| of.name.as_str()).collect();
    match wrong[..] {
        [] => Ok(()),
        _ => bail!("no right answer from {}; do not use it", wrong.join(", ")),
    }
}

/// The device that `auto` takes, and why; its measurement is kept.
fn auto_of(reports: &[DeviceReport]) -> Auto {
    let (measurement, kept) = auto::keep(reports);
    let cards = reports.iter().filter(|report| report.is_card()).count();
    let software = reports.iter().filter(|report| report.kind == "software");
    let software: Vec<&str> = software.map(|report| report.name.as_str()).collect();
    let mut reason = match (cards, &software[..]) {
        (0, []) => "there is no graphics card that this program can use".into(),
        (0, names) => format!(
            "there is no graphics card that this program can use; software on the CPU is not chosen ({})",
            names.join(", ")
        ),
        _ => measurement.reason(),
    };
    if let Err(error) = &kept {
        reason += &format!("; this measurement is not kept: {error:#}");
    }
    Auto { device: measurement.device().into(), reason, kept: kept.ok() }
}
