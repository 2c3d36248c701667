//! The part of the domain of a run in which particles can be.

use crate::{
    file::Case,
    job, notes,
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::{
    Domain, Surroundings,
    analysis::density::{Axes, Region},
};
use burntrace_case::console::Silent;

type IsInside = Box<dyn Fn([f64; 3]) -> bool + Send + Sync>;

/// Number of heights at which a column that is projected is looked at.
const HEIGHTS: usize = 32;

/// The part of the domain outside of land and bodies, and inside of the mesh. `None` if that is all of it. What is not
/// known is said in a note. Projected along an axis, a column is inside if one of its positions is.
pub fn of(results: &Results, axes: Axes) -> Option<Region> {
    let [low, high] = results.domain;
    let projected: Vec<usize> =
        (0..3).filter(|d| !axes.active()[*d] && low[*d] < high[*d]).collect();
    let land = results.land.clone().filter(|_| projected.iter().all(|d| *d == 2));
    let parts = match projected.len() {
        0 | 1 => parts(results),
        _ => {
            note_projected(results, &projected);
            Vec::new()
        }
    };
    if land.is_none() && parts.is_empty() {
        return None;
    }
    let is_inside = move |position: [f64; 3]| parts.iter().all(|is_inside| is_inside(position));
    Some(Region::new(move |position| {
        // Along inactive axes the coordinates of the estimate are 0.
        let at: [f64; 3] =
            std::array::from_fn(|d| if axes.active()[d] { position[d] } else { low[d] });
        if land.as_ref().is_some_and(|land| land.contains([at[0], at[1]])) {
            return false;
        }
        let Some(&d) = projected.first().filter(|_| projected.len() == 1) else {
            return is_inside(at);
        };
        // From the top, where there is most water.
        (0..HEIGHTS).rev().any(|i| {
            let mut at = at;
            at[d] = low[d] + (i as f64 + 0.5) / HEIGHTS as f64 * (high[d] - low[d]);
            is_inside(at)
        })
    }))
}

/// The bodies and the mesh of the case of a run.
fn parts(results: &Results) -> Vec<IsInside> {
    let Some(case) = &results.case else { return Vec::new() };
    let bodies = noted(bodies(case, results), "bodies");
    bodies.into_iter().chain(noted(mesh(results), "the boundary of the mesh")).collect()
}

/// Says that walls are not taken into account in a projection along several axes.
fn note_projected(results: &Results, projected: &[usize]) {
    let has_walls = |case: &Case| !case.obstacle.is_empty() || case.is_on_mesh();
    if results.case.as_ref().is_some_and(has_walls) {
        let names: Vec<&str> = projected.iter().map(|d| AXES[*d]).collect();
        notes::note(format!(
            "the density is projected along {}, and does not take bodies and the boundary of a mesh into account",
            names.join(" and ")
        ));
    }
}

/// A part of the walls; without it a note.
fn noted(part: Result<Option<IsInside>>, what: &str) -> Option<IsInside> {
    part.unwrap_or_else(|error| {
        notes::note(format!("the density does not take {what} into account: {error:#}"));
        None
    })
}

/// Whether a position is outside of the bodies of a case, or inside of its vessels.
fn bodies(case: &Case, results: &Results) -> Result<Option<IsInside>> {
    if case.obstacle.is_empty() {
        return Ok(None);
    }
    let obstacles = job::obstacles(case, &Silent::default())?;
    let [low, high] = results.domain;
    let surroundings = Surroundings { obstacles, ..Surroundings::default() };
    Ok(Some(Box::new(surroundings.allowed_in(&Domain::new(low, high)?)?)))
}

/// Whether a position is in the mesh of a case.
fn mesh(results: &Results) -> Result<Option<IsInside>> {
    let Some(mesh) = results.mesh()? else { return Ok(None) };
    Ok(Some(Box::new(move |position| mesh.locate(position).is_some())))
}
