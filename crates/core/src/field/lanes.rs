//! The quantities of a field in its groups of four numbers.

use super::arrays::{FieldArray, Samples};
use super::source::FrameSource;
use crate::{Error, Result};
use burn::tensor::Tensor;

/// Components of a velocity and its padding.
pub(crate) const LANES: usize = 4;

/// The places of the quantities of a field in its groups of four numbers: the velocity and the
/// diffusivity fill the first group, arrays follow each other. A diffusivity of which the source says so is in a last group of its
/// own, as beside a velocity on a sphere there is no place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ArrayLanes {
    pub has_velocity: bool,
    arrays: Vec<FieldArray>,
    pub diffusivity_is_apart: bool,
}

impl ArrayLanes {
    /// A velocity and nothing else.
    pub fn velocity_alone() -> Self {
        ArrayLanes { has_velocity: true, ..ArrayLanes::default() }
    }

    /// # Errors
    ///
    /// [`Error::Arrays`] for two arrays of one name, one without a name or components, or if there is
    /// neither velocity nor array.
    pub fn checked(source: &dyn FrameSource) -> Result<Self> {
        let lanes = ArrayLanes::of(source);
        let arrays = &lanes.arrays;
        let problem = arrays.iter().enumerate().find_map(|(i, FieldArray { name, components })| {
            if name.is_empty() {
                return Some(format!("array {i} has no name; give one"));
            }
            if *components == 0 {
                return Some(format!("`{name}` has no components; give at least 1"));
            }
            let is_same = |other: &FieldArray| other.name == *name;
            let is_double = arrays[..i].iter().any(is_same);
            is_double.then(|| format!("there are two arrays `{name}`; give each its own name"))
        });
        if let Some(problem) = problem {
            return Err(Error::Arrays(problem));
        }
        if !lanes.has_velocity && arrays.is_empty() {
            return Err(Error::Empty("the source has neither velocities nor arrays"));
        }
        Ok(lanes)
    }

    /// The quantities of a source.
    pub fn of(source: &dyn FrameSource) -> Self {
        ArrayLanes {
            has_velocity: source.has_velocity(),
            arrays: source.arrays().to_vec(),
            diffusivity_is_apart: source.has_diffusivity(),
        }
    }

    /// The arrays.
    pub fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    /// Each array with its first place.
    pub fn places(&self) -> impl Iterator<Item = (&FieldArray, usize)> {
        let mut next = if self.has_velocity { LANES } else { 0 };
        self.arrays.iter().map(move |array| {
            let first = next;
            next += array.components;
            (array, first)
        })
    }

    /// The first place of the array of a name, and its number of components.
    pub fn find(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.places().find(|(array, _)| array.name == name);
        found.map(|(array, first)| (first, array.components))
    }

    /// Number of groups, at least one.
    pub fn groups(&self) -> usize {
        let end = self.places().last().map_or(LANES, |(array, first)| first + array.components);
        end.div_ceil(LANES) + usize::from(self.diffusivity_is_apart)
    }

    /// The group with the diffusivity, whose last number it is.
    pub fn diffusivity_group(&self) -> usize {
        if self.diffusivity_is_apart { self.groups() - 1 } else { 0 }
    }

    /// The quantities in all groups of values `[n, groups x 4]`.
    pub fn samples(&self, values: Tensor<2>) -> Samples {
        let part = |first, count| values.clone().narrow(1, first, count);
        let arrays = self.places().map(|(array, first)| {
            let values = part(first, array.components);
            (array.clone(), values)
        });
        let arrays = arrays.collect();
        Samples { velocity: self.has_velocity.then(|| part(0, 3)), arrays }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Source(bool, Vec<FieldArray>);

    impl FrameSource for Source {
        fn times(&self) -> &[f64] {
            &[0.0]
        }

        fn arrays(&self) -> &[FieldArray] {
            &self.1
        }

        fn has_velocity(&self) -> bool {
            self.0
        }

        fn read(&mut self, _: usize) -> std::result::Result<crate::FrameData, crate::SourceError> {
            Err("this source is not read".into())
        }
    }

    fn lanes(has_velocity: bool, arrays: &[FieldArray]) -> Result<ArrayLanes> {
        ArrayLanes::checked(&Source(has_velocity, arrays.to_vec()))
    }

    #[test]
    fn arrays_follow_the_velocity_without_gaps() {
        let arrays = [FieldArray::new("T", 1), FieldArray::new("tau", 9), FieldArray::new("p", 1)];
        let all = lanes(true, &arrays).unwrap();
        assert_eq!(all.places().map(|(_, first)| first).collect::<Vec<_>>(), [4, 5, 14]);
        assert_eq!((all.groups(), all.find("tau")), (4, Some((5, 9))));
        let one = lanes(false, &arrays[..1]).unwrap();
        assert_eq!((one.groups(), one.find("T"), one.find("p")), (1, Some((0, 1)), None));
        assert_eq!(lanes(true, &[]).unwrap().groups(), 1);
    }

    #[test]
    fn arrays_without_names_components_or_with_equal_names_are_refused() {
        let refused = |arrays: &[FieldArray]| lanes(true, arrays).unwrap_err().to_string();
        let twice = refused(&[FieldArray::new("p", 1), FieldArray::new("p", 3)]);
        assert!(twice.contains("two arrays `p`"), "{twice}");
        assert!(refused(&[FieldArray::new("p", 0)]).contains("`p` has no components"));
        assert!(refused(&[FieldArray::new("", 1)]).contains("has no name"));
        assert!(lanes(false, &[]).unwrap_err().to_string().contains("neither"));
    }
}
