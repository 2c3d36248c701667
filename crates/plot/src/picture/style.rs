//! The appearance of pictures.

use crate::color::ColorMap;
use crate::error::{Error, Result};

/// The appearance of a picture. [`Style::default`] suits most cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels: 160 to 16,384 each.
    pub size: [u32; 2],
    /// Pixels per inch, 10 to 10,000, which give PDF and SVG files their size on paper; PNG files state it.
    pub dpi: f64,
    /// Font size of labels in points of 1/72 inch, up to a tenth of the shorter side; by default it grows with the picture.
    /// Widths of lines and sizes of dots that are not given follow the font.
    pub font_size: Option<f64>,
    /// Light or dark.
    pub background: Background,
    /// The attribute that colours tracks and particles (`speed`, `age`, ...); by default the first
    /// one of the trajectories.
    pub color_by: Option<String>,
    /// The colour map of the values; by default [`ColorMap::CoolWarm`] for values on both sides of 0, else
    /// [`ColorMap::Viridis`].
    pub colors: Option<ColorMap>,
    /// The values of the first and of the last colour.
    pub range: Range,
    /// Whether colours are spaced linearly or logarithmically over the range.
    pub scale: Scale,
    /// The title; by default a description of the content. An empty one takes no space.
    pub title: Option<String>,
    /// Whether to draw the line below the title, which says what is shown. In a paper, the caption says it.
    pub subtitle: bool,
    /// Whether to draw the colour bar.
    pub colorbar: bool,
    /// Line width of the tracks in pixels; by default it decreases with their number.
    pub line_width: Option<f64>,
    /// Opacity of the tracks, above 0 and up to 1; by default it decreases with their number.
    pub opacity: Option<f64>,
    /// Whether to draw dots at the start and the end of the tracks, for at most 1000 tracks, and fewer in small pictures.
    pub dots: bool,
    /// Whether 3-D views are in perspective; otherwise they are orthographic.
    pub perspective: bool,
    /// Magnification about the middle of the tracks, 1 to 10,000: a picture of tracks shows this fraction
    /// of each axis of the domain.
    pub zoom: f64,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            size: [1600, 1000],
            dpi: SCREEN,
            font_size: None,
            background: Background::default(),
            color_by: None,
            colors: None,
            range: Range::default(),
            scale: Scale::default(),
            title: None,
            subtitle: true,
            colorbar: true,
            line_width: None,
            opacity: None,
            dots: true,
            perspective: false,
            zoom: 1.0,
        }
    }
}

/// Minimum and maximum of the width and the height, in pixels.
pub(crate) const SIZE_RANGE: [u32; 2] = [160, 16_384];
/// Pixels per inch of screens, as SVG defines them.
pub(crate) const SCREEN: f64 = 96.0;
/// Millimetres in an inch, and points in one.
const MILLIMETRES: f64 = 25.4;
pub(crate) const POINTS: f64 = 72.0;
/// Default font size on paper, in points: journals ask for 7 to 9.
const FONT_ON_PAPER: f64 = 8.0;

impl Style {
    /// The style for a figure on paper: width and height in millimetres, pixels per inch, and labels of 8 points unless it has
    /// another font size.
    #[must_use]
    pub fn on_paper(self, millimetres: [f64; 2], dpi: f64) -> Self {
        let size = millimetres.map(|side| (side / MILLIMETRES * dpi).round() as u32);
        Self { size, dpi, font_size: self.font_size.or(Some(FONT_ON_PAPER)), ..self }
    }

    /// The font size of labels in pixels.
    pub(crate) fn em(&self) -> f64 {
        let [width, height] = self.size.map(f64::from);
        let by_size = || ((width * height).sqrt() / 60.0).max(11.0).min(width.min(height) / 16.0);
        self.font_size.map_or_else(by_size, |points| points / POINTS * self.dpi)
    }

    /// Checks that the numbers are in range.
    pub(crate) fn check(&self) -> Result<()> {
        let [min, max] = SIZE_RANGE;
        if self.size.iter().any(|side| !(min..=max).contains(side)) {
            return Err(Error::Size { size: self.size, min, max });
        }
        let invalid = |name, given: f64, expected| {
            Err(Error::Option { name, given: given.to_string(), expected })
        };
        if !(10.0..=1e4).contains(&self.dpi) {
            return invalid("dpi", self.dpi, "10 to 10,000 pixels per inch");
        }
        let shorter = f64::from(self.size[0].min(self.size[1]));
        if let Some(points) = self.font_size
            && !(points > 0.0 && self.em() <= shorter / 10.0)
        {
            let expected = "points above 0, and at most a tenth of the shorter side of the picture";
            return invalid("font_size", points, expected);
        }
        if !(1.0..=1e4).contains(&self.zoom) {
            return invalid("zoom", self.zoom, "a number from 1 to 10,000");
        }
        match (self.line_width, self.opacity, self.range) {
            (Some(width), _, _) if !(width > 0.0 && width <= 1000.0) => {
                invalid("line_width", width, "a number of pixels above 0 and up to 1000")
            }
            (_, Some(opacity), _) if !(opacity > 0.0 && opacity <= 1.0) => {
                invalid("opacity", opacity, "a number above 0 and up to 1")
            }
            (_, _, Range::Given(range)) => self.check_range(range),
            _ => Ok(()),
        }
    }

    fn check_range(&self, [low, high]: [f64; 2]) -> Result<()> {
        let expected = match self.scale {
            Scale::Linear => "two finite numbers, the lower one first",
            Scale::Log => {
                "two finite numbers above 0, the lower one first, for a logarithmic scale"
            }
        };
        let is_valid = low < high && low.is_finite() && high.is_finite();
        if is_valid && (self.scale == Scale::Linear || low > 0.0) {
            return Ok(());
        }
        Err(Error::Option { name: "range", given: format!("{low} to {high}"), expected })
    }
}

/// The background of a picture.
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
/// With a diverging [`ColorMap`] the range is symmetric about 0, unless it is given explicitly or
/// the scale is logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Range {
    /// The 2 % to 98 % quantiles if these are closer than two thirds of the full range (on a
    /// logarithmic scale, of its logarithm), so that a few outliers do not use up the colours;
    /// otherwise [`Range::Full`].
    #[default]
    Robust,
    /// From the minimum to the maximum.
    Full,
    /// For densities and other amounts: from 0 to the maximum or, where even the least of the values that
    /// are not empty (above a thousandth of the maximum) is above half of it, from the minimum of these. On
    /// a logarithmic scale, five decades up to the maximum, or fewer. A line below the title says which.
    Filled,
    /// From the first to the second number. Values outside have the colour of the nearer end.
    Given([f64; 2]),
}

/// The spacing of values on a colour scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic, over at most five decades below the maximum unless the range is given. Values at or
    /// below 0 count as missing or, with [`Range::Filled`], as below the range.
    Log,
}
