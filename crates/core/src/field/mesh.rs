//! A velocity field on a mesh, on a device.

mod averaged;
mod shares;

use super::{
    Domain, FieldOptions, MeshSource, Sampled,
    frames::TimeAxis,
    layout::{Input, Layout, Loaded, Ordered},
    sampled::sampled_field,
};
use crate::{
    Precision, Result,
    mesh::{Mesh, Origins, records},
};
use averaged::Averaged;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{FieldShape, FieldTensors, Placement};
use shares::Shares;
pub(crate) use shares::to_host;
use std::sync::Arc;

/// How the velocity in a mesh follows from velocities that are given in its cells. Velocities at
/// points are interpolated by the shape functions of the cells (VTK's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CellVelocity {
    /// It is constant in each cell. On a face, an edge or a vertex that of one of the cells there
    /// counts, always the same one.
    #[default]
    Constant,
    /// Each point gets the mean of the cells that have it, as by ParaView's *Cell Data to Point
    /// Data*.
    Averaged,
}

/// Velocity on a mesh at one or more times.
///
/// The mesh is that of [`Mesh::in_order`]: points that coincide are one, with the velocity of the
/// first of them. In two dimensions nothing moves along z. Beyond the mesh there is no field:
/// particles leave it, or are kept in by [`Tracer::mesh_wall`](crate::Tracer::mesh_wall). A stage
/// of a step that lies beyond has the velocity at the last place in the mesh on the straight way from
/// where the step began.
///
/// The tensor engine finds cells on the host, in f64 (gradients are those of the shape functions at
/// the positions; velocities that are constant in each cell have none there).
#[derive(Clone, Debug)]
pub struct MeshField {
    sampled: Sampled,
    mesh: Arc<Mesh>,
    origins: Arc<Origins>,
    placement: Placement,
}

impl MeshField {
    /// Reads a mesh and all frames of a source, arranges the cells as they are found, and puts them
    /// on a device.
    ///
    /// # Errors
    ///
    /// Where the cells make no mesh ([`Mesh::new`]), times do not increase, a frame has a wrong
    /// size, velocities are not finite or cannot be read, the field does not fit into
    /// `options.memory`, or the device lacks the precision; and where velocities in cells are to be
    /// averaged and there are diffusivities beside them, which are not.
    pub fn load(
        source: &mut dyn MeshSource,
        device: &Device,
        options: &FieldOptions,
        in_cells: CellVelocity,
    ) -> Result<Self> {
        MeshField::of(Given::Lent(source), (device, options), in_cells)
    }

    /// The same with a source that is given away: its frames can be read in the course of a run
    /// ([`FieldOptions::frames`]), by a thread that has it. Whatever is wrong with a frame then ends
    /// the run that comes to it.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn open(
        source: Box<dyn MeshSource + Send>,
        device: &Device,
        options: &FieldOptions,
        in_cells: CellVelocity,
    ) -> Result<Self> {
        MeshField::of(Given::Away(source), (device, options), in_cells)
    }

    fn of(
        mut given: Given,
        (device, options): (&Device, &FieldOptions),
        in_cells: CellVelocity,
    ) -> Result<Self> {
        let source = given.source();
        let time = TimeAxis::new(source.times().to_vec(), options.outside_time, options.in_time)?;
        let (mesh, origins) = Mesh::in_order(source.points(), source.cells(), options.precision)?;
        let averages = source.placement() == Placement::Cells && in_cells == CellVelocity::Averaged;
        let placement = if averages { Placement::Nodes } else { source.placement() };
        let records = mesh.records(placement, options.precision);
        let (count, what) = match source.placement() {
            Placement::Nodes => (source.points().len(), "points"),
            Placement::Cells => (source.cells().len(), "cells"),
        };
        let (mesh, origins) = (Arc::new(mesh), Arc::new(origins));
        let order = ValuesOf { origins: origins.clone(), placement };
        let layout = Layout {
            shape: FieldShape::Mesh(records.shape),
            given: if averages { mesh.points().len() } else { count },
            averaged: averages,
            order: (!averages).then(|| Arc::new(order.clone()) as Arc<dyn Ordered>),
            flat: [false, false, mesh.dimension() == 2],
            name: format!("{count} {what}"),
            other_bytes: (records.places.len() * options.precision.bytes()
                + records.index.len() * size_of::<i32>()) as u64,
            position: {
                let mesh = mesh.clone();
                let place_of = move |value| order.order().iter().position(|i| *i == value);
                Arc::new(move |value| place(&mesh, placement, place_of(value)))
            },
        };
        let averages = averages.then_some((&*mesh, &*origins));
        let Loaded { velocity, stream, has_diffusivity } =
            given.load(layout, &time, (device, options), averages)?;
        let domain = domain(&mesh)?;
        let tensors = tensors(velocity, records, device, options.precision);
        Ok(MeshField {
            sampled: Sampled {
                tensors,
                stream,
                domain,
                time,
                device: device.clone(),
                precision: options.precision,
                has_diffusivity,
            },
            mesh,
            origins,
            placement,
        })
    }

    /// Bytes that the field takes on its device.
    pub fn bytes(&self) -> u64 {
        self.sampled.bytes()
    }

    /// Its mesh, cells and points in the order in which they lie on the device.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Which of the source's points and cells those of its mesh are.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The cells of [`mesh`](MeshField::mesh) in which positions `[n, 3]` on the field's device
    /// are, or -1 `[n]`, as the fused operation finds them. A position on a face, an edge or a
    /// vertex is in the cell of the lowest number there.
    ///
    /// # Panics
    ///
    /// On positions of another device or precision, and on a device that tracks gradients.
    pub fn locate(&self, position: Tensor<2>) -> Tensor<1, Int> {
        burntrace_kernels::locate(position, &self.sampled.tensors)
    }

    /// Values and their weights for positions `[n, 3]`, found on the host.
    fn locate_all(&self, position: Tensor<2>) -> Shares {
        Shares::new(&self.mesh, self.placement, position)
    }

    /// Velocity `[n, 4]` of one frame, given its values.
    fn read(&self, values: Tensor<2>, shares: &Shares) -> Tensor<2> {
        let [n, k] = shares.weights.dims();
        let velocity = values.select(0, shares.values.clone()).reshape([n, k, 4]);
        let weighed = velocity * shares.weights.clone().reshape([n, k, 1]);
        weighed.sum_dim(1).reshape([n, 4])
    }
}

/// A source that is lent, or given away.
enum Given<'a> {
    Lent(&'a mut dyn MeshSource),
    Away(Box<dyn MeshSource + Send>),
}

impl Given<'_> {
    fn source(&mut self) -> &mut dyn MeshSource {
        match self {
            Given::Lent(source) => *source,
            Given::Away(source) => &mut **source,
        }
    }

    /// Loads a layout; with a mesh and its origins the means around points of what is in cells.
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
            (Given::Lent(source), None) => Input::Lent(source),
            (Given::Away(source), None) => Input::Given(source),
            (Given::Lent(source), Some((mesh, origins))) => {
                lent = Averaged::new(source, mesh, origins);
                Input::Lent(&mut lent)
            }
            (Given::Away(source), Some((mesh, origins))) => {
                averaged = Averaged::new(source, mesh, origins);
                Input::Given(Box::new(averaged))
            }
        };
        layout.load(input, time, device, options)
    }
}

/// Which values of the source those of a mesh are.
#[derive(Clone)]
struct ValuesOf {
    origins: Arc<Origins>,
    placement: Placement,
}

impl Ordered for ValuesOf {
    fn order(&self) -> &[usize] {
        match self.placement {
            Placement::Nodes => &self.origins.points,
            Placement::Cells => &self.origins.cells,
        }
    }
}

sampled_field!(
    MeshField,
    fn mesh(&self) -> Option<&Mesh> {
        Some(&self.mesh)
    },
    fn source_cell(&self, cell: usize) -> usize {
        self.origins.cells[cell]
    }
);

/// The box around a mesh; flat in two dimensions.
fn domain(mesh: &Mesh) -> Result<Domain> {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for p in mesh.points() {
        for d in 0..3 {
            low[d] = low[d].min(p[d]);
            high[d] = high[d].max(p[d]);
        }
    }
    if mesh.dimension() == 2 {
        high[2] = low[2];
    }
    Domain::new(low, high)
}

/// Where a value of a mesh is given.
fn place(mesh: &Mesh, placement: Placement, value: Option<usize>) -> [f64; 3] {
    let Some(value) = value else {
        return [f64::NAN; 3];
    };
    match placement {
        Placement::Nodes => mesh.points()[value],
        Placement::Cells => mesh.points()[mesh.cells().nodes(value)[0] as usize],
    }
}

fn tensors(
    velocity: Tensor<2>,
    records: records::Records,
    device: &Device,
    precision: Precision,
) -> FieldTensors {
    let places = records.places.len();
    let places = precision.data(records.places, [places]);
    let entries = records.index.len();
    let index = TensorData::new(records.index, [entries]);
    FieldTensors {
        velocity,
        coordinates: Tensor::from_data(places, (device, precision.dtype())),
        index: Tensor::from_data(index, (device, DType::I32)),
        shape: FieldShape::Mesh(records.shape),
    }
}
