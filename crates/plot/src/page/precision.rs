//! The number of bits of positions and values.

use super::quantize::Quantizer;
use crate::picture::count;

/// Number of bits of the positions and of the attributes of a page: 8 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// Bits of each coordinate.
    pub position: u32,
    /// Bits of each value of an attribute. Those that compress well have 16 bits always.
    pub value: u32,
}

impl Default for Precision {
    fn default() -> Precision {
        Precision::STEPS[0]
    }
}

impl Precision {
    /// The precisions that [`Page::fit`](super::Page::fit) tries, from the best one.
    pub const STEPS: [Precision; 4] = [
        Precision { position: 16, value: 16 },
        Precision { position: 14, value: 12 },
        Precision { position: 12, value: 10 },
        Precision { position: 12, value: 8 },
    ];

    /// Whether it has no more bits than another one.
    pub(super) fn is_within(self, other: Precision) -> bool {
        self.position <= other.position && self.value <= other.value
    }

    /// What is lost, in words; empty for 16 bits.
    pub(super) fn loss(self) -> String {
        if self == Precision::default() {
            return String::new();
        }
        let [position, value] =
            [self.position, self.value].map(|bits| count(Quantizer::top_of(bits).into()));
        format!("; positions rounded to 1/{position} of their range, values to 1/{value}")
    }
}
