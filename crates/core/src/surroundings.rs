//! What surrounds the particles, and where they end.

use crate::{
    BoundaryCondition, Domain, Error, Face, Inlet, Obstacle, Patch, Result, Status, StopCondition,
    tracer::outline,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What surrounds the particles: the domain box with the conditions of its faces, the boundary of a mesh,
/// obstacles and outlets. By default particles exit through all faces of the field's domain and through the
/// boundary of its mesh.
///
/// ```
/// use burntrace_core::{BoundaryCondition, Domain, Face, Surroundings};
///
/// let channel = Surroundings::default()
///     .all_faces(BoundaryCondition::Reflect)
///     .face(Face::XHigh, BoundaryCondition::Exit);
/// assert_eq!(channel.faces[0], [BoundaryCondition::Reflect, BoundaryCondition::Exit]);
/// let open = Surroundings { domain: Some(Domain::unbounded()), ..channel.clone() };
/// assert_ne!(open, channel);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Surroundings {
    /// The domain box to which the face conditions apply, in the data's unit of length; `None` for the field's
    /// domain.
    pub domain: Option<Domain>,
    /// The conditions of the low and the high face along each axis.
    pub faces: [[BoundaryCondition; 2]; 3],
    /// The condition of the boundary of the field's mesh: its outside, and cells that are missing inside. It has
    /// no effect without a mesh.
    pub mesh_wall: BoundaryCondition,
    /// Patches of the mesh boundary with wall conditions of their own; elsewhere `mesh_wall` applies. Where
    /// patches overlap, the first one applies. At most [`MAX_PATCHES`](crate::program::MAX_PATCHES).
    pub patches: Vec<Patch>,
    /// Bodies that particles stay outside of, or vessels that they stay inside. Obstacles are numbered in this
    /// order. In a field on a mesh they stand beside its walls.
    ///
    /// In a domain that is flat along an axis, spheres and boxes extend along the whole axis, and so do
    /// cylinders, whose axis must be parallel to it. Triangulated surfaces need a 3-D domain.
    pub obstacles: Vec<Obstacle>,
    /// The condition at the coast of the field's land, which is [`NotFinite::Land`](crate::NotFinite::Land): by default particles
    /// stick to it, which makes them [`Status::Beached`]. It has no effect without land.
    pub coast: BoundaryCondition,
    /// Exits at which particles are re-injected, at most one for each [`OutletAt`]; those of patches are in
    /// the patches.
    pub outlets: Vec<Outlet>,
    /// Particles end that move slower than this (length per time) in a step, by their mean velocity in it; also
    /// those that walls hold, as in a corner of sliding walls or while the flow presses them against a wall.
    /// Motions shorter than the rounding of positions do not count as slow. 0 to end none.
    pub stagnant_speed: f64,
    /// Conditions that end particles, as [`Status::Stopped`]: the first one that a particle meets.
    pub stop_when: Vec<StopCondition>,
    /// How seeds outside the domain, the mesh or the field are handled.
    pub seeds_outside: SeedsOutside,
}

impl Surroundings {
    /// Whether a position is on the allowed side of all obstacles in a domain, as a function.
    ///
    /// ```
    /// use burntrace_core::{Allowed, BoundaryCondition, Domain, Obstacle, Shape, Surroundings};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let shape = Shape::Sphere { centre: [0.0; 3], radius: 1.0 };
    /// let ball = Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Reflect };
    /// let surroundings = Surroundings { obstacles: vec![ball], ..Surroundings::default() };
    /// let is_allowed = surroundings.allowed_in(&Domain::new([-2.0; 3], [2.0; 3])?)?;
    /// assert!(is_allowed([0.0, 1.5, 0.0]) && !is_allowed([0.0, 0.5, 0.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Obstacle`] for those that cannot be in this domain.
    pub fn allowed_in(
        &self,
        domain: &Domain,
    ) -> Result<impl Fn([f64; 3]) -> bool + Send + Sync + use<>> {
        let in_domain = |obstacle: &Obstacle| {
            let shape = outline(obstacle.shape.clone(), domain).map_err(Error::Obstacle)?;
            match shape.flaw() {
                Some(flaw) => Err(Error::Obstacle(flaw.into())),
                None => Ok(Obstacle { shape, ..obstacle.clone() }),
            }
        };
        let obstacles: Vec<Obstacle> =
            self.obstacles.iter().map(in_domain).collect::<Result<_>>()?;
        Ok(move |position| obstacles.iter().all(|obstacle| obstacle.allows(position, 0.0)))
    }
}

impl Default for Surroundings {
    fn default() -> Self {
        Surroundings {
            domain: None,
            faces: Default::default(),
            mesh_wall: BoundaryCondition::default(),
            patches: Vec::new(),
            obstacles: Vec::new(),
            coast: BoundaryCondition::Stick,
            outlets: Vec::new(),
            stagnant_speed: 0.0,
            stop_when: Vec::new(),
            seeds_outside: SeedsOutside::default(),
        }
    }
}

impl Surroundings {
    /// Sets the same condition at all six faces. A condition other than exit replaces outlets there.
    pub fn all_faces(mut self, condition: BoundaryCondition) -> Self {
        self.set_all(condition);
        self
    }

    /// Sets the condition at one face. One other than exit replaces an outlet there.
    pub fn face(mut self, face: Face, condition: BoundaryCondition) -> Self {
        self.set(face, condition);
        self
    }

    /// Adds an [`Outlet`], instead of an earlier one in the same place, or of the condition of that face.
    pub fn outlet(mut self, at: impl Into<OutletAt>, inlet: Inlet) -> Self {
        self.add_outlet(at.into(), inlet);
        self
    }

    pub(crate) fn set_all(&mut self, condition: BoundaryCondition) {
        Face::ALL.into_iter().for_each(|face| self.set(face, condition));
    }

    pub(crate) fn set(&mut self, face: Face, condition: BoundaryCondition) {
        if condition != BoundaryCondition::Exit {
            self.outlets.retain(|other| other.at != OutletAt::Face(face));
        }
        self.faces[face as usize / 2][face as usize % 2] = condition;
    }

    pub(crate) fn add_outlet(&mut self, at: OutletAt, inlet: Inlet) {
        if let OutletAt::Face(face) = at {
            self.set(face, BoundaryCondition::Exit);
        }
        self.outlets.retain(|other| other.at != at);
        self.outlets.push(Outlet { at, inlet });
    }

    /// The condition at a face.
    pub(crate) fn at(&self, face: Face) -> BoundaryCondition {
        self.faces[face as usize / 2][face as usize % 2]
    }

    /// Whether an outlet re-injects particles.
    pub(crate) fn has_outlet(&self) -> bool {
        !self.outlets.is_empty() || self.patches.iter().any(Patch::is_outlet)
    }

    /// The inlet of each outlet.
    pub(crate) fn inlets(&self) -> impl Iterator<Item = &Inlet> {
        let of_patches = self.patches.iter().filter_map(Patch::inlet);
        self.outlets.iter().map(|outlet| &outlet.inlet).chain(of_patches)
    }
}

/// An exit at which particles are re-injected: a particle that leaves through it ends there. At the same time
/// another one is released at the inlet, in the same slot, and takes the rest of the step.
///
/// The condition of the inlet's own face applies to particles that flow back out through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlet {
    /// Where particles leave.
    pub at: OutletAt,
    /// Where they re-enter.
    pub inlet: Inlet,
}

/// The place of an outlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutletAt {
    /// A face of the domain box, whose condition must be [`BoundaryCondition::Exit`].
    Face(Face),
    /// The mesh boundary, where its condition is [`BoundaryCondition::Exit`].
    Mesh,
    /// All obstacles with the surface [`BoundaryCondition::Exit`].
    Obstacles,
}

impl OutletAt {
    /// The status of particles that leave there.
    pub(crate) fn status(self) -> Status {
        match self {
            OutletAt::Face(face) => Status::Exited(face),
            OutletAt::Mesh => Status::LeftMesh,
            OutletAt::Obstacles => Status::HitObstacle,
        }
    }
}

impl From<Face> for OutletAt {
    fn from(face: Face) -> Self {
        OutletAt::Face(face)
    }
}

/// How seeds outside the domain, the mesh or the field are handled.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedsOutside {
    /// Refuse the run and report their number.
    #[default]
    Error,
    /// Do not release them: their status is `not located`.
    NotLocated,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InletShape, Pattern};
    use BoundaryCondition::{Exit, Reflect};

    #[test]
    fn of_a_condition_and_an_outlet_at_a_face_the_later_one_applies() {
        let inlet = || Inlet::new(InletShape::Face(Face::XLow), Pattern::Lattice).unwrap();
        let state =
            |surroundings: Surroundings| (surroundings.at(Face::XHigh), surroundings.outlets.len());
        let rest = Surroundings::default().all_faces(Reflect);
        let with = rest.clone().outlet(Face::XHigh, inlet());
        assert_eq!((state(rest), state(with.clone())), ((Reflect, 0), (Exit, 1)));
        assert_eq!(with.at(Face::YLow), Reflect);
        assert_eq!(state(with.clone().face(Face::XHigh, Reflect)), (Reflect, 0));
        assert_eq!(state(with.clone().face(Face::XLow, Reflect)), (Exit, 1));
        assert_eq!(state(with.clone().all_faces(Exit)), (Exit, 1));
        let other = with.outlet(OutletAt::Mesh, inlet()).all_faces(Reflect);
        assert_eq!(state(other), (Reflect, 1));
    }
}
