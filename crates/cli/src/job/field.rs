//! The field of a case, from files or from a formula.

use super::domain;
use crate::case::{self, Case, Interpolation, Misuse};
use anyhow::Result;
use burntrace::{
    Analytic, Field, FieldOptions, Flow, FrameSource, GridField, GridSource, OutsideTime,
    PointField, PointSource, Weighting, device::Usable, io,
};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// The nodes that count in a mean, unless a case says it; fewer where there are fewer.
const NEIGHBOURS: usize = 8;

/// The power of the distance, unless a case says it.
const POWER: f64 = 2.0;

/// A field with what is known of its making.
pub struct LoadedField {
    pub field: Box<dyn Field>,
    /// What the field is, for the summary.
    pub description: Value,
    /// Seconds spent in reading files, or in evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent in arranging the field and putting it on the device.
    pub upload_seconds: f64,
}

/// Makes the field of a case on a device. Relative file names start at `base`.
pub fn field(case: &Case, base: &Path, device: &Usable) -> Result<LoadedField> {
    check_interpolation(&case.field)?;
    match (&case.field.files, &case.field.flow) {
        (Some(files), None) => file_field(case, files.clone().within(base), device),
        (None, Some(name)) => flow_field(case, name, device),
        (Some(_), Some(_)) => {
            Err(Misuse::error("the case has both field.files and field.flow; keep one of them"))
        }
        (None, None) => Err(Misuse::error("the case has no field; give field.files or field.flow")),
    }
}

fn file_field(case: &Case, files: io::Files, device: &Usable) -> Result<LoadedField> {
    let options = series_options(&case.field);
    let mut loaded = if case.field.interpolation == Interpolation::Grid {
        let mut series = io::Series::open(files, &options).map_err(Misuse::of)?;
        let info = serde_json::to_value(series.info())?;
        load_grid(&mut series, case, device, info)?
    } else {
        let mut series = io::PointSeries::open(files, &options).map_err(Misuse::of)?;
        let info = serde_json::to_value(series.info())?;
        load_points(&mut series, case, device, info)?
    };
    loaded.description["interpolation"] = serde_json::to_value(case.field.interpolation)?;
    Ok(loaded)
}

fn flow_field(case: &Case, name: &str, device: &Usable) -> Result<LoadedField> {
    let flow = Flow::named(name).ok_or_else(|| {
        Misuse::error(format!("there is no flow `{name}`; there are {}", Flow::NAMES.join(", ")))
    })?;
    let domain = domain(case, flow.domain())?;
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
        });
    };
    let mut frames =
        Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?).map_err(Misuse::of)?;
    load_grid(&mut frames, case, device, description)
}

/// Refuses formulas in double precision where their sines would be wrong: Vulkan's shaders have
/// them in single precision only, and a driver need not say so.
fn check_functions(device: &Usable, precision: case::Precision) -> Result<()> {
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
    }
}

/// Refuses keys of the interpolation that do not belong together, or cannot be.
fn check_interpolation(field: &case::Field) -> Result<()> {
    let is_mean = field.interpolation == Interpolation::InverseDistance;
    let keys = [("neighbours", field.neighbours.is_some()), ("power", field.power.is_some())];
    for (key, is_given) in keys {
        if is_given && !is_mean {
            return Err(Misuse::error(format!(
                "field.{key} goes with field.interpolation = \"inverse-distance\""
            )));
        }
    }
    if field.interpolation != Interpolation::Grid && field.files.is_none() {
        return Err(Misuse::error(
            "field.interpolation goes with field.files; a flow is a formula or on a grid",
        ));
    }
    match (field.neighbours, field.power) {
        (Some(count), _) if !(1..=burntrace::MAX_NEIGHBOURS).contains(&count) => {
            Err(Misuse::error(format!(
                "field.neighbours is {count}; 1 to {} nodes can count, and 8 is usual",
                burntrace::MAX_NEIGHBOURS
            )))
        }
        (_, Some(power)) if !(power.is_finite() && power > 0.0) => Err(Misuse::error(format!(
            "field.power is {power}; it must be a number above 0, and 2 is usual"
        ))),
        _ => Ok(()),
    }
}

/// How the velocity between the points of a field follows from them.
fn weighting(field: &case::Field, points: usize) -> Weighting {
    match field.interpolation {
        Interpolation::Grid | Interpolation::Nearest => Weighting::Nearest,
        Interpolation::InverseDistance => Weighting::InverseDistance {
            neighbours: field.neighbours.unwrap_or(NEIGHBOURS.min(points)),
            power: field.power.unwrap_or(POWER),
        },
    }
}

fn load_grid(
    source: &mut dyn GridSource,
    case: &Case,
    device: &Usable,
    description: Value,
) -> Result<LoadedField> {
    let options = field_options(case)?;
    load(source, description, |source| {
        let field = GridField::load(source, &device.device, &options)?;
        Ok((field.nodes().to_vec().into(), field.bytes(), Box::new(field)))
    })
}

fn load_points(
    source: &mut dyn PointSource,
    case: &Case,
    device: &Usable,
    description: Value,
) -> Result<LoadedField> {
    let options = field_options(case)?;
    let weighting = weighting(&case.field, source.positions().len());
    load(source, description, |source| {
        let field = PointField::load(source, &device.device, &options, weighting)?;
        Ok((field.nodes().into(), field.bytes(), Box::new(field)))
    })
}

/// Reads a source onto a device. `make` gives the number of nodes, the bytes, and the field.
fn load<S: FrameSource + ?Sized>(
    source: &mut S,
    mut description: Value,
    make: impl FnOnce(&mut Timed<'_, S>) -> burntrace::Result<(Value, u64, Box<dyn Field>)>,
) -> Result<LoadedField> {
    let begin = Instant::now();
    let mut timed = Timed { source, seconds: 0.0 };
    let (nodes, bytes, field) = make(&mut timed).map_err(|error| with_file(error, &description))?;
    let read_seconds = timed.seconds;
    description["nodes"] = nodes;
    description["bytes"] = bytes.into();
    let upload_seconds = begin.elapsed().as_secs_f64() - read_seconds;
    Ok(LoadedField { field, description, read_seconds, upload_seconds })
}

/// The error of a frame, with the name of its file.
fn with_file(error: burntrace::Error, description: &Value) -> anyhow::Error {
    use burntrace::Error::{FrameSize, NotFinite};
    let file = match &error {
        NotFinite { frame, .. } | FrameSize { frame, .. } => description["files"][*frame].as_str(),
        _ => None,
    };
    match file {
        Some(file) => Misuse::error(format!("{file}: {error}")),
        None => Misuse::of(error),
    }
}

fn field_options(case: &Case) -> Result<FieldOptions> {
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
        memory: Some(available_memory()),
    })
}

/// Bytes of memory that this machine has to spare.
fn available_memory() -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(limit)
}

/// A source that is timed.
struct Timed<'a, S: ?Sized> {
    source: &'a mut S,
    seconds: f64,
}

impl<S: GridSource + ?Sized> GridSource for Timed<'_, S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> burntrace::Placement {
        self.source.placement()
    }
}

impl<S: PointSource + ?Sized> PointSource for Timed<'_, S> {
    fn positions(&self) -> &[[f64; 3]] {
        self.source.positions()
    }
}

impl<S: FrameSource + ?Sized> FrameSource for Timed<'_, S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(
        &mut self,
        frame: usize,
    ) -> std::result::Result<burntrace::Velocity, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let velocity = self.source.read(frame);
        self.seconds += begin.elapsed().as_secs_f64();
        velocity
    }
}
