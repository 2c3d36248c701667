//! The arrays of a store open for reading.

use super::array_reader::ArrayReader;
use super::layout::{self, ArraySpec, Counts, Dims};
use super::manifest::Manifest;
use crate::number::Number;
use crate::{Error, Result};
use std::ops::Range;
use std::path::Path;

/// The arrays of a store, by name.
#[derive(Debug, Clone)]
pub(super) struct StoreArrays {
    arrays: Vec<(ArraySpec, ArrayReader)>,
    counts: Counts,
}

impl StoreArrays {
    /// Opens the arrays that the manifest lists.
    ///
    /// # Errors
    ///
    /// If one is missing, or differs from the manifest.
    pub fn open(folder: &Path, manifest: &Manifest) -> Result<StoreArrays> {
        let counts = manifest.counts_for_zarr();
        let of = (manifest.encoding(), counts);
        let required = required(manifest);
        let is_expected = |spec: &&ArraySpec| required.contains(spec) || manifest.has(spec);
        let known = layout::ALL.into_iter().filter(is_expected).cloned();
        let open = |spec: ArraySpec| {
            let array = ArrayReader::open(folder, &spec, of, manifest.complete)?;
            Ok((spec, array))
        };
        let arrays = known.chain(manifest.sampled_specs()).map(open).collect::<Result<_>>()?;
        Ok(StoreArrays { arrays, counts })
    }

    /// Numbers of complete saves, particle instances and crossings in a store that is being written.
    pub fn complete_counts(&self) -> Result<Counts> {
        let (saves, instances, crossings) = (usize::MAX, usize::MAX, usize::MAX);
        let mut counts = Counts { saves, instances, crossings, ..self.counts };
        for (spec, array) in &self.arrays {
            match spec.dims {
                Dims::SavesParticles if self.counts.particles == 0 => {}
                Dims::SavesParticles | Dims::Saves => {
                    counts.saves = counts.saves.min(array.rows()?)
                }
                Dims::Instances => counts.instances = counts.instances.min(array.rows()?),
                Dims::Crossings => counts.crossings = counts.crossings.min(array.rows()?),
                Dims::Particles => {}
            }
        }
        Ok(counts)
    }

    /// Whether the store has the array.
    pub fn has(&self, spec: &ArraySpec) -> bool {
        self.find(spec).is_some()
    }

    fn find(&self, spec: &ArraySpec) -> Option<&ArrayReader> {
        self.arrays.iter().find(|(of, _)| of == spec).map(|(_, array)| array)
    }

    /// The values in a range of rows and columns of an array, row by row. An array with one item
    /// for each particle is a single row; a list has a single column.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is shorter than it should be.
    pub fn read<T: Number>(
        &self,
        spec: &ArraySpec,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<T>> {
        match self.find(spec) {
            Some(array) => array.read(rows, columns),
            None => Err(Error::Store {
                path: (&*spec.name).into(),
                found: "found no such array".into(),
                expected: "one, as the store lists it".into(),
            }),
        }
    }
}

/// The arrays that a store must have, whether its manifest lists them or not.
fn required(manifest: &Manifest) -> Vec<&'static ArraySpec> {
    let mut required = vec![&layout::TIME, &layout::POSITION, &layout::STATUS];
    if manifest.complete {
        required.extend([&layout::END_STATUS, &layout::END_TIME, &layout::RELEASE_TIME]);
    }
    if manifest.instances.is_some() {
        required.push(&layout::GENERATION);
        required.extend(layout::ALL.iter().filter(|spec| spec.dims == Dims::Instances));
        required.extend(manifest.complete.then_some(&layout::END_GENERATION));
    }
    if manifest.crossings.is_some() {
        required.extend(layout::ALL.iter().filter(|spec| spec.dims == Dims::Crossings));
    }
    required
}
