//! Land: cells without a velocity at the first time, or by a mask.

use super::levels::Levels;
use super::parts::Parts;
use super::topology::Topology;
use super::variable::OnMesh;
use crate::axis::UnitCheck;
use crate::gather::{found, land_flags};
use crate::model::MeshRequest;
use crate::packing::Decoded;
use crate::store::Store;
use crate::units::Quantity;
use crate::{Error, Result};

/// Whether nodes or faces are dry at times.
const WET: [&str; 6] =
    ["wet_cells", "wet_nodes", "wetdry_elem", "wetdry_node", "dryFlagElement", "dryFlagNode"];

/// What tells land.
pub(super) struct Land<'a> {
    pub store: &'a dyn Store,
    pub topology: &'a Topology,
    pub levels: Option<&'a Levels>,
    pub parts: &'a Parts,
    /// The variable whose places are those of the mesh.
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
        let wet = WET.iter().find(|name| self.store.find(name).is_some());
        if let Some(wet) = wet {
            units.notes.push(format!(
                "`{wet}` is not used: velocities in dry cells are those of the file, and 0 where they are missing"
            ));
        } else if self.dries() && values.missing.is_some() {
            let note = "velocities that are missing are those of dry cells, and 0";
            units.notes.push(note.into());
        }
        let mut is_land = match self.request.land_value.is_some() || !self.dries() {
            true => self.of_velocity(values)?,
            false => vec![false; self.layers() * self.topology.triangles.len()],
        };
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
            let masked = self.cells(&mask, &land_flags(&mask.first(store, None, 0)?, Some(0.0)));
            is_land.iter_mut().zip(masked).for_each(|(is_land, masked)| *is_land |= masked);
        }
        let count = is_land.iter().filter(|is_land| **is_land).count();
        if count > 0 {
            units.convert(format!("{count} of {} cells are land, and left out", is_land.len()));
        }
        Ok(is_land)
    }

    /// Whether each cell is land by the velocity: missing, or the value of land in all of its components, of which the
    /// vertical one may be 0.
    fn of_velocity(&self, values: Decoded) -> Result<Vec<bool>> {
        let land_value = self.request.land_value;
        let mut is_land = self.cells(self.first, &land_flags(&values, land_value));
        for (number, part, component) in self.parts.beside_first().filter(|_| land_value.is_some())
        {
            let values = part.first(self.store, Some(Quantity::Speed), component)?;
            let mut flags = land_flags(&values, land_value);
            if number == 2 {
                let are_zero = land_flags(&values, Some(0.0));
                flags.iter_mut().zip(are_zero).for_each(|(is_land, is_zero)| *is_land |= is_zero);
            }
            let others = self.cells(part, &flags);
            is_land.iter_mut().zip(others).for_each(|(is_land, other)| *is_land &= other);
        }
        Ok(is_land)
    }

    /// Whether each cell is land, by a flag of each value of a variable.
    fn cells(&self, of: &OnMesh, flags: &[bool]) -> Vec<bool> {
        let count = self.topology.triangles.len();
        let levels = self.levels.filter(|_| of.vertical.is_some());
        let at = |place: u32, level: usize| {
            let level = levels.map_or(0, |levels| levels.in_file(level, of.levels()));
            flags[of.index(place, level) as usize]
        };
        // Nodes have values in the layer of a cell, or on the levels below and above it.
        let is_on_levels = levels.is_some_and(|levels| levels.count == of.levels());
        let above = if is_on_levels { 2 } else { 1 };
        let is_land = |cell: usize| {
            let (layer, triangle) = (cell / count, cell % count);
            let nodes = &self.topology.triangles[triangle];
            match of.is_on_faces {
                true => at(self.topology.faces[triangle], layer),
                false => {
                    (layer..layer + above).all(|level| nodes.iter().all(|node| at(*node, level)))
                }
            }
        };
        (0..self.layers() * count).map(is_land).collect()
    }

    fn layers(&self) -> usize {
        self.levels.map_or(1, |levels| levels.count - 1)
    }
}
