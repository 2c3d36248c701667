//! What the files of a series on one mesh have in common.

use crate::degrees::Angle;
use crate::directions::{DOWNWARD, points};
use crate::gather::{Gather, found};
use crate::layout::time_of;
use crate::mesh::CfMesh;
use crate::packing::Packing;
use crate::store::{ScalarType, Span, Store, Variable};
use crate::units::{Quantity, Unit};
use crate::values::Values;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What the first file of a series tells of its mesh, to compare other files with.
#[derive(Clone, Debug)]
pub struct MeshFingerprint {
    /// The variables of the mesh, with their quantities and dimensions of time.
    parts: Vec<(Variable, Option<Quantity>, Option<usize>)>,
    /// The variables of positions, levels and masks, with a digest of their values.
    positions: Vec<(Variable, u64)>,
}

impl CfMesh {
    /// What other files must have in common with the one that the mesh is of.
    ///
    /// # Errors
    ///
    /// If a variable is missing, or cannot be read.
    pub fn fingerprint(&self, store: &dyn Store) -> Result<MeshFingerprint> {
        let part = |of: &Gather| Ok((found(store, &of.variable)?.clone(), of.quantity, of.time));
        let in_file = self.positions.iter().filter_map(|name| store.find(name));
        let position = |variable: &Variable| Ok((variable.clone(), digest(store, variable)?));
        Ok(MeshFingerprint {
            parts: self.parts().map(part).collect::<Result<_>>()?,
            positions: in_file.map(position).collect::<Result<_>>()?,
        })
    }

    /// Adds to the variables of positions those without times that were read of a file.
    pub(crate) fn add_positions(&mut self, read: Recorder) {
        let Recorder { store, names } = read;
        let is_of_part = |name: &String| self.parts().any(|part| part.variable == *name);
        let is_fixed = |name: &&String| {
            store.find(name).is_some_and(|variable| time_of(store, variable).0.is_none())
        };
        let names = names.into_inner().unwrap_or_else(PoisonError::into_inner);
        let others = names.iter().filter(|name| !is_of_part(name)).filter(is_fixed);
        let others: Vec<String> =
            others.filter(|name| !self.positions.contains(name)).cloned().collect();
        self.positions.extend(others);
    }
}

impl MeshFingerprint {
    /// How another file differs from the first one, to follow its name in a message: in the dimensions, the units
    /// or the direction of a variable of the mesh, or in positions, levels or masks; `None` if it does not.
    ///
    /// # Errors
    ///
    /// If a variable is missing, or cannot be read.
    pub fn difference(&self, other: &dyn Store) -> Result<Option<String>> {
        for (own, quantity, time) in &self.parts {
            let others = found(other, &own.name)?;
            let sizes = own.dimensions.iter().zip(&others.dimensions).enumerate();
            let mut same = sizes.map(|(d, (a, b))| Some(d) == *time || a == b);
            if own.dimensions.len() != others.dimensions.len() || !same.all(|is_same| is_same) {
                return Ok(Some(format!("its {others} has other dimensions than {own}")));
            }
            let name = &own.name;
            let is_speed = *quantity == Some(Quantity::Speed);
            if is_speed && points(own, DOWNWARD) != points(others, DOWNWARD) {
                return Ok(Some(format!(
                    "`{name}` is downward in one of them, and upward in the other, by `standard_name` and `positive`"
                )));
            }
            if quantity.is_some() && lacks_units(own, others) {
                return Ok(Some(format!(
                    "`{name}` is converted in one of them, and lacks `units` in the other"
                )));
            }
        }
        for (own, digest_of_own) in &self.positions {
            let name = &own.name;
            let Some(others) = other.find(name) else { continue };
            if let Some(attribute) = other_attribute(own, others) {
                return Ok(Some(format!("its `{name}` has other `{attribute}`")));
            }
            let is_same = own.dimensions.len() == others.dimensions.len()
                && digest(other, others)? == *digest_of_own;
            if !is_same {
                return Ok(Some(format!("its `{name}` has other values")));
            }
        }
        Ok(None)
    }
}

/// An attribute that is not empty.
fn given<'a>(variable: &'a Variable, name: &str) -> Option<&'a str> {
    variable.text(name).filter(|text| !text.is_empty())
}

/// Whether one of two variables has no units, and the other is converted.
fn lacks_units(own: &Variable, other: &Variable) -> bool {
    match [own, other].map(|of| given(of, "units")) {
        [Some(text), None] | [None, Some(text)] => Unit::parse(text).is_some_and(|of| !of.is_si()),
        _ => false,
    }
}

/// An attribute that tells other positions by the same numbers.
fn other_attribute(own: &Variable, other: &Variable) -> Option<&'static str> {
    let both = |name: &str| given(own, name).zip(given(other, name));
    let meaning = |text: &str| (Unit::parse(text), Angle::of(text));
    if lacks_units(own, other) || both("units").is_some_and(|(a, b)| meaning(a) != meaning(b)) {
        return Some("units");
    }
    let is_other = |name: &&str| both(name).is_some_and(|(a, b)| !a.eq_ignore_ascii_case(b));
    ["positive", "standard_name"].into_iter().find(is_other)
}

/// A digest of the decoded values of a variable, at the first time.
fn digest(store: &dyn Store, variable: &Variable) -> Result<u64> {
    let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
    let (time, _) = time_of(store, variable);
    let sizes = variable.dimensions.iter().enumerate();
    let slab = sizes.map(|(d, of)| if Some(d) == time { Span::one(0) } else { Span::all(of.len) });
    let slab: Vec<Span> = slab.collect();
    let packing = Packing::of(store, variable).map_err(fail)?.without_limits();
    let values = packing.decode(store.read(variable, &slab)?, None).map_err(fail)?.values;
    let mut hasher = DefaultHasher::new();
    slab.iter().for_each(|span| span.count.hash(&mut hasher));
    for i in 0..values.len() {
        let value = values.at(i);
        // All of those that are not numbers are equal, and so are 0 and -0.
        let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
        value.to_bits().hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// A file that records which of its variables are read.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    store: &'a dyn Store,
    names: Mutex<BTreeSet<String>>,
}

impl<'a> Recorder<'a> {
    pub fn new(store: &'a dyn Store) -> Recorder<'a> {
        Recorder { store, names: Mutex::default() }
    }
}

impl Store for Recorder<'_> {
    fn path(&self) -> &Path {
        self.store.path()
    }

    fn format(&self) -> &str {
        self.store.format()
    }

    fn variables(&self) -> &[Variable] {
        self.store.variables()
    }

    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        self.store.has_default_fill(scalar)
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(variable.name.clone());
        drop(names);
        self.store.read(variable, slab)
    }
}
