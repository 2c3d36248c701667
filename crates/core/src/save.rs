//! What a sink receives: saves, particle instances and ends.

use crate::{Error, FieldArray, Precision, Result, Status};
use burn::tensor::{Int, Tensor};

/// Particles at one time, all or a block of them, on the device or on the host (see
/// [`TrackSink::on_host`](crate::TrackSink::on_host)). Tensors have a row for each of the `n` particles.
#[derive(Clone, Debug)]
pub struct Save {
    /// Index of the save, from 0.
    pub index: usize,
    /// Time of the save, in the data's unit.
    pub time: f64,
    /// Index of the first particle. A save is one block, or several blocks in the order of the
    /// particles.
    pub first: usize,
    /// Positions `[n, 3]` in the domain box, in the order of the slots: the seeds first, then the
    /// slots of sources. An empty slot is NaN.
    pub position: Tensor<2>,
    /// What the precision of the run cannot hold of the positions `[n, 3]`, if the domain is so far
    /// from 0 that this matters ([`SavePlan::positions`]): `position + rest` in double precision is
    /// where the particles are. Without gradients.
    pub rest: Option<Tensor<2>>,
    /// [`Status`] codes `[n]`.
    pub status: Tensor<1, Int>,
    /// Number of periods crossed along each axis `[n, 3]`.
    pub image: Tensor<2, Int>,
    /// Velocities `[n, 3]` at the positions, if requested.
    pub velocity: Option<Tensor<2>>,
    /// Number of earlier particles in each slot `[n]`, if slots are re-used.
    pub generation: Option<Tensor<1, Int>>,
    /// The arrays that are sampled along the tracks, `[n, components]` each, in the order of
    /// [`SavePlan::arrays`]. An ended particle keeps its last values, an empty slot is NaN.
    pub arrays: Vec<Tensor<2>>,
}

/// The plan of all saves, which a sink receives before the first save.
#[derive(Clone, Debug, PartialEq)]
pub struct SavePlan {
    /// Number of slots: one for each seed, and the slots of sources.
    pub particles: usize,
    /// Whether slots are re-used, by one particle instance after another.
    pub reuses_slots: bool,
    /// Number of saves, unless the run is cancelled.
    pub saves: usize,
    /// Precision of the run: of positions and velocities in a [`Save`].
    pub precision: Precision,
    /// Precision that positions need: double if the domain is so far from 0 that single precision
    /// would lose them. Saves then have a [rest](Save::rest).
    pub positions: Precision,
    /// Whether saves have velocities.
    pub velocity: bool,
    /// Widths of the box along periodic axes, in the data's unit of length; 0 along the others.
    /// Position + image x width is a continuous trajectory.
    pub periods: [f64; 3],
    /// The arrays that are sampled along the tracks, with different names.
    pub arrays: Vec<FieldArray>,
    /// Names of the gates whose crossings are noted.
    pub gates: Vec<String>,
}

/// Release and end of each particle, on the host, in the order of the slots. If slots are re-used,
/// this is the last particle instance of each; a sink receives all of them as [`ParticleInstance`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// Status at the end of the run.
    pub status: Vec<Status>,
    /// Release time; NaN if the particle was not released.
    pub release_time: Vec<f64>,
    /// End time; NaN if the particle has not ended.
    pub end_time: Vec<f64>,
    /// The face through which it left the mesh, if it did; empty for fields without a mesh.
    pub mesh_face: Vec<Option<MeshFace>>,
    /// Index of the obstacle at which it ended, if it did; empty for runs without obstacles.
    pub obstacle: Vec<Option<usize>>,
    /// Index of the [patch](crate::Surroundings::patches) through which it left the mesh, if it did; empty for runs without patches.
    pub patch: Vec<Option<usize>>,
    /// Index of the [condition](crate::Surroundings::stop_when) that ended it, if one did; empty for runs without conditions.
    pub condition: Vec<Option<usize>>,
    /// Number of earlier particles in the slot; empty if slots are not re-used.
    pub generation: Vec<u32>,
}

/// One particle between its release and its end, in a slot that is re-used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleInstance {
    /// Index of the slot: its row in the tracks.
    pub slot: usize,
    /// Number of earlier particles in the slot.
    pub generation: u32,
    /// Status at the end, or [`Status::Active`].
    pub status: Status,
    /// Release time, in the data's unit.
    pub release_time: f64,
    /// Release position, in the data's unit of length.
    pub release_position: [f64; 3],
    /// End time; NaN while active.
    pub end_time: f64,
    /// Position at the end, in the domain box; the current position while active.
    pub end_position: [f64; 3],
}

impl ParticleInstance {
    /// Time from release to end, positive in backward runs too; NaN while active.
    pub fn residence_time(&self) -> f64 {
        (self.end_time - self.release_time).abs()
    }
}

/// A face of a mesh cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshFace {
    /// Index of the cell in the source of the field.
    pub cell: usize,
    /// The face (in two dimensions, the edge), in VTK's order for this kind of cell
    /// (`vtkCell::GetFace`).
    pub face: usize,
}

impl Save {
    /// The positions in double precision, on the host, in the order of the rows.
    ///
    /// # Errors
    ///
    /// [`Error::Execution`] if the device fails.
    pub fn exact_positions(&self) -> Result<Vec<[f64; 3]>> {
        let numbers = |rows: &Tensor<2>| -> Result<Vec<f64>> {
            let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
            let data = rows.clone().try_into_data().map_err(|error| failed(&error))?;
            data.convert::<f64>().try_into_vec().map_err(|error| failed(&error))
        };
        let mut positions = numbers(&self.position)?;
        if let Some(rest) = &self.rest {
            positions.iter_mut().zip(numbers(rest)?).for_each(|(x, rest)| *x += rest);
        }
        Ok(positions.as_chunks().0.to_vec())
    }
}
