//! The release positions of an inlet, and the order in which slots use them.

use crate::{Error, Result};

/// The release positions of an inlet.
///
/// Release `g` from slot `s` uses position `(s * scatter + g * stride) % positions.len()`, in
/// wrapping 32-bit arithmetic.
#[derive(Debug)]
pub(crate) struct InletPositions {
    /// The positions; at least one.
    pub positions: Vec<[f64; 3]>,
    /// Offset between the first positions of consecutive slots.
    pub scatter: u32,
    /// Offset between the positions of consecutive releases from a slot.
    pub stride: u32,
}

impl InletPositions {
    /// Keeps some of the positions, at least one, for the same slots.
    pub fn retain(self, keep: impl Fn(usize) -> bool, slots: usize) -> Self {
        let numbered = self.positions.into_iter().enumerate();
        let positions = numbered.filter(|(i, _)| keep(*i)).map(|(_, p)| p).collect();
        match self.stride {
            0 => per_slot(positions),
            _ => shared(positions, slots),
        }
    }
}

/// One fixed position for each slot.
pub(super) fn per_slot(positions: Vec<[f64; 3]>) -> InletPositions {
    InletPositions { positions, scatter: 1, stride: 0 }
}

/// Positions that all slots use in sequence, release by release.
pub(super) fn shared(positions: Vec<[f64; 3]>, slots: usize) -> InletPositions {
    let scatter = scatter(positions.len() as u32, slots.min(positions.len()) as u32);
    InletPositions { positions, scatter, stride: 1 }
}

/// Offset between the first positions of consecutive slots: close to the golden section, so that
/// any number of slots starts all over the inlet, and coprime to the count, so that no position is
/// used twice while others are free.
pub(super) fn scatter(count: u32, slots: u32) -> u32 {
    let golden = (0.618_033_988_749_894_9 * f64::from(count)) as u32;
    let start = match count.is_power_of_two() {
        true => golden,
        // Wrapping is exact only for a power of two: otherwise, no product may reach 2^32.
        false => golden.min(u32::MAX / slots.max(1)),
    };
    (1..=start).rev().find(|step| greatest_common_divisor(*step, count) == 1).unwrap_or(1)
}

fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// An empty vector with memory for `count` positions.
pub(super) fn reserve<T>(count: usize) -> Result<Vec<T>> {
    let mut positions = Vec::new();
    positions.try_reserve_exact(count).map_err(|_| {
        Error::Inlet(format!("there is not enough memory for its {count} positions; use fewer"))
    })?;
    Ok(positions)
}
