//! What occurs in a launch: known when a kernel is compiled for a device.

use crate::{
    FieldShape, GateShape, Obstacle, Outside, Segment, Shape, TimeInterpolation, Walk, WalkScheme,
};

/// What occurs in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Features {
    /// Whether there are obstacles, and whether any is a triangulated surface or land.
    pub bodies: bool,
    pub surfaces: bool,
    pub land: bool,
    /// Whether the field is on a mesh.
    pub mesh: bool,
    /// Whether a walk from cell to cell may lead around a part of a straight path that is outside the mesh.
    pub reentrant: bool,
    /// Whether the first two axes are longitude and latitude on a sphere.
    pub sphere: bool,
    /// Whether the field is a formula.
    pub formula: bool,
    /// Whether the field has a single frame.
    pub steady: bool,
    pub outside: Outside,
    pub in_time: TimeInterpolation,
    /// Whether the field has holes.
    pub holes: bool,
    /// Whether any axis is periodic, so that stages are wrapped.
    pub periodic: bool,
    /// Whether there are gates, and whether any is a triangulated surface.
    pub gates: bool,
    pub gate_surfaces: bool,
    /// Whether slots are re-used.
    pub reuses_slots: bool,
    /// Whether steps are adaptive.
    pub adaptive: bool,
    /// Whether particles have velocities, which a path turns, and whether reflections change speeds.
    pub carries: bool,
    pub bounces: bool,
    /// Whether each particle has a factor of a second velocity.
    pub scaled: bool,
    pub walk: WalkFeatures,
}

/// The random walk of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct WalkFeatures {
    pub is_on: bool,
    pub varies: bool,
    pub is_milstein: bool,
}

impl Features {
    /// The features of a segment in a field.
    pub fn new(shape: &FieldShape, segment: &Segment) -> Self {
        Features {
            mesh: matches!(shape, FieldShape::Mesh(_)),
            reentrant: matches!(shape, FieldShape::Mesh(mesh) if mesh.near_reentrant > 0),
            sphere: shape.radius().is_some(),
            formula: matches!(shape, FieldShape::Formula(_)),
            steady: segment.clock.frame_intervals.is_empty(),
            outside: segment.clock.outside,
            in_time: segment.clock.in_time,
            holes: segment.has_holes,
            periodic: (0..3).any(|axis| segment.boundary.is_periodic(axis)),
            gates: !segment.gates.is_empty(),
            gate_surfaces: segment.gates.iter().any(is_surface),
            reuses_slots: segment.reinjection.is_some(),
            adaptive: segment.adaptive.is_some(),
            carries: segment.inertia.is_some(),
            bounces: segment.inertia.is_some_and(|inertia| inertia.restitution != [1.0; 2]),
            scaled: segment.scaled.is_some(),
            walk: segment.walk.as_ref().map(WalkFeatures::of).unwrap_or_default(),
            ..Features::among(&segment.obstacles)
        }
    }

    /// The features of obstacles alone.
    pub fn among(obstacles: &[Obstacle]) -> Self {
        Features {
            bodies: !obstacles.is_empty(),
            surfaces: obstacles.iter().any(|one| matches!(one.shape, Shape::Surface(_))),
            land: obstacles.iter().any(|one| matches!(one.shape, Shape::Land(_))),
            ..Features::default()
        }
    }
}

impl Features {
    /// Whether a launch has a log.
    pub fn logs(&self) -> bool {
        self.reuses_slots || self.gates
    }
}

fn is_surface(gate: &GateShape) -> bool {
    matches!(gate, GateShape::Region(Shape::Surface(_)))
}

impl WalkFeatures {
    fn of(walk: &Walk) -> Self {
        WalkFeatures {
            is_on: true,
            varies: walk.varies,
            is_milstein: walk.scheme == WalkScheme::Milstein,
        }
    }
}
