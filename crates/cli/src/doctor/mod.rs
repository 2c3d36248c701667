//! `burntrace doctor`: what this machine can do, and what to install.

mod advice;
mod answer;
mod devices;
mod limits;
mod speed;
mod text;

use crate::{
    args::DoctorArgs,
    machine::{self, Machine},
};
use anyhow::{Result, bail};
pub use devices::{DeviceReport, is_cpu};
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
    not_usable: Vec<NotUsable>,
    auto: Auto,
    advice: Vec<String>,
}

/// A kind of devices that is not usable.
#[derive(Serialize)]
struct NotUsable {
    name: String,
    reason: String,
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
    let auto = devices::auto(&devices);
    let not_usable =
        not_usable.into_iter().map(|of| NotUsable { name: of.name, reason: of.reason });
    let mut diagnosis = Diagnosis {
        burntrace: env!("CARGO_PKG_VERSION"),
        date: machine::date(),
        machine: Machine::this(),
        instructions: burntrace::device::instructions(),
        limits: Limits::now(),
        speeds,
        devices,
        not_usable: not_usable.collect(),
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
