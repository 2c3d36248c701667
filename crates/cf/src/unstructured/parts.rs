//! The variables of an unstructured mesh, and how their values are read at its places.

use super::build::Built;
use super::levels::{Levels, Surface};
use super::topology::Topology;
use super::variable::OnMesh;
use crate::axis::UnitCheck;
use crate::choose::{by_standard_name, choice, usual, without_vertical};
use crate::grid::Request;
use crate::mesh::{Gather, Weights, found};
use crate::rest::{AtPoints, Upward, is_omega};
use crate::store::{Dimension, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The variables that are read, and the component of each.
pub(super) struct Parts {
    velocity: Vec<(OnMesh, usize)>,
    diffusivity: Option<OnMesh>,
    arrays: Vec<OnMesh>,
}

impl Parts {
    pub fn find(
        store: &dyn Store,
        (request, follow_levels): (&Request, bool),
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
            2 if parts[0].0.vertical.is_some() && !follow_levels => {
                units.notes.push(without_vertical());
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
    pub fn first(&self) -> Option<&OnMesh> {
        let velocity = self.velocity.iter().map(|(part, _)| part);
        velocity.chain(&self.diffusivity).chain(&self.arrays).next()
    }

    /// What the vertical velocity is.
    ///
    /// # Errors
    ///
    /// If it is through levels that are not sigma, or is to follow them and there is one.
    pub fn upward(
        &self,
        store: &dyn Store,
        follow_levels: bool,
        levels: Option<&Levels>,
    ) -> Result<Upward> {
        let w = self.velocity.get(2).map(|(part, _)| &part.variable);
        let through_levels = match w {
            Some(w) if is_omega(w) => "it is the velocity through sigma levels",
            None if follow_levels => "`follow_levels` is for sigma levels",
            _ if follow_levels => {
                "it is a vertical velocity, and `follow_levels` is for files without one"
            }
            _ => return Ok(Upward::Velocity),
        };
        let is_sigma = levels.is_some_and(|levels| levels.surface.is_some());
        if is_sigma && w.is_none_or(|w| is_omega(w) && !follow_levels) {
            return Ok(Upward::ThroughLevels);
        }
        let name = w.or(self.first().map(|part| &part.variable)).map_or("", |of| &of.name);
        let reason = format!(
            "{through_levels}; omit `follow_levels`, and name the variable of the velocity upward, or two variables, with which w = 0"
        );
        Err(Error::variable(store.path(), name, reason))
    }

    /// The quantity of the first variable.
    pub fn quantity(&self) -> Option<Quantity> {
        match (self.velocity.is_empty(), &self.diffusivity) {
            (false, _) => Some(Quantity::Speed),
            (true, Some(_)) => Some(Quantity::Diffusivity),
            (true, None) => None,
        }
    }

    /// The components of the velocity after the first that are at its places: their number, the variable, and its
    /// component.
    pub fn beside_first(&self) -> impl Iterator<Item = (usize, &OnMesh, usize)> {
        let first = self.velocity.first().map(|(first, _)| first);
        let others = self.velocity.iter().enumerate().skip(1);
        others
            .filter(move |(_, (part, _))| first.is_some_and(|first| first.is_at(part)))
            .map(|(number, (part, component))| (number, part, *component))
    }

    /// How the velocity, the diffusivity and the arrays are read.
    pub fn gather(&self, places: &Places, units: &mut UnitCheck) -> Result<Gathered> {
        let mut velocity = [const { None }; 3];
        for (to, (part, component)) in velocity.iter_mut().zip(&self.velocity) {
            *to = Some(places.gather(part, Some(Quantity::Speed), *component, units)?);
        }
        let diffusivity = self.diffusivity.as_ref();
        let diffusivity = diffusivity
            .map(|part| places.gather(part, Some(Quantity::Diffusivity), 0, units))
            .transpose()?;
        let arrays = self.arrays.iter().map(|part| places.gather(part, None, 0, units));
        Ok((velocity, diffusivity, arrays.collect::<Result<_>>()?))
    }
}

/// The components of the velocity, the diffusivity, and the arrays.
type Gathered = ([Option<Gather>; 3], Option<Gather>, Vec<Gather>);

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
    usual(&all).or_else(|| by_standard_name(&all)).ok_or_else(|| {
        let reason = "it has no variables at nodes or on faces of its mesh that are known as a velocity; name them, as in \
                      `velocity = [\"u\", \"v\", \"w\"]`";
        choice(store, reason)
    })
}

/// Where the values of the mesh are.
pub(super) struct Places<'a> {
    pub store: &'a dyn Store,
    pub topology: &'a Topology,
    pub levels: Option<&'a Levels>,
    pub built: &'a Built,
    pub first: &'a OnMesh,
}

impl Places<'_> {
    /// How a component of a variable is read at the places of the first one: there, or as the mean of the levels or
    /// corners around a cell.
    fn gather(
        &self,
        part: &OnMesh,
        quantity: Option<Quantity>,
        component: usize,
        units: &mut UnitCheck,
    ) -> Result<Gather> {
        self.check(part)?;
        let level = |level: usize| match (self.levels, part.vertical) {
            (Some(levels), Some(_)) => levels.in_file(level, part.levels()),
            _ => 0,
        };
        if !self.first.is_on_faces {
            let at = self.built.at_points.iter();
            let index = at.map(|[node, of]| part.index(*node, level(*of as usize))).collect();
            return Ok(part.gather(quantity, component, Weights::One { index, sign: 1.0 }));
        }
        let above = if self.is_between(part) { 2 } else { 1 };
        let mut index = Vec::new();
        for [triangle, layer] in &self.built.in_cells {
            let (triangle, layer) = (*triangle as usize, *layer as usize);
            let (face, nodes) =
                ([self.topology.faces[triangle]], &self.topology.triangles[triangle]);
            let places = if part.is_on_faces { &face[..] } else { nodes };
            for of in layer..layer + above {
                index.extend(places.iter().map(|place| part.index(*place, level(of))));
            }
        }
        let count = above * if part.is_on_faces { 1 } else { 3 };
        if count == 1 {
            return Ok(part.gather(quantity, component, Weights::One { index, sign: 1.0 }));
        }
        let name = &part.variable.name;
        units.notes.push(format!("`{name}` in a cell is the mean of its {count} values around it"));
        let weights = Weights::Mean { count, weights: vec![1.0; index.len()], index };
        Ok(part.gather(quantity, component, weights))
    }

    /// What vertical velocities in the sea at rest need; `None` if those of the file are such.
    pub fn sea(
        &self,
        upward: Upward,
        has_w: bool,
        units: &mut UnitCheck,
    ) -> Result<Option<AtPoints>> {
        let levels = self.levels.and_then(|levels| Some((levels, levels.surface.as_ref()?)));
        let Some((levels, Surface { elevation })) = levels else { return Ok(None) };
        if upward == Upward::Velocity && (!has_w || elevation.is_none()) {
            return Ok(None);
        }
        if let Some(elevation) = elevation {
            self.check(elevation)?;
        }
        let name = elevation.as_ref().map(|of| of.variable.name.as_str());
        units.note_rest(name, upward, has_w);
        let at = || self.built.at_points.iter();
        let of_surface = |of: &OnMesh| {
            let index = at().map(|[node, _]| of.index(*node, 0)).collect();
            of.gather(Some(Quantity::Length), 0, Weights::One { index, sign: 1.0 })
        };
        let depth = |node: u32| -levels.z(node, 0);
        let by_depth = |[node, level]: [u32; 2]| match depth(node) {
            0.0 => 0.0,
            depth => levels.z(node, level as usize) / depth,
        };
        Ok(Some(AtPoints {
            elevation: elevation.as_ref().map(of_surface),
            depth: at().map(|[node, _]| depth(*node)).collect(),
            by_depth: at().map(|at| by_depth(*at)).collect(),
        }))
    }

    /// Whether a variable is on the levels between the layers of the first one.
    fn is_between(&self, part: &OnMesh) -> bool {
        let is_on_levels = |levels: &Levels| part.levels() == levels.count;
        self.first.is_on_faces && part.vertical.is_some() && self.levels.is_some_and(is_on_levels)
    }

    /// Refuses a variable at other places or times than the first one.
    fn check(&self, part: &OnMesh) -> Result<()> {
        let first = self.first;
        let fits =
            part.levels() == first.levels() || self.is_between(part) || part.vertical.is_none();
        let is_of_times = part.time().is_none_or(|time| Some(time) == first.time());
        let (what, remedy) = match () {
            () if !fits || (part.is_on_faces && !first.is_on_faces) => {
                ("places", "name variables at the same ones, as in `velocity = [\"u\", \"v\"]`")
            }
            () if !is_of_times => ("times", "name variables of the same ones"),
            () => return Ok(()),
        };
        let reason =
            format!("{} is at other {what} than {}; {remedy}", part.variable, first.variable);
        Err(Error::variable(self.store.path(), &part.variable.name, reason))
    }
}
