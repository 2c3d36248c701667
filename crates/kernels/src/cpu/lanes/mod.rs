//! SIMD vectors: four numbers hold a position or a velocity, eight hold two of them.
//!
//! A kernel is written once over [`Lanes`] and compiled for [`Portable`], plain arrays for any
//! processor, and for the widest vectors that this crate supports on an architecture. [`dispatch`]
//! selects one of them at run time, and is the only access to vectors that require detection.

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

/// The widest vectors that this crate has for the architecture.
#[cfg(target_arch = "aarch64")]
use neon::Neon as Widest;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable::Portable as Widest;
#[cfg(target_arch = "x86_64")]
use x86::Avx2 as Widest;

pub use portable::Portable;

use super::Real;
use std::ops::{Add, Mul, Sub};

/// Lane-wise arithmetic.
pub trait Vector<F>: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The same number in all lanes.
    fn splat(x: F) -> Self;
    /// `self * factor + term`, with a single rounding if the processor supports it.
    fn fma(self, factor: Self, term: Self) -> Self;
    /// Lane-wise quotient.
    fn per(self, divisor: Self) -> Self;
    /// Lane-wise minimum.
    fn min(self, other: Self) -> Self;
    /// Lane-wise maximum.
    fn max(self, other: Self) -> Self;
    /// Selects lanes of `yes` where `self < bound` and of `no` elsewhere, bit by bit.
    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self;
    /// The lanes where `self < bound`, as bits; the first lane is the lowest one.
    fn less(self, bound: Self) -> u32;
}

/// A position or a velocity: three lanes, and a fourth that is zero.
pub trait Four<F>: Vector<F> {
    /// From an array.
    fn new(lanes: [F; 4]) -> Self;
    /// As an array.
    fn array(self) -> [F; 4];
    /// Clamped to a range; NaN becomes `low`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// Truncated towards zero; the lanes must be within the range of `i32`.
    fn trunc(self) -> Self;
    /// Truncated to integers.
    fn as_i32(self) -> [i32; 4];
    /// Mask of the lanes in which `low <= self <= high`.
    fn inside(self, low: Self, high: Self) -> Self;
    /// Intersection of two masks.
    fn and(self, mask: Self) -> Self;
    /// Whether a mask contains the first three lanes.
    fn has_three(self) -> bool;
    /// One lane broadcast to all.
    fn spread<const LANE: i32>(self) -> Self;
    /// Whether `self >= bound` in all four lanes.
    fn reaches(self, bound: Self) -> bool;
    /// Index of the smallest lane.
    fn argmin(self) -> usize;
    /// The lanes y, z, x and the fourth.
    fn rotated(self) -> Self;
    /// The lanes of each vector become a lane of every result.
    fn transposed(rows: [Self; 4]) -> [Self; 4];
}

/// Eight numbers: two vectors of four, or one coordinate of eight nodes.
pub trait Eight<F, V>: Vector<F> {
    /// Reads two consecutive values.
    ///
    /// # Safety
    ///
    /// Both must be readable.
    unsafe fn read(values: *const [F; 4]) -> Self;
    /// The two vectors.
    fn halves(self) -> [V; 2];
    /// Of two vectors.
    fn joined(halves: [V; 2]) -> Self;
    /// From an array.
    fn new(lanes: &[F; 8]) -> Self;
    /// As an array.
    fn array(self) -> [F; 8];
    /// In each half, the lanes of each vector become a lane of every result.
    #[inline(always)]
    fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4]
    where
        V: Four<F>,
    {
        let ([a, a2], [b, b2], [c, c2], [d, d2]) = (a.halves(), b.halves(), c.halves(), d.halves());
        let ([a, b, c, d], [a2, b2, c2, d2]) =
            (V::transposed([a, b, c, d]), V::transposed([a2, b2, c2, d2]));
        [[a, a2], [b, b2], [c, c2], [d, d2]].map(Self::joined)
    }
    /// The smallest lane.
    fn smallest(self) -> F;
    /// The largest lane.
    fn largest(self) -> F;
}

/// A family of vector types.
pub trait Lanes<F> {
    /// Whether every processor of the architecture has these vectors.
    const IS_PORTABLE: bool = false;
    /// Whether the processor has fused multiply-add.
    const FUSES: bool;
    /// Four numbers.
    type Four: Four<F>;
    /// Eight numbers.
    type Eight: Eight<F, Self::Four>;

    /// Runs a task with these vectors, compiled apart from its caller.
    fn apart(task: impl Task<F>)
    where
        F: Real;
}

/// A computation to be compiled for a family of vectors. Everything that it calls must be inlined
/// into it, because only the outermost function is compiled for the target instructions.
pub trait Task<F: Real> {
    /// Runs the computation.
    fn run<L: Lanes<F>>(self);
}

/// Runs a task with the widest vectors that the processor supports.
pub fn dispatch<F: Real>(task: impl Task<F>) {
    if are_widest() { F::run_widest(task) } else { task.run::<Portable>() }
}

/// Whether the processor has the widest vectors that this crate has for its architecture.
pub fn are_widest() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// Implements [`Real::run_widest`] for `f32` and `f64`.
#[inline]
pub(super) fn run_widest<F: Real>(task: impl Task<F>)
where
    Widest: Lanes<F>,
{
    assert!(are_widest(), "the processor has no vectors of the widest kind");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the features were detected.
    unsafe {
        x86::run(task);
    }
    #[cfg(not(target_arch = "x86_64"))]
    task.run::<Widest>();
}

/// Asks the processor to load a value into its caches, if there is one. On x86 only: other architectures have no such
/// instruction in stable Rust.
#[inline(always)]
pub fn prefetch<T>(value: Option<&T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = value {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which changes no values.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Instruction set used by the CPU kernels on this machine: `avx2+fma`, `neon`, or `portable` and the
/// processor's architecture. Results of different instruction sets differ by rounding.
pub fn instructions() -> String {
    match std::env::consts::ARCH {
        "x86_64" if are_widest() => "avx2+fma".into(),
        "aarch64" => "neon".into(),
        architecture => format!("portable, {architecture}"),
    }
}

/// The vector of three numbers.
#[inline(always)]
pub(in crate::cpu) fn four<F: Real, L: Lanes<F>>(p: &[F; 3]) -> L::Four {
    L::Four::new([p[0], p[1], p[2], F::zero()])
}

/// The four lanes of three numbers.
#[inline(always)]
pub(in crate::cpu) fn padded<F: Real>([x, y, z]: [F; 3]) -> [F; 4] {
    [x, y, z, F::zero()]
}

/// The three numbers of four lanes.
#[inline(always)]
pub(in crate::cpu) fn three<F: Copy>([x, y, z, _]: [F; 4]) -> [F; 3] {
    [x, y, z]
}
