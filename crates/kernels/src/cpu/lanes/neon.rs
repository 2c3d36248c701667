//! NEON: every 64-bit ARM processor has it.
//!
//! A vector is an array of registers. Operations that no loop over steps of grids takes go by plain arrays.

use super::{Eight, Four, Lanes, Task, Vector};
use std::{
    arch::aarch64::*,
    ops::{Add, Mul, Sub},
};

/// 128-bit vectors.
pub struct Neon;

impl Lanes<f32> for Neon {
    const FUSES: bool = true;
    type Four = Single<1>;
    type Eight = Single<2>;

    #[inline(never)]
    fn apart(task: impl Task<f32>) {
        task.run::<Self>();
    }
}

impl Lanes<f64> for Neon {
    const FUSES: bool = true;
    type Four = Double<2>;
    type Eight = Double<4>;

    #[inline(never)]
    fn apart(task: impl Task<f64>) {
        task.run::<Self>();
    }
}

/// Four lanes in each register.
#[derive(Clone, Copy)]
pub struct Single<const N: usize>([float32x4_t; N]);
/// Two lanes in each register.
#[derive(Clone, Copy)]
pub struct Double<const N: usize>([float64x2_t; N]);

macro_rules! vector {
    ($name:ident $float:ident $register:ident $width:literal:
     $add:ident $sub:ident $mul:ident $splat:ident $fma:ident $load:ident $store:ident
     $less:ident $select:ident $divide:ident) => {
        vector!(@operator $name Add add $add);
        vector!(@operator $name Sub sub $sub);
        vector!(@operator $name Mul mul $mul);

        impl<const N: usize> Vector<$float> for $name<N> {
            #[inline(always)]
            fn splat(x: $float) -> Self {
                // SAFETY: see the module.
                $name([unsafe { $splat(x) }; N])
            }
            #[inline(always)]
            fn fma(self, factor: Self, term: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe { $fma(term.0[r], self.0[r], factor.0[r]) })
            }
            #[inline(always)]
            fn per(self, divisor: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe { $divide(self.0[r], divisor.0[r]) })
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.where_less(other, self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                other.where_less(self, self, other)
            }
            #[inline(always)]
            fn where_less(self, bound: Self, yes: Self, no: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe {
                    $select($less(self.0[r], bound.0[r]), yes.0[r], no.0[r])
                })
            }
            #[inline(always)]
            fn less(self, bound: Self) -> u32 {
                let mut bits = 0;
                for r in 0..N {
                    let (x, bound) = ($name([self.0[r]]), $name([bound.0[r]]));
                    bits |= bits_of_less::<_, $width>(x.store(), bound.store()) << ($width * r);
                }
                bits
            }
        }

        impl<const N: usize> $name<N> {
            #[inline(always)]
            fn registers(mut self, of: impl Fn(usize) -> $register) -> Self {
                // By index: an iterator call might not be inlined.
                for r in 0..N {
                    self.0[r] = of(r);
                }
                self
            }
            /// Reads all lanes.
            ///
            /// # Safety
            ///
            /// They must be readable.
            #[inline(always)]
            unsafe fn load(from: *const $float) -> Self {
                // SAFETY: see the module; the caller guarantees that all lanes are readable.
                Self::splat(0.0).registers(|r| unsafe { $load(from.add($width * r)) })
            }
            #[inline(always)]
            fn store<const LANES: usize>(self) -> [$float; LANES] {
                const { assert!(LANES == $width * N) };
                let mut lanes = [0.0; LANES];
                for r in 0..N {
                    // SAFETY: see the module; the lanes of register r are there.
                    unsafe { $store(lanes.as_mut_ptr().add($width * r), self.0[r]) };
                }
                lanes
            }
        }
    };
    (@operator $name:ident $trait:ident $function:ident $instruction:ident) => {
        impl<const N: usize> $trait for $name<N> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe { $instruction(self.0[r], other.0[r]) })
            }
        }
    };
}
vector!(Single f32 float32x4_t 4: vaddq_f32 vsubq_f32 vmulq_f32 vdupq_n_f32 vfmaq_f32
        vld1q_f32 vst1q_f32 vcltq_f32 vbslq_f32 vdivq_f32);
vector!(Double f64 float64x2_t 2: vaddq_f64 vsubq_f64 vmulq_f64 vdupq_n_f64 vfmaq_f64
        vld1q_f64 vst1q_f64 vcltq_f64 vbslq_f64 vdivq_f64);

macro_rules! four {
    ($name:ident<$n:literal> $float:ident: $min:ident $max:ident $trunc:ident $integers:ident
     $at_most:ident $and:ident $bits:ident $float_of_bits:ident) => {
        impl Four<$float> for $name<$n> {
            #[inline(always)]
            fn new(lanes: [$float; 4]) -> Self {
                // SAFETY: four numbers are read from four.
                unsafe { Self::load(lanes.as_ptr()) }
            }
            #[inline(always)]
            fn array(self) -> [$float; 4] {
                self.store()
            }
            #[inline(always)]
            fn clamp(self, low: Self, high: Self) -> Self {
                // SAFETY: see the module. Both return the other operand if one is NaN.
                self.registers(|r| unsafe { $min($max(self.0[r], low.0[r]), high.0[r]) })
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe { $trunc(self.0[r]) })
            }
            #[inline(always)]
            fn as_i32(self) -> [i32; 4] {
                $integers(self)
            }
            #[inline(always)]
            fn inside(self, low: Self, high: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe {
                    let above = $at_most(low.0[r], self.0[r]);
                    $float_of_bits($and(above, $at_most(self.0[r], high.0[r])))
                })
            }
            #[inline(always)]
            fn and(self, mask: Self) -> Self {
                // SAFETY: see the module.
                self.registers(|r| unsafe {
                    $float_of_bits($and($bits(self.0[r]), $bits(mask.0[r])))
                })
            }
            #[inline(always)]
            fn has_three(self) -> bool {
                let [x, y, z, _] = self.array();
                x.to_bits() & y.to_bits() & z.to_bits() != 0
            }
            #[inline(always)]
            fn spread<const LANE: i32>(self) -> Self {
                Self::splat(self.array()[LANE as usize])
            }
            #[inline(always)]
            fn reaches(self, bound: Self) -> bool {
                let (lanes, bound) = (self.array(), bound.array());
                (0..4).all(|l| lanes[l] >= bound[l])
            }
            #[inline(always)]
            fn argmin(self) -> usize {
                let lanes = self.array();
                let mut smallest = 0;
                for l in 1..4 {
                    if lanes[l] < lanes[smallest] {
                        smallest = l;
                    }
                }
                smallest
            }
            #[inline(always)]
            fn rotated(self) -> Self {
                let [x, y, z, w] = self.array();
                Self::new([y, z, x, w])
            }
            #[inline(always)]
            fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                let [a, b, c, d] = [a.array(), b.array(), c.array(), d.array()];
                let column = |l: usize| Self::new([a[l], b[l], c[l], d[l]]);
                [column(0), column(1), column(2), column(3)]
            }
        }
    };
}
four!(Single<1> f32: vminnmq_f32 vmaxnmq_f32 vrndq_f32 integers vcleq_f32 vandq_u32
      vreinterpretq_u32_f32 vreinterpretq_f32_u32);
four!(Double<2> f64: vminnmq_f64 vmaxnmq_f64 vrndq_f64 integers_of_pair vcleq_f64 vandq_u64
      vreinterpretq_u64_f64 vreinterpretq_f64_u64);

macro_rules! eight {
    ($name:ident<$n:literal> $four:literal $float:ident) => {
        impl Eight<$float, $name<$four>> for $name<$n> {
            #[inline(always)]
            unsafe fn read(values: *const [$float; 4]) -> Self {
                // SAFETY: the caller guarantees that two values of four numbers are readable.
                unsafe { Self::load(values.cast()) }
            }
            #[inline(always)]
            fn halves(self) -> [$name<$four>; 2] {
                let half =
                    |first: usize| $name::<$four>::splat(0.0).registers(|r| self.0[first + r]);
                [half(0), half($four)]
            }
            #[inline(always)]
            fn joined([low, high]: [$name<$four>; 2]) -> Self {
                let half = |r: usize| if r < $four { low.0[r] } else { high.0[r - $four] };
                Self::splat(0.0).registers(half)
            }
            #[inline(always)]
            fn new(lanes: &[$float; 8]) -> Self {
                // SAFETY: eight numbers are read from eight.
                unsafe { Self::load(lanes.as_ptr()) }
            }
            #[inline(always)]
            fn array(self) -> [$float; 8] {
                self.store()
            }
            #[inline(always)]
            fn smallest(self) -> $float {
                let [a, b, c, d, e, f, g, h] = Eight::array(self);
                a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
            }
            #[inline(always)]
            fn largest(self) -> $float {
                let [a, b, c, d, e, f, g, h] = Eight::array(self);
                a.max(b).max(c.max(d)).max(e.max(f).max(g.max(h)))
            }
        }
    };
}
eight!(Single<2> 1 f32);
eight!(Double<4> 2 f64);

#[inline(always)]
fn integers(Single([x]): Single<1>) -> [i32; 4] {
    let mut integers = [0; 4];
    // SAFETY: see the module; four integers are written to four.
    unsafe { vst1q_s32(integers.as_mut_ptr(), vcvtq_s32_f32(x)) };
    integers
}

#[inline(always)]
fn integers_of_pair(x: Double<2>) -> [i32; 4] {
    let [x, y, z, w] = x.array();
    [x as i32, y as i32, z as i32, w as i32]
}

/// The lanes where `x < bound`, as bits.
#[inline(always)]
fn bits_of_less<F: PartialOrd + Copy, const N: usize>(x: [F; N], bound: [F; N]) -> u32 {
    let mut bits = 0;
    for l in 0..N {
        bits |= u32::from(x[l] < bound[l]) << l;
    }
    bits
}
