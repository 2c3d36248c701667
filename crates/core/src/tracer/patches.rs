//! The wall condition and the patches of a run, checked.

use super::Tracer;
use crate::{
    Error, Result,
    mesh::{Bounds, Mesh},
    patch::{self, MAX_PATCHES, not_of_bodies},
};
use burntrace_kernels::MeshPatch;
use std::collections::HashSet;

/// The patches of a run in the form that kernels read, measured from the mesh's origin; empty for a
/// field without a mesh.
pub(super) fn boxes(tracer: &Tracer) -> Vec<MeshPatch> {
    let (patches, precision) = (&tracer.surroundings.patches, tracer.field.precision());
    tracer.field.mesh().map_or(Vec::new(), |mesh| patch::boxes(patches, mesh, precision))
}

/// Checks the condition of the mesh boundary, and that the patches of a run are parts of it.
pub(super) fn check(tracer: &Tracer) -> Result<()> {
    if let Some(reason) = not_of_bodies(tracer.surroundings.mesh_wall) {
        return Err(Error::MeshWall(reason));
    }
    let Some(mesh) = tracer.field.mesh() else { return Ok(()) };
    if let Some(patch) = tracer.surroundings.patches.get(MAX_PATCHES) {
        let count = tracer.surroundings.patches.len();
        return patch.fail(format!("there are {count} patches; the maximum is {MAX_PATCHES}"));
    }
    let mut names = HashSet::new();
    for patch in &tracer.surroundings.patches {
        patch.check(mesh)?;
        if !names.insert(patch.name()) {
            return patch.fail("two patches have this name; give each its own");
        }
    }
    check_faces(tracer, mesh)
}

/// Checks that each patch contains boundary faces.
fn check_faces(tracer: &Tracer, mesh: &Mesh) -> Result<()> {
    let faces: Vec<(i32, Bounds)> = mesh
        .open_faces()
        .map(|(cell, face)| (mesh.face_tag(cell, face), mesh.corner_bounds(cell, face)))
        .collect();
    for (region, patch) in boxes(tracer).iter().zip(&tracer.surroundings.patches) {
        let is_in = |(tag, bounds): &(i32, Bounds)| {
            region.has_faces(*tag) && bounds.meets(region.low, region.high)
        };
        if !faces.iter().any(is_in) {
            return patch.without_faces(mesh);
        }
    }
    Ok(())
}
