//! `burntrace devices`, and the device of a run.

pub mod answer;
pub mod auto;
mod report;

pub use auto::open;
pub use report::DeviceReport;

use crate::{
    args::DevicesArgs,
    case::{Case, DeviceNames, Misuse},
    notes::Notes,
};
use anyhow::Result;
use burntrace::device::{self, OpenDevice, Unusable};

pub fn execute(args: &DevicesArgs) -> Result<()> {
    let (usable, unusable) = device::list();
    let auto = auto_name()?;
    args.output.print(|| json(&usable, &unusable, &auto), || text(&usable, &unusable, &auto))
}

/// The names of the devices that a case gives: all devices of a kind for `cuda:*`.
pub fn names(given: &DeviceNames) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in given.names() {
        names.extend(device::all_named(name).map_err(Misuse::of)?);
    }
    Ok(names)
}

/// Opens the device of what runs on one device only.
pub fn open_one(given: &DeviceNames, what: &str, notes: Notes) -> Result<OpenDevice> {
    open(&only_name(given, what)?, notes)
}

/// The name of the device of what runs on one device only.
pub fn only_name(given: &DeviceNames, what: &str) -> Result<String> {
    let mut names = names(given)?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        _ => Err(Misuse::error(format!(
            "run.device is {given}, but {what} needs one device; give one of them with --device or `--set \
             run.device=`"
        ))),
    }
}

/// Gives a case that leaves the device open the one of its earlier part, by its name or its kind, if it can be used.
pub fn keep(case: &mut Case, same: &str) {
    if case.run.device.is_auto() && device::open(same).is_ok() {
        case.run.device = same.into();
    }
}

/// Refuses devices of different kinds in one run.
pub fn check_kinds(devices: &[&OpenDevice]) -> Result<()> {
    fn kind(device: &OpenDevice) -> &str {
        device.name.split(':').next().unwrap_or_default()
    }
    let Some((first, others)) = devices.split_first() else { return Ok(()) };
    match others.iter().find(|other| kind(other) != kind(first)) {
        None => Ok(()),
        Some(other) => Err(Misuse::error(format!(
            "run.device has `{}` and `{}`: the last bits of tracks differ between kinds of devices, and would depend \
             on which one is faster; give devices of one kind, such as \"{}:*\"",
            first.name,
            other.name,
            kind(first)
        ))),
    }
}

fn text(usable: &[OpenDevice], unusable: &[Unusable], auto: &str) -> String {
    let mut text = String::from("device     f64   description\n");
    for usable in usable {
        let f64 = if usable.has_f64 { "yes" } else { "no" };
        let mut notes = usable.description.clone();
        if usable.is_software {
            notes += ", a software rasteriser on the CPU";
        }
        if usable.name == auto {
            notes += "  <- auto";
        }
        text += &format!("{:<10} {:<5} {notes}\n", usable.name, f64);
    }
    for unusable in unusable {
        text += &format!("{:<10} {:<5} not usable: {}\n", unusable.name, "-", unusable.reason);
    }
    text
}

/// The device that `auto` takes, or would take first if none has been measured.
fn auto_name() -> Result<String> {
    match auto::kept() {
        Some(measurement) => Ok(measurement.device().into()),
        None => Ok(device::open("auto")?.name),
    }
}

fn json(usable: &[OpenDevice], unusable: &[Unusable], auto: &str) -> serde_json::Value {
    let usable = usable.iter().map(|usable| {
        serde_json::json!({
            "name": usable.name,
            "description": usable.description,
            "software": usable.is_software,
            "f64": usable.has_f64,
        })
    });
    let unusable = unusable
        .iter()
        .map(|unusable| serde_json::json!({ "name": unusable.name, "reason": unusable.reason }));
    serde_json::json!({
        "auto": auto,
        "usable": usable.collect::<Vec<_>>(),
        "unusable": unusable.collect::<Vec<_>>(),
    })
}
