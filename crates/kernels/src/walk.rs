//! What moves particles beside the field: a constant velocity, and a random walk.

use crate::{
    cpu::random::normals,
    random::{WALK, bits},
};

/// How a step of a random walk is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WalkScheme {
    /// `dx = K' dt + sqrt(2 K) dW` (Euler and Maruyama), of strong order 1/2 where K varies.
    #[default]
    EulerMaruyama,
    /// `dx = K' (dW^2 + dt) / 2 + sqrt(2 K) dW` (Milstein), of strong order 1 where K varies.
    Milstein,
}

impl WalkScheme {
    /// Every scheme.
    pub const ALL: [WalkScheme; 2] = [WalkScheme::EulerMaruyama, WalkScheme::Milstein];

    /// The name used in case files: `euler-maruyama`, `milstein`.
    pub const fn name(self) -> &'static str {
        match self {
            WalkScheme::EulerMaruyama => "euler-maruyama",
            WalkScheme::Milstein => "milstein",
        }
    }
}

/// A random walk beside the steps of the field: once a step, at its end.
///
/// The increment of the Wiener process along axis `d` is `dW = sqrt(dt) n`, with a normal number `n`
/// that is a function of (seed, slot, generation, step). `K' = dK_d / dx_d`, so that particles which
/// are well mixed remain so (Ito's form: J. Visser, *Mar. Ecol. Prog. Ser.* 158, 1997). In a backward
/// run `dt` is the step's length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// Diffusivity of each axis, in the data's unit of length squared per unit of time; 0 along flat
    /// axes. Where it varies this is what the field's own is multiplied by.
    pub diffusivity: [f64; 3],
    /// Whether the diffusivity is that of the field, in the lane that pads its velocities.
    pub varies: bool,
    /// Half the distance over which the diffusivity's gradient is taken, per axis.
    pub reach: [f64; 3],
    /// How a step is taken.
    pub scheme: WalkScheme,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Walk {
    /// The three normal numbers of a step, in double precision.
    pub fn normals(&self, slot: u32, generation: u32, step: u32) -> [f64; 3] {
        normals::<f64>(bits(self.seed, slot, generation, step, WALK))
    }
}
