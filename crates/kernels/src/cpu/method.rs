//! Schemes as types, for loops that are compiled for each of them.

use crate::{
    Scheme,
    scheme::{MAX_STAGES, Tableau, with_schemes},
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

    /// The scheme's coefficients, where `known` are those of the run.
    #[inline(always)]
    fn tableau(known: &'static Tableau) -> &'static Tableau {
        Self::TABLEAU.unwrap_or(known)
    }

    /// As [`Tableau::solution_stages`].
    #[inline(always)]
    fn solution_stages(known: &'static Tableau) -> usize {
        let constant = const {
            match Self::TABLEAU {
                Some(tableau) => Some(tableau.solution_stages()),
                None => None,
            }
        };
        constant.unwrap_or_else(|| known.solution_stages())
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
