//! `burntrace devices`, and the device of a run.

pub mod answer;
pub mod auto;
mod report;

pub use auto::open;
pub use report::DeviceReport;

use crate::args::DevicesArgs;
use anyhow::Result;
use burntrace::device::{self, OpenDevice, Unusable};
pub use burntrace_case::run::devices::{keep, names, only_name};

pub fn execute(args: &DevicesArgs) -> Result<()> {
    let (usable, unusable) = device::list();
    let auto = auto_name()?;
    args.output.print(|| json(&usable, &unusable, &auto), || text(&usable, &unusable, &auto))
}

/// The description of a device, and whether it is software.
pub fn described(device: &OpenDevice) -> String {
    let note = if device.is_software { ", a software rasteriser on the CPU" } else { "" };
    format!("{}{note}", device.description)
}

fn text(usable: &[OpenDevice], unusable: &[Unusable], auto: &str) -> String {
    let mut text = String::from("device     f64   description\n");
    for usable in usable {
        let f64 = if usable.has_f64 { "yes" } else { "no" };
        let mut notes = described(usable);
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
    serde_json::json!({ "auto": auto, "usable": usable, "unusable": unusable })
}
