//! Quantities that each particle has.

use crate::{error::short, random};
use burn::tensor::Tensor;
use std::sync::Arc;

/// A number for all particles, or one for each slot: for the seeds, then for the slots of sources. As a tensor `[n]` that is
/// tracked, it has gradients.
///
/// Plain numbers are compared by value, tensors by identity.
#[derive(Clone, Debug)]
pub enum PerParticle {
    /// The same for all.
    Number(f64),
    /// One for each slot.
    Numbers(Arc<[f64]>),
    /// A tensor `[1]`, or `[n]` with one for each slot.
    Tensor(Arc<Tensor<1>>),
    /// One for each slot of a distribution: a function of the seed of random numbers and the slot.
    Drawn(Distribution, u64),
}

/// A distribution of the sizes of particles, by their number.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Logarithms are normal.
    LogNormal {
        /// The median size.
        median: f64,
        /// The geometric standard deviation, 1 or more: 68 % are between the median divided by it and the median times it.
        deviation: f64,
    },
    /// The part exp(-(x / scale)^spread) is larger than x (Rosin and Rammler 1933, J. Inst. Fuel 7:29; Weibull).
    RosinRammler {
        /// The size below which 63 % are.
        scale: f64,
        /// The exponent.
        spread: f64,
    },
    /// Sizes, increasing, and the parts of the particles that are smaller, increasing from 0 to 1: linear in between.
    Table {
        /// The sizes.
        sizes: Arc<[f64]>,
        /// The part that is smaller than each.
        smaller: Arc<[f64]>,
    },
}

impl Distribution {
    /// The size in a slot.
    pub(crate) fn size(&self, seed: u64, slot: u64) -> f64 {
        match self {
            Distribution::LogNormal { median, deviation } => {
                let [normal, _] = random::normals(seed, slot, 0, DRAW);
                median * deviation.powf(normal)
            }
            Distribution::RosinRammler { scale, spread } => {
                let larger = 1.0 - random::uniform(seed, slot, 0, DRAW);
                scale * (-larger.ln()).powf(1.0 / spread)
            }
            Distribution::Table { sizes, smaller } => {
                let part = random::uniform(seed, slot, 0, DRAW);
                let above = smaller.partition_point(|smaller| *smaller <= part);
                let above = above.clamp(1, smaller.len() - 1);
                let [[a, b], [low, high]] = [sizes, smaller].map(|of| [of[above - 1], of[above]]);
                a + (b - a) * (part - low) / (high - low)
            }
        }
    }

    /// Why it is none, if so.
    pub(crate) fn flaw(&self) -> Option<String> {
        let is_positive = |x: f64| x > 0.0 && x < 1e30;
        let is_increasing = |of: &[f64]| of.windows(2).all(|pair| pair[0] < pair[1]);
        let (is_one, text) = match *self {
            Distribution::LogNormal { median, deviation } => (
                is_positive(median) && (1.0..1e3).contains(&deviation),
                format!(
                    "a median of {} and a geometric standard deviation of {}; give a median above 0 and a deviation of 1 or more",
                    short(median),
                    short(deviation)
                ),
            ),
            Distribution::RosinRammler { scale, spread } => (
                is_positive(scale) && (1e-2..1e3).contains(&spread),
                format!(
                    "a scale of {} and a spread of {}; give numbers above 0",
                    short(scale),
                    short(spread)
                ),
            ),
            Distribution::Table { ref sizes, ref smaller } => (
                sizes.len() == smaller.len()
                    && is_increasing(sizes)
                    && is_increasing(smaller)
                    && sizes.iter().all(|size| is_positive(*size))
                    && (smaller.first(), smaller.last()) == (Some(&0.0), Some(&1.0)),
                format!(
                    "the {} sizes {sizes:?} and the {} parts {smaller:?}; give as many of both, increasing, sizes above 0 and parts from 0 to 1",
                    sizes.len(),
                    smaller.len()
                ),
            ),
        };
        (!is_one).then_some(text)
    }
}

/// The number of the draw, as other numbers of a slot are drawn with the same seed.
const DRAW: u32 = 0x5125;

impl From<f64> for PerParticle {
    fn from(number: f64) -> Self {
        PerParticle::Number(number)
    }
}

impl From<Vec<f64>> for PerParticle {
    fn from(numbers: Vec<f64>) -> Self {
        PerParticle::Numbers(numbers.into())
    }
}

impl From<Tensor<1>> for PerParticle {
    fn from(tensor: Tensor<1>) -> Self {
        PerParticle::Tensor(Arc::new(tensor))
    }
}

impl PartialEq for PerParticle {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (PerParticle::Number(a), PerParticle::Number(b)) => a == b,
            (PerParticle::Numbers(a), PerParticle::Numbers(b)) => a == b,
            (PerParticle::Tensor(a), PerParticle::Tensor(b)) => Arc::ptr_eq(a, b),
            (PerParticle::Drawn(a, s), PerParticle::Drawn(b, t)) => (a, s) == (b, t),
            _ => false,
        }
    }
}
