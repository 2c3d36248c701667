//! Stages of steps in a mesh, for engines that sample a field themselves.

use super::{PathEnd, clipped, pulled_in, start_cell};
use crate::{
    FieldShape, MeshShape,
    cpu::{
        Real,
        field::FieldArrays,
        launch::{LaunchData, Region},
    },
    physics::{features::Features, tables::Tables},
};
use burn::backend::DType;

/// Finds the last points in a mesh on straight lines to stages outside of it.
pub struct StageClips {
    shape: FieldShape,
    index: Vec<i32>,
    /// Records of cells, in the precision of positions.
    records: Records,
}

enum Records {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl StageClips {
    /// The arrays are those of [`MeshShape`]; with the arithmetic of [`DType::F32`], or else in double precision.
    pub fn new(shape: MeshShape, coordinates: Vec<f64>, index: Vec<i32>, dtype: DType) -> Self {
        let records = match dtype {
            DType::F32 => Records::Single(coordinates.into_iter().map(|x| x as f32).collect()),
            _ => Records::Double(coordinates),
        };
        StageClips { shape: FieldShape::Mesh(shape), index, records }
    }

    /// The points at which stages at `to` of steps from `from` sample a field on the mesh, which contains the points
    /// for which `contains` is true: for a stage outside, the last point in the mesh on the straight line to it.
    /// `None` for one inside. `locations` are those of the starts in [`Particles::record`](crate::Particles::record).
    pub fn clip(
        &self,
        from: &[[f64; 3]],
        to: &[[f64; 3]],
        locations: &[i32],
        contains: &dyn Fn([f64; 3]) -> bool,
    ) -> Vec<Option<PathEnd>> {
        let path = |((from, to), location)| (from, to, location);
        let paths: Vec<Path> = from.iter().zip(to).zip(locations).map(path).collect();
        match &self.records {
            Records::Single(records) => self.clip_in(records, &paths, contains),
            Records::Double(records) => self.clip_in(records, &paths, contains),
        }
    }

    fn clip_in<F: Real>(
        &self,
        coordinates: &[F],
        paths: &[Path],
        contains: &dyn Fn([f64; 3]) -> bool,
    ) -> Vec<Option<PathEnd>> {
        let (shape, index) = (&self.shape, &self.index);
        let FieldShape::Mesh(mesh) = shape else { return vec![None; paths.len()] };
        let field = FieldArrays { shape, velocity: &[], groups: 1, coordinates, index };
        let data = LaunchData::new(Tables::of_field(shape), (&[], &[]), Features::default());
        let contains = |p: [F; 3]| contains(p.map(F::exact));
        field.with_region(mesh, |region: &dyn Region<F>| {
            let (launch, exact) = (data.launch(Some(region)), data.launch_dual(Some(region)));
            let clip = |(from, to, location): &Path| {
                let (from, to) = (from.map(F::of), to.map(F::of));
                if contains(to) {
                    return None;
                }
                let cell = start_cell(&launch, from, **location);
                let from = pulled_in(&launch, from, cell, &contains)?;
                Some(clipped(&exact, from, to, cell, &contains))
            };
            paths.iter().map(clip).collect()
        })
    }
}

/// Start, end, and location of the start.
type Path<'a> = (&'a [f64; 3], &'a [f64; 3], &'a i32);
