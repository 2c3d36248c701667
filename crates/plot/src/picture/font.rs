//! The font: a subset of DejaVu Sans with Latin, Greek, superscripts and some symbols.

use super::canvas::{Align, Text};
use ab_glyph::{Font, FontRef, Glyph, GlyphId, OutlinedGlyph, PxScale, ScaleFont, point};
use std::sync::OnceLock;

/// The file of the font.
pub(crate) const FILE: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// The font. A test checks that the file is valid.
fn font() -> Option<&'static FontRef<'static>> {
    static FONT: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::try_from_slice(FILE).ok()).as_ref()
}

/// A glyph of a text: its number in the font, its place and its advance in pixels.
pub(crate) struct Placed {
    pub id: u16,
    pub x: f32,
    pub advance: f32,
}

/// The glyphs of a text that starts at 0, and its width in pixels.
pub(crate) fn placed(text: &str, size: f64) -> (Vec<Placed>, f32) {
    let (glyphs, width) = glyphs(text, size);
    let Some(font) = font() else { return (Vec::new(), width) };
    let em = font.units_per_em().unwrap_or(1.0);
    let placed = |glyph: &Glyph| Placed {
        id: glyph.id.0,
        x: glyph.position.x,
        advance: font.h_advance_unscaled(glyph.id) / em * size as f32,
    };
    (glyphs.iter().map(placed).collect(), width)
}

/// What a file that embeds the font says of it, in thousandths of the font size.
pub(crate) struct Metrics {
    /// Advance of each glyph.
    pub widths: Vec<f32>,
    /// Low and high corner of what a glyph can cover.
    pub bounds: [[f32; 2]; 2],
    pub ascent: f32,
    pub descent: f32,
    /// Glyphs and their letters.
    pub letters: Vec<(u16, char)>,
}

/// The metrics of the font.
pub(crate) fn metrics() -> Option<Metrics> {
    let font = font()?;
    let scale = 1000.0 / font.units_per_em()?;
    let glyphs = (0..font.glyph_count() as u16).map(GlyphId);
    let widths: Vec<f32> = glyphs.map(|id| (scale * font.h_advance_unscaled(id)).round()).collect();
    let [ascent, descent] =
        [font.ascent_unscaled(), font.descent_unscaled()].map(|x| (scale * x).round());
    let widest = widths.iter().copied().fold(0.0, f32::max);
    let mut letters: Vec<(u16, char)> =
        font.codepoint_ids().map(|(id, letter)| (id.0, letter)).collect();
    letters.sort_unstable();
    letters.dedup_by_key(|(id, _)| *id);
    Some(Metrics {
        widths,
        bounds: [[-widest, descent], [widest, ascent]],
        ascent,
        descent,
        letters,
    })
}

/// The glyphs of a text that starts at 0, and its width, in pixels.
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

/// Fits a text to a maximum width: reduces the font size by up to a third, then shortens the text
/// with an ellipsis. Gives the text and its font size.
pub(crate) fn fit(text: &str, size: f64, max_width: f64) -> (String, f64) {
    let full_width = width(text, size);
    if full_width <= max_width {
        return (text.to_string(), size);
    }
    let size = size * (max_width / full_width).max(2.0 / 3.0);
    let mut shorter = text.to_string();
    while width(&format!("{shorter}…"), size) > max_width && shorter.pop().is_some() {}
    let fits = width(text, size) <= max_width * (1.0 + 1e-6);
    (if fits { text.to_string() } else { format!("{}…", shorter.trim_end()) }, size)
}

/// Calls `paint` with each pixel of a text: column, row and coverage.
pub(crate) fn draw(text: &Text, mut paint: impl FnMut(i64, i64, f32)) {
    let Some(font) = font() else { return };
    let (glyphs, width) = glyphs(&text.text, text.size);
    let back = match text.align {
        Align::Start => 0.0,
        Align::Middle => width / 2.0,
        Align::End => width,
    };
    // Along the base line, and perpendicular to it, where whole pixels look best.
    let along = if text.vertical { -text.anchor[1] } else { text.anchor[0] };
    let across = (if text.vertical { text.anchor[0] } else { text.anchor[1] }).round() as i64;
    for mut glyph in glyphs {
        glyph.position.x += along as f32 - back;
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        each_pixel(&outline, |x, y, coverage| match text.vertical {
            true => paint(across + y, -x - 1, coverage),
            false => paint(x, across + y, coverage),
        });
    }
}

fn each_pixel(outline: &OutlinedGlyph, mut paint: impl FnMut(i64, i64, f32)) {
    let bounds = outline.px_bounds();
    let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
    outline
        .draw(|x, y, coverage| paint(left + i64::from(x), top + i64::from(y), coverage.min(1.0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn font_has_all_characters_of_labels() {
        let font = font().expect("the file is a valid font");
        for letter in "azAZ09äöüßéñ µαωΔΩ ⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ −×·°±→≤≥…–".chars()
        {
            assert!(font.glyph_id(letter).0 != 0, "no glyph for {letter}");
        }
    }

    #[test]
    fn wide_text_is_scaled_down_and_then_shortened() {
        assert_eq!(fit("speed", 20.0, 500.0), ("speed".into(), 20.0));
        let full_width = width("speed of the particle", 20.0);
        let (text, size) = fit("speed of the particle", 20.0, 0.8 * full_width);
        assert!(text == "speed of the particle" && (size - 16.0).abs() < 0.01, "{text} {size}");
        let (text, size) = fit("speed of the particle", 20.0, 0.3 * full_width);
        assert!(text.starts_with("speed") && text.ends_with('…'), "{text}");
        assert!(width(&text, size) <= 0.3 * full_width);
    }
}
