//! Numbers in 16 bits, and bytes as text.

/// What stands for no value.
pub(super) const NONE: u16 = u16::MAX;

/// The least value, and how far it is from one value to the next: `value = low + step * code`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) step: f64,
}

impl Scale {
    /// For all finite values of these; codes go from 0 to 65,534.
    pub(super) fn of(values: impl Iterator<Item = f32>) -> Scale {
        let ends = values
            .filter(|value| value.is_finite())
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if ends.0 <= ends.1 { ends } else { (0.0, 0.0) };
        Scale { low: low.into(), step: (f64::from(high) - f64::from(low)) / f64::from(NONE - 1) }
    }

    /// The nearest code; [`NONE`] where the value is not finite.
    pub(super) fn code(self, value: f32) -> u16 {
        if !value.is_finite() {
            return NONE;
        }
        if self.step == 0.0 {
            return 0;
        }
        ((f64::from(value) - self.low) / self.step).round().clamp(0.0, f64::from(NONE - 1)) as u16
    }
}

/// Codes as little-endian bytes in base64.
pub(super) fn codes(codes: impl Iterator<Item = u16>) -> String {
    base64(&codes.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
}

/// How many characters bytes become.
pub(super) fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Bytes in base64, with padding (RFC 4648, section 4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(base64_len(bytes.len()));
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let place = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= three.len() { DIGITS[place] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let wanted = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (text, wanted) in texts.iter().zip(wanted) {
            assert_eq!(base64(text.as_bytes()), wanted);
            assert_eq!(base64_len(text.len()), wanted.len());
        }
    }

    #[test]
    fn values_come_back_to_half_a_step() {
        let values: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.37).sin() * 3.0 + 7.0).collect();
        let scale = Scale::of(values.iter().copied().chain([f32::NAN, f32::INFINITY]));
        for &value in &values {
            let back = scale.low + scale.step * f64::from(scale.code(value));
            assert!((back - f64::from(value)).abs() <= scale.step * 0.500_001, "{value} {back}");
        }
        assert_eq!(scale.code(f32::NAN), NONE);
        assert_eq!(Scale::of([2.0, 2.0].into_iter()).code(2.0), 0);
        assert_eq!(Scale::of([f32::NAN].into_iter()), Scale { low: 0.0, step: 0.0 });
    }
}
