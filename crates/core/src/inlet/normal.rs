//! Quantiles of the normal distribution.

/// Coefficients of numerator and denominator, by increasing power.
type Ratio = [[f64; 8]; 2];

/// For |q| below 0.425, in 0.425^2 - q^2.
const CENTRE: Ratio = [
    [
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ],
    [
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ],
];

/// Farther out, in sqrt(-ln p) - 1.6.
const MIDDLE: Ratio = [
    [
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ],
    [
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ],
];

/// In the far tails, in sqrt(-ln p) - 5.
const TAIL: Ratio = [
    [
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ],
    [
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ],
];

/// The quantile of the standard normal distribution for a probability `p` in (0, 1): AS 241 (M. J.
/// Wichura, *The percentage points of the normal distribution*, Applied Statistics 37, 1988),
/// routine PPND16, to about 16 digits.
pub(super) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&TAIL, r - 5.0) };
    size.copysign(q)
}

fn ratio([above, below]: &Ratio, x: f64) -> f64 {
    let [a, b] = [above, below].map(|c| c.iter().rev().fold(0.0, |sum, c| sum * x + c));
    a / b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `statistics.NormalDist().inv_cdf`.
    const EXPECTED: [(f64, f64); 9] = [
        (0.5, 0.0),
        (0.25, -0.6744897501960817),
        (0.9, 1.2815515655446008),
        (0.95, 1.6448536269514715),
        (0.01, -2.3263478740408408),
        (1e-05, -4.2648907939228256),
        (0.9999999997671694, 6.230260137989042),
        (2.3283064365386963e-10, -6.230260137989042),
        (1e-12, -7.034483825301132),
    ];

    #[test]
    fn quantiles_match_reference_values() {
        for (p, expected) in EXPECTED {
            let found = normal_quantile(p);
            // Allow for a few roundings.
            assert!((found - expected).abs() <= 4e-15 * expected.abs(), "{p}: {found}");
        }
        // Symmetry, up to the rounding of 1 - p, and the quantile 1.96.
        assert!((normal_quantile(0.3) + normal_quantile(0.7)).abs() < 1e-15);
        assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-14);
    }

    #[test]
    fn approximations_are_continuous_at_their_limits() {
        for p in [0.075, (-25.0_f64).exp()] {
            let [below, above] = [p * (1.0 - 1e-12), p * (1.0 + 1e-12)].map(normal_quantile);
            assert!(below < above && above - below < 1e-11);
        }
    }
}
