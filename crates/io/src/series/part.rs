//! A part of a grid: a box of its nodes, or every n-th of them.

use super::geometry::ROUNDING;
use super::grid::{AXES, Grid};
use super::options::{Crop, SeriesOptions};
use super::values::{Selection, select};
use super::velocity::Association;
use crate::{Error, Result};
use burntrace_cf::Span;
use burntrace_core::{Floats, FrameData, sphere::CIRCLE};
use std::{ops::Range, path::Path};

/// The nodes of a grid that are read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GridPart {
    /// Ranges of nodes along x, y and z, in increasing order of the coordinates.
    nodes: [Span; 3],
    /// Number of nodes of the grid along each axis.
    whole: [usize; 3],
    association: Association,
}

impl GridPart {
    /// The part that options ask for; `None` if it is the whole grid.
    ///
    /// # Errors
    ///
    /// If it has no cells, or values in cells are to be left out between others.
    pub fn of(
        grid: &Grid,
        options: &SeriesOptions,
        association: Association,
        path: &Path,
    ) -> Result<Option<GridPart>> {
        if options.crop.is_none() && options.every.is_none() {
            return Ok(None);
        }
        let fail = |reason: String| Error::Part { path: path.into(), reason };
        let (mut crop, every) = (options.crop.unwrap_or_default(), options.every.unwrap_or([1; 3]));
        if let (true, Some([low, high]), Crop { low: Some(west), high: Some(east) }) =
            (grid.is_in_degrees, options.turned_to(), &mut crop)
        {
            (west[0], east[0]) = (low, high);
        }
        if association == Association::Cell && every != [1; 3] {
            return Err(fail(format!(
                "`every = {every:?}` leaves nodes out, and its values are in the cells; convert them to the \
                 nodes (in ParaView: Cell Data to Point Data), or omit `every`"
            )));
        }
        if let Some(reason) = crop_across_ends(grid, crop) {
            return Err(fail(reason));
        }
        let mut nodes = [Span::all(1); 3];
        for (d, span) in nodes.iter_mut().enumerate() {
            let low = crop.low.map_or(f64::NEG_INFINITY, |low| low[d]);
            let high = crop.high.map_or(f64::INFINITY, |high| high[d]);
            *span = range(&grid.axes[d], [low, high], every[d])
                .map_err(|reason| fail(format!("{reason} along {}", AXES[d])))?;
        }
        Ok(Some(GridPart { nodes, whole: grid.nodes(), association }))
    }

    /// The whole grid.
    pub fn whole(grid: &Grid, association: Association) -> GridPart {
        let whole = grid.nodes();
        let nodes = whole.map(|count| Span { start: 0, count, step: 1 });
        GridPart { nodes, whole, association }
    }

    /// Ranges of the nodes of this part.
    pub fn within(&self, nodes: &[Range<usize>; 3]) -> GridPart {
        let span = |d: usize| {
            let Span { start, step, .. } = self.nodes[d];
            Span { start: start + nodes[d].start * step, count: nodes[d].len(), step }
        };
        GridPart { nodes: [span(0), span(1), span(2)], ..self.clone() }
    }

    /// The grid of the nodes.
    pub fn grid(&self, whole: &Grid) -> Grid {
        let axis = |d: usize| indices(self.nodes[d]).map(|node| whole.axes[d][node]).collect();
        Grid { axes: [axis(0), axis(1), axis(2)], ..*whole }
    }

    /// Where the part ends before the box, because the last nodes are left out.
    pub fn notes(&self, whole: &Grid, crop: Option<Crop>) -> Vec<String> {
        let note = |d: usize| {
            let Span { start, count, step } = self.nodes[d];
            let (last, axis) = (start + (count - 1) * step, &whole.axes[d]);
            let high = crop.and_then(|crop| crop.high).map_or(f64::INFINITY, |high| high[d]);
            let end = axis[axis.len() - 1].min(high);
            (axis[last] < end).then(|| {
                let (name, at) = (AXES[d], axis[last]);
                format!(
                    "`every` leaves out the nodes after {name} = {at}, where the field ends now"
                )
            })
        };
        (0..3).filter_map(note).collect()
    }

    /// The ranges of nodes in the order of the file.
    pub fn in_file(&self, flipped: [bool; 3]) -> [Span; 3] {
        std::array::from_fn(|d| {
            let Span { start, count, step } = self.nodes[d];
            let start = match flipped[d] {
                true => self.whole[d] - 1 - (start + (count - 1) * step),
                false => start,
            };
            Span { start, count, step }
        })
    }

    /// The values of the part, of a frame of the whole grid.
    pub fn take(&self, frame: FrameData, widths: impl Iterator<Item = usize>) -> FrameData {
        let indices = self.values();
        let part = |values: Floats, width: usize| match values.is_empty() {
            true => values,
            false => select(values, width, Selection::Indices(&indices)),
        };
        let take = |hidden: &[bool]| indices.iter().map(|i| hidden[*i]).collect::<Vec<bool>>();
        let hidden = frame.hidden().map(take);
        let arrays = frame.arrays.into_iter().zip(widths);
        let arrays = arrays.map(|(values, width)| part(values, width)).collect();
        FrameData::new(part(frame.velocity, 3))
            .with_diffusivity(frame.diffusivity.map(|values| part(values, 1)))
            .with_hidden(hidden)
            .with_arrays(arrays)
    }

    /// The indices of the values in a frame of the whole grid.
    fn values(&self) -> Vec<usize> {
        let (mut spans, mut whole) = (self.nodes, self.whole);
        if self.association == Association::Cell {
            spans.iter_mut().for_each(|span| span.count = (span.count - 1).max(1));
            whole = whole.map(|nodes| (nodes - 1).max(1));
        }
        let [x, y, z] = spans;
        let rows = indices(z).flat_map(|k| indices(y).map(move |j| (k * whole[1] + j) * whole[0]));
        rows.flat_map(|row| indices(x).map(move |i| row + i)).collect()
    }
}

/// Why longitudes around the earth cannot be cropped: the box goes on at their other end.
fn crop_across_ends(grid: &Grid, crop: Crop) -> Option<String> {
    grid.geometry().global()?;
    let (first, end) = (grid.axes[0][0], grid.axes[0][0] + CIRCLE);
    let is_outside = |x: f64| x.is_finite() && !(first - ROUNDING..=end + ROUNDING).contains(&x);
    let outside =
        [crop.low, crop.high].into_iter().flatten().find(|corner| is_outside(corner[0]))?;
    Some(format!(
        "`crop` has the longitude {}, and the grid is from {first} to {end}; give longitudes inside it, or let the \
         longitudes of the file begin elsewhere (in xarray: `ds.assign_coords(lon=(ds.lon + 180) % 360 - \
         180).sortby(\"lon\")`)",
        outside[0]
    ))
}

fn indices(span: Span) -> impl Iterator<Item = usize> {
    (0..span.count).map(move |i| span.start + i * span.step)
}

/// The nodes of the cells that an interval touches, every `step` of them.
fn range(axis: &[f64], [low, high]: [f64; 2], step: usize) -> std::result::Result<Span, String> {
    if step == 0 {
        return Err("`every` is 0; give 1 for every node, 2 for every second one".into());
    }
    let (first, last) = (axis[0], axis[axis.len() - 1]);
    // The negation also refuses NaN.
    if !(low <= high && high >= first && low <= last) {
        return Err(format!(
            "`crop` is from {low} to {high}, and the grid from {first} to {last}; give an interval inside it"
        ));
    }
    if axis.len() == 1 {
        return Ok(Span::all(1));
    }
    let start = axis.partition_point(|x| *x <= low).saturating_sub(1).min(axis.len() - 2);
    let end = axis.partition_point(|x| *x < high).clamp(start + 1, axis.len() - 1);
    let count = (end - start) / step + 1;
    if count < 2 {
        let nodes = end - start + 1;
        return Err(format!(
            "`every` of {step} leaves one of {nodes} nodes; give at most {}",
            nodes - 1
        ));
    }
    Ok(Span { start, count, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

    fn span(start: usize, count: usize, step: usize) -> Span {
        Span { start, count, step }
    }

    #[test]
    fn an_interval_takes_the_cells_that_it_touches() {
        let range = |low, high, step| range(&AXIS, [low, high], step);
        assert_eq!(range(f64::NEG_INFINITY, f64::INFINITY, 1), Ok(span(0, 5, 1)));
        assert_eq!(range(1.0, 2.0, 1), Ok(span(1, 2, 1)));
        assert_eq!(range(1.5, 2.5, 1), Ok(span(1, 3, 1)));
        assert_eq!(range(4.0, 9.0, 1), Ok(span(3, 2, 1)));
        assert_eq!(range(-5.0, 0.0, 1), Ok(span(0, 2, 1)));
        assert_eq!(range(0.5, 4.0, 3), Ok(span(0, 2, 3)));
        assert!(range(5.0, 6.0, 1).unwrap_err().contains("from 0 to 4"));
        assert!(range(f64::NAN, 6.0, 1).is_err());
        assert!(range(2.0, 1.0, 1).is_err());
        assert!(range(0.0, 1.0, 2).unwrap_err().contains("at most 1"));
        assert!(range(0.0, 4.0, 0).is_err());
    }

    #[test]
    fn a_decreasing_axis_is_read_from_its_other_end() {
        let nodes = [span(1, 2, 2), span(0, 1, 1), span(0, 1, 1)];
        let part = GridPart { nodes, whole: [5, 1, 1], association: Association::Point };
        assert_eq!(part.in_file([true, false, false])[0], span(1, 2, 2));
        assert_eq!(part.in_file([false; 3])[0], span(1, 2, 2));
        assert_eq!(part.values(), [1, 3]);
        let first = GridPart { nodes: [span(0, 2, 1), nodes[1], nodes[2]], ..part };
        assert_eq!(first.in_file([true, false, false])[0], span(3, 2, 1));
    }
}
