//! Velocities from fluxes through the faces of cells, in a flat space and on a sphere.

use super::{Chart, Flat, Sphere};
use crate::{
    cpu::Real,
    physics::{
        prelude::host::Vec3,
        sphere::host::{in_space, turn},
    },
};
use std::f64::consts::PI;

/// A space in which cells may have fluxes through their faces.
pub(crate) trait Flow<F: Real>: Chart<F> {
    /// The velocity at a position, from what a cell gives.
    fn of_flow(position: [F; 3], flow: [F; 3]) -> [F; 4];

    /// The velocity and its derivatives along the axes, from those of what a cell gives.
    fn of_slopes(position: [F; 3], flow: [F; 3], slopes: [[F; 3]; 3]) -> ([F; 4], [[F; 4]; 3]);
}

impl<F: Real> Flow<F> for Flat {
    #[inline(always)]
    fn of_flow(_: [F; 3], [u, v, w]: [F; 3]) -> [F; 4] {
        [u, v, w, F::zero()]
    }

    #[inline(always)]
    fn of_slopes(position: [F; 3], flow: [F; 3], slopes: [[F; 3]; 3]) -> ([F; 4], [[F; 4]; 3]) {
        let mut result = [[F::zero(); 4]; 3];
        // By index: an iterator call or a closure might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            result[d] = <Flat as Flow<F>>::of_flow(position, slopes[d]);
        }
        (<Flat as Flow<F>>::of_flow(position, flow), result)
    }
}

impl<F: Real> Flow<F> for Sphere {
    #[inline(always)]
    fn of_flow(position: [F; 3], flow: [F; 3]) -> [F; 4] {
        let Vec3([x, y, z]) = in_space(Vec3(position), Vec3(flow));
        [x, y, z, flow[2]]
    }

    fn of_slopes(position: [F; 3], flow: [F; 3], slopes: [[F; 3]; 3]) -> ([F; 4], [[F; 4]; 3]) {
        let [lon, lat, _] = position;
        let (lon, lat) = (turn(lon), turn(lat));
        let degree = F::of(PI / 180.0);
        let (east, north) = (flow[0] * degree, flow[1] * degree / lat.cos);
        let by_lon = [
            lat.sin * lon.sin * north - east * lon.cos,
            -lat.sin * lon.cos * north - east * lon.sin,
        ];
        let away = -north / lat.cos;
        let by_lat = [away * lon.cos, away * lon.sin];
        let mut result = [[F::zero(); 4]; 3];
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            result[d] = <Sphere as Flow<F>>::of_flow(position, slopes[d]);
        }
        for k in 0..2 {
            result[0][k] += by_lon[k];
            result[1][k] += by_lat[k];
        }
        (<Sphere as Flow<F>>::of_flow(position, flow), result)
    }
}
