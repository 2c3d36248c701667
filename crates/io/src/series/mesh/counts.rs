//! Numbers of cells of each kind.

use burntrace_core::CellKind;
use serde::Serialize;

/// Cells of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellCount {
    /// The VTK name of the kind, e.g. `quadratic tetra`; with the VTK type for kinds that a mesh
    /// cannot have or divides, e.g. `polygon (type 7)`.
    pub kind: String,
    /// Number of cells.
    pub cells: usize,
}

/// Number of cells of each kind, in the order of the VTK types.
pub(super) fn count(types: &[u8]) -> Vec<CellCount> {
    let mut cells = [0; 256];
    for code in types {
        cells[usize::from(*code)] += 1;
    }
    let counts = (0..=u8::MAX).zip(cells).filter(|(_, cells)| *cells > 0);
    counts.map(|(code, cells)| CellCount { kind: kind(code), cells }).collect()
}

/// The name of a VTK type, with its code if a mesh cannot have this kind.
fn kind(code: u8) -> String {
    if let Some(kind) = CellKind::from_vtk(code) {
        return kind.table().name.to_owned();
    }
    let name = match code {
        1 => "vertex",
        2 => "poly vertex",
        3 => "line",
        4 => "poly line",
        6 => "triangle strip",
        7 => "polygon",
        15 => "pentagonal prism",
        16 => "hexagonal prism",
        21 => "quadratic edge",
        23 => "quadratic quad",
        26 => "quadratic wedge",
        27 => "quadratic pyramid",
        28 => "biquadratic quad",
        29 => "triquadratic hexahedron",
        32 => "biquadratic wedge",
        41 => "convex point set",
        42 => "polyhedron",
        68 => "Lagrange curve",
        69 => "Lagrange triangle",
        70 => "Lagrange quad",
        71 => "Lagrange tetra",
        72 => "Lagrange hexahedron",
        73 => "Lagrange wedge",
        74 => "Lagrange pyramid",
        75..=81 => "Bezier cell",
        _ => return format!("type {code}"),
    };
    format!("{name} (type {code})")
}

/// For example `1200 x tetra`.
impl std::fmt::Display for CellCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.cells, self.kind)
    }
}
