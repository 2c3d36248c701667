//! GIF files.

use super::frame_renderer::FrameRenderer;
use super::schedule::TimedFrame;
use crate::color::{ColorMap, Rgb, mix};
use crate::picture::shared::Palette;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// The colour index of unchanged pixels.
const UNCHANGED: u8 = 255;

/// Writes the frames. Each frame contains only the pixels that differ from the previous one.
pub(super) fn write(
    file: impl Write,
    renderer: &FrameRenderer,
    frames: &[TimedFrame],
) -> io::Result<()> {
    // Without saves, a single frame shows a message.
    let empty = [TimedFrame { time: 0.0, delay: 100 }];
    let frames = if frames.is_empty() { &empty } else { frames };
    let drawn = frames.iter().map(|timed| (renderer.draw(timed.time), timed.delay));
    encode(file, renderer.size(), ColorTable::of_particles(renderer), drawn)
}

/// Writes pictures of fields, each with its duration in hundredths of a second, in colours of a map.
pub(super) fn write_pictures(
    file: impl Write,
    size: [usize; 2],
    (palette, colors): (Palette, ColorMap),
    pictures: impl Iterator<Item = (Vec<u8>, u16)>,
) -> io::Result<()> {
    encode(file, size, ColorTable::of_fields(palette, colors), pictures)
}

/// Encodes frames of red, green and blue, each with its duration in hundredths of a second.
fn encode(
    file: impl Write,
    size: [usize; 2],
    mut table: ColorTable,
    frames: impl Iterator<Item = (Vec<u8>, u16)>,
) -> io::Result<()> {
    let [width, height] = size.map(|side| side as u16);
    let mut encoder =
        gif::Encoder::new(file, width, height, &table.bytes()).map_err(io::Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
    let mut before: Option<Vec<u8>> = None;
    for (rgb, delay) in frames {
        let frame = difference(before.as_deref().map(colors), colors(&rgb), size, &mut table);
        encoder.write_frame(&gif::Frame { delay, ..frame }).map_err(io::Error::other)?;
        before = Some(rgb);
    }
    encoder.into_inner().map_err(io::Error::other)?.flush()
}

fn colors(rgb: &[u8]) -> &[Rgb] {
    rgb.as_chunks().0
}

/// The frame that turns the previous picture into the next one; all of it if there is no previous
/// one.
fn difference(
    before: Option<&[Rgb]>,
    now: &[Rgb],
    [width, height]: [usize; 2],
    table: &mut ColorTable,
) -> gif::Frame<'static> {
    let all = [[0, width], [0, height]];
    let [[left, right], [top, bottom]] =
        before.map_or(all, |before| changed_box(before, now, width));
    let pixels = (top..bottom).flat_map(|y| y * width + left..y * width + right);
    let index = |pixel: usize| match before {
        Some(before) if before[pixel] == now[pixel] => UNCHANGED,
        _ => table.index(now[pixel]),
    };
    gif::Frame {
        left: left as u16,
        top: top as u16,
        width: (right - left) as u16,
        height: (bottom - top) as u16,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(UNCHANGED),
        buffer: Cow::Owned(pixels.map(index).collect()),
        ..gif::Frame::default()
    }
}

/// The bounding box of the pixels that differ: half-open ranges of columns and rows. At least one
/// pixel, the minimum of the format.
fn changed_box(before: &[Rgb], now: &[Rgb], width: usize) -> [[usize; 2]; 2] {
    let (mut columns, mut rows) = ([width, 0], None);
    let pairs = before.chunks(width).zip(now.chunks(width)).enumerate();
    for (y, (old, new)) in pairs.filter(|(_, (old, new))| old != new) {
        let differs = |x: &usize| old[*x] != new[*x];
        let first = (0..width).find(differs).unwrap_or(0);
        let last = (0..width).rfind(differs).unwrap_or(0);
        columns = [columns[0].min(first), columns[1].max(last + 1)];
        rows = Some([rows.map_or(y, |[top, _]: [usize; 2]| top), y + 1]);
    }
    rows.map_or([[0, 1], [0, 1]], |rows| [columns, rows])
}

/// The global colour table: up to 255 colours, and a cache of the nearest one of each colour.
struct ColorTable {
    colors: Vec<Rgb>,
    nearest: HashMap<Rgb, u8>,
}

impl ColorTable {
    /// The colours of the values, their blends with background and foreground, and the blends
    /// between these two.
    fn of_particles(renderer: &FrameRenderer) -> Self {
        let (palette, values) = renderer.colors();
        let mut colors = Self::of_palette(palette);
        for color in values {
            colors.push(mix(color, palette.foreground, 0.5));
            colors.extend((1..=6).map(|i| mix(palette.background, color, f64::from(i) / 6.0)));
        }
        Self::of(colors)
    }

    /// The colours of a map, and the blends between background and foreground.
    fn of_fields(palette: Palette, map: ColorMap) -> Self {
        let mut colors = Self::of_palette(palette);
        let count = usize::from(UNCHANGED) - colors.len();
        colors.extend((0..count).map(|i| map.at(i as f64 / (count - 1) as f64)));
        Self::of(colors)
    }

    fn of(mut colors: Vec<Rgb>) -> Self {
        colors.truncate(usize::from(UNCHANGED));
        Self { colors, nearest: HashMap::new() }
    }

    /// The colours of lines and text.
    fn of_palette(palette: Palette) -> Vec<Rgb> {
        let ramp =
            (0..24).map(|i| mix(palette.background, palette.foreground, f64::from(i) / 23.0));
        ramp.chain([palette.muted, palette.grid, palette.missing]).collect()
    }

    /// The table as bytes, padded to 256 colours; the last one is transparent.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.colors.as_flattened().to_vec();
        bytes.resize(3 * 256, 0);
        bytes
    }

    /// The index of the nearest colour.
    fn index(&mut self, color: Rgb) -> u8 {
        let Self { colors, nearest } = self;
        *nearest.entry(color).or_insert_with(|| {
            let distance = |other: &Rgb| -> i32 {
                // The eye is most sensitive to green and least to blue.
                let weights = [3, 6, 1];
                (0..3)
                    .map(|i| weights[i] * (i32::from(color[i]) - i32::from(other[i])).pow(2))
                    .sum()
            };
            let best = colors.iter().enumerate().min_by_key(|(_, other)| distance(other));
            best.map_or(0, |(index, _)| index as u8)
        })
    }
}
