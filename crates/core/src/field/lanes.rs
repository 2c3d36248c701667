//! The quantities of a field in its groups of four numbers.

use super::arrays::{FieldArray, Samples};
use super::source::FrameSource;
use crate::{Error, Result};
use burn::tensor::{Device, Tensor};

/// Components of a velocity and its padding.
pub(crate) const LANES: usize = 4;

/// The places of the quantities of a field in its groups of four numbers. The velocity is in the first group, and beside it the diffusivity
/// or, without one, the first array of one number, if that saves a group: who samples a velocity has it for nothing, and who samples arrays
/// without it would have a group more. Other arrays follow each other. Where the
/// velocity fills its group, as on a sphere, a diffusivity is in a last group of its own. Before it is a second velocity.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ArrayLanes {
    pub has_velocity: bool,
    arrays: Vec<FieldArray>,
    /// The array beside the velocity.
    beside: Option<usize>,
    pub diffusivity_is_apart: bool,
    has_scaled_velocity: bool,
}

impl ArrayLanes {
    /// A velocity and nothing else.
    pub fn velocity_alone() -> Self {
        ArrayLanes { has_velocity: true, ..ArrayLanes::default() }
    }

    /// The quantities of a source whose velocity has four numbers if `is_full`.
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for two arrays of one name, one without a name or components, or if there is
    /// neither velocity nor array.
    pub fn checked(source: &dyn FrameSource, is_full: bool) -> Result<Self> {
        let lanes = ArrayLanes::of(source, is_full);
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

    /// As [`checked`](ArrayLanes::checked), of arrays that are not checked.
    pub fn of(source: &dyn FrameSource, is_full: bool) -> Self {
        let (has_velocity, arrays) = (source.has_velocity(), source.arrays().to_vec());
        let has_place = has_velocity && !is_full && !source.has_diffusivity();
        let numbers: usize = arrays.iter().map(|array| array.components).sum();
        let single = arrays.iter().position(|array| array.components == 1);
        let single = single.filter(|_| numbers % LANES == 1);
        ArrayLanes {
            has_velocity,
            arrays,
            beside: single.filter(|_| has_place),
            diffusivity_is_apart: is_full && source.has_diffusivity(),
            has_scaled_velocity: has_velocity && source.has_scaled_velocity(),
        }
    }

    /// The same on a device. Where gradients are tracked, a velocity is apart from arrays: one of these that is missing (NaN) would come into its
    /// gradients, as 0 times NaN.
    pub fn on(mut self, device: &Device) -> Self {
        if device.is_autodiff() {
            self.beside = None;
        }
        self
    }

    /// Whether an array has the place of a diffusivity.
    pub fn has_array_beside(&self) -> bool {
        self.beside.is_some()
    }

    /// The arrays.
    pub fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    /// Each array with its first place.
    pub fn places(&self) -> impl Iterator<Item = (&FieldArray, usize)> {
        let mut next = if self.has_velocity { LANES } else { 0 };
        self.arrays.iter().enumerate().map(move |(i, array)| {
            if self.beside == Some(i) {
                return (array, LANES - 1);
            }
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
        let ends = self.places().map(|(array, first)| first + array.components);
        ends.fold(LANES, usize::max).div_ceil(LANES)
            + usize::from(self.has_scaled_velocity)
            + usize::from(self.diffusivity_is_apart)
    }

    /// The group with the second velocity, if there is one.
    pub fn scaled_group(&self) -> Option<usize> {
        let after = usize::from(self.diffusivity_is_apart);
        self.has_scaled_velocity.then(|| self.groups() - 1 - after)
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

    struct Source(bool, Vec<FieldArray>, bool, bool);

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

        fn has_diffusivity(&self) -> bool {
            self.2
        }

        fn has_scaled_velocity(&self) -> bool {
            self.3
        }

        fn read(&mut self, _: usize) -> std::result::Result<crate::FrameData, crate::SourceError> {
            Err("this source is not read".into())
        }
    }

    fn lanes(has_velocity: bool, arrays: &[FieldArray]) -> Result<ArrayLanes> {
        ArrayLanes::checked(&Source(has_velocity, arrays.to_vec(), false, false), false)
    }

    fn places(lanes: &ArrayLanes) -> Vec<usize> {
        lanes.places().map(|(_, first)| first).collect()
    }

    #[test]
    fn arrays_follow_the_velocity_without_gaps() {
        let arrays = [FieldArray::new("tau", 9), FieldArray::new("T", 1), FieldArray::new("p", 1)];
        let all = lanes(true, &arrays).unwrap();
        assert_eq!((places(&all), all.has_array_beside()), (vec![4, 13, 14], false));
        assert_eq!((all.groups(), all.find("tau")), (4, Some((4, 9))));
        // The first one of a single number is beside the velocity, if that saves a group.
        let alone = lanes(true, &arrays[1..2]).unwrap();
        assert_eq!((places(&alone), alone.groups()), (vec![3], 1));
        let five = [arrays[1].clone(), FieldArray::new("q", 4)];
        let five = lanes(true, &five).unwrap();
        assert_eq!((places(&five), five.groups()), (vec![3, 4], 2));
        // There is a diffusivity, or a velocity of four numbers.
        let source = |has_diffusivity| Source(true, arrays.to_vec(), has_diffusivity, false);
        for (has_diffusivity, is_full, groups) in
            [(true, false, 4), (false, true, 4), (true, true, 5)]
        {
            let all = ArrayLanes::of(&source(has_diffusivity), is_full);
            assert_eq!((places(&all), all.has_array_beside()), (vec![4, 13, 14], false));
            assert_eq!((all.groups(), all.diffusivity_group()), (groups, groups / 5 * 4));
            assert_eq!(all.scaled_group(), None);
            let two = Source(true, arrays.to_vec(), has_diffusivity, true);
            let two = ArrayLanes::of(&two, is_full);
            assert_eq!((two.groups(), two.scaled_group()), (groups + 1, Some(4)));
            assert_eq!(two.diffusivity_group(), groups / 5 * 5);
        }
        let arrays = &arrays[1..];
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
