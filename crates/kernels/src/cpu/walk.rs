//! A random walk added to the steps of the field.
//!
//! It is compiled once for a precision: most of its time goes into three normal variates, which vectors do not speed up
//! for one particle.

use super::{
    Real,
    dual::Dual,
    frame_pair::{FramePair, from_value},
    lanes::{Four, Portable, four},
    launch::Launch,
    probe::{Probe, Width},
    walls::Walls,
};
use crate::physics::{
    diffusion::host::{Address, Spread, displacement},
    prelude::host::Vec3,
    sphere::host::{Place, change, place},
    tables::{DIFFUSIVITY, DIFFUSIVITY_AT, REACHES},
};
use std::f64::consts::PI;

/// The change of position by a random walk in a step of length `h` from `from`.
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
    let by = displacement(launch, &address, &spread, h);
    match (launch.features.sphere, by) {
        (true, Vec3([east, north, up])) => {
            change(&place(launch, Vec3(from)), Vec3([east, north, F::zero()]), up).0
        }
        (false, by) => by.0,
    }
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
    let pair = &from_value(pair, launch.int(DIFFUSIVITY_AT) as usize);
    let ([here], gradient) = around(launch, at, |at| {
        let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
        [probe.sample(at.array(), pair, Width::Portable)[3]]
    });
    probe.restore();
    let mut gradient = gradient.map(|[slope]| slope);
    if launch.features.sphere {
        let per = per_metre(&place(launch, Vec3(at)));
        (0..2).for_each(|d| gradient[d] *= per[d]);
    }
    Spread { here: here.max(F::zero()), gradient: Vec3(gradient) }
}

/// Degrees of longitude and of latitude for a metre at a place on a sphere.
fn per_metre<F: Real>(place: &Place<F>) -> [F; 2] {
    let per = F::of(180.0 / PI) / place.radius;
    [per / place.north.0[2], per]
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
    /// Of each component by the diffusivity along each axis, or by the factor of the field's. 0 where that is 0,
    /// and there is none.
    pub by_diffusivity: [[F; 3]; 3],
    /// Of each component by the start.
    pub by_start: [[F; 3]; 3],
    /// Of each component by the field's diffusivity at the start, and by its derivatives there.
    pub by_spread: [[F; 4]; 3],
}

/// The derivatives of the displacement of a walk along each axis, for the same random numbers.
pub(super) struct DisplacementSlopes<F> {
    /// By the diffusivity at the start.
    pub by_here: [F; 3],
    /// By the derivative of the diffusivity along the axis.
    pub by_gradient: [F; 3],
    /// By the diffusivity along the axis, or by the factor of the field's at the start. 0 where that is 0.
    pub by_factor: [F; 3],
}

/// The derivatives of [`displacement`].
pub(super) fn displacement_slopes<F: Real>(
    (launch, exact): (&Launch<F>, &Launch<Dual<F>>),
    address: &Address,
    spread: &Spread<F>,
    h: F,
) -> DisplacementSlopes<F> {
    let variables = Spread {
        here: Dual::variable(spread.here, 0),
        gradient: Vec3([0, 1, 2].map(|d| Dual::variable(spread.gradient.0[d], 1 + d))),
    };
    let displacement = displacement(exact, address, &variables, Dual::constant(h)).0;
    let of_drift = |d: usize| spread.gradient.0[d] * displacement[d].slopes[1 + d];
    let random = |d: usize| F::of(0.5) * (displacement[d].value - of_drift(d));
    DisplacementSlopes {
        by_here: displacement.map(|x| x.slopes[0]),
        by_gradient: [0, 1, 2].map(|d| displacement[d].slopes[1 + d]),
        by_factor: [0, 1, 2].map(|d| per_diffusivity(launch, d, random(d))),
    }
}

/// A change of the displacement per change of the diffusivity along an axis.
fn per_diffusivity<F: Real>(launch: &Launch<F>, d: usize, change: F) -> F {
    match launch.float(DIFFUSIVITY + d) {
        none if none == F::zero() => F::zero(),
        diffusivity => change / diffusivity,
    }
}

/// The derivatives of [`diffuse`], for the same random numbers.
pub(super) fn walk_slopes<F: Real>(
    launches: (&Launch<F>, &Launch<Dual<F>>),
    from: [F; 3],
    address: &Address,
    (h, pair): (F, &FramePair<F>),
    walls: &Walls<F>,
    probe: &mut dyn Probe<F>,
) -> WalkSlopes<F> {
    let launch = launches.0;
    if !launch.features.walk.varies {
        let spread = Spread { here: F::one(), gradient: Vec3([F::zero(); 3]) };
        let by_diffusivity = diagonal(displacement_slopes(launches, address, &spread, h).by_factor);
        let (by_start, by_spread) = ([[F::zero(); 3]; 3], [[F::zero(); 4]; 3]);
        let slopes = WalkSlopes { by_diffusivity, by_start, by_spread };
        if launch.features.sphere {
            let by = displacement(launch, address, &spread, h).0;
            return walk_on_sphere(launches.1, (from, by), &slopes);
        }
        return slopes;
    }
    probe.keep();
    let pair = &from_value(pair, launch.int(DIFFUSIVITY_AT) as usize);
    // The diffusivity and its derivatives.
    let ([here, here_by @ ..], mut gradient) = around(launch, from, |at| {
        let at = walls.wrap::<Portable>(four::<F, Portable>(&at));
        let (value, slopes) = probe.slopes(at.array(), pair);
        let [x, y, z] = slopes.map(|slope| slope[3]);
        [value[3], x, y, z]
    });
    probe.restore();
    if launch.features.sphere {
        let place = place(launch, Vec3(from));
        for (d, per) in per_metre(&place).into_iter().enumerate() {
            gradient[d].iter_mut().for_each(|slope| *slope *= per);
        }
        // A degree of longitude is shorter in the north, and degrees are longer above.
        let tangent = place.up.0[2] / place.north.0[2];
        gradient[0][2] += gradient[0][0] * tangent * F::of(PI / 180.0);
        (0..2).for_each(|d| gradient[d][3] -= gradient[d][0] / place.radius);
    }
    let spread =
        Spread { here: here.max(F::zero()), gradient: Vec3(gradient.map(|[slope, ..]| slope)) };
    let slopes = displacement_slopes(launches, address, &spread, h);
    let by_diffusivity = [0, 1, 2].map(|d| {
        let of_drift = gradient[d][0] * slopes.by_gradient[d];
        slopes.by_factor[d] + per_diffusivity(launch, d, of_drift)
    });
    let is_positive = here > F::zero();
    let by_spread = [0, 1, 2].map(|d| {
        let mut by = [F::zero(); 4];
        by[0] = if is_positive { slopes.by_here[d] } else { F::zero() };
        by[1 + d] = slopes.by_gradient[d];
        by
    });
    let by_start = [0, 1, 2].map(|d| {
        let [by_here, by_gradient] = [by_spread[d][0], by_spread[d][1 + d]];
        [0, 1, 2].map(|e| by_here * here_by[e] + by_gradient * gradient[d][1 + e])
    });
    let slopes = WalkSlopes { by_diffusivity: diagonal(by_diffusivity), by_start, by_spread };
    if launch.features.sphere {
        let by = displacement(launch, address, &spread, h).0;
        return walk_on_sphere(launches.1, (from, by), &slopes);
    }
    slopes
}

/// Calls a function with each position at which [`spread`] samples the diffusivity, and the gradient by that sample, from those by the
/// diffusivity and by its derivatives.
pub(super) fn each_sample<F: Real>(
    launch: &Launch<F>,
    at: [F; 3],
    [by_here, by_gradient @ ..]: [F; 4],
    mut visit: impl FnMut([F; 3], F),
) {
    visit(at, by_here);
    let mut per = [F::one(); 3];
    if launch.features.sphere {
        per[..2].copy_from_slice(&per_metre(&place(launch, Vec3(at))));
    }
    for d in 0..3 {
        let (factor, reach) = (launch.float(DIFFUSIVITY + d), launch.float(REACHES + d));
        if factor > F::zero() {
            let by = per[d] * by_gradient[d] * factor / (reach + reach);
            for (way, by) in [(reach, by), (-reach, -by)] {
                let mut beside = at;
                beside[d] = at[d] + way;
                visit(beside, by);
            }
        }
    }
}

/// The derivatives of a walk on a sphere by `by` towards the east, the north and upwards, from those of its components.
fn walk_on_sphere<F: Real>(
    exact: &Launch<Dual<F>>,
    (from, by): ([F; 3], [F; 3]),
    slopes: &WalkSlopes<F>,
) -> WalkSlopes<F> {
    let from = [0, 1, 2].map(|d| Dual::variable(from[d], d));
    let [east, north, up] = [0, 1, 2].map(|d| Dual::variable(by[d], 3 + d));
    let level = Vec3([east, north, Dual::constant(F::zero())]);
    let change = change(&place(exact, Vec3(from)), level, up).0;
    let mut by_start = change.map(|x| through(x, &slopes.by_start));
    for (row, x) in by_start.iter_mut().zip(change) {
        (0..3).for_each(|e| row[e] += x.slopes[e]);
    }
    WalkSlopes {
        by_diffusivity: change.map(|x| through(x, &slopes.by_diffusivity)),
        by_start,
        by_spread: change.map(|x| through(x, &slopes.by_spread)),
    }
}

/// The derivatives of a number by what the components of a walk depend on.
fn through<F: Real, const N: usize>(x: Dual<F>, rows: &[[F; N]; 3]) -> [F; N] {
    let sum = |e: usize| (0..3).fold(F::zero(), |sum, d| sum + x.slopes[3 + d] * rows[d][e]);
    std::array::from_fn(sum)
}

/// A matrix with these elements on its diagonal.
fn diagonal<F: Real>(elements: [F; 3]) -> [[F; 3]; 3] {
    let mut matrix = [[F::zero(); 3]; 3];
    for d in 0..3 {
        matrix[d][d] = elements[d];
    }
    matrix
}
