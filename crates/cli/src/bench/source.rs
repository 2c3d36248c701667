//! Workloads as field sources of the library.

use super::{
    kind::{NEIGHBOURS, WorkloadKind},
    workload::{Nodes, Workload},
};
use anyhow::{Result, bail};
use burntrace::{
    Allowed, Analytic, BoundaryCondition, CellKind, CellVelocity, ClosedSurface, Domain, Field,
    FieldOptions, Floats, FrameData, FrameSource, GridField, GridSource, MeshField, MeshSource,
    Obstacle, Placement, PointField, PointSource, Precision, Shape, SourceError, Weighting,
    burn::tensor::Device, mesh::Cells,
};

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

/// Loads the grid of a workload that has one.
pub fn grid(workload: &Workload, device: &Device, precision: Precision) -> Result<GridField> {
    let Nodes::Grid(axis) = &workload.nodes else { bail!("the workload has no grid") };
    let options = FieldOptions { precision, ..FieldOptions::default() };
    let mut source = Grid { workload, axes: [axis.clone(), axis.clone(), axis.clone()] };
    Ok(GridField::load(&mut source, device, &options)?)
}

/// Loads a workload's field onto a device.
pub fn load(workload: &Workload, device: &Device, precision: Precision) -> Result<OnDevice> {
    let options = FieldOptions { precision, ..FieldOptions::default() };
    match &workload.nodes {
        Nodes::Grid(_) => {
            let field = grid(workload, device, precision)?;
            Ok(OnDevice { obstacle: obstacle(workload)?, ..field.into() })
        }
        Nodes::Points(positions) => {
            let mut source = Points { workload, positions };
            let weighting = match workload.kind {
                WorkloadKind::W1Idw => {
                    Weighting::InverseDistance { neighbours: NEIGHBOURS, power: 2.0 }
                }
                _ => Weighting::Nearest,
            };
            let field = PointField::load(&mut source, device, &options, weighting)?;
            Ok(OnDevice { bytes: field.bytes(), field: Box::new(field), obstacle: None })
        }
        Nodes::Tetrahedra(mesh) => {
            let cells = cells(CellKind::Tetra, &mesh.cells);
            on_mesh(Mesh { workload, points: &mesh.points, cells }, device, &options)
        }
        Nodes::Hexahedra(mesh) => {
            let cells = cells(CellKind::Hexahedron, &mesh.cells);
            on_mesh(Mesh { workload, points: &mesh.points, cells }, device, &options)
        }
        Nodes::Formula(flow, _) => {
            let domain = Domain::new([0.0; 3], workload.kind.size())?;
            let field = Analytic::new((**flow).clone(), device, precision).with_domain(domain);
            Ok(OnDevice { bytes: 0, field: Box::new(field), obstacle: None })
        }
    }
}

fn on_mesh(mut source: Mesh, device: &Device, options: &FieldOptions) -> Result<OnDevice> {
    let field = MeshField::load(&mut source, device, options, CellVelocity::default())?;
    Ok(OnDevice { bytes: field.bytes(), field: Box::new(field), obstacle: None })
}

/// The obstacle of a workload that has one, with its search structure.
fn obstacle(workload: &Workload) -> Result<Option<Obstacle>> {
    let Some(ball) = &workload.ball else { return Ok(None) };
    let shape = Shape::surface(ClosedSurface::from_corners(&ball.triangles)?);
    let (allowed, surface) = (Allowed::Outside, BoundaryCondition::Slide);
    Ok(Some(Obstacle { shape, allowed, surface }))
}

type Read = Result<FrameData, SourceError>;

/// Velocities of a frame.
fn velocity(workload: &Workload, frame: usize) -> Read {
    Ok(Floats::F32(workload.frames[frame].clone()).into())
}

struct Grid<'a> {
    workload: &'a Workload,
    axes: [Vec<f64>; 3],
}

impl FrameSource for Grid<'_> {
    fn times(&self) -> &[f64] {
        &self.workload.times
    }

    fn read(&mut self, frame: usize) -> Read {
        velocity(self.workload, frame)
    }
}

impl GridSource for Grid<'_> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}

struct Points<'a> {
    workload: &'a Workload,
    positions: &'a [[f64; 3]],
}

impl FrameSource for Points<'_> {
    fn times(&self) -> &[f64] {
        &self.workload.times
    }

    fn read(&mut self, frame: usize) -> Read {
        velocity(self.workload, frame)
    }
}

impl PointSource for Points<'_> {
    fn positions(&self) -> &[[f64; 3]] {
        self.positions
    }
}

struct Mesh<'a> {
    workload: &'a Workload,
    points: &'a [[f64; 3]],
    cells: Cells,
}

/// Cells of one kind, by their nodes.
fn cells<const N: usize>(kind: CellKind, cells: &[[u32; N]]) -> Cells {
    Cells {
        kinds: vec![kind; cells.len()],
        offsets: (0..=cells.len() as u32).map(|cell| N as u32 * cell).collect(),
        connectivity: cells.as_flattened().to_vec(),
    }
}

impl FrameSource for Mesh<'_> {
    fn times(&self) -> &[f64] {
        &self.workload.times
    }

    fn read(&mut self, frame: usize) -> Read {
        velocity(self.workload, frame)
    }
}

impl MeshSource for Mesh<'_> {
    fn points(&self) -> &[[f64; 3]] {
        self.points
    }

    fn cells(&self) -> &Cells {
        &self.cells
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}
