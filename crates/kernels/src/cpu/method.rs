//! Schemes as types, for loops that are compiled for each of them.

use super::Real;
use crate::{
    Scheme,
    scheme::{MAX_STAGES, Ratio, Tableau, with_schemes},
};

/// A scheme as a type, so that its coefficients are constants in the compiled loop.
pub(super) trait Method {
    /// The scheme's coefficients; `None` if they are known at run time only.
    const TABLEAU: Option<&'static Tableau>;
    /// An element per stage, without unused ones, because all are written in every step.
    type Stages<T: Copy>: AsMut<[T]> + AsRef<[T]>;
    /// The loop of particles that continue alone.
    type Alone: Method;
    /// Whether particles have inertia.
    const IS_INERTIAL: bool = false;
    /// Whether particles have factors of a second velocity.
    const IS_SCALED: bool = false;
    /// The same value for all stages.
    fn all<T: Copy>(value: T) -> Self::Stages<T>;

    /// The weight of stage `r` in stage `n`, where `known` are the coefficients of the run.
    #[inline(always)]
    fn a<F: Real>(known: &Coefficients<F>, n: usize, r: usize) -> F {
        match const { Self::TABLEAU } {
            Some(tableau) => F::of(tableau.a[n][r].value()),
            None => known.a[n][r],
        }
    }

    /// The weight of a stage in the solution.
    #[inline(always)]
    fn b<F: Real>(known: &Coefficients<F>, stage: usize) -> F {
        match const { Self::TABLEAU } {
            Some(tableau) => F::of(tableau.b[stage].value()),
            None => known.b[stage],
        }
    }

    /// As [`Tableau::solution_stages`].
    #[inline(always)]
    fn solution_stages<F: Real>(known: &Coefficients<F>) -> usize {
        let constant = const {
            match Self::TABLEAU {
                Some(tableau) => Some(tableau.solution_stages()),
                None => None,
            }
        };
        constant.unwrap_or(known.stages)
    }
}

/// The coefficients of a scheme in the precision of a run, divided once.
pub(super) struct Coefficients<F> {
    /// As [`Tableau::solution_stages`].
    pub stages: usize,
    pub a: [[F; MAX_STAGES]; MAX_STAGES],
    pub b: [F; MAX_STAGES],
    pub error: [F; MAX_STAGES],
}

impl<F: Real> Coefficients<F> {
    pub fn new(tableau: &Tableau) -> Self {
        let row = |row: [Ratio; MAX_STAGES]| row.map(|x| F::of(x.value()));
        let Tableau { a, b, error, .. } = *tableau;
        let stages = tableau.solution_stages();
        Coefficients { stages, a: a.map(row), b: row(b), error: row(error) }
    }
}

macro_rules! methods {
    ($($name:ident $of_case:literal $order:literal $tableau:ident,)*) => {$(
        pub(super) struct $name;
        impl Method for $name {
            const TABLEAU: Option<&'static Tableau> = Some(Scheme::$name.tableau());
            type Stages<T: Copy> = [T; Scheme::$name.tableau().stages];
            type Alone = AnyScheme;
            #[inline(always)]
            fn all<T: Copy>(value: T) -> Self::Stages<T> {
                [value; Scheme::$name.tableau().stages]
            }
        }
    )*};
}
with_schemes!(methods);

/// Any scheme, with coefficients that are read at run time. What is rare or slow in itself is compiled for it alone:
/// particles that take steps alone, samplers that take long, and processors without the widest vectors of their
/// architecture.
pub(super) struct AnyScheme;

impl Method for AnyScheme {
    const TABLEAU: Option<&'static Tableau> = None;
    type Stages<T: Copy> = [T; MAX_STAGES];
    type Alone = AnyScheme;

    #[inline(always)]
    fn all<T: Copy>(value: T) -> Self::Stages<T> {
        [value; MAX_STAGES]
    }
}

/// The steps of particles with inertia.
pub(super) struct Inertial;

impl Method for Inertial {
    const TABLEAU: Option<&'static Tableau> = None;
    const IS_INERTIAL: bool = true;
    type Stages<T: Copy> = [T; 0];
    type Alone = Inertial;

    #[inline(always)]
    fn all<T: Copy>(_: T) -> Self::Stages<T> {
        []
    }
}

/// Any scheme, for particles with factors of a second velocity.
pub(super) struct Scaled;

impl Method for Scaled {
    const TABLEAU: Option<&'static Tableau> = None;
    const IS_SCALED: bool = true;
    type Stages<T: Copy> = [T; MAX_STAGES];
    type Alone = Scaled;

    #[inline(always)]
    fn all<T: Copy>(value: T) -> Self::Stages<T> {
        [value; MAX_STAGES]
    }
}
