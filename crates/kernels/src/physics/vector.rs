//! Vectors in space.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod vector {
    #[inline(always)]
    pub(crate) fn vec3<F: Float>(x: F, y: F, z: F) -> Vec3<F> {
        let mut v = Vec3::<F>::new(F::new(0.0_f32));
        v.insert(0usize, x);
        v.insert(1usize, y);
        v.insert(2usize, z);
        v
    }

    #[inline(always)]
    pub(crate) fn dot<F: Float>(a: Vec3<F>, b: Vec3<F>) -> F {
        a.extract(0usize) * b.extract(0usize)
            + a.extract(1usize) * b.extract(1usize)
            + a.extract(2usize) * b.extract(2usize)
    }

    /// The largest absolute component.
    #[inline(always)]
    pub(crate) fn largest<F: Float>(v: Vec3<F>) -> F {
        max(max(v.extract(0usize).abs(), v.extract(1usize).abs()), v.extract(2usize).abs())
    }

    /// Whether all components are within a bound; false for NaN.
    #[inline(always)]
    pub(crate) fn is_within<F: Float>(v: Vec3<F>, bound: F) -> bool {
        v.extract(0usize).abs() <= bound
            && v.extract(1usize).abs() <= bound
            && v.extract(2usize).abs() <= bound
    }

    #[inline(always)]
    pub(crate) fn cross<F: Float>(a: Vec3<F>, b: Vec3<F>) -> Vec3<F> {
        let (ax, ay, az) = (a.extract(0usize), a.extract(1usize), a.extract(2usize));
        let (bx, by, bz) = (b.extract(0usize), b.extract(1usize), b.extract(2usize));
        vec3::<F>(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    }
}
