//! `burntrace render`.

use crate::{
    args::{RenderArgs, lines_of},
    background,
    figure_dir::{FigureDir, Formats, plot_error},
    file::Misuse,
    folder,
    format::bytes,
    notes,
    page::{self, PageSize, WrittenPage},
    panels,
    pictures::{self, FigureOptions},
    results::{Results, walls},
};
use anyhow::Result;
use burntrace::io;
use burntrace_plot::{
    Raster, Trajectories,
    animation::{self, Animation},
    picture::{Style, View},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Default number of tracks in pictures and in animations.
pub const PARTICLES: usize = 1000;
const MOVING_PARTICLES: usize = 150;
/// Frames per second of a GIF: twice as many double its size.
const GIF_RATE: f64 = 12.5;

pub fn execute(args: &RenderArgs) -> Result<()> {
    let [run] = &args.runs[..] else {
        let rendered = panels::execute(args)?;
        return args.output.print(|| rendered.json(), || lines_of(&rendered.files));
    };
    if args.columns.is_some() {
        return Err(Misuse::error("--columns is for panels of several runs, and one is given"));
    }
    let results = Results::open(run)?.note_unfinished();
    let out = results.out(args.out.as_deref(), "")?;
    let views = views(args, &results)?;
    let mut rendered = Rendered::default();
    if args.html {
        let page = page::write(
            &results,
            &out,
            PageSize { particles: args.particles, max_bytes: args.page_bytes },
            None,
        )?;
        rendered.files.push(page.path.clone());
        rendered.page = Some(page);
    }
    if args.gif || args.mp4 {
        let particles = args.particles.unwrap_or(MOVING_PARTICLES);
        let mut trajectories = results.sample(particles, args.style.color.as_deref())?.trajectories;
        if let Some(time) = last(args, &results)? {
            trajectories = trajectories.last(time);
        }
        trajectories.background = background(args, &results, &views)?;
        if !args.no_walls {
            walls::add(&results, &mut trajectories);
        }
        rendered.files.extend(animations(&trajectories, views[0], &out, args)?);
    }
    if rendered.files.is_empty() {
        rendered = pictures(args, &results, &views, &out)?;
    }
    args.output.print(|| rendered.json(), || rendered.text())
}

/// What was rendered.
#[derive(Default)]
pub struct Rendered {
    pub files: Vec<PathBuf>,
    pub page: Option<WrittenPage>,
    /// Captions of the pictures.
    pub captions: Vec<String>,
    /// Which pictures are missing, and why.
    pub not_shown: Vec<String>,
}

impl Rendered {
    /// The files, animations with their sizes.
    fn text(&self) -> String {
        let line = |path: &PathBuf| match path.extension().and_then(|name| name.to_str()) {
            Some("gif" | "mp4") => format!("{} ({})", path.display(), bytes(size_of(path) as f64)),
            _ => path.display().to_string(),
        };
        self.files.iter().map(|path| line(path) + "\n").collect()
    }

    pub fn json(&self) -> Value {
        json!({
            "files": self.files,
            "bytes": self.files.iter().map(|path| size_of(path)).collect::<Vec<_>>(),
            "captions": self.captions,
            "page": self.page.as_ref().map(WrittenPage::json),
            "not_shown": self.not_shown,
            "notes": notes::take(),
        })
    }
}

/// The size of a file that was written.
fn size_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}

/// The given time before the last save.
fn last(args: &RenderArgs, results: &Results) -> Result<Option<f64>> {
    args.last.as_ref().map(|time| results.duration("--last", time)).transpose()
}

/// The field behind the tracks.
fn background(args: &RenderArgs, results: &Results, views: &[View]) -> Result<Option<Raster>> {
    let Some(quantity) = &args.background else { return Ok(None) };
    match views {
        [View::Plane(plane)] => background::sample(results, quantity, *plane).map(Some),
        _ => Err(Misuse::error(
            "--background is for one view of a plane; give it with --view, such as --view xy",
        )),
    }
}

/// Writes the pictures of the run.
fn pictures(args: &RenderArgs, results: &Results, views: &[View], out: &Path) -> Result<Rendered> {
    let formats = Formats { svg: args.svg, pdf: args.pdf };
    let figures = FigureDir::at(&out.join("pictures"), formats)?;
    let background = background(args, results, views)?;
    let options = FigureOptions {
        style: &args.style,
        track_style: style(args),
        views,
        particles: args.particles.unwrap_or(PARTICLES),
        walls: !args.no_walls,
        last: last(args, results)?,
        background: background.as_ref(),
        streaklines: args.streaklines,
    };
    let statistics = results.statistics(&[], false)?;
    let (made, not_shown) = pictures::make(results, &statistics, &options, figures)?;
    if !args.output.quiet {
        not_shown.iter().for_each(|missing| eprintln!("not shown: {missing}"));
    }
    let (files, captions) = made.into_iter().map(|figure| (figure.path, figure.caption)).unzip();
    Ok(Rendered { files, captions, not_shown, ..Rendered::default() })
}

/// The views of the tracks, with the angles that are given; at least one.
pub fn views(args: &RenderArgs, results: &Results) -> Result<Vec<View>> {
    let has_angles = args.azimuth.is_some() || args.elevation.is_some();
    let given = match &args.view[..] {
        [] if has_angles || args.perspective => vec![View::SPACE],
        [] => vec![pictures::view(results)],
        given => given.to_vec(),
    };
    let is_space = |view: &View| matches!(view, View::Space { .. });
    if (has_angles || args.perspective) && !given.iter().any(is_space) {
        return Err(Misuse::error(
            "--azimuth, --elevation and --perspective are for 3-D views, and --view has none; add 3d to it",
        ));
    }
    let with_angles = |view| match view {
        View::Space { azimuth, elevation } => View::Space {
            azimuth: args.azimuth.unwrap_or(azimuth),
            elevation: args.elevation.unwrap_or(elevation),
        },
        plane => plane,
    };
    Ok(given.into_iter().map(with_angles).collect())
}

/// The style of tracks.
pub fn style(args: &RenderArgs) -> Style {
    Style { zoom: args.zoom, perspective: args.perspective, ..args.style.style() }
}

/// Writes the requested animations.
fn animations(
    trajectories: &Trajectories,
    view: View,
    out: &Path,
    args: &RenderArgs,
) -> Result<Vec<PathBuf>> {
    let mut style = style(args);
    if args.style.size().is_none() {
        style.size = Animation::default().style.size;
    }
    let animation = Animation { style, seconds: args.seconds, ..Animation::default() };
    let mut written = Vec::new();
    folder::make(out)?;
    if args.gif {
        let path = out.join("tracks.gif");
        let animation = Animation { frames_per_second: GIF_RATE, ..animation.clone() };
        io::write_beside(&path, |part| {
            animation::write_gif(part, trajectories, &view, &animation).map_err(plot_error)
        })?;
        written.push(path);
    }
    if args.mp4 {
        let path = out.join("tracks.mp4");
        io::write_beside(&path, |part| {
            animation::write_mp4(part, trajectories, &view, &animation).map_err(plot_error)
        })?;
        written.push(path);
    }
    Ok(written)
}
