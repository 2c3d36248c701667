//! The frames of a field of any kind: opened, then loaded onto a device.

use super::{
    along,
    description::{CellCounts, FieldCounts, NodeCount},
    field::named,
    flow,
    geometry::closed_longitudes,
    interpolation,
};
use crate::{
    console::Console,
    file::{self, Case, Interpolation, MakeField, Misuse, OwnField},
};
use burn::tensor::Device;
use burntrace_core::{
    Addend, Analytic, CellVelocity, Derived, Difference, Diffused, Domain, Field, FieldArray,
    FieldOptions, Flow, FrameSource, GridField, GridSource, MeshField, MeshSource, Mixing,
    PeriodicAxis, PeriodicGrid, PointField, PointSource, Precision, Result, Sum, Surroundings,
    Weighting, WithDerived, WithWallDistance, device::OpenDevice, program::FieldSize,
};
use burntrace_io as io;
use burntrace_io::series::{ArrayEntry, VelocityInfo};

/// Files of a field, and how they are read.
pub struct FieldFiles {
    /// The files.
    pub files: io::Files,
    /// How they are read.
    pub options: io::SeriesOptions,
    /// Interpolation in space.
    pub interpolation: Interpolation,
}

impl FieldFiles {
    /// Opens the files, and describes them. `own` names arrays beside those of the options, `axes` the periodic axes
    /// of a grid.
    pub fn open(
        self,
        own: impl FnOnce(&VelocityInfo, &[ArrayEntry]) -> Vec<io::NamedArray>,
        axes: impl FnOnce(&io::Series) -> anyhow::Result<[PeriodicAxis; 3]>,
    ) -> anyhow::Result<(FieldInput, io::SeriesInfo)> {
        macro_rules! open {
            ($series:ty) => {{
                let series = <$series>::open(self.files, &self.options).map_err(Misuse::of)?;
                let own = own(series.velocity(), &series.info().arrays);
                let series = series.with_arrays(&own).map_err(Misuse::of)?;
                (series.info().clone(), series)
            }};
        }
        Ok(match self.interpolation {
            Interpolation::Grid => {
                let (info, series) = open!(io::Series);
                let axes = axes(&series)?;
                let grid = PeriodicGrid::new(series, axes).map_err(Misuse::of)?;
                (FieldInput::Grid(Box::new(grid)), info)
            }
            Interpolation::Mesh { cell_velocity, .. } => {
                let (info, series) = open!(io::MeshSeries);
                (FieldInput::Mesh(Box::new(series), cell_velocity), info)
            }
            weights @ (Interpolation::Nearest | Interpolation::InverseDistance { .. }) => {
                let (info, series) = open!(io::PointSeries);
                let weighting = interpolation::weighting(&weights, series.positions().len());
                (FieldInput::Points(Box::new(series), weighting), info)
            }
        })
    }

    /// Opens files that are added to a field or sampled beside it: only longitudes around the earth are periodic.
    pub fn open_added(self) -> anyhow::Result<(FieldInput, io::SeriesInfo)> {
        let axes = |grid: &io::Series| {
            let x = closed_longitudes(grid.geometry()).unwrap_or(PeriodicAxis::Open);
            Ok([x, PeriodicAxis::Open, PeriodicAxis::Open])
        };
        self.open(|_, _| Vec::new(), axes)
    }

    /// Loads the arrays of the options onto a device.
    pub fn load(self, device: &Device, options: &FieldOptions) -> anyhow::Result<Box<dyn Field>> {
        let (input, info) = self.open_added()?;
        let loaded = input.load(device, options);
        Ok(loaded.map_err(|error| named(error, &info.files))?.1)
    }
}

/// The frames of a field, of which no one has been read.
pub enum FieldInput {
    Grid(Box<dyn GridSource + Send>),
    Mesh(Box<dyn MeshSource + Send>, CellVelocity),
    Points(Box<dyn PointSource + Send>, Weighting),
}

impl FieldInput {
    /// The size of the field, whose positions are lengths or degrees.
    pub fn size(&self, is_in_degrees: bool, precision: Precision) -> FieldSize {
        match self {
            FieldInput::Grid(source) => FieldSize::grid(&**source, is_in_degrees, precision),
            FieldInput::Mesh(source, _) => FieldSize::mesh(&**source, is_in_degrees, precision),
            FieldInput::Points(source, _) => FieldSize::points(&**source, precision),
        }
    }

    /// The arrays that are sampled.
    pub fn arrays(&self) -> &[FieldArray] {
        match self {
            FieldInput::Grid(source) => source.arrays(),
            FieldInput::Mesh(source, _) => source.arrays(),
            FieldInput::Points(source, _) => source.arrays(),
        }
    }

    /// The sum of the field, which is loaded with these options, and others. With `measures`, what the interpolation between the
    /// nodes of the field changes of each of them.
    pub fn plus(
        self,
        others: Vec<(Box<dyn Field>, Addend)>,
        options: &FieldOptions,
        measures: bool,
    ) -> Result<(Self, Vec<Difference>)> {
        Ok(match self {
            FieldInput::Grid(source) => {
                let (sum, found) = plus(Sum::on_grid(source, options)?, others, measures)?;
                (FieldInput::Grid(Box::new(sum)), found)
            }
            FieldInput::Mesh(source, in_cells) => {
                let sum = Sum::on_mesh(source, options, in_cells)?;
                let (sum, found) = plus(sum, others, measures)?;
                (FieldInput::Mesh(Box::new(sum), in_cells), found)
            }
            FieldInput::Points(source, weighting) => {
                let sum = Sum::on_points(source, options, weighting)?;
                let (sum, found) = plus(sum, others, measures)?;
                (FieldInput::Points(Box::new(sum), weighting), found)
            }
        })
    }

    /// The field with a diffusivity that follows from it, which a key of the case gives.
    pub fn mixed(self, (mixing, key): (Mixing, &str), radius: Option<f64>) -> anyhow::Result<Self> {
        match self {
            FieldInput::Grid(source) => {
                let mixed = Diffused::new(source, mixing, radius).map_err(Misuse::of)?;
                Ok(FieldInput::Grid(Box::new(mixed)))
            }
            FieldInput::Mesh(source, in_cells) => {
                let mixed = Diffused::on_mesh(source, mixing, radius).map_err(Misuse::of)?;
                Ok(FieldInput::Mesh(Box::new(mixed), in_cells))
            }
            FieldInput::Points(..) => Err(Misuse::error(format!(
                "{key} needs a field on a grid or a mesh; give walk.diffusivity, or name an array as field.diffusivity"
            ))),
        }
    }

    /// The field with arrays that follow from it.
    pub fn with_derived(self, wanted: &[Derived], radius: Option<f64>) -> anyhow::Result<Self> {
        match self {
            FieldInput::Grid(source) => {
                let derived = WithDerived::on_grid(source, wanted, radius).map_err(Misuse::of)?;
                Ok(FieldInput::Grid(Box::new(derived)))
            }
            FieldInput::Mesh(source, in_cells) => {
                let derived = WithDerived::on_mesh(source, wanted, radius).map_err(Misuse::of)?;
                Ok(FieldInput::Mesh(Box::new(derived), in_cells))
            }
            FieldInput::Points(..) => Err(Misuse::error(format!(
                "`{}` follows from differences of a field on a grid or a mesh, and this one is on points; use an array of the files",
                wanted.first().map(ToString::to_string).unwrap_or_default()
            ))),
        }
    }

    /// The corners of the box of its nodes.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let of_points = |points: &[[f64; 3]]| {
            let end = |choose: fn(f64, f64) -> f64, open: f64| {
                points.iter().fold([open; 3], |end, p| [0, 1, 2].map(|d| choose(end[d], p[d])))
            };
            [end(f64::min, f64::INFINITY), end(f64::max, f64::NEG_INFINITY)]
        };
        match self {
            FieldInput::Grid(source) => {
                let ends = source.axes().each_ref().map(|axis| [axis[0], axis[axis.len() - 1]]);
                [0, 1].map(|end| ends.map(|of_axis| of_axis[end]))
            }
            FieldInput::Mesh(source, _) => of_points(source.points()),
            FieldInput::Points(source, _) => of_points(source.positions()),
        }
    }

    /// The field with the distance to the nearest wall as an array.
    pub fn with_wall_distance(self, surroundings: &Surroundings) -> Result<Self> {
        Ok(match self {
            FieldInput::Grid(source) => {
                FieldInput::Grid(Box::new(WithWallDistance::on_grid(source, surroundings)?))
            }
            FieldInput::Mesh(source, in_cells) => {
                let with = WithWallDistance::on_mesh(source, surroundings)?;
                FieldInput::Mesh(Box::new(with), in_cells)
            }
            FieldInput::Points(source, weighting) => {
                let with = WithWallDistance::on_points(source, surroundings)?;
                FieldInput::Points(Box::new(with), weighting)
            }
        })
    }

    /// Loads the field onto a device.
    pub fn load(
        self,
        device: &Device,
        options: &FieldOptions,
    ) -> Result<(FieldCounts, Box<dyn Field>)> {
        Ok(match self {
            FieldInput::Grid(source) => {
                let field = GridField::open(source, device, options)?;
                let (nodes, bytes) = (NodeCount::Grid(field.nodes()), field.bytes());
                (FieldCounts { nodes, cells: None, bytes }, Box::new(field))
            }
            FieldInput::Mesh(source, in_cells) => {
                let field = MeshField::open(source, device, options, in_cells)?;
                let (mesh, bytes) = (field.mesh(), field.bytes());
                let nodes = NodeCount::Points(mesh.points().len());
                let cells = Some(CellCounts::of(mesh));
                (FieldCounts { nodes, cells, bytes }, Box::new(field))
            }
            FieldInput::Points(source, weighting) => {
                let field = PointField::open(source, device, options, weighting)?;
                let (nodes, bytes) = (NodeCount::Points(field.nodes()), field.bytes());
                (FieldCounts { nodes, cells: None, bytes }, Box::new(field))
            }
        })
    }
}

/// The field that is traced.
pub enum TracedInput {
    Frames(FieldInput),
    /// A formula that is evaluated directly.
    Formula(Flow, Domain),
    /// A field that a program makes on the device.
    Own(MakeField),
}

impl TracedInput {
    /// The field of a program, whose frames have the arrays that the case samples from the field.
    pub fn of_program(case: &Case, own: &OwnField) -> anyhow::Result<Self> {
        let arrays = along::of_program(case);
        let input = match (own, &case.field.interpolation) {
            (OwnField::Mesh(make), Interpolation::Mesh { cell_velocity, .. }) => {
                FieldInput::Mesh(make(&arrays), *cell_velocity)
            }
            (
                OwnField::Points(make),
                Interpolation::Nearest | Interpolation::InverseDistance { .. },
            ) => {
                let source = make(&arrays);
                let weighting =
                    interpolation::weighting(&case.field.interpolation, source.positions().len());
                FieldInput::Points(source, weighting)
            }
            (OwnField::Velocity(make), Interpolation::Grid) => {
                return Ok(TracedInput::Own(make.clone()));
            }
            (_, other) => {
                return Err(Misuse::error(format!(
                    "the field has {own}, which field.interpolation = {:?} is not for; give \"mesh\" for a mesh, and \"nearest\" or \"inverse-distance\" for points",
                    file::name_of(other)
                )));
            }
        };
        Ok(TracedInput::Frames(input))
    }

    pub fn frames(&self) -> Option<&FieldInput> {
        match self {
            TracedInput::Frames(input) => Some(input),
            TracedInput::Formula(..) | TracedInput::Own(_) => None,
        }
    }

    /// Refuses a formula that the device cannot evaluate, and notes the size of a mesh.
    pub fn check(
        &self,
        case: &Case,
        device: &OpenDevice,
        console: &dyn Console,
    ) -> anyhow::Result<()> {
        match self {
            TracedInput::Frames(FieldInput::Mesh(mesh, _)) => {
                let (cells, points) = (mesh.cells().len(), mesh.points().len());
                console.say("mesh", &format!("{cells} cells, {points} points"));
                Ok(())
            }
            TracedInput::Frames(_) | TracedInput::Own(_) => Ok(()),
            TracedInput::Formula(..) => flow::check_functions(device, case.run.precision),
        }
    }

    pub fn load(
        self,
        options: &FieldOptions,
        device: &OpenDevice,
    ) -> Result<(Option<FieldCounts>, Box<dyn Field>)> {
        match self {
            TracedInput::Frames(input) => {
                let (counts, field) = input.load(&device.device, options)?;
                Ok((Some(counts), field))
            }
            TracedInput::Formula(flow, domain) => {
                let field =
                    Analytic::new(flow, &device.device, options.precision).with_domain(domain);
                Ok((None, Box::new(field)))
            }
            TracedInput::Own(make) => Ok((None, make(&device.device, options.precision))),
        }
    }
}

/// A sum with further fields; see [`FieldInput::plus`].
fn plus<S: FrameSource>(
    sum: Sum<S>,
    others: Vec<(Box<dyn Field>, Addend)>,
    measures: bool,
) -> Result<(Sum<S>, Vec<Difference>)> {
    let add = |sum: Sum<S>, (field, addend)| sum.with(field, addend);
    let mut sum = others.into_iter().try_fold(sum, add)?;
    let found = if measures { sum.differences()? } else { Vec::new() };
    Ok((sum, found))
}
