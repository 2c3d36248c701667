//! Several files that are read as one.

use crate::mesh::decode;
use crate::store::{ScalarType, Span, Store, Variable};
use crate::values::Values;
use crate::{Error, Result, open};
use std::fmt::Debug;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Several files that are read as one: a variable is that of the first file that has one of its name.
#[derive(Debug)]
pub(crate) struct Joined<S> {
    stores: Vec<S>,
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
    let stores = paths.iter().map(open).collect::<Result<Vec<_>>>()?;
    if stores.is_empty() {
        let reason = "no file is given; give one for each component";
        return Err(Error::file(Path::new(""), reason));
    }
    let joined = Joined::of(stores);
    joined.check_axes()?;
    Ok(Box::new(joined))
}

/// Attributes that tell the meaning of the numbers of an axis.
const MEANING: [&str; 3] = ["units", "calendar", "positive"];

impl<S: Deref<Target: Store>> Joined<S> {
    /// One or more files as one.
    pub fn of(stores: Vec<S>) -> Joined<S> {
        let (mut variables, mut of): (Vec<Variable>, _) = (Vec::new(), Vec::new());
        for (number, store) in stores.iter().enumerate() {
            for variable in store.variables() {
                if variables.iter().all(|known| known.name != variable.name) {
                    variables.push(variable.clone());
                    of.push(number);
                }
            }
        }
        Joined { stores, variables, of }
    }

    /// The file that has a variable, and its number.
    fn file(&self, name: &str) -> (usize, &S::Target) {
        let known = self.variables.iter().position(|known| known.name == name);
        let number = known.map_or(0, |known| self.of[known]);
        (number, &*self.stores[number])
    }
}

impl Joined<Box<dyn Store>> {
    /// Refuses an axis that differs between the files.
    fn check_axes(&self) -> Result<()> {
        for (number, store) in self.stores.iter().enumerate() {
            for variable in store.variables() {
                let (first, own) = self.file(&variable.name);
                if first < number && !is_same_axis(own, &**store, variable)? {
                    return Err(Error::variable(
                        store.path(),
                        &variable.name,
                        format!(
                            "it differs from that of `{}`, which has another component; give files of the same times and \
                             levels, one for one, and rename the axes of different grids",
                            own.path().display()
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Whether two files have the same variable, if it is an axis.
fn is_same_axis(own: &dyn Store, other: &dyn Store, variable: &Variable) -> Result<bool> {
    let Some(first) = own.find(&variable.name) else { return Ok(true) };
    let is_axis = matches!(variable.dimensions.as_slice(), [only] if only.name == variable.name);
    if !is_axis || variable.scalar.is_none() || first.scalar.is_none() {
        return Ok(true);
    }
    let has_same = |name: &&str| first.text(name) == variable.text(name);
    if first.dimensions != variable.dimensions || !MEANING.iter().all(has_same) {
        return Ok(false);
    }
    let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
    let values = decode(own, first, &slab, None)?.values.into_f64();
    let others = decode(other, variable, &slab, None)?.values.into_f64();
    Ok(values.iter().zip(&others).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())))
}

impl<S: Deref<Target: Store> + Debug + Send + Sync> Store for Joined<S> {
    fn path(&self) -> &Path {
        self.stores[0].path()
    }

    fn format(&self) -> &str {
        self.stores[0].format()
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Not told where the files differ.
    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        let mut all = self.stores.iter().map(|store| store.has_default_fill(scalar));
        let first = all.next().flatten();
        first.filter(|_| all.all(|other| other == first))
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        self.file(&variable.name).1.read(variable, slab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Attribute;

    /// A file of one axis with a scale, which tells whether numbers have the default fill value.
    #[derive(Debug)]
    struct Axis {
        variables: Vec<Variable>,
        values: Vec<f64>,
        fills: bool,
    }

    fn axis(values: &[f64], scale: f64, fills: bool) -> Box<dyn Store> {
        let dimensions = vec![crate::Dimension { name: "t".into(), len: values.len() }];
        let scale = Attribute::Numbers(ScalarType::F64, vec![scale]);
        let attributes = vec![("scale_factor".into(), scale)];
        let (name, scalar) = ("t".into(), Some(ScalarType::F64));
        let variables = vec![Variable { name, dimensions, scalar, attributes }];
        Box::new(Axis { variables, values: values.to_vec(), fills })
    }

    impl Store for Axis {
        fn path(&self) -> &Path {
            Path::new("axis.nc")
        }

        fn format(&self) -> &str {
            "a test"
        }

        fn variables(&self) -> &[Variable] {
            &self.variables
        }

        fn has_default_fill(&self, _: ScalarType) -> Option<bool> {
            Some(self.fills)
        }

        fn read(&self, _: &Variable, _: &[Span]) -> Result<Values> {
            Ok(Values::F64(self.values.clone()))
        }
    }

    #[test]
    fn axes_are_the_same_by_their_decoded_numbers() {
        let is_same = |a, b| Joined::of(vec![a, b]).check_axes().is_ok();
        let nan = f64::NAN;
        assert!(is_same(axis(&[1.0, nan], 2.0, false), axis(&[1.0, nan], 2.0, false)));
        assert!(is_same(axis(&[1.0, 2.0], 4.0, false), axis(&[2.0, 4.0], 2.0, false)));
        assert!(!is_same(axis(&[1.0, 2.0], 2.0, false), axis(&[1.0, 2.0], 3.0, false)));
        assert!(!is_same(axis(&[1.0, 2.0], 2.0, false), axis(&[1.0, 3.0], 2.0, false)));
    }

    #[test]
    fn the_default_fill_is_not_told_where_files_differ() {
        let of = |fills: [bool; 2]| {
            let stores = fills.map(|fills| axis(&[1.0], 1.0, fills)).into();
            Joined::of(stores).has_default_fill(ScalarType::F32)
        };
        assert_eq!([[true; 2], [false; 2]].map(of), [Some(true), Some(false)]);
        assert_eq!([of([true, false]), of([false, true])], [None, None]);
    }
}
