//! Face neighbours of cells.

use super::input::Cells;

/// Neighbours across all faces, cell by cell in the order of the kinds' faces.
pub(super) struct Neighbours {
    /// Start of each cell's faces in `cells`, followed by its length.
    pub starts: Vec<u32>,
    /// The cell across each face, or -1.
    pub cells: Vec<i32>,
    /// Number of faces without a neighbour.
    pub open: usize,
    /// Number of faces shared by more than two cells.
    pub crowded: usize,
}

/// Padding of the nodes of a face.
const NONE: u32 = u32::MAX;

/// A face of a cell. Its lowest node follows from the position in the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    others: [u32; 3],
    cell: u32,
    face: u32,
}

/// Matches faces by their corners: a counting sort by the lowest corner, then a sort of the few
/// faces that share it.
pub(super) fn neighbours(cells: &Cells, points: usize) -> Neighbours {
    let mut starts = vec![0_u32; cells.len() + 1];
    for (cell, kind) in cells.kinds.iter().enumerate() {
        starts[cell + 1] = starts[cell] + kind.table().faces.len() as u32;
    }
    let mut result =
        Neighbours { cells: vec![-1; starts[cells.len()] as usize], starts, open: 0, crowded: 0 };
    let (mut entries, ends) = sort_by_lowest(cells, points);
    let mut start = 0;
    for end in ends {
        let group = &mut entries[start..end as usize];
        group.sort_unstable();
        for same in group.chunk_by(|a, b| a.others == b.others) {
            result.connect(same);
        }
        start = end as usize;
    }
    result
}

impl Neighbours {
    /// Connects the cells that share a face.
    fn connect(&mut self, face: &[Entry]) {
        let at = |entry: &Entry| (self.starts[entry.cell as usize] + entry.face) as usize;
        match face {
            // A folded cell can share a face with itself, which then has no neighbour.
            [a, b] if a.cell != b.cell => {
                let [from, to] = [at(a), at(b)];
                self.cells[from] = b.cell as i32;
                self.cells[to] = a.cell as i32;
            }
            [_] | [_, _] => self.open += 1,
            _ => self.crowded += 1,
        }
    }
}

/// All faces in the order of their lowest nodes, and the end of each node's group.
fn sort_by_lowest(cells: &Cells, points: usize) -> (Vec<Entry>, Vec<u32>) {
    let mut next = vec![0_u32; points + 1];
    for_each_face(cells, |lowest, _| next[lowest as usize + 1] += 1);
    for point in 0..points {
        next[point + 1] += next[point];
    }
    let mut entries = vec![Entry::default(); next[points] as usize];
    for_each_face(cells, |lowest, entry| {
        entries[next[lowest as usize] as usize] = entry;
        next[lowest as usize] += 1;
    });
    // Each start has moved to its end.
    next.pop();
    (entries, next)
}

/// Calls a function with the lowest node of each face, and the face. Collapsed faces are skipped; a
/// quadrilateral that has collapsed to a triangle is a triangle.
fn for_each_face(cells: &Cells, mut call: impl FnMut(u32, Entry)) {
    for (cell, kind) in cells.kinds.iter().enumerate() {
        let (table, nodes) = (kind.table(), cells.nodes(cell));
        for (face, corners) in table.faces.iter().enumerate() {
            let (sorted, count) = sorted_corners(corners, nodes);
            if count >= table.dimension {
                let others = [sorted[1], sorted[2], sorted[3]];
                call(sorted[0], Entry { others, cell: cell as u32, face: face as u32 });
            }
        }
    }
}

/// The distinct nodes of a face in increasing order, padded, and their number.
fn sorted_corners(corners: &[usize], nodes: &[u32]) -> ([u32; 4], usize) {
    if let [a, b, c] = *corners {
        // Triangles, which tetrahedra have, without a loop.
        let mut of = [nodes[a], nodes[b], nodes[c]];
        of.sort_unstable();
        if of[0] < of[1] && of[1] < of[2] {
            return ([of[0], of[1], of[2], NONE], 3);
        }
    }
    let mut sorted = [NONE; 4];
    let mut count = 0;
    for corner in corners {
        let node = nodes[*corner];
        let index = sorted[..count].partition_point(|other| *other < node);
        if index < count && sorted[index] == node {
            continue;
        }
        sorted.copy_within(index..count, index + 1);
        sorted[index] = node;
        count += 1;
    }
    (sorted, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_kernels::CellKind;

    fn triangles(connectivity: &[u32]) -> Cells {
        let count = connectivity.len() / 3;
        Cells {
            kinds: vec![CellKind::Triangle; count],
            offsets: (0..=count as u32).map(|k| 3 * k).collect(),
            connectivity: connectivity.to_vec(),
        }
    }

    #[test]
    fn two_cells_share_an_edge() {
        let found = neighbours(&triangles(&[0, 1, 2, 1, 3, 2]), 4);
        assert_eq!(found.cells, [-1, 1, -1, -1, -1, 0]);
        assert_eq!((found.open, found.crowded), (4, 0));
    }

    #[test]
    fn three_cells_at_an_edge_are_no_neighbours() {
        let found = neighbours(&triangles(&[0, 1, 2, 1, 3, 2, 1, 2, 4]), 5);
        assert_eq!(found.cells, [-1; 9]);
        assert_eq!((found.open, found.crowded), (6, 1));
    }

    #[test]
    fn corners_are_sorted_without_repetition() {
        assert_eq!(sorted_corners(&[0, 1, 2, 3], &[7, 3, 9, 3]), ([3, 7, 9, NONE], 3));
        assert_eq!(sorted_corners(&[1, 0], &[7, 3]), ([3, 7, NONE, NONE], 2));
        for nodes in [[3, 7, 9], [3, 9, 7], [7, 3, 9], [7, 9, 3], [9, 3, 7], [9, 7, 3]] {
            assert_eq!(sorted_corners(&[0, 1, 2], &nodes), ([3, 7, 9, NONE], 3), "{nodes:?}");
        }
        for nodes in [[3, 7, 3], [3, 3, 7], [7, 3, 3]] {
            assert_eq!(sorted_corners(&[0, 1, 2], &nodes), ([3, 7, NONE, NONE], 2), "{nodes:?}");
        }
    }

    #[test]
    fn collapsed_edges_have_no_neighbours() {
        let found = neighbours(&triangles(&[0, 1, 1, 0, 1, 2]), 3);
        // Two edges of the first triangle are the same, so three faces match there.
        assert_eq!(found.crowded, 1);
        assert_eq!(found.cells, [-1; 6]);
    }
}
