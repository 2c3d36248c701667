//! From the positions of a run, measured from its origin, to those of its saves.

use crate::{
    Field, Precision, Result, TrackSink,
    field::{measured, origin, origin_row, plain},
    sink::sunk,
};
use burn::tensor::Tensor;

/// Number of release positions passed to a sink at a time.
const BLOCK: usize = 1 << 16;

/// The origin of a run, and whether its saves need the rests of positions.
#[derive(Clone, Copy)]
pub(super) struct OriginShift {
    pub origin: [f64; 3],
    pub has_rest: bool,
}

impl OriginShift {
    pub fn new(field: &dyn Field) -> Self {
        let (origin, domain) = (origin(field), field.domain());
        let is_far = (0..3).any(|d| origin[d] != 0.0 && !domain.is_flat(d));
        OriginShift { origin, has_rest: is_far && field.precision() == Precision::F32 }
    }

    /// The precision that positions in the data's coordinates need, in a run of a precision.
    pub fn precision(&self, of_run: Precision) -> Precision {
        if self.has_rest { Precision::F64 } else { of_run }
    }

    /// Passes the release positions of seeds to a sink, as a save would have them.
    pub fn give_releases(
        &self,
        seeds: &[[f64; 3]],
        precision: Precision,
        sink: &mut dyn TrackSink,
    ) -> Result<()> {
        let release = |p: &[f64; 3]| {
            let [x, y, z, rests @ ..] = precision.split(measured(self.origin, *p));
            match self.has_rest {
                true => plain(self.origin, plain([x, y, z], rests)),
                false => plain(self.origin, [x, y, z]).map(|x| precision.round(x)),
            }
        };
        for (block, positions) in seeds.chunks(BLOCK).enumerate() {
            let positions: Vec<[f64; 3]> = positions.iter().map(release).collect();
            sunk(sink.releases(block * BLOCK, &positions))?;
        }
        Ok(())
    }

    /// Positions in the data's coordinates `[n, 3]`, of [`Particles::position`], and their rests
    /// without gradients, if they need them.
    ///
    /// [`Particles::position`]: burntrace_kernels::Particles::position
    pub fn apply(&self, position: Tensor<2>) -> (Tensor<2>, Option<Tensor<2>>) {
        let measured = position.clone().narrow(1, 0, 3);
        if self.origin == [0.0; 3] {
            return (measured, None);
        }
        let origin = origin_row(self.origin, &measured);
        let moved = measured.clone() + origin.clone();
        let rest = self.has_rest.then(|| {
            // Exact: along each axis, the origin is 0 or exceeds what is measured from it.
            let lost = measured.detach() - (moved.clone().detach() - origin);
            lost + position.detach().narrow(1, 3, 3)
        });
        (moved, rest)
    }
}
