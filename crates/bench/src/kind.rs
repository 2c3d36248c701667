//! The workloads: their names and sizes.

use crate::tetrahedra::CUBES;
use burntrace::Derived;

/// Defines the workloads, with their names on the command line and their descriptions.
macro_rules! workloads {
    ($($kind:ident $name:literal $description:literal)*) => {
        /// A workload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum WorkloadKind {
            $(#[doc = $description] $kind,)*
        }

        impl WorkloadKind {
            /// All workloads.
            pub const ALL: &[WorkloadKind] = &[$(WorkloadKind::$kind),*];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(WorkloadKind::$kind => $name,)*
                }
            }

            /// A description in one line.
            pub fn description(self) -> &'static str {
                match self {
                    $(WorkloadKind::$kind => $description,)*
                }
            }
        }
    };
}

workloads! {
    W1 "w1" "185,865 scattered nodes x 40 frames, nearest node, reflecting walls"
    W1Idw "w1-idw" "as w1, with the inverse-distance mean of 8 nodes"
    W1Uneven "w1-uneven" "as w1, with half of the nodes and particles in 1e-4 of the volume"
    W2 "w2" "64^3 grid x 10 frames, trilinear, linear in time"
    W2Sorted "w2-sorted" "64^3 grid x 10 frames, trilinear, seeds in spatial order"
    W2Steady "w2-steady" "64^3 grid, one frame, trilinear"
    W2Saved "w2-saved" "as w2, with every step saved into memory"
    W2Stored "w2-stored" "as w2, with every step saved into a store on the disk"
    W2Axes "w2-axes" "64^3 grid on uneven axes x 10 frames, trilinear"
    Inertial "inertial" "as w2, with heavy particles that have inertia, reflecting faces"
    Sphere "sphere" "as w2, where x and y are longitude and latitude on a sphere"
    W2Many "w2-many" "as w2, with 3,000,000 particles"
    Gates "w2-gates" "as w2, with a plane and a ball in the middle whose crossings are noted"
    Strain "w2-strain" "as w2, with the integral of the shear rate along each track"
    GateStrain "w2-gate-strain" "as w2-strain, with a plane in the middle whose crossings are noted"
    Step "step" "as w2, with an operation after each step, reflecting faces"
    ObstacleSurface "obstacle-surface" "as w2, sliding along a ball of 1,002,252 triangles in the middle"
    W3 "w3" "1,053,696 tetrahedra x 40 frames, linear in space and time"
    W3Double "w3-double" "2,107,392 tetrahedra x 40 frames, of the same size in a box of 2"
    W3Hex "w3-hex" "175,616 hexahedra x 40 frames, trilinear, linear in time"
    W3Mixed "w3-mixed" "87,808 hexahedra and 175,616 wedges x 40 frames, linear in time"
    W3Walls "w3-walls" "as w3, a quarter of the particles at a reflecting boundary"
    Flow "flow" "the double gyre, evaluated at each position"
    Formula "formula" "the flow of w1 to w3 as formulas in text, evaluated at each position"
    W2Gradient "w2-gradient" "as w2, with gradients by the seeds"
    W2GradientValues "w2-gradient-values" "as w2, with gradients by the nodes' velocities"
    W3Gradient "w3-gradient" "as w3, with gradients by the seeds"
    Density "density" "the density of uniform samples in a periodic box on 128^3 nodes; a step is a sample"
}

/// What gradients are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientBy {
    Seeds,
    /// The velocities at the nodes.
    Values,
}

/// Number of nodes of `w1`.
pub const POINTS: usize = 185_865;
/// Number of frames of `w1`.
pub const POINT_FRAMES: usize = 40;
/// Edge of the cube that holds half of the nodes of `w1-uneven`: 1e-4 of the volume.
pub const CLUSTER: f64 = 0.046_415_888;
/// Number of nodes in the mean of `w1-idw`.
pub const NEIGHBOURS: usize = 8;
/// Number of frames of `w3`.
pub const MESH_FRAMES: usize = 40;
/// Number of nodes of `w2` along each axis.
pub const NODES: usize = 64;
/// Number of nodes of `density` along each axis.
pub const DENSITY_NODES: usize = 128;
/// Number of frames of `w2`.
pub const GRID_FRAMES: usize = 10;
/// Default number of seeds of `w1` and `w3` along each axis.
pub const LATTICE: [usize; 3] = [30, 25, 10];
/// Default number of seeds of `w2`.
pub const GRID_SEEDS: usize = 100_000;

impl WorkloadKind {
    /// What its gradients are by, if it has any.
    pub fn gradient(self) -> Option<GradientBy> {
        match self {
            WorkloadKind::W2Gradient | WorkloadKind::W3Gradient => Some(GradientBy::Seeds),
            WorkloadKind::W2GradientValues => Some(GradientBy::Values),
            _ => None,
        }
    }

    /// The workload without gradients.
    pub fn base(self) -> WorkloadKind {
        match self {
            WorkloadKind::W2Gradient | WorkloadKind::W2GradientValues => WorkloadKind::W2,
            WorkloadKind::W3Gradient => WorkloadKind::W3,
            other => other,
        }
    }

    /// Whether the seeds are on a lattice and are traced for four units of time.
    pub fn is_long(self) -> bool {
        use WorkloadKind::{W3, W3Double, W3Hex, W3Mixed, W3Walls};
        self.is_scattered() || matches!(self.base(), W3 | W3Double | W3Hex | W3Mixed | W3Walls)
    }

    /// Whether the nodes are scattered points.
    pub fn is_scattered(self) -> bool {
        matches!(self, WorkloadKind::W1 | WorkloadKind::W1Idw | WorkloadKind::W1Uneven)
    }

    /// Number of RK4 steps of a full run.
    pub fn steps(self) -> u64 {
        match self {
            WorkloadKind::W1Idw => 400,
            WorkloadKind::Density => 1,
            _ if self.is_long() => 1500,
            _ => 200,
        }
    }

    /// Time step.
    pub fn dt(self) -> f64 {
        if self.is_long() { 4.0 / 1500.0 } else { 0.01 }
    }

    /// High corner of the box. The low corner is the origin.
    pub fn size(self) -> [f64; 3] {
        use WorkloadKind::{Flow, W3Double};
        if matches!(self, W3Double | Flow) { [2.0, 1.0, 1.0] } else { [1.0; 3] }
    }

    /// Whether every step is saved.
    pub fn saves_steps(self) -> bool {
        matches!(self, WorkloadKind::W2Saved | WorkloadKind::W2Stored)
    }

    /// Whether the faces of the unit cube reflect, or the boundary of the mesh that fills it.
    pub fn reflects(self) -> bool {
        use WorkloadKind::{Inertial, Step, W3Walls};
        self.is_scattered() || matches!(self, Inertial | Step | W3Walls)
    }

    /// The relaxation time of heavy particles with inertia.
    pub fn relaxation_time(self) -> Option<f64> {
        (self == WorkloadKind::Inertial).then_some(0.02)
    }

    /// A velocity that is added to the field's.
    pub fn drift(self) -> [f64; 3] {
        if self == WorkloadKind::W3Walls { [0.05; 3] } else { [0.0; 3] }
    }

    /// The arrays that follow from its velocity.
    pub fn derived(self) -> &'static [Derived] {
        match self {
            WorkloadKind::Strain | WorkloadKind::GateStrain => &[Derived::ShearRate],
            _ => &[],
        }
    }

    /// The radius of the sphere that it is on: the one on whose equator a degree is a unit of length.
    pub fn radius(self) -> Option<f64> {
        (self == WorkloadKind::Sphere).then_some(1_f64.to_degrees())
    }

    /// A displacement after each step.
    pub fn shift(self) -> [f64; 3] {
        if self == WorkloadKind::Step { [2e-5, -1e-5, 1e-5] } else { [0.0; 3] }
    }

    /// The number of particles, unless they are on a lattice.
    pub fn particles(self) -> usize {
        match self {
            WorkloadKind::W2Many => 3_000_000,
            WorkloadKind::Density => 1_000_000,
            _ => GRID_SEEDS,
        }
    }

    /// Number of cubes along each axis, each split into tetrahedra.
    pub fn cubes(self) -> [usize; 3] {
        self.size().map(|length| length as usize * CUBES)
    }

    /// Times of the frames.
    pub fn times(self) -> Vec<f64> {
        match self.base() {
            kind if kind.is_scattered() => evenly_spaced(POINT_FRAMES, 4.0),
            WorkloadKind::W3
            | WorkloadKind::W3Double
            | WorkloadKind::W3Hex
            | WorkloadKind::W3Mixed
            | WorkloadKind::W3Walls => evenly_spaced(MESH_FRAMES, 4.0),
            WorkloadKind::W2Steady | WorkloadKind::Flow | WorkloadKind::Formula => vec![0.0],
            WorkloadKind::Density => Vec::new(),
            _ => evenly_spaced(GRID_FRAMES, 2.0),
        }
    }
}

/// Numbers from 0 to 1 whose distances vary by a factor of three.
pub fn unevenly_spaced(count: usize) -> Vec<f64> {
    let stretched = |x: f64| x - 0.5 * (std::f64::consts::TAU * x).sin() / std::f64::consts::TAU;
    let mut all: Vec<f64> = evenly_spaced(count, 1.0).into_iter().map(stretched).collect();
    all[count - 1] = 1.0;
    all
}

/// Evenly spaced numbers from 0 to `end`.
pub fn evenly_spaced(count: usize, end: f64) -> Vec<f64> {
    (0..count).map(|i| end * i as f64 / (count - 1) as f64).collect()
}
