//! Leaving out particles.

use super::encode::base64_len;
use super::{Page, Result, Statuses, html, valid};
use crate::{Attribute, Trajectories};

/// Room for the program of the page, its numbers and its charts, where these are not known.
const ITSELF: usize = 200_000;
/// Room for a time of a save.
const TIME: usize = 25;

/// Which particles of a run stay on a page of at most `max_bytes`: every `stride`-th, from the
/// first. 1 if all of them fit, at most the number of particles.
///
/// `attributes` is how many attributes the ways have. Slices are not counted, and 200 kB are left
/// for all that is no particle.
pub fn stride(particles: usize, saves: usize, attributes: usize, max_bytes: usize) -> usize {
    let rest = saves.saturating_mul(TIME).saturating_add(ITSELF);
    stride_beside(rest, particles, saves, attributes, max_bytes)
}

/// The same, where the rest takes so many bytes.
fn stride_beside(
    rest: usize,
    particles: usize,
    saves: usize,
    attributes: usize,
    max_bytes: usize,
) -> usize {
    let one = base64_len(saves.saturating_mul(8 + 2 * attributes).saturating_add(4));
    let most = (max_bytes.saturating_sub(rest) / one).max(1);
    particles.div_ceil(most).max(1)
}

pub(super) fn fit(page: Page, max_bytes: usize) -> Result<Page> {
    valid::check(&page)?;
    let ways = &page.ways;
    let (particles, attributes) = (ways.particles.len(), ways.attributes.len());
    // All but the particles, and digits of scales that others make longer.
    let rest = html::html(&thinned(&page, usize::MAX))?.len() + 64 * (4 + attributes);
    match stride_beside(rest, particles, ways.times.len(), attributes, max_bytes) {
        1 => Ok(page),
        every => Ok(thinned(&page, every)),
    }
}

/// Every so many-th particle, from the first.
fn thinned(page: &Page, every: usize) -> Page {
    let columns = page.ways.particles.len();
    let statuses = page.statuses.as_ref().map(|statuses| Statuses {
        names: statuses.names.clone(),
        codes: every_column(&statuses.codes, columns, every),
    });
    Page {
        title: page.title.clone(),
        ways: thinned_ways(&page.ways, every),
        statuses,
        slices: page.slices.clone(),
        sections: page.sections.clone(),
        histograms: page.histograms.clone(),
    }
}

fn thinned_ways(ways: &Trajectories, every: usize) -> Trajectories {
    let columns = ways.particles.len();
    let attribute = |attribute: &Attribute| Attribute {
        name: attribute.name.clone(),
        unit: attribute.unit.clone(),
        values: every_column(&attribute.values, columns, every),
    };
    Trajectories {
        times: ways.times.clone(),
        particles: every_column(&ways.particles, columns, every),
        position: every_column(&ways.position, columns, every),
        joined: every_column(&ways.joined, columns, every),
        active: every_column(&ways.active, columns, every),
        attributes: ways.attributes.iter().map(attribute).collect(),
        domain: ways.domain,
        length_unit: ways.length_unit.clone(),
        time_unit: ways.time_unit.clone(),
        of: ways.of,
    }
}

/// Every so many-th column of rows.
fn every_column<T: Copy>(values: &[T], columns: usize, every: usize) -> Vec<T> {
    let rows = values.chunks_exact(columns.max(1));
    rows.flat_map(|row| row.iter().copied().step_by(every)).collect()
}
