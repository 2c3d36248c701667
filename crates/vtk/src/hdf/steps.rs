//! Time steps: where the data of each step start.

use super::group::Group;
use crate::error::Error;

/// The time steps of a data set, one of which is open.
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
                let times = values.ok_or_else(|| group.lacks("the dataset `Values`"))?.into_f64();
                check_count(group, &times)?;
                times
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

    /// The index of the open step.
    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// Number of steps; 1 without steps.
    pub(super) fn count(&self) -> usize {
        self.times.len().max(1)
    }

    /// The offset of each step in a dataset of `Steps`, with the number of its columns and the one to read; 0
    /// without steps.
    pub(super) fn offsets(&self, name: &str, column: [usize; 2]) -> Result<Vec<u64>, Error> {
        let found = match &self.group {
            None => None,
            Some(group) => self.of_steps(group, (name, column), group.sizes(name)?)?,
        };
        Ok(found.unwrap_or_else(|| vec![0; self.count()]))
    }

    /// The offset of an array at each step, from a group of `Steps` such as `PointDataOffsets`; `None` without one.
    pub(super) fn offsets_of(&self, data: &str, array: &str) -> Result<Option<Vec<u64>>, Error> {
        let Some(group) = self.group.as_ref().and_then(|group| group.child(data)) else {
            return Ok(None);
        };
        let offsets = group.sizes(array)?;
        self.of_steps(&group, (array, [1, 0]), offsets)
    }

    fn of_steps(
        &self,
        group: &Group<'_>,
        (name, [width, column]): (&str, [usize; 2]),
        offsets: Option<Vec<u64>>,
    ) -> Result<Option<Vec<u64>>, Error> {
        let Some(offsets) = offsets else { return Ok(None) };
        let found: Vec<u64> =
            offsets.chunks_exact(width).take(self.count()).map(|row| row[column]).collect();
        match found.len() == self.count() {
            true => Ok(Some(found)),
            false => Err(group.lacks(&format!("`{}` offsets in `{name}`", self.count()))),
        }
    }
}

/// Checks the number of times against the attribute `NSteps`, if there is one.
fn check_count(group: &Group<'_>, times: &[f64]) -> Result<(), Error> {
    match group.numbers::<1>("NSteps")? {
        Some([steps]) if steps != times.len() as f64 => {
            let found = format!("`{}` times in `Values`", times.len());
            Err(group.context().malformed(found, format!("`{steps}`, the attribute `NSteps`")))
        }
        _ => Ok(()),
    }
}
