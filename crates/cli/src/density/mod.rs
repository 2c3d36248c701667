//! `burntrace density`.

mod ask;
mod cloud;
mod files;
mod picture;

pub use ask::{DensityRequest, Target};
pub use cloud::Cloud;
pub use picture::raster;

use crate::{
    album::FigureDir,
    args,
    results::{Results, tensors},
};
use anyhow::Result;
use burntrace::analysis::density::Estimate;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

pub fn execute(args: &args::Density) -> Result<()> {
    let results = Results::open(&args.run)?;
    let asked = DensityRequest::of(args, &results)?;
    let saves = saves(args, &results)?;
    let device = results.device(args.device.as_deref())?;
    let folder = args.out.clone().unwrap_or_else(|| results.folder.path("density"));
    let mut album = FigureDir::at(&folder, false)?;
    let mut found = Vec::new();
    for save in saves {
        let cloud = Cloud::read(&results, save, args.ended)?;
        let estimate = asked.estimate(&cloud, &device)?;
        let field = Field::of(estimate, save, cloud.time)?;
        let mut written = vec![files::write(&results, &asked, &field, &folder)?];
        if !args.no_pictures && picture::add(&results, &asked, &field, &args.look, &mut album)? {
            written.extend(album.written.last().cloned());
        }
        if !args.json {
            print(&field, &written)?;
        }
        found.push(describe(&field, &written));
    }
    if args.json {
        writeln!(std::io::stdout().lock(), "{:#}", Value::Array(found))?;
    }
    Ok(())
}

/// A density, and when it was.
pub struct Field {
    pub estimate: Estimate,
    /// Its values on the host.
    pub values: Vec<f64>,
    pub save: usize,
    pub time: f64,
}

impl Field {
    /// Reads an estimate back.
    pub fn of(estimate: Estimate, save: usize, time: f64) -> Result<Field> {
        Ok(Field { values: tensors::numbers(estimate.values.clone())?, estimate, save, time })
    }

    /// The name of its files, without the ending.
    fn name(&self) -> String {
        format!("density_{:05}", self.save)
    }
}

/// The saves that were asked for.
fn saves(args: &args::Density, results: &Results) -> Result<Vec<usize>> {
    if args.save.iter().any(|given| given == "all") {
        return Ok((0..results.tracks.num_saves()).collect());
    }
    args.save.iter().map(|given| results.save(given)).collect()
}

/// What there is to say of a density.
fn describe(field: &Field, written: &[PathBuf]) -> Value {
    let Field { estimate, values, save, time } = field;
    json!({
        "save": save,
        "time": time,
        "integral": estimate.integral,
        "least": extreme(values, f64::min),
        "greatest": extreme(values, f64::max),
        "bandwidth": estimate.bandwidth,
        "covariance": estimate.covariance,
        "neglected": estimate.neglected,
        "particles": estimate.used,
        "left_out": estimate.left_out,
        "device": format!("{:?}", estimate.values.device()),
        "files": written,
    })
}

fn print(field: &Field, written: &[PathBuf]) -> Result<()> {
    let Field { estimate, values, save, time } = field;
    let mut out = std::io::stdout().lock();
    writeln!(out, "save {save}, t = {time}")?;
    writeln!(out, "particles  {} ({} left out)", estimate.used, estimate.left_out)?;
    let [x, y, z] = estimate.bandwidth;
    let cut = match estimate.neglected {
        0.0 => String::new(),
        part => format!(", cut off where {part:.0e} of a kernel is left"),
    };
    writeln!(out, "bandwidth  {x:.5} {y:.5} {z:.5}{cut}")?;
    let [least, greatest] =
        [extreme(values, f64::min), extreme(values, f64::max)].map(|x| x.unwrap_or(f64::NAN));
    writeln!(out, "density    {least:.6e} to {greatest:.6e}")?;
    if let Some(integral) = estimate.integral {
        writeln!(out, "integral   {integral:.6}")?;
    }
    for path in written {
        writeln!(out, "written    {}", path.display())?;
    }
    Ok(())
}

/// The least or the greatest of some numbers; none where there are none.
fn extreme(values: &[f64], of: fn(f64, f64) -> f64) -> Option<f64> {
    values.iter().copied().filter(|x| x.is_finite()).reduce(of)
}
