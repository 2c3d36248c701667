//! Pictures of the densities of several saves, with the same colours.

use super::picture::Drawable;
use crate::{
    args::DensityArgs,
    figure_dir::{FigureDir, plot_error},
    file::Misuse,
    format::six_digits,
    notes,
};
use anyhow::Result;
use burntrace::io;
use burntrace_plot::{
    Raster, animation,
    picture::{Range, Scale, Style},
};
use std::path::PathBuf;

/// Size of an animation in pixels.
const SIZE: [u32; 2] = [720, 480];
/// Maximum number of decades of a logarithmic scale.
const DECADES: i32 = 5;

/// The densities of several saves.
#[derive(Default)]
pub struct Series {
    densities: Vec<Member>,
}

struct Member {
    drawable: Drawable,
    name: String,
    time: f64,
    /// The index of its description.
    index: usize,
}

impl Series {
    pub fn add(&mut self, drawable: Drawable, name: String, (time, index): (f64, usize)) {
        self.densities.push(Member { drawable, name, time, index });
    }

    /// Writes the pictures, and the animation if it is requested. Returns their paths, those of pictures with
    /// the index of their description.
    pub fn draw(
        mut self,
        args: &DensityArgs,
        figures: &mut FigureDir,
    ) -> Result<Vec<(Option<usize>, PathBuf)>> {
        let style = self.style(args);
        let mut written = Vec::new();
        for member in self.densities.iter().filter(|_| !args.no_pictures) {
            member.drawable.draw(&member.name, &style, figures)?;
            written.extend(figures.written.last().map(|path| (Some(member.index), path.clone())));
        }
        if args.gif {
            written.push((None, self.animate(args, style, figures)?));
        }
        Ok(written)
    }

    /// A style whose colours are those of the maximum of all saves, unless the range is given.
    fn style(&mut self, args: &DensityArgs) -> Style {
        let style = args.style.of_density();
        let high = self.rasters().flat_map(Raster::values_off_land);
        let high = high.filter(|value| value.is_finite()).fold(0.0, f32::max);
        if style.range != Range::Filled || high <= 0.0 {
            return style;
        }
        let low = match style.scale {
            Scale::Linear => 0.0,
            Scale::Log => f64::from(high) / 10f64.powi(DECADES),
        };
        for member in &mut self.densities {
            let Drawable::Raster(raster) = &mut member.drawable else { continue };
            raster.subtitle += ", the same colours for all saves";
            if low > 0.0 {
                // What is empty has the colour of the lowest values.
                let floor = (0.1 * low) as f32;
                let raise = |value: &mut f32| {
                    *value = if value.is_finite() { value.max(floor) } else { *value }
                };
                raster.values.iter_mut().for_each(raise);
            }
        }
        let [from, to] = [low, high.into()].map(six_digits);
        notes::note(format!(
            "the colours of all pictures go from {from} to {to}; give others with --range"
        ));
        Style { range: Range::Given([low, high.into()]), ..style }
    }

    fn rasters(&self) -> impl Iterator<Item = &Raster> {
        self.densities.iter().filter_map(|member| match &member.drawable {
            Drawable::Raster(raster) => Some(raster),
            Drawable::Curves(_) => None,
        })
    }

    /// Writes `density.gif`.
    fn animate(&self, args: &DensityArgs, style: Style, figures: &FigureDir) -> Result<PathBuf> {
        let fields: Vec<Raster> = self.rasters().cloned().collect();
        if fields.is_empty() {
            return Err(Misuse::error(
                "--gif needs densities on a plane or on a grid; omit it for a line and for --points",
            ));
        }
        let times: Vec<f64> = self.densities.iter().map(|member| member.time).collect();
        let size = if args.style.size().is_some() { style.size } else { SIZE };
        let style = Style { size, ..style };
        let path = figures.path("density.gif");
        io::write_beside(&path, |part| {
            animation::write_gif_of_rasters(part, &fields, &times, &style, args.seconds)
                .map_err(plot_error)
        })?;
        Ok(path)
    }
}
