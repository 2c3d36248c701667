//! Memory plans: how a run fits into the available memory.

mod choice;
mod memory;
mod needs;

pub use choice::MemoryRequest;
pub use memory::Memory;
pub(crate) use memory::{program, resident};
pub use needs::{Phase, PlanItem, RunSize};

use crate::{Error, Frames, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// How a run uses memory.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// All frames and all particles on the device.
    InMemory,
    /// All particles on the device, with a window of frames.
    StreamedFrames,
    /// All frames on the device. Particles are on the host, and one batch at a time on the device.
    Batched,
    /// A window of frames and a batch of particles on the device.
    Streamed,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Strategy; 4] =
        [Strategy::InMemory, Strategy::StreamedFrames, Strategy::Batched, Strategy::Streamed];

    /// The name of the strategy, for example `streamed-frames`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::InMemory => "in-memory",
            Strategy::StreamedFrames => "streamed-frames",
            Strategy::Batched => "batched",
            Strategy::Streamed => "streamed",
        }
    }

    /// The strategy with a name.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] if there is no such strategy.
    pub fn named(name: &str) -> Result<Self> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
            let names = Strategy::ALL.map(Strategy::name).join(", ");
            Error::Plan(format!("there is no strategy `{name}`; choose one of {names}"))
        })
    }

    /// Whether frames are read during the run.
    pub fn streams_frames(self) -> bool {
        matches!(self, Strategy::StreamedFrames | Strategy::Streamed)
    }

    /// Whether particles are processed in batches.
    pub fn has_batches(self) -> bool {
        matches!(self, Strategy::Batched | Strategy::Streamed)
    }

    fn of(frames: Frames, has_batches: bool) -> Self {
        let streams_frames = match frames {
            Frames::Streamed(_) => true,
            Frames::All => false,
        };
        match (streams_frames, has_batches) {
            (false, false) => Strategy::InMemory,
            (true, false) => Strategy::StreamedFrames,
            (false, true) => Strategy::Batched,
            (true, true) => Strategy::Streamed,
        }
    }
}

/// The memory plan of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    strategy: Strategy,
    frames: Frames,
    particles: usize,
    batch: usize,
    items: Vec<PlanItem>,
    memory: Memory,
}

impl Plan {
    /// The strategy.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// What is held of the frames at a time.
    pub fn frames(&self) -> Frames {
        self.frames
    }

    /// Maximum number of particles on the device at a time.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Number of batches of particles.
    pub fn batches(&self) -> usize {
        self.particles.div_ceil(self.batch.max(1)).max(1)
    }

    /// The items that need memory.
    pub fn items(&self) -> &[PlanItem] {
        &self.items
    }

    /// Peak memory of the process on the host, in bytes: the permanent items, and the maximum over
    /// the start, the steps and the end. If the device is the CPU, its memory is host memory.
    pub fn host_bytes(&self) -> u64 {
        let device = |item: &PlanItem| if self.memory.is_shared { item.device } else { 0 };
        peak(&self.items, |item| item.host + device(item))
    }

    /// Peak memory on a device with its own memory, in bytes; 0 for other devices.
    pub fn device_bytes(&self) -> u64 {
        if self.memory.is_shared { 0 } else { peak(&self.items, |item| item.device) }
    }

    /// The available memory.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Where the plan does not fit, with the bytes needed and available.
    fn excess(&self) -> Option<(&'static str, u64, u64)> {
        let pairs = [
            ("the host", self.host_bytes(), self.memory.host),
            ("the device", self.device_bytes(), self.memory.device),
        ];
        let short = |(memory, needed, available): (_, u64, Option<u64>)| {
            available.filter(|bytes| needed > *bytes).map(|bytes| (memory, needed, bytes))
        };
        pairs.into_iter().find_map(short)
    }
}

/// Peak of the sums over the phases of a run.
fn peak(items: &[PlanItem], bytes: impl Fn(&PlanItem) -> u64) -> u64 {
    let sum = |phase| items.iter().filter(|item| item.phase == phase).map(&bytes).sum::<u64>();
    let peak = [Phase::Start, Phase::Steps, Phase::End].map(sum).into_iter().max();
    sum(Phase::Always) + peak.unwrap_or(0)
}

/// A table of the items in MiB.
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:<24} {:>9} {:>9}  MiB", self.strategy.name(), "host", "device")?;
        let mib = |bytes: u64| format!("{:.1}", bytes as f64 / 1024.0_f64.powi(2));
        for item in &self.items {
            let when = match item.phase {
                Phase::Always => "",
                Phase::Start => " (start)",
                Phase::Steps => " (steps)",
                Phase::End => " (end)",
            };
            let name = format!("{}{when}", item.name);
            writeln!(f, "{name:<24} {:>9} {:>9}", mib(item.host), mib(item.device))?;
        }
        let (host, device) = (mib(self.host_bytes()), mib(self.device_bytes()));
        let shared = if self.memory.is_shared { "  (the device uses host memory)" } else { "" };
        writeln!(f, "{:<24} {host:>9} {device:>9}{shared}", "peak")?;
        let known = |bytes: Option<u64>| bytes.map_or("unknown".into(), mib);
        let device = if self.memory.is_shared { "0.0".into() } else { known(self.memory.device) };
        writeln!(f, "{:<24} {:>9} {device:>9}", "available", known(self.memory.host))?;
        let frames = match self.frames {
            Frames::All => "all frames".to_string(),
            Frames::Streamed(held) => format!("{held} frames at a time"),
        };
        write!(
            f,
            "{frames}, {} particles in {} of at most {}",
            self.particles,
            if self.batches() == 1 {
                "one batch".into()
            } else {
                format!("{} batches", self.batches())
            },
            self.batch
        )
    }
}
