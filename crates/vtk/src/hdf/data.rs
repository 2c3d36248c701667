//! The datasets of an HDF5 file.

use std::fmt;

use hdf5_reader::Dataset;

/// The datasets with the arrays of a data set.
#[derive(Default)]
pub(crate) struct HdfData {
    datasets: Vec<Dataset>,
}

impl fmt::Debug for HdfData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HdfData({} datasets)", self.datasets.len())
    }
}

impl HdfData {
    /// Adds a dataset, and returns its index.
    pub(crate) fn push(&mut self, dataset: Dataset) -> usize {
        self.datasets.push(dataset);
        self.datasets.len() - 1
    }

    /// The dataset with an index.
    pub(crate) fn get(&self, index: usize) -> Option<&Dataset> {
        self.datasets.get(index)
    }
}
