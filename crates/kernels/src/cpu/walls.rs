//! Boundary conditions on the faces of the domain box, for straight paths from a point inside.

use super::{
    Real,
    lanes::{Four, Lanes},
    three,
};
use crate::{Boundary, Condition, MeshPatch, Wall};

/// A boundary in the kernel's precision.
pub(crate) struct Walls<F> {
    axes: [Axis<F>; 3],
    low: [F; 4],
    high: [F; 4],
    any_periodic: bool,
    /// Condition on the boundary of the field.
    wall: Wall,
    /// Patches of it with a condition of their own.
    patches: Vec<MeshPatch>,
}

struct Axis<F> {
    low: F,
    high: F,
    faces: [Condition; 2],
}

/// The end of a path.
#[derive(Clone, Copy)]
pub(crate) struct Landing<F> {
    pub position: [F; 3],
    /// Boxes crossed through periodic faces, per axis.
    pub image: [i32; 3],
    /// The exit face and the fraction of the path at which it is reached.
    pub exit: Option<(usize, F)>,
}

impl<F: Real> Walls<F> {
    pub fn new(boundary: &Boundary) -> Self {
        let low = |d: usize| F::of(boundary.low[d]).max(F::min_value());
        let high = |d: usize| F::of(boundary.high[d]).min(F::max_value());
        let axis = |d: usize| Axis { low: low(d), high: high(d), faces: boundary.faces[d] };
        Walls {
            axes: [axis(0), axis(1), axis(2)],
            low: [low(0), low(1), low(2), F::zero()],
            high: [high(0), high(1), high(2), F::zero()],
            any_periodic: (0..3).any(|d| boundary.is_periodic(d)),
            wall: boundary.wall,
            patches: boundary.patches.clone(),
        }
    }

    /// The condition for a particle that crosses the boundary of the field at a position.
    pub fn wall_at(&self, position: &[F; 3]) -> Wall {
        MeshPatch::at(&self.patches, exact(position))
            .map_or(self.wall, |patch| self.patches[patch].wall)
    }

    /// Whether a point is in the box; false for non-finite points.
    #[inline(always)]
    pub fn contain<L: Lanes<F>>(&self, p: L::Four) -> bool {
        self.contain_all::<L, 1>(&[p])
    }

    /// Whether all points are in the box.
    #[inline(always)]
    pub fn contain_all<L: Lanes<F>, const G: usize>(&self, points: &[L::Four; G]) -> bool {
        let (low, high) = (L::Four::new(self.low), L::Four::new(self.high));
        let mut inside = points[0].inside(low, high);
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for g in 1..G {
            inside = inside.and(points[g].inside(low, high));
        }
        inside.has_three()
    }

    /// The point at which the field is sampled for a stage at `p`: its image in the box on periodic
    /// axes, itself on the others (samplers extrapolate beyond their grid).
    #[inline(always)]
    pub fn wrap<L: Lanes<F>>(&self, p: L::Four) -> L::Four {
        if !self.any_periodic || self.contain::<L>(p) {
            return p;
        }
        let [x, y, z] = self.wrap_outside(three(p.array()));
        L::Four::new([x, y, z, F::zero()])
    }

    #[cold]
    #[inline(never)]
    fn wrap_outside(&self, mut p: [F; 3]) -> [F; 3] {
        for (axis, x) in self.axes.iter().zip(&mut p) {
            if axis.faces[0] == Condition::Periodic && x.is_finite() {
                *x = axis.fold(*x).0;
            }
        }
        p
    }

    /// Applies the faces' conditions to the path from `from`, inside, to `to`, outside.
    #[cold]
    #[inline(never)]
    pub fn land(&self, from: &[F; 3], to: &[F; 3]) -> Landing<F> {
        let mut exit: Option<(usize, F)> = None;
        for d in 0..3 {
            if let Some((side, fraction)) = self.axes[d].exit(from[d], to[d])
                && exit.is_none_or(|(_, first)| fraction < first)
            {
                exit = Some((2 * d + side, fraction));
            }
        }
        let mut position = *to;
        if let Some((_, fraction)) = exit {
            for d in 0..3 {
                position[d] = from[d] + fraction * (to[d] - from[d]);
            }
        }
        let mut image = [0; 3];
        for d in 0..3 {
            (position[d], image[d]) = self.axes[d].fold(position[d]);
        }
        if let Some((face, _)) = exit {
            let axis = &self.axes[face / 2];
            position[face / 2] = [axis.low, axis.high][face % 2];
        }
        Landing { position, image, exit }
    }

    /// The part of a path up to a fraction of it.
    pub fn land_at(&self, from: &[F; 3], to: &[F; 3], fraction: F) -> Landing<F> {
        self.land(from, &[0, 1, 2].map(|d| from[d] + fraction * (to[d] - from[d])))
    }
}

/// A position in double precision.
pub(super) fn exact<F: Real>(position: &[F; 3]) -> [f64; 3] {
    position.map(|x| num_traits::ToPrimitive::to_f64(&x).unwrap_or(f64::NAN))
}

impl<F: Real> Axis<F> {
    /// The side and the fraction of the path at which `x0 -> x1` leaves through an exit face, after
    /// at most one reflection.
    fn exit(&self, x0: F, x1: F) -> Option<(usize, F)> {
        let (first, reach) = if x1 < self.low {
            (0, x0 - self.low)
        } else if x1 > self.high {
            (1, self.high - x0)
        } else {
            return None;
        };
        let length = (x1 - x0).abs();
        let width = self.high - self.low;
        match (self.faces[first], self.faces[1 - first]) {
            (Condition::Exit, _) => Some((first, reach / length)),
            (Condition::Reflect, Condition::Exit) if length > reach + width => {
                Some((1 - first, (reach + width) / length))
            }
            _ => None,
        }
    }

    /// The coordinate in the box that corresponds to an unbounded one, and the boxes crossed.
    fn fold(&self, x: F) -> (F, i32) {
        let Axis { low, high, faces } = self;
        let width = *high - *low;
        let (folded, image) = match faces {
            [Condition::Periodic, _] => {
                let boxes = ((x - *low) / width).floor();
                (x - boxes * width, boxes.as_i32())
            }
            [Condition::Reflect, Condition::Reflect] => {
                let two = width + width;
                let y = (x - *low) - ((x - *low) / two).floor() * two;
                (*low + (width - (y - width).abs()), 0)
            }
            [Condition::Reflect, _] if x < *low => (*low + (*low - x), 0),
            [_, Condition::Reflect] if x > *high => (*high - (x - *high), 0),
            _ => (x, 0),
        };
        (folded.max(*low).min(*high), image)
    }
}
