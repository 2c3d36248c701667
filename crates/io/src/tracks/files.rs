//! The arrays of a store, in either form.

use super::array::ArrayFolder;
use super::layout::{self, Counts, Over, Spec};
use super::manifest::{Form, Manifest};
use super::npy::NpyFile;
use crate::number::Number;
use crate::{Error, Result};
use std::ops::Range;
use std::path::Path;

/// The arrays of a store, by name.
#[derive(Debug, Clone)]
pub(super) struct Files {
    arrays: Vec<(Spec, Array)>,
    counts: Counts,
}

#[derive(Debug, Clone)]
enum Array {
    Npy(NpyFile),
    Zarr(ArrayFolder),
}

impl Files {
    /// Opens the arrays that the manifest lists.
    ///
    /// # Errors
    ///
    /// If one is missing, or is not what the manifest says.
    pub fn open(folder: &Path, manifest: &Manifest, form: Form) -> Result<Files> {
        // Lengths in Zarr's metadata are those of the plan until the run has ended.
        let counts = if manifest.complete { manifest.counts() } else { manifest.planned() };
        let of = (manifest.precision(), counts);
        let array = |spec: &Spec| {
            let array = match form {
                Form::Zarr => Array::Zarr(ArrayFolder::open(folder, *spec, of, manifest.complete)?),
                Form::NumPy => {
                    let path = folder.join(format!("{}.npy", spec.name));
                    Array::Npy(NpyFile::open(path, spec.data_type(of.0), &spec.shape(counts))?)
                }
            };
            Ok((*spec, array))
        };
        let names = [layout::TIME, layout::POSITION, layout::STATUS];
        let ends = [layout::END_STATUS, layout::END_TIME, layout::RELEASE_TIME];
        let ends = ends.into_iter().filter(|_| manifest.complete);
        let lives = layout::ALL.iter().filter(|spec| spec.over == Over::Lives);
        let of_lives = lives.copied().chain([layout::GENERATION]);
        let end = [layout::END_GENERATION].into_iter().filter(|_| manifest.complete);
        let of_lives = of_lives.chain(end).filter(|_| manifest.lives.is_some());
        let needed: Vec<Spec> = names.into_iter().chain(ends).chain(of_lives).collect();
        let is_there = |spec: &&Spec| needed.contains(spec) || manifest.has(**spec);
        let arrays = layout::ALL.iter().filter(is_there).map(array).collect::<Result<_>>()?;
        Ok(Files { arrays, counts })
    }

    /// How many saves and lives are whole in a store that is being written.
    pub fn counted(&self) -> Result<Counts> {
        let mut counts = Counts { saves: usize::MAX, lives: usize::MAX, ..self.counts };
        for (spec, array) in &self.arrays {
            let Array::Zarr(array) = array else { continue };
            match spec.over {
                Over::Both if self.counts.particles == 0 => {}
                Over::Both | Over::Saves => counts.saves = counts.saves.min(array.rows()?),
                Over::Lives => counts.lives = counts.lives.min(array.rows()?),
                Over::Particles => {}
            }
        }
        Ok(counts)
    }

    /// Whether there is such an array.
    pub fn has(&self, spec: Spec) -> bool {
        self.find(spec).is_some()
    }

    fn find(&self, spec: Spec) -> Option<&Array> {
        self.arrays.iter().find(|(of, _)| *of == spec).map(|(_, array)| array)
    }

    /// The numbers of some columns in some rows of an array, row by row. What has an item for each
    /// particle only is a single row; lists have a single column.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is shorter than it should be.
    pub fn read<T: Number>(
        &self,
        spec: Spec,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<T>> {
        match self.find(spec) {
            Some(Array::Zarr(array)) => array.read(rows, columns),
            Some(Array::Npy(file)) => {
                let across = spec.grid(self.counts).columns;
                let first = (rows.start * across + columns.start) * spec.width;
                file.read(first, columns.len() * spec.width, across * spec.width, rows.len())
            }
            None => Err(Error::Store {
                path: spec.name.into(),
                found: "found no such array".into(),
                expected: "one, as the store lists it".into(),
            }),
        }
    }
}
