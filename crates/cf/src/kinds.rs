//! Files of grids without axes, by the conventions of the models that write them.

use crate::Error;
use crate::degrees::Angle;
use crate::store::{Store, Variable};

/// What tells a kind of files: names of dimensions or variables, all of which a file has.
struct Kind {
    signs: &'static [&'static str],
    name: &'static str,
    grid: Grid,
}

#[derive(Clone, Copy, PartialEq)]
enum Grid {
    /// Velocities at nodes or in cells of a mesh, which can be read.
    Mesh,
    /// Velocities on a mesh that cannot be read.
    OtherMesh,
    /// Components of the velocity at different places.
    Staggered,
    /// The same, of models that are not read.
    OtherStaggered,
}

const KINDS: [Kind; 17] = {
    use Grid::{Mesh, OtherMesh, OtherStaggered, Staggered};
    const fn kind(signs: &'static [&'static str], name: &'static str, grid: Grid) -> Kind {
        Kind { signs, name, grid }
    }
    [
        kind(&["SCHISM_hgrid"], "a SCHISM file", Mesh),
        kind(&["nSCHISM_hgrid_node"], "a SCHISM file", Mesh),
        kind(&["SELFE_hgrid"], "a SELFE file", OtherMesh),
        kind(&["nele", "node", "siglay"], "an FVCOM file", Mesh),
        kind(&["nele", "node", "nv"], "an FVCOM file", Mesh),
        kind(&["nCells", "nEdges"], "an MPAS file", OtherMesh),
        kind(&["ncells", "clon"], "an ICON file", Mesh),
        kind(&["cell", "clon"], "an ICON file", Mesh),
        kind(&["ncells", "height", "vertices"], "an ICON file", Mesh),
        kind(&["xi_u", "eta_u"], "a ROMS file", Staggered),
        kind(&["xi_rho", "eta_rho"], "a ROMS file", Staggered),
        kind(&["west_east_stag"], "a WRF file", OtherStaggered),
        kind(&["nav_lon", "nav_lat"], "a NEMO file", Staggered),
        kind(&["XC", "YG"], "an MITgcm file", Staggered),
        kind(&["XG", "YC"], "an MITgcm file", Staggered),
        kind(&["Xp1", "Yp1"], "an MITgcm file", Staggered),
        kind(&["xu_ocean", "yt_ocean"], "a MOM file", Staggered),
    ]
};

/// The error of a file whose grid has no axes, with the name of its kind; `None` if it is not known.
pub(crate) fn error(store: &dyn Store) -> Option<Error> {
    let reason = match (ugrid(store), KINDS.iter().find(|kind| kind.is_of(store))) {
        (_, Some(Kind { name, grid: Grid::Mesh, .. })) => mesh(name),
        (_, Some(Kind { name, grid: Grid::OtherMesh, .. })) => other_mesh(name),
        (true, _) => mesh("a UGRID file"),
        (_, Some(Kind { name, grid: Grid::Staggered, .. })) => staggered(name, store),
        (_, Some(Kind { name, grid: Grid::OtherStaggered, .. })) => format!(
            "it is {name}, with the components of the velocity on a staggered grid; interpolate them to the nodes of one grid \
             with axes in degrees or metres first (`xgcm`, `cdo remapbil`), and turn the velocity along the axes"
        ),
        _ => match curvilinear(store) {
            Some(positions) => on_curves(&positions),
            None => return None,
        },
    };
    Some(Error::file(store.path(), reason))
}

/// The error of axes that count the points of a curvilinear grid, whose positions other variables hold.
pub(crate) fn counted(store: &dyn Store, axes: [Option<&Variable>; 2]) -> Option<Error> {
    let dimension = |axis: Option<&Variable>| Some(axis?.dimensions.first()?.name.clone());
    let [x, y] = axes.map(dimension);
    let has_no_units = |axis: &Option<&Variable>| {
        let units = axis.and_then(|axis| axis.text("units")).unwrap_or_default();
        ["", "1", "-", "none"].contains(&units.to_ascii_lowercase().as_str())
    };
    let of_both = |variable: &&Variable| {
        let has = |name: &Option<String>| {
            variable.dimensions.iter().any(|of| Some(&of.name) == name.as_ref())
        };
        has(&x) && has(&y)
    };
    let positions = store.variables().iter().filter(|of| is_position(of)).find(of_both)?;
    let reason = format!(
        "{}; if the axes hold lengths nevertheless, add their attribute `units`",
        on_curves(&positions.to_string())
    );
    axes.iter().all(has_no_units).then(|| Error::file(store.path(), reason))
}

impl Kind {
    fn is_of(&self, store: &dyn Store) -> bool {
        self.signs.iter().all(|sign| {
            store.variables().iter().any(|variable| {
                variable.name == *sign || variable.dimensions.iter().any(|of| of.name == *sign)
            })
        })
    }
}

fn ugrid(store: &dyn Store) -> bool {
    store.variables().iter().any(|variable| {
        variable.text("cf_role") == Some("mesh_topology") || variable.attribute("mesh").is_some()
    })
}

/// The first horizontal positions with two dimensions.
fn curvilinear(store: &dyn Store) -> Option<String> {
    store.variables().iter().find(|variable| is_position(variable)).map(Variable::to_string)
}

/// Whether a variable holds longitudes, latitudes or horizontal lengths on two dimensions.
fn is_position(variable: &Variable) -> bool {
    let standard = variable.text("standard_name").unwrap_or_default();
    let standards = ["longitude", "latitude", "projection_x_coordinate", "projection_y_coordinate"];
    let is_east_or_north = |units: &str| matches!(Angle::of(units), Some(Angle::Axis(_)));
    let names = ["lon", "lat", "longitude", "latitude", "x", "y", "xc", "yc"];
    let is_named = || names.contains(&variable.name.to_ascii_lowercase().as_str());
    let by_units = || variable.text("units").is_some_and(is_east_or_north);
    let counts = variable.dimensions.iter().filter(|of| of.len > 1).count();
    counts >= 2 && (standards.contains(&standard) || by_units() || is_named())
}

fn mesh(name: &str) -> String {
    format!(
        "it is {name}, on an unstructured grid, which has no axes; set `field.interpolation = \"mesh\"` to read its \
         cells, and give a file with its nodes and faces, if it has none, as in `corners = {{ files = \"grid.nc\" }}`"
    )
}

fn other_mesh(name: &str) -> String {
    format!(
        "it is {name}, on an unstructured grid, which has no axes; interpolate the velocity to a grid with axes \
         in degrees or metres first (`uxarray`, `cdo remapdis`), or write the mesh as VTK (.vtu), for \
         `interpolation = \"mesh\"`"
    )
}

fn staggered(name: &str, store: &dyn Store) -> String {
    let on_curves = if curvilinear(store).is_some() { ", and on a curvilinear one" } else { "" };
    format!(
        "it is {name}, with the components of the velocity on a staggered grid{on_curves}, which has no axes; set \
         `field.interpolation = \"mesh\"` to read its cells"
    )
}

fn on_curves(positions: &str) -> String {
    format!(
        "its grid is curvilinear: {positions} holds the positions of its points; set `field.interpolation = \"mesh\"` to \
         read its cells"
    )
}
