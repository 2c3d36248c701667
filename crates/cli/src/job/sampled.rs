//! The arrays of a case that are sampled along the tracks, and the fields that they are from.

use super::{
    field::{LoadedField, field_options},
    interpolation,
};
use crate::case::{Case, FieldSource, FileField, Interpolation, Misuse, SampledArray};
use anyhow::Result;
use burntrace::{
    CellVelocity, Field, FieldArray, FieldOptions, FieldSize, GridField, MeshField, PointField,
    PointSource, Precision, Tracer,
    device::OpenDevice,
    io::{
        self, NamedArray,
        series::{ArrayEntry, Association, Kind, VelocityInfo},
    },
};
use std::path::{Path, PathBuf};

/// A field that is sampled and not traced.
pub struct SampledField {
    names: Vec<String>,
    /// The files of its frames.
    pub files: Vec<PathBuf>,
    field: Box<dyn Field>,
}

/// Refuses names that results cannot have.
pub fn check(case: &Case) -> Result<()> {
    let named = |request: &SampledArray| FieldArray::new(&request.name, 1);
    let arrays: Vec<FieldArray> = case.save.fields.iter().map(named).collect();
    let fail = |error| Misuse::error(format!("save.fields: {error}"));
    io::tracks::check_names(&arrays).map_err(fail)
}

/// The arrays to sample from the files of the velocity that have its association: they are arrays of the
/// field that is traced.
pub fn own(case: &Case, velocity: &VelocityInfo, arrays: &[ArrayEntry]) -> Vec<NamedArray> {
    let requests = case.save.fields.iter().filter(|request| {
        request.files.is_none()
            && request.prefer.is_none_or(|prefer| prefer == velocity.association)
            && has(arrays, &request.array, velocity.association)
    });
    requests.map(SampledArray::named).collect()
}

/// The fields of the other arrays. `traced` has the arrays of the traced field.
pub fn others(
    case: &Case,
    base: &Path,
    device: &OpenDevice,
    traced: &dyn Field,
) -> Result<Vec<SampledField>> {
    let is_own = |request: &&SampledArray| {
        let arrays = traced.sampled().map_or(&[][..], |sampled| sampled.arrays());
        request.files.is_none() && arrays.iter().any(|array| array.name == request.name)
    };
    let mut groups: Vec<Group> = Vec::new();
    for request in case.save.fields.iter().filter(|request| !is_own(request)) {
        let files = files_of(case, request)?.within(base);
        let association = association(request, &files)?;
        let (are_own, arrays) = (request.files.is_none(), vec![request.named()]);
        let new = Group { files, are_own, association, arrays };
        match groups.iter_mut().find(|group| group.is_like(&new)) {
            Some(group) => group.arrays.extend(new.arrays),
            None => groups.push(new),
        }
    }
    groups.iter().map(|group| group.load(case, device)).collect()
}

/// Adds the arrays of a case to a tracer, in the order of the case.
pub fn add<'a>(case: &Case, mut tracer: Tracer<'a>, loaded: &'a LoadedField) -> Tracer<'a> {
    for request in &case.save.fields {
        let other = loaded.sampled.iter().find(|other| other.names.contains(&request.name));
        let field = other.map_or(&*loaded.field, |other| &*other.field);
        tracer = tracer.sample(&request.name, field);
    }
    tracer
}

/// Arrays of one association in the same files.
struct Group {
    files: io::Files,
    /// Whether these are the files of the velocity.
    are_own: bool,
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

    fn load(&self, case: &Case, device: &OpenDevice) -> Result<SampledField> {
        let own = match &case.field.source {
            FieldSource::Files(own) => Some(&**own),
            FieldSource::Flow(_) => None,
        };
        let kind = io::series::contents(&self.files).map_err(Misuse::of)?.kind;
        let files = ArrayFiles {
            files: self.files.clone(),
            options: self.options(own),
            interpolation: interpolation_of(kind, own.map(|own| &own.interpolation)),
        };
        let load_options = |size: &FieldSize| field_options(case, size, device);
        let (field, files) = files.load(device, case.run.precision.into(), load_options)?;
        let names = self.arrays.iter().map(|array| array.name.clone()).collect();
        Ok(SampledField { names, files, field })
    }

    fn options(&self, own: Option<&FileField>) -> io::SeriesOptions {
        let other_cells = match own.map(|own| &own.interpolation) {
            Some(Interpolation::Mesh { other_cells, .. }) => other_cells.unwrap_or_default(),
            _ => io::OtherCells::default(),
        };
        io::SeriesOptions {
            time: io::TimeOptions {
                times: own.filter(|_| self.are_own).and_then(|own| own.times.clone()),
                file_dt: own.and_then(|own| own.file_dt),
                ignore_file_times: own.is_some_and(|own| own.ignore_file_times),
            },
            frames: own.filter(|_| self.are_own).and_then(|own| own.frames).unwrap_or_default(),
            velocity: io::VelocityName::None,
            prefer: Some(self.association),
            arrays: self.arrays.clone(),
            ignore_hidden: own.is_some_and(|own| own.ignore_hidden),
            other_cells,
            ..io::SeriesOptions::default()
        }
    }
}

/// Files with arrays, and how they are read; without a velocity.
pub struct ArrayFiles {
    pub files: io::Files,
    pub options: io::SeriesOptions,
    pub interpolation: Interpolation,
}

impl ArrayFiles {
    /// Loads the arrays onto a device, with the options for a field of their size. Also returns the files
    /// of the frames.
    pub fn load(
        self,
        device: &OpenDevice,
        precision: Precision,
        options: impl Fn(&FieldSize) -> Result<FieldOptions>,
    ) -> Result<(Box<dyn Field>, Vec<PathBuf>)> {
        let (files, on) = (self.files, &device.device);
        let paths;
        let field = match self.interpolation {
            Interpolation::Grid {} => {
                let series = io::Series::open(files, &self.options).map_err(Misuse::of)?;
                paths = series.paths().to_vec();
                let options = options(&FieldSize::grid(&series, precision))?;
                GridField::open(Box::new(series), on, &options).map(boxed)
            }
            Interpolation::Mesh { cell_velocity, .. } => {
                let series = io::MeshSeries::open(files, &self.options).map_err(Misuse::of)?;
                paths = series.paths().to_vec();
                let options = options(&FieldSize::mesh(&series, precision))?;
                let in_cells: CellVelocity = cell_velocity.unwrap_or_default().into();
                MeshField::open(Box::new(series), on, &options, in_cells).map(boxed)
            }
            interpolation => {
                let series = io::PointSeries::open(files, &self.options).map_err(Misuse::of)?;
                paths = series.paths().to_vec();
                let options = options(&FieldSize::points(&series, precision))?;
                let weighting = interpolation::weighting(&interpolation, series.positions().len());
                PointField::open(Box::new(series), on, &options, weighting).map(boxed)
            }
        };
        Ok((field.map_err(Misuse::of)?, paths))
    }
}

fn boxed(field: impl Field + 'static) -> Box<dyn Field> {
    Box::new(field)
}

/// The interpolation of the traced field, if it suits files of a kind; else that of the kind.
pub fn interpolation_of(kind: Kind, own: Option<&Interpolation>) -> Interpolation {
    match (own, kind) {
        (Some(Interpolation::Nearest {} | Interpolation::InverseDistance { .. }), _)
        | (Some(Interpolation::Mesh { .. }), Kind::StructuredGrid | Kind::UnstructuredGrid) => {
            own.cloned().unwrap_or(Interpolation::Grid {})
        }
        (_, Kind::PolyData) => Interpolation::Nearest {},
        (_, Kind::UnstructuredGrid) => {
            Interpolation::Mesh { cell_velocity: None, other_cells: None }
        }
        _ => Interpolation::Grid {},
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
        (None, FieldSource::Files(own)) => Ok(own.files.clone()),
        (None, FieldSource::Flow(_)) => Err(Misuse::error(format!(
            "save.fields has `{0}`, but the field is a formula without arrays; give its files, as in \
             {{ array = \"{0}\", files = \"...\" }}",
            request.array
        ))),
    }
}

/// The association of an array in files; points, if it has both and none is preferred.
fn association(request: &SampledArray, files: &io::Files) -> Result<Association> {
    let io::series::FileContents { path, arrays, .. } =
        io::series::contents(files).map_err(Misuse::of)?;
    let both = [Association::Point, Association::Cell];
    let mut wanted =
        request.prefer.into_iter().chain(both.into_iter().filter(|_| request.prefer.is_none()));
    wanted.find(|on| has(&arrays, &request.array, *on)).ok_or_else(|| {
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
