//! `burntrace density`.

mod check;
mod files;
mod picture;
mod region;
mod request;
mod resolution;
mod series;

pub use picture::Drawable;
pub use request::{DensityRequest, corner};
pub use resolution::estimate_or_widen;

use crate::{
    args::DensityArgs,
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    format::{count, four_digits, six_digits, twelve_digits, with_date},
    notes,
    results::Results,
};
use anyhow::Result;
use burntrace::analysis::density::Rule;
use burntrace::densities::{SavedDensity, SavedParticles};
use serde_json::{Value, json};
use series::Series;
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn execute(args: &DensityArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let mut request = DensityRequest::of(args, &results)?;
    let saves = saves(args, &results)?;
    if args.gif && saves.len() < 2 {
        return Err(Misuse::error(
            "--gif needs several saves, and there is one; add --save all, or a list such as --save 0,5,10",
        ));
    }
    let device = results.device(args.device.as_deref())?;
    let folder = results.out(args.out.as_deref(), "density")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    let (mut described, mut series) = (Vec::new(), Series::default());
    let is_series = saves.len() > 1;
    let shows_text = !args.output.json && !args.output.quiet;
    for save in saves {
        let Some(particles) =
            particles(&results, save, args, (is_series, request.nodes.is_number))?
        else {
            continue;
        };
        let estimate = resolution::estimate(&mut request, &particles, &device, is_series)?;
        let density = SavedDensity::of(estimate, &particles)?;
        let mut written = vec![files::write(&results, &request.nodes, &density, &folder)?];
        let drawable = Drawable::of(&results, &request.nodes, &density);
        match drawable.filter(|_| args.gif || !args.no_pictures) {
            // Pictures of a series have the same colours, which are known at its end.
            Some(drawable) if is_series => {
                series.add(drawable, files::name(&density), (density.time, described.len()));
            }
            Some(drawable) => {
                drawable.draw(&files::name(&density), &args.style.of_density(), &mut figures)?;
                written.extend(figures.written.last().cloned());
            }
            None => {}
        }
        if shows_text {
            print(&request, &density, &written)?;
        }
        described.push(describe(&request, &density, &written));
    }
    if described.is_empty() {
        return Err(Misuse::error(
            "none of the saves has a density, as the notes say; give other saves with --save, or include the \
             ended particles with --ended",
        ));
    }
    for (index, path) in series.draw(args, &mut figures)? {
        match index {
            Some(index) => add_file(&mut described[index], &path),
            None => described.iter_mut().for_each(|save| add_file(save, &path)),
        }
        if shows_text {
            writeln!(std::io::stdout().lock(), "written    {}", path.display())?;
        }
    }
    add_notes(&mut described);
    args.output.print(|| Value::Array(described), String::new)
}

/// Adds the notes on all saves, such as those without particles.
fn add_notes(described: &mut [Value]) {
    let notes = notes::take();
    described.iter_mut().for_each(|save| save["notes"] = json!(notes));
}

/// Adds a file to the description of a save.
fn add_file(described: &mut Value, path: &Path) {
    if let Some(files) = described["files"].as_array_mut() {
        files.push(json!(path));
    }
}

/// The particles of a save. `None`, with a note, for a save of a series without particles.
///
/// # Errors
///
/// If a single save has none.
fn particles(
    results: &Results,
    save: usize,
    args: &DensityArgs,
    (is_series, is_number): (bool, bool),
) -> Result<Option<SavedParticles>> {
    let particles = SavedParticles::read(&results.tracks, save, args.ended)?;
    // In a series of saves, a number density of 0 is one of the results.
    if !particles.positions.is_empty() || (is_series && is_number) {
        return Ok(Some(particles));
    }
    let (what, remedy) = match args.ended {
        true => ("particles that have been released", "give a later save with --save"),
        false => (
            "active particles",
            "give another save with --save, or include the ended particles with --ended",
        ),
    };
    let problem = format!("save {save}, at t = {}, has no {what}", twelve_digits(particles.time));
    if !is_series {
        return Err(Misuse::error(format!("{problem}; {remedy}")));
    }
    notes::note(format!("{problem}; it is skipped"));
    Ok(None)
}

/// The requested saves.
fn saves(args: &DensityArgs, results: &Results) -> Result<Vec<usize>> {
    if args.save.iter().any(|given| given == "all") {
        return Ok((0..results.tracks.num_saves()).collect());
    }
    args.save.iter().map(|given| results.save(given)).collect()
}

/// The properties of a density as JSON.
fn describe(request: &DensityRequest, density: &SavedDensity, written: &[PathBuf]) -> Value {
    let SavedDensity { estimate, values, save, time } = density;
    json!({
        "save": save,
        "time": time,
        "integral": estimate.integral,
        "min": extreme(values, f64::min),
        "max": extreme(values, f64::max),
        "unit": request.nodes.unit(),
        "bandwidth": estimate.bandwidth,
        "rule": estimate.rule.map(Rule::name),
        "covariance": estimate.covariance,
        "neglected": estimate.neglected,
        "particles": estimate.used,
        "left_out": estimate.left_out,
        "device": format!("{:?}", estimate.values.device()),
        "files": written,
    })
}

fn print(request: &DensityRequest, density: &SavedDensity, written: &[PathBuf]) -> Result<()> {
    let SavedDensity { estimate, values, save, time } = density;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "save {save}, t = {}",
        with_date(*time, request.nodes.units.origin_of_seconds())
    )?;
    let [used, left_out] = [estimate.used, estimate.left_out].map(count);
    writeln!(out, "particles  {used} ({left_out} left out)")?;
    let [x, y, z] = estimate.bandwidth.map(four_digits);
    let truncation = match estimate.neglected {
        0.0 => String::new(),
        part => format!(", kernels truncated at {part:.0e} of their weight"),
    };
    let rule = density.rule().map(|rule| format!(" {rule}")).unwrap_or_default();
    writeln!(out, "bandwidth  {x} {y} {z}{rule}{truncation}")?;
    let [min, max] =
        [extreme(values, f64::min), extreme(values, f64::max)].map(|x| x.unwrap_or(f64::NAN));
    let line =
        format!("density    {} to {} {}", four_digits(min), four_digits(max), request.nodes.unit());
    writeln!(out, "{}", line.trim_end())?;
    if let Some(integral) = estimate.integral {
        let over = if request.is_slice() { " over the slice" } else { "" };
        writeln!(out, "integral   {}{over}", six_digits(integral))?;
    }
    for path in written {
        writeln!(out, "written    {}", path.display())?;
    }
    Ok(())
}

/// The minimum or the maximum of the finite values. `None` if there are none.
fn extreme(values: &[f64], of: fn(f64, f64) -> f64) -> Option<f64> {
    values.iter().copied().filter(|x| x.is_finite()).reduce(of)
}
