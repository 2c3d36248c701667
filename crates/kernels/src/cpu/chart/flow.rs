//! Velocities from fluxes through the faces of cells, in a flat space and on a sphere.

use super::{Chart, Flat, Sphere};
use crate::{
    cpu::{
        Real,
        lanes::{Four, Lanes, three},
    },
    physics::{
        prelude::host::Vec3,
        sphere::host::{in_space, turn},
    },
};
use std::f64::consts::PI;

/// A space in which cells may have fluxes through their faces.
pub(crate) trait Flow<F: Real>: Chart<F> {
    /// What of a position a velocity depends on, beside what its cell gives.
    type Place<V: Copy>: Copy;

    fn place<V: Copy>(position: V) -> Self::Place<V>;

    /// The velocity at a place, from what a cell gives.
    fn of_flow<L: Lanes<F>>(place: Self::Place<L::Four>, flow: [F; 3]) -> [F; 4];

    /// Adds to the derivatives of a velocity along the axes those that follow from the place.
    fn add_slopes<L: Lanes<F>>(place: Self::Place<L::Four>, flow: [F; 3], slopes: &mut [[F; 4]; 3]);
}

impl<F: Real> Flow<F> for Flat {
    type Place<V: Copy> = ();

    #[inline(always)]
    fn place<V: Copy>(_: V) {}

    #[inline(always)]
    fn of_flow<L: Lanes<F>>(_: (), [u, v, w]: [F; 3]) -> [F; 4] {
        [u, v, w, F::zero()]
    }

    #[inline(always)]
    fn add_slopes<L: Lanes<F>>(_: (), _: [F; 3], _: &mut [[F; 4]; 3]) {}
}

impl<F: Real> Flow<F> for Sphere {
    type Place<V: Copy> = V;

    #[inline(always)]
    fn place<V: Copy>(position: V) -> V {
        position
    }

    #[inline(always)]
    fn of_flow<L: Lanes<F>>(place: L::Four, flow: [F; 3]) -> [F; 4] {
        let Vec3([x, y, z]) = in_space(Vec3(three(place.array())), Vec3(flow));
        [x, y, z, flow[2]]
    }

    #[inline(always)]
    fn add_slopes<L: Lanes<F>>(place: L::Four, flow: [F; 3], slopes: &mut [[F; 4]; 3]) {
        let [lon, lat, ..] = place.array();
        let (lon, lat) = (turn(lon), turn(lat));
        let degree = F::of(PI / 180.0);
        let (east, north) = (flow[0] * degree, flow[1] * degree / lat.cos);
        slopes[0][0] += lat.sin * lon.sin * north - east * lon.cos;
        slopes[0][1] -= lat.sin * lon.cos * north + east * lon.sin;
        let away = north / lat.cos;
        slopes[1][0] -= away * lon.cos;
        slopes[1][1] -= away * lon.sin;
    }
}
