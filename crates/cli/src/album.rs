//! The pictures of a run, as files in a folder.

use crate::{args, case::Misuse, results::Results};
use anyhow::{Context, Result};
use burntrace_plot::{
    Ways,
    picture::{self, Picture, Plane, View},
};
use std::path::{Path, PathBuf};

/// A folder of pictures that look alike.
pub struct Album {
    folder: PathBuf,
    ending: &'static str,
    /// The files that were written, in order.
    pub written: Vec<PathBuf>,
}

impl Album {
    /// Makes the folder, if it is not there.
    pub fn at(folder: &Path, svg: bool) -> Result<Album> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        let ending = if svg { "svg" } else { "png" };
        Ok(Album { folder: folder.into(), ending, written: Vec::new() })
    }

    /// Writes a picture under a name without its ending.
    pub fn add(&mut self, name: &str, picture: &Picture) -> Result<()> {
        let path = self.folder.join(format!("{name}.{}", self.ending));
        match self.ending {
            "svg" => picture.write_svg(&path)?,
            _ => picture.write_png(&path)?,
        }
        self.written.push(path);
        Ok(())
    }
}

/// Adds the tracks, from each view: `tracks`, or `tracks-xy` and so on where there are several.
pub fn add_tracks(album: &mut Album, ways: &Ways, views: &[View], look: &args::Look) -> Result<()> {
    for view in views {
        let name = match views {
            [_] => "tracks".into(),
            _ => format!("tracks-{}", name_of(view)),
        };
        let picture = picture::tracks(ways, view, &look.style()).map_err(Misuse::of)?;
        album.add(&name, &picture)?;
    }
    Ok(())
}

/// The views that show most: the plane of a flat run, space for others.
pub fn views(results: &Results) -> Vec<View> {
    match results.axes()[..] {
        [0, 2] | [2] => vec![View::Plane(Plane::Xz)],
        [1, 2] => vec![View::Plane(Plane::Yz)],
        [0, 1, 2] => vec![View::SPACE],
        _ => vec![View::Plane(Plane::Xy)],
    }
}

fn name_of(view: &View) -> &'static str {
    match view {
        View::Plane(Plane::Xy) => "xy",
        View::Plane(Plane::Xz) => "xz",
        View::Plane(Plane::Yz) => "yz",
        View::Space { .. } => "3d",
    }
}
