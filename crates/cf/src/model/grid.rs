//! The grid of the nodes of a mesh: their positions, levels and cells.

use super::conventions::Velocity;
use super::dims::{Box3, Dims};
use super::lattice::{Built, Lattice, is_downward};
use super::levels::Levels;
use super::positions::Positions;
use super::window::{Columns, Turn};
use crate::axis::UnitCheck;
use crate::mesh::{COAST, CellShape, CfMesh, Gather, MeshPlacement, OPEN, SURFACE};
use crate::rest::{AtPoints, Upward};
use crate::store::Store;
use crate::{Error, Result};

/// Rows, columns and levels of nodes.
pub(super) struct Grid {
    pub positions: Positions,
    /// The levels, rows and columns that are read.
    pub of: Box3,
    pub columns: Columns,
    /// The levels, two or more; `None` of a flat grid.
    pub levels: Option<Levels>,
    /// The height of a flat grid.
    pub height: f64,
    /// The depth of the bottom at the nodes, for levels that follow it.
    pub depths: Vec<f64>,
    /// The height of the surface with which levels move.
    pub elevation: Option<Dims>,
    /// Whether the lowest layer is known to end at the bottom.
    pub ends_at_bottom: bool,
    /// Number of levels before those that are read.
    levels_before: usize,
}

impl Grid {
    /// A flat grid at height 0.
    pub fn new(positions: Positions, of: Box3, turn: Turn, units: &mut UnitCheck) -> Grid {
        let mut columns = Columns::of(&positions, turn);
        units.notes.append(&mut columns.notes);
        Grid {
            positions,
            of,
            columns,
            levels: None,
            height: 0.0,
            depths: Vec::new(),
            elevation: None,
            ends_at_bottom: false,
            levels_before: 0,
        }
    }

    /// Number of layers, rows and columns of cells.
    pub fn cells(&self) -> [usize; 3] {
        let layers = self.levels.as_ref().map_or(1, |levels| levels.len() - 1);
        [layers, self.columns.size[0], self.columns.size[1]]
    }

    /// The height of a point at a level.
    pub fn z(&self, level: usize, node: usize) -> f64 {
        let depth = self.depths.get(node).copied().unwrap_or(0.0);
        self.levels.as_ref().map_or(self.height, |of| of.height(level, depth))
    }

    /// The mesh of the cells in the sea.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn build(&self, is_wet: &[bool], store: &dyn Store, name: &str) -> Result<Built> {
        let built = Lattice { grid: self, is_wet, ends: self.ends() }.build();
        match built.cells.is_empty() {
            false => Ok(built),
            true => Err(Error::variable(
                store.path(),
                name,
                "all its cells are on land by the mask, or by values that are missing at the first time; check the mask",
            )),
        }
    }

    /// The names of the faces below the lowest and above the highest layer.
    fn ends(&self) -> [&'static str; 2] {
        let Some(levels) = &self.levels else { return [OPEN; 2] };
        let bottom = if self.ends_at_bottom { COAST } else { OPEN };
        [bottom, if levels.reach_surface(self.deepest()) { SURFACE } else { OPEN }]
    }

    /// A depth at which levels that follow the bottom are compared.
    fn deepest(&self) -> f64 {
        self.depths.iter().copied().fold(100.0, f64::max)
    }

    /// Adds the surface as a level, with the values of the highest one, if that is near below it.
    pub fn add_surface(&mut self, units: &mut UnitCheck) {
        let deepest = self.deepest();
        let Some(levels) = &mut self.levels else { return };
        let [top, _] = levels.top(deepest);
        if !levels.reach_surface(deepest) || top == 0.0 {
            return;
        }
        let is_first = is_downward(levels);
        levels.add_surface(is_first);
        self.levels_before = usize::from(is_first);
        let text = "from the highest level up to the surface z = 0 the velocity is that of this level, and w falls to 0";
        units.convert(text.into());
    }

    /// Whether a level of nodes is the surface that was added.
    pub fn is_added(&self, level: usize) -> bool {
        let last = self.levels.as_ref().map_or(0, |levels| levels.len() - 1);
        last == self.of[0].count && level == if self.levels_before > 0 { 0 } else { last }
    }

    /// The level that is read of a level of nodes.
    pub fn level_read(&self, level: usize) -> usize {
        level.saturating_sub(self.levels_before).min(self.of[0].count - 1)
    }

    /// What vertical velocities in the sea at rest need, by how the height of the surface is read at the points; `None` if those of
    /// the file are such.
    ///
    /// # Errors
    ///
    /// If a velocity is through levels that do not follow the bottom.
    pub fn sea(
        &self,
        velocity: &Velocity,
        built: &Built,
        gather: impl FnOnce(&Dims) -> Gather,
        (store, units): (&dyn Store, &mut UnitCheck),
    ) -> Result<Option<AtPoints>> {
        let levels = self.levels.as_ref().filter(|levels| levels.follow_bottom());
        let Some(levels) = levels else {
            return velocity.check_without_levels(store).map(|()| None);
        };
        match (velocity.upward, &velocity.w, &self.elevation) {
            (Upward::Velocity, None, _) | (Upward::Velocity, _, None) => return Ok(None),
            (upward, w, elevation) => {
                let elevation = elevation.as_ref().map(|of| of.variable.name.as_str());
                units.note_rest(elevation, upward, w.is_some());
            }
        }
        let depth = |node: u32| self.depths[node as usize];
        // The surface that is added is at no level of the file, and does not depend on the depth.
        let by_depth = |[level, node]: [u32; 2]| match self.is_added(level as usize) {
            true => 0.0,
            false => levels.by_depth(level as usize, depth(node)),
        };
        Ok(Some(AtPoints {
            elevation: self.elevation.as_ref().map(gather),
            depth: built.nodes.iter().map(|[_, node]| depth(*node)).collect(),
            by_depth: built.nodes.iter().map(|at| by_depth(*at)).collect(),
        }))
    }

    /// A mesh without variables.
    pub fn mesh(&self, built: Built, placement: MeshPlacement) -> CfMesh {
        let shape = match self.levels {
            Some(_) => CellShape::Hexahedron,
            None => CellShape::Quadrilateral,
        };
        CfMesh {
            points: built.points,
            shape,
            cells: built.cells,
            placement,
            is_in_degrees: self.positions.is_in_degrees,
            global: self.columns.global,
            boundary: built.boundary,
            positions: self.positions.names.to_vec(),
            dries: false,
            time: None,
            velocity: [None, None, None],
            diffusivity: None,
            arrays: Vec::new(),
            turn: None,
            rest: None,
            units: UnitCheck::default(),
        }
    }
}
