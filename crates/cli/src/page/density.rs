//! The density on a page: from the store, or else from the particles.

use crate::{
    format::{six_digits, time_range},
    notes, pictures,
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::{densities::Layer, io::Image};
use burntrace_plot::{Raster, page::Slice};

/// Maximum numbers of densities, and of particles in those that are estimated.
const DENSITIES: usize = 40;
const PARTICLES: usize = 4_000_000;
/// Maximum number of values in all densities from the store.
const VALUES: usize = 4_000_000;
/// Number of nodes along each side of an estimated density.
const NODES: usize = 96;

/// The density over time: what `burntrace density` stored at several saves, else estimates from the particles.
/// A single stored density is added to these.
pub fn slices(results: &Results) -> Vec<Slice> {
    let stored = stored(results).unwrap_or_else(|reason| {
        notes::note(format!(
            "the page does not have the densities in the store: {reason:#}; it has estimates from the particles"
        ));
        None
    });
    let is_single = |slice: &Slice| slice.times.len() == 1 && results.tracks.num_saves() > 1;
    match stored {
        Some(slice) if is_single(&slice) => {
            estimated_or_note(results).into_iter().chain([with_time(slice, results)]).collect()
        }
        Some(slice) => vec![slice],
        None => estimated_or_note(results).into_iter().collect(),
    }
}

/// A slice that does not follow the time, with its time in the title.
fn with_time(mut slice: Slice, results: &Results) -> Slice {
    if let Some(time) = slice.times.pop() {
        let origin = results.time_origin();
        slice.raster.title += ", ";
        slice.raster.title += &time_range(&[time], &results.units().time, origin.as_ref());
    }
    slice
}

/// The densities in the store. `None` if it has none.
fn stored(results: &Results) -> Result<Option<Slice>> {
    let tracks = &results.tracks;
    let saves = tracks.density_saves();
    let Some(last) = saves.last() else { return Ok(None) };
    let image = tracks.density(*last)?;
    let extended: Vec<usize> = (0..3).filter(|&d| image.counts[d] > 1).collect();
    let (first, second) = match extended[..] {
        [a, b] | [a, b, _] => (a, b),
        _ => anyhow::bail!("they are along a line"),
    };
    let size = image.counts[first] * image.counts[second];
    if size > VALUES {
        anyhow::bail!("they have more than {VALUES} nodes on a plane");
    }
    let normal_axis = 3 - first - second;
    let chosen = densest(&image, size);
    let times = tracks.times();
    let mut slice = Slice {
        normal_axis,
        position: image.origin[normal_axis] + chosen as f64 * image.spacing[normal_axis],
        ..Slice::default()
    };
    let shown = evenly(&saves, DENSITIES.min(VALUES / size));
    for save in &shown {
        let Some(raster) = plane(results, &tracks.density(*save)?, chosen) else { continue };
        slice.times.push(times[*save]);
        match slice.times.len() {
            1 => slice.raster = raster,
            _ => slice.later.push(raster.values),
        }
    }
    slice.raster.title = title(results, &image, (normal_axis, slice.position));
    if 1 < saves.len() && saves.len() < times.len() {
        notes::note(format!(
            "the page shows the density of {} of {} saves, which are those in the store; add the others with \
             `burntrace density {} --save all`, with the options of these",
            shown.len(),
            times.len(),
            results.folder.root.display()
        ));
    }
    Ok(Some(slice))
}

/// The layer along z with the maximum, of layers of a size.
fn densest(image: &Image, size: usize) -> usize {
    let values = image.arrays.iter().flat_map(|(_, values)| values).enumerate();
    let finite = values.filter(|(_, value)| value.is_finite());
    finite.max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(node, _)| node / size)
}

/// One plane of a density.
fn plane(results: &Results, image: &Image, chosen: usize) -> Option<Raster> {
    let (_, values) = image.arrays.first()?;
    let Layer { raster, .. } = Layer::of(image, values, chosen, &results.tracks.units())?;
    Some(Raster { name: "density".into(), unit: image.unit.clone(), ..raster })
}

/// A title with the position of a slice, or with the axis along which the density is projected.
fn title(results: &Results, image: &Image, (axis, position): (usize, f64)) -> String {
    let [low, high] = results.domain.map(|corner| corner[axis]);
    match image.counts[axis] == 1 && position == low {
        true if low == high => "density".into(),
        true => format!("density, projected along {}", AXES[axis]),
        false => at(results, axis, position),
    }
}

/// A title with the position of a slice.
fn at(results: &Results, axis: usize, position: f64) -> String {
    let position = six_digits(position);
    let unit = results.units().length;
    format!("density at {} = {position} {unit}", AXES[axis]).trim_end().into()
}

/// Up to `max` of some saves, evenly spaced, with the first and the last.
fn evenly(saves: &[usize], max: usize) -> Vec<usize> {
    match (saves, max) {
        ([.., last], 1) => vec![*last],
        _ if saves.len() <= max => saves.to_vec(),
        _ => (0..max).map(|i| saves[i * (saves.len() - 1) / (max - 1)]).collect(),
    }
}

/// [`estimated`], or a note.
fn estimated_or_note(results: &Results) -> Option<Slice> {
    estimated(results).unwrap_or_else(|reason| {
        notes::note(format!("the page has no density: {reason:#}"));
        None
    })
}

/// Densities of the particles, on the plane of a flat domain or on the plane normal to z with most particles.
fn estimated(results: &Results) -> Result<Option<Slice>> {
    let most = (PARTICLES / results.tracks.num_particles().max(1)).clamp(1, DENSITIES);
    let densities = pictures::densities(results, most, NODES)?;
    let (height, normal_axis) = (densities.height, densities.normal_axis);
    let times = densities.rasters.iter().map(|(time, _)| *time).collect();
    let mut rasters = densities.rasters.into_iter().map(|(_, raster)| raster);
    let Some(mut raster) = rasters.next() else { return Ok(None) };
    raster.title = height.map_or_else(|| "density".into(), |z| at(results, normal_axis, z));
    let [low, high] = results.domain;
    let position = height.unwrap_or(0.5 * (low[normal_axis] + high[normal_axis]));
    let later = rasters.map(|raster| raster.values).collect();
    Ok(Some(Slice { raster, normal_axis, position, times, later }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saves_are_chosen_evenly_with_both_ends() {
        let saves: Vec<usize> = (10..21).collect();
        assert_eq!(evenly(&saves, 40), saves);
        assert_eq!(evenly(&saves, 3), [10, 15, 20]);
        assert_eq!(evenly(&saves, 1), [20]);
        assert_eq!(evenly(&[], 1), [0; 0]);
    }
}
