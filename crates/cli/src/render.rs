//! `burntrace render`.

use crate::{
    album::FigureDir,
    args,
    case::Misuse,
    folder, page,
    pictures::{self, MAX_SAVES, Wanted},
    results::{Most, Results, ways},
};
use anyhow::Result;
use burntrace_plot::{
    Trajectories,
    animation::{self, Animation},
    picture::View,
};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Particles that pictures show, unless another number is asked for.
const PARTICLES: usize = 1000;

pub fn execute(args: &args::Render) -> Result<()> {
    let results = Results::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| args.run.clone());
    let particles = args.particles.unwrap_or(PARTICLES);
    let mut written = Vec::new();
    if args.html {
        written.push(page::write(&results, &out, args.particles, args.page_bytes)?);
    }
    if args.gif || args.mp4 {
        let ways = ways(&results, Most { particles, saves: MAX_SAVES })?.ways;
        let view = args.view.first().copied().unwrap_or_else(|| pictures::view(&results));
        written.extend(animations(&ways, view, &out, args)?);
    }
    if written.is_empty() {
        let album = FigureDir::at(&out.join("pictures"), args.svg)?;
        let wanted = Wanted { look: &args.look, views: &args.view, particles };
        let (shown, missing) =
            pictures::make(&results, &results.statistics(&[], false)?, &wanted, album)?;
        written.extend(shown.into_iter().map(|shown| shown.path));
        missing.iter().for_each(|missing| eprintln!("not shown: {missing}"));
    }
    let mut stdout = std::io::stdout().lock();
    for path in written {
        writeln!(stdout, "{}", path.display())?;
    }
    Ok(())
}

/// Writes the animations that were asked for.
fn animations(
    ways: &Trajectories,
    view: View,
    out: &Path,
    args: &args::Render,
) -> Result<Vec<PathBuf>> {
    let mut style = args.look.style();
    if args.look.size.is_none() {
        style.size = Animation::default().style.size;
    }
    let animation = Animation { style, seconds: args.seconds, ..Animation::default() };
    let mut written = Vec::new();
    folder::make(out)?;
    if args.gif {
        let path = out.join("tracks.gif");
        animation::write_gif(&path, ways, &view, &animation).map_err(Misuse::of)?;
        written.push(path);
    }
    if args.mp4 {
        let path = out.join("tracks.mp4");
        animation::write_mp4(&path, ways, &view, &animation).map_err(Misuse::of)?;
        written.push(path);
    }
    Ok(written)
}
