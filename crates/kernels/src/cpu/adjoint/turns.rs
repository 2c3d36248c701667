//! The derivatives of displacements on a sphere.

use crate::{
    cpu::{Real, dual::Dual, lanes::Four, launch::Launch},
    physics::{
        prelude::host::Vec3,
        sphere::host::{change, local, place},
    },
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
    /// Those after a displacement from `from`.
    pub fn new<F: Real>(exact: &Launch<Dual<F>>, from: [F; 3], by: [F; 4]) -> Self
    where
        V: Four<F>,
    {
        let [x, y, z, height] = by;
        let variable =
            |values: [F; 3], first| Vec3([0, 1, 2].map(|d| Dual::variable(values[d], first + d)));
        let place = place(exact, variable(from, 0));
        let by = local(&place, variable([x, y, z], 3));
        let mut changes = change(&place, by, Dual::constant(height)).0.map(|change| change.slopes);
        let mut by_displacement = [V::splat(F::zero()); 3];
        for (d, slopes) in changes.iter_mut().enumerate() {
            let [.., x, y, z] = *slopes;
            // The step is taken half way up a change of height.
            let [a, b, c] = place.up.0.map(|up| F::of(0.5) * up.value);
            let by_height = if d == 2 { F::one() } else { a * x + b * y + c * z };
            by_displacement[d] = V::new([x, y, z, by_height]);
            slopes[d] += F::one();
        }
        let by_start = changes.map(|[lon, lat, z, ..]| V::new([lon, lat, z, F::zero()]));
        Turn { by_start, by_displacement }
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
