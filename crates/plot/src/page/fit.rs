//! Lower precision and fewer particles, to limit the size of a page.

use super::content::{Page, Sources, Statuses};
use super::error::Result;
use super::header::Quantizers;
use super::precision::Precision;
use super::{arrays, html, validate};
use crate::{Attribute, Trajectories};

/// Bytes that a position takes with its attributes, at least, if its particle moves.
const MIN_POSITION_BYTES: usize = 1;
/// Number of particles to estimate the size of a page from, and the margin of the estimate: fewer particles compress less
/// well.
const SAMPLED: usize = 2000;
const MARGIN: f64 = 1.05;

/// A lower limit of the stride `k` with which a page has at most `max_bytes`: it keeps every `k`-th particle, from
/// the first. 1 if all particles may fit, at most the number of particles.
///
/// It assumes a byte for each position with its attributes, which base64 makes a third longer. [`Page::fit`] finds how many
/// particles fit indeed.
pub fn stride(particles: usize, saves: usize, max_bytes: usize) -> usize {
    let max_positions = max_bytes / 4 * 3 / MIN_POSITION_BYTES;
    let max_particles = (max_positions / saves.max(1)).max(1);
    particles.div_ceil(max_particles).max(1)
}

/// The page with at most `max_bytes`, and its HTML.
pub(super) fn fit(mut page: Page, max_bytes: usize) -> Result<(Page, String)> {
    validate::check(&page)?;
    let particles = page.trajectories.particles.len();
    let sample = thinned(&page, particles.div_ceil(SAMPLED));
    let overhead = html::html(&thinned(&page, usize::MAX))?.len();
    let room = max_bytes.saturating_sub(overhead) as f64;
    let given = page.precision;
    let lower = Precision::STEPS.into_iter().filter(|step| *step != given && step.is_within(given));
    let mut max_particles = 0;
    for precision in std::iter::once(given).chain(lower) {
        page.precision = precision;
        let bytes = particle_bytes(&Page { precision, ..sample.clone() });
        max_particles = (MARGIN * room / bytes) as usize;
        if max_particles >= particles {
            let html = html::html(&page)?;
            if html.len() <= max_bytes {
                return Ok((page, html));
            }
        }
    }
    thin(&page, particles.div_ceil(max_particles.max(1)), max_bytes)
}

/// Thins out the particles, from a stride on.
fn thin(page: &Page, mut stride: usize, max_bytes: usize) -> Result<(Page, String)> {
    loop {
        let part = thinned(page, stride);
        let html = html::html(&part)?;
        if part.trajectories.particles.len() <= 1 || html.len() <= max_bytes {
            return Ok((part, html));
        }
        stride += 1;
    }
}

/// Mean number of bytes of a particle in the arrays with codes for positions and particles.
fn particle_bytes(page: &Page) -> f64 {
    let mut html = String::new();
    arrays::push_particles(&mut html, page, &Quantizers::of(page));
    html.len() as f64 / page.trajectories.particles.len().max(1) as f64
}

/// The page with every `stride`-th particle, from the first.
fn thinned(page: &Page, stride: usize) -> Page {
    let (columns, stride) = (page.trajectories.particles.len(), stride.max(1));
    let statuses = page.statuses.as_ref().map(|statuses| Statuses {
        names: statuses.names.clone(),
        codes: strided(&statuses.codes, columns, stride),
    });
    let sources = page.sources.as_ref().map(|sources| Sources {
        names: sources.names.clone(),
        codes: strided(&sources.codes, columns, stride),
    });
    Page {
        reload: page.reload,
        title: page.title.clone(),
        sources,
        precision: page.precision,
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
pub(super) fn strided<T: Copy>(values: &[T], columns: usize, stride: usize) -> Vec<T> {
    let rows = values.chunks_exact(columns.max(1));
    rows.flat_map(|row| row.iter().copied().step_by(stride)).collect()
}
