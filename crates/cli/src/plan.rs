//! `burntrace plan`.

use crate::{
    args::PlanArgs,
    devices,
    file::{self, DeviceNames},
    job, log, notes,
    terminal::Terminal,
};
use anyhow::Result;
use burntrace::{Frames, Plan};

pub fn execute(args: &PlanArgs) -> Result<()> {
    let mut case = file::read(&args.case, &args.set)?;
    log::warn(&case.notes);
    log::warn(&job::plan_warnings(&case));
    if let Some(devices) = DeviceNames::given(&args.device) {
        case.run.device = devices;
    }
    let names = devices::names(&case.run.device)?;
    case.share_among(&names);
    job::check(&case)?;
    let terminal = Terminal::new(args.output.json || args.output.quiet);
    let device = devices::open(&names[0], &terminal)?;
    let sizes = job::sizes(&case, &terminal)?;
    let plan = job::plan(&case, &sizes, &device)?;
    args.output.print(|| json(&plan, &names), || text(&plan, &names))
}

fn text(plan: &Plan, devices: &[String]) -> String {
    match devices.len() {
        1 => format!("{plan}\n"),
        count => format!(
            "for a piece of the run, on each of {count} devices at a time ({}):\n{plan}\n",
            devices.join(", ")
        ),
    }
}

fn json(plan: &Plan, devices: &[String]) -> serde_json::Value {
    let items = plan.items().iter().map(|item| {
        let phase = format!("{:?}", item.phase).to_lowercase();
        serde_json::json!({
            "name": item.name, "phase": phase, "host": item.host, "device": item.device,
        })
    });
    serde_json::json!({
        "devices": devices,
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
