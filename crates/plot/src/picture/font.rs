//! The letters: DejaVu Sans, of which the file has Latin, Greek, superscripts and some signs.

use super::canvas::{Align, Text};
use ab_glyph::{Font, FontRef, Glyph, OutlinedGlyph, PxScale, ScaleFont, point};
use std::sync::OnceLock;

/// The font, which a test has seen to be one.
fn font() -> Option<&'static FontRef<'static>> {
    static FONT: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let file = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
    FONT.get_or_init(|| FontRef::try_from_slice(file).ok()).as_ref()
}

/// The glyphs of a text that starts at 0, and its width.
fn glyphs(text: &str, size: f64) -> (Vec<Glyph>, f32) {
    let Some(font) = font() else { return (Vec::new(), 0.0) };
    let em = font.units_per_em().unwrap_or(1.0);
    let font = font.as_scaled(PxScale::from(size as f32 * font.height_unscaled() / em));
    let (mut glyphs, mut x, mut last) = (Vec::new(), 0.0, None);
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        let mut glyph = font.scaled_glyph(letter);
        x += last.map_or(0.0, |last| font.kern(last, glyph.id));
        glyph.position = point(x, 0.0);
        x += font.h_advance(glyph.id);
        last = Some(glyph.id);
        glyphs.push(glyph);
    }
    (glyphs, x)
}

/// The width of a text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    f64::from(glyphs(text, size).1)
}

/// The text and its size such that it is at most as wide as `room`: smaller by up to a third, and
/// then shorter, with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> (String, f64) {
    let wide = width(text, size);
    if wide <= room {
        return (text.to_string(), size);
    }
    let size = size * (room / wide).max(2.0 / 3.0);
    let mut shorter = text.to_string();
    while width(&format!("{shorter}…"), size) > room && shorter.pop().is_some() {}
    let whole = width(text, size) <= room * (1.0 + 1e-6);
    (if whole { text.to_string() } else { format!("{}…", shorter.trim_end()) }, size)
}

/// Gives `paint` the pixels of a text: column, row and how much of the pixel it covers.
pub(crate) fn draw(text: &Text, mut paint: impl FnMut(i64, i64, f32)) {
    let Some(font) = font() else { return };
    let (glyphs, wide) = glyphs(&text.text, text.size);
    let back = match text.align {
        Align::Start => 0.0,
        Align::Middle => wide / 2.0,
        Align::End => wide,
    };
    // Along the text from its place, and down from its base line; whole pixels across it look best.
    let along = if text.upwards { -text.at[1] } else { text.at[0] };
    let across = (if text.upwards { text.at[0] } else { text.at[1] }).round() as i64;
    for mut glyph in glyphs {
        glyph.position.x += along as f32 - back;
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        each_pixel(&outline, |x, y, cover| match text.upwards {
            true => paint(across + y, -x - 1, cover),
            false => paint(x, across + y, cover),
        });
    }
}

fn each_pixel(outline: &OutlinedGlyph, mut paint: impl FnMut(i64, i64, f32)) {
    let bounds = outline.px_bounds();
    let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
    outline.draw(|x, y, cover| paint(left + i64::from(x), top + i64::from(y), cover.min(1.0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_all_signs_that_labels_use() {
        let font = font().expect("the file is a font");
        for letter in "azAZ09äöüßéñ µαωΔΩ ⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ −×·°±→≤≥…–".chars()
        {
            assert!(font.glyph_id(letter).0 != 0, "no {letter}");
        }
    }

    #[test]
    fn text_that_is_too_wide_gets_smaller_and_then_shorter() {
        assert_eq!(fit("speed", 20.0, 500.0), ("speed".into(), 20.0));
        let wide = width("speed of the particle", 20.0);
        let (text, size) = fit("speed of the particle", 20.0, 0.8 * wide);
        assert!(text == "speed of the particle" && (size - 16.0).abs() < 0.01, "{text} {size}");
        let (text, size) = fit("speed of the particle", 20.0, 0.3 * wide);
        assert!(text.starts_with("speed") && text.ends_with('…'), "{text}");
        assert!(width(&text, size) <= 0.3 * wide);
    }
}
