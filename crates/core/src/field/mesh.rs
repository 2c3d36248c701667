//! Velocity fields on meshes.

mod averaged;
mod weights;

use super::{
    domain::{Domain, bounding_box},
    faces::Faces,
    frames::TimeAxis,
    globe::{check_latitudes, check_radius, turn},
    interface::Internals,
    lanes::ArrayLanes,
    layout::{Layout, Ordered},
    load::{Input, Loaded},
    options::FieldOptions,
    sampled::Sampled,
    sampled_field::sampled_field,
    source::MeshSource,
    stored::Stored,
};
use crate::{
    Error, Precision, Result,
    mesh::{Coordinates, Mesh, Origins, records},
};
use averaged::Averaged;
use burn::tensor::{Bool, Device, Int, Tensor};
use burntrace_kernels::{FieldShape, FieldTensors, Placement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weights::{CellWeights, Interpolated};

/// Interpolation of velocities that are given in the cells of a mesh. Velocities at the points are
/// always interpolated by the shape functions of the cells (VTK's).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellVelocity {
    /// Constant in each cell. On a face, an edge or a vertex, one of the adjacent cells is used,
    /// always the same.
    #[default]
    Constant,
    /// Average the adjacent cells at each point, as ParaView's *Cell Data to Point Data* does.
    Averaged,
}

/// Velocity on a mesh, steady or in time.
///
/// The mesh is built by [`Mesh::in_order`]: coincident points are merged, and the first of them
/// gives the velocity. In two dimensions, the mesh is in a plane x, y or z = const, and particles do not
/// move along the axis normal to it. There is no field outside the mesh: particles leave it, or [`Tracer::mesh_wall`](crate::Tracer::mesh_wall) keeps them
/// inside. A stage of a step outside the mesh uses the velocity at the last position inside, on the
/// straight line from the start of the step.
///
/// With [`FieldOptions::radius`] the mesh is on a sphere: coordinates are longitudes and latitudes in degrees and heights in
/// metres, and velocities are eastward, northward and upward in m/s. Cells are straight in longitude and latitude: a cell
/// across a meridian at which longitudes jump, or around a pole, is not possible. With [`Placement::Faces`] the mesh is a
/// C-grid of an ocean model.
///
/// The tensor engine locates cells on the host in f64. Its gradients follow from the shape
/// functions; velocities that are constant in each cell have zero gradients.
#[derive(Clone, Debug)]
pub struct MeshField {
    pub(super) sampled: Sampled,
    mesh: Arc<Mesh>,
    origins: Arc<Origins>,
    placement: Placement,
}

impl MeshField {
    /// Reads a mesh and all frames of a source, sorts the cells along a space-filling curve, and
    /// moves the result to a device.
    ///
    /// # Errors
    ///
    /// If the cells are not a valid mesh ([`Mesh::new`]), if times do not increase, if a frame has
    /// a wrong size, cannot be read or has velocities that are not finite, if the field does not
    /// fit into `options.memory`, if the device lacks the precision, or if cell velocities are to
    /// be averaged and the source has diffusivities, which cannot be averaged.
    pub fn load(
        source: &mut dyn MeshSource,
        device: &Device,
        options: &FieldOptions,
        in_cells: CellVelocity,
    ) -> Result<Self> {
        MeshField::of(MeshInput::Borrowed(source), (device, options), in_cells)
    }

    /// Takes ownership of a source, so that a separate thread can read its frames during the run
    /// ([`FieldOptions::frames`]). A frame that cannot be read then ends the run that needs it.
    ///
    /// # Errors
    ///
    /// Like [`load`](Self::load).
    pub fn open(
        source: Box<dyn MeshSource + Send>,
        device: &Device,
        options: &FieldOptions,
        in_cells: CellVelocity,
    ) -> Result<Self> {
        MeshField::of(MeshInput::Owned(source), (device, options), in_cells)
    }

    fn of(
        mut given: MeshInput,
        (device, options): (&Device, &FieldOptions),
        in_cells: CellVelocity,
    ) -> Result<Self> {
        let source = given.source();
        let time = TimeAxis::new(source.times().to_vec(), options.outside_time, options.in_time)?;
        let has_velocity = ArrayLanes::checked(source, false)?.has_velocity;
        let radius = options.radius.filter(|_| has_velocity);
        if let Some(radius) = radius {
            check_degrees(radius, source.points())?;
        }
        let (mesh, origins) = ordered(source, options.precision, radius.is_some())?;
        let averages = source.placement() == Placement::Cells && in_cells == CellVelocity::Averaged;
        let placement = if averages { Placement::Nodes } else { source.placement() };
        let records = mesh.records(radius, placement, options.precision);
        check_offsets(&mesh, &records)?;
        let stored = stored(&mesh, placement, radius)?;
        let lanes = ArrayLanes::of(source, stored.is_some()).on(device);
        let (count, what) = match source.placement() {
            Placement::Nodes | Placement::Faces => (source.points().len(), "points"),
            Placement::Cells => (source.cells().len(), "cells"),
        };
        let (mesh, origins) = (Arc::new(mesh), Arc::new(origins));
        let order = ValueOrder { origins: origins.clone(), placement };
        let layout = Layout {
            shape: FieldShape::Mesh(records.shape),
            given: if averages { mesh.points().len() } else { count },
            averaged: averages,
            stored: stored.map(Arc::new),
            coast: None,
            order: (!averages).then(|| Arc::new(order.clone()) as Arc<dyn Ordered>),
            flat: [0, 1, 2].map(|d| mesh.flat_axis() == Some(d)),
            lanes: lanes.clone(),
            name: format!("{count} {what}"),
            other_bytes: (records.floats.len() * options.precision.bytes()
                + records.index.len() * size_of::<i32>()) as u64,
            position: {
                let mesh = mesh.clone();
                let index_of = move |value| order.order().iter().position(|i| *i == value);
                Arc::new(move |value| value_position(&mesh, placement, index_of(value)))
            },
        };
        let averages = averages.then_some((&*mesh, &*origins));
        let Loaded { velocity, stream, traits, layout } =
            given.load(layout, &time, (device, options), averages)?;
        let (domain, origin) = (domain(&mesh)?, mesh.origin());
        let groups = lanes.groups();
        let tensors = tensors((velocity, groups), records, device, options.precision);
        Ok(MeshField {
            sampled: Sampled {
                tensors,
                stream,
                domain,
                origin,
                time,
                device: device.clone(),
                precision: options.precision,
                traits,
                land: None,
                layout,
                lanes,
            },
            mesh,
            origins,
            placement,
        })
    }

    /// Bytes of the field on its device.
    pub fn bytes(&self) -> u64 {
        self.sampled.bytes()
    }

    /// The mesh, with cells and points in their order on the device.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Indices of the mesh's points and cells in the source.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The cells of [`mesh`](MeshField::mesh) that contain positions `[n, 3]` on the field's
    /// device, or -1 `[n]`, as the fused operation finds them. A position on a face, an edge or a
    /// vertex belongs to the adjacent cell with the lowest index.
    ///
    /// # Panics
    ///
    /// If positions are on another device or in another precision.
    pub fn locate(&self, position: Tensor<2>) -> Tensor<1, Int> {
        burntrace_kernels::locate(self.sampled.measured(position), &self.sampled.tensors)
    }

    /// Mask of the positions `[n, 3]`, measured from the origin, in cells of the mesh `[n, 1]`.
    fn contains(&self, position: &Tensor<2>) -> Tensor<2, Bool> {
        let cells = burntrace_kernels::locate(position.clone(), &self.sampled.tensors);
        cells.greater_equal_elem(0).unsqueeze_dim(1)
    }

    /// What engines know of the mesh.
    fn of_mesh(&self) -> Internals<'_> {
        let (mesh, source_cells) = (Some(&self.mesh), Some(&self.origins.cells[..]));
        Internals { mesh, source_cells, ..Internals::default() }
    }

    /// Weights for positions `[n, 3]`, computed on the host.
    fn locate_all(&self, position: Tensor<2>) -> CellWeights {
        let of_field = Interpolated {
            placement: self.placement,
            is_on_sphere: self.sampled.radius().is_some(),
            has_others: self.sampled.tensors.groups > 1,
        };
        CellWeights::new(&self.mesh, of_field, position)
    }

    /// Interpolates a group of the values of one frame `[n, 4]`.
    fn read(&self, (values, group): (Tensor<2>, usize), weights: &CellWeights) -> Tensor<2> {
        weights.read(values, group)
    }
}

/// A borrowed or owned source.
enum MeshInput<'a> {
    Borrowed(&'a mut dyn MeshSource),
    Owned(Box<dyn MeshSource + Send>),
}

impl MeshInput<'_> {
    fn source(&mut self) -> &mut dyn MeshSource {
        match self {
            MeshInput::Borrowed(source) => *source,
            MeshInput::Owned(source) => &mut **source,
        }
    }

    /// Loads a layout. `averages` has the mesh and its origins if cell velocities are averaged.
    fn load(
        self,
        layout: Layout,
        time: &TimeAxis,
        (device, options): (&Device, &FieldOptions),
        averages: Option<(&Mesh, &Origins)>,
    ) -> Result<Loaded> {
        let averaged;
        let mut lent;
        let input = match (self, averages) {
            (MeshInput::Borrowed(source), None) => Input::Borrowed(source),
            (MeshInput::Owned(source), None) => Input::Owned(source),
            (MeshInput::Borrowed(source), Some((mesh, origins))) => {
                lent = Averaged::new(source, mesh, origins);
                Input::Borrowed(&mut lent)
            }
            (MeshInput::Owned(source), Some((mesh, origins))) => {
                averaged = Averaged::new(source, mesh, origins);
                Input::Owned(Box::new(averaged))
            }
        };
        layout.load(input, time, device, options)
    }
}

/// The indices in the source of the values of a mesh.
#[derive(Clone, Debug)]
struct ValueOrder {
    origins: Arc<Origins>,
    placement: Placement,
}

impl Ordered for ValueOrder {
    fn order(&self) -> &[usize] {
        match self.placement {
            Placement::Nodes | Placement::Faces => &self.origins.points,
            Placement::Cells => &self.origins.cells,
        }
    }
}

sampled_field!(MeshField, MeshField::of_mesh);

/// Refuses a radius that is not positive, and points that are no longitudes and latitudes.
fn check_degrees(radius: f64, points: &[[f64; 3]]) -> Result<()> {
    check_radius(radius)?;
    let latitudes = points.iter().map(|point| point[1]);
    check_latitudes(latitudes.fold([0.0, 0.0], |[low, high], y| [y.min(low), y.max(high)]))
}

/// Refuses a mesh whose records have more numbers than kernels can count.
fn check_offsets(mesh: &Mesh, records: &records::Records) -> Result<()> {
    let count = records.floats.len();
    match i32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Mesh(format!(
            "it has {} cells, which need {count} numbers on the device; the maximum is {}: read a part of it (`crop` of files)",
            mesh.cells().len(),
            i32::MAX
        ))),
    }
}

/// The mesh of a source with its named faces, sorted along a curve.
fn ordered(
    source: &dyn MeshSource,
    precision: Precision,
    is_in_degrees: bool,
) -> Result<(Mesh, Origins)> {
    // At a fold, a point is the corner of cells with different faces.
    let are_apart = source.placement() == Placement::Faces;
    let coordinates = Coordinates { precision, is_in_degrees, are_apart };
    let (mesh, origins) = Mesh::ordered(source.points(), source.cells(), coordinates)?;
    match source.boundary() {
        Some(boundary) => Ok((mesh.with_boundary(boundary)?, origins)),
        None => Ok((mesh, origins)),
    }
}

/// How velocities on a mesh are stored, if not as the source gives them.
fn stored(mesh: &Mesh, placement: Placement, radius: Option<f64>) -> Result<Option<Stored>> {
    let places = |positions: &mut dyn Iterator<Item = [f64; 3]>| {
        Stored::Places(positions.map(|[lon, lat, _]| [turn(lon), turn(lat)]).collect())
    };
    Ok(match (placement, radius) {
        (Placement::Faces, _) => Some(Stored::Faces(Faces::new(mesh, radius.is_some())?)),
        (_, None) => None,
        (Placement::Nodes, Some(_)) => Some(places(&mut mesh.points())),
        (Placement::Cells, Some(_)) => {
            // On a sphere, points are measured from 0.
            let points = mesh.points_from_origin();
            Some(places(&mut (0..mesh.cells().len()).map(|cell| mesh.cells().centre(cell, points))))
        }
    })
}

/// The bounding box of a mesh; flat in two dimensions.
fn domain(mesh: &Mesh) -> Result<Domain> {
    let mut domain = bounding_box(mesh.points())?;
    if let Some(flat) = mesh.flat_axis() {
        domain.high[flat] = domain.low[flat];
    }
    Ok(domain)
}

/// Position of a value of a mesh.
fn value_position(mesh: &Mesh, placement: Placement, value: Option<usize>) -> [f64; 3] {
    let Some(value) = value else {
        return [f64::NAN; 3];
    };
    match placement {
        Placement::Nodes | Placement::Faces => mesh.point(value),
        Placement::Cells => mesh.point(mesh.cells().nodes(value)[0] as usize),
    }
}

fn tensors(
    (velocity, groups): (Tensor<2>, usize),
    records: records::Records,
    device: &Device,
    precision: Precision,
) -> FieldTensors {
    let shape = FieldShape::Mesh(records.shape);
    let (coordinates, index) = records.into_tensors(precision, device);
    FieldTensors { velocity, groups, coordinates, index, shape }
}
