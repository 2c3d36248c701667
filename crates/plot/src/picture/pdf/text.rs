//! Text in the embedded font, by the numbers of its glyphs.

use super::super::canvas::{Align, Text};
use super::super::font::{self, Placed};
use super::compressed;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};

/// The name of the font on the page, and in its file with the prefix of a subset.
pub(super) const NAME: &[u8] = b"F0";
const IN_FILE: Name = Name(b"BTRACE+DejaVuSans");

/// Objects of the font.
const CID: Ref = Ref::new(10);
const DESCRIPTOR: Ref = Ref::new(11);
const FILE: Ref = Ref::new(12);
const CMAP: Ref = Ref::new(13);
const SYSTEM: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Draws a line of text in the colour of the page.
pub(super) fn draw(operators: &mut Content, line: &Text) {
    let (glyphs, width) = font::placed(&line.text, line.size);
    let back = match line.align {
        Align::Start => 0.0,
        Align::Middle => width / 2.0,
        Align::End => width,
    };
    let [x, y] = line.anchor.map(|x| x as f32);
    // The page points down, letters up.
    let matrix = match line.vertical {
        true => [0.0, -1.0, -1.0, 0.0, x, y + back],
        false => [1.0, 0.0, 0.0, -1.0, x - back, y],
    };
    let size = line.size as f32;
    operators.begin_text().set_font(Name(NAME), size).set_text_matrix(matrix);
    show(operators, &glyphs, size);
    operators.end_text();
}

/// Shows glyphs where they are placed: those that kerning moves are moved.
fn show(operators: &mut Content, glyphs: &[Placed], size: f32) {
    let mut positioned = operators.show_positioned();
    let mut items = positioned.items();
    let (mut run, mut x) = (Vec::new(), 0.0);
    for glyph in glyphs {
        // Thousandths of the font size, to the left.
        let kerning = (1000.0 * (x - glyph.x) / size).round();
        if kerning != 0.0 && !run.is_empty() {
            items.show(Str(&run)).adjust(kerning);
            run.clear();
        }
        run.extend(glyph.id.to_be_bytes());
        x = glyph.x + glyph.advance;
    }
    items.show(Str(&run));
}

/// Writes the font, its metrics, and the letters of its glyphs, by which viewers search and copy text.
pub(super) fn write(pdf: &mut Pdf, id: Ref) {
    let Some(metrics) = font::metrics() else { return };
    pdf.type0_font(id)
        .base_font(IN_FILE)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(CID)
        .to_unicode(CMAP);
    let mut cid = pdf.cid_font(CID);
    cid.subtype(CidFontType::Type2).base_font(IN_FILE).system_info(SYSTEM);
    cid.font_descriptor(DESCRIPTOR).default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
    cid.widths().consecutive(0, metrics.widths.iter().copied());
    cid.finish();
    let [[left, bottom], [right, top]] = metrics.bounds;
    pdf.font_descriptor(DESCRIPTOR)
        .name(IN_FILE)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(metrics.ascent)
        .descent(metrics.descent)
        .cap_height(metrics.ascent)
        .stem_v(80.0)
        .font_file2(FILE);
    let mut letters = UnicodeCmap::new(Name(b"Letters"), SYSTEM);
    metrics.letters.iter().for_each(|(glyph, letter)| letters.pair(*glyph, *letter));
    pdf.cmap(CMAP, &letters.finish());
    pdf.stream(FILE, &compressed(font::FILE))
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), font::FILE.len() as i32);
}
