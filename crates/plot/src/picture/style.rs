//! How pictures look.

use crate::color::ColorMap;
use crate::error::{Error, Result};

/// How a picture looks. [`Style::default`] suits most.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels: 160 to 16,384 each. The text grows with the picture.
    pub size: [u32; 2],
    /// Light or dark.
    pub background: Background,
    /// The attribute by which tracks and particles are coloured (`speed`, `age`, ...); the first one
    /// of the ways if there is none here.
    pub color_by: Option<String>,
    /// The colours of the values.
    pub colors: ColorMap,
    /// The values of the first and of the last colour.
    pub range: Range,
    /// Whether the colours go linearly or logarithmically over the range.
    pub scale: Scale,
    /// The title; if there is none here, one that says what is shown.
    pub title: Option<String>,
    /// Width of the tracks in pixels; if there is none here, the thinner the more there are.
    pub line_width: Option<f64>,
    /// Opacity of the tracks, over 0 to 1; if there is none here, the less the more there are.
    pub opacity: Option<f64>,
    /// Whether tracks have dots where they start and where they end, if there are 1000 at most.
    pub dots: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            size: [1600, 1000],
            background: Background::default(),
            color_by: None,
            colors: ColorMap::default(),
            range: Range::default(),
            scale: Scale::default(),
            title: None,
            line_width: None,
            opacity: None,
            dots: true,
        }
    }
}

/// The side in pixels that a picture has at least and at most.
pub(crate) const SIDES: [u32; 2] = [160, 16_384];

impl Style {
    /// Says what is wrong with the numbers.
    pub(crate) fn check(&self) -> Result<()> {
        let [least, most] = SIDES;
        if self.size.iter().any(|side| !(least..=most).contains(side)) {
            return Err(Error::Size { size: self.size, least, most });
        }
        let wrong = |name, given: f64, wanted| {
            Err(Error::Option { name, given: given.to_string(), wanted })
        };
        match (self.line_width, self.opacity, self.range) {
            (Some(width), _, _) if !(width > 0.0 && width <= 1000.0) => {
                wrong("line_width", width, "a number of pixels over 0, up to 1000")
            }
            (_, Some(opacity), _) if !(opacity > 0.0 && opacity <= 1.0) => {
                wrong("opacity", opacity, "a number over 0, up to 1")
            }
            (_, _, Range::Given(range)) => self.check_range(range),
            _ => Ok(()),
        }
    }

    fn check_range(&self, [low, high]: [f64; 2]) -> Result<()> {
        let wanted = match self.scale {
            Scale::Linear => "two finite numbers, the lower one first",
            Scale::Log => {
                "two finite numbers over 0, the lower one first, as the scale is logarithmic"
            }
        };
        let fits = low < high && low.is_finite() && high.is_finite();
        if fits && (self.scale == Scale::Linear || low > 0.0) {
            return Ok(());
        }
        Err(Error::Option { name: "range", given: format!("{low} to {high}"), wanted })
    }
}

/// What is behind a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// White, with dark text.
    #[default]
    Light,
    /// Nearly black, with light text.
    Dark,
}

/// The values of the first and of the last colour.
///
/// With a diverging [`ColorMap`] the range is symmetric about 0, unless it is given or the scale is
/// logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Range {
    /// From the 2 % to the 98 % quantile if that is less than two thirds of all (of its logarithm, if
    /// the scale is logarithmic), so that a few far values do not take all the colours; otherwise
    /// [`Range::Full`].
    #[default]
    Robust,
    /// From the least to the greatest value.
    Full,
    /// From the first to the second. Values beyond have the colour of the end.
    Given([f64; 2]),
}

/// How something goes over its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By its logarithm. Values that are not above 0 are as if there was none.
    Log,
}
