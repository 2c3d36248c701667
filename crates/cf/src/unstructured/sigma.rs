//! Heights of levels that follow the bottom, by sigma and the depth.

use super::levels::{Heights, Source, Surface, between};
use super::variable::OnMesh;
use crate::axis::UnitCheck;
use crate::layout::formula_term;
use crate::mesh::decode;
use crate::packing::Packing;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

const SIGMA: [&str; 3] = ["siglev", "siglay", "sigma"];
/// Standard names of sigma: that of CF, that of FVCOM, and none.
const STANDARD: [&str; 3] = ["ocean_sigma_coordinate", "ocean_sigma/general_coordinate", ""];
/// The standard name in files of SCHISM, which have the stretching `Cs`.
const STRETCHED: &str = "ocean_s_coordinate";
/// Rounding of sigma in single precision.
const ROUNDING: f64 = 1e-5;
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
        let fail = |reason: String| Error::variable(self.store.path(), &variable.name, reason);
        let packing = Packing::of(self.store, variable).map_err(fail)?.without_limits();
        let stored = self.store.read_all(variable)?;
        let sigma = packing.decode(stored, None).map_err(fail)?.values.into_f64();
        check(variable, &sigma).map_err(fail)?;
        let depths = self.depths(Some(variable))?;
        let mut stretching = Stretching::read(self.store, variable, sigma.len(), &depths)?;
        note(variable, &depths, units);
        let surface = match stretching.curve {
            None => Some(Surface { elevation: self.elevation(variable, units)? }),
            Some(_) => None,
        };
        if is_between {
            units.notes.push(format!("levels are midway between those of `{}`", variable.name));
            stretching.curve = stretching.curve.map(|curve| between(&curve, ENDS));
        }
        let (mut z, count) = (Vec::new(), depths.len() * self.count);
        z.try_reserve_exact(count).map_err(|_| {
            fail(format!(
                "the heights of {} levels at {} nodes need {} bytes of memory, which is not there; select some of the levels",
                self.count,
                depths.len(),
                count.saturating_mul(size_of::<f64>())
            ))
        })?;
        for (node, depth) in depths.iter().enumerate() {
            let at = |level: usize| match by_node {
                Some([of_level, of_node]) => sigma[level * of_level + node * of_node],
                None => sigma[level],
            };
            let own: Vec<f64> = match is_between {
                true => between(&(0..self.layers).map(at).collect::<Vec<_>>(), ENDS),
                false => (0..self.count).map(at).collect(),
            };
            let height =
                |(level, sigma): (usize, f64)| stretching.height(level, sigma, depth.max(0.0));
            z.extend(own.into_iter().enumerate().map(height));
        }
        match z.iter().all(|z| z.is_finite()) {
            true => Ok(Some(Heights { z, variables: vec![variable.name.clone()], surface })),
            false => Err(fail("it is missing at some nodes, and needed at all of them".into())),
        }
    }

    /// The height of the surface at the nodes, by `formula_terms` or its usual name.
    fn elevation(&self, sigma: &Variable, units: &mut UnitCheck) -> Result<Option<OnMesh>> {
        let term = formula_term(sigma, "eta");
        let names = term.into_iter().chain(["zeta"]);
        let found = names.filter_map(|name| self.store.find(name)).next();
        let Some(variable) = found else { return Ok(None) };
        let on_mesh = OnMesh::of(self.store, variable, self.topology)?;
        if on_mesh.is_on_faces || on_mesh.vertical.is_some() || on_mesh.components() > 1 {
            let name = &variable.name;
            units.notes.push(format!(
                "`{name}` is not used, and levels do not move: it is not at the nodes"
            ));
            return Ok(None);
        }
        units.unit(self.store, variable, Quantity::Length)?;
        Ok(Some(on_mesh))
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

    /// The depth of the bottom at the nodes, positive downward: named by the `formula_terms` of sigma, `h` or `depth`, or known by its
    /// standard name.
    pub fn depths(&self, sigma: Option<&Variable>) -> Result<Vec<f64>> {
        let nodes = self.topology.node_dimension.as_ref();
        let is_at_nodes =
            |of: &&Variable| matches!(of.dimensions.as_slice(), [only] if Some(only) == nodes);
        let term = sigma.and_then(|sigma| formula_term(sigma, "depth"));
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
            Some(positive) => positive.eq_ignore_ascii_case("up"),
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

/// The ends of levels between layers.
const ENDS: [f64; 2] = [0.0, -1.0];

fn note(sigma: &Variable, depths: &[f64], units: &mut UnitCheck) {
    let negative = depths.iter().filter(|depth| **depth < 0.0).count();
    if negative > 0 {
        units.notes.push(format!(
            "{negative} nodes are above the level of the sea; their depth is taken as 0"
        ));
    }
    let name = &sigma.name;
    units.notes.push(format!(
        "levels are those of `{name}` with the surface at z = 0, as in the sea at rest"
    ));
}

/// Refuses levels that are not sigma, from 0 at the surface to -1 at the bottom.
fn check(variable: &Variable, sigma: &[f64]) -> std::result::Result<(), String> {
    let standard = variable.text("standard_name").unwrap_or_default();
    if !STANDARD.contains(&standard) && standard != STRETCHED {
        return Err(format!(
            "it is `{standard}`; known are `{}`, and `{STRETCHED}` of SCHISM: give the heights of all levels at the nodes \
             as `zcor`, or correct its `standard_name`",
            STANDARD[0]
        ));
    }
    let is_outside = |sigma: &&f64| **sigma < -1.0 - ROUNDING || **sigma > ROUNDING;
    match sigma.iter().find(is_outside) {
        None => Ok(()),
        Some(sigma) => Err(format!(
            "it has the value {sigma}, and sigma is from 0 at the surface to -1 at the bottom; correct its values"
        )),
    }
}

/// The stretching of the levels of SCHISM, z = hc sigma + (h - hc) C where h > hc (Song and Haidvogel 1994); else
/// z = sigma h.
struct Stretching {
    critical: f64,
    curve: Option<Vec<f64>>,
}

impl Stretching {
    fn read(
        store: &dyn Store,
        sigma: &Variable,
        levels: usize,
        depths: &[f64],
    ) -> Result<Stretching> {
        let fail = |reason: String| Error::variable(store.path(), &sigma.name, reason);
        let Some(curve) = store.find("Cs").filter(|of| of.dimensions == sigma.dimensions) else {
            return match sigma.text("standard_name") {
                Some(STRETCHED) => Err(fail(format!(
                    "it is `{STRETCHED}`, which needs its stretching `Cs`, with the same dimensions; add it, or the \
                     heights of all levels as `zcor`"
                ))),
                _ => Ok(Stretching { critical: f64::INFINITY, curve: None }),
            };
        };
        let number = |names: [&str; 2]| -> Result<Option<f64>> {
            let Some(variable) = names.iter().find_map(|name| store.find(name)) else {
                return Ok(None);
            };
            let slab: Vec<Span> = variable.shape().iter().map(|_| Span::one(0)).collect();
            let values = decode(store, variable, &slab, None)?.values.into_f64();
            Ok(values.first().copied())
        };
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
        Ok(Stretching { critical, curve: Some(curve) })
    }

    fn height(&self, level: usize, sigma: f64, depth: f64) -> f64 {
        match self.curve.as_ref().and_then(|curve| curve.get(level)) {
            Some(curve) if depth > self.critical => {
                self.critical * sigma + (depth - self.critical) * curve
            }
            _ => sigma * depth,
        }
    }
}
