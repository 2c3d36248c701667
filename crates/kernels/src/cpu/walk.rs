//! A random walk added to the steps of the field.
//!
//! It is compiled once for a precision: most of its time goes into three normal variates, which vectors do not speed up
//! for one particle.

use super::{
    Real,
    dual::Dual,
    four,
    frame_pair::FramePair,
    lanes::{Four, Portable},
    launch::Launch,
    probe::{Probe, Width},
    walls::Walls,
};
use crate::physics::{
    diffusion::host::{Address, Spread, displacement},
    prelude::host::Vec3,
    tables::{DIFFUSIVITY, REACHES},
};

/// The displacement of a random walk in a step of length `h` from `from`.
pub(super) fn diffuse<F: Real>(
    launch: &Launch<F>,
    from: [F; 3],
    address: Address,
    (h, pair): (F, &FramePair<F>),
    walls: &Walls<F>,
    probe: &mut dyn Probe<F>,
) -> [F; 3] {
    let spread = match launch.features.walk.varies {
        true => spread(launch, from, pair, walls, probe),
        false => Spread { here: F::one(), gradient: Vec3([F::zero(); 3]) },
    };
    displacement(launch, &address, &spread, h).0
}

/// The field's diffusivity around a position.
fn spread<F: Real>(
    launch: &Launch<F>,
    at: [F; 3],
    pair: &FramePair<F>,
    walls: &Walls<F>,
    probe: &mut dyn Probe<F>,
) -> Spread<F> {
    probe.keep();
    let ([here], gradient) = around(launch, at, |at| {
        let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
        [probe.sample(at.array(), pair, Width::Portable)[3]]
    });
    probe.restore();
    Spread { here: here.max(F::zero()), gradient: Vec3(gradient.map(|[slope]| slope)) }
}

/// Quantities at a position, and their central differences along each axis, times the axis' factor of the
/// diffusivity.
fn around<F: Real, const N: usize>(
    launch: &Launch<F>,
    at: [F; 3],
    mut quantities: impl FnMut([F; 3]) -> [F; N],
) -> ([F; N], [[F; N]; 3]) {
    let here = quantities(at);
    let mut differences = [[F::zero(); N]; 3];
    for d in 0..3 {
        let (factor, reach) = (launch.float(DIFFUSIVITY + d), launch.float(REACHES + d));
        if factor > F::zero() {
            let (mut above, mut below) = (at, at);
            above[d] = at[d] + reach;
            below[d] = at[d] - reach;
            let (above, below) = (quantities(above), quantities(below));
            for i in 0..N {
                differences[d][i] = factor * (above[i] - below[i]) / (reach + reach);
            }
        }
    }
    (here, differences)
}

/// The derivatives of the displacement of a walk.
pub(super) struct WalkSlopes<F> {
    /// Of each component by the diffusivity along its axis, or by the factor of the field's. 0 where that is 0,
    /// and there is none.
    pub by_diffusivity: [F; 3],
    /// Of each component by the start.
    pub by_start: [[F; 3]; 3],
}

/// The derivatives of [`diffuse`], for the same random numbers.
pub(super) fn walk_slopes<F: Real>(
    (launch, exact): (&Launch<F>, &Launch<Dual<F>>),
    from: [F; 3],
    address: Address,
    (h, pair): (F, &FramePair<F>),
    walls: &Walls<F>,
    probe: &mut dyn Probe<F>,
) -> WalkSlopes<F> {
    let half = F::of(0.5);
    let per_diffusivity = |d: usize, change: F| match launch.float(DIFFUSIVITY + d) {
        none if none == F::zero() => F::zero(),
        diffusivity => change / diffusivity,
    };
    if !launch.features.walk.varies {
        let random = diffuse(launch, from, address, (h, pair), walls, probe);
        let by_diffusivity = [0, 1, 2].map(|d| per_diffusivity(d, half * random[d]));
        return WalkSlopes { by_diffusivity, by_start: [[F::zero(); 3]; 3] };
    }
    probe.keep();
    // The diffusivity and its derivatives.
    let ([here, here_by @ ..], gradient) = around(launch, from, |at| {
        let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
        let (value, slopes) = probe.slopes(at.array(), pair);
        let [x, y, z] = slopes.map(|slope| slope[3]);
        [value[3], x, y, z]
    });
    probe.restore();
    let variables = Spread {
        here: Dual::variable(here.max(F::zero()), 0),
        gradient: Vec3([0, 1, 2].map(|d| Dual::variable(gradient[d][0], 1 + d))),
    };
    let displacement = displacement(exact, &address, &variables, Dual::constant(h)).0;
    let by_diffusivity = [0, 1, 2].map(|d| {
        let drift = gradient[d][0] * displacement[d].slopes[1 + d];
        per_diffusivity(d, drift + half * (displacement[d].value - drift))
    });
    let by_start = [0, 1, 2].map(|d| {
        let [by_here, by_gradient] = [0, 1 + d].map(|k| displacement[d].slopes[k]);
        let is_positive = here > F::zero();
        let by_here = if is_positive { by_here } else { F::zero() };
        [0, 1, 2].map(|e| by_here * here_by[e] + by_gradient * gradient[d][1 + e])
    });
    WalkSlopes { by_diffusivity, by_start }
}
