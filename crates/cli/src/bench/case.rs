//! `burntrace bench --case`: the speed of a case of one's own on each device.

use super::{
    plan,
    table::{aligned, head, or_dash, spread, time},
};
use crate::{
    args::BenchArgs,
    compare::{between, median},
    errors,
    file::{self, Case, Misuse},
    format::with_prefix,
    job, log,
    machine::{self, Machine},
};
use anyhow::{Result, bail};
use burntrace::{
    Ends, Save, SavePlan, SinkError, Status, TrackSink, burn::tensor::TensorData,
    device::OpenDevice, io,
};
use burntrace_bench::record::Speed;
use burntrace_case::{console::Silent, run::start_threads};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The measurements of a case.
#[derive(Serialize)]
struct CaseReport {
    burntrace: &'static str,
    date: String,
    machine: Machine,
    case: String,
    devices_left_out: Vec<String>,
    results: Vec<CaseRecord>,
}

/// The measurement of a case on one device.
#[derive(Default, Serialize)]
struct CaseRecord {
    device: String,
    description: String,
    /// Why there is no result.
    problem: Option<String>,
    engine: String,
    particles: usize,
    steps: u64,
    /// Seconds of reading the field and copying it to the device, of compilation, and of the first run.
    load: f64,
    compile: f64,
    first: f64,
    /// Seconds of each later run, with its saves, which are not written.
    seconds: Vec<f64>,
    speed: Option<Speed>,
    /// Speed relative to the first device with a result.
    ratio: Option<f64>,
    /// Maximum and median distance from the positions on that device at the last save, over the
    /// particles that are active on both, and the number of particles with another status.
    distance: Option<[f64; 2]>,
    other_status: Option<usize>,
}

/// The particles at the last save.
#[derive(Default)]
struct LastSave {
    saves: usize,
    /// Widths of the box along periodic axes.
    periods: [f64; 3],
    /// Positions that are continuous across periodic faces.
    positions: Vec<[f64; 3]>,
    status: Vec<i64>,
    /// If slots are re-used.
    generation: Vec<i64>,
}

impl TrackSink for LastSave {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        let SavePlan { saves, periods, .. } = *plan;
        *self = LastSave { saves, periods, ..LastSave::default() };
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        if save.index + 1 < self.saves {
            return Ok(());
        }
        let unreadable = |error| format!("cannot read integers: {error:?}");
        let ints = |data: TensorData| data.convert::<i64>().try_to_vec::<i64>().map_err(unreadable);
        let images = ints(save.image.clone().into_data())?;
        for (mut position, image) in save.exact_positions()?.into_iter().zip(images.chunks_exact(3))
        {
            for d in 0..3 {
                position[d] += image[d] as f64 * self.periods[d];
            }
            self.positions.push(position);
        }
        self.status.append(&mut ints(save.status.into_data())?);
        if let Some(generation) = save.generation {
            self.generation.append(&mut ints(generation.into_data())?);
        }
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Measures a case on the devices of the command line.
pub fn execute(args: &BenchArgs, file: &Path) -> Result<()> {
    if args.repeats == 0 {
        return Err(Misuse::error("--repeats 0 measures nothing; give 1 or more"));
    }
    if let Some(path) = &args.json {
        plan::check_folder(path)?;
    }
    let case = file::read(file, &args.set)?;
    log::warn(&case.notes);
    job::check(&case)?;
    start_threads(case.run.threads)?;
    let (devices, devices_left_out) = plan::devices(&args.devices, case.run.precision)?;
    let mut report = CaseReport {
        burntrace: env!("CARGO_PKG_VERSION"),
        date: machine::date(),
        machine: Machine::this(),
        case: file.display().to_string(),
        devices_left_out,
        results: Vec::new(),
    };
    let mut first = None;
    for device in &devices {
        super::stage(&format!("{} on {}", report.case, device.name));
        let of_device = Case {
            run: file::Run { device: device.name.as_str().into(), ..case.run.clone() },
            ..case.clone()
        };
        report.results.push(measure(&of_device, device, args.repeats, &mut first));
    }
    super::stage("");
    let base_speed = reference(&report.results).and_then(|record| record.speed);
    for record in &mut report.results {
        record.ratio =
            record.speed.zip(base_speed).map(|(own, first)| own.per_second / first.per_second);
    }
    if let Some(path) = &args.json {
        let text = format!("{}\n", serde_json::to_string_pretty(&report)?);
        io::write_text_beside(path, text)?;
    }
    if !args.quiet {
        write!(std::io::stdout().lock(), "{}", text(&report))?;
    }
    match report.results.iter().filter(|record| record.problem.is_some()).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} devices gave no result", report.results.len()),
    }
}

/// Measures on a device. A failure is recorded, so that the other devices are still measured.
fn measure(
    case: &Case,
    device: &OpenDevice,
    repeats: usize,
    first: &mut Option<LastSave>,
) -> CaseRecord {
    let mut record = CaseRecord {
        device: device.name.clone(),
        description: device.description.clone(),
        ..CaseRecord::default()
    };
    match fill(case, device, repeats, &mut record) {
        Ok(last) => match first {
            None => *first = Some(last),
            Some(first) => {
                (record.distance, record.other_status) = compare(first, &last);
            }
        },
        Err(error) => record.problem = Some(errors::chain(&error)),
    }
    record
}

fn fill(
    case: &Case,
    device: &OpenDevice,
    repeats: usize,
    record: &mut CaseRecord,
) -> Result<LastSave> {
    let start = Instant::now();
    let loaded = job::field(case, device, &Silent::default())?;
    record.load = start.elapsed().as_secs_f64();
    let domain = job::domain(case, &loaded)?;
    let (seeds, _) = job::seeds(case, domain, &loaded)?;
    let tracer = job::tracer(case, (&loaded, &seeds), &device.name, &Silent::default())?;
    let mut last = LastSave::default();
    let plan = tracer.prepare(&seeds).map_err(Misuse::of)?.save_plan();
    record.compile = tracer.warm_up(plan.particles)?;
    for run in 0..=repeats {
        let start = Instant::now();
        let summary = tracer.prepare(&seeds)?.run_into(&mut last)?;
        let seconds = start.elapsed().as_secs_f64();
        (record.engine, record.particles) = (summary.engine.to_string(), summary.particles);
        record.steps = summary.steps;
        if run == 0 {
            record.first = seconds;
        } else {
            record.seconds.push(seconds);
            record.speed = Some(Speed::of(summary.particle_steps, &record.seconds));
        }
    }
    Ok(last)
}

/// The first device with a result, with which the others are compared.
fn reference(results: &[CaseRecord]) -> Option<&CaseRecord> {
    results.iter().find(|record| record.problem.is_none())
}

/// The maximum and the median distance of the particles that are active in both, and the number of
/// slots whose particles differ in status or generation.
fn compare(first: &LastSave, other: &LastSave) -> (Option<[f64; 2]>, Option<usize>) {
    let count = first.status.len();
    if count != other.status.len() {
        return (None, None);
    }
    let active = i64::from(Status::Active.code());
    let state =
        |save: &LastSave, slot: usize| (save.status[slot], save.generation.get(slot).copied());
    let is_same = |slot: &usize| state(first, *slot) == state(other, *slot);
    let both = (0..count).filter(is_same).filter(|slot| first.status[*slot] == active);
    let mut distances: Vec<f64> =
        both.map(|slot| between(first.positions[slot], other.positions[slot])).collect();
    let max = distances.iter().copied().reduce(f64::max);
    let distance = max.zip(median(&mut distances)).map(<[f64; 2]>::from);
    (distance, Some(count - (0..count).filter(is_same).count()))
}

const COLUMNS: [&str; 11] = [
    "device",
    "engine",
    "load",
    "compile",
    "first",
    "steady",
    "particle-steps/s",
    "spread",
    "ratio",
    "distance median",
    "max",
];

fn text(report: &CaseReport) -> String {
    let mut text = head(&report.date, &report.machine, &report.devices_left_out);
    let reference = reference(&report.results);
    let size = reference.map_or_else(String::new, |record| {
        format!(": {} slots, {} steps", record.particles, record.steps)
    });
    text += &format!("\n\n{}{size}\n", report.case);
    let measured = report.results.iter().filter(|record| record.problem.is_none());
    aligned(&mut text, COLUMNS, &measured.map(row).collect::<Vec<_>>());
    let mut line = |line: String| {
        // Writing to a string does not fail.
        writeln!(text, "{line}").ok();
    };
    for record in &report.results {
        if let Some(problem) = &record.problem {
            line(format!("{}: no result: {problem}", record.device));
        }
        let differing = record.other_status.filter(|count| *count > 0);
        if let Some((count, reference)) = differing.zip(reference) {
            line(format!(
                "{}: {count} slots have particles of another status or generation than on {}",
                record.device, reference.device
            ));
        }
    }
    text
}

fn row(record: &CaseRecord) -> [String; COLUMNS.len()] {
    let [max, median] = match record.distance {
        Some(distance) => distance.map(|x| format!("{x:.1e}")),
        None => ["-", "-"].map(String::from),
    };
    [
        record.device.clone(),
        record.engine.clone(),
        time(record.load),
        time(record.compile),
        time(record.first),
        or_dash(record.speed.map(|speed| time(speed.median_seconds))),
        or_dash(record.speed.map(|speed| with_prefix(speed.per_second))),
        or_dash(record.speed.filter(|_| record.seconds.len() > 1).as_ref().map(spread)),
        or_dash(record.ratio.map(|ratio| format!("{ratio:.2}"))),
        median,
        max,
    ]
}
