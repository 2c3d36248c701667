//! Options for the style of pictures, on the command line or in a file.

use burntrace_plot::{
    color::ColorMap,
    picture::{Background, Range, Scale, Style},
};
use clap::Args;
use serde::Deserialize;
use std::{path::Path, str::FromStr};

/// Options for the style of pictures.
#[derive(Args, Clone, Default)]
pub struct StyleArgs {
    /// Attribute that colours the tracks: speed, age, time, seed, status (how each ends), source, or an array of the run (of a
    /// vector the magnitude)
    #[arg(long)]
    pub color: Option<String>,
    /// TOML file with the names of the following options as keys, such as `colors = "magma"`; options take precedence
    #[arg(long, value_name = "FILE", value_parser = StyleFile::read)]
    style: Option<StyleFile>,
    /// Colour map: viridis, magma, inferno, plasma, cividis, coolwarm; default: coolwarm for values on both sides of 0, else
    /// viridis
    #[arg(long)]
    colors: Option<ColorMap>,
    /// Values of the first and the last colour, such as 0,2.5
    #[arg(long, value_parser = range, allow_hyphen_values = true)]
    range: Option<[f64; 2]>,
    /// Use a logarithmic colour scale
    #[arg(long)]
    log: bool,
    /// Use a dark background
    #[arg(long)]
    dark: bool,
    /// Width and height: in pixels, such as 1600x1000, or on paper, such as 84mmx60mm or 3.5inx2.5in
    #[arg(long)]
    size: Option<FigureSize>,
    /// Pixels per inch; default: 300 for a size on paper, else 96
    #[arg(long)]
    dpi: Option<f64>,
    /// Font size of labels in points; default: 8 for a size on paper, else by the size
    #[arg(long, value_name = "POINTS")]
    font_size: Option<f64>,
    /// Width of lines of tracks in points; default: by the font size and the number of tracks
    #[arg(long, value_name = "POINTS")]
    line_width: Option<f64>,
    /// Opacity of tracks, above 0 and up to 1; default: by their number
    #[arg(long)]
    opacity: Option<f64>,
    /// Title of the picture, such as "Gulf Stream"
    #[arg(long)]
    title: Option<String>,
    /// Draw no title and no line below it
    #[arg(long)]
    no_heading: bool,
}

/// The same options in a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct StyleFile {
    colors: Option<String>,
    range: Option<[f64; 2]>,
    log: bool,
    dark: bool,
    size: Option<String>,
    dpi: Option<f64>,
    font_size: Option<f64>,
    line_width: Option<f64>,
    opacity: Option<f64>,
    no_heading: bool,
    /// Of `size` and `colors`.
    #[serde(skip)]
    parsed: (Option<FigureSize>, Option<ColorMap>),
}

/// Width and height of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureSize {
    Pixels([u32; 2]),
    Millimetres([f64; 2]),
}

impl StyleFile {
    fn read(path: &str) -> Result<StyleFile, String> {
        let text = std::fs::read_to_string(Path::new(path)).map_err(|error| error.to_string())?;
        let mut file: StyleFile =
            toml::from_str(&text).map_err(|error| error.to_string().trim_end().to_string())?;
        let size = file.size.as_deref().map(str::parse).transpose();
        let colors = file.colors.as_deref().map(str::parse::<ColorMap>).transpose();
        file.parsed = (
            size.map_err(|reason: String| format!("`size`: {reason}"))?,
            colors.map_err(|error| error.to_string())?,
        );
        Ok(file)
    }
}

impl StyleArgs {
    /// The style for the plot library.
    pub fn style(&self) -> Style {
        let file = self.style.clone().unwrap_or_default();
        let style = Style {
            background: if self.dark || file.dark { Background::Dark } else { Background::Light },
            color_by: self.color.clone(),
            colors: self.colors.or(file.parsed.1),
            range: self.given_range().map_or_else(Range::default, Range::Given),
            scale: if self.log || file.log { Scale::Log } else { Scale::Linear },
            font_size: self.font_size.or(file.font_size),
            opacity: self.opacity.or(file.opacity),
            ..Style::default()
        };
        let dpi = self.dpi.or(file.dpi);
        let style = match self.size() {
            Some(FigureSize::Millimetres(size)) => style.on_paper(size, dpi.unwrap_or(ON_PAPER)),
            Some(FigureSize::Pixels(size)) => {
                Style { size, dpi: dpi.unwrap_or(style.dpi), ..style }
            }
            None => Style { dpi: dpi.unwrap_or(style.dpi), ..style },
        };
        let points = self.line_width.or(file.line_width);
        let line_width = points.map(|points| points / 72.0 * style.dpi);
        let has_heading = !(self.no_heading || file.no_heading);
        let no_title = (!has_heading).then(String::new);
        Style { line_width, title: self.title.clone().or(no_title), subtitle: has_heading, ..style }
    }

    /// The style of densities, whose colours show all that is not empty.
    pub fn of_density(&self) -> Style {
        let style = self.style();
        Style { range: self.given_range().map_or(Range::Filled, Range::Given), ..style }
    }

    /// The given values of the first and the last colour.
    pub fn given_range(&self) -> Option<[f64; 2]> {
        self.range.or(self.style.as_ref().and_then(|file| file.range))
    }

    /// The given size.
    pub fn size(&self) -> Option<FigureSize> {
        self.size.or(self.style.as_ref().and_then(|file| file.parsed.0))
    }
}

/// Pixels per inch on paper.
const ON_PAPER: f64 = 300.0;

/// Millimetres in a unit of length.
const UNITS: [(&str, f64); 4] = [("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("pt", 25.4 / 72.0)];

impl FromStr for FigureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "give width and height in pixels, such as 1600x1000, or in mm, cm, in or pt, such as 84mmx60mm";
        let (width, height) = text.split_once('x').ok_or_else(expected)?;
        let [width, height] = [width, height].map(str::trim);
        if let (Ok(width), Ok(height)) = (width.parse(), height.parse()) {
            return Ok(FigureSize::Pixels([width, height]));
        }
        // The unit of the height is that of a width without one.
        let unit_of = |side: &str| UNITS.into_iter().find(|(name, _)| side.ends_with(name));
        let last = unit_of(height).ok_or_else(expected)?;
        let millimetres = |side: &str| {
            let (name, factor) = unit_of(side).unwrap_or(last);
            let number = side.trim_end_matches(name).trim().parse::<f64>().ok();
            number
                .map(|number| factor * number)
                .filter(|length| *length > 0.0 && length.is_finite())
        };
        let sides = millimetres(width).zip(millimetres(height));
        sides
            .map(|(width, height)| FigureSize::Millimetres([width, height]))
            .ok_or_else(|| expected().into())
    }
}

/// Parses two numbers.
fn range(text: &str) -> Result<[f64; 2], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    numbers
        .ok()
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "give two numbers separated by a comma, such as 0,2.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_pixels_or_lengths_on_paper() {
        let parsed = |text: &str| text.parse::<FigureSize>();
        assert_eq!(parsed("1600x1000"), Ok(FigureSize::Pixels([1600, 1000])));
        let paper = |width, height| Ok(FigureSize::Millimetres([width, height]));
        assert_eq!(parsed("84mmx60mm"), paper(84.0, 60.0));
        assert_eq!(parsed("8.4cm x 6 cm"), paper(84.0, 60.0));
        assert_eq!(parsed("84x60mm"), paper(84.0, 60.0));
        assert_eq!(parsed("2inx1in"), paper(50.8, 25.4));
        for text in ["", "84mm", "84mmx", "x60mm", "-84mmx60mm", "84kmx60km", "1600.5x1000"] {
            assert!(parsed(text).unwrap_err().contains("such as 84mmx60mm"), "{text}");
        }
    }

    #[test]
    fn options_take_precedence_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("style.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            StyleFile::read(path.to_str().unwrap())
        };
        let text = "colors = \"magma\"\nsize = \"84mmx60mm\"\ndpi = 600\nfont-size = 7\nline-width = 0.5\nrange = [0, 2]\ndark = true";
        let file = read(text).unwrap();
        let style = StyleArgs { style: Some(file.clone()), ..StyleArgs::default() }.style();
        assert_eq!((style.size, style.dpi, style.font_size), ([1984, 1417], 600.0, Some(7.0)));
        assert_eq!((style.colors, style.background), (Some(ColorMap::Magma), Background::Dark));
        assert_eq!(style.range, Range::Given([0.0, 2.0]));
        assert!((style.line_width.unwrap() - 0.5 / 72.0 * 600.0).abs() < 1e-9);
        let own = StyleArgs {
            style: Some(file),
            colors: Some(ColorMap::Cividis),
            size: Some(FigureSize::Pixels([400, 300])),
            ..StyleArgs::default()
        };
        assert_eq!((own.style().colors, own.style().size), (Some(ColorMap::Cividis), [400, 300]));
        for (text, expected) in [
            ("colours = \"magma\"", "unknown field `colours`"),
            ("colors = \"jet\"", "viridis"),
            ("size = \"84\"", "`size`: give width and height"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
