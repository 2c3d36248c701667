//! The fields of a case, from files or from a formula.

use super::{
    added::{self, AddedField},
    along,
    description::{FieldDescription, FieldOrigin, file_of},
    flow, geometry,
    input::{FieldFiles, FieldInput, TracedInput},
    interpolation, memory, motion, patches, reach,
    sampled::{self, SampledField, SampledInput, SharedClock},
};
use crate::{
    console::Console,
    errors,
    file::{self, Case, FieldSource, GivenCrop, Interpolation, Misuse},
};
use anyhow::Result;
use burntrace_core::{
    BoundaryCondition, Domain, Field, FieldOptions, Frames, PeriodicAxis, Precision,
    device::OpenDevice, program::ReadTotals,
};
use burntrace_io as io;
use burntrace_io::{series::Association, tracks::TimeOrigin};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Instant;

/// A field, its description and timings.
pub struct LoadedField {
    /// The field.
    pub field: Box<dyn Field>,
    /// Its description.
    pub description: FieldDescription,
    /// The description as JSON, for the summary and the log.
    pub json: Value,
    /// Seconds spent opening and reading files, or evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent arranging the fields and copying them to the device.
    pub upload_seconds: f64,
    /// Further fields, which are added to the first one.
    pub added: Vec<AddedField>,
    /// Other fields, which are sampled along the tracks.
    pub sampled: Vec<SampledField>,
    sizes: memory::FieldSizes,
    frames: memory::HeldFrames,
    /// Bytes read, and seconds that runs waited for frames, up to the start of the present run.
    before: (u64, f64),
}

impl LoadedField {
    /// The date of time 0, if the files of the field have dates.
    pub fn time_origin(&self) -> Option<&TimeOrigin> {
        self.description.series()?.time_origin.as_ref()
    }

    /// Its domain: that of its nodes, in a sea up to the surface.
    pub fn domain(&self) -> Domain {
        geometry::up_to_surface(self.field.domain(), self.description.series())
    }

    /// An error that the case causes, with the dates of its times.
    pub fn misuse(&self, error: burntrace_core::Error) -> anyhow::Error {
        use burntrace_core::Error::{OutsideTime, Release, Saves, Span};
        let date = |time: f64| self.time_origin()?.date_of(time);
        let dates = || match error {
            OutsideTime { t0, t1, first, last } => Some(format!(
                "in dates, the run is from {} to {}, and the field from {} to {}",
                date(t0)?,
                date(t1)?,
                date(first)?,
                date(last)?
            )),
            Release(_) | Saves(_) | Span(_) => Some(format!("t = 0 is {}", date(0.0)?)),
            _ => None,
        };
        match dates() {
            Some(dates) => Misuse::error(format!("{}; {dates}", Misuse::of(error))),
            None => Misuse::of(error),
        }
    }

    /// The files of the field, and of those that are added.
    pub fn all_series(&self) -> impl Iterator<Item = &io::SeriesInfo> {
        let added = self.added.iter().map(|added| &added.description);
        std::iter::once(&self.description).chain(added).filter_map(FieldDescription::series)
    }

    /// Whether another case with the same field and device would hold the same part and the same frames in memory.
    pub fn suits(&self, case: &Case, device: &OpenDevice) -> bool {
        case.field.crop != Some(GivenCrop::Auto)
            && memory::frames(case, &self.sizes, device).is_ok_and(|frames| frames == self.frames)
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
            added: self.added.clone(),
            sampled,
            sizes: self.sizes.clone(),
            frames: self.frames,
            before: self.before,
        })
    }

    /// Starts the statistics of a further run, which reads nothing before it starts.
    pub fn reuse(&mut self) {
        (self.read_seconds, self.upload_seconds) = (0.0, 0.0);
        self.before = (ReadTotals::now().bytes, self.all_wait_seconds());
    }

    /// Bytes of frames that the run has read, with those before its start.
    pub fn bytes_read(&self) -> u64 {
        ReadTotals::now().bytes - self.before.0
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
    added: Vec<AddedField>,
    sampled: Vec<SampledInput>,
}

impl OpenFields {
    /// Opens the fields. With `field.crop = "auto"`, the part of the grid that is read is found first. `measures` whether further
    /// fields are compared with what the nodes of the first one make of them.
    fn open(case: &Case, console: &dyn Console, measures: bool) -> Result<Self> {
        interpolation::check(case)?;
        check_keys(case)?;
        let found = reach::find(case)?;
        let case = found.as_ref().map_or(case, |(cropped, text)| {
            console.say("crop", text);
            cropped
        });
        let (traced, origin) = match &case.field.source {
            FieldSource::Files { files } => {
                let (input, origin) = open_files(case, files.clone())?;
                (TracedInput::Frames(input), origin)
            }
            FieldSource::Flow { flow, sample } => flow::open(case, flow, sample.as_ref())?,
            FieldSource::Own(own) => {
                let origin = FieldOrigin::Flow { name: own.to_string(), sampled: true };
                (TracedInput::of_program(case, own)?, origin)
            }
        };
        geometry::check_longitude(case, origin.series())?;
        let mut clock = SharedClock::default();
        origin.series().map_or(Ok(()), |series| clock.add(series))?;
        let (traced, added) = added::add(case, (traced, &origin), &mut clock, measures)?;
        let traced = mixed(case, traced, origin.series())?;
        let traced = along::with_derived(case, traced, origin.series())?;
        let sampled = sampled::open(case, (traced.frames(), origin.series()), clock)?;
        Ok(OpenFields { traced, origin, added, sampled })
    }

    fn sizes(&self, case: &Case) -> memory::FieldSizes {
        let precision = case.run.precision;
        let is_in_degrees = geometry::geometry(case, self.origin.series()).is_some();
        let traced = self.traced.frames();
        let others = self.sampled.iter().map(|other| &other.input);
        let arrays = traced.into_iter().chain(others.clone()).flat_map(FieldInput::arrays);
        memory::FieldSizes {
            traced: traced.map(|input| input.size(is_in_degrees, precision)).unwrap_or_default(),
            components: arrays.map(|array| array.components).sum(),
            times: memory::times(case, self.origin.series()),
            // Without velocities.
            sampled: others.map(|input| input.size(false, precision)).collect(),
        }
    }
}

/// The traced field with the diffusivity that follows from it, if the case asks for one.
fn mixed(case: &Case, traced: TracedInput, series: Option<&io::SeriesInfo>) -> Result<TracedInput> {
    let Some(mixing) = motion::mixing(case) else { return Ok(traced) };
    match traced {
        TracedInput::Frames(input) => {
            Ok(TracedInput::Frames(input.mixed(mixing, geometry::geometry(case, series))?))
        }
        TracedInput::Formula(..) | TracedInput::Own(_) => Err(Misuse::error(format!(
            "{} needs a field on a grid, and this one is a formula or a function; give field.sample = {{ nodes = [nx, ny, nz] }}",
            mixing.1
        ))),
    }
}

/// The sizes of the fields of a case, without loading their frames. Relative file names are resolved in
/// `base`.
pub fn sizes(case: &Case, console: &dyn Console) -> Result<memory::FieldSizes> {
    Ok(OpenFields::open(case, console, false)?.sizes(case))
}

/// Loads the fields of a case onto a device.
pub fn field(case: &Case, device: &OpenDevice, console: &dyn Console) -> Result<LoadedField> {
    if case.run.precision == Precision::F64 && !device.has_f64 {
        return Err(Misuse::error(format!(
            "run.precision is \"f64\", which the device `{}` does not support; use \"f32\", or run.device = \"flex\"",
            device.name
        )));
    }
    let (start, before) = (Instant::now(), ReadTotals::now());
    let fields = OpenFields::open(case, console, true)?;
    let sizes = fields.sizes(case);
    let frames = memory::frames(case, &sizes, device)?;
    let open_seconds = start.elapsed().as_secs_f64();
    let OpenFields { traced, origin, added, sampled } = fields;
    traced.check(case, device, console)?;
    let options_of = |frames| options(case, frames, origin.series());
    let loaded = traced.load(&options_of(frames.traced), device);
    let loaded = loaded.map_err(|error| named(error, origin.files()));
    let (counts, field) = loaded?;
    let other_options = options_of(frames.sampled);
    let load = |other: SampledInput| other.load(&device.device, &other_options);
    let sampled = sampled.into_iter().map(load).collect::<Result<_>>()?;
    let read_seconds = open_seconds + ReadTotals::now().seconds - before.seconds;
    // During a run, another thread reads the frames.
    let upload_seconds = (start.elapsed().as_secs_f64() - read_seconds).max(0.0);
    if case.is_on_mesh() {
        console.say("", &format!("read in {read_seconds:.3} s, arranged in {upload_seconds:.3} s"));
    }
    let description = FieldDescription { origin, counts };
    let mut json = description.json()?;
    if !added.is_empty() {
        json["added"] = added.iter().map(|added| added.json.clone()).collect();
    }
    Ok(LoadedField {
        field,
        description,
        json,
        read_seconds,
        upload_seconds,
        added,
        sampled,
        sizes,
        frames,
        before: (before.bytes, 0.0),
    })
}

/// An error of a frame or a mesh, with the name of its file.
pub(super) fn named(error: burntrace_core::Error, files: &[PathBuf]) -> anyhow::Error {
    match file_of(files, &error) {
        Some(file) => {
            let file = file.display().to_string();
            Misuse::error(format!("{file}: {}", errors::chain(&error.into())))
        }
        None => Misuse::of(error),
    }
}

fn open_files(case: &Case, files: io::Files) -> Result<(FieldInput, FieldOrigin)> {
    let (options, interpolation) = (series_options(case), case.field.interpolation.clone());
    let files = FieldFiles { files, options, interpolation };
    let own = |velocity: &_, arrays: &[_]| sampled::own(case, velocity, arrays);
    let (input, info) = files.open(own, |grid| periodic_axes(case, Some(grid.info())))?;
    geometry::check_radius(case, &info)?;
    geometry::check_land(case, &info)?;
    if let FieldInput::Mesh(mesh, _) = &input {
        motion::check_cells(case, mesh.placement())?;
    }
    Ok((input, origin(info, case)))
}

/// The mesh of the field of a case, without its velocities. `None` if the field is not on a mesh. Relative
/// file names are resolved in `base`.
pub fn mesh(case: &Case) -> Result<Option<io::MeshSeries>> {
    match &case.field.source {
        FieldSource::Files { files } if case.is_on_mesh() => {
            let files = files.clone();
            io::MeshSeries::open(files, &series_options(case)).map(Some).map_err(Misuse::of)
        }
        _ => Ok(None),
    }
}

/// Refuses keys that the interpolation cannot use.
pub(super) fn check_keys(case: &Case) -> Result<()> {
    let field = &case.field;
    // Those of meshes of ocean models are checked when their files are opened.
    let is_mesh = case.is_on_mesh();
    let is_box = field.crop.is_some() && (field.crop == Some(GivenCrop::Auto) || !is_mesh);
    let is_part = is_box || field.options.every.is_some();
    let of_grids = [
        ("field.periodic_axes needs", "it", !field.periodic_axes.is_empty()),
        ("field.crop and field.every need", "them", is_part),
        ("field.mask needs", "it", field.options.mask.is_some() && !is_mesh),
    ];
    let unused = of_grids.iter().find(|(.., is_given)| *is_given);
    if let (Some((need, them, _)), true) = (unused, field.interpolation != Interpolation::Grid) {
        return Err(Misuse::error(format!(
            "{need} interpolation = \"grid\", not {:?}; omit {them}",
            file::name_of(&field.interpolation)
        )));
    }
    if field.options.ignore_hidden && case.is_on_mesh() {
        return Err(Misuse::error(
            "field.ignore_hidden is for grids and points; a mesh leaves hidden cells out: omit the key",
        ));
    }
    Ok(())
}

/// The periodic axes of a grid of files: longitudes around the earth, closed by the case, or with periodic faces,
/// which need a last layer that repeats the first one. A period is the extent of the domain, if the case gives it.
pub(super) fn periodic_axes(
    case: &Case,
    series: Option<&io::SeriesInfo>,
) -> Result<[PeriodicAxis; 3]> {
    let mut axes = geometry::faces(case, series).map(|of_axis| match of_axis.map(Into::into) {
        [BoundaryCondition::Periodic, BoundaryCondition::Periodic] => PeriodicAxis::Repeated,
        _ => PeriodicAxis::Open,
    });
    for axis in &case.field.periodic_axes {
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
    if let Some(closed) = series.and_then(|series| geometry::closed_longitudes(series.geometry)) {
        axes[0] = closed;
    }
    Ok(axes)
}

/// The files of a field and how they are used.
pub(super) fn origin(info: io::SeriesInfo, case: &Case) -> FieldOrigin {
    let in_cells = |velocity: &io::series::VelocityInfo| velocity.association == Association::Cell;
    let cell_velocity = match case.field.interpolation {
        Interpolation::Mesh { cell_velocity, .. }
            if info.velocity.as_ref().is_some_and(in_cells) =>
        {
            Some(cell_velocity)
        }
        _ => None,
    };
    let interpolation = file::name_of(&case.field.interpolation);
    FieldOrigin::Files { info: Box::new(info), interpolation, cell_velocity }
}

/// The options for reading the files of a case.
pub(super) fn series_options(case: &Case) -> io::SeriesOptions {
    io::SeriesOptions {
        other_cells: case.field.interpolation.other_cells(),
        faces: patches::faces(case),
        longitudes: case.domain.low.zip(case.domain.high).map(|(low, high)| [low[0], high[0]]),
        ..case.field.series_options()
    }
}

pub(super) fn options(
    case: &Case,
    frames: Frames,
    series: Option<&io::SeriesInfo>,
) -> FieldOptions {
    let field = &case.field;
    FieldOptions {
        precision: case.run.precision,
        outside_time: field.outside_time,
        in_time: field.in_time,
        not_finite: geometry::not_finite(case, series),
        slip: field.slip.unwrap_or_default(),
        land_value: field.land_value.filter(|_| !case.is_on_mesh()),
        radius: geometry::geometry(case, series),
        frames,
        memory: Some(memory::available(case)),
    }
}
