//! The checkpoint of a run: all that it needs to go on.

use crate::{case::Misuse, fingerprint::Fingerprint, folder::Folder, lives::ResidenceTimes};
use anyhow::Result;
use burntrace::{
    DurablePosition, RunNumbers, RunState,
    device::{self, OpenDevice},
    io::{Checkpoint, CheckpointWriter, Tracks},
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Its name in the folder of the run.
pub const NAME: &str = "checkpoint.bin";

/// What is kept of a run.
#[derive(Debug, Deserialize, Serialize)]
pub struct Kept {
    /// The version that wrote it.
    burntrace: String,
    /// The case as it ran, as in `case.toml`.
    pub case: String,
    pub fingerprint: Fingerprint,
    pub machine: Machine,
    /// How often the run has gone on.
    pub resumed: u64,
    /// Steps of all particles so far, for the display.
    pub particle_steps: u64,
    /// Residence times so far, where slots are used again.
    stays: Option<Vec<[u64; 5]>>,
    /// How far the run has come, if it has taken a step.
    numbers: Option<RunNumbers>,
    /// The arrays of the state.
    #[serde(skip)]
    arrays: Vec<(String, Vec<u8>)>,
}

/// What a run began on, and its bits depend on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Machine {
    /// The device's name, as `vulkan:0`.
    pub device: String,
    description: String,
    /// The instructions of the CPU's kernels.
    instructions: String,
}

impl Machine {
    pub fn of(device: &OpenDevice) -> Self {
        Machine {
            device: device.name.clone(),
            description: device.description.clone(),
            instructions: device::instructions(),
        }
    }

    /// The kind of the device, as `vulkan`.
    fn kind(&self) -> &str {
        self.device.split(':').next().unwrap_or_default()
    }

    /// What may make the bits of a run other ones, where it goes on here.
    fn change(&self, before: &Machine) -> Option<String> {
        let on_cpu = ["flex", "ndarray"].contains(&self.kind());
        let (what, before, now) = if self.kind() != before.kind() {
            ("device", &before.device, &self.device)
        } else if !on_cpu && self.description != before.description {
            ("device", &before.description, &self.description)
        } else if on_cpu && self.instructions != before.instructions {
            ("CPU's instruction set", &before.instructions, &self.instructions)
        } else {
            return None;
        };
        Some(format!("the {what} is `{now}` and was `{before}` when the run began"))
    }
}

impl Kept {
    /// That of a run that begins.
    pub fn begin(case: String, fingerprint: Fingerprint, machine: Machine) -> Self {
        Kept {
            burntrace: env!("CARGO_PKG_VERSION").into(),
            case,
            fingerprint,
            machine,
            resumed: 0,
            particle_steps: 0,
            stays: None,
            numbers: None,
            arrays: Vec::new(),
        }
    }

    /// Takes note of how far the run has come.
    pub fn advance(&mut self, numbers: RunNumbers, steps: u64, stays: Option<&[ResidenceTimes]>) {
        self.particle_steps = steps;
        self.numbers = Some(numbers);
        self.stays = stays.map(|stays| stays.iter().map(ResidenceTimes::numbers).collect());
    }

    /// Writes it, with the arrays of a state; a former one is there until then. Gives its length in
    /// bytes.
    pub fn write(&self, folder: &Folder, arrays: &[(String, Cow<'_, [u8]>)]) -> Result<u64> {
        let mut writer = CheckpointWriter::new(self)?;
        for (name, bytes) in arrays {
            writer.add(name, bytes.as_ref());
        }
        Ok(writer.write(&folder.path(NAME))?)
    }

    /// Reads the one in a folder.
    pub fn read(folder: &Folder) -> Result<Self> {
        if !folder.is_stopped() {
            return Err(missing(folder));
        }
        let damaged = |error| Misuse::error(format!("{error}; {}", anew(folder)));
        let file = Checkpoint::read(folder.path(NAME)).map_err(damaged)?;
        let mut kept: Kept = file.meta().map_err(damaged)?;
        for name in file.names() {
            kept.arrays.push((name.into(), file.array(name).map_err(damaged)?));
        }
        Ok(kept)
    }

    /// The state from which the run goes on, if it has taken a step.
    pub fn take_state(&mut self) -> Option<RunState<'static>> {
        let arrays = std::mem::take(&mut self.arrays);
        let arrays = arrays.into_iter().map(|(name, bytes)| (name, Cow::Owned(bytes)));
        Some(RunState { numbers: self.numbers.clone()?, arrays: arrays.collect() })
    }

    /// How much of the tracks is kept.
    pub fn mark(&self) -> DurablePosition {
        self.numbers.as_ref().map(RunNumbers::mark).unwrap_or_default()
    }

    /// The time that the run has come to, if it has taken a step.
    pub fn time(&self) -> Option<f64> {
        self.numbers.as_ref().map(RunNumbers::time)
    }

    /// Residence times so far.
    pub fn stays(&self) -> Option<Vec<ResidenceTimes>> {
        let stays = self.stays.as_ref()?;
        Some(stays.iter().filter_map(ResidenceTimes::of_numbers).collect())
    }

    /// What may make the bits of the run other ones, where this program goes on with it on a device.
    pub fn warnings(&self, device: &OpenDevice) -> Vec<String> {
        let version = env!("CARGO_PKG_VERSION");
        let program = (self.burntrace != version).then(|| {
            format!("this is burntrace {version}, and the run began with {}", self.burntrace)
        });
        let machine = Machine::of(device).change(&self.machine);
        let say =
            |what| format!("{what}; its tracks may differ from those of a run without a stop");
        machine.into_iter().chain(program).map(say).collect()
    }
}

/// Why there is no checkpoint, and what would do.
fn missing(folder: &Folder) -> anyhow::Error {
    let root = folder.root.display();
    if !folder.root.is_dir() {
        return Misuse::error(format!("there is no folder {root}; give that of a stopped run"));
    }
    if Tracks::open(folder.path("tracks")).is_ok() {
        return Misuse::error(format!(
            "the run in {root} has ended; there is nothing to go on with"
        ));
    }
    Misuse::error(format!(
        "{root} has no `{NAME}`: there is no run in it, or one with `run.checkpoint = 0`; {}",
        anew(folder)
    ))
}

/// How to begin anew.
fn anew(folder: &Folder) -> String {
    let (case, out) = (folder.path("case.toml"), folder.root.display());
    format!("begin anew with `burntrace run {} --out {out} --overwrite`", case.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kind_of_device_or_instruction_set_is_told() {
        let machine = |device: &str, instructions: &str| Machine {
            device: device.into(),
            description: format!("{device}, described"),
            instructions: instructions.into(),
        };
        let cpu = machine("flex", "avx2+fma");
        assert_eq!(cpu.change(&cpu), None);
        let other = machine("flex", "portable").change(&cpu).unwrap();
        assert!(other.contains("`portable` and was `avx2+fma`"), "{other}");
        let card = machine("vulkan:0", "portable").change(&cpu).unwrap();
        assert!(card.contains("`vulkan:0` and was `flex`"), "{card}");
        let cards = ["vulkan:0", "vulkan:1"].map(|name| machine(name, "avx2+fma"));
        assert!(cards[1].change(&cards[0]).unwrap().contains("vulkan:1, described"));
    }
}
