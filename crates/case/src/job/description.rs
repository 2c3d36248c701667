//! The description of a loaded field.

use burntrace_core::{CellVelocity, mesh::Mesh};
use burntrace_io::{SeriesInfo, series::MeshCounts};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// The origin and the size of a field.
#[derive(Clone, Debug)]
pub struct FieldDescription {
    pub origin: FieldOrigin,
    /// `None` for a formula that is evaluated directly.
    pub counts: Option<FieldCounts>,
}

/// The origin of a field.
#[derive(Clone, Debug)]
pub enum FieldOrigin {
    /// Files.
    Files {
        info: Box<SeriesInfo>,
        interpolation: String,
        /// Only for velocities in the cells of a mesh.
        cell_velocity: Option<CellVelocity>,
    },
    /// A formula, evaluated directly or sampled onto a grid.
    Flow { name: String, sampled: bool },
}

/// Numbers of nodes and cells, and bytes, of a loaded field. Coincident points of a mesh are one node.
#[derive(Clone, Debug, Serialize)]
pub struct FieldCounts {
    pub nodes: NodeCount,
    #[serde(flatten)]
    pub cells: Option<CellCounts>,
    pub bytes: u64,
}

/// Cells of a mesh, without ghosts and skipped ones.
#[derive(Clone, Debug, Serialize)]
pub struct CellCounts {
    cells: usize,
    #[serde(flatten)]
    mesh: MeshCounts,
}

/// Nodes of a field: along each axis of a grid, of a mesh or of points, or none of a formula.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged, expecting = "the number of nodes is missing")]
pub enum NodeCount {
    /// A formula, without nodes.
    None,
    /// Along the axes of a grid.
    Grid([usize; 3]),
    /// Of a mesh, or of scattered points.
    Points(usize),
}

impl FieldDescription {
    /// The series that the field is read from, if it is read from files.
    pub fn series(&self) -> Option<&SeriesInfo> {
        self.origin.series()
    }

    pub fn nodes(&self) -> NodeCount {
        self.counts.as_ref().map_or(NodeCount::None, |counts| counts.nodes)
    }

    /// The description as JSON. Counts of the field replace those of the files, which include ghost
    /// cells.
    pub fn json(&self) -> serde_json::Result<Value> {
        let mut json = match &self.origin {
            FieldOrigin::Flow { name, sampled } => json!({ "flow": name, "sampled": sampled }),
            FieldOrigin::Files { info, interpolation, cell_velocity } => {
                let mut json = serde_json::to_value(info)?;
                json["interpolation"] = interpolation.as_str().into();
                if let Some(cell_velocity) = cell_velocity {
                    json["cell_velocity"] = serde_json::to_value(cell_velocity)?;
                }
                json
            }
        };
        let counts = serde_json::to_value(&self.counts)?;
        if let (Value::Object(json), Value::Object(counts)) = (&mut json, counts) {
            json.extend(counts);
        }
        Ok(json)
    }
}

impl FieldOrigin {
    /// The series, if there are files.
    pub fn series(&self) -> Option<&SeriesInfo> {
        match self {
            FieldOrigin::Files { info, .. } => Some(info),
            FieldOrigin::Flow { .. } => None,
        }
    }

    /// The files of the frames.
    pub fn files(&self) -> &[PathBuf] {
        self.series().map_or(&[], |series| &series.files)
    }
}

/// The file of frames that an error of a frame or of a mesh refers to.
pub fn file_of<'a>(files: &'a [PathBuf], error: &burntrace_core::Error) -> Option<&'a Path> {
    use burntrace_core::Error::{FrameSize, Mesh, NotFinite, Source};
    let file = match error {
        NotFinite { frame, .. } | FrameSize { frame, .. } => files.get(*frame),
        // Most sources name the file themselves.
        Source { frame, source } => {
            let text = source.to_string();
            files.get(*frame).filter(|path| !text.contains(&*path.to_string_lossy()))
        }
        Mesh(_) => files.first(),
        _ => None,
    };
    file.map(PathBuf::as_path)
}

impl CellCounts {
    pub fn of(mesh: &Mesh) -> Self {
        CellCounts { cells: mesh.cells().len(), mesh: MeshCounts::of(mesh) }
    }
}

/// As `65 x 33 x 2`.
impl fmt::Display for NodeCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeCount::None => f.write_str("no"),
            NodeCount::Grid([x, y, z]) => write!(f, "{x} x {y} x {z}"),
            NodeCount::Points(nodes) => write!(f, "{nodes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_counts_are_null_an_array_or_a_number() {
        let counts = [NodeCount::None, NodeCount::Grid([65, 33, 2]), NodeCount::Points(7)];
        let json = serde_json::to_value(counts).unwrap();
        assert_eq!(json, json!([null, [65, 33, 2], 7]));
        assert_eq!(serde_json::from_value::<[NodeCount; 3]>(json).unwrap(), counts);
    }

    #[test]
    fn a_formula_is_described_by_its_name() {
        let origin = FieldOrigin::Flow { name: "abc".into(), sampled: false };
        let formula = FieldDescription { origin, counts: None };
        assert_eq!(formula.json().unwrap(), json!({ "flow": "abc", "sampled": false }));
        let origin = FieldOrigin::Flow { name: "abc".into(), sampled: true };
        let nodes = NodeCount::Grid([2, 3, 4]);
        let counts = Some(FieldCounts { nodes, cells: None, bytes: 96 });
        let expected = json!({ "flow": "abc", "sampled": true, "nodes": [2, 3, 4], "bytes": 96 });
        assert_eq!(FieldDescription { origin, counts }.json().unwrap(), expected);
    }
}
