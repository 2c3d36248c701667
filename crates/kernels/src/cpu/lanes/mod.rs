//! Numbers side by side: four hold a position or a velocity, eight two of them.
//!
//! A kernel is written once over [`Lanes`] and compiled for [`Portable`], plain arrays that any
//! processor works on, and for the widest instructions that this crate knows for the processor;
//! [`dispatch`] takes what the machine turns out to have.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub use x86::Avx2;

use super::Real;
use std::ops::{Add, Mul, Sub};

/// Arithmetic lane by lane.
pub trait Vector<F>: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The same number in all lanes.
    fn splat(x: F) -> Self;
    /// `self * factor + term`, rounded once where the processor can.
    fn fma(self, factor: Self, term: Self) -> Self;
}

/// A position or a velocity: three lanes, and a fourth that is zero.
pub trait Four<F>: Vector<F> {
    /// From an array.
    fn new(lanes: [F; 4]) -> Self;
    /// As an array.
    fn array(self) -> [F; 4];
    /// Brought into a range; what is no number becomes `low`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// Without the digits after the point; the lanes are within the range of `i32`.
    fn trunc(self) -> Self;
    /// The same as integers.
    fn whole(self) -> [i32; 4];
    /// A mask of the lanes in which `low <= self <= high`.
    fn inside(self, low: Self, high: Self) -> Self;
    /// The lanes that are in two masks.
    fn and(self, mask: Self) -> Self;
    /// Whether a mask has the first three lanes.
    fn has_three(self) -> bool;
    /// One lane in all of them.
    fn spread<const LANE: i32>(self) -> Self;
    /// Whether `self >= bound` in all four lanes.
    fn reaches(self, bound: Self) -> bool;
    /// The number of a lane that is the least.
    fn least(self) -> usize;
}

/// Eight numbers: two vectors of four side by side, or a coordinate of eight nodes.
pub trait Eight<F, V>: Vector<F> {
    /// Reads two values that follow each other.
    ///
    /// # Safety
    ///
    /// Both can be read.
    unsafe fn read(values: *const [F; 4]) -> Self;
    /// The two vectors.
    fn halves(self) -> [V; 2];
    /// From an array.
    fn new(lanes: &[F; 8]) -> Self;
    /// As an array.
    fn array(self) -> [F; 8];
    /// The lesser number of each lane.
    fn min(self, other: Self) -> Self;
    /// The greater number of each lane.
    fn max(self, other: Self) -> Self;
    /// Lanes of `yes` where `self < bound`, of `no` elsewhere, bit by bit.
    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self;
}

/// A kind of vectors, as a processor has them.
pub trait Lanes<F> {
    /// Whether the processor multiplies and adds at once.
    const FUSES: bool;
    /// Four numbers.
    type Four: Four<F>;
    /// Eight numbers.
    type Eight: Eight<F, Self::Four>;
}

/// Work to be compiled for a kind of vectors. All that it calls is inlined into it, because only
/// the outermost function is compiled for the processor's instructions.
pub trait Task<F: Real> {
    /// Does it.
    fn run<L: Lanes<F>>(self);
}

/// Does a task with the widest vectors that the processor has.
pub fn dispatch<F: Real>(task: impl Task<F>) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has both features.
        return unsafe { x86::run(task) };
    }
    task.run::<Portable>();
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

/// The instructions with which the CPU's kernels work on this machine: `avx2+fma`, or `portable` and
/// the processor's architecture. With others, results differ by their rounding.
pub fn instructions() -> String {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return "avx2+fma".into();
    }
    format!("portable, {}", std::env::consts::ARCH)
}
