//! Axes of a grid: coordinates in metres, or in degrees of longitude and latitude.

use crate::calendar::Reference;
use crate::degrees;
use crate::layout::{Layout, axis_of, dimensionless, is_depth};
use crate::packing::Packing;
use crate::store::{Store, Variable};
use crate::units::{Quantity, Unit};
use crate::{Error, Result};

/// Units of variables, and of those that have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitCheck {
    /// Variables without units, with what they must be.
    missing: Vec<(String, Quantity)>,
    /// The first variable that is converted, with its units.
    converted: Option<(String, String)>,
    /// Whether z is the opposite of the vertical coordinate.
    pub is_turned: bool,
    /// What is converted or assumed.
    pub notes: Vec<String>,
    /// Those of the notes that say how the file is read by its own attributes.
    pub conversions: Vec<String>,
}

impl UnitCheck {
    /// Notes a conversion by the attributes of the file.
    pub fn convert(&mut self, text: String) {
        self.conversions.push(text.clone());
        self.notes.push(text);
    }

    /// The unit of a variable; `None` if it has none.
    pub fn unit(
        &mut self,
        store: &dyn Store,
        variable: &Variable,
        quantity: Quantity,
    ) -> Result<Option<Unit>> {
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let Some(text) = variable.text("units").filter(|text| !text.is_empty()) else {
            self.missing.push((variable.name.clone(), quantity));
            return Ok(None);
        };
        let unit = quantity.unit(text).map_err(fail)?;
        if !unit.is_si() {
            let si = quantity.si();
            self.convert(format!("`{}` is converted from {text} to {si}", variable.name));
            self.converted.get_or_insert((variable.name.clone(), text.into()));
        }
        Ok(Some(unit))
    }

    /// Notes times from a date, which become seconds.
    pub fn note_time(&mut self, coordinate: &Variable, units: &str, reference: &Reference) {
        if !reference.is_in_seconds() {
            self.converted.get_or_insert((coordinate.name.clone(), units.into()));
        }
    }

    /// Refuses variables without units beside variables that are converted, and notes the others.
    pub fn check(&mut self, store: &dyn Store) -> Result<()> {
        self.check_with(store, self)?;
        let names: Vec<String> = self.missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        if !names.is_empty() {
            self.notes.push(format!("no units, and nothing converted: {}", names.join(", ")));
        }
        Ok(())
    }

    /// Refuses variables without units beside variables of this or another file that are converted.
    pub fn check_with(&self, store: &dyn Store, other: &UnitCheck) -> Result<()> {
        match (self.missing.first(), &other.converted) {
            (Some((first, quantity)), Some((converted, units))) => Err(Error::variable(
                store.path(),
                first,
                format!(
                    "it has no attribute `units`, and `{converted}` is converted from {units}; add it, as in \
                     `units = \"{}\"`",
                    quantity.si()
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// The nodes of the x, y and z axes in the order of the file, and whether x and y are in degrees. Others are in
/// metres. A flat axis has one node.
pub(crate) fn read(
    store: &dyn Store,
    variable: &Variable,
    layout: &Layout,
    units: &mut UnitCheck,
) -> Result<([Vec<f64>; 3], bool)> {
    let coordinates = [0, 1, 2].map(|d| {
        let named = layout.coordinates[d].as_deref().and_then(|name| store.find(name));
        named.or_else(|| scalar_coordinate(store, variable, d))
    });
    let [x, y, _] = coordinates;
    let is_in_degrees = degrees::are_axes(store, [x, y])?;
    let mut axes = [const { Vec::new() }; 3];
    for (d, axis) in axes.iter_mut().enumerate() {
        *axis = match coordinates[d] {
            Some(coordinate) if d < 2 && is_in_degrees => in_degrees(store, coordinate, d, units)?,
            Some(coordinate) => nodes(store, coordinate, d, units)?,
            None => vec![0.0],
        };
    }
    Ok((axes, is_in_degrees))
}

/// Continuous longitudes, or latitudes.
fn in_degrees(
    store: &dyn Store,
    coordinate: &Variable,
    axis: usize,
    units: &mut UnitCheck,
) -> Result<Vec<f64>> {
    let name = &coordinate.name;
    let fail = |reason: String| Error::variable(store.path(), name, reason);
    if coordinate.text("units").is_none_or(str::is_empty) {
        units
            .notes
            .push(format!("`{name}` has no `units`, and is in degrees by its `standard_name`"));
    }
    let packing = Packing::of(store, coordinate).map_err(fail)?;
    let decoded = packing.decode(store.read_all(coordinate)?, None).map_err(fail)?;
    let mut nodes = decoded.values.into_f64();
    if axis == 1 {
        degrees::check_latitudes(&mut nodes).map_err(fail)?;
    } else if let Some([from, to]) = degrees::make_continuous(&mut nodes) {
        let [first, last] = [nodes[0], nodes[nodes.len() - 1]];
        units.convert(format!(
            "`{name}` jumps from {from} to {to}, and is continued: it is read as {first} to {last}"
        ));
    }
    Ok(nodes)
}

/// The nodes of a coordinate variable in metres; z points upward.
pub(crate) fn nodes(
    store: &dyn Store,
    coordinate: &Variable,
    axis: usize,
    units: &mut UnitCheck,
) -> Result<Vec<f64>> {
    let fail = |reason: String| Error::variable(store.path(), &coordinate.name, reason);
    if let Some(standard) = dimensionless(coordinate) {
        return Err(fail(format!(
            "it is `{standard}`, which has no unit of length: the heights of its levels differ from place to \
             place; interpolate the variables to heights or depths first (`xgcm`, `cdo ml2hl`)"
        )));
    }
    let unit = units.unit(store, coordinate, Quantity::Length)?;
    let packing = Packing::of(store, coordinate).map_err(fail)?;
    let decoded = packing.decode(store.read_all(coordinate)?, unit).map_err(fail)?;
    let mut nodes = decoded.values.into_f64();
    if axis == 2 && points_downward(coordinate, &nodes, units).map_err(fail)? {
        nodes.iter_mut().for_each(|z| *z = -*z);
    }
    Ok(nodes)
}

/// Whether a coordinate is known to point upward by its standard name or its name.
fn is_upward(coordinate: &Variable) -> bool {
    let starts = |name: &str| {
        let known = ["height", "altitude", "elevation", "z"];
        known.iter().any(|start| name.to_ascii_lowercase().starts_with(start))
    };
    coordinate.text("standard_name").is_some_and(starts) || starts(&coordinate.name)
}

/// Whether a vertical coordinate is positive downward: by its attribute `positive`, or as a depth.
fn points_downward(
    coordinate: &Variable,
    nodes: &[f64],
    units: &mut UnitCheck,
) -> std::result::Result<bool, String> {
    let (name, is_depth) = (&coordinate.name, is_depth(coordinate));
    let positive = coordinate.text("positive").map(str::to_ascii_lowercase);
    match positive.as_deref() {
        Some("down") => units.convert(format!("`{name}` is positive downward: z = -{name}")),
        Some("up") if is_depth => {
            units.notes.push(format!("`{name}` is a depth, and positive upward by its attribute: z = {name}"));
        }
        Some("up") => {}
        Some(other) => {
            return Err(format!(
                "its attribute `positive` is {other:?}; correct it to \"up\" or \"down\""
            ));
        }
        None if is_depth && nodes.iter().all(|z| *z <= 0.0) && nodes.iter().any(|z| *z < 0.0) => {
            return Err(
                "it is a depth without the attribute `positive`, and its values are negative; set \
                        `positive` to \"up\" or \"down\""
                    .into(),
            );
        }
        None if is_depth => units.notes.push(format!(
            "`{name}` is a depth without the attribute `positive`, and taken as positive downward: z = -{name}"
        )),
        None if !is_upward(coordinate) => units.notes.push(format!(
            "`{name}` has no attribute `positive`, and is taken as positive upward: z = {name}"
        )),
        None => {}
    }
    units.is_turned = positive.map_or(is_depth, |positive| positive == "down");
    Ok(units.is_turned)
}

/// A coordinate without dimensions that the variable lists, such as the height of a plane.
fn scalar_coordinate<'a>(
    store: &'a dyn Store,
    variable: &Variable,
    axis: usize,
) -> Option<&'a Variable> {
    let listed = variable.text("coordinates")?.split_ascii_whitespace();
    let mut found = listed.filter_map(|name| store.find(name));
    found.find(|coordinate| {
        coordinate.scalar.is_some()
            && coordinate.dimensions.is_empty()
            && axis_of(coordinate) == Some(axis)
    })
}
