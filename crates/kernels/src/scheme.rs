//! Explicit Runge-Kutta schemes as Butcher tableaux.

/// Explicit time integration scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scheme {
    /// Explicit Euler, order 1, one sample per step.
    Euler,
    /// Explicit midpoint, order 2, two samples per step.
    Midpoint,
    /// Heun (explicit trapezoidal), order 2, two samples per step.
    Heun,
    /// The classical Runge-Kutta scheme, order 4, four samples per step.
    #[default]
    Rk4,
    /// Dormand and Prince's scheme, order 5 with an embedded solution of order 4: six samples per
    /// step, and a seventh if the error is estimated.
    DormandPrince,
}

/// A coefficient as a fraction, exact in every precision and a compile-time constant in device
/// kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio(pub i32, pub i32);

impl Ratio {
    /// The fraction as a float.
    pub const fn value(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }

    /// Whether the coefficient is zero, so that its term can be skipped.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Maximum number of stages of a scheme.
pub const MAX_STAGES: usize = 7;

/// The coefficients of an explicit Runge-Kutta scheme:
/// `k_s = v(x + h sum_j a_sj k_j, t + c_s h)`, `x' = x + h sum_s b_s k_s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tableau {
    /// Number of stages; the rest of the tables is zero.
    pub stages: usize,
    /// Strictly lower triangular matrix of stage coefficients.
    pub a: [[Ratio; MAX_STAGES]; MAX_STAGES],
    /// Weights of the stages.
    pub b: [Ratio; MAX_STAGES],
    /// Times of the stages, as fractions of the step; the row sums of `a`.
    pub c: [Ratio; MAX_STAGES],
    /// Weights of the difference from an embedded solution of lower order; zero without one.
    pub error: [Ratio; MAX_STAGES],
}

impl Tableau {
    /// Number of stages needed for the solution; the others only estimate its error.
    pub const fn solution_stages(&self) -> usize {
        let mut stages = self.stages;
        while stages > 1 && self.b[stages - 1].is_zero() {
            stages -= 1;
        }
        stages
    }

    /// Whether there is an embedded solution for error estimates.
    pub const fn is_embedded(&self) -> bool {
        !self.error[0].is_zero()
    }
}

const O: Ratio = Ratio(0, 1);
const I: Ratio = Ratio(1, 1);
const HALF: Ratio = Ratio(1, 2);
const NONE: [Ratio; MAX_STAGES] = [O; MAX_STAGES];

/// A table row: the given coefficients, then zeros.
const fn row<const N: usize>(first: [Ratio; N]) -> [Ratio; MAX_STAGES] {
    let mut row = NONE;
    let mut i = 0;
    while i < N {
        row[i] = first[i];
        i += 1;
    }
    row
}

/// A tableau from its rows.
const fn tableau<const N: usize>(
    a: [[Ratio; MAX_STAGES]; N],
    b: [Ratio; MAX_STAGES],
    c: [Ratio; MAX_STAGES],
    error: [Ratio; MAX_STAGES],
) -> Tableau {
    let mut all = [NONE; MAX_STAGES];
    let mut i = 0;
    while i < N {
        all[i] = a[i];
        i += 1;
    }
    Tableau { stages: N, a: all, b, c, error }
}

const EULER: Tableau = tableau([NONE], row([I]), NONE, NONE);

const MIDPOINT: Tableau = tableau([NONE, row([HALF])], row([O, I]), row([O, HALF]), NONE);

const HEUN: Tableau = tableau([NONE, row([I])], row([HALF, HALF]), row([O, I]), NONE);

/// Kutta (1901); Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, table II.1.2.
const RK4: Tableau = tableau(
    [NONE, row([HALF]), row([O, HALF]), row([O, O, I])],
    row([Ratio(1, 6), Ratio(1, 3), Ratio(1, 3), Ratio(1, 6)]),
    row([O, HALF, HALF, I]),
    NONE,
);

/// J. R. Dormand, P. J. Prince: *A family of embedded Runge-Kutta formulae*, J. Comput. Appl. Math. 6
/// (1980); Hairer, Norsett & Wanner, table II.5.2.
const DORMAND_PRINCE: Tableau = tableau(
    [
        NONE,
        row([Ratio(1, 5)]),
        row([Ratio(3, 40), Ratio(9, 40)]),
        row([Ratio(44, 45), Ratio(-56, 15), Ratio(32, 9)]),
        row([Ratio(19372, 6561), Ratio(-25360, 2187), Ratio(64448, 6561), Ratio(-212, 729)]),
        row([
            Ratio(9017, 3168),
            Ratio(-355, 33),
            Ratio(46732, 5247),
            Ratio(49, 176),
            Ratio(-5103, 18656),
        ]),
        row(FIFTH),
    ],
    row(FIFTH),
    row([O, Ratio(1, 5), Ratio(3, 10), Ratio(4, 5), Ratio(8, 9), I, I]),
    row([
        Ratio(71, 57600),
        O,
        Ratio(-71, 16695),
        Ratio(71, 1920),
        Ratio(-17253, 339_200),
        Ratio(22, 525),
        Ratio(-1, 40),
    ]),
);

/// Weights of the solution of order 5, and the coefficients of the last stage.
const FIFTH: [Ratio; 6] =
    [Ratio(35, 384), O, Ratio(500, 1113), Ratio(125, 192), Ratio(-2187, 6784), Ratio(11, 84)];

/// Calls a macro with all schemes, in order of cost: the variant, the name in case files, the order and the tableau of
/// each. What is compiled for each scheme is made from it.
macro_rules! with_schemes {
    ($macro:ident) => {
        $macro! {
            Euler "euler" 1 EULER,
            Midpoint "midpoint" 2 MIDPOINT,
            Heun "heun" 2 HEUN,
            Rk4 "rk4" 4 RK4,
            DormandPrince "dormand-prince" 5 DORMAND_PRINCE,
        }
    };
}
pub(crate) use with_schemes;

macro_rules! properties {
    ($($scheme:ident $name:literal $order:literal $tableau:ident,)*) => {
        impl Scheme {
            /// All schemes, in order of cost.
            pub const ALL: [Scheme; [$($order),*].len()] = [$(Scheme::$scheme),*];

            /// The scheme's coefficients.
            pub const fn tableau(self) -> &'static Tableau {
                match self {
                    $(Scheme::$scheme => &$tableau,)*
                }
            }

            /// Order of the global error: halving the step divides it by `2^order`.
            pub const fn order(self) -> u32 {
                match self {
                    $(Scheme::$scheme => $order,)*
                }
            }

            /// The name used in case files: `euler`, `midpoint`, `heun`, `rk4`, `dormand-prince`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Scheme::$scheme => $name,)*
                }
            }
        }
    };
}
with_schemes!(properties);

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions for quadratures of the stage times, sum b c^k = 1 / (k + 1): both solutions
    /// satisfy orders 1 to 4, and one of them order 5.
    #[test]
    fn dormand_prince_solutions_have_orders_5_and_4() {
        let t = Scheme::DormandPrince.tableau();
        let off = |weights: &dyn Fn(usize) -> f64, k: i32| {
            let sum: f64 = (0..t.stages).map(|s| weights(s) * t.c[s].value().powi(k)).sum();
            (sum - 1.0 / f64::from(k + 1)).abs()
        };
        let fifth = |s: usize| t.b[s].value();
        let fourth = |s: usize| t.b[s].value() - t.error[s].value();
        assert!((0..5).all(|k| off(&fifth, k) < 1e-15));
        assert!((0..4).all(|k| off(&fourth, k) < 1e-15));
        assert!(off(&fourth, 4) > 1e-4);
        assert_eq!(t.solution_stages(), 6);
    }

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
            let difference: f64 = t.error.iter().map(|e| e.value()).sum();
            assert!(difference.abs() < 1e-15, "{scheme:?}: the embedded weights sum to 1");
        }
    }
}
