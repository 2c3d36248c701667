//! Arrays of files beside the velocity, which are sampled along tracks.

use super::options::{NamedArray, SeriesOptions};
use super::times::Timeline;
use super::values::floats;
use super::velocity::{
    Association, SampledArrays, VelocityInfo, VelocityName, error, with_name, with_unique_name,
};
use crate::Result;
use burntrace_core::{FieldArray, Floats};
use burntrace_vtk::{ArrayInfo, VtkFile};

impl VelocityInfo {
    /// Finds the velocity, the diffusivity and the arrays of a series in its first file.
    pub(super) fn of(
        file: &VtkFile,
        options: &SeriesOptions,
        choose: impl FnOnce(&VtkFile, &VelocityName, Option<Association>) -> Result<VelocityInfo>,
    ) -> Result<VelocityInfo> {
        let velocity = match options.velocity {
            VelocityName::None => VelocityInfo {
                arrays: Vec::new(),
                association: association(file, &options.arrays, options.prefer)?,
                diffusivity: None,
                sampled: SampledArrays::default(),
            },
            _ => choose(file, &options.velocity, options.prefer)?
                .with_diffusivity(file, options.diffusivity.as_ref())?,
        };
        velocity.with_arrays(file, &options.arrays)
    }

    /// Adds arrays of the same association, which all of the files must have.
    pub(super) fn with_arrays_of(
        self,
        timeline: &Timeline,
        arrays: &[NamedArray],
    ) -> Result<VelocityInfo> {
        if burntrace_cf::is_cf(&timeline.paths[0]) {
            return self.with_cf_arrays(&timeline.frames, arrays);
        }
        let velocity = self.with_arrays(&timeline.open(0)?, arrays)?;
        for frame in timeline.frames.iter().skip(1) {
            velocity.locate_arrays(&frame.open()?)?;
        }
        Ok(velocity)
    }

    /// Adds arrays of the same association, which the file must have.
    pub(super) fn with_arrays(
        mut self,
        file: &VtkFile,
        arrays: &[NamedArray],
    ) -> Result<VelocityInfo> {
        for NamedArray { array, name } in arrays {
            let found = self.find_array(file, array)?;
            self.sampled.arrays.push(FieldArray::new(name.clone(), found.components));
            self.sampled.in_files.push(array.clone());
        }
        Ok(self)
    }

    /// The sampled arrays in another file, which must have the same components there.
    pub(super) fn locate_arrays<'a>(&self, file: &'a VtkFile) -> Result<Vec<&'a ArrayInfo>> {
        let SampledArrays { in_files, arrays } = &self.sampled;
        let find = |(name, array): (&String, &FieldArray)| {
            let found = self.find_array(file, name)?;
            if found.components == array.components {
                return Ok(found);
            }
            let (here, first) = (found.components, array.components);
            Err(error(
                file,
                format!("`{name}` has {here} components, and {first} in the first file"),
            ))
        };
        in_files.iter().zip(arrays).map(find).collect()
    }

    fn find_array<'a>(&self, file: &'a VtkFile, name: &str) -> Result<&'a ArrayInfo> {
        let on = self.association;
        with_unique_name(file, name, on)?
            .ok_or_else(|| error(file, format!("it has no {on} array `{name}`")))
    }

    /// Reads the sampled arrays of a file with `expected` points or cells. `arrange` selects and orders
    /// the values of an array with a number of components.
    pub(super) fn read_arrays(
        &self,
        file: &VtkFile,
        expected: usize,
        arrange: impl Fn(Floats, usize) -> Floats,
    ) -> Result<Vec<Floats>> {
        let read = |info: &ArrayInfo| {
            self.check_count(file, info, expected)?;
            Ok(arrange(floats(info, file.read(info)?.values), info.components))
        };
        self.locate_arrays(file)?.into_iter().map(read).collect()
    }
}

/// The association that all of the arrays have; points, if they have both and none is preferred.
fn association(
    file: &VtkFile,
    arrays: &[NamedArray],
    prefer: Option<Association>,
) -> Result<Association> {
    let lacks = |on: Association| {
        arrays.iter().find(|array| with_name(file.arrays(), &array.array, on).is_none())
    };
    let both = [Association::Point, Association::Cell];
    let found = prefer.into_iter().chain(both).find(|on| lacks(*on).is_none());
    found.ok_or_else(|| {
        let lost = arrays.iter().find(|array| {
            both.iter().all(|on| with_name(file.arrays(), &array.array, *on).is_none())
        });
        let problem = match lost {
            Some(NamedArray { array, .. }) => format!("it has no array `{array}`"),
            None => "its arrays are not all at the points, nor all in the cells".into(),
        };
        error(file, problem)
    })
}
