//! Sine and cosine without branches, which compilers turn into vector instructions.

/// Numbers with a sine and a cosine.
pub trait Angle: Sized {
    /// An angle from which on [`sin_cos_of_small`](Angle::sin_cos_of_small) is less accurate.
    const LARGE_ANGLE: Self;

    /// The sines and the cosines of angles that are not large, to within epsilon.
    ///
    /// The angles are reduced to -pi/4 to pi/4 by Cody and Waite's method (1980), where polynomials of the Cephes library
    /// (S. L. Moshier, 1989) are used.
    fn sin_cos_of_small(angles: &[Self; 4]) -> [[Self; 4]; 2];
}

/// A statement for each lane, by index: a call might not be inlined and vectorised.
macro_rules! each_lane {
    ($lane:ident $body:block) => {
        for $lane in 0..4 $body
    };
}

macro_rules! angle {
    ($float:ident $bits:ident large $large:literal, to an integer $shift:literal, rest of half pi $($rest:literal)*,
     sine $($s:literal)*, cosine $($c:literal)*) => {
        impl Angle for $float {
            const LARGE_ANGLE: Self = $large;

            #[inline(always)]
            fn sin_cos_of_small(angles: &[Self; 4]) -> [[Self; 4]; 2] {
                let (mut quadrant, mut x, mut square) = ([0; 4], *angles, *angles);
                each_lane!(k {
                    // The sum has the quadrant in its last bits.
                    let shifted = angles[k].mul_add(std::$float::consts::FRAC_2_PI, $shift);
                    let turns = shifted - $shift;
                    quadrant[k] = shifted.to_bits();
                    x[k] = turns.mul_add(-std::$float::consts::FRAC_PI_2, angles[k]);
                    $(x[k] = turns.mul_add(-$rest, x[k]);)*
                    square[k] = x[k] * x[k];
                });
                let (mut sine, mut cosine): ([$float; 4], [$float; 4]) = ([0.0; 4], [0.0; 4]);
                $(each_lane!(k { sine[k] = sine[k].mul_add(square[k], $s); });)*
                $(each_lane!(k { cosine[k] = cosine[k].mul_add(square[k], $c); });)*
                let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
                each_lane!(k {
                    let one_less = square[k].mul_add(-0.5, 1.0);
                    let sine = (sine[k] * square[k]).mul_add(x[k], x[k]).to_bits();
                    let cosine = (cosine[k] * square[k]).mul_add(square[k], one_less).to_bits();
                    // All ones in odd quadrants. Branches would not be vectorised.
                    let odd = (quadrant[k] & 1).wrapping_neg();
                    let sign = |quadrant: $bits| (quadrant & 2) << ($bits::BITS - 2);
                    let [a, b] = [sine & !odd | cosine & odd, cosine & !odd | sine & odd];
                    first[k] = $float::from_bits(a ^ sign(quadrant[k]));
                    second[k] = $float::from_bits(b ^ sign(quadrant[k].wrapping_add(1)));
                });
                [first, second]
            }
        }
    };
}

angle!(f32 u32 large 8e3, to an integer 12_582_912.0, rest of half pi -4.371_139e-8,
    sine -1.951_529_6e-4 8.332_161e-3 -1.666_665_5e-1,
    cosine 2.443_315_7e-5 -1.388_731_6e-3 4.166_664_6e-2);
angle!(f64 u64 large 1e8, to an integer 6_755_399_441_055_744.0,
    rest of half pi 6.123_233_995_736_766e-17 -1.497_384_904_859_183_3e-33,
    sine 1.589_623_015_765_465_7e-10 -2.505_074_776_285_780_7e-8 2.755_731_362_138_572_5e-6
        -1.984_126_982_958_954e-4 8.333_333_333_322_118e-3 -1.666_666_666_666_663e-1,
    cosine -1.135_853_652_138_768_2e-11 2.087_570_084_197_473e-9 -2.755_731_417_929_674e-7
        2.480_158_728_885_170_5e-5 -1.388_888_888_887_305_6e-3 4.166_666_666_666_659e-2);
