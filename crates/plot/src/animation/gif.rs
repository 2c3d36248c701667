//! GIF files.

use super::film::Film;
use super::schedule::Shown;
use crate::color::{Rgb, mix};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// The index of pixels that stay as they were.
const UNCHANGED: u8 = 255;

/// Writes the frames. Each one has only the pixels that differ from the one before.
pub(super) fn write(file: impl Write, film: &Film, frames: &[Shown]) -> io::Result<()> {
    let size = film.size();
    let mut palette = Palette::new(film);
    let [width, height] = size.map(|side| side as u16);
    let mut encoder =
        gif::Encoder::new(file, width, height, &palette.bytes()).map_err(io::Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
    let mut before = Vec::new();
    // Without any save there is still a picture that says so.
    let none = [Shown { time: 0.0, delay: 100 }];
    for shown in if frames.is_empty() { &none } else { frames } {
        let rgb = film.draw(shown.time);
        let frame = frame(&before, &rgb, size, &mut palette);
        encoder
            .write_frame(&gif::Frame { delay: shown.delay, ..frame })
            .map_err(io::Error::other)?;
        before = rgb;
    }
    encoder.into_inner().map_err(io::Error::other)?.flush()
}

/// The frame that makes one picture of another; all of it if there is none before.
fn frame(
    before: &[u8],
    rgb: &[u8],
    [width, height]: [usize; 2],
    palette: &mut Palette,
) -> gif::Frame<'static> {
    let differs =
        |at: usize| before.is_empty() || before[3 * at..3 * at + 3] != rgb[3 * at..3 * at + 3];
    let row = |y: usize| y * width..(y + 1) * width;
    let rows = (0..height).filter(|&y| {
        before.is_empty()
            || before[3 * y * width..][..3 * width] != rgb[3 * y * width..][..3 * width]
    });
    let rows: Vec<usize> = rows.collect();
    // A frame has one pixel at least.
    let (top, bottom) = (rows.first().map_or(0, |y| *y), rows.last().map_or(1, |y| y + 1));
    let [mut left, mut right] = [width, 0];
    for &y in &rows {
        let mut changed = row(y).filter(|&at| differs(at)).map(|at| at % width);
        if let Some(first) = changed.next() {
            left = left.min(first);
            right = right.max(changed.next_back().unwrap_or(first) + 1);
        }
    }
    let (left, right) = if left < right { (left, right) } else { (0, 1) };
    let pixels = (top..bottom).flat_map(|y| y * width + left..y * width + right);
    let mut index = |at: usize| match differs(at) {
        true => palette.index([rgb[3 * at], rgb[3 * at + 1], rgb[3 * at + 2]]),
        false => UNCHANGED,
    };
    let buffer: Vec<u8> = pixels.map(&mut index).collect();
    gif::Frame {
        left: left as u16,
        top: top as u16,
        width: (right - left) as u16,
        height: (bottom - top) as u16,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(UNCHANGED),
        buffer: Cow::Owned(buffer),
        ..gif::Frame::default()
    }
}

/// Up to 255 colours, and the nearest one of each colour that came up.
struct Palette {
    colors: Vec<Rgb>,
    nearest: HashMap<Rgb, u8>,
}

impl Palette {
    /// The colours of the values, and their mixtures with paper and ink; between paper and ink, too.
    fn new(film: &Film) -> Self {
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
