//! Named groups of boundary faces, from cells that a file has on the boundary of a mesh.

use super::{
    input::{check_points, refuse},
    merge::PointTable,
    structure::Mesh,
};
use crate::{Result, field::measured_from};
use burntrace_kernels::FaceTags;
use std::collections::{BTreeSet, HashMap};

/// Cells on the boundary of a mesh, in named groups: polygons, or lines in two dimensions.
///
/// A boundary face belongs to the groups of each cell that has all corners of the face among its
/// points: a cell can have further points, and several faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryCells {
    /// Coordinates of their points, in the data's unit of length.
    pub points: Vec<[f64; 3]>,
    /// Start of each cell's points in `connectivity`, followed by its length: `n + 1` numbers from 0.
    pub offsets: Vec<u32>,
    /// Indices of points.
    pub connectivity: Vec<u32>,
    /// The name of each group, and the indices of its cells.
    pub groups: Vec<(String, Vec<u32>)>,
}

/// A named group of boundary faces.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceGroup {
    /// Name.
    pub name: String,
    /// Number of faces.
    pub faces: usize,
    /// Sum of their areas, each between its corners (in two dimensions, of their lengths), in the data's
    /// unit of length.
    pub area: f64,
    /// Number of cells of the group that have no boundary face, as they were given: of a file, each part
    /// of a divided cell.
    pub unmatched: usize,
    /// The tags of its faces, increasing.
    pub(crate) tags: Vec<i32>,
}

/// Distance at which a point counts as a corner of the mesh, as a fraction of the largest coordinate:
/// two units of rounding in single precision, because the boundary may be in a file of another precision.
const ROUNDING: f64 = 2.0 * f32::EPSILON as f64;
/// The maximum of this distance in tolerances of the mesh, which are far smaller than its edges.
const MAX_TOLERANCES: f64 = 100.0;

impl BoundaryCells {
    /// Points of a cell.
    fn nodes(&self, cell: usize) -> &[u32] {
        &self.connectivity[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// Number of cells.
    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn check(&self) -> Result<()> {
        let (cells, end) = (self.len(), self.connectivity.len());
        let is_ordered = self.offsets.is_sorted() && self.offsets.first() == Some(&0);
        if !is_ordered || self.offsets.last().map(|last| *last as usize) != Some(end) {
            return refuse(format!(
                "the offsets of its boundary cells do not increase from 0 to {end}, the length of \
                 their connectivity"
            ));
        }
        let count = self.points.len();
        if let Some(node) = self.connectivity.iter().find(|node| **node as usize >= count) {
            return refuse(format!("a boundary cell has point {node}, of {count} points"));
        }
        let mut indices = self.groups.iter().flat_map(|(_, indices)| indices);
        if let Some(cell) = indices.find(|cell| **cell as usize >= cells) {
            return refuse(format!("a group has boundary cell {cell}, of {cells} cells"));
        }
        check_points(&self.points)
    }
}

impl Mesh {
    /// The same mesh with the groups of boundary faces that cells on its boundary form; earlier groups
    /// are replaced. Points of the cells are matched to corners of boundary faces by their positions.
    ///
    /// # Errors
    ///
    /// [`Error::Mesh`](crate::Error::Mesh) if offsets, connectivity or groups are inconsistent, or a
    /// point is not finite. Cells that match no face are [counted](FaceGroup::unmatched).
    pub fn with_boundary(mut self, boundary: &BoundaryCells) -> Result<Self> {
        boundary.check()?;
        let found = TaggedFaces::find(&self, boundary);
        let group = |(number, (name, cells)): (usize, &(String, Vec<u32>))| {
            found.group(number, name, cells)
        };
        self.groups = boundary.groups.iter().enumerate().map(group).collect();
        self.tags = FaceTags::new(found.tagged).into();
        Ok(self)
    }

    /// The groups of boundary faces.
    pub fn face_groups(&self) -> &[FaceGroup] {
        &self.groups
    }

    /// Area between the corners of a face: half the length of the sum of the cross products of
    /// successive corners. The length of an edge in two dimensions.
    fn corner_area(&self, cell: usize, face: usize) -> f64 {
        let corners = self.face_corners(cell, face).into_iter();
        let corners: Vec<[f64; 3]> = corners.map(|node| self.points[node as usize]).collect();
        let from = |k: usize| [0, 1, 2].map(|d| corners[k][d] - corners[0][d]);
        let length = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if corners.len() == 2 {
            return length(from(1));
        }
        let mut sum = [0.0; 3];
        for k in 2..corners.len() {
            let part = super::shape::cross(&from(k - 1), &from(k));
            sum = [0, 1, 2].map(|d| sum[d] + 0.5 * part[d]);
        }
        length(sum)
    }

    /// The points at the corners of a face.
    pub(super) fn face_corners(&self, cell: usize, face: usize) -> Vec<u32> {
        let nodes = self.cells.nodes(cell);
        let corners = self.cells.kinds[cell].table().faces[face];
        corners.iter().map(|corner| nodes[*corner]).collect()
    }
}

/// The boundary faces that belong to groups.
struct TaggedFaces {
    /// The number of each face and its tag.
    tagged: Vec<(i32, i32)>,
    /// For each tag, from 1, the groups of its faces, and their number and area.
    sets: Vec<(Vec<usize>, usize, f64)>,
    /// Whether each boundary cell has a face.
    is_matched: Vec<bool>,
}

impl TaggedFaces {
    fn find(mesh: &Mesh, boundary: &BoundaryCells) -> Self {
        let matching = Matching::new(mesh, boundary);
        let mut groups_of = vec![Vec::new(); boundary.len()];
        for (number, (_, cells)) in boundary.groups.iter().enumerate() {
            cells.iter().for_each(|cell| groups_of[*cell as usize].push(number));
        }
        let (tagged, sets) = (Vec::new(), Vec::new());
        let mut found = TaggedFaces { tagged, sets, is_matched: vec![false; boundary.len()] };
        let mut tags = HashMap::new();
        for (cell, face) in mesh.open_faces() {
            let cells = matching.cells_on(&mesh.face_corners(cell, face));
            cells.iter().for_each(|cell| found.is_matched[*cell as usize] = true);
            let of_cells = cells.iter().flat_map(|cell| &groups_of[*cell as usize]).copied();
            let groups: Vec<usize> = BTreeSet::from_iter(of_cells).into_iter().collect();
            if groups.is_empty() {
                continue;
            }
            let tag = *tags.entry(groups).or_insert_with_key(|groups| {
                found.sets.push((groups.clone(), 0, 0.0));
                found.sets.len()
            });
            let (_, faces, area) = &mut found.sets[tag - 1];
            *faces += 1;
            *area += mesh.corner_area(cell, face);
            found.tagged.push(((8 * cell + face) as i32, tag as i32));
        }
        found
    }

    /// The group of this number, of these boundary cells.
    fn group(&self, number: usize, name: &str, cells: &[u32]) -> FaceGroup {
        let numbered = (1..).zip(&self.sets);
        let own = || numbered.clone().filter(|(_, (groups, ..))| groups.contains(&number));
        FaceGroup {
            name: name.into(),
            faces: own().map(|(_, (_, faces, _))| faces).sum(),
            area: own().map(|(_, (.., area))| area).sum(),
            unmatched: cells.iter().filter(|cell| !self.is_matched[**cell as usize]).count(),
            tags: own().map(|(tag, _)| tag).collect(),
        }
    }
}

/// Boundary cells by the corners of the mesh that are among their points.
struct Matching {
    /// The corners of each cell.
    corners: Vec<Vec<u32>>,
    /// The cells at each point of the mesh, as ranges of `cells`.
    starts: Vec<u32>,
    cells: Vec<u32>,
}

impl Matching {
    fn new(mesh: &Mesh, boundary: &BoundaryCells) -> Self {
        let found = corners_at(mesh, &boundary.points);
        let corners = (0..boundary.len()).map(|cell| {
            let nodes = boundary.nodes(cell).iter();
            let mut corners: Vec<u32> = nodes.filter_map(|node| found[*node as usize]).collect();
            corners.sort_unstable();
            corners.dedup();
            corners
        });
        let corners: Vec<Vec<u32>> = corners.collect();
        let mut starts = vec![0_u32; mesh.points.len() + 1];
        corners.iter().flatten().for_each(|corner| starts[*corner as usize + 1] += 1);
        for point in 1..starts.len() {
            starts[point] += starts[point - 1];
        }
        let mut next = starts.clone();
        let mut cells = vec![0; corners.iter().map(Vec::len).sum()];
        for (cell, corners) in (0..).zip(&corners) {
            for corner in corners {
                cells[next[*corner as usize] as usize] = cell;
                next[*corner as usize] += 1;
            }
        }
        Matching { corners, starts, cells }
    }

    /// The cells that have all corners of a face.
    fn cells_on(&self, face: &[u32]) -> Vec<u32> {
        let first = face[0] as usize;
        let at_first = &self.cells[self.starts[first] as usize..self.starts[first + 1] as usize];
        let has_all = |cell: &u32| {
            let corners = &self.corners[*cell as usize];
            face.iter().all(|corner| corners.binary_search(corner).is_ok())
        };
        at_first.iter().copied().filter(has_all).collect()
    }
}

/// The corner of a boundary face at each of some points, if any.
fn corners_at(mesh: &Mesh, points: &[[f64; 3]]) -> Vec<Option<u32>> {
    let faces = mesh.open_faces();
    let mut corners: Vec<u32> =
        faces.flat_map(|(cell, face)| mesh.face_corners(cell, face)).collect();
    corners.sort_unstable();
    corners.dedup();
    let positions: Vec<[f64; 3]> = corners.iter().map(|c| mesh.points[*c as usize]).collect();
    let largest = points.iter().flatten().fold(0.0, |max: f64, x| max.max(x.abs()));
    let [least, most] = [mesh.tolerance, MAX_TOLERANCES * mesh.tolerance];
    let table = PointTable::of(&positions, (ROUNDING * largest).max(least).min(most));
    let points = measured_from(mesh.origin, points);
    let nearest = |point| table.nearest(point, &positions).map(|found| corners[found as usize]);
    points.iter().map(nearest).collect()
}
