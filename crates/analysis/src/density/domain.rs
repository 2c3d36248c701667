//! The box around the particles, and images of particles beyond its faces.

use super::{
    lattice::{Axes, axis_name},
    tensors::positions_on_host,
};
use crate::{Error, Result};
use burn::tensor::Tensor;

/// The effect of a face of the box on kernels that reach beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edge {
    /// No effect: mass beyond the face is lost from the box.
    #[default]
    Open,
    /// The part of a kernel beyond the face is mirrored back into the box, so that the mass is
    /// preserved. Beyond the face the density is 0, and particles there are ignored.
    Reflecting,
    /// The part of a kernel beyond the face enters at the opposite face, which must be periodic too.
    /// Particles and evaluation points beyond the face are wrapped into the box.
    Periodic,
}

/// Maximum number of images of a particle along an axis.
const MAX_IMAGES: f64 = 64.0;

/// A coordinate clamped to an interval; `None` if it is outside by more than the rounding of the ends,
/// measured from `origin`, to single precision.
pub(super) fn clamp_rounded(x: f64, [low, high]: [f64; 2], origin: f64) -> Option<f64> {
    let ends = [low, high].into_iter().filter(|end| end.is_finite());
    let largest = ends.map(|end| (end - origin).abs()).fold(0.0, f64::max);
    let slack = 2.0 * f64::from(f32::EPSILON) * largest;
    let is_in = x >= low - slack && x <= high + slack;
    is_in.then(|| x.clamp(low, high))
}

/// The box of a density estimate, its faces and its active axes.
#[derive(Clone, Debug)]
pub(super) struct DensityDomain {
    pub axes: Axes,
    pub low: [f64; 3],
    pub high: [f64; 3],
    pub edges: [[Edge; 2]; 3],
    /// The point from which the tensors of positions are measured.
    pub origin: [f64; 3],
}

impl DensityDomain {
    /// A domain without faces.
    pub fn unbounded(axes: Axes) -> Self {
        let edges = [[Edge::Open; 2]; 3];
        DensityDomain { axes, low: [0.0; 3], high: [0.0; 3], edges, origin: [0.0; 3] }
    }

    /// The rows of a tensor of positions, in the data's coordinates.
    pub fn positions(&self, tensor: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
        let mut positions = positions_on_host(tensor)?;
        for position in &mut positions {
            (0..3).for_each(|d| position[d] += self.origin[d]);
        }
        Ok(positions)
    }

    /// # Errors
    ///
    /// [`Error::Domain`] if the faces of an axis are in the wrong order, or only one of them is periodic.
    pub fn check(&self) -> Result<()> {
        for d in self.axes.indices() {
            let (low, high, edges) = (self.low[d], self.high[d], self.edges[d]);
            let name = axis_name(d);
            if edges == [Edge::Open; 2] {
                continue;
            }
            if !low.is_finite() || !high.is_finite() || low >= high {
                return Err(Error::Domain(format!(
                    "it extends from {low} to {high} along {name}; give finite numbers, the second one \
                     greater"
                )));
            }
            if (edges[0] == Edge::Periodic) != (edges[1] == Edge::Periodic) {
                return Err(Error::Domain(format!(
                    "only one of its {name} faces is periodic; make both faces periodic, or neither"
                )));
            }
        }
        Ok(())
    }

    /// The position wrapped into the box, with inactive coordinates set to 0; `None` for positions that
    /// are not finite or beyond a reflecting face.
    pub fn wrap(&self, mut position: [f64; 3]) -> Option<[f64; 3]> {
        for (d, is_active) in self.axes.active().into_iter().enumerate() {
            if !is_active {
                position[d] = 0.0;
            } else if !position[d].is_finite() {
                return None;
            }
            let (low, high) = (self.low[d], self.high[d]);
            match self.edges[d] {
                _ if !is_active => {}
                [Edge::Periodic, _] => {
                    let x = position[d];
                    let wrapped = low + (x - low).rem_euclid(high - low);
                    position[d] = if (low..=high).contains(&x) { x } else { wrapped };
                }
                [a, b] => {
                    let low = if a == Edge::Reflecting { low } else { f64::NEG_INFINITY };
                    let high = if b == Edge::Reflecting { high } else { f64::INFINITY };
                    position[d] = clamp_rounded(position[d], [low, high], self.origin[d])?;
                }
            }
        }
        Some(position)
    }

    /// Factors for the values at evaluation points: 0 beyond reflecting faces, NaN at points that are not
    /// finite, otherwise 1. `None` if all factors are 1.
    pub fn factors(
        &self,
        points: impl Iterator<Item = [f64; 3]>,
        count: usize,
    ) -> Option<Vec<f64>> {
        let mut factors = None;
        for (i, point) in points.enumerate() {
            if self.wrap(point).is_none() {
                let is_number = self.axes.indices().all(|d| point[d].is_finite());
                let factors = factors.get_or_insert_with(|| vec![1.0; count]);
                factors[i] = if is_number { 0.0 } else { f64::NAN };
            }
        }
        factors
    }

    /// Lists the images of a particle along an axis, itself included, in an interval: their coordinates,
    /// and whether they are mirrored.
    ///
    /// Two reflecting faces repeat the images with a period of twice the width.
    pub fn images(&self, axis: usize, x: f64, from: f64, to: f64, images: &mut Vec<(f64, bool)>) {
        images.clear();
        let (low, high) = (self.low[axis], self.high[axis]);
        let width = high - low;
        let mut repeat = |x: f64, period: f64, is_mirrored: bool| {
            let mut k = ((from - x) / period).ceil();
            while x + k * period <= to {
                images.push((x + k * period, is_mirrored));
                k += 1.0;
            }
        };
        match self.edges[axis] {
            [Edge::Periodic, _] => repeat(x, width, false),
            [Edge::Reflecting, Edge::Reflecting] => {
                repeat(x, 2.0 * width, false);
                repeat(2.0 * low - x, 2.0 * width, true);
            }
            [a, b] => {
                images.push((x, false));
                if a == Edge::Reflecting {
                    images.push((2.0 * low - x, true));
                }
                if b == Edge::Reflecting {
                    images.push((2.0 * high - x, true));
                }
                images.retain(|(x, _)| (from..=to).contains(x));
            }
        }
    }

    /// The distance after which everything repeats along each axis; infinite without periodic faces.
    pub fn periods(&self) -> [f64; 3] {
        std::array::from_fn(|d| match self.edges[d][0] {
            Edge::Periodic => self.high[d] - self.low[d],
            Edge::Reflecting | Edge::Open => f64::INFINITY,
        })
    }

    /// Whether any active face is reflecting.
    pub fn mirrors(&self) -> bool {
        self.axes.indices().any(|d| self.edges[d].contains(&Edge::Reflecting))
    }

    /// # Errors
    ///
    /// [`Error::Bandwidth`] if a particle has too many images in an interval.
    pub fn check_images(&self, axis: usize, from: f64, to: f64) -> Result<()> {
        let (low, high) = (self.low[axis], self.high[axis]);
        let repeats =
            matches!(self.edges[axis], [Edge::Periodic, _] | [Edge::Reflecting, Edge::Reflecting]);
        let times = (to - from) / (high - low);
        if repeats && times > MAX_IMAGES {
            let name = axis_name(axis);
            return Err(Error::Bandwidth(format!(
                "evaluation points and kernels span {times:.0} widths of the box along {name}, which is \
                 {} wide; give a bandwidth with which they span {MAX_IMAGES} widths or less",
                high - low
            )));
        }
        Ok(())
    }
}
