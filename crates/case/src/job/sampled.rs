//! The arrays of a case that are sampled along the tracks, and the fields that they are from.

use super::{
    along,
    field::{self, LoadedField, named},
    geometry, inertia,
    input::{FieldFiles, FieldInput},
};
use crate::file::{Case, FieldSource, Interpolation, Misuse, SampledArray};
use anyhow::Result;
use burn::tensor::Device;
use burntrace_core::{
    FLOW_MAP_GRADIENT, Field, FieldArray, FieldOptions, GridSource, PeriodicAxis, Placement,
};
use burntrace_io as io;
use burntrace_io::{
    NamedArray,
    series::{ArrayEntry, Association, Clock, FileContents, Kind, VelocityInfo},
};
use std::path::PathBuf;

/// A field that is sampled and not traced, of which no frame has been read.
pub struct SampledInput {
    names: Vec<String>,
    /// The files of its frames.
    files: Vec<PathBuf>,
    notes: Vec<String>,
    conversions: Vec<String>,
    pub input: FieldInput,
}

/// A field that is sampled and not traced.
pub struct SampledField {
    names: Vec<String>,
    /// The files of its frames.
    pub files: Vec<PathBuf>,
    /// What of the files is converted, assumed or not used.
    pub notes: Vec<String>,
    /// Those of the notes that say how the files are read by their own attributes.
    pub conversions: Vec<String>,
    pub field: Box<dyn Field>,
}

impl SampledInput {
    /// Loads the field onto a device.
    pub fn load(self, device: &Device, options: &FieldOptions) -> Result<SampledField> {
        let SampledInput { names, files, notes, conversions, input } = self;
        let (_, field) = input.load(device, options).map_err(|error| named(error, &files))?;
        Ok(SampledField { names, files, notes, conversions, field })
    }
}

impl SampledField {
    /// The same field on another device, as it is there.
    pub fn with_field(&self, field: Box<dyn Field>) -> Self {
        let (names, files) = (self.names.clone(), self.files.clone());
        let (notes, conversions) = (self.notes.clone(), self.conversions.clone());
        SampledField { names, files, notes, conversions, field }
    }
}

/// Refuses names that results cannot have.
pub fn check(case: &Case) -> Result<()> {
    along::check(case)?;
    let named = |request: &SampledArray| FieldArray::new(&request.name, 1);
    let arrays: Vec<FieldArray> = case.save.fields.iter().map(named).collect();
    if arrays.iter().any(|array| array.name == FLOW_MAP_GRADIENT) {
        return Err(Misuse::error(format!(
            "save.fields: `{FLOW_MAP_GRADIENT}` is the name of the gradient of the flow map; give another one with \
             the key `name`"
        )));
    }
    let needed = inertia::arrays(case);
    let is_other = |of: &&SampledArray| {
        needed.contains(&of.name)
            && (of.array != of.name || of.files.is_some() || of.prefer.is_some())
    };
    if let Some(other) = case.save.fields.iter().find(is_other) {
        return Err(Misuse::error(format!(
            "save.fields: `{}` is an array of motion.turbulence, and another one here; give this one another name with the key `name`",
            other.name
        )));
    }
    let fail = |error| Misuse::error(format!("save.fields: {error}"));
    io::tracks::check_names(&arrays).map_err(fail)
}

/// The arrays to sample from the files of the velocity that have its association: they are arrays of the
/// field that is traced. Those that the motion needs, too.
pub fn own(case: &Case, velocity: &VelocityInfo, arrays: &[ArrayEntry]) -> Vec<NamedArray> {
    let requests = case.save.fields.iter().filter(|request| {
        request.files.is_none()
            && request.prefer.is_none_or(|prefer| prefer == velocity.association)
            && has(arrays, &request.array, velocity.association)
    });
    let mut named: Vec<NamedArray> = requests.map(SampledArray::named).collect();
    for array in inertia::arrays(case) {
        let is_known = named.iter().any(|known| known.name == array);
        if !is_known && has(arrays, &array, velocity.association) {
            named.push(NamedArray { name: array.clone(), array });
        }
    }
    along::add_needed(case, (arrays, velocity.association), &mut named);
    named
}

/// Opens the fields of the arrays that the traced field does not have. `series` are the files of the traced one.
pub fn open(
    case: &Case,
    (traced, series): (Option<&FieldInput>, Option<&io::SeriesInfo>),
    mut clock: SharedClock,
) -> Result<Vec<SampledInput>> {
    let own = traced.map_or(&[][..], FieldInput::arrays);
    let is_own = |request: &&SampledArray| {
        request.files.is_none() && own.iter().any(|array| array.name == request.name)
    };
    let mut groups: Vec<Group> = Vec::new();
    let is_tally = |request: &&SampledArray| along::tally(request).is_some();
    let others = case.save.fields.iter().filter(|request| !is_own(request) && !is_tally(request));
    for request in others {
        let files = files_of(case, request)?;
        let known = groups.iter().find(|group| group.files == files);
        let contents = match known {
            Some(group) => group.contents.clone(),
            None => io::series::contents(&files).map_err(Misuse::of)?,
        };
        let association = association(request, &contents)?;
        let (are_own, arrays) = (request.files.is_none(), vec![request.named()]);
        let new = Group { files, are_own, contents, association, arrays };
        match groups.iter_mut().find(|group| group.is_like(&new)) {
            Some(group) => group.arrays.extend(new.arrays),
            None => groups.push(new),
        }
    }
    let closed = closed_axes(case, (traced, series))?;
    groups.into_iter().map(|group| group.open(case, (series, closed), &mut clock)).collect()
}

/// The date of time 0, which all files of a case share.
#[derive(Default)]
pub struct SharedClock {
    pub clock: Option<Clock>,
    /// The first file of a source with times from a date, and of one with other times.
    dated: Option<PathBuf>,
    undated: Option<PathBuf>,
}

impl SharedClock {
    /// Adds the times of a source. Those of a single frame without a date do not matter.
    pub fn add(&mut self, series: &io::SeriesInfo) -> Result<()> {
        let first = series.files.first().cloned();
        match &series.clock {
            Some(clock) => {
                self.clock.get_or_insert_with(|| clock.clone());
                self.dated = self.dated.take().or(first);
            }
            None if series.times.len() > 1 => self.undated = self.undated.take().or(first),
            None => {}
        }
        let (Some(dated), Some(undated)) = (&self.dated, &self.undated) else { return Ok(()) };
        Err(Misuse::error(format!(
            "the times of {} are from a date, and those of {} are not, so that they cannot be compared; give the \
             times of all files with a date, or of none (field.ignore_file_times ignores them)",
            dated.display(),
            undated.display()
        )))
    }
}

/// The arrays that a case samples, in its order.
pub fn arrays<'a>(case: &Case, loaded: &'a LoadedField) -> Vec<burntrace_core::SampledArray<'a>> {
    let array = |request: &SampledArray| {
        let other = loaded.sampled.iter().find(|other| other.names.contains(&request.name));
        let field = other.map_or(&*loaded.field, |other| &*other.field);
        burntrace_core::SampledArray { name: request.name.clone(), field }
    };
    let tallies = along::tallies(case, &*loaded.field);
    let is_tally = |request: &&SampledArray| tallies.iter().any(|of| of.name == request.name);
    case.save.fields.iter().filter(|request| !is_tally(request)).map(array).collect()
}

/// Arrays of one association in the same files.
struct Group {
    files: io::Files,
    /// Whether these are the files of the velocity.
    are_own: bool,
    /// The content of the first file.
    contents: FileContents,
    association: Association,
    arrays: Vec<NamedArray>,
}

impl Group {
    /// Whether another group differs in its arrays only.
    fn is_like(&self, other: &Group) -> bool {
        self.files == other.files
            && self.are_own == other.are_own
            && self.association == other.association
    }

    fn open(
        self,
        case: &Case,
        (traced, closed): (Option<&io::SeriesInfo>, [Option<ClosedAxis>; 3]),
        clock: &mut SharedClock,
    ) -> Result<SampledInput> {
        let is_on_files = matches!(case.field.source, FieldSource::Files { .. });
        let own = is_on_files.then_some(&case.field.interpolation);
        let files = FieldFiles {
            options: io::SeriesOptions {
                clock: clock.clock.clone(),
                longitudes: traced.and_then(|of| of.axes.first()).map(|axis| [axis.low, axis.high]),
                ..self.options(case)
            },
            interpolation: interpolation_of(self.contents.kind, own),
            files: self.files,
        };
        let (input, info) =
            files.open(|_, _| Vec::new(), |grid| Ok(missing_layers(grid, closed)))?;
        geometry::check_sampled(traced, ("save.fields", &info))?;
        clock.add(&info)?;
        let names = self.arrays.into_iter().map(|array| array.name).collect();
        let io::SeriesInfo { files, notes, conversions, .. } = info;
        Ok(SampledInput { names, files, notes, conversions, input })
    }

    /// Whether the arrays are at the nodes of the grid of the velocity.
    fn is_own_grid(&self) -> bool {
        let is_mesh = matches!(self.contents.kind, Kind::UnstructuredGrid | Kind::PolyData);
        self.are_own && !is_mesh && self.association == Association::Point
    }

    fn options(&self, case: &Case) -> io::SeriesOptions {
        let mut options = io::SeriesOptions {
            velocity: io::VelocityName::None,
            diffusivity: None,
            mask: None,
            prefer: Some(self.association),
            arrays: self.arrays.clone(),
            other_cells: case.field.interpolation.other_cells(),
            ..case.field.series_options()
        };
        if !self.are_own {
            (options.times, options.frames) = (None, io::Frames::default());
        }
        if !self.is_own_grid() {
            (options.crop, options.every) = (None, None);
        }
        options
    }
}

/// An axis that the traced field closes, with its first and last node.
#[derive(Clone, Copy)]
pub struct ClosedAxis {
    axis: PeriodicAxis,
    ends: [f64; 2],
}

/// The axes that the traced field closes.
fn closed_axes(
    case: &Case,
    (traced, series): (Option<&FieldInput>, Option<&io::SeriesInfo>),
) -> Result<[Option<ClosedAxis>; 3]> {
    let (FieldSource::Files { .. }, Some(FieldInput::Grid(grid))) = (&case.field.source, traced)
    else {
        return Ok([None; 3]);
    };
    let axes = field::periodic_axes(case, series)?;
    Ok([0, 1, 2].map(|d| match (axes[d], &grid.axes()[d][..]) {
        (axis @ PeriodicAxis::Closed { .. }, [first, .., last]) => {
            Some(ClosedAxis { axis, ends: [*first, *last] })
        }
        _ => None,
    }))
}

impl ClosedAxis {
    /// Whether nodes end one interval before the traced field does.
    fn lacks_last_layer(&self, nodes: &[f64]) -> bool {
        let [first, .., previous, last] = *nodes else { return false };
        let interval = last - previous;
        let is_near = |a: f64, b: f64| (a - b).abs() < 0.5 * interval;
        is_near(first, self.ends[0]) && is_near(last + interval, self.ends[1])
    }
}

/// The axes of a node grid that lack their last layer. Values in cells fill the period.
fn missing_layers(grid: &io::Series, closed: [Option<ClosedAxis>; 3]) -> [PeriodicAxis; 3] {
    [0, 1, 2].map(|d| match closed[d] {
        Some(closed)
            if grid.placement() == Placement::Nodes && closed.lacks_last_layer(&grid.axes()[d]) =>
        {
            closed.axis
        }
        _ if d == 0 => geometry::closed_longitudes(grid.geometry()).unwrap_or(PeriodicAxis::Open),
        _ => PeriodicAxis::Open,
    })
}

/// The interpolation of the traced field, if it suits files of a kind; else that of the kind.
pub fn interpolation_of(kind: Kind, own: Option<&Interpolation>) -> Interpolation {
    let is_mesh = matches!(kind, Kind::StructuredGrid | Kind::UnstructuredGrid);
    match own {
        Some(own @ (Interpolation::Nearest | Interpolation::InverseDistance { .. })) => {
            return own.clone();
        }
        Some(own @ Interpolation::Mesh { .. }) if is_mesh => return own.clone(),
        _ => {}
    }
    match kind {
        Kind::PolyData => Interpolation::Nearest,
        Kind::UnstructuredGrid => Interpolation::mesh(),
        _ => Interpolation::Grid,
    }
}

/// Whether files have an array of an association.
pub fn has(arrays: &[ArrayEntry], name: &str, on: Association) -> bool {
    arrays.iter().any(|array| array.name == name && array.association == on.to_string())
}

/// The files of an array: its own, or those of the velocity.
fn files_of(case: &Case, request: &SampledArray) -> Result<io::Files> {
    match (&request.files, &case.field.source) {
        (Some(files), _) => Ok(files.clone()),
        (None, FieldSource::Files { files }) => Ok(files.clone()),
        (None, FieldSource::Own(own)) => Err(Misuse::error(format!(
            "save.fields has `{0}`, but the field, {own}, has no array of this name; add it to the field, or give its \
             files, as in {{ array = \"{0}\", files = \"...\" }}",
            request.array
        ))),
        (None, FieldSource::Flow { .. }) => Err(Misuse::error(format!(
            "save.fields has `{0}`, but the field is a formula without arrays; give its files, as in \
             {{ array = \"{0}\", files = \"...\" }}",
            request.array
        ))),
    }
}

/// The association of an array in files; points, if it has both and none is preferred.
fn association(request: &SampledArray, contents: &FileContents) -> Result<Association> {
    let FileContents { path, arrays, .. } = contents;
    let both = [Association::Point, Association::Cell];
    let mut wanted =
        request.prefer.into_iter().chain(both.into_iter().filter(|_| request.prefer.is_none()));
    wanted.find(|on| has(arrays, &request.array, *on)).ok_or_else(|| {
        let known: Vec<String> = arrays
            .iter()
            .map(|array| format!("`{}` ({})", array.name, array.association))
            .collect();
        let on = request.prefer.map_or(String::new(), |on| format!("{on} "));
        Misuse::error(format!(
            "save.fields has `{}`, but {} has no such {on}array; it has {}",
            request.array,
            path.display(),
            known.join(", ")
        ))
    })
}
