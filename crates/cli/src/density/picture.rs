//! Pictures of densities.

use crate::{figure_dir::FigureDir, file::Misuse, results::Results};
use anyhow::Result;
use burntrace::densities::{DensityNodes, SavedDensity};
use burntrace_plot::{
    Curves, Raster,
    picture::{self, Style},
};

/// A density that can be drawn.
pub enum Drawable {
    /// Along a line.
    Curves(Curves),
    /// On a plane, or on a layer of a 3D grid.
    Raster(Raster),
}

impl Drawable {
    /// `None` for densities at points.
    pub fn of(results: &Results, nodes: &DensityNodes, density: &SavedDensity) -> Option<Drawable> {
        if let Some(curves) = nodes.curves(density) {
            return Some(Drawable::Curves(curves));
        }
        nodes.raster(density).map(|raster| Drawable::Raster(results.with_land(raster)))
    }

    /// Writes the picture.
    pub fn draw(&self, name: &str, style: &Style, figures: &mut FigureDir) -> Result<()> {
        let made = match self {
            Drawable::Curves(curves) => picture::curves(curves, style),
            Drawable::Raster(raster) => picture::raster(raster, &[], style),
        };
        figures.add(name, &made.map_err(Misuse::of)?)
    }
}
