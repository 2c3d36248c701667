//! Nodes that resolve the kernels.

use super::{
    check,
    particles::SavedParticles,
    request::{DensityRequest, NODES, Target},
};
use crate::{bounds::bounding_box, case::Misuse, format::twelve_digits, log};
use anyhow::Result;
use burntrace::{
    analysis::{
        Error,
        density::{Estimate, Lattice},
    },
    device::OpenDevice,
};

/// Estimates the density. If the nodes are too far apart for the kernels, a given bandwidth is refused. With
/// a bandwidth from a rule, default nodes are placed around the particles, and other nodes give a warning.
/// A series keeps its nodes, so that its densities can be compared; its saves whose particles determine no
/// bandwidth are `None`, with a note.
pub fn estimate(
    request: &mut DensityRequest,
    particles: &SavedParticles,
    device: &OpenDevice,
    is_series: bool,
) -> Result<Option<Estimate>> {
    let estimate = match request.estimate(particles, device) {
        Err(error @ Error::NoSpread(_)) if is_series => {
            eprintln!("note: t = {}: {error}; this save is skipped", twelve_digits(particles.time));
            return Ok(None);
        }
        estimate => estimate.map_err(Misuse::of)?,
    };
    let Some(problem) = check::kernels(request, &estimate) else { return Ok(Some(estimate)) };
    if request.has_given_bandwidth {
        return Err(Misuse::error(problem));
    }
    let nodes = estimate.lattice.as_ref().filter(|_| request.has_default_nodes && !is_series);
    let Some(nodes) = nodes.map(|nodes| around(particles, request, nodes, &estimate)) else {
        log::warn([&problem]);
        return Ok(Some(estimate));
    };
    eprintln!(
        "note: the nodes extend around the particles from {:?} to {:?}, as nodes over the whole domain would be \
         too far apart for the bandwidth; give --nodes, --low and --high to choose them",
        nodes.low, nodes.high
    );
    request.target = Target::Grid(nodes);
    let estimate = request.estimate(particles, device).map_err(Misuse::of)?;
    log::warn(check::kernels(request, &estimate).iter());
    Ok(Some(estimate))
}

/// Nodes around the particles, within the nodes of an estimate.
fn around(
    particles: &SavedParticles,
    request: &DensityRequest,
    nodes: &Lattice,
    estimate: &Estimate,
) -> Lattice {
    let mut around = *nodes;
    let [low, high] = bounding_box(particles.positions.iter().copied());
    for d in (0..3).filter(|d| request.axes.active()[*d]) {
        let reach = request.reach * estimate.bandwidth[d];
        around.low[d] = nodes.low[d].max(low[d] - reach);
        around.high[d] = nodes.high[d].min(high[d] + reach);
        around.counts[d] = NODES[request.axes.dimension() - 1];
    }
    around
}
