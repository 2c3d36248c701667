//! Thinning out particles to limit the size of a page.

use super::content::{Page, Statuses};
use super::error::Result;
use super::{html, validate};
use crate::{Attribute, Trajectories};

/// Bytes reserved for program, tables and charts, if their size is not known.
const OVERHEAD_BYTES: usize = 200_000;
/// Bytes reserved for the time of a save.
const TIME_BYTES: usize = 25;

/// The stride `k` that limits a page to `max_bytes`: it keeps every `k`-th particle, from the
/// first. 1 if all particles fit, at most the number of particles.
///
/// `attributes` is the number of attributes of the trajectories. Slices are not counted; 200 kB are
/// reserved for everything but the particles.
pub fn stride(particles: usize, saves: usize, attributes: usize, max_bytes: usize) -> usize {
    let overhead = saves.saturating_mul(TIME_BYTES).saturating_add(OVERHEAD_BYTES);
    stride_with_overhead(overhead, particles, saves, attributes, max_bytes)
}

/// The same with a known size of everything but the particles.
fn stride_with_overhead(
    overhead: usize,
    particles: usize,
    saves: usize,
    attributes: usize,
    max_bytes: usize,
) -> usize {
    let bytes = saves.saturating_mul(8 + 2 * attributes).saturating_add(4);
    let particle_bytes = base64::encoded_len(bytes, true).unwrap_or(usize::MAX);
    let max_particles = (max_bytes.saturating_sub(overhead) / particle_bytes).max(1);
    particles.div_ceil(max_particles).max(1)
}

pub(super) fn fit(page: Page, max_bytes: usize) -> Result<Page> {
    validate::check(&page)?;
    let trajectories = &page.trajectories;
    let (particles, attributes) = (trajectories.particles.len(), trajectories.attributes.len());
    // The page without particles, with a reserve for longer numbers in the quantizers.
    let overhead = html::html(&thinned(&page, usize::MAX))?.len() + 64 * (4 + attributes);
    match stride_with_overhead(overhead, particles, trajectories.times.len(), attributes, max_bytes)
    {
        1 => Ok(page),
        stride => Ok(thinned(&page, stride)),
    }
}

/// The page with every `stride`-th particle, from the first.
fn thinned(page: &Page, stride: usize) -> Page {
    let columns = page.trajectories.particles.len();
    let statuses = page.statuses.as_ref().map(|statuses| Statuses {
        names: statuses.names.clone(),
        codes: strided(&statuses.codes, columns, stride),
    });
    Page {
        title: page.title.clone(),
        trajectories: thinned_trajectories(&page.trajectories, stride),
        statuses,
        slices: page.slices.clone(),
        sections: page.sections.clone(),
        histograms: page.histograms.clone(),
    }
}

fn thinned_trajectories(trajectories: &Trajectories, stride: usize) -> Trajectories {
    let columns = trajectories.particles.len();
    let attribute = |attribute: &Attribute| Attribute {
        name: attribute.name.clone(),
        unit: attribute.unit.clone(),
        values: strided(&attribute.values, columns, stride),
        categories: attribute.categories.clone(),
    };
    Trajectories {
        times: trajectories.times.clone(),
        dates: trajectories.dates.clone(),
        particles: strided(&trajectories.particles, columns, stride),
        position: strided(&trajectories.position, columns, stride),
        joined: strided(&trajectories.joined, columns, stride),
        active: strided(&trajectories.active, columns, stride),
        attributes: trajectories.attributes.iter().map(attribute).collect(),
        domain: trajectories.domain,
        axes: trajectories.axes.clone(),
        length_unit: trajectories.length_unit.clone(),
        time_unit: trajectories.time_unit.clone(),
        run_size: trajectories.run_size,
        not_located: trajectories.not_located,
        // Not shown on pages, as is the background.
        partial: Vec::new(),
        surfaces: trajectories.surfaces.clone(),
        outline: trajectories.outline.clone(),
        land: trajectories.land.clone(),
        radius: trajectories.radius,
        background: None,
    }
}

/// Every `stride`-th column.
fn strided<T: Copy>(values: &[T], columns: usize, stride: usize) -> Vec<T> {
    let rows = values.chunks_exact(columns.max(1));
    rows.flat_map(|row| row.iter().copied().step_by(stride)).collect()
}
