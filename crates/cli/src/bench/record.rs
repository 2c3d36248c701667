//! What was measured, as it is kept.

use super::{
    batch::Tried, check::Errors, machine::Machine, measure::Task, plan::Plan, workload::Workload,
};
use burntrace::device::OpenDevice;
use serde::{Deserialize, Serialize};

/// Everything that one call measured.
#[derive(Serialize)]
pub struct Report {
    pub burntrace: &'static str,
    pub date: String,
    pub machine: Machine,
    pub devices: Vec<Device>,
    /// Devices that have not the precision.
    pub devices_left_out: Vec<String>,
    pub workloads: Vec<Described>,
    pub results: Vec<Record>,
}

/// A device, as `burntrace devices` describes it.
#[derive(Serialize)]
pub struct Device {
    name: String,
    description: String,
    software: bool,
    f64: bool,
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let note = if self.software { ", computed by the CPU" } else { "" };
        write!(f, "`{}`: {}{note}", self.name, self.description)
    }
}

/// A workload, and where its arrays came from.
#[derive(Serialize)]
pub struct Described {
    name: &'static str,
    description: &'static str,
    nodes: usize,
    frames: usize,
    dt: f64,
    data: String,
}

/// Whether a result can be used.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its errors are within bounds.
    #[default]
    Right,
    /// They are not, or particles were lost.
    Wrong,
    /// The device gave none.
    Failed,
}

/// One workload with one number of particles on one device.
#[derive(Default, Serialize)]
pub struct Record {
    pub device: String,
    pub workload: &'static str,
    pub particles: usize,
    pub precision: String,
    pub steps: u64,
    /// Where the field came from: `generated`, or a folder.
    pub data: String,
    /// The first seed, by which random ones are told from those on a lattice or of a file.
    pub first_seed: [f64; 3],
    /// Particles in one run.
    pub batch: usize,
    pub batches_tried: Vec<Tried>,
    pub outcome: Outcome,
    /// What is wrong, where it is not the errors.
    pub message: Option<String>,
    /// The worst errors of all runs, for each number of steps that was compared; the last is the
    /// run that is timed.
    pub errors: Vec<Errors>,
    /// `None` where the result is not right.
    pub seconds: Option<Seconds>,
    /// `None` where the result is not right.
    pub speed: Option<Speed>,
    /// Speed in speeds of the first device.
    pub ratio_to_first_device: Option<f64>,
    pub bytes: Option<Bytes>,
    /// The most memory that the process has had since this measurement began.
    pub host_peak_bytes: Option<u64>,
}

/// Wall time in seconds.
#[derive(Serialize)]
pub struct Seconds {
    /// Putting the field on the device.
    pub load: f64,
    /// Compiling, before the first call.
    pub compile: f64,
    /// The first call.
    pub first: f64,
    /// Each later call.
    pub steady: Vec<f64>,
}

/// Particle-steps per second.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Speed {
    pub particle_steps: u64,
    /// The median of the calls' times, in seconds.
    pub median_seconds: f64,
    /// Particle-steps per second at the median.
    pub per_second: f64,
    /// Difference between the fastest and the slowest call.
    pub spread: f64,
}

/// Bytes, computed from the shapes of tensors.
#[derive(Clone, Copy, Serialize)]
pub struct Bytes {
    /// The field on the device.
    pub field: u64,
    /// The particles on the device, those of one batch.
    pub particles: u64,
    /// What one call moves to the device.
    pub to_device: u64,
    /// What one call moves back.
    pub from_device: u64,
}

impl Bytes {
    /// What lies on the device.
    pub fn on_device(&self) -> u64 {
        self.field + self.particles
    }

    /// What one call moves.
    pub fn moved(&self) -> u64 {
        self.to_device + self.from_device
    }
}

impl Report {
    /// A report without results.
    pub fn new(plan: &Plan) -> Self {
        let device = |device: &OpenDevice| Device {
            name: device.name.clone(),
            description: device.description.clone(),
            software: device.is_software,
            f64: device.has_f64,
        };
        Report {
            burntrace: env!("CARGO_PKG_VERSION"),
            date: super::machine::date(),
            machine: Machine::this(),
            devices: plan.devices.iter().map(device).collect(),
            devices_left_out: plan.left_out.clone(),
            workloads: Vec::new(),
            results: Vec::new(),
        }
    }

    /// The results in groups that differ by their device only.
    pub fn groups(&self) -> impl Iterator<Item = &[Record]> {
        self.results.chunk_by(|a, b| a.workload == b.workload && a.particles == b.particles)
    }

    /// How many results cannot be used.
    pub fn not_right(&self) -> usize {
        self.results.iter().filter(|record| record.outcome != Outcome::Right).count()
    }
}

impl Described {
    /// A workload whose arrays came from a folder, or from its formula.
    pub fn new(workload: &Workload, plan: &Plan) -> Self {
        Described {
            name: workload.kind.name(),
            description: workload.kind.description(),
            nodes: workload.nodes.count(),
            frames: workload.frames.len(),
            dt: workload.kind.dt(),
            data: origin(plan),
        }
    }
}

/// Where a plan's fields come from.
fn origin(plan: &Plan) -> String {
    plan.data.as_ref().map_or("generated".into(), |folder| folder.display().to_string())
}

impl Record {
    /// A record of nothing yet.
    pub fn new(device: &OpenDevice, task: &Task) -> Self {
        let particles = task.seeds.len();
        Record {
            device: device.name.clone(),
            workload: task.workload.kind.name(),
            particles,
            precision: task.plan.precision.to_string(),
            steps: task.steps,
            data: origin(task.plan),
            first_seed: task.seeds.first().copied().unwrap_or_default(),
            batch: particles,
            ..Record::default()
        }
    }

    /// Takes away what would say how fast a result is that cannot be used.
    pub fn forget_times(&mut self) {
        self.seconds = None;
        self.speed = None;
        self.batches_tried.clear();
    }

    /// Notes the errors of another run. Those that are not within bounds make the result wrong.
    pub fn note(&mut self, errors: Errors) {
        if !errors.are_within() {
            self.outcome = Outcome::Wrong;
        }
        match self.errors.iter_mut().find(|known| known.steps == errors.steps) {
            Some(known) => known.worsen(&errors),
            None => self.errors.push(errors),
        }
        self.errors.sort_by_key(|errors| errors.steps);
    }
}

impl Speed {
    /// The speed of several calls of so many particle-steps each.
    pub fn of(particle_steps: u64, seconds: &[f64]) -> Self {
        let mut sorted = seconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let speed = |seconds: f64| particle_steps as f64 / seconds.max(f64::MIN_POSITIVE);
        let [first, last] = [0, sorted.len() - 1].map(|i| sorted[i]);
        let median_seconds = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
        Speed {
            particle_steps,
            median_seconds,
            per_second: speed(median_seconds),
            spread: speed(first) - speed(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_the_medians_and_its_spread_is_all_of_it() {
        let odd = Speed::of(1000, &[4.0, 1.0, 2.0]);
        assert_eq!((odd.median_seconds, odd.per_second, odd.spread), (2.0, 500.0, 750.0));
        let even = Speed::of(1000, &[4.0, 1.0]);
        assert_eq!(even.per_second, 400.0);
        assert_eq!(Speed::of(1000, &[4.0]).spread, 0.0);
    }
}
