//! The case file: the sections of a run, with their keys and defaults.

#[macro_use]
mod keys;
mod condition;
mod devices;
mod error;
mod field;
mod flow;
mod gate;
mod inflow;
mod kinds;
mod motion;
mod obstacle;
mod own;
mod patch;
mod read;
mod run;
mod save;
mod schema;
mod seeds;
mod set;
mod times;
mod units;
mod value;

pub use condition::Condition;
pub use devices::DeviceNames;
pub use error::{KeyError, nearest};
pub use field::{AxisName, Field, FieldSource, GivenCrop, Interpolation, Sample};
pub use flow::{Definition, GivenFlow, OwnFormula};
pub use gate::{Gate, GateShape};
pub use inflow::{Burst, Inlet, InletShape, Source, SourceRate};
pub use kinds::name_of;
pub use motion::{
    Diameter, Diffusivity, Drag, DragLaw, InitialVelocity, LogNormal, Motion, MotionKind,
    PerParticle, Profile, Released, RosinRammler, SizeTable, Trace, Turbulence, Walk,
};
pub use obstacle::{Obstacle, ObstacleShape};
pub use own::{MakeField, OwnField};
pub use patch::Patch;
pub use read::{Misuse, from_table, from_text, read};
pub use run::{AtOnce, MemoryLimit, Run, or_auto};
pub use save::{Longitude, Reporting, SampledArray, Save, VtkOutput};
pub use schema::json_schema;
pub use seeds::{PatchDensity, Repeat, SeedPlacement, SeedShape, Seeds};
pub use set::Assignment;
pub use times::{GivenTime, is_seconds, length};
pub use units::Units;

use burntrace_io::series::{LandMask, MaskFile};
use keys::{Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path as FilePath, PathBuf};
use toml::Table;

/// The case that `burntrace init` prints, with comments; its values are the defaults.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The cases of `burntrace init --for`, with the usual keys for a kind of field: on a mesh.
pub const MESH_TEMPLATE: &str = include_str!("template_mesh.toml");
/// On a grid.
pub const GRID_TEMPLATE: &str = include_str!("template_grid.toml");
/// At scattered points.
pub const POINTS_TEMPLATE: &str = include_str!("template_points.toml");

/// A case of burntrace.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields, extend("required" = ["field"]))]
pub struct Case {
    /// The velocity field, and further ones whose velocities are added.
    #[serde(serialize_with = "field::write")]
    #[schemars(schema_with = "schema::one_or_several::<Field>")]
    pub field: Field,
    /// The domain box; default: the bounds of the field.
    pub domain: Domain,
    /// Conditions at the faces of the domain and at the boundary of a mesh.
    pub boundary: Boundary,
    /// Patches of a mesh boundary, each with a condition of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::one_or_several::<Patch>")]
    pub patch: Vec<Patch>,
    /// Solid bodies, and vessels around the particles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::one_or_several::<Obstacle>")]
    pub obstacle: Vec<Obstacle>,
    /// Surfaces and regions whose crossings are noted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::one_or_several::<Gate>")]
    pub gate: Vec<Gate>,
    /// Re-injection of particles that left through an outlet.
    pub inlet: Option<Inlet>,
    /// Sources of particles during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::one_or_several::<Source>")]
    pub source: Vec<Source>,
    /// Blocks of seeds, which add up.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "seeds::write")]
    #[schemars(schema_with = "schema::one_or_several::<Seeds>")]
    pub seeds: Vec<Seeds>,
    /// The steps of the run.
    pub trace: Trace,
    /// The motion of particles with inertia; by default they move with the field.
    pub motion: Option<Motion>,
    /// A random walk, added to the motion with the field.
    pub walk: Option<Walk>,
    /// What the run saves, and when.
    pub save: Save,
    /// The units of lengths and times, for labels; nothing is converted.
    #[serde(skip_serializing_if = "is_default")]
    pub units: Units,
    /// The device, the folder and the memory of the run.
    pub run: Run,
    /// Warnings about keys that have no effect.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Whether it was read with durations, which are seconds.
    #[serde(skip)]
    pub has_durations: bool,
}

/// Whether a section is equal to an omitted one.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

section!(Case {
    field: list("field").and_then(Field::joined),
    domain: or_default("domain"),
    boundary: or_default("boundary"),
    patch: list("patch"),
    obstacle: list("obstacle"),
    gate: list("gate"),
    inlet: optional("inlet"),
    source: list("source"),
    seeds: list("seeds"),
    trace: optional("trace").map(Option::unwrap_or_default),
    motion: option("motion"),
    walk: option("walk"),
    save: optional("save").map(Option::unwrap_or_default),
    units: or_default("units"),
    run: or_default("run"),
} notes: Vec::new(), has_durations: false);

impl Case {
    /// Reads a case from its sections, with the current names of keys.
    fn of(table: &Table) -> Result<Self, KeyError> {
        Case::read(&mut Keys::of(table))
    }

    /// The same case, with relative file names resolved in a folder.
    pub fn within(mut self, folder: &FilePath) -> Self {
        let Field { source, added, .. } = &mut self.field;
        let others = added.iter_mut().map(|field| &mut field.source);
        for source in std::iter::once(source).chain(others) {
            if let FieldSource::Files { files } = source {
                *files = files.clone().within(folder);
            }
        }
        for given in &mut self.obstacle {
            if let ObstacleShape::Surface { path, .. } = &mut given.shape {
                *path = folder.join(&*path);
            }
        }
        for given in &mut self.gate {
            if let GateShape::Surface { path, .. } = &mut given.shape {
                *path = folder.join(&*path);
            }
        }
        for sampled in &mut self.save.fields {
            sampled.files = sampled.files.take().map(|files| files.within(folder));
        }
        for given in &mut self.seeds {
            if let SeedShape::Run { path } = &mut given.shape {
                *path = folder.join(&*path);
            }
        }
        self.other_files_mut().for_each(|path| *path = folder.join(&*path));
        self
    }

    /// Files beside those of fields: of the points of seeds and inlets, of the mask of land, and of corners of cells.
    pub fn other_files(mut self) -> Vec<PathBuf> {
        self.other_files_mut().map(std::mem::take).collect()
    }

    fn other_files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let Field { options, added, .. } = &mut self.field;
        let options = std::iter::once(options).chain(added.iter_mut().map(|of| &mut of.options));
        let of_fields = options.flat_map(|options| {
            let of_mask = match &mut options.mask {
                Some(LandMask::Other(MaskFile { files, .. })) => Some(files),
                Some(LandMask::Own(_)) | None => None,
            };
            let of_corners = options.corners.iter_mut().flat_map(|of| &mut of.files);
            of_mask.into_iter().chain(of_corners)
        });
        let of_seeds = self.seeds.iter_mut().filter_map(|seeds| match &mut seeds.shape {
            SeedShape::File { path } => Some(path),
            _ => None,
        });
        let of_sources = self.source.iter_mut().map(|source| &mut source.inlet);
        let inlets = self.inlet.iter_mut().chain(of_sources);
        let of_inlets = inlets.filter_map(|inlet| match &mut inlet.shape {
            InletShape::File { path } => Some(path),
            _ => None,
        });
        of_seeds.chain(of_inlets).chain(of_fields)
    }

    /// Whether the field is on a mesh.
    pub fn is_on_mesh(&self) -> bool {
        matches!(self.field.interpolation, Interpolation::Mesh { .. })
    }
}

/// The domain box.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    /// Minimum corner `[x, y, z]`; default: that of the field.
    pub low: Option<[f64; 3]>,
    /// Maximum corner `[x, y, z]`; default: that of the field.
    pub high: Option<[f64; 3]>,
}

/// Conditions at the low and the high face of each axis, and at the boundary of a mesh.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    /// Conditions at the low and the high face along x, or one for both; default: `"exit"`, or `"periodic"` where the
    /// longitudes of the field are all around the earth.
    #[serde(deserialize_with = "condition::given_faces", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "condition::schema_of_faces")]
    pub x: Option<[Condition; 2]>,
    /// Conditions at the low and the high face along y, or one for both.
    #[serde(deserialize_with = "condition::both_faces")]
    #[schemars(schema_with = "condition::schema_of_faces")]
    pub y: [Condition; 2],
    /// Conditions at the low and the high face along z, or one for both; default: `"exit"`, but `"slide"` at the surface of the
    /// sea, of files in degrees.
    #[serde(deserialize_with = "condition::given_faces", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "condition::schema_of_faces")]
    pub z: Option<[Condition; 2]>,
    /// Condition at the mesh boundary.
    #[serde(deserialize_with = "condition::on_surface")]
    #[schemars(schema_with = "condition::schema_on_surface")]
    pub mesh: Condition,
    /// Condition at the coast of land.
    #[serde(deserialize_with = "condition::at_coast")]
    #[schemars(schema_with = "condition::schema_at_coast")]
    pub coast: Condition,
}

impl Default for Boundary {
    fn default() -> Self {
        let (mesh, y) = (Condition::default(), [Condition::default(); 2]);
        let coast = Condition::Of(burntrace_core::BoundaryCondition::Stick);
        Boundary { x: None, y, z: None, mesh, coast }
    }
}
