//! C-grids: the components on the faces of the cells, whose corners are the nodes of the mesh.

use super::agrid::{level_coordinate, same_times, single_height};
use super::conventions::Velocity;
use super::dims::{Box3, Dims, is_in_cells};
use super::grid::Grid;
use super::land::{First, masked};
use super::lattice::{Built, is_downward};
use super::layers::layers;
use super::levels::{self, Levels};
use super::positions::{self, Positions};
use super::through::{CellLand, Through};
use super::window::{Turn, closes, cropped, cropped_levels};
use super::{Convention, Files, MeshRequest};
use crate::axis::UnitCheck;
use crate::mesh::{CfMesh, Gather, MeshPlacement, found};
use crate::store::{Span, Store};
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
    let all = corners(files, request, convention, units)?;
    let can_close = convention == Convention::Mitgcm && closes(&all);
    let spans = cropped(&all, can_close, request.crop, files.own)?;
    let of = [Span::one(0), spans[0], spans[1]];
    let closes = can_close && spans[1].count == all.columns;
    let turn = Turn { closes, west: request.west };
    let mut grid = Grid::new(all.part(spans[0], spans[1]), of, turn, units);
    let mut faces = Faces::of(&grid, convention.numbering());
    faces.find_layers(files, velocity, (request, convention), &mut grid, units)?;
    let [u, v] = [(&velocity.u, faces.u), (&velocity.v, faces.v)];
    for (dims, of) in [u, v] {
        check_size(files.own, dims, of)?;
    }
    let (land, [u_missing, v_missing]) =
        faces.land(files, velocity, (request, convention), units)?;
    let built = grid.build(&land.wet_cells(), files.own, &u.0.variable.name)?;
    let through = Through {
        grid: &grid,
        land: &land,
        levels_of_w: faces.w[0].count,
        is_centred: faces.is_centred,
    };
    let speed = Some(Quantity::Speed);
    let w = match velocity.w.as_ref().filter(|_| grid.levels.is_some()) {
        Some(w) => {
            check_size(files.own, w, faces.w)?;
            let mut w = w.gather(speed, faces.w, through.w(&built));
            w.close_missing(files.own, units)?;
            Some(w)
        }
        None => None,
    };
    let mut of_u = u.0.gather(speed, u.1, through.u(&built));
    let mut of_v = v.0.gather(speed, v.1, through.v(&built));
    of_u.close(u_missing.as_deref(), units);
    of_v.close(v_missing.as_deref(), units);
    let corners = files.find(&[&all.names[0]]);
    let corners = corners.and_then(|(store, variable)| Dims::of(store, variable).ok());
    let corners = corners.filter(|dims| dims.size()[1..] == [all.rows, all.columns]);
    let of_cells =
        OfCells { files, velocity, corners, faces: &faces, through: &through, built: &built };
    let variables = &request.variables;
    let arrays = variables.arrays.iter().map(|name| of_cells.gather(name, None, units));
    let arrays = arrays.collect::<Result<_>>()?;
    let diffusivity = variables.diffusivity.as_ref().map(|name| {
        let mut of = of_cells.gather(name, Some(Quantity::Diffusivity), units)?;
        of.close_missing(files.own, units)?;
        Ok(of)
    });
    let diffusivity = diffusivity.transpose()?;
    let of_surface = |dims: &Dims| {
        let of = [Span::one(0), faces.cells[1], faces.cells[2]];
        dims.gather(Some(Quantity::Length), of, through.around(&built, Some(1)))
    };
    let mut sea = grid.sea(velocity, &built, of_surface, (files.own, units))?;
    for part in sea.iter_mut().flat_map(|sea| &mut sea.elevation) {
        part.close_missing(files.own, units)?;
    }
    let upward = velocity.upward;
    let velocity = [Some(of_u), Some(of_v), w];
    let mesh = CfMesh { velocity, diffusivity, arrays, ..grid.mesh(built, MeshPlacement::Faces) };
    Ok(mesh.with_rest(upward, sea))
}

/// The variables in the cells, such as temperatures, as means at the corners.
struct OfCells<'a> {
    files: Files<'a>,
    velocity: &'a Velocity,
    /// The dimensions of the corners, if their positions have rows and columns.
    corners: Option<Dims>,
    faces: &'a Faces,
    through: &'a Through<'a>,
    built: &'a Built,
}

impl OfCells<'_> {
    fn gather(
        &self,
        name: &str,
        quantity: Option<Quantity>,
        units: &mut UnitCheck,
    ) -> Result<Gather> {
        let OfCells { files, velocity, faces, .. } = self;
        let variable = found(files.own, name)?;
        if let Some(quantity) = quantity {
            units.unit(files.own, variable, quantity)?;
        }
        let dims = Dims::of(files.own, variable)?;
        same_times(files.own, &velocity.u, &dims)?;
        let fail = |reason: String| Err(Error::variable(files.own.path(), name, reason));
        let is_at_corners = velocity.u.horizontal() != velocity.v.horizontal()
            && self.corners.as_ref().is_some_and(|of| of.horizontal() == dims.horizontal());
        if is_at_corners || !is_in_cells(&dims, [&velocity.u, &velocity.v]) {
            return fail(format!(
                "it is not in the middle of the cells whose faces have the velocity: {variable}, and {} and {}; name a \
                 variable there",
                velocity.u.variable, velocity.v.variable
            ));
        }
        let [in_layers, rows, columns] = faces.cells;
        let (count, of_velocity) = (dims.size()[0], velocity.u.size()[0]);
        let name_of = |of: &Dims| of.level_name().map(str::to_owned);
        let is_like_u = count == of_velocity && name_of(&dims) == name_of(&velocity.u);
        let of_levels = [faces.of_edges.clone(), velocity.w.as_ref().and_then(name_of)];
        let is_at_levels = !is_like_u && of_levels.contains(&name_of(&dims));
        let (levels, at_levels) = match count {
            1 => (Span::one(0), Some(1)),
            _ if is_at_levels && count > faces.edges.start => {
                let count = faces.edges.count.min(count - faces.edges.start);
                (Span::range(faces.edges.start, count), Some(count))
            }
            _ if count == of_velocity => (in_layers, None),
            _ => {
                return fail(format!(
                    "it has {count} levels, and the velocity {of_velocity}; name a variable in the same layers, or at the \
                     levels between them"
                ));
            }
        };
        let weights = self.through.around(self.built, at_levels);
        Ok(dims.gather(quantity, [levels, rows, columns], weights))
    }
}

/// The corners of the cells.
fn corners(
    files: Files,
    request: &MeshRequest,
    convention: Convention,
    units: &mut UnitCheck,
) -> Result<Positions> {
    let has = |pair: &&[&str; 2]| {
        files.all().any(|store| pair.iter().all(|name| store.find(name).is_some()))
    };
    if let Some((store, pair)) = positions::named(files, &request.corners)? {
        return Positions::read(store, pair, units);
    }
    for pair in convention.corners().iter().filter(has) {
        let (store, pair) = positions::named_pair(files, *pair)?;
        let corners = Positions::read(store, pair, units)?;
        if corners.xy.iter().any(|at| *at != corners.xy[0]) {
            return Ok(corners);
        }
        units.notes.push(format!(
            "`{}` and `{}` are the same everywhere, and not used",
            pair[0].name, pair[1].name
        ));
    }
    if convention == Convention::Roms && has(&&["lon_rho", "lat_rho"]) {
        let (store, pair) = positions::named_pair(files, ["lon_rho", "lat_rho"])?;
        let note = "without `lon_psi` and `lat_psi`, corners of cells are midway between `lon_rho` and `lat_rho`";
        units.notes.push(note.into());
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
    /// Of masks, and of other variables.
    cells: Box3,
    /// The levels between the layers, and the name of their dimension.
    edges: Span,
    of_edges: Option<String>,
    /// Whether `w` is in the middle of layers.
    is_centred: bool,
}

impl Faces {
    /// The rows and columns, of the first level.
    fn of(grid: &Grid, numbering: Numbering) -> Faces {
        let [_, rows, columns] = grid.cells();
        let part = |[row, column]: [usize; 2], [rows, columns]: [usize; 2]| {
            let start = [grid.of[1].start + row, grid.of[2].start + column];
            [Span::one(0), Span::range(start[0], rows), Span::range(start[1], columns)]
        };
        let cells = part(numbering.cell, [rows, columns]);
        let u = part(numbering.u, [rows, grid.positions.columns]);
        let v = part(numbering.v, [grid.positions.rows, columns]);
        let edges = Span::one(0);
        Faces { u, v, w: cells, cells, edges, of_edges: None, is_centred: false }
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
        let coordinate = match (named, files.find(convention.levels()), &velocity.w) {
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
            let is_there = |of: &Dims| {
                is_in_cells(of, [u, &velocity.v]) && same_times(files.own, u, of).is_ok()
            };
            grid.elevation = levels::elevation(files, coordinate, is_there, units)?;
            let depths = levels::depths(files, coordinate, units)?;
            let first = [1, 2].map(|d| self.cells[d].start);
            grid.depths =
                depths.at_corners(first, [grid.positions.rows, grid.positions.columns])?;
        }
        let lowest = if is_downward(&levels) {
            layers.count == whole - 1 - layers.edge
        } else {
            layers.edge == 0
        };
        grid.levels = Some(levels);
        self.u[0] = Span::range(layers.first, layers.count);
        (self.v[0], self.cells[0]) = (self.u[0], self.u[0]);
        self.edges = layers.edges();
        self.of_edges = coordinate.1.dimensions.last().map(|of| of.name.clone());
        let Some(w) = &velocity.w else { return Ok(()) };
        let of_edges = self.of_edges.as_deref();
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
            (false, true) => Span::range(layers.edge, levels),
            (false, false) => Span::range(layers.edge, layers.count + 1),
        };
        Ok(())
    }

    /// The land of the cells, and of those around them: by the mask, and where all faces of a cell are missing; and the
    /// faces of `u` and `v` that are missing.
    fn land(
        &self,
        files: Files,
        velocity: &Velocity,
        (request, convention): (&MeshRequest, Convention),
        units: &mut UnitCheck,
    ) -> Result<(CellLand, [Option<Vec<bool>>; 2])> {
        let First { is_land: u, missing: u_missing } =
            First::of(files.own, &velocity.u, self.u, request.land_value)?;
        let First { is_land: v, missing: v_missing } =
            First::of(files.own, &velocity.v, self.v, request.land_value)?;
        let size = self.cells.map(|span| span.count);
        let [layers, rows, columns] = size;
        let dry = masked(files, request, convention.masks(), (self.cells, 1))?;
        let all = layers * (rows + 2) * (columns + 2);
        let mut land = CellLand { size, is_dry: dry.unwrap_or_else(|| vec![false; all]) };
        let width = self.u[2].count;
        let mut count = 0;
        for cell in 0..layers * rows * columns {
            let (layer, row, column) =
                (cell / columns / rows, cell / columns % rows, cell % columns);
            let next = if column + 1 == width { 0 } else { column + 1 };
            let of_u = (layer * rows + row) * width;
            let of_v = (layer * (rows + 1) + row) * columns + column;
            let is_closed = u[of_u + column] && u[of_u + next] && v[of_v] && v[of_v + columns];
            let index = land.index(layer, row + 1, column + 1);
            land.is_dry[index] |= is_closed;
            count += usize::from(land.is_dry[index]);
        }
        match count {
            0 => units.notes.push(
                "it has no land: no values are missing, and there is no mask; name the mask of its cells by `mask`, or set \
                 `land_value = 0` if velocities are 0 on land"
                    .into(),
            ),
            _ => units.convert(format!(
                "{count} of {} cells are on land and left out; nothing flows through their faces",
                layers * rows * columns
            )),
        }
        Ok((land, [u_missing, v_missing]))
    }
}
