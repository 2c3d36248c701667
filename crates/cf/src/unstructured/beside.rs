//! A file with variables of another one beside its own.

use crate::Result;
use crate::store::{ScalarType, Span, Store, Variable};
use crate::values::Values;
use std::path::Path;

/// The variables of a file, and those of another one that it lacks.
#[derive(Debug)]
pub(super) struct Beside<'a> {
    own: &'a dyn Store,
    other: Box<dyn Store>,
    variables: Vec<Variable>,
}

impl<'a> Beside<'a> {
    pub fn new(own: &'a dyn Store, other: Box<dyn Store>) -> Beside<'a> {
        let lacks = |variable: &&Variable| own.find(&variable.name).is_none();
        let others = other.variables().iter().filter(lacks);
        let variables = own.variables().iter().chain(others).cloned().collect();
        Beside { own, other, variables }
    }
}

impl Store for Beside<'_> {
    fn path(&self) -> &Path {
        self.own.path()
    }

    fn format(&self) -> &str {
        self.own.format()
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        self.own.has_default_fill(scalar)
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        match self.own.find(&variable.name) {
            Some(_) => self.own.read(variable, slab),
            None => self.other.read(variable, slab),
        }
    }
}
