//! The frames of a field of any kind: opened, then loaded onto a device.

use super::{
    description::{FieldCounts, MeshFieldCounts},
    timed::{Tally, Timed},
};
use burntrace::{
    CellVelocity, Field, FieldArray, FieldOptions, GridField, GridSource, MeshField, MeshSource,
    PointField, PointSource, Precision, Result, Weighting, burn::tensor::Device,
    program::FieldSize,
};
use std::sync::Arc;

/// The frames of a field, of which no one has been read.
pub enum FieldInput {
    Grid(Box<dyn GridSource + Send>),
    Mesh(Box<dyn MeshSource + Send>, CellVelocity),
    Points(Box<dyn PointSource + Send>, Weighting),
}

impl FieldInput {
    /// The size of the field.
    pub fn size(&self, precision: Precision) -> FieldSize {
        match self {
            FieldInput::Grid(source) => FieldSize::grid(&**source, precision),
            FieldInput::Mesh(source, _) => FieldSize::mesh(&**source, precision),
            FieldInput::Points(source, _) => FieldSize::points(&**source, precision),
        }
    }

    /// The arrays that are sampled.
    pub fn arrays(&self) -> &[FieldArray] {
        match self {
            FieldInput::Grid(source) => source.arrays(),
            FieldInput::Mesh(source, _) => source.arrays(),
            FieldInput::Points(source, _) => source.arrays(),
        }
    }

    /// Loads the field onto a device. `tally` counts what is read, during the run too.
    pub fn load(
        self,
        device: &Device,
        options: &FieldOptions,
        tally: &Arc<Tally>,
    ) -> Result<(FieldCounts, Box<dyn Field>)> {
        match self {
            FieldInput::Grid(source) => {
                let field = GridField::open(Timed::boxed(source, tally), device, options)?;
                let counts = FieldCounts::Grid { nodes: field.nodes(), bytes: field.bytes() };
                Ok((counts, Box::new(field)))
            }
            FieldInput::Mesh(source, in_cells) => {
                let source = Timed::boxed(source, tally);
                let field = MeshField::open(source, device, options, in_cells)?;
                Ok((FieldCounts::Mesh(MeshFieldCounts::of(&field)), Box::new(field)))
            }
            FieldInput::Points(source, weighting) => {
                let source = Timed::boxed(source, tally);
                let field = PointField::open(source, device, options, weighting)?;
                let counts = FieldCounts::Points { nodes: field.nodes(), bytes: field.bytes() };
                Ok((counts, Box::new(field)))
            }
        }
    }
}
