//! The field of a case, from files or from a formula.

use super::{
    description::{FieldCounts, FieldDescription, FieldOrigin, MeshFieldCounts},
    domain, interpolation, memory, motion,
    sampled::{self, SampledField},
    timed::{Tally, Timed},
};
use crate::{
    case::{self, Case, FieldSource, FileField, FlowField, Interpolation, Kinds, Misuse},
    errors,
    notes::Notes,
};
use anyhow::Result;
use burntrace::{
    Analytic, BoundaryCondition, Domain, Field, FieldOptions, FieldSize, Flow, FlowFrames,
    FrameSource, GridField, GridSource, MeshField, MeshSource, OutsideTime, PeriodicAxis,
    PeriodicGrid, PointField, PointSource,
    device::OpenDevice,
    io::{self, series::Association},
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A field, its description and timings.
pub struct LoadedField {
    pub field: Box<dyn Field>,
    pub description: FieldDescription,
    /// The description as JSON, for the summary and the log.
    pub json: Value,
    /// Seconds spent reading files, or evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent arranging the field and copying it to the device.
    pub upload_seconds: f64,
    /// Bytes and time of reading, during the run too.
    pub tally: Arc<Tally>,
    /// Other fields, which are sampled along the tracks.
    pub sampled: Vec<SampledField>,
}

/// Loads the field of a case onto a device. Relative file names are resolved in `base`.
pub fn field(case: &Case, base: &Path, device: &OpenDevice, notes: Notes) -> Result<LoadedField> {
    interpolation::check(case)?;
    let mut loaded = match &case.field.source {
        FieldSource::Files(given) => file_field(case, (given, base), device, notes),
        FieldSource::Flow(given) => flow_field(case, given, device),
    }?;
    let start = Instant::now();
    loaded.sampled = sampled::others(case, base, device, &*loaded.field)?;
    loaded.read_seconds += start.elapsed().as_secs_f64();
    Ok(loaded)
}

/// Opens a series of files with the arrays that are sampled along the tracks.
macro_rules! open {
    ($series:ty, $case:expr, $files:expr, $options:expr) => {{
        let series = <$series>::open($files, $options).map_err(Misuse::of)?;
        let own = sampled::own($case, series.velocity(), &series.info().arrays);
        series.with_arrays(&own).map_err(Misuse::of)?
    }};
}

fn file_field(
    case: &Case,
    (given, base): (&FileField, &Path),
    device: &OpenDevice,
    notes: Notes,
) -> Result<LoadedField> {
    if !given.periodic_axes.is_empty() && given.interpolation != (Interpolation::Grid {}) {
        return Err(Misuse::error(format!(
            "field.periodic_axes needs interpolation = \"grid\", not {:?}; omit it",
            given.interpolation.name()
        )));
    }
    if given.ignore_hidden && case.is_on_mesh() {
        return Err(Misuse::error(
            "field.ignore_hidden is for grids and points; a mesh leaves hidden cells out: omit the key",
        ));
    }
    let (files, options) = (given.files.clone().within(base), series_options(given));
    let start = Instant::now();
    let opened = || start.elapsed().as_secs_f64();
    let (mut loaded, open_seconds) = match given.interpolation {
        Interpolation::Grid {} => {
            let series = open!(io::Series, case, files, &options);
            let (origin, seconds) = (origin(series.info(), given), opened());
            let grid =
                PeriodicGrid::new(series, periodic_axes(case, given)?).map_err(Misuse::of)?;
            (load_grid(Box::new(grid), case, device, origin)?, seconds)
        }
        Interpolation::Mesh { .. } => {
            let series = open!(io::MeshSeries, case, files, &options);
            let (origin, seconds) = (origin(series.info(), given), opened());
            (load_mesh(Box::new(series), (case, given), device, origin, notes)?, seconds)
        }
        Interpolation::Nearest {} | Interpolation::InverseDistance { .. } => {
            let series = open!(io::PointSeries, case, files, &options);
            let (origin, seconds) = (origin(series.info(), given), opened());
            (load_points(Box::new(series), (case, given), device, origin)?, seconds)
        }
    };
    loaded.read_seconds += open_seconds;
    if case.is_on_mesh() {
        let LoadedField { read_seconds, upload_seconds, .. } = loaded;
        notes.say("", format!("read in {read_seconds:.3} s, arranged in {upload_seconds:.3} s"));
    }
    Ok(loaded)
}

/// The periodic axes of a grid of files: closed by the case, or with periodic faces, which need a last
/// layer that repeats the first one. A period is the extent of the domain, if the case gives it.
fn periodic_axes(case: &Case, given: &FileField) -> Result<[PeriodicAxis; 3]> {
    let faces = [case.boundary.x, case.boundary.y, case.boundary.z];
    let mut axes = faces.map(|of_axis| match of_axis.map(Into::into) {
        [BoundaryCondition::Periodic, BoundaryCondition::Periodic] => PeriodicAxis::Repeated,
        _ => PeriodicAxis::Open,
    });
    for axis in &given.periodic_axes {
        let d = *axis as usize;
        if axes[d] == PeriodicAxis::Open {
            return Err(Misuse::error(format!(
                "field.periodic_axes has {0}, but the faces of {0} are not periodic; give \
                 boundary.{0} = [\"periodic\", \"periodic\"]",
                ["x", "y", "z"][d]
            )));
        }
        let corners = case.domain.low.zip(case.domain.high);
        axes[d] = PeriodicAxis::Closed { period: corners.map(|(low, high)| high[d] - low[d]) };
    }
    Ok(axes)
}

/// The files of a field and how they are used.
fn origin(info: &io::SeriesInfo, given: &FileField) -> FieldOrigin {
    let in_cells = |velocity: &io::series::VelocityInfo| velocity.association == Association::Cell;
    let cell_velocity = match given.interpolation {
        Interpolation::Mesh { cell_velocity, .. }
            if info.velocity.as_ref().is_some_and(in_cells) =>
        {
            Some(cell_velocity.unwrap_or_default())
        }
        _ => None,
    };
    let interpolation = given.interpolation.name();
    FieldOrigin::Files { info: Box::new(info.clone()), interpolation, cell_velocity }
}

/// The size of the field of a case, without reading its frames. Relative file names are resolved in
/// `base`.
pub fn size(case: &Case, base: &Path) -> Result<FieldSize> {
    interpolation::check(case)?;
    let precision = case.run.precision.into();
    let given = match &case.field.source {
        FieldSource::Files(given) => given,
        FieldSource::Flow(FlowField { sample: None, .. }) => return Ok(FieldSize::default()),
        FieldSource::Flow(FlowField { flow, sample: Some(sample) }) => {
            let (flow, domain) = flow_of(case, flow)?;
            return Ok(FieldSize::grid(&sampled(flow, domain, sample)?, precision));
        }
    };
    let (files, options) = (given.files.clone().within(base), series_options(given));
    Ok(match given.interpolation {
        Interpolation::Grid {} => {
            let series = open!(io::Series, case, files, &options);
            let grid =
                PeriodicGrid::new(series, periodic_axes(case, given)?).map_err(Misuse::of)?;
            FieldSize::grid(&grid, precision)
        }
        Interpolation::Mesh { .. } => {
            let series = open!(io::MeshSeries, case, files, &options);
            FieldSize::mesh(&series, precision)
        }
        Interpolation::Nearest {} | Interpolation::InverseDistance { .. } => {
            let series = open!(io::PointSeries, case, files, &options);
            FieldSize::points(&series, precision)
        }
    })
}

fn flow_field(case: &Case, given: &FlowField, device: &OpenDevice) -> Result<LoadedField> {
    let (flow, domain) = flow_of(case, &given.flow)?;
    let origin = FieldOrigin::Flow { name: given.flow.clone(), sampled: given.sample.is_some() };
    let Some(sample) = &given.sample else {
        check_functions(device, case.run.precision)?;
        let precision = case.run.precision.into();
        let field = Analytic::new(flow, &device.device, precision).with_domain(domain);
        let description = FieldDescription { origin, counts: FieldCounts::Formula };
        return Ok(LoadedField {
            field: Box::new(field),
            json: description.json()?,
            description,
            read_seconds: 0.0,
            upload_seconds: 0.0,
            tally: Arc::default(),
            sampled: Vec::new(),
        });
    };
    let frames = sampled(flow, domain, sample)?;
    load_grid(Box::new(frames), case, device, origin)
}

/// A flow by its name, and its domain in a case.
fn flow_of(case: &Case, name: &str) -> Result<(Flow, Domain)> {
    let flow = Flow::named(name).ok_or_else(|| {
        Misuse::error(format!(
            "`field.flow` is {name:?}, which is not a built-in flow; give one of {}",
            Flow::NAMES.join(", ")
        ))
    })?;
    let domain = domain(case, flow.domain())?;
    Ok((flow, domain))
}

fn sampled(flow: Flow, domain: Domain, sample: &case::Sample) -> Result<FlowFrames> {
    Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?).map_err(Misuse::of)
}

/// Refuses formulas in double precision on devices with shaders: Vulkan defines sine and cosine in
/// single precision only, and drivers may give wrong results without an error.
fn check_functions(device: &OpenDevice, precision: case::Precision) -> Result<()> {
    let is_shader = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_shader && precision == case::Precision::F64 {
        return Err(Misuse::error(format!(
            "the device `{}` has no sine and cosine in f64; sample the flow onto a grid \
             (field.sample), or use precision f32 or the device flex",
            device.name
        )));
    }
    Ok(())
}

/// Maximum number of frames of a sampled flow.
const MAX_FRAMES: usize = 10_000_000;

/// Evenly spaced times of a sampled flow.
fn frame_times(sample: &case::Sample) -> Result<Vec<f64>> {
    let is_span = sample.stop > sample.start;
    if !(1..=MAX_FRAMES).contains(&sample.frames) || (sample.frames > 1 && !is_span) {
        return Err(Misuse::error(format!(
            "[field.sample] has {} frames from {} to {}; give 1 frame, or up to {MAX_FRAMES} and stop > \
             start",
            sample.frames, sample.start, sample.stop
        )));
    }
    let interval = (sample.stop - sample.start) / (sample.frames.max(2) - 1) as f64;
    Ok((0..sample.frames).map(|i| sample.start + i as f64 * interval).collect())
}

/// The options for reading the files of a case.
fn series_options(field: &FileField) -> io::SeriesOptions {
    let other_cells = match field.interpolation {
        Interpolation::Mesh { other_cells, .. } => other_cells.unwrap_or_default(),
        _ => io::OtherCells::default(),
    };
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
        arrays: Vec::new(),
        ignore_hidden: field.ignore_hidden,
        other_cells,
    }
}

fn load_grid(
    source: Box<dyn GridSource + Send>,
    case: &Case,
    device: &OpenDevice,
    origin: FieldOrigin,
) -> Result<LoadedField> {
    let size = FieldSize::grid(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    load(source, origin, |source| {
        let field = GridField::open(Box::new(source), &device.device, &options)?;
        let counts = FieldCounts::Grid { nodes: field.nodes(), bytes: field.bytes() };
        Ok((counts, Box::new(field)))
    })
}

fn load_points(
    source: Box<dyn PointSource + Send>,
    (case, given): (&Case, &FileField),
    device: &OpenDevice,
    origin: FieldOrigin,
) -> Result<LoadedField> {
    let size = FieldSize::points(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    let weighting = interpolation::weighting(&given.interpolation, source.positions().len());
    load(source, origin, |source| {
        let field = PointField::open(Box::new(source), &device.device, &options, weighting)?;
        let counts = FieldCounts::Points { nodes: field.nodes(), bytes: field.bytes() };
        Ok((counts, Box::new(field)))
    })
}

fn load_mesh(
    source: Box<dyn MeshSource + Send>,
    (case, given): (&Case, &FileField),
    device: &OpenDevice,
    origin: FieldOrigin,
    notes: Notes,
) -> Result<LoadedField> {
    motion::check_cells(given, source.placement())?;
    let size = FieldSize::mesh(&*source, case.run.precision.into());
    let options = field_options(case, &size, device)?;
    let cell_velocity = match given.interpolation {
        Interpolation::Mesh { cell_velocity, .. } => cell_velocity.unwrap_or_default(),
        _ => case::CellVelocity::default(),
    };
    notes.say("mesh", format!("{} cells, {} points", source.cells().len(), source.points().len()));
    load(source, origin, |source| {
        let (source, device) = (Box::new(source), &device.device);
        let field = MeshField::open(source, device, &options, cell_velocity.into())?;
        Ok((FieldCounts::Mesh(MeshFieldCounts::of(&field)), Box::new(field)))
    })
}

/// Loads a source onto a device. `make` returns the counts of the field, and the field.
fn load<S: FrameSource + ?Sized>(
    source: Box<S>,
    origin: FieldOrigin,
    make: impl FnOnce(Timed<S>) -> burntrace::Result<(FieldCounts, Box<dyn Field>)>,
) -> Result<LoadedField> {
    let (start, tally) = (Instant::now(), Arc::<Tally>::default());
    let timed = Timed { tally: Arc::clone(&tally), source };
    let (counts, field) = make(timed).map_err(|error| match origin.file_of(&error) {
        Some(file) => {
            let file = file.display().to_string();
            Misuse::error(format!("{file}: {}", errors::chain(&error.into())))
        }
        None => Misuse::of(error),
    })?;
    let read_seconds = tally.seconds();
    // During a run, another thread reads the frames.
    let upload_seconds = (start.elapsed().as_secs_f64() - read_seconds).max(0.0);
    let description = FieldDescription { origin, counts };
    let json = description.json()?;
    Ok(LoadedField {
        field,
        description,
        json,
        read_seconds,
        upload_seconds,
        tally,
        sampled: Vec::new(),
    })
}

pub(super) fn field_options(
    case: &Case,
    size: &FieldSize,
    device: &OpenDevice,
) -> Result<FieldOptions> {
    let field = &case.field;
    Ok(FieldOptions {
        precision: case.run.precision.into(),
        outside_time: match field.outside_time {
            case::OutsideTime::Error {} => OutsideTime::Error,
            case::OutsideTime::Hold {} => OutsideTime::Hold,
            case::OutsideTime::Zero {} => OutsideTime::Zero,
            case::OutsideTime::Periodic { period } => OutsideTime::Periodic { period },
        },
        in_time: field.in_time.into(),
        not_finite: field.not_finite.into(),
        frames: memory::frames(case, size, device)?,
        memory: Some(memory::available(case)),
    })
}
