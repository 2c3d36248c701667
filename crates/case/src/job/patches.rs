//! Patches of the boundary of a mesh: by name, and on the outside of the domain.

use super::{LoadedField, domain, geometry};
use crate::file::{self, Case, Condition, Misuse};
use crate::format::{counted, is_or_are};
use anyhow::Result;
use burntrace_core::{BoundaryCondition, Domain, Field, Inlet, Patch};
use burntrace_io::{self as io, NamedFaces};

/// A patch of the boundary of a mesh, possibly an outlet.
pub fn patch(given: &file::Patch, inlet: Option<&Inlet>) -> Patch {
    let low = given.low.unwrap_or([f64::NEG_INFINITY; 3]);
    let high = given.high.unwrap_or([f64::INFINITY; 3]);
    let patch = Patch::new(&given.name, low, high);
    let patch = match &given.faces {
        Some(faces) => patch.faces(faces.to_string()),
        None => patch,
    };
    match (given.wall, inlet) {
        (Condition::Outlet, Some(inlet)) => patch.outlet(inlet.clone()),
        (wall, _) => patch.wall(wall.into()),
    }
}

/// The patch of this name, which a key gives.
pub fn named<'a>(case: &'a Case, name: &str, key: &str) -> Result<&'a file::Patch> {
    if let Some(given) = case.patch.iter().find(|patch| patch.name == name) {
        return Ok(given);
    }
    let names: Vec<String> = case.patch.iter().map(|patch| format!("{:?}", patch.name)).collect();
    let instead = match names.is_empty() {
        true => "there is no [[patch]]; add one with this name".into(),
        false => format!("the [[patch]] sections have the names {}", names.join(", ")),
    };
    Err(Misuse::error(format!("{key} is {name:?}; {instead}")))
}

/// The faces that patches select by names in the files.
pub fn faces(case: &Case) -> Vec<NamedFaces> {
    case.patch.iter().filter_map(|patch| patch.faces.clone()).collect()
}

/// The patches of a sea that the case does not name: its coast, and its surface, along which particles slide.
pub fn of_sea(case: &Case, series: Option<&io::SeriesInfo>) -> Vec<Patch> {
    let named = faces(case);
    let is_named = |name: &str| named.iter().any(|faces| faces.to_string() == name);
    let names = series.into_iter().flat_map(|series| &series.faces).map(|(name, _)| name.as_str());
    let names = names.filter(|name| [io::series::COAST, io::series::SURFACE].contains(name));
    let patch = |name: &str| {
        let wall = match name == io::series::COAST {
            true => case.boundary.coast.into(),
            false => BoundaryCondition::Slide,
        };
        Patch::new(name, [f64::NEG_INFINITY; 3], [f64::INFINITY; 3]).faces(name).wall(wall)
    };
    names.filter(|name| !is_named(name)).map(patch).collect()
}

/// The domain of the tracer. A side of the box that the case does not give and that is an exit would cover the patches on it: there,
/// the mesh ends the domain. Where patches are named in the files, these are all such sides.
pub fn traced_domain(case: &Case, loaded: &LoadedField) -> Result<Domain> {
    let mut traced = domain(case, loaded)?;
    let series = loaded.description.series();
    let are_named =
        !faces(case).is_empty() || series.is_some_and(|series| !series.faces.is_empty());
    let bounds = traced;
    let is_covered = |d: usize, side: f64| {
        are_named || case.patch.iter().any(|patch| is_on_side(patch, &bounds, (d, side)))
    };
    for (d, [at_low, at_high]) in geometry::faces(case, series).into_iter().enumerate() {
        if traced.is_flat(d) {
            continue;
        }
        let is_free = case.domain.low.is_none() && at_low == Condition::default();
        if is_free && is_covered(d, bounds.low[d]) {
            traced.low[d] = f64::NEG_INFINITY;
        }
        let is_free = case.domain.high.is_none() && at_high == Condition::default();
        if is_free && is_covered(d, bounds.high[d]) {
            traced.high[d] = f64::INFINITY;
        }
    }
    Ok(traced)
}

/// Whether the box of a patch has a part with an area of a side of the domain, which is at a coordinate along an axis.
fn is_on_side(patch: &file::Patch, domain: &Domain, (axis, side): (usize, f64)) -> bool {
    let size = domain.size();
    // The box of a patch is widened by no less; see `Patch`.
    let near = 1e-9 * size.into_iter().filter(|x| x.is_finite()).fold(0.0, f64::max);
    (0..3).all(|d| {
        let low = patch.low.map_or(f64::NEG_INFINITY, |low| low[d]);
        let high = patch.high.map_or(f64::INFINITY, |high| high[d]);
        match () {
            () if d == axis => low - near <= side && side <= high + near,
            () if domain.is_flat(d) => true,
            () => high.min(domain.high[d]) - low.max(domain.low[d]) > 1e-6 * size[d],
        }
    })
}

/// Warnings about cells on the boundary that are part of no patch.
pub fn warnings<'a>(case: &'a Case, field: &'a dyn Field) -> impl Iterator<Item = String> + 'a {
    let groups = field.mesh().into_iter().flat_map(|mesh| mesh.face_groups());
    let partial = groups.filter(|group| group.unmatched > 0 && group.faces > 0);
    partial.flat_map(move |group| {
        let is_its = |patch: &&file::Patch| {
            patch.faces.as_ref().is_some_and(|faces| faces.to_string() == group.name)
        };
        case.patch.iter().filter(is_its).map(|patch| {
            let (faces, unmatched) = (group.faces, group.unmatched);
            format!(
                "the patch {:?} has {}; {} of `{}` {} on no boundary face of the mesh and not used",
                patch.name,
                counted(faces, "boundary face"),
                counted(unmatched, "cell"),
                group.name,
                is_or_are(unmatched)
            )
        })
    })
}
