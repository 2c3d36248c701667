//! The derivatives of displacements on a sphere.

use crate::{
    cpu::{Real, lanes::Four},
    physics::{prelude::host::Vec3, sphere::host::Place, vector::host::dot},
};

/// The derivatives of a position on a sphere after a displacement: a row for each component.
#[derive(Clone, Copy)]
pub(super) struct Turn<V> {
    /// By the start.
    by_start: [V; 3],
    /// By the displacement: a vector in space, and a change of height.
    by_displacement: [V; 3],
}

impl<V> Turn<V> {
    /// Those of the position at `end`, after a displacement from `start`. The point in space from which its longitude and latitude
    /// are taken is the start, half way up the change of height, plus the vector.
    pub fn new<F: Real>(start: &Place<F>, [x, y, z, height]: [F; 4], end: &Place<F>) -> Self
    where
        V: Four<F>,
    {
        let (zero, half) = (F::zero(), F::of(0.5));
        let radius = start.radius + half * height;
        let point = start.up * Vec3::new(radius) + Vec3([x, y, z]);
        let degrees = F::of(180.0 / std::f64::consts::PI);
        let per_length = degrees / dot(point, point).sqrt();
        let ([.., cos_start], [.., cos_end]) = (start.north.0, end.north.0);
        let (lon, lat) =
            (end.east * Vec3::new(per_length / cos_end), end.north * Vec3::new(per_length));
        let degree = radius / degrees;
        let by_start = |along: Vec3<F>| {
            let [east, north, up] =
                [start.east, start.north, start.up].map(|axis| dot(axis, along));
            V::new([degree * cos_start * east, degree * north, up, zero])
        };
        let by_displacement = |along: Vec3<F>| {
            let [x, y, z] = along.0;
            V::new([x, y, z, half * dot(start.up, along)])
        };
        let [_, _, upwards, last] = [0, 1, 2, 3].map(|lane| {
            let mut unit = [zero; 4];
            unit[lane] = F::one();
            V::new(unit)
        });
        Turn {
            by_start: [by_start(lon), by_start(lat), upwards],
            by_displacement: [by_displacement(lon), by_displacement(lat), last],
        }
    }

    /// The gradients by the start and by the displacement, from that by the position.
    pub fn transposed<F: Real>(&self, by: V) -> [V; 2]
    where
        V: Four<F>,
    {
        [&self.by_start, &self.by_displacement].map(|[lon, lat, z]| {
            let sum = *lat * by.spread::<1>() + *z * by.spread::<2>();
            lon.fma(by.spread::<0>(), sum)
        })
    }

    /// The change of the position, from those of the start and of the displacement.
    pub fn product<F: Real>(&self, start: V, displacement: V) -> V
    where
        V: Four<F>,
    {
        let zero = F::zero();
        let [lon, lat, z] = [0, 1, 2].map(|d| {
            let products = self.by_start[d] * start + self.by_displacement[d] * displacement;
            products.array().iter().fold(zero, |sum, x| sum + *x)
        });
        V::new([lon, lat, z, zero])
    }
}
