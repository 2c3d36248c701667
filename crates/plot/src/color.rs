//! Colour maps.

mod tables;

use crate::error::{Error, Result};
use std::str::FromStr;

/// Red, green and blue (sRGB).
pub type Rgb = [u8; 3];

/// A colour map: a table of colours with linear interpolation.
///
/// All of them are perceptually uniform or nearly so: the lightness increases from the low to the
/// high end or, in the diverging map, from both ends to the middle. [`str::parse`] reads their
/// names, in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMap {
    /// From dark violet over green to yellow.
    #[default]
    Viridis,
    /// From black over purple to pale yellow.
    Magma,
    /// From black over red to pale yellow.
    Inferno,
    /// From blue over red to yellow.
    Plasma,
    /// From dark blue over grey to yellow; looks alike with and without red-green blindness.
    Cividis,
    /// Diverging, from blue over light grey to red, for values on both sides of 0.
    CoolWarm,
}

impl ColorMap {
    /// All colour maps.
    pub const ALL: [Self; 6] =
        [Self::Viridis, Self::Magma, Self::Inferno, Self::Plasma, Self::Cividis, Self::CoolWarm];

    /// Its name in matplotlib.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Magma => "magma",
            Self::Inferno => "inferno",
            Self::Plasma => "plasma",
            Self::Cividis => "cividis",
            Self::CoolWarm => "coolwarm",
        }
    }

    /// Whether it is diverging: its middle marks 0.
    pub fn is_diverging(self) -> bool {
        self == Self::CoolWarm
    }

    /// The colour at a fraction from 0 (first) to 1 (last); fractions outside are clamped, NaN
    /// counts as 0.
    pub fn at(self, fraction: f64) -> Rgb {
        let table = self.table();
        let last = table.len() - 1;
        let position = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) * last as f64 };
        let row = (position as usize).min(last - 1);
        let [from, to] = [table[row], table[row + 1]].map(|color| {
            let [_, rgb @ ..] = color.to_be_bytes();
            rgb
        });
        mix(from, to, position - row as f64)
    }

    fn table(self) -> &'static [u32; 33] {
        match self {
            Self::Viridis => &tables::VIRIDIS,
            Self::Magma => &tables::MAGMA,
            Self::Inferno => &tables::INFERNO,
            Self::Plasma => &tables::PLASMA,
            Self::Cividis => &tables::CIVIDIS,
            Self::CoolWarm => &tables::COOLWARM,
        }
    }
}

impl FromStr for ColorMap {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|map| map.name() == name).ok_or_else(|| Error::Name {
            what: "colour map",
            given: name.into(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// Linear interpolation between two colours: `from` at a fraction of 0, `to` at 1.
pub(crate) fn mix(from: Rgb, to: Rgb, fraction: f64) -> Rgb {
    let channel = |i: usize| {
        let (from, to) = (f64::from(from[i]), f64::from(to[i]));
        (from + (to - from) * fraction).round() as u8
    };
    [channel(0), channel(1), channel(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L* of an sRGB colour (IEC 61966-2-1 and CIE 15).
    fn lightness(color: Rgb) -> f64 {
        let linear = color.map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        let y = 0.2126729 * linear[0] + 0.7151522 * linear[1] + 0.0721750 * linear[2];
        if y > 216.0 / 24389.0 { 116.0 * y.cbrt() - 16.0 } else { y * 24389.0 / 27.0 }
    }

    /// Lightness at fractions from `from` to `to`.
    fn lightnesses(map: ColorMap, from: f64, to: f64) -> Vec<f64> {
        (0..=32).map(|i| lightness(map.at(from + (to - from) * f64::from(i) / 32.0))).collect()
    }

    #[test]
    fn lightness_increases_to_the_end_or_to_the_middle() {
        for map in ColorMap::ALL {
            let ramps = if map.is_diverging() {
                vec![lightnesses(map, 0.0, 0.5), lightnesses(map, 1.0, 0.5)]
            } else {
                vec![lightnesses(map, 0.0, 1.0)]
            };
            for ramp in ramps {
                for (i, pair) in ramp.windows(2).enumerate() {
                    assert!(pair[1] > pair[0], "{}: at {i} {} to {}", map.name(), pair[0], pair[1]);
                }
                assert!(ramp[ramp.len() - 1] - ramp[0] > 45.0, "{}: {ramp:?}", map.name());
            }
        }
    }

    #[test]
    fn both_ends_of_a_diverging_map_are_equally_light() {
        let [low, high] = [0.0, 1.0].map(|end| lightness(ColorMap::CoolWarm.at(end)));
        assert!((low - high).abs() < 2.0, "{low} and {high}");
        let [red, green, blue] = ColorMap::CoolWarm.at(0.5);
        assert!(red == green && green == blue, "the middle is not grey");
    }

    #[test]
    fn parsing_a_name_gives_its_map() {
        for map in ColorMap::ALL {
            assert_eq!(map.name().parse::<ColorMap>().unwrap(), map);
        }
        let error = "jet".parse::<ColorMap>().unwrap_err().to_string();
        assert!(error.contains("`jet`") && error.contains("viridis, magma"), "{error}");
    }

    #[test]
    fn fractions_out_of_range_are_clamped() {
        assert_eq!(ColorMap::Viridis.at(-3.0), [68, 1, 84]);
        assert_eq!(ColorMap::Viridis.at(f64::INFINITY), [253, 231, 37]);
        assert_eq!(ColorMap::Viridis.at(1.0 / 64.0), mix([68, 1, 84], [71, 13, 96], 0.5));
    }
}
