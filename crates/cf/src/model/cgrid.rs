//! C-grids: the components on the faces of the cells, whose corners are the nodes of the mesh.

use super::agrid::{level_coordinate, single_height};
use super::conventions::Velocity;
use super::dims::{Box3, Dims};
use super::grid::Grid;
use super::land::{is_none, masked};
use super::lattice::{Built, is_downward};
use super::levels::{self, Levels};
use super::positions::{self, Positions};
use super::window::{closes, cropped, cropped_levels};
use super::{Convention, Corners, Files, MeshRequest};
use crate::axis::UnitCheck;
use crate::mesh::{CfMesh, MeshPlacement, NONE, Weights};
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The row and the column of the faces and the cell that have the corner `[0, 0]` as the first one: of its west face, its
/// south face, and itself.
#[derive(Clone, Copy)]
struct Numbering {
    u: [usize; 2],
    v: [usize; 2],
    cell: [usize; 2],
}

impl Convention {
    fn numbering(self) -> Numbering {
        match self {
            Convention::Nemo | Convention::Roms => Numbering { u: [1, 0], v: [0, 1], cell: [1, 1] },
            Convention::Mitgcm => Numbering { u: [0, 0], v: [0, 0], cell: [0, 0] },
        }
    }

    /// The usual variables of the corners.
    fn corners(self) -> &'static [[&'static str; 2]] {
        match self {
            Convention::Nemo => &[["glamf", "gphif"]],
            Convention::Roms => &[["lon_psi", "lat_psi"], ["x_psi", "y_psi"]],
            Convention::Mitgcm => &[["XG", "YG"], ["Xp1", "Yp1"]],
        }
    }

    /// The usual variables of the levels of `w`.
    fn levels(self) -> &'static [&'static str] {
        match self {
            Convention::Nemo => &["depthw", "gdepw_1d", "gdepw_0"],
            Convention::Roms => &["s_w", "sc_w"],
            Convention::Mitgcm => &["Zp1", "RF", "Zl"],
        }
    }

    /// The usual masks of the cells.
    fn masks(self) -> &'static [&'static str] {
        match self {
            Convention::Nemo => &["tmask"],
            Convention::Roms => &["mask_rho"],
            Convention::Mitgcm => &["maskC", "hFacC"],
        }
    }
}

/// The mesh of a C-grid.
pub(super) fn mesh(
    files: Files,
    velocity: &Velocity,
    request: &MeshRequest,
    convention: Convention,
    units: &mut UnitCheck,
) -> Result<CfMesh> {
    let variables = &request.variables;
    if let Some(name) = variables.arrays.first().or(variables.diffusivity.as_ref()) {
        let reason = "on a C-grid only the velocity is read, not other variables; omit it";
        return Err(Error::variable(files.own.path(), name, reason));
    }
    let all = corners(files, request, convention, units)?;
    let can_close = convention == Convention::Mitgcm && closes(&all);
    let spans = cropped(&all, request.crop, files.own)?;
    let of = [Span::one(0), spans[0], spans[1]];
    let mut grid = Grid::new(all.part(spans[0], spans[1]), of);
    grid.find_columns(can_close && spans[1].count == all.columns, request.west, units);
    let mut faces = Faces::of(&grid, convention.numbering());
    faces.find_layers(files, velocity, (request, convention), &mut grid, units)?;
    let [u, v] = [(&velocity.u, faces.u), (&velocity.v, faces.v)];
    for (dims, of) in [u, v] {
        check_size(files.own, dims, of)?;
    }
    let is_wet = faces.wet_cells(files, velocity, (request, convention), units)?;
    let built = grid.build(&is_wet, files.own, &u.0.variable.name)?;
    let through = Through { grid: &grid, faces: &faces, is_wet: &is_wet };
    let speed = Some(Quantity::Speed);
    let w = match velocity.w.as_ref().filter(|_| grid.levels.is_some()) {
        Some(w) => {
            check_size(files.own, w, faces.w)?;
            Some(w.gather(speed, faces.w, through.w(&built)))
        }
        None => None,
    };
    let of_u = u.0.gather(speed, u.1, through.u(&built));
    let of_v = v.0.gather(speed, v.1, through.v(&built));
    let velocity = [Some(of_u), Some(of_v), w];
    Ok(CfMesh { velocity, ..grid.mesh(built, MeshPlacement::Faces) })
}

/// The corners of the cells.
fn corners(
    files: Files,
    request: &MeshRequest,
    convention: Convention,
    units: &mut UnitCheck,
) -> Result<Positions> {
    let named = match &request.corners {
        Corners { x: Some(x), y: Some(y), .. } => Some([x.as_str(), y.as_str()]),
        Corners { x: None, y: None, .. } => None,
        _ => {
            let reason = "`corners` has one of `x` and `y`; give both, or none";
            return Err(Error::file(files.own.path(), reason));
        }
    };
    let has = |pair: &&[&str; 2]| {
        files.all().any(|store| pair.iter().all(|name| store.find(name).is_some()))
    };
    if let Some(pair) = named.or_else(|| convention.corners().iter().find(has).copied()) {
        let (store, pair) = positions::named_pair(files, pair)?;
        return Positions::read(store, pair, units);
    }
    if convention == Convention::Roms && has(&&["lon_rho", "lat_rho"]) {
        let (store, pair) = positions::named_pair(files, ["lon_rho", "lat_rho"])?;
        units.notes.push("the corners of cells (`lon_psi`, `lat_psi`) are missing, and taken midway between `lon_rho`, `lat_rho`".into());
        return Ok(Positions::read(store, pair, units)?.midpoints());
    }
    let [x, y] = convention.corners()[0];
    Err(crate::choose::choice(
        files.own,
        format!(
            "the corners of its cells, `{x}` and `{y}`, are missing; give the file and the variables that hold them, as in \
             `corners = {{ files = \"mesh_mask.nc\", x = \"{x}\", y = \"{y}\" }}`"
        ),
    ))
}

fn check_size(store: &dyn Store, dims: &Dims, of: Box3) -> Result<()> {
    let needed = of.map(|span| span.start + span.count);
    match dims.size().iter().zip(needed).all(|(has, needed)| *has >= needed) {
        true => Ok(()),
        false => Err(Error::variable(
            store.path(),
            &dims.variable.name,
            format!(
                "it has {:?} levels, rows and columns, and the faces of the cells between the corners need {needed:?} by \
                 the convention; give another `convention`, or other `corners`",
                dims.size()
            ),
        )),
    }
}

/// The parts of the variables that are read.
struct Faces {
    u: Box3,
    v: Box3,
    w: Box3,
    /// Of masks.
    cells: Box3,
    /// Whether `w` is in the middle of layers.
    is_centred: bool,
}

impl Faces {
    /// The rows and columns, of the first level.
    fn of(grid: &Grid, numbering: Numbering) -> Faces {
        let [_, rows, columns] = grid.cells();
        let part = |[row, column]: [usize; 2], [rows, columns]: [usize; 2]| {
            let start = [grid.of[1].start + row, grid.of[2].start + column];
            let span = |start, count| Span { start, count, step: 1 };
            [Span::one(0), span(start[0], rows), span(start[1], columns)]
        };
        let cells = part(numbering.cell, [rows, columns]);
        let u = part(numbering.u, [rows, grid.positions.columns]);
        let v = part(numbering.v, [grid.positions.rows, columns]);
        Faces { u, v, w: cells, cells, is_centred: false }
    }

    /// Finds the layers, and the levels between them, which become those of the grid.
    fn find_layers(
        &mut self,
        files: Files,
        velocity: &Velocity,
        (request, convention): (&MeshRequest, Convention),
        grid: &mut Grid,
        units: &mut UnitCheck,
    ) -> Result<()> {
        let u = &velocity.u;
        if u.size()[0] == 1 {
            grid.height = single_height(files, u, units)?;
            return Ok(());
        }
        let named = request.corners.z.as_deref();
        let usual = || files.find(convention.levels());
        let coordinate = match (named, usual(), &velocity.w) {
            (None, Some(found), _) => found,
            (None, None, None) => level_coordinate(files, u, Some(convention.levels()[0]))?,
            (_, _, w) => level_coordinate(files, w.as_ref().unwrap_or(u), named)?,
        };
        let edges = Levels::read(files, coordinate, units)?;
        let mut layers = layers(files, u, (coordinate.1, &edges), units)?;
        let crop = cropped_levels(&edges.part(layers.edges()), request.crop, files.own)?;
        layers.crop(crop);
        let whole = edges.len();
        let levels = edges.part(layers.edges());
        if levels.follow_bottom() {
            let depths = levels::depths(files, coordinate, units)?;
            let before = [1, 2].map(|d| self.cells[d].start.wrapping_sub(1));
            grid.depths =
                depths.at_corners(before, [grid.positions.rows, grid.positions.columns])?;
        }
        let lowest = if is_downward(&levels) {
            layers.count == whole - 1 - layers.edge
        } else {
            layers.edge == 0
        };
        grid.levels = Some(levels);
        let span = |start, count| Span { start, count, step: 1 };
        (self.u[0], self.v[0]) =
            (span(layers.first, layers.count), span(layers.first, layers.count));
        self.cells[0] = self.u[0];
        let Some(w) = &velocity.w else { return Ok(()) };
        let of_edges = coordinate.1.dimensions.last().map(|of| of.name.as_str());
        self.is_centred = w.level_name() == u.level_name() && w.level_name() != of_edges;
        if self.is_centred {
            units.convert(format!(
                "`{}` is in the middle of layers, and interpolated to their faces",
                w.variable.name
            ));
        }
        // Without a level below the last layer, the bottom: w = 0.
        let lacks_bottom = !self.is_centred && w.size()[0] + 1 == whole;
        let levels = (layers.count + 1).min(w.size()[0].saturating_sub(layers.edge));
        grid.ends_at_bottom = lowest && (lacks_bottom || edges.follow_bottom());
        self.w[0] = match (self.is_centred, lacks_bottom) {
            (true, _) => self.u[0],
            (false, true) => span(layers.edge, levels),
            (false, false) => span(layers.edge, layers.count + 1),
        };
        Ok(())
    }

    /// Whether each cell is in the sea: by the mask, and unless all of its faces are missing.
    fn wet_cells(
        &self,
        files: Files,
        velocity: &Velocity,
        (request, convention): (&MeshRequest, Convention),
        units: &mut UnitCheck,
    ) -> Result<Vec<bool>> {
        let u = is_none(files.own, &velocity.u, self.u, request.land_value)?;
        let v = is_none(files.own, &velocity.v, self.v, request.land_value)?;
        let dry = masked(files, request, convention.masks(), self.cells)?;
        let [layers, rows, columns] = self.cells.map(|span| span.count);
        let width = self.u[2].count;
        let is_land = |cell: usize| {
            let (layer, row, column) =
                (cell / columns / rows, cell / columns % rows, cell % columns);
            let next = if column + 1 == width { 0 } else { column + 1 };
            let of_u = (layer * rows + row) * width;
            let of_v = (layer * (rows + 1) + row) * columns + column;
            u[of_u + column] && u[of_u + next] && v[of_v] && v[of_v + columns]
        };
        let is_dry = |cell: usize| dry.as_ref().is_some_and(|dry| dry[cell]) || is_land(cell);
        let is_wet: Vec<bool> = (0..layers * rows * columns).map(|cell| !is_dry(cell)).collect();
        let count = is_wet.iter().filter(|is_wet| !**is_wet).count();
        match count {
            0 => units.notes.push(
                "it has no land: no values are missing, and there is no mask; name the mask of its cells by `mask`, or set \
                 `land_value = 0` if velocities are 0 on land"
                    .into(),
            ),
            _ => units.convert(format!(
                "{count} of {} cells are on land and left out; nothing flows through their faces",
                is_wet.len()
            )),
        }
        Ok(is_wet)
    }
}

/// The faces at the points of a mesh: those of a cell on land are closed.
struct Through<'a> {
    grid: &'a Grid,
    faces: &'a Faces,
    is_wet: &'a [bool],
}

/// A point of a mesh: its level, row and column, and the layer above it and the row of cells next to it in the
/// direction of the mesh.
struct Node {
    level: usize,
    row: usize,
    column: usize,
    layer: Option<usize>,
    next_row: Option<usize>,
}

impl Through<'_> {
    fn node(&self, [level, node]: [u32; 2]) -> Node {
        let (level, node) = (level as usize, node as usize);
        let [layers, rows, _] = self.grid.cells();
        let width = self.grid.positions.columns;
        let (row, column) = (node / width, node % width);
        let layer = match &self.grid.levels {
            Some(levels) if is_downward(levels) => level.checked_sub(1),
            _ => (level < layers).then_some(level),
        };
        let next_row = match self.grid.columns.is_flipped {
            true => row.checked_sub(1),
            false => (row < rows).then_some(row),
        };
        Node { level, row, column, layer, next_row }
    }

    /// Whether a cell is in the sea, or outside the grid.
    fn is_open(&self, layer: Option<usize>, row: Option<usize>, column: Option<usize>) -> bool {
        let [layers, rows, columns] = self.grid.cells();
        match (layer, row, column) {
            (Some(layer), Some(row), Some(column))
                if layer < layers && row < rows && column < columns =>
            {
                self.is_wet[(layer * rows + row) * columns + column]
            }
            _ => true,
        }
    }

    fn u(&self, built: &Built) -> Weights {
        let [_, rows, columns] = self.grid.cells();
        let width = self.grid.positions.columns;
        let before =
            |column: usize| column.checked_sub(1).or((columns == width).then_some(width - 1));
        let index = |at: &[u32; 2]| {
            let Node { column, layer, next_row, .. } = self.node(*at);
            let (Some(layer), Some(row)) = (layer, next_row) else { return NONE };
            let sides = [before(column), Some(column)];
            let is_open = sides.iter().all(|side| self.is_open(Some(layer), Some(row), *side));
            if is_open { ((layer * rows + row) * width + column) as u32 } else { NONE }
        };
        Weights::One { index: built.nodes.iter().map(index).collect(), sign: 1.0 }
    }

    fn v(&self, built: &Built) -> Weights {
        let [_, rows, columns] = self.grid.cells();
        let index = |at: &[u32; 2]| {
            let Node { row, column, layer, .. } = self.node(*at);
            let Some(layer) = layer.filter(|_| column < columns) else { return NONE };
            let sides = [row.checked_sub(1), Some(row)];
            let is_open = sides.iter().all(|side| self.is_open(Some(layer), *side, Some(column)));
            if is_open { ((layer * (rows + 1) + row) * columns + column) as u32 } else { NONE }
        };
        let sign = if self.grid.columns.is_flipped { -1.0 } else { 1.0 };
        Weights::One { index: built.nodes.iter().map(index).collect(), sign }
    }

    fn w(&self, built: &Built) -> Weights {
        let [layers, rows, columns] = self.grid.cells();
        let levels = self.faces.w[0].count;
        let at = |level: usize, row: usize, column: usize| {
            ((level * rows + row) * columns + column) as u32
        };
        // The cell of the node, if no cell above or below its face is on land.
        let cell = |node: &Node| {
            let row = node.next_row.filter(|_| node.column < columns)?;
            let sides = [node.level.checked_sub(1), Some(node.level)];
            let is_open =
                sides.iter().all(|side| self.is_open(*side, Some(row), Some(node.column)));
            is_open.then_some((row, node.column))
        };
        let nodes = built.nodes.iter().map(|of| self.node(*of));
        if !self.faces.is_centred {
            let index = |node: Node| match cell(&node) {
                Some((row, column)) if node.level < levels => at(node.level, row, column),
                _ => NONE,
            };
            return Weights::One { index: nodes.map(index).collect(), sign: 1.0 };
        }
        let bottom = match &self.grid.levels {
            Some(levels) if is_downward(levels) => layers,
            _ => 0,
        };
        let pair = |node: Node| match cell(&node) {
            Some((row, column)) if node.level != bottom || !self.grid.ends_at_bottom => {
                let sides = [node.level.saturating_sub(1), node.level.min(layers - 1)];
                sides.map(|layer| at(layer, row, column))
            }
            _ => [NONE; 2],
        };
        let index: Vec<u32> = nodes.flat_map(pair).collect();
        let weights = vec![0.5; index.len()];
        Weights::Mean { count: 2, index, weights }
    }
}

/// Layers of cells, and the levels between them.
struct Layers {
    /// The first layer.
    first: usize,
    count: usize,
    /// The level at the beginning of the first layer.
    edge: usize,
}

impl Layers {
    fn edges(&self) -> Span {
        Span { start: self.edge, count: self.count + 1, step: 1 }
    }

    fn crop(&mut self, edges: Span) {
        self.first += edges.start;
        self.edge += edges.start;
        self.count = edges.count - 1;
    }
}

/// The layers of a variable: each is between two levels.
fn layers(
    files: Files,
    u: &Dims,
    (coordinate, edges): (&Variable, &Levels),
    units: &mut UnitCheck,
) -> Result<Layers> {
    /// A depth at which heights are compared.
    const DEPTH: f64 = 1000.0;
    let fail = |reason: String| Error::variable(files.own.path(), &u.variable.name, reason);
    let count = u.size()[0];
    let own = level_coordinate(files, u, None).ok().filter(|(_, own)| own.name != coordinate.name);
    let mut unused = UnitCheck::default();
    let middles = own.map(|own| Levels::read(files, own, &mut unused)).transpose()?;
    let between = |layer: usize, edge: usize| {
        let ends = [edges.height(edge, DEPTH), edges.height(edge + 1, DEPTH)];
        let is_in = |levels: &Levels| {
            let z = levels.height(layer, DEPTH);
            ends[0].min(ends[1]) <= z && z <= ends[0].max(ends[1])
        };
        middles.as_ref().is_none_or(is_in)
    };
    let all = 0..edges.len().saturating_sub(1);
    let edge = all.clone().find(|edge| between(0, *edge)).ok_or_else(|| {
        fail(format!("its first level is between no two of the {} levels `{}`; name the levels of w by `corners.z`", edges.len(), coordinate.name))
    })?;
    let found =
        (0..count).take_while(|k| all.contains(&(edge + k)) && between(*k, edge + k)).count();
    match found {
        _ if found == count => {}
        _ if edge + found == all.end => units.notes.push(format!(
            "`{}` has {count} layers, and `{}` the levels of {found}: the others are left out",
            u.variable.name, coordinate.name
        )),
        _ => {
            return Err(fail(format!(
                "its level {found} is not between two neighbours of the levels `{}`; read layers without gaps, and name the \
                 levels of w by `corners.z`",
                coordinate.name
            )));
        }
    }
    Ok(Layers { first: 0, count: found, edge })
}
