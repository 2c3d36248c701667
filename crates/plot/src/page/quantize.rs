//! Quantization to 16 bits.

/// The code of a missing value.
pub(super) const MISSING: u16 = u16::MAX;

/// Linear quantization: `value = low + step * code`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Quantizer {
    pub(super) low: f64,
    pub(super) step: f64,
}

impl Quantizer {
    /// The quantizer for the range of the finite values; codes go from 0 to 65,534.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Quantizer {
        let ends = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if ends.0 <= ends.1 { ends } else { (0.0, 0.0) };
        Quantizer { low, step: (high - low) / f64::from(MISSING - 1) }
    }

    /// The nearest code; [`MISSING`] for a value that is not finite.
    pub(super) fn code(self, value: f64) -> u16 {
        if !value.is_finite() {
            return MISSING;
        }
        if self.step == 0.0 {
            return 0;
        }
        ((value - self.low) / self.step).round().clamp(0.0, f64::from(MISSING - 1)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantization_error_is_at_most_half_a_step() {
        let values: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.37).sin() * 3.0 + 7.0).collect();
        let quantizer = Quantizer::of(values.iter().copied().chain([f64::NAN, f64::INFINITY]));
        for &value in &values {
            let back = quantizer.low + quantizer.step * f64::from(quantizer.code(value));
            assert!((back - value).abs() <= quantizer.step * 0.500_001, "{value} {back}");
        }
        assert_eq!(quantizer.code(f64::NAN), MISSING);
        assert_eq!(Quantizer::of([2.0, 2.0].into_iter()).code(2.0), 0);
        assert_eq!(Quantizer::of([f64::NAN].into_iter()), Quantizer { low: 0.0, step: 0.0 });
    }
}
