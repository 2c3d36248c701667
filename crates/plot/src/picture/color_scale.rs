//! The mapping of values to colours.

use super::style::{Range, Scale, Style};
use super::ticks::{self, Ticks};
use crate::color::{ColorMap, Rgb, mix};

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
    /// Whether values at or below 0 are below a logarithmic range, not missing.
    is_filled: bool,
    /// Whether the range is derived from values that are not empty.
    is_derived: bool,
    /// The background that colours are mixed with, for a field behind tracks.
    pale: Option<Rgb>,
}

/// Maximum number of decades of a derived logarithmic range.
const DECADES: i32 = 5;
/// Values up to this fraction of the maximum are empty.
const EMPTY: f64 = 1e-3;
/// The part of the background in the colours of a field behind tracks.
const PALE: f64 = 0.5;
/// Approximate number of values sampled for quantiles.
const QUANTILE_SAMPLES: usize = 200_000;

impl ColorScale {
    /// The colour scale of values in a style. Without values, the range is the one of the style,
    /// or 0 to 1.
    pub(crate) fn new(values: impl Iterator<Item = f32> + Clone, style: &Style) -> Self {
        let robust = |full, log| robust_range(valid(values.clone(), log), full, log);
        Self::with_robust(values.clone(), style, robust)
    }

    /// The same for tracks: outliers are those of the drawn lines, given as values and lengths, so that the
    /// colours are those of moving particles if most are at rest.
    pub(crate) fn of_lines(
        values: impl Iterator<Item = f32> + Clone,
        lines: Vec<(f32, f64)>,
        style: &Style,
    ) -> Self {
        let total: f64 = lines.iter().map(|(_, length)| length).sum();
        Self::with_robust(values.clone(), style, |full, log| match total > 0.0 {
            true => robust_range_of_lines(lines, full, log),
            false => robust_range(valid(values, log), full, log),
        })
    }

    /// The colour scale with a function for [`Range::Robust`], of the range of all values and of whether the
    /// scale is logarithmic.
    fn with_robust(
        values: impl Iterator<Item = f32> + Clone,
        style: &Style,
        robust: impl FnOnce([f64; 2], bool) -> [f64; 2],
    ) -> Self {
        let log = style.scale == Scale::Log;
        let valid = valid(values.clone(), log);
        let full = valid
            .clone()
            .map(f64::from)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        let integers = valid.clone().all(|value| value.fract() == 0.0);
        let is_filled = style.range == Range::Filled;
        let has_missing = values
            .clone()
            .any(|value| if is_filled { !value.is_finite() } else { !is_valid(value, log) });
        let range = match style.range {
            Range::Given(range) => range,
            Range::Full => full,
            Range::Filled => filled_range(valid, full, log),
            Range::Robust => robust(full, log),
        };
        let range = match (log, style.range) {
            (false, _) | (_, Range::Given(_)) => range,
            (true, _) => [range[0].max(range[1] / 10f64.powi(DECADES)), range[1]],
        };
        let mut range = if log { widened_log(range) } else { ticks::widened(range) };
        let colors = style.colors.unwrap_or_else(|| fitting_map(range, log));
        if colors.is_diverging() && !log && !matches!(style.range, Range::Given(_)) {
            let max = range[0].abs().max(range[1].abs());
            range = [-max, max];
        }
        let is_below = |value: f32| value.is_finite() && f64::from(value) < range[0];
        let extends = [
            if is_filled { values.clone().any(is_below) } else { full[0] < range[0] },
            full[1] > range[1],
        ];
        let is_empty = full[0] > full[1];
        let is_derived = is_filled && !is_empty;
        Self {
            colors,
            range,
            log,
            extends,
            has_missing,
            integers,
            is_empty,
            is_filled,
            is_derived,
            pale: None,
        }
    }

    /// The scale with colours that are mixed with the background.
    pub(crate) fn paler(self, background: Rgb) -> Self {
        Self { pale: Some(background), ..self }
    }

    /// The colour at a fraction of the range.
    pub(crate) fn at(&self, fraction: f64) -> Rgb {
        let color = self.colors.at(fraction);
        self.pale.map_or(color, |background| mix(color, background, PALE))
    }

    /// Evenly spaced samples of its colours.
    pub(crate) fn samples(&self) -> Vec<Rgb> {
        (0..32).map(|i| self.at(f64::from(i) / 31.0)).collect()
    }

    /// How the range was derived, for a picture. `None` if it was not, or if nothing has a colour.
    pub(crate) fn note(&self) -> Option<String> {
        let decades = (self.range[1] / self.range[0]).log10();
        self.is_derived.then(|| match (self.log, self.range[0] == 0.0) {
            (true, _) if self.extends[0] => {
                format!("logarithmic colours over {decades:.1} decades below the maximum")
            }
            (true, _) => "logarithmic colours from the minimum to the maximum".into(),
            (false, true) => "colours from 0 to the maximum".into(),
            (false, false) => "colours from the minimum to the maximum, not from 0".into(),
        })
    }

    /// The relative position of a value in the range, 0 to 1 within it; `None` for missing values.
    pub(crate) fn fraction(&self, value: f32) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0 && !self.is_filled) {
            return None;
        }
        if self.log && value <= 0.0 {
            return Some(0.0);
        }
        Some(ticks::fraction(f64::from(value), self.range, self.log))
    }

    /// The colour of a value, in 256 steps, so that consecutive lines often share one.
    pub(crate) fn color(&self, value: f32, missing: Rgb) -> Rgb {
        self.fraction(value).map_or(missing, |part| self.at((part * 255.0).round() / 255.0))
    }

    /// Ticks with at most `max_steps` steps between them.
    pub(crate) fn ticks(&self, max_steps: usize) -> Ticks {
        match self.log {
            true => ticks::logarithmic(self.range, max_steps),
            false => ticks::linear(self.range, max_steps, self.integers, 0.0),
        }
    }
}

/// The colour map of values in a range: diverging if a tenth of it or more is on either side of 0.
fn fitting_map([low, high]: [f64; 2], log: bool) -> ColorMap {
    let least = (-low).min(high);
    match !log && least > 0.0 && least >= 0.1 * (high - low) {
        true => ColorMap::CoolWarm,
        false => ColorMap::Viridis,
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

/// Whether a value can have a colour.
fn is_valid(value: f32, log: bool) -> bool {
    value.is_finite() && (!log || value > 0.0)
}

/// The values that can have a colour.
fn valid(
    values: impl Iterator<Item = f32> + Clone,
    log: bool,
) -> impl Iterator<Item = f32> + Clone {
    values.filter(move |value| is_valid(*value, log))
}

/// The range of [`Range::Filled`].
fn filled_range(values: impl Iterator<Item = f32>, [low, high]: [f64; 2], log: bool) -> [f64; 2] {
    if low < 0.0 || low > high {
        return [low, high];
    }
    if log {
        return [low, high];
    }
    let filled = values.map(f64::from).filter(|value| *value > EMPTY * high);
    let least = filled.fold(f64::INFINITY, f64::min);
    [if least > 0.5 * high { least } else { 0.0 }, high]
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
    inner_or_full(inner, full, log)
}

/// The range of [`Range::Robust`] for lines, by quantiles of their length.
fn robust_range_of_lines(mut lines: Vec<(f32, f64)>, full: [f64; 2], log: bool) -> [f64; 2] {
    lines.retain(|(value, _)| is_valid(*value, log));
    lines.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let total: f64 = lines.iter().map(|(_, length)| length).sum();
    let quantile = |fraction: f64| {
        let mut length = 0.0;
        let is_beyond = |(_, own): &&(f32, f64)| {
            length += own;
            length >= fraction * total
        };
        lines.iter().find(is_beyond).or(lines.last()).map(|(value, _)| f64::from(*value))
    };
    match (quantile(0.02), quantile(0.98)) {
        (Some(low), Some(high)) => inner_or_full([low, high], full, log),
        _ => full,
    }
}

/// The range between quantiles if it is much narrower than the full range, else the full range.
fn inner_or_full(inner: [f64; 2], full: [f64; 2], log: bool) -> [f64; 2] {
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
    fn colors_of_tracks_are_those_of_moving_particles() {
        // 990 particles nearly at rest, and ten that move at speeds from 1 to 10.
        let mut values: Vec<f32> = (0..990).map(|i| 1e-5 * i as f32).collect();
        values.extend((1..=10).map(|i| i as f32));
        let style = Style::default();
        assert!(scale_of(&values, &style).range[1] < 0.01);
        let of_lines = |lines: Vec<(f32, f64)>| {
            ColorScale::of_lines(values.iter().copied(), lines, &style).range
        };
        let lines = || values.iter().map(|value| (*value, f64::from(*value)));
        assert_eq!(of_lines(lines().collect()), [0.0, 10.0]);
        // A short line at a high speed is an outlier.
        let length = |value: f32, length| if value > 6.0 { 0.1 } else { length };
        let with_outliers = lines().map(|(value, own)| (value, length(value, own))).collect();
        let [low, high] = of_lines(with_outliers);
        assert!(low < 0.01 && high == 6.0, "{low} {high}");
        // Without a length, all values count.
        assert_eq!(of_lines(vec![(1.0, 0.0)]), scale_of(&values, &style).range);
    }

    #[test]
    fn filled_range_shows_a_plume_in_an_empty_box() {
        // A plume in 1 % of the cells, with a peak of 50.
        let mut values = vec![0.0; 9900];
        values.extend((1..=100).map(|i| i as f32 / 2.0));
        let style = Style { range: Range::Filled, ..Style::default() };
        let scale = scale_of(&values, &style);
        assert_eq!(
            (scale.range, scale.extends, scale.has_missing),
            ([0.0, 50.0], [false; 2], false)
        );
        assert!(scale.note().unwrap().contains("from 0 to the maximum"));
        let even = scale_of(&[0.9, 1.0], &style);
        assert_eq!(even.range, [0.9f32.into(), 1.0]);
        assert!(even.note().unwrap().contains("not from 0"));
        assert_eq!(scale_of(&[f32::NAN], &style).note(), None);
    }

    #[test]
    fn logarithmic_range_has_at_most_five_decades() {
        let style = Style { range: Range::Filled, scale: Scale::Log, ..Style::default() };
        let scale = scale_of(&[0.0, 1e-30, 1e-2, 10.0], &style);
        assert_eq!(
            (scale.range, scale.extends, scale.has_missing),
            ([1e-4, 10.0], [true, false], false)
        );
        assert_eq!(scale.fraction(0.0), Some(0.0));
        assert!(scale.note().unwrap().contains("5.0 decades"), "{:?}", scale.note());
        let full = Style { range: Range::Full, scale: Scale::Log, ..Style::default() };
        assert_eq!(scale_of(&[1e-30, 10.0], &full).range, [1e-4, 10.0]);
        let given =
            Style { range: Range::Given([1e-9, 1.0]), scale: Scale::Log, ..Style::default() };
        assert_eq!(scale_of(&[1e-30, 10.0], &given).range, [1e-9, 1.0]);
    }

    #[test]
    fn middle_of_a_diverging_map_is_0() {
        let style = Style { colors: Some(ColorMap::CoolWarm), ..Style::default() };
        let scale = scale_of(&[-1.0, 0.0, 3.0], &style);
        assert_eq!(scale.range, [-3.0, 3.0]);
        assert_eq!(scale.fraction(0.0), Some(0.5));
    }

    #[test]
    fn values_on_both_sides_of_0_have_a_diverging_map() {
        let map = |values: &[f32]| scale_of(values, &Style::default()).colors;
        assert_eq!(map(&[-1.0, 9.0]), ColorMap::CoolWarm);
        assert_eq!(map(&[-1.0, 9.1]), ColorMap::Viridis);
        assert_eq!(map(&[-3.0, -1.0]), ColorMap::Viridis);
        let given = Style { colors: Some(ColorMap::Magma), ..Style::default() };
        assert_eq!(scale_of(&[-1.0, 1.0], &given).colors, ColorMap::Magma);
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
