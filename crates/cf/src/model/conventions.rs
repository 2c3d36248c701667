//! Which grid a model has: its points together, or on the faces of its cells, and by which convention.

use super::dims::Dims;
use super::{Convention, Files, MeshRequest, Staggering, agrid, cgrid};
use crate::axis::UnitCheck;
use crate::choose::{choice, velocity, without_vertical};
use crate::directions::{DOWNWARD, points};
use crate::layout::time_of;
use crate::mesh::{CfMesh, found};
use crate::rest::{OMEGA, Upward, is_omega};
use crate::store::{Store, Variable};
use crate::time::TimeAxis;
use crate::units::Quantity;
use crate::{Error, Result};

/// The variables of a velocity.
pub(super) struct Velocity {
    pub u: Dims,
    pub v: Dims,
    pub w: Option<Dims>,
    /// What `w` is.
    pub upward: Upward,
    pub time: Option<TimeAxis>,
}

/// The mesh of the grid of a velocity.
pub(super) fn mesh(files: &Files, request: &MeshRequest) -> Result<CfMesh> {
    let mut units = UnitCheck::default();
    let velocity = Velocity::of(files.own, request, &mut units)?;
    let convention = request.convention.or_else(|| recognised(*files, &velocity));
    let is_staggered = match request.staggering {
        Some(staggering) => staggering == Staggering::C,
        None => request.convention.is_some() || velocity.is_staggered(*files, convention),
    };
    if let (false, Some(_)) = (is_staggered, request.convention) {
        let reason = "`convention` is for C-grids, and `staggering` is \"a\"; omit one of them";
        return Err(Error::file(files.own.path(), reason));
    }
    let mesh = match (is_staggered, convention) {
        (false, _) => agrid::mesh(*files, &velocity, request, &mut units)?,
        (true, Some(convention)) => {
            cgrid::mesh(*files, &velocity, request, convention, &mut units)?
        }
        (true, None) => {
            let name = &velocity.v.variable.name;
            return Err(Error::variable(
                files.own.path(),
                name,
                "it is not at the points of the first component, as on a C-grid, and the model that numbers them so is \
                 not recognised; give `staggering = \"c\"` and `convention = \"nemo\"`, `\"roms\"` or `\"mitgcm\"`",
            ));
        }
    };
    units.check(files.own)?;
    Ok(CfMesh { time: velocity.time, units, ..mesh })
}

impl Velocity {
    fn of(store: &dyn Store, request: &MeshRequest, units: &mut UnitCheck) -> Result<Velocity> {
        let names = match request.variables.velocity.as_slice() {
            [] => with_omega(store, velocity(store)?),
            names => names.to_vec(),
        };
        let [u, v, w @ ..] = names.as_slice() else {
            return Err(choice(
                store,
                "a velocity on the grid of a model has two or three variables; name them, as in `velocity = [\"u\", \"v\"]`",
            ));
        };
        let mut part = |name: &String| {
            let variable = found(store, name)?;
            units.unit(store, variable, Quantity::Speed)?;
            if points(variable, DOWNWARD) {
                units.convert(format!("`{name}` is downward: w = -{name}"));
            }
            Dims::of(store, variable)
        };
        let (u, v) = (part(u)?, part(v)?);
        let w = w.first().map(part).transpose()?;
        let upward = match &w {
            Some(w) if is_omega(&w.variable) => Upward::ThroughLevels,
            None if request.follow_levels => Upward::ThroughLevels,
            _ => Upward::Velocity,
        };
        if let (Some(w), true) = (&w, request.follow_levels) {
            return Err(Error::variable(
                store.path(),
                &w.variable.name,
                "it is a vertical velocity, and `follow_levels` is for files without one; omit it, or name two variables, as in \
                 `velocity = [\"u\", \"v\"]`",
            ));
        }
        if w.is_none() && u.size()[0] > 1 && !request.follow_levels {
            units.notes.push(without_vertical());
        }
        let (_, layout) = time_of(store, &u.variable);
        for other in [Some(&v), w.as_ref()].into_iter().flatten() {
            let (_, others) = time_of(store, &other.variable);
            if others.time != layout.time {
                let reason = format!(
                    "its time is not that of `{}`; give files of the same times",
                    u.variable.name
                );
                return Err(Error::variable(store.path(), &other.variable.name, reason));
            }
        }
        let time = TimeAxis::read(store, &u.variable, &layout, units)?;
        Ok(Velocity { u, v, w, upward, time })
    }

    /// Refuses what is for levels that follow the bottom.
    pub fn check_without_levels(&self, store: &dyn Store) -> Result<()> {
        let Upward::ThroughLevels = self.upward else { return Ok(()) };
        let (name, what) = match &self.w {
            Some(w) => {
                (&w.variable.name, "it is the velocity through levels that follow the bottom")
            }
            None => (&self.u.variable.name, "`follow_levels` is for levels that follow the bottom"),
        };
        let reason = format!(
            "{what}, and the levels of its grid do not; name the variable of the velocity upward (`w`), or two variables, \
             with which w = 0"
        );
        Err(Error::variable(store.path(), name, reason))
    }

    fn is_staggered(&self, files: Files, convention: Option<Convention>) -> bool {
        let is_of_nemo = || {
            let usual = ["vozocrtx", "vomecrty"].contains(&self.u.variable.name.as_str());
            usual || files.find(&["glamf"]).is_some() || self.u.level_name() != self.v.level_name()
        };
        self.u.horizontal() != self.v.horizontal()
            || (convention == Some(Convention::Nemo) && is_of_nemo())
    }
}

/// The names of a velocity, with that through the levels of a file without a vertical one.
fn with_omega(store: &dyn Store, mut names: Vec<String>) -> Vec<String> {
    let speed = |of: &&Variable| {
        let text = of.text("units").unwrap_or_default();
        !text.is_empty() && Quantity::Speed.unit(text).is_ok()
    };
    let has_levels = |name: &String| {
        let dims = store.find(name).and_then(|variable| Dims::of(store, variable).ok());
        dims.is_some_and(|dims| dims.size()[0] > 1)
    };
    let follows = |name: &String| {
        let coordinate = store.find(name).and_then(|variable| {
            let dims = Dims::of(store, variable).ok()?;
            crate::layout::coordinate_of(store, variable, dims.levels()?)
        });
        coordinate.is_some_and(super::levels::is_of_bottom)
    };
    let omega = store.find(OMEGA).filter(speed);
    if let (2, Some(omega)) = (names.len(), omega)
        && names.iter().all(has_levels)
        && names.iter().all(follows)
    {
        names.push(omega.name.clone());
    }
    names
}

/// The convention that the names in the files tell.
fn recognised(files: Files, velocity: &Velocity) -> Option<Convention> {
    let has = |name: &str| files.find(&[name]).is_some();
    let has_dimension = |name: &str| {
        let [rows, columns] = velocity.u.horizontal();
        let [other_rows, other_columns] = velocity.v.horizontal();
        [rows, columns, other_rows, other_columns].contains(&name)
    };
    let any = |names: &[&str], is: &dyn Fn(&str) -> bool| names.iter().any(|name| is(name));
    if any(&["xi_u", "xi_rho", "eta_v", "eta_rho", "eta_u", "xi_v"], &has_dimension) {
        return Some(Convention::Roms);
    }
    if any(&["XG", "YG", "Xp1", "Yp1"], &|name| has(name) || has_dimension(name)) {
        return Some(Convention::Mitgcm);
    }
    any(&["glamf", "nav_lon", "depthu"], &has).then_some(Convention::Nemo)
}
