//! The two frames that bracket a time, and their weights.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod frames {
    use crate::physics::tables::{
        FRAME_INTERVALS, FRAME_SIZE, FRAMES, INTERVAL_COUNT, STEP_INTERVALS, STEPS,
    };
    use crate::{Outside, TimeInterpolation};

    /// Offsets of the two frames in the velocities, and their weights. A frame of weight zero need
    /// not be read. For a formula, the sum of the weights is the time.
    pub(crate) struct FramePair<F: Float> {
        pub first: usize,
        pub second: usize,
        pub first_weight: F,
        pub second_weight: F,
        /// Whether the values are velocities, and not those of another group.
        pub is_velocity: bool,
    }

    /// The same frames, from another of their values on: the first one of a group.
    #[inline(always)]
    pub(crate) fn from_value<F: Float>(pair: &FramePair<F>, value: usize) -> FramePair<F> {
        FramePair::<F> {
            first: pair.first + value,
            second: pair.second + value,
            first_weight: pair.first_weight,
            second_weight: pair.second_weight,
            is_velocity: value == 0usize,
        }
    }

    /// As [`from_value`], of a group that is a velocity, too.
    #[inline(always)]
    pub(crate) fn from_velocity<F: Float>(pair: &FramePair<F>, value: usize) -> FramePair<F> {
        FramePair::<F> {
            first: pair.first + value,
            second: pair.second + value,
            first_weight: pair.first_weight,
            second_weight: pair.second_weight,
            is_velocity: true,
        }
    }

    /// The frames and weights `offset` after the start of step `j`.
    pub(crate) fn frame_pair<F: Float>(launch: &Launch<F>, j: usize, offset: F) -> FramePair<F> {
        if comptime!(launch.features.formula) {
            time::<F>(launch, j, offset)
        } else if comptime!(launch.features.steady) {
            FramePair::<F> {
                first: 0usize,
                second: 0usize,
                first_weight: F::new(1.0_f32),
                second_weight: F::new(0.0_f32),
                is_velocity: true,
            }
        } else {
            unsteady::<F>(launch, j, offset)
        }
    }

    /// The time, with what single precision cannot hold in the second weight.
    fn time<F: Float>(launch: &Launch<F>, j: usize, offset: F) -> FramePair<F> {
        let rests = FRAME_INTERVALS + 2 * launch.int(STEPS) as usize;
        FramePair::<F> {
            first: 0usize,
            second: 0usize,
            first_weight: launch.float(FRAME_INTERVALS + 2 * j),
            second_weight: launch.float(rests + j) + offset,
            is_velocity: true,
        }
    }

    /// An interval between frames, and the time since its start.
    pub(crate) struct Interval<F: Float> {
        pub k: usize,
        pub since: F,
    }

    /// The interval in which the time `offset` after the start of step `j` is, or the nearest one.
    pub(crate) fn interval<F: Float>(launch: &Launch<F>, j: usize, offset: F) -> Interval<F> {
        let count = launch.int(INTERVAL_COUNT) as usize;
        let wraps = comptime!(launch.features.outside == Outside::Periodic);
        let zero = F::new(0.0_f32);
        let mut k = launch.int(STEP_INTERVALS + j) as usize;
        let mut since = launch.float(FRAME_INTERVALS + count + 2 * j) + offset;
        while since > launch.float(FRAME_INTERVALS + k) && (wraps || k + 1 < count) {
            since -= launch.float(FRAME_INTERVALS + k);
            k = (k + 1) % count;
        }
        while since < zero && (wraps || k > 0) {
            k = (k + count - 1) % count;
            since += launch.float(FRAME_INTERVALS + k);
        }
        Interval::<F> { k, since }
    }

    fn unsteady<F: Float>(launch: &Launch<F>, j: usize, offset: F) -> FramePair<F> {
        let frames = launch.int(FRAMES) as usize;
        let size = launch.int(FRAME_SIZE) as usize;
        let interval = interval::<F>(launch, j, offset);
        let (k, since) = (interval.k, interval.since);
        let zero = F::new(0.0_f32);
        let fraction = since / launch.float(FRAME_INTERVALS + k);
        let second = weight::<F>(launch, fraction);
        let inside = inside::<F>(launch, fraction);
        let (this, next) = (k * size, ((k + 1) % frames) * size);
        // A frame of weight 0 is the second one, which need not be read.
        let is_next = second == F::new(1.0_f32);
        FramePair::<F> {
            first: select(is_next, next, this),
            second: next,
            first_weight: inside * select(is_next, second, F::new(1.0_f32) - second),
            second_weight: inside * select(is_next, zero, second),
            is_velocity: true,
        }
    }

    /// Weight of the second frame at a fraction of the interval.
    fn weight<F: Float>(launch: &Launch<F>, fraction: F) -> F {
        let a = clamp(fraction, F::new(0.0_f32), F::new(1.0_f32));
        let nearest = select(a < F::new(0.5_f32), F::new(0.0_f32), F::new(1.0_f32));
        if comptime!(launch.features.in_time == TimeInterpolation::Linear) { a } else { nearest }
    }

    /// 0 outside the frames of a field that is zero there, else 1.
    fn inside<F: Float>(launch: &Launch<F>, fraction: F) -> F {
        let one = F::new(1.0_f32);
        if comptime!(launch.features.outside == Outside::Zero) {
            let slack = F::new(8.0_f32) * rounding::<F>();
            let outside = fraction < F::new(0.0_f32) - slack || fraction > one + slack;
            select(outside, F::new(0.0_f32), one)
        } else {
            one
        }
    }
}
