//! Leaving out particles.

use super::{Page, Result, Statuses, encode, valid};
use crate::{Attribute, Ways};

/// Room for the program of the page, its numbers and its charts.
const ITSELF: usize = 100_000;

/// Which particles of a run stay on a page of at most `max_bytes`: every `stride`-th, from the
/// first. 1 if all of them fit, at most the number of particles.
///
/// `attributes` is how many attributes the ways have. Slices are not counted.
pub fn stride(particles: usize, saves: usize, attributes: usize, max_bytes: usize) -> usize {
    let one = 4 * (4 + saves.saturating_mul(8 + 2 * attributes)) / 3;
    let most = (max_bytes.saturating_sub(ITSELF) / one).max(1);
    particles.div_ceil(most).max(1)
}

pub(super) fn fit(page: Page, max_bytes: usize) -> Result<Page> {
    valid::check(&page)?;
    let rest = page.slices.iter().map(|slice| encode::base64_len(2 * slice.raster.values.len()));
    let left = max_bytes.saturating_sub(rest.sum());
    let ways = &page.ways;
    let every = stride(ways.particles.len(), ways.times.len(), ways.attributes.len(), left);
    if every == 1 {
        return Ok(page);
    }
    let columns = ways.particles.len();
    let statuses = page.statuses.map(|statuses| Statuses {
        codes: thinned(&statuses.codes, columns, every),
        names: statuses.names,
    });
    Ok(Page { ways: thinned_ways(page.ways, every), statuses, ..page })
}

/// Every so many-th particle, from the first.
fn thinned_ways(ways: Ways, every: usize) -> Ways {
    let columns = ways.particles.len();
    let attribute = |attribute: Attribute| Attribute {
        values: thinned(&attribute.values, columns, every),
        ..attribute
    };
    Ways {
        position: thinned(&ways.position, columns, every),
        joined: thinned(&ways.joined, columns, every),
        active: thinned(&ways.active, columns, every),
        attributes: ways.attributes.into_iter().map(attribute).collect(),
        particles: ways.particles.into_iter().step_by(every).collect(),
        ..ways
    }
}

/// Every so many-th column of rows.
fn thinned<T: Copy>(values: &[T], columns: usize, every: usize) -> Vec<T> {
    let rows = values.chunks_exact(columns.max(1));
    rows.flat_map(|row| row.iter().copied().step_by(every)).collect()
}
