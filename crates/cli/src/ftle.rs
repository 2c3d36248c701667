//! `burntrace ftle`.

use crate::{
    album::FigureDir,
    args,
    case::{Misuse, SeedShape},
    results::{Layer, Results, layer, tensors},
};
use anyhow::Result;
use burntrace::analysis::ftle::{FlowMap, Ftle, Lattice, Stencil};
use burntrace::{GridPlacement, device::OpenDevice, io};
use burntrace_plot::{Raster, picture};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

pub fn execute(args: &args::Ftle) -> Result<()> {
    let results = Results::open(&args.run)?;
    let save = results.save(&args.save)?;
    let device = results.device(args.device.as_deref())?;
    let ftle = exponents(&results, save, &device)?;
    let values = tensors::numbers(ftle.values())?;
    let folder = args.out.clone().unwrap_or_else(|| results.folder.path("ftle"));
    let mut album = FigureDir::at(&folder, false)?;
    let name = format!("ftle_{save:05}");
    let image = image(&ftle, &values, results.tracks.times()[save]);
    let path = folder.join(&name).with_extension("vti");
    io::write_image(&image, &path)?;
    if let Some(raster) = raster(&results, &ftle, &image, &values) {
        let made = picture::raster(&raster, &[], &args.look.style()).map_err(Misuse::of)?;
        album.add(&name, &made)?;
    }
    let written: Vec<PathBuf> = [path].into_iter().chain(album.written).collect();
    print(args.json, &ftle, &values, &written)
}

/// The exponents of a run between the release of its particles and a save.
fn exponents(results: &Results, save: usize, device: &OpenDevice) -> Result<Ftle> {
    let (lattice, stencil) = lattice(results)?;
    let release = release(results)?;
    let time = results.tracks.times()[save] - release;
    let mut end = results.tracks.unwrapped(save)?;
    for (place, status) in end.iter_mut().zip(results.tracks.status(save)?) {
        if status != burntrace::Status::Active {
            *place = [f64::NAN; 3];
        }
    }
    let end = tensors::places(&end, results.tracks.precision(), device);
    let map = FlowMap::new(&lattice, stencil, end, time).map_err(Misuse::of)?;
    map.ftle().map_err(Misuse::of)
}

/// The lattice on which the particles of a run were released.
fn lattice(results: &Results) -> Result<(Lattice, Stencil)> {
    let seeds = results.case.as_ref().and_then(|case| case.seeds.as_ref());
    let Some(&SeedShape::Grid { counts, placement, auxiliary, low, high }) =
        seeds.map(|seeds| &seeds.shape)
    else {
        return Err(Misuse::error(format!(
            "{} has no particles on a lattice: the exponents need a run with `[seeds] kind = \
             \"grid\"`",
            results.folder.root.display()
        )));
    };
    if results.tracks.num_instances().is_some() {
        return Err(Misuse::error(
            "slots of this run were used again, by other particles than those of the lattice; run \
             it without outlets and sources",
        ));
    }
    let corners = results.domain;
    let (low, high) = (low.unwrap_or(corners[0]), high.unwrap_or(corners[1]));
    let points = placement.unwrap_or_default().into();
    let lattice = Lattice::new(low, high, counts, points).map_err(Misuse::of)?;
    Ok((lattice, auxiliary.map_or(Stencil::Neighbours, Stencil::Auxiliary)))
}

/// The time at which all particles were released.
fn release(results: &Results) -> Result<f64> {
    let times = results.tracks.ends()?.release_time;
    let mut released = times.into_iter().filter(|time| time.is_finite());
    let Some(first) = released.next() else {
        return Err(Misuse::error("no particle of the run was released"));
    };
    match released.find(|time| *time != first) {
        None => Ok(first),
        Some(other) => Err(Misuse::error(format!(
            "particles were released at different times, {first} and {other} among them; the \
             exponents need one time for all"
        ))),
    }
}

/// The place of the first node.
fn origin(lattice: &Lattice) -> [f64; 3] {
    let spacing = lattice.spacing();
    std::array::from_fn(|d| match (lattice.points(), lattice.counts()[d]) {
        (GridPlacement::Corners, _) => lattice.low()[d],
        (GridPlacement::Centres, 1) => 0.5 * (lattice.low()[d] + lattice.high()[d]),
        (GridPlacement::Centres, _) => lattice.low()[d] + 0.5 * spacing[d],
    })
}

/// The exponents as image data; `time` is that of the save.
fn image(ftle: &Ftle, values: &[f64], time: f64) -> io::Image {
    let lattice = ftle.lattice();
    io::Image {
        counts: lattice.counts(),
        origin: origin(lattice),
        spacing: lattice.spacing(),
        directions: None,
        arrays: vec![("ftle".into(), values.to_vec())],
        facts: vec![("TimeValue".into(), time), ("flow_time".into(), ftle.time())],
    }
}

/// The exponents on a plane: that of the lattice, or the one in the middle of it.
fn raster(results: &Results, ftle: &Ftle, image: &io::Image, values: &[f64]) -> Option<Raster> {
    let Layer { raster, place } = layer(results, image, values)?;
    let units = results.units();
    let time = format!("{} {}", ftle.time(), units.time);
    Some(Raster {
        name: "FTLE".into(),
        unit: units.rate(),
        title: format!("finite-time Lyapunov exponent, T = {}{place}", time.trim_end()),
        ..raster
    })
}

fn print(as_json: bool, ftle: &Ftle, values: &[f64], written: &[PathBuf]) -> Result<()> {
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let (least, greatest) = (known().reduce(f64::min), known().reduce(f64::max));
    let mut out = std::io::stdout().lock();
    if as_json {
        let found = json!({
            "nodes": ftle.lattice().counts(),
            "time": ftle.time(),
            "least": least,
            "greatest": greatest,
            "missing": ftle.missing(),
            "files": written,
        });
        writeln!(out, "{found:#}")?;
        return Ok(());
    }
    let [nx, ny, nz] = ftle.lattice().counts();
    writeln!(out, "nodes      {nx} x {ny} x {nz}, {} without an exponent", ftle.missing())?;
    writeln!(out, "time       {}", ftle.time())?;
    if let (Some(least), Some(greatest)) = (least, greatest) {
        writeln!(out, "exponents  {least:.6} to {greatest:.6}")?;
    }
    for path in written {
        writeln!(out, "written    {}", path.display())?;
    }
    Ok(())
}
