//! The results of a benchmark, as written to JSON.

use super::plan::BenchPlan;
use crate::machine::{self, Machine};
use burntrace::device::OpenDevice;
use burntrace_bench::{
    Workload,
    record::{Outcome, Record},
};
use serde::Serialize;

/// All results of one call.
#[derive(Serialize)]
pub struct BenchReport {
    pub burntrace: &'static str,
    pub date: String,
    pub machine: Machine,
    pub devices: Vec<OpenDevice>,
    /// Devices that lack the precision.
    pub devices_left_out: Vec<String>,
    pub workloads: Vec<WorkloadInfo>,
    pub results: Vec<Record>,
}

/// The description of a workload.
#[derive(Serialize)]
pub struct WorkloadInfo {
    name: &'static str,
    description: &'static str,
    nodes: usize,
    frames: usize,
    dt: f64,
}

impl BenchReport {
    /// A report without results.
    pub fn new(plan: &BenchPlan) -> Self {
        BenchReport {
            burntrace: env!("CARGO_PKG_VERSION"),
            date: machine::date(),
            machine: Machine::this(),
            devices: plan.devices.clone(),
            devices_left_out: plan.left_out.clone(),
            workloads: Vec::new(),
            results: Vec::new(),
        }
    }

    /// The results in groups that differ only in the device.
    pub fn groups(&self) -> impl Iterator<Item = &[Record]> {
        self.results.chunk_by(|a, b| a.workload == b.workload && a.particles == b.particles)
    }

    /// The number of results that are wrong or missing.
    pub fn not_right(&self) -> usize {
        self.results.iter().filter(|record| record.outcome != Outcome::Right).count()
    }
}

impl WorkloadInfo {
    pub fn new(workload: &Workload) -> Self {
        WorkloadInfo {
            name: workload.kind.name(),
            description: workload.kind.description(),
            nodes: workload.nodes.count(),
            frames: workload.frames.len(),
            dt: workload.kind.dt(),
        }
    }
}
