//! Meshes in NetCDF files and Zarr groups: the grids of ocean models.

use super::counts::CellCount;
use super::{MeshFrames, MeshInfo, MeshSeries};
use crate::Result;
use crate::listing::list;
use crate::series::cf::{CfTimes, files_of, floats, request_of, requested};
use crate::series::diffusivity;
use crate::series::find::file_error;
use crate::series::geometry::{Closure, Geometry, whole_turns};
use crate::series::info::SeriesInfo;
use crate::series::mask::{LandMask, MaskFile};
use crate::series::names::Files;
use crate::series::open_files::OpenFiles;
use crate::series::options::{NamedFaces, SeriesOptions};
use crate::series::times::{FrameFiles, Timeline, frame_differs};
use crate::series::velocity::{Association, VelocityInfo, VelocityName};
use burntrace_cf::{
    COAST, CellShape, CfFrame, CfMesh, MeshPlacement, MeshRequest, NONE, SURFACE, Store,
};
use burntrace_core::{
    CellKind, FrameData, Placement,
    mesh::{BoundaryCells, Cells},
    sphere::CIRCLE,
};
use burntrace_vtk::Kind;
use std::{path::Path, sync::Arc};

/// The frames of a mesh in NetCDF files or Zarr groups, of which the last ones stay open.
#[derive(Debug)]
pub(super) struct CfFrames {
    /// Without points and cells.
    mesh: CfMesh,
    cells: Cells,
    request: MeshRequest,
    /// The file that the mesh is of.
    first: FrameFiles,
    opened: OpenFiles<FrameFiles, dyn Store>,
}

impl MeshSeries {
    pub(in crate::series) fn open_cf(files: &Files, options: &SeriesOptions) -> Result<MeshSeries> {
        let files = files_of(files)?;
        let path = &files[0].path;
        if options.every.is_some() {
            return Err(file_error(path, "`every` is for grids with axes; omit it"));
        }
        if options.velocity == VelocityName::None {
            let reason = "of the grid of a model, arrays are sampled at the points of its velocity only; omit `files`, and \
                          name arrays at these points";
            return Err(file_error(path, reason));
        }
        let request = options.mesh_request();
        let first = files[0].store()?;
        let mut mesh = CfMesh::of(&*first, &request)?;
        turn_to(&mut mesh, options);
        let mut times = vec![mesh.time.clone()];
        if files.len() > 1 {
            let fingerprint = mesh.fingerprint(&*first)?;
            for (index, file) in files.iter().enumerate().skip(1) {
                let other = file.store()?;
                if let Some(difference) = fingerprint.difference(&*other)? {
                    let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
                    return Err(frame_differs(&paths, index, "grid", difference));
                }
                times.push(mesh.times_of(&*other)?);
            }
        }
        let times = CfTimes::of(&files, &times, options)?;
        let velocity = VelocityInfo::of_mesh(&mesh, options);
        let mut info = SeriesInfo::of_cf(&*first);
        times.describe(&mut info);
        info.add_cf_mesh(&*first, &mesh, &velocity);
        let (points, connectivity) =
            (std::mem::take(&mut mesh.points), std::mem::take(&mut mesh.cells));
        let boundary = boundary(&mesh, &points, &options.faces, path)?;
        mesh.boundary.clear();
        let cells = cells(mesh.shape, connectivity);
        let first = files[0].clone();
        let frames = CfFrames { mesh, cells, request, first, opened: OpenFiles::default() };
        let frames = MeshFrames::Cf(Box::new(frames));
        Ok(MeshSeries { timeline: times.timeline, points, frames, boundary, velocity, info })
    }
}

impl MeshSeries {
    /// The description with the velocities of the first frame.
    pub(in crate::series) fn described(self) -> SeriesInfo {
        let frame = self.read_frame(0);
        // A simulation that was stopped may have left the last one incomplete.
        let last = self.timeline.frames.len() - 1;
        let last = (last > 0).then(|| self.read_frame(last)).and_then(Result::err);
        let mut info = self.info;
        match frame {
            Ok(frame) => info.add_frame(&frame),
            Err(problem) => info.problems.push(problem.to_string()),
        }
        info.problems.extend(last.map(|problem| problem.to_string()));
        info
    }
}

impl CfFrames {
    /// Reads a frame.
    pub fn read(
        &self,
        timeline: &Timeline,
        frame: usize,
        velocity: &VelocityInfo,
    ) -> Result<FrameData> {
        let files = timeline.files(frame)?;
        let rise = match self.mesh.needs_rise() {
            true => self.rise(timeline, frame)?,
            false => Vec::new(),
        };
        let store = self.store(files)?;
        let CfFrame { velocity: values, diffusivity, arrays, .. } =
            self.mesh.read(&*store, files.step, &rise)?;
        let diffusivity = diffusivity.map(floats);
        if let (Some(values), Some(name)) = (&diffusivity, &velocity.diffusivity) {
            let checked = diffusivity::check(values, name);
            checked.map_err(|problem| file_error(&files.path, problem))?;
        }
        let arrays = arrays.into_iter().map(floats).collect();
        let frame = FrameData::new(floats(values)).with_diffusivity(diffusivity);
        Ok(frame.with_arrays(arrays))
    }

    fn store(&self, files: &FrameFiles) -> Result<Arc<dyn Store>> {
        let of_file = FrameFiles { step: 0, ..files.clone() };
        self.opened.get(of_file, |files| Ok(files.store()?.into()))
    }

    /// The rate at which the surface rises at a frame, in m/s: the change from the frame before to the next one; empty if there
    /// is only one.
    fn rise(&self, timeline: &Timeline, frame: usize) -> Result<Vec<f64>> {
        let ends = [frame.saturating_sub(1), (frame + 1).min(timeline.frames.len() - 1)];
        let span = timeline.times[ends[1]] - timeline.times[ends[0]];
        let elevation = |frame: usize| -> Result<Vec<f64>> {
            let files = timeline.files(frame)?;
            Ok(self.mesh.elevation(&*self.store(files)?, files.step)?)
        };
        if ends[0] == ends[1] {
            return Ok(Vec::new());
        }
        let [before, after] = [elevation(ends[0])?, elevation(ends[1])?];
        Ok(before.iter().zip(&after).map(|(before, after)| (after - before) / span).collect())
    }

    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Reads the arrays of a velocity, too.
    pub fn set_arrays(&mut self, velocity: &VelocityInfo) -> Result<()> {
        self.request.variables = request_of(velocity);
        // Of the file that the points are of: land at the first time of another one may be elsewhere.
        let other = CfMesh::of(&*self.first.store()?, &self.request)?;
        self.mesh.set_arrays(other);
        Ok(())
    }

    pub fn placement(&self) -> Placement {
        match self.mesh.placement {
            MeshPlacement::Points => Placement::Nodes,
            MeshPlacement::Cells => Placement::Cells,
            MeshPlacement::Faces => Placement::Faces,
        }
    }
}

impl SeriesOptions {
    /// What is read of a mesh.
    fn mesh_request(&self) -> MeshRequest {
        let mask = self.mask.clone().map(|mask| match mask {
            LandMask::Own(array) => (array, None),
            LandMask::Other(MaskFile { array, files }) => (array, Some(files)),
        });
        let crop = self.crop.unwrap_or_default();
        MeshRequest {
            variables: requested(self),
            staggering: self.staggering,
            convention: self.convention,
            corners: self.corners.clone().unwrap_or_default(),
            mask,
            land_value: self.land_value,
            follow_levels: self.follow_levels,
            crop: [crop.low, crop.high],
            west: self.turned_to().map(|[low, _]| low),
        }
    }
}

impl VelocityInfo {
    fn of_mesh(mesh: &CfMesh, options: &SeriesOptions) -> VelocityInfo {
        let association = match mesh.placement {
            MeshPlacement::Points | MeshPlacement::Faces => Association::Point,
            MeshPlacement::Cells => Association::Cell,
        };
        let mut velocity = VelocityInfo {
            diffusivity: options.diffusivity.clone(),
            ..VelocityInfo::new(mesh.velocity(), association)
        };
        velocity.add_cf_arrays(&options.arrays);
        velocity
    }
}

/// Moves the longitudes of a mesh that is not around the earth by whole turns, as near as possible to those that are
/// requested.
fn turn_to(mesh: &mut CfMesh, options: &SeriesOptions) {
    let Some(ends) = options.turned_to().filter(|_| mesh.is_in_degrees && mesh.global.is_none())
    else {
        return;
    };
    let x = mesh.points.iter().map(|point| point[0]);
    let own =
        x.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [x.min(low), x.max(high)]);
    mesh.turn(whole_turns(own, ends));
}

/// The cells of a mesh, of one shape.
fn cells(shape: CellShape, connectivity: Vec<u32>) -> Cells {
    let count = connectivity.len() / shape.nodes();
    Cells {
        kinds: vec![kind(shape); count],
        offsets: (0..=count).map(|cell| (cell * shape.nodes()) as u32).collect(),
        connectivity,
    }
}

fn kind(shape: CellShape) -> CellKind {
    match shape {
        CellShape::Triangle => CellKind::Triangle,
        CellShape::Quadrilateral => CellKind::Quad,
        CellShape::Wedge => CellKind::Wedge,
        CellShape::Hexahedron => CellKind::Hexahedron,
    }
}

/// The names of faces that have conditions of their own in a sea.
fn of_sea(mesh: &CfMesh) -> impl Iterator<Item = &'static str> {
    [COAST, SURFACE].into_iter().filter(|name| mesh.boundary.iter().any(|(known, _)| known == name))
}

/// The faces of the boundary that options name, and those that have conditions of their own in a sea.
fn boundary(
    mesh: &CfMesh,
    points: &[[f64; 3]],
    faces: &[NamedFaces],
    path: &Path,
) -> Result<Option<BoundaryCells>> {
    let of_sea = of_sea(mesh).map(|name| NamedFaces::Block { block: name.into() });
    let mut faces = faces.to_vec();
    for named in of_sea {
        if !faces.contains(&named) {
            faces.push(named);
        }
    }
    if faces.is_empty() {
        return Ok(None);
    }
    let mut boundary =
        BoundaryCells { points: points.to_vec(), offsets: vec![0], ..BoundaryCells::default() };
    for named in &faces {
        let found = match named {
            NamedFaces::Block { block } => mesh.boundary.iter().find(|(name, _)| name == block),
            NamedFaces::Array { .. } => None,
        };
        let Some((name, found)) = found else {
            let names: Vec<String> =
                mesh.boundary.iter().map(|(name, _)| format!("{name:?}")).collect();
            let reason = format!(
                "it has no faces `{named}` of its boundary; name a `block` of {}",
                list(&names)
            );
            return Err(file_error(path, reason));
        };
        let first = boundary.offsets.len() as u32 - 1;
        for face in found {
            boundary.connectivity.extend(face.iter().filter(|node| **node != NONE));
            boundary.offsets.push(boundary.connectivity.len() as u32);
        }
        let cells = first..boundary.offsets.len() as u32 - 1;
        boundary.groups.push((name.clone(), cells.collect()));
    }
    Ok(Some(boundary))
}

impl SeriesInfo {
    /// Adds a mesh. The number of frames must be known.
    fn add_cf_mesh(&mut self, store: &dyn Store, mesh: &CfMesh, velocity: &VelocityInfo) {
        let cells = mesh.cells.len() / mesh.shape.nodes();
        self.kind = Kind::UnstructuredGrid.to_string();
        (self.points, self.cells) = (mesh.points.len(), cells);
        self.notes.extend(mesh.notes().iter().cloned());
        self.conversions.extend(mesh.conversions().iter().cloned());
        let name = kind(mesh.shape).table().name.to_owned();
        self.mesh =
            Some(MeshInfo { kinds: vec![CellCount { kind: name, cells }], ..MeshInfo::default() });
        self.add_mesh_of(&mesh.points, cells, velocity);
        if mesh.is_in_degrees {
            let global = mesh.global.map(|_| Closure::Repeated);
            self.geometry = Geometry::Degrees { global };
        }
        if let (Some(west), Some([low, high])) = (mesh.global, &mut self.bounds) {
            (low[0], high[0]) = (west, west + CIRCLE);
        }
        let of_name = mesh.boundary.iter().map(|(name, faces)| (name.clone(), faces.len()));
        self.faces = of_name.collect();
        let names = mesh.at_values(store);
        for array in self.arrays.iter_mut().filter(|array| names.contains(&array.name)) {
            array.association = velocity.association.to_string();
        }
    }
}
