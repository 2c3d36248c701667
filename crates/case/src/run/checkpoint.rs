//! The checkpoint of a run: everything needed to resume it.

use super::{Fingerprint, residence::ResidenceTimes};
use crate::{
    file::Misuse,
    folder::{CHECKPOINT, Folder, STATE},
};
use anyhow::Result;
use burntrace_core::{
    DurablePosition, RunState,
    device::{self, OpenDevice},
    program::RunNumbers,
};
use burntrace_io::{Checkpoint, CheckpointWriter, Tracks};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Everything needed to resume a run.
#[derive(Debug, Deserialize, Serialize)]
pub struct RunCheckpoint {
    /// The version of burntrace that started the run.
    burntrace: String,
    /// The effective case, as in `case.toml`.
    pub case: String,
    /// Fingerprint of the input data, checked on resume.
    pub fingerprint: Fingerprint,
    /// The machine that the run started on.
    pub machine: Machine,
    /// How many times the run was resumed.
    pub resumed: u64,
    /// Seconds so far.
    pub spent: Spent,
    /// Warnings and notes of the run so far, for its summary.
    pub warnings: Vec<String>,
    /// Residence times so far, in runs that re-use slots.
    residence: Option<Vec<[u64; 5]>>,
    /// Time, counters and positions in the output. `None` before the first step.
    numbers: Option<RunNumbers>,
    /// The arrays of the state.
    #[serde(skip)]
    arrays: Vec<(String, Vec<u8>)>,
}

/// Seconds that a run has taken over all processes that resumed it; the seconds of its steps and saves are
/// part of its state.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Spent {
    /// Of opening and reading files.
    pub read: f64,
    /// Of copying the field to the device.
    pub upload: f64,
    /// Of what a run needs before its first step beside: seeds, and the positions of inlets.
    #[serde(default)]
    pub prepare: f64,
    /// Of launches without steps before the run, which compile the kernels of a graphics card.
    pub compile: f64,
    /// Of all that the run took.
    pub total: f64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.read += other.read;
        self.upload += other.upload;
        self.prepare += other.prepare;
        self.compile += other.compile;
        self.total += other.total;
    }
}

/// Number, size and cost of the checkpoints of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct CheckpointTotals {
    /// Their number.
    pub count: u64,
    /// Their size.
    pub bytes: u64,
    /// Seconds spent writing them.
    pub seconds: f64,
}

/// The device and the CPU instructions of a run. Results are bit-identical only on the same ones.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Machine {
    /// The device's name, such as `vulkan:0`.
    pub device: String,
    description: String,
    /// Instruction set of the CPU kernels.
    instructions: String,
}

impl Machine {
    /// This machine, with a device.
    pub fn of(device: &OpenDevice) -> Self {
        Machine {
            device: device.name.clone(),
            description: device.description.clone(),
            instructions: device::instructions(),
        }
    }

    /// The kind of the device, such as `vulkan`.
    pub fn kind(&self) -> &str {
        self.device.split(':').next().unwrap_or_default()
    }

    /// Describes a difference from the machine at the start of the run that can change result bits.
    fn change(&self, before: &Machine) -> Option<String> {
        let on_cpu = ["flex", "ndarray"].contains(&self.kind());
        let (what, before, now) = if self.kind() != before.kind() {
            ("device", &before.device, &self.device)
        } else if !on_cpu && self.description != before.description {
            ("device", &before.description, &self.description)
        } else if on_cpu && self.instructions != before.instructions {
            ("CPU instruction set", &before.instructions, &self.instructions)
        } else {
            return None;
        };
        Some(format!("the {what} is `{now}` and was `{before}` when the run started"))
    }
}

impl RunCheckpoint {
    /// The checkpoint of a run before its first step.
    pub fn initial(case: String, fingerprint: Fingerprint, machine: Machine) -> Self {
        RunCheckpoint {
            burntrace: env!("CARGO_PKG_VERSION").into(),
            case,
            fingerprint,
            machine,
            resumed: 0,
            spent: Spent::default(),
            warnings: Vec::new(),
            residence: None,
            numbers: None,
            arrays: Vec::new(),
        }
    }

    /// Records the state that the run has reached.
    pub fn advance(
        &mut self,
        numbers: RunNumbers,
        spent: Spent,
        residence: Option<&[ResidenceTimes]>,
    ) {
        self.spent = spent;
        self.numbers = Some(numbers);
        let integers = |entries: &[ResidenceTimes]| {
            entries.iter().copied().map(ResidenceTimes::to_integers).collect()
        };
        self.residence = residence.map(integers);
    }

    /// Writes the checkpoint with the arrays of a state, and returns its length in bytes. The
    /// earlier checkpoint is replaced only when the new one is complete.
    pub fn write(&self, folder: &Folder, arrays: &[(String, Cow<'_, [u8]>)]) -> Result<u64> {
        let mut writer = CheckpointWriter::new(self)?;
        for (name, bytes) in arrays {
            writer.add(name, bytes.as_ref());
        }
        Ok(writer.write(&folder.path(CHECKPOINT))?)
    }

    /// Writes the checkpoint with the state that it has.
    pub fn write_state(&self, folder: &Folder) -> Result<u64> {
        let arrays = self.arrays.iter();
        let arrays = arrays.map(|(name, bytes)| (name.clone(), Cow::Borrowed(bytes.as_slice())));
        self.write(folder, &arrays.collect::<Vec<_>>())
    }

    /// Reads the checkpoint in a folder.
    pub fn read(folder: &Folder) -> Result<Self> {
        if !folder.is_stopped() {
            return Err(missing(folder));
        }
        Self::read_file(folder, CHECKPOINT)
    }

    /// Reads the last state of the finished run in a folder.
    pub fn of_end(folder: &Folder) -> Result<Self> {
        Self::read_file(folder, STATE)
    }

    fn read_file(folder: &Folder, name: &str) -> Result<Self> {
        let remedy = match name {
            STATE => "the saves of this finished run are not affected; run the longer case from its start, in another \
                      folder"
                .into(),
            _ => restart_hint(folder),
        };
        let damaged = |error| Misuse::error(format!("{error}; {remedy}"));
        let file = Checkpoint::read(folder.path(name)).map_err(damaged)?;
        let mut checkpoint: RunCheckpoint = file.meta().map_err(damaged)?;
        for name in file.names() {
            checkpoint.arrays.push((name.into(), file.array(name).map_err(damaged)?));
        }
        Ok(checkpoint)
    }

    /// Takes the state to resume from. `None` before the first step.
    pub fn take_state(&mut self) -> Option<RunState<'static>> {
        let arrays = std::mem::take(&mut self.arrays);
        let arrays = arrays.into_iter().map(|(name, bytes)| (name, Cow::Owned(bytes)));
        Some(RunState { numbers: self.numbers.clone()?, arrays: arrays.collect() })
    }

    /// Makes this the checkpoint of a run that goes on from a state.
    pub fn continue_as(
        &mut self,
        case: String,
        fingerprint: Fingerprint,
        machine: Machine,
        state: RunState<'static>,
    ) {
        (self.case, self.fingerprint, self.machine) = (case, fingerprint, machine);
        self.resumed += 1;
        self.warnings.clear();
        self.numbers = Some(state.numbers);
        let own = |(name, bytes): (String, Cow<'static, [u8]>)| (name, bytes.into_owned());
        self.arrays = state.arrays.into_iter().map(own).collect();
    }

    /// Refuses changed input data, or returns a warning about the change if it is accepted. `since` is the
    /// time of the earlier data.
    pub fn data_change(
        &self,
        fingerprint: &Fingerprint,
        is_accepted: bool,
        since: &str,
    ) -> Result<Option<String>> {
        let change = fingerprint.change(&self.fingerprint);
        match change {
            Some(change) if !is_accepted => Err(Misuse::error(format!(
                "the input data changed {since}: {change}; restore it, or accept the change with --accept-changes"
            ))),
            change => Ok(change.map(|change| format!("{change}; accepted with --accept-changes"))),
        }
    }

    /// The checkpoint of the same run before its first step, on a machine.
    pub fn at_start(&self, machine: Machine) -> Self {
        Self::initial(self.case.clone(), self.fingerprint.clone(), machine)
    }

    /// Writes a state as the last one of a finished run.
    pub fn write_end(
        mut self,
        folder: &Folder,
        state: RunState<'static>,
        residence: Option<&[ResidenceTimes]>,
    ) -> Result<u64> {
        self.advance(state.numbers, self.spent, residence);
        let mut writer = CheckpointWriter::new(&self)?;
        for (name, bytes) in &state.arrays {
            writer.add(name, bytes.as_ref());
        }
        Ok(writer.write(&folder.path(STATE))?)
    }

    /// The part of the tracks that the resumed run keeps.
    pub fn durable(&self) -> DurablePosition {
        self.numbers.as_ref().map(RunNumbers::mark).unwrap_or_default()
    }

    /// The time that the run has reached. `None` before the first step.
    pub fn time(&self) -> Option<f64> {
        self.numbers.as_ref().map(RunNumbers::time)
    }

    /// Residence times so far.
    pub fn residence(&self) -> Option<Vec<ResidenceTimes>> {
        let entries = self.residence.as_ref()?;
        Some(entries.iter().filter_map(ResidenceTimes::from_integers).collect())
    }

    /// Adds warnings that the run did not give before it was resumed.
    pub fn add_warnings(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Warnings about differences of program and machine that can change the bits of the results.
    pub fn changes(&self, device: &OpenDevice) -> Vec<String> {
        let version = env!("CARGO_PKG_VERSION");
        let program = (self.burntrace != version).then(|| {
            format!("this is burntrace {version}, but {} started the run", self.burntrace)
        });
        let machine = Machine::of(device).change(&self.machine);
        let warning =
            |what| format!("{what}; the tracks may differ from those of an uninterrupted run");
        machine.into_iter().chain(program).map(warning).collect()
    }
}

/// Says why a folder has no checkpoint, and what to do instead.
fn missing(folder: &Folder) -> anyhow::Error {
    let root = folder.root.display();
    if !folder.root.is_dir() {
        return Misuse::error(format!(
            "there is no folder {root}; give the folder of a stopped run"
        ));
    }
    if Tracks::open(folder.path("tracks")).is_ok() {
        return Misuse::error(format!("the run in {root} has ended and cannot be resumed"));
    }
    if !folder.path("case.toml").is_file() {
        return Misuse::error(format!(
            "{root} contains no run: it has neither `{CHECKPOINT}` nor `case.toml`; give the folder of a \
             stopped run"
        ));
    }
    Misuse::error(format!(
        "{root} has no `{CHECKPOINT}`: it contains no run, or one with `run.checkpoint = 0`; {}",
        restart_hint(folder)
    ))
}

/// The command that starts the run again.
pub fn restart_hint(folder: &Folder) -> String {
    let (case, out) = (folder.path("case.toml"), folder.root.display());
    format!("start again with `burntrace run {} --out {out} --overwrite`", case.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_change_names_device_or_instruction_set() {
        let machine = |device: &str, instructions: &str| Machine {
            device: device.into(),
            description: format!("{device}, described"),
            instructions: instructions.into(),
        };
        let cpu = machine("flex", "avx2+fma");
        assert_eq!(cpu.change(&cpu), None);
        let other = machine("flex", "portable").change(&cpu).unwrap();
        assert!(other.contains("`portable` and was `avx2+fma`"), "{other}");
        let gpu = machine("vulkan:0", "portable").change(&cpu).unwrap();
        assert!(gpu.contains("`vulkan:0` and was `flex`"), "{gpu}");
        let gpus = ["vulkan:0", "vulkan:1"].map(|name| machine(name, "avx2+fma"));
        assert!(gpus[1].change(&gpus[0]).unwrap().contains("vulkan:1, described"));
    }
}
