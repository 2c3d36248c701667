//! Division of an array into chunks.

use std::ops::Range;

/// Maximum number of items in a chunk of particles and saves: 3 MiB of f32 positions.
const MAX_CHUNK_ITEMS: usize = 1 << 18;

/// Maximum number of rows in a chunk of a growing list.
const MAX_LIST_ROWS: usize = 1 << 13;

/// Rows of items, divided into chunks. An item is a number or a vector.
///
/// An array over saves and particles has a row for each save and a column for each particle. A list
/// has a single column; an array over particles has a single row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkGrid {
    /// Items in a row.
    pub columns: usize,
    /// Rows in a chunk.
    pub chunk_rows: usize,
    /// Columns in a chunk.
    pub chunk_columns: usize,
}

/// Consecutive items in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemRun {
    /// The chunk; chunks are numbered row by row.
    pub chunk: usize,
    /// Index in the chunk of the first item.
    pub offset: usize,
    /// Number of items that are consecutive both in the chunk and in the array.
    pub length: usize,
}

impl ChunkGrid {
    /// The chunks of an array over saves and particles.
    ///
    /// They depend on these two numbers only, not on the blocks in which saves are written. With few
    /// particles a chunk holds several saves; with many, a part of one save. Chunks fill one after
    /// the other.
    pub fn of_saves(particles: usize, saves: usize) -> ChunkGrid {
        let chunk_columns = chunk_columns(particles);
        let chunk_rows = match particles <= MAX_CHUNK_ITEMS {
            true => (MAX_CHUNK_ITEMS / particles.max(1)).clamp(1, saves.max(1)),
            false => 1,
        };
        ChunkGrid { columns: particles, chunk_rows, chunk_columns }
    }

    /// The chunks of an array with one item per particle: a single row.
    pub fn of_particles(particles: usize) -> ChunkGrid {
        ChunkGrid { columns: particles, chunk_rows: 1, chunk_columns: chunk_columns(particles) }
    }

    /// The chunks of a growing list, with its final length if known.
    pub fn of_list(length: Option<usize>) -> ChunkGrid {
        let chunk_rows = length.unwrap_or(MAX_LIST_ROWS).clamp(1, MAX_LIST_ROWS);
        ChunkGrid { columns: 1, chunk_rows, chunk_columns: 1 }
    }

    /// Items in a chunk.
    pub fn chunk_items(&self) -> usize {
        self.chunk_rows.saturating_mul(self.chunk_columns)
    }

    /// Chunks in a row of chunks.
    pub fn chunks_across(&self) -> usize {
        self.columns.div_ceil(self.chunk_columns)
    }

    /// Where an item is, by its index in the array, and how many items follow it there.
    pub fn locate(&self, item: usize) -> ItemRun {
        let (row, column) = (item / self.columns, item % self.columns);
        let (down, across) = (row / self.chunk_rows, column / self.chunk_columns);
        let (row, start) = (row % self.chunk_rows, across * self.chunk_columns);
        let end = (start + self.chunk_columns).min(self.columns);
        let rows = if self.chunks_across() == 1 { self.chunk_rows - row } else { 1 };
        ItemRun {
            chunk: down * self.chunks_across() + across,
            offset: row * self.chunk_columns + column - start,
            length: (rows - 1) * self.columns + end - column,
        }
    }

    /// Number of complete chunks in an array of `items`, and of items in the next chunk.
    pub fn filled(&self, items: usize) -> (usize, usize) {
        let Some(last) = items.checked_sub(1).map(|last| self.locate(last)) else { return (0, 0) };
        match last.length {
            1 => (last.chunk + 1, 0),
            _ => (last.chunk, last.offset + 1),
        }
    }

    /// Row and column of a chunk in the grid of chunks.
    pub fn index(&self, chunk: usize) -> [usize; 2] {
        [chunk / self.chunks_across(), chunk % self.chunks_across()]
    }

    /// Number of complete rows in an array whose last chunk has this number of items.
    pub fn complete_rows(&self, last: usize, items: usize) -> usize {
        let [down, across] = self.index(last);
        let is_rightmost = across + 1 == self.chunks_across();
        let rows = if is_rightmost { items / self.chunk_columns } else { 0 };
        down * self.chunk_rows + rows
    }

    /// Divides a range of columns of a row at the boundaries of chunks.
    pub fn runs(&self, row: usize, columns: Range<usize>) -> impl Iterator<Item = ItemRun> {
        let (grid, mut column) = (*self, columns.start);
        std::iter::from_fn(move || {
            let across = column / grid.chunk_columns;
            let start = across * grid.chunk_columns;
            let end = (start + grid.chunk_columns).min(columns.end);
            let length = end.checked_sub(column).filter(|length| *length > 0)?;
            let offset = row % grid.chunk_rows * grid.chunk_columns + column - start;
            column = end;
            let chunk = row / grid.chunk_rows * grid.chunks_across() + across;
            Some(ItemRun { chunk, offset, length })
        })
    }
}

/// Columns in a chunk: the particles divided into chunks of about equal size.
fn chunk_columns(particles: usize) -> usize {
    particles.div_ceil(particles.div_ceil(MAX_CHUNK_ITEMS).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_has_several_saves_or_a_part_of_one() {
        let few = ChunkGrid::of_saves(1000, 50_000);
        assert_eq!((few.chunk_rows, few.chunk_columns), (262, 1000));
        assert_eq!(ChunkGrid::of_saves(1000, 5).chunk_rows, 5);
        let many = ChunkGrid::of_saves(1_000_000, 10);
        assert_eq!((many.chunk_rows, many.chunk_columns, many.chunks_across()), (1, 250_000, 4));
        let more = ChunkGrid::of_saves((1 << 18) + 1, 10);
        assert_eq!((more.chunk_rows, more.chunk_columns, more.chunks_across()), (1, 131_073, 2));
        let none = ChunkGrid::of_saves(0, 0);
        assert_eq!((none.chunk_rows, none.chunk_columns, none.chunks_across()), (1, 1, 0));
    }

    #[test]
    fn items_fill_chunk_after_chunk() {
        let run = |chunk, offset, length| ItemRun { chunk, offset, length };
        let wide = ChunkGrid { columns: 5, chunk_rows: 1, chunk_columns: 3 };
        assert_eq!(wide.locate(0), run(0, 0, 3));
        assert_eq!(wide.locate(4), run(1, 1, 1));
        assert_eq!(wide.locate(5), run(2, 0, 3));
        assert_eq!([0, 3, 4, 5].map(|items| wide.filled(items)), [(0, 0), (1, 0), (1, 1), (2, 0)]);
        let rows = [(1, 2), (1, 3), (2, 3)].map(|(last, items)| wide.complete_rows(last, items));
        assert_eq!(rows, [0, 1, 1]);
        let long = ChunkGrid { columns: 2, chunk_rows: 3, chunk_columns: 2 };
        assert_eq!(long.locate(1), run(0, 1, 5));
        assert_eq!(long.locate(6), run(1, 0, 6));
        assert_eq!([long.complete_rows(0, 5), long.complete_rows(1, 2)], [2, 4]);
    }

    #[test]
    fn a_row_is_divided_at_chunk_boundaries() {
        let grid = ChunkGrid { columns: 5, chunk_rows: 2, chunk_columns: 2 };
        let runs: Vec<ItemRun> = grid.runs(3, 1..5).collect();
        let expected = [(3, 3, 1), (4, 2, 2), (5, 2, 1)];
        assert_eq!(runs, expected.map(|(chunk, offset, length)| ItemRun { chunk, offset, length }));
        assert_eq!(grid.runs(0, 2..2).count(), 0);
    }
}
