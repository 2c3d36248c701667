//! Arrays of a field beside its velocity, for example a temperature.

use burn::tensor::Tensor;

/// An array of numbers at the nodes or in the cells of a field, or along tracks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldArray {
    /// Its name.
    pub name: String,
    /// Numbers at each node or cell, or for each particle: 1 for a scalar, 3 for a vector, 9 for a
    /// tensor.
    pub components: usize,
}

impl FieldArray {
    /// An array of a name and a number of components.
    pub fn new(name: impl Into<String>, components: usize) -> Self {
        FieldArray { name: name.into(), components }
    }
}

/// The quantities of a field at `n` positions, made by [`Field::sample`](crate::Field::sample).
#[derive(Clone, Debug)]
pub struct Samples {
    /// Velocity `[n, 3]`, if the field has one.
    pub velocity: Option<Tensor<2>>,
    /// The arrays `[n, components]`, in the field's order.
    pub arrays: Vec<(FieldArray, Tensor<2>)>,
}

impl Samples {
    /// The values `[n, components]` of the array of this name, if there is one.
    pub fn array(&self, name: &str) -> Option<Tensor<2>> {
        let found = self.arrays.iter().find(|(array, _)| array.name == name);
        found.map(|(_, values)| values.clone())
    }
}
