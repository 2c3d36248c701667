//! Meshes of unstructured ocean and atmosphere models: triangles, or wedges between levels, of FVCOM, SCHISM, ICON,
//! and of files with UGRID conventions.

mod build;
mod columns;
mod levels;
mod polygon;
mod topology;
mod variable;

use crate::axis::UnitCheck;
use crate::choose::{by_standard_name, choice};
use crate::grid::Request;
use crate::layout::time_of;
use crate::mesh::{CellShape, CfMesh, Gather, MeshPlacement, Weights, found};
use crate::store::{Dimension, Store, Variable};
use crate::time::TimeAxis;
use crate::units::Quantity;
use crate::{Error, Result};
use build::Built;
use columns::Columns;
use levels::Levels;
use topology::Topology;
use variable::OnMesh;

/// Sides against land, and the bottom.
const COAST: &str = "coast";
/// Sides where the sea goes on.
const OPEN: &str = "open";
/// Sides of which the file does not tell whether they are coast or open.
const SIDES: &str = "sides";
/// The surface of the sea, or the upper end of the atmosphere.
const SURFACE: &str = "surface";

/// The velocities of models, in order of preference.
const VELOCITIES: [&[&str]; 10] = [
    &["u", "v", "ww"],
    &["u", "v", "w"],
    &["u", "v"],
    &["hvel", "vertical_velocity"],
    &["hvel"],
    &["horizontalVelX", "horizontalVelY", "verticalVelocity"],
    &["horizontalVelX", "horizontalVelY"],
    &["ua", "va"],
    &["dahv"],
    &["depthAverageVelX", "depthAverageVelY"],
];

/// Whether nodes or faces are dry at times.
const WET: [&str; 6] =
    ["wet_cells", "wet_nodes", "wetdry_elem", "wetdry_node", "dryFlagElement", "dryFlagNode"];

/// Whether a file has an unstructured mesh: a topology of UGRID, the tables of FVCOM (`nv`), SCHISM or ICON, or
/// positions of cells with `bounds` of three or more corners.
pub fn is_unstructured(store: &dyn Store) -> bool {
    topology::is_in(store)
}

impl CfMesh {
    /// The mesh of an unstructured model in an open file: triangles, or wedges where the velocity has layers, with
    /// the values in cells or at nodes. z of levels is that of the first time, or of a surface at rest; `west` is the
    /// longitude where a turn begins, around the earth.
    ///
    /// # Errors
    ///
    /// If the file has no unstructured mesh or no velocity on it, its levels have no known heights, or units are
    /// unknown.
    pub fn of_unstructured(
        store: &dyn Store,
        request: &Request,
        west: Option<f64>,
    ) -> Result<CfMesh> {
        let mut units = UnitCheck::default();
        let topology = Topology::read(store, &mut units)?;
        let parts = Parts::find(store, request, &topology, &mut units)?;
        let first =
            parts.first().ok_or_else(|| choice(store, "no variable of it is read"))?.clone();
        let levels = Levels::read(store, &first, &topology, &mut units)?;
        let columns = Columns::of(&topology, west, &mut units);
        let is_land = land(store, &first, levels.as_ref(), &topology, &mut units)?;
        let built = Built::of(&topology, &columns, levels.as_ref(), &is_land);
        if built.cells.is_empty() {
            let reason = "no cell has a velocity at its first time; check the file";
            return Err(Error::variable(store.path(), &first.variable.name, reason));
        }
        note_sides(&built, &mut units);
        let places = Places {
            store,
            topology: &topology,
            levels: levels.as_ref(),
            built: &built,
            first: &first,
        };
        let (velocity, diffusivity, arrays) = parts.gather(&places)?;
        let (_, layout) = time_of(store, &first.variable);
        let time = TimeAxis::read(store, &first.variable, &layout, &mut units)?;
        units.check(store)?;
        Ok(CfMesh {
            points: built.points,
            shape: if levels.is_some() { CellShape::Wedge } else { CellShape::Triangle },
            cells: built.cells,
            placement: if first.is_on_faces { MeshPlacement::Cells } else { MeshPlacement::Points },
            is_in_degrees: topology.is_in_degrees,
            global: columns.global,
            boundary: built.boundary,
            time,
            velocity,
            diffusivity,
            arrays,
            turn: None,
            units,
        })
    }
}

/// The variables that are read, and the component of each.
struct Parts {
    velocity: Vec<(OnMesh, usize)>,
    diffusivity: Option<OnMesh>,
    arrays: Vec<OnMesh>,
}

impl Parts {
    fn find(
        store: &dyn Store,
        request: &Request,
        topology: &Topology,
        units: &mut UnitCheck,
    ) -> Result<Parts> {
        let names = match (request.without_velocity, request.velocity.as_slice()) {
            (true, _) => Vec::new(),
            (false, []) => velocity(store, topology)?,
            (false, names) => names.to_vec(),
        };
        let mut part = |name: &String, quantity: Option<Quantity>| {
            let variable = found(store, name)?;
            if let Some(quantity) = quantity {
                units.unit(store, variable, quantity)?;
            }
            OnMesh::of(store, variable, topology)
        };
        let mut parts = Vec::new();
        for name in &names {
            let variable = part(name, Some(Quantity::Speed))?;
            parts.extend((0..variable.components()).map(|component| (variable.clone(), component)));
        }
        let single = |part: OnMesh| match part.components() {
            1 => Ok(part),
            _ => Err(Error::variable(
                store.path(),
                &part.variable.name,
                "it has components, which are not read of it",
            )),
        };
        let diffusivity = request.diffusivity.as_ref();
        let diffusivity =
            diffusivity.map(|name| part(name, Some(Quantity::Diffusivity)).and_then(single));
        let diffusivity = diffusivity.transpose()?;
        let arrays = request.arrays.iter().map(|name| part(name, None).and_then(single));
        let arrays = arrays.collect::<Result<_>>()?;
        match parts.len() {
            2 if parts[0].0.vertical.is_some() => {
                units.notes.push("it has no vertical velocity, and w = 0".into());
            }
            0 | 2 | 3 => {}
            count => {
                let reason = format!(
                    "`{}` have {count} components, and a velocity has two or three",
                    names.join("`, `")
                );
                return Err(choice(store, reason));
            }
        }
        Ok(Parts { velocity: parts, diffusivity, arrays })
    }

    /// The variable whose places are those of the mesh.
    fn first(&self) -> Option<&OnMesh> {
        let velocity = self.velocity.iter().map(|(part, _)| part);
        velocity.chain(&self.diffusivity).chain(&self.arrays).next()
    }

    #[allow(clippy::type_complexity)]
    fn gather(
        &self,
        places: &Places,
    ) -> Result<([Option<Gather>; 3], Option<Gather>, Vec<Gather>)> {
        let mut velocity = [const { None }; 3];
        for (to, (part, component)) in velocity.iter_mut().zip(&self.velocity) {
            *to = Some(places.gather(part, Some(Quantity::Speed), *component)?);
        }
        let diffusivity = self.diffusivity.as_ref();
        let diffusivity =
            diffusivity.map(|part| places.gather(part, Some(Quantity::Diffusivity), 0));
        let arrays = self.arrays.iter().map(|part| places.gather(part, None, 0));
        Ok((velocity, diffusivity.transpose()?, arrays.collect::<Result<_>>()?))
    }
}

/// Finds the velocity on a mesh: by the names that models use, or by `standard_name`.
fn velocity(store: &dyn Store, topology: &Topology) -> Result<Vec<String>> {
    let is_on_mesh = |variable: &&Variable| {
        let is_of = |dimension: &Dimension| {
            *dimension == topology.face_dimension
                || Some(dimension) == topology.node_dimension.as_ref()
        };
        variable.scalar.is_some() && variable.dimensions.iter().any(is_of)
    };
    let all: Vec<&Variable> = store.variables().iter().filter(is_on_mesh).collect();
    let has = |name: &&str| all.iter().any(|variable| variable.name == **name);
    let known = VELOCITIES.iter().find(|names| names.iter().all(|name| has(name)));
    let known = known.map(|names| names.iter().map(|name| (*name).into()).collect());
    known.or_else(|| by_standard_name(&all)).ok_or_else(|| {
        let reason = "it has no variables at nodes or on faces of its mesh that are known as a velocity; name them, as in \
                      `velocity = [\"u\", \"v\", \"w\"]`";
        choice(store, reason)
    })
}

/// Whether each cell is land, layer by layer from the bottom upward: without a velocity at the first time, where levels
/// are flat and the file does not tell which cells are wet.
fn land(
    store: &dyn Store,
    first: &OnMesh,
    levels: Option<&Levels>,
    topology: &Topology,
    units: &mut UnitCheck,
) -> Result<Vec<bool>> {
    let layers = levels.map_or(1, |levels| levels.count - 1);
    let mut is_land = vec![false; layers * topology.triangles.len()];
    let wet = WET.iter().find(|name| store.find(name).is_some());
    if let Some(wet) = wet {
        units
            .notes
            .push(format!("`{wet}` is not used: velocities in dry cells are those of the file"));
    }
    let follows_bottom = levels.is_some_and(|levels| !levels.are_flat);
    let missing = match wet.is_none() && !follows_bottom {
        true => first.first(store, None)?.missing,
        false => None,
    };
    let Some(missing) = missing else { return Ok(is_land) };
    let at = |place: u32, level: usize| {
        let level = levels.map_or(0, |levels| levels.in_file(level, first.levels()));
        missing[first.index(place, level) as usize]
    };
    for (cell, is_land) in is_land.iter_mut().enumerate() {
        let (layer, triangle) = (cell / topology.triangles.len(), cell % topology.triangles.len());
        let ends = if levels.is_some() { layer..layer + 2 } else { 0..1 };
        *is_land = match first.is_on_faces {
            true => at(topology.faces[triangle], layer),
            false => ends
                .into_iter()
                .all(|level| topology.triangles[triangle].iter().all(|node| at(*node, level))),
        };
    }
    let count = is_land.iter().filter(|is_land| **is_land).count();
    if count > 0 {
        units.notes.push(format!(
            "{count} cells without a velocity at the first time are land, and left out"
        ));
    }
    units.notes.push(format!("values of `{}` that are missing are 0", first.variable.name));
    Ok(is_land)
}

fn note_sides(built: &Built, units: &mut UnitCheck) {
    if built.boundary.iter().any(|(name, _)| name == SIDES) {
        units.notes.push(format!(
            "the file does not tell which sides of its mesh are coast and which are open: they are the faces `{SIDES}`"
        ));
    }
}

/// Where the values of the mesh are.
struct Places<'a> {
    store: &'a dyn Store,
    topology: &'a Topology,
    levels: Option<&'a Levels>,
    built: &'a Built,
    first: &'a OnMesh,
}

impl Places<'_> {
    /// How a component of a variable is read at the places of the first one: there, or as the mean of the levels or
    /// corners around a cell.
    fn gather(
        &self,
        part: &OnMesh,
        quantity: Option<Quantity>,
        component: usize,
    ) -> Result<Gather> {
        let layers = self.levels.map_or(1, |levels| levels.count - 1);
        let in_cells = self.first.is_on_faces;
        let is_between = in_cells && self.levels.is_some() && part.levels() == layers + 1;
        let fits = part.levels() == self.first.levels() || is_between || part.vertical.is_none();
        if !fits || (part.is_on_faces && !in_cells) {
            return Err(Error::variable(
                self.store.path(),
                &part.variable.name,
                format!(
                    "its values are at other places than those of {}; name the variables at the same places, as in `velocity = \
                     [\"u\", \"v\"]`: {}",
                    self.first.variable, part.variable
                ),
            ));
        }
        let in_file =
            |level: usize| self.levels.map_or(0, |levels| levels.in_file(level, part.levels()));
        let level = |level: usize| if part.vertical.is_some() { in_file(level) } else { 0 };
        if !in_cells {
            let at = self
                .built
                .at_points
                .iter()
                .map(|[node, of]| part.index(*node, level(*of as usize)));
            return Ok(part.gather(
                quantity,
                component,
                Weights::One { index: at.collect(), sign: 1.0 },
            ));
        }
        let above = if is_between { 2 } else { 1 };
        let mut index = Vec::new();
        for [triangle, layer] in &self.built.in_cells {
            let triangle = *triangle as usize;
            for of in *layer as usize..*layer as usize + above {
                match part.is_on_faces {
                    true => index.push(part.index(self.topology.faces[triangle], level(of))),
                    false => {
                        index.extend(
                            self.topology.triangles[triangle]
                                .iter()
                                .map(|node| part.index(*node, level(of))),
                        );
                    }
                }
            }
        }
        let count = above * if part.is_on_faces { 1 } else { 3 };
        let weights = match count {
            1 => Weights::One { index, sign: 1.0 },
            _ => Weights::Mean { count, weights: vec![1.0; index.len()], index },
        };
        Ok(part.gather(quantity, component, weights))
    }
}
