//! How much memory a run needs, and how it goes on with what there is.

mod choice;
mod needs;
mod size;

pub use choice::MemoryRequest;
pub use needs::{Phase, PlanItem, RunSize};
pub use size::{FieldSize, Memory};
pub(crate) use size::{READ_BYTES, resident};

use crate::{Error, Frames, Result};
use std::fmt::{Display, Formatter};

/// How a run lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// All frames and all particles on the device.
    InMemory,
    /// All particles on the device, and those frames that the run has come to.
    StreamedFrames,
    /// All frames on the device; particles on the host, and a batch of them at a time on the device.
    Batched,
    /// Those frames and those particles that the run has come to.
    Streamed,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 4] =
        [Strategy::InMemory, Strategy::StreamedFrames, Strategy::Batched, Strategy::Streamed];

    /// Its name, as `streamed-frames`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::InMemory => "in-memory",
            Strategy::StreamedFrames => "streamed-frames",
            Strategy::Batched => "batched",
            Strategy::Streamed => "streamed",
        }
    }

    /// The one of a name.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] where there is none of this name.
    pub fn named(name: &str) -> Result<Self> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
            let names = Strategy::ALL.map(Strategy::name).join(", ");
            Error::Plan(format!("there is no strategy `{name}`; there are {names}"))
        })
    }

    /// Whether frames are read in the course of the run.
    pub fn streams_frames(self) -> bool {
        matches!(self, Strategy::StreamedFrames | Strategy::Streamed)
    }

    /// Whether particles come in batches.
    pub fn has_batches(self) -> bool {
        matches!(self, Strategy::Batched | Strategy::Streamed)
    }

    fn of(streams_frames: bool, has_batches: bool) -> Self {
        match (streams_frames, has_batches) {
            (false, false) => Strategy::InMemory,
            (true, false) => Strategy::StreamedFrames,
            (false, true) => Strategy::Batched,
            (true, true) => Strategy::Streamed,
        }
    }
}

/// What a run needs of memory and has, and how it lies there.
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
    /// How the run lies in memory.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// How many frames it holds at a time.
    pub fn frames(&self) -> Frames {
        self.frames
    }

    /// The most particles that are on the device at a time.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// In how many batches particles come to the device.
    pub fn batches(&self) -> usize {
        self.particles.div_ceil(self.batch.max(1)).max(1)
    }

    /// What needs memory.
    pub fn items(&self) -> &[PlanItem] {
        &self.items
    }

    /// The most bytes that the process will have on the host: what lasts, and the greatest of what
    /// the begin, the steps and the end need. Where the device is the CPU, its memory is that of the
    /// host.
    pub fn host_bytes(&self) -> u64 {
        let device = |item: &PlanItem| if self.memory.is_shared { item.device } else { 0 };
        peak(&self.items, |item| item.host + device(item))
    }

    /// The most bytes on a device that has memory of its own; 0 for others.
    pub fn device_bytes(&self) -> u64 {
        if self.memory.is_shared { 0 } else { peak(&self.items, |item| item.device) }
    }

    /// The memory that there is.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// By how many bytes it does not fit, if it does not: on the host, and on the device.
    fn excess(&self) -> Option<(&'static str, u64, u64)> {
        let pairs = [
            ("the host", self.host_bytes(), self.memory.host),
            ("the device", self.device_bytes(), self.memory.device),
        ];
        let short = |(place, needed, there): (_, u64, Option<u64>)| {
            there.filter(|there| needed > *there).map(|there| (place, needed, there))
        };
        pairs.into_iter().find_map(short)
    }
}

/// The greatest sum of what there is at a time.
fn peak(items: &[PlanItem], bytes: impl Fn(&PlanItem) -> u64) -> u64 {
    let sum = |phase| items.iter().filter(|item| item.phase == phase).map(&bytes).sum::<u64>();
    let most = [Phase::Begin, Phase::Steps, Phase::End].map(sum).into_iter().max();
    sum(Phase::Always) + most.unwrap_or(0)
}

/// A table of what needs memory, in MiB.
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:<24} {:>9} {:>9}  MiB", self.strategy.name(), "host", "device")?;
        let mib = |bytes: u64| format!("{:.1}", bytes as f64 / 1024.0_f64.powi(2));
        for item in &self.items {
            let when = match item.phase {
                Phase::Always => "",
                Phase::Begin => " (begin)",
                Phase::Steps => " (steps)",
                Phase::End => " (end)",
            };
            let name = format!("{}{when}", item.name);
            writeln!(f, "{name:<24} {:>9} {:>9}", mib(item.host), mib(item.device))?;
        }
        let (host, device) = (mib(self.host_bytes()), mib(self.device_bytes()));
        let shared =
            if self.memory.is_shared { "  (the device's memory is the host's)" } else { "" };
        writeln!(f, "{:<24} {host:>9} {device:>9}{shared}", "at most")?;
        let known = |bytes: Option<u64>| bytes.map_or("unknown".into(), mib);
        let device = if self.memory.is_shared { "0.0".into() } else { known(self.memory.device) };
        writeln!(f, "{:<24} {:>9} {device:>9}", "there is", known(self.memory.host))?;
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
