//! `burntrace plan`.

use crate::{
    args::PlanArgs,
    devices,
    file::{self, DeviceNames},
    format::{count, with_prefix},
    job::{self, StoredSize},
    log, notes,
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
    let more =
        More { limited_by: job::limited_by(&case, &plan), stored: job::stored(&case, &sizes) };
    args.output.print(|| json(&plan, &names, &more), || text(&plan, &names, &more))
}

/// What a plan of the memory does not have.
struct More {
    /// What limits the memory on the host.
    limited_by: &'static str,
    /// The tracks on the disk, if their size is known before the run.
    stored: Option<StoredSize>,
}

fn text(plan: &Plan, devices: &[String], more: &More) -> String {
    let pieces = match devices.len() {
        1 => String::new(),
        count => format!(
            "for a piece of the run, on each of {count} devices at a time ({}):\n",
            devices.join(", ")
        ),
    };
    let stored = match more.stored {
        None => "tracks: their size depends on the run\n".into(),
        Some(StoredSize { particles, saves, bytes }) => format!(
            "tracks: {}B on the disk, {saves} saves of {} particles, before compression\n",
            with_prefix(bytes as f64),
            count(particles)
        ),
    };
    format!("{pieces}{plan}\nlimited on the host by {}\n{stored}", more.limited_by)
}

fn json(plan: &Plan, devices: &[String], more: &More) -> serde_json::Value {
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
        "limited_by": more.limited_by,
        "tracks": more.stored.map(|StoredSize { particles, saves, bytes }| serde_json::json!({
            "particles": particles, "saves": saves, "bytes": bytes,
        })),
        "items": items.collect::<Vec<_>>(),
        "notes": notes::take(),
    })
}
