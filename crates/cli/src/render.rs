//! `burntrace render`.

use crate::{
    args::RenderArgs,
    case::Misuse,
    figure_dir::FigureDir,
    folder, page,
    pictures::{self, FigureOptions, MAX_SAVES},
    results::{Results, SampleLimits, sample_trajectories},
};
use anyhow::Result;
use burntrace_plot::{
    Trajectories,
    animation::{self, Animation},
    picture::View,
};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Default number of tracks in pictures.
const PARTICLES: usize = 1000;

pub fn execute(args: &RenderArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let out = args.out.clone().unwrap_or_else(|| args.run.clone());
    let particles = args.particles.unwrap_or(PARTICLES);
    let mut written = Vec::new();
    if args.html {
        written.push(page::write(&results, &out, args.particles, args.page_bytes)?);
    }
    if args.gif || args.mp4 {
        let limits = SampleLimits { particles, saves: MAX_SAVES };
        let trajectories = sample_trajectories(&results, limits)?.trajectories;
        let view = args.view.first().copied().unwrap_or_else(|| pictures::view(&results));
        written.extend(animations(&trajectories, view, &out, args)?);
    }
    if written.is_empty() {
        let figures = FigureDir::at(&out.join("pictures"), args.svg)?;
        let options = FigureOptions { style: &args.style, views: &args.view, particles };
        let statistics = results.statistics(&[], false)?;
        let (made, missing) = pictures::make(&results, &statistics, &options, figures)?;
        written.extend(made.into_iter().map(|figure| figure.path));
        missing.iter().for_each(|missing| eprintln!("not shown: {missing}"));
    }
    let mut stdout = std::io::stdout().lock();
    for path in written {
        writeln!(stdout, "{}", path.display())?;
    }
    Ok(())
}

/// Writes the requested animations.
fn animations(
    trajectories: &Trajectories,
    view: View,
    out: &Path,
    args: &RenderArgs,
) -> Result<Vec<PathBuf>> {
    let mut style = args.style.style();
    if args.style.size.is_none() {
        style.size = Animation::default().style.size;
    }
    let animation = Animation { style, seconds: args.seconds, ..Animation::default() };
    let mut written = Vec::new();
    folder::make(out)?;
    if args.gif {
        let path = out.join("tracks.gif");
        animation::write_gif(&path, trajectories, &view, &animation).map_err(Misuse::of)?;
        written.push(path);
    }
    if args.mp4 {
        let path = out.join("tracks.mp4");
        animation::write_mp4(&path, trajectories, &view, &animation).map_err(Misuse::of)?;
        written.push(path);
    }
    Ok(written)
}
