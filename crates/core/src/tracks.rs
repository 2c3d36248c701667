//! Tracks: saves in memory.

use crate::{
    Crossing, Ends, FieldArray, ParticleInstance, Save, SavePlan, SinkError, Summary, TrackSink,
};
use burn::tensor::{Int, Tensor, TensorData};

/// Tracks in the memory of the device that computed them.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    saves: Vec<Save>,
    /// Blocks of the incomplete save.
    blocks: Vec<Save>,
    particles: usize,
    instances: Vec<ParticleInstance>,
    crossings: Vec<Crossing>,
    ends: Ends,
    end_times: Option<Tensor<1>>,
    /// The release times, if they track gradients.
    releases: Option<Tensor<1>>,
    periods: [f64; 3],
    arrays: Vec<FieldArray>,
    summary: Option<Summary>,
}

impl Tracks {
    pub(crate) fn with_summary(mut self, summary: Summary) -> Self {
        self.summary = Some(summary);
        self
    }

    pub(crate) fn with_releases(mut self, releases: Option<Tensor<1>>) -> Self {
        self.releases = releases;
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

    /// [`Status`](crate::Status) codes `[particles]` of the last save.
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

    /// All crossings of gates, segment of the run after segment; those of a particle are in order.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
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
        let mut released = self.column(release_time)?;
        if let Some(releases) = &self.releases {
            let releases = releases.clone().cast(released.dtype());
            released = released + (releases.clone() - releases.detach());
        }
        let times = self.end_times()? - released;
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

    fn crossings(&mut self, crossings: &[Crossing]) -> std::result::Result<(), SinkError> {
        self.crossings.extend(crossings);
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
    use crate::{DurablePosition, Precision};
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
            gates: Vec::new(),
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
