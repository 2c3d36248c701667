//! Frames of NetCDF files and Zarr groups, which stay open.

use super::request_of;
use crate::{
    Result,
    series::{
        diffusivity,
        find::file_error,
        grid::{Grid, flip},
        open_files::OpenFiles,
        part::GridPart,
        times::FrameFiles,
        values::{along, flip_floats, plane_axes, without_hidden},
        velocity::VelocityInfo,
    },
};
use burntrace_cf::{CfFrame, CfGrid, Request, Span, Turn, Values};
use burntrace_core::{Floats, FrameData};
use std::sync::Arc;

/// Open files.
#[derive(Debug, Default)]
pub(in crate::series) struct CfFiles {
    opened: OpenFiles<(FrameFiles, Request), CfGrid>,
    turn: Option<Turn>,
}

impl CfFiles {
    pub fn turned(turn: Option<Turn>) -> Self {
        CfFiles { turn, ..CfFiles::default() }
    }

    /// Reads a frame: one time of a file, on the nodes of a grid, which may be a part of the grid of the
    /// file. `hides`: with its missing values as holes.
    pub fn read(
        &self,
        FrameFiles { path, step, parts }: &FrameFiles,
        velocity: &VelocityInfo,
        (grid, part): (&Grid, Option<&(Grid, GridPart)>),
        hides: bool,
    ) -> Result<FrameData> {
        let of_file = FrameFiles { path: path.clone(), parts: parts.clone(), step: 0 };
        let open = |(files, request): &(FrameFiles, Request)| {
            Ok(Arc::new(CfGrid::of(files.store()?, request)?.turned(self.turn)))
        };
        let file = self.opened.get((of_file, request_of(velocity)), open)?;
        let counts = grid.nodes();
        let whole = part.map_or(grid, |(whole, _)| whole);
        if file.axes().each_ref().map(Vec::len) != whole.nodes() {
            return Err(file_error(path, "its grid has changed since the series was opened"));
        }
        let all = || counts.map(Span::all);
        let spans = part.map_or_else(all, |(_, part)| part.in_file(grid.flipped));
        let frame = file.read(*step, spans)?;
        let CfFrame { velocity: values, missing, diffusivity, arrays } = frame;
        let values = match file.velocity_components() {
            2 => along(floats(values), plane_axes(counts.map(|nodes| nodes == 1))),
            _ => floats(values),
        };
        let arranged = |values, width| flip_floats(values, width, counts, grid.flipped);
        let hidden = missing.filter(|_| hides).map(|all| flip(all, 1, counts, grid.flipped));
        let diffusivity = diffusivity.map(|values| arranged(floats(values), 1));
        let diffusivity = diffusivity.map(|values| without_hidden(values, hidden.as_deref()));
        if let (Some(values), Some(name)) = (&diffusivity, &velocity.diffusivity) {
            diffusivity::check(values, name).map_err(|problem| file_error(path, problem))?;
        }
        let widths = velocity.sampled.arrays.iter().map(|array| array.components);
        let arrays = arrays.into_iter().zip(widths);
        let arrays = arrays.map(|(values, width)| arranged(floats(values), width)).collect();
        let frame = FrameData::new(arranged(values, 3)).with_diffusivity(diffusivity);
        Ok(frame.with_hidden(hidden).with_arrays(arrays))
    }
}

pub(in crate::series) fn floats(values: Values) -> Floats {
    match values {
        Values::F32(values) => Floats::F32(values),
        Values::F64(values) => Floats::F64(values),
    }
}
