//! SVG files.

use super::canvas::{Align, Dot, Point, Segment, Shape, Text};
use super::png;
use super::style::SCREEN;
use crate::color::Rgb;
use base64::{Engine, prelude::BASE64_STANDARD};
use quick_xml::escape::partial_escape;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Up to this number of lines keep their order; consecutive lines of one colour share an element.
/// Beyond it, all lines of one colour share an element, since viewers become slow otherwise.
const MAX_ORDERED: usize = 20_000;

/// The text of an SVG file of a size in pixels, of which there are `dpi` in an inch.
pub(crate) fn document((size, dpi): ([u32; 2], f64), background: Rgb, shapes: &[Shape]) -> String {
    let [width, height] = size;
    let on_paper = size.map(|side| match dpi == SCREEN {
        true => side.to_string(),
        false => format!("{}mm", number(f64::from(side) / dpi * 25.4)),
    });
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        on_paper[0],
        on_paper[1],
        hex(background)
    );
    shapes.iter().for_each(|shape| element(&mut out, shape));
    out.push_str("</svg>\n");
    out
}

fn element(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Segments { segments, width, opacity } => lines(out, segments, *width, *opacity),
        Shape::Dots { dots, radius, edge_width } => discs(out, dots, *radius, *edge_width),
        Shape::Polygon { points, color } => polygon(out, points, *color),
        Shape::Image { corners, counts, pixels } => image(out, corners, *counts, pixels),
        Shape::Text(line) => text(out, line),
    }
}

fn lines(out: &mut String, segments: &[Segment], width: f64, opacity: f64) {
    let (width, cap) = (number(width), if opacity < 1.0 { "butt" } else { "round" });
    let opacity = number(opacity);
    push(
        out,
        format_args!(
            "<g fill=\"none\" stroke-width=\"{width}\" stroke-opacity=\"{opacity}\" \
         stroke-linecap=\"{cap}\" stroke-linejoin=\"round\">\n"
        ),
    );
    let stroke = |out: &mut String, color, path: &str| {
        push(out, format_args!("<path stroke=\"{}\" d=\"{path}\"/>\n", hex(color)));
    };
    if segments.len() > MAX_ORDERED {
        let mut colors: BTreeMap<Rgb, Vec<Segment>> = BTreeMap::new();
        segments.iter().for_each(|segment| colors.entry(segment.color).or_default().push(*segment));
        colors.iter().for_each(|(&color, segments)| stroke(out, color, &path(segments)));
    } else {
        let runs = segments.chunk_by(|a, b| a.color == b.color);
        runs.for_each(|run| stroke(out, run[0].color, &path(run)));
    }
    out.push_str("</g>\n");
}

/// The path commands of lines; a line that starts at the end of the previous one continues its
/// path.
fn path(segments: &[Segment]) -> String {
    let (mut path, mut pen) = (String::new(), None);
    for segment in segments {
        if pen != Some(segment.from) {
            push(&mut path, format_args!("M{}", pair(segment.from)));
        }
        push(&mut path, format_args!("L{}", pair(segment.to)));
        pen = Some(segment.to);
    }
    path
}

fn discs(out: &mut String, dots: &[Dot], radius: f64, edge_width: f64) {
    // A stroke extends to both sides of the circle.
    push(out, format_args!("<g stroke-width=\"{}\">\n", number(edge_width)));
    let radius = number(radius - edge_width / 2.0);
    for dot in dots {
        let [x, y] = dot.center.map(|x| number(f64::from(x)));
        let (fill, edge) = (hex(dot.fill), hex(dot.edge));
        push(
            out,
            format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{edge}\"/>\n"
            ),
        );
    }
    out.push_str("</g>\n");
}

fn polygon(out: &mut String, points: &[Point], color: Rgb) {
    let points: Vec<_> = points.iter().map(|point| pair(point.map(|x| x as f32))).collect();
    push(out, format_args!("<polygon points=\"{}\" fill=\"{}\"/>\n", points.join(" "), hex(color)));
}

fn image(out: &mut String, [low, high]: &[Point; 2], counts: [usize; 2], pixels: &[Rgb]) {
    let Ok(file) = png::encode(counts.map(|count| count as u32), pixels.as_flattened(), None)
    else {
        return;
    };
    let [[x, y], [width, height]] =
        [*low, [high[0] - low[0], high[1] - low[1]]].map(|pair| pair.map(number));
    push(
        out,
        format_args!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
         href=\"data:image/png;base64,{}\"/>\n",
            BASE64_STANDARD.encode(&file)
        ),
    );
}

fn text(out: &mut String, text: &Text) {
    let [x, y] = text.anchor.map(number);
    let anchor = match text.align {
        Align::Start => "start",
        Align::Middle => "middle",
        Align::End => "end",
    };
    let rotation =
        if text.vertical { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (size, color, text) = (number(text.size), hex(text.color), escaped(&text.text));
    push(
        out,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
         fill=\"{color}\"{rotation}>{text}</text>\n"
        ),
    );
}

/// Appends to a string, which cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// A number without trailing zeros.
fn trimmed(number: String) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The coordinates of a point, rounded to a tenth of a pixel.
fn pair([x, y]: [f32; 2]) -> String {
    let [x, y] = [x, y].map(|value| trimmed(format!("{value:.1}")));
    format!("{x},{y}")
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text escaped for XML, without control characters, which XML does not allow.
fn escaped(text: &str) -> String {
    let kept: String = text.chars().filter(|letter| !letter.is_control()).collect();
    partial_escape(kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals() {
        assert_eq!(pair([100.0, 0.04]), "100,0");
        assert_eq!([1.0, 0.25, -3.101, 1e3].map(number), ["1", "0.25", "-3.1", "1000"]);
    }
}
