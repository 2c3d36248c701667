//! Adaptive step-size control.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod step_size {
    use crate::Adaptive;
    use crate::physics::tables::{CONTROL, CONTROL_MAX, CONTROL_MIN};

    /// Result of a trial step.
    pub(crate) struct Verdict<F: Float> {
        pub is_accepted: bool,
        /// Ratio of the next step to this one.
        pub factor: F,
    }

    /// Length of a trial step within the remainder of a step, given the suggestion of the last one
    /// (0 for none); both have the sign of the step.
    #[inline(always)]
    pub(crate) fn length<F: Float>(launch: &Launch<F>, suggested: F, left: F) -> F {
        let zero = F::new(0.0_f32);
        let size = left.abs();
        let limit = min(launch.float(CONTROL_MAX), size);
        let mut length = select(suggested == zero, limit, min(suggested.abs(), limit));
        // Avoids a remainder that is too short for a step of its own.
        if length * constant::<F>(1.0 + 1e-3) >= size {
            length = size;
        }
        select(left < zero, -length, length)
    }

    /// Accepts or rejects a trial step of length `h` by its error.
    #[inline(always)]
    pub(crate) fn judge<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        error: Vec3<F>,
        h: F,
        full_dt: F,
    ) -> Verdict<F> {
        let mut norm = F::new(0.0_f32);
        let mut is_number = true;
        #[unroll]
        for d in 0..3usize {
            let size = max(from.extract(d).abs(), to.extract(d).abs());
            let size = launch.float(CONTROL + 1) + launch.float(CONTROL) * size;
            let part = error.extract(d).abs() / size;
            is_number = is_number && part <= F::max_value();
            norm = max(norm, part);
        }
        let slack = F::new(Adaptive::ROUNDINGS as f32) * rounding::<F>() * full_dt.abs();
        let is_minimum = h.abs() <= launch.float(CONTROL_MIN) || h.abs() <= slack;
        let shrink = constant::<F>(Adaptive::SHRINK);
        let grow = constant::<F>(Adaptive::GROW);
        let mut factor = grow;
        if !is_number {
            factor = shrink;
        } else if norm > F::new(0.0_f32) {
            let ideal = constant::<F>(Adaptive::SAFETY) * inverse_fifth_root::<F>(norm);
            factor = clamp(ideal, shrink, grow);
        }
        let is_good = is_number && norm <= F::new(1.0_f32);
        Verdict::<F> { is_accepted: is_good || is_minimum, factor }
    }
}
