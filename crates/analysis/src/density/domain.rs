//! The box around the particles, and images of them beyond its faces.

use super::lattice::{Axes, axis_name};
use crate::{Error, Result};

/// What a face of the box does to the kernels that reach beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Nothing: there is no face.
    #[default]
    Open,
    /// What lies beyond it is mirrored back, so that nothing is lost. Beyond it the density is 0, and
    /// particles there do not count.
    Reflecting,
    /// What lies beyond it comes back at the face opposite, which is periodic as well. Particles and
    /// places beyond count as those that they are repetitions of.
    Periodic,
}

/// Images of a particle along an axis, at most.
const MAX_IMAGES: f64 = 64.0;

/// A coordinate between two ends; none beyond them, but what a face may be off by where it was
/// rounded to single precision lies on the face.
pub(super) fn between(x: f64, low: f64, high: f64) -> Option<f64> {
    let ends = [low, high].into_iter().filter(|end| end.is_finite());
    let slack = 2.0 * f64::from(f32::EPSILON) * ends.map(f64::abs).fold(0.0, f64::max);
    let is_in = x >= low - slack && x <= high + slack;
    is_in.then(|| x.clamp(low, high))
}

/// A box, and the axes that count.
#[derive(Clone, Debug)]
pub(super) struct Within {
    pub axes: Axes,
    pub low: [f64; 3],
    pub high: [f64; 3],
    pub edges: [[Edge; 2]; 3],
}

impl Within {
    /// No faces.
    pub fn everywhere(axes: Axes) -> Self {
        Within { axes, low: [0.0; 3], high: [0.0; 3], edges: [[Edge::Open; 2]; 3] }
    }

    /// # Errors
    ///
    /// [`Error::Domain`] where faces are in the wrong order, or one of two is periodic.
    pub fn check(&self) -> Result<()> {
        for d in self.axes.numbers() {
            let (low, high, edges) = (self.low[d], self.high[d], self.edges[d]);
            let name = axis_name(d);
            if edges == [Edge::Open; 2] {
                continue;
            }
            if !low.is_finite() || !high.is_finite() || low >= high {
                return Err(Error::Domain(format!(
                    "along {name} it goes from {low} to {high}; give finite numbers, the second one \
                     greater"
                )));
            }
            if (edges[0] == Edge::Periodic) != (edges[1] == Edge::Periodic) {
                return Err(Error::Domain(format!(
                    "one face of {name} is periodic and the other one is not; both are, or none"
                )));
            }
        }
        Ok(())
    }

    /// A place in the box, without coordinates along axes that do not count; none for what is no
    /// number or lies beyond a face that reflects.
    pub fn place(&self, mut place: [f64; 3]) -> Option<[f64; 3]> {
        for (d, counts) in self.axes.counts().into_iter().enumerate() {
            if !counts {
                place[d] = 0.0;
            } else if !place[d].is_finite() {
                return None;
            }
            let (low, high) = (self.low[d], self.high[d]);
            match self.edges[d] {
                _ if !counts => {}
                [Edge::Periodic, _] => {
                    let wrapped = low + (place[d] - low).rem_euclid(high - low);
                    place[d] = if (low..=high).contains(&place[d]) { place[d] } else { wrapped };
                }
                [a, b] => {
                    let low = if a == Edge::Reflecting { low } else { f64::NEG_INFINITY };
                    let high = if b == Edge::Reflecting { high } else { f64::INFINITY };
                    place[d] = between(place[d], low, high)?;
                }
            }
        }
        Some(place)
    }

    /// What to multiply values at places by: 0 beyond faces that reflect, NaN where a place is no number;
    /// none where that is 1 everywhere.
    pub fn factors(
        &self,
        places: impl Iterator<Item = [f64; 3]>,
        count: usize,
    ) -> Option<Vec<f64>> {
        let mut factors = None;
        for (i, place) in places.enumerate() {
            if self.place(place).is_none() {
                let is_number = self.axes.numbers().all(|d| place[d].is_finite());
                let factors = factors.get_or_insert_with(|| vec![1.0; count]);
                factors[i] = if is_number { 0.0 } else { f64::NAN };
            }
        }
        factors
    }

    /// A particle and its images along an axis that lie between two places: their coordinates, and whether
    /// they are mirrored.
    ///
    /// Two mirrors repeat each other's images at a distance of two widths.
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

    /// Whether images are mirrored along some axis.
    pub fn mirrors(&self) -> bool {
        self.axes.numbers().any(|d| self.edges[d].contains(&Edge::Reflecting))
    }

    /// # Errors
    ///
    /// [`Error::Bandwidth`] where particles between two places have too many images.
    pub fn check_images(&self, axis: usize, from: f64, to: f64) -> Result<()> {
        let (low, high) = (self.low[axis], self.high[axis]);
        let repeats =
            matches!(self.edges[axis], [Edge::Periodic, _] | [Edge::Reflecting, Edge::Reflecting]);
        let times = (to - from) / (high - low);
        if repeats && times > MAX_IMAGES {
            let name = axis_name(axis);
            return Err(Error::Bandwidth(format!(
                "places and kernels span {times:.0} widths of the box along {name}, which is {} wide; \
                 {MAX_IMAGES} are the most",
                high - low
            )));
        }
        Ok(())
    }
}
