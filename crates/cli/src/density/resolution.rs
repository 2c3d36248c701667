//! Nodes that resolve the kernels.

use super::{
    check,
    request::{DensityRequest, NODES},
};
use crate::{
    file::Misuse,
    format::{three_digits, twelve_digits},
    log, notes,
};
use anyhow::Result;
use burntrace::{
    analysis::{
        Error,
        density::{Estimate, Lattice, Rule},
    },
    densities::{SavedParticles, Target},
    device::OpenDevice,
    mesh::Bounds,
};

/// Estimates the density. If the nodes are too far apart for the kernels, a given bandwidth is refused. With
/// a bandwidth from a rule, default nodes of a single save are placed around the particles, those of a series,
/// whose densities are to be compared, are kept with wider kernels, and other nodes give a warning.
pub fn estimate(
    request: &mut DensityRequest,
    particles: &SavedParticles,
    device: &OpenDevice,
    is_series: bool,
) -> Result<Estimate> {
    let estimate = estimate_with_note(request, particles, device)?;
    let Some(problem) = check::kernels(request, &estimate) else { return Ok(estimate) };
    if request.has_given_bandwidth {
        return Err(Misuse::error(problem));
    }
    let Some(nodes) = estimate.lattice.as_ref().filter(|_| request.has_default_nodes) else {
        log::warn([&problem]);
        return Ok(estimate);
    };
    if is_series {
        let pitches = [0, 1, 2].map(|d| {
            if nodes.counts[d] > 1 { request.lengths_per_unit * nodes.pitch(d) } else { 0.0 }
        });
        let widths = [0, 1, 2].map(|d| estimate.bandwidth[d].max(pitches[d]));
        let widths = widths.map(three_digits);
        notes::note(format!(
            "t = {}: the bandwidth {:?} is below the distance of the nodes, and {widths:?} is used; give \
             more --nodes, or a smaller grid with --low and --high",
            twelve_digits(particles.time),
            estimate.bandwidth.map(three_digits),
        ));
        let density = request.with_widths(widths);
        return request.estimate_with(&density, particles, device).map_err(Misuse::of);
    }
    let nodes = around(particles, request, nodes, &estimate);
    notes::note(format!(
        "the nodes extend around the particles from {:?} to {:?}, as nodes over the whole domain would be \
         too far apart for the bandwidth; give --nodes, --low and --high to choose them",
        nodes.low, nodes.high
    ));
    request.nodes.target = Target::Grid(nodes);
    let estimate = estimate_with_note(request, particles, device)?;
    log::warn(check::kernels(request, &estimate).iter());
    Ok(estimate)
}

/// As [`estimate_or_widen`], and prints a note if the bandwidth was chosen.
fn estimate_with_note(
    request: &DensityRequest,
    particles: &SavedParticles,
    device: &OpenDevice,
) -> Result<Estimate> {
    let (estimate, chosen) = estimate_or_widen(request, particles, device)?;
    if request.has_default_bandwidth && estimate.rule == Some(Rule::Scott) {
        notes::note(format!(
            "t = {}: most particles are where others are, so that there is no distance between neighbours for the \
             bandwidth; Scott's rule is used, or give another one with --bandwidth",
            twelve_digits(particles.time)
        ));
    }
    if let Some(Chosen { problem, widths }) = chosen {
        notes::note(format!(
            "t = {}: {problem}; the bandwidth {widths:?} is used, by Scott's rule, and along such an axis the largest \
             one of other axes, or 2 % of the domain; give another one with --bandwidth",
            twelve_digits(particles.time),
        ));
    }
    Ok(estimate)
}

/// A bandwidth that the particles do not determine.
pub struct Chosen {
    problem: String,
    widths: [f64; 3],
}

/// Estimates the density. Where the particles of a save have no spread along an axis, for example on a line,
/// they determine no bandwidth there; it is the largest one along other axes then.
pub fn estimate_or_widen(
    request: &DensityRequest,
    particles: &SavedParticles,
    device: &OpenDevice,
) -> Result<(Estimate, Option<Chosen>)> {
    let problem = match request.estimate(particles, device) {
        Err(Error::NoSpread(problem)) => problem,
        estimate => return Ok((estimate.map_err(Misuse::of)?, None)),
    };
    let widths = bandwidths(request, particles);
    let density = request.with_widths(widths);
    let estimate = request.estimate_with(&density, particles, device).map_err(Misuse::of)?;
    Ok((estimate, Some(Chosen { problem, widths })))
}

/// Scott's bandwidth along axes with a spread. Along others it is the largest one of these or, if there are
/// none, a fiftieth of the longest side of the domain.
fn bandwidths(request: &DensityRequest, particles: &SavedParticles) -> [f64; 3] {
    let count = particles.positions.len() as f64;
    let factor = count.powf(-1.0 / (request.nodes.axes.dimension() as f64 + 4.0));
    let longest = request.extents.into_iter().fold(0.0, f64::max);
    let scott = |d: usize| {
        let along = || particles.positions.iter().map(|position| position[d]);
        let mean = along().sum::<f64>() / count;
        let width =
            factor * (along().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let width = request.lengths_per_unit * width;
        let is_spread = request.nodes.axes.active()[d] && width > 1e-5 * longest;
        if is_spread { width } else { 0.0 }
    };
    let own = [0, 1, 2].map(scott);
    let largest = own.into_iter().fold(0.0, f64::max);
    let other = if largest > 0.0 { largest } else { longest / 50.0 };
    own.map(|width| three_digits(if width > 0.0 { width } else { other }))
}

/// Nodes around the particles, within the nodes of an estimate.
fn around(
    particles: &SavedParticles,
    request: &DensityRequest,
    nodes: &Lattice,
    estimate: &Estimate,
) -> Lattice {
    let mut around = *nodes;
    let Bounds { low, high } = Bounds::of(particles.positions.iter().copied());
    let narrowest = match request.is_on_sphere {
        true => low[1].abs().max(high[1].abs()).to_radians().cos().max(1e-3),
        false => 1.0,
    };
    for d in (0..3).filter(|d| request.nodes.axes.active()[*d]) {
        let degree = if d == 0 { narrowest } else { 1.0 } * request.lengths_per_unit;
        let reach = request.reach * estimate.bandwidth[d] / degree;
        around.low[d] = nodes.low[d].max(low[d] - reach);
        around.high[d] = nodes.high[d].min(high[d] + reach);
        around.counts[d] = NODES[request.nodes.axes.dimension() - 1];
    }
    around
}
