//! Explicit Runge-Kutta schemes as Butcher tableaux.

/// How a step is taken. Every scheme is explicit and has a fixed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scheme {
    /// Explicit Euler, order 1, one sample a step.
    Euler,
    /// Explicit midpoint, order 2, two samples a step.
    Midpoint,
    /// Heun (explicit trapezoidal), order 2, two samples a step.
    Heun,
    /// The classical Runge-Kutta scheme, order 4, four samples a step.
    #[default]
    Rk4,
}

/// A coefficient as a fraction, so that it is exact in every precision and a compile-time
/// constant in a device kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio(pub i32, pub i32);

impl Ratio {
    /// The fraction as a float.
    pub const fn value(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }

    /// Whether the coefficient is zero, so that its term can be left out.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// The most stages that a scheme may have.
pub const MAX_STAGES: usize = 4;

/// The coefficients of an explicit Runge-Kutta scheme:
/// `k_s = v(x + h sum_j a_sj k_j, t + c_s h)`, `x' = x + h sum_s b_s k_s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tableau {
    /// How many stages are in use; the rest of the tables is zero.
    pub stages: usize,
    /// Strictly lower triangular matrix of the stages.
    pub a: [[Ratio; MAX_STAGES]; MAX_STAGES],
    /// Weights of the stages.
    pub b: [Ratio; MAX_STAGES],
    /// Times of the stages, as fractions of the step; the row sums of `a`.
    pub c: [Ratio; MAX_STAGES],
}

const O: Ratio = Ratio(0, 1);
const I: Ratio = Ratio(1, 1);
const HALF: Ratio = Ratio(1, 2);
const NONE: [Ratio; MAX_STAGES] = [O; MAX_STAGES];

const EULER: Tableau = Tableau { stages: 1, a: [NONE; MAX_STAGES], b: [I, O, O, O], c: NONE };

const MIDPOINT: Tableau = Tableau {
    stages: 2,
    a: [NONE, [HALF, O, O, O], NONE, NONE],
    b: [O, I, O, O],
    c: [O, HALF, O, O],
};

const HEUN: Tableau = Tableau {
    stages: 2,
    a: [NONE, [I, O, O, O], NONE, NONE],
    b: [HALF, HALF, O, O],
    c: [O, I, O, O],
};

/// Kutta (1901); Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, table II.1.2.
const RK4: Tableau = Tableau {
    stages: 4,
    a: [NONE, [HALF, O, O, O], [O, HALF, O, O], [O, O, I, O]],
    b: [Ratio(1, 6), Ratio(1, 3), Ratio(1, 3), Ratio(1, 6)],
    c: [O, HALF, HALF, I],
};

impl Scheme {
    /// Every scheme, in order of cost.
    pub const ALL: [Scheme; 4] = [Scheme::Euler, Scheme::Midpoint, Scheme::Heun, Scheme::Rk4];

    /// The scheme's coefficients.
    pub const fn tableau(self) -> &'static Tableau {
        match self {
            Scheme::Euler => &EULER,
            Scheme::Midpoint => &MIDPOINT,
            Scheme::Heun => &HEUN,
            Scheme::Rk4 => &RK4,
        }
    }

    /// The order of the global error: halving the step divides it by `2^order`.
    pub const fn order(self) -> u32 {
        match self {
            Scheme::Euler => 1,
            Scheme::Midpoint | Scheme::Heun => 2,
            Scheme::Rk4 => 4,
        }
    }

    /// The name used in case files: `euler`, `midpoint`, `heun`, `rk4`.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Euler => "euler",
            Scheme::Midpoint => "midpoint",
            Scheme::Heun => "heun",
            Scheme::Rk4 => "rk4",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tableaux_are_consistent() {
        for scheme in Scheme::ALL {
            let t = scheme.tableau();
            let weights: f64 = t.b.iter().map(|b| b.value()).sum();
            assert!((weights - 1.0).abs() < 1e-15, "{scheme:?}: weights {weights}");
            for s in 0..MAX_STAGES {
                let row: f64 = t.a[s].iter().map(|a| a.value()).sum();
                assert!((row - t.c[s].value()).abs() < 1e-15, "{scheme:?}: row {s}");
                assert!(t.a[s][s..].iter().all(|a| a.is_zero()), "{scheme:?} is explicit");
            }
        }
    }
}
