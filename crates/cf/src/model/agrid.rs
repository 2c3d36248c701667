//! Grids with all components at the same points, which are the nodes of the mesh; of B-grids, the corners of cells.

use super::conventions::Velocity;
use super::dims::Dims;
use super::grid::Grid;
use super::land::Land;
use super::lattice::Built;
use super::levels::{self, Levels};
use super::positions::{self, Positions};
use super::window::{Turn, closes, cropped, cropped_levels};
use super::{Files, MeshRequest, turn, vertical};
use crate::axis::UnitCheck;
use crate::layout::{axis_of, coordinate_of, dimensionless};
use crate::mesh::{CfMesh, MeshPlacement, NONE, Weights, found};
use crate::projection::Projection;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// The mesh of an A-grid.
pub(super) fn mesh(
    files: Files,
    velocity: &Velocity,
    request: &MeshRequest,
    units: &mut UnitCheck,
) -> Result<CfMesh> {
    let u = &velocity.u;
    same_points(files.own, u, &velocity.v)?;
    let (all, grid) = nodes(files, u, request, units)?;
    let land = Land::of_nodes(files, velocity, request, grid.of)?;
    let is_wet = land.wet_cells(&grid);
    let built = grid.build(&is_wet, files.own, &u.variable.name)?;
    land.note(units);
    let spans = [grid.of[1], grid.of[2]];
    let index = node_index(&built, &grid, &land.is_land);
    let at = built.nodes.iter().map(|[_, node]| *node).zip(&index);
    let turned = turn::of_rows(files, u, &grid.positions, spans, units)?;
    let turned = turned.map(|of| of.at(at)).transpose()?;
    let gather = |dims: &Dims, quantity, index: &[u32]| {
        dims.gather(quantity, grid.of, Weights::One { index: index.to_vec(), sign: 1.0 })
    };
    let speed = Some(Quantity::Speed);
    let (mut of_u, mut of_v) = (gather(u, speed, &index), gather(&velocity.v, speed, &index));
    let [u_missing, v_missing] = land.missing;
    of_u.close(u_missing.as_deref(), units);
    of_v.close(v_missing.as_deref(), units);
    let mut w = match &velocity.w {
        None => None,
        Some(w) if is_same(u, w) => {
            let at_surface = built.nodes.iter().map(|[level, _]| grid.is_added(*level as usize));
            let index = index.iter().zip(at_surface).map(|(i, is)| if is { NONE } else { *i });
            Some(gather(w, speed, &index.collect::<Vec<u32>>()))
        }
        Some(w) => {
            Some(vertical::interpolated(files, w, (u, &all, &grid), (&built, &index), units)?)
        }
    };
    let every = node_index(&built, &grid, &[]);
    // Of variables without levels, such as the depth.
    let gather_plane = |dims: &Dims, quantity| {
        let index = built.nodes.iter().map(|[_, node]| *node).collect();
        let of = [Span::one(0), grid.of[1], grid.of[2]];
        dims.gather(quantity, of, Weights::One { index, sign: 1.0 })
    };
    let mut other = |name: &String, quantity| {
        let dims = other_variable(files.own, u, (name, quantity), units)?;
        match dims.size()[0] == u.size()[0] {
            true => Ok(gather(&dims, quantity, &every)),
            false => Ok(gather_plane(&dims, quantity)),
        }
    };
    let variables = &request.variables;
    let diffusivity = variables.diffusivity.as_ref();
    let diffusivity = diffusivity.map(|name| other(name, Some(Quantity::Diffusivity)));
    let mut diffusivity = diffusivity.transpose()?;
    let arrays = variables.arrays.iter().map(|name| other(name, None)).collect::<Result<_>>()?;
    let of_surface = |dims: &Dims| gather_plane(dims, Some(Quantity::Length));
    let mut sea = grid.sea(velocity, &built, of_surface, (files.own, units))?;
    let elevation = sea.iter_mut().flat_map(|sea| &mut sea.elevation);
    for part in w.iter_mut().chain(&mut diffusivity).chain(elevation) {
        part.close_missing(files.own, units)?;
    }
    let mesh = CfMesh {
        diffusivity,
        arrays,
        velocity: [Some(of_u), Some(of_v), w],
        turn: turned,
        ..grid.mesh(built, MeshPlacement::Points)
    };
    Ok(mesh.with_rest(velocity.upward, sea))
}

/// The positions of all points, and the grid of those that are read.
fn nodes(
    files: Files,
    u: &Dims,
    request: &MeshRequest,
    units: &mut UnitCheck,
) -> Result<(Positions, Grid)> {
    let corners = &request.corners;
    let (store, pair) = match positions::named(files, corners)? {
        Some(found) => found,
        None => positions::of_variable(files, u)?,
    };
    let [count, rows, columns] = u.size();
    let found = positions::size(store, pair)?;
    if found != [rows, columns] {
        let [name, other] = [&u.variable.name, &pair[0].name];
        let reason = format!(
            "it has {rows} x {columns} rows and columns, and its positions `{other}` {} x {}; name those of its own points",
            found[0], found[1]
        );
        return Err(Error::variable(files.own.path(), name, reason));
    }
    let are_axes = pair.iter().all(|of| of.dimensions.len() == 1);
    let projection = if are_axes { Projection::of(files.own, &u.variable)? } else { None };
    let all = match projection {
        Some(projection) => Positions::projected(store, pair, &projection, units)?,
        None => Positions::read(store, pair, units)?,
    };
    let closes = closes(&all);
    let [row_span, column_span] = cropped(&all, closes, request.crop, store)?;
    let closes = column_span.count == columns && closes;
    let turn = Turn { closes, west: request.west };
    let of = [Span::one(0), row_span, column_span];
    let mut grid = Grid::new(all.part(row_span, column_span), of, turn, units);
    if count == 1 {
        grid.height = single_height(files, u, units)?;
        return Ok((all, grid));
    }
    let coordinate = level_coordinate(files, u, corners.z.as_deref())?;
    let levels = Levels::read(files, coordinate, units)?;
    check_levels(coordinate, levels.len(), count)?;
    let span = cropped_levels(&levels, request.crop, files.own)?;
    grid.of[0] = span;
    if levels.follow_bottom() {
        let is_there =
            |of: &Dims| of.horizontal() == u.horizontal() && same_times(files.own, u, of).is_ok();
        grid.elevation = levels::elevation(files, coordinate, is_there, units)?;
        let depths = levels::depths(files, coordinate, units)?;
        grid.depths = depths.at([rows, columns], [row_span, column_span])?;
    }
    grid.levels = Some(levels.part(span));
    grid.add_surface(units);
    Ok((all, grid))
}

/// The coordinate variable of the levels of a variable.
pub(super) fn level_coordinate<'a>(
    files: Files<'a>,
    dims: &'a Dims,
    named: Option<&str>,
) -> Result<(&'a dyn Store, &'a Variable)> {
    let fail = |reason: String| Error::variable(files.own.path(), &dims.variable.name, reason);
    if let Some(name) = named {
        let found = files.find(&[name]);
        return found.ok_or_else(|| fail(format!("there is no variable `{name}` for its levels")));
    }
    let own = dims.levels().and_then(|d| coordinate_of(files.own, &dims.variable, d));
    own.map(|variable| (files.own, variable)).ok_or_else(|| {
        fail(format!(
            "its levels `{}` have no coordinate variable; name one, as in `corners = {{ z = \"depth\" }}`",
            dims.level_name().unwrap_or("?")
        ))
    })
}

fn check_levels(
    (store, variable): (&dyn Store, &Variable),
    found: usize,
    needed: usize,
) -> Result<()> {
    match found == needed {
        true => Ok(()),
        false => Err(Error::variable(
            store.path(),
            &variable.name,
            format!(
                "it has {found} levels, and the velocity {needed}; name the levels of the velocity"
            ),
        )),
    }
}

/// The height of the only level of a variable, 0 if it is not known as a length.
pub(super) fn single_height(files: Files, dims: &Dims, units: &mut UnitCheck) -> Result<f64> {
    let coordinate = dims.levels().and_then(|d| coordinate_of(files.own, &dims.variable, d));
    let has_length =
        |of: &Variable| of.text("units").is_some_and(|text| Quantity::Length.unit(text).is_ok());
    let is_height =
        |of: &&Variable| dimensionless(of).is_none() && (axis_of(of) == Some(2) || has_length(of));
    match coordinate.filter(is_height) {
        Some(coordinate) => {
            Ok(crate::axis::nodes(files.own, coordinate, 2, units)?.first().copied().unwrap_or(0.0))
        }
        None => Ok(0.0),
    }
}

/// Whether two variables are at the same points.
fn is_same(a: &Dims, b: &Dims) -> bool {
    a.horizontal() == b.horizontal() && a.size() == b.size() && a.level_name() == b.level_name()
}

/// The dimensions of another variable at the points of the velocity, at all levels or without any.
fn other_variable(
    store: &dyn Store,
    u: &Dims,
    (name, quantity): (&str, Option<Quantity>),
    units: &mut UnitCheck,
) -> Result<Dims> {
    let variable = found(store, name)?;
    if let Some(quantity) = quantity {
        units.unit(store, variable, quantity)?;
    }
    let dims = Dims::of(store, variable)?;
    let is_plane = dims.size()[0] == 1 && dims.horizontal() == u.horizontal();
    if is_plane && quantity.is_none() {
        same_times(store, u, &dims)?
    } else {
        same_points(store, u, &dims)?
    }
    Ok(dims)
}

/// Refuses a variable at other times than the velocity.
pub(super) fn same_times(store: &dyn Store, u: &Dims, other: &Dims) -> Result<()> {
    let own = u.time();
    match other.time().is_none_or(|time| Some(time) == own) {
        true => Ok(()),
        false => Err(Error::variable(
            store.path(),
            &other.variable.name,
            format!(
                "it is at other times than the velocity: {}, and {}; name a variable of the same times",
                other.variable, u.variable
            ),
        )),
    }
}

/// Refuses a variable at other points than the velocity, or at other times.
fn same_points(store: &dyn Store, u: &Dims, other: &Dims) -> Result<()> {
    same_times(store, u, other)?;
    match is_same(u, other) {
        true => Ok(()),
        false => Err(Error::variable(
            store.path(),
            &other.variable.name,
            format!(
                "it is not at the points of the velocity: {other}, and {u}; if the components are on the faces of cells, \
                 give `staggering = \"c\"`, else name variables at the same points",
                other = other.variable,
                u = u.variable
            ),
        )),
    }
}

/// The index of each point in the values that are read; [`NONE`] on land.
fn node_index(built: &Built, grid: &Grid, is_land: &[bool]) -> Vec<u32> {
    let plane = grid.positions.xy.len();
    let index = |[level, node]: &[u32; 2]| {
        let index = grid.level_read(*level as usize) * plane + *node as usize;
        if is_land.get(index) == Some(&true) { NONE } else { index as u32 }
    };
    built.nodes.iter().map(index).collect()
}
