//! Data sets in memory, which are opened as files are.

use crate::store::{ScalarType, Span, Store, Variable};
use crate::values::Values;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The numbers of a variable of a [`DataSet`].
pub trait Numbers: Debug + Send + Sync {
    /// Reads a hyperslab, one span for each dimension, neither scaled nor masked. The last dimension varies fastest. May be called
    /// concurrently.
    ///
    /// # Errors
    ///
    /// Why the numbers cannot be read.
    fn read(&self, slab: &[Span]) -> std::result::Result<Values, String>;
}

/// A data set in memory: wherever a file can be opened, its [path](DataSet::path) stands for it as long as it lives.
///
/// Its variables have dimensions and attributes as those of NetCDF files, and their numbers are read when they are needed.
///
/// ```
/// use burntrace_cf::{DataSet, Dimension, Numbers, ScalarType, Span, Values, Variable, open};
///
/// #[derive(Debug)]
/// struct Depths(Vec<f32>);
///
/// impl Numbers for Depths {
///     fn read(&self, slab: &[Span]) -> Result<Values, String> {
///         let Span { start, count, step } = slab[0];
///         let numbers = self.0.iter().skip(start).step_by(step).take(count);
///         Ok(Values::F32(numbers.copied().collect()))
///     }
/// }
///
/// let depth = Variable {
///     name: "depth".into(),
///     dimensions: vec![Dimension { name: "depth".into(), len: 2 }],
///     scalar: Some(ScalarType::F32),
///     attributes: Vec::new(),
/// };
/// let data = DataSet::new("depths", vec![(depth, Box::new(Depths(vec![0.0, 5.0])))]);
/// assert_eq!(open(data.path())?.variables()[0].name, "depth");
/// # Ok::<(), burntrace_cf::Error>(())
/// ```
#[derive(Debug)]
pub struct DataSet {
    path: PathBuf,
}

/// A data set that is open.
#[derive(Debug)]
struct Memory {
    path: PathBuf,
    variables: Vec<Variable>,
    numbers: Vec<Box<dyn Numbers>>,
}

/// All data sets by their paths, and the number of those before.
static DATA_SETS: RwLock<(BTreeMap<PathBuf, Arc<Memory>>, usize)> =
    RwLock::new((BTreeMap::new(), 0));

impl DataSet {
    /// A data set of variables with their numbers. Messages call it by its name and a number.
    pub fn new(name: &str, variables: Vec<(Variable, Box<dyn Numbers>)>) -> DataSet {
        let (variables, numbers) = variables.into_iter().unzip();
        let mut all = DATA_SETS.write().unwrap_or_else(PoisonError::into_inner);
        all.1 += 1;
        // No file has such a name: `<` is refused by Windows, and nobody types it elsewhere.
        let path = PathBuf::from(format!("<{name} {}>", all.1));
        all.0.insert(path.clone(), Arc::new(Memory { path: path.clone(), variables, numbers }));
        DataSet { path }
    }

    /// The path that stands for the data set.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataSet {
    fn drop(&mut self) {
        let removed = {
            let mut all = DATA_SETS.write().unwrap_or_else(PoisonError::into_inner);
            all.0.remove(&self.path)
        };
        // What drops the numbers may make or drop other data sets.
        drop(removed);
    }
}

/// The data set with a path.
pub(crate) fn find(path: &Path) -> Option<Box<dyn Store>> {
    let all = DATA_SETS.read().unwrap_or_else(PoisonError::into_inner);
    all.0.get(path).map(|found| Box::new(found.clone()) as Box<dyn Store>)
}

impl Store for Arc<Memory> {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> &str {
        "data set in memory"
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn has_default_fill(&self, _: ScalarType) -> Option<bool> {
        Some(false)
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        let fail = |reason: String| Error::variable(&self.path, &variable.name, reason);
        let (_, count) = crate::store::check_slab(&self.path, variable, slab, u64::MAX)?;
        let index = self.variables.iter().position(|known| known.name == variable.name);
        let numbers = index.ok_or_else(|| fail("it is not in the data set".into()))?;
        let values = self.numbers[numbers].read(slab).map_err(fail)?;
        match values.len() == count {
            true => Ok(values),
            false => Err(fail(format!("{} values were read for {count}", values.len()))),
        }
    }
}
