//! The file: markup, style, program, and numbers as text.

use super::encode::{base64, codes};
use super::header::{Header, position_scales, values_scale};
use super::{Page, Result};
use crate::Trajectories;

/// The markup; `{{name}}` is where the rest goes.
const MARKUP: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The program, which is one scope.
const PROGRAM: &[&str] = &[
    "'use strict';\n(() => {\n",
    include_str!("js/data.js"),
    include_str!("js/color.js"),
    include_str!("js/camera.js"),
    include_str!("js/draw.js"),
    include_str!("js/axes.js"),
    include_str!("js/pick.js"),
    include_str!("js/summary.js"),
    include_str!("js/controls.js"),
    include_str!("js/main.js"),
    "})();\n",
];

pub(super) fn html(page: &Page) -> Result<String> {
    let header = serde_json::to_string(&Header::of(page))?;
    let mut html = String::new();
    // The markup is cut up once, so that no text of the run is taken for a place.
    for (number, piece) in MARKUP.split("{{").enumerate() {
        let (name, rest) = match number {
            0 => ("", piece),
            _ => piece.split_once("}}").unwrap_or(("", piece)),
        };
        match name {
            "title" => html.push_str(&escaped(&page.title)),
            "shown" => html.push_str(&shown(&page.ways)),
            "style" => html.push_str(STYLE),
            "program" => PROGRAM.iter().for_each(|part| html.push_str(part)),
            // Within a script, only `<` could end it.
            "header" => html.push_str(&header.replace('<', "\\u003c")),
            "numbers" => push_numbers(&mut html, page),
            _ => {}
        }
        html.push_str(rest);
    }
    Ok(html)
}

/// All long lists, each in an element of its own.
fn push_numbers(html: &mut String, page: &Page) {
    let ways = &page.ways;
    let particles: Vec<u8> =
        ways.particles.iter().flat_map(|number| number.to_le_bytes()).collect();
    push_list(html, "particles", &base64(&particles));
    push_list(html, "positions", &codes(positions(page)));
    for (number, attribute) in ways.attributes.iter().enumerate() {
        push_values(html, &format!("attribute-{number}"), &attribute.values);
    }
    for (number, slice) in page.slices.iter().enumerate() {
        push_values(html, &format!("slice-{number}"), &slice.raster.values);
    }
}

fn push_values(html: &mut String, name: &str, values: &[f32]) {
    let scale = values_scale(values);
    push_list(html, name, &codes(values.iter().map(|&value| scale.code(value))));
}

fn push_list(html: &mut String, name: &str, text: &str) {
    *html += &format!("<script type=\"application/octet-stream\" id=\"{name}\">{text}</script>\n");
}

/// Four codes for each position: x, y, z, and what is known of it. Of the last one, bit 0 says that
/// it is joined to the one before, bit 1 that the particle is on its way, bit 2 that there is a
/// position at all; the high byte is the status.
fn positions(page: &Page) -> impl Iterator<Item = u16> + '_ {
    let ways = &page.ways;
    let scales = position_scales(ways);
    ways.position.iter().enumerate().flat_map(move |(at, position)| {
        let [x, y, z] = [0, 1, 2].map(|axis| scales[axis].code(position[axis]));
        let here = is_place(position);
        // A way leads from somewhere.
        let from = at.checked_sub(ways.particles.len()).map(|before| ways.position[before]);
        let joined = ways.joined[at] && here && from.is_some_and(|from| is_place(&from));
        let status = page.statuses.as_ref().map_or(0, |statuses| u16::from(statuses.codes[at]));
        let flags =
            u16::from(joined) | u16::from(ways.active[at] && here) << 1 | u16::from(here) << 2;
        [x, y, z, flags | status << 8]
    })
}

fn is_place(position: &[f32; 3]) -> bool {
    position.iter().all(|coordinate| coordinate.is_finite())
}

/// What of the run is shown, in words.
fn shown(ways: &Trajectories) -> String {
    let part = |there: usize, of: usize, what: &str| {
        let of = of.max(there);
        let plural = if of == 1 { "" } else { "s" };
        match (there, of) {
            (_, 0) => format!("no {what}s"),
            (1, 1) => format!("1 {what}"),
            _ if there == of => format!("all {} {what}{plural}", grouped(of)),
            _ => format!("{} of {} {what}{plural}", grouped(there), grouped(of)),
        }
    };
    let particles = part(ways.particles.len(), ways.of[0], "particle");
    format!("{particles}, {}", part(ways.times.len(), ways.of[1], "save"))
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text for markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(there: [usize; 2], of: [usize; 2]) -> Trajectories {
        let times = (0..there[1]).map(|save| save as f64).collect();
        Trajectories { particles: vec![0; there[0]], times, of, ..Trajectories::default() }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let said = |there, of| shown(&ways(there, of));
        assert_eq!(said([1000, 101], [100_000, 101]), "1,000 of 100,000 particles, all 101 saves");
        assert_eq!(said([1_234_567, 5], [1_234_567, 50]), "all 1,234,567 particles, 5 of 50 saves");
        assert_eq!(said([1, 1], [1, 1]), "1 particle, 1 save");
        assert_eq!(said([1, 1], [2, 3]), "1 of 2 particles, 1 of 3 saves");
        assert_eq!(said([0, 0], [0, 0]), "no particles, no saves");
        assert_eq!(said([0, 2], [7, 2]), "0 of 7 particles, all 2 saves");
    }

    #[test]
    fn text_cannot_end_what_it_is_in() {
        assert_eq!(escaped("</script> & \"a'"), "&lt;/script&gt; &amp; &quot;a&#39;");
    }
}
