//! Particles with inertia.

/// What particles with inertia in a launch have in common. Each has a velocity, a relaxation time tau, a ratio beta of
/// densities, the Reynolds number of a unit of speed and a fluctuation of the fluid's velocity in its row; see
/// [`Particles`](crate::Particles).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InertialLaunch {
    /// The acceleration of gravity.
    pub gravity: [f64; 3],
    /// The velocity of particles where they are released; `None` for the field's.
    pub initial_velocity: Option<[f64; 3]>,
    /// The parts of the velocity across and along a surface that particles keep when they are reflected.
    pub restitution: [f64; 2],
    /// The factor of the drag a + b Re^p by the Reynolds number Re of the slip, as [a, b, p]; `None` for 1.
    pub drag: Option<[f64; 3]>,
    /// The acceleration by lift times the Reynolds number of a unit of speed, for beta = 1 and a product of 1 of the slip and the vorticity over its root; 0
    /// without lift.
    pub lift: f64,
    /// Whether the fluid's velocity fluctuates.
    pub fluctuates: bool,
    /// Whether beta is 0 for all particles, so that the fluid's acceleration has no effect.
    pub is_heavy: bool,
    /// Whether the field does not depend on time.
    pub is_steady: bool,
}

/// The smallest factor of the drag that a step is linearised with.
pub const MIN_FACTOR: f64 = 1e-3;

/// The part of a step between the points of differences in time.
pub const DIFFERENCE: f64 = 1.0 / 16.0;

/// The points of a difference in time of order 4 within a step, in parts of [`DIFFERENCE`], and twelve times their weights. The
/// weight of the point itself follows, as they add up to 0.
pub fn difference_in_time(part: f64) -> [(f64, f64); 4] {
    let central = [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)];
    let forward = [(1.0, 48.0), (2.0, -36.0), (3.0, 16.0), (4.0, -3.0)];
    match part {
        0.0 => forward,
        1.0 => forward.map(|(steps, weight)| (-steps, -weight)),
        _ => central,
    }
}
