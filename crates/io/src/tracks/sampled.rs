//! Reads the arrays that are sampled along the tracks.

use super::decode::doubles;
use super::layout::ArraySpec;
use super::reader::Tracks;
use crate::{Error, Result};
use burntrace_core::{FieldArray, Floats};
use std::ops::Range;

impl Tracks {
    /// The arrays that are sampled along the tracks, in the order of the run.
    pub fn arrays(&self) -> Vec<FieldArray> {
        self.manifest().sampled_arrays()
    }

    /// The values of a sampled array at a save, particle by particle, with all components of a
    /// particle one after the other. An empty slot of a source has NaN.
    ///
    /// # Errors
    ///
    /// If there is no array of this name, the save does not exist, or its file cannot be read.
    pub fn array(&self, name: &str, save: usize) -> Result<Vec<f64>> {
        self.array_range(name, save, 0..self.num_particles())
    }

    /// The values of a sampled array at a save, of a range of particles; others are not read.
    ///
    /// # Errors
    ///
    /// As [`array`](Tracks::array); also if the range is too large.
    pub fn array_range(
        &self,
        name: &str,
        save: usize,
        particles: Range<usize>,
    ) -> Result<Vec<f64>> {
        let (spec, row) = (self.sampled_spec(name)?, self.row(save)?);
        self.check_particles(&particles)?;
        Ok(doubles(self.numbers(&spec, row, particles)?))
    }

    /// The values of a sampled array of one particle, or of all particle instances in one slot, save
    /// by save.
    ///
    /// # Errors
    ///
    /// If there is no array of this name, the particle does not exist, or a file cannot be read.
    pub fn array_track(&self, name: &str, particle: usize) -> Result<Vec<f64>> {
        let (spec, column) = (self.sampled_spec(name)?, particle..particle + 1);
        self.check_particles(&column)?;
        Ok(doubles(self.numbers(&spec, 0..self.num_saves(), column)?))
    }

    /// The values of a sampled array in the precision of the run.
    pub(crate) fn sampled(
        &self,
        array: &FieldArray,
        save: usize,
        slots: Range<usize>,
    ) -> Result<Floats> {
        self.numbers(&ArraySpec::sampled(array), self.row(save)?, slots)
    }

    fn sampled_spec(&self, name: &str) -> Result<ArraySpec> {
        let arrays = self.arrays();
        let found = arrays.iter().find(|array| array.name == name).map(ArraySpec::sampled);
        found.ok_or_else(|| Error::NoArray {
            path: self.folder().into(),
            name: name.into(),
            available: arrays.into_iter().map(|array| array.name).collect(),
        })
    }
}
