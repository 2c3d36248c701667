//! A diagnosis as text.

use super::{Diagnosis, limits::Limits, speed::Speeds};
use crate::{
    devices::DeviceReport,
    format::{Lines, with_prefix},
};

/// The diagnosis as lines.
pub fn of(diagnosis: &Diagnosis) -> String {
    let mut lines = Lines::default();
    let machine = &diagnosis.machine;
    lines.add("burntrace", format!("{}, {} {}", diagnosis.burntrace, machine.os, machine.arch));
    let cpu = machine.cpu.as_deref().unwrap_or("unknown");
    lines.add("CPU", format!("{cpu}, kernels for {}", diagnosis.instructions));
    limits(&diagnosis.limits, &mut lines);
    speeds(&diagnosis.speeds, &mut lines);
    for device in &diagnosis.devices {
        report(device, &mut lines);
    }
    for kind in &diagnosis.not_usable {
        lines.add(&kind.name, format!("not usable: {}", kind.reason));
    }
    lines.add("auto", format!("{}: {}", diagnosis.auto.device, diagnosis.auto.reason));
    lines.list("advice", &diagnosis.advice);
    lines.0
}

fn limits(limits: &Limits, lines: &mut Lines) {
    let Limits { cpus, affinity, threads, memory, planned_memory, control_group, slurm, .. } =
        limits;
    let allowed = affinity.map_or_else(String::new, |count| format!(", {count} allowed"));
    lines.add("threads", format!("{threads}, of {cpus} CPUs{allowed}; by {}", limits.threads_from));
    let [total, free] = memory.map(gib);
    let planned = planned_memory.map_or_else(String::new, |bytes| {
        format!("; runs plan with {}, by {}", gib(bytes), limits.memory_from)
    });
    lines.add("memory", format!("{total}, {free} free{planned}"));
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "no limit".into());
    let group_cpus = or_none(control_group.cpus.map(|cpus| format!("{cpus} CPUs")));
    let group_memory = or_none(control_group.memory.map(gib));
    lines.add("cgroup", format!("CPUs: {group_cpus}; memory: {group_memory}"));
    if let Some(slurm) = slurm {
        let cpus = slurm.cpus.map_or_else(String::new, |cpus| format!(", {cpus} CPUs"));
        let memory = slurm.memory.map_or_else(String::new, |bytes| format!(", {}", gib(bytes)));
        lines.add("SLURM", format!("job {}{cpus}{memory}", slurm.job));
    }
}

fn speeds(speeds: &Speeds, lines: &mut Lines) {
    lines.add("memory", format!("{}B/s, copied by all threads", with_prefix(speeds.memory)));
    let folder = speeds.folder.display();
    lines.add(
        "disk",
        match (speeds.disk, &speeds.problem) {
            (Some(speed), _) => format!("{}B/s, written to {folder}", with_prefix(speed)),
            (None, problem) => {
                format!("cannot write to {folder}: {}", problem.as_deref().unwrap_or_default())
            }
        },
    );
}

fn report(device: &DeviceReport, lines: &mut Lines) {
    let DeviceReport { name, description, kind, driver, memory, f64, answer, problem } = device;
    let mut parts = vec![description.clone()];
    if *kind != "cpu" {
        parts.push(kind.to_string());
    }
    parts.extend(driver.clone().filter(|driver| !driver.is_empty()));
    parts.extend(memory.map(gib));
    parts.push(if *f64 { "f64" } else { "no f64" }.into());
    lines.add(name, parts.join(", "));
    let text = match (answer, problem) {
        (Some(answer), _) => {
            let right = if answer.is_right { "right" } else { "WRONG" };
            let compile = match *kind != "cpu" {
                true => format!(", compiled in {:.2} s", answer.compile),
                false => String::new(),
            };
            format!(
                "{right} answer (error {:.0e}), {} particle-steps/s{compile}",
                answer.error,
                with_prefix(answer.speed)
            )
        }
        (None, problem) => format!("NO answer: {}", problem.as_deref().unwrap_or_default()),
    };
    lines.add("", text);
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}
