//! The components of a velocity in files of their own.

use crate::store::{ScalarType, Span, Store, Variable};
use crate::values::Values;
use crate::{Error, Result, open};
use std::path::{Path, PathBuf};

/// Several files that are read as one: a variable is that of the first file that has one of its name.
#[derive(Debug)]
struct Joined {
    stores: Vec<Box<dyn Store>>,
    variables: Vec<Variable>,
    /// The file of each variable.
    of: Vec<usize>,
}

/// Opens files with a component each as one file.
///
/// # Errors
///
/// If a file cannot be opened, or an axis or the times of two files have one name and other values.
pub fn open_joined(paths: &[PathBuf]) -> Result<Box<dyn Store>> {
    let mut stores = Vec::with_capacity(paths.len());
    for path in paths {
        stores.push(open(path)?);
    }
    let mut joined = Joined { stores: Vec::new(), variables: Vec::new(), of: Vec::new() };
    for store in stores {
        joined.add(store)?;
    }
    match joined.stores.is_empty() {
        false => Ok(Box::new(joined)),
        true => Err(Error::file(Path::new(""), "no file is given; give one for each component")),
    }
}

impl Joined {
    fn add(&mut self, store: Box<dyn Store>) -> Result<()> {
        for variable in store.variables() {
            match self.variables.iter().position(|known| known.name == variable.name) {
                Some(known) => self.check_same(known, &*store, variable)?,
                None => {
                    self.variables.push(variable.clone());
                    self.of.push(self.stores.len());
                }
            }
        }
        self.stores.push(store);
        Ok(())
    }

    /// Refuses an axis that differs between the files.
    fn check_same(&self, known: usize, store: &dyn Store, variable: &Variable) -> Result<()> {
        let first = &self.variables[known];
        let own = &*self.stores[self.of[known]];
        let is_axis =
            matches!(variable.dimensions.as_slice(), [only] if only.name == variable.name);
        if !is_axis || variable.scalar.is_none() || first.scalar.is_none() {
            return Ok(());
        }
        let is_same = first.dimensions == variable.dimensions
            && first.text("units") == variable.text("units")
            && own.read_all(first)?.into_f64() == store.read_all(variable)?.into_f64();
        match is_same {
            true => Ok(()),
            false => Err(Error::variable(
                store.path(),
                &variable.name,
                format!(
                    "it differs from that of `{}`, which has another component; give files of the same times and levels, \
                     one for one, and rename the axes of different grids",
                    own.path().display()
                ),
            )),
        }
    }
}

impl Store for Joined {
    fn path(&self) -> &Path {
        self.stores[0].path()
    }

    fn format(&self) -> &str {
        self.stores[0].format()
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        self.stores[0].has_default_fill(scalar)
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        let found = self.variables.iter().position(|known| known.name == variable.name);
        let store = found.map_or(0, |found| self.of[found]);
        self.stores[store].read(variable, slab)
    }
}
