//! Which cell lies beyond each face of each cell.

use super::Cells;

/// Faces of all cells, cell by cell, in the order of their kinds.
pub(super) struct Neighbours {
    /// Where each cell's faces begin, and the end.
    pub starts: Vec<u32>,
    /// The cell beyond each face, or -1.
    pub cells: Vec<i32>,
    /// Faces with nothing beyond them.
    pub open: usize,
    /// Faces at which more than two cells meet.
    pub crowded: usize,
}

/// What pads the nodes of a face.
const NONE: u32 = u32::MAX;

/// A face as one of its cells has it. The least node is known from the place in the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    others: [u32; 3],
    cell: u32,
    face: u32,
}

/// Matches faces by their corners: sorted by the least one by counting, and then among the few
/// faces that share it.
pub(super) fn neighbours(cells: &Cells, points: usize) -> Neighbours {
    let mut starts = vec![0_u32; cells.len() + 1];
    for (cell, kind) in cells.kinds.iter().enumerate() {
        starts[cell + 1] = starts[cell] + kind.table().faces.len() as u32;
    }
    let mut result =
        Neighbours { cells: vec![-1; starts[cells.len()] as usize], starts, open: 0, crowded: 0 };
    let (mut entries, ends) = sort_by_least(cells, points);
    let mut start = 0;
    for end in ends {
        let group = &mut entries[start..end as usize];
        group.sort_unstable();
        for same in group.chunk_by(|a, b| a.others == b.others) {
            result.meet(same);
        }
        start = end as usize;
    }
    result
}

impl Neighbours {
    /// One face and the cells that have it.
    fn meet(&mut self, face: &[Entry]) {
        let at = |entry: &Entry| (self.starts[entry.cell as usize] + entry.face) as usize;
        match face {
            // A cell that was folded together meets itself, and nothing lies beyond.
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

/// All faces in the order of their least nodes, and where those of each point end.
fn sort_by_least(cells: &Cells, points: usize) -> (Vec<Entry>, Vec<u32>) {
    let mut next = vec![0_u32; points + 1];
    for_each_face(cells, |least, _| next[least as usize + 1] += 1);
    for point in 0..points {
        next[point + 1] += next[point];
    }
    let mut entries = vec![Entry::default(); next[points] as usize];
    for_each_face(cells, |least, entry| {
        entries[next[least as usize] as usize] = entry;
        next[least as usize] += 1;
    });
    // Each beginning has moved to its end.
    next.pop();
    (entries, next)
}

/// Calls with the least node of each face, and the face. Those that have collapsed to less than a
/// face are left out; a quadrilateral that has collapsed to a triangle is one.
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

/// The different nodes of a face in their order, padded, and their number.
fn sorted_corners(corners: &[usize], nodes: &[u32]) -> ([u32; 4], usize) {
    let mut sorted = [NONE; 4];
    let mut count = 0;
    for corner in corners {
        let node = nodes[*corner];
        let place = sorted[..count].partition_point(|other| *other < node);
        if place < count && sorted[place] == node {
            continue;
        }
        sorted.copy_within(place..count, place + 1);
        sorted[place] = node;
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
    fn two_cells_meet_at_an_edge() {
        let found = neighbours(&triangles(&[0, 1, 2, 1, 3, 2]), 4);
        assert_eq!(found.cells, [-1, 1, -1, -1, -1, 0]);
        assert_eq!((found.open, found.crowded), (4, 0));
    }

    #[test]
    fn three_cells_at_an_edge_are_counted_and_none_lies_beyond() {
        let found = neighbours(&triangles(&[0, 1, 2, 1, 3, 2, 1, 2, 4]), 5);
        assert_eq!(found.cells, [-1; 9]);
        assert_eq!((found.open, found.crowded), (6, 1));
    }

    #[test]
    fn corners_are_sorted_without_repetition() {
        assert_eq!(sorted_corners(&[0, 1, 2, 3], &[7, 3, 9, 3]), ([3, 7, 9, NONE], 3));
        assert_eq!(sorted_corners(&[1, 0], &[7, 3]), ([3, 7, NONE, NONE], 2));
    }

    #[test]
    fn a_collapsed_cell_meets_nothing_with_an_edge_that_is_none() {
        let found = neighbours(&triangles(&[0, 1, 1, 0, 1, 2]), 3);
        // Two of the first one's edges are the same: three faces meet there.
        assert_eq!(found.crowded, 1);
        assert_eq!(found.cells, [-1; 6]);
    }
}
