//! Prepares what a process does in a run that several share: its devices, each with a copy of the field.

use super::share::{self, SharedStart, Worker};
use crate::{
    console::Console,
    file::Case,
    job::{self, LoadedField},
    run::{
        CaseRun, Fingerprint, Printed, Session, Spent, check_and_start, compile, devices,
        load_seconds, too_many_lines, warnings, with_session,
    },
};
use anyhow::Result;
use burntrace_core::device::OpenDevice;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Takes part in the run of a case that several processes share: traces its pieces. Returns the output of a run that is
/// complete by them.
///
/// # Errors
///
/// If the case or its input is invalid, if a file cannot be written, or if the run is stopped.
pub fn trace_shared(
    case: &Case,
    shared: SharedStart,
    console: &dyn Console,
) -> Result<Option<Printed>> {
    check_and_start(case)?;
    let names = shared.rank.devices(&case.run.device, console)?;
    let mut case = case.clone();
    case.run.is_shared = true;
    case.share_among(&names);
    with_session(&case, &names[0], console, |session| trace_on(&case, &names[1..], shared, session))
}

/// As [`trace_shared`], on the device of the session and on others.
fn trace_on(
    case: &Case,
    others: &[String],
    shared: SharedStart,
    session: &Session,
) -> Result<Option<Printed>> {
    let Session { loaded, device, start, console } = *session;
    let others = other_devices(others, session)?;
    let domain = job::domain(case, loaded)?;
    let (seeds, about_seeds) = job::seeds(case, domain, loaded)?;
    let devices: Vec<(&OpenDevice, &LoadedField)> = std::iter::once((device, loaded))
        .chain(others.iter().map(|(device, loaded)| (device, loaded)))
        .collect();
    let mut tracers = Vec::new();
    for &(device, loaded) in &devices {
        let tracer = job::tracer(case, (loaded, &seeds), &device.name, console)?;
        let piece = job::piece_length(case, tracer.num_slots(&seeds));
        tracers.push((tracer.piece(piece), piece));
    }
    let mut workers = Vec::new();
    for ((tracer, piece), (device, loaded)) in tracers.iter().zip(devices) {
        let before = Instant::now();
        let prepared = tracer.prepare(&seeds).map_err(|error| loaded.misuse(error))?;
        let prepare = before.elapsed().as_secs_f64();
        let compile = compile(tracer, *piece, device, console)?;
        let load = load_seconds(loaded, [prepare, compile]);
        let total = load.read + load.upload + load.prepare + load.compile;
        let load = Spent { total, ..load };
        let seeds = seeds.len();
        let run =
            CaseRun { case, seeds, loaded, device, load, start, console, shows_progress: false };
        workers.push(Worker { run, prepared, is_fresh: AtomicBool::new(true) });
    }
    let mut warnings = warnings(case, loaded, console)?;
    warnings.extend(about_seeds);
    warnings.extend(too_many_lines(case, &workers[0].prepared.save_plan()));
    let fingerprint = Fingerprint::of(case, loaded, &seeds)?;
    share::share(&workers, shared, (fingerprint, warnings), console)
}

/// Opens further devices of a run, and copies its field to them.
fn other_devices(names: &[String], session: &Session) -> Result<Vec<(OpenDevice, LoadedField)>> {
    let open = |name: &String| session.console.open_device(name);
    let devices = names.iter().map(open).collect::<Result<Vec<_>>>()?;
    let all: Vec<&OpenDevice> = std::iter::once(session.device).chain(&devices).collect();
    devices::check_kinds(&all)?;
    let load = |device: OpenDevice| {
        let _phase = burntrace_core::phase!("load field");
        let loaded = session.loaded.on_device(&device)?;
        Ok((device, loaded))
    };
    devices.into_iter().map(load).collect()
}
