//! Reads the velocities of frames from VTK files.

use super::{
    choice::{find, in_cells, wrong_components},
    ghosts::Ghosts,
    grid::{Grid, flip},
    values::{
        Selection, along, fits_f32, flip_floats, plane_axes, select, triples, without_hidden,
    },
    velocity::{Association, VelocityInfo, VelocityName, error, with_unique_name},
};
use crate::Result;
use burntrace_core::{Floats, FrameData};
use burntrace_vtk::{ArrayInfo, Values, VtkFile};

impl VelocityInfo {
    /// Finds the velocity among the arrays of a file.
    pub(super) fn choose(
        file: &VtkFile,
        name: &VelocityName,
        prefer: Option<Association>,
    ) -> Result<VelocityInfo> {
        find(file.arrays(), name, prefer).map_err(|problem| error(file, problem))
    }

    /// Finds the velocity among the point arrays of a file.
    pub(super) fn choose_on_points(
        file: &VtkFile,
        name: &VelocityName,
        prefer: Option<Association>,
    ) -> Result<VelocityInfo> {
        let arrays = file.arrays().iter();
        let on_points = arrays.filter(|a| Association::of(a) == Some(Association::Point));
        let on_points: Vec<ArrayInfo> = on_points.cloned().collect();
        match find(&on_points, name, None) {
            Ok(velocity) if prefer != Some(Association::Cell) => return Ok(velocity),
            _ => {}
        }
        // For the message: the cell arrays show why.
        let velocity = VelocityInfo::choose(file, name, prefer)?;
        match velocity.association {
            Association::Point => Ok(velocity),
            Association::Cell => Err(error(file, in_cells(file.kind(), &velocity))),
        }
    }

    /// Refuses arrays in cells, which a field on points cannot sample.
    pub(super) fn check_on_points(&self, file: &VtkFile) -> Result<()> {
        match self.association {
            Association::Point => Ok(()),
            Association::Cell => Err(error(
                file,
                "its arrays are in the cells, and a field on points samples arrays at the points; \
                 convert them (in ParaView: Cell Data to Point Data)"
                    .into(),
            )),
        }
    }

    /// The arrays of the velocity in another file, which must have the diffusivity, too.
    pub(super) fn locate<'a>(&self, file: &'a VtkFile) -> Result<Vec<&'a ArrayInfo>> {
        let find = |name: &String| {
            let found = with_unique_name(file, name, self.association)?;
            found.ok_or_else(|| {
                error(file, format!("it has no {} array `{name}`", self.association))
            })
        };
        let found: Vec<&ArrayInfo> = self.arrays.iter().map(find).collect::<Result<_>>()?;
        self.locate_diffusivity(file)?;
        self.locate_arrays(file)?;
        let fits = |array: &&ArrayInfo| match found.len() {
            1 => array.components == 2 || array.components == 3,
            _ => array.components == 1,
        };
        match found.iter().find(|array| !fits(array)) {
            None => Ok(found),
            Some(array) => Err(error(file, wrong_components(array, found.len() > 1))),
        }
    }

    /// Reads a frame from a file that has the given grid; `hides`: with its hidden values.
    pub(super) fn read(&self, file: &VtkFile, grid: &Grid, hides: bool) -> Result<FrameData> {
        let counts = self.counts(grid);
        let count = counts.iter().product();
        let values = self.values(file, count)?;
        let axes = plane_axes(grid.nodes().map(|nodes| nodes == 1));
        let values = if self.is_plane(file)? { along(values, axes) } else { values };
        let flip_values = |values, width| flip_floats(values, width, counts, grid.flipped);
        let velocity = flip_values(values, 3);
        let mask = || Ghosts::read(file)?.hidden_on(file, grid, self.association);
        let hidden = hides.then(mask).transpose()?;
        let hidden = hidden.map(|hidden| flip(hidden, 1, counts, grid.flipped));
        let arrange = |values| without_hidden(flip_values(values, 1), hidden.as_deref());
        let diffusivity = self.diffusivities(file, count, arrange)?;
        let arrays = self.read_arrays(file, count, flip_values)?;
        let frame = FrameData::new(velocity).with_diffusivity(diffusivity);
        Ok(frame.with_hidden(hidden).with_arrays(arrays))
    }

    /// Reads a frame from a file with `count` points or cells, of which a selection is used. `hides`:
    /// with the hidden points, of which none are added.
    pub(super) fn read_selected(
        &self,
        file: &VtkFile,
        (count, selected): (usize, Selection<'_>),
        hides: bool,
    ) -> Result<FrameData> {
        let select_values = |values, width| select(values, width, selected);
        let velocity = select_values(self.values(file, count)?, 3);
        let hidden = hides.then(|| Ghosts::read(file)).transpose()?;
        let hidden = hidden.map(|ghosts| ghosts.hidden_points(count));
        let hidden: Option<Vec<bool>> = hidden.map(|all| match selected {
            Selection::Indices(selected) => selected.iter().map(|point| all[*point]).collect(),
            Selection::All | Selection::Added(_) => all,
        });
        let arrange = |values| without_hidden(select_values(values, 1), hidden.as_deref());
        let diffusivity = self.diffusivities(file, count, arrange)?;
        let arrays = self.read_arrays(file, count, select_values)?;
        let frame = FrameData::new(velocity).with_diffusivity(diffusivity);
        Ok(frame.with_hidden(hidden).with_arrays(arrays))
    }

    /// Whether the velocity has two components in a file.
    pub(super) fn is_plane(&self, file: &VtkFile) -> Result<bool> {
        let components = self.locate(file)?.iter().map(|array| array.components).sum::<usize>();
        Ok(components == 2)
    }

    /// Number of velocities along each axis of a grid.
    pub(super) fn counts(&self, grid: &Grid) -> [usize; 3] {
        match self.association {
            Association::Point => grid.nodes(),
            Association::Cell => grid.cells(),
        }
    }

    /// Reads the velocities of a file with `expected` points or cells, in their order.
    pub(super) fn values(&self, file: &VtkFile, expected: usize) -> Result<Floats> {
        let infos = self.locate(file)?;
        if infos.is_empty() {
            return Ok(Floats::F32(Vec::new()));
        }
        infos.iter().try_for_each(|info| self.check_count(file, info, expected))?;
        let components = infos[0].components;
        let is_single = infos.iter().all(|info| fits_f32(info.scalar));
        let arrays: Vec<Values> =
            infos.iter().map(|info| Ok(file.read(info)?.values)).collect::<Result<_>>()?;
        Ok(if is_single {
            let arrays = arrays.into_iter().map(Values::into_f32).collect();
            Floats::F32(triples(arrays, components))
        } else {
            let arrays = arrays.into_iter().map(Values::into_f64).collect();
            Floats::F64(triples(arrays, components))
        })
    }

    /// Checks that an array has `expected` values.
    pub(super) fn check_count(
        &self,
        file: &VtkFile,
        info: &ArrayInfo,
        expected: usize,
    ) -> Result<()> {
        if info.tuples == expected {
            return Ok(());
        }
        let problem = format!(
            "`{}` has {} values for {expected} {}s",
            info.name, info.tuples, self.association
        );
        Err(error(file, problem))
    }
}
