//! `burntrace bench`: speed and correctness of all devices on the same workloads.

mod case;
mod compare;
mod plan;
mod report;
mod table;

use crate::{args::BenchArgs, errors, folder, machine, notes};
use anyhow::{Result, bail};
use burntrace::{device::OpenDevice, io};
use burntrace_bench::{
    Reference, Workload,
    check::Check,
    kind::WorkloadKind,
    measure::Measurement,
    record::{Outcome, Record},
};
use plan::BenchPlan;
use report::{BenchReport, WorkloadInfo};
use std::io::{IsTerminal, Write};

pub fn execute(args: &BenchArgs) -> Result<()> {
    for path in args.json.iter().chain(&args.markdown) {
        folder::refuse_replacing(path, args.case.as_slice(), "")?;
    }
    if let Some(file) = &args.case {
        return case::execute(args, file);
    }
    let history = compare::read(args)?;
    let plan = BenchPlan::new(args)?;
    let mut report = BenchReport::new(&plan);
    for &kind in &plan.workloads {
        measure_workload(&plan, kind, &mut report)?;
    }
    if let Some(path) = &args.json {
        io::write_text_beside(path, format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    }
    if let Some(path) = &args.markdown {
        io::write_text_beside(path, table::markdown(&report))?;
    }
    let comparison = history.map(|history| history.against(&report)).transpose()?;
    if !args.quiet {
        let mut out = std::io::stdout().lock();
        write!(out, "{}", table::text(&report))?;
        if let Some(comparison) = &comparison {
            write!(out, "\n{}", comparison.text)?;
        }
    }
    judge(&report, comparison.as_ref())
}

/// Measures a workload with each number of particles on each device.
fn measure_workload(plan: &BenchPlan, kind: WorkloadKind, report: &mut BenchReport) -> Result<()> {
    stage(&format!("{}: generating the field", kind.name()));
    let settings = &plan.settings;
    let workload = Workload::new(kind)?;
    report.workloads.push(WorkloadInfo::new(&workload));
    let reference = Reference::new(&workload);
    let steps = plan.steps(kind);
    for count in plan.counts() {
        let seeds = workload.seeds(count);
        stage(&format!("{}: tracing the reference in double precision", kind.name()));
        let check = Check::new(kind, settings.precision, &reference, &seeds, steps);
        let measurement =
            Measurement { settings, workload: &workload, seeds: &seeds, check: &check, steps };
        let mut group = Vec::new();
        for device in &plan.devices {
            stage(&format!("{}: {} particles on {}", kind.name(), seeds.len(), device.name));
            group.push(measured(&measurement, device));
        }
        set_ratios(&mut group);
        report.results.append(&mut group);
    }
    stage("");
    Ok(())
}

/// Measures on a device. A failure is recorded, so that the other devices are still measured.
fn measured(measurement: &Measurement, device: &OpenDevice) -> Record {
    machine::reset_peak_memory();
    let mut record = measurement.empty_record(device);
    if let Err(error) = measurement.fill(device, &mut record) {
        record.outcome = Outcome::Failed;
        record.message = Some(errors::chain(&error));
    }
    record.host_peak_bytes = burntrace_case::run::peak_memory();
    if record.outcome != Outcome::Right {
        record.clear_times();
    }
    record
}

/// Sets the speed ratios to the first device.
fn set_ratios(group: &mut [Record]) {
    let first = group.first().and_then(|record| record.speed);
    for record in group {
        record.ratio_to_first_device = match (record.speed, first) {
            (Some(speed), Some(first)) => Some(speed.per_second / first.per_second),
            _ => None,
        };
    }
}

/// Shows the current stage on a terminal, replacing the previous one.
fn stage(what: &str) {
    if std::io::stderr().is_terminal() && !notes::is_quiet() {
        eprint!("\r\x1b[K{what}");
    }
}

/// Fails if a result is wrong or missing, or worse than earlier ones.
fn judge(report: &BenchReport, comparison: Option<&compare::Comparison>) -> Result<()> {
    let not_right = report.not_right();
    if not_right > 0 {
        bail!("{not_right} of {} results are wrong or missing", report.results.len());
    }
    match comparison {
        Some(comparison) if comparison.compared == 0 => {
            bail!(
                "no earlier file has one of these measurements; measure the same work to compare it"
            )
        }
        Some(comparison) if comparison.fallen > 0 => {
            bail!("{} of {} measurements are worse", comparison.fallen, comparison.compared)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_or_failed_results_are_an_error() {
        let mut report = BenchReport {
            burntrace: "",
            date: String::new(),
            machine: crate::machine::Machine::default(),
            devices: Vec::new(),
            devices_left_out: Vec::new(),
            workloads: Vec::new(),
            results: vec![Record::default()],
        };
        assert!(judge(&report, None).is_ok());
        for outcome in [Outcome::Wrong, Outcome::Failed] {
            report.results.push(Record { outcome, ..Record::default() });
        }
        assert!(judge(&report, None).unwrap_err().to_string().contains("2 of 3"));
    }
}
