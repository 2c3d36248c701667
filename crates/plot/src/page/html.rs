//! The HTML file: markup, style, program and arrays.

use super::arrays;
use super::content::Page;
use super::error::Result;
use super::header::{Header, Quantizers};
use crate::Trajectories;
use crate::picture::count;
use quick_xml::escape::escape;

/// The markup, with placeholders `{{name}}`.
const MARKUP: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The program, wrapped in one function scope.
const PROGRAM: &[&str] = &[
    "'use strict';\n(async () => {\n",
    include_str!("js/unpack.js"),
    include_str!("js/data.js"),
    include_str!("js/color.js"),
    include_str!("js/camera.js"),
    include_str!("js/select.js"),
    include_str!("js/shaders.js"),
    include_str!("js/draw.js"),
    include_str!("js/walls.js"),
    include_str!("js/axes.js"),
    include_str!("js/pick.js"),
    include_str!("js/summary.js"),
    include_str!("js/series.js"),
    include_str!("js/choose.js"),
    include_str!("js/controls.js"),
    include_str!("js/time.js"),
    include_str!("js/pointers.js"),
    include_str!("js/link.js"),
    include_str!("js/main.js"),
    "})().catch(",
    include_str!("js/failed.js"),
    ");\n",
];

pub(super) fn html(page: &Page) -> Result<String> {
    let quantizers = Quantizers::of(page);
    let header = serde_json::to_string(&Header::of(page, &quantizers))?;
    let mut html = String::new();
    // The template is split once, so that no text of the run is taken for a placeholder.
    for (number, piece) in MARKUP.split("{{").enumerate() {
        let (name, rest) = match number {
            0 => ("", piece),
            _ => piece.split_once("}}").unwrap_or(("", piece)),
        };
        match name {
            "title" => html.push_str(&escape(&page.title)),
            "shown" => html.push_str(&(selection(&page.trajectories) + &page.precision.loss())),
            "style" => html.push_str(STYLE),
            "program" => PROGRAM.iter().for_each(|part| html.push_str(part)),
            // Inside a script element, only `<` needs escaping.
            "header" => html.push_str(&header.replace('<', "\\u003c")),
            "numbers" => arrays::push(&mut html, page, &quantizers),
            _ => {}
        }
        html.push_str(rest);
    }
    Ok(html)
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
