//! Shapes as SVG.

use super::canvas::{Align, Dot, Place, Segment, Shape, Text};
use super::png;
use crate::color::Rgb;
use std::collections::BTreeMap;
use std::fmt::Write;

/// So many lines keep their order, those that follow each other in one colour as one element. More
/// than that are one element for each colour, since viewers get slow.
const IN_ORDER: usize = 20_000;

/// The text of a file.
pub(crate) fn document(size: [u32; 2], paper: Rgb, shapes: &[Shape]) -> String {
    let [width, height] = size;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        hex(paper)
    );
    shapes.iter().for_each(|shape| element(&mut out, shape));
    out.push_str("</svg>\n");
    out
}

fn element(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Segments { segments, width, opacity } => lines(out, segments, *width, *opacity),
        Shape::Dots { dots, radius, rim } => discs(out, dots, *radius, *rim),
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
    if segments.len() > IN_ORDER {
        let mut colors: BTreeMap<Rgb, Vec<Segment>> = BTreeMap::new();
        segments.iter().for_each(|segment| colors.entry(segment.color).or_default().push(*segment));
        colors.iter().for_each(|(&color, segments)| stroke(out, color, &path(segments)));
    } else {
        let runs = segments.chunk_by(|a, b| a.color == b.color);
        runs.for_each(|run| stroke(out, run[0].color, &path(run)));
    }
    out.push_str("</g>\n");
}

/// The commands of lines, which go on where one begins at the end of the one before.
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

fn discs(out: &mut String, dots: &[Dot], radius: f64, rim: f64) {
    // A stroke lies on both sides of the circle.
    push(out, format_args!("<g stroke-width=\"{}\">\n", number(rim)));
    let radius = number(radius - rim / 2.0);
    for dot in dots {
        let [x, y] = dot.at.map(|along| number(f64::from(along)));
        let (fill, rim) = (hex(dot.fill), hex(dot.rim));
        push(
            out,
            format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{rim}\"/>\n"
            ),
        );
    }
    out.push_str("</g>\n");
}

fn polygon(out: &mut String, points: &[Place], color: Rgb) {
    let points: Vec<_> = points.iter().map(|at| pair(at.map(|along| along as f32))).collect();
    push(out, format_args!("<polygon points=\"{}\" fill=\"{}\"/>\n", points.join(" "), hex(color)));
}

fn image(out: &mut String, [low, high]: &[Place; 2], counts: [usize; 2], pixels: &[Rgb]) {
    let Ok(file) = png::encode(counts.map(|count| count as u32), pixels.as_flattened()) else {
        return;
    };
    let [[x, y], [width, height]] =
        [*low, [high[0] - low[0], high[1] - low[1]]].map(|at| at.map(number));
    push(
        out,
        format_args!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
         href=\"data:image/png;base64,{}\"/>\n",
            base64(&file)
        ),
    );
}

fn text(out: &mut String, text: &Text) {
    let [x, y] = text.at.map(number);
    let anchor = match text.align {
        Align::Start => "start",
        Align::Middle => "middle",
        Align::End => "end",
    };
    let turn =
        if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (size, color, text) = (number(text.size), hex(text.color), escaped(&text.text));
    push(
        out,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
         fill=\"{color}\"{turn}>{text}</text>\n"
        ),
    );
}

/// Adds to a text, which cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

/// A number with two decimals at most.
fn number(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// A number without zeros at its end.
fn trimmed(number: String) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The two numbers of a place. A tenth of a pixel is not seen.
fn pair([x, y]: [f32; 2]) -> String {
    let [x, y] = [x, y].map(|along| trimmed(format!("{along:.1}")));
    format!("{x},{y}")
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text as XML has it, without the control characters that XML does not have.
fn escaped(text: &str) -> String {
    let kept = text.chars().filter(|letter| !letter.is_control());
    kept.fold(String::new(), |mut out, letter| {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(letter),
        }
        out
    })
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(pair([100.0, 0.04]), "100,0");
        assert_eq!([1.0, 0.25, -3.101, 1e3].map(number), ["1", "0.25", "-3.1", "1000"]);
    }
}
