//! Quantization to at most 16 bits.

/// Linear quantization: `value = low + step * code`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Quantizer {
    pub(super) low: f64,
    pub(super) step: f64,
    /// The code of the maximum.
    pub(super) top: u16,
}

impl Quantizer {
    /// The quantizer for the range of the finite values; codes go from 0 to 2^`bits` - 2.
    pub(super) fn of(values: impl Iterator<Item = f64>, bits: u32) -> Quantizer {
        let ends = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if ends.0 <= ends.1 { ends } else { (0.0, 0.0) };
        let top = Quantizer::top_of(bits);
        Quantizer { low, step: (high - low) / f64::from(top), top }
    }

    /// The code of the maximum in a number of bits.
    pub(super) fn top_of(bits: u32) -> u16 {
        ((1_u32 << bits) - 2) as u16
    }

    /// The number of bits of the codes.
    pub(super) fn bits(self) -> u32 {
        (u32::from(self.top) + 1).ilog2() + 1
    }

    /// The code of a missing value.
    pub(super) fn missing(self) -> u16 {
        self.top + 1
    }

    /// The nearest code; [`Quantizer::missing`] for a value that is not finite.
    pub(super) fn code(self, value: f64) -> u16 {
        if !value.is_finite() {
            return self.missing();
        }
        if self.step == 0.0 {
            return 0;
        }
        ((value - self.low) / self.step).round().clamp(0.0, f64::from(self.top)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantization_error_is_at_most_half_a_step() {
        let values: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.37).sin() * 3.0 + 7.0).collect();
        for bits in [8, 12, 16] {
            let all = values.iter().copied().chain([f64::NAN, f64::INFINITY]);
            let quantizer = Quantizer::of(all, bits);
            for &value in &values {
                let back = quantizer.low + quantizer.step * f64::from(quantizer.code(value));
                assert!((back - value).abs() <= quantizer.step * 0.500_001, "{value} {back}");
            }
            assert_eq!(u32::from(quantizer.code(f64::NAN)), (1 << bits) - 1);
            assert_eq!(quantizer.bits(), bits);
        }
        assert_eq!(Quantizer::of([2.0, 2.0].into_iter(), 16).code(2.0), 0);
        let none = Quantizer::of([f64::NAN].into_iter(), 16);
        assert_eq!(none, Quantizer { low: 0.0, step: 0.0, top: 65_534 });
    }
}
