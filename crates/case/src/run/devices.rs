//! The devices of a run.

use crate::file::{Case, DeviceNames, Misuse};
use anyhow::Result;
use burntrace_core::device::{self, OpenDevice};

/// The names of the devices that a case gives: all devices of a kind for `cuda:*`.
pub fn names(given: &DeviceNames) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in given.names() {
        names.extend(device::all_named(name).map_err(Misuse::of)?);
    }
    Ok(names)
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
