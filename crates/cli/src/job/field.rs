//! The field of a case, from files or from a formula.

use super::{
    domain, interpolation, memory, motion,
    timed::{Tally, Timed},
};
use crate::{
    case::{self, Case, Interpolation, Misuse},
    progress::Notes,
};
use anyhow::Result;
use burntrace::{
    Analytic, Domain, Field, FieldOptions, FieldSize, Flow, FlowFrames, FrameSource, GridField,
    GridSource, MeshField, MeshSource, OutsideTime, PointField, PointSource, device::OpenDevice,
    io,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A field with what is known of its making.
pub struct LoadedField {
    pub field: Box<dyn Field>,
    /// What the field is, for the summary.
    pub description: Value,
    /// Seconds spent in reading files, or in evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent in arranging the field and putting it on the device.
    pub upload_seconds: f64,
    /// What is read, in the course of the run too.
    pub tally: Arc<Tally>,
}

/// Makes the field of a case on a device. Relative file names start at `base`.
pub fn field(case: &Case, base: &Path, device: &OpenDevice, notes: Notes) -> Result<LoadedField> {
    interpolation::check(case)?;
    match (&case.field.files, &case.field.flow) {
        (Some(files), None) => file_field(case, files.clone().within(base), device, notes),
        (None, Some(name)) => flow_field(case, name, device),
        (Some(_), Some(_)) => {
            Err(Misuse::error("the case has both field.files and field.flow; keep one of them"))
        }
        (None, None) => Err(Misuse::error("the case has no field; give field.files or field.flow")),
    }
}

fn file_field(
    case: &Case,
    files: io::Files,
    device: &OpenDevice,
    notes: Notes,
) -> Result<LoadedField> {
    let options = series_options(&case.field);
    let begin = Instant::now();
    let opened = || begin.elapsed().as_secs_f64();
    let (mut loaded, open_seconds) = match case.field.interpolation {
        Interpolation::Grid => {
            let series = io::Series::open(files, &options).map_err(Misuse::of)?;
            let (info, seconds) = (serde_json::to_value(series.info())?, opened());
            (load_grid(Box::new(series), case, device, info)?, seconds)
        }
        Interpolation::Mesh => {
            let series = io::MeshSeries::open(files, &options).map_err(Misuse::of)?;
            let (info, seconds) = (serde_json::to_value(series.info())?, opened());
            (load_mesh(Box::new(series), case, device, info, notes)?, seconds)
        }
        Interpolation::Nearest | Interpolation::InverseDistance => {
            let series = io::PointSeries::open(files, &options).map_err(Misuse::of)?;
            let (info, seconds) = (serde_json::to_value(series.info())?, opened());
            (load_points(Box::new(series), case, device, info)?, seconds)
        }
    };
    loaded.read_seconds += open_seconds;
    if case.field.interpolation == Interpolation::Mesh {
        let LoadedField { read_seconds, upload_seconds, .. } = loaded;
        notes.say("", format!("read in {read_seconds:.3} s, arranged in {upload_seconds:.3} s"));
    }
    loaded.description["interpolation"] = serde_json::to_value(case.field.interpolation)?;
    Ok(loaded)
}

/// The size of the field of a case, which is not read. Relative file names start at `base`.
pub fn size(case: &Case, base: &Path) -> Result<FieldSize> {
    interpolation::check(case)?;
    let precision = case.run.precision.into();
    let Some(files) = case.field.files.clone() else {
        let Some(sample) = &case.field.sample else { return Ok(FieldSize::default()) };
        let (flow, domain) = flow_of(case, case.field.flow.as_deref().unwrap_or_default())?;
        let frames = sampled(flow, domain, sample)?;
        return Ok(FieldSize::grid(&frames, precision));
    };
    let (files, options) = (files.within(base), series_options(&case.field));
    Ok(match case.field.interpolation {
        Interpolation::Grid => {
            let series = io::Series::open(files, &options).map_err(Misuse::of)?;
            FieldSize::grid(&series, precision)
        }
        Interpolation::Mesh => {
            let series = io::MeshSeries::open(files, &options).map_err(Misuse::of)?;
            FieldSize::mesh(&series, precision)
        }
        Interpolation::Nearest | Interpolation::InverseDistance => {
            let series = io::PointSeries::open(files, &options).map_err(Misuse::of)?;
            FieldSize::points(&series, precision)
        }
    })
}

fn flow_field(case: &Case, name: &str, device: &OpenDevice) -> Result<LoadedField> {
    let (flow, domain) = flow_of(case, name)?;
    let description = serde_json::json!({ "flow": name, "sampled": case.field.sample.is_some() });
    let Some(sample) = &case.field.sample else {
        check_functions(device, case.run.precision)?;
        let precision = case.run.precision.into();
        let field = Analytic::new(flow, &device.device, precision).with_domain(domain);
        return Ok(LoadedField {
            field: Box::new(field),
            description,
            read_seconds: 0.0,
            upload_seconds: 0.0,
            tally: Arc::default(),
        });
    };
    let frames = sampled(flow, domain, sample)?;
    load_grid(Box::new(frames), case, device, description)
}

/// A flow by its name, and its domain in a case.
fn flow_of(case: &Case, name: &str) -> Result<(Flow, Domain)> {
    let flow = Flow::named(name).ok_or_else(|| {
        Misuse::error(format!("there is no flow `{name}`; there are {}", Flow::NAMES.join(", ")))
    })?;
    let domain = domain(case, flow.domain())?;
    Ok((flow, domain))
}

fn sampled(flow: Flow, domain: Domain, sample: &case::Sample) -> Result<FlowFrames> {
    Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?).map_err(Misuse::of)
}

/// Refuses formulas in double precision where their sines would be wrong: Vulkan's shaders have
/// them in single precision only, and a driver need not say so.
fn check_functions(device: &OpenDevice, precision: case::Precision) -> Result<()> {
    let is_shader = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_shader && precision == case::Precision::F64 {
        return Err(Misuse::error(format!(
            "`{}` has no sine and cosine in f64; sample the flow onto a grid (field.sample), \
             or use f32, or the device flex",
            device.name
        )));
    }
    Ok(())
}

/// Evenly spaced times of a sampled flow.
fn frame_times(sample: &case::Sample) -> Result<Vec<f64>> {
    let is_span = sample.stop > sample.start;
    if sample.frames == 0 || (sample.frames > 1 && !is_span) {
        return Err(Misuse::error(format!(
            "field.sample has {} frames from {} to {}; more than one needs stop > start",
            sample.frames, sample.start, sample.stop
        )));
    }
    let gap = (sample.stop - sample.start) / (sample.frames.max(2) - 1) as f64;
    Ok((0..sample.frames).map(|i| sample.start + i as f64 * gap).collect())
}

/// How a case asks for its files to be read.
fn series_options(field: &case::Field) -> io::SeriesOptions {
    io::SeriesOptions {
        time: io::TimeOptions {
            times: field.times.clone(),
            file_dt: field.file_dt,
            ignore_file_times: field.ignore_file_times,
        },
        frames: field.frames.unwrap_or_default(),
        velocity: field.velocity.clone().unwrap_or_default(),
        prefer: field.prefer,
        diffusivity: field.diffusivity.clone(),
        other_cells: field.other_cells.unwrap_or_default(),
    }
}

fn load_grid(
    source: Box<dyn GridSource + Send>,
    case: &Case,
    device: &OpenDevice,
    description: Value,
) -> Result<LoadedField> {
    let size = FieldSize::grid(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    load(source, description, |source| {
        let field = GridField::open(Box::new(source), &device.device, &options)?;
        Ok((json!({ "nodes": field.nodes(), "bytes": field.bytes() }), Box::new(field)))
    })
}

fn load_points(
    source: Box<dyn PointSource + Send>,
    case: &Case,
    device: &OpenDevice,
    description: Value,
) -> Result<LoadedField> {
    let size = FieldSize::points(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    let weighting = interpolation::weighting(&case.field, source.positions().len());
    load(source, description, |source| {
        let field = PointField::open(Box::new(source), &device.device, &options, weighting)?;
        Ok((json!({ "nodes": field.nodes(), "bytes": field.bytes() }), Box::new(field)))
    })
}

fn load_mesh(
    source: Box<dyn MeshSource + Send>,
    case: &Case,
    device: &OpenDevice,
    description: Value,
    notes: Notes,
) -> Result<LoadedField> {
    motion::check_cells(&case.field, source.placement())?;
    let size = FieldSize::mesh(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    let cell_velocity = case.field.cell_velocity.unwrap_or_default();
    notes.say("mesh", format!("{} cells, {} points", source.cells().len(), source.points().len()));
    let mut loaded = load(source, description, |source| {
        let (source, device) = (Box::new(source), &device.device);
        let field = MeshField::open(source, device, &options, cell_velocity.into())?;
        Ok((mesh_facts(&field), Box::new(field)))
    })?;
    if loaded.description["velocity"]["association"] == "cell" {
        loaded.description["cell_velocity"] = serde_json::to_value(cell_velocity)?;
    }
    Ok(loaded)
}

/// What a field on a mesh consists of: nodes after points that coincide became one, and cells
/// without ghosts and others.
fn mesh_facts(field: &MeshField) -> Value {
    let counts = field.mesh().counts();
    json!({
        "nodes": field.mesh().points().len(),
        "cells": field.mesh().cells().len(),
        "dimension": field.mesh().dimension(),
        "merged_points": counts.merged,
        "degenerate": counts.degenerate,
        "inverted": counts.inverted,
        "folded": counts.folded,
        "open_faces": counts.open_faces,
        "crowded_faces": counts.crowded_faces,
        "bytes": field.bytes(),
    })
}

/// Reads a source onto a device. `make` gives what the field consists of, for the description,
/// and the field.
fn load<S: FrameSource + ?Sized>(
    source: Box<S>,
    mut description: Value,
    make: impl FnOnce(Timed<S>) -> burntrace::Result<(Value, Box<dyn Field>)>,
) -> Result<LoadedField> {
    let (begin, tally) = (Instant::now(), Arc::<Tally>::default());
    let timed = Timed { tally: Arc::clone(&tally), source };
    let (facts, field) = make(timed).map_err(|error| match file_of(&error, &description) {
        Some(file) => Misuse::error(format!("{file}: {error}")),
        None => Misuse::of(error),
    })?;
    let read_seconds = tally.seconds();
    for (name, fact) in facts.as_object().into_iter().flatten() {
        description[name] = fact.clone();
    }
    // Frames that are read in the course of a run are read by another thread.
    let upload_seconds = (begin.elapsed().as_secs_f64() - read_seconds).max(0.0);
    Ok(LoadedField { field, description, read_seconds, upload_seconds, tally })
}

/// The file that an error of a frame or of the mesh is about.
pub fn file_of<'a>(error: &burntrace::Error, description: &'a Value) -> Option<&'a str> {
    use burntrace::Error::{FrameSize, Mesh, NotFinite};
    match error {
        NotFinite { frame, .. } | FrameSize { frame, .. } => description["files"][*frame].as_str(),
        Mesh(_) => description["files"][0].as_str(),
        _ => None,
    }
}

fn field_options(case: &Case, size: &FieldSize, device: &OpenDevice) -> Result<FieldOptions> {
    let field = &case.field;
    if field.period.is_some() && field.outside_time != case::OutsideTime::Periodic {
        return Err(Misuse::error("field.period goes with field.outside_time = \"periodic\""));
    }
    Ok(FieldOptions {
        precision: case.run.precision.into(),
        outside_time: match field.outside_time {
            case::OutsideTime::Error => OutsideTime::Error,
            case::OutsideTime::Hold => OutsideTime::Hold,
            case::OutsideTime::Zero => OutsideTime::Zero,
            case::OutsideTime::Periodic => OutsideTime::Periodic { period: field.period },
        },
        in_time: field.in_time.into(),
        not_finite: field.not_finite.into(),
        frames: memory::frames(case, size, device)?,
        memory: Some(memory::available(case)),
    })
}
