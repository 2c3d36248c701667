//! Results of a run: saves, tracks and ends.

use crate::{Error, FieldArray, Precision, Result, SinkError, Status, Summary, TrackSink};
use burn::tensor::{Int, Tensor, TensorData};

/// Particles at one time, all or a block of them, on the device or on the host (see
/// [`TrackSink::on_host`]). Tensors have a row for each of the `n` particles.
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

/// Tracks in the memory of the device that computed them.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    saves: Vec<Save>,
    /// Blocks of the incomplete save.
    blocks: Vec<Save>,
    particles: usize,
    instances: Vec<ParticleInstance>,
    ends: Ends,
    end_times: Option<Tensor<1>>,
    periods: [f64; 3],
    arrays: Vec<FieldArray>,
    summary: Option<Summary>,
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

impl Tracks {
    pub(crate) fn with_summary(mut self, summary: Summary) -> Self {
        self.summary = Some(summary);
        self
    }

    /// The summary of the run; `None` before its end.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// Times of the saves.
    pub fn times(&self) -> Vec<f64> {
        self.saves.iter().map(|save| save.time).collect()
    }

    /// Positions `[saves, particles, 3]`. An ended particle keeps its last position; an empty slot
    /// of a source is NaN.
    ///
    /// # Panics
    ///
    /// If there is no save yet.
    pub fn positions(&self) -> Tensor<3> {
        let positions = self.saves.iter().map(|save| save.position.clone());
        Tensor::stack(positions.collect(), 0)
    }

    /// Velocities `[saves, particles, 3]`, if requested.
    pub fn velocities(&self) -> Option<Tensor<3>> {
        let velocities: Option<Vec<_>> = self.saves.iter().map(|s| s.velocity.clone()).collect();
        velocities.filter(|v| !v.is_empty()).map(|v| Tensor::stack(v, 0))
    }

    /// The values `[saves, particles, components]` of an array that was sampled along the tracks, if
    /// there is one of this name.
    pub fn array(&self, name: &str) -> Option<Tensor<3>> {
        let index = self.arrays.iter().position(|array| array.name == name)?;
        let values: Option<Vec<_>> =
            self.saves.iter().map(|save| save.arrays.get(index).cloned()).collect();
        values.filter(|values| !values.is_empty()).map(|values| Tensor::stack(values, 0))
    }

    /// [`Status`] codes `[particles]` of the last save.
    ///
    /// # Panics
    ///
    /// Like [`positions`](Tracks::positions).
    pub fn status(&self) -> Tensor<1, Int> {
        match self.saves.last() {
            Some(save) => save.status.clone(),
            None => panic!("the tracks have no saves"),
        }
    }

    /// The saves, in order.
    pub fn saves(&self) -> &[Save] {
        &self.saves
    }

    /// All particle instances if slots are re-used; instances in the same slot are in order.
    pub fn instances(&self) -> &[ParticleInstance] {
        &self.instances
    }

    /// Release and end of each particle.
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// End time of each particle `[particles]`, in the data's unit and the precision of the run; NaN for one that has not
    /// ended. `None` before the end of the run. It has gradients if the run has: the derivative of the time at which
    /// the steps taken reach the face, wall or obstacle. Times of steps and releases are constants, as is the
    /// end of a particle that is stagnant or lost.
    pub fn end_times(&self) -> Option<Tensor<1>> {
        self.end_times.clone().or_else(|| self.column(&self.ends.end_time))
    }

    /// Time from release to end of each particle `[particles]`, positive in backward runs too; as
    /// [`end_times`](Tracks::end_times).
    pub fn residence_times(&self) -> Option<Tensor<1>> {
        let Ends { end_time, release_time, .. } = &self.ends;
        let is_backward = end_time.iter().zip(release_time).any(|(end, release)| end < release);
        let times = self.end_times()? - self.column(release_time)?;
        Some(if is_backward { times.neg() } else { times })
    }

    /// A number of each particle, beside the saves.
    fn column(&self, numbers: &[f64]) -> Option<Tensor<1>> {
        let position = &self.saves.last()?.position;
        if numbers.len() != self.particles {
            return None;
        }
        let data = TensorData::new(numbers.to_vec(), [numbers.len()]);
        Some(Tensor::from_data(data, (&position.device(), position.dtype())))
    }

    /// Widths of the box along periodic axes; 0 along the others.
    pub fn periods(&self) -> [f64; 3] {
        self.periods
    }
}

impl TrackSink for Tracks {
    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError> {
        self.saves = Vec::with_capacity(plan.saves.min(1 << 16));
        self.blocks.clear();
        self.particles = plan.particles;
        self.end_times = None;
        self.periods = plan.periods;
        self.arrays.clone_from(&plan.arrays);
        Ok(())
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        let end = save.first + save.position.dims()[0];
        self.blocks.push(save);
        if end == self.particles {
            self.saves.extend(joined(std::mem::take(&mut self.blocks)));
        }
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        self.instances.extend(instances);
        Ok(())
    }

    fn end_times(&mut self, times: Tensor<1>) -> std::result::Result<(), SinkError> {
        self.end_times = Some(times);
        Ok(())
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        self.ends = ends.clone();
        Ok(())
    }
}

/// Joins the blocks of a save.
fn joined(mut blocks: Vec<Save>) -> Option<Save> {
    if blocks.len() < 2 {
        return blocks.pop();
    }
    let velocity: Option<Vec<_>> = blocks.iter().map(|block| block.velocity.clone()).collect();
    let rest: Option<Vec<_>> = blocks.iter().map(|block| block.rest.clone()).collect();
    let generation: Option<Vec<_>> = blocks.iter().map(|block| block.generation.clone()).collect();
    let first = blocks.first()?;
    let array = |index: usize| blocks.iter().map(|block| block.arrays[index].clone()).collect();
    let arrays = (0..first.arrays.len()).map(|index| Tensor::cat(array(index), 0)).collect();
    Some(Save {
        index: first.index,
        time: first.time,
        first: first.first,
        position: Tensor::cat(blocks.iter().map(|block| block.position.clone()).collect(), 0),
        rest: rest.map(|rows| Tensor::cat(rows, 0)),
        status: Tensor::cat(blocks.iter().map(|block| block.status.clone()).collect(), 0),
        image: Tensor::cat(blocks.iter().map(|block| block.image.clone()).collect(), 0),
        velocity: velocity.map(|rows| Tensor::cat(rows, 0)),
        generation: generation.map(|rows| Tensor::cat(rows, 0)),
        arrays,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DurablePosition;
    use burn::tensor::{DType, Device, TensorData};

    /// Particles `rows` of save `index`, with their indices as positions.
    fn block(index: usize, rows: std::ops::Range<usize>) -> Save {
        let (n, device) = (rows.len(), Device::flex());
        let wide: Vec<i32> = rows.clone().flat_map(|row| [row as i32; 3]).collect();
        let codes: Vec<i32> = rows.clone().map(|row| row as i32).collect();
        let coordinates: Vec<f64> = wide.iter().map(|&row| f64::from(row)).collect();
        let floats = TensorData::new(coordinates, [n, 3]);
        let floats = Tensor::<2>::from_data(floats, (&device, DType::F64));
        let codes = TensorData::new(codes, [n]);
        let codes = Tensor::<1, Int>::from_data(codes, (&device, DType::I32));
        Save {
            index,
            time: index as f64,
            first: rows.start,
            position: floats.clone(),
            rest: None,
            status: codes.clone(),
            image: Tensor::from_data(TensorData::new(wide, [n, 3]), (&device, DType::I32)),
            velocity: Some(floats.clone()),
            generation: Some(codes),
            arrays: vec![floats.clone().narrow(1, 0, 1), floats],
        }
    }

    #[test]
    fn blocks_of_a_save_are_joined() {
        let plan = SavePlan {
            particles: 7,
            reuses_slots: true,
            saves: 2,
            precision: Precision::F64,
            positions: Precision::F64,
            velocity: true,
            periods: [0.0; 3],
            arrays: vec![FieldArray::new("T", 1), FieldArray::new("tau", 3)],
        };
        let mut tracks = Tracks::default();
        tracks.begin(&plan).unwrap();
        for rows in [0..3, 3..4, 4..7] {
            tracks.save(block(0, rows)).unwrap();
        }
        tracks.save(block(1, 0..7)).unwrap();
        assert_eq!(tracks.sync().unwrap(), DurablePosition::default());
        assert_eq!(tracks.times(), [0.0, 1.0]);
        let [first, second] = tracks.saves() else { panic!("{}", tracks.saves().len()) };
        let rows = |save: &Save| {
            let mut floats = vec![save.position.clone(), save.velocity.clone().unwrap()];
            floats.extend(save.arrays.clone());
            let ints = [save.status.clone(), save.generation.clone().unwrap()];
            let image = save.image.clone().into_data();
            let floats: Vec<_> = floats.into_iter().map(Tensor::into_data).collect();
            (floats, ints.map(Tensor::into_data), image)
        };
        assert_eq!((first.first, rows(first)), (0, rows(second)));
        assert_eq!(tracks.array("tau").unwrap().dims(), [2, 7, 3]);
        assert_eq!(tracks.array("T").unwrap().dims(), [2, 7, 1]);
        assert!(tracks.array("p").is_none());
    }
}
