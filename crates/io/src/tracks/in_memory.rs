//! The arrays of tracks in memory.

use super::{
    Units, check_names,
    host_array::{HostArray, Row, of_ends, with_vector},
    layout::{self, ArraySpec},
    manifest::Manifest,
    writer::{BlockContext, block},
};
use burntrace_core::{
    Crossing, Ends, Floats, ParticleInstance, Save, SavePlan, Seeds, SinkError, TrackSink, Tracks,
};
use serde_json::{Map, Value};
use std::path::Path;

type Sunk = std::result::Result<(), SinkError>;

/// A receiver of saves that keeps them in memory, as the arrays of a [store](super::TrackWriter): with the same names, dimensions,
/// types, numbers and attributes.
#[derive(Debug, Default)]
pub struct ArrayTracks {
    units: Units,
    plan: Option<SavePlan>,
    arrays: Vec<(ArraySpec, HostArray)>,
    saves: usize,
}

/// An array of tracks in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackArray {
    /// Name.
    pub name: String,
    /// Names of the dimensions.
    pub dimensions: Vec<String>,
    /// Lengths of the dimensions.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: HostArray,
    /// Attributes by the conventions of CF.
    pub attributes: Map<String, Value>,
}

impl ArrayTracks {
    /// No tracks; attributes of their arrays will have these units.
    pub fn new(units: Units) -> Self {
        ArrayTracks { units, ..ArrayTracks::default() }
    }

    /// The arrays of tracks of seeds that are in memory already, on any device.
    ///
    /// # Errors
    ///
    /// If they do not follow the plan, or the device fails.
    pub fn of(
        (tracks, seeds): (&Tracks, &Seeds),
        plan: &SavePlan,
        units: Units,
    ) -> Result<Self, SinkError> {
        let mut arrays = ArrayTracks::new(units);
        arrays.begin(plan)?;
        arrays.releases(0, seeds.positions())?;
        tracks.saves().iter().try_for_each(|save| arrays.save(save.clone()))?;
        arrays.instances(tracks.instances())?;
        arrays.crossings(tracks.crossings())?;
        arrays.end(tracks.ends())?;
        Ok(arrays)
    }

    /// Widths of the box along periodic axes; 0 along the others.
    pub fn periods(&self) -> [f64; 3] {
        self.plan.as_ref().map_or([0.0; 3], |plan| plan.periods)
    }

    /// The arrays; of a run that was cancelled or failed, all of its complete saves.
    pub fn into_arrays(self) -> Vec<TrackArray> {
        let Some(plan) = self.plan else { return Vec::new() };
        let cf = Manifest::new(&plan, &self.units).cf();
        let mut arrays = self.arrays;
        let rows = |column: &ArraySpec| {
            let found = arrays.iter().find(|(spec, _)| spec == column);
            found.map_or(0, |(_, values)| values.len())
        };
        let counts = layout::Counts {
            saves: self.saves,
            particles: plan.particles,
            instances: rows(&layout::INSTANCE_SLOT),
            crossings: rows(&layout::CROSSING_SLOT),
        };
        arrays
            .iter_mut()
            .for_each(|(spec, values)| values.fit(spec.shape(counts).iter().product()));
        let named = arrays.into_iter().map(|(spec, values)| TrackArray {
            dimensions: spec.dimensions(),
            shape: spec.shape(counts),
            attributes: cf.attributes(&spec).as_object().cloned().unwrap_or_default(),
            name: spec.name.into_owned(),
            values,
        });
        named.collect()
    }
}

/// Adds numbers to an array that the run has.
fn append(arrays: &mut [(ArraySpec, HostArray)], spec: &ArraySpec, values: impl Into<HostArray>) {
    if let Some((_, array)) = arrays.iter_mut().find(|(known, _)| known == spec) {
        array.append(values.into());
    }
}

/// Adds rows to a table that the run has.
fn append_rows<R: Row>(arrays: &mut [(ArraySpec, HostArray)], rows: &[R]) {
    let columns = R::COLUMNS.iter().zip(R::columns(rows));
    columns.for_each(|(spec, values)| append(arrays, spec, values));
}

impl HostArray {
    /// Number of numbers.
    pub fn len(&self) -> usize {
        with_vector!(self, numbers => numbers.len())
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An array of a type with room for numbers; the error is that of the memory.
    fn with_room(scalar: burntrace_cf::ScalarType, count: usize) -> Result<Self, SinkError> {
        use burntrace_cf::ScalarType::{F32, F64, I32, I64};
        let mut array: HostArray = match scalar {
            F32 => Vec::<f32>::new().into(),
            F64 => Vec::<f64>::new().into(),
            I32 => Vec::<i32>::new().into(),
            I64 => Vec::<i64>::new().into(),
            _ => Vec::<u8>::new().into(),
        };
        with_vector!(&mut array, numbers => numbers.try_reserve_exact(count))?;
        Ok(array)
    }

    /// Adds the numbers of an array of the same type.
    fn append(&mut self, other: HostArray) {
        match (self, other) {
            (HostArray::F32(all), HostArray::F32(more)) => all.extend_from_slice(&more),
            (HostArray::F64(all), HostArray::F64(more)) => all.extend_from_slice(&more),
            (HostArray::I32(all), HostArray::I32(more)) => all.extend_from_slice(&more),
            (HostArray::I64(all), HostArray::I64(more)) => all.extend_from_slice(&more),
            (HostArray::U8(all), HostArray::U8(more)) => all.extend_from_slice(&more),
            // The type of an array is that of its plan.
            _ => {}
        }
    }

    /// Drops numbers of an incomplete save, or adds NaN (0 for integers), so that there are this many.
    fn fit(&mut self, count: usize) {
        match self {
            HostArray::F32(numbers) => numbers.resize(count, f32::NAN),
            HostArray::F64(numbers) => numbers.resize(count, f64::NAN),
            HostArray::I32(numbers) => numbers.resize(count, 0),
            HostArray::I64(numbers) => numbers.resize(count, 0),
            HostArray::U8(numbers) => numbers.resize(count, 0),
        }
    }
}

impl TrackSink for ArrayTracks {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> Sunk {
        check_names(&plan.arrays)?;
        let manifest = Manifest::new(plan, &self.units);
        let planned = layout::Counts { instances: 0, crossings: 0, ..manifest.planned() };
        let own = layout::ALL.into_iter().filter(|spec| manifest.has(spec)).cloned();
        let made = own.chain(manifest.sampled_specs()).map(|spec| {
            let room = spec.shape(planned).iter().product();
            let array = HostArray::with_room(spec.scalar(manifest.encoding()), room)?;
            Ok((spec, array))
        });
        self.arrays = made.collect::<Result<_, SinkError>>()?;
        (self.plan, self.saves) = (Some(plan.clone()), 0);
        Ok(())
    }

    fn releases(&mut self, _: usize, positions: &[[f64; 3]]) -> Sunk {
        let Some(plan) = &self.plan else { return Ok(()) };
        let numbers = positions.as_flattened().iter().copied();
        let rounded = Floats::from_f64(plan.positions, numbers);
        append(&mut self.arrays, &layout::RELEASE_POSITION, rounded);
        Ok(())
    }

    fn save(&mut self, save: Save) -> Sunk {
        let ArrayTracks { units, plan: Some(plan), arrays, saves } = self else { return Ok(()) };
        let (rows, index) = (save.position.dims()[0], save.index);
        let is_last = save.first + rows == plan.particles;
        let context = BlockContext { folder: Path::new("memory"), save: index, rows };
        let mut block = block(save, plan, is_last, context)?;
        if units.continuous {
            block.unwrap_longitudes(plan.periods[0]);
        }
        append(arrays, &layout::POSITION, block.position);
        append(arrays, &layout::STATUS, block.status);
        let ints = [(&layout::IMAGE, block.image), (&layout::GENERATION, block.generation)];
        for (spec, numbers) in ints.into_iter().filter_map(|(spec, of)| Some((spec, of?))) {
            append(arrays, spec, numbers);
        }
        if let Some(velocity) = block.velocity {
            append(arrays, &layout::VELOCITY, velocity);
        }
        for (array, values) in plan.arrays.iter().zip(block.arrays) {
            append(arrays, &ArraySpec::sampled(array), values);
        }
        if is_last {
            append(arrays, &layout::TIME, vec![block.time]);
            *saves += 1;
        }
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Sunk {
        append_rows(&mut self.arrays, instances);
        Ok(())
    }

    fn crossings(&mut self, crossings: &[Crossing]) -> Sunk {
        append_rows(&mut self.arrays, crossings);
        Ok(())
    }

    fn end(&mut self, ends: &Ends) -> Sunk {
        self.arrays.extend(of_ends(ends).into_iter().map(|(spec, of)| (spec.clone(), of)));
        Ok(())
    }
}
