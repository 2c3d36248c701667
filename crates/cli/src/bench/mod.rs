//! `burntrace bench`: what every device makes of the same work, and whether it is right.

mod batch;
mod bins;
mod buckets;
mod check;
mod compare;
mod data;
mod flow;
pub mod machine;
mod measure;
mod npy;
mod plan;
mod random;
mod record;
mod reference;
mod source;
mod table;
mod tetrahedra;
mod workload;

use crate::args;
use anyhow::{Context, Result, bail};
use check::Check;
use measure::Task;
use plan::Plan;
use record::{Described, Record, Report};
use reference::Reference;
use std::io::{IsTerminal, Write};
use std::path::Path;
use workload::Workload;

pub fn execute(args: &args::Bench) -> Result<()> {
    let old = args.compare.as_deref().map(compare::read).transpose()?;
    let plan = Plan::new(args)?;
    let mut report = Report::new(&plan);
    for &kind in &plan.workloads {
        measure_workload(&plan, kind, &mut report)?;
    }
    if let Some(path) = &args.json {
        write(path, &format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    }
    if let Some(path) = &args.markdown {
        write(path, &table::markdown(&report))?;
    }
    let comparison = old.map(|old| old.against(&report));
    let mut out = std::io::stdout().lock();
    write!(out, "{}", table::text(&report))?;
    if let Some(comparison) = &comparison {
        write!(out, "\n{}", comparison.text)?;
    }
    judge(&report, comparison.as_ref())
}

/// Measures a workload with each number of particles on each device.
fn measure_workload(plan: &Plan, kind: workload::Kind, report: &mut Report) -> Result<()> {
    stage(&format!("{}: making the field", kind.name()));
    let data = plan.data.as_deref();
    let workload = Workload::new(kind, data)?;
    report.workloads.push(Described::new(&workload, plan));
    let reference = Reference::new(&workload);
    let steps = plan.steps(kind);
    for count in plan.counts() {
        let seeds = workload.seeds(count, data)?;
        stage(&format!("{}: the reference in double precision", kind.name()));
        let check = Check::new(kind, plan.precision, &reference, &seeds, steps);
        let task = Task { plan, workload: &workload, seeds: &seeds, check: &check, steps };
        let mut group = Vec::new();
        for device in &plan.devices {
            stage(&format!("{}: {} particles on {}", kind.name(), seeds.len(), device.name));
            group.push(task.on(device));
        }
        set_ratios(&mut group);
        report.results.append(&mut group);
    }
    stage("");
    Ok(())
}

/// Compares each speed with the first device's.
fn set_ratios(group: &mut [Record]) {
    let first = group.first().and_then(|record| record.speed);
    for record in group {
        record.ratio_to_first_device = match (record.speed, first) {
            (Some(speed), Some(first)) => Some(speed.per_second / first.per_second),
            _ => None,
        };
    }
}

/// Says on a terminal what is being done, in the place of what was said before.
fn stage(what: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{what}");
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Whether the program ends well: all results are right, and none is slower than it was.
fn judge(report: &Report, comparison: Option<&compare::Comparison>) -> Result<()> {
    let not_right = report.not_right();
    if not_right > 0 {
        bail!("{not_right} of {} results are not right", report.results.len());
    }
    match comparison {
        Some(comparison) if comparison.compared == 0 => {
            bail!("nothing measured now was measured then; measure the same work to compare it")
        }
        Some(comparison) if comparison.fallen > 0 => {
            bail!("{} of {} figures fell", comparison.fallen, comparison.compared)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{record::Outcome, *};

    #[test]
    fn a_wrong_result_does_not_end_well() {
        let mut report = Report {
            burntrace: "",
            date: String::new(),
            machine: machine::Machine::default(),
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
