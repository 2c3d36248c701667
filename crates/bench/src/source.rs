//! Workloads as field sources of the library.

use crate::{
    kind::{NEIGHBOURS, WorkloadKind},
    workload::{Nodes, Workload},
};
use anyhow::Result;
use burntrace::{
    Allowed, Analytic, BoundaryCondition, CellKind, CellVelocity, ClosedSurface, Domain, Field,
    FieldOptions, Floats, FrameData, FrameSource, GridField, GridSource, MeshField, MeshSource,
    Obstacle, Placement, PointField, PointSource, Precision, Shape, SourceError, Weighting,
    WithDerived, burn::tensor::Device, mesh::Cells,
};
use std::iter;

/// A field on a device, and its size in bytes there.
pub struct OnDevice {
    pub field: Box<dyn Field>,
    pub bytes: u64,
    pub obstacle: Option<Obstacle>,
}

/// Loads a grid in double precision, with its velocities times a factor.
pub fn scaled(workload: &Workload, device: &Device, factor: f64) -> Result<OnDevice> {
    let field = grid(workload, device, Precision::F64)?;
    let field = field.with_values(field.values()? * factor)?;
    Ok(field.into())
}

impl From<GridField> for OnDevice {
    fn from(field: GridField) -> Self {
        OnDevice { bytes: field.bytes(), field: Box::new(field), obstacle: None }
    }
}

/// Loads the grid of a workload.
pub fn grid(workload: &Workload, device: &Device, precision: Precision) -> Result<GridField> {
    let radius = workload.kind.radius();
    let options = FieldOptions { precision, radius, ..FieldOptions::default() };
    let source = Source::new(workload);
    Ok(match workload.kind.derived() {
        [] => GridField::load(&mut { source }, device, &options)?,
        wanted => {
            let mut source = WithDerived::on_grid(source, wanted, radius)?;
            GridField::load(&mut source, device, &options)?
        }
    })
}

/// Loads a workload's field onto a device.
pub fn load(workload: &Workload, device: &Device, precision: Precision) -> Result<OnDevice> {
    let options = FieldOptions { precision, ..FieldOptions::default() };
    let source = &mut Source::new(workload);
    let (field, bytes): (Box<dyn Field>, u64) = match &workload.nodes {
        Nodes::Grid(_) => {
            let field = grid(workload, device, precision)?;
            return Ok(OnDevice { obstacle: obstacle(workload)?, ..field.into() });
        }
        Nodes::Points(_) => {
            let weighting = match workload.kind {
                WorkloadKind::W1Idw => {
                    Weighting::InverseDistance { neighbours: NEIGHBOURS, power: 2.0 }
                }
                _ => Weighting::Nearest,
            };
            let field = PointField::load(source, device, &options, weighting)?;
            let bytes = field.bytes();
            (Box::new(field), bytes)
        }
        Nodes::Tetrahedra(_) | Nodes::Cubes(_) => {
            let field = MeshField::load(source, device, &options, CellVelocity::default())?;
            let bytes = field.bytes();
            (Box::new(field), bytes)
        }
        Nodes::Formula(flow, _) => {
            let domain = Domain::new([0.0; 3], workload.kind.size())?;
            let field = Analytic::new((**flow).clone(), device, precision).with_domain(domain);
            (Box::new(field), 0)
        }
    };
    Ok(OnDevice { field, bytes, obstacle: None })
}

/// The obstacle of a workload that has one, with its search structure.
fn obstacle(workload: &Workload) -> Result<Option<Obstacle>> {
    let Some(ball) = &workload.ball else { return Ok(None) };
    let shape = Shape::surface(ClosedSurface::from_corners(&ball.triangles)?);
    let (allowed, surface) = (Allowed::Outside, BoundaryCondition::Slide);
    Ok(Some(Obstacle { shape, allowed, surface }))
}

/// A workload as a source of the library's fields.
pub struct Source<'a> {
    pub workload: &'a Workload,
    axes: [Vec<f64>; 3],
    cells: Cells,
}

impl<'a> Source<'a> {
    pub fn new(workload: &'a Workload) -> Self {
        let axes = match &workload.nodes {
            Nodes::Grid(axis) => [axis.clone(), axis.clone(), axis.clone()],
            _ => [vec![], vec![], vec![]],
        };
        let cells = match &workload.nodes {
            Nodes::Tetrahedra(mesh) => {
                cells(mesh.cells.iter().map(|cell| (CellKind::Tetra, cell.to_vec())))
            }
            Nodes::Cubes(mesh) => cells(mesh.parts()),
            _ => cells(iter::empty()),
        };
        Source { workload, axes, cells }
    }
}

/// Cells by their kinds and nodes.
fn cells(cells: impl Iterator<Item = (CellKind, Vec<u32>)>) -> Cells {
    let mut all = Cells { kinds: Vec::new(), offsets: vec![0], connectivity: Vec::new() };
    for (kind, nodes) in cells {
        all.kinds.push(kind);
        all.connectivity.extend(nodes);
        all.offsets.push(all.connectivity.len() as u32);
    }
    all
}

impl FrameSource for Source<'_> {
    fn times(&self) -> &[f64] {
        &self.workload.times
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        Ok(Floats::F32(self.workload.frames[frame].clone()).into())
    }
}

impl GridSource for Source<'_> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}

impl PointSource for Source<'_> {
    fn positions(&self) -> &[[f64; 3]] {
        self.workload.nodes.points()
    }
}

impl MeshSource for Source<'_> {
    fn points(&self) -> &[[f64; 3]] {
        self.workload.nodes.points()
    }

    fn cells(&self) -> &Cells {
        &self.cells
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}
