//! Time steps: where the data of a step start.

use super::group::Group;
use crate::error::Error;

/// Offsets of one time step.
pub(super) struct Steps<'a> {
    group: Option<Group<'a>>,
    step: usize,
    /// The times of all steps; empty without steps.
    pub(super) times: Vec<f64>,
}

impl<'a> Steps<'a> {
    /// Reads the times, and checks that there is the step.
    pub(super) fn read(root: &Group<'a>, step: usize) -> Result<Self, Error> {
        let group = root.child("Steps");
        let times = match &group {
            None => Vec::new(),
            Some(group) => {
                let values = group.values("Values")?;
                values.ok_or_else(|| group.lacks("the dataset `Values`"))?.into_f64()
            }
        };
        if step >= times.len().max(1) {
            let found = format!("`{}` time steps", times.len());
            return Err(root.context().malformed(found, format!("a step `{step}`, from 0")));
        }
        Ok(Steps { group, step, times })
    }

    pub(super) fn has_steps(&self) -> bool {
        self.group.is_some()
    }

    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// The offset of the step in a dataset of `Steps`, with the number of its columns and the one to read; 0
    /// without steps.
    pub(super) fn offset(&self, name: &str, column: [usize; 2]) -> Result<u64, Error> {
        let Some(group) = &self.group else { return Ok(0) };
        Ok(self.at(group, (name, column), group.sizes(name)?)?.unwrap_or(0))
    }

    /// The offset of an array, from a group of `Steps` such as `PointDataOffsets`; `None` without one.
    pub(super) fn offset_of(&self, data: &str, array: &str) -> Result<Option<u64>, Error> {
        let Some(group) = self.group.as_ref().and_then(|group| group.child(data)) else {
            return Ok(None);
        };
        let offsets = group.sizes(array)?;
        self.at(&group, (array, [1, 0]), offsets)
    }

    fn at(
        &self,
        group: &Group<'_>,
        (name, [width, column]): (&str, [usize; 2]),
        offsets: Option<Vec<u64>>,
    ) -> Result<Option<u64>, Error> {
        let Some(offsets) = offsets else { return Ok(None) };
        let lacks = || group.lacks(&format!("`{}` offsets in `{name}`", self.times.len()));
        offsets.get(self.step * width + column).copied().map(Some).ok_or_else(lacks)
    }
}
