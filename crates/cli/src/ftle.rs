//! `burntrace ftle`.

use crate::{
    args::{FtleArgs, OutputArgs},
    figure_dir::{FigureDir, Formats},
    file::{Misuse, SeedShape, Seeds},
    folder::DOMAIN,
    format::twelve_digits,
    notes,
    results::Results,
};
use anyhow::{Result, anyhow};
use burntrace::analysis::ftle::{FlowMap, Ftle, Lattice, Stencil};
use burntrace::{
    FLOW_MAP_GRADIENT, FieldArray, GridPlacement, SaveAt, Status, densities::Layer,
    device::OpenDevice, io, sphere,
};
use burntrace_plot::{Raster, picture};
use serde_json::json;
use std::path::PathBuf;

pub fn execute(args: &FtleArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let save = results.save(&args.save)?;
    let device = results.device(args.device.as_deref())?;
    let (ftle, gradient) = exponents(&results, save, &device)?;
    let values = ftle.values().into_data().convert::<f64>().try_into_vec();
    let values =
        values.map_err(|error| anyhow!("cannot read results from the device: {error:?}"))?;
    refuse_undefined(&ftle, &values, save)?;
    let folder = results.out(args.out.as_deref(), "ftle")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    let name = format!("ftle_{save:05}");
    let image = image(&ftle, &values, results.tracks.times()[save]);
    let path = folder.join(&name).with_extension("vti");
    io::write_image(&image, &path)?;
    if let Some(raster) = raster(&results, &ftle, &image, &values) {
        let made = picture::raster(&raster, &[], &args.style.style()).map_err(Misuse::of)?;
        figures.add(&name, &made)?;
    }
    let written: Vec<PathBuf> = [path].into_iter().chain(figures.written).collect();
    print(args.output, (&ftle, gradient), &values, &written)
}

/// Refuses a save at which no node has an exponent.
fn refuse_undefined(ftle: &Ftle, values: &[f64], save: usize) -> Result<()> {
    if values.iter().any(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Misuse::error(format!(
        "the exponents of all {} nodes are undefined at save {save}, as particles that have ended have no final \
         position; give an earlier save with --save",
        ftle.lattice().len()
    )))
}

/// FTLE of the flow map from the release of the particles to a save, and where its gradient is from.
fn exponents(results: &Results, save: usize, device: &OpenDevice) -> Result<(Ftle, &'static str)> {
    let (lattice, stencil) = lattice(results)?;
    let release = release(results)?;
    let (tracks, time) = (&results.tracks, results.tracks.times()[save] - release);
    let arrays = tracks.arrays();
    let gradient = arrays.iter().find(|array| array.name == FLOW_MAP_GRADIENT);
    let (map, from) = match (stencil, gradient) {
        (Stencil::Neighbours, Some(FieldArray { name, components })) => {
            let mut gradients = tracks.array(name, save)?;
            mask_ended(&mut gradients, *components, &tracks.status(save)?);
            let gradients = device.rows(gradients, *components, tracks.precision());
            let map = FlowMap::of_gradients(&lattice, gradients, time);
            let ends = tracks.position(save)?;
            let map = map.and_then(|map| match results.radius() {
                Some(radius) => map.on_sphere_to(radius, ends),
                None => Ok(map),
            });
            (map, "carried along the tracks")
        }
        _ => {
            let mut end = tracks.unwrapped(save)?;
            let mut origin = results.origin();
            if let Some(radius) = results.radius() {
                end.iter_mut().for_each(|position| *position = sphere::in_space(radius, *position));
                origin = middle(&end);
            }
            mask_ended(end.as_flattened_mut(), 3, &tracks.status(save)?);
            // The exponents depend on differences only, so the origin does not matter.
            let end = device.positions(&end, origin, tracks.precision());
            let from = match stencil {
                Stencil::Neighbours => "differences of neighbours",
                Stencil::Auxiliary(_) => "differences of auxiliary particles",
            };
            let map = FlowMap::new(&lattice, stencil, end, time);
            let on_sphere = |map: FlowMap| match results.radius() {
                Some(radius) => map.on_sphere(radius),
                None => map,
            };
            (map.map(on_sphere), from)
        }
    };
    Ok((map.and_then(|map| map.ftle()).map_err(Misuse::of)?, from))
}

/// The mean of positions that are numbers.
fn middle(positions: &[[f64; 3]]) -> [f64; 3] {
    let finite = positions.iter().filter(|p| p.iter().all(|x| x.is_finite()));
    let mean = |d: usize| {
        let (sum, count) = finite.clone().fold((0.0, 0.0), |(sum, n), p| (sum + p[d], n + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    [0, 1, 2].map(mean)
}

/// Replaces the rows of particles that are not active by NaN.
fn mask_ended(rows: &mut [f64], width: usize, status: &[Status]) {
    for (row, status) in rows.chunks_exact_mut(width).zip(status) {
        if *status != Status::Active {
            row.fill(f64::NAN);
        }
    }
}

/// The lattice of the seeds of a run, and its finite-difference stencil.
fn lattice(results: &Results) -> Result<(Lattice, Stencil)> {
    if let Some(problem) = &results.case_problem {
        return Err(Misuse::error(format!("FTLE need the seeds of the run, but {problem}")));
    }
    let seeds = results.case.as_ref().map_or(&[][..], |case| &case.seeds);
    let &[
        Seeds {
            shape: SeedShape::Grid { counts, placement, auxiliary, low, high },
            repeat: None,
            ..
        },
    ] = seeds
    else {
        let what = match seeds {
            [_, _, ..] => format!("in {} blocks [[seeds]]", seeds.len()),
            [Seeds { repeat: Some(_), .. }] => "released repeatedly (seeds.repeat)".into(),
            _ => "not on a lattice".into(),
        };
        return Err(Misuse::error(format!(
            "the seeds of {} are {what}; FTLE need a run with one release of `[seeds] kind = \"grid\"`",
            results.folder.root.display()
        )));
    };
    if results.tracks.num_instances().is_some() {
        return Err(Misuse::error(
            "the run re-uses slots for particles that did not start on the lattice; run the case \
             without outlets and sources",
        ));
    }
    if !(results.knows_domain || low.is_some() && high.is_some()) {
        return Err(Misuse::error(format!(
            "the lattice of the seeds is not known: it depends on the domain, and the case gives none; \
             {} has no `{DOMAIN}`; resume the run with {}",
            results.folder.root.display(),
            results.folder.resume_command()
        )));
    }
    let corners = results.domain;
    let (low, high) = (low.unwrap_or(corners[0]), high.unwrap_or(corners[1]));
    let lattice = Lattice::new(low, high, counts, placement).map_err(Misuse::of)?;
    Ok((lattice, auxiliary.map_or(Stencil::Neighbours, Stencil::Auxiliary)))
}

/// The common release time of the particles.
fn release(results: &Results) -> Result<f64> {
    if !results.tracks.is_complete() {
        return release_of_case(results);
    }
    let times = results.tracks.ends()?.release_time;
    let mut released = times.into_iter().filter(|time| time.is_finite());
    let Some(first) = released.next() else {
        return Err(Misuse::error("the run released no particles"));
    };
    match released.find(|time| *time != first) {
        None => Ok(first),
        Some(other) => Err(Misuse::error(format!(
            "the particles were released at different times, such as {first} and {other}; FTLE need \
             one release time"
        ))),
    }
}

/// The release time of the particles of an unfinished run, whose store does not have it yet.
fn release_of_case(results: &Results) -> Result<f64> {
    let case = results.case.as_ref();
    let first_save = results.tracks.times().first().copied();
    // Unless the case gives their times, saves start with the run.
    let starts = case.is_some_and(|case| !matches!(case.save.at, SaveAt::Times(_)));
    let start = case.and_then(|case| case.trace.span.t0).or(first_save.filter(|_| starts));
    let Some((case, start)) = case.zip(start) else {
        return Err(Misuse::error(format!(
            "the release time of the particles is not known until the run has ended, because the \
             case has no trace.t0; resume it with {}",
            results.folder.resume_command()
        )));
    };
    let is_backward = case.trace.span.dt.is_some_and(|dt| dt < 0.0)
        || case.trace.span.t1.is_some_and(|end| end < start);
    let release = case.seeds.first().and_then(|seeds| seeds.release).unwrap_or(start);
    // A release before the start is at the start.
    Ok(if is_backward { release.min(start) } else { release.max(start) })
}

/// The position of the first node.
fn origin(lattice: &Lattice) -> [f64; 3] {
    let spacing = lattice.spacing();
    std::array::from_fn(|d| match (lattice.points(), lattice.counts()[d]) {
        (GridPlacement::Corners, _) => lattice.low()[d],
        (GridPlacement::Centres, 1) => 0.5 * (lattice.low()[d] + lattice.high()[d]),
        (GridPlacement::Centres, _) => lattice.low()[d] + 0.5 * spacing[d],
    })
}

/// FTLE as image data. `time` is the time of the save.
fn image(ftle: &Ftle, values: &[f64], time: f64) -> io::Image {
    let lattice = ftle.lattice();
    io::Image {
        counts: lattice.counts(),
        origin: origin(lattice),
        spacing: lattice.spacing(),
        directions: None,
        arrays: vec![("ftle".into(), values.to_vec())],
        facts: vec![("TimeValue".into(), time), ("flow_time".into(), ftle.time())],
        ..io::Image::default()
    }
}

/// FTLE on the plane of a flat lattice, or on the middle layer. `None` for a lattice along a line.
fn raster(results: &Results, ftle: &Ftle, image: &io::Image, values: &[f64]) -> Option<Raster> {
    let units = results.units();
    let middle = image.counts[2] / 2;
    let Layer { raster, position } = Layer::of(image, values, middle, &results.tracks.units())?;
    let time = format!("{} {}", twelve_digits(ftle.time()), units.time);
    Some(results.with_land(Raster {
        name: "FTLE".into(),
        unit: units.rate(),
        title: format!("finite-time Lyapunov exponent, T = {}{position}", time.trim_end()),
        ..raster
    }))
}

fn print(
    output: OutputArgs,
    (ftle, gradient): (&Ftle, &str),
    values: &[f64],
    written: &[PathBuf],
) -> Result<()> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (min, max) = (finite().reduce(f64::min), finite().reduce(f64::max));
    let json = || {
        json!({
            "nodes": ftle.lattice().counts(),
            "time": ftle.time(),
            "gradient": gradient,
            "min": min,
            "max": max,
            "missing": ftle.missing(),
            "files": written,
            "notes": notes::take(),
        })
    };
    let text = || {
        let [nx, ny, nz] = ftle.lattice().counts();
        let mut text = format!("nodes      {nx} x {ny} x {nz}, {} undefined\n", ftle.missing());
        text += &format!("time       {}\n", twelve_digits(ftle.time()));
        text += &format!("gradient   {gradient}\n");
        if let (Some(min), Some(max)) = (min, max) {
            text += &format!("FTLE       {min:.6} to {max:.6}\n");
        }
        written.iter().for_each(|path| text += &format!("written    {}\n", path.display()));
        text
    };
    output.print(json, text)
}
