//! The mapping of values to colours.

use super::style::{Range, Scale, Style};
use super::ticks::{self, Ticks};
use crate::color::{ColorMap, Rgb};

/// The mapping of values to colours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColorScale {
    pub colors: ColorMap,
    /// The values of the first and of the last colour; not empty.
    pub range: [f64; 2],
    pub log: bool,
    /// Whether there are values below and above the range.
    pub extends: [bool; 2],
    /// Whether there is a value without a colour.
    pub has_missing: bool,
    /// Whether all values are integers.
    pub integers: bool,
    /// Whether no value has a colour.
    pub is_empty: bool,
}

/// Approximate number of values sampled for quantiles.
const QUANTILE_SAMPLES: usize = 200_000;

impl ColorScale {
    /// The colour scale of values in a style. Without values, the range is the one of the style,
    /// or 0 to 1.
    pub(crate) fn new(values: impl Iterator<Item = f32> + Clone, style: &Style) -> Self {
        let log = style.scale == Scale::Log;
        let is_valid = |value: &f32| value.is_finite() && (!log || *value > 0.0);
        let valid = values.clone().filter(is_valid);
        let full = valid
            .clone()
            .map(f64::from)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        let integers = valid.clone().all(|value| value.fract() == 0.0);
        let has_missing = values.clone().any(|value| !is_valid(&value));
        let range = match style.range {
            Range::Given(range) => range,
            Range::Full => full,
            Range::Robust => robust_range(valid, full, log),
        };
        let mut range = if log { widened_log(range) } else { ticks::widened(range) };
        if style.colors.is_diverging() && !log && !matches!(style.range, Range::Given(_)) {
            let max = range[0].abs().max(range[1].abs());
            range = [-max, max];
        }
        let extends = [full[0] < range[0], full[1] > range[1]];
        let is_empty = full[0] > full[1];
        Self { colors: style.colors, range, log, extends, has_missing, integers, is_empty }
    }

    /// The relative position of a value in the range, 0 to 1 within it; `None` for missing values.
    pub(crate) fn fraction(&self, value: f32) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        Some(ticks::fraction(f64::from(value), self.range, self.log))
    }

    /// The colour of a value, in 256 steps, so that consecutive lines often share one.
    pub(crate) fn color(&self, value: f32, missing: Rgb) -> Rgb {
        self.fraction(value).map_or(missing, |part| self.colors.at((part * 255.0).round() / 255.0))
    }

    /// Ticks with at most `max_steps` steps between them.
    pub(crate) fn ticks(&self, max_steps: usize) -> Ticks {
        match self.log {
            true => ticks::logarithmic(self.range, max_steps),
            false => ticks::linear(self.range, max_steps, self.integers),
        }
    }
}

/// A range on a logarithmic scale, widened if it is empty.
fn widened_log([low, high]: [f64; 2]) -> [f64; 2] {
    match low > 0.0 && low.is_finite() && high.is_finite() {
        true if high > low * (1.0 + 1e-9) => [low, high],
        true => [low / 2.0, low * 2.0],
        false => [0.1, 1.0],
    }
}

/// The range of [`Range::Robust`].
fn robust_range(values: impl Iterator<Item = f32> + Clone, full: [f64; 2], log: bool) -> [f64; 2] {
    let count = values.clone().count();
    let mut sample: Vec<f32> = values.step_by((count / QUANTILE_SAMPLES).max(1)).collect();
    let Some(last) = sample.len().checked_sub(1) else { return full };
    let mut quantile = |fraction: f64| {
        let index = (fraction * last as f64).round() as usize;
        f64::from(*sample.select_nth_unstable_by(index, f32::total_cmp).1)
    };
    let inner = [quantile(0.02), quantile(0.98)];
    let width = |[low, high]: [f64; 2]| if log { (high / low).ln() } else { high - low };
    let is_narrow = width(inner) < 2.0 / 3.0 * width(full);
    if is_narrow && inner[0] < inner[1] { inner } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale_of(values: &[f32], style: &Style) -> ColorScale {
        ColorScale::new(values.iter().copied(), style)
    }

    #[test]
    fn robust_range_excludes_outliers_and_marks_them() {
        let mut values: Vec<f32> = (0..=100).map(|i| i as f32 / 100.0).collect();
        assert_eq!(scale_of(&values, &Style::default()).range, [0.0, 1.0]);
        values.push(1000.0);
        let robust = scale_of(&values, &Style::default());
        assert_eq!(
            (robust.range, robust.extends),
            ([0.02f32.into(), 0.99f32.into()], [true, true])
        );
        let full = scale_of(&values, &Style { range: Range::Full, ..Style::default() });
        assert_eq!((full.range, full.extends), ([0.0, 1000.0], [false, false]));
    }

    #[test]
    fn middle_of_a_diverging_map_is_0() {
        let style = Style { colors: ColorMap::CoolWarm, ..Style::default() };
        let scale = scale_of(&[-1.0, 0.0, 3.0], &style);
        assert_eq!(scale.range, [-3.0, 3.0]);
        assert_eq!(scale.fraction(0.0), Some(0.5));
    }

    #[test]
    fn zero_is_missing_on_a_logarithmic_scale() {
        let style = Style { scale: Scale::Log, ..Style::default() };
        let scale = scale_of(&[0.0, 1.0, 100.0], &style);
        assert_eq!((scale.range, scale.has_missing), ([1.0, 100.0], true));
        assert_eq!((scale.fraction(0.0), scale.fraction(10.0)), (None, Some(0.5)));
    }

    #[test]
    fn constant_and_missing_values_have_a_finite_range() {
        for values in [&[][..], &[f32::NAN], &[2.0, 2.0], &[0.0], &[-1e-9], &[f32::INFINITY]] {
            for scale in [Scale::Linear, Scale::Log] {
                let scale = scale_of(values, &Style { scale, ..Style::default() });
                let [low, high] = scale.range;
                assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}: {scale:?}");
                for fraction in values.iter().filter_map(|&value| scale.fraction(value)) {
                    assert!((fraction - 0.5).abs() < 1e-6, "{values:?}: {fraction}");
                }
            }
        }
    }
}
