//! The device that `auto` takes: the fastest in a short measurement, which is kept for later runs.

use super::report::{DeviceReport, is_cpu};
use crate::{
    file::Misuse,
    folder,
    format::with_prefix,
    machine::{self, Machine},
};
use anyhow::{Context, Result};
use burntrace::{
    device::{self, OpenDevice},
    io,
};
use burntrace_case::console::Console;
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The device that is taken without a measurement.
const CPU: &str = "flex";

/// Number of measurements that are kept: of machines that share a home directory, and with other numbers of threads.
const MAX_KEPT: usize = 32;

/// What the speeds of devices depend on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Conditions {
    burntrace: String,
    machine: Machine,
    instructions: String,
    /// The names of all devices.
    devices: Vec<String>,
}

impl Conditions {
    fn now() -> Self {
        Conditions {
            burntrace: env!("CARGO_PKG_VERSION").into(),
            machine: Machine::this(),
            instructions: device::instructions(),
            devices: device::names(),
        }
    }
}

/// A device, as it was measured.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Measured {
    name: String,
    description: String,
    /// Particle-steps per second; `None` if the answer was wrong or missing.
    speed: Option<f64>,
}

/// A measurement of the devices of a machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Measurement {
    conditions: Conditions,
    date: String,
    devices: Vec<Measured>,
}

impl Measurement {
    fn new(conditions: Conditions, reports: &[&DeviceReport]) -> Self {
        let measured = |report: &&DeviceReport| Measured {
            name: report.name.clone(),
            description: report.description.clone(),
            speed: report.answer.as_ref().filter(|of| of.is_right).map(|answer| answer.speed),
        };
        let devices = reports.iter().map(measured).collect();
        Measurement { conditions, date: machine::date(), devices }
    }

    /// The fastest device with the right answer.
    fn fastest(&self) -> Option<&Measured> {
        let right = self.devices.iter().filter(|device| device.speed.is_some());
        right.max_by(|a, b| a.speed.unwrap_or(0.0).total_cmp(&b.speed.unwrap_or(0.0)))
    }

    /// The name of the device that `auto` takes.
    pub fn device(&self) -> &str {
        self.fastest().map_or(CPU, |device| &device.name)
    }

    /// Why it is taken.
    pub fn reason(&self) -> String {
        let speeds = self.devices.iter().map(|device| match device.speed {
            Some(speed) => format!("{} {}/s", device.name, with_prefix(speed)),
            None => format!("{} no right answer", device.name),
        });
        let speeds = speeds.collect::<Vec<_>>().join(", ");
        format!("the fastest in a measurement of {}: {speeds}", self.date)
    }
}

/// Opens a device by its name. For `auto`, devices are measured unless a measurement has been kept, or there is only the CPU.
pub fn open(name: &str, console: &dyn Console) -> Result<OpenDevice> {
    if name != "auto" {
        return device::open(name).map_err(Misuse::of);
    }
    if !device::may_have_card() {
        return device::open(CPU).map_err(Misuse::of);
    }
    if let Some(device) = kept().and_then(|measurement| still_there(&measurement)) {
        return Ok(device);
    }
    let found = device::list().0;
    let candidates: Vec<&OpenDevice> = found.iter().filter(|device| is_candidate(device)).collect();
    if candidates.iter().all(|device| device.name == CPU) {
        return device::open(CPU).map_err(Misuse::of);
    }
    let names: Vec<&str> = candidates.iter().map(|device| device.name.as_str()).collect();
    console.say("device", &format!("measures {}, once on this machine", names.join(", ")));
    let reports: Vec<DeviceReport> = candidates.into_iter().map(DeviceReport::of).collect();
    let (measurement, kept) = keep(&reports);
    console.say("device", &format!("{}: {}", measurement.device(), measurement.reason()));
    if let Err(error) = kept {
        console.say("device", &format!("the measurement is not kept: {error:#}"));
    }
    device::open(measurement.device()).map_err(Misuse::of)
}

/// Whether `auto` may take a device: the CPU and cards, but no software that does the work of a card on the CPU.
fn is_candidate(device: &OpenDevice) -> bool {
    !device.is_software && device.name != "ndarray"
}

/// The device of a measurement, if it has not been replaced by another one of the same name.
fn still_there(measurement: &Measurement) -> Option<OpenDevice> {
    let device = device::open(measurement.device()).ok()?;
    let measured = measurement.fastest()?;
    (is_cpu(&device) || device.description == measured.description).then_some(device)
}

/// The kind of the device that a kept measurement chooses, or `auto` without one.
pub fn kept_kind() -> String {
    let kept = device::may_have_card().then(kept).flatten();
    let device = kept.map(|measurement| measurement.device().to_string());
    let kind = device.and_then(|name| Some(name.split(':').next()?.to_string()));
    kind.unwrap_or_else(|| "auto".into())
}

/// The kept measurement under the present conditions.
pub fn kept() -> Option<Measurement> {
    let now = Conditions::now();
    read(&file()?).into_iter().find(|measurement| measurement.conditions == now)
}

/// Keeps the measurement of the devices that `auto` may take. Also returns the file, or why there is none.
pub fn keep(reports: &[DeviceReport]) -> (Measurement, Result<PathBuf>) {
    let candidates: Vec<&DeviceReport> = reports
        .iter()
        .filter(|report| report.kind != "software" && report.name != "ndarray")
        .collect();
    let measurement = Measurement::new(Conditions::now(), &candidates);
    let write = || {
        let path = file().context("there is no folder for caches; set XDG_CACHE_HOME")?;
        write(&path, &measurement)?;
        Ok(path)
    };
    let kept = write();
    (measurement, kept)
}

/// The file of the measurements.
fn file() -> Option<PathBuf> {
    Some(choose_base_strategy().ok()?.cache_dir().join("burntrace").join("devices.json"))
}

/// The measurements in a file, the newest first; none if there is no such file, or another version wrote it.
fn read(path: &Path) -> Vec<Measurement> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Puts a measurement in front of those in a file.
fn write(path: &Path, measurement: &Measurement) -> Result<()> {
    let mut all = read(path);
    all.retain(|other| other.conditions != measurement.conditions);
    all.insert(0, measurement.clone());
    all.truncate(MAX_KEPT);
    let folder = path.parent().context("no folder")?;
    folder::make(folder)?;
    Ok(io::write_text_beside(path, format!("{:#}\n", serde_json::to_value(&all)?))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(threads: usize, speeds: &[(&str, Option<f64>)]) -> Measurement {
        let mut conditions = Conditions::now();
        conditions.machine.threads = threads;
        let devices = speeds.iter().map(|(name, speed)| Measured {
            name: name.to_string(),
            description: String::new(),
            speed: *speed,
        });
        Measurement { conditions, date: machine::date(), devices: devices.collect() }
    }

    #[test]
    fn fastest_right_device_is_taken() {
        let speeds = [("cuda:0", None), ("vulkan:0", Some(5e8)), ("flex", Some(6e7))];
        let three = measurement(2, &speeds);
        assert_eq!(three.device(), "vulkan:0");
        assert!(
            three.reason().contains("cuda:0 no right answer, vulkan:0 500.00 M/s, flex 60.00 M/s")
        );
        assert_eq!(
            measurement(2, &[("vulkan:0", Some(1e7)), ("flex", Some(6e7))]).device(),
            "flex"
        );
        assert_eq!(measurement(2, &[("vulkan:0", None)]).device(), "flex");
    }

    #[test]
    fn measurements_are_kept_by_their_conditions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("devices.json");
        assert!(read(&path).is_empty());
        for threads in 0..40 {
            write(&path, &measurement(threads, &[("flex", Some(threads as f64))])).unwrap();
        }
        let again = measurement(20, &[("flex", Some(7.0))]);
        write(&path, &again).unwrap();
        let all = read(&path);
        assert_eq!((all.len(), &all[0]), (MAX_KEPT, &again));
        assert_eq!(all.iter().filter(|of| of.conditions.machine.threads == 20).count(), 1);
        std::fs::write(&path, "[{\"other\": 1}]").unwrap();
        assert!(read(&path).is_empty());
    }
}
