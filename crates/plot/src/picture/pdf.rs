//! PDF files of one page, with live text in an embedded font. (ISO 32000-2.)

mod content;
mod text;

use super::canvas::Shape;
use super::style::POINTS;
use crate::color::Rgb;
use content::{Content, GraphicsState};
use pdf_writer::{Chunk, Filter, Finish, Name, Pdf, Rect, Ref, TextStr};

/// Numbers of the objects; those of images and of states of the page follow.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const INFO: Ref = Ref::new(6);
const FIRST_FREE: i32 = 20;
/// The level of compression that zlib has by default.
const LEVEL: u8 = 6;

/// A file of a size in pixels, of which there are `dpi` in an inch.
pub(crate) fn document((size, dpi): ([u32; 2], f64), background: Rgb, shapes: &[Shape]) -> Vec<u8> {
    let points = size.map(|side| (f64::from(side) * POINTS / dpi) as f32);
    let content = Content::of(size, (POINTS / dpi) as f32, background, shapes);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.document_info(INFO).producer(TextStr("burntrace"));
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(0.0, 0.0, points[0], points[1])).parent(PAGES).contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(Name(text::NAME), FONT);
    let images = (FIRST_FREE..).map(Ref::new).zip(&content.images);
    let first_state = FIRST_FREE + content.images.len() as i32;
    let states = (first_state..).map(Ref::new).zip(&content.states);
    let mut objects = resources.x_objects();
    images.clone().for_each(|(id, image)| {
        objects.pair(Name(image.name.as_bytes()), id);
    });
    objects.finish();
    let mut named = resources.ext_g_states();
    states.clone().for_each(|(id, state)| {
        named.pair(Name(state.name.as_bytes()), id);
    });
    named.finish();
    resources.finish();
    page.finish();
    states.for_each(|(id, state)| write_state(&mut pdf, id, state));
    images.for_each(|(id, image)| {
        let samples = compressed(image.pixels.as_flattened());
        let mut object = pdf.image_xobject(id, &samples);
        let [width, height] = image.counts.map(|count| count as i32);
        object.width(width).height(height).bits_per_component(8).interpolate(false);
        object.color_space().device_rgb();
        object.filter(Filter::FlateDecode);
    });
    pdf.stream(CONTENT, &compressed(&content.operators)).filter(Filter::FlateDecode);
    text::write(&mut pdf, FONT);
    pdf.finish()
}

fn write_state(pdf: &mut Chunk, id: Ref, state: &GraphicsState) {
    pdf.ext_graphics(id).stroking_alpha(state.opacity).non_stroking_alpha(state.opacity);
}

/// Bytes compressed by zlib.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, LEVEL)
}
