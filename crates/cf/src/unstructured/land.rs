//! Land: cells without a velocity at the first time, or by a mask.

use super::levels::Levels;
use super::topology::Topology;
use super::variable::OnMesh;
use crate::axis::UnitCheck;
use crate::mesh::found;
use crate::model::MeshRequest;
use crate::packing::Decoded;
use crate::store::Store;
use crate::{Error, Result};

/// Whether nodes or faces are dry at times.
const WET: [&str; 6] =
    ["wet_cells", "wet_nodes", "wetdry_elem", "wetdry_node", "dryFlagElement", "dryFlagNode"];

/// What tells land.
pub(super) struct Land<'a> {
    pub store: &'a dyn Store,
    pub topology: &'a Topology,
    pub levels: Option<&'a Levels>,
    /// The first component of the velocity.
    pub first: &'a OnMesh,
    pub request: &'a MeshRequest,
}

impl Land<'_> {
    /// Whether cells are dry at times, where velocities are missing.
    pub fn dries(&self) -> bool {
        let follows_bottom = self.levels.is_some_and(|levels| !levels.are_flat);
        follows_bottom || WET.iter().any(|name| self.store.find(name).is_some())
    }

    /// Whether each cell is land, layer by layer from the bottom upward: by a mask that is 0 or missing there, by the
    /// value of land, or without one of `values`, those of the first time, where levels are flat and the file does not
    /// tell which cells are wet. A cell is land by values at nodes if all its nodes are.
    ///
    /// # Errors
    ///
    /// If the mask is missing or not on the mesh.
    pub fn find(&self, values: Decoded, units: &mut UnitCheck) -> Result<Vec<bool>> {
        let layers = self.levels.map_or(1, |levels| levels.count - 1);
        let mut is_land = vec![false; layers * self.topology.triangles.len()];
        let wet = WET.iter().find(|name| self.store.find(name).is_some());
        if let Some(wet) = wet {
            units.notes.push(format!(
                "`{wet}` is not used: velocities in dry cells are those of the file, and 0 where they are missing"
            ));
        } else if self.dries() && values.missing.is_some() {
            let note = "velocities that are missing are those of dry cells, and 0";
            units.notes.push(note.into());
        }
        let land_value = self.request.land_value;
        if land_value.is_some() || !self.dries() {
            let flags = flags(values, land_value);
            self.add(&mut is_land, self.first, &flags);
        }
        if let Some((name, path)) = &self.request.mask {
            let opened = path.as_ref().map(crate::open).transpose()?;
            let store = opened.as_deref().unwrap_or(self.store);
            let mask = OnMesh::of(store, found(store, name)?, self.topology)?;
            if mask.vertical.is_some() && mask.levels() != self.first.levels() {
                let reason = format!(
                    "{}, as a mask, has other layers than {}; give one of these, or without layers",
                    mask.variable, self.first.variable
                );
                return Err(Error::variable(store.path(), name, reason));
            }
            let flags = flags(mask.first(store, None)?, Some(0.0));
            self.add(&mut is_land, &mask, &flags);
        }
        let count = is_land.iter().filter(|is_land| **is_land).count();
        if count > 0 {
            units.convert(format!("{count} of {} cells are land, and left out", is_land.len()));
        }
        Ok(is_land)
    }

    /// Adds the cells that are land by a flag of each value of a variable.
    fn add(&self, is_land: &mut [bool], of: &OnMesh, flags: &[bool]) {
        let count = self.topology.triangles.len();
        let at = |place: u32, level: usize| {
            let levels = self.levels.filter(|_| of.vertical.is_some());
            let level = levels.map_or(0, |levels| levels.in_file(level, of.levels()));
            flags[of.index(place, level) as usize]
        };
        let above = if self.levels.is_some() { 2 } else { 1 };
        for (cell, is_land) in is_land.iter_mut().enumerate() {
            let (layer, triangle) = (cell / count, cell % count);
            let nodes = &self.topology.triangles[triangle];
            *is_land |= match of.is_on_faces {
                true => at(self.topology.faces[triangle], layer),
                false => {
                    (layer..layer + above).all(|level| nodes.iter().all(|node| at(*node, level)))
                }
            };
        }
    }
}

fn flags(decoded: Decoded, land: Option<f64>) -> Vec<bool> {
    let values = decoded.values.into_f64().into_iter().enumerate();
    let missing = decoded.missing;
    let is_land = |(i, value): (usize, f64)| {
        value.is_nan() || Some(value) == land || missing.as_ref().is_some_and(|of| of[i])
    };
    values.map(is_land).collect()
}
