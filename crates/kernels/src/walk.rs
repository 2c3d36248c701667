//! Diffusion in addition to advection: a random walk.

/// Discretisation of a random walk.
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

/// A random walk added to the steps of the field: one increment at the end of each step.
///
/// The increment of the Wiener process along axis `d` is `dW = sqrt(dt) n`, with a normal variate
/// `n` that is a function of (seed, slot, generation, step). `K' = dK_d / dx_d`, so that a
/// well-mixed particle distribution remains well mixed (Ito form: J. Visser, *Mar. Ecol. Prog.
/// Ser.* 158, 1997). Backward in time, `dt` is the absolute length of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// Diffusivity along each axis, in length squared per time; 0 along flat axes. If it varies, a
    /// factor of the field's diffusivity.
    pub diffusivity: [f64; 3],
    /// Whether the diffusivity is a field, stored in the fourth component of the velocities, or of another group of values.
    pub varies: bool,
    /// The group of values that has it.
    pub group: usize,
    /// Half the distance of the central difference of the diffusivity, per axis.
    pub reach: [f64; 3],
    /// Discretisation.
    pub scheme: WalkScheme,
    /// Seed of the random numbers.
    pub seed: u64,
}
