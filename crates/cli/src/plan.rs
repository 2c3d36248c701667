//! `burntrace plan`.

use crate::{
    args::PlanArgs,
    case, devices, job, log,
    notes::{self, Notes},
};
use anyhow::Result;
use burntrace::{Frames, Plan};
use std::path::Path;

pub fn execute(args: &PlanArgs) -> Result<()> {
    let mut case = case::read(&args.case, &args.set)?;
    log::warn(&case.notes);
    log::warn(&job::plan_warnings(&case));
    if let Some(device) = &args.device {
        case.run.device = device.clone();
    }
    let file = std::path::absolute(&args.case)?;
    job::check(&case)?;
    let device =
        devices::open(&case.run.device, Notes { quiet: args.output.json || args.output.quiet })?;
    let sizes = job::sizes(&case, file.parent().unwrap_or(Path::new("/")))?;
    let plan = job::plan(&case, &sizes, &device)?;
    args.output.print(|| json(&plan), || format!("{plan}\n"))
}

fn json(plan: &Plan) -> serde_json::Value {
    let items = plan.items().iter().map(|item| {
        let phase = format!("{:?}", item.phase).to_lowercase();
        serde_json::json!({
            "name": item.name, "phase": phase, "host": item.host, "device": item.device,
        })
    });
    serde_json::json!({
        "strategy": plan.strategy().name(),
        "frames": match plan.frames() {
            Frames::All => None,
            Frames::Streamed(held) => Some(held),
        },
        "batch": plan.batch(),
        "batches": plan.batches(),
        "host": plan.host_bytes(),
        "device": plan.device_bytes(),
        "there": { "host": plan.memory().host, "device": plan.memory().device },
        "items": items.collect::<Vec<_>>(),
        "notes": notes::take(),
    })
}
