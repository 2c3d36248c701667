//! GIF files.

use super::film::FrameRenderer;
use super::schedule::Shown;
use crate::color::{Rgb, mix};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// The index of pixels that stay as they were.
const UNCHANGED: u8 = 255;

/// Writes the frames. Each one has only the pixels that differ from the one before.
pub(super) fn write(file: impl Write, film: &FrameRenderer, frames: &[Shown]) -> io::Result<()> {
    let size = film.size();
    let mut palette = Palette::new(film);
    let [width, height] = size.map(|side| side as u16);
    let mut encoder =
        gif::Encoder::new(file, width, height, &palette.bytes()).map_err(io::Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
    let mut before: Option<Vec<u8>> = None;
    // Without any save there is still a picture that says so.
    let none = [Shown { time: 0.0, delay: 100 }];
    for shown in if frames.is_empty() { &none } else { frames } {
        let rgb = film.draw(shown.time);
        let frame = frame(before.as_deref().map(colors), colors(&rgb), size, &mut palette);
        encoder
            .write_frame(&gif::Frame { delay: shown.delay, ..frame })
            .map_err(io::Error::other)?;
        before = Some(rgb);
    }
    encoder.into_inner().map_err(io::Error::other)?.flush()
}

fn colors(rgb: &[u8]) -> &[Rgb] {
    rgb.as_chunks().0
}

/// The frame that makes one picture of another; all of it if there is none before.
fn frame(
    before: Option<&[Rgb]>,
    now: &[Rgb],
    [width, height]: [usize; 2],
    palette: &mut Palette,
) -> gif::Frame<'static> {
    let all = [[0, width], [0, height]];
    let [[left, right], [top, bottom]] = before.map_or(all, |before| changes(before, now, width));
    let pixels = (top..bottom).flat_map(|y| y * width + left..y * width + right);
    let index = |at: usize| match before {
        Some(before) if before[at] == now[at] => UNCHANGED,
        _ => palette.index(now[at]),
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

/// The least box that has all pixels that differ: first and last column and row, the latter ones not
/// in it. It has one pixel at least, as frames do.
fn changes(before: &[Rgb], now: &[Rgb], width: usize) -> [[usize; 2]; 2] {
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

/// Up to 255 colours, and the nearest one of each colour that came up.
struct Palette {
    colors: Vec<Rgb>,
    nearest: HashMap<Rgb, u8>,
}

impl Palette {
    /// The colours of the values, and their mixtures with paper and ink; between paper and ink, too.
    fn new(film: &FrameRenderer) -> Self {
        let (inks, values) = film.inks();
        let ramp = |from: Rgb, to: Rgb, steps: u32| {
            (0..steps).map(move |i| mix(from, to, f64::from(i) / f64::from(steps - 1)))
        };
        let mut colors: Vec<Rgb> = ramp(inks.paper, inks.ink, 24).collect();
        colors.extend([inks.muted, inks.faint, inks.missing]);
        for color in values {
            colors.push(mix(color, inks.ink, 0.5));
            colors.extend((1..=6).map(|i| mix(inks.paper, color, f64::from(i) / 6.0)));
        }
        colors.truncate(usize::from(UNCHANGED));
        Self { colors, nearest: HashMap::new() }
    }

    /// Red, green and blue of all, and of the one that is not seen.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.colors.as_flattened().to_vec();
        bytes.resize(3 * 256, 0);
        bytes
    }

    fn index(&mut self, color: Rgb) -> u8 {
        let Self { colors, nearest } = self;
        *nearest.entry(color).or_insert_with(|| {
            let far = |other: &Rgb| -> i32 {
                // The eye sees differences of green best, and of blue least.
                let weights = [3, 6, 1];
                (0..3)
                    .map(|i| weights[i] * (i32::from(color[i]) - i32::from(other[i])).pow(2))
                    .sum()
            };
            let best = colors.iter().enumerate().min_by_key(|(_, other)| far(other));
            best.map_or(0, |(index, _)| index as u8)
        })
    }
}
