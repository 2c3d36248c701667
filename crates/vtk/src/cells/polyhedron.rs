//! A polyhedron in a file: its faces, and the points of each.

use crate::error::Error;
use crate::source::ErrorContext;

/// The VTK type of a polyhedron.
pub(super) const POLYHEDRON: u8 = 42;

/// The faces in a stream: their number, then for each its number of points and the points.
pub(super) fn faces_in(stream: &[u32], points: usize) -> Option<Vec<&[u32]>> {
    let (count, mut rest) = stream.split_first()?;
    let mut faces = Vec::new();
    while let Some((size, after)) = rest.split_first() {
        let (face, after) = after.split_at_checked(*size as usize)?;
        faces.push(Some(face).filter(|face| is_face(face, points))?);
        rest = after;
    }
    (faces.len() == *count as usize && faces.len() >= 4).then_some(faces)
}

/// Whether these can be the points of a face.
pub(super) fn is_face(face: &[u32], points: usize) -> bool {
    face.len() >= 3 && face.iter().all(|point| (*point as usize) < points)
}

/// The error for a polyhedron with other faces than [`faces_in`] reads.
pub(super) fn wrong_faces(context: ErrorContext<'_>, cell: usize, points: usize) -> Error {
    let found = format!("faces of the polyhedron `{cell}` that cannot be read");
    let expected = format!(
        "four faces or more of three points or more, below `{points}`, and each face in at most two \
         polyhedra"
    );
    context.malformed(found, expected)
}
