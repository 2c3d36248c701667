//! The diffusivity array of a random walk.

use super::values::floats;
use super::velocity::{Association, VelocityInfo, error, with_name, with_unique_name};
use crate::Result;
use burntrace_core::Floats;
use burntrace_vtk::{ArrayInfo, VtkFile};

impl VelocityInfo {
    /// Adds the diffusivity array, if one is named; the file must have it.
    pub(super) fn with_diffusivity(
        mut self,
        file: &VtkFile,
        name: Option<&String>,
    ) -> Result<VelocityInfo> {
        self.diffusivity = name.cloned();
        self.locate_diffusivity(file)?;
        Ok(self)
    }

    /// Finds the diffusivity among the arrays of a file, if one is named.
    pub(super) fn locate_diffusivity<'a>(
        &self,
        file: &'a VtkFile,
    ) -> Result<Option<&'a ArrayInfo>> {
        let Some(name) = &self.diffusivity else { return Ok(None) };
        match with_unique_name(file, name, self.association)? {
            Some(array) if array.components == 1 => Ok(Some(array)),
            Some(array) => {
                let components = array.components;
                Err(error(
                    file,
                    format!("`{name}` has {components} components, a diffusivity has 1"),
                ))
            }
            None => Err(error(file, self.no_diffusivity(file, name))),
        }
    }

    /// The message for a missing diffusivity.
    fn no_diffusivity(&self, file: &VtkFile, name: &str) -> String {
        let on = self.association;
        let other = match on {
            Association::Point => Association::Cell,
            Association::Cell => Association::Point,
        };
        match with_name(file.arrays(), name, other) {
            None => format!("it has no array `{name}` for the diffusivity"),
            Some(_) => format!(
                "`{name}` is a {other} array, and the velocity is a {on} array; name a {on} array \
                 for the diffusivity"
            ),
        }
    }

    /// Reads the diffusivities of a file with `expected` points or cells, if an array is named.
    /// `arrange` selects and orders the values.
    pub(super) fn diffusivities(
        &self,
        file: &VtkFile,
        expected: usize,
        arrange: impl FnOnce(Floats) -> Floats,
    ) -> Result<Option<Floats>> {
        let Some(array) = self.locate_diffusivity(file)? else { return Ok(None) };
        self.check_count(file, array, expected)?;
        let values = arrange(floats(array, file.read(array)?.values));
        check(&values, &array.name).map_err(|problem| error(file, problem))?;
        Ok(Some(values))
    }
}

/// Refuses diffusivities that are negative or not finite.
pub(super) fn check(values: &Floats, name: &str) -> std::result::Result<(), String> {
    let numbers = (0..values.len()).map(|i| values.get(i));
    let mut bad = numbers.filter(|k| !k.is_finite() || *k < 0.0);
    let Some(first) = bad.next() else { return Ok(()) };
    Err(format!(
        "the diffusivity `{name}` is negative or not finite in {} of {} values, the first of them \
         {first}; it must be 0 or more",
        1 + bad.count(),
        values.len()
    ))
}
