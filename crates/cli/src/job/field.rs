//! The fields of a case, from files or from a formula.

use super::{
    description::{FieldCounts, FieldDescription, FieldOrigin, file_of},
    flow,
    input::FieldInput,
    interpolation, memory, motion, patches,
    sampled::{self, SampledField, SampledInput},
    timed::Tally,
};
use crate::{
    case::{self, Case, FieldSource, FileField, Interpolation, Kinds, Misuse},
    errors,
    notes::Notes,
};
use anyhow::Result;
use burntrace::{
    Analytic, BoundaryCondition, Domain, Field, FieldOptions, Flow, Frames, MeshSource,
    OutsideTime, PeriodicAxis, PeriodicGrid, PointSource,
    device::OpenDevice,
    io::{self, series::Association},
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A field, its description and timings.
pub struct LoadedField {
    pub field: Box<dyn Field>,
    pub description: FieldDescription,
    /// The description as JSON, for the summary and the log.
    pub json: Value,
    /// Seconds spent opening and reading files, or evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent arranging the fields and copying them to the device.
    pub upload_seconds: f64,
    /// Bytes and time of reading all fields, during the run too.
    pub tally: Arc<Tally>,
    /// Other fields, which are sampled along the tracks.
    pub sampled: Vec<SampledField>,
    sizes: memory::FieldSizes,
    frames: memory::HeldFrames,
    /// Bytes read, and seconds that runs waited for frames, up to the start of the present run.
    before: (u64, f64),
}

impl LoadedField {
    /// Whether another case with the same field and device would hold the same frames in memory.
    pub fn suits(&self, case: &Case, device: &OpenDevice) -> bool {
        memory::frames(case, &self.sizes, device).is_ok_and(|frames| frames == self.frames)
    }

    /// The same fields on another device. No frame is read again.
    pub fn on_device(&self, device: &OpenDevice) -> Result<Self> {
        let start = Instant::now();
        let moved = |field: &dyn Field| field.to_device(&device.device).map_err(Misuse::of);
        let field = moved(&*self.field)?;
        let sampled = self.sampled.iter().map(|other| Ok(other.with_field(moved(&*other.field)?)));
        let sampled = sampled.collect::<Result<_>>()?;
        Ok(LoadedField {
            field,
            description: self.description.clone(),
            json: self.json.clone(),
            read_seconds: 0.0,
            upload_seconds: start.elapsed().as_secs_f64(),
            tally: Arc::clone(&self.tally),
            sampled,
            sizes: self.sizes.clone(),
            frames: self.frames,
            before: self.before,
        })
    }

    /// Starts the statistics of a further run, which reads nothing before it starts.
    pub fn reuse(&mut self) {
        (self.read_seconds, self.upload_seconds) = (0.0, 0.0);
        self.before = (self.tally.bytes(), self.all_wait_seconds());
    }

    /// Bytes of frames that the run has read, with those before its start.
    pub fn bytes_read(&self) -> u64 {
        self.tally.bytes() - self.before.0
    }

    /// Seconds for which the run has waited for frames.
    pub fn wait_seconds(&self) -> f64 {
        self.all_wait_seconds() - self.before.1
    }

    fn all_wait_seconds(&self) -> f64 {
        let others = self.sampled.iter().map(|other| &*other.field);
        let fields = std::iter::once(&*self.field).chain(others);
        let input = fields.filter_map(|field| field.sampled()?.input());
        input.map(|input| input.wait_seconds).sum()
    }
}

/// The fields of a case, of which no frame has been read.
struct OpenFields {
    traced: TracedInput,
    origin: FieldOrigin,
    sampled: Vec<SampledInput>,
}

/// The field that is traced.
pub(super) enum TracedInput {
    Frames(FieldInput),
    /// A formula that is evaluated directly.
    Formula(Flow, Domain),
}

impl OpenFields {
    fn open(case: &Case, base: &Path) -> Result<Self> {
        interpolation::check(case)?;
        let (traced, origin) = match &case.field.source {
            FieldSource::Files(given) => {
                let (input, origin) = open_files(case, given, base)?;
                (TracedInput::Frames(input), origin)
            }
            FieldSource::Flow(given) => flow::open(case, given)?,
        };
        let sampled = sampled::open(case, base, (traced.frames(), origin.series()))?;
        Ok(OpenFields { traced, origin, sampled })
    }

    fn sizes(&self, case: &Case) -> memory::FieldSizes {
        let precision = case.run.precision.into();
        let traced = self.traced.frames();
        let others = self.sampled.iter().map(|other| &other.input);
        let arrays = traced.into_iter().chain(others.clone()).flat_map(FieldInput::arrays);
        memory::FieldSizes {
            traced: traced.map(|input| input.size(precision)).unwrap_or_default(),
            components: arrays.map(|array| array.components).sum(),
            sampled: others.map(|input| input.size(precision)).collect(),
        }
    }
}

impl TracedInput {
    fn frames(&self) -> Option<&FieldInput> {
        match self {
            TracedInput::Frames(input) => Some(input),
            TracedInput::Formula(..) => None,
        }
    }

    /// Refuses a formula that the device cannot evaluate, and notes the size of a mesh.
    fn check(&self, case: &Case, device: &OpenDevice, notes: Notes) -> Result<()> {
        match self {
            TracedInput::Frames(FieldInput::Mesh(mesh, _)) => {
                let (cells, points) = (mesh.cells().len(), mesh.points().len());
                notes.say("mesh", format!("{cells} cells, {points} points"));
                Ok(())
            }
            TracedInput::Frames(_) => Ok(()),
            TracedInput::Formula(..) => flow::check_functions(device, case.run.precision),
        }
    }

    fn load(
        self,
        (case, frames): (&Case, Frames),
        device: &OpenDevice,
        tally: &Arc<Tally>,
    ) -> burntrace::Result<(FieldCounts, Box<dyn Field>)> {
        match self {
            TracedInput::Frames(input) => input.load(&device.device, &options(case, frames), tally),
            TracedInput::Formula(flow, domain) => {
                let precision = case.run.precision.into();
                let field = Analytic::new(flow, &device.device, precision).with_domain(domain);
                Ok((FieldCounts::Formula, Box::new(field)))
            }
        }
    }
}

/// The sizes of the fields of a case, without reading their frames. Relative file names are resolved in
/// `base`.
pub fn sizes(case: &Case, base: &Path) -> Result<memory::FieldSizes> {
    Ok(OpenFields::open(case, base)?.sizes(case))
}

/// Loads the fields of a case onto a device. Relative file names are resolved in `base`.
pub fn field(case: &Case, base: &Path, device: &OpenDevice, notes: Notes) -> Result<LoadedField> {
    if case.run.precision == case::Precision::F64 && !device.has_f64 {
        return Err(Misuse::error(format!(
            "run.precision is \"f64\", which the device `{}` does not support; use \"f32\", or run.device = \"flex\"",
            device.name
        )));
    }
    let (start, tally) = (Instant::now(), Arc::<Tally>::default());
    let fields = OpenFields::open(case, base)?;
    let sizes = fields.sizes(case);
    let frames = memory::frames(case, &sizes, device)?;
    let open_seconds = start.elapsed().as_secs_f64();
    let OpenFields { traced, origin, sampled } = fields;
    traced.check(case, device, notes)?;
    let loaded = traced.load((case, frames.traced), device, &tally);
    let loaded = loaded.map_err(|error| named(error, origin.files()));
    let (counts, field) = loaded.map_err(|error| without_blocks(case, error))?;
    let other_options = options(case, frames.sampled);
    let load = |other: SampledInput| other.load(&device.device, &other_options, &tally);
    let sampled = sampled.into_iter().map(load).collect::<Result<_>>()?;
    let read_seconds = open_seconds + tally.seconds();
    // During a run, another thread reads the frames.
    let upload_seconds = (start.elapsed().as_secs_f64() - read_seconds).max(0.0);
    if case.is_on_mesh() {
        notes.say("", format!("read in {read_seconds:.3} s, arranged in {upload_seconds:.3} s"));
    }
    let description = FieldDescription { origin, counts };
    let json = description.json()?;
    Ok(LoadedField {
        field,
        description,
        json,
        read_seconds,
        upload_seconds,
        tally,
        sampled,
        sizes,
        frames,
        before: (0, 0.0),
    })
}

/// An error of a field of which blocks should be read, with another way to read it.
fn without_blocks(case: &Case, error: anyhow::Error) -> anyhow::Error {
    let text = errors::chain(&error);
    let blocks = Some(burntrace::Strategy::Blocks);
    match Option::from(case.run.strategy) == blocks && !text.contains("run.strategy") {
        true => Misuse::error(format!("{text}; or use another `run.strategy` than \"blocks\"")),
        false => error,
    }
}

/// An error of a frame or a mesh, with the name of its file.
pub(super) fn named(error: burntrace::Error, files: &[PathBuf]) -> anyhow::Error {
    match file_of(files, &error) {
        Some(file) => {
            let file = file.display().to_string();
            Misuse::error(format!("{file}: {}", errors::chain(&error.into())))
        }
        None => Misuse::of(error),
    }
}

/// Opens a series of files with the arrays that are sampled along the tracks.
macro_rules! open {
    ($series:ty, $case:expr, $files:expr, $options:expr) => {{
        let series = <$series>::open($files, $options).map_err(Misuse::of)?;
        let own = sampled::own($case, series.velocity(), &series.info().arrays);
        series.with_arrays(&own).map_err(Misuse::of)?
    }};
}

fn open_files(case: &Case, given: &FileField, base: &Path) -> Result<(FieldInput, FieldOrigin)> {
    check_keys(case, given)?;
    let (files, options) = (given.files.clone().within(base), series_options(case, given));
    Ok(match &given.interpolation {
        Interpolation::Grid {} => {
            let series = open!(io::Series, case, files, &options);
            let origin = origin(series.info(), given);
            let axes = periodic_axes(case, given)?;
            let grid = PeriodicGrid::new(series, axes).map_err(Misuse::of)?;
            (FieldInput::Grid(Box::new(grid)), origin)
        }
        Interpolation::Mesh { cell_velocity, .. } => {
            let series = open!(io::MeshSeries, case, files, &options);
            motion::check_cells(given, series.placement())?;
            let (origin, in_cells) =
                (origin(series.info(), given), cell_velocity.unwrap_or_default());
            (FieldInput::Mesh(Box::new(series), in_cells.into()), origin)
        }
        weights @ (Interpolation::Nearest {} | Interpolation::InverseDistance { .. }) => {
            let series = open!(io::PointSeries, case, files, &options);
            let origin = origin(series.info(), given);
            let weighting = interpolation::weighting(weights, series.positions().len());
            (FieldInput::Points(Box::new(series), weighting), origin)
        }
    })
}

/// The mesh of the field of a case, without its velocities. `None` if the field is not on a mesh. Relative
/// file names are resolved in `base`.
pub fn mesh(case: &Case, base: &Path) -> Result<Option<io::MeshSeries>> {
    match &case.field.source {
        FieldSource::Files(given) if case.is_on_mesh() => {
            let (files, options) = (given.files.clone().within(base), series_options(case, given));
            io::MeshSeries::open(files, &options).map(Some).map_err(Misuse::of)
        }
        _ => Ok(None),
    }
}

/// Refuses keys that the interpolation cannot use.
fn check_keys(case: &Case, given: &FileField) -> Result<()> {
    if !given.periodic_axes.is_empty() && given.interpolation != (Interpolation::Grid {}) {
        return Err(Misuse::error(format!(
            "field.periodic_axes needs interpolation = \"grid\", not {:?}; omit it",
            given.interpolation.name()
        )));
    }
    if (given.crop.is_some() || given.every.is_some())
        && given.interpolation != (Interpolation::Grid {})
    {
        return Err(Misuse::error(format!(
            "field.crop and field.every need interpolation = \"grid\", not {:?}; omit them",
            given.interpolation.name()
        )));
    }
    if given.ignore_hidden && case.is_on_mesh() {
        return Err(Misuse::error(
            "field.ignore_hidden is for grids and points; a mesh leaves hidden cells out: omit the key",
        ));
    }
    Ok(())
}

/// The periodic axes of a grid of files: closed by the case, or with periodic faces, which need a last
/// layer that repeats the first one. A period is the extent of the domain, if the case gives it.
pub(super) fn periodic_axes(case: &Case, given: &FileField) -> Result<[PeriodicAxis; 3]> {
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

/// The options for reading the files of a case.
fn series_options(case: &Case, field: &FileField) -> io::SeriesOptions {
    let other_cells = match field.interpolation {
        Interpolation::Mesh { other_cells, .. } => other_cells.unwrap_or_default(),
        _ => io::OtherCells::default(),
    };
    io::SeriesOptions {
        time: io::TimeOptions {
            times: field.times.clone(),
            file_dt: field.file_dt,
            ignore_file_times: field.ignore_file_times,
            same_times: field.same_times,
        },
        clock: None,
        frames: field.frames.unwrap_or_default(),
        crop: field.crop,
        every: field.every,
        velocity: field.velocity.clone().unwrap_or_default(),
        prefer: field.prefer,
        diffusivity: field.diffusivity.clone(),
        arrays: Vec::new(),
        ignore_hidden: field.ignore_hidden,
        other_cells,
        faces: patches::faces(case),
    }
}

fn options(case: &Case, frames: Frames) -> FieldOptions {
    let field = &case.field;
    FieldOptions {
        precision: case.run.precision.into(),
        outside_time: match field.outside_time {
            case::OutsideTime::Error {} => OutsideTime::Error,
            case::OutsideTime::Hold {} => OutsideTime::Hold,
            case::OutsideTime::Zero {} => OutsideTime::Zero,
            case::OutsideTime::Periodic { period } => OutsideTime::Periodic { period },
        },
        in_time: field.in_time.into(),
        not_finite: field.not_finite.into(),
        frames,
        memory: Some(memory::available(case)),
    }
}
