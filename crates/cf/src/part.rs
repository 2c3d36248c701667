//! A variable of a grid and how it is decoded.

use crate::axis::UnitCheck;
use crate::choose::choice;
use crate::directions::{DOWNWARD, points};
use crate::kinds;
use crate::layout::{Layout, Role};
use crate::packing::{Decoded, Packing};
use crate::store::{Span, Store, Variable};
use crate::strided::{Run, strides};
use crate::units::{Quantity, Unit};
use crate::{Error, Result};

/// A variable and how it is decoded.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub variable: Variable,
    pub layout: Layout,
    pub packing: Packing,
    unit: Option<Unit>,
    /// Whether the sign is changed.
    pub is_negated: bool,
}

impl Part {
    /// A variable that is converted to the unit of a quantity, if there is one.
    pub fn of(
        store: &dyn Store,
        name: &str,
        quantity: Option<Quantity>,
        units: &mut UnitCheck,
    ) -> Result<Part> {
        let variable = store.find(name);
        let variable =
            variable.ok_or_else(|| choice(store, format!("it has no variable `{name}`")))?;
        let fail = |reason: String| Error::variable(store.path(), name, reason);
        let packing = Packing::of(store, variable).map_err(fail)?;
        let layout = Layout::of(store, variable);
        let layout = layout.map_err(|error| kinds::error(store).unwrap_or(error))?;
        let unit = match quantity {
            Some(quantity) => units.unit(store, variable, quantity)?,
            None => None,
        };
        if quantity == Some(Quantity::Diffusivity) && layout.components(variable) != 1 {
            return Err(fail("it has components, and a diffusivity has 1".into()));
        }
        let is_negated = quantity == Some(Quantity::Speed) && points(variable, DOWNWARD);
        if is_negated {
            units.convert(format!("`{name}` is downward: w = -{name}"));
        }
        Ok(Part { variable: variable.clone(), layout, packing, unit, is_negated })
    }

    /// Refuses a variable on other axes or times, and notes the axes on which it does not depend.
    pub fn check_same_grid(
        &self,
        store: &dyn Store,
        other: &Part,
        units: &mut UnitCheck,
    ) -> Result<()> {
        let (name, first) = (&other.variable.name, &self.variable.name);
        let fail = |reason: String| Err(Error::variable(store.path(), name, reason));
        let mut lacks = Vec::new();
        for (d, axis) in ["x", "y", "z"].into_iter().enumerate() {
            match (&self.layout.coordinates[d], &other.layout.coordinates[d]) {
                (own, others) if own == others => {}
                (Some(_), None) => lacks.push(axis),
                (own, others) => {
                    let reason = other_axis(axis, others.as_ref(), (first, own.as_ref()));
                    return kinds::error(store).map_or_else(|| fail(reason), Err);
                }
            }
        }
        match (&self.layout.time, &other.layout.time) {
            (own, others) if own == others => {}
            (Some(_), None) => lacks.push("time"),
            _ => return fail(format!("its dimension of time is not that of `{first}`")),
        }
        if !lacks.is_empty() {
            let lacks = lacks.join(", ");
            units
                .notes
                .push(format!("`{name}` does not depend on {lacks}: it is the same along it"));
        }
        Ok(())
    }

    /// Reads the decoded values of one time, in the order of the dimensions.
    pub fn read(&self, store: &dyn Store, time: usize, ranges: [Span; 3]) -> Result<Decoded> {
        let slab: Vec<Span> = self
            .layout
            .roles
            .iter()
            .zip(&self.variable.dimensions)
            .map(|(role, dimension)| match role {
                Role::Space(axis) => ranges[*axis],
                Role::Time => Span::one(time),
                Role::Component => Span::all(dimension.len),
                Role::Single => Span::one(0),
            })
            .collect();
        let fail = |reason| Error::variable(store.path(), &self.variable.name, reason);
        let stored = store.read(&self.variable, &slab)?;
        let mut decoded = self.packing.decode(stored, self.unit).map_err(fail)?;
        if self.is_negated {
            decoded.values = decoded.values.map(|x| -x);
        }
        Ok(decoded)
    }

    /// The copy from the order of the dimensions to nodes with `width` numbers; x varies fastest.
    pub fn runs(&self, counts: [usize; 3], width: usize) -> Vec<Run> {
        let to = [width, width * counts[0], width * counts[0] * counts[1]];
        let size = |(role, dimension): (&Role, &crate::Dimension)| match role {
            Role::Space(axis) => (counts[*axis], to[*axis]),
            Role::Component => (dimension.len, 1),
            Role::Time | Role::Single => (1, 0),
        };
        let sizes: Vec<(usize, usize)> =
            self.layout.roles.iter().zip(&self.variable.dimensions).map(size).collect();
        let shape: Vec<usize> = sizes.iter().map(|(count, _)| *count).collect();
        let runs = sizes.iter().zip(strides(&shape));
        let runs = runs.map(|(&(count, to), from)| Run { count, to, from });
        // The same value at all nodes of an axis that the variable does not have.
        let others = (0..3).filter(|axis| !self.layout.roles.contains(&Role::Space(*axis)));
        others.map(|axis| Run { count: counts[axis], to: to[axis], from: 0 }).chain(runs).collect()
    }
}

fn other_axis(axis: &str, found: Option<&String>, (first, own): (&str, Option<&String>)) -> String {
    let [found, own] =
        [found, own].map(|axis| axis.map_or("none".into(), |axis| format!("`{axis}`")));
    format!(
        "its {axis} axis is {found}, and that of `{first}` is {own}, as on a staggered grid; set \
         `field.interpolation = \"mesh\"`, with `staggering = \"c\"` and a `convention`, or interpolate them to one grid first \
         (in xarray with `ds.interp` or `xgcm`)"
    )
}
