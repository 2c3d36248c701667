//! Which value has which colour.

use super::style::{Range, Scale, Style};
use super::ticks::{self, Ticks};
use crate::color::{ColorMap, Rgb};

/// Which value has which colour.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coding {
    pub colors: ColorMap,
    /// The values of the first and of the last colour, which differ.
    pub range: [f64; 2],
    pub log: bool,
    /// Whether there are values below and above the range.
    pub beyond: [bool; 2],
    /// Whether there is a value that has no colour.
    pub missing: bool,
    /// Whether all values are whole numbers.
    pub whole: bool,
    /// Whether there is no value that has a colour.
    pub empty: bool,
}

/// So many values are looked at for their quantiles.
const SAMPLE: usize = 200_000;

impl Coding {
    /// The coding of values in a style. Where there is none, the range is that of the style or 0 to 1.
    pub(crate) fn new(values: impl Iterator<Item = f32> + Clone, style: &Style) -> Self {
        let log = style.scale == Scale::Log;
        let counts = |value: &f32| value.is_finite() && (!log || *value > 0.0);
        let kept = values.clone().filter(counts);
        let all = kept
            .clone()
            .map(f64::from)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        let whole = kept.clone().all(|value| value.fract() == 0.0);
        let missing = values.clone().any(|value| !counts(&value));
        let range = match style.range {
            Range::Given(range) => range,
            Range::Full => all,
            Range::Robust => robust(kept, all, log),
        };
        let mut range = if log { widened_log(range) } else { ticks::widened(range) };
        if style.colors.is_diverging() && !log && !matches!(style.range, Range::Given(_)) {
            let far = range[0].abs().max(range[1].abs());
            range = [-far, far];
        }
        let beyond = [all[0] < range[0], all[1] > range[1]];
        let empty = all[0] > all[1];
        Self { colors: style.colors, range, log, beyond, missing, whole, empty }
    }

    /// The place of a value among the colours, 0 to 1 in the range; none if it has no colour.
    pub(crate) fn place(&self, value: f32) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        Some(ticks::place(f64::from(value), self.range, self.log))
    }

    /// The colour of a value, in 256 steps, so that neighbours often have the same.
    pub(crate) fn color(&self, value: f32, missing: Rgb) -> Rgb {
        self.place(value).map_or(missing, |place| self.colors.at((place * 255.0).round() / 255.0))
    }

    pub(crate) fn ticks(&self, most: usize) -> Ticks {
        match self.log {
            true => ticks::logarithmic(self.range, most),
            false => ticks::linear(self.range, most, self.whole),
        }
    }
}

/// A range on a logarithmic scale that has a width.
fn widened_log([low, high]: [f64; 2]) -> [f64; 2] {
    match low > 0.0 && low.is_finite() && high.is_finite() {
        true if high > low * (1.0 + 1e-9) => [low, high],
        true => [low / 2.0, low * 2.0],
        false => [0.1, 1.0],
    }
}

/// See [`Range::Robust`].
fn robust(values: impl Iterator<Item = f32> + Clone, all: [f64; 2], log: bool) -> [f64; 2] {
    let count = values.clone().count();
    let mut sample: Vec<f32> = values.step_by((count / SAMPLE).max(1)).collect();
    let Some(last) = sample.len().checked_sub(1) else { return all };
    let mut quantile = |part: f64| {
        let at = (part * last as f64).round() as usize;
        f64::from(*sample.select_nth_unstable_by(at, f32::total_cmp).1)
    };
    let inner = [quantile(0.02), quantile(0.98)];
    let width = |[low, high]: [f64; 2]| if log { (high / low).ln() } else { high - low };
    let narrow = width(inner) < 2.0 / 3.0 * width(all);
    if narrow && inner[0] < inner[1] { inner } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding(values: &[f32], style: &Style) -> Coding {
        Coding::new(values.iter().copied(), style)
    }

    #[test]
    fn far_values_are_cut_off_and_said_to_be() {
        let mut values: Vec<f32> = (0..=100).map(|i| i as f32 / 100.0).collect();
        assert_eq!(coding(&values, &Style::default()).range, [0.0, 1.0]);
        values.push(1000.0);
        let robust = coding(&values, &Style::default());
        assert_eq!((robust.range, robust.beyond), ([0.02f32.into(), 0.99f32.into()], [true, true]));
        let full = coding(&values, &Style { range: Range::Full, ..Style::default() });
        assert_eq!((full.range, full.beyond), ([0.0, 1000.0], [false, false]));
    }

    #[test]
    fn a_diverging_map_has_0_in_its_middle() {
        let style = Style { colors: ColorMap::CoolWarm, ..Style::default() };
        let coding = coding(&[-1.0, 0.0, 3.0], &style);
        assert_eq!(coding.range, [-3.0, 3.0]);
        assert_eq!(coding.place(0.0), Some(0.5));
    }

    #[test]
    fn on_a_logarithmic_scale_0_is_no_value() {
        let style = Style { scale: Scale::Log, ..Style::default() };
        let coding = coding(&[0.0, 1.0, 100.0], &style);
        assert_eq!((coding.range, coding.missing), ([1.0, 100.0], true));
        assert_eq!((coding.place(0.0), coding.place(10.0)), (None, Some(0.5)));
    }

    #[test]
    fn values_that_are_one_or_none_have_a_range() {
        for values in [&[][..], &[f32::NAN], &[2.0, 2.0], &[0.0], &[-1e-9], &[f32::INFINITY]] {
            for scale in [Scale::Linear, Scale::Log] {
                let coding = coding(values, &Style { scale, ..Style::default() });
                let [low, high] = coding.range;
                assert!(
                    low < high && low.is_finite() && high.is_finite(),
                    "{values:?}: {coding:?}"
                );
                for place in values.iter().filter_map(|&value| coding.place(value)) {
                    assert!((place - 0.5).abs() < 1e-6, "{values:?}: {place}");
                }
            }
        }
    }
}
