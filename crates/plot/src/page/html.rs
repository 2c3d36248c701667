//! The HTML file: markup, style, program, and arrays as base64 text.

use super::content::Page;
use super::error::Result;
use super::header::{Header, position_quantizers, values_quantizer};
use crate::Trajectories;
use crate::picture::count;
use base64::{Engine, prelude::BASE64_STANDARD};
use quick_xml::escape::escape;

/// The markup, with placeholders `{{name}}`.
const MARKUP: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The program, wrapped in one function scope.
const PROGRAM: &[&str] = &[
    "'use strict';\n(() => {\n",
    include_str!("js/data.js"),
    include_str!("js/color.js"),
    include_str!("js/camera.js"),
    include_str!("js/draw.js"),
    include_str!("js/walls.js"),
    include_str!("js/axes.js"),
    include_str!("js/pick.js"),
    include_str!("js/summary.js"),
    include_str!("js/controls.js"),
    include_str!("js/link.js"),
    include_str!("js/main.js"),
    "})();\n",
];

pub(super) fn html(page: &Page) -> Result<String> {
    let header = serde_json::to_string(&Header::of(page))?;
    let mut html = String::new();
    // The template is split once, so that no text of the run is taken for a placeholder.
    for (number, piece) in MARKUP.split("{{").enumerate() {
        let (name, rest) = match number {
            0 => ("", piece),
            _ => piece.split_once("}}").unwrap_or(("", piece)),
        };
        match name {
            "title" => html.push_str(&escape(&page.title)),
            "shown" => html.push_str(&selection(&page.trajectories)),
            "style" => html.push_str(STYLE),
            "program" => PROGRAM.iter().for_each(|part| html.push_str(part)),
            // Inside a script element, only `<` needs escaping.
            "header" => html.push_str(&header.replace('<', "\\u003c")),
            "numbers" => push_arrays(&mut html, page),
            _ => {}
        }
        html.push_str(rest);
    }
    Ok(html)
}

/// Appends all arrays, each in its own element.
fn push_arrays(html: &mut String, page: &Page) {
    let trajectories = &page.trajectories;
    let particles = trajectories.particles.iter().flat_map(|number| number.to_le_bytes());
    push_array(html, "particles", particles);
    push_array(html, "positions", positions(page).flat_map(u16::to_le_bytes));
    for (number, attribute) in trajectories.attributes.iter().enumerate() {
        push_values(html, &format!("attribute-{number}"), &attribute.values);
    }
    for (number, slice) in page.slices.iter().enumerate() {
        push_values(html, &format!("slice-{number}"), &slice.all_values());
    }
    for (number, surface) in trajectories.surfaces.iter().enumerate() {
        let corners = surface.triangles.iter().flatten().copied();
        push_corners(html, &format!("surface-{number}"), corners);
    }
    if trajectories.land.is_some() {
        let numbers = trajectories.rectangles_of_land().into_iter().flatten().flatten();
        push_array(html, "land", numbers.flat_map(|x| (x as f32).to_le_bytes()));
    }
    let lines = trajectories.lines();
    if !lines.is_empty() {
        push_corners(html, "outline", lines.into_iter().flatten());
    }
}

/// Positions as 32-bit floats.
fn push_corners(html: &mut String, id: &str, corners: impl Iterator<Item = [f64; 3]>) {
    push_array(html, id, corners.flatten().flat_map(|x| (x as f32).to_le_bytes()));
}

fn push_values(html: &mut String, id: &str, values: &[f32]) {
    let quantizer = values_quantizer(values);
    push_array(html, id, values.iter().flat_map(|&x| quantizer.code(x.into()).to_le_bytes()));
}

fn push_array(html: &mut String, id: &str, bytes: impl Iterator<Item = u8>) {
    let text = BASE64_STANDARD.encode(bytes.collect::<Vec<u8>>());
    *html += &format!("<script type=\"application/octet-stream\" id=\"{id}\">{text}</script>\n");
}

/// Four codes for each position: x, y, z and flags. Flag bit 0: joined to the previous save; bit 1:
/// active; bit 2: the position exists. The high byte of the flags is the status.
fn positions(page: &Page) -> impl Iterator<Item = u16> + '_ {
    let trajectories = &page.trajectories;
    let quantizers = position_quantizers(trajectories);
    trajectories.position.iter().enumerate().flat_map(move |(index, position)| {
        let [x, y, z] = [0, 1, 2].map(|axis| quantizers[axis].code(position[axis]));
        let exists = is_finite(position);
        // A line needs a position at the previous save.
        let before = index
            .checked_sub(trajectories.particles.len())
            .map(|before| trajectories.position[before]);
        let joined =
            trajectories.joined[index] && exists && before.is_some_and(|from| is_finite(&from));
        let active = trajectories.active[index] && exists;
        let status = page.statuses.as_ref().map_or(0, |statuses| u16::from(statuses.codes[index]));
        let flags = u16::from(joined) | u16::from(active) << 1 | u16::from(exists) << 2;
        [x, y, z, flags | status << 8]
    })
}

fn is_finite(position: &[f64; 3]) -> bool {
    position.iter().all(|coordinate| coordinate.is_finite())
}

/// The selection of particles and saves, in words.
fn selection(trajectories: &Trajectories) -> String {
    let part = |shown: usize, all: usize, what: &str| {
        let all = all.max(shown);
        let plural = if all == 1 { "" } else { "s" };
        match (shown, all) {
            (_, 0) => format!("no {what}s"),
            (1, 1) => format!("1 {what}"),
            _ if shown == all => format!("all {} {what}{plural}", count(all)),
            _ => format!("{} of {} {what}{plural}", count(shown), count(all)),
        }
    };
    let [particles, saves] = trajectories.run_size;
    let particles = part(trajectories.particles.len(), particles, "particle");
    format!("{particles}, {}", part(trajectories.times.len(), saves, "save"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trajectories([particles, saves]: [usize; 2], run_size: [usize; 2]) -> Trajectories {
        let times = (0..saves).map(|save| save as f64).collect();
        let particles = vec![0; particles];
        Trajectories { particles, times, run_size, ..Trajectories::default() }
    }

    #[test]
    fn selection_is_described_in_words() {
        let text = |shown, all| selection(&trajectories(shown, all));
        assert_eq!(text([1000, 101], [100_000, 101]), "1,000 of 100,000 particles, all 101 saves");
        assert_eq!(text([1_234_567, 5], [1_234_567, 50]), "all 1,234,567 particles, 5 of 50 saves");
        assert_eq!(text([1, 1], [1, 1]), "1 particle, 1 save");
        assert_eq!(text([1, 1], [2, 3]), "1 of 2 particles, 1 of 3 saves");
        assert_eq!(text([0, 0], [0, 0]), "no particles, no saves");
        assert_eq!(text([0, 2], [7, 2]), "0 of 7 particles, all 2 saves");
    }
}
