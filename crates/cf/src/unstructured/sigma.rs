//! Heights of levels that follow the bottom, by sigma and the depth.

use super::levels::{Heights, Source, between};
use crate::axis::UnitCheck;
use crate::mesh::decode;
use crate::packing::Packing;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

const SIGMA: [&str; 3] = ["siglev", "siglay", "sigma"];
/// The depth of the bottom.
const DEPTH: [&str; 2] = ["h", "depth"];

impl Source<'_> {
    /// z by sigma, from 0 at the surface to -1 at the bottom, and the depth of the bottom; of SCHISM, with its stretching.
    pub fn sigma(&self, units: &mut UnitCheck) -> Result<Option<Heights>> {
        let is_sigma = |of: &&Variable| {
            let standard = of.text("standard_name").unwrap_or_default();
            SIGMA.contains(&of.name.as_str()) || standard.starts_with("ocean_sigma")
        };
        let all = || self.store.variables().iter().filter(is_sigma);
        let with = |levels: usize| all().find_map(|of| Some((of, self.sigma_layout(of, levels)?)));
        let (variable, by_node, is_between) = match (with(self.count), with(self.layers)) {
            (Some((of, by_node)), _) => (of, by_node, false),
            (None, Some((of, by_node))) => (of, by_node, true),
            (None, None) => return Ok(None),
        };
        let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
        let stored = self.store.read(variable, &slab)?;
        let fail = |reason: String| Error::variable(self.store.path(), &variable.name, reason);
        let packing = Packing::of(self.store, variable).map_err(fail)?.without_limits();
        let sigma = packing.decode(stored, None).map_err(fail)?.values.into_f64();
        let depths = self.depths(variable.text("formula_terms"))?;
        let stretching = Stretching::read(self.store, variable, sigma.len(), &depths)?;
        let negative = depths.iter().filter(|depth| **depth < 0.0).count();
        if negative > 0 {
            units.notes.push(format!(
                "{negative} nodes are above the level of the sea; their depth is taken as 0"
            ));
        }
        units.notes.push(format!(
            "levels are those of `{}` with the surface at z = 0, and do not move",
            variable.name
        ));
        if is_between {
            units.notes.push(format!("levels are midway between those of `{}`", variable.name));
        }
        let mut z = Vec::with_capacity(depths.len() * self.count);
        for (node, depth) in depths.iter().enumerate() {
            let at = |level: usize| match by_node {
                Some([of_level, of_node]) => sigma[level * of_level + node * of_node],
                None => sigma[level],
            };
            let own: Vec<f64> = match is_between {
                true => between(&(0..self.layers).map(at).collect::<Vec<_>>(), [0.0, -1.0]),
                false => (0..self.count).map(at).collect(),
            };
            let height =
                |(level, sigma): (usize, f64)| stretching.height(level, sigma, depth.max(0.0));
            z.extend(own.into_iter().enumerate().map(height));
        }
        match z.iter().all(|z| z.is_finite()) {
            true => Ok(Some((z, vec![variable.name.clone()]))),
            false => Err(fail("it is missing at some nodes, and needed at all of them".into())),
        }
    }

    /// The strides of level and node, of a variable at nodes; `Some(None)` of one that depends on the level only.
    fn sigma_layout(&self, variable: &Variable, levels: usize) -> Option<Option<[usize; 2]>> {
        let nodes = self.topology.node_dimension.as_ref();
        match variable.dimensions.as_slice() {
            [only] if only.len == levels => Some(None),
            [level, node] if level.len == levels && Some(node) == nodes => {
                Some(Some([node.len, 1]))
            }
            [node, level] if level.len == levels && Some(node) == nodes => {
                Some(Some([1, level.len]))
            }
            _ => None,
        }
    }

    /// The depth of the bottom at the nodes, positive downward: named by `formula_terms`, `h` or `depth`, or known by its
    /// standard name.
    pub fn depths(&self, terms: Option<&str>) -> Result<Vec<f64>> {
        let nodes = self.topology.node_dimension.as_ref();
        let is_at_nodes =
            |of: &&Variable| matches!(of.dimensions.as_slice(), [only] if Some(only) == nodes);
        let mut words = terms.unwrap_or_default().split_ascii_whitespace();
        let term = words.find(|word| *word == "depth:").and_then(|_| words.next());
        let named = term.into_iter().chain(DEPTH).filter_map(|name| self.store.find(name));
        let standard = |of: &&Variable| {
            let standard = of.text("standard_name").unwrap_or_default();
            standard.starts_with("sea_floor_depth_below") || standard == "altitude"
        };
        let found = named.chain(self.store.variables().iter().filter(standard)).find(is_at_nodes);
        let missing = || {
            let reason = "it has no depth of the bottom at the nodes of its mesh (`h`, `depth`, or a `standard_name` such as \
                          `sea_floor_depth_below_geoid`), which heights of its levels need";
            Error::file(self.store.path(), reason)
        };
        let variable = found.ok_or_else(missing)?;
        let slab = [Span::all(self.topology.nodes.len())];
        let decoded = decode(self.store, variable, &slab, Some(Quantity::Length))?;
        let is_upward = match variable.text("positive") {
            Some(positive) => positive == "up",
            None => variable.text("standard_name") == Some("altitude"),
        };
        let sign = if is_upward { -1.0 } else { 1.0 };
        let depths = decoded.values.into_f64().into_iter().map(|depth| sign * depth);
        let depths: Vec<f64> = depths.collect();
        match depths.iter().all(|depth| depth.is_finite()) {
            true => Ok(depths),
            false => {
                let reason = "the depth is missing at some nodes, and needed at all of them";
                Err(Error::variable(self.store.path(), &variable.name, reason))
            }
        }
    }
}

/// The stretching of the levels of SCHISM, z = hc sigma + (h - hc) C where h > hc (Song and Haidvogel 1994); else
/// z = sigma h.
struct Stretching {
    critical: f64,
    curve: Vec<f64>,
}

impl Stretching {
    fn read(
        store: &dyn Store,
        sigma: &Variable,
        levels: usize,
        depths: &[f64],
    ) -> Result<Stretching> {
        let none = Stretching { critical: f64::INFINITY, curve: Vec::new() };
        let Some(curve) = store.find("Cs").filter(|of| of.dimensions == sigma.dimensions) else {
            return Ok(none);
        };
        let number = |names: [&str; 2]| -> Result<Option<f64>> {
            let Some(variable) = names.iter().find_map(|name| store.find(name)) else {
                return Ok(None);
            };
            let slab: Vec<Span> = variable.shape().iter().map(|_| Span::one(0)).collect();
            let values = decode(store, variable, &slab, None)?.values.into_f64();
            Ok(values.first().copied())
        };
        let fail = |reason: String| Error::variable(store.path(), &sigma.name, reason);
        let critical = number(["sigma_h_c", "h_c"])?;
        let critical = critical.ok_or_else(|| {
            fail(
                "it has the stretching `Cs`, and no critical depth `sigma_h_c`; add it, or `zcor`"
                    .into(),
            )
        })?;
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        if let Some(limit) = number(["sigma_maxdepth", "h_s"])?.filter(|limit| *limit < deepest) {
            return Err(fail(format!(
                "its levels end at {limit} m, and the bottom is at {deepest} m: give the heights of all levels as `zcor`"
            )));
        }
        let curve = decode(store, curve, &[Span::all(levels)], None)?.values.into_f64();
        Ok(Stretching { critical, curve })
    }

    fn height(&self, level: usize, sigma: f64, depth: f64) -> f64 {
        match self.curve.get(level) {
            Some(curve) if depth > self.critical => {
                self.critical * sigma + (depth - self.critical) * curve
            }
            _ => sigma * depth,
        }
    }
}
