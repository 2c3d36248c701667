//! The part of the domain of a run in which particles can be.

use crate::{
    file::Case,
    job, notes,
    results::{AXES, Results, walls},
};
use anyhow::Result;
use burntrace::{
    Domain, Surroundings,
    analysis::density::{Axes, Region},
};
use burntrace_case::console::Silent;

type IsInside = Box<dyn Fn([f64; 3]) -> bool + Send + Sync>;

/// The part of the domain outside of land and bodies, and inside of the mesh. `None` if that is all of it. What is not
/// known is said in a note.
pub fn of(results: &Results, axes: Axes) -> Option<Region> {
    let mut parts: Vec<IsInside> = Vec::new();
    let [low, high] = results.domain;
    let projected: Vec<usize> =
        (0..3).filter(|d| !axes.active()[*d] && low[*d] < high[*d]).collect();
    if let Some(land) = results.land.clone().filter(|_| projected.iter().all(|d| *d == 2)) {
        parts.push(Box::new(move |[x, y, _]| !land.contains([x, y])));
    }
    if let Some(case) = &results.case {
        let has_bodies = !case.obstacle.is_empty();
        match projected.first() {
            None => {
                parts.extend(noted(bodies(case, results), "bodies"));
                parts.extend(noted(mesh(case), "the boundary of the mesh"));
            }
            Some(d) if has_bodies || case.is_on_mesh() => notes::note(format!(
                "the density is projected along {}, and does not take bodies and the boundary of a mesh into account",
                AXES[*d]
            )),
            Some(_) => {}
        }
    }
    // Along inactive axes the coordinates of the estimate are 0.
    let at = move |position: [f64; 3]| {
        std::array::from_fn(|d| if axes.active()[d] { position[d] } else { low[d] })
    };
    (!parts.is_empty())
        .then(|| Region::new(move |position| parts.iter().all(|is_inside| is_inside(at(position)))))
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
fn mesh(case: &Case) -> Result<Option<IsInside>> {
    let Some(mesh) = walls::mesh(case)? else { return Ok(None) };
    Ok(Some(Box::new(move |position| mesh.locate(position).is_some())))
}
