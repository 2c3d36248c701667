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
